//! C# text: types, members and names the way a person would write them.
//!
//! Text is bounded whatever the metadata says, and making it never fails: a part that cannot be read is shown as `?`.

mod generated;
mod methods;
mod nesting;
mod types;

use std::borrow::Cow;

use crate::signature::Type;
use crate::tables::Table;
use crate::token::Token;
use crate::view::Metadata;

pub(crate) use generated::split_arity;
pub use generated::{GeneratedKind, GeneratedName, field_display_name, type_display_name};
pub use methods::{ExtensionMember, MethodName, special_name};

/// More generic parameters than this are not written out.
const MAX_PARAMETERS: usize = 1024;
/// Lists of parameters are cut off after this many bytes.
const MAX_LIST: usize = 32 * 1024;

/// How type names are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Style {
    /// Whether namespaces are written.
    pub namespaces: bool,
}

/// What generic parameters are called: their names, or the text of the arguments that stand for them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GenericNames {
    /// Those of the type, with those of enclosing types first.
    pub of_type: Vec<String>,
    /// Those of the method.
    pub of_method: Vec<String>,
    /// Whether they are arguments: of `T?` with `int` for an unconstrained `T` nothing is nullable.
    pub are_arguments: bool,
}

impl GenericNames {
    /// The names that a type and a method give their parameters.
    #[must_use]
    pub fn declared(metadata: Metadata<'_>, ty: Option<Token>, method: Option<Token>) -> Self {
        let names = |owner: Option<Token>| {
            let params = owner
                .into_iter()
                .flat_map(|owner| metadata.generic_params(owner))
                .take(MAX_PARAMETERS);
            let names = params.map(|it| it.and_then(|it| it.name()));
            names
                .map(|name| name.map_or_else(|_| "?".to_owned(), Cow::into_owned))
                .collect()
        };
        Self {
            of_type: names(ty),
            of_method: names(method),
            are_arguments: false,
        }
    }
}

/// What attributes and custom debug information add to a type. Lists are in depth-first order of the type's parts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Annotations<'a> {
    /// Names of tuple elements.
    pub tuple_names: Vec<Option<Cow<'a, str>>>,
    /// Which parts are `dynamic`.
    pub dynamic: Vec<bool>,
    /// Which parts may be null.
    pub nullable: Nullability,
    /// Whether what a reference refers to may only be read.
    pub is_read_only: bool,
}

/// Which reference types may be null.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Nullability {
    /// The same for all parts: 0 unknown, 1 never, 2 maybe.
    Uniform(u8),
    /// One for each part.
    Parts(Vec<u8>),
}

impl Default for Nullability {
    fn default() -> Self {
        Self::Uniform(0)
    }
}

impl<'a> Metadata<'a> {
    /// The annotations on a field, parameter, property or event; `context` is the nullability that holds around it.
    #[must_use]
    pub fn annotations(self, token: Token, context: Option<u8>) -> Annotations<'a> {
        let mut dynamic = match self.dynamic_flags(token) {
            Some(flags) if flags.is_empty() => vec![true],
            flags => flags.unwrap_or_default(),
        };
        // Compilers count the reference of a parameter as a part, but not that of a field.
        if !dynamic.is_empty()
            && token.is(Table::Field)
            && let Ok(Type::ByRef(_)) = self.field(token).and_then(|field| field.ty())
        {
            dynamic.insert(0, false);
        }
        Annotations {
            tuple_names: self.tuple_element_names(token).unwrap_or_default(),
            dynamic,
            is_read_only: self.is_read_only(token),
            nullable: match self.nullable_flags(token) {
                Some(flags) => match flags[..] {
                    [uniform] => Nullability::Uniform(uniform),
                    _ => Nullability::Parts(flags),
                },
                None => Nullability::Uniform(context.unwrap_or_default()),
            },
        }
    }

    /// The nullability that holds inside a type or method where nothing else is said.
    #[must_use]
    pub fn inherited_nullable_context(
        self,
        method: Option<Token>,
        ty: Option<Token>,
    ) -> Option<u8> {
        let own = method.and_then(|method| self.nullable_context(method));
        own.or_else(|| {
            let path = self.type_path(ty?).ok()?;
            path.into_iter()
                .rev()
                .find_map(|ty| self.nullable_context(ty))
        })
    }
}
