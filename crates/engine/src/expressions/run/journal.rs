//! The journal that lets a run go on behind an effect: what was read and computed before is taken from it, not read again.

use std::panic::Location;
use std::rc::Rc;
use std::time::Instant;

use syntax::Span;

use super::cultures::Part;
use super::effects::Effect;
use super::{Interrupt, Result, Runner, Val};
use crate::expressions::error::Fail;
use crate::types::Type;
use crate::values::{Held, Reader, Snapshot, Value};

/// Objects that are made sure of before code of the program runs, which may move them: each costs the runtime a message, and
/// another one when it is let go.
const MAX_HELD: usize = 10_000;

/// What is known of an earlier run of the same plan.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    /// Whether anything is noted at all: only if the plan may have effects.
    pub(crate) active: bool,
    /// With what each is of.
    entries: Vec<(Site, Entry)>,
    position: usize,
    /// What the effect is of that was demanded last.
    awaited: Option<Site>,
    /// Whether a run has asked for something else than what an earlier one noted: nothing that it gives is true then.
    broken: bool,
    /// What was found of the program's cultures, after how many effects: code that runs may change or first make them, and a
    /// run that is made again must decide as the one before did.
    facts: Vec<(Fact, usize, bool)>,
    /// Which entries are of effects that ran something or wrote.
    acted: Vec<usize>,
    /// Types whose class constructor was run, and what it threw. They have no entry of their own: a run that is made again
    /// reads the field where it asked for the constructor before.
    pub(super) constructed: Vec<(Type, Option<Box<Fail>>)>,
    /// Static fields of which the thread was given its own.
    pub(super) given: Vec<metadata::Token>,
    /// How many objects and structs were made sure of.
    held: usize,
}

/// Which part of a plan asks, and which code here for it.
type Site = (Span, &'static Location<'static>);

/// What a run asks about the program's cultures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fact {
    /// Whether the program runs without cultures.
    Invariant,
    /// Whether the thread's culture writes dates as the invariant one does.
    InvariantDates,
    /// Whether the thread's culture has no rules of its own for ASCII.
    PlainCulture,
    /// Whether it has a part of what numbers are written with as the invariant one has it.
    Numbers(Part),
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

    /// What an earlier run noted here, which must be of the same.
    fn next(&mut self, site: Site) -> Result<Option<Entry>> {
        if self.broken {
            return Err(mismatch(site.0));
        }
        let Some((noted, entry)) = self.entries.get(self.position) else {
            return Ok(None);
        };
        if *noted != site {
            self.broken = true;
            return Err(mismatch(site.0));
        }
        self.position += 1;
        Ok(Some(entry.clone()))
    }

    fn misfit(&mut self, span: Span) -> Interrupt {
        self.broken = true;
        mismatch(span)
    }

    fn note(&mut self, site: Site, entry: Entry) {
        self.entries.push((site, entry));
        self.position = self.entries.len();
    }

    #[track_caller]
    fn note_awaited(&mut self, entry: Entry) {
        let site = self.awaited.unwrap_or((Span::empty(0), Location::caller()));
        self.note(site, entry);
    }

    /// Refuses what a run gives that did not ask for what was noted.
    pub(super) fn sound(&self, span: Span) -> Result<()> {
        match self.broken {
            true => Err(mismatch(span)),
            false => Ok(()),
        }
    }

    /// Whether an earlier run has noted what comes next.
    pub(super) fn is_behind(&self) -> bool {
        self.position < self.entries.len()
    }

    /// Refuses what a run gives that did not ask for all that was noted.
    pub(super) fn ended(&self, span: Span) -> Result<()> {
        match self.is_behind() {
            true => Err(mismatch(span)),
            false => self.sound(span),
        }
    }

    /// How many effects were brought about before where the run is now.
    fn age(&self) -> usize {
        self.acted.partition_point(|at| *at < self.position)
    }

    /// What was found of the cultures at this point, by this run or one before.
    pub(super) fn fact(&self, fact: Fact) -> Option<bool> {
        let age = self.age();
        let mut all = self.facts.iter().rev();
        let found = all.find(|(it, at, _)| *it == fact && *at == age);
        found.map(|(.., holds)| *holds)
    }

    /// Notes what was found of the cultures.
    pub(super) fn found(&mut self, fact: Fact, holds: bool) {
        self.facts.push((fact, self.age(), holds));
    }

    /// Makes sure that what was read is found again after the program has run. What something was computed from that is known
    /// is not asked for again.
    pub(crate) fn secure(
        &mut self,
        reader: &Reader<'_>,
        deadline: Instant,
        span: Span,
    ) -> Result<(), Box<Fail>> {
        let mut at = 0;
        while let Some((_, entry)) = self.entries.get_mut(at) {
            at += 1;
            let entry = match entry {
                Entry::Computed(Some((inside, behind))) => {
                    at = at.max(*behind);
                    &mut **inside
                }
                entry => entry,
            };
            let Entry::Seen(value) = entry else {
                continue;
            };
            self.held += 1;
            if self.held > MAX_HELD {
                return Err(too_many(span));
            }
            if Instant::now() >= deadline {
                return Err(Fail::late(span));
            }
            *entry = lasting(value, reader);
        }
        Ok(())
    }

    /// Notes what an effect gave that is no object.
    pub(crate) fn done(&mut self, value: Val) {
        self.acted.push(self.entries.len());
        self.note_awaited(Entry::Plain(value));
    }

    /// Notes the object that an effect gave.
    pub(crate) fn done_held(&mut self, held: Held) {
        self.acted.push(self.entries.len());
        self.note_awaited(Entry::Held(held));
    }

    /// Notes where a call that returns by reference leads.
    pub(crate) fn done_place(&mut self, place: Value) {
        self.acted.push(self.entries.len());
        self.note_awaited(Entry::Place(place));
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
        self.note_awaited(Entry::Element(array));
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
        self.note_awaited(Entry::Thrown(fail));
    }
}

