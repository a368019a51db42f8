//! The arguments of custom attributes (ECMA-335 II.23.3).

use std::borrow::Cow;
use std::sync::Arc;

use super::Attribute;
use crate::cursor::Cursor;
use crate::error::{Malformed, Result};
use crate::model::ConstantValue;
use crate::signature::{Primitive, Type};
use crate::tables::Table;

const PROLOG: u16 = 1;
const FIELD: u8 = 0x53;
const PROPERTY: u8 = 0x54;
const TYPE: u8 = 0x50;
const BOXED: u8 = 0x51;
const ENUM: u8 = 0x55;
const SZ_ARRAY: u8 = 0x1d;
const NULL: u8 = 0xff;
/// Boxed values hold arrays of boxed values, and so on; nobody writes more than two levels.
const MAX_DEPTH: u32 = 16;

/// An attribute with more arguments and elements than this would take memory many times its size.
const MAX_PARTS: u32 = 1 << 20;

/// The type of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentType {
    /// A number, character, truth value or string.
    Primitive(Primitive),
    /// `System.Type`.
    Type,
    /// An enum.
    Enum {
        /// The name that reflection gives it; with its assembly where the blob says so.
        name: Arc<str>,
        /// What it is stored as, where that is known without guessing.
        underlying: Option<Primitive>,
    },
    /// An array.
    Array(Box<Self>),
    /// `object`; the value says what it really is. Only the declared type of a parameter or element is this.
    Boxed,
}

/// The value of an argument.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// A number, character or truth value; for enums the number.
    Scalar(ConstantValue<'a>),
    /// A string or the name of a type, or null.
    Text(Option<Cow<'a, str>>),
    /// An array, or null.
    Array(Option<Vec<Argument<'a>>>),
}

/// An argument: its type and value.
#[derive(Debug, Clone, PartialEq)]
pub struct Argument<'a> {
    /// The type; for an `object` parameter the type of the value that was passed.
    pub ty: ArgumentType,
    /// The value.
    pub value: Value<'a>,
}

impl<'a> Argument<'a> {
    /// The text of a string or type argument.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => text.as_deref(),
            _ => None,
        }
    }

    /// The number of a scalar argument, sign-extended.
    #[must_use]
    pub fn bits(&self) -> Option<u64> {
        match self.value {
            Value::Scalar(value) => value.bits(),
            _ => None,
        }
    }

    /// The elements of an array argument.
    #[must_use]
    pub fn elements(&self) -> Option<&[Argument<'a>]> {
        match &self.value {
            Value::Array(elements) => elements.as_deref(),
            _ => None,
        }
    }
}

/// An argument that is set by name.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedArgument<'a> {
    /// Whether it is a field; else it is a property.
    pub is_field: bool,
    /// The field's or property's name.
    pub name: Cow<'a, str>,
    /// The declared type, which may be `object`.
    pub declared: ArgumentType,
    /// The value.
    pub argument: Argument<'a>,
}

/// All arguments of an attribute.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Arguments<'a> {
    /// Those of the constructor, in order.
    pub fixed: Vec<Argument<'a>>,
    /// Those set by name.
    pub named: Vec<NamedArgument<'a>>,
}

impl<'a> Arguments<'a> {
    /// An argument that was set by name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&Argument<'a>> {
        let found = self.named.iter().find(|named| named.name == name);
        found.map(|named| &named.argument)
    }
}

impl<'a> Attribute<'a> {
    /// Decodes the arguments; enums of other modules are taken to be of the size that makes the blob fit.
    pub fn arguments(&self) -> Result<Arguments<'a>> {
        self.arguments_with(&|_| None)
    }

    /// Decodes the arguments; `enum_type` is asked for the underlying type of enums of other modules, by full name.
    ///
    /// The blob does not say how large such an enum is. Where nobody knows, sizes are tried in the order of their
    /// frequency until the whole blob makes sense.
    pub fn arguments_with(&self, enum_type: &EnumResolver<'_>) -> Result<Arguments<'a>> {
        let mut guesses = Guesses::default();
        let mut first_error = None;
        for _ in 0..MAX_ATTEMPTS {
            guesses.n_seen = 0;
            let mut decoder = Decoder {
                attribute: self,
                cursor: Cursor::new(self.blob()?, "custom attribute"),
                enum_type,
                guesses: &mut guesses,
                depth: 0,
                n_parts: 0,
            };
            match decoder.all() {
                Ok(arguments) => return Ok(arguments),
                Err(error) => first_error = Some(*first_error.get_or_insert(error)),
            }
            if !guesses.advance() {
                break;
            }
        }
        Err(first_error.unwrap_or(Malformed::new("custom attribute", 0)))
    }
}

