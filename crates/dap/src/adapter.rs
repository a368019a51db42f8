//! One connection: who may ask what when, and in which order it is answered.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use host::api::{
    Event, Line, OutputCursor, Reply, Request as EngineRequest, StopId, ThreadId, Trace,
};
use host::terminal::Terminal;
use host::{HostProgram, Session};
use serde_json::Value;

use crate::breakpoints::Breakpoints;
use crate::client::Client;
use crate::evaluating::GivenUp;
use crate::framing::{self, FramingError};
use crate::message::{Incoming, Refusal, Request, RequestArguments, Response};
use crate::running::{Calls, Frames};
use crate::salvage;
use crate::settings::Shown;
use crate::sources::Sources;
use crate::stacks::Chain;
use crate::starting::Start;
use crate::types::InitializeRequestArguments;
use crate::values::References;

/// How long the engine may take to answer a request that does not let the program run.
pub(crate) const ANSWER: Duration = Duration::from_secs(30);

/// How often the end of a build is looked for.
const BUILD_POLL: Duration = Duration::from_millis(20);

/// What the one loop takes in.
pub(crate) enum Input {
    /// A message of the client.
    Message(Incoming),
    /// Bytes that are no message, and the request that they were meant to be; the next ones may be one.
    Nonsense(String, Option<Request>),
    /// This process is asked to end.
    End,
    /// A program that was asked to end has had its time.
    Overdue(u32),
    /// The client is gone, or its stream cannot be read on.
    Gone(Option<FramingError>),
    /// News of the program.
    Session(u32, Event),
    /// Long work is done.
    Done(Box<dyn FnOnce(&mut Adapter) + Send>),
}

/// Ends the connection that is being served, from another thread.
#[derive(Debug, Clone, Default)]
pub struct Ending(Arc<Mutex<Option<Sender<Input>>>>);

impl Ending {
    /// Ends it as if its client were gone; whether there was one.
    pub fn end(&self) -> bool {
        let inbox = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        inbox
            .as_ref()
            .is_some_and(|inbox| inbox.send(Input::End).is_ok())
    }

    fn is_of(&self, inbox: Option<Sender<Input>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = inbox;
    }
}

/// Serves one client until it is gone or has disconnected. An error if what it sends are no messages.
pub fn serve(
    host: HostProgram,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    ending: &Ending,
) -> Result<(), FramingError> {
    let (inbox, inputs) = mpsc::channel();
    ending.is_of(Some(inbox.clone()));
    let client = Client::new(output);
    let reader = inbox.clone();
    let spawned = thread::Builder::new()
        .name("client".into())
        .spawn(move || read(BufReader::new(input), &reader));
    if let Err(error) = spawned {
        tracing::error!(%error, "no thread for the client");
        return Err(error.into());
    }
    let mut adapter = Adapter::new(host, client, inbox);
    let served = adapter.run(&inputs);
    adapter.finish(&inputs);
    ending.is_of(None);
    served
}

/// Answers the first request of a client that cannot be served, and that is all.
pub fn turn_away(input: impl Read, output: impl Write + Send + 'static, why: &str) {
    let Ok(Some(body)) = framing::read(&mut BufReader::new(input)) else {
        return;
    };
    if let Ok(Incoming::Request(request)) = serde_json::from_slice(&body) {
        let refusal = Refusal::new("busy", why).shown();
        Client::new(output).answer(&request, Err::<(), _>(refusal));
    }
}

fn read(mut input: impl BufRead, inbox: &Sender<Input>) {
    loop {
        let next = match framing::read(&mut input) {
            Ok(Some(body)) => match serde_json::from_slice(&body) {
                Ok(message) => Input::Message(message),
                Err(error) => Input::Nonsense(error.to_string(), salvage::request(&body)),
            },
            Ok(None) => Input::Gone(None),
            Err(error) => Input::Gone(Some(error)),
        };
        let last = matches!(next, Input::Gone(_));
        if inbox.send(next).is_err() || last {
            return;
        }
    }
}

/// How far the connection has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing was said yet.
    New,
    /// `initialize` was answered; the program does not run yet.
    Configuring,
    /// The program is being built, launched or attached to.
    Starting,
    /// There is a program.
    Debugging,
    /// The program has ended or was let go.
    Ended,
}

