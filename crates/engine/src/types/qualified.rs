//! Types by the names that attributes have for them: `N.Outer+Inner`2[[System.Int32, …],[System.String, …]][], Assembly, …`.
//!
//! Invariant: whatever the text, reading it ends and nests no deeper than [`MAX_DEPTH`].

use std::rc::Rc;

use super::{ModuleId, Type, Types};

/// Arguments nest less deeply.
const MAX_DEPTH: u32 = 16;

/// A name, taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Qualified<'a> {
    /// With namespace, enclosing types and arity.
    pub(crate) name: &'a str,
    pub(crate) arguments: Vec<Qualified<'a>>,
    /// The ranks of the arrays that it is the element of, innermost first; 0 of one with a lower bound of its own.
    pub(crate) ranks: Vec<u32>,
    /// The simple name of its assembly, if it is named.
    pub(crate) assembly: Option<&'a str>,
}

impl<'a> Qualified<'a> {
    /// Takes a name apart; `None` if it is none.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let (found, rest) = read(text, true, 0)?;
        rest.is_empty().then_some(found)
    }
}

/// Reads a name up to what ends it; with the assembly behind it, if one can follow.
fn read(text: &str, has_assembly: bool, depth: u32) -> Option<(Qualified<'_>, &str)> {
    if depth > MAX_DEPTH {
        return None;
    }
    let text = text.trim_start();
    let mut is_escaped = false;
    let ends = |letter: char| {
        let is_end = !is_escaped && matches!(letter, '[' | ']' | ',' | '*' | '&');
        is_escaped = !is_escaped && letter == '\\';
        is_end
    };
    let (name, mut rest) = text.split_at(text.find(ends).unwrap_or(text.len()));
    let mut found = Qualified {
        name: name.trim(),
        arguments: Vec::new(),
        ranks: Vec::new(),
        assembly: None,
    };
    if found.name.is_empty() {
        return None;
    }
    while let Some(inside) = rest.strip_prefix('[') {
        let is_array = inside.starts_with([']', ',', '*']);
        rest = match is_array {
            true => {
                let (commas, behind) = inside.split_once(']')?;
                if !commas.chars().all(|it| matches!(it, ',' | '*')) {
                    return None;
                }
                let rank = u32::try_from(commas.matches(',').count()).ok()? + 1;
                found.ranks.push(if commas == "*" { 0 } else { rank });
                behind
            }
            false if found.arguments.is_empty() && found.ranks.is_empty() => {
                arguments(inside, depth, &mut found.arguments)?
            }
            false => return None,
        };
    }
    if has_assembly && let Some(behind) = rest.strip_prefix(',') {
        let (assembly, behind) = behind.split_at(behind.find(']').unwrap_or(behind.len()));
        let assembly = assembly.split(',').next().unwrap_or_default().trim();
        found.assembly = (!assembly.is_empty()).then_some(assembly);
        rest = behind;
    }
    Some((found, rest))
}

/// Reads arguments behind their bracket, and what closes that.
fn arguments<'a>(text: &'a str, depth: u32, into: &mut Vec<Qualified<'a>>) -> Option<&'a str> {
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let argument = match rest.strip_prefix('[') {
            Some(inside) => {
                let (argument, behind) = read(inside, true, depth + 1)?;
                rest = behind.strip_prefix(']')?;
                argument
            }
            None => {
                let (argument, behind) = read(rest, false, depth + 1)?;
                rest = behind;
                argument
            }
        };
        into.push(argument);
        match rest.strip_prefix(',') {
            Some(behind) => rest = behind,
            None => return rest.strip_prefix(']'),
        }
    }
}

impl Types<'_> {
    /// The type that is meant where an attribute of a module names it; arguments that are not named are those given.
    pub(crate) fn qualified(
        self,
        name: &Qualified<'_>,
        by: ModuleId,
        given: &[Type],
    ) -> Option<Type> {
        let framework = || self.modules.iter().filter(|it| it.is_framework());
        let modules = match name.assembly {
            None => vec![by, self.core_module()?],
            // What the framework's assemblies are named as may only lead to another one that has the type.
            Some(assembly) => {
                let named = self.assembly(assembly);
                let is_own = named.is_some_and(|it| self.has(it, name.name));
                match is_own {
                    true => named.into_iter().collect(),
                    false => framework().map(|it| ModuleId(it.identity())).collect(),
                }
            }
        };
        let found = { modules }.into_iter().find_map(|module| {
            let opened = self.metadata(module).ok()?;
            let found = opened.types().find_def(opened.metadata(), name.name)?;
            Some((module, found.token()))
        });
        let (module, token) = found?;
        let open = self.open_named(module, token).ok()?;
        let arguments: Vec<Type> = match name.arguments.as_slice() {
            [] => given.to_vec(),
            named => {
                let each = named.iter().map(|it| self.qualified(it, by, &[]));
                each.collect::<Option<_>>()?
            }
        };
        let mut ty = match open.arguments.len() {
            0 => self.construct(module, token, Box::default()).ok()?,
            wanted if wanted == arguments.len() => {
                self.construct(module, token, arguments.into()).ok()?
            }
            _ => return None,
        };
        for rank in &name.ranks {
            ty = match rank {
                0 => return None,
                1 => Type::SzArray(Rc::new(ty)),
                rank => Type::Array {
                    element: Rc::new(ty),
                    rank: *rank,
                },
            };
        }
        Some(ty)
    }

    fn has(self, module: ModuleId, name: &str) -> bool {
        let opened = self.metadata(module);
        opened.is_ok_and(|it| it.types().find_def(it.metadata(), name).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, told: &str) {
        fn write(it: &Qualified<'_>) -> String {
            let arguments: Vec<String> = it.arguments.iter().map(write).collect();
            format!(
                "{}<{}>{:?}@{}",
                it.name,
                arguments.join(";"),
                it.ranks,
                it.assembly.unwrap_or("-")
            )
        }
        let found = Qualified::parse(text);
        assert_eq!(found.as_ref().map_or("none".into(), write), told, "{text}");
    }

    #[test]
    fn names_are_taken_apart() {
        check("View", "View<>[]@-");
        check("N.Outer+View, lib, Version=1.0", "N.Outer+View<>[]@lib");
        check(
            "View`2[[System.String, Core, Version=9.0.0.0],[System.Int32[], Core]]",
            "View`2<System.String<>[]@Core;System.Int32<>[1]@Core>[]@-",
        );
        check(
            "View`1[[Box`1[[System.Object, Core]], lib]], lib",
            "View`1<Box`1<System.Object<>[]@Core>[]@lib>[]@lib",
        );
        check("View`1[N.A][,], lib", "View`1<N.A<>[]@->[2]@lib");
        check("View3, nope", "View3<>[]@nope");
        for wrong in ["", ",", "[", "A[[B", "A[B", "A[[B]", "A]", "A[b][c]"] {
            check(wrong, "none");
        }
        check(&"A[".repeat(1000), "none");
    }
}
