//! Steps that leave a method end in its caller, whatever is run on the way.

use host::api::{BreakpointId, BreakpointSpec, Request, StepKind};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use super::walk::{assert_at, launch_to, place, step};

fn without_breakpoints(program: &Debuggee<'_>) {
    let only = Request::RemoveBreakpoint(BreakpointId(1));
    program.request(only).expect("removed");
}

#[test]
fn a_step_out_leaves_a_method_that_catches_with_a_filter() {
    let fixture = "out_of_filters";
    let sandbox = Sandbox::new();
    let program = launch_to(&sandbox, fixture, &[], &["catches"]);
    without_breakpoints(&program);
    step(&program, StepKind::Out);
    assert_at(&program, fixture, "around");
    program.cont();
    program.expect_exit(0);
}

#[test]
fn a_step_into_the_framework_from_optimised_code_comes_back() {
    let fixture = "optimized_calls";
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch(fixture)
        .env("DOTNET_TieredCompilation", "0")
        .with(|launch| {
            launch.keep_optimized = true;
            launch.breakpoints = vec![BreakpointSpec::at(place(fixture, "cut"))];
        })
        .start();
    program.wait_stop();
    without_breakpoints(&program);
    step(&program, StepKind::Into);
    assert_at(&program, fixture, "substring");
    step(&program, StepKind::Into);
    assert_at(&program, fixture, "calls");
    program.cont();
    program.expect_exit(0);
}
