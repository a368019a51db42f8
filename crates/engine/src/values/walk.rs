//! Paths: `Lines[3].Price` from a value on.
//!
//! A path is names and indexes as C# writes them, over fields, automatic properties and arrays. Nothing is called: what
//! only code can tell is refused with its reason.

use super::{Reader, Result, Unreadable, Value};

/// One part of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// `.name`.
    Member(String),
    /// `[1]`, `[1, 2]`.
    Index(Vec<i64>),
    /// `["key"]`.
    Key(String),
    /// `[Friday]`: a constant of an enum as it is shown.
    Constant(String),
    /// `[#3]`: by position, for entries whose key has no short text.
    Position(u64),
}

/// Whether a path leads through something, before its last step, whose name says that it is a secret.
pub(super) fn leads_through_secret(path: &str) -> bool {
    let mut steps = steps(path).unwrap_or_default();
    let last = steps.pop();
    let before = last.and_then(|(at, _)| path.get(..at));
    before.is_some_and(leads_to_secret)
}

/// Whether a path leads to something, or through something, whose name says that it is a secret.
pub(super) fn leads_to_secret(path: &str) -> bool {
    let steps = steps(path).unwrap_or_default();
    steps.iter().any(|(_, step)| match step {
        Step::Member(name) | Step::Key(name) | Step::Constant(name) => {
            super::view::secrets::is_secret(name)
        }
        Step::Index(_) | Step::Position(_) => false,
    })
}

/// What is said of brackets that hold no index.
pub(super) fn no_index(path: &str, at: usize) -> Unreadable {
    Unreadable::Path {
        path: path.to_owned(),
        at,
        why: "an index is a number, text or constant; `evaluate` computes any other, with side_effects=true where that runs code"
            .to_owned(),
    }
}

/// Whether what stands in brackets may be a constant of an enum, or several: `Read | Write`.
fn is_constant(list: &str) -> bool {
    let is_name = |it: &str| {
        let is_first = |it: char| it == '_' || it.is_alphabetic();
        it.starts_with(is_first) && it.chars().all(|it| it == '_' || it.is_alphanumeric())
    };
    list.split(" | ").all(is_name)
}

/// Takes a path apart, each step with where it begins; the first name may have no dot before it.
pub(crate) fn steps(path: &str) -> Result<Vec<(usize, Step)>> {
    let bad = |at: usize, why: &str| Unreadable::Path {
        path: path.to_owned(),
        at,
        why: why.to_owned(),
    };
    let mut steps = Vec::new();
    let mut at = 0;
    while let Some(rest) = path.get(at..).filter(|rest| !rest.is_empty()) {
        if let Some(inside) = rest.strip_prefix('[') {
            if let Some(quoted) = inside.strip_prefix('"') {
                let (key, length) =
                    literal(quoted).ok_or_else(|| bad(at, "the text is never closed"))?;
                steps.push((at, Step::Key(key)));
                at += length + 3;
                continue;
            }
            let end = inside
                .find(']')
                .ok_or_else(|| bad(at, "the bracket is never closed"))?;
            let list = inside.get(..end).unwrap_or_default();
            if let Some(position) = list.strip_prefix('#') {
                let position = position
                    .parse()
                    .map_err(|_| bad(at, "a position is a number"))?;
                steps.push((at, Step::Position(position)));
                at += end + 2;
                continue;
            }
            if is_constant(list) {
                steps.push((at, Step::Constant(list.to_owned())));
                at += end + 2;
                continue;
            }
            let numbers: std::result::Result<Vec<i64>, _> =
                list.split(',').map(|part| part.trim().parse()).collect();
            let numbers = numbers.map_err(|_| match list.contains("..") {
                true => bad(
                    at,
                    "a range is one of elements that have numbers, and the last step",
                ),
                false => no_index(path, at),
            })?;
            steps.push((at, Step::Index(numbers)));
            at += end + 2;
            continue;
        }
        let dotted = rest.strip_prefix('.');
        if dotted.is_none() && at > 0 {
            return Err(bad(at, "a dot or a bracket is expected"));
        }
        let name = dotted.unwrap_or(rest);
        let length = name_length(name);
        if length == 0 {
            return Err(bad(at, "a name is expected"));
        }
        let text = name.get(..length).unwrap_or_default();
        steps.push((
            at,
            Step::Member(text.strip_prefix('@').unwrap_or(text).to_owned()),
        ));
        at += length + usize::from(dotted.is_some());
    }
    Ok(steps)
}

