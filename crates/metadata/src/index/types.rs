//! Types by name.
//!
//! The index holds eight bytes per type: a hash of its full name and its token. Names are compared in the heap.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::model::TypeDef;
use crate::tables::{ExportedTypeRow, NestedClassRow, Table, TypeDefRow};
use crate::token::{StringHandle, Token};
use crate::view::Metadata;

/// Types of a module, and types it forwards elsewhere, by full name.
#[derive(Debug, Default)]
pub struct TypeIndex {
    /// How many names were looked for without `entries`.
    n_scans: AtomicU32,
    entries: OnceLock<Box<[(u32, Token)]>>,
}

/// After so many names it pays to hash all of them.
const MAX_SCANS: u32 = 8;

/// FNV-1a; all marks between names count as the same, so `A.B` finds `A+B`.
#[derive(Clone, Copy)]
struct NameHash(u32);

impl NameHash {
    const NEW: Self = Self(0x811c_9dc5);

    fn with(self, bytes: &[u8]) -> Self {
        let fold = |hash: u32, &byte: &u8| {
            let byte = if is_separator(byte) { b'.' } else { byte };
            (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
        };
        Self(bytes.iter().fold(self.0, fold))
    }
}

const fn is_separator(byte: u8) -> bool {
    matches!(byte, b'.' | b'+' | b'/')
}

/// The part of a name before its arity mark.
fn without_arity(name: &[u8]) -> &[u8] {
    let Some(mark) = name.iter().rposition(|&byte| byte == b'`') else {
        return name;
    };
    let (bare, arity) = name.split_at(mark);
    let digits = arity.get(1..).unwrap_or_default();
    if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) {
        bare
    } else {
        name
    }
}

/// A type's own name and what it lies in, for types of both tables.
struct Part {
    namespace: StringHandle,
    name: StringHandle,
    outer: u32,
}

impl Part {
    const UNREADABLE: Self = Self {
        namespace: StringHandle(0),
        name: StringHandle(0),
        outer: 0,
    };
}

/// Hashes of the names of all types, sorted.
fn build(metadata: Metadata<'_>) -> Box<[(u32, Token)]> {
    let mut parts: Vec<Part> = metadata
        .rows::<TypeDefRow>()
        .map(|(_, row)| match row {
            Ok(row) => Part {
                namespace: row.namespace,
                name: row.name,
                outer: 0,
            },
            Err(_) => Part::UNREADABLE,
        })
        .collect();
    for (_, row) in metadata.rows::<NestedClassRow>() {
        let Ok(row) = row else { continue };
        let index = row.nested.row().checked_sub(1);
        if let Some(part) = index.and_then(|index| parts.get_mut(index as usize)) {
            part.outer = row.enclosing.row();
        }
    }
    let mut entries = Vec::with_capacity(parts.len());
    add(metadata, &parts, Table::TypeDef, &mut entries);

    let exported: Vec<Part> = metadata
        .rows::<ExportedTypeRow>()
        .map(|(_, row)| match row {
            Ok(row) => {
                let outer = row.implementation;
                let outer = if outer.is(Table::ExportedType) {
                    outer.row()
                } else {
                    0
                };
                Part {
                    namespace: row.namespace,
                    name: row.name,
                    outer,
                }
            }
            Err(_) => Part::UNREADABLE,
        })
        .collect();
    add(metadata, &exported, Table::ExportedType, &mut entries);
    entries.sort_unstable();
    entries.into()
}

/// Types whose own name is the last part of `wanted`, found by looking at every type.
fn scan(metadata: Metadata<'_>, wanted: &[u8]) -> Vec<Token> {
    let last = wanted
        .iter()
        .rposition(|&byte| is_separator(byte))
        .map_or(0, |at| at + 1);
    let last = wanted.get(last..).unwrap_or_default();
    // Flags come first in a row of types, flags and a hint in one of exported types.
    let tables = [(Table::TypeDef, 1), (Table::ExportedType, 2)];
    let mut found = Vec::new();
    for (table, column) in tables {
        let names = metadata.column(table, column).map(StringHandle);
        let named = (1..)
            .zip(names)
            .filter(|&(_, name)| metadata.string_starts(name, last));
        found.extend(named.map(|(row, _)| Token::new(table, row)));
    }
    found
}

