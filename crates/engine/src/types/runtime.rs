//! Between our types and the runtime's own.

use std::cell::Cell;
use std::rc::Rc;

use cordebug::heap::TypeId;
use cordebug::types::{Type as RuntimeType, element};
use metadata::Token;
use metadata::signature::Primitive;

use super::{FunctionType, ModuleId, Named, Result, Type, TypeError, Types};

/// Types nest less deeply.
const MAX_DEPTH: u32 = 64;
/// Types of which one is made, all together: made of others twice, it would grow with every level.
const MAX_PARTS: u32 = 1 << 16;

impl Types<'_> {
    /// The type that the runtime means.
    pub(crate) fn of_runtime(self, runtime: &RuntimeType) -> Result<Type> {
        self.runtime_at(runtime, 0, &Cell::new(0))
    }

    fn runtime_at(self, runtime: &RuntimeType, depth: u32, parts: &Cell<u32>) -> Result<Type> {
        parts.set(parts.get() + 1);
        if depth > MAX_DEPTH || parts.get() > MAX_PARTS {
            return Err(TypeError::TooDeep);
        }
        let arguments = || -> Result<Vec<Type>> {
            let arguments = runtime.arguments()?;
            arguments
                .iter()
                .map(|it| self.runtime_at(it, depth + 1, parts))
                .collect()
        };
        let inner = || -> Result<Rc<Type>> {
            let first = arguments()?.into_iter().next();
            Ok(Rc::new(first.unwrap_or(Type::Primitive(Primitive::Void))))
        };
        let kind = runtime.element_type()?;
        Ok(match kind {
            element::SZARRAY => Type::SzArray(inner()?),
            element::ARRAY => Type::Array {
                element: inner()?,
                rank: runtime.rank()?,
            },
            element::PTR => Type::Pointer(inner()?),
            element::BYREF => Type::ByRef(inner()?),
            element::FNPTR => {
                // The library often leaves out what a function takes and returns.
                let mut parts = arguments()?.into_iter().peekable();
                parts.peek().ok_or(TypeError::Open)?;
                Type::Function(Rc::new(FunctionType {
                    is_managed: true,
                    returns: parts.next().unwrap_or(Type::Primitive(Primitive::Void)),
                    parameters: parts.collect(),
                }))
            }
            element::VALUETYPE | element::CLASS | element::GENERICINST => {
                let class = runtime.class()?;
                let module = self.known_module(&class.module()?)?;
                self.construct(module, Token(class.token()?), arguments()?.into())?
            }
            kind => {
                let primitive = u8::try_from(kind).ok().and_then(Primitive::from_code);
                Type::Primitive(primitive.ok_or(TypeError::Open)?)
            }
        })
    }

    /// The library has several objects for one module: types that are asked by their id belong to another domain.
    fn known_module(self, module: &cordebug::module::Module) -> Result<ModuleId> {
        let id = ModuleId(module.identity());
        if self.modules.get(id.0).is_some() {
            return Ok(id);
        }
        if let Some(known) = self.cache.aliases.get(&id) {
            return Ok(known);
        }
        let (base, name) = (module.base_address()?, module.name()?);
        let same = self.modules.iter().find(|it| {
            it.module.base_address().is_ok_and(|it| it == base) && it.path.as_os_str() == &*name
        });
        let known = ModuleId(same.ok_or(TypeError::ModuleGone)?.identity());
        self.cache.aliases.insert(id, known);
        Ok(known)
    }

    /// The runtime's number of the type that stands for all those which differ from this in references only, if it has
    /// loaded that: it is all that generic code over references needs of the structs that it has as variables. All of them
    /// have the same layout.
    pub(crate) fn shared_id(self, ty: &Type) -> Option<TypeId> {
        let canonical = Type::Named(self.core_named("System", "__Canon")?);
        let shared = shared(ty, &canonical)?;
        self.to_runtime(&shared).ok()?.id().ok()
    }

    /// A type argument, unless the runtime has only what stands for all references in shared code: optimised code may not
    /// keep which it runs for.
    pub(crate) fn actual(self, ty: Type) -> Result<Type> {
        match self.core_named("System", "__Canon") {
            Some(canonical) if mentions(&ty, &canonical) => Err(TypeError::Open),
            _ => Ok(ty),
        }
    }

    /// The runtime's own type, for calls, static fields and layouts.
    pub(crate) fn to_runtime(self, ty: &Type) -> Result<RuntimeType> {
        if let Some(known) = self.cache.runtime.get(ty) {
            return Ok(known);
        }
        let runtime = match ty {
            Type::Primitive(_) | Type::Named(_) => {
                let named = self.named(ty).ok_or(TypeError::Open)?;
                let arguments = named
                    .arguments
                    .iter()
                    .map(|it| self.to_runtime(it))
                    .collect::<Result<Vec<_>>>()?;
                let class = self.module(named.module)?.module.class(named.token.0)?;
                class.with_arguments(ty.is_value() == Some(true), &arguments)?
            }
            Type::SzArray(inner) => {
                self.process
                    .derived_type(element::SZARRAY, 1, &self.to_runtime(inner)?)?
            }
            Type::Array { element: of, rank } => {
                self.process
                    .derived_type(element::ARRAY, *rank, &self.to_runtime(of)?)?
            }
            Type::Pointer(inner) => {
                self.process
                    .derived_type(element::PTR, 0, &self.to_runtime(inner)?)?
            }
            Type::ByRef(inner) => {
                self.process
                    .derived_type(element::BYREF, 0, &self.to_runtime(inner)?)?
            }
            // The library makes no such type that a call could use; an address is passed as one.
            Type::Function(_) => self.to_runtime(&Type::Primitive(Primitive::IntPtr))?,
            Type::Variable(_) | Type::MethodVariable(_) => return Err(TypeError::Open),
            Type::Missing { name, .. } => {
                return Err(TypeError::NotLoaded { name: name.clone() });
            }
        };
        self.cache.runtime.insert(ty.clone(), runtime.clone());
        Ok(runtime)
    }
}

/// A type with all references among its arguments replaced, if there are any.
fn shared(ty: &Type, canonical: &Type) -> Option<Type> {
    let named = ty.as_named()?;
    let replaced = |it: &Type| {
        if it.is_reference() {
            Some(canonical.clone())
        } else {
            shared(it, canonical)
        }
    };
    let arguments: Vec<Option<Type>> = named.arguments.iter().map(replaced).collect();
    arguments.iter().any(Option::is_some).then(|| {
        let whole = arguments.into_iter().zip(&named.arguments);
        let arguments = whole.map(|(new, old)| new.unwrap_or_else(|| old.clone()));
        Type::Named(Rc::new(Named {
            arguments: arguments.collect(),
            ..Named::clone(named)
        }))
    })
}

/// Whether a type is a class, or is made of it.
fn mentions(ty: &Type, class: &Named) -> bool {
    match ty {
        Type::Named(named) => {
            (named.module, named.token) == (class.module, class.token)
                || named.arguments.iter().any(|it| mentions(it, class))
        }
        other => other.element().is_some_and(|it| mentions(it, class)),
    }
}
