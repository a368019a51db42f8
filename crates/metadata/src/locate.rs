//! Finding the PDB of a module, and saying clearly whether a file is the right one.
//!
//! Nothing here opens files: the caller reads what is asked for.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::bytes::Bytes;
use crate::error::{Error, Result};
use crate::module::Module;
use crate::pe::PdbId;
use crate::symbols::Symbols;

/// Embedded PDBs above this size are refused; the largest known are below a tenth of it.
const MAX_EMBEDDED_PDB: usize = 256 << 20;

/// Where a PDB may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PdbLocation {
    /// Inside the image.
    Embedded,
    /// In the folder of the image.
    Beside(PathBuf),
    /// At the path that the compiler wrote to.
    Recorded(PathBuf),
}

impl fmt::Display for PdbLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded => f.write_str("embedded in the image"),
            Self::Beside(path) | Self::Recorded(path) => write!(f, "{}", path.display()),
        }
    }
}

/// Whether a PDB belongs to a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PdbVerdict {
    /// The ids are the same.
    Matches,
    /// The PDB is of another build.
    Differs {
        /// The id that the module names; `None` if it names no PDB at all.
        expected: Option<PdbId>,
        /// The id of the PDB.
        found: PdbId,
    },
    /// There is no such file.
    Missing,
    /// The file is a Windows PDB.
    WindowsPdb,
    /// The file cannot be read as a PDB.
    Unreadable(Error),
}

impl fmt::Display for PdbVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Matches => f.write_str("matches"),
            Self::Differs {
                expected: Some(expected),
                found,
            } => {
                write!(
                    f,
                    "differs: the assembly wants {expected}, the PDB is {found} (another build)"
                )
            }
            Self::Differs {
                expected: None,
                found,
            } => {
                write!(f, "differs: the assembly names no PDB, this one is {found}")
            }
            Self::Missing => f.write_str("missing"),
            Self::WindowsPdb => write!(f, "windows-pdb: {}", Error::WindowsPdb),
            Self::Unreadable(error) => write!(f, "unreadable: {error}"),
        }
    }
}

/// What a search for a module's PDB came to.
#[derive(Debug, Clone)]
pub struct PdbSearch {
    /// The PDB, if one matches.
    pub symbols: Option<Symbols>,
    /// Every place that was tried, in order; the last one is that of `symbols`.
    pub tried: Vec<(PdbLocation, PdbVerdict)>,
}

impl Module {
    /// The id of the PDB that the module names.
    pub fn pdb_id(&self) -> Result<Option<PdbId>> {
        Ok(self.image().code_view()?.map(|it| it.id))
    }

    /// Where the module's PDB may be, the likeliest first. `path` is that of the module, if it has one.
    pub fn pdb_locations(&self, path: Option<&Path>) -> Result<Vec<PdbLocation>> {
        let image = self.image();
        let is_embedded =
            |it: &crate::pe::DebugEntry| it.kind == crate::pe::DebugKind::EmbeddedPortablePdb;
        let mut locations = Vec::new();
        if image.debug_entries().iter().any(is_embedded) {
            locations.push(PdbLocation::Embedded);
        }
        let recorded = image
            .code_view()?
            .map(|it| it.path.into_owned())
            .filter(|it| !it.is_empty());
        // The path may be one of another system.
        let name = recorded
            .as_deref()
            .and_then(|it| it.rsplit(['/', '\\']).next());
        if let Some(folder) = path.and_then(Path::parent) {
            if let Some(name) = name {
                locations.push(PdbLocation::Beside(folder.join(name)));
            }
            if let Some(renamed) = path.map(|path| path.with_extension("pdb")) {
                locations.push(PdbLocation::Beside(renamed));
            }
        }
        let recorded = recorded.map(PathBuf::from).filter(|it| it.is_absolute());
        locations.extend(recorded.map(PdbLocation::Recorded));
        let mut seen: Vec<PathBuf> = Vec::new();
        locations.retain(|location| match location {
            PdbLocation::Embedded => true,
            PdbLocation::Beside(path) | PdbLocation::Recorded(path) => {
                let is_new = !seen.contains(path);
                seen.push(path.clone());
                is_new
            }
        });
        Ok(locations)
    }

    /// The PDB inside the image, if it has one.
    pub fn embedded_symbols(&self) -> Result<Option<Symbols>, Error> {
        self.image()
            .embedded_pdb(MAX_EMBEDDED_PDB)?
            .map(Symbols::open)
            .transpose()
    }

    /// Whether a PDB belongs to the module.
    pub fn verdict(&self, symbols: &Symbols) -> Result<PdbVerdict> {
        let (expected, found) = (self.pdb_id()?, symbols.pdb().id()?);
        Ok(if expected == Some(found) {
            PdbVerdict::Matches
        } else {
            PdbVerdict::Differs { expected, found }
        })
    }

    /// Looks for the module's PDB in all its places; `read` opens a file or says that there is none.
    pub fn find_symbols(
        &self,
        path: Option<&Path>,
        read: impl Fn(&Path) -> Option<Bytes>,
    ) -> Result<PdbSearch> {
        let mut tried = Vec::new();
        for location in self.pdb_locations(path)? {
            let opened = match &location {
                PdbLocation::Embedded => self.embedded_symbols(),
                PdbLocation::Beside(path) | PdbLocation::Recorded(path) => {
                    read(path).map(Symbols::open).transpose()
                }
            };
            let (verdict, symbols) = match opened {
                Ok(Some(symbols)) => match self.verdict(&symbols) {
                    Ok(verdict) => (verdict, Some(symbols)),
                    Err(error) => (PdbVerdict::Unreadable(error.into()), None),
                },
                Ok(None) => (PdbVerdict::Missing, None),
                Err(Error::WindowsPdb) => (PdbVerdict::WindowsPdb, None),
                Err(error) => (PdbVerdict::Unreadable(error), None),
            };
            let found = verdict == PdbVerdict::Matches;
            tried.push((location, verdict));
            if found {
                return Ok(PdbSearch { symbols, tried });
            }
        }
        Ok(PdbSearch {
            symbols: None,
            tried,
        })
    }
}
