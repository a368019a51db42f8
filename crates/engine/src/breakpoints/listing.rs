//! What breakpoints could be set on: the source files of the program, and the statements of one.

use metadata::{Symbols, Token};

use super::dead_points::DeadPoints;
use super::line::{available, documents};
use super::offer::Rank;
use crate::api::{AvailablePoint, Error, ErrorCode, Line, Reply, SourceFile};
use crate::engine::Engine;
use crate::modules::LoadedModule;

/// Source files and statements told at most.
const MAX_TOLD: usize = 10_000;

/// A document, and where it was compiled into.
type Compiled<'m> = (&'m LoadedModule, &'m Symbols, Token);

impl Engine<'_> {
    /// The source files of all loaded modules that have symbols.
    pub(crate) fn list_source_files(&mut self) -> Result<Reply, Error> {
        let files = self.source_files.clone();
        let target = self.target()?;
        let mut told: Vec<SourceFile> = Vec::new();
        for module in target.modules.iter() {
            let Ok(symbols) = module.symbols(&target.process) else {
                continue;
            };
            for (recorded, _) in symbols.documents().iter() {
                told.push(SourceFile {
                    path: files.here(recorded).display().to_string(),
                    module: module.file_name(),
                });
            }
        }
        told.sort_by(|a, b| a.path.cmp(&b.path));
        told.dedup_by(|a, b| a.path == b.path);
        told.truncate(MAX_TOLD);
        Ok(Reply::SourceFiles(told))
    }

    /// The statements of a file that begin in a range of lines, of the documents that fit its path best.
    pub(crate) fn statements(&mut self, file: &str, from: Line, to: Line) -> Result<Reply, Error> {
        let files = self.source_files.clone();
        let target = self.target()?;
        let mut best: Option<(Rank, Vec<Compiled<'_>>)> = None;
        for module in target.modules.iter() {
            let Ok(symbols) = module.symbols(&target.process) else {
                continue;
            };
            let (Some(found), _) = documents(file, symbols, &files) else {
                continue;
            };
            let found_documents = found.documents.iter();
            let found_documents = found_documents.map(|(_, token)| (module, symbols, *token));
            match &mut best {
                Some((rank, _)) if found.rank < *rank => {}
                Some((rank, all)) if found.rank == *rank => all.extend(found_documents),
                _ => best = Some((found.rank, found_documents.collect())),
            }
        }
        let Some((_, documents)) = best else {
            return Err(Error::new(
                ErrorCode::InvalidFile,
                format!("no loaded module was compiled from {file} with symbols"),
            ));
        };
        let mut told: Vec<AvailablePoint> = Vec::new();
        for (module, symbols, document) in documents {
            let dead = DeadPoints::of(module, &target.process);
            let points = symbols.points(document).iter();
            let wanted = points
                .filter(|it| (from.0..=to.0).contains(&it.span.start_line))
                .filter(|it| !dead.has(it.method(), it.offset));
            told.extend(wanted.take(MAX_TOLD).map(|it| available(it.span, None)));
        }
        let place =
            |it: &AvailablePoint| (it.start_line, it.start_column, it.end_line, it.end_column);
        told.sort_by_key(place);
        told.dedup();
        told.truncate(MAX_TOLD);
        Ok(Reply::Statements(told))
    }
}
