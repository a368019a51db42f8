//! What the framework says when its members throw, for those that are computed here.

use syntax::Span;

use super::Interrupt;
use crate::expressions::error::Fail;
use crate::expressions::scalar::Kind;

/// Of numbers.
pub(super) const OVERFLOW: &str = "Arithmetic operation resulted in an overflow.";

const LARGER_THAN_LENGTH: &str = "startIndex cannot be larger than length of string.";

/// Of a number that is too large for a type.
pub(super) fn unfit(kind: Kind) -> &'static str {
    match kind {
        Kind::Decimal => "Value was either too large or too small for a Decimal.",
        Kind::Char => "Value was either too large or too small for a character.",
        Kind::SByte => "Value was either too large or too small for a signed byte.",
        Kind::Byte => "Value was either too large or too small for an unsigned byte.",
        Kind::Short => "Value was either too large or too small for an Int16.",
        Kind::UShort => "Value was either too large or too small for a UInt16.",
        Kind::Int => "Value was either too large or too small for an Int32.",
        Kind::UInt => "Value was either too large or too small for a UInt32.",
        Kind::Long => "Value was either too large or too small for an Int64.",
        Kind::ULong => "Value was either too large or too small for a UInt64.",
        _ => OVERFLOW,
    }
}

/// An argument that is out of range, for this reason.
pub(super) fn out_of_range(span: Span, message: &str, parameter: &str) -> Interrupt {
    let message = format!("{message} (Parameter '{parameter}')");
    Fail::thrown(span, "System.ArgumentOutOfRangeException", Some(message)).into()
}

/// An argument that must not be less than zero.
pub(super) fn negative(span: Span, parameter: &str, value: i128) -> Interrupt {
    let must = "must be a non-negative value.";
    let message = format!(
        "{parameter} ('{value}') {must} (Parameter '{parameter}')\nActual value was {value}."
    );
    Fail::thrown(span, "System.ArgumentOutOfRangeException", Some(message)).into()
}

/// An argument that must not be greater than this.
pub(super) fn too_large(span: Span, parameter: &str, value: i128, limit: i128) -> Interrupt {
    let must = format!("must be less than or equal to '{limit}'.");
    let message = format!(
        "{parameter} ('{value}') {must} (Parameter '{parameter}')\nActual value was {value}."
    );
    Fail::thrown(span, "System.ArgumentOutOfRangeException", Some(message)).into()
}

/// A part that a text of this length does not have.
pub(super) fn no_substring(span: Span, length: usize, start: i128, count: i128) -> Interrupt {
    if start < 0 {
        negative(span, "startIndex", start)
    } else if start > length as i128 {
        out_of_range(span, LARGER_THAN_LENGTH, "startIndex")
    } else if count < 0 {
        negative(span, "length", count)
    } else {
        let message = "Index and length must refer to a location within the string.";
        out_of_range(span, message, "length")
    }
}

/// A part that cannot be removed from a text of this length; without a count, all from the start on.
pub(super) fn not_removed(
    span: Span,
    length: usize,
    start: i128,
    count: Option<i128>,
) -> Interrupt {
    let Some(count) = count else {
        let message = match start < 0 {
            true => "StartIndex cannot be less than zero.",
            false => LARGER_THAN_LENGTH,
        };
        return out_of_range(span, message, "startIndex");
    };
    if start < 0 {
        negative(span, "startIndex", start)
    } else if count < 0 {
        negative(span, "count", count)
    } else {
        too_large(span, "count", count, length as i128 - start)
    }
}

/// A part of an array of letters that is not there to make a text of.
pub(super) fn no_letters(span: Span, length: usize, start: i128, count: i128) -> Interrupt {
    if start < 0 {
        negative(span, "startIndex", start)
    } else if count < 0 {
        negative(span, "length", count)
    } else {
        too_large(span, "startIndex", start, length as i128 - count)
    }
}
