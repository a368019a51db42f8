//! Values that are set: the program itself says what it finds then.

use host::api::{ErrorCode, Evaluate, Reply, Request, SetVariable, Stream, VariablesQuery};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use crate::support::stopped;

pub(crate) fn request(frame: u32, path: &str, value: &str) -> SetVariable {
    SetVariable {
        stop: None,
        thread: None,
        frame,
        path: path.into(),
        value: value.into(),
        force: false,
        mask_secrets: false,
    }
}

#[track_caller]
pub(crate) fn set(program: &Debuggee<'_>, frame: u32, path: &str, value: &str) -> String {
    match program.request(Request::SetVariable(Box::new(request(frame, path, value)))) {
        Ok(Reply::Variables(told)) => told.parent.expect("what was set").value.text,
        other => panic!("{path} = {value}: {other:?}"),
    }
}

#[test]
fn what_is_set_is_what_the_program_finds() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_set", &["stop"]);
    // Of the innermost frame: through a reference, and an argument's object.
    assert_eq!(set(&program, 0, "alias", "41"), "41");
    assert_eq!(set(&program, 0, "account.Balance", "-12.50"), "-12.50");
    // Of the frame around it.
    for (path, value, told) in [
        ("small", "255", "255"),
        ("ratio", "2.25", "2.25"),
        ("on", "true", "true"),
        ("letter", "'é'", "'é'"),
        ("text", "\"new \\\"text\\\"\"", "\"new \\\"text\\\"\""),
        ("gone", "null", "null"),
        ("level", "small > 1 ? Level.High : Level.Low", "High"),
        ("level", "Level.High", "High"),
        ("maybe", "12", "12"),
        ("other", "null", "null"),
        ("price", "99.95", "99.95"),
        ("thing", "account", "{Account}"),
        ("size", "copy", "{ Width = 8, Height = 9 }"),
        ("size.Width", "100", "100"),
        ("account.Owner", "\"ann\"", "\"ann\""),
        ("account.Next", "second", ""),
        ("account.Limit", "77", "77"),
        ("numbers[1]", "-2", "-2"),
        ("words[0]", "\"word\"", "\"word\""),
        ("list[1]", "\"item\"", "\"item\""),
        ("total", "50", "50"),
        ("title", "\"titled\"", "\"titled\""),
        // Through setters.
        ("third.Age", "30", "30"),
        ("third.Name", "\"zoe\"", "\"<zoe>\""),
        ("third.Mood", "null", "null"),
        ("third.Friend", "second", ""),
        ("third[5]", "45", "45"),
        ("meter.Steps", "70", "70"),
        // Structs with references inside, in place: as a whole, by field, in an array, by a property.
        (
            "tag",
            "other_tag",
            "{ Text = \"o\", Number = 2, held = \"o\" }",
        ),
        ("tag.Number", "7", "7"),
        ("tag.Text", "\"in place\"", "\"in place\""),
        (
            "tags[0]",
            "tag",
            "{ Text = \"in place\", Number = 7, held = \"o\" }",
        ),
        (
            "tags[1].Text",
            "\"\"\"raw \"text\" \\ of C#\"\"\"",
            "\"raw \\\"text\\\" \\\\ of C#\"",
        ),
        ("tags[1].Label", "\"by \" + \"setter\"", "\"[by setter]\""),
        // Pointers.
        ("pointer[0]", "6", "6"),
        ("nowhere", "pointer", ""),
        ("pointer", "null", "null"),
        ("anything", "pointer", "null"),
        // Properties by any expression; what is told is what the getter gives then.
        ("computed.Age", "third.Age + numbers.Length * 2", "46"),
        (
            "computed.Name",
            "$\"{second.Owner}-{1 + 1}\"",
            "\"<second-2>\"",
        ),
        ("computed.Mood", "on ? Level.High : Level.Low", "High"),
        ("Account.Shared", "3 + 4", "14"),
        (
            "computed.Owner",
            "account.Owner.ToUpper() + \"!\"",
            "\"ANN!\"",
        ),
    ] {
        let said = set(&program, 1, path, value);
        let is_text = !told.is_empty() && path != "thing";
        assert!(!is_text || said == told, "{path} = {value}: {said}");
    }
    program.cont();
    program.expect_exit(0);
    let out = program.text(Stream::Stdout);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(
        lines,
        [
            "stop",
            "41|255|2.25|True|é|new \"text\"|null|High|12|False|99.95|Account",
            "100|9|-12.50|ann|5|second|77",
            "-2|word|item|new \"text\"41|50|titled",
            "40|age;mood;friend;|<zoe>||second|70",
            "in place7o|in place7o|by setter4by setter|6|True|6|True",
            "46|<second-2>|High|age;mood;|14|ANN!",
        ]
    );
}

