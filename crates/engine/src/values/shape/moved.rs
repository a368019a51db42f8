//! Variables that the compiler moved into fields: of closures, state machines, queries, and of the object itself.
//!
//! Each is told once, however many ways lead to the object that holds it, and only where it is in scope.

use std::collections::HashSet;
use std::rc::Rc;

use metadata::csharp::{GeneratedKind, GeneratedName};
use metadata::pdb::HoistedScope;
use metadata::tables::Table;
use metadata::{IlOffset, Token};

use super::super::Result;
use super::super::assigned::shared::Sharing;
use super::super::scope::VariableKind;
use super::{Collector, Declared, Home, MAX_CLOSURES, generated_kind};
use crate::stepping::il;
use crate::types::{Field, Generics, Type, TypeNotes};

/// Whether a name is that of the object that carries the variables of a query from clause to clause.
pub(super) fn is_of_query(name: &str) -> bool {
    name.starts_with("<>h__TransparentIdentifier")
}

/// Where hoisted locals are in scope, and where the code of the frame stands among that.
struct Hoisted {
    scopes: Vec<HoistedScope>,
    stands: Stands,
}

enum Stands {
    /// In the code that the scopes are of.
    At(IlOffset),
    /// In a `finally` of an iterator, which is a method of its own, called from these places.
    CalledFrom(Vec<IlOffset>),
}

impl Hoisted {
    fn has(&self, slot: Option<usize>) -> bool {
        let Some(slot) = slot.filter(|_| !self.scopes.is_empty()) else {
            // Without scopes everything is told rather than nothing.
            return true;
        };
        let scope = self.scopes.get(slot).filter(|it| it.start < it.end);
        match (&self.stands, scope) {
            (Stands::At(offset), scope) => scope.is_some_and(|it| it.contains(*offset)),
            // One that the caller's code does not have is of this.
            (Stands::CalledFrom(_), None) => true,
            (Stands::CalledFrom(places), Some(scope)) => {
                places.iter().all(|it| scope.contains(*it))
            }
        }
    }

    /// Where the scope of a local begins; 0 if it has none.
    fn begins(&self, name: &str) -> u32 {
        let slot = GeneratedName::parse(name).and_then(|it| it.hoisted_slot());
        let scope = slot.and_then(|it| self.scopes.get(it));
        scope.map_or(0, |it| it.start.0)
    }

    /// Where the code stands, if the compiler says of a local that it is in scope nowhere.
    fn unscoped(&self, slot: Option<usize>) -> Option<IlOffset> {
        let scope = self.scopes.get(slot?);
        match self.stands {
            Stands::At(offset) if scope.is_none_or(|it| it.start == it.end) => Some(offset),
            _ => None,
        }
    }

    /// The same for a closure, which older compilers gave no scope.
    fn has_closure(&self, slot: Option<usize>) -> bool {
        let scope = slot.and_then(|slot| self.scopes.get(slot));
        scope.is_none_or(|it| it.start == it.end) || self.has(slot)
    }
}

impl Collector<'_, '_> {
    /// The fields of a closure are the variables it captured; those of the closures it refers to come before.
    pub(super) fn closure(&mut self, closure: &Rc<Home>, ty: &Type, depth: u32) {
        if depth >= MAX_CLOSURES {
            return;
        }
        let fields = self.fields(ty);
        let inside = |field: &Field| Home::Field(closure.clone(), ty.clone(), field.clone());
        let is_outer = |name: &str| generated_kind(name) == Some(GeneratedKind::ClosureLocal);
        for outer in fields.iter().filter(|it| is_outer(&it.name)) {
            self.closure(&Rc::new(inside(outer)), &outer.ty, depth + 1);
        }
        for field in &fields {
            // Closures inside each other all lead to the outer ones.
            if self.is_told(field) {
                continue;
            }
            if is_of_query(&field.name) {
                let home = Rc::new(inside(field));
                self.query_variables(&home, &field.ty, VariableKind::Captured, depth);
                continue;
            }
            match generated_kind(&field.name) {
                None => {
                    let notes = self.notes(field.token);
                    let (kind, ty) = (VariableKind::Captured, field.ty.clone());
                    self.add(&field.name, kind, ty, notes, inside(field));
                }
                Some(GeneratedKind::This) => self.captured_this(&field.ty, inside(field), depth),
                // A pattern variable of a `switch` that a lambda captured.
                Some(GeneratedKind::HoistedLocal) => {
                    let name = GeneratedName::parse(&field.name);
                    if let Some(name) = name.filter(|it| !it.text.is_empty()) {
                        let notes = self.notes(field.token);
                        let (kind, ty) = (VariableKind::Captured, field.ty.clone());
                        self.add(name.text, kind, ty, notes, inside(field));
                    }
                }
                // The delegates of a closure that captured nothing, and the like.
                Some(_) => {}
            }
        }
    }

