//! The engine's loop: one thread, one inbox, one owner of the program's state.
//!
//! Invariants: every request gets exactly one reply; every reply and event tells the state as it is when it is sent;
//! the loop returns only when no program depends on it any more (ended, let go, or never there).

use std::collections::{BTreeSet, VecDeque};
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use cordebug::callback::{Callback, Delivered};
use cordebug::spawn::ExitReport;

use crate::api::{
    Error, ErrorCode, Event, ExceptionReport, Exit, MemoryReads, Origin, OutputCursor, ProcessId,
    Reply, Request, RuntimeVersion, State, Status, Stop, StopId, StopReason, ThreadId,
};
use crate::breakpoints::Breakpoints;
use crate::callbacks::Gathered;
use crate::calls::{CallError, Evaluations};
use crate::exceptions::Exceptions;
use crate::launching::{Starting, StartupNews};
use crate::output::{Capture, Notice};
use crate::processes::Leftovers;
use crate::source_files::SourceFiles;
use crate::stepping::Stepping;
use crate::target::Target;

/// Everything that can wake the engine. Adding a source means adding a variant.
#[derive(Debug)]
pub enum Input {
    /// A front end asks something.
    Command {
        /// Repeated in the reply.
        id: u64,
        /// What is asked.
        request: Request,
        /// Open files that came with it.
        files: Vec<OwnedFd>,
        /// Set when nobody waits for the answer any more: what has not begun by then is not done.
        given_up: Arc<AtomicBool>,
    },
    /// Nobody listens any more: end or let go of the program, then return.
    FrontEndGone,
    /// A signal of this name asked this process to end.
    ToldToEnd(&'static str),
    /// The runtime told something; the program is stopped until it is answered.
    Callback(Delivered),
    /// A program that is being started has got somewhere.
    Startup(StartupNews),
    /// The program's process ended.
    ProcessEnded(ExitReport),
    /// The process that was launched to start the program ended.
    LauncherEnded(ExitReport),
    /// Something about the program's output.
    Console(Notice),
    /// Bytes were written to the program's standard input, or could not be.
    InputWritten(std::io::Result<()>),
    /// The program hangs because its stack overflowed.
    StackOverflow,
}

/// Everything the engine says.
#[derive(Debug)]
pub enum Output {
    /// The answer to a command.
    Reply {
        /// The command's number.
        id: u64,
        /// The answer.
        result: Result<Reply, Error>,
    },
    /// Something happened.
    Event(Event),
}

/// Runs an engine until its session is over. `inbox` is for the sources that the engine itself creates.
pub fn run(inbox: Sender<Input>, inputs: &Receiver<Input>, say: impl FnMut(Output)) {
    let mut engine = Engine::new(inbox, inputs, Box::new(say));
    while !engine.over {
        let input = match (engine.deferred.pop_front(), engine.next_timer()) {
            // It came in while code of the program was run, and has waited for its turn.
            (Some(input), _) => Ok(input),
            (None, None) => inputs.recv().map_err(|_| RecvTimeoutError::Disconnected),
            (None, Some(at)) => inputs.recv_timeout(at.saturating_duration_since(Instant::now())),
        };
        let answering = match &input {
            Ok(Input::Command { id, .. }) => Some(*id),
            _ => None,
        };
        // A bug in one request must not take the user's program down with it.
        let handled = catch_unwind(AssertUnwindSafe(|| match input {
            Ok(input) => engine.handle(input),
            Err(RecvTimeoutError::Timeout) => engine.timer(),
            Err(RecvTimeoutError::Disconnected) => engine.front_end_gone(),
        }));
        if handled.is_err() {
            engine.after_panic(answering);
        }
    }
    // A start that was given up may still be waited for, on a thread that this process does not outlive.
    cordebug::handshake::remove_all();
    // A program that was let go, and that we stayed for, may have been killed.
    if let Some(leftovers) = engine.leftovers.take() {
        leftovers.remove();
    }
}

/// The engine's whole state.
pub(crate) struct Engine<'a> {
    pub(crate) inbox: Sender<Input>,
    /// Read by the loop, and by an evaluation while it runs.
    pub(crate) inputs: &'a Receiver<Input>,
    /// What came in while an evaluation ran.
    pub(crate) deferred: VecDeque<Input>,
    pub(crate) evaluations: Evaluations,
    /// What the runtime told of other threads before an evaluation, to be handled when the program goes on.
    pub(crate) postponed: VecDeque<Callback>,
    say: Box<dyn FnMut(Output) + 'a>,
    /// The threads that the user has frozen.
    pub(crate) frozen: BTreeSet<u32>,
    pub(crate) state: State,
    pub(crate) origin: Option<Origin>,
    pub(crate) program: Option<String>,
    pub(crate) runtime: Option<RuntimeVersion>,
    pub(crate) pid: Option<u32>,
    /// Keeps other debuggers from a program that was attached to.
    pub(crate) claim: Option<crate::processes::Claim>,
    /// What the program leaves in the file system if it is killed.
    pub(crate) leftovers: Option<Leftovers>,
    pub(crate) resumes: u32,
    stops: u32,
    pub(crate) stop: Option<Stop>,
    pub(crate) exit: Option<Exit>,
    pub(crate) notes: Vec<String>,
    pub(crate) capture: Capture,
    /// A program on its way to the debugger.
    pub(crate) starting: Option<Starting>,
    /// The program, once the runtime is ours.
    pub(crate) target: Option<Target>,
    pub(crate) ending: crate::ending::Ending,
    pub(crate) breakpoints: Breakpoints,
    pub(crate) source_files: SourceFiles,
    pub(crate) exceptions: Exceptions,
    pub(crate) stepping: Stepping,
    /// Why the program stops, while there may be more to it: see `callbacks`.
    pub(crate) gathered: Option<Gathered>,
    /// Whether a launched program keeps its optimised code.
    pub(crate) keep_optimized: bool,
    /// The launched process, if it is a child of it that is debugged.
    pub(crate) following: Option<crate::following::Following>,
    /// Whether the front end is gone and the loop may return as soon as nothing depends on it.
    pub(crate) leaving: bool,
    over: bool,
    stdin: Option<crate::launching::Stdin>,
}

