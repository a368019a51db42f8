//! Modules: what each is, and when it comes and goes.

use host::api::{Event, ModuleReport, Reply, Request};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

#[track_caller]
fn modules(program: &Debuggee<'_>) -> Vec<ModuleReport> {
    match program.request(Request::Modules) {
        Ok(Reply::Modules(modules)) => modules,
        other => panic!("no modules: {other:?}"),
    }
}

#[track_caller]
fn named<'m>(modules: &'m [ModuleReport], name: &str) -> &'m ModuleReport {
    let found = modules.iter().find(|it| it.name == name);
    found.unwrap_or_else(|| panic!("no {name} in {modules:#?}"))
}

#[test]
fn are_told_with_path_version_identity_and_symbols() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("breaks").start();
    program.wait_stop();
    let modules = modules(&program);
    let own = named(&modules, "breaks.dll");
    assert!(
        own.path
            .as_ref()
            .is_some_and(|path| path.ends_with("/breaks.dll"))
    );
    assert!(own.symbols && own.user_code && !own.dynamic && !own.in_memory);
    assert_eq!(own.symbols_file.as_ref(), Some(&own.symbols_detail));
    let beside = own.path.as_ref().map(|it| it.replace(".dll", ".pdb"));
    assert_eq!(own.symbols_file, beside, "where its symbols are");
    assert!(own.version.is_some());
    assert_eq!(own.mvid.as_ref().map(String::len), Some(36));
    assert_eq!(own.optimized, Some(false));
    assert_eq!(own.optimized_code, Some(false));

    let framework = named(&modules, "System.Private.CoreLib.dll");
    assert!(!framework.symbols && !framework.user_code);
    assert!(
        framework.symbols_detail.contains("pdb"),
        "{}",
        framework.symbols_detail
    );
    assert_eq!(framework.optimized_code, Some(true));
    assert_ne!(framework.mvid, own.mvid);
    program.disconnect(Some(true), false);
}

#[test]
fn loads_are_told_in_order() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("breaks").start();
    program.wait_stop();
    let loaded: Vec<_> = program
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::ModuleLoaded { module, user_code } => Some((module, user_code)),
            _ => None,
        })
        .collect();
    let at = |name: &str| loaded.iter().position(|(module, _)| module.ends_with(name));
    assert_eq!(at("System.Private.CoreLib.dll"), Some(0), "{loaded:?}");
    let own = at("/breaks.dll").expect("the program is told");
    assert_eq!(own, 1);
    let users = loaded.iter().filter(|(_, user_code)| *user_code);
    assert_eq!(users.count(), 1, "{loaded:?}");
    assert_eq!(loaded.len(), modules(&program).len());
    program.disconnect(Some(true), false);
}

#[test]
fn unload_of_a_collectible_context_is_told() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("module_kinds").args(["unload"]).start();
    program.wait_stop();
    assert!(modules(&program).iter().any(|it| it.name == "library.dll"));
    program.cont();
    program.wait_event(|event| {
        matches!(event, Event::ModuleUnloaded { module } if module.ends_with("/library.dll"))
    });
    program.wait_stop();
    assert!(modules(&program).iter().all(|it| it.name != "library.dll"));
    program.cont();
    program.expect_exit(0);
}

#[test]
fn in_memory_and_emitted_modules_are_told_as_that() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("module_kinds").args(["memory"]).start();
    program.wait_stop();
    let modules = modules(&program);
    let loaded = modules.iter().find(|it| it.in_memory && !it.dynamic);
    let loaded = loaded.unwrap_or_else(|| panic!("none in memory: {modules:#?}"));
    assert!(loaded.path.is_none());
    assert!(loaded.version.is_some(), "{loaded:?}");
    let emitted = modules.iter().find(|it| it.dynamic);
    let emitted = emitted.unwrap_or_else(|| panic!("none dynamic: {modules:#?}"));
    assert!(!emitted.symbols);
    assert!(!emitted.symbols_detail.is_empty());
    program.disconnect(Some(true), false);
}

#[test]
fn optimised_program_is_compiled_for_debuggers_unless_told_otherwise() {
    for keep in [false, true] {
        let sandbox = Sandbox::new();
        let program = sandbox
            .launch("spin_optimized")
            .with(|launch| launch.keep_optimized = keep)
            .stop_at_entry()
            .start();
        program.wait_stop();
        let modules = modules(&program);
        let own = named(&modules, "spin_optimized.dll");
        assert_eq!(own.optimized, Some(true));
        assert_eq!(own.optimized_code, Some(keep));
        program.disconnect(Some(true), false);
    }
}

/// What was compiled for debugging is not asked for code that is not optimised: it has no other.
#[test]
fn debug_builds_are_not_optimised_whatever_is_asked_for() {
    for keep in [false, true] {
        let sandbox = Sandbox::new();
        let program = sandbox
            .launch("breaks")
            .with(|launch| launch.keep_optimized = keep)
            .start();
        program.wait_stop();
        let modules = modules(&program);
        let own = named(&modules, "breaks.dll");
        assert_eq!(
            (own.optimized, own.optimized_code),
            (Some(false), Some(false))
        );
        program.disconnect(Some(true), false);
    }
}

#[test]
fn files_of_the_framework_are_not_opened_when_they_are_loaded() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("breaks").start();
    program.wait_stop();
    let host = testkit::procfs::process(program.pid()).expect("the program runs");
    let maps = std::fs::read_to_string(format!("/proc/{}/maps", host.parent)).expect("its host");
    assert!(maps.contains("/breaks.dll"), "its own file: {maps}");
    // What a stop is told with needs at most the library that everything refers to.
    let opened: std::collections::BTreeSet<_> = maps
        .lines()
        .filter_map(|line| line.rsplit_once('/').map(|(_, name)| name))
        .filter(|name| name.ends_with(".dll") && name.starts_with("System."))
        .filter(|name| *name != "System.Private.CoreLib.dll")
        .collect();
    assert!(opened.is_empty(), "{opened:?}");
    let loaded = modules(&program);
    assert!(
        loaded
            .iter()
            .any(|it| it.name == "System.Console.dll" || it.name == "System.Runtime.dll")
    );
    program.disconnect(Some(true), false);
}

/// The runtime answers only while the program is stopped: that nobody could be told then is not remembered.
#[test]
fn that_code_is_optimised_is_known_however_early_somebody_asks() {
    let sandbox = Sandbox::new();
    let bare = sandbox.bare("spin_optimized").start();
    bare.line_starting("spinning");
    let program = sandbox.attach(bare.pid());
    for _ in 0..2 {
        let modules = modules(&program);
        let own = named(&modules, "spin_optimized.dll");
        assert_eq!(own.optimized_code, Some(true));
    }
    modules(&program);
    program.request(Request::Pause).expect("paused");
    program.wait_stop();
    let told = modules(&program);
    let framework = named(&told, "System.Private.CoreLib.dll");
    assert_eq!(framework.optimized_code, Some(true));
    program.disconnect(Some(true), false);
}
