//! "Did you mean": the nearest of a few known names.

/// The name that was probably meant, if one is near enough.
pub fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Names are short; anything long is not a slip of the pen.
    if wanted.len() > 100 {
        return None;
    }
    let plain = plain(wanted);
    names
        .into_iter()
        .map(|name| (distance(&plain, &self::plain(name)), name))
        .filter(|(distance, name)| *distance <= name.len().max(3) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// `stopAtEntry`, `stop-at-entry` and `stop_at_entry` are the same slip.
fn plain(name: &str) -> Vec<char> {
    name.chars()
        .filter(|character| character.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// How many characters must be inserted, removed, replaced or swapped with their neighbour.
fn distance(left: &[char], right: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (row, a) in left.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, b) in right.iter().enumerate() {
            let at =
                |line: &[usize], index: usize| line.get(index).copied().unwrap_or(usize::MAX / 2);
            let mut best = (at(&last, column) + usize::from(a != b))
                .min(at(&last, column + 1) + 1)
                .min(at(&current, column) + 1);
            let swapped = row > 0
                && column > 0
                && left.get(row - 1) == Some(b)
                && right.get(column - 1) == Some(a);
            if swapped {
                best = best.min(at(&before_last, column - 1) + 1);
            }
            current.push(best);
        }
        before_last = std::mem::replace(&mut last, current);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_found() {
        let names = [
            "program",
            "args",
            "cwd",
            "env",
            "stop_at_entry",
            "timeout_ms",
        ];
        let check = |wanted, expected| assert_eq!(nearest(wanted, names), expected, "{wanted}");
        check("progam", Some("program"));
        check("porgram", Some("program"));
        check("stopAtEntry", Some("stop_at_entry"));
        check("TIMEOUT_MS", Some("timeout_ms"));
        check("timeoutms", Some("timeout_ms"));
        check("arg", Some("args"));
        check("colour", None);
        check("", None);
    }
}
