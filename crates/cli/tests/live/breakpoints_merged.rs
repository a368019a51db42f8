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
