//! `System.Decimal`, with the runtime's own scales and roundings.
//!
//! Invariant: the mantissa has at most 96 bits and the scale is at most 28. Each operation works exactly on wide integers
//! and rounds once, half to even, as the runtime does.

use std::cmp::Ordering;
use std::fmt;

use super::wide::Wide;
use super::{Fault, Kind};

const MAX: u128 = (1 << 96) - 1;
const MAX_SCALE: u32 = 28;

/// A decimal number: `±mantissa / 10^scale`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decimal {
    negative: bool,
    mantissa: u128,
    scale: u8,
}

impl Decimal {
    pub(crate) const ZERO: Self = Self {
        negative: false,
        mantissa: 0,
        scale: 0,
    };

    /// The number with these parts, unless they are out of range.
    pub(crate) fn new(negative: bool, mantissa: u128, scale: u8) -> Option<Self> {
        (mantissa <= MAX && u32::from(scale) <= MAX_SCALE).then_some(Self {
            negative,
            mantissa,
            scale,
        })
    }

    pub(crate) fn from_i128(value: i128) -> Option<Self> {
        Self::new(value < 0, value.unsigned_abs(), 0)
    }

    /// The sixteen bytes of the runtime: flags, high, low, mid.
    pub(crate) fn from_bytes(bytes: [u8; 16]) -> Option<Self> {
        let bits = u128::from_le_bytes(bytes);
        let flags = (bits & 0xffff_ffff) as u32;
        let high = (bits >> 32) & 0xffff_ffff;
        let low = bits >> 64;
        let scale = (flags >> 16) as u8;
        Self::new(flags >> 31 != 0, high << 64 | low, scale)
    }

    pub(crate) fn to_bytes(self) -> [u8; 16] {
        let flags = u128::from(self.scale) << 16 | u128::from(self.negative) << 31;
        let high = self.mantissa >> 64;
        let low = self.mantissa & u128::from(u64::MAX);
        (low << 64 | high << 32 | flags).to_le_bytes()
    }

    /// The same for all that are equal: sign and mantissa without zeros at the end, and the scale that is left.
    pub(crate) fn shortest(self) -> (u128, u8) {
        if self.mantissa == 0 {
            return (0, 0);
        }
        let (mut mantissa, mut scale) = (self.mantissa, self.scale);
        while scale > 0 && mantissa.is_multiple_of(10) {
            mantissa /= 10;
            scale -= 1;
        }
        (mantissa | u128::from(self.negative) << 127, scale)
    }

    /// Its sign, its digits, and how many of them are behind the point.
    pub(crate) fn parts(self) -> (bool, u128, u8) {
        (self.negative, self.mantissa, self.scale)
    }

    pub(crate) fn is_zero(self) -> bool {
        self.mantissa == 0
    }

    pub(crate) fn negate(self) -> Self {
        Self {
            negative: !self.negative,
            ..self
        }
    }

    /// The number without its fraction.
    pub(crate) fn truncate(self) -> Option<i128> {
        let whole = i128::try_from(self.mantissa / 10_u128.pow(u32::from(self.scale))).ok()?;
        Some(if self.negative { -whole } else { whole })
    }

    /// As the runtime computes it, which is not always the nearest double.
    pub(crate) fn to_f64(self) -> f64 {
        let low = (self.mantissa & u128::from(u64::MAX)) as u64 as f64;
        let high = (self.mantissa >> 64) as u64 as f64;
        let whole = high.mul_add(0.0, low + high * 18_446_744_073_709_551_616.0);
        let value = whole / 10_f64.powi(i32::from(self.scale));
        if self.negative { -value } else { value }
    }

    /// A double keeps 15 significant digits, a float 7.
    pub(crate) fn from_f64(value: f64, digits: usize) -> Result<Self, Fault> {
        if !value.is_finite() {
            return Err(Fault::Unfit(Kind::Decimal));
        }
        let text = format!("{:.*e}", digits - 1, value.abs());
        let (mantissa, exponent) = text.split_once('e').unwrap_or(("0", "0"));
        let exponent: i32 = exponent.parse().unwrap_or(0);
        let mut number: u128 = mantissa.replace('.', "").parse().unwrap_or(0);
        // number * 10^(exponent - digits + 1)
        let mut scale = digits as i32 - 1 - exponent;
        while number != 0 && scale > 0 && number.is_multiple_of(10) {
            number /= 10;
            scale -= 1;
        }
        if number == 0 {
            return Ok(Self::ZERO);
        }
        let negative = value.is_sign_negative();
        if scale < 0 {
            let factor = 10_u128.checked_pow(scale.unsigned_abs());
            let wide = factor.and_then(|it| number.checked_mul(it));
            return wide
                .and_then(|it| Self::new(negative, it, 0))
                .ok_or(Fault::Unfit(Kind::Decimal));
        }
        let number = Self::fit(negative, Wide::from(number), scale.unsigned_abs(), false)?;
        // What is too small is zero without digits, as nothing else that is computed.
        Ok(if number.is_zero() { Self::ZERO } else { number })
    }

