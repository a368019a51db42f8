//! Documents by path.
//!
//! The path that a person names and the path that a compiler saw differ as a rule: other folder, other machine, path map, other slashes. So a
//! document matches by its full path, else by the longest common tail.

use std::sync::OnceLock;

use crate::cursor::Cursor;
use crate::pdb::Pdb;
use crate::symbols::Symbols;
use crate::tables::{DocumentRow, Table};
use crate::token::{BlobHandle, Token};
use crate::view::Metadata;

/// Documents may share their names' parts, so that few bytes could ask for much text.
const MAX_TEXT: usize = 64 << 20;

/// The paths of a PDB's documents, each made when it is first needed.
#[derive(Debug)]
pub(crate) struct DocumentIndex(Box<[OnceLock<Box<str>>]>);

/// How well documents match a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MatchQuality {
    /// Only the file name is the same.
    Name,
    /// This many folders and the file name are the same.
    Suffix(usize),
    /// The whole path is the same.
    Exact,
}

/// The documents that match a path best.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentMatches<'i> {
    /// How well they match.
    pub quality: MatchQuality,
    /// Their paths and tokens; more than one means that the path is ambiguous.
    pub documents: Vec<(&'i str, Token)>,
}

impl DocumentIndex {
    pub(crate) fn new(pdb: Pdb<'_>) -> Self {
        let n_documents = pdb.metadata().row_count(Table::Document);
        Self((0..n_documents).map(|_| OnceLock::new()).collect())
    }

    /// The path of a document; empty if it cannot be read.
    fn path(&self, pdb: Pdb<'_>, document: Token) -> &str {
        let slot = document
            .row()
            .checked_sub(1)
            .and_then(|index| self.0.get(index as usize));
        let make = || {
            pdb.document(document)
                .and_then(|it| it.path())
                .unwrap_or_default()
                .into()
        };
        slot.map_or("", |slot| slot.get_or_init(make))
    }
}

impl MatchQuality {
    /// How well two paths match, if they have at least the file name in common.
    #[must_use]
    pub fn of(asked: &str, recorded: &str, ignore_case: bool) -> Option<Self> {
        let same = if ignore_case {
            str::eq_ignore_ascii_case
        } else {
            <str as PartialEq>::eq
        };
        compare(asked, recorded, same)
    }
}

/// The documents of a PDB by path.
#[derive(Debug, Clone, Copy)]
pub struct Documents<'s> {
    index: &'s DocumentIndex,
    pdb: Pdb<'s>,
}

impl Symbols {
    /// The documents by path, suffix and name.
    #[must_use]
    pub fn documents(&self) -> Documents<'_> {
        Documents {
            index: self.document_index(),
            pdb: self.pdb(),
        }
    }
}

impl<'s> Documents<'s> {
    /// All documents with readable paths, in the PDB's order.
    pub fn iter(self) -> impl Iterator<Item = (&'s str, Token)> {
        let mut length = 0;
        let tokens = self.pdb.metadata().tokens(Table::Document);
        let paths = tokens.filter_map(move |token| Some((self.path(token)?, token)));
        paths.take_while(move |(path, _)| {
            length += path.len();
            length <= MAX_TEXT
        })
    }

    /// The path of a document.
    #[must_use]
    pub fn path(self, document: Token) -> Option<&'s str> {
        let path = self.index.path(self.pdb, document);
        (document.is(Table::Document) && !path.is_empty()).then_some(path)
    }

    /// The documents that match a path or file name best; case counts unless nothing matches otherwise.
    #[must_use]
    pub fn find(self, path: &str) -> Option<DocumentMatches<'s>> {
        self.find_with(path, str::eq)
            .or_else(|| self.find_with(path, str::eq_ignore_ascii_case))
    }

    /// All documents with the file name of a path, in whatever case.
    #[must_use]
    pub fn named(self, path: &str) -> Vec<(&'s str, Token)> {
        let metadata = self.pdb.metadata();
        let mut found = Vec::new();
        let mut length = 0;
        let Some(file) = parts(path).next() else {
            return found;
        };
        for (row, document) in metadata.rows::<DocumentRow>() {
            let last = document
                .ok()
                .and_then(|document| last_part(metadata, document.name));
            if !last.is_some_and(|last| last.eq_ignore_ascii_case(file)) {
                continue;
            }
            let token = Token::new(Table::Document, row);
            let Some(candidate) = self.path(token) else {
                continue;
            };
            length += candidate.len();
            if length > MAX_TEXT {
                break;
            }
            found.push((candidate, token));
        }
        found
    }

    fn find_with(self, path: &str, same: fn(&str, &str) -> bool) -> Option<DocumentMatches<'s>> {
        let metadata = self.pdb.metadata();
        let file = parts(path).next()?;
        let mut best: Option<DocumentMatches<'s>> = None;
        let mut length = 0;
        for (row, document) in metadata.rows::<DocumentRow>() {
            // Most documents are refused by the last part of their names, before any text is made.
            let last = document
                .ok()
                .and_then(|document| last_part(metadata, document.name));
            if !last.is_some_and(|last| same(file, &last)) {
                continue;
            }
            let token = Token::new(Table::Document, row);
            let Some(candidate) = self.path(token) else {
                continue;
            };
            length += candidate.len();
            if length > MAX_TEXT {
                break;
            }
            let Some(quality) = compare(path, candidate, same) else {
                continue;
            };
            match &mut best {
                Some(best) if quality < best.quality => {}
                Some(best) if quality == best.quality => best.documents.push((candidate, token)),
                _ => {
                    best = Some(DocumentMatches {
                        quality,
                        documents: vec![(candidate, token)],
                    })
                }
            }
        }
        best
    }
}

