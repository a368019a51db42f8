//! Breakpoints in modules that come late, go, come again, or are no files.

use host::api::{BreakpointState, Event, StopReason};
use testkit::debuggee::Debuggee;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::breakpoints_support::{
    at_function, at_line, at_marker, here, hit, line, list, set, told_states,
};

fn launched<'s>(sandbox: &'s Sandbox, how: &str) -> Debuggee<'s> {
    let library = Fixture::named("bp_plugin").dll().display().to_string();
    sandbox
        .launch("bp_plugins")
        .args([how, &library])
        .with(|launch| {
            launch.breakpoints = vec![at_marker("bp_plugin", "plugin"), at_function("Plugin.Run")];
        })
        .start()
}

#[test]
fn unloaded_modules_unbind_and_reloaded_ones_bind_again() {
    let sandbox = Sandbox::new();
    let program = launched(&sandbox, "context");
    for round in 1..=2 {
        assert_eq!(program.wait_stop().reasons, hit(2), "round {round}");
        program.cont();
        assert_eq!(program.wait_stop().reasons, hit(1), "round {round}");
        assert_eq!(here(&program).1, line("bp_plugin", "plugin"));
        assert_eq!(list(&program)[0].locations.len(), 1);
        program.cont();
    }
    program.expect_exit(0);
    assert!(
        !program
            .text(host::api::Stream::Stdout)
            .contains("still there")
    );
    use BreakpointState::{Bound, Unbound};
    for breakpoint in list(&program) {
        assert_eq!(
            told_states(&program, breakpoint.id),
            [Bound, Unbound, Bound, Unbound]
        );
        assert_eq!(breakpoint.hits, 2);
    }
    let reason = |event: &Event| match event {
        Event::Breakpoint(it) if it.state == Unbound => it.reason.clone(),
        _ => None,
    };
    let reasons: Vec<_> = program.events().iter().filter_map(reason).collect();
    assert!(
        reasons.iter().all(|it| it.contains("unloaded")),
        "{reasons:?}"
    );
}

#[test]
fn modules_loaded_from_bytes_bind_by_the_symbols_that_came_with_them() {
    let sandbox = Sandbox::new();
    let program = launched(&sandbox, "bytes");
    for round in 1..=2 {
        assert_eq!(program.wait_stop().reasons, hit(2), "round {round}");
        program.cont();
        assert_eq!(program.wait_stop().reasons, hit(1), "round {round}");
        assert_eq!(here(&program).1, line("bp_plugin", "plugin"));
        // The same bytes were loaded once more each round.
        assert_eq!(list(&program)[0].locations.len(), round);
        program.cont();
    }
    program.expect_exit(0);
}

#[test]
fn code_that_is_emitted_while_the_program_runs_is_told_and_harmless() {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch("bp_plugins")
        .args(["emit"])
        .with(|launch| {
            launch.breakpoints = vec![at_function("Made.Up.Run"), at_marker("bp_plugins", "round")];
        })
        .start();
    assert_eq!(program.wait_stop().reasons, hit(2));
    program.cont();
    // In the second round the module of the first is there.
    assert_eq!(program.wait_stop().reasons, hit(2));
    let waiting = &list(&program)[0];
    assert_eq!(waiting.state, BreakpointState::Pending);
    let reason = waiting.reason.as_deref().unwrap_or_default();
    assert!(reason.contains("cannot be searched"), "{waiting:#?}");
    program.cont();
    program.expect_exit(0);
    program.wait_output("result 2");
}

