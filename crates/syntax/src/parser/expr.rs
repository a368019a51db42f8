//! Operators: one loop that takes all that bind tightly enough (C# 12.4.2).

use super::{Parsed, Parser};
use crate::error::{ErrorKind, Refused};
use crate::lexer::{Keyword, P, T, Word};
use crate::tree::{AssignOp, BinaryOp, Expr, ExprKind, Pattern, Precedence, SwitchArm, UnaryOp};

/// What can follow an expression and take it as its left side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Binary(BinaryOp),
    Assign(AssignOp),
    Is,
    As,
    Switch,
    With,
    Range,
}

impl Operator {
    fn precedence(self) -> Precedence {
        match self {
            Self::Binary(op) => op.precedence(),
            Self::Assign(_) => Precedence::Expression,
            Self::Is | Self::As => Precedence::Relational,
            Self::Switch | Self::With => Precedence::Switch,
            Self::Range => Precedence::Range,
        }
    }

    fn is_right_associative(self) -> bool {
        matches!(self, Self::Assign(_) | Self::Binary(BinaryOp::Coalesce))
    }
}

impl Parser<'_> {
    /// Any expression.
    pub(crate) fn any_expression(&mut self) -> Parsed<Expr> {
        self.expression(Precedence::Expression)
    }

    /// An expression that is an operand of an operator with precedence `min`.
    pub(crate) fn expression(&mut self, min: Precedence) -> Parsed<Expr> {
        self.nested(|this| {
            let left = this.operand(min)?;
            this.operators(left, min)
        })
    }

    /// `ref e` or `e`
    pub(super) fn possible_ref(&mut self) -> Parsed<Expr> {
        if !self.at_keyword(Keyword::Ref) || self.is_lambda_at(self.pos) {
            return self.any_expression();
        }
        self.nested(|this| {
            let start = this.start();
            this.bump();
            let inner = this.any_expression()?;
            Ok(this.expr(ExprKind::Ref(Box::new(inner)), start))
        })
    }

    /// An expression without the binary operators after it.
    fn operand(&mut self, min: Precedence) -> Parsed<Expr> {
        let start = self.start();
        let op = match self.kind() {
            T::Punct(P::Plus) => UnaryOp::Plus,
            T::Punct(P::Minus) => UnaryOp::Minus,
            T::Punct(P::Bang) => UnaryOp::Not,
            T::Punct(P::Tilde) => UnaryOp::Complement,
            T::Punct(P::PlusPlus) => UnaryOp::Increment,
            T::Punct(P::MinusMinus) => UnaryOp::Decrement,
            T::Punct(P::Star) => UnaryOp::Dereference,
            T::Punct(P::Amp) => UnaryOp::AddressOf,
            T::Punct(P::Caret) => UnaryOp::FromEnd,
            T::Punct(P::DotDot) => return self.range(None, start),
            T::Identifier(Word::Await) if self.is_await() => {
                let span = self.span();
                return Err(self.error(ErrorKind::Refused(Refused::Await), span));
            }
            T::Identifier(Word::From) if self.is_query() => return self.query(),
            T::Keyword(Keyword::Throw) => {
                let span = self.span();
                return Err(self.error(ErrorKind::Refused(Refused::Throw), span));
            }
            _ => return self.primary(min),
        };
        self.bump();
        let operand = self.expression(Precedence::Unary)?;
        Ok(self.expr(ExprKind::Unary(op, Box::new(operand)), start))
    }

    /// All operators after `left` that bind tighter than `min`.
    pub(super) fn operators(&mut self, mut left: Expr, min: Precedence) -> Parsed<Expr> {
        while let Some((op, n_tokens)) = self.operator() {
            let precedence = op.precedence();
            if precedence < min || precedence == min && !op.is_right_associative() {
                break;
            }
            if matches!(left.kind, ExprKind::Is(..)) && precedence > Precedence::Relational {
                // `a is {} + b`: the pattern has ended, and nothing can use the whole as an operand.
                return Err(self.error(
                    ErrorKind::Unexpected {
                        found: self.found(),
                    },
                    self.span(),
                ));
            }
            self.pos += n_tokens;
            self.grow()?;
            left = self.operator_end(left, op)?;
        }
        if self.at(P::Question) && min <= Precedence::Conditional {
            self.grow()?;
            return self.conditional(left);
        }
        Ok(left)
    }

    /// The right side of `op`, which is read.
    fn operator_end(&mut self, left: Expr, op: Operator) -> Parsed<Expr> {
        let start = left.span.start;
        let left = Box::new(left);
        let kind = match op {
            Operator::Binary(op) => {
                ExprKind::Binary(op, left, Box::new(self.expression(op.precedence())?))
            }
            Operator::Assign(AssignOp::Assign) => {
                ExprKind::Assign(AssignOp::Assign, left, Box::new(self.possible_ref()?))
            }
            Operator::Assign(op) => ExprKind::Assign(op, left, Box::new(self.any_expression()?)),
            Operator::Is => ExprKind::Is(left, Box::new(self.pattern_after_is()?)),
            Operator::As => ExprKind::As(left, Box::new(self.type_after_as()?)),
            Operator::Switch => ExprKind::Switch(left, self.switch_arms()?),
            Operator::With => ExprKind::With(left, self.with_initializer()?),
            Operator::Range => return self.range(Some(left), start),
        };
        Ok(self.expr(kind, start))
    }

    /// `..` and its right side; for a binary one the `..` is read already.
    fn range(&mut self, left: Option<Box<Expr>>, start: u32) -> Parsed<Expr> {
        if left.is_none() {
            self.bump();
        }
        let right = if self.starts_expression(self.pos) {
            Some(Box::new(self.expression(Precedence::Range)?))
        } else {
            None
        };
        Ok(self.expr(ExprKind::Range(left, right), start))
    }

    /// The operator here, and of how many tokens it is.
    fn operator(&self) -> Option<(Operator, usize)> {
        let binary = |op| Some((Operator::Binary(op), 1));
        let assign = |op| Some((Operator::Assign(op), 1));
        match self.kind() {
            T::Keyword(Keyword::Is) => Some((Operator::Is, 1)),
            T::Keyword(Keyword::As) => Some((Operator::As, 1)),
            T::Keyword(Keyword::Switch) if self.punct_at(1, P::OpenBrace) => {
                Some((Operator::Switch, 1))
            }
            T::Identifier(Word::With) if self.punct_at(1, P::OpenBrace) => {
                Some((Operator::With, 1))
            }
            T::Punct(punct) => match punct {
                P::DotDot => Some((Operator::Range, 1)),
                P::Plus => binary(BinaryOp::Add),
                P::Minus => binary(BinaryOp::Subtract),
                P::Star => binary(BinaryOp::Multiply),
                P::Slash => binary(BinaryOp::Divide),
                P::Percent => binary(BinaryOp::Remainder),
                P::LessLess => binary(BinaryOp::ShiftLeft),
                P::Less => binary(BinaryOp::Less),
                P::LessEqual => binary(BinaryOp::LessOrEqual),
                P::GreaterEqual => binary(BinaryOp::GreaterOrEqual),
                P::EqualEqual => binary(BinaryOp::Equal),
                P::BangEqual => binary(BinaryOp::NotEqual),
                P::Amp => binary(BinaryOp::And),
                P::Caret => binary(BinaryOp::Xor),
                P::Bar => binary(BinaryOp::Or),
                P::AmpAmp => binary(BinaryOp::ConditionalAnd),
                P::BarBar => binary(BinaryOp::ConditionalOr),
                P::QuestionQuestion => binary(BinaryOp::Coalesce),
                P::Equal => assign(AssignOp::Assign),
                P::PlusEqual => assign(AssignOp::Add),
                P::MinusEqual => assign(AssignOp::Subtract),
                P::StarEqual => assign(AssignOp::Multiply),
                P::SlashEqual => assign(AssignOp::Divide),
                P::PercentEqual => assign(AssignOp::Remainder),
                P::AmpEqual => assign(AssignOp::And),
                P::CaretEqual => assign(AssignOp::Xor),
                P::BarEqual => assign(AssignOp::Or),
                P::LessLessEqual => assign(AssignOp::ShiftLeft),
                P::QuestionQuestionEqual => assign(AssignOp::Coalesce),
                P::Greater => Some(self.greater()),
                _ => None,
            },
            _ => None,
        }
    }

    /// `>`, `>>`, `>>>`, `>>=` or `>>>=`: the tokens must touch.
    fn greater(&self) -> (Operator, usize) {
        let touching = |index: usize, punct| {
            self.kind_at(index) == T::Punct(punct)
                && self.span_at(index).start == self.span_at(index - 1).end
        };
        let (second, third) = (self.pos + 1, self.pos + 2);
        if touching(second, P::GreaterEqual) {
            return (Operator::Assign(AssignOp::ShiftRight), 2);
        }
        if !touching(second, P::Greater) {
            return (Operator::Binary(BinaryOp::Greater), 1);
        }
        if touching(third, P::GreaterEqual) {
            return (Operator::Assign(AssignOp::UnsignedShiftRight), 3);
        }
        if touching(third, P::Greater) {
            return (Operator::Binary(BinaryOp::UnsignedShiftRight), 3);
        }
        (Operator::Binary(BinaryOp::ShiftRight), 2)
    }

    /// The braces of a `switch` expression.
    fn switch_arms(&mut self) -> Parsed<Vec<SwitchArm>> {
        self.expect(P::OpenBrace)?;
        let mut arms = Vec::new();
        while !self.at(P::CloseBrace) && !self.is_cut_off() {
            // A lambda or a conditional would take the `=>` or end in one that does.
            let pattern: Pattern = self.pattern(Precedence::Coalescing, true)?;
            let mut guard = None;
            if self.at_word(Word::When) {
                self.bump();
                guard = Some(self.expression(Precedence::Coalescing)?);
            }
            self.expect(P::FatArrow)?;
            let value = self.any_expression()?;
            arms.push(SwitchArm {
                pattern,
                guard,
                value,
            });
            if !self.eat(P::Comma) {
                break;
            }
        }
        self.expect_close(P::CloseBrace)?;
        Ok(arms)
    }
}
