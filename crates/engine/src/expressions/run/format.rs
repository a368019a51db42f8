//! Standard numeric formats in the invariant culture.

use crate::expressions::scalar::{self, Kind, Scalar};

/// The text of a number in a standard format, or `None` if the format is not one of those known here.
pub(super) fn number(value: &Scalar, format: &str) -> Option<String> {
    if !value.kind().is_numeric()
        && !matches!(value.kind(), Kind::Int128 | Kind::UInt128 | Kind::Half)
    {
        return None;
    }
    let mut letters = format.chars();
    let letter = letters.next()?;
    let digits = letters.as_str();
    if format.chars().all(|it| matches!(it, '0' | '#' | ',' | '.')) {
        return custom(value, format);
    }
    let precision: Option<usize> = if digits.is_empty() {
        None
    } else {
        Some(digits.parse().ok().filter(|it| *it <= 99)?)
    };
    let integral = value.integer().is_some();
    match letter.to_ascii_uppercase() {
        'D' if integral => {
            let text = scalar::text(value);
            let (sign, digits) = text
                .strip_prefix('-')
                .map_or(("", text.as_str()), |it| ("-", it));
            Some(format!(
                "{sign}{digits:0>width$}",
                width = precision.unwrap_or(0)
            ))
        }
        'X' if integral => {
            let bits = value.kind().size() * 8;
            let number = value.integer()? as u128
                & if bits >= 128 {
                    u128::MAX
                } else {
                    (1 << bits) - 1
                };
            let width = precision.unwrap_or(0);
            Some(if letter == 'x' {
                format!("{number:0>width$x}")
            } else {
                format!("{number:0>width$X}")
            })
        }
        'F' | 'N' | 'P' => {
            let scaled = if letter.eq_ignore_ascii_case(&'P') {
                2
            } else {
                0
            };
            let places = precision.unwrap_or(2);
            let (negative, whole, fraction) = fixed(value, places, scaled)?;
            let whole = if letter.eq_ignore_ascii_case(&'F') {
                whole
            } else {
                grouped(&whole)
            };
            let is_zero = whole
                .chars()
                .chain(fraction.chars())
                .all(|it| matches!(it, '0' | ','));
            let sign = if negative && (!is_zero || is_float(value)) {
                "-"
            } else {
                ""
            };
            let point = if places > 0 { "." } else { "" };
            let suffix = if scaled > 0 { " %" } else { "" };
            Some(format!("{sign}{whole}{point}{fraction}{suffix}"))
        }
        'G' if precision.is_none() || precision == Some(0) => Some(scalar::text(value)),
        'R' if digits.is_empty() => Some(scalar::text(value)),
        'C' => {
            let places = precision.unwrap_or(2);
            let (negative, whole, fraction) = fixed(value, places, 0)?;
            let point = if places > 0 { "." } else { "" };
            let text = format!("¤{}{point}{fraction}", grouped(&whole));
            Some(if negative { format!("({text})") } else { text })
        }
        'E' => exponential(value, letter, precision.unwrap_or(6)),
        _ => None,
    }
}

/// A custom format of digits only: `0.00`, `#,##0`, `000.##`.
fn custom(value: &Scalar, format: &str) -> Option<String> {
    let (whole, fraction) = format.split_once('.').unwrap_or((format, ""));
    // A comma at the end divides by a thousand, which is not done here.
    if whole.ends_with(',') || fraction.contains(['.', ',']) {
        return None;
    }
    let places = fraction.len();
    let (negative, mut digits, mut rest) = fixed(value, places, 0)?;
    let least = fraction.rfind('0').map_or(0, |it| it + 1);
    while rest.len() > least && rest.ends_with('0') {
        rest.pop();
    }
    let wanted = whole.find('0').map_or(0, |it| {
        whole.get(it..).unwrap_or("").matches(['0', '#']).count()
    });
    if digits == "0" {
        digits.clear();
    }
    while digits.len() < wanted {
        digits.insert(0, '0');
    }
    let is_zero = digits.chars().chain(rest.chars()).all(|it| it == '0');
    let digits = if whole.contains(',') {
        grouped(&digits)
    } else {
        digits
    };
    let sign = if negative && !is_zero { "-" } else { "" };
    let point = if rest.is_empty() { "" } else { "." };
    Some(format!("{sign}{digits}{point}{rest}"))
}

