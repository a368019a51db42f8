//! GUIDs as metadata stores them.

use std::fmt;

/// A GUID in its stored byte order (the first three groups little-endian).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Guid(pub [u8; 16]);

impl Guid {
    /// The GUID printed as `aaaaaaaa-bbbb-cccc-dddd-dddddddddddd`, with `d` in reading order.
    #[must_use]
    pub const fn new(a: u32, b: u16, c: u16, d: u64) -> Self {
        let ([a0, a1, a2, a3], [b0, b1], [c0, c1]) =
            (a.to_le_bytes(), b.to_le_bytes(), c.to_le_bytes());
        let [d0, d1, d2, d3, d4, d5, d6, d7] = d.to_be_bytes();
        Self([
            a0, a1, a2, a3, b0, b1, c0, c1, d0, d1, d2, d3, d4, d5, d6, d7,
        ])
    }
}

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [
            a0,
            a1,
            a2,
            a3,
            b0,
            b1,
            c0,
            c1,
            d0,
            d1,
            d2,
            d3,
            d4,
            d5,
            d6,
            d7,
        ] = self.0;
        let (a, b, c) = (
            u32::from_le_bytes([a0, a1, a2, a3]),
            u16::from_le_bytes([b0, b1]),
            u16::from_le_bytes([c0, c1]),
        );
        let (d, e) = (
            u16::from_be_bytes([d0, d1]),
            u64::from_be_bytes([0, 0, d2, d3, d4, d5, d6, d7]),
        );
        write!(f, "{a:08x}-{b:04x}-{c:04x}-{d:04x}-{e:012x}")
    }
}

impl fmt::Debug for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Guid({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_as_it_is_written() {
        let guid = Guid::new(0x54fd_2ac5, 0xe925, 0x401a, 0x9c2a_f94f_1710_72f8);
        assert_eq!(guid.to_string(), "54fd2ac5-e925-401a-9c2a-f94f171072f8");
        assert_eq!(guid.0[..4], [0xc5, 0x2a, 0xfd, 0x54]);
    }
}
