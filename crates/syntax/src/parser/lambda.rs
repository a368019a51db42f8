//! Lambdas (C# 12.19).

use super::scan::ScanMode;
use super::{Parsed, Parser};
use crate::error::{ErrorKind, Expected, Refused};
use crate::lexer::{Keyword, P, T, Word};
use crate::tree::{
    Block, Expr, ExprKind, Lambda, LambdaParameter, ParameterModifier, ReturnRef, Statement, Type,
};

impl Parser<'_> {
    /// Whether a lambda starts at `index`: its `=>` decides, which stands behind a name or a parenthesis.
    pub(super) fn is_lambda_at(&mut self, index: usize) -> bool {
        if !self.can_start_lambda(index) {
            return false;
        }
        let index = self.skip_lambda_modifiers(index);
        if self.is_simple_lambda(index) || self.is_lambda_parameters(index) {
            return true;
        }
        // `T (x) => x`, or `T ? (x) => x : y`, which is none.
        match self.scan_type(index, ScanMode::Normal) {
            Ok(Some(ty)) if self.is_lambda_parameters(ty.end) => {
                !(ty.is_nullable() && self.colon_follows(self.lambda_body(ty.end)))
            }
            _ => false,
        }
    }

    /// Whether `[A] x => x` starts here.
    pub(super) fn is_lambda_with_attributes(&mut self) -> bool {
        let close = self.matching(self.pos).filter(|_| self.at(P::OpenBracket));
        close.is_some_and(|close| close > self.pos + 1 && self.is_lambda_at(close + 1))
    }

    /// A quick look at the first token, so that most expressions are not scanned twice.
    fn can_start_lambda(&self, index: usize) -> bool {
        match self.kind_at(index) {
            T::Identifier(_) => self.is_identifier_at(index),
            T::Predefined(_) | T::Punct(P::OpenParen) => true,
            T::Keyword(Keyword::Static | Keyword::Ref) => true,
            T::Keyword(Keyword::Delegate) => self.kind_at(index + 1) == T::Punct(P::Star),
            _ => false,
        }
    }

    fn skip_lambda_modifiers(&self, mut index: usize) -> usize {
        loop {
            match self.kind_at(index) {
                T::Keyword(Keyword::Static) => index += 1,
                T::Identifier(Word::Async) if self.is_async_modifier(index) => index += 1,
                _ => return index,
            }
        }
    }

    /// Whether what follows `async` at `index` makes it a modifier and not a name.
    fn is_async_modifier(&self, index: usize) -> bool {
        matches!(
            self.kind_at(index + 1),
            T::Punct(P::OpenParen)
                | T::Identifier(_)
                | T::Predefined(_)
                | T::Keyword(Keyword::Static | Keyword::Ref | Keyword::Delegate)
        )
    }

    fn is_simple_lambda(&self, index: usize) -> bool {
        self.is_identifier_at(index) && self.kind_at(index + 1) == T::Punct(P::FatArrow)
    }

    /// Whether `=>` follows the parenthesis that opens at `index`.
    fn is_lambda_parameters(&self, index: usize) -> bool {
        self.kind_at(index) == T::Punct(P::OpenParen)
            && self
                .matching(index)
                .is_some_and(|it| self.kind_at(it + 1) == T::Punct(P::FatArrow))
    }

    /// The index behind the `=>` of the parameters that open at `index`.
    fn lambda_body(&self, index: usize) -> usize {
        self.matching(index).map_or(index, |close| close + 2)
    }

    /// Whether `delegate { … }` starts here, perhaps with modifiers.
    pub(super) fn is_anonymous_method(&self) -> bool {
        let index = self.skip_lambda_modifiers(self.pos);
        self.kind_at(index) == T::Keyword(Keyword::Delegate)
            && self.kind_at(index + 1) != T::Punct(P::Star)
    }

    /// A lambda; [`Parser::is_lambda_at`] said that it is one.
    pub(super) fn lambda(&mut self) -> Parsed<Expr> {
        let start = self.start();
        let (mut is_static, mut is_async) = (false, false);
        loop {
            match self.kind() {
                T::Keyword(Keyword::Static) => is_static = true,
                T::Identifier(Word::Async) if self.is_async_modifier(self.pos) => is_async = true,
                _ => break,
            }
            self.bump();
        }
        let was_async = self.in_async;
        self.in_async |= is_async;

        let mut return_type = None;
        let mut return_ref = None;
        let mut parameters = Vec::new();
        let parenthesized = !self.is_simple_lambda(self.pos);
        if parenthesized {
            if !self.is_lambda_parameters(self.pos) {
                (return_ref, return_type) = self.return_type()?;
            }
            parameters = self.lambda_parameters()?;
        } else {
            let name = self.identifier(Expected::Identifier)?;
            parameters.push(LambdaParameter {
                scoped: false,
                modifier: None,
                ty: None,
                name,
                default: None,
            });
        }
        self.expect(P::FatArrow)?;
        let (block, body) = match self.at(P::OpenBrace) {
            true => {
                let (block, body) = self.block()?;
                (Some(block), body)
            }
            false => (None, self.possible_ref()?),
        };
        self.in_async = was_async;
        let lambda = Lambda {
            is_static,
            is_async,
            return_type,
            return_ref,
            parameters,
            parenthesized,
            block,
            body,
        };
        Ok(self.expr(ExprKind::Lambda(Box::new(lambda)), start))
    }

    /// `{ var a = b; c(); return d; }`: what comes before the last expression, and that.
    fn block(&mut self) -> Parsed<(Block, Expr)> {
        let open = self.span();
        let other = |this: &Self, at| this.error(ErrorKind::Refused(Refused::StatementLambda), at);
        self.expect(P::OpenBrace)?;
        let mut statements = Vec::new();
        loop {
            let at = self.span();
            if self.at(P::CloseBrace) {
                self.bump();
                let last = statements.pop();
                let Some(Statement::Expr(body)) = last else {
                    return Err(other(self, open));
                };
                let returns = false;
                return Ok((
                    Block {
                        statements,
                        returns,
                    },
                    body,
                ));
            }
            if self.kind() == T::Keyword(Keyword::Statement) {
                if at.of(self.text()) != "return"
                    || self.kind_at(self.pos + 1) == T::Punct(P::Semicolon)
                {
                    return Err(other(self, at));
                }
                self.bump();
                let body = self.possible_ref()?;
                self.expect(P::Semicolon)?;
                if !self.at(P::CloseBrace) && !self.is_cut_off() {
                    return Err(other(self, self.span()));
                }
                self.bump();
                let returns = true;
                return Ok((
                    Block {
                        statements,
                        returns,
                    },
                    body,
                ));
            }
            let statement = match self.scan_type(self.pos, ScanMode::Normal) {
                Ok(Some(ty)) if self.is_declared_at(ty.end) => {
                    let ty = self.ty()?;
                    let name = self.identifier(Expected::Identifier)?;
                    self.expect(P::Equal)?;
                    let value = self.any_expression()?;
                    Statement::Declare { ty, name, value }
                }
                _ => Statement::Expr(self.any_expression()?),
            };
            if self.is_cut_off() {
                // Completion asks for what stands last, which may become anything.
                let body = match statement {
                    Statement::Expr(body) | Statement::Declare { value: body, .. } => body,
                };
                let returns = true;
                return Ok((
                    Block {
                        statements,
                        returns,
                    },
                    body,
                ));
            }
            self.expect(P::Semicolon)?;
            statements.push(statement);
        }
    }

    /// Whether a variable with a value is declared by the name at `index`.
    fn is_declared_at(&self, index: usize) -> bool {
        self.is_identifier_at(index) && self.kind_at(index + 1) == T::Punct(P::Equal)
    }

    fn return_type(&mut self) -> Parsed<(Option<ReturnRef>, Option<Type>)> {
        let mut return_ref = None;
        if self.eat_keyword(Keyword::Ref) {
            return_ref = Some(ReturnRef::Ref);
            if self.eat_keyword(Keyword::Readonly) {
                return_ref = Some(ReturnRef::RefReadonly);
            }
        }
        Ok((return_ref, Some(self.ty_or_void()?)))
    }

    fn lambda_parameters(&mut self) -> Parsed<Vec<LambdaParameter>> {
        self.expect(P::OpenParen)?;
        let mut parameters = Vec::new();
        if !self.at(P::CloseParen) {
            loop {
                parameters.push(self.lambda_parameter()?);
                if !self.eat(P::Comma) {
                    break;
                }
            }
        }
        self.expect_close(P::CloseParen)?;
        Ok(parameters)
    }

    fn lambda_parameter(&mut self) -> Parsed<LambdaParameter> {
        if self.at(P::OpenBracket) {
            return Err(self.error(ErrorKind::Refused(Refused::LambdaAttributes), self.span()));
        }
        let scoped = self.at_word(Word::Scoped) && self.is_scoped_modifier();
        if scoped {
            self.bump();
        }
        let modifier = self.parameter_modifier();
        let has_type = scoped || modifier.is_some() || self.has_parameter_type();
        let ty = if has_type { Some(self.ty()?) } else { None };
        let name = self.identifier(Expected::Identifier)?;
        let default = if self.eat(P::Equal) {
            Some(self.any_expression()?)
        } else {
            None
        };
        Ok(LambdaParameter {
            scoped,
            modifier,
            ty,
            name,
            default,
        })
    }

    /// Whether `scoped` here is not the parameter's type or name.
    fn is_scoped_modifier(&self) -> bool {
        match self.kind_at(self.pos + 1) {
            T::Keyword(Keyword::Ref | Keyword::Out | Keyword::In) | T::Predefined(_) => true,
            // `scoped x` declares an `x` of type `scoped`; `scoped T x` does not.
            T::Identifier(_) => !matches!(
                self.kind_at(self.pos + 2),
                T::Punct(P::Comma | P::CloseParen | P::Equal)
            ),
            _ => false,
        }
    }

    pub(super) fn parameter_modifier(&mut self) -> Option<ParameterModifier> {
        let modifier = match self.kind() {
            T::Keyword(Keyword::Ref) => {
                if self.kind_at(self.pos + 1) == T::Keyword(Keyword::Readonly) {
                    self.bump();
                    ParameterModifier::RefReadonly
                } else {
                    ParameterModifier::Ref
                }
            }
            T::Keyword(Keyword::Out) => ParameterModifier::Out,
            T::Keyword(Keyword::In) => ParameterModifier::In,
            T::Keyword(Keyword::Params) => ParameterModifier::Params,
            _ => return None,
        };
        self.bump();
        Some(modifier)
    }

    /// Whether the parameter here has a type before its name.
    fn has_parameter_type(&self) -> bool {
        match self.kind() {
            T::Predefined(_) | T::Punct(P::OpenParen) | T::Keyword(Keyword::Delegate) => true,
            T::Identifier(_) => !matches!(
                self.kind_at(self.pos + 1),
                T::Punct(P::Comma | P::CloseParen | P::Equal | P::FatArrow)
            ),
            _ => false,
        }
    }
}
