//! LINQ operators that give a value: they pull the elements they need, and no more.

use std::cmp::Ordering;
use std::rc::Rc;

use syntax::Span;

use super::keys::Keys;
use super::lazy::{Operator, as_lazy};
use super::linq::{Applied, invalid, no_elements, null_argument};
use super::pulling::{group, key_value};
use super::{Made, Result, Runner, Val};
use crate::expressions::error::Fail;
use crate::expressions::scalar::{Kind, Scalar};
use crate::types::Type;

impl Runner<'_, '_> {
    /// The operators that give a value.
    pub(super) fn immediate(&mut self, applied: &Applied<'_>) -> Result<Option<Val>> {
        let (name, node, source) = (applied.name, applied.node, &applied.source);
        let (span, rest) = (node.span, applied.rest);
        let comparer = applied.comparer(self);
        let lambda = applied.delegate(0);
        let lambdas = || -> Vec<Val> { rest.to_vec() };
        Ok(match (name, rest) {
            ("ToList" | "ToArray", []) => {
                let items = self.copied_items(source, span)?;
                Some(Val::sequence(node.ty.clone(), items))
            }
            ("ToHashSet", _) => {
                let unique = self.lazy(
                    &node.ty,
                    Operator::Distinct,
                    vec![source.clone(), Val::Null, comparer.clone()],
                    span,
                )?;
                let items = self.items_of(&unique, span)?;
                Some(keyed(&node.ty, items, &comparer))
            }
            ("Count" | "LongCount", _) => {
                let count = self.counted_elements(source, lambda.as_ref(), span)?;
                let kind = if name == "Count" {
                    Kind::Int
                } else {
                    Kind::Long
                };
                Some(Val::Scalar(Scalar::Int(kind, count)))
            }
            ("Any", []) => Some(Val::bool(match self.cheap_count(source, span)? {
                Some(count) => count > 0,
                None => self
                    .consume(source, span, |this, pull| pull(this))?
                    .is_some(),
            })),
            ("Any" | "All", [lambda]) => {
                let wanted = name == "Any";
                let found = self.consume(source, span, |this, pull| {
                    while let Some(item) = pull(this)? {
                        if this.holds(lambda, vec![item], span)? == wanted {
                            return Ok(true);
                        }
                    }
                    Ok(false)
                })?;
                Some(Val::bool(found == wanted))
            }
            (
                "First" | "FirstOrDefault" | "Last" | "LastOrDefault" | "Single"
                | "SingleOrDefault",
                _,
            ) => {
                let found = match &name[..4] {
                    "Firs" => self.first_of(source, lambda.as_ref(), span)?,
                    "Last" => match &lambda {
                        None => self.last_of(source, span)?,
                        Some(lambda) => match self.last_match(source, lambda, span)? {
                            Some(found) => found,
                            None => self.consume_all(source, &[], span, |this, pull| {
                                let mut last = None;
                                while let Some(item) = pull(this)? {
                                    if this.holds(lambda, vec![item.clone()], span)? {
                                        last = Some(item);
                                    }
                                }
                                Ok(last)
                            })?,
                        },
                    },
                    _ => self.single_of(source, lambda.as_ref(), span)?,
                };
                match found {
                    Some(value) => Some(value),
                    None if name.ends_with("OrDefault") => {
                        let fallback = rest.get(usize::from(lambda.is_some())).cloned();
                        Some(fallback.unwrap_or_else(|| self.default(&node.ty)))
                    }
                    None if lambda.is_some() => {
                        return Err(invalid(span, "Sequence contains no matching element"));
                    }
                    None => return Err(no_elements(span)),
                }
            }
            ("ElementAt" | "ElementAtOrDefault", [index]) => {
                let found = match self.index_of_value(index, span)? {
                    (index, false) => match u64::try_from(index) {
                        Ok(index) => self.element_at(source, index, span)?,
                        Err(_) => None,
                    },
                    (index, true) => {
                        let items = self.items_of(source, span)?;
                        let at = items.len().checked_sub(usize::try_from(index).unwrap_or(0));
                        at.and_then(|at| items.get(at).cloned())
                    }
                };
                match found {
                    Some(item) => Some(item),
                    None if name == "ElementAtOrDefault" => Some(self.default(&node.ty)),
                    None if super::lazy::as_lazy(source).is_some() => {
                        return Err(super::linq::out_of_range(span, "index"));
                    }
                    None => {
                        return Err(Fail::thrown(
                            span,
                            "System.ArgumentOutOfRangeException",
                            Some("Index was out of range. Must be non-negative and less than the size of the collection. (Parameter 'index')".into()),
                        )
                        .into());
                    }
                }
            }
            ("Contains", [wanted, ..]) => {
                let found = self.is_among(source, wanted, &comparer, span)?;
                Some(Val::bool(found))
            }
            ("SequenceEqual", [other, ..]) => {
                let counts = (
                    self.list_length(source, span)?,
                    self.list_length(other, span)?,
                );
                if let (Some(a), Some(b)) = counts
                    && a != b
                {
                    return Ok(Some(Val::bool(false)));
                }
                let same = self.consume(source, span, |this, pull| {
                    this.consume(other, span, |this, others| {
                        loop {
                            match (pull(this)?, others(this)?) {
                                (None, None) => return Ok(true),
                                (Some(a), Some(b)) => {
                                    if !this.equals(&a, &b, &comparer, span)? {
                                        return Ok(false);
                                    }
                                }
                                _ => return Ok(false),
                            }
                        }
                    })
                })?;
                Some(Val::bool(same))
            }
            ("Aggregate", [first, more @ ..]) => {
                let (seed, function, last) = match more {
                    [] => (None, first, None),
                    [function] => (Some(first.clone()), function, None),
                    [function, last, ..] => (Some(first.clone()), function, Some(last)),
                };
                let value = self.consume_all(source, &lambdas(), span, |this, pull| {
                    let mut value = match seed {
                        Some(seed) => seed,
                        None => pull(this)?.ok_or_else(|| no_elements(span))?,
                    };
                    while let Some(item) = pull(this)? {
                        value = this.invoke(function, vec![value, item], span)?;
                    }
                    Ok(value)
                })?;
                match last {
                    Some(last) => Some(self.invoke(last, vec![value], span)?),
                    None => Some(value),
                }
            }
            ("Sum" | "Average" | "Max" | "Min", _) => {
                let values = self.consume_all(source, &lambdas(), span, |this, pull| {
                    let mut values = Vec::new();
                    while let Some(item) = pull(this)? {
                        values.push(match &lambda {
                            Some(lambda) => this.invoke(lambda, vec![item], span)?,
                            None => item,
                        });
                    }
                    Ok(values)
                })?;
                self.reduce(name, values, &comparer, node, span)?
            }
            ("MaxBy" | "MinBy", [key, ..]) => {
                let wanted = if name == "MaxBy" {
                    Ordering::Greater
                } else {
                    Ordering::Less
                };
                let best = self.consume_all(source, &lambdas(), span, |this, pull| {
                    let mut best: Option<(Val, Val)> = None;
                    while let Some(item) = pull(this)? {
                        let key = this.key_of(key, &item, span)?;
                        let better = match &best {
                            None => true,
                            // What has no key is only taken if nothing has one.
                            Some((Val::Null, _)) => !matches!(key, Val::Null),
                            Some(_) if matches!(key, Val::Null) => false,
                            Some((other, _)) => {
                                this.compare_by(&key, other, &comparer, span)? == wanted
                            }
                        };
                        if better {
                            best = Some((key, item));
                        }
                    }
                    Ok(best)
                })?;
                match best {
                    Some((_, item)) => Some(item),
                    None if node.ty.is_reference()
                        || self.types.nullable_of(&node.ty).is_some() =>
                    {
                        Some(Val::Null)
                    }
                    None => return Err(no_elements(span)),
                }
            }
            ("ToDictionary", _) => {
                let (key, value) = (lambda.clone(), applied.delegate(1));
                self.dictionary_of(applied, key, value, &comparer)?
            }
            ("ToLookup", [key, ..]) => {
                let element = applied.delegate(1).unwrap_or(Val::Null);
                let groups = self.consume_all(source, &lambdas(), span, |this, pull| {
                    this.groups(pull, key, &element, &comparer, span)
                })?;
                let Some(ty) = self.group_type(&node.ty) else {
                    return Ok(None);
                };
                let groups = groups
                    .into_iter()
                    .map(|(key, members)| group(&ty, key, members))
                    .collect();
                Some(keyed(&node.ty, groups, &comparer))
            }
            _ => None,
        })
    }

