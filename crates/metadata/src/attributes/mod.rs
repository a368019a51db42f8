//! Custom attributes (ECMA-335 II.22.10): who has which, and what their arguments are.

mod decode;
mod known;

use crate::error::{Malformed, Result};
use crate::signature::{self, MethodSignature, Type};
use crate::tables::{Coded, CustomAttributeRow, Key, Table, TypeSpecRow};
use crate::token::Token;
use crate::view::Metadata;

pub use decode::{Argument, ArgumentType, Arguments, EnumResolver, NamedArgument, Value};
pub use known::{BrowsableState, DebuggerDisplay};

/// A custom attribute on a type, member, parameter or module.
#[derive(Debug, Clone, Copy)]
pub struct Attribute<'a> {
    metadata: Metadata<'a>,
    row: CustomAttributeRow,
}

impl<'a> Metadata<'a> {
    /// An attribute by its own token.
    pub fn attribute(self, token: Token) -> Result<Attribute<'a>> {
        Ok(Attribute {
            metadata: self,
            row: self.row_of(token)?,
        })
    }

    /// The attributes of whatever `owner` names.
    pub fn attributes(self, owner: Token) -> impl Iterator<Item = Result<Attribute<'a>>> + use<'a> {
        let rows = self.rows_of(Key::CustomAttributeParent, Coded::HasCustomAttribute, owner);
        rows.map(move |row| {
            Ok(Attribute {
                metadata: self,
                row: self.row(row)?,
            })
        })
    }

    /// The first attribute of a type named `namespace.name` on `owner`; rows that make no sense are passed over.
    #[must_use]
    pub fn find_attribute(
        self,
        owner: Token,
        namespace: &str,
        name: &str,
    ) -> Option<Attribute<'a>> {
        self.attributes(owner)
            .flatten()
            .find(|attribute| attribute.is(namespace, name))
    }

    /// Whether `owner` has an attribute of a type named `namespace.name`.
    #[must_use]
    pub fn has_attribute(self, owner: Token, namespace: &str, name: &str) -> bool {
        self.find_attribute(owner, namespace, name).is_some()
    }
}

impl<'a> Attribute<'a> {
    /// What carries the attribute.
    #[must_use]
    pub const fn owner(&self) -> Token {
        self.row.parent
    }

    /// The constructor (`Method` or `MemberRef`).
    #[must_use]
    pub const fn constructor(&self) -> Token {
        self.row.constructor
    }

    /// The undecoded arguments.
    pub fn blob(&self) -> Result<&'a [u8]> {
        self.metadata.blob(self.row.value)
    }

    /// The attribute's type as the constructor names it; a `TypeSpec` for generic attributes.
    fn type_or_spec(&self) -> Result<Token> {
        let constructor = self.row.constructor;
        match constructor.table() {
            Some(Table::Method) => self.metadata.method(constructor)?.declaring_type(),
            Some(Table::MemberRef) => Ok(self
                .metadata
                .row_of::<crate::tables::MemberRefRow>(constructor)?
                .class),
            _ => Err(Malformed::new(
                "attribute constructor",
                constructor.0 as usize,
            )),
        }
    }

    /// The attribute's type (`TypeDef` or `TypeRef`), and its arguments if it is generic.
    fn constructed_type(&self) -> Result<(Token, Vec<Type>)> {
        let token = self.type_or_spec()?;
        if !token.is(Table::TypeSpec) {
            return Ok((token, Vec::new()));
        }
        let spec: TypeSpecRow = self.metadata.row_of(token)?;
        match signature::type_spec(self.metadata.blob(spec.signature)?)? {
            Type::Generic {
                token, arguments, ..
            } => Ok((token, arguments)),
            Type::Named { token, .. } => Ok((token, Vec::new())),
            _ => Err(Malformed::new("attribute type", token.0 as usize)),
        }
    }

    /// The attribute's type (`TypeDef` or `TypeRef`).
    pub fn type_token(&self) -> Result<Token> {
        Ok(self.constructed_type()?.0)
    }

    /// Whether the attribute's type is `namespace.name`; the defining assembly does not matter, as for the runtime.
    #[must_use]
    pub fn is(&self, namespace: &str, name: &str) -> bool {
        match self.type_or_spec() {
            Ok(token) if token.is(Table::TypeSpec) => self
                .type_token()
                .is_ok_and(|token| self.metadata.is_type_named(token, namespace, name)),
            Ok(token) => self.metadata.is_type_named(token, namespace, name),
            Err(_) => false,
        }
    }

    /// The signature of the constructor.
    pub fn constructor_signature(&self) -> Result<MethodSignature> {
        let constructor = self.row.constructor;
        if constructor.is(Table::Method) {
            self.metadata.method(constructor)?.signature()
        } else {
            signature::method_signature(self.metadata.member_ref(constructor)?.signature)
        }
    }
}
