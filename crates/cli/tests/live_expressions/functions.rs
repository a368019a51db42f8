//! Functions and objects of a shape of their own as values: methods that become delegates of the program, lambdas with types that
//! are written or their own, anonymous objects that the program has no type for; and references that are passed on.

use engine::api::{BreakpointSpec, Evaluate, Line, Place, Reply, Request, Stream};
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::corners::compare_with_rows;
use crate::language::stopped_in;
use crate::sequences::{compare_with_program, evaluate, told};

const FIXTURE: &str = "expressions_functions";
const AROUND: &str = "expressions_around";

#[test]
fn what_developers_type_has_the_answers_of_the_compiler() {
    compare_with_program("expressions_asked");
}

/// The lines of `Say` behind a line, with their numbers.
fn said_behind(source: &str, line: u32) -> Vec<(u32, &str)> {
    let lines = (1..).zip(source.lines()).skip(line as usize);
    let said = lines.map_while(|(number, it)| {
        let it = it.trim();
        let it = it.strip_prefix("Program.").unwrap_or(it);
        Some((number, it.strip_prefix("Say(")?.strip_suffix(");")?))
    });
    said.collect()
}

#[test]
fn wherever_code_stands_the_answers_are_the_compilers() {
    // In the order in which the program comes by; both instantiations of the generic ones.
    let stops = [
        "async",
        "asynclambda",
        "iterator",
        "primary",
        "struct",
        "record",
        "generic",
        "generic",
        "math",
        "math",
        "locals",
    ];
    let fixture = Fixture::named(AROUND);
    let places = stops.map(|name| fixture.marker(name));
    let source = std::fs::read_to_string(&places[0].file).expect("the fixture's text");
    let mut specs: Vec<BreakpointSpec> = Vec::new();
    for place in &places {
        let spec = BreakpointSpec::at(Place::Line {
            file: place.file.display().to_string(),
            line: Line(place.line),
            column: None,
        });
        if !specs.contains(&spec) {
            specs.push(spec);
        }
    }
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch(AROUND)
        .with(|launch| launch.breakpoints = specs)
        .start();
    let mut here: Vec<(u32, &str, String)> = Vec::new();
    for place in &places {
        program.wait_stop();
        let said = said_behind(&source, place.line);
        let texts = said.iter().map(|(_, text)| (*text).to_owned()).collect();
        for ((line, text), answer) in said.iter().zip(evaluate(&program, texts)) {
            here.push((*line, text, told(&answer)));
        }
        program.cont();
    }
    program.expect_exit(0);
    assert!(here.len() > 200, "{} expressions", here.len());
    let output = program.text(Stream::Stdout);
    let mut wrong = Vec::new();
    for (line, text, here) in here {
        // A line that is come by twice has two answers; each must be one of them.
        let head = format!("{line}\t\t");
        let mut expected = output.lines().filter_map(|it| it.strip_prefix(&*head));
        if !expected.any(|it| it == here) {
            wrong.push(format!("{text}: {here}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn methods_become_delegates_of_the_program() {
    compare_with_rows(
        FIXTURE,
        "main",
        &[
            ("act += cells.Called", "ok\tSystem.Action<int>"),
            ("act.Method.Name", "ok\tstring\t\"Called\""),
            ("act += Cells.CalledStatic", "ok"),
            ("act += cells.Extended", "ok"),
            ("act.GetInvocationList().Length", "ok\tint\t3"),
            ("act -= Cells.CalledStatic", "ok"),
            ("act.GetInvocationList().Length", "ok\tint\t2"),
            ("act(2)", "ok"),
            ("cells.Calls", "ok\tint\t22"),
            ("texts = cells.Named", "ok\tSystem.Action<string>"),
            ("texts(\"a\")", "ok"),
            ("cells.Calls", "ok\tint\t1022"),
            ("func = Twice", "ok"),
            ("func(4)", "ok\tint\t8"),
            ("cells.Changed += cells.Called", "ok"),
            ("cells.Change()", "ok"),
            ("cells.Calls", "ok\tint\t1029"),
            ("act = cells.Called", "ok"),
            ("act == cells.Called", "ok\tbool\ttrue"),
            ("act != Cells.CalledStatic", "ok\tbool\ttrue"),
            ("act += it => { }", "statement"),
            (
                "act += it => cells.Called(it)",
                "it exists only in the debugger",
            ),
        ],
    );
}

#[test]
fn lambdas_have_the_types_that_are_written_or_their_own() {
    compare_with_rows(
        FIXTURE,
        "main",
        &[
            ("numbers.Select(long (x) => x).First()", "ok\tlong\t3"),
            ("numbers.Select(long (int x) => x).First()", "ok\tlong\t3"),
            (
                "((Func<(int a, int b), int>)(((int p, int q) t) => t.p + t.q))((1, 2))",
                "ok\tint\t3",
            ),
            (
                "((Func<string, long>)(int (string s) => s.Length))(s)",
                "CS8934",
            ),
            ("((Func<int, int>)((long x) => 1))(1)", "CS1678"),
            ("(string s) => s.Length", "ok\tSystem.Func<string, int>"),
            ("() => cells.Change()", "ok\tSystem.Action"),
            ("(ref int x) => x", "make up a delegate type"),
            ("((int x) => x)(1)", "CS0149"),
            (
                "Enumerable.Repeat((int x) => x + 1, 2).First()(5)",
                "ok\tint\t6",
            ),
            (
                "new[] { (int x) => x, (int x) => x + 1 }[1](3)",
                "ok\tint\t4",
            ),
            ("cells.F(in i)", "ok\tstring\t\"in\""),
            ("cells.F(i)", "ok\tstring\t\"value\""),
            ("cells.F(5)", "ok\tstring\t\"value\""),
        ],
    );
}

#[test]
fn an_ordering_of_the_program_is_gone_on_with() {
    compare_with_rows(
        FIXTURE,
        "main",
        &[
            (
                "string.Join(\" \", ordered.ThenBy(it => it))",
                "\"fig pear apple\"",
            ),
            (
                "string.Join(\" \", descending.ThenBy(it => it))",
                "\"1 3 2\"",
            ),
            (
                "string.Join(\" \", descending.ThenByDescending(it => it))",
                "\"3 1 2\"",
            ),
        ],
    );
}

#[test]
fn anonymous_objects_need_no_type_of_the_program() {
    let rows = [
        (
            "new { A = 1, B = \"x\" }",
            "ok\t<anonymous type: int A, string B>\t{ A = 1, B = \"x\" }",
        ),
        ("new { A = new { B = 3 } }.A.B", "ok\tint\t3"),
        ("new { }", "ok\t<empty anonymous type>"),
        ("new { A = 1 }.ToString()", "ok\tstring\t\"{ A = 1 }\""),
        ("new { A = 1 }.Equals(new { A = 1 })", "ok\tbool\ttrue"),
        ("new { A = 1 } == new { A = 1 }", "ok\tbool\tfalse"),
        ("(new { A = 1 } with { A = 2 }).A", "ok\tint\t2"),
        ("new { A = 1 } is { A: 1 }", "ok\tbool\ttrue"),
        ("new { A = 1 }.B", "CS1061"),
        ("new { A = 1, A = 2 }", "CS0833"),
        ("new { numbers.Length, i }.Length", "ok\tint\t3"),
        (
            "words.Select(w => new { w, n = w.Length }).Where(it => it.n > 3).Select(it => it.w).Last()",
            "ok\tstring\t\"apple\"",
        ),
        (
            "words.Select(w => new { w, w.Length }).ToList()",
            "ok\tSystem.Collections.Generic.List<<anonymous type: string w, int Length>>",
        ),
        (
            "words.GroupBy(w => new { w.Length }).Select(g => new { g.Key.Length, N = g.Count() }).First()",
            "{ Length = 4, N = 1 }",
        ),
        (
            "from w in words let n = w.Length where n == 3 select new { w, n }",
            "{ w = \"fig\", n = 3 }",
        ),
        (
            "words.ToLookup(w => new { w.Length })[new { Length = 3 }].First()",
            "ok\tstring\t\"fig\"",
        ),
    ];
    compare_with_rows(FIXTURE, "main", &rows);
    compare_with_rows(
        FIXTURE,
        "main",
        &[
            (
                "words.Contains(new { A = 1 }.ToString())",
                "ok\tbool\tfalse",
            ),
            (
                "object.Equals(shown, new { Id = 1, Name = \"known\" })",
                "ok\tbool\ttrue",
            ),
            ("shown = new { Id = 2, Name = \"new\" }", "ok"),
            ("shown.ToString()", "{ Id = 2, Name = new }"),
            ("shown = new { Other = 2 }", "exists only in the debugger"),
        ],
    );
    // Nothing of it runs in the program.
    let sandbox = Sandbox::new();
    let program = stopped_in(&sandbox, FIXTURE, "main");
    for (text, expected) in rows {
        match program.request(Request::Evaluate(Evaluate::read(text))) {
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

#[test]
fn what_a_member_returns_by_reference_is_passed_on() {
    compare_with_rows(
        FIXTURE,
        "main",
        &[
            ("Cells.Raise(ref cells.At(1))", "ok"),
            ("cells.Numbers[1]", "ok\tint\t3"),
            (
                "System.Threading.Interlocked.Increment(ref cells.At(0))",
                "ok\tint\t2",
            ),
            ("cells.Numbers[0]", "ok\tint\t2"),
            ("Cells.Raise(ref cells.Tally(1).Count)", "ok"),
            ("cells.All[1].Count", "ok\tint\t1"),
            ("Cells.Raise(ref cells.Calls)", "ok"),
            ("cells.Calls", "ok\tint\t1"),
            ("Cells.Raise(ref Program.Twice(1))", "CS1510"),
        ],
    );
}

#[test]
fn ranges_of_inline_arrays_are_spans() {
    compare_with_rows(
        FIXTURE,
        "main",
        &[
            ("buffer[1..3]", "ok\tSystem.Span<int>"),
            ("buffer[1..3].ToArray().Sum()", "ok\tint\t5"),
            ("buffer[1..3].Length", "ok\tint\t2"),
            ("buffer[1..][^1]", "ok\tint\t4"),
            ("cells.Buffer[..2][1]", "ok\tint\t11"),
            ("buffer[3..6]", "System.ArgumentOutOfRangeException"),
        ],
    );
}

#[test]
fn collections_are_made_by_builders_that_take_spans() {
    compare_with_rows(
        FIXTURE,
        "main",
        &[
            ("cells.Take([1, 2, ..numbers])", "ok\tint\t9"),
            ("cells.Take([])", "ok\tint\t0"),
            ("((Row)([4, 5])).All.Length", "ok\tint\t2"),
        ],
    );
}

#[test]
fn blocks_of_lambdas_declare_do_and_return() {
    compare_with_rows(
        FIXTURE,
        "main",
        &[
            ("numbers.Select(x => { return x + 1; }).Sum()", "ok\tint\t9"),
            (
                "words.Select(w => { var n = w.Length; int twice = n * 2; return twice + i; }).First()",
                "ok\tint\t9",
            ),
            (
                "words.Where(w => { var first = w[0]; return first == 'f' && w.Any(c => c != first); }).Single()",
                "ok\tstring\t\"fig\"",
            ),
            (
                "words.Select<string, object>(w => { return null; }).Count()",
                "ok\tint\t3",
            ),
            (
                "words.ForEach(w => { cells.Called(1); cells.Called(w.Length); })",
                "ok",
            ),
            ("cells.Calls", "ok\tint\t15"),
            ("(int x) => { return x; }", "ok\tSystem.Func<int, int>"),
            ("(int x) => { cells.Called(x); }", "ok\tSystem.Action<int>"),
            ("words.Select(w => { cells.Called(1); }).Count()", "error"),
            ("words.ForEach(w => { return 1; })", "CS8030"),
            ("words.ForEach(w => { w.Length; })", "CS0201"),
            ("words.Select(w => { var n = w.Size; return n; })", "CS1061"),
            (
                "words.Select(w => { if (w == null) return 1; return 2; })",
                "other statements",
            ),
        ],
    );
}

#[test]
fn what_is_cast_to_dynamic_is_bound_when_it_runs() {
    compare_with_rows(
        FIXTURE,
        "main",
        &[
            ("((dynamic)shown).Id", "ok\tobject\t1"),
            ("((dynamic)shown).Name.Length + 1", "ok\tobject\t6"),
            ("(string)((dynamic)shown).Name", "ok\tstring\t\"known\""),
            ("((dynamic)cells).At(1)", "ok\tobject\t2"),
            ("((dynamic)shown).Missing", "CS1061"),
            (
                "cells.Holds(x => x > 0)",
                "an expression tree cannot be made",
            ),
        ],
    );
}
