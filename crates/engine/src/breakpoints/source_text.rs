//! The text of a source file, from the file or from the symbols that hold it.
//!
//! Only files that a loaded module was compiled from are read, found by the same rules as the file of a breakpoint.

use std::path::Path;

use metadata::{Symbols, Token};

use super::line::documents;
use super::offer::Rank;
use crate::api::{Details, Error, ErrorCode, Reply, SourceText};
use crate::engine::Engine;
use crate::source_files::SourceFiles;

/// A longer text is not one that a person wrote.
const MAX_TEXT: usize = 4 << 20;

/// A file that fits, and the modules that were compiled from it.
struct Fitting<'a> {
    rank: Rank,
    /// Path here, the first module's symbols and its document.
    found: Vec<(String, &'a Symbols, Token)>,
    modules: Vec<String>,
}

impl Engine<'_> {
    /// The text of the file that is meant by a path, the end of one, or a name.
    pub(crate) fn source_text(&mut self, file: &str) -> Result<Reply, Error> {
        let files = self.source_files.clone();
        let target = self.target()?;
        let mut best: Option<Fitting<'_>> = None;
        for module in target.modules.iter() {
            let Ok(symbols) = module.symbols(&target.process) else {
                continue;
            };
            let (Some(candidates), _) = documents(file, symbols, &files) else {
                continue;
            };
            let fitting = match &mut best {
                Some(best) if candidates.rank < best.rank => continue,
                Some(best) if candidates.rank == best.rank => best,
                _ => best.insert(Fitting {
                    rank: candidates.rank,
                    found: Vec::new(),
                    modules: Vec::new(),
                }),
            };
            fitting.modules.push(module.file_name());
            for (path, token) in candidates.documents {
                if fitting.found.iter().all(|(known, ..)| *known != path) {
                    fitting.found.push((path, symbols, token));
                }
            }
        }
        let Some(Fitting { found, modules, .. }) = best else {
            return Err(Error::new(
                ErrorCode::InvalidFile,
                format!("no loaded module was compiled from {file} with symbols"),
            ));
        };
        let (path, symbols, token) = match found.as_slice() {
            [only] => only,
            several => {
                let paths = several.iter().map(|(path, ..)| path.clone()).collect();
                return Err(Error::new(
                    ErrorCode::InvalidFile,
                    format!("{} source files are called {file}", several.len()),
                )
                .hint("give more of the path")
                .details(Details::Candidates(paths)));
            }
        };
        let mut source = read(path, symbols, *token, &files)?;
        source.modules = modules;
        Ok(Reply::Source(Box::new(source)))
    }
}

fn read(
    path: &str,
    symbols: &Symbols,
    document: Token,
    files: &SourceFiles,
) -> Result<SourceText, Error> {
    let file = Path::new(path);
    let described = symbols.pdb().document(document).ok();
    let as_compiled = described.and_then(|it| files.is_as_compiled(file, &it));
    let embedded = || {
        symbols
            .pdb()
            .embedded_source(document, MAX_TEXT)
            .ok()
            .flatten()
    };
    let in_file = || {
        let size = std::fs::metadata(file)
            .ok()
            .filter(|it| it.is_file())?
            .len();
        (size <= MAX_TEXT as u64).then(|| std::fs::read(file).ok())?
    };
    let (bytes, is_embedded) = match as_compiled {
        Some(true) => (in_file(), false),
        _ => match embedded() {
            Some(bytes) => (Some(bytes), true),
            None => (in_file(), false),
        },
    };
    let Some(bytes) = bytes else {
        return Err(Error::new(
            ErrorCode::InvalidFile,
            format!("the text of {path} is not here: there is no such file, and the symbols do not hold it"),
        )
        .hint("a source map says where the files are that a compiler saw elsewhere"));
    };
    let text = String::from_utf8_lossy(&bytes);
    Ok(SourceText {
        path: path.to_owned(),
        text: text.trim_start_matches('\u{feff}').to_owned(),
        embedded: is_embedded,
        changed: as_compiled.filter(|_| !is_embedded).map(|same| !same),
        modules: Vec::new(),
    })
}
