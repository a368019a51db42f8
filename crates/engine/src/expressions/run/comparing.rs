//! How elements and keys compare: by the default comparers of the framework, computed here where the values tell it, and by
//! comparers and methods of the program where they decide.

use std::cmp::Ordering;
use std::rc::Rc;

use syntax::Span;
use syntax::tree::BinaryOp;

use super::journal::Fact;
use super::keys::Hashed;
use super::known::is_closure;
use super::numbers::compare;
use super::{Effect, Made, Result, Runner, Val, integer};
use crate::expressions::error::Fail;
use crate::expressions::plan::{Callee, FieldRef};
use crate::expressions::scalar::{self, Kind, Scalar};
use crate::types::Type;

/// Values inside values that are compared.
const MAX_DEPTH: u32 = 64;
/// The bits of a date that count: the others say of what kind it is.
const TICKS: i128 = 0x3fff_ffff_ffff_ffff;

/// The type that a default comparer compares, if the values do not tell it.
fn compared_as(comparer: &Val) -> Option<&Type> {
    match comparer {
        Val::Made(made) => match &**made {
            Made::Comparer(ty) => Some(ty),
            _ => None,
        },
        _ => None,
    }
}

impl Runner<'_, '_> {
    /// Whether two values are equal for a comparer; null is the default one.
    pub(super) fn equals(&mut self, a: &Val, b: &Val, comparer: &Val, span: Span) -> Result<bool> {
        if let Val::Object(object) = comparer {
            let all = self.types.interfaces(&object.ty).unwrap_or_default();
            let generic = "System.Collections.Generic";
            let found = all
                .into_iter()
                .find(|it| self.types.is_named(it, generic, "IEqualityComparer`1"));
            let Some(interface) = found else {
                return Err(super::misfit(span));
            };
            let both = vec![a.clone(), b.clone()];
            let same = self.call_interface(comparer, &interface, "Equals", both, span)?;
            return Ok(matches!(same, Val::Scalar(Scalar::Bool(true))));
        }
        self.equals_default(a, b, compared_as(comparer), 0, span)
    }

    /// What elements of a type are compared by unless something else is said. Their own type tells it, unless they are objects
    /// of classes that derive from it: whether these have an `IEquatable<T>` of their own does not count.
    pub(super) fn usual_comparer(&self, ty: Option<&Type>) -> Val {
        match ty {
            Some(ty) if ty.is_reference() && *ty != Type::STRING => {
                Val::Made(Rc::new(Made::Comparer(ty.clone())))
            }
            _ => Val::Null,
        }
    }

    /// What the keys of a dictionary or lookup are compared by that exists only here.
    pub(super) fn comparer_of(&self, keyed: &Val) -> Val {
        match keyed.comparer() {
            Val::Null => self.usual_comparer(Some(&self.element_type(keyed))),
            given => given,
        }
    }

