//! Setting values: variables, fields, elements, statics of the frame's type.
//!
//! A new value is written as C# writes literals, or as a path to another value of the same type. Numbers are checked
//! against the range of what they go into. References are set through the runtime, never by writing memory, because the
//! collector must hear of them.

use std::rc::Rc;

use cordebug::homes::Slot;
use cordebug::thread::Thread;

use crate::api::{Error, ErrorCode, Reply, SetVariable, VariablesQuery};
use crate::calls::CallSite;
use crate::engine::Engine;
use crate::expressions::frames::is_in;
use crate::stack::frame_at;
use crate::types::{Field, Kind, Named, Type};

use super::fixed_refs::leads_to_fixed;
use super::literal::{self, Literal};
use super::roots::Roots;
use super::scope::VariableKind;
use super::setters::not_there;
use super::view::{Subject, Viewer, known::Known, secrets};
use super::walk::{self, Step};
use super::{Place, Reader, Unreadable, Value};

/// Where a value goes, and what must be known to put it there.
pub(crate) struct Destination {
    pub(crate) value: Value,
    /// The library's own value of the place, through which references are set.
    pub(crate) runtime: Option<cordebug::value::Value>,
    /// The name of the readonly field that it is, or that it is a part of.
    readonly: Option<String>,
}

impl Destination {
    /// Whether another value is a part of this one: it lies inside it, not behind a reference.
    fn holds(&self, reader: &Reader<'_>, part: &Value) -> bool {
        match (&self.value.place, &part.place) {
            (Place::Memory(at), Place::Memory(part)) => {
                let size = reader.size_of(&self.value.ty).unwrap_or(0);
                self.value.ty.is_value() == Some(true)
                    && (*at..at.saturating_add(size.into())).contains(part)
            }
            _ => false,
        }
    }
}

/// What to do about a place that may be written only so.
pub(super) const BY_FORCE: &str = "say that it is to be set by force";
/// Elements of a tuple before those that lie in another one.
const TUPLE_LENGTH: usize = 7;

/// What is written.
pub(super) enum Written {
    /// Bytes of a value type, or a null reference.
    Bytes(Vec<u8>),
    /// A reference to an object at an address.
    Reference(u64),
    /// A string that must be made first.
    Text(Vec<u16>),
}

