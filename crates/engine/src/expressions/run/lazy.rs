//! Sequences whose elements are computed when they are asked for.
//!
//! As in C#, nothing runs when an operator of LINQ is applied: a [`Lazy`] only notes the operator and what it is applied to.
//! Each enumeration starts a new cursor, which pulls one element after the other through the lambdas. So these run for the
//! same elements, in the same order and as often as they would in the program.

use std::rc::Rc;

use syntax::Span;

use super::{Made, Result, Runner, Val};
use crate::expressions::error::Fail;
use crate::types::Type;

/// Operators that may stand on top of each other: enumerating goes through all of them.
const MAX_DEPTH: u32 = 200;

/// A sequence that is not enumerated yet.
#[derive(Debug)]
pub(crate) struct Lazy {
    /// Its static type.
    pub(crate) ty: Type,
    /// What is done.
    pub(crate) op: Operator,
    /// With what: sequences, lambdas, values; null for what is left out.
    pub(crate) parts: Vec<Val>,
    /// Operators below and including this one.
    depth: u32,
    /// Where it stands.
    pub(crate) span: Span,
}

/// An operator, with the parts it takes in brackets.
#[derive(Debug, Clone)]
pub(crate) enum Operator {
    /// Numbers from the first on, so many.
    Range(i128, i128),
    /// [value], so often.
    Repeat(i128),
    /// [source, predicate]; whether it takes the element's number too.
    Where(bool),
    /// [source, selector]; whether it takes the element's number too.
    Select(bool),
    /// [source, selector, result]; whether the selector takes the element's number too.
    SelectMany(bool),
    /// [source]
    Skip(u64),
    /// [source]
    Take(u64),
    /// [source]
    SkipLast(u64),
    /// [source]
    TakeLast(u64),
    /// [source]; from and to, and whether they count from the end.
    TakeRange((i64, bool), (i64, bool)),
    /// [source, predicate]; whether it takes the element's number too.
    SkipWhile(bool),
    /// [source, predicate]; whether it takes the element's number too.
    TakeWhile(bool),
    /// [source]
    Reverse,
    /// [source, value]
    Append,
    /// [source, value]
    Prepend,
    /// [first, second]
    Concat,
    /// [source, value]
    DefaultIfEmpty,
    /// [source, key, comparer]
    Distinct,
    /// [first, second, key, comparer]
    Union,
    /// [first, second, key, comparer]; whether what is in both is wanted, and whether the second holds keys.
    Among(bool, bool),
    /// [first, second, third, result]; the type of the tuple.
    Zip(Type),
    /// [source, key, comparer, key, comparer, …]; which are descending.
    Ordered(Vec<bool>),
    /// [source, key, element, result, comparer]; the type of the groups.
    GroupBy(Type),
    /// [outer, inner, outer key, inner key, result, comparer]
    Join,
    /// The same; the type of the groups.
    GroupJoin(Type),
    /// The same: what fits nothing is told with the default of a type. Whether the result is given the inner element first.
    OuterJoin(Type, bool),
    /// [source]; the types of the elements before and after.
    Cast(Type, Type),
    /// [source]; the types of the elements before and after.
    OfType(Type, Type),
    /// [source]; the type of the parts.
    Chunk(u64, Type),
    /// [source]; the type of the tuple.
    Index(Type),
    /// [source, key, comparer]; the type of the pairs.
    CountBy(Type),
    /// [source, key, seed, function, comparer]; the type of the pairs, and whether the seed depends on the key.
    AggregateBy(Type, bool),
}

/// Gives the next element of a sequence.
pub(super) type Pull = Box<dyn FnMut(&mut Runner<'_, '_>) -> Result<Option<Val>>>;

impl Lazy {
    /// The part with a number; null if there is none.
    pub(super) fn part(&self, index: usize) -> Val {
        self.parts.get(index).cloned().unwrap_or(Val::Null)
    }
}

/// The sequence that a value is, if it is one that is not enumerated yet.
pub(super) fn as_lazy(value: &Val) -> Option<&Lazy> {
    match value {
        Val::Made(made) => match &**made {
            Made::Lazy(lazy) => Some(lazy),
            _ => None,
        },
        _ => None,
    }
}

impl Runner<'_, '_> {
    /// Applies an operator.
    pub(super) fn lazy(&self, ty: &Type, op: Operator, parts: Vec<Val>, span: Span) -> Result<Val> {
        let below = parts.iter().filter_map(as_lazy).map(|it| it.depth).max();
        let depth = 1 + below.unwrap_or(0);
        if depth > MAX_DEPTH {
            return Err(Fail::new(
                span,
                format!("more than {MAX_DEPTH} LINQ operators stand on top of each other"),
            )
            .hint("enumerate the sequence in between with ToList()")
            .into());
        }
        Ok(Val::Made(Rc::new(Made::Lazy(Lazy {
            ty: ty.clone(),
            op,
            parts,
            depth,
            span,
        }))))
    }

