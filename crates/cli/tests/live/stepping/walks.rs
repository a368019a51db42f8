//! Whole programs, walked by step over and by step into; each walk is a text file beside this one.
//!
//! `UPDATE_EXPECT=1` writes the files anew: then read them, line by line, as the user who pressed the key.

use expect_test::expect_file;
use host::api::StepKind;

use super::walk::check;

#[test]
fn toplevel_over() {
    check(
        "toplevel",
        StepKind::Over,
        &expect_file!["walks/toplevel_over.txt"],
    );
}

#[test]
fn toplevel_into() {
    check(
        "toplevel",
        StepKind::Into,
        &expect_file!["walks/toplevel_into.txt"],
    );
}

#[test]
fn statements_over() {
    check(
        "step_statements",
        StepKind::Over,
        &expect_file!["walks/statements_over.txt"],
    );
}

#[test]
fn statements_into() {
    check(
        "step_statements",
        StepKind::Into,
        &expect_file!["walks/statements_into.txt"],
    );
}

#[test]
fn leaves_over() {
    check(
        "step_leaves",
        StepKind::Over,
        &expect_file!["walks/leaves_over.txt"],
    );
}

#[test]
fn leaves_into() {
    check(
        "step_leaves",
        StepKind::Into,
        &expect_file!["walks/leaves_into.txt"],
    );
}

#[test]
fn iterators_over() {
    check(
        "step_iterators",
        StepKind::Over,
        &expect_file!["walks/iterators_over.txt"],
    );
}

#[test]
fn iterators_into() {
    check(
        "step_iterators",
        StepKind::Into,
        &expect_file!["walks/iterators_into.txt"],
    );
}

#[test]
fn calls_over() {
    check(
        "step_calls",
        StepKind::Over,
        &expect_file!["walks/calls_over.txt"],
    );
}

#[test]
fn calls_into() {
    check(
        "step_calls",
        StepKind::Into,
        &expect_file!["walks/calls_into.txt"],
    );
}

#[test]
fn blocks_over() {
    check(
        "step_blocks",
        StepKind::Over,
        &expect_file!["walks/blocks_over.txt"],
    );
}

#[test]
fn blocks_into() {
    check(
        "step_blocks",
        StepKind::Into,
        &expect_file!["walks/blocks_into.txt"],
    );
}

#[test]
fn async_over() {
    check(
        "step_async",
        StepKind::Over,
        &expect_file!["walks/async_over.txt"],
    );
}

#[test]
fn async_into() {
    check(
        "step_async",
        StepKind::Into,
        &expect_file!["walks/async_into.txt"],
    );
}
