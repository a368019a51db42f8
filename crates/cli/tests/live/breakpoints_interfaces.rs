//! Breakpoints on methods that others are written for: those of interfaces, and abstract ones.

use host::api::{BreakpointState, ErrorCode, Place, Request, State};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use crate::breakpoints_support::{at_function, at_marker, here, hit, line, lines, list, set};

const FIXTURES: [&str; 3] = [
    "bp_interfaces",
    "bp_interfaces_declared",
    "bp_interfaces_late",
];

/// The markers that a name binds to while all modules are loaded, and what is told of that.
#[track_caller]
fn check(program: &Debuggee<'_>, name: &str, markers: &[(usize, &str)], note: &str) {
    let (breakpoint, _) = set(program, at_function(name));
    let state = breakpoint.state;
    assert_eq!(state, BreakpointState::Bound, "{name}: {breakpoint:#?}");
    let mut expected: Vec<_> = markers
        .iter()
        .map(|(file, marker)| line(FIXTURES[*file], marker))
        .collect();
    expected.sort_unstable();
    let mut found = lines(&breakpoint);
    found.sort_unstable();
    assert_eq!(found, expected, "{name}: {breakpoint:#?}");
    let notes = breakpoint.notes.join("\n");
    assert!(notes.contains(note), "{name}: {notes}");
    let removed = program.request(Request::RemoveBreakpoint(breakpoint.id));
    removed.expect("removed");
}

#[test]
fn methods_of_interfaces_are_set_in_what_implements_them() {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch("bp_interfaces")
        .with(|launch| launch.breakpoints = vec![at_marker("bp_interfaces", "corners_called")])
        .start();
    program.wait_stop();
    let areas = [
        (0, "circle_area"),
        (0, "disc_area"),
        (0, "dot_area"),
        (2, "late_area"),
    ];
    let area = "Forms.IShape.Area() is a method of an interface: set in its 4 implementations";
    check(&program, "IShape.Area", &areas, area);
    check(&program, "Forms.IShape.Area()", &areas, area);
    // One that has only the name of it is not meant, and neither is one of another interface.
    check(
        &program,
        "ISolid.Volume",
        &[(2, "late_volume")],
        "its 1 implementation",
    );
    check(
        &program,
        "IShape.Scale(double)",
        &[(0, "circle_scale"), (0, "dot_scale"), (2, "late_scale")],
        "IShape.Scale(double by) is a method of an interface: set in its 3 implementations",
    );
    check(
        &program,
        "IShape.Name.get",
        &[(0, "circle_name"), (0, "dot_name"), (2, "late_name")],
        "its 3 implementations",
    );
    check(
        &program,
        "IShape.Describe",
        &[(1, "default"), (2, "late_describe")],
        "set in its own code and in 1 implementation",
    );
    let stores = [
        (0, "save_string"),
        (0, "save_int"),
        (0, "save_any"),
        (1, "inherited"),
    ];
    check(&program, "IStore<T>.Save", &stores, "its 4 implementations");
    check(
        &program,
        "IStore<int>.Save",
        &[(0, "save_int")],
        "its 1 implementation",
    );
    check(
        &program,
        "IStore<string>.Save",
        &[(0, "save_string"), (1, "inherited")],
        "its 2 implementations",
    );
    check(
        &program,
        "IDisposable.Dispose",
        &[(0, "dispose")],
        "its 1 implementation",
    );
    check(
        &program,
        "IMade<Made>.Make",
        &[(0, "make")],
        "its 1 implementation",
    );
    check(
        &program,
        "Figure.Corners",
        &[(0, "corners"), (2, "late_corners")],
        "Forms.Figure.Corners() is abstract: set in its 2 overrides",
    );
    let (breakpoint, _) = set(&program, at_function("IUnused.Nobody"));
    assert_eq!(
        breakpoint.state,
        BreakpointState::Pending,
        "{breakpoint:#?}"
    );
    assert_eq!(
        breakpoint.reason.as_deref(),
        Some(
            "IUnused.Nobody() is a method of an interface, and no loaded module with symbols has an implementation of it yet"
        )
    );
    let error = program
        .request(Request::RunTo(Place::Function {
            name: "IUnused.Nobody".into(),
        }))
        .expect_err("no code");
    assert_eq!(error.code, ErrorCode::NotSupported, "{error}");
    program.cont();
    program.expect_exit(0);
}

/// The interface comes when the program needs it first; what implements it is there already, or comes later.
#[test]
fn implementations_are_found_in_modules_that_come_later() {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch("bp_interfaces")
        .with(|launch| launch.breakpoints = vec![at_function("Forms.IShape.Area")])
        .start();
    let mut stops = Vec::new();
    while program.settle().state == State::Stopped {
        assert_eq!(program.wait_stop().reasons, hit(1));
        stops.push((here(&program).0, list(&program)[0].locations.len()));
        program.cont();
    }
    program.expect_exit(0);
    let stops: Vec<_> = stops.iter().map(|(name, set)| (&**name, *set)).collect();
    assert_eq!(
        stops,
        [
            ("Circle.Area()", 3),
            ("Disc.Area()", 3),
            // What hides it has its name, but is another method.
            ("Disc.Area()", 3),
            ("Dot.Forms.IShape.Area()", 3),
            ("Hexagon.Area()", 4),
        ]
    );
}
