//! The reference in the repository is the one that the table of commands gives.

#[test]
fn the_reference_is_current() {
    expect_test::expect_file!["../../../docs/terminal.md"].assert_eq(&repl::reference());
}
