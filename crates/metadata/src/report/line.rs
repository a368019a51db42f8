//! What a breakpoint on a line would bind to.

use super::Inspection;
use crate::csharp::Style;
use crate::error::Result;
use crate::index::{Binding, Candidate, MatchQuality};
use crate::pdb::Span;
use crate::symbols::Symbols;
use crate::token::{IlOffset, Token};

/// The nearest lines with code that are named when a line has none.
const MAX_NEAREST: usize = 4;

/// What a breakpoint on a line would bind to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineReport {
    /// The path that was asked for.
    pub path: String,
    /// The line that was asked for.
    pub line: u32,
    /// The column that was asked for.
    pub column: Option<u32>,
    /// What came of it.
    pub outcome: LineOutcome,
}

/// What came of looking for a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineOutcome {
    /// No document has that name; these are the documents there are.
    NoDocument(Vec<String>),
    /// Several documents fit equally well.
    Ambiguous(Vec<String>),
    /// The line has no code and lies in no method; these are the nearest lines with code.
    NoCode {
        /// The document.
        document: String,
        /// Lines around it that have code.
        nearest: Vec<u32>,
    },
    /// The line has code, but none at the column; these are the statements on it.
    WrongColumn {
        /// The document.
        document: String,
        /// The statements that begin on the line.
        available: Vec<Span>,
    },
    /// The places, in the order of the text.
    Bound {
        /// The document.
        document: String,
        /// How well the document's path fits.
        quality: MatchQuality,
        /// The places.
        targets: Vec<LineTarget>,
    },
}

/// A place that a breakpoint would bind to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineTarget {
    /// The method as a person knows it, where the assembly is there.
    pub method: Option<String>,
    /// The method's token.
    pub token: Token,
    /// Where its statement begins.
    pub offset: IlOffset,
    /// The statement's text.
    pub span: Span,
    /// How the statement relates to the line.
    pub binding: Binding,
}

impl Inspection {
    /// What a breakpoint on a line, or a column of it, would bind to; `None` without a PDB.
    pub fn line(&self, path: &str, line: u32, column: Option<u32>) -> Result<Option<LineReport>> {
        let Some(symbols) = &self.symbols else {
            return Ok(None);
        };
        let outcome = self.outcome(symbols, path, line, column)?;
        Ok(Some(LineReport {
            path: path.to_owned(),
            line,
            column,
            outcome,
        }))
    }

    fn outcome(
        &self,
        symbols: &Symbols,
        path: &str,
        line: u32,
        column: Option<u32>,
    ) -> Result<LineOutcome> {
        let documents = symbols.documents();
        let Some(found) = documents.find(path) else {
            return Ok(LineOutcome::NoDocument(
                documents.iter().map(|(path, _)| path.to_owned()).collect(),
            ));
        };
        let &[(document, token)] = &found.documents[..] else {
            let paths = found.documents.iter().map(|&(path, _)| path.to_owned());
            return Ok(LineOutcome::Ambiguous(paths.collect()));
        };
        let document = document.to_owned();
        let candidates = symbols.candidates(token, line, column);
        if candidates.is_empty() {
            let available: Vec<_> = symbols
                .points_on(token, line)
                .iter()
                .map(|it| it.span)
                .collect();
            return Ok(if column.is_some() && !available.is_empty() {
                LineOutcome::WrongColumn {
                    document,
                    available,
                }
            } else {
                LineOutcome::NoCode {
                    document,
                    nearest: nearest_lines(symbols, token, line),
                }
            });
        }
        let targets = candidates
            .into_iter()
            .map(|it| self.target(it))
            .collect::<Result<_>>()?;
        Ok(LineOutcome::Bound {
            document,
            quality: found.quality,
            targets,
        })
    }

    fn target(&self, candidate: Candidate) -> Result<LineTarget> {
        let Candidate { binding, point } = candidate;
        let method = match &self.module {
            Some(module) => {
                let names = crate::csharp::GenericNames::default();
                let style = Style { namespaces: true };
                let (metadata, method) = (module.metadata(), point.method());
                let symbols = self.symbols.as_ref();
                let around = symbols.map(|it| it.local_functions_around(metadata, method));
                let around = around.unwrap_or_default();
                let name = metadata.method_name_inside(method, &around, &names, style)?;
                Some(name.to_string())
            }
            None => None,
        };
        Ok(LineTarget {
            method,
            token: point.method(),
            offset: point.offset,
            span: point.span,
            binding,
        })
    }
}

/// Lines with code before and behind a line, the nearest of each side.
fn nearest_lines(symbols: &Symbols, document: Token, line: u32) -> Vec<u32> {
    let mut lines: Vec<u32> = symbols
        .points(document)
        .iter()
        .map(|it| it.span.start_line)
        .collect();
    lines.dedup();
    let split = lines.partition_point(|&it| it < line);
    let start = split.saturating_sub(MAX_NEAREST / 2);
    lines.into_iter().skip(start).take(MAX_NEAREST).collect()
}
