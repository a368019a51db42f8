//! What Tab offers: commands, expressions as the engine completes them, methods, files.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use host::api::{Complete, Reply, Request, SymbolKind, SymbolsQuery};
use rustyline::completion::Completer;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Result};

use crate::commands::{self, Completes};
use crate::session::{self, Focus, Shared};
use crate::words;

/// Nobody waits longer for Tab.
const PATIENCE: Duration = Duration::from_secs(2);
/// Source files offered at once.
const SOURCES: usize = 100;
/// Methods that are offered.
const METHODS: u32 = 200;

/// Completes lines of the prompt.
#[derive(Debug)]
pub(crate) struct Helper {
    focus: Shared,
}

impl Helper {
    pub(crate) fn new(focus: Shared) -> Self {
        Self { focus }
    }
}

impl rustyline::Helper for Helper {}
impl Validator for Helper {}
impl Highlighter for Helper {}
impl Hinter for Helper {
    type Hint = String;
}

impl Completer for Helper {
    type Candidate = String;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> Result<(usize, Vec<String>)> {
        let line = line.get(..pos).unwrap_or(line);
        Ok(complete(line, &session::focus(&self.focus)))
    }
}

/// What could stand at the end of a line: where it begins, and the choices.
fn complete(line: &str, focus: &Focus) -> (usize, Vec<String>) {
    let start = line.len() - line.trim_start().len();
    let typed = line.get(start..).unwrap_or_default();
    let Some((name, _)) = typed.split_once(|it: char| it.is_whitespace() || it == '/') else {
        return (start, beginning_with(commands::names(), typed));
    };
    let Ok(command) = commands::find(name) else {
        return (line.len(), Vec::new());
    };
    let rest = start + name.len();
    let argument = line.get(rest..).unwrap_or_default();
    let last = |separators: &[char]| {
        let at = argument.rfind(separators).map_or(0, |at| at + 1);
        (rest + at, argument.get(at..).unwrap_or_default())
    };
    match command.completes {
        Completes::Nothing => (line.len(), Vec::new()),
        Completes::Commands => {
            let (at, word) = last(&[' ']);
            (at, beginning_with(commands::names(), word))
        }
        Completes::Words(words) => {
            let (at, word) = last(&[' ']);
            if argument.trim_start().contains(' ') {
                return (line.len(), Vec::new());
            }
            (at, beginning_with(words.iter().copied(), word))
        }
        Completes::Expressions => {
            let (_, expression) = words::format(argument);
            expressions(line, expression, focus)
        }
        Completes::Files => {
            let (at, word) = last(&[' ']);
            (at, files(word, ""))
        }
        Completes::Breakpoints => {
            let (at, word) = last(&[' ']);
            let numbers: Vec<_> = breakpoints(focus).iter().map(u32::to_string).collect();
            (at, beginning_with(numbers.iter().map(String::as_str), word))
        }
        Completes::Exceptions(words) => match words::around(argument, "if") {
            (_, Some(condition)) => expressions(line, condition, focus),
            _ => {
                let (at, word) = last(&[' ', ',', '!']);
                let mut found = exceptions(word, focus);
                if !argument.trim_start().contains(' ') {
                    found.extend(beginning_with(words.iter().copied(), word));
                }
                (at, found)
            }
        },
        Completes::Places => match words::around(argument, "if") {
            (_, Some(condition)) => expressions(line, condition, focus),
            _ => {
                let (at, word) = last(&[' ']);
                let mut places = methods(word, focus);
                places.extend(sources(word, focus));
                places.extend(files(word, ".cs"));
                places.sort();
                places.dedup();
                (at, places)
            }
        },
    }
}

fn beginning_with<'a>(names: impl Iterator<Item = &'a str>, typed: &str) -> Vec<String> {
    let mut fitting: Vec<_> = names
        .filter(|name| name.starts_with(typed))
        .map(str::to_owned)
        .collect();
    fitting.sort();
    fitting.dedup();
    fitting
}

fn ask(focus: &Focus, request: Request) -> Option<Reply> {
    let session = focus.session.as_ref()?;
    session.request(request, Instant::now() + PATIENCE).ok()
}

fn expressions(line: &str, expression: &str, focus: &Focus) -> (usize, Vec<String>) {
    let nothing = (line.len(), Vec::new());
    // What follows a trimmed blank is a new word.
    let Some(begin) = line.rfind(expression) else {
        return nothing;
    };
    let text = line.get(begin..).unwrap_or_default();
    let request = Complete {
        text: text.to_owned(),
        position: u32::try_from(text.len()).unwrap_or(u32::MAX),
        thread: focus.thread,
        frame: focus.frame,
        stop: None,
    };
    match ask(focus, Request::Complete(request)) {
        Some(Reply::Completions(found)) => {
            let start = found.start as usize;
            let typed = text.get(start..).unwrap_or_default();
            (begin + start, {
                let names = found.names.into_iter().map(|it| it.name);
                as_typed(typed, names.collect())
            })
        }
        _ => nothing,
    }
}

