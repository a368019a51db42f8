//! The members of objects and structs, under the names that the user knows.

use std::collections::HashMap;
use std::rc::Rc;

use metadata::Token;
use metadata::attributes::BrowsableState;
use metadata::csharp::{GeneratedKind, GeneratedName};
use metadata::tables::Table;

use crate::api::VariableKind;
use crate::types::{Field, Method, Named, Property, Type, TypeNotes};

use super::super::questions::What;
use super::super::{Member, Reader, Result, Unreadable, Value, backing};
use super::known::Known;
use super::labels::{Display, MemberDisplay};
use super::{Children, Opens, Subject, Viewer};

/// Elements of a collection that are shown in place of the member that holds it.
const MAX_ROOT_HIDDEN: u64 = 1000;

/// A named value inside another, or a variable of a frame.
#[derive(Debug, Clone)]
pub(crate) struct Child {
    /// Its name.
    pub(crate) name: String,
    /// What it is.
    pub(crate) kind: VariableKind,
    /// How to get to it: a whole path, or the last step of one.
    pub(crate) path: String,
    /// Its declared type.
    pub(crate) ty: Type,
    /// What the declaration adds to it.
    pub(crate) notes: TypeNotes,
    /// Where it is, or why that cannot be told.
    pub(crate) value: Result<Value>,
    /// Whether another of the same name hides it.
    pub(crate) shadowed: bool,
    /// What its own `DebuggerDisplay` says.
    pub(crate) display: Option<Rc<MemberDisplay>>,
}

impl Child {
    /// The child with its whole path, given that of what it lies in.
    pub(super) fn under(&self, parent: &str) -> Self {
        let mut child = self.clone();
        let dot = if parent.is_empty() || self.path.starts_with('[') {
            ""
        } else {
            "."
        };
        child.path = format!("{parent}{dot}{}", self.path);
        child
    }
}

/// How a field of a type is shown; worked out once for each type.
#[derive(Debug, Clone)]
pub(crate) struct MemberView {
    member: Member,
    name: String,
    kind: VariableKind,
    notes: TypeNotes,
    root_hidden: bool,
    /// Whether it is the property that is shown, in the place of its field which the user has hidden.
    is_property: bool,
    display: Option<Rc<Display>>,
}

