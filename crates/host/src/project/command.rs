//! Runs the `dotnet` command: bounded in time and output, ended with everything below it when it is given up.

use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use engine::api::ProcessId;
use rustix::process::{Pid, Signal};
use serde::Deserialize;

use super::output::Log;
use super::{BuildError, BuildOptions, find};

/// How often a build that is silent is asked whether it is given up.
const ATTENTION: Duration = Duration::from_millis(20);
/// How long the rest of the output is waited for after the command has ended.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// The longest line that is kept.
const MAX_LINE: u64 = 16 << 10;
/// The longest answer to a question about properties that is kept.
const MAX_ANSWER: usize = 1 << 20;
/// What `dotnet` exits with if no SDK, or none that global.json wants, is there.
const NO_SDK: i32 = 155;

/// The `dotnet` command for one project.
pub(super) struct Runner<'a> {
    pub(super) dotnet: PathBuf,
    pub(super) project: &'a Path,
    pub(super) options: &'a BuildOptions<'a>,
    pub(super) deadline: Instant,
}

/// How a command came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Finished {
    Success,
    Failure,
    NoSdk,
}

/// What a project says of itself, as far as the SDK tells it without building.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Facts {
    target_path: String,
    run_command: String,
    output_type: String,
    target_frameworks: String,
    self_contained: String,
    run_settings_file_path: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Properties {
    properties: Facts,
}

impl Facts {
    /// Refuses a project that does not become one program.
    pub(super) fn check(&self, project: &Path, library: bool) -> Result<(), BuildError> {
        if self.is_unknown() {
            return Ok(());
        }
        let project = project.to_owned();
        let is_program = self.output_type.to_ascii_lowercase().ends_with("exe");
        if !is_program && !library {
            return Err(BuildError::Library {
                project,
                output_type: self.output_type.clone(),
            });
        }
        if self.target_path.is_empty() && !self.target_frameworks.is_empty() {
            let frameworks = self.target_frameworks.split(';').map(str::trim);
            return Err(BuildError::SeveralFrameworks {
                project,
                frameworks: frameworks
                    .filter(|framework| !framework.is_empty())
                    .map(str::to_owned)
                    .collect(),
            });
        }
        Ok(())
    }

    /// Whether the SDK told nothing.
    pub(super) fn is_unknown(&self) -> bool {
        self.output_type.is_empty()
    }

    /// The settings for its tests; a relative path is meant from the project's folder.
    pub(super) fn run_settings(&self, project: &Path) -> Option<PathBuf> {
        let path = self.run_settings_file_path.trim();
        let folder = project.parent()?;
        (!path.is_empty()).then(|| folder.join(path))
    }

    /// The program: the assembly, or the executable of a project that brings its own runtime.
    pub(super) fn program(&self) -> Option<PathBuf> {
        let own_runtime = self.self_contained.eq_ignore_ascii_case("true");
        let path = if own_runtime && !self.run_command.is_empty() {
            &self.run_command
        } else {
            &self.target_path
        };
        (!path.is_empty()).then(|| path.into())
    }
}

