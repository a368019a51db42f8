//! Dates and times as texts in the invariant culture.

use syntax::Span;

use super::times::{DAY, HOUR, MINUTE, SECOND};
use super::{Result, Runner, Val};
use crate::types::Type;

const DAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
/// Whether a `DateTime` is one of UTC, in the bits that are not its ticks.
const UTC: u64 = 1;

/// A moment, as far as formats ask for it.
#[derive(Debug, Clone, Copy)]
struct Moment {
    ticks: i128,
    kind: u64,
}

impl Runner<'_, '_> {
    /// The text of a date or time in a format; `None` if the program is to tell it.
    pub(super) fn date_text(
        &mut self,
        value: &Val,
        format: Option<&str>,
        provider: Option<&Val>,
        span: Span,
    ) -> Result<Option<String>> {
        let Val::Struct(place) = value else {
            return Ok(None);
        };
        let ty = place.ty.clone();
        let Some(number) = self.ticks(value, span)? else {
            return Ok(None);
        };
        if self.is_core(&ty, "System", "TimeSpan") {
            return Ok(match format.unwrap_or("c") {
                "" | "c" | "t" | "T" => Some(duration(number)),
                _ => None,
            });
        }
        let is = |name: &str| self.is_core(&ty, "System", name);
        let (usual, takes) = if is("DateTime") {
            ("G", "")
        } else if is("DateOnly") {
            ("d", "HhmsfFtKz:")
        } else {
            ("t", "yMdgKz/")
        };
        let ticks = match takes {
            "HhmsfFtKz:" => number * DAY,
            _ => number,
        };
        let format = match format {
            None | Some("") => usual,
            Some(format) => format,
        };
        let Some(pattern) = pattern(format, takes) else {
            return Ok(None);
        };
        // Other letters than those of the parts would be literals of this type or an error.
        if pattern.chars().any(|it| takes.contains(it)) {
            return Ok(None);
        }
        let kind = self.date_kind(value, span)?;
        let told = told(&pattern, Moment { ticks, kind });
        let is_fixed =
            is_fixed(format, &pattern) || provider.is_some_and(|it| self.is_invariant_culture(it));
        match is_fixed || (provider.is_none() && self.has_invariant_dates(span)) {
            true => Ok(told),
            false => Ok(None),
        }
    }

    /// Of what kind a `DateTime` is: 0 if that is not said.
    fn date_kind(&mut self, value: &Val, span: Span) -> Result<u64> {
        let Val::Struct(place) = value else {
            return Ok(0);
        };
        if !self.is_core(&place.ty, "System", "DateTime") {
            return Ok(0);
        }
        let data = self.reader.field(place, "_dateData");
        let data = data.map_err(|why| self.unreadable(&why, span))?;
        let data = super::integer(&self.decode(&data, span)?).unwrap_or(0);
        Ok((data as u64) >> 62)
    }

    /// The text that `ToString` of a date or time gives with these arguments.
    pub(super) fn date_to_string(
        &mut self,
        target: Option<(&Val, &Type)>,
        arguments: &[Val],
        span: Span,
    ) -> Result<Option<Val>> {
        let Some((value, _)) = target else {
            return Ok(None);
        };
        let (mut format, mut provider) = (None, None);
        for argument in arguments {
            match self.string_of(argument, span)? {
                Some(text) => format = Some(String::from_utf16_lossy(&text)),
                None if matches!(argument, Val::Null) => return Ok(None),
                None => provider = Some(argument),
            }
        }
        let text = self.date_text(value, format.as_deref(), provider, span)?;
        Ok(text.map(|it| Val::text(&it)))
    }
}

/// The pattern that a standard format stands for in the invariant culture.
fn pattern(format: &str, takes: &str) -> Option<String> {
    let mut letters = format.chars();
    let (Some(letter), None) = (letters.next(), letters.next()) else {
        return Some(format.to_owned());
    };
    let is_date = takes == "HhmsfFtKz:";
    let is_time = takes == "yMdgKz/";
    Some(
        match letter {
            'd' => "MM/dd/yyyy",
            'D' => "dddd, dd MMMM yyyy",
            'f' => "dddd, dd MMMM yyyy HH:mm",
            'F' => "dddd, dd MMMM yyyy HH:mm:ss",
            'g' => "MM/dd/yyyy HH:mm",
            'G' => "MM/dd/yyyy HH:mm:ss",
            'm' | 'M' => "MMMM dd",
            'o' | 'O' if is_date => "yyyy-MM-dd",
            'o' | 'O' if is_time => "HH:mm:ss.fffffff",
            'o' | 'O' => "yyyy-MM-ddTHH:mm:ss.fffffffK",
            'r' | 'R' if is_date => "ddd, dd MMM yyyy",
            'r' | 'R' if is_time => "HH:mm:ss",
            'r' | 'R' => "ddd, dd MMM yyyy HH:mm:ss 'GMT'",
            's' if !is_date && !is_time => "yyyy-MM-ddTHH:mm:ss",
            't' => "HH:mm",
            'T' => "HH:mm:ss",
            'u' if !is_date && !is_time => "yyyy-MM-dd HH:mm:ss'Z'",
            'y' | 'Y' => "yyyy MMMM",
            _ => return None,
        }
        .to_owned(),
    )
}

