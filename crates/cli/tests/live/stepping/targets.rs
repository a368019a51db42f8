//! Steps into one call of a statement and over the others.

use host::api::{ErrorCode, Reply, Request, StepKind, StepTarget, StopReason};
use testkit::debuggee::Debuggee;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use super::walk::{assert_at, describe, frame, launch_to, place, step};

const FIXTURE: &str = "step_targets";

#[track_caller]
fn targets(program: &Debuggee<'_>) -> Vec<StepTarget> {
    match program.request(Request::StepTargets { thread: None }) {
        Ok(Reply::StepTargets(targets)) => targets,
        other => panic!("{other:?}"),
    }
}

/// The names of the calls that are offered.
#[track_caller]
fn offered(program: &Debuggee<'_>) -> Vec<String> {
    let offered = targets(program).into_iter();
    let offered = offered.filter(|it| it.refused.is_none());
    offered.map(|it| it.name).collect()
}

/// The thread is at a statement of `Main` on a marker's line.
#[track_caller]
fn go_back(program: &Debuggee<'_>, marker: &str) {
    for _ in 0..20 {
        let frame = frame(program, None);
        let line = frame.source.as_ref().map(|it| it.line.0);
        let line_of = |marker| Fixture::named(FIXTURE).marker(marker).line;
        if !frame.method.contains("Main(") {
            step(program, StepKind::Out);
        } else if line == Some(line_of(marker)) {
            step(program, StepKind::Over);
        } else {
            let request = Request::Goto {
                thread: None,
                file: None,
                line: host::api::Line(line_of(marker)),
                column: None,
            };
            program.request(request).expect("going back");
            program.settle();
            return;
        }
    }
    panic!("{marker} is not left: {}", describe(&frame(program, None)));
}

/// Goes from a statement into its `index`-th offered call; where that ends, and back.
#[track_caller]
fn check(program: &Debuggee<'_>, marker: &str, index: usize, landing: &str) {
    assert_at(program, FIXTURE, marker);
    let all = targets(program);
    let mut offered = all.iter().filter(|it| it.refused.is_none());
    let target = offered.nth(index).expect("a call");
    program
        .request(Request::StepIntoTarget {
            thread: None,
            call: target.call,
        })
        .unwrap_or_else(|error| panic!("{target:?}: {error}"));
    let stop = program.wait_stop();
    assert_eq!(stop.reasons, [StopReason::Step], "{marker}: {target:?}");
    let wanted = Fixture::named(FIXTURE).marker(landing).line;
    let at = frame(program, None);
    let line = at.source.as_ref().map(|it| it.line.0);
    assert_eq!(
        line,
        Some(wanted),
        "{marker}: into {target:?} is {landing}, not {}",
        describe(&at)
    );
    go_back(program, marker);
}

#[track_caller]
fn run_to(program: &Debuggee<'_>, marker: &str) {
    let request = Request::RunTo(place(FIXTURE, marker));
    program.request(request).expect("running");
    program.wait_stop();
}

