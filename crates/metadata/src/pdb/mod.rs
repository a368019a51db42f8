//! Portable PDBs: documents, sequence points, local scopes, imports, and the blobs that compilers add.
//!
//! The format is that of the Portable PDB specification, an extension of ECMA-335 metadata. Rows are found by the assembly's method
//! tokens; a PDB knows no names of types or methods.

mod all_points;
mod custom;
mod documents;
mod edit_and_continue;
mod imports;
mod scopes;
mod sequence_points;
mod source_link;

use crate::cursor::Cursor;
use crate::error::{Error, Malformed, Result};
use crate::guid::Guid;
use crate::pe::PdbId;
use crate::tables::{Key, Layout, STREAM_HEADER, StateMachineMethodRow, Table};
use crate::token::Token;
use crate::view::Metadata;

pub use self::custom::{
    AsyncStepping, Await, CustomDebugInformation, CustomKind, HoistedScope, Reference,
};
pub use self::documents::{Document, HashAlgorithm, Language};
pub use self::edit_and_continue::{LambdaMap, LocalSlot, StateMap};
pub use self::imports::Import;
pub use self::scopes::{LocalConstant, LocalConstantValue, LocalScope, LocalVariable};
pub use self::sequence_points::{SequencePoint, SequencePoints, Span};
pub use self::source_link::SourceLink;

/// What a Windows PDB begins with.
const WINDOWS_PDB_MAGIC: &[u8] = b"Microsoft C/C++ MSF 7.00\r\n";

/// Parses the layout of a portable PDB, with errors that name what the file is instead.
pub fn parse_layout(bytes: &[u8]) -> Result<Layout, Error> {
    if bytes.starts_with(WINDOWS_PDB_MAGIC) {
        return Err(Error::WindowsPdb);
    }
    if !bytes.starts_with(b"BSJB") {
        return Err(Error::NotAPdb);
    }
    let layout = Layout::parse(bytes).map_err(|error| cut_off(bytes, error))?;
    if layout.pdb.is_none() {
        return Err(Error::NoDebugTables);
    }
    Ok(layout)
}

/// A PDB is a file of its own, so a stream that ends behind it was cut off.
fn cut_off(bytes: &[u8], error: Malformed) -> Error {
    let range = || {
        let mut cursor = Cursor::new(bytes.get(error.at..)?, "stream header");
        Some((cursor.u32().ok()?, cursor.u32().ok()?))
    };
    match range() {
        Some((start, size)) if error.what == STREAM_HEADER => Error::Truncated {
            what: "a stream of the PDB",
            needed: u64::from(start) + u64::from(size),
            have: bytes.len() as u64,
        },
        _ => error.into(),
    }
}

/// A portable PDB, borrowed from its bytes.
#[derive(Debug, Clone, Copy)]
pub struct Pdb<'a> {
    metadata: Metadata<'a>,
}

impl<'a> Pdb<'a> {
    /// Views the metadata of a portable PDB.
    #[must_use]
    pub const fn new(metadata: Metadata<'a>) -> Self {
        Self { metadata }
    }

    /// The tables and heaps.
    #[must_use]
    pub const fn metadata(self) -> Metadata<'a> {
        self.metadata
    }

    /// The id that the assembly must name.
    pub fn id(self) -> Result<PdbId> {
        let mut header = self.header()?;
        let guid = header
            .take(16)?
            .first_chunk()
            .copied()
            .map(Guid)
            .unwrap_or_default();
        Ok(PdbId {
            guid,
            stamp: header.u32()?,
        })
    }

    /// The entry point's method in the assembly.
    pub fn entry_point(self) -> Result<Option<Token>> {
        let mut header = self.header()?;
        header.take(20)?;
        Ok(Token(header.u32()?).non_nil())
    }

    fn header(self) -> Result<Cursor<'a>> {
        let stream = self
            .metadata
            .pdb_stream()
            .ok_or(Malformed::new("#Pdb stream", 0))?;
        Ok(Cursor::new(stream, "#Pdb stream"))
    }

    /// The method that a person wrote, for the `MoveNext` of its state machine.
    pub fn kickoff_method(self, move_next: Token) -> Result<Option<Token>> {
        let mut rows = self
            .metadata
            .rows_where(Key::StateMachineMoveNext, move_next.row());
        let Some(row) = rows.next() else {
            return Ok(None);
        };
        Ok(self
            .metadata
            .row::<StateMachineMethodRow>(row)?
            .kickoff
            .non_nil())
    }

    /// The `MoveNext` that runs the body of an async or iterator method.
    pub fn move_next_method(self, kickoff: Token) -> Result<Option<Token>> {
        let mut rows = self
            .metadata
            .rows_where(Key::StateMachineKickoff, kickoff.row());
        let Some(row) = rows.next() else {
            return Ok(None);
        };
        Ok(self
            .metadata
            .row::<StateMachineMethodRow>(row)?
            .move_next
            .non_nil())
    }

    /// How many methods the PDB has rows for, with or without sequence points.
    #[must_use]
    pub fn method_count(self) -> u32 {
        self.metadata.row_count(Table::MethodDebugInformation)
    }
}
