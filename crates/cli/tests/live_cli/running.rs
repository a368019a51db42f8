//! `ndbg run`: the program's own streams, arguments, signals and exit code, and its unhandled exception explained.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal};
use testkit::fixtures::Fixture;
use testkit::procfs;
use testkit::sandbox::Sandbox;
use testkit::terminal::Terminal;

use crate::{Ran, ndbg, run, run_fixture, wait};

#[test]
fn exit_code_is_the_programs_own() {
    let sandbox = Sandbox::new();
    for (arguments, code) in [
        (["return", "5"], 5),
        (["exit", "6"], 6),
        (["thread-exit", "8"], 8),
        (["return", "0"], 0),
        (["return", "-1"], 255),
    ] {
        let ran = Ran::of(run(&sandbox, "exits", &arguments));
        assert_eq!(ran.code, Some(code), "{ran:?}");
        assert_eq!(ran.stdout, format!("ending by {}\n", arguments[0]));
        assert_eq!(ran.stderr, "");
    }
}

#[test]
fn signal_that_ends_the_program_is_128_plus_its_number() {
    let sandbox = Sandbox::new();
    for (signal, code) in [("9", 137), ("15", 143)] {
        let ran = Ran::of(run(&sandbox, "exits", &["signal", signal]));
        assert_eq!(ran.code, Some(code), "{ran:?}");
        assert_eq!(ran.stderr, "");
    }
    let ran = Ran::of(run(&sandbox, "exits", &["failfast", "broken"]));
    assert_eq!(ran.code, Some(134), "{ran:?}");
}

#[test]
fn unhandled_exception_is_explained_and_the_program_ends_as_it_would() {
    let fixture = Fixture::named("throws");
    explains_the_exception(&fixture);
    if let Some(old) = Fixture::old("throws") {
        explains_the_exception(&old);
    }
}

#[track_caller]
fn explains_the_exception(fixture: &Fixture) {
    let sandbox = Sandbox::new();
    let ran = Ran::of(run_fixture(&sandbox, fixture, &[]));
    assert_eq!(ran.code, Some(134), "{ran:?}");
    // Standard output holds the program's bytes only.
    assert_eq!(ran.stdout, "before\norder 1: 10\n");
    let stderr = &ran.stderr;
    assert!(
        stderr.starts_with(
            "ndbg: unhandled OrderException: order 2 failed\n  \
             caused by System.DivideByZeroException: Attempted to divide by zero.\n"
        ),
        "{stderr}"
    );
    // The exception that was caught is none of our business.
    assert_eq!(stderr.matches("ndbg: ").count(), 1, "{stderr}");
    for (method, marker, text) in [
        (
            "ProcessOrder(int id)",
            "throw_outer",
            "throw new OrderException(",
        ),
        (
            "ProcessOrders(int count)",
            "process_orders",
            "ProcessOrder(id);",
        ),
        ("Main()", "main", "ProcessOrders(3);"),
    ] {
        let marker = fixture.marker(marker);
        let frame = format!(
            "  at Program.{method} in {}:{}\n      {text}",
            marker.file.display(),
            marker.line
        );
        assert!(stderr.contains(&frame), "no {frame:?} in:\n{stderr}");
    }
    // Then the runtime tells it in its own words.
    assert!(
        stderr.contains("Unhandled exception. OrderException"),
        "{stderr}"
    );
}

#[test]
fn exception_that_was_thrown_again_is_told_from_where_it_was_thrown_first() {
    let sandbox = Sandbox::new();
    let fixture = Fixture::named("exception_kinds");
    let ran = Ran::of(run_fixture(&sandbox, &fixture, &["async_void"]));
    assert_eq!(ran.code, Some(134), "{ran:?}");
    let thrown = fixture.marker("throw");
    let place = format!(" in {}:{}\n", thrown.file.display(), thrown.line);
    // Before the runtime says it.
    let ours = ran.stderr.split("Unhandled exception.").next();
    let ours = ours.expect("a first part");
    let first = ours.find(&place);
    let again = ours.find("  and was thrown again\n  at System.");
    assert!(first.is_some() && first < again, "{}", ran.stderr);
}

