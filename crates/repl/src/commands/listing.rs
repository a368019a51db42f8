//! `list`: source text, page by page.

use host::api::{BreakpointSpec, Error, Place, Reply, Request};
use report::source::SourceReport;
use report::{Reader, Render as _};

use crate::failure::{unexpected, usage};
use crate::place;
use crate::repl::Repl;
use crate::stop::NAME;

pub(super) fn list(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    let size = repl.list_size;
    let here = repl.here()?;
    let file_here = || {
        let listed = repl.listing.file.clone();
        let file = listed.or_else(|| here.as_ref().map(|here| here.file.clone()));
        file.ok_or_else(|| {
            usage("there is no source here").hint("say which file: `list FILE:LINE`")
        })
    };
    let (file, first, count) = match arguments {
        "" | "+" if repl.listing.file.is_some() => (file_here()?, repl.listing.last + 1, size),
        "" | "+" => {
            let line = here.as_ref().map_or(1, |here| here.line);
            (file_here()?, line.saturating_sub(size / 2).max(1), size)
        }
        "-" => {
            let before = match (&repl.listing.file, &here) {
                (Some(_), _) => repl.listing.first,
                (None, Some(here)) => here.line,
                (None, None) => 1,
            };
            if before <= 1 {
                return Err(usage("the file begins here"));
            }
            let first = before.saturating_sub(size).max(1);
            (file_here()?, first, before - first)
        }
        text if let Some(at) = range_comma(text) => {
            let (from, to) = text.split_at(at);
            let to = to.strip_prefix(',').unwrap_or(to);
            let (file, from) = line(repl, from.trim())?;
            let count = match to.trim() {
                "" => size,
                to => match to.parse::<u32>() {
                    Ok(to) if to >= from => (to - from).saturating_add(1),
                    _ => return Err(usage("the second line comes before the first")),
                },
            };
            (file, from, count)
        }
        text => {
            let (file, line) = line(repl, text)?;
            (file, line.saturating_sub(size / 2).max(1), size)
        }
    };
    show(repl, file, first, count)
}

/// The file and line that a text means.
fn line(repl: &Repl, text: &str) -> Result<(String, u32), Error> {
    match place::place(text, repl.here()?.as_ref())? {
        Place::Line { file, line, .. } => Ok((file, line.0)),
        Place::Function { name } => {
            let quoted = report::text::quoted(&name, 100);
            method(repl, name)?.ok_or_else(|| {
                usage(format!(
                    "no loaded module has a method {quoted} with source"
                ))
                .hint("`info functions NAME` looks for one; or say which line: `list FILE:LINE`")
            })
        }
    }
}

/// Where a method begins, as a breakpoint in it would tell; it is never switched on.
fn method(repl: &Repl, name: String) -> Result<Option<(String, u32)>, Error> {
    let spec = BreakpointSpec {
        enabled: false,
        beside_others: true,
        ..BreakpointSpec::at(Place::Function { name })
    };
    let Reply::Breakpoint { breakpoint, .. } = repl.live.ask(Request::SetBreakpoint(spec))? else {
        return Err(unexpected());
    };
    repl.live.ask(Request::RemoveBreakpoint(breakpoint.id))?;
    let mut sources = breakpoint.locations.into_iter().filter_map(|it| it.source);
    let found = sources.next();
    Ok(found.map(|it| (it.path.to_string_lossy().into_owned(), it.line.0)))
}

/// Where the comma stands between two lines; those in brackets stand between types.
fn range_comma(text: &str) -> Option<usize> {
    let mut depth = 0_i32;
    text.find(|letter: char| {
        match letter {
            '(' | '<' | '[' => depth += 1,
            ')' | '>' | ']' => depth -= 1,
            _ => {}
        }
        letter == ',' && depth <= 0
    })
}

fn show(repl: &mut Repl, file: String, first: u32, count: u32) -> Result<(), Error> {
    let here = repl.here()?;
    let source = match repl.ask(Request::Source { file })? {
        Reply::Source(source) => source,
        _ => return Err(unexpected()),
    };
    let current = here
        .filter(|here| here.file == source.path)
        .map(|here| (here.line, here.column));
    let report = SourceReport::of(NAME, &source, first, count, current);
    let Some(last) = report.lines.last().map(|line| line.line) else {
        let message = format!("{} has {} lines", report.file, report.total_lines);
        return Err(usage(message));
    };
    let text = report.render_for(Reader::Person);
    repl.listing.file = Some(source.path.clone());
    (repl.listing.first, repl.listing.last) = (first, last);
    repl.say(&text);
    Ok(())
}
