//! Members of lists, arrays, sets and lookups: those that take lambdas, and those of what exists only here.

use std::rc::Rc;

use syntax::Span;

use super::known::is_closure;
use super::places::Located;
use super::{Effect, Made, Result, Runner, Val, integer, null_reference};
use crate::expressions::error::Fail;
use crate::expressions::plan::{Callee, Node, Op};
use crate::types::Type;

const GENERIC: &str = "System.Collections.Generic";

impl Runner<'_, '_> {
    /// A static method of `System.Array` that takes a lambda.
    pub(super) fn array_function(
        &mut self,
        name: &str,
        arguments: &[Val],
        node: &Node,
    ) -> Result<Option<Val>> {
        let span = node.span;
        let (Some(array), Some(last)) = (arguments.first(), arguments.last()) else {
            return Ok(None);
        };
        if name == "IndexOf" {
            return match arguments {
                [array, wanted] => self.index_of(array, wanted, span),
                _ => Ok(None),
            };
        }
        if !is_closure(last) {
            return Ok(None);
        }
        if matches!(array, Val::Null) {
            return Err(super::linq::null_argument(span, "array"));
        }
        let range = arguments.get(1..arguments.len() - 1).unwrap_or_default();
        if name == "Sort" {
            if !range.is_empty() {
                return Ok(None);
            }
            self.sort_array(array, last, node)?;
            return Ok(Some(Val::Null));
        }
        self.searched(name, array, range, last, node)
    }

    pub(super) fn list_member(
        &mut self,
        name: &str,
        target: Option<(&Val, &Type)>,
        arguments: &[Val],
        node: &Node,
    ) -> Result<Option<Val>> {
        let span = node.span;
        let Some((list, _)) = target else {
            return Ok(None);
        };
        if matches!(list, Val::Null) {
            return Err(null_reference(span));
        }
        match (name, arguments) {
            ("get_Count", _) => {
                let list = list.clone();
                self.journaled(span, |this| match &list {
                    Val::Object(object) => this.list_field(object, "_size", span),
                    other => Ok(Val::int(this.array_length(other, span)?.into())),
                })
                .map(Some)
            }
            ("get_Item", [index]) => {
                let index = integer(index).unwrap_or(-1);
                let list = list.clone();
                self.journaled(span, |this| this.list_item(&list, index, span))
                    .map(Some)
            }
            // Where the program may run, it is faster at looking through a list of its own.
            _ if matches!(list, Val::Object(_))
                && self.around.calls
                && matches!(name, "IndexOf" | "Contains" | "LastIndexOf" | "ToArray") =>
            {
                Ok(None)
            }
            ("ToArray", []) => {
                let items = self.items_of(list, span)?;
                Ok(Some(Val::sequence(node.ty.clone(), items)))
            }
            ("LastIndexOf", [wanted]) => {
                let items = self.items_of(list, span)?;
                let comparer = self.usual_comparer(Some(&self.element_type(list)));
                for (at, item) in items.iter().enumerate().rev() {
                    if self.equals(item, wanted, &comparer, span)? {
                        return Ok(Some(Val::int(at as i128)));
                    }
                }
                Ok(Some(Val::int(-1)))
            }
            ("IndexOf", [wanted]) => self.index_of(list, wanted, span),
            ("Contains", [wanted]) => {
                let at = self.index_of(list, wanted, span)?;
                Ok(at.map(|it| Val::bool(integer(&it).unwrap_or(-1) >= 0)))
            }
            ("RemoveAll", [lambda]) if is_closure(lambda) => {
                let list = self.changeable(list, node)?;
                self.remove_all(&list, lambda, span)
            }
            ("Sort", [lambda]) if is_closure(lambda) => {
                let list = self.changeable(list, node)?;
                self.sort_list(&list, lambda, span)?;
                Ok(Some(Val::Null))
            }
            (_, [range @ .., lambda]) if is_closure(lambda) => {
                self.searched(name, list, range, lambda, node)
            }
            _ => Ok(None),
        }
    }

