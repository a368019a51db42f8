//! Steps out of async methods whose results only the framework takes end with whoever awaits the framework: loops of
//! `Parallel`, `Task.WhenEach`, `Task.Run`.

use host::api::{Request, StepKind, StopReason};
use testkit::sandbox::Sandbox;

use super::walk::{assert_at, launch_to, step};

const FIXTURE: &str = "step_combined";

/// Steps of a kind from each place that the program comes to, and where they end.
fn check(places: &[&str], kind: StepKind, expected: &[(&str, &str)]) {
    let sandbox = Sandbox::new();
    let program = launch_to(&sandbox, FIXTURE, &[], places);
    for (from, to) in expected {
        assert_at(&program, FIXTURE, from);
        step(&program, kind);
        let stop = program.status().stop.expect("a stop");
        assert_eq!(stop.reasons, [StopReason::Step], "from {from} to {to}");
        assert_at(&program, FIXTURE, to);
        program.request(Request::Continue).expect("continues");
        program.settle();
    }
    program.expect_exit(0);
}

const LOOPS: [&str; 6] = [
    "each_of",
    "each_async",
    "for",
    "late",
    "blocked",
    "unwrapped",
];

#[test]
fn a_step_out_of_the_body_of_a_parallel_loop_ends_where_the_loop_is_awaited() {
    let expected = LOOPS.map(|to| ("after", to));
    check(&["after"], StepKind::Out, &expected);
}

#[test]
fn a_step_out_of_the_body_before_its_first_await_does_so_too() {
    let expected = LOOPS.map(|to| ("before", to));
    check(&["before"], StepKind::Out, &expected);
}

#[test]
fn a_step_out_of_one_of_several_tasks_ends_where_they_are_awaited_one_by_one() {
    let sandbox = Sandbox::new();
    let program = launch_to(&sandbox, FIXTURE, &[], &["slow"]);
    // One that is done before it is asked for has its result taken in the body of the loop: the second always, the first
    // if the machine has kept the loop waiting.
    for ends in [&["WhenEach", "done.Result"][..], &["done.Result"]] {
        assert_at(&program, FIXTURE, "slow");
        step(&program, StepKind::Out);
        let stop = program.status().stop.expect("a stop");
        assert_eq!(stop.reasons, [StopReason::Step]);
        let here = super::walk::here(&program);
        assert!(ends.iter().any(|it| here.contains(it)), "{here}");
        program.request(Request::Continue).expect("continues");
        program.settle();
    }
    program.expect_exit(0);
}

#[test]
fn a_step_out_of_an_async_lambda_before_its_first_await_ends_where_its_task_is_awaited() {
    check(&["unsuspended"], StepKind::Out, &[("unsuspended", "run")]);
}

#[test]
fn a_step_out_of_what_a_task_runs_ends_where_the_task_is_waited_for() {
    const WORK: &str = "step_work";
    let sandbox = Sandbox::new();
    let program = launch_to(
        &sandbox,
        WORK,
        &[],
        &["late_work", "loop_work", "query_work", "awaited"],
    );
    let expected = [
        ("late_work", "late"),
        ("loop_work", "loop"),
        ("query_work", "query"),
    ];
    for (from, to) in expected {
        assert_at(&program, WORK, from);
        step(&program, StepKind::Out);
        let stop = program.status().stop.expect("a stop");
        assert_eq!(stop.reasons, [StopReason::Step], "from {from} to {to}");
        assert_at(&program, WORK, to);
        program.request(Request::Continue).expect("continues");
        program.settle();
    }
    // Through an awaiter of the program's own, too, steps lead from await to what follows.
    assert_at(&program, WORK, "awaited");
    step(&program, StepKind::Over);
    assert_at(&program, WORK, "own");
    let mut places = Vec::new();
    while !super::walk::here(&program).contains("behind") && places.len() < 40 {
        // Left from its first statement, what is told of the await leads to where the method goes on.
        let is_told = places
            .last()
            .is_some_and(|it: &String| it.contains("goesOn"));
        let kind = if is_told {
            StepKind::Out
        } else {
            StepKind::Into
        };
        step(&program, kind);
        places.push(super::walk::here(&program));
    }
    let at = |wanted: &str| places.iter().position(|it| it.contains(wanted));
    let (asked, told, taken) = (at("return false;"), at("goesOn"), at("return 1;"));
    assert!(
        asked.is_some() && asked < told && told < taken,
        "{places:#?}"
    );
    program.request(Request::Continue).expect("continues");
    program.settle();
    program.expect_exit(0);
}
