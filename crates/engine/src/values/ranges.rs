//! Ranges as paths: `lines[5..8]` leads to those elements of `lines`, where they are, under their own indexes.

use crate::api::{Error, ErrorCode, OmitReason, Omitted, Reply, ValueKind, VariablesQuery};
use crate::engine::Engine;

/// One end of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    FromStart(u64),
    FromEnd(u64),
}

impl End {
    /// `None` for what is no number.
    fn parse(text: &str) -> Option<Self> {
        match text.trim().strip_prefix('^') {
            Some(number) => number.parse().ok().map(End::FromEnd),
            None => text.trim().parse().ok().map(End::FromStart),
        }
    }

    /// Its index; `None` before the first.
    fn of(self, count: u64) -> Option<u64> {
        match self {
            End::FromStart(index) => Some(index),
            End::FromEnd(behind) => count.checked_sub(behind),
        }
    }
}

/// What a path takes a range of, and its ends, if its last step is a range of numbers.
fn range(path: &str) -> Option<(&str, End, End)> {
    let (whole, inside) = path.strip_suffix(']')?.rsplit_once('[')?;
    let (from, to) = inside.split_once("..")?;
    let end = |text: &str, open| match text.trim() {
        "" => Some(open),
        text => End::parse(text),
    };
    let from = end(from, End::FromStart(0))?;
    let to = end(to, End::FromEnd(0))?;
    (!whole.is_empty()).then_some((whole, from, to))
}

impl Engine<'_> {
    /// The elements that a range leads to; `None` if the path is none, or what it is of has no elements under indexes.
    pub(super) fn variables_of_range(
        &mut self,
        query: &VariablesQuery,
    ) -> Option<Result<Reply, Error>> {
        let path = query.path.as_deref()?;
        let (whole, from, to) = range(path)?;
        let part = |start: u64, count: u32| VariablesQuery {
            path: Some(whole.to_owned()),
            start,
            count,
            ..query.clone()
        };
        let value = match self.variables(&part(0, 0)) {
            Ok(Reply::Variables(told)) => told.parent?.value,
            Ok(_) => return None,
            Err(why) => return Some(Err(why)),
        };
        // Spans and memory of characters are told as text, and have elements.
        let is_text = value.kind == ValueKind::String && !value.type_name.ends_with("<char>");
        if !value.indexed || is_text {
            return None;
        }
        let count = value.children;
        let ends = from.of(count).zip(to.of(count));
        let Some((from, to)) = ends.filter(|(from, to)| from <= to && *to <= count) else {
            let why = match ends {
                Some((from, to)) if from > to => "the range ends before it begins".into(),
                _ => format!("{whole} has {count} elements"),
            };
            let told = format!("{path}: {why}");
            return Some(Err(Error::new(ErrorCode::InvalidParameter, told)));
        };
        let start = from.saturating_add(query.start).min(to);
        let wanted = u32::try_from(to - start).unwrap_or(u32::MAX);
        let told = self.variables(&part(start, query.count.min(wanted)));
        let Ok(Reply::Variables(mut told)) = told else {
            return Some(told);
        };
        let first = told.variables.first().map(|it| it.name.as_str());
        if first.is_some_and(|it| it != format!("[{start}]")) {
            return None;
        }
        let behind = start + told.variables.len() as u64;
        let reason = told.omitted.map_or(OmitReason::Count, |it| it.reason);
        told.omitted = (behind < to).then(|| Omitted {
            count: to - behind,
            start: behind - from,
            at_least: false,
            reason,
        });
        told.notes.push(match to - from {
            0 => format!("none of its {count} elements"),
            1 => format!("element {from} of {count}"),
            _ => format!("elements {from} to {} of {count}", to - 1),
        });
        Some(Ok(Reply::Variables(told)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expected: Option<(&str, Option<u64>, Option<u64>)>) {
        let found = range(path).map(|(whole, from, to)| (whole, from.of(10), to.of(10)));
        assert_eq!(found, expected, "{path}");
    }

    #[test]
    fn a_range_is_the_last_step() {
        check("a.b[5..8]", Some(("a.b", Some(5), Some(8))));
        check("a[ ^3 .. ]", Some(("a", Some(7), Some(10))));
        check("a[..^11]", Some(("a", Some(0), None)));
        check("a[0][..]", Some(("a[0]", Some(0), Some(10))));
        check("a[1..2].b", None);
        check("a[i..j]", None);
        check("a[1]", None);
        check("[1..2]", None);
        check("a[\"1..2\"]", None);
    }
}
