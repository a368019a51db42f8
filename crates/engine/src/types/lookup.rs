//! Types and namespaces by name, over all loaded modules.

use std::collections::HashSet;
use std::rc::Rc;

use metadata::signature::Primitive;
use metadata::tables::{Table, TypeDefRow};

use super::{ModuleId, Named, Result, Type, Types};

impl Types<'_> {
    /// The top-level types `namespace.name` with so many parameters, open; of the user's modules and of others in the
    /// order they were loaded. Several modules may define the same name.
    pub(crate) fn find(self, namespace: &str, name: &str, arity: usize) -> Vec<Type> {
        let mut full = String::with_capacity(namespace.len() + name.len() + 4);
        if !namespace.is_empty() {
            full.push_str(namespace);
            full.push('.');
        }
        full.push_str(name);
        if arity > 0 {
            full.push_str(&format!("`{arity}"));
        }
        self.modules
            .iter()
            .filter_map(|module| {
                let opened = module.metadata(self.process).ok()?;
                // Most modules have nothing that is called so, and say it at once.
                if !module.type_names(opened.metadata()).may_have(name) {
                    return None;
                }
                let tokens = opened.types().find(opened.metadata(), &full);
                let exact = tokens.into_iter().find(|token| {
                    let metadata = opened.metadata();
                    token.is(Table::TypeDef)
                        && metadata.full_name(*token).is_ok_and(|it| it == full)
                })?;
                self.open(ModuleId(module.identity()), exact).ok()
            })
            .collect()
    }

    /// A type of the core library, open if it is generic: `core("System.Collections.Generic", "List`1")`.
    pub(crate) fn core(self, namespace: &str, name: &str) -> Option<Type> {
        let named = self.core_named(namespace, name)?;
        self.open(named.module, named.token).ok()
    }

    /// An open type with arguments in place of its parameters.
    pub(crate) fn close(self, open: &Named, arguments: &[Type]) -> Result<Type> {
        self.construct(open.module, open.token, arguments.into())
    }

    /// Whether some loaded module has a namespace of that name, or one inside it.
    pub(crate) fn has_namespace(self, name: &str) -> bool {
        self.modules
            .iter()
            .any(|module| self.module_has_namespace(ModuleId(module.identity()), name))
    }

    /// Whether a module has a namespace of that name, or one inside it.
    pub(crate) fn module_has_namespace(self, id: ModuleId, name: &str) -> bool {
        self.namespaces(id)
            .is_some_and(|known| known.contains(name))
    }

    /// The last names of the namespaces that lie right in another; `""` is around all.
    pub(crate) fn namespaces_in(self, outer: &str) -> Vec<String> {
        let mut found = Vec::new();
        for module in self.modules.iter() {
            let known = self.namespaces(ModuleId(module.identity()));
            for namespace in known.iter().flat_map(|it| it.iter()) {
                let inner = match outer {
                    "" => Some(&**namespace),
                    _ => namespace
                        .strip_prefix(outer)
                        .and_then(|it| it.strip_prefix('.')),
                };
                found.extend(inner.filter(|it| !it.contains('.')).map(str::to_owned));
            }
        }
        found
    }

    fn namespaces(self, id: ModuleId) -> Option<Rc<HashSet<Box<str>>>> {
        if let Some(known) = self.cache.namespaces.get(&id) {
            return Some(known);
        }
        let metadata = self.metadata(id).ok()?.metadata();
        let mut found: HashSet<Box<str>> = HashSet::new();
        for (_, row) in metadata.rows::<TypeDefRow>() {
            let Ok(row) = row else { continue };
            let Ok(namespace) = metadata.string(row.namespace) else {
                continue;
            };
            let mut rest = &*namespace;
            // `A.B.C` makes `A` and `A.B` namespaces too.
            while !rest.is_empty() && found.insert(rest.into()) {
                rest = rest.rsplit_once('.').map_or("", |(outer, _)| outer);
            }
        }
        let found = Rc::new(found);
        self.cache.namespaces.insert(id, found.clone());
        Some(found)
    }
}

/// Types that reflection is asked about.
impl Types<'_> {
    /// The definition that a type is, if there are no arrays of it: a generic type that is left open, `void`, a ref struct.
    pub(crate) fn definition_of(self, ty: &Type) -> Option<Rc<Named>> {
        match ty {
            Type::Primitive(Primitive::Void) => self.core_named("System", "Void"),
            Type::Primitive(Primitive::TypedReference) => {
                self.core_named("System", "TypedReference")
            }
            Type::Named(named) => {
                let mut arguments = named.arguments.iter().zip(0..);
                let is_definition = match named.arguments.is_empty() {
                    true => self.is_by_ref_like(named),
                    false => arguments.all(|(it, number)| *it == Type::Variable(number)),
                };
                is_definition.then(|| named.clone())
            }
            _ => None,
        }
    }

    /// Any type of a module that there can be arrays of as it is.
    pub(crate) fn plain_class(self, module: ModuleId) -> Option<Type> {
        let metadata = self.metadata(module).ok()?.metadata();
        // The first stands for what lies outside of types.
        let all = metadata.type_defs().flatten().skip(1);
        let mut all = all.filter_map(|it| self.open_named(module, it.token()).ok());
        let found = all.find(|it| it.arguments.is_empty() && !self.is_by_ref_like(it));
        found.map(Type::Named)
    }

    /// Whether a type is a ref struct.
    pub(crate) fn is_by_ref_like(self, named: &Named) -> bool {
        let module = self.metadata(named.module);
        module.is_ok_and(|it| it.metadata().is_by_ref_like(named.token))
    }
}
