//! `System.Linq.Enumerable`, interpreted.
//!
//! Lambdas cannot be compiled into the program, so the operators run here. Those that give a sequence only note what they are
//! applied to ([`super::lazy`]); the others pull the elements they need, and no more, as C# does.

use std::rc::Rc;

use syntax::Span;

use super::lazy::{Operator, as_lazy};
use super::{Made, Result, Runner, Val, integer};
use crate::expressions::error::Fail;
use crate::expressions::plan::{Callee, Node};
use crate::types::Type;
use crate::values::view::known::Known;

/// A call of an operator.
pub(super) struct Applied<'c> {
    pub(super) name: &'c str,
    callee: &'c Callee,
    pub(super) source: Val,
    pub(super) rest: &'c [Val],
    pub(super) node: &'c Node,
}

impl Applied<'_> {
    /// The first argument behind the source whose parameter is of such a type; null if there is none.
    pub(super) fn comparer(&self, this: &Runner<'_, '_>) -> Val {
        let parameters = self.callee.method.parameters.iter().skip(1);
        let mut found = self.rest.iter().zip(parameters).filter(|(_, parameter)| {
            let named = parameter.ty.as_named();
            named.is_some_and(|it| {
                ["IComparer`1", "IEqualityComparer`1"]
                    .iter()
                    .any(|name| this.types.is_named(it, "System.Collections.Generic", name))
            })
        });
        match found.next() {
            Some((value, _)) if !matches!(value, Val::Null) => value.clone(),
            _ => this.usual_comparer(self.compared()),
        }
    }

    /// The type of the elements or keys that are compared.
    fn compared(&self) -> Option<&Type> {
        let arguments = &self.callee.arguments;
        let number = match self.name {
            "Join" | "GroupJoin" | "LeftJoin" | "RightJoin" => 2,
            "ToDictionary" if self.delegate(0).is_none() => 0,
            "GroupBy" | "ToLookup" | "ToDictionary" | "CountBy" | "AggregateBy" => 1,
            name if name.ends_with("By") || name.contains("ByDescending") => 1,
            // What a selector gives.
            "Min" | "Max" => arguments.len().saturating_sub(1),
            _ => 0,
        };
        arguments.get(number)
    }

    /// How many arguments the delegate takes that is the parameter with a number, behind the source.
    fn takes(&self, index: usize) -> usize {
        let parameter = self.callee.method.parameters.get(index + 1);
        let named = parameter.and_then(|it| it.ty.as_named());
        named.map_or(0, |it| it.arguments.len().saturating_sub(1))
    }

    /// The argument behind the source with a number, if it is a delegate.
    pub(super) fn delegate(&self, index: usize) -> Option<Val> {
        let parameter = self.callee.method.parameters.get(index + 1)?;
        let is_delegate =
            matches!(&parameter.ty, Type::Named(it) if it.kind == crate::types::Kind::Delegate);
        is_delegate.then(|| self.rest.get(index).cloned())?
    }

    /// The type of the elements of what it gives.
    fn element(&self) -> Type {
        let first = self.node.ty.as_named().and_then(|it| it.arguments.first());
        first
            .or(self.node.ty.element())
            .cloned()
            .unwrap_or(Type::OBJECT)
    }
}