    /// Equality as `EqualityComparer<T>.Default` has it; `declared` is the `T` if the values do not tell it.
    fn equals_default(
        &mut self,
        a: &Val,
        b: &Val,
        declared: Option<&Type>,
        depth: u32,
        span: Span,
    ) -> Result<bool> {
        // Sequences are compared each with each: the time must be looked at.
        self.tick(span)?;
        if depth > MAX_DEPTH {
            return Err(Fail::new(span, "the values are nested too deeply to be compared").into());
        }
        let (one, other) = (self.out_of_box(a, span)?, self.out_of_box(b, span)?);
        Ok(match (&one, &other) {
            (Val::Null, Val::Null) => true,
            (Val::Null, _) | (_, Val::Null) => false,
            (Val::Scalar(x), Val::Scalar(y)) => {
                // In boxes values of other types are others.
                let (x_ty, y_ty) = (self.boxed_type(a), self.boxed_type(b));
                let same_type = match (x_ty, y_ty) {
                    (Some(x), Some(y)) => x == y,
                    _ => x.kind() == y.kind(),
                };
                same_type && scalars_equal(x, y)
            }
            (Val::Object(x), Val::Object(y))
                if x.address == y.address && self.equals_itself(&x.ty) =>
            {
                true
            }
            (Val::Object(x), Val::Object(_)) if self.equals_by_reference(&x.ty) => false,
            _ => {
                if let (Some(x), Some(y)) = (self.ticks(&one, span)?, self.ticks(&other, span)?) {
                    return Ok(x == y);
                }
                if let (Some(x), Some(y)) =
                    (self.guid_bytes(&one, span)?, self.guid_bytes(&other, span)?)
                {
                    return Ok(x == y);
                }
                if let (Some(x), Some(y)) = (self.parts(&one, span)?, self.parts(&other, span)?) {
                    let (of_one, of_other) = (self.exact_type(&one), self.exact_type(&other));
                    if of_one != of_other && of_one.is_some_and(|it| self.is_anonymous(&it)) {
                        return Ok(false);
                    }
                    let types = self.types_of_parts(&one);
                    for (index, (x, y)) in x.iter().zip(&y).enumerate() {
                        let declared = types.get(index);
                        if !self.equals_default(x, y, declared, depth + 1, span)? {
                            return Ok(false);
                        }
                    }
                    return Ok(x.len() == y.len());
                }
                let in_box = |it: &Val| match it {
                    Val::Object(object) => object.ty.is_value() == Some(true),
                    it => matches!(it, Val::Boxed(..)),
                };
                let declared = match declared {
                    _ if in_box(a) || in_box(b) => Type::OBJECT,
                    Some(declared) => declared.clone(),
                    None => self.exact_type(&one).unwrap_or(Type::OBJECT),
                };
                self.equals_in_program(&one, &other, &declared, span)?
            }
        })
    }

    /// The hash of a value for [`equals_default`](Self::equals_default); `None` where code of the program decides.
    pub(super) fn hash_default(
        &mut self,
        value: &Val,
        depth: u32,
        span: Span,
    ) -> Result<Option<Hashed>> {
        self.tick(span)?;
        if depth > MAX_DEPTH {
            return Ok(None);
        }
        let value = self.out_of_box(value, span)?;
        Ok(match &value {
            Val::Null => Some(Hashed::Null),
            Val::Scalar(scalar) => Some(Hashed::of(scalar)),
            Val::Object(object) if self.equals_by_reference(&object.ty) => {
                Some(Hashed::Object(object.address))
            }
            value => {
                if let Some(ticks) = self.ticks(value, span)? {
                    return Ok(Some(Hashed::Ticks(ticks)));
                }
                if let Some(bytes) = self.guid_bytes(value, span)? {
                    return Ok(Some(Hashed::Bytes(bytes)));
                }
                let Some(parts) = self.parts(value, span)? else {
                    return self.hash_in_program(value, span);
                };
                let mut all = Vec::with_capacity(parts.len());
                for part in &parts {
                    match self.hash_default(part, depth + 1, span)? {
                        Some(hash) => all.push(hash),
                        None => return Ok(None),
                    }
                }
                Some(Hashed::Parts(all))
            }
        })
    }

    /// A value out of its box; a string as its text.
    fn out_of_box(&mut self, value: &Val, span: Span) -> Result<Val> {
        if let Val::Object(object) = value
            && let Some(inner) = self.reader.unboxed(object)
        {
            return self.decode(&inner, span);
        }
        self.as_scalar(value.clone(), span)
    }

    fn boxed_type(&self, value: &Val) -> Option<Type> {
        match value {
            Val::Boxed(ty, _) => Some(ty.clone()),
            Val::Object(object) => Some(object.ty.clone()),
            _ => None,
        }
    }

