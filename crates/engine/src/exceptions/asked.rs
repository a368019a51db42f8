//! Whether an exception clause takes an exception: the type that it names is looked for among those of the exception.
//!
//! A filter (`when`) is code, of which the first thing that C# makes asks for the type: one of another type is not asked further.
//!
//! A clause may name a type parameter (`catch (T)`): then what that stands for decides. Where that is not known, or the clause
//! names a generic type whose arguments are not compared, nothing is certain.

use cordebug::types::Type;
use metadata::pe::{ClauseKind, ExceptionClause};
use metadata::signature::{self, Type as Spelled};
use metadata::tables::{Table, TypeSpecRow};
use metadata::{IlOffset, Metadata, Token};

use crate::fields::Fields;
use crate::target::Target;

/// What code that is shared between instantiations has in place of its arguments, where it does not know them.
const SHARED: &str = "System.__Canon";

/// Full names of what the type parameters of a method stand for, those of its type first; `None` if that is not known.
pub(super) type Arguments = Vec<Option<String>>;

/// What the clauses of one method are asked.
pub(super) struct Asked<'a> {
    pub(super) metadata: Metadata<'a>,
    /// The full names of the exception's type and those it is derived from.
    types: &'a [String],
    code: &'a [u8],
    arguments: &'a [Option<String>],
    /// Where the method's own arguments begin among them.
    of_method: usize,
}

impl<'a> Asked<'a> {
    /// Where what type parameters stand for does not matter.
    pub(super) fn of(metadata: Metadata<'a>, code: &'a [u8], types: &'a [String]) -> Self {
        Self {
            metadata,
            types,
            code,
            arguments: &[],
            of_method: 0,
        }
    }

    pub(super) fn new(
        metadata: Metadata<'a>,
        code: &'a [u8],
        types: &'a [String],
        method: Token,
        arguments: &'a [Option<String>],
    ) -> Self {
        let own = metadata.method(method);
        let own = own.map_or(0, |it| it.generic_params().count());
        Self {
            arguments,
            of_method: arguments.len().saturating_sub(own),
            ..Self::of(metadata, code, types)
        }
    }

    /// Whether a clause takes the exception; `None` if only running code can tell.
    pub(super) fn takes(&self, clause: &ExceptionClause) -> Option<bool> {
        match clause.kind {
            ClauseKind::Catch(token) => self.is_one(token),
            ClauseKind::Filter(start) => {
                let is_one = self.is_one(filtered_type(self.code, start)?);
                is_one.filter(|it| !it)
            }
            ClauseKind::Finally | ClauseKind::Fault => Some(false),
        }
    }

    /// Whether the exception is of a type.
    fn is_one(&self, token: Token) -> Option<bool> {
        let is_one = |name: &String| self.types.contains(name);
        if !token.is(Table::TypeSpec) {
            return self.metadata.full_name(token).ok().as_ref().map(is_one);
        }
        let argument = |number: usize| self.arguments.get(number)?.as_ref().map(is_one);
        match spelled(self.metadata, token)? {
            Spelled::TypeParameter(number) => argument(number as usize),
            Spelled::MethodParameter(number) => argument(self.of_method + number as usize),
            Spelled::Generic { token, .. } => {
                let name = self.metadata.full_name(token).ok()?;
                (!is_one(&name)).then_some(false)
            }
            _ => None,
        }
    }
}

/// The type that the filter asks for which begins at an offset: `isinst`, `dup`, `brtrue`.
fn filtered_type(code: &[u8], start: IlOffset) -> Option<Token> {
    let filter = code.get(start.0 as usize..)?;
    let (0x75, token) = (*filter.first()?, filter.get(1..)?.first_chunk()?) else {
        return None;
    };
    let is_question = matches!(filter.get(5..7)?, [0x25, 0x2d | 0x3a]);
    is_question.then(|| Token(u32::from_le_bytes(*token)))
}

fn spelled(metadata: Metadata<'_>, token: Token) -> Option<Spelled> {
    let spec: TypeSpecRow = metadata.row_of(token).ok()?;
    signature::type_spec(metadata.blob(spec.signature).ok()?).ok()
}

/// What the type parameters of a method stand for, if any of its clauses names one.
pub(super) fn arguments_of(
    target: &mut Target,
    module: usize,
    method: Token,
    arguments: impl FnOnce() -> Result<Vec<Type>, cordebug::Error>,
) -> Arguments {
    let is_asked = || {
        let opened = target.modules.get(module)?.metadata(&target.process).ok()?;
        let body = opened.body(method).ok()??;
        let mut clauses = body.clauses.iter();
        let spec = |it: &ExceptionClause| matches!(it.kind, ClauseKind::Catch(token) if token.is(Table::TypeSpec));
        Some(clauses.any(spec))
    };
    if is_asked() != Some(true) {
        return Arguments::new();
    }
    let fields = Fields::new(target);
    let name = |argument: &Type| {
        let class = argument.class().ok()?;
        let module = fields.modules.entry(&class.module().ok()?);
        let metadata = module.metadata(fields.process).ok()?.metadata();
        let name = metadata.full_name(Token(class.token().ok()?)).ok();
        name.filter(|it| it != SHARED)
    };
    arguments().unwrap_or_default().iter().map(name).collect()
}
