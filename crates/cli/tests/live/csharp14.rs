//! What C# 14 has and the usual compiler of the fixtures does not: members of `extension` blocks, operators that change
//! their operand. `cargo xtask test` runs these where the compiler knows it, and says where it does not.

use std::fmt::Write;

use expect_test::{expect, expect_file};
use host::api::{BreakpointState, Reply, Request, SetVariable, State, StepKind, VariablesQuery};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use crate::breakpoints_support::{at_function, at_marker, here, line, lines, set};
use crate::stepping::walk;

const FIXTURE: &str = "extension_members";

#[test]
fn members_of_extension_blocks_are_found_by_their_names() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch(FIXTURE).stop_at_entry().start();
    program.wait_stop();
    for (name, markers) in [
        ("Extensions.Words", &["words"][..]),
        ("Words.get", &["words"]),
        ("Extensions.get_Words", &["words"]),
        ("Extensions.Twice", &["twice"]),
        ("Twice(int)", &["twice"]),
        ("Twice(string text, int times)", &["twice"]),
        ("Extensions.Make(char)", &["make"]),
        ("Extensions.Made", &["made", "made"]),
        ("Made.set", &["made"]),
        ("Extensions.operator *", &["times"]),
        ("operator *(string, int)", &["times"]),
        ("Extensions.LaterAsync(int)", &["later"]),
        ("Letters()", &["letters"]),
        ("Lazy.Sum", &["lazy"]),
        ("Extensions.Lazy.Sum(int)", &["lazy"]),
        ("Extensions.Middle", &["middle", "middle"]),
        ("Middle.set(T)", &["middle"]),
        ("Map<U>", &["map"]),
        ("Extensions.Map<T, U>", &["map"]),
        ("Map(Func<T, U>)", &["map"]),
        ("Map(List<T>, Func<T, U>)", &["map"]),
        ("Extensions.operator +=", &["add"]),
        ("Extensions.operator +=(T)", &["add"]),
        ("Up(int)", &["up"]),
        ("Up(ref Counter, int)", &["up"]),
        ("Counter.operator ++", &["increment"]),
        ("Counter.operator -=(int)", &["decrease"]),
        ("Counter.operator checked -=", &["checked_decrease"]),
    ] {
        let (breakpoint, _) = set(&program, at_function(name));
        let state = (breakpoint.state, lines(&breakpoint));
        let expected = markers.iter().map(|it| line(FIXTURE, it)).collect();
        assert_eq!(
            state,
            (BreakpointState::Bound, expected),
            "{name}: {breakpoint:#?}"
        );
        program
            .request(Request::RemoveBreakpoint(breakpoint.id))
            .expect("removed");
    }
    let (breakpoint, _) = set(&program, at_function("Twice(string)"));
    assert_eq!(breakpoint.state, BreakpointState::Pending);
}

/// The variables of the innermost frame.
fn variables(program: &Debuggee<'_>) -> String {
    let query = VariablesQuery::default();
    let variables = match program.request(Request::Variables(Box::new(query))) {
        Ok(Reply::Variables(told)) => told.variables,
        other => panic!("{other:?}"),
    };
    let shown = variables
        .iter()
        .map(|it| format!("{} = {}", it.name, it.value.text));
    shown.collect::<Vec<_>>().join(", ")
}

