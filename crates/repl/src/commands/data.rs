//! Values: expressions, what lies inside them, their types, and memory.

use host::api::{
    Error, Evaluate, Evaluated, Reply, Request, SetVariable, TypeQuery, VariableScope,
    VariablesQuery, View,
};
use report::evaluations::EvaluationsReport;
use report::objects::{MemoryReport, ObjectAnswer};
use report::symbols::TypeReport;
use report::variables::{SetReport, VariableEntry, VariablesReport};
use report::{Reader, Render as _};

use super::nothing;
use crate::failure::{unexpected, usage};
use crate::repl::{Display, Repl};
use crate::stop::NAME;
use crate::words;

/// Members and elements shown at once.
const PAGE: u32 = 50;
/// Bytes that `x` shows at most.
const MEMORY: u32 = 4096;
/// How long an expression may take.
const TIME_LIMIT_MS: u32 = 10_000;

pub(super) fn print(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    let text = print_text(repl, arguments, true)?;
    repl.say(&text);
    Ok(())
}

/// Evaluates in the frame that is looked at; the text of the value, with what lies inside it if that is wanted.
fn print_text(repl: &Repl, arguments: &str, inside: bool) -> Result<String, Error> {
    let (format, expression) = formatted(arguments)?;
    let view = View {
        hex: format == Format::Hex,
        raw: format == Format::Raw,
        ..View::default()
    };
    let mut results = evaluate(repl, expression.to_owned(), true, view.clone())?;
    let mut found = results.pop().ok_or_else(unexpected)?;
    let value = found.outcome.as_mut().map_err(|why| why.error.clone())?;
    let mut members = String::new();
    // What has no literal is told by its members.
    let text = &value.text;
    let is_list = text.starts_with("Count = ") || text.starts_with("Length = ");
    let is_object = text.starts_with('{') || is_list;
    let path = value.variable.as_ref().map(|it| it.path.clone());
    let query = VariablesQuery {
        path: path.filter(|it| !it.is_empty()),
        view,
        ..query(repl)
    };
    if (is_object || format != Format::Usual)
        && query.path.is_some()
        && let Ok(Reply::Variables(within)) = repl.ask(Request::Variables(Box::new(query)))
        && let Some(parent) = &within.parent
        // A row of numbers is told by its line.
        && (!is_list
            || format != Format::Usual
            || within.variables.iter().any(|it| it.value.children > 0))
    {
        value.text.clone_from(&parent.value.text);
        let report = VariablesReport::of(NAME, &within).render_for(Reader::Person);
        let lines = report.split_once('\n').map(|(_, lines)| lines);
        members = lines.filter(|_| inside).unwrap_or_default().to_owned();
    }
    let text = EvaluationsReport::of(NAME, &[found]).render_for(Reader::Person);
    Ok(match members.as_str() {
        "" => text,
        members => format!("{text}\n{members}"),
    })
}

/// How values are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Usual,
    Hex,
    Raw,
}

/// `/x total` in its parts.
fn formatted(arguments: &str) -> Result<(Format, &str), Error> {
    let (letters, expression) = words::format(arguments);
    if expression.is_empty() {
        return Err(usage("say which expression"));
    }
    let format = match letters {
        "" | "d" => Format::Usual,
        "x" => Format::Hex,
        "r" => Format::Raw,
        other => {
            let message = format!("there is no format /{}", report::text::one_line(other, 20));
            return Err(
                usage(message).hint("/x is hexadecimal, /d decimal, /r the fields as they are")
            );
        }
    };
    Ok((format, expression))
}

fn evaluate(
    repl: &Repl,
    expression: String,
    side_effects: bool,
    view: View,
) -> Result<Vec<Evaluated>, Error> {
    let focus = repl.focus();
    let request = Evaluate {
        thread: focus.thread,
        frame: focus.frame,
        side_effects,
        as_variables: true,
        time_limit_ms: TIME_LIMIT_MS,
        shared_time: false,
        view,
        ..Evaluate::read(expression)
    };
    match repl.ask(Request::Evaluate(request))? {
        Reply::Evaluated(results) => Ok(results),
        _ => Err(unexpected()),
    }
}

