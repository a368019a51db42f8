//! Results that a statement leaves in a variable: told without a stop behind the call, and only if the call returned them.

use host::api::{Evaluate, Reply, Request, SetVariable, StepKind, Stream, VariableKind};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use crate::support::{lines, locals, look, stopped};

fn step_over(program: &Debuggee<'_>) {
    let asked = program.request(Request::Step {
        thread: None,
        kind: StepKind::Over,
        count: 1,
    });
    asked.expect("a step");
    program.wait_stop();
}

/// How often the program's memory has been read.
fn reads(program: &Debuggee<'_>) -> u64 {
    match program.request(Request::Status) {
        Ok(Reply::Status(status)) => status.memory.cached + status.memory.kernel,
        other => panic!("{other:?}"),
    }
}

/// Steps over a statement; what its calls returned.
fn returned(program: &Debuggee<'_>) -> Vec<String> {
    step_over(program);
    let told = locals(program).into_iter();
    let told: Vec<_> = told.filter(|it| it.kind == VariableKind::Pseudo).collect();
    let named = |it: &String| it.starts_with("$returnvalue");
    lines(&told).into_iter().filter(named).collect()
}

fn evaluated(program: &Debuggee<'_>, text: &str) -> String {
    let request = Request::Evaluate(Evaluate::read(text));
    let Ok(Reply::Evaluated(all)) = program.request(request) else {
        panic!("no answer to {text}");
    };
    let told = all.into_iter().next().expect("one answer");
    told.outcome
        .map_or_else(|error| error.error.message, |value| value.text)
}

#[test]
fn a_result_that_stays_in_a_variable_is_told_and_a_lost_one_is_not() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_stored", &["keep", "fails", "inner"]);
    // What is set afterwards is not what was returned.
    step_over(&program);
    let set = SetVariable {
        stop: None,
        thread: None,
        frame: 0,
        path: "kept".into(),
        value: "1000".into(),
        force: false,
        mask_secrets: false,
    };
    program
        .request(Request::SetVariable(Box::new(set)))
        .expect("a variable that can be set");
    assert_eq!(look(&program, "kept").value.text, "1000");
    assert_eq!(evaluated(&program, "$returnvalue"), "1");
    let before = reads(&program);
    step_over(&program);
    let stored = reads(&program) - before;
    assert_eq!(evaluated(&program, "$returnvalue"), "\"n1000\"");
    // A variable of the compiler's.
    assert_eq!(returned(&program), ["$returnvalue = true"]);
    assert_eq!(returned(&program), ["$returnvalue = 10"]);
    // Only what was called.
    assert_eq!(returned(&program), ["$returnvalue = 20"]);
    let both = ["$returnvalue1 = 2", "$returnvalue = 3"];
    assert_eq!(returned(&program), both);
    let both = ["$returnvalue1 = 4", "$returnvalue = 4"];
    assert_eq!(returned(&program), both);
    let before = reads(&program);
    step_over(&program);
    let passed_on = reads(&program) - before;
    assert_eq!(evaluated(&program, "$returnvalue"), "\"n4\"");
    // A stop behind the call reads the stack once more.
    assert!(3 * stored < 2 * passed_on, "{stored} and {passed_on} reads");
    // An exception is no result, although the variable has a value.
    program.cont();
    program.wait_stop();
    assert_eq!(look(&program, "old").value.text, "7");
    assert!(returned(&program).is_empty(), "nothing was returned");
    // What a method returns lies in a variable of the compiler's until it does.
    program.cont();
    program.wait_stop();
    assert_eq!(returned(&program), ["$returnvalue = 5"]);
    // Back in the caller, through the rest of its statement.
    step_over(&program);
    assert_eq!(evaluated(&program, "$returnvalue"), "5");
    step_over(&program);
    assert_eq!(look(&program, "old").value.text, "5");
    program.cont();
    program.expect_exit(0);
    let told = program.text(Stream::Stdout);
    assert!(told.ends_with("20 n1000 6 4 -3\n"), "{told}");
}
