//! What optimised code says falsely of its variables is not told as their value.

use host::api::{Evaluate, Reply, Request, Stream, VariableKind, VariablesQuery};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use crate::setting::request;
use crate::support::{at, lines, locals, look, stopped, variables};

const FIXTURE: &str = "values_optimised";

fn launched<'s>(sandbox: &'s Sandbox, marker: &str) -> Debuggee<'s> {
    let program = sandbox
        .launch(FIXTURE)
        .env("DOTNET_TieredCompilation", "0")
        .with(|launch| {
            launch.keep_optimized = true;
            launch.breakpoints = vec![at(FIXTURE, marker)];
        })
        .start();
    program.wait_stop();
    program
}

#[test]
fn struct_that_the_method_changes_is_not_told_as_it_was() {
    let sandbox = Sandbox::new();
    let program = launched(&sandbox, "changed");
    for round in 0..2 {
        if round == 1 {
            program.cont();
            program.wait_stop();
        }
        let told = lines(&locals(&program));
        let changed = told.iter().find(|it| it.starts_with("changed = "));
        let changed = changed.expect("the argument is told");
        let is_honest = ["may keep what it is now elsewhere", "has removed it"];
        assert!(is_honest.iter().any(|it| changed.contains(it)), "{changed}");
        assert!(
            told.iter().any(|it| it == "kept = { A = 7, B = 8 }"),
            "{told:?}"
        );
    }
}

#[test]
fn struct_that_is_only_read_is_not_said_to_be_changed() {
    let sandbox = Sandbox::new();
    let program = launched(&sandbox, "letters");
    let told = lines(&locals(&program));
    let text = told.iter().find(|it| it.starts_with("text = "));
    let text = text.expect("the argument is told");
    assert!(!text.contains("changes it"), "{text}");
    let is_honest = ["takes its address", "has removed it", "\"abca\""];
    assert!(is_honest.iter().any(|it| text.contains(it)), "{text}");
}

#[test]
fn numbers_in_registers_that_calls_have_used_are_not_told() {
    let sandbox = Sandbox::new();
    let program = launched(&sandbox, "counted");
    let truth = program.text(Stream::Stdout);
    let truth = truth
        .lines()
        .last()
        .expect("what the program says")
        .to_owned();
    let told = lines(&locals(&program));
    let mut right = 0;
    for variable in truth.split(' ') {
        let (name, value) = variable.split_once('=').expect("a name and a number");
        let of = |it: &&String| it.starts_with(&format!("{name} = "));
        let told = told.iter().find(of).expect("told");
        let is_right = *told == format!("{name} = {value}");
        right += usize::from(is_right);
        let is_honest = told.contains("has removed it") || told.contains("was free to use");
        assert!(
            is_right || is_honest,
            "{told}, but the program says {value}"
        );
    }
    assert!(right > 0, "{told:?}");
}

#[test]
fn set_in_optimised_code_says_that_a_copy_may_be_used() {
    let sandbox = Sandbox::new();
    let program = launched(&sandbox, "changed");
    let set = |path: &str| {
        let set = request(0, path, "3");
        program.request(Request::SetVariable(Box::new(set)))
    };
    let refused = set("changed.A").expect_err("nobody knows where it is");
    assert!(refused.message.contains("elsewhere"), "{}", refused.message);
    let Ok(Reply::Variables(told)) = set("kept.A") else {
        panic!("not set")
    };
    assert!(
        told.notes.iter().any(|it| it.contains("is optimised")),
        "{:?}",
        told.notes
    );
    let told = variables(&program, VariablesQuery::default());
    assert!(told.notes.is_empty(), "{:?}", told.notes);
}

#[test]
fn what_an_async_method_or_iterator_does_not_use_is_told_as_that() {
    const UNUSED: &str = "values_not_kept";
    const WHY: &str = "the compiler has not kept it: nothing in the method uses it";
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch(UNUSED)
        .with(|launch| launch.breakpoints = vec![at(UNUSED, "async"), at(UNUSED, "iterator")])
        .start();
    let places: [&[(&str, &str, &str)]; 2] = [
        &[
            ("this", "Shop<string>", WHY),
            ("unused", "string", WHY),
            ("pieces", "int", "3"),
            ("list", "List<DateTime>", WHY),
        ],
        &[
            ("this", "Shop<string>", WHY),
            ("pieces", "int", "4"),
            ("unused", "string", WHY),
        ],
    ];
    for expected in places {
        program.wait_stop();
        let told = locals(&program);
        for (name, ty, value) in expected {
            let it = told.iter().find(|it| it.name == *name);
            let it = it.unwrap_or_else(|| panic!("{name} is not told"));
            assert_eq!(
                (it.value.type_name.as_str(), it.value.text.as_str()),
                (*ty, *value)
            );
        }
        // In the order of their declaration, although only one has a field.
        let names = told.iter().map(|it| it.name.as_str()).take(expected.len());
        let wanted = expected.iter().map(|(name, ..)| *name);
        assert_eq!(names.collect::<Vec<_>>(), wanted.collect::<Vec<_>>());
        for text in ["this.stock", "stock", "unused"] {
            let request = Request::Evaluate(Evaluate::read(text));
            let Ok(Reply::Evaluated(all)) = program.request(request) else {
                panic!("no answer to {text}");
            };
            let one = all.into_iter().next().expect("one answer");
            let error = one.outcome.expect_err("it is not there").error.message;
            assert!(error.contains(WHY), "{text}: {error}");
        }
        program.cont();
    }
    program.expect_exit(0);
}

