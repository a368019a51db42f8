//! What a run asks for, read and made ready for the program: arguments, and what goes where when something is assigned.

use std::rc::Rc;

use syntax::Span;

use super::error::{Fail, Result};
use super::plan::{Callee, FieldRef};
use super::run::{Effect, Home, HomeRoot, HomeStep, Made, Store, Val, decode};
use super::scalar::Scalar;
use crate::calls::Argument;
use crate::types::{Method, Type, Types};
use crate::values::{Held, Place, Reader, Unreadable};

/// Elements of an array of references that is made for a call; each may have to be made first.
const MAX_ELEMENTS: usize = 1_000;
/// Structs inside structs that are looked at.
const MAX_DEPTH: u32 = 16;

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
    /// A struct with references that has to be made first, in a box; whether it is passed as an object.
    Struct(Type, Vec<Leaf>, bool),
    /// An array with references that has to be made first: the type of its elements, and what each holds.
    Elements(Type, Vec<Vec<Leaf>>),
    /// A struct where it lies.
    Place(Spot, Type),
    /// A span over a text: the type, and the text.
    Span(Type, Box<Passed>),
}

/// A part of a value that is written as one: a reference, or bytes without any; and the fields that lead to it.
pub(super) struct Leaf {
    pub(super) path: Vec<FieldRef>,
    pub(super) value: Passed,
}

/// A place in the program, by a way that leads there over runs of it.
pub(super) struct Spot {
    pub(super) root: SpotRoot,
    pub(super) steps: Vec<HomeStep>,
}

/// Where the way to a place begins.
pub(super) enum SpotRoot {
    Variable(usize),
    Static(FieldRef),
    Object(Held),
    /// A call that returns by reference, made when the place is needed.
    Led(Option<Box<Calling>>),
}

/// A call with everything that could be read for it.
pub(super) struct Calling {
    pub(super) callee: Rc<Callee>,
    pub(super) this: Option<Passed>,
    pub(super) arguments: Vec<Passed>,
    /// Which arguments are passed by reference, their types, and the ways to their places.
    pub(super) references: Vec<(usize, Type, Option<Spot>)>,
    /// Whether exactly this method is meant although the object's own type overrides it.
    pub(super) exact: bool,
    pub(super) span: Span,
}

/// An effect with everything that could be read for it.
pub(super) enum Prepared {
    Call(Box<Calling>),
    /// A call that returns by reference, and what is to be put where it leads.
    Refer(Box<Calling>, Option<Stored>),
    /// A class constructor is to be run; with a field, the thread is to have its own of that.
    Construct {
        ty: Type,
        own: Option<metadata::Token>,
        span: Span,
    },
    /// A delegate of a method is to be made.
    Delegate {
        method: Box<Method>,
        target: Passed,
        ty: Type,
        span: Span,
    },
    /// An object is to be made.
    Make(Passed, Span),
    /// Done already.
    Done,
    /// Something is to be written through the library.
    Write {
        to: Spot,
        leaves: Vec<Leaf>,
        span: Span,
    },
}

/// What is put where a call leads.
pub(super) enum Stored {
    /// Bytes without references.
    Bytes(Vec<u8>),
    /// Parts, of which some are references.
    Leaves(Vec<Leaf>),
}

