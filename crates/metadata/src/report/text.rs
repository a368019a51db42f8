//! The reports as text for a terminal.

use std::fmt::{self, Display, Formatter};

use super::{DocumentReport, LineOutcome, LineReport, LineTarget, Report, SourceState};
use crate::index::{Binding, MatchQuality};
use crate::pdb::Span;

/// A line with a heading of fixed width.
fn field(f: &mut Formatter<'_>, name: &str, value: impl Display) -> fmt::Result {
    writeln!(f, "{name:<12}{value}")
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(identity) = &self.identity {
            field(f, "Assembly", identity)?;
        }
        if let Some((name, mvid)) = &self.module {
            field(f, "Module", format_args!("{name} {mvid}"))?;
        }
        if let Some(framework) = &self.target_framework {
            field(f, "Target", framework)?;
        }
        if self.module.is_some() {
            let build = match self.is_optimized {
                Some(true) => "optimised",
                Some(false) => "debug, not optimised",
                None => "says nothing about optimisation",
            };
            let native = if self.is_ready_to_run {
                ", ready-to-run"
            } else {
                ""
            };
            field(f, "Build", format_args!("{build}{native}"))?;
        }
        for (location, verdict) in &self.tried {
            field(f, "PDB", format_args!("{location}: {verdict}"))?;
        }
        match (&self.pdb, &self.expected_pdb) {
            (Some(id), _) => field(f, "PDB id", id)?,
            (None, Some(id)) => field(f, "PDB id", format_args!("{id}, which was not found"))?,
            (None, None) => field(
                f,
                "PDB",
                "the assembly names none; build with <DebugType>portable</DebugType>",
            )?,
        }
        if self.pdb.is_none() {
            return field(f, "Methods", self.n_methods);
        }
        field(
            f,
            "Methods",
            format_args!(
                "{}, {} with lines",
                self.n_methods, self.n_methods_with_points
            ),
        )?;
        field(
            f,
            "Points",
            format_args!("{}, {} hidden", self.n_points, self.n_hidden_points),
        )?;
        for (pattern, url) in &self.source_link {
            field(f, "SourceLink", format_args!("{pattern} -> {url}"))?;
        }
        field(f, "Documents", self.documents.len())?;
        self.documents
            .iter()
            .try_for_each(|document| writeln!(f, "  {document}"))
    }
}

impl Display for DocumentReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.source)?;
        if let Some(url) = &self.url {
            write!(f, ", {url}")?;
        }
        Ok(())
    }
}

impl Display for SourceState {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Found(_) => "source found",
            Self::Unverified(_) => "source found, no checksum to compare",
            Self::Embedded => "embedded",
            Self::ChecksumDiffers(_) => "checksum differs",
            Self::Missing => "missing",
        })
    }
}

impl Display for LineReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.path, self.line)?;
        if let Some(column) = self.column {
            write!(f, ":{column}")?;
        }
        match &self.outcome {
            LineOutcome::NoDocument(documents) => {
                writeln!(
                    f,
                    ": no document has that name; there are {}",
                    documents.len()
                )?;
                documents
                    .iter()
                    .take(20)
                    .try_for_each(|document| writeln!(f, "  {document}"))
            }
            LineOutcome::Ambiguous(documents) => {
                writeln!(f, ": {} documents fit; name more folders", documents.len())?;
                documents
                    .iter()
                    .try_for_each(|document| writeln!(f, "  {document}"))
            }
            LineOutcome::NoCode { document, nearest } if nearest.is_empty() => {
                writeln!(f, ": {document} has no code at all")
            }
            LineOutcome::NoCode { document, nearest } => {
                let lines: Vec<_> = nearest.iter().map(u32::to_string).collect();
                writeln!(
                    f,
                    ": no code on that line of {document}; lines with code: {}",
                    lines.join(", ")
                )
            }
            LineOutcome::WrongColumn {
                document,
                available,
            } => {
                writeln!(
                    f,
                    ": no statement of {document} holds that column; statements on the line:"
                )?;
                available
                    .iter()
                    .try_for_each(|span| writeln!(f, "  {}", SpanText(span)))
            }
            LineOutcome::Bound {
                document,
                quality,
                targets,
            } => {
                let how = match quality {
                    MatchQuality::Exact => "",
                    MatchQuality::Suffix(_) => " (by the end of its path)",
                    MatchQuality::Name => " (by its name)",
                };
                writeln!(f, " in {document}{how} binds to")?;
                targets
                    .iter()
                    .try_for_each(|target| writeln!(f, "  {target}"))
            }
        }
    }
}

impl Display for LineTarget {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.method {
            Some(method) => write!(f, "{method}")?,
            None => write!(f, "method {}", self.token)?,
        }
        write!(f, " {} at {}", self.offset, SpanText(&self.span))?;
        f.write_str(match self.binding {
            Binding::Exact => "",
            Binding::Within => ", inside a statement that begins earlier",
            Binding::Next => ", the next line with code",
        })
    }
}

struct SpanText<'s>(&'s Span);

impl Display for SpanText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Span {
            start_line,
            start_column,
            end_line,
            end_column,
        } = self.0;
        write!(f, "{start_line}:{start_column}-{end_line}:{end_column}")
    }
}
