//! What a person types to find a symbol, and how well a name fits it.
//!
//! A pattern is a name or names with dots between (`Run`, `Task.Run`, `System.*.List<T>`). Each part is matched with one part of a symbol's
//! full name, from the end. A part without wildcards fits a name that contains it, in any case, or whose humps it spells (`WrLi` fits
//! `WriteLine`); with `*` or `?` it must fit the whole name. A last part that is `*` stands for one name or several.

/// How well a name fits; better is smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fit {
    /// The name itself.
    Exact,
    /// The name in another case.
    SameLetters,
    /// The name begins with it.
    Prefix,
    /// A hump of the name begins with it: `Line` in `WriteLine`.
    Hump,
    /// It spells the beginnings of humps: `WL` or `WrLi` for `WriteLine`.
    Humps,
    /// Somewhere in the name.
    Inside,
    /// Its wildcards fit.
    Wildcard,
}

/// Longer patterns are no names; the limit keeps a search from being made slow by its pattern.
const MAX_PATTERN: usize = 512;
/// Wildcards beyond this many in a part say nothing more.
const MAX_PARTS: usize = 32;

/// One name of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    text: Box<[u8]>,
    lower: Box<[u8]>,
    has_wildcard: bool,
    /// Whether it may be the first letters of humps: it has two capitals or more.
    is_humps: bool,
}

/// A pattern, ready to be matched with many names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// From the last one to the first.
    parts: Box<[Part]>,
    /// The number of generic parameters that was written: `List<T>`, `Dictionary<,>` or `` List`1 ``.
    arity: Option<usize>,
}

/// Why a text is no pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// Nothing is left of it but spaces and dots.
    #[error("an empty pattern would find everything; write a part of a name, or *")]
    Empty,
    /// It is longer than any name.
    #[error(
        "a pattern of {length} bytes with {parts} parts; at most {MAX_PATTERN} bytes and {MAX_PARTS} parts are searched for"
    )]
    TooLong {
        /// Its length in bytes.
        length: usize,
        /// The number of names with dots between.
        parts: usize,
    },
}

impl Pattern {
    /// Reads a pattern; spaces around it do not count, `+`, `/` and `::` between names are dots.
    pub fn new(text: &str) -> Result<Self, PatternError> {
        let text = text.trim().replace("::", ".");
        // `.ctor` is the one name that begins with a dot.
        let (text, constructor) = match text.strip_suffix(".ctor") {
            Some(rest) => (rest, Some(".ctor")),
            None => match text.strip_suffix(".cctor") {
                Some(rest) => (rest, Some(".cctor")),
                None => (&*text, None),
            },
        };
        // Nor do the dots and signs of an operator divide it.
        let (text, operator) = text.split_at(operator_at(text).unwrap_or(text.len()));
        let whole = constructor.or((!operator.is_empty()).then_some(operator));
        let names = split_names(text).chain(whole.map(|it| (it, None)));
        let names = names.rev_collect();
        let arity = names.first().and_then(|(_, arity)| *arity);
        let parts: Box<[Part]> = names.iter().map(|(name, _)| Part::new(name)).collect();
        if parts.is_empty() {
            return Err(PatternError::Empty);
        }
        if text.len() > MAX_PATTERN || parts.len() > MAX_PARTS {
            let (length, parts) = (text.len(), parts.len());
            return Err(PatternError::TooLong { length, parts });
        }
        Ok(Self { parts, arity })
    }

    /// How well a symbol's own name fits.
    #[must_use]
    pub fn fit_name(&self, name: &[u8]) -> Option<Fit> {
        self.parts.first()?.fit(name)
    }

    /// Whether the pattern asks for this number of generic parameters, or for none in particular.
    #[must_use]
    pub fn fits_arity(&self, arity: usize) -> bool {
        self.arity.is_none_or(|wanted| wanted == arity)
    }

    /// Whether names of a container were written as well.
    #[must_use]
    pub const fn has_container(&self) -> bool {
        self.parts.len() > 1
    }

