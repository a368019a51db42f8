//! Brings about in the program what a run asks for: calls, new objects, writes.

use std::time::{Duration, Instant};

use metadata::signature::Primitive;
use syntax::Span;

use super::error::{Fail, Result};
use super::passing::{Calling, Leaf, Passed, Prepared, Spot, SpotRoot, Stored};
use super::plan::{Callee, FieldRef};
use super::referring::Referring;
use super::run::{HomeStep, Journal, Val, exact_shape};
use crate::calls::{Argument, Call, CallError, CallSite, Kept, Outcome};
use crate::engine::Engine;
use crate::types::{Method, Type};
use crate::values::{Held, Unreadable};

/// What is done where a call leads that returns by reference.
enum Leading {
    /// Where it is is noted.
    Told,
    /// Bytes are written.
    Bytes(Vec<u8>),
    /// Parts are written, of which some are references.
    Leaves(Vec<(Vec<FieldRef>, Argument)>),
}

/// Something whose place in the program is asked for.
#[derive(Clone, Copy)]
pub(super) enum Asked<'a> {
    /// A variable of the frame, by its number.
    Variable(usize),
    /// A static field.
    Static(&'a FieldRef),
}

impl Engine<'_> {
    /// Brings a prepared effect about and notes what came of it; `root` finds where a variable or static field lies.
    pub(super) fn bring_about(
        &mut self,
        prepared: Prepared,
        site: &CallSite,
        deadline: Instant,
        root: impl Fn(&mut Self, Asked<'_>) -> Option<cordebug::value::Value>,
        journal: &mut Journal,
    ) -> Result<()> {
        match prepared {
            Prepared::Done => journal.done(Val::Null),
            Prepared::Make(passed, span) => {
                let mut site = site.clone();
                site.limit = left(deadline);
                match self.ready(passed, &site, span)? {
                    Argument::Object(held) => journal.done_held(held),
                    _ => return Err(Fail::new(span, "the runtime made no object")),
                }
            }
            Prepared::Write {
                mut to,
                leaves,
                span,
            } => {
                let leaves = self.ready_leaves(leaves, site, span)?;
                let place = self.at_spot(&mut to, site, deadline, &root, span)?;
                self.write_leaves(&place, &leaves, span)?;
                journal.done(Val::Null);
            }
            Prepared::Construct { ty, own, span } => {
                let mut site = site.clone();
                site.limit = left(deadline);
                if let Some(field) = own {
                    self.give_own_static(&site, &ty, field)
                        .map_err(|error| Fail::of_call(span, None, error))?;
                    journal.given_own(field);
                    return Ok(());
                }
                let is_news = self.stopped_target().is_ok_and(|target| {
                    let reader = target.reader();
                    let never = ty.as_named().map(|it| reader.never_constructed(it));
                    never == Some(Some(true)) && !reader.is_of_framework(&ty)
                });
                let outcome = self
                    .construct_class(&site, &ty)
                    .map_err(|error| Fail::of_call(span, Some("class constructor"), error))?;
                let threw = match outcome {
                    Outcome::Returned(_) => None,
                    Outcome::Threw(kept) => Some(self.thrown(&kept, span)),
                };
                if let Ok(target) = self.stopped_target()
                    && is_news
                {
                    let ty = target.reader().types.text(&ty);
                    let note = format!(
                        "the class constructor of {ty} was run, which the program had not done yet"
                    );
                    self.evaluations.note(note);
                }
                journal.constructed(ty, threw);
            }
            Prepared::Delegate {
                method,
                target,
                ty,
                span,
            } => {
                let mut site = site.clone();
                site.limit = left(deadline);
                let target = self.ready(target, &site, span)?;
                let held = self
                    .exact_delegate(&site, &method, target, &ty)
                    .map_err(|error| Fail::of_call(span, Some(&method.name), error))?;
                journal.done_held(held);
            }
            Prepared::Refer(call, store) => {
                let span = call.span;
                let leading = match store {
                    Some(Stored::Leaves(leaves)) => {
                        Leading::Leaves(self.ready_leaves(leaves, site, span)?)
                    }
                    Some(Stored::Bytes(bytes)) => Leading::Bytes(bytes),
                    None => Leading::Told,
                };
                let (outcome, referring) = self.make_call(*call, site, deadline, &root)?;
                match &outcome {
                    Outcome::Returned(Some(kept)) => {
                        self.leads_elsewhere(kept, &referring, span)?;
                        self.lead(kept, leading, span, journal)?;
                    }
                    _ => self.note(outcome, span, journal)?,
                }
                for referred in referring {
                    journal.left(referred.copy);
                }
            }
            Prepared::Call(call) => {
                let span = call.span;
                let (outcome, referring) = self.make_call(*call, site, deadline, &root)?;
                self.note(outcome, span, journal)?;
                for referred in referring {
                    journal.left(referred.copy);
                }
            }
        }
        Ok(())
    }

    /// Makes a call; what was passed by reference comes with its outcome.
    fn make_call(
        &mut self,
        call: Calling,
        site: &CallSite,
        deadline: Instant,
        root: &dyn Fn(&mut Self, Asked<'_>) -> Option<cordebug::value::Value>,
    ) -> Result<(Outcome, Vec<Referring>)> {
        let Calling {
            callee,
            this,
            arguments,
            references,
            exact,
            span,
        } = call;
        let mut site = site.clone();
        // A place is looked for when nothing runs any more before the call.
        let (this, place) = match this {
            Some(Passed::Place(spot, ty)) => (None, Some((spot, ty))),
            this => (this, None),
        };
        let this = match this {
            Some(this) => Some(self.in_place(this, &site, span)?),
            None => None,
        };
        let mut ready = Vec::with_capacity(arguments.len());
        let mut spans = Vec::new();
        for argument in arguments {
            let argument = match argument {
                Passed::Span(ty, text) => {
                    spans.push((ready.len(), ty));
                    *text
                }
                other => other,
            };
            ready.push(self.ready(argument, &site, span)?);
        }
        let mut referring =
            self.referring(references, &mut ready, (&site, deadline), root, span)?;
        if place.is_some() || !referring.is_empty() {
            // Nothing may run between finding the places and the call.
            for argument in &mut ready {
                *argument = self
                    .boxed(&site, argument)
                    .map_err(|error| Fail::of_call(span, None, error))?;
            }
        }
        // A place that a call leads to is found first, as that runs.
        let is_led = |spot: &Spot| matches!(spot.root, SpotRoot::Led(_));
        let on_led = place.as_ref().is_some_and(|(spot, _)| is_led(spot));
        if on_led && referring.iter().any(|it| it.is_led) {
            let told = "what the method is called on and an argument are both what a member returns by reference, of which the second call could move the first place";
            return Err(Fail::new(span, told));
        }
        for referred in referring.iter_mut().filter(|it| it.is_led) {
            let argument = self.by_reference(referred, (&site, deadline), root, span)?;
            if let Some(to) = ready.get_mut(referred.index) {
                *to = argument;
            }
        }
        let this = match place {
            Some((mut spot, ty)) => {
                let place = self.at_spot(&mut spot, &site, deadline, root, span)?;
                Some(Argument::Place(place, ty))
            }
            None => this,
        };
        if Instant::now() >= deadline {
            return Err(Fail::late(span));
        }
        // From here to the call nothing runs, so the texts stay where they are.
        for (index, ty) in spans {
            if let Some(argument) = ready.get_mut(index) {
                *argument = self.span_over(argument, ty, span)?;
            }
        }
        for referred in referring.iter_mut().filter(|it| !it.is_led) {
            let argument = self.by_reference(referred, (&site, deadline), root, span)?;
            if let Some(to) = ready.get_mut(referred.index) {
                *to = argument;
            }
        }
        site.limit = left(deadline);
        let name = super::run::written_name(&callee.method);
        let told = |error| Fail::of_call(span, Some(name), error);
        let past = match (&this, exact) {
            (Some(this), true) => Some(self.past_override(&callee, this, &site).map_err(told)?),
            _ => None,
        };
        let call = match &past {
            Some((invoke, delegate)) => Call {
                method: invoke,
                type_arguments: &[],
                this: Some(Argument::Object(delegate.clone())),
                arguments: ready,
            },
            None => Call {
                method: &callee.method,
                type_arguments: &callee.arguments,
                this,
                arguments: ready,
            },
        };
        let outcome = self.call(&site, &call).map_err(told)?;
        Ok((outcome, referring))
    }

    /// Has the program load an assembly by its name.
    pub(super) fn load_assembly(&mut self, site: &CallSite, name: &str) -> Result<(), CallError> {
        let missing = || CallError::Refused("the runtime has no Assembly.Load".into());
        let units: Vec<u16> = name.encode_utf16().collect();
        let kept = self.new_string(site, &units)?;
        let target = self
            .stopped_target()
            .map_err(|error| CallError::Refused(error.message))?;
        let reader = target.reader();
        let text = reader.kept_object(&kept)?.ok_or_else(missing)?;
        let text = reader.hold(&text)?;
        let types = reader.types;
        let assembly = types.core_named("System.Reflection", "Assembly");
        let methods = types.methods(&assembly.ok_or_else(missing)?, Some("Load"))?;
        let takes_name = |it: &&Method| match it.parameters.as_slice() {
            [name] => name.ty == Type::STRING,
            _ => false,
        };
        let method = methods.iter().find(takes_name).ok_or_else(missing)?;
        let call = Call {
            method,
            type_arguments: &[],
            this: None,
            arguments: vec![Argument::Object(text)],
        };
        match self.call(site, &call)? {
            Outcome::Returned(_) => Ok(()),
            Outcome::Threw(_) => Err(CallError::Refused(format!("{name} cannot be loaded"))),
        }
    }

    /// A span over a text, where it is now: the address of its first character, and how many there are.
    fn span_over(&mut self, text: &Argument, ty: Type, span: Span) -> Result<Argument> {
        let target = self
            .stopped_target()
            .map_err(|error| Fail::new(span, error.message))?;
        let reader = target.reader();
        let unreadable = |why: Unreadable| Fail::new(span, why.to_string());
        let size = reader.size_of(&ty).map_err(unreadable)? as usize;
        let mut bytes = vec![0; size];
        if let Argument::Object(held) = text {
            let object = reader.held(held).map_err(unreadable)?;
            let (_, length) = reader.string_units(&object, 0).map_err(unreadable)?;
            let first = reader.text_start(&object).map_err(unreadable)?;
            let members = reader.struct_members(&ty).map_err(unreadable)?;
            for member in members.iter() {
                let at = member.offset as usize;
                let part = match &*member.field.name {
                    "_length" => (length as u32).to_le_bytes().to_vec(),
                    _ => first.to_le_bytes().to_vec(),
                };
                if let Some(to) = bytes.get_mut(at..at + part.len()) {
                    to.copy_from_slice(&part);
                }
            }
        }
        Ok(Argument::Bytes { ty, bytes })
    }

    /// A place in the program that an argument can be passed by reference from: the element of an array made for it, or a
    /// box, as the library makes no arrays of structs.
    pub(super) fn home_of(
        &mut self,
        argument: &Argument,
        ty: &Type,
        site: &CallSite,
        span: Span,
    ) -> Result<Held> {
        let told = |error: CallError| Fail::of_call(span, None, error);
        let in_array = ty.is_reference() || matches!(ty, Type::Primitive(_));
        let kept = if in_array {
            self.new_array(site, ty, 1).map_err(told)?
        } else {
            self.new_zeroed(site, ty).map_err(told)?
        };
        let target = self
            .stopped_target()
            .map_err(|error| Fail::new(span, error.message))?;
        let reader = target.reader();
        let unreadable = |why: Unreadable| Fail::new(span, why.to_string());
        let array = reader.kept_object(&kept).map_err(unreadable)?;
        let array = array.ok_or_else(|| Fail::new(span, "the runtime made no place for it"))?;
        let held = reader.hold(&array).map_err(unreadable)?;
        let element = match reader.unboxed(&array) {
            Some(inner) => inner,
            None => reader.element(&array, 0).map_err(unreadable)?,
        };
        match argument {
            Argument::Null | Argument::Place(..) => {}
            Argument::Bytes { bytes, .. } => reader.write(&element, bytes).map_err(unreadable)?,
            Argument::Boxed(inner) => {
                let inner = reader.held(inner).map_err(unreadable)?;
                let size = reader.size_of(ty).map_err(unreadable)?;
                if let Some(value) = reader.unboxed(&inner) {
                    let bytes = reader.bytes(&value, size).map_err(unreadable)?;
                    reader.write(&element, &bytes).map_err(unreadable)?;
                }
            }
            Argument::Object(object) => {
                let address = object.runtime_value().reference_address().ok().flatten();
                let told = |error: cordebug::Error| {
                    Fail::new(span, format!("it cannot be passed: {error}"))
                };
                let element = held.place_inside().map_err(told)?;
                element.set_reference(address.unwrap_or(0)).map_err(told)?;
            }
        }
        Ok(held)
    }

    /// What a method is called on: a number lies in a box, because the method wants its address.
    fn in_place(&mut self, this: Passed, site: &CallSite, span: Span) -> Result<Argument> {
        let ready = self.ready(this, site, span)?;
        let Argument::Bytes { ty, bytes } = &ready else {
            return Ok(ready);
        };
        let boxed = self
            .box_value(site, ty, bytes)
            .map_err(|error| Fail::of_call(span, None, error))?;
        Ok(match boxed {
            Argument::Object(held) => Argument::Boxed(held),
            other => other,
        })
    }

    /// Where something lies now, as the library knows it.
    pub(super) fn at_spot(
        &mut self,
        spot: &mut Spot,
        site: &CallSite,
        deadline: Instant,
        root: &dyn Fn(&mut Self, Asked<'_>) -> Option<cordebug::value::Value>,
        span: Span,
    ) -> Result<cordebug::value::Value> {
        let lost = || Fail::new(span, "it has no place that could be written");
        let told =
            |error: cordebug::Error| Fail::new(span, format!("it cannot be written: {error}"));
        let mut at = match &mut spot.root {
            SpotRoot::Variable(number) => root(self, Asked::Variable(*number)).ok_or_else(lost)?,
            SpotRoot::Static(field) => root(self, Asked::Static(field)).ok_or_else(lost)?,
            SpotRoot::Object(held) => held.runtime_value(),
            SpotRoot::Led(call) => {
                let call = call.take().ok_or_else(lost)?;
                match self.make_call(*call, site, deadline, root)?.0 {
                    Outcome::Returned(Some(kept)) => kept.runtime,
                    Outcome::Returned(None) => return Err(lost()),
                    Outcome::Threw(kept) => return Err(self.thrown(&kept, span)),
                }
            }
        };
        for step in &spot.steps {
            let inside = at.dereference().map_err(told)?.ok_or_else(lost)?;
            at = match step {
                HomeStep::Field(field) => self.runtime_field(&inside, field, span)?,
                HomeStep::Element(position) => {
                    let position = u32::try_from(*position).map_err(|_| lost())?;
                    inside.element_at(position).map_err(told)?
                }
            };
        }
        let is_by_ref = at.element_type().map_err(told)? == cordebug::types::element::BYREF;
        if is_by_ref {
            at = at.dereference().map_err(told)?.ok_or_else(lost)?;
        }
        Ok(at)
    }

    pub(super) fn runtime_field(
        &mut self,
        of: &cordebug::value::Value,
        field: &FieldRef,
        span: Span,
    ) -> Result<cordebug::value::Value> {
        let told =
            |error: cordebug::Error| Fail::new(span, format!("it cannot be written: {error}"));
        let target = self
            .stopped_target()
            .map_err(|error| Fail::new(span, error.message))?;
        let types = target.types();
        let module = types.module(field.declared_in.module);
        let module = module.map_err(|error| Fail::new(span, error.to_string()))?;
        let class = module.module.class(field.declared_in.token.0);
        let of = of.unboxed().map_err(told)?;
        of.field(&class.map_err(told)?, field.token.0).map_err(told)
    }

    /// Makes what has to exist in the program before it can be written.
    fn ready_leaves(
        &mut self,
        leaves: Vec<Leaf>,
        site: &CallSite,
        span: Span,
    ) -> Result<Vec<(Vec<FieldRef>, Argument)>> {
        let mut ready = Vec::with_capacity(leaves.len());
        for leaf in leaves {
            ready.push((leaf.path, self.ready(leaf.value, site, span)?));
        }
        Ok(ready)
    }

    /// Writes a value part by part.
    fn write_leaves(
        &mut self,
        place: &cordebug::value::Value,
        leaves: &[(Vec<FieldRef>, Argument)],
        span: Span,
    ) -> Result<()> {
        let told =
            |error: cordebug::Error| Fail::new(span, format!("it cannot be written: {error}"));
        let target = self
            .stopped_target()
            .map_err(|error| Fail::new(span, error.message))?;
        // One of them may live in a register, of which a copy is kept.
        target.places.forget();
        for (path, value) in leaves {
            let mut at = place.clone();
            for field in path {
                let of = at.dereference().map_err(told)?;
                let of = of.ok_or_else(|| Fail::new(span, "it has no place"))?;
                at = self.runtime_field(&of, field, span)?;
            }
            match value {
                Argument::Null => at.set_reference(0).map_err(told)?,
                Argument::Object(held) | Argument::Boxed(held) => {
                    let address = held.runtime_value().reference_address().map_err(told)?;
                    at.set_reference(address.unwrap_or(0)).map_err(told)?;
                }
                Argument::Bytes { ty, bytes } => {
                    let at = match at.dereference().map_err(told)? {
                        Some(inner) => inner.unboxed().map_err(told)?,
                        None => at,
                    };
                    match at.address().map_err(told)? {
                        0 => at.set_bytes(bytes).map_err(told)?,
                        address => {
                            let target = self
                                .stopped_target()
                                .map_err(|error| Fail::new(span, error.message))?;
                            let reader = target.reader();
                            let written = reader.write(&reader.at(ty.clone(), address), bytes);
                            written.map_err(|why| {
                                Fail::new(span, format!("it cannot be written: {why}"))
                            })?;
                        }
                    }
                }
                Argument::Place(..) => {
                    return Err(Fail::new(span, "only a value can be assigned here"));
                }
            }
        }
        Ok(())
    }

    /// Makes what has to exist in the program before it can be passed.
    fn ready(&mut self, passed: Passed, site: &CallSite, span: Span) -> Result<Argument> {
        let told = |error: CallError| Fail::of_call(span, None, error);
        Ok(match passed {
            Passed::Ready(argument) => argument,
            Passed::Span(..) => {
                return Err(Fail::new(
                    span,
                    "a span can only be an argument: it exists only in the debugger",
                ));
            }
            Passed::Place(..) => {
                return Err(Fail::new(
                    span,
                    "a place can only be what a method is called on",
                ));
            }
            Passed::Text(units) => {
                let kept = self.new_string(site, &units).map_err(told)?;
                self.held(&kept, span)?
            }
            Passed::Box(ty, bytes) => self.box_value(site, &ty, &bytes).map_err(told)?,
            Passed::Type(ty) => Argument::Object(self.type_object(site, &ty).map_err(told)?),
            Passed::Struct(ty, leaves, as_object) => {
                let leaves = self.ready_leaves(leaves, site, span)?;
                let kept = self.new_zeroed(site, &ty).map_err(told)?;
                let Argument::Object(held) = self.held(&kept, span)? else {
                    return Err(Fail::new(span, "the runtime made no place for it"));
                };
                let inner = held.inner();
                let inner = inner.map_err(|error| Fail::new(span, error.to_string()))?;
                self.write_leaves(&inner, &leaves, span)?;
                if as_object {
                    Argument::Object(held)
                } else {
                    Argument::Boxed(held)
                }
            }
            Passed::Elements(element, items) => {
                let mut ready = Vec::with_capacity(items.len());
                for item in items {
                    ready.push(self.ready_leaves(item, site, span)?);
                }
                let count = u32::try_from(ready.len()).unwrap_or(u32::MAX);
                let kept = self.new_array(site, &element, count).map_err(told)?;
                let array = self.held(&kept, span)?;
                if let Argument::Object(held) = &array {
                    let failed = |error: cordebug::Error| Fail::new(span, error.to_string());
                    for (position, item) in (0..count).zip(&ready) {
                        let inside = held.runtime_value().dereference().map_err(failed)?;
                        let inside =
                            inside.ok_or_else(|| Fail::new(span, "the runtime made no array"))?;
                        let place = inside.element_at(position).map_err(failed)?;
                        self.write_leaves(&place, item, span)?;
                    }
                }
                array
            }
            Passed::Array(element, count, bytes) => {
                let kept = self.new_array(site, &element, count).map_err(told)?;
                let target = self
                    .stopped_target()
                    .map_err(|error| Fail::new(span, error.message))?;
                let reader = target.reader();
                let unreadable = |why: Unreadable| Fail::new(span, why.to_string());
                let object = reader.kept_object(&kept).map_err(unreadable)?;
                let Some(object) = object else {
                    return Err(Fail::new(span, "the runtime made no array"));
                };
                if count > 0 {
                    let first = reader.element(&object, 0).map_err(unreadable)?;
                    reader.write(&first, &bytes).map_err(unreadable)?;
                }
                Argument::Object(reader.hold(&object).map_err(unreadable)?)
            }
        })
    }

    fn held(&mut self, kept: &Kept, span: Span) -> Result<Argument> {
        let target = self
            .stopped_target()
            .map_err(|error| Fail::new(span, error.message))?;
        let reader = target.reader();
        let unreadable = |why: Unreadable| Fail::new(span, why.to_string());
        match reader.kept_object(kept).map_err(unreadable)? {
            Some(object) => Ok(Argument::Object(reader.hold(&object).map_err(unreadable)?)),
            None => Ok(Argument::Null),
        }
    }

    /// Puts something where a call has led that returns by reference, or notes where that is.
    fn lead(
        &mut self,
        kept: &Kept,
        refer: Leading,
        span: Span,
        journal: &mut Journal,
    ) -> Result<()> {
        if let Leading::Leaves(leaves) = &refer {
            let told =
                |error: cordebug::Error| Fail::new(span, format!("it cannot be written: {error}"));
            let place = kept.runtime.dereference().map_err(told)?;
            let place = place.ok_or_else(|| Fail::new(span, "the reference leads nowhere"))?;
            self.write_leaves(&place, leaves, span)?;
            journal.done(Val::Null);
            return Ok(());
        }
        let target = self
            .stopped_target()
            .map_err(|error| Fail::new(span, error.message))?;
        let reader = target.reader();
        let unreadable = |why: Unreadable| Fail::new(span, why.to_string());
        let place = reader.kept(kept).map_err(unreadable)?;
        match refer {
            Leading::Bytes(bytes) => {
                let written = reader.write(&place, &bytes);
                written.map_err(|why| Fail::new(span, format!("it cannot be written: {why}")))?;
                journal.done(Val::Null);
            }
            _ => journal.done_place(place),
        }
        Ok(())
    }

    /// Notes how a call ended.
    fn note(&mut self, outcome: Outcome, span: Span, journal: &mut Journal) -> Result<()> {
        let target = self
            .stopped_target()
            .map_err(|error| Fail::new(span, error.message))?;
        let reader = target.reader();
        let unreadable =
            |why: Unreadable| Fail::new(span, format!("the result cannot be read: {why}"));
        match outcome {
            Outcome::Returned(None) => journal.done(Val::Null),
            Outcome::Returned(Some(kept)) => match reader.kept_object(&kept).map_err(unreadable)? {
                Some(object) => journal.done_held(reader.hold(&object).map_err(unreadable)?),
                None => {
                    let value = reader.kept(&kept).map_err(unreadable)?;
                    let value = super::run::decode(&reader, &value, span)?;
                    journal.done(value);
                }
            },
            Outcome::Threw(kept) => {
                let thrown = self.thrown(&kept, span);
                journal.threw(thrown);
            }
        }
        Ok(())
    }

    /// What evaluated code threw, with where.
    fn thrown(&mut self, kept: &Kept, span: Span) -> Box<Fail> {
        let report = self
            .target
            .as_mut()
            .and_then(|target| crate::exceptions::report_of(target, &kept.runtime));
        match report {
            Some(report) => Fail::threw(span, report),
            None => Fail::thrown(span, "System.Exception", None),
        }
    }

    /// A delegate that runs exactly the method, and how it is invoked.
    fn past_override(
        &mut self,
        callee: &Callee,
        this: &Argument,
        site: &CallSite,
    ) -> Result<(Method, Held), CallError> {
        let refused = |why: &str| CallError::Refused(why.to_owned());
        let (mut shape, returns) = exact_shape(callee)
            .ok_or_else(|| refused("no delegate of the framework has the shape of the method"))?;
        let is_void = returns == Type::Primitive(Primitive::Void);
        if !is_void {
            shape.push(returns);
        }
        let target = self
            .stopped_target()
            .map_err(|error| CallError::Refused(error.message))?;
        let types = target.types();
        let name = if is_void { "Action" } else { "Func" };
        let open = types.find("System", name, shape.len());
        let open = open.first().and_then(Type::as_named);
        let open = open.ok_or_else(|| refused("the runtime has no delegate for the method"))?;
        let delegate = types.close(open, &shape)?;
        let invoke = delegate
            .as_named()
            .map(|it| types.methods(it, Some("Invoke")));
        let invoke = invoke.transpose()?.and_then(|it| it.into_iter().next());
        let invoke = invoke.ok_or_else(|| refused("the delegate has no Invoke"))?;
        let held = self.exact_delegate(site, &callee.method, this.clone(), &delegate)?;
        Ok((invoke, held))
    }
}

/// The time that is left for a call.
fn left(deadline: Instant) -> Duration {
    deadline
        .saturating_duration_since(Instant::now())
        .max(Duration::from_millis(1))
}
