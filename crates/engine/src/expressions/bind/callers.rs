//! Arguments that the compiler fills in: who calls (`[CallerMemberName]` and its like), and defaults that attributes hold.

use std::rc::Rc;

use metadata::signature::Primitive;
use syntax::Span;

use super::Binder;
use crate::expressions::plan::{FieldRef, Node, Op};
use crate::expressions::scalar::{Decimal, Kind, Scalar};
use crate::types::{Method, Type};
use crate::values::decimal_constant;
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
        let written = without_parentheses(written);
        Some(Node::constant(Scalar::string(written), Type::STRING, span))
    }

    /// The decimal that an attribute holds.
    pub(super) fn decimal_of(
        &self,
        metadata: metadata::Metadata<'_>,
        token: metadata::Token,
        span: Span,
    ) -> Option<Node> {
        let value = Decimal::from_bytes(decimal_constant(metadata, token)?)?;
        let ty = super::well_known::type_of_kind(self.types, Kind::Decimal)?;
        Some(Node::constant(Scalar::Decimal(value), ty, span))
    }

    /// The default of a parameter that no constant of metadata can hold: a decimal, a date, or that it is missing.
    pub(super) fn attributed_default(
        &self,
        method: &Method,
        index: usize,
        ty: &Type,
        span: Span,
    ) -> Option<Node> {
        let token = method.parameters.get(index)?.token?;
        let metadata = self.types.metadata(method.declared_in.module).ok()?;
        let numbers = |name: &str| -> Option<Vec<u64>> {
            let attribute = metadata.metadata().find_attribute(
                token,
                "System.Runtime.CompilerServices",
                name,
            )?;
            let arguments = attribute.arguments().ok()?;
            arguments.fixed.iter().map(|it| it.bits()).collect()
        };
        if let Some(node) = self.decimal_of(metadata.metadata(), token, span) {
            return Some(node);
        }
        if let Some(parts) = numbers("DateTimeConstantAttribute")
            && let [ticks] = parts.as_slice()
        {
            let date = self.types.core_named("System", "DateTime")?;
            let constructors = self.types.methods(&date, Some(".ctor")).ok()?;
            let long = Type::Primitive(Primitive::I8);
            let takes_ticks =
                |it: &Method| matches!(it.parameters.as_slice(), [only] if only.ty == long);
            let constructor = constructors.into_iter().find(takes_ticks)?;
            let callee = self.callee(constructor, Vec::new(), false);
            let ticks = Scalar::Int(Kind::Long, i128::from(*ticks as i64));
            let ticks = Node::constant(ticks, long, span);
            let op = Op::New(Rc::new(callee), vec![ticks]);
            return Some(Node::new(op, Type::Named(date), span));
        }
        if *ty != Type::OBJECT {
            return None;
        }
        let declared_in = self.types.core_named("System", "Type")?;
        let fields = self.types.fields(&declared_in).ok()?;
        let missing = fields.iter().find(|it| &*it.name == "Missing")?;
        let field = FieldRef {
            declared_in: declared_in.clone(),
            name: missing.name.clone(),
            token: missing.token,
            ty: missing.ty.clone(),
        };
        Some(Node::new(Op::StaticField(field), Type::OBJECT, span))
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

/// The text of an argument without the parentheses around all of it, which the compiler leaves out.
fn without_parentheses(written: &str) -> &str {
    let Ok(parsed) = syntax::parse(written) else {
        return written;
    };
    let inner = parsed.without_parens().span;
    let inner = written.get(inner.start as usize..inner.end as usize);
    inner.unwrap_or(written)
}
