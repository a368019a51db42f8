//! Patterns: what stands after `is` and in the arms of a `switch`.

use super::{Expr, Identifier, Type};
use crate::span::Span;

/// A pattern.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    /// What kind of pattern.
    pub kind: PatternKind,
    /// Where.
    pub span: Span,
}

/// The kinds of pattern (C# 11.2).
#[derive(Debug, Clone, PartialEq)]
pub enum PatternKind {
    /// `_`
    Discard,
    /// `42`, `-1`, `"a"`, `Color.Red + 1`: an expression that cannot be a type.
    Constant(Box<Expr>),
    /// `A`, `A.B`, `A<int>.C`: the name of a type or of a constant, for the binder to decide.
    ///
    /// It may be in parentheses. [`Expr::to_type`] gives it as a type.
    TypeOrConstant(Box<Expr>),
    /// `int`, `A<int>`, `A[]`: certainly a type.
    Type(Box<Type>),
    /// `int x`, `string _`
    Declaration(Box<Type>, Designation),
    /// `var x`, `var (x, y)`
    Var(Designation),
    /// `> 5`
    Relational(RelationalOp, Box<Expr>),
    /// `p and q`
    And(Box<Pattern>, Box<Pattern>),
    /// `p or q`
    Or(Box<Pattern>, Box<Pattern>),
    /// `not p`
    Not(Box<Pattern>),
    /// `(p)`, where the pattern inside is not a constant.
    Paren(Box<Pattern>),
    /// `T(p, q) { A: p, B.C: q } x`
    Recursive(Box<RecursivePattern>),
    /// `[p, .., q] x`
    List {
        /// The patterns of the elements; one may be a slice.
        patterns: Vec<Pattern>,
        /// The variable for the value.
        designation: Option<Designation>,
    },
    /// `..` or `.. p`, only in a list.
    Slice(Option<Box<Pattern>>),
}

/// `T(p, q) { A: p, B.C: q } x`; at least one of the two lists.
#[derive(Debug, Clone, PartialEq)]
pub struct RecursivePattern {
    /// The type to test for; without it any value that is not null.
    pub ty: Option<Type>,
    /// `(p, name: q)`, matched by `Deconstruct` or tuple elements.
    pub positional: Option<Vec<Subpattern>>,
    /// `{ Name: p, A.B: q }`, matched by members.
    pub properties: Option<Vec<Subpattern>>,
    /// The variable for the value.
    pub designation: Option<Designation>,
}

/// One pattern in a positional or property list.
#[derive(Debug, Clone, PartialEq)]
pub struct Subpattern {
    /// `Name:` or `A.B:`, the names between the dots; empty if none is written.
    pub path: Vec<Identifier>,
    /// The pattern for it.
    pub pattern: Pattern,
}

/// The variables a pattern or `out var` declares.
#[derive(Debug, Clone, PartialEq)]
pub enum Designation {
    /// `_`
    Discard(Span),
    /// `x`
    Single(Identifier),
    /// `(x, _, (y, z))`
    Tuple(Vec<Designation>, Span),
}

impl Designation {
    /// Where.
    pub fn span(&self) -> Span {
        match self {
            Self::Discard(span) | Self::Tuple(_, span) => *span,
            Self::Single(identifier) => identifier.span,
        }
    }
}

/// The comparison of a relational pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RelationalOp {
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl RelationalOp {
    /// The operator as written.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }
}
