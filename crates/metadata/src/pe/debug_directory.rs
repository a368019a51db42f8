//! The debug directory: how an image names its PDB, or carries it along.

use std::borrow::Cow;
use std::fmt;

use super::Image;
use crate::cursor::Cursor;
use crate::error::{Error, Malformed, Result};
use crate::guid::Guid;

/// Portable PDBs mark their CodeView entry with this minor version.
const PORTABLE_CODEVIEW: u16 = 0x504d;
const CODEVIEW_SIGNATURE: u32 = 0x5344_5352;
const EMBEDDED_SIGNATURE: u32 = 0x4244_504d;

/// The kind of a debug directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DebugKind {
    /// The PDB's path and id.
    CodeView,
    /// The build is reproducible: timestamps are hashes.
    Reproducible,
    /// A deflated portable PDB.
    EmbeddedPortablePdb,
    /// A hash of the PDB.
    PdbChecksum,
    /// A map of ahead-of-time compiled code for profilers.
    PerfMap,
    /// Any other kind.
    Other(u32),
}

/// One entry of the debug directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DebugEntry {
    /// The timestamp field, part of a portable PDB's id.
    pub stamp: u32,
    /// Major version of the data.
    pub major: u16,
    /// Minor version of the data.
    pub minor: u16,
    /// What the data is.
    pub kind: DebugKind,
    /// The data's size.
    pub size: u32,
    /// The data's RVA, 0 if it is not loaded.
    pub rva: u32,
    /// The data's offset in the file.
    pub offset: u32,
}

impl DebugEntry {
    pub(super) fn read(bytes: &[u8; 28]) -> Self {
        let word = |at: usize| {
            let chunk = bytes.get(at..).and_then(|rest| rest.first_chunk());
            u32::from_le_bytes(chunk.copied().unwrap_or_default())
        };
        let version = word(8);
        Self {
            stamp: word(4),
            major: version as u16,
            minor: (version >> 16) as u16,
            kind: match word(12) {
                2 => DebugKind::CodeView,
                16 => DebugKind::Reproducible,
                17 => DebugKind::EmbeddedPortablePdb,
                19 => DebugKind::PdbChecksum,
                21 => DebugKind::PerfMap,
                other => DebugKind::Other(other),
            },
            size: word(16),
            rva: word(20),
            offset: word(24),
        }
    }
}

/// What ties a portable PDB to its assembly: 20 bytes in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PdbId {
    /// The first 16 bytes, in the assembly the CodeView GUID.
    pub guid: Guid,
    /// The last 4 bytes, in the assembly the CodeView entry's timestamp.
    pub stamp: u32,
}

impl fmt::Display for PdbId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{:08x}", self.guid, self.stamp)
    }
}

/// The CodeView entry of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeView<'a> {
    /// The id the PDB must have.
    pub id: PdbId,
    /// How often the PDB was rewritten; 1 for portable ones.
    pub age: u32,
    /// The PDB's path at build time.
    pub path: Cow<'a, str>,
    /// Whether the PDB is a portable one; else it is a Windows PDB.
    pub is_portable: bool,
}

/// A hash of the PDB, with its id's bytes set to zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PdbChecksum<'a> {
    /// The algorithm's name, such as `SHA256`.
    pub algorithm: Cow<'a, str>,
    /// The hash.
    pub hash: &'a [u8],
}

impl<'a> Image<'a> {
    fn debug_data_of(self, kind: DebugKind) -> impl Iterator<Item = (&'a DebugEntry, &'a [u8])> {
        let entries = self
            .debug_entries()
            .iter()
            .filter(move |entry| entry.kind == kind);
        entries.filter_map(move |entry| Some((entry, self.debug_data(entry)?)))
    }

    /// The content of one CodeView entry.
    pub fn code_view_of(self, entry: &DebugEntry) -> Result<CodeView<'a>> {
        let data = self.debug_data(entry).unwrap_or_default();
        let mut cursor = Cursor::new(data, "CodeView entry");
        let bad = cursor.bad();
        if entry.kind != DebugKind::CodeView || cursor.u32()? != CODEVIEW_SIGNATURE {
            return Err(bad);
        }
        let guid = cursor
            .take(16)?
            .first_chunk()
            .copied()
            .map(Guid)
            .unwrap_or_default();
        let age = cursor.u32()?;
        let path = cursor
            .rest()
            .split(|&byte| byte == 0)
            .next()
            .unwrap_or_default();
        Ok(CodeView {
            id: PdbId {
                guid,
                stamp: entry.stamp,
            },
            age,
            path: String::from_utf8_lossy(path),
            is_portable: entry.minor == PORTABLE_CODEVIEW,
        })
    }

    /// The PDB that the image names; ready-to-run images may name two, the portable one counts.
    pub fn code_view(self) -> Result<Option<CodeView<'a>>> {
        let is_code_view = |it: &&DebugEntry| it.kind == DebugKind::CodeView;
        let entries = self.debug_entries().iter().filter(is_code_view);
        let portable = entries.clone().find(|it| it.minor == PORTABLE_CODEVIEW);
        let entry = portable.or_else(|| entries.clone().next());
        entry.map(|it| self.code_view_of(it)).transpose()
    }

    /// The hashes of the PDB that the image carries.
    pub fn pdb_checksums(self) -> impl Iterator<Item = Result<PdbChecksum<'a>>> {
        self.debug_data_of(DebugKind::PdbChecksum).map(|(_, data)| {
            let mut cursor = Cursor::new(data, "PDB checksum");
            let algorithm = String::from_utf8_lossy(cursor.until_nul()?);
            Ok(PdbChecksum {
                algorithm,
                hash: cursor.rest(),
            })
        })
    }

    /// Whether the image says that its build is reproducible.
    #[must_use]
    pub fn is_reproducible(self) -> bool {
        self.debug_entries()
            .iter()
            .any(|entry| entry.kind == DebugKind::Reproducible)
    }

    /// The embedded portable PDB, inflated; at most `limit` bytes are made.
    pub fn embedded_pdb(self, limit: usize) -> Result<Option<Vec<u8>>, Error> {
        let Some((_, data)) = self.debug_data_of(DebugKind::EmbeddedPortablePdb).next() else {
            return Ok(None);
        };
        let mut cursor = Cursor::new(data, "embedded PDB");
        if cursor.u32()? != EMBEDDED_SIGNATURE {
            return Err(Malformed::new("embedded PDB", 0).into());
        }
        let size = cursor.u32()?;
        inflate(cursor.rest(), size, limit, "embedded PDB").map(Some)
    }
}

/// Inflates raw deflate data that declares its size; the declared size is a bound, not a promise.
pub(crate) fn inflate(
    data: &[u8],
    size: u32,
    limit: usize,
    what: &'static str,
) -> Result<Vec<u8>, Error> {
    let declared = size as usize;
    if declared > limit {
        return Err(Error::TooLarge {
            what,
            size: u64::from(size),
            limit: limit as u64,
        });
    }
    let inflated = miniz_oxide::inflate::decompress_to_vec_with_limit(data, declared);
    let inflated = inflated.map_err(|_| Malformed::new(what, 0))?;
    if inflated.len() == declared {
        Ok(inflated)
    } else {
        Err(Malformed::new(what, inflated.len()).into())
    }
}
