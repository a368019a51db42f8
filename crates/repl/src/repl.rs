//! The loop: reads commands, obeys them, and shows what the program does meanwhile.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use host::api::{
    Breakpoint, Error, ErrorCode, Event, ExceptionStage, Exit, Reply, Request, StopId, StopReason,
    ThreadId,
};
use report::told::Told;

use crate::commands;
use crate::complete::Helper;
use crate::inbox::{self, Input, Typed};
use crate::keyboard::{Keyboard, Source};
use crate::orders::Orders;
use crate::place::Spot;
use crate::screen::Screen;
use crate::session::{self, Focus, Live, Shared, Wishes};
use crate::{CANNOT_RUN, FAILED, NOT_FOUND, SCRIPT_FAILED, SIGNALLED, Script, Setup, Target};
use crate::{failure, script};

/// How long a look at the program may take.
pub(crate) const LOOK: Duration = Duration::from_secs(20);
/// The signal by which a program ends whose exception nobody catches.
const ABORTED: u8 = 6;
/// The prompt.
const PROMPT: &str = "(ndbg) ";

/// An expression that is shown at every stop.
#[derive(Debug)]
pub(crate) struct Display {
    pub(crate) number: u32,
    pub(crate) expression: String,
}

/// What `list` showed last.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) file: Option<String>,
    pub(crate) first: u32,
    pub(crate) last: u32,
}

impl Listing {
    /// The next `list` begins where the program is.
    pub(crate) fn reset(&mut self) {
        *self = Self::default();
    }
}

/// Everything there is.
#[derive(Debug)]
pub(crate) struct Repl {
    pub(crate) screen: Screen,
    pub(crate) keyboard: Keyboard,
    inbox: Receiver<Input>,
    pub(crate) sender: Sender<Input>,
    /// Whether a person sits at a terminal.
    pub(crate) interactive: bool,
    /// Whether what is typed while the program runs is the program's.
    pub(crate) forwards: bool,
    /// Whether standard input has ended, and with it that of every program that is started.
    pub(crate) input_ended: bool,
    source: Source,
    scripts: Vec<Script>,
    pub(crate) target: Target,
    pub(crate) live: Live,
    focus: Shared,
    pub(crate) wishes: Wishes,
    pub(crate) told: Told,
    /// Breakpoints as they were last told.
    pub(crate) known: BTreeMap<u32, Breakpoint>,
    /// Breakpoints that go after their first stop.
    pub(crate) temporary: BTreeSet<u32>,
    pub(crate) displays: Vec<Display>,
    /// What is obeyed at stops.
    pub(crate) orders: Orders,
    pub(crate) listing: Listing,
    /// Where the last stop was: lines without a file are meant there while the program runs.
    pub(crate) last_spot: Option<Spot>,
    /// Lines that `list` shows.
    pub(crate) list_size: u32,
    /// Where the next `x` reads, how many bytes, and in units of how many they are shown.
    pub(crate) memory: Option<(u64, (u32, u32))>,
    /// The stop that was shown last.
    pub(crate) shown: Option<StopId>,
    /// Whether the next stop is not shown.
    pub(crate) passes_stop: bool,
    /// Events that came while something else was waited for.
    pub(crate) pending: VecDeque<Event>,
    /// Whether nothing of the program has run yet.
    pub(crate) at_entry: bool,
    /// How the program ended last.
    pub(crate) exit: Option<Exit>,
    /// Set when the session is to end.
    pub(crate) quit: Option<u8>,
    /// Whether Ctrl-C came since the last command began.
    pub(crate) interrupted: bool,
    /// Scripts that are being read, each inside the one before.
    pub(crate) reading: Vec<PathBuf>,
    /// The command that an empty line repeats.
    pub(crate) last: Option<String>,
    /// Whether the last thing typed was Ctrl-D.
    asked_to_end: bool,
}

