//! Numbers, times and ids as C# prints them in the invariant culture.

use std::fmt::Write;

use super::super::Scalar;
pub(super) use crate::expressions::scalar::quoted;
use crate::expressions::scalar::{Scalar as Computed, quoted_char, text};

/// Ticks of a second.
const SECOND: u64 = 10_000_000;
/// The day of 9999-12-31, and the last tick of it.
pub(super) const LAST_DAY: u64 = 3_652_058;
pub(super) const LAST_TICK: u64 = (LAST_DAY + 1) * DAY - 1;
pub(super) const DAY: u64 = 86_400 * SECOND;

/// A scalar as C# would print it; `hex` for whole numbers.
pub(super) fn scalar(value: Scalar, hex: bool) -> String {
    match value {
        Scalar::Bool(value) => value.to_string(),
        Scalar::Char(unit) => quoted_char(unit),
        Scalar::R4(value) => text(&Computed::Float(value)),
        Scalar::R8(value) => text(&Computed::Double(value)),
        whole if hex => match whole {
            Scalar::I1(value) => format!("0x{value:02x}"),
            Scalar::U1(value) => format!("0x{value:02x}"),
            Scalar::I2(value) => format!("0x{value:04x}"),
            Scalar::U2(value) => format!("0x{value:04x}"),
            Scalar::I4(value) => format!("0x{value:08x}"),
            Scalar::U4(value) => format!("0x{value:08x}"),
            Scalar::I8(value) | Scalar::IntPtr(value) => format!("0x{value:016x}"),
            Scalar::U8(value) | Scalar::UIntPtr(value) => format!("0x{value:016x}"),
            _ => String::new(),
        },
        whole => whole.as_i128().unwrap_or_default().to_string(),
    }
}

/// A decimal from its parts.
pub(super) fn decimal(flags: u32, high: u32, low: u64) -> String {
    let number = u128::from(high) << 64 | u128::from(low);
    let scale = ((flags >> 16) & 0xff).min(28) as usize;
    let mut digits = number.to_string();
    if scale > 0 {
        if digits.len() <= scale {
            digits = "0".repeat(scale + 1 - digits.len()) + &digits;
        }
        digits.insert(digits.len() - scale, '.');
    }
    // .NET writes no sign before a zero of this type.
    if flags & 0x8000_0000 != 0 && number != 0 {
        digits.insert(0, '-');
    }
    digits
}

/// The civil date of a day since 0001-01-01.
fn date_of(day: u64) -> (u64, u64, u64) {
    // Days since 0000-03-01, in eras of 400 years.
    let z = day + 306;
    let era = z / 146_097;
    let of_era = z % 146_097;
    let year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let date = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    (year, month, date)
}

/// `2024-01-31`.
pub(super) fn date(day: u64) -> String {
    let (year, month, day) = date_of(day.min(LAST_DAY));
    format!("{year:04}-{month:02}-{day:02}")
}

/// `13:14:15.1234567`.
pub(super) fn time(ticks: u64) -> String {
    let ticks = ticks % DAY;
    let (seconds, fraction) = (ticks / SECOND, ticks % SECOND);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{hours:02}:{minutes:02}:{seconds:02}.{fraction:07}")
}

/// The round-trip form of a point in time, without zone.
pub(super) fn date_time(ticks: u64) -> String {
    format!("{}T{}", date(ticks / DAY), time(ticks))
}

/// `+02:00`.
pub(super) fn offset(minutes: i64) -> String {
    let sign = if minutes < 0 { '-' } else { '+' };
    let minutes = minutes.unsigned_abs();
    format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}

