//! Which names a module's types have, to tell at once that a module cannot have a method that is looked for.
//!
//! A program loads hundreds of modules, and a breakpoint on a method may wait for one that never comes: looking at
//! every method of every module would cost more than starting the program.

use metadata::Metadata;
use metadata::tables::TypeDefRow;

/// Hashes of the simple names of a module's types, in order. Four bytes each.
#[derive(Debug)]
pub(crate) struct TypeNames(Box<[u32]>);

impl TypeNames {
    /// Reads the names; one that cannot be read is left out.
    pub(crate) fn of(metadata: Metadata<'_>) -> Self {
        let mut hashes: Vec<u32> = all(metadata).collect();
        hashes.sort_unstable();
        hashes.dedup();
        Self(hashes.into())
    }

    /// Whether a module may have a type of one of these names, of which each method that is looked for gives some; one that
    /// gives none may be anywhere. For a module that is looked at once, and of which nothing is to be kept.
    pub(crate) fn any_of<'n, N: Iterator<Item = &'n str>>(
        metadata: Metadata<'_>,
        wanted: impl Iterator<Item = N>,
    ) -> bool {
        let mut hashes = Vec::new();
        for names in wanted {
            let before = hashes.len();
            for name in names {
                if is_keyword(name) {
                    return true;
                }
                hashes.push(hash(name.as_bytes()));
            }
            if hashes.len() == before {
                return true;
            }
        }
        hashes.sort_unstable();
        all(metadata).any(|name| hashes.binary_search(&name).is_ok())
    }

    /// Whether a type of metadata may be called so, given its name without arity mark.
    pub(crate) fn may_have(&self, name: &str) -> bool {
        self.0.binary_search(&hash(name.as_bytes())).is_ok()
    }

    /// Whether a type may be called so; never `false` for one that is.
    pub(super) fn may_contain(&self, name: &str) -> bool {
        is_keyword(name) || self.0.binary_search(&hash(name.as_bytes())).is_ok()
    }
}

/// The hashes of all names, some of them several times.
fn all(metadata: Metadata<'_>) -> impl Iterator<Item = u32> {
    let names = metadata
        .rows::<TypeDefRow>()
        .filter_map(move |(_, row)| row.and_then(|row| metadata.string_bytes(row.name)).ok());
    names.flat_map(|name| {
        let name = without_arity(name);
        // `<File>F01__Name`: a type that only its file sees is called by the last part.
        let mark = name
            .starts_with(b"<")
            .then(|| name.windows(2).rposition(|window| window == b"__"));
        let last = mark.flatten().and_then(|mark| name.get(mark + 2..));
        std::iter::once(hash(name)).chain(last.map(hash))
    })
}

/// `int` and its like are names of C#, not of metadata.
fn is_keyword(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_lowercase())
}

fn without_arity(name: &[u8]) -> &[u8] {
    let mark = name.iter().position(|&byte| byte == b'`');
    mark.and_then(|mark| name.get(..mark)).unwrap_or(name)
}

/// FNV-1a.
fn hash(name: &[u8]) -> u32 {
    name.iter().fold(0x811c_9dc5, |hash, &byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}
