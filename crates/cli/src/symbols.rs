//! `ndbg symbols`: what an assembly's PDB knows, and what a breakpoint on a line would bind to.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use metadata::Bytes;
use metadata::report::{Inspection, LineOutcome, LineReport, Report, SourceState, inspect};
use serde_json::{Value, json};

use crate::exit;
use crate::output::{self, plain};

/// A file larger than this is no assembly and no PDB.
const MAX_FILE: u64 = 1 << 30;

/// Arguments of `ndbg symbols`.
#[derive(Debug, clap::Args)]
pub(crate) struct SymbolsArguments {
    /// An assembly (.dll, .exe) or a portable PDB
    file: PathBuf,
    /// Shows what a breakpoint there would bind to: Program.cs:42 or Program.cs:42:17
    #[arg(long, value_name = "FILE:LINE[:COLUMN]", value_parser = parse_place)]
    line: Option<Place>,
    /// Prints JSON for programs
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    file: String,
    line: u32,
    column: Option<u32>,
}

/// `FILE:LINE` or `FILE:LINE:COLUMN`, counted from 1; the file's name may hold colons.
fn parse_place(text: &str) -> Result<Place, String> {
    let number = |text: &str| text.parse::<u32>().ok().filter(|it| *it > 0);
    let split = |text: &str| {
        let (file, last) = text.rsplit_once(':')?;
        Some((file.to_owned(), number(last)?)).filter(|(file, _)| !file.is_empty())
    };
    let (file, last) = split(text).ok_or("write FILE:LINE or FILE:LINE:COLUMN, counted from 1")?;
    Ok(match split(&file) {
        Some((file, line)) => Place {
            file,
            line,
            column: Some(last),
        },
        None => Place {
            file,
            line: last,
            column: None,
        },
    })
}

/// Shows the symbols of a file.
pub(crate) fn symbols(arguments: &SymbolsArguments) -> io::Result<ExitCode> {
    let path = &arguments.file;
    let opened = read(path).and_then(|bytes| {
        // What starts a program on Linux is native code beside the assembly.
        let hint = if bytes.starts_with(b"\x7fELF") {
            " but native code for Linux; a program's own code is in the .dll beside it"
        } else {
            ""
        };
        inspect(path, bytes, &|path: &Path| read(path).ok())
            .map_err(|error| format!("{}: {error}{hint}", path.display()))
    });
    let text = opened.and_then(|inspection| match &arguments.line {
        Some(place) => line(&inspection, place, arguments.json),
        None => whole(&inspection, arguments.json),
    });
    match text {
        Ok(text) => {
            output::write(text.as_bytes())?;
            Ok(ExitCode::SUCCESS)
        }
        Err(message) => {
            eprintln!("error: {}", plain(&message));
            Ok(ExitCode::from(exit::FAILED))
        }
    }
}

fn read(path: &Path) -> Result<Bytes, String> {
    let bad = |error: io::Error| format!("{}: {error}", path.display());
    let data = std::fs::metadata(path).map_err(bad)?;
    if !data.is_file() || data.len() > MAX_FILE {
        return Err(format!("{} is not an assembly or a PDB", path.display()));
    }
    std::fs::read(path).map(Bytes::from).map_err(bad)
}

fn whole(inspection: &Inspection, as_json: bool) -> Result<String, String> {
    let report = inspection
        .report(&|path: &Path| read(path).ok())
        .map_err(|error| error.to_string())?;
    if as_json {
        pretty(&report_value(&report))
    } else {
        Ok(format!("{}\n", plain(report.to_string().trim_end())))
    }
}

fn line(inspection: &Inspection, place: &Place, as_json: bool) -> Result<String, String> {
    let found = inspection
        .line(&place.file, place.line, place.column)
        .map_err(|error| error.to_string())?;
    let report = found.ok_or_else(|| {
        let tried = inspection
            .tried
            .iter()
            .map(|(location, verdict)| format!("\n  {location}: {verdict}"));
        format!(
            "there is no PDB that belongs to this file{}",
            tried.collect::<String>()
        )
    })?;
    if as_json {
        pretty(&line_value(&report))
    } else {
        Ok(format!("{}\n", plain(report.to_string().trim_end())))
    }
}

