//! The members of a type by name, through its bases and interfaces, and extension methods.

use std::rc::Rc;

use metadata::model::Visibility;
use metadata::tables::{Table, TypeDefRow};

use super::Binder;
use super::context::Import;
use crate::types::{Field, Kind, Method, ModuleId, Named, Property, Type};

/// What a name is in a type.
pub(super) enum Found {
    Field(Rc<Named>, Field),
    Property(Property),
    Methods(Vec<Method>),
    /// Properties of two interfaces, neither of which hides the other.
    Ambiguous(Rc<Named>, Rc<Named>),
}

/// Classes with extension methods, by namespace.
pub(super) type Extensions = Vec<(String, Rc<Named>)>;

impl Binder<'_> {
    /// A type and all that it inherits members from, the nearest first.
    pub(super) fn levels(&self, ty: &Type) -> Vec<Rc<Named>> {
        let mut levels = self.types.ancestry(ty).unwrap_or_default();
        if Self::is_interface(ty) {
            levels.extend(self.types.interfaces(ty).unwrap_or_default());
            levels.extend(self.types.named(&Type::OBJECT));
        }
        levels
    }

    /// What a name is in a type; members of a nearer type hide those of others.
    pub(super) fn find_member(&self, ty: &Type, name: &str) -> Option<Found> {
        self.find_member_if(ty, name, &|_| true)
    }

    /// What a name is in a type, if members whose type does not fit do not count.
    pub(super) fn find_member_if(
        &self,
        ty: &Type,
        name: &str,
        fits: &dyn Fn(&Type) -> bool,
    ) -> Option<Found> {
        let mut methods: Vec<Method> = Vec::new();
        for named in self.levels(ty) {
            // What others are that the type has beside it says nothing of this one.
            let fields = self.types.aside(|| self.types.fields(&named).ok());
            let field = fields
                .iter()
                .flat_map(|it| it.iter())
                .find(|it| *it.name == *name && fits(it.ty.without_ref()));
            if methods.is_empty() {
                let properties = self.types.aside(|| self.types.properties(&named));
                let property = properties
                    .unwrap_or_default()
                    .into_iter()
                    .find(|it| it.name == name && it.parameters.is_empty())
                    .filter(|it| fits(it.ty.without_ref()));
                if let Some(property) = property {
                    self.types.meet(&property.ty);
                    if let Some(other) = self.rival(ty, &named, name) {
                        return Some(Found::Ambiguous(named, other));
                    }
                    return Some(Found::Property(self.with_getter(ty, property)));
                }
                if let Some(field) = field {
                    self.types.meet(&field.ty);
                    return Some(Found::Field(named, field.clone()));
                }
            }
            for method in self.types.methods(&named, Some(name)).unwrap_or_default() {
                let hides = |it: &Method| {
                    same_signature(it, &method) && self.hides(&it.declared_in, &method.declared_in)
                };
                if !methods.iter().any(hides) {
                    methods.push(method);
                }
            }
        }
        (!methods.is_empty()).then_some(Found::Methods(methods))
    }

    /// Whether members of one type hide those of another: unless these are interfaces that do not know each other.
    fn hides(&self, one: &Rc<Named>, other: &Rc<Named>) -> bool {
        if one.kind != Kind::Interface || other.kind != Kind::Interface || one == other {
            return true;
        }
        let inherited = self.types.interfaces(&Type::Named(Rc::clone(one)));
        inherited.map_or(true, |it| it.contains(other))
    }

    /// Another interface with a property of a name, if an interface inherits it as well and none of the two hides it.
    fn rival(&self, ty: &Type, named: &Rc<Named>, name: &str) -> Option<Rc<Named>> {
        if !Self::is_interface(ty) {
            return None;
        }
        let has_it = |it: &Rc<Named>| {
            let properties = self.types.properties(it).unwrap_or_default();
            properties
                .iter()
                .any(|it| it.name == name && it.parameters.is_empty())
        };
        let all: Vec<Rc<Named>> = self.levels(ty).into_iter().filter(has_it).collect();
        let is_hidden = |it: &Rc<Named>| all.iter().any(|by| by != it && self.hides(by, it));
        all.iter()
            .find(|it| *it != named && !is_hidden(it))
            .cloned()
    }

    /// An override may declare the setter only; the getter is then a base's.
    fn with_getter(&self, ty: &Type, mut property: Property) -> Property {
        if property.getter.is_some() {
            return property;
        }
        for named in self.levels(ty) {
            let properties = self.types.properties(&named).unwrap_or_default();
            let base = properties
                .into_iter()
                .find(|it| it.name == property.name && it.getter.is_some());
            if let Some(base) = base {
                property = base;
                break;
            }
        }
        property
    }

    /// The indexers of a type, those of base types too: one that fits hides theirs, as with methods.
    pub(super) fn indexers(&self, ty: &Type) -> Vec<Property> {
        let mut found: Vec<Property> = Vec::new();
        for named in self.levels(ty) {
            for property in self.types.properties(&named).unwrap_or_default() {
                let explicit = property.name.contains('.');
                if property.parameters.is_empty() || property.is_static || explicit {
                    continue;
                }
                if !found.iter().any(|it| it.parameters == property.parameters) {
                    found.push(property);
                }
            }
        }
        found
    }

    /// All names of members, for suggestions and completion.
    pub(super) fn member_names(&self, ty: &Type) -> Vec<String> {
        self.types.aside(|| self.names_of_members(ty))
    }

    fn names_of_members(&self, ty: &Type) -> Vec<String> {
        let mut names = Vec::new();
        for named in self.levels(ty) {
            if let Ok(fields) = self.types.fields(&named) {
                names.extend(fields.iter().map(|it| it.name.to_string()));
            }
            let properties = self.types.properties(&named).unwrap_or_default();
            names.extend(properties.into_iter().map(|it| it.name));
            let methods = self.types.methods(&named, None).unwrap_or_default();
            let plain = methods.into_iter().filter(|it| !it.flags.is_special_name());
            names.extend(plain.map(|it| it.name));
        }
        // C# calls no finaliser.
        names.retain(|it| !it.starts_with(['<', '.']) && !it.contains('.') && it != "Finalize");
        names.sort();
        names.dedup();
        names
    }

    /// Whether the user's code could use a member of that visibility.
    pub(super) fn is_visible(&self, visibility: Visibility, declared_in: &Named) -> bool {
        match visibility {
            Visibility::Public => true,
            Visibility::Internal | Visibility::ProtectedInternal => {
                Some(declared_in.module) == self.context.module
            }
            _ => self.context.ty.as_ref().is_some_and(|it| {
                it.module == declared_in.module && it.token == declared_in.token
                    || self
                        .types
                        .derives_from(&Type::Named(it.clone()), declared_in)
                        .unwrap_or(false)
            }),
        }
    }

    /// The extension methods of a name, in the namespaces that are imported.
    pub(super) fn extension_methods(&mut self, name: &str) -> Vec<Vec<Method>> {
        self.all_extensions();
        let all = self.extensions.as_deref().unwrap_or_default();
        let methods_in = |wanted: &dyn Fn(&str, &Rc<Named>) -> bool| {
            let mut found = Vec::new();
            for (namespace, class) in all {
                if !wanted(namespace, class) {
                    continue;
                }
                let Ok(module) = self.types.metadata(class.module) else {
                    continue;
                };
                let methods = self.types.methods(class, Some(name)).unwrap_or_default();
                found.extend(methods.into_iter().filter(|it| {
                    it.flags.is_static()
                        && !it.parameters.is_empty()
                        && module.metadata().is_extension(it.token)
                }));
            }
            found
        };
        let mut scopes = Vec::new();
        let mut namespace = Some(self.context.namespace.as_str());
        let mut imports = self.context.imports.iter();
        loop {
            if let Some(own) = namespace {
                scopes.push(methods_in(&|it, _| it == own));
                namespace = match own.rsplit_once('.') {
                    Some((outer, _)) => Some(outer),
                    None if own.is_empty() => None,
                    None => Some(""),
                };
            }
            match imports.next() {
                // In the order of the imports: the first that nearly fits is the one that is told of.
                Some(imports) => {
                    let methods = imports.iter().flat_map(|import| {
                        methods_in(&|namespace, class| match import {
                            Import::Namespace(it) => it == namespace,
                            Import::Static(Type::Named(it)) => it == class,
                            _ => false,
                        })
                    });
                    let mut scope: Vec<Method> = Vec::new();
                    for method in methods {
                        let same = |it: &Method| {
                            it.token == method.token && it.declared_in == method.declared_in
                        };
                        if !scope.iter().any(same) {
                            scope.push(method);
                        }
                    }
                    scopes.push(scope);
                }
                None if namespace.is_none() => break,
                None => {}
            }
        }
        scopes.retain(|it| !it.is_empty());
        scopes
    }

    /// All classes with extension methods.
    pub(super) fn all_extensions(&mut self) -> &Extensions {
        if self.extensions.is_none() {
            self.extensions = Some(self.extension_classes());
        }
        self.extensions.get_or_insert_default()
    }

    fn extension_classes(&self) -> Extensions {
        let mut found = Vec::new();
        for module in self.types.modules.iter() {
            let Ok(opened) = module.metadata(self.types.process) else {
                continue;
            };
            let metadata = opened.metadata();
            for (row, definition) in metadata.rows::<TypeDefRow>() {
                let Ok(definition) = definition else { continue };
                // A static class is abstract and sealed.
                const STATIC: u32 = 0x180;
                if definition.flags & STATIC != STATIC {
                    continue;
                }
                let token = metadata::Token::new(Table::TypeDef, row);
                if !metadata.is_extension(token) {
                    continue;
                }
                let Ok(namespace) = metadata.string(definition.namespace) else {
                    continue;
                };
                let ty = self.types.open(ModuleId(module.identity()), token);
                if let Ok(Type::Named(named)) = ty
                    && named.kind == Kind::Class
                {
                    found.push((namespace.into_owned(), named));
                }
            }
        }
        found
    }
}

/// Whether one hides the other.
fn same_signature(one: &Method, other: &Method) -> bool {
    one.arity == other.arity
        && one.parameters.len() == other.parameters.len()
        && one
            .parameters
            .iter()
            .zip(&other.parameters)
            .all(|(one, other)| one.ty == other.ty)
}
