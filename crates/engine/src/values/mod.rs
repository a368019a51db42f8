//! The values of the stopped program: variables of frames, fields, elements, and what they hold.
//!
//! A [`Value`] is a *typed place*: a [`Type`](crate::types::Type) and where its bytes lie, in the program's memory or in
//! a copy of ours. An [`Object`] is what a reference leads to, with its exact type. A [`Reader`] turns one into another
//! and into bytes, numbers and text; everything it does is reading memory, with layouts that were asked from the runtime
//! once for each type, so that a thousand elements cost a thousand reads and not a thousand calls.
//!
//! | from | to | with |
//! |---|---|---|
//! | a frame | its variables | `Target::scope`, [`Scope::read`](scope::Scope::read) |
//! | a value of reference type | the object, or null | [`Reader::object`] |
//! | an object or struct | a field | [`Reader::field`], [`Reader::members`] |
//! | an array | its shape, an element | [`Reader::array`], [`Reader::element`] |
//! | a by-ref or pointer | what it leads to | [`Reader::target`] |
//! | a number, `bool`, `char`, enum | a [`Scalar`] | [`Reader::scalar`] |
//! | a string object | text | [`Reader::string`] |
//! | a type's static field | a value | [`Reader::static_field`] |
//! | any value | `y[3].z` of it | [`Reader::walk`] |
//!
//! So `x.y[3].z` is `walk(&x, "y[3].z")`, or step by step:
//!
//! ```text
//! let y = reader.field(&x, "y")?;                       // a value: the field's place
//! let array = reader.object(&y)?.ok_or(Null)?;          // the array it refers to
//! let item = reader.element(&array, 3)?;                // again a place
//! let z = reader.field(&item, "z")?;                    // follows the reference, or stays in the struct
//! let number = reader.scalar(&z)?;
//! ```
//!
//! Invariants: nothing here runs code in the program. A value or object is good until the program runs, an evaluation
//! included, because the collector moves objects; a [`Reader`] refuses older ones as [`Unreadable::Stale`]. What must live
//! longer is kept with [`Reader::hold`]. Every failure is an [`Unreadable`]: a value that says why, never a guess.

mod activations;
mod answering;
mod assign;
mod assign_expression;
mod assigned;
mod backing;
mod expando;
pub(crate) mod fixed_refs;
mod floats;
mod frames;
mod given;
mod handles;
mod holders;
mod layout;
mod literal;
mod memory;
mod memory_requests;
mod opening;
mod optimised;
mod own_statics;
mod places;
mod properties;
mod questions;
mod ranges;
mod reader;
mod requests;
mod returned;
pub(crate) mod roots;
mod scalar;
pub(crate) mod scope;
mod setters;
pub(crate) mod shape;
mod snapshot;
mod sound;
mod statics;
mod unreadable;
pub(crate) mod view;
mod walk;

use std::rc::Rc;

use crate::types::Type;

pub(crate) use activations::Activations;
pub(crate) use assign::Destination;
pub(crate) use backing::returned_field;
pub(crate) use handles::Handles;
pub(crate) use layout::{LayoutCache, Member, buffer_length};
pub(crate) use places::{Places, Question};
pub(crate) use questions::Answer;
pub(crate) use reader::{Held, Reader};
pub(crate) use returned::{ReturnedCall, ReturnedValues};
pub(crate) use scalar::Scalar;
pub(crate) use snapshot::Snapshot;
pub(crate) use statics::decimal_constant;
pub(crate) use unreadable::Unreadable;

/// Where bytes are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the program's memory.
    Memory(u64),
    /// Ours: a copy of a register, a constant, something computed. Writing to it changes nothing in the program.
    Copy(Rc<[u8]>),
    /// A string constant, which is no object of the program.
    Text(Rc<[u16]>),
}

/// A typed place. Of a reference type it is the place of the reference, not the object.
#[derive(Debug, Clone)]
pub(crate) struct Value {
    /// What is there.
    pub(crate) ty: Type,
    /// Where it is.
    pub(crate) place: Place,
    /// The run of the program that it was read in.
    pub(super) run: u64,
}

/// An object on the heap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Object {
    /// Its exact type.
    pub(crate) ty: Type,
    /// Where it begins.
    pub(crate) address: u64,
    pub(super) run: u64,
}

/// What reading gives.
pub(crate) type Result<T, E = Unreadable> = std::result::Result<T, E>;
