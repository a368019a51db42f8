//! Arguments: what is passed to a call, matched with what the method takes.

use cordebug::eval::Eval;
use cordebug::types::element;
use metadata::signature::Primitive;

use crate::types::{Type, Types};
use crate::values::{Held, Reader, Result as ValueResult, Value};

use super::CallError;

/// Something that is passed to a call.
#[derive(Debug, Clone)]
pub(crate) enum Argument {
    /// `null`.
    Null,
    /// An object.
    Object(Held),
    /// A value of a value type, as its bytes.
    Bytes {
        /// Its type.
        ty: Type,
        /// As many as the type has.
        bytes: Vec<u8>,
    },
    /// A struct, in a box that was made for it.
    Boxed(Held),
    /// What is passed by reference, as a struct where it lies. It is only good until the program runs.
    Place(cordebug::value::Value, Type),
}

impl Argument {
    /// Its type; `None` for null.
    pub(crate) fn ty(&self) -> Option<&Type> {
        match self {
            Self::Null => None,
            Self::Object(held) | Self::Boxed(held) => Some(held.ty()),
            Self::Bytes { ty, .. } | Self::Place(_, ty) => Some(ty),
        }
    }

    /// The library's value to pass for a parameter of a type.
    pub(super) fn to_runtime(
        &self,
        types: Types<'_>,
        eval: &Eval,
        parameter: &Type,
    ) -> Result<cordebug::value::Value, CallError> {
        let made = |ty: &Type| -> Result<cordebug::value::Value, CallError> {
            let value = match ty {
                // A type made from a primitive's definition would give a struct, which cannot be set.
                Type::Primitive(primitive) if ty.is_value() == Some(true) => {
                    // The library makes no native integers; a long is passed alike.
                    eval.zero(match primitive {
                        Primitive::IntPtr | Primitive::UIntPtr => Primitive::I8 as u32,
                        other => *other as u32,
                    })
                }
                Type::SzArray(_) | Type::Array { .. } => eval.zero(element::CLASS),
                _ => eval.default_value(&types.to_runtime(ty)?),
            };
            value.map_err(|error| super::evaluate::refused(&error))
        };
        match self {
            Self::Null => made(&match parameter.without_ref() {
                Type::Primitive(Primitive::String) => Type::STRING,
                reference if reference.is_reference() => reference.clone(),
                _ => Type::OBJECT,
            }),
            Self::Object(held) => Ok(held.runtime_value()),
            Self::Place(place, _) => Ok(place.clone()),
            Self::Boxed(held) => held
                .inner()
                .map_err(|error| super::evaluate::refused(&error)),
            Self::Bytes { ty, bytes } => {
                // An enum is passed as the number that it is.
                let number = ty.underlying().map(Type::Primitive);
                let value = made(number.as_ref().unwrap_or(ty))?;
                value
                    .set_bytes(bytes)
                    .map_err(|error| super::evaluate::refused(&error))?;
                Ok(value)
            }
        }
    }

    /// Whether it is a struct that must be put into a box before the library takes it.
    pub(super) fn needs_box(&self) -> Option<(&Type, &[u8])> {
        match self {
            Self::Bytes { ty, bytes } if ty.underlying().is_none() => Some((ty, bytes)),
            _ => None,
        }
    }

    /// Whether it can be passed for a parameter of a type; if not, why.
    pub(super) fn fits(
        &self,
        types: Types<'_>,
        parameter: &Type,
    ) -> std::result::Result<(), String> {
        let wanted = parameter.without_ref();
        let Some(ty) = self.ty() else {
            return if wanted.is_reference() {
                Ok(())
            } else {
                Err(format!("null is no {}", types.text(wanted)))
            };
        };
        let mismatch = || Err(format!("{} is no {}", types.text(ty), types.text(wanted)));
        if ty == wanted {
            return Ok(());
        }
        match (ty.is_value(), wanted.is_value()) {
            // Numbers that are stored alike are alike to the runtime.
            (Some(true), Some(true)) => match (ty.underlying(), wanted.underlying()) {
                (Some(given), Some(taken)) if given == taken => Ok(()),
                _ => mismatch(),
            },
            // A number where an object is expected ends the program: it must be boxed before.
            (Some(true), _) if !matches!(self, Self::Object(_)) => Err(format!(
                "{} must be boxed to be a {}",
                types.text(ty),
                types.text(wanted)
            )),
            (_, Some(true)) => mismatch(),
            _ if *wanted == Type::OBJECT => Ok(()),
            _ => {
                let named = types.named(wanted);
                // What arrays implement the runtime makes up, and variance is its business too.
                let is_sure = named.as_ref().is_none_or(|it| {
                    it.kind != crate::types::Kind::Interface && wanted.element().is_none()
                });
                let derives =
                    named.is_some_and(|named| types.derives_from(ty, &named).unwrap_or(true));
                if derives || !is_sure {
                    Ok(())
                } else {
                    mismatch()
                }
            }
        }
    }
}

impl Reader<'_> {
    /// A value as an argument: objects are held, values of value types copied.
    pub(crate) fn argument(&self, value: &Value) -> ValueResult<Argument> {
        let value = self.behind_ref(value)?;
        if value.ty.is_value() == Some(true) {
            let size = self.size_of(&value.ty)?;
            return Ok(Argument::Bytes {
                bytes: self.bytes(&value, size)?,
                ty: value.ty,
            });
        }
        Ok(match self.object(&value)? {
            Some(object) => Argument::Object(self.hold(&object)?),
            None => Argument::Null,
        })
    }
}
