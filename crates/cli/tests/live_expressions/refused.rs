//! What the compiler refuses is refused with its code, not run to see what happens; what is near it is taken.

use engine::api::{BreakpointSpec, Line, Place};
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::corners::compare_with_rows;
use crate::sequences::{evaluate, told};

#[test]
fn what_would_not_compile_does_not_run() {
    compare_with_rows(
        "expressions_refused",
        "main",
        &[
            ("calls.Either(1)", "CS0121"),
            ("calls.Either(1L)", "\"long\""),
            ("calls.Either(maybe)", "\"int?\""),
            ("calls.Maybe(5)", "CS0411"),
            ("calls.Maybe(maybe)", "\"maybe\""),
            ("calls.Maybe<int>(5)", "\"maybe\""),
            ("calls.Compared(spot)", "CS0315"),
            ("calls.Compared(calls)", "CS0311"),
            ("calls.Compared<Spot>(spot)", "CS0315"),
            ("calls.Compared(maybe)", "CS0313"),
            ("calls.Compared(s)", "\"compared\""),
            ("calls.Enumerated(i)", "CS0315"),
            ("calls.Enumerated(color)", "\"enum\""),
            ("calls.Made(s)", "CS0310"),
            ("calls.Made(makes)", "CS0310"),
            ("calls.Made(calls)", "\"made\""),
            ("calls.Made(spot)", "\"made\""),
            ("calls.Based(s)", "CS0311"),
            ("calls.Based(calls)", "\"based\""),
            ("calls.Unmanaged(s)", "CS8377"),
            ("calls.Unmanaged(spot)", "\"unmanaged\""),
            ("calls.Class(i)", "CS0452"),
            ("calls.Struct(s)", "CS0453"),
            ("new Nullable<string>()", "CS0453"),
            ("default(Nullable<int?>)", "CS0453"),
            ("typeof(Nullable<int>).Name", "\"Nullable`1\""),
            ("calls.Unmanaged((1, 2))", "\"unmanaged\""),
            ("calls.Unmanaged((1, s))", "CS8377"),
            (
                "calls.Unmanaged(new KeyValuePair<int, string>(1, s))",
                "CS8377",
            ),
            ("calls.Struct(maybe)", "CS0453"),
            ("s.Valued()", "CS0453"),
            ("i.Referred()", "CS0452"),
            ("spot.Ordered()", "CS0315"),
            ("i.Ordered()", "\"ordered\""),
            ("calls.Two(a: 1, a: 2)", "CS1740"),
            ("calls.Two(1, a: 2)", "CS1744"),
            ("calls.Two(b: 1, 2)", "CS8323"),
            ("(i + 1)++", "CS1059"),
            ("++5", "CS1059"),
            ("from x in i select x", "CS1936"),
            ("System", "CS0118"),
            ("decimal.MaxValue + 1", "CS0463"),
            ("decimal.MaxValue - 1", "79228162514264337593543950334"),
            ("(decimal)1e30", "CS0031"),
            ("new Needs()", "CS9035"),
            ("new Needs { B = 1 }", "CS9035"),
            ("new Needs { A = 1 }.A", "ok\tint\t1"),
            ("new[] { color, 0 }", "CS0826"),
            ("new[] { i, 2L }.Length", "ok\tint\t2"),
            ("yes ? wrap : 3", "CS0172"),
            ("numbers[0]()", "CS0149"),
            ("base.ToString()", "CS1511"),
            // What a pattern has not assigned is not read as null or zero.
            ("(object)s is int n || n > 1", "CS0165"),
            ("(object)s is not int n2 && n2 > 1", "CS0165"),
            ("(object)s is string t && t.Length > 0", "ok\tbool\ttrue"),
        ],
    );
}

