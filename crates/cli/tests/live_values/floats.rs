//! Floating-point numbers of optimised code, which are passed and kept in registers: each is told, or why it cannot be, and
//! the session lives.

use host::api::{BreakpointSpec, Place, Reply, Request, VariablesQuery};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use crate::support::{at, lines, locals, variables};

const UNKNOWN: &str = "it is in a register for floating-point numbers, which the runtime's debugger library does not tell here";
const METHODS: [&str; 5] = ["twice", "sum", "structs", "generic", "calls"];

fn optimised<'s>(sandbox: &'s Sandbox, more: Vec<BreakpointSpec>) -> Debuggee<'s> {
    let markers = METHODS.map(|marker| at("values_floats", marker));
    let program = sandbox
        .launch("values_floats")
        // Compiled once, and as it stays.
        .env("DOTNET_TieredCompilation", "0")
        .with(|launch| {
            launch.keep_optimized = true;
            launch.breakpoints = markers.into_iter().chain(more).collect();
        })
        .start();
    program.wait_stop();
    program
}

#[test]
fn numbers_in_floating_point_registers_are_told_where_a_method_begins() {
    let sandbox = Sandbox::new();
    let program = optimised(&sandbox, Vec::new());
    let unknown = |name: &str| format!("{name} = {UNKNOWN}");
    let next = |wanted: &[String]| {
        assert_eq!(lines(&locals(&program)), wanted);
        program.cont();
        program.wait_stop();
    };
    let own = |texts: &[&str]| texts.iter().map(|&it| it.to_owned()).collect::<Vec<_>>();
    next(&own(&["t = 1.5"]));
    next(&own(&[
        "this = {Program}",
        "k = 1",
        "a = 5.5",
        "b = 6.5",
        "c = 9.25",
    ]));
    next(&["p", "m", "last"].map(unknown));
    next(&own(&["a = \"s\"", "b = 7.5"]));
    next(&own(&["a = 8.25", "b = 7.25"]));
    // What comes behind a struct is in a register of unknown number.
    next(&["a", "b"].map(unknown));
    // Registers may have been moved by now.
    let told = lines(&locals(&program));
    let is_one_of = |told: &str, value: &str, name: &str| {
        told == format!("{name} = {value}") || told == unknown(name)
    };
    assert_eq!(told[0], "n = 2");
    assert!(is_one_of(&told[1], "2.5", "t"), "{told:?}");
    assert!(is_one_of(&told[2], "3.5", "u"), "{told:?}");
    // In the method that it calls it has been saved to memory, or is gone.
    program.cont();
    program.wait_stop();
    assert_eq!(lines(&locals(&program)), ["t = 3.5"]);
    let query = VariablesQuery {
        frame: 1,
        ..VariablesQuery::default()
    };
    let told = lines(&variables(&program, query).variables);
    assert!(told.contains(&"t = 2.5".to_owned()), "{told:?}");
}

#[test]
fn numbers_in_framework_frames_do_not_end_the_session() {
    let sandbox = Sandbox::new();
    let format = BreakpointSpec::at(Place::Function {
        name: "Number.FormatFloat".into(),
    });
    let program = sandbox
        .launch("values_floats")
        .with(|launch| launch.breakpoints = vec![format])
        .start();
    program.wait_stop();
    for frame in 0..2 {
        let query = VariablesQuery {
            frame,
            ..VariablesQuery::default()
        };
        let told = lines(&variables(&program, query).variables);
        assert!(
            !told.iter().any(|it| it.contains("failed with")),
            "{told:?}"
        );
    }
    let Ok(Reply::Stack { frames, .. }) = program.request(Request::Stack {
        thread: None,
        start: 0,
        count: 1,
    }) else {
        panic!("no stack");
    };
    assert!(frames[0].method.contains("FormatFloat"), "{frames:?}");
}
