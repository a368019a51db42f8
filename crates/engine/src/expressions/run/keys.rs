//! Keys of a sequence: `Distinct`, groups, joins and dictionaries look one up by a hash of what it is.
//!
//! Invariant: keys that are equal have the same hash, or none. Types with their own `Equals`, and comparers that are given,
//! have a hash code in the program, which is asked for as the framework does it; what has no hash, as code may not run, is
//! compared with each. A key that is found was compared as well,
//! so that a hash decides only what need not be.

use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;

use syntax::Span;

use super::lazy::{Lazy, Operator, Pull};
use super::{Result, Runner, Val};
use crate::expressions::scalar::{Kind, Scalar};

/// What a key is, so far as its hash goes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Hashed {
    /// Null of any type.
    Null,
    /// A number by its bits, those of equal numbers made the same.
    Number(Kind, u128, u8),
    /// A text.
    Text(Rc<[u16]>),
    /// A date or a time.
    Ticks(i128),
    /// A `Guid`.
    Bytes([u8; 16]),
    /// An object that equals only itself.
    Object(u64),
    /// What code of the program makes of it.
    Code(i128),
    /// A tuple or an anonymous object.
    Parts(Vec<Hashed>),
}

/// Keys, each once, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Keys {
    all: Vec<Val>,
    hashed: HashMap<Hashed, Vec<usize>>,
    others: Vec<usize>,
    gone: HashSet<usize>,
}

impl Keys {
    /// The keys.
    pub(super) fn in_order(self) -> impl Iterator<Item = Val> {
        self.all.into_iter()
    }
}

impl Hashed {
    /// Of a number or text; equal ones have the same.
    pub(super) fn of(value: &Scalar) -> Self {
        let kind = value.kind();
        let (bits, scale) = match value {
            Scalar::String(units) => return Hashed::Text(units.clone()),
            Scalar::Bool(value) => (u128::from(*value), 0),
            Scalar::Int(_, value) | Scalar::Int128(value) => (*value as u128, 0),
            Scalar::UInt128(value) => (*value, 0),
            // Both zeros are equal, and so is all that is no number.
            Scalar::Half(bits) if bits & 0x7fff == 0 => (0, 0),
            Scalar::Half(bits) if bits & 0x7fff > 0x7c00 => (0x7fff, 0),
            Scalar::Half(bits) => (u128::from(*bits), 0),
            Scalar::Float(value) if value.is_nan() => (u128::MAX, 0),
            Scalar::Float(value) => (u128::from((value + 0.0).to_bits()), 0),
            Scalar::Double(value) if value.is_nan() => (u128::MAX, 0),
            Scalar::Double(value) => (u128::from((value + 0.0).to_bits()), 0),
            Scalar::Decimal(value) => value.shortest(),
        };
        Hashed::Number(kind, bits, scale)
    }
}

impl Runner<'_, '_> {
    /// The number of a key that equals this one.
    pub(super) fn found(
        &mut self,
        keys: &Keys,
        key: &Val,
        comparer: &Val,
        span: Span,
    ) -> Result<Option<usize>> {
        let hash = self.hash_of(key, comparer, span)?;
        self.found_by(keys, hash.as_ref(), key, comparer, span)
    }

    fn found_by(
        &mut self,
        keys: &Keys,
        hash: Option<&Hashed>,
        key: &Val,
        comparer: &Val,
        span: Span,
    ) -> Result<Option<usize>> {
        let every: Vec<usize>;
        let (alike, others) = match hash {
            Some(hash) => (
                keys.hashed.get(hash).map_or(&[][..], Vec::as_slice),
                keys.others.as_slice(),
            ),
            None => {
                every = (0..keys.all.len()).collect();
                (every.as_slice(), &[][..])
            }
        };
        for at in alike.iter().chain(others) {
            if !keys.gone.contains(at)
                && let Some(other) = keys.all.get(*at)
                && self.equals(other, key, comparer, span)?
            {
                return Ok(Some(*at));
            }
        }
        Ok(None)
    }

    /// Whether there is a key that equals this one; there is none from then on.
    pub(super) fn taken(
        &mut self,
        keys: &mut Keys,
        key: &Val,
        comparer: &Val,
        span: Span,
    ) -> Result<bool> {
        let found = self.found(keys, key, comparer, span)?;
        keys.gone.extend(found);
        Ok(found.is_some())
    }

    /// The number of a key, and whether it was not there yet; it is from then on.
    pub(super) fn listed(
        &mut self,
        keys: &mut Keys,
        key: Val,
        comparer: &Val,
        span: Span,
    ) -> Result<(usize, bool)> {
        let hash = self.hash_of(&key, comparer, span)?;
        if let Some(at) = self.found_by(keys, hash.as_ref(), &key, comparer, span)? {
            return Ok((at, false));
        }
        let at = keys.all.len();
        keys.all.push(key);
        match hash {
            Some(hash) => keys.hashed.entry(hash).or_default().push(at),
            None => keys.others.push(at),
        }
        Ok((at, true))
    }

    fn hash_of(&mut self, key: &Val, comparer: &Val, span: Span) -> Result<Option<Hashed>> {
        match comparer {
            Val::Null | Val::Made(_) => self.hash_default(key, 0, span),
            comparer => self.hash_by(comparer, key, span),
        }
    }