/// The text of a literal whose quote is open, and how many bytes it takes with its closing quote and bracket.
fn literal(quoted: &str) -> Option<(String, usize)> {
    let mut text = String::new();
    let mut letters = quoted.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => {
                return quoted
                    .get(at + 1..)?
                    .starts_with(']')
                    .then_some((text, at + 1));
            }
            '\\' => {
                let (_, escaped) = letters.next()?;
                text.push(match escaped {
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    '0' => '\0',
                    other => other,
                });
            }
            letter => text.push(letter),
        }
    }
    None
}

/// Up to the next dot or bracket; those inside the angle brackets of a compiler's name, and inside the parentheses of the
/// type that declares a hidden member, belong to it.
fn name_length(name: &str) -> usize {
    let mut depth = 0_u32;
    for (at, letter) in name.char_indices() {
        match letter {
            '<' | '(' => depth += 1,
            '>' | ')' => depth = depth.saturating_sub(1),
            '.' | '[' if depth == 0 => return at,
            _ => {}
        }
    }
    name.len()
}

impl Reader<'_> {
    /// Follows a path such as `y[3].z` from a value.
    pub(crate) fn walk(&self, from: &Value, path: &str) -> Result<Value> {
        let mut value = from.clone();
        for (at, step) in steps(path)? {
            value = self.step(&value, &step).map_err(|error| Unreadable::Path {
                path: path.to_owned(),
                at,
                why: error.to_string(),
            })?;
        }
        Ok(value)
    }

    /// One step of a path.
    pub(crate) fn step(&self, from: &Value, step: &Step) -> Result<Value> {
        match step {
            Step::Member(name) => self.field(from, name),
            Step::Index(indexes) => self.index(from, indexes),
            Step::Key(_) | Step::Constant(_) | Step::Position(_) => Err(Unreadable::WrongKind {
                ty: self.types.text(&from.ty),
                wanted: "an array",
            }),
        }
    }

    /// An element of an array by its indexes.
    pub(crate) fn index(&self, from: &Value, indexes: &[i64]) -> Result<Value> {
        let object = self.object(from)?.ok_or_else(|| Unreadable::Null {
            what: "elements".into(),
        })?;
        let shape = self.array(&object)?;
        if indexes.len() != shape.lengths.len() {
            return Err(Unreadable::WrongKind {
                ty: self.types.text(&object.ty),
                wanted: "an array of so many dimensions",
            });
        }
        let mut position = 0_u64;
        for (dimension, &index) in indexes.iter().enumerate() {
            let bound = shape.bounds.get(dimension).copied().unwrap_or(0);
            let length = u64::from(shape.lengths.get(dimension).copied().unwrap_or(0));
            let from_zero = u64::try_from(index.saturating_sub(bound.into())).unwrap_or(u64::MAX);
            if from_zero >= length {
                return Err(Unreadable::OutOfRange {
                    index: index.into(),
                    first: bound.into(),
                    length,
                });
            }
            position = position.wrapping_mul(length).wrapping_add(from_zero);
        }
        self.element(&object, position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expected: &[&str]) {
        let steps = steps(path).expect("a path");
        let texts: Vec<String> = steps
            .iter()
            .map(|(_, step)| match step {
                Step::Member(name) => name.clone(),
                Step::Index(indexes) => format!("{indexes:?}"),
                Step::Key(key) => format!("key {key}"),
                Step::Constant(name) => format!("constant {name}"),
                Step::Position(position) => format!("#{position}"),
            })
            .collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn paths_are_names_and_indexes() {
        check("a", &["a"]);
        check("a.b[3].c", &["a", "b", "[3]", "c"]);
        check("[1, -2].x", &["[1, -2]", "x"]);
        check("@class.@new", &["class", "new"]);
        check("<A.B>k__BackingField.c", &["<A.B>k__BackingField", "c"]);
        check("a[\"x]\\\"y\"].b", &["a", "key x]\"y", "b"]);
        check("a[#7]", &["a", "#7"]);
        check("a[Old].b", &["a", "constant Old", "b"]);
        check("a[Read | Write]", &["a", "constant Read | Write"]);
        check("a.id (Outer.B).c", &["a", "id (Outer.B)", "c"]);
        check("", &[]);
    }

    #[test]
    fn a_path_that_makes_no_sense_says_where() {
        for (path, at) in [
            ("a..b", 1),
            ("a[", 1),
            ("a[x.y]", 1),
            ("a[x+1]", 1),
            ("a[1]b", 4),
            ("a.", 1),
        ] {
            match steps(path) {
                Err(Unreadable::Path { at: found, .. }) => assert_eq!(found, at, "{path}"),
                other => panic!("{path}: {other:?}"),
            }
        }
    }
}
