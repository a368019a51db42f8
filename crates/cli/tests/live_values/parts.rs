//! Secrets that lie inside of others, and looks of which one part takes all the time.

use host::api::{Evaluate, Reply, Request, SetVariable, VariablesQuery, View};
use testkit::sandbox::Sandbox;

use crate::support::{lines, look, stopped, variables};

fn masked(raw: bool) -> View {
    View {
        mask_secrets: true,
        raw,
        ..View::default()
    }
}

#[test]
fn elements_of_tuples_are_masked_in_the_lines_of_all_that_they_lie_in() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_parts", &["stop"]);
    let mut leaks = Vec::new();
    for (depth, raw) in [(0, false), (2, false), (3, true)] {
        let query = VariablesQuery {
            depth,
            view: View {
                total_text: 1 << 20,
                ..masked(raw)
            },
            ..VariablesQuery::default()
        };
        for variable in variables(&program, query).variables {
            let told = format!("{variable:?}");
            if told.contains("leak") {
                leaks.push(format!("depth {depth}, raw {raw}: {told}"));
            }
        }
    }
    assert!(leaks.is_empty(), "{}", leaks.join("\n"));
    let line = |name: &str| {
        let query = VariablesQuery {
            path: Some(name.into()),
            count: 0,
            view: masked(false),
            ..VariablesQuery::default()
        };
        variables(&program, query)
            .parent
            .expect("a value")
            .value
            .text
    };
    for (name, expected) in [
        ("argument", "Count = 1 { (\"u\", ***) }"),
        ("values", "Count = 1 { [\"k\"] = (\"u\", ***) }"),
        ("keys", "Count = 1 { [(\"u\", ***)] = 1 }"),
        (
            "both",
            "Count = 1 { [(\"u\", ***)] = (\"u\", \"told name\") }",
        ),
        ("nested", "(\"a\", (\"b\", ***))"),
        ("eight", "(1, 2, 3, 4, 5, 6, 7, ***, (\"x\", ***))"),
        ("lists", "Count = 1 { Count = 1 { (\"u\", ***) } }"),
        ("lazy", "Value = (\"u\", ***)"),
        (
            "structs",
            "{ Inside = Count = 1 { (\"u\", ***) }, Number = 5 }",
        ),
        ("shown", "shows (\"u\", ***) and Count = 1 { (\"u\", ***) }"),
    ] {
        assert_eq!(line(name), expected, "{name}");
    }
    // Expressions tell no more.
    for expression in ["holder", "structs", "shown", "over", "pairs"] {
        let request = Evaluate {
            mask_secrets: true,
            as_variables: true,
            ..Evaluate::read(expression)
        };
        let answer = program.request(Request::Evaluate(request));
        let told = format!("{answer:?}");
        assert!(!told.contains("leak"), "{expression}: {told}");
    }
    // Who may see them does.
    assert_eq!(
        look(&program, "list").value.text,
        "Count = 1 { (\"u\", \"leak list\") }"
    );
    program.cont();
    program.expect_exit(0);
}

#[test]
fn what_takes_long_takes_its_own_time_alone() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_slow", &["stop"]);
    // A look that has no time at all: what is small is told in full, the rest says that it was not.
    let query = VariablesQuery {
        view: View {
            look_limit: 0,
            ..View::default()
        },
        ..VariablesQuery::default()
    };
    let told = variables(&program, query).variables;
    let line = |name: &str| {
        let found = told.iter().find(|it| it.name == name);
        let found = found.unwrap_or_else(|| panic!("{name}: {:?}", lines(&told)));
        (&*found.value.text, found.value.notes.join(" "))
    };
    let (text, notes) = line("slow");
    assert!(text.starts_with("Count ≥ "), "{text}");
    assert!(text.contains("{ 59999, 59998,"), "{text}");
    assert!(notes.contains("counting took too long"), "{notes}");
    let (text, notes) = line("circle");
    assert_eq!(text, "Count = 3 { 1, 2, 3 }");
    assert!(notes.contains("it is damaged"), "{notes}");
    let (text, _) = line("part");
    assert!(text.contains("{ 10, 12, 14,"), "{text}");
    let (text, _) = line("counted");
    assert!(text.starts_with("Count = 50 { 50, 51,"), "{text}");
    let (text, _) = line("freed");
    // Freed slots are used again, the last first.
    assert_eq!(
        text,
        "Count = 3 { [59997] = 59997, [59998] = 59998, [59999] = 59999 }"
    );
    let (text, _) = line("holder");
    assert!(
        text.ends_with("Quick = Count = 2 { \"x\", \"y\" } }"),
        "{text}"
    );
    assert_eq!(line("behind").0, "Count = 2 { \"x\", \"y\" }");
    assert_eq!(line("array").0, "Length = 3 { 1, 2, 3 }");
    program.cont();
    program.expect_exit(0);
}

