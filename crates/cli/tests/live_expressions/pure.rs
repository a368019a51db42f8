//! Members of the framework that only compute are answered without running them, and as they answer themselves.

use engine::api::{Evaluate, Reply, Request};
use testkit::sandbox::Sandbox;

use crate::language::stopped_in;
use crate::sequences::{compare_in, compare_reading, told};

#[test]
fn what_only_computes_is_answered_without_running_it() {
    compare_reading("expressions_pure");
}

#[test]
fn what_conditions_ask_is_answered_without_running_it() {
    compare_reading("expressions_conditions");
}

/// In Danish `aa` is a letter of its own, behind `z`: what is computed here must not be taken for that.
#[test]
fn texts_compare_as_in_the_culture_of_the_program() {
    // Tests run without cultures, as not every machine has what they need.
    let libraries = std::fs::read("/etc/ld.so.cache").unwrap_or_default();
    let has_cultures = libraries.windows(12).any(|it| it == b"libicuuc.so.");
    let name = "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT".to_owned();
    let with_cultures = has_cultures.then(|| (name, Some("0".to_owned())));
    compare_in("expressions_cultures", with_cultures);
}

#[test]
fn what_compares_in_its_own_way_is_not_answered_without_running_it() {
    let sandbox = Sandbox::new();
    let program = stopped_in(&sandbox, "expressions_pure", "main");
    let request = Request::Evaluate(Evaluate::read("backwards.Contains(\"nnA\")"));
    let Ok(Reply::Evaluated(read)) = program.request(request) else {
        panic!("evaluating gave no answer");
    };
    let read = told(&read[0]);
    assert!(read.contains("would run code"), "{read}");
    program.cont();
    program.expect_exit(0);
}
