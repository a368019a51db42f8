//! Sudden death of a front end, a host or a program, in every order: nobody is left behind, nobody is left frozen
//! that can be helped, and whoever still listens is told.

use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

use host::api::{ErrorCode, Event, Exit, Request, State};
use host::processes::Attachable;
use rustix::process::Signal;
use testkit::bare::Bare;
use testkit::debuggee::Debuggee;
use testkit::fixtures::Fixture;
use testkit::frontend::Frontend;
use testkit::procfs;
use testkit::sandbox::Sandbox;

fn front_end(sandbox: &Sandbox) -> Frontend {
    Frontend::start(sandbox, "front_end_process")
}

fn dll(name: &str) -> String {
    let dll = Fixture::named(name).dll();
    dll.to_str().expect("UTF-8").to_owned()
}

fn ticking(sandbox: &Sandbox) -> Bare {
    let bare = sandbox.bare("loops").args(["sleep", "1"]).start();
    bare.line_starting("tick");
    bare
}

fn launched(sandbox: &Sandbox) -> Debuggee<'_> {
    let program = sandbox.launch("loops").args(["sleep", "1"]).start();
    program.wait_output("tick 1\n");
    program
}

/// What a front end is doing when it dies.
const SITUATIONS: [&[&[&str]]; 4] = [
    // The program runs.
    &[],
    // The program is stopped.
    &[&["pause"]],
    // The program runs again.
    &[&["pause"], &["continue"]],
    // The front end is in a long wait.
    &[&["wait"]],
];

fn prepare(front_end: &mut Frontend, situation: &[&[&str]]) {
    for command in situation {
        match command {
            ["wait"] => front_end.tell(command),
            _ => {
                let answer = front_end.ask(command);
                assert!(answer.starts_with("ok "), "{answer}");
            }
        }
    }
}

#[track_caller]
fn assert_gone(pid: u32) {
    let gone = testkit::eventually(|| match procfs::process(pid) {
        Some(process) => Err(format!("{process:?}")),
        None => Ok(()),
    });
    gone.expect("the process is gone");
}

#[test]
fn front_end_killed_ends_what_it_launched() {
    let sandbox = Sandbox::with_default_tmp();
    for situation in SITUATIONS {
        let mut front_end = front_end(&sandbox);
        let pid = front_end.launch(&dll("loops"), &["sleep", "1"]);
        sandbox.note(pid);
        prepare(&mut front_end, situation);
        assert_eq!(front_end.kill(Signal::KILL).signal(), Some(9));
        assert_gone(pid);
        sandbox.assert_clean();
    }
}

#[test]
fn front_end_killed_lets_go_of_what_it_attached_to() {
    let sandbox = Sandbox::with_default_tmp();
    for situation in SITUATIONS {
        let bare = ticking(&sandbox);
        let mut front_end = front_end(&sandbox);
        front_end.attach(bare.pid());
        let hosts = front_end.hosts();
        assert_eq!(hosts.len(), 1);
        prepare(&mut front_end, situation);
        front_end.kill(Signal::KILL);
        bare.assert_ticks();
        for host in hosts {
            assert_gone(host);
        }
        // As before means: another debugger may come.
        let program = sandbox.attach(bare.pid());
        program.pause();
        drop(program);
        bare.assert_ticks();
    }
}

#[test]
fn front_end_killed_while_it_launches_leaves_nothing() {
    let sandbox = Sandbox::with_default_tmp();
    for _ in 0..5 {
        let mut front_end = front_end(&sandbox);
        front_end.tell(&["launch", &dll("loops"), "sleep", "1"]);
        let host = testkit::eventually(|| front_end.hosts().pop().ok_or("no host".to_owned()));
        host.expect("a host is started");
        front_end.kill(Signal::KILL);
        sandbox.assert_clean();
    }
}

#[test]
fn front_end_killed_while_it_attaches_leaves_the_program_as_it_was() {
    let sandbox = Sandbox::with_default_tmp();
    let bare = ticking(&sandbox);
    for _ in 0..5 {
        let mut front_end = front_end(&sandbox);
        front_end.tell(&["attach", &bare.pid().to_string()]);
        let host = testkit::eventually(|| front_end.hosts().pop().ok_or("no host".to_owned()));
        let host = host.expect("a host is started");
        front_end.kill(Signal::KILL);
        assert_gone(host);
        bare.assert_ticks();
    }
    drop(sandbox.attach(bare.pid()));
    bare.assert_ticks();
}

