//! Members of numbers, characters and `Math`.

use std::cmp::Ordering;

use syntax::Span;
use syntax::tree::{BinaryOp, UnaryOp};

use super::plain;
use super::{Result, Runner, Val, format, integer, maths, thrown};
use crate::expressions::bind::well_known;
use crate::expressions::error::Fail;
use crate::expressions::plan::Callee;
use crate::expressions::scalar::{self, Kind, Scalar};
use crate::types::Type;

impl Runner<'_, '_> {
    pub(super) fn number_member(
        &mut self,
        name: &str,
        callee: &Callee,
        target: Option<(&Val, &Type)>,
        arguments: &[Val],
        span: Span,
    ) -> Result<Option<Val>> {
        let scalars: Vec<Scalar> = arguments
            .iter()
            .filter_map(|it| match it {
                Val::Scalar(value) => Some(value.clone()),
                Val::Boxed(_, inner) => match &**inner {
                    Val::Scalar(value) => Some(value.clone()),
                    _ => None,
                },
                _ => None,
            })
            .collect();
        if let Some((value, ty)) = target {
            let Val::Scalar(number) = value else {
                return Ok(None);
            };
            return Ok(match (name, scalars.as_slice()) {
                ("ToString", []) if arguments.is_empty() => {
                    self.plain_text(value, ty, span)?.map(Val::units)
                }
                ("ToString", [Scalar::String(format)]) => {
                    let format = String::from_utf16_lossy(format);
                    let is_ours = match arguments {
                        [_] | [_, Val::Null] => {
                            self.is_written_plainly(number, Some(&format), span)
                        }
                        [_, provider] => self.is_invariant_culture(provider),
                        _ => false,
                    };
                    let text = is_ours.then(|| format::number(number, &format)).flatten();
                    text.map(|it| Val::text(&it))
                }
                ("Equals", [other])
                    if matches!(arguments.first(), Some(Val::Scalar(_)))
                        && number.kind() == other.kind() =>
                {
                    Some(Val::bool(super::known::same_value(number, other)))
                }
                // Another type is never equal, whatever it holds; where the type says it itself, a number is converted.
                ("Equals", [other]) if matches!(arguments.first(), Some(Val::Boxed(..))) => {
                    Some(Val::bool(
                        number.kind() == other.kind() && super::known::same_value(number, other),
                    ))
                }
                ("GetHashCode", []) if arguments.is_empty() => {
                    return self.hash_code(value, ty, span);
                }
                ("CompareTo", [other])
                    if number.kind() == other.kind()
                        && !matches!(arguments, [Val::Boxed(boxed, _)] if boxed != ty) =>
                {
                    compare_to(number, other)
                }
                _ => None,
            });
        }
        if scalars.len() != arguments.len() {
            return Ok(None);
        }
        let binary = match name {
            "op_Addition" => Some(BinaryOp::Add),
            "op_Subtraction" => Some(BinaryOp::Subtract),
            "op_Multiply" => Some(BinaryOp::Multiply),
            "op_Division" => Some(BinaryOp::Divide),
            "op_Modulus" => Some(BinaryOp::Remainder),
            "op_BitwiseAnd" => Some(BinaryOp::And),
            "op_BitwiseOr" => Some(BinaryOp::Or),
            "op_ExclusiveOr" => Some(BinaryOp::Xor),
            "op_LeftShift" => Some(BinaryOp::ShiftLeft),
            "op_RightShift" => Some(BinaryOp::ShiftRight),
            "op_UnsignedRightShift" => Some(BinaryOp::UnsignedShiftRight),
            "op_Equality" => Some(BinaryOp::Equal),
            "op_Inequality" => Some(BinaryOp::NotEqual),
            "op_LessThan" => Some(BinaryOp::Less),
            "op_GreaterThan" => Some(BinaryOp::Greater),
            "op_LessThanOrEqual" => Some(BinaryOp::LessOrEqual),
            "op_GreaterThanOrEqual" => Some(BinaryOp::GreaterOrEqual),
            _ => None,
        };
        let unary = match name {
            "op_UnaryNegation" => Some(UnaryOp::Minus),
            "op_UnaryPlus" => Some(UnaryOp::Plus),
            "op_OnesComplement" => Some(UnaryOp::Complement),
            _ => None,
        };
        if let ([one], "op_Increment" | "op_Decrement") = (scalars.as_slice(), name) {
            let op = match name {
                "op_Increment" => BinaryOp::Add,
                _ => BinaryOp::Subtract,
            };
            let step = scalar::convert(&Scalar::Int(Kind::Int, 1), one.kind(), false);
            let Some(Ok(step)) = step else {
                return Ok(None);
            };
            return match scalar::binary(op, one, &step, callee.checked) {
                Some(Ok(value)) => Ok(Some(Val::Scalar(value))),
                Some(Err(fault)) => Err(thrown(fault, span)),
                None => Ok(None),
            };
        }
        Ok(match (scalars.as_slice(), binary, unary) {
            ([a, b], Some(op), _) => match scalar::binary(op, a, b, callee.checked) {
                Some(Ok(value)) => Some(Val::Scalar(value)),
                Some(Err(fault)) => return Err(thrown(fault, span)),
                None => None,
            },
            ([a], _, Some(op)) => match scalar::unary(op, a, callee.checked) {
                Some(Ok(value)) => Some(Val::Scalar(value)),
                Some(Err(fault)) => return Err(thrown(fault, span)),
                None => None,
            },
            ([value], ..) if let Some(told) = plain::of_number(name, value) => {
                Some(Val::Scalar(told))
            }
            ([Scalar::Decimal(_), ..], ..)
                if matches!(name, "Round" | "Floor" | "Ceiling" | "Truncate") =>
            {
                return self.math(name, callee, arguments, span);
            }
            ([a @ Scalar::Decimal(_), b], ..) if name == "Compare" => {
                compare(a, b).map(|it| Val::int(it as i128))
            }
            ([value], ..) => match name {
                "IsNaN" => float(value).map(|it| Val::bool(it.is_nan())),
                "IsInfinity" => float(value).map(|it| Val::bool(it.is_infinite())),
                "IsNegative" => float(value).map(|it| Val::bool(it.is_sign_negative())),
                "op_Implicit" | "op_Explicit" => {
                    let to = well_known::kind(self.types, &callee.method.returns);
                    match to.and_then(|kind| scalar::convert(value, kind, callee.checked)) {
                        Some(Ok(value)) => Some(Val::Scalar(value)),
                        Some(Err(fault)) => return Err(thrown(fault, span)),
                        None => None,
                    }
                }
                _ => None,
            },
            _ => None,
        })
    }

