//! Local scopes, variables and constants (Portable PDB: LocalScope, LocalVariable, LocalConstant).

use std::borrow::Cow;

use super::Pdb;
use crate::error::{Malformed, Result};
use crate::model::{ConstantValue, Utf16};
use crate::signature::{Decoder, Primitive, Type};
use crate::tables::{Key, LocalConstantRow, LocalScopeRow, LocalVariableRow, Table};
use crate::token::{IlOffset, Token};
use crate::view::Metadata;

/// A range of IL in which names are known.
#[derive(Debug, Clone, Copy)]
pub struct LocalScope<'a> {
    metadata: Metadata<'a>,
    token: Token,
    row: LocalScopeRow,
}

/// The name of a local variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalVariable<'a> {
    /// Its token, which custom debug information refers to.
    pub token: Token,
    /// Its name.
    pub name: Cow<'a, str>,
    /// Its slot in the method's local signature.
    pub index: u16,
    /// Whether the compiler made it, and a debugger should not show it.
    pub is_hidden: bool,
}

/// A local constant.
#[derive(Debug, Clone, PartialEq)]
pub struct LocalConstant<'a> {
    /// Its token, which custom debug information refers to.
    pub token: Token,
    /// Its name.
    pub name: Cow<'a, str>,
    /// Its undecoded type and value.
    pub signature: &'a [u8],
}

/// The type and value of a local constant.
#[derive(Debug, Clone, PartialEq)]
pub struct LocalConstantValue<'a> {
    /// Its type: a primitive, an enum, or any other type.
    pub ty: Type,
    /// Custom modifiers of the type: whether required, and their type.
    pub modifiers: Vec<(bool, Token)>,
    /// Its value, where it is of a simple kind; `Null` for null.
    pub value: Option<ConstantValue<'a>>,
    /// Its value's bytes, where it is of another kind, such as `decimal` and `DateTime`.
    pub raw: &'a [u8],
}

impl<'a> Pdb<'a> {
    /// The scopes of a method; an outer one comes before those inside it.
    pub fn local_scopes(
        self,
        method: Token,
    ) -> impl Iterator<Item = Result<LocalScope<'a>>> + use<'a> {
        let metadata = self.metadata;
        let rows = if method.is(Table::Method) {
            method.row()
        } else {
            0
        };
        let rows = metadata.rows_where(Key::LocalScopeMethod, rows);
        rows.map(move |row| {
            let token = Token::new(Table::LocalScope, row);
            Ok(LocalScope {
                metadata,
                token,
                row: metadata.row(row)?,
            })
        })
    }

    /// The scopes of a method that hold an IL offset, outermost first.
    pub fn local_scopes_at(
        self,
        method: Token,
        offset: IlOffset,
    ) -> impl Iterator<Item = Result<LocalScope<'a>>> + use<'a> {
        self.local_scopes(method)
            .filter(move |scope| scope.as_ref().map_or(true, |scope| scope.contains(offset)))
    }

    /// The variables whose names are known at an IL offset, those of outer scopes first.
    pub fn variables_at(self, method: Token, offset: IlOffset) -> Result<Vec<LocalVariable<'a>>> {
        // A method has this many slots; scopes that claim each other's variables could have more.
        const MAX_VARIABLES: usize = 1 << 16;
        let mut variables = Vec::new();
        for scope in self.local_scopes_at(method, offset) {
            for variable in scope?.variables() {
                if variables.len() == MAX_VARIABLES {
                    return Err(Malformed::new("local variables", method.0 as usize));
                }
                variables.push(variable?);
            }
        }
        Ok(variables)
    }

    /// A scope by its own token.
    pub fn local_scope(self, token: Token) -> Result<LocalScope<'a>> {
        Ok(LocalScope {
            metadata: self.metadata,
            token,
            row: self.metadata.row_of(token)?,
        })
    }
}

impl<'a> LocalScope<'a> {
    /// Its token.
    #[must_use]
    pub const fn token(&self) -> Token {
        self.token
    }

