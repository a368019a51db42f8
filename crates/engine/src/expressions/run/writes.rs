//! Assignments and initialisers: where a value goes, and what is made of several.

use std::rc::Rc;

use syntax::Span;

use super::effects::Effect;
use super::{Made, Result, Runner, Val, null_reference};
use crate::expressions::error::Fail;
use crate::expressions::plan::{Callee, FieldRef, Initial, Node, Op};
use crate::types::Type;
use crate::values::Value;

impl Runner<'_, '_> {
    /// Assigns.
    pub(super) fn write(&mut self, place: &Node, value: Val, node: &Node) -> Result<Val> {
        let span = node.span;
        if !self.around.writes {
            return Err(Fail::new(
                span,
                "an assignment changes the program, which is not allowed here",
            )
            .hint("allow side effects for this evaluation")
            .into());
        }
        if let Op::Call(callee, target, arguments) = &place.op {
            return self.set_property(callee, target.as_deref(), arguments, value, span);
        }
        let (variable, at) = self.place(place)?;
        let written = value.clone();
        self.effect(span, || Effect::Write {
            variable,
            place: at,
            value,
            span,
        })?;
        Ok(written)
    }

    pub(super) fn set_property(
        &mut self,
        getter: &Rc<Callee>,
        target: Option<&Node>,
        arguments: &[Node],
        value: Val,
        span: Span,
    ) -> Result<Val> {
        let properties = self
            .types
            .properties(&getter.method.declared_in)
            .unwrap_or_default();
        let setter = properties
            .iter()
            .find(|it| it.getter == Some(getter.method.token))
            .and_then(|it| it.setter)
            .and_then(|token| self.types.method(&getter.method.declared_in, token).ok());
        let Some(setter) = setter else {
            return Err(Fail::cs("CS0200", span, "the property has no setter").into());
        };
        let target = match target {
            Some(target) => Some((self.eval(target)?, target.ty.clone())),
            None => None,
        };
        let mut values = Vec::new();
        for argument in arguments {
            values.push(self.eval(argument)?);
        }
        values.push(value.clone());
        let parameters = setter.parameters.iter().map(|it| it.ty.clone());
        let arguments: Vec<(Val, Type)> = values.into_iter().zip(parameters).collect();
        let callee = Rc::new(Callee {
            is_virtual: getter.is_virtual,
            checked: false,
            arguments: Vec::new(),
            intrinsic: None,
            method: setter,
        });
        let exact = self.is_past_override(&callee, target.as_ref(), span)?;
        self.effect(span, || Effect::Call {
            callee,
            target,
            arguments,
            references: Vec::new(),
            exact,
            span,
        })?;
        Ok(value)
    }

    /// Where a variable, field or element lies.
    pub(super) fn place(&mut self, node: &Node) -> Result<(Option<usize>, Value)> {
        let span = node.span;
        match &node.op {
            Op::Variable(number) => {
                let value =
                    (self.around.variables)(*number).map_err(|why| self.unreadable(&why, span))?;
                let behind = self
                    .reader
                    .behind_ref(&value)
                    .map_err(|why| self.unreadable(&why, span))?;
                let is_ref = matches!(value.ty, Type::ByRef(_));
                Ok(((!is_ref).then_some(*number), behind))
            }
            Op::StaticField(field) => {
                let fields = self.types.fields(&field.declared_in);
                let found = fields
                    .ok()
                    .and_then(|all| all.iter().find(|it| it.token == field.token).cloned());
                let Some(found) = found else {
                    return Err(Fail::new(span, "the static field is gone").into());
                };
                let value = self
                    .reader
                    .static_field(&field.declared_in, &found, self.around.frame);
                Ok((None, value.map_err(|why| self.unreadable(&why, span))?))
            }
            Op::Field(target, field) if target.ty.is_reference() => match self.eval(target)? {
                Val::Null => Err(null_reference(span)),
                Val::Object(object) => {
                    let value = self.declared_field(&object, field);
                    Ok((None, value.map_err(|why| self.unreadable(&why, span))?))
                }
                _ => Err(Fail::new(
                    span,
                    "a value that exists only in the debugger cannot be written",
                )
                .into()),
            },
            Op::Field(target, field) => {
                let (variable, outer) = self.place(target)?;
                let value = self.reader.field(&outer, &field.name);
                Ok((variable, value.map_err(|why| self.unreadable(&why, span))?))
            }
            Op::Element(array, indices) => {
                let array = self.eval(array)?;
                let mut at = Vec::new();
                for index in indices {
                    let index = self.eval(index)?;
                    at.push(super::integer(&index).unwrap_or(-1));
                }
                let value = self.element_place(&array, &at, span)?;
                Ok((None, value))
            }
            _ => Err(Fail::cs(
                "CS0131",
                span,
                "the left side of an assignment must be a variable, property or indexer",
            )
            .into()),
        }
    }

