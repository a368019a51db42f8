//! Somebody at a terminal, who reads what is shown as text and types.

use std::process::{Child, Command, ExitStatus};

use testkit::fixtures::{self, Fixture};
use testkit::sandbox::Sandbox;
use testkit::terminal::{Terminal, User};

use crate::surround;

/// A person and the `ndbg` in front of them.
pub(crate) struct Person {
    user: Option<User>,
    pub(crate) child: Child,
    shown: String,
}

impl Person {
    /// Starts `ndbg debug` of the fixture.
    pub(crate) fn debugs(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        let dll = Fixture::named("terminal").dll();
        let dll = dll.to_str().expect("a plain path");
        let words: Vec<_> = ["debug", dll]
            .into_iter()
            .chain(arguments.iter().copied())
            .collect();
        Self::starts(sandbox, &words, |_| {})
    }

    /// Starts `ndbg` with its own controlling terminal.
    pub(crate) fn starts(
        sandbox: &Sandbox,
        arguments: &[&str],
        prepare: impl FnOnce(&mut Command),
    ) -> Self {
        let mut command = Command::new("setsid");
        command.arg("--ctty").arg(fixtures::ndbg()).args(arguments);
        surround(sandbox, &mut command);
        prepare(&mut command);
        let user = Terminal::open(100).give_to(&mut command);
        let child = command.spawn().expect("setsid is part of every Linux");
        // Only the program has the other side of the terminal now.
        drop(command);
        Self {
            user: Some(user),
            child,
            shown: String::new(),
        }
    }

    pub(crate) fn types(&mut self, text: &str) {
        self.user.as_mut().expect("somebody is there").types(text);
    }

    /// Reads until the text is shown; what was shown before it, without colours.
    #[track_caller]
    pub(crate) fn sees(&mut self, text: &str) -> String {
        loop {
            let plain = plain(&self.shown);
            if let Some(at) = plain.find(text) {
                self.shown = plain[at + text.len()..].to_owned();
                return plain[..at].to_owned();
            }
            let user = self.user.as_mut().expect("somebody is there");
            match user.sees_more() {
                Some(more) => self.shown += &more,
                None => panic!("{text:?} was never shown, but:\n{plain}"),
            }
        }
    }

    /// Waits for the prompt.
    #[track_caller]
    pub(crate) fn is_asked(&mut self) -> String {
        self.sees("(ndbg) ")
    }

    /// Types a command at the prompt; what it shows until the next prompt.
    #[track_caller]
    pub(crate) fn asks(&mut self, command: &str) -> String {
        self.types(&format!("{command}\n"));
        self.is_asked()
    }

    /// Everything that is shown until the end, and how `ndbg` ended.
    pub(crate) fn sees_the_end(&mut self) -> (String, ExitStatus) {
        let (text, status) = self.sees_the_end_in_colours();
        (plain(&text), status)
    }

    /// Everything that is shown until the end as it is, and how `ndbg` ended.
    pub(crate) fn sees_the_end_in_colours(&mut self) -> (String, ExitStatus) {
        let mut text = std::mem::take(&mut self.shown);
        if let Some(user) = &mut self.user {
            text += &user.sees_to_the_end();
        }
        (text, self.child.wait().expect("our own child"))
    }

    /// Hangs up: the terminal is gone.
    pub(crate) fn hangs_up(&mut self) -> ExitStatus {
        self.user = None;
        self.child.wait().expect("our own child")
    }
}

/// Text without escape sequences.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        plain.push_str(&rest[..at]);
        let sequence = &rest[at..];
        let end = sequence
            .char_indices()
            .skip(2)
            .find(|(_, it)| ('@'..='~').contains(it))
            .map(|(at, it)| at + it.len_utf8());
        match end {
            Some(end) => rest = &sequence[end..],
            // The rest of it is not here yet.
            None => {
                plain.push_str(sequence);
                return plain;
            }
        }
    }
    plain + rest
}
