//! Pointers: where static ones are, and what is set through them.

use host::api::{Evaluate, Reply, Request, Stream};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use crate::setting::{request, set};
use crate::support::{look, stopped};

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
    assert_eq!(set(&program, 0, "function", "null"), "null");
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
    let expected = "precious obj True True True False 10 11 12 True inside. of.";
    assert_eq!(now, Some(expected), "{output}");
    // While its class constructor runs.
    assert_eq!(value(&program, "Pointer"), "0x20");
    program.cont();
    program.expect_exit(0);
}
