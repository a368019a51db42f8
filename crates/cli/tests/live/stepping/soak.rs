//! Many stops of mixed kinds, counted by us and by the program.
//!
//! `cargo xtask soak` makes 10,000 of them; here a few hundred.

use std::collections::BTreeMap;

use host::api::{
    ErrorCode, Event, ExceptionSpec, Reply, Request, State, Status, StepKind, StopReason, Stream,
    ThreadId,
};
use testkit::debuggee::Debuggee;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use super::walk::{frame, launch_to, place};

const FIXTURE: &str = "step_threads";
const THREADS: u32 = 8;

/// The same sequence of actions for each run of the test; which thread is where differs.
struct Dice(u32);

impl Dice {
    fn roll(&mut self, sides: u32) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 16) % sides
    }
}

/// Keeps all threads but one where they are, or lets them go again.
fn freeze_others(program: &Debuggee<'_>, thread: Option<ThreadId>, frozen: bool) {
    let Ok(Reply::Threads(threads)) = program.request(Request::Threads) else {
        panic!("no threads")
    };
    for other in threads.into_iter().map(|it| it.id) {
        if Some(other) != thread {
            let request = Request::Freeze {
                thread: other,
                frozen,
            };
            // One that is ending cannot be frozen, and need not be.
            if let Err(error) = program.request(request) {
                assert_eq!(error.code, ErrorCode::Runtime, "{error:?}");
            }
        }
    }
}

/// Lets the program run in one of several ways; the thread that must report if nothing else stops it first.
fn go_on(program: &Debuggee<'_>, dice: &mut Dice, status: &Status) -> Option<ThreadId> {
    let stop = status.stop.as_ref().expect("a stop");
    let at_hit = matches!(*stop.reasons, [StopReason::Breakpoint { .. }]);
    let step = |kind, count| {
        let request = Request::Step {
            thread: None,
            kind,
            count,
        };
        program.request(request).expect("stepping");
        stop.thread
    };
    match dice.roll(8) {
        0 if at_hit => {
            // Without the others, which would be at the breakpoint before the step ends.
            freeze_others(program, stop.thread, true);
            let stepped = step(StepKind::Over, 1);
            program.settle();
            freeze_others(program, stop.thread, false);
            stepped
        }
        1..=2 if at_hit => step(StepKind::Over, 1),
        3 if at_hit => step(StepKind::Into, 2),
        4 => {
            let request = Request::RunTo(place(FIXTURE, "stepped"));
            program.request(request).expect("runs");
            None
        }
        5 => {
            program.cont();
            program.request(Request::Pause).expect("pauses");
            None
        }
        _ => {
            program.cont();
            None
        }
    }
}

/// Whether each reason fits the place where the program is.
#[track_caller]
fn check_place(program: &Debuggee<'_>, status: &Status, stepped: Option<ThreadId>) {
    let stop = status.stop.as_ref().expect("a stop");
    let [reason] = &*stop.reasons else {
        return;
    };
    let line = || {
        let frame = frame(program, stop.thread);
        frame.source.map(|source| source.line.0)
    };
    let at = |marker| Some(Fixture::named(FIXTURE).marker(marker).line);
    match reason {
        StopReason::Breakpoint { .. } => assert_eq!(line(), at("hit"), "{stop:?}"),
        StopReason::Exception { .. } => assert_eq!(line(), at("throw"), "{stop:?}"),
        StopReason::RunTo => assert_eq!(line(), at("stepped"), "{stop:?}"),
        StopReason::Step => {
            assert_eq!(stop.thread, stepped, "a step ends on its thread: {stop:?}");
            let steps = stop.steps.expect("steps were asked for");
            assert_eq!(steps.made, steps.asked, "{stop:?}");
            let end = if steps.asked == 1 { "step" } else { "stepped" };
            assert_eq!(line(), at(end), "{stop:?}");
        }
        StopReason::Pause => {}
        other => panic!("{other:?} was not asked for"),
    }
}

#[test]
fn stops_of_mixed_kinds_are_counted_exactly() {
    let wanted: u32 = std::env::var("NDBG_SOAK_STOPS")
        .ok()
        .map_or(400, |text| text.parse().expect("a number of stops"));
    // Each round is a hit, and some are followed by a step, a pause or an exception.
    let rounds = wanted.div_ceil(THREADS);
    let sandbox = Sandbox::new();
    let (threads, rounds) = (THREADS.to_string(), rounds.to_string());
    let program = launch_to(&sandbox, FIXTURE, &[&threads, &rounds], &["begin", "hit"]);
    let mut spec = ExceptionSpec::of_type("InvalidOperationException");
    spec.thrown = true;
    program
        .request(Request::SetExceptionBreakpoint(spec))
        .expect("set");

    let mut dice = Dice(7);
    let mut status = program.status();
    program.cont();
    let mut stepped = None;
    loop {
        let settled = program.settle();
        if settled.state == State::Exited {
            break;
        }
        status.clone_from(&settled);
        check_place(&program, &status, stepped);
        stepped = go_on(&program, &mut dice, &status);
    }
    program.expect_exit(0);

    // A stop that gets a second cause is told again under its number: the last telling has all.
    let mut stops = BTreeMap::new();
    for event in program.events() {
        if let Event::Stopped(status) = event
            && let Some(stop) = status.stop
        {
            stops.insert(stop.id, stop.reasons);
        }
    }
    let mut counts = BTreeMap::new();
    for reason in stops.values().flatten() {
        let kind = match reason {
            StopReason::Breakpoint { .. } => "hits",
            StopReason::Exception { .. } => "exceptions",
            StopReason::Step => "steps",
            StopReason::Pause => "pauses",
            StopReason::RunTo => "runs",
            other => panic!("{other:?} was not asked for"),
        };
        *counts.entry(kind).or_insert(0_u32) += 1;
    }
    let summary = format!("{} stops: {counts:?}", stops.len());
    let text = program.text(Stream::Stdout);
    // The first hit is the breakpoint in Main.
    let hits = counts.get("hits").copied().unwrap_or(0) - 1;
    let exceptions = counts.get("exceptions").copied().unwrap_or(0);
    assert!(
        text.contains(&format!("hits {hits} thrown {exceptions}\n")),
        "{summary}; the program counted: {text}"
    );
    assert!(stops.len() >= wanted as usize, "{summary}");
    for kind in ["steps", "pauses", "runs", "exceptions"] {
        assert!(counts.contains_key(kind), "no {kind}: {summary}");
    }
    eprintln!("{summary}");
}
