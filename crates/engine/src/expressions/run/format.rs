//! Standard numeric formats in the invariant culture.
//!
//! The runtime takes as many digits of a binary number as a format wants from its exact decimal expansion, and a tie goes to
//! the even digit; whole numbers and decimals round away from zero. A custom format takes 15 digits of a double first (7 of a
//! float, 5 of a half) and rounds those away from zero.

use crate::expressions::scalar::{self, Kind, Scalar};

/// The text of a number in a standard format, or `None` if the format is not one of those known here.
pub(super) fn number(value: &Scalar, format: &str) -> Option<String> {
    if !value.kind().is_numeric()
        && !matches!(value.kind(), Kind::Int128 | Kind::UInt128 | Kind::Half)
    {
        return None;
    }
    if let Some(told) = not_finite(value) {
        return Some(told.into());
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
            let is_percent = letter.eq_ignore_ascii_case(&'P');
            let places = precision.unwrap_or(2);
            let mut number =
                Digits::of(value, Want::Places(places + if is_percent { 2 } else { 0 }));
            if is_percent {
                number.point += 2;
            }
            let (whole, fraction) = number.fixed(places);
            // What was moved by two places may begin with zeros.
            let whole = match whole.trim_start_matches('0') {
                "" => "0".to_owned(),
                digits => digits.to_owned(),
            };
            let whole = if letter.eq_ignore_ascii_case(&'F') {
                whole
            } else {
                grouped(&whole)
            };
            let sign = if number.shows_sign() { "-" } else { "" };
            let point = if places > 0 { "." } else { "" };
            let suffix = if is_percent { " %" } else { "" };
            Some(format!("{sign}{whole}{point}{fraction}{suffix}"))
        }
        'G' if precision.is_none() || precision == Some(0) => Some(scalar::text(value)),
        'G' => Some(general(value, letter, precision?)),
        'R' if is_binary(value) => Some(scalar::text(value)),
        'C' => {
            let places = precision.unwrap_or(2);
            let number = Digits::of(value, Want::Places(places));
            let (whole, fraction) = number.fixed(places);
            let point = if places > 0 { "." } else { "" };
            let text = format!("¤{}{point}{fraction}", grouped(&whole));
            Some(if number.shows_sign() {
                format!("({text})")
            } else {
                text
            })
        }
        'E' => Some(exponential(value, letter, precision.unwrap_or(6))),
        _ => None,
    }
}

/// What is told of infinities and of what is not a number, in any format.
fn not_finite(value: &Scalar) -> Option<&'static str> {
    let number = real(value)?;
    if number.is_nan() {
        Some("NaN")
    } else if number == f64::INFINITY {
        Some("Infinity")
    } else if number == f64::NEG_INFINITY {
        Some("-Infinity")
    } else {
        None
    }
}

/// The value of a binary number, which a double holds exactly.
fn real(value: &Scalar) -> Option<f64> {
    match value {
        Scalar::Double(number) => Some(*number),
        Scalar::Float(number) => Some(f64::from(*number)),
        Scalar::Half(bits) => Some(f64::from(scalar::half_value(*bits))),
        _ => None,
    }
}

fn is_binary(value: &Scalar) -> bool {
    real(value).is_some()
}

/// How many digits are wanted of a number.
#[derive(Clone, Copy)]
enum Want {
    /// So many behind the point.
    Places(usize),
    /// So many from the first that is not zero on.
    Significant(usize),
}

/// The digits of a number, rounded as wanted: those before `point` are whole.
struct Digits {
    negative: bool,
    /// Without zeros at either end.
    digits: Vec<u8>,
    point: i32,
    is_binary: bool,
}