    /// How well the names around a symbol fit, from the innermost outwards; the worst one counts.
    #[must_use]
    pub fn fit_container<'n>(&self, mut names: impl Iterator<Item = &'n [u8]>) -> Option<Fit> {
        let fit = |names: &mut dyn Iterator<Item = &'n [u8]>| {
            let mut worst = Fit::Exact;
            for part in self.parts.iter().skip(1) {
                worst = worst.max(part.fit(names.next()?)?);
            }
            Some(worst)
        };
        // `Shop.*` is all that is in it, however far inside.
        if self.has_container() && self.parts.first().is_some_and(|it| *it.text == *b"*") {
            let all: Vec<_> = names.collect();
            return (0..all.len()).find_map(|from| fit(&mut all.iter().skip(from).copied()));
        }
        fit(&mut names)
    }

    /// Whether an operator is meant, by the keyword.
    pub(super) fn is_operator(&self) -> bool {
        let is_operator = |part: &Part| {
            let text = std::str::from_utf8(&part.text);
            text.is_ok_and(|text| operator_at(text) == Some(0))
        };
        self.parts.first().is_some_and(is_operator)
    }

    /// Whether it begins like an accessor's name (`get_`, `set_`, `add_`, `remove_`), so that accessors are meant.
    pub(super) fn is_accessor(&self) -> bool {
        let is_accessor = |part: &Part| {
            let starts = ["get_", "set_", "add_", "remove_"];
            starts
                .iter()
                .any(|start| part.lower.starts_with(start.as_bytes()))
        };
        self.parts.first().is_some_and(is_accessor)
    }
}

/// Where an operator begins that is written as it is declared: `Money.operator +`, `implicit operator`.
fn operator_at(text: &str) -> Option<usize> {
    const KEYWORD: &str = "operator";
    let at = text.rfind(KEYWORD)?;
    let (before, after) = (text.get(..at)?, text.get(at + KEYWORD.len()..)?);
    let before = ["implicit ", "explicit "]
        .iter()
        .find_map(|it| before.strip_suffix(it))
        .unwrap_or(before);
    let divides = |it: char| matches!(it, '.' | '+' | '/');
    let begins = before.is_empty() || before.ends_with(divides);
    let ends = !after.starts_with(|it: char| it.is_alphanumeric() || it == '_' || divides(it));
    (begins && ends).then_some(before.len())
}

/// Collects in reverse.
trait RevCollect: Iterator + Sized {
    fn rev_collect(self) -> Box<[Self::Item]> {
        let mut items: Vec<_> = self.collect();
        items.reverse();
        items.into()
    }
}

impl<I: Iterator> RevCollect for I {}

/// The names of a text with dots between, each with the number of generic parameters that was written behind it: `List<T>`,
/// `Dictionary<,>`, `` List`1 ``. Dots between angle brackets belong to what stands there.
pub fn split_names(text: &str) -> impl Iterator<Item = (&str, Option<usize>)> {
    let mut depth = 0_usize;
    let is_between = move |letter: char| {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && matches!(letter, '.' | '+' | '/')
    };
    let names = text.split(is_between).filter(|name| !name.is_empty());
    names.map(split_arity)
}

/// Takes `<T>`, `<,>` or `` `1 `` off the end of a name.
fn split_arity(name: &str) -> (&str, Option<usize>) {
    if let Some((bare, arity)) = name.rsplit_once('`')
        && let Ok(arity) = arity.parse()
    {
        return (bare, Some(arity));
    }
    let open = name.find('<').filter(|&at| at > 0 && name.ends_with('>'));
    let Some((bare, parameters)) = open.and_then(|at| name.split_at_checked(at)) else {
        return (name, None);
    };
    let mut depth = 0_usize;
    let mut commas = 0;
    for letter in parameters.chars() {
        match letter {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 1 => commas += 1,
            _ => {}
        }
    }
    (bare, Some(commas + 1))
}

