//! Programs that run without a debugger: what tests attach to, and compare with.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Instant;

use crate::fixtures::Fixture;
use crate::procfs::{self, Identity};
use crate::sandbox::Sandbox;
use crate::{PATIENCE, deadline};

/// A run of a fixture that is being prepared.
#[derive(Debug)]
pub struct BareBuilder<'s> {
    sandbox: &'s Sandbox,
    command: Command,
}

impl<'s> BareBuilder<'s> {
    pub(crate) fn new(sandbox: &'s Sandbox, fixture: &Fixture) -> Self {
        let mut command = fixture.command();
        sandbox.adopt(&mut command);
        Self { sandbox, command }
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<'a>(mut self, args: impl IntoIterator<Item = &'a str>) -> Self {
        self.command.args(args);
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Starts it.
    #[track_caller]
    pub fn start(mut self) -> Bare {
        self.command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = self.command.spawn().expect("dotnet starts");
        self.sandbox.note(child.id());
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().expect("piped");
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                // The test may have seen enough; the pipe is drained all the same.
                let _ = sender.send(line);
            }
        });
        let tmp = self.sandbox.tmp();
        Bare {
            identity: Identity::of(child.id()),
            child,
            stdin,
            lines,
            tmp,
        }
    }
}

/// A program that runs without a debugger; it is killed when this is dropped.
#[derive(Debug)]
pub struct Bare {
    child: Child,
    identity: Option<Identity>,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    tmp: PathBuf,
}

impl Bare {
    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Whether it still runs.
    pub fn is_alive(&self) -> bool {
        procfs::is_alive(self.pid())
    }

    /// Waits for the next line of output.
    #[track_caller]
    pub fn line(&self) -> String {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => line,
            Err(error) => panic!("no line from {}: {error}", self.pid()),
        }
    }

    /// Waits for a line that begins so; the line.
    #[track_caller]
    pub fn line_starting(&self, start: &str) -> String {
        let deadline = deadline();
        loop {
            let line = self.line();
            if line.starts_with(start) {
                return line;
            }
            assert!(Instant::now() < deadline, "no line starts with {start:?}");
        }
    }

    /// Waits for lines that were printed after this call: it runs.
    #[track_caller]
    pub fn assert_ticks(&self) {
        // What is there already was printed before and proves nothing.
        let seen = self.lines.try_iter().last();
        let next = self.line();
        assert_ne!(seen.as_ref(), Some(&next));
        self.line();
    }

    /// Ends its standard input, which some fixtures wait for.
    pub fn let_go(&mut self) {
        self.stdin = None;
    }

    /// Waits for its end.
    #[track_caller]
    pub fn wait(&mut self) -> ExitStatus {
        let ended = crate::eventually(|| match self.child.try_wait() {
            Ok(Some(status)) => Ok(status),
            Ok(None) => Err("still running".to_owned()),
            Err(error) => Err(error.to_string()),
        });
        match ended {
            Ok(status) => status,
            Err(why) => panic!("waiting for {}: {why}", self.pid()),
        }
    }

    /// Kills it, as a user would with `kill -9`, and waits for its end.
    #[track_caller]
    pub fn kill(&mut self) -> ExitStatus {
        self.child.kill().expect("our own child");
        self.wait()
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
        // A killed runtime cannot remove its pipes; that is not the debugger's doing.
        let left = self.identity.map(|process| process.leftovers(&self.tmp));
        for file in left.into_iter().flatten() {
            let _ = std::fs::remove_file(file);
        }
    }
}
