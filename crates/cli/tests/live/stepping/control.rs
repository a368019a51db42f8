//! Counted steps, runs to a place, and how steps, breakpoints and threads go together.

use host::api::{
    BreakpointSpec, ErrorCode, Place, Reply, Request, State, StepKind, Stop, StopReason,
};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use super::walk::{assert_at, here, launch_to, place, step};

#[track_caller]
fn steps(program: &Debuggee<'_>, kind: StepKind, count: u32) -> Stop {
    let request = Request::Step {
        thread: None,
        kind,
        count,
    };
    program.request(request).expect("stepping");
    program.wait_stop()
}

#[track_caller]
fn set(program: &Debuggee<'_>, at: Place) -> host::api::BreakpointId {
    match program.request(Request::SetBreakpoint(BreakpointSpec::at(at))) {
        Ok(Reply::Breakpoint { breakpoint, .. }) => breakpoint.id,
        other => panic!("{other:?}"),
    }
}

/// A thread that begins holds a lock of the runtime's debugger for a moment; stopped in it, the program would take no
/// request any more.
#[test]
fn threads_that_begin_at_a_stop_do_not_keep_the_program_from_stepping() {
    for _ in 0..6 {
        let sandbox = Sandbox::new();
        let program = launch_to(&sandbox, "step_starts", &[], &["start"]);
        for _ in 0..3 {
            steps(&program, StepKind::Over, 1);
        }
        assert_at(&program, "step_starts", "join");
        steps(&program, StepKind::Over, 1);
        assert_at(&program, "step_starts", "joined");
        program.cont();
        program.expect_exit(0);
    }
}

/// The library reads what a thread had when one of its steppers is given up.
#[test]
fn a_step_that_leaves_its_thread_goes_on_when_the_thread_has_ended() {
    for kind in [StepKind::Out, StepKind::Over] {
        let sandbox = Sandbox::new();
        let program = launch_to(&sandbox, "step_gone", &[], &["pass"]);
        let mut stops = 0;
        while program.settle_exit().is_none() {
            let stop = program.wait_stop();
            let at_breakpoint = matches!(stop.reasons[0], StopReason::Breakpoint { .. });
            stops += u32::from(at_breakpoint);
            here(&program);
            program.request(Request::Threads).expect("the threads");
            program
                .request(Request::Step {
                    thread: None,
                    kind,
                    count: 1,
                })
                .expect("stepping");
        }
        assert_eq!(stops, 60, "{kind:?}");
        program.expect_exit(0);
    }
}

#[test]
fn a_step_of_a_program_that_is_paused_before_main_ends_in_main() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("loops").args(["tight"]).start();
    program.pause();
    step(&program, StepKind::Over);
    assert_eq!(program.status().state, State::Stopped);
    let stack = Request::Stack {
        thread: None,
        start: 0,
        count: 1,
    };
    let told = program.request(stack);
    assert!(
        matches!(&told, Ok(Reply::Stack { frames, .. }) if frames[0].method.starts_with("Program.")),
        "{told:?}"
    );
}

#[test]
fn several_steps_are_made_as_one_request_and_counted() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("step_calls").stop_at_entry().start();
    program.wait_stop();
    let stop = steps(&program, StepKind::Over, 4);
    assert_eq!(stop.reasons, [StopReason::Step]);
    let made = stop.steps.expect("steps were asked for");
    assert_eq!((made.made, made.asked), (4, 4));
    assert!(here(&program).contains("int fact = Factorial(3);"));

    let refused = program.refused(Request::Step {
        thread: None,
        kind: StepKind::Over,
        count: 0,
    });
    assert_eq!(refused, ErrorCode::InvalidParameter);
}