    /// The places and the `MidpointRounding` that a call of `Round` has behind the number.
    fn rounding(&self, callee: &Callee, rest: &[&Scalar]) -> (i128, i128) {
        let (mut places, mut mode) = (0, 0);
        for (parameter, given) in callee.method.parameters.iter().skip(1).zip(rest) {
            let number = given.integer().unwrap_or(-1);
            match parameter.ty == Type::INT {
                true => places = number,
                false => mode = number,
            }
        }
        (places, mode)
    }

    pub(super) fn math(
        &mut self,
        name: &str,
        callee: &Callee,
        arguments: &[Val],
        span: Span,
    ) -> Result<Option<Val>> {
        let scalars: Option<Vec<&Scalar>> = arguments
            .iter()
            .map(|it| match it {
                Val::Scalar(value) => Some(value),
                _ => None,
            })
            .collect();
        let Some(scalars) = scalars else {
            return Ok(None);
        };
        let real = |f: fn(f64) -> f64, value: &Scalar| match value {
            Scalar::Double(number) => Some(Val::Scalar(Scalar::Double(f(*number)))),
            // These are exact, so that the wider number gives the same.
            Scalar::Float(number) => {
                let rounded = f(f64::from(*number)) as f32;
                Some(Val::Scalar(Scalar::Float(rounded)))
            }
            _ => None,
        };
        Ok(match (name, scalars.as_slice()) {
            ("Max" | "Min", [a, b]) => {
                let nan = [a, b]
                    .into_iter()
                    .find(|it| float(it).is_some_and(f64::is_nan));
                if let Some(nan) = nan {
                    return Ok(Some(Val::Scalar((*nan).clone())));
                }
                let Some(order) = compare(a, b) else {
                    return Ok(None);
                };
                // Equal decimals may be written differently: the framework takes this one.
                if order == Ordering::Equal && matches!(a, Scalar::Decimal(_)) {
                    let taken = if name == "Max" { a } else { b };
                    return Ok(Some(Val::Scalar((*taken).clone())));
                }
                // Zeros have signs, which count here.
                if order == Ordering::Equal && float(a).is_some() {
                    let first = float(a).is_some_and(|it| it.is_sign_negative()) == (name == "Min");
                    return Ok(Some(Val::Scalar(if first {
                        (*a).clone()
                    } else {
                        (*b).clone()
                    })));
                }
                let first = (order == Ordering::Greater) == (name == "Max");
                Some(Val::Scalar(if first { (*a).clone() } else { (*b).clone() }))
            }
            ("Abs", [value]) => match value {
                Scalar::Int(kind, number) => {
                    let positive = number.abs();
                    if kind.wrap(positive) != positive {
                        let told =
                            "Negating the minimum value of a twos complement number is invalid.";
                        let ty = "System.OverflowException";
                        return Err(Fail::thrown(span, ty, Some(told.into())).into());
                    }
                    Some(Val::Scalar(Scalar::Int(*kind, positive)))
                }
                Scalar::Double(number) => Some(Val::Scalar(Scalar::Double(number.abs()))),
                Scalar::Float(number) => Some(Val::Scalar(Scalar::Float(number.abs()))),
                Scalar::Decimal(number) if *number < scalar::Decimal::ZERO => {
                    Some(Val::Scalar(Scalar::Decimal(number.negate())))
                }
                Scalar::Decimal(_) => Some(Val::Scalar((*value).clone())),
                _ => None,
            },
            ("Sqrt", [value]) => real(f64::sqrt, value),
            ("Round" | "Floor" | "Ceiling" | "Truncate", [Scalar::Decimal(number), rest @ ..])
                if rest.len() + 1 == arguments.len() =>
            {
                let (places, mode) = self.rounding(callee, rest);
                let rounded = plain::of_decimal(name, *number, places, mode);
                rounded.map(|it| Val::Scalar(Scalar::Decimal(it)))
            }
            ("CopySign", [Scalar::Double(number), Scalar::Double(sign)]) => {
                Some(Val::Scalar(Scalar::Double(number.copysign(*sign))))
            }
            ("CopySign", [Scalar::Float(number), Scalar::Float(sign)]) => {
                Some(Val::Scalar(Scalar::Float(number.copysign(*sign))))
            }
            ("BigMul", [Scalar::Int(Kind::Int, one), Scalar::Int(Kind::Int, other)]) => {
                Some(Val::Scalar(Scalar::Int(Kind::Long, one * other)))
            }
            ("Floor", [value]) => real(f64::floor, value),
            ("Ceiling", [value]) => real(f64::ceil, value),
            ("Truncate", [value]) => real(f64::trunc, value),
            ("Round", [value]) if arguments.len() == 1 => real(f64::round_ties_even, value),
            ("Round", [Scalar::Double(number), rest @ ..]) if rest.len() + 1 == arguments.len() => {
                let (places, mode) = self.rounding(callee, rest);
                if !(0..=15).contains(&places) {
                    return Ok(None);
                }
                let power = 10f64.powi(places as i32);
                let rounded = match (places, number.abs() < 1e16) {
                    (0, _) => plain::rounded(*number, mode),
                    (_, true) => plain::rounded(number * power, mode).map(|it| it / power),
                    (_, false) => Some(*number),
                };
                rounded.map(|it| Val::Scalar(Scalar::Double(it)))
            }
            ("Cbrt", [Scalar::Double(number)]) => match maths::is_shared(self.around.numbers.0) {
                true => cordebug::c_math::cbrt(*number).map(|it| Val::Scalar(Scalar::Double(it))),
                false => None,
            },
            (_, [Scalar::Double(number)]) if let Some(f) = maths::function(name) => {
                let is_same = maths::is_shared(self.around.numbers.0);
                is_same.then(|| Val::Scalar(Scalar::Double(f(*number))))
            }
            (_, [Scalar::Double(one), Scalar::Double(other)])
                if let Some(f) = maths::function_of_two(name) =>
            {
                let is_same = maths::is_shared(self.around.numbers.0);
                is_same.then(|| Val::Scalar(Scalar::Double(f(*one, *other))))
            }
            ("Sign", [value]) => match integer(&Val::Scalar((*value).clone())) {
                Some(number) => Some(Val::int(number.signum())),
                None => match float(value) {
                    Some(number) if !number.is_nan() => Some(Val::int(if number > 0.0 {
                        1
                    } else if number < 0.0 {
                        -1
                    } else {
                        0
                    })),
                    _ => None,
                },
            },
            // What is not a number is not compared as in an order.
            ("Clamp", all) if all.iter().any(|it| float(it).is_some_and(f64::is_nan)) => None,
            ("Clamp", [value, min, max]) => {
                match (compare(value, min), compare(value, max), compare(min, max)) {
                    (Some(low), Some(high), Some(Ordering::Less | Ordering::Equal)) => {
                        Some(Val::Scalar(if low == Ordering::Less {
                            (*min).clone()
                        } else if high == Ordering::Greater {
                            (*max).clone()
                        } else {
                            (*value).clone()
                        }))
                    }
                    _ => None,
                }
            }
            _ => None,
        })
    }

