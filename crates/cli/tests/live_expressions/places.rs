//! Equality that types decide for themselves, places that members lead to, what else of C# was refused or answered otherwise.

use engine::api::{BreakpointSpec, Evaluate, Line, Place, Reply, Request};
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::corners::compare_with_rows;
use crate::language::stopped_in;
use crate::sequences::{compare_with_program, evaluate, told};

const FIXTURE: &str = "expressions_places";

#[test]
fn equality_and_places_are_csharps() {
    compare_with_program(FIXTURE);
}

#[test]
fn what_is_returned_by_reference_is_assigned() {
    compare_with_rows(
        FIXTURE,
        "places",
        &[
            ("holder.At(1) = 5", "ok\tint\t5"),
            ("holder[2] = 7", "ok\tint\t7"),
            ("holder[2]++", "ok\tint\t7"),
            ("holder.First += 3", "ok\tint\t4"),
            ("holder.Sum", "ok\tint\t458"),
            ("holder.At(0) = holder.At(1) = holder.Next()", "ok\tint\t9"),
            ("holder.Sum", "ok\tint\t998"),
            ("holder.At(7) = 3", "System.IndexOutOfRangeException"),
            ("holder.Fixed(0) = 3", "CS8331"),
            ("holder.Text(0) = \"new\"", "ok\tstring\t\"new\""),
            ("holder.Text(1) = words[0]", "ok\tstring\t\"p\""),
            ("holder.Texts", "\"new,p\""),
            ("holder.Text(1) += \"z\"", "the collector would not hear"),
            ("holder.Spot(0).X = 9", "ok\tint\t9"),
            ("holder.Spot(0).X", "ok\tint\t9"),
            ("holder.Spot(0) = new Spot { X = 3, Name = \"m\" }", "ok"),
            ("holder.Spot(0).X + holder.Spot(0).Name", "\"3m\""),
            ("Holder.Static() = 44", "ok\tint\t44"),
            ("Holder.Kept", "ok\tint\t44"),
            ("holder.Any(numbers, 1) = 50", "ok\tint\t50"),
            ("numbers[1]", "ok\tint\t50"),
            ("CollectionsMarshal.AsSpan(list)[0]++", "ok\tint\t1"),
            ("list[0]", "ok\tint\t2"),
            (
                "CollectionsMarshal.GetValueRefOrAddDefault(map, \"b\", out _) = 8",
                "ok\tint\t8",
            ),
            ("map[\"b\"]", "ok\tint\t8"),
            ("texts[0] = \"set\"", "ok\tstring\t\"set\""),
            ("texts[^1] += words[0]", "ok\tstring\t\"qset\""),
            ("words[0] + words[1]", "\"setqset\""),
            ("holder.Grid = new int[,] { { 5, 6 }, { 7, 8 } }", "ok"),
            ("holder.Grid[1, 0]", "ok\tint\t7"),
            ("new[,] { { 1, 2 }, { 3 } }", "CS0847"),
            ("new int[,] { 1, 2 }", "CS0846"),
            ("new int[] { { 1 } }", "CS0623"),
            ("half * 2", "CS0457"),
            ("half * numbers[0]", "CS0019"),
            ("half << 1", "CS0019"),
            ("5.Converted()", "CS0411"),
            ("5.Paired()", "CS7036"),
            ("new string(\'x\', 200000000)", "more than 256 MiB"),
        ],
    );
}

#[test]
fn methods_work_on_the_struct_that_a_reference_leads_to() {
    compare_with_rows(
        FIXTURE,
        "places",
        &[
            ("spots[1].Shift(5)", "ok\tint\t7"),
            ("array[1].X", "ok\tint\t7"),
            ("spots[^1].Shift(1)", "ok\tint\t8"),
            ("spots[1].Inner.Raise(3)", "ok\tint\t3"),
            ("array[1].Inner.Z", "ok\tint\t3"),
            // What is readonly is a copy in C#, too.
            ("spots[1].Fixed.Raise(3)", "ok\tint\t3"),
            ("spots[1].Fixed.Z", "ok\tint\t0"),
            ("kept[1].Shift(5)", "ok\tint\t13"),
            ("array[1].X", "ok\tint\t8"),
            ("spots[1].Twice = 40", "ok\tint\t40"),
            ("array[1].X", "ok\tint\t20"),
            ("spots[5].Shift(1)", "System.IndexOutOfRangeException"),
            ("holder.Spot(0).Shift(4)", "ok\tint\t5"),
            ("holder.Asked", "ok\tint\t1"),
            ("holder.Spot(0).X", "ok\tint\t5"),
            ("holder.Spot(0).Inner.Raise(holder.Next())", "ok\tint\t9"),
            ("holder.Asked", "ok\tint\t3"),
            ("holder.Spot(0).Inner.Z", "ok\tint\t9"),
            (
                "holder.Spot(0).Rename(\"new\", out var before) + before",
                "ok\tstring\t\"newn\"",
            ),
            ("holder.Spot(0).Name", "ok\tstring\t\"new\""),
            ("holder.Spot(0).Name = words[0]", "ok\tstring\t\"p\""),
            ("holder.Spot(0).Name", "ok\tstring\t\"p\""),
            ("holder.Spot(0).Twice = 8", "ok\tint\t8"),
            ("holder.Spot(0).Sum(1)", "ok\tint\t5"),
            ("holder.ReadOnly(0).Shift(3)", "ok\tint\t7"),
            ("holder.Spot(0).X", "ok\tint\t4"),
            ("holder.Spot(7).Shift(1)", "System.IndexOutOfRangeException"),
            ("holder.Found(0, out _).Shift(1)", "only a copy"),
            // A property gives a copy.
            ("holder.Auto.Shift(2)", "ok\tint\t2"),
            ("holder.Auto.Inner.Raise(2)", "ok\tint\t2"),
            ("holder.Auto.X + holder.Auto.Inner.Z", "ok\tint\t0"),
            ("holder.Plain.Shift(2) + holder.Plain.X", "ok\tint\t2"),
            ("Holder.Shared.Shift(2) + Holder.Shared.X", "ok\tint\t2"),
            ("holder.Auto = new Spot { X = 3 }", "ok"),
            ("holder.Auto.Twice", "ok\tint\t6"),
            ("holder.Auto.X = 3", "CS1612"),
            (
                "ReferenceEquals(words[0].Trim(), words[0])",
                "cannot be told",
            ),
            ("(object)words[0].Trim() == words[0]", "cannot be told"),
            ("new object[] { \"p\" }[0] == words[0]", "cannot be told"),
            (
                "ReferenceEquals(words[0].Trim(), \"other\")",
                "ok\tbool\tfalse",
            ),
            ("buffer[1].Shift(1)", "only a copy"),
            ("buffer[1].Sum(1)", "ok\tint\t1"),
            ("buffer[1].ToString()", "ok\tstring\t\"Spot\""),
        ],
    );
}

