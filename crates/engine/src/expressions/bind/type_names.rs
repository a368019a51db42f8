//! From the syntax of a type to the type.

use std::rc::Rc;

use metadata::signature::Primitive;
use syntax::Span;
use syntax::tree::{self, Predefined, QualifiedName, SimpleName, TypeArguments, TypeKind};

use super::context::Import;
use super::{Binder, Operand};
use crate::expressions::error::{Fail, Result};
use crate::types::Type;

impl Binder<'_> {
    /// The type that a keyword names.
    pub(super) fn predefined(&self, predefined: Predefined) -> Type {
        let primitive = match predefined {
            Predefined::Bool => Primitive::Bool,
            Predefined::Byte => Primitive::U1,
            Predefined::SByte => Primitive::I1,
            Predefined::Short => Primitive::I2,
            Predefined::UShort => Primitive::U2,
            Predefined::Int => Primitive::I4,
            Predefined::UInt => Primitive::U4,
            Predefined::Long => Primitive::I8,
            Predefined::ULong => Primitive::U8,
            Predefined::Char => Primitive::Char,
            Predefined::Float => Primitive::R4,
            Predefined::Double => Primitive::R8,
            Predefined::String => Primitive::String,
            Predefined::Object => Primitive::Object,
            Predefined::Void => Primitive::Void,
            Predefined::Decimal => {
                return self.types.core("System", "Decimal").unwrap_or(Type::OBJECT);
            }
        };
        Type::Primitive(primitive)
    }

    /// The type that is written.
    pub(super) fn ty(&mut self, ty: &tree::Type) -> Result<Type> {
        Ok(match &ty.kind {
            TypeKind::Predefined(predefined) => self.predefined(*predefined),
            TypeKind::Name(name) if is_open(name) => {
                let told = "a generic type is used here without its type arguments";
                return Err(Fail::cs("CS7003", name.span, told));
            }
            TypeKind::Name(name) => self.type_name(name)?,
            TypeKind::Nullable(inner) => {
                let inner = self.ty(inner)?;
                self.nullable(&inner)
            }
            TypeKind::Pointer(inner) => Type::Pointer(Rc::new(self.ty(inner)?)),
            TypeKind::Array { element, rank: 1 } => Type::SzArray(Rc::new(self.ty(element)?)),
            TypeKind::Array { element, rank } => Type::Array {
                element: Rc::new(self.ty(element)?),
                rank: *rank,
            },
            TypeKind::Tuple(elements) => {
                let elements = elements
                    .iter()
                    .map(|it| self.ty(&it.ty))
                    .collect::<Result<Vec<_>>>()?;
                self.tuple_type(&elements).ok_or_else(|| {
                    Fail::new(ty.span, "the program has not loaded System.ValueTuple")
                })?
            }
            TypeKind::FunctionPointer(_) => {
                return Err(Fail::new(
                    ty.span,
                    "function pointer types cannot be evaluated",
                ));
            }
        })
    }

    pub(super) fn type_name(&mut self, name: &QualifiedName) -> Result<Type> {
        if let Some(word) = name.as_word() {
            match &*word.text {
                "nint" if self.plain_type(word, 0)?.is_none() => {
                    return Ok(Type::Primitive(Primitive::IntPtr));
                }
                "nuint" if self.plain_type(word, 0)?.is_none() => {
                    return Ok(Type::Primitive(Primitive::UIntPtr));
                }
                "dynamic" if self.plain_type(word, 0)?.is_none() => return Ok(Type::OBJECT),
                _ => {}
            }
        }
        match self.type_path(name)? {
            Operand::Type(ty, _) => Ok(ty),
            Operand::Namespace(namespace, span) => Err(Fail::cs(
                "CS0118",
                span,
                format!("`{namespace}` is a namespace but is used like a type"),
            )),
            other => Err(Fail::cs("CS0118", other.span(), "a type is expected here")),
        }
    }

    /// The type or namespace that a name with dots leads to.
    pub(super) fn type_path<'e>(&mut self, name: &QualifiedName) -> Result<Operand<'e>> {
        let mut parts = name.parts.iter();
        let Some(first) = parts.next() else {
            return Err(Fail::cs("CS1031", name.span, "a type is expected"));
        };
        let mut at = match &name.alias {
            Some(alias) => self.qualified_by_alias(alias, first)?,
            None => self.type_or_namespace(first)?,
        };
        for part in parts {
            at = self.type_in(at, part)?;
        }
        Ok(at)
    }

    /// The arguments of a name; an unbound one has none.
    pub(super) fn type_arguments(&mut self, name: &SimpleName) -> Result<(usize, Vec<Type>)> {
        match name.arguments.as_deref() {
            None => Ok((0, Vec::new())),
            Some(TypeArguments::Types(types)) => {
                let types = types
                    .iter()
                    .map(|it| self.ty(it))
                    .collect::<Result<Vec<_>>>()?;
                Ok((types.len(), types))
            }
            Some(TypeArguments::Unbound(arity)) => Ok((*arity as usize, Vec::new())),
        }
    }

    /// The first name of a type.
    pub(super) fn type_or_namespace<'e>(&mut self, name: &SimpleName) -> Result<Operand<'e>> {
        let (arity, arguments) = self.type_arguments(name)?;
        if let Some(open) = self.plain_type(&name.identifier, arity)? {
            return Ok(Operand::Type(
                self.closed(open, &arguments, name.span)?,
                name.span,
            ));
        }
        if arity == 0
            && let Some(namespace) = self.plain_namespace(&name.identifier.text)
        {
            return Ok(Operand::Namespace(namespace, name.span));
        }
        Err(self.unknown_type(name))
    }

    fn unknown_type(&self, name: &SimpleName) -> Box<Fail> {
        let text = &*name.identifier.text;
        let is_local = self.locals.iter().any(|it| *it.name == *text);
        let mut variables = self.context.variables.iter();
        if name.arguments.is_none() && (is_local || variables.any(|it| *it.name == *text)) {
            let told = format!("`{text}` is a variable but is used like a type");
            return Fail::cs("CS0118", name.span, told);
        }
        let fail = Fail::cs(
            "CS0246",
            name.span,
            format!("no type or namespace `{}` was found", name.identifier.text),
        );
        match self.similar(&name.identifier.text, Vec::new()) {
            Some(similar) => fail.hint(format!("did you mean `{similar}`?")),
            None => fail.hint("write its full name, with namespace; it must be in an assembly that the program has loaded"),
        }
    }

    /// `alias::Name`.
    pub(super) fn qualified_by_alias<'e>(
        &mut self,
        alias: &tree::Identifier,
        name: &SimpleName,
    ) -> Result<Operand<'e>> {
        let namespace = if &*alias.text == "global" {
            String::new()
        } else {
            let found = self
                .context
                .imports
                .iter()
                .flatten()
                .find_map(|it| match it {
                    Import::NamespaceAlias(name, namespace) if **name == *alias.text => {
                        Some(namespace.clone())
                    }
                    _ => None,
                });
            found.ok_or_else(|| {
                Fail::cs(
                    "CS0432",
                    alias.span,
                    format!("no alias `{}` was found", alias.text),
                )
            })?
        };
        self.type_in(Operand::Namespace(namespace, alias.span), name)
    }

    /// A type or namespace in another.
    pub(super) fn type_in<'e>(
        &mut self,
        outer: Operand<'e>,
        name: &SimpleName,
    ) -> Result<Operand<'e>> {
        let (arity, arguments) = self.type_arguments(name)?;
        let text = &*name.identifier.text;
        match outer {
            Operand::Namespace(namespace, _) => {
                if let Some(open) = self.find_type(&namespace, text, arity) {
                    return Ok(Operand::Type(
                        self.closed(open, &arguments, name.span)?,
                        name.span,
                    ));
                }
                let inner = if namespace.is_empty() {
                    text.to_owned()
                } else {
                    format!("{namespace}.{text}")
                };
                if arity == 0 && self.types.has_namespace(&inner) {
                    return Ok(Operand::Namespace(inner, name.span));
                }
                Err(Fail::cs(
                    if namespace.is_empty() {
                        "CS0400"
                    } else {
                        "CS0234"
                    },
                    name.span,
                    format!("there is no type or namespace `{text}` in `{namespace}`"),
                )
                .hint("only assemblies that the program has loaded are known"))
            }
            Operand::Type(ty, _) => {
                if let Some(nested) = self.nested_type(&ty, text, arity) {
                    return Ok(Operand::Type(
                        self.closed(nested, &arguments, name.span)?,
                        name.span,
                    ));
                }
                Err(Fail::cs(
                    "CS0426",
                    name.span,
                    format!("`{}` has no nested type `{text}`", self.text(&ty)),
                ))
            }
            other => Err(Fail::cs(
                "CS0118",
                other.span(),
                "a type or namespace is expected here",
            )),
        }
    }

    /// A type nested in another or in one of its bases.
    pub(super) fn nested_type(&self, outer: &Type, name: &str, arity: usize) -> Option<Type> {
        let ancestry = self.types.ancestry(outer).ok()?;
        ancestry
            .iter()
            .find_map(|it| self.types.nested(it, name, arity).ok().flatten())
    }

    /// A top-level type; the user's modules come first.
    pub(super) fn find_type(&self, namespace: &str, name: &str, arity: usize) -> Option<Type> {
        let mut found = self.types.find(namespace, name, arity);
        // What is not public elsewhere is found only if nothing else is.
        let own = self.context.module;
        found.sort_by_key(|ty| match ty {
            Type::Named(named) if Some(named.module) == own => 0,
            Type::Named(named) => {
                let public = self
                    .types
                    .definition(named)
                    .is_ok_and(|it| it.flags().visibility() == metadata::model::Visibility::Public);
                if public { 1 } else { 2 }
            }
            _ => 1,
        });
        found.into_iter().next()
    }

    /// Puts arguments into an open type; without arguments it stays open.
    fn closed(&self, open: Type, arguments: &[Type], span: Span) -> Result<Type> {
        if arguments.is_empty() {
            return Ok(open);
        }
        let Type::Named(named) = &open else {
            return Ok(open);
        };
        // The arguments of enclosing types are in place already.
        let outer = named.arguments.len().saturating_sub(arguments.len());
        let mut all: Vec<Type> = named.arguments.iter().take(outer).cloned().collect();
        all.extend_from_slice(arguments);
        let closed = self
            .types
            .close(named, &all)
            .map_err(|error| Fail::new(span, error.to_string()))?;
        match self.violated_by(&closed) {
            Some((code, told)) => Err(Fail::cs(code, span, told)),
            None => Ok(closed),
        }
    }

    /// A type by a name alone: type parameters, nested types of the types around, namespaces around, imports.
    pub(super) fn plain_type(&self, name: &tree::Identifier, arity: usize) -> Result<Option<Type>> {
        let text = &*name.text;
        if arity == 0
            && let Some((_, ty)) = self
                .context
                .type_parameters
                .iter()
                .find(|(it, _)| **it == *text)
        {
            return Ok(Some(ty.clone()));
        }
        let mut outer = self.context.ty.clone();
        while let Some(named) = outer {
            let ty = Type::Named(named.clone());
            if let Some(nested) = self.nested_type(&ty, text, arity) {
                return Ok(Some(nested));
            }
            outer = self.enclosing(&named);
        }
        // From the innermost namespace outwards, each with the imports that belong to it.
        let mut namespace = self.context.namespace.as_str();
        let mut scopes = self.context.imports.iter();
        loop {
            if let Some(ty) = self.find_type(namespace, text, arity) {
                return Ok(Some(ty));
            }
            if let Some(imports) = scopes.next()
                && let Some(ty) = self.imported(imports, text, arity, name.span)?
            {
                return Ok(Some(ty));
            }
            match namespace.rsplit_once('.') {
                Some((outer, _)) => namespace = outer,
                None if namespace.is_empty() => break,
                None => namespace = "",
            }
        }
        for imports in scopes {
            if let Some(ty) = self.imported(imports, text, arity, name.span)? {
                return Ok(Some(ty));
            }
        }
        Ok(self.file_type(text, arity))
    }

    /// A type that only its file knows by its name: the compiler gives it another one, `<Program>F…__Name`.
    fn file_type(&self, name: &str, arity: usize) -> Option<Type> {
        let module = self.context.module?;
        let metadata = self.types.metadata(module).ok()?.metadata();
        let end = match arity {
            0 => format!("__{name}"),
            arity => format!("__{name}`{arity}"),
        };
        let mut found = metadata.type_defs().flatten().filter(|it| {
            let own = it.name().unwrap_or_default();
            let is_of_file = own.starts_with('<') && own.contains(">F") && own.ends_with(&end);
            is_of_file && it.namespace().unwrap_or_default() == self.context.namespace
        });
        // Of several files it is not known which one is meant.
        match (found.next(), found.next()) {
            (Some(only), None) => self.types.open(module, only.token()).ok(),
            _ => None,
        }
    }

    fn imported(
        &self,
        imports: &[Import],
        name: &str,
        arity: usize,
        span: Span,
    ) -> Result<Option<Type>> {
        let mut found: Vec<(Type, String)> = Vec::new();
        for import in imports {
            match import {
                Import::TypeAlias(alias, ty) if arity == 0 && **alias == *name => {
                    return Ok(Some(ty.clone()));
                }
                Import::Namespace(namespace) => {
                    if let Some(ty) = self.find_type(namespace, name, arity)
                        && !found.iter().any(|(it, _)| *it == ty)
                    {
                        found.push((ty, namespace.clone()));
                    }
                }
                Import::Static(ty) => {
                    if let Some(ty) = self.nested_type(ty, name, arity) {
                        found.push((ty, String::new()));
                    }
                }
                _ => {}
            }
        }
        // Several namespaces may have the name; those that the user's code could see win.
        let visible = |ty: &Type| match ty {
            Type::Named(named) => {
                Some(named.module) == self.context.module
                    || self.types.definition(named).is_ok_and(|it| {
                        it.flags().visibility() == metadata::model::Visibility::Public
                    })
            }
            _ => true,
        };
        if found.iter().any(|(ty, _)| visible(ty)) {
            found.retain(|(ty, _)| visible(ty));
        }
        match found.as_slice() {
            [] => Ok(None),
            [(ty, _)] => Ok(Some(ty.clone())),
            [(_, one), (_, other), ..] => Err(Fail::cs(
                "CS0104",
                span,
                format!("`{name}` is ambiguous between {one}.{name} and {other}.{name}"),
            )),
        }
    }

    /// A namespace by its first name.
    pub(super) fn plain_namespace(&self, name: &str) -> Option<String> {
        let alias = self
            .context
            .imports
            .iter()
            .flatten()
            .find_map(|it| match it {
                Import::NamespaceAlias(alias, namespace) if alias == name => {
                    Some(namespace.clone())
                }
                _ => None,
            });
        if alias.is_some() {
            return alias;
        }
        let mut outer = self.context.namespace.as_str();
        while !outer.is_empty() {
            let inner = format!("{outer}.{name}");
            if self.types.has_namespace(&inner) {
                return Some(inner);
            }
            outer = outer.rsplit_once('.').map_or("", |(outer, _)| outer);
        }
        self.types.has_namespace(name).then(|| name.to_owned())
    }

    /// The type around a nested one, with the arguments that belong to it.
    pub(super) fn enclosing(&self, named: &crate::types::Named) -> Option<Rc<crate::types::Named>> {
        let definition = self.types.definition(named).ok()?;
        let outer = definition.enclosing().ok()??;
        let open = self.types.open(named.module, outer).ok()?;
        let open = open.as_named()?;
        let arguments: Vec<Type> = named
            .arguments
            .iter()
            .take(open.arguments.len())
            .cloned()
            .collect();
        self.types.close(open, &arguments).ok()?.as_named().cloned()
    }
}

/// Whether a name leaves type arguments open: `List<>`.
fn is_open(name: &QualifiedName) -> bool {
    let unbound =
        |it: &SimpleName| matches!(it.arguments.as_deref(), Some(TypeArguments::Unbound(_)));
    name.parts.iter().any(unbound)
}
