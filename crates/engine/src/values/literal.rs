//! Literals as C# writes them, for setting values.

use metadata::signature::Primitive;

use crate::expressions::scalar;

/// A literal.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Literal {
    Null,
    Bool(bool),
    /// A whole number.
    Whole(i128),
    /// Any other number, as it was written.
    Real(String),
    Char(u16),
    Text(Vec<u16>),
}

/// The literal that a text is; `None` if it is something else.
pub(super) fn parse(text: &str) -> Option<Literal> {
    match text {
        "null" | "default" => return Some(Literal::Null),
        "true" => return Some(Literal::Bool(true)),
        "false" => return Some(Literal::Bool(false)),
        _ => {}
    }
    if let Some(inner) = text.strip_prefix('"') {
        let units = unescape(inner, '"')?;
        return Some(Literal::Text(units));
    }
    if let Some(inner) = text.strip_prefix('\'') {
        let units = unescape(inner, '\'')?;
        return match units[..] {
            [unit] => Some(Literal::Char(unit)),
            _ => None,
        };
    }
    number(text)
}

fn number(text: &str) -> Option<Literal> {
    let digits: String = text.chars().filter(|&letter| letter != '_').collect();
    let (sign, bare) = match digits.strip_prefix('-') {
        Some(rest) => (-1, rest.trim_start()),
        None => (1, digits.as_str()),
    };
    if !bare.starts_with(|letter: char| letter.is_ascii_digit() || letter == '.') {
        return None;
    }
    let lower = bare.to_ascii_lowercase();
    if let Some(hex) = lower.strip_prefix("0x") {
        let hex = hex.trim_end_matches(['u', 'l']);
        return i128::from_str_radix(hex, 16)
            .ok()
            .map(|value| Literal::Whole(sign * value));
    }
    let whole = lower.trim_end_matches(['u', 'l']);
    if let Ok(value) = whole.parse::<i128>() {
        return Some(Literal::Whole(sign * value));
    }
    let real = lower.trim_end_matches(['f', 'd', 'm']);
    real.parse::<f64>().ok()?;
    let minus = if sign < 0 { "-" } else { "" };
    // A float is one before it becomes anything else.
    if lower.ends_with('f') {
        let float = real.parse().ok().filter(|it: &f32| it.is_finite())?;
        return Some(Literal::Real(format!("{minus}{}", f64::from(float))));
    }
    Some(Literal::Real(format!("{minus}{real}")))
}

/// What a literal is to C# by how it is written, if that does not become a type by itself (C# 10.2.3, 10.2.11): `5L` no `int`,
/// `1.5m` no `double`. Without a suffix a number is whatever it is written into.
pub(super) fn other_type(text: &str, to: Target) -> Option<&'static str> {
    use Primitive::{Char, I1, I2, I4, I8, IntPtr, R4, R8, U1, U2, U8};
    let lower = text.trim().to_ascii_lowercase();
    let is_hex = lower.trim_start_matches(['-', ' ']).starts_with("0x");
    let number = match to {
        Target::Number(number) => number,
        Target::Decimal => {
            return (!is_hex && lower.ends_with(['f', 'd'])).then_some(if lower.ends_with('f') {
                "float"
            } else {
                "double"
            });
        }
    };
    if lower.starts_with('\'') {
        return matches!(number, I1 | U1 | I2).then_some("char");
    }
    if !lower.starts_with(|letter: char| letter.is_ascii_digit() || matches!(letter, '-' | '.')) {
        return None;
    }
    let (ty, is_taken) = if lower.ends_with("ul") || lower.ends_with("lu") {
        ("ulong", matches!(number, U8 | R4 | R8))
    } else if lower.ends_with('l') {
        let is_negative = lower.starts_with('-');
        let is_taken = matches!(number, I8 | R4 | R8) || number == U8 && !is_negative;
        ("long", is_taken)
    } else if lower.ends_with('u') {
        let narrow = matches!(number, I1 | U1 | I2 | U2 | Char | I4 | IntPtr);
        ("uint", !narrow)
    } else if is_hex {
        return None;
    } else if lower.ends_with('m') {
        ("decimal", false)
    } else if lower.ends_with('f') {
        ("float", matches!(number, R4 | R8))
    } else if lower.ends_with('d') {
        ("double", number == R8)
    } else {
        return None;
    };
    (!is_taken).then_some(ty)
}

/// What a literal goes into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Number(Primitive),
    Decimal,
}

