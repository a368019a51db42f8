//! The parts of a value that positional patterns test: elements of tuples, what `Deconstruct` gives, and what an object tells
//! of itself as an `ITuple` (C# 11.2.5).

use std::rc::Rc;

use syntax::Span;
use syntax::tree::BinaryOp;

use super::overloads::{Arg, ByRef};
use super::patterns::and;
use super::{Binder, Operand};
use crate::expressions::error::{Fail, Result};
use crate::expressions::plan::{Node, Op, Referred, Test};
use crate::expressions::scalar::{Kind, Scalar};
use crate::types::{Parameter, Type};

impl Binder<'_> {
    /// The parts of an `object` or `ITuple`, and the test that it is a tuple of so many; `None` for all other types.
    pub(super) fn unnamed_parts(
        &mut self,
        value: &Node,
        count: usize,
        span: Span,
    ) -> Result<Option<(Test, Vec<Node>)>> {
        let Some(tuple) = self.types.core("System.Runtime.CompilerServices", "ITuple") else {
            return Ok(None);
        };
        if value.ty != Type::OBJECT && value.ty != tuple {
            return Ok(None);
        }
        let is_tuple = Test::Is(tuple.clone());
        let value = self.narrowed_to(value, &tuple);
        let length = self.member_value(value.clone(), "Length", span)?;
        let int =
            |number: usize| Node::constant(Scalar::Int(Kind::Int, number as i128), Type::INT, span);
        let (length, wanted) = (Operand::Value(length), Operand::Value(int(count)));
        let fits = self.binary_operands(BinaryOp::Equal, length, wanted, span)?;
        let mut parts = Vec::with_capacity(count);
        for index in 0..count {
            parts.push(self.element_at(&value, int(index), span)?);
        }
        Ok(Some((and(is_tuple, Test::Check(Box::new(fits))), parts)))
    }

    /// A test that is always passed: what has to run before the next one.
    pub(super) fn called(&mut self, call: Option<Node>) -> Test {
        match call {
            Some(call) => Test::Part {
                part: Box::new(call),
                slot: self.slot(),
                test: Box::new(Test::Any),
            },
            None => Test::Any,
        }
    }

    /// The parts of a tuple, or those that `Deconstruct` gives, and its call if it has to run.
    pub(super) fn deconstruct(
        &mut self,
        value: &Node,
        count: usize,
        span: Span,
    ) -> Result<(Option<Node>, Vec<Node>)> {
        if let Some(elements) = self.tuple_elements(&value.ty) {
            if elements.len() != count {
                return Err(Fail::cs(
                    "CS8502",
                    span,
                    format!(
                        "the tuple has {} elements, {count} are matched",
                        elements.len()
                    ),
                ));
            }
            let parts = (0..count).map(|index| self.tuple_item(value, index, span));
            return Ok((None, parts.collect::<Result<_>>()?));
        }
        let methods: Vec<_> = self
            .levels(&value.ty)
            .iter()
            .flat_map(|it| {
                self.types
                    .methods(it, Some("Deconstruct"))
                    .unwrap_or_default()
            })
            .filter(|it| it.parameters.len() == count && !it.flags.is_static())
            .collect();
        let Some(method) = methods.first() else {
            if let Some(found) = self.deconstructed_by_extension(value, count, span)? {
                return Ok(found);
            }
            return Err(Fail::cs(
                "CS8129",
                span,
                format!(
                    "`{}` has no Deconstruct with {count} out parameters",
                    self.text(&value.ty)
                ),
            ));
        };
        // That of a record gives its members.
        let is_generated = self
            .types
            .metadata(method.declared_in.module)
            .is_ok_and(|it| it.metadata().is_compiler_generated(method.token));
        if is_generated {
            let mut parts = Vec::new();
            for parameter in &method.parameters {
                let name = parameter.name.clone();
                parts.push(self.member_value(value.clone(), &name, span)?);
            }
            return Ok((None, parts));
        }
        let (slots, arguments) = self.given_parts(&method.parameters, span);
        let callee = self.callee(method.clone(), Vec::new(), true);
        let call = Op::Call(Rc::new(callee), Some(Box::new(value.clone())), arguments);
        Ok((Some(Node::new(call, VOID, span)), slots))
    }

    /// Slots for what the parameters of a `Deconstruct` give, and the arguments that lead there.
    fn given_parts(&mut self, parameters: &[Parameter], span: Span) -> (Vec<Node>, Vec<Node>) {
        let mut slots = Vec::new();
        let mut arguments = Vec::new();
        for parameter in parameters {
            let ty = parameter.ty.without_ref().clone();
            let slot = self.slot();
            slots.push(self.slot_node(slot, &ty, span));
            let before = Node::new(Op::Default, ty.clone(), span);
            let reference = Op::Reference(Referred::Slot(slot), Box::new(before));
            arguments.push(Node::new(reference, ty, span));
        }
        (slots, arguments)
    }

    /// What a `Deconstruct` gives that is an extension method.
    fn deconstructed_by_extension(
        &mut self,
        value: &Node,
        count: usize,
        span: Span,
    ) -> Result<Option<(Option<Node>, Vec<Node>)>> {
        let argument = |operand, is_first: bool| Arg {
            operand,
            name: None,
            by_ref: (!is_first).then_some(ByRef::NOWHERE),
            is_in: false,
            receiver: is_first,
            span,
        };
        let mut all = vec![argument(Operand::Value(value.clone()), true)];
        all.extend((0..count).map(|_| argument(Operand::Default(span), false)));
        for methods in self.extension_methods("Deconstruct") {
            let Ok(candidate) = self.resolve(&methods, &[], &all) else {
                continue;
            };
            let Some((first, rest)) = candidate.method.parameters.split_first() else {
                continue;
            };
            let to = first.ty.without_ref();
            let value = self.convert(Operand::Value(value.clone()), to, span)?;
            let (slots, mut arguments) = self.given_parts(rest, span);
            arguments.insert(0, value);
            let callee = self.callee(candidate.method, candidate.type_arguments, false);
            let call = Op::Call(Rc::new(callee), None, arguments);
            return Ok(Some((Some(Node::new(call, VOID, span)), slots)));
        }
        Ok(None)
    }
}

const VOID: Type = Type::Primitive(metadata::signature::Primitive::Void);
