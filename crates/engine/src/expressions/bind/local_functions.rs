//! Calls of local functions: methods that the compiler named `<Method>g__Name|0_0`, with what they captured.

use std::rc::Rc;

use metadata::csharp::{GeneratedKind, GeneratedName};
use syntax::Span;

use super::{Binder, Group, Operand};
use crate::expressions::error::{Fail, Result};
use crate::expressions::frames::method_around;
use crate::expressions::plan::{Node, Op, Referred};
use crate::types::{Method, Named, Type};
use crate::values::scope::CLOSURE;

impl Binder<'_> {
    /// A local function of the method, or of one around it.
    pub(super) fn local_function<'e>(
        &mut self,
        name: &str,
        arguments: &[Type],
        span: Span,
    ) -> Option<Operand<'e>> {
        let mut homes: Vec<(Type, Option<Node>)> = Vec::new();
        for (number, ty) in self.context.closures.clone() {
            let closure = Node::new(Op::Variable(CLOSURE | number), ty.clone(), span);
            homes.push((ty, Some(closure)));
        }
        if let Some(ty) = self.context.ty.clone() {
            let this = self.this(span).ok();
            homes.push((Type::Named(ty), this));
        }
        for (ty, target) in homes {
            let Type::Named(named) = &ty else { continue };
            let mut found = self.local_functions_in(named);
            found.retain(|it| local_name(&it.name) == Some(name));
            if found.is_empty() {
                continue;
            }
            // One in a generic method has that one's type parameters before its own.
            let outer = match ty.as_named() == self.context.ty.as_ref() {
                true => self.context.type_parameters.get(named.arguments.len()..),
                false => None,
            };
            let outer = outer.unwrap_or_default().iter().map(|(_, ty)| ty.clone());
            let all: Vec<Type> = outer.chain(arguments.iter().cloned()).collect();
            let is_given = found.iter().any(|it| it.arity as usize == all.len());
            let type_arguments = match is_given {
                true => all,
                false => arguments.to_vec(),
            };
            return Some(Operand::Group(Box::new(Group {
                name: name.into(),
                on_type: target.is_none(),
                target,
                ty: Some(ty.clone()),
                methods: found,
                type_arguments,
                is_base: false,
                implied: true,
                span,
            })));
        }
        None
    }

    /// The local functions in scope that a class has, which the compiler put there.
    fn local_functions_in(&self, named: &Rc<Named>) -> Vec<Method> {
        let mut all = self.types.methods(named, None).unwrap_or_default();
        // Those of other methods are not in scope. In the names of state machines dots are written in another way.
        all.retain(|it| {
            let around = || method_around(&it.name).replace('.', "-");
            local_name(&it.name).is_some()
                && around() == self.context.method.replace('.', "-")
                && self.is_of_this_overload(it)
        });
        all
    }

    /// The names of the local functions in scope.
    pub(super) fn local_function_names(&self) -> Vec<String> {
        let closures = self.context.closures.iter();
        let classes = closures.filter_map(|(_, ty)| ty.as_named());
        let all = classes
            .chain(&self.context.ty)
            .flat_map(|it| self.local_functions_in(it));
        all.filter_map(|it| local_name(&it.name).map(str::to_owned))
            .collect()
    }

    /// Whether a local function was written in the method of the frame, and not in another of the same name.
    fn is_of_this_overload(&self, function: &Method) -> bool {
        let Some(ordinal) = ordinal_of_method(&function.name) else {
            return true;
        };
        if let Some(own) = self.own_ordinal() {
            return own == ordinal;
        }
        // Nothing that the compiler made says which method this is: the function's statements lie in one of them.
        let (Some(id), Some((own, _))) = (self.context.module, self.context.at) else {
            return true;
        };
        let module = self.types.module(id).ok();
        let symbols = module.and_then(|it| it.symbols(self.types.process).ok());
        let Some((symbols, ty)) = symbols.zip(self.context.ty.as_ref()) else {
            return true;
        };
        let same_name = self.types.methods(ty, Some(&self.context.method));
        let others = same_name.unwrap_or_default().into_iter();
        let mut others = others.filter(|it| it.declared_in.module == id && it.token != own);
        !others.any(|it| symbols.statements_hold(it.token, function.token))
    }

    /// Which of the members of its type the method of the frame is, if something that the compiler made for it says so.
    fn own_ordinal(&self) -> Option<u32> {
        let metadata = self.types.metadata(self.context.module?).ok()?.metadata();
        let method = metadata.method(self.context.at?.0).ok()?;
        let of_method = ordinal_of_method(&method.name().ok()?);
        of_method
            .or_else(|| {
                let ty = metadata.type_def(method.declaring_type().ok()?).ok()?;
                ordinal_of_method(&ty.name().ok()?)
            })
            .or_else(|| {
                let mut closures = self.context.closures.iter();
                closures.find_map(|(_, ty)| {
                    let ty = self.types.definition(ty.as_named()?).ok()?;
                    ordinal_of_method(&ty.name().ok()?)
                })
            })
    }

    /// The closures that a local function takes by reference, behind its own parameters.
    pub(super) fn captured_by(&self, method: &Method, span: Span) -> Result<Vec<Node>> {
        let mut captured = Vec::new();
        for parameter in &method.parameters {
            let ty = parameter.ty.without_ref();
            if !is_closure_parameter(&parameter.name) {
                continue;
            }
            let closure = self.context.closures.iter().find(|(_, it)| it == ty);
            let Some((number, ty)) = closure else {
                return Err(Fail::new(
                    span,
                    "the local function cannot be called here: what it captured is not in scope",
                ));
            };
            let place = Node::new(Op::Variable(CLOSURE | number), ty.clone(), span);
            let to = Referred::Place(Box::new(place.clone()));
            captured.push(Node::new(
                Op::Reference(to, Box::new(place)),
                ty.clone(),
                span,
            ));
        }
        Ok(captured)
    }
}

