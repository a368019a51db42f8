//! The session itself: help, scripts, input for the program, the end.

use std::path::Path;

use host::api::{Error, Origin, Reply, Request};
use report::{InputReport, Reader, Render as _};

use super::{COMMANDS, Command, Group, find, nothing, reference};
use crate::failure::{no_program, unexpected, usage};
use crate::repl::Repl;
use crate::{script, words};

pub(super) fn help(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    let text = match arguments {
        "" => overview(),
        "all" => COMMANDS
            .iter()
            .map(reference::text)
            .collect::<Vec<_>>()
            .join("\n\n"),
        word => reference::text(find(words::first(word).0)?),
    };
    repl.say(&text);
    Ok(())
}

fn overview() -> String {
    let mut text = String::new();
    for (group, title) in Group::ALL {
        let names: Vec<_> = COMMANDS
            .iter()
            .filter(|command| command.group == group)
            .map(short)
            .collect();
        text += &format!("{title}:\n  {}\n", names.join(", "));
    }
    text += "`help COMMAND` tells more of one, `help all` of all. Names can be abbreviated; an empty line repeats a\n";
    text += "step. Ctrl-C stops the running program; what is typed while it runs is its input.";
    text
}

/// `continue (c)`.
fn short(command: &Command) -> String {
    match command.aliases.first() {
        Some(alias) if alias.len() < command.name.len() => format!("{} ({alias})", command.name),
        _ => command.name.to_owned(),
    }
}

pub(super) fn quit(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    let code = match arguments {
        "" => None,
        text => Some(
            text.parse()
                .map_err(|_| usage("an exit code is a number from 0 to 255"))?,
        ),
    };
    repl.quit = Some(code.unwrap_or_else(|| repl.default_code()));
    Ok(())
}

pub(super) fn source(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    if arguments.is_empty() {
        return Err(usage("say which file"));
    }
    script::run(repl, Path::new(arguments))
}

pub(super) fn echo(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    let text = arguments.replace("\\n", "\n");
    repl.say(if text.is_empty() { "\n" } else { &text });
    Ok(())
}

/// Writes a line to the program's standard input.
pub(super) fn input(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    let text = match arguments.strip_prefix("-n ") {
        Some(text) => text.to_owned(),
        None => format!("{arguments}\n"),
    };
    write(repl, text, false)
}

pub(super) fn eof(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    nothing(arguments)?;
    write(repl, String::new(), true)
}

fn write(repl: &mut Repl, text: String, close: bool) -> Result<(), Error> {
    let status = repl.status().ok_or_else(no_program)?;
    if status.origin == Some(Origin::Attached) {
        return Err(usage(
            "the program was attached to: its standard input belongs to whoever started it",
        )
        .hint("write to it where it was started"));
    }
    match repl.ask(Request::Input { text, close })? {
        Reply::Input { accepted } => {
            let report = InputReport {
                session: "the program".into(),
                accepted,
                closed: close,
                next: String::new(),
            };
            repl.say(&report.render_for(Reader::Person));
            Ok(())
        }
        _ => Err(unexpected()),
    }
}