    pub(super) fn char_member(
        &mut self,
        name: &str,
        target: Option<(&Val, &Type)>,
        arguments: &[Val],
        span: Span,
    ) -> Result<Option<Val>> {
        if let Some((value, ty)) = target {
            return Ok(match (name, arguments) {
                ("ToString", []) => self.plain_text(value, ty, span)?.map(Val::units),
                ("GetHashCode", []) => self.hash_code(value, ty, span)?,
                ("Equals", [Val::Scalar(Scalar::Int(Kind::Char, other))]) => {
                    Some(Val::bool(integer(value) == Some(*other)))
                }
                ("CompareTo", [Val::Scalar(Scalar::Int(Kind::Char, other))]) => {
                    integer(value).map(|it| Val::int(it - other))
                }
                _ => None,
            });
        }
        let units: Option<Vec<i128>> = arguments.iter().map(integer).collect();
        let is_char = |it: &Val| matches!(it, Val::Scalar(Scalar::Int(Kind::Char, _)));
        if let Some(units) = units.filter(|_| arguments.iter().all(is_char))
            && let Some(told) = plain::of_char(name, &units)
        {
            return Ok(Some(Val::Scalar(told)));
        }
        let [Val::Scalar(Scalar::Int(Kind::Char, unit))] = arguments else {
            return Ok(None);
        };
        // Beyond ASCII the program's own tables decide.
        let Some(c) = u8::try_from(*unit)
            .ok()
            .map(char::from)
            .filter(char::is_ascii)
        else {
            return Ok(None);
        };
        let made = |c: char| Val::Scalar(Scalar::Int(Kind::Char, u32::from(c).into()));
        Ok(match name {
            "IsDigit" => Some(Val::bool(c.is_ascii_digit())),
            "IsLetter" => Some(Val::bool(c.is_ascii_alphabetic())),
            "IsLetterOrDigit" => Some(Val::bool(c.is_ascii_alphanumeric())),
            "IsWhiteSpace" => Some(Val::bool(matches!(c, ' ' | '\t'..='\r'))),
            "IsUpper" => Some(Val::bool(c.is_ascii_uppercase())),
            "IsLower" => Some(Val::bool(c.is_ascii_lowercase())),
            // The one letter of which languages are of different minds: `i` is `İ` in Turkish.
            "ToUpper" | "ToLower" if matches!(c, 'i' | 'I') && !self.has_plain_culture(span) => {
                None
            }
            "ToUpper" => Some(made(c.to_ascii_uppercase())),
            "ToLower" => Some(made(c.to_ascii_lowercase())),
            _ => None,
        })
    }
}

