//! The handles that were made since the program ran last, by the objects that they hold.
//!
//! An object that an expression has read and then calls a method on is held twice: as what was read, and as an argument.
//! A handle is a journey to the program and back, so both get the same.
//!
//! Invariant: a handle is found only in the run of the program that it was made in, while objects stay where they are,
//! and only while somebody else has it: this keeps no object alive.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::{Rc, Weak};

use cordebug::handle::Handle;

/// Handles by addresses.
#[derive(Debug, Default)]
pub(crate) struct Handles {
    run: Cell<u64>,
    made: RefCell<HashMap<u64, Weak<Handle>>>,
}

impl Handles {
    /// The handle of the object at an address; what `make` gives if there is none in this run.
    pub(super) fn of<E>(
        &self,
        address: u64,
        run: u64,
        make: impl FnOnce() -> Result<Handle, E>,
    ) -> Result<Rc<Handle>, E> {
        if self.run.replace(run) != run {
            self.made.borrow_mut().clear();
        }
        let known = self.made.borrow().get(&address).and_then(Weak::upgrade);
        if let Some(known) = known {
            return Ok(known);
        }
        let handle = Rc::new(make()?);
        let noted = Rc::downgrade(&handle);
        self.made.borrow_mut().insert(address, noted);
        Ok(handle)
    }
}
