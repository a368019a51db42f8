//! Documents by path.
//!
//! The path that a person names and the path that a compiler saw differ as a rule: other folder, other machine, path map, other slashes. So a
//! document matches by its full path, else by the longest common tail.

use crate::pdb::Pdb;
use crate::token::Token;

/// The paths of a PDB's documents.
#[derive(Debug)]
pub struct DocumentIndex(Box<[(Box<str>, Token)]>);

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
    pub(crate) fn build(pdb: Pdb<'_>) -> Self {
        // Documents may share their names' parts, so that few bytes could ask for much text.
        const MAX_TEXT: usize = 64 << 20;
        let mut length = 0;
        // A document whose name cannot be read can still be reached by token.
        let readable = pdb.documents().flatten().filter_map(|it| {
            let path: Box<str> = it.path().ok()?.into();
            length += path.len();
            Some((length, path, it.token()))
        });
        let readable = readable.take_while(|&(length, ..)| length <= MAX_TEXT);
        Self(readable.map(|(_, path, token)| (path, token)).collect())
    }

    /// All documents with readable paths, in the PDB's order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, Token)> {
        self.0.iter().map(|(path, token)| (&**path, *token))
    }

    /// The path of a document.
    #[must_use]
    pub fn path(&self, document: Token) -> Option<&str> {
        // Rows are in order, and all there unless a name was bad.
        let found = self
            .0
            .binary_search_by_key(&document, |&(_, token)| token)
            .ok()?;
        self.0.get(found).map(|(path, _)| &**path)
    }

    /// The documents that match a path or file name best; case counts unless nothing matches otherwise.
    #[must_use]
    pub fn find(&self, path: &str) -> Option<DocumentMatches<'_>> {
        self.find_with(path, str::eq)
            .or_else(|| self.find_with(path, str::eq_ignore_ascii_case))
    }

    fn find_with(&self, path: &str, same: fn(&str, &str) -> bool) -> Option<DocumentMatches<'_>> {
        let mut best: Option<DocumentMatches<'_>> = None;
        for (candidate, token) in self.iter() {
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
        let documents = [
            "/src/a/Program.cs",
            "/src/b/Program.cs",
            r"C:\x\b\Other.cs",
            "/_/lib/Util.cs",
        ];
        let entries = documents
            .iter()
            .zip(1..)
            .map(|(&path, row)| (path.into(), Token(0x3000_0000 | row)));
        let index = DocumentIndex(entries.collect());
        let found = index.find(query).expect("a match");
        assert_eq!(found.quality, quality);
        assert_eq!(
            found
                .documents
                .iter()
                .map(|&(path, _)| path)
                .collect::<Vec<_>>(),
            paths
        );
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
