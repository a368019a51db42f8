//! Breakpoints on methods, by every form of their names.

use std::collections::BTreeMap;

use host::api::{BreakpointState, ErrorCode, Frame, Reply, Request};
use testkit::debuggee::Debuggee;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::breakpoints_support::{at_function, here, hit, line, lines, list, set};

/// The lines, by their markers, that a name binds to.
#[track_caller]
fn check(program: &Debuggee<'_>, name: &str, markers: &[&str]) {
    let (breakpoint, _) = set(program, at_function(name));
    assert_eq!(
        breakpoint.state,
        BreakpointState::Bound,
        "{name}: {breakpoint:#?}"
    );
    let mut expected: Vec<u32> = markers.iter().map(|it| line("bp_names", it)).collect();
    expected.sort_unstable();
    let mut found = lines(&breakpoint);
    found.sort_unstable();
    assert_eq!(found, expected, "{name}: {breakpoint:#?}");
    program
        .request(Request::RemoveBreakpoint(breakpoint.id))
        .expect("removed");
}

#[test]
fn every_kind_of_method_is_found_by_its_names() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("bp_names").stop_at_entry().start();
    program.wait_stop();
    for (name, markers) in [
        ("Names.Deep.Person.Greet", &["explicit"][..]),
        ("Person.IGreets.Greet", &["explicit"]),
        (
            "Names.Deep.Person.Names.Deep.IGreets.Greet()",
            &["explicit"],
        ),
        ("Person..cctor", &["static_constructor"]),
        ("Person..ctor(string)", &["constructor"]),
        ("Person.Person(string name)", &["constructor"]),
        ("Person.Name", &["property", "property"]),
        ("Person.Name.get", &["property"]),
        ("Person.set_Name", &["property"]),
        ("Person.this[int]", &["indexer", "indexer"]),
        ("Person.this[int].get", &["indexer"]),
        ("Person.this[int].set", &["indexer"]),
        ("Person.this.set", &["indexer"]),
        ("Person.this[]", &["indexer", "indexer"]),
        ("Person.operator -", &["minus"]),
        ("Person.operator checked -", &["checked_minus"]),
        ("Person.get_Item(System.Int32)", &["indexer"]),
        ("Person.Item", &["indexer", "indexer"]),
        ("Person.Changed", &["event", "event"]),
        ("Person.Changed.remove", &["event"]),
        ("Person.add_Changed", &["event"]),
        ("Person.~Person", &["finalizer"]),
        ("Person.Finalize", &["finalizer"]),
        ("Person.operator +", &["plus"]),
        ("Person.operator+(Person, Person)", &["plus"]),
        ("Person.op_Addition", &["plus"]),
        ("Person.implicit operator int", &["to_int"]),
        ("Person.implicit operator", &["to_int", "to_string"]),
        ("Person.op_Implicit", &["to_int", "to_string"]),
        ("Person.operator int", &["to_int"]),
        ("operator int(Person)", &["to_int"]),
        ("Person.operator System.Int32[]", &["to_array"]),
        ("Person.operator Person", &["from_int"]),
        ("Person.operator (int, string)", &["to_tuple"]),
        (
            "Person.explicit operator (int, string)(Person)",
            &["to_tuple"],
        ),
        ("Person.operator checked (int, string)", &["to_checked"]),
        ("Person.operator true", &["true"]),
        ("Person.operator false(Person)", &["false"]),
        ("Person.operator >>>", &["unsigned"]),
        ("Person.Pet.Bark", &["nested"]),
        ("Names.Deep.Person+Pet.Bark(ref int, string[])", &["nested"]),
        ("Bark(ref int times, params string[] words)", &["nested"]),
        ("Box<T>.Put", &["box_put"]),
        ("Box`1.Put(T)", &["box_put"]),
        ("Names.Deep.Box<T>.As<U>", &["box_as"]),
        ("As`1", &["box_as"]),
        ("Program.Over(int)", &["over_int"]),
        ("Over(string?)", &["over_string"]),
        ("Program.Later", &["later"]),
        ("Three", &["three"]),
        ("Program.Main.Twice", &["local"]),
        ("Twice", &["local"]),
        ("Main.AnonymousMethod", &["lambda"]),
        ("bp_names!Program.Over(int)", &["over_int"]),
        ("bp_names.dll!Twice", &["local"]),
    ] {
        check(&program, name, markers);
    }
    for (name, count) in [
        ("Over", 4),
        ("Box.Put", 2),
        ("Person..ctor", 2),
        ("Program.Over(int?, Dictionary<string, int[]>)", 1),
        ("Over(Nullable<int>, Dictionary<string, int[]>)", 1),
        (
            "Over(System.Nullable<Int32> a, Dictionary<String, int[]> map)",
            1,
        ),
        ("Over(ValueTuple<int, string>)", 1),
        ("Over(System.ValueTuple<int, System.String> pair)", 1),
        ("string.Concat(string, string)", 1),
        ("String.Concat(String, String)", 1),
        ("System.String.Concat(string, string)", 1),
        ("System.Decimal.Parse(string)", 1),
        ("decimal.Parse(string)", 1),
    ] {
        let (breakpoint, _) = set(&program, at_function(name));
        assert_eq!(breakpoint.locations.len(), count, "{name}: {breakpoint:#?}");
    }
}