    fn is_told(&self, field: &Field) -> bool {
        let same =
            |it: &Declared| matches!(&it.home, Home::Field(.., of) if of.token == field.token);
        self.variables
            .iter()
            .any(|it| it.kind == VariableKind::Captured && same(it))
    }

    fn captured_this(&mut self, ty: &Type, home: Home, depth: u32) {
        // A lambda in an async method: its `this` is the state machine's, or a closure around it.
        if self.is_generated(ty, GeneratedKind::Closure) {
            self.closure(&Rc::new(home), ty, depth + 1);
            return;
        }
        let notes = TypeNotes::default();
        self.add("this", VariableKind::This, ty.clone(), notes, home);
    }

    /// The variables of a query: members of an object that each clause hands to the next, inside of which lies the one
    /// that the clause before made.
    pub(super) fn query_variables(
        &mut self,
        carrier: &Rc<Home>,
        ty: &Type,
        kind: VariableKind,
        depth: u32,
    ) {
        if depth >= MAX_CLOSURES {
            return;
        }
        for field in self.fields(ty) {
            let Some(name) = GeneratedName::parse(&field.name) else {
                continue;
            };
            let home = Home::Field(carrier.clone(), ty.clone(), field.clone());
            if is_of_query(name.text) {
                self.query_variables(&Rc::new(home), &field.ty, kind, depth + 1);
            } else if name.kind == GeneratedKind::Other('i') {
                let ty = field.ty.clone();
                self.add(name.text, kind, ty, TypeNotes::default(), home);
            }
        }
    }

    /// The parameters of the primary constructor that the methods of the type use: fields of the user's `this`.
    pub(super) fn primary_parameters(&mut self) -> Result<()> {
        let method = self.metadata.method(self.place.method)?;
        let mut all = self.variables.iter();
        let this = all.find(|it| it.kind == VariableKind::This);
        // A constructor has its own parameters.
        let Some(this) = this.filter(|_| method.name().is_ok_and(|it| it != ".ctor")) else {
            return Ok(());
        };
        let (ty, home) = (this.ty.clone(), Rc::new(this.home.clone()));
        let mut others = std::mem::take(&mut self.variables);
        let own = self.parameters_of_user();
        for field in self.fields(&ty) {
            let Some(name) = GeneratedName::parse(&field.name) else {
                continue;
            };
            if name.kind == GeneratedKind::PrimaryParameter && !name.text.is_empty() {
                // Some compilers give a state machine fields for them that it never uses.
                if own.as_ref().is_some_and(|own| !own.contains(name.text)) {
                    let is_argument = |it: &Declared| it.kind == VariableKind::Argument;
                    others.retain(|it| !(is_argument(it) && *it.name == *name.text));
                }
                let notes = self.notes(field.token);
                let (kind, of) = (VariableKind::Captured, field.ty.clone());
                let home = Home::Field(home.clone(), ty.clone(), field.clone());
                self.add(name.text, kind, of, notes, home);
            }
        }
        // They come first, since parameters and locals of the same name hide them.
        self.variables.extend(others);
        Ok(())
    }

    /// The names of the parameters of the method that a state machine runs for; `None` if the code is of none.
    fn parameters_of_user(&self) -> Option<HashSet<String>> {
        let kickoff = self.pdb?.kickoff_method(self.place.method).ok()??;
        let parameters = self.metadata.method(kickoff).ok()?.parameters().ok()?;
        let names = parameters.into_iter().filter_map(|it| it.name);
        Some(names.map(|it| it.to_string()).collect())
    }

