//! Lines of optimised builds whose statements the compiler has run together with others: a breakpoint there is refused, never moved to
//! where the program comes without having been on the line.

use host::api::BreakpointState;
use testkit::sandbox::Sandbox;

use crate::breakpoints_support::{at_marker, here, line, list};

const FIXTURE: &str = "bp_merged";

#[test]
fn lines_without_code_of_their_own_are_not_left_for_what_runs_without_them() {
    let refused = [
        ("name", Some("load")),
        ("body", Some("loop")),
        ("letter", None),
        ("number", None),
        ("chosen", Some("big")),
        ("branch", None),
    ];
    let bound = [
        ("load", "load", 2),
        ("label", "first", 1),
        ("behind", "behind", 2),
    ];
    for keep in [false, true] {
        let sandbox = Sandbox::new();
        let markers = refused.iter().map(|(marker, _)| marker);
        let markers = markers.chain(bound.iter().map(|(marker, ..)| marker));
        let specs = markers.map(|it| at_marker(FIXTURE, it)).collect();
        let launch = sandbox.launch(FIXTURE).with(|launch| {
            launch.breakpoints = specs;
            launch.keep_optimized = keep;
        });
        let program = launch.start();
        let mut stops = Vec::new();
        while program.settle_exit().is_none() {
            stops.push(here(&program).1);
            program.cont();
        }
        program.expect_exit(0);
        let expected = bound
            .iter()
            .flat_map(|(_, at, hits)| vec![line(FIXTURE, at); *hits]);
        assert_eq!(stops, expected.collect::<Vec<_>>(), "optimised: {keep}");
        let told = list(&program);
        let (failed, set) = told.split_at(refused.len());
        assert!(
            set.iter().all(|it| it.state == BreakpointState::Bound),
            "{set:#?}"
        );
        for ((marker, before), told) in refused.iter().zip(failed) {
            assert_eq!(told.state, BreakpointState::Failed, "{told:#?}");
            let reason = told.reason.as_deref().unwrap_or_default();
            let line_of = |marker| line(FIXTURE, marker);
            let own = format!("left no code of its own on line {} ", line_of(marker));
            assert!(reason.contains(&own), "{marker}: {reason}");
            if let Some(before) = before {
                let before = format!("with the statement before it, on line {}", line_of(before));
                assert!(reason.contains(&before), "{marker}: {reason}");
            }
        }
    }
}

/// Where ways of the code meet the runtime's compiler forgets the call before: a statement that begins there, with a value on the
/// evaluation stack, is none of its own. What is told to be set stops the program whenever it is come by.
#[test]
fn statements_that_begin_where_ways_meet_behind_a_call_are_refused_or_reached() {
    let fixture = "bp_joined";
    let refused = ["returned", "logged", "second", "less"];
    let inside = ["named", "sent", "given"];
    let own = ["made", "told", "after", "first"];
    for keep in [false, true] {
        let sandbox = Sandbox::new();
        let markers = refused.iter().chain(&inside).chain(&["tries"]).chain(&own);
        let markers: Vec<&str> = markers.copied().collect();
        let specs = markers.iter().map(|it| at_marker(fixture, it)).collect();
        let launch = sandbox.launch(fixture).with(|launch| {
            launch.breakpoints = specs;
            launch.keep_optimized = keep;
        });
        let program = launch.start();
        let mut stops = Vec::new();
        while program.settle_exit().is_none() {
            stops.push(here(&program).1);
            program.cont();
        }
        program.expect_exit(0);
        let expected: &[&str] = match keep {
            true => &own,
            false => &["made", "named", "sent", "told", "given", "after", "first"],
        };
        let expected: Vec<_> = expected.iter().map(|it| line(fixture, it)).collect();
        assert_eq!(stops, expected.repeat(2), "optimised: {keep}");
        for (marker, told) in markers.iter().zip(list(&program)) {
            let reason = told.reason.clone().unwrap_or_default();
            let says = |text: &str| {
                let text = text.replace("LINE", &line(fixture, marker).to_string());
                assert!(reason.contains(&text), "{marker}: {told:#?}");
            };
            if own.contains(marker) {
                assert_eq!((told.state, reason.as_str()), (BreakpointState::Bound, ""));
            } else if keep || refused.contains(marker) {
                assert_eq!(told.state, BreakpointState::Failed, "{told:#?}");
                says("no code of its own on line LINE of");
            } else if inside.contains(marker) {
                says("where line LINE begins: the program stops inside it, behind a call");
            } else {
                says("no code of its own on line LINE; moved to line");
            }
        }
    }
}
