//! Query expressions (C# 12.20).

use super::scan::ScanMode;
use super::{Parsed, Parser};
use crate::error::Expected;
use crate::lexer::{Keyword, P, T, Word};
use crate::tree::{
    Expr, ExprKind, FromClause, Ordering, Query, QueryBody, QueryClause, QueryContinuation,
    QueryEnd,
};

impl Parser<'_> {
    /// Whether `from` here starts a query: a variable or a type follows it.
    pub(super) fn is_query(&mut self) -> bool {
        match self.kind_at(self.pos + 1) {
            T::Predefined(_) | T::Identifier(_) => true,
            _ => matches!(
                self.scan_type(self.pos + 1, ScanMode::Normal),
                Ok(Some(ty)) if matches!(
                    self.kind_at(ty.end),
                    T::Identifier(_) | T::Keyword(Keyword::In)
                )
            ),
        }
    }

    pub(super) fn query(&mut self) -> Parsed<Expr> {
        let start = self.start();
        let was_in_query = std::mem::replace(&mut self.in_query, true);
        let from = self.from_clause()?;
        let body = self.query_body()?;
        let mut continuations = Vec::new();
        while self.at_word(Word::Into) {
            self.bump();
            let name = self.identifier(Expected::Identifier)?;
            let body = self.query_body()?;
            continuations.push(QueryContinuation { name, body });
        }
        self.in_query = was_in_query;
        let query = Query {
            from,
            body,
            continuations,
        };
        Ok(self.expr(ExprKind::Query(Box::new(query)), start))
    }

    /// `from T x in source` or the start of a `join`.
    fn from_clause(&mut self) -> Parsed<FromClause> {
        let start = self.start();
        self.bump();
        let has_type = self.kind_at(self.pos + 1) != T::Keyword(Keyword::In);
        let ty = if has_type && !self.is_cut_off() {
            Some(self.ty()?)
        } else {
            None
        };
        let name = self.identifier(Expected::Identifier)?;
        if !self.eat_keyword(Keyword::In) && !self.is_cut_off() {
            return Err(self.expected(Expected::Token("in")));
        }
        let source = self.any_expression()?;
        Ok(FromClause {
            ty,
            name,
            source,
            span: self.span_from(start),
        })
    }

    fn query_body(&mut self) -> Parsed<QueryBody> {
        let mut clauses = Vec::new();
        loop {
            let clause = match self.kind() {
                T::Identifier(Word::From) => QueryClause::From(self.from_clause()?),
                T::Identifier(Word::Join) => self.join()?,
                T::Identifier(Word::Let) => self.let_clause()?,
                T::Identifier(Word::Where) => {
                    self.bump();
                    QueryClause::Where(self.any_expression()?)
                }
                T::Identifier(Word::OrderBy) => self.order_by()?,
                _ => break,
            };
            clauses.push(clause);
        }
        let end = match self.kind() {
            T::Identifier(Word::Select) => {
                self.bump();
                QueryEnd::Select(self.any_expression()?)
            }
            T::Identifier(Word::Group) => {
                self.bump();
                let element = self.any_expression()?;
                self.expect_word(Word::By, "by")?;
                let key = self.any_expression()?;
                QueryEnd::Group { element, key }
            }
            // Nothing is selected yet in a query that is being written.
            _ if self.is_cut_off() => QueryEnd::Select(self.any_expression()?),
            _ => return Err(self.expected(Expected::SelectOrGroup)),
        };
        Ok(QueryBody { clauses, end })
    }

    fn join(&mut self) -> Parsed<QueryClause> {
        let from = self.from_clause()?;
        self.expect_word(Word::On, "on")?;
        let left = self.any_expression()?;
        self.expect_word(Word::Equals, "equals")?;
        let right = self.any_expression()?;
        let mut into = None;
        if self.at_word(Word::Into) {
            self.bump();
            into = Some(self.identifier(Expected::Identifier)?);
        }
        Ok(QueryClause::Join {
            from,
            left,
            right,
            into,
        })
    }

    fn let_clause(&mut self) -> Parsed<QueryClause> {
        self.bump();
        let name = self.identifier(Expected::Identifier)?;
        self.expect(P::Equal)?;
        let value = self.any_expression()?;
        Ok(QueryClause::Let { name, value })
    }

    fn order_by(&mut self) -> Parsed<QueryClause> {
        self.bump();
        let mut orderings = Vec::new();
        loop {
            let key = self.any_expression()?;
            let descending = self.at_word(Word::Descending);
            if descending || self.at_word(Word::Ascending) {
                self.bump();
            }
            orderings.push(Ordering { key, descending });
            if !self.eat(P::Comma) {
                return Ok(QueryClause::OrderBy(orderings));
            }
        }
    }
}
