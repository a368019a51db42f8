//! Conversions between the numeric types (C# 10.2.3, 10.2.11, 10.3.2).

use super::{Decimal, Fault, Kind, Scalar, half};

/// Whether C# converts from one numeric type to the other without being asked; a type converts to itself.
pub(crate) fn implicit_numeric(from: Kind, to: Kind) -> bool {
    use Kind::*;
    if from == to {
        return true;
    }
    let wider: &[Kind] = match from {
        SByte => &[Short, Int, Long, NInt, Float, Double, Decimal],
        Byte => &[
            Short, UShort, Int, UInt, Long, ULong, NInt, NUInt, Float, Double, Decimal,
        ],
        Short => &[Int, Long, NInt, Float, Double, Decimal],
        UShort => &[Int, UInt, Long, ULong, NInt, NUInt, Float, Double, Decimal],
        Char => &[
            UShort, Int, UInt, Long, ULong, NInt, NUInt, Float, Double, Decimal,
        ],
        Int => &[Long, NInt, Float, Double, Decimal],
        UInt => &[Long, ULong, NUInt, Float, Double, Decimal],
        NInt => &[Long, Float, Double, Decimal],
        NUInt => &[ULong, Float, Double, Decimal],
        Long | ULong => &[Float, Double, Decimal],
        Float => &[Double],
        _ => &[],
    };
    wider.contains(&to)
}

/// Whether C# converts a constant of this value to a smaller type because it fits (C# 10.2.11).
pub(crate) fn constant_fits(value: &Scalar, to: Kind) -> bool {
    let Scalar::Int(from, number) = value else {
        return false;
    };
    match (from, to) {
        // A native integer's size is not known to the compiler, so only 32 bits of it count.
        (Kind::Int, Kind::NUInt) => *number >= 0,
        (Kind::Int, Kind::Char) => false,
        (Kind::Int, _) => to
            .range()
            .is_some_and(|(min, max)| (min..=max).contains(number)),
        (Kind::Long, Kind::ULong) => *number >= 0,
        _ => false,
    }
}

/// Converts between numeric types, as a cast does; `None` if the types are not numeric.
pub(crate) fn convert(value: &Scalar, to: Kind, checked: bool) -> Option<Result<Scalar, Fault>> {
    if value.kind() == to {
        return Some(Ok(value.clone()));
    }
    Some(match value {
        Scalar::Int(_, number) => from_integer(*number, to, checked)?,
        Scalar::Int128(number) => from_integer(*number, to, checked)?,
        Scalar::UInt128(number) => match i128::try_from(*number) {
            Ok(small) => from_integer(small, to, checked)?,
            Err(_) => from_large(*number, to, checked)?,
        },
        Scalar::Half(bits) => from_float(f64::from(half::to_f32(*bits)), 7, to, checked)?,
        Scalar::Float(number) => from_float(f64::from(*number), 7, to, checked)?,
        Scalar::Double(number) => from_float(*number, 15, to, checked)?,
        Scalar::Decimal(number) => from_decimal(*number, to)?,
        Scalar::Bool(_) | Scalar::String(_) => return None,
    })
}

fn from_integer(number: i128, to: Kind, checked: bool) -> Option<Result<Scalar, Fault>> {
    if let Some((min, max)) = to.range() {
        let fits = (min..=max).contains(&number);
        return Some(if checked && !fits {
            Err(Fault::Overflow)
        } else {
            Ok(Scalar::Int(to, to.wrap(number)))
        });
    }
    Some(match to {
        Kind::Int128 => Ok(Scalar::Int128(number)),
        Kind::UInt128 if checked && number < 0 => Err(Fault::Overflow),
        Kind::UInt128 => Ok(Scalar::UInt128(number as u128)),
        Kind::Half => Ok(Scalar::Half(half::from_f64(number as f64))),
        Kind::Float => Ok(Scalar::Float(number as f32)),
        Kind::Double => Ok(Scalar::Double(number as f64)),
        Kind::Decimal => Decimal::from_i128(number)
            .map(Scalar::Decimal)
            .ok_or(Fault::Unfit(Kind::Decimal)),
        _ => return None,
    })
}

/// A number that only `UInt128` holds.
fn from_large(number: u128, to: Kind, checked: bool) -> Option<Result<Scalar, Fault>> {
    Some(match to {
        Kind::Float => Ok(Scalar::Float(number as f32)),
        Kind::Double => Ok(Scalar::Double(number as f64)),
        Kind::Half => Ok(Scalar::Half(half::from_f64(f64::INFINITY))),
        Kind::Decimal => Err(Fault::Unfit(Kind::Decimal)),
        _ if checked => Err(Fault::Overflow),
        _ => return from_integer(number as i128, to, false),
    })
}

