//! Simple values, structs, classes, arrays: every kind of variable that a method can have.

use host::api::{Evaluate, Reply, Request, VariableKind, VariableScope, VariablesQuery};
use testkit::sandbox::Sandbox;

use crate::support::{children, lines, locals, look, says_the_same, stopped, variables};

#[test]
fn every_simple_value_reads_as_the_program_prints_it() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_basics", &["stop"]);
    says_the_same(&program);
}

#[test]
fn null_has_no_elements() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_basics", &["stop"]);
    let query = VariablesQuery {
        path: Some("jagged[1][0]".into()),
        ..VariablesQuery::default()
    };
    let said = format!("{:?}", program.request(Request::Variables(Box::new(query))));
    assert!(said.contains("null has no elements"), "{said}");
}

#[test]
fn boxed_structs_are_evaluated_to_what_is_in_the_box() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_basics", &["stop"]);
    let told = locals(&program);
    let point = told.iter().find(|it| it.name == "boxedPoint");
    let request = Request::Evaluate(Evaluate::read("boxedPoint"));
    let Ok(Reply::Evaluated(all)) = program.request(request) else {
        panic!("no answer");
    };
    let value = all[0].outcome.as_ref().expect("a value");
    let variable = value.variable.as_ref().expect("it can be opened");
    assert_eq!(
        variable.value.text,
        point.expect("a local").value.text,
        "{value:?}"
    );
}

#[test]
fn every_local_of_a_frame_is_listed_with_its_type() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_basics", &["stop"]);
    let told = locals(&program);
    let find = |name: &str| {
        told.iter()
            .find(|it| it.name == name)
            .unwrap_or_else(|| panic!("{name} is not told: {:#?}", lines(&told)))
    };
    for (name, ty) in [
        ("pair", "(int a, string b)"),
        ("numbers", "int[]"),
        ("grid", "int[,]"),
        ("jagged", "string[][]"),
        ("money", "decimal"),
        ("np", "nint"),
        ("anonymous", "<anonymous type: int Id, string Name>"),
        ("action", "Action<int>"),
    ] {
        assert_eq!(find(name).value.type_name, ty, "{name}");
    }
    assert_eq!(find("some").value.type_name, "int?");
    assert_eq!(find("some").declared_type, None);
    assert_eq!(find("dyn").declared_type.as_deref(), Some("dynamic"));
    assert_eq!(find("boxed").declared_type.as_deref(), Some("object"));
    assert_eq!(find("boxed").value.type_name, "int");
    assert_eq!(find("Limit").kind, VariableKind::Constant);
    assert_eq!(
        find("dog").value.object,
        look(&program, "dog.Friend").value.object
    );
}

#[test]
fn members_of_base_types_are_told_apart() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_basics", &["stop"]);
    let told = children(&program, "dog");
    let names: Vec<&str> = told.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "name",
            "Friend",
            "Weight",
            "secretNumber",
            "name (Animal)",
            "Age"
        ]
    );
    // What it leads to is the dog itself, which a deeper look says instead of going on for ever.
    let query = VariablesQuery {
        path: Some("dog".into()),
        depth: 5,
        ..VariablesQuery::default()
    };
    let told = variables(&program, query);
    let friend = told.variables.iter().find(|it| it.name == "Friend");
    let friend = friend.expect("a friend");
    // It is its own.
    assert!(friend.value.cycle, "{friend:#?}");
    assert!(friend.value.members.is_empty(), "{friend:#?}");
}

#[test]
fn generic_code_tells_its_type_arguments() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_basics", &["generic"]);
    let told = lines(&locals(&program));
    assert!(told.contains(&"mine = \"inside\"".to_owned()), "{told:?}");
    assert!(told.contains(&"other = 7".to_owned()), "{told:?}");
    let arguments = VariablesQuery {
        scope: VariableScope::TypeArguments,
        ..VariablesQuery::default()
    };
    assert_eq!(
        lines(&variables(&program, arguments).variables),
        ["T = string", "U = int"]
    );
    let statics = VariablesQuery {
        scope: VariableScope::Statics,
        ..VariablesQuery::default()
    };
    assert_eq!(
        lines(&variables(&program, statics).variables),
        ["Shared = \"inside\""]
    );
}

#[test]
fn pages_and_names_cut_what_is_told_and_say_how_much_is_left() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_basics", &["stop"]);
    let query = VariablesQuery {
        path: Some("nine".into()),
        start: 2,
        count: 3,
        ..VariablesQuery::default()
    };
    let told = variables(&program, query);
    assert_eq!(
        lines(&told.variables),
        ["Item3 = 3", "Item4 = 4", "Item5 = 5"]
    );
    let omitted = told.omitted.expect("more");
    assert_eq!((omitted.start, omitted.count), (5, 4));
    // Behind the end there is nothing, and nothing is left.
    for path in ["nine", "numbers"] {
        let query = VariablesQuery {
            path: Some(path.into()),
            start: 99,
            ..VariablesQuery::default()
        };
        let told = variables(&program, query);
        assert!(told.variables.is_empty() && told.omitted.is_none());
    }
    let query = VariablesQuery {
        names: vec!["n*n*".into()],
        ..VariablesQuery::default()
    };
    let told = variables(&program, query);
    let names: Vec<&str> = told.variables.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["none", "nothing", "nine"]);
}
