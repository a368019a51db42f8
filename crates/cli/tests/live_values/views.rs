//! What types say of how they want to be shown.

use host::api::{Stream, VariablesQuery, View};
use testkit::sandbox::Sandbox;

use crate::support::{look, says_the_same, stopped, variables};

#[test]
fn display_strings_are_any_expression_and_run_no_code() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_views", &["stop"]);
    says_the_same(&program);
    // One that cannot be told says why, and the fields are shown instead.
    let wrong = look(&program, "wrong").value;
    assert_eq!(wrong.text, "{ Value = 3 }");
    let note = wrong.notes.join(" ");
    assert!(
        note.contains("its DebuggerDisplay cannot be shown"),
        "{note}"
    );
    assert!(note.contains("Nothing"), "{note}");
    // Secrets stay secret in display strings.
    let query = VariablesQuery {
        names: vec!["login".into()],
        view: View {
            mask_secrets: true,
            ..View::default()
        },
        ..VariablesQuery::default()
    };
    let told = variables(&program, query).variables;
    assert_eq!(told[0].value.text, "*** of ann");
    program.cont();
    program.expect_exit(0);
    assert!(program.text(Stream::Stdout).contains("calls 0 disposed 0"));
}
