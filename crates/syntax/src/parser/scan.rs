//! Looking ahead without building a tree: where C#'s grammar is ambiguous, the tokens behind decide.
//!
//! The rules are those of C# 6.2.5 (generic names) and 12.9.7 (casts) with what the compiler added for
//! patterns. Only type arguments, tuples and function pointers nest, and what was found out about those is remembered, so
//! that asking at every token costs linear time in all.

use super::{Parsed, Parser};
use crate::MAX_DEPTH;
use crate::error::ErrorKind;
use crate::lexer::{Keyword, P, T, Word};

/// Something that can be read as a type.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scan {
    kind: Certainty,
    /// The index behind its last token.
    pub(super) end: usize,
}

impl Scan {
    /// Whether it ends in `?`.
    pub(super) fn is_nullable(self) -> bool {
        self.kind == Certainty::Nullable
    }
}

/// How sure it is that the tokens are a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Certainty {
    /// It has a keyword or array brackets.
    MustBeType,
    /// `A<B>`, could be comparisons.
    GenericOrExpression,
    /// `A<int>`, could only be a type or a method.
    GenericOrMethod,
    /// `A.B`
    Name,
    /// `A::B`
    Alias,
    /// `A?`
    Nullable,
    /// `A*`, could be a product.
    Pointer,
    /// `(A, B)`, could be a tuple of values.
    Tuple,
}

/// Which types are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScanMode {
    /// All.
    Normal,
    /// Those in a pattern: no pointers, and tuples only as elements of an array.
    Pattern,
    /// Those in a tuple expression: no pointers but in arrays.
    TupleElement,
}

/// What stands before a generic name, as that can make type arguments more likely.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    Nothing,
    Is,
    Pattern,
}

/// A question about tokens whose answer is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ScanKey {
    index: usize,
    /// Names differ inside of a query.
    in_query: bool,
}

/// An answer: for `<` whether type arguments follow, for `(` a tuple type, for `delegate` a pointer type.
#[derive(Debug, Clone, Copy)]
pub(super) struct Remembered {
    scan: Option<Scan>,
    /// For type arguments: it cannot be a comparison.
    definite: bool,
}