#[test]
fn stops_in_extension_members_have_the_receiver_and_the_arguments() {
    let sandbox = Sandbox::new();
    let names = [
        "Words",
        "Twice",
        "Make",
        "Made",
        "operator *",
        "LaterAsync",
        "Letters",
        "Lazy",
        "Lazy.Sum",
        "Middle",
        "Map",
        "operator +=",
        "Up",
        "operator ++",
        "operator -=",
        "operator checked -=",
    ];
    let specs = names.iter().map(|name| at_function(name)).collect();
    let program = sandbox
        .launch(FIXTURE)
        .with(|launch| launch.breakpoints = specs)
        .start();
    let mut told = String::new();
    while program.settle().state == State::Stopped {
        let (method, _) = here(&program);
        writeln!(told, "{method}: {}", variables(&program)).expect("written");
        program.cont();
    }
    expect![[r#"
        Extensions.Words.get(string text): text = "one two"
        Extensions.Twice(string text, int times): text = "one two", times = 2
        Extensions.operator *(string left, int times): left = "one two", times = 2
        Extensions.Make(char letter): letter = 'x'
        Extensions.Made.set(int value): value = 3
        Extensions.Middle.get<int>(List<int> list): list = Count = 3 { 1, 2, 3 }
        Extensions.Middle.set<int>(List<int> list, int value): list = Count = 3 { 1, 2, 3 }, value = 3
        Extensions.operator +=<int>(List<int> list, int item): list = Count = 3 { 1, 3, 3 }, item = 4
        Extensions.Map<int, string>(List<int> list, Func<int, string> map): list = Count = 4 { 1, 3, 3, 4 }, map = Program.Main.AnonymousMethod(int x)
        Extensions.LaterAsync(string text, int wait): text = "one two2one two2m1", wait = 3
        Extensions.Letters(string text): text = "one two2one two2m1"
        Extensions.Lazy(string text, int by): text = "one two2one two2m1", by = 1
        Extensions.Lazy.Sum(int k): text = "one two2one two2m1", by = 1, k = 1
        Extensions.Up(ref Counter counter, int by): counter = { N = 0 }, by = 2
        Counter.operator ++(): this = { N = 2 }
        Counter.operator checked -=(int by): this = { N = 3 }, by = 1
        Counter.operator -=(int by): this = { N = 2 }, by = 1
        Extensions.Made.get(): 
    "#]].assert_eq(&told);
}

#[test]
fn steps_enter_extension_members() {
    walk::check(
        FIXTURE,
        StepKind::Into,
        &expect_file!["stepping/walks/extension_members_into.txt"],
    );
}

#[test]
fn steps_pass_over_properties_and_operators_of_extension_blocks_if_asked() {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch(FIXTURE)
        .stop_at_entry()
        .with(|launch| launch.steps.skip_properties = true)
        .start();
    program.wait_stop();
    let visited = walk::walk(&program, StepKind::Into);
    expect_file!["stepping/walks/extension_members_into_filtered.txt"].assert_eq(&visited);
}

#[test]
fn properties_are_set_by_setters_that_do_more_than_to_set_their_field() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("values_accessors").stop_at_entry().start();
    program.wait_stop();
    for marker in ["stop", "show"] {
        set(&program, at_marker("values_accessors", marker));
    }
    let assign = |path: &str, value: &str| {
        let set = SetVariable {
            stop: None,
            thread: None,
            frame: 0,
            path: path.into(),
            value: value.into(),
            force: false,
            mask_secrets: false,
        };
        match program.request(Request::SetVariable(Box::new(set))) {
            Ok(Reply::Variables(told)) => told.parent.expect("what was set").value.text,
            other => panic!("{path} = {value}: {other:?}"),
        }
    };
    program.cont();
    program.wait_stop();
    for (path, value, told) in [
        ("settings.Name", "\"  padded  \"", "\"padded\""),
        ("settings.Name", "null", "\"none\""),
        ("settings.Count", "-7", "0"),
        ("settings.Count", "8", "8"),
        ("settings.Plain", "-7", "-7"),
        ("Settings.Shared", "6", "12"),
        ("limit.Most", "50", "10"),
    ] {
        assert_eq!(assign(path, value), told, "{path} = {value}");
    }
    program.cont();
    program.wait_stop();
    // And in the type's own code, by its name alone.
    for (path, value, told) in [
        ("Count", "-7", "0"),
        ("this.Name", "\" own \"", "\"own\""),
        ("Shared", "7", "14"),
        ("Plain", "9", "9"),
    ] {
        assert_eq!(assign(path, value), told, "{path} = {value}");
    }
    program.cont();
    program.wait_output("own 0 9 14\n");
}
