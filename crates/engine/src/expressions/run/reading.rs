//! Reads what the program has: variables of the debugger's own, fields, statics, and what a place holds.

use std::rc::Rc;

use syntax::Span;
use syntax::tree::PseudoVariable;

use super::{Made, Result, Runner, Val, null_reference, well_known};
use crate::expressions::error::Fail;
use crate::expressions::plan::FieldRef;
use crate::expressions::scalar::{Kind, Scalar};
use crate::types::Type;
use crate::values::{Object, Reader, Unreadable};

/// Units of a text that is evaluated as a whole.
pub(super) const LONGEST: u32 = 1 << 24;

impl Runner<'_, '_> {
    /// The text of a string object.
    pub(super) fn units(&self, object: &Object, span: Span) -> Result<Vec<u16>> {
        let (units, length) = self
            .reader
            .string_units(object, LONGEST)
            .map_err(|why| self.unreadable(&why, span))?;
        if length > u64::from(LONGEST) {
            return Err(Fail::new(
                span,
                format!(
                    "the string has {length} characters, which is too long to be evaluated: at most {LONGEST} are; its parts can be read as those of a variable"
                ),
            )
            .into());
        }
        Ok(units)
    }

    pub(super) fn pseudo(&mut self, pseudo: PseudoVariable, span: Span) -> Result<Val> {
        let (pid, tid, hits) = self.around.numbers;
        Ok(match pseudo {
            PseudoVariable::ProcessId => Val::int(pid.into()),
            PseudoVariable::ThreadId => Val::int(tid.into()),
            PseudoVariable::HitCount => Val::Scalar(Scalar::Int(Kind::Long, hits.into())),
            _ => match (self.around.special)(pseudo) {
                Some(value) => self.decode(&value, span)?,
                None => return Err(Fail::new(span, format!("{pseudo} has no value here")).into()),
            },
        })
    }

    /// A field of an object, struct or made value.
    pub(super) fn field(&mut self, target: &Val, field: &FieldRef, span: Span) -> Result<Val> {
        match target {
            Val::Null => Err(null_reference(span)),
            Val::Object(object) => {
                let read = self.reader.declared_field(object, field);
                let value = read.map_err(|why| self.unreadable(&why, span))?;
                self.decode(&value, span)
            }
            Val::Struct(value) => {
                let value = self
                    .reader
                    .field(value, &field.name)
                    .map_err(|why| self.unreadable(&why, span))?;
                self.decode(&value, span)
            }
            Val::Boxed(_, inner) => self.field(&inner.clone(), field, span),
            Val::Made(made) => match &**made {
                Made::Fields(_, fields) => {
                    match fields.iter().find(|(name, _)| *name == field.name) {
                        Some((_, value)) => Ok(value.clone()),
                        None => Ok(self.default(&field.ty)),
                    }
                }
                Made::Default(_) => Ok(self.default(&field.ty)),
                Made::Index(_, number, from_end) if &*field.name == "_value" => {
                    Ok(Val::int(if *from_end { !*number } else { *number }.into()))
                }
                Made::Range(_, start, _) if &*field.name == "<Start>k__BackingField" => {
                    Ok(index(&field.ty, start.unwrap_or((0, false))))
                }
                Made::Range(_, _, end) if &*field.name == "<End>k__BackingField" => {
                    Ok(index(&field.ty, end.unwrap_or((0, true))))
                }
                Made::Span(_, text) if &*field.name == "_length" => {
                    let units = self.string_of(text, span)?.unwrap_or_default();
                    Ok(Val::int(units.len() as i128))
                }
                Made::Sequence(_, items, _) => match &*field.name {
                    // Of a list and of a span.
                    "_size" | "_length" => Ok(Val::int(items.len() as i128)),
                    _ => Err(Fail::new(
                        span,
                        format!("a value that was made here has no field `{}`", field.name),
                    )
                    .into()),
                },
                _ => Err(Fail::new(
                    span,
                    format!("a value that was made here has no field `{}`", field.name),
                )
                .into()),
            },
            Val::Scalar(value) => self.scalar_field(value, field, span),
        }
    }