/// The state of one connection.
pub(crate) struct Adapter {
    pub(crate) host: HostProgram,
    /// Whether a host has died before it had a program, and another one has taken its place.
    pub(crate) replaced: bool,
    pub(crate) client: Client,
    pub(crate) inbox: Sender<Input>,
    pub(crate) about: InitializeRequestArguments,
    pub(crate) phase: Phase,
    /// What is to be started, once the client has configured everything.
    pub(crate) start: Option<Start>,
    pub(crate) configured: bool,
    pub(crate) session: Option<Session>,
    /// Counts sessions, so that news of an earlier one is not taken for this one's.
    pub(crate) generation: u32,
    /// The stop that was told last.
    pub(crate) told_stop: Option<StopId>,
    pub(crate) breakpoints: Breakpoints,
    pub(crate) frames: Frames,
    /// Who awaits what threads run, as far as it was asked for at this stop.
    pub(crate) chains: HashMap<ThreadId, Arc<Chain>>,
    pub(crate) references: References,
    pub(crate) sources: Sources,
    /// Managed threads that began and have not ended.
    pub(crate) live_threads: BTreeSet<ThreadId>,
    /// Messages of breakpoints that were not found in the output yet.
    pub(crate) traces: Arc<Mutex<VecDeque<Trace>>>,
    /// Where source files are that were compiled elsewhere.
    pub(crate) source_maps: BTreeMap<String, String>,
    /// Whether a file that was changed since the program was built gets no breakpoints; else that is only said.
    pub(crate) exact_source: bool,
    /// How values are shown.
    pub(crate) shown: Shown,
    /// Places that the client may set as the next statement.
    pub(crate) targets: Vec<(Option<String>, Line, Option<u32>)>,
    /// The calls that the client was told of.
    pub(crate) calls: Calls,
    /// Output up to here was told.
    pub(crate) told: OutputCursor,
    /// Set while long work is done beside this thread.
    pub(crate) busy: bool,
    /// The request whose expression is being evaluated.
    pub(crate) evaluating: Option<(Request, GivenUp)>,
    /// What was not set because that needs force, and the value: asked for once more, it is set.
    pub(crate) insisted: Option<(String, String)>,
    /// Requests that wait for it.
    pub(crate) deferred: VecDeque<Request>,
    /// The session whose program was asked to end.
    pub(crate) asked_to_end: Option<u32>,
    /// A request of ours for a terminal that the client has not answered, and the start that waits for it.
    pub(crate) asked: Option<(i64, Start)>,
    /// The client's terminal that the program runs in.
    pub(crate) terminal: Option<Terminal>,
    pub(crate) over: bool,
}

impl Adapter {
    fn new(host: HostProgram, client: Client, inbox: Sender<Input>) -> Self {
        Self {
            host,
            replaced: false,
            client,
            inbox,
            about: InitializeRequestArguments::default(),
            phase: Phase::New,
            start: None,
            configured: false,
            session: None,
            generation: 0,
            told_stop: None,
            breakpoints: Breakpoints::default(),
            frames: Frames::default(),
            chains: HashMap::new(),
            references: References::default(),
            sources: Sources::default(),
            live_threads: BTreeSet::new(),
            traces: Arc::default(),
            source_maps: BTreeMap::new(),
            exact_source: false,
            shown: Shown::default(),
            targets: Vec::new(),
            calls: Calls::default(),
            told: OutputCursor::default(),
            busy: false,
            evaluating: None,
            insisted: None,
            deferred: VecDeque::new(),
            asked_to_end: None,
            asked: None,
            terminal: None,
            over: false,
        }
    }

    fn run(&mut self, inputs: &Receiver<Input>) -> Result<(), FramingError> {
        while !self.over {
            let Ok(input) = inputs.recv() else {
                return Ok(());
            };
            match input {
                Input::Message(Incoming::Request(request)) => self.request(request),
                Input::Message(Incoming::Response(response)) => self.response(response),
                Input::Message(Incoming::Event {}) => {}
                Input::Nonsense(error, request) => {
                    let text = format!("a message that is not of this protocol: {error}");
                    match request {
                        Some(request) => {
                            let refusal = Refusal::new("badMessage", text);
                            self.client.answer(&request, Err::<(), _>(refusal));
                        }
                        None => self.say(&text),
                    }
                }
                Input::End | Input::Gone(None) => return Ok(()),
                // A client that dies does not finish what it was writing.
                Input::Gone(Some(error @ (FramingError::Io(_) | FramingError::Cut))) => {
                    tracing::warn!(%error, "the client is gone");
                    return Ok(());
                }
                Input::Gone(Some(error)) => {
                    self.say(&format!("the connection ends: {error}"));
                    return Err(error);
                }
                Input::Overdue(generation) if generation == self.generation => self.overdue(),
                Input::Overdue(_) => {}
                // A session that was left may still say goodbye.
                Input::Session(generation, event) if generation == self.generation => {
                    self.session_event(event);
                }
                Input::Session(..) => {}
                Input::Done(finish) => {
                    self.busy = false;
                    finish(self);
                }
            }
            while !self.busy
                && !self.over
                && let Some(request) = self.deferred.pop_front()
            {
                self.dispatch(&request);
            }
        }
        Ok(())
    }

