//! What the fuzz targets share: walks that ask for everything, and mutators that keep a file's structure.

pub mod image;
pub mod mutate;
pub mod walk;
