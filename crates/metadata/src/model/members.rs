//! Members of types: methods, fields, properties, events, and their parameters.

use std::borrow::Cow;

use super::constant::ConstantValue;
use super::flags::{FieldFlags, MethodFlags, MethodImplFlags, ParamFlags};
use crate::error::{Malformed, Result};
use crate::signature::{self, MethodSignature, Type};
use crate::tables::{
    Coded, ConstantRow, EventRow, FieldLayoutRow, FieldRow, FieldRvaRow, GenericParamConstraintRow,
    GenericParamRow, ImplMapRow, Key, MethodRow, MethodSemanticsRow, ParamRow, PropertyRow, Table,
};
use crate::token::Token;
use crate::view::Metadata;

macro_rules! member {
    ($( $(#[$doc:meta])* $name:ident, $row:ident, $constructor:ident; )*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub struct $name<'a> {
            metadata: Metadata<'a>,
            token: Token,
            row: $row,
        }

        impl<'a> $name<'a> {
            /// Its token.
            #[must_use]
            pub const fn token(&self) -> Token {
                self.token
            }

            /// Its name.
            pub fn name(&self) -> Result<Cow<'a, str>> {
                self.metadata.string(self.row.name)
            }

            /// Its name's bytes, for comparing without making text.
            pub fn name_bytes(&self) -> Result<&'a [u8]> {
                self.metadata.string_bytes(self.row.name)
            }

            /// The metadata it lies in.
            #[must_use]
            pub const fn metadata(&self) -> Metadata<'a> {
                self.metadata
            }
        }

        impl<'a> Metadata<'a> {
            $(#[$doc])*
            pub fn $constructor(self, token: Token) -> Result<$name<'a>> {
                Ok($name { metadata: self, token, row: self.row_of(token)? })
            }
        }
    )* };
}

member! {
    /// A method that this module defines.
    Method, MethodRow, method;
    /// A field that this module defines.
    Field, FieldRow, field;
    /// A property that this module defines.
    Property, PropertyRow, property;
    /// An event that this module defines.
    Event, EventRow, event;
    /// A generic parameter of a type or method.
    GenericParam, GenericParamRow, generic_param;
}

/// What an accessor does for its property or event (ECMA-335 II.23.1.12).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Semantics {
    /// Sets a property.
    Setter,
    /// Gets a property.
    Getter,
    /// Adds a handler to an event.
    Adder,
    /// Removes a handler from an event.
    Remover,
    /// Raises an event.
    Raiser,
    /// Something else that belongs to it.
    Other,
}

impl Semantics {
    const fn from_bits(bits: u16) -> Self {
        match bits {
            0x01 => Self::Setter,
            0x02 => Self::Getter,
            0x08 => Self::Adder,
            0x10 => Self::Remover,
            0x20 => Self::Raiser,
            _ => Self::Other,
        }
    }
}

/// A parameter: its type from the signature, the rest from its row if it has one.
#[derive(Debug, Clone)]
pub struct Parameter<'a> {
    /// Its row, if it has one.
    pub token: Option<Token>,
    /// Its name, if it has one.
    pub name: Option<Cow<'a, str>>,
    /// Its flags; none without a row.
    pub flags: ParamFlags,
    /// Its type.
    pub ty: Type,
    /// Its default value.
    pub default: Option<ConstantValue<'a>>,
}

/// The native function behind a P/Invoke method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NativeImport<'a> {
    /// The function's name.
    pub name: Cow<'a, str>,
    /// The library's name.
    pub library: Cow<'a, str>,
    /// `PInvokeAttributes`.
    pub flags: u16,
}

impl<'a> Metadata<'a> {
    /// The constant of a field, parameter or property.
    pub fn constant(self, token: Token) -> Result<Option<ConstantValue<'a>>> {
        let mut rows = self.rows_of(Key::ConstantParent, Coded::HasConstant, token);
        let Some(row) = rows.next() else {
            return Ok(None);
        };
        let row: ConstantRow = self.row(row)?;
        // The type is one byte; the other is padding.
        ConstantValue::read(row.kind as u8, self.blob(row.value)?).map(Some)
    }

    /// The accessors of a property or event.
    fn semantics_of(self, association: Token) -> Result<Vec<(Semantics, Token)>> {
        let rows = self.rows_of(Key::SemanticsAssociation, Coded::HasSemantics, association);
        rows.map(|row| {
            let row: MethodSemanticsRow = self.row(row)?;
            Ok((Semantics::from_bits(row.semantics), row.method))
        })
        .collect()
    }

    /// The type whose list `column` of its `TypeDef` row holds a member.
    fn owner(self, column: usize, member: Token) -> Result<Token> {
        self.list_owner(Table::TypeDef, column, member)
            .map(|row| Token::new(Table::TypeDef, row))
            .ok_or(Malformed::new("member without a type", member.0 as usize))
    }

    /// The type that a map row gives its members to.
    fn mapped_owner(self, map: Table, member: Token) -> Result<Token> {
        self.list_owner(map, 1, member)
            .and_then(|row| self.cell(map, row, 0))
            .map(|row| Token::new(Table::TypeDef, row))
            .ok_or(Malformed::new("member without a type", member.0 as usize))
    }
}

