//! A second comparison with the compiler, by hand: `fixtures/expressions_sequences.cs` computes each of its expressions and
//! prints the type, the value and what ran on the way; the same texts must do the same here, in the same order.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use engine::api::{
    BreakpointSpec, EnvChange, Evaluate, Evaluated, Line, Place, Reply, Request, Stream,
};
use testkit::debuggee::Debuggee;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::evaluate::nameless;
use crate::language::stopped_in;

const FIXTURE: &str = "expressions_sequences";

/// Some at a time: each request is to be answered in time on a slow machine too.
pub(crate) fn evaluate(program: &Debuggee<'_>, expressions: Vec<String>) -> Vec<Evaluated> {
    let some = expressions.chunks(16).flat_map(|some| {
        let request = Request::Evaluate(Evaluate {
            expressions: some.to_vec(),
            side_effects: true,
            time_limit_ms: 30_000,
            ..Evaluate::read("")
        });
        match program.request(request) {
            Ok(Reply::Evaluated(all)) => all,
            other => panic!("evaluating gave {other:?}"),
        }
    });
    some.collect()
}

pub(crate) fn told(evaluated: &Evaluated) -> String {
    match &evaluated.outcome {
        Ok(value) => format!("ok\t{}\t{}", nameless(&value.ty), value.text),
        Err(error) => match &error.thrown {
            Some(thrown) => format!(
                "throws\t{}\t{}",
                thrown.type_name,
                thrown
                    .message
                    .as_deref()
                    .unwrap_or_default()
                    .replace('\n', " ")
            ),
            None => format!("error\t{}", error.error.message.replace('\n', " | ")),
        },
    }
}

fn stopped<'s>(sandbox: &'s Sandbox, marker: &str) -> Debuggee<'s> {
    stopped_in(sandbox, FIXTURE, marker)
}

#[test]
fn local_functions_are_called_with_what_they_captured() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "direct");
    let texts = ["Sum(1)", "Sum(result) + Sum(0)", "Sun(1)"];
    let told: Vec<String> = evaluate(&program, texts.map(str::to_owned).into())
        .iter()
        .map(told)
        .collect();
    assert_eq!(told[0], "ok\tint\t43");
    assert_eq!(told[1], "ok\tint\t127");
    assert!(told[2].starts_with("error\terror CS0103"), "{}", told[2]);
}

#[test]
fn sequences_without_an_end_are_refused_with_a_reason() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "main");
    let rows = [
        (
            // Too many of them, or too long if the machine is slow.
            "Enumerable.Repeat(1, 100000000).Count(x => x > 0)",
            " than ",
        ),
        (
            "Enumerable.Range(0, 1000).Aggregate(xs.Where(x => true), (s, i) => s.Where(x => true)).Count()",
            "on top of each other",
        ),
        (
            "Enumerable.Range(0, 1000).Aggregate((IEnumerable<int>)xs, (s, i) => xs.Select(y => s.First())).First()",
            "inside each other",
        ),
        (
            "Enumerable.Range(0, 50000).Aggregate((object)0, (a, i) => (a, i)) is object",
            "true",
        ),
    ];
    let texts = rows.map(|(text, _)| text.to_owned());
    for ((text, expected), answer) in rows.iter().zip(evaluate(&program, texts.into())) {
        let told = told(&answer);
        assert!(told.contains(expected), "{text}: {told}");
    }
    let endless = Request::Evaluate(Evaluate {
        side_effects: true,
        time_limit_ms: 200,
        ..Evaluate::read("Naturals().Count(x => F(x) < 0)")
    });
    match program.request(endless) {
        Ok(Reply::Evaluated(all)) => {
            let told = all.iter().map(told).collect::<String>();
            // The time is over between two calls or in one.
            let is_over = told.contains("limit") || told.contains("took longer");
            assert!(is_over, "{told}");
        }
        other => panic!("evaluating gave {other:?}"),
    }
}

#[test]
fn sequences_run_what_csharp_runs_in_its_order() {
    compare_with_program(FIXTURE);
}

/// Evaluates what stands in the lines of `Check` of a fixture, and compares it with what the program then prints for them.
pub(crate) fn compare_with_program(fixture: &'static str) {
    compare(fixture, None, evaluate);
}

/// The same in an environment of its own.
pub(crate) fn compare_in(fixture: &'static str, environment: Option<(String, EnvChange)>) {
    compare(fixture, environment, evaluate);
}

/// The same without side effects.
pub(crate) fn compare_reading(fixture: &'static str) {
    compare(fixture, None, |program, texts| {
        let answers = texts.into_iter().map(|text| {
            // What ran is asked of the program itself.
            if text == "Taken()" {
                return evaluate(program, vec![text]);
            }
            match program.request(Request::Evaluate(Evaluate::read(&text))) {
                Ok(Reply::Evaluated(answers)) => answers,
                other => panic!("evaluating gave no answer: {other:?}"),
            }
        });
        answers.flatten().collect()
    });
}

fn compare(
    fixture: &'static str,
    environment: Option<(String, EnvChange)>,
    evaluate: impl Fn(&Debuggee<'_>, Vec<String>) -> Vec<Evaluated>,
) {
    let marker = Fixture::named(fixture).marker("main");
    let source = std::fs::read_to_string(&marker.file).expect("the fixture's text");
    let rows: Vec<(usize, &str)> = source
        .lines()
        .enumerate()
        .filter_map(|(index, line)| {
            let text = line.trim().strip_prefix("Check(() => ")?;
            Some((index + 1, text.strip_suffix(");")?))
        })
        .collect();
    assert!(rows.len() > 40, "the expressions are there");

    let sandbox = Sandbox::new();
    let spec = BreakpointSpec::at(Place::Line {
        file: marker.file.display().to_string(),
        line: Line(marker.line),
        column: None,
    });
    let program = sandbox
        .launch(fixture)
        .with(|launch| {
            launch.breakpoints = vec![spec];
            launch.env.extend(environment);
        })
        .start();
    program.wait_stop();
    let mut here = BTreeMap::new();
    let texts = rows
        .iter()
        .flat_map(|(_, text)| [(*text).to_owned(), "Taken()".to_owned()]);
    let answers = evaluate(&program, texts.collect());
    for ((line, text), answer) in rows.iter().zip(answers.chunks(2)) {
        let [value, log] = answer else {
            panic!("two answers for {text}");
        };
        let log = log.outcome.as_ref().expect("what ran").text.clone();
        here.insert(*line, format!("{}\t{}", log.trim_matches('"'), told(value)));
    }
    program.cont();
    program.expect_exit(0);
    let output = program.text(Stream::Stdout);
    let expected: BTreeMap<usize, &str> = output
        .lines()
        .filter_map(|row| {
            let (line, rest) = row.split_once('\t')?;
            Some((line.parse().ok()?, rest))
        })
        .collect();
    assert_eq!(expected.len(), rows.len(), "the program printed all");

    let mut wrong = String::new();
    for (line, text) in &rows {
        let (expected, here) = (expected[line], &here[line]);
        if expected != here {
            writeln!(wrong, "{text}\n  compiler: {expected}\n  here:     {here}").expect("a text");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