fn is_float(value: &Scalar) -> bool {
    matches!(value, Scalar::Float(_) | Scalar::Double(_))
}

/// Sign, whole part and fraction, rounded half away from zero, times `10^scaled`.
fn fixed(value: &Scalar, places: usize, scaled: usize) -> Option<(bool, String, String)> {
    let text = match value {
        Scalar::Double(number) if !number.is_finite() => return None,
        Scalar::Float(number) if !number.is_finite() => return None,
        // All digits of the binary number, which decide how it rounds.
        Scalar::Double(number) => format!("{number:.340}"),
        Scalar::Float(number) => format!("{:.160}", f64::from(*number)),
        Scalar::Half(_) => return None,
        other => scalar::text(other),
    };
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest.to_owned()),
        None => (false, text),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let mut digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
    let point = whole.len() + scaled;
    while digits.len() < point + places + 1 {
        digits.push(b'0');
    }
    let up = digits.get(point + places).is_some_and(|it| *it >= b'5');
    digits.truncate(point + places);
    if up {
        let mut at = digits.len();
        loop {
            if at == 0 {
                digits.insert(0, b'1');
                break;
            }
            at -= 1;
            match digits.get_mut(at) {
                Some(digit) if *digit == b'9' => *digit = b'0',
                Some(digit) => {
                    *digit += 1;
                    break;
                }
                None => break,
            }
        }
    }
    let point = digits.len() - places;
    let (whole, fraction) = digits.split_at(point);
    let whole = String::from_utf8_lossy(whole)
        .trim_start_matches('0')
        .to_owned();
    let whole = if whole.is_empty() {
        "0".to_owned()
    } else {
        whole
    };
    Some((
        negative,
        whole,
        String::from_utf8_lossy(fraction).into_owned(),
    ))
}

fn grouped(whole: &str) -> String {
    let mut text = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn exponential(value: &Scalar, letter: char, places: usize) -> Option<String> {
    let number = match value {
        Scalar::Double(number) => *number,
        Scalar::Float(number) => f64::from(*number),
        Scalar::Decimal(number) => number.to_f64(),
        Scalar::Int(_, number) if number.unsigned_abs() < 1 << 53 => *number as f64,
        _ => return None,
    };
    if !number.is_finite() {
        return None;
    }
    let text = format!("{number:.places$e}");
    let (mantissa, exponent) = text.split_once('e')?;
    let exponent: i32 = exponent.parse().ok()?;
    let sign = if exponent < 0 { '-' } else { '+' };
    Some(format!("{mantissa}{letter}{sign}{:03}", exponent.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: Scalar, format: &str, expected: &str) {
        assert_eq!(number(&value, format).as_deref(), Some(expected));
    }

    #[test]
    fn standard_formats() {
        let int = |it| Scalar::Int(Kind::Int, it);
        check(int(-7), "D5", "-00007");
        check(int(255), "X", "FF");
        check(int(-7), "x4", "fffffff9");
        check(int(1_234_567), "N0", "1,234,567");
        check(int(1_234), "N2", "1,234.00");
        check(Scalar::Double(-2.75), "F1", "-2.8");
        check(Scalar::Double(2.5), "F0", "3");
        check(Scalar::Double(0.125), "P0", "13 %");
        check(Scalar::Double(-2.75), "E2", "-2.75E+000");
        check(int(-7), "0.00", "-7.00");
        check(int(-7), "000", "-007");
        check(Scalar::Double(1234.5), "#,##0.##", "1,234.5");
        check(int(-7), "C", "(¤7.00)");
    }
}
