//! Conditions and messages that cannot mean anything where they stand are refused before a thread comes by.

use engine::api::{
    BreakpointChange, BreakpointSpec, BreakpointState, Details, ErrorCode, Event, Reply, Request,
};
use testkit::sandbox::Sandbox;

use crate::stops::{at, launched};

#[test]
fn what_does_not_bind_is_refused_at_once_with_its_place() {
    let sandbox = Sandbox::new();
    let program = launched(&sandbox, at("loop"));
    program.wait_stop();
    let condition = |text: &str| BreakpointSpec {
        condition: Some(text.into()),
        ..at("sum")
    };
    let message = |text: &str| BreakpointSpec {
        log_message: Some(text.into()),
        ..at("sum")
    };
    for (spec, code, start, end) in [
        (condition("factr == 1"), "CS0103", 0, 5),
        (condition("factor + local"), "CS0029", 0, 14),
        (condition("this.Customer.Nam == null"), "CS1061", 14, 17),
        (condition("factor == \"a\""), "CS0019", 0, 13),
        (message("{factor} and {localx}"), "CS0103", 14, 20),
    ] {
        let error = program.request(Request::SetBreakpoint(spec.clone()));
        let Err(error) = error else {
            panic!("{spec:?} was taken")
        };
        assert_eq!(error.code, ErrorCode::InvalidCondition, "{error:?}");
        assert!(error.message.contains(code), "{error:?}");
        assert_eq!(
            error.details,
            Some(Box::new(Details::Position { start, end })),
            "{spec:?}"
        );
    }
    // They never change the program.
    for spec in [
        condition("(factor = 3) == 3"),
        message("{factor = 3}"),
        message("{factor++}"),
    ] {
        let error = program.request(Request::SetBreakpoint(spec.clone()));
        let Err(error) = error else {
            panic!("{spec:?} was taken")
        };
        assert_eq!(error.code, ErrorCode::InvalidCondition, "{error:?}");
        assert!(error.message.contains("an assignment"), "{error:?}");
    }
    // What is right is taken, and a change that is wrong leaves it as it is.
    let Ok(Reply::Breakpoint { breakpoint, .. }) = program.request(Request::SetBreakpoint(
        condition("factor == 4 && others.Count > 0"),
    )) else {
        panic!("a right condition is taken");
    };
    assert_eq!(breakpoint.state, BreakpointState::Bound);
    let change = BreakpointChange {
        condition: Some("nothing > 0".into()),
        ..BreakpointChange::default()
    };
    let id = breakpoint.id;
    assert_eq!(
        program.refused(Request::ChangeBreakpoint { id, change }),
        ErrorCode::InvalidCondition
    );
    assert_eq!(
        program.refused(Request::SetBreakpoint(condition("nothing > 0"))),
        ErrorCode::InvalidCondition
    );
    // Type parameters are known when the code runs.
    let generic = BreakpointSpec {
        condition: Some("copy.Length == 4".into()),
        ..at("same")
    };
    program
        .request(Request::SetBreakpoint(generic))
        .expect("it may be right");
    let first = BreakpointSpec {
        enabled: false,
        ..at("loop")
    };
    program
        .request(Request::SetBreakpoint(first))
        .expect("switched off");
    program.cont();
    let ids = |stop: &engine::api::Stop| format!("{:?}", stop.reasons);
    let stop = program.wait_stop();
    assert!(ids(&stop).contains(&format!("{id:?}")), "{stop:?}");
    program.disconnect(Some(true), false);
}

#[test]
fn what_does_not_bind_when_its_module_loads_is_told_then() {
    let sandbox = Sandbox::new();
    let program = launched(
        &sandbox,
        BreakpointSpec {
            condition: Some("i == 1 && ordr.Total > 2".into()),
            ..at("loop")
        },
    );
    let stop = program.wait_stop();
    assert!(format!("{:?}", stop.reasons).contains("CS0103"), "{stop:?}");
    let told = program.events().into_iter().find_map(|event| match event {
        Event::Breakpoint(breakpoint) if breakpoint.state == BreakpointState::Failed => {
            breakpoint.reason
        }
        _ => None,
    });
    let told = told.expect("the breakpoint told why it cannot work");
    assert!(
        told.starts_with("INVALID_CONDITION: error CS0103") && told.contains("          ^^^^"),
        "{told}"
    );
    program.disconnect(Some(true), false);
}
