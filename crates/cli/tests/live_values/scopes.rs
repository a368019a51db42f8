//! Variables come back under their own names, wherever the compiler has put them, and only where they are in scope.

use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use crate::support::{lines, locals, look, stopped};

/// The variables of the innermost frame, `this` by its name alone.
#[track_caller]
fn told(program: &Debuggee<'_>) -> Vec<String> {
    let mut lines = lines(&locals(program));
    for line in &mut lines {
        if line.starts_with("this = ") {
            *line = "this".into();
        }
    }
    lines.sort();
    lines
}

#[track_caller]
fn check(marker: &str, expected: &[&str]) {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_scopes", &[marker]);
    assert_eq!(told(&program), expected);
}

#[test]
fn a_nested_lambda_sees_all_that_it_captured() {
    check(
        "nested",
        &[
            "inner = 10",
            "innermost = 25",
            "kept = \"kept\"",
            "outer = 1",
            "parameter = 7",
            "this",
        ],
    );
}

#[test]
fn a_local_function_sees_its_arguments_and_what_it_captured() {
    check(
        "local",
        &[
            "kept = \"kept\"",
            "outer = 1",
            "parameter = 7",
            "this",
            "y = 3",
            "z = 4",
        ],
    );
}

#[test]
fn a_method_sees_its_own_captured_variables_once() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_scopes", &["method"]);
    let told = told(&program);
    for line in [
        "kept = \"kept\"",
        "outer = 1",
        "parameter = 7",
        "result = 33",
        "this",
    ] {
        let count = told.iter().filter(|it| *it == line).count();
        assert_eq!(count, 1, "{line}: {told:?}");
    }
    assert_eq!(look(&program, "this.field").value.text, "\"of this\"");
    // As C# lets one name it.
    assert_eq!(look(&program, "field.Length").value.text, "7");
}

#[test]
fn an_async_method_sees_its_locals_after_an_await() {
    check(
        "async",
        &[
            "after = not assigned yet",
            "before = 11",
            "i = 0",
            "inLoop = \"label0\"",
            "label = \"label\"",
            "seconds = 10",
            "this",
        ],
    );
}

#[test]
fn an_async_method_does_not_see_locals_whose_scope_has_ended() {
    check(
        "async_end",
        &[
            "after = 22",
            "before = 11",
            "label = \"label\"",
            "seconds = 10",
            "this",
        ],
    );
}

#[test]
fn an_iterator_sees_its_locals() {
    check("iterator", &["limit = 3", "n = 0", "square = 0", "this"]);
}

#[test]
fn a_block_sees_its_own_variable_and_not_that_of_another_block() {
    check(
        "blocks",
        &["block = \"two\"", "runner = { field = \"of this\" }"],
    );
}

#[test]
fn a_generic_method_knows_the_types_of_its_variables() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_scopes", &["item"]);
    let item = look(&program, "item");
    assert_eq!(
        (item.value.text.as_str(), item.value.type_name.as_str()),
        ("1.5", "double")
    );
    assert_eq!(look(&program, "items[1]").value.text, "2.5");
}

#[test]
fn the_exception_in_flight_is_a_variable() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("throws").start();
    program.wait_stop();
    let exception = look(&program, "$exception");
    assert_eq!(exception.value.type_name, "OrderException");
    assert_eq!(
        look(&program, "$exception.OrderId").value.text,
        look(&program, "$exception.<OrderId>k__BackingField")
            .value
            .text
    );
    let told = locals(&program);
    assert!(told.iter().any(|it| it.name == "$exception"), "{told:?}");
}
