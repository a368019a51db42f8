//! Member access and indexers.

use std::rc::Rc;

use metadata::signature::Primitive;
use syntax::Span;
use syntax::tree::{Argument, Expr, ExprKind, SimpleName};

use super::conversions::Conv;
use super::late::is_late;
use super::lookup::Found;
use super::names::{constant, nearest};
use super::{Binder, Group, Operand, pointers};
use crate::expressions::error::{Fail, Result};
use crate::expressions::getters::{self, Behind};
use crate::expressions::intrinsics::is_linq;
use crate::expressions::plan::{Conversion, FieldRef, Node, Op};
use crate::expressions::scalar::Kind;
use crate::types::{Property, Type};

impl Binder<'_> {
    /// `target.name`
    pub(super) fn member<'e>(
        &mut self,
        target: &'e Expr,
        name: &SimpleName,
        span: Span,
    ) -> Result<Operand<'e>> {
        if let ExprKind::Base = target.kind {
            return self.base_member(target.span, name, span);
        }
        let bound = self.bind(target)?;
        let bound = self.opened_target(bound);
        self.note_member(&bound, name);
        match bound {
            Operand::Namespace(..) => self.type_in(bound, name).map(|it| match it {
                Operand::Type(ty, _) => Operand::Type(ty, span),
                Operand::Namespace(name, _) => Operand::Namespace(name, span),
                other => other,
            }),
            Operand::Type(ty, _) if self.is_type_parameter(target) => {
                let found = self.static_member(&ty, name, span);
                found.or_else(|fail| {
                    let text = &*name.identifier.text;
                    if let Some(property) = self.explicit_static(&ty, text, span) {
                        return Ok(Operand::Value(property));
                    }
                    let (_, arguments) = self.type_arguments(name)?;
                    let methods = self.explicit_statics(&ty, text);
                    if methods.is_empty() {
                        return Err(fail);
                    }
                    Ok(Operand::Group(Box::new(Group {
                        name: text.into(),
                        target: None,
                        on_type: true,
                        ty: Some(ty),
                        methods,
                        type_arguments: arguments,
                        implied: false,
                        is_base: false,
                        span,
                    })))
                })
            }
            Operand::Type(ty, _) => self.static_member(&ty, name, span),
            Operand::Null(at) => Err(Fail::cs("CS0023", at, "`.` cannot be applied to `null`")),
            Operand::Lambda(_, at) => {
                let fail = Fail::cs("CS0023", at, "`.` cannot be applied to a lambda");
                Err(fail.hint("cast it: ((Func<int, int>)(x => x + 1))(2)"))
            }
            Operand::Group(group) => {
                let told = format!("`{}` is a method, which has no members", group.name);
                let fail = Fail::cs("CS0119", group.span, told);
                Err(fail.hint(format!("call it: {}(…)", group.name)))
            }
            other => {
                let node = self.natural(other)?;
                // A property may be called as its type is: `Color.Red` may mean the type.
                if let ExprKind::Name(simple) = &target.kind
                    && simple.arguments.is_none()
                    && self.is_called(&node.ty, &simple.identifier.text)
                    && let Ok(Operand::Type(ty, _)) = self.type_or_namespace(simple)
                    && ty == node.ty
                    && let Ok(found) = self.static_member(&ty, name, span)
                    && !matches!(&found, Operand::Group(group) if group.methods.iter().any(|it| !it.flags.is_static()))
                {
                    return Ok(found);
                }
                self.instance_member(node, name, span)
            }
        }
    }

    fn is_called(&self, ty: &Type, name: &str) -> bool {
        self.types.named(ty).is_some_and(|named| {
            self.types
                .simple_name(&named)
                .is_ok_and(|(_, it)| it == name)
        })
    }

    fn static_member<'e>(
        &mut self,
        ty: &Type,
        name: &SimpleName,
        span: Span,
    ) -> Result<Operand<'e>> {
        let (arity, arguments) = self.type_arguments(name)?;
        if let Some(found) = self.member_of(ty, None, true, name, &arguments, span)? {
            return Ok(found);
        }
        if self.nested_type(ty, &name.identifier.text, arity).is_some() {
            return self
                .type_in(Operand::Type(ty.clone(), span), name)
                .map(|it| match it {
                    Operand::Type(ty, _) => Operand::Type(ty, span),
                    other => other,
                });
        }
        let fail = Fail::cs(
            "CS0117",
            name.span,
            format!(
                "`{}` has no definition for `{}`",
                self.text(ty),
                name.identifier.text
            ),
        );
        Err(self.suggest(fail, ty, &name.identifier.text))
    }

    fn suggest(&self, fail: Box<Fail>, ty: &Type, name: &str) -> Box<Fail> {
        match nearest(name, &self.member_names(ty)) {
            Some(similar) => fail.hint(format!("did you mean `{similar}`?")),
            None => fail,
        }
    }

    /// A member of a value; extension methods included.
    pub(super) fn instance_member<'e>(
        &mut self,
        target: Node,
        name: &SimpleName,
        span: Span,
    ) -> Result<Operand<'e>> {
        if is_late(&target) {
            return Ok(Operand::Value(self.late_member(target, name, span)));
        }
        let (_, arguments) = self.type_arguments(name)?;
        let target = self.as_bound(target, &name.identifier.text, span)?;
        let ty = target.ty.clone();
        if ty == Type::Primitive(Primitive::Void) {
            return Err(Fail::cs(
                "CS0023",
                span,
                "`.` cannot be applied to a value of type `void`",
            ));
        }
        if let Type::Pointer(_) = ty {
            return Err(pointers::refusal("->", span));
        }
        if let Some(found) =
            self.member_of(&ty, Some(target.clone()), false, name, &arguments, span)?
        {
            return Ok(found);
        }
        let text = &*name.identifier.text;
        if let Some(found) = self.expando_member(&target, text, span) {
            return Ok(Operand::Value(found));
        }
        if self.assigning && self.takes_new_members(&target) {
            return Ok(Operand::Value(self.late_member(target, name, span)));
        }
        if !self.extension_methods(text).is_empty() {
            return Ok(Operand::Group(Box::new(Group {
                name: text.into(),
                target: Some(target),
                on_type: false,
                ty: Some(ty),
                methods: Vec::new(),
                type_arguments: arguments,
                is_base: false,
                implied: false,
                span,
            })));
        }
        if self.nested_type(&ty, text, 0).is_some() {
            let of = self.text(&ty);
            let told = format!("`{text}` is a type inside `{of}`, no member of an object");
            return Err(Fail::cs("CS0572", name.span, told).hint(format!("write {of}.{text}")));
        }
        let fail = Fail::cs(
            "CS1061",
            name.span,
            format!("`{}` has no definition for `{text}`", self.text(&ty)),
        );
        let mut fail = self.suggest(fail, &ty, text);
        if is_linq(text) && self.is_sequence(&ty) && self.uses_linq() && !self.has_linq() {
            fail.lacks = Some(super::LINQ.into());
        }
        if fail.hint.is_none() {
            fail.hint = self.why_no_member(&ty, text);
        }
        Err(fail)
    }

    /// What may be behind a member that is not there.
    fn why_no_member(&self, ty: &Type, name: &str) -> Option<String> {
        if *ty == Type::OBJECT {
            return Some(format!(
                "its type is object, as that of everything dynamic: cast it to what it is, as in ((string)x).{name}"
            ));
        }
        // A parameter of a primary constructor, say, is no member.
        if self.context.variables.iter().any(|it| *it.name == *name) {
            return Some(format!("`{name}` is a variable here: write it alone"));
        }
        let linq = self.types.find("System.Linq", "Enumerable", 0);
        let linq = linq.first()?.as_named()?;
        let is_there = !self.types.methods(linq, Some(name)).ok()?.is_empty();
        is_there.then(|| {
            format!("the file does not use System.Linq: write System.Linq.Enumerable.{name}(…)")
        })
    }

    fn base_member<'e>(&mut self, at: Span, name: &SimpleName, span: Span) -> Result<Operand<'e>> {
        let lacking = || Fail::cs("CS1511", at, "`base` is not available in a static method");
        let this = self.this(at).map_err(|_| lacking())?;
        let base = self.types.base(&this.ty).ok().flatten();
        let base = base.ok_or_else(lacking)?;
        let receiver = Node {
            ty: base.clone(),
            ..this.clone()
        };
        self.note_member(&Operand::Value(receiver), name);
        let (_, arguments) = self.type_arguments(name)?;
        match self.member_of(&base, Some(this), false, name, &arguments, span)? {
            Some(Operand::Group(mut group)) => {
                group.is_base = true;
                Ok(Operand::Group(group))
            }
            Some(Operand::Value(mut node)) => {
                if let Op::Call(callee, ..) = &mut node.op {
                    self.can_be_called(&callee.method, true, span)?;
                    Rc::make_mut(callee).is_virtual = false;
                }
                Ok(Operand::Value(node))
            }
            Some(other) => Ok(other),
            None => Err(Fail::cs(
                "CS0117",
                name.span,
                format!(
                    "`{}` has no definition for `{}`",
                    self.text(&base),
                    name.identifier.text
                ),
            )),
        }
    }

    /// `.name` after `?`
    pub(super) fn member_binding<'e>(
        &mut self,
        name: &SimpleName,
        span: Span,
    ) -> Result<Operand<'e>> {
        let Some(receiver) = self.receivers.last().cloned() else {
            return Err(Fail::new(span, "`.` after `?` stands alone"));
        };
        self.note_member(&Operand::Value(receiver.clone()), name);
        self.instance_member(receiver, name, span)
    }

    /// A member of a type, by an object of it or by the type.
    pub(super) fn member_of<'e>(
        &mut self,
        ty: &Type,
        target: Option<Node>,
        on_type: bool,
        name: &SimpleName,
        arguments: &[Type],
        span: Span,
    ) -> Result<Option<Operand<'e>>> {
        let text = &*name.identifier.text;
        if let Some(node) = &target
            && arguments.is_empty()
        {
            if let Some(index) = self.tuple_index(node, text) {
                return self
                    .tuple_item(node, index, span)
                    .map(|it| Some(Operand::Value(it)));
            }
            if text == "Length" && matches!(ty, Type::SzArray(_) | Type::Array { .. }) {
                let op = Op::Length(Box::new(node.clone()));
                return Ok(Some(Operand::Value(Node::new(op, Type::INT, span))));
            }
        }
        let found = match self.called == Some(name.span) {
            true => self.find_member_if(ty, text, &|it| self.invoke(it).is_some()),
            false => self.find_member(ty, text),
        };
        let Some(found) = found else {
            return Ok(None);
        };
        match found {
            Found::Field(declared_in, field) => {
                if field.flags.is_literal() {
                    let metadata = self.types.metadata(declared_in.module);
                    let value = metadata
                        .ok()
                        .and_then(|it| it.metadata().constant(field.token).ok().flatten());
                    if let Some(value) = value {
                        let mut node =
                            Node::new(Op::Constant(constant(value)), field.ty.clone(), span);
                        node.constant = Some(constant(value));
                        self.check_access(true, &target, on_type, text, ty, span)?;
                        return Ok(Some(Operand::Value(node)));
                    }
                }
                self.check_access(field.flags.is_static(), &target, on_type, text, ty, span)?;
                if let Some(node) = self.decimal_constant(declared_in.module, &field, span) {
                    return Ok(Some(Operand::Value(node)));
                }
                let names = self.names_of(declared_in.module, field.token);
                let reference = FieldRef {
                    declared_in,
                    name: field.name.clone(),
                    token: field.token,
                    ty: field.ty.clone(),
                };
                let op = match target {
                    Some(target) if !field.flags.is_static() => {
                        Op::Field(Box::new(target), reference)
                    }
                    _ => Op::StaticField(reference),
                };
                let mut node = Node::new(op, field.ty.without_ref().clone(), span);
                node.names = names;
                Ok(Some(Operand::Value(node)))
            }
            Found::Ambiguous(one, other) => {
                let [one, other] = [one, other].map(|it| self.text(&Type::Named(it)));
                let told =
                    format!("`{text}` is ambiguous between `{one}.{text}` and `{other}.{text}`");
                let fail = Fail::cs("CS0229", span, told);
                Err(fail.hint("cast to the interface that is meant"))
            }
            Found::Property(property) => {
                self.check_access(property.is_static, &target, on_type, text, ty, span)?;
                let target = target.filter(|_| !property.is_static);
                self.property(target, &property, Vec::new(), true, span)
                    .map(|it| Some(Operand::Value(it)))
            }
            Found::Methods(methods) => {
                let implied = target.as_ref().is_some_and(|it| it.span == span);
                Ok(Some(Operand::Group(Box::new(Group {
                    name: text.into(),
                    target,
                    on_type,
                    ty: Some(ty.clone()),
                    methods,
                    type_arguments: arguments.to_vec(),
                    is_base: false,
                    implied,
                    span,
                }))))
            }
        }
    }

    fn check_access(
        &self,
        is_static: bool,
        target: &Option<Node>,
        on_type: bool,
        name: &str,
        ty: &Type,
        span: Span,
    ) -> Result<()> {
        if !is_static && (on_type || target.is_none()) {
            return Err(Fail::cs(
                "CS0120",
                span,
                format!(
                    "`{}.{name}` needs an object, it is not static",
                    self.text(ty)
                ),
            ));
        }
        let implied = target.as_ref().is_none_or(|it| it.span == span);
        if is_static && !on_type && !implied {
            return Err(Fail::cs(
                "CS0176",
                span,
                format!("`{name}` is static: write {}.{name}", self.text(ty)),
            ));
        }
        Ok(())
    }

    /// The names of tuple elements that an attribute gives.
    pub(super) fn names_of(
        &self,
        module: crate::types::ModuleId,
        token: metadata::Token,
    ) -> super::TupleNames {
        let names = self
            .types
            .metadata(module)
            .ok()
            .and_then(|it| it.metadata().tuple_element_names(token));
        names
            .map(|names| {
                names
                    .into_iter()
                    .map(|it| it.map(|it| Rc::from(&*it)))
                    .collect()
            })
            .unwrap_or_default()
    }

    /// A `const decimal`, which metadata has as a readonly field with an attribute.
    fn decimal_constant(
        &self,
        module: crate::types::ModuleId,
        field: &crate::types::Field,
        span: Span,
    ) -> Option<Node> {
        let is_it = field.flags.is_static() && field.flags.is_init_only();
        if !is_it || self.kind(&field.ty) != Some(Kind::Decimal) {
            return None;
        }
        let metadata = self.types.metadata(module).ok()?;
        self.decimal_of(metadata.metadata(), field.token, span)
    }

    /// Reads a property: the field behind it where that is sure, else a call of its getter.
    pub(super) fn property(
        &mut self,
        target: Option<Node>,
        property: &Property,
        arguments: Vec<Node>,
        dispatch: bool,
        span: Span,
    ) -> Result<Node> {
        let Some(getter) = property.getter else {
            if let Some(method) = self.set_only(property) {
                let callee = self.callee(method, Vec::new(), dispatch);
                let op = Op::Call(Rc::new(callee), target.map(Box::new), arguments);
                return Ok(Node::new(op, property.ty.clone(), span));
            }
            return Err(Fail::cs(
                "CS0154",
                span,
                format!("`{}` has no getter", property.name),
            ));
        };
        let method = self
            .types
            .method(&property.declared_in, getter)
            .map_err(|error| Fail::new(span, error.to_string()))?;
        self.can_be_called(&method, false, span)?;
        let ty = method.returns.without_ref().clone();
        let names = self.names_of(property.declared_in.module, property.token);
        let callee = self.callee(method, Vec::new(), dispatch);
        let field = if self.assigning
            || callee.is_virtual
            || callee.intrinsic.is_some()
            || !arguments.is_empty()
        {
            None
        } else {
            getters::field_returned(self.types, &callee.method)
        };
        let returns = &callee.method.returns;
        let conv = field.as_ref();
        let conv = conv.and_then(|it| self.returned_as(&it.field().ty, returns));
        let op = match (field, target) {
            (Some(Behind::Own(field)), Some(target)) if conv.is_some() => {
                Op::Field(Box::new(target), field)
            }
            (Some(Behind::Static(field)), None) if conv.is_some() => Op::StaticField(field),
            (_, target) => Op::Call(Rc::new(callee), target.map(Box::new), arguments),
        };
        let mut node = match (op, conv) {
            (op @ (Op::Field(..) | Op::StaticField(_)), Some(conv)) => {
                self.loaded_as(op, conv, ty, span)?
            }
            (op, _) => Node::new(op, ty, span),
        };
        node.names = names;
        let whole = match &node.op {
            Op::Field(target, _) | Op::Call(_, Some(target), _) => Some((**target).clone()),
            _ => None,
        };
        let node = match whole {
            Some(whole) => self.named_part(node, &whole),
            None => node,
        };
        Ok(self.as_given(node))
    }

    /// What a field holds as what its getter returns.
    fn loaded_as(&mut self, op: Op, conv: Conv, ty: Type, span: Span) -> Result<Node> {
        let held = match &op {
            Op::Field(_, field) | Op::StaticField(field) if !matches!(conv, Conv::Identity) => {
                field.ty.clone()
            }
            _ => return Ok(Node::new(op, ty, span)),
        };
        let checked = std::mem::replace(&mut self.checked, false);
        let node = self.apply_node(Node::new(op, held, span), &conv, &ty, span);
        self.checked = checked;
        node
    }

    /// How the value of a field becomes what a getter returns that does no more than load it; `None` if it leads elsewhere.
    fn returned_as(&self, field: &Type, returns: &Type) -> Option<Conv> {
        if field.reads_as(returns) {
            return Some(Conv::Identity);
        }
        (field.underlying().is_some() && returns.underlying().is_some())
            .then(|| self.explicit_types(field, returns))
            .flatten()
    }

    /// What a getter gives although the field behind it is read: a struct is a copy, and what its methods do to it is lost.
    fn as_given(&self, node: Node) -> Node {
        let is_struct = node.ty.is_value() == Some(true) && node.ty.as_named().is_some();
        if !is_struct || !matches!(node.op, Op::Field(..) | Op::StaticField(_)) {
            return node;
        }
        let mut given = node.clone();
        given.op = Op::Convert(Conversion::Keep, Box::new(node));
        given
    }

    /// The setter of a property without a getter, as what it would be read by, where it is to be assigned.
    fn set_only(&self, property: &Property) -> Option<crate::types::Method> {
        if !self.assigning {
            return None;
        }
        let setter = self.types.method(&property.declared_in, property.setter?);
        let mut method = setter.ok()?;
        method.parameters.pop();
        method.returns = property.ty.clone();
        Some(method)
    }

    /// The number of a tuple element by its name.
    fn tuple_index(&self, node: &Node, name: &str) -> Option<usize> {
        let elements = self.tuple_elements(&node.ty)?;
        let named = node
            .names
            .iter()
            .take(elements.len())
            .position(|it| it.as_deref() == Some(name));
        named.or_else(|| {
            let number: usize = name.strip_prefix("Item")?.parse().ok()?;
            (1..=elements.len()).contains(&number).then(|| number - 1)
        })
    }

    /// An element of a tuple.
    pub(super) fn tuple_item(&mut self, node: &Node, index: usize, span: Span) -> Result<Node> {
        let elements = self.tuple_elements(&node.ty).unwrap_or_default();
        // The names of nested tuples come behind those of all elements before them.
        let names_of = |index: usize| -> super::TupleNames {
            let count = elements.get(index).map_or(0, |it| self.count_names(it));
            let start = self.types.names_inside(&elements, index);
            node.names
                .get(start..start + count)
                .map(Rc::from)
                .unwrap_or_default()
        };
        let names = names_of(index);
        let mut at = node.clone();
        let mut left = index;
        while left >= 7 && elements.len() > 7 {
            at = self.raw_field(at, "Rest", span)?;
            left -= 7;
            let own = node.names.get(index - left..elements.len());
            at.names = own.map(Rc::from).unwrap_or_default();
        }
        let mut item = self.raw_field(at, &format!("Item{}", left + 1), span)?;
        item.names = names;
        Ok(item)
    }

    /// A field by its exact name.
    pub(super) fn raw_field(&mut self, target: Node, name: &str, span: Span) -> Result<Node> {
        match self.find_member(&target.ty, name) {
            Some(Found::Field(declared_in, field)) => {
                let reference = FieldRef {
                    declared_in,
                    name: field.name.clone(),
                    token: field.token,
                    ty: field.ty.clone(),
                };
                Ok(Node::new(
                    Op::Field(Box::new(target), reference),
                    field.ty,
                    span,
                ))
            }
            _ => Err(Fail::new(
                span,
                format!("`{}` has no field `{name}`", self.text(&target.ty)),
            )),
        }
    }

    /// `target[arguments]`
    pub(super) fn index(
        &mut self,
        target: &Expr,
        arguments: &[Argument],
        span: Span,
    ) -> Result<Node> {
        if let ExprKind::Base = target.kind {
            let this = self.this(target.span)?;
            return self.element_of(this, arguments, span);
        }
        let bound = self.bind(target)?;
        let bound = self.opened_target(bound);
        if let Operand::Group(group) = &bound {
            return Err(Fail::cs(
                "CS0021",
                span,
                format!("`{}` is a method, which cannot be indexed", group.name),
            ));
        }
        let node = self.natural(bound)?;
        self.element_of(node, arguments, span)
    }

    pub(super) fn element_binding(&mut self, arguments: &[Argument], span: Span) -> Result<Node> {
        let Some(receiver) = self.receivers.last().cloned() else {
            return Err(Fail::new(span, "`[` after `?` stands alone"));
        };
        self.element_of(receiver, arguments, span)
    }

    pub(super) fn element_of(
        &mut self,
        target: Node,
        arguments: &[Argument],
        span: Span,
    ) -> Result<Node> {
        if let Some(late) = self.late_index(&target, arguments, span)? {
            return Ok(late);
        }
        if let Type::SzArray(element) | Type::Array { element, .. } = &target.ty {
            let element = (**element).clone();
            return self.array_element(target, &element, arguments, span);
        }
        if let Some(node) = self.element_in_place(&target, arguments, span)? {
            return Ok(node);
        }
        let indexers = self.indexers(&target.ty);
        // `^1` and `1..2` on what has a length and an indexer by number.
        if let [argument] = arguments
            && let Some(node) = self.implicit_index(&target, &indexers, argument, span)?
        {
            return Ok(node);
        }
        if indexers.is_empty() {
            return Err(Fail::cs(
                "CS0021",
                span,
                format!("`{}` cannot be indexed with []", self.text(&target.ty)),
            ));
        }
        let mut methods = Vec::new();
        for indexer in &indexers {
            if let Some(getter) = indexer.getter
                && let Ok(method) = self.types.method(&indexer.declared_in, getter)
            {
                methods.push(method);
            } else if indexer.getter.is_none() {
                methods.extend(self.set_only(indexer));
            }
        }
        if methods.is_empty() {
            let told = format!("the indexer of `{}` has no getter", self.text(&target.ty));
            return Err(Fail::cs("CS0154", span, told));
        }
        let group = Group {
            name: "this[]".into(),
            ty: Some(target.ty.clone()),
            target: Some(target),
            on_type: false,
            methods,
            type_arguments: Vec::new(),
            is_base: false,
            implied: false,
            span,
        };
        let arguments = self.arguments(arguments)?;
        let of = group.target.clone();
        let mut node = self.call_group(&group, arguments, span)?;
        if node.names.is_empty() {
            node.names = self.names_of_part(of.as_ref(), &node.ty, true);
        }
        Ok(node)
    }

    fn array_element(
        &mut self,
        target: Node,
        element: &Type,
        arguments: &[Argument],
        span: Span,
    ) -> Result<Node> {
        let rank = match &target.ty {
            Type::Array { rank, .. } => *rank as usize,
            _ => 1,
        };
        if arguments.len() != rank {
            return Err(Fail::cs(
                "CS0022",
                span,
                format!(
                    "the array has {rank} dimensions, {} indices are given",
                    arguments.len()
                ),
            ));
        }
        if rank == 1
            && let [argument] = arguments
            && let Some(node) = self.array_range(&target, element, argument, span)?
        {
            return Ok(node);
        }
        let mut indices = Vec::new();
        for argument in arguments {
            let operand = self.bind(&argument.value)?;
            let mut converted = None;
            for primitive in [Primitive::I4, Primitive::U4, Primitive::I8, Primitive::U8] {
                let to = Type::Primitive(primitive);
                if self.implicit(&operand, &to).is_some() {
                    converted = Some(to);
                    break;
                }
            }
            let to = converted.unwrap_or(Type::INT);
            indices.push(self.convert(operand, &to, argument.value.span)?);
        }
        let whole = target.clone();
        let part = Op::Element(Box::new(target), indices);
        let part = Node::new(part, element.clone(), span);
        Ok(self.named_part(part, &whole))
    }
}