impl Reader<'_> {
    /// What of a type's fields is shown, and how.
    fn member_views(&self, ty: &Type, members: &[Member], raw: bool) -> Result<Rc<[MemberView]>> {
        if !raw && let Some(known) = self.layouts.views.get(ty) {
            return Ok(known);
        }
        let mut views: Vec<MemberView> = Vec::with_capacity(members.len());
        for member in members {
            if let Some(mut view) = self.member_view(member, raw)? {
                // A base type's member that another of the same name hides is told by its type.
                if views.iter().any(|it| it.name == view.name)
                    || view.kind == VariableKind::Property
                        && self.is_redeclared(ty, &member.declared_in, &view.name)
                {
                    view.name = self.hidden_name(&view.name, &member.declared_in);
                }
                views.push(view);
            }
        }
        let views: Rc<[MemberView]> = views.into();
        if !raw {
            self.layouts.views.insert(ty.clone(), views.clone());
        }
        Ok(views)
    }

    fn is_pair(&self, named: &Rc<Named>) -> bool {
        let namespace = "System.Collections.Generic";
        self.types.is_named(named, namespace, "KeyValuePair`2")
    }

    /// The property that shows a field which is hidden itself: its getter only returns that.
    fn property_of(&self, member: &Member) -> Result<Option<Property>> {
        let (types, named) = (self.types, &member.declared_in);
        let module = types.metadata(named.module)?;
        let metadata = module.metadata();
        let is_wanted = |token: Token| match token.table() {
            Some(Table::Field) => token == member.field.token,
            // A generic type names its own fields in its instantiation.
            Some(Table::MemberRef) => {
                let found = metadata.member_ref(token);
                found.is_ok_and(|it| *it.name == *member.field.name)
            }
            _ => false,
        };
        let shows = |it: &Property| {
            let body = it.getter.and_then(|getter| module.body(getter).ok()?);
            !it.is_static
                && it.parameters.is_empty()
                && it.ty == member.field.ty
                && metadata.debugger_browsable(it.token) != Some(BrowsableState::Never)
                && body
                    .and_then(|body| backing::returned_field(body.code))
                    .is_some_and(is_wanted)
        };
        Ok(types.properties(named)?.into_iter().find(shows))
    }

    fn is_class_tuple(&self, named: &Named) -> bool {
        let name = format!("Tuple`{}", named.arguments.len());
        self.types.is_named(named, "System", &name)
    }

    fn member_view(&self, member: &Member, raw: bool) -> Result<Option<MemberView>> {
        let metadata = self.types.metadata(member.declared_in.module)?.metadata();
        let field = &member.field;
        // The elements of a `Tuple` are known by their properties.
        let item = field.name.strip_prefix("m_").filter(|it| {
            it.starts_with("Item") && !raw && self.is_class_tuple(&member.declared_in)
        });
        let mut view = MemberView {
            member: member.clone(),
            name: item.unwrap_or(&field.name).to_owned(),
            kind: match item {
                Some(_) => VariableKind::Property,
                None => VariableKind::Field,
            },
            notes: TypeNotes::of(metadata, field.token),
            root_hidden: false,
            is_property: false,
            display: None,
        };
        if raw {
            return Ok(Some(view));
        }
        let declared_in = &member.declared_in;
        let mut browsable = self.browsable(metadata, declared_in, field.token, &field.name);
        let display = |token| Display::of(metadata, token, &member.declared_in).map(Rc::new);
        view.display = display(field.token);
        // A pair hides its fields from the debuggers that run its properties.
        if self.is_pair(&member.declared_in) {
            browsable = None;
            view.kind = VariableKind::Property;
            view.name = if &*field.name == "key" {
                "Key"
            } else {
                "Value"
            }
            .into();
        }
        if let Some(generated) = GeneratedName::parse(&field.name) {
            match generated.kind {
                // What the getter makes of it only code can tell.
                GeneratedKind::BackingField if !self.tells_property(&member.declared_in, field) => {
                    browsable = None;
                }
                GeneratedKind::BackingField => {
                    view.name = generated.text.to_owned();
                    view.kind = VariableKind::Property;
                    // The compiler hides the field; what counts is what the user wrote on the property.
                    browsable = None;
                    let definition = self.types.definition(&member.declared_in)?;
                    for property in definition.properties() {
                        let property = property?;
                        if property.name()? == generated.text {
                            browsable = metadata.debugger_browsable(property.token());
                            view.notes = TypeNotes::of(metadata, property.token());
                            view.display = display(property.token());
                        }
                    }
                }
                // The fields of anonymous types are called after their properties.
                GeneratedKind::Other('i') => {
                    view.name = generated.text.to_owned();
                    view.kind = VariableKind::Property;
                    browsable = None;
                }
                GeneratedKind::PrimaryParameter | GeneratedKind::HoistedLocal
                    if !generated.text.is_empty() =>
                {
                    view.name = generated.text.to_owned();
                }
                GeneratedKind::This => view.name = "this".into(),
                _ => return Ok(None),
            }
        }
        match browsable {
            Some(BrowsableState::Never) => {
                let Some(property) = self.property_of(member)? else {
                    return Ok(None);
                };
                view.notes = TypeNotes::of(metadata, property.token);
                view.display = display(property.token);
                view.name = property.name;
                view.kind = VariableKind::Property;
                view.is_property = true;
            }
            Some(BrowsableState::RootHidden) => view.root_hidden = true,
            Some(BrowsableState::Collapsed) | None => {}
        }
        Ok(Some(view))
    }
}

