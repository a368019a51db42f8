//! Members of the framework that the debugger computes itself throw what .NET throws, with its words.

use engine::api::{Evaluate, Reply, Request, Stream};
use testkit::sandbox::Sandbox;

use crate::language::stopped_in;

#[test]
fn what_is_computed_here_throws_what_the_framework_throws() {
    let sandbox = Sandbox::new();
    let program = stopped_in(&sandbox, "expressions_throws", "main");
    let truth = program.text(Stream::Stdout);
    let rows: Vec<(&str, &str)> = truth.lines().filter_map(|it| it.split_once('\t')).collect();
    assert!(rows.len() > 80, "the program said what it throws: {truth}");
    // Where nothing may run in the program, so that all is computed here.
    let request = Evaluate {
        expressions: rows.iter().map(|(text, _)| (*text).to_owned()).collect(),
        ..Evaluate::read("")
    };
    let answers = match program.request(Request::Evaluate(request)) {
        Ok(Reply::Evaluated(all)) => all,
        other => panic!("{other:?}"),
    };
    let mut wrong = Vec::new();
    for ((text, expected), answer) in rows.iter().zip(&answers) {
        let here = match &answer.outcome {
            Ok(_) => "nothing".to_owned(),
            Err(error) => match &error.thrown {
                Some(thrown) => {
                    let message = thrown.message.as_deref().unwrap_or_default();
                    format!("{}: {}", thrown.type_name, message.replace('\n', "\\n"))
                }
                None => error.error.message.replace('\n', " | "),
            },
        };
        if here != *expected {
            wrong.push(format!("{text}\n  .NET: {expected}\n  here: {here}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
