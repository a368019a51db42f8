//! The predefined operators of C#: which one is chosen, and what it gives (C# 12.4.7, 12.9 to 12.14).

use std::cmp::Ordering;

use syntax::tree::{BinaryOp, UnaryOp};

use super::{Decimal, Fault, Kind, Scalar, constant_fits, half, implicit_numeric};

/// An operand as the choice of an operator sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operand<'a> {
    /// Its type.
    pub(crate) kind: Kind,
    /// Its value, if it is a constant.
    pub(crate) constant: Option<&'a Scalar>,
}

impl Operand<'_> {
    fn converts_to(self, to: Kind) -> bool {
        implicit_numeric(self.kind, to) || self.constant.is_some_and(|it| constant_fits(it, to))
    }
}

/// Why no operator fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoOperator {
    /// CS0019 and CS0023.
    None,
    /// CS0034 and CS0035.
    Ambiguous,
}

const ARITHMETIC: [Kind; 9] = [
    Kind::Int,
    Kind::UInt,
    Kind::Long,
    Kind::ULong,
    Kind::NInt,
    Kind::NUInt,
    Kind::Float,
    Kind::Double,
    Kind::Decimal,
];
const INTEGRAL: [Kind; 6] = [
    Kind::Int,
    Kind::UInt,
    Kind::Long,
    Kind::ULong,
    Kind::NInt,
    Kind::NUInt,
];

/// The type that both operands of a predefined operator are converted to; for a shift, the left one.
pub(crate) fn operand_kind(
    op: BinaryOp,
    left: Operand<'_>,
    right: Operand<'_>,
) -> Result<Kind, NoOperator> {
    use BinaryOp as B;
    match op {
        B::ConditionalAnd | B::ConditionalOr => {
            return if left.kind == Kind::Bool && right.kind == Kind::Bool {
                Ok(Kind::Bool)
            } else {
                Err(NoOperator::None)
            };
        }
        B::ShiftLeft | B::ShiftRight | B::UnsignedShiftRight => {
            return if right.converts_to(Kind::Int) {
                best(&INTEGRAL, &[left])
            } else {
                Err(NoOperator::None)
            };
        }
        B::Coalesce => return Err(NoOperator::None),
        _ => {}
    }
    let same = left.kind == right.kind;
    match (op, left.kind) {
        (B::Equal | B::NotEqual | B::And | B::Or | B::Xor, Kind::Bool) if same => {
            return Ok(Kind::Bool);
        }
        (B::Equal | B::NotEqual, Kind::String) if same => return Ok(Kind::String),
        (B::And | B::Or | B::Xor, _) => return best(&INTEGRAL, &[left, right]),
        _ => {}
    }
    best(&ARITHMETIC, &[left, right])
}

/// The type that the operand of a predefined operator is converted to.
pub(crate) fn unary_kind(op: UnaryOp, operand: Operand<'_>) -> Result<Kind, NoOperator> {
    const SIGNED: [Kind; 6] = [
        Kind::Int,
        Kind::Long,
        Kind::NInt,
        Kind::Float,
        Kind::Double,
        Kind::Decimal,
    ];
    match op {
        UnaryOp::Not if operand.kind == Kind::Bool => Ok(Kind::Bool),
        UnaryOp::Plus => best(&ARITHMETIC, &[operand]),
        // There is none for ulong, though it converts to float.
        UnaryOp::Minus if matches!(operand.kind, Kind::ULong | Kind::NUInt) => {
            Err(NoOperator::None)
        }
        UnaryOp::Minus => best(&SIGNED, &[operand]),
        UnaryOp::Complement => best(&INTEGRAL, &[operand]),
        _ => Err(NoOperator::None),
    }
}

