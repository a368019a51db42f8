//! Debugging a .NET child of the launched program: `dotnet run`, `dotnet test`, any tool that starts one.
//!
//! Every runtime below the launched program reports to our diagnostics port before it runs any code. The first one
//! that is wanted meets its handshake semaphores and becomes the debugged program; all others run on untouched.
//!
//! Invariant: the port is served as long as the launched program or anything below it may start a runtime, because a
//! runtime that finds the port dead would wait for ever.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use cordebug::diagnostics_port::{Closer, DiagnosticsPort};
use cordebug::handshake::Handshake;
use cordebug::pidfd::ProcessHandle;
use cordebug::procfs;
use cordebug::spawn::{self, ExitReport, ProcessGroup};

use crate::api::{Error, ErrorCode};
use crate::engine::{Engine, Input};
use crate::launching::StartupNews;

/// How long a resumed runtime may take to reach its debugger.
const ARRIVAL: Duration = Duration::from_secs(30);

/// The launched program that is not itself debugged, and the port that its children report to.
#[derive(Debug)]
pub(crate) struct Following {
    seen: Arc<Mutex<Vec<String>>>,
    _port: Closer,
}

impl Engine<'_> {
    /// Starts the program and waits for a .NET child of it.
    pub(crate) fn begin_following(
        &mut self,
        mut command: Command,
        group: ProcessGroup,
        wanted: Option<String>,
        cancelled: Arc<AtomicBool>,
    ) -> Result<(), Error> {
        let failed = |error: std::io::Error| {
            Error::new(
                ErrorCode::LaunchFailed,
                format!("the diagnostics port cannot be opened: {error}"),
            )
            .hint("check that TMPDIR (or /tmp) exists and is writable; `ndbg doctor` tells more")
        };
        let port = DiagnosticsPort::open().map_err(failed)?;
        let (name, value) = port.environment();
        command.env(name, value);
        // vstest gives its test host 90 s to connect, which a user who looks at a breakpoint may well exceed.
        if command
            .get_envs()
            .all(|(name, _)| name != "VSTEST_CONNECTION_TIMEOUT")
        {
            command.env("VSTEST_CONNECTION_TIMEOUT", "86400");
        }
        let inbox = self.inbox.clone();
        let gated = spawn::spawn_gated(command, group, move |report| {
            let _ = inbox.send(Input::LauncherEnded(report));
        })
        .map_err(|error| {
            Error::new(
                ErrorCode::LaunchFailed,
                format!("the program cannot be started: {error}"),
            )
        })?;
        let launcher = gated.pid();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let chooser = Chooser {
            launcher,
            wanted,
            found: false,
            cancelled,
            seen: seen.clone(),
            inbox: self.inbox.clone(),
        };
        let mut chooser = chooser;
        let port = port
            .serve(move |pid| chooser.arrived(pid))
            .map_err(failed)?;
        self.following = Some(Following { seen, _port: port });
        gated.release().map_err(|error| {
            Error::new(
                ErrorCode::LaunchFailed,
                format!("the program cannot be started: {error}"),
            )
        })
    }

    /// The launched program ended; if nothing below it became the debugged program, that was all.
    pub(crate) fn launcher_ended(&mut self, report: ExitReport) {
        if std::mem::take(&mut self.ending.awaits_launcher)
            && let Some(report) = self.exit_report()
        {
            // The child's end was waiting for this.
            self.process_ended(report);
            return;
        }
        let Some(following) = &mut self.following else {
            return;
        };
        if self.starting.is_none() || self.target.is_some() {
            return;
        }
        let seen = following
            .seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .join("\n  ");
        let message = if seen.is_empty() {
            "the program ended without starting a .NET child that could be debugged".to_owned()
        } else {
            format!(
                "the program ended without starting the wanted .NET child; it started:\n  {seen}"
            )
        };
        let error = Error::new(ErrorCode::LaunchFailed, message).hint(
            "launch the program itself, or change what the child's command line must contain",
        );
        self.following_failed(error, report);
    }
}

/// Decides for each runtime that reports, on the port's thread.
struct Chooser {
    launcher: u32,
    wanted: Option<String>,
    found: bool,
    cancelled: Arc<AtomicBool>,
    seen: Arc<Mutex<Vec<String>>>,
    inbox: Sender<Input>,
}

impl Chooser {
    /// Called while the runtime in `pid` is suspended; it is resumed when this returns.
    fn arrived(&mut self, pid: u32) {
        let line = procfs::command_line(pid).unwrap_or_default();
        let ours = pid != self.launcher && procfs::is_descendant(pid, std::process::id());
        tracing::debug!(pid, ?line, ours, "a runtime reports");
        if self.found || !ours || self.cancelled.load(Ordering::SeqCst) {
            return;
        }
        if !is_wanted(&line, self.wanted.as_deref()) {
            self.seen
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(line.join(" "));
            return;
        }
        match Handshake::prepare(pid) {
            Ok(handshake) => {
                self.found = true;
                self.meet(pid, handshake);
            }
            Err(error) => {
                tracing::warn!(%error, pid, "the start-up semaphores cannot be made; the child runs without a debugger")
            }
        }
    }

