//! C# expressions over a stopped program: `syntax` gives a tree, the binder a plan, the runner a value.

pub(crate) mod scalar;
