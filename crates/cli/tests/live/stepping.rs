//! Steps, runs to a place, the next statement.
//!
//! The walks go through whole programs; what they visit is what a user of Visual Studio would see.

mod walk;
mod walks;
