//! What types say of how they want to be shown.

use host::api::{Stream, Variable, VariablesQuery, View};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use crate::support::{children, lines, look, says_the_same, stopped, variables};

#[test]
fn display_strings_are_any_expression_and_run_no_code() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_views", &["stop"]);
    says_the_same(&program);
    // One that cannot be told says why, and the fields are shown instead.
    let wrong = look(&program, "wrong").value;
    assert_eq!(wrong.text, "{ Value = 3 }");
    let note = wrong.notes.join(" ");
    assert!(
        note.contains("its DebuggerDisplay cannot be shown"),
        "{note}"
    );
    assert!(note.contains("Nothing"), "{note}");
    // One that only code can tell as well; where that may run, it does.
    let described = look(&program, "described").value;
    let note = "shown by its fields: its DebuggerDisplay would run code";
    assert_eq!(described.notes, [note]);
    assert_eq!(lines(&children(&program, "described2")), ["Plain = 4"]);
    assert!(children(&program, "described2")[0].label.is_none());
    // A `T?` is one also where it has a value.
    let types = ["described.Rank", "paired"].map(|it| look(&program, it).value.type_name);
    assert_eq!(types, ["int?", "(int a, int b)?"]);
    // Secrets stay secret in display strings.
    let query = VariablesQuery {
        names: vec!["login".into()],
        view: View {
            mask_secrets: true,
            ..View::default()
        },
        ..VariablesQuery::default()
    };
    let told = variables(&program, query).variables;
    assert_eq!(told[0].value.text, "*** of ann");
    labels_and_types(&program);
    program.cont();
    program.expect_exit(0);
    assert!(program.text(Stream::Stdout).contains("calls 0 disposed 0"));
}

#[test]
fn display_strings_know_what_their_source_imports() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_imported", &["stop"]);
    says_the_same(&program);
    let note = look(&program, "wrong").value.notes.join(" ");
    assert!(note.contains("Missing"), "{note}");
    program.disconnect(Some(true), false);
}

#[test]
fn display_strings_that_need_code_are_told_where_it_may_run() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_views", &["stop"]);
    let query = VariablesQuery {
        path: Some("described".into()),
        view: View {
            run_code: true,
            ..View::default()
        },
        ..VariablesQuery::default()
    };
    let told = *variables(&program, query)
        .parent
        .expect("what was asked for");
    assert_eq!(told.value.text, "described 7");
    assert!(told.value.notes.is_empty(), "{:?}", told.value.notes);
}

fn tail(text: &str) -> String {
    text.chars()
        .skip(text.chars().count().saturating_sub(200))
        .collect()
}

/// What attributes say of names, types and single members, and what is told of types that have no name to read.
fn labels_and_types(program: &Debuggee<'_>) {
    let label = |it: &Variable| {
        let label = it.label.as_deref().cloned();
        let (name, ty) = label.map_or((None, None), |it| (it.name, it.type_name));
        format!(
            "{} = {} | {} | {}",
            it.name,
            it.value.text,
            name.unwrap_or_default(),
            ty.unwrap_or_default()
        )
    };
    let labels =
        |path: &str| -> Vec<String> { children(program, path).iter().map(label).collect() };
    assert_eq!(
        labels("entries"),
        [
            "[0] = 1 | [first] | entry of 5 letters",
            "[1] = 2 | [second] | entry of 6 letters"
        ]
    );
    assert_eq!(
        labels("members"),
        [
            "Word = 5 letters |  | ",
            "seconds = 12 s of 60 | time | duration",
            "Oldest = 41 years |  | ",
            "Plain = 3 |  | ",
            "Nobody = null |  | ",
            "Limit = 60 |  | ",
            "Entry = 2 | [inner] | entry of 5 letters",
        ]
    );
    // A variable keeps its name.
    assert_eq!(
        label(&look(program, "entry")),
        "entry = 1 |  | entry of 5 letters"
    );
    assert_eq!(look(program, "members.Word").value.text, "5 letters");
    let types: Vec<String> = children(program, "All")
        .into_iter()
        .map(|it| it.value.text)
        .collect();
    assert_eq!(
        types,
        [
            "typeof(int*)",
            "typeof(ref string)",
            "typeof(System.Collections.Generic.Dictionary<,>)",
            "typeof(int*[])",
            "typeof(T)",
            "typeof(delegate*<int, string>)",
            "typeof(TOne)",
            "typeof(System.Collections.Generic.Dictionary<string, int[]>)",
            "typeof(int**)",
            "typeof(delegate* unmanaged<ref int, void>)",
        ]
    );
    // Members whose names the program has not asked for.
    for unasked in ["Infos[0].m_name", "Infos[3].m_name"] {
        assert_eq!(look(program, unasked).value.text, "null", "{unasked}");
    }
    let members: Vec<String> = children(program, "Infos")
        .into_iter()
        .map(|it| it.value.text)
        .collect();
    assert_eq!(
        members,
        [
            "Program.Generic",
            "System.Collections.Generic.List<int>.Clear",
            "System.Collections.Generic.Dictionary<,>.TryGetValue",
            "Program.Calls",
            "System.Collections.Generic.KeyValuePair<string, int>.key",
        ]
    );
    // What is inside of something that is opened is masked as it is anywhere, whatever it is looked at through.
    for (path, run_code, raw) in [
        ("finished", true, false),
        ("lazy", true, false),
        ("lazy", false, true),
        ("finished", false, false),
        ("property", false, true),
    ] {
        let query = VariablesQuery {
            path: Some(path.into()),
            depth: 4,
            view: View {
                mask_secrets: true,
                properties: true,
                run_code,
                raw,
                ..View::default()
            },
            ..VariablesQuery::default()
        };
        let told = format!("{:?}", variables(program, query));
        let told_before = told.split("hunter").next().unwrap_or_default();
        assert_eq!(
            told_before.len(),
            told.len(),
            "{path}: {}",
            tail(told_before)
        );
        assert!(
            path != "property" || !told.contains("***"),
            "{}",
            tail(&told)
        );
    }
}
