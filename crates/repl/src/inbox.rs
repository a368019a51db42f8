//! Everything that can happen, in one channel.

use std::io;
use std::sync::mpsc::Sender;
use std::thread;

use host::api::{Error, Event};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// What can wake the front end. Adding a source means adding a variant.
#[derive(Debug)]
pub(crate) enum Input {
    /// The keyboard, or whatever else commands come from.
    Keyboard(Typed),
    /// The program of a session, which is told by its number.
    Event(u32, Box<Event>),
    /// A start of that session came to its end.
    Started(u32, Result<(), Error>),
    /// A start tells what it is doing.
    Progress(String),
    /// A signal to this process.
    Signal(i32),
}

/// What the keyboard says.
#[derive(Debug)]
pub(crate) enum Typed {
    /// A line at the prompt.
    Line(String),
    /// Ctrl-C at the prompt.
    Interrupt,
    /// Ctrl-D at the prompt, or the end of the commands.
    End,
    /// Text for the program.
    ForProgram(String),
    /// The end of the text for the program.
    EndForProgram,
}

/// Sends signals into the inbox from now on.
pub(crate) fn take_signals(inbox: Sender<Input>) -> io::Result<()> {
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            for signal in signals.forever() {
                if inbox.send(Input::Signal(signal)).is_err() {
                    break;
                }
            }
        })?;
    Ok(())
}
