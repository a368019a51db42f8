//! Where commands come from: a person at a terminal, a pipe, or nowhere.
//!
//! A thread of its own reads, and only when it is told to, so that what is typed while the program runs is the
//! program's: it goes to its standard input line by line, as in a terminal.
//!
//! Invariant: the terminal is left in the mode in which it was found.

use std::collections::VecDeque;
use std::io::{self, IsTerminal, Read, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::{self, Sender};
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;
use rustyline::{Behavior, ColorMode, CompletionType, Config, Editor, ExternalPrinter as _};

use crate::complete::Helper;
use crate::history::History;
use crate::inbox::{Input, Typed};

/// Lines kept in the history.
const HISTORY: usize = 1000;

/// Where commands come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// A person at a terminal.
    Terminal,
    /// Standard input, which is no terminal.
    Pipe,
    /// Scripts alone: standard input is the program's.
    Nowhere,
}

enum Order {
    /// Reads a line.
    Prompt(String),
    /// Reads a line that is no command.
    Ask(String),
    /// Reads for the program until it is woken.
    Forward,
}

/// The keyboard's thread.
#[derive(Debug)]
pub(crate) struct Keyboard {
    orders: Sender<Order>,
    wake: OwnedFd,
    forwarding: bool,
    reading: bool,
    found: Option<Termios>,
    printer: Option<Sender<String>>,
}

impl Keyboard {
    /// Starts to read from `source` when it is told to.
    pub(crate) fn start(
        source: Source,
        helper: Helper,
        colour: bool,
        inbox: Sender<Input>,
    ) -> io::Result<Self> {
        let (orders, received) = mpsc::channel();
        let (woken, wake) = rustix::pipe::pipe()?;
        let found = match source {
            Source::Terminal => tcgetattr(io::stdin()).ok(),
            _ => None,
        };
        let (tell, printer) = mpsc::channel();
        thread::Builder::new()
            .name("keyboard".into())
            .spawn(move || match source {
                Source::Terminal => match Terminal::open(helper, colour) {
                    Ok(mut terminal) => {
                        let _ = tell.send(terminal.printer());
                        read(&received, &inbox, &woken, |order| terminal.line(order));
                    }
                    Err(error) => {
                        tracing::warn!(%error, "no line editing");
                        let _ = tell.send(None);
                        read(&received, &inbox, &woken, |_| piped_line());
                    }
                },
                Source::Pipe | Source::Nowhere => {
                    let _ = tell.send(None);
                    read(&received, &inbox, &woken, |_| piped_line());
                }
            })?;
        Ok(Self {
            orders,
            wake,
            forwarding: false,
            reading: false,
            found,
            printer: printer.recv().ok().flatten(),
        })
    }

    /// Reads a command, unless that is under way.
    pub(crate) fn prompt(&mut self, prompt: &str) {
        if !self.reading {
            self.reading = self.orders.send(Order::Prompt(prompt.to_owned())).is_ok();
        }
    }

    /// Reads an answer.
    pub(crate) fn ask(&mut self, question: &str) {
        self.reading = self.orders.send(Order::Ask(question.to_owned())).is_ok();
    }

    /// What was read has arrived.
    pub(crate) fn arrived(&mut self) {
        self.reading = false;
    }

    /// Reads for the program from now on.
    pub(crate) fn forward(&mut self) {
        if !self.forwarding && !self.reading {
            self.forwarding = self.orders.send(Order::Forward).is_ok();
        }
    }

    /// Stops to read for the program.
    pub(crate) fn keep(&mut self) {
        if self.forwarding {
            self.forwarding = false;
            // The thread may be gone; then nobody needs to be woken.
            let _ = rustix::io::write(&self.wake, b"!");
        }
    }

    /// Prints above the line that is being typed, if one is; tells whether it did.
    pub(crate) fn print_above(&self, text: &str) -> bool {
        match &self.printer {
            Some(printer) if self.reading => printer.send(text.to_owned()).is_ok(),
            _ => false,
        }
    }

    /// Leaves the terminal as it was found.
    pub(crate) fn restore(&self) {
        if let Some(found) = &self.found {
            // It may be gone.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, found);
        }
    }
}

/// Obeys orders until nobody gives any.
fn read(
    orders: &mpsc::Receiver<Order>,
    inbox: &Sender<Input>,
    woken: &OwnedFd,
    mut line: impl FnMut(&Order) -> Typed,
) {
    let mut ended = false;
    while let Ok(order) = orders.recv() {
        let sent = match order {
            Order::Forward => {
                ended |= forward(inbox, woken, ended);
                Ok(())
            }
            order => inbox.send(Input::Keyboard(line(&order))),
        };
        if sent.is_err() {
            break;
        }
    }
}

