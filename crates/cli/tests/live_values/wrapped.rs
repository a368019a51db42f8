//! What lies inside something else: wrapped collections, names of tuple elements, references in structs, and what an async
//! method does not keep.

use host::api::{Evaluate, Reply, Request, VariablesQuery, View};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use crate::support::{children, lines, locals, look, stopped, variables};

#[track_caller]
fn evaluated(program: &Debuggee<'_>, expression: &str, mask: bool) -> (String, String) {
    let request = Request::Evaluate(Evaluate {
        mask_secrets: mask,
        ..Evaluate::read(expression)
    });
    let Ok(Reply::Evaluated(all)) = program.request(request) else {
        panic!("{expression}");
    };
    let first = all.into_iter().next().expect("an answer");
    let value = first.outcome.expect(expression);
    (value.ty, value.text)
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
    assert_eq!(evaluated(&program, "big.i.y", false).1, "2");
    assert_eq!(evaluated(&program, "big.q.s", false).1, "\"s\"");
    assert_eq!(evaluated(&program, "big.i", false).0, "(int x, int y)");
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
        let (_, text) = evaluated(&program, expression, true);
        assert!(text.starts_with("***"), "{expression}: {text}");
    }
    assert_eq!(
        evaluated(&program, "settings.Login.user", true).1,
        "\"ann\""
    );
    assert_eq!(
        evaluated(&program, "settings.Login.Item1", true).1,
        "\"ann\""
    );
    let (ty, text) = evaluated(&program, "settings.Login", false);
    assert_eq!(ty, "(string user, string password)");
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
    let program = stopped(&sandbox, "values_kept", &["resumed"]);
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
}
