//! How programs end, and what is told of it.

use host::api::{Exit, StopReason, Stream};
use testkit::sandbox::Sandbox;

fn signal(number: i32, name: &str) -> Exit {
    Exit::Signal {
        number,
        name: name.into(),
        by_debugger: false,
    }
}

fn end(arguments: &[&str]) -> Exit {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch("exits")
        .args(arguments.iter().copied())
        .start();
    program.wait_exit()
}

#[test]
fn exit_code_is_the_one_returned_from_main() {
    assert_eq!(end(&["return", "5"]), Exit::Code(5));
    assert_eq!(end(&["return", "0"]), Exit::Code(0));
}

#[test]
fn exit_code_is_the_one_of_environment_exit() {
    assert_eq!(end(&["exit", "6"]), Exit::Code(6));
    assert_eq!(end(&["thread-exit", "8"]), Exit::Code(8));
}

#[test]
fn exit_code_is_what_the_system_keeps_of_it() {
    // One byte, as for every process.
    assert_eq!(end(&["return", "-1"]), Exit::Code(255));
    assert_eq!(end(&["exit", "256"]), Exit::Code(0));
}

#[test]
fn signal_that_ends_the_program_is_told() {
    assert_eq!(end(&["signal", "9"]), signal(9, "SIGKILL"));
    assert_eq!(end(&["signal", "10"]), signal(10, "SIGUSR1"));
}

#[test]
fn fail_fast_ends_by_sigabrt_and_its_words_are_captured() {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch("exits")
        .args(["failfast", "the boiler is broken"])
        .start();
    let exit = loop {
        // A runtime may report the failure as an exception first.
        if let Some(exit) = program.settle_exit() {
            break exit;
        }
        program.cont();
    };
    assert_eq!(exit, signal(6, "SIGABRT"));
    assert_eq!(exit.shell_code(), Some(134));
    assert!(
        program
            .text(Stream::Stderr)
            .contains("the boiler is broken")
    );
}

#[test]
fn unhandled_exception_stops_and_then_ends_as_it_would_without_a_debugger() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("throws").start();
    let stop = program.wait_stop();
    assert_eq!(stop.reasons, [StopReason::UnhandledException]);
    let exception = stop.exception.expect("the exception is told");
    assert!(exception.unhandled);
    assert!(stop.thread.is_some());
    assert_eq!(program.text(Stream::Stdout), "before\norder 1: 10\n");
    program.cont();
    let exit = program.wait_exit();
    assert_eq!(exit, signal(6, "SIGABRT"));
    assert_eq!(exit.shell_code(), Some(134));
    assert!(
        program
            .text(Stream::Stderr)
            .contains("OrderException: order 2 failed")
    );
}
