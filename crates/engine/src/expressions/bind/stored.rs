//! Elements that lie in a value itself, or where a span leads to: indexing them runs no code.

use syntax::Span;
use syntax::tree::{Argument, BinaryOp, ExprKind, UnaryOp};

use super::postfix::returns_reference;
use super::{Binder, Operand, TupleNames};
use crate::expressions::error::{Fail, Result};
use crate::expressions::plan::{FieldRef, Node, Op};
use crate::expressions::scalar::{Kind, Scalar};
use crate::types::Type;

impl Binder<'_> {
    /// `span[1]`, `inline[1]`, `buffer[1]`; `None` for other types, and for indexes that are counted back or ranges.
    pub(super) fn element_in_place(
        &mut self,
        target: &Node,
        arguments: &[Argument],
        span: Span,
    ) -> Result<Option<Node>> {
        let [argument] = arguments else {
            return Ok(None);
        };
        let Some(element) = self.stored_element(&target.ty) else {
            return Ok(None);
        };
        if let Op::Slice(..) = target.op {
            // It exists only here, and what it is made of is read once.
            let slot = self.slot();
            let part = self.held_in(slot, target);
            let inner = self.element_in_place(&part, arguments, span)?;
            return Ok(inner.map(|inner| {
                let ty = inner.ty.clone();
                let op = Op::Let(vec![(slot, target.clone())], Box::new(inner));
                Node::new(op, ty, span)
            }));
        }
        let index = match &argument.value.without_parens().kind {
            ExprKind::Range(start, end) => {
                let Some(ty) = self.part_of_inline(target, &element) else {
                    return Ok(None);
                };
                let range = self.range(start.as_deref(), end.as_deref(), argument.value.span)?;
                let op = Op::Slice(Box::new(target.clone()), Box::new(range));
                return Ok(Some(Node::new(op, ty, span)));
            }
            ExprKind::Unary(UnaryOp::FromEnd, inner) => {
                let Some(length) = self.stored_length(target, span) else {
                    return Ok(None);
                };
                let operand = self.bind(inner)?;
                let back = self.convert(operand, &Type::INT, inner.span)?;
                let (length, back) = (Operand::Value(length), Operand::Value(back));
                self.binary_operands(BinaryOp::Subtract, length, back, span)?
            }
            _ => {
                let operand = self.bind(&argument.value)?;
                if self.implicit(&operand, &Type::INT).is_none() {
                    return Ok(None);
                }
                self.convert(operand, &Type::INT, argument.value.span)?
            }
        };
        let names = self.names_of_part(Some(target), &element, true);
        let op = Op::Element(Box::new(target.clone()), vec![index]);
        let mut node = Node::new(op, element, span);
        node.names = names;
        Ok(Some(node))
    }

    /// What a range of an inline array is: a span, which may only be read where the array may (C# 12 inline arrays).
    fn part_of_inline(&self, target: &Node, element: &Type) -> Option<Type> {
        let named = target.ty.as_named()?;
        crate::values::buffer_length(self.types, named)?;
        let name = match self.is_read_only(target) {
            true => "ReadOnlySpan`1",
            false => "Span`1",
        };
        let open = self.types.core("System", name)?;
        let element = std::slice::from_ref(element);
        self.types.close(open.as_named()?, element).ok()
    }

    /// How many elements there are; `None` where asking would evaluate once more what leads there.
    fn stored_length(&mut self, target: &Node, span: Span) -> Option<Node> {
        let named = target.ty.as_named()?;
        if let Some(length) = crate::values::buffer_length(self.types, named) {
            let length = Scalar::Int(Kind::Int, length.into());
            return Some(Node::constant(length, Type::INT, span));
        }
        match target.op {
            Op::Variable(_) | Op::Slot(_) => self.count_of(target, span),
            _ => None,
        }
    }

    fn stored_element(&self, ty: &Type) -> Option<Type> {
        let named = ty.as_named()?;
        let is = |name: &str| self.types.is_named(named, "System", name);
        if is("Span`1") || is("ReadOnlySpan`1") {
            return named.arguments.first().cloned();
        }
        crate::values::buffer_length(self.types, named)?;
        let fields = self.types.fields(named).ok()?;
        let first = fields.iter().find(|it| !it.flags.is_static())?;
        Some(first.ty.clone())
    }

    pub(super) fn is_read_only_span(&self, ty: &Type) -> bool {
        ty.as_named()
            .is_some_and(|it| self.types.is_named(it, "System", "ReadOnlySpan`1"))
    }

    /// Whether nothing of a struct may be changed once it is made.
    pub(super) fn is_read_only_struct(&self, ty: &Type) -> bool {
        let Some(named) = ty.as_named() else {
            return false;
        };
        let module = self.types.metadata(named.module);
        module.is_ok_and(|it| it.metadata().is_read_only(named.token))
    }

    /// Whether something lies in an `in` parameter or in what is returned as `ref readonly`: nothing there may be changed, and methods get a copy.
    pub(super) fn is_read_only(&self, node: &Node) -> bool {
        match &node.op {
            Op::Variable(number) => {
                let variable = self.context.variables.get(*number);
                variable.is_some_and(|it| it.read_only && it.ty.is_value() == Some(true))
            }
            Op::Field(target, _) => target.ty.is_value() == Some(true) && self.is_read_only(target),
            Op::Element(target, _) if self.is_read_only_span(&target.ty) => true,
            Op::Element(target, _) => {
                let named = target.ty.as_named();
                named.is_some_and(|it| crate::values::buffer_length(self.types, it).is_some())
                    && self.is_read_only(target)
            }
            Op::Let(_, inner) => self.is_read_only(inner),
            Op::ConditionalRef(_, yes, no) => self.is_read_only(yes) || self.is_read_only(no),
            Op::Call(callee, ..) => returns_reference(callee) && self.returns_read_only(callee),
            _ => false,
        }
    }

    /// Why what lies in an `in` parameter or `ref readonly` local, or is returned as such, cannot be assigned, or a member of it.
    pub(super) fn fixed(&self, node: &Node, is_member: bool, span: Span) -> Box<Fail> {
        let mut root = node;
        while let Op::Field(target, _) | Op::Element(target, _) = &root.op {
            root = target;
        }
        let is_local = matches!(root.op, Op::Variable(number) if self
            .context
            .variables
            .get(number)
            .is_some_and(|it| it.is_local));
        let whole = match is_member || !matches!(node.op, Op::Variable(_)) {
            true => "a member of ",
            false => "",
        };
        let is_returned = matches!(root.op, Op::Call(..));
        let (code, what) = match (is_local, is_member) {
            _ if is_returned => ("CS8332", "what is returned as `ref readonly`"),
            (true, _) => ("CS0131", "a `ref readonly` local"),
            (false, true) => ("CS8332", "an `in` parameter"),
            (false, false) => ("CS8331", "an `in` parameter"),
        };
        Fail::cs(code, span, format!("{whole}{what} cannot be assigned"))
    }

    /// Whether only constructors may assign a field.
    pub(super) fn is_readonly(&self, field: &FieldRef) -> bool {
        if let Type::ByRef(_) = field.ty {
            return self.leads_to_fixed(field);
        }
        let fields = self.types.fields(&field.declared_in);
        fields.is_ok_and(|all| {
            let found = all.iter().find(|it| it.token == field.token);
            found.is_some_and(|it| it.flags.is_init_only())
        })
    }

    /// Whether what a field leads to that is a reference may not be changed: `ref readonly`.
    fn leads_to_fixed(&self, field: &FieldRef) -> bool {
        let module = self.types.metadata(field.declared_in.module);
        module.is_ok_and(|it| {
            let compiler = "System.Runtime.CompilerServices";
            it.metadata()
                .has_attribute(field.token, compiler, "IsReadOnlyAttribute")
        })
    }

    /// The names of tuple elements that a part of a value has from where the value is declared.
    pub(super) fn names_of_part(
        &self,
        of: Option<&Node>,
        part: &Type,
        an_element: bool,
    ) -> TupleNames {
        let names = of.filter(|it| !it.names.is_empty()).and_then(|of| {
            let range = self.types.names_of_part(&of.ty, part, an_element)?;
            of.names.get(range).map(TupleNames::from)
        });
        names.unwrap_or_default()
    }
}
