//! `System.Linq.Enumerable`, interpreted over sequences that can be read.
//!
//! Lambdas cannot be compiled into the program, so the operators run here, element by element, at once and with a limit.

use std::cmp::Ordering;
use std::rc::Rc;

use syntax::Span;

use super::known::is_closure;
use super::{Made, Result, Runner, Val, integer};
use crate::expressions::error::Fail;
use crate::expressions::plan::{Callee, Node};
use crate::expressions::scalar::{Kind, Scalar};
use crate::types::Type;
use crate::values::view::known::Known;

impl Runner<'_, '_> {
    #[expect(
        clippy::too_many_lines,
        reason = "one operator of the framework after the other"
    )]
    pub(super) fn enumerable(
        &mut self,
        name: &str,
        callee: &Rc<Callee>,
        arguments: &[Val],
        nodes: &[Node],
        node: &Node,
    ) -> Result<Option<Val>> {
        let span = node.span;
        let made = |items: Vec<Val>| Some(Val::sequence(node.ty.clone(), items));
        match (name, arguments) {
            ("Range", [start, count]) => {
                let (start, count) = (integer(start).unwrap_or(0), integer(count).unwrap_or(0));
                if count < 0 {
                    return Err(
                        Fail::thrown(span, "System.ArgumentOutOfRangeException", None).into(),
                    );
                }
                let mut items = Vec::new();
                for offset in 0..count {
                    self.item(span)?;
                    items.push(Val::int(start + offset));
                }
                return Ok(made(items));
            }
            ("Repeat", [value, count]) => {
                let count = integer(count).unwrap_or(0);
                let mut items = Vec::new();
                for _ in 0..count {
                    self.item(span)?;
                    items.push(value.clone());
                }
                return Ok(made(items));
            }
            ("Empty", []) => return Ok(made(Vec::new())),
            _ => {}
        }
        let Some((source, rest)) = arguments.split_first() else {
            return Ok(None);
        };
        // A delegate of the program is code of the program.
        for (argument, node) in rest.iter().zip(nodes.iter().skip(1)) {
            let is_delegate = matches!(&node.ty, Type::Named(named) if named.kind == crate::types::Kind::Delegate);
            if is_delegate && !is_closure(argument) {
                return Ok(None);
            }
        }
        // What only code can enumerate is better left to the program as long as it can be: it may have no end.
        if self.around.calls
            && let Val::Object(object) = source
            && !rest.iter().any(|it| matches!(it, Val::Made(_)))
            && self.reader.known(&object.ty) == Known::Plain
        {
            return Ok(None);
        }
        let items = self.items_of(source, span)?;
        let lambda = rest.first().filter(|it| is_closure(it));
        Ok(match (name, rest) {
            ("AsEnumerable", []) => Some(source.clone()),
            ("ToList" | "ToArray", []) => made(items),
            ("Cast", []) => {
                let to = callee.arguments.first().cloned().unwrap_or(Type::OBJECT);
                let from = self.element_type(source);
                let mut cast = Vec::new();
                for item in items {
                    cast.push(self.cast_item(item, &from, &to, span)?);
                }
                made(cast)
            }
            ("OfType", []) => {
                let to = callee.arguments.first().cloned().unwrap_or(Type::OBJECT);
                let from = self.element_type(source);
                let mut found = Vec::new();
                for item in items {
                    if self.is_of(&item, &from, &to) {
                        found.push(self.cast_item(item, &from, &to, span)?);
                    }
                }
                made(found)
            }
            ("Where", [_]) => {
                let mut found = Vec::new();
                for (index, item) in items.into_iter().enumerate() {
                    if self.truth_of(lambda, &item, index, span)? {
                        found.push(item);
                    }
                }
                made(found)
            }
            ("Select", [_]) => {
                let mut found = Vec::new();
                for (index, item) in items.into_iter().enumerate() {
                    found.push(self.apply_lambda(lambda, &item, index, span)?);
                }
                made(found)
            }
            ("SelectMany", [_, more @ ..]) => {
                let mut found = Vec::new();
                for (index, item) in items.into_iter().enumerate() {
                    let inner = self.apply_lambda(lambda, &item, index, span)?;
                    for part in self.items_of(&inner, span)? {
                        found.push(match more.first() {
                            Some(result) => self.invoke(result, vec![item.clone(), part], span)?,
                            None => part,
                        });
                    }
                }
                made(found)
            }
            ("Count" | "LongCount", _) => {
                let count = self.filtered(items, lambda, span)?.len() as i128;
                let kind = if name == "Count" {
                    Kind::Int
                } else {
                    Kind::Long
                };
                Some(Val::Scalar(Scalar::Int(kind, count)))
            }
            ("Any", _) => {
                for (index, item) in items.iter().enumerate() {
                    if lambda.is_none() || self.truth_of(lambda, item, index, span)? {
                        return Ok(Some(Val::bool(true)));
                    }
                }
                Some(Val::bool(false))
            }
            ("All", [_]) => {
                for (index, item) in items.iter().enumerate() {
                    if !self.truth_of(lambda, item, index, span)? {
                        return Ok(Some(Val::bool(false)));
                    }
                }
                Some(Val::bool(true))
            }
            (
                "First" | "FirstOrDefault" | "Last" | "LastOrDefault" | "Single"
                | "SingleOrDefault",
                _,
            ) => {
                let fallback = rest.iter().find(|it| !is_closure(it)).cloned();
                let mut found = Vec::new();
                for (index, item) in items.into_iter().enumerate() {
                    if lambda.is_none() || self.truth_of(lambda, &item, index, span)? {
                        found.push(item);
                        if name.starts_with("First") {
                            break;
                        }
                    }
                }
                if name.starts_with("Single") && found.len() > 1 {
                    return Err(invalid(span, "Sequence contains more than one element"));
                }
                let one = if name.starts_with("Last") {
                    found.pop()
                } else {
                    found.into_iter().next()
                };
                match one {
                    Some(value) => Some(value),
                    None if name.ends_with("OrDefault") => {
                        Some(fallback.unwrap_or_else(|| self.default(&node.ty)))
                    }
                    None if lambda.is_some() => {
                        return Err(invalid(span, "Sequence contains no matching element"));
                    }
                    None => return Err(invalid(span, "Sequence contains no elements")),
                }
            }
            ("ElementAt" | "ElementAtOrDefault", [index]) => {
                let item = integer(index)
                    .and_then(|it| usize::try_from(it).ok())
                    .and_then(|it| items.get(it).cloned());
                match item {
                    Some(item) => Some(item),
                    None if name == "ElementAtOrDefault" => Some(self.default(&node.ty)),
                    None => {
                        return Err(
                            Fail::thrown(span, "System.ArgumentOutOfRangeException", None).into(),
                        );
                    }
                }
            }
            ("Contains", [wanted]) => {
                for item in &items {
                    match self.equal(item, wanted, span)? {
                        Some(true) => return Ok(Some(Val::bool(true))),
                        Some(false) => {}
                        None => return Ok(None),
                    }
                }
                Some(Val::bool(false))
            }
            ("Skip" | "Take", [Val::Scalar(Scalar::Int(_, count))]) => {
                let count = usize::try_from((*count).max(0)).unwrap_or(usize::MAX);
                made(if name == "Skip" {
                    items.into_iter().skip(count).collect()
                } else {
                    items.into_iter().take(count).collect()
                })
            }
            ("SkipWhile" | "TakeWhile", [_]) => {
                let mut at = items.len();
                for (index, item) in items.iter().enumerate() {
                    if !self.truth_of(lambda, item, index, span)? {
                        at = index;
                        break;
                    }
                }
                made(if name == "SkipWhile" {
                    items.into_iter().skip(at).collect()
                } else {
                    items.into_iter().take(at).collect()
                })
            }
            ("Reverse", []) => made(items.into_iter().rev().collect()),
            ("Append", [value]) => {
                let mut items = items;
                items.push(value.clone());
                made(items)
            }
            ("Prepend", [value]) => {
                let mut items = items;
                items.insert(0, value.clone());
                made(items)
            }
            ("Concat", [other]) => {
                let mut items = items;
                items.extend(self.items_of(other, span)?);
                made(items)
            }
            ("DefaultIfEmpty", _) if !items.is_empty() => made(items),
            ("DefaultIfEmpty", []) => {
                let element = callee.arguments.first().cloned().unwrap_or(Type::OBJECT);
                made(vec![self.default(&element)])
            }
            ("DefaultIfEmpty", [value]) => made(vec![value.clone()]),
            ("Distinct", []) => self.unique(items, span)?.and_then(made),
            ("DistinctBy", [_]) => {
                let keys = self.keys(&items, lambda, span)?;
                let mut kept: Vec<(Val, Val)> = Vec::new();
                for (key, item) in keys.into_iter().zip(items) {
                    let mut known = false;
                    for (other, _) in &kept {
                        match self.equal(other, &key, span)? {
                            Some(same) => known |= same,
                            None => return Ok(None),
                        }
                    }
                    if !known {
                        kept.push((key, item));
                    }
                }
                made(kept.into_iter().map(|(_, it)| it).collect())
            }
            ("Union", [other]) => {
                let mut items = items;
                items.extend(self.items_of(other, span)?);
                self.unique(items, span)?.and_then(made)
            }
            ("Except" | "Intersect", [other]) => {
                let others = self.items_of(other, span)?;
                let Some(items) = self.unique(items, span)? else {
                    return Ok(None);
                };
                let mut found = Vec::new();
                for item in items {
                    let mut present = false;
                    for other in &others {
                        match self.equal(&item, other, span)? {
                            Some(same) => present |= same,
                            None => return Ok(None),
                        }
                    }
                    if present == (name == "Intersect") {
                        found.push(item);
                    }
                }
                made(found)
            }
            ("Zip", [other, more @ ..]) => {
                let others = self.items_of(other, span)?;
                let mut found = Vec::new();
                for (a, b) in items.into_iter().zip(others) {
                    found.push(match more.first() {
                        Some(lambda) => self.invoke(lambda, vec![a, b], span)?,
                        None => {
                            let ty = node
                                .ty
                                .as_named()
                                .and_then(|it| it.arguments.first().cloned())
                                .unwrap_or(Type::OBJECT);
                            self.tuple(&ty, vec![a, b])
                        }
                    });
                }
                made(found)
            }
            ("Aggregate", [seed, more @ ..]) => {
                let (mut value, items, lambda, last) = if is_closure(seed) {
                    let mut items = items.into_iter();
                    let Some(first) = items.next() else {
                        return Err(invalid(span, "Sequence contains no elements"));
                    };
                    (first, items.collect::<Vec<_>>(), seed, None)
                } else {
                    let Some(lambda) = more.first() else {
                        return Ok(None);
                    };
                    (seed.clone(), items, lambda, more.get(1))
                };
                for item in items {
                    self.item(span)?;
                    value = self.invoke(lambda, vec![value, item], span)?;
                }
                match last {
                    Some(last) => Some(self.invoke(last, vec![value], span)?),
                    None => Some(value),
                }
            }
            ("Sum" | "Average" | "Max" | "Min", _) => {
                let values = match lambda {
                    Some(_) => self.keys(&items, lambda, span)?,
                    None => items,
                };
                self.reduce(name, values, node, span)?
            }
            ("MaxBy" | "MinBy", [_]) => {
                let keys = self.keys(&items, lambda, span)?;
                let mut best: Option<(Val, Val)> = None;
                for (key, item) in keys.into_iter().zip(items) {
                    let better = match &best {
                        None => true,
                        Some((other, _)) => match self.order(&key, other, span)? {
                            Some(order) => {
                                order
                                    == if name == "MaxBy" {
                                        Ordering::Greater
                                    } else {
                                        Ordering::Less
                                    }
                            }
                            None => return Ok(None),
                        },
                    };
                    if better {
                        best = Some((key, item));
                    }
                }
                match best {
                    Some((_, item)) => Some(item),
                    None => return Err(invalid(span, "Sequence contains no elements")),
                }
            }
            ("OrderBy" | "OrderByDescending" | "ThenBy" | "ThenByDescending", [_]) => {
                self.sorted(name, source, items, lambda, node, span)?
            }
            ("GroupBy", [key, more @ ..]) if is_closure(key) => {
                self.grouped(items, lambda, more, node, span)?
            }
            ("ToDictionary", [key, more @ ..]) if is_closure(key) => {
                let keys = self.keys(&items, lambda, span)?;
                let mut pairs: Vec<Val> = Vec::new();
                let pair = self.pair_of(&node.ty);
                for (index, key) in keys.iter().enumerate() {
                    for other in keys.iter().take(index) {
                        match self.equal(key, other, span)? {
                            Some(true) => {
                                let message = "An item with the same key has already been added.";
                                return Err(Fail::thrown(
                                    span,
                                    "System.ArgumentException",
                                    Some(message.into()),
                                )
                                .into());
                            }
                            Some(false) => {}
                            None => return Ok(None),
                        }
                    }
                }
                for (key, item) in keys.into_iter().zip(items) {
                    let value = match more.first() {
                        Some(lambda) => self.invoke(lambda, vec![item], span)?,
                        None => item,
                    };
                    let Some(pair) = &pair else { return Ok(None) };
                    pairs.push(Val::Made(Rc::new(Made::Fields(
                        pair.clone(),
                        vec![("key".into(), key), ("value".into(), value)],
                    ))));
                }
                made(pairs)
            }
            ("Join", [inner, outer_key, inner_key, result]) => {
                let inners = self.items_of(inner, span)?;
                let inner_keys = self.keys(&inners, Some(inner_key), span)?;
                let outer_keys = self.keys(&items, Some(outer_key), span)?;
                let mut found = Vec::new();
                for (key, item) in outer_keys.into_iter().zip(items) {
                    for (other, inner) in inner_keys.iter().zip(&inners) {
                        match self.equal(&key, other, span)? {
                            Some(true) => found.push(self.invoke(
                                result,
                                vec![item.clone(), inner.clone()],
                                span,
                            )?),
                            Some(false) => {}
                            None => return Ok(None),
                        }
                    }
                }
                made(found)
            }
            ("GroupJoin", [inner, outer_key, inner_key, result]) => {
                let inners = self.items_of(inner, span)?;
                let inner_keys = self.keys(&inners, Some(inner_key), span)?;
                let outer_keys = self.keys(&items, Some(outer_key), span)?;
                let sequence = callee.method.parameters.get(1);
                let sequence = sequence.map_or(Type::OBJECT, |it| it.ty.clone());
                let mut found = Vec::new();
                for (key, item) in outer_keys.into_iter().zip(items) {
                    let mut group = Vec::new();
                    for (other, inner) in inner_keys.iter().zip(&inners) {
                        match self.equal(&key, other, span)? {
                            // What has no key belongs to nothing.
                            Some(true) if !matches!(key, Val::Null) => group.push(inner.clone()),
                            Some(_) => {}
                            None => return Ok(None),
                        }
                    }
                    let group = Val::sequence(sequence.clone(), group);
                    let group = self.counted(group, span)?;
                    found.push(self.invoke(result, vec![item, group], span)?);
                }
                made(found)
            }
            ("Chunk", [size]) => {
                let size = integer(size)
                    .and_then(|it| usize::try_from(it).ok())
                    .filter(|it| *it > 0);
                let Some(size) = size else {
                    return Err(
                        Fail::thrown(span, "System.ArgumentOutOfRangeException", None).into(),
                    );
                };
                let element = node
                    .ty
                    .as_named()
                    .and_then(|it| it.arguments.first().cloned())
                    .unwrap_or(Type::OBJECT);
                let chunks = items
                    .chunks(size)
                    .map(|it| Val::sequence(element.clone(), it.to_vec()))
                    .collect();
                made(chunks)
            }
            _ => None,
        })
    }

    fn element_type(&self, source: &Val) -> Type {
        let ty = self.exact_type(source).unwrap_or(Type::OBJECT);
        ty.element()
            .cloned()
            .or_else(|| ty.as_named().and_then(|it| it.arguments.first().cloned()))
            .unwrap_or(Type::OBJECT)
    }

    fn cast_item(&mut self, item: Val, from: &Type, to: &Type, span: Span) -> Result<Val> {
        use crate::expressions::plan::Conversion;
        let conversion = match (from.is_value() == Some(true), to.is_value() == Some(true)) {
            (true, false) => Conversion::Box,
            (false, true) => Conversion::Unbox,
            (false, false) => Conversion::Cast,
            (true, true) => Conversion::Keep,
        };
        self.convert(&conversion, item, from, to, span)
    }

    fn pair_of(&self, dictionary: &Type) -> Option<Type> {
        let open = self
            .types
            .core("System.Collections.Generic", "KeyValuePair`2")?;
        self.types
            .close(open.as_named()?, &dictionary.as_named()?.arguments)
            .ok()
    }

    fn truth_of(
        &mut self,
        lambda: Option<&Val>,
        item: &Val,
        index: usize,
        span: Span,
    ) -> Result<bool> {
        match self.apply_lambda(lambda, item, index, span)? {
            Val::Scalar(Scalar::Bool(value)) => Ok(value),
            _ => Err(super::misfit(span)),
        }
    }

    /// Calls a lambda with an element, and its number if it takes two.
    fn apply_lambda(
        &mut self,
        lambda: Option<&Val>,
        item: &Val,
        index: usize,
        span: Span,
    ) -> Result<Val> {
        self.item(span)?;
        let Some(lambda) = lambda else {
            return Err(super::misfit(span));
        };
        let takes_two = matches!(lambda, Val::Made(made) if matches!(&**made, Made::Closure(it) if it.slots.len() == 2));
        let mut arguments = vec![item.clone()];
        if takes_two {
            arguments.push(Val::int(index as i128));
        }
        self.invoke(lambda, arguments, span)
    }

    fn filtered(&mut self, items: Vec<Val>, lambda: Option<&Val>, span: Span) -> Result<Vec<Val>> {
        if lambda.is_none() {
            return Ok(items);
        }
        let mut found = Vec::new();
        for (index, item) in items.into_iter().enumerate() {
            if self.truth_of(lambda, &item, index, span)? {
                found.push(item);
            }
        }
        Ok(found)
    }

    pub(super) fn keys(
        &mut self,
        items: &[Val],
        lambda: Option<&Val>,
        span: Span,
    ) -> Result<Vec<Val>> {
        let mut keys = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            keys.push(self.apply_lambda(lambda, item, index, span)?);
        }
        Ok(keys)
    }

    fn unique(&mut self, items: Vec<Val>, span: Span) -> Result<Option<Vec<Val>>> {
        let mut kept: Vec<Val> = Vec::new();
        for item in items {
            let mut known = false;
            for other in &kept {
                match self.equal(other, &item, span)? {
                    Some(same) => known |= same,
                    None => return Ok(None),
                }
            }
            if !known {
                kept.push(item);
            }
        }
        Ok(Some(kept))
    }
}

pub(super) fn invalid(span: Span, message: &str) -> super::Interrupt {
    Fail::thrown(
        span,
        "System.InvalidOperationException",
        Some(message.into()),
    )
    .into()
}
