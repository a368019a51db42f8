//! An opened portable PDB that owns its bytes, and the indexes over it.

use std::sync::{Arc, OnceLock};

use crate::bytes::Bytes;
use crate::error::{Error, Result};
use crate::index::{DocumentIndex, LineIndex};
use crate::pdb::{self, Pdb};
use crate::tables::Layout;
use crate::view::Metadata;

/// A portable PDB: cheap to clone, safe to share, borrowed from nowhere.
///
/// Opening reads headers only; indexes are built when first asked for and then kept.
#[derive(Debug, Clone)]
pub struct Symbols(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    bytes: Bytes,
    layout: Layout,
    documents: OnceLock<DocumentIndex>,
    lines: OnceLock<LineIndex>,
}

impl Symbols {
    /// Opens a portable PDB.
    pub fn open(bytes: impl Into<Bytes>) -> Result<Self, Error> {
        let bytes = bytes.into();
        let layout = pdb::parse_layout(&bytes)?;
        let (documents, lines) = (OnceLock::new(), OnceLock::new());
        Ok(Self(Arc::new(Inner {
            bytes,
            layout,
            documents,
            lines,
        })))
    }

    /// The PDB's content.
    #[must_use]
    pub fn pdb(&self) -> Pdb<'_> {
        Pdb::new(Metadata::new(&self.0.bytes, &self.0.layout))
    }

    pub(crate) fn document_index(&self) -> &DocumentIndex {
        self.0
            .documents
            .get_or_init(|| DocumentIndex::new(self.pdb()))
    }

    pub(crate) fn line_index(&self) -> &LineIndex {
        self.0.lines.get_or_init(|| LineIndex::new(self.pdb()))
    }
}
