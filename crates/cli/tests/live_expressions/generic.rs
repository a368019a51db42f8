//! Variables that are declared with type parameters have what the constraints promise, as in C#; names that several types have, or
//! only their file.

use crate::corners::compare_with_rows;

const FIXTURE: &str = "expressions_generic";

#[test]
fn members_are_those_of_the_constraints() {
    compare_with_rows(
        FIXTURE,
        "has",
        &[
            ("s.V", "ok\tint\t1004"),
            ("s.Say()", "ok\tstring\t\"I1004\""),
            ("s.Count", "ok\tint\t5"),
            ("s == null", "ok\tbool\tfalse"),
            ("s.Raise()", "only on a copy"),
            ("((IHas)s).V", "ok\tint\t1004"),
        ],
    );
    compare_with_rows(
        FIXTURE,
        "same",
        &[
            ("s.V", "ok\tint\t2"),
            ("s.Raise()", "ok\tint\t7"),
            ("s.Count", "ok\tint\t6"),
            ("s == null", "ok\tbool\tfalse"),
            ("s != null", "ok\tbool\ttrue"),
            ("s == t", "ok\tbool\tfalse"),
        ],
    );
    compare_with_rows(
        FIXTURE,
        "of",
        &[
            ("s.Name", "ok\tstring\t\"base\""),
            ("s.Kind", "ok\tstring\t\"derived\""),
        ],
    );
    compare_with_rows(
        FIXTURE,
        "sum",
        &[
            ("s + S.One", "ok\tdouble\t3.5"),
            ("S.Zero", "ok\tdouble\t0"),
            ("double.One", "CS0117"),
        ],
    );
}

#[test]
fn what_the_parameter_allows_is_taken_whatever_it_stands_for() {
    compare_with_rows(
        FIXTURE,
        "run",
        &[
            ("x is null", "ok\tbool\tfalse"),
            ("x is not null", "ok\tbool\ttrue"),
            ("d is null", "ok\tbool\tfalse"),
            ("x is string { Length: 2 }", "ok\tbool\tfalse"),
            ("x is string q && q.Length > 1", "ok\tbool\tfalse"),
            (
                "x switch { string t => 1, int i => 2, _ => 3 }",
                "ok\tint\t2",
            ),
            ("x switch { null => 0, double => 1, _ => 9 }", "ok\tint\t9"),
            ("x as string", "ok\tstring\tnull"),
            ("x?.ToString()", "ok\tstring\t\"5\""),
            ("x?.GetType().Name", "ok\tstring\t\"Int32\""),
            ("x ?? d", "5"),
            ("x + 1", "ok\tint\t6"),
        ],
    );
    compare_with_rows(
        FIXTURE,
        "pick",
        &[("s switch { int i => i, long l => 2, _ => 0 }", "ok\tint\t7")],
    );
}

#[test]
fn what_two_interfaces_have_is_ambiguous_and_types_of_a_file_are_found() {
    compare_with_rows(
        FIXTURE,
        "named",
        &[
            ("both.P", "CS0229"),
            ("both.X()", "CS0121"),
            ("((ITwo)both).P", "ok\tint\t2"),
            ("((IOne)both).X()", "ok\tstring\t\"one\""),
            ("both.Own", "ok\tint\t4"),
            ("Hidden.Shared", "ok\tint\t7"),
            ("new Hidden().H", "ok\tint\t6"),
            ("((Hidden)hidden).H", "ok\tint\t6"),
            ("hidden is Hidden", "ok\tbool\ttrue"),
            ("kind == Kinds.Second", "ok\tbool\ttrue"),
            ("new Pair(1)", "CS7036"),
            ("new Pair()", "CS7036"),
            // What the runtime has not loaded is loaded for it.
            ("(1, 2L, 'c').ToString()", "ok\tstring\t\"(1, 2, c)\""),
            ("default((int, short, long)).ToString()", "\"(0, 0, 0)\""),
            ("(3, 2u).GetHashCode() == (3, 2u).GetHashCode()", "true"),
            ("(int x) => x + 1", "ok\tSystem.Func<int, int>"),
            ("x => x", "CS8917"),
        ],
    );
}

#[test]
fn what_is_captured_or_lives_on_has_the_members_of_its_constraints() {
    let rows = [
        ("s.V", "ok\tint\t1004"),
        ("s.Say()", "ok\tstring\t\"I1004\""),
        ("s.Count", "ok\tint\t5"),
    ];
    compare_with_rows(FIXTURE, "captured", &rows);
    compare_with_rows(FIXTURE, "yielded", &rows);
    compare_with_rows(
        FIXTURE,
        "awaited",
        &[
            ("s.Name", "ok\tstring\t\"base\""),
            ("s.Kind", "ok\tstring\t\"derived\""),
        ],
    );
}