    /// How many elements there are, or for how many a predicate is true.
    fn counted_elements(&mut self, source: &Val, lambda: Option<&Val>, span: Span) -> Result<i128> {
        if lambda.is_none() {
            if as_lazy(source).is_none()
                && let Some(count) = self.cheap_count(source, span)?
            {
                return Ok(count.into());
            }
            // What was ordered is counted without its keys, and what was cast without its casts.
            if let Some(lazy) = as_lazy(source) {
                let below = lazy.part(0);
                let is_counted = match lazy.op {
                    Operator::Ordered(_) => true,
                    Operator::Cast(..) => as_lazy(&below).is_none(),
                    _ => false,
                };
                if is_counted {
                    return self.counted_elements(&below, None, span);
                }
            }
        }
        let lambdas: Vec<Val> = lambda.cloned().into_iter().collect();
        self.consume_all(source, &lambdas, span, |this, pull| {
            let mut count = 0;
            while let Some(item) = pull(this)? {
                let counts = match lambda {
                    Some(lambda) => this.holds(lambda, vec![item], span)?,
                    None => true,
                };
                count += i128::from(counts);
            }
            Ok(count)
        })
    }

    fn first_of(&mut self, source: &Val, lambda: Option<&Val>, span: Span) -> Result<Option<Val>> {
        if lambda.is_none() && self.indexed(source, span)?.is_some() {
            return self.element_at(source, 0, span);
        }
        if lambda.is_none()
            && let Some(lazy) = as_lazy(source)
            && matches!(lazy.op, Operator::Reverse)
        {
            return self.last_of(&lazy.part(0), span);
        }
        if lambda.is_none()
            && let Some(found) = self.first_viewed(source, span)?
        {
            return Ok(found);
        }
        self.consume(source, span, |this, pull| {
            while let Some(item) = pull(this)? {
                let found = match lambda {
                    Some(lambda) => this.holds(lambda, vec![item.clone()], span)?,
                    None => true,
                };
                if found {
                    return Ok(Some(item));
                }
            }
            Ok(None)
        })
    }

