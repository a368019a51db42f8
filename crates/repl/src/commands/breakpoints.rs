//! Breakpoints: at lines, at methods, at exceptions, with conditions and messages.

use std::collections::BTreeSet;

use host::api::{
    BreakpointChange, BreakpointId, BreakpointSpec, Error, ExceptionSpec, Place, Reply, Request,
};
use report::breakpoints::{BreakpointEntry, BreakpointReport, BreakpointsReport};
use report::{Reader, Render as _};

use crate::failure::{unexpected, usage};
use crate::repl::Repl;
use crate::stop::NAME;
use crate::{place, words};

/// What is to be known of a breakpoint of `tbreak`.
const TEMPORARY: &str = "temporary: it goes at its first stop";

pub(super) fn break_(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    let id = set(repl, arguments, false)?;
    // One that was to go is meant to stay now.
    repl.temporary.remove(&id.0);
    Ok(())
}

pub(super) fn tbreak(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    let id = set(repl, arguments, true)?;
    repl.temporary.insert(id.0);
    Ok(())
}

fn set(repl: &mut Repl, arguments: &str, once: bool) -> Result<BreakpointId, Error> {
    let (at, condition) = words::around(arguments, "if");
    if condition == Some("") {
        return Err(usage("there is nothing behind `if`"));
    }
    let place = place::place(at, repl.here_or_last()?.as_ref())?;
    // What is there already stays as it is, and stays when this one goes; the very same one is not wanted twice.
    let is_same = |it: &host::api::Breakpoint| {
        it.spec.place == place
            && it.spec.condition.as_deref() == condition
            && it.spec.log_message.is_none()
            && !repl.temporary.contains(&it.id.0)
    };
    let (there, _) = all(repl)?;
    let is_special =
        |it: &host::api::Breakpoint| it.spec.condition.is_some() || it.spec.log_message.is_some();
    let beside_others = once || condition.is_some() || there.iter().any(is_special);
    let same = there.iter().find(|it| !once && is_same(it));
    if let Some(same) = same.filter(|_| beside_others) {
        let change = BreakpointChange {
            enabled: Some(true),
            ..BreakpointChange::default()
        };
        let id = send(
            repl,
            Request::ChangeBreakpoint {
                id: same.id,
                change,
            },
        )?;
        repl.say("It was there before.");
        return Ok(id);
    }
    let spec = BreakpointSpec {
        condition: condition.map(str::to_owned),
        max_hits: once.then_some(1),
        beside_others,
        ..BreakpointSpec::at(place)
    };
    send(repl, Request::SetBreakpoint(spec))
}

/// Sends a change of one breakpoint and shows it.
fn send(repl: &mut Repl, request: Request) -> Result<BreakpointId, Error> {
    let mut report = BreakpointReport {
        session: NAME.into(),
        ..BreakpointReport::default()
    };
    // Whoever changes one knows that it was there.
    let is_change = matches!(request, Request::ChangeBreakpoint { .. });
    let temporary = matches!(&request, Request::SetBreakpoint(spec) if spec.max_hits == Some(1));
    let id = match repl.live.ask(request)? {
        Reply::Breakpoint {
            breakpoint,
            duplicate,
        } => {
            let mut entry = BreakpointEntry::from(&breakpoint);
            if temporary {
                // It goes, rather than being switched off.
                entry.max_hits = None;
                entry.notes.push(TEMPORARY.into());
            }
            report.breakpoint = Some(entry);
            report.duplicate = duplicate && !is_change;
            let seen = (&breakpoint).into();
            repl.told.breakpoints.insert(breakpoint.id.0, seen);
            let id = breakpoint.id;
            repl.known.insert(id.0, breakpoint);
            id
        }
        Reply::ExceptionBreakpoint {
            breakpoint,
            duplicate,
        } => {
            report.exception_breakpoint = Some((&breakpoint).into());
            report.duplicate = duplicate && !is_change;
            breakpoint.id
        }
        _ => return Err(unexpected()),
    };
    repl.say(&report.render_for(Reader::Person));
    Ok(id)
}

/// Reads what is obeyed when a breakpoint stops the program.
pub(super) fn commands(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    let (breakpoints, exceptions) = all(repl)?;
    let ids = breakpoints.iter().map(|it| it.id.0);
    let there: BTreeSet<_> = ids.chain(exceptions.iter().map(|it| it.id.0)).collect();
    let mut wanted = words::numbers(arguments)?;
    if wanted.is_empty() {
        wanted.extend(there.last());
    }
    if wanted.is_empty() {
        return Err(usage("there is no breakpoint").hint("`break PLACE` sets one"));
    }
    if let Some(missing) = wanted.iter().find(|id| !there.contains(id)) {
        return Err(usage(format!("there is no breakpoint {missing}"))
            .hint("`info breakpoints` lists them"));
    }
    if repl.interactive && repl.reading.is_empty() {
        repl.say("Each line that follows is obeyed at its stops; `end` ends them.");
    }
    repl.orders.read(wanted);
    Ok(())
}

