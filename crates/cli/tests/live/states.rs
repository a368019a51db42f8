//! The state that every reply tells, stops and their names, and what is refused in which state.

use std::fs::File;
use std::path::PathBuf;

use host::api::{ErrorCode, Event, Request, State, StopId, StopReason};
use testkit::debuggee::{Debuggee, LaunchResult};
use testkit::sandbox::Sandbox;

const STACK: Request = Request::Stack {
    thread: None,
    start: 0,
    count: 10,
};
const DISCONNECT: Request = Request::Disconnect {
    terminate: None,
    children: false,
};

#[test]
fn pause_and_continue_alternate_many_times() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("loops").args(["sleep", "1"]).start();
    program.wait_output("tick 1\n");
    for round in 1..=100 {
        let stop = program.pause();
        assert_eq!(stop.id, StopId(round), "every stop has a name of its own");
        assert_eq!(stop.reasons, [StopReason::Pause]);
        assert!(stop.thread.is_some());
        let status = program.cont();
        assert_eq!(status.state, State::Running);
        assert_eq!(status.resumes, round);
        assert_eq!(status.stop, None);
    }
    program.wait_more_output();
}

#[test]
fn paused_program_does_not_run() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("loops").args(["sleep", "1"]).start();
    program.wait_output("tick 5\n");
    program.pause();
    let told = program.events().len();
    // What was in the pipe is read; then nothing comes, however often we ask.
    program.output();
    let end = program.status().output_end;
    for _ in 0..200 {
        assert_eq!(program.status().state, State::Stopped);
    }
    assert!(
        program.status().output_end.0 <= end.0 + 64,
        "at most a tick under way"
    );
    assert!(program.events().len() <= told + 1);
    program.cont();
    program.wait_more_output();
}

#[test]
fn pause_works_in_a_tight_loop() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("loops").args(["spin"]).start();
    program.wait_output("running\n");
    for _ in 0..20 {
        program.pause();
        program.cont();
    }
}

#[test]
fn pause_works_in_a_tight_loop_of_optimised_code() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("spin_optimized").start();
    program.wait_output("spinning\n");
    for _ in 0..20 {
        program.pause();
        program.cont();
    }
    assert_eq!(program.status().state, State::Running);
}

#[test]
fn pause_works_in_an_endless_sleep() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("loops").args(["silent", "1000000"]).start();
    program.wait_output("running\n");
    program.pause();
    program.cont();
    program.pause();
}

#[test]
fn pause_works_in_a_read_of_standard_input() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("hello").args(["--stdin"]).start();
    program.wait_output("folder: ");
    program.pause();
    program.stdin("typed while it was stopped\n");
    program.cont();
    program.wait_output("read: typed while it was stopped\n");
    program.close_stdin();
    program.expect_exit(0);
}

#[test]
fn second_pause_is_the_same_stop() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("loops").args(["sleep", "1"]).start();
    program.wait_output("tick 1\n");
    let first = program.pause();
    assert_eq!(program.pause(), first);
    // One continue is enough: the program runs again.
    program.cont();
    program.wait_more_output();
}

#[test]
fn pause_while_the_program_starts_stops_it_when_it_is_there() {
    let sandbox = Sandbox::new();
    let (program, launch, gate) = slow_start(&sandbox);
    let Ok(host::api::Reply::Status(status)) = program.request(Request::Pause) else {
        panic!("pause is answered while the program starts")
    };
    assert_eq!(status.state, State::Starting);
    gate.open();
    launch.join().expect("no panic").expect("it starts");
    let stop = program.wait_stop();
    assert_eq!(stop.reasons, [StopReason::Pause]);
    program.cont();
    program.expect_exit(0);
}

#[test]
fn status_is_answered_while_the_program_starts() {
    let sandbox = Sandbox::new();
    let (program, launch, gate) = slow_start(&sandbox);
    let status = program.status();
    assert_eq!(status.state, State::Starting);
    assert_eq!(status.stop, None);
    for request in [Request::Continue, STACK] {
        assert_eq!(program.refused(request), ErrorCode::NoSession);
    }
    gate.open();
    launch.join().expect("no panic").expect("it starts");
    program.expect_exit(0);
}

#[test]
fn disconnect_while_the_program_starts_ends_it() {
    let sandbox = Sandbox::new();
    let (program, launch, gate) = slow_start(&sandbox);
    let let_go = Request::Disconnect {
        terminate: Some(false),
        children: false,
    };
    assert_eq!(program.refused(let_go), ErrorCode::NoSession);
    let status = program.disconnect(None, false);
    assert_eq!(status.state, State::Exited, "{status:?}");
    let error = launch.join().expect("no panic").expect_err("given up");
    assert_eq!(error.code, ErrorCode::LaunchFailed, "{error:?}");
    drop(gate);
}