fn from_float(
    number: f64,
    digits: usize,
    to: Kind,
    checked: bool,
) -> Option<Result<Scalar, Fault>> {
    if let Some((min, max)) = to.range() {
        let whole = number.trunc();
        // The upper limit itself may round up to a number that does not fit.
        let fits = whole >= min as f64 && whole < max as f64 + 1.0;
        if checked && !fits {
            return Some(Err(Fault::Overflow));
        }
        // The runtime converts to 32 or 64 bits, where it saturates, and cuts the rest.
        let number = match to {
            Kind::UInt => i128::from(number as u32),
            Kind::ULong | Kind::NUInt => i128::from(number as u64),
            Kind::Long | Kind::NInt => i128::from(number as i64),
            _ => i128::from(number as i32),
        };
        return Some(Ok(Scalar::Int(to, to.wrap(number))));
    }
    Some(match to {
        Kind::Half => Ok(Scalar::Half(half::from_f64(number))),
        Kind::Float => Ok(Scalar::Float(number as f32)),
        Kind::Double => Ok(Scalar::Double(number)),
        Kind::Decimal => Decimal::from_f64(number, digits).map(Scalar::Decimal),
        Kind::Int128 => {
            let fits = (-170_141_183_460_469_231_731_687_303_715_884_105_728.0
                ..170_141_183_460_469_231_731_687_303_715_884_105_728.0)
                .contains(&number);
            if checked && !fits {
                Err(Fault::Overflow)
            } else {
                Ok(Scalar::Int128(number as i128))
            }
        }
        Kind::UInt128 => {
            let fits =
                number > -1.0 && number < 340_282_366_920_938_463_463_374_607_431_768_211_456.0;
            if checked && !fits {
                Err(Fault::Overflow)
            } else {
                Ok(Scalar::UInt128(number as u128))
            }
        }
        _ => return None,
    })
}

/// From a decimal an overflow is always an exception.
fn from_decimal(number: Decimal, to: Kind) -> Option<Result<Scalar, Fault>> {
    Some(match to {
        Kind::Float => Ok(Scalar::Float(number.to_f64() as f32)),
        Kind::Double => Ok(Scalar::Double(number.to_f64())),
        Kind::Half => Ok(Scalar::Half(half::from_f64(number.to_f64()))),
        _ => match number.truncate() {
            Some(whole) => from_integer(whole, to, true)?.map_err(|_| Fault::Unfit(to)),
            None => Err(Fault::Unfit(to)),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expressions::scalar::text;

    #[track_caller]
    fn check(value: Scalar, to: Kind, checked: bool, expected: &str) {
        let result = convert(&value, to, checked).expect("numeric");
        let shown = result.map_or_else(|fault| format!("{fault:?}"), |it| text(&it));
        assert_eq!(shown, expected, "{value:?} to {to:?}");
    }

    #[test]
    fn integers() {
        check(Scalar::Int(Kind::Int, 300), Kind::Byte, false, "44");
        check(Scalar::Int(Kind::Int, 300), Kind::Byte, true, "Overflow");
        check(
            Scalar::Int(Kind::Int, -1),
            Kind::ULong,
            false,
            "18446744073709551615",
        );
        check(Scalar::Int(Kind::Int, -1), Kind::Char, false, "\u{ffff}");
        check(
            Scalar::Int128(-1),
            Kind::UInt128,
            false,
            "340282366920938463463374607431768211455",
        );
    }

    #[test]
    fn floating_point() {
        check(Scalar::Double(300.7), Kind::Byte, false, "44");
        check(Scalar::Double(1e20), Kind::Int, false, "2147483647");
        check(Scalar::Double(1e20), Kind::Int, true, "Overflow");
        check(Scalar::Double(-1.5), Kind::UInt, false, "0");
        check(Scalar::Double(f64::NAN), Kind::Int, false, "0");
        check(
            Scalar::Double(2_147_483_647.9),
            Kind::Int,
            true,
            "2147483647",
        );
        check(Scalar::Double(0.1), Kind::Float, false, "0.1");
        check(
            Scalar::Float(0.1),
            Kind::Double,
            false,
            "0.10000000149011612",
        );
        check(Scalar::Float(0.1), Kind::Decimal, false, "0.1");
    }

    #[test]
    fn decimals() {
        let number = Decimal::from_f64(-2.9, 15).expect("in range");
        check(Scalar::Decimal(number), Kind::Int, false, "-2");
        check(Scalar::Decimal(number), Kind::UInt, false, "Unfit(UInt)");
        check(Scalar::Decimal(number), Kind::Double, false, "-2.9");
    }

    #[test]
    fn constants() {
        let int = |value| Scalar::Int(Kind::Int, value);
        assert!(constant_fits(&int(255), Kind::Byte));
        assert!(!constant_fits(&int(256), Kind::Byte));
        assert!(!constant_fits(&int(65), Kind::Char));
        assert!(constant_fits(&int(1), Kind::ULong));
        assert!(!constant_fits(&int(-1), Kind::ULong));
        assert!(constant_fits(&Scalar::Int(Kind::Long, 1), Kind::ULong));
        assert!(!constant_fits(&Scalar::Int(Kind::Long, 1), Kind::Int));
    }
}