    /// The elements of a tuple, pair or anonymous object, which are equal if these are.
    fn parts(&mut self, value: &Val, span: Span) -> Result<Option<Vec<Val>>> {
        match value {
            Val::Made(made) => Ok(match &**made {
                Made::Fields(ty, fields) if ty.is_reference() || self.is_tuple(ty) => {
                    Some(fields.iter().map(|(_, it)| it.clone()).collect())
                }
                _ => None,
            }),
            Val::Object(object) if self.is_anonymous(&object.ty) => {
                self.anonymous_parts(object, span)
            }
            Val::Struct(place) if self.is_tuple(&place.ty) => {
                let members = self.reader.struct_members(&place.ty);
                let members = members.map_err(|why| self.unreadable(&why, span))?;
                let mut parts = Vec::new();
                for member in members.iter() {
                    let field = self.reader.struct_member(place, member);
                    let field = field.map_err(|why| self.unreadable(&why, span))?;
                    parts.push(self.decode(&field, span)?);
                }
                Ok(Some(parts))
            }
            _ => Ok(None),
        }
    }

    fn is_tuple(&self, ty: &Type) -> bool {
        self.types.tuple_elements(ty).is_some()
            || self.is_core(ty, "System.Collections.Generic", "KeyValuePair`2")
    }

    /// What a date or a time compares by.
    pub(super) fn ticks(&mut self, value: &Val, span: Span) -> Result<Option<i128>> {
        let Val::Struct(place) = value else {
            return Ok(None);
        };
        let Some(named) = place.ty.as_named() else {
            return Ok(None);
        };
        let known = [
            ("DateTime", "_dateData"),
            ("TimeSpan", "_ticks"),
            ("DateOnly", "_dayNumber"),
            ("TimeOnly", "_ticks"),
        ];
        let found = known
            .into_iter()
            .find(|(name, _)| self.types.is_named(named, "System", name));
        let Some((name, field)) = found else {
            return Ok(None);
        };
        let number = self.reader.field(place, field);
        let number = number.map_err(|why| self.unreadable(&why, span))?;
        let number = integer(&self.decode(&number, span)?);
        Ok(number.map(|it| if name == "DateTime" { it & TICKS } else { it }))
    }

    /// Whether a class leaves `Equals` as it is.
    fn equals_by_reference(&self, ty: &Type) -> bool {
        let levels = self.types.ancestry(ty).unwrap_or_default();
        for level in levels {
            let own = self.types.methods(&level, Some("Equals"));
            let own = own.unwrap_or_default();
            let is_override = own
                .iter()
                .any(|it| it.flags.is_virtual() && it.parameters.len() == 1);
            if is_override {
                return self.types.is_named(&level, "System", "Object");
            }
        }
        false
    }

    /// Whether objects of a class equal themselves: as `Equals` is left as it is, one of the framework, or made by the
    /// compiler for a record.
    fn equals_itself(&self, ty: &Type) -> bool {
        let levels = self.types.ancestry(ty).unwrap_or_default();
        for level in levels {
            let own = self.types.methods(&level, Some("Equals"));
            let mut own = own.unwrap_or_default();
            own.retain(|it| it.flags.is_virtual() && it.parameters.len() == 1);
            if own.is_empty() {
                continue;
            }
            let namespace = self.types.simple_name(&level).map(|it| it.0);
            let is_framework =
                namespace.is_ok_and(|it| &*it == "System" || it.starts_with("System."));
            let made = |it: &crate::types::Method| {
                self.types.metadata(level.module).is_ok_and(|metadata| {
                    metadata.metadata().has_attribute(
                        it.token,
                        "System.Runtime.CompilerServices",
                        "CompilerGeneratedAttribute",
                    )
                })
            };
            return is_framework || own.iter().all(made);
        }
        false
    }

    /// What the parts of a tuple or anonymous object are compared as; those of a pair are compared as objects.
    fn types_of_parts(&self, value: &Val) -> Vec<Type> {
        let exact = self.exact_type(value);
        let Some(named) = exact.as_ref().and_then(Type::as_named) else {
            return Vec::new();
        };
        let arguments = named.arguments.iter().cloned();
        if self
            .types
            .is_named(named, "System.Collections.Generic", "KeyValuePair`2")
        {
            return arguments.map(|_| Type::OBJECT).collect();
        }
        arguments.collect()
    }

