//! `new` and its initialisers.

use super::Dumper;
use crate::tree::{
    AnonymousMember, ArrayElement, ArrayInitializer, InitValue, Initializer, InitializerMember,
    New, NewArray, Type,
};

impl Dumper {
    pub(super) fn new_object(&mut self, new: &New) {
        self.node("new ", |this| {
            this.optional_type(new.ty.as_ref());
            this.text(" ");
            match &new.arguments {
                Some(arguments) => this.node("args", |this| this.arguments(arguments)),
                None => this.text("()"),
            }
            if let Some(initializer) = &new.initializer {
                this.text(" ");
                this.initializer(initializer);
            }
        });
    }

    fn optional_type(&mut self, ty: Option<&Type>) {
        match ty {
            Some(ty) => self.ty(ty),
            None => self.text("()"),
        }
    }

    pub(super) fn new_array(&mut self, array: &NewArray) {
        self.node(
            if array.stackalloc {
                "stackalloc "
            } else {
                "newarr "
            },
            |this| {
                this.optional_type(array.element.as_ref());
                this.text(" [");
                if array.sizes.is_empty() {
                    this.text(&",".repeat(array.rank.saturating_sub(1) as usize));
                }
                for (i, size) in array.sizes.iter().enumerate() {
                    if i > 0 {
                        this.text(", ");
                    }
                    this.expr(size);
                }
                this.text("]");
                if let Some(initializer) = &array.initializer {
                    this.text(" ");
                    this.array_initializer(initializer);
                }
            },
        );
    }

    /// `{a b}`
    fn braces<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        self.text("{");
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.text(" ");
            }
            each(self, item);
        }
        self.text("}");
    }

    fn array_initializer(&mut self, initializer: &ArrayInitializer) {
        self.braces(&initializer.elements, |this, element| match element {
            ArrayElement::Value(value) => this.expr(value),
            ArrayElement::Nested(nested) => this.array_initializer(nested),
        });
    }

    pub(super) fn initializer(&mut self, initializer: &Initializer) {
        self.braces(&initializer.members, |this, member| match member {
            InitializerMember::Property(name, value) => this.node("set ", |this| {
                this.identifier(name);
                this.text(" ");
                this.init_value(value);
            }),
            InitializerMember::Index(arguments, value) => this.node("set ", |this| {
                this.node("at", |this| this.arguments(arguments));
                this.text(" ");
                this.init_value(value);
            }),
            InitializerMember::Element(value) => this.expr(value),
            InitializerMember::Elements(values, _) => {
                let values: Vec<_> = values.iter().collect();
                this.exprs("add", &values);
            }
        });
    }

    fn init_value(&mut self, value: &InitValue) {
        match value {
            InitValue::Expr(value) => self.expr(value),
            InitValue::Nested(nested) => self.initializer(nested),
        }
    }

    pub(super) fn anonymous(&mut self, members: &[AnonymousMember]) {
        self.node("anon", |this| {
            for member in members {
                this.text(" ");
                match &member.name {
                    None => this.expr(&member.value),
                    Some(name) => this.node("set ", |this| {
                        this.identifier(name);
                        this.text(" ");
                        this.expr(&member.value);
                    }),
                }
            }
        });
    }
}