#[test]
fn a_name_that_symbols_of_optimised_code_lack_may_be_a_variable() {
    let hint_of = |fixture: &str, marker: &str, name: &str| {
        let sandbox = Sandbox::new();
        let program = stopped(&sandbox, fixture, &[marker]);
        let asked = Request::Evaluate(Evaluate::read(name));
        let Ok(Reply::Evaluated(all)) = program.request(asked) else {
            panic!("nothing was evaluated");
        };
        let why = all[0].outcome.as_ref().expect_err("it is not known");
        assert_eq!(why.code.as_deref(), Some("CS0103"));
        why.error.hint.clone().unwrap_or_default()
    };
    let hint = hint_of("bp_release", "moved", "twice");
    assert!(hint.contains("`twice` may be a variable"), "{hint}");
    let hint = hint_of("values_collections", "stop", "twice");
    assert!(!hint.contains("may be a variable"), "{hint}");
}

/// Who is at a breakpoint is not told to go to one.
#[test]
fn where_no_code_can_be_run_it_is_told_where_it_can() {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch("optimized_calls")
        .env("DOTNET_TieredCompilation", "0")
        .with(|launch| {
            launch.keep_optimized = true;
            launch.breakpoints = vec![at("optimized_calls", "cut")];
        })
        .start();
    program.wait_stop();
    let call = Evaluate {
        side_effects: true,
        ..Evaluate::read("Same(text)")
    };
    let Ok(Reply::Evaluated(all)) = program.request(Request::Evaluate(call)) else {
        panic!("no answer");
    };
    let told = all.into_iter().next().expect("one answer");
    let error = format!("{:?}", told.outcome.expect_err("it cannot be run"));
    for said in ["code cannot be run here", "code that is not optimised"] {
        assert!(error.contains(said), "{error}");
    }
    program.disconnect(Some(true), false);
}

#[test]
fn a_field_that_several_variables_share_is_told_under_no_wrong_name() {
    const SHARING: &str = "values_one_field";
    const NOTE: &str = "gave several variables this field";
    let sandbox = Sandbox::new();
    let places: [(&str, &[&str]); 9] = [
        // Symbols tell the scope of what the `case` declares, under this one's name.
        ("first", &["<first>5__2 = \"one\""]),
        ("second", &["<first>5__2 = \"two\""]),
        ("between", &[]),
        ("chosen", &["<first>5__2 = \"str\""]),
        ("word", &["word = \"ab\""]),
        ("number", &["number = 7"]),
        ("neither", &[]),
        ("i", &["i = 1"]),
        ("k", &["<i>5__2 = 5"]),
    ];
    let markers = places.map(|(marker, _)| marker);
    let program = stopped(&sandbox, SHARING, &markers);
    for (marker, expected) in places {
        let told = locals(&program);
        let told: Vec<_> = told.iter().filter(|it| it.name != "given").collect();
        let lines = told
            .iter()
            .map(|it| format!("{} = {}", it.name, it.value.text));
        assert_eq!(lines.collect::<Vec<_>>(), expected, "at {marker}");
        for it in told {
            let is_noted = it.value.notes.iter().any(|note| note.contains(NOTE));
            assert_eq!(is_noted, it.name.starts_with('<'), "{it:?}");
            // It can be looked into under the name that it was told with.
            let again = look(&program, &it.path);
            assert_eq!(again.value.text, it.value.text);
            assert_eq!(again.value.notes, it.value.notes);
        }
        program.cont();
        if marker != "k" {
            program.wait_stop();
        }
    }
    program.expect_exit(0);
}

#[test]
fn a_variable_that_has_taken_over_a_field_of_the_compiler_is_told_and_the_compilers_own_is_not() {
    const TAKEN: &str = "values_taken_over";
    const NOTE: &str = "a field that it had made for one of its own";
    let sandbox = Sandbox::new();
    let places: [(&str, &[&str]); 11] = [
        ("one", &["one = 4"]),
        ("between", &[]),
        ("count", &["<>7__wrap2 = 8"]),
        ("i", &["<>7__wrap2 = 0"]),
        ("two", &["<one>5__4 = 4"]),
        // A number stays until something else is put there.
        (
            "copy",
            &["<>7__wrap1 = Length = 2 { 4, 9 }", "<one>5__4 = 4"],
        ),
        ("word", &["word = \"ab\""]),
        (
            "own",
            &[
                "<>7__wrap1 = { _list = Count = 1 { \"ab\" }, _index = 1, _version = 1, _current = \"ab\" }",
            ],
        ),
        ("other", &["other = {Program.Closed}"]),
        (
            "caught",
            &["sum = 7", "e = System.InvalidOperationException: no"],
        ),
        ("late", &["sum = 7", "<>7__wrap2 = 8", "<>7__wrap3 = 8"]),
    ];
    let markers = places.map(|(marker, _)| marker);
    let program = stopped(&sandbox, TAKEN, &markers);
    for (marker, expected) in places {
        let told = locals(&program);
        let told = told.iter().filter(|it| it.kind == VariableKind::Local);
        let told: Vec<_> = told.collect();
        let lines = told
            .iter()
            .map(|it| format!("{} = {}", it.name, it.value.text))
            // The framework has changed the order of these fields.
            .map(|it| it.replace("_version = 1, _index = 1", "_index = 1, _version = 1"));
        assert_eq!(lines.collect::<Vec<_>>(), expected, "at {marker}");
        for it in told.iter().filter(|it| it.name.starts_with("<>")) {
            let is_noted = it.value.notes.iter().any(|note| note.contains(NOTE));
            assert!(is_noted, "{it:?}");
            assert_eq!(look(&program, &it.path).value.text, it.value.text);
        }
        program.cont();
        if marker != "late" {
            program.wait_stop();
        }
    }
    program.expect_exit(0);
}
