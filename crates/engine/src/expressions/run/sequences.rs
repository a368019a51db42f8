//! Arrays, lists and other collections whose layout is known.

use syntax::Span;

use super::{Effect, MAX_ITEMS, Made, Result, Runner, Val, null_reference};
use crate::api::View;
use crate::expressions::error::Fail;
use crate::expressions::plan::Callee;
use crate::expressions::plan::Node;
use crate::expressions::scalar::{Kind, Scalar};
use crate::types::{Method, Type};
use crate::values::view::known::Known;
use crate::values::view::{ObjectIds, Subject, Viewer};
use crate::values::{Object, Unreadable, Value};

/// A number, and whether it counts from the end.
type End = (i64, bool);

impl Runner<'_, '_> {
    pub(super) fn array_length(&mut self, array: &Val, span: Span) -> Result<u64> {
        match array {
            Val::Null => Err(null_reference(span)),
            Val::Object(object) => {
                let shape = self
                    .reader
                    .array(object)
                    .map_err(|why| self.unreadable(&why, span))?;
                Ok(shape.count)
            }
            Val::Made(made) => match &**made {
                Made::Sequence(_, items, _) => Ok(items.len() as u64),
                _ => Err(super::misfit(span)),
            },
            _ => Err(super::misfit(span)),
        }
    }

    pub(super) fn element(&mut self, array: &Val, at: &[i128], span: Span) -> Result<Val> {
        if let Val::Made(made) = array
            && let Made::Sequence(_, items, _) = &**made
        {
            let index = match super::grids::lengths_of(made) {
                Some(lengths) => super::grids::position(&lengths, at),
                None => at.first().and_then(|it| usize::try_from(*it).ok()),
            };
            let item = index.and_then(|index| items.get(index));
            return item.cloned().ok_or_else(|| out_of_range(span));
        }
        if let Val::Made(made) = array
            && let Made::Span(_, text) = &**made
        {
            let units = self.string_of(text, span)?.unwrap_or_default();
            let index = at.first().and_then(|it| usize::try_from(*it).ok());
            let unit = index.and_then(|it| units.get(it)).copied();
            let unit = unit.ok_or_else(|| out_of_range(span))?;
            return Ok(Val::Scalar(Scalar::Int(Kind::Char, unit.into())));
        }
        let place = self.element_place(array, at, span)?;
        self.decode(&place, span)
    }

    pub(super) fn element_place(&mut self, array: &Val, at: &[i128], span: Span) -> Result<Value> {
        let object = match array {
            Val::Null => return Err(null_reference(span)),
            Val::Object(object) => object,
            Val::Struct(value) => return self.element_in_place(value, at, span),
            _ => return Err(super::misfit(span)),
        };
        let position = self.element_position(object, at, span)?;
        self.reader
            .element(object, position)
            .map_err(|why| self.unreadable(&why, span))
    }

    /// The position in memory of the element at some indices.
    pub(super) fn element_position(&self, object: &Object, at: &[i128], span: Span) -> Result<u64> {
        let shape = self
            .reader
            .array(object)
            .map_err(|why| self.unreadable(&why, span))?;
        let mut position: u64 = 0;
        if let (Type::SzArray(_), [index]) = (&object.ty, at) {
            position = u64::try_from(*index)
                .ok()
                .filter(|it| *it < shape.count)
                .ok_or_else(|| out_of_range(span))?;
        } else {
            for ((index, length), bound) in at.iter().zip(&shape.lengths).zip(&shape.bounds) {
                let offset = index - i128::from(*bound);
                if offset < 0 || offset >= i128::from(*length) {
                    return Err(out_of_range(span));
                }
                position = position * u64::from(*length) + offset as u64;
            }
        }
        Ok(position)
    }

    /// An element of a span, an inline array or a `fixed` buffer.
    fn element_in_place(&mut self, of: &Value, at: &[i128], span: Span) -> Result<Value> {
        let unreadable = |this: &Self, why: Unreadable| this.unreadable(&why, span);
        let is_span = ["Span`1", "ReadOnlySpan`1"];
        let is_span = is_span.iter().any(|it| self.is_core(&of.ty, "System", it));
        let reader = self.reader;
        let parts = || -> Result<(u64, Value), Unreadable> {
            if is_span {
                let length = reader.scalar(&reader.field(of, "_length")?)?;
                let length = length.as_i128().and_then(|it| u64::try_from(it).ok());
                return Ok((length.unwrap_or(0), reader.field(of, "_reference")?));
            }
            let named = of.ty.as_named();
            let length = named.and_then(|it| crate::values::buffer_length(reader.types, it));
            let members = reader.struct_members(&of.ty)?;
            let first = members.first().ok_or(Unreadable::OptimizedAway)?;
            let first = reader.struct_member(of, first)?;
            Ok((length.unwrap_or(0).into(), first))
        };
        let (length, first) = parts().map_err(|why| unreadable(self, why))?;
        let index = at.first().and_then(|it| u64::try_from(*it).ok());
        let index = index.filter(|it| *it < length);
        let index = index.ok_or_else(|| out_of_range(span))?;
        let element = || {
            let first = reader.behind_ref(&first)?;
            let stride = reader.size_of(&first.ty)?;
            reader.offset(&first, index.saturating_mul(stride.into()), &first.ty)
        };
        element().map_err(|why| unreadable(self, why))
    }

