//! Conditions and messages that run code of the program: exact on many threads, bounded, never silently true or false.

use std::collections::BTreeMap;

use engine::api::{
    Breakpoint, BreakpointSpec, Event, Line, Place, Reply, Request, StopReason, Stream,
};
use testkit::debuggee::Debuggee;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::evaluate::value;

const FIXTURE: &str = "conditions_calls";

fn at(marker: &str) -> BreakpointSpec {
    let marker = Fixture::named(FIXTURE).marker(marker);
    BreakpointSpec::at(Place::Line {
        file: marker.file.display().to_string(),
        line: Line(marker.line),
        column: None,
    })
}

fn with_condition(condition: &str) -> BreakpointSpec {
    BreakpointSpec {
        condition: Some(condition.into()),
        ..at("once")
    }
}

fn launched<'s>(sandbox: &'s Sandbox, args: [&str; 2], specs: Vec<BreakpointSpec>) -> Debuggee<'s> {
    sandbox
        .launch(FIXTURE)
        .args(args)
        .with(|launch| launch.breakpoints = specs)
        .start()
}

fn breakpoints(program: &Debuggee<'_>) -> Vec<Breakpoint> {
    match program.request(Request::Breakpoints) {
        Ok(Reply::Breakpoints { breakpoints, .. }) => breakpoints,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn traces(program: &Debuggee<'_>) -> Vec<String> {
    let text = |event| match event {
        Event::Trace(trace) => Some(trace.text),
        _ => None,
    };
    program.events().into_iter().filter_map(text).collect()
}

#[test]
fn conditions_that_call_getters_are_exact_on_every_thread() {
    let sandbox = Sandbox::new();
    // A breakpoint inside the code that the condition runs is passed over there.
    let specs = vec![with_condition("job.IsWanted"), at("decide")];
    let program = launched(&sandbox, ["4", "50"], specs);
    let mut by_thread = BTreeMap::new();
    while let Some(stop) = program.settle().stop {
        assert!(
            matches!(&stop.reasons[..], [StopReason::Breakpoint { ids }] if ids.len() == 1),
            "{stop:?}"
        );
        assert_eq!(value(&program, "job.Number % 10").1, "3");
        assert_eq!(value(&program, "job.Asked").1, "1", "it ran once");
        *by_thread.entry(stop.thread.expect("a thread")).or_insert(0) += 1;
        program.cont();
    }
    assert_eq!(by_thread.len(), 4, "{by_thread:?}");
    assert!(by_thread.values().all(|it| *it == 5), "{by_thread:?}");
    let told = breakpoints(&program);
    assert_eq!((told[0].hits, told[1].hits), (20, 0));
    program.expect_exit(0);
    program.wait_output("total 200");
}

#[test]
fn messages_run_code_where_only_that_can_tell() {
    let sandbox = Sandbox::new();
    let message = "{$hitcount}: {job.Name}, {job.Number + 1} {job.Throws}";
    let spec = BreakpointSpec {
        log_message: Some(message.into()),
        ..with_condition("$hitcount % 2 == 0 && !job.IsWanted")
    };
    let program = launched(&sandbox, ["1", "8"], vec![spec]);
    program.expect_exit(0);
    let traces = traces(&program);
    assert_eq!(traces.len(), 3, "{traces:?}");
    for (trace, start) in traces
        .iter()
        .zip(["2: job 1, 2 ", "6: job 5, 6 ", "8: job 7, 8 "])
    {
        assert!(trace.starts_with(start), "{trace}");
        assert!(
            trace.contains("InvalidOperationException: not for job"),
            "{trace}"
        );
    }
    assert!(program.text(Stream::Stdout).contains("total 8"));
}

#[test]
fn conditions_whose_code_fails_stop_and_say_why() {
    let sandbox = Sandbox::new();
    for (condition, why) in [
        (
            "job.Throws",
            "System.InvalidOperationException: not for job 0",
        ),
        ("job.Endless", "took longer than"),
        ("job.Number++ == 0", "assignment"),
    ] {
        let program = launched(&sandbox, ["1", "2"], vec![with_condition(condition)]);
        let stop = program.wait_stop();
        let [StopReason::ConditionFailed { error, .. }] = &stop.reasons[..] else {
            panic!("{condition}: {stop:?}")
        };
        assert!(error.contains(why), "{condition}: {error}");
        // The program is as usable as at any stop.
        assert_eq!(value(&program, "job.Number").1, "0", "{condition}");
        program.disconnect(None, true);
    }
}
