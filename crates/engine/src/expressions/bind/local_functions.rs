//! Calls of local functions: methods that the compiler named `<Method>g__Name|0_0`, with what they captured.

use std::rc::Rc;

use metadata::csharp::{GeneratedKind, GeneratedName};
use metadata::{Symbols, Token};
use syntax::Span;

use super::{Binder, Group, Operand};
use crate::breakpoints::line::text_of;
use crate::expressions::error::{Fail, Result};
use crate::expressions::frames::method_around;
use crate::expressions::plan::{Node, Op, Referred};
use crate::types::{Method, Named, Type};
use crate::values::scope::CLOSURE;

const NOT_CAPTURED: &str =
    "the local function cannot be called here: what it captured is not in scope";

/// The local functions of one name in the frame's method, each with the block that declares it, if that is known: whether it is in
/// scope, and where it begins.
pub(super) type Declared = Rc<[(Token, Option<(bool, u32)>)]>;

impl Binder<'_> {
    /// The local function that is in scope: it hides members and types of its name (C# 12.8.4).
    pub(super) fn local_function_in_scope<'e>(
        &mut self,
        name: &str,
        arguments: &[Type],
        span: Span,
    ) -> Result<Option<Operand<'e>>> {
        let declared = self.declared_functions(name);
        let around = declared.iter().filter_map(|(token, block)| match block {
            Some((true, begins)) => Some((*begins, *token)),
            _ => None,
        });
        let Some((_, innermost)) = around.max() else {
            return Ok(None);
        };
        match self.local_function(name, arguments, &[innermost], span) {
            Some(function) => Ok(Some(function)),
            None => Err(Fail::new(span, NOT_CAPTURED)),
        }
    }

    /// One of which nothing says whether it is in scope.
    pub(super) fn possible_local_function<'e>(
        &mut self,
        name: &str,
        arguments: &[Type],
        span: Span,
    ) -> Option<Operand<'e>> {
        let declared = self.declared_functions(name);
        let possible = declared
            .iter()
            .filter(|(token, block)| block.is_none() && self.is_of_this_overload(*token));
        let possible: Vec<Token> = possible.map(|(token, _)| *token).collect();
        self.local_function(name, arguments, &possible, span)
    }

    /// Those of the method, and of ones around it; those of other methods are not in scope.
    fn declared_functions(&mut self, name: &str) -> Declared {
        if let Some(known) = self.local_functions.get(name) {
            return Rc::clone(known);
        }
        let all = self
            .context
            .ty
            .as_ref()
            .map(|it| self.types.local_functions(it));
        let all = all.and_then(Result::ok).unwrap_or_default();
        // In the names of state machines dots are written in another way.
        let own = self.context.method.replace('.', "-");
        let of_name = all.iter().filter(|(it, _)| {
            local_name(it) == Some(name) && method_around(it).replace('.', "-") == own
        });
        let of_name: Vec<Token> = of_name.map(|(_, token)| *token).collect();
        let place = (!of_name.is_empty())
            .then(|| self.place_in_source())
            .flatten();
        let declared = of_name.into_iter().map(|it| {
            let block = place.as_ref().and_then(|place| place.block(it, name));
            (it, block)
        });
        let declared: Declared = declared.collect();
        self.local_functions
            .insert(name.into(), Rc::clone(&declared));
        declared
    }

    /// The statement that the frame is at, if the source is at hand.
    fn place_in_source(&self) -> Option<InSource<'_>> {
        let module = self.types.module(self.context.module?).ok()?;
        let symbols = module.symbols(self.types.process).ok()?;
        let (method, offset) = self.context.at?;
        let points = symbols.sequence_points(method).ok()?;
        let mut points = points.filter_map(|it| Some((it.offset, it.document, it.span?)));
        let first = points.next()?;
        let before = points.take_while(|(at, ..)| at.0 <= offset);
        let (_, document, span) = before.last().unwrap_or(first);
        let text = text_of(symbols, document, module.source_files())?;
        let text = text.trim_start_matches('\u{feff}').to_owned();
        let at = offset_of(&text, span.start_line, span.start_column)?;
        Some(InSource {
            symbols,
            document,
            text,
            at,
        })
    }

    /// A local function as it is called from here.
    fn local_function<'e>(
        &mut self,
        name: &str,
        arguments: &[Type],
        meant: &[Token],
        span: Span,
    ) -> Option<Operand<'e>> {
        if meant.is_empty() {
            return None;
        }
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
            let all = self.types.methods(named, None).unwrap_or_default();
            let found: Vec<Method> = all
                .into_iter()
                .filter(|it| meant.contains(&it.token) && local_name(&it.name) == Some(name))
                .collect();
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
                && self.is_of_this_overload(it.token)
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
    fn is_of_this_overload(&self, function: Token) -> bool {
        let metadata = self.context.module.map(|it| self.types.metadata(it));
        let Some(Ok(metadata)) = metadata else {
            return true;
        };
        let name = metadata
            .metadata()
            .method(function)
            .and_then(|it| it.name());
        let Some(ordinal) = name.ok().and_then(|it| ordinal_of_method(&it)) else {
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
        !others.any(|it| symbols.statements_hold(it.token, function))
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
                return Err(Fail::new(span, NOT_CAPTURED));
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

/// A statement in the source that was compiled.
struct InSource<'t> {
    symbols: &'t Symbols,
    document: Token,
    text: String,
    /// Where it begins, in bytes.
    at: u32,
}

impl InSource<'_> {
    /// Whether the block that declares a local function is around, and where that begins.
    fn block(&self, function: Token, name: &str) -> Option<(bool, u32)> {
        let (document, line, column) = self.symbols.first_statement(function)?;
        if document != self.document {
            return Some((false, 0));
        }
        let inside = offset_of(&self.text, line, column)?;
        let block = syntax::block_of_local_function(&self.text, name, inside)?;
        let is_around = block.start <= self.at && self.at < block.end;
        Some((is_around, block.start))
    }
}

/// The byte that a line and a column of symbols mean: columns count UTF-16.
fn offset_of(text: &str, line: u32, column: u32) -> Option<u32> {
    let mut lines = text.split_inclusive('\n');
    let before = lines.by_ref().take(line.checked_sub(1)? as usize);
    let start: usize = before.map(str::len).sum();
    let mut left = column.checked_sub(1)? as usize;
    let within = lines.next()?.chars().take_while(|it| {
        let is_before = left > 0;
        left = left.saturating_sub(it.len_utf16());
        is_before
    });
    let within: usize = within.map(char::len_utf8).sum();
    u32::try_from(start + within).ok()
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
