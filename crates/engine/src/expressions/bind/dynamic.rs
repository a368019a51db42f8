//! What is declared `dynamic`: it has the members and operators of what it holds, so that is looked at while it is bound.
//!
//! Variables of the frame tell what they hold through the context. For fields, properties, results and elements a binder asks
//! its [`Probe`], which reads and runs nothing; where there is none, or reading cannot tell, they stay the objects they are.
//! A plan that a probe had a part in is one for this moment only.

use std::rc::Rc;

use syntax::Span;

use super::late::Late;
use super::{Binder, Operand};
use crate::expressions::plan::{Conversion, FieldRef, Node, Op};
use crate::expressions::scalar::{Kind, Scalar};
use crate::types::{Type, TypeNotes};

/// Looks at values while an expression is bound.
pub(crate) trait Probe {
    /// The exact type of what a plan gives, if reading tells it.
    fn type_of(&self, node: &Node, slots: u32) -> Option<Type>;

    /// Whether a plan gives null, as far as reading tells.
    fn is_null(&self, node: &Node, slots: u32) -> bool;

    /// The members that the `ExpandoObject` that a plan gives has now, each with the place of its value.
    fn expando_members(&self, node: &Node, slots: u32) -> Vec<(u64, String)>;
}

impl<'t> Binder<'t> {
    /// Looks at what is dynamic through a probe.
    pub(crate) fn probing(mut self, probe: &'t dyn Probe) -> Self {
        self.probe_of_values = Some(probe);
        self
    }

    /// Whether something dynamic was met, so that values decide how the expression binds.
    pub(crate) fn has_met_dynamic(&self) -> bool {
        self.met_dynamic
    }

