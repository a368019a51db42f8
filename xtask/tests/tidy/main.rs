//! Rules of the repository that a machine can check: who may depend on whom, what may stand in a
//! source file, and that the ledger of promises names tests that exist.

mod crates;
mod ledger;
mod lexer;
mod sources;
mod tests_index;

use std::path::{Path, PathBuf};

/// The repository's root.
fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().expect("xtask lies in the root").to_owned()
}

/// Fails with all findings at once.
#[track_caller]
fn assert_none(findings: &[String]) {
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
}

#[test]
fn crates_depend_only_downwards() {
    assert_none(&crates::check(&crates::read(&root())));
}

#[test]
fn unsafe_code_is_in_cordebug_only() {
    let mut findings = sources::check_unsafe(&sources::read(&root()));
    findings.extend(crates::check_forbids_unsafe(&crates::read(&root())));
    assert_none(&findings);
}

#[test]
fn sources_follow_the_rules() {
    assert_none(&sources::check_rules(&sources::read(&root())));
}

#[test]
fn promises_name_tests_that_exist() {
    let path = root().join("docs/promises.md");
    let text = std::fs::read_to_string(&path);
    let text = text.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let tests = tests_index::all(&sources::read(&root()));
    assert_none(&ledger::check(&text, &tests));
}
