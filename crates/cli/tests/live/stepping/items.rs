//! Steps over the end of code that nobody waits for: its thread goes on with something else, which is not the step's.

use host::api::{State, StepKind};
use testkit::sandbox::Sandbox;

use super::walk::{assert_at, launch_to, step};

const FIXTURE: &str = "step_items";

/// Leaves what the program runs by steps of a kind: the program then runs on, and a note says what was left.
#[track_caller]
fn check(chosen: &str, marker: &str, kind: StepKind, note: &str) {
    let sandbox = Sandbox::new();
    let program = launch_to(&sandbox, FIXTURE, &[chosen], &[marker, "end"]);
    assert_at(&program, FIXTURE, marker);
    let steps = if kind == StepKind::Out { 1 } else { 2 };
    for _ in 0..steps {
        step(&program, kind);
    }
    assert_eq!(program.status().state, State::Stopped);
    assert_at(&program, FIXTURE, "end");
    let notes = program.status().notes;
    assert!(
        notes.iter().any(|it| it.contains(note)),
        "{chosen}, {kind:?}: {notes:?}"
    );
    program.cont();
    program.expect_exit(0);
}

#[test]
fn a_step_that_leaves_a_work_item_of_the_pool_runs_on_and_says_so() {
    for kind in [StepKind::Over, StepKind::Into, StepKind::Out] {
        check("queued", "work", kind, "left a work item");
    }
}

#[test]
fn a_step_that_leaves_the_callback_of_a_timer_runs_on_and_says_so() {
    for kind in [StepKind::Over, StepKind::Into, StepKind::Out] {
        check("timer", "work", kind, "left the callback of a timer");
    }
}

#[test]
fn a_step_that_leaves_an_async_method_which_a_work_item_called_runs_on_and_says_so() {
    for kind in [StepKind::Over, StepKind::Into] {
        check("quick", "quick", kind, "left a work item");
    }
}

#[test]
fn a_step_that_leaves_a_thread_or_a_task_that_nobody_waits_for_says_so() {
    check("thread", "work", StepKind::Out, "began with");
    check("thread", "work", StepKind::Over, "began with");
    check("task", "work", StepKind::Out, "left what a task ran");
}

/// The note about an async method that nobody awaits, after steps from one line; another one stops the first.
#[track_caller]
fn check_forgotten(markers: &[&str], kind: StepKind, expected: bool, ends: bool) {
    let sandbox = Sandbox::new();
    let program = launch_to(&sandbox, "step_forgotten", &[], markers);
    step(&program, kind);
    let status = program.status();
    assert_eq!(status.state == State::Exited, ends, "{markers:?} {kind:?}");
    let notes = &status.notes;
    let is_told = notes.iter().any(|it| it.contains("that nobody awaited"));
    assert_eq!(is_told, expected, "{markers:?} {kind:?}: {notes:?}");
}

#[test]
fn a_step_that_leaves_what_nobody_awaits_says_so_when_the_program_ends() {
    check_forgotten(&["first"], StepKind::Out, true, true);
    check_forgotten(&["brace"], StepKind::Over, true, true);
    check_forgotten(&["brace"], StepKind::Out, true, true);
}

#[test]
fn a_step_that_a_breakpoint_inside_stops_has_left_nothing() {
    check_forgotten(&["first", "second"], StepKind::Out, false, false);
    check_forgotten(&["first", "second"], StepKind::Over, false, false);
}

/// No released compiler makes such methods by itself: see `methods_that_the_runtime_suspends_are_passed_by`.
#[test]
fn a_step_out_to_a_method_that_the_runtime_suspends_runs_on_and_says_so() {
    let sandbox = Sandbox::new();
    let program = crate::stacks_runtime_async::launch_marked(&sandbox);
    program.wait_stop();
    step(&program, StepKind::Out);
    let status = program.status();
    let is_told = status.notes.iter().any(|it| it.contains("runtime-async"));
    assert!(is_told, "{:?}", status.notes);
}