/// What lies inside a value.
pub(super) fn inspect(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    let (letters, rest) = words::format(arguments);
    let (path, from) = words::around(rest, "from");
    if path.is_empty() {
        return Err(usage("say which value"));
    }
    let start = match from {
        None => 0,
        Some(text) => text
            .parse()
            .map_err(|_| usage("say from which element on: `inspect list from 50`"))?,
    };
    let query = VariablesQuery {
        path: Some(path.to_owned()),
        start,
        view: View {
            hex: letters.contains('x'),
            raw: letters.contains('r'),
            statics: letters.contains('s'),
            properties: letters.contains('p'),
            run_code: letters.contains('p'),
            ..View::default()
        },
        ..query(repl)
    };
    show_variables(repl, query)
}

fn query(repl: &Repl) -> VariablesQuery {
    let focus = repl.focus();
    VariablesQuery {
        thread: focus.thread,
        frame: focus.frame,
        count: PAGE,
        ..VariablesQuery::default()
    }
}

fn show_variables(repl: &mut Repl, query: VariablesQuery) -> Result<(), Error> {
    match repl.ask(Request::Variables(Box::new(query)))? {
        Reply::Variables(found) => {
            let report = VariablesReport::of(NAME, &found);
            repl.say(&report.render_for(Reader::Person));
            Ok(())
        }
        _ => Err(unexpected()),
    }
}

/// Shows the variables of a frame.
pub(super) fn scope(repl: &mut Repl, scope: VariableScope, frame: u32) -> Result<(), Error> {
    let query = VariablesQuery {
        scope,
        frame,
        ..query(repl)
    };
    show_variables(repl, query)
}

/// Sets a variable; `-f` sets readonly fields too.
pub(super) fn assign(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    let hint = "`set total = 5`; `show` lists the settings";
    let (force, rest) = match arguments.strip_prefix("-f ") {
        Some(rest) => (true, rest),
        None => (false, arguments),
    };
    let Some((path, value)) = rest.split_once('=') else {
        return Err(usage("say what is set to which value").hint(hint));
    };
    if path.trim().is_empty() || value.trim().is_empty() {
        return Err(usage("say what is set to which value").hint(hint));
    }
    if !force {
        // An assignment is an expression: all of C# may stand on its right.
        let mut results = evaluate(repl, rest.to_owned(), true, View::default())?;
        let mut set = results.pop().ok_or_else(unexpected)?;
        if let Err(why) = set.outcome {
            return Err(why.error);
        }
        set.expression = path
            .trim_end_matches(['+', '-', '*', '/', '%', '&', '|', '^'])
            .trim()
            .to_owned();
        repl.say(&EvaluationsReport::of(NAME, &[set]).render_for(Reader::Person));
        return Ok(());
    }
    let focus = repl.focus();
    let request = SetVariable {
        stop: None,
        thread: focus.thread,
        frame: focus.frame,
        path: path.trim().to_owned(),
        value: value.trim().to_owned(),
        force,
        mask_secrets: false,
    };
    let found = match repl.ask(Request::SetVariable(Box::new(request)))? {
        Reply::Variables(found) => *found,
        _ => return Err(unexpected()),
    };
    let now = match &found.parent {
        Some(parent) => Some(parent.as_ref()),
        None => found.variables.first(),
    };
    let mut variable = now.map(VariableEntry::from).unwrap_or_default();
    variable.notes.extend(found.notes.iter().cloned());
    let report = SetReport {
        session: NAME.into(),
        stop: found.stop.0,
        variable,
    };
    repl.say(&report.render_for(Reader::Person));
    Ok(())
}

pub(super) fn display(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    if arguments.is_empty() {
        repl.show_displays();
        return Ok(());
    }
    formatted(arguments)?;
    let number = repl.displays.last().map_or(1, |last| last.number + 1);
    repl.displays.push(Display {
        number,
        expression: arguments.to_owned(),
    });
    let stopped = repl
        .status()
        .is_some_and(|it| it.state == host::api::State::Stopped);
    if stopped {
        let line = repl.display_line(number, arguments);
        repl.say(&line);
    }
    Ok(())
}

