//! Breakpoints that many threads reach at once, and threads that are kept from running.

use std::collections::BTreeMap;

use host::api::{BreakpointSpec, Reply, Request, StepKind, StopReason, ThreadReport};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use crate::breakpoints_support::{at_marker, list};

const FIXTURE: &str = "bp_threads";

/// Threads that pass a statement which begins with a call.
const CALLED: &str = "bp_called_threads";

fn threads(program: &Debuggee<'_>) -> Vec<ThreadReport> {
    match program.request(Request::Threads) {
        Ok(Reply::Threads(threads)) => threads,
        other => panic!("{other:?}"),
    }
}

#[test]
fn hits_of_sixteen_threads_are_counted_exactly() {
    let sandbox = Sandbox::new();
    let counting = BreakpointSpec {
        // Now and then it stops, so that a slow run is told from one that hangs.
        hit_condition: Some("%1000".into()),
        ..at_marker(FIXTURE, "once")
    };
    let program = sandbox
        .launch(FIXTURE)
        .args(["16", "1000"])
        .with(|launch| launch.breakpoints = vec![counting, at_marker(FIXTURE, "end")])
        .start();
    run_to_the_second(&program);
    assert_eq!(list(&program)[0].hits, 16_000);
    program.cont();
    program.expect_exit(0);
    program.wait_output("total 16000");
}

/// Goes on until the second breakpoint is met.
fn run_to_the_second(program: &Debuggee<'_>) {
    loop {
        let stop = program.settle().stop.expect("a stop");
        let second = list(program)[1].id;
        let is_second = |reason: &StopReason| matches!(reason, StopReason::Breakpoint { ids } if ids.contains(&second));
        if stop.reasons.iter().any(is_second) {
            return;
        }
        program.cont();
    }
}

/// Before .NET 10 the runtime crashes if they pass it at the same time, which half of such programs would.
#[test]
fn threads_that_pass_a_breakpoint_on_a_call_end_as_they_would() {
    for arguments in [["2", "450"], ["6", "150"]] {
        let sandbox = Sandbox::new();
        let counting = BreakpointSpec {
            hit_condition: Some("%100000".into()),
            ..at_marker(CALLED, "call")
        };
        let program = sandbox
            .launch(CALLED)
            .args(arguments)
            .with(|launch| launch.breakpoints = vec![counting])
            .start();
        program.expect_exit(0);
        program.wait_output("total 900");
        assert_eq!(list(&program)[0].hits, 900);
    }
}

/// As above, with what else makes threads wait: conditions that run code, steps, and stops.
#[test]
fn threads_that_wait_for_their_turn_at_a_breakpoint_are_stepped_and_stopped_as_others() {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch(CALLED)
        .args(["4", "25"])
        .with(|launch| {
            launch.breakpoints = vec![BreakpointSpec {
                condition: Some("Always(i)".into()),
                ..at_marker(CALLED, "call")
            }];
        })
        .start();
    let mut by_thread = BTreeMap::new();
    let mut steps = 0;
    while let Some(stop) = program.settle().stop {
        assert!(threads(&program).iter().all(|it| !it.frozen), "{stop:?}");
        let thread = stop.thread.expect("a thread");
        let is_hit = |it: &StopReason| matches!(it, StopReason::Breakpoint { .. });
        let hits = by_thread.entry(thread).or_insert(0);
        *hits += i32::from(stop.reasons.iter().any(is_hit));
        steps += i32::from(stop.reasons.contains(&StopReason::Step));
        if *hits % 2 == 0 {
            program.cont();
        } else {
            let step = Request::Step {
                thread: None,
                kind: StepKind::Over,
                count: 1,
            };
            program.request(step).expect("stepping");
        }
    }
    let hits: Vec<_> = by_thread.into_values().collect();
    assert_eq!(hits, [25; 4]);
    assert!(steps > 0);
    program.expect_exit(0);
    program.wait_output("total 100");
}

/// A thread that ends while the runtime stops the others is lost to its count of those it waits for: it then waits for
/// ever, unless it is helped.
#[test]
fn threads_that_end_while_others_are_stopped_do_not_hang_the_program() {
    const FIXTURE: &str = "bp_dying_threads";
    let sandbox = Sandbox::new();
    let counting = BreakpointSpec {
        // As above.
        hit_condition: Some("%250".into()),
        ..at_marker(FIXTURE, "pass")
    };
    let program = sandbox
        .launch(FIXTURE)
        .args(["1500"])
        .with(|launch| launch.breakpoints = vec![counting, at_marker(FIXTURE, "end")])
        .start();
    run_to_the_second(&program);
    assert_eq!(list(&program)[0].hits, 1_500);
    program.cont();
    program.expect_exit(0);
}