#[test]
fn a_step_goes_into_the_call_that_was_chosen_and_over_the_others() {
    let sandbox = Sandbox::new();
    let program = launch_to(&sandbox, FIXTURE, &[], &["nested"]);
    assert_eq!(offered(&program), ["Program.G", "Program.H", "Program.F"]);
    check(&program, "nested", 1, "h");
    check(&program, "nested", 2, "f");
    check(&program, "nested", 0, "g");

    // The same method twice, and thrice.
    run_to(&program, "again");
    let g = "Program.G";
    assert_eq!(offered(&program), [g, g, "Program.F", g]);
    let all = targets(&program);
    for (index, (argument, landing)) in [("1", "g"), ("2", "g"), ("11", "f"), ("3", "g")]
        .into_iter()
        .enumerate()
    {
        let call = all[index].call;
        let request = Request::StepIntoTarget { thread: None, call };
        program.request(request).expect("a step");
        program.wait_stop();
        assert_at(&program, FIXTURE, landing);
        if landing == "g" {
            assert_eq!(argument_a(&program), argument);
        }
        go_back(&program, "again");
    }

    // A call that is not made: the step goes over the statement.
    run_to(&program, "and");
    assert_eq!(offered(&program), ["Program.No", "Program.Yes", g]);
    check(&program, "and", 1, "sum");
    check(&program, "and", 2, "g");
    check(&program, "and", 0, "no");

    run_to(&program, "sum");
    let (new, plus) = ("new Money", "Money.operator +");
    assert_eq!(
        offered(&program),
        [new, new, plus, "Money.implicit operator", plus]
    );
    check(&program, "sum", 3, "implicit");
    check(&program, "sum", 4, "plus");
    check(&program, "sum", 1, "money");

    run_to(&program, "property");
    let (get, set) = ("Square.Side.get", "Square.Side.set");
    assert_eq!(offered(&program), [get, "Square.Area", g, set]);
    check(&program, "property", 0, "side");
    check(&program, "property", 1, "area");
    check(&program, "property", 3, "side");

    run_to(&program, "generic");
    assert_eq!(
        offered(&program),
        [
            "Program.Same<string>",
            "new Box<string>",
            "Box<string>.Get",
            "Program.Same<int>"
        ]
    );
    check(&program, "generic", 2, "get");
    check(&program, "generic", 3, "same");

    run_to(&program, "called");
    assert_eq!(
        offered(&program),
        [g, "Func<int, int>.Invoke", "IShape.Area"]
    );
    check(&program, "called", 1, "twice");
    check(&program, "called", 2, "area");
}

#[test]
fn a_chosen_call_is_found_behind_the_framework_recursion_and_type_initializers() {
    let sandbox = Sandbox::new();
    let program = launch_to(&sandbox, FIXTURE, &[], &["counted"]);
    let g = "Program.G";
    let counted = offered(&program);
    assert_eq!(counted.last().map(String::as_str), Some(g), "{counted:?}");
    check(&program, "counted", counted.len() - 1, "g");

    run_to(&program, "void");
    let fib = "Program.Fib";
    assert_eq!(offered(&program), [fib, fib, "Program.Say"]);
    check(&program, "void", 1, "fib");
    check(&program, "void", 2, "say");

    // The first use of the type runs its initializer inside the call.
    run_to(&program, "lazy");
    assert_eq!(offered(&program), [g, "Lazy.Made"]);
    check(&program, "lazy", 1, "made");

    run_to(&program, "string");
    assert!(offered(&program).contains(&g.to_owned()));
    let index = offered(&program).iter().position(|it| it == g);
    check(&program, "string", index.expect("a call"), "g");

    run_to(&program, "await");
    assert_eq!(offered(&program), ["Program.H", "Program.Later"]);
    check(&program, "await", 1, "later");

    // Nothing here is the user's.
    run_to(&program, "framework");
    let all = targets(&program);
    assert_eq!(all.len(), 2, "{all:?}");
    for target in all {
        let why = target.refused.expect("a reason");
        assert!(why.contains("has no symbols"), "{why}");
        let request = Request::StepIntoTarget {
            thread: None,
            call: target.call,
        };
        assert_eq!(program.refused(request), ErrorCode::NotSupported);
    }
    let unknown = Request::StepIntoTarget {
        thread: None,
        call: 1_000_000,
    };
    assert_eq!(program.refused(unknown), ErrorCode::InvalidParameter);
    program.cont();
    program.expect_exit(0);
}

fn argument_a(program: &Debuggee<'_>) -> String {
    let request = Request::Evaluate(host::api::Evaluate::read("a"));
    match program.request(request) {
        Ok(Reply::Evaluated(mut all)) => all.remove(0).outcome.expect("a value").text,
        other => panic!("{other:?}"),
    }
}