/// Reads standard input for the program until it is woken; whether the input has ended.
fn forward(inbox: &Sender<Input>, woken: &OwnedFd, mut ended: bool) -> bool {
    let stdin = io::stdin();
    let mut carry = Vec::new();
    loop {
        let fds = [
            PollFd::new(woken, PollFlags::IN),
            PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN),
        ];
        let mut fds = fds;
        let watched = if ended { 1 } else { 2 };
        let Some(watched) = fds.get_mut(..watched) else {
            return ended;
        };
        match poll(watched, None) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return ended,
        }
        if watched.first().is_some_and(|it| !it.revents().is_empty()) {
            let mut byte = [0; 1];
            let _ = rustix::io::read(woken, &mut byte);
            return ended;
        }
        if watched.get(1).is_none_or(|it| it.revents().is_empty()) {
            continue;
        }
        let mut bytes = [0; 4096];
        let said = match rustix::io::read(stdin.as_fd(), &mut bytes) {
            Ok(0) => {
                // At a terminal more may come after an end.
                ended = !stdin.is_terminal();
                Typed::EndForProgram
            }
            Ok(count) => {
                carry.extend_from_slice(bytes.get(..count).unwrap_or_default());
                Typed::ForProgram(complete_characters(&mut carry))
            }
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => {
                ended = true;
                Typed::EndForProgram
            }
        };
        if inbox.send(Input::Keyboard(said)).is_err() {
            return true;
        }
    }
}

/// Takes whole characters; the bytes of one that is not complete yet are left.
fn complete_characters(bytes: &mut Vec<u8>) -> String {
    let whole = match std::str::from_utf8(bytes) {
        Ok(text) => text.len(),
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        Err(_) => bytes.len(),
    };
    let rest = bytes.split_off(whole);
    let text = String::from_utf8_lossy(bytes).into_owned();
    *bytes = rest;
    text
}

/// A line of standard input, read byte by byte: what follows it may be the program's.
fn piped_line() -> Typed {
    let mut line = Vec::new();
    let mut byte = [0; 1];
    let mut stdin = io::stdin().lock();
    loop {
        match stdin.read(&mut byte) {
            Ok(0) if line.is_empty() => return Typed::End,
            Ok(0) => break,
            Ok(_) if byte == *b"\n" => break,
            Ok(_) => line.extend_from_slice(&byte),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Typed::End,
        }
    }
    Typed::Line(String::from_utf8_lossy(&line).into_owned())
}

/// A person's terminal.
struct Terminal {
    editor: Editor<Helper, MemHistory>,
    history: History,
    /// Lines that were pasted with one that was read: they are obeyed one after the other.
    pasted: VecDeque<String>,
}

impl Terminal {
    fn open(helper: Helper, colour: bool) -> rustyline::Result<Self> {
        let config = Config::builder()
            .max_history_size(HISTORY)?
            .history_ignore_space(true)
            .history_ignore_dups(true)?
            .completion_type(CompletionType::List)
            .color_mode(if colour {
                ColorMode::Enabled
            } else {
                ColorMode::Disabled
            })
            .behavior(Behavior::Stdio)
            .auto_add_history(false)
            .build();
        let entries = MemHistory::with_config(&config);
        let mut editor = Editor::with_history(config, entries)?;
        editor.set_helper(Some(helper));
        let history = History::open(HISTORY);
        for line in history.lines() {
            editor.add_history_entry(line)?;
        }
        Ok(Self {
            editor,
            history,
            pasted: VecDeque::new(),
        })
    }

    /// Prints above the prompt. It has a thread of its own, because a message waits until the editor takes it.
    fn printer(&mut self) -> Option<Sender<String>> {
        let mut printer = self.editor.create_external_printer().ok()?;
        let (sender, texts) = mpsc::channel::<String>();
        let work = move || {
            for text in texts {
                if let Err(error) = printer.print(text) {
                    tracing::debug!(%error, "printing above the prompt");
                }
            }
        };
        thread::Builder::new()
            .name("printer".into())
            .spawn(work)
            .ok()?;
        Some(sender)
    }

    fn line(&mut self, order: &Order) -> Typed {
        let (prompt, is_command) = match order {
            Order::Prompt(prompt) => (prompt, true),
            Order::Ask(question) => (question, false),
            Order::Forward => return Typed::End,
        };
        let read = match self.pasted.pop_front() {
            Some(line) => {
                // As if it had been typed.
                let _ = writeln!(io::stdout(), "{prompt}{line}");
                Ok(line)
            }
            None => self.editor.readline(prompt),
        };
        match read {
            Ok(text) => {
                let mut lines = text.lines().map(str::to_owned);
                let line = lines.next().unwrap_or_default();
                self.pasted.extend(lines);
                if is_command
                    && !line.trim().is_empty()
                    && self.editor.add_history_entry(&line).unwrap_or(false)
                {
                    self.history.add(&line);
                }
                Typed::Line(line)
            }
            Err(ReadlineError::Interrupted) => Typed::Interrupt,
            Err(ReadlineError::Eof) => Typed::End,
            Err(error) => {
                tracing::debug!(%error, "the terminal is gone");
                Typed::End
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_not_cut_in_two() {
        let mut bytes = "aé".as_bytes()[..2].to_vec();
        assert_eq!(complete_characters(&mut bytes), "a");
        bytes.push(0xa9);
        assert_eq!(complete_characters(&mut bytes), "é");
        assert!(bytes.is_empty());
        let mut nonsense = vec![0xff, b'a'];
        assert_eq!(complete_characters(&mut nonsense), "\u{fffd}a");
    }
}
