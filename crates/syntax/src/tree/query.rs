//! Query expressions: `from x in xs where … select …` (C# 12.20).

use super::{Expr, Identifier, Type};
use crate::span::Span;

/// A whole query: the first source, a body, and what follows each `into`.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// The first source.
    pub from: FromClause,
    /// The clauses over it.
    pub body: QueryBody,
    /// `into x …`, each a query over the result of what is before it.
    pub continuations: Vec<QueryContinuation>,
}

/// `from T x in source`
#[derive(Debug, Clone, PartialEq)]
pub struct FromClause {
    /// The type to cast each element to.
    pub ty: Option<Type>,
    /// The range variable.
    pub name: Identifier,
    /// The source.
    pub source: Expr,
    /// Where.
    pub span: Span,
}

/// Clauses and a final `select` or `group`.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryBody {
    /// The clauses in order.
    pub clauses: Vec<QueryClause>,
    /// The last clause.
    pub end: QueryEnd,
}

/// `into name body`
#[derive(Debug, Clone, PartialEq)]
pub struct QueryContinuation {
    /// The range variable of the rest; no earlier one is in scope there.
    pub name: Identifier,
    /// The rest.
    pub body: QueryBody,
}

/// A clause in the middle of a query.
#[derive(Debug, Clone, PartialEq)]
pub enum QueryClause {
    /// `from x in xs`
    From(FromClause),
    /// `let x = value`
    Let {
        /// The new range variable.
        name: Identifier,
        /// Its value.
        value: Expr,
    },
    /// `where condition`
    Where(Expr),
    /// `join T x in source on left equals right into g`
    Join(Box<JoinClause>),
    /// `orderby a, b descending`, at least one.
    OrderBy(Vec<Ordering>),
}

/// `join T x in source on left equals right into g`
#[derive(Debug, Clone, PartialEq)]
pub struct JoinClause {
    /// The variable, its type and its source.
    pub from: FromClause,
    /// The key of what is so far in the query.
    pub left: Expr,
    /// The key of the joined element.
    pub right: Expr,
    /// For a group join: the variable that holds the group instead.
    pub into: Option<Identifier>,
}

/// One key of an `orderby`.
#[derive(Debug, Clone, PartialEq)]
pub struct Ordering {
    /// The key.
    pub key: Expr,
    /// Whether largest comes first.
    pub descending: bool,
}

/// The last clause of a query body.
#[derive(Debug, Clone, PartialEq)]
pub enum QueryEnd {
    /// `select value`
    Select(Expr),
    /// `group element by key`
    Group {
        /// What is grouped.
        element: Expr,
        /// By which key.
        key: Expr,
    },
}