impl<'a> Engine<'a> {
    fn new(
        inbox: Sender<Input>,
        inputs: &'a Receiver<Input>,
        say: Box<dyn FnMut(Output) + 'a>,
    ) -> Self {
        Self {
            inbox,
            inputs,
            deferred: VecDeque::new(),
            evaluations: Evaluations::default(),
            postponed: VecDeque::new(),
            frozen: BTreeSet::new(),
            say,
            state: State::Starting,
            origin: None,
            program: None,
            runtime: None,
            pid: None,
            claim: None,
            leftovers: None,
            resumes: 0,
            stops: 0,
            stop: None,
            exit: None,
            notes: Vec::new(),
            capture: Capture::none(),
            starting: None,
            target: None,
            ending: crate::ending::Ending::default(),
            breakpoints: Breakpoints::default(),
            source_files: SourceFiles::default(),
            exceptions: Exceptions::default(),
            stepping: Stepping::default(),
            gathered: None,
            keep_optimized: false,
            following: None,
            leaving: false,
            over: false,
            stdin: None,
        }
    }

    pub(crate) fn tell(&mut self, event: Event) {
        (self.say)(Output::Event(event));
    }

    pub(crate) fn answer(&mut self, id: u64, result: Result<Reply, Error>) {
        (self.say)(Output::Reply { id, result });
    }

    pub(crate) fn answer_status(&mut self, id: u64) {
        let status = Box::new(self.status());
        self.answer(id, Ok(Reply::Status(status)));
    }

    pub(crate) fn set_stdin(&mut self, stdin: Option<crate::launching::Stdin>) {
        self.stdin = stdin;
    }

    pub(crate) fn status(&self) -> Status {
        Status {
            state: self.state,
            pid: self.pid.map(ProcessId),
            origin: self.origin,
            program: self.program.clone(),
            runtime: self.runtime.clone(),
            resumes: self.resumes,
            stop: self.stop.clone(),
            exit: self.exit.clone(),
            frozen: self.frozen.iter().copied().map(ThreadId).collect(),
            stuck: self.evaluations.stuck(),
            notes: self.notes.clone(),
            output_end: self.capture.end(),
            memory: {
                let (cached, kernel) = cordebug::fast_memory::statistics();
                MemoryReads { cached, kernel }
            },
        }
    }

