//! What `ToString` of a primitive value gives in the invariant culture, and how C# writes it as a literal.

use super::{Scalar, half};

/// The value's `ToString(CultureInfo.InvariantCulture)`; a string is itself, with halves of pairs replaced.
pub(crate) fn text(value: &Scalar) -> String {
    match value {
        Scalar::Bool(true) => "True".into(),
        Scalar::Bool(false) => "False".into(),
        Scalar::Int(super::Kind::Char, unit) => String::from_utf16_lossy(&[*unit as u16]),
        Scalar::Int(_, number) | Scalar::Int128(number) => number.to_string(),
        Scalar::UInt128(number) => number.to_string(),
        Scalar::Half(bits) => {
            let value = half::to_f32(*bits);
            floating(f64::from(value), shortest_half(*bits), 5)
        }
        Scalar::Float(number) => {
            let shortest = nearest(format!("{:e}", number.abs()), f64::from(*number), |it| {
                it.parse() == Ok(number.abs())
            });
            floating(f64::from(*number), shortest, 9)
        }
        Scalar::Double(number) => {
            let shortest = nearest(format!("{:e}", number.abs()), *number, |it| {
                it.parse() == Ok(number.abs())
            });
            floating(*number, shortest, 17)
        }
        Scalar::Decimal(number) => number.to_string(),
        Scalar::String(units) => String::from_utf16_lossy(units),
    }
}

/// Of the digits that are as many and read back as the same number those nearest to it, which between two are the even
/// ones: Rust writes the upper ones there.
fn nearest(shortest: String, value: f64, is_same: impl Fn(&str) -> bool) -> String {
    let mantissa = shortest.split('e').next().unwrap_or_default();
    let behind = mantissa.bytes().filter(u8::is_ascii_digit).count();
    let behind = behind.saturating_sub(1);
    let exact = format!("{:.behind$e}", value.abs());
    match is_same(&exact) {
        true => exact,
        false => shortest,
    }
}

/// The shortest digits that only this half has.
fn shortest_half(bits: u16) -> String {
    let value = f64::from(half::to_f32(bits)).abs();
    // What lies in the middle of two is rounded to the even one, unless only the other is nearest to this half: below a
    // power of two they lie closer together.
    let nudged = value * (1.0 + 2.0 * f64::EPSILON);
    (0..5)
        .flat_map(|digits| [format!("{value:.digits$e}"), format!("{nudged:.digits$e}")])
        .find(|text| {
            text.parse()
                .is_ok_and(|back: f64| half::from_f64(back) == bits & 0x7fff)
        })
        .unwrap_or_else(|| format!("{value:e}"))
}

/// Lays out shortest digits as the runtime does: with an exponent if the number has more places than `precision` and
/// than digits, or four zeros or more behind the point.
fn floating(value: f64, shortest: String, precision: i32) -> String {
    if value.is_nan() {
        return "NaN".into();
    }
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if value.is_infinite() {
        return format!("{sign}Infinity");
    }
    if value == 0.0 {
        return format!("{sign}0");
    }
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits = mantissa.replace('.', "");
    let digits = match digits.trim_end_matches('0') {
        "" => "0",
        digits => digits,
    };
    let count = digits.len() as i32;
    // The number of places before the point.
    let places = exponent + 1;
    if places > precision.max(count) || places < -3 {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        let exponent_sign = if exponent < 0 { '-' } else { '+' };
        return format!(
            "{sign}{first}{point}{rest}E{exponent_sign}{:02}",
            exponent.abs()
        );
    }
    if places <= 0 {
        let zeros = "0".repeat(places.unsigned_abs() as usize);
        return format!("{sign}0.{zeros}{digits}");
    }
    if places >= count {
        let zeros = "0".repeat((places - count) as usize);
        return format!("{sign}{digits}{zeros}");
    }
    let (whole, fraction) = digits.split_at(places as usize);
    format!("{sign}{whole}.{fraction}")
}

/// A string as a C# literal.
pub(crate) fn quoted(units: &[u16]) -> String {
    let mut out = String::with_capacity(units.len() + 2);
    out.push('"');
    escape(units, '"', &mut out);
    out.push('"');
    out
}