    /// What a list or array is asked with a lambda: `Find` and its like.
    fn searched(
        &mut self,
        name: &str,
        list: &Val,
        range: &[Val],
        lambda: &Val,
        node: &Node,
    ) -> Result<Option<Val>> {
        let span = node.span;
        let numbers: Vec<i128> = range.iter().filter_map(integer).collect();
        if numbers.len() != range.len() {
            return Ok(None);
        }
        let is_search = matches!(name, "FindIndex" | "FindLastIndex");
        if !numbers.is_empty() && !is_search {
            return Ok(None);
        }
        let backwards = name.starts_with("FindLast");
        match name {
            "Find" | "FindLast" | "Exists" | "FindIndex" | "FindLastIndex" | "TrueForAll" => {
                let wanted = name != "TrueForAll";
                let Some(count) = self.list_length(list, span)? else {
                    return Ok(None);
                };
                let positions = searched_positions(count, &numbers, backwards);
                let positions =
                    positions.ok_or_else(|| not_in_list(count, &numbers, backwards, span))?;
                let mut found = None;
                for at in positions {
                    let item = self.nth(list, at, span)?;
                    if self.holds(lambda, vec![item.clone()], span)? == wanted {
                        found = Some((at, item));
                        break;
                    }
                }
                Ok(Some(match (name, found) {
                    ("Exists", found) => Val::bool(found.is_some()),
                    ("TrueForAll", found) => Val::bool(found.is_none()),
                    ("Find" | "FindLast", Some((_, item))) => item,
                    ("Find" | "FindLast", None) => self.default(&node.ty),
                    (_, found) => Val::int(found.map_or(-1, |(at, _)| at.into())),
                }))
            }
            "ConvertAll" | "FindAll" => {
                let mut all = Vec::new();
                self.consume(list, span, |this, pull| {
                    while let Some(item) = pull(this)? {
                        if name == "ConvertAll" {
                            all.push(this.invoke(lambda, vec![item], span)?);
                        } else if this.holds(lambda, vec![item.clone()], span)? {
                            all.push(item);
                        }
                    }
                    Ok(())
                })?;
                Ok(Some(Val::sequence(node.ty.clone(), all)))
            }
            "ForEach" => {
                self.consume(list, span, |this, pull| {
                    while let Some(item) = pull(this)? {
                        this.invoke(lambda, vec![item], span)?;
                    }
                    Ok(())
                })?;
                Ok(Some(Val::Null))
            }
            _ => Ok(None),
        }
    }

    pub(super) fn index_of(&mut self, list: &Val, wanted: &Val, span: Span) -> Result<Option<Val>> {
        let comparer = self.usual_comparer(Some(&self.element_type(list)));
        let at = self.consume(list, span, |this, pull| {
            let mut at = 0;
            while let Some(item) = pull(this)? {
                if this.equals(&item, wanted, &comparer, span)? {
                    return Ok(at);
                }
                at += 1;
            }
            Ok(-1)
        })?;
        Ok(Some(Val::int(at)))
    }

    fn list_item(&mut self, list: &Val, index: i128, span: Span) -> Result<Val> {
        let out_of_range = || {
            Fail::thrown(
                span,
                "System.ArgumentOutOfRangeException",
                Some("Index was out of range. Must be non-negative and less than the size of the collection. (Parameter 'index')".into()),
            )
        };
        match list {
            Val::Object(object) => {
                let size = self.list_field(object, "_size", span)?;
                if index < 0 || index >= integer(&size).unwrap_or(0) {
                    return Err(out_of_range().into());
                }
                let items = self.list_field(object, "_items", span)?;
                self.element(&items, &[index], span)
            }
            Val::Made(made) => match &**made {
                Made::Sequence(_, items, _) => {
                    let item = usize::try_from(index)
                        .ok()
                        .and_then(|it| items.get(it).cloned());
                    item.ok_or_else(|| out_of_range().into())
                }
                _ => Err(super::misfit(span)),
            },
            _ => Err(super::misfit(span)),
        }
    }

