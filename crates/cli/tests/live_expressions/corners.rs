//! What the program has not loaded yet, and corners of the language, compared with the compiler.

use engine::api::{BreakpointSpec, Evaluate, Event, Line, Place, Reply, Request};
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::evaluate::value;
use crate::language::stopped_in;
use crate::sequences::{compare_with_program, evaluate, told};

const FIXTURE: &str = "expressions_corners";

#[test]
fn what_is_not_loaded_yet_and_corners_are_csharps() {
    compare_with_program(FIXTURE);
}

#[test]
fn calls_are_those_that_the_compiler_makes() {
    compare_with_program("expressions_calls");
}

#[test]
fn forms_that_are_asked_for_rarely_are_taken() {
    compare_with_program("expressions_taken");
}

/// Evaluates one expression after the other where a fixture stops.
pub(crate) fn compare_with_rows(
    fixture: &'static str,
    marker: &'static str,
    rows: &[(&str, &str)],
) {
    let sandbox = Sandbox::new();
    let program = stopped_in(&sandbox, fixture, marker);
    let texts = rows.iter().map(|(text, _)| (*text).to_owned());
    for ((text, expected), answer) in rows.iter().zip(evaluate(&program, texts.collect())) {
        let told = told(&answer);
        assert!(told.contains(expected), "{text}: {told}");
    }
    program.cont();
    program.expect_exit(0);
}

#[test]
fn a_range_that_is_a_value_takes_a_part_of_all_that_has_parts() {
    compare_with_rows(
        "expressions_fresh",
        "main",
        &[
            (
                "list[range]",
                "ok\tSystem.Collections.Generic.List<int>\t[2, 3]",
            ),
            ("span[range].Length", "ok\tint\t2"),
            ("span[range][0]", "ok\tint\t2"),
            ("letters[range].ToString()", "ok\tstring\t\"ell\""),
            ("ring[range]", "ok\tstring\t\"1+2\""),
            ("numbers[range]", "ok\tint[]\t[2, 3]"),
            ("ring[last] + list[last] + span[last]", "ok\tint\t12"),
            ("string.Concat(letters, \"x\")", "ok\tstring\t\"hellox\""),
            (
                "string.Concat(letters, letters[range])",
                "ok\tstring\t\"helloell\"",
            ),
        ],
    );
}

#[test]
fn what_the_program_has_not_used_yet_is_used() {
    let rows = [
        ("new DateTime(2024, 1, 2).Year", "ok\tint\t2024"),
        ("new DateTime(2024, 1, 2).AddDays(1)", "2024-01-03"),
        ("new DateTime(2024, 1, 2)", "2024-01-02"),
        ("default(DateTime)", "0001-01-01"),
    ];
    for side_effects in [false, true] {
        let sandbox = Sandbox::new();
        let program = stopped_in(&sandbox, "expressions_fresh", "main");
        for (text, expected) in rows {
            let asked = Evaluate {
                side_effects,
                ..Evaluate::read(text)
            };
            match program.request(Request::Evaluate(asked)) {
                Ok(Reply::Evaluated(all)) => {
                    let told = told(&all[0]);
                    assert!(told.contains(expected), "{text}: {told}");
                }
                other => panic!("{text}: {other:?}"),
            }
        }
        program.cont();
        program.expect_exit(0);
    }
    compare_with_rows(
        "expressions_fresh",
        "main",
        &[
            ("new DateTime(2024, 1, 2).ToString(\"ddMM\")", "\"0201\""),
            ("new Uri(\"http://a/b\").Host", "ok\tstring\t\"a\""),
            ("Counter.Calls = 5", "ok\tint\t5"),
            ("(Counter.Calls, began)", "(5, 1)"),
        ],
    );
    // Where nothing may run, it is said what would help.
    let sandbox = Sandbox::new();
    let program = stopped_in(&sandbox, "expressions_fresh", "main");
    let request = Request::Evaluate(Evaluate::read("new Uri(\"http://a/b\").Host"));
    let Ok(Reply::Evaluated(all)) = program.request(request) else {
        panic!("no answer");
    };
    let error = all[0].outcome.as_ref().expect_err("nothing is loaded");
    let told = format!("{:?}", error.error);
    assert!(told.contains("has not loaded System.Private.Uri"), "{told}");
    program.cont();
    program.expect_exit(0);
}