    fn handle(&mut self, input: Input) {
        match input {
            Input::Command {
                id,
                request,
                files,
                given_up,
            } => {
                let ends = matches!(request, Request::Disconnect { .. });
                if given_up.load(Ordering::Relaxed) && !ends {
                    let message = "nobody waited for it any more when its turn came";
                    self.answer(id, Err(Error::new(ErrorCode::Timeout, message)));
                } else {
                    self.command(id, request, files);
                }
            }
            Input::FrontEndGone => self.front_end_gone(),
            Input::ToldToEnd(signal) => {
                if !matches!(self.state, State::Exited | State::Detached) {
                    let became = match self.origin {
                        Some(Origin::Launched) => "has ended the program",
                        _ => "lets the program go",
                    };
                    self.notes.push(format!(
                        "the debugger's host process got {signal}: it {became}"
                    ));
                }
                self.front_end_gone();
            }
            Input::Callback(delivered) => {
                if let Some(callback) = self.receive(delivered) {
                    self.callback(callback);
                }
            }
            Input::Startup(news) => self.startup(news),
            Input::ProcessEnded(report) => self.process_ended(report),
            Input::LauncherEnded(report) => self.launcher_ended(report),
            Input::Console(Notice::New) => {
                let end = self.capture.end();
                self.tell(Event::Output { end });
            }
            Input::Console(Notice::Closed) => self.output_closed(),
            Input::StackOverflow => self.stack_overflowed(),
            Input::InputWritten(result) => {
                if let Err(error) = result {
                    self.notes.push(format!(
                        "writing to the program's standard input failed: {error}"
                    ));
                }
            }
        }
        self.leave_if_done();
    }

    fn command(&mut self, id: u64, request: Request, files: Vec<OwnedFd>) {
        match request {
            // These answer when the program is there.
            Request::Launch(launch) => self.launch(id, launch, files),
            Request::Attach(attach) => self.attach(id, attach),
            Request::Disconnect {
                terminate,
                children,
            } => self.disconnect(id, terminate, children),
            request => {
                let result = self.answer_to(request);
                self.answer(id, result);
            }
        }
    }

    fn answer_to(&mut self, request: Request) -> Result<Reply, Error> {
        if !matches!(
            request,
            Request::Continue | Request::Step { .. } | Request::Status | Request::Stack { .. }
        ) && let Some(target) = &mut self.target
        {
            target.take_stored_result();
        }
        match request {
            Request::Continue => {
                self.resume()?;
                Ok(Reply::Status(Box::new(self.status())))
            }
            Request::Pause => {
                self.pause()?;
                Ok(Reply::Status(Box::new(self.status())))
            }
            Request::Status => Ok(Reply::Status(Box::new(self.status()))),
            Request::Output(query) => Ok(Reply::Output(self.capture.page(query))),
            Request::DrainOutput(query) => Ok(Reply::Output(self.capture.drained_page(query))),
            Request::Input { text, close } => match &self.stdin {
                Some(stdin) => Ok(Reply::Input {
                    accepted: stdin.write(text, close)?,
                }),
                None => Err(Error::new(
                    ErrorCode::InvalidParameter,
                    "the program's standard input is not ours to write",
                )
                .hint("only a launched program with a captured console has one")),
            },
            Request::Stack {
                thread,
                start,
                count,
            } => self.stack(thread, start, count),
            Request::AsyncStack { thread } => self.async_stack(thread),
            Request::Exception { thread } => self.exception(thread),
            Request::SetBreakpoint(spec) => self.set_breakpoint(spec),
            Request::ChangeBreakpoint { id, change } => self.change_breakpoint(id, change),
            Request::RemoveBreakpoint(id) => self.remove_breakpoint(id),
            Request::Breakpoints => Ok(self.list_breakpoints()),
            Request::RequireExactSource(exact) => self.require_exact_source(exact),
            Request::SetSourceMaps(maps) => self.set_source_maps(maps),
            Request::SetExceptionBreakpoint(spec) => {
                let (breakpoint, duplicate) = self.set_exception_breakpoint(spec)?;
                Ok(Reply::ExceptionBreakpoint {
                    breakpoint,
                    duplicate,
                })
            }
            Request::StopAtUnhandled(stop) => {
                self.exceptions.ignore_unhandled(!stop);
                Ok(Reply::Status(Box::new(self.status())))
            }
            Request::ForbidSideEffects => {
                self.evaluations.forbid();
                Ok(Reply::Status(Box::new(self.status())))
            }
            Request::Evaluate(request) => self.evaluate_expressions(&request),
            // One that is under way takes it out of the inbox itself; this one came too late.
            Request::CancelEvaluation => Ok(Reply::Status(Box::new(self.status()))),
            Request::Complete(request) => self.complete(&request),
            Request::Threads => self.threads(),
            Request::Freeze { thread, frozen } => self.freeze(thread, frozen),
            Request::Modules => self.module_reports(),
            Request::Symbols(query) => self.symbols(&query),
            Request::Type(query) => self.describe_type(&query),
            Request::Source { file } => self.source_text(&file),
            Request::SourceFiles => self.list_source_files(),
            Request::Statements { file, from, to } => self.statements(&file, from, to),
            Request::Variables(query) => self.variables(&query),
            Request::OpenValue(query) => self.open_value(&query),
            Request::SetVariable(set) => self.set_variable(&set),
            Request::ReadMemory { address, count } => self.read_memory(address, count),
            Request::InspectObject(query) => self.inspect_object(&query),
            Request::KeepObject(query) => self.keep_object(&query),
            Request::ReleaseObject(number) => self.release_object(number),
            Request::Step {
                thread,
                kind,
                count,
            } => {
                self.step(thread, kind, count)?;
                Ok(Reply::Status(Box::new(self.status())))
            }
            Request::StepTargets { thread } => self.step_targets(thread),
            Request::StepIntoTarget { thread, call } => {
                self.step_into_target(thread, call)?;
                Ok(Reply::Status(Box::new(self.status())))
            }
            Request::RunTo(place) => {
                self.run_to(&place)?;
                Ok(Reply::Status(Box::new(self.status())))
            }
            Request::Goto {
                thread,
                file,
                line,
                column,
            } => {
                self.set_next_statement(thread, file.as_deref(), line, column)?;
                Ok(Reply::Status(Box::new(self.status())))
            }
            Request::GotoTargets { thread, file, line } => {
                self.next_statements(thread, file.as_deref(), line)
            }
            Request::SetStepOptions(options) => {
                self.stepping.options = options;
                Ok(Reply::Status(Box::new(self.status())))
            }
            Request::Launch(_) | Request::Attach(_) | Request::Disconnect { .. } => Err(
                Error::new(ErrorCode::Internal, "this request is answered elsewhere"),
            ),
        }
    }