/// Reads what an effect needs; a plain write is done at once.
pub(super) fn prepare(reader: &Reader<'_>, effect: Effect) -> Result<Prepared> {
    if let Effect::Call {
        arguments, span, ..
    }
    | Effect::New {
        arguments, span, ..
    } = &effect
    {
        let target = match &effect {
            Effect::Call { target, home, .. } if home.is_none() => target.iter(),
            _ => None.iter(),
        };
        let mut all = target.chain(arguments);
        let found = all.find_map(|(value, ty)| not_loaded(reader, value, ty.without_ref()));
        if let Some(ty) = found {
            // The program would load it when it comes to code that uses it; then the effect is asked for again.
            let (own, span) = (None, *span);
            return Ok(Prepared::Construct { ty, own, span });
        }
    }
    let stored = match &effect {
        Effect::Write {
            place, value, span, ..
        } => Some((value, &place.ty, span)),
        Effect::Make { value, span } => Some((value, &Type::OBJECT, span)),
        _ => None,
    };
    if let Some((value, ty, span)) = stored
        && let Some(ty) = not_loaded(reader, value, ty)
    {
        let (own, span) = (None, *span);
        return Ok(Prepared::Construct { ty, own, span });
    }
    match effect {
        Effect::Refer { call, store } => {
            let span = match &*call {
                Effect::Call { span, .. } => *span,
                _ => Span::empty(0),
            };
            let store = match store {
                None => None,
                Some(Store { path, value, ty })
                    if !path.is_empty() || has_references(reader, &ty, 0) =>
                {
                    let (mut path, mut all) = (path, Vec::new());
                    add_leaves(reader, (&value, &ty), &mut path, &mut all, false, span)?;
                    Some(Stored::Leaves(all))
                }
                Some(Store { value, ty, .. }) => {
                    Some(Stored::Bytes(bytes_of(reader, &value, &ty, span)?))
                }
            };
            Ok(match prepare(reader, *call)? {
                Prepared::Call(call) => Prepared::Refer(call, store),
                other => other,
            })
        }
        Effect::Call {
            callee,
            target,
            home,
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
                    let ty_of_target = ty.clone();
                    let wanted = if own { ty } else { Type::OBJECT };
                    let boxed = matches!(wanted, Type::Primitive(_)) && wanted == Type::OBJECT;
                    let value = if boxed {
                        boxed_value(value, &ty_of_target, reader.types)
                    } else {
                        value
                    };
                    Some(match home {
                        Some(home) if own => Passed::Place(spot(reader, home, span)?, wanted),
                        _ => match pass(reader, value, &wanted, span)? {
                            // A struct that is in a box already is taken there.
                            Passed::Ready(Argument::Object(held)) if own && is_struct(&wanted) => {
                                Passed::Ready(Argument::Boxed(held))
                            }
                            passed => passed,
                        },
                    })
                }
                None => None,
            };
            let mut referred: Vec<(usize, Type, Option<Spot>)> = Vec::new();
            for (index, home) in references {
                if let Some((_, ty)) = arguments.get(index) {
                    let spot = home.map(|home| spot(reader, home, span)).transpose()?;
                    referred.push((index, ty.without_ref().clone(), spot));
                }
            }
            let references = referred;
            let is_empty = |value: &Val| match value {
                Val::Made(made) => matches!(**made, Made::Default(_)),
                value => matches!(value, Val::Null),
            };
            let arguments = arguments
                .into_iter()
                .enumerate()
                .map(|(index, (value, ty))| {
                    // What is empty before the call needs no bytes, and its type may not have been used yet.
                    if is_empty(&value) && references.iter().any(|(it, ..)| *it == index) {
                        return Ok(Passed::Ready(Argument::Null));
                    }
                    pass(reader, value, ty.without_ref(), span)
                })
                .collect::<Result<_>>()?;
            Ok(Prepared::Call(Box::new(Calling {
                callee,
                this,
                arguments,
                references,
                exact,
                span,
            })))
        }
        Effect::Make { value, span } => Ok(Prepared::Make(
            pass(reader, value, &Type::OBJECT, span)?,
            span,
        )),
        Effect::Construct { ty, own, span } => Ok(Prepared::Construct { ty, own, span }),
        Effect::Delegate {
            method,
            target,
            ty,
            span,
        } => Ok(Prepared::Delegate {
            method: Box::new(method),
            target: pass(reader, target, &Type::OBJECT, span)?,
            ty,
            span,
        }),
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
            Ok(Prepared::Call(Box::new(Calling {
                callee,
                this: None,
                arguments,
                references: Vec::new(),
                exact: false,
                span,
            })))
        }
        Effect::Write {
            home,
            place,
            value,
            span,
        } => {
            // Only the library may write references, because the collector must hear of them; and registers.
            if let Place::Memory(_) = place.place
                && !has_references(reader, &place.ty, 0)
            {
                let bytes = bytes_of(reader, &value, &place.ty, span)?;
                let written = reader.write(&place, &bytes);
                written.map_err(|why| Fail::new(span, format!("it cannot be written: {why}")))?;
                return Ok(Prepared::Done);
            }
            let Some(home) = home else {
                let told = "an element that holds references cannot be set through a span, an inline array or a part of what is returned by reference: the collector would not hear of it";
                return Err(
                    Fail::new(span, told).hint("set it in the array that the span leads to")
                );
            };
            Ok(Prepared::Write {
                leaves: leaves(reader, &value, &place.ty, false, span)?,
                to: spot(reader, home, span)?,
                span,
            })
        }
    }
}

