//! What can go wrong: bytes that break a format, and files that are not what was hoped for.
//!
//! Every reader in this crate is total: it returns a value or one of these errors, for any bytes.

/// The bytes do not follow the format.
///
/// `at` counts from the start of the structure being read: the blob for signatures and sequence points,
/// the table for rows, the heap for heap items, the file for PE headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("malformed {what} at offset {at:#x}")]
pub struct Malformed {
    /// The structure that was being read.
    pub what: &'static str,
    /// Where in it the reader stopped.
    pub at: usize,
}

impl Malformed {
    /// Names a structure and the offset at which it stopped making sense.
    #[must_use]
    pub const fn new(what: &'static str, at: usize) -> Self {
        Self { what, at }
    }
}

/// The result of reading one structure.
pub type Result<T, E = Malformed> = std::result::Result<T, E>;

/// Why a file could not be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file does not begin like a PE image.
    #[error("not a .NET assembly: the file is not a PE image")]
    NotAnImage,
    /// The image is native code without a CLI header.
    #[error("not a .NET assembly: the image is native code and has no CLI header")]
    Native,
    /// A part that the headers announce lies behind the end of the file.
    #[error("the file is truncated: {what} ends at byte {needed}, but the file has {have}")]
    Truncated {
        /// The part that is cut off.
        what: &'static str,
        /// Where that part should end.
        needed: u64,
        /// How long the file is.
        have: u64,
    },
    /// The file is neither a portable nor a Windows PDB.
    #[error("not a portable PDB")]
    NotAPdb,
    /// The file is a PDB of the native Windows format.
    #[error(
        "a Windows PDB, which only Windows tools read; build with <DebugType>portable</DebugType>"
    )]
    WindowsPdb,
    /// The metadata is well formed but has no debug tables, so it belongs to an assembly.
    #[error("metadata without debug tables: this is an assembly, not a PDB")]
    NoDebugTables,
    /// A compressed part declares a size above the limit.
    #[error("{what} declares {size} bytes, more than the limit of {limit}")]
    TooLarge {
        /// The compressed part.
        what: &'static str,
        /// The size it declares.
        size: u64,
        /// The largest size accepted.
        limit: u64,
    },
    /// The bytes do not follow the format.
    #[error(transparent)]
    Malformed(#[from] Malformed),
}
