//! `System.Half`: arithmetic goes through `float` and rounds once, as in the framework.

/// The value.
pub(super) fn to_f32(bits: u16) -> f32 {
    let sign = if bits >> 15 != 0 { -1.0 } else { 1.0 };
    let exponent = i32::from(bits >> 10 & 0x1f);
    let fraction = f32::from(bits & 0x3ff);
    match exponent {
        0 => sign * fraction * 2_f32.powi(-24),
        0x1f if fraction == 0.0 => sign * f32::INFINITY,
        0x1f => f32::NAN.copysign(sign),
        _ => sign * (1024.0 + fraction) * 2_f32.powi(exponent - 25),
    }
}

/// The nearest half, ties to even.
pub(super) fn from_f64(value: f64) -> u16 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let value = value.abs();
    if value.is_nan() {
        return sign | 0x7e00;
    }
    // The smallest value that rounds to infinity.
    if value >= 65520.0 {
        return sign | 0x7c00;
    }
    // The unit of the last place at this size; subnormals share one.
    let exponent = ((value.to_bits() >> 52) as i32 - 1023).max(-14);
    let units = (value / 2_f64.powi(exponent - 10)).round_ties_even() as u16;
    // A carry out of the fraction goes into the exponent by itself.
    let base = if exponent == -14 {
        0
    } else {
        (exponent + 14) as u16
    };
    sign | ((base << 10) + units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_halves_go_there_and_back() {
        for bits in 0..=u16::MAX {
            let value = to_f32(bits);
            if !value.is_nan() {
                assert_eq!(from_f64(f64::from(value)), bits, "{value}");
            }
        }
    }

    #[test]
    fn roundings() {
        assert_eq!(from_f64(65519.0), 0x7bff);
        assert_eq!(from_f64(65520.0), 0x7c00);
        assert_eq!(from_f64(2_f64.powi(-25)), 0);
        assert_eq!(from_f64(2_f64.powi(-25) * 1.1), 1);
    }
}
