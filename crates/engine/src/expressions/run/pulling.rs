//! The cursors of lazy sequences: what each operator of LINQ does to give its next element.

use std::collections::VecDeque;
use std::rc::Rc;

use syntax::Span;

use super::keys::Keys;
use super::lazy::{Lazy, Operator, Pull, as_lazy};
use super::{Made, Result, Runner, Val};
use crate::types::Type;

impl Runner<'_, '_> {
    /// Starts an enumeration.
    pub(super) fn cursor(&mut self, source: &Val, span: Span) -> Result<Pull> {
        match as_lazy(source) {
            Some(lazy) => self.operator_cursor(source, lazy),
            None => self.plain_cursor(source, span),
        }
    }

    fn operator_cursor(&mut self, whole: &Val, lazy: &Lazy) -> Result<Pull> {
        let span = lazy.span;
        let (source, second, third) = (lazy.part(0), lazy.part(1), lazy.part(2));
        Ok(match &lazy.op {
            Operator::Range(..) | Operator::Repeat(_) => self.indexed_cursor(whole, span)?,
            Operator::Where(numbered) => {
                let numbered = *numbered;
                let mut from = self.cursor_unless_list(&source, numbered, span)?;
                let mut at = 0;
                Box::new(move |this| {
                    while let Some(item) = from(this)? {
                        at += 1;
                        if this.holds(&second, inputs(&item, at - 1, numbered), span)? {
                            return Ok(Some(item));
                        }
                    }
                    Ok(None)
                })
            }
            Operator::Select(numbered) => {
                let numbered = *numbered;
                let mut from = self.cursor_unless_list(&source, numbered, span)?;
                let mut at = 0;
                Box::new(move |this| {
                    let Some(item) = from(this)? else {
                        return Ok(None);
                    };
                    at += 1;
                    this.invoke(&second, inputs(&item, at - 1, numbered), span)
                        .map(Some)
                })
            }
            Operator::SelectMany(numbered) => {
                let numbered = *numbered;
                let mut from = self.cursor(&source, span)?;
                let mut at = 0;
                let mut inside: Option<(Val, Pull)> = None;
                Box::new(move |this| {
                    loop {
                        if let Some((outer, pull)) = &mut inside
                            && let Some(item) = pull(this)?
                        {
                            return Ok(Some(match &third {
                                Val::Null => item,
                                result => this.invoke(result, vec![outer.clone(), item], span)?,
                            }));
                        }
                        inside = None;
                        let Some(item) = from(this)? else {
                            return Ok(None);
                        };
                        let all = this.invoke(&second, inputs(&item, at, numbered), span)?;
                        at += 1;
                        if matches!(all, Val::Null) {
                            return Err(super::null_reference(span));
                        }
                        inside = Some((item, this.cursor(&all, span)?));
                    }
                })
            }
            Operator::Skip(_) | Operator::Take(_) if self.indexed(whole, span)?.is_some() => {
                self.indexed_cursor(whole, span)?
            }
            Operator::Skip(count) => {
                let mut left = *count;
                let mut from = self.cursor(&source, span)?;
                Box::new(move |this| {
                    while left > 0 {
                        left -= 1;
                        if from(this)?.is_none() {
                            return Ok(None);
                        }
                    }
                    from(this)
                })
            }
            Operator::Take(count) => {
                let mut left = *count;
                let mut from = self.cursor(&source, span)?;
                Box::new(move |this| {
                    if left == 0 {
                        return Ok(None);
                    }
                    left -= 1;
                    from(this)
                })
            }
            Operator::SkipLast(count) => {
                let count = *count;
                let mut from = self.cursor(&source, span)?;
                let mut kept = VecDeque::new();
                Box::new(move |this| {
                    while let Some(item) = from(this)? {
                        kept.push_back(item);
                        if kept.len() as u64 > count {
                            return Ok(kept.pop_front());
                        }
                    }
                    Ok(None)
                })
            }
            Operator::TakeLast(count) => {
                let count = *count;
                if self.numbered(&source, span)?.is_some() {
                    return Ok(buffered(move |this| {
                        let all = this.numbered(&source, span)?.unwrap_or(0);
                        this.numbered_between(&source, all.saturating_sub(count)..all, span)
                    }));
                }
                let mut from = self.cursor(&source, span)?;
                buffered(move |this| {
                    let mut items = this.rest(&mut from, span)?;
                    let at = (items.len() as u64).saturating_sub(count);
                    Ok(items.split_off(at as usize))
                })
            }
            Operator::TakeRange(start, end) => {
                let (start, end) = (*start, *end);
                if let Some(all) = self.numbered(&source, span)? {
                    let at = |(number, from_end): (i64, bool)| {
                        let number = number.max(0).cast_unsigned();
                        match from_end {
                            true => all.saturating_sub(number),
                            false => number.min(all),
                        }
                    };
                    let (start, end) = (at(start), at(end));
                    return Ok(buffered(move |this| {
                        this.numbered_between(&source, start..end, span)
                    }));
                }
                let mut from = self.cursor(&source, span)?;
                buffered(move |this| this.part_of(&mut from, start, end, span))
            }
            Operator::SkipWhile(numbered) => {
                let numbered = *numbered;
                let mut from = self.cursor(&source, span)?;
                let mut at = 0;
                let mut skipping = true;
                Box::new(move |this| {
                    while let Some(item) = from(this)? {
                        at += 1;
                        skipping = skipping
                            && this.holds(&second, inputs(&item, at - 1, numbered), span)?;
                        if !skipping {
                            return Ok(Some(item));
                        }
                    }
                    Ok(None)
                })
            }
            Operator::TakeWhile(numbered) => {
                let numbered = *numbered;
                let mut from = self.cursor(&source, span)?;
                let mut at = 0;
                let mut done = false;
                Box::new(move |this| {
                    if done {
                        return Ok(None);
                    }
                    let Some(item) = from(this)? else {
                        return Ok(None);
                    };
                    at += 1;
                    done = !this.holds(&second, inputs(&item, at - 1, numbered), span)?;
                    Ok((!done).then_some(item))
                })
            }
            Operator::Reverse => {
                let mut from = self.cursor_unless_list(&source, false, span)?;
                buffered(move |this| {
                    let mut items = this.rest(&mut from, span)?;
                    items.reverse();
                    Ok(items)
                })
            }
            Operator::Append => {
                let mut from = self.cursor(&source, span)?;
                let mut last = Some(second);
                Box::new(move |this| match from(this)? {
                    Some(item) => Ok(Some(item)),
                    None => Ok(last.take()),
                })
            }
            Operator::Prepend => {
                let mut from = self.cursor(&source, span)?;
                let mut first = Some(second);
                Box::new(move |this| match first.take() {
                    Some(item) => Ok(Some(item)),
                    None => from(this),
                })
            }
            Operator::Concat => {
                let mut from = self.cursor(&source, span)?;
                let mut next = Some(second);
                Box::new(move |this| {
                    loop {
                        if let Some(item) = from(this)? {
                            return Ok(Some(item));
                        }
                        let Some(second) = next.take() else {
                            return Ok(None);
                        };
                        from = this.cursor(&second, span)?;
                    }
                })
            }
            Operator::DefaultIfEmpty => {
                let mut from = self.cursor(&source, span)?;
                let mut fallback = Some(second);
                Box::new(move |this| match from(this)? {
                    Some(item) => {
                        fallback = None;
                        Ok(Some(item))
                    }
                    None => Ok(fallback.take()),
                })
            }
            Operator::Zip(tuple) => {
                let tuple = tuple.clone();
                let result = lazy.part(3);
                let mut from = self.cursor(&source, span)?;
                let mut other = self.cursor(&second, span)?;
                let mut more = match &third {
                    Val::Null => None,
                    third => Some(self.cursor(third, span)?),
                };
                Box::new(move |this| {
                    let mut values = Vec::new();
                    for pull in [&mut from, &mut other].into_iter().chain(&mut more) {
                        match pull(this)? {
                            Some(item) => values.push(item),
                            None => return Ok(None),
                        }
                    }
                    match &result {
                        Val::Null => Ok(Some(this.tuple(&tuple, values))),
                        result => this.invoke(result, values, span).map(Some),
                    }
                })
            }
            Operator::Cast(from_ty, to) => {
                let (from_ty, to) = (from_ty.clone(), to.clone());
                let mut from = self.cursor(&source, span)?;
                Box::new(move |this| match from(this)? {
                    Some(item) => this.cast_item(item, &from_ty, &to, span).map(Some),
                    None => Ok(None),
                })
            }
            Operator::OfType(from_ty, to) => {
                let (from_ty, to) = (from_ty.clone(), to.clone());
                let mut from = self.cursor(&source, span)?;
                Box::new(move |this| {
                    while let Some(item) = from(this)? {
                        if this.is_of(&item, &from_ty, &to) {
                            return this.cast_item(item, &from_ty, &to, span).map(Some);
                        }
                    }
                    Ok(None)
                })
            }
            Operator::Chunk(size, ty) => {
                let (size, ty) = (*size, ty.clone());
                let mut from = self.cursor(&source, span)?;
                Box::new(move |this| {
                    let mut items = Vec::new();
                    while (items.len() as u64) < size
                        && let Some(item) = from(this)?
                    {
                        items.push(item);
                    }
                    Ok((!items.is_empty()).then(|| Val::sequence(ty.clone(), items)))
                })
            }
            Operator::Index(tuple) => {
                let tuple = tuple.clone();
                let mut from = self.cursor(&source, span)?;
                let mut at = 0;
                Box::new(move |this| {
                    let Some(item) = from(this)? else {
                        return Ok(None);
                    };
                    at += 1;
                    Ok(Some(this.tuple(&tuple, vec![Val::int(at - 1), item])))
                })
            }
            Operator::Ordered(descending) => {
                let descending = descending.clone();
                let keys: Vec<(Val, Val)> = (0..descending.len())
                    .map(|level| (lazy.part(1 + 2 * level), lazy.part(2 + 2 * level)))
                    .collect();
                let mut from = self.cursor_unless_list(&source, false, span)?;
                buffered(move |this| {
                    let items = this.rest(&mut from, span)?;
                    this.ordered(items, &keys, &descending, span)
                })
            }
            Operator::Distinct => {
                let mut from = self.cursor(&source, span)?;
                let mut known = Keys::default();
                Box::new(move |this| {
                    while let Some(item) = from(this)? {
                        if this.is_new(&mut known, &item, &second, &third, span)? {
                            return Ok(Some(item));
                        }
                    }
                    Ok(None)
                })
            }
            Operator::Union => {
                let comparer = lazy.part(3);
                let mut from = self.cursor(&source, span)?;
                let mut next = Some(second);
                let mut known = Keys::default();
                Box::new(move |this| {
                    loop {
                        while let Some(item) = from(this)? {
                            if this.is_new(&mut known, &item, &third, &comparer, span)? {
                                return Ok(Some(item));
                            }
                        }
                        let Some(second) = next.take() else {
                            return Ok(None);
                        };
                        from = this.cursor(&second, span)?;
                    }
                })
            }
            Operator::Among(both, keyed) => {
                let (both, keyed) = (*both, *keyed);
                let comparer = lazy.part(3);
                let mut from = self.cursor(&source, span)?;
                let mut others: Option<Keys> = None;
                Box::new(move |this| {
                    let others = match &mut others {
                        Some(others) => others,
                        None => {
                            let mut all = Keys::default();
                            for item in this.drain(&second, span)? {
                                let key = match keyed {
                                    true => item,
                                    false => this.key_of(&third, &item, span)?,
                                };
                                this.listed(&mut all, key, &comparer, span)?;
                            }
                            others.insert(all)
                        }
                    };
                    while let Some(item) = from(this)? {
                        let key = this.key_of(&third, &item, span)?;
                        // One set, as in the framework: what is given is taken out of it, or put in.
                        let wanted = match both {
                            true => this.taken(others, &key, &comparer, span)?,
                            false => this.listed(others, key, &comparer, span)?.1,
                        };
                        if wanted {
                            return Ok(Some(item));
                        }
                    }
                    Ok(None)
                })
            }
            Operator::GroupBy(ty) => {
                let ty = ty.clone();
                let (result, comparer) = (lazy.part(3), lazy.part(4));
                let mut from = self.cursor(&source, span)?;
                let mut groups: Option<VecDeque<(Val, Vec<Val>)>> = None;
                Box::new(move |this| {
                    if groups.is_none() {
                        let all = this.groups(&mut from, &second, &third, &comparer, span)?;
                        groups = Some(all.into_iter().collect());
                    }
                    let Some((key, members)) = groups.as_mut().and_then(VecDeque::pop_front) else {
                        return Ok(None);
                    };
                    match &result {
                        Val::Null => Ok(Some(group(&ty, key, members))),
                        result => {
                            let members = Val::sequence(ty.clone(), members);
                            this.invoke(result, vec![key, members], span).map(Some)
                        }
                    }
                })
            }
            Operator::Join | Operator::GroupJoin(_) | Operator::OuterJoin(..) => {
                self.joining_cursor(lazy)?
            }
            Operator::CountBy(pair) => {
                let pair = pair.clone();
                let mut from = self.cursor(&source, span)?;
                buffered(move |this| {
                    let all = this.groups(&mut from, &second, &Val::Null, &third, span)?;
                    Ok(all
                        .into_iter()
                        .map(|(key, members)| {
                            key_value(&pair, key, Val::int(members.len() as i128))
                        })
                        .collect())
                })
            }
            Operator::AggregateBy(pair, by_key) => {
                let (pair, by_key) = (pair.clone(), *by_key);
                let (function, comparer) = (lazy.part(3), lazy.part(4));
                let mut from = self.cursor(&source, span)?;
                buffered(move |this| {
                    let mut totals: Vec<Val> = Vec::new();
                    let mut keys = Keys::default();
                    while let Some(item) = from(this)? {
                        let key = this.key_of(&second, &item, span)?;
                        let (at, is_new) = this.listed(&mut keys, key.clone(), &comparer, span)?;
                        if is_new {
                            totals.push(if by_key {
                                this.invoke(&third, vec![key], span)?
                            } else {
                                third.clone()
                            });
                        }
                        if let Some(before) = totals.get(at).cloned() {
                            let after = this.invoke(&function, vec![before, item], span)?;
                            if let Some(total) = totals.get_mut(at) {
                                *total = after;
                            }
                        }
                    }
                    let pairs = keys.in_order().zip(totals);
                    Ok(pairs.map(|(key, it)| key_value(&pair, key, it)).collect())
                })
            }
        })
    }

