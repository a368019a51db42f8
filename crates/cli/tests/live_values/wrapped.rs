//! What lies inside something else: wrapped collections, names of tuple elements, references in structs, and what an async
//! method does not keep.

use host::api::{Evaluate, Reply, Request, VariablesQuery, View};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use crate::support::{children, lines, locals, look, stopped, variables};

#[track_caller]
fn evaluated(program: &Debuggee<'_>, expression: &str, mask: bool) -> String {
    let request = Request::Evaluate(Evaluate {
        mask_secrets: mask,
        ..Evaluate::read(expression)
    });
    let Ok(Reply::Evaluated(all)) = program.request(request) else {
        panic!("{expression}");
    };
    let first = all.into_iter().next().expect("an answer");
    let value = first.outcome.expect(expression);
    value.text
}

#[test]
fn wrappers_of_old_collections_show_what_they_wrap() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_wrapped", &["stop"]);
    let plain = look(&program, "list").value.text;
    assert_eq!(plain, "Count = 2 { 1, 2 }");
    for name in ["synced", "read_only", "fixed_size", "adapter", "range"] {
        assert_eq!(look(&program, name).value.text, plain, "{name}");
        assert_eq!(look(&program, &format!("{name}[1]")).value.text, "2");
    }
    for (wrapper, wrapped) in [
        ("synced_table", "table"),
        ("synced_queue", "queue"),
        ("synced_stack", "stack"),
    ] {
        let found = lines(&children(&program, wrapper));
        assert_eq!(found, lines(&children(&program, wrapped)), "{wrapper}");
        assert!(!found.is_empty(), "{wrapper}");
    }
}

#[test]
fn tuples_inside_long_tuples_have_their_names() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_wrapped", &["stop"]);
    assert_eq!(look(&program, "big.i.y").value.text, "2");
    assert_eq!(look(&program, "big.q.s").value.text, "\"s\"");
    assert_eq!(evaluated(&program, "big.i.y", false), "2");
    assert_eq!(evaluated(&program, "big.q.s", false), "\"s\"");
}

#[test]
fn elements_of_tuples_are_secrets_by_their_names_however_they_are_asked_for() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_wrapped", &["stop"]);
    for expression in [
        "settings.Login",
        "settings.Login.Item2",
        "settings.Login.Item2.Length",
        "settings.Logins",
        "settings.Logins[0]",
        "settings.Logins[0].Item2",
    ] {
        let text = evaluated(&program, expression, true);
        assert!(text.starts_with("***"), "{expression}: {text}");
    }
    assert_eq!(evaluated(&program, "settings.Login.user", true), "\"ann\"");
    assert_eq!(evaluated(&program, "settings.Login.Item1", true), "\"ann\"");
    let text = evaluated(&program, "settings.Login", false);
    assert!(text.contains("hunter2"), "{text}");
    for (path, raw) in [
        ("settings.Login", false),
        ("settings.Login", true),
        ("settings.Login.Item2", false),
        ("settings.Login.password", false),
        ("settings.Logins[0].Item2", false),
    ] {
        let query = VariablesQuery {
            path: Some(path.into()),
            view: View {
                mask_secrets: true,
                raw,
                ..View::default()
            },
            ..VariablesQuery::default()
        };
        let told = format!("{:?}", variables(&program, query));
        assert!(told.contains("***"), "{path} {raw}: {told}");
        for secret in ["hunter2", "swordfish"] {
            assert!(!told.contains(secret), "{path} {raw}: {told}");
        }
    }
}

#[test]
fn references_in_structs_are_told_with_those_of_the_object() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_wrapped", &["stop"]);
    let inspect = |path: &str| {
        let query = VariablesQuery {
            path: Some(path.into()),
            ..VariablesQuery::default()
        };
        match program.request(Request::InspectObject(Box::new(query))) {
            Ok(Reply::Object(report)) => *report,
            other => panic!("{other:?}"),
        }
    };
    // A number behind references leaves half a word unused, in a box and in place.
    for path in ["boxed", "referring.In"] {
        assert_eq!(inspect(path).padding, 4, "{path}: {:?}", inspect(path));
    }
    for path in ["referring", "list", "pairs", "text"] {
        assert_eq!(inspect(path).padding, 0, "{path}: {:?}", inspect(path));
    }
    let names = |path: &str| -> Vec<String> {
        let mut names: Vec<_> = inspect(path)
            .references
            .into_iter()
            .map(|it| it.name)
            .collect();
        names.sort();
        names
    };
    assert_eq!(
        names("referring"),
        [
            "In.One",
            "In.Two",
            "Own",
            "Pair.Item1",
            "Pair.Item2.One",
            "Pair.Item2.Two"
        ]
    );
    assert_eq!(names("pairs"), ["[0].One", "[0].Two", "[1].One", "[1].Two"]);
    // All that is told of a box is told from its beginning.
    let boxed = inspect("boxed");
    assert!(
        boxed.fields.iter().all(|it| it.offset >= 8),
        "{:?}",
        boxed.fields
    );
    assert_eq!(boxed.size, 40);
    assert_eq!(names("boxed"), ["One", "Two"]);
}