/// The runtime would find out that there is no code, and end the program for it.
#[test]
fn what_has_no_code_is_not_run() {
    compare_with_rows(
        "expressions_codeless",
        "base",
        &[
            ("base.Area()", "CS0205"),
            ("base.Side", "CS0205"),
            ("base.Edge()", "ok\tint\t1"),
            ("Area()", "ok\tint\t9"),
        ],
    );
    compare_with_rows(
        "expressions_codeless",
        "codeless",
        &[
            ("Native.Back(5)", "CS8901"),
            ("Native.Abs(-5)", "ok\tint\t5"),
            ("Native.Hidden(derived)", "ok\tint\t9"),
            ("IMade.Count()", "CS8926"),
            ("IMade.Size", "CS8926"),
            ("IMade.Given()", "CS8926"),
            ("IMade.Plain()", "ok\tint\t6"),
            ("INumberBase<int>.One", "CS8926"),
            ("IParsable<int>.Parse(\"1\", null)", "CS8926"),
            ("Made.Count() + Made.Size", "ok\tint\t15"),
            ("Missing.Internal()", "`Internal` has no code"),
            ("Missing.Nothing()", "`Nothing` has no code"),
            ("Missing.Behind()", "ok\tint\t1"),
            ("derived.Area()", "ok\tint\t9"),
            ("report?.Invoke(2)", "ok\tvoid\t"),
            ("nobody?.Invoke(2)", "ok\tvoid\t"),
            ("reported", "ok\tint\t2"),
            ("Reads.Wide(ref looked)", "CS1503"),
            ("Reads.In(out looked)", "CS1615"),
            ("GC.GetTotalAllocatedBytes() > 0", "ok\tbool\ttrue"),
        ],
    );
}

#[test]
fn what_a_lambda_has_not_captured_is_told_as_that() {
    let sandbox = Sandbox::new();
    let functions = [
        ("lambda", "lambda", 3),
        ("local_function", "local function", 6),
    ];
    let specs = functions.map(|(marker, ..)| {
        let marker = Fixture::named("expressions_refused").marker(marker);
        BreakpointSpec::at(Place::Line {
            file: marker.file.display().to_string(),
            line: Line(marker.line),
            column: None,
        })
    });
    let program = sandbox
        .launch("expressions_refused")
        .with(|launch| launch.breakpoints = specs.into())
        .start();
    for (_, what, thrice) in functions {
        program.wait_stop();
        for (text, expected) in [
            ("it * 3", format!("ok\tint\t{thrice}")),
            ("Field", format!("this {what} has not captured `this`")),
            ("this.Field", format!("this {what} does not use `this`")),
            ("given", "CS0103".into()),
        ] {
            let answer = evaluate(&program, vec![text.to_owned()]).remove(0);
            let told = told(&answer);
            assert!(told.contains(&expected), "{text}: {told}");
            if let Err(error) = answer.outcome {
                let hint = error.error.hint.unwrap_or_default();
                let wanted = format!("a {what} knows only what it uses itself of `Run`");
                assert!(hint.contains(&wanted), "{text}: {hint}");
            }
        }
        program.cont();
    }
    program.settle();
}

#[test]
fn what_needs_an_assembly_that_is_nowhere_does_not_end_the_program() {
    let fixture = Fixture::named("expressions_missing");
    let sandbox = Sandbox::new();
    let copy = sandbox.folder().join("expressions_missing.dll");
    for extension in ["dll", "pdb", "runtimeconfig.json"] {
        let file = fixture.dll().with_extension(extension);
        std::fs::copy(file, copy.with_extension(extension)).expect("copied");
    }
    let marker = fixture.marker("main");
    let spec = BreakpointSpec::at(Place::Line {
        file: marker.file.display().to_string(),
        line: Line(marker.line),
        column: None,
    });
    let program = sandbox
        .launch("expressions_missing")
        .program(copy)
        .with(|launch| launch.breakpoints = vec![spec])
        .start();
    program.wait_stop();
    let texts = ["Needs()", "Around()", "Fine()"].map(str::to_owned);
    let answers = evaluate(&program, texts.into());
    let all: Vec<String> = answers.iter().map(told).collect();
    assert!(
        all[0].contains("needs the assembly library, which is neither loaded nor to be found"),
        "{}",
        all[0]
    );
    assert!(
        all[1].contains("System.IO.FileNotFoundException"),
        "{}",
        all[1]
    );
    assert_eq!(all[2], "ok\tint\t7");
    program.cont();
    program.expect_exit(0);
}