impl Engine<'_> {
    /// Sets a value and tells it as it is then.
    pub(crate) fn set_variable(&mut self, set: &SetVariable) -> Result<Reply, Error> {
        self.check_stop(set.stop)?;
        let (_, thread) = self.thread_of(set.thread)?;
        let mark = self.stopped_target()?.layouts.given.mark();
        self.give(set, &thread)?;
        let done = self.set_on(set, &thread);
        if done.is_err() {
            self.stopped_target()?.layouts.given.forget_since(mark);
        }
        let mut done = done?;
        if let Reply::Variables(told) = &mut done
            && let Some(parent) = told.parent.as_mut()
            && set.mask_secrets
            && parent.value.type_name != "bool"
            && self.is_secret_source(set, &thread)?
        {
            let ty = std::mem::take(&mut parent.value.type_name);
            parent.value = super::view::masked_source(ty);
        }
        if let Reply::Variables(told) = &mut done
            && self.may_go_on_with_copy(set, &thread)?
        {
            told.notes.push(super::optimised::SET.into());
        }
        Ok(done)
    }

    /// Lets a local be set that the program has not assigned yet.
    fn give(&mut self, set: &SetVariable, thread: &Thread) -> Result<(), Error> {
        let Ok(frame) = frame_at(self.stopped_target()?, thread, set.frame) else {
            return Ok(());
        };
        let target = &*self.stopped_target()?;
        let reader = target.reader();
        let Ok(scope) = target.frame_variables(&reader, frame) else {
            return Ok(());
        };
        let variables = scope.shape.variables.iter();
        let mut named = variables
            .enumerate()
            .filter(|(_, it)| *it.name == *set.path.trim() && !it.shadowed);
        if let Some((number, _)) = named.next() {
            scope.give(&reader, number);
        }
        Ok(())
    }

    pub(super) fn set_on(&mut self, set: &SetVariable, thread: &Thread) -> Result<Reply, Error> {
        let done = match self.property_to_set(set, thread) {
            Ok(Some(setting)) => return self.set_property(set, thread, setting),
            Ok(None) => self.set_place(set, thread),
            // What is no literal and no path may be computed.
            Err(error) if self.is_variable(set, thread)? => {
                return self.set_by_expression(set, thread, error);
            }
            Err(error) => Err(error),
        };
        match done {
            Ok(()) => self.told_after(set, thread),
            Err(error) if self.may_be_assigned(set, thread)? => {
                self.set_by_expression(set, thread, error)
            }
            Err(error) => Err(error),
        }
    }

    /// Whether a new value is taken from something that has the name of a secret. What is written out is none.
    fn is_secret_source(&mut self, set: &SetVariable, thread: &Thread) -> Result<bool, Error> {
        if literal::parse(set.value.trim()).is_some() {
            return Ok(false);
        }
        if secrets::is_secret_named(&set.value) {
            return Ok(true);
        }
        let view = crate::api::View {
            mask_secrets: true,
            ..crate::api::View::default()
        };
        self.seen_from(set, thread, |roots, _| {
            let viewer = Viewer::new(roots.reader, &view, &roots.target.object_ids);
            let source = roots.at_path(&viewer, set.value.trim());
            Ok(source.is_ok_and(|it| matches!(it.value, Err(Unreadable::Masked(_)))))
        })
    }

    /// Whether the path begins with something that the frame knows.
    pub(super) fn is_variable(
        &mut self,
        set: &SetVariable,
        thread: &Thread,
    ) -> Result<bool, Error> {
        self.seen_from(set, thread, |roots, _| {
            Ok(match walk::steps(&set.path) {
                Ok(steps) => match steps.first() {
                    Some((_, Step::Member(root))) => roots.root(root).is_ok(),
                    _ => true,
                },
                // What paths do not know, an expression may: `prices[Kind.Old]`.
                Err(_) => false,
            })
        })
    }

    /// Whether an assignment may be tried: the place can be written, or it is none that a variable stands for.
    fn may_be_assigned(&mut self, set: &SetVariable, thread: &Thread) -> Result<bool, Error> {
        if !self.is_variable(set, thread)? {
            return Ok(true);
        }
        self.seen_from(set, thread, |roots, viewer| {
            let steps = walk::steps(&set.path).map_err(|why| refused(set, &why))?;
            // The names of a tuple's elements are only those of its declaration.
            let of_tuple = match steps.last() {
                Some((at, Step::Member(_))) => set.path.get(..*at).is_some_and(|parent| {
                    let types = roots.reader.types;
                    let parent = roots.at_path(viewer, parent);
                    parent.is_ok_and(|it| types.tuple_elements(it.ty.without_ref()).is_some())
                }),
                _ => false,
            };
            Ok(of_tuple
                || match roots.destination(viewer, set) {
                    Ok(_) => true,
                    Err(error) if error.hint.as_deref() == Some(BY_FORCE) => false,
                    // Something that is told there, or an indexer of a type that is no collection.
                    Err(_) => {
                        roots.at_path(viewer, &set.path).is_ok()
                            || steps.last().is_some_and(|(at, last)| {
                                !matches!(last, Step::Member(_))
                                    && roots.is_no_collection(viewer, set.path.get(..*at))
                            })
                    }
                })
        })
    }

    fn set_place(&mut self, set: &SetVariable, thread: &Thread) -> Result<(), Error> {
        let mut kept = None;
        // Making a string runs the program, and everything is to be found anew afterwards.
        for _ in 0..2 {
            let frame = frame_at(self.stopped_target()?, thread, set.frame);
            let target = &*self.stopped_target()?;
            let reader = target.reader().looking_from(frame.as_ref().ok());
            let roots = Roots {
                target,
                reader: &reader,
                thread,
                frame,
                index: set.frame,
            };
            let view = crate::api::View::default();
            let viewer = Viewer::new(&reader, &view, &target.object_ids);
            let to = roots.destination(&viewer, set)?;
            let written = match &kept {
                Some(kept) => {
                    let object = reader.kept_object(kept).map_err(|why| refused(set, &why))?;
                    Written::Reference(object.map_or(0, |object| object.address))
                }
                None => roots.written(&viewer, &to.value, set)?,
            };
            match written {
                Written::Text(units) => {
                    kept = Some(self.new_string(&CallSite::on(thread.clone()), &units)?);
                    continue;
                }
                Written::Bytes(bytes) => put(&reader, &to, &bytes),
                Written::Reference(address) => put_reference(&reader, &to, address),
            }
            .map_err(|why| refused(set, &why))?;
            break;
        }
        Ok(())
    }

    pub(super) fn told_after(
        &mut self,
        set: &SetVariable,
        thread: &Thread,
    ) -> Result<Reply, Error> {
        let query = VariablesQuery {
            stop: set.stop,
            thread: Some(crate::api::ThreadId(thread.id().map_err(|error| {
                Error::new(ErrorCode::Runtime, error.to_string())
            })?)),
            frame: set.frame,
            path: Some(set.path.clone()),
            count: 0,
            ..VariablesQuery::default()
        };
        self.variables(&query)
    }
}

