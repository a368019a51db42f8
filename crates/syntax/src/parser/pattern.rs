//! Patterns (C# 11.2).

use super::scan::{Before, ScanMode};
use super::types::TypeMode;
use super::{Parsed, Parser};
use crate::complete::CompletionKind;
use crate::error::{ErrorKind, Expected};
use crate::lexer::{Keyword, P, T, Word};
use crate::tree::{
    Designation, Expr, ExprKind, Pattern, PatternKind, Precedence, RecursivePattern, RelationalOp,
    Subpattern, Type, TypeKind,
};

/// What is the same for all parts of one pattern.
#[derive(Debug, Clone, Copy)]
struct Context {
    /// Constants end at operators that bind no tighter.
    min: Precedence,
    /// Directly after `is`.
    after_is: bool,
    /// In a `switch` arm, where `when` is a keyword.
    has_guard: bool,
}

impl Parser<'_> {
    pub(super) fn pattern_after_is(&mut self) -> Parsed<Pattern> {
        let min = Precedence::Relational;
        self.pattern_in(Context {
            min,
            after_is: true,
            has_guard: false,
        })
    }

    pub(super) fn pattern(&mut self, min: Precedence, has_guard: bool) -> Parsed<Pattern> {
        self.pattern_in(Context {
            min,
            after_is: false,
            has_guard,
        })
    }

    /// `p or q`
    fn pattern_in(&mut self, context: Context) -> Parsed<Pattern> {
        self.nested(|this| {
            let mut left = this.and_pattern(context)?;
            while this.at_word(Word::Or) {
                this.bump();
                this.grow()?;
                let right = this.and_pattern(context)?;
                let span = left.span.to(right.span);
                left = Pattern {
                    kind: PatternKind::Or(Box::new(left), Box::new(right)),
                    span,
                };
            }
            Ok(left)
        })
    }

    /// `p and q`
    fn and_pattern(&mut self, context: Context) -> Parsed<Pattern> {
        let mut left = self.not_pattern(context)?;
        while self.at_word(Word::And) {
            self.bump();
            self.grow()?;
            let right = self.not_pattern(context)?;
            let span = left.span.to(right.span);
            left = Pattern {
                kind: PatternKind::And(Box::new(left), Box::new(right)),
                span,
            };
        }
        Ok(left)
    }

    /// `not p`
    fn not_pattern(&mut self, context: Context) -> Parsed<Pattern> {
        if !self.at_word(Word::Not) {
            return self.primary_pattern(context);
        }
        self.nested(|this| {
            let start = this.start();
            this.bump();
            let inner = this.not_pattern(context)?;
            Ok(this.pat(PatternKind::Not(Box::new(inner)), start))
        })
    }

    fn pat(&self, kind: PatternKind, start: u32) -> Pattern {
        Pattern {
            kind,
            span: self.span_from(start),
        }
    }

    fn primary_pattern(&mut self, context: Context) -> Parsed<Pattern> {
        let start = self.start();
        let relational = match self.kind() {
            T::Identifier(Word::Underscore) => {
                self.bump();
                return Ok(self.pat(PatternKind::Discard, start));
            }
            T::Punct(P::OpenBracket) => return self.list_pattern(context),
            T::Punct(P::DotDot) => return self.slice_pattern(context),
            T::Punct(P::Less) => RelationalOp::Less,
            T::Punct(P::LessEqual) => RelationalOp::LessOrEqual,
            T::Punct(P::Greater) => RelationalOp::Greater,
            T::Punct(P::GreaterEqual) => RelationalOp::GreaterOrEqual,
            T::Punct(P::EqualEqual | P::BangEqual) => {
                let what = "a pattern tests for equality without an operator: `is 5`, `is not 5`";
                let kind = ErrorKind::Misplaced {
                    what,
                    code: "CS1525",
                };
                return Err(self.error(kind, self.span()));
            }
            T::Punct(
                P::Comma
                | P::Semicolon
                | P::CloseBrace
                | P::CloseParen
                | P::CloseBracket
                | P::FatArrow,
            ) => return Err(self.expected(Expected::Pattern)),
            _ => return self.type_or_constant(context),
        };
        self.bump();
        let value = self.expression(Precedence::Relational)?;
        Ok(self.pat(PatternKind::Relational(relational, Box::new(value)), start))
    }

    fn list_pattern(&mut self, context: Context) -> Parsed<Pattern> {
        let start = self.start();
        self.bump();
        let mut patterns = Vec::new();
        while !self.at(P::CloseBracket) && !self.is_cut_off() {
            patterns.push(self.pattern(Precedence::Conditional, false)?);
            if !self.eat(P::Comma) {
                break;
            }
        }
        self.expect_close(P::CloseBracket)?;
        let designation = self.simple_designation(context)?;
        Ok(self.pat(
            PatternKind::List {
                patterns,
                designation,
            },
            start,
        ))
    }

    fn slice_pattern(&mut self, context: Context) -> Parsed<Pattern> {
        let start = self.start();
        self.bump();
        let mut inner = None;
        if self.starts_pattern(self.pos) {
            let context = Context {
                after_is: false,
                ..context
            };
            inner = Some(Box::new(self.pattern_in(context)?));
        }
        Ok(self.pat(PatternKind::Slice(inner), start))
    }

    /// Whether a pattern can start with the token at `index`.
    pub(super) fn starts_pattern(&mut self, index: usize) -> bool {
        self.starts_expression(index)
            || matches!(
                self.kind_at(index),
                T::Punct(
                    P::OpenBrace
                        | P::OpenBracket
                        | P::Less
                        | P::LessEqual
                        | P::Greater
                        | P::GreaterEqual
                )
            )
    }

    /// A pattern that starts with a type, a parenthesis, a brace or a constant.
    fn type_or_constant(&mut self, context: Context) -> Parsed<Pattern> {
        let start = self.start();
        if self.type_of_pattern_follows(context)? {
            let mode = if context.after_is {
                TypeMode::Is
            } else {
                TypeMode::Pattern
            };
            let is_var = self.at_word(Word::Var);
            let ty = self.type_in(mode)?;
            if is_var && ty.is_var() && (self.at(P::OpenParen) || self.is_designation(context)) {
                let designation = self.designation()?;
                return Ok(self.pat(PatternKind::Var(designation), start));
            }
            return self.after_type(ty, context);
        }
        if self.at(P::OpenBrace) {
            return self.recursive(None, None, context, start);
        }
        if self.at(P::OpenParen) && !self.is_cast_in_pattern(context.has_guard)? {
            return self.positional(None, context, start);
        }
        let value = self.expression(context.min)?;
        Ok(self.constant(value, start))
    }

    /// A constant, or a name that may be a type.
    fn constant(&self, value: Expr, start: u32) -> Pattern {
        let name = value.to_name();
        let is_name = name.is_some_and(|it| {
            let is_alias_alone = it.alias.is_some() && it.parts.len() == 1;
            !is_alias_alone && it.parts.last().is_some_and(|last| last.arguments.is_none())
        });
        let value = Box::new(value);
        let kind = match is_name {
            true => PatternKind::TypeOrConstant(value),
            false => PatternKind::Constant(value),
        };
        self.pat(kind, start)
    }

    /// What follows the type of a pattern.
    fn after_type(&mut self, ty: Type, context: Context) -> Parsed<Pattern> {
        let start = ty.span.start;
        if self.at(P::OpenParen) {
            return self.positional(Some(ty), context, start);
        }
        if self.at(P::OpenBrace) {
            return self.recursive(Some(ty), None, context, start);
        }
        if let Some(designation) = self.simple_designation(context)? {
            return Ok(self.pat(PatternKind::Declaration(Box::new(ty), designation), start));
        }
        let Some(name) = name_of(&ty) else {
            return Ok(self.pat(PatternKind::Type(Box::new(ty)), start));
        };
        // A name is rather an expression, which may go on. Each of its dots is a level of the tree.
        for _ in 0..n_parts(&ty) {
            self.grow()?;
        }
        let value = self.operators(name, context.min)?;
        Ok(self.constant(value, start))
    }

    /// `(p, q)`, then braces and a variable; without a type it may be a parenthesised pattern.
    fn positional(&mut self, ty: Option<Type>, context: Context, start: u32) -> Parsed<Pattern> {
        let open = self.start();
        self.bump();
        let mut subpatterns = Vec::new();
        if !self.at(P::CloseParen) {
            loop {
                subpatterns.push(self.subpattern(None)?);
                if !self.eat(P::Comma) {
                    break;
                }
            }
        }
        self.expect_close(P::CloseParen)?;
        let goes_on = self.at(P::OpenBrace) || self.is_designation(context);
        if ty.is_some() || goes_on || subpatterns.len() != 1 {
            return self.recursive(ty, Some(subpatterns), context, start);
        }
        match subpatterns.pop() {
            Some(Subpattern { path, pattern }) if path.is_empty() => match pattern.kind {
                // A parenthesised constant is an expression, which may go on.
                PatternKind::Constant(value) | PatternKind::TypeOrConstant(value) => {
                    self.grow()?;
                    let value = self.expr(ExprKind::Paren(value), open);
                    let value = self.operators(value, context.min)?;
                    Ok(self.constant(value, start))
                }
                _ => {
                    self.grow()?;
                    Ok(self.pat(PatternKind::Paren(Box::new(pattern)), start))
                }
            },
            other => {
                let positional = Some(other.into_iter().collect());
                self.recursive(ty, positional, context, start)
            }
        }
    }

    /// `{ … }` if it follows, and the variable.
    fn recursive(
        &mut self,
        ty: Option<Type>,
        positional: Option<Vec<Subpattern>>,
        context: Context,
        start: u32,
    ) -> Parsed<Pattern> {
        let mut properties = None;
        if self.at(P::OpenBrace) {
            properties = Some(self.properties(ty.as_ref())?);
        }
        let designation = self.simple_designation(context)?;
        let recursive = RecursivePattern {
            ty,
            positional,
            properties,
            designation,
        };
        Ok(self.pat(PatternKind::Recursive(Box::new(recursive)), start))
    }

    fn properties(&mut self, ty: Option<&Type>) -> Parsed<Vec<Subpattern>> {
        self.bump();
        let mut properties = Vec::new();
        while !self.at(P::CloseBrace) && !self.is_cut_off() {
            properties.push(self.subpattern(Some(ty))?);
            if !self.eat(P::Comma) {
                break;
            }
        }
        self.expect_close(P::CloseBrace)?;
        Ok(properties)
    }

    /// `p`, `Name: p` or `A.B: p`; in braces `owner` is the type they belong to.
    fn subpattern(&mut self, owner: Option<Option<&Type>>) -> Parsed<Subpattern> {
        let mut path = Vec::new();
        let mut index = self.pos;
        while matches!(self.kind_at(index), T::Identifier(_))
            && self.kind_at(index + 1) == T::Punct(P::Dot)
        {
            index += 2;
        }
        if let Some(ty) = owner
            && self
                .completing
                .as_ref()
                .is_some_and(|it| it.marker == index)
        {
            // The path is cut off, so all of it is a path to a member.
            let mut names = Vec::new();
            while self.pos < index {
                names.push(self.identifier(Expected::Identifier)?);
                self.bump();
            }
            let ty = ty.cloned();
            self.found_marker(|_| CompletionKind::PatternMember { ty, path: names });
        }
        if matches!(self.kind_at(index), T::Identifier(_))
            && self.kind_at(index + 1) == T::Punct(P::Colon)
        {
            loop {
                path.push(self.identifier(Expected::Identifier)?);
                // Behind `.` or `:`.
                let is_last = self.at(P::Colon);
                self.bump();
                if is_last {
                    break;
                }
            }
        }
        let pattern = self.pattern(Precedence::Conditional, false)?;
        Ok(Subpattern { path, pattern })
    }

    /// Whether a type stands here, and not a constant that starts like one.
    fn type_of_pattern_follows(&mut self, context: Context) -> Parsed<bool> {
        let end = match self.kind() {
            T::Predefined(_) => Some(self.pos + 1),
            T::Identifier(Word::NameOf) if self.punct_at(1, P::OpenParen) => None,
            T::Identifier(_) if self.is_identifier() => self.pattern_name_end(context)?,
            T::Punct(P::OpenParen) => self
                .scan_type(self.pos, ScanMode::Pattern)?
                .map(|scan| scan.end),
            T::Keyword(Keyword::Delegate) if self.punct_at(1, P::Star) => self
                .scan_type(self.pos, ScanMode::Normal)?
                .map(|scan| scan.end),
            _ => None,
        };
        let Some(end) = end else { return Ok(false) };
        let end = self.pattern_type_end(end, context);
        Ok(self.can_follow_pattern_type(end, context.min))
    }

    /// The end of the dotted name here, with type arguments only where they are likely.
    fn pattern_name_end(&mut self, context: Context) -> Parsed<Option<usize>> {
        let before = if context.after_is {
            Before::Is
        } else {
            Before::Pattern
        };
        let mut end = self.pos;
        loop {
            if !self.is_identifier_at(end) {
                return Ok(None);
            }
            end += 1;
            if self.kind_at(end) == T::Punct(P::Less) && self.is_type_arguments(end, before)? {
                end = self.type_arguments_end(end)?;
            }
            match self.kind_at(end) {
                T::Punct(P::Dot | P::ColonColon) => end += 1,
                _ => return Ok(Some(end)),
            }
        }
    }

    /// The end of a type in a pattern with its suffixes; `index` is behind its name.
    fn pattern_type_end(&mut self, mut index: usize, context: Context) -> usize {
        let mode = if context.after_is {
            TypeMode::Is
        } else {
            TypeMode::Pattern
        };
        loop {
            let last = self.kind_at(index.saturating_sub(1));
            index = match self.kind_at(index) {
                T::Punct(P::Question)
                    if !matches!(last, T::Punct(P::Question | P::Star))
                        && self.nullable_allowed(index, mode) =>
                {
                    index + 1
                }
                T::Punct(P::Star)
                    if last != T::Punct(P::CloseBracket) && self.pointer_allowed(index, mode) =>
                {
                    index + 1
                }
                T::Punct(P::OpenBracket) => match self.rank_at(index) {
                    Some((_, end)) => end,
                    None => return index,
                },
                _ => return index,
            };
        }
    }

    /// Whether what is at `index`, behind a type, leaves it a type and does not make it an operand.
    fn can_follow_pattern_type(&mut self, index: usize, min: Precedence) -> bool {
        let T::Punct(punct) = self.kind_at(index) else {
            return !matches!(self.kind_at(index), T::Keyword(Keyword::Is | Keyword::As))
                || Precedence::Relational <= min;
        };
        let precedence = match punct {
            P::Dot | P::Arrow | P::Bang | P::ColonColon | P::OpenBracket => return false,
            P::Plus | P::Minus => Precedence::Additive,
            P::Star | P::Slash | P::Percent => Precedence::Multiplicative,
            P::LessLess => Precedence::Shift,
            P::Less | P::LessEqual | P::Greater | P::GreaterEqual => Precedence::Relational,
            P::EqualEqual | P::BangEqual => Precedence::Equality,
            P::Amp => Precedence::LogicalAnd,
            P::Caret => Precedence::LogicalXor,
            P::Bar => Precedence::LogicalOr,
            P::AmpAmp => Precedence::ConditionalAnd,
            P::BarBar => Precedence::ConditionalOr,
            P::QuestionQuestion => Precedence::Coalescing,
            _ => return true,
        };
        precedence <= min
    }

    /// Whether a name here is the variable of a pattern and not `and`, `or` or `when`.
    fn is_designation(&mut self, context: Context) -> bool {
        let T::Identifier(word) = self.kind() else {
            return false;
        };
        match word {
            _ if !self.is_identifier() => false,
            Word::When => !context.has_guard,
            Word::And | Word::Or => match self.kind_at(self.pos + 1) {
                T::Punct(punct) => match punct {
                    P::CloseBrace
                    | P::CloseBracket
                    | P::CloseParen
                    | P::Comma
                    | P::Semicolon
                    | P::Question
                    | P::Colon => true,
                    P::LessEqual
                    | P::Less
                    | P::GreaterEqual
                    | P::Greater
                    | P::OpenBrace
                    | P::OpenParen
                    | P::OpenBracket => false,
                    P::AmpAmp | P::BarBar | P::QuestionQuestion | P::EqualEqual | P::BangEqual => {
                        true
                    }
                    P::Plus
                    | P::Minus
                    | P::Star
                    | P::Amp
                    | P::Caret
                    | P::Slash
                    | P::Percent
                    | P::Bar
                    | P::LessLess => true,
                    _ => !self.starts_expression(self.pos + 1),
                },
                T::Identifier(_) => false,
                T::Keyword(Keyword::Is | Keyword::As) => true,
                _ => !self.starts_expression(self.pos + 1),
            },
            _ => true,
        }
    }

    /// The variable of a pattern, if one follows.
    fn simple_designation(&mut self, context: Context) -> Parsed<Option<Designation>> {
        if !self.is_designation(context) {
            return Ok(None);
        }
        self.single_designation().map(Some)
    }

    fn single_designation(&mut self) -> Parsed<Designation> {
        if self.at_word(Word::Underscore) {
            return Ok(Designation::Discard(self.bump()));
        }
        self.identifier(Expected::Identifier)
            .map(Designation::Single)
    }

    /// `x`, `_` or `(x, y)`
    pub(super) fn designation(&mut self) -> Parsed<Designation> {
        if !self.at(P::OpenParen) {
            return self.single_designation();
        }
        self.nested(|this| {
            let start = this.start();
            this.bump();
            let mut variables = Vec::new();
            if !this.at(P::CloseParen) {
                loop {
                    variables.push(this.designation()?);
                    if !this.eat(P::Comma) {
                        break;
                    }
                }
            }
            this.expect_close(P::CloseParen)?;
            Ok(Designation::Tuple(variables, this.span_from(start)))
        })
    }
}

/// The number of names between the dots.
fn n_parts(ty: &Type) -> usize {
    match &ty.kind {
        TypeKind::Name(name) => name.parts.len(),
        _ => 0,
    }
}

/// The type as an expression if it is a name whose last part has no type arguments.
fn name_of(ty: &Type) -> Option<Expr> {
    let TypeKind::Name(name) = &ty.kind else {
        return None;
    };
    let is_alias_alone = name.alias.is_some() && name.parts.len() == 1;
    if is_alias_alone || name.parts.last()?.arguments.is_some() {
        return None;
    }
    name.to_expr()
}