    /// The interface that a type has for values of its own, such as `IEquatable<T>`.
    fn of_itself(&self, ty: &Type, name: &str) -> Option<Rc<crate::types::Named>> {
        let all = self.types.interfaces(ty).unwrap_or_default();
        all.into_iter()
            .find(|it| self.types.is_named(it, "System", name) && it.arguments.first() == Some(ty))
    }

    /// What `Equals` says in the program: that of `IEquatable<T>` if the type has it that the values are declared as, else that
    /// for all objects.
    fn equals_in_program(&mut self, a: &Val, b: &Val, declared: &Type, span: Span) -> Result<bool> {
        let ty = self.exact_type(a).unwrap_or(Type::OBJECT);
        let same_type = self.exact_type(b).as_ref() == Some(&ty);
        let equatable = self.of_itself(declared, "IEquatable`1");
        let equatable = equatable.filter(|_| declared.is_reference() || same_type);
        let owner = equatable.or_else(|| self.types.core_named("System", "Object"));
        let methods = owner
            .as_ref()
            .and_then(|it| self.types.methods(it, Some("Equals")).ok());
        let method = methods
            .unwrap_or_default()
            .into_iter()
            .find(|it| it.parameters.len() == 1);
        let target = (
            self.boxed(a.clone(), &ty),
            owner.map_or(Type::OBJECT, Type::Named),
        );
        let same = self.in_program(method, Some(target), vec![b.clone()], "Equals", span)?;
        Ok(matches!(same, Val::Scalar(Scalar::Bool(true))))
    }

    /// The hash code that the program gives an object or struct: so it finds equal ones, too.
    fn hash_in_program(&mut self, value: &Val, span: Span) -> Result<Option<Hashed>> {
        if !self.around.calls || !matches!(value, Val::Object(_) | Val::Struct(_)) {
            return Ok(None);
        }
        let object = self.types.core_named("System", "Object");
        let methods = object.and_then(|it| self.types.methods(&it, Some("GetHashCode")).ok());
        let method = methods.unwrap_or_default().into_iter().next();
        let ty = self.exact_type(value).unwrap_or(Type::OBJECT);
        let target = (self.boxed(value.clone(), &ty), Type::OBJECT);
        let code = self.in_program(method, Some(target), Vec::new(), "GetHashCode", span)?;
        Ok(integer(&code).map(Hashed::Code))
    }

    /// The hash code that a comparer gives a key; null has the one that the framework gives it.
    pub(super) fn hash_by(
        &mut self,
        comparer: &Val,
        key: &Val,
        span: Span,
    ) -> Result<Option<Hashed>> {
        let Val::Object(object) = comparer else {
            return Ok(None);
        };
        if !self.around.calls {
            return Ok(None);
        }
        if matches!(key, Val::Null) {
            return Ok(Some(Hashed::Code(0)));
        }
        let all = self.types.interfaces(&object.ty).unwrap_or_default();
        let generic = "System.Collections.Generic";
        let found = all
            .into_iter()
            .find(|it| self.types.is_named(it, generic, "IEqualityComparer`1"));
        let Some(interface) = found else {
            return Ok(None);
        };
        let one = vec![key.clone()];
        let code = self.call_interface(comparer, &interface, "GetHashCode", one, span)?;
        Ok(integer(&code).map(Hashed::Code))
    }

    pub(super) fn in_program(
        &mut self,
        method: Option<crate::types::Method>,
        target: Option<(Val, Type)>,
        arguments: Vec<Val>,
        name: &str,
        span: Span,
    ) -> Result<Val> {
        if !self.around.calls {
            return Err(self.refuse(&format!("calling `{name}` to compare elements"), span));
        }
        let Some(method) = method else {
            return Err(Fail::new(span, format!("`{name}` was not found in the program")).into());
        };
        let parameters = method.parameters.iter().map(|it| it.ty.clone());
        let arguments: Vec<(Val, Type)> = arguments
            .into_iter()
            .zip(parameters)
            .map(|(value, ty)| match (&value, ty.is_reference()) {
                (Val::Struct(_) | Val::Made(_) | Val::Scalar(_), true) => {
                    let exact = self.exact_type(&value).unwrap_or(Type::OBJECT);
                    (self.boxed(value, &exact), ty)
                }
                _ => (value, ty),
            })
            .collect();
        let callee = Rc::new(Callee {
            method,
            arguments: Vec::new(),
            intrinsic: None,
            is_virtual: true,
            checked: false,
        });
        self.effect(span, || Effect::Call {
            callee,
            target,
            home: None,
            arguments,
            references: Vec::new(),
            exact: false,
            span,
        })
    }

