//! Programs of every kind, real and made up, and what is said of each.

use std::fs;

use expect_test::{Expect, expect};

use super::*;

/// What comes of launching a program: its command line, or the code, message and hint of the refusal.
fn outcome(launch: &Launch, folder: &Path) -> String {
    let text = match command(launch) {
        Ok(command) => {
            let program = command.get_program().to_string_lossy().into_owned();
            let args = command
                .get_args()
                .map(|arg| arg.to_string_lossy().into_owned());
            let line: Vec<_> = std::iter::once(program).chain(args).collect();
            line.join(" ")
        }
        Err(error) => format!(
            "{}: {}\nhint: {}",
            error.code.name(),
            error.message,
            error.hint.unwrap_or_default()
        ),
    };
    text.replace(&folder.display().to_string(), "DIR") + "\n"
}

fn check(program: &str, files: &[(&str, &[u8])], expected: Expect) {
    check_launch(
        Launch {
            program: program.into(),
            ..Launch::default()
        },
        files,
        expected,
    );
}

/// Checks a launch whose relative paths are in a folder with these files; those named `x-…` are executable.
fn check_launch(mut launch: Launch, files: &[(&str, &[u8])], expected: Expect) {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, content) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("inside the folder")).expect("a folder");
        fs::write(&path, content).expect("a file");
        if name.starts_with("x-") {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("modes");
        }
    }
    launch.program = folder.path().join(&launch.program);
    launch.cwd = launch.cwd.map(|cwd| folder.path().join(cwd));
    let root = folder.path().join("root");
    fs::create_dir(&root).expect("a folder");
    fs::write(root.join("dotnet"), "").expect("a file");
    fs::set_permissions(root.join("dotnet"), fs::Permissions::from_mode(0o755)).expect("modes");
    launch
        .env
        .entry("DOTNET_ROOT".into())
        .or_insert(Some(root.display().to_string()));
    expected.assert_eq(&outcome(&launch, folder.path()));
}

/// The smallest PE file with a CLI header; `entry_point` 0 makes it a library.
fn assembly(entry_point: u8) -> Vec<u8> {
    let mut bytes = native_image();
    let token = if entry_point == 0 { 0 } else { 6 };
    let fields: [(usize, &[u8]); 3] = [
        (CLI_DIRECTORY, &[0x08, 0x20]),
        (0x208 + 8, &[0x60, 0x20, 0, 0, 4]),
        (0x208 + 20, &[entry_point, 0, 0, token]),
    ];
    for (at, value) in fields {
        bytes[at..at + value.len()].copy_from_slice(value);
    }
    bytes
}

const CLI_DIRECTORY: usize = 0x98 + 96 + 14 * 8;

/// The smallest PE file: one section, no managed code.
fn native_image() -> Vec<u8> {
    let mut bytes = vec![0; 0x400];
    let fields: [(usize, &[u8]); 8] = [
        (0, b"MZ"),
        (0x3c, &[0x80]),
        (0x80, b"PE\0\0"),
        (0x86, &[1]),
        (0x94, &[0xe0]),
        (0x98, &[0x0b, 0x01]),
        (0x98 + 92, &[16]),
        (0x178 + 8, &[0, 2, 0, 0, 0, 0x20, 0, 0, 0, 2, 0, 0, 0, 2]),
    ];
    for (at, value) in fields {
        bytes[at..at + value.len()].copy_from_slice(value);
    }
    bytes
}

fn elf(mark: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
    bytes.resize(64, 0);
    bytes[18] = if cfg!(target_arch = "aarch64") {
        183
    } else {
        62
    };
    bytes.extend(mark);
    bytes
}

