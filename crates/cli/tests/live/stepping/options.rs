//! Where steps stop: just my code, attributes, the filter for properties and operators.

use expect_test::expect_file;
use host::api::{Attach, BreakpointSpec, ProcessId, Request, StepKind, StepOptions};
use testkit::debuggee::Debuggee;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use super::walk::{assert_at, frame, launch_to, place, step, walk};

#[test]
fn attributes_take_methods_out_of_steps_and_what_they_call_stays_in() {
    super::walk::check(
        "step_attributes",
        StepKind::Into,
        &expect_file!["walks/attributes_into.txt"],
    );
}

#[test]
fn attributes_take_async_methods_out_of_steps_behind_their_awaits_too() {
    super::walk::check(
        "step_attributes_async",
        StepKind::Into,
        &expect_file!["walks/attributes_async_into.txt"],
    );
}

#[test]
fn a_step_out_to_an_awaiter_that_attributes_take_out_is_to_who_awaits_that() {
    let sandbox = Sandbox::new();
    let program = launch_to(&sandbox, "step_attributes_async", &[], &["own"]);
    step(&program, StepKind::Out);
    assert_at(&program, "step_attributes_async", "through");
    program.cont();
    program.expect_exit(0);
}

#[test]
fn properties_and_operators_are_passed_over_if_asked() {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch("step_calls")
        .stop_at_entry()
        .with(|launch| launch.steps.skip_properties = true)
        .start();
    program.wait_stop();
    let visited = walk(&program, StepKind::Into);
    expect_file!["walks/calls_into_filtered.txt"].assert_eq(&visited);
}

#[test]
fn a_step_past_a_stepper_boundary_is_a_run() {
    let sandbox = Sandbox::new();
    let program = launch_to(&sandbox, "step_attributes", &[], &["inside", "last"]);
    step(&program, StepKind::Over);
    step(&program, StepKind::Over);
    // Nothing stopped it but the breakpoint.
    let stop = program.status().stop.expect("a stop");
    assert!(
        matches!(*stop.reasons, [host::api::StopReason::Breakpoint { .. }]),
        "{stop:?}"
    );
    assert_at(&program, "step_attributes", "last");
}

#[test]
fn without_just_my_code_steps_enter_the_framework_and_come_back() {
    let sandbox = Sandbox::new();
    let program = launch_to(&sandbox, "step_attributes", &[], &["last"]);
    let options = StepOptions {
        just_my_code: false,
        ..StepOptions::default()
    };
    program
        .request(Request::SetStepOptions(options))
        .expect("options");
    step(&program, StepKind::Into);
    let entered = frame(&program, None);
    assert_eq!(entered.method, "System.Console.WriteLine(int value)");
    assert_eq!(entered.il_offset, Some(0));
    step(&program, StepKind::Out);
    assert_at(&program, "step_attributes", "last");
    step(&program, StepKind::Over);
    assert!(super::walk::here(&program).ends_with('}'));
}

#[test]
fn just_my_code_can_be_switched_off_at_launch() {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch("toplevel")
        .stop_at_entry()
        .with(|launch| launch.steps.just_my_code = false)
        .start();
    program.wait_stop();
    step(&program, StepKind::Into);
    assert_eq!(
        frame(&program, None).method,
        "System.Console.WriteLine(string? value)"
    );
    // Over the end of code without source is out of it.
    step(&program, StepKind::Over);
    assert!(super::walk::here(&program).contains("top level"));
}

/// A stepper in a method that the runtime itself suspends ends the debugger's host; a mark in the metadata says which
/// they are. No released compiler makes them, so a copy gets the mark.
#[test]
fn methods_that_the_runtime_suspends_are_passed_by() {
    let sandbox = Sandbox::new();
    let fixture = Fixture::named("step_runtime_async");
    let copy = sandbox.folder().join("step_runtime_async.dll");
    for extension in ["dll", "pdb", "runtimeconfig.json"] {
        let file = fixture.dll().with_extension(extension);
        std::fs::copy(file, copy.with_extension(extension)).expect("copied");
    }
    let mut bytes = std::fs::read(&copy).expect("the copy");
    // Implementation flags as in the source, then `public static hidebysig` (ECMA-335 II.22.26).
    let flags = [0x68, 0x01, 0x96, 0x00];
    let at = bytes.windows(4).position(|it| it == flags);
    let at = at.expect("the row of the method");
    bytes[at..at + 2].copy_from_slice(&0x2000_u16.to_le_bytes());
    std::fs::write(&copy, bytes).expect("written");

    let breakpoints = vec![BreakpointSpec::at(place("step_runtime_async", "call"))];
    let program = sandbox
        .launch("step_runtime_async")
        .program(&copy)
        .env("DOTNET_RuntimeAsync", "1")
        .with(|launch| launch.breakpoints = breakpoints)
        .start();
    program.wait_stop();
    assert_at(&program, "step_runtime_async", "call");
    step(&program, StepKind::Into);
    program.expect_exit(7);
}

#[test]
fn just_my_code_can_be_switched_off_at_attach() {
    let sandbox = Sandbox::new();
    let bare = sandbox.bare("loops").start();
    bare.line_starting("tick 1");
    let program = Debuggee::start(&sandbox).expect("a host");
    let mut attach = Attach::to(ProcessId(bare.pid()));
    attach.steps.just_my_code = false;
    program.request(Request::Attach(attach)).expect("attached");
    let breakpoint = BreakpointSpec::at(place("loops", "sleep"));
    program
        .request(Request::SetBreakpoint(breakpoint))
        .expect("set");
    program.wait_stop();
    step(&program, StepKind::Into);
    let entered = frame(&program, None).method;
    assert!(
        entered.starts_with("System.Threading.Thread.Sleep("),
        "{entered}"
    );
}
