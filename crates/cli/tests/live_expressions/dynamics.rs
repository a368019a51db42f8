//! What is declared `dynamic`: members, indexers, calls and operators are those of what it holds.

use engine::api::{Evaluate, Reply, Request, Stream};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use crate::language::stopped_in;
use crate::sequences::{evaluate, told};

const FIXTURE: &str = "expressions_dynamic";

#[track_caller]
fn read(program: &Debuggee<'_>, expression: &str) -> String {
    match program.request(Request::Evaluate(Evaluate::read(expression))) {
        Ok(Reply::Evaluated(all)) => told(&all[0]),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_dynamic_has_the_members_of_what_it_holds() {
    let sandbox = Sandbox::new();
    let program = stopped_in(&sandbox, FIXTURE, "main");
    let truth = program.text(Stream::Stdout);
    let rows: Vec<(&str, &str)> = truth.lines().filter_map(|it| it.split_once('\t')).collect();
    assert_eq!(rows.len(), 30, "{truth}");
    let mut wrong = Vec::new();
    for (text, expected) in rows {
        let here = read(&program, text);
        if here.rsplit('\t').next() != Some(expected) {
            wrong.push(format!("{text}\n  program: {expected}\n  here: {here}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let calls = [
        ("holder.Field[4]", "ok\tint\t8"),
        ("holder.Field.Add(1)", "ok\tint\t6"),
        ("holder.Field.Add(\"+\")", "ok\tstring\t\"item+\""),
        ("holder.Expando.Twice(4)", "ok\tint\t8"),
    ];
    let answers = evaluate(&program, calls.map(|(text, _)| text.to_owned()).into());
    for ((text, expected), answer) in calls.iter().zip(&answers) {
        assert_eq!(told(answer), *expected, "{text}");
    }
    // An object is none.
    for text in ["holder.Plain.Name", "holder.Expando.Missing"] {
        let told = read(&program, text);
        assert!(told.contains("CS1061"), "{text}: {told}");
    }
}

#[test]
fn what_a_lambda_captured_is_as_dynamic_as_before() {
    let sandbox = Sandbox::new();
    let program = stopped_in(&sandbox, FIXTURE, "inside");
    assert_eq!(read(&program, "captured.Name"), "ok\tstring\t\"captured\"");
    assert_eq!(read(&program, "captured.Number + 1"), "ok\tint\t6");
}
