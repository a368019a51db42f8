//! Setting, changing and listing breakpoints.

use std::sync::Arc;
use std::time::Instant;

use host::api::{
    BreakpointChange, BreakpointId, BreakpointSpec, Details, Error, ErrorCode, ExceptionSpec, Line,
    Place, Reply, Request,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::statement::ByText;
use super::{Call, run, statement};
use crate::registry::Which;
use crate::report::breakpoints::{BreakpointReport, BreakpointsReport};
use crate::schema::{self, JsonObject};
use crate::{arguments, session};

#[derive(Deserialize, JsonSchema)]
pub(super) struct SetArguments {
    /// Id, if several.
    session: Option<String>,
    #[serde(flatten)]
    wanted: Wanted,
}

/// A place in code, as a client names it.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Spot {
    /// Source file: full path, the end of one, or its name. With line or text.
    file: Option<String>,
    /// 1-based line.
    #[schemars(range(min = 1))]
    line: Option<u32>,
    /// 1-based, inside the statement or lambda, if the line has several.
    #[schemars(range(min = 1))]
    column: Option<u32>,
    /// Instead of line: a part of the statement's text. With line: the one nearest to it.
    text: Option<String>,
    /// Instead of file: the first line of a method: Type.Method, Ns.Type.Method(int, string), module!Method.
    function: Option<String>,
}

/// A breakpoint at a place in code, as a client asks for it.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Wanted {
    #[serde(flatten)]
    place: Spot,
    /// Stop only if this C# expression is true.
    condition: Option<String>,
    /// Stop only at some hits: 5, >=5, >5 or %5 (every fifth).
    hit_condition: Option<String>,
    /// Log this text with {expressions} and do not stop: a tracepoint. What it logs is in the output behind "log| ".
    log_message: Option<String>,
    /// Unmask in log_message.
    #[serde(default)]
    show_secrets: bool,
    /// Switch it off after so many stops or messages.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    max_hits: Option<u64>,
    /// false sets it switched off.
    #[serde(default = "run::yes")]
    enabled: bool,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct SetExceptionArguments {
    /// Id, if several.
    session: Option<String>,
    #[serde(flatten)]
    wanted: WantedException,
    /// Whether exceptions nobody catches stop the program, whatever their type.
    /// Alone, it sets no breakpoint.
    stop_at_unhandled: Option<bool>,
}

/// A breakpoint at exceptions, as a client asks for it.
#[derive(Deserialize, JsonSchema)]
pub(super) struct WantedException {
    /// Exception types, full or simple names; ["*"] for all.
    #[serde(default)]
    types: Vec<String>,
    /// Types to leave out.
    #[serde(default)]
    except: Vec<String>,
    /// Whether derived types count.
    #[serde(default = "run::yes")]
    subtypes: bool,
    /// Stop when one is thrown, whoever catches it.
    #[serde(default = "run::yes")]
    thrown: bool,
    /// Stop when one leaves the user's code and is caught elsewhere.
    #[serde(default)]
    user_unhandled: bool,
    /// Stop when nobody catches one.
    #[serde(default = "run::yes")]
    unhandled: bool,
    /// Only those that the user's code catches (true) or does not (false).
    caught_by_user: Option<bool>,
    /// C# on `$exception` that must be true.
    condition: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UpdateArguments {
    /// Id, if several.
    session: Option<String>,
    /// The breakpoint.
    id: u32,
    /// New condition; "" removes it.
    condition: Option<String>,
    /// New hit condition; "" removes it.
    hit_condition: Option<String>,
    /// New log message; "" makes it stop again.
    log_message: Option<String>,
    /// Switch it off after so many more stops or messages; 0 for never.
    #[schemars(range(max = 1_000_000_000))]
    max_hits: Option<u64>,
    /// Switches it on or off.
    enabled: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RemoveArguments {
    /// Id, if several.
    session: Option<String>,
    /// The breakpoint.
    id: Option<u32>,
    /// Instead of id: removes all.
    #[serde(default)]
    all: bool,
}

/// Reads breakpoints that are given as a list to another tool.
pub(super) fn each<T: serde::de::DeserializeOwned + JsonSchema>(
    name: &str,
    list: Vec<JsonObject>,
) -> Result<Vec<T>, Error> {
    let schema = schema::input::<T>();
    let read = |(index, mut arguments): (usize, JsonObject)| {
        let name = format!("{name}[{index}]");
        arguments::check(&name, &schema, &mut arguments)?;
        arguments::parse(&name, arguments)
    };
    list.into_iter().enumerate().map(read).collect()
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorCode::InvalidParameter, message)
}

impl Spot {
    /// Whether it is named by the text of a statement.
    pub(super) fn is_by_text(&self) -> bool {
        self.text.is_some()
    }

