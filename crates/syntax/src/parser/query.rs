//! Query expressions (C# 12.20).

use super::scan::ScanMode;
use super::{Parsed, Parser};
use crate::error::Expected;
use crate::lexer::{Keyword, P, T, Word};
use crate::tree::{
    Expr, ExprKind, FromClause, JoinClause, Ordering, Query, QueryBody, QueryClause,
    QueryContinuation, QueryEnd,
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
        let from = self.source_clause()?;
        let body = self.query_body()?;
        let mut continuations = Vec::new();
        while self.at_word(Word::Into) {
            continuations.push(self.continuation()?);
        }
        self.in_query = was_in_query;
        let query = Query {
            from,
            body,
            continuations,
        };
        Ok(self.expr(ExprKind::Query(Box::new(query)), start))
    }

    fn continuation(&mut self) -> Parsed<QueryContinuation> {
        self.bump();
        let name = self.identifier(Expected::Identifier)?;
        let body = self.query_body()?;
        Ok(QueryContinuation { name, body })
    }

    /// `from T x in source` or the start of a `join`.
    fn source_clause(&mut self) -> Parsed<FromClause> {
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
        while let Some(clause) = self.query_clause()? {
            self.grow_by_call()?;
            clauses.push(clause);
        }
        let end = self.query_end()?;
        self.grow_by_call()?;
        Ok(QueryBody { clauses, end })
    }

    /// Notes that a clause is put around all before it: it stands for a call of a member, and is as high.
    fn grow_by_call(&mut self) -> Parsed<()> {
        self.grow()?;
        self.grow()
    }

    /// A clause in the middle, if one follows.
    fn query_clause(&mut self) -> Parsed<Option<QueryClause>> {
        let clause = match self.kind() {
            T::Identifier(Word::From) => self.source_clause().map(QueryClause::From),
            T::Identifier(Word::Join) => self.join(),
            T::Identifier(Word::Let) => self.let_clause(),
            T::Identifier(Word::Where) => {
                self.bump();
                self.any_expression().map(QueryClause::Where)
            }
            T::Identifier(Word::OrderBy) => self.order_by(),
            _ => return Ok(None),
        };
        clause.map(Some)
    }

    fn query_end(&mut self) -> Parsed<QueryEnd> {
        match self.kind() {
            T::Identifier(Word::Select) => {
                self.bump();
                self.any_expression().map(QueryEnd::Select)
            }
            T::Identifier(Word::Group) => self.group(),
            // Nothing is selected yet in a query that is being written.
            _ if self.is_cut_off() => self.any_expression().map(QueryEnd::Select),
            _ => Err(self.expected(Expected::SelectOrGroup)),
        }
    }

    fn group(&mut self) -> Parsed<QueryEnd> {
        self.bump();
        let element = self.any_expression()?;
        self.expect_word(Word::By, "by")?;
        let key = self.any_expression()?;
        Ok(QueryEnd::Group { element, key })
    }

    fn join(&mut self) -> Parsed<QueryClause> {
        let from = self.source_clause()?;
        self.expect_word(Word::On, "on")?;
        let left = self.any_expression()?;
        self.expect_word(Word::Equals, "equals")?;
        let right = self.any_expression()?;
        let mut into = None;
        if self.at_word(Word::Into) {
            self.bump();
            into = Some(self.identifier(Expected::Identifier)?);
        }
        let join = JoinClause {
            from,
            left,
            right,
            into,
        };
        Ok(QueryClause::Join(Box::new(join)))
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
            self.grow_by_call()?;
        }
    }
}
