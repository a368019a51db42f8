//! What is passed, returned and kept by reference; conversions of one's own.

use engine::api::{BreakpointSpec, Line, Place};
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::corners::compare_with_rows;
use crate::hits::traces;

const FIXTURE: &str = "expressions_referring";

#[test]
fn arguments_are_passed_by_reference() {
    compare_with_rows(
        FIXTURE,
        "referring",
        &[
            ("Alias(ref i, ref i)", "ok\tint\t2"),
            ("i", "ok\tint\t2"),
            ("AreSame(ref i, ref i)", "ok\tbool\ttrue"),
            ("AreSame(ref i, ref j)", "ok\tbool\tfalse"),
            ("AreSame(ref element, ref array[0])", "ok\tbool\ttrue"),
            ("AreSame(ref s, ref s)", "ok\tbool\ttrue"),
            ("AreSame(ref words[1], ref words[1])", "ok\tbool\ttrue"),
            ("AreSame(ref words[1], ref words[0])", "ok\tbool\tfalse"),
            ("holder.Mod(ref holder.Number)", "ok\tint\t101"),
            ("holder.Number", "ok\tint\t101"),
            ("Holder.StaticMod(ref Holder.Static)", "ok\tint\t10"),
            ("Holder.Static", "ok\tint\t10"),
            ("Captured(get, ref captured)", "ok\tint\t42"),
            ("captured", "ok\tint\t42"),
            ("holder.ModPair(ref holder.Pair)", "ok\tint\t7"),
            ("holder.Pair.A", "ok\tint\t8"),
            ("holder.Set(ref holder.Text, \"new\")", "ok\tbool\ttrue"),
            ("holder.Seen", "\"new101\""),
            ("holder.Set(ref holder.Pair.B, \"inner\")", "ok\tbool\ttrue"),
            ("holder.Pair.B", "\"inner\""),
            ("holder.Set(ref holder.Pair.A, 31)", "ok\tbool\ttrue"),
            ("holder.Pair.A", "ok\tint\t31"),
            ("holder.Set(ref holder.Maybe, 5)", "ok\tbool\ttrue"),
            ("holder.Maybe", "5"),
            (
                "holder.Set(ref holder.Day, DayOfWeek.Friday)",
                "ok\tbool\ttrue",
            ),
            ("holder.Day", "Friday"),
            ("holder.Set(ref holder.Big, 1L << 50)", "ok\tbool\ttrue"),
            ("holder.Big", "ok\tlong\t1125899906842624"),
            (
                "holder.Set(ref Holder.StaticText, \"static\")",
                "ok\tbool\ttrue",
            ),
            ("Holder.StaticText", "\"static\""),
            ("holder.Set(ref words[0], \"w\")", "ok\tbool\ttrue"),
            ("words[0]", "\"w\""),
            ("holder.Set(ref s, \"set\")", "ok\tbool\ttrue"),
            ("s", "\"set\""),
            ("holder.Set(ref o, \"object\")", "ok\tbool\ttrue"),
            ("o", "\"object\""),
            ("holder.Set(ref pair.B, \"local\")", "ok\tbool\ttrue"),
            ("pair.B + pair.A", "\"local2\""),
            ("holder.Set(ref maybe, null)", "ok\tbool\ttrue"),
            ("maybe", "null"),
            ("holder.Set(ref big, -1)", "ok\tbool\ttrue"),
            ("big", "ok\tlong\t-1"),
            ("holder.Set(ref element, 13)", "ok\tbool\ttrue"),
            ("array[0]", "ok\tint\t13"),
            (
                "holder.Throw(ref i, 77)",
                "System.InvalidOperationException",
            ),
            ("i", "ok\tint\t77"),
            (
                "holder.Throw(ref holder.Number, 78)",
                "System.InvalidOperationException",
            ),
            ("holder.Number", "ok\tint\t78"),
            (
                "holder.Throw(ref s, \"before\")",
                "System.InvalidOperationException",
            ),
            ("s", "\"before\""),
            ("pair.Shift(ref pair.A)", "ok\tint"),
            ("new Taker(ref i, out s).Took", "ok\tint\t77"),
            ("s + i", "\"took78\""),
            ("new Taker(ref i, out var told).Took + told", "\"78took\""),
        ],
    );
}

