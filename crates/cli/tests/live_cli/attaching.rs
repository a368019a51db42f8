//! Processes that cannot be attached to: why, at once, and what to do.

use std::process::{Command, Stdio};

use host::api::{Error, ErrorCode};
use rustix::process::Signal;
use testkit::procfs;
use testkit::sandbox::Sandbox;

use crate::Ran;

#[track_caller]
fn check(refused: (ErrorCode, Error), code: ErrorCode, words: &[&str]) {
    let (found, error) = refused;
    assert_eq!(found, code, "{error:?}");
    for word in words {
        assert!(error.message.contains(word), "no {word:?} in {error}");
    }
    assert!(error.hint.is_some(), "{error:?}");
}

#[test]
fn process_that_is_not_there_or_not_dotnet_is_refused() {
    let sandbox = Sandbox::new();
    // Above the highest number that Linux gives.
    let nobody = 4_194_305;
    check(
        sandbox.attach_refused(nobody),
        ErrorCode::ProcessNotFound,
        &["there is no process"],
    );
    let mut command = Command::new("sleep");
    sandbox.adopt(&mut command);
    let mut sleeper = command.arg("1000").spawn().expect("sleep runs");
    let refused = sandbox.attach_refused(sleeper.id());
    sleeper.kill().expect("our own child");
    sleeper.wait().expect("our own child");
    check(refused, ErrorCode::NotDotnet, &["is not a .NET program"]);
}

#[test]
fn program_with_debugging_switched_off_is_refused() {
    let sandbox = Sandbox::new();
    for variable in [
        "DOTNET_EnableDiagnostics",
        "DOTNET_EnableDiagnostics_Debugger",
    ] {
        let program = sandbox.bare("loops").env(variable, "0").start();
        program.line_starting("running");
        check(
            sandbox.attach_refused(program.pid()),
            ErrorCode::DebuggingDisabled,
            &[&format!("{variable}=0")],
        );
        program.assert_ticks();
    }
}

#[test]
fn program_that_is_being_debugged_is_refused_and_runs_on() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("loops").start();
    program.wait_output("running");
    check(
        sandbox.attach_refused(program.pid()),
        ErrorCode::AlreadyDebugged,
        &[&format!("by {} (ndbg host)", program.host_pid())],
    );
    program.wait_more_output();
}

#[test]
fn program_whose_debugger_was_killed_is_told() {
    let sandbox = Sandbox::new();
    let program = sandbox.bare("loops").start();
    program.line_starting("running");
    let debugger = sandbox.attach(program.pid());
    procfs::signal(debugger.host_pid(), Signal::KILL);
    debugger.wait_event(|event| matches!(event, host::api::Event::Detached(_)));
    let (code, error) = sandbox.attach_refused(program.pid());
    assert_eq!(code, ErrorCode::AlreadyDebugged, "{error:?}");
    let hint = error.hint.expect("a hint");
    assert!(hint.contains("restart the program"), "{hint}");
}

#[test]
fn program_stopped_by_a_signal_is_refused_until_it_runs() {
    let sandbox = Sandbox::new();
    let program = sandbox.bare("loops").start();
    program.line_starting("running");
    procfs::signal(program.pid(), Signal::STOP);
    let stopped = testkit::eventually(|| match procfs::process(program.pid()) {
        Some(process) if process.state == 'T' => Ok(()),
        other => Err(format!("{other:?}")),
    });
    stopped.expect("it stops");
    check(
        sandbox.attach_refused(program.pid()),
        ErrorCode::AttachFailed,
        &["stopped by a signal"],
    );
    procfs::signal(program.pid(), Signal::CONT);
    program.assert_ticks();
    for _ in 0..2 {
        drop(sandbox.attach(program.pid()));
        program.assert_ticks();
    }
}

#[test]
fn another_users_program_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;

    let sandbox = Sandbox::with_default_tmp();
    if !rustix::process::geteuid().is_root() {
        // The first process is root's.
        check(
            sandbox.attach_refused(1),
            ErrorCode::PermissionDenied,
            &["process 1 belongs to root"],
        );
        return;
    }
    // As root: look at root's program as somebody else, with a copy of ndbg that anybody may run.
    const SOMEBODY: u32 = 65_534;
    let program = sandbox.bare("loops").start();
    program.line_starting("running");
    let copy = sandbox.folder().join("ndbg");
    std::fs::copy(testkit::fixtures::ndbg(), &copy).expect("a copy");
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(sandbox.folder(), open.clone()).expect("our own folder");
    std::fs::set_permissions(&copy, open).expect("our own file");
    let output = Command::new(copy)
        .args(["ps", "--json"])
        .uid(SOMEBODY)
        .gid(SOMEBODY)
        .current_dir("/")
        .output()
        .expect("ndbg starts");
    let list: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).expect("JSON");
    let process = list.iter().find(|process| process["pid"] == program.pid());
    let process = process.expect("its socket tells that it is there");
    assert_eq!(process["user"], "root");
    assert_eq!(process["reason"]["code"], "PERMISSION_DENIED", "{process}");
    let message = process["reason"]["message"].as_str().expect("a message");
    assert!(message.contains("belongs to root"), "{message}");
}

#[test]
fn another_users_process_is_told_to_a_root_without_the_right_to_inspect_it() {
    use std::os::unix::process::CommandExt;

    // Only root can be that; the words for others are in a test of their own.
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let sandbox = Sandbox::new();
    let mut process = Command::new("/bin/sleep")
        .arg("1000")
        .uid(65_534)
        .gid(65_534)
        .stdin(Stdio::null())
        .spawn()
        .expect("sleep runs");
    let limited = |arguments: &[&str]| {
        let mut command = Command::new("setpriv");
        // What most containers leave of it; newer kernels let PERFMON look, too.
        command.args(["--bounding-set", "-all,+kill,+setuid,+setgid,+dac_override"]);
        command.arg(testkit::fixtures::ndbg()).args(arguments);
        sandbox.adopt(&mut command);
        Ran::of(command)
    };
    let pid = process.id().to_string();
    let ran = limited(&["attach", &pid, "--batch", "--ex", "bt"]);
    let doctor = limited(&["doctor"]);
    process.kill().expect("our own child");
    process.wait().expect("our own child");
    assert_eq!(ran.code, Some(126), "{ran:?}");
    for words in [
        "belongs to ",
        "root lacks CAP_SYS_PTRACE here",
        "docker exec --user ",
    ] {
        assert!(ran.stderr.contains(words), "{ran:?}");
    }
    assert!(
        doctor.stdout.contains("this root has no CAP_SYS_PTRACE"),
        "{doctor:?}"
    );
}
