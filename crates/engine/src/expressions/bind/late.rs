//! What is bound only when it runs: operations on something `dynamic` that no reading tells, as the result of a method.
//!
//! The plan keeps the operation with its operands ([`Late`]). When it runs, the operands are there, and it is bound against the
//! types that they have then, by the same rules as everything else: what C# does at run time too.

use std::rc::Rc;

use syntax::Span;
use syntax::tree::{Argument, BinaryOp, Expr, ExprKind, Identifier, SimpleName, UnaryOp};

use super::overloads::Arg;
use super::postfix::Change;
use super::{Binder, Group, Local, Operand};
use crate::expressions::error::{Fail, Result};
use crate::expressions::plan::{Node, Op};
use crate::types::Type;

/// An operation on operands of which one at least is dynamic.
#[derive(Debug)]
pub(crate) enum Late {
    /// The operand itself.
    Value,
    /// `a.Name`
    Member(SimpleName),
    /// `a.Name = b`
    SetMember(SimpleName),
    /// `a.Name(b, c)`, with the names of the arguments.
    Call(SimpleName, Vec<Option<Box<str>>>),
    /// A method of a type or of an object that is not dynamic, whose arguments are.
    Group(Box<Group>, Vec<Option<Box<str>>>),
    /// `a(b, c)`
    Invoke,
    /// `a[b, c]`
    Index,
    /// `a[b] = c`
    SetIndex,
    /// `a.Name += b`, `a.Name++`
    ChangeMember(SimpleName, Change),
    /// `a[b] += c`, `a[b]++`
    ChangeIndex(Change),
    /// An operator.
    Unary(UnaryOp),
    /// An operator; neither `&&` nor `||`.
    Binary(BinaryOp),
    /// A conversion; explicit if true.
    Convert(Type, bool),
}

/// An operand of a [`Late`] operation when it runs.
#[derive(Debug, Clone)]
pub(crate) enum Given {
    /// It is null and dynamic.
    Null(Span),
    /// What reads it, with the type that counts.
    Value(Node),
}

/// Binds operations when they run: gives the plan and how many slots are used then.
pub(crate) type LateBinder<'b> = dyn Fn(&Late, &[Given], u32, Span) -> Result<(Node, u32)> + 'b;

/// Whether only running tells what a value is.
pub(super) fn is_late(node: &Node) -> bool {
    matches!(&node.op, Op::Late(late, _) if !matches!(**late, Late::Convert(..)))
}

fn is_late_operand(operand: &Operand<'_>) -> bool {
    operand.value().is_some_and(is_late)
}

