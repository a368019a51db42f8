//! Collections of the framework that are asked through an interface, that pass on what another one holds, or that are counted
//! and looked through as their view finds them. Those of the user's own are asked themselves.

use std::rc::Rc;

use syntax::Span;

use super::{Result, Runner, Val, integer};
use crate::expressions::plan::Node;
use crate::expressions::scalar::{self, Scalar};
use crate::types::Type;
use crate::values::Object;

/// How deep collections lie in each other that only pass on what they hold.
const MAX_DEPTH: u32 = 8;

impl Runner<'_, '_> {
    /// A member of a collection; `ty` names the type or interface that declares it.
    pub(super) fn held_member(
        &mut self,
        (ty, name): (&str, &str),
        target: Option<(&Val, &Type)>,
        arguments: &[Val],
        node: &Node,
    ) -> Result<Option<Val>> {
        let Some((Val::Object(object), _)) = target else {
            return Ok(None);
        };
        // The members of these cannot be overridden.
        let passes_on = ty.starts_with("System.Collections.ObjectModel.");
        let of_framework = object.ty.element().is_some() || self.reader.is_of_framework(&object.ty);
        match of_framework || passes_on {
            true => self.held_by(object, name, arguments, node, passes_on, 0),
            false => Ok(None),
        }
    }

    pub(super) fn held_by(
        &mut self,
        object: &Object,
        name: &str,
        arguments: &[Val],
        node: &Node,
        passes_on: bool,
        depth: u32,
    ) -> Result<Option<Val>> {
        let (span, whole) = (node.span, Val::Object(object.clone()));
        let target = Some((&whole, &object.ty));
        let is = |it: &Self, name: &str| it.is_core(&object.ty, "System.Collections.Generic", name);
        if object.ty.element().is_some() {
            return self.array_as_list(&whole, name, arguments, span);
        }
        if is(self, "List`1") {
            return self.list_member(name, target, arguments, node);
        }
        if is(self, "Dictionary`2") {
            return self.dictionary_member(name, target, arguments, node);
        }
        if is(self, "HashSet`1") {
            return self.set_member(name, target, arguments, node);
        }
        let models = "System.Collections.ObjectModel";
        let inner = match &object.ty {
            it if self.is_core(it, models, "ReadOnlyCollection`1") => Some("list"),
            it if self.is_core(it, models, "ReadOnlyDictionary`2") => Some("m_dictionary"),
            it if self.is_core(it, models, "Collection`1")
                || self.is_core(it, models, "ObservableCollection`1") =>
            {
                Some("items")
            }
            // One that is derived from these; a name that is not there is no field.
            _ if passes_on => ["items", "list"]
                .into_iter()
                .find(|it| self.reader.object_field(object, it).is_ok()),
            _ => None,
        };
        if let Some(field) = inner {
            let inner = self.raw(object, field, span)?;
            let is_ours = |this: &Self, it: &Object| {
                it.ty.element().is_some() || this.reader.is_of_framework(&it.ty)
            };
            return match inner {
                Val::Object(inner) if depth < MAX_DEPTH && is_ours(self, &inner) => {
                    self.held_by(&inner, name, arguments, node, false, depth + 1)
                }
                _ => Ok(None),
            };
        }
        self.viewed_member(object, name, arguments, span)
    }

    fn array_as_list(
        &mut self,
        array: &Val,
        name: &str,
        arguments: &[Val],
        span: Span,
    ) -> Result<Option<Val>> {
        Ok(match (name, arguments) {
            ("get_Count", []) => Some(Val::int(self.array_length(array, span)?.into())),
            ("get_Item", [index]) => {
                let index = integer(index).unwrap_or(-1);
                Some(self.element(array, &[index], span)?)
            }
            ("Contains", [wanted]) => {
                let at = self.index_of(array, wanted, span)?;
                at.map(|it| Val::bool(integer(&it).unwrap_or(-1) >= 0))
            }
            ("IndexOf", [wanted]) => self.index_of(array, wanted, span)?,
            _ => None,
        })
    }

