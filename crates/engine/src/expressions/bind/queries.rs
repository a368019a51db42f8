//! Query expressions: translated to method calls as C# says (C# 12.20.3).

use syntax::Span;
use syntax::tree::{
    Argument, Expr, ExprKind, FromClause, Identifier, Lambda, LambdaParameter, MemberAccess, Query,
    QueryBody, QueryClause, QueryEnd, SimpleName, Type as SyntaxType, TypeArguments,
};

use super::{Binder, Operand};
use crate::expressions::error::{Fail, Result};
use crate::expressions::plan::Node;

impl Binder<'_> {
    pub(super) fn query(&mut self, query: &Query, span: Span) -> Result<Node> {
        let expr = translate(query, span)?;
        let mut names = vec![query.from.name.text.clone()];
        for clause in &query.body.clauses {
            match clause {
                QueryClause::From(from) => names.push(from.name.text.clone()),
                QueryClause::Let { name, .. } => names.push(name.text.clone()),
                _ => {}
            }
        }
        self.range_variables.extend(names);
        let bound = self.bind(&expr).map_err(|fail| {
            // Binding the source once more costs twice as much for each query inside of it.
            if !matches!(fail.code, Some("CS1929" | "CS1061" | "CS0411")) {
                return told_of_clause(fail);
            }
            match self.bind(&query.from.source) {
                Ok(Operand::Value(source)) if !self.is_sequence(&source.ty) => {
                    let told = format!(
                        "`{}` is no sequence that a query could begin with",
                        self.text(&source.ty)
                    );
                    Fail::cs("CS1936", source.span, told)
                }
                _ => told_of_clause(fail),
            }
        })?;
        match bound {
            Operand::Value(mut node) => {
                node.span = span;
                Ok(node)
            }
            _ => Err(Fail::cs("CS1936", span, "the query has no value")),
        }
    }
}

/// Where types cannot be inferred, the clause is told that the method stands for.
fn told_of_clause(mut fail: Box<Fail>) -> Box<Fail> {
    if fail.code == Some("CS0411") {
        let clause = match super::missing::quoted(&fail.message).next() {
            Some("Join" | "GroupJoin") => {
                Some(("CS1941", "the two sides of `join` have other types"))
            }
            Some("SelectMany") => Some((
                "CS1943",
                "what the second `from` goes through is no sequence",
            )),
            Some("Select") => Some((
                "CS1942",
                "the type of what `select` gives cannot be inferred",
            )),
            _ => None,
        };
        if let Some((code, told)) = clause {
            fail.code = Some(code);
            fail.message = told.into();
            fail.hint = None;
        }
    }
    fail
}

/// The variables in scope: one, or several that travel in a tuple.
struct Scope {
    names: Vec<Identifier>,
}

impl Scope {
    /// Takes in one more variable.
    fn declare(&mut self, name: &Identifier) -> Result<()> {
        if self.names.iter().any(|it| it.text == name.text) {
            let told = format!("the query has a variable `{}` already", name.text);
            return Err(Fail::cs("CS1930", name.span, told));
        }
        self.names.push(name.clone());
        Ok(())
    }

    /// A lambda over all variables in scope; several are parts of one parameter.
    fn lambda(&self, body: &Expr) -> Expr {
        match self.names.as_slice() {
            [one] => lambda(std::slice::from_ref(one), body.clone()),
            names => lambda(&[carrier(names, body.span)], body.clone()),
        }
    }

    /// The same with one more parameter.
    fn lambda_with(&self, more: &Identifier, body: &Expr) -> Expr {
        match self.names.as_slice() {
            [one] => lambda(&[one.clone(), more.clone()], body.clone()),
            names => lambda(&[carrier(names, body.span), more.clone()], body.clone()),
        }
    }

    /// A tuple of all variables and one more value.
    fn tuple_with(&self, value: Expr) -> Expr {
        let span = value.span;
        let mut elements: Vec<Argument> = self.names.iter().map(|it| argument(name(it))).collect();
        elements.push(argument(value));
        Expr {
            kind: ExprKind::Tuple(elements),
            span,
        }
    }
}

/// The parameter that carries several variables in a tuple; its name is all of theirs.
fn carrier(names: &[Identifier], span: Span) -> Identifier {
    let names: Vec<&str> = names.iter().map(|it| &*it.text).collect();
    Identifier {
        text: names.join(super::CARRIED).into(),
        verbatim: false,
        span,
    }
}

fn name(identifier: &Identifier) -> Expr {
    Expr {
        kind: ExprKind::Name(SimpleName {
            identifier: identifier.clone(),
            arguments: None,
            span: identifier.span,
        }),
        span: identifier.span,
    }
}

fn argument(value: Expr) -> Argument {
    Argument {
        name: None,
        modifier: None,
        value,
    }
}