impl Viewer<'_, '_> {
    /// The fields and properties of what is looked at, and its static members where they were asked for.
    pub(crate) fn member_list(&self, subject: &Subject, notes: &TypeNotes) -> Result<Vec<Child>> {
        let Some(ty) = self.type_of(subject) else {
            return Ok(Vec::new());
        };
        let mut list = match self.reader.known(ty) {
            Known::String | Known::Enum if !self.view.raw => Vec::new(),
            Known::Tuple if !self.view.raw => return self.tuple_members(subject, notes),
            Known::Delegate if !self.view.raw => self.delegate_members(subject)?,
            Known::Tuple => {
                let mut list = self.field_list(subject)?;
                self.veil_items(&mut list, notes);
                self.name_items(&mut list, ty, notes);
                list
            }
            _ => self.field_list(subject)?,
        };
        self.veil_pairs(&mut list);
        for child in &mut list {
            if child.notes.tuple_names.is_empty() {
                child.notes = self.notes_of_member(child, ty, notes);
            }
        }
        if self.view.properties && !self.view.raw {
            self.add_properties(subject, ty, &mut list)?;
        }
        // A number has only the constants of its type, each of which is a number again.
        let is_number =
            matches!(ty, Type::Primitive(_)) || self.reader.known(ty).is_told_by_its_line();
        if self.view.statics && !is_number {
            list.extend(self.static_list(ty)?);
        }
        Ok(list)
    }

    /// The member that is shown under a name.
    pub(crate) fn member_named(
        &self,
        value: &Value,
        notes: &TypeNotes,
        name: &str,
    ) -> Option<Child> {
        let name = &*self.listed_name(value, name);
        let subject = self.subject(value).ok()?;
        let mut list = self.member_list(&subject, notes).ok()?;
        let found = list
            .iter()
            .position(|it| it.name == name && !matches!(it.value, Err(Unreadable::WouldRunCode)));
        // An element of a tuple that has a name has its number too.
        let number = || {
            let ty = self.type_of(&subject)?;
            let is_tuple = self.reader.known(ty) == Known::Tuple && !self.view.raw;
            let number: usize = name.strip_prefix("Item")?.parse().ok()?;
            (is_tuple && number <= list.len()).then(|| number.checked_sub(1))?
        };
        found.or_else(number).map(|at| list.swap_remove(at))
    }

    /// Which element of a tuple a name means.
    pub(crate) fn position_in_tuple(
        &self,
        value: &Value,
        notes: &TypeNotes,
        name: &str,
    ) -> Option<usize> {
        let subject = self.subject(value).ok()?;
        let ty = self.type_of(&subject)?;
        if self.reader.known(ty) != Known::Tuple || ty.is_value() != Some(true) {
            return None;
        }
        let list = self.member_list(&subject, notes).ok()?;
        let number = || {
            let number: usize = name.strip_prefix("Item")?.parse().ok()?;
            number.checked_sub(1).filter(|it| *it < list.len())
        };
        list.iter().position(|it| it.name == name).or_else(number)
    }

    /// The member that is shown under a name and that only its getter can tell, which is asked for.
    pub(crate) fn asked_member(
        &self,
        value: &Value,
        notes: &TypeNotes,
        name: &str,
    ) -> Option<Child> {
        let name = &*self.listed_name(value, name);
        let subject = self.subject(value).ok()?;
        let list = self.member_list(&subject, notes).ok()?;
        let found = list.into_iter().find(|it| it.name == name)?;
        let value = self.as_value(&subject)?;
        Some(Child {
            value: self.ask_value(&value, What::Getter(name.to_owned())),
            ..found
        })
    }

