//! Reads PE, ECMA-335 and Portable PDB bytes as typed, lazy, zero-copy views; no processes, no COM.
//!
//! An assembly is a [PE image](pe) whose CLI header leads to metadata: [tables] of fixed-width rows, and heaps of strings, blobs and
//! GUIDs that the rows point into (ECMA-335 partition II). A portable PDB is metadata as well, with tables of its own. So both are read
//! by the same [`Metadata`] view; [`model`], [`signature`], [`attributes`] and [`csharp`] say what an assembly's rows mean, and [`pdb`]
//! what a PDB's do.
//!
//! [`Module`] and [`Symbols`] own their bytes and are what most callers want. Opening one reads headers only; everything else is decoded when
//! it is asked for, and indexes (types by name, points by line) are built on first use.
//!
//! ```no_run
//! use metadata::csharp::{GenericNames, Style};
//! use metadata::{Bytes, Module};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let path = std::path::Path::new("app.dll");
//! let module = Module::open(std::fs::read(path)?)?;
//! let search = module.find_symbols(Some(path), |path| std::fs::read(path).ok().map(Bytes::from))?;
//! if let Some(symbols) = search.symbols
//!     && let Some(found) = symbols.documents().find("Program.cs")
//! {
//!     for &(path, document) in &found.documents {
//!         for candidate in symbols.candidates(document, 42, None) {
//!             let method = candidate.point.method();
//!             let name = module.metadata().method_name(method, &GenericNames::default(), Style::default())?;
//!             println!("{path}:42 is {name} at {}", candidate.point.offset);
//!         }
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Every function is total: for any bytes it returns a value or an error that says what is wrong and where. Nothing panics, recurses without
//! bound, or allocates more than a small multiple of what it reads.

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
pub mod search;
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
