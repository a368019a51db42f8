//! What the fuzz targets share: walks that ask for everything, and mutators that keep the structure of a file or a message.

pub mod conversation;
pub mod image;
pub mod mutate;
pub mod walk;
