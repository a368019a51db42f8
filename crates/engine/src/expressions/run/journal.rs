//! The journal that lets a run go on behind an effect: what was read and computed before is taken from it, not read again.

use std::rc::Rc;

use syntax::Span;

use super::effects::Effect;
use super::{Interrupt, Result, Runner, Val};
use crate::expressions::error::Fail;
use crate::types::Type;
use crate::values::{Held, Reader, Snapshot, Value};

/// What is known of an earlier run of the same plan.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    /// Whether anything is noted at all: only if the plan may have effects.
    pub(crate) active: bool,
    entries: Vec<Entry>,
    position: usize,
    /// Which entries are of effects that ran something or wrote.
    acted: Vec<usize>,
    /// Types whose class constructor was run, and what it threw. They have no entry of their own: a run that is made again
    /// reads the field where it asked for the constructor before.
    pub(super) constructed: Vec<(Type, Option<Box<Fail>>)>,
    /// Static fields of which the thread was given its own.
    pub(super) given: Vec<metadata::Token>,
}

#[derive(Debug, Clone)]
enum Entry {
    /// A value that stays what it is.
    Plain(Val),
    /// An object, wherever it is now.
    Held(Held),
    /// A struct as it was.
    Taken(Rc<Snapshot>),
    /// What was read since the program ran last, which is where it was.
    Seen(Val),
    /// To be read again: what exists only here.
    Again,
    /// The effect threw.
    Thrown(Box<Fail>),
    /// Something that was computed from several others, which are noted behind it, and where what comes next is noted; until
    /// that is known it is computed again.
    Computed(Option<(Box<Entry>, usize)>),
    /// What is in an array of one element or in a box, which was made to be passed by reference; nothing where the place
    /// itself was passed.
    Element(Option<Held>),
    /// Where a call that returns by reference leads, which is known until something runs again.
    Place(Value),
}

impl Journal {
    /// Starts from the first entry.
    pub(super) fn rewind(&mut self) {
        self.position = 0;
    }

    fn next(&mut self) -> Option<Entry> {
        let entry = self.entries.get(self.position).cloned();
        if entry.is_some() {
            self.position += 1;
        }
        entry
    }

    fn note(&mut self, entry: Entry) {
        self.entries.push(entry);
        self.position = self.entries.len();
    }

    /// Makes sure that what was read is found again after the program has run.
    pub(crate) fn secure(&mut self, reader: &Reader<'_>) {
        for entry in &mut self.entries {
            match entry {
                Entry::Seen(value) => *entry = lasting(value, reader),
                Entry::Computed(Some((inside, _))) => {
                    if let Entry::Seen(value) = &**inside {
                        **inside = lasting(value, reader);
                    }
                }
                _ => {}
            }
        }
    }

    /// Notes what an effect gave that is no object.
    pub(crate) fn done(&mut self, value: Val) {
        self.acted.push(self.entries.len());
        self.note(Entry::Plain(value));
    }

    /// Notes the object that an effect gave.
    pub(crate) fn done_held(&mut self, held: Held) {
        self.acted.push(self.entries.len());
        self.note(Entry::Held(held));
    }

    /// Notes where a call that returns by reference leads.
    pub(crate) fn done_place(&mut self, place: Value) {
        self.acted.push(self.entries.len());
        self.note(Entry::Place(place));
    }

    /// How far the run has come.
    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// Whether an effect was brought about between a point of the run and where it is now.
    pub(super) fn has_acted_since(&self, point: usize) -> bool {
        self.acted
            .iter()
            .any(|at| (point..self.position).contains(at))
    }

    /// Notes the array in which a call left something; nothing if it worked on the place itself.
    pub(crate) fn left(&mut self, array: Option<Held>) {
        self.note(Entry::Element(array));
    }

    /// Notes that a class constructor was run, and what it threw.
    pub(crate) fn constructed(&mut self, ty: Type, threw: Option<Box<Fail>>) {
        self.constructed.push((ty, threw));
    }

    /// Notes that the thread has its own of a static field.
    pub(crate) fn given_own(&mut self, field: metadata::Token) {
        self.given.push(field);
    }

    /// Notes that an effect threw.
    pub(crate) fn threw(&mut self, fail: Box<Fail>) {
        self.note(Entry::Thrown(fail));
    }
}

impl Runner<'_, '_> {
    /// Reads, or takes what was read before an effect.
    pub(super) fn journaled(
        &mut self,
        span: Span,
        read: impl FnOnce(&mut Self) -> Result<Val>,
    ) -> Result<Val> {
        if !self.journal.active {
            return read(self);
        }
        match self.journal.next() {
            Some(Entry::Plain(value) | Entry::Seen(value)) => return Ok(value),
            Some(Entry::Held(held)) => {
                let object = self
                    .reader
                    .held(&held)
                    .map_err(|why| self.unreadable(&why, span))?;
                return Ok(Val::Object(object));
            }
            Some(Entry::Taken(snapshot)) => {
                let value = self
                    .reader
                    .restored(&snapshot)
                    .map_err(|why| self.unreadable(&why, span))?;
                return Ok(Val::Struct(value));
            }
            Some(Entry::Again | Entry::Element(_) | Entry::Place(_) | Entry::Computed(_)) => {
                return read(self);
            }
            Some(Entry::Thrown(fail)) => return Err(Interrupt::Fail(fail)),
            None => {}
        }
        let value = read(self)?;
        let entry = Self::entry(&value);
        self.journal.note(entry);
        Ok(value)
    }