    /// The running or stopped program; an error that says what the state is instead.
    pub(crate) fn target(&mut self) -> Result<&mut Target, Error> {
        match self.state {
            State::Exited => {
                Err(Error::new(ErrorCode::Exited, "the program has ended").hint("launch it again"))
            }
            State::Detached => Err(Error::new(
                ErrorCode::NoSession,
                "the session has let go of the program",
            )),
            State::Starting if self.starting.is_some() => Err(Error::new(
                ErrorCode::NoSession,
                "the program has not reached the debugger yet",
            )
            .hint("wait until it runs")),
            _ => self.target.as_mut().ok_or_else(|| {
                Error::new(
                    ErrorCode::NoSession,
                    "there is no program in this session yet",
                )
                .hint("launch or attach first")
            }),
        }
    }

    /// The stopped program.
    pub(crate) fn stopped_target(&mut self) -> Result<&mut Target, Error> {
        if self.state == State::Running && !self.evaluations.is_at_hit() {
            if self.evaluations.has_ended_program() {
                let why = "the program is ending: what was run in it has ended it";
                let error = Error::new(ErrorCode::NotStopped, why);
                return Err(error.hint("ask for the status, which will say how it ended"));
            }
            return Err(
                Error::new(ErrorCode::NotStopped, "the program is running").hint("pause it first")
            );
        }
        self.target()
    }

    /// Lets a stopped program run.
    pub(crate) fn resume(&mut self) -> Result<(), Error> {
        let postponed = !self.postponed.is_empty();
        self.stopped_target()?;
        self.hear_of_dependencies(false);
        let target = self.stopped_target()?;
        target.results.get_mut().clear();
        target.returned.forget();
        target.broke = None;
        if !postponed {
            target.resume_all()?;
        }
        self.evaluations.continued();
        if let Some(target) = &self.target {
            target.walks.borrow_mut().hide(None);
        }
        self.state = State::Running;
        self.stop = None;
        self.resumes += 1;
        let status = Box::new(self.status());
        self.tell(Event::Running(status));
        if postponed && !self.handle_postponed() {
            self.target()?.resume_all()?;
        }
        Ok(())
    }

    /// Stops a running program.
    pub(crate) fn pause(&mut self) -> Result<(), Error> {
        if self.state == State::Stopped {
            return Ok(());
        }
        if self.starting.is_some() {
            self.ending.pause_wanted = true;
            return Ok(());
        }
        self.stop_target()?;
        let thread = self.target()?.paused_thread();
        let mut gathered = self.gathered.take().unwrap_or_default();
        gathered.add(vec![StopReason::Pause], thread, None);
        self.tell_stop(gathered);
        Ok(())
    }

    /// Notes that the program is stopped and why, and tells it; while a callback is handled, when that is over.
    pub(crate) fn stopped(
        &mut self,
        reasons: Vec<StopReason>,
        thread: Option<ThreadId>,
        exception: Option<ExceptionReport>,
    ) {
        match &mut self.gathered {
            Some(gathered) => gathered.add(reasons, thread, exception),
            None => {
                let mut gathered = Gathered::default();
                gathered.add(reasons, thread, exception);
                self.tell_stop(gathered);
            }
        }
    }