/// `-1.02:03:04.5000000`, as `TimeSpan` prints itself.
pub(super) fn time_span(ticks: i64) -> String {
    let sign = if ticks < 0 { "-" } else { "" };
    let ticks = ticks.unsigned_abs();
    let (days, fraction) = (ticks / DAY, ticks % SECOND);
    let seconds = ticks / SECOND % 86_400;
    let days = if days > 0 {
        format!("{days}.")
    } else {
        String::new()
    };
    let clock = format!(
        "{:02}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    );
    let fraction = if fraction > 0 {
        format!(".{fraction:07}")
    } else {
        String::new()
    };
    format!("{sign}{days}{clock}{fraction}")
}

/// The usual form of 16 bytes as .NET stores them.
pub(super) fn guid(bytes: &[u8]) -> Option<String> {
    let bytes: [u8; 16] = bytes.try_into().ok()?;
    Some(metadata::Guid(bytes).to_string())
}

/// A big number from 32-bit parts, the lowest first.
pub(super) fn big_integer(negative: bool, parts: &[u32]) -> String {
    let mut parts = parts.to_vec();
    let mut groups = Vec::new();
    while parts.iter().any(|&part| part != 0) {
        let mut rest = 0_u64;
        for part in parts.iter_mut().rev() {
            let value = rest << 32 | u64::from(*part);
            *part = (value / 1_000_000_000) as u32;
            rest = value % 1_000_000_000;
        }
        groups.push(rest);
    }
    let mut text = String::from(if negative && !groups.is_empty() {
        "-"
    } else {
        ""
    });
    match groups.pop() {
        None => text.push('0'),
        Some(first) => {
            let _ = write!(text, "{first}");
            for group in groups.iter().rev() {
                let _ = write!(text, "{group:09}");
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_print_as_in_dotnet() {
        for (value, text) in [
            (0.1, "0.1"),
            (1e15, "1000000000000000"),
            (1e17, "1E+17"),
            (123_456_789_012_345.0, "123456789012345"),
            (1e-5, "1E-05"),
            (0.0001, "0.0001"),
            (1.5e300, "1.5E+300"),
            (-0.0, "-0"),
            (100.0, "100"),
            (f64::MAX, "1.7976931348623157E+308"),
            (5e-324, "5E-324"),
            (1_234_567_890_123_456.0, "1234567890123456"),
        ] {
            assert_eq!(scalar(Scalar::R8(value), false), text);
        }
        assert_eq!(scalar(Scalar::R4(f32::MAX), false), "3.4028235E+38");
        assert_eq!(scalar(Scalar::R4(1e9), false), "1E+09");
        assert_eq!(scalar(Scalar::R4(12_345_678.0), false), "12345678");
        assert_eq!(scalar(Scalar::R8(f64::NAN), false), "NaN");
    }

    #[test]
    fn decimals_keep_their_zeros() {
        assert_eq!(decimal(0x0002_0000, 0, 150), "1.50");
        assert_eq!(decimal(0x8003_0000, 0, 1), "-0.001");
        assert_eq!(decimal(0x8002_0000, 0, 0), "0.00");
        assert_eq!(
            decimal(0, u32::MAX, u64::MAX),
            "79228162514264337593543950335"
        );
    }

    #[test]
    fn times() {
        assert_eq!(date_time(0), "0001-01-01T00:00:00.0000000");
        assert_eq!(
            date_time(3_155_378_975_999_999_999),
            "9999-12-31T23:59:59.9999999"
        );
        assert_eq!(
            date_time(638_447_616_000_000_000),
            "2024-02-29T00:00:00.0000000"
        );
        assert_eq!(time_span(-937_840_050_000), "-1.02:03:04.0050000");
        assert_eq!(offset(-210), "-03:30");
    }

    #[test]
    fn big_integers() {
        assert_eq!(big_integer(true, &[0, 0, 1]), "-18446744073709551616");
        assert_eq!(big_integer(false, &[]), "0");
    }

    #[test]
    fn text_is_escaped() {
        let units: Vec<u16> = "a\"\\\n\u{202e}é😀"
            .encode_utf16()
            .chain([0xd800])
            .collect();
        assert_eq!(quoted(&units), "\"a\\\"\\\\\\n\\u202eé😀\\ud800\"");
    }
}
