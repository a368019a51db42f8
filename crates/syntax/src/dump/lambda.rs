//! Lambdas and queries.

use super::Dumper;
use crate::tree::{
    FromClause, Lambda, LambdaParameter, Query, QueryBody, QueryClause, QueryEnd, ReturnRef,
    Statement,
};

impl Dumper {
    pub(super) fn lambda(&mut self, lambda: &Lambda) {
        self.node("lambda ", |this| {
            if lambda.is_static {
                this.text("static ");
            }
            if lambda.is_async {
                this.text("async ");
            }
            if let Some(ty) = &lambda.return_type {
                match lambda.return_ref {
                    None => this.ty(ty),
                    Some(ReturnRef::Ref) => this.with_type("ref", ty),
                    Some(ReturnRef::RefReadonly) => this.with_type("ref readonly", ty),
                }
                this.text(" ");
            }
            if lambda.parenthesized {
                this.text("(");
            }
            for (i, parameter) in lambda.parameters.iter().enumerate() {
                if i > 0 {
                    this.text(" ");
                }
                this.lambda_parameter(parameter);
            }
            if lambda.parenthesized {
                this.text(")");
            }
            this.text(" ");
            for statement in lambda.block.iter().flat_map(|it| &it.statements) {
                match statement {
                    Statement::Declare { ty, name, value } => this.node("= ", |this| {
                        this.ty(ty);
                        this.text(" ");
                        this.identifier(name);
                        this.text(" ");
                        this.expr(value);
                    }),
                    Statement::Expr(expr) => this.expr(expr),
                }
                this.text("; ");
            }
            if lambda.block.as_ref().is_some_and(|it| it.returns) {
                this.text("return ");
            }
            this.expr(&lambda.body);
        });
    }

    fn lambda_parameter(&mut self, parameter: &LambdaParameter) {
        let LambdaParameter {
            scoped,
            modifier,
            ty,
            name,
            default,
        } = parameter;
        if !scoped && modifier.is_none() && ty.is_none() && default.is_none() {
            return self.identifier(name);
        }
        self.node(": ", |this| {
            if *scoped {
                this.text("scoped ");
            }
            if let Some(modifier) = modifier {
                this.text(modifier.text());
                this.text(" ");
            }
            if let Some(ty) = ty {
                this.ty(ty);
                this.text(" ");
            }
            this.identifier(name);
            if let Some(default) = default {
                this.text(" = ");
                this.expr(default);
            }
        });
    }

    pub(super) fn query(&mut self, query: &Query) {
        self.node("query ", |this| {
            this.node("from ", |this| this.source_clause(&query.from));
            this.query_body(&query.body);
            for continuation in &query.continuations {
                this.text(" ");
                this.node("into ", |this| this.identifier(&continuation.name));
                this.query_body(&continuation.body);
            }
        });
    }

    fn source_clause(&mut self, from: &FromClause) {
        match &from.ty {
            None => self.identifier(&from.name),
            Some(ty) => self.node(": ", |this| {
                this.ty(ty);
                this.text(" ");
                this.identifier(&from.name);
            }),
        }
        self.text(" ");
        self.expr(&from.source);
    }

    fn query_body(&mut self, body: &QueryBody) {
        for clause in &body.clauses {
            self.text(" ");
            self.query_clause(clause);
        }
        self.text(" ");
        match &body.end {
            QueryEnd::Select(value) => self.exprs("select", &[value]),
            QueryEnd::Group { element, key } => self.exprs("group", &[element, key]),
        }
    }

    fn query_clause(&mut self, clause: &QueryClause) {
        match clause {
            QueryClause::From(from) => self.node("from ", |this| this.source_clause(from)),
            QueryClause::Let { name, value } => self.node("let ", |this| {
                this.identifier(name);
                this.text(" ");
                this.expr(value);
            }),
            QueryClause::Where(condition) => self.exprs("where", &[condition]),
            QueryClause::Join(join) => self.node("join ", |this| {
                this.source_clause(&join.from);
                this.text(" ");
                this.expr(&join.left);
                this.text(" ");
                this.expr(&join.right);
                if let Some(into) = &join.into {
                    this.text(" into ");
                    this.identifier(into);
                }
            }),
            QueryClause::OrderBy(orderings) => self.node("orderby", |this| {
                for ordering in orderings {
                    this.text(" ");
                    match ordering.descending {
                        true => this.exprs("desc", &[&ordering.key]),
                        false => this.expr(&ordering.key),
                    }
                }
            }),
        }
    }
}
