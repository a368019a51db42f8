//! Variables that the compiler put elsewhere are told once, by their own names, and only where they are in scope; values
//! that look like others are told apart.

use host::api::{Evaluate, Reply, Request};
use testkit::debuggee::Debuggee;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::support::{at, children, lines, locals, look, says_the_same, stopped};

fn evaluated(program: &Debuggee<'_>, text: &str) -> String {
    let request = Request::Evaluate(Evaluate::read(text));
    let Ok(Reply::Evaluated(all)) = program.request(request) else {
        panic!("no answer to {text}");
    };
    match all.into_iter().next().expect("one answer").outcome {
        Ok(value) => value.text,
        Err(error) => format!("error: {}", error.error.message),
    }
}

/// What is told at a stop, without `this` and delegates.
fn told(program: &Debuggee<'_>) -> Vec<String> {
    let mut told = lines(&locals(program));
    told.retain(|it| !it.starts_with("this = ") && !it.contains("AnonymousMethod"));
    told
}

/// Where the program stops, what is told there, and expressions with their values.
type Stop = (
    &'static str,
    &'static [&'static str],
    &'static [(&'static str, &'static str)],
);

#[test]
fn moved_variables_are_told_once_and_only_in_their_scopes() {
    const STOPS: [Stop; 9] = [
        (
            "primary",
            &[
                "rent = 3",
                "name = \"shop\"",
                "prices = Count = 2 { 1, 2 }",
                "extra = 4",
                "sum = 11",
            ],
            &[
                ("rent + prices.Count + extra", "9"),
                ("name.Length", "4"),
                ("prices[1]", "2"),
            ],
        ),
        // The lambda of `Later`: its own variable hides the parameter of the type.
        (
            "hidden",
            &[
                "rent = 3",
                "name = \"shop\"",
                "prices = Count = 2 { 1, 2 }",
                "rent = 50",
            ],
            &[("rent", "50")],
        ),
        (
            "soon",
            &["rent = 3", "name = \"shop\"", "prices = Count = 2 { 1, 2 }"],
            &[("rent * 2", "6")],
        ),
        ("crate", &["wide = 9"], &[("wide + 1", "10")]),
        (
            "closures",
            &["b = 2", "a = 1", "c = 5", "d = 7", "told = 10"],
            &[("a + b + c + d", "15")],
        ),
        (
            "nested",
            &["p = 2", "sum = 0", "i = 0", "x = 0", "y = 0"],
            &[("p + x + y", "2")],
        ),
        ("after", &["p = 2", "sum = 2"], &[]),
        (
            "guarded",
            &["count = 1", "sum = 0", "i = 0"],
            &[("sum + i", "0")],
        ),
        (
            "finally",
            &["count = 1", "sum = 0", "ended = 9"],
            &[("ended", "9")],
        ),
    ];
    let sandbox = Sandbox::new();
    let markers: Vec<&str> = STOPS.iter().map(|(marker, ..)| *marker).collect();
    let breakpoints = markers.iter().map(|marker| at("values_moved", marker));
    let program = sandbox
        .launch("values_moved")
        .with(|launch| launch.breakpoints = breakpoints.collect())
        .start();
    let fixture = Fixture::named("values_moved");
    let mut seen = Vec::new();
    let mut wrong = Vec::new();
    while seen.len() < STOPS.len() {
        program.wait_stop();
        let stack = Request::Stack {
            thread: None,
            start: 0,
            count: 1,
        };
        let Ok(Reply::Stack { frames, .. }) = program.request(stack) else {
            panic!("no stack");
        };
        let frame = frames.first().expect("a frame");
        let line = frame.source.as_ref().expect("its source").line;
        let mut stops = STOPS.iter();
        let here = stops.find(|(marker, ..)| line.0 == fixture.marker(marker).line);
        let (marker, expected, expressions) = here.expect("a marker");
        if !seen.contains(marker) {
            seen.push(*marker);
            let told = told(&program);
            if told != *expected {
                wrong.push(format!("{marker}: {told:?}"));
            }
            for (expression, value) in *expressions {
                let told = evaluated(&program, expression);
                if told != *value {
                    wrong.push(format!("{marker}: {expression} = {told}"));
                }
            }
        }
        program.cont();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A copy of the fixture in which a getter that does more than to return its field has one that the compiler named.
fn with_field_keyword(sandbox: &Sandbox) -> std::path::PathBuf {
    let fixture = Fixture::named("values_moved");
    let copy = sandbox.folder().join("values_moved.dll");
    for extension in ["dll", "pdb", "runtimeconfig.json"] {
        let file = fixture.dll().with_extension(extension);
        std::fs::copy(file, copy.with_extension(extension)).expect("copied");
    }
    let mut bytes = std::fs::read(&copy).expect("the copy");
    let (written, generated) = (b"_Doubled_k__BackingField", b"<Doubled>k__BackingField");
    let at = bytes.windows(written.len()).position(|it| it == written);
    let at = at.expect("the name of the field");
    bytes[at..at + written.len()].copy_from_slice(generated);
    std::fs::write(&copy, bytes).expect("written");
    copy
}

#[test]
fn values_that_look_like_others_are_told_apart() {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch("values_moved")
        .program(with_field_keyword(&sandbox))
        .with(|launch| {
            launch.breakpoints = ["query", "values"].map(|it| at("values_moved", it)).into();
        })
        .start();
    program.wait_stop();
    // The variables of a query lie in objects that its clauses hand on.
    let query = host::api::VariablesQuery {
        frame: 1,
        ..Default::default()
    };
    let told = crate::support::variables(&program, query).variables;
    assert_eq!(lines(&told), ["w = 2", "square = 4", "v = 10"]);
    program.cont();
    program.wait_stop();
    says_the_same(&program);
    // What a getter makes of its field only code can tell.
    assert_eq!(
        lines(&children(&program, "kinds")),
        ["Plain = \"plain\"", "<Doubled>k__BackingField = 21",]
    );
    let doubled = look(&program, "kinds.Doubled").value.text;
    assert!(doubled.contains("run code"), "{doubled}");
    assert!(evaluated(&program, "kinds.Doubled").starts_with("error: "));
}

#[test]
fn variables_of_code_that_was_replaced_while_it_ran_are_not_said_to_be_unassigned() {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch("values_replaced")
        .with(|launch| {
            launch.keep_optimized = true;
            launch.breakpoints = vec![at("values_replaced", "look")];
        })
        .start();
    program.wait_stop();
    let query = host::api::VariablesQuery {
        frame: 1,
        ..Default::default()
    };
    let told = lines(&crate::support::variables(&program, query).variables);
    assert!(told.contains(&"answer = 42".to_owned()), "{told:?}");
    assert!(
        !told.iter().any(|it| it.contains("not assigned")),
        "{told:?}"
    );
}

/// The runtime's library crashes when it is asked for one, and its host with it.
#[test]
fn numbers_in_floating_point_registers_are_told_or_it_is_said_why_not() {
    const FIXTURE: &str = "values_floats_release";
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch(FIXTURE)
        .env("DOTNET_TieredCompilation", "0")
        .with(|launch| {
            launch.keep_optimized = true;
            launch.breakpoints = vec![at(FIXTURE, "weigh"), at(FIXTURE, "later")];
        })
        .start();
    let values = [
        [
            "weight = 3.5",
            "part = 0.25",
            "whole = 7",
            "fraction = Fraction { Part = 0.125 }",
        ]
        .as_slice(),
        &["kept = 2"],
    ];
    for _ in 0..2 {
        program.wait_stop();
        for (frame, values) in (0..).zip(values) {
            let query = host::api::VariablesQuery {
                frame,
                ..Default::default()
            };
            let told = lines(&crate::support::variables(&program, query).variables);
            let is_right = |(told, value): (&String, &&str)| {
                let why_not = told.contains("register for floating-point numbers")
                    || told.contains("the optimiser has removed it");
                told == value || why_not && !value.starts_with("whole")
            };
            assert_eq!(told.len(), values.len(), "{told:?}");
            assert!(told.iter().zip(values).all(is_right), "{told:#?}");
        }
        program.cont();
    }
    program.expect_exit(0);
}

#[test]
fn what_a_primary_constructor_has_captured_is_state_of_the_object() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_moved", &["primary"]);
    let this = look(&program, "this").value;
    assert_eq!(
        this.text,
        "{ rent = 3, name = \"shop\", prices = Count = 2 { 1, 2 }, own = 4 }"
    );
    assert_eq!(look(&program, "this.rent").value.text, "3");
}