    /// A field of an object by name, decoded.
    pub(super) fn raw(&mut self, object: &Object, name: &str, span: Span) -> Result<Val> {
        let value = self
            .reader
            .object_field(object, name)
            .map_err(|why| self.unreadable(&why, span))?;
        self.decode(&value, span)
    }

    pub(super) fn is_core(&self, ty: &Type, namespace: &str, name: &str) -> bool {
        ty.as_named()
            .is_some_and(|it| self.types.is_named(it, namespace, name))
    }

    /// The elements of a sequence: arrays, strings, collections of the framework and what we made.
    pub(super) fn items_of(&mut self, value: &Val, span: Span) -> Result<Vec<Val>> {
        self.consume_all(value, &[], span, |this, pull| this.rest(pull, span))
    }

    /// The elements as a copy of the sequence has them: a list is copied, whatever a class that is derived from it enumerates.
    pub(super) fn copied_items(&mut self, value: &Val, span: Span) -> Result<Vec<Val>> {
        match value {
            Val::Object(object) if self.list_of(&object.ty).is_some() => {
                let mut pull = self.cursor_unless_list(value, false, span)?;
                self.rest(&mut pull, span)
            }
            _ => self.items_of(value, span),
        }
    }

    /// The elements of another collection of the framework, as its view finds them.
    pub(super) fn viewed_items(&mut self, object: &Object, span: Span) -> Result<Option<Vec<Val>>> {
        let found = self.viewed_up_to(object, None, MAX_ITEMS as u64 + 1, span)?;
        Ok(found.map(|(items, _)| items))
    }

    /// The first elements of a collection that has more of them, and how many it has, as its view finds them.
    pub(super) fn first_items(
        &mut self,
        object: &Object,
        most: usize,
        span: Span,
    ) -> Result<Option<(Vec<Val>, usize)>> {
        let most = most as u64;
        self.viewed_up_to(object, Some(most), most, span)
    }

    /// The first element of such a collection.
    pub(super) fn viewed_first(
        &mut self,
        object: &Object,
        span: Span,
    ) -> Result<Option<Option<Val>>> {
        let found = self.viewed_up_to(object, None, 1, span)?;
        Ok(found.map(|(items, _)| items.into_iter().next()))
    }

    /// At most so many first elements of a collection that has `more_than` so many of them, and how many it has.
    pub(super) fn viewed_up_to(
        &mut self,
        object: &Object,
        more_than: Option<u64>,
        most: u64,
        span: Span,
    ) -> Result<Option<(Vec<Val>, usize)>> {
        // A type of the user's that is derived from one may enumerate something else.
        if object.ty.element().is_none() && !self.reader.is_of_framework(&object.ty) {
            return Ok(None);
        }
        let (view, ids) = (View::default(), ObjectIds::default());
        let viewer = Viewer::new(self.reader, &view, &ids);
        let found = viewer.items(&Subject::Object(object.clone()));
        let Some(found) = found.map_err(|why| self.unreadable(&why, span))? else {
            return Ok(None);
        };
        // What could not be counted in time is not all there is.
        if found.is_cut {
            return Ok(None);
        }
        let is_lookup = self.reader.known(&object.ty) == Known::Lookup;
        if more_than.is_some_and(|it| found.count <= it) {
            return Ok(None);
        }
        let wanted = found.count.min(most);
        let mut items = Vec::new();
        for entry in viewer.entries(&found, 0, wanted) {
            self.item(span)?;
            let value = entry.value.map_err(|why| self.unreadable(&why, span))?;
            let value = self.decode(&value, span)?;
            items.push(match (entry.key, entry.name) {
                (None, None) => value,
                // The elements of a lookup are its groups, which know their keys.
                (Some(_), None) if is_lookup => value,
                (Some(key), None) => {
                    let Some(pair) = self.pair_type(&object.ty) else {
                        return Ok(None);
                    };
                    let key = self.decode(&key, span)?;
                    Val::Made(std::rc::Rc::new(Made::Fields(
                        pair,
                        vec![("key".into(), key), ("value".into(), value)],
                    )))
                }
                (_, Some(_)) => return Ok(None),
            });
        }
        // Nor is what could not be read in time.
        if (items.len() as u64) < wanted {
            return Ok(None);
        }
        Ok(Some((
            items,
            usize::try_from(found.count).unwrap_or(usize::MAX),
        )))
    }