#[test]
fn front_end_that_leaves_while_the_program_starts_ends_it() {
    let sandbox = Sandbox::new();
    let (program, launch, gate) = slow_start(&sandbox);
    // The launch holds a handle to the session too: it is answered first.
    program.request(DISCONNECT).expect("answered");
    assert!(launch.join().expect("no panic").is_err());
    drop(program);
    sandbox.assert_clean();
    drop(gate);
}

#[test]
fn pause_and_status_are_answered_during_a_long_wait() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("loops").args(["silent", "1000000"]).start();
    program.wait_output("running\n");
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| program.wait_stop());
        assert_eq!(program.status().state, State::Running);
        let stop = program.pause();
        assert_eq!(
            waiter.join().expect("no panic"),
            stop,
            "the waiter is woken by it"
        );
    });
}

#[test]
fn disconnect_ends_a_long_wait() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("loops").args(["silent", "1000000"]).start();
    program.wait_output("running\n");
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| program.wait_exit());
        let status = program.disconnect(None, false);
        assert_eq!(Some(waiter.join().expect("no panic")), status.exit);
    });
}

#[test]
fn requests_before_a_program_are_refused() {
    let sandbox = Sandbox::new();
    let program = Debuggee::start(&sandbox).expect("a host");
    assert_eq!(program.status().state, State::Starting);
    for request in [Request::Continue, Request::Pause, STACK, DISCONNECT] {
        assert_eq!(program.refused(request), ErrorCode::NoSession);
    }
}

#[test]
fn requests_that_need_a_stop_are_refused_while_it_runs() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("loops").start();
    program.wait_output("tick 1\n");
    for request in [Request::Continue, STACK] {
        assert_eq!(program.refused(request), ErrorCode::NotStopped);
    }
    assert_eq!(program.status().state, State::Running);
}

#[test]
fn requests_after_the_end_are_refused() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("hello").start();
    program.expect_exit(0);
    for request in [Request::Continue, Request::Pause, STACK] {
        assert_eq!(program.refused(request), ErrorCode::Exited);
    }
    // The output can still be read, and disconnecting is no error.
    program.wait_output("bye\n");
    let status = program.disconnect(None, true);
    assert_eq!(status.state, State::Exited);
    assert_eq!(status.exit, Some(host::api::Exit::Code(0)));
}

#[test]
fn requests_after_letting_go_are_refused() {
    let sandbox = Sandbox::new();
    let mut bare = sandbox.bare("loops").start();
    bare.line_starting("tick");
    let program = sandbox.attach(bare.pid());
    let status = program.disconnect(None, false);
    assert_eq!(status.state, State::Detached);
    for request in [Request::Continue, Request::Pause, STACK] {
        assert_eq!(program.refused(request), ErrorCode::NoSession);
    }
    program.wait_event(|event| matches!(event, Event::Detached(_)));
    bare.assert_ticks();
    bare.kill();
}

#[test]
fn debugger_break_stops_the_program() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("breaks").start();
    for round in 1..=3 {
        let stop = program.wait_stop();
        assert_eq!(stop.reasons, [StopReason::DebuggerBreak]);
        assert_eq!(stop.id, StopId(round));
        program.cont();
    }
    program.expect_exit(0);
}

/// Holds a starting program back before its runtime is loaded: a fifo that .NET's host wants to write its trace to.
struct Gate(PathBuf);

impl Gate {
    /// Lets the program go on.
    fn open(self) {
        std::thread::spawn(move || {
            let mut trace = File::open(&self.0).expect("a fifo");
            std::io::copy(&mut trace, &mut std::io::sink()).expect("a fifo can be drained");
        });
    }
}

/// Begins a launch that waits at a gate.
fn slow_start(sandbox: &Sandbox) -> (Debuggee<'_>, LaunchResult, Gate) {
    let fifo = sandbox.folder().join("trace");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::RWXU).expect("a fifo");
    let launch = sandbox
        .launch("hello")
        .env("COREHOST_TRACE", "1")
        .env("COREHOST_TRACEFILE", &fifo);
    let (program, launch) = launch.begin().expect("a host");
    let at_the_gate = testkit::eventually(|| {
        let processes = sandbox.processes();
        let started = processes.iter().any(|it| it.command.contains("hello.dll"));
        started.then_some(()).ok_or(format!("{processes:?}"))
    });
    at_the_gate.expect("the program's process is there");
    (program, launch, Gate(fifo))
}