/// A character as a C# literal.
pub(crate) fn quoted_char(unit: u16) -> String {
    let mut out = String::from('\'');
    escape(&[unit], '\'', &mut out);
    out.push('\'');
    out
}

fn escape(units: &[u16], quote: char, out: &mut String) {
    for decoded in char::decode_utf16(units.iter().copied()) {
        match decoded {
            Ok(c) if c == quote || c == '\\' => {
                out.push('\\');
                out.push(c);
            }
            Ok('\0') => out.push_str("\\0"),
            Ok('\n') => out.push_str("\\n"),
            Ok('\r') => out.push_str("\\r"),
            Ok('\t') => out.push_str("\\t"),
            // Control characters, and those that change the direction or the look of what follows.
            Ok(c)
                if c.is_control()
                    || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{fffe}'..='\u{ffff}') =>
            {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            Ok(c) => out.push(c),
            Err(lone) => out.push_str(&format!("\\u{:04x}", lone.unpaired_surrogate())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expressions::scalar::Kind;

    #[track_caller]
    fn double(value: f64, expected: &str) {
        assert_eq!(text(&Scalar::Double(value)), expected);
    }

    #[track_caller]
    fn float(value: f32, expected: &str) {
        assert_eq!(text(&Scalar::Float(value)), expected);
    }

    #[test]
    fn doubles_are_the_runtimes() {
        double(0.0, "0");
        double(-0.0, "-0");
        double(1.5, "1.5");
        double(100.0, "100");
        double(0.1 + 0.2, "0.30000000000000004");
        double(1e14, "100000000000000");
        double(1e16, "10000000000000000");
        double(1e17, "1E+17");
        double(1_234_567_890_123_456.0, "1234567890123456");
        double(123_456_789_012_345_680.0, "1.2345678901234568E+17");
        double(0.0001, "0.0001");
        double(0.00001, "1E-05");
        double(-1.25e-7, "-1.25E-07");
        double(f64::MAX, "1.7976931348623157E+308");
        double(f64::from_bits(1), "5E-324");
        double(f64::NAN, "NaN");
        double(f64::NEG_INFINITY, "-Infinity");
        // Of digits that read back the same the nearest, between two the even ones.
        double(4_000_000_000_000_001.0 / 4.0, "1000000000000000.2");
        double(-8_000_000_000_000_001.0 / 4.0, "-2000000000000000.2");
        double(4_000_000_000_000_003.0 / 4.0, "1000000000000000.8");
        double(800_000_000_000_001.0 / 8.0, "100000000000000.12");
    }

    #[test]
    fn floats_are_the_runtimes() {
        float(1e8, "100000000");
        float(1e9, "1E+09");
        float(12_345_678.0, "12345678");
        float(16_777_216.0, "16777216");
        float(1_234_567.0, "1234567");
        float(0.1, "0.1");
        float(8_388_609.0 / 4.0, "2097152.2");
        float(8_388_611.0 / 4.0, "2097152.8");
        float(f32::MAX, "3.4028235E+38");
    }

    #[test]
    fn halves_are_the_runtimes() {
        assert_eq!(text(&Scalar::Half(0x7bff)), "65500");
        assert_eq!(text(&Scalar::Half(0x7a1a)), "50000");
        assert_eq!(text(&Scalar::Half(0x2400)), "0.01563");
        assert_eq!(text(&Scalar::Half(0x3100)), "0.1562");
        assert_eq!(text(&Scalar::Half(0x3555)), "0.3333");
        assert_eq!(text(&Scalar::Half(0x0001)), "6E-08");
    }

    #[test]
    fn literals() {
        let units: Vec<u16> = "a\"b\\\n\u{1}\u{200b}é😀".encode_utf16().collect();
        assert_eq!(quoted(&units), "\"a\\\"b\\\\\\n\\u0001\\u200bé😀\"");
        assert_eq!(quoted(&[0xd800]), "\"\\ud800\"");
        assert_eq!(quoted_char(u16::from(b'\'')), "'\\''");
        assert_eq!(quoted_char(u16::from(b'"')), "'\"'");
        assert_eq!(text(&Scalar::Int(Kind::Char, 65)), "A");
    }
}