    fn single_of(&mut self, source: &Val, lambda: Option<&Val>, span: Span) -> Result<Option<Val>> {
        self.consume(source, span, |this, pull| {
            let mut only = None;
            while let Some(item) = pull(this)? {
                let found = match lambda {
                    Some(lambda) => this.holds(lambda, vec![item.clone()], span)?,
                    None => true,
                };
                if found && only.is_some() {
                    return Err(invalid(
                        span,
                        match lambda {
                            Some(_) => "Sequence contains more than one matching element",
                            None => "Sequence contains more than one element",
                        },
                    ));
                }
                if found {
                    only = Some(item);
                }
            }
            Ok(only)
        })
    }

    fn dictionary_of(
        &mut self,
        applied: &Applied<'_>,
        key: Option<Val>,
        value: Option<Val>,
        comparer: &Val,
    ) -> Result<Option<Val>> {
        let span = applied.node.span;
        let Some(pair) = self.pair_type(&applied.node.ty) else {
            return Ok(None);
        };
        let lambdas: Vec<Val> = applied.rest.to_vec();
        let pairs = self.consume_all(&applied.source, &lambdas, span, |this, pull| {
            let (mut keys, mut values) = (Keys::default(), Vec::new());
            while let Some(item) = pull(this)? {
                let (key, value) = match &key {
                    Some(key) => {
                        let value = value.clone().unwrap_or(Val::Null);
                        (
                            this.key_of(key, &item, span)?,
                            this.key_of(&value, &item, span)?,
                        )
                    }
                    // The elements are pairs or tuples.
                    None => match this.two_of(&item, span)? {
                        Some(two) => two,
                        None => return Ok(None),
                    },
                };
                if matches!(key, Val::Null) {
                    return Err(null_argument(span, "key"));
                }
                if !this.listed(&mut keys, key.clone(), comparer, span)?.1 {
                    let shown = this.text_of(&key, &Type::OBJECT, span)?;
                    let shown = String::from_utf16_lossy(&shown);
                    return Err(Fail::thrown(
                        span,
                        "System.ArgumentException",
                        Some(format!(
                            "An item with the same key has already been added. Key: {shown}"
                        )),
                    )
                    .into());
                }
                values.push(value);
            }
            Ok(Some(keys.in_order().zip(values)))
        })?;
        let Some(pairs) = pairs else {
            return Ok(None);
        };
        let pairs = pairs
            .map(|(key, value)| key_value(&pair, key, value))
            .collect();
        Ok(Some(keyed(&applied.node.ty, pairs, comparer)))
    }
}

/// A dictionary or lookup, with the comparer of its keys.
fn keyed(ty: &Type, items: Vec<Val>, comparer: &Val) -> Val {
    let comparer = match comparer {
        comparer @ Val::Object(_) => Some(comparer.clone()),
        _ => None,
    };
    Val::Made(Rc::new(Made::Sequence(ty.clone(), items, comparer)))
}
