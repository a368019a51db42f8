//! The primitive values of C#, with C#'s own arithmetic, conversions and texts; pure, no program needed.
//!
//! Invariant: an integer's value always lies in the range of its [`Kind`].

mod convert;
mod decimal;
mod half;
mod operators;
mod text;
mod wide;

use std::rc::Rc;

pub(crate) use convert::{constant_fits, convert, implicit_numeric};
pub(crate) use decimal::Decimal;
pub(crate) use operators::{NoOperator, Operand, binary, operand_kind, unary, unary_kind};
pub(crate) use text::{quoted, quoted_char, text};

/// The value of a half, by its bits.
pub(crate) fn half_value(bits: u16) -> f32 {
    half::to_f32(bits)
}

/// The bits of the nearest half.
pub(crate) fn half_of(number: f64) -> u16 {
    half::from_f64(number)
}

/// The primitive types, and those of the framework that behave like them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Kind {
    Bool,
    Char,
    SByte,
    Byte,
    Short,
    UShort,
    Int,
    UInt,
    Long,
    ULong,
    NInt,
    NUInt,
    Int128,
    UInt128,
    Half,
    Float,
    Double,
    Decimal,
    String,
}

impl Kind {
    /// The C# keyword or name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Char => "char",
            Self::SByte => "sbyte",
            Self::Byte => "byte",
            Self::Short => "short",
            Self::UShort => "ushort",
            Self::Int => "int",
            Self::UInt => "uint",
            Self::Long => "long",
            Self::ULong => "ulong",
            Self::NInt => "nint",
            Self::NUInt => "nuint",
            Self::Int128 => "System.Int128",
            Self::UInt128 => "System.UInt128",
            Self::Half => "System.Half",
            Self::Float => "float",
            Self::Double => "double",
            Self::Decimal => "decimal",
            Self::String => "string",
        }
    }

    /// Whether it is one of C#'s integral types, `char` and the native ones included.
    pub(crate) fn is_integral(self) -> bool {
        matches!(
            self,
            Self::Char
                | Self::SByte
                | Self::Byte
                | Self::Short
                | Self::UShort
                | Self::Int
                | Self::UInt
                | Self::Long
                | Self::ULong
                | Self::NInt
                | Self::NUInt
        )
    }

    /// Whether C# itself computes with it.
    pub(crate) fn is_numeric(self) -> bool {
        self.is_integral() || matches!(self, Self::Float | Self::Double | Self::Decimal)
    }

    /// Whether an integral type has negative values.
    pub(crate) fn is_signed(self) -> bool {
        matches!(
            self,
            Self::SByte | Self::Short | Self::Int | Self::Long | Self::NInt | Self::Int128
        )
    }

    /// The bytes of a value; 0 for strings.
    pub(crate) fn size(self) -> usize {
        match self {
            Self::Bool | Self::SByte | Self::Byte => 1,
            Self::Char | Self::Short | Self::UShort | Self::Half => 2,
            Self::Int | Self::UInt | Self::Float => 4,
            Self::Long | Self::ULong | Self::NInt | Self::NUInt | Self::Double => 8,
            Self::Int128 | Self::UInt128 | Self::Decimal => 16,
            Self::String => 0,
        }
    }

    /// The range of an integral type.
    pub(crate) fn range(self) -> Option<(i128, i128)> {
        if !self.is_integral() {
            return None;
        }
        let bits = self.size() * 8;
        Some(if self.is_signed() {
            (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        } else {
            (0, (1 << bits) - 1)
        })
    }

    /// `value` cut to the bits of an integral type.
    pub(crate) fn wrap(self, value: i128) -> i128 {
        match self {
            Self::SByte => i128::from(value as i8),
            Self::Byte => i128::from(value as u8),
            Self::Short => i128::from(value as i16),
            Self::UShort | Self::Char => i128::from(value as u16),
            Self::Int => i128::from(value as i32),
            Self::UInt => i128::from(value as u32),
            Self::Long | Self::NInt => i128::from(value as i64),
            Self::ULong | Self::NUInt => i128::from(value as u64),
            _ => value,
        }
    }
}

/// A primitive value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Scalar {
    /// `bool`
    Bool(bool),
    /// Any integral type, `char` included.
    Int(Kind, i128),
    /// `System.Int128`
    Int128(i128),
    /// `System.UInt128`
    UInt128(u128),
    /// `System.Half`, by its bits.
    Half(u16),
    /// `float`
    Float(f32),
    /// `double`
    Double(f64),
    /// `decimal`
    Decimal(Decimal),
    /// `string`
    String(Rc<[u16]>),
}

/// Why an operation has no result, where C# throws an exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// `System.OverflowException`
    Overflow,
    /// `System.OverflowException`, of a number that does not fit into this kind: decimals say so.
    Unfit(Kind),
    /// `System.DivideByZeroException`
    DivideByZero,
}

impl Scalar {
    /// A string.
    pub(crate) fn string(text: &str) -> Self {
        Self::String(text.encode_utf16().collect())
    }

    /// Its type.
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Bool(_) => Kind::Bool,
            Self::Int(kind, _) => *kind,
            Self::Int128(_) => Kind::Int128,
            Self::UInt128(_) => Kind::UInt128,
            Self::Half(_) => Kind::Half,
            Self::Float(_) => Kind::Float,
            Self::Double(_) => Kind::Double,
            Self::Decimal(_) => Kind::Decimal,
            Self::String(_) => Kind::String,
        }
    }

    /// An integer's value.
    pub(crate) fn integer(&self) -> Option<i128> {
        match self {
            Self::Int(_, value) => Some(*value),
            _ => None,
        }
    }

    /// The default value of a type that has one: zero, false.
    pub(crate) fn zero(kind: Kind) -> Option<Self> {
        Self::from_bytes(kind, &[0; 16])
    }

    /// The value as it lies in the program's memory; more bytes than needed may be given.
    pub(crate) fn from_bytes(kind: Kind, bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.get(..kind.size())?;
        let mut wide = [0_u8; 16];
        wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
        let bits = u128::from_le_bytes(wide);
        Some(match kind {
            Kind::Bool => Self::Bool(bits != 0),
            Kind::Int128 => Self::Int128(bits as i128),
            Kind::UInt128 => Self::UInt128(bits),
            Kind::Half => Self::Half(bits as u16),
            Kind::Float => Self::Float(f32::from_bits(bits as u32)),
            Kind::Double => Self::Double(f64::from_bits(bits as u64)),
            Kind::Decimal => Self::Decimal(Decimal::from_bytes(wide)?),
            Kind::String => return None,
            _ => Self::Int(kind, kind.wrap(bits as i128)),
        })
    }

    /// The bytes as they lie in the program's memory; `None` for strings.
    pub(crate) fn to_bytes(&self) -> Option<Vec<u8>> {
        let bits = match self {
            Self::Bool(value) => u128::from(*value),
            Self::Int(_, value) | Self::Int128(value) => *value as u128,
            Self::UInt128(value) => *value,
            Self::Half(bits) => u128::from(*bits),
            Self::Float(value) => u128::from(value.to_bits()),
            Self::Double(value) => u128::from(value.to_bits()),
            Self::Decimal(value) => u128::from_le_bytes(value.to_bytes()),
            Self::String(_) => return None,
        };
        Some(bits.to_le_bytes().get(..self.kind().size())?.to_vec())
    }
}
