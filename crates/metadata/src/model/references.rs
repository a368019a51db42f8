//! What lies outside: assemblies, types and members that a module refers to.

use std::borrow::Cow;
use std::fmt;

use crate::error::{Malformed, Result};
use crate::tables::{
    AssemblyRefRow, AssemblyRow, ExportedTypeRow, MemberRefRow, ModuleRow, Table, TypeRefRow,
};
use crate::token::Token;
use crate::view::Metadata;

/// A four-part version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Version {
    /// First part.
    pub major: u16,
    /// Second part.
    pub minor: u16,
    /// Third part.
    pub build: u16,
    /// Fourth part.
    pub revision: u16,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}.{}.{}.{}",
            self.major, self.minor, self.build, self.revision
        )
    }
}

/// What an assembly is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssemblyIdentity<'a> {
    /// The simple name.
    pub name: Cow<'a, str>,
    /// The version.
    pub version: Version,
    /// The culture; empty if neutral.
    pub culture: Cow<'a, str>,
    /// The public key or its token; empty if unsigned.
    pub public_key: &'a [u8],
    /// `AssemblyFlags`.
    pub flags: u32,
}

/// The manifest of an assembly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assembly<'a> {
    /// What it is called.
    pub identity: AssemblyIdentity<'a>,
    /// The algorithm of its file hashes.
    pub hash_algorithm: u32,
}

/// Where a type reference is to be looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeScope {
    /// In this module.
    Module,
    /// In another module of this assembly.
    ModuleRef(Token),
    /// In another assembly.
    Assembly(Token),
    /// Inside another referenced type.
    Nested(Token),
    /// In the exported types (a nil scope).
    Exported,
}

/// A member of a type that lies elsewhere, or of a constructed type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberRef<'a> {
    /// The type, module or method it belongs to.
    pub parent: Token,
    /// Its name.
    pub name: Cow<'a, str>,
    /// Its signature: a field's if the first byte's lower half is 6, else a method's.
    pub signature: &'a [u8],
}

