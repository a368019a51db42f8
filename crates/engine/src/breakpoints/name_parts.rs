//! The parts of names that people write and that metadata has: types, generic arity, operators, constructors.

use metadata::signature::Primitive;

use super::signature;

/// What marks a generic argument list in the words of C# and of metadata.
pub(super) const ARITY: char = '`';

/// The kinds of conversions.
const KINDS: [&str; 2] = ["implicit", "explicit"];

/// One part of a dotted name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) name: String,
    /// How many generic parameters it has, if that is said.
    pub(super) arity: Option<usize>,
    /// What it calls them, or what stands for them.
    pub(super) parameters: Vec<String>,
    /// The same of an interface that an explicit implementation names.
    pub(super) of_interface: Vec<String>,
}

impl Part {
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..Self::default()
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
                ..Self::default()
            };
        }
        match text.split_once('<').filter(|(name, _)| !name.is_empty()) {
            Some((name, rest)) => {
                let list = rest.strip_suffix('>').unwrap_or(rest);
                let parameters = signature::split(list);
                Self {
                    name: name.trim().to_owned(),
                    arity: Some(parameters.len().max(1)),
                    parameters,
                    ..Self::default()
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
        is_named
            && wanted.arity.is_none_or(|wanted| wanted == arity)
            && self.is_for(&wanted.parameters)
    }

    /// Whether a type may implement an interface of the same name more than once: what it is for tells which.
    fn is_for(&self, wanted: &[String]) -> bool {
        let mut pairs = self.of_interface.iter().zip(wanted);
        pairs.all(|(known, wanted)| {
            let is_parameter = known.starts_with('T') && !known.contains(['.', '<']);
            wanted.is_empty()
                || is_parameter
                || signature::same(known, wanted, signature::Rule::IgnoreNullable)
        })
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

/// The name of an operator, or of a function in one.
#[derive(Debug)]
pub(super) struct Operator<'n> {
    /// The type, and perhaps the interface.
    pub(super) before: &'n str,
    /// `operator +`; a conversion of which the kind is not said is just `operator`.
    pub(super) name: String,
    /// What a conversion gives.
    pub(super) result: Option<String>,
    /// Local functions in it.
    pub(super) inside: &'n str,
}

/// Where a word of C# stands in a name, outside of type arguments.
fn find_operator(name: &str) -> Option<usize> {
    let is_of_word = |it: char| it.is_alphanumeric() || matches!(it, '_' | '@');
    let (mut depth, mut before) = (0_u32, None);
    for (at, it) in name.char_indices() {
        match it {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            'o' if depth == 0 && !before.is_some_and(is_of_word) => {
                let behind = name.get(at..)?.strip_prefix("operator");
                if behind.is_some_and(|it| !it.starts_with(is_of_word)) {
                    return Some(at);
                }
            }
            _ => {}
        }
        before = Some(it);
    }
    None
}

/// An operator by its name; nothing if the name is not an operator's.
pub(super) fn split_operator(name: &str) -> Option<Operator<'_>> {
    let (before, rest) = name.split_at_checked(find_operator(name)?)?;
    let symbol = rest.strip_prefix("operator")?.trim();
    let (checked, symbol) = match symbol.strip_prefix("checked") {
        Some(rest) if rest.is_empty() || rest.starts_with([' ', '.']) => {
            (" checked", rest.trim_start())
        }
        _ => ("", symbol),
    };
    let before = before.trim_end();
    let kind = KINDS.iter().find(|kind| before.ends_with(**kind));
    let owner = kind.and_then(|kind| before.strip_suffix(kind));
    let conversion = |result: &str, inside| Operator {
        before: owner.unwrap_or(before).trim_end_matches('.'),
        name: match kind {
            Some(kind) => format!("{kind} operator{checked}"),
            None => format!("operator{checked}"),
        },
        result: (!result.is_empty()).then(|| result.to_owned()),
        inside,
    };
    // Functions in a conversion are named without what that gives.
    if let Some(inside) = symbol.strip_prefix('.') {
        return Some(conversion("", inside));
    }
    if owner.is_some() {
        return Some(conversion(symbol, ""));
    }
    let is_word = |it: char| it.is_alphabetic() || matches!(it, '_' | '@' | '(');
    let bare = symbol.split(['<', '.']).next().unwrap_or_default();
    let length = match symbol.find(is_word) {
        Some(0) if matches!(bare, "true" | "false") => bare.len(),
        Some(0) => return Some(conversion(symbol, "")),
        _ => signs(symbol),
    };
    let (symbol, behind) = symbol
        .split_at_checked(length)
        .filter(|it| !it.0.is_empty())?;
    // A generic operator of an extension block has its type parameters behind it.
    let behind = match behind.starts_with('<') {
        true => behind.get(closing(behind)? + 1..)?,
        false => behind,
    };
    let inside = behind
        .strip_prefix('.')
        .or(behind.is_empty().then_some(""))?;
    Some(Operator {
        before: before.trim_end_matches('.'),
        name: format!("operator{checked} {symbol}"),
        result: None,
        inside,
    })
}

/// How many signs an operator has: the list of its type parameters opens with a sign, too.
fn signs(symbol: &str) -> usize {
    let is_sign = |it: char| "+-*/%^&|!~<>=".contains(it);
    let length = symbol.find(|it| !is_sign(it)).unwrap_or(symbol.len());
    let is_list = symbol
        .get(length..)
        .is_some_and(|it| !it.is_empty() && !it.starts_with('.'));
    match symbol.get(..length).and_then(|it| it.strip_suffix('<')) {
        Some(operator) if is_list => operator.len(),
        _ => length,
    }
}

/// Where the list ends that a text begins with.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_u32;
    text.find(|it| {
        match it {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    })
}

/// A name and what stands behind the parenthesis that opens its parameters: not one of a tuple in its type arguments, or that a
/// conversion gives.
pub(super) fn split_parameters(text: &str) -> Option<(&str, &str)> {
    let open = match find_operator(text) {
        Some(at) => {
            let mut from = at + "operator".len();
            let rest = text.get(from..)?;
            let symbol = rest.trim_start();
            let symbol = symbol
                .strip_prefix("checked")
                .unwrap_or(symbol)
                .trim_start();
            from += rest.len() - symbol.len();
            match symbol.chars().next()? {
                '(' => {
                    from += closing(symbol)? + 1;
                    from + outside(text.get(from..)?)?
                }
                it if it.is_alphabetic() || matches!(it, '_' | '@') => from + outside(symbol)?,
                _ => from + symbol.find('(')?,
            }
        }
        None => outside(text)?,
    };
    Some((text.get(..open)?, text.get(open + 1..)?))
}

/// The first parenthesis that is in no list of type arguments.
fn outside(text: &str) -> Option<usize> {
    let mut depth = 0_u32;
    text.find(|it| {
        match it {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        it == '(' && depth == 0
    })
}

/// Whether a name has wildcards; `int?` and `int*` in type arguments are none.
pub(super) fn is_wild(name: &str) -> bool {
    let mut depth = 0_u32;
    let mut before = None;
    name.chars().any(|it| {
        match it {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let ends_a_type = depth > 0 && !matches!(before, Some('<' | ',' | ' '));
        before = Some(it);
        matches!(it, '*' | '?') && !ends_a_type
    })
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
            // The dot that the name of a constructor begins with.
            '.' if start == at && begins_constructor(name.get(at..).unwrap_or_default()) => {}
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

fn begins_constructor(text: &str) -> bool {
    [".ctor.", ".cctor."].iter().any(|it| text.starts_with(it))
}
