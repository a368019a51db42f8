//! Methods by the names that people write: `Ns.Type.Method`, `Method`, `Type.Method(int, string)`, `module!…`.
//!
//! A name matches a method if its parts are the last parts of the method's full name, so that as much of the
//! namespace and of the outer types may be given as is needed. Generic arity and arguments may be given or left out.

use cordebug::process::Process;
use metadata::csharp::{GenericNames, Style};
use metadata::{IlOffset, Metadata, Token};

use super::bind::Found;
use crate::api::{BoundLocation, Error, ErrorCode, Line, Source};
use crate::modules::LoadedModule;

/// A parsed name.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FunctionName {
    /// Only in a module of this name.
    module: Option<String>,
    /// The last parts of the name, the method's own last.
    parts: Vec<String>,
    /// The parameter types, if an overload was chosen.
    parameters: Option<Vec<String>>,
}

impl FunctionName {
    pub(super) fn parse(text: &str) -> Result<Self, Error> {
        let bad = |message: String| {
            Error::new(ErrorCode::InvalidParameter, message)
                .hint("write Namespace.Type.Method, Type.Method or Method; Type.Method(int, string) for one overload; module.dll!Type.Method for one module")
        };
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Err(bad(
                "a function breakpoint needs the name of a method".into()
            ));
        }
        if trimmed.contains('*') && !trimmed.contains("operator") {
            return Err(bad(format!(
                "{trimmed:?}: wildcards are not supported; search the symbols for the names you mean, then set one breakpoint for each"
            )));
        }
        let (module, rest) = match trimmed.split_once('!') {
            Some((module, rest)) if !module.contains("operator") => {
                (Some(module.trim().to_owned()), rest.trim())
            }
            _ => (None, trimmed),
        };
        let (name, parameters) = match rest.split_once('(') {
            Some((name, list)) => {
                let list = list
                    .strip_suffix(')')
                    .ok_or_else(|| bad(format!("{trimmed:?}: the parameter list is not closed")))?;
                (name.trim(), Some(split_types(list)))
            }
            None => (rest, None),
        };
        let parts = split_name(name);
        if parts.is_empty() || parts.iter().any(String::is_empty) {
            return Err(bad(format!("{trimmed:?} is not the name of a method")));
        }
        Ok(Self {
            module,
            parts,
            parameters,
        })
    }

    /// The methods of a module that the name means.
    pub(super) fn find(
        &self,
        module: &LoadedModule,
        process: &Process,
    ) -> Result<Vec<Found>, Error> {
        if let Some(wanted) = &self.module {
            let name = module.file_name();
            let stem = name
                .strip_suffix(".dll")
                .or_else(|| name.strip_suffix(".exe"))
                .unwrap_or(&name);
            if !wanted.eq_ignore_ascii_case(&name) && !wanted.eq_ignore_ascii_case(stem) {
                return Ok(Vec::new());
            }
        }
        // A bare method name means the user's own code: the framework has thousands of methods called `Add`.
        let symbols = module.symbols(process).ok();
        if symbols.is_none() && self.parts.len() < 2 && self.module.is_none() {
            return Ok(Vec::new());
        }
        let Ok(opened) = module.metadata(process) else {
            return Ok(Vec::new());
        };
        let metadata = opened.metadata();
        // For the same reason the type must be named in code that is not the user's. Most modules have none of that name.
        if symbols.is_none() && self.parts.len() > 1 {
            let mut before_last = self.parts.iter().rev().skip(1);
            if !before_last.any(|part| module.type_names(metadata).may_contain(part)) {
                return Ok(Vec::new());
            }
        }
        let mut found = Vec::new();
        for method in metadata.tokens(metadata::tables::Table::Method) {
            if !self.could_be(metadata, method) || !self.is(metadata, method) {
                continue;
            }
            let pdb = symbols.map(metadata::Symbols::pdb);
            let body = pdb
                .and_then(|pdb| pdb.move_next_method(method).ok().flatten())
                .unwrap_or(method);
            if !matches!(opened.body(body), Ok(Some(_))) {
                continue;
            }
            let (offset, source) = match module.first_point(process, body) {
                Some((offset, path, line, column)) => (
                    offset,
                    Some(Source {
                        path,
                        line: Line(line),
                        column: Some(column),
                    }),
                ),
                None => (IlOffset(0), None),
            };
            let shown = BoundLocation {
                module: module.file_name(),
                method: module.method_name(process, body),
                source,
                il_offset: offset.0,
            };
            found.push(Found {
                method: body,
                offset,
                shown,
                remark: None,
            });
        }
        Ok(found)
    }

    /// A quick look at the metadata name, to avoid building names for every method of a large module.
    fn could_be(&self, metadata: Metadata<'_>, method: Token) -> bool {
        let Ok(method) = metadata.method(method) else {
            return false;
        };
        let Ok(name) = method.name_bytes() else {
            return false;
        };
        let Some(last) = self.parts.last() else {
            return false;
        };
        let contains = |part: &str| {
            name.windows(part.len().max(1))
                .any(|window| window == part.as_bytes())
        };
        match last.as_str() {
            // Accessors and constructors are called otherwise in metadata.
            "get" | "set" | "add" | "remove" => {
                let property = self
                    .parts
                    .len()
                    .checked_sub(2)
                    .and_then(|at| self.parts.get(at));
                property.is_some_and(|property| contains(property))
            }
            _ if last.starts_with("operator") => name.starts_with(b"op_"),
            _ if name == b".ctor" || name == b".cctor" => {
                let owner = method.declaring_type().and_then(|it| metadata.type_def(it));
                let owner = owner.and_then(|it| it.name());
                owner.is_ok_and(|owner| without_arity(&owner) == last)
            }
            _ => contains(last),
        }
    }

    fn is(&self, metadata: Metadata<'_>, method: Token) -> bool {
        let names = GenericNames::default();
        let Ok(full) = metadata.method_name(method, &names, Style { namespaces: true }) else {
            return false;
        };
        let owner = split_name(&full.owner);
        let mut as_shown = owner.clone();
        for part in &full.path {
            match part.as_str() {
                // C# calls a constructor by the name of its type.
                ".ctor" | ".cctor" => as_shown.extend(owner.last().cloned()),
                _ => as_shown.extend(split_name(part)),
            }
        }
        // Accessors and operators may also be given by their names in metadata: `get_Name`, `op_Addition`.
        let mut as_compiled = owner;
        if let Ok(raw) = metadata.method(method).and_then(|it| it.name()) {
            as_compiled.push(raw.into_owned());
        }
        (ends_with(&as_shown, &self.parts) || ends_with(&as_compiled, &self.parts))
            && self.parameters_match(metadata, method)
    }

    fn parameters_match(&self, metadata: Metadata<'_>, method: Token) -> bool {
        let Some(wanted) = &self.parameters else {
            return true;
        };
        let types = |namespaces| -> Option<Vec<String>> {
            let signature = metadata.method(method).ok()?.signature().ok()?;
            let names = GenericNames::declared(
                metadata,
                metadata.method(method).ok()?.declaring_type().ok(),
                Some(method),
            );
            let text = |ty| {
                metadata.type_text(
                    ty,
                    &names,
                    &metadata::csharp::Annotations::default(),
                    Style { namespaces },
                )
            };
            Some(signature.parameters.iter().map(text).collect())
        };
        let same = |known: Option<Vec<String>>| {
            known.is_some_and(|known| {
                known.len() == wanted.len()
                    && known
                        .iter()
                        .zip(wanted)
                        .all(|(known, wanted)| squeeze(known) == squeeze(wanted))
            })
        };
        same(types(false)) || same(types(true))
    }
}