#[test]
fn a_message_tells_as_many_elements_as_it_asks_for() {
    let marker = Fixture::named("expressions_fresh").marker("log");
    let sandbox = Sandbox::new();
    let program = sandbox.launch("expressions_fresh").with(|launch| {
        launch.breakpoints = vec![BreakpointSpec {
            log_message: Some("{numbers,[2]} {numbers} {nodes,[1]}".into()),
            ..BreakpointSpec::at(Place::Line {
                file: marker.file.display().to_string(),
                line: Line(marker.line),
                column: None,
            })
        }];
    });
    let program = program.start();
    program.expect_exit(0);
    let first = program.events().into_iter().find_map(|event| match event {
        Event::Trace(trace) => Some(trace.text),
        _ => None,
    });
    let first = first.expect("a message");
    assert!(
        first.starts_with("[1, 2, … 2 more] [1, 2, 3, 4] ["),
        "{first}"
    );
}

#[test]
fn a_raw_value_is_told_by_its_fields() {
    let sandbox = Sandbox::new();
    let program = stopped_in(&sandbox, "expressions_fresh", "main");
    let asked = Evaluate {
        as_variables: true,
        ..Evaluate::read("nodes,raw")
    };
    let Ok(Reply::Evaluated(all)) = program.request(Request::Evaluate(asked)) else {
        panic!("no answer");
    };
    let told = told(&all[0]);
    assert!(told.contains("_size = 3, _version = 3"), "{told}");
    program.cont();
    program.expect_exit(0);
}

#[test]
fn what_lies_in_spans_and_behind_references_is_changed() {
    compare_with_rows(
        "expressions_taken",
        "spans",
        &[
            ("span[1] = 5", "ok\tint\t5"),
            ("span[1]++", "ok\tint\t5"),
            ("span[^1] += 10", "ok\tint\t13"),
            ("span[1] + span[2]", "ok\tint\t19"),
            ("kept[2]", "ok\tint\t13"),
            ("span[3] = 1", "System.IndexOutOfRangeException"),
            ("kept[1] = 5", "CS8331"),
            ("texts[0] = \"a\"", "ok\tstring\t\"a\""),
            ("texts[0] + texts[1]", "\"aBanana\""),
            ("buffer[1] = 4", "ok\tint\t4"),
            ("buffer[^1] = 7", "ok\tint\t7"),
            ("buffer[1] * 10 + buffer[3]", "ok\tint\t47"),
            ("i.Raise()", "ok\tint\t43"),
            ("i", "ok\tint\t43"),
            ("spot.Sum2(4)", "ok\tint\t5"),
            ("spot.X", "ok\tint\t5"),
            ("5.Raise()", "CS1510"),
            ("bag[\"a\"] = 3", "ok\tint\t3"),
            ("bag.Last = 4", "ok\tint\t4"),
            ("bag.Count", "ok\tint\t2"),
            ("bag.Last", "CS0154"),
            ("bag[\"a\"]", "CS0154"),
            ("bag[\"a\"] += 1", "CS0154"),
        ],
    );
}

#[test]
fn a_struct_is_set_as_a_whole_from_inside() {
    compare_with_rows(
        "expressions_taken",
        "inside",
        &[
            ("this = new Slot { A = 4, B = 5 }", "ok"),
            ("A * 10 + B", "ok\tint\t45"),
            ("this = default", "ok"),
            ("A + B", "ok\tint\t0"),
        ],
    );
}

