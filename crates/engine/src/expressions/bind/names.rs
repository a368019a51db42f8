//! What a name alone means (C# 12.8.4).

use std::rc::Rc;

use syntax::Span;
use syntax::tree::{Identifier, SimpleName};

use super::context::Import;
use super::{Binder, Operand};
use crate::expressions::error::{Fail, Result};
use crate::expressions::plan::{Constant, Conversion, Node, Op};
use crate::types::Type;

impl Binder<'_> {
    pub(super) fn simple_name<'e>(&mut self, name: &SimpleName, span: Span) -> Result<Operand<'e>> {
        self.note_name(name);
        if name.arguments.is_none()
            && let Some(node) = self.variable(&name.identifier.text, span)
        {
            return Ok(Operand::Value(node));
        }
        let (arity, arguments) = self.type_arguments(name)?;
        let text = &*name.identifier.text;
        if let Some(found) = self.local_function_in_scope(text, &arguments, span)? {
            return Ok(found);
        }
        if let Some(found) = self.own_member(name, &arguments, span)? {
            return Ok(found);
        }
        if let Some(found) = self.static_import(name, &arguments, span)? {
            return Ok(found);
        }
        if let Some(ty) = self.plain_type(&name.identifier, arity)? {
            let _ = ty;
            return self.type_or_namespace(name);
        }
        if arity == 0
            && let Some(namespace) = self.plain_namespace(&name.identifier.text)
        {
            return Ok(Operand::Namespace(namespace, span));
        }
        match &*name.identifier.text {
            "nint" => {
                return Ok(Operand::Type(
                    Type::Primitive(metadata::signature::Primitive::IntPtr),
                    span,
                ));
            }
            "nuint" => {
                return Ok(Operand::Type(
                    Type::Primitive(metadata::signature::Primitive::UIntPtr),
                    span,
                ));
            }
            _ => {}
        }
        if let Some(function) = self.possible_local_function(text, &arguments, span) {
            return Ok(function);
        }
        Err(self.unknown_name(name, span))
    }

    pub(super) fn alias_qualified<'e>(
        &mut self,
        alias: &Identifier,
        name: &SimpleName,
        _span: Span,
    ) -> Result<Operand<'e>> {
        self.qualified_by_alias(alias, name)
    }

    /// A variable of the expression or of the frame.
    pub(super) fn variable(&mut self, name: &str, span: Span) -> Option<Node> {
        if let Some(local) = self
            .locals
            .iter()
            .rev()
            .find(|it| *it.name == *name)
            .cloned()
        {
            if let Some((index, tuple)) = &local.item {
                let mut read = self.slot_node(local.slot, tuple, span);
                read.names = Rc::clone(&local.names);
                return self.tuple_item(&read, *index, span).ok();
            }
            let mut node = Node::new(Op::Slot(local.slot), local.ty.clone(), span);
            node.names = local.names.clone();
            return Some(node);
        }
        let variables = &self.context.variables;
        let number = variables.iter().rposition(|it| *it.name == *name)?;
        let variable = variables.get(number)?;
        let mut node = match &variable.constant {
            Some(constant) => Node::new(Op::Constant(constant.clone()), variable.ty.clone(), span),
            None => Node::new(Op::Variable(number), variable.ty.clone(), span),
        };
        node.constant = variable.constant.clone();
        node.names = variable.names.clone();
        // What is dynamic has the members and operators of what it holds; it is assigned as the object it is.
        if let Some(holds) = variable.holds.clone()
            && !self.assigning
            && !self.bare
        {
            let conversion = match holds.is_value() {
                Some(true) => Conversion::Unbox,
                _ => Conversion::Cast,
            };
            let opened = Op::Convert(conversion, Box::new(node));
            return Some(Node::new(opened, holds, span));
        }
        if self.as_objects && !self.assigning && variable.bounds.is_some() {
            return Some(self.as_object(node));
        }
        Some(node)
    }

    pub(super) fn this(&mut self, span: Span) -> Result<Node> {
        match self.this_node(span) {
            Some(node) => Ok(node),
            None => Err(Fail::cs(
                "CS0026",
                span,
                "there is no `this` in a static method",
            )),
        }
    }

    /// Says of what a lambda or local function has not captured that this is why: in the source it is there.
    pub(super) fn in_lambda(&self, mut fail: Box<Fail>) -> Box<Fail> {
        let lacks = match fail.code {
            Some("CS0103") => true,
            Some("CS0026" | "CS0120") => self.context.this.is_none(),
            _ => false,
        };
        if !lacks {
            return fail;
        }
        let Some((owner, what)) = self.lambda_owner() else {
            return fail;
        };
        let told = format!("a {what} knows only what it uses itself of `{owner}` around it");
        let ty = self.context.ty.as_ref();
        let methods = ty.and_then(|it| self.types.methods(it, Some(&owner)).ok());
        let is_instance = methods.is_some_and(|it| it.iter().any(|it| !it.flags.is_static()));
        match fail.code {
            Some("CS0103") => {}
            _ if !is_instance => return fail,
            Some("CS0026") => {
                fail.code = None;
                fail.message = format!("this {what} does not use `this`, and so has not got it");
            }
            _ => {
                fail.code = None;
                let lacks = format!(", and this {what} has not captured `this`");
                fail.message.push_str(&lacks);
            }
        }
        if fail.hint.is_none() {
            fail.hint = Some(format!("{told}: look in the frame of that method"));
        }
        fail
    }

    /// The method that the lambda or local function of this frame stands in, and which of the two it is.
    fn lambda_owner(&self) -> Option<(String, &'static str)> {
        let (token, _) = self.context.at?;
        let metadata = self.types.metadata(self.context.module?).ok()?;
        let method = metadata.metadata().method(token).ok()?;
        let name = method.name().ok()?;
        let (owner, rest) = name.strip_prefix('<')?.split_once('>')?;
        let what = match rest.split_once("__")?.0 {
            "b" => "lambda",
            "g" => "local function",
            _ => return None,
        };
        Some((owner.to_owned(), what))
    }

    fn this_node(&self, span: Span) -> Option<Node> {
        let number = self.context.this?;
        let variable = self.context.variables.get(number)?;
        Some(Node::new(Op::Variable(number), variable.ty.clone(), span))
    }

    /// A member of the frame's own type, or of one around it.
    fn own_member<'e>(
        &mut self,
        name: &SimpleName,
        arguments: &[Type],
        span: Span,
    ) -> Result<Option<Operand<'e>>> {
        let mut ty = self.context.ty.clone();
        let mut this = self.this_node(span);
        while let Some(named) = ty {
            let of = Type::Named(named.clone());
            let target = this.take();
            let has_this = target.is_some();
            if let Some(found) = self.member_of(&of, target, !has_this, name, arguments, span)? {
                return Ok(Some(found));
            }
            ty = self.enclosing(&named);
        }
        Ok(None)
    }

    fn static_import<'e>(
        &mut self,
        name: &SimpleName,
        arguments: &[Type],
        span: Span,
    ) -> Result<Option<Operand<'e>>> {
        for scope in self.context.imports.iter() {
            let mut group: Option<Operand<'e>> = None;
            for import in scope {
                let Import::Static(ty) = import else { continue };
                let found = match self.member_of(ty, None, true, name, arguments, span) {
                    Ok(found) => found,
                    Err(_) => continue,
                };
                match (found, &mut group) {
                    (Some(Operand::Group(more)), Some(Operand::Group(all))) => {
                        all.methods.extend(more.methods);
                    }
                    (Some(found), _) => group = Some(found),
                    (None, _) => {}
                }
            }
            if group.is_some() {
                return Ok(group);
            }
        }
        Ok(None)
    }

    fn unknown_name(&self, name: &SimpleName, span: Span) -> Box<Fail> {
        let text = &*name.identifier.text;
        let fail = Fail::cs(
            "CS0103",
            span,
            format!("the name `{text}` does not exist in the current context"),
        );
        let mut known: Vec<String> = self.locals.iter().map(|it| it.name.to_string()).collect();
        known.extend(self.context.variables.iter().map(|it| it.name.to_string()));
        if let Some(named) = &self.context.ty {
            known.extend(self.member_names(&Type::Named(named.clone())));
        }
        let mut hints = Vec::new();
        match self.similar(text, known) {
            Some(similar) => hints.push(format!("did you mean `{similar}`?")),
            None if self.context.variables.is_empty() => {
                hints.push("this frame has no variables that are known by name".into());
            }
            None => {}
        }
        if self.may_lack_variables() {
            hints.push(format!(
                "`{text}` may be a variable of the source all the same: the compiler optimised this code, and then leaves variables out of the symbols"
            ));
        }
        match hints.is_empty() {
            true => fail,
            false => fail.hint(hints.join("; ")),
        }
    }

    /// Whether the compiler, which does so where it optimises, may have left out variables of this frame's method.
    fn may_lack_variables(&self) -> bool {
        let module = self.context.at.and(self.context.module);
        let metadata = module.and_then(|it| self.types.metadata(it).ok());
        metadata.is_some_and(|it| it.metadata().is_optimized() == Some(true))
    }

    /// What may be meant by a name that there is not: a type of that name in another namespace of the user's, or something
    /// that is called almost so, types included.
    pub(super) fn similar(&self, name: &str, mut known: Vec<String>) -> Option<String> {
        let elsewhere = self.types_elsewhere(name).into_iter().next();
        elsewhere.or_else(|| {
            // A variable is not taken for a type.
            if name.starts_with(char::is_uppercase) {
                let types = self.types_in_scope("").into_iter();
                known.extend(types.map(|it| it.name));
            }
            nearest(name, &known).map(str::to_owned)
        })
    }
}