#[test]
fn failed_assertion_is_told() {
    let sandbox = Sandbox::new();
    let fixture = Fixture::named("exception_kinds");
    let ran = Ran::of(run_fixture(&sandbox, &fixture, &["assert"]));
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "after\n"));
    let failed = fixture.marker("assert");
    let expected = format!(
        "ndbg: assertion failed: seven arguments\n  there are fewer\n  at Program.Main(string[] args) in {}:{}\n",
        failed.file.display(),
        failed.line
    );
    assert!(ran.stderr.starts_with(&expected), "{}", ran.stderr);
    let goes_on = "without a debugger it would end here\n";
    assert!(ran.stderr.ends_with(goes_on), "{}", ran.stderr);
}

#[test]
fn exception_thrown_in_main_is_explained() {
    let sandbox = Sandbox::new();
    let ran = Ran::of(run(&sandbox, "exits", &["throw"]));
    assert_eq!(ran.code, Some(134), "{ran:?}");
    let expected = "ndbg: unhandled System.InvalidOperationException: thrown as asked\n";
    assert!(ran.stderr.starts_with(expected), "{}", ran.stderr);
}

#[test]
fn debugger_break_does_not_hold_the_program() {
    let sandbox = Sandbox::new();
    let bare = Fixture::named("breaks")
        .command()
        .output()
        .expect("it runs");
    let ran = Ran::of(run(&sandbox, "breaks", &[]));
    assert_eq!(ran.code, bare.status.code(), "{ran:?}");
    assert_eq!(ran.stdout.as_bytes(), bare.stdout);
}

#[test]
fn standard_input_reaches_the_program() {
    let sandbox = Sandbox::new();
    let mut command = run(&sandbox, "hello", &["--stdin", "--exit", "4"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("ndbg starts");
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(b"one\ntwo\n").expect("the program reads");
    drop(stdin);
    let ran = Ran::from(child.wait_with_output().expect("ndbg ends"));
    assert!(
        ran.stdout
            .ends_with("read: one\nread: two\nend of input\nbye\n"),
        "{ran:?}"
    );
    assert_eq!(ran.code, Some(4));
}

#[test]
fn output_passes_byte_for_byte() {
    let sandbox = Sandbox::new();
    let bare = Fixture::named("burst")
        .command()
        .args(["4", "binary"])
        .output()
        .expect("it runs");
    let under = run(&sandbox, "burst", &["4", "binary"])
        .output()
        .expect("ndbg starts");
    assert_eq!(under.status.code(), Some(0));
    assert!(
        under.stdout == bare.stdout,
        "{} bytes differ",
        under.stdout.len()
    );
    assert_eq!(under.stderr, b"");
}

#[test]
fn folder_environment_and_arguments_are_as_asked() {
    let sandbox = Sandbox::new();
    let options = ["run", "--cwd", "/", "--env", "GREETING=a=b", "-e", "LANG"];
    let mut command = ndbg(&sandbox, options);
    command
        .env("LANG", "C")
        .arg(Fixture::named("hello").dll())
        .args(["--env", "GREETING", "--env", "LANG", "", "$(id) x"]);
    let ran = Ran::of(command);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let expected = "GREETING=a=b\nLANG=(unset)\narguments: 2\n  []\n  [$(id) x]\nfolder: /\nbye\n";
    assert!(ran.stdout.ends_with(expected), "{ran:?}");
}

#[test]
fn apphost_runs_like_its_dll() {
    let sandbox = Sandbox::new();
    let apphost = Fixture::named("hello")
        .apphost()
        .expect("every SDK brings a template");
    let mut command = ndbg(&sandbox, ["run"]);
    command.arg(apphost).args(["--exit", "9"]);
    let ran = Ran::of(command);
    assert_eq!(ran.code, Some(9), "{ran:?}");
    assert!(ran.stdout.ends_with("bye\n"), "{ran:?}");
}

/// Starts a program that runs for ever and waits until it does; ndbg leads a process group of its own.
fn start_loop(sandbox: &Sandbox) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut command: Command = run(sandbox, "loops", &["sleep", "20"]);
    command
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().expect("ndbg starts");
    let mut output = BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    while !line.starts_with("tick") {
        line.clear();
        output.read_line(&mut line).expect("the program prints");
        assert!(!line.is_empty(), "the program ended");
    }
    // Noted, so that what they leave is looked for at the end.
    sandbox.processes();
    (child, output)
}

#[test]
fn control_c_reaches_the_program_and_its_code_is_told() {
    let sandbox = Sandbox::new();
    let (mut child, _output) = start_loop(&sandbox);
    // What a terminal does: the signal goes to every process of the foreground group.
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let group = group.expect("a process has a number");
    rustix::process::kill_process_group(group, Signal::INT).expect("our own group");
    assert_eq!(wait(&mut child).code(), Some(130));
}

#[test]
fn program_has_the_terminal() {
    let sandbox = Sandbox::new();
    let mut command = at_a_terminal(run(&sandbox, "hello", &["--stdin", "--exit", "5"]));
    let mut user = Terminal::open(80).give_to(&mut command);
    let mut child = command.spawn().expect("ndbg starts");
    drop(command);
    user.sees("folder: ");
    user.types("one\n");
    user.sees("read: one");
    // Ctrl-D ends the input.
    user.types("\u{4}");
    user.sees("bye");
    assert_eq!(wait(&mut child).code(), Some(5));
}

#[test]
fn control_c_at_a_terminal_is_the_programs() {
    let sandbox = Sandbox::new();
    let mut command = at_a_terminal(run(&sandbox, "loops", &["sleep", "20"]));
    let mut user = Terminal::open(80).give_to(&mut command);
    let mut child = command.spawn().expect("ndbg starts");
    drop(command);
    user.sees("tick 1\n");
    user.types("\u{3}");
    assert_eq!(wait(&mut child).code(), Some(130));
    let rest = user.sees_to_the_end();
    assert!(!rest.contains("error"), "{rest}");
}

/// The same command as the leader of a session whose terminal its standard input is, as a login shell is.
fn at_a_terminal(inner: Command) -> Command {
    let mut command = Command::new("setsid");
    command
        .args(["--ctty", "--wait"])
        .arg(inner.get_program())
        .args(inner.get_args());
    for (name, value) in inner.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    command
}

#[test]
fn terminating_ndbg_ends_the_program_in_order() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129)] {
        let sandbox = Sandbox::new();
        let (mut child, _output) = start_loop(&sandbox);
        procfs::signal(child.id(), signal);
        assert_eq!(wait(&mut child).code(), Some(code));
        sandbox.assert_clean();
    }
}

