//! Conditions: a breakpoint stops exactly when its condition is true, and says so when that cannot be told.

use host::api::{
    BreakpointChange, BreakpointId, BreakpointSpec, BreakpointState, ErrorCode, Event, Request,
    StopReason,
};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use crate::breakpoints_support::{at_marker, hit, list, set};

const FIXTURE: &str = "bp_traces";

fn conditional(condition: &str) -> BreakpointSpec {
    BreakpointSpec {
        condition: Some(condition.into()),
        ..at_marker(FIXTURE, "passed")
    }
}

fn launched<'s>(sandbox: &'s Sandbox, rounds: &str, specs: &[BreakpointSpec]) -> Debuggee<'s> {
    let specs = specs.to_vec();
    sandbox
        .launch(FIXTURE)
        .args([rounds])
        .with(|launch| launch.breakpoints = specs)
        .start()
}

#[test]
fn conditions_stop_exactly_when_they_are_true() {
    let sandbox = Sandbox::new();
    for (condition, rounds, expected) in [
        ("i == 500", "600", &["before 500"][..]),
        ("name == \"odd\" && i < 4", "6", &["before 1", "before 3"]),
        (
            "i == 0 || !(i < 3)",
            "5",
            &["before 0", "before 3", "before 4"],
        ),
        ("order.Count == 2", "4", &["before 2"]),
        ("order.Name.Length + i == 6", "4", &["before 1"]),
        ("order.Next == null && flag", "4", &["before 1", "before 3"]),
        (
            "i % 2 == 1 && name != \"even\"",
            "4",
            &["before 1", "before 3"],
        ),
        ("false", "4", &[]),
    ] {
        let program = launched(&sandbox, rounds, &[conditional(condition)]);
        for before in expected {
            assert_eq!(program.wait_stop().reasons, hit(1), "{condition}");
            let output = program.text(host::api::Stream::Stdout);
            assert_eq!(output.lines().last(), Some(*before), "{condition}");
            program.cont();
        }
        program.expect_exit(0);
        assert_eq!(list(&program)[0].hits, expected.len() as u64, "{condition}");
    }
}

#[test]
fn conditions_that_cannot_be_told_stop_and_say_why() {
    let sandbox = Sandbox::new();
    for (condition, why) in [
        ("order.Next.Count == 1", "NullReference"),
        ("unknown == 1", "unknown"),
        ("i", "bool"),
        ("order.Missing > 2", "Missing"),
        ("1 / (i - i) == 0", "DivideByZero"),
    ] {
        let program = launched(&sandbox, "2", &[conditional(condition)]);
        let reasons = program.wait_stop().reasons;
        let [
            StopReason::ConditionFailed {
                id,
                condition: told,
                error,
            },
        ] = &reasons[..]
        else {
            panic!("{condition}: {reasons:?}")
        };
        assert_eq!((*id, told.as_str()), (BreakpointId(1), condition));
        assert!(error.contains(why), "{condition}: {error}");
        // Mended, it is a condition like any other.
        let change = BreakpointChange {
            condition: Some("i == 1".into()),
            ..BreakpointChange::default()
        };
        let id = BreakpointId(1);
        program
            .request(Request::ChangeBreakpoint { id, change })
            .expect("changed");
        program.cont();
        assert_eq!(program.wait_stop().reasons, hit(1));
        assert_eq!(list(&program)[0].hits, 1);
    }
}

#[test]
fn hit_conditions_count_the_hits_whose_condition_is_true() {
    let sandbox = Sandbox::new();
    let spec = BreakpointSpec {
        hit_condition: Some("==2".into()),
        ..conditional("name == \"odd\"")
    };
    let program = launched(&sandbox, "10", &[spec]);
    assert_eq!(program.wait_stop().reasons, hit(1));
    assert!(
        program
            .text(host::api::Stream::Stdout)
            .ends_with("before 3\n")
    );
    program.cont();
    program.expect_exit(0);
    assert_eq!(list(&program)[0].hits, 5);
}