pub(super) fn trace(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    let (at, message) = place::split(arguments);
    if message.is_empty() {
        return Err(usage("say where, and what is logged there")
            .hint("`trace shop.cs:20 total is {total}` logs the value and goes on"));
    }
    let place = place::place(at, repl.here_or_last()?.as_ref())?;
    let spec = BreakpointSpec {
        log_message: Some(message.to_owned()),
        ..BreakpointSpec::at(place)
    };
    send(repl, Request::SetBreakpoint(spec)).map(drop)
}

/// What exceptions stop the program.
pub(super) fn catch(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    let (types, condition) = words::around(arguments, "if");
    let is_number = |it: &str| it.parse::<f64>().is_ok();
    if condition.is_some_and(|it| it.is_empty() || is_number(it)) {
        return Err(usage("behind `if` comes a condition that is true or false")
            .hint("`catch if $exception.Message.Contains(\"x\")`"));
    }
    let (word, rest) = words::first(types);
    let mut spec = ExceptionSpec {
        condition: condition.map(str::to_owned),
        ..ExceptionSpec::all()
    };
    let types = match word {
        "unhandled" if matches!(rest, "on" | "off") => {
            let stop = words::switch(rest)?;
            repl.live.ask(Request::StopAtUnhandled(stop))?;
            repl.wishes.stop_at_unhandled = stop;
            let report = BreakpointReport {
                session: NAME.into(),
                stop_at_unhandled: Some(stop),
                ..BreakpointReport::default()
            };
            repl.say(&report.render_for(Reader::Person));
            return Ok(());
        }
        "off" | "none" if rest.is_empty() && condition.is_none() => return catch_nothing(repl),
        "throw" | "thrown" | "all" => rest,
        "unhandled" => {
            spec.thrown = false;
            rest
        }
        "user-unhandled" | "user_unhandled" => {
            (spec.thrown, spec.user_unhandled, spec.unhandled) = (false, true, true);
            rest
        }
        _ => types,
    };
    for name in types.split([' ', ',']).filter(|name| !name.is_empty()) {
        match name.strip_prefix('!') {
            Some(name) => spec.except.push(name.to_owned()),
            None => spec.types.push(name.to_owned()),
        }
    }
    send(repl, Request::SetExceptionBreakpoint(spec)).map(drop)
}

/// No exception stops the program any more, but those that nobody catches.
fn catch_nothing(repl: &mut Repl) -> Result<(), Error> {
    let (_, exceptions) = all(repl)?;
    for breakpoint in &exceptions {
        repl.remove_breakpoint(breakpoint.id)?;
    }
    repl.say(match exceptions.len() {
        0 => "There were no exception breakpoints.",
        _ => "The exception breakpoints are gone; `catch unhandled off` lets the others pass, too.",
    });
    Ok(())
}

pub(super) fn condition(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    let (id, condition) = words::first(arguments);
    let change = BreakpointChange {
        condition: Some(condition.trim_start_matches("if ").to_owned()),
        ..BreakpointChange::default()
    };
    self::change(repl, words::number(id, "breakpoint")?, change)
}

pub(super) fn ignore(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    let (id, count) = words::first(arguments);
    let id = words::number(id, "breakpoint")?;
    let count: u64 = count
        .parse()
        .map_err(|_| usage("say how many hits are passed by: `ignore 1 10`"))?;
    let (breakpoints, _) = all(repl)?;
    let hits = breakpoints
        .iter()
        .find(|it| it.id.0 == id)
        .map_or(0, |it| it.hits);
    let hit_condition = match count {
        0 => String::new(),
        count => format!(">{}", hits.saturating_add(count)),
    };
    let change = BreakpointChange {
        hit_condition: Some(hit_condition),
        ..BreakpointChange::default()
    };
    self::change(repl, id, change)
}

fn change(repl: &mut Repl, id: u32, change: BreakpointChange) -> Result<(), Error> {
    let id = BreakpointId(id);
    send(repl, Request::ChangeBreakpoint { id, change }).map(drop)
}

pub(super) fn enable(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    switch(repl, arguments, true)
}