    pub(crate) fn add(self, other: Self) -> Result<Self, Fault> {
        let scale = self.scale.max(other.scale);
        let (left, right) = (self.scaled_to(scale), other.scaled_to(scale));
        let (negative, sum) = if self.negative == other.negative {
            (self.negative, left.add(right))
        } else if left >= right {
            (self.negative, left.sub(right))
        } else {
            (other.negative, right.sub(left))
        };
        Self::fit(negative, sum, u32::from(scale), false)
    }

    pub(crate) fn multiply(self, other: Self) -> Result<Self, Fault> {
        let product = Wide::from(self.mantissa).mul(other.mantissa);
        let scale = u32::from(self.scale) + u32::from(other.scale);
        Self::fit(self.negative != other.negative, product, scale, false)
    }

    pub(crate) fn divide(self, other: Self) -> Result<Self, Fault> {
        if other.is_zero() {
            return Err(Fault::DivideByZero);
        }
        let negative = self.negative != other.negative;
        let divisor = Wide::from(other.mantissa);
        let mut scale = i32::from(self.scale) - i32::from(other.scale);
        let mut dividend = Wide::from(self.mantissa);
        let (mut quotient, mut rest) = dividend.div_rem(divisor);
        if rest.is_zero() && scale >= 0 {
            return Self::fit(negative, quotient, scale.unsigned_abs(), false);
        }
        let exact_at_once = rest.is_zero();
        // As many digits as fit; a scale below zero has to go in any case.
        while scale < 0 || (!rest.is_zero() && scale < MAX_SCALE as i32) {
            let next = dividend.mul_small(10);
            let (more, left) = next.div_rem(divisor);
            if more.to_u128().is_none_or(|it| it > MAX) {
                if scale < 0 {
                    return Err(Fault::Unfit(Kind::Decimal));
                }
                break;
            }
            (dividend, quotient, rest) = (next, more, left);
            scale += 1;
        }
        let mut mantissa = quotient.to_u128().ok_or(Fault::Unfit(Kind::Decimal))?;
        let twice = rest.mul_small(2);
        let up = twice > divisor || (twice == divisor && mantissa % 2 == 1);
        if up {
            mantissa += 1;
            if mantissa > MAX {
                return Self::fit(
                    negative,
                    Wide::from(mantissa),
                    scale.unsigned_abs(),
                    !rest.is_zero(),
                );
            }
        }
        while !exact_at_once && scale > 0 && mantissa.is_multiple_of(10) {
            mantissa /= 10;
            scale -= 1;
        }
        Self::new(negative, mantissa, scale as u8).ok_or(Fault::Unfit(Kind::Decimal))
    }

    pub(crate) fn remainder(self, other: Self) -> Result<Self, Fault> {
        if other.is_zero() {
            return Err(Fault::DivideByZero);
        }
        let scale = self.scale.max(other.scale);
        let (left, right) = (self.scaled_to(scale), other.scaled_to(scale));
        if left < right {
            return Ok(self);
        }
        let (_, rest) = left.div_rem(right);
        Self::fit(self.negative, rest, u32::from(scale), false)
    }

    /// The nearest number that fits; `sticky` says that `value` was already cut.
    fn fit(negative: bool, mut value: Wide, mut scale: u32, sticky: bool) -> Result<Self, Fault> {
        let mut last = 0;
        let mut sticky = sticky;
        while scale > MAX_SCALE || value.to_u128().is_none_or(|it| it > MAX) {
            if scale == 0 {
                return Err(Fault::Unfit(Kind::Decimal));
            }
            sticky |= last != 0;
            (value, last) = value.div_rem_small(10);
            scale -= 1;
        }
        let mut mantissa = value.to_u128().ok_or(Fault::Unfit(Kind::Decimal))?;
        if last > 5 || (last == 5 && (sticky || mantissa % 2 == 1)) {
            mantissa += 1;
            if mantissa > MAX {
                return Self::fit(negative, Wide::from(mantissa), scale, true);
            }
        }
        Self::new(negative, mantissa, scale as u8).ok_or(Fault::Unfit(Kind::Decimal))
    }

