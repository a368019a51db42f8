//! Scripts: every command, its text, and the exit codes.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use expect_test::expect_file;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::{Ran, batch, debug, normal};

/// A script in which places are told by marker: `@add` is the line of `//@add`.
fn script(text: &str) -> String {
    let fixture = Fixture::named("terminal");
    let mut script = String::new();
    for line in text.lines() {
        let line = line.split(' ').map(|word| match word.strip_prefix('@') {
            Some(marker) => format!("terminal.cs:{}", fixture.marker(marker).line),
            None => word.to_owned(),
        });
        script += &line.collect::<Vec<_>>().join(" ");
        script.push('\n');
    }
    script
}

/// The script with each command above what it shows.
fn told(script: &str) -> String {
    let mut told = String::new();
    for line in script.lines() {
        told += &format!("echo (ndbg) {line}\n{line}\n");
    }
    told
}

#[test]
fn every_command_says_what_it_did() {
    let sandbox = Sandbox::new();
    let file = sandbox.folder().join("script");
    let text = script(include_str!("script.ndbg"));
    fs::write(&file, told(&text)).expect("the sandbox takes files");
    let file = file.to_str().expect("a plain path");
    let ran = Ran::of(debug(&sandbox, &["--batch", "-x", file], &["fail"]));
    // What the program writes to standard error is written there.
    assert_eq!(ran.stderr, "caught\n");
    expect_file!["script.txt"].assert_eq(&normal(&ran.stdout));
    assert_eq!(ran.code, Some(5), "{}", ran.stdout);
}

#[test]
fn exit_codes_are_the_programs_own_or_say_what_failed() {
    let sandbox = Sandbox::new();
    let cases: &[(&[&str], i32)] = &[
        (&["continue"], 15),
        (&["run"], 15),
        (&["break Total", "run"], 0),
        (&["quit 7"], 7),
        (&["continue", "quit"], 15),
        (&["source /no/such/script"], 123),
        (&["brake Total", "continue"], 123),
        (&["print nothing"], 123),
    ];
    for (commands, code) in cases {
        let ran = Ran::of(batch(&sandbox, commands, &[]));
        assert_eq!(ran.code, Some(*code), "{commands:?}: {ran:?}");
        assert_eq!(ran.stderr.is_empty(), *code != 123, "{ran:?}");
    }
    // A program that can only abort counts as one that did.
    let throws = Fixture::named("throws").dll();
    let throws = throws.to_str().expect("a plain path");
    for (program, code) in [("/no/such.dll", 127), ("/etc/passwd", 126), (throws, 134)] {
        let mut command = debug(&sandbox, &["--batch"], &[]);
        command = {
            let mut other = std::process::Command::new(command.get_program());
            other.args(["debug", "--batch", "--ex", "run", program]);
            other.stdin(Stdio::null());
            crate::surround(&sandbox, &mut other);
            other
        };
        let ran = Ran::of(command);
        assert_eq!(ran.code, Some(code), "{ran:?}");
        let failed = ran.stderr.starts_with("error: ");
        assert_eq!(failed, code != 134, "{ran:?}");
    }
}

