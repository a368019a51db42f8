//! Which getter a property is read by: the one that the runtime would run, and the field that this one returns.

use engine::api::{BreakpointSpec, Evaluate, Line, Place, Request};
use testkit::debuggee::Debuggee;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::evaluate::ask;

const FIXTURE: &str = "expressions_dispatch";

fn at_stop() -> BreakpointSpec {
    let marker = Fixture::named(FIXTURE).marker("stop");
    BreakpointSpec::at(Place::Line {
        file: marker.file.display().to_string(),
        line: Line(marker.line),
        column: None,
    })
}

fn stopped<'s>(sandbox: &'s Sandbox) -> Debuggee<'s> {
    let builder = sandbox.launch(FIXTURE);
    let program = builder
        .with(|launch| launch.breakpoints = vec![at_stop()])
        .start();
    program.wait_stop();
    program
}

fn told(program: &Debuggee<'_>, text: &str, side_effects: bool) -> String {
    let evaluate = Evaluate {
        side_effects,
        ..Evaluate::read(text)
    };
    match ask(program, evaluate).outcome {
        Ok(value) => value.text,
        Err(error) => error.error.message,
    }
}

/// What is told is the same whether code may run or not; of what only code tells, nothing is told without.
#[track_caller]
fn check(program: &Debuggee<'_>, text: &str, expected: &str, is_read: bool) {
    let read = told(program, text, false);
    match is_read {
        true => assert_eq!(read, expected, "{text}"),
        false => assert!(read.contains("would run code"), "{text}: {read}"),
    }
    assert_eq!(told(program, text, true), expected, "{text} with code");
}

#[test]
fn a_property_is_read_by_the_getter_that_would_run() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox);
    for (text, expected) in [
        ("one.V", "1"),
        ("two.V", "2"),
        ("one.N", "\"a\""),
        ("two.N", "\"b\""),
        ("three.V", "3"),
        ("four.V", "4"),
        ("three.N", "\"pub\""),
        ("four.N", "\"own\""),
        ("ofInt.V", "5"),
        ("ofText.V", "\"five\""),
        // What hides a member does not implement the interface, unless its type names that again.
        ("level1.V", "40"),
        ("level1.N", "\"n0\""),
        ("level2.N", "\"n2\""),
        ("part.N", "\"p\""),
        // A member that is declared anew has a slot of its own.
        ("slot.V", "2"),
        ("slot2.V", "4"),
        ("slot.Self", "null"),
        ("over.Under", "10"),
        ("over.Over", "11"),
        ("items.Current", "\"object\""),
        ("numbers.Current", "3"),
        ("two is { V: 2, N: \"b\" }", "true"),
        ("$\"{two.V} {one.V}\"", "\"2 1\""),
        ("new IOne[] { one, level1 }[1].V", "40"),
    ] {
        check(&program, text, expected, true);
    }
    for (text, expected) in [
        ("two.Def", "8"),
        ("four.Def", "7"),
        ("part.V", "21"),
        // The compiler has made a method that calls it: it is not virtual.
        ("level2.V", "44"),
        // The runtime chooses one of two constructions.
        ("ofObject.V", "\"five\""),
        ("ofEither.V", "\"one\""),
    ] {
        check(&program, text, expected, false);
    }
    assert_eq!(told(&program, "two.N = \"c\"", true), "\"c\"");
    assert_eq!(told(&program, "one.N + two.N", false), "\"ac\"");
}

#[test]
fn a_getter_that_returns_a_static_field_is_read() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox);
    for (text, expected) in [
        ("service.Name", "\"service\""),
        ("service.Limit", "9"),
        ("service.Shared", "3"),
        ("service.Here", "8"),
        ("service.Kind", "\"root\""),
        ("root.Kind", "\"root\""),
        ("small.S", "6"),
        ("ofNumber.V", "5"),
        ("ofString.V", "\"g\""),
    ] {
        check(&program, text, expected, true);
    }
    for side_effects in [false, true] {
        let masked = Evaluate {
            side_effects,
            mask_secrets: true,
            ..Evaluate::read("service.Shown")
        };
        let shown = ask(&program, masked).outcome.expect("it is told");
        assert!(shown.masked, "{shown:?}");
        let missing = told(
            &program,
            "(small.S > 6 ? service : null)!.Name",
            side_effects,
        );
        assert!(missing.contains("NullReferenceException"), "{missing}");
    }
}

#[test]
fn conditions_read_the_getter_that_would_run() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox);
    let condition = "two.V == 2 && one.V == 1 && service.Name == \"service\" && small.S == 6";
    let spec = BreakpointSpec {
        condition: Some(condition.into()),
        ..at_stop()
    };
    program
        .request(Request::SetBreakpoint(spec))
        .expect("a breakpoint");
    program.cont();
    program.wait_stop();
}
