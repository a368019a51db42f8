//! Views that only code of the program can give: `ToString`, `DebuggerTypeProxy`, elements of what can be enumerated.
//!
//! Everything here asks ([`Viewer::ask`]) and shows something else until there is an answer. Values inside the lines of
//! others are not asked about: one line is not worth that many calls.

use std::rc::Rc;

use metadata::attributes::BrowsableState;
use metadata::model::Visibility;

use crate::api::{self, VariableKind};
use crate::types::qualified::Qualified;
use crate::types::{Method, ModuleId, Named, Type, TypeNotes};

use super::super::questions::{Answer, What};
use super::super::{Reader, Result, Unreadable, Value};
use super::known::Known;
use super::labels::Display;
use super::masking::has_secrets;
use super::source::{Entry, Items};
use super::telling::MAY_TELL;
use super::{Child, Children, Subject, Viewer};

/// The step of a path that leads to what a `DebuggerTypeProxy` shows.
pub(crate) const PROXY: &str = "$proxy";

/// What a type has that only code can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opens {
    /// A `DebuggerTypeProxy`.
    Proxy,
    /// It is an `IEnumerable`.
    Elements,
}

impl Reader<'_> {
    /// The `ToString` that a type or one of its base types overrides.
    pub(crate) fn own_to_string(&self, ty: &Type) -> Result<Option<Method>> {
        for named in self.types.ancestry(ty)? {
            let is_root = ["Object", "ValueType", "Enum"]
                .iter()
                .any(|name| self.types.is_named(&named, "System", name));
            if is_root {
                break;
            }
            let methods = self.types.methods(&named, Some("ToString"))?;
            let found = methods.into_iter().find(|it| {
                it.parameters.is_empty()
                    && it.arity == 0
                    && it.flags.is_virtual()
                    && it.returns == Type::STRING
            });
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// The name of a type's `DebuggerTypeProxy`, the module that says so, and the type that it is said of. What an assembly
    /// says of a type goes before what that says itself.
    fn proxy_name(&self, ty: &Type) -> Option<(String, ModuleId, Rc<Named>)> {
        for named in self.types.ancestry(ty).ok()? {
            if let Some(said) = self.targeted_proxy(&named) {
                return Some((said.text, said.by, named));
            }
            let metadata = self.types.metadata(named.module).ok()?.metadata();
            if let Some((name, _)) = metadata.debugger_type_proxies(named.token).next() {
                return Some((name.into_owned(), named.module, named));
            }
        }
        None
    }

    /// The constructor of a type's `DebuggerTypeProxy`.
    pub(crate) fn proxy_constructor(&self, ty: &Type) -> std::result::Result<Method, String> {
        let (full, by, of) = self.proxy_name(ty).ok_or("the type has none")?;
        let missing = || format!("its DebuggerTypeProxy {full} cannot be found");
        let told = |error: crate::types::TypeError| error.to_string();
        let name = Qualified::parse(&full).ok_or_else(missing)?;
        let closed = self.types.qualified(&name, by, &of.arguments);
        let closed = closed.ok_or_else(missing)?;
        let named = self.types.named(&closed).ok_or_else(missing)?;
        let constructors = self.types.methods(&named, Some(".ctor")).map_err(told)?;
        let takes = |it: &&Method| match it.parameters.as_slice() {
            [one] => {
                let one = one.ty.with(&named.generics());
                one == Type::OBJECT
                    || one == *ty
                    || self
                        .types
                        .named(&one)
                        .is_some_and(|it| self.types.derives_from(ty, &it).unwrap_or(false))
            }
            _ => false,
        };
        let found = constructors.iter().find(takes).cloned();
        found.ok_or_else(|| {
            format!("its DebuggerTypeProxy {full} has no constructor that takes the object")
        })
    }
}

impl Viewer<'_, '_> {
    /// Asks for what only code can tell.
    pub(super) fn ask(&self, value: &Value, what: What) -> Result<&Answer> {
        let Some(inquiry) = self.inquiry.filter(|_| !self.is_hushed.get()) else {
            return Err(Unreadable::WouldRunCode);
        };
        if let What::Getter(name) = &what
            && let Ok(Some(getter)) = self.getter(&value.ty, name)
            && self.may_tell(value, &getter)
        {
            let why = format!("its getter was not run: {MAY_TELL}");
            return Err(Unreadable::Failed { why });
        }
        inquiry.ask(self.reader, value, what)
    }

    /// The same, of something whose answer is a value.
    pub(super) fn ask_value(&self, value: &Value, what: What) -> Result<Value> {
        match self.ask(value, what)? {
            Answer::Value(snapshot) => self.reader.restored(snapshot),
            _ => Err(Unreadable::WouldRunCode),
        }
    }

    /// What the type's own `ToString` returns, with its length if it was cut; else why it cannot be told, if it was run.
    pub(super) fn own_text(&self, subject: &Subject) -> (Option<String>, Option<String>) {
        if self.inquiry.is_none() || self.is_hushed.get() {
            return (None, None);
        }
        let (Some(value), Some(ty)) = (self.as_value(subject), self.type_of(subject)) else {
            return (None, None);
        };
        if !matches!(self.reader.own_to_string(ty), Ok(Some(_))) || self.is_ref_struct(ty) {
            return (None, None);
        }
        if self.view.mask_secrets && has_secrets(self.reader.types, ty) {
            let why = "its ToString was not run: it may tell what is masked";
            return (None, Some(why.into()));
        }
        let text = self.ask_value(&value, What::Text);
        match text.and_then(|text| self.reader.string(&text, self.view.text_length)) {
            Ok(Some((text, length))) => {
                let mut line: String = text.chars().flat_map(on_one_line).collect();
                let is_cut = (text.encode_utf16().count() as u64) < length;
                if is_cut {
                    line.push('…');
                }
                let note = is_cut.then(|| format!("its ToString returned {length} characters"));
                (Some(line), note)
            }
            Ok(None) => (None, Some("its ToString returned null".into())),
            Err(Unreadable::WouldRunCode) => (None, None),
            Err(why) => (None, Some(why.to_string())),
        }
    }

    /// A `ref struct` cannot be passed to a call.
    fn is_ref_struct(&self, ty: &Type) -> bool {
        let Some(named) = ty.as_named().filter(|_| ty.is_value() == Some(true)) else {
            return false;
        };
        self.reader.types.metadata(named.module).is_ok_and(|it| {
            let (namespace, name) = ("System.Runtime.CompilerServices", "IsByRefLikeAttribute");
            it.metadata().has_attribute(named.token, namespace, name)
        })
    }

    /// What the type has to show that only code can, if its own layout is not known.
    pub(crate) fn opens(&self, subject: &Subject) -> Option<Opens> {
        let ty = self.type_of(subject)?;
        if self.view.raw || self.reader.known(ty) != Known::Plain || ty.underlying().is_some() {
            return None;
        }
        if self.is_ref_struct(ty) {
            return None;
        }
        // One that is not there takes the place of nothing.
        if self.reader.proxy_name(ty).is_some() && self.reader.proxy_constructor(ty).is_ok() {
            return Some(Opens::Proxy);
        }
        self.opens_without_proxy(subject)
    }

    fn opens_without_proxy(&self, subject: &Subject) -> Option<Opens> {
        let ty = self.type_of(subject)?;
        let interfaces = self.reader.types.interfaces(ty).ok()?;
        let is_enumerable = |it: &Rc<Named>| {
            let types = self.reader.types;
            types.is_named(it, "System.Collections", "IEnumerable")
        };
        interfaces
            .iter()
            .any(is_enumerable)
            .then_some(Opens::Elements)
    }

    /// The children as [`Viewer::children`] gives them, and what code of the program shows where it may run; with what is
    /// to be known about that.
    pub(crate) fn opened(
        &self,
        subject: &Subject,
        notes: &TypeNotes,
    ) -> Result<(Children, Option<String>)> {
        let children = self.children(subject, notes)?;
        let Children::Members(mut list) = children else {
            return Ok((children, None));
        };
        let Some(value) = self.as_value(subject) else {
            return Ok((Children::Members(list), None));
        };
        let opens = self.opens(subject);
        let is_allowed = self.inquiry.is_some();
        let note = match (opens, is_allowed) {
            (Some(Opens::Proxy), false) => {
                Some("it has a DebuggerTypeProxy, which is shown where code may run".to_owned())
            }
            (Some(Opens::Elements), false) => {
                Some("it can be enumerated: its elements are told where code may run".to_owned())
            }
            (Some(Opens::Proxy), true) => match self.ask_value(&value, What::Proxy) {
                Ok(proxy) => {
                    list = self.proxy_members(&proxy)?;
                    Some(api::BY_PROXY.to_owned())
                }
                Err(Unreadable::WouldRunCode) => None,
                Err(why) => {
                    self.run_getters(&value, &mut list);
                    let is_sequence = self.opens_without_proxy(subject).is_some();
                    let note = match is_sequence {
                        true => self.add_enumerated(subject, &value, notes, &mut list)?,
                        false => None,
                    };
                    let note = note.map(|it| format!("; {it}")).unwrap_or_default();
                    Some(format!("shown by its fields: {why}{note}"))
                }
            },
            (Some(Opens::Elements), true) => {
                self.add_enumerated(subject, &value, notes, &mut list)?
            }
            (None, _) => None,
        };
        let missing = self.missing_proxy(subject).filter(|_| is_allowed);
        Ok((Children::Members(list), note.or(missing)))
    }

    /// Why a type's proxy is not shown, though it has one.
    fn missing_proxy(&self, subject: &Subject) -> Option<String> {
        let ty = self.type_of(subject)?;
        if self.view.raw || self.reader.known(ty) != Known::Plain {
            return None;
        }
        self.reader.proxy_name(ty)?;
        self.reader.proxy_constructor(ty).err()
    }

    /// Asks for the properties among members that only their getters can tell.
    fn run_getters(&self, value: &Value, list: &mut [Child]) {
        for child in list {
            if matches!(child.value, Err(Unreadable::WouldRunCode)) {
                child.value = self.computed(value, &child.name);
            }
        }
    }

    /// Adds what something gives when it is enumerated; with what is to be known about that.
    fn add_enumerated(
        &self,
        subject: &Subject,
        value: &Value,
        notes: &TypeNotes,
        list: &mut Vec<Child>,
    ) -> Result<Option<String>> {
        Ok(match self.enumerated(value) {
            Ok(items) => {
                let items = self.declared_in(subject, notes, items);
                let can_go_on = self.inquiry.is_some_and(|it| it.can_give_more(items.count));
                self.is_enumeration_cut
                    .set(can_go_on && items.note.is_some());
                let entries = self.entries(&items, 0, items.count).into_iter();
                list.extend(entries.map(|it| self.entry_child(&items, it, "")));
                items.note
            }
            Err(Unreadable::WouldRunCode) => None,
            Err(why) => Some(why.to_string()),
        })
    }

    /// What came out of an enumeration.
    pub(super) fn enumerated(&self, value: &Value) -> Result<Items> {
        let Answer::Elements(elements, note) = self.ask(value, What::Elements)? else {
            return Err(Unreadable::WouldRunCode);
        };
        let entries = elements.iter().enumerate().map(|(at, it)| Entry {
            position: at as u64,
            key: None,
            value: self.reader.restored(it),
            name: None,
        });
        let mut items = Items::listed(entries.collect());
        items.note = note.clone();
        Ok(items)
    }

    /// The public fields and properties of a proxy, as children of what it stands for.
    fn proxy_members(&self, proxy: &Value) -> Result<Vec<Child>> {
        let mut list: Vec<Child> = Vec::new();
        let subject = self.subject(proxy)?;
        let Some(ty) = self.type_of(&subject).cloned() else {
            return Ok(list);
        };
        let types = self.reader.types;
        for named in types.ancestry(&ty)? {
            let metadata = types.metadata(named.module)?.metadata();
            let mut found = Vec::new();
            for field in types.fields(&named)?.iter() {
                if !field.flags.is_static() && field.flags.visibility() == Visibility::Public {
                    let value = self.reader.field(proxy, &field.name);
                    let (name, ty) = (field.name.to_string(), field.ty.clone());
                    found.push((name, field.token, ty, VariableKind::Field, value));
                }
            }
            for property in types.properties(&named)? {
                let Some(getter) = property.getter else {
                    continue;
                };
                let flags = metadata.method(getter)?.flags();
                if !flags.is_static()
                    && flags.visibility() == Visibility::Public
                    && property.parameters.is_empty()
                {
                    let value = self.computed(proxy, &property.name);
                    let (name, token, ty) = (property.name, property.token, property.ty);
                    found.push((name, token, ty, VariableKind::Property, value));
                }
            }
            for (name, token, ty, kind, value) in found {
                let browsable = metadata.debugger_browsable(token);
                if browsable == Some(BrowsableState::Never) || list.iter().any(|it| it.name == name)
                {
                    continue;
                }
                let path = format!("{PROXY}.{name}");
                if browsable == Some(BrowsableState::RootHidden)
                    && let Ok(value) = &value
                    && let Some(inner) = self.root_hidden(value, &path)
                {
                    list.extend(inner);
                    continue;
                }
                list.push(Child {
                    name,
                    kind,
                    path,
                    ty,
                    notes: TypeNotes::of(metadata, token),
                    value,
                    shadowed: false,
                    display: {
                        let said = Display::of(metadata, token, &named);
                        self.said_by_member(&subject, said.map(Rc::new).as_ref())
                    },
                });
            }
        }
        Ok(list)
    }
}

/// A character where a line must stay one.
pub(super) fn on_one_line(letter: char) -> impl Iterator<Item = char> {
    let (escaped, plain) = if letter.is_control() {
        (Some(letter.escape_default()), None)
    } else {
        (None, Some(letter))
    };
    escaped.into_iter().flatten().chain(plain)
}
