//! Values while an expression runs.

use std::cell::RefCell;
use std::rc::Rc;

use super::lazy::Lazy;
use crate::expressions::plan::Closure;
use crate::expressions::scalar::Scalar;
use crate::types::Type;
use crate::values::{Object, Value};

/// A value. Of a nullable type it is null or the value inside.
#[derive(Debug, Clone)]
pub(crate) enum Val {
    /// Null of any type.
    Null,
    /// A primitive, an enum's number, a string that we made.
    Scalar(Scalar),
    /// An object of the program.
    Object(Object),
    /// A struct of the program.
    Struct(Value),
    /// A value type's value as an object, made by us.
    Boxed(Type, Box<Val>),
    /// Something that exists only here.
    Made(Rc<Made>),
}

/// What exists only in the debugger.
#[derive(Debug)]
pub(crate) enum Made {
    /// A tuple, struct or anonymous object, by its fields.
    Fields(Type, Vec<(Rc<str>, Val)>),
    /// A struct whose fields are all zero.
    Default(Type),
    /// An array, list or sequence; that of a group has a key, a dictionary or lookup may have a comparer there.
    Sequence(Type, Vec<Val>, Option<Val>),
    /// A lambda, with the variables of enclosing lambdas as they were when it was made.
    Closure(Rc<Closure>, Vec<(u32, Val)>),
    /// A sequence whose elements are computed when they are asked for, each time anew.
    Lazy(Lazy),
    /// A span over a text, which has an address only while it is passed on.
    Span(Type, Val),
    /// `typeof(T)`
    Type(Type),
    /// An index or the two of a range.
    Index(Type, i64, bool),
    /// A range.
    Range(Type, Option<(i64, bool)>, Option<(i64, bool)>),
    /// The default comparer of a type.
    Comparer(Type),
}

impl Val {
    pub(super) fn bool(value: bool) -> Self {
        Val::Scalar(Scalar::Bool(value))
    }

    pub(super) fn int(value: i128) -> Self {
        Val::Scalar(Scalar::Int(crate::expressions::scalar::Kind::Int, value))
    }

    pub(super) fn text(text: &str) -> Self {
        Val::Scalar(Scalar::string(text))
    }

    pub(super) fn units(units: Vec<u16>) -> Self {
        Val::Scalar(Scalar::String(units.into()))
    }

    /// The comparer that a dictionary or lookup was made with; null is the default one.
    pub(super) fn comparer(&self) -> Self {
        match self {
            Val::Made(made) => match &**made {
                Made::Sequence(_, _, Some(comparer)) => comparer.clone(),
                _ => Val::Null,
            },
            _ => Val::Null,
        }
    }

    pub(super) fn sequence(ty: Type, items: Vec<Val>) -> Self {
        Val::Made(Rc::new(Made::Sequence(ty, items, None)))
    }

    /// The exact type of an object or of what we made; `None` for null and scalars, whose static type tells it.
    pub(super) fn exact_type(&self) -> Option<&Type> {
        match self {
            Val::Null | Val::Scalar(_) => None,
            Val::Object(object) => Some(&object.ty),
            Val::Struct(value) => Some(&value.ty),
            Val::Boxed(ty, _) => Some(ty),
            Val::Made(made) => match &**made {
                Made::Fields(ty, _)
                | Made::Default(ty)
                | Made::Sequence(ty, ..)
                | Made::Index(ty, ..)
                | Made::Range(ty, ..) => Some(ty),
                Made::Span(ty, _) => Some(ty),
                Made::Lazy(lazy) => Some(&lazy.ty),
                Made::Closure(..) | Made::Type(_) | Made::Comparer(_) => None,
            },
        }
    }
}

thread_local! {
    /// What is inside values that are being let go of.
    static LEFT: RefCell<Option<Vec<Val>>> = const { RefCell::new(None) };
}

/// An expression can nest values as deeply as it makes elements: they are let go of one after the other, not one inside the
/// other, which would need as deep a stack.
impl Drop for Made {
    fn drop(&mut self) {
        let mut inside = match self {
            Made::Fields(_, fields) => std::mem::take(fields).into_iter().map(|it| it.1).collect(),
            Made::Sequence(_, items, key) => {
                let mut items = std::mem::take(items);
                items.extend(key.take());
                items
            }
            Made::Closure(_, captured) => std::mem::take(captured)
                .into_iter()
                .map(|it| it.1)
                .collect(),
            Made::Lazy(lazy) => std::mem::take(&mut lazy.parts),
            _ => return,
        };
        inside.retain(|it| matches!(it, Val::Made(_) | Val::Boxed(..)));
        if inside.is_empty() {
            return;
        }
        let is_first = LEFT.with_borrow_mut(|left| match left {
            Some(left) => {
                left.append(&mut inside);
                false
            }
            None => {
                *left = Some(inside);
                true
            }
        });
        if !is_first {
            return;
        }
        let next = || {
            LEFT.with_borrow_mut(|left| {
                let next = left.as_mut().and_then(Vec::pop);
                if next.is_none() {
                    *left = None;
                }
                next
            })
        };
        while let Some(value) = next() {
            drop(value);
        }
    }
}
