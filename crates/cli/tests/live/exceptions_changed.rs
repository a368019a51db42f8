//! Exception breakpoints that are set again, changed and removed.

use host::api::{
    BreakpointChange, BreakpointId, ErrorCode, ExceptionSpec, ExceptionStage, Reply, Request,
    StopReason,
};
use testkit::sandbox::Sandbox;

use crate::exceptions::{launch, shop, thrown};

/// What is asked of a breakpoint that is there is done, or refused and nothing changed.
#[test]
fn exception_breakpoints_take_a_new_condition_and_refuse_what_they_do_not_have() {
    let sandbox = Sandbox::new();
    let program = launch(&sandbox, "rethrow", shop());
    let stop = program.wait_stop();
    let StopReason::Exception { ids, .. } = &stop.reasons[0] else {
        panic!("{stop:?}")
    };
    let id = ids[0];
    let change = |change| program.request(Request::ChangeBreakpoint { id, change });
    let condition = |text: &str| BreakpointChange {
        condition: Some(text.into()),
        ..BreakpointChange::default()
    };
    let spec = |reply| match reply {
        Ok(Reply::ExceptionBreakpoint { breakpoint, .. }) => breakpoint.spec,
        other => panic!("{other:?}"),
    };
    let changed = spec(change(condition("$exception.HResult == 0")));
    assert_eq!(
        changed.condition.as_deref(),
        Some("$exception.HResult == 0")
    );
    let broken = BreakpointChange {
        enabled: Some(false),
        ..condition("$exception.HResult ==")
    };
    assert_eq!(
        change(broken).expect_err("refused").code,
        ErrorCode::InvalidCondition
    );
    let text = || Some("3".to_owned());
    let refused = [
        BreakpointChange {
            hit_condition: text(),
            ..BreakpointChange::default()
        },
        BreakpointChange {
            log_message: text(),
            ..condition("")
        },
        BreakpointChange {
            max_hits: Some(3),
            enabled: Some(false),
            ..BreakpointChange::default()
        },
    ];
    for wanted in refused {
        let error = change(wanted).expect_err("refused");
        assert_eq!(error.code, ErrorCode::NotSupported, "{error:?}");
    }
    // Nothing of what was refused was done.
    let Ok(Reply::Breakpoints { exceptions, .. }) = program.request(Request::Breakpoints) else {
        panic!("no list")
    };
    assert_eq!(exceptions[0].spec, changed);
    assert_eq!(spec(change(condition(""))).condition, None);
    spec(change(condition("$exception.HResult == 0")));
    program.cont();
    // It is thrown anew, and the condition does not hold; it is asked for no more at the end.
    program.expect_exit(0);
}

#[test]
fn breakpoints_are_counted_changed_and_removed() {
    let sandbox = Sandbox::new();
    let program = launch(&sandbox, "rethrow", shop());
    let stop = program.wait_stop();
    let StopReason::Exception { ids, stage } = &stop.reasons[0] else {
        panic!("{stop:?}")
    };
    assert_eq!(*stage, ExceptionStage::Thrown);
    let id: BreakpointId = ids[0];
    let set = |spec| match program.request(Request::SetExceptionBreakpoint(spec)) {
        Ok(Reply::ExceptionBreakpoint {
            breakpoint,
            duplicate,
        }) => (breakpoint, duplicate),
        other => panic!("not set: {other:?}"),
    };
    let (again, duplicate) = set(ExceptionSpec::of_type("ShopException"));
    assert!(duplicate);
    assert_eq!((again.id, again.hits), (id, 1));
    let conditional = ExceptionSpec {
        condition: Some("$exception.HResult ==".into()),
        ..ExceptionSpec::all()
    };
    let refused = program.refused(Request::SetExceptionBreakpoint(conditional));
    assert_eq!(refused, ErrorCode::InvalidCondition);
    // Names in another order, or of the same type with its namespace, are the same exceptions.
    let all = || thrown(&["System.Exception"]);
    let (every, _) = set(all());
    let (same, duplicate) = set(thrown(&[]));
    assert_eq!((same.id, duplicate), (every.id, true));
    let (two, _) = set(thrown(&["FormatException", "IOException"]));
    let (turned, duplicate) = set(thrown(&["IOException", "FormatException"]));
    assert_eq!((turned.id, duplicate), (two.id, true));
    let (full, duplicate) = set(thrown(&["System.FormatException", "System.IO.IOException"]));
    assert!(!duplicate);
    let twin = format!(
        "breakpoint {} is for the same exceptions: each counts and stops for itself, and one may be removed",
        two.id.0
    );
    assert_eq!(full.notes, [twin]);
    for it in [every.id, two.id, full.id] {
        let removed = program.request(Request::RemoveBreakpoint(it));
        removed.expect("it is removed");
    }
    let (misspelt, _) = set(thrown(&["StokException", "FormatException"]));
    assert_eq!(
        misspelt.notes,
        [
            "no loaded module has a type StokException, did you mean StockException? It counts as soon as one has"
        ]
    );
    program
        .request(Request::RemoveBreakpoint(misspelt.id))
        .expect("it is removed");
    for wrong in [" ", "Shop*", "I?"] {
        let refused = program.refused(Request::SetExceptionBreakpoint(thrown(&[wrong])));
        assert_eq!(refused, ErrorCode::InvalidParameter, "{wrong:?}");
    }
    let removed = program.request(Request::RemoveBreakpoint(id));
    let Ok(Reply::Breakpoints { exceptions, .. }) = removed else {
        panic!("{removed:?}")
    };
    assert!(exceptions.is_empty());
    program.cont();
    program.expect_exit(0);
}