    /// The field behind a member that is shown under a name, with what holds it: boxes and `T?` are opened.
    pub(crate) fn raw_member(
        &self,
        value: &Value,
        name: &str,
    ) -> Result<Option<(Member, Subject)>> {
        let name = &*self.listed_name(value, name);
        let subject = self.subject(value)?;
        let (members, ty) = match &subject {
            Subject::Null => {
                return Err(Unreadable::Null {
                    what: format!("field {name}"),
                });
            }
            Subject::Object(object) => (self.reader.members(object)?, &object.ty),
            Subject::InPlace(value, _) => (self.reader.struct_members(&value.ty)?, &value.ty),
        };
        let views = self.reader.member_views(ty, &members, false)?;
        // A property that shows a field is set by its setter.
        let shown = views.iter().find(|it| it.name == name && !it.is_property);
        let raw = || members.iter().find(|it| &*it.field.name == name);
        let found = shown.map(|it| it.member.clone()).or_else(|| raw().cloned());
        Ok(found.map(|member| (member, subject)))
    }

    /// The bits of an enum's value by the names of its members: `Red`, `Color.Red`, `Read | Write`.
    pub(crate) fn enum_bits(&self, named: &Named, text: &str) -> Option<u64> {
        let definition = self.reader.types.definition(named).ok()?;
        let mut bits = 0;
        for part in text.split('|') {
            // Names alone: what has more to it is computed.
            let is_name = |it: char| it.is_alphanumeric() || matches!(it, '_' | '.' | '@');
            let part = part.trim();
            let name = part
                .rsplit('.')
                .next()
                .filter(|_| part.chars().all(is_name))?;
            let member = definition
                .enum_members()
                .flatten()
                .find(|it| it.name == name)?;
            bits |= member.value.bits()?;
        }
        Some(bits)
    }

    fn field_list(&self, subject: &Subject) -> Result<Vec<Child>> {
        let (members, ty) = match subject {
            Subject::Null => return Ok(Vec::new()),
            Subject::InPlace(value, _) => {
                if let Some(target) = self.reader.target(value)? {
                    // What a pointer leads to is its only member.
                    return Ok(vec![Child {
                        name: "*".into(),
                        kind: VariableKind::Element,
                        path: "[0]".into(),
                        ty: target.ty.clone(),
                        notes: TypeNotes::default(),
                        value: Ok(target),
                        shadowed: false,
                        display: None,
                    }]);
                }
                if value.ty.underlying().is_some() {
                    return Ok(Vec::new());
                }
                (self.reader.struct_members(&value.ty)?, &value.ty)
            }
            Subject::Object(object) => (self.reader.members(object)?, &object.ty),
        };
        let proxies = self.unstarted_parameters(subject, &members);
        let mut list = Vec::new();
        for view in self
            .reader
            .member_views(ty, &members, self.view.raw)?
            .iter()
        {
            let proxy = proxies.iter().find(|(name, _)| *name == view.name);
            let member = proxy.map_or(&view.member, |(_, proxy)| proxy);
            let field = &member.field;
            let value = match subject {
                // The field's own name counts, whatever the property is called that shows it.
                _ if view.is_property && self.is_secret_variable(&field.name, &field.ty) => {
                    Err(Unreadable::Masked(field.ty.clone()))
                }
                Subject::Object(object) => Ok(self.reader.member(object, member)),
                Subject::InPlace(value, _) => self.reader.struct_member(value, member),
                Subject::Null => continue,
            };
            if view.root_hidden
                && let Ok(value) = &value
                && let Some(inner) = self.root_hidden(value, &view.name)
            {
                list.extend(inner);
                continue;
            }
            list.push(Child {
                name: view.name.clone(),
                kind: view.kind,
                path: view.name.clone(),
                ty: view.member.field.ty.clone(),
                notes: view.notes.clone(),
                value,
                shadowed: false,
                display: self.said_by_member(subject, view.display.as_ref()),
            });
        }
        Ok(list)
    }

