//! Members that others of the same name hide.
//!
//! An object's members are listed from its own type down; one that is hidden there is called `name (Type)`. A path goes by
//! what C# means: by a plain name the member that the *declared* type of the place knows, which another type between that
//! and the object's may hide, override or implement. `name (Type)` leads to any of them.

use std::borrow::Cow;
use std::rc::Rc;

use metadata::Token;
use metadata::csharp::field_display_name;

use crate::types::{Kind, Named, Property, Type};

use super::super::{Reader, Result, Unreadable, Value};
use super::{Children, Viewer};

impl Reader<'_> {
    /// How a member is called that another of the same name hides.
    pub(super) fn hidden_name(&self, name: &str, declared_in: &Rc<Named>) -> String {
        let ty = self.types.text(&Type::Named(declared_in.clone()));
        format!("{name} ({ty})")
    }

    /// The instance member of a name that a type itself declares: an accessor of a property, or none of a field.
    fn declares(&self, named: &Rc<Named>, name: &str) -> Option<Option<Token>> {
        let types = self.types;
        let properties = types.properties(named).unwrap_or_default();
        let property = properties
            .iter()
            .find(|it| it.name == name && !it.is_static && it.parameters.is_empty());
        if let Some(accessor) = property.and_then(|it| it.getter.or(it.setter)) {
            return Some(Some(accessor));
        }
        let fields = types.fields(named).ok()?;
        let mut shown = fields.iter().filter(|it| !it.flags.is_static());
        let is_named = shown.any(|it| field_display_name(&it.name).is_some_and(|it| it == name));
        is_named.then_some(None)
    }

    /// The type whose member C# means by a name behind something that is declared with a type; of overrides the lowest.
    fn declared_member(&self, ty: &Type, name: &str) -> Option<Rc<Named>> {
        let types = self.types;
        let declares = |it: &Rc<Named>| self.declares(it, name).is_some();
        let own = types.ancestry(ty).ok()?.into_iter().find(declares);
        let is_interface = matches!(ty, Type::Named(it) if it.kind == Kind::Interface);
        if own.is_some() || !is_interface {
            return own;
        }
        // What several of them have is ambiguous.
        let mut extended = types.interfaces(ty).ok()?.into_iter().filter(declares);
        extended.next().filter(|_| extended.next().is_none())
    }

    /// The property whose accessors run for one that a type declares, on objects of another: its name, and who declares it.
    fn that_runs<'n>(
        &self,
        exact: &Type,
        declared: &Rc<Named>,
        name: &str,
    ) -> Option<(Cow<'n, str>, Rc<Named>)> {
        let types = self.types;
        let accessor = self.declares(declared, name)??;
        let accessor = types.method(declared, accessor).ok()?;
        let runs = types.implementation(exact, &accessor)?;
        let all = types.properties(&runs.declared_in).ok()?.into_iter();
        let has = |it: &Property| [it.getter, it.setter].contains(&Some(runs.token));
        let found = { all }.find(has)?;
        Some((found.name.into(), found.declared_in))
    }
}

impl Viewer<'_, '_> {
    /// The type whose member a name in a path means, with its name there, if it is not just the first of that name: those
    /// that are named by their type, and those that the declared type's member is where the object's own type has another.
    pub(crate) fn meant<'n>(
        &self,
        value: &Value,
        name: &'n str,
    ) -> Option<(Cow<'n, str>, Rc<Named>)> {
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
            let mut all = types.ancestry(exact).ok()?;
            all.extend(types.interfaces(exact).ok()?);
            let mut all = all.into_iter();
            let found = all.find(|it| *types.text(&Type::Named(it.clone())) == *ty);
            return found.map(|it| (plain.into(), it));
        }
        // Those of `object` have nothing that could be hidden.
        let is_class = matches!(value.ty, Type::Named(_)) && value.ty != Type::OBJECT;
        if !is_class || *exact == value.ty {
            return None;
        }
        let declared = reader.declared_member(&value.ty, name)?;
        let meant = reader.that_runs(exact, &declared, name);
        let (plain, named) = meant.unwrap_or_else(|| (name.into(), declared));
        let derived = types.ancestry(exact).ok()?.into_iter();
        let first = { derived }.find(|it| reader.declares(it, name).is_some());
        (plain != name || first.as_ref() != Some(&named)).then_some((plain, named))
    }

    /// The member that is meant by a name which means not just the first of that name.
    pub(super) fn meant_member(&self, from: &Value, name: &str) -> Option<Result<Value>> {
        let (plain, named) = self.meant(from, name)?;
        let listed = self.listed_name(from, name);
        let subject = self.subject(from).ok()?;
        let list = self.member_list(&subject, &Default::default()).ok()?;
        match list.into_iter().find(|it| *it.name == *listed) {
            Some(found) if !matches!(found.value, Err(Unreadable::WouldRunCode)) => {
                return Some(found.value);
            }
            _ => {}
        }
        let all = self.reader.types.properties(&named).ok()?.into_iter();
        let property = { all }.find(|it| it.name == *plain && it.parameters.is_empty())?;
        self.told_by_getter(&subject, property, &listed)
    }

    /// What a member is called in the list of an object's members, given what it is called in a path.
    pub(super) fn listed_name<'n>(&self, value: &Value, name: &'n str) -> Cow<'n, str> {
        let Some((plain, named)) = self.meant(value, name) else {
            return name.into();
        };
        match self.first_declarer(value, &plain) {
            Some(first) if first == named => plain,
            _ => self.reader.hidden_name(&plain, &named).into(),
        }
    }

    /// Gives members whose plain name means another one in a path the name that leads to them.
    pub(crate) fn lead(&self, value: &Value, children: &mut Children) {
        let Children::Members(list) = children else {
            return;
        };
        let is_interface = matches!(&value.ty, Type::Named(it) if it.kind == Kind::Interface);
        if !is_interface && !list.iter().any(|it| it.name.ends_with(')')) {
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