impl Binder<'_> {
    /// A node that is bound when it runs.
    pub(super) fn late(&mut self, late: Late, operands: Vec<Node>, span: Span) -> Node {
        self.met_dynamic = true;
        let ty = match &late {
            Late::Convert(ty, _) => ty.clone(),
            _ => Type::OBJECT,
        };
        let operands = operands.into_iter().map(|it| (self.slot(), it)).collect();
        Node::new(Op::Late(Rc::new(late), operands), ty, span)
    }

    /// `target.name` of something late.
    pub(super) fn late_member(&mut self, target: Node, name: &SimpleName, span: Span) -> Node {
        self.late(Late::Member(name.clone()), vec![target], span)
    }

    /// The call of what was bound as a late value.
    pub(super) fn late_call(
        &mut self,
        node: Node,
        arguments: &[Argument],
        span: Span,
    ) -> Result<Node> {
        let bound = self.arguments(arguments)?;
        let names = bound.iter().map(|it| it.name.clone()).collect();
        let values = self.late_arguments(bound)?;
        let at = node.span;
        match node.op {
            Op::Late(late, mut operands) => match &*late {
                Late::Member(name) => {
                    let target = operands.pop().map(|(_, it)| it);
                    let operands = target.into_iter().chain(values).collect();
                    Ok(self.late(Late::Call(name.clone(), names), operands, span))
                }
                _ => {
                    let node = Node::new(Op::Late(late, operands), Type::OBJECT, at);
                    let operands = std::iter::once(node).chain(values).collect();
                    Ok(self.late(Late::Invoke, operands, span))
                }
            },
            _ => Err(Fail::cs("CS0149", span, "a method name is expected")),
        }
    }

    /// The call of a method with arguments of which one is late.
    pub(super) fn late_group(
        &mut self,
        group: &Group,
        arguments: &[Arg<'_>],
        span: Span,
    ) -> Result<Option<Node>> {
        if !arguments.iter().any(|it| is_late_operand(&it.operand)) {
            return Ok(None);
        }
        let names = arguments.iter().map(|it| it.name.clone()).collect();
        let values = self.late_arguments(arguments.to_vec())?;
        let mut group = group.clone();
        let target = group.target.take();
        let operands = target.into_iter().chain(values).collect();
        let late = Late::Group(Box::new(group), names);
        Ok(Some(self.late(late, operands, span)))
    }

    fn late_arguments(&mut self, arguments: Vec<Arg<'_>>) -> Result<Vec<Node>> {
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let refused = match &argument.operand {
                Operand::Lambda(..) => Some(("CS1977", "a lambda")),
                Operand::Group(_) => Some(("CS1976", "a method")),
                _ if argument.by_ref.is_some() => Some(("CS1510", "a ref or out argument")),
                _ => None,
            };
            if let Some((code, what)) = refused {
                let told = format!(
                    "{what} cannot be passed to a call that is bound at run time because of something dynamic"
                );
                let fail = Fail::cs(code, argument.span, told);
                return Err(fail.hint("cast what is dynamic to what it is: ((Order)x).Lines"));
            }
            values.push(self.natural(argument.operand)?);
        }
        Ok(values)
    }

    /// `target[arguments]` with something late among them.
    pub(super) fn late_index(
        &mut self,
        target: &Node,
        arguments: &[Argument],
        span: Span,
    ) -> Result<Option<Node>> {
        if !is_late(target) {
            return Ok(None);
        }
        let bound = self.arguments(arguments)?;
        let values = self.late_arguments(bound)?;
        let operands = std::iter::once(target.clone()).chain(values).collect();
        Ok(Some(self.late(Late::Index, operands, span)))
    }

    /// An operator with a late operand. `&&` and `||` take them as truth values, so that the right one is not always computed.
    pub(super) fn late_binary(
        &mut self,
        op: BinaryOp,
        left: &Operand<'_>,
        right: &Operand<'_>,
        span: Span,
    ) -> Result<Option<Node>> {
        if !is_late_operand(left) && !is_late_operand(right) {
            return Ok(None);
        }
        if matches!(op, BinaryOp::ConditionalAnd | BinaryOp::ConditionalOr) {
            let left = self.convert(left.clone(), &Type::BOOL, left.span())?;
            let right = self.convert(right.clone(), &Type::BOOL, right.span())?;
            let node =
                self.binary_operands(op, Operand::Value(left), Operand::Value(right), span)?;
            return Ok(Some(node));
        }
        let operands = vec![self.natural(left.clone())?, self.natural(right.clone())?];
        Ok(Some(self.late(Late::Binary(op), operands, span)))
    }

    /// A late operand as a value of a type.
    pub(super) fn late_conversion(
        &mut self,
        operand: &Operand<'_>,
        to: &Type,
        explicit: bool,
        span: Span,
    ) -> Option<Node> {
        let node = operand.value().filter(|it| is_late(it))?;
        if *to == Type::OBJECT {
            return None;
        }
        let node = node.clone();
        Some(self.late(Late::Convert(to.clone(), explicit), vec![node], span))
    }

    /// `place = value` where the place is a late member or element.
    pub(super) fn late_assignment(
        &mut self,
        place: &Node,
        value: Operand<'_>,
        span: Span,
    ) -> Result<Option<Node>> {
        let Op::Late(late, operands) = &place.op else {
            return Ok(None);
        };
        let set = match &**late {
            Late::Member(name) => Late::SetMember(name.clone()),
            Late::Index => Late::SetIndex,
            _ => return Ok(None),
        };
        let value = self.natural(value)?;
        let operands = operands.iter().map(|(_, it)| it.clone()).chain([value]);
        let operands = operands.collect();
        Ok(Some(self.late(set, operands, span)))
    }

    /// `place += value` or `place++` where the place is a late member or element.
    pub(super) fn late_change(
        &mut self,
        place: &Node,
        how: Change,
        value: Option<Operand<'_>>,
        span: Span,
    ) -> Result<Node> {
        let not_a_place = || {
            Fail::cs(
                "CS0131",
                span,
                "what is changed must be a member or element",
            )
        };
        let Op::Late(late, operands) = &place.op else {
            return Err(not_a_place());
        };
        let change = match &**late {
            Late::Member(name) => Late::ChangeMember(name.clone(), how),
            Late::Index => Late::ChangeIndex(how),
            _ => return Err(not_a_place()),
        };
        let value = value.map(|it| self.natural(it)).transpose()?;
        let operands = operands.iter().map(|(_, it)| it.clone()).chain(value);
        let operands = operands.collect();
        Ok(self.late(change, operands, span))
    }

    /// Binds an operation whose operands are known now.
    pub(crate) fn bind_late(
        &mut self,
        late: &Late,
        given: &[Given],
        slots: u32,
        span: Span,
    ) -> Result<(Node, u32)> {
        self.slots = slots;
        let mut operands: Vec<Operand<'static>> = given
            .iter()
            .map(|it| match it {
                Given::Null(span) => Operand::Null(*span),
                Given::Value(node) => Operand::Value(node.clone()),
            })
            .collect();
        let node = self.late_node(late, &mut operands, span);
        let node = node.map_err(|fail| self.with_what_is_missing(fail))?;
        Ok((node, self.slots))
    }

    fn late_node(
        &mut self,
        late: &Late,
        operands: &mut Vec<Operand<'static>>,
        span: Span,
    ) -> Result<Node> {
        let missing = || Fail::new(span, "an operand of what is bound at run time is missing");
        let named = |operands: Vec<Operand<'static>>, names: &[Option<Box<str>>]| {
            let names = names.iter().cloned();
            let both = operands.into_iter().zip(names);
            both.map(|(operand, name)| Arg {
                span: operand.span(),
                operand,
                name,
                by_ref: None,
                is_in: false,
                receiver: false,
            })
            .collect::<Vec<_>>()
        };
        match late {
            Late::Value | Late::Invoke if operands.is_empty() => Err(missing()),
            Late::Value => self.natural(operands.remove(0)),
            Late::Member(name) => {
                let target = self.late_target(operands, name, span)?;
                self.late_read(target, name, span)
            }
            Late::SetMember(name) => {
                let target = self.late_target(operands, name, span)?;
                let value = operands.pop().ok_or_else(missing)?;
                self.late_write(target, name, value, span)
            }
            Late::Call(name, names) => {
                let target = self.late_target(operands, name, span)?;
                let arguments = named(std::mem::take(operands), names);
                match self.instance_member(target.clone(), name, span) {
                    Ok(Operand::Group(mut group)) => {
                        group.span = span;
                        self.call_group(&group, arguments, span)
                    }
                    Ok(other) => {
                        let callee = self.natural(other)?;
                        self.call_held(callee, arguments, span)
                    }
                    Err(fail) => match self.late_read(target, name, span) {
                        Ok(callee) => self.call_held(callee, arguments, span),
                        Err(_) => Err(fail),
                    },
                }
            }
            Late::Group(group, names) => {
                let mut group = group.clone();
                if operands.len() > names.len() {
                    group.target = Some(self.natural(operands.remove(0))?);
                }
                let arguments = named(std::mem::take(operands), names);
                self.call_group(&group, arguments, span)
            }
            Late::Invoke => {
                let callee = self.natural(operands.remove(0))?;
                let names = vec![None; operands.len()];
                let arguments = named(std::mem::take(operands), &names);
                self.call_delegate(callee, arguments, span)
            }
            Late::ChangeMember(name, how) => {
                let target = self.late_target(operands, name, span)?;
                let place = self.late_place(target, name, span)?;
                self.changed(place, *how, operands.pop(), span)
            }
            Late::Index | Late::SetIndex | Late::ChangeIndex(_) => {
                let value = match late {
                    Late::SetIndex | Late::ChangeIndex(Change::By(_)) => operands.pop(),
                    _ => None,
                };
                let is_read = matches!(late, Late::Index);
                if operands.is_empty() {
                    return Err(missing());
                }
                let target = self.natural(operands.remove(0))?;
                let mark = self.locals.len();
                let arguments = self.late_names(std::mem::take(operands))?;
                let outer = std::mem::replace(&mut self.assigning, !is_read);
                let place = self.element_of(target, &arguments, span);
                self.assigning = outer;
                self.locals.truncate(mark);
                match (late, value) {
                    (Late::ChangeIndex(how), value) => {
                        let place = self.assigned_place(Operand::Value(place?), span)?;
                        self.changed(place, *how, value, span)
                    }
                    (_, Some(value)) => self.late_store(place?, value, span),
                    _ => place,
                }
            }
            Late::Unary(op) => {
                let operand = operands.pop().ok_or_else(missing)?;
                self.unary_operand(*op, operand, span)
            }
            Late::Binary(op) => {
                let right = operands.pop().ok_or_else(missing)?;
                let left = operands.pop().ok_or_else(missing)?;
                self.binary_operands(*op, left, right, span)
            }
            Late::Convert(to, explicit) => {
                let operand = operands.pop().ok_or_else(missing)?;
                match explicit {
                    true => self.cast_operand(operand, to, span),
                    false => self.convert(operand, to, span),
                }
            }
        }
    }

    /// Calls the delegate that a member holds, which may itself be dynamic.
    fn call_held(&mut self, callee: Node, arguments: Vec<Arg<'_>>, span: Span) -> Result<Node> {
        if callee.ty != Type::OBJECT {
            return self.call_delegate(callee, arguments, span);
        }
        let values = self.late_arguments(arguments)?;
        let operands = std::iter::once(callee).chain(values).collect();
        Ok(self.late(Late::Invoke, operands, span))
    }

    /// The object whose member is asked for.
    fn late_target(
        &mut self,
        operands: &mut Vec<Operand<'static>>,
        name: &SimpleName,
        span: Span,
    ) -> Result<Node> {
        if operands.is_empty() {
            return Err(Fail::new(span, "what is bound at run time has no target"));
        }
        match operands.remove(0) {
            // The words of the framework, which says it of what it binds itself.
            Operand::Null(at) => Err(Fail::thrown(
                at,
                "Microsoft.CSharp.RuntimeBinder.RuntimeBinderException",
                Some("Cannot perform runtime binding on a null reference".into()),
            )
            .hint(format!(
                "what is dynamic is null here: write ?.{}",
                name.identifier.text
            ))),
            other => self.natural(other),
        }
    }

    fn late_read(&mut self, target: Node, name: &SimpleName, span: Span) -> Result<Node> {
        if let Some(entry) = self.expando_entry(&target, name, span) {
            return Ok(entry);
        }
        let found = self.instance_member(target, name, span)?;
        self.natural(found)
    }

    fn late_write(
        &mut self,
        target: Node,
        name: &SimpleName,
        value: Operand<'static>,
        span: Span,
    ) -> Result<Node> {
        let place = self.late_place(target, name, span)?;
        self.late_store(place, value, span)
    }

    /// A member that is assigned.
    fn late_place(&mut self, target: Node, name: &SimpleName, span: Span) -> Result<Node> {
        if let Some(entry) = self.expando_entry(&target, name, span) {
            return Ok(entry);
        }
        let outer = std::mem::replace(&mut self.assigning, true);
        let place = self.instance_member(target, name, span);
        self.assigning = outer;
        self.assigned_place(place?, span)
    }

    fn late_store(&mut self, place: Node, value: Operand<'static>, span: Span) -> Result<Node> {
        let ty = place.ty.clone();
        let at = value.span();
        let value = self.convert(value, &ty, at)?;
        let op = Op::Assign(Box::new(place), Box::new(value));
        Ok(Node::new(op, ty, span))
    }

    /// A member of an `ExpandoObject`, as the dictionary that it is too.
    fn expando_entry(&mut self, target: &Node, name: &SimpleName, span: Span) -> Option<Node> {
        let named = target.ty.as_named()?;
        if !self
            .types
            .is_named(named, "System.Dynamic", "ExpandoObject")
        {
            return None;
        }
        let interfaces = self.types.interfaces(&target.ty).ok()?;
        let dictionary = interfaces.into_iter().find(|it| {
            self.types
                .is_named(it, "System.Collections.Generic", "IDictionary`2")
        })?;
        let methods = self.types.methods(&dictionary, Some("get_Item")).ok()?;
        let method = methods.into_iter().next()?;
        let callee = self.callee(method, Vec::new(), true);
        let key = crate::expressions::scalar::Scalar::string(&name.identifier.text);
        let key = Node::constant(key, Type::STRING, name.span);
        let mut target = target.clone();
        target.ty = Type::Named(dictionary);
        let op = Op::Call(Rc::new(callee), Some(Box::new(target)), vec![key]);
        Some(Node::new(op, Type::OBJECT, span))
    }

    /// Arguments as names of variables that hold them.
    fn late_names(&mut self, operands: Vec<Operand<'static>>) -> Result<Vec<Argument>> {
        let mut arguments = Vec::with_capacity(operands.len());
        for (index, operand) in operands.into_iter().enumerate() {
            let node = self.natural(operand)?;
            let span = node.span;
            let name: Box<str> = format!("\u{2}{index}").into();
            let slot = match node.op {
                Op::Slot(slot) => slot,
                _ => return Err(Fail::new(span, "the index has no place")),
            };
            self.locals.push(Local {
                at: None,
                name: name.clone(),
                slot,
                ty: node.ty,
                names: node.names,
                item: None,
                dynamic: false,
            });
            let identifier = Identifier {
                text: name,
                verbatim: true,
                span,
            };
            let kind = ExprKind::Name(SimpleName {
                identifier,
                arguments: None,
                span,
            });
            arguments.push(Argument {
                name: None,
                modifier: None,
                value: Expr { kind, span },
            });
        }
        Ok(arguments)
    }
}