impl Runner<'_> {
    /// An SDK is needed; a runtime alone cannot build.
    pub(super) fn check_sdk(&self) -> Result<(), BuildError> {
        let folder = self.dotnet.parent().unwrap_or(Path::new("/"));
        let has_sdk = folder
            .join("sdk")
            .read_dir()
            .is_ok_and(|mut entries| entries.next().is_some());
        if has_sdk {
            return Ok(());
        }
        Err(BuildError::NoSdk {
            project: self.project.to_owned(),
            reason: format!(
                "the .NET in {} has no SDK, only a runtime",
                folder.display()
            ),
        })
    }

    /// What the project says of itself.
    pub(super) fn facts(&self) -> Result<Facts, BuildError> {
        let single_file = find::is_single_file(self.project);
        let mut command = self.command(if single_file { "build" } else { "msbuild" });
        command.arg("-nologo");
        let configuration = escaped(&self.options.configuration);
        command.arg(format!("-p:Configuration={configuration}"));
        if let Some(framework) = &self.options.framework {
            command.arg(format!("-p:TargetFramework={}", escaped(framework)));
        }
        command.arg("-getProperty:TargetPath,RunCommand,OutputType,TargetFrameworks,SelfContained,RunSettingsFilePath");
        let mut log = Log::new(self.project);
        let mut text = String::new();
        let finished = self.run(command, &mut |line| {
            log.line(line);
            if text.len() < MAX_ANSWER {
                text.push_str(line);
                text.push('\n');
            }
        })?;
        let project = self.project.to_owned();
        match finished {
            Finished::Success => {}
            Finished::NoSdk => {
                let reason = log.tail();
                return Err(BuildError::NoSdk { project, reason });
            }
            Finished::Failure if single_file => {
                let reason = "a single C# file needs the .NET 10 SDK or newer".into();
                return Err(BuildError::NoSdk { project, reason });
            }
            // An SDK before 8 does not know the option; any other error comes again, and in full, from the build.
            Finished::Failure => return Ok(Facts::default()),
        }
        // Warnings may precede the answer.
        let answer = text.find('{').and_then(|start| text.get(start..));
        let properties: Option<Properties> = answer.and_then(|json| {
            serde_json::Deserializer::from_str(json)
                .into_iter()
                .next()?
                .ok()
        });
        Ok(properties.map(|it| it.properties).unwrap_or_default())
    }

    /// Builds the project.
    pub(super) fn build(&self, line: &mut dyn FnMut(&str)) -> Result<Finished, BuildError> {
        let mut command = self.command("build");
        command.args(["-nologo", "-verbosity:minimal", "--configuration"]);
        command.arg(escaped(&self.options.configuration));
        if let Some(framework) = &self.options.framework {
            command.arg("--framework").arg(escaped(framework));
        }
        self.run(command, line)
    }

    fn command(&self, verb: &str) -> Command {
        let mut command = Command::new(&self.dotnet);
        command.arg(verb).arg(self.project);
        // No compiler server: it would outlive the build.
        command.arg("-p:UseSharedCompilation=false");
        if let Some(folder) = self.project.parent() {
            // global.json is looked for from the working folder upwards.
            command.current_dir(folder);
        }
        for (name, value) in &self.options.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
            .env_remove(crate::TOKEN_VARIABLE)
            .env("MSBUILDDISABLENODEREUSE", "1")
            .env("DOTNET_CLI_USE_MSBUILD_SERVER", "0")
            .env("MSBUILDTERMINALLOGGER", "off")
            .env("DOTNET_CLI_UI_LANGUAGE", "en")
            .env("DOTNET_NOLOGO", "1");
        command
    }

    /// Runs a command to its end, telling each line of its output.
    fn run(
        &self,
        mut command: Command,
        tell: &mut dyn FnMut(&str),
    ) -> Result<Finished, BuildError> {
        let (reader, writer) = io::pipe()?;
        command
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer)
            .process_group(0);
        // This thread stays until the build has ended, so only the end of the whole front end kills it early.
        engine::processes::end_with_this_thread(&mut command);
        let mut child = Group(command.spawn()?);
        // The command holds the writing end; as long as it lives the end of the output would never come.
        drop(command);
        let (sender, lines) = mpsc::sync_channel(256);
        thread::Builder::new()
            .name("build output".into())
            .spawn(move || read_lines(reader, &sender))?;
        let mut ended: Option<(ExitStatus, Instant)> = None;
        loop {
            match lines.recv_timeout(ATTENTION) {
                Ok(line) => tell(&line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            self.give_up_if_asked()?;
            if ended.is_none()
                && let Some(status) = child.0.try_wait()?
            {
                ended = Some((status, Instant::now() + LAST_WORDS));
            }
            // Something that the build left behind may keep the output open; it is ended with the group.
            if ended.is_some_and(|(_, until)| Instant::now() > until) {
                break;
            }
        }
        let status = loop {
            if let Some(status) = child.0.try_wait()? {
                break status;
            }
            self.give_up_if_asked()?;
            thread::sleep(Duration::from_millis(1));
        };
        Ok(match status.code() {
            Some(0) => Finished::Success,
            Some(NO_SDK) => Finished::NoSdk,
            _ => Finished::Failure,
        })
    }

    /// Dropping the child then ends it with its whole group.
    fn give_up_if_asked(&self) -> Result<(), BuildError> {
        let project = || self.project.to_owned();
        if (self.options.cancelled)() {
            return Err(BuildError::Cancelled { project: project() });
        }
        if Instant::now() > self.deadline {
            return Err(BuildError::TimedOut {
                project: project(),
                timeout: self.options.timeout,
            });
        }
        Ok(())
    }
}

