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
const KEYWORDS: [(&str, &str); 16] = [
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
];

/// Whether a method takes these parameters.
pub(super) fn has_parameters(
    metadata: Metadata<'_>,
    method: Token,
    wanted: &[String],
    rule: Rule,
) -> bool {
    let known = || -> metadata::Result<Vec<(bool, String)>> {
        let signature = metadata.method(method)?.signature()?;
        let types = signature.parameters.iter();
        Ok(types.map(|ty| text(metadata, method, ty)).collect())
    };
    let Ok(known) = known() else { return false };
    known.len() == wanted.len()
        && known
            .iter()
            .zip(wanted)
            .all(|((by_ref, known), wanted)| is_parameter(*by_ref, known, wanted, rule))
}

/// Whether a method gives this type.
pub(super) fn has_result(metadata: Metadata<'_>, method: Token, wanted: &str, rule: Rule) -> bool {
    let signature = metadata.method(method).and_then(|it| it.signature());
    signature.is_ok_and(|it| {
        let (by_ref, known) = text(metadata, method, &it.return_type);
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
fn text(metadata: Metadata<'_>, method: Token, ty: &Type) -> (bool, String) {
    let owner = metadata
        .method(method)
        .and_then(|it| it.declaring_type())
        .ok();
    let names = GenericNames::declared(metadata, owner, Some(method));
    let (by_ref, ty) = match ty {
        Type::ByRef(referent) => (true, &**referent),
        ty => (false, ty),
    };
    let style = Style { namespaces: true };
    let text = metadata.type_text(ty, &names, &Annotations::default(), style);
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

fn same(known: &str, wanted: &str, rule: Rule) -> bool {
    let (known, wanted) = (pieces(known, rule), pieces(wanted, rule));
    known.len() == wanted.len()
        && known.iter().zip(&wanted).all(|pair| match pair {
            (Piece::Name(known), Piece::Name(wanted)) => is_name(known, wanted),
            (known, wanted) => known == wanted,
        })
}

fn is_name(known: &str, wanted: &str) -> bool {
    let wanted = keyword(wanted);
    let ends = known.strip_suffix(wanted);
    ends.is_some_and(|before| before.is_empty() || before.ends_with(['.', '+']))
}

/// `int` for `System.Int32`.
fn keyword(name: &str) -> &str {
    let simple = name.strip_prefix("System.").unwrap_or(name);
    let known = KEYWORDS.iter().find(|(runtime, _)| *runtime == simple);
    known.map_or(name, |(_, keyword)| keyword)
}

fn pieces(text: &str, rule: Rule) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text.trim();
    while let Some(first) = rest.chars().next() {
        let is_name = |it: char| it.is_alphanumeric() || matches!(it, '_' | '.' | '+' | '@');
        let length = rest.find(|it| !is_name(it)).unwrap_or(rest.len());
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
