//! Calls: of methods, extension methods and delegates.

use std::rc::Rc;

use metadata::signature::Primitive;
use syntax::Span;
use syntax::tree::{Argument, Expr, ExprKind};

use super::late::is_late;
use super::overloads::{Arg, Misfit};
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
        let bound = self.bind(target)?;
        match bound {
            Operand::Group(mut group) => {
                group.span = span;
                let arguments = self.arguments(arguments)?;
                self.call_group(&group, arguments, span).map(Operand::Value)
            }
            Operand::Value(node) if is_late(&node) => {
                self.late_call(node, arguments, span).map(Operand::Value)
            }
            Operand::Value(node) => {
                let mut property = None;
                // A property that cannot be called does not hide an extension method of its name.
                if self.invoke(&node.ty).is_none()
                    && let ExprKind::Member { target, name, .. } = &target.kind
                    && let Ok(Operand::Value(receiver)) = self.bind(target)
                {
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
                    if let Some(found) = self.call_extension(&group, &receiver, &arguments, span)? {
                        return Ok(Operand::Value(found));
                    }
                    property = Some(group.name);
                }
                let called = self.invoke_value(node, arguments, span);
                called.map(Operand::Value).map_err(|mut fail| {
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
                let op = match &node.op {
                    Op::Lambda(_) => Op::Invoke(Box::new(node), arguments),
                    _ => Op::Call(Rc::new(callee), Some(Box::new(node)), arguments),
                };
                Ok(Node::new(op, returns, span))
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

    fn return_names(&self, method: &Method) -> super::TupleNames {
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
            receiver: true,
            span: target.span,
        }];
        all.extend(arguments.iter().cloned());
        let mut misfit = None;
        let mut violation = None;
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
                Err((Some(found), _)) if misfit.is_none() => match *found {
                    (_, Misfit::Argument(index, to)) if index > 0 => misfit = Some((index, to)),
                    (_, Misfit::Constraint(found)) => violation = Some(found),
                    // A lambda whose body does not bind tells more than that nothing could be inferred.
                    (_, Misfit::Inference) => {
                        if let Some(fail) = self.lambda_error(&methods, &all) {
                            return Err(fail);
                        }
                    }
                    _ => {}
                },
                Err(_) => {}
            }
        }
        if let (Some((index, to)), true) = (misfit, group.methods.is_empty()) {
            return Err(self.bad_argument(&all, index, &to, span));
        }
        if let (Some((code, told)), true) = (violation, group.methods.is_empty()) {
            return Err(Fail::cs(code, span, told));
        }
        Ok(None)
    }

    pub(super) fn bad_argument(
        &mut self,
        arguments: &[Arg<'_>],
        index: usize,
        to: &Type,
        span: Span,
    ) -> Box<Fail> {
        let Some(argument) = arguments.get(index) else {
            return Fail::cs("CS1503", span, "an argument does not fit");
        };
        if let Operand::Lambda(lambda, at) = &argument.operand {
            return self.lambda_misfit(lambda, to, *at);
        }
        let given = match &argument.operand {
            Operand::Value(node) => self.text(&node.ty),
            Operand::Null(_) => "null".into(),
            Operand::Default(_) => "default".into(),
            Operand::Group(_) => "method group".into(),
            _ => "expression".into(),
        };
        Fail::cs(
            "CS1503",
            argument.span,
            format!(
                "argument {}: `{given}` cannot be converted to `{}`",
                index + 1,
                self.text(to)
            ),
        )
    }

    /// What is wrong with a call of an extension method that takes the type: arguments are missing, or only its type
    /// arguments are in question.
    fn extension_error(
        &mut self,
        name: &str,
        ty: &Type,
        arguments: &[Arg<'_>],
        span: Span,
    ) -> Option<Box<Fail>> {
        let is_lambda = |it: &Arg<'_>| matches!(it.operand, Operand::Lambda(..));
        if arguments.iter().any(is_lambda) {
            return None;
        }
        let mut all: Vec<Method> = self.extension_methods(name).concat();
        all.retain(|it| self.may_extend(it, ty));
        let count = arguments.len() + 1;
        let infers = |it: &Method| it.arity > 0 && it.parameters.len() == count;
        if all.iter().any(infers) {
            let told = format!("the type arguments of `{name}` cannot be inferred");
            return Some(Fail::cs("CS0411", span, told).hint("write them: Name<int>(…)"));
        }
        let lacking = |it: &Method| {
            it.parameters
                .get(count)
                .is_some_and(|it| !it.flags.is_optional())
        };
        if !all.iter().all(lacking) {
            return None;
        }
        match &*all {
            [] => None,
            [one] => {
                let missing = one.parameters.get(count).map(|it| it.name.clone());
                let missing = missing.unwrap_or_default();
                let told = format!(
                    "there is no argument for the required parameter `{missing}` of `{name}`"
                );
                Some(Fail::cs("CS7036", span, told))
            }
            _ => {
                let told = format!(
                    "no overload of `{name}` takes {} arguments",
                    arguments.len()
                );
                Some(Fail::cs("CS1501", span, told))
            }
        }
    }

    fn misfit(
        &mut self,
        group: &Group,
        arguments: &[Arg<'_>],
        misfit: Option<Box<(Method, Misfit)>>,
        span: Span,
    ) -> Box<Fail> {
        let name = &group.name;
        if group.methods.is_empty() {
            let of = group
                .ty
                .as_ref()
                .map(|it| self.text(it))
                .unwrap_or_default();
            if let Some(ty) = &group.ty
                && group.type_arguments.is_empty()
                && let Some(fail) = self.extension_error(name, ty, arguments, span)
            {
                return fail;
            }
            return Fail::cs(
                "CS1929",
                span,
                format!(
                    "`{of}` has no definition for `{name}`, and no extension method of that name fits"
                ),
            );
        }
        let single = group.methods.len() == 1;
        match misfit.map(|it| *it) {
            Some((_, Misfit::Argument(index, to))) => {
                self.bad_argument(arguments, index, &to, span)
            }
            Some((_, Misfit::Modifier(index, modifier))) => {
                let at = arguments.get(index).map_or(span, |it| it.span);
                match modifier {
                    Some(modifier) => Fail::cs(
                        "CS1620",
                        at,
                        format!("argument {} must be passed with `{modifier}`", index + 1),
                    ),
                    None => Fail::cs(
                        "CS1615",
                        at,
                        format!(
                            "argument {} may not be passed with `ref` or `out`",
                            index + 1
                        ),
                    ),
                }
            }
            Some((_, Misfit::Constraint((code, told)))) => Fail::cs(code, span, told),
            Some((_, Misfit::Twice(parameter, is_named))) => match is_named {
                true => Fail::cs("CS1740", span, format!("`{parameter}` is named twice")),
                false => Fail::cs(
                    "CS1744",
                    span,
                    format!("`{parameter}` is named although an argument stands in its place"),
                ),
            },
            Some((_, Misfit::Moved(index))) => {
                let before = index.checked_sub(1).and_then(|it| arguments.get(it));
                Fail::cs(
                    "CS8323",
                    before.map_or(span, |it| it.span),
                    "a named argument that is out of its place is followed by one without a name",
                )
            }
            Some((_, Misfit::Named(parameter))) => Fail::cs(
                "CS1739",
                span,
                format!("the best overload for `{name}` has no parameter named `{parameter}`"),
            ),
            Some((_, Misfit::Missing(parameter))) if single => Fail::cs(
                "CS7036",
                span,
                format!(
                    "there is no argument for the required parameter `{parameter}` of `{name}`"
                ),
            ),
            Some((_, Misfit::Inference)) => {
                let methods = group.methods.clone();
                if let Some(fail) = self.lambda_error(&methods, arguments) {
                    return fail;
                }
                Fail::cs(
                    "CS0411",
                    span,
                    format!("the type arguments of `{name}` cannot be inferred"),
                )
                .hint("write them: Name<int>(…)")
            }
            Some((method, Misfit::Arity)) if single => Fail::cs(
                if method.arity == 0 {
                    "CS0308"
                } else {
                    "CS0305"
                },
                span,
                format!("`{name}` takes {} type arguments", method.arity),
            ),
            Some((_, Misfit::Arity)) => Fail::cs(
                "CS0305",
                span,
                format!(
                    "no overload of `{name}` takes {} type arguments",
                    group.type_arguments.len()
                ),
            ),
            _ => Fail::cs(
                "CS1501",
                span,
                format!(
                    "no overload of `{name}` takes {} arguments",
                    arguments.len()
                ),
            ),
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
        let ty = self.ty(ty)?;
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
                "CS0208",
                span,
                format!(
                    "the size of the managed type `{}` cannot be taken",
                    self.text(&of)
                ),
            )),
        }
    }
}