    /// Whether the key of an element was not there yet; it is from then on.
    pub(super) fn is_new(
        &mut self,
        known: &mut Keys,
        item: &Val,
        key: &Val,
        comparer: &Val,
        span: Span,
    ) -> Result<bool> {
        let key = self.key_of(key, item, span)?;
        Ok(self.listed(known, key, comparer, span)?.1)
    }

    /// What a lambda makes of an element; without one it is the element.
    pub(super) fn key_of(&mut self, lambda: &Val, item: &Val, span: Span) -> Result<Val> {
        match lambda {
            Val::Null => Ok(item.clone()),
            lambda => self.invoke(lambda, vec![item.clone()], span),
        }
    }

    /// The elements by their keys, in the order in which the keys come.
    pub(super) fn groups(
        &mut self,
        from: &mut Pull,
        key: &Val,
        element: &Val,
        comparer: &Val,
        span: Span,
    ) -> Result<Groups> {
        let mut groups = Groups::default();
        while let Some(item) = from(self)? {
            let key = self.key_of(key, &item, span)?;
            let item = self.key_of(element, &item, span)?;
            let (at, is_new) = self.listed(&mut groups.keys, key, comparer, span)?;
            if is_new {
                groups.members.push(vec![item]);
            } else if let Some(members) = groups.members.get_mut(at) {
                members.push(item);
            }
        }
        Ok(groups)
    }

    /// `Join`, `GroupJoin`, `LeftJoin` and `RightJoin`: the inner sequence is looked at when the outer one has an element.
    pub(super) fn joining_cursor(&mut self, lazy: &Lazy) -> Result<Pull> {
        let span = lazy.span;
        let (source, inner) = (lazy.part(0), lazy.part(1));
        let (outer_key, inner_key) = (lazy.part(2), lazy.part(3));
        let (result, comparer) = (lazy.part(4), lazy.part(5));
        let op = lazy.op.clone();
        let is_swapped = matches!(op, Operator::OuterJoin(_, true));
        let mut from = self.cursor(&source, span)?;
        let mut groups: Option<Groups> = None;
        let mut waiting: VecDeque<(Val, Val)> = VecDeque::new();
        Ok(Box::new(move |this| {
            loop {
                if let Some((outer, inner)) = waiting.pop_front() {
                    this.item(span)?;
                    let both = match is_swapped {
                        true => vec![inner, outer],
                        false => vec![outer, inner],
                    };
                    return this.invoke(&result, both, span).map(Some);
                }
                let Some(outer) = from(this)? else {
                    return Ok(None);
                };
                let groups = match &mut groups {
                    Some(groups) => groups,
                    None => groups.insert(this.consume(&inner, span, |this, pull| {
                        this.groups(pull, &inner_key, &Val::Null, &comparer, span)
                    })?),
                };
                let key = this.key_of(&outer_key, &outer, span)?;
                let mut members = Vec::new();
                // What has no key belongs to nothing.
                if !matches!(key, Val::Null)
                    && let Some(at) = this.found(&groups.keys, &key, &comparer, span)?
                {
                    members = groups.members.get(at).cloned().unwrap_or_default();
                }
                match &op {
                    Operator::GroupJoin(ty) => {
                        waiting.push_back((outer, Val::sequence(ty.clone(), members)));
                    }
                    Operator::OuterJoin(ty, _) if members.is_empty() => {
                        let missing = this.default(ty);
                        waiting.push_back((outer, missing));
                    }
                    _ => waiting.extend(members.into_iter().map(|it| (outer.clone(), it))),
                }
            }
        }))
    }
}

/// Elements by their keys.
#[derive(Debug, Default)]
pub(super) struct Groups {
    keys: Keys,
    members: Vec<Vec<Val>>,
}

impl IntoIterator for Groups {
    type Item = (Val, Vec<Val>);
    type IntoIter = std::iter::Zip<std::vec::IntoIter<Val>, std::vec::IntoIter<Vec<Val>>>;

    fn into_iter(self) -> Self::IntoIter {
        self.keys.all.into_iter().zip(self.members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expressions::run::comparing::scalars_equal;
    use crate::expressions::scalar::Decimal;

    #[test]
    fn equal_numbers_have_one_hash() {
        let decimal = |mantissa, scale| {
            Scalar::Decimal(Decimal::new(false, mantissa, scale).expect("in range"))
        };
        let negative = |mantissa, scale| {
            Scalar::Decimal(Decimal::new(true, mantissa, scale).expect("in range"))
        };
        let all = [
            decimal(0, 0),
            decimal(0, 5),
            negative(0, 3),
            decimal(10, 1),
            decimal(1000, 3),
            negative(1000, 3),
            negative(1, 0),
            decimal(1001, 3),
            Scalar::Double(0.0),
            Scalar::Double(-0.0),
            Scalar::Double(f64::NAN),
            Scalar::Double(-f64::NAN),
            Scalar::Double(1.0),
            Scalar::Float(-0.0),
            Scalar::Float(0.0),
            Scalar::Half(0),
            Scalar::Half(0x8000),
            Scalar::Half(0x7e00),
            Scalar::Half(0xfe01),
            Scalar::Half(0x3c00),
            Scalar::Int(Kind::Int, 1),
            Scalar::Int(Kind::Long, 1),
            Scalar::Bool(true),
            Scalar::string("1"),
        ];
        for a in &all {
            for b in &all {
                let equal = a.kind() == b.kind() && scalars_equal(a, b);
                assert_eq!(Hashed::of(a) == Hashed::of(b), equal, "{a:?} and {b:?}");
            }
        }
    }
}
