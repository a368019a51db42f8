//! Literals with their values worked out, so that no one else reads digits or escapes.
//!
//! A number has the type C# gives it (C# 6.4.5); text is UTF-16, as in the program, because a C# string
//! may hold half a surrogate pair and a Rust string may not.

use std::fmt;

/// The value of a literal token.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// `1`, `0xFFu`, `0b1L`
    Integer(IntegerLiteral),
    /// `1.5f`
    Float(f32),
    /// `1.5`, `1d`
    Double(f64),
    /// `1.50m`
    Decimal(Decimal),
    /// `'a'`, one UTF-16 unit.
    Char(u16),
    /// `"text"`, also verbatim and raw ones.
    String(Utf16String),
    /// `"text"u8`: the UTF-8 bytes, without the zero the compiler adds behind them.
    Utf8(Box<[u8]>),
}

/// An integer literal: its magnitude, and all that decides its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct IntegerLiteral {
    /// The value; a sign is never part of a literal.
    pub value: u64,
    /// How the digits were written.
    pub form: IntegerForm,
    /// The suffix, as normalised.
    pub suffix: IntegerSuffix,
}

impl IntegerLiteral {
    /// The type by C# 6.4.5.3: the first of `int`, `uint`, `long`, `ulong` that the suffix allows and the value fits.
    pub fn ty(self) -> IntegerType {
        let fits_u32 = u32::try_from(self.value).is_ok();
        let fits_i64 = i64::try_from(self.value).is_ok();
        match self.suffix {
            IntegerSuffix::None if i32::try_from(self.value).is_ok() => IntegerType::Int,
            IntegerSuffix::None | IntegerSuffix::Unsigned if fits_u32 => IntegerType::UInt,
            IntegerSuffix::None | IntegerSuffix::Long if fits_i64 => IntegerType::Long,
            _ => IntegerType::ULong,
        }
    }

    /// The type if a unary `-` stands directly before the literal (C# 6.4.5.3).
    ///
    /// Then `2147483648` without suffix is an `int` and `9223372036854775808` without a `u` a `long`, both the smallest of
    /// their type; to the compiler in whatever form they are written. `None` for every other literal: negate its value.
    pub fn ty_after_minus(self) -> Option<IntegerType> {
        match (self.value, self.suffix) {
            (0x8000_0000, IntegerSuffix::None) => Some(IntegerType::Int),
            (0x8000_0000_0000_0000, IntegerSuffix::None | IntegerSuffix::Long) => {
                Some(IntegerType::Long)
            }
            _ => None,
        }
    }
}

/// How the digits of an integer were written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IntegerForm {
    /// `10`
    Decimal,
    /// `0xA`
    Hex,
    /// `0b1010`
    Binary,
}

/// The suffix of an integer literal; case and order do not matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IntegerSuffix {
    /// None: `int` or larger.
    None,
    /// `u`: `uint` or `ulong`.
    Unsigned,
    /// `l`: `long` or `ulong`.
    Long,
    /// `ul`: `ulong`.
    UnsignedLong,
}

/// The type of an integer literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IntegerType {
    /// `int`
    Int,
    /// `uint`
    UInt,
    /// `long`
    Long,
    /// `ulong`
    ULong,
}

/// A `decimal` without sign: `mantissa / 10^scale`, exactly. Trailing zeros count, as in C#.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Decimal {
    high: u32,
    low: u64,
    scale: u8,
}

impl Decimal {
    /// The largest mantissa, 2^96 - 1.
    pub const MAX_MANTISSA: u128 = (1 << 96) - 1;
    /// The largest scale.
    pub const MAX_SCALE: u8 = 28;

    /// `mantissa / 10^scale`, if C# can hold that.
    pub fn new(mantissa: u128, scale: u8) -> Option<Self> {
        let high = u32::try_from(mantissa >> 64).ok()?;
        let low = u64::try_from(mantissa & u128::from(u64::MAX)).ok()?;
        (scale <= Self::MAX_SCALE).then_some(Self { high, low, scale })
    }

    /// All digits, below 2^96.
    pub fn mantissa(self) -> u128 {
        u128::from(self.high) << 64 | u128::from(self.low)
    }

    /// How many of the digits are behind the point.
    pub fn scale(self) -> u8 {
        self.scale
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = format!("{:0>1$}", self.mantissa(), usize::from(self.scale) + 1);
        let (whole, fraction) = digits.split_at(digits.len() - usize::from(self.scale));
        f.write_str(whole)?;
        if !fraction.is_empty() {
            write!(f, ".{fraction}")?;
        }
        Ok(())
    }
}

/// Text as C# has it: UTF-16 units, surrogates not necessarily in pairs.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Utf16String(Box<[u16]>);

impl Utf16String {
    /// The units.
    pub fn units(&self) -> &[u16] {
        &self.0
    }

    /// The text as it stands between `quote`s in a C# literal, in printable ASCII.
    pub fn escaped(&self, quote: char) -> impl fmt::Display + '_ {
        Escaped {
            units: &self.0,
            quote,
        }
    }

    /// The text, with U+FFFD for half of a surrogate pair.
    pub fn to_string_lossy(&self) -> String {
        String::from_utf16_lossy(&self.0)
    }

    /// The text, unless it holds half of a surrogate pair.
    pub fn to_utf8(&self) -> Option<String> {
        String::from_utf16(&self.0).ok()
    }
}

impl From<&str> for Utf16String {
    fn from(text: &str) -> Self {
        Self(text.encode_utf16().collect())
    }
}

impl From<Vec<u16>> for Utf16String {
    fn from(units: Vec<u16>) -> Self {
        Self(units.into())
    }
}

impl fmt::Debug for Utf16String {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.escaped('"'))
    }
}

/// Units as they stand between the quotes of a C# literal, escaped to printable ASCII.
struct Escaped<'a> {
    units: &'a [u16],
    quote: char,
}

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for &unit in self.units {
            match u8::try_from(unit).map(char::from) {
                Ok(c) if c == self.quote || c == '\\' => write!(f, "\\{c}")?,
                Ok(c @ ' '..='~') => write!(f, "{c}")?,
                _ => write!(f, "\\u{unit:04x}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_keep_their_zeros() {
        let show = |mantissa, scale| Decimal::new(mantissa, scale).expect("it fits").to_string();
        assert_eq!(show(150, 2), "1.50");
        assert_eq!(show(0, 3), "0.000");
        assert_eq!(show(7, 0), "7");
        assert_eq!(show(5, 28), "0.0000000000000000000000000005");
    }

    #[test]
    fn the_smallest_numbers_are_special() {
        let literal = |value, form, suffix| IntegerLiteral {
            value,
            form,
            suffix,
        };
        let plain = literal(1 << 31, IntegerForm::Decimal, IntegerSuffix::None);
        assert_eq!(
            (plain.ty(), plain.ty_after_minus()),
            (IntegerType::UInt, Some(IntegerType::Int))
        );
        let hex = literal(1 << 31, IntegerForm::Hex, IntegerSuffix::None);
        assert_eq!(
            (hex.ty(), hex.ty_after_minus()),
            (IntegerType::UInt, Some(IntegerType::Int))
        );
        let long = literal(1 << 63, IntegerForm::Decimal, IntegerSuffix::Long);
        assert_eq!(
            (long.ty(), long.ty_after_minus()),
            (IntegerType::ULong, Some(IntegerType::Long))
        );
    }
}
