//! Members of the framework that only compute are answered without running them, and as they answer themselves.

use engine::api::{Evaluate, Reply, Request};
use testkit::sandbox::Sandbox;

use crate::language::stopped_in;
use crate::sequences::{compare_reading, told};

#[test]
fn what_only_computes_is_answered_without_running_it() {
    compare_reading("expressions_pure");
}

#[test]
fn what_compares_in_its_own_way_is_not_answered_without_running_it() {
    let sandbox = Sandbox::new();
    let program = stopped_in(&sandbox, "expressions_pure", "main");
    let request = Request::Evaluate(Evaluate::read("names.Contains(\"ANN\")"));
    let Ok(Reply::Evaluated(read)) = program.request(request) else {
        panic!("evaluating gave no answer");
    };
    let read = told(&read[0]);
    assert!(read.contains("would run code"), "{read}");
    program.cont();
    program.expect_exit(0);
}
