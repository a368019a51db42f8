//! `ndbg run`: a program under the debugger, in this terminal.
//!
//! The program has our three streams and is in our process group, so the terminal treats it as if it had been started
//! alone. We only look on: an exception that nobody catches is told, then the program ends as it would without us. An
//! assertion that fails is told by us only: the framework does not end a program that is debugged, and says nothing.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use host::api::{
    Console, Error, ErrorCode, ExceptionReport, Exit, Frame, Launch, Reply, Request, State, Status,
    StopReason,
};
use host::project::{self, BuildError, BuildOptions};
use host::{HostProgram, Session, Settled};

use crate::args::RunArguments;
use crate::exit;
use crate::report;
use crate::signals::{Signals, own_group};

/// How long the debugger may take for one request.
const REQUEST: Duration = Duration::from_secs(30);
/// How long a program may take until the debugger has it.
const LAUNCH: Duration = Duration::from_secs(90);
/// How long one look at a running program takes; it is then looked at again.
const LOOK: Duration = Duration::from_secs(3600);
/// Frames of a stack that are shown.
const FRAMES: u32 = 64;

/// Runs a program to its end.
pub(crate) fn run(arguments: RunArguments) -> ExitCode {
    let arguments = arguments.program;
    let (program, args) = match arguments.command() {
        Ok(command) => command,
        Err(error) => {
            exit::tell(&error);
            return exit::USAGE.into();
        }
    };
    let exists = fs::metadata(&program).is_ok();
    let signals = match Signals::take() {
        Ok(signals) => signals,
        Err(error) => return exit::failed(&error),
    };
    let launch = Launch {
        program,
        args,
        cwd: arguments.cwd,
        env: arguments.env.into_iter().collect(),
        console: Console::Inherit,
        process_group: own_group(),
        ..Launch::default()
    };
    let options = BuildOptions {
        configuration: arguments.configuration,
        framework: arguments.framework,
        env: launch.env.clone(),
        cancelled: &|| signals.asked().is_some(),
        ..BuildOptions::default()
    };
    let ran = run_to_the_end(launch, &options, &signals);
    if ran.as_ref().is_err_and(|it| it.code == ErrorCode::HostDied) {
        // The program is in our group, which therefore tells nothing about its children.
        host::processes::end_everything_below();
    }
    match ran {
        Ok(code) => code.into(),
        // Whoever asked knows why.
        Err(_) if let Some(signal) = signals.asked() => signalled(signal).into(),
        Err(error) => {
            exit::tell(&error);
            exit::code_of(&error, exists).into()
        }
    }
}

fn signalled(signal: i32) -> u8 {
    exit::SIGNALLED.saturating_add(u8::try_from(signal).unwrap_or(0))
}

fn run_to_the_end(
    mut launch: Launch,
    options: &BuildOptions<'_>,
    signals: &Signals,
) -> Result<u8, Error> {
    if project::is_project(&launch.program) {
        launch.program = build(&launch.program, options)?;
    }
    // Not earlier: what a build leaves running on purpose is none of our business.
    host::processes::adopt_orphans();
    let (stdin, stdout, stderr) = (io::stdin(), io::stdout(), io::stderr());
    let files = [stdin.as_fd(), stdout.as_fd(), stderr.as_fd()];
    let session = Session::launch(
        &HostProgram::default(),
        launch,
        &files,
        Instant::now() + LAUNCH,
    )?;
    signals.give_to(&session);
    let status = watch(&session);
    signals.forget();
    let status = status?;
    if let Some(Exit::Signal {
        by_debugger: true, ..
    }) = &status.exit
    {
        for note in &status.notes {
            let _ = writeln!(io::stderr().lock(), "ndbg: {note}");
        }
    }
    match status.exit.as_ref().and_then(|exit| exit.shell_code()) {
        // A process tells the low byte of its code only.
        Some(code) => Ok(code.to_le_bytes().first().copied().unwrap_or(0)),
        None => Err(session.died().unwrap_or_else(|| {
            Error::new(
                ErrorCode::Internal,
                "the program has ended, but how cannot be told",
            )
        })),
    }
}

/// Builds a project; a person is told that this takes a while.
fn build(path: &Path, options: &BuildOptions<'_>) -> Result<std::path::PathBuf, Error> {
    let shows_progress = io::stderr().is_terminal();
    if shows_progress {
        let _ = writeln!(io::stderr().lock(), "building {} …", path.display());
    }
    let built = project::build(path, options, &mut |line| tracing::info!("{line}"));
    match built {
        Ok(built) => Ok(built.program),
        Err(error @ BuildError::SeveralFrameworks { .. }) => {
            Err(Error::from(error).hint("say which: ndbg run --framework NAME"))
        }
        Err(error) => Err(error.into()),
    }
}

/// Waits for the end of the program and tells the exceptions that it does not handle.
fn watch(session: &Session) -> Result<Status, Error> {
    let mut resumes = session.status().resumes;
    loop {
        let status = match session.wait(resumes, Instant::now() + LOOK) {
            Settled::NotYet(_) => continue,
            Settled::Yes(status) => status,
        };
        match status.state {
            State::Stopped => {}
            State::Exited => return Ok(*status),
            State::Detached => {
                return Err(session.died().unwrap_or_else(|| {
                    Error::new(
                        ErrorCode::Internal,
                        "the debugger has let go of the program",
                    )
                }));
            }
            // Only after the death of the host.
            State::Starting | State::Running => {
                return Err(session.died().unwrap_or_else(|| {
                    Error::new(ErrorCode::HostDied, "the debugger's host process is gone")
                }));
            }
        }
        for reason in status.stop.iter().flat_map(|stop| &stop.reasons) {
            let exception = status.stop.as_ref().and_then(|it| it.exception.as_ref());
            tell(session, reason, exception);
        }
        match session.request(Request::Continue, Instant::now() + REQUEST) {
            Ok(Reply::Status(status)) => resumes = status.resumes,
            Ok(_) => {}
            // It was ended while it was stopped: its end is on its way.
            Err(error) if matches!(error.code, ErrorCode::Exited | ErrorCode::NotStopped) => {}
            Err(error) => return Err(error),
        }
    }
}

/// Tells what a person would miss.
fn tell(session: &Session, reason: &StopReason, exception: Option<&ExceptionReport>) {
    let text = match reason {
        StopReason::UnhandledException => {
            let (frames, more) = stack(session);
            report::unhandled(exception, &frames, more)
        }
        StopReason::AssertionFailed { message, detail } => {
            let (frames, more) = stack(session);
            report::assertion(message.as_deref(), detail.as_deref(), &frames, more)
        }
        _ => return,
    };
    // The program goes on in any case.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// The first frames of the thread that stopped, and whether there are more.
fn stack(session: &Session) -> (Vec<Frame>, bool) {
    let request = Request::Stack {
        thread: None,
        start: 0,
        count: FRAMES,
    };
    match session.request(request, Instant::now() + REQUEST) {
        Ok(Reply::Stack { frames, more, .. }) => (frames, more),
        Ok(_) => (Vec::new(), false),
        Err(error) => {
            tracing::warn!(%error, "the stack cannot be read");
            (Vec::new(), false)
        }
    }
}