impl Part {
    fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let n_capitals = bytes
            .iter()
            .filter(|byte| byte.is_ascii_uppercase())
            .count();
        Self {
            text: bytes.into(),
            lower: bytes.to_ascii_lowercase().into(),
            has_wildcard: text.contains(['*', '?']),
            is_humps: n_capitals >= 2,
        }
    }

    fn fit(&self, name: &[u8]) -> Option<Fit> {
        if self.has_wildcard {
            return wildcard(&self.lower, name).then_some(Fit::Wildcard);
        }
        let at = find(name, &self.lower);
        match at {
            Some(0) if *name == *self.text => Some(Fit::Exact),
            Some(0) if name.len() == self.text.len() => Some(Fit::SameLetters),
            Some(0) => Some(Fit::Prefix),
            Some(_) if self.begins_hump(name) => Some(Fit::Hump),
            _ if self.is_humps && humps(&self.text, name) => Some(Fit::Humps),
            Some(_) => Some(Fit::Inside),
            None => None,
        }
    }

    /// Whether it is found where a hump begins, at the first place or a later one.
    fn begins_hump(&self, name: &[u8]) -> bool {
        let mut from = 0;
        while let Some(at) = name.get(from..).and_then(|rest| find(rest, &self.lower)) {
            if is_hump(name, from + at) {
                return true;
            }
            from += at + 1;
        }
        false
    }
}

/// Where `lower`, which has no capitals, is in `name`, in any case.
fn find(name: &[u8], lower: &[u8]) -> Option<usize> {
    let (&first, rest) = lower.split_first()?;
    let last = name.len().checked_sub(lower.len())?;
    name.iter()
        .take(last + 1)
        .enumerate()
        .find_map(|(at, byte)| {
            if byte.to_ascii_lowercase() != first {
                return None;
            }
            let candidate = name.get(at + 1..at + lower.len())?;
            let same = candidate
                .iter()
                .zip(rest)
                .all(|(a, b)| a.to_ascii_lowercase() == *b);
            same.then_some(at)
        })
}

/// Whether a word of a name begins at a place: a capital behind a small letter or before one, what follows an underscore, a digit.
fn is_hump(name: &[u8], at: usize) -> bool {
    let byte = |at: usize| name.get(at).copied().unwrap_or_default();
    let Some(before) = at.checked_sub(1).map(byte) else {
        return true;
    };
    let here = byte(at);
    if here.is_ascii_uppercase() {
        return !before.is_ascii_uppercase() || byte(at + 1).is_ascii_lowercase();
    }
    let is_mark = |byte: u8| !byte.is_ascii_alphanumeric() && byte.is_ascii();
    is_mark(before) && !is_mark(here) || here.is_ascii_digit() && !before.is_ascii_digit()
}

/// Whether the pattern's capitals begin humps of the name, in order, and what follows each capital follows it in the name.
///
/// Each capital takes the first hump it can; a later one could only leave less for what follows.
fn humps(pattern: &[u8], name: &[u8]) -> bool {
    let mut at = 0;
    let mut in_hump = false;
    for &wanted in pattern {
        if in_hump && !wanted.is_ascii_uppercase() {
            let follows = name
                .get(at)
                .is_some_and(|byte| byte.eq_ignore_ascii_case(&wanted));
            if follows {
                at += 1;
                continue;
            }
        }
        let begins = |&place: &usize| {
            name.get(place)
                .is_some_and(|byte| byte.eq_ignore_ascii_case(&wanted))
                && is_hump(name, place)
        };
        let Some(place) = (at..name.len()).find(begins) else {
            return false;
        };
        at = place + 1;
        in_hump = true;
    }
    true
}