    /// An operand as what it holds, if it is dynamic.
    pub(super) fn opened<'e>(&mut self, operand: Operand<'e>) -> Operand<'e> {
        match operand {
            Operand::Value(node) if node.ty == Type::OBJECT && !self.assigning => {
                Operand::Value(self.opened_node(node))
            }
            other => other,
        }
    }

    /// The same for what leads to a place that is assigned: an object, whose member it is.
    pub(super) fn opened_target<'e>(&mut self, operand: Operand<'e>) -> Operand<'e> {
        match operand {
            Operand::Value(node) if node.ty == Type::OBJECT && self.assigning => {
                let held = match node.op {
                    Op::Variable(number) => self.context.variables.get(number),
                    _ => None,
                };
                let held = held.and_then(|it| it.holds.clone());
                Operand::Value(match held {
                    Some(held) => held_as(node, held),
                    None => self.opened_node(node),
                })
            }
            other => other,
        }
    }

    /// What is in a place that is changed, read into a slot: what is dynamic is what it holds.
    pub(super) fn old_value(&mut self, place: &Node, slot: u32, span: Span) -> Node {
        let old = self.slot_node(slot, &place.ty, span);
        if place.ty != Type::OBJECT {
            return old;
        }
        let held = match place.op {
            Op::Variable(number) => {
                let variable = self.context.variables.get(number);
                variable.and_then(|it| it.holds.clone())
            }
            _ => match self.opened_node(place.clone()) {
                Node {
                    op: Op::Convert(..),
                    ty,
                    ..
                } if ty != Type::OBJECT => Some(ty),
                _ => None,
            },
        };
        match held {
            Some(held) => held_as(old, held),
            None => old,
        }
    }

    /// Whether a value is dynamic and holds nothing, so that nobody can say what members it has.
    pub(super) fn is_dynamic_null(&mut self, node: &Node) -> bool {
        let is_variable = matches!(node.op, Op::Variable(_));
        let is_declared = is_variable && self.parts(node).first() == Some(&true);
        if node.ty != Type::OBJECT || !(is_declared || self.is_dynamic(node)) {
            return false;
        }
        self.met_dynamic = true;
        self.probe_of_values
            .is_some_and(|it| it.is_null(node, self.slots))
    }

    fn opened_node(&mut self, node: Node) -> Node {
        if !self.is_dynamic(&node) {
            return node;
        }
        self.met_dynamic = true;
        if let Op::Slot(_) = node.op {
            let span = node.span;
            return self.late(Late::Value, vec![node], span);
        }
        let held = self
            .probe_of_values
            .and_then(|it| it.type_of(&node, self.slots));
        let Some(held) = held else {
            // Only running tells it. Where it is null, it throws then.
            let span = node.span;
            return self.late(Late::Value, vec![node], span);
        };
        if held == Type::OBJECT {
            return node;
        }
        held_as(node, held)
    }

    /// A member that an `ExpandoObject` has now.
    pub(super) fn expando_member(&mut self, target: &Node, name: &str, span: Span) -> Option<Node> {
        let named = target.ty.as_named()?;
        if !self
            .types
            .is_named(named, "System.Dynamic", "ExpandoObject")
        {
            return None;
        }
        self.met_dynamic = true;
        let probe = self.probe_of_values?;
        let members = probe.expando_members(target, self.slots);
        let (at, _) = members.iter().find(|(_, it)| it == name)?;
        let data = self.field_of(target.clone(), "_data")?;
        let values = self.field_of(data, "_dataArray")?;
        let at = Scalar::Int(Kind::Int, (*at).into());
        let at = Node::constant(at, Type::INT, span);
        let element = Op::Element(Box::new(values), vec![at]);
        let node = Node::new(element, Type::OBJECT, span);
        if self.assigning {
            return Some(node);
        }
        Some(self.opened_node(node))
    }

    /// Whether it is something dynamic that gets a member by being assigned one. That it is an `ExpandoObject` alone is not
    /// enough: of one that is declared as such, C# knows no members.
    pub(super) fn takes_new_members(&self, target: &Node) -> bool {
        let Op::Convert(_, held) = &target.op else {
            return false;
        };
        let is_dynamic = match &held.op {
            Op::Variable(number) => {
                let variable = self.context.variables.get(*number);
                variable.is_some_and(|it| it.dynamic.first() == Some(&true))
            }
            _ => self.is_dynamic(held),
        };
        let named = target.ty.as_named();
        is_dynamic
            && named.is_some_and(|it| self.types.is_named(it, "System.Dynamic", "ExpandoObject"))
    }

    /// The names of the members that a value has now beside those of its type.
    pub(super) fn names_of_now(&self, target: &Node) -> Vec<String> {
        let named = target.ty.as_named();
        let is_expando =
            named.is_some_and(|it| self.types.is_named(it, "System.Dynamic", "ExpandoObject"));
        let probe = self.probe_of_values.filter(|_| is_expando);
        let members = probe.map(|it| it.expando_members(target, self.slots));
        let names = members.unwrap_or_default().into_iter();
        names.map(|(_, name)| name).collect()
    }

    fn field_of(&self, target: Node, name: &str) -> Option<Node> {
        let named = target.ty.as_named()?.clone();
        let fields = self.types.fields(&named).ok()?;
        let field = fields.iter().find(|it| *it.name == *name)?;
        let (ty, span) = (field.ty.clone(), target.span);
        let field = FieldRef {
            declared_in: Rc::clone(&named),
            name: field.name.clone(),
            token: field.token,
            ty: ty.clone(),
        };
        Some(Node::new(Op::Field(Box::new(target), field), ty, span))
    }

    /// Whether a value is declared as `dynamic`, or a part of what is.
    fn is_dynamic(&self, node: &Node) -> bool {
        let target = match &node.op {
            Op::Field(target, _) | Op::Element(target, _) | Op::Call(_, Some(target), _) => target,
            Op::Variable(number) => {
                let variable = self.context.variables.get(*number);
                return variable
                    .is_some_and(|it| it.holds.is_none() && it.dynamic.first() == Some(&true));
            }
            Op::Slot(slot) => {
                let mut locals = self.locals.iter();
                return locals.any(|it| it.slot == *slot && it.dynamic);
            }
            Op::Call(_, None, arguments) => {
                let first = arguments.first();
                return self.parts(node).first() == Some(&true)
                    || node.ty == Type::OBJECT
                        && first.is_some_and(|it| self.is_dynamic_sequence(it));
            }
            Op::StaticField(_) => return self.parts(node).first() == Some(&true),
            _ => return false,
        };
        if self.parts(node).first() == Some(&true) || self.is_of_dynamic(target) {
            return true;
        }
        // What a generic type gives of its own last argument: the elements of a `List<dynamic>`.
        let last = match &target.ty {
            Type::Named(named) => named.arguments.last(),
            _ => None,
        };
        last == Some(&Type::OBJECT) && self.parts(target).last() == Some(&true)
    }

    /// Whether a value is a sequence of what is dynamic, or one that LINQ made of such.
    pub(super) fn is_dynamic_sequence(&self, node: &Node) -> bool {
        let element = match &node.ty {
            Type::Named(named) => named.arguments.last(),
            Type::SzArray(element) => Some(&**element),
            _ => None,
        };
        if element != Some(&Type::OBJECT) {
            return false;
        }
        if self.parts(node).last() == Some(&true) {
            return true;
        }
        match &node.op {
            Op::Call(callee, None, arguments) if callee.intrinsic.is_some() => arguments
                .first()
                .is_some_and(|it| self.is_dynamic_sequence(it)),
            Op::Convert(_, inner) => self.is_dynamic_sequence(inner),
            _ => false,
        }
    }

    /// Whether a value was reached through something dynamic.
    fn is_of_dynamic(&self, node: &Node) -> bool {
        match &node.op {
            Op::Convert(Conversion::Cast | Conversion::Unbox, inner) => match inner.op {
                Op::Variable(number) => self
                    .context
                    .variables
                    .get(number)
                    .is_some_and(|it| it.holds.is_some()),
                _ => self.is_dynamic(inner),
            },
            Op::Field(target, _) | Op::Element(target, _) | Op::Call(_, Some(target), _) => {
                self.is_of_dynamic(target)
            }
            _ => false,
        }
    }

    /// Which parts of a declared type are dynamic, in depth-first order.
    fn parts(&self, node: &Node) -> Vec<bool> {
        let of = |module, token| {
            let module = self.types.metadata(module).ok()?;
            Some(TypeNotes::of(module.metadata(), token).dynamic)
        };
        let found = match &node.op {
            Op::Variable(number) => {
                let variable = self.context.variables.get(*number);
                variable.map(|it| it.dynamic.to_vec())
            }
            Op::Field(_, field) | Op::StaticField(field) => {
                of(field.declared_in.module, field.token)
            }
            Op::Call(callee, ..) => {
                let method = &callee.method;
                let module = self.types.metadata(method.declared_in.module).ok();
                let token = module.and_then(|it| {
                    let signature = it.metadata().method(method.token).ok()?;
                    signature.return_param().ok()?
                });
                token.and_then(|token| of(method.declared_in.module, token))
            }
            Op::Element(array, _) => self.parts(array).get(1..).map(<[bool]>::to_vec),
            _ => None,
        };
        found.unwrap_or_default()
    }
}

/// What something dynamic holds, as that.
fn held_as(node: Node, held: Type) -> Node {
    let conversion = match held.is_value() {
        Some(true) => Conversion::Unbox,
        _ => Conversion::Cast,
    };
    let span = node.span;
    Node::new(Op::Convert(conversion, Box::new(node)), held, span)
}