    fn scaled_to(self, scale: u8) -> Wide {
        let mut wide = Wide::from(self.mantissa);
        for _ in self.scale..scale {
            wide = wide.mul_small(10);
        }
        wide
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Decimal {}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.is_zero() && other.is_zero() {
            return Ordering::Equal;
        }
        let sign = |it: &Self| it.negative && !it.is_zero();
        match (sign(self), sign(other)) {
            (true, false) => return Ordering::Less,
            (false, true) => return Ordering::Greater,
            _ => {}
        }
        let scale = self.scale.max(other.scale);
        let order = self.scaled_to(scale).cmp(&other.scaled_to(scale));
        if sign(self) { order.reverse() } else { order }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.negative && !self.is_zero() {
            f.write_str("-")?;
        }
        let scale = usize::from(self.scale);
        let digits = format!("{:0>1$}", self.mantissa, scale + 1);
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        f.write_str(whole)?;
        if fraction.is_empty() {
            return Ok(());
        }
        write!(f, ".{fraction}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Decimal {
        let digits = text.trim_start_matches('-').replace('.', "");
        let scale = text.split_once('.').map_or(0, |(_, it)| it.len());
        Decimal::new(
            text.starts_with('-'),
            digits.parse().expect("digits"),
            scale as u8,
        )
        .expect("in range")
    }

    #[track_caller]
    fn check(left: &str, op: char, right: &str, expected: &str) {
        let (left, right) = (parse(left), parse(right));
        let result = match op {
            '+' => left.add(right),
            '-' => left.add(right.negate()),
            '*' => left.multiply(right),
            '/' => left.divide(right),
            _ => left.remainder(right),
        };
        let text = result.map_or_else(|fault| format!("{fault:?}"), |it| it.to_string());
        assert_eq!(text, expected);
    }

    #[test]
    fn scales_are_the_runtimes() {
        check("1.10", '+', "2.2", "3.30");
        check("1.0", '-', "1.0", "0.0");
        check("1.10", '*', "2.00", "2.2000");
        check("1", '/', "2", "0.5");
        check("1.00", '/', "2", "0.50");
        check("1.00", '/', "8", "0.125");
        check("10", '/', "5", "2");
        check("1", '/', "3", "0.3333333333333333333333333333");
        check("2", '/', "3", "0.6666666666666666666666666667");
        check("5", '/', "0.25", "20");
        check("1", '%', "2.00", "1");
        check("5.5", '%', "2.00", "1.50");
        check("-5.5", '%', "2", "-1.5");
        check("1", '/', "0", "DivideByZero");
    }

    #[test]
    fn limits() {
        let max = "79228162514264337593543950335";
        check(max, '+', "1", "Unfit(Decimal)");
        check(max, '+', "0.4", max);
        check(max, '*', "1.0", max);
        check(
            "0.0000000000000000000000000001",
            '*',
            "0.5",
            "0.0000000000000000000000000000",
        );
        check(
            "0.0000000000000000000000000003",
            '*',
            "0.5",
            "0.0000000000000000000000000002",
        );
    }

    #[test]
    fn from_doubles() {
        let show = |value, digits| {
            Decimal::from_f64(value, digits)
                .map_or_else(|fault| format!("{fault:?}"), |it| it.to_string())
        };
        assert_eq!(show(0.1, 15), "0.1");
        assert_eq!(show(1.0 / 3.0, 15), "0.333333333333333");
        assert_eq!(show(f64::from(1.0_f32 / 3.0), 7), "0.3333333");
        assert_eq!(show(1e20, 15), "100000000000000000000");
        assert_eq!(show(-2.5, 15), "-2.5");
        assert_eq!(show(1e29, 15), "Unfit(Decimal)");
        assert_eq!(show(1e-29, 15), "0");
        assert_eq!(show(5e-29, 15), "0");
        assert_eq!(show(-1e-30, 15), "0");
        assert_eq!(show(f64::NAN, 15), "Unfit(Decimal)");
    }

    #[test]
    fn bytes_go_there_and_back() {
        for text in ["0", "-1.5", "79228162514264337593543950335", "0.0000001"] {
            let back = Decimal::from_bytes(parse(text).to_bytes()).expect("its own bytes");
            assert_eq!(back.to_string(), text);
        }
    }
}
