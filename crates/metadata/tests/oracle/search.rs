//! Symbols of the framework, found by what a person remembers of their names.

use std::fs;

use metadata::Module;
use metadata::csharp::GeneratedName;
use metadata::search::{Fit, Found, Pattern, SymbolKind};

use crate::common::variable;

fn framework(name: &str) -> Module {
    let base = variable("NDBG_TEST_DOTNET").join("shared/Microsoft.NETCore.App");
    let versions = fs::read_dir(&base).expect("a shared framework");
    let newest = versions
        .map(|it| it.expect("an entry").path())
        .max_by_key(|it| (it.as_os_str().len(), it.clone()))
        .expect("a version");
    let bytes = fs::read(newest.join(name)).expect("a library of the framework");
    Module::open(bytes).expect("an assembly")
}

fn search(module: &Module, pattern: &str, kinds: &[SymbolKind], limit: usize) -> Found {
    let pattern = Pattern::new(pattern).expect("a pattern");
    let found = module.metadata().search(&pattern, kinds, limit);
    assert!(found.is_complete && found.symbols.len() == found.n_fitting.min(limit));
    assert!(
        found.symbols.is_sorted_by_key(|symbol| symbol.rank),
        "the best come first"
    );
    found
}

fn names(found: &Found) -> Vec<&str> {
    found.symbols.iter().map(|it| it.name.as_str()).collect()
}

/// The first names that a search of everything gives.
#[track_caller]
fn check(module: &Module, pattern: &str, first: &[&str]) {
    let found = search(module, pattern, &SymbolKind::ALL, first.len().max(1));
    assert_eq!(names(&found), first, "{pattern}: {} fit", found.n_fitting);
}

#[test]
fn framework_symbols_are_found_by_what_one_remembers() {
    let core = framework("System.Private.CoreLib.dll");
    check(
        &core,
        "InvalidOperationException",
        &["System.InvalidOperationException"],
    );
    check(
        &core,
        "invalidoperationexception",
        &["System.InvalidOperationException"],
    );
    check(&core, "IOException", &["System.IO.IOException"]);
    check(
        &core,
        "Tasks.Task",
        &[
            "System.Threading.Tasks.Task",
            "System.Threading.Tasks.Task<TResult>",
        ],
    );
    check(&core, "Task<>", &["System.Threading.Tasks.Task<TResult>"]);
    check(
        &core,
        "Dictionary<TKey, TValue>",
        &["System.Collections.Generic.Dictionary<TKey, TValue>"],
    );
    check(
        &core,
        "System.Collections.Generic.List.Count",
        &["System.Collections.Generic.List<T>.Count"],
    );
    check(
        &core,
        "list.addrange",
        &["System.Collections.Generic.List<T>.AddRange"],
    );
    check(
        &core,
        "List.get_Count",
        &["System.Collections.Generic.List<T>.Count.get"],
    );
    check(
        &core,
        "AppDomain.ProcessExit",
        &["System.AppDomain.ProcessExit"],
    );
    check(&core, "DayOfWeek.Monday", &["System.DayOfWeek.Monday"]);
    check(&core, "NoSuchNameAnywhere", &[]);
    let found = search(&core, "IOE", &[SymbolKind::Type], 200);
    assert!(
        names(&found).contains(&"System.InvalidOperationException"),
        "{found:?}"
    );
    let found = search(
        &core,
        "System.Threading.Tasks.Task.When*",
        &[SymbolKind::Method],
        100,
    );
    assert!(
        found.symbols.len() >= 4 && names(&found).iter().all(|name| name.contains(".Task.When")),
        "{found:?}"
    );
    let console = framework("System.Console.dll");
    let found = search(&console, "Console.WL", &[SymbolKind::Method], 100);
    assert!(
        found.symbols.len() >= 10
            && found.symbols.iter().all(|it| it.rank.fit == Fit::Humps)
            && names(&found).contains(&"System.Console.WriteLine"),
        "{found:?}"
    );
}

/// What is counted must be what is there: every name of every kind, compared with a plain walk over all members.
#[test]
fn nothing_that_fits_is_left_out() {
    let core = framework("System.Private.CoreLib.dll");
    let metadata = core.metadata();
    let count = |needle: &str, kind: SymbolKind| {
        let contains = |name: &str| name.to_ascii_lowercase().contains(needle);
        let fits = |name: &str, is_generated: bool| match GeneratedName::parse(name) {
            Some(generated) => generated.local_function().is_some_and(contains),
            None if is_generated || name.starts_with('<') => false,
            None => contains(name.rsplit('.').next().unwrap_or(name)),
        };
        let types = metadata.type_defs().skip(1).map(|it| it.expect("a type"));
        let mut n = 0;
        for ty in types {
            let is_generated = ty.name().expect("a name").starts_with('<');
            let members = |names: &mut dyn Iterator<Item = String>| {
                names.filter(|name| fits(name, is_generated)).count()
            };
            n += match kind {
                SymbolKind::Type => {
                    let name = ty.name().expect("a name");
                    usize::from(fits(
                        name.split('`').next().unwrap_or_default(),
                        is_generated,
                    ))
                }
                SymbolKind::Method => members(&mut ty.methods().filter_map(|it| {
                    let it = it.expect("a method");
                    let is_accessor = it.semantics().expect("a row").is_some();
                    (!is_accessor).then(|| it.name().expect("a name").into_owned())
                })),
                SymbolKind::Property => members(
                    &mut ty
                        .properties()
                        .map(|it| it.expect("a property").name().expect("a name").into_owned()),
                ),
                SymbolKind::Field => members(&mut ty.fields().filter_map(|it| {
                    let it = it.expect("a field");
                    let is_plain = !it.flags().is_runtime_special_name();
                    is_plain.then(|| it.name().expect("a name").into_owned())
                })),
                SymbolKind::Event => members(
                    &mut ty
                        .events()
                        .map(|it| it.expect("an event").name().expect("a name").into_owned()),
                ),
            };
        }
        n
    };
    for needle in ["task", "e", "list", "changed"] {
        for kind in SymbolKind::ALL {
            let found = search(&core, needle, &[kind], 1);
            assert_eq!(found.n_fitting, count(needle, kind), "{needle} {kind:?}");
            assert!(found.symbols.iter().all(|it| it.rank.kind == kind));
        }
    }
}
