//! A program that is killed while it starts, or while a debugger attaches to it: told at once, and always in the same
//! words, whatever the debugger was doing with it at that moment.

use std::fs;
use std::time::{Duration, Instant};

use host::api::{Attach, Error, ErrorCode, Event, Exit, ProcessId, Reply, Request, State};
use rustix::process::Signal;
use testkit::debuggee::Debuggee;
use testkit::procfs;
use testkit::sandbox::Sandbox;

/// The runtime's library waits for a dead program for ten seconds; who asks is answered long before.
const PROMPT: Duration = Duration::from_secs(7);

/// Where the program is killed in the middle of the attach is not for us to choose: earlier, in it, or right after it.
/// Most tries are in it, and then no other is needed; of all the same is expected.
const TRIES: u32 = 6;

/// Waits, without a pause, until the host is busy attaching.
fn await_attaching(host: u32) {
    let deadline = Instant::now() + testkit::PATIENCE;
    while Instant::now() < deadline {
        let threads = fs::read_dir(format!("/proc/{host}/task")).into_iter();
        let mut names = threads
            .flatten()
            .flatten()
            .map(|it| fs::read_to_string(it.path().join("comm")));
        if names.any(|name| name.is_ok_and(|name| name.trim() == "attach")) {
            return;
        }
    }
    panic!("the host never attached");
}

fn killed() -> Exit {
    Exit::Signal {
        number: 9,
        name: "SIGKILL".into(),
        by_debugger: false,
    }
}

/// What is told of a program that was killed: with a refusal if it was early, else as its end. Whether it was refused.
#[track_caller]
fn assert_told(program: &Debuggee<'_>, answer: Result<Reply, Error>, code: ErrorCode) -> bool {
    assert_eq!(program.wait_end_told(), killed(), "{answer:?}");
    assert_eq!(program.status().state, State::Exited);
    let ends = program.events();
    let ends = ends.iter().filter(|it| matches!(it, Event::Exited(_)));
    assert_eq!(ends.count(), 1);
    let Err(error) = answer else {
        return false;
    };
    assert_eq!(error.code, code, "{error:?}");
    assert!(error.message.contains("was ended by SIGKILL"), "{error:?}");
    assert!(error.hint.is_some(), "{error:?}");
    true
}

#[test]
fn host_killed_while_its_program_starts_leaves_nothing_and_says_what_became_of_it() {
    for _ in 0..TRIES {
        let sandbox = Sandbox::with_default_tmp();
        let (program, launch) = sandbox.launch("loops").begin().expect("a host");
        program.status();
        let host = program.host_pid();
        let pid = testkit::eventually(|| {
            let children = procfs::children(host);
            let started = children.iter().find(|it| it.command.contains("loops"));
            started.map(|it| it.pid).ok_or("no process".to_owned())
        })
        .expect("the program is started");
        sandbox.note(pid);
        procfs::signal(host, Signal::KILL);
        // It may have come to its end just before.
        if let Err(error) = launch.join().expect("no panic") {
            assert_eq!(error.code, ErrorCode::HostDied, "{error}");
            assert!(
                error.message.contains("the launched program was ended"),
                "{error}"
            );
        }
        drop(program);
        sandbox.assert_clean();
    }
}

#[test]
fn program_killed_while_it_starts_is_told_at_once_with_its_signal() {
    let sandbox = Sandbox::with_default_tmp();
    // Before it has a runtime.
    let (program, launch) = sandbox.launch("loops").begin().expect("a host");
    program.status();
    let host = program.host_pid();
    let pid = testkit::eventually(|| {
        let children = procfs::children(host);
        let started = children.iter().find(|it| it.command.contains("loops"));
        started.map(|it| it.pid).ok_or("no process".to_owned())
    })
    .expect("the program is started");
    sandbox.note(pid);
    procfs::signal(pid, Signal::KILL);
    let answer = launch.join().expect("no panic");
    assert_told(&program, answer, ErrorCode::LaunchFailed);
    drop(program);
    // While the library attaches: suspended, so that it cannot answer, and then killed.
    for _ in 0..TRIES {
        let program = Debuggee::start(&sandbox).expect("a host");
        // Answered: the host runs.
        program.status();
        let host = program.host_pid();
        let request = sandbox.launch("loops").request();
        let answer = std::thread::scope(|scope| {
            let launch = scope.spawn(|| {
                let deadline = Instant::now() + PROMPT;
                program.session().request(request, deadline)
            });
            await_attaching(host);
            let child = procfs::children(host).pop().expect("the program").pid;
            procfs::signal(child, Signal::STOP);
            sandbox.note(child);
            procfs::signal(child, Signal::KILL);
            launch.join().expect("no panic")
        });
        let refused = assert_told(&program, answer, ErrorCode::LaunchFailed);
        drop(program);
        sandbox.assert_clean();
        if refused {
            break;
        }
    }
}

#[test]
fn program_killed_while_a_debugger_attaches_is_told_at_once_with_its_signal() {
    let sandbox = Sandbox::new();
    for _ in 0..TRIES {
        // It is not reaped: the kernel tells everybody how it ended.
        let bare = sandbox.bare("loops").args(["sleep", "1"]).start();
        bare.line_starting("tick");
        let program = Debuggee::start(&sandbox).expect("a host");
        // Answered: the host runs.
        program.status();
        let host = program.host_pid();
        let request = Request::Attach(Attach::to(ProcessId(bare.pid())));
        let answer = std::thread::scope(|scope| {
            let attach = scope.spawn(|| {
                let deadline = Instant::now() + PROMPT;
                program.session().request(request, deadline)
            });
            await_attaching(host);
            procfs::signal(bare.pid(), Signal::STOP);
            procfs::signal(bare.pid(), Signal::KILL);
            attach.join().expect("no panic")
        });
        if assert_told(&program, answer, ErrorCode::AttachFailed) {
            break;
        }
    }
}
