//! `new` and its initialisers.

use super::Printer;
use super::types::array_ranks;
use crate::tree::{
    AnonymousMember, ArrayElement, ArrayInitializer, InitValue, Initializer, InitializerMember,
    New, NewArray,
};

impl Printer {
    pub(super) fn new_object(&mut self, new: &New) {
        self.text("new");
        if let Some(ty) = &new.ty {
            self.text(" ");
            self.ty(ty);
        }
        if let Some(arguments) = &new.arguments {
            self.arguments("(", arguments, ")");
        }
        if let Some(initializer) = &new.initializer {
            self.text(" ");
            self.initializer(initializer);
        }
    }

    pub(super) fn new_array(&mut self, array: &NewArray) {
        self.text(if array.stackalloc {
            "stackalloc"
        } else {
            "new"
        });
        // The brackets of the array itself stand before those of its elements.
        let (element, later) = match &array.element {
            Some(element) => {
                let (element, later) = array_ranks(element);
                (Some(element), later)
            }
            None => (None, Vec::new()),
        };
        if let Some(element) = element {
            self.text(" ");
            self.ty(element);
        }
        if array.sizes.is_empty() {
            self.rank(array.rank);
        } else {
            self.text("[");
            self.list(&array.sizes, Self::any);
            self.text("]");
        }
        for rank in later {
            self.rank(rank);
        }
        if let Some(initializer) = &array.initializer {
            self.text(" ");
            self.array_initializer(initializer);
        }
    }

    fn array_initializer(&mut self, initializer: &ArrayInitializer) {
        self.braces(&initializer.elements, |this, element| match element {
            ArrayElement::Value(value) => this.any(value),
            ArrayElement::Nested(nested) => this.array_initializer(nested),
        });
    }

    pub(super) fn initializer(&mut self, initializer: &Initializer) {
        self.braces(&initializer.members, |this, member| match member {
            InitializerMember::Property(name, value) => {
                this.identifier(name);
                this.text(" = ");
                this.init_value(value);
            }
            InitializerMember::Index(arguments, value) => {
                this.arguments("[", arguments, "]");
                this.text(" = ");
                this.init_value(value);
            }
            InitializerMember::Element(value) => this.any(value),
            InitializerMember::Elements(values, _) => this.braces(values, Self::any),
        });
    }

    fn init_value(&mut self, value: &InitValue) {
        match value {
            InitValue::Expr(value) => self.any(value),
            InitValue::Nested(nested) => self.initializer(nested),
        }
    }

    pub(super) fn anonymous(&mut self, members: &[AnonymousMember]) {
        self.text("new ");
        self.braces(members, |this, member| {
            if let Some(name) = &member.name {
                this.identifier(name);
                this.text(" = ");
            }
            this.any(&member.value);
        });
    }
}
