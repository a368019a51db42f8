//! Members that others of the same name hide.
//!
//! An object's members are listed from its own type down; one that is hidden there is called `name (Type)`. A path goes by
//! what C# means: by a plain name the member that the *declared* type of the place knows, which another type between that
//! and the object's may hide. `name (Type)` leads to any of them.

use std::borrow::Cow;
use std::rc::Rc;

use metadata::csharp::field_display_name;

use crate::types::{Named, Type};

use super::super::{Reader, Value};
use super::{Children, Viewer};

impl Reader<'_> {
    /// How a member is called that another of the same name hides.
    pub(super) fn hidden_name(&self, name: &str, declared_in: &Rc<Named>) -> String {
        let ty = self.types.text(&Type::Named(declared_in.clone()));
        format!("{name} ({ty})")
    }

    /// Whether a type itself declares an instance member of a name, and whether that overrides one.
    fn declares(&self, named: &Rc<Named>, name: &str) -> Option<bool> {
        let types = self.types;
        let properties = types.properties(named).unwrap_or_default();
        let property = properties
            .iter()
            .find(|it| it.name == name && !it.is_static && it.parameters.is_empty());
        if let Some(accessor) = property.and_then(|it| it.getter.or(it.setter)) {
            let module = types.metadata(named.module).ok()?;
            let flags = module.metadata().method(accessor).ok()?.flags();
            return Some(flags.is_virtual() && !flags.is_new_slot());
        }
        let fields = types.fields(named).ok()?;
        let mut shown = fields.iter().filter(|it| !it.flags.is_static());
        let is_named = shown.any(|it| field_display_name(&it.name).is_some_and(|it| it == name));
        is_named.then_some(false)
    }
}

impl Viewer<'_, '_> {
    /// The type whose member a name in a path means, with the name alone, if it is not just the first of that name: those
    /// that are named by their type, and those of the declared type that the object's own type hides.
    pub(crate) fn meant<'n>(&self, value: &Value, name: &'n str) -> Option<(&'n str, Rc<Named>)> {
        let reader = self.reader;
        let types = reader.types;
        let value = reader.behind_ref(value).ok()?;
        let object = match value.ty.is_value() {
            Some(true) => None,
            _ => reader.object(&value).ok()?,
        };
        let exact = object.as_ref().map_or(&value.ty, |it| &it.ty);
        if let Some((plain, ty)) = name.split_once(" (") {
            let ty = ty.strip_suffix(')')?;
            let mut all = types.ancestry(exact).ok()?.into_iter();
            let found = all.find(|it| *types.text(&Type::Named(it.clone())) == *ty);
            return found.map(|it| (plain, it));
        }
        // Those of `object` and of interfaces have nothing that could be hidden.
        let is_class = matches!(value.ty, Type::Named(_)) && value.ty != Type::OBJECT;
        if !is_class || *exact == value.ty {
            return None;
        }
        let declared = types.ancestry(&value.ty).ok()?;
        let derived = types.ancestry(exact).ok()?;
        let between = derived.len().checked_sub(declared.len())?;
        let mut between = derived.iter().take(between);
        let hides = between.find_map(|it| reader.declares(it, name))?;
        let below = declared
            .into_iter()
            .find(|it| reader.declares(it, name).is_some());
        below.filter(|_| !hides).map(|it| (name, it))
    }

    /// What a member is called in the list of an object's members, given what it is called in a path.
    pub(super) fn listed_name<'n>(&self, value: &Value, name: &'n str) -> Cow<'n, str> {
        let Some((plain, named)) = self.meant(value, name) else {
            return name.into();
        };
        match self.first_declarer(value, plain) {
            Some(first) if first == named => plain.into(),
            _ => self.reader.hidden_name(plain, &named).into(),
        }
    }

    /// Gives members whose plain name means another one in a path the name that leads to them.
    pub(crate) fn lead(&self, value: &Value, children: &mut Children) {
        let Children::Members(list) = children else {
            return;
        };
        if !list.iter().any(|it| it.name.ends_with(')')) {
            return;
        }
        for child in list {
            if self.meant(value, &child.path).is_some()
                && let Some(first) = self.first_declarer(value, &child.path)
            {
                child.path = self.reader.hidden_name(&child.path, &first);
            }
        }
    }

    /// The type nearest to that of the object which declares a member of that name.
    fn first_declarer(&self, value: &Value, name: &str) -> Option<Rc<Named>> {
        let reader = self.reader;
        let object = reader.object(&reader.behind_ref(value).ok()?).ok()??;
        let mut all = reader.types.ancestry(&object.ty).ok()?.into_iter();
        all.find(|it| reader.declares(it, name).is_some())
    }
}
