//! What signals to `ndbg run` do: the terminal's go to the program by themselves, the others are passed on.
//!
//! Ctrl-C and Ctrl-\ reach every process of the terminal's foreground group, and the program is one of them: it
//! decides what they mean. SIGTERM and SIGHUP are sent to ndbg alone; it passes them on so that the program can end in
//! order, and ends it for good if it does not. So is SIGINT where there is no terminal; the program decides then, too.

use std::io;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use host::Session;
use host::api::Request;
use rustix::process::{Pid, Signal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

/// How long a program that was asked to end may take.
const GRACE: Duration = Duration::from_secs(5);

/// Takes the signals of `ndbg run` from its creation on.
#[derive(Debug, Clone)]
pub(crate) struct Signals(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// The first signal that asked ndbg to end, or 0.
    asked: AtomicI32,
    /// The program, once there is one.
    session: Mutex<Option<Session>>,
}

impl Signals {
    /// Starts to take signals.
    pub(crate) fn take() -> io::Result<Self> {
        let signals = Self(Arc::new(Shared {
            asked: AtomicI32::new(0),
            session: Mutex::new(None),
        }));
        let mut incoming = signal_hook::iterator::Signals::new([SIGINT, SIGQUIT, SIGTERM, SIGHUP])?;
        let taker = signals.clone();
        thread::Builder::new()
            .name("signals".into())
            .spawn(move || {
                for signal in incoming.forever() {
                    taker.arrived(signal);
                }
            })?;
        Ok(signals)
    }

    /// The signal that asked ndbg to end, if one did.
    pub(crate) fn asked(&self) -> Option<i32> {
        match self.0.asked.load(Ordering::SeqCst) {
            0 => None,
            signal => Some(signal),
        }
    }

    /// From now on signals are the program's; one that came before is passed on.
    pub(crate) fn give_to(&self, session: &Session) {
        *self.session() = Some(session.clone());
        if let Some(signal) = self.asked() {
            self.pass_on(session, signal);
        }
    }

    /// The program is gone.
    pub(crate) fn forget(&self) {
        *self.session() = None;
    }

    fn session(&self) -> std::sync::MutexGuard<'_, Option<Session>> {
        self.0
            .session
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn arrived(&self, signal: i32) {
        let session = self.session().clone();
        match (session, signal) {
            // The program has it too.
            (Some(_), SIGINT | SIGQUIT) if is_at_terminal() => {}
            (Some(session), SIGINT | SIGQUIT) => send(&session, signal),
            (Some(session), signal) => {
                let first = self.0.asked.swap(signal, Ordering::SeqCst) == 0;
                if first {
                    self.pass_on(&session, signal);
                } else {
                    end(&session);
                }
            }
            (None, signal) => self.0.asked.store(signal, Ordering::SeqCst),
        }
    }

    /// Gives the signal to the program, and ends the program if that does not.
    fn pass_on(&self, session: &Session, signal: i32) {
        send(session, signal);
        let signals = self.clone();
        let later = thread::Builder::new().name("grace".into()).spawn(move || {
            thread::sleep(GRACE);
            let session = signals.session().clone();
            if let Some(session) = session {
                end(&session);
            }
        });
        if later.is_err() {
            end(session);
        }
    }
}

/// Whether we are in the foreground of a terminal, whose keys signal the program as well.
fn is_at_terminal() -> bool {
    let terminal = std::fs::File::open("/dev/tty");
    let foreground = terminal.and_then(|it| Ok(rustix::termios::tcgetpgrp(it)?));
    foreground.is_ok_and(|group| Some(group.as_raw_nonzero().get()) == own_group())
}

/// Our process group; `None` where it lies outside our pid namespace, as in some containers.
pub(crate) fn own_group() -> Option<i32> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    group_in(&stat)
}

/// The process group that a line of `/proc/PID/stat` tells.
fn group_in(stat: &str) -> Option<i32> {
    // The name before it may have any letters in it.
    let (_, behind_name) = stat.rsplit_once(')')?;
    let group = behind_name.split_whitespace().nth(2)?;
    group.parse().ok().filter(|group| *group > 0)
}

/// Gives the signal to the program.
fn send(session: &Session, signal: i32) {
    let pid = session
        .status()
        .pid
        .and_then(|pid| i32::try_from(pid.0).ok());
    let signal = match signal {
        SIGHUP => Signal::HUP,
        SIGINT => Signal::INT,
        SIGQUIT => Signal::QUIT,
        _ => Signal::TERM,
    };
    if let Some(pid) = pid.and_then(Pid::from_raw) {
        // It may have ended meanwhile.
        let _ = rustix::process::kill_process(pid, signal);
    }
}

fn end(session: &Session) {
    let request = Request::Disconnect {
        terminate: Some(true),
        children: true,
    };
    if let Err(error) = session.request(request, Instant::now() + GRACE) {
        tracing::debug!(%error, "ending the program");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_group_is_told_unless_it_lies_outside() {
        assert_eq!(group_in("12 (ndbg) S 1 34 34 0"), Some(34));
        assert_eq!(group_in("12 (a) b (c) S 1 34 34 0"), Some(34));
        // In another pid namespace.
        assert_eq!(group_in("1 (ndbg) S 0 0 0 0"), None);
        assert_eq!(group_in("nonsense"), None);
    }
}
