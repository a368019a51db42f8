//! Breakpoints in modules that come late, go, come again, or are no files.

use host::api::{BreakpointState, Event};
use testkit::debuggee::Debuggee;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::breakpoints_support::{at_function, at_marker, here, hit, line, list, told_states};

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
