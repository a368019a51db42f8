//! Reads PE, ECMA-335 and Portable PDB bytes as typed, lazy, zero-copy views; no processes, no COM.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

pub mod attributes;
mod bytes;
mod checksum;
pub mod csharp;
mod cursor;
mod error;
mod guid;
pub mod index;
mod locate;
pub mod model;
mod module;
pub mod pdb;
pub mod pe;
pub mod report;
mod resolve;
pub mod signature;
mod symbols;
pub mod tables;
mod token;
mod view;

pub use bytes::Bytes;
pub use checksum::checksum;
pub use cursor::Cursor;
pub use error::{Error, Malformed, Result};
pub use guid::Guid;
pub use locate::{PdbLocation, PdbSearch, PdbVerdict};
pub use module::Module;
pub use resolve::{Assemblies, ResolvedMember, ResolvedType};
pub use symbols::Symbols;
pub use token::{BlobHandle, GuidHandle, IlOffset, StringHandle, Token};
pub use view::{List, Metadata};
