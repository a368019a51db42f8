//! Initialisers: `new T { A = 1, [2] = 3, B = { C = 4 } }`, `new List<int> { 1, 2 }` and those of `with`.

use syntax::Span;
use syntax::tree::{Expr, Identifier, InitValue, Initializer, InitializerMember, SimpleName};

use super::overloads::Arg;
use super::{Binder, Operand};
use crate::expressions::error::{Fail, Result};
use crate::expressions::plan::{Initial, Node, Op};

impl Binder<'_> {
    /// What was made, set up by an initialiser.
    pub(super) fn initialized(
        &mut self,
        made: Node,
        initializer: &Initializer,
        span: Span,
    ) -> Result<Node> {
        let slot = self.slot();
        let ty = made.ty.clone();
        let mut read = self.slot_node(slot, &ty, span);
        read.names = made.names.clone();
        let names = made.names.clone();
        let mut steps = Vec::new();
        self.initial_steps(&read, initializer, span, &mut steps)?;
        let op = Op::Initialize(Box::new(made), slot, steps);
        let mut node = Node::new(op, ty, span);
        node.names = names;
        Ok(node)
    }

    fn initial_steps(
        &mut self,
        target: &Node,
        initializer: &Initializer,
        span: Span,
        steps: &mut Vec<Initial>,
    ) -> Result<()> {
        let mut set: Vec<&str> = Vec::new();
        let adds = |it: &InitializerMember| {
            matches!(
                it,
                InitializerMember::Element(_) | InitializerMember::Elements(..)
            )
        };
        for member in &initializer.members {
            if initializer.members.first().map(adds) != Some(adds(member)) {
                let at = match member {
                    InitializerMember::Property(name, _) => name.span,
                    InitializerMember::Element(value) => value.span,
                    InitializerMember::Elements(_, at) => *at,
                    InitializerMember::Index(..) => span,
                };
                let told = "an initialiser either sets members or adds elements";
                return Err(Fail::cs("CS0747", at, told));
            }
            match member {
                InitializerMember::Property(name, value) => {
                    if set.contains(&&*name.text) {
                        let told = format!("`{}` is set twice", name.text);
                        return Err(Fail::cs("CS1912", name.span, told));
                    }
                    set.push(&name.text);
                    let place = self.initial_member(target, name)?;
                    self.initial_value(place, value, name.span, steps)?;
                }
                InitializerMember::Index(arguments, value) => {
                    let outer = std::mem::replace(&mut self.assigning, true);
                    let place = self.element_of(target.clone(), arguments, span);
                    self.assigning = outer;
                    let place = place?;
                    self.initial_value(place, value, span, steps)?;
                }
                InitializerMember::Element(value) => {
                    self.note_initial(value.span, target);
                    steps.push(self.add_call(target, std::slice::from_ref(value), span)?);
                }
                InitializerMember::Elements(values, at) => {
                    steps.push(self.add_call(target, values, *at)?);
                }
            }
        }
        Ok(())
    }

    /// The member that an initialiser names: a field, or a property by its accessors.
    fn initial_member(&mut self, target: &Node, name: &Identifier) -> Result<Node> {
        self.note_initial(name.span, target);
        let outer = std::mem::replace(&mut self.assigning, true);
        let place = self.member_value(target.clone(), &name.text, name.span);
        self.assigning = outer;
        place.map_err(|fail| {
            if fail.code == Some("CS1061") {
                let of = self.text(&target.ty);
                let told = format!("`{of}` has no member `{}`", name.text);
                Fail::cs("CS0117", name.span, told)
            } else {
                fail
            }
        })
    }

    fn initial_value(
        &mut self,
        place: Node,
        value: &InitValue,
        span: Span,
        steps: &mut Vec<Initial>,
    ) -> Result<()> {
        match value {
            InitValue::Expr(value) => {
                if let Op::Call(callee, ..) = &place.op
                    && callee.method.name.starts_with("get_")
                    && !self.has_setter(callee)
                {
                    let name = callee.method.name.trim_start_matches("get_");
                    let told = format!("`{name}` has no setter");
                    return Err(Fail::cs("CS0200", span, told));
                }
                self.note_compared(&Operand::Value(place.clone()), value);
                let operand = self.bind(value)?;
                let value = self.convert(operand, &place.ty, value.span)?;
                steps.push(Initial::Set(place, value));
            }
            InitValue::Nested(inner) if place.ty.is_value() == Some(true) => {
                // Only a field holds the struct itself.
                if !matches!(place.op, Op::Field(..) | Op::Element(..)) {
                    return Err(Fail::cs(
                        "CS1918",
                        span,
                        "the members of a struct that a property gives cannot be set: it is a copy",
                    ));
                }
                self.initial_steps(&place, inner, span, steps)?;
            }
            InitValue::Nested(inner) => {
                let slot = self.slot();
                let read = self.slot_node(slot, &place.ty, span);
                let mut inside = Vec::new();
                self.initial_steps(&read, inner, span, &mut inside)?;
                // Where nothing is set, C# does not ask for the object, but for what stands in brackets.
                if inside.iter().all(|it| matches!(it, Initial::Evaluate(_))) {
                    if let Op::Call(_, _, inputs) | Op::Element(_, inputs) = place.op {
                        steps.extend(inputs.into_iter().map(Initial::Evaluate));
                    }
                    steps.extend(inside);
                } else {
                    steps.push(Initial::Inside(place, slot, inside));
                }
            }
        }
        Ok(())
    }

    fn add_call(&mut self, target: &Node, values: &[Expr], span: Span) -> Result<Initial> {
        let name = SimpleName {
            identifier: Identifier {
                text: "Add".into(),
                verbatim: false,
                span,
            },
            arguments: None,
            span,
        };
        let enumerable = self.types.core("System.Collections", "IEnumerable");
        if enumerable.is_some_and(|it| !self.reference_converts(&target.ty, &it))
            && target.ty.is_reference()
        {
            let told = format!(
                "`{}` is no collection that elements could be added to",
                self.text(&target.ty)
            );
            return Err(Fail::cs("CS1922", span, told));
        }
        let operand = self.instance_member(target.clone(), &name, span)?;
        let Operand::Group(group) = operand else {
            return Err(Fail::cs(
                "CS1061",
                span,
                format!("`{}` has no method `Add`", self.text(&target.ty)),
            ));
        };
        let mut arguments = Vec::new();
        for value in values {
            arguments.push(Arg {
                operand: self.bind(value)?,
                name: None,
                by_ref: None,
                is_in: false,
                receiver: false,
                span: value.span,
            });
        }
        self.call_group(&group, arguments, span).map(Initial::Add)
    }
}