impl Runner<'_, '_> {
    pub(super) fn enumerable(
        &mut self,
        name: &str,
        callee: &Rc<Callee>,
        arguments: &[Val],
        node: &Node,
    ) -> Result<Option<Val>> {
        let span = node.span;
        match (name, arguments) {
            ("Range", [start, count]) => {
                let (start, count) = (integer(start).unwrap_or(0), integer(count).unwrap_or(0));
                if count < 0 || count > 0 && start + count - 1 > i128::from(i32::MAX) {
                    return Err(out_of_range(span, "count"));
                }
                let op = Operator::Range(start, count);
                return self.lazy(&node.ty, op, Vec::new(), span).map(Some);
            }
            ("Repeat", [value, count]) => {
                let count = integer(count).unwrap_or(0);
                if count < 0 {
                    return Err(out_of_range(span, "count"));
                }
                let op = Operator::Repeat(count);
                return self.lazy(&node.ty, op, vec![value.clone()], span).map(Some);
            }
            ("Empty", []) => return Ok(Some(Val::sequence(node.ty.clone(), Vec::new()))),
            _ => {}
        }
        let Some((source, rest)) = arguments.split_first() else {
            return Ok(None);
        };
        if matches!(source, Val::Null) {
            let parameter = callee.method.parameters.first();
            let parameter = parameter.map_or("source", |it| &*it.name);
            return Err(null_argument(span, parameter));
        }
        for (argument, parameter) in rest.iter().zip(callee.method.parameters.iter().skip(1)) {
            let is_needed = match &parameter.ty {
                Type::Named(it) if it.kind == crate::types::Kind::Delegate => true,
                Type::Named(it) => {
                    let generic = "System.Collections.Generic";
                    self.types.is_named(it, generic, "IEnumerable`1")
                }
                _ => false,
            };
            if is_needed && matches!(argument, Val::Null) {
                return Err(null_argument(span, &parameter.name));
            }
        }
        let applied = Applied {
            name,
            callee,
            source: source.clone(),
            rest,
            node,
        };
        if let Some(sequence) = self.deferred(&applied)? {
            return Ok(Some(sequence));
        }
        if let ("Contains", [wanted], Some(element)) = (name, rest, callee.arguments.first())
            && let Some(answer) = self.contained(source, wanted, element, node)?
        {
            return Ok(answer);
        }
        // What only code can enumerate is better left to the program as long as it can be.
        if self.around.calls
            && let Val::Object(object) = source
            && !rest.iter().any(|it| matches!(it, Val::Made(_)))
            && (self.reader.known(&object.ty) == Known::Plain
                || rest.iter().any(|it| matches!(it, Val::Object(_))))
        {
            return Ok(None);
        }
        self.immediate(&applied)
    }