    /// The list that a member is called on, where that changes it: one that was made here becomes one of the program.
    fn changeable(&mut self, list: &Val, call: &Node) -> Result<Val> {
        match &call.op {
            Op::Call(_, Some(from), _) if self.around.writes => self.lasting(list.clone(), from),
            _ => Ok(list.clone()),
        }
    }

    /// `RemoveAll`: the lambda is asked about all elements first, as in C#, then they go.
    fn remove_all(&mut self, list: &Val, lambda: &Val, span: Span) -> Result<Option<Val>> {
        let Some(count) = self.list_length(list, span)? else {
            return Ok(None);
        };
        let mut gone = Vec::new();
        for at in 0..count {
            let item = self.nth(list, at, span)?;
            if self.holds(lambda, vec![item], span)? {
                gone.push(at);
            }
        }
        for at in gone.iter().rev() {
            let at = Val::int((*at).into());
            self.call_on_list(list, "RemoveAt", vec![at], span)?;
        }
        Ok(Some(Val::int(gone.len() as i128)))
    }

    /// Sorts a list of the program with a comparison: its elements are put where they belong.
    fn sort_list(&mut self, list: &Val, comparison: &Val, span: Span) -> Result<()> {
        let before = self.drain(list, span)?;
        let mut order: Vec<usize> = (0..before.len()).collect();
        self.introsort(&mut order, &before, comparison, span)?;
        for (at, from) in order.into_iter().enumerate() {
            if at == from {
                continue;
            }
            let Some(item) = before.get(from).cloned() else {
                continue;
            };
            let at = Val::int(at as i128);
            self.call_on_list(list, "set_Item", vec![at, item], span)?;
        }
        Ok(())
    }

    /// Sorts an array of the program with a comparison.
    fn sort_array(&mut self, array: &Val, comparison: &Val, node: &Node) -> Result<()> {
        let span = node.span;
        if !self.around.writes {
            return Err(self.refuse("sorting an array", span));
        }
        if !matches!(array, Val::Object(_)) {
            let told = "an array that exists only in the debugger cannot be changed";
            return Err(Fail::new(span, told).hint("use OrderBy").into());
        }
        let before = self.drain(array, span)?;
        let mut order: Vec<usize> = (0..before.len()).collect();
        self.introsort(&mut order, &before, comparison, span)?;
        for (at, from) in order.into_iter().enumerate() {
            if at != from
                && let Some(item) = before.get(from).cloned()
            {
                let place = Located::Element(array.clone(), vec![at as i128]);
                self.store(&place, node, item, span)?;
            }
        }
        Ok(())
    }

    fn call_on_list(
        &mut self,
        list: &Val,
        name: &str,
        arguments: Vec<Val>,
        span: Span,
    ) -> Result<Val> {
        let named = match list {
            Val::Object(object) => self.list_of(&object.ty),
            _ => None,
        };
        let Some(named) = named else {
            return Err(Fail::new(
                span,
                "a list that exists only in the debugger cannot be changed",
            )
            .into());
        };
        if !self.around.writes {
            return Err(self.refuse(&format!("calling `{name}`"), span));
        }
        self.call_interface(list, &named, name, arguments, span)
    }

