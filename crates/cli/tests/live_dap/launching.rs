//! Launch and attach, output and ends.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use testkit::fixtures::{self, Fixture};
use testkit::procfs;
use testkit::sandbox::Sandbox;

use crate::client::Editor;

#[test]
fn program_runs_to_its_end_with_its_output_and_exit_code() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::initialized(&sandbox);
    let hello = Fixture::named("hello");
    editor.launch(
        &hello,
        &[],
        json!({"args": ["--exit", "7", "a b"], "env": {"X": "1"}}),
    );
    let (output, code) = editor.end();
    assert!(
        output.contains("[a b]") && output.contains("bye"),
        "{output}"
    );
    assert_eq!(code, Some(7));
    assert!(editor.disconnect().success());
}

#[test]
fn breakpoints_are_there_before_the_first_line_runs() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::initialized(&sandbox);
    let hello = Fixture::named("hello");
    let stop = editor.launch_to(&hello, &["first"]);
    assert_eq!(stop["reason"], "breakpoint");
    assert_eq!(stop["allThreadsStopped"], true);
    assert_eq!(stop["hitBreakpointIds"], json!([1]));
    let thread = stop["threadId"].clone();
    let stack = editor.ask("stackTrace", json!({"threadId": thread, "levels": 1}));
    let top = &stack["stackFrames"][0];
    assert_eq!(top["line"], hello.marker("first").line);
    assert!(
        top["name"]
            .as_str()
            .is_some_and(|name| name.contains("Main")),
        "{top}"
    );
    editor.ask("continue", json!({"threadId": thread}));
    let (output, code) = editor.end();
    assert!(output.starts_with("hello"), "{output}");
    assert_eq!(code, Some(0));
}

#[test]
fn a_host_that_died_before_the_launch_is_replaced_and_knows_the_breakpoints() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::initialized(&sandbox);
    let hello = Fixture::named("hello");
    let source = json!({"path": hello.marker("first").file});
    let lines = json!([{"line": hello.marker("first").line}]);
    editor.ask(
        "setBreakpoints",
        json!({"source": source, "breakpoints": lines}),
    );
    let hosts = || {
        let processes = sandbox.processes().into_iter();
        processes.filter(|it| it.command.ends_with(" host "))
    };
    let host = hosts().next().expect("one waits").pid;
    procfs::signal(host, rustix::process::Signal::KILL);
    let deadline = testkit::deadline();
    while hosts().any(|it| it.pid == host) {
        assert!(std::time::Instant::now() < deadline);
    }
    editor.launch(&hello, &[], json!({}));
    let stop = editor.event("stopped");
    assert_eq!(stop["reason"], "breakpoint");
    assert_eq!(stop["hitBreakpointIds"], json!([1]));
    assert!(editor.disconnect().success());
}

#[test]
fn entry_is_the_first_line_of_main() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::initialized(&sandbox);
    editor.launch(&Fixture::named("hello"), &[], json!({"stopAtEntry": true}));
    let stop = editor.event("stopped");
    assert_eq!(stop["reason"], "entry");
    assert!(editor.disconnect().success());
}

#[test]
fn program_is_started_again_with_its_breakpoints() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::initialized(&sandbox);
    let hello = Fixture::named("hello");
    let first = editor.launch_to(&hello, &["last"]);
    editor.ask("restart", json!({}));
    let second = editor.event("stopped");
    assert_eq!(first["hitBreakpointIds"], second["hitBreakpointIds"]);
    editor.ask("continue", json!({"threadId": second["threadId"]}));
    assert_eq!(editor.end().1, Some(0));
}

#[test]
fn attached_program_is_stopped_and_left_running() {
    let sandbox = Sandbox::new();
    let bare = sandbox.bare("loops").args(["sleep", "20"]).start();
    bare.line_starting("tick 1");
    let mut editor = Editor::initialized(&sandbox);
    let attach = editor.send("attach", json!({"processId": bare.pid().to_string()}));
    editor.ask("configurationDone", json!({}));
    let answer = editor.answer(attach);
    assert_eq!(answer["success"], true, "{answer}");
    // It cannot be started again from here, so the editor is not to ask for that.
    let told = editor.event("capabilities");
    assert_eq!(told["capabilities"]["supportsRestartRequest"], false);
    editor.ask("pause", json!({"threadId": bare.pid()}));
    let stop = editor.event("stopped");
    assert_eq!(stop["reason"], "pause");
    assert!(editor.disconnect().success());
    assert!(procfs::is_alive(bare.pid()));
}

#[test]
fn what_cannot_be_launched_is_told_to_the_user() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::initialized(&sandbox);
    let launch = editor.send("launch", json!({"program": "/does/not/exist.dll"}));
    editor.ask("configurationDone", json!({}));
    let answer = editor.answer(launch);
    assert_eq!(answer["success"], false);
    assert_eq!(answer["body"]["error"]["showUser"], true);
    let text = answer["message"].as_str().expect("a message");
    assert!(text.contains("/does/not/exist.dll"), "{text}");
    editor.event_or_end("terminated");
}