impl TypeIndex {
    /// The types named `full_name`, this module's own before forwarded ones (`ExportedType` tokens).
    ///
    /// Nested types are written `Outer+Inner`, `Outer.Inner` or `Outer/Inner`. The arity mark of the last name may be
    /// left out, then types of every arity are found. An exact match comes before others.
    #[must_use]
    pub fn find(&self, metadata: Metadata<'_>, full_name: &str) -> Vec<Token> {
        let wanted = full_name.as_bytes();
        if self.entries.get().is_none() && self.n_scans.fetch_add(1, Ordering::Relaxed) < MAX_SCANS
        {
            let found = check(metadata, wanted, scan(metadata, wanted));
            // A name with a separator in it is only found by its hash.
            if !found.is_empty() {
                return found;
            }
        }
        let entries = self.entries.get_or_init(|| build(metadata));
        let hash = NameHash::NEW.with(wanted).0;
        let start = entries.partition_point(|&(it, _)| it < hash);
        let entries = entries.get(start..).unwrap_or_default().iter();
        let candidates = entries
            .take_while(|&&(it, _)| it == hash)
            .map(|&(_, token)| token);
        check(metadata, wanted, candidates.collect())
    }

    /// The type of this module that is named `full_name`; the first if several fit.
    #[must_use]
    pub fn find_def<'a>(&self, metadata: Metadata<'a>, full_name: &str) -> Option<TypeDef<'a>> {
        let token = self
            .find(metadata, full_name)
            .into_iter()
            .find(|it| it.is(Table::TypeDef))?;
        metadata.type_def(token).ok()
    }
}

/// Those of the candidates that have the name, exact matches first.
fn check(metadata: Metadata<'_>, wanted: &[u8], candidates: Vec<Token>) -> Vec<Token> {
    let found = candidates.into_iter().filter_map(|token| {
        let name = metadata.full_name(token).ok()?;
        let name = name.as_bytes();
        let same = matches(name, wanted) || matches(without_arity(name), wanted);
        same.then_some((name != wanted, token))
    });
    let mut found: Vec<(bool, Token)> = found.collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(|(_, token)| token).collect()
}

fn matches(name: &[u8], wanted: &[u8]) -> bool {
    let same = |(a, b): (&u8, &u8)| a == b || is_separator(*a) && is_separator(*b);
    name.len() == wanted.len() && name.iter().zip(wanted).all(same)
}

/// Adds the hashes of all types of one table; types whose names cannot be read are left out.
fn add(metadata: Metadata<'_>, parts: &[Part], table: Table, entries: &mut Vec<(u32, Token)>) {
    let part = |row: u32| {
        row.checked_sub(1)
            .and_then(|index| parts.get(index as usize))
    };
    // Hashes of full names by row; a chain of outer types is walked until one is known.
    let mut known: Vec<Option<NameHash>> = vec![None; parts.len() + 1];
    let mut chain = Vec::new();
    for row in (1_u32..).take(parts.len()) {
        chain.clear();
        let mut next = row;
        // Longer chains are cycles; the limit is that of `Metadata::type_path`.
        while chain.len() < 64 && known.get(next as usize).is_some_and(Option::is_none) {
            let Some(part) = part(next) else { break };
            chain.push(next);
            next = part.outer;
        }
        while let Some(inner) = chain.pop() {
            let Some(part) = part(inner) else { break };
            let Ok(name) = metadata.string_bytes(part.name) else {
                break;
            };
            let outer = if part.outer == 0 {
                let Ok(namespace) = metadata.string_bytes(part.namespace) else {
                    break;
                };
                let hash = NameHash::NEW.with(namespace);
                Some(if namespace.is_empty() {
                    hash
                } else {
                    hash.with(b".")
                })
            } else {
                let outer = known.get(part.outer as usize).copied().flatten();
                outer.map(|hash| hash.with(b"+"))
            };
            let Some(outer) = outer else { break };
            let hash = outer.with(name);
            if let Some(slot) = known.get_mut(inner as usize) {
                *slot = Some(hash);
            }
            let token = Token::new(table, inner);
            entries.push((hash.0, token));
            let bare = without_arity(name);
            if bare.len() != name.len() {
                entries.push((outer.with(bare).0, token));
            }
        }
    }
}
