//! Arguments that the compiler fills in with who calls: `[CallerMemberName]` and its like.

use syntax::Span;

use super::Binder;
use crate::expressions::plan::Node;
use crate::expressions::scalar::{Kind, Scalar};
use crate::types::{Method, Type};
use metadata::Symbols;

impl Binder<'_> {
    /// What the compiler would pass for a parameter that asks who calls, where the method that is stopped in is the caller.
    pub(super) fn caller_argument(
        &mut self,
        method: &Method,
        index: usize,
        given: &[Option<Span>],
        span: Span,
    ) -> Option<Node> {
        let token = method.parameters.get(index)?.token?;
        let module = self.types.metadata(method.declared_in.module).ok()?;
        let asks = |name: &str| {
            let metadata = module.metadata();
            metadata.has_attribute(token, "System.Runtime.CompilerServices", name)
        };
        if asks("CallerMemberNameAttribute") {
            let name = self.caller_name()?;
            return Some(Node::constant(Scalar::string(&name), Type::STRING, span));
        }
        if asks("CallerLineNumberAttribute") {
            let (line, _) = self.caller_place()?;
            let line = Scalar::Int(Kind::Int, line.into());
            return Some(Node::constant(line, Type::INT, span));
        }
        if asks("CallerFilePathAttribute") {
            let (_, file) = self.caller_place()?;
            return Some(Node::constant(Scalar::string(&file), Type::STRING, span));
        }
        // The text of another argument, as it was written.
        let metadata = module.metadata();
        let asks = metadata.find_attribute(
            token,
            "System.Runtime.CompilerServices",
            "CallerArgumentExpressionAttribute",
        )?;
        let asked = asks.arguments().ok()?;
        let asked = asked.fixed.first()?.text()?;
        let mut parameters = method.parameters.iter();
        let place = parameters.position(|it| it.name == asked)?;
        let written = (*given.get(place)?)?;
        let written = self
            .text
            .get(written.start as usize..written.end as usize)?;
        Some(Node::constant(Scalar::string(written), Type::STRING, span))
    }

    /// The member that the user wrote the code in.
    fn caller_name(&self) -> Option<String> {
        let (token, _) = self.context.at?;
        let metadata = self.types.metadata(self.context.module?).ok()?.metadata();
        let method = metadata.method(token).ok()?;
        let name = method.name().ok()?.into_owned();
        // Lambdas and local functions have it in their own name, async methods and iterators in that of their type.
        let outer = metadata.type_def(method.declaring_type().ok()?).ok()?;
        let outer = outer.name().ok()?.into_owned();
        let made = [name.as_str(), outer.as_str()].into_iter().find_map(|it| {
            let written = it.strip_prefix('<')?.split('>').next()?;
            (!written.is_empty()).then(|| written.to_owned())
        });
        let name = made.unwrap_or(name);
        let accessor = ["get_", "set_", "add_", "remove_"]
            .iter()
            .find_map(|it| name.strip_prefix(it));
        Some(accessor.map_or(name.clone(), str::to_owned))
    }

    /// The line and file that the code is at.
    fn caller_place(&self) -> Option<(u32, String)> {
        let (token, offset) = self.context.at?;
        let module = self.types.module(self.context.module?).ok()?;
        let pdb = module.symbols(self.types.process).ok().map(Symbols::pdb)?;
        let points = pdb.sequence_points(token).ok()?.flatten();
        let point = points
            .take_while(|it| it.offset.0 <= offset)
            .filter(|it| it.span.is_some())
            .last()?;
        let document = pdb.document(point.document).ok()?;
        Some((point.span?.start_line, document.path().ok()?))
    }
}