#[test]
fn several_steps_end_early_when_a_breakpoint_is_met_and_say_how_many_were_made() {
    let sandbox = Sandbox::new();
    let program = launch_to(&sandbox, "step_attributes", &[], &["inside", "last"]);
    assert_at(&program, "step_attributes", "inside");
    let id = set(&program, place("step_attributes", "last"));
    let stop = steps(&program, StepKind::Over, 50);
    assert_eq!(stop.reasons, [StopReason::Breakpoint { ids: vec![id] }]);
    let made = stop.steps.expect("steps were asked for");
    assert_eq!((made.made, made.asked), (1, 50));
    assert_at(&program, "step_attributes", "last");
}

#[test]
fn a_breakpoint_where_a_step_ends_is_told_together_with_it() {
    let sandbox = Sandbox::new();
    let program = launch_to(&sandbox, "step_threads", &["1", "1"], &["step"]);
    let id = set(&program, place("step_threads", "stepped"));
    let stop = steps(&program, StepKind::Over, 1);
    assert_at(&program, "step_threads", "stepped");
    assert_eq!(stop.reasons.len(), 2, "{stop:?}");
    assert!(stop.reasons.contains(&StopReason::Step));
    let hit = StopReason::Breakpoint { ids: vec![id] };
    assert!(stop.reasons.contains(&hit));
    // Neither is told again.
    program.request(Request::Continue).expect("continues");
    program.expect_exit(0);
}

#[test]
fn a_breakpoint_met_inside_a_step_over_wins() {
    let sandbox = Sandbox::new();
    let program = launch_to(&sandbox, "step_threads", &["1", "1"], &["stepped"]);
    let id = set(&program, place("step_threads", "caught"));
    step(&program, StepKind::Over);
    let stop = steps(&program, StepKind::Over, 1);
    assert!(here(&program).contains("Throw();"));
    assert_eq!(stop.reasons, [StopReason::Step]);
    let stop = steps(&program, StepKind::Over, 1);
    assert_eq!(stop.reasons, [StopReason::Breakpoint { ids: vec![id] }]);
    assert_at(&program, "step_threads", "caught");
    let made = stop.steps.expect("steps were asked for");
    assert_eq!((made.made, made.asked), (0, 1));
}

#[test]
fn a_run_to_a_line_stops_there_and_leaves_nothing_behind() {
    let sandbox = Sandbox::new();
    let program = launch_to(&sandbox, "step_threads", &["2", "3"], &["begin"]);
    program
        .request(Request::RunTo(place("step_threads", "caught")))
        .expect("runs");
    let stop = program.wait_stop();
    assert_eq!(stop.reasons, [StopReason::RunTo]);
    assert_at(&program, "step_threads", "caught");
    program.request(Request::Continue).expect("continues");
    program.expect_exit(0);
}

#[test]
fn a_run_to_a_line_ends_at_whatever_stops_first() {
    let sandbox = Sandbox::new();
    let program = launch_to(&sandbox, "step_threads", &["1", "2"], &["begin", "hit"]);
    let run = |marker| {
        let request = Request::RunTo(place("step_threads", marker));
        program.request(request).expect("runs");
        program.wait_stop()
    };
    let stop = run("end");
    assert!(matches!(*stop.reasons, [StopReason::Breakpoint { .. }]));
    assert_at(&program, "step_threads", "hit");
    // At one place with a breakpoint, both are told.
    let stop = run("hit");
    assert_eq!(stop.reasons.len(), 2, "{stop:?}");
    assert!(stop.reasons.contains(&StopReason::RunTo));
    program.request(Request::Continue).expect("continues");
    program.expect_exit(0);
}

#[test]
fn a_run_to_a_place_that_is_nowhere_is_refused_and_nothing_runs() {
    let sandbox = Sandbox::new();
    let program = launch_to(&sandbox, "step_threads", &["1", "1"], &["begin"]);
    let nowhere = |file: &str, line| {
        program.refused(Request::RunTo(Place::Line {
            file: file.into(),
            line: host::api::Line(line),
            column: None,
        }))
    };
    assert_eq!(nowhere("nowhere.cs", 3), ErrorCode::InvalidFile);
    assert_eq!(nowhere("step_threads.cs", 9_999), ErrorCode::InvalidLine);
    assert_eq!(program.status().state, State::Stopped);
}

