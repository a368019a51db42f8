//! What a person sees: our words in colour where that is wanted, the program's as they are.
//!
//! Invariant: our words begin at the start of a line, whatever the program wrote before.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;

use host::api::Stream;
use signal_hook::consts::SIGPIPE;

use crate::colour;
use crate::keyboard::Keyboard;

/// Where everything is shown.
#[derive(Debug)]
pub(crate) struct Screen {
    colour: bool,
    /// Whether the last thing shown was a part of a line.
    in_line: bool,
    /// Whether what the program writes to standard error goes to ours.
    apart: bool,
}

impl Screen {
    /// Standard output. For a script, the program's standard error goes to ours, if that is another file: in one file, the
    /// order of both would be lost.
    pub(crate) fn new(interactive: bool) -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self {
            colour: io::stdout().is_terminal() && !refused && !dumb,
            in_line: false,
            apart: !interactive && !are_one_file(),
        }
    }

    /// Whether there are colours.
    pub(crate) fn is_coloured(&self) -> bool {
        self.colour
    }

    /// Shows our words.
    pub(crate) fn say(&mut self, keyboard: &Keyboard, text: &str) {
        if text.is_empty() {
            return;
        }
        let mut shown = if self.colour {
            colour::paint(text)
        } else {
            text.to_owned()
        };
        if !shown.ends_with('\n') {
            shown.push('\n');
        }
        if std::mem::take(&mut self.in_line) {
            shown.insert(0, '\n');
        }
        write(keyboard, &shown);
    }

    /// Shows what the program wrote.
    pub(crate) fn program(&mut self, keyboard: &Keyboard, stream: Stream, text: &str) {
        if text.is_empty() {
            return;
        }
        if stream == Stream::Trace {
            let mut lines = String::new();
            report::text::push_quoted_lines(&mut lines, "log| ", &report::text::clean(text));
            self.say(keyboard, &lines);
            return;
        }
        if self.apart && stream == Stream::Stderr {
            complain(text);
            return;
        }
        write(keyboard, text);
        self.in_line = !text.ends_with('\n');
    }

    /// Ends a line that the program left open.
    pub(crate) fn finish_line(&mut self, keyboard: &Keyboard) {
        if std::mem::take(&mut self.in_line) {
            write(keyboard, "\n");
        }
    }

    /// A line that a person ended with Enter: the cursor is at the start of the next.
    pub(crate) fn entered(&mut self) {
        self.in_line = false;
    }
}

fn write(keyboard: &Keyboard, text: &str) {
    if keyboard.print_above(text) {
        return;
    }
    let mut stdout = io::stdout().lock();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    if let Err(error) = written
        && error.kind() == io::ErrorKind::BrokenPipe
    {
        // Whoever read is gone: the process ends as other tools do, and the host ends the program.
        let _ = signal_hook::low_level::emulate_default_handler(SIGPIPE);
    }
}

/// Whether standard output and standard error are the same file, pipe or terminal.
fn are_one_file() -> bool {
    let known = |file: io::Result<OwnedFd>| {
        let about = File::from(file.ok()?).metadata().ok()?;
        Some((about.dev(), about.ino()))
    };
    let output = known(io::stdout().as_fd().try_clone_to_owned());
    output.is_some() && output == known(io::stderr().as_fd().try_clone_to_owned())
}

/// Writes to standard error.
pub(crate) fn complain(text: &str) {
    // Nobody can be told that nobody can be told.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}