    /// How two keys compare for a comparer; null is the default one.
    pub(super) fn compare_by(
        &mut self,
        a: &Val,
        b: &Val,
        comparer: &Val,
        span: Span,
    ) -> Result<Ordering> {
        let sign = |value: Val| integer(&value).unwrap_or(0).cmp(&0);
        if is_closure(comparer) {
            let both = vec![a.clone(), b.clone()];
            return self.invoke(comparer, both, span).map(sign);
        }
        if let Val::Object(object) = comparer {
            if matches!(&object.ty, Type::Named(it) if it.kind == crate::types::Kind::Delegate) {
                let both = vec![a.clone(), b.clone()];
                return self.invoke(comparer, both, span).map(sign);
            }
            let all = self.types.interfaces(&object.ty).unwrap_or_default();
            let generic = "System.Collections.Generic";
            let found = all
                .into_iter()
                .find(|it| self.types.is_named(it, generic, "IComparer`1"));
            let Some(interface) = found else {
                return Err(super::misfit(span));
            };
            let both = vec![a.clone(), b.clone()];
            let order = self.call_interface(comparer, &interface, "Compare", both, span)?;
            return Ok(sign(order));
        }
        self.order_default(a, b, compared_as(comparer), 0, span)
    }

    /// Order as `Comparer<T>.Default` has it, `declared` being the `T` if the values do not tell it; null comes first.
    fn order_default(
        &mut self,
        a: &Val,
        b: &Val,
        declared: Option<&Type>,
        depth: u32,
        span: Span,
    ) -> Result<Ordering> {
        self.tick(span)?;
        if depth > MAX_DEPTH {
            return Err(Fail::new(span, "the values are nested too deeply to be compared").into());
        }
        let (one, other) = (self.out_of_box(a, span)?, self.out_of_box(b, span)?);
        match (&one, &other) {
            (Val::Null, Val::Null) => return Ok(Ordering::Equal),
            (Val::Null, _) => return Ok(Ordering::Less),
            (_, Val::Null) => return Ok(Ordering::Greater),
            (Val::Scalar(Scalar::String(x)), Val::Scalar(Scalar::String(y))) => {
                return self.order_texts(x, y, span);
            }
            (Val::Scalar(Scalar::Bool(x)), Val::Scalar(Scalar::Bool(y))) => return Ok(x.cmp(y)),
            (Val::Scalar(x), Val::Scalar(y)) => {
                if let Some(order) = compare(x, y) {
                    return Ok(order);
                }
            }
            (Val::Object(x), Val::Object(y)) if x.address == y.address => {
                return Ok(Ordering::Equal);
            }
            _ => {}
        }
        if let (Some(x), Some(y)) = (self.ticks(&one, span)?, self.ticks(&other, span)?) {
            return Ok(x.cmp(&y));
        }
        let is_pair = |it: &Val| {
            let ty = it.exact_type().cloned().unwrap_or(Type::OBJECT);
            self.types.tuple_elements(&ty).is_some()
        };
        if is_pair(&one)
            && is_pair(&other)
            && let (Some(x), Some(y)) = (self.parts(&one, span)?, self.parts(&other, span)?)
        {
            let types = self.types_of_parts(&one);
            for (index, (x, y)) in x.iter().zip(&y).enumerate() {
                match self.order_default(x, y, types.get(index), depth + 1, span)? {
                    Ordering::Equal => {}
                    order => return Ok(order),
                }
            }
            return Ok(Ordering::Equal);
        }
        self.order_in_program(one, other, declared, span)
    }