#[test]
fn conditions_are_changed_and_removed_while_the_program_is_stopped() {
    let sandbox = Sandbox::new();
    let program = launched(&sandbox, "6", &[conditional("i == 1")]);
    program.wait_stop();
    let (same, duplicate) = set(&program, conditional("i == 3"));
    assert!(duplicate && same.spec.condition.as_deref() == Some("i == 3"));
    program.cont();
    program.wait_stop();
    assert!(
        program
            .text(host::api::Stream::Stdout)
            .ends_with("before 3\n")
    );
    let change = BreakpointChange {
        condition: Some(String::new()),
        ..BreakpointChange::default()
    };
    program
        .request(Request::ChangeBreakpoint {
            id: same.id,
            change,
        })
        .expect("changed");
    program.cont();
    program.wait_stop();
    assert!(
        program
            .text(host::api::Stream::Stdout)
            .ends_with("before 4\n")
    );
}

#[test]
fn log_messages_show_values_and_why_some_cannot_be_read() {
    let sandbox = Sandbox::new();
    let tracing = BreakpointSpec {
        log_message: Some("{i}: {name} {order.Count + 1} {{{order.Next}}} {order.Nothing}".into()),
        ..conditional("i > 0")
    };
    let program = launched(&sandbox, "3", &[tracing]);
    program.expect_exit(0);
    let traces: Vec<String> = program
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::Trace(trace) => Some(trace.text),
            _ => None,
        })
        .collect();
    assert_eq!(traces.len(), 2, "{traces:?}");
    for (text, start) in traces
        .iter()
        .zip(["1: odd 2 {null} <error: ", "2: even 3 {null} <error: "])
    {
        assert!(
            text.starts_with(start) && text.contains("Nothing"),
            "{text}"
        );
    }
    let output = program.text(host::api::Stream::Trace);
    assert_eq!(
        output,
        traces
            .iter()
            .map(|it| format!("{it}\n"))
            .collect::<String>()
    );
}

#[test]
fn several_conditions_on_one_line_are_told_apart() {
    let sandbox = Sandbox::new();
    let text = |spec: BreakpointSpec| BreakpointSpec {
        place: crate::breakpoints_support::at_text(FIXTURE, "passed", "flag").place,
        ..spec
    };
    let program = launched(
        &sandbox,
        "4",
        &[conditional("i == 1"), text(conditional("i >= 1 && i <= 2"))],
    );
    let ids = |ids: &[u32]| {
        let ids = ids.iter().copied().map(BreakpointId).collect();
        vec![StopReason::Breakpoint { ids }]
    };
    assert_eq!(program.wait_stop().reasons, ids(&[1, 2]));
    program.cont();
    assert_eq!(program.wait_stop().reasons, ids(&[2]));
    program.cont();
    program.expect_exit(0);
    assert!(
        list(&program)
            .iter()
            .all(|it| it.state == BreakpointState::Unbound || it.state == BreakpointState::Bound)
    );
    assert_eq!(
        program.refused(Request::RemoveBreakpoint(BreakpointId(9))),
        ErrorCode::BreakpointNotFound
    );
}

/// What is told of a tracepoint whose text is wrong where it is bound is told of the text that is.
#[test]
fn of_a_tracepoint_it_is_told_which_text_is_wrong() {
    let sandbox = Sandbox::new();
    let traced = |condition: &str, message: &str| BreakpointSpec {
        log_message: Some(message.into()),
        ..conditional(condition)
    };
    let specs = [traced("unknown == 1", "{i}"), traced("i == 1", "{unknown}")];
    let program = launched(&sandbox, "2", &specs);
    let reasons = program.wait_stop().reasons;
    assert!(
        matches!(
            &reasons[..],
            [StopReason::ConditionFailed {
                id: BreakpointId(1),
                ..
            }]
        ),
        "{reasons:?}"
    );
    let told = list(&program);
    let reason = |at: usize| told[at].reason.clone().unwrap_or_default();
    assert!(
        reason(0).ends_with("as the condition can be neither true nor false"),
        "{told:#?}"
    );
    assert!(
        reason(1).ends_with("the message says so in the place of the value"),
        "{told:#?}"
    );
    program.disconnect(Some(true), false);
}
