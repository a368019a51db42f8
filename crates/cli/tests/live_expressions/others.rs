//! Expressions that wait for other threads: those stand still unless they may be let go, and nothing that they meet is lost.

use std::time::{Duration, Instant};

use engine::api::{
    BreakpointId, BreakpointSpec, Error, Evaluate, Evaluated, ExceptionSpec, Line, Place, Reply,
    Request, State, StopReason,
};
use testkit::debuggee::Debuggee;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::evaluate::ask;

const FIXTURE: &str = "calls_others";
/// Longer than anything that ends takes on the slowest machine, in milliseconds.
const LONG: u32 = 60_000;

fn at(marker: &str) -> BreakpointSpec {
    let marker = Fixture::named(FIXTURE).marker(marker);
    BreakpointSpec::at(Place::Line {
        file: marker.file.display().to_string(),
        line: Line(marker.line),
        column: None,
    })
}

fn stopped(sandbox: &Sandbox) -> Debuggee<'_> {
    let program = sandbox
        .launch(FIXTURE)
        .with(|launch| launch.breakpoints = vec![at("stop"), at("after")])
        .start();
    program.wait_stop();
    program
}

fn set(program: &Debuggee<'_>, spec: BreakpointSpec) -> BreakpointId {
    match program.request(Request::SetBreakpoint(spec)) {
        Ok(Reply::Breakpoint { breakpoint, .. }) => breakpoint.id,
        other => panic!("{other:?}"),
    }
}

/// Evaluates with this much time, and the other threads let go if they may be.
fn evaluated(program: &Debuggee<'_>, text: &str, others: bool, limit: u32) -> Evaluated {
    let asked = Evaluate {
        side_effects: true,
        other_threads: others,
        time_limit_ms: limit,
        ..Evaluate::read(text)
    };
    ask(program, asked)
}

#[track_caller]
fn value(evaluated: Evaluated) -> String {
    match evaluated.outcome {
        Ok(value) => value.text,
        Err(why) => panic!("{}: {:?}", evaluated.expression, why.error),
    }
}

#[track_caller]
fn error(evaluated: Evaluated) -> Error {
    match evaluated.outcome {
        Ok(value) => panic!("{}: {value:?}", evaluated.expression),
        Err(why) => why.error,
    }
}

#[test]
fn what_waits_for_a_task_says_so_at_once_and_the_program_stays_usable() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox);
    let begun = Instant::now();
    for text in ["never.Task.Result", "asked.Later().Result", "Waits(never)"] {
        let error = error(evaluated(&program, text, false, LONG));
        let told = "it may have to wait for another thread, and those stand still";
        assert!(error.message.contains(told), "{error:?}");
        let hint = error.hint.unwrap_or_default();
        assert!(hint.contains("let the other threads run"), "{hint}");
    }
    let limit = Duration::from_millis(LONG.into());
    assert!(begun.elapsed() < limit, "it waited for the time limit");
    // Nothing is stuck in it: other code runs.
    assert_eq!(value(evaluated(&program, "Twice(4)", false, LONG)), "8");
    program.cont();
    program.wait_stop();
    program.cont();
    program.expect_exit(0);
}

#[test]
fn other_threads_are_let_go_where_that_is_allowed_and_only_if_they_are_needed() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox);
    let stop = program.status().stop;
    for (text, expected) in [
        ("asked.Value", "42"),
        ("asked.Later().Result", "42"),
        ("catches.Value", "5"),
        ("locked.Value", "7"),
        ("locked.Made", "9"),
    ] {
        assert_eq!(value(evaluated(&program, text, true, LONG)), expected);
    }
    // The same, written behind the expression.
    let told = evaluated(&program, "asked.Value,threads", false, LONG);
    assert_eq!(told.notes, ["the other threads were let run for it"]);
    assert_eq!(value(told), "42");
    // What needs nobody but itself leaves the others alone, and the stop is the same.
    let told = evaluated(&program, "1 + 1", true, LONG);
    assert_eq!((told.notes.len(), value(told)), (0, "2".into()));
    assert_eq!(program.status().stop, stop);
    program.cont();
    program.wait_stop();
    program.cont();
    program.expect_exit(0);
}

