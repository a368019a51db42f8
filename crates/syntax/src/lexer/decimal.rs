//! `decimal` literals to 96 bits and a scale, rounded as .NET parses them.

use crate::tree::Decimal;

/// As a signed number, to count down to.
const MAX_SCALE: i64 = Decimal::MAX_SCALE as i64;

/// The value of `whole.fraction e exponent`, or `None` if it is too large.
///
/// Digits that do not fit are rounded to even. Zeros at the end count: `1.50m` has scale 2.
pub(super) fn parse(whole: &str, fraction: &str, exponent: &str) -> Option<Decimal> {
    let exponent = if exponent.is_empty() {
        0
    } else {
        saturating(exponent)
    };
    let digits = || {
        whole
            .bytes()
            .chain(fraction.bytes())
            .skip_while(|&b| b == b'0')
    };
    let significant = digits().count();
    // The value is 0.d1d2d3… * 10^point.
    let point = i64::try_from(significant).unwrap_or(i64::MAX)
        - i64::try_from(fraction.len()).unwrap_or(i64::MAX)
        + exponent;
    if significant == 0 {
        return Decimal::new(0, scale(point.min(0)));
    }
    if point > 29 {
        return None;
    }

    let mut digits = digits().map(|b| u128::from(b - b'0')).peekable();
    let mut mantissa = 0;
    // Digits of the mantissa that are still before the decimal point; negative: behind it.
    let mut left = point;
    while left > -MAX_SCALE && (left > 0 || digits.peek().is_some()) {
        let digit = digits.peek().copied().unwrap_or(0);
        let next = mantissa * 10 + digit;
        if next > Decimal::MAX_MANTISSA {
            break;
        }
        mantissa = next;
        digits.next();
        left -= 1;
    }
    let round_up = match digits.next() {
        Some(6..) => true,
        Some(5) => mantissa % 2 == 1 || digits.any(|digit| digit != 0),
        _ => false,
    };
    if round_up {
        mantissa += 1;
        if mantissa > Decimal::MAX_MANTISSA {
            // 2^96 / 10, rounded up; the lost digit moves the point.
            mantissa = mantissa.div_ceil(10);
            left += 1;
        }
    }
    match left {
        1.. => None,
        left if left < -MAX_SCALE => Decimal::new(0, scale(left)),
        left => Decimal::new(mantissa, scale(left)),
    }
}

/// The scale for a point that is `-point` digits from the end.
fn scale(point: i64) -> u8 {
    u8::try_from(point.unsigned_abs()).map_or(Decimal::MAX_SCALE, |it| it.min(Decimal::MAX_SCALE))
}

/// The exponent, far beyond any useful one if it does not fit.
fn saturating(text: &str) -> i64 {
    const FAR: i64 = 1_000_000_000;
    let negative = text.starts_with('-');
    let value = text
        .parse::<i64>()
        .unwrap_or(if negative { -FAR } else { FAR });
    value.clamp(-FAR, FAR)
}