impl<'a> Method<'a> {
    /// Its flags.
    #[must_use]
    pub const fn flags(&self) -> MethodFlags {
        MethodFlags(self.row.flags)
    }

    /// Its implementation flags.
    #[must_use]
    pub const fn impl_flags(&self) -> MethodImplFlags {
        MethodImplFlags(self.row.impl_flags)
    }

    /// The address of its IL; 0 if it has none.
    #[must_use]
    pub const fn rva(&self) -> u32 {
        self.row.rva
    }

    /// Whether it has a body in IL.
    #[must_use]
    pub const fn has_body(&self) -> bool {
        self.row.rva != 0 && !self.impl_flags().is_runtime()
    }

    /// The blob of its signature.
    pub fn signature_blob(&self) -> Result<&'a [u8]> {
        self.metadata.blob(self.row.signature)
    }

    /// Its signature.
    pub fn signature(&self) -> Result<MethodSignature> {
        signature::method_signature(self.signature_blob()?)
    }

    /// The type it belongs to.
    pub fn declaring_type(&self) -> Result<Token> {
        self.metadata.owner(5, self.token)
    }

    /// Its generic parameters.
    pub fn generic_params(&self) -> impl Iterator<Item = Result<GenericParam<'a>>> + use<'a> {
        self.metadata.generic_params(self.token)
    }

    /// The rows of its parameters, with their numbers: 0 is the return value.
    pub fn param_rows(&self) -> impl Iterator<Item = Result<(Token, ParamRow)>> + use<'a> {
        let metadata = self.metadata;
        let tokens = metadata.list(Table::Method, 5, self.token.row(), Table::Param);
        tokens.map(move |token| Ok((token, metadata.row_of(token)?)))
    }

    /// Its parameters, without `this`, in order.
    pub fn parameters(&self) -> Result<Vec<Parameter<'a>>> {
        let types = self.signature()?.parameters;
        let unnamed = |ty| Parameter {
            token: None,
            name: None,
            flags: ParamFlags::default(),
            ty,
            default: None,
        };
        let mut parameters: Vec<_> = types.into_iter().map(unnamed).collect();
        for row in self.param_rows() {
            let (token, row) = row?;
            let index = usize::from(row.sequence).checked_sub(1);
            let Some(parameter) = index.and_then(|index| parameters.get_mut(index)) else {
                continue;
            };
            parameter.token = Some(token);
            parameter.name = Some(self.metadata.string(row.name)?).filter(|name| !name.is_empty());
            parameter.flags = ParamFlags(row.flags);
            if parameter.flags.has_default() {
                parameter.default = self.metadata.constant(token)?;
            }
        }
        Ok(parameters)
    }

    /// The row of the return value, which carries its attributes.
    pub fn return_param(&self) -> Result<Option<Token>> {
        match self.param_rows().next() {
            Some(Ok((token, row))) if row.sequence == 0 => Ok(Some(token)),
            Some(Err(error)) => Err(error),
            _ => Ok(None),
        }
    }

    /// The property or event that it is an accessor of.
    pub fn semantics(&self) -> Result<Option<(Semantics, Token)>> {
        let mut rows = self
            .metadata
            .rows_where(Key::SemanticsMethod, self.token.row());
        let Some(row) = rows.next() else {
            return Ok(None);
        };
        let row: MethodSemanticsRow = self.metadata.row(row)?;
        Ok(Some((Semantics::from_bits(row.semantics), row.association)))
    }

    /// The native function behind it.
    pub fn native_import(&self) -> Result<Option<NativeImport<'a>>> {
        let metadata = self.metadata;
        let mut rows = metadata.rows_of(Key::ImplMapMember, Coded::MemberForwarded, self.token);
        let Some(row) = rows.next() else {
            return Ok(None);
        };
        let row: ImplMapRow = metadata.row(row)?;
        let library: crate::tables::ModuleRefRow = metadata.row_of(row.import_scope)?;
        Ok(Some(NativeImport {
            name: metadata.string(row.import_name)?,
            library: metadata.string(library.name)?,
            flags: row.flags,
        }))
    }
}