fn float(value: &Scalar) -> Option<f64> {
    match value {
        Scalar::Double(number) => Some(*number),
        Scalar::Float(number) => Some(f64::from(*number)),
        _ => None,
    }
}

/// What `CompareTo` of two numbers of one type gives: the small ones give the difference.
pub(super) fn compare_to(number: &Scalar, other: &Scalar) -> Option<Val> {
    let order = compare(number, other)?;
    let small = matches!(
        number.kind(),
        Kind::SByte | Kind::Byte | Kind::Short | Kind::UShort | Kind::Char
    );
    Some(match (small, number.integer(), other.integer()) {
        (true, Some(a), Some(b)) => Val::int(a - b),
        _ => Val::int(order as i128),
    })
}

/// How two numbers of one kind compare; NaN comes first.
pub(super) fn compare(a: &Scalar, b: &Scalar) -> Option<Ordering> {
    let holds = |op| {
        matches!(
            scalar::binary(op, a, b, false),
            Some(Ok(Scalar::Bool(true)))
        )
    };
    if let (Some(x), Some(y)) = (float(a), float(b)) {
        match (x.is_nan(), y.is_nan()) {
            (true, true) => return Some(Ordering::Equal),
            (true, false) => return Some(Ordering::Less),
            (false, true) => return Some(Ordering::Greater),
            _ => {}
        }
    }
    if holds(BinaryOp::Less) {
        Some(Ordering::Less)
    } else if holds(BinaryOp::Greater) {
        Some(Ordering::Greater)
    } else if holds(BinaryOp::Equal) {
        Some(Ordering::Equal)
    } else {
        None
    }
}
