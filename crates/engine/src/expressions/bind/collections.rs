//! Collection expressions: `[a, ..b]` as arrays, lists, spans, types with `Add` and types that a builder makes (C# 12).

use std::cmp::Ordering;
use std::rc::Rc;

use syntax::Span;
use syntax::tree::{CollectionElement, Expr, ExprKind, Identifier, SimpleName};

use super::overloads::Arg;
use super::{Binder, Operand};
use crate::expressions::error::{Fail, Result};
use crate::expressions::plan::{Collected, Initial, Node, Op};
use crate::types::{Kind, Method, Named, Type};

impl Binder<'_> {
    /// `[a, ..b]` as what is wanted.
    pub(super) fn collection(
        &mut self,
        elements: &[CollectionElement],
        to: &Type,
        span: Span,
    ) -> Result<Node> {
        if let Some(element) = self.span_element(to) {
            let array = Type::SzArray(Rc::new(element));
            let array = self.collection(elements, &array, span)?;
            return self.convert(Operand::Value(array), to, span);
        }
        let element = match to {
            Type::SzArray(element) => (**element).clone(),
            Type::Named(named) if self.is_list(named) || self.is_array_interface(named) => {
                named.arguments.first().cloned().unwrap_or(Type::OBJECT)
            }
            Type::Named(named) => {
                if let Some(built) = self.built_collection(elements, named, to, span)? {
                    return Ok(built);
                }
                if let Some(filled) = self.filled_collection(elements, named, to, span)? {
                    return Ok(filled);
                }
                return Err(self.no_collection(to, span));
            }
            _ => return Err(self.no_collection(to, span)),
        };
        let nodes = self.collected(elements, &element)?;
        Ok(Node::new(Op::Collection(nodes), to.clone(), span))
    }

    fn no_collection(&self, to: &Type, span: Span) -> Box<Fail> {
        let told = format!(
            "a collection expression cannot be evaluated as `{}`",
            self.text(to)
        );
        Fail::cs("CS9174", span, told).hint("cast it to an array or a List<T>")
    }

    fn is_list(&self, named: &Named) -> bool {
        self.types
            .is_named(named, "System.Collections.Generic", "List`1")
    }

    /// What a span is of.
    fn span_element(&self, ty: &Type) -> Option<Type> {
        let named = ty.as_named()?;
        let mut spans = ["Span`1", "ReadOnlySpan`1"].into_iter();
        let is_span = spans.any(|name| self.types.is_named(named, "System", name));
        named.arguments.first().filter(|_| is_span).cloned()
    }

    /// What `foreach` over a type gives.
    pub(super) fn iterated(&self, ty: &Type) -> Option<Type> {
        if let Type::SzArray(element) | Type::Array { element, .. } = ty {
            return Some((**element).clone());
        }
        if let Some(element) = self.span_element(ty) {
            return Some(element);
        }
        let generic = self
            .types
            .core_named("System.Collections.Generic", "IEnumerable`1")?;
        if let [one] = self.constructions(ty, &generic).as_slice() {
            return one.arguments.first().cloned();
        }
        let plain = self.types.core_named("System.Collections", "IEnumerable")?;
        (!self.constructions(ty, &plain).is_empty()).then_some(Type::OBJECT)
    }

    /// The elements, converted to their type.
    fn collected(
        &mut self,
        elements: &[CollectionElement],
        element: &Type,
    ) -> Result<Vec<Collected>> {
        let mut nodes = Vec::with_capacity(elements.len());
        for item in elements {
            match item {
                CollectionElement::Value(expr) => {
                    let operand = self.bind(expr)?;
                    nodes.push((None, self.convert(operand, element, expr.span)?));
                }
                CollectionElement::Spread(expr) => {
                    let (all, slot, each) = self.spread_element(expr)?;
                    let each = self.convert(Operand::Value(each), element, expr.span)?;
                    nodes.push((Some((slot, each)), all));
                }
            }
        }
        Ok(nodes)
    }

    /// The sequence behind `..`, and the slot that each of its elements goes to.
    fn spread_element(&mut self, expr: &Expr) -> Result<(Node, u32, Node)> {
        let all = self.value(expr)?;
        let Some(item) = self.iterated(&all.ty) else {
            return Err(Fail::cs(
                "CS1579",
                expr.span,
                format!("`{}` has no elements to spread", self.text(&all.ty)),
            ));
        };
        let slot = self.slot();
        let mut each = self.slot_node(slot, &item, expr.span);
        each.names = self.names_of_part(Some(&all), &item, true);
        Ok((all, slot, each))
    }

    /// Types whose `CollectionBuilder` makes them: immutable arrays, lists, sets, and one's own.
    fn built_collection(
        &mut self,
        elements: &[CollectionElement],
        named: &Rc<Named>,
        to: &Type,
        span: Span,
    ) -> Result<Option<Node>> {
        let Some((methods, name)) = self.builders(named) else {
            return Ok(None);
        };
        let Some(element) = self.iterated(to) else {
            return Ok(None);
        };
        let arity = named.arguments.len();
        let taking = |is: &dyn Fn(&Type) -> bool| {
            let fits = |it: &&Method| {
                it.arity as usize == arity
                    && matches!(it.parameters.as_slice(), [one] if is(&one.ty))
            };
            methods.iter().find(fits)
        };
        // An array needs no conversion.
        let method = taking(&|it| matches!(it, Type::SzArray(_)))
            .or_else(|| taking(&|it| self.is_read_only_span(it)));
        let Some(method) = method else {
            let told = format!(
                "`{}` has no method `{name}` that makes it of a span",
                self.text(to)
            );
            return Err(Fail::cs("CS9187", span, told));
        };
        let method = self.types.construct_method(method, &named.arguments);
        let array = Type::SzArray(Rc::new(element.clone()));
        let nodes = self.collected(elements, &element)?;
        let mut array = Node::new(Op::Collection(nodes), array, span);
        if let Some(taken) = method.parameters.first() {
            array = self.convert(Operand::Value(array), &taken.ty, span)?;
        }
        let returns = method.returns.clone();
        let callee = self.callee(method, named.arguments.to_vec(), false);
        let call = Op::Call(Rc::new(callee), None, vec![array]);
        let call = Node::new(call, returns, span);
        self.convert(Operand::Value(call), to, span).map(Some)
    }

    /// The methods that make a type of elements, and their name.
    fn builders(&self, named: &Rc<Named>) -> Option<(Vec<Method>, String)> {
        let metadata = self.types.metadata(named.module).ok()?;
        let attribute = metadata.metadata().find_attribute(
            named.token,
            "System.Runtime.CompilerServices",
            "CollectionBuilderAttribute",
        )?;
        let arguments = attribute.arguments().ok()?;
        let [ty, name] = arguments.fixed.as_slice() else {
            return None;
        };
        let (full, name) = (ty.text()?, name.text()?);
        let full = full.split(',').next().unwrap_or(full);
        let (namespace, simple) = full.rsplit_once('.').unwrap_or(("", full));
        let mut found = self.types.find(namespace, simple, 0);
        found.retain(|it| it.as_named().is_some_and(|it| it.module == named.module));
        let builder = found.first()?.as_named()?.clone();
        let methods = self.types.methods(&builder, Some(name)).ok()?;
        Some((methods, name.to_owned()))
    }

    /// Types that are made empty and filled by `Add`.
    fn filled_collection(
        &mut self,
        elements: &[CollectionElement],
        named: &Rc<Named>,
        to: &Type,
        span: Span,
    ) -> Result<Option<Node>> {
        let Some(element) = self.iterated(to) else {
            return Ok(None);
        };
        let is_abstract = self
            .types
            .definition(named)
            .is_ok_and(|it| it.flags().is_abstract());
        let constructors = self.types.methods(named, Some(".ctor")).unwrap_or_default();
        let constructor = constructors.into_iter().find(|it| it.parameters.is_empty());
        let made = match constructor {
            _ if is_abstract || named.kind == Kind::Interface => return Ok(None),
            Some(method) => {
                let callee = self.callee(method, Vec::new(), false);
                Op::New(Rc::new(callee), Vec::new())
            }
            None if named.kind == Kind::Struct => Op::Default,
            None => return Ok(None),
        };
        let made = Node::new(made, to.clone(), span);
        let slot = self.slot();
        let target = self.slot_node(slot, to, span);
        let mut steps = Vec::new();
        for item in elements {
            match item {
                CollectionElement::Value(expr) => {
                    let operand = self.bind(expr)?;
                    let value = self.convert(operand, &element, expr.span)?;
                    steps.push(Initial::Add(self.added(&target, value, expr.span)?));
                }
                CollectionElement::Spread(expr) => {
                    let (all, item, each) = self.spread_element(expr)?;
                    let each = self.convert(Operand::Value(each), &element, expr.span)?;
                    let call = self.added(&target, each, expr.span)?;
                    steps.push(Initial::AddAll(all, item, call));
                }
            }
        }
        let op = Op::Initialize(Box::new(made), slot, steps);
        Ok(Some(Node::new(op, to.clone(), span)))
    }

    fn added(&mut self, target: &Node, value: Node, span: Span) -> Result<Node> {
        let name = SimpleName {
            identifier: Identifier {
                text: "Add".into(),
                verbatim: false,
                span,
            },
            arguments: None,
            span,
        };
        let Operand::Group(group) = self.instance_member(target.clone(), &name, span)? else {
            return Err(self.no_collection(&target.ty, span));
        };
        let argument = Arg {
            operand: Operand::Value(value),
            name: None,
            by_ref: None,
            is_in: false,
            receiver: false,
            span,
        };
        self.call_group(&group, vec![argument], span)
    }

    /// Which of two types a collection expression is better made as (C# 12): a read-only span before a span, spans before
    /// arrays and what these implement.
    pub(super) fn better_collection(&self, one: &Type, other: &Type) -> Ordering {
        let is_array = |ty: &Type| match ty {
            Type::SzArray(_) => true,
            Type::Named(named) => self.is_array_interface(named),
            _ => false,
        };
        let element = |ty: &Type| match self.span_element(ty) {
            Some(element) => Some(element),
            None => self.iterated(ty),
        };
        let better = |one: &Type, other: &Type| {
            let Some(inner) = self.span_element(one) else {
                return false;
            };
            match self.span_element(other) {
                Some(outer) => {
                    self.is_read_only_span(one) && !self.is_read_only_span(other) && inner == outer
                }
                None => {
                    is_array(other)
                        && element(other)
                            .is_some_and(|it| self.implicit_types(&inner, &it).is_some())
                }
            }
        };
        match (better(one, other), better(other, one)) {
            (true, _) => Ordering::Greater,
            (_, true) => Ordering::Less,
            _ => self.better_target(one, other),
        }
    }

    /// The types of the elements of a collection expression that is passed for a parameter, and what these are for there.
    pub(super) fn collection_bounds(
        &mut self,
        expr: &Expr,
        parameter: &Type,
    ) -> Option<(Type, Vec<Type>)> {
        let ExprKind::Collection(elements) = &expr.without_parens().kind else {
            return None;
        };
        let inner = self.iterated(parameter)?;
        let (slots, locals) = (self.slots, self.locals.len());
        let mut types = Vec::new();
        for item in elements {
            let found = match item {
                CollectionElement::Value(expr) => match self.bind(expr) {
                    Ok(Operand::Value(node)) => Some(node.ty),
                    _ => None,
                },
                CollectionElement::Spread(expr) => {
                    let all = self.value(expr).ok();
                    all.and_then(|it| self.iterated(&it.ty))
                }
            };
            types.extend(found);
        }
        self.slots = slots;
        self.locals.truncate(locals);
        Some((inner, types))
    }
}
