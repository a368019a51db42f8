//! Tables: their schema, where they lie in a file, and how rows are found.

mod coded;
mod layout;
mod lookup;
mod schema;

pub use coded::Coded;
pub use layout::{Layout, RowCells};
pub(crate) use layout::{STREAM_HEADER, pointer_table};
pub(crate) use lookup::Key;
pub use lookup::RowSet;
pub use schema::*;