/// The struct that a value is passed as, or that its elements are, if the runtime has not loaded it: nobody knows its layout.
fn not_loaded(reader: &Reader<'_>, value: &Val, wanted: &Type) -> Option<Type> {
    let exact = match value {
        Val::Boxed(ty, _) => ty,
        Val::Made(made) => match &**made {
            Made::Fields(ty, _) | Made::Sequence(ty, ..) => ty,
            _ => wanted,
        },
        Val::Struct(place) => &place.ty,
        Val::Null | Val::Scalar(_) => wanted,
        _ => return None,
    };
    let of = |ty: &Type| match ty {
        Type::SzArray(element) => (**element).clone(),
        other => other.clone(),
    };
    let lacks = |ty: &Type| is_struct(ty) && !ty.is_open() && !reader.is_loaded(ty);
    [of(exact), wanted.clone()].into_iter().find(lacks)
}

fn is_struct(ty: &Type) -> bool {
    ty.is_value() == Some(true) && ty.as_named().is_some()
}

fn spot(reader: &Reader<'_>, home: Home, span: Span) -> Result<Spot> {
    let root = match home.root {
        HomeRoot::Variable(number) => SpotRoot::Variable(number),
        HomeRoot::Static(field) => SpotRoot::Static(field),
        HomeRoot::Object(object) => SpotRoot::Object(
            reader
                .hold(&object)
                .map_err(|why| Fail::new(span, format!("it cannot be written: {why}")))?,
        ),
        HomeRoot::Led(call) => match prepare(reader, *call)? {
            Prepared::Call(call) => SpotRoot::Led(Some(call)),
            _ => return Err(Fail::new(span, "what leads to the place is not loaded yet")),
        },
    };
    Ok(Spot {
        root,
        steps: home.steps,
    })
}

/// Whether values of a type hold references.
fn has_references(reader: &Reader<'_>, ty: &Type, depth: u32) -> bool {
    // Pointers are numbers to the collector's eyes, and what a span refers to cannot be written by anybody.
    if matches!(ty, Type::Pointer(_) | Type::ByRef(_) | Type::Function(_)) {
        return false;
    }
    if ty.is_value() != Some(true) || depth > MAX_DEPTH {
        return true;
    }
    if ty.underlying().is_some() {
        return false;
    }
    let members = reader.struct_members(ty);
    members.map_or(true, |members| {
        let mut types = members.iter().map(|it| &it.field.ty);
        types.any(|it| has_references(reader, it, depth + 1))
    })
}

/// What a value is written as, part by part: references one by one, the rest as bytes. A new place holds nothing before.
fn leaves(
    reader: &Reader<'_>,
    value: &Val,
    ty: &Type,
    is_new: bool,
    span: Span,
) -> Result<Vec<Leaf>> {
    let mut all = Vec::new();
    add_leaves(reader, (value, ty), &mut Vec::new(), &mut all, is_new, span)?;
    Ok(all)
}

