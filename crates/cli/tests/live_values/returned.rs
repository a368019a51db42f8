//! What calls returned that a step went over or out of: the same as what the program then has in its variables.

use host::api::{Evaluate, Reply, Request, StepKind, Stream, VariableKind, VariablesQuery};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use crate::support::{at, lines, locals, look, stopped};

fn step(program: &Debuggee<'_>, kind: StepKind) {
    let asked = program.request(Request::Step {
        thread: None,
        kind,
        count: 1,
    });
    asked.expect("a step");
    program.wait_stop();
}

/// The value that was returned, as a variable tells it.
fn returned(program: &Debuggee<'_>) -> String {
    let query = VariablesQuery {
        path: Some("$returnvalue".into()),
        count: 0,
        ..VariablesQuery::default()
    };
    match program.request(Request::Variables(Box::new(query))) {
        Ok(Reply::Variables(told)) => told.parent.expect("what was asked for").value.text,
        Ok(other) => panic!("{other:?}"),
        Err(error) => format!("error: {error}"),
    }
}

fn evaluated(program: &Debuggee<'_>, text: &str) -> String {
    let request = Request::Evaluate(Evaluate::read(text));
    let Ok(Reply::Evaluated(all)) = program.request(request) else {
        panic!("no answer to {text}");
    };
    let told = all.into_iter().next().expect("one answer");
    match told.outcome {
        Ok(value) => value.text,
        Err(error) => format!("error: {}", error.error.message),
    }
}

#[test]
fn a_returned_value_is_what_the_program_then_has() {
    let sandbox = Sandbox::new();
    let markers = [
        "over", "several", "out", "deep", "end", "straight", "hoisted",
    ];
    let program = stopped(&sandbox, "values_returned", &markers);
    assert!(
        returned(&program).starts_with("error: "),
        "nothing was called"
    );
    let mut wrong = Vec::new();
    for number in 1..=28 {
        step(&program, StepKind::Over);
        let name = format!("v{number}");
        let (told, kept) = (returned(&program), look(&program, &name).value.text);
        if told != kept {
            wrong.push(format!("{name} is {kept}, but $returnvalue {told}"));
        }
        if number == 4 {
            assert_eq!(evaluated(&program, "$returnvalue.Number + 1"), "13");
            assert_eq!(evaluated(&program, "$returnvalue == v4"), "true");
            assert_eq!(look(&program, "$returnvalue.Title").value.text, "\"books\"");
        }
    }
    // Several calls are told one by one, each with its method.
    step(&program, StepKind::Over);
    let told = locals(&program);
    let told: Vec<_> = told
        .iter()
        .filter(|it| it.kind == VariableKind::Pseudo)
        .collect();
    let notes: Vec<_> = told.iter().map(|it| it.value.notes.join(" ")).collect();
    let told: Vec<_> = told.into_iter().cloned().collect();
    assert_eq!(lines(&told), ["$returnvalue1 = 3", "$returnvalue = 7"]);
    assert_eq!(notes, ["returned by Program.Add"; 2]);
    // Each is known to expressions by its name.
    for (text, told) in [
        ("$returnvalue1", "3"),
        ("$ReturnValue2 * 10 + $returnvalue1", "73"),
        ("$returnvalue - $returnvalue1", "4"),
    ] {
        assert_eq!(evaluated(&program, text), told, "{text}");
    }
    let said = evaluated(&program, "$returnvalue3");
    assert!(said.contains("there is no $returnvalue3"), "{said}");
    // Nothing is returned by a method that returns nothing, and what was is forgotten.
    step(&program, StepKind::Over);
    let said = evaluated(&program, "$returnvalue");
    assert!(said.contains("there is no $returnvalue"), "{said}");
    for number in 1..=7 {
        step(&program, StepKind::Into);
        step(&program, StepKind::Out);
        let told = returned(&program);
        step(&program, StepKind::Over);
        let name = format!("w{number}");
        let kept = look(&program, &name).value.text;
        if told != kept {
            wrong.push(format!("{name} is {kept}, but $returnvalue {told}"));
        }
    }
    // Recursion would cost a stop for each return: it is not followed for ever, and the step ends where it should.
    step(&program, StepKind::Over);
    assert_eq!(look(&program, "w8").value.text, "6765");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Of structs the runtime does not say where they are returned to; what goes into a variable is known from there.
    program.cont();
    program.wait_stop();
    for number in 1..=3 {
        step(&program, StepKind::Over);
        let kept = look(&program, &format!("s{number}")).value.text;
        assert_eq!(returned(&program), kept, "s{number}");
    }
    // What does not is told with the reason, in the order of the calls.
    step(&program, StepKind::Over);
    let told = locals(&program);
    let told: Vec<_> = told
        .into_iter()
        .filter(|it| it.kind == VariableKind::Pseudo)
        .collect();
    assert_eq!(
        lines(&told),
        [
            "$returnvalue1 = the runtime does not tell the results of calls that return Mixed",
            "$returnvalue2 = 4",
            "$returnvalue = 5",
        ]
    );
    assert_eq!(evaluated(&program, "$returnvalue2 + $returnvalue"), "9");
    let said = evaluated(&program, "$returnvalue1");
    assert!(said.contains("Mix returned cannot be read"), "{said}");
    // A call that may not have run is not told.
    step(&program, StepKind::Over);
    let said = evaluated(&program, "$returnvalue");
    assert!(said.contains("there is no $returnvalue"), "{said}");
    // The locals of an async method are fields of its state machine.
    program.cont();
    program.wait_stop();
    for name in ["x1", "x2"] {
        step(&program, StepKind::Over);
        assert_eq!(
            returned(&program),
            look(&program, name).value.text,
            "{name}"
        );
    }
    step(&program, StepKind::Over);
    assert_eq!(returned(&program), "39.90");
    step(&program, StepKind::Over);
    let told = locals(&program);
    let told = told.iter().find(|it| it.name == "$returnvalue");
    let notes = told.map(|it| it.value.notes.join(" "));
    assert_eq!(notes.as_deref(), Some("returned by Program.Twice"));
    program.cont();
    program.expect_exit(0);
    assert!(program.text(Stream::Stdout).contains("19.95"));
}

/// A call that the compiler has dissolved is told as that, not as one whose type the runtime cannot tell.
#[test]
fn results_of_calls_that_were_dissolved_are_told_as_that() {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch("optimized_calls")
        .env("DOTNET_TieredCompilation", "0")
        .with(|launch| {
            launch.keep_optimized = true;
            launch.breakpoints = vec![at("optimized_calls", "same")];
        })
        .start();
    program.wait_stop();
    step(&program, StepKind::Over);
    let told = locals(&program).into_iter();
    let told: Vec<_> = told.filter(|it| it.kind == VariableKind::Pseudo).collect();
    assert_eq!(
        lines(&told),
        [
            "$returnvalue = the compiled code keeps no place behind the call at which it could be read: optimised code has dissolved it"
        ]
    );
    program.disconnect(Some(true), false);
}
