//! Signatures (ECMA-335 II.23.2): blobs that describe types and methods, decoded to trees.
//!
//! Trees are bounded: nesting has a limit, and no list is longer than the bytes that could hold it.

mod decode;

use crate::token::Token;

pub(crate) use decode::Decoder;
pub use decode::{
    field_type, local_types, method_signature, method_spec_arguments, property_signature,
    standalone, type_spec,
};

/// A type that the format has a code of its own for (`CorElementType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are those of C# and the framework")]
pub enum Primitive {
    Void = 0x01,
    Bool = 0x02,
    Char = 0x03,
    I1 = 0x04,
    U1 = 0x05,
    I2 = 0x06,
    U2 = 0x07,
    I4 = 0x08,
    U4 = 0x09,
    I8 = 0x0a,
    U8 = 0x0b,
    R4 = 0x0c,
    R8 = 0x0d,
    String = 0x0e,
    TypedReference = 0x16,
    IntPtr = 0x18,
    UIntPtr = 0x19,
    Object = 0x1c,
}

impl Primitive {
    /// Every primitive with its C# keyword (`TypedReference` has none) and its name in `System`.
    pub const ALL: [(Self, &'static str, &'static str); 18] = [
        (Self::Void, "void", "Void"),
        (Self::Bool, "bool", "Boolean"),
        (Self::Char, "char", "Char"),
        (Self::I1, "sbyte", "SByte"),
        (Self::U1, "byte", "Byte"),
        (Self::I2, "short", "Int16"),
        (Self::U2, "ushort", "UInt16"),
        (Self::I4, "int", "Int32"),
        (Self::U4, "uint", "UInt32"),
        (Self::I8, "long", "Int64"),
        (Self::U8, "ulong", "UInt64"),
        (Self::R4, "float", "Single"),
        (Self::R8, "double", "Double"),
        (Self::String, "string", "String"),
        (Self::TypedReference, "TypedReference", "TypedReference"),
        (Self::IntPtr, "nint", "IntPtr"),
        (Self::UIntPtr, "nuint", "UIntPtr"),
        (Self::Object, "object", "Object"),
    ];

    /// The primitive of an element type code.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL
            .iter()
            .find_map(|&(primitive, ..)| (primitive as u8 == code).then_some(primitive))
    }

    /// The C# keyword.
    #[must_use]
    pub fn keyword(self) -> &'static str {
        Self::ALL
            .iter()
            .find_map(|&(it, keyword, _)| (it == self).then_some(keyword))
            .unwrap_or("?")
    }

    /// The name of the type in namespace `System`.
    #[must_use]
    pub fn system_name(self) -> &'static str {
        Self::ALL
            .iter()
            .find_map(|&(it, _, name)| (it == self).then_some(name))
            .unwrap_or("?")
    }

    /// The primitive that a type of namespace `System` stands for.
    #[must_use]
    pub fn from_system_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .find_map(|&(primitive, _, it)| (it == name).then_some(primitive))
    }

    /// The size of a value in bytes, where it does not depend on the machine.
    #[must_use]
    pub const fn size(self) -> Option<usize> {
        match self {
            Self::Bool | Self::I1 | Self::U1 => Some(1),
            Self::Char | Self::I2 | Self::U2 => Some(2),
            Self::I4 | Self::U4 | Self::R4 => Some(4),
            Self::I8 | Self::U8 | Self::R8 => Some(8),
            _ => None,
        }
    }
}

/// A type as a signature spells it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Type {
    /// A type with a code of its own.
    Primitive(Primitive),
    /// A class, struct, interface or enum (`TypeDef`, `TypeRef`, or a `TypeSpec` in odd files).
    Named {
        /// Where the type is described.
        token: Token,
        /// Whether the signature calls it a value type.
        is_value: bool,
    },
    /// A generic type with its arguments.
    Generic {
        /// The generic type.
        token: Token,
        /// Whether the signature calls it a value type.
        is_value: bool,
        /// All arguments, those of enclosing types first.
        arguments: Vec<Self>,
    },
    /// A generic parameter of the enclosing type, by number.
    TypeParameter(u32),
    /// A generic parameter of the method, by number.
    MethodParameter(u32),
    /// A one-dimensional, zero-based array.
    SzArray(Box<Self>),
    /// Any other array.
    Array {
        /// The element type.
        element: Box<Self>,
        /// The number of dimensions and their declared bounds.
        shape: ArrayShape,
    },
    /// An unmanaged pointer.
    Pointer(Box<Self>),
    /// A managed reference.
    ByRef(Box<Self>),
    /// A local whose object the collector must not move.
    Pinned(Box<Self>),
    /// A function pointer.
    Function(Box<MethodSignature>),
    /// A type with a custom modifier.
    Modified {
        /// Whether the modifier must be understood (`modreq`).
        required: bool,
        /// The modifier's type.
        modifier: Token,
        /// The type that is modified.
        inner: Box<Self>,
    },
}

impl Type {
    /// The type without custom modifiers and pinning.
    #[must_use]
    pub fn unmodified(&self) -> &Self {
        match self {
            Self::Modified { inner, .. } | Self::Pinned(inner) => inner.unmodified(),
            _ => self,
        }
    }
}

/// The shape of a general array (ECMA-335 II.23.2.13).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ArrayShape {
    /// The number of dimensions.
    pub rank: u32,
    /// Declared sizes of the first dimensions.
    pub sizes: Vec<u32>,
    /// Declared lower bounds of the first dimensions.
    pub lower_bounds: Vec<i32>,
}

/// How a method is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CallingConvention(pub u8);

impl CallingConvention {
    /// The lower four bits: 0 default, 1–4 native ones, 5 varargs, 9 unmanaged by modifiers.
    #[must_use]
    pub const fn kind(self) -> u8 {
        self.0 & 0x0f
    }

    /// Whether the method has generic parameters.
    #[must_use]
    pub const fn is_generic(self) -> bool {
        self.0 & 0x10 != 0
    }

    /// Whether the method has a `this`.
    #[must_use]
    pub const fn has_this(self) -> bool {
        self.0 & 0x20 != 0
    }

    /// Whether `this` is spelled out as first parameter.
    #[must_use]
    pub const fn explicit_this(self) -> bool {
        self.0 & 0x40 != 0
    }
}

/// The signature of a method, a property, or a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MethodSignature {
    /// How it is called.
    pub convention: CallingConvention,
    /// The number of generic parameters.
    pub generic_arity: u32,
    /// The return type, or the type of a property.
    pub return_type: Type,
    /// The parameters, without `this`.
    pub parameters: Vec<Type>,
    /// How many parameters come before the sentinel of a vararg call; all of them elsewhere.
    pub required_parameters: usize,
}

/// A signature of the `StandAloneSig` table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standalone {
    /// The locals of a method.
    Locals(Vec<Type>),
    /// The target of a `calli`.
    Method(MethodSignature),
    /// A field type, which some compilers keep for debugging.
    Field(Type),
}