/// The field whose name has dots in it, as that of an explicit implementation has, and how many more steps it takes.
fn explicit_field(
    viewer: &Viewer<'_, '_>,
    value: &Value,
    first: &str,
    more: impl Iterator<Item = (usize, Step)>,
) -> Option<(usize, String)> {
    let is_field = |name: &str| matches!(viewer.raw_member(value, name), Ok(Some(_)));
    let mut name = first.to_owned();
    for (count, (_, step)) in (1..).zip(more) {
        let Step::Member(next) = step else { break };
        if count == 1 && is_field(first) {
            break;
        }
        name = format!("{name}.{next}");
        if is_field(&name) {
            return Some((count, name));
        }
    }
    None
}

pub(super) fn refused(set: &SetVariable, why: &dyn std::fmt::Display) -> Error {
    Error::new(
        ErrorCode::InvalidParameter,
        format!("{} cannot be set to {}: {why}", set.path, set.value),
    )
}

fn put(reader: &Reader<'_>, to: &Destination, bytes: &[u8]) -> super::Result<()> {
    match (&to.value.place, &to.runtime) {
        (Place::Memory(_), _) => reader.write(&to.value, bytes),
        // It lives in a register, which only the library can write.
        (Place::Copy(_), Some(runtime)) => {
            reader.places.forget();
            Ok(runtime.set_bytes(bytes)?)
        }
        _ => Err(Unreadable::WrongKind {
            ty: reader.types.text(&to.value.ty),
            wanted: "a place that can be written",
        }),
    }
}

fn put_reference(reader: &Reader<'_>, to: &Destination, address: u64) -> super::Result<()> {
    let runtime = to.runtime.as_ref().ok_or(Unreadable::NoRuntimePlace)?;
    reader.places.forget();
    Ok(runtime.set_reference(address)?)
}

impl Roots<'_, '_> {
    /// The place that a path leads to, if it may be written.
    pub(crate) fn destination(
        &self,
        viewer: &Viewer<'_, '_>,
        set: &SetVariable,
    ) -> Result<Destination, Error> {
        let steps = walk::steps(&set.path).map_err(|why| refused(set, &why))?;
        let mut steps = steps.into_iter();
        let Some((_, Step::Member(root))) = steps.next() else {
            return Err(refused(set, &"the path does not begin with a variable"));
        };
        let mut at = self.root_destination(&root, set)?;
        let mut steps = steps.peekable();
        while let Some((start, step)) = steps.next() {
            let mut from = at;
            let mut step = step;
            if let Type::Pointer(_) = from.value.ty.without_ref()
                && let Step::Member(name) = &step
            {
                let pointed = self.reader.pointed(&from.value);
                from = Destination {
                    value: pointed.map_err(|why| refused(set, &why))?,
                    runtime: None,
                    readonly: None,
                };
                if name == "*" {
                    at = from;
                    continue;
                }
            }
            if let Step::Member(name) = &step
                && let Some((count, explicit)) =
                    explicit_field(viewer, &from.value, name, steps.clone())
            {
                step = Step::Member(explicit);
                steps.by_ref().take(count).for_each(drop);
            }
            let is_last = steps.peek().is_none();
            // An element of a tuple lies in a field that has another name, or in one of a tuple at its end.
            if let Step::Member(name) = &step
                && let Some((last, before)) = self.item_of_tuple(viewer, set, start, name)
            {
                for rest in before {
                    from = self.step_destination(viewer, &from, &Step::Member(rest), set)?;
                }
                step = Step::Member(last);
            }
            at = self.step_destination(viewer, &from, &step, set)?;
            // What lies inside an element that is a struct is a part of it.
            let is_element = !matches!(step, Step::Member(_));
            if is_element && is_last {
                self.check_kept(viewer, &from.value, set)?;
            }
            if is_element && (is_last || at.value.ty.is_value() == Some(true)) && !set.force {
                self.check_element(viewer, &from.value, set)?;
            }
        }
        if let Some(name) = at.readonly.as_ref().filter(|_| !set.force) {
            let error = refused(set, &format!("{name} is readonly"));
            return Err(error.hint(BY_FORCE));
        }
        // What a by-ref leads to is written, not the by-ref.
        if let Type::ByRef(_) = at.value.ty {
            let behind = self.reader.behind_ref(&at.value);
            at = Destination {
                value: behind.map_err(|why| refused(set, &why))?,
                runtime: at
                    .runtime
                    .and_then(|runtime| runtime.dereference().ok().flatten()),
                readonly: None,
            };
        }
        Ok(at)
    }

