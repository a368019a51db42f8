//! A bounds-checked reader over bytes; the only code that steps through blobs.

use crate::error::{Malformed, Result};

/// Reads little-endian and compressed values from a slice, one after another.
///
/// A failed read leaves the position where it was, and its error carries that position.
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    pos: usize,
    what: &'static str,
}

impl<'a> Cursor<'a> {
    /// Starts at the first byte; `what` names the structure in errors.
    #[must_use]
    pub const fn new(bytes: &'a [u8], what: &'static str) -> Self {
        Self {
            bytes,
            pos: 0,
            what,
        }
    }

    /// The offset of the next byte.
    #[must_use]
    pub const fn position(&self) -> usize {
        self.pos
    }

    /// Goes to another offset.
    pub(crate) const fn set_position(&mut self, position: usize) {
        self.pos = position;
    }

    /// How many bytes are left.
    #[must_use]
    pub const fn remaining(&self) -> usize {
        self.bytes.len().saturating_sub(self.pos)
    }

    /// Whether all bytes were read.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.remaining() == 0
    }

    /// The bytes not read yet.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.pos..).unwrap_or_default()
    }

    /// The error for the current position.
    #[must_use]
    pub const fn bad(&self) -> Malformed {
        Malformed::new(self.what, self.pos)
    }

    /// The next `len` bytes.
    pub fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let taken = self.rest().get(..len).ok_or(self.bad())?;
        self.pos += len;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let array = *self.rest().first_chunk::<N>().ok_or(self.bad())?;
        self.pos += N;
        Ok(array)
    }

    /// The next byte, left in place.
    #[must_use]
    pub fn peek(&self) -> Option<u8> {
        self.bytes.get(self.pos).copied()
    }

    /// One byte.
    pub fn u8(&mut self) -> Result<u8> {
        let byte = self.peek().ok_or(self.bad())?;
        self.pos += 1;
        Ok(byte)
    }

    /// A little-endian 16-bit integer.
    pub fn u16(&mut self) -> Result<u16> {
        self.array().map(u16::from_le_bytes)
    }

    /// A little-endian 32-bit integer.
    pub fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// A little-endian 64-bit integer.
    pub fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// A compressed unsigned integer (ECMA-335 II.23.2).
    #[inline]
    pub fn compressed_u32(&mut self) -> Result<u32> {
        let (value, len) = match *self.rest() {
            [a, ..] if a & 0x80 == 0 => (u32::from(a), 1),
            [a, b, ..] if a & 0xc0 == 0x80 => (u32::from_be_bytes([0, 0, a & 0x3f, b]), 2),
            [a, b, c, d, ..] if a & 0xe0 == 0xc0 => (u32::from_be_bytes([a & 0x1f, b, c, d]), 4),
            _ => return Err(self.bad()),
        };
        self.pos += len;
        Ok(value)
    }

    /// A compressed signed integer (ECMA-335 II.23.2): the sign bit is rotated to the lowest place.
    #[inline]
    pub fn compressed_i32(&mut self) -> Result<i32> {
        let before = self.pos;
        let raw = self.compressed_u32()?;
        let sign_extension = match self.pos - before {
            1 => 0xffff_ffc0,
            2 => 0xffff_e000,
            _ => 0xf000_0000_u32,
        };
        let value = raw >> 1;
        Ok(if raw & 1 == 0 {
            value
        } else {
            value | sign_extension
        }
        .cast_signed())
    }

    /// Bytes up to a zero byte, which is skipped.
    pub fn until_nul(&mut self) -> Result<&'a [u8]> {
        let len = self
            .rest()
            .iter()
            .position(|&byte| byte == 0)
            .ok_or(self.bad())?;
        let taken = self.take(len)?;
        self.pos += 1;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_unsigned(bytes: &[u8], value: u32) {
        let mut cursor = Cursor::new(bytes, "test");
        assert_eq!(cursor.compressed_u32(), Ok(value));
        assert!(cursor.is_empty());
    }

    #[track_caller]
    fn check_signed(bytes: &[u8], value: i32) {
        let mut cursor = Cursor::new(bytes, "test");
        assert_eq!(cursor.compressed_i32(), Ok(value));
        assert!(cursor.is_empty());
    }

    // The examples of ECMA-335 II.23.2.
    #[test]
    fn compressed_unsigned_examples() {
        check_unsigned(&[0x03], 0x03);
        check_unsigned(&[0x7f], 0x7f);
        check_unsigned(&[0x80, 0x80], 0x80);
        check_unsigned(&[0xae, 0x57], 0x2e57);
        check_unsigned(&[0xbf, 0xff], 0x3fff);
        check_unsigned(&[0xc0, 0x00, 0x40, 0x00], 0x4000);
        check_unsigned(&[0xdf, 0xff, 0xff, 0xff], 0x1fff_ffff);
    }

    #[test]
    fn compressed_signed_examples() {
        check_signed(&[0x06], 3);
        check_signed(&[0x7b], -3);
        check_signed(&[0x80, 0x80], 64);
        check_signed(&[0x01], -64);
        check_signed(&[0xc0, 0x00, 0x40, 0x00], 8192);
        check_signed(&[0x80, 0x01], -8192);
        check_signed(&[0xdf, 0xff, 0xff, 0xfe], 268_435_455);
        check_signed(&[0xc0, 0x00, 0x00, 0x01], -268_435_456);
    }

    #[test]
    fn errors_keep_the_position() {
        let mut cursor = Cursor::new(&[1, 0xff], "test");
        cursor.u8().expect("first byte");
        assert_eq!(cursor.compressed_u32(), Err(Malformed::new("test", 1)));
        assert_eq!(cursor.u16(), Err(Malformed::new("test", 1)));
        assert_eq!(cursor.u8(), Ok(0xff));
        assert_eq!(cursor.u8(), Err(Malformed::new("test", 2)));
    }
}
