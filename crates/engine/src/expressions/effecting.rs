//! Brings about in the program what a run asks for: calls, new objects, writes.

use std::time::{Duration, Instant};

use metadata::signature::Primitive;
use syntax::Span;

use super::error::{Fail, Result};
use super::plan::Callee;
use super::run::{Effect, Journal, Made, Val, exact_shape};
use super::scalar::Scalar;
use crate::calls::{Argument, Call, CallError, CallSite, Kept, Outcome};
use crate::engine::Engine;
use crate::types::{Method, Type, Types};
use crate::values::scope::FrameVariables;
use crate::values::{Held, Reader, Unreadable};

/// An argument on its way into the program.
pub(super) enum Passed {
    /// Ready.
    Ready(Argument),
    /// A string that has to be made first.
    Text(Vec<u16>),
    /// A value that has to be boxed first.
    Box(Type, Vec<u8>),
    /// An array of values without references that has to be made first: element type, count, bytes.
    Array(Type, u32, Vec<u8>),
    /// The object that stands for a type.
    Type(Type),
}

/// An effect with everything that could be read for it.
pub(super) enum Prepared {
    Call {
        callee: std::rc::Rc<Callee>,
        this: Option<Passed>,
        arguments: Vec<Passed>,
        /// Which arguments are passed by reference, and their types.
        references: Vec<(usize, Type)>,
        /// Whether exactly this method is meant although the object's own type overrides it.
        exact: bool,
        span: Span,
    },
    /// A class constructor is to be run.
    Construct { ty: Type, span: Span },
    /// Done already.
    Done,
    /// A variable is to refer to something.
    Refer {
        variable: usize,
        to: Passed,
        span: Span,
    },
}

/// Reads what an effect needs; a plain write is done at once. Without a scope there are no variables to write to.
pub(super) fn prepare(
    reader: &Reader<'_>,
    scope: Option<&FrameVariables>,
    effect: Effect,
) -> Result<Prepared> {
    match effect {
        Effect::Call {
            callee,
            target,
            arguments,
            references,
            exact,
            span,
        } => {
            let this = match target {
                Some((value, ty)) => {
                    // A struct's own methods take it in place, inherited ones take it boxed.
                    let own = ty
                        .as_named()
                        .is_none_or(|it| *it == callee.method.declared_in)
                        && callee.method.declared_in.kind != crate::types::Kind::Class
                        && callee.method.declared_in.kind != crate::types::Kind::Interface;
                    let wanted = if own { ty } else { Type::OBJECT };
                    let boxed = matches!(wanted, Type::Primitive(_)) && wanted == Type::OBJECT;
                    let value = if boxed {
                        boxed_value(value, &callee, reader.types)
                    } else {
                        value
                    };
                    Some(pass(reader, value, &wanted, span)?)
                }
                None => None,
            };
            let references: Vec<(usize, Type)> = references
                .into_iter()
                .filter_map(|index| Some((index, arguments.get(index)?.1.without_ref().clone())))
                .collect();
            let is_empty = |value: &Val| match value {
                Val::Made(made) => matches!(**made, Made::Default(_)),
                value => matches!(value, Val::Null),
            };
            let arguments = arguments
                .into_iter()
                .enumerate()
                .map(|(index, (value, ty))| {
                    // What is empty before the call needs no bytes, and its type may not have been used yet.
                    if is_empty(&value) && references.iter().any(|(it, _)| *it == index) {
                        return Ok(Passed::Ready(Argument::Null));
                    }
                    pass(reader, value, ty.without_ref(), span)
                })
                .collect::<Result<_>>()?;
            Ok(Prepared::Call {
                callee,
                this,
                arguments,
                references,
                exact,
                span,
            })
        }
        Effect::Construct { ty, span } => Ok(Prepared::Construct { ty, span }),
        Effect::New {
            callee,
            arguments,
            span,
            ..
        } => {
            let arguments = arguments
                .into_iter()
                .map(|(value, ty)| pass(reader, value, ty.without_ref(), span))
                .collect::<Result<_>>()?;
            Ok(Prepared::Call {
                callee,
                this: None,
                arguments,
                references: Vec::new(),
                exact: false,
                span,
            })
        }
        Effect::Write {
            variable,
            place,
            value,
            span,
        } => {
            let told = |why: Unreadable| Fail::new(span, format!("it cannot be written: {why}"));
            if place.ty.is_reference() {
                let Some(variable) = variable else {
                    return Err(Fail::new(
                        span,
                        "references in objects cannot be assigned here, as the collector would not hear of it",
                    )
                    .hint("assign a variable of the frame, or set the property"));
                };
                let to = pass(reader, value, &place.ty, span)?;
                return Ok(Prepared::Refer { variable, to, span });
            }
            let bytes = bytes_of(reader, &value, &place.ty, span)?;
            match (&place.place, variable) {
                (crate::values::Place::Memory(_), _) => {
                    reader.write(&place, &bytes).map_err(told)?
                }
                (_, Some(number)) => {
                    let Some(root) = scope.and_then(|it| it.root(number)) else {
                        return Err(Fail::new(
                            span,
                            "the variable has no place that could be written",
                        ));
                    };
                    root.set_bytes(&bytes).map_err(|error| told(error.into()))?;
                }
                _ => return Err(Fail::new(span, "it has no place that could be written")),
            }
            Ok(Prepared::Done)
        }
    }
}

