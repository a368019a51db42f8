//! `list`: source text, page by page.

use host::api::{Error, Place, Reply, Request};
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
        text if text.contains(',') => {
            let (from, to) = text.split_once(',').unwrap_or((text, ""));
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
            let known = repl.known.values().find_map(|it| {
                let location = it.locations.iter().find(|it| {
                    let method = it.method.split('(').next().unwrap_or_default();
                    method == name || method.ends_with(&format!(".{name}"))
                })?;
                let source = location.source.as_ref()?;
                Some((source.path.to_string_lossy().into_owned(), source.line.0))
            });
            known.ok_or_else(|| {
                usage(format!(
                    "where {} is in the source is not known",
                    report::text::quoted(&name, 100)
                ))
                .hint("a breakpoint in it tells: `tbreak METHOD`; or `list FILE:LINE`")
            })
        }
    }
}

fn show(repl: &mut Repl, file: String, first: u32, count: u32) -> Result<(), Error> {
    let here = repl.here()?;
    let source = match repl.ask(Request::Source { file })? {
        Reply::Source(source) => source,
        _ => return Err(unexpected()),
    };
    let current = here
        .filter(|here| here.file == source.path)
        .map(|here| here.line);
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
