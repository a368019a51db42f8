//! `set`, `unset` and `show`: variables of the program, and how it is run and shown.

use host::api::{Error, Reply, Request, SourceMap};

use super::data;
use crate::failure::{unexpected, usage};
use crate::repl::Repl;
use crate::{Target, words};

/// Lines that `list` shows at most.
const MAX_LINES: u32 = 300;

/// What can be set, for completion and help.
pub(super) const NAMES: &[&str] = &[
    "args",
    "cwd",
    "env",
    "just-my-code",
    "listsize",
    "skip-properties",
    "substitute-path",
    "var",
];

pub(super) fn set(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    let (name, value) = words::first(arguments);
    // `set args = …` sets a variable that is called so.
    let assigns = value.starts_with('=') && !value.starts_with("==");
    match name {
        "" => show(repl, ""),
        "var" | "variable" if !assigns => data::assign(repl, value),
        "args" if !assigns => {
            let args = words::arguments(value)?;
            launch(repl)?.args = args;
            repl.say("The next `run` uses these arguments.");
            Ok(())
        }
        "cwd" if !assigns => {
            launch(repl)?.cwd = (!value.is_empty()).then(|| value.into());
            repl.say("The next `run` uses this folder.");
            Ok(())
        }
        "env" | "environment" if !assigns => {
            let (name, value) = match value.split_once(['=', ' ']) {
                Some((name, value)) => (name.trim(), value.trim()),
                None => (value, ""),
            };
            if name.is_empty() {
                return Err(usage("say which variable: `set env NAME=VALUE`"));
            }
            let env = &mut launch(repl)?.env;
            env.insert(name.to_owned(), Some(value.to_owned()));
            repl.say("The next `run` has it.");
            Ok(())
        }
        "just-my-code" => {
            repl.wishes.steps.just_my_code = words::switch(value)?;
            tell_steps(repl)
        }
        "skip-properties" => {
            repl.wishes.steps.skip_properties = words::switch(value)?;
            tell_steps(repl)
        }
        "listsize" => {
            repl.list_size = words::count(value)?.min(MAX_LINES);
            Ok(())
        }
        "substitute-path" => {
            let words = words::arguments(value)?;
            let [from, to] = words.as_slice() else {
                return Err(usage(
                    "say which folder is where: `set substitute-path FROM TO`",
                ));
            };
            let (from, to) = (from.clone(), to.clone());
            let mut maps = repl.wishes.maps.clone();
            maps.retain(|map| map.from != from);
            maps.push(SourceMap { from, to });
            send_maps(repl, maps)
        }
        _ => data::assign(repl, arguments),
    }
}

pub(super) fn unset(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    match words::first(arguments) {
        ("env" | "environment", name) if !name.is_empty() => {
            launch(repl)?.env.insert(name.to_owned(), None);
            repl.say("The next `run` has it no more.");
            Ok(())
        }
        ("args", "") => {
            launch(repl)?.args.clear();
            Ok(())
        }
        ("substitute-path", _) => send_maps(repl, Vec::new()),
        _ => Err(usage(
            "say what: `unset env NAME`, `unset args` or `unset substitute-path`",
        )),
    }
}

fn send_maps(repl: &mut Repl, maps: Vec<SourceMap>) -> Result<(), Error> {
    match repl.live.ask(Request::SetSourceMaps(maps.clone()))? {
        Reply::Breakpoints { .. } => {
            repl.wishes.maps = maps;
            Ok(())
        }
        _ => Err(unexpected()),
    }
}

fn tell_steps(repl: &mut Repl) -> Result<(), Error> {
    let steps = repl.wishes.steps;
    repl.live.ask(Request::SetStepOptions(steps)).map(drop)
}

fn launch(repl: &mut Repl) -> Result<&mut host::api::Launch, Error> {
    match &mut repl.target {
        Target::Launch { launch, .. } => Ok(launch),
        Target::Attach(_) => Err(usage(
            "the program was attached to, so it is not started here",
        )),
    }
}

pub(super) fn show(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    if arguments == "version" {
        repl.say(concat!("ndbg ", env!("CARGO_PKG_VERSION")));
        return Ok(());
    }
    let mut lines = Vec::new();
    if let Target::Launch { launch, .. } = &repl.target {
        lines.push(format!("args: {}", launch.args.join(" ")));
        let cwd = launch.cwd.as_ref().map(|cwd| cwd.display().to_string());
        lines.push(format!(
            "cwd: {}",
            cwd.as_deref().unwrap_or("(where ndbg was started)")
        ));
        for (name, value) in &launch.env {
            lines.push(match value {
                Some(value) => format!("env: {name}={value}"),
                None => format!("env: {name} is removed"),
            });
        }
    }
    let on = |on| if on { "on" } else { "off" };
    lines.push(format!(
        "just-my-code: {}",
        on(repl.wishes.steps.just_my_code)
    ));
    lines.push(format!(
        "skip-properties: {}",
        on(repl.wishes.steps.skip_properties)
    ));
    lines.push(format!("listsize: {}", repl.list_size));
    for map in &repl.wishes.maps {
        lines.push(format!("substitute-path: {} is {}", map.from, map.to));
    }
    let name = words::first(arguments).0;
    lines.retain(|line| line.starts_with(name));
    if lines.is_empty() {
        let shown = report::text::quoted(name, 60);
        return Err(usage(format!("there is no setting {shown}")).hint("`show` lists them all"));
    }
    repl.say(&report::text::clean(&lines.join("\n")));
    Ok(())
}