    fn order_in_program(
        &mut self,
        a: Val,
        b: Val,
        declared: Option<&Type>,
        span: Span,
    ) -> Result<Ordering> {
        let ty = self.exact_type(&a).unwrap_or(Type::OBJECT);
        let all = self.types.interfaces(&ty).unwrap_or_default();
        let comparable = all
            .iter()
            .any(|it| self.types.is_named(it, "System", "IComparable"));
        // Of another type only the method for all objects can say something: that they do not compare.
        let same = self.exact_type(&b).as_ref() == Some(&ty);
        let generic = match declared {
            Some(declared) => self.of_itself(declared, "IComparable`1"),
            None => {
                let is = |it: &Rc<crate::types::Named>| {
                    self.types.is_named(it, "System", "IComparable`1") && (same || !comparable)
                };
                all.iter().find(|it| is(it)).cloned()
            }
        };
        let interface = match generic {
            Some(generic) => Some(generic),
            None if comparable => self.types.core_named("System", "IComparable"),
            None => None,
        };
        let Some(interface) = interface else {
            let told = "At least one object must implement IComparable.";
            return Err(Fail::thrown(span, "System.ArgumentException", Some(told.into())).into());
        };
        let methods = self.types.methods(&interface, Some("CompareTo"));
        let method = methods.unwrap_or_default().into_iter().next();
        let target = (self.boxed(a, &ty), Type::Named(interface));
        let order = self.in_program(method, Some(target), vec![b], "CompareTo", span)?;
        Ok(integer(&order).unwrap_or(0).cmp(&0))
    }

    /// How two texts sort: as the program's culture has it, which plain letters and digits tell if its language has no rules of
    /// its own for them, or by their numbers where the program has no cultures.
    fn order_texts(&mut self, a: &[u16], b: &[u16], span: Span) -> Result<Ordering> {
        if a == b {
            return Ok(Ordering::Equal);
        }
        let by_numbers = a.cmp(b);
        let collated = collate(a, b).filter(|_| self.has_plain_culture(span));
        if collated == Some(by_numbers) || self.is_invariant(span)? {
            return Ok(by_numbers);
        }
        if let Some(order) = collated {
            return Ok(order);
        }
        let string = self.types.core_named("System", "String");
        let methods = string.and_then(|it| self.types.methods(&it, Some("Compare")).ok());
        let method = methods
            .unwrap_or_default()
            .into_iter()
            .find(|it| it.parameters.len() == 2);
        let both = vec![Val::units(a.to_vec()), Val::units(b.to_vec())];
        let order = self.in_program(method, None, both, "string.Compare", span)?;
        Ok(integer(&order).unwrap_or(0).cmp(&0))
    }

    /// Whether the program runs without cultures (`InvariantGlobalization`), where texts compare by their numbers.
    pub(super) fn is_invariant(&mut self, span: Span) -> Result<bool> {
        if let Some(known) = self.journal.fact(Fact::Invariant) {
            return Ok(known);
        }
        let mode = self
            .types
            .core_named("System.Globalization", "GlobalizationMode");
        let settings = mode.and_then(|it| self.types.nested(&it, "Settings", 0).ok().flatten());
        let settings = settings.as_ref().and_then(Type::as_named);
        let mut invariant = false;
        if let Some(settings) = settings {
            let fields = self.types.fields(settings);
            let field = fields.ok().and_then(|all| {
                let named = |it: &&crate::types::Field| it.name.contains("<Invariant>");
                all.iter().find(named).cloned()
            });
            if let Some(field) = field {
                let field = FieldRef {
                    declared_in: Rc::clone(settings),
                    name: field.name.clone(),
                    token: field.token,
                    ty: field.ty.clone(),
                };
                // A program that has not compared texts yet has not asked itself either.
                let value = self.static_field(&field, span)?;
                invariant = matches!(value, Val::Scalar(Scalar::Bool(true)));
            }
        }
        self.journal.found(Fact::Invariant, invariant);
        Ok(invariant)
    }

