//! What the names of exception breakpoints mean: a slip of the pen would else never be noticed.

use std::collections::BTreeSet;

use super::same_type;
use crate::api::{Error, ErrorCode, ExceptionSpec};
use crate::breakpoints::suggest;
use crate::modules::LoadedModule;
use crate::target::Target;
use crate::types::ModuleId;

/// Types looked at in one module at most.
const TYPES: usize = 20_000;
/// Suggestions at most.
const SUGGESTIONS: usize = 3;

/// The types that C# has words for: none of them is an exception.
const KEYWORDS: [&str; 19] = [
    "bool", "byte", "char", "decimal", "double", "dynamic", "float", "int", "long", "nint",
    "nuint", "object", "sbyte", "short", "string", "uint", "ulong", "ushort", "void",
];

/// Said where there may be types that cannot be read now.
const LEFT_OUT: &str = " (what it emitted while it ran was not looked at)";

/// What a name means among the types that are loaded.
enum Meaning {
    /// An exception, or what may be one.
    Exception,
    /// Types that cannot be thrown: the full name of one, and what it is derived from.
    Other { name: String, base: Option<String> },
    /// No type at all; some exceptions are called almost so. And what was not looked at.
    Nothing {
        similar: Vec<String>,
        left_out: &'static str,
    },
}

/// Why no exception can have had a name that a breakpoint gives, as far as the types that are loaded tell.
pub(super) fn unknown(target: &Target, spec: &ExceptionSpec) -> Vec<String> {
    let names = spec.types.iter().chain(&spec.except).map(|it| it.trim());
    let told = names.filter_map(|name| match meaning(target, name) {
        Meaning::Exception => None,
        Meaning::Other { base, .. } => Some(format!(
            "{name} is no exception{}",
            derived(base.as_deref())
        )),
        Meaning::Nothing { similar, left_out } if similar.is_empty() => {
            Some(format!("no module had a type {name}{left_out}"))
        }
        Meaning::Nothing { similar, left_out } => Some(format!(
            "no module had a type {name}{left_out}, did you mean {}?",
            similar.join(" or ")
        )),
    });
    told.collect()
}

/// What a user should know of the types of a breakpoint. Before the program is there nobody knows.
pub(super) fn notes(target: Option<&Target>, spec: &ExceptionSpec) -> Vec<String> {
    let mut notes = Vec::new();
    for name in spec.types.iter().chain(&spec.except) {
        let name = name.trim();
        match target.map_or(Meaning::Exception, |it| meaning(it, name)) {
            Meaning::Exception => {}
            Meaning::Other { base, .. } => notes.push(format!(
                "{name} is no exception{}: it counts only if a module brings an exception of that name",
                derived(base.as_deref())
            )),
            Meaning::Nothing { similar, left_out } if similar.is_empty() => notes.push(format!(
                "no loaded module has a type {name}{left_out}: it counts as soon as one has"
            )),
            Meaning::Nothing { similar, left_out } => notes.push(format!(
                "no loaded module has a type {name}{left_out}, did you mean {}? It counts as soon as one has",
                similar.join(" or ")
            )),
        }
        if name.contains('<') {
            notes.push(format!(
                "type arguments are not looked at: {name} stands for all of that type"
            ));
        }
    }
    notes
}

/// The full names of the types that some names mean among those that are loaded; one that means none stands for itself.
pub(super) fn meant(target: &Target, names: &[String]) -> BTreeSet<String> {
    let mut meant = BTreeSet::new();
    for wanted in names {
        let bare = super::bare(wanted);
        let simple = bare.rsplit('.').next().unwrap_or_default().to_owned();
        let before = meant.len();
        for module in target.modules.iter().filter(|it| !it.is_emitted()) {
            let Ok(opened) = module.metadata(&target.process) else {
                continue;
            };
            let metadata = opened.metadata();
            if !module.type_names(metadata).may_have(&simple) {
                continue;
            }
            let types = metadata.tokens(metadata::tables::Table::TypeDef);
            let names = types.filter_map(|it| metadata.full_name(it).ok());
            meant.extend(names.filter(|it| same_type(it, wanted)));
        }
        if meant.len() == before {
            meant.insert(bare);
        }
    }
    meant
}

fn names_of(spec: &ExceptionSpec) -> impl Iterator<Item = &str> {
    spec.types.iter().map(|it| it.trim())
}

