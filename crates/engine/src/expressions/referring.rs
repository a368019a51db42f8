//! Arguments that are passed by reference: the method gets the address of the place itself.
//!
//! The library passes the address of a struct where it lies, but of numbers and references it passes the address of a copy,
//! which is written back at the end and is gone then. So all are passed as structs: an object of the runtime's own that has a
//! pointer to a struct is made to lead to the place, and the library gives a struct there, whatever it really is.
//!
//! What has no address (a variable in a register, a value that exists only here) is passed as the element of an array or in a
//! box that is made for it, and copied back afterwards.

use std::time::Instant;

use syntax::Span;

use super::effecting::Asked;
use super::error::{Fail, Result};
use super::passing::{Spot, SpotRoot};
use super::plan::FieldRef;
use crate::calls::{Argument, CallError, CallSite, Kept};
use crate::engine::Engine;
use crate::types::Type;
use crate::values::{Held, Unreadable};

/// Structs of the runtime's own with a pointer to one of the same kind, so that the pointer's target is loaded when they are.
const POINTERS: [(&str, &str, &str); 2] = [
    ("System.Threading", "ThreadBlockingInfo", "_next"),
    (
        "System.Runtime.CompilerServices",
        "MethodTable",
        "ParentMethodTable",
    ),
];

/// An argument that is passed by reference.
pub(super) struct Referring {
    /// Which one.
    pub(super) index: usize,
    ty: Type,
    /// Whether a call leads to its place.
    pub(super) is_led: bool,
    /// Its place, if that has an address.
    at: Option<Spot>,
    /// What is passed instead of the place.
    pub(super) copy: Option<Held>,
    /// What leads there.
    pointer: Option<Held>,
}

