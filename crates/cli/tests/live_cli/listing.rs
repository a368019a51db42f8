//! `ndbg ps` on running programs: what is told of them, and why one cannot be debugged.

use serde_json::Value;
use testkit::fixtures::{Fixture, runtime_version};
use testkit::procfs;
use testkit::sandbox::Sandbox;

use crate::{Ran, ndbg};

/// What `ndbg ps --json` tells of a process.
#[track_caller]
fn told(sandbox: &Sandbox, pid: u32) -> Value {
    let ran = Ran::of(ndbg(sandbox, ["ps", "--json"]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let list: Vec<Value> = serde_json::from_str(&ran.stdout).expect("a JSON array");
    let found = list.into_iter().find(|process| process["pid"] == pid);
    found.unwrap_or_else(|| panic!("{pid} is not listed"))
}

#[test]
fn running_program_is_listed_as_attachable() {
    let sandbox = Sandbox::new();
    let program = sandbox.bare("loops").args(["sleep", "20"]).start();
    program.line_starting("running");
    let process = told(&sandbox, program.pid());
    assert_eq!(process["attachable"], true, "{process}");
    assert_eq!(process["reason"], Value::Null);
    assert_eq!(process["name"], "loops");
    let (major, minor) = runtime_version();
    let version = process["runtime"].as_str().expect("a version");
    assert!(
        version.starts_with(&format!("{major}.{minor}.")),
        "{version}"
    );
    let line = process["commandLine"].as_array().expect("an array");
    let dll = Fixture::named("loops").dll();
    assert!(
        line.iter().any(|part| part.as_str() == dll.to_str()),
        "{process}"
    );

    let table = Ran::of(ndbg(&sandbox, ["ps"])).stdout;
    let line = table
        .lines()
        .find(|line| line.trim_start().starts_with(&program.pid().to_string()));
    let line = line.unwrap_or_else(|| panic!("{} is not in\n{table}", program.pid()));
    assert!(
        line.contains("  yes  ") && line.contains("loops.dll sleep 20"),
        "{line}"
    );
}

#[test]
fn program_with_debugging_switched_off_is_listed_with_the_variable() {
    let sandbox = Sandbox::new();
    for variable in [
        "DOTNET_EnableDiagnostics",
        "DOTNET_EnableDiagnostics_Debugger",
    ] {
        let program = sandbox.bare("loops").env(variable, "0").start();
        program.line_starting("running");
        let process = told(&sandbox, program.pid());
        assert_eq!(process["attachable"], false, "{process}");
        assert_eq!(process["reason"]["code"], "DEBUGGING_DISABLED", "{process}");
        let message = process["reason"]["message"].as_str().expect("a message");
        assert!(message.contains(&format!("{variable}=0")), "{message}");
    }
    // Without its other diagnostics a program can be debugged.
    let program = sandbox
        .bare("loops")
        .env("DOTNET_EnableDiagnostics_IPC", "0")
        .start();
    program.line_starting("running");
    assert_eq!(told(&sandbox, program.pid())["attachable"], true);
}

#[test]
fn program_that_is_being_debugged_names_its_debugger() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("loops").start();
    program.wait_output("running");
    let process = told(&sandbox, program.pid());
    assert_eq!(process["reason"]["code"], "ALREADY_DEBUGGED", "{process}");
    let message = process["reason"]["message"].as_str().expect("a message");
    let debugger = format!("by {} (ndbg host)", program.host_pid());
    assert!(message.contains(&debugger), "{message}");
}

#[test]
fn program_stopped_by_a_signal_is_told() {
    let sandbox = Sandbox::new();
    let program = sandbox.bare("loops").start();
    program.line_starting("running");
    procfs::signal(program.pid(), rustix::process::Signal::STOP);
    let stopped = testkit::eventually(|| match procfs::process(program.pid()) {
        Some(process) if process.state == 'T' => Ok(()),
        other => Err(format!("{other:?}")),
    });
    stopped.expect("it stops");
    let process = told(&sandbox, program.pid());
    assert_eq!(process["reason"]["code"], "ATTACH_FAILED", "{process}");
    let hint = process["reason"]["hint"].as_str().expect("a hint");
    assert!(
        hint.contains(&format!("kill -CONT {}", program.pid())),
        "{hint}"
    );
}

#[test]
fn program_on_the_old_runtime_is_listed_with_its_version() {
    let Some(fixture) = Fixture::old("loops") else {
        // Not set up: a .NET of the user's own was found.
        return;
    };
    let sandbox = Sandbox::new();
    let program = sandbox.bare_fixture(&fixture).start();
    program.line_starting("running");
    let process = told(&sandbox, program.pid());
    assert_eq!(process["attachable"], true, "{process}");
    assert_eq!(
        process["runtime"].as_str().map(|version| &version[..4]),
        Some("3.1.")
    );
}