/// Each of two names may come to mean more than the other; one that covers another takes its place, and no number is lost.
#[test]
fn other_spellings_of_a_method_are_the_same_breakpoint_or_told_to_be_at_the_same_place() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("bp_names").stop_at_entry().start();
    program.wait_stop();
    let (first, _) = set(&program, at_function("bp_names!Program.Later"));
    let (second, duplicate) = set(&program, at_function("Program.Later(int)"));
    assert!(!duplicate);
    let twin = |id: u32| {
        format!(
            "breakpoint {id} is at the same place: each counts and stops for itself, and one may be removed"
        )
    };
    assert!(second.notes.contains(&twin(first.id.0)), "{second:#?}");
    let (_, duplicate) = set(&program, at_function("Program.Later"));
    assert!(duplicate);
    let told = list(&program);
    let notes: Vec<_> = told.iter().map(|it| &it.notes).collect();
    assert_eq!(told.len(), 2, "{told:#?}");
    assert!(notes[0].contains(&twin(second.id.0)), "{notes:?}");
    let (next, _) = set(&program, at_function("Twice"));
    assert_eq!(next.id.0, second.id.0 + 1);
}

#[test]
fn local_functions_inside_others_are_found_by_all_or_some_of_them() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("nested_functions").stop_at_entry().start();
    program.wait_stop();
    for (name, markers) in [
        ("Program.Main.Outer.Inner", &["inner"][..]),
        ("Outer.Inner", &["inner"]),
        ("Program.Second.Inner(int)", &["other"]),
        ("Second.Inner", &["other"]),
        ("Main.Inner", &["inner", "other"]),
        ("Inner", &["inner", "other"]),
        ("Main.Outer.Inner.Leaf", &["leaf"]),
        ("Inner.Leaf()", &["leaf"]),
        ("Leaf", &["leaf"]),
        ("Outer.Inner.AnonymousMethod", &["lambda"]),
        ("Main.AnonymousMethod", &["lambda"]),
        ("Outer.Later.Note", &["note"]),
        ("Later.Note", &["note"]),
        ("Shape<T>.Pair<U>.Print<V>", &["print"]),
        ("Program.Shape.Pair.Print", &["print"]),
        // What it has captured is handed to it behind its own parameters.
        ("Print(V)", &["print"]),
    ] {
        let (breakpoint, _) = set(&program, at_function(name));
        let mut expected: Vec<u32> = markers
            .iter()
            .map(|it| line("nested_functions", it))
            .collect();
        let mut found = lines(&breakpoint);
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected, "{name}: {breakpoint:#?}");
        program
            .request(Request::RemoveBreakpoint(breakpoint.id))
            .expect("removed");
    }
    let (breakpoint, _) = set(&program, at_function("Outer.Iner"));
    let reason = breakpoint.reason.expect("a reason");
    assert!(
        reason.contains("Program.Main.Outer.Inner(int m)"),
        "{reason}"
    );
    let (breakpoint, _) = set(&program, at_function("Second.Leaf"));
    assert_eq!(
        breakpoint.state,
        BreakpointState::Pending,
        "{breakpoint:#?}"
    );
}

