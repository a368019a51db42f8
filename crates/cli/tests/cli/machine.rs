//! `ps` and `doctor`, as far as any machine has something to tell.

use serde_json::Value;

use crate::{Ran, ndbg, run};

#[test]
fn ps_as_json_is_an_array_of_processes() {
    let ran = run(&["ps", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(ran.stderr, "");
    let list: Vec<Value> = serde_json::from_str(&ran.stdout).expect("a JSON array");
    for process in list {
        assert!(process["pid"].is_u64(), "{process}");
        assert!(process["name"].is_string(), "{process}");
        assert!(process["user"].is_string(), "{process}");
        assert!(process["commandLine"].is_array(), "{process}");
        let attachable = process["attachable"].as_bool().expect("yes or no");
        assert_eq!(process["reason"].is_null(), attachable, "{process}");
    }
}

#[test]
fn doctor_tells_by_its_exit_code_whether_programs_can_be_debugged() {
    let healthy = |command: &mut std::process::Command| {
        let ran = Ran::of(command.output().expect("ndbg starts"));
        let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        let can_debug = report["canDebug"].as_bool().expect("yes or no");
        assert_eq!(ran.code, Some(if can_debug { 0 } else { 1 }), "{ran:?}");
        assert_eq!(ran.stderr, "");
        (can_debug, report)
    };
    let (_, report) = healthy(&mut ndbg(&["doctor", "--json"]));
    let checks = report["checks"].as_array().expect("an array");
    let names: Vec<&str> = checks
        .iter()
        .filter_map(|check| check["name"].as_str())
        .collect();
    for name in [
        "system",
        "temporary folder",
        "shared memory",
        "launched programs",
        "dotnet",
    ] {
        assert!(names.contains(&name), "{name} is not in {names:?}");
    }
    let (can_debug, report) = healthy(ndbg(&["doctor", "--json"]).env("TMPDIR", "/proc/nowhere"));
    assert!(!can_debug, "{report}");
    let (can_debug, report) =
        healthy(ndbg(&["doctor", "--json"]).env("DOTNET_EnableDiagnostics", "0"));
    assert!(!can_debug, "{report}");
    let text = report.to_string();
    assert!(text.contains("DOTNET_EnableDiagnostics=0"), "{text}");
}

#[test]
fn doctor_for_people_ends_with_a_verdict() {
    let ran = Ran::of(
        ndbg(&["doctor"])
            .env("TMPDIR", "/proc/nowhere")
            .output()
            .expect("ndbg starts"),
    );
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.stdout.contains("problem  temporary folder"),
        "{}",
        ran.stdout
    );
    let verdict = ran.stdout.lines().last().expect("a last line");
    assert!(
        verdict.starts_with("Programs cannot be debugged here: "),
        "{verdict}"
    );
    // Not a terminal: no colours.
    assert!(!ran.stdout.contains('\u{1b}'), "{}", ran.stdout);
}

#[test]
fn logging_goes_to_standard_error() {
    let output = ndbg(&["ps", "--json"]).env("NDBG_LOG", "trace").output();
    let ran = Ran::of(output.expect("ndbg starts"));
    serde_json::from_str::<Value>(&ran.stdout).expect("nothing but JSON");
}