#[test]
fn interrupting_ndbg_without_a_terminal_interrupts_the_program() {
    let sandbox = Sandbox::new();
    let (mut child, _output) = start_loop(&sandbox);
    procfs::signal(child.id(), Signal::INT);
    assert_eq!(wait(&mut child).code(), Some(130));
    sandbox.assert_clean();
}

#[test]
fn killing_ndbg_ends_the_program() {
    let sandbox = Sandbox::new();
    let (mut child, _output) = start_loop(&sandbox);
    child.kill().expect("our own child");
    wait(&mut child);
    sandbox.assert_clean();
}

#[test]
fn host_that_is_killed_takes_the_program_and_its_children_with_it() {
    let sandbox = Sandbox::new();
    let loops = Fixture::named("loops");
    let dotnet = loops.dotnet_root().join("dotnet");
    let arguments = [dotnet, loops.dll()].map(|it| it.display().to_string());
    let arguments = [&arguments[0], &arguments[1], "sleep", "20"];
    let mut command = run(&sandbox, "children", &arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("ndbg starts");
    let mut output = BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    while !line.starts_with("tick") {
        line.clear();
        output
            .read_line(&mut line)
            .expect("the program's child prints");
        assert!(!line.is_empty(), "the program ended");
    }
    let host = procfs::children(child.id())
        .into_iter()
        .find(|it| it.command.contains("host"));
    procfs::signal(host.expect("a host").pid, Signal::KILL);
    assert_eq!(wait(&mut child).code(), Some(125));
    // Not a moment later: it has waited for their ends.
    let left: Vec<_> = sandbox.processes();
    assert!(left.is_empty(), "{left:?}");
    sandbox.assert_clean();
}
