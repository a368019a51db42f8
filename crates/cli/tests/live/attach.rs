//! Attaching to programs that run, and letting go of them as they were.

use host::api::{
    BreakpointSpec, ErrorCode, Event, Exit, Line, Origin, Place, Request, State, StopReason,
    ThreadId,
};
use rustix::process::Signal;
use testkit::bare::Bare;
use testkit::fixtures::Fixture;
use testkit::frontend::Frontend;
use testkit::procfs;
use testkit::sandbox::Sandbox;

/// A program that ticks every millisecond.
fn ticking(sandbox: &Sandbox) -> Bare {
    let bare = sandbox.bare("loops").args(["sleep", "1"]).start();
    bare.line_starting("tick");
    bare
}

#[test]
fn attached_program_is_paused_continued_and_left_running() {
    let sandbox = Sandbox::with_default_tmp();
    let bare = ticking(&sandbox);
    let program = sandbox.attach(bare.pid());
    let status = program.status();
    assert_eq!(status.state, State::Running);
    assert_eq!(status.origin, Some(Origin::Attached));
    assert!(
        status
            .program
            .expect("a command line")
            .contains("loops.dll sleep 1")
    );
    assert!(status.runtime.is_some());
    bare.assert_ticks();
    assert_eq!(program.pause().reasons, [StopReason::Pause]);
    program.cont();
    bare.assert_ticks();
    assert_eq!(program.disconnect(None, false).state, State::Detached);
    drop(program);
    bare.assert_ticks();
}

#[test]
fn stopped_program_runs_on_when_it_is_let_go() {
    let sandbox = Sandbox::new();
    let bare = ticking(&sandbox);
    let program = sandbox.attach(bare.pid());
    program.pause();
    assert_eq!(program.disconnect(None, false).state, State::Detached);
    bare.assert_ticks();
    // The same when the session is just dropped.
    let program = sandbox.attach(bare.pid());
    program.pause();
    drop(program);
    bare.assert_ticks();
}

#[test]
fn frozen_threads_run_again_when_the_program_is_let_go() {
    let sandbox = Sandbox::new();
    let bare = ticking(&sandbox);
    for asked in [true, false] {
        let program = sandbox.attach(bare.pid());
        program.pause();
        let thread = ThreadId(bare.pid());
        let frozen = program.request(Request::Freeze {
            thread,
            frozen: true,
        });
        assert!(frozen.is_ok(), "{frozen:?}");
        program.cont();
        if asked {
            assert_eq!(program.disconnect(None, false).state, State::Detached);
        }
        drop(program);
        bare.assert_ticks();
    }
}

#[test]
fn threads_that_meet_breakpoints_and_throw_run_on_when_the_program_is_let_go() {
    let sandbox = Sandbox::new();
    // Without the fast memory layer the library is too slow to keep up with eight threads that throw: docs/promises.md.
    let is_fast = std::env::var("NDBG_FAST_MEMORY").as_deref() != Ok("0");
    let mode = if is_fast { "throws" } else { "quiet" };
    let bare = sandbox.bare("left_alone").args([mode]).start();
    bare.line_starting("tick");
    for round in 0..3 {
        let program = sandbox.attach(bare.pid());
        let marker = Fixture::named("left_alone").marker("hot");
        let mut hot = BreakpointSpec::at(Place::Line {
            file: marker.file.to_string_lossy().into_owned(),
            line: Line(marker.line),
            column: None,
        });
        match round % 3 {
            // Passed by while nobody stops.
            0 => hot.log_message = Some("came by".into()),
            // Stops, with others about to.
            1 => {}
            // Nothing but exceptions.
            _ => hot.enabled = false,
        }
        let logs = hot.log_message.is_some();
        program.request(Request::SetBreakpoint(hot)).expect("set");
        if logs {
            program.wait_event(|it| matches!(it, Event::Trace(_)));
        } else if round % 3 == 1 {
            program.wait_stop();
        }
        assert_eq!(program.disconnect(None, false).state, State::Detached);
        drop(program);
        assert!(bare.is_alive(), "round {round}");
        bare.assert_ticks();
    }
}

#[test]
fn program_can_be_attached_to_again_and_again() {
    let sandbox = Sandbox::new();
    let bare = ticking(&sandbox);
    for round in 0..10 {
        let program = sandbox.attach(bare.pid());
        if round % 2 == 0 {
            program.pause();
        }
        drop(program);
    }
    bare.assert_ticks();
}

