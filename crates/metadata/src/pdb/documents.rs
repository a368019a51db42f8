//! Source documents (Portable PDB: Document Table).

use std::borrow::Cow;

use super::Pdb;
use crate::cursor::Cursor;
use crate::error::{Malformed, Result};
use crate::guid::Guid;
use crate::tables::{DocumentRow, Table};
use crate::token::{BlobHandle, Token};
use crate::view::Metadata;

/// Longer than any path; parts may repeat, so a short blob could ask for much text.
const MAX_PATH: usize = 32 * 1024;

/// A source document.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    metadata: Metadata<'a>,
    token: Token,
    row: DocumentRow,
}

/// How a document's hash was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HashAlgorithm {
    /// SHA-1.
    Sha1,
    /// SHA-256.
    Sha256,
    /// Another one.
    Other(Guid),
}

/// The language of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// C#.
    CSharp,
    /// Visual Basic.
    VisualBasic,
    /// F#.
    FSharp,
    /// Another one.
    Other(Guid),
}

const SHA1: Guid = Guid::new(0xff18_16ec, 0xaa5e, 0x4d10, 0x87f7_6f49_6383_3460);
const SHA256: Guid = Guid::new(0x8829_d00f, 0x11b8, 0x4213, 0x878b_770e_8597_ac16);
const CSHARP: Guid = Guid::new(0x3f51_62f8, 0x07c6, 0x11d3, 0x9053_00c0_4fa3_02a1);
const VISUAL_BASIC: Guid = Guid::new(0x3a12_d0b8, 0xc26c, 0x11d0, 0xb442_00a0_244a_1dd2);
const FSHARP: Guid = Guid::new(0xab4f_38c9, 0xb6e6, 0x43ba, 0xbe3b_5808_0b2c_cce3);

impl<'a> Pdb<'a> {
    /// A document by its token.
    pub fn document(self, token: Token) -> Result<Document<'a>> {
        Ok(Document {
            metadata: self.metadata,
            token,
            row: self.metadata.row_of(token)?,
        })
    }

    /// All documents.
    pub fn documents(self) -> impl Iterator<Item = Result<Document<'a>>> {
        self.metadata
            .tokens(Table::Document)
            .map(move |token| self.document(token))
    }
}

impl<'a> Document<'a> {
    /// Its token in the PDB.
    #[must_use]
    pub const fn token(&self) -> Token {
        self.token
    }

    /// Its path as the compiler saw it.
    pub fn path(&self) -> Result<String> {
        let mut path = Vec::new();
        document_name(self.metadata, self.row.name, |part| {
            path.extend_from_slice(part);
            path.len() <= MAX_PATH
        })?;
        Ok(match String::from_utf8_lossy(&path) {
            Cow::Borrowed(_) => String::from_utf8(path).unwrap_or_default(),
            Cow::Owned(text) => text,
        })
    }

    /// How its hash was made; `None` if it has none.
    pub fn hash_algorithm(&self) -> Result<Option<HashAlgorithm>> {
        Ok(self
            .metadata
            .guid(self.row.hash_algorithm)?
            .map(|guid| match guid {
                SHA1 => HashAlgorithm::Sha1,
                SHA256 => HashAlgorithm::Sha256,
                other => HashAlgorithm::Other(other),
            }))
    }

    /// The hash of its text as compiled.
    pub fn hash(&self) -> Result<&'a [u8]> {
        self.metadata.blob(self.row.hash)
    }

    /// Its language.
    pub fn language(&self) -> Result<Option<Language>> {
        Ok(self
            .metadata
            .guid(self.row.language)?
            .map(|guid| match guid {
                CSHARP => Language::CSharp,
                VISUAL_BASIC => Language::VisualBasic,
                FSHARP => Language::FSharp,
                other => Language::Other(other),
            }))
    }
}

/// Hands out the pieces of a document's name; `take` returns whether to go on.
fn document_name<'a>(
    metadata: Metadata<'a>,
    name: BlobHandle,
    mut take: impl FnMut(&'a [u8]) -> bool,
) -> Result<()> {
    let mut cursor = Cursor::new(metadata.blob(name)?, "document name");
    let bad = cursor.bad();
    // The separator is one ASCII character, or zero for none.
    let separator = match cursor.take(1)? {
        [0] => &[],
        [byte] if !byte.is_ascii() => return Err(bad),
        separator => separator,
    };
    let mut first = true;
    while !cursor.is_empty() {
        let bad = cursor.bad();
        let part = metadata.blob(BlobHandle(cursor.compressed_u32()?))?;
        if !(first || take(separator)) || !take(part) {
            return Err(Malformed {
                what: "document name too long",
                ..bad
            });
        }
        first = false;
    }
    Ok(())
}
