//! Indexes over a module or PDB: built when first asked for, holding numbers instead of copies where they can.

mod documents;
mod lines;
mod types;

pub use documents::{DocumentIndex, DocumentMatches, MatchQuality};
pub use lines::{Binding, Candidate, LineIndex, LinePoint};
pub use types::TypeIndex;
