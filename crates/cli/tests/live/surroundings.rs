//! Machines and environments that are not as they should be, or not as usual.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use host::api::{ErrorCode, State, Stream};
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

/// A second temporary folder.
fn other_tmp(sandbox: &Sandbox) -> PathBuf {
    let folder = sandbox.folder().join("other tmp");
    fs::create_dir(&folder).expect("a folder");
    folder
}

fn names(folder: &PathBuf) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder").flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.collect()
}

#[test]
fn launched_programs_own_temporary_folder_is_used_and_left_empty() {
    let sandbox = Sandbox::new();
    let tmp = other_tmp(&sandbox);
    for stopped in [false, true] {
        let program = sandbox
            .launch("loops")
            .env("TMPDIR", &tmp)
            .args(["sleep", "1"])
            .start();
        program.wait_output("tick 1\n");
        assert!(!names(&tmp).is_empty(), "its runtime's files are there");
        program.pause();
        if !stopped {
            program.cont();
        }
        program.disconnect(None, false);
        assert_eq!(names(&tmp), [""; 0]);
    }
}

#[test]
fn launched_program_without_tmpdir_uses_the_default() {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch("hello")
        .without_env("TMPDIR")
        .args(["--env", "TMPDIR"])
        .start();
    program.expect_exit(0);
    assert!(program.text(Stream::Stdout).contains("TMPDIR=(unset)\n"));
}

#[test]
fn attached_programs_own_temporary_folder_is_used() {
    let sandbox = Sandbox::new();
    let tmp = other_tmp(&sandbox);
    let bare = sandbox
        .bare("loops")
        .env("TMPDIR", &tmp)
        .args(["sleep", "1"])
        .start();
    bare.line_starting("tick");
    for _ in 0..2 {
        let program = sandbox.attach(bare.pid());
        program.pause();
        program.disconnect(None, false);
        bare.assert_ticks();
    }
}

#[test]
fn sessions_with_different_temporary_folders_run_side_by_side() {
    let sandbox = Sandbox::new();
    let tmp = other_tmp(&sandbox);
    let here = sandbox.launch("loops").args(["sleep", "1"]).start();
    let there = sandbox
        .launch("loops")
        .env("TMPDIR", &tmp)
        .args(["sleep", "1"])
        .start();
    for program in [&here, &there] {
        program.wait_output("tick 1\n");
        program.pause();
        program.cont();
        program.wait_more_output();
    }
}

#[test]
fn relative_temporary_folder_is_seen_from_the_programs_folder() {
    let sandbox = Sandbox::new();
    let folder = sandbox.folder().join("there");
    let tmp = folder.join("rel");
    fs::create_dir_all(&tmp).expect("folders");
    let program = sandbox
        .launch("loops")
        .env("TMPDIR", "rel")
        .cwd(&folder)
        .args(["sleep", "1"])
        .start();
    program.wait_output("tick 1\n");
    assert!(!names(&tmp).is_empty(), "its runtime's files are there");
    program.pause();
    program.disconnect(None, false);
    assert_eq!(names(&tmp), [""; 0]);
    // One that is not there from where the program is.
    let error = sandbox
        .launch("loops")
        .env("TMPDIR", "there/rel")
        .cwd(&folder)
        .refused();
    assert_eq!(error.code, ErrorCode::LaunchFailed, "{error:?}");
    let missing = folder.join("there/rel").display().to_string();
    assert!(error.message.contains(&missing), "{error}");
    let hint = error.hint.expect("what to do");
    assert!(hint.contains("create that folder"), "{hint}");
}

#[test]
fn temporary_folder_whose_path_is_too_long_for_the_runtime_is_told() {
    let sandbox = Sandbox::new();
    let tmp = sandbox.folder().join("x".repeat(120)).join("y".repeat(120));
    fs::create_dir_all(&tmp).expect("folders");
    let error = sandbox.launch("loops").env("TMPDIR", &tmp).refused();
    assert_eq!(error.code, ErrorCode::DebuggingDisabled, "{error:?}");
    assert!(error.hint.is_some_and(|hint| hint.contains("TMPDIR")));
}

#[test]
fn debugging_switched_off_is_told_before_anything_runs() {
    let sandbox = Sandbox::new();
    for name in [
        "DOTNET_EnableDiagnostics",
        "DOTNET_EnableDiagnostics_Debugger",
    ] {
        let (program, launch) = sandbox
            .launch("hello")
            .env(name, "0")
            .begin()
            .expect("a host");
        let error = launch.join().expect("no panic").expect_err("refused");
        assert_eq!(error.code, ErrorCode::DebuggingDisabled, "{error:?}");
        assert!(error.message.contains(name), "{error}");
        assert!(program.output().is_empty());
    }
}

