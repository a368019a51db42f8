//! Small questions about what is large: only what is asked for is read.

use std::rc::Rc;

use syntax::Span;

use super::lazy::as_lazy;
use super::{Result, Runner, Val, integer, throwing};
use crate::expressions::scalar::{Kind, Scalar};
use crate::types::Type;
use crate::values::{Object, Value};

const GENERIC: &str = "System.Collections.Generic";
/// Units of a text, or characters of an array, that are read in one go.
const PIECE: u64 = 1 << 16;
/// Nodes on the way from the root of a sorted tree to a leaf: more than any that is balanced has.
const MAX_HEIGHT: usize = 128;

impl Runner<'_, '_> {
    /// How many units a string of the program has; `None` for anything else.
    pub(super) fn text_length(&self, value: &Val, span: Span) -> Result<Option<(Object, u64)>> {
        let object = match value {
            Val::Object(object) if object.ty == Type::STRING => object,
            _ => return Ok(None),
        };
        let read = self.reader.string_units(object, 0);
        let (_, length) = read.map_err(|why| self.unreadable(&why, span))?;
        Ok(Some((object.clone(), length)))
    }

    /// A string of the program that is too long to be evaluated as a whole.
    pub(super) fn long_text(&self, value: &Val, span: Span) -> Result<Option<(Object, u64)>> {
        let found = self.text_length(value, span)?;
        Ok(found.filter(|(_, length)| *length > super::reading::LONGEST.into()))
    }

    /// Some units of a string of the program that lie in it.
    pub(super) fn units_between(
        &self,
        text: &Object,
        start: u64,
        end: u64,
        span: Span,
    ) -> Result<Vec<u16>> {
        let count = end.saturating_sub(start);
        self.room_for_text(usize::try_from(count).unwrap_or(usize::MAX), span)?;
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let read = self.reader.string_part(text, start, count);
        let (units, _) = read.map_err(|why| self.unreadable(&why, span))?;
        Ok(units)
    }

    /// `Substring` and ranges of a string of the program.
    pub(super) fn part_of_text(
        &self,
        text: &Object,
        length: u64,
        (start, count): (i128, i128),
        span: Span,
    ) -> Result<Val> {
        let all = i128::from(length);
        if start < 0 || count < 0 || start + count > all {
            let all = usize::try_from(length).unwrap_or(usize::MAX);
            return Err(throwing::no_substring(span, all, start, count));
        }
        let (start, end) = (start as u64, (start + count) as u64);
        self.units_between(text, start, end, span).map(Val::units)
    }

    /// Whether two texts of which one is too long to be evaluated as a whole are the same, unit by unit; `None` if none is.
    pub(super) fn same_long_texts(
        &mut self,
        one: &Val,
        other: &Val,
        span: Span,
    ) -> Result<Option<bool>> {
        let pair = (self.long_text(one, span)?, self.long_text(other, span)?);
        let ((one, length), (other, of_other)) = match pair {
            (None, None) => return Ok(None),
            (Some(one), Some(other)) => (one, other),
            // The other one is shorter, or null.
            _ => return Ok(Some(false)),
        };
        if length != of_other {
            return Ok(Some(false));
        }
        if one.address == other.address {
            return Ok(Some(true));
        }
        let mut at = 0;
        while at < length {
            self.tick_whole(span)?;
            let end = (at + PIECE).min(length);
            if self.units_between(&one, at, end, span)?
                != self.units_between(&other, at, end, span)?
            {
                return Ok(Some(false));
            }
            at = end;
        }
        Ok(Some(true))
    }

    /// Whether all units of a long text are such.
    pub(super) fn all_of_text(
        &mut self,
        text: &Object,
        length: u64,
        span: Span,
        is: impl Fn(u16) -> bool,
    ) -> Result<bool> {
        let mut at = 0;
        while at < length {
            self.tick_whole(span)?;
            let end = (at + PIECE).min(length);
            let units = self.units_between(text, at, end, span)?;
            if !units.into_iter().all(&is) {
                return Ok(false);
            }
            at = end;
        }
        Ok(true)
    }

