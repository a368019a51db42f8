//! Source files: where they are here, and whether they are the ones that were compiled.
//!
//! A PDB has the paths that the compiler saw, which may be those of another machine or made-up ones. Source maps say what
//! they are here; a checksum says whether a file is the one that was compiled.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::SystemTime;

use metadata::pdb::Document;
use metadata::pe::PdbId;
use metadata::{Symbols, Token};

use crate::api::{Error, ErrorCode, SourceMap};

/// A source file larger than this is not looked into.
const MAX_SOURCE: u64 = 32 << 20;
/// Verdicts kept; more are made again.
const MAX_VERDICTS: usize = 4096;
/// Documents of one PDB that are looked at for links, at most.
const MAX_DOCUMENTS: usize = 4096;

/// What is known of source files, shared by all who ask.
#[derive(Debug, Clone, Default)]
pub(crate) struct SourceFiles(Rc<RefCell<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    maps: Vec<SourceMap>,
    exact: bool,
    verdicts: HashMap<(PathBuf, Vec<u8>), (FileMark, bool)>,
    links: HashMap<PdbId, Rc<[Link]>>,
}

/// A document that is a link here to a file of another name.
#[derive(Debug)]
pub(crate) struct Link {
    /// What it leads to.
    pub(crate) target: PathBuf,
    /// The path of the document here.
    pub(crate) path: String,
    pub(crate) document: Token,
}

/// Changes whenever a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileMark(Option<SystemTime>, u64);

impl SourceFiles {
    /// Takes new source maps.
    pub(crate) fn set_maps(&self, maps: Vec<SourceMap>) -> Result<(), Error> {
        for map in &maps {
            if parts(&map.from).next().is_none() || map.to.trim().is_empty() {
                return Err(Error::new(
                    ErrorCode::InvalidParameter,
                    format!("{:?} to {:?} is no source map", map.from, map.to),
                )
                .hint("give the folder as the compiler wrote it and the folder here, such as /_/src and /home/me/src"));
            }
        }
        let mut maps = maps;
        // The longest folder says most.
        maps.sort_by_key(|map| std::cmp::Reverse(parts(&map.from).count()));
        let mut inner = self.0.borrow_mut();
        inner.maps = maps;
        // They say where documents are.
        inner.links.clear();
        Ok(())
    }

    /// Whether breakpoints are refused in files that were changed since the program was built.
    pub(crate) fn must_be_exact(&self) -> bool {
        self.0.borrow().exact
    }

    /// Says whether they are.
    pub(crate) fn require_exact(&self, exact: bool) {
        self.0.borrow_mut().exact = exact;
    }

    /// The path that a source map gives a document.
    pub(crate) fn mapped(&self, recorded: &str) -> Option<String> {
        let inner = self.0.borrow();
        inner.maps.iter().find_map(|map| map_path(map, recorded))
    }

    /// The path of a document as it should be shown.
    pub(crate) fn here(&self, recorded: &str) -> PathBuf {
        self.mapped(recorded)
            .unwrap_or_else(|| recorded.to_owned())
            .into()
    }

    /// The documents that were compiled under the name of a link. The files of a PDB are looked at once, not for each
    /// breakpoint: hundreds of modules may be asked for hundreds of paths that they do not have.
    pub(crate) fn links(&self, symbols: &Symbols) -> Rc<[Link]> {
        let Ok(id) = symbols.pdb().id() else {
            return Rc::default();
        };
        if let Some(known) = self.0.borrow().links.get(&id) {
            return known.clone();
        }
        let documents = symbols.documents().iter().take(MAX_DOCUMENTS);
        let links = documents.filter_map(|(recorded, document)| {
            let path = self.here(recorded);
            let is_link = path.is_absolute()
                && path
                    .symlink_metadata()
                    .is_ok_and(|it| it.file_type().is_symlink());
            let target = is_link.then(|| path.canonicalize().ok()).flatten()?;
            (target.file_name() != path.file_name()).then(|| Link {
                target,
                path: path.display().to_string(),
                document,
            })
        });
        let links: Rc<[Link]> = links.collect();
        self.0.borrow_mut().links.insert(id, links.clone());
        links
    }