/// On .NET 10 the runtime passes by a breakpoint with a copy of the static field that its instruction addresses.
#[test]
fn static_fields_are_right_where_a_breakpoint_is_passed() {
    const FIXTURE: &str = "bp_statics";
    for (arguments, marker, sum) in [
        (&["300"][..], "alone", 44_850),
        (&["50", "4"], "together", 4_900),
    ] {
        let sandbox = Sandbox::new();
        let counting = BreakpointSpec {
            hit_condition: Some("%1000000".into()),
            ..at_marker(FIXTURE, marker)
        };
        let program = sandbox
            .launch(FIXTURE)
            .args(arguments.iter().copied())
            .with(|launch| launch.breakpoints = vec![counting, at_marker(FIXTURE, "end")])
            .start();
        program.wait_stop();
        let hits = list(&program)[0].hits;
        program.cont();
        program.expect_exit(0);
        // The program's own count.
        program.wait_output(&format!("{hits} {sum}\n"));
    }
}

#[test]
fn stops_of_threads_at_the_same_time_come_one_by_one_and_none_is_lost() {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch(FIXTURE)
        .args(["8", "25"])
        .with(|launch| launch.breakpoints = vec![at_marker(FIXTURE, "once")])
        .start();
    let mut by_thread = BTreeMap::new();
    let mut announced = Vec::new();
    let mut came = 0;
    loop {
        let status = program.settle();
        let Some(stop) = status.stop else { break };
        let thread = stop.thread.expect("a thread");
        came += u32::from(announced.contains(&thread));
        // What is told as on its way comes next, and is no mere beginning of a thread.
        assert!(
            announced.is_empty() || announced.contains(&thread),
            "{announced:?} {stop:?}"
        );
        assert!(!stop.queued.contains(&thread), "{stop:?}");
        announced.clone_from(&stop.queued);
        assert!(
            matches!(stop.reasons[..], [StopReason::Breakpoint { .. }]),
            "{stop:?}"
        );
        *by_thread.entry(thread).or_insert(0) += 1;
        program.cont();
    }
    assert!(came > 0, "no stop told that another was on its way");
    assert_eq!(by_thread.len(), 8);
    assert!(
        by_thread.values().all(|stops| *stops == 25),
        "{by_thread:?}"
    );
    program.expect_exit(0);
}

#[test]
fn frozen_threads_stay_where_they_are_until_they_are_thawed() {
    frozen_threads_stay(FIXTURE, "once");
    // Here threads pass one by one.
    frozen_threads_stay(CALLED, "call");
}

fn frozen_threads_stay(fixture: &str, marker: &str) {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch(fixture)
        .args(["2", "5"])
        .with(|launch| {
            launch.breakpoints = vec![at_marker(fixture, marker), at_marker(fixture, "done")]
        })
        .start();
    let frozen = program.wait_stop().thread.expect("a thread");
    let freeze = |frozen_now| Request::Freeze {
        thread: frozen,
        frozen: frozen_now,
    };
    program.request(freeze(true)).expect("frozen");
    let reported = threads(&program).into_iter().find(|it| it.id == frozen);
    assert!(reported.is_some_and(|it| it.frozen));
    // The other thread comes by five times and is done; the frozen one is not seen again.
    for _ in 0..6 {
        program.cont();
        assert_ne!(program.wait_stop().thread, Some(frozen));
    }
    assert_eq!(list(&program)[1].hits, 1);
    program.request(freeze(false)).expect("thawed");
    for _ in 0..5 {
        program.cont();
        assert_eq!(program.wait_stop().thread, Some(frozen));
    }
    assert_eq!(list(&program)[1].hits, 2);
    program.cont();
    program.expect_exit(0);
}

/// Whether a thread that has come to a condition stops the program is known only when that was asked.
#[test]
fn threads_that_may_not_stop_are_not_told_as_on_their_way() {
    let sandbox = Sandbox::new();
    let conditional = BreakpointSpec {
        condition: Some("i >= 0".into()),
        ..at_marker(FIXTURE, "once")
    };
    let program = sandbox
        .launch(FIXTURE)
        .args(["8", "5"])
        .with(|launch| launch.breakpoints = vec![conditional])
        .start();
    let mut stops = 0;
    while let Some(stop) = program.settle().stop {
        assert_eq!(stop.queued, []);
        stops += 1;
        program.cont();
    }
    assert_eq!(stops, 40);
}