/// The thread that runs a class constructor has a lock of the runtime.
#[test]
fn who_has_a_lock_of_the_runtime_that_is_needed_is_let_go_alone() {
    let fixture = "calls_while_begun";
    let place = |marker: &str| {
        let marker = Fixture::named(fixture).marker(marker);
        BreakpointSpec::at(Place::Line {
            file: marker.file.display().to_string(),
            line: Line(marker.line),
            column: None,
        })
    };
    let sandbox = Sandbox::new();
    let launch = |also: &[&str]| {
        let markers = ["stop"].iter().chain(also).map(|it| place(it));
        let breakpoints = markers.collect::<Vec<_>>();
        let program = sandbox
            .launch(fixture)
            .with(|launch| launch.breakpoints = breakpoints)
            .start();
        program.wait_stop();
        program
    };
    let program = launch(&[]);
    let stop = program.status().stop;
    let told = evaluated(&program, "Slow.Value()", false, LONG);
    assert!(
        matches!(&told.notes[..], [note] if note.contains("a lock of the runtime")),
        "{told:?}"
    );
    assert_eq!(value(told), "7");
    assert_eq!(program.status().stop, stop);
    program.cont();
    program.expect_exit(0);
    // What it meets holds it, and is told later: without it the evaluation cannot go on.
    let program = launch(&["met"]);
    let error = error(evaluated(&program, "Slow.Value()", false, 2000));
    assert!(error.message.contains("met a breakpoint"), "{error:?}");
    program.cont();
    let stop = program.wait_stop();
    let ids = vec![BreakpointId(2)];
    assert_eq!(stop.reasons, [StopReason::Breakpoint { ids }]);
    program.cont();
    program.expect_exit(0);
}

#[test]
fn what_other_threads_meet_meanwhile_is_told_when_the_program_continues() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox);
    let met = set(&program, at("met"));
    assert_eq!(
        value(evaluated(&program, "Both(meets, asked)", true, LONG)),
        "42"
    );
    // The thread has met it by now or is about to.
    program.cont();
    let stop = program.wait_stop();
    assert_eq!(stop.reasons, [StopReason::Breakpoint { ids: vec![met] }]);
    assert_eq!(
        value(evaluated(&program, "isOnItsWay", false, LONG)),
        "true"
    );
    // One that it depends on: it is held where it is, which is said, and told later.
    program.cont();
    program.wait_stop();
    let answer = set(&program, at("answer"));
    let error = error(evaluated(&program, "asked.Value", true, 500));
    assert!(
        error
            .message
            .contains("met a breakpoint meanwhile and stands there"),
        "{error:?}"
    );
    assert_eq!(program.status().state, State::Stopped);
    program.cont();
    let stop = program.wait_stop();
    assert_eq!(stop.reasons, [StopReason::Breakpoint { ids: vec![answer] }]);
}

#[test]
fn what_a_thread_meets_that_was_begun_meanwhile_and_has_ended_is_no_stop() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox);
    let answer = set(&program, at("answer"));
    assert_eq!(value(evaluated(&program, "Begins()", false, LONG)), "42");
    // Nor is it one for a condition that begins a thread.
    let condition = BreakpointSpec {
        condition: Some("Begins() == 42".into()),
        ..at("after")
    };
    let after = set(&program, condition);
    program.cont();
    let stop = program.wait_stop();
    let met = |id: &BreakpointId| {
        let mut reasons = stop.reasons.iter();
        reasons.any(|it| matches!(it, StopReason::Breakpoint { ids } if ids.contains(id)))
    };
    assert!(met(&after) && !met(&answer), "{stop:?}");
    // What a thread of the program meets is told.
    program.cont();
    let stop = program.wait_stop();
    assert_eq!(stop.reasons, [StopReason::Breakpoint { ids: vec![answer] }]);
}

#[test]
fn exceptions_of_other_threads_that_stop_the_program_are_not_lost() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox);
    let set = program.request(Request::SetExceptionBreakpoint(ExceptionSpec::all()));
    assert!(
        matches!(set, Ok(Reply::ExceptionBreakpoint { .. })),
        "{set:?}"
    );
    let error = error(evaluated(&program, "catches.Value", true, 500));
    assert!(
        error
            .message
            .contains("threw an exception meanwhile and stands there"),
        "{error:?}"
    );
    program.cont();
    let told = program.wait_stop();
    assert!(
        matches!(told.reasons.as_slice(), [StopReason::Exception { .. }]),
        "{told:?}"
    );
}

/// What takes longer than all of the time, as it cannot be ended at once.
#[test]
fn what_comes_behind_an_expression_that_used_up_the_time_is_told_as_not_run() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox);
    let texts = ["locked.Value", "1 + 1", "Twice(4)", "nothing"];
    let asked = Evaluate {
        expressions: texts.map(String::from).to_vec(),
        side_effects: true,
        time_limit_ms: 200,
        shared_time: true,
        ..Evaluate::read("")
    };
    let Ok(Reply::Evaluated(all)) = program.request(Request::Evaluate(asked)) else {
        panic!("no answer");
    };
    let told: Vec<String> = all
        .into_iter()
        .map(|it| match it.outcome {
            Ok(value) => value.text,
            Err(why) => why.error.message,
        })
        .collect();
    assert!(told[0].contains("took longer than the"), "{told:?}");
    // What needs no time has its value.
    assert_eq!(told[1], "2");
    assert!(told[2].starts_with("it was not run"), "{told:?}");
    assert!(told[3].contains("CS0103"), "{told:?}");
    program.cont();
    program.wait_stop();
    program.cont();
    program.expect_exit(0);
}