/// Two enums of unknown size in one attribute need at most 16 attempts.
const MAX_ATTEMPTS: u32 = 64;
const MAX_GUESSED_ENUMS: usize = 8;
const SIZES: [Primitive; 4] = [Primitive::I4, Primitive::U1, Primitive::I2, Primitive::I8];

/// The sizes assumed for enums that nobody knows, in the order of their first appearance.
#[derive(Default)]
struct Guesses {
    enums: Vec<(Arc<str>, usize)>,
    /// How many of them the current attempt came across.
    n_seen: usize,
}

impl Guesses {
    fn size(&mut self, name: &Arc<str>) -> Option<Primitive> {
        let known = self.enums.iter().position(|(it, _)| it == name);
        let index = known.unwrap_or(self.enums.len());
        if index == MAX_GUESSED_ENUMS {
            return None;
        }
        if known.is_none() {
            self.enums.push((name.clone(), 0));
        }
        self.n_seen = self.n_seen.max(index + 1);
        let &(_, size) = self.enums.get(index)?;
        SIZES.get(size).copied()
    }

    /// Changes the guess that the last attempt made last, as the failure lies behind it; false when all were tried.
    fn advance(&mut self) -> bool {
        self.enums.truncate(self.n_seen);
        while let Some((_, size)) = self.enums.last_mut() {
            *size += 1;
            if *size < SIZES.len() {
                return true;
            }
            self.enums.pop();
        }
        false
    }
}

/// Answers with the underlying type of an enum, asked by its full name.
pub type EnumResolver<'r> = dyn Fn(&str) -> Option<Primitive> + 'r;

struct Decoder<'d, 'a> {
    attribute: &'d Attribute<'a>,
    cursor: Cursor<'a>,
    enum_type: &'d EnumResolver<'d>,
    guesses: &'d mut Guesses,
    depth: u32,
    n_parts: u32,
}

