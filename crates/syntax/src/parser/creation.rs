//! `new` and `stackalloc` with their initialisers (C# 12.8.17, 12.8.22).

use super::types::TypeMode;
use super::{Parsed, Parser};
use crate::complete::CompletionKind;
use crate::error::{ErrorKind, Expected, SyntaxError};
use crate::lexer::{Keyword, P, T};
use crate::span::Span;
use crate::tree::{
    AnonymousMember, Argument, ArrayElement, ArrayInitializer, Expr, ExprKind, InitValue,
    Initializer, InitializerMember, New, NewArray, Type, TypeKind,
};

impl Parser<'_> {
    /// Anything that starts with `new`.
    pub(super) fn creation(&mut self) -> Parsed<Expr> {
        let start = self.start();
        self.bump();
        match self.kind() {
            T::Punct(P::OpenBrace) => self.anonymous_object(start),
            T::Punct(P::OpenBracket) => self.implicit_array(start, false),
            T::Punct(P::OpenParen) if !self.is_tuple_creation()? => self.new_object(None, start),
            T::Identifier(_)
            | T::Predefined(_)
            | T::Punct(P::OpenParen)
            | T::Keyword(Keyword::Delegate) => self.typed_creation(start, false),
            _ if self.is_cut_off() => self.typed_creation(start, false),
            _ => Err(self.expected(Expected::Creation)),
        }
    }

    pub(super) fn stackalloc(&mut self) -> Parsed<Expr> {
        let start = self.start();
        self.bump();
        if self.at(P::OpenBracket) {
            return self.implicit_array(start, true);
        }
        self.typed_creation(start, true)
    }

    /// `new (int, int)[3]` and its like, against `new (a, b)`.
    fn is_tuple_creation(&mut self) -> Parsed<bool> {
        let Some(tuple) = self.scan_tuple(self.pos)? else {
            return Ok(false);
        };
        Ok(matches!(
            self.kind_at(tuple.end),
            T::Punct(P::Question | P::OpenBracket | P::OpenParen)
        ))
    }

    /// `new T(…)`, `new T { … }`, `new T[…]` or `stackalloc T[…]`
    fn typed_creation(&mut self, start: u32, stackalloc: bool) -> Parsed<Expr> {
        let mut ty = self.nested(|this| this.type_without_arrays(TypeMode::New))?;
        loop {
            if !self.at(P::OpenBracket) {
                if stackalloc {
                    return Err(self.expected(Expected::Token("[")));
                }
                return self.new_object(Some(ty), start);
            }
            let (sizes, rank, later) = self.creation_ranks()?;
            let span = self.span_from(ty.span.start);
            if !self.at(P::Question)
                || !self.nullable_allowed(self.pos, TypeMode::New)
                || !sizes.is_empty()
            {
                let element = array_of(ty, &later, span);
                return self.new_array(element, sizes, rank, stackalloc, start);
            }
            // `new T[]?[3]`: the array so far is an element of the one to create.
            let array = array_of(array_of(ty, &later, span), &[rank], span);
            self.bump();
            self.grow()?;
            ty = Type {
                kind: TypeKind::Nullable(Box::new(array)),
                span,
            };
        }
    }

    /// `[a, b][][,]`: the sizes of the first, its rank, and the ranks of the others.
    fn creation_ranks(&mut self) -> Parsed<(Vec<Expr>, u32, Vec<u32>)> {
        self.expect(P::OpenBracket)?;
        let mut sizes = Vec::new();
        let mut rank = 1;
        if self.at(P::Comma) || self.at(P::CloseBracket) {
            while self.eat(P::Comma) {
                rank += 1;
            }
        } else {
            loop {
                if self.at(P::Comma) || self.at(P::CloseBracket) {
                    return Err(self.expected(Expected::Index));
                }
                sizes.push(self.any_expression()?);
                if !self.eat(P::Comma) {
                    break;
                }
                rank += 1;
            }
        }
        if !sizes.is_empty() || self.at(P::CloseBracket) || self.is_cut_off() {
            self.expect(P::CloseBracket)?;
        } else {
            return Err(self.expected(Expected::Index));
        }
        let mut later = Vec::new();
        while self.at(P::OpenBracket) {
            self.grow()?;
            match self.rank_specifier() {
                Some(rank) => later.push(rank),
                None => {
                    self.bump();
                    return Err(self.misplaced_size());
                }
            }
        }
        Ok((sizes, rank, later))
    }

    fn misplaced_size(&self) -> Box<SyntaxError> {
        let what = "a size can only stand in the first brackets, behind the type of the elements";
        let kind = ErrorKind::Misplaced {
            what,
            code: "CS0178",
        };
        self.error(kind, self.span())
    }

    fn new_array(
        &mut self,
        element: Type,
        sizes: Vec<Expr>,
        rank: u32,
        stackalloc: bool,
        start: u32,
    ) -> Parsed<Expr> {
        let mut initializer = None;
        if self.at(P::OpenBrace) {
            initializer = Some(self.array_initializer()?);
        } else if sizes.is_empty() && !self.is_cut_off() {
            return Err(self.expected(Expected::ArraySize));
        }
        let element = Some(element);
        let array = NewArray {
            stackalloc,
            element,
            rank,
            sizes,
            initializer,
        };
        Ok(self.expr(ExprKind::NewArray(Box::new(array)), start))
    }

    /// `new[,] { … }`
    fn implicit_array(&mut self, start: u32, stackalloc: bool) -> Parsed<Expr> {
        self.bump();
        let mut rank = 1;
        while !stackalloc && self.eat(P::Comma) {
            rank += 1;
        }
        if !self.at(P::CloseBracket) && self.starts_expression(self.pos) {
            return Err(self.misplaced_size());
        }
        self.expect(P::CloseBracket)?;
        let initializer = Some(self.array_initializer()?);
        let array = NewArray {
            stackalloc,
            element: None,
            rank,
            sizes: Vec::new(),
            initializer,
        };
        Ok(self.expr(ExprKind::NewArray(Box::new(array)), start))
    }

    fn array_initializer(&mut self) -> Parsed<ArrayInitializer> {
        self.nested(|this| {
            let start = this.start();
            this.expect(P::OpenBrace)?;
            let mut elements = Vec::new();
            while !this.at(P::CloseBrace) && !this.is_cut_off() {
                elements.push(if this.at(P::OpenBrace) {
                    ArrayElement::Nested(this.array_initializer()?)
                } else {
                    ArrayElement::Value(this.any_expression()?)
                });
                if !this.eat(P::Comma) {
                    break;
                }
            }
            this.expect_close(P::CloseBrace)?;
            Ok(ArrayInitializer {
                elements,
                span: this.span_from(start),
            })
        })
    }

    /// Arguments and initialiser of a new object.
    fn new_object(&mut self, ty: Option<Type>, start: u32) -> Parsed<Expr> {
        let mut arguments: Option<Vec<Argument>> = None;
        if self.at(P::OpenParen) {
            arguments = Some(self.call_arguments()?);
        }
        let mut initializer = None;
        if self.at(P::OpenBrace) {
            initializer = Some(self.initializer(ty.as_ref())?);
        }
        if arguments.is_none() && initializer.is_none() {
            if !self.is_cut_off() {
                return Err(self.expected(Expected::Creation));
            }
            arguments = Some(Vec::new());
        }
        let new = New {
            ty,
            arguments,
            initializer,
        };
        Ok(self.expr(ExprKind::New(Box::new(new)), start))
    }

    /// `{ A = 1, [2] = 3, 4, { 5, 6 } }`; `ty` is only for completion.
    fn initializer(&mut self, ty: Option<&Type>) -> Parsed<Initializer> {
        self.nested(|this| {
            let start = this.start();
            this.expect(P::OpenBrace)?;
            let mut members = Vec::new();
            while !this.at(P::CloseBrace) {
                if this.at_marker() {
                    this.found_marker(|_| CompletionKind::InitializerMember { ty: ty.cloned() });
                }
                members.push(this.initializer_member()?);
                if !this.eat(P::Comma) {
                    break;
                }
            }
            this.expect_close(P::CloseBrace)?;
            Ok(Initializer {
                members,
                span: this.span_from(start),
            })
        })
    }

    fn initializer_member(&mut self) -> Parsed<InitializerMember> {
        if self.at(P::OpenBrace) {
            let start = self.start();
            let elements = self.element_initializer()?;
            return Ok(InitializerMember::Elements(elements, self.span_from(start)));
        }
        if self.at(P::OpenBracket) {
            let arguments = self.index_arguments()?;
            self.expect(P::Equal)?;
            return Ok(InitializerMember::Index(arguments, self.init_value()?));
        }
        if self.is_identifier() && self.punct_at(1, P::Equal) {
            let name = self.identifier(Expected::Identifier)?;
            self.bump();
            return Ok(InitializerMember::Property(name, self.init_value()?));
        }
        Ok(InitializerMember::Element(self.possible_ref()?))
    }

    fn init_value(&mut self) -> Parsed<InitValue> {
        if self.at(P::OpenBrace) {
            return Ok(InitValue::Nested(self.initializer(None)?));
        }
        Ok(InitValue::Expr(self.possible_ref()?))
    }

    /// `{ a, b }` inside a collection initialiser.
    fn element_initializer(&mut self) -> Parsed<Vec<Expr>> {
        self.expect(P::OpenBrace)?;
        let mut elements = Vec::new();
        if !self.at(P::CloseBrace) {
            loop {
                elements.push(self.any_expression()?);
                if !self.eat(P::Comma) {
                    break;
                }
            }
        }
        self.expect_close(P::CloseBrace)?;
        Ok(elements)
    }

    /// `{ A = 1 }` after `with`.
    pub(super) fn with_initializer(&mut self) -> Parsed<Initializer> {
        let start = self.start();
        self.expect(P::OpenBrace)?;
        let mut members = Vec::new();
        while !self.at(P::CloseBrace) {
            if self.at_marker() {
                self.found_marker(|_| CompletionKind::InitializerMember { ty: None });
            }
            if !(self.is_identifier() && self.punct_at(1, P::Equal)) && self.completing.is_none() {
                return Err(self.expected(Expected::MemberInitialiser));
            }
            let name = self.identifier(Expected::Identifier)?;
            self.expect(P::Equal)?;
            let value = InitValue::Expr(self.any_expression()?);
            members.push(InitializerMember::Property(name, value));
            if !self.eat(P::Comma) {
                break;
            }
        }
        self.expect_close(P::CloseBrace)?;
        Ok(Initializer {
            members,
            span: self.span_from(start),
        })
    }

    /// `{ A = 1, b.C }` after `new`.
    fn anonymous_object(&mut self, start: u32) -> Parsed<Expr> {
        self.bump();
        let mut members = Vec::new();
        while !self.at(P::CloseBrace) {
            let mut name = None;
            if self.is_identifier() && self.punct_at(1, P::Equal) {
                name = Some(self.identifier(Expected::Identifier)?);
                self.bump();
            }
            let value = self.any_expression()?;
            members.push(AnonymousMember { name, value });
            if !self.eat(P::Comma) {
                break;
            }
        }
        self.expect_close(P::CloseBrace)?;
        Ok(self.expr(ExprKind::Anonymous(members), start))
    }
}

/// The type of an array with `ranks`, outermost first.
pub(super) fn array_of(element: Type, ranks: &[u32], span: Span) -> Type {
    ranks.iter().rev().fold(element, |element, &rank| Type {
        kind: TypeKind::Array {
            element: Box::new(element),
            rank,
        },
        span,
    })
}