/// A child that leads a process group, which ends with this value.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        let pid = self.0.id();
        if let Ok(None) = self.0.try_wait() {
            // Given up: its processes are runtimes, and leave files when they are killed.
            engine::processes::end_tree(ProcessId(pid));
        } else if let Some(group) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
            // Nothing is left of it after a build that ended well.
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
        }
        let _ = self.0.wait();
    }
}

/// Sends each line; the rest of one that is too long is dropped.
fn read_lines(reader: impl Read, lines: &mpsc::SyncSender<String>) {
    let mut reader = BufReader::new(reader);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        match (&mut reader).take(MAX_LINE).read_until(b'\n', &mut bytes) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let whole = bytes.last() == Some(&b'\n');
        let text = String::from_utf8_lossy(&bytes);
        if lines.send(text.trim_end().to_owned()).is_err() {
            return;
        }
        if !whole && reader.skip_until(b'\n').is_err() {
            return;
        }
    }
}

/// A value as MSBuild takes it on its command line: a `;` in it would begin another property, which can load code from
/// anywhere.
fn escaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"._-".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_properties_begin_no_other_property() {
        assert_eq!(escaped("Release-2.x_y"), "Release-2.x_y");
        assert_eq!(escaped("Debug;X=$(Y)"), "Debug%3BX%3D%24%28Y%29");
    }

    #[test]
    fn lines_are_bounded_and_need_not_be_text() {
        let long = "x".repeat(3 * MAX_LINE as usize);
        let input = format!("one\r\n{long}\nthree\nlast").into_bytes();
        let input = [input, b"\xff".to_vec()].concat();
        let (sender, lines) = mpsc::sync_channel(10);
        read_lines(input.as_slice(), &sender);
        drop(sender);
        let lines: Vec<String> = lines.into_iter().collect();
        let lengths: Vec<usize> = lines.iter().map(String::len).collect();
        assert_eq!(lengths, [3, MAX_LINE as usize, 5, 7]);
        assert_eq!(lines.last().map(String::as_str), Some("last\u{fffd}"));
    }

    #[test]
    fn facts_decide_what_is_launched() {
        let facts = |output_type: &str, target_path: &str, frameworks: &str, own: &str| Facts {
            target_path: target_path.into(),
            run_command: "/p/app".into(),
            output_type: output_type.into(),
            target_frameworks: frameworks.into(),
            self_contained: own.into(),
            run_settings_file_path: String::new(),
        };
        let project = Path::new("/p/app.csproj");
        let plain = facts("WinExe", "/p/app.dll", "", "false");
        plain.check(project, false).expect("a program");
        assert_eq!(plain.program(), Some("/p/app.dll".into()));
        let own = facts("Exe", "/p/app.dll", "", "True");
        assert_eq!(own.program(), Some("/p/app".into()));
        let library = facts("Library", "/p/app.dll", "", "");
        assert!(matches!(
            library.check(project, false),
            Err(BuildError::Library { .. })
        ));
        let several = facts("Exe", "", "net8.0; net9.0;", "");
        match several.check(project, false) {
            Err(BuildError::SeveralFrameworks { frameworks, .. }) => {
                assert_eq!(frameworks, ["net8.0", "net9.0"]);
            }
            other => panic!("{other:?}"),
        }
        Facts::default()
            .check(project, false)
            .expect("the SDK told nothing");
        assert_eq!(Facts::default().program(), None);
    }
}
