//! The tool reference in the repository is the one the tool table gives.

#[test]
fn the_reference_is_current() {
    expect_test::expect_file!["../../../docs/tools.md"].assert_eq(&mcp::reference());
}
