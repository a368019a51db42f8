//! Starting programs under the debugger: what they are given, and what is told when they do not start.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use host::api::{ErrorCode, Event, Exit, Origin, Reply, Request, State, StopReason, Stream};
use testkit::fixtures::{Fixture, runtime_version};
use testkit::sandbox::Sandbox;

/// Copies a fixture, so that a test can change its files.
pub(crate) fn copy(fixture: &Fixture, folder: &Path) -> PathBuf {
    fs::create_dir_all(folder).expect("a folder for the copy");
    for entry in fs::read_dir(fixture.folder()).expect("the fixture's folder") {
        let from = entry.expect("an entry").path();
        if from.is_file() {
            let name = from.file_name().expect("a file has a name");
            fs::copy(&from, folder.join(name)).expect("a copy");
        }
    }
    folder.join(fixture.dll().file_name().expect("a dll has a name"))
}

#[test]
fn dll_runs_to_its_end() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("hello").args(["--exit", "7"]).start();
    program.expect_exit(7);
    let text = program.text(Stream::Stdout);
    let hello = format!("hello from .NET {}\n", runtime_version().0);
    assert!(
        text.starts_with(&hello) && text.ends_with("bye\n"),
        "{text}"
    );
    let status = program.status();
    assert_eq!(status.state, State::Exited);
    assert_eq!(status.origin, Some(Origin::Launched));
    let version = status.runtime.expect("the runtime's version is told").0;
    let (major, minor) = runtime_version();
    assert!(
        version.starts_with(&format!("{major}.{minor}.")),
        "{version}"
    );
}

#[test]
fn apphost_runs_like_its_dll() {
    let sandbox = Sandbox::new();
    let fixture = Fixture::named("hello");
    let apphost = fixture.apphost().expect("every SDK brings a template");
    let program = sandbox
        .launch("hello")
        .program(apphost)
        .args(["--exit", "3", "x y"])
        .start();
    program.expect_exit(3);
    let text = program.text(Stream::Stdout);
    assert!(text.contains("arguments: 1\n  [x y]\n"), "{text}");
}

#[test]
fn arguments_reach_the_program_as_they_are() {
    let sandbox = Sandbox::new();
    let arguments = [
        "",
        "two words",
        "$(id) `id` ; | > x",
        "\"'\\",
        "größe 世界",
        "-x",
    ];
    let program = sandbox.launch("hello").args(arguments).start();
    program.expect_exit(0);
    let expected: String = arguments.iter().map(|it| format!("  [{it}]\n")).collect();
    let text = program.text(Stream::Stdout);
    assert!(
        text.contains(&format!("arguments: 6\n{expected}")),
        "{text}"
    );
}

#[test]
fn working_directory_is_the_one_asked_for() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("hello").cwd(sandbox.folder()).start();
    program.expect_exit(0);
    let expected = format!("folder: {}\n", sandbox.folder().display());
    let text = program.text(Stream::Stdout);
    assert!(text.contains(&expected), "{text}");
}

#[test]
fn working_directory_is_the_front_ends_without_a_wish() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("hello").start();
    program.expect_exit(0);
    let own = std::env::current_dir().expect("a test has a folder");
    let text = program.text(Stream::Stdout);
    assert!(
        text.contains(&format!("folder: {}\n", own.display())),
        "{text}"
    );
}

