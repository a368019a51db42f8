//! Types (C# 8.1).

use super::creation::array_of;
use super::scan::Before;
use super::{Parsed, Parser};
use crate::complete::CompletionKind;
use crate::error::{ErrorKind, Expected};
use crate::lexer::{Keyword, P, T, Word};
use crate::tree::{
    FunctionPointer, FunctionPointerParameter, Identifier, MemberAccess, Predefined, QualifiedName,
    SimpleName, TupleTypeElement, Type, TypeArguments, TypeKind,
};

/// What stands around a type, and so which suffixes belong to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TypeMode {
    /// Only a type can stand here, and all suffixes are its own.
    Normal,
    /// After `as`, where `?` may start a conditional.
    As,
    /// After `new`, where sizes may stand in the brackets.
    New,
    /// Directly after `is`, where operators may follow.
    Is,
    /// Elsewhere in a pattern.
    Pattern,
}

impl Parser<'_> {
    pub(super) fn ty(&mut self) -> Parsed<Type> {
        self.type_in(TypeMode::Normal)
    }

    pub(super) fn type_after_as(&mut self) -> Parsed<Type> {
        self.type_in(TypeMode::As)
    }

    /// A type or `void`.
    pub(super) fn ty_or_void(&mut self) -> Parsed<Type> {
        if self.kind() == T::Predefined(Predefined::Void) && !self.punct_at(1, P::Star) {
            let span = self.bump();
            return Ok(Type {
                kind: TypeKind::Predefined(Predefined::Void),
                span,
            });
        }
        self.ty()
    }

    pub(super) fn type_in(&mut self, mode: TypeMode) -> Parsed<Type> {
        self.nested(|this| {
            let mut ty = this.type_without_arrays(mode)?;
            while this.at(P::OpenBracket) {
                let start = ty.span.start;
                let mut ranks = Vec::new();
                while this.at(P::OpenBracket) {
                    match this.rank_specifier() {
                        Some(rank) => ranks.push(rank),
                        None if ranks.is_empty() => return this.no_array_size(ty, mode),
                        None => break,
                    }
                    this.grow()?;
                }
                let span = this.span_from(start);
                ty = array_of(ty, &ranks, span);
                ty = this.type_suffixes(ty, mode)?;
            }
            Ok(ty)
        })
    }

    /// A `[` that holds something follows `ty`: an operator on it in a pattern, a mistake elsewhere.
    fn no_array_size(&mut self, ty: Type, mode: TypeMode) -> Parsed<Type> {
        if matches!(mode, TypeMode::Is | TypeMode::Pattern | TypeMode::As) {
            return Ok(ty);
        }
        self.bump();
        Err(self.expected(Expected::Token("]")))
    }

    /// A type up to its first array brackets.
    pub(super) fn type_without_arrays(&mut self, mode: TypeMode) -> Parsed<Type> {
        let start = self.start();
        let kind = match self.kind() {
            T::Predefined(predefined) => {
                if predefined == Predefined::Void && !self.punct_at(1, P::Star) {
                    let what = "`void` is not the type of a value";
                    let kind = ErrorKind::Misplaced {
                        what,
                        code: "CS1547",
                    };
                    return Err(self.error(kind, self.span()));
                }
                self.bump();
                TypeKind::Predefined(predefined)
            }
            T::Identifier(_) if self.is_identifier() => TypeKind::Name(self.qualified_name(mode)?),
            T::Punct(P::OpenParen) => self.tuple_type()?,
            T::Keyword(Keyword::Delegate) if self.punct_at(1, P::Star) => {
                self.function_pointer()?
            }
            _ if self.is_cut_off() => TypeKind::Name(self.qualified_name(mode)?),
            _ => return Err(self.expected(Expected::Type)),
        };
        let ty = Type {
            kind,
            span: self.span_from(start),
        };
        self.type_suffixes(ty, mode)
    }

    /// `?` and `*` after `ty`.
    fn type_suffixes(&mut self, mut ty: Type, mode: TypeMode) -> Parsed<Type> {
        loop {
            let start = ty.span.start;
            let is_pointer = matches!(ty.kind, TypeKind::Pointer(_));
            let is_array = matches!(ty.kind, TypeKind::Array { .. });
            let is_nullable = matches!(ty.kind, TypeKind::Nullable(_));
            let wrap = match self.kind() {
                T::Punct(P::Question)
                    if !is_pointer && !is_nullable && self.nullable_allowed(self.pos, mode) =>
                {
                    TypeKind::Nullable
                }
                T::Punct(P::Star) if !is_array && self.pointer_allowed(self.pos, mode) => {
                    TypeKind::Pointer
                }
                _ => return Ok(ty),
            };
            self.bump();
            self.grow()?;
            ty = Type {
                kind: wrap(Box::new(ty)),
                span: self.span_from(start),
            };
        }
    }

    /// Whether the `?` at `index` belongs to the type before it.
    pub(super) fn nullable_allowed(&mut self, index: usize, mode: TypeMode) -> bool {
        let next = self.kind_at(index + 1);
        match mode {
            TypeMode::Normal => true,
            TypeMode::New => {
                matches!(next, T::Punct(P::OpenParen | P::OpenBracket | P::OpenBrace))
            }
            // A conditional is preferred wherever one can stand.
            TypeMode::As | TypeMode::Is | TypeMode::Pattern => match next {
                T::Punct(P::OpenBracket) => {
                    self.rank_at(index + 1).is_some() && !self.is_conditional_at(index)
                }
                _ => !self.starts_expression(index + 1),
            },
        }
    }

    /// Whether the `*` at `index` belongs to the type before it: in a pattern only within an array's.
    pub(super) fn pointer_allowed(&self, index: usize, mode: TypeMode) -> bool {
        !matches!(mode, TypeMode::Is | TypeMode::Pattern) || self.stars_before_bracket(index)
    }

    /// The rank of `[]` or `[,]` at `index` and the index behind it.
    pub(super) fn rank_at(&self, index: usize) -> Option<(u32, usize)> {
        let mut close = index + 1;
        while self.kind_at(close) == T::Punct(P::Comma) {
            close += 1;
        }
        let rank = u32::try_from(close - index).ok()?;
        (self.kind_at(close) == T::Punct(P::CloseBracket)).then_some((rank, close + 1))
    }

    /// `[]` or `[,]`, and its rank; nothing is read if something else is in the brackets.
    pub(super) fn rank_specifier(&mut self) -> Option<u32> {
        let (rank, end) = self.rank_at(self.pos)?;
        self.pos = end;
        Some(rank)
    }

    /// `A.B<int>`, `global::A`
    fn qualified_name(&mut self, mode: TypeMode) -> Parsed<QualifiedName> {
        let start = self.start();
        // In a pattern a constant can stand as well.
        let is_pattern = matches!(mode, TypeMode::Is | TypeMode::Pattern);
        if self.at_marker() {
            self.found_marker(|_| match is_pattern {
                true => CompletionKind::Name,
                false => CompletionKind::TypeName,
            });
        }
        let first = self.simple_name(mode)?;
        let mut alias = None;
        let mut parts = vec![first];
        if self.at(P::ColonColon)
            && let [
                SimpleName {
                    identifier,
                    arguments: None,
                    ..
                },
            ] = parts.as_slice()
        {
            let name = identifier.clone();
            self.bump();
            if self.at_marker() {
                self.found_alias(&name);
            }
            parts = vec![self.simple_name(mode)?];
            alias = Some(Box::new(name));
        }
        while self.at(P::Dot) {
            self.bump();
            if self.at_marker() {
                let span = self.span_from(start);
                let qualifier = QualifiedName {
                    alias: alias.clone(),
                    parts: parts.clone(),
                    span,
                };
                self.found_marker(|_| match qualifier.to_expr().filter(|_| is_pattern) {
                    Some(receiver) => CompletionKind::Member {
                        receiver,
                        access: MemberAccess::Dot,
                    },
                    None => CompletionKind::TypeMember { qualifier },
                });
            }
            parts.push(self.simple_name(mode)?);
        }
        Ok(QualifiedName {
            alias,
            parts,
            span: self.span_from(start),
        })
    }

    fn simple_name(&mut self, mode: TypeMode) -> Parsed<SimpleName> {
        let identifier = self.identifier(Expected::Identifier)?;
        let start = identifier.span.start;
        let is_generic = self.at(P::Less)
            && match mode {
                TypeMode::Is => self.is_type_arguments(self.pos, Before::Is)?,
                TypeMode::Pattern => self.is_type_arguments(self.pos, Before::Pattern)?,
                _ => true,
            };
        let arguments = if is_generic {
            Some(Box::new(self.type_arguments()?))
        } else {
            None
        };
        Ok(SimpleName {
            identifier,
            arguments,
            span: self.span_from(start),
        })
    }

    /// `<int, string>`, `<>` or `<,>`
    pub(super) fn type_arguments(&mut self) -> Parsed<TypeArguments> {
        self.expect(P::Less)?;
        let mut index = self.pos;
        while self.kind_at(index) == T::Punct(P::Comma) {
            index += 1;
        }
        if self.kind_at(index) == T::Punct(P::Greater) {
            let arity = u32::try_from(index - self.pos + 1).unwrap_or(u32::MAX);
            self.pos = index + 1;
            return Ok(TypeArguments::Unbound(arity));
        }
        let mut types = Vec::new();
        loop {
            types.push(self.ty()?);
            if !self.eat(P::Comma) {
                break;
            }
        }
        self.expect_close(P::Greater)?;
        Ok(TypeArguments::Types(types))
    }

    /// `(int, string name)`
    fn tuple_type(&mut self) -> Parsed<TypeKind> {
        self.bump();
        let mut elements = Vec::new();
        loop {
            let ty = self.ty()?;
            let name = match self.is_identifier() {
                true => Some(self.identifier(Expected::Identifier)?),
                false => None,
            };
            elements.push(TupleTypeElement { ty, name });
            if !self.eat(P::Comma) {
                break;
            }
        }
        if elements.len() < 2 && !self.is_cut_off() {
            return Err(self.expected(Expected::TupleElement));
        }
        self.expect_close(P::CloseParen)?;
        Ok(TypeKind::Tuple(elements))
    }

    /// `delegate* unmanaged[Cdecl]<int, void>`
    fn function_pointer(&mut self) -> Parsed<TypeKind> {
        self.bump();
        self.bump();
        let mut convention = None;
        let mut unmanaged = Vec::new();
        if self.at_word(Word::Managed) || self.at_word(Word::Unmanaged) {
            let allows_list = self.at_word(Word::Unmanaged);
            convention = Some(self.identifier(Expected::Identifier)?);
            if allows_list && self.at(P::OpenBracket) {
                unmanaged = self.calling_conventions()?;
            }
        }
        self.expect(P::Less)?;
        let mut parameters = Vec::new();
        loop {
            let modifier = self.parameter_modifier();
            let ty = self.ty_or_void()?;
            parameters.push(FunctionPointerParameter { modifier, ty });
            if !self.eat(P::Comma) {
                break;
            }
        }
        self.expect_close(P::Greater)?;
        let pointer = FunctionPointer {
            convention,
            unmanaged,
            parameters,
        };
        Ok(TypeKind::FunctionPointer(Box::new(pointer)))
    }

    fn calling_conventions(&mut self) -> Parsed<Vec<Identifier>> {
        self.bump();
        let mut names = Vec::new();
        loop {
            names.push(self.identifier(Expected::Identifier)?);
            if !self.eat(P::Comma) {
                break;
            }
        }
        self.expect_close(P::CloseBracket)?;
        Ok(names)
    }
}
