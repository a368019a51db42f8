//! `info`: everything that can be looked at by a topic.

use host::api::{Error, Reply, Request, State, SymbolKind, SymbolsQuery, VariableScope};
use report::inventory::ModulesReport;
use report::symbols::SymbolsReport;
use report::{Reader, Render as _, build};

use super::{breakpoints, data, frames, nothing};
use crate::failure::{unexpected, usage};
use crate::repl::Repl;
use crate::stop::NAME;
use crate::{Target, words};

/// Symbols shown at once.
const SYMBOLS: u32 = 60;

type Topic = (
    &'static [&'static str],
    &'static str,
    fn(&mut Repl, &str) -> Result<(), Error>,
);

/// The topics: their names, what they show, who shows it.
pub(super) const TOPICS: &[Topic] = &[
    (
        &["breakpoints", "b"],
        "all breakpoints with their hits",
        breakpoints::list,
    ),
    (&["locals"], "locals of the frame", |repl, _| {
        data::scope(repl, VariableScope::Locals, repl.focus().frame)
    }),
    (&["args"], "`this` and arguments of the frame", |repl, _| {
        data::scope(repl, VariableScope::Arguments, repl.focus().frame)
    }),
    (&["variables"], "all variables of the frame", |repl, _| {
        data::scope(repl, VariableScope::All, repl.focus().frame)
    }),
    (
        &["statics"],
        "static members of the frame's type",
        |repl, _| data::scope(repl, VariableScope::Statics, repl.focus().frame),
    ),
    (&["frame", "f"], "the frame", frames::info_frame),
    (&["threads"], "all managed threads", frames::threads),
    (
        &["exception"],
        "the exception in flight, whole",
        data::exception,
    ),
    (
        &["modules", "sharedlibrary", "dll"],
        "loaded modules; PART of a name",
        modules,
    ),
    (
        &["functions"],
        "methods whose name fits a PATTERN",
        |repl, pattern| symbols(repl, pattern, &[SymbolKind::Method]),
    ),
    (
        &["types"],
        "types whose name fits a PATTERN",
        |repl, pattern| symbols(repl, pattern, &[SymbolKind::Type]),
    ),
    (
        &["symbols", "scope"],
        "all symbols whose name fits a PATTERN",
        |repl, pattern| symbols(repl, pattern, &[]),
    ),
    (&["display"], "what is shown at every stop", displays),
    (&["source", "line"], "the source file of the frame", source),
    (
        &["program", "inferiors", "proc"],
        "the program and its state",
        program,
    ),
];

/// The names of the topics, for completion.
pub(super) const NAMES: &[&str] = &[
    "args",
    "breakpoints",
    "display",
    "exception",
    "frame",
    "functions",
    "locals",
    "modules",
    "program",
    "source",
    "statics",
    "symbols",
    "threads",
    "types",
    "variables",
];

pub(super) fn info(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    let (topic, rest) = words::first(arguments);
    if topic.is_empty() {
        let lines: Vec<_> = TOPICS
            .iter()
            .filter_map(|(names, what, _)| Some(format!("info {}: {what}", names.first()?)))
            .collect();
        repl.say(&lines.join("\n"));
        return Ok(());
    }
    let exact = TOPICS.iter().find(|(names, ..)| names.contains(&topic));
    let mut fitting = TOPICS
        .iter()
        .filter(|(names, ..)| names.iter().any(|name| name.starts_with(topic)));
    let found = exact.or_else(|| fitting.next().filter(|_| fitting.next().is_none()));
    match found {
        Some((_, _, run)) => run(repl, rest),
        None => {
            let shown = report::text::quoted(topic, 60);
            let near = report::similar::nearest(topic, NAMES.iter().copied());
            let hint = match near {
                Some(near) => format!("did you mean `info {near}`? `info` lists the topics"),
                None => "`info` lists the topics".to_owned(),
            };
            Err(usage(format!("there is no one topic {shown}")).hint(hint))
        }
    }
}

fn modules(repl: &mut Repl, part: &str) -> Result<(), Error> {
    match repl.ask(Request::Modules)? {
        Reply::Modules(modules) => {
            let part = (!part.is_empty()).then_some(part);
            let report = ModulesReport::of(NAME, &modules, part);
            repl.say(&report.render_for(Reader::Person));
            Ok(())
        }
        _ => Err(unexpected()),
    }
}

fn symbols(repl: &mut Repl, pattern: &str, kinds: &[SymbolKind]) -> Result<(), Error> {
    if pattern.is_empty() {
        return Err(usage("say a part of the name").hint("`info functions Total`"));
    }
    let query = SymbolsQuery {
        pattern: pattern.to_owned(),
        kinds: kinds.to_vec(),
        module: None,
        start: 0,
        count: SYMBOLS,
    };
    match repl.ask(Request::Symbols(Box::new(query)))? {
        Reply::Symbols(found) => {
            repl.say(&SymbolsReport::of(NAME, &found).render_for(Reader::Person));
            Ok(())
        }
        _ => Err(unexpected()),
    }
}

fn displays(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    nothing(arguments)?;
    let lines: Vec<_> = repl
        .displays
        .iter()
        .map(|display| format!("{}: {}", display.number, display.expression))
        .collect();
    match lines.as_slice() {
        [] => repl.say("Nothing is shown at every stop; `display EXPRESSION` adds to it."),
        lines => repl.say(&lines.join("\n")),
    }
    Ok(())
}

fn source(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    nothing(arguments)?;
    match repl.here()? {
        Some(here) => repl.say(&format!("{}:{}", here.file, here.line)),
        None => repl.say("There is no source here."),
    }
    Ok(())
}

fn program(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    nothing(arguments)?;
    let Some(status) = repl.status() else {
        let what = match &repl.target {
            Target::Launch { launch, .. } => launch.program.display().to_string(),
            Target::Attach(pid) => format!("process {}", pid.0),
        };
        repl.say(&format!("{what} is not being run."));
        return Ok(());
    };
    let mut report = build::report(NAME, &status, None);
    if status.state == State::Stopped {
        // Where it is was told when it stopped; `frame` tells it again.
        report.next = Some("`frame` shows where, `continue` lets it run on.".into());
    }
    report.notes = build::notes(&status, 0);
    report.notes.extend(build::stuck(&status));
    repl.say(&report.render_for(Reader::Person));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completion_knows_every_topic() {
        let mut names: Vec<_> = TOPICS
            .iter()
            .filter_map(|(names, ..)| names.first())
            .collect();
        names.sort();
        assert_eq!(names, NAMES.iter().collect::<Vec<_>>());
    }
}
