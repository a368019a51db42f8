//! Framework-dependent single-file programs: no dll on disk, the runtime is a shared one.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use host::api::{State, StopReason};
use testkit::fixtures::{dotnet_environment, dotnet_root, runtime_version};
use testkit::sandbox::Sandbox;

/// Publishes a fixture's source as a single file; `None` where the .NET under test brings no SDK of its own version.
fn publish(sandbox: &Sandbox, fixture: &str) -> Option<PathBuf> {
    let (major, minor) = runtime_version();
    let sdks = fs::read_dir(dotnet_root().join("sdk")).ok()?.flatten();
    let own = format!("{major}.");
    if !sdks
        .into_iter()
        .any(|sdk| sdk.file_name().to_string_lossy().starts_with(&own))
    {
        return None;
    }
    let folder = sandbox.folder().join("single");
    fs::create_dir_all(&folder).expect("a folder");
    let source = testkit::fixtures::Fixture::named(fixture);
    let source = source.sources().first().expect("a source file");
    fs::copy(source, folder.join("Program.cs")).expect("a copy");
    let project = format!(
        "<Project Sdk=\"Microsoft.NET.Sdk\"><PropertyGroup><OutputType>Exe</OutputType>\
         <TargetFramework>net{major}.{minor}</TargetFramework></PropertyGroup></Project>"
    );
    fs::write(folder.join("single.csproj"), project).expect("a project file");
    let packages = "<configuration><packageSources><clear/></packageSources></configuration>";
    fs::write(folder.join("NuGet.config"), packages).expect("a package configuration");
    let mut command = Command::new(dotnet_root().join("dotnet"));
    sandbox.adopt(&mut command);
    let output = command
        .args([
            "publish",
            "-c",
            "Debug",
            "-r",
            "linux-x64",
            "--self-contained",
            "false",
        ])
        .args([
            "-p:PublishSingleFile=true",
            "-p:EnableSingleFileAnalyzer=false",
            "-o",
            "out",
        ])
        .envs(dotnet_environment())
        // The SDK leaves files of its own in the temporary folder.
        .env("TMPDIR", &folder)
        .current_dir(&folder)
        .output()
        .expect("dotnet runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    Some(folder.join("out/single"))
}

#[test]
fn single_file_is_launched_attached_to_and_ended() {
    let sandbox = Sandbox::new();
    let Some(executable) = publish(&sandbox, "loops") else {
        return;
    };
    let program = sandbox
        .launch("loops")
        .program(&executable)
        .args(["sleep", "1"])
        .stop_at_entry()
        .start();
    assert_eq!(program.wait_stop().reasons, [StopReason::Entry]);
    program.cont();
    program.wait_output("tick 1\n");
    program.pause();
    program.cont();
    program.wait_more_output();
    // Let go, it takes another debugger.
    assert_eq!(
        program.disconnect(Some(false), false).state,
        State::Detached
    );
    let again = sandbox.attach(program.pid());
    again.pause();
    assert_eq!(again.disconnect(Some(true), false).state, State::Exited);
}