#[test]
fn modules_without_symbols_are_named_by_what_waits_for_them() {
    let sandbox = Sandbox::new();
    let fixture = Fixture::named("bp_lines");
    let copy = sandbox.folder().join("bp_lines.dll");
    for extension in ["dll", "runtimeconfig.json"] {
        let file = fixture.dll().with_extension(extension);
        std::fs::copy(file, copy.with_extension(extension)).expect("copied");
    }
    // The path of its symbols leads nowhere, and beside it lie those of another program.
    let mut bytes = std::fs::read(&copy).expect("the copy");
    let path = b"bp_lines.pdb";
    let at = bytes.windows(path.len()).position(|window| window == path);
    let at = at.expect("a path in the debug directory");
    bytes[at] = b'_';
    std::fs::write(&copy, bytes).expect("written");
    let other = Fixture::named("hello").pdb().expect("symbols");
    std::fs::copy(other, copy.with_extension("pdb")).expect("copied");
    let program = sandbox
        .launch("bp_lines")
        .program(&copy)
        .with(|launch| launch.breakpoints = vec![at_marker("bp_lines", "end")])
        .start();
    program.expect_exit(0);
    let breakpoint = &list(&program)[0];
    assert_eq!(breakpoint.state, BreakpointState::Pending);
    let reason = breakpoint.reason.as_deref().unwrap_or_default();
    assert!(
        reason.contains("bp_lines.dll has no symbols") && reason.contains("other build"),
        "{breakpoint:#?}"
    );
}

/// Modules of the framework are opened ahead once many are loaded: those that somebody waits for are not among what is passed by,
/// nor are those that somebody waits for only later.
#[test]
fn methods_in_modules_that_were_opened_ahead_are_waited_for() {
    const FIXTURE: &str = "bp_many_modules";
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch(FIXTURE)
        .with(|launch| {
            launch.breakpoints = vec![
                at_marker(FIXTURE, "loaded"),
                at_function("System.Collections.Specialized.StringCollection.Add"),
            ];
        })
        .start();
    let stop = || {
        let stop = program.wait_stop();
        assert!(
            matches!(stop.reasons[..], [StopReason::Breakpoint { .. }]),
            "{stop:?}"
        );
        here(&program).0
    };
    assert!(stop().contains("Main"));
    program.cont();
    assert!(stop().contains("StringCollection.Add"));
    let (later, _) = set(&program, at_function("System.Xml.Linq.XElement..ctor"));
    assert_eq!(later.state, BreakpointState::Pending, "{later:?}");
    program.cont();
    assert!(stop().contains("XElement"));
    program.cont();
    program.expect_exit(0);
    program.wait_output("composed");
}

/// Two names of one method are one breakpoint, with the name that says less: a module that comes later has more of it.
#[test]
fn of_two_names_of_a_method_the_one_that_means_more_is_kept() {
    let sandbox = Sandbox::new();
    let library = Fixture::named("bp_plugin").dll().display().to_string();
    let launch = sandbox.launch("bp_plugins").args(["context", &library]);
    let program = launch.stop_at_entry().start();
    program.wait_stop();
    let (first, duplicate) = set(&program, at_function("global::Program.Run(Assembly, int)"));
    assert!(!duplicate);
    for wider in ["Program.Run", "Run", "Program.Run(Assembly, int)"] {
        let (same, duplicate) = set(&program, at_function(wider));
        assert!(duplicate && same.id == first.id, "{wider}: {same:#?}");
    }
    let (other, duplicate) = set(&program, at_function("bp_plugins!Program.Run"));
    assert!(duplicate && other.id == first.id, "{other:#?}");
    program.cont();
    for (file, marker) in [("bp_plugins", "run"), ("bp_plugin", "begins")] {
        assert_eq!(program.wait_stop().reasons, hit(first.id.0));
        assert_eq!(here(&program).1, line(file, marker));
        program.cont();
    }
    program.disconnect(Some(true), false);
}

/// Nothing says which file is meant: the one that was there first has the breakpoint, and the other one is told.
#[test]
fn another_file_of_the_same_name_in_a_later_module_is_told_at_the_end() {
    let sandbox = Sandbox::new();
    let library = Fixture::named("bp_plugin").dll().display().to_string();
    let program = sandbox
        .launch("bp_plugins")
        .args(["context", &library])
        .with(|launch| launch.breakpoints = vec![at_line("Shared.cs", 5, None)])
        .start();
    for _ in 1..=2 {
        assert_eq!(program.wait_stop().reasons, hit(1));
        assert!(here(&program).0.starts_with("Program.Run("));
        program.cont();
    }
    program.expect_exit(0);
    let notes = program.status().notes.join("\n");
    let told = "breakpoint 1 at Shared.cs:5 was not set in /plugin/Shared.cs, which Shared.cs could also mean";
    assert!(notes.contains(told), "{notes}");
}