    pub(super) fn set_member(
        &mut self,
        name: &str,
        target: Option<(&Val, &Type)>,
        arguments: &[Val],
        node: &Node,
    ) -> Result<Option<Val>> {
        let span = node.span;
        let Some((set, ty)) = target else {
            return Ok(None);
        };
        if let Val::Object(object) = set {
            let of = ty.as_named().and_then(|it| it.arguments.first());
            let is_ours = self.compares_plainly(object, of, span)?;
            return match (name, arguments) {
                ("get_Count", []) => self.count_of_table(object, span).map(Some),
                ("Contains", [wanted]) if !is_ours && !self.around.calls => {
                    let found = self.by_folded_key(object, wanted, span)?;
                    Ok(found.map(|it| Val::bool(it.is_some())))
                }
                ("Contains", [wanted]) if is_ours && !self.around.calls => {
                    let at = self.index_of(set, wanted, span)?;
                    Ok(at.map(|it| Val::bool(integer(&it).unwrap_or(-1) >= 0)))
                }
                _ => Ok(None),
            };
        }
        if !matches!(set, Val::Made(_)) {
            return Ok(None);
        }
        match (name, arguments) {
            ("get_Count", []) => Ok(self
                .list_length(set, span)?
                .map(|count| Val::int(count.into()))),
            ("Contains", [wanted]) => {
                let comparer = self.comparer_of(set);
                for item in self.items_of(set, span)? {
                    if self.equals(&item, wanted, &comparer, span)? {
                        return Ok(Some(Val::bool(true)));
                    }
                }
                Ok(Some(Val::bool(false)))
            }
            _ => Ok(None),
        }
    }

    pub(super) fn lookup_member(
        &mut self,
        name: &str,
        target: Option<(&Val, &Type)>,
        arguments: &[Val],
        node: &Node,
    ) -> Result<Option<Val>> {
        let span = node.span;
        let Some((lookup @ Val::Made(made), _)) = target else {
            return Ok(None);
        };
        let Made::Sequence(_, groups, _) = &**made else {
            return Ok(None);
        };
        if name == "get_Count" {
            return Ok(Some(Val::int(groups.len() as i128)));
        }
        let Some(wanted) = arguments.first() else {
            return Ok(None);
        };
        let comparer = self.comparer_of(lookup);
        let mut found = None;
        for group in groups {
            if let Val::Made(made) = group
                && let Made::Sequence(_, members, Some(key)) = &**made
                && self.equals(key, wanted, &comparer, span)?
            {
                found = Some(members.clone());
                break;
            }
        }
        Ok(Some(match name {
            "Contains" => Val::bool(found.is_some()),
            _ => Val::sequence(node.ty.clone(), found.unwrap_or_default()),
        }))
    }

    /// A list or sequence that was made here as one of the program; others stay as they are.
    pub(super) fn materialised(&mut self, value: Val, span: Span) -> Result<Val> {
        let value = self.settled(value, span)?;
        let Val::Made(made) = &value else {
            return Ok(value);
        };
        if let Made::Fields(ty, fields) = &**made
            && self.is_anonymous(ty)
        {
            let made = self.anonymous_in_program(ty, fields, span)?;
            return Ok(made.unwrap_or(value));
        }
        if let Made::Closure(closure, captured) = &**made {
            let made = self.delegate_in_program(closure, captured, span)?;
            return Ok(made.unwrap_or(value));
        }
        let Made::Sequence(ty, items, key) = &**made else {
            return Ok(value);
        };
        if let Some(array) = self.grid_in_program(made, span)? {
            return Ok(array);
        }
        if let Some(pair) = self.pair_type(ty) {
            return self.dictionary_in_program(&value, ty, &pair, items, span);
        }
        if key.is_some() && !self.is_core(ty, GENERIC, "HashSet`1") {
            return Ok(value);
        }
        if let Type::SzArray(_) = ty
            && items.iter().any(|it| matches!(it, Val::Made(_)))
        {
            let mut inside = Vec::with_capacity(items.len());
            for item in items {
                inside.push(self.materialised(item.clone(), span)?);
            }
            return Ok(Val::sequence(ty.clone(), inside));
        }
        let Some(named) = ty.as_named().cloned() else {
            return Ok(value);
        };
        let [element] = &*named.arguments else {
            return Ok(value);
        };
        let mut inside = Vec::with_capacity(items.len());
        for item in items {
            inside.push(self.materialised(item.clone(), span)?);
        }
        let array = Val::sequence(Type::SzArray(Box::new(element.clone()).into()), inside);
        if named.kind == crate::types::Kind::Interface {
            return Ok(array);
        }
        let is_list = ["List`1", "HashSet`1"]
            .iter()
            .any(|name| self.types.is_named(&named, GENERIC, name));
        if !is_list {
            return Ok(value);
        }
        let constructors = self.types.methods(&named, Some(".ctor"));
        let constructor = constructors.unwrap_or_default().into_iter().find(|it| {
            matches!((it.parameters.as_slice(), key), ([from], None) | ([from, _], Some(_))
                if from.ty.as_named().is_some_and(|it| self.types.is_named(it, GENERIC, "IEnumerable`1")))
        });
        let Some(method) = constructor else {
            return Ok(value);
        };
        let parameters = method.parameters.iter().map(|it| it.ty.clone());
        let arguments = [array].into_iter().chain(key.clone()).zip(parameters);
        let arguments = arguments.collect();
        let callee = Rc::new(Callee {
            method,
            arguments: Vec::new(),
            intrinsic: None,
            is_virtual: false,
            checked: false,
        });
        self.effect(span, || Effect::New {
            callee,
            arguments,
            span,
        })
    }
}