#[test]
fn attach_and_detach_200_times_leaves_everything_as_it_was() {
    let sandbox = Sandbox::with_default_tmp();
    let bare = ticking(&sandbox);
    let pid = bare.pid();
    let mut front_end = Frontend::start(&sandbox, "front_end_process");
    front_end.ask(&["attach and detach", "5", &pid.to_string()]);
    let (program_files, program_threads) = (procfs::open_files(pid), procfs::threads(pid));
    let answer = front_end.ask(&["attach and detach", "200", &pid.to_string()]);
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
    assert_eq!((files_after, children_after), (files, children));
    assert_eq!(children, 0, "no host is left, not even as a zombie");
    assert!(
        memory_after < memory + 1024,
        "{memory} KiB became {memory_after} KiB"
    );
    // The runtime forgets to close its two pipe ends each time that somebody leaves: a debugger, or before it one who
    // only asks whether the runtime is free. Nothing else grows in the program.
    assert!(procfs::open_files(pid) <= program_files + 4 * 200);
    assert!(procfs::threads(pid) <= program_threads);
    bare.assert_ticks();
}

#[test]
fn second_debugger_is_refused_and_the_first_goes_on() {
    let sandbox = Sandbox::new();
    let bare = ticking(&sandbox);
    let first = sandbox.attach(bare.pid());
    let (code, error) = sandbox.attach_refused(bare.pid());
    assert_eq!(code, ErrorCode::AlreadyDebugged, "{error:?}");
    assert!(error.hint.is_some());
    first.pause();
    let (code, error) = sandbox.attach_refused(bare.pid());
    assert_eq!(code, ErrorCode::AlreadyDebugged, "{error:?}");
    first.cont();
    bare.assert_ticks();
    drop(first);
    sandbox.attach(bare.pid());
    bare.assert_ticks();
}

#[test]
fn of_debuggers_that_come_at_once_one_is_taken_and_the_program_is_not_harmed() {
    let sandbox = Sandbox::new();
    let bare = ticking(&sandbox);
    let pid = bare.pid();
    for _ in 0..3 {
        let attached: Vec<_> = std::thread::scope(|scope| {
            let attach = || sandbox.try_attach(pid);
            let tries: Vec<_> = (0..3).map(|_| scope.spawn(attach)).collect();
            let tries = tries.into_iter().map(|it| it.join().expect("no panic"));
            tries.collect()
        });
        let (taken, refused): (Vec<_>, Vec<_>) = attached.into_iter().partition(Result::is_ok);
        assert_eq!(taken.len(), 1, "{refused:?}");
        for error in refused.into_iter().filter_map(Result::err) {
            assert_eq!(error.code, ErrorCode::AlreadyDebugged, "{error:?}");
        }
        bare.assert_ticks();
        drop(taken);
        bare.assert_ticks();
    }
}

#[test]
fn launched_program_takes_no_second_debugger() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("loops").start();
    program.wait_output("tick 1\n");
    let (code, error) = sandbox.attach_refused(program.pid());
    assert_eq!(code, ErrorCode::AlreadyDebugged, "{error:?}");
    program.wait_more_output();
}

#[test]
fn attached_program_that_ends_is_told_with_its_code() {
    let sandbox = Sandbox::new();
    let mut bare = sandbox.bare("waits").args(["7"]).start();
    bare.line_starting("waiting");
    let program = sandbox.attach(bare.pid());
    bare.let_go();
    let exit = program.wait_exit();
    assert_eq!(bare.wait().code(), Some(7));
    // Kernels before 6.15 do not tell the code of a process that is not ours.
    assert!(
        matches!(exit, Exit::Code(7) | Exit::Unknown { .. }),
        "{exit:?}"
    );
}

#[test]
fn unhandled_exception_of_an_attached_program_stops_it() {
    let sandbox = Sandbox::new();
    let mut bare = sandbox.bare("waits").args(["throw"]).start();
    bare.line_starting("waiting");
    let program = sandbox.attach(bare.pid());
    bare.let_go();
    let stop = program.wait_stop();
    assert_eq!(stop.reasons, [StopReason::UnhandledException]);
    assert!(stop.exception.is_some_and(|it| it.unhandled));
    program.cont();
    program.wait_exit();
    let status = bare.wait();
    assert_eq!(
        std::os::unix::process::ExitStatusExt::signal(&status),
        Some(6)
    );
}

