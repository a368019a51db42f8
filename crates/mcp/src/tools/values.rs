//! Values of a stopped program: variables, setting them, objects and memory as they lie.
//!
//! Nothing here runs code of the program but the setting of a variable, which says so. Values with names of secrets are
//! masked unless a call asks for them.

use std::sync::Arc;

use host::api::{
    Error, ErrorCode, Reply, Request, SetVariable, StopId, ThreadId, ValueKind, VariableScope,
    VariablesQuery, View,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Call;
use crate::registry::Which;
use crate::report::objects::{MemoryReport, ObjectAnswer};
use crate::report::text;
use crate::report::variables::{SetReport, VariableEntry, VariablesReport};
use crate::reporting;
use crate::session::{self, DebugSession};

/// Bytes of the texts of variables in one answer.
const TEXT: u32 = 8000;

/// A frame of a stopped program.
#[derive(Deserialize, JsonSchema, Clone)]
pub(super) struct FrameArguments {
    /// Id, if several.
    pub(super) session: Option<String>,
    /// Id; else the one that reported the stop.
    pub(super) thread: Option<u32>,
    /// Else the report's.
    pub(super) frame: Option<u32>,
    /// Refuse if this stop is over.
    pub(super) stop: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct VariablesArguments {
    #[serde(flatten)]
    at: FrameArguments,
    /// Which variables.
    #[serde(default)]
    scope: ScopeName,
    /// What lies inside a value instead: order.Lines[3], $exception, #7 (an object id).
    path: Option<String>,
    /// Only these names; * is any letters.
    #[serde(default)]
    names: Vec<String>,
    /// First member or element.
    #[serde(default)]
    #[schemars(range(max = 9_007_199_254_740_991_u64))]
    start: u64,
    /// How many of them.
    #[serde(default = "variables_count")]
    #[schemars(range(min = 1, max = 200))]
    count: u32,
    /// Levels of members to tell along.
    #[serde(default)]
    #[schemars(range(max = 3))]
    depth: u32,
    /// Fields as they are, without views of collections.
    #[serde(default)]
    raw: bool,
    /// Static members too.
    #[serde(default)]
    statics: bool,
    /// Whole numbers in hexadecimal.
    #[serde(default)]
    hex: bool,
    /// Characters of each text.
    #[serde(default = "text_length")]
    #[schemars(range(min = 1, max = 8000))]
    text_length: u32,
    /// Unmask.
    #[serde(default)]
    show_secrets: bool,
}

#[derive(Deserialize, JsonSchema, Clone, Copy, Default)]
#[serde(rename_all = "snake_case")]
enum ScopeName {
    #[default]
    All,
    Arguments,
    Locals,
    Statics,
    TypeArguments,
}

fn variables_count() -> u32 {
    50
}

fn text_length() -> u32 {
    200
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct SetArguments {
    #[serde(flatten)]
    at: FrameArguments,
    /// Variable, field or element: count, this.name, order.Lines[3].Price.
    path: String,
    /// A C# literal, an enum's member, or a path to another value.
    value: String,
    /// Set readonly fields too.
    #[serde(default)]
    force: bool,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct ObjectArguments {
    #[serde(flatten)]
    at: FrameArguments,
    /// As in variables_get.
    path: String,
    /// First field and reference.
    #[serde(default)]
    start: u32,
    /// How many of each.
    #[serde(default = "variables_count")]
    #[schemars(range(min = 1, max = 100))]
    count: u32,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MemoryArguments {
    /// Id, if several.
    session: Option<String>,
    /// Where, as 0x7f12ab34 or in decimal.
    address: String,
    /// How many bytes.
    #[serde(default = "memory_count")]
    #[schemars(range(min = 1, max = 1024))]
    count: u32,
    /// Needed: bytes cannot be masked.
    #[serde(default)]
    show_secrets: bool,
}

fn memory_count() -> u32 {
    128
}

impl FrameArguments {
    /// The frame that is meant: without a number the one whose variables the stop report tells, so that what was seen there
    /// can be asked for by its name.
    pub(super) async fn frame(&self, session: &Arc<DebugSession>) -> u32 {
        match self.frame {
            Some(frame) => frame,
            None => reporting::shown_frame(session, self.thread.map(ThreadId)).await,
        }
    }

    async fn query(&self, session: &Arc<DebugSession>) -> VariablesQuery {
        VariablesQuery {
            stop: self.stop.map(StopId),
            thread: self.thread.map(ThreadId),
            frame: self.frame(session).await,
            view: View {
                mask_secrets: true,
                text_length: text_length(),
                total_text: TEXT,
                ..View::default()
            },
            ..VariablesQuery::default()
        }
    }
}

pub(super) async fn variables(
    call: &Call,
    arguments: VariablesArguments,
) -> Result<VariablesReport, Error> {
    let session = call
        .registry
        .find(arguments.at.session.as_deref(), Which::Live)?;
    let query = arguments.at.query(&session).await;
    let view = View {
        raw: arguments.raw,
        statics: arguments.statics,
        hex: arguments.hex,
        mask_secrets: !arguments.show_secrets,
        text_length: arguments.text_length,
        ..query.view.clone()
    };
    let query = VariablesQuery {
        scope: match arguments.scope {
            ScopeName::All => VariableScope::All,
            ScopeName::Arguments => VariableScope::Arguments,
            ScopeName::Locals => VariableScope::Locals,
            ScopeName::Statics => VariableScope::Statics,
            ScopeName::TypeArguments => VariableScope::TypeArguments,
        },
        path: arguments.path,
        names: arguments.names,
        start: arguments.start,
        count: arguments.count,
        depth: arguments.depth,
        view,
        ..query
    };
    match session.request(Request::Variables(Box::new(query))).await? {
        Reply::Variables(variables) => {
            let mut report = VariablesReport::of(session.id(), &variables);
            let of = report.of.iter_mut().flat_map(|of| &mut of.notes);
            for note in report.notes.iter_mut().chain(of) {
                if note.ends_with("where code may run") {
                    note.push_str(": evaluate it with side_effects and open");
                }
            }
            Ok(report)
        }
        other => Err(session::unexpected(&other)),
    }
}

pub(super) async fn set(call: &Call, arguments: SetArguments) -> Result<SetReport, Error> {
    let at = &arguments.at;
    let session = call.registry.find(at.session.as_deref(), Which::Live)?;
    // What it was is worth telling and not worth failing for: the request itself says what is wrong.
    let before = value_at(&session, at, &arguments.path).await.ok();
    let request = SetVariable {
        stop: at.stop.map(StopId),
        thread: at.thread.map(ThreadId),
        frame: at.frame(&session).await,
        path: arguments.path.clone(),
        value: arguments.value,
        force: arguments.force,
        mask_secrets: true,
    };
    let told = match session
        .request(Request::SetVariable(Box::new(request)))
        .await?
    {
        Reply::Variables(told) => told,
        other => return Err(session::unexpected(&other)),
    };
    session.told().stale = true;
    // What only a getter can tell was told with the reply: it was run after the setter. So is what no path leads to: a
    // static of another type.
    let after = value_at(&session, at, &arguments.path).await;
    let by_getter = told.parent.as_deref().map(VariableEntry::from);
    let by_getter = by_getter.filter(|it| !it.unreadable);
    let mut variable = match (after, by_getter, told.parent.as_deref()) {
        // Its own name may be harmless.
        (_, _, Some(told)) if told.value.kind == ValueKind::Masked => VariableEntry::from(told),
        (Ok(after), Some(by_getter), _) if after.unreadable => by_getter,
        (Ok(after), ..) => after,
        (Err(_), _, Some(told)) => VariableEntry::from(told),
        (Err(error), ..) => return Err(error),
    };
    let stop = told.stop;
    variable.was = before
        .filter(|before| !before.unreadable)
        .map(|before| before.value)
        .filter(|was| *was != variable.value);
    variable.notes.extend(told.notes);
    Ok(SetReport {
        session: session.id().to_owned(),
        stop: stop.0,
        variable,
    })
}

/// A value by its path, in short.
async fn value_at(
    session: &Arc<DebugSession>,
    at: &FrameArguments,
    path: &str,
) -> Result<VariableEntry, Error> {
    let query = VariablesQuery {
        path: Some(path.to_owned()),
        count: 0,
        ..at.query(session).await
    };
    match session.request(Request::Variables(Box::new(query))).await? {
        Reply::Variables(told) => match &told.parent {
            Some(parent) => Ok(VariableEntry::from(parent.as_ref())),
            None => Err(Error::new(
                ErrorCode::InvalidParameter,
                "an empty path leads to nothing",
            )
            .hint("variables_get tells what there is, with paths")),
        },
        other => Err(session::unexpected(&other)),
    }
}

pub(super) async fn object(call: &Call, arguments: ObjectArguments) -> Result<ObjectAnswer, Error> {
    let session = call
        .registry
        .find(arguments.at.session.as_deref(), Which::Live)?;
    let query = VariablesQuery {
        path: Some(arguments.path.clone()),
        ..arguments.at.query(&session).await
    };
    match session
        .request(Request::InspectObject(Box::new(query)))
        .await?
    {
        Reply::Object(object) => Ok(ObjectAnswer::of(
            session.id(),
            &arguments.path,
            &object,
            arguments.start,
            arguments.count,
        )),
        other => Err(session::unexpected(&other)),
    }
}

pub(super) async fn memory(call: &Call, arguments: MemoryArguments) -> Result<MemoryReport, Error> {
    let session = call
        .registry
        .find(arguments.session.as_deref(), Which::Live)?;
    let address = parse_address(&arguments.address)?;
    if !arguments.show_secrets {
        return Err(Error::new(
            ErrorCode::PermissionDenied,
            "bytes have no names by which secrets could be masked, so memory is read only if these may be shown",
        )
        .hint("memory_read with show_secrets=true"));
    }
    let count = arguments.count;
    match session
        .request(Request::ReadMemory { address, count })
        .await
        .map_err(|error| match error.hint {
            None => error.hint(
                "object_inspect tells where an object lies; objects move when the program runs",
            ),
            Some(_) => error,
        })? {
        Reply::Memory(memory) => Ok(MemoryReport::of(session.id(), &memory, count)),
        other => Err(session::unexpected(&other)),
    }
}

fn parse_address(written: &str) -> Result<u64, Error> {
    let trimmed = written.trim();
    let digits = trimmed
        .strip_prefix("0x")
        .or_else(|| trimmed.strip_prefix("0X"));
    let parsed = match digits {
        Some(digits) if !digits.starts_with('+') => u64::from_str_radix(digits, 16).ok(),
        Some(_) => None,
        None => trimmed.parse().ok(),
    };
    parsed.ok_or_else(|| {
        let message = format!("{} is no address", text::quoted(written, 60));
        Error::new(ErrorCode::InvalidParameter, message)
            .hint("addresses are written as 0x7f12ab34; object_inspect tells that of an object")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_they_are_told() {
        assert_eq!(parse_address("0x7fA0"), Ok(0x7fa0));
        assert_eq!(parse_address(" 4096 "), Ok(4096));
        assert_eq!(parse_address("0xffffffffffffffff"), Ok(u64::MAX));
        for wrong in [
            "",
            "0x",
            "0x+1",
            "-1",
            "7fa0",
            "0x10000000000000000",
            "\u{1b}",
        ] {
            let error = parse_address(wrong).expect_err(wrong);
            assert!(
                error
                    .hint
                    .is_some_and(|hint| hint.contains("object_inspect"))
            );
        }
    }
}