impl Parser<'_> {
    /// The type that starts at `index`, if what is there can be one.
    pub(super) fn scan_type(&mut self, index: usize, mode: ScanMode) -> Parsed<Option<Scan>> {
        let mut index = index;
        if self.kind_at(index) == T::Keyword(Keyword::Ref) {
            index += 1;
            if self.kind_at(index) == T::Keyword(Keyword::Readonly) {
                index += 1;
            }
        }
        let start = match self.kind_at(index) {
            T::Identifier(_) => self.scan_name(index)?,
            T::Predefined(_) => Some(Scan {
                kind: Certainty::MustBeType,
                end: index + 1,
            }),
            T::Punct(P::OpenParen) => {
                let tuple = self.scan_tuple(index)?;
                let only_array = mode == ScanMode::Pattern;
                tuple.filter(|it| !only_array || self.kind_at(it.end) == T::Punct(P::OpenBracket))
            }
            T::Keyword(Keyword::Delegate) if self.kind_at(index + 1) == T::Punct(P::Star) => {
                self.scan_function_pointer(index)?
            }
            _ => None,
        };
        Ok(start.and_then(|start| self.scan_suffixes(start, mode)))
    }

    /// `?`, `*` and `[]` after a type.
    fn scan_suffixes(&self, mut scan: Scan, mode: ScanMode) -> Option<Scan> {
        loop {
            let last = self.kind_at(scan.end - 1);
            match self.kind_at(scan.end) {
                T::Punct(P::Question) if !matches!(last, T::Punct(P::Question | P::Star)) => {
                    scan = Scan {
                        kind: Certainty::Nullable,
                        end: scan.end + 1,
                    };
                }
                T::Punct(P::Star) if last != T::Punct(P::CloseBracket) => {
                    let fits = match mode {
                        ScanMode::Normal => true,
                        ScanMode::Pattern => false,
                        ScanMode::TupleElement => self.stars_before_bracket(scan.end),
                    };
                    if !fits {
                        return Some(scan);
                    }
                    let kind = match scan.kind {
                        Certainty::GenericOrExpression | Certainty::Name => Certainty::Pointer,
                        Certainty::GenericOrMethod => Certainty::MustBeType,
                        kind => kind,
                    };
                    scan = Scan {
                        kind,
                        end: scan.end + 1,
                    };
                }
                T::Punct(P::OpenBracket) => {
                    let (_, end) = self.rank_at(scan.end)?;
                    scan = Scan {
                        kind: Certainty::MustBeType,
                        end,
                    };
                }
                _ => return Some(scan),
            }
        }
    }

    /// Whether only `*` stand between `index` and a `[`.
    pub(super) fn stars_before_bracket(&self, mut index: usize) -> bool {
        while self.kind_at(index) == T::Punct(P::Star) {
            index += 1;
        }
        self.kind_at(index) == T::Punct(P::OpenBracket)
    }

    /// `A.B<C>.D`, `A::B`
    fn scan_name(&mut self, index: usize) -> Parsed<Option<Scan>> {
        let mut is_alias = self.kind_at(index + 1) == T::Punct(P::ColonColon);
        let mut separators = 0;
        let Some(mut scan) = self.scan_name_part(index)? else {
            return Ok(None);
        };
        while let T::Punct(P::Dot | P::ColonColon) = self.kind_at(scan.end) {
            separators += 1;
            let Some(part) = self.scan_name_part(scan.end + 1)? else {
                return Ok(None);
            };
            scan = part;
        }
        is_alias &= separators == 1;
        if is_alias {
            scan.kind = Certainty::Alias;
        }
        Ok(Some(scan))
    }

    fn scan_name_part(&mut self, index: usize) -> Parsed<Option<Scan>> {
        if !self.is_identifier_at(index) {
            return Ok(None);
        }
        if self.kind_at(index + 1) == T::Punct(P::Less) {
            return Ok(self.scan_type_arguments(index + 1)?.scan);
        }
        Ok(Some(Scan {
            kind: Certainty::Name,
            end: index + 1,
        }))
    }

    /// Answers with `scan` unless the answer for the token at `index` is known.
    fn remember(
        &mut self,
        index: usize,
        scan: impl FnOnce(&mut Self) -> Parsed<Remembered>,
    ) -> Parsed<Remembered> {
        let key = ScanKey {
            index,
            in_query: self.in_query,
        };
        if let Some(known) = self.remembered.get(&key) {
            return Ok(*known);
        }
        if self.scan_depth >= MAX_DEPTH {
            return Err(self.error(ErrorKind::TooDeep, self.span_at(index)));
        }
        self.scan_depth += 1;
        let answer = scan(self);
        self.scan_depth -= 1;
        let answer = answer?;
        self.remembered.insert(key, answer);
        Ok(answer)
    }

    /// `<A, B>`, the `<` at `index`.
    fn scan_type_arguments(&mut self, index: usize) -> Parsed<Remembered> {
        self.remember(index, |this| this.scan_type_arguments_anew(index))
    }

    fn scan_type_arguments_anew(&mut self, index: usize) -> Parsed<Remembered> {
        const NONE: Remembered = Remembered {
            scan: None,
            definite: false,
        };
        let mut kind = Certainty::GenericOrExpression;
        let mut definite = false;
        let mut end = index;
        loop {
            // Behind `<` or `,`.
            end += 1;
            if self.kind_at(end) == T::Punct(P::Greater) {
                break;
            }
            if self.kind_at(end) == T::Punct(P::OpenBracket) {
                return Ok(NONE);
            }
            let Some(argument) = self.scan_type(end, ScanMode::Normal)? else {
                return Ok(NONE);
            };
            end = argument.end;
            let next = self.kind_at(end);
            let closes = matches!(next, T::Punct(P::Comma | P::Greater));
            match argument.kind {
                Certainty::MustBeType => {
                    definite |= closes;
                    kind = Certainty::GenericOrMethod;
                }
                // Not yet with anything else behind: `X < Y ? Z : W`.
                Certainty::Nullable => {
                    definite |= closes;
                    if definite {
                        kind = Certainty::GenericOrMethod;
                    }
                }
                // `X<Y<Z>,` is one, but `X<Y<Z>>` might compare and shift.
                Certainty::GenericOrExpression if !definite => {
                    definite = next == T::Punct(P::Comma);
                    kind = Certainty::GenericOrMethod;
                }
                Certainty::GenericOrMethod => kind = Certainty::GenericOrMethod,
                _ => {}
            }
            match next {
                T::Punct(P::Comma) => {}
                T::Punct(P::Greater) => break,
                _ => return Ok(NONE),
            }
        }
        Ok(Remembered {
            scan: Some(Scan { kind, end: end + 1 }),
            definite,
        })
    }

    /// The index behind the type arguments that start at `index`.
    pub(super) fn type_arguments_end(&mut self, index: usize) -> Parsed<usize> {
        Ok(self
            .scan_type_arguments(index)?
            .scan
            .map_or(index, |scan| scan.end))
    }

    /// Whether the `<` at `index`, which follows a name in an expression, starts type arguments.
    pub(super) fn is_type_arguments(&mut self, index: usize, before: Before) -> Parsed<bool> {
        let Remembered { scan, definite } = self.scan_type_arguments(index)?;
        let Some(scan) = scan else { return Ok(false) };
        if definite {
            return Ok(true);
        }
        Ok(match self.kind_at(scan.end) {
            T::Punct(punct) => match punct {
                P::OpenParen
                | P::CloseParen
                | P::CloseBracket
                | P::CloseBrace
                | P::Colon
                | P::Semicolon
                | P::Comma
                | P::Dot
                | P::DotDot
                | P::Question
                | P::EqualEqual
                | P::BangEqual
                | P::Bar
                | P::Caret
                | P::AmpAmp
                | P::BarBar
                | P::Amp
                | P::OpenBracket
                | P::Less
                | P::LessEqual
                | P::GreaterEqual
                | P::OpenBrace
                | P::FatArrow => true,
                // `x is A<B> > C`, but `A < (B >> C)`.
                P::Greater => {
                    before == Before::Is && self.kind_at(scan.end + 1) != T::Punct(P::Greater)
                }
                _ => false,
            },
            T::Keyword(Keyword::Is | Keyword::As) => true,
            T::Identifier(_) => before != Before::Nothing,
            T::End | T::HoleClose | T::HoleFormat(_) => true,
            _ => false,
        })
    }

    /// `(A, B c)`, the `(` at `index`.
    pub(super) fn scan_tuple(&mut self, index: usize) -> Parsed<Option<Scan>> {
        let answer = self.remember(index, |this| {
            let scan = this.scan_tuple_anew(index)?;
            Ok(Remembered {
                scan,
                definite: false,
            })
        })?;
        Ok(answer.scan)
    }

    fn scan_tuple_anew(&mut self, index: usize) -> Parsed<Option<Scan>> {
        let mut end = index;
        let mut n_elements = 0;
        loop {
            let Some(element) = self.scan_type(end + 1, ScanMode::Normal)? else {
                return Ok(None);
            };
            end = element.end;
            if self.is_identifier_at(end) {
                end += 1;
            }
            n_elements += 1;
            match self.kind_at(end) {
                T::Punct(P::Comma) => {}
                T::Punct(P::CloseParen) if n_elements > 1 => {
                    return Ok(Some(Scan {
                        kind: Certainty::Tuple,
                        end: end + 1,
                    }));
                }
                _ => return Ok(None),
            }
        }
    }

    /// `delegate* unmanaged[Cdecl]<A, B>`, the `delegate` at `index`.
    fn scan_function_pointer(&mut self, index: usize) -> Parsed<Option<Scan>> {
        let answer = self.remember(index, |this| {
            let scan = this.scan_function_pointer_anew(index)?;
            Ok(Remembered {
                scan,
                definite: false,
            })
        })?;
        Ok(answer.scan)
    }

    fn scan_function_pointer_anew(&mut self, index: usize) -> Parsed<Option<Scan>> {
        let mut end = index + 2;
        if let T::Identifier(Word::Managed | Word::Unmanaged) = self.kind_at(end) {
            end += 1;
            if self.kind_at(end) == T::Punct(P::OpenBracket) {
                end = self.matching(end).map_or(end, |close| close + 1);
            }
        }
        if self.kind_at(end) != T::Punct(P::Less) {
            return Ok(None);
        }
        loop {
            end += 1;
            while let T::Keyword(Keyword::Ref | Keyword::Readonly | Keyword::Out | Keyword::In) =
                self.kind_at(end)
            {
                end += 1;
            }
            let Some(parameter) = self.scan_type(end, ScanMode::Normal)? else {
                return Ok(None);
            };
            end = parameter.end;
            match self.kind_at(end) {
                T::Punct(P::Comma) => {}
                T::Punct(P::Greater) => {
                    return Ok(Some(Scan {
                        kind: Certainty::MustBeType,
                        end: end + 1,
                    }));
                }
                _ => return Ok(None),
            }
        }
    }

    /// Whether the `(` here starts a cast (C# 12.9.7): a type and `)` follow, and the type is certain or
    /// what is behind can only start an operand.
    pub(super) fn is_cast(&mut self) -> Parsed<bool> {
        let Some((scan, next)) = self.scan_parenthesized_type()? else {
            return Ok(false);
        };
        if self.in_query && matches!(next, T::Identifier(word) if word.is_query_keyword()) {
            return Ok(false);
        }
        // `(A)[i]` is an element of `A`, but nothing has no index, and `A<B>` and `(A, B)` are no values.
        let is_collection = next == T::Punct(P::OpenBracket)
            && (scan.kind != Certainty::Name
                || self.kind_at(scan.end + 2) == T::Punct(P::CloseBracket));
        Ok(is_certain(scan) || is_collection || can_follow_cast(next))
    }

    /// The same in a pattern, where a parenthesised type is a pattern of its own.
    pub(super) fn is_cast_in_pattern(&mut self, has_guard: bool) -> Parsed<bool> {
        let inner = self.scan_type(self.pos + 1, ScanMode::Pattern)?;
        let Some(scan) = inner.filter(|it| self.kind_at(it.end) == T::Punct(P::CloseParen)) else {
            return Ok(false);
        };
        let after = scan.end + 1;
        let next = self.kind_at(after);
        if let T::Identifier(word) = next {
            let is_guard = has_guard && word == Word::When;
            return Ok(!is_guard && !self.is_combinator(after));
        }
        let can_be_unary = matches!(
            next,
            T::Punct(P::Plus | P::Minus | P::Amp | P::Star | P::DotDot)
        );
        Ok(can_follow_cast(next) || is_certain(scan) && can_be_unary)
    }

    /// Whether the word at `index` is `and` or `or` and a pattern follows.
    fn is_combinator(&mut self, mut index: usize) -> bool {
        let is_word = |kind| matches!(kind, T::Identifier(Word::And | Word::Or));
        if !is_word(self.kind_at(index)) {
            return false;
        }
        let mut is_operator = true;
        index += 1;
        // Of several in a row every other one is a name: `(int) or or` tests for a constant `or`.
        while is_word(self.kind_at(index)) {
            is_operator = !is_operator;
            index += 1;
        }
        is_operator == self.starts_pattern(index)
    }

    /// The type in the parentheses here, and the token behind them.
    fn scan_parenthesized_type(&mut self) -> Parsed<Option<(Scan, T)>> {
        let scan = self.scan_type(self.pos + 1, ScanMode::Normal)?;
        Ok(scan
            .filter(|it| self.kind_at(it.end) == T::Punct(P::CloseParen))
            .map(|it| (it, self.kind_at(it.end + 1))))
    }

    /// The index behind the variables that `index` starts: `x`, or `(x, y)` if `tuple`.
    pub(super) fn scan_designation(&self, mut index: usize, tuple: bool) -> Option<usize> {
        let mut open = 0_usize;
        loop {
            if tuple && self.kind_at(index) == T::Punct(P::OpenParen) {
                open += 1;
                index += 1;
                continue;
            }
            if !self.is_identifier_at(index) {
                return None;
            }
            index += 1;
            while open > 0 && self.kind_at(index) == T::Punct(P::CloseParen) {
                open -= 1;
                index += 1;
            }
            match self.kind_at(index) {
                _ if open == 0 => return Some(index),
                T::Punct(P::Comma) => index += 1,
                _ => return None,
            }
        }
    }
}

/// Whether the tokens can only be a type, so that a parenthesis around them is a cast whatever follows.
fn is_certain(scan: Scan) -> bool {
    matches!(
        scan.kind,
        Certainty::MustBeType | Certainty::Alias | Certainty::Nullable | Certainty::Pointer
    )
}

/// Whether `next` after `(A)` makes that a cast: it starts an operand and is no binary operator.
fn can_follow_cast(next: T) -> bool {
    match next {
        T::Punct(punct) => matches!(punct, P::OpenParen | P::Bang | P::Tilde | P::ColonColon),
        T::Keyword(keyword) => !matches!(keyword, Keyword::As | Keyword::Is | Keyword::Switch),
        T::End
        | T::HoleClose
        | T::HoleFormat(_)
        | T::InterpolationEnd
        | T::InterpolationText(_)
        | T::HoleOpen => false,
        T::Identifier(_)
        | T::Predefined(_)
        | T::Pseudo(_)
        | T::Literal(_)
        | T::InterpolationStart
        | T::Error(_) => true,
    }
}
