//! A terminal for tests: what is written to it is typed, what is read from it is shown.
//!
//! Reading ends when the last process that has the terminal ends, so a test needs no clock.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// The user's side of a terminal.
#[derive(Debug)]
pub struct Terminal {
    user: File,
    program: OwnedFd,
    name: String,
}

impl Terminal {
    /// Opens a terminal of that width.
    pub fn open(columns: u16) -> Self {
        let user = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)
            .expect("a terminal");
        grantpt(&user).expect("our own terminal");
        unlockpt(&user).expect("our own terminal");
        let name = ptsname(&user, Vec::new()).expect("a terminal has a name");
        let size = Winsize {
            ws_row: 24,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&user, size).expect("a terminal has a size");
        let program = File::options()
            .read(true)
            .write(true)
            .open(name.to_str().expect("a plain name"))
            .expect("the other side");
        Self {
            user: user.into(),
            program: program.into(),
            name: name.to_str().expect("a plain name").to_owned(),
        }
    }

    /// The file by which programs open it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Who sits at it, when every program that was given it by its name has ended.
    pub fn user(self) -> User {
        User(self.user)
    }

    /// Gives a command this terminal as its three streams. Call it for the last user of the terminal only.
    pub fn give_to(self, command: &mut Command) -> User {
        let stream = || Stdio::from(self.program.try_clone().expect("descriptors can be copied"));
        command.stdin(stream()).stdout(stream()).stderr(stream());
        User(self.user)
    }
}

/// Who sits at the terminal.
#[derive(Debug)]
pub struct User(File);

impl User {
    /// Types.
    pub fn types(&mut self, text: &str) {
        self.0
            .write_all(text.as_bytes())
            .expect("the terminal is open");
    }

    /// Reads until the text is shown; all that was shown up to it.
    #[track_caller]
    pub fn sees(&mut self, text: &str) -> String {
        let mut shown = String::new();
        while !shown.contains(text) {
            match self.read() {
                Some(more) => shown += &more,
                None => panic!("{text:?} was never shown, but:\n{shown}"),
            }
        }
        shown
    }

    /// Reads until every program has closed the terminal.
    pub fn sees_to_the_end(&mut self) -> String {
        let mut shown = String::new();
        while let Some(more) = self.read() {
            shown += &more;
        }
        shown
    }

    /// What is shown next; none when every program has closed the terminal.
    pub fn sees_more(&mut self) -> Option<String> {
        self.read()
    }

    fn read(&mut self) -> Option<String> {
        let mut bytes = [0; 4096];
        match self.0.read(&mut bytes) {
            Ok(0) => None,
            Ok(count) => Some(String::from_utf8_lossy(bytes.get(..count)?).replace('\r', "")),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Some(String::new()),
            // The system's word for "all closed".
            Err(_) => None,
        }
    }
}
