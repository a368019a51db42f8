//! What a frame means for expressions: its variables by name, its type, what its file imports.

use std::rc::Rc;

use cordebug::thread::Thread;
use metadata::pdb::Import as PdbImport;
use metadata::{Symbols, Token};
use syntax::tree::Expr;

use super::bind::{Bounds, Context, Import, Variable};
use super::plan::Constant;
use super::scalar::Scalar;
use crate::types::{Generics, Kind, ModuleId, Named, Type, TypeNotes, Types};
use crate::values::fixed_refs::leads_to_fixed;
use crate::values::scope::{FrameVariables, VariableKind};
use crate::values::shape::{CodePlace, Declared, DeclaredBy, Home, Shape};
use crate::values::{Place, Reader, Value};

/// Import scopes looked at; a file has a handful.
const MAX_IMPORTS: usize = 4096;

/// The exception that a thread has in flight, if an expression asks for it.
pub(super) fn exception(reader: &Reader<'_>, thread: &Thread, expr: &Expr) -> Option<Value> {
    if !expr.to_string().contains("$exception") {
        return None;
    }
    reader.exception_on(thread)?.ok()
}

/// The names that are known in a frame; `exception` is what `$exception` stands for.
pub(super) fn context(
    reader: &Reader<'_>,
    frame: &FrameVariables,
    exception: Option<&Value>,
) -> Context {
    let at = &frame.context.at;
    let mut context = declared_context(reader.types, at, &frame.shape);
    context.exception = exception.map(|it| it.ty.clone());
    if frame.shape.is_open() {
        for (number, variable) in context.variables.iter_mut().enumerate() {
            variable.ty = frame.ty(reader, number).without_ref().clone();
        }
    }
    context
}

/// What the `dynamic` variables of a frame hold, by their numbers: members and operators are those of that type.
pub(super) fn held_by_dynamic(reader: &Reader<'_>, frame: &FrameVariables) -> Vec<(usize, Type)> {
    let mut held = Vec::new();
    for (number, declared) in frame.shape.variables.iter().enumerate() {
        if !is_dynamic(declared) {
            continue;
        }
        let object = frame.value(reader, number);
        let object = object.and_then(|it| reader.object(&reader.behind_ref(&it)?));
        if let Ok(Some(object)) = object {
            held.push((number, object.ty));
        }
    }
    held
}

/// Tells a context what `dynamic` variables hold.
pub(super) fn open_dynamic(held: &[(usize, Type)], context: &mut Context) {
    for (number, ty) in held {
        if let Some(variable) = context.variables.get_mut(*number) {
            variable.holds = Some(ty.clone());
        }
    }
}

/// Whether a variable is `dynamic`, so that only its value says what can be done with it.
pub(super) fn is_dynamic(declared: &Declared) -> bool {
    declared.notes.dynamic.first() == Some(&true) && declared.ty == Type::OBJECT
}

/// Whether a parameter is declared with `in`.
pub(crate) fn is_in(types: Types<'_>, at: &CodePlace, name: &str) -> bool {
    let method = types.method(&at.declared_in, at.method);
    method.is_ok_and(|it| {
        let mut parameters = it.parameters.iter();
        parameters.any(|it| *it.name == *name && it.flags.is_in() && !it.flags.is_out())
    })
}

/// The names that are known at a place in code, whether a frame is there or not.
pub(super) fn declared_context(types: Types<'_>, at: &CodePlace, shape: &Shape) -> Context {
    let mut context = Context {
        module: Some(at.module),
        at: Some((at.method, at.offset.0)),
        ..Context::default()
    };
    for variable in &shape.variables {
        // The inner of two variables of one name is found first, as it comes last.
        context.variables.push(Variable {
            name: if variable.shadowed {
                Rc::from("")
            } else {
                variable.name.clone()
            },
            ty: variable.ty.without_ref().clone(),
            names: tuple_names(&variable.notes),
            dynamic: variable.notes.dynamic.as_slice().into(),
            holds: None,
            read_only: matches!(variable.ty, Type::ByRef(_))
                && match variable.home {
                    Home::Local(slot) => leads_to_fixed(types, at, slot),
                    _ => is_in(types, at, &variable.name),
                },
            is_local: matches!(variable.home, Home::Local(_)),
            bounds: bounds(types, at, variable),
            constant: constant(types, variable),
        });
    }
    context.closures = closures(shape);
    context.method = method_name(types, at);
    context.checked = checks_for_overflow(types, at);
    context.this = shape
        .variables
        .iter()
        .position(|it| it.kind == VariableKind::This);
    if let Ok(named) = at.user_type(types) {
        context.namespace = namespace(types, &named);
        context.type_parameters = type_parameters(types, at);
        context.ty = Some(named);
    }
    context.imports = imports(types, at.module, at.method).unwrap_or_default();
    context
}