    /// The fields of a state machine: parameters under their own names, locals that are in scope here, closures.
    pub(super) fn state_machine(&mut self, machine: &Rc<Home>, ty: &Type) {
        let hoisted = self.hoisted();
        let mut sharing = match hoisted.stands {
            Stands::At(_) => Sharing::of(self.types, self.place).ok().flatten(),
            Stands::CalledFrom(_) => None,
        };
        let place = self.place;
        let mut is_unnamed = |field: &Field| {
            let sharing = sharing.as_mut().map(|it| it.is_unnamed(place, field));
            sharing.is_some_and(|it| it.unwrap_or(false))
        };
        let mut arguments = Vec::new();
        for field in self.fields(ty) {
            self.begins = hoisted.begins(&field.name);
            let home = Home::Field(machine.clone(), ty.clone(), field.clone());
            let (name, kind) = match GeneratedName::parse(&field.name) {
                None => (field.name.to_string(), VariableKind::Argument),
                Some(name) => match name.kind {
                    GeneratedKind::This => {
                        self.captured_this(&field.ty, home, 0);
                        continue;
                    }
                    GeneratedKind::ClosureLocal => {
                        if hoisted.has_closure(name.hoisted_slot()) {
                            self.closure(&Rc::new(home), &field.ty, 0);
                        }
                        continue;
                    }
                    GeneratedKind::HoistedLocal if !name.text.is_empty() => {
                        if is_unnamed(&field) {
                            self.unnamed(&field, home);
                            continue;
                        }
                        let slot = name.hoisted_slot();
                        let is_of_filter = || {
                            let offset = hoisted.unscoped(slot);
                            offset.is_some_and(|it| self.is_of_filter_at(&field, it))
                        };
                        if !hoisted.has(slot) && !is_of_filter() {
                            continue;
                        }
                        (name.text.to_owned(), VariableKind::Local)
                    }
                    GeneratedKind::ReusableLocal => {
                        if is_unnamed(&field) {
                            self.unnamed(&field, home);
                        }
                        continue;
                    }
                    _ => continue,
                },
            };
            let mut notes = self.notes(field.token);
            // The compiler does not say of a field that it is a `dynamic` local, only that the code uses such.
            if kind == VariableKind::Local && field.ty == Type::OBJECT && self.uses_dynamic() {
                notes.dynamic = vec![true];
            }
            self.add(&name, kind, field.ty, notes, home);
            if kind == VariableKind::Argument {
                arguments.extend(self.variables.pop());
            }
        }
        self.begins = 0;
        let captured = std::mem::take(&mut self.variables);
        self.variables = arguments;
        let is_told = |name: &str| captured.iter().any(|it| *it.name == *name);
        if self.unused_arguments(is_told).is_err() {
            tracing::debug!("the method of a state machine cannot be read");
        }
        // Arguments come first, so that a captured one takes the place of its own copy.
        self.variables.extend(captured);
    }

    /// A variable of which only its field is known.
    fn unnamed(&mut self, field: &Field, home: Home) {
        let (kind, ty) = (VariableKind::Local, field.ty.clone());
        self.add(&field.name, kind, ty, self.notes(field.token), home);
        self.unnamed.extend(self.variables.pop());
    }

    /// The arguments, and `this`, of the method that a state machine runs for which it has no field for: nothing uses them.
    fn unused_arguments(&mut self, is_captured: impl Fn(&str) -> bool) -> Result<()> {
        let kickoff = self.pdb.map(|it| it.kickoff_method(self.place.method));
        let Some(kickoff) = kickoff.transpose()?.flatten() else {
            return Ok(());
        };
        let method = self.metadata.method(kickoff)?;
        let user = self.place.user_type(self.types)?;
        let is_users = method.declaring_type()? == user.token;
        if method.signature()?.convention.has_this() && is_users && !is_captured("this") {
            let ty = self
                .types
                .construct(user.module, user.token, user.arguments.clone())?;
            let notes = TypeNotes::default();
            self.add("this", VariableKind::This, ty, notes, Home::Unused);
        }
        // The type parameters of the method have become the last ones of the state machine.
        let all = &self.place.declared_in.arguments;
        let generics = Generics {
            of_type: self.place.generics.of_type.clone(),
            of_method: all.get(user.arguments.len()..).unwrap_or_default().into(),
        };
        let parameters = method.parameters()?;
        for parameter in &parameters {
            let name = parameter.name.as_deref().unwrap_or_default();
            let is_told = self.variables.iter().any(|it| *it.name == *name);
            if name.is_empty() || is_told || is_captured(name) {
                continue;
            }
            let module = self.place.module;
            let ty = self.types.of_signature(module, &parameter.ty, &generics)?;
            let notes = parameter.token.map(|token| self.notes(token));
            let notes = notes.unwrap_or_default();
            self.add(name, VariableKind::Argument, ty, notes, Home::Unused);
        }
        // Optimising compilers make the fields in the order in which the code uses them.
        let place = |it: &Declared| {
            let is_it = |name: &str| *it.name == *name;
            let mut names = parameters.iter().map(|it| it.name.as_deref());
            names.position(|name| name.is_some_and(is_it))
        };
        self.variables.sort_by_cached_key(place);
        Ok(())
    }