#[test]
fn front_end_ended_by_a_signal_ends_what_it_launched() {
    let sandbox = Sandbox::new();
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let mut front_end = front_end(&sandbox);
        let pid = front_end.launch(&dll("loops"), &["sleep", "1"]);
        prepare(&mut front_end, &[&["pause"]]);
        front_end.kill(signal);
        assert_gone(pid);
        sandbox.assert_clean();
    }
}

#[test]
fn host_ended_by_a_signal_ends_the_launched_program_in_order() {
    let sandbox = Sandbox::new();
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        for stopped in [false, true] {
            let program = launched(&sandbox);
            if stopped {
                program.pause();
            }
            let pid = program.pid();
            procfs::signal(program.host_pid(), signal);
            let exit = program.wait_end_told();
            assert!(
                matches!(
                    &exit,
                    Exit::Signal {
                        by_debugger: true,
                        ..
                    }
                ),
                "{exit:?}"
            );
            assert_gone(pid);
        }
    }
}

#[test]
fn host_ended_by_a_signal_lets_go_of_the_attached_program() {
    let sandbox = Sandbox::new();
    let bare = ticking(&sandbox);
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        for stopped in [false, true] {
            let program = sandbox.attach(bare.pid());
            if stopped {
                program.pause();
            }
            procfs::signal(program.host_pid(), signal);
            let events = program.wait_event(|event| matches!(event, Event::Detached(_)));
            drop(events);
            drop(program);
            bare.assert_ticks();
        }
    }
}

#[test]
fn host_killed_ends_the_launched_program_and_says_so() {
    let sandbox = Sandbox::with_default_tmp();
    for stopped in [false, true] {
        let program = launched(&sandbox);
        if stopped {
            program.pause();
        }
        let pid = program.pid();
        sandbox.note(pid);
        procfs::signal(program.host_pid(), Signal::KILL);
        let exit = program.wait_end_told();
        assert!(matches!(&exit, Exit::Unknown { .. }), "{exit:?}");
        assert!(!procfs::is_alive(pid));
        let error = program
            .request(Request::Status)
            .expect_err("the host is dead");
        assert_eq!(error.code, ErrorCode::HostDied);
        assert!(error.message.contains("signal 9"), "{error}");
        assert!(error.message.contains("was ended"), "{error}");
        assert!(error.hint.is_some());
    }
}

#[test]
fn host_killed_takes_the_children_of_the_launched_program_with_it() {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch("children")
        .args(["/bin/sleep", "1000"])
        .start();
    program.wait_output("child ");
    procfs::signal(program.host_pid(), Signal::KILL);
    program.wait_exit();
    sandbox.assert_clean();
}

/// Starts a .NET child below a launched program, and waits until its runtime has made its files.
fn wait_for_child_runtime(sandbox: &Sandbox) {
    let sockets = || {
        let files = std::fs::read_dir(sandbox.tmp()).into_iter();
        let names = files.flatten().flatten().map(|it| it.file_name());
        names
            .filter(|it| it.to_string_lossy().starts_with("dotnet-diagnostic-"))
            .count()
    };
    let both = testkit::eventually(|| match sockets() {
        2 => Ok(()),
        count => Err(format!("{count} runtimes")),
    });
    both.expect("the child has a runtime");
}

#[test]
fn host_killed_leaves_nothing_of_a_dotnet_child_of_the_launched_program() {
    let sandbox = Sandbox::new();
    let dotnet = Fixture::named("loops").dotnet_root().join("dotnet");
    let dotnet = dotnet.to_str().expect("UTF-8");
    let child = [dotnet, &dll("loops"), "sleep", "1"];
    let program = sandbox.launch("children").args(child).start();
    wait_for_child_runtime(&sandbox);
    procfs::signal(program.host_pid(), Signal::KILL);
    program.wait_exit();
    sandbox.assert_clean();
    drop(program);
    // Killed together with the front end, the files stay until the next session ends.
    let mut front_end = front_end(&sandbox);
    front_end.launch(&dll("children"), &child);
    wait_for_child_runtime(&sandbox);
    // Those who would tidy up are held first, and killed from below: the system wakes a group that is stopped, and asks it to
    // end, when the last one outside is gone that could let it go on.
    let hosts = front_end.hosts();
    for keeper in hosts.iter().chain([&front_end.pid()]) {
        procfs::signal(*keeper, Signal::STOP);
    }
    let mut run: Vec<_> = sandbox.processes().iter().map(|it| it.pid).collect();
    run.retain(|pid| !hosts.contains(pid) && *pid != front_end.pid());
    for pid in run.iter().chain(&hosts) {
        procfs::signal(*pid, Signal::KILL);
    }
    front_end.kill(Signal::KILL);
    for pid in run.iter().chain(&hosts) {
        assert_gone(*pid);
    }
    wait_for_child_runtime(&sandbox);
    sandbox.launch("loops").start();
    sandbox.assert_clean();
}