#[test]
fn environment_is_inherited_changed_and_null_removes() {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch("hello")
        .host_env("KEPT", "from the front end")
        .host_env("GONE", "from the front end")
        .host_env("NEW", "old")
        .env("NEW", "new = value")
        .without_env("GONE")
        .args(["--env", "KEPT", "--env", "GONE", "--env", "NEW"])
        .start();
    program.expect_exit(0);
    let text = program.text(Stream::Stdout);
    let expected = "KEPT=from the front end\nGONE=(unset)\nNEW=new = value\n";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn inherited_console_is_the_front_ends_own() {
    let sandbox = Sandbox::new();
    let (stdin, writer) = std::io::pipe().expect("a pipe");
    let (mut reader, stdout) = std::io::pipe().expect("a pipe");
    let (mut error_reader, stderr) = std::io::pipe().expect("a pipe");
    std::io::Write::write_all(&mut { writer }, b"typed\n").expect("a pipe takes a line");
    let program = sandbox
        .launch("hello")
        .args(["--stdin", "--error", "oops"])
        .inherit([stdin.into(), stdout.into(), stderr.into()])
        .start();
    program.expect_exit(0);
    let (mut text, mut errors) = (String::new(), String::new());
    reader.read_to_string(&mut text).expect("UTF-8");
    error_reader.read_to_string(&mut errors).expect("UTF-8");
    assert!(text.contains("read: typed\nend of input\nbye\n"), "{text}");
    assert_eq!(errors, "oops\n");
    assert!(program.output().is_empty(), "nothing of it is captured");
    let input = Request::Input {
        text: "x".into(),
        close: false,
    };
    assert_eq!(program.refused(input), ErrorCode::InvalidParameter);
}

#[test]
fn states_are_told_from_start_to_end() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("hello").start();
    program.expect_exit(0);
    let events = program.wait_event(|event| matches!(event, Event::Exited(_)));
    let states: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Running(status) | Event::Stopped(status) | Event::Exited(status) => {
                Some(status.state)
            }
            _ => None,
        })
        .collect();
    assert_eq!(states, [State::Running, State::Exited]);
}

#[test]
fn missing_file_is_refused() {
    let sandbox = Sandbox::new();
    let missing = sandbox.folder().join("no such.dll");
    let error = sandbox.launch("hello").program(&missing).refused();
    assert_eq!(error.code, ErrorCode::InvalidFile);
    assert!(error.message.contains("no such.dll"), "{error}");
    assert!(error.hint.is_some());
}

#[test]
fn runtime_that_was_not_expected_is_debugged_with_its_own_library() {
    let sandbox = Sandbox::new();
    // The files of a runtime are links to those of another folder, but for the debugger's: these are the wrong ones.
    let real = Fixture::named("hello").dotnet_root().to_owned();
    let root = sandbox.folder().join("root");
    let frameworks = PathBuf::from("shared/Microsoft.NETCore.App");
    let version = newest(&real.join(&frameworks));
    let folder = root.join(&frameworks).join(&version);
    fs::create_dir_all(&folder).expect("our own folder");
    fs::copy(real.join("dotnet"), root.join("dotnet")).expect("a copy");
    std::os::unix::fs::symlink(real.join("host"), root.join("host")).expect("a link");
    let shipped = real.join(&frameworks).join(&version);
    for entry in fs::read_dir(&shipped).expect("the runtime's folder") {
        let from = entry.expect("an entry").path();
        let to = folder.join(from.file_name().expect("a name"));
        if from.to_string_lossy().contains("libmscord") {
            fs::copy(&from, to).expect("a copy");
        } else {
            std::os::unix::fs::symlink(&from, to).expect("a link");
        }
    }
    let program = sandbox.launch("hello").env("DOTNET_ROOT", &root);
    let program = program.stop_at_entry().start();
    program.wait_stop();
    let maps = fs::read_to_string(format!("/proc/{}/maps", program.host_pid())).expect("its host");
    let libraries: Vec<&str> = maps.lines().filter(|it| it.contains("libmscord")).collect();
    assert!(!libraries.is_empty());
    let shipped = shipped.to_string_lossy();
    assert!(
        libraries.iter().all(|it| it.contains(&*shipped)),
        "{libraries:#?}"
    );
    program.cont();
    program.expect_exit(0);
}

/// The name of the newest version in a folder of them.
fn newest(folder: &Path) -> String {
    let (major, minor) = runtime_version();
    let names = fs::read_dir(folder)
        .expect("the folder of versions")
        .flatten();
    let names = names.filter_map(|it| it.file_name().into_string().ok());
    let mut names = names.filter(|it| it.starts_with(&format!("{major}.{minor}.")));
    names.next().expect("the version under test")
}

#[test]
fn missing_framework_is_told_in_the_hosts_own_words() {
    let sandbox = Sandbox::new();
    let fixture = Fixture::named("hello");
    let dll = copy(&fixture, &sandbox.folder().join("app"));
    let config = dll.with_file_name("hello.runtimeconfig.json");
    let text =
        r#"{"runtimeOptions":{"framework":{"name":"Microsoft.NETCore.App","version":"77.0.0"}}}"#;
    fs::write(config, text).expect("our own copy");
    let error = sandbox.launch("hello").program(&dll).refused();
    assert_eq!(error.code, ErrorCode::LaunchFailed, "{error:?}");
    assert!(error.message.contains("77.0.0"), "{error}");
    assert!(error.hint.is_some());
}

