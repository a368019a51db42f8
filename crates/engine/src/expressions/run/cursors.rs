//! Enumerates what the program has: arrays and collections by reading, everything else with its own enumerator.

use std::rc::Rc;

use syntax::Span;

use super::lazy::{Lazy, Operator, Pull};
use super::linq::invalid;
use super::pulling::key_value;
use super::{Effect, Made, Result, Runner, Val};
use crate::expressions::error::Fail;
use crate::expressions::getters::field_behind;
use crate::expressions::plan::{Callee, Node, Op};
use crate::expressions::scalar::Scalar;
use crate::types::{Named, Type};
use crate::values::Object;

const GENERIC: &str = "System.Collections.Generic";
const CHANGED: &str = "Collection was modified; enumeration operation may not execute.";

impl Runner<'_, '_> {
    /// The elements of what is no lazy sequence.
    pub(super) fn plain_cursor(&mut self, source: &Val, span: Span) -> Result<Pull> {
        match source {
            Val::Null => Err(Fail::thrown(
                span,
                "System.ArgumentNullException",
                Some("Value cannot be null. (Parameter 'source')".into()),
            )
            .into()),
            Val::Scalar(Scalar::String(units)) => {
                let units = units.clone();
                let mut at = 0;
                Ok(Box::new(move |this| {
                    let unit = units.get(at).copied();
                    at += 1;
                    this.item(span)?;
                    Ok(unit.map(super::sequences::character))
                }))
            }
            Val::Made(made) if matches!(**made, Made::Sequence(..)) => {
                let made = made.clone();
                let mut at = 0;
                Ok(Box::new(move |this| {
                    let Made::Sequence(_, items, _) = &*made else {
                        return Ok(None);
                    };
                    let item = items.get(at).cloned();
                    at += 1;
                    if item.is_some() {
                        this.item(span)?;
                    }
                    Ok(item)
                }))
            }
            Val::Object(object) => self.object_cursor(object, span),
            Val::Struct(_) | Val::Boxed(..) => match self.array_inside(source, span)? {
                Some(array) => self.plain_cursor(&array, span),
                None if !self.around.calls => Err(self.not_a_sequence(source, span)),
                // Its enumerator is asked from a box that it is put into.
                None => {
                    let ty = self.exact_type(source).unwrap_or(Type::OBJECT);
                    let home = self.boxed(source.clone(), &ty);
                    match self.helped("GetObjectValue", home, span)? {
                        Val::Object(object) => self.enumerator_cursor(&object, span),
                        _ => Err(self.not_a_sequence(source, span)),
                    }
                }
            },
            _ => Err(self.not_a_sequence(source, span)),
        }
    }

