//! Initialisers: an object or struct is made, then set up step by step.

use std::rc::Rc;

use syntax::Span;

use super::{Effect, Made, Result, Runner, Val, null_reference};
use crate::expressions::error::Fail;
use crate::expressions::getters::field_set_by;
use crate::expressions::plan::{Callee, FieldRef, Initial, Node, Op};
use crate::types::Type;

impl Runner<'_, '_> {
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
        self.set_up(&mut value, slot, steps, node)?;
        Ok(value)
    }

    fn set_up(&mut self, value: &mut Val, slot: u32, steps: &[Initial], node: &Node) -> Result<()> {
        for step in steps {
            match step {
                Initial::Set(place, to) => {
                    let to = self.eval(to)?;
                    // A struct that exists only here is made anew with what is set.
                    let anew = match (&place.op, &*value) {
                        (Op::Field(of, field), Val::Made(_) | Val::Struct(_)) if is_slot(of) => {
                            Some(self.with_field(value, field, to.clone(), node)?)
                        }
                        (Op::Call(getter, Some(of), arguments), Val::Made(_) | Val::Struct(_))
                            if is_slot(of) && of.ty.is_value() == Some(true) =>
                        {
                            let mut inputs = Vec::with_capacity(arguments.len() + 1);
                            for argument in arguments {
                                inputs.push(self.eval(argument)?);
                            }
                            inputs.push(to.clone());
                            Some(self.with_property(value, getter, inputs, &of.ty, place.span)?)
                        }
                        _ => None,
                    };
                    match anew {
                        Some(anew) => {
                            *value = anew;
                            self.set(slot, value.clone());
                        }
                        None => {
                            let (at, place) = self.locate(place)?;
                            self.store(&at, place, to, place.span)?;
                        }
                    }
                }
                Initial::Add(node) | Initial::Evaluate(node) => {
                    self.eval(node)?;
                }
                Initial::AddAll(sequence, slot, call) => {
                    let all = self.eval(sequence)?;
                    for element in self.items_of(&all, sequence.span)? {
                        self.set(*slot, element);
                        self.eval(call)?;
                    }
                }
                Initial::Inside(member, slot, steps) => {
                    let mut inner = self.eval(member)?;
                    if matches!(inner, Val::Null) {
                        return Err(null_reference(member.span));
                    }
                    self.set(*slot, inner.clone());
                    self.set_up(&mut inner, *slot, steps, node)?;
                }
            }
        }
        Ok(())
    }

    /// A struct that exists only here with a property set: the field behind it, or what its setter makes of a copy in a box.
    fn with_property(
        &mut self,
        value: &Val,
        getter: &Callee,
        arguments: Vec<Val>,
        ty: &Type,
        span: Span,
    ) -> Result<Val> {
        let setter = self.setter_of(getter, span)?;
        if let ([to], Some(field)) = (&*arguments, field_set_by(self.types, &setter)) {
            let node = Node::new(Op::Default, ty.clone(), span);
            return self.with_field(value, &field, to.clone(), &node);
        }
        if !self.around.calls {
            let name = super::effects::written_name(&setter);
            return Err(self.refuse(&format!("setting `{name}`"), span));
        }
        // A struct that nothing has used yet is loaded by making an empty one.
        let mut home = None;
        if let Val::Made(made) = value {
            let of = Val::Made(Rc::new(Made::Type(ty.clone())));
            let empty = self.helped("GetUninitializedObject", of, span)?;
            home = matches!(**made, Made::Default(_)).then_some(empty);
        }
        let home = match home {
            Some(home) => home,
            None => {
                let whole = self.boxed(value.clone(), ty);
                self.helped("GetObjectValue", whole, span)?
            }
        };
        let callee = Rc::new(Callee {
            method: setter.clone(),
            arguments: Vec::new(),
            intrinsic: None,
            is_virtual: false,
            checked: false,
        });
        let parameters = setter.parameters.iter().map(|it| it.ty.clone());
        let arguments = arguments.into_iter().zip(parameters).collect();
        let target = Some((home.clone(), ty.clone()));
        self.effect(span, || Effect::Call {
            callee,
            target,
            home: None,
            arguments,
            references: Vec::new(),
            exact: false,
            span,
        })?;
        let Val::Object(home) = home else {
            return Err(super::misfit(span));
        };
        let inside = self.reader.unboxed(&home);
        let inside = inside.ok_or_else(|| super::misfit(span))?;
        self.journaled(span, |this| this.decode(&inside, span))
    }

    /// What a method of the runtime's helpers with one parameter gives; what comes in a box stays in it.
    pub(super) fn helped(&mut self, name: &str, argument: Val, span: Span) -> Result<Val> {
        let helpers = self
            .types
            .core_named("System.Runtime.CompilerServices", "RuntimeHelpers");
        let found = helpers.and_then(|it| self.types.methods(&it, Some(name)).ok());
        let method = found.and_then(|it| it.into_iter().find(|it| it.parameters.len() == 1));
        let Some(method) = method else {
            let told = format!("the runtime has no RuntimeHelpers.{name}");
            return Err(Fail::new(span, told).into());
        };
        let ty = method.parameters.first().map(|it| it.ty.clone());
        let callee = Rc::new(Callee {
            method,
            arguments: Vec::new(),
            intrinsic: None,
            is_virtual: false,
            checked: false,
        });
        self.effect_as(span, || Effect::Call {
            callee,
            target: None,
            home: None,
            arguments: vec![(argument, ty.unwrap_or(Type::OBJECT))],
            references: Vec::new(),
            exact: false,
            span,
        })
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
}

/// Whether something is a member of what an initialiser sets up, and not of what lies inside that.
fn is_slot(of: &Node) -> bool {
    matches!(of.op, Op::Slot(_))
}
