//! Where steps stop: just my code, attributes, the filter for properties and operators.

use expect_test::expect_file;
use host::api::{Request, StepKind, StepOptions};
use testkit::sandbox::Sandbox;

use super::walk::{assert_at, frame, launch_to, step, walk};

#[test]
fn attributes_take_methods_out_of_steps_and_what_they_call_stays_in() {
    super::walk::check(
        "step_attributes",
        StepKind::Into,
        &expect_file!["walks/attributes_into.txt"],
    );
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
