//! Damaged objects, huge values, secrets: bounded, told, and the program goes on.

use host::api::{Reply, Request, SetVariable, ValueKind, VariablesQuery, View};
use testkit::sandbox::Sandbox;

use crate::support::{children, lines, locals, look, stopped, variables};

#[test]
fn objects_that_lie_are_bounded_and_say_so() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_hostile", &["stop"]);
    // All of them at once, as a stop report asks for them.
    let told = locals(&program);
    assert!(told.len() > 10, "{:?}", lines(&told));
    let liar = look(&program, "liar").value;
    assert_eq!(liar.children, 4, "{liar:?}");
    assert!(
        liar.notes
            .iter()
            .any(|note| note.contains("1000000 elements")),
        "{liar:?}"
    );
    assert_eq!(look(&program, "negative").value.children, 0);
    assert_eq!(look(&program, "noArray").value.children, 0);
    assert!(look(&program, "dictionary").value.children <= 77);
    assert_eq!(children(&program, "linked").len(), 2);
    let text = look(&program, "longText").value;
    assert_eq!(text.full_length, Some(20_000_000));
    assert!(text.text.len() < 2000, "{}", text.text.len());
    for name in ["wild", "garbage"] {
        let value = look(&program, name).value;
        assert_eq!(value.kind, ValueKind::Unreadable, "{value:?}");
        assert!(value.text.contains("0x"), "{value:?}");
    }
    // A comparer that is its own, and whose object leads back to what it compares for.
    assert_eq!(
        lines(&children(&program, "compared")),
        ["[\"one\"] = 1", "[\"three\"] = 3"]
    );
    assert_eq!(look(&program, "compared[\"three\"]").value.text, "3");
    let query = VariablesQuery {
        path: Some("comparer".into()),
        depth: 100,
        ..VariablesQuery::default()
    };
    let told = variables(&program, query).variables;
    let inner = told.first().expect("its own comparer");
    assert!(inner.value.cycle, "{inner:?}");
    // A type whose name has more than a million characters.
    let wide = look(&program, "wide").value;
    assert!(wide.type_name.starts_with("Both<Both<"), "{wide:?}");
    assert!(wide.type_name.len() < 5000, "{}", wide.type_name.len());
    assert_eq!(look(&program, "wide.Number").value.text, "6");
    let all = variables(
        &program,
        VariablesQuery {
            path: Some("wide".into()),
            depth: 3,
            ..VariablesQuery::default()
        },
    );
    assert_eq!(
        lines(&all.variables),
        ["One = null", "Other = null", "Number = 6"]
    );
    program.cont();
    program.wait_output("after 20000000");
    program.expect_exit(0);
}

#[test]
fn references_that_lead_to_anything_are_told_as_damaged_and_end_nothing() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_damaged", &["damaged"]);
    for round in 0..16 {
        let told = locals(&program);
        for name in ["thing", "text", "numbers"] {
            let found = told.iter().find(|it| it.name == name).expect(name);
            let value = &found.value;
            assert_eq!(
                value.kind,
                ValueKind::Unreadable,
                "{round} {name}: {value:?}"
            );
            assert!(value.text.contains("0x"), "{round} {name}: {value:?}");
        }
        let good = told.iter().find(|it| it.name == "good").expect("good");
        assert_eq!(good.value.text, "{ Next = null, Number = 2 }");
        for path in ["holder.Next", "shared", "anything"] {
            let value = look(&program, path).value;
            assert_eq!(
                value.kind,
                ValueKind::Unreadable,
                "{round} {path}: {value:?}"
            );
            assert!(value.text.contains("0x"), "{round} {path}: {value:?}");
        }
        program.cont();
        if round < 15 {
            program.wait_stop();
        }
    }
    program.wait_output("1text13");
    program.expect_exit(0);
}

#[test]
fn a_cycle_is_marked_and_not_followed() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_hostile", &["stop"]);
    let query = VariablesQuery {
        path: Some("ring".into()),
        depth: 100,
        ..VariablesQuery::default()
    };
    let told = variables(&program, query);
    let next = told.variables.first().expect("the next");
    assert!(next.value.cycle, "{next:?}");
    assert!(next.value.members.is_empty());
    // Who asks level by level may go round.
    let query = VariablesQuery {
        path: Some("ring.Next.Next".into()),
        ..VariablesQuery::default()
    };
    let told = variables(&program, query);
    let next = told.variables.first().expect("the next");
    assert!(!next.value.cycle && next.value.children == 2, "{next:?}");
}

#[test]
fn secrets_are_masked_by_their_names_for_those_who_ask() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_hostile", &["stop"]);
    let ask = |path: Option<&str>, mask: bool| {
        let query = VariablesQuery {
            path: path.map(str::to_owned),
            depth: 1,
            view: View {
                mask_secrets: mask,
                ..View::default()
            },
            ..VariablesQuery::default()
        };
        format!("{:?}", variables(&program, query))
    };
    let open = ask(None, false);
    let masked = ask(None, true);
    for secret in ["secret!", "hunter2", "Server=x"] {
        assert!(open.contains(secret), "{secret}");
        assert!(!masked.contains(secret), "{secret}: {masked}");
    }
    assert!(masked.contains("ann") && masked.contains("fine") && masked.contains("red"));
    let inside = ask(Some("login"), true);
    assert!(!inside.contains("hunter2"), "{inside}");
}

