//! Static fields before and after their class constructor has run, and calls through `base`.

use engine::api::{BreakpointSpec, Evaluate, Line, Place, Request, VariablesQuery};
use testkit::debuggee::Debuggee;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::evaluate::ask;

const FIXTURE: &str = "expressions_statics";

fn at(marker: &str) -> BreakpointSpec {
    let marker = Fixture::named(FIXTURE).marker(marker);
    BreakpointSpec::at(Place::Line {
        file: marker.file.display().to_string(),
        line: Line(marker.line),
        column: None,
    })
}

/// The value, or the first line of why there is none.
fn told(program: &Debuggee<'_>, text: &str, side_effects: bool) -> String {
    let evaluate = Evaluate {
        side_effects,
        ..Evaluate::read(text)
    };
    match ask(program, evaluate).outcome {
        Ok(value) => value.text,
        Err(error) => error
            .error
            .message
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned(),
    }
}

#[test]
fn statics_that_are_not_set_yet_are_not_told_as_zero() {
    let sandbox = Sandbox::new();
    let builder = sandbox.launch(FIXTURE);
    let program = builder
        .with(|launch| launch.breakpoints = vec![at("main")])
        .start();
    program.wait_stop();
    let read = |text: &str| told(&program, text, false);
    for set in [
        ("Touched.Value", "42"),
        ("Touched.Zero", "0"),
        ("Plain.Value", "3"),
        ("Untouched.Constant", "5"),
        ("Untouched.Rate", "-79228162514264337593543.950335"),
        ("Generic<int>.Name", "\"Int32\""),
    ] {
        assert_eq!(read(set.0), set.1, "{}", set.0);
    }
    // Metadata has no decimals: as a variable it is no field that was not set either.
    let query = VariablesQuery {
        path: Some("Untouched.Rate".into()),
        ..VariablesQuery::default()
    };
    let variable = format!("{:?}", program.request(Request::Variables(Box::new(query))));
    assert!(variable.contains("593543.950335"), "{variable}");
    // A path to one that cannot be read says why, not that there is no such variable.
    let query = VariablesQuery {
        path: Some("Untouched.Text".into()),
        ..VariablesQuery::default()
    };
    let why = format!("{:?}", program.request(Request::Variables(Box::new(query))));
    assert!(why.contains("class constructor"), "{why}");
    for (text, ty) in [
        ("Untouched.Value", "Untouched"),
        ("Untouched.Text", "Untouched"),
        ("Untouched.Day", "Untouched"),
        ("Lazy.Value + 1", "Lazy"),
        ("Failing.Value", "Failing"),
        ("ILimits<int>.Max", "ILimits<int>"),
        ("ILimits<string>.All", "ILimits<string>"),
    ] {
        let why = read(text);
        let wanted = format!("{ty} has not run yet");
        assert!(
            why.contains("the class constructor of") && why.contains(&wanted),
            "{text}: {why}"
        );
    }
    // Code of the class runs its constructor, as in the program.
    assert_eq!(told(&program, "Untouched.Doubled", true), "84");
    assert_eq!(read("Untouched.Value"), "42");
    assert_eq!(read("Untouched.Text"), "\"set\"");
    assert_eq!(read("Ran.Count"), "3");
    // Of an interface too; each instantiation has its own.
    assert_eq!(told(&program, "ILimits<int>.Max", true), "5");
    assert_eq!(read("ILimits<int>.All.Count"), "1");
    assert_eq!(told(&program, "ILimits<string>.All.Count", true), "1");
    assert_eq!(read("ILimits<string>.Max"), "5");

    // Through `base`, what it does not override needs no detour.
    program
        .request(Request::SetBreakpoint(at("base")))
        .expect("a breakpoint");
    program.cont();
    program.wait_stop();
    assert_eq!(told(&program, "base.Plain()", true), "\"plain\"");
    assert_eq!(told(&program, "base.Sound()", true), "\"none\"");
}
