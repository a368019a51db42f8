//! Steps: the lines that a whole program visits.

use std::fmt::Write;

use expect_test::{Expect, expect};
use host::api::{Reply, Request, State, StepKind};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

/// `method: the source line` of the innermost frame.
fn here(program: &Debuggee<'_>) -> String {
    let Ok(Reply::Stack { frames, .. }) = program.request(Request::Stack {
        thread: None,
        start: 0,
        count: 1,
    }) else {
        panic!("no stack")
    };
    let frame = frames.first().expect("a frame");
    let text = frame.source.as_ref().map(|source| {
        let text = std::fs::read_to_string(&source.path).expect("the source");
        let line = text
            .lines()
            .nth(source.line.0 as usize - 1)
            .unwrap_or_default()
            .trim();
        line.split("//@")
            .next()
            .unwrap_or_default()
            .trim_end()
            .to_owned()
    });
    format!("{}: {}", frame.method, text.as_deref().unwrap_or("?"))
}

/// Walks a program from the first line of `Main` to its end, or for `limit` steps.
#[track_caller]
fn check(fixture: &str, kind: StepKind, limit: u32, expected: &Expect) {
    let sandbox = Sandbox::new();
    let program = sandbox.launch(fixture).stop_at_entry().start();
    program.wait_stop();
    let mut visited = String::new();
    for step in 0..=limit {
        writeln!(visited, "{}", here(&program)).expect("written");
        if step == limit {
            break;
        }
        program
            .request(Request::Step { thread: None, kind })
            .expect("stepping");
        program.settle();
        let status = program.status();
        if status.state == State::Exited {
            writeln!(visited, "exit {:?}", status.exit.expect("how it ended")).expect("written");
            break;
        }
    }
    expected.assert_eq(&visited);
}

#[test]
fn over_walks_the_statements_of_one_method() {
    check(
        "toplevel",
        StepKind::Over,
        40,
        &expect![[r#"
        Program.Main(string[] args): Console.WriteLine("top level");
        Program.Main(string[] args): int count = args.Length;
        Program.Main(string[] args): Console.WriteLine(Describe(count));
        Program.Main(string[] args): return count;
        exit Code(0)
    "#]],
    );
}

#[test]
fn into_enters_the_users_methods_and_no_others() {
    check(
        "toplevel",
        StepKind::Into,
        40,
        &expect![[r#"
        Program.Main(string[] args): Console.WriteLine("top level");
        Program.Main(string[] args): int count = args.Length;
        Program.Main(string[] args): Console.WriteLine(Describe(count));
        Program.Main.Describe(int n): {
        Program.Main.Describe(int n): return n == 1 ? "one argument" : $"{n} arguments";
        Program.Main.Describe(int n): }
        Program.Main(string[] args): Console.WriteLine(Describe(count));
        Program.Main(string[] args): return count;
        exit Code(0)
    "#]],
    );
}