    /// The array that an immutable one consists of.
    fn array_inside(&mut self, value: &Val, span: Span) -> Result<Option<Val>> {
        match value {
            Val::Boxed(_, inner) => self.array_inside(&inner.clone(), span),
            Val::Struct(place) => {
                let is_immutable = place.ty.as_named().is_some_and(|it| {
                    self.types
                        .is_named(it, "System.Collections.Immutable", "ImmutableArray`1")
                });
                if !is_immutable {
                    return Ok(None);
                }
                let field = self.reader.field(place, "array");
                let field = field.map_err(|why| self.unreadable(&why, span))?;
                self.decode(&field, span).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn object_cursor(&mut self, object: &Object, span: Span) -> Result<Pull> {
        if object.ty == Type::STRING {
            let units = self.units(object, span)?;
            return self.plain_cursor(&Val::units(units), span);
        }
        if object.ty.element().is_some() {
            let count = self.array_length(&Val::Object(object.clone()), span)?;
            let array = object.clone();
            let mut at = 0;
            return Ok(Box::new(move |this| {
                if at >= count {
                    return Ok(None);
                }
                at += 1;
                this.item(span)?;
                this.journaled(span, |this| this.array_element(&array, at - 1, span))
                    .map(Some)
            }));
        }
        if self.list_of(&object.ty).is_some() && !self.enumerates_itself(&object.ty) {
            return self.list_cursor(object, span);
        }
        let is_dictionary = self.is_core(&object.ty, GENERIC, "Dictionary`2");
        if is_dictionary || self.is_core(&object.ty, GENERIC, "HashSet`1") {
            return self.entries_cursor(object, is_dictionary, span);
        }
        if let Some(items) = self.viewed_items(object, span)? {
            let mut items = items.into_iter();
            return Ok(Box::new(move |this| {
                let Some(item) = items.next() else {
                    return Ok(None);
                };
                this.journaled(span, |_| Ok(item)).map(Some)
            }));
        }
        self.enumerator_cursor(object, span)
    }

    pub(super) fn array_element(&mut self, array: &Object, at: u64, span: Span) -> Result<Val> {
        let place = self.reader.element(array, at);
        let place = place.map_err(|why| self.unreadable(&why, span))?;
        self.decode(&place, span)
    }

    /// The elements as .NET's `Where` and `Select` take them if they do not count them: of a list, also of one that enumerates
    /// something else.
    pub(super) fn cursor_unless_list(
        &mut self,
        source: &Val,
        numbered: bool,
        span: Span,
    ) -> Result<Pull> {
        match source {
            Val::Object(object) if !numbered && self.list_of(&object.ty).is_some() => {
                self.list_cursor(object, span)
            }
            _ => self.cursor(source, span),
        }
    }

    /// A list, which must not change while it is enumerated.
    fn list_cursor(&mut self, object: &Object, span: Span) -> Result<Pull> {
        let list = object.clone();
        let size = self.journaled(span, |this| this.list_field(&list, "_size", span))?;
        let size = u64::try_from(super::integer(&size).unwrap_or(0)).unwrap_or(0);
        let version = self.journaled(span, |this| this.list_field(&list, "_version", span))?;
        let version = super::integer(&version);
        // The program does not run while this does: how it is now is read once.
        let now = super::integer(&self.list_field(&list, "_version", span)?);
        let items = self.list_field(&list, "_items", span)?;
        let mut at = 0;
        Ok(Box::new(move |this| {
            let is_end = at >= size;
            let position = at;
            at += 1;
            if !is_end {
                this.item(span)?;
            }
            // Also at its end it is looked whether the list has changed, as in C#.
            let item = this.journaled(span, |this| {
                if now != version {
                    return Err(invalid(span, CHANGED));
                }
                if is_end {
                    return Ok(Val::Null);
                }
                match &items {
                    Val::Object(items) => this.array_element(items, position, span),
                    _ => Err(super::misfit(span)),
                }
            })?;
            Ok((!is_end).then_some(item))
        }))
    }

    /// The entries of a dictionary as pairs, those of a set as values; free ones have a link below -1.
    fn entries_cursor(&mut self, object: &Object, is_dictionary: bool, span: Span) -> Result<Pull> {
        let positions = self.live_entries(object, is_dictionary, span)?;
        let count = Val::int(positions.len() as i128);
        let known = self.journaled(span, |_| Ok(count))?;
        if super::integer(&known) != Some(positions.len() as i128) {
            return Err(invalid(span, CHANGED));
        }
        let pair = self.pair_type(&object.ty);
        let entries = self.raw(object, "_entries", span)?;
        let mut positions = positions.into_iter();
        Ok(Box::new(move |this| {
            let Some(position) = positions.next() else {
                return Ok(None);
            };
            this.item(span)?;
            let mut field = |name: &str| {
                this.journaled(span, |this| {
                    let Val::Object(entries) = &entries else {
                        return Err(super::misfit(span));
                    };
                    let value = this.reader.element(entries, position);
                    let value = value.and_then(|entry| this.reader.field(&entry, name));
                    let value = value.map_err(|why| this.unreadable(&why, span))?;
                    this.decode(&value, span)
                })
            };
            match &pair {
                Some(pair) if is_dictionary => {
                    let key = field("key")?;
                    let value = field("value")?;
                    Ok(Some(key_value(pair, key, value)))
                }
                _ => field("Value").map(Some),
            }
        }))
    }

    pub(super) fn live_entries(
        &mut self,
        object: &Object,
        is_dictionary: bool,
        span: Span,
    ) -> Result<Vec<u64>> {
        let count = self.raw(object, "_count", span)?;
        let count = super::integer(&count).unwrap_or(0);
        let Val::Object(entries) = self.raw(object, "_entries", span)? else {
            return Ok(Vec::new());
        };
        let link = if is_dictionary { "next" } else { "Next" };
        let mut positions = Vec::new();
        for position in 0..u64::try_from(count).unwrap_or(0) {
            self.tick(span)?;
            let next = self.reader.element(&entries, position);
            let next = next.and_then(|entry| self.reader.field(&entry, link));
            let next = next.map_err(|why| self.unreadable(&why, span))?;
            let next = self.decode(&next, span)?;
            if super::integer(&next).unwrap_or(-2) >= -1 {
                positions.push(position);
            }
        }
        Ok(positions)
    }

    /// Whether a class that is derived from a collection of the framework implements `IEnumerable<T>` anew: what it gives then
    /// need not be what is in the collection.
    pub(super) fn enumerates_itself(&self, ty: &Type) -> bool {
        let derived = self.types.ancestry(ty).unwrap_or_default().into_iter();
        let mut derived =
            derived.take_while(|it| !self.reader.is_of_framework(&Type::Named(Rc::clone(it))));
        derived.any(|named| {
            let Ok(definition) = self.types.definition(&named) else {
                return false;
            };
            definition.interfaces().flatten().any(|token| {
                let interface = self.types.of_token(named.module, token, &named.generics());
                interface.is_ok_and(|it| self.is_core(&it, GENERIC, "IEnumerable`1"))
            })
        })
    }

    /// The `List<T>` that a type is or derives from.
    pub(super) fn list_of(&self, ty: &Type) -> Option<Rc<Named>> {
        let is_list = |it: &Named| self.types.is_named(it, GENERIC, "List`1");
        let named = ty.as_named()?;
        if is_list(named) {
            return Some(named.clone());
        }
        let ancestry = self.types.ancestry(ty).unwrap_or_default();
        ancestry.into_iter().find(|it| is_list(it))
    }

    /// Whether a type is or derives from `Dictionary<TKey, TValue>`.
    pub(super) fn is_dictionary(&self, ty: &Type) -> bool {
        let ancestry = self.types.ancestry(ty).unwrap_or_default();
        let mut ancestry = ancestry.iter();
        ancestry.any(|it| self.types.is_named(it, GENERIC, "Dictionary`2"))
    }

    /// A field of the `List<T>` that an object is or derives from; what is derived may have its own of that name.
    pub(super) fn list_field(&mut self, object: &Object, name: &str, span: Span) -> Result<Val> {
        let members = self.reader.members(object);
        let members = members.map_err(|why| self.unreadable(&why, span))?;
        let member = members.iter().find(|it| {
            *it.field.name == *name && self.types.is_named(&it.declared_in, GENERIC, "List`1")
        });
        match member {
            Some(member) => self.decode(&self.reader.member(object, member), span),
            None => self.raw(object, name, span),
        }
    }

    /// How many elements a list or array has.
    pub(super) fn list_length(&mut self, value: &Val, span: Span) -> Result<Option<u64>> {
        match value {
            Val::Made(made) => Ok(match &**made {
                Made::Sequence(_, items, _) => Some(items.len() as u64),
                _ => None,
            }),
            Val::Object(object) if object.ty.element().is_some() => {
                self.array_length(value, span).map(Some)
            }
            Val::Object(object) if self.list_of(&object.ty).is_some() => {
                let size = self.journaled(span, |this| this.list_field(object, "_size", span))?;
                Ok(super::integer(&size).and_then(|it| u64::try_from(it).ok()))
            }
            Val::Struct(_) | Val::Boxed(..) => match self.array_inside(value, span)? {
                Some(array) => self.list_length(&array, span),
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// An element of a list or array whose length was looked at.
    pub(super) fn list_element(&mut self, value: &Val, index: u64, span: Span) -> Result<Val> {
        match value {
            Val::Made(made) => match &**made {
                Made::Sequence(_, items, _) => {
                    let item = items.get(usize::try_from(index).unwrap_or(usize::MAX));
                    item.cloned().ok_or_else(|| super::misfit(span))
                }
                _ => Err(super::misfit(span)),
            },
            Val::Object(object) if object.ty.element().is_some() => {
                self.journaled(span, |this| this.array_element(object, index, span))
            }
            Val::Object(object) => self.journaled(span, |this| {
                match this.list_field(object, "_items", span)? {
                    Val::Object(items) => this.array_element(&items, index, span),
                    _ => Err(super::misfit(span)),
                }
            }),
            value => match self.array_inside(value, span)? {
                Some(array) => self.list_element(&array, index, span),
                None => Err(super::misfit(span)),
            },
        }
    }

    /// How many elements a set or dictionary has.
    pub(super) fn collection_count(&mut self, value: &Val, span: Span) -> Result<Option<u64>> {
        let Val::Object(object) = value else {
            return Ok(None);
        };
        let is_known = self.is_core(&object.ty, GENERIC, "Dictionary`2")
            || self.is_core(&object.ty, GENERIC, "HashSet`1");
        if !is_known {
            return Ok(None);
        }
        let count = self.journaled(span, |this| {
            let count = this.raw(object, "_count", span)?;
            let free = this.raw(object, "_freeCount", span)?;
            let count = super::integer(&count).zip(super::integer(&free));
            Ok(Val::int(count.map_or(0, |(count, free)| count - free)))
        })?;
        Ok(super::integer(&count).and_then(|it| u64::try_from(it).ok()))
    }

    /// What only its own enumerator can tell, one element after the other; all at once where nobody could notice.
    fn enumerator_cursor(&mut self, object: &Object, span: Span) -> Result<Pull> {
        if !self.around.calls {
            return Err(self.not_a_sequence(&Val::Object(object.clone()), span));
        }
        let all = self.types.interfaces(&object.ty).unwrap_or_default();
        // What makes a list of a collection copies it, and does not ask for its enumerator.
        let is_collection = |it: &Rc<Named>| self.types.is_named(it, GENERIC, "ICollection`1");
        if self.whole
            && !(all.iter().any(is_collection) && self.enumerates_itself(&object.ty))
            && let Some(items) = self.enumerated(object, span)?
        {
            let mut items = items.into_iter();
            return Ok(Box::new(move |_| Ok(items.next())));
        }
        let generic = |it: &&Rc<Named>| self.types.is_named(it, GENERIC, "IEnumerable`1");
        let plain = |it: &&Rc<Named>| self.types.is_named(it, "System.Collections", "IEnumerable");
        let sequence = all.iter().find(generic).or_else(|| all.iter().find(plain));
        let Some(sequence) = sequence.cloned() else {
            return Err(self.not_a_sequence(&Val::Object(object.clone()), span));
        };
        let object = object.clone();
        let mut enumerator: Option<Val> = None;
        let mut done = false;
        Ok(Box::new(move |this| {
            if done {
                return Ok(None);
            }
            let current = match &enumerator {
                Some(it) => it.clone(),
                None => {
                    let source = Val::Object(object.clone());
                    let made =
                        this.call_interface(&source, &sequence, "GetEnumerator", vec![], span)?;
                    this.open.push(made.clone());
                    enumerator.insert(made).clone()
                }
            };
            this.item(span)?;
            let step = this.types.core_named("System.Collections", "IEnumerator");
            let Some(step) = step else {
                return Err(super::misfit(span));
            };
            let moved = this.call_interface(&current, &step, "MoveNext", vec![], span)?;
            if !matches!(moved, Val::Scalar(Scalar::Bool(true))) {
                done = true;
                let mark = this.open.len().saturating_sub(1);
                // It is the last that was opened, unless another one is enumerated beside it.
                let is_last = this.open.last().is_some_and(|it| is_same(it, &current));
                if is_last {
                    this.close_enumerators(mark, span)?;
                }
                return Ok(None);
            }
            let typed = this.types.core(GENERIC, "IEnumerator`1");
            let typed = typed.and_then(|it| {
                let closed = this.types.close(it.as_named()?, &sequence.arguments).ok()?;
                closed.as_named().cloned()
            });
            let getter = typed.filter(|_| !sequence.arguments.is_empty());
            this.call_interface(
                &current,
                &getter.unwrap_or(step),
                "get_Current",
                vec![],
                span,
            )
            .map(Some)
        }))
    }

    /// Lets go of the enumerators that were opened after a mark.
    pub(super) fn close_enumerators(&mut self, mark: usize, span: Span) -> Result<()> {
        while self.open.len() > mark {
            let Some(enumerator) = self.open.pop() else {
                break;
            };
            let ty = self.exact_type(&enumerator).unwrap_or(Type::OBJECT);
            let all = self.types.interfaces(&ty).unwrap_or_default();
            let disposable = all
                .into_iter()
                .find(|it| self.types.is_named(it, "System", "IDisposable"));
            if let Some(disposable) = disposable {
                self.call_interface(&enumerator, &disposable, "Dispose", vec![], span)?;
            }
        }
        Ok(())
    }

    /// Calls a method of an interface in the program; a getter that only returns a field is read.
    pub(super) fn call_interface(
        &mut self,
        target: &Val,
        interface: &Rc<Named>,
        name: &str,
        arguments: Vec<Val>,
        span: Span,
    ) -> Result<Val> {
        let methods = self.types.methods(interface, Some(name));
        let methods = methods.unwrap_or_default();
        let method = methods
            .into_iter()
            .find(|it| it.parameters.len() == arguments.len());
        let Some(method) = method else {
            return Err(Fail::new(span, format!("`{name}` was not found in the program")).into());
        };
        let parameters = method.parameters.iter().map(|it| it.ty.clone());
        let arguments: Vec<(Val, Type)> = arguments.into_iter().zip(parameters).collect();
        let callee = Rc::new(Callee {
            method,
            arguments: Vec::new(),
            intrinsic: None,
            is_virtual: true,
            checked: false,
        });
        if let Some(field) = self.getter_field(target, &callee, &[])
            && matches!(target, Val::Object(object) if self.reader.unboxed(object).is_none())
        {
            return self.behind(target, &field, span);
        }
        if !self.around.calls {
            return Err(self.refuse(&format!("calling `{name}`"), span));
        }
        let is_object = name == "GetEnumerator";
        let target = Some((target.clone(), Type::Named(interface.clone())));
        let effect = || Effect::Call {
            callee,
            target,
            home: None,
            arguments,
            references: Vec::new(),
            exact: false,
            span,
        };
        if is_object {
            self.effect_as(span, effect)
        } else {
            self.effect(span, effect)
        }
    }

    /// Whether all elements of a sequence are wanted and nothing that runs in between could tell in which order they were made.
    pub(super) fn is_calm(&self, value: &Val) -> bool {
        match value {
            Val::Made(made) => match &**made {
                Made::Closure(closure, _) => self.is_calm_node(&closure.body),
                Made::Lazy(lazy) => takes_all(lazy) && lazy.parts.iter().all(|it| self.is_calm(it)),
                _ => true,
            },
            // A delegate or comparer of the program is code of the program.
            Val::Object(object) => {
                !matches!(&object.ty, Type::Named(it) if it.kind == crate::types::Kind::Delegate)
            }
            _ => true,
        }
    }

    fn is_calm_node(&self, node: &Node) -> bool {
        let mut calm = true;
        node.visit(&mut |node| {
            calm &= match &node.op {
                Op::Call(callee, ..) => {
                    callee.intrinsic.is_some()
                        || !callee.is_virtual && field_behind(self.types, &callee.method).is_some()
                }
                Op::New(..)
                | Op::Assign(..)
                | Op::Update(..)
                | Op::Fill(..)
                | Op::Spread(..)
                | Op::Initialize(..) => false,
                _ => true,
            };
        });
        calm
    }
}

/// Whether an operator looks at all elements of what it is applied to.
fn takes_all(lazy: &Lazy) -> bool {
    !matches!(
        lazy.op,
        Operator::Take(_)
            | Operator::TakeWhile(_)
            | Operator::TakeRange(..)
            | Operator::Zip(_)
            | Operator::SelectMany(_)
    )
}

fn is_same(one: &Val, other: &Val) -> bool {
    match (one, other) {
        (Val::Object(one), Val::Object(other)) => one.address == other.address,
        _ => false,
    }
}
