//! The first words of the protocol between a runtime and its debugger: enough to ask whether the runtime is free.
//!
//! A runtime whose debugger was killed waits for that very debugger to come back, for ever, and another one that comes
//! loses ten seconds and freezes the program. From outside both states look alike. But a runtime that waits for a lost
//! debugger speaks first when somebody connects (`SessionResync`), and one that is free waits for a request. So we send
//! a request of a version that does not exist: a free runtime refuses it, and either way nothing changes in it but that
//! it makes its pipes anew.
//!
//! Invariant: nothing is sent that a runtime could accept.

use std::fs::{File, OpenOptions};
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
/// ones, which are waited for.
pub fn ask(pipes: &[PathBuf; 2], deadline: Instant) -> io::Result<Readiness> {
    let [to_runtime, from_runtime] = pipes;
    let before = identity(to_runtime);
    let answer = first_answer(to_runtime, from_runtime, deadline)?;
    while identity(to_runtime) == before || identity(from_runtime).is_none() {
        wait(deadline)?;
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
fn first_answer(to_runtime: &Path, from_runtime: &Path, deadline: Instant) -> io::Result<u32> {
    let mut request = loop {
        // Without waiting: a runtime that does not listen must not hold us up.
        match open(OpenOptions::new().write(true), to_runtime) {
            Ok(file) => break file,
            Err(error) if error.raw_os_error() == Some(libc::ENXIO) => wait(deadline)?,
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
        await_bytes(&answer, deadline)?;
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

/// Tells one file from the next that has its name.
fn identity(path: &Path) -> Option<(u64, u64, i64, i64)> {
    let file = std::fs::metadata(path).ok()?;
    Some((file.dev(), file.ino(), file.ctime(), file.ctime_nsec()))
}

fn await_bytes(file: &File, deadline: Instant) -> io::Result<()> {
    let left = deadline.saturating_duration_since(Instant::now());
    let timeout = Timespec {
        tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(left.subsec_nanos()),
    };
    let mut polled = [PollFd::new(file, PollFlags::IN)];
    match rustix::event::poll(&mut polled, Some(&timeout)) {
        Ok(0) => Err(io::ErrorKind::TimedOut.into()),
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn wait(deadline: Instant) -> io::Result<()> {
    if Instant::now() >= deadline {
        return Err(io::ErrorKind::TimedOut.into());
    }
    thread::sleep(LOOK);
    Ok(())
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
            ask(&pipes, Instant::now() + Duration::from_secs(30))
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
        assert!(ask(&nobody, Instant::now()).is_err());
    }
}