    /// Whether a path leads to something that has no elements.
    fn is_no_collection(&self, viewer: &Viewer<'_, '_>, path: Option<&str>) -> bool {
        let child = path.and_then(|path| self.at_path(viewer, path).ok());
        let subject = child.and_then(|child| viewer.subject(&child.value.ok()?).ok());
        let children = subject.and_then(|subject| {
            viewer
                .children(&subject, &crate::types::TypeNotes::default())
                .ok()
        });
        matches!(children, Some(super::view::Children::Members(_)))
    }

    /// The field of a tuple that holds what a name means there, and the fields that lead to it.
    fn item_of_tuple(
        &self,
        viewer: &Viewer<'_, '_>,
        set: &SetVariable,
        start: usize,
        name: &str,
    ) -> Option<(String, Vec<String>)> {
        let tuple = self.at_path(viewer, set.path.get(..start)?).ok()?;
        let at = viewer.position_in_tuple(tuple.value.as_ref().ok()?, &tuple.notes, name)?;
        let rests = vec!["Rest".to_owned(); at / TUPLE_LENGTH];
        Some((format!("Item{}", at % TUPLE_LENGTH + 1), rests))
    }

    /// Refuses to put something in the place of an element that the collection keeps in a way of its own: a text as an object or in
    /// a list, or one that its class has code for, as those have that find it by a key or tell others of it. Its indexer knows how.
    fn check_kept(
        &self,
        viewer: &Viewer<'_, '_>,
        owner: &Value,
        set: &SetVariable,
    ) -> Result<(), Error> {
        let subject = viewer.subject(owner).map_err(|why| refused(set, &why))?;
        let Some(ty) = viewer.type_of(&subject) else {
            return Ok(());
        };
        let types = self.reader.types;
        let has_own_code = || {
            let all = types.ancestry(ty).unwrap_or_default().into_iter();
            let namespace = "System.Collections.ObjectModel";
            let mut derived = all.take_while(|it| !types.is_named(it, namespace, "Collection`1"));
            derived.any(|it| {
                !types
                    .methods(&it, Some("SetItem"))
                    .unwrap_or_default()
                    .is_empty()
            })
        };
        match self.reader.known(ty) {
            Known::NameObjectCollection
            | Known::OldOrderedDictionary
            | Known::StringCollection
            | Known::StringDictionary => {}
            Known::Collection if has_own_code() => {}
            _ => return Ok(()),
        }
        Err(refused(set, &"only its indexer knows how it keeps that"))
    }

    /// Refuses to put something in the place of an element where that would break the collection.
    fn check_element(
        &self,
        viewer: &Viewer<'_, '_>,
        owner: &Value,
        set: &SetVariable,
    ) -> Result<(), Error> {
        let subject = viewer.subject(owner).map_err(|why| refused(set, &why))?;
        let known = viewer.type_of(&subject).map(|ty| self.reader.known(ty));
        match known.and_then(Known::why_fixed) {
            Some(why) => Err(refused(set, &why).hint(BY_FORCE)),
            None => Ok(()),
        }
    }