    /// The method it belongs to.
    #[must_use]
    pub const fn method(&self) -> Token {
        self.row.method
    }

    /// The innermost imports that hold in it.
    #[must_use]
    pub fn import_scope(&self) -> Option<Token> {
        self.row.import_scope.non_nil()
    }

    /// Where it begins.
    #[must_use]
    pub const fn start(&self) -> IlOffset {
        IlOffset(self.row.start_offset)
    }

    /// Where it has ended.
    #[must_use]
    pub const fn end(&self) -> IlOffset {
        IlOffset(self.row.start_offset.saturating_add(self.row.length))
    }

    /// Whether an offset lies in it.
    #[must_use]
    pub fn contains(&self, offset: IlOffset) -> bool {
        self.start() <= offset && offset < self.end()
    }

    /// Its own variables, not those of scopes around it.
    pub fn variables(&self) -> impl Iterator<Item = Result<LocalVariable<'a>>> + use<'a> {
        const DEBUGGER_HIDDEN: u16 = 1;
        let metadata = self.metadata;
        let tokens = metadata.list(Table::LocalScope, 2, self.token.row(), Table::LocalVariable);
        tokens.map(move |token| {
            let row: LocalVariableRow = metadata.row_of(token)?;
            Ok(LocalVariable {
                token,
                name: metadata.string(row.name)?,
                index: row.index,
                is_hidden: row.attributes & DEBUGGER_HIDDEN != 0,
            })
        })
    }

    /// Its own constants, not those of scopes around it.
    pub fn constants(&self) -> impl Iterator<Item = Result<LocalConstant<'a>>> + use<'a> {
        let metadata = self.metadata;
        let tokens = metadata.list(Table::LocalScope, 3, self.token.row(), Table::LocalConstant);
        tokens.map(move |token| {
            let row: LocalConstantRow = metadata.row_of(token)?;
            let (name, signature) = (metadata.string(row.name)?, metadata.blob(row.signature)?);
            Ok(LocalConstant {
                token,
                name,
                signature,
            })
        })
    }
}

impl<'a> LocalConstant<'a> {
    /// Decodes the type and value (Portable PDB: LocalConstantSig).
    pub fn value(&self) -> Result<LocalConstantValue<'a>> {
        let mut decoder = Decoder::new(self.signature, "local constant");
        let mut modifiers = Vec::new();
        while let Some(code @ (0x1f | 0x20)) = decoder.cursor.peek() {
            decoder.cursor.u8()?;
            modifiers.push((code == 0x1f, decoder.token()?));
        }
        let bad = decoder.cursor.bad();
        let code = decoder.cursor.u8()?;
        let (ty, value, raw);
        match Primitive::from_code(code) {
            Some(Primitive::Object) => {
                (ty, value, raw) = (
                    Type::Primitive(Primitive::Object),
                    Some(ConstantValue::Null),
                    &[][..],
                );
            }
            Some(Primitive::String) => {
                ty = Type::Primitive(Primitive::String);
                value = Some(match decoder.cursor.rest() {
                    [0xff] => ConstantValue::Null,
                    units => ConstantValue::String(Utf16::new(units)),
                });
                raw = &[];
            }
            Some(primitive) => {
                value = Some(ConstantValue::scalar(primitive, &mut decoder.cursor)?);
                // The type of an enum follows its value.
                ty = if decoder.cursor.is_empty() {
                    Type::Primitive(primitive)
                } else {
                    Type::Named {
                        token: decoder.token()?,
                        is_value: true,
                    }
                };
                raw = &[];
            }
            None if matches!(code, 0x11 | 0x12) => {
                ty = Type::Named {
                    token: decoder.token()?,
                    is_value: code == 0x11,
                };
                raw = decoder.cursor.rest();
                value = raw.is_empty().then_some(ConstantValue::Null);
            }
            None => {
                return Err(Malformed {
                    what: "local constant",
                    ..bad
                });
            }
        }
        Ok(LocalConstantValue {
            ty,
            modifiers,
            value,
            raw,
        })
    }
}