    /// Waits for a build that is under way: it has processes of its own to end and to clear away after.
    fn finish(&mut self, inputs: &Receiver<Input>) {
        let Some(start) = self.start.clone() else {
            return;
        };
        start.cancel();
        let deadline = Instant::now() + ANSWER;
        while start.is_building() && Instant::now() < deadline {
            // Nobody is left to whom anything else could be told.
            let _ = inputs.recv_timeout(BUILD_POLL);
        }
    }

    fn request(&mut self, request: Request) {
        let urgent = matches!(
            request.command.as_str(),
            "pause" | "cancel" | "disconnect" | "terminate"
        );
        if self.busy && !urgent {
            self.deferred.push_back(request);
        } else {
            self.dispatch(&request);
        }
    }

    /// The client's answer to the one thing we ask for, a terminal.
    fn response(&mut self, response: Response) {
        let asked = self.asked.take_if(|(seq, _)| *seq == response.request_seq);
        if let Some((_, start)) = asked
            && !response.success
        {
            start.refuse_terminal(response.message.unwrap_or_default());
        }
    }

    fn dispatch(&mut self, request: &Request) {
        let is_early = !matches!(request.command.as_str(), "initialize" | "disconnect");
        if self.phase == Phase::New && is_early {
            let text = format!("{} before initialize", request.command);
            self.client
                .answer(request, Err::<(), _>(Refusal::new("notInitialized", text)));
            return;
        }
        match request.command.as_str() {
            "initialize" => self.initialize(request),
            "launch" => self.launch(request),
            "attach" => self.attach(request),
            "configurationDone" => self.configuration_done(request),
            "restart" => self.restart(request),
            "disconnect" => self.disconnect(request),
            "terminate" => self.terminate(request),
            "cancel" => self.cancel(request),
            "setBreakpoints" => self.handle(request, Self::set_breakpoints),
            "setFunctionBreakpoints" => self.handle(request, Self::set_function_breakpoints),
            "setExceptionBreakpoints" => self.handle(request, Self::set_exception_breakpoints),
            "dataBreakpointInfo" => self.handle(request, Self::data_breakpoint_info),
            "continue" => self.handle(request, Self::resume),
            "next" => self.handle(request, Self::next),
            "stepIn" => self.handle(request, Self::step_in),
            "stepInTargets" => self.handle(request, Self::step_in_targets),
            "stepOut" => self.handle(request, Self::step_out),
            "restartFrame" => {
                let text = "a frame cannot be restarted: the runtime has no way to take back what a method has done and \
                    called; set the next statement to its first line instead (goto), where arguments and variables keep \
                    the values that they have now";
                let refused = Refusal::new("notSupported", text);
                self.client.answer(request, Err::<(), _>(refused));
            }
            "pause" => self.handle(request, Self::pause),
            "threads" => self.handle(request, Self::threads),
            "stackTrace" => self.handle(request, Self::stack_trace),
            "exceptionInfo" => self.handle(request, Self::exception_info),
            "scopes" => self.handle(request, Self::scopes),
            "variables" => self.variables(request),
            "setVariable" => self.set_variable(request),
            "evaluate" => self.evaluate(request),
            "setExpression" => self.set_expression(request),
            "completions" => self.handle(request, Self::completions),
            "gotoTargets" => self.handle(request, Self::goto_targets),
            "goto" => self.handle(request, Self::goto),
            "modules" => self.handle(request, Self::modules),
            "loadedSources" => self.handle(request, Self::loaded_sources),
            "source" => self.handle(request, Self::source),
            "breakpointLocations" => self.handle(request, Self::breakpoint_locations),
            "readMemory" => self.handle(request, Self::read_memory),
            other => {
                let text = format!("ndbg does not know the request {other}");
                self.client
                    .answer(request, Err::<(), _>(Refusal::new("unknownRequest", text)));
            }
        }
    }