    fn root_destination(&self, root: &str, set: &SetVariable) -> Result<Destination, Error> {
        let scope = self.scope()?;
        let Some(variable) = scope.find(root) else {
            if let Some((this, _)) = self.member_of_this(&scope, root) {
                let this = Destination {
                    value: this,
                    runtime: scope.this().and_then(|it| scope.runtime_value(it)),
                    readonly: None,
                };
                let view = crate::api::View::default();
                let viewer = Viewer::new(self.reader, &view, &self.target.object_ids);
                return self.step_destination(&viewer, &this, &Step::Member(root.into()), set);
            }
            if let Some((named, field)) = self.static_of(&scope, root)? {
                return self.static_destination(&named, &field, set);
            }
            // What is no variable may still be looked at: an object by its id.
            let child = self.root(root)?;
            return Ok(Destination {
                value: child.value.map_err(|why| refused(set, &why))?,
                runtime: None,
                readonly: None,
            });
        };
        if variable.kind == VariableKind::Constant {
            return Err(refused(set, &"it is a constant, which has no place"));
        }
        let value = variable.value.clone().map_err(|why| refused(set, &why))?;
        if root == "this" && set.path.trim() == root && value.ty.is_value() != Some(true) {
            return Err(refused(
                set,
                &"`this` of a class cannot be assigned (CS1604)",
            ));
        }
        let runtime = scope.runtime_value(variable).or_else(|| {
            let (object, member) = variable.holder.as_ref()?;
            self.runtime_field(object.address, member)
        });
        let (types, place) = (self.reader.types, &scope.context.at);
        let is_fixed = matches!(variable.ty, Type::ByRef(_))
            && match variable.slot {
                Some(Slot::Local(slot)) => leads_to_fixed(types, place, slot),
                _ => variable.kind == VariableKind::Argument && is_in(types, place, root),
            };
        Ok(Destination {
            value,
            runtime,
            readonly: is_fixed.then(|| root.to_owned()),
        })
    }

    fn static_destination(
        &self,
        named: &Rc<Named>,
        field: &Field,
        set: &SetVariable,
    ) -> Result<Destination, Error> {
        if field.flags.is_literal() {
            return Err(refused(set, &"it is a constant, which has no place"));
        }
        Ok(Destination {
            value: self
                .reader
                .static_field(named, field, None)
                .map_err(|why| refused(set, &why))?,
            runtime: self.reader.runtime_static(named, field.token),
            readonly: field.flags.is_init_only().then(|| field.name.to_string()),
        })
    }

    fn runtime_field(&self, object: u64, member: &super::Member) -> Option<cordebug::value::Value> {
        let object = self.reader.types.process.object_at(object).ok()?;
        self.field_of(&object, member)
    }

    pub(super) fn field_of(
        &self,
        object: &cordebug::value::Value,
        member: &super::Member,
    ) -> Option<cordebug::value::Value> {
        let types = self.reader.types;
        let named = &member.declared_in;
        let class = types
            .module(named.module)
            .ok()?
            .module
            .class(named.token.0)
            .ok()?;
        object.field(&class, member.field.token.0).ok()
    }

