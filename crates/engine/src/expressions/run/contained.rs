//! `Contains` of LINQ: a collection is asked itself, as `Enumerable.Contains` does it, so that its own comparer decides; what is
//! none has its elements compared as `EqualityComparer<T>.Default` does.

use syntax::Span;

use super::lazy::{Lazy, Operator, as_lazy};
use super::{Made, Result, Runner, Val};
use crate::expressions::error::Fail;
use crate::expressions::plan::Node;
use crate::types::Type;
use crate::values::Object;

const GENERIC: &str = "System.Collections.Generic";

/// Collections of the framework that look for an element by its default comparer.
const COMPARING_PLAINLY: &[(&str, &str)] = &[
    (GENERIC, "List`1"),
    (GENERIC, "LinkedList`1"),
    ("System", "ArraySegment`1"),
    ("System.Collections.Immutable", "ImmutableArray`1"),
    ("System.Collections.Immutable", "ImmutableList`1"),
];

impl Runner<'_, '_> {
    /// What a collection of such elements says that is asked itself: its answer, or `None` if only the program can ask it.
    /// The outer `None` says that the elements are compared.
    pub(super) fn contained(
        &mut self,
        source: &Val,
        wanted: &Val,
        element: &Type,
        node: &Node,
    ) -> Result<Option<Option<Val>>> {
        let span = node.span;
        match source {
            Val::Object(object) if self.finds_itself(object, element, span)? => {
                match self.around.calls {
                    true => Ok(Some(None)),
                    false => self.found_by_reading(object, wanted, element, node).map(Some),
                }
            }
            Val::Made(made) => match &**made {
                Made::Sequence(ty, ..) if self.is_core(ty, GENERIC, "HashSet`1") => {
                    let target = Some((source, ty));
                    let arguments = [wanted.clone()];
                    self.set_member("Contains", target, &arguments, node)
                        .map(Some)
                }
                Made::Lazy(lazy) if self.passes_on(lazy, element, span)? => Err(Fail::new(
                    span,
                    "whether a collection below is asked itself, with its own comparer, depends on the version of the framework",
                )
                .hint("enumerate the sequence before with ToList()")
                .into()),
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// Whether a collection has a way of its own to find an element.
    fn finds_itself(&mut self, object: &Object, element: &Type, span: Span) -> Result<bool> {
        if object.ty.element().is_some() {
            return Ok(false);
        }
        let all = self.types.interfaces(&object.ty).unwrap_or_default();
        let is_collection = all.iter().any(|it| {
            self.types.is_named(it, GENERIC, "ICollection`1")
                && it.arguments.first() == Some(element)
        });
        if !is_collection {
            return Ok(false);
        }
        if !self.reader.is_of_framework(&object.ty) {
            return Ok(true);
        }
        let is = |(namespace, name): &(&str, &str)| self.is_core(&object.ty, namespace, name);
        let text = self.types.text(&object.ty);
        if COMPARING_PLAINLY.iter().any(is) || text.ends_with(".ValueCollection") {
            return Ok(false);
        }
        let table = match text.ends_with(".KeyCollection") {
            true => self.table_of_keys(object, span)?,
            false if is(&(GENERIC, "HashSet`1")) || is(&(GENERIC, "Dictionary`2")) => {
                Some(object.clone())
            }
            false => None,
        };
        Ok(match table {
            Some(table) if self.around.calls => {
                !self.compares_plainly(&table, Some(element), span)?
            }
            Some(table) => !self.compares_by_default(&table, span)?,
            None => true,
        })
    }

    /// The dictionary that these keys are of.
    fn table_of_keys(&mut self, keys: &Object, span: Span) -> Result<Option<Object>> {
        Ok(match self.raw(keys, "_dictionary", span) {
            Ok(Val::Object(table)) if self.is_core(&table.ty, GENERIC, "Dictionary`2") => {
                Some(table)
            }
            _ => None,
        })
    }

    fn found_by_reading(
        &mut self,
        object: &Object,
        wanted: &Val,
        element: &Type,
        node: &Node,
    ) -> Result<Option<Val>> {
        let span = node.span;
        if self.reader.is_of_framework(&object.ty) {
            if let Some(table) = self.table_of_keys(object, span)? {
                let found = self.by_folded_key(&table, wanted, span)?;
                return Ok(found.map(|it| Val::bool(it.is_some())));
            }
            let arguments = [wanted.clone()];
            return self.held_by(object, "Contains", &arguments, node, false, 0);
        }
        if !self.has_contains_of_list(object, element) {
            return Ok(None);
        }
        let comparer = self.usual_comparer(Some(element));
        for item in self.copied_items(&Val::Object(object.clone()), span)? {
            if self.equals(&item, wanted, &comparer, span)? {
                return Ok(Some(Val::bool(true)));
            }
        }
        Ok(Some(Val::bool(false)))
    }

    /// Whether a class is derived from `List<T>` and leaves `Contains` to it.
    fn has_contains_of_list(&self, object: &Object, element: &Type) -> bool {
        let Some(list) = self.list_of(&object.ty) else {
            return false;
        };
        let contains = self.types.methods(&list, Some("Contains"));
        let Some(contains) = contains.unwrap_or_default().into_iter().next() else {
            return false;
        };
        let collection = self.types.core(GENERIC, "ICollection`1");
        let asked = collection
            .and_then(|it| {
                self.types
                    .close(it.as_named()?, std::slice::from_ref(element))
                    .ok()
            })
            .and_then(|it| self.types.methods(it.as_named()?, Some("Contains")).ok())
            .and_then(|it| it.into_iter().next());
        let runs = asked.and_then(|it| self.types.implementation(&object.ty, &it));
        runs.is_some_and(|it| it.declared_in == contains.declared_in)
    }

    /// Whether the framework may ask a collection below an operator, which newer versions do: their iterators have a
    /// `Contains` of their own.
    fn passes_on(&mut self, lazy: &Lazy, element: &Type, span: Span) -> Result<bool> {
        let linq = self.types.find("System.Linq", "Enumerable", 0);
        let iterator = linq
            .first()
            .and_then(Type::as_named)
            .and_then(|it| self.types.nested(it, "Iterator", 1).ok()?);
        let own = iterator
            .as_ref()
            .and_then(Type::as_named)
            .and_then(|it| self.types.methods(it, Some("Contains")).ok());
        match own.is_some_and(|it| !it.is_empty()) {
            true => self.is_above_collection(lazy, element, span),
            false => Ok(false),
        }
    }

    fn is_above_collection(&mut self, lazy: &Lazy, element: &Type, span: Span) -> Result<bool> {
        let sources = match lazy.op {
            Operator::Append
            | Operator::Prepend
            | Operator::DefaultIfEmpty
            | Operator::Reverse
            | Operator::Ordered(_) => 1,
            Operator::Distinct if matches!(lazy.part(1), Val::Null) => 1,
            Operator::Concat => 2,
            Operator::Union if matches!(lazy.part(2), Val::Null) => 2,
            _ => 0,
        };
        for source in lazy.parts.iter().take(sources) {
            let is = match source {
                Val::Object(object) => self.finds_itself(object, element, span)?,
                source => match as_lazy(source) {
                    Some(below) => self.is_above_collection(below, element, span)?,
                    None => !matches!(source.comparer(), Val::Null),
                },
            };
            if is {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
