//! Numbers of objects (`#6`): the same for as long as the program stays stopped, unless what is evaluated meanwhile lets the
//! collector run.
//!
//! An object is known by its address. Code that runs may let the collector move it: whether one ran at all is told by
//! `calls::collections`, and if so, the objects that were told first are found again by handles, which are made before code runs for
//! the second time at a stop. They do not keep an object alive: code that asks what was collected gets the answer that it would get without a debugger.
//!
//! Invariant: a number stands for one object. One whose object cannot be followed is never told again.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use cordebug::handle::Handle;
use cordebug::process::Process;

use crate::api;
use crate::types::Type;
use crate::values::Object;

/// Objects that are numbered at a time.
const MAX_IDS: usize = 1 << 20;

/// Objects that are found again after a collection, strings left aside: each costs a journey to the program, of up to half a
/// millisecond, and collections while an expression is evaluated are rare. So nothing is done before the first code runs:
/// most stops see none, or one getter.
const MAX_FOLLOWED: usize = 16;

/// The numbers that were told since the program was continued.
#[derive(Debug, Default)]
pub(crate) struct ObjectIds {
    /// The run of the program in which the addresses are right.
    run: Cell<u64>,
    next: Cell<u64>,
    by_address: RefCell<HashMap<u64, u64>>,
    /// Those that are followed, the first that were told.
    followed: RefCell<Vec<Followed>>,
    /// Whether code has run since they were told first.
    has_run: Cell<bool>,
}

#[derive(Debug)]
struct Followed {
    id: u64,
    address: u64,
    handle: Option<Handle>,
}

impl ObjectIds {
    /// The number of an object.
    pub(crate) fn of(&self, object: &Object) -> api::ObjectId {
        self.fresh(object.run);
        let mut known = self.by_address.borrow_mut();
        // Ids that were told so long ago are asked for no more.
        if known.len() >= MAX_IDS {
            known.clear();
            self.followed.borrow_mut().clear();
        }
        let id = *known.entry(object.address).or_insert_with(|| {
            self.next.set(self.next.get() + 1);
            let id = self.next.get();
            let mut followed = self.followed.borrow_mut();
            if followed.len() < MAX_FOLLOWED && object.ty != Type::STRING {
                followed.push(Followed {
                    id,
                    address: object.address,
                    handle: None,
                });
            }
            id
        });
        api::ObjectId(id)
    }

    /// The address of the object with that number, if it was told since the program was continued.
    pub(crate) fn address(&self, run: u64, id: u64) -> Option<u64> {
        self.fresh(run);
        let known = self.by_address.borrow();
        known
            .iter()
            .find_map(|(&address, &it)| (it == id).then_some(address))
    }

    /// Whether none was told since the program was continued.
    pub(crate) fn is_empty(&self, run: u64) -> bool {
        self.fresh(run);
        self.by_address.borrow().is_empty()
    }

    fn fresh(&self, run: u64) {
        if self.run.replace(run) != run {
            self.by_address.borrow_mut().clear();
            self.followed.borrow_mut().clear();
            self.has_run.set(false);
        }
    }

    /// Code is about to run: makes sure that the objects are found again, if it is not the first.
    pub(crate) fn follow(&self, process: &Process, run: u64) {
        self.fresh(run);
        if !self.has_run.replace(true) {
            return;
        }
        let mut followed = self.followed.borrow_mut();
        let new = followed.iter_mut().filter(|it| it.handle.is_none());
        // All are looked up before the first is followed: what was read for that is forgotten when the program is asked.
        let new: Vec<_> = new
            .map(|it| {
                let object = process.object_at(it.address);
                (it, object)
            })
            .collect();
        for (it, object) in new {
            match object.and_then(|object| object.follow()) {
                Ok(handle) => it.handle = Some(handle),
                Err(error) => tracing::debug!(%error, "following an object"),
            }
        }
    }

    /// Code has run from one run of the program to another, in which objects may have moved.
    pub(crate) fn ran(&self, before: u64, now: u64, moved: bool) {
        if self.run.get() != before {
            return;
        }
        self.run.set(now);
        self.has_run.set(true);
        if !moved {
            return;
        }
        let mut known = self.by_address.borrow_mut();
        known.clear();
        self.followed.borrow_mut().retain_mut(|it| {
            let address = it.handle.as_ref().and_then(|it| it.address().ok());
            it.address = address.unwrap_or(0);
            if it.address != 0 {
                known.insert(it.address, it.id);
            }
            it.address != 0
        });
    }
}
