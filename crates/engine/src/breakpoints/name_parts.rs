//! The parts of names that people write and that metadata has: types, generic arity, operators, constructors.

use metadata::signature::Primitive;

use super::signature;

/// What marks a generic argument list in the words of C# and of metadata.
pub(super) const ARITY: char = '`';

/// The kinds of conversions.
const KINDS: [&str; 2] = ["implicit", "explicit"];

/// One part of a dotted name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) name: String,
    /// How many generic parameters it has, if that is said.
    pub(super) arity: Option<usize>,
}

impl Part {
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            arity: None,
        }
    }

    /// `List<int>`, ``List`1`` or `List`.
    pub(super) fn parse(text: &str) -> Self {
        // C# writes names that are its keywords with a sign that is no part of them.
        let text = text.trim();
        let text = text.strip_prefix('@').unwrap_or(text);
        if let Some((name, digits)) = text.split_once(ARITY) {
            return Self {
                name: name.to_owned(),
                arity: digits.parse().ok(),
            };
        }
        match text.split_once('<').filter(|(name, _)| !name.is_empty()) {
            Some((name, rest)) => {
                let list = rest.strip_suffix('>').unwrap_or(rest);
                Self {
                    name: name.trim().to_owned(),
                    arity: Some(signature::split(list).len().max(1)),
                }
            }
            None => Self::new(text),
        }
    }

    /// The type that it is the C# keyword of, as it is called in `System`.
    pub(super) fn keyword_type(&self) -> Option<&'static str> {
        let types = Primitive::ALL
            .iter()
            .map(|(_, keyword, ty)| (*keyword, *ty));
        types
            .chain([("decimal", "Decimal")])
            .find_map(|(keyword, ty)| (keyword == self.name).then_some(ty))
    }

    /// Whether something stands before the name, such as a return type, or in it.
    pub(super) fn has_more_than_a_name(&self) -> bool {
        self.name.contains([' ', ':', ',', ';', '=', '{'])
    }

    /// Whether this part of a method's name is what was asked for.
    pub(super) fn is(&self, wanted: &Self) -> bool {
        let arity = self.arity.unwrap_or(0);
        let is_named = self.name == wanted.name || self.is_conversion(&wanted.name);
        is_named && wanted.arity.is_none_or(|wanted| wanted == arity)
    }

    /// Whether it is an implicit or explicit conversion, and a conversion of either kind is wanted.
    fn is_conversion(&self, wanted: &str) -> bool {
        matches!(wanted, "operator" | "operator checked")
            && KINDS
                .iter()
                .any(|kind| self.name.strip_prefix(kind).map(str::trim_start) == Some(wanted))
    }
}

/// The parts of a method's name, where the type that C# has a keyword for is called as it is in its namespace.
pub(super) fn without_keyword(mut parts: Vec<Part>) -> Vec<Part> {
    let keyword = parts.len().checked_sub(2).filter(|before| *before == 0);
    let ty = keyword.and_then(|at| parts.get(at)?.keyword_type());
    if let Some(ty) = ty {
        parts.splice(..1, [Part::new("System"), Part::new(ty)]);
    }
    parts
}

/// `Type`, `operator +` and the type that a conversion gives; nothing if the name is not an operator's. A conversion of which
/// the kind is not said is just `operator`.
pub(super) fn split_operator(name: &str) -> Option<(&str, String, Option<String>)> {
    let at = name.find("operator")?;
    let (before, rest) = name.split_at_checked(at)?;
    let symbol = rest.strip_prefix("operator")?.trim();
    let (checked, symbol) = match symbol.strip_prefix("checked") {
        Some(rest) if rest.is_empty() || rest.starts_with(' ') => (" checked", rest.trim_start()),
        _ => ("", symbol),
    };
    let starts_a_word = before.is_empty() || before.ends_with(['.', ' ', '+']);
    let ends_a_word = rest
        .chars()
        .nth("operator".len())
        .is_none_or(|it| !it.is_alphanumeric() && it != '_');
    if !starts_a_word || !ends_a_word {
        return None;
    }
    let before = before.trim_end();
    for kind in KINDS {
        if let Some(owner) = before.strip_suffix(kind) {
            let result = (!symbol.is_empty()).then(|| symbol.to_owned());
            return Some((
                owner.trim_end_matches('.'),
                format!("{kind} operator{checked}"),
                result,
            ));
        }
    }
    if symbol.is_empty() {
        return None;
    }
    let owner = before.trim_end_matches('.');
    // A generic operator of an extension block has its type parameters behind it.
    let is_word = |it: char| it.is_alphabetic() || matches!(it, '_' | '@' | '(');
    let bare = symbol.split('<').next().unwrap_or_default();
    let symbol = match symbol.find(is_word) {
        Some(0) if matches!(bare, "true" | "false") => bare,
        Some(0) => return Some((owner, format!("operator{checked}"), Some(symbol.to_owned()))),
        Some(at) if symbol.ends_with('>') => {
            let sign = symbol.get(..at).unwrap_or_default();
            sign.strip_suffix('<').unwrap_or(sign)
        }
        _ => symbol,
    };
    Some((owner, format!("operator{checked} {symbol}"), None))
}

/// Parts of a dotted name; dots inside `<…>` do not separate. An empty name has none.
pub(super) fn split_name(name: &str) -> Vec<Part> {
    let name = name.trim();
    for constructor in [".ctor", ".cctor"] {
        if let Some(owner) = name.strip_suffix(constructor) {
            let mut parts = split_name(owner.strip_suffix('.').unwrap_or(owner));
            parts.push(Part::new(constructor));
            return parts;
        }
    }
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0_u32, 0);
    for (at, character) in name.char_indices() {
        match character {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            '.' | '+' | '/' if depth == 0 => {
                parts.push(Part::parse(name.get(start..at).unwrap_or_default()));
                start = at + 1;
            }
            _ => {}
        }
    }
    if !name.is_empty() {
        parts.push(Part::parse(name.get(start..).unwrap_or_default()));
    }
    parts
}
