//! Parameter types as people write them, compared with those of a method.
//!
//! Types are compared part by part: a name without its namespace is the name in any namespace, `Int32` is `int`, names
//! of parameters may be there or not, and `ref`, `out` and `in` are the same.

use metadata::csharp::{Annotations, GenericNames, Style};
use metadata::signature::Type;
use metadata::{Metadata, Token};

/// How exactly types are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// As they are written.
    Exact,
    /// Without the marks of types that may be null, which references have only in the eyes of the compiler.
    IgnoreNullable,
}

/// What C# calls the types of the runtime.
const KEYWORDS: [(&str, &str); 17] = [
    ("Boolean", "bool"),
    ("Byte", "byte"),
    ("SByte", "sbyte"),
    ("Char", "char"),
    ("Int16", "short"),
    ("UInt16", "ushort"),
    ("Int32", "int"),
    ("UInt32", "uint"),
    ("Int64", "long"),
    ("UInt64", "ulong"),
    ("IntPtr", "nint"),
    ("UIntPtr", "nuint"),
    ("Single", "float"),
    ("Double", "double"),
    ("Object", "object"),
    ("String", "string"),
    // The runtime knows no such type.
    ("dynamic", "object"),
];

/// What the compiler calls the types that hold captured variables.
const CLOSURE: &str = "<>c__DisplayClass";

/// Whether a method takes these parameters, and some more behind them; `names` stand for what it is generic in. Those are left out by which a local function gets what it
/// has captured, and the first one of an extension member may be, which its block declares.
pub(super) fn has_parameters(
    metadata: Metadata<'_>,
    (method, names): (Token, &GenericNames),
    wanted: &[String],
    more: usize,
    rule: Rule,
) -> bool {
    let known = || -> metadata::Result<Vec<(bool, String)>> {
        let signature = metadata.method(method)?.signature()?;
        let types = signature.parameters.iter();
        Ok(types.map(|ty| text(metadata, names, ty)).collect())
    };
    let Ok(mut known) = known() else { return false };
    known.retain(|(by_ref, ty)| !by_ref || !ty.contains(CLOSURE));
    let are = |known: &[(bool, String)]| {
        known.len() == wanted.len() + more
            && known
                .iter()
                .zip(wanted)
                .all(|((by_ref, known), wanted)| is_parameter(*by_ref, known, wanted, rule))
    };
    let of_block = || {
        let member = metadata.extension_member(method)?;
        known.get(1..).filter(|_| member.takes_receiver)
    };
    are(&known) || of_block().is_some_and(are)
}

/// Whether a method gives this type.
pub(super) fn has_result(
    metadata: Metadata<'_>,
    (method, names): (Token, &GenericNames),
    wanted: &str,
    rule: Rule,
) -> bool {
    let signature = metadata.method(method).and_then(|it| it.signature());
    signature.is_ok_and(|it| {
        let (by_ref, known) = text(metadata, names, &it.return_type);
        is_parameter(by_ref, &known, wanted, rule)
    })
}

