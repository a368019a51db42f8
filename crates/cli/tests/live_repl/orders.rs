//! What breakpoints order, threads that are held, and programs that are left or live elsewhere.

use std::fs;

use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;
use testkit::terminal::Terminal;

use crate::person::Person;
use crate::{Ran, batch, debug};

/// The line of a marker, as a place.
fn at(marker: &str) -> String {
    format!(
        "terminal.cs:{}",
        Fixture::named("terminal").marker(marker).line
    )
}

#[test]
fn breakpoints_order_what_is_obeyed_at_their_stops() {
    let sandbox = Sandbox::new();
    let place = format!("break {}", at("add"));
    let told = format!("tbreak {}", at("told"));
    let orders = [
        place.as_str(),
        "commands",
        "silent",
        "print total",
        "continue",
        "print total",
        "end",
        "info breakpoints",
        &told,
        "continue",
        "commands 1",
        "end",
        "info breakpoints",
        "continue",
    ];
    let ran = Ran::of(batch(&sandbox, &orders, &[]));
    assert_eq!(ran.code, Some(15), "{ran:?}");
    // Each stop goes on by itself, in the order of the stops, without being shown.
    let seen =
        "\ntotal: int = 0\ntotal: int = 3\ntotal: int = 8\nThe program stopped: at breakpoint 2";
    assert!(ran.stdout.contains(seen), "{}", ran.stdout);
    let listed = "At stops of 1: silent; print total; continue; print total\n";
    assert_eq!(ran.stdout.matches(listed).count(), 1, "{}", ran.stdout);

    for (commands, expected) in [
        (&["commands"] as &[&str], "there is no breakpoint"),
        (&["break Total", "commands 7"], "there is no breakpoint 7"),
        (
            &["break Total", "commands", "print nothing", "end", "run"],
            "nothing",
        ),
    ] {
        let ran = Ran::of(batch(&sandbox, commands, &[]));
        assert_eq!(ran.code, Some(123), "{ran:?}");
        assert!(ran.stderr.contains(expected), "{ran:?}");
    }
    let file = sandbox.folder().join("script");
    fs::write(&file, "break Total\ncommands\ncontinue\n").expect("the sandbox takes files");
    let file = file.to_str().expect("a plain path");
    let ran = Ran::of(debug(&sandbox, &["--batch", "-x", file], &[]));
    assert!(ran.stderr.contains("`commands` without `end`"), "{ran:?}");
}

#[test]
fn threads_are_held_and_a_program_is_left_to_itself() {
    let sandbox = Sandbox::new();
    let mut person = Person::debugs(&sandbox, &[]);
    person.is_asked();
    let threads = person.asks("info threads");
    let digits = threads.split("hread ").nth(1).expect("a thread");
    let id: String = digits.chars().take_while(char::is_ascii_digit).collect();
    let frozen = person.asks(&format!("freeze {id}"));
    assert!(frozen.contains("frozen"), "{frozen}");
    let thawed = person.asks(&format!("thaw {id}"));
    assert!(!thawed.contains("frozen"), "{thawed}");
    let wrong = person.asks("freeze 1");
    assert!(wrong.contains("thread 1"), "{wrong}");
    let left = person.asks("detach");
    assert!(left.contains("it runs on by itself"), "{left}");
    let gone = person.asks("bt");
    assert!(gone.contains("error: "), "{gone}");
    person.types("quit\n");
    let (_, ended) = person.sees_the_end();
    assert!(ended.success(), "{ended}");
}

#[test]
fn threads_that_wait_for_async_methods_tell_which() {
    let sandbox = Sandbox::new();
    let dll = Fixture::named("async_stacks").dll();
    let mut command = std::process::Command::new(testkit::fixtures::ndbg());
    command.args([
        "debug",
        "--batch",
        "--ex",
        "continue",
        "--ex",
        "info threads",
    ]);
    command.arg(dll).arg("task");
    command.stdin(std::process::Stdio::null());
    crate::surround(&sandbox, &mut command);
    let ran = Ran::of(command);
    let middle = "     waits for Program.Middle() at async_stacks.cs:";
    assert!(ran.stdout.contains(middle), "{}", ran.stdout);
    assert!(!ran.stdout.contains("to be pulsed"), "{}", ran.stdout);
}

#[test]
fn program_uses_another_terminal() {
    let sandbox = Sandbox::new();
    let terminal = Terminal::open(80);
    let options = ["--tty", terminal.name(), "--batch", "--ex", "continue"];
    let ran = Ran::of(debug(&sandbox, &options, &[]));
    assert_eq!(ran.code, Some(15), "{ran:?}");
    assert!(!ran.stdout.contains("total 15"), "{ran:?}");
    let shown = terminal.user().sees_to_the_end();
    assert!(shown.contains("total 15"), "{shown}");

    let options = ["--tty", "/no/such/terminal", "--batch", "--ex", "continue"];
    let ran = Ran::of(debug(&sandbox, &options, &[]));
    assert!(ran.stderr.contains("/no/such/terminal"), "{ran:?}");
    assert_ne!(ran.code, Some(15), "{ran:?}");
}
