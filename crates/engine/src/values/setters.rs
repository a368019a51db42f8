//! Properties and indexers that are set: their setters run in the program.
//!
//! Automatic properties are not set here: their fields are written, which is all that their setters do.

use std::rc::Rc;

use cordebug::thread::Thread;
use metadata::csharp::{GeneratedKind, GeneratedName};

use crate::api::{Error, ErrorCode, Reply, SetVariable, StopId, ThreadId, VariableKind, Variables};
use crate::calls::{Argument, Call, CallError, CallSite, Outcome};
use crate::engine::Engine;
use crate::stack::frame_at;
use crate::types::{Field, Method, Named, Property, Type, TypeNotes};

use super::assign::{Written, refused};
use super::backing::only_sets_field;
use super::roots::Roots;
use super::scope::Scope;
use super::view::{Child, Viewer};
use super::walk::{self, Step};
use super::{Place, Unreadable, Value};

/// A property that is to be set.
pub(super) struct Setting {
    setter: Method,
    getter: Option<Method>,
    /// What it belongs to; absent if it is static.
    this: Option<Argument>,
    /// The index, of an indexer.
    index: Option<Argument>,
    value: Given,
    ty: Type,
}

/// What it is set to.
enum Given {
    Ready(Argument),
    /// A string that must be made first.
    Text(Vec<u16>),
}

impl Engine<'_> {
    /// The property that a path leads to and that only a setter can set, if it does; nothing has run then.
    pub(super) fn property_to_set(
        &mut self,
        set: &SetVariable,
        thread: &Thread,
    ) -> Result<Option<Setting>, Error> {
        self.seen_from(set, thread, |roots, viewer| roots.setting(viewer, set))
    }

    /// Sets a property through its setter.
    pub(super) fn set_property(
        &mut self,
        set: &SetVariable,
        thread: &Thread,
        setting: Setting,
    ) -> Result<Reply, Error> {
        let site = CallSite::on(thread.clone());
        let value = match setting.value {
            Given::Ready(value) => value,
            Given::Text(units) => {
                let kept = self.new_string(&site, &units)?;
                let reader = self.stopped_target()?.reader();
                let object = reader
                    .kept_object(&kept)
                    .map_err(|why| refused(set, &why))?;
                match object {
                    Some(object) => {
                        let held = reader.hold(&object).map_err(|why| refused(set, &why))?;
                        Argument::Object(held)
                    }
                    None => Argument::Null,
                }
            }
        };
        // A struct is set in a box of its own, and what came of it is written back.
        let this = match setting.this {
            Some(Argument::Bytes { ty, bytes }) => match self.box_value(&site, &ty, &bytes)? {
                Argument::Object(held) => Some(Argument::Boxed(held)),
                other => Some(other),
            },
            this => this,
        };
        let arguments: Vec<Argument> = setting.index.into_iter().collect();
        let run = |engine: &mut Self, method: &Method, value: Option<Argument>| {
            let mut arguments = arguments.clone();
            arguments.extend(value);
            let call = Call {
                method,
                type_arguments: &[],
                this: this.clone(),
                arguments,
            };
            engine.call(&site, &call)
        };
        let outcome = run(self, &setting.setter, Some(value))?;
        if let Outcome::Threw(exception) = outcome {
            return Err(self.setter_threw(set, &exception));
        }
        if let Some(Argument::Boxed(held)) = &this {
            self.seen_from(set, thread, |roots, viewer| {
                roots.write_back(viewer, set, held)
            })?;
        }
        let told = setting.getter.map(|getter| run(self, &getter, None));
        self.told_property(set, thread, told, &setting.ty)
    }

    fn setter_threw(&mut self, set: &SetVariable, exception: &crate::calls::Kept) -> Error {
        let Ok(target) = self.stopped_target() else {
            return refused(set, &"its setter threw an exception");
        };
        let target = &*target;
        let reader = target.reader();
        let view = crate::api::View::default();
        let viewer = Viewer::new(&reader, &view, &target.object_ids);
        let text = viewer.brief_kept(exception);
        Error::new(
            ErrorCode::EvaluationFailed,
            format!(
                "{} was not set to {}: its setter threw {text}",
                set.path, set.value
            ),
        )
    }

    /// Looks at a program from the frame that a request names.
    pub(super) fn seen_from<T>(
        &mut self,
        set: &SetVariable,
        thread: &Thread,
        look: impl FnOnce(&Roots<'_, '_>, &Viewer<'_, '_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let frame = frame_at(self.stopped_target()?, thread, set.frame);
        let target = &*self.stopped_target()?;
        let reader = target.reader().looking_from(frame.as_ref().ok());
        let view = crate::api::View::default();
        let viewer = Viewer::new(&reader, &view, &target.object_ids);
        let roots = Roots {
            target,
            reader: &reader,
            thread,
            frame,
            index: set.frame,
        };
        look(&roots, &viewer)
    }

    fn told_property(
        &mut self,
        set: &SetVariable,
        thread: &Thread,
        told: Option<Result<Outcome, CallError>>,
        ty: &Type,
    ) -> Result<Reply, Error> {
        let stop: StopId = self.stop_id()?;
        let target = &*self.stopped_target()?;
        let reader = target.reader();
        let view = crate::api::View::default();
        let viewer = Viewer::new(&reader, &view, &target.object_ids);
        let value = match told {
            Some(result) => viewer.outcome(&result),
            None => Err(Unreadable::no_getter()),
        };
        let child = Child {
            name: set.path.clone(),
            kind: VariableKind::Property,
            path: set.path.clone(),
            ty: value
                .as_ref()
                .map_or_else(|_| ty.clone(), |value: &Value| value.ty.clone()),
            notes: TypeNotes::default(),
            value,
            shadowed: false,
            display: None,
        };
        let variable = viewer.variable(&child, 0);
        Ok(Reply::Variables(Box::new(Variables {
            stop,
            thread: ThreadId(thread.id().unwrap_or(0)),
            frame: set.frame,
            parent: Some(Box::new(variable)),
            variables: Vec::new(),
            omitted: None,
            notes: vec!["its setter was run".into()],
            call: None,
            declarations: Vec::new(),
            code_runs: 1,
        })))
    }
}

