//! Conditions and messages of breakpoints are expressions.

use engine::api::{BreakpointSpec, Evaluate, Event, Line, Place, Stop, StopReason, Stream};
use testkit::debuggee::Debuggee;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::evaluate::value;

const FIXTURE: &str = "expressions_stops";

pub(crate) fn at(marker: &str) -> BreakpointSpec {
    let marker = Fixture::named(FIXTURE).marker(marker);
    BreakpointSpec::at(Place::Line {
        file: marker.file.display().to_string(),
        line: Line(marker.line),
        column: None,
    })
}

pub(crate) fn launched<'s>(sandbox: &'s Sandbox, spec: BreakpointSpec) -> Debuggee<'s> {
    sandbox
        .launch(FIXTURE)
        .with(|launch| launch.breakpoints = vec![spec])
        .start()
}

fn with_condition(condition: &str) -> BreakpointSpec {
    BreakpointSpec {
        condition: Some(condition.into()),
        ..at("loop")
    }
}

/// The values of `i` at all stops.
fn stops_at(condition: &str) -> Vec<String> {
    let sandbox = Sandbox::new();
    let program = launched(&sandbox, with_condition(condition));
    let mut found = Vec::new();
    while program.settle().stop.is_some() {
        found.push(value(&program, "i").1);
        program.cont();
    }
    program.expect_exit(0);
    found
}

#[test]
fn a_condition_stops_only_where_it_is_true() {
    assert_eq!(stops_at("i == 7"), ["7"]);
    assert_eq!(stops_at("order.Total > 60 && i != 8"), ["7", "9"]);
    assert_eq!(
        stops_at("i < 9 && order.Customer.Name == \"Ann\""),
        ["0", "3", "6"]
    );
    assert_eq!(stops_at("order.Customer?.Name is null"), ["9"]);
}

fn failure(condition: &str) -> (Stop, String) {
    let sandbox = Sandbox::new();
    let program = launched(&sandbox, with_condition(condition));
    let stop = program.wait_stop();
    let told = stop.reasons.iter().find_map(|reason| match reason {
        StopReason::ConditionFailed { error, .. } => Some(error.clone()),
        _ => None,
    });
    let told = told.expect("the condition failed");
    program.disconnect(None, false);
    (stop, told)
}

#[test]
fn a_condition_that_fails_stops_and_says_why() {
    let (_, told) = failure("order.Missing == 1");
    assert!(
        told.contains("CS1061") && told.contains("^^^^^^^"),
        "{told}"
    );
    let (_, told) = failure("i + 1");
    assert!(told.contains("CS0029"), "{told}");
    let (_, told) = failure(
        "order.Customer.Name.Length == 1 && i == 9 || i == 9 && order.Customer.Name == \"\"",
    );
    assert!(told.contains("System.NullReferenceException"), "{told}");
    let (_, told) = failure("order.Throws == 1");
    assert!(told.contains("no total"), "{told}");
}

#[test]
fn a_message_tells_the_values_of_its_expressions() {
    let sandbox = Sandbox::new();
    let program = launched(
        &sandbox,
        BreakpointSpec {
            log_message: Some("{i}: {order.Total + 1} {order.Customer.Name}".into()),
            ..at("loop")
        },
    );
    program.expect_exit(0);
    let traces: Vec<String> = program
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::Trace(trace) => Some(trace.text),
            _ => None,
        })
        .collect();
    assert_eq!(traces.first().map(String::as_str), Some("0: 1 Ann"));
    assert_eq!(traces.get(4).map(String::as_str), Some("4: 41 Bob"));
    let last = traces.get(9).expect("ten hits");
    assert!(
        last.starts_with("9: 91 <error:") && last.contains("NullReferenceException"),
        "{last}"
    );
}

#[test]
fn a_message_tells_a_lazy_sequence_by_its_elements() {
    let sandbox = Sandbox::new();
    let program = launched(
        &sandbox,
        BreakpointSpec {
            log_message: Some("{new[] { i, 5 }.Select(it => it + 1)} {Enumerable.Range(1, 3)} {from it in new[] { 3, 4 } where it > 3 select it}".into()),
            ..at("loop")
        },
    );
    program.expect_exit(0);
    let first = program.events().into_iter().find_map(|event| match event {
        Event::Trace(trace) => Some(trace.text),
        _ => None,
    });
    assert_eq!(first.as_deref(), Some("[1, 6] [1, 2, 3] [4]"));
}

/// The program prints what C# makes of them, in a culture of its own; sequences without a text of their own are told by elements, and
/// enumerated no further.
#[test]
fn messages_tell_what_interpolated_strings_do_and_sequences_by_elements() {
    let rows = [
        ("table.Keys", "[Friday, Monday]"),
        ("table.Values", "[\"a\", \"b\"]"),
        ("queue", "[\"x\", \"y\"]"),
        ("naturals,[3]", "[1, 2, 3, …]"),
        ("naturals.Select(x => x * 2),[2]", "[10, 12, …]"),
        ("few", "[1, \"two\"]"),
        ("pair", "[4, 5]"),
        ("own", "[7, 8]"),
        ("price,nse", "1234.5"),
        ("money,nse", "{Money}"),
        ("table.Keys,nse", "[Friday, Monday]"),
    ];
    let same = "{price}|{half}|{loss}|{count}|{boxed}|{money}|{both}|{day}|{named}|{price:N1}";
    let holes = rows.map(|(text, _)| format!("{{{text}}}")).join("; ");
    let marker = Fixture::named("expressions_messages").marker("logged");
    let spec = BreakpointSpec {
        log_message: Some(format!("{same}\n{holes}")),
        ..BreakpointSpec::at(Place::Line {
            file: marker.file.display().to_string(),
            line: Line(marker.line),
            column: None,
        })
    };
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch("expressions_messages")
        .with(|launch| launch.breakpoints = vec![spec])
        .start();
    program.expect_exit(0);
    let told = crate::hits::traces(&program);
    let printed = program.text(Stream::Stdout);
    let printed: Vec<&str> = printed.lines().collect();
    let expected = rows.map(|(_, told)| told).join("; ");
    assert_eq!(told, [format!("{}\n{expected}", printed[0])]);
    assert_eq!(printed[1], "given 7");
}

/// The text that an object makes of itself is masked if a secret of the object stands in it, or if that cannot be known.
#[test]
fn a_text_that_holds_no_secret_of_its_object_is_told() {
    let marker = Fixture::named("expressions_messages").marker("logged");
    let trace = BreakpointSpec {
        log_message: Some("{quiet} {loud} {brief} {pin}".into()),
        mask_secrets: true,
        ..BreakpointSpec::at(Place::Line {
            file: marker.file.display().to_string(),
            line: Line(marker.line),
            column: None,
        })
    };
    let stop = BreakpointSpec {
        log_message: None,
        ..trace.clone()
    };
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch("expressions_messages")
        .with(|launch| launch.breakpoints = vec![trace, stop])
        .start();
    program.wait_stop();
    let masked = |text: &str| {
        let asked = Evaluate {
            side_effects: true,
            mask_secrets: true,
            ..Evaluate::read(text)
        };
        let value = crate::evaluate::ask(&program, asked).outcome;
        value.expect("it has a text").masked
    };
    let texts = ["quiet", "loud", "brief", "pin"].map(|it| masked(&format!("{it}.ToString()")));
    assert_eq!(texts, [false, true, true, true]);
    program.cont();
    program.expect_exit(0);
    assert_eq!(crate::hits::traces(&program), ["quiet *** *** ***"]);
}
