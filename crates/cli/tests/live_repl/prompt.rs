//! A person at the prompt: steps, looks, completes, repeats, interrupts and leaves.

use std::fs;

use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::person::Person;

#[test]
fn person_breaks_steps_looks_and_leaves() {
    let sandbox = Sandbox::new();
    let mut person = Person::debugs(&sandbox, &["spin"]);
    let text = person.is_asked();
    assert!(text.contains("at the entry of the program"), "{text}");
    assert!(text.contains("Launched "), "{text}");
    // Tab completes methods, then expressions.
    person.types("b Tot\t\n");
    let text = person.is_asked() + &person.is_asked();
    assert!(text.contains("Breakpoint 1 at Total"), "{text}");
    let text = person.asks("c");
    assert!(
        text.contains("The program stopped: at breakpoint 1"),
        "{text}"
    );
    person.types("p ite\t");
    person.sees("items");
    person.types(".Capac\t");
    person.sees("items.Capacity");
    person.types(" > 2\n");
    person.sees("items.Capacity > 2: bool = true");
    person.is_asked();
    // An empty line repeats a step, and only that.
    let text = person.asks("n");
    assert!(text.contains("> 22 |"), "{text}");
    let text = person.asks("");
    assert!(text.contains("> 23 |"), "{text}");
    person.asks("info locals");
    let text = person.asks("");
    assert!(!text.contains("total"), "{text}");
    // Tab completes names of files, those of the program's sources as well.
    let orders = sandbox.folder().join("orders.ndbg");
    fs::write(&orders, "echo obeyed\n").expect("written");
    let half = orders.with_file_name("ord");
    person.types(&format!("source {}\t", half.display()));
    person.sees("orders.ndbg");
    person.types("\n");
    person.sees("obeyed");
    person.is_asked();
    person.types("list termi\t");
    person.sees("terminal.cs");
    person.types(":1\n");
    person.is_asked();
    // Ctrl-C stops the program that runs, and at the prompt does no harm.
    person.types("c\n");
    person.sees("spinning");
    person.types("\u{3}");
    let text = person.is_asked();
    assert!(text.contains("The program stopped: paused"), "{text}");
    person.types("\u{3}");
    person.is_asked();
    // Lines that are pasted together are obeyed one after the other.
    person.types("\u{1b}[200~echo pasted one\necho pasted two\necho three\u{1b}[201~\n");
    let text = person.sees("echo three\nthree\n");
    person.is_asked();
    assert!(text.contains("\npasted one\n"), "{text}");
    assert!(text.contains("echo pasted two\npasted two\n"), "{text}");
    // A slip is answered, and the session goes on.
    let text = person.asks("braek 5");
    assert!(text.contains("did you mean `break`?"), "{text}");
    let text = person.asks("break");
    assert!(text.contains("Breakpoint 2 at "), "{text}");
    let text = person.asks("info lcals");
    assert!(text.contains("did you mean `info locals`?"), "{text}");
    for (command, answer) in [
        ("advance", "say where to"),
        ("frame 99", "there is no frame 99"),
        ("thread 1", "`info threads` lists the threads"),
        ("delete 77", "`info breakpoints` lists the breakpoints"),
        ("condition x", "\"x\" is not the number of a breakpoint"),
        ("print 1 +", "expected"),
        (
            "watch total",
            "the .NET runtime cannot stop when memory changes",
        ),
        ("stepi", "from statement to statement"),
        ("set total", "say what is set to which value"),
        ("un", "un may be until, undisplay, unset"),
    ] {
        let text = person.asks(command);
        assert!(
            text.contains("error: ") && text.contains(answer),
            "{command}: {text}"
        );
    }
    // All breakpoints go only if that is meant.
    person.types("delete\n");
    person.sees("[y/N] ");
    let text = person.asks("n");
    assert!(!text.contains("Removed"), "{text}");
    // The prompt stays while the program runs behind it.
    person.asks("delete 2");
    person.asks("c &");
    let text = person.asks("print total");
    assert!(text.contains("Ctrl-C or `pause` stops it"), "{text}");
    // A line alone is one of the file in which it stopped last.
    let spin = Fixture::named("terminal").marker("end").line;
    let text = person.asks(&format!("b {spin}"));
    assert!(
        text.contains("Breakpoint ") && text.contains("terminal.cs"),
        "{text}"
    );
    let text = person.asks("pause");
    assert!(text.contains("The program stopped: paused"), "{text}");
    person.types("catch InvalidOper\t");
    person.sees("InvalidOperationException");
    person.types("\n");
    person.is_asked();
    person.types("\u{4}");
    let text = person.is_asked();
    assert!(
        text.contains("Ctrl-D again leaves and ends the program."),
        "{text}"
    );
    person.types("\u{4}");
    let (_, status) = person.sees_the_end();
    assert_eq!(status.code(), Some(0));
}

#[test]
fn what_is_typed_while_it_runs_is_its_input_and_lines_are_remembered() {
    let sandbox = Sandbox::new();
    let mut person = Person::debugs(&sandbox, &["ask"]);
    person.is_asked();
    person.types("continue\n");
    person.sees("name? ");
    person.types("Eve\n");
    let text = person.is_asked();
    assert!(
        text.contains("hello Eve\nThe program exited with code 15."),
        "{text}"
    );
    // What is set between two runs is there in the next.
    person.asks("tbreak Total");
    let text = person.asks("run fail");
    assert!(
        text.contains("The program stopped: at breakpoint 1"),
        "{text}"
    );
    person.types("quit 9\n");
    assert_eq!(person.sees_the_end().1.code(), Some(9));
    let history = fs::read_to_string(sandbox.folder().join("state/ndbg/history"));
    let history = history.expect("a history is kept");
    assert_eq!(history, "continue\ntbreak Total\nrun fail\nquit 9\n");
    // The next session finds them, the newest first.
    let mut person = Person::debugs(&sandbox, &[]);
    person.is_asked();
    person.types("\u{1b}[A\u{1b}[A\u{1b}[A");
    person.sees("tbreak Total");
    person.types("\n");
    person.sees("Breakpoint 1 at Total");
    person.is_asked();
    person.types("q\n");
    assert_eq!(person.sees_the_end().1.code(), Some(0));
}

#[test]
fn colours_are_for_those_who_want_them() {
    let sandbox = Sandbox::new();
    for (variable, coloured) in [(None, true), (Some(("NO_COLOR", "1")), false)] {
        let dll = testkit::fixtures::Fixture::named("terminal").dll();
        let arguments = ["debug", dll.to_str().expect("a plain path")];
        let mut person = Person::starts(&sandbox, &arguments, |command| {
            command.envs(variable);
        });
        person.is_asked();
        // Both lines at once: what is typed ahead is not lost.
        person.types("list\nquit\n");
        let (text, status) = person.sees_the_end_in_colours();
        assert_eq!(status.code(), Some(0), "{text}");
        let keyword = "\u{1b}[34mstatic";
        assert!(text.contains("static"), "{text}");
        assert_eq!(text.contains(keyword), coloured, "{text:?}");
    }
}