    /// The first element of a collection of the framework that is read as its view does; the outer `None` says that it is none.
    pub(super) fn first_viewed(&mut self, source: &Val, span: Span) -> Result<Option<Option<Val>>> {
        let Val::Object(object) = source else {
            return Ok(None);
        };
        let is_table = self.is_core(&object.ty, GENERIC, "Dictionary`2")
            || self.is_core(&object.ty, GENERIC, "HashSet`1");
        let is_other = object.ty == Type::STRING || object.ty.element().is_some();
        if is_table || is_other || self.list_of(&object.ty).is_some() {
            return Ok(None);
        }
        let Some(items) = self.viewed_first(object, span)? else {
            return Ok(None);
        };
        match items {
            Some(item) => self.journaled(span, |_| Ok(item)).map(Some).map(Some),
            None => Ok(Some(None)),
        }
    }

    /// The last element of a `LinkedList<T>`, which its first one leads to; the outer `None` says that it is none.
    pub(super) fn last_linked(&mut self, source: &Val, span: Span) -> Result<Option<Option<Val>>> {
        let list = match source {
            Val::Object(list) if self.is_core(&list.ty, GENERIC, "LinkedList`1") => list,
            _ => return Ok(None),
        };
        let Val::Object(first) = self.raw(list, "head", span)? else {
            return Ok(Some(None));
        };
        let Val::Object(last) = self.raw(&first, "prev", span)? else {
            return Ok(None);
        };
        self.journaled(span, |this| this.raw(&last, "item", span))
            .map(Some)
            .map(Some)
    }

    /// The pair of a number in a `SortedDictionary` that compares numbers as they are, found as the dictionary does: from its
    /// root down. The outer `None` says that this is not known.
    pub(super) fn in_sorted_tree(
        &mut self,
        dictionary: &Object,
        key: &Scalar,
        span: Span,
    ) -> Result<Option<Option<Val>>> {
        let Scalar::Int(kind, wanted) = key else {
            return Ok(None);
        };
        if !self.is_core(&dictionary.ty, GENERIC, "SortedDictionary`2")
            || !self.has_usual_comparer(dictionary, true, span)?
        {
            return Ok(None);
        }
        let Ok(Val::Object(set)) = self.raw(dictionary, "_set", span) else {
            return Ok(None);
        };
        let mut at = self
            .raw(&set, "root", span)
            .or_else(|_| self.raw(&set, "_root", span))?;
        for _ in 0..MAX_HEIGHT {
            let Val::Object(node) = &at else {
                return Ok(Some(None));
            };
            let item = self.raw(node, "Item", span)?;
            let Some((Val::Scalar(Scalar::Int(of_own, own)), value)) = self.two_of(&item, span)?
            else {
                return Ok(None);
            };
            if of_own != *kind {
                return Ok(None);
            }
            at = match wanted.cmp(&own) {
                std::cmp::Ordering::Equal => return Ok(Some(Some(value))),
                std::cmp::Ordering::Less => self.raw(node, "Left", span)?,
                std::cmp::Ordering::Greater => self.raw(node, "Right", span)?,
            };
        }
        Ok(None)
    }

    /// How many elements there are, if each can be read by its number and that is what enumerating gives.
    pub(super) fn numbered(&mut self, source: &Val, span: Span) -> Result<Option<u64>> {
        if as_lazy(source).is_some() {
            return Ok(None);
        }
        if let Val::Object(object) = source
            && self.list_of(&object.ty).is_some()
            && self.enumerates_itself(&object.ty)
        {
            return Ok(None);
        }
        self.list_length(source, span)
    }

    /// The elements with some numbers, of what [`Self::numbered`] knows the count of.
    pub(super) fn numbered_between(
        &mut self,
        source: &Val,
        numbers: std::ops::Range<u64>,
        span: Span,
    ) -> Result<Vec<Val>> {
        numbers.map(|at| self.nth(source, at, span)).collect()
    }