#[test]
fn keys_and_values_are_not_told_apart_without_running_code() {
    let sandbox = Sandbox::new();
    let program = stopped_in(&sandbox, FIXTURE, "places");
    for (text, expected) in [
        ("map.Keys == map.Keys", "would run code"),
        (
            "object.ReferenceEquals(map.Values, map.Values)",
            "would run code",
        ),
        ("map.Keys == null", "ok\tbool\tfalse"),
        ("map.Keys.Count", "ok\tint\t1"),
    ] {
        let Ok(Reply::Evaluated(read)) = program.request(Request::Evaluate(Evaluate::read(text)))
        else {
            panic!("evaluating gave no answer");
        };
        let read = told(&read[0]);
        assert!(read.contains(expected), "{text}: {read}");
    }
}

#[test]
fn what_lies_in_a_state_machine_that_is_a_struct_is_assigned_and_called() {
    const RELEASED: &str = "expressions_suspended";
    let sandbox = Sandbox::new();
    let program = stopped_in(&sandbox, RELEASED, "early");
    for marker in ["later", "generic", "end"] {
        let marker = Fixture::named(RELEASED).marker(marker);
        let place = Place::Line {
            file: marker.file.display().to_string(),
            line: Line(marker.line),
            column: None,
        };
        let set = program.request(Request::SetBreakpoint(BreakpointSpec::at(place)));
        set.expect("a breakpoint");
    }
    let check = |rows: &[(&str, &str)]| {
        let texts = rows.iter().map(|(text, _)| (*text).to_owned()).collect();
        for ((text, expected), answer) in rows.iter().zip(evaluate(&program, texts)) {
            let told = told(&answer);
            assert!(told.starts_with(expected), "{text}: {told}");
        }
    };
    // On the stack.
    check(&[
        ("name = \"early\"", "ok\tstring\t\"early\""),
        ("when.ToString(\"yyyy\")", "ok\tstring\t\"2024\""),
        ("kv.ToString()", "ok\tstring\t\"[a, 2]\""),
        ("meter.Twice()", "ok\tint\t4"),
        ("ct.CanBeCanceled", "ok\tbool\tfalse"),
    ]);
    program.cont();
    program.wait_stop();
    // In a box.
    check(&[
        ("name", "ok\tstring\t\"early\""),
        ("name += \"!\"", "ok\tstring\t\"early!\""),
        ("when.ToString(\"yyyy\")", "ok\tstring\t\"2024\""),
        (
            "when = when.AddMonths(3)",
            "ok\tSystem.DateTime\t2024-05-01",
        ),
        ("kv = new(\"b\", 3)", "ok"),
        ("kv.ToString()", "ok\tstring\t\"[b, 3]\""),
        ("ct.CanBeCanceled", "ok\tbool\tfalse"),
        ("meter.Add(5)", "ok"),
        ("meter.Twice()", "ok\tint\t14"),
        ("meter.Unit = \"km\"", "ok\tstring\t\"km\""),
        ("list = null", "ok"),
        ("tuple = (5, \"q\")", "ok"),
    ]);
    program.cont();
    program.wait_stop();
    check(&[
        ("text = \"set\"", "ok\tstring\t\"set\""),
        ("pair.ToString()", "ok\tstring\t\"[g, t]\""),
        ("first = \"h\"", "ok\tstring\t\"h\""),
    ]);
    program.cont();
    program.wait_stop();
    let after = "early! 05 [b, 3] False 7km  (5, q)";
    check(&[(
        "told",
        &format!(
            "ok\tstring\t\"early 02 [a, 2] False 2 1 (2, p);{after};{after};[g, t] set;[g, t] set;\""
        ),
    )]);
}
