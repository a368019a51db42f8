//! Values that are one thing to a person and several fields to the runtime, and values that are damaged.

use host::api::{Evaluate, Reply, Request, ValueKind, VariablesQuery, View};
use testkit::sandbox::Sandbox;

use crate::support::{lines, look, says_the_same, stopped, variables};

#[test]
fn events_show_what_was_added_to_them() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_shown", &["stop"]);
    let query = VariablesQuery {
        path: Some("announcing".into()),
        view: View {
            statics: true,
            ..View::default()
        },
        ..VariablesQuery::default()
    };
    assert_eq!(
        lines(&variables(&program, query).variables),
        [
            "Done = 2 methods { Announcing.Heard(object one, EventArgs two), Announcing.More(object one, EventArgs two) }",
            "Never = null",
            "Again = Announcing.Listen()",
            "Number = 8",
            "Everywhere = Announcing.Listen()",
        ]
    );
    assert_eq!(look(&program, "announcing.kept").value.text, "4");
}

#[test]
fn damaged_values_and_types_that_failed_to_set_up_say_so() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_shown", &["stop"]);
    for (path, told) in [
        ("later", "it is damaged: 4611686018427387903 ticks"),
        ("hour", "it is damaged: -1 ticks"),
        ("day", "it is damaged: 9999999 days"),
        ("shift", "it is damaged"),
        ("price", "it is damaged: its flags 0x00ff0001"),
    ] {
        let value = look(&program, path).value;
        assert!(value.text.starts_with(told), "{path}: {}", value.text);
        assert_eq!(value.kind, ValueKind::Unreadable, "{path}");
    }
    for (path, told) in [
        ("span", "-10675199.02:48:05.4775808"),
        ("good", "0.01"),
        ("end", "9999-12-31T23:59:59.9999999"),
        ("begin", "0001-01-01"),
        ("Failing.Fixed", "3"),
    ] {
        assert_eq!(look(&program, path).value.text, told, "{path}");
    }
    for side_effects in [false, true] {
        for (text, ty, reason) in [
            ("Failing.Number", "Failing", "no settings"),
            ("Failing.Text", "Failing", "no settings"),
            ("Generic<string>.Number", "Generic", "not for String"),
        ] {
            let request = Evaluate {
                side_effects,
                ..Evaluate::read(text)
            };
            let Ok(Reply::Evaluated(all)) = program.request(Request::Evaluate(request)) else {
                panic!("no answer to {text}");
            };
            let outcome = all.into_iter().next().expect("one answer").outcome;
            let thrown = outcome.expect_err(text).error.message;
            assert!(
                thrown.contains("TypeInitializationException") && thrown.contains(ty),
                "{thrown}"
            );
            // What it threw is known to the program only.
            let told = thrown.contains(reason);
            assert!(told || !side_effects, "{thrown}");
        }
    }
    assert_eq!(look(&program, "Generic<int>.Fine").value.text, "7");
}

#[test]
fn vectors_sequences_and_groups_show_what_is_in_them() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_shown", &["stop", "broken"]);
    says_the_same(&program);
    program.cont();
    program.wait_stop();
    for (path, text, note) in [
        ("odd", "true (0x07)", ""),
        (
            "cells",
            "Length = 1073741824 × 2 { 0, 0, 0, 0 }",
            "it has 4: it is damaged",
        ),
        ("sorted", "Count = 3 { 2, 3 }", "but 2 were found"),
        ("reversed", "Length = 0", "from 50 to 3: it is damaged"),
        (
            "longest",
            "it says that its size is 4294967295, more than anything of its type can have: it is damaged",
            "",
        ),
    ] {
        let value = look(&program, path).value;
        assert_eq!(value.text, text, "{path}");
        let notes = value.notes.join("|");
        assert!(
            notes.contains(note) && notes.is_empty() == note.is_empty(),
            "{path}: {notes}"
        );
    }
    let broken = look(&program, "chained").value;
    assert_eq!(broken.text, "Length = 2 { 2, 3 }");
    assert!(
        broken.notes.iter().any(|it| it.contains("damaged")),
        "{:?}",
        broken.notes
    );
}
