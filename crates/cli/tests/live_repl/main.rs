//! Live tests of the prompt: `ndbg debug` and `ndbg attach` as a person or a script uses them, on real C# programs.
//!
//! Each test makes a sandbox first, which asserts at its end that no process, semaphore, pipe or socket is left.

mod ends;
mod orders;
mod person;
mod prompt;
mod scripts;

use std::process::{Command, Stdio};

use testkit::fixtures::{self, Fixture};
use testkit::ran::Ran;
use testkit::sandbox::Sandbox;

/// The environment of `ndbg` in a sandbox, on the .NET under test.
fn surround(sandbox: &Sandbox, command: &mut Command) {
    command
        .envs(fixtures::dotnet_environment())
        .env("DOTNET_ROOT", fixtures::dotnet_root())
        .env("XDG_STATE_HOME", sandbox.folder().join("state"))
        .env("TERM", "xterm")
        .env_remove("NO_COLOR");
    sandbox.adopt(command);
}

/// `ndbg debug` of the fixture with these options, which end before its own arguments.
fn debug(sandbox: &Sandbox, options: &[&str], arguments: &[&str]) -> Command {
    let mut command = Command::new(fixtures::ndbg());
    command.arg("debug").args(options);
    command
        .arg(Fixture::named("terminal").dll())
        .args(arguments);
    command.stdin(Stdio::null());
    surround(sandbox, &mut command);
    command
}

/// A command that obeys each of these in turn and ends.
fn batch(sandbox: &Sandbox, commands: &[&str], arguments: &[&str]) -> Command {
    let mut options = vec!["--batch"];
    options.extend(commands.iter().flat_map(|command| ["--ex", command]));
    debug(sandbox, &options, arguments)
}

/// Text without what differs from run to run: folders, addresses, bytes, and the numbers of threads and processes.
fn normal(text: &str) -> String {
    let fixture = Fixture::named("terminal");
    let source = fixture.marker("first").file;
    let folder = source.parent().expect("a file is in a folder");
    let text = text
        .replace(&format!("{}/", folder.display()), "…/")
        .replace(&format!("{}/", fixture.folder().display()), "…/");
    let mut lines: Vec<_> = text.lines().map(normal_line).collect();
    // How many threads the runtime has besides is its own business.
    lines.retain(|line| !line.contains("native, background"));
    let mut text = lines.join("\n") + "\n";
    let here = "Thread N:\nhere\n";
    while text.contains(&here.repeat(2)) {
        text = text.replace(&here.repeat(2), here);
    }
    text
}

fn normal_line(line: &str) -> String {
    let mut line = line.to_owned();
    for word in ["thread ", "Thread ", "process "] {
        let mut from = 0;
        while let Some(at) = line.get(from..).and_then(|rest| rest.find(word)) {
            let start = from + at + word.len();
            let digits = line[start..].find(|it: char| !it.is_ascii_digit());
            let end = digits.map_or(line.len(), |digits| start + digits);
            if end > start {
                line.replace_range(start..end, "N");
            }
            from = start + 1;
        }
    }
    if let Some(at) = line.find(", .NET ") {
        line.truncate(at);
        line.push_str(", .NET VERSION.");
    }
    if let Some(at) = line.find("0x7") {
        let digits = line[at + 2..].find(|it: char| !it.is_ascii_hexdigit());
        let end = digits.map_or(line.len(), |digits| at + 2 + digits);
        if end - at > 8 {
            let rest = if line[end..].starts_with(": ") {
                ""
            } else {
                &line[end..]
            };
            line = format!("{}ADDRESS{rest}", &line[..at]);
        }
    }
    line
}
