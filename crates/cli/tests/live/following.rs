//! Debugging a .NET child of the launched program, from its first line, through the diagnostics port.

use std::fs;
use std::os::unix::net::UnixListener;
use std::path::Path;

use host::api::{ErrorCode, Exit, Follow, StopReason, Stream};
use rustix::process::Signal;
use testkit::fixtures::{Fixture, dotnet_root, runtime_version};
use testkit::procfs;
use testkit::sandbox::Sandbox;

fn child(command_line: Option<&str>) -> Follow {
    Follow::Child {
        command_line: command_line.map(str::to_owned),
    }
}

/// The arguments that make the fixture `children` run another one.
fn run(fixture: &str) -> [String; 2] {
    let fixture = Fixture::named(fixture);
    [fixture.dotnet_root().join("dotnet"), fixture.dll()].map(|path| path.display().to_string())
}

#[test]
fn child_is_debugged_from_its_start_and_its_exit_is_told() {
    let sandbox = Sandbox::new();
    let args = run("throws");
    let program = sandbox
        .launch("children")
        .args(args.iter().map(String::as_str))
        .with(|launch| launch.follow = child(None))
        .start();
    let told = program.status().program.expect("the command line is told");
    assert!(told.contains("throws.dll"), "{told}");
    let stop = program.wait_stop();
    assert_eq!(stop.reasons, [StopReason::UnhandledException]);
    program.cont();
    match program.wait_exit() {
        Exit::Signal { number: 6, .. } => {}
        // Kernels before 6.15 do not tell how a process that is not a child ended.
        Exit::Unknown { .. } => {}
        other => panic!("{other:?}"),
    }
    assert!(program.text(Stream::Stdout).contains("child "));
}

#[test]
fn child_stops_at_its_entry() {
    let sandbox = Sandbox::new();
    let args = run("hello");
    let program = sandbox
        .launch("children")
        .args(args.iter().map(String::as_str))
        .stop_at_entry()
        .with(|launch| launch.follow = child(Some("hello.dll")))
        .start();
    assert_eq!(program.wait_stop().reasons, [StopReason::Entry]);
    assert!(!program.text(Stream::Stdout).contains("hello from"));
    program.cont();
    program.wait_exit();
    program.wait_output("hello from");
}

#[test]
fn children_that_are_not_wanted_run_on_untouched() {
    let sandbox = Sandbox::new();
    let args = run("hello");
    let error = sandbox
        .launch("children")
        .args(args.iter().map(String::as_str))
        .with(|launch| launch.follow = child(Some("no such program")))
        .refused();
    assert_eq!(error.code, ErrorCode::LaunchFailed, "{error:?}");
    // It ran to its end: what it and its parent printed is in the error, and so is what was there to choose from.
    for part in ["hello.dll", "hello from", "child exited with 0"] {
        assert!(error.message.contains(part), "{part} in {error:?}");
    }
}

#[test]
fn front_end_that_leaves_takes_the_whole_tree_with_it() {
    let sandbox = Sandbox::new();
    let args = run("loops");
    let program = sandbox
        .launch("children")
        .args(args.iter().map(String::as_str))
        .with(|launch| launch.follow = child(None))
        .start();
    program.wait_output("child ");
    // The sandbox asserts that nothing is left.
    drop(program);
}

/// The folders of ports that hosts have made in the sandbox's temporary folder.
fn ports(sandbox: &Sandbox) -> usize {
    let entries = fs::read_dir(sandbox.tmp()).expect("the folder").flatten();
    entries
        .filter(|it| it.path().join("port").symlink_metadata().is_ok())
        .count()
}

#[test]
fn host_killed_while_it_follows_a_child_leaves_nothing() {
    let sandbox = Sandbox::new();
    let args = run("loops");
    let program = sandbox
        .launch("children")
        .args(args.iter().map(String::as_str))
        .with(|launch| launch.follow = child(None))
        .start();
    program.wait_output("child ");
    assert_eq!(ports(&sandbox), 1);
    procfs::signal(program.host_pid(), Signal::KILL);
    program.wait_exit();
    // The front end, which lives, has tidied up: nobody else is there.
    assert_eq!(ports(&sandbox), 0);
    sandbox.assert_clean();
}