/// The name that differs least, if it differs little.
pub(super) fn nearest<'n>(name: &str, known: &'n [String]) -> Option<&'n str> {
    let limit = match name.chars().count() {
        0..=2 => 1,
        3..=6 => 2,
        _ => 3,
    };
    known
        .iter()
        .filter(|it| !it.starts_with(['<', '.']))
        .map(|it| (distance(name, it), it))
        .filter(|(distance, it)| *distance <= limit && *distance < it.len())
        // Types and members look alike, variables do not.
        .min_by_key(|(distance, it)| {
            let is_upper = |name: &str| name.starts_with(char::is_uppercase);
            (*distance, is_upper(name) != is_upper(it))
        })
        .map(|(_, it)| it.as_str())
}

/// How many letters to change, insert or leave out; case counts little.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other
        .chars()
        .take(100)
        .flat_map(char::to_lowercase)
        .collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, a) in one
        .chars()
        .take(100)
        .flat_map(char::to_lowercase)
        .enumerate()
    {
        let mut diagonal = index;
        if let Some(first) = row.first_mut() {
            *first = index + 1;
        }
        for (column, b) in other.iter().enumerate() {
            let (Some(&left), Some(&up)) = (row.get(column), row.get(column + 1)) else {
                break;
            };
            let best = (diagonal + usize::from(a != *b)).min(left + 1).min(up + 1);
            diagonal = up;
            if let Some(cell) = row.get_mut(column + 1) {
                *cell = best;
            }
        }
    }
    row.last().copied().unwrap_or(usize::MAX)
}

/// The constant of a field, parameter or local in metadata.
pub(crate) fn constant(value: metadata::model::ConstantValue<'_>) -> Constant {
    use crate::expressions::scalar::{Kind, Scalar};
    use metadata::model::ConstantValue as C;
    Constant::Scalar(match value {
        C::Null => return Constant::Null,
        C::Bool(value) => Scalar::Bool(value),
        C::Char(value) => Scalar::Int(Kind::Char, value.into()),
        C::I1(value) => Scalar::Int(Kind::SByte, value.into()),
        C::U1(value) => Scalar::Int(Kind::Byte, value.into()),
        C::I2(value) => Scalar::Int(Kind::Short, value.into()),
        C::U2(value) => Scalar::Int(Kind::UShort, value.into()),
        C::I4(value) => Scalar::Int(Kind::Int, value.into()),
        C::U4(value) => Scalar::Int(Kind::UInt, value.into()),
        C::I8(value) => Scalar::Int(Kind::Long, value.into()),
        C::U8(value) => Scalar::Int(Kind::ULong, value.into()),
        C::R4(value) => Scalar::Float(value),
        C::R8(value) => Scalar::Double(value),
        C::String(text) => Scalar::String(text.units().collect()),
    })
}
