//! However the prompt ends, nothing is left: no host, no program that was launched, no frozen one that was attached to.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use rustix::process::Signal;
use testkit::procfs;
use testkit::sandbox::Sandbox;

use crate::person::Person;

#[test]
fn terminal_that_is_gone_leaves_nothing() {
    let sandbox = Sandbox::new();
    // At the prompt, and while the program runs.
    let mut person = Person::debugs(&sandbox, &["spin"]);
    person.is_asked();
    let status = person.hangs_up();
    assert_eq!(status.code(), Some(129), "{status:?}");
    sandbox.assert_clean();
    let mut person = Person::debugs(&sandbox, &["spin"]);
    person.is_asked();
    person.types("c\n");
    person.sees("spinning");
    let status = person.hangs_up();
    assert_eq!(status.code(), Some(129), "{status:?}");
    sandbox.assert_clean();
}

#[test]
fn killed_prompt_leaves_nothing() {
    let sandbox = Sandbox::new();
    for (signal, code) in [(Signal::TERM, Some(143)), (Signal::KILL, None)] {
        let mut person = Person::debugs(&sandbox, &["spin"]);
        person.is_asked();
        person.types("c\n");
        person.sees("spinning");
        procfs::signal(person.child.id(), signal);
        let (_, status) = person.sees_the_end();
        assert_eq!(status.code(), code, "{status:?}");
        sandbox.assert_clean();
    }
}

#[test]
fn attached_program_runs_on_when_the_prompt_is_killed() {
    let sandbox = Sandbox::new();
    let program = sandbox.bare("loops").start();
    program.line_starting("running");
    let pid = program.pid().to_string();
    let mut person = Person::starts(&sandbox, &["attach", &pid], |_| {});
    let text = person.is_asked();
    assert!(text.contains("The program stopped: paused"), "{text}");
    person.types("\u{4}");
    let text = person.is_asked();
    assert!(text.contains("lets the program run on"), "{text}");
    procfs::signal(person.child.id(), Signal::KILL);
    person.sees_the_end();
    program.assert_ticks();
}

#[test]
fn script_whose_host_is_killed_fails() {
    let sandbox = Sandbox::new();
    let mut command = crate::batch(&sandbox, &["continue"], &["spin"]);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut prompt = command.spawn().expect("ndbg starts");
    let mut output = BufReader::new(prompt.stdout.take().expect("a pipe")).lines();
    let spins = |line: &Result<String, _>| line.as_ref().is_ok_and(|it| it.contains("spinning"));
    assert!(output.any(|line| spins(&line)), "the program runs");
    let hosts = procfs::children(prompt.id());
    let [host] = &*hosts else {
        panic!("one host: {hosts:?}");
    };
    procfs::signal(host.pid, Signal::KILL);
    // Until it is closed: what is said last must have its reader.
    output.for_each(drop);
    let status = prompt.wait().expect("it ends");
    assert_eq!(status.code(), Some(125), "{status:?}");
    sandbox.assert_clean();
}
