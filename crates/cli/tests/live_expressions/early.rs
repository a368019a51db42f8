//! Conditions and messages for code that has not run yet, while assemblies are missing that it needs; values that are declared
//! with a type parameter.

use engine::api::{BreakpointSpec, ErrorCode, Line, Place, Reply, Request};
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::hits::traces;

const FIXTURE: &str = "expressions_early";

fn at(marker: &str) -> BreakpointSpec {
    let marker = Fixture::named(FIXTURE).marker(marker);
    BreakpointSpec::at(Place::Line {
        file: marker.file.display().to_string(),
        line: Line(marker.line),
        column: None,
    })
}

fn conditional(text: &str) -> BreakpointSpec {
    BreakpointSpec {
        condition: Some(text.into()),
        ..at("work")
    }
}

fn logging(text: &str) -> BreakpointSpec {
    BreakpointSpec {
        log_message: Some(text.into()),
        ..at("work")
    }
}

#[test]
fn what_no_assembly_could_mend_is_refused_before_any_code_has_run() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch(FIXTURE).stop_at_entry().start();
    program.wait_stop();
    for (spec, code) in [
        (conditional("i.Length > 0"), "CS1061"),
        (conditional("name.Len > 0"), "CS1061"),
        (conditional("item.Sq(\"a\") == 1"), "CS1503"),
        (conditional("item.Sq() == 1"), "CS7036"),
        (conditional("name.Substring(\"a\") == \"\""), "CS1503"),
        (conditional("Math.Abs(\"x\") == 1"), "CS1503"),
        (conditional("item as int == 3"), "CS0077"),
        (conditional("new Item(3) == null"), "CS1729"),
        (conditional("i()"), "CS0149"),
        (conditional("base.x"), "CS1511"),
        (conditional("x => true"), "CS1660"),
        (conditional("this == null"), "CS0026"),
        (conditional("item is Item { Zip: 3 }"), "CS0117"),
        (conditional("item.Name.Zap == \"\""), "CS1061"),
        (conditional("item.Sq"), "CS"),
        (conditional("Twice"), "CS"),
        (conditional("list.Any(it => it.Length > 0)"), "CS1061"),
        (logging("{this}"), "CS0026"),
        (logging("{i} {x => x}"), "CS8917"),
        (logging("{i.Length}"), "CS1061"),
    ] {
        let text = format!("{:?} {:?}", spec.condition, spec.log_message);
        match program.request(Request::SetBreakpoint(spec)) {
            Err(error) => {
                assert_eq!(error.code, ErrorCode::InvalidCondition, "{text}: {error:?}");
                assert!(error.message.contains(code), "{text}: {error:?}");
                assert!(error.details.is_some(), "{text} has a place: {error:?}");
            }
            other => panic!("{text} was taken: {other:?}"),
        }
    }
    // What an assembly brings that is loaded with the code is waited for.
    for text in [
        "list.Any(it => it > i)",
        "list.ElementAt(0) == 1",
        "Console.Out != null",
        "item.Sq(2) == 4 && name.Length == 1",
    ] {
        match program.request(Request::SetBreakpoint(conditional(text))) {
            Ok(Reply::Breakpoint { breakpoint, .. }) => {
                let remove = Request::RemoveBreakpoint(breakpoint.id);
                program.request(remove).expect("removed");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
    program.cont();
    program.expect_exit(0);
}

#[test]
fn a_method_in_a_message_is_told_as_the_delegate_that_it_is() {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch(FIXTURE)
        .with(|launch| launch.breakpoints = vec![logging("sq {item.Sq} {Twice}")])
        .start();
    program.expect_exit(0);
    let told =
        "sq System.Func`2[System.Int32,System.Int32] System.Func`2[System.Int32,System.Int32]";
    assert_eq!(traces(&program), [told, told]);
}
