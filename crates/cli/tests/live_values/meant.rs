//! What a path means where several members have one name, and paths that only C# knows.

use std::fs;

use host::api::{Evaluate, Reply, Request, SetVariable, Stream, Variables, VariablesQuery, View};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use crate::support::{children, lines, look, stopped, variables};

fn set(program: &Debuggee<'_>, path: &str, value: &str) -> Result<String, String> {
    let request = SetVariable {
        stop: None,
        thread: None,
        frame: 0,
        path: path.into(),
        value: value.into(),
        force: false,
        mask_secrets: true,
    };
    match program.request(Request::SetVariable(Box::new(request))) {
        Ok(Reply::Variables(told)) => Ok(told.parent.expect("what was set").value.text),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(error.to_string()),
    }
}

fn evaluated(program: &Debuggee<'_>, text: &str, side_effects: bool) -> String {
    let request = Evaluate {
        side_effects,
        time_limit_ms: 60_000,
        ..Evaluate::read(text)
    };
    let Ok(Reply::Evaluated(all)) = program.request(Request::Evaluate(request)) else {
        panic!("no answer to {text}");
    };
    match all.into_iter().next().expect("one answer").outcome {
        Ok(value) => value.text,
        Err(error) => format!("error: {}", error.error.message),
    }
}

fn ends(program: &Debuggee<'_>) -> String {
    program.cont();
    program.wait_exit();
    program.text(Stream::Stdout)
}

#[test]
fn hidden_members_are_meant_as_csharp_means_them() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_meant", &["stop"]);
    let text = |path: &str| look(&program, path).value.text;
    for (path, told) in [
        ("hidden.id", "1"),
        ("hidden.id (Base)", "1"),
        ("hidden.id (Derived)", "2"),
        ("hidden.Name", "\"base\""),
        ("hidden.Name (Derived)", "\"derived\""),
        // Overridden, not hidden.
        ("hidden.Role", "\"derived role\""),
    ] {
        assert_eq!(text(path), told, "{path}");
        if !path.contains('(') {
            assert_eq!(evaluated(&program, path, false), told, "{path}");
        }
    }
    // Whatever is listed has a path that leads to it.
    for child in children(&program, "hidden") {
        assert_eq!(text(&child.path), child.value.text, "{}", child.path);
    }
    for (path, value) in [
        ("hidden.id", "10"),
        ("hidden.id (Derived)", "20"),
        ("hidden.Name", "\"b\""),
        ("hidden.Name (Derived)", "\"d\""),
        ("hidden.Role", "\"r\""),
    ] {
        assert_eq!(set(&program, path, value).as_deref(), Ok(value), "{path}");
    }
    assert_eq!(set(&program, "hidden.id", "5 + 6").as_deref(), Ok("11"));
    let said = ends(&program);
    assert!(said.contains("11 20 b d r\n"), "{said}");
}

#[test]
fn keys_that_are_constants_of_an_enum_are_meant_as_they_are_shown() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_meant", &["stop"]);
    let told = lines(&children(&program, "prices"));
    assert_eq!(told, ["[Old] = 3", "[New] = 4"]);
    assert_eq!(look(&program, "prices[Old]").value.text, "3");
    // To C# this is the variable, which is `Kind.Old`.
    assert_eq!(look(&program, "prices[New]").value.text, "3");
    assert_eq!(set(&program, "prices[Old]", "31").as_deref(), Ok("31"));
    assert!(set(&program, "prices[Other]", "31").is_err());
    assert!(set(&program, "names[apple]", "31").is_err());
    let said = ends(&program);
    assert!(said.contains(" 31\n3 1 3 1 1 "), "{said}");
}

#[test]
fn what_paths_do_not_know_an_expression_tells_and_sets() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_meant", &["stop"]);
    let text = |path: &str| look(&program, path).value.text;
    for (path, told) in [
        ("prices[Kind.Old]", "3"),
        ("list[^1]", "3"),
        ("ids[18446744073709551615]", "\"last\""),
        ("task.Result.id", "1"),
        ("part.IPart.Part", "\"whole\""),
    ] {
        assert_eq!(text(path), told, "{path}");
    }
    assert_eq!(look(&program, "task.Result").value.type_name, "Base");
    let inside = lines(&children(&program, "task.Result"));
    assert!(inside.contains(&"id = 1".to_owned()), "{inside:?}");
    for (path, value) in [
        ("prices[Kind.Old]", "30"),
        ("list[^1]", "33"),
        ("bag.Size", "9"),
        ("part.IPart.Part", "\"half\""),
        // By its setter, which doubles it.
        ("account.Balance", "4"),
    ] {
        let told = set(&program, path, value).unwrap_or_else(|error| panic!("{path}: {error}"));
        let expected = if path == "account.Balance" {
            "8"
        } else {
            value
        };
        assert_eq!(told, expected, "{path}");
    }
    // Nothing is added where an element is asked for that is not there.
    assert!(set(&program, "names[\"plum\"]", "1").is_err());
    let said = ends(&program);
    assert!(said.contains("half 8 hunter2 42 30\n3 1 33 1 9 "), "{said}");
}

