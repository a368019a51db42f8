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
        let mut hashes = Vec::new();
        for (_, row) in metadata.rows::<TypeDefRow>() {
            let name = row.and_then(|row| metadata.string_bytes(row.name));
            let Ok(name) = name else { continue };
            let name = without_arity(name);
            hashes.push(hash(name));
            // `<File>F01__Name`: a type that only its file sees is called by the last part.
            if name.starts_with(b"<")
                && let Some(mark) = name.windows(2).rposition(|window| window == b"__")
            {
                hashes.extend(name.get(mark + 2..).map(hash));
            }
        }
        hashes.sort_unstable();
        hashes.dedup();
        Self(hashes.into())
    }

    /// Whether a type of metadata may be called so, given its name without arity mark.
    pub(crate) fn may_have(&self, name: &str) -> bool {
        self.0.binary_search(&hash(name.as_bytes())).is_ok()
    }

    /// Whether a type may be called so; never `false` for one that is.
    pub(super) fn may_contain(&self, name: &str) -> bool {
        // `int` and its like are names of C#, not of metadata.
        let keyword = name.bytes().all(|byte| byte.is_ascii_lowercase());
        keyword || self.0.binary_search(&hash(name.as_bytes())).is_ok()
    }
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
