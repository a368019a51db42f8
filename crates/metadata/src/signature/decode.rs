//! From signature blobs to trees.

use super::{ArrayShape, CallingConvention, MethodSignature, Primitive, Standalone, Type};
use crate::cursor::Cursor;
use crate::error::{Malformed, Result};
use crate::tables::Coded;
use crate::token::Token;

/// The runtime's own limit is far lower for anything it will load.
const MAX_DEPTH: u32 = 96;
/// A signature with more parts than this describes nothing real, and would take memory many times its size.
const MAX_PARTS: u32 = 1 << 16;
/// The runtime refuses arrays of more dimensions.
const MAX_RANK: u32 = 32;

/// A count is believed only this far before the items are seen: nested lists would multiply a lie.
const RESERVE: usize = 16;

const CALL_FIELD: u8 = 0x06;
const CALL_LOCALS: u8 = 0x07;
const CALL_PROPERTY: u8 = 0x08;
const CALL_GENERIC_INSTANCE: u8 = 0x0a;
const SENTINEL: u8 = 0x41;

/// The type of a field (II.23.2.4).
pub fn field_type(blob: &[u8]) -> Result<Type> {
    let mut decoder = Decoder::new(blob, "field signature");
    decoder.expect_convention(CALL_FIELD)?;
    decoder.ty()
}

/// The signature of a method (II.23.2.1, II.23.2.2).
pub fn method_signature(blob: &[u8]) -> Result<MethodSignature> {
    Decoder::new(blob, "method signature").method()
}

/// The signature of a property (II.23.2.5): its type is the return type, its index parameters the parameters.
pub fn property_signature(blob: &[u8]) -> Result<MethodSignature> {
    let mut decoder = Decoder::new(blob, "property signature");
    if decoder
        .cursor
        .peek()
        .is_none_or(|first| first & 0x0f != CALL_PROPERTY)
    {
        return Err(decoder.cursor.bad());
    }
    decoder.method()
}

/// The types of a method's locals (II.23.2.6).
pub fn local_types(blob: &[u8]) -> Result<Vec<Type>> {
    let mut decoder = Decoder::new(blob, "local signature");
    decoder.expect_convention(CALL_LOCALS)?;
    decoder.types()
}

/// The type of a `TypeSpec` (II.23.2.14).
pub fn type_spec(blob: &[u8]) -> Result<Type> {
    Decoder::new(blob, "type signature").ty()
}

/// The type arguments of a `MethodSpec` (II.23.2.15).
pub fn method_spec_arguments(blob: &[u8]) -> Result<Vec<Type>> {
    let mut decoder = Decoder::new(blob, "method instantiation");
    decoder.expect_convention(CALL_GENERIC_INSTANCE)?;
    decoder.types()
}

/// A signature of the `StandAloneSig` table (II.23.2.3, II.23.2.6).
pub fn standalone(blob: &[u8]) -> Result<Standalone> {
    match blob.first() {
        Some(&CALL_LOCALS) => local_types(blob).map(Standalone::Locals),
        Some(&CALL_FIELD) => field_type(blob).map(Standalone::Field),
        _ => method_signature(blob).map(Standalone::Method),
    }
}

/// Decodes types one after another from a blob.
#[derive(Debug)]
pub(crate) struct Decoder<'a> {
    pub(crate) cursor: Cursor<'a>,
    depth: u32,
    n_parts: u32,
}

impl<'a> Decoder<'a> {
    pub(crate) fn new(blob: &'a [u8], what: &'static str) -> Self {
        Self {
            cursor: Cursor::new(blob, what),
            depth: 0,
            n_parts: 0,
        }
    }

    fn expect_convention(&mut self, expected: u8) -> Result<()> {
        let bad = self.cursor.bad();
        if self.cursor.u8()? & 0x0f == expected {
            Ok(())
        } else {
            Err(bad)
        }
    }

    /// A count of things that take at least a byte each.
    fn count(&mut self) -> Result<usize> {
        let bad = self.cursor.bad();
        let count = self.cursor.compressed_u32()? as usize;
        if count <= self.cursor.remaining() {
            Ok(count)
        } else {
            Err(bad)
        }
    }

