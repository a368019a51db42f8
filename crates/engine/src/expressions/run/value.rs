//! Values while an expression runs.

use std::rc::Rc;

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
    /// An array, list or sequence; that of a group has a key.
    Sequence(Type, Vec<Val>, Option<Val>),
    /// A lambda.
    Closure(Rc<Closure>),
    /// `typeof(T)`
    Type(Type),
    /// An index or the two of a range.
    Index(Type, i64, bool),
    /// A range.
    Range(Type, Option<(i64, bool)>, Option<(i64, bool)>),
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
                Made::Closure(_) | Made::Type(_) => None,
            },
        }
    }
}