/// What is demanded of the type parameter that a variable is declared with.
fn bounds(types: Types<'_>, at: &CodePlace, variable: &Declared) -> Option<Rc<Bounds>> {
    const CLASS: u16 = 4;
    let module = types.metadata(at.module).ok()?;
    let mut generics = at.generics.clone();
    let (owner, index) = match (variable.parameter, &variable.home) {
        (Some(DeclaredBy::Method(index)), _) => (at.method, index),
        (Some(DeclaredBy::Type(index)), _) => (at.declared_in.token, index),
        // A closure or state machine repeats the type parameters of its method, with what is demanded of them.
        (None, Home::Field(_, holder, field)) => {
            let holder = holder.without_ref().as_named()?;
            let declared = module.metadata().field(field.token).ok()?.ty().ok()?;
            let metadata::signature::Type::TypeParameter(index) = declared else {
                return None;
            };
            generics = holder.generics();
            (holder.token, index)
        }
        _ => return None,
    };
    let mut parameters = module.metadata().generic_params(owner).flatten();
    let parameter = parameters.nth(index as usize)?;
    let constraints = parameter.constraints().flatten();
    let bound = constraints.filter_map(|it| types.of_token(at.module, it, &generics).ok());
    let (mut all, rest): (Vec<Type>, Vec<Type>) = bound
        .filter(|it| !it.is_open())
        .partition(|it| matches!(it, Type::Named(it) if it.kind == Kind::Class));
    all.extend(rest);
    Some(Rc::new(Bounds {
        types: all,
        is_class: parameter.flags() & CLASS != 0,
    }))
}

/// The closures that variables lie in.
fn closures(shape: &Shape) -> Vec<(usize, Type)> {
    let mut found: Vec<(usize, Type)> = Vec::new();
    for (number, variable) in shape.variables.iter().enumerate() {
        if let Home::Field(_, ty, _) = &variable.home {
            let ty = ty.without_ref();
            if !found.iter().any(|(_, it)| it == ty) {
                found.push((number, ty.clone()));
            }
        }
    }
    found
}

/// The name of the method that the user wrote, also inside its lambdas and local functions, and in their state machines.
fn method_name(types: Types<'_>, at: &CodePlace) -> String {
    let metadata = types.metadata(at.module).ok().map(|it| it.metadata());
    let of_method =
        metadata.and_then(|it| Some(it.method(at.method).ok()?.name().ok()?.into_owned()));
    let name = of_method.unwrap_or_default();
    let of_type = metadata.and_then(|it| {
        let ty = it.type_def(at.declared_in.token).ok()?;
        Some(ty.name().ok()?.into_owned())
    });
    let machine = of_type.as_deref().and_then(|it| {
        let (inside, kind) = it.strip_prefix('<')?.rsplit_once('>')?;
        kind.starts_with('d').then_some(inside)
    });
    method_around(machine.unwrap_or(&name)).to_owned()
}

/// Whether the module was compiled to check for overflow; the compiler notes it in its symbols, if it was.
fn checks_for_overflow(types: Types<'_>, at: &CodePlace) -> bool {
    let module = types.module(at.module).ok();
    let symbols = module.and_then(|it| it.symbols(types.process).ok());
    let options = symbols.and_then(|it| it.pdb().compilation_options().ok());
    let mut options = options.unwrap_or_default().into_iter();
    options.any(|(name, value)| name == "checked" && value.eq_ignore_ascii_case("true"))
}

/// The method that a lambda or local function was written in, by what the compiler calls it; any other is itself.
pub(super) fn method_around(name: &str) -> &str {
    let inside = name.strip_prefix('<');
    let outer = [">g__", ">b__"]
        .into_iter()
        .find_map(|it| inside?.split_once(it));
    outer.map_or(name, |(outer, _)| outer)
}

fn constant(types: Types<'_>, variable: &Declared) -> Option<Constant> {
    let Home::Constant(Some(place)) = &variable.home else {
        return None;
    };
    let bytes = match place {
        Place::Text(units) => {
            return Some(Constant::Scalar(Scalar::String(units.to_vec().into())));
        }
        Place::Copy(bytes) => bytes,
        Place::Memory(_) => return None,
    };
    if variable.ty.is_reference() {
        return Some(Constant::Null);
    }
    let kind = variable
        .ty
        .underlying()
        .and_then(super::bind::well_known::primitive_kind)
        .or_else(|| super::bind::well_known::kind(types, &variable.ty))?;
    let bytes = bytes.get(..kind.size())?;
    Scalar::from_bytes(kind, bytes).map(Constant::Scalar)
}