#[test]
fn names_that_no_method_has_are_pending_with_what_may_be_meant() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("bp_names").stop_at_entry().start();
    program.wait_stop();
    for (name, meant) in [
        ("Persn.Name", "Person.Name"),
        ("Program.Latre", "Program.Later"),
        ("Over(long)", "Over(int a)"),
        ("box<T>.put", "Box<T>.Put"),
        ("Names.Deep.Person", "did you mean Names.Deep.Person."),
        ("Nobody.Twice", "Program.Main.Twice"),
        (
            "Person.operator long",
            "Person.implicit operator int(Person a)",
        ),
    ] {
        let (breakpoint, _) = set(&program, at_function(name));
        assert_eq!(
            breakpoint.state,
            BreakpointState::Pending,
            "{name}: {breakpoint:#?}"
        );
        let reason = breakpoint.reason.expect("a reason");
        assert!(
            reason.contains("did you mean") && reason.contains(meant),
            "{name}: {reason}"
        );
    }
    let (breakpoint, _) = set(&program, at_function("Completely.Different"));
    assert!(
        !breakpoint
            .reason
            .expect("a reason")
            .contains("did you mean")
    );
    for name in [
        "Person.*",
        "Pers?n.Name",
        "*!Main",
        "Person.Name(int",
        "void Person.Greet()",
        "Person::Greet",
    ] {
        assert_eq!(
            program.refused(Request::SetBreakpoint(at_function(name))),
            ErrorCode::InvalidParameter,
            "{name}"
        );
    }
    let (waiting, _) = set(&program, at_function("Shape.Area"));
    assert_eq!(waiting.state, BreakpointState::Pending, "{waiting:#?}");
    let reason = waiting.reason.expect("a reason");
    assert!(reason.contains("is abstract"), "{reason}");
}

#[test]
fn method_breakpoints_stop_once_for_each_call_whatever_the_method_is() {
    let sandbox = Sandbox::new();
    let names = [
        ("Person..cctor", 1),
        ("Person..ctor(string)", 1),
        ("Twice", 1),
        ("Main.AnonymousMethod", 1),
        ("Person.Changed", 2),
        ("Person.Greet", 1),
        ("Person.operator +", 1),
        ("Pet.Bark", 1),
        ("Box<T>.Put", 2),
        ("Program.Later", 1),
        ("Program.Three", 1),
    ];
    let specs = names.iter().map(|(name, _)| at_function(name)).collect();
    let program = sandbox
        .launch("bp_names")
        .with(|launch| launch.breakpoints = specs)
        .start();
    while program.settle().exit.is_none() {
        program.cont();
    }
    let hits = list(&program);
    for ((name, expected), breakpoint) in names.iter().zip(&hits) {
        // Two constructors call the one with a name, and `+` makes another person.
        let expected = if *name == "Person..ctor(string)" {
            2
        } else {
            *expected
        };
        assert_eq!(breakpoint.hits, expected, "{name}: {breakpoint:#?}");
    }
}

#[test]
fn framework_methods_stop_without_source_and_say_that_they_are_optimised() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("bp_names").stop_at_entry().start();
    program.wait_stop();
    let (breakpoint, _) = set(&program, at_function("System.Threading.Tasks.Task.Wait()"));
    assert_eq!(breakpoint.state, BreakpointState::Bound, "{breakpoint:#?}");
    assert_eq!(breakpoint.locations.len(), 1);
    assert_eq!(
        (
            breakpoint.locations[0].il_offset,
            &breakpoint.locations[0].source
        ),
        (0, &None)
    );
    assert!(
        breakpoint
            .notes
            .iter()
            .any(|note| note.contains("optimised")),
        "{breakpoint:#?}"
    );
    program.cont();
    assert_eq!(program.wait_stop().reasons, hit(breakpoint.id.0));
    assert!(
        here(&program)
            .0
            .starts_with("System.Threading.Tasks.Task.Wait("),
        "{:?}",
        here(&program)
    );
}

#[test]
fn type_parameters_are_told_from_type_arguments_by_their_declaration() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("bp_names").stop_at_entry().start();
    program.wait_stop();
    for (name, is_told) in [
        ("Box<K, V>.Put", false),
        ("Box<T>.As<U>", false),
        ("Box<int>.As<U>", true),
        ("Box<T>.As<K>", true),
    ] {
        let (breakpoint, _) = set(&program, at_function(name));
        assert_eq!(breakpoint.state, BreakpointState::Bound, "{breakpoint:#?}");
        let told = breakpoint
            .notes
            .iter()
            .any(|it| it.contains("type arguments"));
        assert_eq!(told, is_told, "{name}: {breakpoint:#?}");
        let remove = Request::RemoveBreakpoint(breakpoint.id);
        program.request(remove).expect("removed");
    }
    program.disconnect(Some(true), false);
}