#[test]
fn memory_and_layout_are_told() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_hostile", &["stop"]);
    let query = VariablesQuery {
        path: Some("ring".into()),
        ..VariablesQuery::default()
    };
    let report = match program.request(Request::InspectObject(Box::new(query))) {
        Ok(Reply::Object(report)) => *report,
        other => panic!("{other:?}"),
    };
    let fields: Vec<(&str, u32, u32)> = report
        .fields
        .iter()
        .map(|it| (it.name.as_str(), it.offset, it.size))
        .collect();
    assert_eq!(fields, [("Next", 8, 8), ("Name", 16, 8)]);
    assert_eq!(report.size, 32);
    let address = report.address.expect("an address");
    assert_eq!(report.references.first().expect("itself").address, address);
    let bytes = match program.request(Request::ReadMemory {
        address: address + 8,
        count: 8,
    }) {
        Ok(Reply::Memory(memory)) => memory.bytes,
        other => panic!("{other:?}"),
    };
    assert_eq!(bytes, address.to_le_bytes());
    program
        .request(Request::ReadMemory {
            address: 0x10,
            count: 8,
        })
        .expect_err("nothing is there");
}

#[test]
fn an_object_can_be_kept_over_continues() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_set", &["stop", "collected"]);
    let keep = |path: &str, frame: u32| {
        Request::KeepObject(Box::new(VariablesQuery {
            path: Some(path.into()),
            frame,
            count: 0,
            ..VariablesQuery::default()
        }))
    };
    let kept = match program.request(keep("words", 1)) {
        Ok(Reply::Variables(told)) => told.parent.expect("the object"),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        (kept.name.as_str(), kept.value.text.as_str()),
        ("$1", "Length = 2 { \"x\", \"y\" }")
    );
    program
        .request(keep("gone.Length", 1))
        .expect_err("a number is no object");
    // The program runs and collects its garbage, which moves objects.
    program.cont();
    program.wait_stop();
    assert_eq!(look(&program, "$1[1]").value.text, "\"y\"");
    program.request(Request::ReleaseObject(1)).expect("let go");
    // By setting it to null, too.
    let set = |value: &str| {
        let set = SetVariable {
            stop: None,
            thread: None,
            frame: 1,
            path: "$1".into(),
            value: value.into(),
            force: false,
            mask_secrets: false,
        };
        match program.request(Request::SetVariable(Box::new(set))) {
            Ok(Reply::Variables(told)) => told.parent.expect("what was set").value.text,
            other => panic!("{other:?}"),
        }
    };
    assert!(set("account").starts_with("{ Balance = "));
    assert_eq!(set("null"), "null");
    let gone = VariablesQuery {
        path: Some("$1".into()),
        ..VariablesQuery::default()
    };
    program
        .request(Request::Variables(Box::new(gone)))
        .expect_err("it was let go");
    program.cont();
    program.expect_exit(0);
}

#[test]
fn an_id_of_an_earlier_stop_is_refused() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_set", &["stop", "collected"]);
    let account = look(&program, "account");
    let id = account.value.object.expect("an object").0;
    assert_eq!(
        look(&program, &format!("#{id}.Owner")).value.text,
        "\"nobody\""
    );
    let stop = program.status().stop.expect("a stop").id;
    program.cont();
    program.wait_stop();
    for query in [
        VariablesQuery {
            path: Some(format!("#{id}")),
            ..VariablesQuery::default()
        },
        VariablesQuery {
            stop: Some(stop),
            ..VariablesQuery::default()
        },
    ] {
        let code = program.refused(Request::Variables(Box::new(query)));
        assert_eq!(code, host::api::ErrorCode::StaleReference);
    }
}

#[test]
fn counts_that_lie_are_told_of_every_collection() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_lies", &["lies", "parts"]);
    let names = [
        "free",
        "head",
        "oldHead",
        "sorted",
        "oldSorted",
        "linked",
        "set",
        "table",
        "listed",
        "bits",
        "range",
        "letters",
        "concurrent",
        "immutable",
        "lookup",
        "text",
        "early",
        "itself",
    ];
    for name in names {
        let value = look(&program, name).value;
        let notes = value.notes.join(" ");
        assert!(
            notes.contains("it is damaged or being changed"),
            "{name}: {} {notes}",
            value.text
        );
    }
    program.cont();
    program.wait_stop();
    // Collections that are parts of others show what is in them.
    crate::support::says_the_same(&program);
    assert_eq!(look(&program, "part[1]").value.text, "10");
    // What only a comparer could tell is not guessed.
    for name in ["otherWords", "fractions"] {
        let value = look(&program, name).value;
        let notes = value.notes.join(" ");
        assert!(
            notes.contains("only the comparer of the set knows"),
            "{name}: {notes}"
        );
    }
}