impl Runner<'_, '_> {
    /// Reads, or takes what was read before an effect.
    #[track_caller]
    pub(super) fn journaled(
        &mut self,
        span: Span,
        read: impl FnOnce(&mut Self) -> Result<Val>,
    ) -> Result<Val> {
        if !self.journal.active {
            return read(self);
        }
        let site = (span, Location::caller());
        match self.journal.next(site)? {
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
            Some(Entry::Again) => return read(self),
            Some(Entry::Element(_) | Entry::Place(_) | Entry::Computed(_)) => {
                return Err(self.journal.misfit(span));
            }
            Some(Entry::Thrown(fail)) => return Err(Interrupt::Fail(fail)),
            None => {}
        }
        let value = read(self)?;
        let entry = Self::entry(&value);
        self.journal.note(site, entry);
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
    #[track_caller]
    pub(super) fn noted(
        &mut self,
        span: Span,
        compute: impl FnOnce(&mut Self) -> Result<Option<Val>>,
    ) -> Result<Option<Val>> {
        if !self.journal.active {
            return compute(self);
        }
        let at = self.journal.position;
        let site = (span, Location::caller());
        match self.journal.next(site)? {
            Some(Entry::Computed(Some((entry, behind)))) => {
                self.journal.position = behind;
                return Ok(match *entry {
                    Entry::Plain(value) | Entry::Seen(value) => Some(value),
                    Entry::Held(held) => {
                        let object = self.reader.held(&held);
                        Some(Val::Object(
                            object.map_err(|why| self.unreadable(&why, span))?,
                        ))
                    }
                    Entry::Taken(snapshot) => {
                        let value = self.reader.restored(&snapshot);
                        Some(Val::Struct(
                            value.map_err(|why| self.unreadable(&why, span))?,
                        ))
                    }
                    // It is for the program to compute.
                    _ => None,
                });
            }
            Some(Entry::Computed(None)) => {}
            Some(_) => return Err(self.journal.misfit(span)),
            None => self.journal.note(site, Entry::Computed(None)),
        }
        let value = compute(self)?;
        let entry = match &value {
            None => Entry::Computed(None),
            Some(value) => Self::entry(value),
        };
        let behind = self.journal.position;
        if !matches!(entry, Entry::Again)
            && let Some((_, place)) = self.journal.entries.get_mut(at)
        {
            *place = Entry::Computed(Some((Box::new(entry), behind)));
        }
        Ok(value)
    }

    /// The outcome of an effect, or the demand that it is brought about.
    #[track_caller]
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
    #[track_caller]
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
    #[track_caller]
    pub(super) fn effect_as(&mut self, span: Span, effect: impl FnOnce() -> Effect) -> Result<Val> {
        let site = (span, Location::caller());
        match self.journal.next(site)? {
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
            Some(Entry::Again | Entry::Element(_) | Entry::Taken(_) | Entry::Computed(_)) => {
                Err(self.journal.misfit(span))
            }
            None => {
                self.journal.awaited = Some(site);
                Err(Interrupt::Effect(Box::new(effect())))
            }
        }
    }

    /// What a call left in the copy of an argument that is passed by reference; nothing if it worked on the place itself.
    pub(super) fn left_behind(&mut self, span: Span) -> Result<Option<Val>> {
        let unknown = "what the method left in the argument is not known";
        // It is noted with the call, as of the same.
        let site = self.journal.entries.get(self.journal.position);
        let site = site.map(|(site, _)| *site).filter(|it| it.0 == span);
        let site = site.ok_or_else(|| Fail::new(span, unknown))?;
        let Some(Entry::Element(array)) = self.journal.next(site)? else {
            return Err(self.journal.misfit(span));
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

/// What is told where a run asks for something else than the run before it.
fn mismatch(span: Span) -> Interrupt {
    let told = "after code ran in the program the rest of the expression is computed in another way than before, so its value is not known";
    Fail::new(span, told)
        .hint(
            "evaluate its parts one by one; what they call in the program has been called already",
        )
        .into()
}

/// What is told where code of the program runs in the middle of a large sequence.
fn too_many(span: Span) -> Box<Fail> {
    let told = format!(
        "it looks at more than {MAX_HELD} objects before it calls code of the program, which may move them all"
    );
    Fail::new(span, told).hint("look at fewer before the call (`Skip`, `Take`), or have a method of the program do all of it")
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
