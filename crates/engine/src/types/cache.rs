//! What was worked out about types, kept until a module is unloaded.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::rc::Rc;

use cordebug::types::Type as RuntimeType;
use metadata::Token;
use metadata::signature::Primitive;

use super::{Field, Kind, Method, ModuleId, Named, Type};

/// Entries of one kind kept at most; a program that makes types without end must not fill our memory.
const MAX_ENTRIES: usize = 1 << 16;

/// What is known of a definition.
#[derive(Debug, Clone, Copy)]
pub(super) struct Definition {
    pub(super) kind: Kind,
    /// Set for the definitions behind C#'s keywords.
    pub(super) primitive: Option<Primitive>,
    /// The number of its parameters, with those of enclosing types.
    pub(super) arity: u32,
}

/// Where a token leads.
#[derive(Debug, Clone)]
pub(super) enum Resolved {
    /// To a definition.
    Definition(ModuleId, Token),
    /// To an assembly that is not loaded.
    Missing(Rc<str>),
}

/// What was worked out about types.
#[derive(Debug, Default)]
pub(crate) struct TypeCache {
    pub(super) core: Cell<Option<ModuleId>>,
    /// How often a token led to an assembly that is not loaded.
    pub(super) missing: Cell<u64>,
    pub(super) assemblies: Map<String, ModuleId>,
    pub(super) aliases: Map<ModuleId, ModuleId>,
    pub(super) definitions: Map<(ModuleId, Token), Definition>,
    pub(super) resolved: Map<(ModuleId, Token), Resolved>,
    pub(super) fields: Map<Rc<Named>, Rc<[Field]>>,
    pub(super) implementations: Map<(Type, Rc<Named>, Token), Option<Rc<Method>>>,
    pub(super) local_functions: Map<(ModuleId, Token), super::LocalFunctions>,
    pub(super) runtime: Map<Type, RuntimeType>,
    pub(super) texts: Map<Type, Rc<str>>,
    pub(super) namespaces: Map<ModuleId, Rc<HashSet<Box<str>>>>,
    /// Not forgotten: no module of the program has part in them.
    pub(super) shapes: super::shapes::Shapes,
}

impl TypeCache {
    /// Forgets everything: a module is gone, and with it what was known through it.
    pub(crate) fn module_unloaded(&self) {
        self.core.set(None);
        self.assemblies.clear();
        self.aliases.clear();
        self.definitions.clear();
        self.resolved.clear();
        self.fields.clear();
        self.implementations.clear();
        self.local_functions.clear();
        self.runtime.clear();
        self.texts.clear();
        self.namespaces.clear();
    }

    /// A module has come: names that led nowhere may lead somewhere now.
    pub(crate) fn module_loaded(&self) {
        self.resolved
            .0
            .borrow_mut()
            .retain(|_, it| matches!(it, Resolved::Definition(..)));
        // A field, text or override may have been worked out with a type that was missing.
        self.fields.clear();
        self.implementations.clear();
        self.texts.clear();
    }
}

/// A map that is written through a shared reference and never grows without bound.
#[derive(Debug)]
pub(crate) struct Map<K, V>(RefCell<HashMap<K, V>>);

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<K: Eq + Hash, V: Clone> Map<K, V> {
    /// What is known of a key.
    pub(crate) fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<V>
    where
        K: std::borrow::Borrow<Q>,
    {
        self.0.borrow().get(key).cloned()
    }

    /// Notes what is known of a key.
    pub(crate) fn insert(&self, key: K, value: V) {
        let mut map = self.0.borrow_mut();
        if map.len() >= MAX_ENTRIES {
            map.clear();
        }
        map.insert(key, value);
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        self.0.borrow_mut().clear();
    }
}
