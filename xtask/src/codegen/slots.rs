//! Counts vtable slots of an IDL file without parsing it.
//!
//! A method lost by the parser shifts every later slot of its interface, and calls then
//! run the wrong function. This count shares no code with `idl`: it looks for the text
//! `HRESULT Name(` between the braces of each interface, so that both would have to
//! be wrong in the same way.

use std::collections::BTreeMap;

use anyhow::{Context, ensure};

/// Slots that come from `IUnknown`.
const UNKNOWN: usize = 3;

/// `interface -> number of slots`, base interfaces included.
pub(super) fn count(idl: &str) -> anyhow::Result<BTreeMap<String, usize>> {
    let text = without_comments(idl);
    let mut own = BTreeMap::new();
    // A definition is `interface Name : Base {`; forward declarations have no colon.
    for (at, _) in text.match_indices("interface ") {
        let rest = &text[at + "interface ".len()..];
        let Some((head, body)) = rest.split_once('{') else {
            continue;
        };
        let Some((name, base)) = head.split_once(':') else {
            continue;
        };
        if name.contains(';') {
            continue;
        }
        let methods = methods(balanced(body).with_context(|| format!("{name} never ends"))?);
        let previous = own.insert(name.trim().to_owned(), (base.trim().to_owned(), methods));
        ensure!(previous.is_none(), "{name} is defined twice");
    }
    own.keys()
        .map(|name| Ok((name.clone(), total(&own, name, 0)?)))
        .collect()
}

fn total(
    own: &BTreeMap<String, (String, usize)>,
    name: &str,
    depth: usize,
) -> anyhow::Result<usize> {
    ensure!(depth < 16, "{name} inherits from itself");
    if name == "IUnknown" {
        return Ok(UNKNOWN);
    }
    let (base, methods) = own
        .get(name)
        .with_context(|| format!("{name} is not defined"))?;
    Ok(methods + total(own, base, depth + 1)?)
}

/// The text up to the brace that closes the one just before `body`.
fn balanced(body: &str) -> Option<&str> {
    let mut depth = 1;
    for (at, c) in body.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&body[..at]);
        }
    }
    None
}

fn methods(body: &str) -> usize {
    let after = body.split("HRESULT").skip(1);
    after
        .filter(|rest| rest.starts_with(char::is_whitespace) && opens_call(rest))
        .count()
}

fn opens_call(rest: &str) -> bool {
    let rest = rest.trim_start();
    let name = rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
    name.len() < rest.len() && name.trim_start().starts_with('(')
}

fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("/*") {
        // A block comment opener inside a line comment is text, not an opener.
        let line = rest[..at].rfind('\n').map_or(0, |nl| nl + 1);
        if rest[line..at].contains("//") {
            let end = rest[at..].find('\n').map_or(rest.len(), |nl| at + nl);
            out.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        }
        out.push_str(&rest[..at]);
        rest = rest[at..]
            .find("*/")
            .map_or("", |end| &rest[at + end + 2..]);
    }
    out.push_str(rest);
    let lines = out
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_own_and_inherited_methods() {
        let idl = r#"
            interface IB;
            /* HRESULT Old(); */ // HRESULT Older();
            interface IA : IUnknown
            {
                typedef enum E { X } E; // see /* HRESULT Oldest();
                HRESULT One([in] HRESULT hr, [out] HRESULT *p);
                HRESULT Two (void);
            };
            interface IB : IA { HRESULT
                Three(); }
            library L { coclass C { [default] interface IA; }; };
        "#;
        let slots = count(idl).expect("counts");
        assert_eq!(
            slots.into_iter().collect::<Vec<_>>(),
            [("IA".into(), 5), ("IB".into(), 6)]
        );
    }
}