/// Only the names that begin as it was typed, if there are any: those that differ in case would keep the line from being
/// completed.
fn as_typed(typed: &str, names: Vec<String>) -> Vec<String> {
    let (same, other): (Vec<_>, Vec<_>) = names.into_iter().partition(|it| it.starts_with(typed));
    if same.is_empty() { other } else { same }
}

fn methods(typed: &str, focus: &Focus) -> Vec<String> {
    if typed.is_empty() || typed.contains([':', '/', '(']) {
        return Vec::new();
    }
    let query = SymbolsQuery {
        pattern: format!("{typed}*"),
        kinds: vec![SymbolKind::Method],
        module: None,
        start: 0,
        count: METHODS,
    };
    let Some(Reply::Symbols(found)) = ask(focus, Request::Symbols(Box::new(query))) else {
        return Vec::new();
    };
    let names = found.symbols.iter().filter_map(|symbol| {
        let name = symbol.name.split('(').next()?;
        // The shortest end of the full name that begins as what was typed does.
        let mut ends = name.rmatch_indices('.').map(|(at, _)| at + 1).chain([0]);
        let end = ends.find(|at| name.get(*at..).is_some_and(|it| it.starts_with(typed)));
        Some(name.get(end?..)?.to_owned())
    });
    let mut names: Vec<_> = names.collect();
    names.sort();
    names.dedup();
    names
}

fn breakpoints(focus: &Focus) -> Vec<u32> {
    match ask(focus, Request::Breakpoints) {
        Some(Reply::Breakpoints {
            breakpoints,
            exceptions,
        }) => {
            let lines = breakpoints.iter().map(|it| it.id.0);
            lines.chain(exceptions.iter().map(|it| it.id.0)).collect()
        }
        _ => Vec::new(),
    }
}

/// Types that are called as exceptions are.
fn exceptions(typed: &str, focus: &Focus) -> Vec<String> {
    if typed.is_empty() {
        return Vec::new();
    }
    let query = SymbolsQuery {
        pattern: format!("{typed}*"),
        kinds: vec![SymbolKind::Type],
        module: None,
        start: 0,
        count: METHODS,
    };
    let Some(Reply::Symbols(found)) = ask(focus, Request::Symbols(Box::new(query))) else {
        return Vec::new();
    };
    let names = found.symbols.iter().filter_map(|symbol| {
        let name = symbol.name.as_str();
        let short = name.rsplit('.').next().unwrap_or(name);
        let fitting = [short, name].into_iter().find(|it| it.starts_with(typed));
        fitting.filter(|it| it.ends_with("Exception"))
    });
    let mut names: Vec<_> = names.map(str::to_owned).collect();
    names.sort();
    names.dedup();
    names
}

/// Names of the program's own source files, each with the colon that its line comes behind.
fn sources(typed: &str, focus: &Focus) -> Vec<String> {
    if typed.is_empty() || typed.contains([':', '/', '(']) {
        return Vec::new();
    }
    let Some(Reply::SourceFiles(files)) = ask(focus, Request::SourceFiles) else {
        return Vec::new();
    };
    let names = files.iter().filter_map(|file| {
        let name = file.path.rsplit(['/', '\\']).next()?;
        name.starts_with(typed).then(|| format!("{name}:"))
    });
    names.take(SOURCES).collect()
}

/// Files whose path begins as typed; only those with that ending, and folders.
fn files(typed: &str, ending: &str) -> Vec<String> {
    let (folder, begin) = match typed.rsplit_once('/') {
        Some((folder, begin)) => (format!("{folder}/"), begin),
        None => (String::new(), typed),
    };
    let looked = if folder.is_empty() { "." } else { &folder };
    let Ok(entries) = fs::read_dir(Path::new(looked)) else {
        return Vec::new();
    };
    let mut found: Vec<_> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name().into_string().ok()?;
            let is_folder = entry.file_type().ok()?.is_dir();
            let hidden = name.starts_with('.') && !begin.starts_with('.');
            if hidden || !name.starts_with(begin) || !(is_folder || name.ends_with(ending)) {
                return None;
            }
            let slash = if is_folder { "/" } else { "" };
            Some(format!("{folder}{name}{slash}"))
        })
        .take(1000)
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, at: usize, expected: &[&str]) {
        let (found, names) = complete(line, &Focus::default());
        assert_eq!(
            (found, names.as_slice()),
            (
                at,
                &expected
                    .iter()
                    .map(|it| (*it).to_owned())
                    .collect::<Vec<_>>()[..]
            ),
            "{line}"
        );
    }

    #[test]
    fn commands_and_topics_are_completed() {
        check("cont", 0, &["continue"]);
        check("  tbr", 2, &["tbreak"]);
        check("help und", 5, &["undisplay"]);
        check("info loc", 5, &["locals"]);
        check("i loc", 2, &["locals"]);
        check("nonsense x", 10, &[]);
        check("print x", 7, &[]);
    }

    #[test]
    fn files_are_completed() {
        let own = concat!(env!("CARGO_MANIFEST_DIR"), "/src/complet");
        let whole = concat!(env!("CARGO_MANIFEST_DIR"), "/src/complete.rs");
        assert_eq!(files(own, ""), [whole]);
        assert!(files(own, ".cs").is_empty());
        assert!(files("/no/such/folder/x", "").is_empty());
    }
}
