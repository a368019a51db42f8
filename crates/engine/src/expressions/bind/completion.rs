//! What could be written where the cursor is: variables, members, types, namespaces.
//!
//! The whole tree is bound, however unfinished it is; the place of the cursor is known by its span, and what is in scope
//! and stands before the dot there is noted when the binder comes by. So parameters of lambdas have the types that
//! inference gives them.

use std::collections::HashSet;
use std::rc::Rc;

use metadata::model::Visibility;
use metadata::tables::{Table, TypeDefRow};
use syntax::tree::{QualifiedName, SimpleName};
use syntax::{Completion, CompletionKind, Span};

use super::context::Import;
use super::{Binder, Operand};
use crate::types::{Method, ModuleId, Named, Type};

/// Types and namespaces that the language itself names.
const PREDEFINED: [&str; 18] = [
    "bool", "byte", "char", "decimal", "double", "dynamic", "float", "int", "long", "nint",
    "nuint", "object", "sbyte", "short", "string", "uint", "ulong", "ushort",
];

/// What was found where the cursor is.
#[derive(Default)]
pub(super) struct Probe {
    /// The name that is being written.
    at: Option<Span>,
    /// What stands before the dot.
    receiver: Option<Receiver>,
    /// Variables of the expression itself that are in scope there.
    locals: Vec<String>,
}

/// What stands before a dot.
enum Receiver {
    Namespace(String),
    Type(Type),
    Value(Type),
}