    /// Whether the code binds operations at run time: it then reads call sites, which lie in types that the compiler made.
    fn uses_dynamic(&self) -> bool {
        const LOAD_STATIC: u8 = 0x7e;
        let Ok(module) = self.types.metadata(self.place.module) else {
            return false;
        };
        let metadata = module.metadata();
        let Ok(Some(body)) = module.body(self.place.method) else {
            return false;
        };
        let is_site = |token: Token| {
            // In generic code the site is one of a constructed type, and only its name tells what it is.
            if token.is(Table::MemberRef) {
                let member = metadata.member_ref(token);
                return member.is_ok_and(|it| it.name.starts_with("<>p__"));
            }
            let owner = metadata.field(token).and_then(|it| it.declaring_type());
            let owner = owner.and_then(|it| metadata.type_def(it));
            owner.is_ok_and(|it| it.name().is_ok_and(|it| it.starts_with("<>o__")))
        };
        let code = body.code;
        let mut at = 0;
        while let Some(instruction) = il::read(code, at) {
            if code.get(at) == Some(&LOAD_STATIC) {
                let token = code.get(at + 1..at + 5).and_then(|it| it.try_into().ok());
                if token.is_some_and(|it| is_site(Token(u32::from_le_bytes(it)))) {
                    return true;
                }
            }
            at = instruction.next;
        }
        false
    }

    fn hoisted(&self) -> Hoisted {
        let place = self.place;
        let scopes = |of: Token| {
            let scopes = self.pdb.and_then(|pdb| pdb.hoisted_scopes(of).ok());
            scopes.unwrap_or_default()
        };
        match self.calls_of_finally() {
            Some((caller, places)) => Hoisted {
                scopes: scopes(caller),
                stands: Stands::CalledFrom(places),
            },
            None => Hoisted {
                scopes: scopes(place.method),
                stands: Stands::At(place.offset),
            },
        }
    }

    /// For a `finally` of an iterator, `<>m__Finally1`: the code that calls it, and where.
    fn calls_of_finally(&self) -> Option<(Token, Vec<IlOffset>)> {
        const CALL: u8 = 0x28;
        let method = self.metadata.method(self.place.method).ok()?;
        let name = method.name().ok()?;
        let generated = GeneratedName::parse(&name)?;
        if generated.kind != GeneratedKind::Other('m') {
            return None;
        }
        let machine = self.place.declared_in.token;
        let mut methods = self.metadata.type_def(machine).ok()?.methods().flatten();
        let caller = methods.find(|it| it.name().is_ok_and(|it| it == "MoveNext"))?;
        let module = self.types.metadata(self.place.module).ok()?;
        let code = module.body(caller.token()).ok()??.code;
        let mut places = Vec::new();
        let mut at = 0;
        while at < code.len() {
            let next = il::read(code, at)?.next;
            let operand = code.get(at + 1..).and_then(|it| it.first_chunk());
            if code.get(at) == Some(&CALL)
                && let Some(token) = operand.map(|it| Token(u32::from_le_bytes(*it)))
            {
                let is_it = if token.is(Table::MemberRef) {
                    // A generic type names its own methods in its instantiation.
                    let called = self.metadata.member_ref(token);
                    called.is_ok_and(|it| it.name == name)
                } else {
                    token == self.place.method
                };
                places.extend(is_it.then_some(IlOffset(at as u32)));
            }
            at = next;
        }
        Some((caller.token(), places))
    }
}
