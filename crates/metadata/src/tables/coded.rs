//! Coded tokens (ECMA-335 II.24.2.6): a row number with a small tag for the table, in one cell.

use super::Table;
use crate::error::{Malformed, Result};
use crate::token::Token;

/// A set of tables that one kind of cell can point into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "the names are those of ECMA-335 II.24.2.6 and the Portable PDB spec"
)]
pub enum Coded {
    TypeDefOrRef,
    HasConstant,
    HasCustomAttribute,
    HasFieldMarshal,
    HasDeclSecurity,
    MemberRefParent,
    HasSemantics,
    MethodDefOrRef,
    MemberForwarded,
    Implementation,
    CustomAttributeType,
    ResolutionScope,
    TypeOrMethodDef,
    HasCustomDebugInformation,
}

impl Coded {
    /// The tag's width in bits, and the tables in tag order; `None` is a tag that the format leaves unused.
    pub(crate) const fn tables(self) -> (u32, &'static [Option<Table>]) {
        use Table::*;
        const fn some<const N: usize>(tables: [Table; N]) -> [Option<Table>; N] {
            let mut out = [None; N];
            let mut i = 0;
            while i < N {
                #[expect(clippy::indexing_slicing, reason = "evaluated by the compiler, i < N")]
                {
                    out[i] = Some(tables[i]);
                }
                i += 1;
            }
            out
        }
        match self {
            Self::TypeDefOrRef => (2, const { &some([TypeDef, TypeRef, TypeSpec]) }),
            Self::HasConstant => (2, const { &some([Field, Param, Property]) }),
            Self::HasCustomAttribute => (
                5,
                const {
                    &some([
                        Method,
                        Field,
                        TypeRef,
                        TypeDef,
                        Param,
                        InterfaceImpl,
                        MemberRef,
                        Module,
                        DeclSecurity,
                        Property,
                        Event,
                        StandAloneSig,
                        ModuleRef,
                        TypeSpec,
                        Assembly,
                        AssemblyRef,
                        File,
                        ExportedType,
                        ManifestResource,
                        GenericParam,
                        GenericParamConstraint,
                        MethodSpec,
                    ])
                },
            ),
            Self::HasFieldMarshal => (1, const { &some([Field, Param]) }),
            Self::HasDeclSecurity => (2, const { &some([TypeDef, Method, Assembly]) }),
            Self::MemberRefParent => (
                3,
                const { &some([TypeDef, TypeRef, ModuleRef, Method, TypeSpec]) },
            ),
            Self::HasSemantics => (1, const { &some([Event, Property]) }),
            Self::MethodDefOrRef => (1, const { &some([Method, MemberRef]) }),
            Self::MemberForwarded => (1, const { &some([Field, Method]) }),
            Self::Implementation => (2, const { &some([File, AssemblyRef, ExportedType]) }),
            Self::CustomAttributeType => (
                3,
                const { &[None, None, Some(Method), Some(MemberRef), None] },
            ),
            Self::ResolutionScope => (
                2,
                const { &some([Module, ModuleRef, AssemblyRef, TypeRef]) },
            ),
            Self::TypeOrMethodDef => (1, const { &some([TypeDef, Method]) }),
            Self::HasCustomDebugInformation => (
                5,
                const {
                    &some([
                        Method,
                        Field,
                        TypeRef,
                        TypeDef,
                        Param,
                        InterfaceImpl,
                        MemberRef,
                        Module,
                        DeclSecurity,
                        Property,
                        Event,
                        StandAloneSig,
                        ModuleRef,
                        TypeSpec,
                        Assembly,
                        AssemblyRef,
                        File,
                        ExportedType,
                        ManifestResource,
                        GenericParam,
                        GenericParamConstraint,
                        MethodSpec,
                        Document,
                        LocalScope,
                        LocalVariable,
                        LocalConstant,
                        ImportScope,
                    ])
                },
            ),
        }
    }

    /// The token that a cell's value stands for.
    pub fn decode(self, value: u32) -> Result<Token> {
        let (bits, tables) = self.tables();
        let (tag, row) = (value & ((1 << bits) - 1), value >> bits);
        match tables.get(tag as usize) {
            Some(Some(table)) if row <= 0x00ff_ffff => Ok(Token::new(*table, row)),
            // A zero cell is "none" whatever tag 0 means.
            _ if value == 0 => Ok(Token::default()),
            _ => Err(Malformed::new("coded token", value as usize)),
        }
    }

    /// The cell value for a token, if this kind of cell can hold it.
    #[must_use]
    pub fn encode(self, token: Token) -> Option<u32> {
        let (bits, tables) = self.tables();
        let table = token.table()?;
        let tag = tables
            .iter()
            .position(|&candidate| candidate == Some(table))?;
        Some((token.row() << bits) | u32::try_from(tag).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_and_refuses_unused_tags() {
        let token = Token::new(Table::TypeSpec, 0x123);
        let cell = Coded::TypeDefOrRef.encode(token).expect("a TypeSpec fits");
        assert_eq!(cell, 0x123 << 2 | 2);
        assert_eq!(Coded::TypeDefOrRef.decode(cell), Ok(token));
        assert!(Coded::TypeDefOrRef.decode(7).is_err());
        assert_eq!(
            Coded::TypeDefOrRef.encode(Token::new(Table::Field, 1)),
            None
        );
        assert_eq!(Coded::CustomAttributeType.decode(0), Ok(Token::default()));
    }
}