pub(super) fn undisplay(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    let numbers = words::numbers(arguments)?;
    if numbers.is_empty() {
        repl.displays.clear();
        return Ok(());
    }
    for number in numbers {
        let before = repl.displays.len();
        repl.displays.retain(|display| display.number != number);
        if repl.displays.len() == before {
            return Err(
                usage(format!("there is no display {number}")).hint("`info display` lists them")
            );
        }
    }
    Ok(())
}

impl Repl {
    /// Shows what is shown at every stop.
    pub(crate) fn show_displays(&mut self) {
        let lines: Vec<_> = self
            .displays
            .iter()
            .map(|display| self.display_line(display.number, &display.expression))
            .collect();
        for line in lines {
            self.say(&line);
        }
    }

    /// One of them; what has no value here says so in a word, for it may have one at the next stop.
    fn display_line(&self, number: u32, expression: &str) -> String {
        match print_text(self, expression, false) {
            Ok(text) => format!("{number}: {text}"),
            Err(error) => {
                let first = error.message.lines().next().unwrap_or_default();
                let why = report::text::one_line(first, 200);
                format!("{number}: {expression} has no value here: {why}")
            }
        }
    }
}

pub(super) fn whatis(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    let (_, expression) = words::format(arguments);
    let found = type_of(repl, expression)?;
    repl.say(&format!(
        "{}: {}",
        report::text::one_line(expression, 200),
        report::text::one_line(&found, 500)
    ));
    Ok(())
}

/// The type of an expression; nothing runs in the program.
fn type_of(repl: &Repl, expression: &str) -> Result<String, Error> {
    if expression.is_empty() {
        return Err(usage("say which expression"));
    }
    let focus = repl.focus();
    let request = Evaluate {
        thread: focus.thread,
        frame: focus.frame,
        time_limit_ms: TIME_LIMIT_MS,
        shared_time: false,
        types_only: true,
        ..Evaluate::read(expression)
    };
    let Reply::Evaluated(mut results) = repl.ask(Request::Evaluate(request))? else {
        return Err(unexpected());
    };
    match results.pop() {
        Some(Evaluated {
            outcome: Ok(value), ..
        }) => Ok(value.ty),
        Some(Evaluated {
            outcome: Err(why), ..
        }) => Err(why.error),
        None => Err(unexpected()),
    }
}

/// A type with its members, by its name or by an expression of that type.
pub(super) fn ptype(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    let (name, members) = crate::place::split(arguments);
    if name.is_empty() {
        return Err(usage("say which type or expression"));
    }
    let members: Vec<_> = members.split_whitespace().map(str::to_owned).collect();
    let describe = |repl: &Repl, name: &str, members: &[String]| {
        let query = TypeQuery {
            name: name.to_owned(),
            module: None,
            members: members.to_vec(),
            start: 0,
            count: 200,
        };
        match repl.ask(Request::Type(Box::new(query)))? {
            Reply::Type(found) => Ok(found),
            _ => Err(unexpected()),
        }
    };
    let found = match describe(repl, name, &members) {
        Ok(found) => found,
        // It may be an expression; if it is not that either, the name counts.
        Err(error) => match type_of(repl, arguments) {
            Ok(name) => describe(repl, &name, &[])?,
            Err(_) => return Err(error),
        },
    };
    repl.say(&TypeReport::of(NAME, &found).render_for(Reader::Person));
    Ok(())
}

/// How an object lies in memory.
pub(super) fn layout(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    if arguments.is_empty() {
        return Err(usage("say which object"));
    }
    let object = inspect_object(repl, arguments)?;
    let answer = ObjectAnswer::of(NAME, arguments, &object, 0, 200);
    repl.say(&answer.render_for(Reader::Person));
    Ok(())
}

fn inspect_object(repl: &Repl, path: &str) -> Result<host::api::ObjectReport, Error> {
    let query = VariablesQuery {
        path: Some(path.to_owned()),
        ..query(repl)
    };
    match repl.ask(Request::InspectObject(Box::new(query)))? {
        Reply::Object(object) => Ok(*object),
        _ => Err(unexpected()),
    }
}

