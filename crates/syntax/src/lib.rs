//! C# expression text to a tree with spans; knows no types and no metadata.
#![forbid(unsafe_code)]