#[test]
fn editor_that_is_gone_leaves_nothing() {
    for stopped in [false, true] {
        let sandbox = Sandbox::new();
        let mut editor = Editor::initialized(&sandbox);
        let markers: &[&str] = if stopped { &["ready"] } else { &[] };
        editor.launch(
            &Fixture::named("loops"),
            markers,
            json!({"args": ["silent"]}),
        );
        if stopped {
            editor.event("stopped");
            editor.kill();
        } else {
            assert!(editor.hang_up().success());
        }
    }
}

#[test]
fn program_runs_in_a_terminal_of_the_editor() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::start(&sandbox);
    editor.ask(
        "initialize",
        json!({"adapterID": "x", "supportsRunInTerminalRequest": true}),
    );
    let hello = Fixture::named("hello");
    let settings = json!({"program": hello.dll(), "args": ["--exit", "5", "--stdin"],
        "console": "integratedTerminal"});
    let launch = editor.send("launch", settings);
    editor.ask("configurationDone", json!({}));
    let (seq, wanted) = editor.asked("runInTerminal");
    assert_eq!(wanted["kind"], "integrated");
    let words = wanted["args"].as_array().expect("a command line").iter();
    let words: Vec<_> = words.map(|word| word.as_str().expect("a text")).collect();
    let mut command = Command::new(words[0]);
    command
        .args(&words[1..])
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    sandbox.adopt(&mut command);
    let terminal = command.spawn().expect("the terminal's command starts");
    editor.respond(seq, true);
    let answer = editor.answer(launch);
    assert_eq!(answer["success"], true, "{answer}");
    let (output, code) = editor.end();
    assert_eq!((output.as_str(), code), ("", Some(5)));
    let shown = terminal.wait_with_output().expect("our own child");
    assert_eq!(shown.status.code(), Some(5));
    let shown = String::from_utf8_lossy(&shown.stdout);
    assert!(
        shown.contains("end of input") && shown.contains("bye"),
        "{shown}"
    );
    assert!(editor.disconnect().success());
}

#[test]
fn terminal_that_is_refused_ends_the_launch() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::start(&sandbox);
    editor.ask(
        "initialize",
        json!({"adapterID": "x", "supportsRunInTerminalRequest": true}),
    );
    let hello = Fixture::named("hello");
    let settings = json!({"program": hello.dll(), "console": "integratedTerminal"});
    let launch = editor.send("launch", settings);
    editor.ask("configurationDone", json!({}));
    let (seq, _) = editor.asked("runInTerminal");
    editor.respond(seq, false);
    let answer = editor.answer(launch);
    assert_eq!(answer["success"], false, "{answer}");
    let text = answer["message"].as_str().expect("a message");
    assert!(
        text.contains("opened no terminal: no terminal today"),
        "{text}"
    );

    // One that is opened and does nothing is waited for, and that is said.
    let mut editor = Editor::start(&sandbox);
    editor.ask(
        "initialize",
        json!({"adapterID": "x", "supportsRunInTerminalRequest": true}),
    );
    let settings = json!({"program": hello.dll(), "console": "integratedTerminal"});
    editor.send("launch", settings);
    editor.ask("configurationDone", json!({}));
    let (seq, _) = editor.asked("runInTerminal");
    editor.respond(seq, true);
    let said = editor.event("output")["output"].clone();
    let said = said.as_str().expect("a text");
    assert!(said.contains("waiting for the editor's terminal"), "{said}");
    assert!(editor.hang_up().success());
}

#[test]
fn project_is_built_first_and_its_progress_is_told() {
    // An SDK leaves files in the temporary folder.
    let sandbox = Sandbox::with_default_tmp();
    let folder = sandbox.folder().join("built");
    std::fs::create_dir_all(&folder).expect("a folder");
    let project = folder.join("built.csproj");
    let sdks = std::fs::read_dir(fixtures::dotnet_root().join("sdk")).expect("an SDK");
    let majors = sdks.flatten().filter_map(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        name.split('.').next()?.parse::<u32>().ok()
    });
    let framework = match majors.max().expect("an SDK") {
        3 => "netcoreapp3.1".to_owned(),
        major => format!("net{major}.0"),
    };
    let text = format!(
        "<Project Sdk=\"Microsoft.NET.Sdk\"><PropertyGroup><OutputType>Exe</OutputType>\
         <TargetFramework>{framework}</TargetFramework></PropertyGroup></Project>"
    );
    std::fs::write(&project, text).expect("a file");
    let source = "System.Console.WriteLine(\"built\");\n";
    let program = format!("static class P {{ static void Main() {{ {source} }} }}");
    std::fs::write(folder.join("P.cs"), program).expect("a file");

    let mut editor = Editor::start(&sandbox);
    editor.ask(
        "initialize",
        json!({"adapterID": "coreclr", "supportsProgressReporting": true}),
    );
    let launch = editor.send("launch", json!({"program": project}));
    editor.ask("configurationDone", json!({}));
    let start = editor.event("progressStart");
    let title = start["title"].as_str().expect("a title");
    assert!(title.contains("built.csproj"), "{start}");
    let id = start["progressId"].clone();
    assert_eq!(editor.event("progressUpdate")["progressId"], id);
    assert_eq!(editor.event("progressEnd")["progressId"], id);
    let answer = editor.answer(launch);
    assert_eq!(answer["success"], true, "{answer}");
    let (output, code) = editor.end();
    assert_eq!((output.as_str(), code), ("built\n", Some(0)));
    assert!(editor.disconnect().success());

    // A runtime before .NET 5 does not tell that it starts.
    if framework != "netcoreapp3.1" {
        run_is_followed(&sandbox, &folder);
    }
}