/// Which of the members of its type the method is that a name was made for: 2 of `<M>g__F|2_0`, `<M>b__2_0`, `<M>d__2` and
/// `<>c__DisplayClass2_0`.
fn ordinal_of_method(name: &str) -> Option<u32> {
    let GeneratedName { kind, text, suffix } = GeneratedName::parse(name)?;
    let ordinals = match kind {
        GeneratedKind::Closure => suffix.strip_prefix("DisplayClass")?.split_once('_')?.0,
        GeneratedKind::LocalFunction => suffix.split_once('|')?.1.split_once('_')?.0,
        GeneratedKind::Lambda => suffix.split_once('_')?.0,
        // That of a local function or lambda is named by that one.
        GeneratedKind::StateMachine if suffix.is_empty() => return ordinal_of_method(text),
        GeneratedKind::StateMachine => suffix.split('`').next()?,
        _ => return None,
    };
    ordinals.parse().ok()
}

/// The name of the local function that a method of the compiler's is.
fn local_name(method: &str) -> Option<&str> {
    let (_, inside) = method.strip_prefix('<')?.split_once(">g__")?;
    inside.split_once('|').map(|(name, _)| name)
}

/// Whether a parameter is one that the compiler added for what a local function captured.
pub(super) fn is_closure_parameter(name: &str) -> bool {
    name.is_empty() || name.starts_with('<')
}

/// A method as it was written: without the parameters that the compiler added.
pub(super) fn as_written(method: &Method) -> Method {
    let mut written = method.clone();
    written
        .parameters
        .retain(|it| !is_closure_parameter(&it.name) || !matches!(it.ty, Type::ByRef(_)));
    written
}

/// What goes to a call in the order of all parameters.
pub(super) fn joined(arguments: Vec<Node>, captured: Vec<Node>) -> Vec<Node> {
    arguments.into_iter().chain(captured).collect()
}

/// The methods of a group as they were written.
pub(super) fn written(methods: &[Method]) -> Rc<[Method]> {
    methods.iter().map(as_written).collect()
}