#[test]
fn fields_of_threads_that_the_runtime_does_not_tell_are_not_told_as_empty() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_open", &["stop"]);
    let evaluated = |expression: &str| {
        let request = Request::Evaluate(Evaluate::read(expression));
        let Ok(Reply::Evaluated(all)) = program.request(request) else {
            panic!("{expression}");
        };
        match &all.first().expect("an answer").outcome {
            Ok(value) => value.text.clone(),
            Err(error) => error.error.message.clone(),
        }
    };
    assert_eq!(evaluated("Own<int>.Text"), "\"of int\"");
    for (expression, truth) in [
        ("Own<string>.Text", "\"text\""),
        ("Own<string>.Number", "4"),
    ] {
        let told = evaluated(expression);
        assert!(
            told == truth || told.contains("the runtime does not tell it"),
            "{expression}: {told}"
        );
    }
}

#[test]
fn a_float_is_one_before_it_is_a_double() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_open", &["stop"]);
    for (path, value, expected) in [
        ("number", "0.1f", "0.10000000149011612"),
        ("number", "16777217f", "16777216"),
        ("number", "-1.1F", "-1.100000023841858"),
        ("maybe", "0.1f", "0.10000000149011612"),
        ("number", "0.1", "0.1"),
    ] {
        let set = program.request(Request::SetVariable(Box::new(SetVariable {
            stop: None,
            thread: None,
            frame: 0,
            path: path.into(),
            value: value.into(),
            force: false,
            mask_secrets: false,
        })));
        let Ok(Reply::Variables(told)) = set else {
            panic!("{path} = {value}: {set:?}");
        };
        let told = told.parent.expect("what was set").value.text;
        assert_eq!(told, expected, "{path} = {value}");
    }
}

#[test]
fn members_of_dynamic_objects_data_of_exceptions_and_pointers_are_told_as_what_they_are() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_open", &["stop"]);
    assert_eq!(
        look(&program, "expando").value.text,
        "Count = 2 { Name = \"n\", Number = 5 }"
    );
    assert_eq!(
        look(&program, "failure._data").value.text,
        "Count = 1 { [\"key\"] = 1 }"
    );
    let request = Request::Evaluate(Evaluate::read("pointer"));
    let Ok(Reply::Evaluated(all)) = program.request(request) else {
        panic!("pointer");
    };
    let value = all.into_iter().next().expect("an answer").outcome;
    let value = value.expect("a pointer");
    assert_eq!(value.text, look(&program, "pointer").value.text);
    // A text that code gave and that is cut says how long it is.
    let query = VariablesQuery {
        path: Some("wordy".into()),
        view: View {
            run_code: true,
            ..View::default()
        },
        ..VariablesQuery::default()
    };
    let told = variables(&program, query).parent.expect("a value").value;
    assert!(told.text.starts_with("zzz"), "{told:?}");
    assert_eq!(told.notes, ["its ToString returned 5000 characters"]);
}

#[test]
fn what_is_not_read_in_time_is_never_taken_for_all_there_is() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_slow", &["stop"]);
    let rows = [
        ("large.Count", "1199986"),
        ("large.Last()", "1199990"),
        ("large.Sum(it => (long)it)", "719988600035"),
        ("part.Count", "59991"),
    ];
    for (text, expected) in rows {
        let request = Request::Evaluate(Evaluate::read(text));
        let Ok(Reply::Evaluated(mut all)) = program.request(request) else {
            panic!("no answer to {text}");
        };
        // One that is refused, or takes too long, says so.
        if let Ok(value) = all.pop().expect("one answer").outcome {
            assert_eq!(value.text, expected, "{text}");
        }
    }
}
