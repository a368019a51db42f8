//! Views that only code of the program can give: `ToString`, `DebuggerDisplay`, `DebuggerTypeProxy`, enumeration.

use host::api::{Reply, Request, Variable, Variables, VariablesQuery, View};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use crate::support::{lines, says_the_same_with, stopped, variables};

/// Code may run, for as long as a busy machine may need for what ends.
fn code() -> View {
    View {
        run_code: true,
        time_limit: 20_000,
        look_limit: 20_000,
        ..View::default()
    }
}

/// The same for what does not end.
fn code_for(time_limit: u32) -> View {
    View {
        time_limit,
        ..code()
    }
}

#[track_caller]
fn opened(program: &Debuggee<'_>, path: &str, view: View) -> Variables {
    let query = VariablesQuery {
        path: Some(path.into()),
        count: 10,
        view,
        ..VariablesQuery::default()
    };
    variables(program, query)
}

#[track_caller]
fn look(program: &Debuggee<'_>, path: &str) -> Variable {
    let told = opened(program, path, code());
    *told.parent.expect("what was asked for")
}

#[test]
fn code_shows_what_the_program_itself_prints_and_runs_only_when_asked() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_code", &["stop", "after"]);
    // Nothing runs where nobody allowed it, and what could be seen is told.
    let told = variables(
        &program,
        VariablesQuery {
            depth: 1,
            ..VariablesQuery::default()
        },
    );
    let text = |name: &str| {
        let found = told.variables.iter().find(|it| it.name == name);
        found.unwrap_or_else(|| panic!("no {name}")).value.clone()
    };
    assert_eq!(text("printed").text, "{ times = 3 }");
    assert_eq!(
        text("nested").notes,
        ["it has a DebuggerTypeProxy, which is shown where code may run"]
    );
    assert_eq!(
        text("squares").notes,
        ["it can be enumerated: its elements are told where code may run"]
    );
    let before = opened(&program, "squares", View::default());
    assert_eq!(lines(&before.variables), ["count = 5"]);
    for counter in ["Program.Calls", "Program.Proxies", "Program.Disposed"] {
        assert_eq!(counted(&program, counter), "0", "{counter}");
    }
    // What an assembly says of a type, its own or another's, needs no code where it has none.
    assert_eq!(text("crate").text, "crate of 4");
    assert_eq!(text("bits").text, "bits 79");
    says_the_same_with(&program, &code());
    // A ToString could tell what is masked.
    let masked = View {
        mask_secrets: true,
        ..code()
    };
    let told = opened(&program, "account", masked);
    let parent = told.parent.expect("what was asked for").value;
    assert_eq!(parent.text, "{ Owner = \"ann\", Password = *** }");
    assert_eq!(
        parent.notes,
        ["its ToString was not run: it may tell what is masked"]
    );
    assert!(told.code_runs == 0, "{}", told.code_runs);
    // Locals in one look.
    let told = variables(
        &program,
        VariablesQuery {
            names: vec!["printed".into(), "money".into(), "many".into()],
            view: code(),
            depth: 1,
            ..VariablesQuery::default()
        },
    );
    let texts = lines(&told.variables);
    assert!(
        texts.contains(&"printed = printed\\n3".to_owned()),
        "{texts:?}"
    );
    assert!(texts.contains(&"money = 1.5 EUR".to_owned()), "{texts:?}");
    let many = told.variables.iter().find(|it| it.name == "many");
    let many = &many.expect("the list").value;
    assert_eq!(
        lines(&many.members),
        ["[0] = printed\\n3", "[1] = printed\\n3"]
    );
    // A proxy's public members take the place of the object's, and each has a path that leads to it.
    let told = opened(&program, "basket", code());
    assert_eq!(
        lines(&told.variables),
        [
            "Title = \"basket of String\"",
            "[0] = \"apple\"",
            "[1] = \"pear\"",
            "Count = 2",
            "Thrown = its getter threw System.InvalidOperationException: no proxy value",
        ]
    );
    assert_eq!(
        told.notes,
        ["shown by its DebuggerTypeProxy; the raw view has its fields"]
    );
    assert_eq!(told.code_runs, 4, "the proxy and its three properties");
    let paths: Vec<&str> = told.variables.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(paths[1], "basket.$proxy.Items[0]");
    assert_eq!(look(&program, paths[1]).value.text, "\"apple\"");
    let raw = View {
        raw: true,
        ..code()
    };
    assert_eq!(
        lines(&opened(&program, "nested", raw).variables),
        ["Value = 5"]
    );
    // Elements come behind the members.
    let told = opened(&program, "squares", code());
    assert_eq!(
        lines(&told.variables),
        [
            "count = 5",
            "[0] = 0",
            "[1] = 1",
            "[2] = 4",
            "[3] = 9",
            "[4] = 16"
        ]
    );
    assert!(told.notes.is_empty(), "{:?}", told.notes);
    let disposed = counted(&program, "Program.Disposed");
    assert_ne!(disposed, "0", "enumerators are disposed");
    program.cont();
    program.wait_stop();
    program.cont();
    program.wait_output(&format!("disposed {disposed}"));
    program.expect_exit(0);
}

#[test]
fn code_that_throws_waits_or_never_ends_is_bounded_and_told() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_code", &["stop"]);
    let throwing = look(&program, "throwing");
    assert_eq!(
        throwing.value.notes,
        ["its ToString threw System.InvalidOperationException: no text"]
    );
    let told = opened(&program, "throwing", code());
    assert_eq!(lines(&told.variables), ["[0] = \"one\""]);
    assert_eq!(
        told.notes,
        ["after 1 elements its enumerator threw System.InvalidOperationException: no second"]
    );
    let told = opened(&program, "endless", code());
    assert_eq!(told.variables.len(), 10);
    assert!(
        told.notes[0].starts_with("enumerating was ended after 10 elements, and there are more"),
        "{:?}",
        told.notes
    );
    // Time enough for what comes before it waits.
    let told = opened(&program, "waiting", code_for(5_000));
    assert_eq!(lines(&told.variables), ["[0] = 7"]);
    assert!(
        told.notes[0].starts_with("enumerating was ended after 1 elements: it took longer than"),
        "{:?}",
        told.notes
    );
    let silent = opened(&program, "silent", code_for(500)).parent;
    let silent = silent.expect("what was asked for").value;
    assert_eq!(silent.text, "{ Value = 8 }");
    assert!(
        silent.notes[0]
            .starts_with("its ToString was not run to its end: it took longer than 500 ms"),
        "{:?}",
        silent.notes
    );
    let nothing = look(&program, "nothing").value;
    assert_eq!(nothing.text, "{ Value = 9 }");
    assert_eq!(nothing.notes, ["its ToString returned null"]);
    let told = opened(&program, "badProxy", code());
    assert_eq!(lines(&told.variables), ["Value = 6"]);
    assert_eq!(
        told.notes,
        [
            "shown by its fields: its DebuggerTypeProxy threw System.InvalidOperationException: no proxy"
        ]
    );
    // Afterwards the program is as it was.
    assert_eq!(look(&program, "money").value.text, "1.5 EUR");
    program.cont();
    program.expect_exit(0);
}

#[track_caller]
fn counted(program: &Debuggee<'_>, name: &str) -> String {
    let request = Request::Evaluate(host::api::Evaluate::read(name));
    match program.request(request) {
        Ok(Reply::Evaluated(told)) => {
            let outcome = told.into_iter().next().expect("one").outcome;
            outcome.expect("a value").text
        }
        other => panic!("{other:?}"),
    }
}
