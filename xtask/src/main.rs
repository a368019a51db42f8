//! Development commands: `cargo xtask demo | test | bench | codegen`.
fn main() {}