#[test]
fn parameters_that_are_in_are_not_changed() {
    let sandbox = Sandbox::new();
    let program = stopped_in(&sandbox, "expressions_calls", "look");
    let rows = [
        ("counter.Bump()", "ok\tint\t2"),
        ("counter.Count", "ok\tint\t1"),
        ("counter.Count = 4", "CS8332"),
        ("counter.Size = 4", "CS8332"),
        ("counter.Count++", "CS8332"),
        ("counter = new Counter()", "CS8331"),
        ("counter.Count", "ok\tint\t1"),
        ("other.Bump()", "ok\tint\t2"),
        ("other.Count", "ok\tint\t2"),
    ];
    let texts = rows.map(|(text, _)| text.to_owned());
    for ((text, expected), answer) in rows.iter().zip(evaluate(&program, texts.into())) {
        let told = told(&answer);
        assert!(told.contains(expected), "{text}: {told}");
    }
    program.cont();
    program.expect_exit(0);
}

#[test]
fn what_is_not_loaded_is_named_where_nothing_may_run() {
    let sandbox = Sandbox::new();
    let program = stopped_in(&sandbox, FIXTURE, "main");
    let rows = [
        ("list.Sum()", "has not loaded System.Linq yet"),
        (
            "words.Select(it => it.Length)",
            "has not loaded System.Linq yet",
        ),
        (
            "Regex.IsMatch(text, \"a\")",
            "has not loaded System.Text.RegularExpressions yet",
        ),
        (
            "System.Text.Json.JsonSerializer.Serialize(1)",
            "has not loaded System.Text.Json yet",
        ),
        (
            "words.AsParallel()",
            "has not loaded System.Linq.Parallel yet",
        ),
        ("Regexp.IsMatch(text, \"a\")", "CS0103"),
        ("order.Sum()", "CS1061"),
    ];
    let request = Request::Evaluate(Evaluate {
        expressions: rows.map(|(text, _)| text.to_owned()).into(),
        ..Evaluate::read("")
    });
    let Ok(Reply::Evaluated(answers)) = program.request(request) else {
        panic!("evaluating gave no answer");
    };
    for ((text, expected), answer) in rows.iter().zip(&answers) {
        let error = answer.outcome.as_ref().expect_err("no value");
        let hint = error.error.hint.as_deref().unwrap_or_default();
        let all = format!("{} {hint}", told(answer));
        assert!(all.contains(expected), "{text}: {all}");
        // What nothing would bring is not blamed on an assembly.
        let is_blamed = hint.contains("has not loaded");
        assert_eq!(
            is_blamed,
            expected.contains("has not loaded"),
            "{text}: {all}"
        );
    }
    program.cont();
    program.expect_exit(0);
}

#[test]
fn conditions_load_what_they_need() {
    let marker = Fixture::named(FIXTURE).marker("main");
    let place = Place::Line {
        file: marker.file.display().to_string(),
        line: Line(marker.line),
        column: None,
    };
    let spec = BreakpointSpec {
        condition: Some("Regex.IsMatch(text, \"^(an|b)+\") && list.Sum() == 10".into()),
        ..BreakpointSpec::at(place)
    };
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch(FIXTURE)
        .with(|launch| launch.breakpoints = vec![spec])
        .start();
    let stop = program.wait_stop();
    assert_eq!(value(&program, "text").1, "\"banana\"", "{stop:?}");
    program.cont();
    program.expect_exit(0);
}

#[test]
fn variables_are_told_as_the_program_prints_them() {
    let sandbox = Sandbox::new();
    let program = stopped_in(&sandbox, FIXTURE, "main");
    let all = program.request(Request::Variables(Box::default()));
    let Ok(Reply::Variables(all)) = all else {
        panic!("no variables: {all:?}");
    };
    let variable = |name: &str| all.variables.iter().find(|it| it.name == name);
    for (name, text) in [
        ("small", "50000"),
        ("done", "Status = RanToCompletion"),
        ("made", "Status = RanToCompletion, Result = 5"),
        (
            "anonymous",
            "{ When = 2024-02-29T13:14:15.0000000Z, Name = \"n\" }",
        ),
    ] {
        let found = variable(name).unwrap_or_else(|| panic!("no {name}"));
        assert_eq!(found.value.text, text, "{name}");
        assert_eq!(found.label, None, "{name}");
    }
    program.cont();
    program.expect_exit(0);
}