impl Runner<'_, '_> {
    /// A dictionary that was made here, as one of the program.
    fn dictionary_in_program(
        &mut self,
        value: &Val,
        ty: &Type,
        pair: &Type,
        items: &[Val],
        span: Span,
    ) -> Result<Val> {
        let is = |ty: &Type, name: &str| {
            ty.as_named()
                .is_some_and(|it| self.types.is_named(it, GENERIC, name))
        };
        let methods = match ty.as_named() {
            Some(named) if is(ty, "Dictionary`2") => self.types.methods(named, Some(".ctor")),
            _ => return Ok(value.clone()),
        };
        let method = methods.unwrap_or_default().into_iter().find(|it| {
            matches!(it.parameters.as_slice(), [from, by]
                if is(&from.ty, "IEnumerable`1") && is(&by.ty, "IEqualityComparer`1"))
        });
        let Some(method) = method else {
            return Ok(value.clone());
        };
        let mut pairs = Vec::with_capacity(items.len());
        for item in items {
            pairs.push(self.materialised(item.clone(), span)?);
        }
        let pairs = Val::sequence(Type::SzArray(Box::new(pair.clone()).into()), pairs);
        let types: Vec<Type> = method.parameters.iter().map(|it| it.ty.clone()).collect();
        let arguments = [pairs, value.comparer()].into_iter().zip(types).collect();
        let callee = Rc::new(Callee {
            method,
            arguments: Vec::new(),
            intrinsic: None,
            is_virtual: false,
            checked: false,
        });
        self.effect(span, || Effect::New {
            callee,
            arguments,
            span,
        })
    }
}

/// The numbers of the elements that a search looks at, in its order; `None` if they are not in the list.
fn searched_positions(count: u64, range: &[i128], backwards: bool) -> Option<Vec<u64>> {
    let count = i128::from(count);
    let (start, length) = match (range, backwards) {
        ([], _) => (0, count),
        ([start], false) => (*start, count - start),
        ([start, length], false) => (*start, *length),
        ([end], true) => (0, end + 1),
        ([end, length], true) => (end - length + 1, *length),
        _ => return None,
    };
    if start < 0 || length < 0 || start + length > count {
        return None;
    }
    let all = (start..start + length).map(|it| it as u64);
    Some(if backwards {
        all.rev().collect()
    } else {
        all.collect()
    })
}

/// What the framework says of a range that is not in the list.
fn not_in_list(count: u64, range: &[i128], backwards: bool, span: Span) -> super::Interrupt {
    let whole = 0..=i128::from(count);
    let message = if range.first().is_some_and(|it| whole.contains(it)) {
        "Count must be positive and count must refer to a location within the string/array/collection. (Parameter 'count')"
    } else if backwards {
        "Index was out of range. Must be non-negative and less than the size of the collection. (Parameter 'startIndex')"
    } else {
        "Index was out of range. Must be non-negative and less than or equal to the size of the collection. (Parameter 'startIndex')"
    };
    let ty = "System.ArgumentOutOfRangeException";
    Fail::thrown(span, ty, Some(message.into())).into()
}