#[test]
fn an_entry_that_is_not_there_is_refused_with_how_it_may_be_added() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_collections", &["stop"]);
    let asked = Request::SetVariable(Box::new(request(0, "dictionary[\"ten\"]", "10")));
    let error = program.request(asked).expect_err("no such entry");
    let hint = error.hint.clone().unwrap_or_default();
    assert!(hint.contains("an indexer may add it"), "{error:?}");
}

#[test]
fn what_cannot_be_set_is_refused_with_a_reason() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_set", &["stop"]);
    for (path, value, reason) in [
        ("small", "256", "range of byte"),
        ("count", "1.5", "is no int"),
        ("count", "null", "is no int"),
        ("on", "1", "is no bool"),
        ("account.Number", "6", "readonly"),
        ("account", "list", "CS0029"),
        ("text", "5", "no string"),
        ("nobody", "5", "no variable"),
        ("numbers[9]", "5", "outside"),
        ("third.Fixed", "5", "Fixed has no setter"),
        ("third.Age", "\"x\"", "is no int"),
        ("level", "Level.Nothing", "error CS"),
    ] {
        let asked = Request::SetVariable(Box::new(request(1, path, value)));
        let error = program.request(asked).expect_err(path);
        assert_eq!(error.code, ErrorCode::InvalidParameter, "{error:?}");
        assert!(
            error.message.contains(reason),
            "{path} = {value}: {}",
            error.message
        );
    }
    // What a setter throws is told, and the program is as it was.
    let asked = Request::SetVariable(Box::new(request(1, "third.Age", "-1")));
    let error = program.request(asked).expect_err("too young");
    assert_eq!(error.code, ErrorCode::EvaluationFailed, "{error:?}");
    let thrown = "its setter threw System.ArgumentException: too young";
    assert!(error.message.contains(thrown), "{error:?}");
    let forced = SetVariable {
        force: true,
        ..request(1, "account.Number", "6")
    };
    program
        .request(Request::SetVariable(Box::new(forced)))
        .expect("a readonly field by force");
    program.cont();
    program.expect_exit(0);
    assert!(program.text(Stream::Stdout).contains("|nobody|6||10"));
}

