//! Source text of the program.

use serde::{Deserialize, Serialize};

/// The text of a source file that loaded modules were compiled from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SourceText {
    /// Its path here; as the compiler wrote it if it is not here.
    pub path: String,
    /// Its text; bytes that are not UTF-8 became U+FFFD.
    pub text: String,
    /// Whether it comes out of a module's symbols, not from a file.
    pub embedded: bool,
    /// Whether the file was changed since the program was built; absent if that cannot be told.
    pub changed: Option<bool>,
    /// File names of the modules that were compiled from it.
    pub modules: Vec<String>,
}

/// A source file that a loaded module was compiled from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// Its path here; as the compiler wrote it if it is not here.
    pub path: String,
    /// File name of the module; the first one if there are several.
    pub module: String,
}
