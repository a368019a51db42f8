//! One debugger at a time for each process, also at the moment when two come at once.
//!
//! The runtime takes the first of two debuggers and freezes at the second. Whether one is there can be seen only when it
//! has arrived, so those that are on their way claim the process first: by a name that the system gives to one and takes
//! back when its holder is gone, however it ends.

use std::io;
use std::mem::ManuallyDrop;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::thread;
use std::time::{Duration, Instant};

use cordebug::procfs;

use crate::api::{Error, ErrorCode};

/// How long one who leaves may take to give its claim back, and one who only asks the runtime something.
const PATIENCE: Duration = Duration::from_millis(500);
const PATIENCE_WHILE_ASKED: Duration = Duration::from_secs(3);
const INTERVAL: Duration = Duration::from_millis(5);

/// The right to debug a process, for as long as it is held.
#[derive(Debug)]
pub(crate) struct Claim {
    _name: UnixDatagram,
}

impl Claim {
    /// Claims a process; whether somebody else had to leave it first.
    pub(crate) fn of(pid: u32) -> Result<(Self, bool), Error> {
        let begun = Instant::now();
        let mut waited = false;
        loop {
            match bind("debugs", pid) {
                Ok(name) => return Ok((Self { _name: name }, waited)),
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                    let patience = match is_taken("asks", pid) {
                        true => PATIENCE_WHILE_ASKED,
                        false => PATIENCE,
                    };
                    if begun.elapsed() >= patience {
                        return Err(taken(pid));
                    }
                    waited = true;
                    thread::sleep(INTERVAL);
                }
                Err(error) => {
                    return Err(Error::new(
                        ErrorCode::AttachFailed,
                        format!("process {pid} cannot be claimed for this debugger: {error}"),
                    )
                    .hint("the system may be out of open files: free some, then try again"));
                }
            }
        }
    }
}

/// The right to ask the runtime of a process something: whoever comes to debug it meanwhile waits for that.
#[derive(Debug)]
pub(super) struct Asking {
    _claim: Claim,
    _said: Option<UnixDatagram>,
}

impl Asking {
    /// Claims a process to ask it.
    pub(super) fn of(pid: u32) -> Result<Self, Error> {
        let (claim, _) = Claim::of(pid)?;
        Ok(Self {
            _claim: claim,
            _said: bind("asks", pid).ok(),
        })
    }
}

/// Says that the debugger of a process leaves it as soon as it can, until this process has ended: the system closes the
/// debugger's pipes only then.
#[derive(Debug)]
pub(crate) struct Leaving {
    _name: ManuallyDrop<Option<UnixDatagram>>,
}

impl Leaving {
    /// Begins to say it.
    pub(crate) fn of(pid: u32) -> Self {
        Self {
            _name: ManuallyDrop::new(bind("leaves", pid).ok()),
        }
    }

    /// Whether somebody says it.
    pub(super) fn is_said_of(pid: u32) -> bool {
        is_taken("leaves", pid)
    }
}

fn is_taken(what: &str, pid: u32) -> bool {
    bind(what, pid).is_err_and(|error| error.kind() == io::ErrorKind::AddrInUse)
}

/// Takes a name that only one can have.
fn bind(what: &str, pid: u32) -> io::Result<UnixDatagram> {
    // Another process may get the same id.
    let start = procfs::stat(pid).map_or(0, |stat| stat.start_time);
    let name = SocketAddr::from_abstract_name(format!("ndbg-{what}-{pid}-{start}"))?;
    UnixDatagram::bind_addr(&name)
}

fn taken(pid: u32) -> Error {
    Error::new(
        ErrorCode::AlreadyDebugged,
        format!("another session is attaching to process {pid}, or has attached to it"),
    )
    .hint("a program can have one debugger: end the other session first")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_is_claimed_by_one_until_it_is_given_back() {
        let pid = std::process::id();
        let claim = Claim::of(pid).expect("nobody else claims it");
        let error = Claim::of(pid).expect_err("claimed");
        assert_eq!(error.code, ErrorCode::AlreadyDebugged);
        drop(claim);
        let asking = Asking::of(pid).expect("free again");
        let patient = thread::spawn(move || Claim::of(pid).expect("given back"));
        thread::sleep(PATIENCE + INTERVAL);
        drop(asking);
        let (claim, waited) = patient.join().expect("no panic");
        assert!(waited);
        drop(claim);
        assert!(!Leaving::is_said_of(pid));
        Leaving::of(pid);
        assert!(Leaving::is_said_of(pid));
    }
}
