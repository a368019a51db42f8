//! Types of this module.

use std::borrow::Cow;

use super::constant::ConstantValue;
use super::flags::TypeFlags;
use super::members::{Event, Field, GenericParam, Method, Property};
use crate::error::{Malformed, Result};
use crate::signature::{Primitive, Type};
use crate::tables::{
    ClassLayoutRow, Coded, InterfaceImplRow, Key, MethodImplRow, NestedClassRow, Table, TypeDefRow,
};
use crate::token::Token;
use crate::view::Metadata;

/// A type that this module defines.
#[derive(Debug, Clone, Copy)]
pub struct TypeDef<'a> {
    metadata: Metadata<'a>,
    token: Token,
    row: TypeDefRow,
}

/// Explicit packing and size of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeLayout {
    /// The largest alignment of a field; 0 means the default.
    pub packing: u16,
    /// The size in bytes; 0 means as large as needed.
    pub size: u32,
}

/// A named value of an enum.
#[derive(Debug, Clone, PartialEq)]
pub struct EnumMember<'a> {
    /// The member's name.
    pub name: Cow<'a, str>,
    /// The member's value.
    pub value: ConstantValue<'a>,
}

impl<'a> Metadata<'a> {
    /// The type that a `TypeDef` token names.
    pub fn type_def(self, token: Token) -> Result<TypeDef<'a>> {
        Ok(TypeDef {
            metadata: self,
            token,
            row: self.row_of(token)?,
        })
    }

    /// All types of the module, nested ones included; the first is the pseudo type `<Module>`.
    pub fn type_defs(self) -> impl Iterator<Item = Result<TypeDef<'a>>> {
        self.tokens(Table::TypeDef)
            .map(move |token| self.type_def(token))
    }
}

impl<'a> TypeDef<'a> {
    /// The type's token.
    #[must_use]
    pub const fn token(&self) -> Token {
        self.token
    }

