//! Pointers: where static ones are, how they are compared, and what is set through them.

use host::api::{BreakpointSpec, Evaluate, Reply, Request, Stream, VariablesQuery, View};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use crate::setting::{request, set};
use crate::support::{at, children, lines, look, stopped, variables};

/// What an expression gives, or why not.
#[track_caller]
fn value(program: &Debuggee<'_>, expression: &str) -> String {
    let asked = Request::Evaluate(Evaluate::read(expression));
    let Ok(Reply::Evaluated(all)) = program.request(asked) else {
        panic!("{expression}");
    };
    let told = all.into_iter().next().expect("an answer").outcome;
    match told {
        Ok(value) => value.text,
        Err(failed) => failed.error.message,
    }
}

/// What an expression gives where it may run code.
#[track_caller]
fn run(program: &Debuggee<'_>, expression: &str) -> String {
    let asked = Evaluate {
        side_effects: true,
        ..Evaluate::read(expression)
    };
    let Ok(Reply::Evaluated(all)) = program.request(Request::Evaluate(asked)) else {
        panic!("{expression}");
    };
    let told = all.into_iter().next().expect("an answer").outcome;
    told.map_or_else(|failed| failed.error.message, |value| value.text)
}

/// Why something cannot be set.
#[track_caller]
fn refusal(program: &Debuggee<'_>, path: &str, value: &str) -> String {
    let asked = Request::SetVariable(Box::new(request(0, path, value)));
    program.request(asked).expect_err(path).message
}

#[test]
fn static_pointers_are_told_and_set_where_they_are() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_pointers", &["stop", "set", "within"]);
    let output = program.text(Stream::Stdout);
    let said: Vec<(&str, &str)> = output
        .lines()
        .filter_map(|it| it.split_once('\t'))
        .collect();
    assert_eq!(said.len(), 14, "{output}");
    for (path, expected) in said {
        assert_eq!(value(&program, path), expected, "{path}");
        if !path.contains('.') {
            assert_eq!(look(&program, path).value.text, expected, "{path}");
        }
    }
    assert_eq!(value(&program, "Only.Number"), "3");
    let told = value(&program, "Late.Pointer");
    assert!(told.contains("nothing has used it so far"), "{told}");
    // The fields beside them stay what they are.
    let second = value(&program, "any");
    assert_eq!(set(&program, 0, "pointer", "null"), "null");
    assert_eq!(set(&program, 0, "unset", "Only.Pointer"), second);
    assert_eq!(set(&program, 0, "Program.function", "null"), "null");
    assert_eq!(set(&program, 0, "Only.Pointer", "null"), "null");
    // Through pointers.
    for (path, value, told) in [
        ("local.*", "9", "9"),
        ("twice.*.*", "10", "10"),
        ("nodes.*.Value", "11", "11"),
        ("first.Next.Value", "12", "12"),
        ("nodes.*.Next", "null", "null"),
    ] {
        assert_eq!(set(&program, 0, path, value), told, "{path}");
    }
    let told = refusal(&program, "nothing.*", "1");
    assert!(told.contains("the pointer leads nowhere"), "{told}");
    let told = refusal(&program, "any.*", "1");
    assert!(told.contains("void* is not a pointer that says"), "{told}");
    program.cont();
    program.wait_stop();
    program.cont();
    program.wait_stop();
    let output = program.text(Stream::Stdout);
    let now = output.lines().find_map(|it| it.strip_prefix("now "));
    let expected = "precious obj True True True True 10 11 12 True inside. of.";
    assert_eq!(now, Some(expected), "{output}");
    // While its class constructor runs.
    assert_eq!(value(&program, "Pointer"), "0x20");
    program.cont();
    program.expect_exit(0);
}

#[test]
fn pointers_are_compared_by_their_addresses() {
    let sandbox = Sandbox::new();
    let only_null = BreakpointSpec {
        condition: Some("maybe == null".into()),
        ..at("values_pointers", "round")
    };
    let program = sandbox
        .launch("values_pointers")
        .with(|launch| launch.breakpoints = vec![at("values_pointers", "stop"), only_null])
        .start();
    program.wait_stop();
    for (expression, expected) in [
        ("nothing == null", "true"),
        ("null != nothing", "false"),
        ("nothing is null", "true"),
        ("local == null", "false"),
        ("local is not null", "true"),
        ("nodes == default", "false"),
        ("unset == null", "true"),
        ("function == null", "false"),
        ("Of<int>.Function == null", "true"),
        ("local == pointer", "true"),
        ("local != any", "true"),
        ("any == Only.Pointer && local >= pointer", "true"),
        ("(nint)local == (nint)pointer", "true"),
        ("(ulong)nothing", "0"),
        ("(void*)nodes == first", "true"),
        ("(int*)0x1234 == letters", "true"),
    ] {
        assert_eq!(value(&program, expression), expected, "{expression}");
    }
    // What C# can do with pointers beyond that is not said to be an error.
    for expression in ["nodes->Value", "local + 1", "*local"] {
        let told = value(&program, expression);
        let expected = "works on pointers, which cannot be evaluated";
        assert!(told.contains(expected), "{expression}: {told}");
    }
    let told = value(&program, "local ?? pointer");
    assert!(told.contains("CS0019"), "{told}");
    program.cont();
    program.wait_stop();
    assert_eq!(look(&program, "round").value.text, "2");
    program.cont();
    program.expect_exit(0);
}

#[test]
fn what_members_return_as_addresses_or_as_another_type_is_told_as_that() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_addresses", &["stop"]);
    let output = program.text(Stream::Stdout);
    let said: Vec<(&str, &str)> = output
        .lines()
        .filter_map(|it| it.split_once('\t'))
        .collect();
    assert_eq!(said.len(), 20, "{output}");
    let needs_code = ["()", "Led", "Referred", "None", "Odd"];
    for (path, expected) in &said {
        assert_eq!(run(&program, path), *expected, "{path}");
        // A getter that only loads a field needs no code, whatever it returns that as.
        let told = value(&program, path);
        if needs_code.iter().any(|it| path.ends_with(it)) {
            assert!(told.contains("would run code"), "{path}: {told}");
            continue;
        }
        assert_eq!(told, *expected, "{path}");
        assert_eq!(look(&program, path).value.text, *expected, "{path}");
    }
    assert!(run(&program, "box.Function").starts_with("0x"));
    // Opened with code, each tells the same.
    let opened = VariablesQuery {
        path: Some("box".into()),
        view: View {
            run_code: true,
            ..View::default()
        },
        ..VariablesQuery::default()
    };
    let opened = variables(&program, opened).variables;
    for (path, expected) in &said {
        let Some(found) = opened
            .iter()
            .find(|it| Some(&*it.name) == path.strip_prefix("box."))
        else {
            continue;
        };
        assert_eq!(found.value.text, *expected, "{path}");
    }
    // What a pointer leads to lies inside it, wherever that is from.
    for path in ["local", "Box.Shared", "box.Direct", "box.Twice.*"] {
        assert_eq!(lines(&children(&program, path)), ["* = 77"], "{path}");
    }
    assert_eq!(run(&program, "box.Led = 5"), "5");
    assert_eq!(look(&program, "number").value.text, "5");
}
