//! Collections that are larger than what one look reads, parts of sets, and elements that must stay where they are.

use host::api::{Evaluate, OmitReason, Reply, Request, SetVariable, Stream, VariablesQuery, View};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use crate::support::{children, lines, look, stopped, variables};

/// A view that has all the time that a look may take: what a slow machine reaches in less is not the question.
fn patient() -> View {
    View {
        look_limit: 60_000,
        ..View::default()
    }
}

fn page(program: &Debuggee<'_>, path: &str, start: u64) -> host::api::Variables {
    let query = VariablesQuery {
        path: Some(path.into()),
        start,
        count: 5,
        view: patient(),
        ..VariablesQuery::default()
    };
    variables(program, query)
}

#[test]
fn every_element_of_a_large_collection_is_counted_and_can_be_reached() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_large", &["stop"]);
    let truth = program.text(Stream::Stdout);
    let mut compared = 0;
    for line in truth.lines() {
        let Some((path, expected)) = line.split_once('\t') else {
            continue;
        };
        compared += 1;
        let Some((path, start)) = path.split_once('@') else {
            assert_eq!(look(&program, path).value.children.to_string(), expected);
            continue;
        };
        let told = page(&program, path, start.parse().expect("a position"));
        let parent = &told.parent.as_ref().expect("the collection").value;
        let count = parent.children;
        // A line says the same, or that it is not sure.
        let line = &parent.text;
        assert!(
            line.starts_with(&format!("Count = {count} ")) || line.contains("Count ≥"),
            "{path}: {line}"
        );
        let mut said = count.to_string();
        for variable in &told.variables {
            said.push_str(&format!(" {}", variable.value.text));
        }
        assert_eq!(said, expected, "{path}: {told:?}");
        assert_eq!(told.omitted, None, "{path}");
    }
    assert!(compared > 12, "{truth}");
    // Keys are found wherever they lie, by paths and by expressions.
    let found = |path: &str, view: View| {
        let query = VariablesQuery {
            path: Some(path.into()),
            count: 0,
            view,
            ..VariablesQuery::default()
        };
        variables(&program, query)
            .parent
            .expect("a value")
            .value
            .text
    };
    assert_eq!(found("dictionary[110000]", patient()), "-110000");
    assert_eq!(found("names[\"key40000\"]", patient()), "40000");
    // A look that has no more time ends, and says how far it came.
    let hurried = View {
        look_limit: 0,
        ..View::default()
    };
    for path in [
        "dictionary[110000]",
        "names[\"key40000\"]",
        "linked[#90000]",
    ] {
        let said = found(path, hurried.clone());
        assert!(said.starts_with("reading took too long"), "{path}: {said}");
    }
    let query = VariablesQuery {
        path: Some("linked".into()),
        start: 90_000,
        count: 5,
        view: hurried,
        ..VariablesQuery::default()
    };
    let told = variables(&program, query);
    let omitted = told.omitted.expect("what was not reached");
    assert_eq!(omitted.reason, OmitReason::Time, "{omitted:?}");
    for (expression, expected) in [
        ("dictionary.Count", "149999"),
        ("dictionary[110000]", "-110000"),
        ("dictionary.ContainsKey(17)", "false"),
        ("names[\"key40000\"]", "40000"),
    ] {
        assert_eq!(evaluated(&program, expression), expected, "{expression}");
    }
    program.cont();
    program.expect_exit(0);
}

fn evaluated(program: &Debuggee<'_>, expression: &str) -> String {
    let request = Request::Evaluate(Evaluate::read(expression));
    let Ok(Reply::Evaluated(all)) = program.request(request) else {
        panic!("{expression}");
    };
    match &all.first().expect("an answer").outcome {
        Ok(value) => value.text.clone(),
        Err(error) => format!("{error:?}"),
    }
}

