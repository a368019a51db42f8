//! Compile-time constants: values of literal fields and default values of parameters (ECMA-335 II.22.9).

use std::fmt;

use crate::cursor::Cursor;
use crate::error::{Malformed, Result};
use crate::signature::Primitive;

/// UTF-16 text in place; it may hold lone surrogates, as any .NET string.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Utf16<'a>(&'a [[u8; 2]]);

impl<'a> Utf16<'a> {
    /// Views little-endian UTF-16 bytes; an odd last byte is left out.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes.as_chunks().0)
    }

    /// The code units.
    pub fn units(self) -> impl ExactSizeIterator<Item = u16> + Clone + 'a {
        self.0.iter().map(|&unit| u16::from_le_bytes(unit))
    }

    /// The number of code units.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.len()
    }

    /// Whether there is no text.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Utf16<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write;
        char::decode_utf16(self.units())
            .try_for_each(|unit| f.write_char(unit.unwrap_or(char::REPLACEMENT_CHARACTER)))
    }
}

impl fmt::Debug for Utf16<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_string(), f)
    }
}

/// The value of a constant.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the names are those of the element types")]
pub enum ConstantValue<'a> {
    Bool(bool),
    Char(u16),
    I1(i8),
    U1(u8),
    I2(i16),
    U2(u16),
    I4(i32),
    U4(u32),
    I8(i64),
    U8(u64),
    R4(f32),
    R8(f64),
    String(Utf16<'a>),
    Null,
}

impl<'a> ConstantValue<'a> {
    /// Reads the value of an element type; `code` 0x12 (class) stands for null.
    pub fn read(code: u8, blob: &'a [u8]) -> Result<Self> {
        let primitive = match code {
            0x12 => return Ok(Self::Null),
            _ => Primitive::from_code(code).ok_or(Malformed::new("constant type", code.into()))?,
        };
        match primitive {
            Primitive::String if blob == [0xff] => Ok(Self::Null),
            Primitive::String => Ok(Self::String(Utf16::new(blob))),
            _ => Self::scalar(primitive, &mut Cursor::new(blob, "constant")),
        }
    }

    /// Reads a number, character or truth value.
    pub(crate) fn scalar(primitive: Primitive, cursor: &mut Cursor<'_>) -> Result<Self> {
        let bad = cursor.bad();
        Ok(match primitive {
            Primitive::Bool => Self::Bool(cursor.u8()? != 0),
            Primitive::Char => Self::Char(cursor.u16()?),
            Primitive::I1 => Self::I1(cursor.u8()?.cast_signed()),
            Primitive::U1 => Self::U1(cursor.u8()?),
            Primitive::I2 => Self::I2(cursor.u16()?.cast_signed()),
            Primitive::U2 => Self::U2(cursor.u16()?),
            Primitive::I4 => Self::I4(cursor.u32()?.cast_signed()),
            Primitive::U4 => Self::U4(cursor.u32()?),
            Primitive::I8 => Self::I8(cursor.u64()?.cast_signed()),
            Primitive::U8 => Self::U8(cursor.u64()?),
            Primitive::R4 => Self::R4(f32::from_bits(cursor.u32()?)),
            Primitive::R8 => Self::R8(f64::from_bits(cursor.u64()?)),
            _ => return Err(bad),
        })
    }

    /// The value as the 64 bits that enums are compared by; signed values are sign-extended.
    #[must_use]
    pub const fn bits(self) -> Option<u64> {
        Some(match self {
            Self::Bool(value) => value as u64,
            Self::Char(value) | Self::U2(value) => value as u64,
            Self::I1(value) => (value as i64).cast_unsigned(),
            Self::U1(value) => value as u64,
            Self::I2(value) => (value as i64).cast_unsigned(),
            Self::I4(value) => (value as i64).cast_unsigned(),
            Self::U4(value) => value as u64,
            Self::I8(value) => value.cast_unsigned(),
            Self::U8(value) => value,
            Self::R4(_) | Self::R8(_) | Self::String(_) | Self::Null => return None,
        })
    }
}
