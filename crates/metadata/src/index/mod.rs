//! Indexes over a module or PDB: built when first asked for, holding numbers instead of copies where they can.

mod documents;
mod lines;
mod types;

pub(crate) use documents::DocumentIndex;
pub use documents::{DocumentMatches, Documents, MatchQuality};
pub(crate) use lines::LineIndex;
pub use lines::{Binding, Candidate, LinePoint};
pub use types::TypeIndex;
