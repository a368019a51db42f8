//! Files as bytes, mapped and not copied.

use std::fs::File;
use std::io;
use std::path::Path;

/// A mapped file. A program may truncate it under us, which ends this process: one session, never the front end.
#[derive(Debug)]
pub struct MappedFile(memmap2::Mmap);

impl MappedFile {
    /// Maps a regular file.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "not a regular file",
            ));
        }
        // SAFETY: the mapping is private and read-only. Assemblies and PDBs are replaced, not rewritten, by every
        // build tool; see the type's comment for one that does otherwise.
        Ok(Self(unsafe { memmap2::Mmap::map(&file)? }))
    }
}

impl AsRef<[u8]> for MappedFile {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}