impl Roots<'_, '_> {
    /// The property that a path leads to, with everything that its setter takes.
    fn setting(
        &self,
        viewer: &Viewer<'_, '_>,
        set: &SetVariable,
    ) -> Result<Option<Setting>, Error> {
        let reader = self.reader;
        let Some((owner, ty, step)) = self.owner(viewer, set) else {
            return Ok(None);
        };
        let types = reader.types;
        let Some(property) = self.property(viewer, owner.as_ref(), &ty, &step) else {
            return Ok(None);
        };
        let declared_in = property.declared_in.clone();
        let method = |token| types.method(&declared_in, token).ok();
        let Some(setter) = property.setter.and_then(method) else {
            return Err(refused(set, &format!("{} has no setter", property.name)));
        };
        let failed = |why: Unreadable| refused(set, &why);
        let index = match &step {
            Step::Index(indexes) => indexes.first().map(|it| Argument::Bytes {
                ty: Type::INT,
                bytes: (*it as i32).to_le_bytes().to_vec(),
            }),
            _ => None,
        };
        let this = match (&owner, property.is_static) {
            (Some(owner), false) => {
                let subject = viewer.subject(owner).map_err(failed)?;
                let value = viewer.as_value(&subject);
                let value = value.ok_or_else(|| refused(set, &"what it belongs to is null"))?;
                if value.ty.is_value() == Some(true)
                    && (self.has_references(&value.ty, 0)
                        || !matches!(value.place, Place::Memory(_)))
                {
                    return Err(refused(
                        set,
                        &"it belongs to a struct that cannot be written as a whole",
                    )
                    .hint("set the field that the property stands for"));
                }
                Some(reader.argument(&value).map_err(failed)?)
            }
            _ => None,
        };
        let place = reader.copied(property.ty.clone(), Vec::new());
        let value = match self.written(viewer, &place, set)? {
            Written::Text(units) => Given::Text(units),
            Written::Reference(0) => Given::Ready(Argument::Null),
            Written::Reference(address) => {
                let object = reader.object_at(address).map_err(failed)?;
                Given::Ready(Argument::Object(reader.hold(&object).map_err(failed)?))
            }
            Written::Bytes(mut bytes) => {
                let size = reader.size_of(&property.ty).map_err(failed)?;
                bytes.resize(size as usize, 0);
                let ty = property.ty.clone();
                Given::Ready(Argument::Bytes { ty, bytes })
            }
        };
        Ok(Some(Setting {
            setter,
            getter: property.getter.and_then(method),
            this,
            index,
            value,
            ty: property.ty.clone(),
        }))
    }

    /// Writes a struct back from the box that its setter ran on.
    fn write_back(
        &self,
        viewer: &Viewer<'_, '_>,
        set: &SetVariable,
        held: &super::Held,
    ) -> Result<(), Error> {
        let reader = self.reader;
        let failed = |why: Unreadable| refused(set, &why);
        let Some((Some(owner), ..)) = self.owner(viewer, set) else {
            return Err(refused(set, &"what it belongs to is gone"));
        };
        let subject = viewer.subject(&owner).map_err(failed)?;
        let object = reader.held(held).map_err(failed)?;
        if let (Some(place), Some(inner)) = (viewer.as_value(&subject), reader.unboxed(&object)) {
            let size = reader.size_of(&inner.ty).map_err(failed)?;
            let bytes = reader.bytes(&inner, size).map_err(failed)?;
            reader.write(&place, &bytes).map_err(failed)?;
        }
        Ok(())
    }