    /// The type of a dictionary's elements.
    pub(super) fn pair_type(&self, dictionary: &Type) -> Option<Type> {
        let named = dictionary.as_named()?;
        if named.arguments.len() != 2 {
            return None;
        }
        let open = self
            .types
            .core("System.Collections.Generic", "KeyValuePair`2")?;
        self.types.close(open.as_named()?, &named.arguments).ok()
    }

    pub(super) fn not_a_sequence(&self, value: &Val, span: Span) -> super::Interrupt {
        let ty = self.exact_type(value).map_or_else(
            || "the value".into(),
            |it| format!("`{}`", self.types.text(&it)),
        );
        Fail::new(
            span,
            format!("the elements of {ty} cannot be read without running its enumerator"),
        )
        .hint("allow side effects, so that it can be run; or use an array or a collection of the framework")
        .into()
    }

    /// One end of a range that the program has: the number, and whether it counts from the end.
    fn end_of_range(&mut self, range: &Value, name: &str, span: Span) -> Result<(i64, bool)> {
        let index = self.reader.field(range, name);
        let number = index.and_then(|it| self.reader.field(&it, "_value"));
        let number = number.map_err(|why| self.unreadable(&why, span))?;
        let number = super::integer(&self.decode(&number, span)?).unwrap_or(0) as i64;
        Ok(if number < 0 {
            (!number, true)
        } else {
            (number, false)
        })
    }

    /// The elements of a sequence that only its enumerator can tell, where code may run: so many of them at most that a
    /// sequence without an end has one.
    pub(super) fn enumerated(&mut self, object: &Object, span: Span) -> Result<Option<Vec<Val>>> {
        let generic = "System.Collections.Generic";
        let all = self.types.interfaces(&object.ty).unwrap_or_default();
        let sequence = all
            .into_iter()
            .find(|it| self.types.is_named(it, generic, "IEnumerable`1"));
        let linq = self.types.find("System.Linq", "Enumerable", 0);
        let (Some(sequence), Some(linq)) = (sequence, linq.first().and_then(Type::as_named)) else {
            return Ok(None);
        };
        if !self.around.calls {
            return Ok(None);
        }
        let element = sequence.arguments.to_vec();
        let take = self.types.methods(linq, Some("Take")).unwrap_or_default();
        let take = take
            .into_iter()
            .find(|it| matches!(it.parameters.as_slice(), [_, count] if count.ty == Type::INT));
        let list = self.types.core(generic, "List`1");
        let list = list.and_then(|it| self.types.close(it.as_named()?, &element).ok());
        let constructors = list
            .as_ref()
            .and_then(|it| self.types.methods(it.as_named()?, Some(".ctor")).ok());
        let constructor = constructors.unwrap_or_default().into_iter().find(|it| {
            let named = |ty: &Type| {
                ty.as_named()
                    .is_some_and(|it| self.types.is_named(it, generic, "IEnumerable`1"))
            };
            matches!(it.parameters.as_slice(), [from] if named(&from.ty))
        });
        let (Some(take), Some(constructor)) = (take, constructor) else {
            return Ok(None);
        };
        let callee = |method: Method, arguments: Vec<Type>| {
            std::rc::Rc::new(Callee {
                method,
                arguments,
                intrinsic: None,
                is_virtual: false,
                checked: false,
            })
        };
        let from = Type::Named(sequence);
        let most = Val::int(MAX_ITEMS as i128 + 1);
        let take = self.types.construct_method(&take, &element);
        let few = self.effect(span, || Effect::Call {
            home: None,
            callee: callee(take, element),
            target: None,
            arguments: vec![
                (Val::Object(object.clone()), from.clone()),
                (most, Type::INT),
            ],
            references: Vec::new(),
            exact: false,
            span,
        })?;
        let listed = self.effect(span, || Effect::New {
            callee: callee(constructor, Vec::new()),
            arguments: vec![(few, from)],
            span,
        })?;
        match listed {
            Val::Object(list) => self.drain(&Val::Object(list), span).map(Some),
            _ => Ok(None),
        }
    }