/// The text up to the closing quote, which must be the last letter.
fn unescape(text: &str, quote: char) -> Option<Vec<u16>> {
    let inner = text.strip_suffix(quote)?;
    let mut units = Vec::new();
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        if letter == quote {
            return None;
        }
        if letter != '\\' {
            units.extend(letter.encode_utf16(&mut [0; 2]).iter());
            continue;
        }
        units.push(match letters.next()? {
            'n' => 0x0a,
            'r' => 0x0d,
            't' => 0x09,
            '0' => 0,
            'u' => {
                let hex: String = letters.by_ref().take(4).collect();
                u16::from_str_radix(&hex, 16).ok()?
            }
            other => {
                let mut buffer = [0; 2];
                let encoded = other.encode_utf16(&mut buffer);
                *encoded.first()?
            }
        });
    }
    Some(units)
}

impl Literal {
    /// The bytes of a number, truth value or character of a type; why not, if it does not fit.
    pub(super) fn to_bytes(&self, primitive: Primitive) -> Result<Vec<u8>, String> {
        let no = || Err(format!("{} is no {}", self.describe(), primitive.keyword()));
        let whole = match (self, primitive) {
            (Self::Bool(value), Primitive::Bool) => return Ok(vec![u8::from(*value)]),
            (Self::Char(unit), Primitive::Char) => return Ok(unit.to_le_bytes().into()),
            (Self::Whole(_) | Self::Real(_), Primitive::R4 | Primitive::R8) => {
                return self.to_real(primitive);
            }
            (Self::Whole(value), _) => *value,
            // A character is a number too, where that is wide enough.
            (Self::Char(unit), _) => i128::from(*unit),
            _ => return no(),
        };
        fn fit<T: TryFrom<i128>>(value: i128, bytes: impl Fn(T) -> Vec<u8>) -> Option<Vec<u8>> {
            T::try_from(value).ok().map(bytes)
        }
        let fitted = match primitive {
            Primitive::I1 => fit::<i8>(whole, |it| it.to_le_bytes().into()),
            Primitive::U1 => fit::<u8>(whole, |it| it.to_le_bytes().into()),
            Primitive::I2 => fit::<i16>(whole, |it| it.to_le_bytes().into()),
            Primitive::U2 => fit::<u16>(whole, |it| it.to_le_bytes().into()),
            Primitive::I4 => fit::<i32>(whole, |it| it.to_le_bytes().into()),
            Primitive::U4 => fit::<u32>(whole, |it| it.to_le_bytes().into()),
            Primitive::I8 | Primitive::IntPtr => fit::<i64>(whole, |it| it.to_le_bytes().into()),
            Primitive::U8 | Primitive::UIntPtr => fit::<u64>(whole, |it| it.to_le_bytes().into()),
            _ => return no(),
        };
        fitted.ok_or_else(|| format!("{whole} is outside of the range of {}", primitive.keyword()))
    }

    fn to_real(&self, primitive: Primitive) -> Result<Vec<u8>, String> {
        let text = match self {
            Self::Whole(value) => value.to_string(),
            Self::Real(text) => text.clone(),
            _ => return Err(format!("{} is no number", self.describe())),
        };
        let bad = |_| format!("{text} is no number");
        let outside = || format!("{text} is outside of the range of {}", primitive.keyword());
        if primitive == Primitive::R4 {
            let value = text.parse::<f32>().map_err(bad)?;
            let value = Some(value).filter(|it| it.is_finite());
            return Ok(value.ok_or_else(outside)?.to_le_bytes().into());
        }
        let value = text.parse::<f64>().map_err(bad)?;
        let value = Some(value).filter(|it| it.is_finite());
        Ok(value.ok_or_else(outside)?.to_le_bytes().into())
    }

    /// An `Int128` or `UInt128`.
    pub(super) fn to_128_bits(&self, is_signed: bool) -> Result<[u8; 16], String> {
        let ty = if is_signed { "Int128" } else { "UInt128" };
        let text = match self {
            Self::Whole(value) => value.to_string(),
            Self::Char(unit) => unit.to_string(),
            // Too large for what whole numbers are kept in here.
            Self::Real(text) if !text.contains(['.', 'e']) => text.clone(),
            _ => return Err(format!("{} is no {ty}", self.describe())),
        };
        let bits = match is_signed {
            true => text.parse::<i128>().map(i128::cast_unsigned),
            false => text.parse::<u128>(),
        };
        bits.map(u128::to_le_bytes)
            .map_err(|_| format!("{text} is outside of the range of {ty}"))
    }

    /// A `Half`.
    pub(super) fn to_half(&self) -> Result<[u8; 2], String> {
        let bytes = self.to_real(Primitive::R8)?;
        let number = <[u8; 8]>::try_from(bytes).map_or(f64::NAN, f64::from_le_bytes);
        let bits = scalar::half_of(number);
        let is_finite = scalar::half_value(bits).is_finite();
        is_finite
            .then(|| bits.to_le_bytes())
            .ok_or_else(|| format!("{} is outside of the range of Half", self.describe()))
    }

