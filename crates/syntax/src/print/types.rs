//! Names and types.

use super::Printer;
use crate::lexer::reserved;
use crate::tree::{
    FunctionPointer, Identifier, QualifiedName, SimpleName, Type, TypeArguments, TypeKind,
};

impl Printer {
    pub(super) fn identifier(&mut self, identifier: &Identifier) {
        if identifier.verbatim || reserved(&identifier.text).is_some() {
            self.text("@");
        }
        self.text(&identifier.text);
    }

    pub(super) fn simple_name(&mut self, name: &SimpleName) {
        self.identifier(&name.identifier);
        match name.arguments.as_deref() {
            None => {}
            Some(TypeArguments::Types(types)) => {
                self.text("<");
                self.list(types, Self::ty);
                self.text(">");
            }
            Some(TypeArguments::Unbound(arity)) => {
                let commas = ",".repeat(arity.saturating_sub(1) as usize);
                self.text(&format!("<{commas}>"));
            }
        }
    }

    fn qualified_name(&mut self, name: &QualifiedName) {
        if let Some(alias) = &name.alias {
            self.identifier(alias);
            self.text("::");
        }
        for (i, part) in name.parts.iter().enumerate() {
            if i > 0 {
                self.text(".");
            }
            self.simple_name(part);
        }
    }

    pub(super) fn ty(&mut self, ty: &Type) {
        match &ty.kind {
            TypeKind::Predefined(predefined) => self.text(predefined.text()),
            TypeKind::Name(name) => self.qualified_name(name),
            TypeKind::Nullable(inner) => {
                self.ty(inner);
                self.text("?");
            }
            TypeKind::Pointer(inner) => {
                self.ty(inner);
                self.text("*");
            }
            TypeKind::Array { .. } => {
                let (element, ranks) = array_ranks(ty);
                self.ty(element);
                for rank in ranks {
                    self.rank(rank);
                }
            }
            TypeKind::Tuple(elements) => {
                self.text("(");
                self.list(elements, |this, element| {
                    this.ty(&element.ty);
                    if let Some(name) = &element.name {
                        this.text(" ");
                        this.identifier(name);
                    }
                });
                self.text(")");
            }
            TypeKind::FunctionPointer(pointer) => self.function_pointer(pointer),
        }
    }

    fn function_pointer(&mut self, pointer: &FunctionPointer) {
        self.text("delegate*");
        if let Some(convention) = &pointer.convention {
            self.text(" ");
            self.identifier(convention);
        }
        if !pointer.unmanaged.is_empty() {
            self.text("[");
            self.list(&pointer.unmanaged, Self::identifier);
            self.text("]");
        }
        self.text("<");
        self.list(&pointer.parameters, |this, parameter| {
            if let Some(modifier) = parameter.modifier {
                this.text(modifier.text());
                this.text(" ");
            }
            this.ty(&parameter.ty);
        });
        self.text(">");
    }

    pub(super) fn rank(&mut self, rank: u32) {
        let commas = ",".repeat(rank.saturating_sub(1) as usize);
        self.text(&format!("[{commas}]"));
    }
}

/// The type below all arrays, and their ranks from the outermost: the order they are written in.
pub(super) fn array_ranks(ty: &Type) -> (&Type, Vec<u32>) {
    let mut ranks = Vec::new();
    let mut element = ty;
    while let TypeKind::Array {
        element: inner,
        rank,
    } = &element.kind
    {
        ranks.push(*rank);
        element = inner;
    }
    (element, ranks)
}