    /// What its elements tell, as the view of the collection finds them.
    fn viewed_member(
        &mut self,
        object: &Object,
        name: &str,
        arguments: &[Val],
        span: Span,
    ) -> Result<Option<Val>> {
        let by_key = matches!(name, "ContainsKey" | "get_Item") && self.has_keys(&object.ty);
        let by_index = name == "get_Item"
            && self.is_core(
                &object.ty,
                "System.Collections.Immutable",
                "ImmutableList`1",
            );
        let counts = matches!((name, arguments), ("get_Count" | "get_IsEmpty", []));
        let is_listed = ["LinkedList`1", "Queue`1", "Stack`1"]
            .into_iter()
            .any(|it| self.is_core(&object.ty, "System.Collections.Generic", it))
            || self.is_core(
                &object.ty,
                "System.Collections.Immutable",
                "ImmutableList`1",
            );
        let is_sorted = self.is_core(&object.ty, "System.Collections.Generic", "SortedSet`1");
        let contains = name == "Contains" && (is_listed || is_sorted);
        if !(by_key || by_index || counts || contains) {
            return Ok(None);
        }
        if let ([Val::Scalar(key)], true) = (arguments, by_key)
            && let Some(found) = self.in_sorted_tree(object, key, span)?
        {
            return Ok(match name {
                "ContainsKey" => Some(Val::bool(found.is_some())),
                _ => found,
            });
        }
        let Some(items) = self.viewed_items(object, span)? else {
            return Ok(None);
        };
        Ok(match (name, arguments) {
            ("get_Count", []) => Some(Val::int(items.len() as i128)),
            ("get_IsEmpty", []) => Some(Val::bool(items.is_empty())),
            ("get_Item", [index]) if by_index => {
                let at = integer(index).and_then(|it| usize::try_from(it).ok());
                at.and_then(|it| items.get(it)).cloned()
            }
            ("Contains", [Val::Scalar(wanted)]) if is_sorted => {
                let keys = items.iter().map(|it| (it.clone(), Val::Null)).collect();
                let found = self.by_plain_key(object, keys, wanted, span)?;
                found.map(|it| Val::bool(it.is_some()))
            }
            ("Contains", [wanted]) => {
                let whole = Val::Object(object.clone());
                let at = self.index_of(&whole, wanted, span)?;
                at.map(|it| Val::bool(integer(&it).unwrap_or(-1) >= 0))
            }
            (_, [Val::Scalar(key)]) => {
                let pairs = items.iter().filter_map(key_and_value).collect();
                match (name, self.by_plain_key(object, pairs, key, span)?) {
                    (_, None) => None,
                    ("ContainsKey", Some(found)) => Some(Val::bool(found.is_some())),
                    // Each says in its own words what is missing.
                    (_, Some(found)) => found,
                }
            }
            _ => None,
        })
    }

    fn has_keys(&self, ty: &Type) -> bool {
        let generic = "System.Collections.Generic";
        self.is_core(ty, generic, "SortedDictionary`2")
            || self.is_core(ty, generic, "SortedList`2")
            || self.is_core(
                ty,
                "System.Collections.Concurrent",
                "ConcurrentDictionary`2",
            )
    }

    /// What belongs to a key, if the collection compares keys as they are: the outer `None` says that this is not known.
    fn by_plain_key(
        &mut self,
        object: &Object,
        pairs: Vec<(Val, Val)>,
        key: &Scalar,
        span: Span,
    ) -> Result<Option<Option<Val>>> {
        let is_sorted = !self.is_core(
            &object.ty,
            "System.Collections.Concurrent",
            "ConcurrentDictionary`2",
        );
        if !self.has_usual_comparer(object, is_sorted, span)? {
            return Ok(None);
        }
        for (own, value) in pairs {
            if let Val::Scalar(own) = self.as_scalar(own, span)?
                && super::known::same_value(&own, key)
            {
                return Ok(Some(Some(value)));
            }
        }
        // A culture may take other texts for equal.
        let is_text = matches!(key, Scalar::String(_));
        let is_known = matches!(key, Scalar::Int(..)) || is_text && !is_sorted;
        Ok(is_known.then_some(None))
    }