/// A value that a method of a base type is called on, with the type it is boxed as.
fn boxed_value(value: Val, callee: &Callee, types: Types<'_>) -> Val {
    let _ = callee;
    match value {
        Val::Scalar(scalar) if !matches!(scalar, Scalar::String(_)) => {
            let ty =
                super::bind::well_known::type_of_kind(types, scalar.kind()).unwrap_or(Type::OBJECT);
            Val::Boxed(ty, Box::new(Val::Scalar(scalar)))
        }
        Val::Struct(place) => Val::Boxed(place.ty.clone(), Box::new(Val::Struct(place))),
        other => other,
    }
}

/// A value as an argument for a parameter of a type.
fn pass(reader: &Reader<'_>, value: Val, wanted: &Type, span: Span) -> Result<Passed> {
    let told = |why: Unreadable| Fail::new(span, format!("it cannot be passed: {why}"));
    Ok(match value {
        Val::Null if wanted.is_value() != Some(true) => Passed::Ready(Argument::Null),
        Val::Scalar(Scalar::String(units)) => Passed::Text(units.to_vec()),
        Val::Object(object) => Passed::Ready(Argument::Object(reader.hold(&object).map_err(told)?)),
        Val::Boxed(ty, inner) => {
            let bytes = bytes_of(reader, &inner, &ty, span)?;
            Passed::Box(ty, bytes)
        }
        Val::Made(made) if wanted.is_reference() => match &*made {
            Made::Sequence(ty, items, _) if matches!(ty, Type::SzArray(_)) => {
                let element = ty.element().cloned().unwrap_or(Type::OBJECT);
                if element.is_value() != Some(true) {
                    return Err(Fail::new(
                        span,
                        "an array of references that exists only here cannot be passed to the program",
                    ));
                }
                let mut bytes = Vec::new();
                for item in items {
                    bytes.extend(bytes_of(reader, item, &element, span)?);
                }
                let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
                Passed::Array(element, count, bytes)
            }
            Made::Type(ty) => Passed::Type(ty.clone()),
            Made::Closure(_) => {
                return Err(Fail::new(
                    span,
                    "a lambda cannot be passed to code of the program: it exists only in the debugger",
                )
                .hint("LINQ operators, ForEach and the searching methods of List<T> are computed here and take lambdas; other code takes a delegate that the program has"));
            }
            _ => {
                return Err(Fail::new(
                    span,
                    "a value that exists only in the debugger cannot be passed to code of the program",
                ));
            }
        },
        other => {
            let bytes = bytes_of(reader, &other, wanted, span)?;
            Passed::Ready(Argument::Bytes {
                ty: wanted.clone(),
                bytes,
            })
        }
    })
}

/// The bytes of a value of a value type, as the program stores them.
fn bytes_of(reader: &Reader<'_>, value: &Val, ty: &Type, span: Span) -> Result<Vec<u8>> {
    let told = |why: Unreadable| Fail::new(span, format!("it cannot be passed: {why}"));
    let size = reader.size_of(ty).map_err(told)? as usize;
    if let Some(inner) = reader.types.nullable_of(ty) {
        let mut bytes = vec![0; size];
        if !matches!(value, Val::Null) {
            let part = bytes_of(reader, value, &inner, span)?;
            for member in reader.struct_members(ty).map_err(told)?.iter() {
                let (at, part): (usize, &[u8]) = match &*member.field.name {
                    "hasValue" => (member.offset as usize, &[1]),
                    _ => (member.offset as usize, &part),
                };
                if let Some(to) = bytes.get_mut(at..at + part.len()) {
                    to.copy_from_slice(part);
                }
            }
        }
        return Ok(bytes);
    }
    match value {
        Val::Scalar(scalar) => match scalar.to_bytes() {
            Some(bytes) if bytes.len() == size => Ok(bytes),
            _ => Err(Fail::new(span, "a value is not of the type that is wanted")),
        },
        Val::Boxed(_, inner) => bytes_of(reader, inner, ty, span),
        Val::Struct(place) => reader.bytes(place, size as u32).map_err(told),
        Val::Made(made) => match &**made {
            Made::Default(_) => Ok(vec![0; size]),
            Made::Fields(_, fields) => {
                let mut bytes = vec![0; size];
                for member in reader.struct_members(ty).map_err(told)?.iter() {
                    let field = fields.iter().find(|(name, _)| *name == member.field.name);
                    let Some((_, value)) = field else { continue };
                    if member.field.ty.is_value() != Some(true) {
                        if matches!(value, Val::Null) {
                            continue;
                        }
                        return Err(Fail::new(
                            span,
                            "a struct with references that exists only here cannot be passed to the program",
                        ));
                    }
                    let part = bytes_of(reader, value, &member.field.ty, span)?;
                    let at = member.offset as usize;
                    if let Some(to) = bytes.get_mut(at..at + part.len()) {
                        to.copy_from_slice(&part);
                    }
                }
                Ok(bytes)
            }
            _ => Err(Fail::new(
                span,
                "the value cannot be passed to code of the program",
            )),
        },
        _ => Err(Fail::new(span, "a value is not of the type that is wanted")),
    }
}