impl Engine<'_> {
    /// Makes what is needed to pass arguments by reference; afterwards nothing has to run any more for them.
    pub(super) fn referring(
        &mut self,
        references: Vec<(usize, Type, Option<Spot>)>,
        ready: &mut [Argument],
        (site, deadline): (&CallSite, Instant),
        root: &dyn Fn(&mut Self, Asked<'_>) -> Option<cordebug::value::Value>,
        span: Span,
    ) -> Result<Vec<Referring>> {
        let mut all = Vec::with_capacity(references.len());
        for (index, ty, spot) in references {
            let Some(argument) = ready.get_mut(index) else {
                continue;
            };
            let pointer = self
                .pointer(all.len(), site)
                .map_err(|error| Fail::of_call(span, None, error))?;
            let is_struct = ty.is_value() == Some(true) && ty.as_named().is_some();
            let at = match spot {
                // What a call leads to is found only once, when the method is about to be called.
                Some(
                    spot @ Spot {
                        root: SpotRoot::Led(_),
                        ..
                    },
                ) => {
                    if pointer.is_none() && !is_struct {
                        let told = "what a member returns by reference cannot be passed on: the runtime has no pointer that could lead there";
                        return Err(Fail::new(span, told));
                    }
                    Some(spot)
                }
                Some(mut spot) if pointer.is_some() || is_struct => {
                    let place = self.at_spot(&mut spot, site, deadline, root, span).ok();
                    let address = place.and_then(|it| it.address().ok());
                    address.filter(|it| *it != 0).map(|_| spot)
                }
                _ => None,
            };
            let copy = match &at {
                Some(_) => None,
                None => Some(self.home_of(argument, &ty, site, span)?),
            };
            *argument = Argument::Null;
            let led = at.as_ref().map(|it| &it.root);
            all.push(Referring {
                is_led: matches!(led, Some(SpotRoot::Led(_))),
                index,
                ty,
                at,
                copy,
                pointer,
            });
        }
        Ok(all)
    }

    /// The argument as it is passed: a struct where the place is. Nothing may run between this and the call.
    pub(super) fn by_reference(
        &mut self,
        referred: &mut Referring,
        (site, deadline): (&CallSite, Instant),
        root: &dyn Fn(&mut Self, Asked<'_>) -> Option<cordebug::value::Value>,
        span: Span,
    ) -> Result<Argument> {
        let told = |error: cordebug::Error| {
            Fail::new(span, format!("it cannot be passed by reference: {error}"))
        };
        let ty = referred.ty.clone();
        let place = match (&mut referred.at, &referred.copy) {
            (Some(spot), _) => self.at_spot(spot, site, deadline, root, span)?,
            (None, Some(copy)) => copy.place_inside().map_err(told)?,
            (None, None) => return Err(Fail::new(span, "it cannot be passed by reference")),
        };
        let is_struct = place.element_type().map_err(told)? == cordebug::types::element::VALUETYPE;
        let address = place.address().map_err(told)?;
        match &referred.pointer {
            Some(pointer) if !is_struct && address != 0 => {
                let led = self.lead_to(pointer, address, span)?;
                Ok(Argument::Place(led, ty))
            }
            _ => Ok(Argument::Place(place, ty)),
        }
    }

    /// Refuses what a call returned by reference if it leads into a copy of an argument: what is put there would be lost.
    pub(super) fn leads_elsewhere(
        &mut self,
        kept: &Kept,
        referring: &[Referring],
        span: Span,
    ) -> Result<()> {
        let Some((_, address)) = &kept.address else {
            return Ok(());
        };
        let target = self
            .stopped_target()
            .map_err(|error| Fail::new(span, error.message))?;
        let reader = target.reader();
        for referred in referring {
            let inside = referred.copy.as_ref().map(Held::place_inside);
            let Some(Ok(place)) = inside else { continue };
            let from = place.address().unwrap_or(0);
            let size = u64::from(reader.size_of(&referred.ty).unwrap_or(8));
            if (from..from + size).contains(address) {
                let told = "it leads to an argument that could only be passed as a copy, because it has no address in the program: what is put there would be lost";
                return Err(Fail::new(span, told).hint("assign to the argument itself"));
            }
        }
        Ok(())
    }

    /// A place as the library takes it, of which only the address is known; `at` tells that when nothing runs any more.
    pub(super) fn led_place(
        &mut self,
        site: &CallSite,
        at: impl FnOnce(&mut Self) -> Option<u64>,
    ) -> Option<cordebug::value::Value> {
        let pointer = self.pointer(0, site).ok()??;
        let address = at(self)?;
        self.lead_to(&pointer, address, Span::empty(0)).ok()
    }

    /// One of the objects that can be made to lead anywhere; `None` if the runtime has none that is known.
    fn pointer(&mut self, number: usize, site: &CallSite) -> Result<Option<Held>, CallError> {
        let refused = |error: crate::api::Error| CallError::Refused(error.message);
        let target = self.stopped_target().map_err(refused)?;
        if let Some(known) = target.pointers.get(number) {
            return Ok(Some(known.clone()));
        }
        let types = target.types();
        let mut kinds = POINTERS.iter();
        let Some(named) = kinds.find_map(|(space, name, _)| types.core_named(space, name)) else {
            return Ok(None);
        };
        let made = self.new_zeroed(site, &Type::Named(named))?;
        let target = self.stopped_target().map_err(refused)?;
        let reader = target.reader();
        let Some(object) = reader.kept_object(&made)? else {
            return Ok(None);
        };
        let held = reader.hold(&object)?;
        target.pointers.push(held.clone());
        Ok(Some(held))
    }

    /// The struct that lies at an address according to a pointer that is made to lead there.
    fn lead_to(
        &mut self,
        pointer: &Held,
        address: u64,
        span: Span,
    ) -> Result<cordebug::value::Value> {
        let told = |error: cordebug::Error| {
            Fail::new(span, format!("it cannot be passed by reference: {error}"))
        };
        let lost = || Fail::new(span, "it cannot be passed by reference");
        let target = self
            .stopped_target()
            .map_err(|error| Fail::new(span, error.message))?;
        let reader = target.reader();
        let unreadable = |why: Unreadable| Fail::new(span, why.to_string());
        let object = reader.held(pointer).map_err(unreadable)?;
        let inside = reader.unboxed(&object).ok_or_else(lost)?;
        let members = reader.struct_members(&inside.ty).map_err(unreadable)?;
        let is_pointer = |name: &str| POINTERS.iter().any(|(.., field)| *field == name);
        let member = members.iter().find(|it| is_pointer(&it.field.name));
        let member = member.ok_or_else(lost)?;
        let place = reader.struct_member(&inside, member).map_err(unreadable)?;
        let written = reader.write(&place, &address.to_le_bytes());
        written.map_err(unreadable)?;
        let field = FieldRef {
            declared_in: member.declared_in.clone(),
            name: member.field.name.clone(),
            token: member.field.token,
            ty: member.field.ty.clone(),
        };
        let inner = pointer.inner().map_err(told)?;
        let leads = self.runtime_field(&inner, &field, span)?;
        leads.dereference().map_err(told)?.ok_or_else(lost)
    }
}