/// The namespace of the outermost type around a type.
pub(super) fn namespace(types: Types<'_>, named: &crate::types::Named) -> String {
    let metadata = match types.metadata(named.module) {
        Ok(module) => module.metadata(),
        Err(_) => return String::new(),
    };
    let outermost = metadata
        .type_path(named.token)
        .ok()
        .and_then(|path| path.first().copied())
        .unwrap_or(named.token);
    metadata
        .type_def(outermost)
        .and_then(|it| it.namespace())
        .map(|it| it.into_owned())
        .unwrap_or_default()
}

/// The type parameters that can be named, with what they stand for.
fn type_parameters(types: Types<'_>, frame: &CodePlace) -> Vec<(Box<str>, Type)> {
    let Ok(module) = types.metadata(frame.module) else {
        return Vec::new();
    };
    let metadata = module.metadata();
    let Generics { of_type, of_method } = &frame.generics;
    let mut found = parameters_of_type(types, &frame.declared_in, of_type);
    if let Ok(method) = metadata.method(frame.method) {
        let names = names(method.generic_params().flatten());
        found.extend(names.zip(of_method.iter().cloned()));
    }
    found
}

/// The names of tuple elements in a type, as a binder has them.
pub(super) fn tuple_names(notes: &TypeNotes) -> super::bind::TupleNames {
    let names = notes.tuple_names.iter();
    names.map(|it| it.as_deref().map(Rc::from)).collect()
}

/// The type parameters of a type by name, with what they stand for.
pub(super) fn parameters_of_type(
    types: Types<'_>,
    named: &Named,
    arguments: &[Type],
) -> Vec<(Box<str>, Type)> {
    let definition = types.definition(named).ok();
    let Some(parameters) = definition.map(|it| it.generic_params().flatten()) else {
        return Vec::new();
    };
    names(parameters).zip(arguments.iter().cloned()).collect()
}

fn names<'m>(
    parameters: impl Iterator<Item = metadata::model::GenericParam<'m>>,
) -> impl Iterator<Item = Box<str>> {
    parameters.map(|it| {
        let name = it.name().map(|it| it.into_owned().into());
        name.unwrap_or_default()
    })
}

/// What the source of a type imports: the file of the first method that the symbols say it of.
pub(super) fn imports_of_type(types: Types<'_>, named: &Rc<Named>) -> Vec<Vec<Import>> {
    let methods = types.methods(named, None).unwrap_or_default();
    let mut found = methods
        .iter()
        .filter_map(|it| imports(types, named.module, it.token));
    found.next().unwrap_or_default()
}

/// What the file of the method imports, the innermost scope first.
fn imports(types: Types<'_>, of: ModuleId, method: Token) -> Option<Vec<Vec<Import>>> {
    let module = types.module(of).ok()?;
    let pdb = module.symbols(types.process).ok().map(Symbols::pdb)?;
    // The code of an async method or lambda has the imports of the method it was written in.
    let kickoff = pdb.kickoff_method(method).ok().flatten();
    // Compilers give no scope to a method that only starts such code.
    let methods = kickoff.into_iter().chain([method]);
    let scope = methods
        .flat_map(|it| pdb.local_scopes(it).flatten())
        .find_map(|it| it.import_scope())?;
    let generics = Generics::default();
    let mut found = Vec::new();
    for scope in pdb.import_chain(scope).ok()?.into_iter().take(MAX_IMPORTS) {
        let mut imports = Vec::new();
        for import in pdb.imports(scope).ok()? {
            let ty = |token| types.of_token(of, token, &generics).ok();
            match import {
                PdbImport::Namespace(name)
                | PdbImport::AssemblyNamespace {
                    namespace: name, ..
                } => {
                    imports.push(Import::Namespace(name.into_owned()));
                }
                PdbImport::Type(token) => imports.extend(ty(token).map(Import::Static)),
                PdbImport::AliasType { alias, ty: token } => {
                    imports.extend(ty(token).map(|it| Import::TypeAlias(alias.into_owned(), it)));
                }
                PdbImport::AliasNamespace { alias, namespace }
                | PdbImport::AliasAssemblyNamespace {
                    alias, namespace, ..
                } => {
                    imports.push(Import::NamespaceAlias(
                        alias.into_owned(),
                        namespace.into_owned(),
                    ));
                }
                PdbImport::XmlNamespace { .. }
                | PdbImport::ExternAlias(_)
                | PdbImport::AliasAssembly { .. } => {}
            }
        }
        found.push(imports);
    }
    Some(found)
}