    fn step_destination(
        &self,
        viewer: &Viewer<'_, '_>,
        from: &Destination,
        step: &Step,
        set: &SetVariable,
    ) -> Result<Destination, Error> {
        let failed = |why: Unreadable| not_there(set, &why);
        match step {
            Step::Member(name) if name == "Value" && viewer.is_nullable(&from.value) => {
                let value = viewer.step_into_nullable(&from.value, step);
                Ok(Destination {
                    value: value.map_err(failed)?,
                    runtime: self.runtime_struct(viewer, from),
                    readonly: from.readonly.clone(),
                })
            }
            Step::Member(name) => {
                let found = viewer.raw_member(&from.value, name).map_err(failed)?;
                let Some((member, owner)) = found else {
                    return Err(refused(
                        set,
                        &format!("{name} is neither a field nor a property that has a setter"),
                    ));
                };
                let own = member.field.flags.is_init_only().then(|| name.clone());
                let readonly = match &owner {
                    Subject::InPlace(_, None) => own.or_else(|| from.readonly.clone()),
                    _ => own,
                };
                let (value, runtime) = match &owner {
                    Subject::Object(object) => (
                        self.reader.member(object, &member),
                        self.runtime_field(object.address, &member),
                    ),
                    // What is in a box or a `T?` has a place of its own, which is not that of the reference or the whole.
                    Subject::InPlace(inner, boxed) => {
                        let runtime = match boxed {
                            Some(boxed) => {
                                let held = self.reader.hold(boxed).ok();
                                held.and_then(|it| it.inner().ok())
                            }
                            None => self.runtime_struct(viewer, from),
                        };
                        (
                            self.reader.struct_member(inner, &member).map_err(failed)?,
                            runtime.and_then(|it| self.field_of(&it, &member)),
                        )
                    }
                    Subject::Null => return Err(refused(set, &"what it belongs to is null")),
                };
                Ok(Destination {
                    value,
                    runtime,
                    readonly,
                })
            }
            step => {
                let value = viewer.step(&from.value, step).map_err(failed)?;
                let runtime = self.runtime_element(viewer, &from.value, &value);
                let readonly = from.readonly.clone();
                let readonly = readonly.filter(|_| from.holds(self.reader, &value));
                Ok(Destination {
                    value,
                    runtime,
                    readonly,
                })
            }
        }
    }

    /// The library's value of the struct that lies at a place; of a `T?` the `T` in it.
    fn runtime_struct(
        &self,
        viewer: &Viewer<'_, '_>,
        at: &Destination,
    ) -> Option<cordebug::value::Value> {
        let whole = at.runtime.as_ref()?.dereference().ok().flatten()?;
        if !viewer.is_nullable(&at.value) {
            return Some(whole);
        }
        let members = self.reader.struct_members(at.value.ty.without_ref()).ok()?;
        let inner = members.iter().find(|it| &*it.field.name == "value")?;
        self.field_of(&whole, inner)
    }

    /// The new value in the form of the place it goes to.
    pub(super) fn written(
        &self,
        viewer: &Viewer<'_, '_>,
        to: &Value,
        set: &SetVariable,
    ) -> Result<Written, Error> {
        let text = set.value.trim();
        let types = self.reader.types;
        let no = |why: String| refused(set, &why);
        let Some(literal) = literal::parse(text) else {
            return self.enum_or_path(viewer, to, set);
        };
        let known = self.reader.known(&to.ty);
        let inner = types.nullable_of(&to.ty);
        let into = inner.as_ref().unwrap_or(&to.ty);
        let goes_into = match self.reader.known(into) {
            Known::Decimal => Some(literal::Target::Decimal),
            _ => into.underlying().map(literal::Target::Number),
        };
        if let Some(other) = goes_into.and_then(|it| literal::other_type(text, it)) {
            return Err(no(format!(
                "that is a {other}, which C# does not convert to {} by itself",
                types.text(into)
            )));
        }
        if let (Literal::Null, Type::Pointer(_) | Type::Function(_)) = (&literal, &to.ty) {
            return Ok(Written::Bytes(vec![0; size_of::<u64>()]));
        }
        if let Some(primitive) = to.ty.underlying()
            && super::Scalar::size(primitive).is_some()
        {
            let bytes = literal.to_bytes(primitive).map_err(no)?;
            return Ok(Written::Bytes(bytes));
        }
        match (literal, known) {
            (Literal::Null, Known::Nullable) => {
                let size = self
                    .reader
                    .size_of(&to.ty)
                    .map_err(|why| refused(set, &why))?;
                Ok(Written::Bytes(vec![0; size as usize]))
            }
            (literal, Known::Nullable) => {
                let inner = types.nullable_of(&to.ty).and_then(|ty| ty.underlying());
                let primitive = inner.ok_or_else(|| no("only null can be written there".into()))?;
                let bytes = literal.to_bytes(primitive).map_err(no)?;
                self.present(to, &bytes, set)
            }
            (literal, Known::Decimal) => {
                let bytes = literal.to_decimal().map_err(no)?;
                Ok(Written::Bytes(bytes.to_vec()))
            }
            (literal, Known::Int128 | Known::UInt128) => {
                let is_signed = known == Known::Int128;
                let bytes = literal.to_128_bits(is_signed).map_err(no)?;
                Ok(Written::Bytes(bytes.to_vec()))
            }
            (literal, Known::Half) => {
                let bytes = literal.to_half().map_err(no)?;
                Ok(Written::Bytes(bytes.to_vec()))
            }
            (Literal::Null, _) if to.ty.is_reference() => Ok(Written::Reference(0)),
            (Literal::Text(units), _) if matches!(to.ty, Type::STRING | Type::OBJECT) => {
                Ok(Written::Text(units))
            }
            _ => Err(no(format!("that is no {}", types.text(&to.ty)))),
        }
    }