/// The file name of a document, from the last part of its name.
fn last_part(metadata: Metadata<'_>, name: BlobHandle) -> Option<std::borrow::Cow<'_, str>> {
    let mut cursor = Cursor::new(metadata.blob(name).ok()?, "document name");
    cursor.u8().ok()?;
    let mut last = 0;
    while !cursor.is_empty() {
        last = cursor.compressed_u32().ok()?;
    }
    let part = metadata.blob(BlobHandle(last)).ok()?;
    let file = part.rsplit(|byte| matches!(byte, b'/' | b'\\')).next()?;
    Some(String::from_utf8_lossy(file))
}

/// Folders and file name, last first; both kinds of slashes separate.
fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.rsplit(['/', '\\'])
        .filter(|part| !part.is_empty() && *part != ".")
}

fn compare(query: &str, candidate: &str, same: fn(&str, &str) -> bool) -> Option<MatchQuality> {
    let (mut asked, mut known) = (parts(query), parts(candidate));
    let mut n_same = 0;
    loop {
        match (asked.next(), known.next()) {
            (Some(a), Some(b)) if same(a, b) => n_same += 1,
            (None, None) if n_same > 0 => {
                let rooted = |path: &str| path.starts_with(['/', '\\']);
                return Some(if rooted(query) == rooted(candidate) {
                    MatchQuality::Exact
                } else {
                    quality(n_same)
                });
            }
            _ => return (n_same > 0).then(|| quality(n_same)),
        }
    }
}

const fn quality(n_same: usize) -> MatchQuality {
    if n_same == 1 {
        MatchQuality::Name
    } else {
        MatchQuality::Suffix(n_same - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: &str, quality: MatchQuality, paths: &[&str]) {
        let known = [
            "/src/a/Program.cs",
            "/src/b/Program.cs",
            r"C:\x\b\Other.cs",
            "/_/lib/Util.cs",
        ];
        let of = |same: fn(&str, &str) -> bool| {
            let matches = known
                .iter()
                .filter_map(|&path| Some((compare(query, path, same)?, path)));
            matches.collect::<Vec<_>>()
        };
        let exact = of(str::eq);
        let found = if exact.is_empty() {
            of(str::eq_ignore_ascii_case)
        } else {
            exact
        };
        let best = found.iter().map(|it| it.0).max();
        assert_eq!(best, Some(quality));
        let found: Vec<_> = found
            .iter()
            .filter(|it| Some(it.0) == best)
            .map(|it| it.1)
            .collect();
        assert_eq!(found, paths);
    }

    #[test]
    fn full_path_then_longest_suffix_then_name() {
        check(
            "/src/a/Program.cs",
            MatchQuality::Exact,
            &["/src/a/Program.cs"],
        );
        check(
            "b/Program.cs",
            MatchQuality::Suffix(1),
            &["/src/b/Program.cs"],
        );
        check(
            "/home/me/b/Program.cs",
            MatchQuality::Suffix(1),
            &["/src/b/Program.cs"],
        );
        check(
            "Program.cs",
            MatchQuality::Name,
            &["/src/a/Program.cs", "/src/b/Program.cs"],
        );
        check(
            "/elsewhere/b/Other.cs",
            MatchQuality::Suffix(1),
            &[r"C:\x\b\Other.cs"],
        );
        check(
            "/home/me/lib/Util.cs",
            MatchQuality::Suffix(1),
            &["/_/lib/Util.cs"],
        );
        check("UTIL.CS", MatchQuality::Name, &["/_/lib/Util.cs"]);
    }
}