fn add_leaves(
    reader: &Reader<'_>,
    (value, ty): (&Val, &Type),
    path: &mut Vec<FieldRef>,
    all: &mut Vec<Leaf>,
    is_new: bool,
    span: Span,
) -> Result<()> {
    if ty.is_value() != Some(true) {
        let value = pass(reader, value.clone(), ty, span)?;
        let path = path.clone();
        all.push(Leaf { path, value });
        return Ok(());
    }
    if !has_references(reader, ty, 0) {
        let bytes = bytes_of(reader, value, ty, span)?;
        let ty = ty.clone();
        let value = Passed::Ready(Argument::Bytes { ty, bytes });
        let path = path.clone();
        all.push(Leaf { path, value });
        return Ok(());
    }
    if path.len() > MAX_DEPTH as usize {
        return Err(Fail::new(span, "its structs are nested too deeply"));
    }
    // Of its elements only the first is a field, through which the library could write.
    let is_buffer = |it| crate::values::buffer_length(reader.types, it).is_some();
    if ty.as_named().is_some_and(is_buffer) {
        return match value {
            Val::Made(made) if is_new && matches!(**made, Made::Default(_)) => Ok(()),
            _ => Err(Fail::new(
                span,
                "references in an inline array can only be set one by one",
            )
            .hint("assign its elements: a[0] = …")),
        };
    }
    let told = |why: Unreadable| Fail::new(span, format!("it cannot be passed: {why}"));
    let is_nullable = reader.types.nullable_of(ty).is_some();
    for member in reader.struct_members(ty).map_err(told)?.iter() {
        let field = &member.field;
        let part = match value {
            Val::Boxed(_, inner) if !is_nullable => {
                return add_leaves(reader, (inner, ty), path, all, is_new, span);
            }
            Val::Null if is_nullable => empty(&field.ty),
            value if is_nullable && &*field.name == "hasValue" => {
                let _ = value;
                Val::Scalar(Scalar::Bool(true))
            }
            value if is_nullable => value.clone(),
            Val::Struct(place) => {
                let part = reader.struct_member(place, member).map_err(told)?;
                decode(reader, &part, span)?
            }
            Val::Made(made) => match &**made {
                Made::Fields(_, fields) => {
                    let found = fields.iter().find(|(name, _)| *name == field.name);
                    found.map_or_else(|| empty(&field.ty), |(_, it)| it.clone())
                }
                Made::Default(_) => empty(&field.ty),
                _ => return Err(Fail::new(span, "a value is not of the type that is wanted")),
            },
            _ => return Err(Fail::new(span, "a value is not of the type that is wanted")),
        };
        path.push(FieldRef {
            declared_in: member.declared_in.clone(),
            name: field.name.clone(),
            token: field.token,
            ty: field.ty.clone(),
        });
        let added = add_leaves(reader, (&part, &field.ty), path, all, is_new, span);
        path.pop();
        added?;
    }
    Ok(())
}

/// What a field holds that nothing was put into.
fn empty(ty: &Type) -> Val {
    match ty.is_value() {
        Some(true) => Val::Made(Rc::new(Made::Default(ty.clone()))),
        _ => Val::Null,
    }
}

/// A value that a method of a base type is called on, with the type it is boxed as.
fn boxed_value(value: Val, declared: &Type, types: Types<'_>) -> Val {
    match value {
        Val::Scalar(scalar) if !matches!(scalar, Scalar::String(_)) => {
            let declared = types
                .nullable_of(declared)
                .unwrap_or_else(|| declared.clone());
            // An enum's number is boxed as the enum.
            let is_enum = declared
                .as_named()
                .is_some_and(|it| matches!(it.kind, crate::types::Kind::Enum(_)));
            let ty = if is_enum {
                declared
            } else {
                super::bind::well_known::type_of_kind(types, scalar.kind()).unwrap_or(Type::OBJECT)
            };
            Val::Boxed(ty, Box::new(Val::Scalar(scalar)))
        }
        Val::Struct(place) => Val::Boxed(place.ty.clone(), Box::new(Val::Struct(place))),
        other => other,
    }
}

