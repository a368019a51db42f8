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

#[test]
fn ranges_lead_to_the_elements_where_they_are() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_ranges", &["stop"]);
    let numbers = |from: usize, to: usize| -> Vec<String> {
        let line = |it| format!("[{it}] = {}", it + 10);
        (from..to).map(line).collect()
    };
    for of in ["array", "list", "span"] {
        for (range, from, to) in [
            ("5..8", 5, 8),
            ("^2..", 8, 10),
            ("..^9", 0, 1),
            ("..", 0, 10),
            ("3..3", 3, 3),
        ] {
            let path = format!("{of}[{range}]");
            let told = children(&program, &path);
            assert_eq!(lines(&told), numbers(from, to), "{path}");
            let paths = told.iter().map(|it| it.path.clone());
            let own: Vec<String> = (from..to).map(|it| format!("{of}[{it}]")).collect();
            assert_eq!(paths.collect::<Vec<_>>(), own, "{path}");
        }
    }
    // A page of a range begins where the range does.
    let page = VariablesQuery {
        path: Some("list[2..7]".into()),
        start: 1,
        count: 2,
        ..VariablesQuery::default()
    };
    let told = variables(&program, page);
    assert_eq!(lines(&told.variables), numbers(3, 5));
    let omitted = told.omitted.expect("there are more");
    assert_eq!((omitted.count, omitted.start), (2, 3));
    assert_eq!(told.notes, ["elements 2 to 6 of 10"]);
    assert_eq!(look(&program, "text[2..4]").value.text, "\"23\"");
    for (path, why) in [
        ("array[8..20]", "array has 10 elements"),
        ("list[..^11]", "list has 10 elements"),
        ("span[5..3]", "ends before it begins"),
        (
            "table[0..1]",
            "a range is one of elements that have numbers",
        ),
        (
            "named[0..1]",
            "a range is one of elements that have numbers",
        ),
        ("nothing[0..1]", "has no variable nothing"),
    ] {
        let query = VariablesQuery {
            path: Some(path.into()),
            ..VariablesQuery::default()
        };
        let refused = program.request(Request::Variables(Box::new(query)));
        let refused = refused.expect_err(path).message;
        assert!(refused.contains(why), "{path}: {refused}");
    }
}

#[test]
fn what_exists_only_in_the_debugger_is_told_with_what_lies_inside() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_ranges", &["stop"]);
    for (path, inside) in [
        ("new[] { 1, 2 }", &["[0] = 1", "[1] = 2"][..]),
        ("(1, \"b\")", &["Item1 = 1", "Item2 = \"b\""]),
        ("array.Take(2)", &["[0] = 10", "[1] = 11"]),
        ("text.Split('5')", &["[0] = \"01234\"", "[1] = \"6789\""]),
        (
            "new { A = words }",
            &["A = Length = 2 { \"one\", \"two\" }"],
        ),
        ("new int[0]", &[]),
    ] {
        let query = VariablesQuery {
            path: Some(path.into()),
            ..VariablesQuery::default()
        };
        let told = variables(&program, query);
        assert_eq!(lines(&told.variables), inside, "{path}");
        assert_eq!(told.parent.expect("what was asked for").name, path);
    }
    let last = VariablesQuery {
        path: Some("new[] { 1, 2, 3 }".into()),
        start: 1,
        count: 1,
        ..VariablesQuery::default()
    };
    let told = variables(&program, last);
    assert_eq!(lines(&told.variables), ["[1] = 2"]);
    let omitted = told.omitted.expect("there is one more");
    assert_eq!((omitted.count, omitted.start), (1, 2));
    // No more than some come with it.
    let many = VariablesQuery {
        path: Some("Enumerable.Range(0, 150).ToArray()".into()),
        start: 100,
        ..VariablesQuery::default()
    };
    let told = variables(&program, many);
    assert_eq!(told.variables, []);
    assert!(told.notes.concat().contains("its first 100 elements"));
}