#[test]
fn front_end_and_program_killed_together_leave_no_child() {
    let sandbox = Sandbox::new();
    let dotnet = Fixture::named("loops").dotnet_root().join("dotnet");
    let dotnet = dotnet.to_str().expect("UTF-8");
    let child = [dotnet, &dll("loops"), "sleep", "1"];
    let mut front_end = front_end(&sandbox);
    let pid = front_end.launch(&dll("children"), &child);
    wait_for_child_runtime(&sandbox);
    // Both are gone before the host learns of either.
    let hosts = front_end.hosts();
    for host in &hosts {
        procfs::signal(*host, Signal::STOP);
        let held = testkit::eventually(|| match procfs::process(*host) {
            Some(process) if process.state == 'T' => Ok(()),
            other => Err(format!("{other:?}")),
        });
        held.expect("the host is stopped");
    }
    procfs::signal(pid, Signal::KILL);
    let ended = testkit::eventually(|| match procfs::is_alive(pid) {
        true => Err("it lives".to_owned()),
        false => Ok(()),
    });
    ended.expect("the program is killed");
    front_end.kill(Signal::KILL);
    for host in &hosts {
        procfs::signal(*host, Signal::CONT);
    }
    sandbox.assert_clean();
}

#[test]
fn host_killed_while_the_attached_program_runs_is_told_and_the_program_runs_on() {
    let sandbox = Sandbox::new();
    let bare = ticking(&sandbox);
    let program = sandbox.attach(bare.pid());
    procfs::signal(program.host_pid(), Signal::KILL);
    program.wait_event(|event| matches!(event, Event::Detached(_)));
    let status = program.session().status();
    assert_eq!(status.state, State::Detached);
    assert!(
        status
            .notes
            .iter()
            .any(|note| note.contains("freezes at its next debug event")),
        "{:?}",
        status.notes
    );
    assert_eq!(program.refused(Request::Pause), ErrorCode::HostDied);
    bare.assert_ticks();
    // Nobody can help its runtime, and that is told too.
    let (code, error) = sandbox.attach_refused(bare.pid());
    assert_eq!(code, ErrorCode::AlreadyDebugged, "{error:?}");
    assert!(error.hint.is_some());
    // Trying has not harmed it.
    bare.assert_ticks();
}

#[test]
fn host_killed_while_the_attached_program_is_stopped_says_that_it_is_frozen() {
    let sandbox = Sandbox::new();
    let bare = ticking(&sandbox);
    let program = sandbox.attach(bare.pid());
    program.pause();
    procfs::signal(program.host_pid(), Signal::KILL);
    program.wait_event(|event| matches!(event, Event::Detached(_)));
    let error = program.session().died().expect("the host is dead");
    assert_eq!(error.code, ErrorCode::HostDied);
    assert!(error.message.contains("frozen"), "{error}");
    assert!(bare.is_alive(), "it is reported, not killed");
}

#[test]
fn program_whose_debugger_was_killed_is_refused_by_any_other_and_not_harmed() {
    let sandbox = Sandbox::new();
    let bare = ticking(&sandbox);
    // Of another front end: this one knows nothing of it.
    let mut other = front_end(&sandbox);
    other.attach(bare.pid());
    let hosts = other.hosts();
    procfs::signal(*hosts.first().expect("a host"), Signal::KILL);
    other.kill(Signal::KILL);
    for _ in 0..2 {
        let (code, error) = sandbox.attach_refused(bare.pid());
        assert_eq!(code, ErrorCode::AlreadyDebugged, "{error:?}");
        assert!(error.message.contains("was killed"), "{error:?}");
        bare.assert_ticks();
        // Nor is it listed as if it could be.
        let files = procfs::open_files(bare.pid());
        for _ in 0..3 {
            let listed = host::processes::list();
            let listed = listed.into_iter().find(|it| it.pid.0 == bare.pid());
            match listed.expect("a .NET program").attachable {
                Attachable::No(error) => assert_eq!(error.code, ErrorCode::AlreadyDebugged),
                Attachable::Yes => panic!("listed as attachable"),
            }
        }
        // It was asked once, not each time.
        assert!(procfs::open_files(bare.pid()) <= files + 2);
        bare.assert_ticks();
    }
}

