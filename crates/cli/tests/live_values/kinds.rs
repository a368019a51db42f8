//! Values inside of values, by reference and by name, looked at by paths and by expressions; and assigned by the rules of
//! C#.

use host::api::{Evaluate, Reply, Request, SetVariable, VariablesQuery};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use crate::support::{children, lines, look, stopped};

fn evaluated(program: &Debuggee<'_>, text: &str, side_effects: bool) -> String {
    let request = Request::Evaluate(Evaluate {
        side_effects,
        ..Evaluate::read(text)
    });
    let Ok(Reply::Evaluated(all)) = program.request(request) else {
        panic!("no answer to {text}");
    };
    match all.into_iter().next().expect("one answer").outcome {
        Ok(value) => value.text,
        Err(error) => format!("error: {}", error.error.message),
    }
}

fn differences(told: impl Iterator<Item = (String, String, String)>) -> String {
    let wrong = told.filter(|(_, told, expected)| !told.starts_with(expected.as_str()));
    let wrong: Vec<String> = wrong
        .map(|(what, told, expected)| format!("{what}: {told}\n  not {expected}"))
        .collect();
    wrong.join("\n")
}

#[test]
fn buffers_spans_references_and_named_elements_are_read() {
    const PATHS: &[(&str, &str)] = &[
        ("header.Name", "Count = 5 { 'h', 'e', 'l', 'l', 'o' }"),
        ("header.Name[1]", "'e'"),
        ("header.Scales[1]", "2.5"),
        ("header.After", "2"),
        ("three[2]", "\"third\""),
        ("two", "Count = 2 { 0, 22 }"),
        ("tuples[1].b", "\"two\""),
        ("list[0].name.last", "\"B\""),
        ("table[#0].s", "\"three\""),
        ("same[#0].w", "8"),
        ("old.Item2", "\"six\""),
        (
            "dictionary",
            "typeof(System.Collections.Generic.Dictionary<int, string>)",
        ),
        ("property", "Other.Word"),
        ("field", "Other.Count"),
    ];
    const READ: &[(&str, &str)] = &[
        ("header.Name[1]", "'e'"),
        ("header.Scales[1] * 2", "5"),
        ("three[2]", "\"third\""),
        ("two[1] + 1", "23"),
        ("two[2]", "error: "),
        ("span[1]", "3"),
        ("span[2]", "error: "),
        ("letters[0]", "'l'"),
        ("tuples[0].b", "\"one\""),
        ("list[0].name.last", "\"B\""),
        ("large.Length", "20000000"),
        ("large[3]", "'x'"),
    ];
    const RUN: &[(&str, &str)] = &[
        ("store.Stored", "7"),
        ("table[(1, 2)].s", "\"three\""),
        ("same[(5, 6)].w", "8"),
        ("task.Result.b", "\"four\""),
        ("store.Label", "\"label\""),
        ("store.Price.Unit", "\"kg\""),
        ("Store.Largest(numbers) + 1", "4"),
        ("Sum(\"f\", 1, \"x\", null)", "4"),
        ("Pair((5, \"z\"))", "\"z5\""),
        ("Pair(tuple)", "\"five5\""),
    ];
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_kinds", &["look", "end"]);
    let paths = PATHS.iter().map(|(path, expected)| {
        let told = look(&program, path).value.text;
        ((*path).to_owned(), told, (*expected).to_owned())
    });
    let read = READ.iter().map(|it| (it, false));
    let expressions = read.chain(RUN.iter().map(|it| (it, true)));
    let expressions = expressions.map(|((text, expected), run)| {
        let told = evaluated(&program, text, run);
        ((*text).to_owned(), told, (*expected).to_owned())
    });
    let wrong = differences(paths.chain(expressions));
    assert!(wrong.is_empty(), "{wrong}");
    assert_eq!(
        lines(&children(&program, "tuples[0]")),
        ["a = 1", "b = \"one\""]
    );
    assert_eq!(
        lines(&children(&program, "old")),
        ["Item1 = 6", "Item2 = \"six\""]
    );
    // A long message leaves room for what else there is to say.
    let fails = evaluated(&program, "store.Fails", true);
    let head = "error: evaluating it throws System.InvalidOperationException: mmm";
    assert!(
        fails.starts_with(head) && fails.contains("\n  at Store."),
        "{fails}"
    );
    assert!(fails.len() < 4_000, "{}", fails.len());
    // An expression can keep what it gives over continues, for every front end.
    let refused = evaluated(&program, "$7 = store", false);
    assert!(refused.contains("not allowed"), "{refused}");
    let kept = evaluated(&program, "$7 = store", true);
    assert!(!kept.starts_with("error: "), "{kept}");
    program.cont();
    program.wait_stop();
    assert_eq!(look(&program, "$7.label").value.text, "\"label\"");
    assert_eq!(evaluated(&program, "$7 == store", false), "true");
}