#[test]
fn a_step_is_the_step_of_one_thread_and_others_keep_their_hits() {
    let sandbox = Sandbox::new();
    let program = launch_to(&sandbox, "step_threads", &["4", "40"], &["hit"]);
    let mut hits = 1;
    let mut steps_made = 0;
    loop {
        let thread = program.status().stop.and_then(|stop| stop.thread);
        let before = super::walk::frame(&program, thread);
        step(&program, StepKind::Over);
        let status = program.status();
        let Some(stop) = status.stop else { break };
        for reason in &stop.reasons {
            match reason {
                StopReason::Step => {
                    assert_eq!(stop.thread, thread, "a step ends on its thread");
                    steps_made += 1;
                    assert_at(&program, "step_threads", "step");
                }
                StopReason::Breakpoint { .. } => {
                    hits += 1;
                    assert_at(&program, "step_threads", "hit");
                }
                other => panic!("{other:?} after {before:?}"),
            }
        }
        if !matches!(*stop.reasons, [StopReason::Breakpoint { .. }]) {
            program.request(Request::Continue).expect("continues");
            let status = program.settle();
            let Some(stop) = status.stop else { break };
            assert!(matches!(*stop.reasons, [StopReason::Breakpoint { .. }]));
            hits += 1;
        }
    }
    program.expect_exit(0);
    assert_eq!(hits, 4 * 40, "with {steps_made} steps");
    assert!(steps_made > 0);
    let text = program.text(host::api::Stream::Stdout);
    assert!(text.contains("hits 160 "), "{text}");
}

#[test]
fn a_step_of_a_thread_that_is_paused_below_the_users_code_ends_behind_the_users_statement() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("loops").args(["sleep", "20"]).start();
    program.wait_output("tick 1\n");
    // Not at the first try perhaps: the program is in its own code for a moment of each round.
    for _ in 0..50 {
        program.pause();
        let request = Request::Stack {
            thread: None,
            start: 0,
            count: 50,
        };
        let Ok(Reply::Stack { frames, .. }) = program.request(request) else {
            panic!("no stack")
        };
        if frames.first().is_some_and(|frame| frame.source.is_some()) {
            program.request(Request::Continue).expect("continues");
            continue;
        }
        let user = frames.iter().find_map(|frame| frame.source.clone());
        let stop = steps(&program, StepKind::Over, 1);
        assert_eq!(stop.reasons, [StopReason::Step]);
        let now = super::walk::frame(&program, None).source;
        assert!(now.is_some() && now != user, "{now:?} after {user:?}");
        return;
    }
    panic!("the program never sleeps");
}

#[test]
fn a_step_from_a_thrown_exception_ends_in_the_catch() {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch("step_threads")
        .args(["1", "1"])
        .with(|launch| {
            let mut spec = host::api::ExceptionSpec::of_type("InvalidOperationException");
            spec.thrown = true;
            launch.exceptions = vec![spec];
        })
        .start();
    let stop = program.wait_stop();
    assert!(matches!(*stop.reasons, [StopReason::Exception { .. }]));
    assert_at(&program, "step_threads", "throw");
    let stop = steps(&program, StepKind::Over, 1);
    assert_eq!(stop.reasons, [StopReason::Step]);
    assert!(here(&program).contains("catch (InvalidOperationException)"));
}

#[test]
fn a_program_that_is_let_go_during_a_step_runs_on() {
    let sandbox = Sandbox::new();
    let bare = sandbox.bare("loops").args(["sleep", "200"]).start();
    bare.line_starting("tick 1");
    let program = sandbox.attach(bare.pid());
    set(&program, place("loops", "sleep"));
    program.wait_stop();
    let request = Request::Step {
        thread: None,
        kind: StepKind::Over,
        count: 1,
    };
    // It sleeps now, with a stepper waiting for it.
    program.request(request).expect("stepping");
    program.disconnect(Some(false), false);
    bare.assert_ticks();
}