    /// The two ends of a range.
    pub(super) fn range_of(
        &mut self,
        range: &Val,
        span: Span,
    ) -> Result<(Option<End>, Option<End>)> {
        Ok(match range {
            Val::Made(made) => match &**made {
                Made::Range(_, start, end) => (*start, *end),
                _ => return Err(super::misfit(span)),
            },
            Val::Struct(range) => (
                Some(self.end_of_range(range, "<Start>k__BackingField", span)?),
                Some(self.end_of_range(range, "<End>k__BackingField", span)?),
            ),
            _ => return Err(super::misfit(span)),
        })
    }

    /// A number, or the number of an index and whether it counts from the end.
    pub(super) fn index_of_value(&mut self, index: &Val, span: Span) -> Result<(i64, bool)> {
        let number = match index {
            Val::Made(made) => match &**made {
                Made::Index(_, number, from_end) => return Ok((*number, *from_end)),
                Made::Default(_) => 0,
                _ => return Err(super::misfit(span)),
            },
            Val::Struct(place) => {
                let number = self.reader.field(place, "_value");
                let number = number.map_err(|why| self.unreadable(&why, span))?;
                let number = super::integer(&self.decode(&number, span)?).unwrap_or(0) as i64;
                return Ok(if number < 0 {
                    (!number, true)
                } else {
                    (number, false)
                });
            }
            value => super::integer(value).unwrap_or(-1),
        };
        Ok((i64::try_from(number).unwrap_or(-1), false))
    }

    /// The key and value of a pair, or the two elements of a tuple.
    pub(super) fn two_of(&mut self, item: &Val, span: Span) -> Result<Option<(Val, Val)>> {
        match item {
            Val::Made(made) => Ok(super::linq::made_two(made)),
            Val::Struct(place) => {
                let members = self.reader.struct_members(&place.ty);
                let members = members.map_err(|why| self.unreadable(&why, span))?;
                let mut parts = Vec::new();
                for member in members.iter() {
                    let field = self.reader.struct_member(place, member);
                    let field = field.map_err(|why| self.unreadable(&why, span))?;
                    parts.push(self.decode(&field, span)?);
                }
                Ok(match parts.as_slice() {
                    [one, two] => Some((one.clone(), two.clone())),
                    _ => None,
                })
            }
            _ => Ok(None),
        }
    }

    /// `target[range]`
    pub(super) fn slice(&mut self, target: &Val, range: &Val, node: &Node) -> Result<Val> {
        let span = node.span;
        let (start, end) = &self.range_of(range, span)?;
        let inline = match target {
            Val::Struct(value) => {
                let named = value.ty.as_named();
                named.and_then(|it| crate::values::buffer_length(self.types, it))
            }
            _ => None,
        };
        let object = self.text_length(target, span)?;
        let text = match &object {
            Some(_) => None,
            None => self.string_of(target, span)?,
        };
        let length = match &text {
            Some(units) => units.len() as i64,
            None if let Some((_, length)) = &object => length.cast_signed(),
            None if let Some(length) = inline => length.into(),
            None => self.array_length(target, span)? as i64,
        };
        let resolve = |it: &Option<(i64, bool)>, missing: i64| match it {
            Some((number, true)) => length - number,
            Some((number, false)) => *number,
            None => missing,
        };
        let (start, end) = (resolve(start, 0), resolve(end, length));
        if let Some((object, length)) = &object {
            let part = (start.into(), i128::from(end) - i128::from(start));
            return self.part_of_text(object, *length, part, span);
        }
        if start < 0 || end < start || end > length {
            return Err(match text {
                Some(units) => {
                    let (start, count) = (i128::from(start), i128::from(end - start));
                    super::throwing::no_substring(span, units.len(), start, count)
                }
                None => super::linq::out_of_range(span, "length"),
            });
        }
        let (start, end) = (start as usize, end as usize);
        if let Some(units) = text {
            return Ok(Val::units(
                units.get(start..end).unwrap_or_default().to_vec(),
            ));
        }
        if inline.is_some() {
            let mut items = Vec::with_capacity(end - start);
            for at in start..end {
                let at = [at as i128];
                items.push(self.journaled(span, |this| this.element(target, &at, span))?);
            }
            return Ok(Val::sequence(node.ty.clone(), items));
        }
        let items = self.numbered_between(target, start as u64..end as u64, span)?;
        let ty = self.exact_type(target).unwrap_or(Type::OBJECT);
        Ok(Val::sequence(ty, items))
    }
}

/// A character.
pub(super) fn character(unit: u16) -> Val {
    Val::Scalar(Scalar::Int(Kind::Char, unit.into()))
}

fn out_of_range(span: Span) -> super::Interrupt {
    Fail::thrown(
        span,
        "System.IndexOutOfRangeException",
        Some("Index was outside the bounds of the array.".into()),
    )
    .into()
}
