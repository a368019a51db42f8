//! Which method runs when a virtual one, or one of an interface, is called on an object (ECMA-335 II.12.2).
//!
//! A method is told by its slot and not by its name: a type may implement two interfaces whose members have one name, and
//! a member that is declared anew overrides nothing. Where the rules leave a choice that only the runtime makes, nothing is told.

use std::rc::Rc;

use metadata::model::Visibility;
use metadata::tables::Table;
use metadata::{Token, signature};

use super::{Kind, Method, Named, Type, Types};

impl Types<'_> {
    /// The method that runs when one is called on an object of a type; `None` if that cannot be told.
    pub(crate) fn implementation(self, exact: &Type, method: &Method) -> Option<Rc<Method>> {
        let key = (exact.clone(), method.declared_in.clone(), method.token);
        if let Some(known) = self.cache.implementations.get(&key) {
            return known;
        }
        let found = self.dispatched(exact, method).map(Rc::new);
        self.cache.implementations.insert(key, found.clone());
        found
    }

    fn dispatched(self, exact: &Type, method: &Method) -> Option<Method> {
        // As it is declared: one that is called may have the arguments of the call in it.
        let declared = self.method(&method.declared_in, method.token).ok()?;
        if !declared.flags.is_virtual() {
            return Some(declared);
        }
        let levels = self.ancestry(exact).ok()?;
        if declared.declared_in.kind != Kind::Interface {
            let of = &declared.declared_in;
            let at = levels.iter().position(|it| is_same(it, of))?;
            return self.overriding(levels.get(..at)?, declared);
        }
        let interfaces = self.interfaces(exact).ok()?;
        let interface = meant(&interfaces, &declared.declared_in)?;
        let wanted = self.method(interface, declared.token).ok()?;
        match self.implementing(&levels, &wanted) {
            Some((at, body)) => self.overriding(levels.get(..at)?, body),
            None => self.default_of(&interfaces, wanted),
        }
    }

    /// The method that is in a slot in the end, given the one that a base type has there and the types derived from that.
    fn overriding(self, derived: &[Rc<Named>], first: Method) -> Option<Method> {
        let mut slot = vec![first.clone()];
        let mut current = first;
        // Another slot of the same name and signature is in front of it.
        let mut is_hidden = false;
        for level in derived.iter().rev() {
            let explicit = slot.iter().find_map(|it| self.explicit(level, it));
            let found = match explicit {
                Some(body) => {
                    is_hidden = false;
                    Some(body)
                }
                None => {
                    let same = self.same_in(level, &current)?;
                    is_hidden |= same.as_ref().is_some_and(|it| it.flags.is_new_slot());
                    same.filter(|_| !is_hidden)
                }
            };
            if let Some(body) = found {
                slot.push(body.clone());
                current = body;
            }
        }
        Some(current)
    }

    /// The method of a class that implements one of an interface, and the level that has it: the nearest type that says so
    /// of it, or a public method of the same signature in the nearest type that names the interface, or in a base of that.
    fn implementing(self, levels: &[Rc<Named>], wanted: &Method) -> Option<(usize, Method)> {
        let mut is_named = false;
        for (at, level) in levels.iter().enumerate() {
            if let Some(body) = self.explicit(level, wanted) {
                return Some((at, body));
            }
            is_named = is_named || self.names_interface(level, &wanted.declared_in);
            if is_named
                && let Some(body) = self.same_in(level, wanted)?
                && body.flags.visibility() == Visibility::Public
            {
                return Some((at, body));
            }
        }
        None
    }

    /// The code that the interfaces themselves have for a method: that of the one which extends all others that have some.
    fn default_of(self, interfaces: &[Rc<Named>], wanted: Method) -> Option<Method> {
        let bodies = interfaces
            .iter()
            .filter_map(|it| self.explicit(it, &wanted));
        let mut bodies: Vec<Method> = bodies.collect();
        bodies.push(wanted);
        let extends = |one: &Method, other: &Method| {
            is_same(&one.declared_in, &other.declared_in)
                || self
                    .interfaces(&Type::Named(one.declared_in.clone()))
                    .is_ok_and(|all| all.iter().any(|it| is_same(it, &other.declared_in)))
        };
        let mut most = bodies
            .iter()
            .filter(|one| bodies.iter().all(|other| extends(one, other)));
        most.next().filter(|it| !it.flags.is_abstract()).cloned()
    }

    /// The method that a type names as what stands for another.
    fn explicit(self, level: &Rc<Named>, wanted: &Method) -> Option<Method> {
        let rows = self.definition(level).ok()?.method_impls();
        rows.flatten().find_map(|(body, declaration)| {
            let declared = self.referred(level, declaration, Some(&wanted.name))?;
            let is_wanted = declared.token == wanted.token
                && is_same(&declared.declared_in, &wanted.declared_in);
            is_wanted
                .then(|| self.referred(level, body, None))
                .flatten()
        })
    }

    /// The virtual method of a type with the name and the signature of another.
    fn same_in(self, level: &Rc<Named>, wanted: &Method) -> Option<Option<Method>> {
        let methods = self.methods(level, Some(&wanted.name)).ok()?;
        let mut virtuals = methods.into_iter().filter(|it| it.flags.is_virtual());
        Some(virtuals.find(|it| it.has_signature_of(wanted)))
    }

    fn names_interface(self, level: &Rc<Named>, wanted: &Named) -> bool {
        let Ok(definition) = self.definition(level) else {
            return false;
        };
        definition.interfaces().flatten().any(|it| {
            let interface = self.of_token(level.module, it, &level.generics());
            matches!(interface, Ok(Type::Named(it)) if is_same(&it, wanted))
        })
    }

    /// The method that a token of a type's module means, if it has that name.
    fn referred(self, level: &Rc<Named>, token: Token, name: Option<&str>) -> Option<Method> {
        let metadata = self.metadata(level.module).ok()?.metadata();
        let is_named = |it: &str| name.is_none_or(|name| name == it);
        if !token.is(Table::MemberRef) {
            let method = metadata.method(token).ok()?;
            if !is_named(&method.name().ok()?) {
                return None;
            }
            let owner = method.declaring_type().ok()?;
            let owner = match owner == level.token {
                true => level.clone(),
                false => self.open_named(level.module, owner).ok()?,
            };
            return self.method(&owner, token).ok();
        }
        let member = metadata.member_ref(token).ok()?;
        if !is_named(&member.name) {
            return None;
        }
        let owner = self.of_token(level.module, member.parent, &level.generics());
        let owner = self.named(&owner.ok()?)?;
        let generics = owner.generics();
        let spelled = |it: &signature::Type| self.of_signature(level.module, it, &generics).ok();
        let signature = signature::method_signature(member.signature).ok()?;
        let returns = spelled(&signature.return_type)?;
        let parameters = signature.parameters.iter().map(spelled);
        let parameters = parameters.collect::<Option<Vec<Type>>>()?;
        let all = self.methods(&owner, Some(&member.name)).ok()?;
        all.into_iter().find(|it| {
            it.arity == signature.generic_arity
                && it.returns == returns
                && it.parameters.iter().map(|it| &it.ty).eq(&parameters)
        })
    }
}

impl Method {
    fn has_signature_of(&self, other: &Method) -> bool {
        let types =
            |of: &Method| -> Vec<Type> { of.parameters.iter().map(|it| it.ty.clone()).collect() };
        self.arity == other.arity
            && self.flags.is_static() == other.flags.is_static()
            && self.returns == other.returns
            && types(self) == types(other)
    }
}

/// The interface of an object that a call through another construction of it means: that one itself, or the only one that
/// the object has, which then stands for it by variance.
fn meant<'i>(interfaces: &'i [Rc<Named>], called: &Named) -> Option<&'i Rc<Named>> {
    if let Some(exact) = interfaces.iter().find(|it| is_same(it, called)) {
        return Some(exact);
    }
    let is_other = |it: &&Rc<Named>| it.token == called.token && it.module == called.module;
    let mut others = interfaces.iter().filter(is_other);
    others.next().filter(|_| others.next().is_none())
}

fn is_same(one: &Named, other: &Named) -> bool {
    one.token == other.token && one.module == other.module && one.arguments == other.arguments
}
