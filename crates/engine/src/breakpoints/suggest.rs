//! What may have been meant by a name that no method has.

use super::function::{FunctionName, Meant};
use super::known_names::{ends_with, names_of};
use super::name_parts::Part;
use super::offer::Surroundings;
use crate::modules::LoadedModule;
use cordebug::process::Process;

/// Suggestions at most.
const SUGGESTIONS: usize = 3;
/// Methods looked at in one module at most.
const METHODS: usize = 20_000;
/// Types looked at in one module at most.
const TYPES: usize = 20_000;
/// Files looked at in one module at most.
const FILES: usize = 5000;
/// How a suggestion begins.
pub(super) const QUESTION: &str = "did you mean ";
/// Longer names are not compared.
const LONGEST: usize = 200;

/// The methods of a module of the user's that are called almost so, the most similar first, with their distances.
pub(super) fn similar(
    wanted: &FunctionName,
    module: &LoadedModule,
    around: Surroundings<'_>,
) -> Vec<(usize, String)> {
    if module.symbols(around.process).is_err() {
        // A bare name means code with symbols, but a package without them may have just that one.
        let qualified = wanted.in_module(&module.file_name());
        let is_bare = wanted.parts().len() == 1;
        if !is_bare || module.is_framework() {
            return Vec::new();
        }
        let named = qualified.methods(module, around);
        let shown = |it: &Meant| (0, module.method_name(around.process, it.token));
        return named.iter().take(SUGGESTIONS).map(shown).collect();
    }
    // Right but for the parameters.
    let overloads = wanted.any_overload().methods(module, around);
    if !overloads.is_empty() {
        let shown = |it: &Meant| (0, module.method_name(around.process, it.token));
        return overloads.iter().take(SUGGESTIONS).map(shown).collect();
    }
    let Ok(opened) = module.metadata(around.process) else {
        return Vec::new();
    };
    let metadata = opened.metadata();
    let asked = joined(wanted.parts());
    let limit = (asked.chars().count() / 3).clamp(1, 4);
    let mut found = Vec::new();
    for method in metadata
        .tokens(metadata::tables::Table::Method)
        .take(METHODS)
        // Nobody can stop in what an extension block declares: its code is in the class around it.
        .filter(|it| !metadata.is_extension_declaration(*it))
    {
        let written_in = module.local_functions_around(around.process, method);
        let closest = names_of(metadata, method, &written_in)
            .into_iter()
            .filter_map(|name| {
                let from = name.len().checked_sub(wanted.parts().len());
                let near =
                    from.and_then(|from| distance(&asked, &joined(name.get(from..)?), limit));
                near.or_else(|| related(&name, wanted.parts()).then_some(limit + 1))
            })
            .min();
        if let Some(distance) = closest {
            found.push((distance, method));
        }
    }
    found.sort_unstable();
    let shown = |(distance, method)| (distance, module.method_name(around.process, method));
    found.into_iter().take(SUGGESTIONS).map(shown).collect()
}

/// The types of the user's modules that are called almost so, the most similar first.
pub(crate) fn types<'m>(
    wanted: &str,
    modules: impl Iterator<Item = &'m LoadedModule>,
    process: &Process,
) -> Vec<String> {
    let last = |name: &str| {
        let bare = name.split('<').next().unwrap_or_default();
        bare.rsplit(['.', '+'])
            .next()
            .unwrap_or_default()
            .to_lowercase()
    };
    let asked = last(wanted.trim());
    let limit = (asked.chars().count() / 3).clamp(1, 4);
    let mut found = Vec::new();
    for module in modules.filter(|it| it.symbols(process).is_ok()) {
        let Ok(metadata) = module.metadata(process).map(|it| it.metadata()) else {
            continue;
        };
        let tokens = metadata.tokens(metadata::tables::Table::TypeDef);
        for token in tokens.take(TYPES) {
            let name = crate::names::type_name(metadata, token);
            // What the compiler has made has no name that a person would write.
            if !name.contains("<>")
                && let Some(distance) = distance(&asked, &last(&name), limit)
            {
                found.push((distance, name));
            }
        }
    }
    found.sort_unstable();
    let names = found.into_iter().map(|(_, name)| name);
    names.take(SUGGESTIONS).collect()
}

/// The names of files of a module of the user's that are called almost so, with their distances.
pub(super) fn files(
    wanted: &str,
    module: &LoadedModule,
    around: Surroundings<'_>,
) -> Vec<(usize, String)> {
    let Ok(symbols) = module.symbols(around.process) else {
        return Vec::new();
    };
    let last = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned();
    let asked = last(wanted).to_lowercase();
    let limit = (asked.chars().count() / 3).clamp(1, 4);
    let mut found: Vec<(usize, String)> = symbols
        .documents()
        .iter()
        .take(FILES)
        .filter_map(|(path, _)| {
            let name = last(path);
            // The very name is told with where it is: another file has it.
            if name == last(wanted) {
                return None;
            }
            Some((distance(&asked, &name.to_lowercase(), limit)?, name))
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found.truncate(SUGGESTIONS);
    found
}

/// Whether a method is in the type that was named, or has the name but not the type that was.
fn related(name: &[Part], wanted: &[Part]) -> bool {
    let Some((last, owner)) = name.split_last() else {
        return false;
    };
    ends_with(owner, wanted) || wanted.len() > 1 && wanted.last() == Some(last)
}

/// The best of what several modules suggest, as a person reads it.
pub(super) fn told(mut found: Vec<(usize, String)>) -> Option<String> {
    found.sort();
    found.dedup();
    let names: Vec<String> = found
        .into_iter()
        .take(SUGGESTIONS)
        .map(|(_, name)| name)
        .collect();
    (!names.is_empty()).then(|| format!("{QUESTION}{}?", names.join(" or ")))
}

fn joined(parts: &[Part]) -> String {
    let names: Vec<&str> = parts.iter().map(|it| it.name.as_str()).collect();
    names.join(".").to_lowercase()
}

/// How many characters must be changed, added, removed or swapped; nothing if more than `limit`.
pub(crate) fn distance(a: &str, b: &str, limit: usize) -> Option<usize> {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > limit || a.len().max(b.len()) > LONGEST {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let at = |row: &[usize], j: usize| row.get(j).copied().unwrap_or(usize::MAX / 2);
            let mut best = (at(&row, j) + usize::from(x != y))
                .min(at(&row, j + 1) + 1)
                .min(at(&next, j) + 1);
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(y) && b.get(j - 1) == Some(x);
            if swapped && x != y {
                best = best.min(at(&before, j - 1) + 1);
            }
            next.push(best);
        }
        if next.iter().all(|it| *it > limit) {
            return None;
        }
        before = std::mem::replace(&mut row, next);
    }
    row.last().copied().filter(|it| *it <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, expected) in [
            ("total", "total", Some(0)),
            ("totla", "total", Some(1)),
            ("totl", "total", Some(1)),
            ("cart.total", "card.totals", Some(2)),
            ("total", "percent", None),
            ("", "abc", None),
        ] {
            assert_eq!(distance(a, b, 2), expected, "{a} {b}");
        }
    }
}