#[test]
fn places_inside_boxes_nullables_and_readonly_fields_are_the_right_ones() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_places", &["stop"]);
    for (path, value, told) in [
        // What lies in a box has its place there, not where the reference lies.
        ("boxed.X", "40", "40"),
        ("boxed.Name", "\"in a box\"", "\"in a box\""),
        ("pair.Item1", "50", "50"),
        ("pair.Item2", "\"two\"", "\"two\""),
        ("value.X", "60", "60"),
        ("holder.Box.X", "10", "10"),
        ("holder.Box.Name", "\"inside\"", "\"inside\""),
        ("objects[0].X", "100", "100"),
        ("list[0].X", "110", "110"),
        ("map[\"k\"].X", "120", "120"),
        // Nor is the value of a `T?` where the `T?` begins.
        ("maybe.X", "70", "70"),
        ("maybe.Name", "\"m\"", "\"m\""),
        ("outer.In.X", "80", "80"),
        ("outer.In.Name", "\"oo\"", "\"oo\""),
        ("outer.Z", "90", "90"),
        ("holder.Maybe.X", "20", "20"),
        ("holder.Maybe.Name", "\"mm\"", "\"mm\""),
        ("holder.Many[0].X", "30", "30"),
        ("holder.Many[0].Name", "\"nn\"", "\"nn\""),
        // Only the field is readonly, not what it refers to.
        ("holder.List[0]", "5", "5"),
        ("holder.Array[0]", "6", "6"),
        ("holder.Other.Number", "7", "7"),
        ("holder.Got[0]", "8", "8"),
        ("Holder.Shared[0]", "9", "9"),
        // Statics of another type.
        ("Holder.Count", "44", "44"),
        ("Generic<int>.Place.X", "9", "9"),
        // What fits an array.
        ("bases[0]", "derived", ""),
        ("covariant[0]", "\"new\"", "\"new\""),
    ] {
        let said = set(&program, 0, path, value);
        assert!(told.is_empty() || said == told, "{path} = {value}: {said}");
    }
    for (path, value, reason) in [
        ("holder.Fixed.X", "5", "Fixed is readonly"),
        ("holder.List", "null", "List is readonly"),
        ("Holder.Shared", "null", "readonly"),
        ("numbers", "grid", "CS0029"),
        ("numbers", "points", "CS0029"),
        ("numbers", "longs", "CS0029"),
        ("numbers", "unsigned", "CS0029"),
        ("words", "objects", "CS0266"),
        ("covariant[0]", "5", "is no string"),
        ("bases[0]", "plain", "ArrayTypeMismatchException"),
    ] {
        let asked = Request::SetVariable(Box::new(request(0, path, value)));
        let error = program.request(asked).expect_err(path);
        let told = &error.message;
        assert!(told.contains(reason), "{path} = {value}: {told}");
    }
    program.cont();
    program.expect_exit(0);
    let out = program.text(Stream::Stdout);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(
        lines,
        [
            "stop",
            "40|in a box|(50, two)|60|beside|10|inside|after",
            "70|m|80|oo|90|20|mm|30|nn",
            "100|text|110|text|120",
            "5|6|7|0|8|9",
            "44|sesame|9|System.Int32[]|new|Derived|3|word",
        ]
    );
}

#[test]
fn places_inside_elements_tuples_and_readonly_fields_are_reached() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_reached", &["stop", "taking"]);
    let refused = |path: &str, value: &str, force: bool| {
        let mut request = request(0, path, value);
        request.force = force;
        let asked = Request::SetVariable(Box::new(request));
        program.request(asked).err().map(|it| it.message)
    };
    for (path, value) in [
        ("tuples[0].name", "3"),
        ("tuples[0].text", "\"T\""),
        ("longer[0].g", "70"),
        ("longer[0].h", "\"H\""),
        ("longer[0].i.y", "11"),
        ("keyed[\"k\"].text", "\"K\""),
        ("maybe.name", "4"),
        ("maybe.text", "\"M\""),
        ("perhaps.Value.Text", "\"P\""),
        ("linked[0]", "\"L\""),
        ("queue[0]", "\"Q\""),
        ("stack[0]", "\"S\""),
        ("concurrent[\"k\"].Text", "\"C\""),
        ("line[1]", "\"I\""),
        ("bag[0]", "\"B\""),
        ("real", "5L"),
        ("money", "2.50m"),
    ] {
        assert_eq!(refused(path, value, false), None, "{path}");
    }
    // What C# does not convert by itself.
    for (path, value) in [
        ("number", "5L"),
        ("number", "5u"),
        ("real", "1.5m"),
        ("money", "1.5f"),
    ] {
        let why = refused(path, value, false).unwrap_or_default();
        assert!(why.contains("C# does not convert"), "{path}: {why}");
    }
    // Readonly fields of another type, by force only.
    for (path, value) in [("Other.Number", "5"), ("Other.Text", "\"forced\"")] {
        let why = refused(path, value, false).unwrap_or_default();
        assert!(why.contains("is readonly"), "{path}: {why}");
        assert_eq!(refused(path, value, true), None, "{path}");
    }
    program.cont();
    program.wait_output("(3, T) 70 H 11 (1, K) (4, M) 1 P\nL Q S C aI B 1 5 2.50\n5 forced\n");
    program.wait_stop();
    // An `in` parameter is not to be changed.
    for path in ["given", "part.Number"] {
        let why = refused(path, "9", false).unwrap_or_default();
        assert!(why.contains("is readonly"), "{path}: {why}");
        assert_eq!(refused(path, "9", true), None, "{path}");
    }
    program.cont();
    program.wait_output("9 9");
    program.expect_exit(0);
}