/// Refuses a type that is there, by its full name, and can never be thrown.
pub(super) fn check(target: Option<&Target>, spec: &ExceptionSpec) -> Result<(), Error> {
    if let Some(keyword) = names_of(spec).find(|it| KEYWORDS.contains(it)) {
        return Err(Error::new(
            ErrorCode::InvalidParameter,
            format!(
                "{keyword} is no exception but a type that C# has a word for, so it is never thrown"
            ),
        )
        .hint("name a type that derives from System.Exception"));
    }
    if let Some(excluded) = names_of(spec).find(|it| it.starts_with('!')) {
        return Err(Error::new(
            ErrorCode::InvalidParameter,
            format!("{excluded:?} is no name of a type"),
        )
        .hint(
            "types that are to be left out are a list of their own, without an exclamation mark",
        ));
    }
    let mut all = names_of(spec).chain(spec.except.iter().map(String::as_str));
    if let Some(pattern) = all.find(|it| it.contains(['*', '?'])) {
        return Err(Error::new(
            ErrorCode::InvalidParameter,
            format!("{pattern:?} is no name of a type: wildcards are not supported"),
        )
        .hint("name each type, or a base type: what derives from it counts too"));
    }
    let Some(target) = target else { return Ok(()) };
    for wanted in &spec.types {
        let wanted = wanted.trim();
        // A name without namespace stands for every type that is called so, also for those that come later.
        if wanted.contains(['.', '+'])
            && let Meaning::Other { name, base } = meaning(target, wanted)
        {
            let base = derived(base.as_deref());
            return Err(Error::new(
                ErrorCode::InvalidParameter,
                format!("{name} is no exception{base}, so it is never thrown"),
            )
            .hint("name a type that derives from System.Exception"));
        }
    }
    Ok(())
}

fn derived(base: Option<&str>) -> String {
    base.map_or_else(String::new, |base| format!(" (it derives from {base})"))
}

fn meaning(target: &Target, wanted: &str) -> Meaning {
    let bare = super::bare(wanted);
    let simple = bare.rsplit('.').next().unwrap_or_default().trim();
    let mut other = None;
    let mut left_out = false;
    let mut modules = target.modules.iter().peekable();
    if modules.peek().is_none() {
        return Meaning::Exception;
    }
    for module in modules {
        let is_emitted = module.is_emitted();
        // What is emitted can be read for certain only while the program is stopped.
        if is_emitted && !target.is_stopped() {
            left_out = true;
            continue;
        }
        let Ok(opened) = module.described(&target.process) else {
            // A module that cannot be read may have any type.
            return Meaning::Exception;
        };
        let metadata = opened.metadata();
        // One that is emitted has more names later.
        if !is_emitted && !module.type_names(metadata).may_have(simple) {
            continue;
        }
        for token in metadata.tokens(metadata::tables::Table::TypeDef) {
            // Not as C# has it: `string` is no name that anybody gives here.
            let Ok(name) = metadata.full_name(token) else {
                continue;
            };
            if !same_type(&name, wanted) {
                continue;
            }
            match base_of_other(target, module, token) {
                None => return Meaning::Exception,
                Some(base) => other = other.or(Some((name, base))),
            }
        }
    }
    match other {
        Some((name, base)) => Meaning::Other { name, base },
        None => Meaning::Nothing {
            similar: similar(target, simple),
            left_out: if left_out { LEFT_OUT } else { "" },
        },
    }
}

/// Of a type that is no exception, what it is derived from; `None` for one that is, or may be.
fn base_of_other(
    target: &Target,
    module: &LoadedModule,
    token: metadata::Token,
) -> Option<Option<String>> {
    let types = target.types();
    let id = ModuleId(module.identity());
    let ty = types.open(id, token).ok()?;
    let ancestry = types.ancestry(&ty).ok()?;
    let is = |name: &str| {
        let mut all = ancestry.iter();
        all.any(|it| types.is_named(it, "System", name))
    };
    let definition = types.definition(ancestry.first()?).ok()?;
    // Whose base types are not all loaded may be one.
    let is_whole = is("Object") || definition.base().is_none();
    if is("Exception") || !is_whole {
        return None;
    }
    let base = ancestry.get(1);
    Some(base.map(|base| types.full_text(&crate::types::Type::Named(base.clone()))))
}

/// The exceptions that are called almost so, the most similar first, the user's before others.
fn similar(target: &Target, simple: &str) -> Vec<String> {
    // What most of them end with says nothing.
    let stem = |name: &str| {
        let name = name.to_lowercase();
        let short = name.strip_suffix("exception").unwrap_or(&name).to_owned();
        if short.is_empty() { name } else { short }
    };
    let asked = stem(simple);
    let limit = (asked.chars().count() / 3).clamp(1, 4);
    let mut found = Vec::new();
    for module in target.modules.iter() {
        let Ok(opened) = module.metadata(&target.process) else {
            continue;
        };
        let metadata = opened.metadata();
        let foreign = module.symbols(&target.process).is_err();
        let tokens = metadata.tokens(metadata::tables::Table::TypeDef);
        for token in tokens.take(TYPES) {
            let name = crate::names::type_name(metadata, token);
            let last = name.rsplit(['.', '+']).next().unwrap_or_default();
            if let Some(distance) = suggest::distance(&asked, &stem(last), limit)
                && base_of_other(target, module, token).is_none()
            {
                found.push((distance, foreign, name));
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    // What is much further off than the best was not meant.
    let best = found.first().map_or(0, |it| it.0);
    let near = found.into_iter().filter(|it| it.0 <= best + 1);
    near.take(SUGGESTIONS).map(|it| it.2).collect()
}