impl Engine<'_> {
    /// Brings a prepared effect about and notes what came of it; `root` is the variable to be set, if one is.
    pub(super) fn bring_about(
        &mut self,
        prepared: Prepared,
        site: &CallSite,
        deadline: Instant,
        root: impl Fn(&mut Self, usize) -> Option<cordebug::value::Value>,
        journal: &mut Journal,
    ) -> Result<()> {
        let mut site = site.clone();
        match prepared {
            Prepared::Done => journal.done(Val::Null),
            Prepared::Refer { variable, to, span } => {
                let to = self.ready(to, &site, span)?;
                let address = match to {
                    Argument::Null => 0,
                    Argument::Object(held) | Argument::Boxed(held) => held
                        .runtime_value()
                        .reference_address()
                        .ok()
                        .flatten()
                        .unwrap_or(0),
                    Argument::Bytes { .. } | Argument::Reference(..) => {
                        return Err(Fail::new(span, "only a reference can be assigned here"));
                    }
                };
                let Some(root) = root(self, variable) else {
                    return Err(Fail::new(
                        span,
                        "the variable has no place that could be written",
                    ));
                };
                root.set_reference(address)
                    .map_err(|error| Fail::new(span, format!("it cannot be written: {error}")))?;
                journal.done(Val::Null);
            }
            Prepared::Construct { ty, span } => {
                site.limit = left(deadline);
                let outcome = self
                    .construct_class(&site, &ty)
                    .map_err(|error| Fail::of_call(span, Some("class constructor"), error))?;
                let threw = match outcome {
                    Outcome::Returned(_) => None,
                    Outcome::Threw(kept) => Some(self.thrown(&kept, span)),
                };
                journal.constructed(ty, threw);
            }
            Prepared::Call {
                callee,
                this,
                arguments,
                references,
                exact,
                span,
            } => {
                let this = match this {
                    Some(this) => Some(self.in_place(this, &site, span)?),
                    None => None,
                };
                let mut ready = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    ready.push(self.ready(argument, &site, span)?);
                }
                let mut arrays = Vec::with_capacity(references.len());
                for (index, ty) in references {
                    let Some(argument) = ready.get_mut(index) else {
                        continue;
                    };
                    let array = self.home_of(argument, &ty, &site, span)?;
                    arrays.push(array.clone());
                    *argument = Argument::Reference(array, ty);
                }
                if Instant::now() >= deadline {
                    return Err(Fail::new(
                        span,
                        "the evaluation took longer than its time limit",
                    ));
                }
                site.limit = left(deadline);
                let told = |error| Fail::of_call(span, Some(&callee.method.name), error);
                let past = match (&this, exact) {
                    (Some(this), true) => {
                        Some(self.past_override(&callee, this, &site).map_err(told)?)
                    }
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
                let returned = matches!(outcome, Outcome::Returned(_));
                self.note(outcome, span, journal)?;
                if returned {
                    arrays.into_iter().for_each(|array| journal.left(array));
                }
            }
        }
        Ok(())
    }

    /// A place in the program that an argument can be passed by reference from: the element of an array made for it, or a
    /// box, as the library makes no arrays of structs.
    fn home_of(
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
            Argument::Null | Argument::Reference(..) => {}
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

    /// Makes what has to exist in the program before it can be passed.
    fn ready(&mut self, passed: Passed, site: &CallSite, span: Span) -> Result<Argument> {
        let told = |error: CallError| Fail::of_call(span, None, error);
        Ok(match passed {
            Passed::Ready(argument) => argument,
            Passed::Text(units) => {
                let kept = self.new_string(site, &units).map_err(told)?;
                self.held(&kept, span)?
            }
            Passed::Box(ty, bytes) => self.box_value(site, &ty, &bytes).map_err(told)?,
            Passed::Type(ty) => Argument::Object(self.type_object(site, &ty).map_err(told)?),
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