impl<'a> Decoder<'_, 'a> {
    fn all(&mut self) -> Result<Arguments<'a>> {
        // No blob at all stands for no arguments.
        if self.cursor.is_empty() {
            return Ok(Arguments::default());
        }
        let bad = self.cursor.bad();
        if self.cursor.u16()? != PROLOG {
            return Err(bad);
        }
        let (_, generic) = self.attribute.constructed_type()?;
        let mut arguments = Arguments::default();
        for parameter in self.attribute.constructor_signature()?.parameters {
            let ty = self.parameter_type(&parameter, &generic)?;
            arguments.fixed.push(self.argument(ty)?);
        }
        for _ in 0..self.cursor.u16()? {
            let bad = self.cursor.bad();
            let is_field = match self.cursor.u8()? {
                FIELD => true,
                PROPERTY => false,
                _ => return Err(bad),
            };
            let declared = self.stored_type()?;
            let name = self.text()?.ok_or(bad)?;
            let argument = self.argument(declared.clone())?;
            arguments.named.push(NamedArgument {
                is_field,
                name,
                declared,
                argument,
            });
        }
        if self.cursor.is_empty() {
            Ok(arguments)
        } else {
            Err(self.cursor.bad())
        }
    }

    /// The type of a constructor parameter, as an argument type.
    fn parameter_type(&self, ty: &Type, generic: &[Type]) -> Result<ArgumentType> {
        let bad = Malformed::new("type of an attribute's parameter", 0);
        let metadata = self.attribute.metadata;
        match ty {
            Type::Primitive(Primitive::Object) => Ok(ArgumentType::Boxed),
            Type::Primitive(primitive) => Ok(ArgumentType::Primitive(*primitive)),
            Type::Named { token, .. } if metadata.is_type_named(*token, "System", "Type") => {
                Ok(ArgumentType::Type)
            }
            Type::Named {
                token,
                is_value: true,
            } => {
                let name = metadata.full_name(*token)?;
                let underlying = if token.is(Table::TypeDef) {
                    metadata.type_def(*token)?.enum_underlying()?
                } else {
                    (self.enum_type)(&name)
                };
                Ok(ArgumentType::Enum {
                    name: name.into(),
                    underlying,
                })
            }
            Type::SzArray(element) => self
                .parameter_type(element, generic)
                .map(Box::new)
                .map(ArgumentType::Array),
            Type::TypeParameter(number) => {
                let argument = generic.get(*number as usize).ok_or(bad)?;
                self.parameter_type(argument, &[])
            }
            Type::Modified { inner, .. } => self.parameter_type(inner, generic),
            _ => Err(bad),
        }
    }

    /// A type spelled in the blob (II.23.3 FieldOrPropType).
    fn stored_type(&mut self) -> Result<ArgumentType> {
        let bad = self.cursor.bad();
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(bad);
        }
        let ty = match self.cursor.u8()? {
            TYPE => ArgumentType::Type,
            BOXED => ArgumentType::Boxed,
            ENUM => {
                let name: Arc<str> = self.text()?.ok_or(bad)?.into();
                // An assembly's name may follow the type's.
                let bare = name.split(',').next().unwrap_or_default().trim_end();
                let underlying = (self.enum_type)(bare);
                ArgumentType::Enum { name, underlying }
            }
            SZ_ARRAY => ArgumentType::Array(Box::new(self.stored_type()?)),
            code @ 0x02..=0x0e => ArgumentType::Primitive(Primitive::from_code(code).ok_or(bad)?),
            _ => return Err(bad),
        };
        self.depth -= 1;
        Ok(ty)
    }

    fn argument(&mut self, ty: ArgumentType) -> Result<Argument<'a>> {
        self.depth += 1;
        self.n_parts += 1;
        if self.depth > MAX_DEPTH || self.n_parts > MAX_PARTS {
            return Err(self.cursor.bad());
        }
        let ty = if ty == ArgumentType::Boxed {
            self.stored_type()?
        } else {
            ty
        };
        let value = match &ty {
            ArgumentType::Primitive(Primitive::String) | ArgumentType::Type => {
                Value::Text(self.text()?)
            }
            ArgumentType::Primitive(primitive) => {
                Value::Scalar(ConstantValue::scalar(*primitive, &mut self.cursor)?)
            }
            ArgumentType::Enum { name, underlying } => {
                let guessed = underlying.or_else(|| self.guesses.size(name));
                let underlying = guessed.ok_or(self.cursor.bad())?;
                Value::Scalar(ConstantValue::scalar(underlying, &mut self.cursor)?)
            }
            ArgumentType::Array(element) => Value::Array(self.array(element)?),
            ArgumentType::Boxed => return Err(self.cursor.bad()),
        };
        self.depth -= 1;
        Ok(Argument { ty, value })
    }

    fn array(&mut self, element: &ArgumentType) -> Result<Option<Vec<Argument<'a>>>> {
        let bad = self.cursor.bad();
        let count = match self.cursor.u32()? {
            u32::MAX => return Ok(None),
            count => count as usize,
        };
        if count > self.cursor.remaining() {
            return Err(bad);
        }
        let mut elements = Vec::new();
        for _ in 0..count {
            elements.push(self.argument(element.clone())?);
        }
        Ok(Some(elements))
    }

    /// A counted UTF-8 string or null (II.23.3 SerString).
    fn text(&mut self) -> Result<Option<Cow<'a, str>>> {
        if self.cursor.peek() == Some(NULL) {
            self.cursor.u8()?;
            return Ok(None);
        }
        let len = self.cursor.compressed_u32()?;
        let bytes = self.cursor.take(len as usize)?;
        Ok(Some(String::from_utf8_lossy(bytes)))
    }
}