/// The types of a list; commas inside `<…>`, `[…]` and `(…)` do not separate.
pub(super) fn split(list: &str) -> Vec<String> {
    let mut types = vec![String::new()];
    let mut depth = 0_u32;
    for character in list.chars() {
        match character {
            ',' if depth == 0 => {
                types.push(String::new());
                continue;
            }
            '<' | '[' | '(' => depth += 1,
            '>' | ']' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if let Some(last) = types.last_mut() {
            last.push(character);
        }
    }
    if types.len() == 1 && types.first().is_some_and(|only| only.trim().is_empty()) {
        return Vec::new();
    }
    types.into_iter().map(|it| it.trim().to_owned()).collect()
}

/// Whether a type is taken by reference, and its text with namespaces.
fn text(metadata: Metadata<'_>, names: &GenericNames, ty: &Type) -> (bool, String) {
    let (by_ref, ty) = match ty {
        Type::ByRef(referent) => (true, &**referent),
        ty => (false, ty),
    };
    let style = Style { namespaces: true };
    let text = metadata.type_text(ty, names, &Annotations::default(), style);
    (by_ref, text)
}

fn is_parameter(by_ref: bool, known: &str, wanted: &str, rule: Rule) -> bool {
    let mut wanted = wanted.trim();
    let mut wants_ref = wanted.ends_with('&');
    wanted = wanted.trim_end_matches('&');
    // A default value says nothing of the type.
    wanted = wanted
        .split_once('=')
        .map_or(wanted, |(it, _)| it.trim_end());
    for modifier in [
        "this ",
        "params ",
        "scoped ",
        "ref ",
        "readonly ",
        "out ",
        "in ",
    ] {
        if let Some(rest) = wanted.strip_prefix(modifier) {
            wants_ref |= matches!(modifier, "ref " | "out " | "in ");
            wanted = rest.trim_start();
        }
    }
    if wants_ref != by_ref {
        return false;
    }
    let without_name = wanted.rsplit_once(char::is_whitespace).filter(|(_, name)| {
        name.chars()
            .all(|it| it.is_alphanumeric() || matches!(it, '_' | '@'))
    });
    same(known, wanted, rule) || without_name.is_some_and(|(ty, _)| same(known, ty, rule))
}

/// A piece of a type's text.
#[derive(Debug, PartialEq, Eq)]
enum Piece<'t> {
    /// A name with dots.
    Name(&'t str),
    Mark(char),
}

/// Whether a type is the one that was written.
pub(super) fn same(known: &str, wanted: &str, rule: Rule) -> bool {
    // The name of an explicit implementation may have it in full.
    let known_short = short(known);
    let known = known_short.as_deref().unwrap_or(known);
    are_same(known, wanted, rule) || short(wanted).is_some_and(|it| are_same(known, &it, rule))
}

/// A type as C# writes it for short: `int?` for `Nullable<int>`, `(int, string)` for `ValueTuple<int, string>`, also inside
/// others; nothing if there is nothing to shorten.
fn short(text: &str) -> Option<String> {
    let (before, rest) = text.split_once('<')?;
    let mut depth = 1_u32;
    let end = rest.find(|it| {
        match it {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        depth == 0
    })?;
    let (list, after) = rest.split_at_checked(end)?;
    let after = after.strip_prefix('>')?;
    let written = split(list);
    let arguments: Vec<_> = written.iter().map(|it| short(it)).collect();
    let is_changed = arguments.iter().any(Option::is_some);
    let mut arguments: Vec<_> = arguments
        .into_iter()
        .zip(&written)
        .map(|(short, long)| short.unwrap_or_else(|| long.clone()))
        .collect();
    let length = before
        .chars()
        .rev()
        .take_while(|it| is_of_name(*it))
        .count();
    let (front, name) = before.split_at_checked(before.len() - length)?;
    let behind = short(after);
    let whole = match (
        name.strip_prefix("System.").unwrap_or(name),
        arguments.as_slice(),
    ) {
        ("Nullable", [only]) => Some(format!("{front}{only}?")),
        ("ValueTuple", [_, _, ..]) => {
            // The eighth has the rest.
            if arguments.len() == 8
                && let Some(rest) = arguments.pop()
            {
                let rest = rest
                    .strip_prefix('(')
                    .and_then(|it| it.strip_suffix(')'))
                    .map(str::to_owned)
                    .or_else(|| {
                        let (name, one) = rest.strip_suffix('>')?.split_once('<')?;
                        name.ends_with("ValueTuple").then(|| one.to_owned())
                    });
                arguments.push(rest?);
            }
            Some(format!("{front}({})", arguments.join(", ")))
        }
        _ => None,
    };
    if whole.is_none() && behind.is_none() && !is_changed {
        return None;
    }
    let whole = whole.unwrap_or_else(|| format!("{before}<{}>", arguments.join(", ")));
    Some(format!("{whole}{}", behind.as_deref().unwrap_or(after)))
}

fn are_same(known: &str, wanted: &str, rule: Rule) -> bool {
    let (known, wanted) = (pieces(known, rule), unnamed(pieces(wanted, rule)));
    known.len() == wanted.len()
        && known.iter().zip(&wanted).all(|pair| match pair {
            (Piece::Name(known), Piece::Name(wanted)) => is_name(known, wanted),
            (known, wanted) => known == wanted,
        })
}

fn is_name(known: &str, wanted: &str) -> bool {
    let (known, wanted) = (keyword(known), keyword(wanted));
    let ends = known.strip_suffix(wanted);
    ends.is_some_and(|before| before.is_empty() || before.ends_with(['.', '+']))
}

/// `int` for `System.Int32`.
fn keyword(name: &str) -> &str {
    let simple = name.strip_prefix("System.").unwrap_or(name);
    let known = KEYWORDS.iter().find(|(runtime, _)| *runtime == simple);
    known.map_or(name, |(_, keyword)| keyword)
}

/// Whether a character may be in a name with dots.
fn is_of_name(it: char) -> bool {
    it.is_alphanumeric() || matches!(it, '_' | '.' | '+' | '@')
}

fn pieces(text: &str, rule: Rule) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text.trim();
    while let Some(first) = rest.chars().next() {
        let length = rest.find(|it| !is_of_name(it)).unwrap_or(rest.len());
        if length > 0 {
            let (name, behind) = rest.split_at_checked(length).unwrap_or((rest, ""));
            pieces.push(Piece::Name(name.trim_start_matches('@')));
            rest = behind;
            continue;
        }
        let ignored = first == '?' && rule == Rule::IgnoreNullable;
        if !first.is_whitespace() && !ignored {
            pieces.push(Piece::Mark(first));
        }
        rest = rest.get(first.len_utf8()..).unwrap_or_default();
    }
    pieces
}

/// A type without the names of tuple elements: `(int, string)` for `(int id, string name)`.
fn unnamed(pieces: Vec<Piece<'_>>) -> Vec<Piece<'_>> {
    let mut depth = 0_u32;
    let mut kept: Vec<Piece<'_>> = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Mark('(') => depth += 1,
            Piece::Mark(')') => depth = depth.saturating_sub(1),
            _ => {}
        }
        // A name begins a type behind these, and is an element's behind anything else.
        let begins = matches!(kept.last(), None | Some(Piece::Mark('(' | ',' | '<' | ':')));
        if depth == 0 || begins || !matches!(piece, Piece::Name(_)) {
            kept.push(piece);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(by_ref: bool, known: &str, wanted: &str, expected: bool) {
        assert_eq!(
            is_parameter(by_ref, known, wanted, Rule::Exact),
            expected,
            "{known} as {wanted}"
        );
    }

    #[test]
    fn types_are_compared_as_people_write_them() {
        check(false, "int", "int", true);
        check(false, "int", "System.Int32", true);
        check(false, "int", "Int32 count", true);
        check(false, "int", "uint", false);
        check(false, "nint", "int", false);
        check(true, "int", "ref int", true);
        check(true, "int", "out int value", true);
        check(true, "int", "int&", true);
        check(true, "int", "int", false);
        check(false, "string[]", "params string[] names", true);
        let map = "System.Collections.Generic.Dictionary<string, Shop.Item[]>";
        check(false, map, "Dictionary<string,Item[]>", true);
        check(
            false,
            map,
            "Dictionary<System.String, Shop.Item []> map",
            true,
        );
        check(false, map, "Dictionary<string, Items[]>", false);
        check(false, "int?", "int?", true);
        check(false, "int?", "int", false);
        check(false, "int?", "Nullable<int>", true);
        check(false, "int?", "System.Nullable<System.Int32> count", true);
        check(false, "int", "Nullable<int>", false);
        check(false, "Shop.Nullable<int>", "Nullable<int>", true);
        check(false, "(int, string)", "ValueTuple<int, string>", true);
        check(
            false,
            "(int, string)",
            "System.ValueTuple<int,System.String> pair",
            true,
        );
        check(
            false,
            "(int?, (int, T))[]",
            "ValueTuple<Nullable<int>, ValueTuple<int, T>>[]",
            true,
        );
        let list = "System.Collections.Generic.Dictionary<int?, (int, bool)?>";
        check(
            false,
            list,
            "Dictionary<Nullable<int>, Nullable<ValueTuple<int, bool>>>",
            true,
        );
        check(
            false,
            "(int, int, int, int, int, int, int, string)",
            "ValueTuple<int, int, int, int, int, int, int, ValueTuple<string>>",
            true,
        );
        check(false, "(int, string)", "(int a, string b) t", true);
        check(false, "(int?, T[])[]", "(int? a, T[] b)[]", true);
        check(
            false,
            "(int, (bool, int))",
            "(int, (bool is, int of) b)",
            true,
        );
        check(false, "(int, string)", "(int string)", false);
        check(false, "object", "dynamic d", true);
        check(false, "Shop.Outer.Inner", "Inner", true);
        check(false, "T", "T item = default", true);
    }

    #[test]
    fn marks_of_null_may_be_ignored() {
        assert!(is_parameter(
            false,
            "string",
            "string?",
            Rule::IgnoreNullable
        ));
        assert!(!is_parameter(false, "string", "string?", Rule::Exact));
    }
}