    /// The fields of a `decimal`.
    pub(super) fn to_decimal(&self) -> Result<[u8; 16], String> {
        let text = match self {
            Self::Whole(value) => value.to_string(),
            Self::Real(text) if !text.contains('e') => text.clone(),
            _ => return Err(format!("{} is no decimal", self.describe())),
        };
        let too_large = || format!("{text} does not fit into a decimal");
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.as_str()),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let number: u128 = format!("{whole}{fraction}")
            .parse()
            .map_err(|_| too_large())?;
        if number >> 96 != 0 || fraction.len() > 28 {
            return Err(too_large());
        }
        let flags = (u32::from(negative) << 31) | ((fraction.len() as u32) << 16);
        let high = (number >> 64) as u32;
        let low = number as u64;
        let mut bytes = [0; 16];
        let parts = flags
            .to_le_bytes()
            .into_iter()
            .chain(high.to_le_bytes())
            .chain(low.to_le_bytes());
        for (to, from) in bytes.iter_mut().zip(parts) {
            *to = from;
        }
        Ok(bytes)
    }

    fn describe(&self) -> String {
        match self {
            Self::Null => "null".into(),
            Self::Bool(value) => value.to_string(),
            Self::Whole(value) => value.to_string(),
            Self::Real(text) => text.clone(),
            Self::Char(_) => "a character".into(),
            Self::Text(_) => "a string".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_told_from_other_text() {
        let text = |text: &str| Some(Literal::Text(text.encode_utf16().collect()));
        assert_eq!(parse("-12"), Some(Literal::Whole(-12)));
        assert_eq!(parse("0xFFu"), Some(Literal::Whole(255)));
        assert_eq!(parse("1_000L"), Some(Literal::Whole(1000)));
        assert_eq!(parse("1.50m"), Some(Literal::Real("1.50".into())));
        assert_eq!(parse("'\\n'"), Some(Literal::Char(10)));
        assert_eq!(parse("\"a\\\"b\\u0041\""), text("a\"bA"));
        assert_eq!(
            parse("-0.1f"),
            Some(Literal::Real("-0.10000000149011612".into()))
        );
        assert_eq!(parse("16777217f"), Some(Literal::Real("16777216".into())));
        for other in ["1e39f", "x", "\"a\"b\"", "''", "'ab'", "-", "1.2.3", ""] {
            assert_eq!(parse(other), None, "{other}");
        }
    }

    #[test]
    fn what_a_literal_is_by_its_suffix_does_not_become_anything() {
        let check = |text: &str, to: Primitive, expected: Option<&str>| {
            assert_eq!(other_type(text, Target::Number(to)), expected, "{text}");
        };
        check("5L", Primitive::I4, Some("long"));
        check("5L", Primitive::I8, None);
        check("5L", Primitive::U8, None);
        check("-5L", Primitive::U8, Some("long"));
        check("5u", Primitive::I4, Some("uint"));
        check("5u", Primitive::I8, None);
        check("0x1fUL", Primitive::I8, Some("ulong"));
        check("0x1f", Primitive::U1, None);
        check("1.5m", Primitive::R8, Some("decimal"));
        check("1.5f", Primitive::R8, None);
        check("1.5d", Primitive::R4, Some("double"));
        check("1.5", Primitive::R4, None);
        check("'l'", Primitive::I4, None);
        check("'l'", Primitive::I2, Some("char"));
        check("null", Primitive::I4, None);
        assert_eq!(other_type("1.5f", Target::Decimal), Some("float"));
        assert_eq!(other_type("1.5m", Target::Decimal), None);
    }

    #[test]
    fn numbers_must_fit() {
        assert_eq!(Literal::Whole(255).to_bytes(Primitive::U1), Ok(vec![255]));
        assert!(Literal::Whole(256).to_bytes(Primitive::U1).is_err());
        assert!(Literal::Whole(-1).to_bytes(Primitive::U8).is_err());
        assert!(Literal::Real("1.5".into()).to_bytes(Primitive::I4).is_err());
        assert!(Literal::Null.to_bytes(Primitive::I4).is_err());
        let all = parse(&u128::MAX.to_string()).expect("a number");
        assert_eq!(all.to_128_bits(false), Ok([255; 16]));
        assert!(all.to_128_bits(true).is_err());
        assert!(Literal::Whole(-1).to_128_bits(false).is_err());
        assert_eq!(Literal::Real("1.5".into()).to_half(), Ok([0, 0x3e]));
        assert!(Literal::Whole(70_000).to_half().is_err());
    }
}