#[test]
fn places_that_csharp_does_not_assign_to_take_what_it_computes() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_into", &["stop", "after"]);
    for (path, value, told) in [
        ("boxed.Count", "a + b * 2", "11"),
        ("boxed.Total", "a + b", "7"),
        ("boxed.Name", "text + a", "\"t3\""),
        ("boxed.Rest", "b", "4"),
        ("maybe.Value.Count", "a > 2 ? 8 : 9", "8"),
        ("maybe.Value.Name", "maker.Say(text)", "\"<t0>\""),
        ("list[1].Count", "maker.Next() + 10", "11"),
        ("list[1].Name", "maker.Say(\"l\")", "\"<l1>\""),
        ("list[1].Range.High", "\"h\" + b", "\"h4\""),
        ("queue[1].Total", "(long)a << 33", "25769803776"),
        ("queue[1].Name", "$\"{a}-{b}\"", "\"3-4\""),
        ("queue[1].Rest", "a == 3 ? null : 1", "null"),
        ("linked[0].Count", "list.Count + queue.Count", "4"),
        ("linked[0].Name", "null ?? text", "\"t\""),
    ] {
        assert_eq!(set(&program, 0, path, value), told, "{path} = {value}");
    }
    for (path, value, reason) in [
        ("boxed.Count", "a + 1L", "CS0266"),
        ("boxed.Name", "a + b", "CS0029"),
        ("list[1].Count", "nothing + 1", "CS0103"),
        ("queue[1].Name", "maker", "CS0029"),
    ] {
        let asked = Request::SetVariable(Box::new(request(0, path, value)));
        let error = program.request(asked).expect_err(path);
        let why = &error.message;
        assert!(why.contains(reason), "{path} = {value}: {why}");
        assert!(!why.contains("__"), "{why}");
    }
    program.cont();
    program.wait_stop();
    let said = "11,7,t3,4,(0, )|8,0,<t0>,,(0, )|11,0,<l1>,,(0, h4)|0,25769803776,3-4,,(0, )|4,0,t,,(0, )|1";
    let printed = program.text(Stream::Stdout);
    assert!(printed.contains(said), "{printed}");
}

#[test]
fn what_a_ref_readonly_local_leads_to_is_set_by_force_only() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_fixed", &["stop", "after"]);
    for local in [
        "peeked", "generic", "passed", "part", "field", "inside", "shared", "element", "again",
    ] {
        let asked = Request::SetVariable(Box::new(request(0, local, "40")));
        let error = program.request(asked).expect_err(local);
        assert!(error.message.contains("is readonly"), "{local}: {error:?}");
        assert!(error.hint.is_some_and(|it| it.contains("force")), "{local}");
    }
    for (number, local) in ["poked", "open", "free", "through", "slot"]
        .iter()
        .enumerate()
    {
        let value = (50 + number).to_string();
        assert_eq!(set(&program, 0, local, &value), value, "{local}");
    }
    let forced = SetVariable {
        force: true,
        ..request(0, "again", "60")
    };
    let forced = program.request(Request::SetVariable(Box::new(forced)));
    forced.expect("set by force");
    program.cont();
    program.wait_stop();
    let printed = program.text(Stream::Stdout);
    assert!(printed.contains("50|51|52|53|54|60"), "{printed}");
}

