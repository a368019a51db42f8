//! Evaluation on request: names, members, side effects, errors, limits.

use std::time::{Duration, Instant};

use engine::api::{Complete, Details, Evaluate, Evaluated, ExpressionError, Reply, Request};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use crate::stops::{at, launched};

pub(crate) fn ask(program: &Debuggee<'_>, evaluate: Evaluate) -> Evaluated {
    match program.request(Request::Evaluate(evaluate)) {
        Ok(Reply::Evaluated(mut all)) => all.pop().expect("one answer"),
        other => panic!("{other:?}"),
    }
}

fn with_effects(text: &str) -> Evaluate {
    Evaluate {
        side_effects: true,
        ..Evaluate::read(text)
    }
}

/// A type without the names of tuple elements, which a program does not know of its own types.
pub(crate) fn nameless(ty: &str) -> String {
    // The names of an anonymous type are its own.
    if ty.contains("anonymous") {
        return ty.to_owned();
    }
    let mut parts = ty.split(' ');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match text.ends_with(',') {
            true => text = format!("{text} {part}"),
            // A name, up to what stands behind it.
            false => {
                text.push_str(part.trim_start_matches(|it: char| it.is_alphanumeric() || it == '_'))
            }
        }
    }
    text
}

/// Type and value, by reading only.
pub(crate) fn value(program: &Debuggee<'_>, text: &str) -> (String, String) {
    match ask(program, Evaluate::read(text)).outcome {
        Ok(value) => (value.ty, value.text),
        Err(error) => panic!("{text}: {}", error.error.message),
    }
}

fn error(program: &Debuggee<'_>, evaluate: Evaluate) -> ExpressionError {
    let text = evaluate.expressions.concat();
    match ask(program, evaluate).outcome {
        Ok(value) => panic!("{text} is {value:?}"),
        Err(error) => error,
    }
}

#[track_caller]
fn check(program: &Debuggee<'_>, text: &str, ty: &str, expected: &str) {
    assert_eq!(
        value(program, text),
        (ty.to_owned(), expected.to_owned()),
        "{text}"
    );
}

#[test]
fn names_are_found_as_in_the_program() {
    let sandbox = Sandbox::new();
    let program = launched(&sandbox, at("sum"));
    program.wait_stop();
    // Captured variables, `this`, inherited and private members, statics, imports, aliases.
    check(&program, "factor + local", "int", "7");
    check(&program, "Total", "int", "20");
    check(&program, "this.Customer.Name", "string", "\"Bob\"");
    check(&program, "inherited", "int", "11");
    check(&program, "base.inherited", "int", "11");
    check(&program, "Customer.secret", "int", "42");
    check(&program, "shared + Order.shared", "int", "10");
    check(&program, "others.Count", "int", "10");
    check(&program, "others[3].Total", "int", "30");
    check(&program, "PI > 3", "bool", "true");
    check(
        &program,
        "typeof(Numbers)",
        "System.Type",
        "System.Collections.Generic.List<int>",
    );
    check(
        &program,
        "others.Where(o => o.Total > 70).Select(o => o.Total * factor).ToList()",
        "System.Collections.Generic.List<int>",
        "[320, 360]",
    );
    check(
        &program,
        "(from o in others where o.Total < 20 select o.Total).Sum()",
        "int",
        "10",
    );
    check(&program, "$pid > 1 && $tid > 1", "bool", "true");
    check(
        &program,
        "others,[0]",
        "System.Collections.Generic.List<Shop.Order>",
        "[… 10 more]",
    );
}

#[test]
fn type_parameters_are_what_they_stand_for() {
    let sandbox = Sandbox::new();
    let program = launched(&sandbox, at("same"));
    program.wait_stop();
    check(&program, "copy.Length", "int", "4");
    check(&program, "typeof(T)", "System.Type", "string");
    program.cont();
    program.wait_stop();
    check(&program, "copy.Count", "int", "2");
    check(&program, "copy[0]", "int", "4");
}

