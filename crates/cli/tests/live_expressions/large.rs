//! Small questions about large things look at what they need, and no more.

use engine::api::{Evaluate, Stream};
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::evaluate::ask;
use crate::language::stopped_in;

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