    /// The metadata it lies in.
    #[must_use]
    pub const fn metadata(&self) -> Metadata<'a> {
        self.metadata
    }

    /// The type's flags.
    #[must_use]
    pub const fn flags(&self) -> TypeFlags {
        TypeFlags(self.row.flags)
    }

    /// The name, with an arity mark such as `` List`1 ``.
    pub fn name(&self) -> Result<Cow<'a, str>> {
        self.metadata.string(self.row.name)
    }

    /// The namespace; empty for nested types.
    pub fn namespace(&self) -> Result<Cow<'a, str>> {
        self.metadata.string(self.row.namespace)
    }

    /// The name that reflection gives the type: `Namespace.Outer+Inner`.
    pub fn full_name(&self) -> Result<String> {
        self.metadata.full_name(self.token)
    }

    /// The base type (`TypeDef`, `TypeRef` or `TypeSpec`).
    #[must_use]
    pub fn base(&self) -> Option<Token> {
        self.row.extends.non_nil()
    }

    /// The interfaces that the type names itself.
    pub fn interfaces(&self) -> impl Iterator<Item = Result<Token>> + use<'a> {
        let metadata = self.metadata;
        let rows = metadata.rows_where(Key::InterfaceImplClass, self.token.row());
        rows.map(move |row| Ok(metadata.row::<InterfaceImplRow>(row)?.interface))
    }

    /// The tokens of the rows that say which interfaces the type names itself, and those interfaces.
    pub fn interface_rows(&self) -> impl Iterator<Item = Result<(Token, Token)>> + use<'a> {
        let metadata = self.metadata;
        let rows = metadata.rows_where(Key::InterfaceImplClass, self.token.row());
        rows.map(move |row| {
            let interface = metadata.row::<InterfaceImplRow>(row)?.interface;
            Ok((Token::new(Table::InterfaceImpl, row), interface))
        })
    }

    /// The type around this one.
    pub fn enclosing(&self) -> Result<Option<Token>> {
        if !self.flags().is_nested() {
            return Ok(None);
        }
        let mut rows = self
            .metadata
            .rows_where(Key::NestedClassNested, self.token.row());
        let Some(row) = rows.next() else {
            return Ok(None);
        };
        Ok(self
            .metadata
            .row::<NestedClassRow>(row)?
            .enclosing
            .non_nil())
    }

    /// The types directly inside this one.
    pub fn nested(&self) -> impl Iterator<Item = Result<Token>> + use<'a> {
        let metadata = self.metadata;
        let rows = metadata.rows_where(Key::NestedClassEnclosing, self.token.row());
        rows.map(move |row| Ok(metadata.row::<NestedClassRow>(row)?.nested))
    }

    /// The fields, in declaration order.
    pub fn fields(&self) -> impl Iterator<Item = Result<Field<'a>>> + use<'a> {
        let metadata = self.metadata;
        let tokens = metadata.list(Table::TypeDef, 4, self.token.row(), Table::Field);
        tokens.map(move |token| metadata.field(token))
    }

    /// The methods, in declaration order.
    pub fn methods(&self) -> impl Iterator<Item = Result<Method<'a>>> + use<'a> {
        let metadata = self.metadata;
        let tokens = metadata.list(Table::TypeDef, 5, self.token.row(), Table::Method);
        tokens.map(move |token| metadata.method(token))
    }

    /// The properties, in declaration order.
    pub fn properties(&self) -> impl Iterator<Item = Result<Property<'a>>> + use<'a> {
        let metadata = self.metadata;
        let maps = metadata.rows_where(Key::PropertyMapParent, self.token.row());
        let tokens =
            maps.flat_map(move |map| metadata.list(Table::PropertyMap, 1, map, Table::Property));
        tokens.map(move |token| metadata.property(token))
    }

    /// The events, in declaration order.
    pub fn events(&self) -> impl Iterator<Item = Result<Event<'a>>> + use<'a> {
        let metadata = self.metadata;
        let maps = metadata.rows_where(Key::EventMapParent, self.token.row());
        let tokens = maps.flat_map(move |map| metadata.list(Table::EventMap, 1, map, Table::Event));
        tokens.map(move |token| metadata.event(token))
    }

    /// The generic parameters, those repeated from enclosing types first.
    pub fn generic_params(&self) -> impl Iterator<Item = Result<GenericParam<'a>>> + use<'a> {
        self.metadata.generic_params(self.token)
    }

    /// Explicit overrides: pairs of body and declaration.
    pub fn method_impls(&self) -> impl Iterator<Item = Result<(Token, Token)>> + use<'a> {
        let metadata = self.metadata;
        let rows = metadata.rows_where(Key::MethodImplClass, self.token.row());
        rows.map(move |row| {
            let row: MethodImplRow = metadata.row(row)?;
            Ok((row.body, row.declaration))
        })
    }

    /// Explicit packing and size, if declared.
    pub fn layout(&self) -> Result<Option<TypeLayout>> {
        let mut rows = self
            .metadata
            .rows_where(Key::ClassLayoutParent, self.token.row());
        let Some(row) = rows.next() else {
            return Ok(None);
        };
        let row: ClassLayoutRow = self.metadata.row(row)?;
        Ok(Some(TypeLayout {
            packing: row.packing_size,
            size: row.class_size,
        }))
    }

    fn base_is(&self, name: &str) -> bool {
        self.base()
            .is_some_and(|base| self.metadata.is_type_named(base, "System", name))
    }

    /// Whether it is an enum.
    #[must_use]
    pub fn is_enum(&self) -> bool {
        self.base_is("Enum")
    }

    /// Whether its values are stored in place (structs and enums).
    #[must_use]
    pub fn is_value_type(&self) -> bool {
        // System.Enum itself derives from ValueType, but is a class.
        self.is_enum()
            || self.base_is("ValueType")
                && !self.metadata.is_type_named(self.token, "System", "Enum")
    }

    /// Whether it is a delegate.
    #[must_use]
    pub fn is_delegate(&self) -> bool {
        self.base_is("MulticastDelegate")
    }

    /// The type that an enum's values are stored as.
    pub fn enum_underlying(&self) -> Result<Option<Primitive>> {
        if !self.is_enum() {
            return Ok(None);
        }
        for field in self.fields() {
            let field = field?;
            if !field.flags().is_static() {
                return Ok(match field.ty()?.unmodified() {
                    Type::Primitive(primitive) => Some(*primitive),
                    _ => None,
                });
            }
        }
        Ok(None)
    }

    /// The members of an enum, in declaration order.
    pub fn enum_members(&self) -> impl Iterator<Item = Result<EnumMember<'a>>> + use<'a> {
        self.fields().filter_map(|field| match field {
            Ok(field) if !field.flags().is_literal() => None,
            Ok(field) => match field.constant() {
                Ok(Some(value)) => Some(field.name().map(|name| EnumMember { name, value })),
                Ok(None) => None,
                Err(error) => Some(Err(error)),
            },
            Err(error) => Some(Err(error)),
        })
    }

    /// Whether a custom attribute `System.FlagsAttribute` makes an enum's members combine.
    #[must_use]
    pub fn is_flags_enum(&self) -> bool {
        self.metadata
            .has_attribute(self.token, "System", "FlagsAttribute")
    }

    /// The text of an enum value as the framework prints it: a member's name, members joined by `, ` where the enum is
    /// a set of flags, `None` if members do not cover the value.
    pub fn enum_text(&self, value: ConstantValue<'_>) -> Result<Option<String>> {
        let bits = value.bits().ok_or(Malformed::new("enum value", 0))?;
        let mut members = Vec::new();
        for member in self.enum_members() {
            let member = member?;
            if let Some(of_member) = member.value.bits() {
                if of_member == bits {
                    return Ok(Some(member.name.into_owned()));
                }
                members.push((of_member, member.name));
            }
        }
        if bits == 0 || !self.is_flags_enum() {
            return Ok(None);
        }
        // The largest members first, so that a named combination wins over its parts.
        members.sort_by_key(|&(of_member, _)| of_member);
        let mut left = bits;
        let mut names = Vec::new();
        for (of_member, name) in members.iter().rev() {
            if *of_member != 0 && left & of_member == *of_member {
                left &= !of_member;
                names.push(name.as_ref());
            }
        }
        names.reverse();
        Ok((left == 0).then(|| names.join(", ")))
    }
}

impl<'a> Metadata<'a> {
    /// The generic parameters of a `TypeDef` or `Method`.
    pub fn generic_params(
        self,
        owner: Token,
    ) -> impl Iterator<Item = Result<GenericParam<'a>>> + use<'a> {
        let rows = self.rows_of(Key::GenericParamOwner, Coded::TypeOrMethodDef, owner);
        rows.map(move |row| self.generic_param(Token::new(Table::GenericParam, row)))
    }
}