#[test]
fn program_killed_is_told_with_its_signal() {
    let sandbox = Sandbox::with_default_tmp();
    for stopped in [false, true] {
        let program = launched(&sandbox);
        if stopped {
            program.pause();
        }
        sandbox.note(program.pid());
        procfs::signal(program.pid(), Signal::KILL);
        // A stopped program does not stay stopped: its end is an event.
        let exit = program.wait_end_told();
        let expected = Exit::Signal {
            number: 9,
            name: "SIGKILL".into(),
            by_debugger: false,
        };
        assert_eq!(exit, expected);
        assert_eq!(program.refused(Request::Continue), ErrorCode::Exited);
        drop(program);
        sandbox.assert_clean();
    }
}

#[test]
fn attached_program_killed_is_told() {
    let sandbox = Sandbox::new();
    for stopped in [false, true] {
        let mut bare = ticking(&sandbox);
        let program = sandbox.attach(bare.pid());
        if stopped {
            program.pause();
        }
        assert_eq!(bare.kill().signal(), Some(9));
        let exit = program.wait_end_told();
        // Kernels before 6.15 do not tell how a process ended that is not ours.
        assert!(
            matches!(exit, Exit::Signal { number: 9, .. } | Exit::Unknown { .. }),
            "{exit:?}"
        );
    }
}

#[test]
fn program_killed_under_a_waiting_request_answers_it() {
    let sandbox = Sandbox::new();
    for _ in 0..10 {
        let program = launched(&sandbox);
        let pid = program.pid();
        std::thread::scope(|scope| {
            scope.spawn(|| procfs::signal(pid, Signal::KILL));
            // Whatever comes first: each request has its answer, and the end is told.
            for _ in 0..20 {
                let _ = program.request(Request::Pause);
                let _ = program.request(Request::Continue);
            }
        });
        program.wait_event(|event| matches!(event, Event::Exited(_)));
        let code = program.refused(Request::Pause);
        assert_eq!(code, ErrorCode::Exited, "{:?}", program.session().died());
    }
}

#[test]
fn program_and_host_killed_together_leave_nothing() {
    let sandbox = Sandbox::with_default_tmp();
    let program = launched(&sandbox);
    let (pid, host) = (program.pid(), program.host_pid());
    sandbox.note(pid);
    procfs::signal(pid, Signal::KILL);
    procfs::signal(host, Signal::KILL);
    program.wait_exit();
    assert_gone(pid);
    assert_gone(host);
}

#[test]
fn host_that_does_not_answer_is_ended_by_a_disconnect() {
    let sandbox = Sandbox::new();
    let program = launched(&sandbox);
    let (pid, host) = (program.pid(), program.host_pid());
    procfs::signal(host, Signal::STOP);
    let disconnect = Request::Disconnect {
        terminate: None,
        children: false,
    };
    let soon = Instant::now() + Duration::from_millis(300);
    let error = program.session().request(disconnect, soon);
    let error = error.expect_err("it cannot answer");
    assert_eq!(error.code, ErrorCode::HostDied, "{error:?}");
    assert_gone(pid);
    assert_gone(host);
}

#[test]
fn suspended_program_is_not_waited_for() {
    let sandbox = Sandbox::new();
    let program = launched(&sandbox);
    procfs::signal(program.pid(), Signal::STOP);
    let suspended = testkit::eventually(|| match procfs::process(program.pid()) {
        Some(process) if process.state == 'T' => Ok(()),
        other => Err(format!("{other:?}")),
    });
    suspended.expect("SIGSTOP stops it");
    let error = program
        .request(Request::Pause)
        .expect_err("it cannot answer");
    assert!(error.message.contains("suspended"), "{error}");
    assert_eq!(program.status().state, State::Running);
    procfs::signal(program.pid(), Signal::CONT);
    program.wait_more_output();
    program.pause();
    program.cont();
    // Ending it needs no answer of it.
    procfs::signal(program.pid(), Signal::STOP);
    assert_eq!(program.disconnect(None, false).state, State::Exited);
}
