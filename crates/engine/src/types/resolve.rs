//! From tokens and signatures to types, over module borders.

use std::rc::Rc;

use metadata::model::TypeScope;
use metadata::signature::{self, Primitive};
use metadata::tables::{ExportedTypeRow, Table, TypeSpecRow};
use metadata::{Metadata, Token};

use super::cache::{Definition, Resolved};
use super::{FunctionType, Generics, Kind, ModuleId, Named, Result, Type, TypeError, Types};

/// Types are forwarded once or twice; a circle would have no end.
const MAX_FORWARDS: u32 = 16;
/// Signatures nest less deeply, and type specs do not lead to each other.
const MAX_DEPTH: u32 = 64;

impl Types<'_> {
    /// The type that a signature of a module spells, where its variables stand for what `generics` says.
    pub(crate) fn of_signature(
        self,
        module: ModuleId,
        spelled: &signature::Type,
        generics: &Generics,
    ) -> Result<Type> {
        self.spelled(module, spelled, generics, 0)
    }

    /// The type that a `TypeDef`, `TypeRef` or `TypeSpec` token of a module names. A generic definition is open: its
    /// arguments are its own variables.
    pub(crate) fn of_token(
        self,
        module: ModuleId,
        token: Token,
        generics: &Generics,
    ) -> Result<Type> {
        self.token_at(module, token, generics, 0)
    }

    fn token_at(
        self,
        module: ModuleId,
        token: Token,
        generics: &Generics,
        depth: u32,
    ) -> Result<Type> {
        if depth > MAX_DEPTH {
            return Err(TypeError::TooDeep);
        }
        if token.is(Table::TypeSpec) {
            let metadata = self.metadata(module)?.metadata();
            let spec: TypeSpecRow = metadata.row_of(token)?;
            let spelled = signature::type_spec(metadata.blob(spec.signature)?)?;
            return self.spelled(module, &spelled, generics, depth + 1);
        }
        match self.resolve(module, token)? {
            Resolved::Definition(module, token) => self.open(module, token),
            Resolved::Missing(name) => Ok(Type::Missing {
                name,
                is_value: false,
            }),
        }
    }

    fn spelled(
        self,
        module: ModuleId,
        spelled: &signature::Type,
        generics: &Generics,
        depth: u32,
    ) -> Result<Type> {
        if depth > MAX_DEPTH {
            return Err(TypeError::TooDeep);
        }
        let inner = |inner| {
            self.spelled(module, inner, generics, depth + 1)
                .map(Rc::new)
        };
        Ok(match spelled {
            signature::Type::Primitive(primitive) => Type::Primitive(*primitive),
            signature::Type::Named { token, is_value } => {
                match self.token_at(module, *token, generics, depth + 1)? {
                    Type::Missing { name, .. } => Type::Missing {
                        name,
                        is_value: *is_value,
                    },
                    found => found,
                }
            }
            signature::Type::Generic {
                token,
                is_value,
                arguments,
            } => {
                let arguments = arguments
                    .iter()
                    .map(|it| self.spelled(module, it, generics, depth + 1))
                    .collect::<Result<Box<[Type]>>>()?;
                match self.resolve(module, *token)? {
                    Resolved::Definition(module, token) => {
                        self.construct(module, token, arguments)?
                    }
                    Resolved::Missing(name) => Type::Missing {
                        name,
                        is_value: *is_value,
                    },
                }
            }
            signature::Type::TypeParameter(number) => Type::Variable(*number).with(generics),
            signature::Type::MethodParameter(number) => {
                Type::MethodVariable(*number).with(generics)
            }
            signature::Type::SzArray(element) => Type::SzArray(inner(element)?),
            signature::Type::Array { element, shape } => Type::Array {
                element: inner(element)?,
                rank: shape.rank,
            },
            signature::Type::Pointer(target) => Type::Pointer(inner(target)?),
            signature::Type::ByRef(target) => Type::ByRef(inner(target)?),
            signature::Type::Pinned(of) | signature::Type::Modified { inner: of, .. } => {
                return self.spelled(module, of, generics, depth + 1);
            }
            signature::Type::Function(method) => {
                let parameters = method.parameters.iter();
                Type::Function(Rc::new(FunctionType {
                    is_managed: method.convention.kind() == 0,
                    returns: self.spelled(module, &method.return_type, generics, depth + 1)?,
                    parameters: parameters
                        .map(|it| self.spelled(module, it, generics, depth + 1))
                        .collect::<Result<_>>()?,
                }))
            }
        })
    }

    /// A definition whose parameters are its own variables; the type itself if it has none.
    pub(crate) fn open(self, module: ModuleId, token: Token) -> Result<Type> {
        let arity = self.define(module, token)?.arity;
        self.construct(module, token, (0..arity).map(Type::Variable).collect())
    }

    /// The definition itself, also of a primitive, with its own variables as arguments.
    pub(crate) fn open_named(self, module: ModuleId, token: Token) -> Result<Rc<Named>> {
        let definition = self.define(module, token)?;
        Ok(Rc::new(Named {
            module,
            token,
            kind: definition.kind,
            arguments: (0..definition.arity).map(Type::Variable).collect(),
        }))
    }

    /// A definition with arguments, those of enclosing types first.
    pub(crate) fn construct(
        self,
        module: ModuleId,
        token: Token,
        arguments: Box<[Type]>,
    ) -> Result<Type> {
        let definition = self.define(module, token)?;
        if let Some(primitive) = definition.primitive {
            return Ok(Type::Primitive(primitive));
        }
        Ok(Type::Named(Rc::new(Named {
            module,
            token,
            kind: definition.kind,
            arguments,
        })))
    }

    /// What a definition is.
    pub(super) fn define(self, module: ModuleId, token: Token) -> Result<Definition> {
        if let Some(known) = self.cache.definitions.get(&(module, token)) {
            return Ok(known);
        }
        let ty = self.metadata(module)?.metadata().type_def(token)?;
        let kind = if let Some(underlying) = ty.enum_underlying()? {
            Kind::Enum(underlying)
        } else if ty.is_value_type() {
            Kind::Struct
        } else if ty.flags().is_interface() {
            Kind::Interface
        } else if ty.is_delegate() {
            Kind::Delegate
        } else {
            Kind::Class
        };
        let primitive = if Some(module) == self.core_module()
            && ty.namespace()? == "System"
            && !ty.flags().is_nested()
        {
            Primitive::from_system_name(&ty.name()?)
        } else {
            None
        };
        let definition = Definition {
            kind,
            primitive,
            arity: u32::try_from(ty.generic_params().count()).unwrap_or(u32::MAX),
        };
        self.cache.definitions.insert((module, token), definition);
        Ok(definition)
    }

    /// Where a `TypeDef`, `TypeRef` or `ExportedType` token leads.
    pub(super) fn resolve(self, module: ModuleId, token: Token) -> Result<Resolved> {
        if token.is(Table::TypeDef) {
            return Ok(Resolved::Definition(module, token));
        }
        let found = match self.cache.resolved.get(&(module, token)) {
            Some(known) => known,
            None => {
                let found = self.follow(module, token)?;
                self.cache.resolved.insert((module, token), found.clone());
                found
            }
        };
        if let Resolved::Missing(_) = found {
            self.cache.missing.set(self.cache.missing.get() + 1);
        }
        Ok(found)
    }

    /// A number that changes whenever a type is met whose assembly is not loaded.
    pub(crate) fn missing(self) -> u64 {
        self.cache.missing.get()
    }

    /// Does what looks at more than was asked for: types that are met in it do not count as [missing](Self::missing).
    pub(crate) fn aside<T>(self, look: impl FnOnce() -> T) -> T {
        let before = self.cache.missing.get();
        let found = look();
        self.cache.missing.set(before);
        found
    }

    /// Counts a type as met, if it is, or has a part, that is not loaded.
    pub(crate) fn meet(self, ty: &Type) {
        fn is_missing(ty: &Type) -> bool {
            match ty {
                Type::Missing { .. } => true,
                Type::Named(named) => named.arguments.iter().any(is_missing),
                _ => ty.element().is_some_and(is_missing),
            }
        }
        if is_missing(ty) {
            self.cache.missing.set(self.cache.missing.get() + 1);
        }
    }

    fn follow(self, module: ModuleId, token: Token) -> Result<Resolved> {
        let metadata = self.metadata(module)?.metadata();
        let name = metadata.full_name(token)?;
        let missing = || Ok(Resolved::Missing(name.as_str().into()));
        let mut at = (module, token);
        for _ in 0..MAX_FORWARDS {
            let Some(home) = self.home(at.0, at.1)? else {
                // A facade of the framework that nothing has loaded yet leads to the core library as a rule.
                return match self.in_core(&name) {
                    Some(found) => Ok(found),
                    None => missing(),
                };
            };
            let opened = self.metadata(home)?;
            let mut found = opened
                .types()
                .find(opened.metadata(), &name)
                .into_iter()
                // The arity mark is part of the name: what only looks similar is another type.
                .filter(|it| {
                    opened
                        .metadata()
                        .full_name(*it)
                        .is_ok_and(|found| found == name)
                });
            match found.next() {
                Some(token) if token.is(Table::TypeDef) => {
                    return Ok(Resolved::Definition(home, token));
                }
                Some(forwarder) => at = (home, forwarder),
                None => return missing(),
            }
        }
        missing()
    }

    /// A type of the framework in the core library, by its full name.
    fn in_core(self, name: &str) -> Option<Resolved> {
        let core = self.core_module().filter(|_| name.starts_with("System."))?;
        let opened = self.metadata(core).ok()?;
        let metadata = opened.metadata();
        let found = opened.types().find(metadata, name).into_iter().find(|it| {
            it.is(Table::TypeDef) && metadata.full_name(*it).is_ok_and(|found| found == name)
        })?;
        Some(Resolved::Definition(core, found))
    }

    /// The module that a `TypeRef` or `ExportedType` says its type is in, if that is loaded.
    fn home(self, module: ModuleId, token: Token) -> Result<Option<ModuleId>> {
        let metadata = self.metadata(module)?.metadata();
        let outermost = metadata.type_path(token)?.first().copied().unwrap_or(token);
        let scope = if token.is(Table::ExportedType) {
            metadata
                .row_of::<ExportedTypeRow>(outermost)?
                .implementation
        } else {
            match metadata.type_scope(outermost)? {
                TypeScope::Assembly(assembly) => assembly,
                TypeScope::Module | TypeScope::Exported => return Ok(Some(module)),
                TypeScope::ModuleRef(_) | TypeScope::Nested(_) => return Ok(None),
            }
        };
        if !scope.is(Table::AssemblyRef) {
            return Ok(None);
        }
        Ok(self.assembly(&metadata.assembly_ref(scope)?.name))
    }

    /// The module with the manifest of the loaded assembly of that simple name.
    pub(crate) fn assembly(self, name: &str) -> Option<ModuleId> {
        if let Some(known) = self.cache.assemblies.get(name) {
            return Some(known);
        }
        let modules = || self.modules.iter();
        // Nearly every assembly is called as its file is.
        let by_file = modules().find(|it| it.path.file_stem().is_some_and(|stem| stem == name));
        let found = by_file.or_else(|| {
            modules().find(|it| {
                it.described(self.process)
                    .is_ok_and(|opened| is_assembly(opened.metadata(), name))
            })
        })?;
        let id = ModuleId(found.identity());
        self.cache.assemblies.insert(name.to_owned(), id);
        Some(id)
    }

    /// The module that defines `System.Object`.
    pub(crate) fn core_module(self) -> Option<ModuleId> {
        if let Some(known) = self.cache.core.get() {
            return Some(known);
        }
        let core = self.assembly("System.Private.CoreLib")?;
        self.cache.core.set(Some(core));
        Some(core)
    }
}

fn is_assembly(metadata: Metadata<'_>, name: &str) -> bool {
    metadata
        .assembly()
        .is_ok_and(|it| it.is_some_and(|it| it.identity.name == name))
}
