//! Parts of dates and times, and their comparison: they are numbers of ticks or days.

use std::cmp::Ordering;

use syntax::Span;

use super::{Result, Runner, Val};
use crate::expressions::scalar::{Kind, Scalar};
use crate::types::Type;

pub(super) const MILLISECOND: i128 = 10_000;
pub(super) const SECOND: i128 = 1000 * MILLISECOND;
pub(super) const MINUTE: i128 = 60 * SECOND;
pub(super) const HOUR: i128 = 60 * MINUTE;
pub(super) const DAY: i128 = 24 * HOUR;

impl Runner<'_, '_> {
    /// A member of `DateTime`, `DateOnly`, `TimeOnly` or `TimeSpan`.
    pub(super) fn time_member(
        &mut self,
        ty: &str,
        name: &str,
        target: Option<(&Val, &Type)>,
        arguments: &[Val],
        span: Span,
    ) -> Result<Option<Val>> {
        let target = target.map(|(value, _)| value.clone());
        let all = target.into_iter().chain(arguments.iter().cloned());
        let mut numbers = Vec::new();
        for value in all {
            match self.ticks(&value, span)? {
                Some(number) => numbers.push(number),
                None => return Ok(None),
            }
        }
        Ok(match numbers.as_slice() {
            [number] => part(ty, name, *number),
            [one, other] => compared(name, one.cmp(other)),
            _ => None,
        })
    }
}

pub(super) fn compared(name: &str, order: Ordering) -> Option<Val> {
    Some(Val::bool(match name {
        "op_Equality" | "Equals" => order.is_eq(),
        "op_Inequality" => order.is_ne(),
        "op_LessThan" => order.is_lt(),
        "op_LessThanOrEqual" => order.is_le(),
        "op_GreaterThan" => order.is_gt(),
        "op_GreaterThanOrEqual" => order.is_ge(),
        "CompareTo" | "Compare" => return Some(Val::int(order as i128)),
        _ => return None,
    }))
}

pub(super) fn part(ty: &str, name: &str, number: i128) -> Option<Val> {
    let long = |value| Some(Val::Scalar(Scalar::Int(Kind::Long, value)));
    let ratio = |unit: i128| Some(Val::Scalar(Scalar::Double(number as f64 / unit as f64)));
    let days = if ty == "System.DateOnly" {
        number
    } else {
        number / DAY
    };
    Some(Val::int(match name {
        "get_Ticks" => return long(number),
        "get_DayNumber" => days,
        "get_Days" => days,
        "get_Hour" | "get_Hours" => number / HOUR % 24,
        "get_Minute" | "get_Minutes" => number / MINUTE % 60,
        "get_Second" | "get_Seconds" => number / SECOND % 60,
        "get_Millisecond" | "get_Milliseconds" => number / MILLISECOND % 1000,
        "get_DayOfWeek" => (days + 1) % 7,
        "get_Year" => date(days).0,
        "get_Month" => date(days).1,
        "get_Day" => date(days).2,
        "get_DayOfYear" => days - first_day(date(days).0) + 1,
        "get_TotalDays" => return ratio(DAY),
        "get_TotalHours" => return ratio(HOUR),
        "get_TotalMinutes" => return ratio(MINUTE),
        "get_TotalSeconds" => return ratio(SECOND),
        // The framework keeps this one within what a whole number of them can be.
        "get_TotalMilliseconds" => {
            let limit = |ticks: i64| (i128::from(ticks) / MILLISECOND) as f64;
            let ratio = number as f64 / MILLISECOND as f64;
            let ratio = ratio.clamp(limit(i64::MIN), limit(i64::MAX));
            return Some(Val::Scalar(Scalar::Double(ratio)));
        }
        _ => return None,
    }))
}

/// The number of the first day of a year.
pub(super) fn first_day(year: i128) -> i128 {
    let past = year - 1;
    past * 365 + past / 4 - past / 100 + past / 400
}

/// Year, month and day of a day that is counted from the first one of year 1.
pub(super) fn date(days: i128) -> (i128, i128, i128) {
    // The average year is a bit longer than 365 days.
    let mut year = days * 400 / 146_097 + 1;
    while first_day(year + 1) <= days {
        year += 1;
    }
    while first_day(year) > days {
        year -= 1;
    }
    let is_leap = first_day(year + 1) - first_day(year) == 366;
    let february = if is_leap { 29 } else { 28 };
    let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut day = days - first_day(year);
    let mut month = 1;
    for length in lengths {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    (year, month, day + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), (1, 1, 1));
        assert_eq!(date(first_day(2024) + 59), (2024, 2, 29));
        assert_eq!(date(first_day(2024) + 365), (2024, 12, 31));
        assert_eq!(date(first_day(1900) + 59), (1900, 3, 1));
        assert_eq!(date(first_day(10_000) - 1), (9999, 12, 31));
        for days in 0..800_000 {
            let (year, month, day) = date(days);
            assert!((1..=12).contains(&month) && (1..=31).contains(&day));
            assert!(first_day(year) <= days && days < first_day(year + 1));
        }
    }
}
