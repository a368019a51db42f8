//! The language, as a person writes it at a stop: members of every kind, references, imports, formats.

use engine::api::{BreakpointSpec, Evaluate, Line, Place, Reply, Request, Stream, VariablesQuery};
use testkit::debuggee::Debuggee;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::evaluate::ask;

const FIXTURE: &str = "expressions_language";

fn stopped<'s>(sandbox: &'s Sandbox, marker: &str) -> Debuggee<'s> {
    stopped_in(sandbox, FIXTURE, marker)
}

/// A program that was run to one of its marked lines.
pub(crate) fn stopped_in<'s>(
    sandbox: &'s Sandbox,
    fixture: &'static str,
    marker: &str,
) -> Debuggee<'s> {
    let marker = Fixture::named(fixture).marker(marker);
    let spec = BreakpointSpec::at(Place::Line {
        file: marker.file.display().to_string(),
        line: Line(marker.line),
        column: None,
    });
    let program = sandbox
        .launch(fixture)
        .with(|launch| launch.breakpoints = vec![spec])
        .start();
    program.wait_stop();
    program
}

/// Every wrong answer, so that one run tells all of them.
#[track_caller]
fn check(program: &Debuggee<'_>, rows: &[(&str, &str, &str)]) {
    let mut wrong = Vec::new();
    for (text, ty, expected) in rows {
        let evaluate = Evaluate {
            side_effects: true,
            ..Evaluate::read(*text)
        };
        let (told_type, told) = match ask(program, evaluate).outcome {
            Ok(value) => (value.ty, value.text),
            Err(error) => (
                error.exception.or(error.code).unwrap_or_default(),
                error.error.message,
            ),
        };
        let told_short = told.lines().next().unwrap_or_default();
        if told_type != *ty || (told_short != *expected && *expected != "…") {
            wrong.push(format!(
                "{text}\n  is {told_type} {told}\n  not {ty} {expected}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn arguments_are_passed_by_reference() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "main");
    check(
        &program,
        &[
            ("int.TryParse(\"5\", out var n)", "bool", "true"),
            ("int.TryParse(\"5\", out var n) ? n + 1 : 0", "int", "6"),
            ("int.TryParse(\"x5\", out int n) || n == 0", "bool", "true"),
            (
                "map.TryGetValue(\"two\", out var v) && v == 2",
                "bool",
                "true",
            ),
            ("map.TryGetValue(\"three\", out _)", "bool", "false"),
            ("DefaultOfMine.Loose.ContainsKey(\"ROME\")", "bool", "true"),
            ("DefaultOfMine.Loose[\"rome\"]", "int", "7"),
            ("TryHalf(number, out var h) ? h : -1", "int", "21"),
            (
                "TryName(3, out var name) ? name + \"?\" : \"none\"",
                "string",
                "\"name3?\"",
            ),
            (
                "TryName(0, out string name) ? \"some\" : name",
                "string",
                "null",
            ),
            (
                "TryPair(\"four\", out var pair) ? pair.A + pair.B.Length : 0",
                "int",
                "8",
            ),
            ("Add(ref number, 8)", "int", "50"),
            ("number", "int", "50"),
            ("Swap(ref text)", "string", "\"abc\""),
            ("text", "string", "\"new abc\""),
            ("Add(ref array[1], 5) + array[1]", "int", "50"),
            ("Total(size) + Total(in size)", "int", "20"),
            ("Add(number, 1)", "CS1620", "…"),
            ("Add(ref 5, 1)", "CS1510", "…"),
            ("TryHalf(number, ref number)", "CS1620", "…"),
        ],
    );
    program.disconnect(Some(true), false);
}

#[test]
fn what_cannot_be_called_hides_no_method() {
    let sandbox = Sandbox::new();
    let program = stopped_in(&sandbox, "expressions_invoked", "inside");
    check(
        &program,
        &[
            ("Score(4)", "int", "12"),
            ("this.Score(4)", "int", "12"),
            ("new Derived().Score(4)", "int", "12"),
            ("base.Score(4)", "int", "12"),
            ("Score", "int", "5"),
            ("Rate(1)", "int", "2"),
            ("Derived.Rate(1)", "int", "2"),
            ("Twice(3)", "int", "-3"),
            ("new[] { 1, 2 }.Select(x => Score(x)).Last()", "int", "6"),
            ("new Inner().Ask(this)", "int", "6"),
            ("new Derived.Inner().Value()", "CS1061", "…"),
            ("Score()", "CS7036", "…"),
            ("Score.ToString()", "string", "\"5\""),
            ("this.Name()", "string", "\"base\""),
            // A variable is found first, whether it can be called or not.
            ("Name()", "CS0149", "…"),
        ],
    );
    program.cont();
    program.expect_exit(0);
    let told = program.text(Stream::Stdout);
    assert!(told.starts_with("12 12 12 5 2 -3 base 36\n"), "{told}");
}

#[test]
fn initialisers_in_which_nothing_is_set_ask_for_nothing() {
    let sandbox = Sandbox::new();
    let program = stopped_in(&sandbox, "expressions_invoked", "stop");
    check(
        &program,
        &[
            (
                "new Dictionary<string, List<int>> { [\"a\"] = { }, [\"b\"] = new() }.Count",
                "int",
                "1",
            ),
            ("new Chain { Next = { } }.Value", "int", "0"),
            (
                "new Chain { Next = { Next = { } }, Failing = { All = { [0] = { } } } }.Value",
                "int",
                "0",
            ),
            ("Chain.Asked", "int", "2"),
            (
                "new Chain { [Chain.Ask(3)] = { }, All = { [Chain.Ask(5)] = { } } }.Value",
                "int",
                "0",
            ),
            ("Chain.Asked", "int", "4"),
            (
                "new Chain { Failing = { Value = 1 } }.Value",
                "System.InvalidOperationException",
                "…",
            ),
            (
                "new Chain { Next = { Value = 1 } }.Value",
                "System.NullReferenceException",
                "…",
            ),
        ],
    );
    program.cont();
    program.expect_exit(0);
    let told = program.text(Stream::Stdout);
    assert!(told.ends_with("\n1 4  1 1 0 7\n"), "{told}");
}

#[test]
fn what_the_compiler_refuses_is_refused_with_its_code() {
    let sandbox = Sandbox::new();
    let program = stopped_in(&sandbox, "expressions_invoked", "stop");
    check(
        &program,
        &[
            ("Chain.Raise(ref chain.Value)", "CS0206", "…"),
            ("Chain.Raise(ref chain.Own)", "CS0206", "…"),
            ("int.TryParse(\"1\", out chain.Value)", "CS0206", "…"),
            ("Chain.Raise(ref lists[\"b\"].Capacity)", "CS0206", "…"),
            ("chain.Value", "int", "0"),
            ("Chain.Raise(ref numbers[0]) + numbers[0]", "int", "4"),
            ("$\"{chain.Value:}\"", "CS8089", "…"),
            ("$\"{chain.Value,5:D }\"", "CS8088", "…"),
            ("part += 1.5", "CS0266", "…"),
            ("part = 1.5", "CS0664", "…"),
            ("half = 2", "CS0457", "…"),
            ("half = 200", "System.Half", "200"),
            ("half = 300", "CS0266", "…"),
        ],
    );
    program.disconnect(Some(true), false);
}

#[test]
fn joins_with_what_fits_nothing_are_computed() {
    let sandbox = Sandbox::new();
    let program = stopped_in(&sandbox, "expressions_invoked", "stop");
    let left = "numbers.LeftJoin(others, x => x, y => y, (x, y) => x + y)";
    let version = Evaluate {
        side_effects: true,
        ..Evaluate::read("Environment.Version.Major")
    };
    let version = ask(&program, version).outcome.expect("a version").text;
    if version.parse::<u32>().expect("a number") < 10 {
        check(&program, &[(left, "CS1061", "…")]);
        program.disconnect(Some(true), false);
        return;
    }
    let list = "System.Collections.Generic.List<string>";
    check(
        &program,
        &[
            (
                "numbers.LeftJoin(others, x => x, y => y, (x, y) => $\"{x}{y}\").ToList()",
                list,
                "[\"10\", \"22\", \"33\", \"33\"]",
            ),
            (
                "numbers.RightJoin(others, x => x, y => y, (x, y) => $\"{x}{y}\").ToList()",
                list,
                "[\"22\", \"33\", \"33\", \"04\"]",
            ),
            (
                "numbers.LeftJoin(new[] { \"a\", \"bb\" }, x => x, y => y.Length, (x, y) => x + (y ?? \"none\")).ToList()",
                list,
                "[\"1a\", \"2bb\", \"3none\"]",
            ),
            (
                "new string[] { null, \"A\" }.RightJoin(new[] { \"a\", null }, x => x, y => y, (x, y) => (x ?? \"none\") + y, StringComparer.OrdinalIgnoreCase).ToList()",
                list,
                "[\"Aa\", \"none\"]",
            ),
            ("numbers.Shuffle().Sum()", "int", "6"),
            (
                "numbers.LeftJoin(others, x => x, y => y, (x, y) => x + y).Sum()",
                "int",
                "17",
            ),
        ],
    );
    // Reading alone computes them too.
    let read = ask(&program, Evaluate::read(format!("{left}.Count()"))).outcome;
    assert_eq!(read.expect("computed").text, "4");
    program.disconnect(Some(true), false);
}

#[test]
fn members_of_every_kind_are_found() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "main");
    check(
        &program,
        &[
            ("Doubled(4)", "int", "8"),
            ("T.Helpers.Doubled(5)", "int", "10"),
            ("span.Seconds()", "int", "90"),
            ("\"abc\".Shout()", "string", "\"ABC!\""),
            ("new Map { [\"a\"] = 5 }[\"a\"]", "int", "5"),
            ("new Map().Count", "int", "0"),
            ("people[0].Home.City", "string", "\"Rome\""),
            ("((IGreets)people[0]).Greeting()", "string", "\"Hello Ann\""),
            ("((IGreets)people[1]).Hidden()", "string", "\"hidden Bob\""),
            ("people[1].Kind()", "string", "\"worker, a person\""),
            (
                "people.Where(p => p.Name.Length == 3).Select(p => p.Name).ToList()",
                "System.Collections.Generic.List<string>",
                "[\"Ann\", \"Bob\"]",
            ),
            (
                "(from p in people orderby p.Name descending select p.Name).First()",
                "string",
                "\"Bob\"",
            ),
            ("people.OfType<Worker>().Single().Name", "string", "\"Bob\""),
            ("list.OrderBy(x => x).ToArray()", "int[]", "[1, 2, 3]"),
            ("map.Sum(p => p.Value)", "int", "3"),
            ("point with { X = 10 }", "Language.Point", "…"),
            ("(point with { X = 10 }).Sum", "int", "14"),
            ("point == new Point(3, 4)", "bool", "true"),
            ("(size with { Width = 7 }).Width", "int", "7"),
            ("tuple.Left + tuple.Right", "string", "\"1r\""),
            ("tuple == (1, \"r\")", "bool", "true"),
            ("twice(21)", "int", "42"),
            ("twice.Invoke(4)", "int", "8"),
            ("nothing ?? 5", "int", "5"),
            ("nothing?.ToString() ?? \"none\"", "string", "\"none\""),
            ("array[^1] + array[..2].Length", "int", "32"),
            ("grid[1, 0]", "int", "3"),
            ("boxed is long l && l > 4", "bool", "true"),
            (
                "boxed switch { int => \"int\", long => \"long\", _ => \"other\" }",
                "string",
                "\"long\"",
            ),
            ("point is { X: > 2, Y: 4 }", "bool", "true"),
            ("point is (3, var y) ? y : 0", "int", "4"),
            ("list is [3, .., 2]", "bool", "true"),
            ("money * 2", "decimal", "25.00"),
            (
                "huge",
                "System.Int128",
                "170141183460469231731687303715884105727",
            ),
            ("half + (Half)1", "System.Half", "2.5"),
            (
                "checked(int.MaxValue + number)",
                "System.OverflowException",
                "…",
            ),
            ("unchecked(int.MaxValue + 1)", "int", "-2147483648"),
            ("color", "Language.Color", "Green"),
            ("color | Color.Blue", "Language.Color", "7"),
            ("rights", "Language.Rights", "Read, Write"),
            ("rights.HasFlag(Rights.Write)", "bool", "true"),
            (
                "Overload(5) + Overload(5L) + Overload(\"\")",
                "string",
                "\"intlongobject\"",
            ),
            (
                "Named(1) + Named(second: 5, first: 3) + Named(1, 2, 3, 4)",
                "string",
                "\"1 2 03 5 01 2 2\"",
            ),
            ("First(list) + First<int>(list)", "int", "6"),
            (
                "$\"{number,5}|{money:F1}|{color}\"",
                "string",
                "\"   42|12.5|Green\"",
            ),
            ("program.Property + program.Instance + counter", "int", "27"),
            ("program.Property = 20", "int", "20"),
            ("program.Property", "int", "20"),
            ("program.Instance += 1", "int", "10"),
            ("++number", "int", "43"),
            ("new List<int> { 1, 2 }.Count", "int", "2"),
            ("nameof(program.Property)", "string", "\"Property\""),
            ("default(Pair).B == null", "bool", "true"),
            ("typeof(Person.Address).Name", "string", "\"Address\""),
            ("int.Parse(\"x\")", "System.FormatException", "…"),
            ("people[5]", "System.ArgumentOutOfRangeException", "…"),
            ("((string)boxed).Length", "System.InvalidCastException", "…"),
            ("await people", "", "…"),
            ("throw new Exception()", "", "…"),
            ("number.Missing", "CS1061", "…"),
            ("Person.Missing", "CS0117", "…"),
            ("unknown", "CS0103", "…"),
        ],
    );
    program.disconnect(Some(true), false);
    let program = stopped(&sandbox, "method");
    check(
        &program,
        &[
            ("base.Kind()", "string", "\"person\""),
            ("Kind()", "string", "\"worker, a person\""),
            ("this.Name", "string", "\"Bob\""),
            ("((Person)this).Kind()", "string", "\"worker, a person\""),
        ],
    );
    program.disconnect(Some(true), false);
}

#[test]
fn results_are_values_that_can_be_opened() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "main");
    check(
        &program,
        &[
            ("number,h", "int", "0x0000002a"),
            ("array,h", "int[]", "[0x0000000a, 0x00000014, 0x0000001e]"),
            ("number,h,d", "int", "42"),
            ("'a',d", "char", "97 'a'"),
            ("'a',h", "char", "0x0061 'a'"),
            ("'a'", "char", "'a'"),
            ("DayOfWeek.Friday,d", "System.DayOfWeek", "5"),
            ("DayOfWeek.Friday,h", "System.DayOfWeek", "0x00000005"),
            ("DayOfWeek.Friday", "System.DayOfWeek", "Friday"),
            ("text,nq", "string", "abc"),
            ("many,[3]", "int[]", "[0, 1, 2, … 497 more]"),
            (
                "many,[2],h",
                "int[]",
                "[0x00000000, 0x00000001, … 498 more]",
            ),
            ("twice(2),nse", "", "…"),
            ("$hitcount", "long", "1"),
            ("$1", "", "…"),
        ],
    );
    let opened = |text: &str| {
        let evaluate = Evaluate {
            side_effects: true,
            ..Evaluate::read(text)
        };
        let value = ask(&program, evaluate).outcome.expect("a value");
        *value.variable.expect("something that can be opened")
    };
    let inside = |path: &str| {
        let query = VariablesQuery {
            path: Some(path.into()),
            ..VariablesQuery::default()
        };
        match program.request(Request::Variables(Box::new(query))) {
            Ok(Reply::Variables(found)) => found,
            other => panic!("{path}: {other:?}"),
        }
    };
    let person = opened("people.Last()");
    assert!(person.value.children >= 2 && person.value.object.is_some());
    // Another evaluation runs code meanwhile, and the object may have moved.
    check(
        &program,
        &[("people[1].Kind()", "string", "\"worker, a person\"")],
    );
    let members = inside(&person.path).variables;
    let name = members.iter().find(|it| it.name == "Name").expect("a name");
    assert_eq!(name.value.text, "\"Bob\"");
    assert_eq!(
        inside(&format!("{}.Home", person.path)).variables[0]
            .value
            .text,
        "\"Rome\""
    );
    // Pages of a result, of a struct, and what exists only here.
    let page = VariablesQuery {
        path: Some(opened("many").path),
        start: 100,
        count: 2,
        ..VariablesQuery::default()
    };
    let Ok(Reply::Variables(page)) = program.request(Request::Variables(Box::new(page))) else {
        panic!("a page");
    };
    let texts: Vec<_> = page
        .variables
        .iter()
        .map(|it| it.value.text.clone())
        .collect();
    assert_eq!(texts, ["100", "101"]);
    let size = opened("size");
    assert_eq!(inside(&size.path).variables.len(), 2);
    let made = opened("people.Where(p => p.Name != null).Select(p => (p.Name, p.Home)).ToList()");
    assert_eq!((made.value.children, made.value.members.len()), (2, 2));
    let made = opened("people.Where(p => p.Name == \"Ann\")");
    let ann = made.value.members.first().expect("one");
    assert!(
        inside(&ann.path)
            .variables
            .iter()
            .any(|it| it.value.text == "\"Ann\"")
    );
    // Kept objects have names in expressions.
    let keep = VariablesQuery {
        path: Some("people[1]".into()),
        ..VariablesQuery::default()
    };
    program
        .request(Request::KeepObject(Box::new(keep)))
        .expect("kept");
    check(
        &program,
        &[("$1.Name + $1.Kind().Length", "string", "\"Bob16\"")],
    );
    program.disconnect(Some(true), false);
}