#[test]
fn temporary_breakpoint_leaves_others_as_they_are_and_methods_are_listed() {
    let sandbox = Sandbox::new();
    let line = Fixture::named("terminal").marker("add").line;
    let commands = [
        &format!("break terminal.cs:{line} if item.Price == 5"),
        &format!("tbreak terminal.cs:{line}"),
        "info breakpoints",
        "echo ----",
        "continue",
        "print item.Price",
        "info breakpoints",
        "echo ----",
        "continue",
        "print item.Price",
        "echo ----",
        "list Total",
        "list Till.Program.Fail(string)",
        "break Fail",
    ];
    let ran = Ran::of(batch(&sandbox, &commands, &[]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let parts: Vec<_> = ran.stdout.split("----\n").collect();
    assert_eq!(parts[0].matches("temporary").count(), 2, "{ran:?}");
    assert!(parts[1].contains("Price: int = 3"), "{ran:?}");
    assert!(parts[1].contains("item.Price == 5"), "{ran:?}");
    assert!(!parts[1].contains("temporary"), "{ran:?}");
    assert!(parts[2].contains("Price: int = 5"), "{ran:?}");
    assert!(parts[3].contains("static int Total("), "{ran:?}");
    assert!(parts[3].contains("static void Fail("), "{ran:?}");
    // Looking for a method uses up no number.
    assert!(parts[3].contains("Breakpoint 3 at Fail"), "{ran:?}");
}

#[test]
fn breakpoint_with_a_condition_stands_beside_one_without() {
    let sandbox = Sandbox::new();
    let line = Fixture::named("terminal").marker("add").line;
    let commands = [
        &format!("break terminal.cs:{line}"),
        &format!("break terminal.cs:{line} if item.Price == 5"),
        &format!("break terminal.cs:{line}"),
        "info breakpoints",
        "delete 1",
        "continue",
        "print item.Price",
        "x/2xw items",
    ];
    let ran = Ran::of(batch(&sandbox, &commands, &[]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(
        ran.stdout.matches("It was there before").count(),
        1,
        "{ran:?}"
    );
    assert!(!ran.stdout.contains("Breakpoint 3"), "{ran:?}");
    assert!(ran.stdout.contains("Price: int = 5"), "{ran:?}");
    let words = ran.stdout.lines().last().unwrap_or_default();
    assert_eq!(words.matches(" 0x").count(), 2, "{ran:?}");
    let ran = Ran::of(batch(&sandbox, &["catch if 1"], &[]));
    assert!(ran.stderr.contains("true or false"), "{ran:?}");
}

#[test]
fn files_and_commands_are_obeyed_in_the_order_given() {
    let sandbox = Sandbox::new();
    let file = sandbox.folder().join("script");
    fs::write(&file, "# a comment\n\necho two\n").expect("the sandbox takes files");
    let file = file.to_str().expect("a plain path");
    let options = [
        "--batch",
        "--ex",
        "echo one",
        "-x",
        file,
        "--ex",
        "echo three",
    ];
    let ran = Ran::of(debug(&sandbox, &options, &[]));
    assert!(ran.stdout.ends_with("one\ntwo\nthree\n"), "{ran:?}");
    fs::write(file, "echo first\nnonsense\necho never\n").expect("the sandbox takes files");
    let ran = Ran::of(debug(&sandbox, &["--batch", "-x", file], &[]));
    assert_eq!(ran.code, Some(123));
    let said = format!("error: {file}:2: there is no command \"nonsense\"\n");
    assert!(ran.stderr.starts_with(&said), "{ran:?}");
    assert!(ran.stdout.ends_with("first\n"), "{ran:?}");
    fs::write(file, format!("source {file}\n")).expect("the sandbox takes files");
    let ran = Ran::of(debug(&sandbox, &["--batch", "-x", file], &[]));
    assert!(ran.stderr.contains("16 scripts call each other"), "{ran:?}");
}

#[test]
fn commands_come_from_a_pipe_and_input_from_standard_input() {
    let sandbox = Sandbox::new();
    let piped = |options: &[&str], arguments: &[&str], text: &str| {
        let mut command = debug(&sandbox, options, arguments);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("ndbg starts");
        let mut stdin = child.stdin.take().expect("piped");
        stdin.write_all(text.as_bytes()).expect("ndbg reads");
        drop(stdin);
        Ran::from(child.wait_with_output().expect("ndbg ends"))
    };
    let ran = piped(&[], &["ask"], "input Bob\ncontinue\n");
    assert!(ran.stdout.contains("name? hello Bob\n"), "{ran:?}");
    assert_eq!(ran.code, Some(15), "{ran:?}");
    let ran = piped(&["--batch", "--ex", "continue"], &["ask"], "Ada\n");
    assert!(ran.stdout.contains("name? hello Ada\n"), "{ran:?}");
    // The end of the input is the program's, too.
    let ran = piped(&["--batch", "--ex", "continue"], &["ask"], "");
    assert!(ran.stdout.contains("name? hello \n"), "{ran:?}");
    let ran = piped(&["--batch"], &["ask"], "eof\nc\n");
    assert!(ran.stdout.contains("name? hello \n"), "{ran:?}");
    // A program that is started again has the same input: what is left of it, and its end.
    let again = &["--batch", "--ex", "run ask", "--ex", "run"];
    let ran = piped(again, &["ask"], "Ada\n");
    let greetings = ran.stdout.matches("name? hello ").count();
    assert!(ran.stdout.contains("name? hello Ada\n"), "{ran:?}");
    assert_eq!((greetings, ran.code), (2, Some(15)), "{ran:?}");
    // Only the first start waits at the entry, and is shown there.
    let entries = ran.stdout.matches("at the entry").count();
    assert_eq!(entries, 1, "{ran:?}");
    // Of several stops that are passed by only the last is shown.
    let ran = Ran::of(batch(&sandbox, &["break Total", "continue 2"], &[]));
    assert!(ran.stdout.matches("breakpoint 1").count() <= 1, "{ran:?}");
}

#[test]
fn running_program_is_waited_for_and_paused() {
    let sandbox = Sandbox::new();
    let commands = [
        "continue &",
        "wait 0.2",
        "pause",
        "print total",
        "set total = 0",
        "continue",
    ];
    let ran = Ran::of(batch(&sandbox, &commands, &["spin"]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.stdout.contains("\nThe program is still running.\n"),
        "{ran:?}"
    );
    assert!(
        ran.stdout.contains("\nThe program stopped: paused "),
        "{ran:?}"
    );
    assert!(
        ran.stdout.contains("\ntotal: int = 15\ntotal: int = 0\n"),
        "{ran:?}"
    );
}

#[test]
fn attached_program_runs_on() {
    let sandbox = Sandbox::new();
    let program = sandbox.bare("loops").start();
    program.line_starting("running");
    let pid = program.pid().to_string();
    let mut command = std::process::Command::new(testkit::fixtures::ndbg());
    command.args(["attach", &pid, "--batch", "--ex", "bt", "--ex", "input x"]);
    command.stdin(Stdio::null());
    crate::surround(&sandbox, &mut command);
    let ran = Ran::of(command);
    assert_eq!(ran.code, Some(123), "{ran:?}");
    assert!(
        ran.stdout.starts_with("The program stopped: paused"),
        "{ran:?}"
    );
    assert!(ran.stdout.contains("Stack of thread "), "{ran:?}");
    assert!(
        ran.stderr.contains("belongs to whoever started it"),
        "{ran:?}"
    );
    program.assert_ticks();
}