    /// A `T?` that has a value.
    fn present(&self, to: &Value, bytes: &[u8], set: &SetVariable) -> Result<Written, Error> {
        let layout = self.reader.struct_members(&to.ty);
        let layout = layout.map_err(|why| refused(set, &why))?;
        let at = layout.iter().find(|it| &*it.field.name == "value");
        let at = at.map_or(0, |it| it.offset as usize);
        let mut all = vec![0; at + bytes.len()];
        if let (Some(has), true) = (all.first_mut(), at > 0) {
            *has = 1;
        }
        if let Some(place) = all.get_mut(at..) {
            place.copy_from_slice(bytes);
        }
        Ok(Written::Bytes(all))
    }

    fn enum_or_path(
        &self,
        viewer: &Viewer<'_, '_>,
        to: &Value,
        set: &SetVariable,
    ) -> Result<Written, Error> {
        let inner = self.reader.types.nullable_of(&to.ty);
        if let Type::Named(named) = inner.as_ref().unwrap_or(&to.ty)
            && let Kind::Enum(primitive) = named.kind
            && let Some(bits) = viewer.enum_bits(named, &set.value)
        {
            let size = super::Scalar::size(primitive).unwrap_or(8);
            let bytes = bits.to_le_bytes();
            let bytes = bytes.get(..size).unwrap_or(&bytes).to_vec();
            return match inner {
                Some(_) => self.present(to, &bytes, set),
                None => Ok(Written::Bytes(bytes)),
            };
        }
        let child = self.at_path(viewer, set.value.trim()).map_err(|error| {
            refused(
                set,
                &format!(
                    "it is neither a literal nor another value ({})",
                    error.message
                ),
            )
        })?;
        let failed = |why: Unreadable| refused(set, &why);
        let from = child.value.map_err(failed)?;
        let from = self.reader.behind_ref(&from).map_err(failed)?;
        let types = self.reader.types;
        if to.ty.is_reference() {
            let object = self.reader.object(&from).map_err(failed)?;
            // What is null has only the type of its own place.
            let ty = object.as_ref().map_or(&from.ty, |object| &object.ty);
            if !types.is_assignable(ty, &to.ty) {
                let why = format!("{} is no {}", types.text(ty), types.text(&to.ty));
                return Err(refused(set, &why));
            }
            return Ok(Written::Reference(
                object.map_or(0, |object| object.address),
            ));
        }
        // Any pointer is a `void*` (C# 23.5).
        let void = Type::Primitive(metadata::signature::Primitive::Void);
        let is_any_pointer = matches!((&from.ty, &to.ty),
            (Type::Pointer(_), Type::Pointer(inner)) if **inner == void);
        if from.ty != to.ty && !is_any_pointer || self.has_references(&to.ty, 0) {
            let why = format!(
                "only a {} without references can be copied there",
                types.text(&to.ty)
            );
            return Err(refused(set, &why));
        }
        let size = self.reader.size_of(&to.ty).map_err(failed)?;
        let bytes = self.reader.bytes(&from, size).map_err(failed)?;
        Ok(Written::Bytes(bytes))
    }

    pub(super) fn has_references(&self, ty: &Type, depth: u32) -> bool {
        if ty.underlying().and_then(super::Scalar::size).is_some() {
            return false;
        }
        if ty.is_value() != Some(true) || depth > 16 {
            return true;
        }
        let members = self.reader.struct_members(ty);
        members.map_or(true, |members| {
            members
                .iter()
                .any(|it| self.has_references(&it.field.ty, depth + 1))
        })
    }
}
