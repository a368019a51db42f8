//! C# expressions over a stopped program: `syntax` gives a tree, [`bind`] a plan, [`run`] a value.
//!
//! | step | knows | gives |
//! |---|---|---|
//! | `syntax::parse` | text | a tree with spans |
//! | [`bind::Binder`] | types, names of a frame | a [`plan::Node`] tree, kept per method and instantiation |
//! | [`run::Runner`] | values | a [`run::Val`], or what must be done in the program first |
//!
//! Invariants: binding never looks at a value but through a [`bind::Probe`], which is asked for what is dynamic; running never looks at a name; nothing is run or written in the program
//! by either, they only say what would have to be ([`run::Effect`]).

mod bind;
mod checking;
mod complete;
mod display;
mod effecting;
mod error;
mod evaluate;
pub(crate) mod frames;
mod getters;
mod incoming;
mod intrinsics;
mod keeping;
mod passing;
mod plan;
mod probing;
mod referring;
mod results;
mod run;
pub(crate) mod scalar;
mod stops;

pub(crate) use display::{Looks, Shown, display};
pub(crate) use getters::{Behind, field_behind, field_in};
pub(crate) use plan::FieldRef;
pub(crate) use results::Results;
pub(crate) use stops::{Condition, Hit, Message};