    /// The keys or the values of a dictionary.
    pub(super) fn half_of_table(
        &mut self,
        dictionary: &Object,
        half: &str,
        span: Span,
    ) -> Result<Vec<Val>> {
        let positions = self.live_entries(dictionary, true, span)?;
        self.room(positions.len().saturating_mul(size_of::<Val>()), span)?;
        let Val::Object(entries) = self.raw(dictionary, "_entries", span)? else {
            return Ok(Vec::new());
        };
        let mut all = Vec::with_capacity(positions.len());
        for position in positions {
            self.tick(span)?;
            let entry = self.reader.element(&entries, position);
            let value = entry.and_then(|entry| self.reader.field(&entry, half));
            let value = value.map_err(|why| self.unreadable(&why, span))?;
            all.push(self.decode(&value, span)?);
        }
        Ok(all)
    }

    /// Some characters of an array of them.
    pub(super) fn characters(
        &self,
        array: &Object,
        numbers: std::ops::Range<u64>,
        span: Span,
    ) -> Result<Vec<u16>> {
        let mut all = Vec::new();
        let mut at = numbers.start;
        while at < numbers.end {
            let count = (numbers.end - at).min(PIECE / 64);
            let first: Result<Value, _> = self.reader.element(array, at);
            let bytes = first.and_then(|it| self.reader.bytes(&it, count as u32 * 2));
            let bytes = bytes.map_err(|why| self.unreadable(&why, span))?;
            let (units, _) = bytes.as_chunks();
            all.extend(units.iter().map(|unit| u16::from_le_bytes(*unit)));
            at += count;
        }
        Ok(all)
    }

    /// What needs only a part of a string of the program, or may not have all of it.
    pub(super) fn read_in_part(
        &mut self,
        name: &str,
        text: &(Object, u64),
        arguments: &[Val],
        span: Span,
    ) -> Result<Option<Val>> {
        if name == "Substring" {
            let numbers: Option<Vec<i128>> = arguments.iter().map(integer).collect();
            let part = match numbers.as_deref() {
                Some([start]) => (*start, i128::from(text.1) - start),
                Some([start, count]) => (*start, *count),
                _ => return Ok(None),
            };
            return self.part_of_text(&text.0, text.1, part, span).map(Some);
        }
        match text.1 > super::reading::LONGEST.into() {
            true => self.long_member(name, text, arguments, span),
            false => Ok(None),
        }
    }

    /// What is asked of a text that is too long to be evaluated as a whole and needs no more than parts of it; `None` for what
    /// needs all of it.
    pub(super) fn long_member(
        &mut self,
        name: &str,
        (text, length): &(Object, u64),
        arguments: &[Val],
        span: Span,
    ) -> Result<Option<Val>> {
        let length = *length;
        let [argument] = arguments else {
            return Ok(None);
        };
        if matches!(argument, Val::Null) {
            return Ok((name == "Equals").then(|| Val::bool(false)));
        }
        let whole = Val::Object(text.clone());
        if name == "Equals" {
            return Ok(self.same_long_texts(&whole, argument, span)?.map(Val::bool));
        }
        let (units, is_text): (Rc<[u16]>, bool) = match self.as_scalar(argument.clone(), span)? {
            Val::Scalar(Scalar::String(units)) => (units, true),
            Val::Scalar(Scalar::Int(Kind::Char, unit)) => (vec![unit as u16].into(), false),
            _ => return Ok(None),
        };
        let count = units.len() as u64;
        let start = match name {
            "StartsWith" => 0,
            "EndsWith" => length.saturating_sub(count),
            "Contains" if !is_text => {
                let unit = units.first().copied();
                let is_without = self.all_of_text(text, length, span, |it| Some(it) != unit)?;
                return Ok(Some(Val::bool(!is_without)));
            }
            _ => return Ok(None),
        };
        // Which texts a culture takes for equal is known of plain ones only.
        if is_text {
            let is = |it: u16| super::strings::plain(&[it]);
            let is_plain = super::strings::plain(&units) && self.has_plain_culture(span);
            if !is_plain || !self.all_of_text(text, length, span, is)? {
                return Ok(None);
            }
        }
        let part = self.units_between(text, start, start + count.min(length), span)?;
        Ok(Some(Val::bool(part == *units)))
    }
}