    /// What a member's own attribute says, with the object that it belongs to.
    pub(super) fn said_by_member(
        &self,
        owner: &Subject,
        display: Option<&Rc<Display>>,
    ) -> Option<Rc<MemberDisplay>> {
        let display = Rc::clone(display?);
        let owner = self.as_value(owner)?;
        Some(Rc::new(MemberDisplay { display, owner }))
    }

    /// The parameters of an iterator that nobody has begun to enumerate, by name: until then its own fields for them
    /// hold nothing.
    fn unstarted_parameters<'m>(
        &self,
        subject: &Subject,
        members: &'m [Member],
    ) -> Vec<(&'m str, &'m Member)> {
        const NOT_STARTED: i128 = -2;
        let generated =
            |it: &'m Member| GeneratedName::parse(&it.field.name).map(|name| (name, it));
        let of_kind = |kind: GeneratedKind| {
            let all = members.iter().filter_map(generated);
            all.filter(move |(name, _)| name.kind == kind)
        };
        let Subject::Object(object) = subject else {
            return Vec::new();
        };
        let mut proxies = of_kind(GeneratedKind::ParameterProxy).peekable();
        if proxies.peek().is_none() || self.view.raw {
            return Vec::new();
        }
        let state = of_kind(GeneratedKind::State).next();
        let state =
            state.and_then(|(_, it)| self.reader.scalar(&self.reader.member(object, it)).ok());
        if state.and_then(|it| it.as_i128()) != Some(NOT_STARTED) {
            return Vec::new();
        }
        proxies.map(|(name, it)| (name.suffix, it)).collect()
    }

    /// The children of a member whose own line is not wanted.
    pub(crate) fn root_hidden(&self, value: &Value, name: &str) -> Option<Vec<Child>> {
        let subject = self.subject(value).ok().filter(|_| !self.is_late())?;
        let children = || self.children(&subject, &TypeNotes::default()).ok();
        let children = self.nesting.unfold(&subject, children)??;
        // What only its enumerator can tell has no members that anybody wants.
        let is_lazy = matches!(children, Children::Members(_))
            && self.inquiry.is_some()
            && self.opens(&subject) == Some(Opens::Elements);
        let children = match is_lazy.then(|| self.enumerated(&self.as_value(&subject)?).ok()) {
            Some(items) => Children::Items(Box::new(items?)),
            None => children,
        };
        match children {
            Children::Members(list) => Some(list.iter().map(|it| it.under(name)).collect()),
            Children::Items(items) => Some(
                self.entries(&items, 0, MAX_ROOT_HIDDEN)
                    .into_iter()
                    .map(|entry| self.entry_child(&items, entry, name))
                    .collect(),
            ),
        }
    }

    fn tuple_members(&self, subject: &Subject, notes: &TypeNotes) -> Result<Vec<Child>> {
        let Subject::InPlace(value, _) = subject else {
            return Ok(Vec::new());
        };
        let elements = self
            .reader
            .types
            .tuple_elements(&value.ty)
            .unwrap_or_default();
        let mut list = Vec::with_capacity(elements.len());
        let mut part = value.clone();
        for (at, ty) in elements.iter().cloned().enumerate() {
            if at > 0 && at % 7 == 0 {
                part = self.reader.field(&part, "Rest")?;
            }
            let item = self.reader.field(&part, &format!("Item{}", at % 7 + 1));
            let name = notes.tuple_names.get(at).cloned().flatten();
            let name = name.unwrap_or_else(|| format!("Item{}", at + 1));
            list.push(Child {
                path: name.clone(),
                name,
                kind: VariableKind::Field,
                ty,
                notes: notes.of_item(self.reader.types, &elements, at),
                value: item,
                shadowed: false,
                display: None,
            });
        }
        Ok(list)
    }

    /// What a delegate of one method is called on; its line says what it calls.
    fn delegate_members(&self, subject: &Subject) -> Result<Vec<Child>> {
        let Some(value) = self.as_value(subject) else {
            return Ok(Vec::new());
        };
        let Some(target) = self.delegate_target(&value)? else {
            return Ok(Vec::new());
        };
        Ok(vec![Child {
            name: "Target".into(),
            kind: VariableKind::Property,
            path: "Target".into(),
            ty: Type::OBJECT,
            notes: TypeNotes::default(),
            value: Ok(target),
            shadowed: false,
            display: None,
        }])
    }

    /// Properties that are not told by a field: those whose getter only returns a field are read, others need code.
    fn add_properties(&self, subject: &Subject, ty: &Type, list: &mut Vec<Child>) -> Result<()> {
        for (name, property) in self.properties(ty)? {
            let is_shown = property.parameters.is_empty() && !list.iter().any(|it| it.name == name);
            if !is_shown {
                continue;
            }
            let module = property.declared_in.module;
            let metadata = self.reader.types.metadata(module)?.metadata();
            let browsable = metadata.debugger_browsable(property.token);
            // The elements of an automatic one are told in its place already.
            let is_told =
                browsable == Some(BrowsableState::RootHidden) && self.has_field_behind(&property);
            if browsable == Some(BrowsableState::Never) || is_told {
                continue;
            }
            list.push(Child {
                path: name.clone(),
                name,
                kind: VariableKind::Property,
                notes: TypeNotes::of(metadata, property.token),
                ty: property.ty,
                value: Err(Unreadable::WouldRunCode),
                shadowed: false,
                display: {
                    let said = Display::of(metadata, property.token, &property.declared_in);
                    self.said_by_member(subject, said.map(Rc::new).as_ref())
                },
            });
        }
        Ok(())
    }

    /// The names of what only code of an object can tell.
    pub(crate) fn computed_names(&self, subject: &Subject) -> Vec<String> {
        let ty = self
            .type_of(subject)
            .filter(|it| matches!(it, Type::Named(_)) && self.reader.known(it) == Known::Plain);
        let all = ty.and_then(|ty| self.properties(ty).ok());
        let all = all.unwrap_or_default().into_iter();
        all.filter(|(_, it)| it.parameters.is_empty())
            .map(|(name, _)| name)
            .collect()
    }

    /// The type that a property is declared with.
    pub(crate) fn type_of_property(&self, value: &Value, name: &str) -> Option<Type> {
        let name = &*self.listed_name(value, name);
        let subject = self.subject(value).ok()?;
        let ty = self.type_of(&subject)?;
        let found = self.property_listed(ty, name).ok()?.or_else(|| {
            let types = self.reader.types;
            let mut all = types.ancestry(ty).ok()?.into_iter();
            all.find_map(|it| {
                let mut properties = types.properties(&it).ok()?.into_iter();
                properties.find(|it| it.name == name)
            })
        });
        found.map(|it| it.ty.without_ref().clone())
    }

    /// Whether what a property holds is shown in its place.
    pub(crate) fn is_root_hidden(&self, ty: &Type, name: &str) -> bool {
        let properties = self.properties(ty).unwrap_or_default();
        let found = properties.into_iter().find(|(shown, _)| shown == name);
        let module = |it: &Property| self.reader.types.metadata(it.declared_in.module);
        found.is_some_and(|(_, it)| {
            let said = module(&it).map(|module| module.metadata().debugger_browsable(it.token));
            matches!(said, Ok(Some(BrowsableState::RootHidden)))
        })
    }

    /// Whether a property is an automatic one.
    fn has_field_behind(&self, property: &Property) -> bool {
        let fields = self.reader.types.fields(&property.declared_in);
        let field = format!("<{}>k__BackingField", property.name);
        fields.is_ok_and(|fields| fields.iter().any(|it| *it.name == *field))
    }

    /// The getter of a property, by the name it is shown with.
    pub(crate) fn getter(&self, ty: &Type, name: &str) -> Result<Option<Method>> {
        let property = self.property_listed(ty, name)?;
        let Some((property, getter)) = property.and_then(|it| it.getter.map(|get| (it, get)))
        else {
            return Ok(None);
        };
        let method = self.reader.types.method(&property.declared_in, getter)?;
        Ok(Some(method))
    }

    /// The property that a name leads to: one of a type or its bases by the name it is shown with, or one of an interface
    /// that has code of its own for those who do not implement it.
    fn property_listed(&self, ty: &Type, name: &str) -> Result<Option<Property>> {
        let types = self.reader.types;
        let own = self.properties(ty)?.into_iter();
        if let Some((_, found)) = { own }.find(|(shown, _)| shown == name) {
            return Ok(Some(found));
        }
        if !name.ends_with(')') {
            return Ok(None);
        }
        for named in types.interfaces(ty)? {
            let is_meant = |it: &Property| self.reader.hidden_name(&it.name, &named) == name;
            if let Some(found) = types.properties(&named)?.into_iter().find(is_meant) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The properties of objects of a type that can be read, its own before those of its base types, each with the name
    /// that it is shown with. One that is overridden is not told twice, one that is hidden is told by its type.
    fn properties(&self, ty: &Type) -> Result<Vec<(String, Property)>> {
        let types = self.reader.types;
        let mut found: Vec<(String, Property)> = Vec::new();
        // Of each name, whether the accessor that was seen last overrides another.
        let mut seen: HashMap<String, bool> = HashMap::new();
        for named in types.ancestry(ty)? {
            let metadata = types.metadata(named.module)?.metadata();
            for property in types.properties(&named)? {
                let Some(getter) = property.getter.filter(|_| !property.is_static) else {
                    continue;
                };
                let flags = metadata.method(getter)?.flags();
                let overrides = flags.is_virtual() && !flags.is_new_slot();
                let name = match seen.insert(property.name.clone(), overrides) {
                    None => property.name.clone(),
                    Some(true) if flags.is_virtual() => continue,
                    // Indexers differ by their parameters.
                    Some(_) if !property.parameters.is_empty() => property.name.clone(),
                    Some(_) => self.reader.hidden_name(&property.name, &named),
                };
                found.push((name, property));
            }
        }
        Ok(found)
    }

    /// The static fields of a type and its base types, constants included.
    pub(crate) fn static_list(&self, ty: &Type) -> Result<Vec<Child>> {
        let mut list: Vec<Child> = Vec::new();
        for named in self.reader.types.ancestry(ty)? {
            for field in self.reader.types.fields(&named)?.iter() {
                if field.flags.is_static()
                    && let Some(mut child) = self.static_child(&named, field)?
                {
                    if list.iter().any(|it| it.name == child.name) {
                        child.name = self.reader.hidden_name(&child.name, &named);
                        child.path.clone_from(&child.name);
                    }
                    list.push(child);
                }
            }
        }
        Ok(list)
    }

    fn static_child(&self, named: &Rc<Named>, field: &Field) -> Result<Option<Child>> {
        let name = match GeneratedName::parse(&field.name) {
            None => field.name.to_string(),
            Some(generated)
                if generated.kind == GeneratedKind::BackingField
                    && self.reader.tells_property(named, field) =>
            {
                generated.text.to_owned()
            }
            Some(_) if self.view.raw => field.name.to_string(),
            Some(_) => return Ok(None),
        };
        let metadata = self.reader.types.metadata(named.module)?.metadata();
        let browsable = self
            .reader
            .browsable(metadata, named, field.token, &field.name);
        if !self.view.raw && *name == *field.name && browsable == Some(BrowsableState::Never) {
            return Ok(None);
        }
        Ok(Some(Child {
            path: name.clone(),
            name,
            kind: if field.flags.is_literal() {
                VariableKind::Constant
            } else {
                VariableKind::Static
            },
            ty: field.ty.clone(),
            notes: TypeNotes::of(metadata, field.token),
            value: self.reader.static_field(named, field, None),
            shadowed: false,
            display: None,
        }))
    }
}