#[test]
fn references_in_inline_arrays_and_behind_spans_are_set_so_that_the_collector_hears_of_it() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_slots", &["stop", "after"]);
    for (path, value, told) in [
        ("local[1]", "\"new\" + number", "\"new4\""),
        ("local[2]", "null", "null"),
        ("local[0]", "\"literal\"", "\"literal\""),
        ("entries[1].Text", "local[1] + \"!\"", "\"new4!\""),
        ("entries[1].Thing", "thing", "{ Name = \"thing\" }"),
        ("entries[1].Number", "number * 2", "8"),
        (
            "span[1]",
            "new Thing { Name = \"made\" }",
            "{ Name = \"made\" }",
        ),
        ("holder.Texts[1]", "\"held\"", "\"held\""),
        ("holder.Texts[2]", "string.Concat(\"c\", number)", "\"c4\""),
        ("holder.Entries[1].Text", "\"deep\"", "\"deep\""),
        (
            "holder.Entries[1].Thing",
            "new Thing { Name = \"inner\" }",
            "{ Name = \"inner\" }",
        ),
        ("holder.Things[1]", "array[0]", "{ Name = \"a0\" }"),
        // Structs with references as a whole.
        (
            "entries[0]",
            "new Entry { Number = number + 1, Text = \"whole\" + number, Thing = thing, Pair = (3, \"pair\") }",
            "{ Number = 5, Text = \"whole4\", Thing = { Name = \"thing\" }, Pair = (3, \"pair\") }",
        ),
        (
            "holder.Entries[0]",
            "entries[0]",
            "{ Number = 5, Text = \"whole4\", Thing = { Name = \"thing\" }, Pair = (3, \"pair\") }",
        ),
    ] {
        assert_eq!(set(&program, 0, path, value), told, "{path} = {value}");
    }
    // What has inline arrays of references is copied whole or not at all.
    for (path, value, told) in [
        ("copy", "local", "Count = 3 { \"literal\", \"new4\", null }"),
        (
            "other",
            "around",
            "{ Before = 6, Texts = Count = 3 { null, null, \"kept\" }, After = \"after\" }",
        ),
        (
            "holder.All[1]",
            "around",
            "{ Before = 6, Texts = Count = 3 { null, null, \"kept\" }, After = \"after\" }",
        ),
    ] {
        assert_eq!(set(&program, 0, path, value), told, "{path} = {value}");
    }
    for text in [
        "other = around",
        "holder.Things.Equals(around)",
        "holder.All[0] = around",
    ] {
        let request = Request::Evaluate(Evaluate {
            side_effects: true,
            ..Evaluate::read(text)
        });
        let Ok(Reply::Evaluated(all)) = program.request(request) else {
            panic!("no answer to {text}");
        };
        let outcome = all.into_iter().next().expect("one answer").outcome;
        let why = outcome.expect_err(text).error.message;
        assert!(why.contains("one by one"), "{text}: {why}");
    }
    // What was given is known by all that it refers to, wherever the collector puts that.
    let asked = Request::Evaluate(Evaluate {
        side_effects: true,
        ..Evaluate::read("holder.Texts is var given && Collect() ? given[2] : \"\"")
    });
    let Ok(Reply::Evaluated(all)) = program.request(asked) else {
        panic!("no answer");
    };
    let outcome = all.into_iter().next().expect("one answer").outcome;
    assert_eq!(outcome.expect("a text").text, "\"c4\"");
    let query = VariablesQuery {
        path: Some("around".into()),
        ..VariablesQuery::default()
    };
    let Ok(Reply::Object(report)) = program.request(Request::InspectObject(Box::new(query))) else {
        panic!("around is not told");
    };
    let names: Vec<_> = report
        .references
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    assert_eq!(names, ["Texts[2]", "After"]);
    for (path, value, reason) in [
        ("holder.Things[1]", "\"text\"", "no Thing"),
        ("local[1]", "thing", "CS"),
        ("local[3]", "\"x\"", "3"),
        ("entries[0]", "thing", "CS"),
    ] {
        let asked = Request::SetVariable(Box::new(request(0, path, value)));
        let error = program.request(asked).expect_err(path);
        let why = &error.message;
        assert!(why.contains(reason), "{path} = {value}: {why}");
        assert!(!why.contains("__"), "{why}");
    }
    program.cont();
    program.wait_stop();
    let printed = program.text(Stream::Stdout);
    for said in [
        "literal|new4||new4!|thing|8|made",
        "held|c4|deep|inner|a0|thing",
        "5|whole4|thing|(3, pair)|whole4|(3, pair)",
        "literal|new4||6||kept|after|kept|after|6",
    ] {
        assert!(printed.contains(said), "{said}: {printed}");
    }
}

#[test]
fn this_of_a_class_is_not_set() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "expressions_around", &["primary"]);
    let asked = Request::SetVariable(Box::new(request(0, "this", "null")));
    let error = program.request(asked).expect_err("`this`");
    assert!(error.message.contains("CS1604"), "{error:?}");
    program.cont();
    program.expect_exit(0);
}