fn pretty(value: &Value) -> Result<String, String> {
    serde_json::to_string_pretty(value)
        .map(|text| text + "\n")
        .map_err(|error| error.to_string())
}

fn report_value(report: &Report) -> Value {
    let documents: Vec<Value> = report
        .documents
        .iter()
        .map(|document| {
            let (state, file) = match &document.source {
                SourceState::Found(file) => ("found", Some(file)),
                SourceState::Unverified(file) => ("unverified", Some(file)),
                SourceState::Embedded => ("embedded", None),
                SourceState::ChecksumDiffers(file) => ("checksum differs", Some(file)),
                SourceState::Missing => ("missing", None),
            };
            json!({
                "path": document.path,
                "language": document.language,
                "source": state,
                "file": file,
                "methods": document.n_methods,
                "url": document.url,
            })
        })
        .collect();
    let tried = report.tried.iter().map(|(location, verdict)| json!({"place": location.to_string(), "verdict": verdict.to_string()}));
    json!({
        "identity": report.identity,
        "module": report.module.as_ref().map(|(name, mvid)| json!({"name": name, "mvid": mvid})),
        "targetFramework": report.target_framework,
        "optimized": report.is_optimized,
        "readyToRun": report.is_ready_to_run,
        "expectedPdb": report.expected_pdb.map(|id| id.to_string()),
        "pdb": report.pdb.map(|id| id.to_string()),
        "tried": tried.collect::<Vec<_>>(),
        "methods": report.n_methods,
        "methodsWithPoints": report.n_methods_with_points,
        "points": report.n_points,
        "hiddenPoints": report.n_hidden_points,
        "documents": documents,
        "sourceLink": report.source_link.iter().map(|(pattern, url)| json!({"pattern": pattern, "url": url})).collect::<Vec<_>>(),
    })
}

fn line_value(report: &LineReport) -> Value {
    let outcome = match &report.outcome {
        LineOutcome::NoDocument(documents) => {
            json!({"outcome": "no document", "documents": documents})
        }
        LineOutcome::Ambiguous(documents) => {
            json!({"outcome": "ambiguous", "documents": documents})
        }
        LineOutcome::NoCode { document, nearest } => {
            json!({"outcome": "no code", "document": document, "nearestLines": nearest})
        }
        LineOutcome::WrongColumn {
            document,
            available,
        } => {
            json!({"outcome": "wrong column", "document": document, "available": available.iter().map(|it| span(*it)).collect::<Vec<_>>()})
        }
        LineOutcome::Bound {
            document, targets, ..
        } => {
            let targets = targets.iter().map(|target| {
                json!({
                    "method": target.method,
                    "token": format!("0x{:08x}", target.token.0),
                    "ilOffset": target.offset.0,
                    "span": span(target.span),
                    "binding": format!("{:?}", target.binding).to_lowercase(),
                })
            });
            json!({"outcome": "bound", "document": document, "targets": targets.collect::<Vec<_>>()})
        }
    };
    json!({"file": report.path, "line": report.line, "column": report.column, "result": outcome})
}

fn span(span: metadata::pdb::Span) -> Value {
    json!({
        "startLine": span.start_line,
        "startColumn": span.start_column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_from_the_right() {
        let place = |file: &str, line, column| {
            Ok(Place {
                file: file.into(),
                line,
                column,
            })
        };
        assert_eq!(parse_place("Program.cs:42"), place("Program.cs", 42, None));
        assert_eq!(
            parse_place("/a:b/P.cs:42:7"),
            place("/a:b/P.cs", 42, Some(7))
        );
        for bad in ["Program.cs", "Program.cs:", ":3", "Program.cs:0", "x:y"] {
            assert!(parse_place(bad).is_err(), "{bad}");
        }
    }
}
