//! Live tests of `ndbg dap` in clients that others wrote: the library that debug adapters of VS Code are tested with, and
//! Emacs with dap-mode. `cargo xtask test` gets the first from npm, at a pinned version, and says which could not be run
//! because they are not there.

use std::process::{Command, Stdio};

use testkit::fixtures::{self, Fixture};
use testkit::sandbox::Sandbox;

/// Runs a client to its end; what it said.
#[track_caller]
fn run(sandbox: &Sandbox, command: &mut Command) -> String {
    command
        .envs(fixtures::dotnet_environment())
        .env("DOTNET_ROOT", fixtures::dotnet_root())
        .stdin(Stdio::null());
    sandbox.adopt(command);
    let output = command.output().expect("the client starts");
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success(), "{said}");
    said
}

mod vscode {
    use super::*;

    #[test]
    fn client_library_launches_stops_steps_looks_and_ends() {
        let library = std::env::var_os("NDBG_TEST_DEBUG_CLIENT")
            .expect("NDBG_TEST_DEBUG_CLIENT names the unpacked @vscode/debugadapter-testsupport; cargo xtask test sets it");
        let sandbox = Sandbox::new();
        let hello = Fixture::named("hello");
        let first = hello.marker("first");
        let mut command = Command::new("node");
        command
            .arg(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/tests/live_editors/vscode.js"
            ))
            .arg(library)
            .arg(fixtures::ndbg())
            .arg(hello.dll())
            .arg(&first.file)
            .arg(first.line.to_string())
            .arg((first.line + 1).to_string());
        let said = run(&sandbox, &mut command);
        assert!(said.contains("went as VS Code expects"), "{said}");
    }
}

mod emacs {
    use super::*;

    #[test]
    fn dap_mode_launches_stops_steps_looks_and_ends() {
        let sandbox = Sandbox::new();
        let hello = Fixture::named("hello");
        let first = hello.marker("first");
        let mut command = Command::new("emacs");
        command
            // Compiling its packages to native code takes longer than all the rest.
            .args(["--batch", "--no-init-file"])
            .args(["--eval", "(setq native-comp-deferred-compilation nil)"])
            .arg("--load")
            .arg(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/tests/live_editors/emacs.el"
            ))
            .env("HOME", sandbox.folder())
            .env("NDBG", fixtures::ndbg())
            .env("PROGRAM", hello.dll())
            .env("SOURCE", &first.file)
            .env("LINE", first.line.to_string())
            .env("NEXT_LINE", (first.line + 1).to_string());
        let said = run(&sandbox, &mut command);
        assert!(said.contains("went as Emacs expects"), "{said}");
    }
}
