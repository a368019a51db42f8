//! Numbers, truth values and characters.

use metadata::model::ConstantValue;
use metadata::signature::Primitive;

/// A value of a primitive type; of an enum what it is stored as. The names are those of the element types.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Scalar {
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
    IntPtr(i64),
    UIntPtr(u64),
}

impl Scalar {
    /// The number of bytes of a primitive; `None` for what is not a scalar.
    pub(crate) const fn size(primitive: Primitive) -> Option<usize> {
        match primitive {
            Primitive::IntPtr | Primitive::UIntPtr => Some(8),
            _ => primitive.size(),
        }
    }

    /// The value that bytes hold; `None` if they are too few or the primitive is not a scalar.
    pub(crate) fn from_bytes(primitive: Primitive, bytes: &[u8]) -> Option<Self> {
        fn take<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
            bytes.first_chunk().copied()
        }
        Some(match primitive {
            Primitive::Bool => Self::Bool(*bytes.first()? != 0),
            Primitive::Char => Self::Char(u16::from_le_bytes(take(bytes)?)),
            Primitive::I1 => Self::I1(bytes.first()?.cast_signed()),
            Primitive::U1 => Self::U1(*bytes.first()?),
            Primitive::I2 => Self::I2(i16::from_le_bytes(take(bytes)?)),
            Primitive::U2 => Self::U2(u16::from_le_bytes(take(bytes)?)),
            Primitive::I4 => Self::I4(i32::from_le_bytes(take(bytes)?)),
            Primitive::U4 => Self::U4(u32::from_le_bytes(take(bytes)?)),
            Primitive::I8 => Self::I8(i64::from_le_bytes(take(bytes)?)),
            Primitive::U8 => Self::U8(u64::from_le_bytes(take(bytes)?)),
            Primitive::R4 => Self::R4(f32::from_le_bytes(take(bytes)?)),
            Primitive::R8 => Self::R8(f64::from_le_bytes(take(bytes)?)),
            Primitive::IntPtr => Self::IntPtr(i64::from_le_bytes(take(bytes)?)),
            Primitive::UIntPtr => Self::UIntPtr(u64::from_le_bytes(take(bytes)?)),
            Primitive::Void | Primitive::String | Primitive::TypedReference | Primitive::Object => {
                return None;
            }
        })
    }

    /// The value of a constant; `None` for text and null.
    pub(crate) const fn from_constant(constant: ConstantValue<'_>) -> Option<Self> {
        Some(match constant {
            ConstantValue::Bool(value) => Self::Bool(value),
            ConstantValue::Char(value) => Self::Char(value),
            ConstantValue::I1(value) => Self::I1(value),
            ConstantValue::U1(value) => Self::U1(value),
            ConstantValue::I2(value) => Self::I2(value),
            ConstantValue::U2(value) => Self::U2(value),
            ConstantValue::I4(value) => Self::I4(value),
            ConstantValue::U4(value) => Self::U4(value),
            ConstantValue::I8(value) => Self::I8(value),
            ConstantValue::U8(value) => Self::U8(value),
            ConstantValue::R4(value) => Self::R4(value),
            ConstantValue::R8(value) => Self::R8(value),
            ConstantValue::String(_) | ConstantValue::Null => return None,
        })
    }

    /// The bytes as the program stores them.
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        match self {
            Self::Bool(value) => vec![u8::from(value)],
            Self::Char(value) | Self::U2(value) => value.to_le_bytes().into(),
            Self::I1(value) => value.to_le_bytes().into(),
            Self::U1(value) => vec![value],
            Self::I2(value) => value.to_le_bytes().into(),
            Self::I4(value) => value.to_le_bytes().into(),
            Self::U4(value) => value.to_le_bytes().into(),
            Self::I8(value) | Self::IntPtr(value) => value.to_le_bytes().into(),
            Self::U8(value) | Self::UIntPtr(value) => value.to_le_bytes().into(),
            Self::R4(value) => value.to_le_bytes().into(),
            Self::R8(value) => value.to_le_bytes().into(),
        }
    }

    /// The primitive type that it is of.
    pub(crate) const fn primitive(self) -> Primitive {
        match self {
            Self::Bool(_) => Primitive::Bool,
            Self::Char(_) => Primitive::Char,
            Self::I1(_) => Primitive::I1,
            Self::U1(_) => Primitive::U1,
            Self::I2(_) => Primitive::I2,
            Self::U2(_) => Primitive::U2,
            Self::I4(_) => Primitive::I4,
            Self::U4(_) => Primitive::U4,
            Self::I8(_) => Primitive::I8,
            Self::U8(_) => Primitive::U8,
            Self::R4(_) => Primitive::R4,
            Self::R8(_) => Primitive::R8,
            Self::IntPtr(_) => Primitive::IntPtr,
            Self::UIntPtr(_) => Primitive::UIntPtr,
        }
    }

    /// Any whole number, `bool` and `char` included.
    pub(crate) fn as_i128(self) -> Option<i128> {
        Some(match self {
            Self::Bool(value) => i128::from(value),
            Self::Char(value) | Self::U2(value) => i128::from(value),
            Self::I1(value) => i128::from(value),
            Self::U1(value) => i128::from(value),
            Self::I2(value) => i128::from(value),
            Self::I4(value) => i128::from(value),
            Self::U4(value) => i128::from(value),
            Self::I8(value) | Self::IntPtr(value) => i128::from(value),
            Self::U8(value) | Self::UIntPtr(value) => i128::from(value),
            Self::R4(_) | Self::R8(_) => return None,
        })
    }
}