/// Bytes of memory, at an address or where an object lies; without arguments, those that follow.
pub(super) fn examine(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    let (letters, at) = words::format(arguments);
    let (address, (count, unit)) = match (at, repl.memory) {
        ("", Some(next)) if letters.is_empty() => next,
        ("", _) => return Err(usage("say which address or object")),
        (at, _) => (address(repl, at)?, byte_count(letters)?),
    };
    let memory = match repl.ask(Request::ReadMemory { address, count })? {
        Reply::Memory(memory) => memory,
        _ => return Err(unexpected()),
    };
    let read = u64::try_from(memory.bytes.len()).unwrap_or(u64::MAX);
    repl.memory = Some((memory.address.saturating_add(read), (count, unit)));
    let report = MemoryReport::in_units(NAME, &memory, count, unit);
    repl.say(&report.render_for(Reader::Person));
    Ok(())
}

fn address(repl: &Repl, text: &str) -> Result<u64, Error> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    if let Some(number) = number {
        return Ok(number);
    }
    let object = inspect_object(repl, text)?;
    object
        .address
        .ok_or_else(|| usage("that value lies in a register, so it has no address"))
}

/// `16xb`: how many bytes that are, and in units of how many they are shown.
fn byte_count(letters: &str) -> Result<(u32, u32), Error> {
    let digits = letters.find(|it: char| !it.is_ascii_digit());
    let (count, rest) = letters.split_at(digits.unwrap_or(letters.len()));
    let count: u32 = if count.is_empty() {
        16
    } else {
        count.parse().unwrap_or(u32::MAX)
    };
    let mut unit = 1;
    for letter in rest.chars() {
        unit = match letter {
            'b' => 1,
            'h' => 2,
            'w' => 4,
            'g' => 8,
            'x' => unit,
            _ => {
                return Err(usage(format!("there is no format /{letter} for memory"))
                    .hint("`x/16b ADDRESS` shows 16 bytes; h, w, g are 2, 4, 8 bytes"));
            }
        };
    }
    match count.saturating_mul(unit) {
        0 => Err(usage("that is no byte at all")),
        bytes if bytes > MEMORY => Err(usage(format!("at most {MEMORY} bytes are shown at once"))),
        bytes => Ok((bytes, unit)),
    }
}

/// Keeps an object under a name over continues.
pub(super) fn keep(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    if arguments.is_empty() {
        return Err(usage("say which object"));
    }
    let query = VariablesQuery {
        path: Some(arguments.to_owned()),
        ..query(repl)
    };
    match repl.ask(Request::KeepObject(Box::new(query)))? {
        Reply::Variables(found) => {
            let kept = found.parent.as_deref().or(found.variables.first());
            let report = SetReport {
                session: NAME.into(),
                stop: found.stop.0,
                variable: kept.map(VariableEntry::from).unwrap_or_default(),
            };
            repl.say(&report.render_for(Reader::Person));
            Ok(())
        }
        _ => Err(unexpected()),
    }
}

pub(super) fn release(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    let number = words::number(arguments.trim_start_matches('$'), "kept object")?;
    repl.ask(Request::ReleaseObject(number.into())).map(drop)
}

/// The exception in flight.
pub(super) fn exception(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    nothing(arguments)?;
    let thread = repl.focus().thread;
    match repl.ask(Request::Exception { thread })? {
        Reply::Exception(found) => {
            let answer = report::exception::ExceptionAnswer::of(NAME, found.as_deref());
            repl.say(&answer.render_for(Reader::Person));
            Ok(())
        }
        _ => Err(unexpected()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_counted_in_units() {
        let bytes = |letters| byte_count(letters).ok();
        assert_eq!(bytes(""), Some((16, 1)));
        assert_eq!(bytes("4"), Some((4, 1)));
        assert_eq!(bytes("4xg"), Some((32, 8)));
        assert_eq!(bytes("2w"), Some((8, 4)));
        assert_eq!(bytes("0"), None);
        assert_eq!(bytes("9999999999g"), None);
        assert_eq!(bytes("s"), None);
    }

    #[test]
    fn formats_stand_in_front() {
        assert_eq!(formatted("/x a + b").ok(), Some((Format::Hex, "a + b")));
        assert_eq!(formatted("a / b").ok(), Some((Format::Usual, "a / b")));
        assert!(formatted("/q a").is_err());
        assert!(formatted("/x").is_err());
    }
}
