//! Conditions and messages for code that has not run yet, while assemblies are missing that it needs; values that are declared
//! with a type parameter.

use engine::api::{BreakpointSpec, ErrorCode, Line, Place, Reply, Request};
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::hits::traces;
use crate::language::stopped_in;
use crate::sequences::{evaluate, told};

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

#[test]
fn fields_and_elements_of_a_type_parameter_are_tested_for_any_type() {
    let sandbox = Sandbox::new();
    let program = stopped_in(&sandbox, FIXTURE, "show");
    let check = |rows: &[(&str, &str)]| {
        let texts = rows.iter().map(|(text, _)| (*text).to_owned());
        for ((text, expected), answer) in rows.iter().zip(evaluate(&program, texts.collect())) {
            let told = told(&answer);
            assert!(told.contains(expected), "{text}: {told}");
        }
    };
    check(&[
        ("Val is null", "ok\tbool\tfalse"),
        ("Val is not null", "ok\tbool\ttrue"),
        ("Val as string", "ok\tstring\tnull"),
        ("Val is string { Length: > 1 }", "ok\tbool\tfalse"),
        ("Prop is string s1 ? s1 : \"no\"", "ok\tstring\t\"no\""),
        ("this.Val is string s2 && s2.Length > 0", "ok\tbool\tfalse"),
        ("arr[0] is string s3 && s3.Length > 0", "ok\tbool\tfalse"),
        ("arr[0] is int n3 && n3 == 5", "ok\tbool\ttrue"),
        ("list[0] is string s4 && s4.Length > 0", "ok\tbool\tfalse"),
        (
            "list.Any(x => x is string s5 && s5 == \"\")",
            "ok\tbool\tfalse",
        ),
        ("list is [string, ..]", "ok\tbool\tfalse"),
        ("(Val, arg) is (string a, _)", "ok\tbool\tfalse"),
        ("Val is \"q\"", "ok\tbool\tfalse"),
        ("Val ?? arg", "5"),
        (
            "Val switch { int i => i, string s => 1, null => 0, _ => 3 }",
            "ok\tint\t5",
        ),
        // What is declared as what it is, is not.
        ("n is string s6", "CS8121"),
        ("Number is string s7", "CS8121"),
        ("Number is null", "CS0037"),
        ("list.Count is string s8", "CS8121"),
        ("3 is string s9", "CS8121"),
    ]);
    program.cont();
    program.wait_stop();
    check(&[
        ("Val is int v && v > 3", "ok\tbool\tfalse"),
        ("Val is string v && v == \"q\"", "ok\tbool\ttrue"),
        ("Val is 3", "ok\tbool\tfalse"),
        ("list is [int, ..]", "ok\tbool\tfalse"),
        ("Val.Length", "ok\tint\t1"),
    ]);
    program.cont();
    program.expect_exit(0);
}
