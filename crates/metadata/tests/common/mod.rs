//! Where the .NET under test and the compiled fixtures are.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// A folder that `cargo xtask` has set up: from the environment, else as it was set up last.
pub(crate) fn variable(name: &str) -> PathBuf {
    if let Some(value) = env::var_os(name) {
        return PathBuf::from(value);
    }
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .expect("the target folder");
    let remembered = fs::read_to_string(target.join("fixtures/current.env")).unwrap_or_default();
    let assigned = |line: &str| Some(line.strip_prefix(name)?.strip_prefix('=')?.to_owned());
    let Some(value) = remembered.lines().find_map(assigned) else {
        panic!(
            "{name} is not set; run the tests with `cargo xtask test`, which sets up .NET and compiles the fixtures"
        )
    };
    PathBuf::from(value)
}
