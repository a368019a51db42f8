//! What the program says of how its values are to be shown, delegates, and collections that few use.

use host::api::{Evaluate, Reply, Request, StepKind, VariablesQuery, View};
use testkit::sandbox::Sandbox;

use crate::setting::request;
use crate::support::{children, lines, locals, look, says_the_same, stopped, variables};

#[test]
fn what_the_program_says_of_its_values_goes_before_their_views() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_said", &["stop"]);
    says_the_same(&program);
    // What only code can say is not said, and the view stays.
    let asking = look(&program, "asking").value;
    assert_eq!(asking.text, "Count = 1 { 1 }");
    assert_eq!(asking.notes, ["its DebuggerDisplay would run code"]);
    let team = look(&program, "team").value;
    assert_eq!(team.kind, host::api::ValueKind::Collection);
    assert_eq!(
        team.notes,
        ["it has fields of its own, which its raw view shows"]
    );
    assert_eq!(look(&program, "two").value.notes, [""; 0]);
}

#[test]
fn delegates_tell_their_methods_and_what_these_are_called_on() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_said", &["stop"]);
    assert_eq!(
        lines(&children(&program, "many")),
        [
            "[0] = Door.Open()",
            "[1] = Door.Close()",
            "[2] = Door.Open()"
        ]
    );
    assert_eq!(
        lines(&children(&program, "one")),
        ["Target = { Number = 3 }"]
    );
    assert_eq!(lines(&children(&program, "none")), [""; 0]);
    let compiled = look(&program, "compiled").value.text;
    assert!(
        compiled.ends_with("(made while the program ran)"),
        "{compiled}"
    );
}

#[test]
fn wrappers_of_lists_of_ones_own_are_enumerated_where_code_may_run() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_said", &["stop"]);
    for name in ["collection", "read_only"] {
        let query = |run_code: bool| VariablesQuery {
            path: Some(name.into()),
            view: View {
                run_code,
                time_limit: 1000,
                ..View::default()
            },
            ..VariablesQuery::default()
        };
        let told = variables(&program, query(true));
        assert_eq!(lines(&told.variables), ["[0] = 1", "[1] = 2"], "{name}");
        let told = variables(&program, query(false));
        let shown = told.parent.expect("what was asked for").value;
        assert_eq!(shown.notes.len(), 1, "{:?}", shown.notes);
        assert_eq!(told.variables.len(), 1, "its fields");
    }
}

#[test]
fn what_a_call_returned_has_the_names_of_its_tuple_elements() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_said", &["stop"]);
    for _ in 0..2 {
        let step = Request::Step {
            thread: None,
            kind: StepKind::Over,
            count: 1,
        };
        program.request(step).expect("a step");
        program.wait_stop();
    }
    let all = locals(&program);
    let returned = all.iter().find(|it| it.name == "$returnvalue");
    let returned = &returned.expect("a result").value;
    assert_eq!(returned.type_name, "(int count, string name)");
    assert_eq!(look(&program, "$returnvalue.name").value.text, "\"two\"");
    for (expression, ty, text) in [
        ("$returnvalue.count", "int", "2"),
        ("$returnvalue.name", "string", "\"two\""),
    ] {
        let request = Request::Evaluate(Evaluate::read(expression));
        let Ok(Reply::Evaluated(all)) = program.request(request) else {
            panic!("{expression}");
        };
        let value = all.into_iter().next().expect("an answer").outcome;
        let value = value.expect(expression);
        assert_eq!((&*value.ty, &*value.text), (ty, text), "{expression}");
    }
}

#[test]
fn references_in_elements_and_wide_numbers_are_set() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_said", &["stop"]);
    for (path, value) in [
        ("entries[0].Text", "\"Q\""),
        ("table[\"k\"].Text", "\"D\""),
        ("linked[0].Text", "\"L\""),
        ("sorted[2].Text", "\"T\""),
        ("piled[0].Item2.Text", "\"P\""),
        ("words[0]", "\"W\""),
        ("grid[1, 0]", "\"C\""),
        ("large", "170141183460469231731687303715884105727"),
        ("larger", "340282366920938463463374607431768211455"),
        ("half", "1.5"),
    ] {
        let set = host::api::SetVariable {
            stop: None,
            thread: None,
            frame: 0,
            path: path.into(),
            value: value.into(),
            force: false,
            mask_secrets: false,
        };
        let set = program.request(Request::SetVariable(Box::new(set)));
        set.unwrap_or_else(|error| panic!("{path}: {error}"));
    }
    program.cont();
    program.wait_output(
        "Q|D|L|sT|P|W|bC|170141183460469231731687303715884105727|340282366920938463463374607431768211455|1.5|True",
    );
    program.expect_exit(0);
}

#[test]
fn what_a_pattern_of_a_switch_declares_is_seen_where_a_lambda_captured_it() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_said", &["captured", "switched"]);
    for place in ["at the return", "in the lambda"] {
        assert_eq!(look(&program, "number").value.text, "5", "{place}");
        program.cont();
        if place == "at the return" {
            program.wait_stop();
        }
    }
    program.expect_exit(0);
}

#[test]
fn what_cannot_be_told_or_set_says_why_and_what_it_is() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_unsaid", &["stop"]);
    let given = request(0, "only.Given", "3");
    let told = match program.request(Request::SetVariable(Box::new(given))) {
        Ok(Reply::Variables(told)) => told.parent.expect("what was set").value,
        other => panic!("{other:?}"),
    };
    assert_eq!(told.type_name, "int");
    assert!(told.text.contains("it has no getter"), "{}", told.text);
    assert_eq!(look(&program, "only.taken").value.text, "3");
    let given = look(&program, "only.Given").value;
    assert_eq!(given.type_name, "int");
    assert!(given.text.contains("it has no getter"), "{}", given.text);
    let mine = look(&program, "mine").value;
    assert_eq!(mine.type_name, "List<int>", "{}", mine.text);
    // The number of an object of another type is no wrong C#.
    let object = look(&program, "only").value.object.expect("an object").0;
    let wrong = request(0, "list", &format!("#{object}"));
    let wrong = program.request(Request::SetVariable(Box::new(wrong)));
    let wrong = wrong.expect_err("another type").message;
    assert!(wrong.contains("Only"), "{wrong}");
    // What does not show is written as C# writes it, also in texts that exist only here.
    for (expression, literal) in [
        ("\"a\\u200bb\"", "\"a\\u200bb\""),
        ("'\\u202e'", "'\\u202e'"),
    ] {
        let asked = Request::Evaluate(Evaluate::read(expression));
        match program.request(asked) {
            Ok(Reply::Evaluated(all)) => match &*all {
                [one] => assert_eq!(one.outcome.as_ref().expect("a value").text, literal),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }
}