/// Whether a format gives the same in all cultures: those of standards, and digits with signs that no culture has its own of.
fn is_fixed(format: &str, pattern: &str) -> bool {
    let is_standard = matches!(format, "o" | "O" | "r" | "R" | "s" | "u");
    let is_plain = format.len() > 1
        && pattern.chars().all(|it| {
            matches!(
                it,
                'y' | 'M' | 'd' | 'H' | 'm' | 's' | 'f' | '-' | '_' | ' ' | '.'
            )
        })
        && !["MMM", "ddd"].iter().any(|it| pattern.contains(it));
    // Years and months are those of a culture's own calendar.
    is_standard || is_plain && !pattern.contains(['y', 'M', 'd'])
}

/// A moment by a custom format; `None` if it has something that is not known here.
fn told(pattern: &str, moment: Moment) -> Option<String> {
    let Moment { ticks, kind } = moment;
    let (year, month, day) = super::times::date(ticks / DAY);
    let of_day = ticks % DAY;
    let hour = of_day / HOUR;
    let minute = of_day / MINUTE % 60;
    let second = of_day / SECOND % 60;
    let fraction = format!("{:07}", of_day % SECOND);
    let weekday = DAYS.get(((ticks / DAY + 1) % 7) as usize)?;
    let month_name = MONTHS.get(month as usize - 1)?;
    let mut told = String::new();
    let letters: Vec<char> = pattern.chars().collect();
    let mut at = 0;
    while let Some(&letter) = letters.get(at) {
        let count = letters[at..].iter().take_while(|it| **it == letter).count();
        let mut taken = count;
        match letter {
            'y' => match count {
                1 => told += &(year % 100).to_string(),
                2 => told += &format!("{:02}", year % 100),
                _ => told += &format!("{year:0count$}"),
            },
            'M' => match count {
                1 => told += &month.to_string(),
                2 => told += &format!("{month:02}"),
                3 => told += month_name.get(..3)?,
                _ => told += month_name,
            },
            'd' => match count {
                1 => told += &day.to_string(),
                2 => told += &format!("{day:02}"),
                3 => told += weekday.get(..3)?,
                _ => told += weekday,
            },
            'H' | 'h' | 'm' | 's' => {
                let number = match letter {
                    'H' => hour,
                    'h' => (hour + 11) % 12 + 1,
                    'm' => minute,
                    _ => second,
                };
                match count {
                    1 => told += &number.to_string(),
                    _ => told += &format!("{number:02}"),
                }
            }
            'f' => told += fraction.get(..count)?,
            'F' => {
                let digits = fraction.get(..count)?.trim_end_matches('0');
                if digits.is_empty() && told.ends_with('.') {
                    told.pop();
                }
                told += digits;
            }
            't' => {
                let half = if hour < 12 { "AM" } else { "PM" };
                told += half.get(..count.min(2))?;
            }
            'K' => match (kind, count) {
                (0, 1) => {}
                (UTC, 1) => told.push('Z'),
                _ => return None,
            },
            '\'' | '"' => {
                let rest = letters.get(at + 1..)?;
                let length = rest.iter().position(|it| *it == letter)?;
                let quoted = rest.get(..length)?;
                if quoted.contains(&'\\') {
                    return None;
                }
                told.extend(quoted);
                taken = length + 2;
            }
            'z' | 'g' | '%' | '\\' => return None,
            _ => told.extend(std::iter::repeat_n(letter, count)),
        }
        at += taken;
    }
    Some(told)
}

/// `TimeSpan.ToString("c")`.
fn duration(ticks: i128) -> String {
    let sign = if ticks < 0 { "-" } else { "" };
    let ticks = ticks.abs();
    let days = match ticks / DAY {
        0 => String::new(),
        days => format!("{days}."),
    };
    let fraction = match ticks % SECOND {
        0 => String::new(),
        fraction => format!(".{fraction:07}"),
    };
    let (hour, minute, second) = (ticks / HOUR % 24, ticks / MINUTE % 60, ticks / SECOND % 60);
    format!("{sign}{days}{hour:02}:{minute:02}:{second:02}{fraction}")
}