    /// Reads the arguments, calls, answers.
    fn handle<A: RequestArguments>(
        &mut self,
        request: &Request,
        serve: fn(&mut Self, A) -> Result<A::Body, Refusal>,
    ) {
        let result = arguments(request).and_then(|arguments| serve(self, arguments));
        self.client.answer(request, result);
    }

    /// The session, or why there is none.
    pub(crate) fn session(&self) -> Result<&Session, Refusal> {
        let why = match self.phase {
            Phase::Debugging | Phase::Starting => None,
            Phase::Ended => Some("the program has ended"),
            Phase::New | Phase::Configuring => {
                Some("there is no program yet: launch or attach first")
            }
        };
        match (&self.session, why) {
            (Some(session), None) => Ok(session),
            (_, why) => Err(Refusal::new(
                "noProgram",
                why.unwrap_or("the program is not there yet"),
            )),
        }
    }

    /// Asks the engine.
    pub(crate) fn ask(&self, request: EngineRequest) -> Result<Reply, Refusal> {
        let session = self.session()?;
        if self.start.as_ref().is_some_and(Start::is_without_debugger) {
            let text = "the program runs without a debugger (noDebug); it can only be ended";
            return Err(Refusal::new("noDebug", text));
        }
        Ok(session.request(request, Instant::now() + ANSWER)?)
    }

    /// Does `work` beside this thread, then `finish` on it. Requests that are not urgent wait until then.
    pub(crate) fn beside<T: Send + 'static>(
        &mut self,
        work: impl FnOnce() -> T + Send + 'static,
        finish: impl FnOnce(&mut Self, T) + Send + 'static,
    ) {
        self.busy = true;
        let inbox = self.inbox.clone();
        let work = move || {
            let result = work();
            let _ = inbox.send(Input::Done(Box::new(move |adapter| {
                finish(adapter, result)
            })));
        };
        let spawned = thread::Builder::new().name("work".into()).spawn(work);
        if let Err(error) = spawned {
            self.busy = false;
            self.say(&format!("no thread for the work: {error}"));
        }
    }
}

/// The typed arguments of a request.
pub(crate) fn arguments<A: serde::de::DeserializeOwned>(request: &Request) -> Result<A, Refusal> {
    let given = match &request.arguments {
        // All arguments of some requests are optional, and then clients leave them out.
        Value::Null => Value::Object(serde_json::Map::new()),
        given => given.clone(),
    };
    serde_json::from_value(given.clone()).map_err(|error| {
        let mut why = plainly(&error.to_string());
        if let Some(name) = culprit::<A>(given, &error) {
            why = format!("{name}: {why}");
        }
        let command = &request.command;
        Refusal::new(
            "badArguments",
            format!("the arguments of {command} cannot be used: {why}"),
        )
    })
}

/// The argument that an error is about: alone it causes the same one.
fn culprit<A: serde::de::DeserializeOwned>(
    given: Value,
    error: &serde_json::Error,
) -> Option<String> {
    let Value::Object(members) = given else {
        return None;
    };
    let error = error.to_string();
    if error.starts_with("missing field") {
        return None;
    }
    let found = members.into_iter().find(|(name, value)| {
        let alone = serde_json::Map::from_iter([(name.clone(), value.clone())]);
        let result = serde_json::from_value::<A>(Value::Object(alone));
        result.is_err_and(|it| it.to_string() == error)
    });
    found.map(|(name, _)| name)
}

/// An error of arguments without the names of types that only this program knows.
fn plainly(error: &str) -> String {
    let words = [
        ("u64", "a number that is not negative"),
        ("i64", "a whole number"),
        ("i32", "a whole number of 32 bits"),
    ];
    let mut known = words.iter().filter_map(|(name, words)| {
        let before = error.strip_suffix(name)?.strip_suffix("expected ")?;
        Some(format!("{before}expected {words}"))
    });
    if error.contains("untagged enum Arguments") {
        return "expected a list of texts, or one text as in a shell".into();
    }
    if error.contains("untagged enum") {
        return "expected a text, a number or a truth value".into();
    }
    known.next().unwrap_or_else(|| error.to_owned())
}
