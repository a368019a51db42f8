//! `new`, arrays, anonymous objects, collections.

use std::rc::Rc;

use syntax::Span;
use syntax::tree::{
    AnonymousMember, ArrayElement, Expr, Identifier, InitValue, Initializer, InitializerMember,
    New, NewArray, SimpleName,
};

use super::literals::inferred_name;
use super::{Binder, Operand};
use crate::expressions::error::{Fail, Result};
use crate::expressions::plan::{Node, Op};
use crate::types::{Kind, Type};

impl Binder<'_> {
    pub(super) fn new_object(&mut self, new: &New, span: Span) -> Result<Node> {
        let Some(ty) = &new.ty else {
            return Err(Fail::cs(
                "CS8754",
                span,
                "there is no target type for `new(…)`",
            ));
        };
        let (written, ty) = (ty, self.ty(ty)?);
        let mut node = self.new_of(new, &ty, span)?;
        self.name_as_written(&mut node, written);
        Ok(node)
    }

    pub(super) fn new_of(&mut self, new: &New, ty: &Type, span: Span) -> Result<Node> {
        let arguments = new.arguments.as_deref().unwrap_or_default();
        if let Type::Named(named) = ty
            && let Ok(constructors) = self.types.methods(named, Some(".ctor"))
        {
            self.note_arguments(&constructors, arguments, 0);
        }
        let arguments = self.arguments(arguments)?;
        // `new int?(5)` and `new()` for a nullable make the value inside.
        if let Some(inner) = self.nullable_of(ty) {
            return match arguments.into_iter().next() {
                None => self.default_value(ty, span),
                Some(argument) => {
                    let value = self.convert(argument.operand, &inner, span)?;
                    self.convert(Operand::Value(value), ty, span)
                }
            };
        }
        if arguments.is_empty()
            && new.initializer.is_none()
            && ty.is_value() == Some(true)
            && !self.has_constructor(ty)
        {
            return self.default_value(ty, span).map(|mut it| {
                it.constant = it.constant.filter(|_| matches!(it.op, Op::Constant(_)));
                it
            });
        }
        let Some(named) = self.types.named(ty).filter(|_| ty.element().is_none()) else {
            return Err(Fail::cs(
                "CS1031",
                span,
                format!("`{}` cannot be created with new", self.text(ty)),
            ));
        };
        let definition = self
            .types
            .definition(&named)
            .map_err(|error| Fail::new(span, error.to_string()))?;
        let flags = definition.flags();
        if named.kind == Kind::Interface || flags.is_abstract() && !flags.is_sealed() {
            return Err(Fail::cs(
                "CS0144",
                span,
                format!("`{}` is abstract and cannot be created", self.text(ty)),
            ));
        }
        if flags.is_abstract() && flags.is_sealed() {
            return Err(Fail::cs(
                "CS0712",
                span,
                format!("`{}` is static and cannot be created", self.text(ty)),
            ));
        }
        if named.kind == Kind::Delegate {
            return match arguments.into_iter().next() {
                Some(argument) => self.new_delegate(argument.operand, ty, span),
                None => Err(Fail::cs(
                    "CS1729",
                    span,
                    "a delegate is created from a method or lambda",
                )),
            };
        }
        let constructors = self
            .types
            .methods(&named, Some(".ctor"))
            .map_err(|error| Fail::new(span, error.to_string()))?;
        let made = if arguments.is_empty()
            && constructors.iter().all(|it| !it.parameters.is_empty())
            && named.kind == Kind::Struct
        {
            self.must_set_required(&named, None, new.initializer.as_ref(), span)?;
            Node::new(Op::Default, ty.clone(), span)
        } else {
            match self.resolve(&constructors, &[], &arguments) {
                Ok(candidate) => {
                    let constructor = Some(&candidate.method);
                    self.must_set_required(&named, constructor, new.initializer.as_ref(), span)?;
                    let nodes = self.apply_arguments(&candidate, arguments, span)?;
                    let callee = self.callee(candidate.method, Vec::new(), false);
                    Node::new(Op::New(Rc::new(callee), nodes), ty.clone(), span)
                }
                Err((_, true)) => {
                    return Err(Fail::cs(
                        "CS0121",
                        span,
                        "the constructor call is ambiguous between several overloads",
                    ));
                }
                Err((misfit, _)) => {
                    use super::misfits::Misfit;
                    let text = self.text(ty);
                    return Err(match misfit.map(|it| *it) {
                        Some((_, Misfit::Argument(index, to))) => {
                            self.bad_argument(&arguments, index, &to, span)
                        }
                        Some((_, Misfit::Missing(parameter))) => Fail::cs(
                            "CS7036",
                            span,
                            format!(
                                "there is no argument for the required parameter `{parameter}` of the constructor of `{text}`"
                            ),
                        ),
                        Some((_, Misfit::Named(parameter))) => Fail::cs(
                            "CS1739",
                            span,
                            format!(
                                "no constructor of `{text}` has a parameter named `{parameter}`"
                            ),
                        ),
                        _ => Fail::cs(
                            "CS1729",
                            span,
                            format!(
                                "`{text}` has no constructor that takes {} arguments",
                                arguments.len()
                            ),
                        ),
                    });
                }
            }
        };
        match &new.initializer {
            None => Ok(made),
            Some(initializer) => self.initialized(made, initializer, span),
        }
    }

    /// A delegate of a lambda, a method, or of another delegate, which it calls.
    fn new_delegate(&mut self, from: Operand<'_>, ty: &Type, span: Span) -> Result<Node> {
        let other = match &from {
            Operand::Value(node) if node.ty != *ty && self.invoke(&node.ty).is_some() => {
                Some(node.clone())
            }
            _ => None,
        };
        let Some(other) = other else {
            return self.convert(from, ty, span);
        };
        let name = SimpleName {
            identifier: Identifier {
                text: "Invoke".into(),
                verbatim: false,
                span,
            },
            arguments: None,
            span,
        };
        let group = self.instance_member(other, &name, span)?;
        self.convert(group, ty, span)
    }

    fn has_constructor(&self, ty: &Type) -> bool {
        let Some(named) = self.types.named(ty) else {
            return false;
        };
        let constructors = self
            .types
            .methods(&named, Some(".ctor"))
            .unwrap_or_default();
        constructors.iter().any(|it| it.parameters.is_empty())
    }

    pub(super) fn new_array(&mut self, new: &NewArray, span: Span) -> Result<Node> {
        if new.stackalloc {
            return Err(Fail::new(
                span,
                "stackalloc cannot be evaluated: there is no frame of ours on the stack",
            )
            .hint("use new"));
        }
        let values = new.initializer.as_ref().map(|it| &it.elements);
        let flat: Option<Vec<&Expr>> = values.map(|values| {
            values
                .iter()
                .filter_map(|it| match it {
                    ArrayElement::Value(expr) => Some(expr),
                    ArrayElement::Nested(_) => None,
                })
                .collect()
        });
        if new.rank != 1 {
            return self.new_grid(new, span);
        }
        if values.is_some_and(|values| flat.as_ref().is_none_or(|it| it.len() != values.len())) {
            let told = "an array of one dimension has no rows in braces";
            return Err(Fail::cs("CS0623", span, told));
        }
        if let Some(flat) = flat {
            let mut operands = Vec::new();
            for expr in flat {
                operands.push(self.bind(expr)?);
            }
            let element = match &new.element {
                Some(ty) => self.ty(ty)?,
                None => self.common_of_values(&operands).ok_or_else(|| {
                    Fail::cs(
                        "CS0826",
                        span,
                        "no best type was found for the array; write its type: new int[] { … }",
                    )
                })?,
            };
            if let [size] = new.sizes.as_slice() {
                let operand = self.bind(size)?;
                let size_node = self.convert(operand, &Type::INT, size.span)?;
                let count = size_node
                    .scalar()
                    .and_then(crate::expressions::scalar::Scalar::integer);
                if count != Some(operands.len() as i128) {
                    return Err(Fail::cs(
                        if count.is_none() { "CS0150" } else { "CS0847" },
                        span,
                        format!(
                            "an array initialiser of {} elements does not fit the size",
                            operands.len()
                        ),
                    ));
                }
            }
            let names = self.common_names(&operands, &element);
            let mut nodes = Vec::new();
            for operand in operands {
                let at = operand.span();
                nodes.push(self.convert(operand, &element, at)?);
            }
            let array = Type::SzArray(Rc::new(element));
            let mut made = Node::new(Op::ArrayOf(nodes), array, span);
            made.names = names;
            if let Some(written) = &new.element {
                self.name_as_written(&mut made, written);
            }
            return Ok(made);
        }
        let Some(element) = &new.element else {
            return Err(Fail::cs("CS0826", span, "the array has no element type"));
        };
        let element = self.ty(element)?;
        let Some(size) = new.sizes.first() else {
            return Err(Fail::cs("CS1586", span, "the array has no size"));
        };
        let operand = self.bind(size)?;
        let size = self.convert(operand, &Type::INT, size.span)?;
        if matches!(size.scalar().and_then(crate::expressions::scalar::Scalar::integer), Some(value) if value < 0)
        {
            return Err(Fail::cs(
                "CS0248",
                size.span,
                "an array cannot have a negative size",
            ));
        }
        Ok(Node::new(
            Op::NewArray(Box::new(size)),
            Type::SzArray(Rc::new(element)),
            span,
        ))
    }

    /// `new { A = 1 }`, of the program's type for that shape, or of one that exists only here.
    pub(super) fn anonymous(&mut self, members: &[AnonymousMember], span: Span) -> Result<Node> {
        let mut fields = Vec::new();
        for member in members {
            let name = match &member.name {
                Some(name) => name.text.to_string(),
                None => inferred_name(&member.value)
                    .ok_or_else(|| {
                        Fail::cs(
                            "CS0746",
                            member.value.span,
                            "the member has no name: write Name = …",
                        )
                    })?
                    .to_owned(),
            };
            if fields.iter().any(|(it, _)| *it == name) {
                let told = format!("an anonymous object has one member `{name}`");
                return Err(Fail::cs("CS0833", member.value.span, told));
            }
            let operand = self.bind(&member.value)?;
            if matches!(
                operand,
                Operand::Null(_) | Operand::Lambda(..) | Operand::Group(_)
            ) {
                return Err(Fail::cs(
                    "CS0828",
                    member.value.span,
                    "an anonymous object's member needs a value with a type",
                ));
            }
            if fields.iter().any(|(it, _)| *it == name) {
                let told = format!("the anonymous object has two members called `{name}`");
                return Err(Fail::cs("CS0833", member.value.span, told));
            }
            fields.push((name, self.natural(operand)?));
        }
        let wanted: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
        let types = || fields.iter().map(|(_, node)| node.ty.clone()).collect();
        let ty = self
            .anonymous_type(&wanted, &fields)
            .or_else(|| self.types.anonymous(&wanted, types()));
        let Some(ty) = ty else {
            let told = "the anonymous object has too many members, or too many different ones were made in this session";
            return Err(Fail::new(span, told).hint("use a tuple: (A: 1, B: 2)"));
        };
        let nodes = fields
            .into_iter()
            .map(|(name, node)| (Rc::from(format!("<{name}>i__Field")), node))
            .collect();
        Ok(Node::new(Op::Anonymous(nodes), ty, span))
    }

    fn anonymous_type(&self, names: &[&str], fields: &[(String, Node)]) -> Option<Type> {
        let module = self.context.module?;
        let opened = self.types.metadata(module).ok()?;
        let types: Vec<Type> = fields.iter().map(|(_, node)| node.ty.clone()).collect();
        for definition in opened.metadata().type_defs().flatten() {
            let is_anonymous = definition
                .name()
                .is_ok_and(|it| it.starts_with("<>f__AnonymousType"));
            if !is_anonymous {
                continue;
            }
            let properties: Vec<String> = definition
                .properties()
                .flatten()
                .filter_map(|it| Some(it.name().ok()?.into_owned()))
                .collect();
            if properties == names {
                let open = self.types.open(module, definition.token()).ok()?;
                return self.types.close(open.as_named()?, &types).ok();
            }
        }
        None
    }

    pub(super) fn with(
        &mut self,
        inner: &Expr,
        initializer: &Initializer,
        span: Span,
    ) -> Result<Node> {
        let value = self.value(inner)?;
        let ty = value.ty.clone();
        if self.is_anonymous(&ty) {
            return self.anonymous_with(value, initializer, span);
        }
        let copy = if ty.is_value() == Some(true) {
            value
        } else {
            let methods: Vec<_> = self
                .levels(&ty)
                .iter()
                .flat_map(|it| self.types.methods(it, Some("<Clone>$")).unwrap_or_default())
                .collect();
            let Some(method) = methods.into_iter().next() else {
                return Err(Fail::cs(
                    "CS8858",
                    span,
                    format!(
                        "`{}` is not a record and cannot be copied with `with`",
                        self.text(&ty)
                    ),
                ));
            };
            let callee = self.callee(method, Vec::new(), true);
            Node::new(
                Op::Call(Rc::new(callee), Some(Box::new(value)), Vec::new()),
                ty.clone(),
                span,
            )
        };
        self.initialized(copy, initializer, span)
    }

    fn is_anonymous(&self, ty: &Type) -> bool {
        let named = ty.as_named();
        let name = named.and_then(|it| self.types.simple_name(it).ok());
        name.is_some_and(|(_, name)| name.starts_with("<>f__AnonymousType"))
    }

    /// `with` of an anonymous object: another one, with the members that are named replaced.
    fn anonymous_with(&mut self, value: Node, with: &Initializer, span: Span) -> Result<Node> {
        let ty = value.ty.clone();
        let slot = self.slot();
        let read = self.slot_node(slot, &ty, span);
        let properties = match ty.as_named() {
            Some(named) => self.types.properties(named).unwrap_or_default(),
            None => Default::default(),
        };
        let mut changed = Vec::new();
        for member in &with.members {
            let InitializerMember::Property(name, InitValue::Expr(value)) = member else {
                return Err(Fail::cs("CS0747", span, "`with` takes members: Name = …"));
            };
            if !properties.iter().any(|it| *it.name == *name.text) {
                let told = format!("`{}` has no member `{}`", self.text(&ty), name.text);
                return Err(Fail::cs("CS0117", name.span, told));
            }
            changed.push((name.text.clone(), value));
        }
        let mut members = Vec::new();
        for property in properties.iter() {
            let mut member = self.member_value(read.clone(), &property.name, span)?;
            let given = changed.iter().find(|(name, _)| **name == *property.name);
            if let Some((_, given)) = given {
                let operand = self.bind(given)?;
                member = self.convert(operand, &member.ty, given.span)?;
            }
            members.push((Rc::from(format!("<{}>i__Field", property.name)), member));
        }
        let made = Node::new(Op::Anonymous(members), ty.clone(), span);
        let op = Op::Let(vec![(slot, value)], Box::new(made));
        Ok(Node::new(op, ty, span))
    }
}