    /// A count and as many types.
    fn types(&mut self) -> Result<Vec<Type>> {
        let count = self.count()?;
        let mut types = Vec::with_capacity(count.min(RESERVE));
        for _ in 0..count {
            types.push(self.ty()?);
        }
        Ok(types)
    }

    /// A `TypeDefOrRefOrSpecEncoded` token (II.23.2.8).
    pub(crate) fn token(&mut self) -> Result<Token> {
        let bad = self.cursor.bad();
        Coded::TypeDefOrRef
            .decode(self.cursor.compressed_u32()?)
            .map_err(|_| bad)
    }

    fn method(&mut self) -> Result<MethodSignature> {
        let convention = CallingConvention(self.cursor.u8()?);
        let generic_arity = if convention.is_generic() {
            self.cursor.compressed_u32()?
        } else {
            0
        };
        let count = self.count()?;
        let return_type = self.ty()?;
        let mut parameters = Vec::with_capacity(count.min(RESERVE));
        let mut required_parameters = count;
        for index in 0..count {
            if self.cursor.peek() == Some(SENTINEL) {
                self.cursor.u8()?;
                required_parameters = index;
            }
            parameters.push(self.ty()?);
        }
        Ok(MethodSignature {
            convention,
            generic_arity,
            return_type,
            parameters,
            required_parameters,
        })
    }

    /// One type with its modifiers.
    pub(crate) fn ty(&mut self) -> Result<Type> {
        if self.depth >= MAX_DEPTH || self.n_parts >= MAX_PARTS {
            return Err(Malformed::new(
                "signature too large",
                self.cursor.position(),
            ));
        }
        self.depth += 1;
        self.n_parts += 1;
        let decoded = self.ty_at_depth();
        self.depth -= 1;
        decoded
    }

    fn boxed(&mut self) -> Result<Box<Type>> {
        self.ty().map(Box::new)
    }

    fn ty_at_depth(&mut self) -> Result<Type> {
        let bad = self.cursor.bad();
        let code = self.cursor.u8()?;
        if let Some(primitive) = Primitive::from_code(code) {
            return Ok(Type::Primitive(primitive));
        }
        Ok(match code {
            0x0f => Type::Pointer(self.boxed()?),
            0x10 => Type::ByRef(self.boxed()?),
            0x11 | 0x12 => Type::Named {
                is_value: code == 0x11,
                token: self.token()?,
            },
            0x13 => Type::TypeParameter(self.cursor.compressed_u32()?),
            0x14 => {
                let element = self.boxed()?;
                Type::Array {
                    element,
                    shape: self.array_shape()?,
                }
            }
            0x15 => {
                let is_value = match self.cursor.u8()? {
                    0x11 => true,
                    0x12 => false,
                    _ => return Err(bad),
                };
                Type::Generic {
                    is_value,
                    token: self.token()?,
                    arguments: self.types()?,
                }
            }
            0x1b => Type::Function(Box::new(self.method()?)),
            0x1d => Type::SzArray(self.boxed()?),
            0x1e => Type::MethodParameter(self.cursor.compressed_u32()?),
            0x1f | 0x20 => {
                let modifier = self.token()?;
                Type::Modified {
                    required: code == 0x1f,
                    modifier,
                    inner: self.boxed()?,
                }
            }
            0x45 => Type::Pinned(self.boxed()?),
            _ => return Err(bad),
        })
    }

    fn array_shape(&mut self) -> Result<ArrayShape> {
        let bad = self.cursor.bad();
        let rank = self.cursor.compressed_u32()?;
        let n_sizes = self.cursor.compressed_u32()?;
        if rank == 0 || rank > MAX_RANK || n_sizes > rank {
            return Err(bad);
        }
        let sizes = (0..n_sizes)
            .map(|_| self.cursor.compressed_u32())
            .collect::<Result<_>>()?;
        let n_lower_bounds = self.cursor.compressed_u32()?;
        if n_lower_bounds > rank {
            return Err(bad);
        }
        let lower_bounds = (0..n_lower_bounds)
            .map(|_| self.cursor.compressed_i32())
            .collect::<Result<_>>()?;
        Ok(ArrayShape {
            rank,
            sizes,
            lower_bounds,
        })
    }
}
