//! `Contains` of LINQ: a collection is asked itself, as `Enumerable.Contains` does it, so that its own comparer decides; what is
//! none has its elements compared as `EqualityComparer<T>.Default` does.

use syntax::Span;

use super::lazy::{Lazy, Operator, as_lazy};
use super::{Made, Result, Runner, Val};
use crate::expressions::error::Fail;
use crate::expressions::plan::Node;
use crate::expressions::scalar::Scalar;
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
                Made::Lazy(lazy) if self.is_passed_on() && is_flattened(lazy) => {
                    let found = self.contained_in_any(lazy, wanted, element, node)?;
                    Ok(Some(Some(Val::bool(found))))
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

    /// Whether one of the sequences that a selector gives says that it contains an element: each is asked itself.
    fn contained_in_any(
        &mut self,
        lazy: &Lazy,
        wanted: &Val,
        element: &Type,
        node: &Node,
    ) -> Result<bool> {
        let (source, selector) = (lazy.part(0), lazy.part(1));
        self.consume(&source, lazy.span, |this, pull| {
            while let Some(item) = pull(this)? {
                let inner = this.invoke(&selector, vec![item], lazy.span)?;
                let found = match this.contained(&inner, wanted, element, node)? {
                    Some(Some(found)) => found,
                    Some(None) => this.asked(&inner, wanted, element, node.span)?,
                    None => {
                        let comparer = this.usual_comparer(Some(element));
                        Val::bool(this.is_among(&inner, wanted, &comparer, node.span)?)
                    }
                };
                if matches!(found, Val::Scalar(Scalar::Bool(true))) {
                    return Ok(true);
                }
            }
            Ok(false)
        })
    }

    /// `ICollection<T>` of such elements.
    fn collection_of(&self, element: &Type) -> Option<Type> {
        let collection = self.types.core(GENERIC, "ICollection`1")?;
        let elements = std::slice::from_ref(element);
        self.types.close(collection.as_named()?, elements).ok()
    }

    /// What a collection of the program itself says.
    fn asked(&mut self, of: &Val, wanted: &Val, element: &Type, span: Span) -> Result<Val> {
        let collection = self.collection_of(element);
        match collection.as_ref().and_then(Type::as_named) {
            Some(collection) if self.around.calls => {
                let arguments = vec![wanted.clone()];
                self.call_interface(of, collection, "Contains", arguments, span)
            }
            _ => Err(self.refuse("calling `Contains`", span)),
        }
    }

    /// Whether an element of a sequence equals another one, as a comparer sees it.
    pub(super) fn is_among(
        &mut self,
        all: &Val,
        wanted: &Val,
        comparer: &Val,
        span: Span,
    ) -> Result<bool> {
        self.consume(all, span, |this, pull| {
            while let Some(item) = pull(this)? {
                if this.equals(&item, wanted, comparer, span)? {
                    return Ok(true);
                }
            }
            Ok(false)
        })
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
        let asked = self
            .collection_of(element)
            .and_then(|it| self.types.methods(it.as_named()?, Some("Contains")).ok())
            .and_then(|it| it.into_iter().next());
        let runs = asked.and_then(|it| self.types.implementation(&object.ty, &it));
        runs.is_some_and(|it| it.declared_in == contains.declared_in)
    }

    /// Whether the framework may ask a collection below an operator.
    fn passes_on(&mut self, lazy: &Lazy, element: &Type, span: Span) -> Result<bool> {
        Ok(self.is_passed_on() && self.is_above_collection(lazy, element, span)?)
    }

    /// Whether iterators of the framework have a `Contains` of their own, as those of newer versions do.
    fn is_passed_on(&self) -> bool {
        let iterator = self.iterator_of_linq("Iterator");
        let own = iterator
            .as_ref()
            .and_then(Type::as_named)
            .and_then(|it| self.types.methods(it, Some("Contains")).ok());
        own.is_some_and(|it| !it.is_empty())
    }

    /// A class of iterators inside `Enumerable`.
    fn iterator_of_linq(&self, name: &str) -> Option<Type> {
        let linq = self.types.find("System.Linq", "Enumerable", 0);
        let linq = linq.first().and_then(Type::as_named)?;
        self.types.nested(linq, name, 1).ok()?
    }

    /// Whether `Cast` or `OfType` gives back what it is applied to, as that is a sequence of the type already.
    pub(super) fn stays_as_it_is(&self, source: &Val, to: &Type, is_cast: bool) -> bool {
        // Since the version in which what filters is a class of its own.
        let is_kept = is_cast
            || to.is_value() == Some(true)
                && self.types.nullable_of(to).is_none()
                && self.iterator_of_linq("OfTypeIterator").is_some();
        is_kept
            && match source {
                Val::Object(object) if object.ty.element().is_none() => {
                    let all = self.types.interfaces(&object.ty).unwrap_or_default();
                    all.iter().any(|it| {
                        self.types.is_named(it, GENERIC, "IEnumerable`1")
                            && it.arguments.first() == Some(to)
                    })
                }
                source => self.element_type(source) == *to,
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
            // Only what its selector gives could tell.
            Operator::SelectMany(_) if is_flattened(lazy) => return Ok(true),
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

/// Whether it is what a selector without numbers gives, as that is.
fn is_flattened(lazy: &Lazy) -> bool {
    matches!(lazy.op, Operator::SelectMany(false)) && matches!(lazy.part(2), Val::Null)
}