    /// The operators that give a sequence: nothing is looked at yet.
    fn deferred(&mut self, applied: &Applied<'_>) -> Result<Option<Val>> {
        let (node, rest) = (applied.node, applied.rest);
        let span = node.span;
        let comparer = applied.comparer(self);
        let one = |index: usize| rest.get(index).cloned().unwrap_or(Val::Null);
        let delegate = |index: usize| applied.delegate(index).unwrap_or(Val::Null);
        let count = || {
            let count = rest.first().and_then(integer).unwrap_or(0);
            u64::try_from(count).unwrap_or(0)
        };
        let argument = |number: usize| {
            let arguments = &applied.callee.arguments;
            arguments.get(number).cloned().unwrap_or(Type::OBJECT)
        };
        let element = || argument(0);
        let (op, more) = match applied.name {
            "Where" => (Operator::Where(applied.takes(0) == 2), vec![one(0)]),
            "Select" => (Operator::Select(applied.takes(0) == 2), vec![one(0)]),
            "SelectMany" => {
                let op = Operator::SelectMany(applied.takes(0) == 2);
                (op, vec![one(0), one(1)])
            }
            "Skip" => (Operator::Skip(count()), vec![]),
            "Take" => match rest {
                [Val::Made(_) | Val::Struct(_)] => {
                    let (start, end) = self.range_of(&one(0), span)?;
                    let start = start.unwrap_or((0, false));
                    let end = end.unwrap_or((0, true));
                    (Operator::TakeRange(start, end), vec![])
                }
                _ => (Operator::Take(count()), vec![]),
            },
            "SkipLast" => (Operator::SkipLast(count()), vec![]),
            "TakeLast" => (Operator::TakeLast(count()), vec![]),
            "SkipWhile" => (Operator::SkipWhile(applied.takes(0) == 2), vec![one(0)]),
            "TakeWhile" => (Operator::TakeWhile(applied.takes(0) == 2), vec![one(0)]),
            "Reverse" => (Operator::Reverse, vec![]),
            "Append" => (Operator::Append, vec![one(0)]),
            "Prepend" => (Operator::Prepend, vec![one(0)]),
            "Concat" => (Operator::Concat, vec![one(0)]),
            "DefaultIfEmpty" => {
                let value = rest.first().cloned();
                let value = value.unwrap_or_else(|| self.default(&element()));
                (Operator::DefaultIfEmpty, vec![value])
            }
            "Distinct" => (Operator::Distinct, vec![Val::Null, comparer]),
            "DistinctBy" => (Operator::Distinct, vec![one(0), comparer]),
            "Union" => (Operator::Union, vec![one(0), Val::Null, comparer]),
            "UnionBy" => (Operator::Union, vec![one(0), one(1), comparer]),
            "Except" | "Intersect" => {
                let op = Operator::Among(applied.name == "Intersect", false);
                (op, vec![one(0), Val::Null, comparer])
            }
            "ExceptBy" | "IntersectBy" => {
                let op = Operator::Among(applied.name == "IntersectBy", true);
                (op, vec![one(0), one(1), comparer])
            }
            "Zip" => {
                let op = Operator::Zip(applied.element());
                match applied.delegate(1) {
                    Some(result) => (op, vec![one(0), Val::Null, result]),
                    None => (op, vec![one(0), one(1)]),
                }
            }
            "Order" | "OrderDescending" => {
                let op = Operator::Ordered(vec![applied.name != "Order"]);
                (op, vec![Val::Null, comparer])
            }
            "OrderBy" | "OrderByDescending" => {
                let op = Operator::Ordered(vec![applied.name != "OrderBy"]);
                (op, vec![one(0), comparer])
            }
            "ThenBy" | "ThenByDescending" => {
                let known = match as_lazy(&applied.source) {
                    Some(lazy) => match &lazy.op {
                        Operator::Ordered(descending) => {
                            Some((descending.clone(), lazy.parts.clone()))
                        }
                        _ => None,
                    },
                    None => self.ordering_in_program(&applied.source, span)?,
                };
                let Some((mut descending, mut parts)) = known else {
                    return Ok(None);
                };
                descending.push(applied.name != "ThenBy");
                parts.extend([one(0), comparer]);
                let op = Operator::Ordered(descending);
                return self.lazy(&node.ty, op, parts, span).map(Some);
            }
            "GroupBy" => {
                let (element, result) = match (applied.takes(1), applied.takes(2)) {
                    (1, 2) => (delegate(1), delegate(2)),
                    (1, _) if applied.delegate(1).is_some() => (delegate(1), Val::Null),
                    (2, _) => (Val::Null, delegate(1)),
                    _ => (Val::Null, Val::Null),
                };
                let ty = match &result {
                    Val::Null => applied.element(),
                    // What the result selector is given: its second parameter.
                    _ => {
                        let parameters = applied.callee.method.parameters.iter();
                        let selector = parameters
                            .filter_map(|it| it.ty.as_named())
                            .find(|it| it.arguments.len() == 3);
                        let given = selector.and_then(|it| it.arguments.get(1).cloned());
                        given.unwrap_or(Type::OBJECT)
                    }
                };
                let op = Operator::GroupBy(ty);
                (op, vec![one(0), element, result, comparer])
            }
            "Join" => (
                Operator::Join,
                vec![one(0), one(1), one(2), one(3), comparer],
            ),
            "LeftJoin" => (
                Operator::OuterJoin(argument(1), false),
                vec![one(0), one(1), one(2), one(3), comparer],
            ),
            // The other way round: each element of the second sequence is told with those of the first.
            "RightJoin" => {
                let op = Operator::OuterJoin(argument(0), true);
                let source = applied.source.clone();
                let parts = vec![one(0), source, one(2), one(1), one(3), comparer];
                return self.lazy(&node.ty, op, parts, span).map(Some);
            }
            "GroupJoin" => {
                let sequence = applied.callee.method.parameters.get(1);
                let sequence = sequence.map_or(Type::OBJECT, |it| it.ty.clone());
                let op = Operator::GroupJoin(sequence);
                (op, vec![one(0), one(1), one(2), one(3), comparer])
            }
            "Cast" | "OfType" => {
                let (from, to) = (self.element_type(&applied.source), element());
                let is_cast = applied.name == "Cast";
                if self.stays_as_it_is(&applied.source, &to, is_cast) {
                    return Ok(Some(applied.source.clone()));
                }
                let op = if is_cast {
                    Operator::Cast(from, to)
                } else {
                    Operator::OfType(from, to)
                };
                (op, vec![])
            }
            "Chunk" => {
                if count() == 0 {
                    return Err(out_of_range(span, "size"));
                }
                (Operator::Chunk(count(), applied.element()), vec![])
            }
            "Index" => (Operator::Index(applied.element()), vec![]),
            "CountBy" => (Operator::CountBy(applied.element()), vec![one(0), comparer]),
            "AggregateBy" => {
                let by_key = applied.delegate(1).is_some();
                let op = Operator::AggregateBy(applied.element(), by_key);
                (op, vec![one(0), one(1), one(2), comparer])
            }
            "AsEnumerable" => return Ok(Some(applied.source.clone())),
            _ => return Ok(None),
        };
        let mut parts = vec![applied.source.clone()];
        parts.extend(more);
        self.lazy(&node.ty, op, parts, span).map(Some)
    }