#[test]
fn programs_become_commands() {
    let files: &[(&str, &[u8])] = &[
        ("app.dll", &assembly(1)),
        ("app.runtimeconfig.json", b"{}"),
        ("x-app", &elf(b"libhostfxr.so\0")),
        ("x-tool", b"#!/bin/sh\n"),
    ];
    check(
        "app.dll",
        files,
        expect![[r#"
            DIR/root/dotnet exec DIR/app.dll
        "#]],
    );
    check(
        "x-app",
        files,
        expect![[r#"
        DIR/x-app
    "#]],
    );
    let follow = Launch {
        program: "x-tool".into(),
        args: vec!["a b".into(), "$HOME".into()],
        follow: Follow::Child { command_line: None },
        ..Launch::default()
    };
    check_launch(
        follow,
        files,
        expect![[r#"
        DIR/x-tool a b $HOME
    "#]],
    );
}

#[test]
fn files_that_cannot_be_read_as_programs_are_refused() {
    check(
        "no.dll",
        &[],
        expect![[r#"
        INVALID_FILE: there is no file DIR/no.dll
        hint: give the path of a .dll, an executable or a project; build it first if it is not there yet
    "#]],
    );
    check(
        "a/b",
        &[("a", b"")],
        expect![[r#"
        INVALID_FILE: there is no file DIR/a/b
        hint: give the path of a .dll, an executable or a project; build it first if it is not there yet
    "#]],
    );
    check(
        "bin",
        &[("bin/a.dll", b"")],
        expect![[r#"
        INVALID_FILE: DIR/bin is a folder, not a program
        hint: give the path of the .dll or executable in it, or of a project to build
    "#]],
    );
    check(
        "a.dll",
        &[("a.dll", b"")],
        expect![[r#"
        NOT_DOTNET: DIR/a.dll is neither a managed .dll nor an executable
        hint: give the path of a .dll, an apphost executable or a project
    "#]],
    );
    check(
        "a.csproj",
        &[("a.csproj", b"<Project/>")],
        expect![[r#"
        INVALID_FILE: DIR/a.csproj is source that has to be built first
        hint: build it with `dotnet build` and launch the .dll that it makes
    "#]],
    );
}

#[test]
fn assemblies_that_cannot_be_started_are_refused() {
    check(
        "native.dll",
        &[("native.dll", &native_image())],
        expect![[r#"
            NOT_DOTNET: DIR/native.dll is a native Windows file: it has no managed code
            hint: give the path of a managed .dll
        "#]],
    );
    check(
        "cut.dll",
        &[("cut.dll", &native_image()[..0x90])],
        expect![[r#"
            INVALID_FILE: DIR/cut.dll is not a whole assembly: the file is truncated: the PE header ends at byte 152, but the file has 144
            hint: build or copy it again
        "#]],
    );
    check(
        "lib.dll",
        &[("lib.dll", &assembly(0))],
        expect![[r#"
            INVALID_FILE: DIR/lib.dll is a library: it has no Main to start
            hint: launch the program that uses it, or attach to that
        "#]],
    );
    check(
        "app.dll",
        &[("app.dll", &assembly(1))],
        expect![[r#"
            INVALID_FILE: DIR/app.dll cannot be started: app.runtimeconfig.json is not beside it, so nothing says which runtime it needs
            hint: launch the .dll in the folder that `dotnet build` or `dotnet publish` wrote, with all its files
        "#]],
    );
    check(
        "obj/app.dll",
        &[("obj/app.dll", &assembly(1))],
        expect![[r#"
            INVALID_FILE: DIR/obj/app.dll cannot be started: app.runtimeconfig.json is not beside it, so nothing says which runtime it needs
            hint: this is an intermediate file of the build: launch the one in the bin folder
        "#]],
    );
}

#[test]
fn executables_that_are_not_dotnet_are_refused() {
    check(
        "x-native",
        &[("x-native", &elf(b""))],
        expect![[r#"
        NOT_DOTNET: DIR/x-native is a native program, not a .NET one
        hint: launch the .NET program itself; for a tool that starts one, follow its child
    "#]],
    );
    check(
        "x-aot",
        &[("x-aot", &elf(b"__managedcode\0"))],
        expect![[r#"
        NOT_DOTNET: DIR/x-aot is native code, compiled ahead of time: there is no .NET runtime in it to debug
        hint: debug a build of it without PublishAot, or use a native debugger such as gdb
    "#]],
    );
    check(
        "x-one",
        &[("x-one", &elf(b"libhostfxr.so\0DotNetRuntimeInfo\0"))],
        expect![[r#"
        RUNTIME_MISMATCH: DIR/x-one has its runtime inside (a self-contained single file), and the debugger library of that runtime (libmscordbi.so) is not shipped with it
        hint: debug a build of it that is not published as a self-contained single file
    "#]],
    );
    check(
        "x-run",
        &[("x-run", b"#!/usr/bin/env bash\n")],
        expect![[r#"
        NOT_DOTNET: DIR/x-run is a script (run by /usr/bin/env bash), not a .NET program
        hint: launch the program that it starts, or follow its child
    "#]],
    );
    check(
        "app",
        &[("app", &elf(b"libhostfxr.so\0"))],
        expect![[r#"
        INVALID_FILE: DIR/app may not be run: it is not marked as executable
        hint: chmod +x it, or launch its .dll
    "#]],
    );
    let mut other = elf(b"libhostfxr.so\0");
    other[18] = 8;
    check(
        "x-mips",
        &[("x-mips", &other)],
        expect![[r#"
        NOT_DOTNET: DIR/x-mips is an executable for another kind of processor
        hint: launch its .dll, or build it for this machine
    "#]],
    );
}

#[test]
fn surroundings_are_checked_too() {
    let files: &[(&str, &[u8])] = &[("app.dll", &assembly(1)), ("app.runtimeconfig.json", b"{}")];
    let launch = |change: fn(&mut Launch)| {
        let mut launch = Launch {
            program: "app.dll".into(),
            ..Launch::default()
        };
        change(&mut launch);
        launch
    };
    let no_folder = launch(|it| it.cwd = Some("nowhere".into()));
    check_launch(
        no_folder,
        files,
        expect![[r#"
        INVALID_FILE: the working folder DIR/nowhere does not exist
        hint: create it, or leave `cwd` out to use the current one
    "#]],
    );
    let file_as_folder = launch(|it| it.cwd = Some("app.dll".into()));
    check_launch(
        file_as_folder,
        files,
        expect![[r#"
        INVALID_FILE: the working folder DIR/app.dll is not a folder
        hint: create it, or leave `cwd` out to use the current one
    "#]],
    );
    let switched_off = launch(|it| {
        it.env
            .insert("COMPlus_EnableDiagnostics".into(), Some("0x0".into()));
    });
    check_launch(
        switched_off,
        files,
        expect![[r#"
        DEBUGGING_DISABLED: the program would run with COMPlus_EnableDiagnostics=0x0, which switches debugging off in its runtime
        hint: remove that variable from the environment (in `env`, null removes one)
    "#]],
    );
    let no_pipes = launch(|it| {
        it.env.insert("TMPDIR".into(), Some("/proc/nowhere".into()));
    });
    check_launch(
        no_pipes,
        files,
        expect![[r#"
            LAUNCH_FAILED: the program could not be debugged: its runtime needs pipes in the temporary folder /proc/nowhere, where none can be made: No such file or directory (os error 2)
            hint: create that folder, or set TMPDIR to one that exists; `ndbg doctor` tells more
        "#]],
    );
    let bad_argument = launch(|it| it.args = vec!["a".into(), "b\0".into()]);
    check_launch(
        bad_argument,
        files,
        expect![[r#"
            INVALID_PARAMETER: argument 2 holds a zero byte
            hint: leave that character out: the system ends texts at a zero byte, and names at `=`
        "#]],
    );
    let bad_variable = launch(|it| {
        it.env.insert("A=B".into(), None);
    });
    check_launch(
        bad_variable,
        files,
        expect![[r#"
            INVALID_PARAMETER: the environment variable name "A=B" is empty or holds `=` or a zero byte
            hint: leave that character out: the system ends texts at a zero byte, and names at `=`
        "#]],
    );
}

#[test]
fn only_zero_switches_debugging_off() {
    let off = |variables: &[(&str, &str)]| {
        debugging_switched_off(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| value.into())
        })
        .is_some()
    };
    assert!(off(&[("DOTNET_EnableDiagnostics", "0")]));
    assert!(off(&[("DOTNET_EnableDiagnostics_Debugger", "00")]));
    assert!(off(&[("COMPlus_EnableDiagnostics_Debugger", " 0x0")]));
    assert!(!off(&[]));
    assert!(!off(&[("DOTNET_EnableDiagnostics", "1")]));
    assert!(!off(&[("DOTNET_EnableDiagnostics", "0a")]));
    assert!(!off(&[("DOTNET_EnableDiagnostics", "no")]));
    assert!(!off(&[("DOTNET_EnableDiagnostics", "")]));
    assert!(!off(&[("DOTNET_EnableDiagnostics_IPC", "0")]));
    // The newer name wins.
    let both = [
        ("DOTNET_EnableDiagnostics", "1"),
        ("COMPlus_EnableDiagnostics", "0"),
    ];
    assert!(!off(&both));
}

#[test]
fn a_null_removes_a_variable_and_values_are_passed_as_they_are() {
    let env = BTreeMap::from([
        ("HOME".to_owned(), None),
        ("A".to_owned(), Some("b c".to_owned())),
    ]);
    let environment = Environment(&env);
    assert_eq!(environment.get("HOME"), None);
    assert_eq!(environment.get("A"), Some("b c".into()));
    assert_eq!(environment.get("PATH"), std::env::var_os("PATH"));
}

#[test]
fn the_shell_is_a_native_program() {
    let launch = Launch {
        program: "/bin/sh".into(),
        ..Launch::default()
    };
    let refusal = command(&launch).expect_err("it is not a .NET program");
    assert_eq!(refusal.code, ErrorCode::NotDotnet);
}
