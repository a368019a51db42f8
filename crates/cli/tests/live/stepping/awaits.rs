//! Steps in async methods stay with their invocation.

use expect_test::expect_file;
use host::api::{BreakpointSpec, Request, State, StepKind, StopReason};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use super::walk::{assert_at, launch_to, place, step};

/// Steps one invocation of a hundred through its awaits; lines that only it reaches prove that it is still the same.
fn walk_the_chosen(fixture: &str, chosen: &str) {
    let sandbox = Sandbox::new();
    let program = launch_to(&sandbox, fixture, &[chosen], &["before"]);
    let expect = |marker| {
        step(&program, StepKind::Over);
        let stop = program.status().stop.expect("a stop");
        assert_eq!(stop.reasons, [StopReason::Step]);
        assert_at(&program, fixture, marker);
    };
    assert_at(&program, fixture, "before");
    expect("first");
    expect("landed");
    expect("mine");
    expect("second");
    expect("again");
    expect("mine_again");
    end(&program);
}

fn end(program: &Debuggee<'_>) {
    program.request(Request::Continue).expect("continues");
    program.expect_exit(0);
    assert!(
        program
            .text(host::api::Stream::Stdout)
            .contains("total 3\n")
    );
}

#[test]
fn over_await_stays_in_the_invocation_while_a_hundred_run() {
    for chosen in ["0", "57", "99"] {
        walk_the_chosen("step_crowd", chosen);
    }
}

#[test]
fn over_await_stays_in_the_invocation_of_a_release_build() {
    for chosen in ["0", "57", "99"] {
        walk_the_chosen("step_crowd_optimized", chosen);
    }
}

/// Code that the runtime has optimised has fewer statements than lines; those that only the chosen one reaches tell.
#[test]
fn over_await_stays_in_the_invocation_of_optimised_code() {
    let fixture = "step_crowd_optimized";
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch(fixture)
        .args(["57"])
        .env("DOTNET_TieredCompilation", "0")
        .env("DOTNET_ReadyToRun", "0")
        .with(|launch| {
            launch.keep_optimized = true;
            launch.breakpoints = vec![BreakpointSpec::at(place(fixture, "before"))];
        })
        .start();
    program.wait_stop();
    let mut visited = String::new();
    while program.status().state == State::Stopped {
        visited += &super::walk::here(&program);
        visited += "\n";
        step(&program, StepKind::Over);
    }
    expect_file!["walks/crowd_optimised.txt"].assert_eq(&visited);
}

/// Out of an async method that was suspended, to the one that awaits it, of a hundred that await the same method.
fn out_to_the_awaiter(fixture: &str) {
    let sandbox = Sandbox::new();
    let program = launch_to(&sandbox, fixture, &["57"], &["nested_mine"]);
    step(&program, StepKind::Out);
    assert_at(&program, fixture, "second");
    step(&program, StepKind::Over);
    assert_at(&program, fixture, "again");
    step(&program, StepKind::Over);
    assert_at(&program, fixture, "mine_again");
    end(&program);
}

#[test]
fn out_of_a_suspended_method_is_to_its_awaiter() {
    out_to_the_awaiter("step_crowd");
}

#[test]
fn out_of_a_suspended_method_of_a_release_build_is_to_its_awaiter() {
    out_to_the_awaiter("step_crowd_optimized");
}

#[test]
fn out_of_a_method_that_has_not_been_suspended_is_to_its_caller() {
    let sandbox = Sandbox::new();
    let program = launch_to(&sandbox, "step_crowd", &["57"], &["before"]);
    step(&program, StepKind::Out);
    let here = super::walk::here(&program);
    assert!(here.contains("all.Add(Work(id, id == chosen));"), "{here}");
}

#[test]
fn over_the_end_of_a_suspended_method_is_to_its_awaiter() {
    let sandbox = Sandbox::new();
    let program = launch_to(&sandbox, "step_crowd", &["57"], &["nested_mine"]);
    step(&program, StepKind::Over);
    assert!(super::walk::here(&program).ends_with('}'));
    step(&program, StepKind::Over);
    assert_at(&program, "step_crowd", "second");
}

#[test]
fn out_of_and_over_the_end_of_a_method_that_a_thread_blocks_on_is_to_that_thread() {
    let fixture = "step_wait";
    let sandbox = Sandbox::new();
    let program = launch_to(&sandbox, fixture, &[], &["return"]);
    step(&program, StepKind::Out);
    assert_at(&program, fixture, "result");
    step(&program, StepKind::Over);
    assert_at(&program, fixture, "after");
    program.request(Request::Continue).expect("continues");
    program.wait_stop();
    assert_at(&program, fixture, "return");
    step(&program, StepKind::Over);
    assert!(super::walk::here(&program).ends_with('}'));
    step(&program, StepKind::Over);
    assert_at(&program, fixture, "wait");
    step(&program, StepKind::Over);
    assert_at(&program, fixture, "end");
}

/// Nobody awaits these when they complete, and other invocations run on the same threads of the pool all the time.
#[test]
fn out_of_and_over_the_end_of_a_method_that_nobody_awaits_yet_is_to_who_takes_its_result() {
    let fixture = "step_late";
    let sandbox = Sandbox::new();
    let program = launch_to(&sandbox, fixture, &[], &["work"]);
    step(&program, StepKind::Out);
    assert_at(&program, fixture, "wait_all");
    program.cont();
    program.wait_stop();
    assert_at(&program, fixture, "work");
    for _ in 0..3 {
        step(&program, StepKind::Over);
    }
    assert_at(&program, fixture, "result");
    program.cont();
    program.wait_stop();
    step(&program, StepKind::Out);
    program.expect_exit(0);
    let notes = program.status().notes;
    assert!(
        notes.iter().any(|note| note.contains("nobody awaited")),
        "{notes:?}"
    );
}

/// A method that goes on inside the completion of another one has that one below it on the stack, and not who called it.
#[test]
fn out_of_a_method_that_goes_on_inside_another_is_to_who_takes_its_result() {
    let fixture = "step_unwrapped";
    let sandbox = Sandbox::new();
    let program = launch_to(&sandbox, fixture, &[], &["outer"]);
    step(&program, StepKind::Out);
    assert_at(&program, fixture, "taken");
    program.cont();
    program.expect_exit(0);
}

/// What `Task.Run` returns is not yet told of the task that its work returns when that goes on.
#[test]
fn out_of_a_task_that_is_just_being_unwrapped_is_to_who_awaits_it() {
    let fixture = "step_unwrapped";
    let sandbox = Sandbox::new();
    let program = launch_to(&sandbox, fixture, &[], &["started"]);
    for to in ["awaits", "blocks"] {
        step(&program, StepKind::Out);
        assert_at(&program, fixture, to);
        program.cont();
        program.settle();
    }
    program.expect_exit(0);
}

#[test]
fn over_and_into_an_await_in_a_block_with_a_finally_ends_behind_it() {
    let sandbox = Sandbox::new();
    for kind in [StepKind::Into, StepKind::Over] {
        let program = launch_to(&sandbox, "step_suspended", &[], &["method", "iterator"]);
        for marker in ["method", "iterator"] {
            for _ in 0..3 {
                assert_at(&program, "step_suspended", marker);
                step(&program, kind);
                assert_at(&program, "step_suspended", &format!("{marker}_next"));
                program.cont();
                program.settle();
            }
        }
        program.expect_exit(0);
    }
}