    /// Whether a file is the one that was compiled; `None` if that cannot be told.
    pub(crate) fn is_as_compiled(&self, file: &Path, document: &Document<'_>) -> Option<bool> {
        let algorithm = document.hash_algorithm().ok()??;
        let hash = document.hash().ok().filter(|hash| !hash.is_empty())?;
        let data = std::fs::metadata(file).ok()?;
        if !data.is_file() || data.len() > MAX_SOURCE {
            return None;
        }
        let mark = FileMark(data.modified().ok(), data.len());
        let key = (file.to_owned(), hash.to_vec());
        if let Some((known, verdict)) = self.0.borrow().verdicts.get(&key)
            && *known == mark
        {
            return Some(*verdict);
        }
        let bytes = std::fs::read(file).ok()?;
        let same = |bytes: &[u8]| metadata::checksum(algorithm, bytes).map(|it| it == hash);
        // Version control may have changed the ends of lines, and nothing else.
        let verdict = same(&bytes)? || same(&with_line_feeds(&bytes))? || same(&with_both(&bytes))?;
        let verdicts = &mut self.0.borrow_mut().verdicts;
        if verdicts.len() >= MAX_VERDICTS {
            verdicts.clear();
        }
        verdicts.insert(key, (mark, verdict));
        Some(verdict)
    }
}

fn with_line_feeds(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for (at, &byte) in bytes.iter().enumerate() {
        if byte != b'\r' || bytes.get(at + 1) != Some(&b'\n') {
            out.push(byte);
        }
    }
    out
}

fn with_both(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + bytes.len() / 16);
    for byte in with_line_feeds(bytes) {
        if byte == b'\n' {
            out.push(b'\r');
        }
        out.push(byte);
    }
    out
}

/// Folders and file name of a path of any system.
pub(crate) fn parts(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.split(['/', '\\'])
        .filter(|part| !part.is_empty() && *part != ".")
}

fn map_path(map: &SourceMap, recorded: &str) -> Option<String> {
    let rooted = |path: &str| path.starts_with(['/', '\\']);
    if rooted(&map.from) != rooted(recorded) {
        return None;
    }
    let windows = map.from.contains('\\') || map.from.get(1..2) == Some(":");
    let mut rest = parts(recorded);
    for part in parts(&map.from) {
        let same = |it: &str| it == part || (windows && it.eq_ignore_ascii_case(part));
        rest.next().filter(|it| same(it))?;
    }
    let mut mapped = map.to.trim_end_matches(['/', '\\']).to_owned();
    for part in rest {
        mapped.push('/');
        mapped.push_str(part);
    }
    Some(mapped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(from: &str, to: &str, recorded: &str, expected: Option<&str>) {
        let map = SourceMap {
            from: from.into(),
            to: to.into(),
        };
        assert_eq!(map_path(&map, recorded).as_deref(), expected);
    }

    #[test]
    fn maps_replace_whole_folders() {
        check("/_/", "/home/me", "/_/src/A.cs", Some("/home/me/src/A.cs"));
        check("/_", "/home/me/", "/_/A.cs", Some("/home/me/A.cs"));
        check(r"C:\Build", "/me", r"c:\build\x\A.cs", Some("/me/x/A.cs"));
        check("/src", "/me", "/srcs/A.cs", None);
        check("/src", "/me", "src/A.cs", None);
        check("src", "/me", "src/A.cs", Some("/me/A.cs"));
        check("/src/A.cs", "/me/B.cs", "/src/A.cs", Some("/me/B.cs"));
    }

    #[test]
    fn the_longest_map_counts_and_empty_ones_are_refused() {
        let files = SourceFiles::default();
        let map = |from: &str, to: &str| SourceMap {
            from: from.into(),
            to: to.into(),
        };
        files
            .set_maps(vec![map("/_", "/a"), map("/_/lib", "/b")])
            .expect("maps");
        assert_eq!(files.mapped("/_/lib/X.cs").as_deref(), Some("/b/X.cs"));
        assert_eq!(files.here("/other/X.cs"), Path::new("/other/X.cs"));
        for (from, to) in [("", "/a"), ("/", "/a"), ("/a", " ")] {
            assert!(files.set_maps(vec![map(from, to)]).is_err());
        }
    }

    #[test]
    fn ends_of_lines_do_not_make_another_file() {
        assert_eq!(with_line_feeds(b"a\r\nb\n\rc"), b"a\nb\n\rc");
        assert_eq!(with_both(b"a\r\nb\n"), b"a\r\nb\r\n");
    }
}
