//! `GetHashCode` of values of the framework, where it depends on nothing but the value, and of texts by the number that the
//! process has drawn for them.

use std::rc::Rc;

use syntax::Span;

use super::{Result, Runner, Val};
use crate::expressions::plan::FieldRef;
use crate::expressions::scalar::{Kind, Scalar};
use crate::types::Type;

impl Runner<'_, '_> {
    /// The hash code of a value whose static type is `ty`; `None` if only the program can tell it.
    pub(super) fn hash_code(&mut self, value: &Val, ty: &Type, span: Span) -> Result<Option<Val>> {
        if let Val::Null = value {
            let is_nullable = self.types.nullable_of(ty).is_some();
            return Ok(is_nullable.then(|| Val::int(0)));
        }
        if let Some(ticks) = self.ticks(value, span)? {
            let is_day = i32::try_from(ticks).is_ok() && self.is_called(value, "DateOnly");
            let hash = match is_day {
                true => ticks as i32,
                false => of_long(ticks as i64),
            };
            return Ok(Some(Val::int(hash.into())));
        }
        if let Val::Struct(place) = value
            && self.is_called(value, "Guid")
        {
            let bytes = self.reader.bytes(place, 16);
            let bytes = bytes.map_err(|why| self.unreadable(&why, span))?;
            let parts = bytes.chunks_exact(4).filter_map(|it| it.try_into().ok());
            let hash = parts.map(i32::from_le_bytes).fold(0, |all, it| all ^ it);
            return Ok(Some(Val::int(hash.into())));
        }
        let scalar = match self.as_scalar(value.clone(), span)? {
            Val::Scalar(scalar) => scalar,
            _ => return Ok(None),
        };
        let hash = match &scalar {
            Scalar::String(units) => self.seed(span).map(|seed| marvin(units, seed)),
            other => of_scalar(other),
        };
        Ok(hash.map(|it| Val::int(it.into())))
    }

    fn is_called(&self, value: &Val, name: &str) -> bool {
        let Val::Struct(place) = value else {
            return false;
        };
        let named = place.ty.as_named();
        named.is_some_and(|it| self.types.is_named(it, "System", name))
    }

    /// The number that the process has drawn for the hash codes of its texts, if it has asked for one.
    fn seed(&mut self, span: Span) -> Option<u64> {
        let class = self.types.core_named("System", "Marvin")?;
        let fields = self.types.fields(&class).ok()?;
        let field = fields.iter().find(|it| it.name.contains("DefaultSeed"))?;
        let field = FieldRef {
            declared_in: Rc::clone(&class),
            name: field.name.clone(),
            token: field.token,
            ty: field.ty.clone(),
        };
        match self.static_field(&field, span).ok()? {
            Val::Scalar(Scalar::Int(Kind::ULong, seed)) => u64::try_from(seed).ok(),
            _ => None,
        }
    }
}

fn of_long(value: i64) -> i32 {
    (value as i32) ^ ((value >> 32) as i32)
}

fn of_scalar(value: &Scalar) -> Option<i32> {
    Some(match value {
        Scalar::Bool(value) => (*value).into(),
        Scalar::Int(Kind::Char, unit) => (*unit as i32) | (*unit as i32) << 16,
        Scalar::Int(Kind::Long | Kind::NInt, number) => of_long(*number as i64),
        Scalar::Int(Kind::ULong | Kind::NUInt, number) => of_long(*number as u64 as i64),
        Scalar::Int(_, number) => *number as i32,
        // Both zeros, and whatever is not a number, have one hash code each.
        Scalar::Double(number) => {
            let bits = match *number == 0.0 || number.is_nan() {
                true => number.to_bits() & 0x7ff0_0000_0000_0000,
                false => number.to_bits(),
            };
            of_long(bits as i64)
        }
        Scalar::Float(number) => match *number == 0.0 || number.is_nan() {
            true => (number.to_bits() & 0x7f80_0000) as i32,
            false => number.to_bits() as i32,
        },
        Scalar::Decimal(number) => {
            let (mantissa, scale) = number.shortest();
            if number.is_zero() {
                return Some(0);
            }
            let sign = (mantissa >> 127) as u32;
            let mantissa = mantissa & (u128::MAX >> 1);
            let part = |by: u32| (mantissa >> by) as u32;
            let flags = sign << 31 | u32::from(scale) << 16;
            (flags ^ part(64) ^ part(32) ^ part(0)) as i32
        }
        _ => return None,
    })
}

/// Marvin32 over the bytes of a text.
fn marvin(units: &[u16], seed: u64) -> i32 {
    let (mut low, mut high) = (seed as u32, (seed >> 32) as u32);
    let mut mix = |number: u32| {
        low = low.wrapping_add(number);
        high ^= low;
        low = low.rotate_left(20).wrapping_add(high);
        high = high.rotate_left(9) ^ low;
        low = low.rotate_left(27).wrapping_add(high);
        high = high.rotate_left(19);
        low ^ high
    };
    let pairs = units.chunks_exact(2);
    // The end is marked by one bit behind it.
    let end = match pairs.remainder() {
        [unit] => 0x80_0000 | u32::from(*unit),
        _ => 0x80,
    };
    for pair in pairs {
        if let [first, second] = pair {
            mix(u32::from(*first) | u32::from(*second) << 16);
        }
    }
    mix(end);
    mix(0) as i32
}