    /// A field of a primitive: the only one that is used is its value.
    pub(super) fn scalar_field(&self, value: &Scalar, field: &FieldRef, span: Span) -> Result<Val> {
        match (&*field.name, value) {
            ("m_value" | "_value" | "value__", _) => Ok(Val::Scalar(value.clone())),
            ("_stringLength", Scalar::String(units)) => Ok(Val::int(units.len() as i128)),
            _ => Err(Fail::new(
                span,
                format!(
                    "`{}` of a value that was computed cannot be read",
                    field.name
                ),
            )
            .into()),
        }
    }

    pub(super) fn static_field(&mut self, field: &FieldRef, span: Span) -> Result<Val> {
        let fields = self.types.fields(&field.declared_in);
        let found = fields
            .ok()
            .and_then(|all| all.iter().find(|it| it.token == field.token).cloned());
        let Some(found) = found else {
            return Err(
                Fail::new(span, format!("the static field `{}` is gone", field.name)).into(),
            );
        };
        self.constructed(field, span)?;
        let read = self
            .reader
            .static_field(&field.declared_in, &found, self.around.frame);
        if read.is_err()
            && let Some(fixed) = self.fixed_static(field)
        {
            return Ok(fixed);
        }
        let value = read.map_err(|why| match why {
            Unreadable::NotConstructed { .. }
            | Unreadable::ConstructorThrew { .. }
            | Unreadable::NotInitialized => self.construct(field, &why, span),
            why => self.unreadable(&why, span),
        })?;
        self.decode(&value, span)
    }

    /// What a place of the program holds.
    pub(super) fn decode(&self, value: &crate::values::Value, span: Span) -> Result<Val> {
        Ok(decode(self.reader, value, span)?)
    }
}

/// An index that is made here.
fn index(ty: &Type, (number, from_end): (i64, bool)) -> Val {
    Val::Made(Rc::new(Made::Index(ty.clone(), number, from_end)))
}

/// What a place of the program holds.
pub(in crate::expressions) fn decode(
    reader: &Reader<'_>,
    value: &crate::values::Value,
    span: Span,
) -> Result<Val, Box<Fail>> {
    let fail = |why: Unreadable| unreadable(&why, span);
    let value = reader.behind_ref(value).map_err(fail)?;
    if let crate::values::Place::Text(units) = &value.place {
        return Ok(Val::units(units.to_vec()));
    }
    let ty = &value.ty;
    if ty.is_value() == Some(true) {
        let kind = ty
            .underlying()
            .and_then(well_known::primitive_kind)
            .or_else(|| well_known::kind(reader.types, ty));
        if let Some(kind) = kind {
            let bytes = reader.bytes(&value, kind.size() as u32).map_err(fail)?;
            return match Scalar::from_bytes(kind, &bytes) {
                Some(scalar) => Ok(Val::Scalar(scalar)),
                None => Err(Fail::new(span, "its bytes are not a value of its type")),
            };
        }
        if reader.types.nullable_of(ty).is_some() {
            let flag = reader.field(&value, "hasValue").map_err(fail)?;
            return match decode(reader, &flag, span)? {
                Val::Scalar(Scalar::Bool(true)) => {
                    let inner = reader.field(&value, "value").map_err(fail)?;
                    decode(reader, &inner, span)
                }
                _ => Ok(Val::Null),
            };
        }
        return Ok(Val::Struct(value));
    }
    match reader.object(&value).map_err(fail)? {
        None => Ok(Val::Null),
        Some(object) => Ok(Val::Object(object)),
    }
}

/// Why something cannot be read, as C# would throw it where it would.
pub(super) fn unreadable(why: &Unreadable, span: Span) -> Box<Fail> {
    match why {
        Unreadable::Null { .. } => Fail::thrown(
            span,
            "System.NullReferenceException",
            Some("Object reference not set to an instance of an object.".into()),
        ),
        Unreadable::OutOfRange { .. } => Fail::thrown(
            span,
            "System.IndexOutOfRangeException",
            Some("Index was outside the bounds of the array.".into()),
        ),
        Unreadable::ConstructorThrew { ty } => Fail::thrown(
            span,
            "System.TypeInitializationException",
            Some(format!(
                "The type initializer for '{ty}' threw an exception."
            )),
        ),
        _ => Fail::new(span, format!("it cannot be read: {why}")),
    }
}