#[test]
fn properties_of_hidden_fields_are_shown_and_keep_their_secrets() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_meant", &["stop"]);
    let masked = View {
        mask_secrets: true,
        ..View::default()
    };
    let inside = |path: &str, view: &View| {
        let query = VariablesQuery {
            path: Some(path.into()),
            view: view.clone(),
            ..VariablesQuery::default()
        };
        variables(&program, query)
    };
    let shown = |told: &Variables| lines(&told.variables);
    assert_eq!(
        shown(&inside("account", &View::default())),
        ["Balance = 5", "Shown = \"hunter2\""]
    );
    // The field has the name of a secret, whatever its property is called.
    let told = shown(&inside("account", &masked));
    assert!(!told.concat().contains("hunter2"), "{told:?}");
    let asked = inside("account.Shown", &masked).parent.expect("it is told");
    assert!(asked.value.text.starts_with("***"), "{asked:?}");
    let request = Evaluate {
        mask_secrets: true,
        ..Evaluate::read("account.Shown")
    };
    let Ok(Reply::Evaluated(all)) = program.request(Request::Evaluate(request)) else {
        panic!("no answer");
    };
    let value = all[0].outcome.as_ref().expect("a value");
    assert!(value.masked && value.text.starts_with("***"), "{value:?}");
    // Nor does setting tell what was taken from one.
    let told = set(&program, "part.IPart.Part", "account.Shown").expect("it is set");
    assert!(told.starts_with("***"), "{told}");
    // An object that shows nothing says what would tell more.
    let told = inside("computed", &View::default());
    assert!(told.variables.is_empty());
    assert!(told.notes.concat().contains("(Id)"), "{:?}", told.notes);
}

#[test]
fn elements_are_chosen_by_name() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_meant", &["stop"]);
    let chosen = |path: &str, names: &[&str]| {
        let query = VariablesQuery {
            path: Some(path.into()),
            names: names.iter().map(|&name| name.into()).collect(),
            ..VariablesQuery::default()
        };
        let told = variables(&program, query).variables;
        for it in &told {
            assert_eq!(look(&program, &it.path).value.text, it.value.text, "{it:?}");
        }
        lines(&told)
    };
    assert_eq!(
        chosen("names", &["a*"]),
        ["[\"apple\"] = 1", "[\"avocado\"] = 2"]
    );
    assert_eq!(chosen("list", &["[1]"]), ["[1] = 2"]);
    assert_eq!(chosen("list", &["2"]), ["[2] = 3"]);
    assert_eq!(chosen("names", &["plum"]), [""; 0]);
}

#[test]
fn large_array_is_not_copied_to_be_looked_at() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_meant", &["stop"]);
    let large = look(&program, "large").value;
    assert_eq!(large.type_name, "long[]");
    assert_eq!(large.children, 60_000_000);
    let status = fs::read_to_string(format!("/proc/{}/status", program.host_pid()));
    let status = status.expect("the host lives");
    let peak = status.lines().find_map(|it| it.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|it| it.trim().strip_suffix(" kB")?.trim().parse().ok());
    let peak: u64 = peak.expect("the kernel tells it");
    // The array has 480 MB.
    assert!(peak < 300_000, "{peak} kB");
}

