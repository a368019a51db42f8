//! Ending a session: what becomes of the program and of the programs it started.

use host::api::{Exit, Origin, State, Stream};
use testkit::debuggee::Debuggee;
use testkit::fixtures::Fixture;
use testkit::procfs;
use testkit::sandbox::Sandbox;

const BY_US: i32 = 9;

/// A launched program that waits for a child of its own, which sleeps; the child's pid.
fn with_child(sandbox: &Sandbox) -> (Debuggee<'_>, u32) {
    let program = sandbox
        .launch("children")
        .args(["/bin/sleep", "1000"])
        .start();
    program.wait_output("child ");
    let text = program.text(Stream::Stdout);
    let child = text.trim().strip_prefix("child ").expect("its pid");
    let child = child.parse().expect("a number");
    (program, child)
}

fn assert_killed_by_us(program: &Debuggee<'_>) {
    let exit = program.wait_exit();
    let expected = Exit::Signal {
        number: BY_US,
        name: "SIGKILL".into(),
        by_debugger: true,
    };
    assert_eq!(exit, expected);
}

#[track_caller]
fn assert_gone(pid: u32) {
    let gone = testkit::eventually(|| match procfs::process(pid) {
        Some(process) if process.state != 'Z' => Err(format!("{process:?}")),
        _ => Ok(()),
    });
    gone.expect("the process is gone");
}

#[test]
fn disconnect_ends_a_launched_program() {
    let sandbox = Sandbox::with_default_tmp();
    let program = sandbox.launch("loops").start();
    program.wait_output("tick 1\n");
    let pid = program.pid();
    let status = program.disconnect(None, false);
    assert_eq!(status.state, State::Exited);
    assert_killed_by_us(&program);
    assert!(!procfs::is_alive(pid));
    // Its output can still be read.
    assert!(
        program
            .text(Stream::Stdout)
            .starts_with("running\ntick 1\n")
    );
}

#[test]
fn disconnect_ends_a_stopped_program() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("loops").start();
    program.wait_output("tick 1\n");
    program.pause();
    program.disconnect(None, false);
    assert_killed_by_us(&program);
}

#[test]
fn disconnect_ends_a_program_at_its_unhandled_exception() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("throws").start();
    program.wait_stop();
    program.disconnect(None, false);
    assert_killed_by_us(&program);
}

#[test]
fn dropped_session_ends_a_launched_program() {
    let sandbox = Sandbox::new();
    for stopped in [false, true] {
        let program = sandbox.launch("loops").start();
        program.wait_output("tick 1\n");
        if stopped {
            program.pause();
        }
        let pid = program.pid();
        drop(program);
        assert!(!procfs::is_alive(pid), "it is gone when the session is");
    }
}

#[test]
fn children_live_on_unless_they_are_to_end() {
    let sandbox = Sandbox::new();
    let (program, child) = with_child(&sandbox);
    program.disconnect(None, false);
    assert!(procfs::is_alive(child));
    procfs::signal(child, rustix::process::Signal::KILL);
    assert_gone(child);
}

#[test]
fn children_end_with_the_program_if_asked_for() {
    let sandbox = Sandbox::new();
    let (program, child) = with_child(&sandbox);
    program.disconnect(None, true);
    assert_gone(child);
}

#[test]
fn children_end_with_a_front_end_that_is_gone() {
    let sandbox = Sandbox::new();
    let (program, child) = with_child(&sandbox);
    drop(program);
    assert_gone(child);
}

#[test]
fn launched_program_can_be_let_go() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("loops").args(["sleep", "1"]).start();
    program.wait_output("tick 1\n");
    let status = program.disconnect(Some(false), false);
    assert_eq!(status.state, State::Detached);
    assert_eq!(status.origin, Some(Origin::Launched));
    let pid = program.pid();
    assert!(procfs::is_alive(pid));
    // Another session may take it.
    let again = sandbox.attach(pid);
    again.pause();
    again.disconnect(None, false);
    drop(again);
    drop(program);
    assert!(procfs::is_alive(pid), "it was let go, so nobody ends it");
    procfs::signal(pid, rustix::process::Signal::KILL);
}

#[test]
fn attached_program_is_ended_if_asked_for() {
    let sandbox = Sandbox::new();
    for stopped in [false, true] {
        let mut bare = sandbox.bare("loops").args(["sleep", "1"]).start();
        bare.line_starting("tick");
        let program = sandbox.attach(bare.pid());
        if stopped {
            program.pause();
        }
        let status = program.disconnect(Some(true), false);
        assert_eq!(status.state, State::Exited);
        let ended = bare.wait();
        let signal = std::os::unix::process::ExitStatusExt::signal(&ended);
        assert_eq!(signal, Some(BY_US));
    }
}

#[test]
fn disconnect_twice_is_harmless() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("loops").start();
    let first = program.disconnect(None, false);
    let second = program.disconnect(Some(true), true);
    assert_eq!(first.exit, second.exit);
    assert_eq!(second.state, State::Exited);
}

#[test]
fn launching_100_times_leaves_everything_as_it_was() {
    let sandbox = Sandbox::with_default_tmp();
    let mut front_end = testkit::frontend::Frontend::start(&sandbox, "front_end_process");
    let dll = Fixture::named("hello").dll();
    let dll = dll.to_str().expect("UTF-8");
    let answer = front_end.ask(&["launch and end", "100", dll, "--exit", "3"]);
    let held: Vec<u64> = answer.split(' ').filter_map(|it| it.parse().ok()).collect();
    let [
        files,
        memory,
        children,
        files_after,
        memory_after,
        children_after,
    ] = held[..]
    else {
        panic!("the front end answered: {answer}");
    };
    assert_eq!(files_after, files);
    assert_eq!((children, children_after), (0, 0), "not even a zombie");
    assert!(
        memory_after < memory + 1024,
        "{memory} KiB became {memory_after} KiB"
    );
}
