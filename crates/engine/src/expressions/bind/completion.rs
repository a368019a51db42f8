//! What could be written where the cursor is: variables, members, types, namespaces.
//!
//! The whole tree is bound, however unfinished it is; the place of the cursor is known by its span, and what is in scope
//! and stands before the dot there is noted when the binder comes by. So parameters of lambdas have the types that
//! inference gives them.

use std::collections::HashSet;
use std::rc::Rc;

use metadata::Token;
use metadata::model::Visibility;
use metadata::tables::{Table, TypeDefRow};
use syntax::tree::{Argument, Expr, ExprKind, PatternKind, QualifiedName, SimpleName, Subpattern};
use syntax::{Completion, CompletionKind, Span};

use super::context::Import;
use super::{Binder, Operand};
use crate::api::{CompletedName, NameKind};
use crate::expressions::intrinsics;
use crate::expressions::plan::Node;
use crate::types::{Kind, Method, ModuleId, Named, Type};

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
    /// Parameters that an argument there could be for.
    parameters: Vec<String>,
    /// The enum that is compared there.
    compared: Option<Type>,
}

/// What stands before a dot, or what the members of a pattern or an initialiser belong to.
enum Receiver {
    Namespace(String),
    Type(Type),
    Value(Box<Node>),
}

fn offered(kind: NameKind, names: impl IntoIterator<Item = String>) -> Vec<CompletedName> {
    let names = names.into_iter();
    names.map(|name| CompletedName { name, kind }).collect()
}

