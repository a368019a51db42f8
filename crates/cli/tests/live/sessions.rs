//! Several programs at once in one front end.

use host::api::{State, StopReason, Stream};
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

#[test]
fn sessions_do_not_disturb_each_other() {
    let sandbox = Sandbox::new();
    let mut programs = Vec::new();
    for _ in 0..4 {
        programs.push(sandbox.launch("loops").args(["sleep", "1"]).start());
    }
    for program in &programs {
        program.wait_output("tick 1\n");
    }
    let (first, others) = programs.split_first().expect("four");
    first.pause();
    for other in others {
        assert_eq!(other.status().state, State::Running);
        other.wait_more_output();
    }
    // The death of one host costs one session.
    let last = programs.pop().expect("four");
    testkit::procfs::signal(last.host_pid(), rustix::process::Signal::KILL);
    last.wait_exit();
    for program in &programs[1..] {
        program.wait_more_output();
    }
    programs[0].cont();
    programs[0].wait_more_output();
}

#[test]
fn sessions_of_different_runtimes_run_side_by_side() {
    let sandbox = Sandbox::new();
    let Some(old) = Fixture::old("throws") else {
        // A .NET of the user's own was found, and it has no second runtime.
        return;
    };
    let new = sandbox.launch("throws").start();
    let old = sandbox.launch_fixture(&old).start();
    let (stop, old_stop) = (new.wait_stop(), old.wait_stop());
    assert_eq!(stop.reasons, [StopReason::UnhandledException]);
    assert_eq!(old_stop.reasons, [StopReason::UnhandledException]);
    let versions = [new.status().runtime, old.status().runtime];
    assert_ne!(versions[0], versions[1]);
    new.cont();
    old.cont();
    assert_eq!(new.wait_exit(), old.wait_exit());
}

#[test]
fn old_runtime_is_launched_paused_and_ends_as_it_would() {
    let sandbox = Sandbox::new();
    let Some(loops) = Fixture::old("loops") else {
        return;
    };
    let program = sandbox.launch_fixture(&loops).args(["sleep", "1"]).start();
    program.wait_output("tick 1\n");
    assert!(
        program
            .status()
            .runtime
            .expect("told")
            .0
            .starts_with("3.1.")
    );
    for _ in 0..20 {
        program.pause();
        program.cont();
    }
    program.wait_more_output();
    let hello = Fixture::old("hello").expect("set up with loops");
    let program = sandbox
        .launch_fixture(&hello)
        .args(["--exit", "9", "--error", "oops"])
        .start();
    program.expect_exit(9);
    assert!(
        program
            .text(Stream::Stdout)
            .starts_with("hello from .NET 3\n")
    );
    assert_eq!(program.text(Stream::Stderr), "oops\n");
    let throws = Fixture::old("throws").expect("set up with loops");
    let program = sandbox.launch_fixture(&throws).start();
    let stop = program.wait_stop();
    assert_eq!(stop.reasons, [StopReason::UnhandledException]);
    let exception = stop.exception.expect("told");
    assert_eq!(exception.type_name, "OrderException");
    assert_eq!(exception.message.as_deref(), Some("order 2 failed"));
    program.cont();
    assert_eq!(program.wait_exit().shell_code(), Some(134));
}

#[test]
fn old_runtime_is_attached_to_and_left() {
    let sandbox = Sandbox::new();
    let Some(loops) = Fixture::old("loops") else {
        return;
    };
    let bare = sandbox.bare_fixture(&loops).args(["sleep", "1"]).start();
    bare.line_starting("tick");
    for stopped in [false, true, false, true] {
        let program = sandbox.attach(bare.pid());
        if stopped {
            program.pause();
        }
        drop(program);
        bare.assert_ticks();
    }
}
