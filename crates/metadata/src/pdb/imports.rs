//! Imports: what `using` brings into scope (Portable PDB: ImportScope).

use std::borrow::Cow;

use super::Pdb;
use crate::error::{Malformed, Result};
use crate::signature::Decoder;
use crate::tables::{ImportScopeRow, Table};
use crate::token::{BlobHandle, Token};
use crate::view::{MAX_NAME, Metadata};

/// One import. Assemblies are `AssemblyRef` tokens, types `TypeDef`, `TypeRef` or `TypeSpec` tokens of the assembly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Import<'a> {
    /// `using Namespace;`
    Namespace(Cow<'a, str>),
    /// `using alias::Namespace;`, where the alias names an assembly.
    AssemblyNamespace {
        /// The assembly.
        assembly: Token,
        /// The namespace in it.
        namespace: Cow<'a, str>,
    },
    /// `using static Type;`
    Type(Token),
    /// An XML namespace of Visual Basic.
    XmlNamespace {
        /// Its prefix.
        alias: Cow<'a, str>,
        /// Its name.
        namespace: Cow<'a, str>,
    },
    /// `extern alias name;`, which a scope further out ties to an assembly.
    ExternAlias(Cow<'a, str>),
    /// An alias that the compiler was given for an assembly.
    AliasAssembly {
        /// The alias.
        alias: Cow<'a, str>,
        /// The assembly.
        assembly: Token,
    },
    /// `using Alias = Namespace;`
    AliasNamespace {
        /// The alias.
        alias: Cow<'a, str>,
        /// The namespace.
        namespace: Cow<'a, str>,
    },
    /// `using Alias = assembly::Namespace;`
    AliasAssemblyNamespace {
        /// The alias.
        alias: Cow<'a, str>,
        /// The assembly.
        assembly: Token,
        /// The namespace in it.
        namespace: Cow<'a, str>,
    },
    /// `using Alias = Type;`
    AliasType {
        /// The alias.
        alias: Cow<'a, str>,
        /// The type.
        ty: Token,
    },
}

impl<'a> Pdb<'a> {
    /// The scope around an import scope.
    pub fn import_parent(self, scope: Token) -> Result<Option<Token>> {
        Ok(self
            .metadata
            .row_of::<ImportScopeRow>(scope)?
            .parent
            .non_nil())
    }

    /// An import scope and those around it, innermost first; the last one holds what is global.
    pub fn import_chain(self, scope: Token) -> Result<Vec<Token>> {
        /// One per namespace and one for the file; a cycle would have no end.
        const MAX_CHAIN: usize = 256;
        let mut chain = Vec::new();
        let mut next = scope.non_nil();
        while let Some(scope) = next {
            if chain.len() == MAX_CHAIN {
                return Err(Malformed::new("import scopes", scope.0 as usize));
            }
            chain.push(scope);
            next = self.import_parent(scope)?;
        }
        Ok(chain)
    }

    /// The imports of one scope, without those around it.
    pub fn imports(self, scope: Token) -> Result<Vec<Import<'a>>> {
        let row: ImportScopeRow = self.metadata.row_of(scope)?;
        let decoder = Decoder::new(self.metadata.blob(row.imports)?, "imports");
        Reader {
            metadata: self.metadata,
            decoder,
        }
        .all()
    }
}

struct Reader<'a> {
    metadata: Metadata<'a>,
    decoder: Decoder<'a>,
}

impl<'a> Reader<'a> {
    fn all(&mut self) -> Result<Vec<Import<'a>>> {
        let mut imports = Vec::new();
        while !self.decoder.cursor.is_empty() {
            imports.push(self.one()?);
        }
        Ok(imports)
    }

    fn one(&mut self) -> Result<Import<'a>> {
        let bad = self.decoder.cursor.bad();
        Ok(match self.decoder.cursor.u8()? {
            1 => Import::Namespace(self.text()?),
            2 => Import::AssemblyNamespace {
                assembly: self.assembly()?,
                namespace: self.text()?,
            },
            3 => Import::Type(self.decoder.token()?),
            4 => Import::XmlNamespace {
                alias: self.text()?,
                namespace: self.text()?,
            },
            5 => Import::ExternAlias(self.text()?),
            6 => Import::AliasAssembly {
                alias: self.text()?,
                assembly: self.assembly()?,
            },
            7 => Import::AliasNamespace {
                alias: self.text()?,
                namespace: self.text()?,
            },
            8 => Import::AliasAssemblyNamespace {
                alias: self.text()?,
                assembly: self.assembly()?,
                namespace: self.text()?,
            },
            9 => Import::AliasType {
                alias: self.text()?,
                ty: self.decoder.token()?,
            },
            _ => return Err(bad),
        })
    }

    fn text(&mut self) -> Result<Cow<'a, str>> {
        let bad = self.decoder.cursor.bad();
        let handle = BlobHandle(self.decoder.cursor.compressed_u32()?);
        let text = self.metadata.blob(handle)?;
        // Many imports may name the same blob, so each must be short.
        if text.len() > MAX_NAME {
            return Err(bad);
        }
        Ok(String::from_utf8_lossy(text))
    }

    fn assembly(&mut self) -> Result<Token> {
        Ok(Token::new(
            Table::AssemblyRef,
            self.decoder.cursor.compressed_u32()?,
        ))
    }
}