/// Of `dotnet run` the program that it starts is debugged.
#[track_caller]
fn run_is_followed(sandbox: &Sandbox, folder: &Path) {
    let mut editor = Editor::initialized(sandbox);
    let dotnet = fixtures::dotnet_root().join("dotnet");
    let run = json!({"program": dotnet, "args": ["run", "--no-build"], "cwd": folder});
    let launch = editor.send("launch", run);
    editor.ask(
        "setBreakpoints",
        json!({"source": {"path": folder.join("P.cs")}, "breakpoints": [{"line": 1}]}),
    );
    editor.ask("configurationDone", json!({}));
    let answer = editor.answer(launch);
    assert_eq!(answer["success"], true, "{answer}");
    let stop = editor.event("stopped");
    assert_eq!(stop["reason"], "breakpoint", "{stop}");
    let stack = editor.ask("stackTrace", json!({"threadId": stop["threadId"]}));
    assert_eq!(stack["stackFrames"][0]["name"], "P.Main()", "{stack}");
    editor.ask("continue", json!({"threadId": stop["threadId"]}));
    let (output, _) = editor.end();
    assert_eq!(output, "built\n");
    assert!(editor.disconnect().success());
}

#[test]
fn child_of_a_launcher_is_debugged_if_that_is_asked_for() {
    let sandbox = Sandbox::new();
    let (children, hello) = (Fixture::named("children"), Fixture::named("hello"));
    let dotnet = fixtures::dotnet_root().join("dotnet");
    let mut editor = Editor::initialized(&sandbox);
    let settings = json!({"program": children.dll(), "args": [dotnet, hello.dll()], "followChild": "hello.dll"});
    let launch = editor.send("launch", settings);
    let last = hello.marker("last");
    editor.ask(
        "setBreakpoints",
        json!({"source": {"path": last.file}, "breakpoints": [{"line": last.line}]}),
    );
    editor.ask("configurationDone", json!({}));
    let answer = editor.answer(launch);
    assert_eq!(answer["success"], true, "{answer}");
    let stop = editor.event("stopped");
    let stack = editor.ask("stackTrace", json!({"threadId": stop["threadId"]}));
    assert_eq!(stack["stackFrames"][0]["line"], last.line, "{stack}");
    assert!(editor.disconnect().success());

    // What only watches is refused, with what to do.
    let mut editor = Editor::initialized(&sandbox);
    let text = editor.refused(
        "launch",
        json!({"program": dotnet, "args": ["watch", "run"]}),
    );
    assert!(text.contains("give the project itself"), "{text}");
    assert!(editor.disconnect().success());
}

#[test]
fn refused_launch_changes_nothing_and_a_restart_takes_new_settings() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::initialized(&sandbox);
    let fixture = Fixture::named("terminal");
    let file = fixture.marker("call").file;
    let folder = Path::new(&file).parent().expect("a folder");
    let elsewhere = json!({"program": fixture.dll(), "stopAtEntry": true, "console": "integratedterminal",
        "sourceFileMap": {folder.to_str().expect("a name"): "/elsewhere"}});
    let path = |editor: &mut Editor, stop: &Value| {
        let asked = json!({"threadId": stop["threadId"], "levels": 1});
        let stack = editor.ask("stackTrace", asked);
        stack["stackFrames"][0]["source"]["path"].clone()
    };
    let stop = editor.launch_to(&fixture, &["call"]);
    let refused = editor.refused("launch", elsewhere.clone());
    assert!(refused.contains("has a program already"), "{refused}");
    assert_eq!(path(&mut editor, &stop), json!(file));
    editor.ask("restart", json!({"arguments": elsewhere}));
    let told = editor.event("output")["output"].to_string();
    assert!(told.contains("none of internalConsole"), "{told}");
    let stop = editor.event("stopped");
    assert_eq!(path(&mut editor, &stop), "/elsewhere/terminal.cs");
    assert!(editor.disconnect().success());
}