impl Binder<'_> {
    /// The names that begin with what is written at the cursor, by any case.
    pub(crate) fn completions(&mut self, wanted: &Completion) -> Vec<String> {
        let prefix = wanted.prefix.to_lowercase();
        let written = u32::try_from(wanted.prefix.len()).unwrap_or(0);
        let start = wanted.replace.start;
        self.probe.at = Some(Span::new(start, start.saturating_add(written)));
        // An unfinished text need not bind.
        let _ = self.bind(&wanted.tree).map(|it| self.natural(it).is_ok());
        let (mut near, mut inside) = (HashSet::new(), HashSet::new());
        let mut names = match &wanted.kind {
            CompletionKind::Name => {
                let mut names = std::mem::take(&mut self.probe.locals);
                near.extend(names.iter().cloned());
                near.extend(self.context.variables.iter().map(|it| it.name.to_string()));
                names.extend(self.names_in_scope());
                inside.extend(names.iter().cloned());
                names.extend(self.types_in_scope(&prefix));
                names
            }
            CompletionKind::Member { receiver, .. } => {
                if self.probe.receiver.is_none()
                    && let Ok(bound) = self.bind(receiver)
                {
                    self.note_receiver(&bound);
                }
                match self.probe.receiver.take() {
                    Some(Receiver::Namespace(it)) => self.names_in_namespace(&it, &prefix),
                    Some(Receiver::Type(it)) => self.names_in_type(&it),
                    Some(Receiver::Value(it)) => self.names_of_value(&it, &prefix),
                    None => Vec::new(),
                }
            }
            CompletionKind::TypeName => {
                let mut names = self.types_in_scope(&prefix);
                names.extend(PREDEFINED.map(str::to_owned));
                names
            }
            CompletionKind::TypeMember { qualifier } => match self.qualified(qualifier) {
                Some(Operand::Namespace(it, _)) => self.names_in_namespace(&it, &prefix),
                Some(Operand::Type(it, _)) => self.nested_names(&it),
                _ => Vec::new(),
            },
            CompletionKind::AliasMember { alias } if &*alias.text == "global" => {
                self.names_in_namespace("", &prefix)
            }
            CompletionKind::AliasMember { alias } => match self.plain_namespace(&alias.text) {
                Some(it) => self.names_in_namespace(&it, &prefix),
                None => Vec::new(),
            },
            CompletionKind::InitializerMember { ty } => {
                let ty = ty.as_ref().and_then(|it| self.ty(it).ok());
                ty.map_or_else(Vec::new, |it| self.members(&it, false, false))
            }
            CompletionKind::PatternMember { ty, path } => {
                let mut ty = ty.as_ref().and_then(|it| self.ty(it).ok());
                for name in path {
                    ty = ty.and_then(|it| self.type_of_member(&it, &name.text));
                }
                ty.map_or_else(Vec::new, |it| self.members(&it, false, false))
            }
            CompletionKind::Pseudo => Vec::new(),
        };
        names.retain(|it| it.to_lowercase().starts_with(&prefix));
        names.sort();
        names.dedup();
        // With nothing written there are more types than anybody reads.
        if prefix.is_empty() {
            names.sort_by_key(|it| (!near.contains(it), !inside.contains(it)));
        }
        names
    }

    /// Called where a name stands alone.
    pub(super) fn note_name(&mut self, name: &SimpleName) {
        if self.probe.at == Some(name.identifier.span) {
            let locals = self.locals.iter().map(|it| it.name.to_string());
            self.probe.locals.extend(locals);
        }
    }

    /// Called where a name stands behind a dot; the first answer counts.
    pub(super) fn note_member(&mut self, receiver: &Operand<'_>, name: &SimpleName) {
        if self.probe.at == Some(name.identifier.span) && self.probe.receiver.is_none() {
            self.note_receiver(receiver);
        }
    }

    fn note_receiver(&mut self, receiver: &Operand<'_>) {
        self.probe.receiver = match receiver {
            Operand::Namespace(name, _) => Some(Receiver::Namespace(name.clone())),
            Operand::Type(ty, _) => Some(Receiver::Type(ty.clone())),
            other => {
                let value = self.natural(other.clone());
                value.ok().map(|it| Receiver::Value(it.ty))
            }
        };
    }

    /// Variables, and the members that need nothing before them.
    fn names_in_scope(&self) -> Vec<String> {
        let variables = self.context.variables.iter().map(|it| it.name.to_string());
        let mut names: Vec<String> = variables.filter(|it| !it.is_empty()).collect();
        let mut outer = self.context.ty.clone();
        while let Some(named) = outer {
            names.extend(self.member_names(&Type::Named(named.clone())));
            outer = self.enclosing(&named);
        }
        for import in self.context.imports.iter().flatten() {
            if let Import::Static(ty) = import {
                names.extend(self.members(ty, true, true));
            }
        }
        names
    }

    /// Types and namespaces that can be named without what they lie in.
    pub(super) fn types_in_scope(&self, prefix: &str) -> Vec<String> {
        let parameters = self.context.type_parameters.iter();
        let mut names: Vec<String> = parameters.map(|(name, _)| name.to_string()).collect();
        let mut outer = self.context.ty.clone();
        while let Some(named) = outer {
            names.extend(self.nested_names(&Type::Named(named.clone())));
            outer = self.enclosing(&named);
        }
        let mut namespace = self.context.namespace.as_str();
        loop {
            names.extend(self.names_in_namespace(namespace, prefix));
            match namespace.rsplit_once('.') {
                Some((around, _)) => namespace = around,
                None if namespace.is_empty() => break,
                None => namespace = "",
            }
        }
        for import in self.context.imports.iter().flatten() {
            match import {
                // `using` brings in the types of a namespace, not the namespaces in it.
                Import::Namespace(namespace) => {
                    names.extend(self.types_of_namespace(namespace, prefix));
                }
                Import::Static(ty) => names.extend(self.nested_names(ty)),
                Import::TypeAlias(alias, _) | Import::NamespaceAlias(alias, _) => {
                    names.push(alias.clone());
                }
            }
        }
        names
    }

    /// The types of the user's modules that are called so and lie where they cannot be named without their namespace.
    pub(super) fn types_elsewhere(&self, wanted: &str) -> Vec<String> {
        let mut found = Vec::new();
        for module in self.types.modules.iter() {
            let id = ModuleId(module.identity());
            let Ok(metadata) = self.types.metadata(id).map(|it| it.metadata()) else {
                continue;
            };
            if !module.type_names(metadata).may_have(wanted)
                || module.symbols(self.types.process).is_err()
            {
                continue;
            }
            for (_, row) in metadata.rows::<TypeDefRow>() {
                // Nested types have no namespace of their own.
                let Ok(row) = row else { continue };
                let names = (metadata.string(row.namespace), metadata.string(row.name));
                if let (0 | 1, (Ok(namespace), Ok(name))) = (row.flags & 7, names)
                    && !namespace.is_empty()
                    && name == wanted
                {
                    found.push(format!("{namespace}.{name}"));
                }
            }
        }
        found
    }

    fn names_in_namespace(&self, namespace: &str, prefix: &str) -> Vec<String> {
        let mut names = self.types_of_namespace(namespace, prefix);
        names.extend(self.types.namespaces_in(namespace));
        names
    }

    /// The types of a namespace that the user's code could name.
    fn types_of_namespace(&self, namespace: &str, prefix: &str) -> Vec<String> {
        let mut names = Vec::new();
        for module in self.types.modules.iter() {
            let id = ModuleId(module.identity());
            let Ok(metadata) = self.types.metadata(id).map(|it| it.metadata()) else {
                continue;
            };
            if !namespace.is_empty() && !self.types.module_has_namespace(id, namespace) {
                continue;
            }
            for (_, row) in metadata.rows::<TypeDefRow>() {
                // The lowest bits are the visibility: 1 is public, 0 internal, others are nested types.
                let Ok(row) = row else { continue };
                let is_own = Some(id) == self.context.module;
                if !matches!((row.flags & 7, is_own), (1, _) | (0, true)) {
                    continue;
                }
                if metadata.string(row.namespace).ok().as_deref() != Some(namespace) {
                    continue;
                }
                let Ok(name) = metadata.string(row.name) else {
                    continue;
                };
                if name.to_lowercase().starts_with(prefix) {
                    names.extend(plain(&name));
                }
            }
        }
        names
    }

    fn nested_names(&self, ty: &Type) -> Vec<String> {
        let mut names = Vec::new();
        for named in self.levels(ty) {
            let Ok(metadata) = self.types.metadata(named.module).map(|it| it.metadata()) else {
                continue;
            };
            let Ok(definition) = self.types.definition(&named) else {
                continue;
            };
            for token in definition.nested().filter_map(Result::ok) {
                debug_assert!(token.is(Table::TypeDef), "nested types are types");
                let name = metadata.type_def(token).and_then(|it| it.name());
                names.extend(name.ok().and_then(|it| plain(&it)));
            }
        }
        names
    }

    /// What can stand behind a type and a dot.
    fn names_in_type(&self, ty: &Type) -> Vec<String> {
        let mut names = self.members(ty, true, true);
        names.extend(self.nested_names(ty));
        names
    }

    /// What can stand behind a value and a dot.
    fn names_of_value(&mut self, ty: &Type, prefix: &str) -> Vec<String> {
        let mut names = self.members(ty, false, true);
        names.extend(self.extension_names(ty, prefix));
        names
    }

    /// The static members of a type, or those of its objects.
    fn members(&self, ty: &Type, statics: bool, methods: bool) -> Vec<String> {
        let mut names = Vec::new();
        for named in self.levels(ty) {
            if let Ok(fields) = self.types.fields(&named) {
                let fields = fields.iter().filter(|it| it.flags.is_static() == statics);
                names.extend(fields.map(|it| it.name.to_string()));
            }
            let properties = self.types.properties(&named).unwrap_or_default();
            let properties = properties.into_iter().filter(|it| it.is_static == statics);
            names.extend(
                properties
                    .filter(|it| it.parameters.is_empty())
                    .map(|it| it.name),
            );
            if methods {
                let methods = self.types.methods(&named, None).unwrap_or_default();
                let methods = methods
                    .into_iter()
                    .filter(|it| it.flags.is_static() == statics && !it.flags.is_special_name());
                names.extend(methods.map(|it| it.name));
            }
        }
        if !statics && matches!(ty, Type::SzArray(_) | Type::Array { .. }) {
            names.push("Length".into());
        }
        names.retain(|it| is_written(it));
        names
    }

    fn type_of_member(&self, ty: &Type, name: &str) -> Option<Type> {
        use super::lookup::Found;
        match self.find_member(ty, name)? {
            Found::Field(_, field) => Some(field.ty),
            Found::Property(property) => Some(property.ty),
            Found::Methods(_) | Found::Ambiguous(..) => None,
        }
    }

    /// The extension methods that a value could be the first argument of.
    fn extension_names(&mut self, ty: &Type, prefix: &str) -> Vec<String> {
        let classes = self.extension_classes_in_scope();
        let mut names = Vec::new();
        for class in classes {
            let Ok(metadata) = self.types.metadata(class.module).map(|it| it.metadata()) else {
                continue;
            };
            let is_own = Some(class.module) == self.context.module;
            for method in self.types.methods(&class, None).unwrap_or_default() {
                if method.flags.is_static()
                    && method.name.to_lowercase().starts_with(prefix)
                    && (is_own || method.flags.visibility() == Visibility::Public)
                    && !names.contains(&method.name)
                    && metadata.is_extension(method.token)
                    && self.may_extend(&method, ty)
                {
                    names.push(method.name);
                }
            }
        }
        names
    }

    /// Whether the first parameter takes a type, whatever the method's own type parameters stand for.
    pub(super) fn may_extend(&self, method: &Method, ty: &Type) -> bool {
        let Some(first) = method.parameters.first() else {
            return false;
        };
        let wanted = first.ty.without_ref();
        if !wanted.is_open() {
            return wanted == ty || self.reference_converts(ty, wanted);
        }
        match (wanted, ty) {
            (Type::Named(wanted), Type::SzArray(_)) => {
                self.is_array_interface(wanted) || !self.constructions(ty, wanted).is_empty()
            }
            (Type::Named(wanted), _) => !self.constructions(ty, wanted).is_empty(),
            (Type::SzArray(_), _) => matches!(ty, Type::SzArray(_)),
            // A type parameter alone: what it is constrained to is not looked at.
            _ => true,
        }
    }

    fn qualified<'e>(&mut self, name: &QualifiedName) -> Option<Operand<'e>> {
        self.type_path(name).ok()
    }

    fn extension_classes_in_scope(&mut self) -> Vec<Rc<Named>> {
        let own = self.context.namespace.clone();
        let imports = self.context.imports.iter().flatten();
        let imported: Vec<&str> = imports
            .filter_map(|it| match it {
                Import::Namespace(namespace) => Some(namespace.as_str()),
                _ => None,
            })
            .collect();
        let all = self.all_extensions();
        let in_scope = all.iter().filter(|(namespace, _)| {
            imported.contains(&namespace.as_str())
                || namespace.is_empty()
                || own == *namespace
                || own
                    .strip_prefix(namespace.as_str())
                    .is_some_and(|it| it.starts_with('.'))
        });
        in_scope.map(|(_, class)| class.clone()).collect()
    }
}

/// Whether C# can write a member's name.
fn is_written(name: &str) -> bool {
    !name.starts_with(['<', '.']) && !name.contains('.') && name != "Finalize"
}

/// The name of a type without its arity; `None` for those that the compiler made.
fn plain(name: &str) -> Option<String> {
    let bare = name.split_once('`').map_or(name, |(bare, _)| bare);
    is_written(bare).then(|| bare.to_owned())
}