#[test]
fn program_that_ends_before_the_debugger_is_ready_is_an_error_with_its_words() {
    let sandbox = Sandbox::new();
    let fixture = Fixture::named("hello");
    let dll = copy(&fixture, &sandbox.folder().join("app"));
    let config = dll.with_file_name("hello.runtimeconfig.json");
    fs::write(config, "{ broken").expect("our own copy");
    let (program, launch) = sandbox
        .launch("hello")
        .program(&dll)
        .begin()
        .expect("a host");
    let error = launch
        .join()
        .expect("no panic")
        .expect_err("it cannot start");
    assert_eq!(error.code, ErrorCode::LaunchFailed);
    assert!(
        error.message.contains("hello.runtimeconfig.json"),
        "{error}"
    );
    // The session says how it ended, and takes no other program.
    let status = program.status();
    assert_eq!(status.state, State::Exited);
    assert!(
        matches!(status.exit, Some(Exit::Code(1..=255))),
        "{status:?}"
    );
    let again = sandbox.launch("hello").request();
    assert_eq!(program.refused(again), ErrorCode::AlreadyStarted);
}

#[test]
fn corrupt_dll_is_refused_before_it_is_started() {
    let sandbox = Sandbox::new();
    let fixture = Fixture::named("hello");
    let dll = copy(&fixture, &sandbox.folder().join("app"));
    fs::write(&dll, "not an assembly").expect("our own copy");
    let error = sandbox.launch("hello").program(&dll).refused();
    assert_eq!(error.code, ErrorCode::NotDotnet, "{error:?}");
    let whole = fs::read(fixture.dll()).expect("the fixture");
    fs::write(&dll, &whole[..whole.len() / 2]).expect("our own copy");
    let error = sandbox.launch("hello").program(&dll).refused();
    assert_eq!(error.code, ErrorCode::InvalidFile, "{error:?}");
}

#[test]
fn one_session_takes_one_program() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("loops").start();
    program.wait_output("tick 1");
    let again = sandbox.launch("hello").request();
    assert_eq!(program.refused(again), ErrorCode::AlreadyStarted);
    program.wait_more_output();
}

#[test]
fn runtime_and_program_are_told_while_it_runs() {
    let sandbox = Sandbox::with_default_tmp();
    let program = sandbox.launch("loops").args(["sleep", "5"]).start();
    let status = program.status();
    assert_eq!(status.state, State::Running);
    let told = status.program.expect("the program is named");
    assert!(told.ends_with("loops.dll sleep 5"), "{told}");
    assert!(status.runtime.is_some());
}

/// The source line at which a program stops that is to stop at its entry, and what it has printed by then.
fn entry_of(fixture: &str) -> (u32, String) {
    let sandbox = Sandbox::new();
    let program = sandbox.launch(fixture).stop_at_entry().start();
    let stop = program.wait_stop();
    assert_eq!(stop.reasons, [StopReason::Entry]);
    let stack = Request::Stack {
        thread: None,
        start: 0,
        count: 1,
    };
    let Ok(Reply::Stack { frames, .. }) = program.request(stack) else {
        panic!("a stopped program has a stack");
    };
    let source = frames.first().and_then(|frame| frame.source.clone());
    let line = source.expect("the entry has a source line").line.0;
    let printed = program.text(Stream::Stdout);
    program.cont();
    program.wait_exit();
    (line, printed)
}

#[test]
fn entry_is_the_first_line_of_main() {
    let first = Fixture::named("hello").marker("first").line;
    // A debug build may count the opening brace as the first statement.
    let (line, printed) = entry_of("hello");
    assert!((first - 1..=first).contains(&line), "line {line}");
    assert_eq!(printed, "");
}

#[test]
fn entry_is_the_first_line_of_an_async_main() {
    let first = Fixture::named("async_main").marker("first").line;
    let (line, printed) = entry_of("async_main");
    assert!((first - 1..=first).contains(&line), "line {line}");
    assert_eq!(printed, "");
}

#[test]
fn entry_is_the_first_top_level_statement() {
    let first = Fixture::named("toplevel").marker("first").line;
    assert_eq!(entry_of("toplevel"), (first, String::new()));
}