#[test]
fn errors_have_the_compilers_code_and_place() {
    let sandbox = Sandbox::new();
    let program = launched(&sandbox, at("sum"));
    program.wait_stop();
    let told = error(&program, Evaluate::read("locl + 1"));
    assert_eq!(told.code.as_deref(), Some("CS0103"));
    assert_eq!(told.error.hint.as_deref(), Some("did you mean `local`?"));
    assert_eq!(
        told.error.details.as_deref(),
        Some(&Details::Position { start: 0, end: 4 })
    );
    let told = error(&program, Evaluate::read("1 + this.Customer.Nam"));
    assert_eq!(told.code.as_deref(), Some("CS1061"));
    assert!(
        told.error
            .message
            .ends_with("\n  1 + this.Customer.Nam\n                    ^^^"),
        "{}",
        told.error.message
    );
    let told = error(&program, Evaluate::read("factor."));
    assert_eq!(told.code.as_deref(), Some("CS1001"));
}

#[test]
fn without_side_effects_nothing_runs() {
    let sandbox = Sandbox::new();
    let program = launched(&sandbox, at("sum"));
    program.wait_stop();
    let told = error(&program, Evaluate::read("1 + Counted()"));
    assert!(
        told.error.message.contains("`Counted` would run code"),
        "{}",
        told.error.message
    );
    assert_eq!(
        told.error.details.as_deref(),
        Some(&Details::Position { start: 4, end: 13 })
    );
    let told = error(&program, Evaluate::read("local = 5"));
    assert!(
        told.error.message.contains("assignment"),
        "{}",
        told.error.message
    );
    check(&program, "Calls", "int", "0");
    check(&program, "local", "int", "3");
}

#[test]
fn with_side_effects_code_runs_and_variables_change() {
    let sandbox = Sandbox::new();
    let program = launched(&sandbox, at("sum"));
    program.wait_stop();
    let run = |text: &str| ask(&program, with_effects(text)).outcome.map(|it| it.text);
    assert_eq!(
        run("Calls * 100 + Counted() * 10 + Counted()"),
        Ok("12".into())
    );
    check(&program, "Calls", "int", "2");
    assert_eq!(run("result = 77"), Ok("77".into()));
    check(&program, "result", "int", "77");
    assert_eq!(run("Total += 5"), Ok("25".into()));
    check(&program, "Total", "int", "25");
    assert_eq!(run("Kind + Customer.Visible"), Ok("\"order43\"".into()));
    let told = error(&program, with_effects("Throws + 1"));
    assert_eq!(
        told.exception.as_deref(),
        Some("System.InvalidOperationException")
    );
    assert!(
        told.error.message.contains("no total"),
        "{}",
        told.error.message
    );
    program.cont();
    program.settle();
}

#[test]
fn an_evaluation_that_does_not_end_is_given_up() {
    let sandbox = Sandbox::new();
    let program = launched(&sandbox, at("sum"));
    program.wait_stop();
    let told = error(
        &program,
        Evaluate {
            time_limit_ms: 500,
            ..with_effects("Endless")
        },
    );
    assert!(
        told.error.message.contains("given up"),
        "{}",
        told.error.message
    );
    check(&program, "local", "int", "3");
    // Code that loops can be interrupted only once on a thread: a second time is given up too or refused with that
    // reason, and other code still runs.
    let told = error(
        &program,
        Evaluate {
            time_limit_ms: 300,
            ..with_effects("Endless")
        },
    );
    assert!(
        told.error.message.contains("given up"),
        "{}",
        told.error.message
    );
    assert_eq!(
        ask(&program, with_effects("Counted()"))
            .outcome
            .map(|it| it.text),
        Ok("1".into())
    );
    let told = error(
        &program,
        Evaluate {
            time_limit_ms: 200,
            ..Evaluate::read(
                "others.Where(a => others.Any(b => others.All(c => others.Any(d => others.All(e => e.Total >= 0 && a.Total + b.Total + c.Total + d.Total < 0))))).Count() + others.SelectMany(a => others.SelectMany(b => others.SelectMany(c => others.SelectMany(d => others.SelectMany(e => others))))).Count()",
            )
        },
    );
    assert!(
        told.error.message.contains("time limit") || told.error.message.contains("more than"),
        "{}",
        told.error.message
    );
}

