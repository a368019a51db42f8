//! The fixtures do by themselves what they say: whatever goes wrong later is the debugger's.

use std::{
    io::{BufRead, BufReader, Write},
    os::unix::process::ExitStatusExt,
    process::{Output, Stdio},
};

use testkit::fixtures::{Fixture, runtime_version};

fn run(fixture: &Fixture, arguments: &[&str]) -> Output {
    fixture
        .command()
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("dotnet starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

#[test]
fn hello_shows_arguments_environment_input_and_exit_code() {
    let fixture = Fixture::named("hello");
    let mut child = fixture
        .command()
        .args([
            "--env", "GREETING", "--stdin", "--error", "oops", "--exit", "7", "a b", "",
        ])
        .env("GREETING", "hi")
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("dotnet starts");
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(b"one\ntwo\n").expect("hello reads");
    drop(stdin);
    let output = child.wait_with_output().expect("hello ends");
    let expected = format!(
        "hello from .NET {}\nGREETING=hi\narguments: 2\n  [a b]\n  []\nfolder: /\n\
         read: one\nread: two\nend of input\nbye\n",
        runtime_version().0
    );
    assert_eq!(stdout(&output), expected);
    assert_eq!(output.stderr, b"oops\n");
    assert_eq!(output.status.code(), Some(7));
}

#[test]
fn apphost_runs_like_the_dll() {
    let fixture = Fixture::named("hello");
    let apphost = fixture
        .apphost()
        .expect("every .NET with an SDK has a template");
    let output = std::process::Command::new(apphost)
        .envs(testkit::fixtures::dotnet_environment())
        .arg("x")
        .output()
        .expect("apphost starts");
    assert_eq!(output.stdout, run(&fixture, &["x"]).stdout);
}

#[test]
fn old_runtime_runs_its_own_copies() {
    let Some(fixture) = Fixture::old("hello") else {
        // Not set up: a .NET of the user's own was found.
        return;
    };
    let output = run(&fixture, &["--exit", "3"]);
    assert!(stdout(&output).starts_with("hello from .NET 3\n"));
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn throws_aborts_with_inner_exception() {
    let output = run(&Fixture::named("throws"), &[]);
    assert_eq!(stdout(&output), "before\norder 1: 10\n");
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(
        stderr.contains("OrderException: order 2 failed"),
        "{stderr}"
    );
    assert!(stderr.contains("System.DivideByZeroException"), "{stderr}");
    assert_eq!(output.status.signal(), Some(6));
}

#[test]
fn loops_ticks_until_killed() {
    let mut child = Fixture::named("loops")
        .command()
        .args(["sleep", "1"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("dotnet starts");
    let stdout = child.stdout.take().expect("piped");
    let lines = BufReader::new(stdout).lines().take(4);
    let lines: Result<Vec<_>, _> = lines.collect();
    child.kill().expect("still runs");
    let status = child.wait().expect("ends");
    assert_eq!(
        lines.expect("UTF-8"),
        ["running", "tick 1", "tick 2", "tick 3"]
    );
    assert_eq!(status.signal(), Some(9));
}

#[test]
fn burst_writes_exactly_what_is_asked() {
    let fixture = Fixture::named("burst");
    let text = run(&fixture, &["3"]);
    assert_eq!(text.stdout.len(), 3 << 20);
    assert!(stdout(&text).ends_with(&format!("{:.<63}\n", "line 49151")));
    let binary = run(&fixture, &["1", "binary"]);
    assert_eq!(binary.stdout.len(), 1 << 20);
    assert!(String::from_utf8(binary.stdout).is_err());
    let both = run(&fixture, &["1", "both"]);
    assert_eq!((both.stdout.len(), both.stderr.len()), (1 << 20, 1 << 20));
}

#[test]
fn exits_ends_in_every_way() {
    let fixture = Fixture::named("exits");
    let end = |arguments: &[&str]| {
        let status = run(&fixture, arguments).status;
        (status.code(), status.signal())
    };
    assert_eq!(end(&["return", "5"]), (Some(5), None));
    assert_eq!(end(&["exit", "6"]), (Some(6), None));
    assert_eq!(end(&["thread-exit", "8"]), (Some(8), None));
    assert_eq!(end(&["failfast", "broken"]), (None, Some(6)));
    assert_eq!(end(&["throw"]), (None, Some(6)));
    assert_eq!(end(&["signal", "9"]), (None, Some(9)));
    // Up to .NET 9 the runtime handles SIGTERM itself and exits in good order.
    let terminated = match runtime_version() {
        version if version < (10, 0) => (Some(143), None),
        _ => (None, Some(15)),
    };
    assert_eq!(end(&["signal", "15"]), terminated);
}

#[test]
fn async_and_top_level_mains_return_their_codes() {
    let output = run(&Fixture::named("async_main"), &[]);
    assert_eq!(stdout(&output), "start\nsum 12\nafter yield\n");
    assert_eq!(output.status.code(), Some(12));
    let output = run(&Fixture::named("toplevel"), &["x"]);
    assert_eq!(stdout(&output), "top level\none argument\n");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn children_passes_the_exit_code_on() {
    let hello = Fixture::named("hello");
    let dotnet = hello.dotnet_root().join("dotnet");
    let dll = hello.dll();
    let (dotnet, dll) = (
        dotnet.to_str().expect("UTF-8"),
        dll.to_str().expect("UTF-8"),
    );
    let output = run(&Fixture::named("children"), &[dotnet, dll, "--exit", "4"]);
    let text = stdout(&output);
    assert!(
        text.contains("bye\n") && text.contains("child exited with 4\n"),
        "{text}"
    );
    assert_eq!(output.status.code(), Some(4));
}

#[test]
fn programs_find_the_libraries_they_refer_to() {
    let output = run(&Fixture::named("uses_library"), &[]);
    assert_eq!(stdout(&output), "length 8\n");
    assert_eq!(output.status.code(), Some(8));
    let output = run(&Fixture::named("web"), &[]);
    assert_eq!(stdout(&output), "4.50\n");
}

#[test]
fn demo_shop_fails_at_its_bug() {
    let output = run(&Fixture::named("demo_shop"), &[]);
    let expected = "The shop opens.\nOrder 1 for Ada: 18.90\nOrder 2 for Grace: 20.40\n";
    assert_eq!(stdout(&output), expected);
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(stderr.contains("System.FormatException"), "{stderr}");
    assert_eq!(output.status.signal(), Some(6));
}

#[test]
fn demo_stock_is_wrong_and_does_not_know_it() {
    let output = run(&Fixture::named("demo_stock"), &[]);
    let expected = "Ada wants 2 tea: sold\nHappy hour: tea is 10 % off.\nGrace wants 1 cup: sold\nEdsger wants 6 tea: sold out\n";
    assert_eq!(stdout(&output), expected);
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn markers_name_lines_of_the_source() {
    let fixture = Fixture::named("toplevel");
    let marker = fixture.marker("first");
    assert_eq!(
        Some(marker.file.as_path()),
        fixture.sources().first().map(|p| p.as_path())
    );
    let text = std::fs::read_to_string(&marker.file).expect("source");
    let line = text.lines().nth(marker.line as usize - 1).expect("line");
    assert!(line.starts_with("Console.WriteLine"), "{line}");
    assert!(fixture.pdb().is_some());
}