pub(super) fn disable(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    switch(repl, arguments, false)
}

fn switch(repl: &mut Repl, arguments: &str, enabled: bool) -> Result<(), Error> {
    for id in which(repl, arguments)? {
        let change = BreakpointChange {
            enabled: Some(enabled),
            ..BreakpointChange::default()
        };
        self::change(repl, id, change)?;
    }
    Ok(())
}

/// The breakpoints that are named; all if none is.
fn which(repl: &mut Repl, arguments: &str) -> Result<Vec<u32>, Error> {
    let arguments = arguments.strip_prefix("breakpoints").unwrap_or(arguments);
    let named = words::numbers(arguments)?;
    if !named.is_empty() {
        return Ok(named);
    }
    let (breakpoints, exceptions) = all(repl)?;
    let ids = breakpoints.iter().map(|it| it.id.0);
    Ok(ids.chain(exceptions.iter().map(|it| it.id.0)).collect())
}

type All = (
    Vec<host::api::Breakpoint>,
    Vec<host::api::ExceptionBreakpoint>,
);

fn all(repl: &Repl) -> Result<All, Error> {
    match repl.live.ask(Request::Breakpoints)? {
        Reply::Breakpoints {
            breakpoints,
            exceptions,
        } => Ok((breakpoints, exceptions)),
        _ => Err(unexpected()),
    }
}

pub(super) fn delete(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    let arguments = arguments.strip_prefix("breakpoints").unwrap_or(arguments);
    let ids = which(repl, arguments)?;
    if ids.is_empty() {
        return list(repl, "");
    }
    if arguments.trim().is_empty() && !repl.confirm("Delete all breakpoints?") {
        return Ok(());
    }
    remove(repl, &ids)
}

fn remove(repl: &mut Repl, ids: &[u32]) -> Result<(), Error> {
    let mut removed = Vec::new();
    for id in ids {
        repl.remove_breakpoint(BreakpointId(*id))?;
        removed.push(id.to_string());
    }
    let plural = if removed.len() == 1 { "" } else { "s" };
    repl.say(&format!(
        "Removed breakpoint{plural} {}.",
        removed.join(", ")
    ));
    Ok(())
}

/// A breakpoint that would stop the program where it stands.
pub(super) fn here(repl: &Repl) -> Result<Option<u32>, Error> {
    let Some(here) = repl.here()? else {
        return Ok(None);
    };
    let (breakpoints, _) = all(repl)?;
    let stands = |it: &&host::api::Breakpoint| {
        it.spec.enabled
            && it.spec.log_message.is_none()
            && it.spec.condition.is_none()
            && it.locations.iter().any(|location| {
                location.source.as_ref().is_some_and(|source| {
                    source.line.0 == here.line && source.path.to_string_lossy() == here.file
                })
            })
    };
    Ok(breakpoints.iter().find(stands).map(|it| it.id.0))
}

/// Removes the breakpoints at a place.
pub(super) fn clear(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    let wanted = place::place(arguments, repl.here_or_last()?.as_ref())?;
    let (breakpoints, _) = all(repl)?;
    let is_there = |it: &host::api::Breakpoint| match &wanted {
        Place::Line { file, line, .. } => it.locations.iter().any(|location| {
            location.source.as_ref().is_some_and(|source| {
                source.line == *line && source.path.to_string_lossy().ends_with(file.as_str())
            })
        }),
        Place::Function { .. } => false,
    };
    let ids: Vec<_> = breakpoints
        .iter()
        .filter(|it| it.spec.place == wanted || is_there(it))
        .map(|it| it.id.0)
        .collect();
    if ids.is_empty() {
        return Err(usage("there is no breakpoint at that place")
            .hint("`info breakpoints` lists the breakpoints"));
    }
    remove(repl, &ids)
}

pub(super) fn list(repl: &mut Repl, _: &str) -> Result<(), Error> {
    let (breakpoints, exceptions) = all(repl)?;
    let mut report = BreakpointsReport::of(NAME, &breakpoints, &exceptions);
    for entry in &mut report.breakpoints {
        let temporary = repl.temporary.contains(&entry.id);
        entry.notes.extend(temporary.then(|| TEMPORARY.into()));
    }
    let mut text = report.render_for(Reader::Person);
    let ids = breakpoints.iter().map(|it| it.id.0);
    for id in ids.chain(exceptions.iter().map(|it| it.id.0)) {
        if let Some(lines) = repl.orders.of(id) {
            text += &format!("\nAt stops of {id}: {}", lines.join("; "));
        }
    }
    repl.say(&text);
    Ok(())
}
