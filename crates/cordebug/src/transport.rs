//! The first words of the protocol between a runtime and its debugger: enough to ask whether the runtime is free.
//!
//! A runtime whose debugger was killed waits for that very debugger to come back, for ever, and another one that comes
//! loses ten seconds and freezes the program. From outside both states look alike. But a runtime that waits for a lost
//! debugger speaks first when somebody connects (`SessionResync`), and one that is free waits for a request. So we send
//! a request of a version that does not exist: a free runtime refuses it, and either way nothing changes in it but that
//! it makes its pipes anew.
//!
//! Invariant: nothing is sent that a runtime could accept.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};

/// Whether a runtime takes a debugger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// It waits for any debugger.
    Free,
    /// It waits for the debugger that it had, and for no other.
    BoundToLostDebugger,
}

/// Bytes of the header that every message begins with; its first word is the kind.
const HEADER: usize = 48;
const SESSION_REQUEST: u32 = 0;
const SESSION_REJECT: u32 = 2;
const SESSION_RESYNC: u32 = 3;

/// How often a pipe that is being made is looked for.
const LOOK: Duration = Duration::from_millis(1);

/// Asks the runtime behind these two pipes, what the debugger writes and what it reads. Afterwards the runtime makes new
/// ones, which are waited for. A runtime that cannot answer any more, as `can_answer` tells, is not waited for.
pub fn ask(
    pipes: &[PathBuf; 2],
    deadline: Instant,
    can_answer: impl Fn() -> bool,
) -> io::Result<Readiness> {
    let [to_runtime, from_runtime] = pipes;
    let patience = Patience {
        deadline,
        can_answer: &can_answer,
    };
    // Held until it has a successor, so that the number of the file is not given to that one. Its times tell nothing: who
    // writes changes them.
    let before = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_PATH)
        .open(to_runtime)?;
    let old = identity(&before.metadata()?);
    let answer = first_answer(to_runtime, from_runtime, &patience)?;
    let is_renewed =
        || fs::metadata(to_runtime).is_ok_and(|it| identity(&it) != old) && from_runtime.exists();
    while !is_renewed() {
        patience.sleep()?;
    }
    match answer {
        SESSION_RESYNC => Ok(Readiness::BoundToLostDebugger),
        SESSION_REJECT => Ok(Readiness::Free),
        other => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("the runtime answers with a message of kind {other}"),
        )),
    }
}

/// The kind of the first message that the runtime sends.
fn first_answer(
    to_runtime: &Path,
    from_runtime: &Path,
    patience: &Patience<'_>,
) -> io::Result<u32> {
    let mut request = loop {
        // Without waiting: a runtime that does not listen must not hold us up.
        match open(OpenOptions::new().write(true), to_runtime) {
            Ok(file) => break file,
            Err(error) if error.raw_os_error() == Some(libc::ENXIO) => patience.sleep()?,
            Err(error) => return Err(error),
        }
    };
    let mut answer = open(OpenOptions::new().read(true), from_runtime)?;
    // All zero but the kind, which is zero too: of version 0.0, and without the data that belongs to it.
    let mut message = [0; HEADER];
    message[..4].copy_from_slice(&SESSION_REQUEST.to_le_bytes());
    request.write_all(&message)?;
    let mut kind = [0; 4];
    let mut have = 0;
    while let Some(rest) = kind.get_mut(have..).filter(|rest| !rest.is_empty()) {
        patience.await_bytes(&answer)?;
        match answer.read(rest) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(n) => have += n,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(u32::from_le_bytes(kind))
}

fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options.custom_flags(libc::O_NONBLOCK).open(path)
}

/// Tells one file from another while both exist.
fn identity(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

/// How long an answer is waited for.
struct Patience<'a> {
    deadline: Instant,
    can_answer: &'a dyn Fn() -> bool,
}

impl Patience<'_> {
    fn check(&self) -> io::Result<()> {
        if Instant::now() >= self.deadline || !(self.can_answer)() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(())
    }

    fn sleep(&self) -> io::Result<()> {
        self.check()?;
        thread::sleep(LOOK);
        Ok(())
    }

    fn await_bytes(&self, file: &File) -> io::Result<()> {
        // Not longer at once: a runtime that dies before it opens the pipe leaves no sign in it.
        let slice = Timespec {
            tv_sec: 0,
            tv_nsec: 20_000_000,
        };
        loop {
            let mut polled = [PollFd::new(file, PollFlags::IN)];
            match rustix::event::poll(&mut polled, Some(&slice)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => self.check()?,
                Ok(_) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays a runtime that sends `kind`, before or after it has read the request, and then makes its pipes anew.
    fn check(kind: u32, speaks_first: bool, expected: Option<Readiness>) {
        let folder =
            std::env::temp_dir().join(format!("ndbg-transport-{}-{kind}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a new folder");
        let pipes = ["in", "out"].map(|name| folder.join(name));
        let make = |pipe: &PathBuf| {
            let mode = rustix::fs::Mode::from_raw_mode(0o600);
            rustix::fs::mkfifoat(rustix::fs::CWD, pipe, mode).expect("a new pipe");
        };
        pipes.iter().for_each(make);
        let asked = thread::scope(|scope| {
            scope.spawn(|| {
                let mut input = File::open(&pipes[0]).expect("a debugger comes");
                let mut output = OpenOptions::new()
                    .write(true)
                    .open(&pipes[1])
                    .expect("a debugger comes");
                let mut request = [0xff; HEADER];
                if !speaks_first {
                    input.read_exact(&mut request).expect("a request");
                }
                let mut message = [0; HEADER];
                message[..4].copy_from_slice(&kind.to_le_bytes());
                output.write_all(&message).expect("a debugger listens");
                if speaks_first {
                    input.read_exact(&mut request).expect("a request");
                }
                assert_eq!(request, [0; HEADER]);
                for pipe in &pipes {
                    std::fs::remove_file(pipe).expect("our own");
                    make(pipe);
                }
            });
            ask(&pipes, Instant::now() + Duration::from_secs(30), || true)
        });
        assert_eq!(asked.ok(), expected);
        std::fs::remove_dir_all(&folder).expect("our own");
    }

    #[test]
    fn a_runtime_that_speaks_first_waits_for_another_debugger() {
        check(SESSION_RESYNC, true, Some(Readiness::BoundToLostDebugger));
        check(SESSION_REJECT, false, Some(Readiness::Free));
        check(77, false, None);
    }

    #[test]
    fn a_runtime_that_does_not_listen_is_not_waited_for() {
        let nobody = ["/proc/self/no-in", "/proc/self/no-out"].map(PathBuf::from);
        assert!(ask(&nobody, Instant::now(), || true).is_err());
        let folder = std::env::temp_dir().join(format!("ndbg-no-answer-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a new folder");
        let pipes = ["in", "out"].map(|name| folder.join(name));
        for pipe in &pipes {
            let mode = rustix::fs::Mode::from_raw_mode(0o600);
            rustix::fs::mkfifoat(rustix::fs::CWD, pipe, mode).expect("a new pipe");
        }
        let long = Instant::now() + Duration::from_secs(1000);
        let error = ask(&pipes, long, || false).expect_err("nobody is there");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        std::fs::remove_dir_all(&folder).expect("our own");
    }
}
