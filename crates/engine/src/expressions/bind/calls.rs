//! Calls: of methods, extension methods and delegates.

use std::rc::Rc;

use metadata::signature::Primitive;
use syntax::Span;
use syntax::tree::{Argument, Expr, ExprKind, SimpleName, TypeKind};

use super::late::is_late;
use super::lookup::Found;
use super::misfits::Misfit;
use super::overloads::Arg;
use super::{Binder, Group, Operand, local_functions};
use crate::expressions::error::{Fail, Result};
use crate::expressions::intrinsics::Intrinsic;
use crate::expressions::plan::{Callee, Conversion, Node, Op};
use crate::expressions::scalar::Scalar;
use crate::types::{Method, Type};

impl Binder<'_> {
    pub(super) fn call<'e>(
        &mut self,
        expr: &'e Expr,
        target: &'e Expr,
        arguments: &'e [Argument],
        span: Span,
    ) -> Result<Operand<'e>> {
        if let Some(named) = expr.as_nameof()
            && let Err(fail) = self.bind(target)
            && fail.code == Some("CS0103")
        {
            return self.name_of(named, span).map(Operand::Value);
        }
        let bound = self.bind(target);
        let bound = match self.bind_called(target, &bound).map_or(bound, Ok) {
            Ok(bound) => bound,
            Err(fail) => {
                // Nor does a static member that cannot be called.
                if fail.code == Some("CS0176")
                    && let Some((receiver, name)) = self.receiver_of(target)
                    && !self.can_be_invoked(&receiver.ty, &name.identifier.text)
                {
                    let found = self.extension_of(receiver, name, arguments, span)?;
                    let told = format!(
                        "`{}` is no method and cannot be called",
                        name.identifier.text
                    );
                    let fail = || Fail::cs("CS1955", name.span, told);
                    return found.map(Operand::Value).ok_or_else(fail);
                }
                let assumed = self.assumed(&fail, target, arguments, span)?;
                return assumed.map(Operand::Value).ok_or(fail);
            }
        };
        match bound {
            Operand::Group(mut group) => {
                group.span = span;
                self.note_arguments(&group.methods, arguments, 0);
                let arguments = self.arguments(arguments)?;
                self.call_group(&group, arguments, span).map(Operand::Value)
            }
            Operand::Value(node) if is_late(&node) => {
                self.late_call(node, arguments, span).map(Operand::Value)
            }
            Operand::Value(node) => {
                let mut property = None;
                // A property that cannot be called does not hide an extension method of its name.
                let member = match self.invoke(&node.ty) {
                    Some(_) => None,
                    None => self.receiver_of(target),
                };
                if let Some((receiver, name)) = member {
                    if let Some(found) = self.extension_of(receiver, name, arguments, span)? {
                        return Ok(Operand::Value(found));
                    }
                    property = Some(name.identifier.text.clone());
                }
                let is_member = matches!(target.kind, ExprKind::Member { .. });
                let called = self.invoke_value(node, arguments, span);
                called.map(Operand::Value).map_err(|mut fail| {
                    if is_member && fail.code == Some("CS0149") {
                        fail.code = Some("CS1955");
                    }
                    // The name tells whether an assembly that is not loaded would bring the method.
                    if let (Some(name), Some("CS1955")) = (property, fail.code) {
                        fail.message = format!("`{name}` is no method: {}", fail.message);
                    }
                    fail
                })
            }
            Operand::Type(ty, at) => Err(Fail::cs(
                "CS1955",
                at,
                format!("`{}` is a type and cannot be called", self.text(&ty)),
            )
            .hint(format!("write new {}(…) to create one", self.text(&ty)))),
            other => Err(self
                .natural(other)
                .err()
                .unwrap_or_else(|| Fail::cs("CS0149", span, "a method name is expected"))),
        }
    }

    /// The method or delegate that is called where a nearer member of its name cannot be.
    fn bind_called<'e>(
        &mut self,
        target: &'e Expr,
        bound: &Result<Operand<'e>>,
    ) -> Option<Operand<'e>> {
        let name = match &target.kind {
            ExprKind::Member { name, .. } | ExprKind::MemberBinding(name) => name,
            ExprKind::Name(name) => name,
            _ => return None,
        };
        match bound {
            Ok(Operand::Value(node)) if !is_late(node) && self.invoke(&node.ty).is_none() => {}
            // A member of objects where a type is named, or the other way round.
            Err(fail) if matches!(fail.code, Some("CS0120" | "CS0176")) => {}
            _ => return None,
        }
        let outer = self.called.replace(name.span);
        let found = self.bind(target);
        self.called = outer;
        match found {
            Ok(Operand::Group(group)) => Some(Operand::Group(group)),
            Ok(Operand::Value(node)) if self.invoke(&node.ty).is_some() => {
                Some(Operand::Value(node))
            }
            _ => None,
        }
    }

    /// What a member that is called is a member of, if that is a value.
    fn receiver_of<'e>(&mut self, target: &'e Expr) -> Option<(Node, &'e SimpleName)> {
        match &target.kind {
            ExprKind::Member { target, name, .. } => match self.bind(target) {
                Ok(Operand::Value(receiver)) => Some((receiver, name)),
                _ => None,
            },
            ExprKind::MemberBinding(name) => self.receivers.last().cloned().map(|it| (it, name)),
            _ => None,
        }
    }

    /// Whether a member is a method or holds a delegate.
    fn can_be_invoked(&mut self, ty: &Type, name: &str) -> bool {
        match self.find_member(ty, name) {
            Some(Found::Field(_, field)) => self.invoke(field.ty.without_ref()).is_some(),
            Some(Found::Property(property)) => self.invoke(property.ty.without_ref()).is_some(),
            _ => true,
        }
    }

    /// The call of an extension method that a member which cannot be called does not hide.
    fn extension_of(
        &mut self,
        receiver: Node,
        name: &SimpleName,
        arguments: &[Argument],
        span: Span,
    ) -> Result<Option<Node>> {
        let (_, type_arguments) = self.type_arguments(name)?;
        let group = Group {
            name: name.identifier.text.clone(),
            ty: Some(receiver.ty.clone()),
            target: Some(receiver.clone()),
            on_type: false,
            methods: Vec::new(),
            type_arguments,
            is_base: false,
            implied: false,
            span,
        };
        let arguments = self.arguments(arguments)?;
        self.call_extension(&group, &receiver, &arguments, span)
    }

    fn invoke_value(&mut self, node: Node, arguments: &[Argument], span: Span) -> Result<Node> {
        if self.invoke(&node.ty).is_none() {
            return self.call_delegate(node, Vec::new(), span);
        }
        let arguments = self.arguments(arguments)?;
        self.call_delegate(node, arguments, span)
    }

    /// Calls a delegate.
    pub(super) fn call_delegate(
        &mut self,
        node: Node,
        arguments: Vec<Arg<'_>>,
        span: Span,
    ) -> Result<Node> {
        let Some(invoke) = self.invoke(&node.ty) else {
            let code = match node.op {
                Op::Field(..) | Op::StaticField(_) | Op::Call(..) | Op::Length(_) => "CS1955",
                _ => "CS0149",
            };
            return Err(Fail::cs(
                code,
                node.span,
                format!("a value of type `{}` cannot be called", self.text(&node.ty)),
            ));
        };
        let returns = invoke.returns.clone();
        let methods = [invoke];
        match self.resolve(&methods, &[], &arguments) {
            Ok(candidate) => {
                let arguments = self.apply_arguments(&candidate, arguments, span)?;
                let callee = self.callee(candidate.method, Vec::new(), true);
                let delegate = node.clone();
                let op = match &node.op {
                    Op::Lambda(_) => Op::Invoke(Box::new(node), arguments),
                    _ => Op::Call(Rc::new(callee), Some(Box::new(node)), arguments),
                };
                let called = Node::new(op, returns, span);
                Ok(self.named_return(called, &delegate))
            }
            Err((misfit, _)) => {
                let name = self.text(&node.ty);
                Err(match misfit.map(|it| *it) {
                    Some((_, Misfit::Argument(index, to))) => {
                        self.bad_argument(&arguments, index, &to, span)
                    }
                    Some((_, Misfit::Missing(parameter))) => Fail::cs(
                        "CS7036",
                        span,
                        format!("there is no argument for the parameter `{parameter}` of `{name}`"),
                    ),
                    _ => Fail::cs(
                        "CS1593",
                        span,
                        format!(
                            "delegate `{name}` does not take {} arguments",
                            arguments.len()
                        ),
                    ),
                })
            }
        }
    }

    /// Calls the best method of a group.
    pub(super) fn call_group(
        &mut self,
        group: &Group,
        arguments: Vec<Arg<'_>>,
        span: Span,
    ) -> Result<Node> {
        if let Some(late) = self.late_group(group, &arguments, span)? {
            return Ok(late);
        }
        let target = group.target.as_ref().filter(|_| !group.on_type);
        let mark = self.note_names(target, &arguments);
        let values = arguments.iter().filter_map(|it| it.operand.value());
        let is_dynamic = target
            .into_iter()
            .chain(values)
            .any(|it| self.is_dynamic_sequence(it));
        let outer = std::mem::replace(&mut self.dynamic_elements, is_dynamic);
        let node = self.call_of_group(group, arguments, span);
        self.dynamic_elements = outer;
        if let Ok(node) = &node {
            self.name_declared(node);
        }
        let node = node.map(|it| self.named_result(it));
        self.tuple_names.truncate(mark);
        node
    }

    fn call_of_group(
        &mut self,
        group: &Group,
        arguments: Vec<Arg<'_>>,
        span: Span,
    ) -> Result<Node> {
        if &*group.name == "Create"
            && group.ty == Some(Type::STRING)
            && let [provider, text] = arguments.as_slice()
            && let Operand::Value(node) = &text.operand
            && let Op::Interpolate(_) = node.op
            && let Some(text) = self.formatted_by(provider.operand.clone(), node, span)?
        {
            return Ok(text);
        }
        let is_local = group.methods.iter().any(|it| it.name.contains(">g__"));
        let resolved = if group.methods.is_empty() {
            Err((None, false))
        } else if is_local {
            let written = local_functions::written(&group.methods);
            self.resolve(&written, &group.type_arguments, &arguments)
        } else {
            self.resolve(&group.methods, &group.type_arguments, &arguments)
        };
        let (misfit, ambiguous) = match resolved {
            Ok(candidate) => {
                let is_static = candidate.method.flags.is_static();
                if !is_static && (group.on_type || group.target.is_none()) {
                    return Err(Fail::cs(
                        "CS0120",
                        span,
                        format!("`{}` needs an object, it is not static", group.name),
                    ));
                }
                let implied = group.implied;
                if is_static && !group.on_type && !implied && group.target.is_some() {
                    // An extension method of the name is meant then.
                    if let Some(target) = &group.target
                        && let Ok(Some(node)) = self.call_extension(group, target, &arguments, span)
                    {
                        return Ok(node);
                    }
                    return Err(Fail::cs(
                        "CS0176",
                        span,
                        format!("`{}` is static: call it on its type", group.name),
                    ));
                }
                let mut nodes = self.apply_arguments(&candidate, arguments, span)?;
                let target = group.target.clone().filter(|_| !is_static);
                let mut method = candidate.method;
                if is_local
                    && let Some(whole) = group.methods.iter().find(|it| it.token == method.token)
                {
                    let types = self.types;
                    let whole = types.construct_method(whole, &candidate.type_arguments);
                    let captured = self.captured_by(&whole, span)?;
                    nodes = local_functions::joined(nodes, captured);
                    let added = whole.parameters.iter().skip(method.parameters.len());
                    method.parameters.extend(added.cloned());
                }
                return self.call_node(
                    method,
                    candidate.type_arguments,
                    target,
                    nodes,
                    !group.is_base,
                    span,
                );
            }
            Err(why) => why,
        };
        if let Some(target) = &group.target
            && !group.on_type
            && let Some(node) = self.call_extension(group, target, &arguments, span)?
        {
            return Ok(node);
        }
        if ambiguous {
            return Err(Fail::cs(
                "CS0121",
                span,
                format!(
                    "the call of `{}` is ambiguous between several overloads",
                    group.name
                ),
            )
            .hint("cast arguments to the types you mean"));
        }
        Err(self.misfit(group, &arguments, misfit, span))
    }

    fn call_node(
        &mut self,
        method: Method,
        type_arguments: Vec<Type>,
        target: Option<Node>,
        arguments: Vec<Node>,
        dispatch: bool,
        span: Span,
    ) -> Result<Node> {
        self.can_be_called(&method, !dispatch && target.is_some(), span)?;
        let ty = method.returns.without_ref().clone();
        // `GetType` of a nullable or a number boxes it, so it is known here.
        let names = self.return_names(&method);
        let callee = self.callee(method, type_arguments, dispatch);
        let (callee, target) = self.on_parts_of_dictionary(callee, target);
        let target = target.map(|it| match self.is_read_only(&it) {
            true => {
                let (ty, at, names) = (it.ty.clone(), it.span, it.names.clone());
                let mut copy = Node::new(Op::Convert(Conversion::Keep, Box::new(it)), ty, at);
                copy.names = names;
                copy
            }
            false => it,
        });
        let mut node = Node::new(
            Op::Call(Rc::new(callee), target.map(Box::new), arguments),
            ty,
            span,
        );
        node.names = names;
        Ok(node)
    }

    /// Keys and values of a dictionary are computed here, as a sequence that code of the program cannot take: what is called on
    /// them is asked from the dictionary itself, or they are had from the program.
    fn on_parts_of_dictionary(
        &mut self,
        callee: Callee,
        target: Option<Node>,
    ) -> (Callee, Option<Node>) {
        let is_computed = callee.intrinsic.is_some() || callee.method.name.starts_with("get_");
        let mut target = match target {
            Some(target) if !is_computed => target,
            target => return (callee, target),
        };
        let Op::Call(parts, Some(dictionary), _) = &mut target.op else {
            return (callee, Some(target));
        };
        let is_dictionary = |it: &Intrinsic| it.ty == "System.Collections.Generic.Dictionary`2";
        let name = parts.intrinsic.as_ref().filter(|it| is_dictionary(it));
        let Some(name) = name.map(|it| it.name) else {
            return (callee, Some(target));
        };
        if name == "get_Keys"
            && callee.method.name == "Contains"
            && let Type::Named(named) = &dictionary.ty
            && let Ok(methods) = self.types.methods(named, Some("ContainsKey"))
            && let Some(method) = methods.into_iter().next()
        {
            let dictionary = (**dictionary).clone();
            return (self.callee(method, Vec::new(), true), Some(dictionary));
        }
        Rc::make_mut(parts).intrinsic = None;
        (callee, Some(target))
    }

    pub(super) fn return_names(&self, method: &Method) -> super::TupleNames {
        let token = self
            .types
            .metadata(method.declared_in.module)
            .ok()
            .and_then(|it| {
                it.metadata()
                    .method(method.token)
                    .ok()?
                    .return_param()
                    .ok()?
            });
        token
            .map(|token| self.names_of(method.declared_in.module, token))
            .unwrap_or_default()
    }

    fn call_extension(
        &mut self,
        group: &Group,
        target: &Node,
        arguments: &[Arg<'_>],
        span: Span,
    ) -> Result<Option<Node>> {
        let mut all = vec![Arg {
            operand: Operand::Value(target.clone()),
            name: None,
            by_ref: None,
            is_in: false,
            receiver: true,
            span: target.span,
        }];
        all.extend(arguments.iter().cloned());
        let mut nearest = None;
        for methods in self.extension_methods(&group.name) {
            // The receiver must convert without a user-defined or numeric conversion.
            match self.resolve(&methods, &group.type_arguments, &all) {
                Ok(candidate) => {
                    let nodes = self.apply_arguments(&candidate, all, span)?;
                    let called = self.call_node(
                        candidate.method,
                        candidate.type_arguments,
                        None,
                        nodes,
                        false,
                        span,
                    );
                    return called.map(Some);
                }
                Err((_, true)) => {
                    return Err(Fail::cs(
                        "CS0121",
                        span,
                        format!(
                            "the call of `{}` is ambiguous between several overloads",
                            group.name
                        ),
                    ));
                }
                Err((misfit, _)) => nearest = nearest.or(misfit.map(|it| (methods, it))),
            }
        }
        match nearest {
            Some((methods, misfit)) if group.methods.is_empty() => {
                Err(self.extension_misfit(group, &methods, &all, *misfit, span))
            }
            _ => Ok(None),
        }
    }

    fn name_of(&mut self, named: &Expr, span: Span) -> Result<Node> {
        // A member needs no object to have a name.
        if let Err(fail) = self.bind(named)
            && fail.code != Some("CS0120")
        {
            return Err(fail);
        }
        let name = match &named.kind {
            ExprKind::Name(name) | ExprKind::Member { name, .. } => &*name.identifier.text,
            ExprKind::AliasQualified(_, name) => &*name.identifier.text,
            ExprKind::Predefined(_) | ExprKind::This => {
                return Err(Fail::cs("CS8081", named.span, "this has no name"));
            }
            _ => return Err(Fail::cs("CS8081", named.span, "the expression has no name")),
        };
        Ok(Node::constant(Scalar::string(name), Type::STRING, span))
    }

    /// `typeof(T)`
    pub(super) fn type_of(&mut self, ty: &syntax::tree::Type, span: Span) -> Result<Node> {
        let ty = match &ty.kind {
            TypeKind::Name(name) if ty.is_dynamic() => {
                let told = "typeof cannot be used on dynamic";
                return Err(Fail::cs("CS1962", name.span, told));
            }
            // Here alone a generic type may be left open.
            TypeKind::Name(name) => self.type_name(name)?,
            _ => self.ty(ty)?,
        };
        let system_type = self
            .types
            .core("System", "Type")
            .ok_or_else(|| Fail::new(span, "the program has not loaded System.Type"))?;
        Ok(Node::new(Op::TypeOf(ty), system_type, span))
    }

    /// `sizeof(T)` of the types whose size C# knows.
    pub(super) fn size_of(&mut self, ty: &syntax::tree::Type, span: Span) -> Result<Node> {
        let of = self.ty(ty)?;
        let kind = of
            .underlying()
            .and_then(super::well_known::primitive_kind)
            .or_else(|| self.kind(&of));
        let size = match (kind, &of) {
            (Some(crate::expressions::scalar::Kind::String) | None, _)
            | (_, Type::Primitive(Primitive::IntPtr | Primitive::UIntPtr)) => None,
            (Some(kind), _) => Some(kind.size()),
        };
        match size {
            Some(size) => Ok(Node::constant(
                Scalar::Int(crate::expressions::scalar::Kind::Int, size as i128),
                Type::INT,
                span,
            )),
            None if of.is_value() == Some(true) => Err(Fail::cs(
                "CS0233",
                span,
                format!(
                    "`{}` has no size that C# knows without unsafe code",
                    self.text(&of)
                ),
            )),
            None => Err(Fail::cs(
                "CS0233",
                span,
                format!(
                    "the size of the managed type `{}` cannot be taken",
                    self.text(&of)
                ),
            )),
        }
    }
}