impl Repl {
    /// Sets everything up; nothing is started yet.
    pub(crate) fn new(setup: Setup) -> Result<Self, Error> {
        let failed = |error: io::Error| Error::new(ErrorCode::Internal, error.to_string());
        let (sender, inbox) = mpsc::channel();
        inbox::take_signals(sender.clone()).map_err(failed)?;
        let terminal = io::stdin().is_terminal();
        let source = match (setup.batch, setup.scripts.is_empty()) {
            (true, false) => Source::Nowhere,
            (false, _) if terminal => Source::Terminal,
            _ => Source::Pipe,
        };
        let screen = Screen::new(matches!(source, Source::Terminal));
        let wishes = Wishes::default();
        let live = Live::start(1, &wishes, &sender)?;
        let focus = Shared::default();
        session::refocus(&focus, |focus| focus.session = Some(live.session.clone()));
        let helper = Helper::new(focus.clone());
        let keyboard = Keyboard::start(source, helper, screen.is_coloured(), sender.clone());
        Ok(Self {
            screen,
            keyboard: keyboard.map_err(failed)?,
            inbox,
            sender,
            interactive: source == Source::Terminal,
            forwards: source != Source::Pipe,
            input_ended: false,
            source,
            scripts: setup.scripts,
            target: setup.target,
            live,
            focus,
            wishes,
            told: Told::default(),
            known: BTreeMap::new(),
            temporary: BTreeSet::new(),
            displays: Vec::new(),
            orders: Orders::default(),
            listing: Listing::default(),
            last_spot: None,
            list_size: 10,
            memory: None,
            shown: None,
            passes_stop: false,
            pending: VecDeque::new(),
            at_entry: false,
            exit: None,
            quit: None,
            interrupted: false,
            reading: Vec::new(),
            last: None,
            asked_to_end: false,
        })
    }

    /// Debugs until the end; the exit code.
    pub(crate) fn run(mut self) -> u8 {
        let code = self.debug();
        self.keyboard.keep();
        // A launched program ends, an attached one goes on.
        if self.live.has_program() {
            self.disconnect(None);
        }
        self.keyboard.restore();
        code
    }

    fn debug(&mut self) -> u8 {
        if let Err(error) = self.start() {
            self.fail(&error);
            return self.quit.unwrap_or_else(|| self.code_of(&error));
        }
        let scripts = std::mem::take(&mut self.scripts);
        for script in scripts {
            if self.quit.is_some() {
                break;
            }
            if let Err(error) = self.run_script(script) {
                self.fail(&error);
                if !self.interactive {
                    return self.quit.unwrap_or(SCRIPT_FAILED);
                }
                break;
            }
        }
        if self.source != Source::Nowhere && self.quit.is_none() {
            self.converse();
        }
        self.quit.unwrap_or_else(|| self.default_code())
    }

    /// The code of a session that ends by itself: a person needs none.
    pub(crate) fn default_code(&self) -> u8 {
        if self.interactive {
            0
        } else {
            self.exit_code()
        }
    }

    /// Whether the last stop was shown.
    pub(crate) fn caught_up(&self) -> bool {
        let stop = self.live.session.status().stop.map(|stop| stop.id);
        stop == self.shown
    }

    fn run_script(&mut self, script: Script) -> Result<(), Error> {
        match script {
            Script::File(file) => script::run(self, &file),
            Script::Command(command) => self.command(&command),
        }
    }

    /// Reads and obeys until there is nothing more to read.
    fn converse(&mut self) {
        while self.quit.is_none() {
            self.keyboard.prompt(PROMPT);
            let Some(input) = self.next(None) else { return };
            match input {
                Input::Keyboard(typed) => {
                    self.keyboard.arrived();
                    self.screen.entered();
                    let again = std::mem::take(&mut self.asked_to_end);
                    match typed {
                        Typed::Line(line) => self.typed(&line),
                        Typed::Interrupt => self.say("(Ctrl-D or `quit` leaves)"),
                        // The end of a terminal that is gone may be read before its signal comes.
                        Typed::End if self.interactive && terminal_is_gone() => {
                            self.signalled(signal_hook::consts::SIGHUP);
                        }
                        Typed::End => self.end_of_input(again),
                        Typed::ForProgram(_) | Typed::EndForProgram => {}
                    }
                }
                Input::Event(number, event) if number == self.live.number => {
                    self.note(*event, 0);
                    if let Err(error) = self.obey_orders() {
                        self.fail(&error);
                    }
                }
                Input::Signal(signal) if signal != signal_hook::consts::SIGINT => {
                    self.signalled(signal);
                }
                _ => {}
            }
        }
    }

    fn typed(&mut self, line: &str) {
        self.interrupted = false;
        let line = match (line.trim(), &self.last) {
            ("", Some(last)) if self.interactive && !self.orders.is_reading() => last.clone(),
            (line, _) => line.to_owned(),
        };
        if let Err(error) = self.command(&line) {
            self.fail(&error);
            if !self.interactive {
                self.quit.get_or_insert(SCRIPT_FAILED);
            }
        }
    }

    /// Ctrl-D: a program that is still there is not ended by a slip of the hand.
    fn end_of_input(&mut self, again: bool) {
        if again || !self.interactive || !self.live.has_program() {
            self.quit = Some(self.default_code());
            return;
        }
        self.asked_to_end = true;
        let fate = match self.target {
            Target::Launch { .. } => "ends the program",
            Target::Attach(_) => "lets the program run on",
        };
        self.say(&format!("Ctrl-D again leaves and {fate}."));
    }