#[test]
fn host_killed_before_it_finds_a_child_takes_the_whole_tree_with_it() {
    let sandbox = Sandbox::new();
    let args = run("loops");
    let (program, launch) = sandbox
        .launch("children")
        .args(args.iter().map(String::as_str))
        .with(|launch| launch.follow = child(Some("no such program")))
        .begin()
        .expect("a host");
    program.status();
    let started = testkit::eventually(|| {
        let all = sandbox.processes();
        let is_child = |line: &str| line.contains("loops") && !line.contains("children");
        let found = all.iter().any(|it| is_child(&it.command));
        found.then_some(()).ok_or(format!("{all:?}"))
    });
    started.expect("the child runs");
    procfs::signal(program.host_pid(), Signal::KILL);
    let error = launch.join().expect("no panic").expect_err("no host");
    assert_eq!(error.code, ErrorCode::HostDied, "{error}");
    assert_eq!(ports(&sandbox), 0);
    let gone = testkit::eventually(|| match sandbox.processes() {
        all if all.is_empty() => Ok(()),
        all => Err(format!("{all:?}")),
    });
    gone.expect("nothing runs on");
    // Files of the launched program's own runtime, which the front end did not know, may stay until the next session ends.
    sandbox.launch("hello").start().wait_exit();
    sandbox.assert_clean();
}

#[test]
fn port_of_a_host_that_was_killed_with_its_front_end_is_removed_by_the_next_session() {
    use std::os::unix::fs::DirBuilderExt;

    let sandbox = Sandbox::new();
    let me = std::process::id();
    // As a process left it that had our number before us.
    let left = sandbox.tmp().join(format!("ndbg-{me}-1-0"));
    fs::DirBuilder::new()
        .mode(0o700)
        .create(&left)
        .expect("a folder");
    drop(UnixListener::bind(left.join("port")).expect("a socket"));
    sandbox.launch("hello").start().wait_exit();
    sandbox.assert_clean();
}

/// A console project that prints and ends with code 5, for whatever SDK is at hand.
fn project(folder: &Path) {
    let framework = match runtime_version() {
        (major, _) if dotnet_root().join("sdk").join("3.1.102").is_dir() && major < 10 => {
            "netcoreapp3.1".to_owned()
        }
        (major, minor) => format!("net{major}.{minor}"),
    };
    let text = format!(
        "<Project Sdk=\"Microsoft.NET.Sdk\"><PropertyGroup><OutputType>Exe</OutputType>\
         <TargetFramework>{framework}</TargetFramework></PropertyGroup></Project>"
    );
    fs::write(folder.join("app.csproj"), text).expect("a project file");
    let source =
        "class P { static int Main() { System.Console.WriteLine(\"app runs\"); return 5; } }";
    fs::write(folder.join("P.cs"), source).expect("a source file");
    // No package source: everything that is needed is in the SDK.
    fs::write(
        folder.join("NuGet.config"),
        "<configuration><packageSources><clear/></packageSources></configuration>",
    )
    .expect("a package configuration");
}

#[test]
fn dotnet_run_is_followed_past_the_sdks_own_processes() {
    let sandbox = Sandbox::new();
    let folder = sandbox.folder().join("app");
    fs::create_dir_all(&folder).expect("a folder");
    project(&folder);
    let program = sandbox
        .launch("hello")
        .program(dotnet_root().join("dotnet"))
        .args([
            "run",
            "--project",
            &folder.join("app.csproj").display().to_string(),
        ])
        .cwd(&folder)
        .env("DOTNET_ROLL_FORWARD", "LatestMajor")
        // The SDK leaves files of its own in the temporary folder.
        .env("TMPDIR", &folder)
        .stop_at_entry()
        .with(|launch| launch.follow = child(None))
        .start();
    assert_eq!(program.wait_stop().reasons, [StopReason::Entry]);
    let told = program.status().program.expect("the command line is told");
    assert!(told.contains("app"), "{told}");
    program.cont();
    let exit = program.wait_exit();
    assert!(
        matches!(exit, Exit::Code(5) | Exit::Unknown { .. }),
        "{exit:?}"
    );
    program.wait_output("app runs");
    drop(program);
    let left = fs::read_dir(&folder).expect("the folder").flatten();
    let ours: Vec<_> = left
        .map(|entry| entry.file_name())
        .filter(|name| {
            let name = name.to_string_lossy();
            name.starts_with("clr-debug-pipe") || name.starts_with("dotnet-diagnostic")
        })
        .collect();
    assert!(ours.is_empty(), "{ours:?}");
}