impl Digits {
    fn of(value: &Scalar, want: Want) -> Self {
        let (text, is_binary) = match (real(value), want) {
            // These round exactly, ties to even.
            (Some(number), Want::Places(places)) => (format!("{number:.places$}"), true),
            (Some(number), Want::Significant(count)) => {
                let places = count.saturating_sub(1);
                (format!("{number:.places$e}"), true)
            }
            (None, _) => (scalar::text(value), false),
        };
        let (text, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        let mut number = Self {
            negative,
            point: whole.len() as i32 + exponent.parse::<i32>().unwrap_or(0),
            digits,
            is_binary,
        };
        number.trim();
        if !is_binary {
            match want {
                Want::Places(places) => number.round(places as i32 + number.point),
                Want::Significant(count) => number.round(count as i32),
            }
        }
        number
    }

    fn trim(&mut self) {
        while self.digits.last() == Some(&b'0') {
            self.digits.pop();
        }
        let zeros = self.digits.iter().take_while(|it| **it == b'0').count();
        self.digits.drain(..zeros);
        self.point -= zeros as i32;
        if self.digits.is_empty() {
            self.point = 0;
        }
    }

    /// Keeps so many digits, half away from zero.
    fn round(&mut self, keep: i32) {
        let Ok(keep) = usize::try_from(keep) else {
            self.digits.clear();
            self.point = 0;
            return;
        };
        let up = self.digits.get(keep).is_some_and(|it| *it >= b'5');
        self.digits.truncate(keep);
        if up {
            let nines = self.digits.iter().rev().take_while(|it| **it == b'9');
            let nines = nines.count();
            self.digits.truncate(self.digits.len() - nines);
            match self.digits.last_mut() {
                Some(digit) => *digit += 1,
                None => {
                    self.digits.push(b'1');
                    self.point += 1;
                }
            }
        }
        self.trim();
    }

    /// Whole part and so many places.
    fn fixed(&self, places: usize) -> (String, String) {
        let digit = |index: i32| {
            let known = usize::try_from(index)
                .ok()
                .and_then(|it| self.digits.get(it));
            char::from(*known.unwrap_or(&b'0'))
        };
        let whole: String = (0..self.point).map(digit).collect();
        let fraction = (0..places as i32)
            .map(|it| digit(self.point + it))
            .collect();
        let whole = if whole.is_empty() { "0".into() } else { whole };
        (whole, fraction)
    }

    fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// Only binary numbers know a negative zero.
    fn shows_sign(&self) -> bool {
        self.negative && (self.is_binary || !self.is_zero())
    }
}

/// A custom format of digits only: `0.00`, `#,##0`, `000.##`.
fn custom(value: &Scalar, format: &str) -> Option<String> {
    let (whole, fraction) = format.split_once('.').unwrap_or((format, ""));
    // A comma at the end divides by a thousand, which is not done here.
    if whole.ends_with(',') || whole.starts_with(',') || fraction.contains(['.', ',']) {
        return None;
    }
    let places = fraction.len();
    let mut number = match value {
        Scalar::Double(_) => Digits::of(value, Want::Significant(15)),
        Scalar::Float(_) => Digits::of(value, Want::Significant(7)),
        Scalar::Half(_) => Digits::of(value, Want::Significant(5)),
        _ => Digits::of(value, Want::Places(places)),
    };
    number.round(number.point + places as i32);
    let (mut digits, mut rest) = number.fixed(places);
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
    let digits = if whole.contains(',') {
        grouped(&digits)
    } else {
        digits
    };
    // What shows no digit shows no sign either.
    let is_shown = !digits.is_empty() || !rest.is_empty();
    let sign = if is_shown && number.shows_sign() {
        "-"
    } else {
        ""
    };
    let point = if rest.is_empty() { "" } else { "." };
    Some(format!("{sign}{digits}{point}{rest}"))
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

/// The first digit, the point, and so many behind it.
fn mantissa(number: &Digits, places: usize) -> String {
    let digit = |index: usize| char::from(*number.digits.get(index).unwrap_or(&b'0'));
    let rest: String = (1..=places).map(digit).collect();
    let point = if places > 0 { "." } else { "" };
    format!("{}{point}{rest}", digit(0))
}

fn exponential(value: &Scalar, letter: char, places: usize) -> String {
    let number = Digits::of(value, Want::Significant(places + 1));
    let exponent = if number.is_zero() {
        0
    } else {
        number.point - 1
    };
    let sign = if number.shows_sign() { "-" } else { "" };
    let exponent_sign = if exponent < 0 { '-' } else { '+' };
    let mantissa = mantissa(&number, places);
    format!(
        "{sign}{mantissa}{letter}{exponent_sign}{:03}",
        exponent.abs()
    )
}

/// So many digits, with an exponent where they do not reach the point.
fn general(value: &Scalar, letter: char, count: usize) -> String {
    let number = Digits::of(value, Want::Significant(count));
    let sign = if number.shows_sign() { "-" } else { "" };
    let length = number.digits.len();
    if number.is_zero() {
        return format!("{sign}0");
    }
    if number.point > count as i32 || number.point < -3 {
        let exponent = number.point - 1;
        let exponent_letter = if letter == 'g' { 'e' } else { 'E' };
        let exponent_sign = if exponent < 0 { '-' } else { '+' };
        let mantissa = mantissa(&number, length.saturating_sub(1));
        return format!(
            "{sign}{mantissa}{exponent_letter}{exponent_sign}{:02}",
            exponent.abs()
        );
    }
    let places = (length as i32 - number.point).max(0) as usize;
    let (whole, fraction) = number.fixed(places);
    let point = if places > 0 { "." } else { "" };
    format!("{sign}{whole}{point}{fraction}")
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
        check(Scalar::Double(2.5), "F0", "2");
        check(Scalar::Double(3.5), "F0", "4");
        check(Scalar::Double(0.125), "F2", "0.12");
        check(Scalar::Double(0.125), "P0", "12 %");
        check(int(0), "P1", "0.0 %");
        check(Scalar::Double(0.0001), "P1", "0.0 %");
        check(Scalar::Double(0.45), "F1", "0.5");
        check(Scalar::Double(1e21), "F0", "1000000000000000000000");
        check(Scalar::Double(0.1), "F20", "0.10000000000000000555");
        check(Scalar::Double(-0.4), "F0", "-0");
        check(Scalar::Double(2.5), "0", "3");
        check(Scalar::Double(1.0 / 3.0), "G3", "0.333");
        check(Scalar::Double(1234.5), "G2", "1.2E+03");
        check(Scalar::Double(0.0), "E2", "0.00E+000");
        check(Scalar::Double(f64::NAN), "F2", "NaN");
        check(Scalar::Float(2.5), "F0", "2");
        check(Scalar::Double(-2.75), "E2", "-2.75E+000");
        check(int(-7), "0.00", "-7.00");
        check(int(-7), "000", "-007");
        check(Scalar::Double(-0.0), "#", "");
        check(Scalar::Double(-0.4), "#.#", "-.4");
        check(Scalar::Double(-0.0), "0.0", "-0.0");
        check(Scalar::Double(1234.5), "#,##0.##", "1,234.5");
        check(int(-7), "C", "(¤7.00)");
    }
}