/// Whether a pattern of small letters with `*` and `?` fits the whole name, in any case.
///
/// Goes back to the last `*` only, so the time is bounded by the product of both lengths.
fn wildcard(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while let Some(byte) = name.get(n) {
        match pattern.get(p) {
            Some(b'*') => {
                retry = Some((p + 1, n));
                p += 1;
            }
            Some(&wanted) if wanted == b'?' || wanted == byte.to_ascii_lowercase() => {
                p += 1;
                n += 1;
            }
            _ => {
                let Some((after, start)) = retry else {
                    return false;
                };
                (p, n) = (after, start + 1);
                retry = Some((after, n));
            }
        }
    }
    pattern
        .get(p..)
        .unwrap_or_default()
        .iter()
        .all(|&byte| byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, name: &str, expected: Option<Fit>) {
        let pattern = Pattern::new(pattern).expect("a pattern");
        assert_eq!(pattern.fit_name(name.as_bytes()), expected);
    }

    #[test]
    fn names_fit_by_letters_humps_and_wildcards() {
        check("WriteLine", "WriteLine", Some(Fit::Exact));
        check("operator +", "operator +", Some(Fit::Exact));
        check("operator", "operator /", Some(Fit::Prefix));
        check("implicit operator", "implicit operator", Some(Fit::Exact));
        check("operator -", "operator +", None);
        check("writeline", "WriteLine", Some(Fit::SameLetters));
        check("write", "WriteLine", Some(Fit::Prefix));
        check("line", "WriteLine", Some(Fit::Hump));
        check("WL", "WriteLine", Some(Fit::Humps));
        check("WrLi", "WriteLine", Some(Fit::Humps));
        check("WLA", "WriteLineAsync", Some(Fit::Humps));
        check("WA", "WriteLineAsync", Some(Fit::Humps));
        check("LW", "WriteLine", None);
        check("WrAb", "WriteLine", None);
        check("ite", "WriteLine", Some(Fit::Inside));
        check("wl", "WriteLine", None);
        check("XD", "XmlDocument", Some(Fit::Humps));
        check("IOE", "InvalidOperationException", Some(Fit::Humps));
        check("write*", "WriteLine", Some(Fit::Wildcard));
        check("*line", "WriteLine", Some(Fit::Wildcard));
        check("w?ite*e", "WriteLine", Some(Fit::Wildcard));
        check("*ite", "WriteLine", None);
        check("*", "x", Some(Fit::Wildcard));
        check(".ctor", ".ctor", Some(Fit::Exact));
        check("ctor", ".ctor", Some(Fit::Hump));
        check("local", "_local", Some(Fit::Hump));
        check("größe", "Größe", Some(Fit::SameLetters));
    }

    #[test]
    fn containers_fit_from_the_inside_out() {
        let check = |pattern: &str, names: &[&str], expected| {
            let pattern = Pattern::new(pattern).expect("a pattern");
            let names = names.iter().map(|name| name.as_bytes());
            assert_eq!(pattern.fit_container(names), expected, "{pattern:?}");
        };
        let names = ["Task", "Tasks", "Threading", "System"];
        check("Run", &names, Some(Fit::Exact));
        check("Task.Run", &names, Some(Fit::Exact));
        check("tasks::Task+Run", &names, Some(Fit::SameLetters));
        check("Threading.Task.Run", &names, None);
        check("*.Run", &names, Some(Fit::Wildcard));
        // What is in a namespace, also in namespaces and types in it.
        check("Task.*", &names, Some(Fit::Exact));
        check("System.Threading.*", &names, Some(Fit::Exact));
        check("System.Tasks.*", &names, None);
        check("A.System.Threading.Tasks.Task.Run", &names, None);
    }

    #[test]
    fn arity_is_taken_off() {
        let check = |pattern: &str, arity: Option<usize>| {
            let pattern = Pattern::new(pattern).expect("a pattern");
            assert_eq!(pattern.arity, arity, "{pattern:?}");
            assert!(pattern.fit_name(b"List").is_some(), "{pattern:?}");
        };
        check("List", None);
        check("List<T>", Some(1));
        check("List<,>", Some(2));
        check("List`3", Some(3));
        check("Outer<T>.List", None);
        check("Outer<T>.List<U, V>", Some(2));
        check("Outer`1+List`2", Some(2));
        check("List<System.Int32>", Some(1));
        check("List<Map<int, (int, string)>>", Some(1));
    }

    #[test]
    fn names_around_may_be_generic() {
        let pattern = Pattern::new("Outer<System.Int32, T>.Inner<U>").expect("a pattern");
        let fit = |name: &[u8]| pattern.fit_container([name].into_iter());
        assert_eq!(pattern.fit_name(b"Inner"), Some(Fit::Exact));
        assert_eq!((fit(b"Outer"), fit(b"Other")), (Some(Fit::Exact), None));
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        assert_eq!(Pattern::new("  "), Err(PatternError::Empty));
        assert_eq!(Pattern::new("..."), Err(PatternError::Empty));
        assert!(Pattern::new(&"a".repeat(MAX_PATTERN + 1)).is_err());
        assert!(Pattern::new(&"a.".repeat(MAX_PARTS + 1)).is_err());
    }
}
