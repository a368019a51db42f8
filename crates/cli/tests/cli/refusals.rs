//! `ndbg run` of what is not a .NET program: a clear error, a code of its own, and nothing is started.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::run;

/// Checks code and message of a refusal; every one has a hint and nothing on standard output.
#[track_caller]
fn check(program: &Path, code: i32, message: &str) {
    let ran = run(&["run", program.to_str().expect("UTF-8"), "--", "x"]);
    assert_eq!(ran.code, Some(code), "{ran:?}");
    assert_eq!(ran.stdout, "");
    let first = ran.stderr.lines().next().unwrap_or_default();
    assert!(
        first.starts_with("error: ") && first.contains(message),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("\nHint: "), "{}", ran.stderr);
    // A hint names what `ndbg run` can do.
    for other in ["follow", "`env`", "`cwd`", "null"] {
        assert!(!ran.stderr.contains(other), "{}", ran.stderr);
    }
}

fn executable(folder: &Path, name: &str, content: &[u8]) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, content).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("modes");
    path
}

#[test]
fn a_missing_file_has_code_127() {
    check(
        Path::new("/no/such.dll"),
        127,
        "there is no file /no/such.dll",
    );
    check(
        Path::new("no-such-program"),
        127,
        "there is no file no-such-program in /",
    );
    check(
        Path::new("no-such.csproj"),
        127,
        "there is no file or folder no-such.csproj",
    );
}

#[test]
fn native_programs_are_refused() {
    check(
        Path::new("/bin/sh"),
        126,
        "is a native program, not a .NET one",
    );
    // It has the names of .NET's files in it, because it looks for them.
    check(
        Path::new(env!("CARGO_BIN_EXE_ndbg")),
        126,
        "is a native program, not a .NET one",
    );
}

#[test]
fn scripts_are_refused_and_not_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let witness = folder.path().join("ran");
    let content = format!("#!/bin/sh\ntouch {}\n", witness.display());
    let script = executable(folder.path(), "start.sh", content.as_bytes());
    check(&script, 126, "is a script (run by /bin/sh)");
    assert!(!witness.exists(), "the script was run");
}

#[test]
fn ahead_of_time_compiled_programs_are_refused() {
    // What a linker writes for them: the section of their code is named in the section table.
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("aot.c");
    let code = "__attribute__((section(\"__managedcode\"))) int managed(void) { return 1; }\n\
                int main(void) { return managed(); }\n";
    fs::write(&source, code).expect("a file");
    let program = folder.path().join("aot");
    let built = std::process::Command::new("cc")
        .arg("-o")
        .args([&program, &source])
        .status()
        .expect("a C compiler is there: Rust needs it to link");
    assert!(built.success());
    check(&program, 126, "compiled ahead of time");
}

#[test]
fn other_files_and_folders_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    check(folder.path(), 126, "is a folder, not a program");
    let text = executable(folder.path(), "notes.txt", b"hello\n");
    check(&text, 126, "is neither a managed .dll nor an executable");
    let empty = executable(folder.path(), "empty.dll", b"");
    check(&empty, 126, "is neither a managed .dll nor an executable");
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo is there").success());
    check(&pipe, 126, "is not a file that can be run");
}

#[test]
fn an_executable_for_another_machine_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut bytes = fs::read("/bin/sh").expect("the shell");
    let machine = bytes.get_mut(18..20).expect("a header");
    machine.copy_from_slice(&8_u16.to_le_bytes());
    let program = executable(folder.path(), "mips", &bytes);
    check(&program, 126, "for another kind of processor");
}

#[test]
fn a_folder_with_two_projects_names_them() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["a.csproj", "b.csproj"] {
        fs::write(folder.path().join(name), "<Project/>").expect("a file");
    }
    check(folder.path(), 126, "has 2 projects");
    let ran = run(&["run", folder.path().to_str().expect("UTF-8")]);
    assert!(ran.stderr.contains("b.csproj"), "{}", ran.stderr);
}

#[test]
fn hints_name_options_of_the_command_line() {
    let folder = run(&["run", "--cwd", "/no/such/folder", "/bin/sh"]);
    assert!(folder.stderr.contains("leave `--cwd` out"), "{folder:?}");
    let switched_off = run(&["run", "-e", "DOTNET_EnableDiagnostics=0", "/bin/sh"]);
    assert!(
        switched_off.stderr.contains("`--env NAME` removes one"),
        "{switched_off:?}"
    );
}

#[test]
fn process_that_does_not_exist_has_code_127_and_one_that_cannot_be_debugged_126() {
    // Larger than any pid the kernel hands out; and this very process.
    for (pid, code) in [(5_000_000, 127), (std::process::id(), 126)] {
        let ran = run(&["attach", &pid.to_string(), "--batch"]);
        assert_eq!(ran.code, Some(code), "{ran:?}");
        assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
        assert!(ran.stderr.contains("\nHint: "), "{}", ran.stderr);
    }
}

#[test]
fn host_that_is_started_by_hand_says_what_to_do() {
    let ran = run(&["host"]);
    assert_eq!(ran.code, Some(125), "{ran:?}");
    assert!(ran.stderr.contains("ndbg debug"), "{}", ran.stderr);
}
