//! What a person sees while a command works: headings, progress, colours.
//!
//! Everything here goes to standard error, so that standard output carries results only
//! (a path, the closing line of the tests). Colours appear on a terminal and never when
//! `NO_COLOR` is set.

use std::{
    env,
    io::{self, IsTerminal, Write},
    time::{Duration, Instant},
};

/// The colours used, as ANSI "select graphic rendition" numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Style {
    /// Headings.
    Bold,
    /// Less important text.
    Dim,
    /// Success, and what a server answers.
    Green,
    /// Failure.
    Red,
    /// What a client asks.
    Cyan,
    /// Warnings.
    Yellow,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Self::Bold => "1",
            Self::Dim => "2",
            Self::Green => "32",
            Self::Red => "31",
            Self::Cyan => "36",
            Self::Yellow => "33",
        }
    }
}

/// Whether the user allows colours on `stream`.
pub(crate) fn colours(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// `text` in `style`, if `coloured`.
pub(crate) fn paint(coloured: bool, style: Style, text: &str) -> String {
    if coloured {
        format!("\x1b[{}m{text}\x1b[0m", style.code())
    } else {
        text.to_owned()
    }
}

/// One step of a command begins.
pub(crate) fn heading(text: &str) {
    let text = paint(colours(&io::stderr()), Style::Bold, &format!("== {text}"));
    eprintln!("{text}");
}

/// One line of detail under the current heading.
pub(crate) fn detail(text: &str) {
    eprintln!("   {text}");
}

/// Something is wrong, but the command goes on.
pub(crate) fn warning(text: &str) {
    let text = paint(colours(&io::stderr()), Style::Yellow, text);
    eprintln!("   {text}");
}

/// Something failed; the command goes on, but will fail in the end.
pub(crate) fn error(text: &str) {
    let text = paint(colours(&io::stderr()), Style::Red, text);
    eprintln!("   {text}");
}

/// A task of unknown or known length: one line that is redrawn on a terminal, and a line
/// at its start, every ten seconds and at its end elsewhere (so that a build log shows life
/// without filling up).
#[derive(Debug)]
pub(crate) struct Progress {
    label: String,
    started: Instant,
    drawn: Option<Instant>,
    terminal: bool,
}

impl Progress {
    /// Announces the task.
    pub(crate) fn start(label: impl Into<String>) -> Self {
        let label = label.into();
        let terminal = io::stderr().is_terminal();
        if !terminal {
            detail(&format!("{label} …"));
        }
        Self {
            label,
            started: Instant::now(),
            drawn: None,
            terminal,
        }
    }

    /// Redraws the line if it is time to; `share` is the part done, from 0 to 1, if known.
    pub(crate) fn tick(&mut self, share: Option<f64>) {
        let pause = Duration::from_millis(if self.terminal { 200 } else { 10_000 });
        if self.drawn.unwrap_or(self.started).elapsed() < pause {
            return;
        }
        self.drawn = Some(Instant::now());
        let done = share.map_or_else(String::new, |share| format!(" {:3.0} %", share * 100.0));
        let seconds = self.started.elapsed().as_secs();
        self.draw(&format!("{} …{done} {seconds} s", self.label));
    }

    /// Replaces the line by its outcome.
    pub(crate) fn finish(self, outcome: &str) {
        let seconds = self.started.elapsed().as_secs_f64();
        self.draw(&format!("{}: {outcome} ({seconds:.1} s)", self.label));
        if self.terminal {
            eprintln!();
        }
    }

    fn draw(&self, text: &str) {
        if self.terminal {
            // The line may be longer than the new text: clear to its end.
            eprint!("\r   {text}\x1b[K");
            // A terminal that is gone is no reason to stop working.
            let _ = io::stderr().flush();
        } else {
            detail(text);
        }
    }
}