impl Binder<'_> {
    /// The names that begin with what is written at the cursor, by any case.
    pub(crate) fn completions(&mut self, wanted: &Completion) -> Vec<CompletedName> {
        let prefix = wanted.prefix.to_lowercase();
        let written = u32::try_from(wanted.prefix.len()).unwrap_or(0);
        let start = wanted.replace.start;
        self.probe.at = Some(Span::new(start, start.saturating_add(written)));
        // An unfinished text need not bind.
        let _ = self.bind(&wanted.tree).map(|it| self.natural(it).is_ok());
        let (mut near, mut inside) = (HashSet::new(), HashSet::new());
        let mut wanted_first = Vec::new();
        let mut names = match &wanted.kind {
            CompletionKind::Name => {
                wanted_first = self.expected(&prefix);
                let locals = std::mem::take(&mut self.probe.locals);
                let mut names = offered(NameKind::Variable, locals);
                near.extend(names.iter().map(|it| it.name.clone()));
                near.extend(self.context.variables.iter().map(|it| it.name.to_string()));
                names.extend(self.names_in_scope());
                inside.extend(names.iter().map(|it| it.name.clone()));
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
                names.extend(offered(NameKind::Keyword, PREDEFINED.map(str::to_owned)));
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
                self.names_of_parts(ty, &[])
            }
            CompletionKind::PatternMember { ty, path } => {
                let ty = ty.as_ref().and_then(|it| self.ty(it).ok());
                let path: Vec<&str> = path.iter().map(|it| &*it.text).collect();
                self.names_of_parts(ty, &path)
            }
            CompletionKind::Pseudo => Vec::new(),
        };
        names.retain(|it| it.name.to_lowercase().starts_with(&prefix));
        names.sort();
        names.dedup_by(|one, other| one.name == other.name);
        // With nothing written there are more types than anybody reads.
        if prefix.is_empty() {
            names.sort_by_key(|it| (!near.contains(&it.name), !inside.contains(&it.name)));
        }
        wanted_first.extend(names);
        wanted_first
    }

    /// What the place itself asks for: values of the enum that is compared, names of arguments.
    fn expected(&mut self, prefix: &str) -> Vec<CompletedName> {
        let mut found = Vec::new();
        if let Some(ty) = self.probe.compared.take() {
            let (of, own) = (self.text(&ty), self.members(&ty, true, false));
            found.extend(own.into_iter().filter_map(|it| {
                let fits = it.name.to_lowercase().starts_with(prefix);
                let name = format!("{of}.{}", it.name);
                let fits = fits || name.to_lowercase().starts_with(prefix);
                let kind = NameKind::EnumMember;
                (fits && it.kind == kind).then_some(CompletedName { name, kind })
            }));
        }
        let mut names = std::mem::take(&mut self.probe.parameters);
        names.retain(|it| it.to_lowercase().starts_with(prefix));
        names.sort();
        names.dedup();
        let named = names.into_iter().map(|it| format!("{it}:"));
        found.extend(offered(NameKind::Argument, named));
        found
    }

    /// The members that a pattern tests or an initialiser sets: of the type that is written, else of what it is about.
    fn names_of_parts(&mut self, written: Option<Type>, path: &[&str]) -> Vec<CompletedName> {
        let noted = match self.probe.receiver.take() {
            Some(Receiver::Value(node)) => Some(node),
            _ => None,
        };
        let tuple = noted.filter(|_| written.is_none());
        let mut ty = written.or_else(|| tuple.as_ref().map(|it| it.ty.clone()));
        if let (Some(node), []) = (&tuple, path)
            && let Some(names) = self.element_names(node)
        {
            return names;
        }
        for name in path {
            ty = ty.and_then(|it| self.type_of_member(&it, name));
        }
        ty.map_or_else(Vec::new, |it| {
            let it = self.without_nullable(&it);
            self.members(&it, false, false)
        })
    }

    /// The names of a tuple's elements.
    fn element_names(&self, node: &Node) -> Option<Vec<CompletedName>> {
        let count = self.tuple_elements(&node.ty)?.len();
        let own = node.names.iter().take(count).flatten();
        let mut names: Vec<String> = own.map(|it| it.to_string()).collect();
        names.extend((1..=count).map(|it| format!("Item{it}")));
        Some(offered(NameKind::Field, names))
    }

    /// Called where a call or a constructor has arguments.
    pub(super) fn note_arguments(
        &mut self,
        methods: &[Method],
        arguments: &[Argument],
        skip: usize,
    ) {
        let Some(at) = self.probe.at else { return };
        let is_here = |it: &Argument| it.name.is_none() && is_name_at(&it.value, at);
        if !arguments.iter().any(is_here) {
            return;
        }
        for (index, argument) in arguments.iter().enumerate() {
            if !is_here(argument) {
                continue;
            }
            let parameters = methods
                .iter()
                .filter_map(|it| it.parameters.get(index + skip));
            let mut types = parameters.map(|it| self.without_nullable(it.ty.without_ref()));
            let wanted = types.find(|it| Self::enum_of(it).is_some());
            self.probe.compared = self.probe.compared.take().or(wanted);
        }
        let parameters = methods
            .iter()
            .flat_map(|it| it.parameters.iter().skip(skip));
        let names = parameters.map(|it| it.name.to_string());
        let names: Vec<String> = names
            .filter(|it| is_written(it) && !it.is_empty())
            .collect();
        self.probe.parameters.extend(names);
    }

    /// Called where something is compared with what may be the name that is being written.
    pub(super) fn note_compared(&mut self, with: &Operand<'_>, written: &Expr) {
        if let (Some(at), Operand::Value(node)) = (self.probe.at, with)
            && is_name_at(written, at)
        {
            let ty = self.without_nullable(&node.ty);
            self.probe.compared = Self::enum_of(&ty).is_some().then_some(ty);
        }
    }

    /// Called where a pattern tests a member of something.
    pub(super) fn note_part(&mut self, sub: &Subpattern, of: &Node) {
        if let (Some(at), PatternKind::TypeOrConstant(expr) | PatternKind::Constant(expr)) =
            (self.probe.at, &sub.pattern.kind)
            && is_name_at(expr, at)
            && self.probe.receiver.is_none()
        {
            self.probe.receiver = Some(Receiver::Value(Box::new(of.clone())));
        }
    }

    /// Called where an initialiser sets or adds something.
    pub(super) fn note_initial(&mut self, span: Span, of: &Node) {
        if self.probe.at == Some(span) && self.probe.receiver.is_none() {
            self.probe.receiver = Some(Receiver::Value(Box::new(of.clone())));
        }
    }

    /// Whether names are looked for that could stand in an unfinished text.
    pub(super) fn is_completing(&self) -> bool {
        self.probe.at.is_some()
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
                value.ok().map(|it| Receiver::Value(Box::new(it)))
            }
        };
    }

    /// Variables, and the members that need nothing before them.
    fn names_in_scope(&self) -> Vec<CompletedName> {
        let variables = self.context.variables.iter().map(|it| it.name.to_string());
        let variables = variables.filter(|it| !it.is_empty());
        let mut names = offered(NameKind::Variable, variables);
        names.extend(offered(NameKind::Method, self.local_function_names()));
        let mut outer = self.context.ty.clone();
        while let Some(named) = outer {
            let ty = Type::Named(named.clone());
            names.extend(self.members(&ty, false, true));
            names.extend(self.members(&ty, true, true));
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
    pub(super) fn types_in_scope(&self, prefix: &str) -> Vec<CompletedName> {
        let parameters = self.context.type_parameters.iter();
        let parameters = parameters.map(|(name, _)| name.to_string());
        let mut names = offered(NameKind::TypeParameter, parameters);
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
                Import::TypeAlias(alias, _) => {
                    names.extend(offered(NameKind::Alias, [alias.clone()]));
                }
                Import::NamespaceAlias(alias, _) => {
                    names.extend(offered(NameKind::Namespace, [alias.clone()]));
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

    fn names_in_namespace(&self, namespace: &str, prefix: &str) -> Vec<CompletedName> {
        let mut names = self.types_of_namespace(namespace, prefix);
        let inner = self.types.namespaces_in(namespace);
        names.extend(offered(NameKind::Namespace, inner));
        names
    }

    /// The types of a namespace that the user's code could name.
    fn types_of_namespace(&self, namespace: &str, prefix: &str) -> Vec<CompletedName> {
        let mut names = Vec::new();
        for module in self.types.modules.iter() {
            let id = ModuleId(module.identity());
            let Ok(metadata) = self.types.metadata(id).map(|it| it.metadata()) else {
                continue;
            };
            if !namespace.is_empty() && !self.types.module_has_namespace(id, namespace) {
                continue;
            }
            for (number, row) in metadata.rows::<TypeDefRow>() {
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
                if name.to_lowercase().starts_with(prefix)
                    && let Some(name) = plain(&name)
                {
                    let kind = self.kind_of_type(id, Token::new(Table::TypeDef, number));
                    names.push(CompletedName { name, kind });
                }
            }
        }
        names
    }

    /// What kind of type a definition is.
    fn kind_of_type(&self, module: ModuleId, token: Token) -> NameKind {
        let open = self.types.open(module, token);
        let kind = open.ok().and_then(|it| it.as_named().map(|it| it.kind));
        match kind {
            Some(Kind::Struct) => NameKind::Struct,
            Some(Kind::Interface) => NameKind::Interface,
            Some(Kind::Enum(_)) => NameKind::Enum,
            _ => NameKind::Class,
        }
    }

    fn nested_names(&self, ty: &Type) -> Vec<CompletedName> {
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
                if let Some(name) = name.ok().and_then(|it| plain(&it)) {
                    let kind = self.kind_of_type(named.module, token);
                    names.push(CompletedName { name, kind });
                }
            }
        }
        names
    }

    /// What can stand behind a type and a dot.
    fn names_in_type(&self, ty: &Type) -> Vec<CompletedName> {
        let mut names = self.members(ty, true, true);
        names.extend(self.nested_names(ty));
        names
    }

    /// What can stand behind a value and a dot.
    fn names_of_value(&mut self, node: &Node, prefix: &str) -> Vec<CompletedName> {
        let ty = &node.ty;
        let mut names = self.members(ty, false, true);
        names.extend(self.element_names(node).unwrap_or_default());
        let now = self.names_of_now(node);
        names.extend(offered(NameKind::Property, now));
        let mut methods = self.extension_names(ty, prefix);
        if self.uses_linq() && !self.has_linq() && self.is_sequence(ty) {
            methods.extend(intrinsics::linq().map(str::to_owned));
        }
        names.extend(offered(NameKind::Method, methods));
        names
    }

    /// The static members of a type, or those of its objects.
    fn members(&self, ty: &Type, statics: bool, methods: bool) -> Vec<CompletedName> {
        let mut names = Vec::new();
        for named in self.levels(ty) {
            // What lies behind what others wrote is no help, though it may be used.
            let is_own = self.has_symbols(named.module);
            let is_offered = |visibility| {
                is_own || visibility != Visibility::Private && self.is_visible(visibility, &named)
            };
            let all = self.types.methods(&named, None).unwrap_or_default();
            if let Ok(fields) = self.types.fields(&named) {
                let fields = fields.iter().filter(|it| {
                    it.flags.is_static() == statics && is_offered(it.flags.visibility())
                });
                let kind = match named.kind {
                    Kind::Enum(_) => NameKind::EnumMember,
                    _ => NameKind::Field,
                };
                let fields = fields.map(|it| it.name.to_string());
                names.extend(offered(kind, fields.filter(|it| it != "value__")));
            }
            let is_told = |accessor: Option<Token>| {
                let of = all.iter().find(|it| Some(it.token) == accessor);
                of.is_some_and(|it| is_offered(it.flags.visibility()))
            };
            let properties = self.types.properties(&named).unwrap_or_default();
            let properties = properties.into_iter().filter(|it| {
                let is_told = is_told(it.getter) || is_told(it.setter);
                it.is_static == statics && it.parameters.is_empty() && is_told
            });
            names.extend(offered(NameKind::Property, properties.map(|it| it.name)));
            if methods {
                let methods = all.iter().filter(|it| {
                    let is_plain = !it.flags.is_special_name();
                    it.flags.is_static() == statics && is_plain && is_offered(it.flags.visibility())
                });
                names.extend(offered(NameKind::Method, methods.map(|it| it.name.clone())));
            }
        }
        if !statics && matches!(ty, Type::SzArray(_) | Type::Array { .. }) {
            names.extend(offered(NameKind::Property, ["Length".to_owned()]));
        }
        names.retain(|it| is_written(&it.name));
        names
    }

    fn has_symbols(&self, module: ModuleId) -> bool {
        let module = self.types.module(module);
        module.is_ok_and(|it| it.symbols(self.types.process).is_ok())
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

/// Whether an expression is the name at the cursor.
fn is_name_at(expr: &Expr, at: Span) -> bool {
    matches!(&expr.kind, ExprKind::Name(name) if name.identifier.span == at)
}
