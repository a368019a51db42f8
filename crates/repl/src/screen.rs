//! What a person sees: our words in colour where that is wanted, the program's as they are.
//!
//! Invariant: our words begin at the start of a line, whatever the program wrote before.

use std::io::{self, IsTerminal, Write};

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
}

impl Screen {
    /// Standard output.
    pub(crate) fn new() -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self {
            colour: io::stdout().is_terminal() && !refused && !dumb,
            in_line: false,
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

/// Says something before there is a screen.
pub(crate) fn complain(text: &str) {
    // Nobody can be told that nobody can be told.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}