/// A value as an argument for a parameter of a type.
fn pass(reader: &Reader<'_>, value: Val, wanted: &Type, span: Span) -> Result<Passed> {
    let told = |why: Unreadable| Fail::new(span, format!("it cannot be passed: {why}"));
    if let Val::Made(made) = &value
        && let Made::Span(ty, text) = &**made
    {
        let text = pass(reader, text.clone(), &Type::STRING, span)?;
        return Ok(Passed::Span(ty.clone(), Box::new(text)));
    }
    Ok(match value.clone() {
        Val::Null if wanted.is_value() != Some(true) => Passed::Ready(Argument::Null),
        Val::Scalar(Scalar::String(units)) => Passed::Text(units.to_vec()),
        Val::Object(object) => Passed::Ready(Argument::Object(reader.hold(&object).map_err(told)?)),
        Val::Boxed(ty, inner) if has_references(reader, &ty, 0) => {
            let leaves = leaves(reader, &inner, &ty, true, span)?;
            Passed::Struct(ty, leaves, true)
        }
        Val::Boxed(ty, inner) => {
            let bytes = bytes_of(reader, &inner, &ty, span)?;
            Passed::Box(ty, bytes)
        }
        Val::Made(made) if wanted.is_reference() => match &*made {
            Made::Fields(ty, _) | Made::Default(ty) if ty.is_value() == Some(true) => {
                Passed::Struct(ty.clone(), leaves(reader, &value, ty, true, span)?, true)
            }
            Made::Sequence(ty, items, _) if matches!(ty, Type::SzArray(_)) => {
                let element = ty.element().cloned().unwrap_or(Type::OBJECT);
                if has_references(reader, &element, 0) {
                    if items.len() > MAX_ELEMENTS {
                        return Err(Fail::new(
                            span,
                            format!(
                                "an array of more than {MAX_ELEMENTS} references that exists only here cannot be passed to the program"
                            ),
                        ));
                    }
                    let items = items.iter();
                    let all = items.map(|it| leaves(reader, it, &element, true, span));
                    return Ok(Passed::Elements(
                        element.clone(),
                        all.collect::<Result<_>>()?,
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
            Made::Closure(..) => {
                return Err(Fail::new(
                    span,
                    "a lambda cannot be put into the program: it exists only in the debugger",
                )
                .hint("use a delegate that the program has, such as one of its methods' results"));
            }
            _ => {
                return Err(Fail::new(
                    span,
                    "a value that exists only in the debugger cannot be passed to code of the program",
                ));
            }
        },
        Val::Made(made) if matches!(*made, Made::Index(..) | Made::Range(..)) => {
            let bytes = bytes_of(reader, &value, wanted, span)?;
            let ty = wanted.clone();
            Passed::Ready(Argument::Bytes { ty, bytes })
        }
        // The collector may move what it refers to before it is passed.
        Val::Made(_) | Val::Struct(_) if has_references(reader, wanted, 0) => Passed::Struct(
            wanted.clone(),
            leaves(reader, &value, wanted, true, span)?,
            false,
        ),
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
    // The program may not have used these yet, but what they consist of is known.
    if let Val::Made(made) = value {
        match &**made {
            Made::Index(_, number, from_end) => {
                return Ok(index_bytes(*number, *from_end).to_vec());
            }
            Made::Range(_, start, end) => {
                let (start, end) = (start.unwrap_or((0, false)), end.unwrap_or((0, true)));
                let ends = [start, end].map(|(number, from_end)| index_bytes(number, from_end));
                return Ok(ends.concat());
            }
            _ => {}
        }
    }
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

/// `System.Index`: a number from the start, or the complement of one from the end.
fn index_bytes(number: i64, from_end: bool) -> [u8; 4] {
    let number = if from_end { !number } else { number };
    (number as i32).to_le_bytes()
}
