//! Collections and other types of the framework, shown as a person wants them without running code in the program.

use host::api::{ErrorCode, Evaluate, Reply, Request, VariablesQuery};
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::support::{at, children, lines, look, says_the_same, stopped, variables};

#[test]
fn every_collection_shows_what_the_program_enumerates() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_collections", &["stop"]);
    says_the_same(&program);
    // What lies in a heap is not told as if it were sorted.
    let notes = look(&program, "prioritized").value.notes.join(" ");
    assert!(notes.contains("the first comes out first"), "{notes}");
}

#[test]
fn every_collection_of_an_old_runtime_shows_what_the_program_enumerates() {
    let sandbox = Sandbox::new();
    let Some(old) = Fixture::old("values_old") else {
        return;
    };
    let program = sandbox
        .launch_fixture(&old)
        .with(|launch| launch.breakpoints = vec![at("values_old", "stop")])
        .start();
    program.wait_stop();
    says_the_same(&program);
    program.cont();
    program.expect_exit(0);
}

#[test]
fn attributes_say_what_is_shown() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_collections", &["stop"]);
    let told = lines(&children(&program, "orders[2]"));
    assert_eq!(
        told,
        [
            "Id = 2",
            "Name = \"order2\"",
            "Lines = Count = 1 { \"line\" }",
            "[0] = 7",
            "[1] = 8"
        ]
    );
}

#[test]
fn a_page_of_a_large_collection_is_told_with_what_is_left() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_collections", &["stop"]);
    let query = VariablesQuery {
        path: Some("millions".into()),
        start: 9_999_998,
        count: 5,
        ..VariablesQuery::default()
    };
    let told = variables(&program, query);
    assert_eq!(lines(&told.variables), ["[9999998] = 0", "[9999999] = 77"]);
    assert_eq!(told.omitted, None);
    assert_eq!(told.parent.expect("the array").value.children, 10_000_000);
    let query = VariablesQuery {
        path: Some("orders".into()),
        count: 2,
        ..VariablesQuery::default()
    };
    let told = variables(&program, query);
    assert_eq!(
        lines(&told.variables),
        ["[0] = order0 #0 x0", "[1] = order1 #1 x0"]
    );
    let omitted = told.omitted.expect("more");
    assert_eq!((omitted.start, omitted.count), (2, 28));
}

#[test]
fn paths_lead_back_to_every_element() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_collections", &["stop"]);
    for path in [
        "dictionary",
        "sortedDictionary",
        "orders",
        "lookup",
        "set",
        "expando",
    ] {
        for child in children(&program, path) {
            let again = look(&program, &child.path);
            assert_eq!(again.value.text, child.value.text, "{}", child.path);
        }
    }
    let query = |path: &str| {
        Request::Variables(Box::new(VariablesQuery {
            path: Some(path.into()),
            ..VariablesQuery::default()
        }))
    };
    for path in [
        "numbers[20]",
        "dictionary[\"two\"]",
        "nobody",
        "numbers.nothing",
    ] {
        let error = program.request(query(path)).expect_err(path);
        assert_eq!(error.code, ErrorCode::InvalidParameter, "{error:?}");
    }
}

#[test]
fn as_many_elements_are_shown_as_are_asked_for() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_collections", &["stop"]);
    let rows = [
        ("dictionary,[1]", "Count = 3 { [\"one\"] = 1, … 2 more }"),
        ("queue,[1]", "Count = 7 { 2, … 6 more }"),
        ("linked,[2]", "Count = 3 { 1, 2, … 1 more }"),
        (
            "sortedDictionary,[1]",
            "Count = 3 { [1] = \"a\", … 2 more }",
        ),
        ("sortedSet,[1]", "Count = 3 { 1, … 2 more }"),
        ("stack,[1]", "Count = 3 { \"c\", … 2 more }"),
        ("stack,[9]", "Count = 3 { \"c\", \"b\", \"a\" }"),
        ("memory,[1]", "Length = 2 { 2, … 1 more }"),
        ("sortedDictionary.Keys,[1]", "Count = 3 { 1, … 2 more }"),
        (
            "concurrentQueue,[12]",
            "Count = 49 { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, … 37 more }",
        ),
        // Inside others as well.
        (
            "new[] { stack, stack },[1]",
            "Length = 2 { Count = 3 { \"c\", … 2 more }, … 1 more }",
        ),
        (
            "new[] { concurrentQueue },[5]",
            "Length = 1 { Count = 49 { 1, 2, 3, 4, 5, … 44 more } }",
        ),
    ];
    let request = Request::Evaluate(Evaluate {
        expressions: rows.iter().map(|it| it.0.to_owned()).collect(),
        as_variables: true,
        side_effects: true,
        ..Evaluate::read("")
    });
    let Ok(Reply::Evaluated(all)) = program.request(request) else {
        panic!("nothing was evaluated");
    };
    for ((text, expected), told) in rows.iter().zip(&all) {
        let value = told.outcome.as_ref().expect(text);
        // Where the text only names the type, the line comes with the value.
        let line = match &value.variable {
            Some(line) if value.text.starts_with('{') => &line.value.text,
            _ => &value.text,
        };
        assert_eq!(line, expected, "{text}");
        // Whoever opens it sees the same line.
        let path = value.variable.as_ref().map_or("", |it| &it.path);
        if !path.is_empty() {
            assert_eq!(look(&program, path).value.text, *expected, "{text}");
        }
    }
}
