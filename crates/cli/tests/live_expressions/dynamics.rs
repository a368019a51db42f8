//! What is declared `dynamic`: members, indexers, calls and operators are those of what it holds.

use engine::api::{Evaluate, Reply, Request, Stream};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use crate::corners::compare_with_rows;
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
        ("holder.Number += 4", "ok\tobject\t11"),
        ("holder.Number++", "ok\tobject\t11"),
        ("holder.Number", "ok\tobject\t12"),
        ("holder.Text += \"!\"", "ok\tobject\t\"text!\""),
        ("holder.Text.Length", "ok\tint\t5"),
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
    let changed = evaluate(&program, vec!["captured.Number += 2".to_owned()]);
    assert_eq!(told(&changed[0]), "ok\tint\t7");
}

#[test]
fn in_generic_iterators_and_async_methods_it_is_dynamic_too() {
    for (marker, name) in [("iterator", "kept"), ("async", "later")] {
        let sandbox = Sandbox::new();
        let program = stopped_in(&sandbox, FIXTURE, marker);
        let expected = format!("ok\tstring\t\"{name}\"");
        assert_eq!(read(&program, "kept.Name"), expected, "{marker}");
        let which = evaluate(&program, vec!["Program.Which(kept)".to_owned()]);
        let which = told(&which[0]);
        assert!(which.ends_with("\"item\""), "{marker}: {which}");
    }
}

#[test]
fn members_of_what_only_code_tells_are_changed_by_an_operator() {
    compare_with_rows(
        FIXTURE,
        "main",
        &[
            ("holder.Method().Number += 2", "ok\tobject\t7"),
            ("holder.Method().Number++", "ok\tobject\t7"),
            ("--holder.Method().Number", "ok\tobject\t7"),
            ("holder.Method().Name += 1", "ok\tobject\t\"item1\""),
            ("holder.Field.Number", "ok\tint\t7"),
            ("holder.Computed.Number <<= 1", "ok\tobject\t14"),
            ("holder.Expando.Count += 4", "7"),
            ("holder.Method().Missing += 1", "CS1061"),
            ("holder.Method().Number += \"x\"", "CS0029"),
            // Each of them has called the member once.
            ("Calls", "ok\tint\t7"),
        ],
    );
}

#[test]
fn a_new_member_of_an_expando_object_is_assigned_and_a_missing_one_not_changed() {
    const THROWN: &str = "throws\tMicrosoft.CSharp.RuntimeBinder.RuntimeBinderException\t'System.Dynamic.ExpandoObject' does not contain a definition for ";
    let missing = |name: &str| format!("{THROWN}'{name}'");
    let sandbox = Sandbox::new();
    let program = stopped_in(&sandbox, FIXTURE, "main");
    let rows = [
        ("grown.New += 1", missing("New")),
        ("grown.New++", missing("New")),
        ("grown.New = \"x\"", "ok\tobject\t\"x\"".into()),
        ("grown.New.Length", "ok\tint\t1".into()),
        ("grown.New += 1", "ok\tobject\t\"x1\"".into()),
        ("grown.Number = 4", "ok\tobject\t4".into()),
        ("++grown.Number", "ok\tobject\t5".into()),
        ("grown.Nothing = null", "ok\tobject\tnull".into()),
        (
            "((IDictionary<string, object>)grown).Keys.Count",
            "ok\tint\t4".into(),
        ),
        ("holder.Expando.More = 5", "ok\tobject\t5".into()),
        ("holder.Expando.More + 1", "ok\tint\t6".into()),
        ("holder.Expando.Less -= 5", missing("Less")),
        ("grown.Missing.New = 1", missing("Missing")),
        // What is removed is gone, and can come again.
        (
            "((IDictionary<string, object>)holder.Expando).Remove(\"More\")",
            "ok\tbool\ttrue".into(),
        ),
        ("holder.Expando.More += 1", missing("More")),
        ("holder.Expando.More = 6", "ok\tobject\t6".into()),
        ("holder.Expando.More", "ok\tint\t6".into()),
        (
            "((IDictionary<string, object>)grown).Remove(\"Number\")",
            "ok\tbool\ttrue".into(),
        ),
    ];
    let answers = evaluate(&program, rows.iter().map(|it| it.0.to_owned()).collect());
    for ((text, expected), answer) in rows.iter().zip(&answers) {
        assert_eq!(told(answer), *expected, "{text}");
    }
    // What is declared as one gets no members, and reading finds none.
    let refused = ["plain.New3 = 1", "grown.Missing", "grown.Number"];
    let answers = evaluate(&program, refused.map(str::to_owned).into());
    for (text, answer) in refused.iter().zip(&answers) {
        assert!(told(answer).contains("CS1061"), "{text}: {}", told(answer));
    }
    let unchanged = read(&program, "grown.Other = 1");
    assert!(unchanged.starts_with("error"), "{unchanged}");
}