    /// What the last step of a path belongs to, its type, and that step.
    fn owner(
        &self,
        viewer: &Viewer<'_, '_>,
        set: &SetVariable,
    ) -> Option<(Option<Value>, Type, Step)> {
        let mut steps = walk::steps(&set.path).ok()?;
        let (at, last) = steps.pop()?;
        if steps.is_empty() {
            let scope = self.scope().ok()?;
            let Step::Member(name) = &last else {
                return None;
            };
            if scope.find(name).is_some() {
                return None;
            }
            // A field is known, unless it is only what a setter keeps.
            let is_known = self.member_of_this(&scope, name).is_some()
                || self.static_of(&scope, name).ok()?.is_some();
            if is_known && !self.has_setter_of_its_own(&scope, name) {
                return None;
            }
            let this = scope.this().and_then(|this| this.value.clone().ok());
            let ty = Type::Named(scope.context.user_type(self.reader.types).ok()?);
            return Some((this, ty, last));
        }
        let (mut at, mut last) = (at, last);
        loop {
            let parent = set.path.get(..at)?.trim_end_matches('.');
            if let Ok(child) = self.at_path(viewer, parent) {
                let owner = child.value.ok()?;
                let subject = viewer.subject(&owner).ok()?;
                let ty = viewer.type_of(&subject)?.clone();
                return Some((Some(owner), ty, last));
            }
            // The name of an explicit implementation has dots in it.
            let (before, step) = steps.pop()?;
            if steps.is_empty() {
                return None;
            }
            let (Step::Member(first), Step::Member(rest)) = (step, &last) else {
                return None;
            };
            (at, last) = (before, Step::Member(format!("{first}.{rest}")));
        }
    }

    /// Whether a name means, in the type that the code is in or a base of it, a property whose setter does more than to set its field.
    fn has_setter_of_its_own(&self, scope: &Scope, name: &str) -> bool {
        let types = self.reader.types;
        let found = || {
            let ty = Type::Named(scope.context.user_type(types).ok()?);
            types.ancestry(&ty).ok()?.into_iter().find_map(|named| {
                let fields = types.fields(&named).ok()?;
                let field = fields.iter().find(|it| {
                    metadata::csharp::field_display_name(&it.name).is_some_and(|it| it == name)
                })?;
                Some(self.own_setter(&named, field).is_some())
            })
        };
        found().unwrap_or(false)
    }

    /// The property that a field is behind, if its setter does more than to set the field.
    fn own_setter(&self, declared_in: &Rc<Named>, field: &Field) -> Option<Property> {
        let name = GeneratedName::parse(&field.name)?;
        if name.kind != GeneratedKind::BackingField || field.flags.is_init_only() {
            return None;
        }
        let types = self.reader.types;
        let properties = types.properties(declared_in).ok()?.into_iter();
        let property = { properties }.find(|it| it.name == name.text)?;
        let setter = types.method(declared_in, property.setter?).ok()?;
        let body = types
            .metadata(declared_in.module)
            .ok()?
            .body(setter.token)
            .ok()??;
        (!only_sets_field(body.code)).then_some(property)
    }

    /// The property that a step leads to, unless it leads to a place that can be written.
    fn property(
        &self,
        viewer: &Viewer<'_, '_>,
        owner: Option<&Value>,
        ty: &Type,
        step: &Step,
    ) -> Option<Property> {
        let types = self.reader.types;
        let meant = match (owner, step) {
            (Some(owner), Step::Member(name)) => viewer.meant(owner, name),
            _ => None,
        };
        let (plain, declared_in) = meant.unzip();
        let declared_in = declared_in.map(Type::Named);
        let fits = |it: &Property| match step {
            Step::Member(name) => {
                it.name == *plain.as_deref().unwrap_or(name) && it.parameters.is_empty()
            }
            Step::Index(indexes) => indexes.len() == 1 && *it.parameters == [Type::INT],
            _ => false,
        };
        match (owner, step) {
            (Some(owner), Step::Member(name)) => {
                if let Some((member, _)) = viewer.raw_member(owner, name).ok()? {
                    return self.own_setter(&member.declared_in, &member.field);
                }
            }
            // Elements of arrays and known collections have places.
            (Some(owner), Step::Index(_)) => match viewer.step(owner, step) {
                Ok(_) | Err(Unreadable::OutOfRange { .. } | Unreadable::NoElement { .. }) => {
                    return None;
                }
                Err(_) => {}
            },
            _ => {}
        }
        for named in types.ancestry(declared_in.as_ref().unwrap_or(ty)).ok()? {
            let properties = types.properties(&named).ok()?;
            if let Some(found) = properties.into_iter().find(fits) {
                return Some(found);
            }
        }
        None
    }
}

/// Why something cannot be set that is in another thing, and how what is not there may be added.
pub(super) fn not_there(set: &SetVariable, why: &Unreadable) -> Error {
    match why {
        Unreadable::NoElement { .. } => refused(set, why)
            .hint("evaluate the assignment, where side effects are allowed: an indexer may add it"),
        _ => refused(set, why),
    }
}
