//! Conversions of values.

use syntax::Span;

use super::{Made, Result, Runner, Val, thrown};
use crate::expressions::bind::well_known;
use crate::expressions::error::Fail;
use crate::expressions::plan::Conversion;
use crate::expressions::scalar::{self, Kind};
use crate::types::Type;

impl Runner<'_, '_> {
    pub(super) fn convert(
        &mut self,
        conversion: &Conversion,
        value: Val,
        from: &Type,
        to: &Type,
        span: Span,
    ) -> Result<Val> {
        Ok(match conversion {
            Conversion::Keep => value,
            Conversion::Numeric(kind, checked) => match value {
                Val::Null => Val::Null,
                Val::Scalar(number) => match scalar::convert(&number, *kind, *checked) {
                    Some(Ok(number)) => Val::Scalar(number),
                    Some(Err(fault)) => return Err(thrown(fault, span)),
                    None => return Err(super::misfit(span)),
                },
                _ => return Err(super::misfit(span)),
            },
            Conversion::Box => self.boxed(value, from),
            Conversion::Unbox => match value {
                Val::Null if self.types.nullable_of(to).is_some() => Val::Null,
                Val::Null => return Err(super::null_reference(span)),
                value => {
                    let wanted = self.types.nullable_of(to).unwrap_or_else(|| to.clone());
                    self.unboxed(value, &wanted, span)?
                }
            },
            Conversion::Cast => match value {
                Val::Null => Val::Null,
                value => {
                    if !self.is_of(&value, from, to) {
                        return Err(self.invalid_cast(&value, to, span));
                    }
                    value
                }
            },
            Conversion::Unwrap => match value {
                Val::Null => {
                    return Err(Fail::thrown(
                        span,
                        "System.InvalidOperationException",
                        Some("Nullable object must have a value.".into()),
                    )
                    .into());
                }
                value => value,
            },
            Conversion::As => {
                let wanted = self.types.nullable_of(to).unwrap_or_else(|| to.clone());
                if matches!(value, Val::Null) || !self.is_of(&value, from, &wanted) {
                    Val::Null
                } else if wanted.is_value() == Some(true) {
                    self.unboxed(value, &wanted, span)?
                } else {
                    value
                }
            }
        })
    }

    /// A value type's value as an object; references stay.
    pub(super) fn boxed(&self, value: Val, ty: &Type) -> Val {
        let inner = self.types.nullable_of(ty).unwrap_or_else(|| ty.clone());
        match value {
            Val::Scalar(_) | Val::Struct(_) | Val::Made(_) if inner.is_value() == Some(true) => {
                Val::Boxed(inner, Box::new(value))
            }
            value => value,
        }
    }

    fn unboxed(&mut self, value: Val, wanted: &Type, span: Span) -> Result<Val> {
        let exact = self.exact_type(&value);
        let same = exact.as_ref() == Some(wanted)
            // An enum unboxes as its number and the other way round.
            || exact.as_ref().and_then(Type::underlying).is_some_and(|it| Some(it) == wanted.underlying());
        if !same {
            return Err(self.invalid_cast(&value, wanted, span));
        }
        match value {
            Val::Boxed(_, inner) => Ok(*inner),
            Val::Object(object) => match self.reader.unboxed(&object) {
                Some(value) => self.decode(&value, span),
                None => Err(super::misfit(span)),
            },
            other => Ok(other),
        }
    }

    fn invalid_cast(&self, value: &Val, to: &Type, span: Span) -> super::Interrupt {
        let from = self.exact_type(value).map_or_else(
            || "the value".into(),
            |ty| format!("object of type '{}'", self.reflection_name(&ty)),
        );
        Fail::thrown(
            span,
            "System.InvalidCastException",
            Some(format!(
                "Unable to cast {from} to type '{}'.",
                self.reflection_name(to)
            )),
        )
        .into()
    }

    /// The exact type of a value, where the value itself tells it.
    pub(in crate::expressions) fn exact_type(&self, value: &Val) -> Option<Type> {
        match value {
            Val::Scalar(scalar) => well_known::type_of_kind(self.types, scalar.kind()),
            Val::Made(made) if matches!(**made, Made::Type(_)) => {
                self.types.core("System", "RuntimeType")
            }
            other => other.exact_type().cloned(),
        }
    }

    /// Whether a value that is not null is of a type; `declared` is its static type.
    pub(super) fn is_of(&self, value: &Val, declared: &Type, wanted: &Type) -> bool {
        let exact = match value {
            Val::Null => return false,
            // An enum's number is of the enum's type, not of its own.
            Val::Scalar(scalar) if scalar.kind() != Kind::String => {
                let declared = self
                    .types
                    .nullable_of(declared)
                    .unwrap_or_else(|| declared.clone());
                Some(declared).filter(|it| it.is_value() == Some(true))
            }
            value => self.exact_type(value),
        };
        let Some(exact) = exact.or_else(|| self.exact_type(value)) else {
            return *wanted == Type::OBJECT || declared == wanted;
        };
        if exact == *wanted || *wanted == Type::OBJECT {
            return true;
        }
        let context = crate::expressions::bind::Context::default();
        let binder = crate::expressions::bind::Binder::new(self.types, &context);
        binder.is_instance(&exact, wanted)
    }
}
