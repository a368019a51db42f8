//! Names and types.

use super::Dumper;
use crate::lexer::reserved;
use crate::tree::{
    FunctionPointer, Identifier, QualifiedName, SimpleName, Type, TypeArguments, TypeKind,
};

impl Dumper {
    pub(super) fn identifier(&mut self, identifier: &Identifier) {
        if identifier.verbatim || reserved(&identifier.text).is_some() {
            self.text("@");
        }
        self.text(&identifier.text);
    }

    pub(super) fn simple_name(&mut self, name: &SimpleName) {
        let Some(arguments) = &name.arguments else {
            return self.identifier(&name.identifier);
        };
        self.node("<> ", |this| {
            this.identifier(&name.identifier);
            match &**arguments {
                TypeArguments::Types(types) => {
                    for ty in types {
                        this.text(" ");
                        this.ty(ty);
                    }
                }
                TypeArguments::Unbound(arity) => {
                    this.text(" ");
                    this.text(&",".repeat(arity.saturating_sub(1) as usize));
                    this.text("_");
                }
            }
        });
    }

    /// As the same name would be in an expression.
    fn qualified_name(&mut self, name: &QualifiedName) {
        let Some((first, rest)) = name.parts.split_first() else {
            return;
        };
        self.text(&"(. ".repeat(rest.len()));
        match &name.alias {
            None => self.simple_name(first),
            Some(alias) => self.node(":: ", |this| {
                this.identifier(alias);
                this.text(" ");
                this.simple_name(first);
            }),
        }
        for part in rest {
            self.text(" ");
            self.simple_name(part);
            self.text(")");
        }
    }

    pub(super) fn ty(&mut self, ty: &Type) {
        match &ty.kind {
            TypeKind::Predefined(predefined) => self.text(predefined.text()),
            TypeKind::Name(name) => self.qualified_name(name),
            TypeKind::Nullable(inner) => self.with_type("nullable", inner),
            TypeKind::Pointer(inner) => self.with_type("ptr", inner),
            TypeKind::Array { element, rank } => {
                let commas = ",".repeat(rank.saturating_sub(1) as usize);
                self.with_type(&format!("[{commas}]"), element);
            }
            TypeKind::Tuple(elements) => self.node("tuple", |this| {
                for element in elements {
                    this.text(" ");
                    match &element.name {
                        None => this.ty(&element.ty),
                        Some(name) => this.node(": ", |this| {
                            this.ty(&element.ty);
                            this.text(" ");
                            this.identifier(name);
                        }),
                    }
                }
            }),
            TypeKind::FunctionPointer(pointer) => self.function_pointer(pointer),
        }
    }

    fn function_pointer(&mut self, pointer: &FunctionPointer) {
        self.node("fnptr", |this| {
            if let Some(convention) = &pointer.convention {
                this.text(" ");
                this.identifier(convention);
            }
            if !pointer.unmanaged.is_empty() {
                let names: Vec<_> = pointer.unmanaged.iter().map(|it| &*it.text).collect();
                this.text(&format!("[{}]", names.join(",")));
            }
            for parameter in &pointer.parameters {
                this.text(" ");
                match parameter.modifier {
                    None => this.ty(&parameter.ty),
                    Some(modifier) => this.with_type(modifier.text(), &parameter.ty),
                }
            }
        });
    }
}