    /// Tells a stop.
    pub(crate) fn tell_stop(&mut self, gathered: Gathered) {
        let Gathered {
            reasons,
            thread,
            exception,
        } = gathered;
        if !self.let_threads_begin() {
            return;
        }
        // Whatever the cause: steps that were under way end here.
        let steps = self.take_steps();
        // What the program wrote before it stopped is there when the stop is told.
        if self.capture.take_in() {
            let end = self.capture.end();
            self.tell(Event::Output { end });
        }
        // What is queued may be of no interest, the beginning of a thread for example: only a look at it tells.
        if let Err(CallError::ProgramEnded) = self.take_queued() {
            return;
        }
        let queued = self.queued_threads(thread);
        match &mut self.stop {
            // A second cause arrived while the program was stopped already.
            Some(stop) if self.state == State::Stopped => {
                stop.reasons.extend(reasons);
                stop.exception = stop.exception.take().or(exception);
            }
            _ => {
                self.stops += 1;
                self.stop = Some(Stop {
                    id: StopId(self.stops),
                    reasons,
                    thread,
                    exception,
                    steps: steps.made,
                    queued,
                });
            }
        }
        self.state = State::Stopped;
        let status = Box::new(self.status());
        self.tell(Event::Stopped(status));
        // Whoever hears it need not wait for this.
        self.clear_away(steps);
    }

    /// The threads other than one of which the runtime has told something that will stop the program.
    fn queued_threads(&self, other_than: Option<ThreadId>) -> Vec<ThreadId> {
        let stops = self.postponed.iter().filter(|it| match it {
            Callback::Breakpoint { breakpoint, .. } => breakpoint.as_ref().is_some_and(|it| {
                self.breakpoints
                    .always_stops(cordebug::module::identity(it))
            }),
            Callback::Break { .. } => true,
            // What becomes of these is known when they are looked at.
            _ => false,
        });
        let queued = stops.filter_map(|it| it.thread());
        let ids: BTreeSet<_> = queued.filter_map(|it| it.id().ok()).collect();
        let ids = ids.into_iter().map(ThreadId);
        ids.filter(|id| Some(*id) != other_than).collect()
    }

    fn front_end_gone(&mut self) {
        self.leaving = true;
        self.let_go();
        self.leave_if_done();
    }

    fn leave_if_done(&mut self) {
        if !self.leaving || self.target.is_some() || self.starting.is_some() {
            return;
        }
        if self.is_ending() {
            return;
        }
        if self.guards_a_program() {
            self.fall_silent();
            return;
        }
        if !self.ending.process_expected() {
            self.end_followed_tree();
            self.over = true;
        }
    }

    /// Nobody listens: dropping the way out tells the front end that it need not wait for us.
    pub(crate) fn fall_silent(&mut self) {
        self.say = Box::new(|_| {});
    }

    /// A launched program that was let go still depends on this process: the kernel ends it with us, and its output
    /// would break. So we stay, quietly, until it ends.
    fn guards_a_program(&self) -> bool {
        self.state == State::Detached
            && self.origin == Some(Origin::Launched)
            && self.exit_report().is_none()
    }

    fn next_timer(&self) -> Option<Instant> {
        let times = self.ending.deadline().into_iter();
        times.chain(self.next_look()).min()
    }

    fn timer(&mut self) {
        self.look_at_turns();
        self.ending_deadline_passed();
        self.leave_if_done();
    }

    /// The state is kept; whoever asked is told. A second bug while leaving must not keep us here.
    fn after_panic(&mut self, answering: Option<u64>) {
        tracing::error!("a request panicked; the session goes on");
        self.evaluations.after_panic();
        if let Some(id) = answering {
            self.answer(
                id,
                Err(Error::new(
                    ErrorCode::Internal,
                    "a bug in ndbg: this request failed inside the engine",
                )),
            );
        }
        if self.leaving {
            self.over = true;
        }
    }

    /// A moment `after` from now.
    pub(crate) fn in_time(after: Duration) -> Instant {
        Instant::now() + after
    }
}

impl Status {
    /// The status of a session that has no program yet.
    pub fn starting() -> Self {
        Self {
            state: State::Starting,
            pid: None,
            origin: None,
            program: None,
            runtime: None,
            resumes: 0,
            stop: None,
            exit: None,
            frozen: Vec::new(),
            stuck: Vec::new(),
            notes: Vec::new(),
            output_end: OutputCursor::default(),
            memory: MemoryReads::default(),
        }
    }
}