#[test]
fn names_are_completed() {
    let sandbox = Sandbox::new();
    let program = launched(&sandbox, at("sum"));
    program.wait_stop();
    let names = |text: &str| -> Vec<String> {
        let request = Complete {
            text: text.into(),
            position: u32::try_from(text.len()).expect("a short text"),
            thread: None,
            frame: 0,
            stop: None,
        };
        match program.request(Request::Complete(request)) {
            Ok(Reply::Completions(found)) => found.names.into_iter().map(|it| it.name).collect(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(names("1 + fac"), ["factor"]);
    assert_eq!(names("Cust"), ["Customer"]);
    assert_eq!(names("1 + @fac"), ["@factor"]);
    assert_eq!(names("this.Customer.s"), ["secret"]);
    assert_eq!(
        names("others.Fin"),
        ["Find", "FindAll", "FindIndex", "FindLast", "FindLastIndex"]
    );
    // Inherited members, static ones behind a type, extension methods, parameters of lambdas and of queries.
    assert_eq!(names("base.inh"), ["inherited"]);
    assert_eq!(names("Order.sh"), ["shared"]);
    assert_eq!(names("others[0].sh"), [""; 0]);
    assert_eq!(names("others.Whe"), ["Where"]);
    assert_eq!(names("others.Where(each => each.Tot"), ["Total"]);
    assert_eq!(names("others.Where(each => ea"), ["each"]);
    assert_eq!(
        names("from each in others where each.Customer?.Na"),
        ["Name"]
    );
    // Types and namespaces, by imports, aliases and full names.
    assert_eq!(names("System.Coll"), ["Collections"]);
    assert_eq!(names("System.Collections.Gen"), ["Generic"]);
    assert_eq!(names("new Dict"), ["Dictionary"]);
    assert_eq!(names("typeof(Numb"), ["Numbers"]);
    assert_eq!(names("new System.Text.StringB"), ["StringBuilder"]);
    assert_eq!(names("global::Sho"), ["Shop"]);
    assert_eq!(names("Shop.Pro"), ["Program"]);
    assert_eq!(names("new List<ulon"), ["ulong"]);
    assert_eq!(names("new Customer { Na"), ["Name"]);
    assert_eq!(names("this is Order { Cust"), ["Customer"]);
    assert_eq!(names("$p"), ["$pid"]);
    // With nothing written what is nearest comes first: variables, then members, then types.
    let all = names("");
    let place = |name: &str| all.iter().position(|it| it == name);
    assert!(place("factor") < place("Customer"), "{all:?}");
    assert!(place("factor").is_some_and(|it| it < 10), "{all:?}");
    assert!(
        place("Customer") < place("AccessViolationException"),
        "{all:?}"
    );
}

#[test]
fn an_evaluation_is_cancelled_and_the_program_stays_as_it_is() {
    let sandbox = Sandbox::new();
    let program = launched(&sandbox, at("sum"));
    let stop = program.wait_stop();
    let endless = Evaluate {
        expressions: vec!["Endless".into(), "Counted()".into()],
        time_limit_ms: 60_000,
        ..with_effects("")
    };
    let sent = program
        .session()
        .send(Request::Evaluate(endless), &[])
        .expect("sent");
    program
        .request(Request::CancelEvaluation)
        .expect("cancelled");
    let Ok(Reply::Evaluated(all)) = sent.wait(Instant::now() + Duration::from_secs(30)) else {
        panic!("an answer");
    };
    let told: Vec<String> = all
        .into_iter()
        .map(|it| it.outcome.expect_err("no value").error.message)
        .collect();
    assert!(
        told[0].contains("cancelled") && told[1].contains("cancelled"),
        "{told:?}"
    );
    // Nothing of the second ran, and the stop is the same.
    check(&program, "Calls", "int", "0");
    assert_eq!(program.status().stop.map(|it| it.id), Some(stop.id));
    program
        .request(Request::CancelEvaluation)
        .expect("nothing to cancel");
    assert_eq!(
        ask(&program, with_effects("Counted()"))
            .outcome
            .map(|it| it.text),
        Ok("1".into())
    );
}