    /// Waits, elsewhere, for the runtime to reach its handshake.
    fn meet(&self, pid: u32, handshake: Handshake) {
        let (inbox, cancelled) = (self.inbox.clone(), self.cancelled.clone());
        let handle = ProcessHandle::open(pid).ok();
        let waiting = thread::Builder::new()
            .name("start-up".into())
            .spawn(move || {
                let given_up = || cancelled.load(Ordering::SeqCst) || !procfs::is_alive(pid);
                let news = match handshake.wait_started(Instant::now() + ARRIVAL, given_up) {
                    Ok(true) => StartupNews::Ready { pid, handshake },
                    Ok(false) if !procfs::is_alive(pid) => {
                        let report = handle.map_or(ExitReport::Unknown, |it| it.wait());
                        StartupNews::ChildEnded(report)
                    }
                    Ok(false) => StartupNews::Failed(
                        Error::new(
                            ErrorCode::LaunchFailed,
                            format!("the .NET child {pid} did not reach the debugger"),
                        )
                        .hint("debugging may be switched off in it: DOTNET_EnableDiagnostics"),
                    ),
                    Err(error) => {
                        StartupNews::Failed(Error::new(ErrorCode::LaunchFailed, error.to_string()))
                    }
                };
                let _ = inbox.send(Input::Startup(news));
            });
        if let Err(error) = waiting {
            tracing::warn!(%error, "no thread for the start-up; the child runs without a debugger");
        }
    }
}

/// Whether a process with this command line is what the user means: it matches, and it is not a part of the SDK.
fn is_wanted(line: &[String], wanted: Option<&str>) -> bool {
    !is_sdk_tool(line) && wanted.is_none_or(|part| line.join(" ").contains(part))
}

/// The `dotnet` command line tool itself, and what lies in an SDK's folder: compilers, MSBuild, vstest.
fn is_sdk_tool(line: &[String]) -> bool {
    let Some((command, arguments)) = line.split_first() else {
        return true;
    };
    if in_sdk_folder(command) {
        return true;
    }
    if !command.ends_with("/dotnet") && command != "dotnet" {
        return false;
    }
    // `dotnet [host options] app.dll …` and `dotnet exec [host options] app.dll …` run a program; all else is the CLI.
    let mut arguments = arguments.iter().map(String::as_str).peekable();
    arguments.next_if_eq(&"exec");
    while let Some(argument) = arguments.next() {
        if argument.starts_with("--") {
            // Host options take a value: --fx-version, --roll-forward, --depsfile, --runtimeconfig, ….
            arguments.next();
            continue;
        }
        let is_program = argument.ends_with(".dll") || argument.ends_with(".exe");
        return !is_program || in_sdk_folder(argument);
    }
    true
}

/// Whether a path leads into `…/sdk/<version>/…`.
fn in_sdk_folder(path: &str) -> bool {
    let mut parts = path.split('/').peekable();
    while let Some(part) = parts.next() {
        if part == "sdk"
            && parts
                .peek()
                .is_some_and(|next| next.starts_with(|first: char| first.is_ascii_digit()))
        {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, wanted: Option<&str>, expected: bool) {
        let line: Vec<String> = line.split(' ').map(str::to_owned).collect();
        assert_eq!(is_wanted(&line, wanted), expected, "{line:?}");
    }

    #[test]
    fn programs_are_told_from_the_sdks_own() {
        check("/usr/share/dotnet/dotnet run --project x", None, false);
        check("dotnet test", None, false);
        check("dotnet build", None, false);
        check(
            "/d/dotnet exec /d/sdk/10.0.401/vstest.console.dll --port 1",
            None,
            false,
        );
        check(
            "/d/dotnet exec --runtimeconfig /p/t.runtimeconfig.json --depsfile /p/t.deps.json /n/testhost.dll --port 1",
            None,
            true,
        );
        check("/d/sdk/10.0.401/Roslyn/bincore/csc @x.rsp", None, false);
        check(
            "/d/dotnet /d/sdk/10.0.401/MSBuild.dll /nodemode:1",
            None,
            false,
        );
        check("/d/dotnet /p/bin/app.dll a b", None, true);
        check("/d/dotnet exec /p/bin/app.dll", None, true);
        check("/d/dotnet --roll-forward Major /p/bin/app.dll", None, true);
        check("/p/bin/Debug/net10.0/app --flag", None, true);
        check("/p/bin/Debug/net10.0/app --flag", Some("other"), false);
        check("/p/bin/Debug/net10.0/app --flag", Some("app --fl"), true);
        check("/home/sdk/app", None, true);
    }
}
