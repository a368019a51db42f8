//! Steps over what overflows the stack. Before .NET 10 the runtime tells nobody, and the program ends.

use host::api::{Reply, Request, State, StepKind};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use super::walk::{assert_at, launch_to, step};

const FIXTURE: &str = "stack_overflows";

fn overflown<'s>(sandbox: &'s Sandbox, scenario: &str) -> Option<Debuggee<'s>> {
    let program = launch_to(sandbox, FIXTURE, &[scenario], &["begin"]);
    step(&program, StepKind::Over);
    (program.status().state == State::Stopped).then_some(program)
}

/// The runtime's library may have lost the way back to where a walk over the stack stood before.
#[test]
fn a_stack_overflow_under_a_step_is_told_with_its_place() {
    for _ in 0..5 {
        let sandbox = Sandbox::new();
        if let Some(program) = overflown(&sandbox, "recurse") {
            assert_at(&program, FIXTURE, "recurse");
            program.disconnect(Some(true), false);
        }
    }
}

#[test]
fn what_a_method_has_not_stored_yet_is_not_said_to_be_optimised() {
    let sandbox = Sandbox::new();
    let Some(program) = overflown(&sandbox, "grow") else {
        return;
    };
    assert_at(&program, FIXTURE, "grow");
    let query = Request::Variables(Box::default());
    let found = match program.request(query) {
        Ok(Reply::Variables(page)) => page.variables,
        other => panic!("no variables: {other:?}"),
    };
    let text = found.iter().find(|it| it.name == "text").expect("text");
    let told = format!("{text:?}");
    assert!(
        told.contains("has just been entered and has not stored it yet"),
        "{told}"
    );
    program.disconnect(Some(true), false);
}