    /// Enumerates a sequence: its enumerators are let go of when the consumer is done with it, whether it took all or not.
    pub(super) fn consume<T>(
        &mut self,
        source: &Val,
        span: Span,
        consumer: impl FnOnce(&mut Self, &mut Pull) -> Result<T>,
    ) -> Result<T> {
        self.consume_so(false, source, span, consumer)
    }

    /// Enumerates a sequence to its end, running these lambdas on the way.
    pub(super) fn consume_all<T>(
        &mut self,
        source: &Val,
        lambdas: &[Val],
        span: Span,
        consumer: impl FnOnce(&mut Self, &mut Pull) -> Result<T>,
    ) -> Result<T> {
        let whole = self.is_calm(source) && lambdas.iter().all(|it| self.is_calm(it));
        self.consume_so(whole, source, span, consumer)
    }

    fn consume_so<T>(
        &mut self,
        whole: bool,
        source: &Val,
        span: Span,
        consumer: impl FnOnce(&mut Self, &mut Pull) -> Result<T>,
    ) -> Result<T> {
        let mark = self.open.len();
        let outer = std::mem::replace(&mut self.whole, whole);
        let pull = self.cursor(source, span);
        self.whole = false;
        let outcome = pull.and_then(|mut pull| consumer(self, &mut pull));
        self.whole = outer;
        match outcome {
            Err(super::Interrupt::Effect(effect)) => Err(super::Interrupt::Effect(effect)),
            // The run before this one came further: what fails here is our own limit, not the program, and nothing is run for it.
            Err(fail) if self.journal.is_behind() => Err(fail),
            outcome => {
                self.close_enumerators(mark, span)?;
                outcome
            }
        }
    }

    /// All elements.
    pub(super) fn drain(&mut self, source: &Val, span: Span) -> Result<Vec<Val>> {
        self.consume(source, span, |this, pull| this.rest(pull, span))
    }

    /// What is left of an enumeration.
    pub(super) fn rest(&mut self, pull: &mut Pull, span: Span) -> Result<Vec<Val>> {
        let mut items = Vec::new();
        while let Some(item) = pull(self)? {
            self.tick(span)?;
            items.push(item);
        }
        self.room(items.len() * size_of::<Val>(), span)?;
        Ok(items)
    }

    /// A value whose elements are all there: what a sequence that is shown or passed on has to be.
    pub(in crate::expressions) fn settled(&mut self, value: Val, span: Span) -> Result<Val> {
        let Some(lazy) = as_lazy(&value) else {
            return Ok(value);
        };
        let ty = lazy.ty.clone();
        let mut items = self.items_of(&value, span)?;
        for item in &mut items {
            if as_lazy(item).is_some() {
                *item = self.settled(item.clone(), span)?;
            }
        }
        self.counted(Val::sequence(ty, items), span)
    }

    /// How many elements a list has, of which each can be had without those before it: as `IList<T>` of C#, and what LINQ
    /// does with such a list without enumerating it.
    pub(super) fn indexed(&mut self, value: &Val, span: Span) -> Result<Option<u64>> {
        let Some(lazy) = as_lazy(value) else {
            return self.list_length(value, span);
        };
        let source = lazy.part(0);
        Ok(match &lazy.op {
            Operator::Range(_, count) | Operator::Repeat(count) => u64::try_from(*count).ok(),
            Operator::Select(false) => self.indexed(&source, span)?,
            Operator::Skip(skipped) => {
                let count = self.indexed(&source, span)?;
                count.map(|it| it.saturating_sub(*skipped))
            }
            Operator::Take(most) => {
                let count = self.indexed(&source, span)?;
                count.map(|it| it.min(*most))
            }
            _ => None,
        })
    }

    /// How many elements there are, if that can be told without enumerating.
    pub(super) fn cheap_count(&mut self, value: &Val, span: Span) -> Result<Option<u64>> {
        if let Some(count) = self.indexed(value, span)? {
            return Ok(Some(count));
        }
        let Some(lazy) = as_lazy(value) else {
            return self.collection_count(value, span);
        };
        let source = lazy.part(0);
        Ok(match &lazy.op {
            Operator::Ordered(_) | Operator::Reverse => self.cheap_count(&source, span)?,
            Operator::Append | Operator::Prepend => {
                self.cheap_count(&source, span)?.map(|it| it + 1)
            }
            Operator::Concat => {
                let first = self.cheap_count(&source, span)?;
                let second = self.cheap_count(&lazy.part(1), span)?;
                first.zip(second).map(|(a, b)| a + b)
            }
            _ => None,
        })
    }

