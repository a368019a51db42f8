//! Steps from one handler of a delegate to the next.

use std::fmt::Write;

use expect_test::{Expect, expect};
use host::api::{BreakpointId, Request, State, StepKind};
use testkit::sandbox::Sandbox;

use super::walk::{frame, launch_to, step};

/// Steps of one walk.
const MOST: usize = 80;

/// The lines visited from the first stop at a marker until the end of `Main`, by methods.
fn check(from: &str, kind: StepKind, expected: &Expect) {
    let sandbox = Sandbox::new();
    let program = launch_to(&sandbox, "step_handlers", &[], &[from]);
    let only = Request::RemoveBreakpoint(BreakpointId(1));
    program.request(only).expect("removed");
    let (mut visited, mut method) = (String::new(), String::new());
    for _ in 0..MOST {
        let at = frame(&program, None);
        if at.method != method {
            let shown = at.method.split('(').next().unwrap_or_default();
            write!(visited, "\n{shown}").expect("written");
            method = at.method;
        }
        let line = at.source.map_or(0, |it| it.line.0);
        write!(visited, " {line}").expect("written");
        step(&program, kind);
        if program.status().state == State::Exited {
            break;
        }
    }
    visited.push('\n');
    expected.assert_eq(&visited);
    program.expect_exit(0);
}

#[test]
fn steps_over_go_from_each_handler_to_the_next_and_back_to_who_called() {
    check(
        "first",
        StepKind::Over,
        &expect![[r#"

            Program.First 11 11
            Program.Main.AnonymousMethod 47
            Program.Own 38
            Program.Second 14 15 16
            Program.First 11
            Program.Main 51 52 53 54 55 56 57 58 59 59 60 60 60 60 61 62 63 64 65
        "#]],
    );
    check(
        "twice",
        StepKind::Over,
        &expect![[r#"

            Program.Twice 18
            Program.Many 24 25 25 25 26 27 28
            Program.Thrice 20
            Program.Main 55 56 57 58 59 59 60 60 60 60 61 62 63 64 65
        "#]],
    );
}

#[test]
fn steps_into_go_from_each_handler_to_the_next_and_back_to_who_called() {
    check(
        "first",
        StepKind::Into,
        &expect![[r#"

            Program.First 11
            Program.Add 36
            Program.First 11 11
            Program.Add 36
            Program.First 11
            Program.Main.AnonymousMethod 47
            Program.Own 38
            Program.Add 36
            Program.Own 38
            Program.Second 14 15
            Program.Add 36
            Program.Second 15 16
            Program.First 11
            Program.Add 36
            Program.First 11
            Program.Main 51 52 53 54 55
            Program.Twice 18
            Program.Many 24 25 25 25 26 27 28
            Program.Thrice 20
            Program.Twice 18
            Program.Thrice 20
            Program.Main 55 56 57 58 59 59
            Program.First 11
            Program.Add 36
            Program.First 11
            Program.Throws 41
            Program.Main 60 60 60 60 61 62 63
            Program.Later 31 32
            Program.Add 36
            Program.Later 32 33 34
            Program.Second 14 15
            Program.Add 36
            Program.Second 15 16
            Program.Main 63 64 65
        "#]],
    );
}

#[test]
fn a_step_out_of_a_handler_ends_with_who_called() {
    check(
        "later",
        StepKind::Out,
        &expect![[r#"

        Program.Later 32
        Program.Main 63
    "#]],
    );
    check(
        "first",
        StepKind::Out,
        &expect![[r#"

            Program.First 11
            Program.Main 51
        "#]],
    );
    check(
        "second",
        StepKind::Out,
        &expect![[r#"

            Program.Second 15
            Program.Main 51
        "#]],
    );
}
