//! Members of the framework that compute with numbers and letters alone: `char.IsPunctuation`, `int.IsPow2`, `Math.Round` of
//! decimals and their like. `None` where the program's own tables would decide.

use crate::expressions::scalar::{Decimal, Kind, Scalar};

/// What a static member of `char` gives for letters.
pub(super) fn of_char(name: &str, units: &[i128]) -> Option<Scalar> {
    let [unit, rest @ ..] = units else {
        return None;
    };
    let is_in = |low: i128, high: i128| (low..=high).contains(unit);
    // What depends on no table.
    let told = match (name, rest) {
        ("IsBetween", [low, high]) => is_in(*low, *high),
        ("IsControl", []) => is_in(0, 0x1f) || is_in(0x7f, 0x9f),
        ("IsSurrogate", []) => is_in(0xd800, 0xdfff),
        ("IsHighSurrogate", []) => is_in(0xd800, 0xdbff),
        ("IsLowSurrogate", []) => is_in(0xdc00, 0xdfff),
        ("IsAscii", []) => is_in(0, 0x7f),
        ("IsAsciiDigit", []) => is_in(0x30, 0x39),
        ("IsAsciiLetterUpper", []) => is_in(0x41, 0x5a),
        ("IsAsciiLetterLower", []) => is_in(0x61, 0x7a),
        ("IsAsciiLetter", []) => is_in(0x41, 0x5a) || is_in(0x61, 0x7a),
        ("IsAsciiLetterOrDigit", []) => is_in(0x30, 0x39) || is_in(0x41, 0x5a) || is_in(0x61, 0x7a),
        _ => {
            let letter = u8::try_from(*unit).ok().map(char::from);
            return of_ascii(name, letter.filter(char::is_ascii)?);
        }
    };
    Some(Scalar::Bool(told))
}

fn of_ascii(name: &str, letter: char) -> Option<Scalar> {
    let is_symbol = "$+<=>^`|~".contains(letter);
    Some(Scalar::Bool(match name {
        "IsPunctuation" => letter.is_ascii_punctuation() && !is_symbol,
        "IsSymbol" => is_symbol,
        "IsNumber" => letter.is_ascii_digit(),
        "IsSeparator" => letter == ' ',
        "GetNumericValue" => {
            let digit = letter.to_digit(10).map_or(-1.0, f64::from);
            return Some(Scalar::Double(digit));
        }
        "ToUpperInvariant" => {
            let upper = u32::from(letter.to_ascii_uppercase());
            return Some(Scalar::Int(Kind::Char, upper.into()));
        }
        "ToLowerInvariant" => {
            let lower = u32::from(letter.to_ascii_lowercase());
            return Some(Scalar::Int(Kind::Char, lower.into()));
        }
        _ => return None,
    }))
}

/// What a static member of a type of numbers gives for one.
pub(super) fn of_number(name: &str, number: &Scalar) -> Option<Scalar> {
    let float = match number {
        Scalar::Double(number) => Some(*number),
        Scalar::Float(number) => Some(f64::from(*number)),
        _ => None,
    };
    if let Some(number) = float {
        return Some(Scalar::Bool(match name {
            "IsFinite" => number.is_finite(),
            "IsPositive" => number.is_sign_positive(),
            "IsInteger" => number.is_finite() && number.trunc() == number,
            "IsPositiveInfinity" => number == f64::INFINITY,
            "IsNegativeInfinity" => number == f64::NEG_INFINITY,
            "IsEvenInteger" => number.is_finite() && (number % 2.0) == 0.0,
            "IsOddInteger" => number.is_finite() && (number % 2.0).abs() == 1.0,
            _ => return None,
        }));
    }
    let Scalar::Int(kind, number) = number else {
        return None;
    };
    Some(Scalar::Bool(match name {
        "IsEvenInteger" => number & 1 == 0,
        "IsOddInteger" => number & 1 == 1,
        "IsNegative" => *number < 0,
        "IsPositive" => *number >= 0,
        "IsPow2" => *number > 0 && number & (number - 1) == 0,
        "PopCount" => {
            let bits = (number & kind_mask(*kind)?).count_ones();
            return Some(Scalar::Int(*kind, bits.into()));
        }
        _ => return None,
    }))
}

/// The bits that numbers of a type have.
fn kind_mask(kind: Kind) -> Option<i128> {
    let bits = u32::try_from(kind.size().checked_mul(8)?).ok()?;
    (bits <= 64).then(|| (1_i128 << bits) - 1)
}

/// `Round`, `Floor`, `Ceiling` and `Truncate` of decimals; `mode` is a `MidpointRounding`.
pub(super) fn of_decimal(name: &str, number: Decimal, places: i128, mode: i128) -> Option<Decimal> {
    let (negative, mantissa, scale) = number.parts();
    let places = u8::try_from(places).ok().filter(|it| *it <= 28)?;
    if scale <= places {
        return Some(number);
    }
    let unit = 10_u128.checked_pow(u32::from(scale - places))?;
    let (whole, rest) = (mantissa / unit, mantissa % unit);
    let up = match name {
        "Truncate" => false,
        "Floor" => negative && rest > 0,
        "Ceiling" => !negative && rest > 0,
        "Round" => goes_up(
            rest.cmp(&(unit / 2)),
            whole % 2 == 1,
            rest > 0,
            negative,
            mode,
        )?,
        _ => return None,
    };
    Decimal::new(negative, whole + u128::from(up), places)
}

/// Whether a number is rounded away from zero: how its rest compares with one half, whether what is before is odd.
fn goes_up(
    half: std::cmp::Ordering,
    is_odd: bool,
    has_rest: bool,
    negative: bool,
    mode: i128,
) -> Option<bool> {
    use std::cmp::Ordering::{Equal, Greater};
    Some(match mode {
        0 => half == Greater || half == Equal && is_odd,
        1 => half != std::cmp::Ordering::Less,
        2 => false,
        3 => negative && has_rest,
        4 => !negative && has_rest,
        _ => return None,
    })
}

/// A double without its fraction, in a mode of `MidpointRounding`.
pub(super) fn rounded(number: f64, mode: i128) -> Option<f64> {
    Some(match mode {
        0 => number.round_ties_even(),
        // Rust's goes away from zero, too.
        1 => number.round(),
        2 => number.trunc(),
        3 => number.floor(),
        4 => number.ceil(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_rounded_as_asked() {
        let number = |negative, mantissa, scale| Decimal::new(negative, mantissa, scale);
        let told = |name, of: Option<Decimal>, places, mode| {
            let (negative, mantissa, scale) = of_decimal(name, of?, places, mode)?.parts();
            Some((negative, mantissa, scale))
        };
        assert_eq!(
            told("Round", number(false, 25, 1), 0, 0),
            Some((false, 2, 0))
        );
        assert_eq!(
            told("Round", number(false, 25, 1), 0, 1),
            Some((false, 3, 0))
        );
        assert_eq!(
            told("Round", number(false, 35, 1), 0, 0),
            Some((false, 4, 0))
        );
        assert_eq!(told("Floor", number(true, 11, 1), 0, 0), Some((true, 2, 0)));
        assert_eq!(
            told("Ceiling", number(true, 11, 1), 0, 0),
            Some((true, 1, 0))
        );
        assert_eq!(
            told("Truncate", number(true, 19, 1), 0, 0),
            Some((true, 1, 0))
        );
    }
}