    fn entry(value: &Val) -> Entry {
        match value {
            Val::Null | Val::Scalar(_) => Entry::Plain(value.clone()),
            Val::Object(_) | Val::Struct(_) => Entry::Seen(value.clone()),
            _ => Entry::Again,
        }
    }

    /// Computes something that may read the program or have effects itself; once it is known it stays, whatever comes later.
    pub(super) fn noted(
        &mut self,
        compute: impl FnOnce(&mut Self) -> Result<Option<Val>>,
    ) -> Result<Option<Val>> {
        if !self.journal.active {
            return compute(self);
        }
        let at = self.journal.position;
        match self.journal.next() {
            Some(Entry::Computed(Some((entry, behind)))) => {
                self.journal.position = behind;
                return Ok(match *entry {
                    Entry::Plain(value) | Entry::Seen(value) => Some(value),
                    Entry::Held(held) => {
                        let whole = Span::empty(0);
                        let object = self.reader.held(&held);
                        Some(Val::Object(
                            object.map_err(|why| self.unreadable(&why, whole))?,
                        ))
                    }
                    Entry::Taken(snapshot) => {
                        let whole = Span::empty(0);
                        let value = self.reader.restored(&snapshot);
                        Some(Val::Struct(
                            value.map_err(|why| self.unreadable(&why, whole))?,
                        ))
                    }
                    // It is for the program to compute.
                    _ => None,
                });
            }
            Some(_) => {}
            None => self.journal.note(Entry::Computed(None)),
        }
        let value = compute(self)?;
        let entry = match &value {
            None => Entry::Computed(None),
            Some(value) => Self::entry(value),
        };
        let behind = self.journal.position;
        if !matches!(entry, Entry::Again)
            && let Some(place) = self.journal.entries.get_mut(at)
        {
            *place = Entry::Computed(Some((Box::new(entry), behind)));
        }
        Ok(value)
    }

    /// The outcome of an effect, or the demand that it is brought about.
    pub(super) fn effect(&mut self, span: Span, effect: impl FnOnce() -> Effect) -> Result<Val> {
        let result = self.effect_as(span, effect)?;
        self.opened(result, span)
    }

    /// What is in a box; other values stay.
    fn opened(&mut self, value: Val, span: Span) -> Result<Val> {
        match &value {
            Val::Object(object) if object.ty.is_value() == Some(true) => {
                match self.reader.unboxed(object) {
                    Some(place) => self.decode(&place, span),
                    None => Ok(value),
                }
            }
            _ => Ok(value),
        }
    }

    /// The outcome of a call that gives a value of a type: what comes in a box stays in it if that is an object.
    pub(super) fn effect_of(
        &mut self,
        ty: &Type,
        span: Span,
        effect: impl FnOnce() -> Effect,
    ) -> Result<Val> {
        let result = self.effect_as(span, effect)?;
        if ty.is_reference() {
            return Ok(result);
        }
        self.opened(result, span)
    }

    /// The outcome of an effect; what comes in a box stays in it.
    pub(super) fn effect_as(&mut self, span: Span, effect: impl FnOnce() -> Effect) -> Result<Val> {
        match self.journal.next() {
            Some(Entry::Plain(value) | Entry::Seen(value)) => Ok(value),
            Some(Entry::Held(held)) => {
                let object = self
                    .reader
                    .held(&held)
                    .map_err(|why| self.unreadable(&why, span))?;
                Ok(Val::Object(object))
            }
            Some(Entry::Thrown(fail)) => {
                let mut fail = fail;
                fail.span = span;
                Err(Interrupt::Fail(fail))
            }
            Some(Entry::Place(place)) => Ok(Val::Struct(place)),
            Some(Entry::Again | Entry::Element(_) | Entry::Taken(_) | Entry::Computed(_))
            | None => Err(Interrupt::Effect(Box::new(effect()))),
        }
    }

    /// What a call left in the copy of an argument that is passed by reference; nothing if it worked on the place itself.
    pub(super) fn left_behind(&mut self, span: Span) -> Result<Option<Val>> {
        let Some(Entry::Element(array)) = self.journal.next() else {
            return Err(
                Fail::new(span, "what the method left in the argument is not known").into(),
            );
        };
        let Some(array) = array else {
            return Ok(None);
        };
        let reader = self.reader;
        let value = reader
            .held(&array)
            .and_then(|home| match reader.unboxed(&home) {
                Some(inner) => Ok(inner),
                None => reader.element(&home, 0),
            })
            .map_err(|why| self.unreadable(&why, span))?;
        self.decode(&value, span).map(Some)
    }
}

/// What was read, so that it is found again after the program has run.
fn lasting(value: &Val, reader: &Reader<'_>) -> Entry {
    match value {
        Val::Object(object) => match reader.hold(object) {
            Ok(held) => Entry::Held(held),
            Err(_) => Entry::Again,
        },
        Val::Struct(place) => match reader.snapshot(place) {
            Ok(snapshot) => Entry::Taken(Rc::new(snapshot)),
            Err(_) => Entry::Again,
        },
        _ => Entry::Again,
    }
}
