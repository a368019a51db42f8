//! From references to definitions, over module borders.
//!
//! A module knows the types of others only by name and assembly. The caller says which assemblies there are; this follows nested types,
//! forwarded types and base types to where they are defined.

use crate::error::{Malformed, Result};
use crate::model::{AssemblyIdentity, TypeDef, TypeScope};
use crate::module::Module;
use crate::signature::{self, Type};
use crate::tables::{ExportedTypeRow, Table, TypeSpecRow};
use crate::token::Token;

/// Types are forwarded once or twice; a circle would have no end.
const MAX_FORWARDS: u32 = 16;
/// No class has this many ancestors; a circle would have no end.
const MAX_ANCESTORS: usize = 256;

/// Knows the assemblies that references can lead to.
pub trait Assemblies {
    /// The module with the manifest of the assembly that is asked for.
    fn assembly(&self, identity: &AssemblyIdentity<'_>) -> Option<Module>;
}

impl<F: Fn(&AssemblyIdentity<'_>) -> Option<Module>> Assemblies for F {
    fn assembly(&self, identity: &AssemblyIdentity<'_>) -> Option<Module> {
        self(identity)
    }
}

/// A type definition, with the module it lies in.
#[derive(Debug, Clone)]
pub struct ResolvedType {
    /// The module.
    pub module: Module,
    /// The `TypeDef` in it.
    pub token: Token,
}

impl ResolvedType {
    /// The definition.
    pub fn definition(&self) -> Result<TypeDef<'_>> {
        self.module.metadata().type_def(self.token)
    }
}

/// A member of a type.
#[derive(Debug, Clone)]
pub struct ResolvedMember {
    /// The type that declares it: the one that was asked, or an ancestor.
    pub declared_in: ResolvedType,
    /// The `Method`, `Field`, `Property` or `Event`.
    pub token: Token,
}

impl Module {
    /// The definition of a `TypeDef`, `TypeRef` or `ExportedType`, or of what a `TypeSpec` is made from; `None` if an assembly is not
    /// there, or has no such type.
    pub fn resolve_type(
        &self,
        token: Token,
        assemblies: &dyn Assemblies,
    ) -> Result<Option<ResolvedType>> {
        let metadata = self.metadata();
        match token.table() {
            Some(Table::TypeDef) => {
                metadata.type_def(token)?;
                Ok(Some(ResolvedType {
                    module: self.clone(),
                    token,
                }))
            }
            Some(Table::TypeSpec) => {
                let spec: TypeSpecRow = metadata.row_of(token)?;
                let ty = signature::type_spec(metadata.blob(spec.signature)?)?;
                match ty.unmodified() {
                    // A type spec that stands for another one is legal nowhere.
                    Type::Named { token, .. } | Type::Generic { token, .. }
                        if !token.is(Table::TypeSpec) =>
                    {
                        self.resolve_type(*token, assemblies)
                    }
                    _ => Ok(None),
                }
            }
            Some(Table::TypeRef | Table::ExportedType) => {
                let name = metadata.full_name(token)?;
                // The outermost type says where all of them are.
                let outermost = metadata.type_path(token)?.first().copied().unwrap_or(token);
                let home = if token.is(Table::ExportedType) {
                    let row: ExportedTypeRow = metadata.row_of(outermost)?;
                    self.referenced(row.implementation, assemblies)?
                } else {
                    match metadata.type_scope(outermost)? {
                        TypeScope::Assembly(assembly) => self.referenced(assembly, assemblies)?,
                        TypeScope::Module | TypeScope::Exported => Some(self.clone()),
                        TypeScope::ModuleRef(_) | TypeScope::Nested(_) => None,
                    }
                };
                home.map_or(Ok(None), |home| home.find_type(&name, assemblies))
            }
            _ => Err(Malformed::new("type token", token.0 as usize)),
        }
    }

    fn referenced(&self, assembly: Token, assemblies: &dyn Assemblies) -> Result<Option<Module>> {
        if !assembly.is(Table::AssemblyRef) {
            return Ok(None);
        }
        let metadata = self.metadata();
        Ok(assemblies.assembly(&metadata.assembly_ref(assembly)?))
    }

    /// The type named `full_name` (`Ns.Outer+Inner`, with or without arity marks) of this module, or where it is forwarded to.
    pub fn find_type(
        &self,
        full_name: &str,
        assemblies: &dyn Assemblies,
    ) -> Result<Option<ResolvedType>> {
        let mut module = self.clone();
        for _ in 0..MAX_FORWARDS {
            let metadata = module.metadata();
            let Some(token) = module.types().find(metadata, full_name).into_iter().next() else {
                return Ok(None);
            };
            if token.is(Table::TypeDef) {
                return Ok(Some(ResolvedType { module, token }));
            }
            let outermost = metadata.type_path(token)?.first().copied().unwrap_or(token);
            let row: ExportedTypeRow = metadata.row_of(outermost)?;
            let Some(next) = module.referenced(row.implementation, assemblies)? else {
                return Ok(None);
            };
            module = next;
        }
        Ok(None)
    }
}

impl ResolvedType {
    /// The type's base type.
    pub fn base(&self, assemblies: &dyn Assemblies) -> Result<Option<Self>> {
        match self.definition()?.base() {
            Some(base) => self.module.resolve_type(base, assemblies),
            None => Ok(None),
        }
    }

    /// The type and its ancestors, as far as their assemblies are there.
    pub fn ancestry(&self, assemblies: &dyn Assemblies) -> Result<Vec<Self>> {
        let mut ancestry = vec![self.clone()];
        while ancestry.len() < MAX_ANCESTORS {
            let Some(last) = ancestry.last() else { break };
            let Some(base) = last.base(assemblies)? else {
                break;
            };
            ancestry.push(base);
        }
        Ok(ancestry)
    }

    /// The fields, methods, properties and events of a name, those of the type before those of its ancestors.
    pub fn find_members(
        &self,
        name: &str,
        assemblies: &dyn Assemblies,
    ) -> Result<Vec<ResolvedMember>> {
        let mut found = Vec::new();
        for declared_in in self.ancestry(assemblies)? {
            let tokens = declared_in.definition()?.members_named(name)?;
            let member = |token| ResolvedMember {
                declared_in: declared_in.clone(),
                token,
            };
            found.extend(tokens.into_iter().map(member));
        }
        Ok(found)
    }
}

impl TypeDef<'_> {
    /// The fields, methods, properties and events of a name that the type declares itself.
    pub fn members_named(&self, name: &str) -> Result<Vec<Token>> {
        let mut found = Vec::new();
        let wanted = name.as_bytes();
        for it in self.fields() {
            let it = it?;
            if it.name_bytes()? == wanted {
                found.push(it.token());
            }
        }
        for it in self.methods() {
            let it = it?;
            if it.name_bytes()? == wanted {
                found.push(it.token());
            }
        }
        for it in self.properties() {
            let it = it?;
            if it.name_bytes()? == wanted {
                found.push(it.token());
            }
        }
        for it in self.events() {
            let it = it?;
            if it.name_bytes()? == wanted {
                found.push(it.token());
            }
        }
        Ok(found)
    }
}