#[test]
fn debugging_switched_off_is_told_when_attaching() {
    let sandbox = Sandbox::new();
    for name in [
        "DOTNET_EnableDiagnostics",
        "DOTNET_EnableDiagnostics_Debugger",
    ] {
        let bare = sandbox.bare("loops").env(name, "0").start();
        bare.line_starting("tick");
        let (code, error) = sandbox.attach_refused(bare.pid());
        assert_eq!(code, ErrorCode::DebuggingDisabled, "{error:?}");
        assert!(error.message.contains(name), "{error}");
        bare.assert_ticks();
    }
}

#[test]
fn other_diagnostics_switched_off_do_not_matter() {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch("hello")
        .env("DOTNET_EnableDiagnostics_IPC", "0")
        .env("DOTNET_EnableDiagnostics_Profiler", "0")
        .start();
    program.expect_exit(0);
}

/// A host in a mount namespace of its own, in which `script` has changed the mounts.
///
/// Needs root or user namespaces; a machine without them must say so with `NDBG_TEST_NO_MOUNTS=1`.
fn remounted(sandbox: &Sandbox, script: &str) -> Option<PathBuf> {
    if std::env::var_os("NDBG_TEST_NO_MOUNTS").is_some() {
        return None;
    }
    let probe = Command::new("unshare")
        .args([
            "--mount",
            "--map-root-user",
            "mount",
            "-t",
            "tmpfs",
            "none",
            "/mnt",
        ])
        .output();
    let problem = match &probe {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(error) => Some(error.to_string()),
    };
    if let Some(problem) = problem {
        panic!(
            "no mount namespace can be made here ({problem}): set NDBG_TEST_NO_MOUNTS=1 to do without these tests"
        );
    }
    let wrapper = sandbox.folder().join("host");
    let ndbg = testkit::fixtures::ndbg();
    let text = format!(
        "#!/bin/sh\nexec unshare --mount --map-root-user sh -c '{script} && exec \"$0\" \"$@\"' {} \"$@\"\n",
        ndbg.display()
    );
    fs::write(&wrapper, text).expect("a script");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&wrapper, executable).expect("our own file");
    Some(wrapper)
}

#[test]
fn full_temporary_folder_is_told() {
    let sandbox = Sandbox::new();
    let tmp = other_tmp(&sandbox);
    // No room for anything, and room for the runtime's pipes but not for its socket beside them.
    for files in [1, 3] {
        let script = format!(
            "mount -t tmpfs -o nr_inodes={files} none \"{}\"",
            tmp.display()
        );
        let Some(host) = remounted(&sandbox, &script) else {
            return;
        };
        let error = sandbox
            .launch("hello")
            .host(&host)
            .env("TMPDIR", &tmp)
            .refused();
        assert_eq!(error.code, ErrorCode::LaunchFailed, "{error:?}");
        assert!(error.message.contains("other tmp"), "{error}");
        let hint = error.hint.expect("what to do");
        assert!(hint.starts_with("make room in that folder"), "{hint}");
    }
}

#[test]
fn temporary_folder_with_room_for_names_but_not_for_bytes_is_enough() {
    let sandbox = Sandbox::new();
    let tmp = other_tmp(&sandbox);
    let script = format!(
        "mount -t tmpfs -o size=4k none \"{0}\" && head -c 4096 /dev/zero > \"{0}/full\"",
        tmp.display()
    );
    let Some(host) = remounted(&sandbox, &script) else {
        return;
    };
    let program = sandbox
        .launch("hello")
        .host(&host)
        .env("TMPDIR", &tmp)
        .start();
    program.expect_exit(0);
}

#[test]
fn full_shared_memory_is_told() {
    let sandbox = Sandbox::new();
    let Some(host) = remounted(&sandbox, "mount -t tmpfs -o nr_inodes=1 none /dev/shm") else {
        return;
    };
    let (program, launch) = sandbox.launch("hello").host(&host).begin().expect("a host");
    let error = launch.join().expect("no panic").expect_err("refused");
    assert_eq!(error.code, ErrorCode::LaunchFailed, "{error:?}");
    assert!(error.message.contains("semaphore"), "{error}");
    assert!(error.hint.is_some_and(|hint| hint.contains("/dev/shm")));
    assert_ne!(program.status().state, State::Running);
}

#[test]
fn old_runtime_without_a_pipe_is_told_too() {
    let sandbox = Sandbox::new();
    let Some(loops) = Fixture::old("loops") else {
        return;
    };
    let error = sandbox
        .launch_fixture(&loops)
        .env("COMPlus_EnableDiagnostics", "0")
        .refused();
    assert_eq!(error.code, ErrorCode::DebuggingDisabled, "{error:?}");
}
