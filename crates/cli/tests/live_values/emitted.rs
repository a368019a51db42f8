//! Values whose types only the running program has: those that are emitted while it runs, as proxies and mocks are, and
//! structs that only the shared code of generic methods knows.

use engine::api::Evaluate;
use host::api::{Reply, Request, VariablesQuery};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use crate::support::{children, lines, locals, look, stopped, variables};

/// What an expression gives that may run code.
#[track_caller]
fn evaluated(program: &Debuggee<'_>, text: &str) -> String {
    let asked = Evaluate {
        side_effects: true,
        ..Evaluate::read(text)
    };
    match program.request(Request::Evaluate(asked)) {
        Ok(Reply::Evaluated(mut all)) => match all.pop().expect("one answer").outcome {
            Ok(value) => value.text,
            Err(why) => panic!("{text}: {}", why.error.message),
        },
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn check(program: &Debuggee<'_>, expected: &[(&str, &str)]) {
    for (text, expected) in expected {
        assert_eq!(evaluated(program, text), *expected, "{text}");
    }
}

#[test]
fn objects_of_emitted_types_are_read_called_and_set() {
    let sandbox = Sandbox::new();
    let program = stopped(
        &sandbox,
        "values_emitted",
        &["stop", "later", "total", "invoke"],
    );
    let order = look(&program, "order");
    assert_eq!(order.value.type_name, "OrderProxy");
    let members = [
        "extra = 12",
        "Id = 7",
        "Name = \"nm\"",
        "Lines = Count = 2 { 1, 2 }",
    ];
    assert_eq!(lines(&children(&program, "order")), members);
    assert_eq!(look(&program, "type").value.text, "typeof(OrderProxy)");
    assert_eq!(look(&program, "array").value.type_name, "OrderProxy[]");
    check(
        &program,
        &[
            ("order.Id", "7"),
            ("list[1].Name", "\"nm\""),
            ("boxed is Order", "true"),
            ("order == boxed", "true"),
            ("service is IService", "true"),
            ("order.GetType().Name", "\"OrderProxy\""),
            // Overridden by what was emitted, and not.
            ("order.Kind", "\"kind of OrderProxy\""),
            ("order.Total()", "14"),
            ("service.Get(3)", "8"),
            ("order.Id = 8", "8"),
        ],
    );
    // What was emitted since then is known, too.
    program.cont();
    program.wait_stop();
    assert_eq!(look(&program, "later").value.type_name, "LaterProxy");
    check(
        &program,
        &[("later.Kind", "\"kind of LaterProxy\""), ("order.Id", "8")],
    );
    // `this` of the user's own methods.
    program.cont();
    program.wait_stop();
    check(&program, &[("this.Id", "8"), ("Name", "\"nm\"")]);
    program.cont();
    program.wait_stop();
    check(&program, &[("Calls", "2"), ("arguments[0]", "1")]);
    program.cont();
    program.wait_output("8nmkind of OrderProxy16kind of LaterProxy6");
    program.expect_exit(0);
}

#[test]
fn what_local_functions_capture_in_shared_generic_code_is_read() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_shared", &["class", "method"]);
    let captured = lines(&locals(&program));
    for line in ["number = 7", "copy = \"a\"", "text = \"t7\""] {
        assert!(captured.iter().any(|it| it == line), "{captured:?}");
    }
    check(&program, &[("number + 1", "8"), ("Local(3)", "12")]);
    program.cont();
    program.wait_stop();
    check(&program, &[("number + argument", "12"), ("Local(3)", "15")]);
    program.cont();
    program.wait_stop();
    check(
        &program,
        &[("number", "7"), ("copy", "3"), ("Local(3)", "12")],
    );
    program.cont();
    program.wait_stop();
    check(
        &program,
        &[("number", "7"), ("Local(3)", "16"), ("item.Key", "\"k\"")],
    );
    program.cont();
    program.expect_exit(0);
}

#[test]
fn what_the_program_has_not_used_yet_has_its_value_and_can_be_passed() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_unused", &["stop", "after"]);
    check(
        &program,
        &[
            // This thread has not used its own, another has.
            ("Own.Number", "0"),
            ("Own.Text == null", "true"),
            ("Own.Plain", "3"),
            // Structs are loaded when they are passed or put into an object.
            ("taking.Day(new DateTime(2024, 12, 31))", "\"2024-12-31\""),
            ("taking.Any = (1, \"x\")", "(1, \"x\")"),
            // A text is an object, too.
            ("$1 = Own.Kept", "\"kept\""),
        ],
    );
    program.cont();
    program.wait_stop();
    check(
        &program,
        &[("$1 + Own.Kept", "\"keptreplaced\""), ("$1.Length", "4")],
    );
    program.cont();
    program.wait_output("(1, x)");
    program.expect_exit(0);
}

#[test]
fn type_arguments_that_optimised_code_has_lost_are_not_told_as_others() {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch("values_lost")
        .env("DOTNET_TieredCompilation", "0")
        .with(|launch| launch.keep_optimized = true)
        .start();
    program.wait_stop();
    for text in [
        "typeof(T)",
        "typeof(U).Name",
        "default(U)",
        "new T[2]",
        "other is T",
    ] {
        let asked = Evaluate {
            side_effects: true,
            frame: 1,
            ..Evaluate::read(text)
        };
        match program.request(Request::Evaluate(asked)) {
            Ok(Reply::Evaluated(all)) => {
                let told = format!("{:?}", all.first().map(|it| &it.outcome));
                assert!(!told.contains("__Canon"), "{text}: {told}");
                assert!(told.contains("Err("), "{text}: {told}");
            }
            other => panic!("{other:?}"),
        }
    }
    // Its variables are told as what they are, and the frame by its own names.
    let query = VariablesQuery {
        frame: 1,
        ..VariablesQuery::default()
    };
    let told = format!("{:?}", variables(&program, query));
    assert!(!told.contains("__Canon"), "{told}");
    let stack = program.request(Request::Stack {
        thread: None,
        start: 0,
        count: 10,
    });
    let told = format!("{stack:?}");
    assert!(!told.contains("__Canon"), "{told}");
    program.cont();
    program.expect_exit(0);
}
