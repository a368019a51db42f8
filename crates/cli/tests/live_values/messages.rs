//! Exceptions are told with what their `Message` gives, elements with the type that they are of, characters as text.

use host::api::View;
use testkit::sandbox::Sandbox;

use crate::support::{children, look, says_the_same_with, stopped};

#[test]
fn exceptions_are_told_with_their_messages() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_messages", &["stop"]);
    says_the_same_with(&program, &View::default());
    let refused = look(&program, "refused").value;
    assert_eq!(refused.text, "Refused: not found");
    let note = |of: &str| {
        format!(
            "its Message is that of {of}, which needs code to run: this is the text it was made with"
        )
    };
    assert_eq!(refused.notes, [note("Refused")]);
    // Numbers with a fraction are written as a culture does.
    let unusual = look(&program, "unusual").value;
    assert_eq!(unusual.notes, [note("System.ArgumentOutOfRangeException")]);
    program.cont();
    let stop = program.wait_stop();
    let thrown = stop.exception.expect("an exception").message;
    let message = "too few (Parameter 'count')\nActual value was -5.";
    assert_eq!(thrown.as_deref(), Some(message));
}

#[test]
fn elements_of_other_types_than_the_collection_say_so() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_messages", &["stop"]);
    for (path, told) in [
        (
            "shapes",
            "Count = 3 { Round { Radius = 2, Sides = 1 }, { Sides = 4 }, null }",
        ),
        (
            "byName",
            "Count = 2 { [\"r\"] = Round { Radius = 2, Sides = 1 }, [\"q\\\"u\"] = { Sides = 4 } }",
        ),
        (
            "boxed",
            "Length = 8 { 1, 1L, 2.5d, 1m, 1, \"1\", Point { X = 3 }, NaN }",
        ),
        ("exact", "Length = 2 { 1, 2 }"),
    ] {
        assert_eq!(look(&program, path).value.text, told, "{path}");
    }
    let path = "byName[\"q\\\"u\"]";
    assert_eq!(look(&program, path).name, "[\"q\\\"u\"]");
    let declared: Vec<_> = children(&program, "shapes")
        .into_iter()
        .map(|it| (it.value.type_name, it.declared_type))
        .collect();
    let shape = || Some("Shape".to_owned());
    assert_eq!(declared[0], ("Round".into(), shape()));
    assert_eq!(declared[1], ("Shape".into(), None));
}

#[test]
fn spans_of_characters_are_text() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_messages", &["spans"]);
    for (path, told) in [
        ("part", "\"world\""),
        ("letters", "\"a\\\"\""),
        ("empty", "\"\""),
        ("memory", "\"ello\""),
        ("slice", "\"hello\""),
        ("numbers", "Length = 2 { 1, 2 }"),
        ("part[1]", "'o'"),
        ("slice[4]", "'o'"),
    ] {
        assert_eq!(look(&program, path).value.text, told, "{path}");
    }
    let range: Vec<_> = children(&program, "slice[1..3]")
        .into_iter()
        .map(|it| (it.name, it.value.text))
        .collect();
    let letter = |at: &str, it: &str| (at.to_owned(), it.to_owned());
    assert_eq!(range, [letter("[1]", "'e'"), letter("[2]", "'l'")]);
    let endless = look(&program, "endless").value;
    assert_eq!(endless.full_length, Some(5000));
    assert_eq!(endless.children, 5000);
}