    /// What `TryGetNonEnumeratedCount` says of a sequence that is not enumerated yet, and leaves; `None` for any other.
    pub(super) fn told_count(&mut self, value: &Val, span: Span) -> Result<Option<(Val, Val)>> {
        let Some(lazy) = as_lazy(value) else {
            return Ok(None);
        };
        if let Some(count) = self.cheap_count(value, span)? {
            return Ok(Some((Val::bool(true), Val::int(count.into()))));
        }
        match lazy.op {
            Operator::Where(_)
            | Operator::SelectMany(_)
            | Operator::SkipWhile(_)
            | Operator::TakeWhile(_)
            | Operator::Distinct
            | Operator::Union
            | Operator::Among(..)
            | Operator::GroupBy(_)
            | Operator::Join
            | Operator::GroupJoin(_)
            | Operator::OuterJoin(..)
            | Operator::OfType(..) => Ok(Some((Val::bool(false), Val::int(0)))),
            // The others are of different minds in different versions of the framework.
            _ => Err(Fail::new(
                span,
                "the sequence exists only in the debugger, which does not know whether the framework could count it without enumerating",
            )
            .hint("Count() enumerates it")
            .into()),
        }
    }

    /// An element of what [`Self::indexed`] knows the length of.
    pub(super) fn nth(&mut self, value: &Val, index: u64, span: Span) -> Result<Val> {
        self.item(span)?;
        let Some(lazy) = as_lazy(value) else {
            return self.list_element(value, index, span);
        };
        let source = lazy.part(0);
        match &lazy.op {
            Operator::Range(start, _) => Ok(Val::int(start + i128::from(index))),
            Operator::Repeat(_) => Ok(source),
            Operator::Select(_) => {
                let item = self.nth(&source, index, span)?;
                self.invoke(&lazy.part(1), vec![item], span)
            }
            Operator::Skip(skipped) => self.nth(&source, index.saturating_add(*skipped), span),
            Operator::Take(_) => self.nth(&source, index, span),
            _ => Err(super::misfit(span)),
        }
    }

    /// The element with a number, if there is one: only the selector of that one runs.
    pub(super) fn element_at(
        &mut self,
        value: &Val,
        index: u64,
        span: Span,
    ) -> Result<Option<Val>> {
        if let Some(count) = self.indexed(value, span)? {
            return if index < count {
                self.nth(value, index, span).map(Some)
            } else {
                Ok(None)
            };
        }
        if let Some(lazy) = as_lazy(value)
            && matches!(lazy.op, Operator::Select(false))
        {
            let selector = lazy.part(1);
            return match self.element_at(&lazy.part(0), index, span)? {
                Some(item) => self.invoke(&selector, vec![item], span).map(Some),
                None => Ok(None),
            };
        }
        self.consume(value, span, |this, pull| {
            for _ in 0..index {
                if pull(this)?.is_none() {
                    return Ok(None);
                }
            }
            pull(this)
        })
    }

    /// The last element. What can be had from its end is looked at from there.
    pub(super) fn last_of(&mut self, value: &Val, span: Span) -> Result<Option<Val>> {
        if let Some(count) = self.indexed(value, span)? {
            return match count.checked_sub(1) {
                Some(index) => self.nth(value, index, span).map(Some),
                None => Ok(None),
            };
        }
        if let Some(found) = self.last_linked(value, span)? {
            return Ok(found);
        }
        if let Some(lazy) = as_lazy(value) {
            let (source, lambda) = (lazy.part(0), lazy.part(1));
            match lazy.op {
                Operator::Select(false) => {
                    return match self.last_of(&source, span)? {
                        Some(item) => self.invoke(&lambda, vec![item], span).map(Some),
                        None => Ok(None),
                    };
                }
                Operator::Where(false) if as_lazy(&source).is_none() => {
                    if let Some(found) = self.last_match(&source, &lambda, span)? {
                        return Ok(found);
                    }
                }
                _ => {}
            }
        }
        self.consume(value, span, |this, pull| {
            let mut last = None;
            while let Some(item) = pull(this)? {
                last = Some(item);
            }
            Ok(last)
        })
    }

    /// The last element of a list for which a lambda is true, looked for from the end; `None` if it is no list.
    pub(super) fn last_match(
        &mut self,
        list: &Val,
        lambda: &Val,
        span: Span,
    ) -> Result<Option<Option<Val>>> {
        if as_lazy(list).is_some() {
            return Ok(None);
        }
        let Some(count) = self.indexed(list, span)? else {
            return Ok(None);
        };
        for index in (0..count).rev() {
            let item = self.nth(list, index, span)?;
            if self.holds(lambda, vec![item.clone()], span)? {
                return Ok(Some(Some(item)));
            }
        }
        Ok(Some(None))
    }

    /// What a predicate says.
    pub(super) fn holds(&mut self, lambda: &Val, arguments: Vec<Val>, span: Span) -> Result<bool> {
        use crate::expressions::scalar::Scalar;
        match self.invoke(lambda, arguments, span)? {
            Val::Scalar(Scalar::Bool(value)) => Ok(value),
            _ => Err(super::misfit(span)),
        }
    }
}
