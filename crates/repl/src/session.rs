//! The host at hand: with a program, or waiting for one.
//!
//! Invariant: there is always a host to ask, so breakpoints can be set and looked at before the program is run and
//! after it ended; a new one takes over what the last one was told.

use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use host::api::{
    BreakpointSpec, Error, ExceptionSpec, Reply, Request, SourceMap, State, StepOptions, ThreadId,
};
use host::{HostProgram, Session};

use crate::failure::{no_program, unexpected};
use crate::inbox::Input;

/// How long a host may take to answer.
const ANSWER: Duration = Duration::from_secs(20);

/// What outlives one run of the program.
#[derive(Debug, Clone)]
pub(crate) struct Wishes {
    /// Breakpoints at places, with their numbers.
    pub(crate) breakpoints: Vec<BreakpointSpec>,
    /// Breakpoints at exceptions.
    pub(crate) exceptions: Vec<ExceptionSpec>,
    /// Where source files are.
    pub(crate) maps: Vec<SourceMap>,
    /// Where steps stop.
    pub(crate) steps: StepOptions,
    /// Whether exceptions that nobody catches stop the program.
    pub(crate) stop_at_unhandled: bool,
}

impl Default for Wishes {
    fn default() -> Self {
        Self {
            breakpoints: Vec::new(),
            exceptions: Vec::new(),
            maps: Vec::new(),
            steps: StepOptions::default(),
            stop_at_unhandled: true,
        }
    }
}

/// What commands look at, shared with the keyboard's completion.
#[derive(Debug, Clone, Default)]
pub(crate) struct Focus {
    /// The host.
    pub(crate) session: Option<Session>,
    /// The thread; the one that reported the stop if absent.
    pub(crate) thread: Option<ThreadId>,
    /// The frame.
    pub(crate) frame: u32,
}

/// [`Focus`] for two threads.
pub(crate) type Shared = Arc<Mutex<Focus>>;

/// What is looked at now.
pub(crate) fn focus(shared: &Shared) -> Focus {
    shared
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone()
}

/// Changes what is looked at.
pub(crate) fn refocus(shared: &Shared, change: impl FnOnce(&mut Focus)) {
    change(&mut shared.lock().unwrap_or_else(PoisonError::into_inner));
}

/// A host and its number, which its events carry.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) session: Session,
    pub(crate) number: u32,
    /// Whether it has or had a program.
    pub(crate) used: bool,
}

impl Live {
    /// Starts a host that waits for a program, and tells it what the last one knew.
    pub(crate) fn start(
        number: u32,
        wishes: &Wishes,
        inbox: &Sender<Input>,
    ) -> Result<Self, Error> {
        let session = Session::start(&HostProgram::default())?;
        let inbox = inbox.clone();
        session.observe(move |event| {
            // Nobody reads any more when the front end ends.
            let _ = inbox.send(Input::Event(number, Box::new(event.clone())));
        });
        let live = Self {
            session,
            number,
            used: false,
        };
        if !wishes.maps.is_empty() {
            live.ask(Request::SetSourceMaps(wishes.maps.clone()))?;
        }
        for spec in &wishes.breakpoints {
            live.ask(Request::SetBreakpoint(spec.clone()))?;
        }
        for spec in &wishes.exceptions {
            live.ask(Request::SetExceptionBreakpoint(spec.clone()))?;
        }
        if !wishes.stop_at_unhandled {
            live.ask(Request::StopAtUnhandled(false))?;
        }
        Ok(live)
    }

    /// Asks the host.
    pub(crate) fn ask(&self, request: Request) -> Result<Reply, Error> {
        self.session.request(request, Instant::now() + ANSWER)
    }

    /// Whether there is a program that runs or is stopped.
    pub(crate) fn has_program(&self) -> bool {
        self.used
            && self.session.died().is_none()
            && matches!(
                self.session.status().state,
                State::Running | State::Stopped | State::Starting
            )
    }

    /// Asks the host about its program.
    pub(crate) fn ask_program(&self, request: Request) -> Result<Reply, Error> {
        if !self.has_program() {
            return Err(no_program());
        }
        self.ask(request)
    }

    /// Notes the breakpoints as they are, for the next host.
    pub(crate) fn save(&self, wishes: &mut Wishes) {
        match self.ask(Request::Breakpoints) {
            Ok(Reply::Breakpoints {
                breakpoints,
                exceptions,
            }) => {
                wishes.breakpoints = breakpoints.iter().map(|it| it.again()).collect();
                wishes.exceptions = exceptions.into_iter().map(|it| it.spec).collect();
            }
            Ok(_) => tracing::error!(error = %unexpected(), "asking for breakpoints"),
            // Those that were noted last are set again.
            Err(error) => tracing::debug!(%error, "the breakpoints cannot be read"),
        }
    }
}