#[test]
fn what_a_place_is_declared_as_decides_what_a_path_means() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_declared", &["stop"]);
    let text = |path: &str| look(&program, path).value.text;
    for (path, told) in [
        ("has.V", "77"),
        ("has.V (Both)", "88"),
        ("list[0].V", "77"),
        ("only.V", "7"),
        ("both.V", "88"),
        ("items.Current", "\"object\""),
        ("hidden.Twice", "100"),
        ("hidden.Twice (Hiding)", "200"),
        ("hidden.Mate.Mate", "null"),
        ("hidden.Id", "\"hiding\""),
        // What the declared type does not have is the object's own.
        ("hidden.own", "200"),
    ] {
        assert_eq!(text(path), told, "{path}");
    }
    for root in ["has", "hidden", "items"] {
        for child in children(&program, root) {
            assert_eq!(text(&child.path), child.value.text, "{}", child.path);
        }
    }
    // What only code can tell is not told by another member of the name.
    let by_code = |path: &str| {
        let view = View {
            run_code: true,
            ..View::default()
        };
        let query = VariablesQuery {
            path: Some(path.into()),
            view,
            ..VariablesQuery::default()
        };
        let told = program.request(Request::OpenValue(Box::new(query)));
        match told.expect("it is opened") {
            Reply::Variables(told) => told.parent.expect("a value").value.text,
            other => panic!("{other:?}"),
        }
    };
    for (path, told, ty) in [
        ("too.V", "99", "int"),
        ("has.Default", "5", "int"),
        ("list[1].Default", "5", "int"),
    ] {
        let unread = look(&program, path).value;
        assert!(
            unread.text.contains("only its getter"),
            "{path}: {unread:?}"
        );
        assert_eq!(unread.type_name, ty, "{path}");
        assert_eq!(by_code(path), told, "{path}");
    }
    let query = VariablesQuery {
        path: Some("too.Password".into()),
        view: View {
            mask_secrets: true,
            ..View::default()
        },
        ..VariablesQuery::default()
    };
    let masked = variables(&program, query).parent.expect("it is told");
    assert!(masked.value.text.starts_with("***"), "{masked:?}");
    for (path, value) in [
        ("has.V", "14"),
        ("only.V", "24"),
        ("hidden.Twice", "13"),
        ("hidden.Twice (Hiding)", "7"),
    ] {
        let expected = if path.ends_with(')') { "14" } else { value };
        assert_eq!(
            set(&program, path, value).as_deref(),
            Ok(expected),
            "{path}"
        );
    }
    assert!(set(&program, "too.V", "1").is_err());
    let said = ends(&program);
    assert!(said.contains("14 88 24 13 14 hiding 2 99 object"), "{said}");
}

#[test]
fn static_members_have_paths_that_lead_back() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_declared", &["stop"]);
    let view = View {
        statics: true,
        ..View::default()
    };
    let query = VariablesQuery {
        path: Some("under".into()),
        depth: 2,
        view,
        ..VariablesQuery::default()
    };
    let listed = variables(&program, query).variables;
    let names: Vec<&str> = listed.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["Own", "s_name", "Held", "hidden", "Count"]);
    let inside = listed.iter().flat_map(|it| &it.value.members);
    for told in listed.iter().chain(inside) {
        let again = look(&program, &told.path).value.text;
        assert_eq!(again, told.value.text, "{}", told.path);
    }
    assert_eq!(look(&program, "under.Held[\"a\"][1]").value.text, "2");
    assert_eq!(look(&program, "under.Name").value.text, "\"under\"");
}

#[test]
fn indexers_are_meant_as_csharp_means_them() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_indexed", &["stop"]);
    let text = |path: &str| look(&program, path).value.text;
    for (path, told) in [
        ("people[\"Bob\"].Age", "4"),
        ("people[1].Age", "5"),
        ("ordered[1]", "2"),
        ("ordered[\"o\"]", "1"),
        ("named[1]", "Count = 1 { \"x\" }"),
        ("named[\"n1\"][1]", "\"v2\""),
    ] {
        assert_eq!(text(path), told, "{path}");
    }
    for (path, value, told) in [
        ("people[\"Cid\"].Age", "98", "98"),
        ("ordered[1]", "22", "22"),
        ("ordered[\"o\"]", "11", "11"),
        ("positive[1]", "3", "30"),
    ] {
        assert_eq!(set(&program, path, value).as_deref(), Ok(told), "{path}");
    }
    // What a setter throws is the reason, and by key nothing is put where only the dictionary would know of it.
    for (path, value, why) in [
        ("positive[1]", "-3", "negative"),
        ("people[0]", "null", "NullReferenceException"),
        ("people[\"Cid\"]", "people[0]", "has no setter"),
    ] {
        let error = set(&program, path, value).expect_err("it is refused");
        assert!(error.contains(why), "{path}: {error}");
    }
    let said = ends(&program);
    assert!(said.contains("98 2 11 11 22 22 x 30"), "{said}");
}