#[test]
fn elements_that_must_stay_are_not_replaced_and_indexers_are_set() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_large", &["small"]);
    let set = |path: &str, value: &str| {
        program.request(Request::SetVariable(Box::new(SetVariable {
            stop: None,
            thread: None,
            frame: 0,
            path: path.into(),
            value: value.into(),
            force: false,
            mask_secrets: false,
        })))
    };
    for path in [
        "hashSet[0]",
        "sortedSet[0]",
        "immutableArray[0]",
        "readOnly[0]",
    ] {
        let refused = set(path, "77").expect_err("it must stay");
        assert!(refused.message.contains("cannot be set"), "{refused}");
    }
    let refused = set("letters[0]", "'x'").expect_err("a literal is read-only");
    assert!(refused.message.contains("cannot be changed"), "{refused}");
    match set("indexed[3]", "50") {
        Ok(Reply::Variables(told)) => {
            assert_eq!(told.parent.expect("what was set").value.text, "56");
        }
        other => panic!("{other:?}"),
    }
    // A part of a set has the tree of all of it: nothing is told that is not in it.
    let part = look(&program, "part").value;
    assert!(!part.text.contains('9') && part.children < 20, "{part:?}");
    assert!(!part.text.contains("Count = 0"), "{part:?}");
    program.cont();
    program.wait_output("after True 1 1 l 1 53 4,5");
    program.expect_exit(0);
}

#[test]
fn parts_builders_and_literals_are_read_without_running_code() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_large", &["small"]);
    for (path, expected) in [
        ("sortedKeys", "Count = 2 { \"a\", \"b\" }"),
        ("sortedValues", "Count = 2 { 1, 2 }"),
        ("listKeys", "Count = 2 { \"c\", \"d\" }"),
        ("listValues", "Count = 2 { 3, 4 }"),
        ("readOnlyKeys", "Count = 1 { \"r\" }"),
        ("literal", "Count = 3 { 1, 2, 3 }"),
        ("arrayBuilder", "Count = 1 { 6 }"),
        ("listBuilder", "Count = 1 { 7 }"),
        ("dictionaryBuilder", "Count = 1 { [8] = 9 }"),
        ("noFrozen", "Count = 0"),
        ("noFrozenSet", "Count = 0"),
        ("unmade", "Count = 0"),
        ("own", "Count = 1 { 4 }"),
        ("pair.Key", "\"k\""),
    ] {
        assert_eq!(look(&program, path).value.text, expected, "{path}");
    }
    assert_eq!(
        lines(&children(&program, "pair")),
        ["Key = \"k\"", "Value = 1"]
    );
    for (path, note) in [
        ("unmade", "it is default"),
        ("own", "fields of its own"),
        ("noItems", "it has no array"),
    ] {
        let notes = look(&program, path).value.notes.join(" ");
        assert!(notes.contains(note), "{path}: {notes}");
    }
    let partly = look(&program, "partly").value.text;
    assert!(partly.starts_with("\"half\" is <"), "{partly}");
    for (path, told) in [
        ("list[-1]", "index -1 is outside of 0..2"),
        ("pair.Key[1]", "index 1 is outside of 0..1"),
        ("pair.Key[-1]", "index -1 is outside of 0..1"),
    ] {
        let query = VariablesQuery {
            path: Some(path.into()),
            ..VariablesQuery::default()
        };
        let refused = program.request(Request::Variables(Box::new(query)));
        let refused = refused.expect_err("there is none").message;
        assert!(refused.contains(told), "{path}: {refused}");
    }
    assert_eq!(look(&program, "pair.Key[0]").value.text, "'k'");
    // A character is not cut in half, and what is no secret is not masked for its name.
    let view = View {
        text_length: 17,
        mask_secrets: true,
        ..View::default()
    };
    let query = VariablesQuery {
        view,
        depth: 1,
        ..VariablesQuery::default()
    };
    let told = variables(&program, query);
    let line = |name: &str| {
        let found = told.variables.iter().find(|it| it.name == name);
        found.map_or_else(String::new, |it| it.value.text.clone())
    };
    assert_eq!(line("faces"), format!("\"{}\"…", "😀".repeat(8)));
    assert_eq!(line("token"), "cannot be cancell…");
    assert_eq!(line("login"), "(\"ann\", ***)");
    assert!(!format!("{told:?}").contains("hunter"), "{told:?}");
    program.cont();
    program.expect_exit(0);
}

#[test]
fn a_collection_that_says_it_has_more_has_no_next_page() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_hostile", &["stop"]);
    let told = page(&program, "linked", 0);
    assert_eq!(told.variables.len(), 2);
    let omitted = told.omitted.expect("what it says that it has");
    assert_eq!(omitted.reason, OmitReason::Missing);
}