impl<'a> Metadata<'a> {
    /// The assembly's manifest; modules of multi-file assemblies and PDBs have none.
    pub fn assembly(self) -> Result<Option<Assembly<'a>>> {
        if self.row_count(Table::Assembly) == 0 {
            return Ok(None);
        }
        let row: AssemblyRow = self.row(1)?;
        Ok(Some(Assembly {
            identity: AssemblyIdentity {
                name: self.string(row.name)?,
                version: Version {
                    major: row.major,
                    minor: row.minor,
                    build: row.build,
                    revision: row.revision,
                },
                culture: self.string(row.culture)?,
                public_key: self.blob(row.public_key)?,
                flags: row.flags,
            },
            hash_algorithm: row.hash_algorithm,
        }))
    }

    /// A referenced assembly.
    pub fn assembly_ref(self, token: Token) -> Result<AssemblyIdentity<'a>> {
        let row: AssemblyRefRow = self.row_of(token)?;
        Ok(AssemblyIdentity {
            name: self.string(row.name)?,
            version: Version {
                major: row.major,
                minor: row.minor,
                build: row.build,
                revision: row.revision,
            },
            culture: self.string(row.culture)?,
            public_key: self.blob(row.public_key_or_token)?,
            flags: row.flags,
        })
    }

    /// The module's name and version id.
    pub fn module(self) -> Result<ModuleRow> {
        self.row(1)
    }

    /// Where a type reference is to be looked up.
    pub fn type_scope(self, token: Token) -> Result<TypeScope> {
        let scope = self.row_of::<TypeRefRow>(token)?.scope;
        Ok(match scope.table() {
            _ if scope.is_nil() => TypeScope::Exported,
            Some(Table::Module) => TypeScope::Module,
            Some(Table::ModuleRef) => TypeScope::ModuleRef(scope),
            Some(Table::AssemblyRef) => TypeScope::Assembly(scope),
            Some(Table::TypeRef) => TypeScope::Nested(scope),
            _ => return Err(Malformed::new("resolution scope", scope.0 as usize)),
        })
    }

    /// A member reference.
    pub fn member_ref(self, token: Token) -> Result<MemberRef<'a>> {
        let row: MemberRefRow = self.row_of(token)?;
        Ok(MemberRef {
            parent: row.class,
            name: self.string(row.name)?,
            signature: self.blob(row.signature)?,
        })
    }

    /// Namespace and name of a `TypeDef`, `TypeRef` or `ExportedType`, without enclosing types.
    pub fn simple_name(self, token: Token) -> Result<(Cow<'a, str>, Cow<'a, str>)> {
        let (namespace, name) = match token.table() {
            Some(Table::TypeDef) => {
                let row: crate::tables::TypeDefRow = self.row_of(token)?;
                (row.namespace, row.name)
            }
            Some(Table::TypeRef) => {
                let row: TypeRefRow = self.row_of(token)?;
                (row.namespace, row.name)
            }
            Some(Table::ExportedType) => {
                let row: ExportedTypeRow = self.row_of(token)?;
                (row.namespace, row.name)
            }
            _ => return Err(Malformed::new("type token", token.0 as usize)),
        };
        Ok((self.string(namespace)?, self.string(name)?))
    }

    /// The type around a `TypeDef`, `TypeRef` or `ExportedType`.
    pub fn enclosing_type(self, token: Token) -> Result<Option<Token>> {
        match token.table() {
            Some(Table::TypeDef) => self.type_def(token)?.enclosing(),
            Some(Table::TypeRef) => match self.type_scope(token)? {
                TypeScope::Nested(outer) => Ok(Some(outer)),
                _ => Ok(None),
            },
            Some(Table::ExportedType) => {
                let outer = self.row_of::<ExportedTypeRow>(token)?.implementation;
                Ok(Some(outer).filter(|outer| outer.is(Table::ExportedType)))
            }
            _ => Err(Malformed::new("type token", token.0 as usize)),
        }
    }

    /// A type and the types around it, outermost first.
    pub fn type_path(self, token: Token) -> Result<Vec<Token>> {
        /// Compilers nest a handful of types; a cycle would nest without end.
        const MAX_NESTING: usize = 64;
        let mut path = vec![token];
        let mut inner = token;
        while let Some(outer) = self.enclosing_type(inner)? {
            if path.len() == MAX_NESTING {
                return Err(Malformed::new("nested types", token.0 as usize));
            }
            path.push(outer);
            inner = outer;
        }
        path.reverse();
        Ok(path)
    }

    /// The name that reflection gives a type: `Namespace.Outer+Inner`, with arity marks.
    pub fn full_name(self, token: Token) -> Result<String> {
        let mut name = String::new();
        for (depth, part) in self.type_path(token)?.into_iter().enumerate() {
            let (namespace, simple) = self.simple_name(part)?;
            if depth > 0 {
                name.push('+');
            } else if !namespace.is_empty() {
                name.push_str(&namespace);
                name.push('.');
            }
            name.push_str(&simple);
        }
        Ok(name)
    }

    /// Whether a type token names the top-level type `namespace.name`; no text is made.
    #[must_use]
    pub fn is_type_named(self, token: Token, namespace: &str, name: &str) -> bool {
        let handles = match token.table() {
            Some(Table::TypeDef) => self
                .row_of(token)
                .map(|row: crate::tables::TypeDefRow| (row.namespace, row.name)),
            Some(Table::TypeRef) => self
                .row_of(token)
                .map(|row: TypeRefRow| (row.namespace, row.name)),
            _ => return false,
        };
        handles.is_ok_and(|(of_namespace, of_name)| {
            self.string_bytes(of_name) == Ok(name.as_bytes())
                && self.string_bytes(of_namespace) == Ok(namespace.as_bytes())
                && self.enclosing_type(token) == Ok(None)
        })
    }
}
