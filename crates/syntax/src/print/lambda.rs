//! Lambdas and queries.

use super::Printer;
use crate::tree::{
    FromClause, Lambda, LambdaParameter, Query, QueryBody, QueryClause, QueryEnd, ReturnRef,
    Statement,
};

impl Printer {
    pub(super) fn lambda(&mut self, lambda: &Lambda) {
        if lambda.is_static {
            self.text("static ");
        }
        if lambda.is_async {
            self.text("async ");
        }
        match lambda.return_ref {
            None => {}
            Some(ReturnRef::Ref) => self.text("ref "),
            Some(ReturnRef::RefReadonly) => self.text("ref readonly "),
        }
        if let Some(ty) = &lambda.return_type {
            self.ty(ty);
            self.text(" ");
        }
        if lambda.parenthesized {
            self.text("(");
        }
        self.list(&lambda.parameters, Self::lambda_parameter);
        if lambda.parenthesized {
            self.text(")");
        }
        self.text(" => ");
        let Some(block) = &lambda.block else {
            return self.any(&lambda.body);
        };
        self.text("{ ");
        for statement in &block.statements {
            match statement {
                Statement::Declare { ty, name, value } => {
                    self.ty(ty);
                    self.text(" ");
                    self.identifier(name);
                    self.text(" = ");
                    self.any(value);
                }
                Statement::Expr(expr) => self.any(expr),
            }
            self.text("; ");
        }
        if block.returns {
            self.text("return ");
        }
        self.any(&lambda.body);
        self.text("; }");
    }

    fn lambda_parameter(&mut self, parameter: &LambdaParameter) {
        if parameter.scoped {
            self.text("scoped ");
        }
        if let Some(modifier) = parameter.modifier {
            self.text(modifier.text());
            self.text(" ");
        }
        if let Some(ty) = &parameter.ty {
            self.ty(ty);
            self.text(" ");
        }
        self.identifier(&parameter.name);
        if let Some(default) = &parameter.default {
            self.text(" = ");
            self.any(default);
        }
    }

    pub(super) fn query(&mut self, query: &Query) {
        self.text("from ");
        self.source_clause(&query.from);
        self.query_body(&query.body);
        for continuation in &query.continuations {
            self.text(" into ");
            self.identifier(&continuation.name);
            self.query_body(&continuation.body);
        }
    }

    /// A clause from behind its keyword.
    fn source_clause(&mut self, from: &FromClause) {
        if let Some(ty) = &from.ty {
            self.ty(ty);
            self.text(" ");
        }
        self.identifier(&from.name);
        self.text(" in ");
        self.any(&from.source);
    }

    fn query_body(&mut self, body: &QueryBody) {
        for clause in &body.clauses {
            self.text(" ");
            self.query_clause(clause);
        }
        match &body.end {
            QueryEnd::Select(value) => {
                self.text(" select ");
                self.any(value);
            }
            QueryEnd::Group { element, key } => {
                self.text(" group ");
                self.any(element);
                self.text(" by ");
                self.any(key);
            }
        }
    }

    fn query_clause(&mut self, clause: &QueryClause) {
        match clause {
            QueryClause::From(from) => {
                self.text("from ");
                self.source_clause(from);
            }
            QueryClause::Let { name, value } => {
                self.text("let ");
                self.identifier(name);
                self.text(" = ");
                self.any(value);
            }
            QueryClause::Where(condition) => {
                self.text("where ");
                self.any(condition);
            }
            QueryClause::Join(join) => {
                self.text("join ");
                self.source_clause(&join.from);
                self.text(" on ");
                self.any(&join.left);
                self.text(" equals ");
                self.any(&join.right);
                if let Some(into) = &join.into {
                    self.text(" into ");
                    self.identifier(into);
                }
            }
            QueryClause::OrderBy(orderings) => {
                self.text("orderby ");
                self.list(orderings, |this, ordering| {
                    this.any(&ordering.key);
                    if ordering.descending {
                        this.text(" descending");
                    }
                });
            }
        }
    }
}
