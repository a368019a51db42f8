//! Values that are one thing to a person and several fields to the runtime, and values that are damaged.

use testkit::sandbox::Sandbox;

use crate::support::{look, says_the_same, stopped};

#[test]
fn vectors_sequences_and_groups_show_what_is_in_them() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_shown", &["stop", "broken"]);
    says_the_same(&program);
    program.cont();
    program.wait_stop();
    let broken = look(&program, "chained").value;
    assert_eq!(broken.text, "Length = 2 { 2, 3 }");
    assert!(
        broken.notes.iter().any(|it| it.contains("damaged")),
        "{:?}",
        broken.notes
    );
}