    /// The program's own code, if it ended by itself, or could do nothing but end.
    fn exit_code(&self) -> u8 {
        let stop = self.status().and_then(|status| status.stop);
        let dies = |reason: &StopReason| {
            let unhandled = ExceptionStage::Unhandled;
            match reason {
                StopReason::UnhandledException | StopReason::FailFast { .. } => true,
                StopReason::Exception { stage, .. } => *stage == unhandled,
                _ => false,
            }
        };
        if stop.is_some_and(|stop| stop.reasons.iter().any(dies)) {
            return SIGNALLED + ABORTED;
        }
        let code = self.exit.as_ref().and_then(Exit::shell_code).unwrap_or(0);
        // A process tells the low byte of its code only.
        code.to_le_bytes().first().copied().unwrap_or(0)
    }

    /// Obeys one command; an empty line or a comment is none.
    pub(crate) fn command(&mut self, line: &str) -> Result<(), Error> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') || self.orders.take(line)? {
            return Ok(());
        }
        commands::obey(self, line)?;
        self.obey_orders()
    }

    /// The next thing that happens; none when the time is up.
    pub(crate) fn next(&mut self, deadline: Option<Instant>) -> Option<Input> {
        match deadline {
            None => self.inbox.recv().ok(),
            Some(deadline) => {
                let left = deadline.saturating_duration_since(Instant::now());
                self.inbox.recv_timeout(left).ok()
            }
        }
    }

    /// Asks a person; scripts always mean yes.
    pub(crate) fn confirm(&mut self, question: &str) -> bool {
        if !self.interactive || !self.reading.is_empty() {
            return true;
        }
        self.keyboard.ask(&format!("{question} [y/N] "));
        loop {
            match self.next(None) {
                Some(Input::Keyboard(typed)) => {
                    self.keyboard.arrived();
                    return matches!(typed, Typed::Line(line) if line.trim_start().starts_with(['y', 'Y']));
                }
                Some(Input::Event(number, event)) if number == self.live.number => {
                    self.pending.push_back(*event);
                }
                Some(Input::Signal(signal)) if signal != signal_hook::consts::SIGINT => {
                    self.signalled(signal);
                    return false;
                }
                Some(_) => {}
                None => return false,
            }
        }
    }

    /// A signal asks for the end.
    pub(crate) fn signalled(&mut self, signal: i32) {
        let code = SIGNALLED.saturating_add(u8::try_from(signal).unwrap_or(0));
        self.quit.get_or_insert(code);
    }

    /// Shows our words.
    pub(crate) fn say(&mut self, text: &str) {
        self.screen.say(&self.keyboard, text);
    }

    /// Tells an error.
    pub(crate) fn fail(&mut self, error: &Error) {
        let mut text = failure::render(error);
        if let Target::Attach(_) = self.target
            && let Some(at) = text.find("Hint: `run` starts")
        {
            text.truncate(at);
            text.push_str("Hint: `ndbg attach PID` attaches to a program");
        }
        if self.interactive {
            self.say(&text);
        } else {
            self.screen.finish_line(&self.keyboard);
            crate::screen::complain(&format!("{text}\n"));
        }
    }

    /// Asks about the program.
    pub(crate) fn ask(&self, request: Request) -> Result<Reply, Error> {
        self.live.ask_program(request)
    }

    /// What is looked at.
    pub(crate) fn focus(&self) -> Focus {
        session::focus(&self.focus)
    }

    /// Looks at something else.
    pub(crate) fn refocus(&mut self, thread: Option<ThreadId>, frame: u32) {
        let session = self.live.session.clone();
        session::refocus(&self.focus, |focus| {
            *focus = Focus {
                session: Some(session),
                thread,
                frame,
            };
        });
    }

    fn code_of(&self, error: &Error) -> u8 {
        let exists = match &self.target {
            Target::Launch { launch, .. } => launch.program.exists(),
            Target::Attach(_) => true,
        };
        match error.code {
            ErrorCode::InvalidFile if !exists => NOT_FOUND,
            ErrorCode::ProcessNotFound => NOT_FOUND,
            ErrorCode::InvalidFile
            | ErrorCode::InvalidParameter
            | ErrorCode::NotDotnet
            | ErrorCode::RuntimeNotFound
            | ErrorCode::RuntimeMismatch
            | ErrorCode::DebuggingDisabled
            | ErrorCode::LaunchFailed
            | ErrorCode::AttachFailed
            | ErrorCode::AlreadyDebugged
            | ErrorCode::PermissionDenied
            | ErrorCode::BuildFailed => CANNOT_RUN,
            _ => FAILED,
        }
    }
}

/// Whether standard input was a terminal that has hung up.
fn terminal_is_gone() -> bool {
    rustix::termios::tcgetattr(std::io::stdin()).is_err()
}
