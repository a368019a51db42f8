//! The one thing needed to read ELF files by hand: their numbers.

/// A little-endian number of `size` bytes; 0 behind the end of the file.
pub(crate) fn number(bytes: &[u8], at: usize, size: usize) -> u64 {
    let field = bytes.get(at..at + size).unwrap_or_default();
    let digits = field.iter().rev();
    digits.fold(0, |value, byte| value << 8 | u64::from(*byte))
}