    /// The groups of a lookup have this type.
    pub(super) fn group_type(&self, lookup: &Type) -> Option<Type> {
        let open = self.types.find("System.Linq", "IGrouping", 2);
        let open = open.first()?.as_named()?;
        let arguments = &lookup.as_named()?.arguments;
        self.types.close(open, arguments).ok()
    }

    pub(super) fn element_type(&self, source: &Val) -> Type {
        let ty = self.exact_type(source).unwrap_or(Type::OBJECT);
        ty.element()
            .cloned()
            .or_else(|| ty.as_named().and_then(|it| it.arguments.first().cloned()))
            .unwrap_or(Type::OBJECT)
    }

    /// An element as the type that it is cast to: a value is boxed before, so that no number becomes another one.
    pub(super) fn cast_item(
        &mut self,
        item: Val,
        from: &Type,
        to: &Type,
        span: Span,
    ) -> Result<Val> {
        use crate::expressions::plan::Conversion;
        let item = self.boxed(item, from);
        let conversion = match to.is_value() {
            Some(true) => Conversion::Unbox,
            _ => Conversion::Cast,
        };
        self.convert(&conversion, item, &Type::OBJECT, to, span)
    }
}

pub(super) fn null_argument(span: Span, name: &str) -> super::Interrupt {
    Fail::thrown(
        span,
        "System.ArgumentNullException",
        Some(format!("Value cannot be null. (Parameter '{name}')")),
    )
    .into()
}

pub(super) fn out_of_range(span: Span, name: &str) -> super::Interrupt {
    Fail::thrown(
        span,
        "System.ArgumentOutOfRangeException",
        Some(format!(
            "Specified argument was out of the range of valid values. (Parameter '{name}')"
        )),
    )
    .into()
}

pub(super) fn no_elements(span: Span) -> super::Interrupt {
    invalid(span, "Sequence contains no elements")
}

pub(super) fn invalid(span: Span, message: &str) -> super::Interrupt {
    Fail::thrown(
        span,
        "System.InvalidOperationException",
        Some(message.into()),
    )
    .into()
}

/// The two values of a made pair or tuple.
pub(super) fn made_two(made: &Made) -> Option<(Val, Val)> {
    match made {
        Made::Fields(_, fields) => match fields.as_slice() {
            [(_, one), (_, two)] => Some((one.clone(), two.clone())),
            _ => None,
        },
        _ => None,
    }
}