fn lambda(parameters: &[Identifier], body: Expr) -> Expr {
    let span = body.span;
    Expr {
        kind: ExprKind::Lambda(Box::new(Lambda {
            is_static: false,
            is_async: false,
            return_type: None,
            return_ref: None,
            parameters: parameters
                .iter()
                .map(|it| LambdaParameter {
                    scoped: false,
                    modifier: None,
                    ty: None,
                    name: it.clone(),
                    default: None,
                })
                .collect(),
            parenthesized: true,
            block: None,
            body,
        })),
        span,
    }
}

fn call(
    target: Expr,
    method: &str,
    types: Option<SyntaxType>,
    arguments: Vec<Expr>,
    span: Span,
) -> Expr {
    let name = SimpleName {
        identifier: Identifier {
            text: method.into(),
            verbatim: false,
            span,
        },
        arguments: types.map(|it| Box::new(TypeArguments::Types(vec![it]))),
        span,
    };
    Expr {
        kind: ExprKind::Call {
            target: Box::new(Expr {
                kind: ExprKind::Member {
                    target: Box::new(target),
                    access: MemberAccess::Dot,
                    name,
                },
                span,
            }),
            arguments: arguments.into_iter().map(argument).collect(),
        },
        span,
    }
}

fn source(from: &FromClause) -> Expr {
    match &from.ty {
        None => from.source.clone(),
        Some(ty) => call(
            from.source.clone(),
            "Cast",
            Some(ty.clone()),
            Vec::new(),
            from.span,
        ),
    }
}

fn translate(query: &Query, span: Span) -> Result<Expr> {
    let mut value = body(
        source(&query.from),
        query.from.name.clone(),
        &query.body,
        span,
    )?;
    for continuation in &query.continuations {
        value = body(value, continuation.name.clone(), &continuation.body, span)?;
    }
    Ok(value)
}

fn body(mut value: Expr, first: Identifier, body: &QueryBody, span: Span) -> Result<Expr> {
    let mut scope = Scope { names: vec![first] };
    for clause in &body.clauses {
        let named = match clause {
            QueryClause::Let { name, .. } => Some(name),
            QueryClause::From(from) => Some(&from.name),
            QueryClause::Join(join) => Some(join.into.as_ref().unwrap_or(&join.from.name)),
            _ => None,
        };
        if let Some(name) = named
            && scope.names.iter().any(|it| it.text == name.text)
        {
            let told = format!("the query has a variable `{}` already", name.text);
            return Err(Fail::cs("CS1930", name.span, told));
        }
        match clause {
            QueryClause::Where(condition) => {
                value = call(
                    value,
                    "Where",
                    None,
                    vec![scope.lambda(condition)],
                    condition.span,
                );
            }
            QueryClause::Let { name, value: of } => {
                let tuple = scope.tuple_with(of.clone());
                value = call(value, "Select", None, vec![scope.lambda(&tuple)], of.span);
                scope.declare(name)?;
            }
            QueryClause::From(from) => {
                let tuple = scope.tuple_with(name(&from.name));
                let inner = scope.lambda(&source(from));
                let result = scope.lambda_with(&from.name, &tuple);
                value = call(value, "SelectMany", None, vec![inner, result], from.span);
                scope.declare(&from.name)?;
            }
            QueryClause::Join(join) => {
                let outer = scope.lambda(&join.left);
                let inner = lambda(std::slice::from_ref(&join.from.name), join.right.clone());
                let bound = join.into.as_ref().unwrap_or(&join.from.name);
                let tuple = scope.tuple_with(name(bound));
                let result = scope.lambda_with(bound, &tuple);
                let method = if join.into.is_some() {
                    "GroupJoin"
                } else {
                    "Join"
                };
                value = call(
                    value,
                    method,
                    None,
                    vec![source(&join.from), outer, inner, result],
                    join.from.span,
                );
                scope.declare(bound)?;
            }
            QueryClause::OrderBy(orderings) => {
                for (index, ordering) in orderings.iter().enumerate() {
                    let method = match (index, ordering.descending) {
                        (0, false) => "OrderBy",
                        (0, true) => "OrderByDescending",
                        (_, false) => "ThenBy",
                        (_, true) => "ThenByDescending",
                    };
                    value = call(
                        value,
                        method,
                        None,
                        vec![scope.lambda(&ordering.key)],
                        ordering.key.span,
                    );
                }
            }
        }
    }
    Ok(match &body.end {
        QueryEnd::Select(of) => {
            // Selecting the only variable is the sequence itself, unless nothing else was done to it.
            let same = matches!((&of.kind, scope.names.as_slice()), (ExprKind::Name(it), [one]) if it.identifier.text == one.text);
            if same && !body.clauses.is_empty() {
                return Ok(value);
            }
            call(value, "Select", None, vec![scope.lambda(of)], span)
        }
        QueryEnd::Group { element, key } => {
            let mut arguments = vec![scope.lambda(key)];
            let same = matches!((&element.kind, scope.names.as_slice()), (ExprKind::Name(it), [one]) if it.identifier.text == one.text);
            if !same {
                arguments.push(scope.lambda(element));
            }
            call(value, "GroupBy", None, arguments, span)
        }
    })
}