#[test]
fn what_an_async_method_does_not_keep_is_not_told_as_zero() {
    let sandbox = Sandbox::new();
    let markers = ["resumed", "round", "waited"];
    let program = stopped(&sandbox, "values_kept", &markers);
    let told = |name: &str| {
        let all = locals(&program);
        let found = all.into_iter().find(|it| it.name == name);
        found.expect(name).value.text
    };
    // It did not have to wait.
    assert_eq!(told("number"), "21");
    assert_eq!(told("list"), "Count = 1 { 3 }");
    program.cont();
    program.wait_stop();
    for name in ["number", "list"] {
        let text = told(name);
        assert!(text.starts_with("not kept over the await"), "{text}");
    }
    assert_eq!(told("n"), "3");
    // In a loop, too, where an earlier round has assigned them.
    for waits in [true, false, true] {
        program.cont();
        program.wait_stop();
        let (name, total) = (told("name"), told("total"));
        assert!(name.starts_with("\"task "), "{name}");
        program.cont();
        program.wait_stop();
        for (variable, before) in [("name", name), ("total", total)] {
            let text = told(variable);
            match waits {
                true => assert!(text.starts_with("not kept over the await"), "{text}"),
                false => assert_eq!(text, before),
            }
        }
    }
}

#[test]
fn the_rest_of_a_string_builder_is_told_from_any_character_on() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_basics", &["stop"]);
    let whole: String = (0..100).map(|it| format!("chunk{it}")).collect();
    let (mut start, mut found) = (0, String::new());
    while start < whole.len() {
        let query = VariablesQuery {
            path: Some("builder".into()),
            start: start as u64,
            view: View {
                text_length: 77,
                ..View::default()
            },
            ..VariablesQuery::default()
        };
        let told = variables(&program, query);
        let end = whole.len().min(start + 77);
        let next = match end < whole.len() {
            true => format!("; start={end} for the next ones"),
            false => ", its end".to_owned(),
        };
        assert_eq!(told.notes, [format!("characters {start} to {end}{next}")]);
        let text = told.parent.expect("the builder").value.text;
        found += text.trim_end_matches('…').trim_matches('"');
        start = end;
    }
    assert_eq!(found, whole);
}

#[test]
fn what_is_small_print_elsewhere_is_told_in_full() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_wrapped", &["stop"]);
    assert_eq!(
        lines(&children(&program, "sorted_list")),
        ["[\"a\"] = 1", "[\"b\"] = 2"]
    );
    assert_eq!(look(&program, "single[0]").value.text, "5");
    // Arrays that do not begin at 0.
    let query = |path: &str| VariablesQuery {
        path: Some(path.into()),
        ..VariablesQuery::default()
    };
    let asked = Request::Variables(Box::new(query("bounded[0]")));
    let error = program.request(asked).expect_err("it begins at 5");
    assert!(error.message.contains("outside of 5..8"), "{error:?}");
    // All that a task failed with is counted.
    let failed = look(&program, "failed").value.text;
    assert_eq!(
        failed,
        "Status = Faulted, System.Exception: one, and 1 more"
    );
    // A `T?` has the members that C# gives it.
    assert_eq!(look(&program, "maybe.HasValue").value.text, "true");
    assert_eq!(look(&program, "none.HasValue").value.text, "false");
    assert_eq!(look(&program, "maybe.Value.One").value.text, "\"m\"");
    // The rest of a long text can be asked for.
    let view = View {
        text_length: 10,
        ..View::default()
    };
    let part = |start: u64| {
        let query = VariablesQuery {
            start,
            view: view.clone(),
            ..query("text")
        };
        let told = variables(&program, query);
        (told.parent.expect("the text").value.text, told.notes)
    };
    let (_, notes) = part(0);
    assert_eq!(notes, ["characters 0 to 10; start=10 for the next ones"]);
    let (text, notes) = part(1998);
    assert_eq!(text, "\"xxend\"");
    assert_eq!(notes, ["characters 1998 to 2003, its end"]);
    // A page that its own value fills has one member all the same, so that the next begins further on.
    let full = VariablesQuery {
        view: View {
            total_text: 1,
            ..View::default()
        },
        ..query("settings")
    };
    assert_eq!(variables(&program, full).variables.len(), 1);
    // The members of an enum are known by name behind a `?` too.
    let set = host::api::SetVariable {
        stop: None,
        thread: None,
        frame: 0,
        path: "day".into(),
        value: "Friday".into(),
        force: false,
        mask_secrets: false,
    };
    let set = program.request(Request::SetVariable(Box::new(set)));
    set.expect("a day");
    program.cont();
    program.wait_output("Friday|2003");
    program.expect_exit(0);
}
