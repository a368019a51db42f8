//! Parts of sorted sets, which `GetViewBetween` gives: what lies between two bounds in the tree of the whole set.
//!
//! Which elements those are only the set's comparer knows. Without running it, it is known of a bound that is an element
//! itself, and of numbers in their own order.

use std::cmp::Ordering;

use super::super::{Result, Scalar, Unreadable, Value};
use super::Viewer;
use super::source::{Half, Items};
use super::walking::Walked;
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
        let whole = self.inside(value, &["_underlying"])?;
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
