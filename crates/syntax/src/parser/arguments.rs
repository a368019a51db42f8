//! Argument lists, and the elements of tuples (C# 12.6.2).

use super::scan::ScanMode;
use super::{Parsed, Parser};
use crate::error::Expected;
use crate::lexer::{Keyword, P, T};
use crate::tree::{Argument, ArgumentModifier, Designation, Expr, ExprKind, Precedence};

impl Parser<'_> {
    /// `(a, name: b, out var c)`
    pub(super) fn call_arguments(&mut self) -> Parsed<Vec<Argument>> {
        self.expect(P::OpenParen)?;
        let mut arguments = Vec::new();
        if !self.at(P::CloseParen) && (self.kind() != T::End || self.is_cut_off()) {
            loop {
                if self.at(P::Comma) {
                    return Err(self.expected(Expected::Argument));
                }
                arguments.push(self.argument()?);
                if !self.eat(P::Comma) {
                    break;
                }
            }
        }
        self.expect_close(P::CloseParen)?;
        Ok(arguments)
    }

    /// `[a, b]`
    pub(super) fn index_arguments(&mut self) -> Parsed<Vec<Argument>> {
        self.expect(P::OpenBracket)?;
        let mut arguments = Vec::new();
        loop {
            if self.at(P::Comma) || self.at(P::CloseBracket) {
                return Err(self.expected(Expected::Index));
            }
            arguments.push(self.argument()?);
            if !self.eat(P::Comma) {
                break;
            }
        }
        self.expect_close(P::CloseBracket)?;
        Ok(arguments)
    }

    fn argument(&mut self) -> Parsed<Argument> {
        let mut name = None;
        if matches!(self.kind(), T::Identifier(_)) && self.punct_at(1, P::Colon) {
            name = Some(self.identifier(Expected::Identifier)?);
            self.bump();
        }
        let modifier = match self.kind() {
            T::Keyword(Keyword::Ref) if !self.is_lambda_at(self.pos) => Some(ArgumentModifier::Ref),
            T::Keyword(Keyword::Out) => Some(ArgumentModifier::Out),
            T::Keyword(Keyword::In) => Some(ArgumentModifier::In),
            _ => None,
        };
        if modifier.is_some() {
            self.bump();
        }
        let value = if modifier == Some(ArgumentModifier::Out) {
            self.expression_or_declaration(Place::Out)?
        } else {
            self.any_expression()?
        };
        Ok(Argument {
            name,
            modifier,
            value,
        })
    }

    /// `(…)` that is not a lambda and not a cast: a parenthesised expression or a tuple.
    pub(super) fn paren_or_tuple(&mut self) -> Parsed<Expr> {
        let start = self.start();
        self.bump();
        let first = self.tuple_element(Place::FirstInTuple)?;
        if !self.at(P::Comma) {
            if first.name.is_some() {
                return Err(self.expected(Expected::TupleElement));
            }
            self.expect(P::CloseParen)?;
            return Ok(self.expr(ExprKind::Paren(Box::new(first.value)), start));
        }
        let mut elements = vec![first];
        while self.eat(P::Comma) {
            elements.push(self.tuple_element(Place::LaterInTuple)?);
        }
        self.expect_close(P::CloseParen)?;
        Ok(self.expr(ExprKind::Tuple(elements), start))
    }

    fn tuple_element(&mut self, place: Place) -> Parsed<Argument> {
        let mut name = None;
        if self.is_identifier() && self.punct_at(1, P::Colon) {
            name = Some(self.identifier(Expected::Identifier)?);
            self.bump();
        }
        let value = self.expression_or_declaration(place)?;
        Ok(Argument {
            name,
            modifier: None,
            value,
        })
    }

    /// An expression, or `T x` where that can stand.
    fn expression_or_declaration(&mut self, place: Place) -> Parsed<Expr> {
        if !self.is_declaration(place)? {
            return self.any_expression();
        }
        self.nested(|this| {
            let start = this.start();
            let ty = this.ty()?;
            let designation = this.designation()?;
            Ok(this.expr(ExprKind::Declaration(Box::new(ty), designation), start))
        })
    }

    /// Whether a type and a variable stand here, not an expression.
    fn is_declaration(&mut self, place: Place) -> Parsed<bool> {
        let mode = if place == Place::Out {
            ScanMode::Normal
        } else {
            ScanMode::TupleElement
        };
        let Some(ty) = self.scan_type(self.pos, mode)? else {
            return Ok(false);
        };
        // Only after `var` and a predefined type can several variables follow.
        let last = ty.end - 1;
        let is_simple = last == self.pos
            && matches!(
                self.kind(),
                T::Predefined(_) | T::Identifier(crate::lexer::Word::Var)
            );
        let tuple = place != Place::Out && is_simple;
        let Some(end) = self.scan_designation(ty.end, tuple) else {
            return Ok(false);
        };
        let after = self.kind_at(end);
        Ok(match place {
            Place::Out => true,
            Place::FirstInTuple => after == T::Punct(P::Comma),
            Place::LaterInTuple => {
                matches!(after, T::Punct(P::Comma | P::CloseParen))
            }
        })
    }

    /// `var (a, b) = …`: the left side of a deconstruction.
    pub(super) fn deconstruction_left(&mut self, min: Precedence) -> Parsed<Option<Expr>> {
        let end = self.scan_designation(self.pos + 1, true);
        if min > Precedence::Expression
            || !self.punct_at(1, P::OpenParen)
            || end.is_none_or(|end| self.kind_at(end) != T::Punct(P::Equal))
        {
            return Ok(None);
        }
        let start = self.start();
        let ty = self.ty()?;
        let designation = self.designation()?;
        if matches!(&designation, Designation::Tuple(variables, _) if variables.len() < 2) {
            return Err(self.expected(Expected::TupleElement));
        }
        Ok(Some(self.expr(
            ExprKind::Declaration(Box::new(ty), designation),
            start,
        )))
    }
}

/// Where a declaration may stand in an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// After `out`.
    Out,
    FirstInTuple,
    LaterInTuple,
}