#[test]
fn pid_that_does_not_exist_is_refused() {
    let sandbox = Sandbox::new();
    // Larger than any pid the kernel hands out.
    for pid in [0, 5_000_000, u32::MAX] {
        let (code, error) = sandbox.attach_refused(pid);
        assert_eq!(code, ErrorCode::ProcessNotFound, "{pid}: {error:?}");
        assert!(error.hint.is_some());
    }
}

#[test]
fn process_without_a_runtime_is_refused() {
    let sandbox = Sandbox::new();
    let (code, error) = sandbox.attach_refused(std::process::id());
    assert_eq!(code, ErrorCode::NotDotnet, "{error:?}");
    assert!(error.hint.is_some());
}

#[test]
fn session_whose_attach_failed_can_try_another_process() {
    let sandbox = Sandbox::new();
    let bare = ticking(&sandbox);
    let program = testkit::debuggee::Debuggee::start(&sandbox).expect("a host");
    let attach = |pid| {
        program.request(host::api::Request::Attach(host::api::Attach::to(
            host::api::ProcessId(pid),
        )))
    };
    assert!(attach(5_000_000).is_err());
    assert_eq!(program.status().pid, None);
    attach(bare.pid()).expect("attached");
    assert_eq!(program.status().pid, Some(host::api::ProcessId(bare.pid())));
}

#[test]
fn frozen_process_is_refused_in_bounded_time_and_left_as_it_was() {
    let sandbox = Sandbox::new();
    let bare = ticking(&sandbox);
    procfs::signal(bare.pid(), Signal::STOP);
    let (code, error) = sandbox.attach_refused(bare.pid());
    assert_eq!(code, ErrorCode::AttachFailed, "{error:?}");
    procfs::signal(bare.pid(), Signal::CONT);
    bare.assert_ticks();
    drop(sandbox.attach(bare.pid()));
    bare.assert_ticks();
}

#[test]
fn program_that_is_suspended_while_it_is_let_go_is_not_harmed() {
    let sandbox = Sandbox::new();
    let bare = ticking(&sandbox);
    for _ in 0..8 {
        let program = sandbox.attach(bare.pid());
        let disconnect = host::api::Request::Disconnect {
            terminate: None,
            children: false,
        };
        let sent = program.session().send(disconnect, &[]).expect("a host");
        // Before it, in the middle of it or after it: that is not for us to choose.
        procfs::signal(bare.pid(), Signal::STOP);
        if let Err(error) = sent.wait(testkit::deadline()) {
            assert!(error.message.contains("suspended"), "{error}");
        }
        procfs::signal(bare.pid(), Signal::CONT);
        drop(program);
        bare.assert_ticks();
    }
    drop(sandbox.attach(bare.pid()));
    bare.assert_ticks();
}

#[test]
fn suspended_program_is_let_go_when_it_runs_again_and_can_be_attached_to() {
    let sandbox = Sandbox::new();
    let bare = ticking(&sandbox);
    for stopped in [false, true] {
        let program = sandbox.attach(bare.pid());
        if stopped {
            program.pause();
        }
        procfs::signal(bare.pid(), Signal::STOP);
        let suspended = testkit::eventually(|| match procfs::process(bare.pid()) {
            Some(process) if process.state == 'T' => Ok(()),
            other => Err(format!("{other:?}")),
        });
        suspended.expect("SIGSTOP stops it");
        // Asked to let go, the debugger says what to do.
        let error = program
            .request(host::api::Request::Disconnect {
                terminate: None,
                children: false,
            })
            .expect_err("it cannot answer");
        assert!(error.message.contains("suspended"), "{error}");
        let hint = error.hint.expect("a next step");
        assert!(hint.contains("kill -CONT"), "{hint}");
        // Its debugger leaves all the same.
        drop(program);
        let (code, error) = sandbox.attach_refused(bare.pid());
        assert_eq!(code, ErrorCode::AttachFailed, "{error:?}");
        assert!(error.hint.is_some_and(|hint| hint.contains("kill -CONT")));
        procfs::signal(bare.pid(), Signal::CONT);
        bare.assert_ticks();
        drop(sandbox.attach(bare.pid()));
        bare.assert_ticks();
    }
}