    /// Sets up a new object.
    pub(super) fn initialize(
        &mut self,
        made: &Node,
        slot: u32,
        steps: &[Initial],
        node: &Node,
    ) -> Result<Val> {
        let mut value = self.eval(made)?;
        self.set(slot, value.clone());
        for step in steps {
            match step {
                Initial::Set(place, to) => {
                    let to = self.eval(to)?;
                    match (&place.op, &value) {
                        // What exists only here is made anew with the field.
                        (Op::Field(_, field), Val::Made(_) | Val::Struct(_)) => {
                            value = self.with_field(&value, field, to, node)?;
                            self.set(slot, value.clone());
                        }
                        (Op::Call(callee, target, arguments), _) => {
                            self.set_property(
                                callee,
                                target.as_deref(),
                                arguments,
                                to,
                                place.span,
                            )?;
                        }
                        _ => {
                            let (variable, at) = self.place(place)?;
                            let span = place.span;
                            self.effect(span, || Effect::Write {
                                variable,
                                place: at,
                                value: to,
                                span,
                            })?;
                        }
                    }
                }
                Initial::Add(call) => {
                    self.eval(call)?;
                }
            }
        }
        Ok(value)
    }

    pub(super) fn with_field(
        &mut self,
        value: &Val,
        field: &FieldRef,
        to: Val,
        node: &Node,
    ) -> Result<Val> {
        let fields = self
            .types
            .fields(&field.declared_in)
            .map_err(|error| Fail::new(node.span, error.to_string()))?;
        let mut all = Vec::new();
        for it in fields.iter().filter(|it| !it.flags.is_static()) {
            let reference = FieldRef {
                declared_in: field.declared_in.clone(),
                name: it.name.clone(),
                token: it.token,
                ty: it.ty.clone(),
            };
            let current = if it.token == field.token {
                to.clone()
            } else {
                self.field(value, &reference, node.span)?
            };
            all.push((it.name.clone(), current));
        }
        Ok(Val::Made(Rc::new(Made::Fields(node.ty.clone(), all))))
    }

    /// A value tuple, made here.
    pub(super) fn tuple(&self, ty: &Type, values: Vec<Val>) -> Val {
        let ty = self.types.nullable_of(ty).unwrap_or_else(|| ty.clone());
        let mut values = values;
        let mut fields: Vec<(Rc<str>, Val)> = Vec::new();
        if values.len() > 7 {
            let rest = values.split_off(7);
            let rest_ty = ty
                .as_named()
                .and_then(|it| it.arguments.get(7).cloned())
                .unwrap_or(Type::OBJECT);
            let rest = self.tuple(&rest_ty, rest);
            fields.extend(
                values
                    .into_iter()
                    .enumerate()
                    .map(|(index, it)| (Rc::from(format!("Item{}", index + 1)), it)),
            );
            fields.push(("Rest".into(), rest));
        } else {
            fields.extend(
                values
                    .into_iter()
                    .enumerate()
                    .map(|(index, it)| (Rc::from(format!("Item{}", index + 1)), it)),
            );
        }
        Val::Made(Rc::new(Made::Fields(ty, fields)))
    }
}