    /// Whether a collection has the comparer that it makes itself where none is given.
    pub(super) fn has_usual_comparer(
        &mut self,
        object: &Object,
        is_sorted: bool,
        span: Span,
    ) -> Result<bool> {
        let path: &[&str] = match is_sorted {
            false => &["_tables", "_comparer"],
            true if self.is_core(
                &object.ty,
                "System.Collections.Generic",
                "SortedDictionary`2",
            ) =>
            {
                &["_set", "comparer", "keyComparer"]
            }
            true => &["comparer"],
        };
        let mut at = Val::Object(object.clone());
        for field in path {
            let Val::Object(inside) = &at else {
                return Ok(matches!(at, Val::Null) && !is_sorted);
            };
            at = match self.raw(inside, field, span) {
                Ok(value) => value,
                Err(_) => return Ok(false),
            };
        }
        let Val::Object(comparer) = &at else {
            return Ok(matches!(at, Val::Null) && !is_sorted);
        };
        let is_core = comparer.ty.as_named().map(|it| it.module) == self.types.core_module();
        let name = self.types.text(&comparer.ty);
        let usual: &[&str] = match is_sorted {
            true => &["GenericComparer", "EnumComparer"],
            false => &[
                "GenericEqualityComparer",
                "DefaultComparer",
                "OrdinalComparer",
            ],
        };
        Ok(is_core && usual.iter().any(|it| name.contains(it)))
    }

    /// What a table of texts that takes no notice of case has for a text, if all of them are of ASCII; the outer `None` says
    /// that the program has to be asked.
    pub(super) fn by_folded_key(
        &mut self,
        table: &Object,
        key: &Val,
        span: Span,
    ) -> Result<Option<Option<Val>>> {
        let comparer = match self.raw(table, "_comparer", span)? {
            Val::Object(comparer) => comparer,
            _ => return Ok(None),
        };
        let is_core = comparer.ty.as_named().map(|it| it.module) == self.types.core_module();
        if !is_core || !self.types.text(&comparer.ty).contains("OrdinalIgnoreCase") {
            return Ok(None);
        }
        let fold = |units: &Rc<[u16]>| -> Option<Vec<u8>> {
            let bytes = units.iter().map(|it| u8::try_from(*it).ok());
            let bytes: Option<Vec<u8>> = bytes.collect();
            let bytes = bytes.filter(|it| it.is_ascii())?;
            Some(bytes.to_ascii_uppercase())
        };
        let Val::Scalar(Scalar::String(key)) = key else {
            return Ok(None);
        };
        let Some(wanted) = fold(key) else {
            return Ok(None);
        };
        let Some(items) = self.viewed_items(table, span)? else {
            return Ok(None);
        };
        for item in items {
            let (own, value) = key_and_value(&item).unwrap_or_else(|| (item.clone(), Val::Null));
            let Some(units) = self.string_of(&own, span)? else {
                return Ok(None);
            };
            match fold(&units) {
                None => return Ok(None),
                Some(own) if own == wanted => return Ok(Some(Some(value))),
                Some(_) => {}
            }
        }
        Ok(Some(None))
    }

    /// `GetValueOrDefault` of a dictionary.
    pub(super) fn value_or_default(
        &mut self,
        arguments: &[Val],
        node: &Node,
    ) -> Result<Option<Val>> {
        let [map @ Val::Object(object), key, rest @ ..] = arguments else {
            return Ok(None);
        };
        if !self.is_core(&object.ty, "System.Collections.Generic", "Dictionary`2") {
            return Ok(None);
        }
        let ty = object.ty.clone();
        let key = [key.clone()];
        let has = self.dictionary_member("ContainsKey", Some((map, &ty)), &key, node)?;
        match has {
            Some(Val::Scalar(scalar::Scalar::Bool(true))) => {
                self.dictionary_member("get_Item", Some((map, &ty)), &key, node)
            }
            Some(_) => Ok(Some(match rest {
                [given] => given.clone(),
                _ => self.default(&node.ty),
            })),
            None => Ok(None),
        }
    }
}

/// The parts of an entry.
fn key_and_value(item: &Val) -> Option<(Val, Val)> {
    let Val::Made(made) = item else {
        return None;
    };
    let super::Made::Fields(_, fields) = &**made else {
        return None;
    };
    let part = |wanted: &str| {
        let found = fields.iter().find(|(name, _)| &**name == wanted);
        found.map(|(_, it)| it.clone())
    };
    Some((part("key")?, part("value")?))
}