#[test]
fn what_is_returned_of_arguments_is_the_place() {
    compare_with_rows(
        FIXTURE,
        "referring",
        &[
            ("Pick(ref i, ref j, true)", "ok\tint\t6"),
            ("Pick(ref i, ref j, true) = 50", "ok\tint\t50"),
            ("i", "ok\tint\t50"),
            ("Pick(ref i, ref j, false)++", "ok\tint\t6"),
            ("j", "ok\tint\t7"),
            ("Same(ref array[1])", "ok\tint\t20"),
            ("Same(ref array[1]) = 60", "ok\tint\t60"),
            ("array[1]", "ok\tint\t60"),
            ("Same(ref holder.Number) += 1", "ok\tint\t71"),
            ("holder.Number", "ok\tint\t71"),
            ("Same(ref s)", "\"loc\""),
            ("Same(ref s) = \"put\"", "\"put\""),
            ("s", "\"put\""),
            ("Same(ref holder.Text) = \"there\"", "\"there\""),
            ("holder.Text", "\"there\""),
            ("Same(ref pair).A", "ok\tint\t2"),
            ("Same(ref pair).A = 9", "ok\tint\t9"),
            ("pair.A", "ok\tint\t9"),
            ("Read(in i)", "ok\tint\t50"),
            ("Read(i)", "ok\tint\t50"),
            ("Read(in holder.Fixed)", "ok\tint\t3"),
            ("Alias(ref i, ref holder.Fixed)", "CS0192"),
            ("Read(5 + 1)", "ok\tint\t6"),
            ("Read(\"text\")", "\"text\""),
            ("Unsafe.As<int, uint>(ref i)", "ok\tuint\t50"),
            ("Unsafe.Add(ref array[0], 1)", "ok\tint\t60"),
            ("Unsafe.AsRef(in i)", "ok\tint\t50"),
            ("Same(ref span[1])", "ok\tint\t60"),
            ("Same(ref span[1]) = 1", "only be passed as a copy"),
            ("Same(ref span[1])++", "only be passed as a copy"),
            (
                "holder.Throw(ref span[1], 61)",
                "System.InvalidOperationException",
            ),
            ("array[1]", "ok\tint\t61"),
            ("Wrap(ref i)[0]", "ok\tint\t50"),
            ("Wrap(ref i)[0] = 77", "ok\tint\t77"),
            ("i", "ok\tint\t77"),
            ("i.Self()", "ok\tint\t77"),
            ("i.Self() = 78", "ok\tint\t78"),
            ("i", "ok\tint\t78"),
        ],
    );
}

#[test]
fn casts_take_the_conversion_that_fits_best() {
    compare_with_rows(
        FIXTURE,
        "converted",
        &[
            ("(long)narrow", "ok\tlong\t10"),
            ("(long)text", "ok\tlong\t20"),
            ("(double)text", "ok\tdouble\t200"),
            ("(float)text", "ok\tfloat\t20"),
            ("(decimal)text", "ok\tdecimal\t20"),
            ("(int)text", "ok\tint\t2"),
            ("(short)text", "ok\tshort\t2"),
            ("(int)wide", "ok\tint\t3"),
            ("(long)wide", "ok\tlong\t3"),
            ("(int)narrow", "CS0457"),
            ("wide++.X", "ok\tint\t3"),
            ("wide.X", "ok\tint\t4"),
            ("(++wide).X", "ok\tint\t5"),
            ("(--wide).X", "ok\tint\t4"),
        ],
    );
}

#[test]
fn fields_that_are_references_are_what_they_lead_to() {
    compare_with_rows(
        FIXTURE,
        "window",
        &[
            ("R", "ok\tint\t8"),
            ("R + 1", "ok\tint\t9"),
            ("R == 8", "ok\tbool\ttrue"),
            ("N + R", "ok\tint\t10"),
            ("R.ToString()", "\"8\""),
            ("R is 8", "ok\tbool\ttrue"),
            ("(long)R", "ok\tlong\t8"),
            ("Math.Max(R, 3)", "ok\tint\t8"),
            ("new[] { R }", "int[]"),
            ("this.R", "ok\tint\t8"),
            ("Fixed", "ok\tint\t9"),
            ("R = 20", "ok\tint\t20"),
            ("cells[1]", "ok\tint\t20"),
            ("R++", "ok\tint\t20"),
            ("R += 2", "ok\tint\t23"),
            ("cells[1]", "ok\tint\t23"),
            ("Fixed = 3", "CS8331"),
            ("Interlocked.Add(ref Fixed, 7)", "CS8329"),
            ("Interlocked.Add(ref R, 7)", "ok\tint\t30"),
            ("cells[1]", "ok\tint\t30"),
        ],
    );
}

#[test]
fn messages_tell_sequences_that_are_computed_by_their_elements() {
    let sandbox = Sandbox::new();
    let marker = Fixture::named(FIXTURE).marker("logged");
    let place = Place::Line {
        file: marker.file.display().to_string(),
        line: Line(marker.line),
        column: None,
    };
    let rows = [
        ("list.Select(x => x + 1)", "[2, 3, 4]"),
        ("list.Where(x => x > 1)", "[2, 3]"),
        ("from x in list select x * 2", "[2, 4, 6]"),
        ("list.OrderBy(x => -x)", "[3, 2, 1]"),
        ("Enumerable.Range(1, 3)", "[1, 2, 3]"),
        ("\"ab\".Reverse()", "['b', 'a']"),
        ("list.GroupBy(x => x % 2)", "[[1, 3], [2]]"),
        ("list.Select(x => x + 1).ToList()", "[2, 3, 4]"),
    ];
    let holes: Vec<String> = rows.iter().map(|(text, _)| format!("{{{text}}}")).collect();
    let spec = BreakpointSpec {
        log_message: Some(holes.join("; ")),
        ..BreakpointSpec::at(place)
    };
    let program = sandbox
        .launch(FIXTURE)
        .with(|launch| launch.breakpoints = vec![spec])
        .start();
    program.expect_exit(0);
    let told: Vec<&str> = rows.iter().map(|(_, told)| *told).collect();
    assert_eq!(traces(&program), [told.join("; ")]);
}
