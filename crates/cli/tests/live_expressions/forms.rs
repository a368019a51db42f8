//! Initialisers, positional patterns, spans, keys and lambdas, compared with the compiler; what a lambda cannot do is said with
//! its place and the way around; conditions that only a hit can tell.

use engine::api::{BreakpointSpec, Evaluate, Line, Place, Reply, Request};
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::evaluate::value;
use crate::language::stopped_in;
use crate::sequences::{compare_with_program, evaluate, told};

const FIXTURE: &str = "expressions_forms";

#[test]
fn initialisers_patterns_spans_and_keys_are_csharps() {
    compare_with_program(FIXTURE);
}

#[test]
fn what_a_lambda_cannot_do_is_said_with_its_place_and_the_way_around() {
    let sandbox = Sandbox::new();
    let program = stopped_in(&sandbox, FIXTURE, "main");
    let rows = [
        (
            "Apply(x => x + 1)",
            "a lambda cannot be passed to `Apply`, which runs in the program",
            "Apply(x => x + 1) |         ^^^^^^^^^^",
        ),
        (
            "new System.Threading.Thread(() => number.ToString()).IsAlive",
            "a lambda cannot be passed to the constructor",
            "^^^^^^^^^^^^^^^^^^^^^^^",
        ),
        (
            "list.Select(x => { if (x > 1) return 1; return 2; }).First()",
            "other statements cannot be evaluated",
            "list.Select(x => { if (x > 1) return 1; return 2; }).First() |                      ^^",
        ),
        (
            "list.Select(delegate (int x) { return x; })",
            "write a lambda with an expression body",
            "^^^^^^^^",
        ),
        ("list.Select(async x => x).Count()", "async lambda", "^"),
    ];
    let texts = rows.map(|(text, ..)| text.to_owned());
    for ((text, expected, place), answer) in rows.iter().zip(evaluate(&program, texts.into())) {
        let told = told(&answer);
        assert!(
            told.contains(expected) && told.contains(place),
            "{text}: {told}"
        );
    }
    // An array is sorted in the program, as its own code would do it.
    let sorted = ["Array.Sort(array, (a, b) => b - a)", "array[0] - array[3]"];
    let answers = evaluate(&program, sorted.map(str::to_owned).into());
    assert_eq!(told(&answers[1]), "ok\tint\t30", "{:?}", answers[0]);

    // The elements of a tuple in an object are read, and a struct's setter is named where nothing may run.
    let looks = [
        "pair is (1, \"z\")",
        "classic is (1, _)",
        "new Meter { Value = 1 }.Value",
    ];
    let request = Request::Evaluate(Evaluate {
        expressions: looks.map(str::to_owned).into(),
        ..Evaluate::read("")
    });
    let Ok(Reply::Evaluated(answers)) = program.request(request) else {
        panic!("evaluating gave no answer");
    };
    let all: Vec<String> = answers.iter().map(told).collect();
    assert_eq!(all[..2], ["ok\tbool\ttrue", "ok\tbool\ttrue"]);
    assert!(
        all[2].contains("setting `Value` would run code") && all[2].contains("^^^^^"),
        "{}",
        all[2]
    );
}

#[test]
fn conditions_know_what_dynamic_holds_and_load_linq() {
    let fixture = "expressions_late";
    let at = |marker: &str, condition: &str| conditional(fixture, marker, condition);
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch(fixture)
        .with(|launch| {
            launch.breakpoints = vec![
                at("dynamic", "(each + each).ToString().Length == 8"),
                at("linq", "numbers.Where(it => it > i).Count() == 2"),
            ];
        })
        .start();
    let stop = program.wait_stop();
    assert_eq!(value(&program, "each").1, "\"four\"", "{stop:?}");
    program.cont();
    let stop = program.wait_stop();
    assert_eq!(value(&program, "i").1, "2", "{stop:?}");
    program.cont();
    program.expect_exit(0);
}

#[test]
fn conditions_with_linq_bind_before_the_program_has_loaded_it() {
    let fixture = "expressions_unlinked";
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch(fixture)
        .with(|launch| {
            launch.breakpoints = vec![
                conditional(
                    fixture,
                    "first",
                    "(from n in numbers where n > i select n).Count() == 2",
                ),
                conditional(
                    fixture,
                    "second",
                    "(from w in words where w.Length > i orderby w select w.Length).Sum() == 0",
                ),
                conditional(
                    fixture,
                    "third",
                    "numbers.Sum() + numbers.Average() == 12.5 && i == 3",
                ),
            ];
        })
        .start();
    for i in ["2", "2", "3", "3"] {
        let stop = program.wait_stop();
        assert_eq!(value(&program, "i").1, i, "{stop:?}");
        program.cont();
    }
    program.expect_exit(0);
}

/// What is wrong beside LINQ is told at once, also while that is not loaded.
#[test]
fn what_is_wrong_in_a_lambda_of_linq_is_refused_before_it_is_loaded() {
    let sandbox = Sandbox::new();
    let fixture = "expressions_unlinked";
    let program = sandbox.launch(fixture).stop_at_entry().start();
    program.wait_stop();
    for (condition, expected) in [
        ("numbers.Any(n => n > missing)", Some("CS0103")),
        ("words.Any(w => w.Lenght == 2)", Some("CS1061")),
        (
            "words.Where(w => w.Length > i).Any(w => w.Foo)",
            Some("CS1061"),
        ),
        ("words.First(w => w == \"a\").Lenght > 1", Some("CS1061")),
        (
            "words.Select(w => w.Length).Any(n => n.Foo)",
            Some("CS1061"),
        ),
        (
            "(from w in words where w.Missing > 1 select w).Any()",
            Some("CS1061"),
        ),
        ("words.Count(w => w.Length) > 1", None),
        ("words.Any(w => w.Length == 2) && unknown", Some("CS0103")),
        ("numbers.Where(n => n > i).Count() == 2", None),
        (
            "numbers.Join(words, n => n, w => w.Length, (n, w) => n).Any()",
            None,
        ),
        ("words.OrderBy(w => w.Length).First().Length == i", None),
    ] {
        let spec = conditional(fixture, "first", condition);
        let told = program.request(Request::SetBreakpoint(spec));
        match (expected, told) {
            (None, Ok(Reply::Breakpoint { breakpoint, .. })) => {
                let remove = Request::RemoveBreakpoint(breakpoint.id);
                program.request(remove).expect("removed");
            }
            (Some(code), Err(error)) => {
                assert!(error.message.contains(code), "{condition}: {error:?}");
            }
            (_, other) => panic!("{condition}: {other:?}"),
        }
    }
    program.cont();
    program.expect_exit(0);
}

fn conditional(fixture: &str, marker: &str, condition: &str) -> BreakpointSpec {
    let marker = Fixture::named(fixture).marker(marker);
    let place = Place::Line {
        file: marker.file.display().to_string(),
        line: Line(marker.line),
        column: None,
    };
    BreakpointSpec {
        condition: Some(condition.into()),
        ..BreakpointSpec::at(place)
    }
}