fn squeeze(text: &str) -> String {
    text.chars()
        .filter(|character| !character.is_whitespace())
        .collect()
}

/// Parts of a dotted name without generic arguments and arity; dots inside `<…>` do not separate.
fn split_name(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0_u32;
    let is_operator = name.contains("operator");
    let constructor = name.ends_with(".ctor") || name.ends_with(".cctor");
    let name = if constructor {
        name.trim_end_matches(".cctor")
            .trim_end_matches(".ctor")
            .trim_end_matches('.')
    } else {
        name
    };
    for character in name.chars() {
        match character {
            '<' if !is_operator => depth += 1,
            '>' if !is_operator => depth = depth.saturating_sub(1),
            '.' | '+' if depth == 0 && !(is_operator && character == '+') => {
                parts.push(String::new())
            }
            _ if depth == 0 => {
                if let Some(last) = parts.last_mut() {
                    last.push(character);
                }
            }
            _ => {}
        }
    }
    for part in &mut parts {
        *part = without_arity(part).trim().to_owned();
    }
    if constructor {
        // C# calls a constructor by the name of its type.
        parts.extend(parts.last().cloned());
    }
    parts
}

/// `List` for `List`1`.
fn without_arity(name: &str) -> &str {
    name.split_once('`').map_or(name, |(bare, _)| bare)
}

fn ends_with(known: &[String], wanted: &[String]) -> bool {
    known.len() >= wanted.len()
        && known
            .iter()
            .rev()
            .zip(wanted.iter().rev())
            .all(|(known, wanted)| known == wanted)
}

/// Types of a parameter list; commas inside `<…>`, `[…]` and `(…)` do not separate.
fn split_types(list: &str) -> Vec<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, module: Option<&str>, parts: &[&str], parameters: Option<&[&str]>) {
        let parsed = FunctionName::parse(text).expect("a name");
        assert_eq!(parsed.module.as_deref(), module);
        assert_eq!(parsed.parts, parts);
        let expected = parameters.map(|list| list.iter().map(|it| (*it).to_owned()).collect());
        assert_eq!(parsed.parameters, expected);
    }

    #[test]
    fn names_are_taken_apart() {
        check("Main", None, &["Main"], None);
        check("Shop.Cart.Total", None, &["Shop", "Cart", "Total"], None);
        check(
            "shop.dll!Cart.Total()",
            Some("shop.dll"),
            &["Cart", "Total"],
            Some(&[]),
        );
        check(
            "Cart.Add(Dictionary<string, int>, int[,])",
            None,
            &["Cart", "Add"],
            Some(&["Dictionary<string, int>", "int[,]"]),
        );
        check("Box<T>.Put", None, &["Box", "Put"], None);
        check("Box`1.Put", None, &["Box", "Put"], None);
        check("Outer+Inner.Run", None, &["Outer", "Inner", "Run"], None);
        check("Cart..ctor", None, &["Cart", "Cart"], None);
        check("Cart.Name.get", None, &["Cart", "Name", "get"], None);
        check("Money.operator +", None, &["Money", "operator +"], None);
    }

    #[test]
    fn wildcards_and_nonsense_are_refused_with_a_hint() {
        for text in ["", "*", "Cart.*", "Cart.Add(int", "a..b"] {
            let error = FunctionName::parse(text).expect_err(text);
            assert_eq!(error.code, ErrorCode::InvalidParameter, "{text}");
            assert!(error.hint.is_some());
        }
    }
}