    /// The engine's form of it; `read` reads the file that a text is to be found in.
    fn place(self, read: impl Fn(&str) -> Result<String, Error>) -> Result<Place, Error> {
        match (self.file, self.line, self.text, self.function) {
            (None, None, None, Some(name)) if self.column.is_none() => Ok(Place::Function { name }),
            (Some(file), line, Some(text), None) if self.column.is_none() => {
                let (line, column) = statement::find(&file, &read(&file)?, &text, line)?;
                Ok(Place::Line { file, line, column })
            }
            (Some(file), Some(line), None, None) => Ok(Place::Line {
                file,
                line: Line(line),
                column: self.column,
            }),
            (Some(_), None, None, None) => {
                Err(invalid("a file needs a line or the text of a statement")
                    .hint("add line, or text: a part of the statement"))
            }
            (None, _, _, None) => {
                Err(invalid("no place is named")
                    .hint("give file and line, file and text, or function"))
            }
            _ => Err(invalid("these parameters name more than one place")
                .hint("give file and line (and column), or file and text, or function alone")),
        }
    }
}

impl Wanted {
    /// The text that names its place, if one does.
    pub(super) fn text(&self) -> Option<String> {
        self.place.text.clone()
    }

    /// The engine's form of it; `read` reads the file that a text is to be found in.
    pub(super) fn spec(
        self,
        read: impl Fn(&str) -> Result<String, Error>,
    ) -> Result<BreakpointSpec, Error> {
        let some = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
        Ok(BreakpointSpec {
            condition: some(self.condition),
            hit_condition: some(self.hit_condition),
            log_message: some(self.log_message),
            max_hits: self.max_hits,
            mask_secrets: !self.show_secrets,
            enabled: self.enabled,
            ..BreakpointSpec::at(self.place.place(read)?)
        })
    }
}

/// The text of a file: as the program was compiled from it, else as it is here.
fn source_of(session: &session::DebugSession, file: &str) -> Result<String, Error> {
    match session.ask(Request::Source { file: file.into() }) {
        Ok(Reply::Source(source)) if source.changed == Some(true) && !source.embedded => {
            Err(statement::changed(&source.path))
        }
        Ok(Reply::Source(source)) => Ok(source.text),
        // Several files are called so.
        Err(error) if matches!(error.details.as_deref(), Some(Details::Candidates(_))) => {
            Err(error)
        }
        // A file of a module that is not loaded yet.
        _ => statement::read(session.policy(), file),
    }
}

/// The place that is meant, in the files of a session.
pub(super) async fn resolved(
    session: &Arc<session::DebugSession>,
    spot: Spot,
) -> Result<Place, Error> {
    session
        .blocking(move |session| spot.place(|file| source_of(session, file)))
        .await?
}

/// Asks for something at a place. A text may begin where no statement does, such as at the name of a lambda's
/// parameter: then the line alone counts.
pub(super) async fn with_or_without_column(
    session: &Arc<session::DebugSession>,
    place: Place,
    by_text: bool,
    request: impl Fn(Place) -> Request,
) -> Result<Reply, Error> {
    let reply = session.request(request(place.clone())).await;
    match (&reply, place) {
        (Err(error), Place::Line { file, line, .. })
            if error.code == ErrorCode::InvalidColumn && by_text =>
        {
            let column = None;
            session
                .request(request(Place::Line { file, line, column }))
                .await
        }
        _ => reply,
    }
}

impl WantedException {
    /// The engine's form of it; none if no type is named.
    pub(super) fn spec(self) -> Result<Option<ExceptionSpec>, Error> {
        let every = self.types.iter().any(|name| name == "*");
        if self.types.is_empty() {
            if !self.except.is_empty() {
                return Err(invalid("except without types has no meaning")
                    .hint("types=[\"*\"] names every type"));
            }
            return Ok(None);
        }
        if every && self.types.len() > 1 {
            return Err(invalid("\"*\" names every type already")
                .hint("give \"*\" alone, or the types without it"));
        }
        if !(self.thrown || self.user_unhandled || self.unhandled) {
            return Err(invalid(
                "with thrown, user_unhandled and unhandled all false it would never stop",
            )
            .hint("breakpoint_remove removes one that is there"));
        }
        Ok(Some(ExceptionSpec {
            types: if every { Vec::new() } else { self.types },
            except: self.except,
            subtypes: self.subtypes,
            thrown: self.thrown,
            user_unhandled: self.user_unhandled,
            unhandled: self.unhandled,
            caught_by_user: self.caught_by_user,
            condition: self.condition.filter(|text| !text.trim().is_empty()),
            ..ExceptionSpec::of_type("")
        }))
    }
}

pub(super) async fn set(call: &Call, arguments: SetArguments) -> Result<BreakpointReport, Error> {
    let session = call
        .registry
        .find(arguments.session.as_deref(), Which::Live)?;
    let text = arguments.wanted.text();
    let spec = session
        .blocking(move |session| arguments.wanted.spec(|file| source_of(session, file)))
        .await??;
    let place = spec.place.clone();
    let at = |place| {
        Request::SetBreakpoint(BreakpointSpec {
            place,
            ..spec.clone()
        })
    };
    let reply = with_or_without_column(&session, place, text.is_some(), at).await?;
    if let (Reply::Breakpoint { breakpoint, .. }, Some(text)) = (&reply, text) {
        let place = breakpoint.spec.place.clone();
        session.named_by_text(ByText { place, text });
    }
    told(&session, reply)
}

pub(super) async fn set_exception(
    call: &Call,
    arguments: SetExceptionArguments,
) -> Result<BreakpointReport, Error> {
    let session = call
        .registry
        .find(arguments.session.as_deref(), Which::Live)?;
    let spec = arguments.wanted.spec()?;
    if spec.is_none() && arguments.stop_at_unhandled.is_none() {
        return Err(invalid("no exception type is named")
            .hint("types=[\"System.FormatException\"], or types=[\"*\"] for every type"));
    }
    let mut told = BreakpointReport {
        session: session.id().to_owned(),
        ..BreakpointReport::default()
    };
    if let Some(spec) = spec {
        let reply = session
            .request(Request::SetExceptionBreakpoint(spec))
            .await?;
        told = self::told(&session, reply)?;
    }
    if let Some(stop) = arguments.stop_at_unhandled {
        session.request(Request::StopAtUnhandled(stop)).await?;
        session.stops_at_unhandled(stop);
        told.stop_at_unhandled = Some(stop);
    }
    Ok(told)
}

pub(super) async fn update(
    call: &Call,
    arguments: UpdateArguments,
) -> Result<BreakpointReport, Error> {
    let session = call
        .registry
        .find(arguments.session.as_deref(), Which::Live)?;
    let change = BreakpointChange {
        condition: arguments.condition,
        hit_condition: arguments.hit_condition,
        log_message: arguments.log_message,
        max_hits: arguments.max_hits,
        enabled: arguments.enabled,
    };
    if change == BreakpointChange::default() {
        return Err(invalid("there is nothing to change")
            .hint("give enabled, condition, hit_condition, log_message or max_hits"));
    }
    let request = Request::ChangeBreakpoint {
        id: BreakpointId(arguments.id),
        change,
    };
    let mut told = told(&session, session.request(request).await?)?;
    // That it was there before is what an update is about.
    told.duplicate = false;
    Ok(told)
}

pub(super) async fn remove(
    call: &Call,
    arguments: RemoveArguments,
) -> Result<BreakpointsReport, Error> {
    let session = call
        .registry
        .find(arguments.session.as_deref(), Which::Live)?;
    let wanted: Vec<u32> = match (arguments.id, arguments.all) {
        (Some(id), false) => vec![id],
        (None, true) => {
            let (breakpoints, exceptions) = everything(&session).await?;
            let ids = breakpoints.iter().map(|breakpoint| breakpoint.id);
            let more = exceptions.iter().map(|breakpoint| breakpoint.id);
            ids.chain(more).map(|id| id.0).collect()
        }
        _ => {
            return Err(invalid("breakpoint_remove needs an id, or all=true")
                .hint("breakpoint_list tells the ids"));
        }
    };
    for id in &wanted {
        session
            .request(Request::RemoveBreakpoint(BreakpointId(*id)))
            .await?;
    }
    let (breakpoints, exceptions) = everything(&session).await?;
    session.keep_breakpoints(&breakpoints);
    let mut left = BreakpointsReport::of(session.id(), &breakpoints, &exceptions);
    left.removed = wanted;
    Ok(left)
}

pub(super) async fn list(
    call: &Call,
    arguments: super::run::SessionArguments,
) -> Result<BreakpointsReport, Error> {
    let session = call
        .registry
        .find(arguments.session.as_deref(), Which::Any)?;
    if session.is_over() {
        let (breakpoints, exceptions) = session.last_breakpoints();
        return Ok(BreakpointsReport::of(
            session.id(),
            &breakpoints,
            &exceptions,
        ));
    }
    let (breakpoints, exceptions) = everything(&session).await?;
    breakpoints
        .iter()
        .for_each(|breakpoint| session.told_breakpoint(breakpoint));
    let mut report = BreakpointsReport::of(session.id(), &breakpoints, &exceptions);
    let hot = session.told().pace.look(&breakpoints, Instant::now());
    for (id, note) in hot {
        let mut entries = report.breakpoints.iter_mut();
        if let Some(entry) = entries.find(|it| it.id == id) {
            entry.notes.push(note);
        }
    }
    Ok(report)
}

type Everything = (
    Vec<host::api::Breakpoint>,
    Vec<host::api::ExceptionBreakpoint>,
);

async fn everything(session: &Arc<session::DebugSession>) -> Result<Everything, Error> {
    match session.request(Request::Breakpoints).await? {
        Reply::Breakpoints {
            breakpoints,
            exceptions,
        } => Ok((breakpoints, exceptions)),
        other => Err(session::unexpected(&other)),
    }
}

fn told(session: &session::DebugSession, reply: Reply) -> Result<BreakpointReport, Error> {
    let told = BreakpointReport {
        session: session.id().to_owned(),
        ..BreakpointReport::default()
    };
    match reply {
        Reply::Breakpoint {
            breakpoint,
            duplicate,
        } => {
            session.told_breakpoint(&breakpoint);
            Ok(BreakpointReport {
                breakpoint: Some((&breakpoint).into()),
                duplicate,
                ..told
            })
        }
        Reply::ExceptionBreakpoint {
            breakpoint,
            duplicate,
        } => Ok(BreakpointReport {
            exception_breakpoint: Some((&breakpoint).into()),
            duplicate,
            ..told
        }),
        other => Err(session::unexpected(&other)),
    }
}