/// Overload resolution among operators whose operands have one type.
fn best(candidates: &[Kind], operands: &[Operand<'_>]) -> Result<Kind, NoOperator> {
    let applicable = |to: Kind| operands.iter().all(|it| it.converts_to(to));
    let applicable: Vec<Kind> = candidates
        .iter()
        .copied()
        .filter(|it| applicable(*it))
        .collect();
    let beats = |one: Kind, other: Kind| {
        let orders: Vec<Ordering> = operands
            .iter()
            .map(|operand| better_conversion(operand.kind, one, other))
            .collect();
        orders.contains(&Ordering::Greater) && !orders.contains(&Ordering::Less)
    };
    let winner = applicable.iter().copied().find(|one| {
        applicable
            .iter()
            .all(|other| other == one || beats(*one, *other))
    });
    match winner {
        Some(kind) => Ok(kind),
        None if applicable.is_empty() => Err(NoOperator::None),
        None => Err(NoOperator::Ambiguous),
    }
}

/// Which target is better for an operand of type `from` (C# 12.6.4.5 to 12.6.4.7); `Greater` if it is `one`.
fn better_conversion(from: Kind, one: Kind, other: Kind) -> Ordering {
    match (from == one, from == other) {
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        _ => {}
    }
    better_target(one, other)
}

/// Which of two types is the better target of a conversion; `Greater` if it is `one`.
fn better_target(one: Kind, other: Kind) -> Ordering {
    match (implicit_numeric(one, other), implicit_numeric(other, one)) {
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        _ => {}
    }
    match (one.is_integral(), other.is_integral()) {
        (true, true) if one.is_signed() && !other.is_signed() => Ordering::Greater,
        (true, true) if !one.is_signed() && other.is_signed() => Ordering::Less,
        _ => Ordering::Equal,
    }
}

/// Computes; both operands have the type that [`operand_kind`] chose, the right one of a shift is an `int`.
///
/// `None` if the operator does not exist for the type, which the choice excludes.
pub(crate) fn binary(
    op: BinaryOp,
    left: &Scalar,
    right: &Scalar,
    checked: bool,
) -> Option<Result<Scalar, Fault>> {
    use BinaryOp as B;
    if let Some(order) = comparison(op, left, right) {
        return Some(Ok(Scalar::Bool(order)));
    }
    Some(match (left, right) {
        (Scalar::Bool(left), Scalar::Bool(right)) => Ok(Scalar::Bool(match op {
            B::And | B::ConditionalAnd => left & right,
            B::Or | B::ConditionalOr => left | right,
            B::Xor => left ^ right,
            _ => return None,
        })),
        (Scalar::Int(kind, left), Scalar::Int(_, right)) => {
            integer(op, *kind, *left, *right, checked)?
        }
        (Scalar::Int128(left), Scalar::Int(_, count)) => Ok(Scalar::Int128(match op {
            B::ShiftLeft => left.wrapping_shl(*count as u32),
            B::ShiftRight => left.wrapping_shr(*count as u32),
            B::UnsignedShiftRight => (*left as u128).wrapping_shr(*count as u32) as i128,
            _ => return None,
        })),
        (Scalar::UInt128(left), Scalar::Int(_, count)) => Ok(Scalar::UInt128(match op {
            B::ShiftLeft => left.wrapping_shl(*count as u32),
            B::ShiftRight | B::UnsignedShiftRight => left.wrapping_shr(*count as u32),
            _ => return None,
        })),
        (Scalar::Int128(left), Scalar::Int128(right)) => wide_signed(op, *left, *right, checked)?,
        (Scalar::UInt128(left), Scalar::UInt128(right)) => {
            wide_unsigned(op, *left, *right, checked)?
        }
        (Scalar::Float(left), Scalar::Float(right)) => Ok(Scalar::Float(match op {
            B::Add => left + right,
            B::Subtract => left - right,
            B::Multiply => left * right,
            B::Divide => left / right,
            B::Remainder => left % right,
            _ => return None,
        })),
        (Scalar::Double(left), Scalar::Double(right)) => {
            Ok(Scalar::Double(float(op, *left, *right)?))
        }
        (Scalar::Half(left), Scalar::Half(right)) => {
            let (left, right) = (half::to_f32(*left), half::to_f32(*right));
            let exact = float(op, f64::from(left), f64::from(right))?;
            // As in the framework: rounded to float, then to half.
            Ok(Scalar::Half(half::from_f64(f64::from(exact as f32))))
        }
        (Scalar::Decimal(left), Scalar::Decimal(right)) => {
            decimal(op, *left, *right)?.map(Scalar::Decimal)
        }
        (Scalar::String(left), Scalar::String(right)) if op == B::Add => Ok(Scalar::String(
            left.iter().chain(right.iter()).copied().collect(),
        )),
        _ => return None,
    })
}

/// The answer of a comparison; `None` if `op` is none, or the types do not fit.
fn comparison(op: BinaryOp, left: &Scalar, right: &Scalar) -> Option<bool> {
    use BinaryOp as B;
    if left.kind() != right.kind() {
        return None;
    }
    let order = match (left, right) {
        (Scalar::Bool(left), Scalar::Bool(right)) => Some(left.cmp(right)),
        (Scalar::Int(_, left), Scalar::Int(_, right)) => Some(left.cmp(right)),
        (Scalar::Int128(left), Scalar::Int128(right)) => Some(left.cmp(right)),
        (Scalar::UInt128(left), Scalar::UInt128(right)) => Some(left.cmp(right)),
        (Scalar::Half(left), Scalar::Half(right)) => {
            half::to_f32(*left).partial_cmp(&half::to_f32(*right))
        }
        (Scalar::Float(left), Scalar::Float(right)) => left.partial_cmp(right),
        (Scalar::Double(left), Scalar::Double(right)) => left.partial_cmp(right),
        (Scalar::Decimal(left), Scalar::Decimal(right)) => Some(left.cmp(right)),
        (Scalar::String(left), Scalar::String(right)) if matches!(op, B::Equal | B::NotEqual) => {
            Some(left.cmp(right))
        }
        _ => return None,
    };
    Some(match op {
        B::Equal => order == Some(Ordering::Equal),
        B::NotEqual => order != Some(Ordering::Equal),
        B::Less => order == Some(Ordering::Less),
        B::Greater => order == Some(Ordering::Greater),
        B::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        B::GreaterOrEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        _ => return None,
    })
}

fn integer(
    op: BinaryOp,
    kind: Kind,
    left: i128,
    right: i128,
    checked: bool,
) -> Option<Result<Scalar, Fault>> {
    use BinaryOp as B;
    let bits = kind.size() as u32 * 8;
    let count = right as u32 & (bits - 1);
    let (value, may_overflow) = match op {
        B::Add => (left + right, checked),
        B::Subtract => (left - right, checked),
        // The product of two 64-bit numbers may not fit; its low bits are right all the same.
        B::Multiply => match left.checked_mul(right) {
            Some(product) => (product, checked),
            None if checked => return Some(Err(Fault::Overflow)),
            None => (left.wrapping_mul(right), false),
        },
        B::Divide | B::Remainder if right == 0 => return Some(Err(Fault::DivideByZero)),
        // The processor overflows whether it is checked or not, even for the remainder.
        B::Divide => (left / right, true),
        B::Remainder if right == -1 && Some(left) == kind.range().map(|(min, _)| min) => {
            return Some(Err(Fault::Overflow));
        }
        B::Remainder => (left % right, false),
        B::And => (left & right, false),
        B::Or => (left | right, false),
        B::Xor => (left ^ right, false),
        B::ShiftLeft => (left.wrapping_shl(count), false),
        B::ShiftRight => (left >> count, false),
        B::UnsignedShiftRight => {
            let unsigned = left & ((1 << bits) - 1);
            (unsigned >> count, false)
        }
        _ => return None,
    };
    let wrapped = kind.wrap(value);
    Some(if may_overflow && wrapped != value {
        Err(Fault::Overflow)
    } else {
        Ok(Scalar::Int(kind, wrapped))
    })
}

fn wide_signed(
    op: BinaryOp,
    left: i128,
    right: i128,
    checked: bool,
) -> Option<Result<Scalar, Fault>> {
    use BinaryOp as B;
    let (value, overflow) = match op {
        B::Add => left.overflowing_add(right),
        B::Subtract => left.overflowing_sub(right),
        B::Multiply => left.overflowing_mul(right),
        B::Divide | B::Remainder if right == 0 => return Some(Err(Fault::DivideByZero)),
        B::Divide if left == i128::MIN && right == -1 => return Some(Err(Fault::Overflow)),
        B::Divide => (left / right, false),
        B::Remainder => (left.wrapping_rem(right), false),
        B::And => (left & right, false),
        B::Or => (left | right, false),
        B::Xor => (left ^ right, false),
        _ => return None,
    };
    Some(if checked && overflow {
        Err(Fault::Overflow)
    } else {
        Ok(Scalar::Int128(value))
    })
}

fn wide_unsigned(
    op: BinaryOp,
    left: u128,
    right: u128,
    checked: bool,
) -> Option<Result<Scalar, Fault>> {
    use BinaryOp as B;
    let (value, overflow) = match op {
        B::Add => left.overflowing_add(right),
        B::Subtract => left.overflowing_sub(right),
        B::Multiply => left.overflowing_mul(right),
        B::Divide | B::Remainder if right == 0 => return Some(Err(Fault::DivideByZero)),
        B::Divide => (left / right, false),
        B::Remainder => (left % right, false),
        B::And => (left & right, false),
        B::Or => (left | right, false),
        B::Xor => (left ^ right, false),
        _ => return None,
    };
    Some(if checked && overflow {
        Err(Fault::Overflow)
    } else {
        Ok(Scalar::UInt128(value))
    })
}

fn float(op: BinaryOp, left: f64, right: f64) -> Option<f64> {
    Some(match op {
        BinaryOp::Add => left + right,
        BinaryOp::Subtract => left - right,
        BinaryOp::Multiply => left * right,
        BinaryOp::Divide => left / right,
        BinaryOp::Remainder => left % right,
        _ => return None,
    })
}

fn decimal(op: BinaryOp, left: Decimal, right: Decimal) -> Option<Result<Decimal, Fault>> {
    Some(match op {
        BinaryOp::Add => left.add(right),
        BinaryOp::Subtract => left.add(right.negate()),
        BinaryOp::Multiply => left.multiply(right),
        BinaryOp::Divide => left.divide(right),
        BinaryOp::Remainder => left.remainder(right),
        _ => return None,
    })
}

/// Computes; the operand has the type that [`unary_kind`] chose.
pub(crate) fn unary(op: UnaryOp, operand: &Scalar, checked: bool) -> Option<Result<Scalar, Fault>> {
    Some(match (op, operand) {
        (UnaryOp::Not, Scalar::Bool(value)) => Ok(Scalar::Bool(!value)),
        (UnaryOp::Plus, _) => Ok(operand.clone()),
        (UnaryOp::Minus, Scalar::Int(kind, value)) => {
            let wrapped = kind.wrap(-value);
            if checked && wrapped != -value {
                Err(Fault::Overflow)
            } else {
                Ok(Scalar::Int(*kind, wrapped))
            }
        }
        (UnaryOp::Minus, Scalar::Float(value)) => Ok(Scalar::Float(-value)),
        (UnaryOp::Minus, Scalar::Double(value)) => Ok(Scalar::Double(-value)),
        (UnaryOp::Minus, Scalar::Decimal(value)) => Ok(Scalar::Decimal(value.negate())),
        (UnaryOp::Minus, Scalar::Half(bits)) => Ok(Scalar::Half(bits ^ 0x8000)),
        (UnaryOp::Minus, Scalar::Int128(value)) => match value.checked_neg() {
            Some(value) => Ok(Scalar::Int128(value)),
            None if checked => Err(Fault::Overflow),
            None => Ok(Scalar::Int128(*value)),
        },
        (UnaryOp::Minus, Scalar::UInt128(value)) if checked && *value != 0 => Err(Fault::Overflow),
        (UnaryOp::Minus, Scalar::UInt128(value)) => Ok(Scalar::UInt128(value.wrapping_neg())),
        (UnaryOp::Complement, Scalar::Int(kind, value)) => {
            Ok(Scalar::Int(*kind, kind.wrap(!value)))
        }
        (UnaryOp::Complement, Scalar::Int128(value)) => Ok(Scalar::Int128(!value)),
        (UnaryOp::Complement, Scalar::UInt128(value)) => Ok(Scalar::UInt128(!value)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expressions::scalar::{convert, text};

    fn of(kind: Kind) -> Operand<'static> {
        Operand {
            kind,
            constant: None,
        }
    }

    #[track_caller]
    fn chosen(op: BinaryOp, left: Kind, right: Kind, expected: Result<Kind, NoOperator>) {
        assert_eq!(operand_kind(op, of(left), of(right)), expected);
    }

    #[test]
    fn promotions() {
        use Kind::*;
        chosen(BinaryOp::Add, Byte, Byte, Ok(Int));
        chosen(BinaryOp::Add, Char, Short, Ok(Int));
        chosen(BinaryOp::Add, Int, UInt, Ok(Long));
        chosen(BinaryOp::Add, UInt, UInt, Ok(UInt));
        chosen(BinaryOp::Add, Int, NInt, Ok(NInt));
        chosen(BinaryOp::Add, UInt, NInt, Ok(Long));
        chosen(BinaryOp::Add, Long, Float, Ok(Float));
        chosen(BinaryOp::Add, Float, Double, Ok(Double));
        chosen(BinaryOp::Add, Decimal, Int, Ok(Decimal));
        chosen(BinaryOp::Add, Decimal, Double, Err(NoOperator::None));
        chosen(BinaryOp::Add, ULong, Int, Err(NoOperator::Ambiguous));
        chosen(BinaryOp::And, Bool, Bool, Ok(Bool));
        chosen(BinaryOp::And, Float, Int, Err(NoOperator::None));
        chosen(BinaryOp::ShiftLeft, Byte, Int, Ok(Int));
        chosen(BinaryOp::ShiftLeft, Int, Long, Err(NoOperator::None));
        chosen(BinaryOp::Equal, String, String, Ok(String));
    }

    #[test]
    fn a_constant_may_fit_better() {
        let one = Scalar::Int(Kind::Int, 1);
        let constant = Operand {
            kind: Kind::Int,
            constant: Some(&one),
        };
        assert_eq!(
            operand_kind(BinaryOp::Add, of(Kind::ULong), constant),
            Ok(Kind::ULong)
        );
        assert_eq!(
            operand_kind(BinaryOp::Add, of(Kind::UInt), constant),
            Ok(Kind::UInt)
        );
        assert_eq!(
            operand_kind(BinaryOp::Add, of(Kind::Byte), constant),
            Ok(Kind::Int)
        );
    }

    #[test]
    fn unary_promotions() {
        assert_eq!(unary_kind(UnaryOp::Minus, of(Kind::UInt)), Ok(Kind::Long));
        assert_eq!(
            unary_kind(UnaryOp::Minus, of(Kind::ULong)),
            Err(NoOperator::None)
        );
        assert_eq!(
            unary_kind(UnaryOp::Complement, of(Kind::Byte)),
            Ok(Kind::Int)
        );
        assert_eq!(unary_kind(UnaryOp::Plus, of(Kind::Char)), Ok(Kind::Int));
        assert_eq!(
            unary_kind(UnaryOp::Not, of(Kind::Int)),
            Err(NoOperator::None)
        );
    }

    #[track_caller]
    fn check(kind: Kind, left: i128, op: BinaryOp, right: i128, checked: bool, expected: &str) {
        let value = |it| convert(&Scalar::Int(Kind::Long, it), kind, false);
        let (left, right) = (value(left), value(right));
        let (left, right) = (left.expect("numeric"), right.expect("numeric"));
        let (left, right) = (left.expect("it fits"), right.expect("it fits"));
        let result = binary(op, &left, &right, checked).expect("the operator exists");
        let shown = result.map_or_else(|fault| format!("{fault:?}"), |it| text(&it));
        assert_eq!(shown, expected);
    }

    #[test]
    fn arithmetic() {
        use BinaryOp as B;
        check(
            Kind::Int,
            i128::from(i32::MAX),
            B::Add,
            1,
            false,
            "-2147483648",
        );
        check(Kind::Int, i128::from(i32::MAX), B::Add, 1, true, "Overflow");
        check(Kind::ULong, -1, B::Multiply, -1, false, "1");
        check(Kind::ULong, -1, B::Multiply, -1, true, "Overflow");
        check(
            Kind::Int,
            i128::from(i32::MIN),
            B::Divide,
            -1,
            false,
            "Overflow",
        );
        check(Kind::Int, 7, B::Divide, 0, false, "DivideByZero");
        check(Kind::Int, -7, B::Remainder, 3, false, "-1");
        check(Kind::Int, -7, B::Divide, 2, false, "-3");
        check(Kind::Int, 1, B::ShiftLeft, 33, false, "2");
        check(Kind::Int, -8, B::ShiftRight, 1, false, "-4");
        check(Kind::Int, -8, B::UnsignedShiftRight, 1, false, "2147483644");
        check(Kind::Long, -1, B::UnsignedShiftRight, 63, false, "1");
        check(Kind::Double, 1, B::Divide, 0, false, "Infinity");
        check(Kind::Decimal, 1, B::Divide, 0, false, "DivideByZero");
        check(Kind::Half, 1, B::Divide, 3, false, "0.3333");
        check(Kind::Double, 1, B::Less, 2, false, "True");
    }
}
