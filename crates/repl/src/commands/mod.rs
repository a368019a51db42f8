//! The commands: one table that runs, abbreviates, completes and documents them.

mod breakpoints;
mod data;
mod frames;
mod info;
mod listing;
mod meta;
mod reference;
mod refused;
mod running;
mod settings;
mod table;

use host::api::Error;

use crate::failure::usage;
use crate::repl::Repl;

pub use reference::reference;
use table::COMMANDS;

/// A command of the prompt.
#[derive(Debug)]
pub(crate) struct Command {
    /// Its name.
    pub(crate) name: &'static str,
    /// Other names and abbreviations that are its own even where they fit others.
    pub(crate) aliases: &'static [&'static str],
    /// What may stand behind it.
    pub(crate) arguments: &'static str,
    /// Where it stands in the help.
    pub(crate) group: Group,
    /// What it does, in one line.
    pub(crate) summary: &'static str,
    /// What more there is to say.
    pub(crate) help: &'static str,
    /// Whether an empty line repeats it.
    pub(crate) repeats: bool,
    /// What Tab offers behind it.
    pub(crate) completes: Completes,
    /// Does it.
    pub(crate) run: fn(&mut Repl, &str) -> Result<(), Error>,
}

/// Commands that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    Running,
    Breakpoints,
    Stack,
    Data,
    Source,
    Session,
}

impl Group {
    const ALL: [(Self, &str); 6] = [
        (Self::Running, "Running the program"),
        (Self::Breakpoints, "Breakpoints"),
        (Self::Stack, "Stack and threads"),
        (Self::Data, "Values"),
        (Self::Source, "Source and symbols"),
        (Self::Session, "The session"),
    ];
}

/// What Tab offers behind a command.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Completes {
    Nothing,
    Commands,
    /// One of these, as the first word.
    Words(&'static [&'static str]),
    Expressions,
    Places,
    Files,
    /// The numbers of breakpoints.
    Breakpoints,
    /// These words, or types of exceptions.
    Exceptions(&'static [&'static str]),
}

/// All names, without abbreviations.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().map(|command| command.name)
}

/// The command that a word means: its name, an alias, or the beginning of one name alone.
pub(crate) fn find(word: &str) -> Result<&'static Command, Error> {
    let exact = |command: &&Command| command.name == word || command.aliases.contains(&word);
    if let Some(command) = COMMANDS.iter().find(exact) {
        return Ok(command);
    }
    let fitting: Vec<_> = COMMANDS
        .iter()
        .filter(|command| !word.is_empty() && command.name.starts_with(word))
        .collect();
    match fitting.as_slice() {
        [only] => Ok(only),
        [] => Err(unknown(word)),
        several => {
            let names: Vec<_> = several.iter().map(|command| command.name).collect();
            Err(usage(format!("{word} may be {}", names.join(", "))).hint("write more of it"))
        }
    }
}

fn unknown(word: &str) -> Error {
    let shown = report::text::quoted(word, 60);
    let aliases = COMMANDS.iter().flat_map(|command| command.aliases);
    let candidates = names().chain(aliases.copied().filter(|alias| alias.len() > 3));
    let near = (word.len() > 1).then(|| report::similar::nearest(word, candidates));
    let hint = match near.flatten() {
        Some(near) => format!("did you mean `{near}`? `help` lists the commands"),
        None => "`help` lists the commands".to_owned(),
    };
    usage(format!("there is no command {shown}")).hint(hint)
}

/// Obeys a line that is not empty.
pub(crate) fn obey(repl: &mut Repl, line: &str) -> Result<(), Error> {
    // `p/x total`: a name ends where its letters do.
    let end = line
        .find(|it: char| !(it.is_alphanumeric() || it == '-' || it == '_'))
        .unwrap_or(line.len());
    let (name, arguments) = match line.split_at(end) {
        // `?` and the like.
        ("", _) => line.split_once(char::is_whitespace).unwrap_or((line, "")),
        parts => parts,
    };
    let command = find(name)?;
    let arguments = arguments.trim();
    repl.last = command.repeats.then(|| repeated(command, line, arguments));
    (command.run)(repl, arguments)
}

/// What an empty line does after a command: `list` goes on from where it was.
fn repeated(command: &Command, line: &str, arguments: &str) -> String {
    match command.name {
        "list" if arguments != "-" => "list".to_owned(),
        _ => line.to_owned(),
    }
}

/// Nothing may stand behind this command.
fn nothing(arguments: &str) -> Result<(), Error> {
    if arguments.is_empty() {
        return Ok(());
    }
    let shown = report::text::quoted(arguments, 60);
    Err(usage(format!("nothing may follow here, not {shown}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique() {
        let mut seen = BTreeSet::new();
        for command in COMMANDS {
            for name in command.aliases.iter().chain([&command.name]) {
                assert!(seen.insert(*name), "{name} is there twice");
            }
            assert!(!command.summary.ends_with('.'), "{}", command.name);
            assert!(!command.summary.is_empty());
        }
    }

    #[track_caller]
    fn check(word: &str, expected: &str) {
        let found = match find(word) {
            Ok(command) => command.name.to_owned(),
            Err(error) => format!("{}; {}", error.message, error.hint.unwrap_or_default()),
        };
        assert_eq!(found, expected, "{word}");
    }

    #[test]
    fn abbreviations_are_those_of_gdb() {
        for (word, name) in [
            ("b", "break"),
            ("br", "break"),
            ("tb", "tbreak"),
            ("r", "run"),
            ("c", "continue"),
            ("n", "next"),
            ("s", "step"),
            ("fin", "finish"),
            ("u", "until"),
            ("adv", "advance"),
            ("j", "jump"),
            ("bt", "backtrace"),
            ("where", "backtrace"),
            ("f", "frame"),
            ("up", "up"),
            ("down", "down"),
            ("dow", "down"),
            ("t", "thread"),
            ("p", "print"),
            ("inspect", "inspect"),
            ("disp", "display"),
            ("l", "list"),
            ("i", "info"),
            ("d", "delete"),
            ("dis", "disable"),
            ("en", "enable"),
            ("cond", "condition"),
            ("ign", "ignore"),
            ("h", "help"),
            ("q", "quit"),
            ("k", "kill"),
            ("pt", "ptype"),
            ("tp", "trace"),
            ("x", "x"),
            ("wai", "wait"),
        ] {
            check(word, name);
        }
    }

    #[test]
    fn slips_are_answered_with_what_was_meant() {
        check(
            "braek",
            "there is no command \"braek\"; did you mean `break`? `help` lists the commands",
        );
        check("un", "un may be until, undisplay, unset; write more of it");
        check("", "there is no command \"\"; `help` lists the commands");
    }
}