#[test]
fn what_csharp_converts_can_be_assigned_and_nothing_else() {
    const SET: &[(&str, &str, &str)] = &[
        ("wide", "number", "3"),
        ("real", "number + 1", "4"),
        ("any", "3.5", "3.5"),
        ("paint", "Paint.Blue", "Blue"),
        ("paint", "null", "null"),
        ("time", "default", "0001-01-01T00:00:00.0000000"),
        ("half", "(Half)2", "2"),
        ("huge", "5", "5"),
        ("number", "0b101", "5"),
        ("text", "@\"a\\b\"", "\"a\\\\b\""),
        ("real", "double.NaN", "NaN"),
        ("tuple.a", "9", "9"),
        ("Other.Count", "8", "8"),
        ("Other.Word", "\"said\"", "\"said\""),
        ("Generic<int>.Value", "4", "4"),
        ("two[1]", "5", "5"),
        ("header.Scales[1]", "4.5", "4.5"),
    ];
    const REFUSED: &[(&str, &str)] = &[
        ("empty", "none"),
        ("small", "1e40"),
        ("number", "real"),
        ("Other.Fixed", "2"),
        ("number", "Missing()"),
    ];
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_kinds", &["look"]);
    let set = |path: &str, value: &str| {
        let set = SetVariable {
            stop: None,
            thread: None,
            frame: 0,
            path: path.into(),
            value: value.into(),
            force: false,
            mask_secrets: false,
        };
        match program.request(Request::SetVariable(Box::new(set))) {
            Ok(Reply::Variables(told)) => told.parent.expect("what was set").value.text,
            Ok(other) => panic!("{other:?}"),
            Err(error) => format!("error: {error}"),
        }
    };
    let told = SET.iter().map(|(path, value, expected)| {
        let told = set(path, value);
        (format!("{path} <- {value}"), told, (*expected).to_owned())
    });
    let refused = REFUSED.iter().map(|(path, value)| {
        let told = set(path, value);
        (format!("{path} <- {value}"), told, "error: ".to_owned())
    });
    let wrong = differences(told.chain(refused));
    assert!(wrong.is_empty(), "{wrong}");
    // The program has what was set.
    for (expression, value) in [
        ("Other.Count + Generic<int>.Value", "12"),
        ("Other.Fixed", "1"),
        ("tuple.a", "9"),
    ] {
        assert_eq!(evaluated(&program, expression, true), value, "{expression}");
    }
}

#[test]
fn what_the_runtime_tells_little_of_is_told_all_the_same() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_odd", &["stop", "inside"]);
    let text = |path: &str| look(&program, path).value.text;
    // A `T?` inside an object, of a type that the runtime has not loaded itself.
    assert_eq!(text("json._jsonElement.HasValue"), "true");
    let element = text("json._jsonElement");
    assert!(element.starts_with("{ _parent = "), "{element}");
    assert_eq!(text("json._jsonElement._idx"), "0");
    // `{this}` is the value without its own attribute.
    assert_eq!(text("level"), "level High");
    assert_eq!(text("boxed"), "level Low");
    assert_eq!(text("maybe"), "level High");
    assert_eq!(text("point"), "point { X = 3 }");
    // A field of an object is no static field.
    let enumerator = text("query._enumerator");
    assert!(!enumerator.contains("static"), "{enumerator}");
    let made = text("made");
    assert!(made.starts_with("{TypedReference to 0x"), "{made}");
    program.cont();
    program.wait_stop();
    // The frame of a method that has no metadata.
    let query = VariablesQuery {
        frame: 1,
        ..VariablesQuery::default()
    };
    let why = program
        .request(Request::Variables(Box::new(query)))
        .expect_err("it has no metadata");
    assert!(why.message.contains("a dynamic method"), "{why}");
}
