//! Equality that types decide for themselves, places that members lead to, what else of C# was refused or answered otherwise.

use crate::corners::compare_with_rows;
use crate::sequences::compare_with_program;

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
