//! The `ndbg` command.
fn main() {}
