//! Primary expressions: names, literals, parentheses, and all that starts with a keyword (C# 12.8).

use super::{Parsed, Parser};
use crate::complete::CompletionKind;
use crate::error::{ErrorKind, Expected, Refused};
use crate::lexer::{Keyword, P, T, Value, Word};
use crate::tree::{
    CollectionElement, Expr, ExprKind, Identifier, Literal, Precedence, Predefined, SimpleName,
};

impl Parser<'_> {
    /// A primary expression with its postfix operators, a cast or a lambda.
    pub(super) fn primary(&mut self, min: Precedence) -> Parsed<Expr> {
        if min == Precedence::Expression && self.is_lambda_at(self.pos) {
            return self.lambda();
        }
        if min == Precedence::Expression && self.is_lambda_with_attributes() {
            return self.refuse(Refused::LambdaAttributes);
        }
        if self.at(P::OpenParen) && self.is_cast()? {
            return self.cast();
        }
        let expr = self.primary_start(min)?;
        // Put around `expr` by the postfix operators, if there are any.
        self.postfix(expr)
    }

    fn primary_start(&mut self, min: Precedence) -> Parsed<Expr> {
        match self.kind() {
            T::Identifier(Word::Async) if self.is_anonymous_method() => self.anonymous_method(),
            T::Identifier(Word::Var) => match self.deconstruction_left(min)? {
                Some(declaration) => Ok(declaration),
                None => self.name(),
            },
            T::Identifier(_) if self.is_identifier() => self.name(),
            T::Literal(index) => self.literal(index),
            T::InterpolationStart => self.interpolated(),
            T::Pseudo(pseudo) => Ok(self.token(ExprKind::Pseudo(pseudo))),
            T::Punct(P::OpenParen) => self.paren_or_tuple(),
            T::Punct(P::OpenBracket) => self.collection(),
            T::Predefined(predefined) => self.predefined(predefined),
            T::Keyword(keyword) => self.keyword(keyword),
            T::End if self.is_cut_off() => self.name(),
            _ => Err(self.expected(Expected::Expression)),
        }
    }

    fn keyword(&mut self, keyword: Keyword) -> Parsed<Expr> {
        match keyword {
            Keyword::This => Ok(self.token(ExprKind::This)),
            Keyword::Base => Ok(self.token(ExprKind::Base)),
            Keyword::Null => Ok(self.token(ExprKind::Literal(Literal::Null))),
            Keyword::True => Ok(self.token(ExprKind::Literal(Literal::Bool(true)))),
            Keyword::False => Ok(self.token(ExprKind::Literal(Literal::Bool(false)))),
            Keyword::New => self.creation(),
            Keyword::StackAlloc => self.stackalloc(),
            Keyword::TypeOf | Keyword::SizeOf | Keyword::Default => self.type_operator(keyword),
            Keyword::Checked | Keyword::Unchecked => self.checked(keyword == Keyword::Checked),
            Keyword::Delegate | Keyword::Static if self.is_anonymous_method() => {
                self.anonymous_method()
            }
            Keyword::TypedReference => self.refuse(Refused::TypedReference),
            Keyword::Statement => self.refuse(Refused::Statement),
            _ => Err(self.expected(Expected::Expression)),
        }
    }

    fn refuse(&self, refused: Refused) -> Parsed<Expr> {
        Err(self.error(ErrorKind::Refused(refused), self.span()))
    }

    fn anonymous_method(&self) -> Parsed<Expr> {
        self.refuse(Refused::AnonymousMethod)
    }

    /// A node of one token.
    fn token(&mut self, kind: ExprKind) -> Expr {
        let span = self.bump();
        Expr { kind, span }
    }

    fn literal(&mut self, index: u32) -> Parsed<Expr> {
        match self.value(index) {
            Some(Value::Literal(literal)) => Ok(self.token(ExprKind::Literal(literal.clone()))),
            _ => Err(self.expected(Expected::Expression)),
        }
    }

    /// `x`, `F<int>`, `global::A`
    fn name(&mut self) -> Parsed<Expr> {
        if self.at_marker() {
            self.found_marker(|_| CompletionKind::Name);
        }
        let start = self.start();
        let identifier = self.identifier(Expected::Expression)?;
        let name = self.name_in_expression(identifier)?;
        if !self.at(P::ColonColon) || name.arguments.is_some() {
            return Ok(self.expr(ExprKind::Name(name), start));
        }
        self.bump();
        let alias = name.identifier;
        if self.at_marker() {
            self.found_alias(&alias);
        }
        let identifier = self.identifier(Expected::Identifier)?;
        let name = self.name_in_expression(identifier)?;
        Ok(self.expr(
            ExprKind::AliasQualified(Box::new(alias), Box::new(name)),
            start,
        ))
    }

    /// Notes that a name after `alias::` is to be completed.
    pub(super) fn found_alias(&mut self, alias: &Identifier) {
        let alias = alias.clone();
        self.found_marker(|_| CompletionKind::AliasMember { alias });
    }

    /// Type arguments after a name in an expression, if the `<` starts some.
    pub(super) fn name_in_expression(&mut self, identifier: Identifier) -> Parsed<SimpleName> {
        let start = identifier.span.start;
        let mut arguments = None;
        if self.at(P::Less) && self.is_type_arguments(self.pos, super::scan::Before::Nothing)? {
            arguments = Some(Box::new(self.type_arguments()?));
        }
        Ok(SimpleName {
            identifier,
            arguments,
            span: self.span_from(start),
        })
    }

    /// `int` before `.`
    fn predefined(&mut self, predefined: Predefined) -> Parsed<Expr> {
        if predefined == Predefined::Void || !self.punct_at(1, P::Dot) {
            return Err(self.expected(Expected::Expression));
        }
        Ok(self.token(ExprKind::Predefined(predefined)))
    }

    /// `typeof(T)`, `sizeof(T)`, `default(T)` or `default`
    fn type_operator(&mut self, keyword: Keyword) -> Parsed<Expr> {
        let start = self.start();
        self.bump();
        if keyword == Keyword::Default && !self.at(P::OpenParen) {
            return Ok(self.expr(ExprKind::DefaultLiteral, start));
        }
        self.expect(P::OpenParen)?;
        let ty = Box::new(if keyword == Keyword::TypeOf {
            self.ty_or_void()?
        } else {
            self.ty()?
        });
        self.expect(P::CloseParen)?;
        let kind = match keyword {
            Keyword::TypeOf => ExprKind::TypeOf(ty),
            Keyword::SizeOf => ExprKind::SizeOf(ty),
            _ => ExprKind::Default(ty),
        };
        Ok(self.expr(kind, start))
    }

    fn checked(&mut self, checked: bool) -> Parsed<Expr> {
        let start = self.start();
        self.bump();
        self.expect(P::OpenParen)?;
        let inner = self.any_expression()?;
        self.expect(P::CloseParen)?;
        Ok(self.expr(ExprKind::Checked(checked, Box::new(inner)), start))
    }

    fn cast(&mut self) -> Parsed<Expr> {
        let start = self.start();
        self.bump();
        let ty = self.ty()?;
        self.expect(P::CloseParen)?;
        let operand = self.expression(Precedence::Unary)?;
        Ok(self.expr(ExprKind::Cast(Box::new(ty), Box::new(operand)), start))
    }

    /// `[a, ..b]`
    fn collection(&mut self) -> Parsed<Expr> {
        let start = self.start();
        self.bump();
        let mut elements = Vec::new();
        while !self.at(P::CloseBracket) {
            let is_spread = self.eat(P::DotDot);
            let value = self.any_expression()?;
            elements.push(match is_spread {
                true => CollectionElement::Spread(value),
                false => CollectionElement::Value(value),
            });
            if !self.eat(P::Comma) {
                break;
            }
        }
        self.expect_close(P::CloseBracket)?;
        Ok(self.expr(ExprKind::Collection(elements), start))
    }

    /// Whether `await` here is the operator (C# 12.9.8.1): in an async lambda, or before what cannot
    /// follow a name.
    pub(super) fn is_await(&self) -> bool {
        match self.kind_at(self.pos + 1) {
            _ if self.in_async => true,
            T::Identifier(word) => word != Word::With,
            // `await (x)` could call a method of that name, but no one has one.
            T::Punct(P::OpenParen)
            | T::Predefined(_)
            | T::Literal(_)
            | T::InterpolationStart
            | T::Pseudo(_) => true,
            T::Keyword(keyword) => matches!(
                keyword,
                Keyword::New
                    | Keyword::This
                    | Keyword::Base
                    | Keyword::Delegate
                    | Keyword::TypeOf
                    | Keyword::Checked
                    | Keyword::Unchecked
                    | Keyword::Default
                    | Keyword::True
                    | Keyword::False
                    | Keyword::Null
            ),
            _ => false,
        }
    }

    /// Whether the token at `index` can be the first of an expression.
    pub(super) fn starts_expression(&mut self, index: usize) -> bool {
        match self.kind_at(index) {
            T::Identifier(word) => self.is_identifier_at(index) || word == Word::From,
            T::Literal(_) | T::InterpolationStart | T::Pseudo(_) | T::Predefined(_) => true,
            T::Punct(punct) => matches!(
                punct,
                P::OpenParen
                    | P::OpenBracket
                    | P::DotDot
                    | P::Plus
                    | P::Minus
                    | P::Bang
                    | P::Tilde
                    | P::PlusPlus
                    | P::MinusMinus
                    | P::Star
                    | P::Amp
                    | P::Caret
                    | P::ColonColon
            ),
            T::Keyword(keyword) => match keyword {
                Keyword::TypeOf
                | Keyword::Default
                | Keyword::SizeOf
                | Keyword::TypedReference
                | Keyword::Checked
                | Keyword::Unchecked
                | Keyword::Base
                | Keyword::This
                | Keyword::True
                | Keyword::False
                | Keyword::Null
                | Keyword::New
                | Keyword::Delegate
                | Keyword::Throw
                | Keyword::StackAlloc
                | Keyword::Ref => true,
                Keyword::Static => self.is_lambda_at(index),
                _ => false,
            },
            _ => false,
        }
    }
}
