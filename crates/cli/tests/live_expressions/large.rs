//! Small questions about large things look at what they need, and no more.

use engine::api::{Evaluate, Reply, Request, Stream};
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::evaluate::ask;
use crate::language::stopped_in;
use crate::sequences::told;

const FIXTURE: &str = "expressions_large";

/// The program prints each expression and its value; the debugger must say the same.
#[test]
fn small_questions_about_large_things_are_answered() {
    let marker = Fixture::named(FIXTURE).marker("main");
    let source = std::fs::read_to_string(&marker.file).expect("the fixture's text");
    let texts = source
        .lines()
        .filter_map(|line| line.trim().strip_prefix("Check(() => ")?.strip_suffix(");"));
    let sandbox = Sandbox::new();
    let program = stopped_in(&sandbox, FIXTURE, "main");
    let mut here = Vec::new();
    for text in texts {
        let asked = Evaluate {
            time_limit_ms: 60_000,
            ..Evaluate::read(text)
        };
        let told = match ask(&program, asked).outcome {
            Ok(value) => value.text,
            Err(error) => error.error.message,
        };
        here.push(format!("{text}\t{told}"));
    }
    program.cont();
    program.expect_exit(0);
    let output = program.text(Stream::Stdout);
    let expected: Vec<&str> = output.lines().filter(|it| it.contains('\t')).collect();
    assert_eq!(expected.len(), here.len(), "the program printed all");
    let wrong = here.iter().zip(expected);
    let wrong: Vec<_> = wrong.filter(|(told, it)| told != it).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Code of the program that runs behind a look at very many objects, which it may move: what is asked for ends in any case.
#[test]
fn what_looks_at_very_many_objects_and_runs_code_has_an_answer() {
    let rows = [
        (
            "items.Take(20000).Count(x => x.Name.Length > 2) + items[3].Twice()",
            "ok\tint\t20006",
        ),
        (
            "items.Take(20000).Where(x => x.Id > 19990).Select(x => x.Twice()).First()",
            "more than 10000 objects",
        ),
        (
            "items.Take(20000).Select(x => x.Name).ToList()[5] + items[3].ToString()",
            "more than 10000 objects",
        ),
        ("list.Sum(x => x.Twice())", "took longer"),
        ("numbers.OrderBy(x => x, comparer).First()", "took longer"),
        ("numbers.Select(x => Endless(x)).First()", "took longer"),
    ];
    let sandbox = Sandbox::new();
    let program = stopped_in(&sandbox, "expressions_million", "main");
    let ask = |text: &str, time_limit_ms: u32| {
        let asked = Evaluate {
            side_effects: true,
            time_limit_ms,
            ..Evaluate::read(text)
        };
        match program.request(Request::Evaluate(asked)) {
            Ok(Reply::Evaluated(all)) => told(&all[0]),
            other => panic!("{other:?} to {text}"),
        }
    };
    for (text, expected) in rows {
        let limit = if expected == "took longer" {
            300
        } else {
            60_000
        };
        let answer = ask(text, limit);
        assert!(answer.contains(expected), "{text}: {answer}");
        assert_eq!(
            ask("items[3].Twice()", 60_000),
            "ok\tint\t6",
            "after {text}"
        );
    }
    program.cont();
    program.expect_exit(0);
}
