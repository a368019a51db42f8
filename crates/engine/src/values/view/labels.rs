//! What `DebuggerDisplay` says beside the text of a type's values: `Name` and `Type`, and what it says of single members.
//!
//! A member's own attribute goes before that of its type. The names in it are looked up in the member's value, and where
//! that does not have them, in the object that the member belongs to.

use std::rc::Rc;

use metadata::{Metadata, Token};

use crate::api::{self, Label, VariableKind};
use crate::types::{Named, Type};

use super::super::Value;
use super::known::Known;
use super::{Child, Subject, Viewer};

/// The texts of a `DebuggerDisplay`, and the type that it is said by or of.
#[derive(Debug, Clone)]
pub(crate) struct Display {
    pub(super) value: Option<String>,
    pub(super) name: Option<String>,
    pub(super) ty: Option<String>,
    pub(super) named: Rc<Named>,
}

/// What a member's own attribute says, and the object that it belongs to.
#[derive(Debug, Clone)]
pub(crate) struct MemberDisplay {
    pub(super) display: Rc<Display>,
    pub(super) owner: Value,
}

impl Display {
    /// The attribute of a type, field or property.
    pub(super) fn of(metadata: Metadata<'_>, token: Token, named: &Rc<Named>) -> Option<Self> {
        let found = metadata.debugger_displays(token).next()?;
        let owned = |it: Option<std::borrow::Cow<'_, str>>| it.map(|it| it.into_owned());
        Some(Self {
            value: owned(found.value),
            name: owned(found.name),
            ty: owned(found.ty),
            named: Rc::clone(named),
        })
    }
}

impl Viewer<'_, '_> {
    /// Shows a value as attributes ask for it beyond what its type says of the text: how it is called is returned.
    pub(super) fn labelled(&self, child: &Child, shown: &mut api::Value) -> Option<Box<Label>> {
        let value = child.value.as_ref().ok().filter(|_| !self.view.raw)?;
        let subject = self.subject(value).ok()?;
        let ty = self.type_of(&subject)?;
        let of_member = child.display.as_deref();
        if let Some(text) = of_member.and_then(|it| self.of_member(it, &subject, Text::Value)) {
            shown.text = text;
        }
        let of_type = self
            .display_of(ty)
            .filter(|it| it.name.is_some() || it.ty.is_some());
        let said = |what: Text| {
            let by_member = of_member.and_then(|it| self.of_member(it, &subject, what));
            by_member.or_else(|| {
                let display = of_type.as_ref()?;
                self.whole(&subject, what.of(display)?, &display.named)
            })
        };
        // The name of a variable is what the program calls it.
        let is_inside = matches!(
            child.kind,
            VariableKind::Field | VariableKind::Property | VariableKind::Element
        );
        let is_anonymous = self.reader.known(ty) == Known::AnonymousType;
        let label = Label {
            name: is_inside.then(|| said(Text::Name)).flatten(),
            // Of an anonymous type the compiler says only that it is one, which its name tells too.
            type_name: said(Text::Type).filter(|_| !is_anonymous),
        };
        let says = label.name.is_some() || label.type_name.is_some();
        says.then(|| Box::new(label))
    }

    fn of_member(&self, said: &MemberDisplay, subject: &Subject, what: Text) -> Option<String> {
        let text = what.of(&said.display)?;
        let ty = self.type_of(subject)?;
        let own = self.reader.types.named(ty);
        own.and_then(|named| self.whole(subject, text, &named))
            .or_else(|| {
                let owner = self.subject(&said.owner).ok()?;
                self.whole(&owner, text, &said.display.named)
            })
    }

    /// A display string of which every part can be told, if only by code.
    fn whole(&self, subject: &Subject, text: &str, named: &Rc<Named>) -> Option<String> {
        let (text, failed) = self.formatted(subject, text, named, 0).ok()?;
        let limit = self.view.text_length.max(16) as usize;
        let is_cut = text.chars().count() > limit;
        let text = if is_cut {
            text.chars().take(limit).collect::<String>() + "…"
        } else {
            text
        };
        failed.is_none().then_some(text)
    }

    /// What the type's own attribute says, or that of an assembly about it, which goes first.
    pub(super) fn display_of(&self, ty: &Type) -> Option<Display> {
        self.display_within(ty, |_| true)
    }

    /// The same, without what the framework says of its own types.
    pub(super) fn own_display(&self, ty: &Type) -> Option<Display> {
        let is_own = |named: &Rc<Named>| !self.reader.is_of_framework(&Type::Named(named.clone()));
        self.display_within(ty, is_own)
    }

    fn display_within(&self, ty: &Type, counts: impl Fn(&Rc<Named>) -> bool) -> Option<Display> {
        for named in self.reader.types.ancestry(ty).ok()? {
            if let Some(said) = self.reader.targeted_display(&named) {
                return Some(Display {
                    value: Some(said.text),
                    name: said.name,
                    ty: said.ty,
                    named,
                });
            }
            let metadata = self.reader.types.metadata(named.module).ok()?.metadata();
            if counts(&named)
                && let Some(display) = Display::of(metadata, named.token, &named)
            {
                return Some(display);
            }
        }
        None
    }
}

/// One of the texts of an attribute.
#[derive(Debug, Clone, Copy)]
enum Text {
    Value,
    Name,
    Type,
}

impl Text {
    fn of(self, display: &Display) -> Option<&str> {
        match self {
            Self::Value => display.value.as_deref(),
            Self::Name => display.name.as_deref(),
            Self::Type => display.ty.as_deref(),
        }
    }
}
