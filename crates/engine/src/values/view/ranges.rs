//! Parts of sorted sets, which `GetViewBetween` gives: what lies between two bounds in the tree of the whole set.
//!
//! Which elements those are only the set's comparer knows. Without running it, it is known of a bound that is an element
//! itself, and of numbers in their own order: of these only what lies between the bounds is walked.

use std::cmp::Ordering;

use super::super::{Result, Scalar, Unreadable, Value};
use super::Viewer;
use super::source::{Half, Items, Source};
use super::walking::{MAX_DEPTH, Nodes, Walked};
use crate::types::Type;

/// Characters of a bound.
const MAX_TEXT: u32 = 1 << 12;

/// A bound, as far as elements can be compared with it.
enum Bound {
    Number(Scalar),
    Text(Option<String>),
}

impl Viewer<'_, '_> {
    /// The elements of a part of a sorted set.
    pub(super) fn sorted_range(&self, value: &Value) -> Result<Items> {
        let bound = |active: &str, name: &str| -> Result<Option<Bound>> {
            match self.int(value, &[active])? {
                0 => Ok(None),
                _ => self.bound(&self.any_field(value, &[name])?).map(Some),
            }
        };
        let low = bound("_lBoundActive", "_min")?;
        let high = bound("_uBoundActive", "_max")?;
        let comparer = self.any_field(value, &["comparer", "_comparer"])?;
        let in_order = self.is_in_own_order(&comparer)?;
        if let (true, Some(low), Some(high)) = (in_order, number(&low), number(&high)) {
            let underlying = self.any_field(value, &["_underlying"])?;
            let root = self.any_field(&underlying, &["_root", "root"])?;
            let source = Source::Between { root, low, high };
            // It counts its elements when it is asked, and knows how old that number is.
            let version = |of: &Value, names: &[&str]| self.int(of, names).ok();
            let counted = version(value, &["_countVersion"]);
            let is_counted =
                counted.is_some() && counted == version(&underlying, &["_version", "version"]);
            return Ok(match self.int(value, &["_count", "count"]) {
                Ok(count) if is_counted => Items::new(count.max(0).cast_unsigned(), source),
                _ => self.count_by_walking(source),
            });
        }
        let whole = self.inside(value, &["_underlying"])?;
        // Where the first is, how many there are, and whether that is known.
        let (mut first, mut end, mut at) = (None, None, 0_u64);
        let (mut above, mut last) = (0_u64, 0_u64);
        let walked = self.walk_items(&whole, 0, &mut |entry| {
            let Ok(element) = &entry.value else {
                return false;
            };
            let compared = |bound: &Option<Bound>| {
                let bound = bound.as_ref()?;
                self.compared(element, bound, in_order)
            };
            match compared(&low) {
                Some(Ordering::Equal) => first = Some(at),
                Some(Ordering::Less) => above = at + 1,
                _ => {}
            }
            match compared(&high) {
                Some(Ordering::Equal) => end = Some(at + 1),
                Some(Ordering::Less) => last = at + 1,
                _ => {}
            }
            at += 1;
            true
        });
        let unknown = |what: &str| Unreadable::Failed {
            why: format!("only the comparer of the set knows {what}, which would run code"),
        };
        if walked != Walked::All {
            let why = "reading took too long".into();
            return Err(Unreadable::Failed { why });
        }
        let numbers = |bound: &Option<Bound>| match bound {
            Some(Bound::Number(number)) => in_order && number.as_i128().is_some(),
            _ => false,
        };
        let first = match (&low, first) {
            (None, _) => 0,
            (_, Some(first)) => first,
            (low, None) if numbers(low) => above,
            _ => return Err(unknown("where its part begins")),
        };
        let end = match (&high, end) {
            (None, _) => at,
            (_, Some(end)) => end,
            (high, None) if numbers(high) => last,
            _ => return Err(unknown("where its part ends")),
        };
        Ok(Items::among(
            whole,
            first,
            end.saturating_sub(first),
            Half::Both,
        ))
    }

    /// The nodes of a tree of numbers in their own order that lie between two bounds. Nodes are compared on the way to the
    /// bounds alone.
    pub(super) fn walk_between(
        &self,
        root: &Value,
        (low, high): (Option<Scalar>, Option<Scalar>),
        skip: u64,
        visit: &mut dyn FnMut(&Nodes, u64) -> bool,
    ) -> Result<Walked> {
        let Some(root) = self.reader.object(root)? else {
            return Ok(Walked::All);
        };
        let nodes = Nodes::like(self, &root)?;
        let to_left = self.offset_of(&root, "Left")?;
        let to_right = self.offset_of(&root, "Right")?;
        let (low, high) = (
            low.and_then(Scalar::as_i128),
            high.and_then(Scalar::as_i128),
        );
        // With each node: whether all below it are above the low bound, and below the high one.
        let mut stack: Vec<(u64, bool, bool)> = Vec::new();
        let mut next = (root.address, low.is_none(), high.is_none());
        let mut position = 0;
        loop {
            while next.0 != 0 && stack.len() <= MAX_DEPTH {
                let (node, above, below) = next;
                if self.is_late() {
                    return Ok(Walked::Late);
                }
                nodes.check(self, node)?;
                if !above || !below {
                    let item = self.any_field(&nodes.value(self, node), &["Item"])?;
                    let item = self.reader.scalar(&item)?.as_i128();
                    if !above && item < low {
                        next.0 = self.reader.word_at(node + to_right)?;
                        continue;
                    }
                    if !below && item > high {
                        next.0 = self.reader.word_at(node + to_left)?;
                        continue;
                    }
                }
                stack.push(next);
                next = (self.reader.word_at(node + to_left)?, above, true);
            }
            let Some((here, _, below)) = stack.pop() else {
                return Ok(Walked::All);
            };
            if position >= skip && !visit(&nodes, here) {
                return Ok(Walked::Enough);
            }
            position += 1;
            next = (self.reader.word_at(here + to_right)?, true, below);
        }
    }

    fn bound(&self, value: &Value) -> Result<Bound> {
        if value.ty == Type::STRING {
            let text = self.reader.string(value, MAX_TEXT)?;
            return Ok(Bound::Text(text.map(|(text, _)| text)));
        }
        self.reader.scalar(value).map(Bound::Number)
    }

    fn compared(&self, element: &Value, bound: &Bound, in_order: bool) -> Option<Ordering> {
        let order = match bound {
            Bound::Number(number) => {
                let element = self.reader.scalar(element).ok()?;
                element.as_i128()?.cmp(&number.as_i128()?)
            }
            Bound::Text(text) => {
                let element = self.reader.string(element, MAX_TEXT).ok()?;
                let is_same = element.map(|(text, _)| text) == *text;
                return is_same.then_some(Ordering::Equal);
            }
        };
        (in_order || order == Ordering::Equal).then_some(order)
    }

    /// Whether a comparer is the one that numbers have by themselves.
    fn is_in_own_order(&self, comparer: &Value) -> Result<bool> {
        let Some(object) = self.reader.object(comparer)? else {
            return Ok(true);
        };
        let name = self.reader.types.full_text(&object.ty);
        Ok(["GenericComparer<", "EnumComparer<", "Comparer<"]
            .iter()
            .any(|it| name.starts_with(&format!("System.Collections.Generic.{it}"))))
    }
}

/// A bound that is a whole number, or none at all; `None` for any other.
fn number(bound: &Option<Bound>) -> Option<Option<Scalar>> {
    match bound {
        None => Some(None),
        Some(Bound::Number(number)) => number.as_i128().map(|_| Some(*number)),
        Some(Bound::Text(_)) => None,
    }
}