/// A frame of the stack of the thread that has stopped.
fn frame(program: &Debuggee<'_>, index: u32) -> Frame {
    match program.request(Request::Stack {
        thread: None,
        start: index,
        count: 1,
    }) {
        Ok(Reply::Stack { mut frames, .. }) => frames.pop().expect("a frame"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn names_that_stacks_and_lists_tell_are_taken() {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch("names_told")
        .with(|launch| launch.breakpoints = vec![at_function("Here.Now")])
        .start();
    let mut told = BTreeMap::new();
    while program.settle().exit.is_none() {
        let caller = frame(&program, 1);
        let line = caller.source.expect("a place").line.0;
        told.insert((line, caller.method), ());
        program.cont();
    }
    let again = sandbox.launch("names_told").stop_at_entry().start();
    again.wait_stop();
    let mut wrong = String::new();
    let mut take = |line: u32, name: &str| {
        let request = Request::SetBreakpoint(at_function(name));
        let breakpoint = match again.request(request) {
            Ok(Reply::Breakpoint { breakpoint, .. }) => breakpoint,
            other => {
                wrong += &format!("{line}: {name}: {other:?}\n");
                return Vec::new();
            }
        };
        // A constructor begins with the initialisers of fields.
        let first = lines(&breakpoint).into_iter().filter(|it| it + 1 == line);
        if !lines(&breakpoint).contains(&line) && first.count() == 0 {
            wrong += &format!("{line}: {name}: {:?}\n", breakpoint.reason);
        }
        let remove = Request::RemoveBreakpoint(breakpoint.id);
        again.request(remove).expect("removed");
        breakpoint.locations
    };
    for (line, name) in told.keys() {
        for location in take(*line, name) {
            let line = location.source.as_ref().map_or(0, |it| it.line.0);
            take(line, &location.method);
            let (bare, _) = location.method.rsplit_once('(').expect("parameters");
            if !bare.contains('(') {
                take(line, bare);
            }
        }
    }
    assert_eq!(wrong, "");
    assert_eq!(told.len(), 51, "{told:#?}");
}

#[test]
fn overloads_are_chosen_by_parameters_with_type_arguments_or_parameters() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("names_told").stop_at_entry().start();
    program.wait_stop();
    for (name, expected) in [
        ("Over<int>(int, int)", &["static int Over<T>(T a, T b)"][..]),
        (
            "Program.Over<int?>(int? a, int? b)",
            &["static int Over<T>(T a, T b)"],
        ),
        (
            "Over<(int, string)>((int, string), (int, string))",
            &["static int Over<T>(T a, T b)"],
        ),
        (
            "Over<System.Int32>(int, Int32)",
            &["static int Over<T>(T a, T b)"],
        ),
        ("Over<T>(T, T)", &["static int Over<T>(T a, T b)"]),
        (
            "Over<X>(X, int, string)",
            &["static int Over<T>(T a, int b"],
        ),
        (
            "Over<int, string>(int, string, bool)",
            &["static int Over<T, U>"],
        ),
        ("Over<int>(int, string)", &[]),
        ("Over<int>(string, string)", &[]),
        (
            "Outer<int>.Inner<string>.Put<bool>(int, List<bool>, string)",
            &["public B Put<C>"],
        ),
        (
            "Inner<string>.Put<bool>(A, List<bool>, string)",
            &["public B Put<C>"],
        ),
        (
            "Outer<A>.Inner<B>.Put<C>(A, List<C>, B)",
            &["public B Put<C>"],
        ),
        (
            "Outer<int>.Inner<string>.Put<bool>(string, List<bool>, int)",
            &[],
        ),
        (
            "Outer<int>.Later.Inside<string>(string)",
            &["public static async Task<A> Later"],
        ),
        (
            "Outer<int>.Inner<string>.operator +(Outer<int>.Inner<string>, string)",
            &["public static Inner<B> operator +"],
        ),
        (
            "Outer<int>.Inner<string>.this[string]",
            &["public A this[B b]"],
        ),
        ("Money.Money.Inside", &["public Money(int a)"]),
        ("Money.~Money.Inside()", &["~Money()"]),
        (
            "Money.IEnumerable<(int, string)>.GetEnumerator",
            &["IEnumerator<(int, string)> IEnumerable"],
        ),
        (
            "IAdds<Money>.operator int(Money)",
            &["static explicit IAdds<Money>"],
        ),
        ("IAdds<Outer<int>>.operator int(Money)", &[]),
    ] {
        let (breakpoint, _) = set(&program, at_function(name));
        let source = std::fs::read_to_string(&Fixture::named("names_told").marker("here").file);
        let source = source.expect("the source");
        let text = |line: u32| {
            source
                .lines()
                .nth(line as usize - 1)
                .unwrap_or_default()
                .trim()
        };
        let found: Vec<&str> = lines(&breakpoint).into_iter().map(text).collect();
        let fits = found.len() == expected.len()
            && found
                .iter()
                .zip(expected)
                .all(|(it, begin)| it.starts_with(begin));
        assert!(fits, "{name}: {found:#?} {breakpoint:#?}");
        let remove = Request::RemoveBreakpoint(breakpoint.id);
        program.request(remove).expect("removed");
    }
}
