//! Values that lead to themselves or without an end to others, and collections that are larger than what is looked at.

use host::api::VariablesQuery;
use testkit::sandbox::Sandbox;

use crate::support::{children, lines, locals, look, stopped, variables};

#[test]
fn what_leads_to_itself_has_a_line_and_members() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_endless", &["stop"]);
    // All at once, as a stop report asks for them.
    let told = locals(&program);
    let line = |name: &str| {
        let found = told.iter().find(|it| it.name == name);
        found.map_or_else(
            || panic!("{name}: {:?}", lines(&told)),
            |it| &*it.value.text,
        )
    };
    assert_eq!(line("itself"), "{Itself}");
    assert_eq!(line("pointing"), "{Pointing}");
    assert_eq!(line("parent"), "Parent Child {Parent}");
    assert_eq!(line("listing"), "{Listing}");
    assert!(
        line("tasked").contains("Result = {Tasked}"),
        "{}",
        line("tasked")
    );
    assert!(
        line("task").contains("Result = {Task<object>}"),
        "{}",
        line("task")
    );
    assert_eq!(line("lazy"), "Value = {Lazy<object>}");
    assert_eq!(line("weak"), "Target = {WeakReference}");
    assert_eq!(line("chain"), "{Chain}");
    assert_eq!(
        line("hidden"),
        "{ Inner = {Hidden}, Number = 1, Number = 1 }"
    );
    for name in ["tasks", "lazies", "weaks", "tuples", "hiddens", "wrapped"] {
        assert!(line(name).len() < 2000, "{name}: {}", line(name));
        // It can be opened, too.
        let _ = children(&program, name);
    }
    let query = VariablesQuery {
        path: Some("links".into()),
        depth: u32::MAX,
        ..VariablesQuery::default()
    };
    let deep = variables(&program, query);
    assert_eq!(lines(&deep.variables)[1], "Number = 99999");
    assert_eq!(look(&program, "links.Next.Number").value.text, "99998");
    program.cont();
    program.wait_output("after True");
    program.expect_exit(0);
}
