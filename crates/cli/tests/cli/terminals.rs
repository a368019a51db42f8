//! At a terminal: tables fit it, and nothing breaks.

use testkit::terminal::Terminal;

use crate::ndbg;

/// What a command shows at a terminal of that width, and its code.
#[track_caller]
fn shown(arguments: &[&str], columns: u16) -> (String, Option<i32>) {
    let mut command = ndbg(arguments);
    let mut user = Terminal::open(columns).give_to(&mut command);
    let mut child = command.spawn().expect("ndbg starts");
    // The command holds the terminal too; its end would never be seen.
    drop(command);
    let text = user.sees_to_the_end();
    (text, child.wait().expect("our own child").code())
}

#[test]
fn every_command_works_at_a_terminal() {
    for (arguments, code) in [
        (&["--help"][..], 0),
        (&["ps"], 0),
        (&["ps", "--json"], 0),
        (&["completions", "bash"], 0),
        (&["run", "/no/such"], 127),
    ] {
        let (text, found) = shown(arguments, 80);
        assert_eq!(found, Some(code), "{arguments:?}:\n{text}");
        assert!(!text.contains("panicked"), "{text}");
    }
}

#[test]
fn doctor_is_coloured_at_a_terminal() {
    let (text, _) = shown(&["doctor"], 80);
    assert!(text.contains("\u{1b}[32mok"), "{text}");
}

#[test]
fn the_list_of_processes_is_as_wide_as_the_terminal() {
    let (text, _) = shown(&["ps"], 30);
    // The heading is there if there is any .NET process on this machine.
    for line in text.lines().filter(|line| line.contains("PID")) {
        assert!(line.chars().count() <= 30, "{line:?}");
    }
}