    /// The elements of a list one after the other, by their numbers.
    fn indexed_cursor(&mut self, whole: &Val, span: Span) -> Result<Pull> {
        let count = self.indexed(whole, span)?.unwrap_or(0);
        let whole = whole.clone();
        let mut at = 0;
        Ok(Box::new(move |this| {
            if at >= count {
                return Ok(None);
            }
            at += 1;
            this.nth(&whole, at - 1, span).map(Some)
        }))
    }

    /// `Take` of a range. What counts from the end needs all elements.
    fn part_of(
        &mut self,
        from: &mut Pull,
        start: (i64, bool),
        end: (i64, bool),
        span: Span,
    ) -> Result<Vec<Val>> {
        let mut items = Vec::new();
        if let ((_, false), (end, false)) = (start, end) {
            while (items.len() as i64) < end
                && let Some(item) = from(self)?
            {
                items.push(item);
            }
        } else {
            items = self.rest(from, span)?;
        }
        let length = items.len() as i64;
        let at = |(number, from_end): (i64, bool)| {
            let at = if from_end { length - number } else { number };
            at.clamp(0, length) as usize
        };
        let (start, end) = (at(start), at(end));
        items.truncate(end);
        Ok(items.split_off(start.min(items.len())))
    }
}

/// A group: a sequence with a key.
pub(super) fn group(ty: &Type, key: Val, members: Vec<Val>) -> Val {
    Val::Made(Rc::new(Made::Sequence(ty.clone(), members, Some(key))))
}

/// A pair of a key and a value.
pub(super) fn key_value(ty: &Type, key: Val, value: Val) -> Val {
    Val::Made(Rc::new(Made::Fields(
        ty.clone(),
        vec![("key".into(), key), ("value".into(), value)],
    )))
}

/// What a lambda is given: an element, and its number if it takes that.
fn inputs(item: &Val, at: i128, numbered: bool) -> Vec<Val> {
    if numbered {
        vec![item.clone(), Val::int(at)]
    } else {
        vec![item.clone()]
    }
}

/// Elements that are all made when the first is asked for.
fn buffered(mut make: impl FnMut(&mut Runner<'_, '_>) -> Result<Vec<Val>> + 'static) -> Pull {
    let mut made: Option<std::vec::IntoIter<Val>> = None;
    Box::new(move |this| {
        let items = match &mut made {
            Some(items) => items,
            None => made.insert(make(this)?.into_iter()),
        };
        Ok(items.next())
    })
}
