//! Variables that are declared with a type parameter: they have what its constraints promise, not what the type that it stands for
//! here happens to have (C# 15.2.5).
//!
//! Everything else of that type can be used, too: an expression is bound with it first. What only the parameter allows (`x is null`
//! where it stands for `int`) is bound in a second try, with the variable as the object it would be boxed to. So is what a test looks at
//! that is a field, element or result of such a type.

use std::rc::Rc;

use syntax::Span;
use syntax::tree::{Expr, ExprKind};

use super::context::Bounds;
use super::{Binder, Operand};
use crate::expressions::error::{Fail, Result};
use crate::expressions::plan::{Conversion, Node, Op};
use crate::types::{Kind, Method, Named, Type};

/// Codes of errors that come from a type argument being known: as an object the value may do.
const AS_OBJECT: [&str; 8] = [
    "CS0019", "CS0023", "CS0029", "CS0030", "CS0037", "CS0039", "CS8121", "CS8117",
];

impl Binder<'_> {
    /// What is demanded of the type parameter that a variable is declared with.
    fn bounds(&self, node: &Node) -> Option<Rc<Bounds>> {
        match node.op {
            Op::Variable(number) => self.context.variables.get(number)?.bounds.clone(),
            _ => None,
        }
    }

    /// Binds once more with such variables as objects, if that may help.
    pub(super) fn or_as_objects(
        &mut self,
        bound: Result<Node>,
        again: impl FnOnce(&mut Self) -> Result<Node>,
    ) -> Result<Node> {
        let is_theirs = |fail: &Fail| fail.code.is_some_and(|it| AS_OBJECT.contains(&it));
        let mut variables = self.context.variables.iter();
        let has_any = !self.context.type_parameters.is_empty();
        match bound {
            Err(fail)
                if is_theirs(&fail) && (has_any || variables.any(|it| it.bounds.is_some())) =>
            {
                self.locals.clear();
                self.as_objects = true;
                let second = again(self);
                self.as_objects = false;
                second.map_err(|_| fail)
            }
            bound => bound,
        }
    }

    /// A variable as the object it would be boxed to.
    pub(super) fn as_object(&self, node: Node) -> Node {
        converted(node, Type::OBJECT)
    }

    /// What a test looks at: in the second try as an object, if it is declared with a type parameter of the frame.
    pub(super) fn tested(&self, node: Node) -> Node {
        let mut parameters = self.context.type_parameters.iter();
        let stands = parameters.any(|(_, ty)| *ty == node.ty);
        match self.as_objects && stands && self.may_be_declared_so(&node) {
            true => self.as_object(node),
            false => node,
        }
    }

    /// Whether a value may be declared with a type parameter: what lambdas take and the elements of variables may be, as their
    /// types are known only with what it stands for.
    fn may_be_declared_so(&self, node: &Node) -> bool {
        match &node.op {
            Op::Slot(_) => true,
            Op::Element(of, _) => match self.declared_as(of) {
                Some(open) => open.element().is_some_and(is_parameter),
                None => matches!(of.op, Op::Variable(_) | Op::Slot(_)),
            },
            _ => self.declared_as(node).is_some_and(|it| is_parameter(&it)),
        }
    }

    /// The type that a field or method is declared with.
    fn declared_as(&self, node: &Node) -> Option<Type> {
        let open = |ty: &Named| self.types.open_named(ty.module, ty.token).ok();
        match &node.op {
            Op::Field(_, field) => {
                let fields = self.types.fields(&open(&field.declared_in)?).ok()?;
                let found = fields.iter().find(|it| it.token == field.token)?;
                Some(found.ty.clone())
            }
            Op::Call(callee, ..) => {
                let method = &callee.method;
                let named = open(&method.declared_in)?;
                let methods = self.types.methods(&named, Some(&method.name)).ok()?;
                let found = methods.into_iter().find(|it| it.token == method.token)?;
                Some(found.returns)
            }
            _ => None,
        }
    }

    /// What a member of such a variable is looked for in: the constraint that has it, where the type has it otherwise.
    pub(super) fn as_bound(&self, target: Node, name: &str, span: Span) -> Result<Node> {
        let Some(bounds) = self.bounds(&target) else {
            return Ok(target);
        };
        let is_value = target.ty.is_value() == Some(true);
        if is_value && self.assigning {
            return Ok(target);
        }
        for bound in &bounds.types {
            if *bound == target.ty || !self.has_named(bound, name) {
                continue;
            }
            let is_interface = matches!(bound, Type::Named(it) if it.kind == Kind::Interface);
            if !is_interface {
                return Ok(converted(target, bound.clone()));
            }
            let explicit = self.implemented_explicitly(&target.ty, name);
            if explicit.is_none() && self.has_own(&target.ty, name) {
                return Ok(target);
            }
            let is_method = explicit.is_some_and(|it| !it.contains(".get_"));
            if is_value && is_method && !self.is_read_only_struct(&target.ty) {
                let told = format!(
                    "`{}` implements `{name}` explicitly, and the debugger could call it only on a copy",
                    self.text(&target.ty)
                );
                let hint = "cast it to the interface, if a copy will do";
                return Err(Fail::new(span, told).hint(hint));
            }
            return Ok(converted(target, bound.clone()));
        }
        Ok(target)
    }

    /// The operands of `==` and `!=`: with null, and among each other, such variables are compared as their constraint has it.
    pub(super) fn compared_as_bound<'e>(
        &self,
        left: Operand<'e>,
        right: Operand<'e>,
    ) -> (Operand<'e>, Operand<'e>) {
        let of = |it: &Operand<'_>| it.value().and_then(|it| self.bounds(it));
        let class = |bounds: &Bounds| {
            let is_class = |it: &&Type| matches!(it, Type::Named(it) if it.kind == Kind::Class);
            bounds.types.iter().find(is_class).cloned()
        };
        match (of(&left), of(&right), left, right) {
            (Some(bounds), None, Operand::Value(node), right @ Operand::Null(_)) => {
                let to = class(&bounds).unwrap_or(Type::OBJECT);
                (Operand::Value(converted(node, to)), right)
            }
            (None, Some(bounds), left @ Operand::Null(_), Operand::Value(node)) => {
                let to = class(&bounds).unwrap_or(Type::OBJECT);
                (left, Operand::Value(converted(node, to)))
            }
            (Some(one), Some(other), Operand::Value(left), Operand::Value(right))
                if left.ty.is_reference() && (one.is_class || other.is_class) =>
            {
                let to = class(&one).unwrap_or(Type::OBJECT);
                (
                    Operand::Value(converted(left, to.clone())),
                    Operand::Value(converted(right, to)),
                )
            }
            (_, _, left, right) => (left, right),
        }
    }

    /// Whether an expression names a type parameter of the frame.
    pub(super) fn is_type_parameter(&self, expr: &Expr) -> bool {
        let ExprKind::Name(name) = &expr.kind else {
            return false;
        };
        let mut all = self.context.type_parameters.iter();
        name.arguments.is_none() && all.any(|(it, _)| **it == *name.identifier.text)
    }

    /// A static property that a type implements explicitly for an interface: only a type parameter leads to it.
    pub(super) fn explicit_static(&mut self, ty: &Type, name: &str, span: Span) -> Option<Node> {
        let named = self.types.named(ty)?;
        let suffix = format!(".get_{name}");
        let methods = self.types.methods(&named, None).ok()?;
        let method = methods.into_iter().find(|it| {
            it.flags.is_static() && it.parameters.is_empty() && it.name.ends_with(&suffix)
        })?;
        let ty = method.returns.clone();
        let callee = self.callee(method, Vec::new(), false);
        Some(Node::new(
            Op::Call(Rc::new(callee), None, Vec::new()),
            ty,
            span,
        ))
    }

    /// The same of methods.
    pub(super) fn explicit_statics(&self, ty: &Type, name: &str) -> Vec<Method> {
        let suffix = format!(".{name}");
        let named = self.types.named(ty);
        let methods = named.and_then(|it| self.types.methods(&it, None).ok());
        let is_it = |it: &Method| it.flags.is_static() && it.name.ends_with(&suffix);
        methods
            .unwrap_or_default()
            .into_iter()
            .filter(is_it)
            .collect()
    }

    /// Whether a class or interface has, or inherits, an instance member of a name.
    fn has_named(&self, ty: &Type, name: &str) -> bool {
        let Type::Named(named) = ty else { return false };
        let inherited = self.types.interfaces(ty).unwrap_or_default();
        match named.kind {
            Kind::Interface => inherited
                .into_iter()
                .chain([Rc::clone(named)])
                .any(|it| self.has_own(&Type::Named(it), name)),
            _ => self.has_own(ty, name),
        }
    }

    /// Whether a type or one that it derives from has a member of a name, interfaces aside.
    fn has_own(&self, ty: &Type, name: &str) -> bool {
        let accessors = [format!("get_{name}"), format!("set_{name}")];
        let is_it = |it: &str| it == name || accessors.iter().any(|accessor| it == accessor);
        let levels = match self.types.named(ty) {
            Some(named) if named.kind == Kind::Interface => vec![named],
            _ => self.types.ancestry(ty).unwrap_or_default(),
        };
        levels.iter().any(|level| {
            let methods = self.types.methods(level, None).unwrap_or_default();
            let fields = self.types.fields(level).unwrap_or_default();
            methods.iter().any(|it| is_it(&it.name)) || fields.iter().any(|it| *it.name == *name)
        })
    }

    /// The method by which a type implements a member of an interface under the interface's name.
    fn implemented_explicitly(&self, ty: &Type, name: &str) -> Option<String> {
        let ends = [
            format!(".{name}"),
            format!(".get_{name}"),
            format!(".set_{name}"),
        ];
        let levels = self.types.ancestry(ty).unwrap_or_default();
        levels.iter().find_map(|level| {
            let methods = self.types.methods(level, None).unwrap_or_default();
            let mut names = methods.into_iter().map(|it| it.name.to_string());
            names.find(|it| ends.iter().any(|end| it.ends_with(end)))
        })
    }
}

fn is_parameter(ty: &Type) -> bool {
    matches!(ty, Type::Variable(_) | Type::MethodVariable(_))
}

fn converted(node: Node, to: Type) -> Node {
    let conversion = match node.ty.is_value() {
        Some(true) => Conversion::Box,
        _ => Conversion::Keep,
    };
    let span = node.span;
    Node::new(Op::Convert(conversion, Box::new(node)), to, span)
}