impl<'a> Field<'a> {
    /// Its flags.
    #[must_use]
    pub const fn flags(&self) -> FieldFlags {
        FieldFlags(self.row.flags)
    }

    /// Its type.
    pub fn ty(&self) -> Result<Type> {
        signature::field_type(self.metadata.blob(self.row.signature)?)
    }

    /// The type it belongs to.
    pub fn declaring_type(&self) -> Result<Token> {
        self.metadata.owner(4, self.token)
    }

    /// The value of a literal.
    pub fn constant(&self) -> Result<Option<ConstantValue<'a>>> {
        self.metadata.constant(self.token)
    }

    /// Its explicit offset.
    pub fn offset(&self) -> Result<Option<u32>> {
        let mut rows = self
            .metadata
            .rows_where(Key::FieldLayoutField, self.token.row());
        let Some(row) = rows.next() else {
            return Ok(None);
        };
        Ok(Some(self.metadata.row::<FieldLayoutRow>(row)?.offset))
    }

    /// The address of its initial data.
    pub fn rva(&self) -> Result<Option<u32>> {
        let mut rows = self
            .metadata
            .rows_where(Key::FieldRvaField, self.token.row());
        let Some(row) = rows.next() else {
            return Ok(None);
        };
        Ok(Some(self.metadata.row::<FieldRvaRow>(row)?.rva))
    }
}

/// The methods behind a property or event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Accessors {
    /// Gets the property.
    pub getter: Option<Token>,
    /// Sets the property.
    pub setter: Option<Token>,
    /// Adds a handler to the event.
    pub adder: Option<Token>,
    /// Removes a handler from the event.
    pub remover: Option<Token>,
    /// Raises the event.
    pub raiser: Option<Token>,
}

impl Accessors {
    fn of(metadata: Metadata<'_>, association: Token) -> Result<Self> {
        let mut accessors = Self::default();
        for (semantics, method) in metadata.semantics_of(association)? {
            let slot = match semantics {
                Semantics::Getter => &mut accessors.getter,
                Semantics::Setter => &mut accessors.setter,
                Semantics::Adder => &mut accessors.adder,
                Semantics::Remover => &mut accessors.remover,
                Semantics::Raiser => &mut accessors.raiser,
                Semantics::Other => continue,
            };
            *slot = Some(method);
        }
        Ok(accessors)
    }
}

impl Property<'_> {
    /// `PropertyAttributes`.
    #[must_use]
    pub const fn flags(&self) -> u16 {
        self.row.flags
    }

    /// Its signature: the return type is the property's, parameters are an indexer's.
    pub fn signature(&self) -> Result<MethodSignature> {
        signature::property_signature(self.metadata.blob(self.row.signature)?)
    }

    /// The type it belongs to.
    pub fn declaring_type(&self) -> Result<Token> {
        self.metadata.mapped_owner(Table::PropertyMap, self.token)
    }

    /// Its getter and setter.
    pub fn accessors(&self) -> Result<Accessors> {
        Accessors::of(self.metadata, self.token)
    }
}

impl Event<'_> {
    /// `EventAttributes`.
    #[must_use]
    pub const fn flags(&self) -> u16 {
        self.row.flags
    }

    /// The type of its handlers.
    #[must_use]
    pub const fn handler_type(&self) -> Token {
        self.row.event_type
    }

    /// The type it belongs to.
    pub fn declaring_type(&self) -> Result<Token> {
        self.metadata.mapped_owner(Table::EventMap, self.token)
    }

    /// Its adder, remover and raiser.
    pub fn accessors(&self) -> Result<Accessors> {
        Accessors::of(self.metadata, self.token)
    }
}

impl<'a> GenericParam<'a> {
    /// Its position.
    #[must_use]
    pub const fn number(&self) -> u16 {
        self.row.number
    }

    /// `GenericParamAttributes`: variance and special constraints.
    #[must_use]
    pub const fn flags(&self) -> u16 {
        self.row.flags
    }

    /// The type or method it belongs to.
    #[must_use]
    pub const fn owner(&self) -> Token {
        self.row.owner
    }

    /// The types that an argument must derive from or implement.
    pub fn constraints(&self) -> impl Iterator<Item = Result<Token>> + use<'a> {
        let metadata = self.metadata;
        let rows = metadata.rows_where(Key::ConstraintOwner, self.token.row());
        rows.map(move |row| Ok(metadata.row::<GenericParamConstraintRow>(row)?.constraint))
    }
}