    /// Sorts by keys, keeping the order of what is equal: all keys of a level are computed before those of the next.
    pub(super) fn ordered(
        &mut self,
        items: Vec<Val>,
        levels: &[(Val, Val)],
        descending: &[bool],
        span: Span,
    ) -> Result<Vec<Val>> {
        let mut keys = Vec::with_capacity(levels.len());
        for (lambda, _) in levels {
            let mut level = Vec::with_capacity(items.len());
            for item in &items {
                level.push(self.key_of(lambda, item, span)?);
            }
            keys.push(level);
        }
        let order = self.merged((0..items.len()).collect(), &mut |this, a, b| {
            for ((level, (_, comparer)), descending) in keys.iter().zip(levels).zip(descending) {
                let (Some(a), Some(b)) = (level.get(a), level.get(b)) else {
                    continue;
                };
                let order = this.compare_by(a, b, comparer, span);
                match order.map_err(|why| not_compared(why, span))? {
                    Ordering::Equal => {}
                    order if *descending => return Ok(order.reverse()),
                    order => return Ok(order),
                }
            }
            Ok(Ordering::Equal)
        })?;
        Ok(order
            .into_iter()
            .filter_map(|it| items.get(it).cloned())
            .collect())
    }

    /// A stable sort with a comparison that may fail, and that need not be an order at all.
    pub(super) fn merged(
        &mut self,
        mut all: Vec<usize>,
        compare: &mut dyn FnMut(&mut Self, usize, usize) -> Result<Ordering>,
    ) -> Result<Vec<usize>> {
        if all.len() < 2 {
            return Ok(all);
        }
        let right = all.split_off(all.len() / 2);
        let left = self.merged(all, compare)?;
        let right = self.merged(right, compare)?;
        let mut merged = Vec::with_capacity(left.len() + right.len());
        let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
        while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
            let (a, b) = (*a, *b);
            if compare(self, a, b)? == Ordering::Greater {
                merged.push(b);
                right.next();
            } else {
                merged.push(a);
                left.next();
            }
        }
        merged.extend(left);
        merged.extend(right);
        Ok(merged)
    }
}

/// Equality of two numbers or texts of one type, as `Equals` has it: what is no number equals itself.
pub(super) fn scalars_equal(a: &Scalar, b: &Scalar) -> bool {
    let same = matches!(
        scalar::binary(BinaryOp::Equal, a, b, false),
        Some(Ok(Scalar::Bool(true)))
    );
    same || is_nan(a) && is_nan(b)
}

fn is_nan(value: &Scalar) -> bool {
    match value {
        Scalar::Double(value) => value.is_nan(),
        Scalar::Float(value) => value.is_nan(),
        value if value.kind() == Kind::Half => !scalars_same(value),
        _ => false,
    }
}

/// Whether a number equals itself by its operator.
fn scalars_same(value: &Scalar) -> bool {
    matches!(
        scalar::binary(BinaryOp::Equal, value, value, false),
        Some(Ok(Scalar::Bool(true)))
    )
}

/// What a sort throws where a comparison did.
pub(super) fn not_compared(why: super::Interrupt, span: Span) -> super::Interrupt {
    match why {
        super::Interrupt::Fail(fail) if fail.thrown.is_some() => {
            super::linq::invalid(span, "Failed to compare two elements in the array.")
        }
        other => other,
    }
}

/// How two strings sort in the invariant culture, where plain letters and digits tell it.
fn collate(a: &[u16], b: &[u16]) -> Option<Ordering> {
    let plain = |it: &[u16]| {
        it.iter()
            .all(|it| u8::try_from(*it).is_ok_and(|it| it.is_ascii_alphanumeric()))
    };
    if !plain(a) || !plain(b) {
        return None;
    }
    // Letters first without regard to case; digits come before letters; lower case before upper case.
    let fold = |it: &u16| (*it as u8).to_ascii_lowercase();
    let folded = a.iter().map(fold).cmp(b.iter().map(fold));
    if folded != Ordering::Equal {
        return Some(folded);
    }
    Some(b.cmp(a))
}
