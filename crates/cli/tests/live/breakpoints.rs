//! Breakpoints on lines and methods.

use host::api::{
    BreakpointChange, BreakpointId, BreakpointSpec, BreakpointState, Details, ErrorCode, Event,
    Request, Stream,
};
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::breakpoints_support::{at_function, at_line, at_marker, at_text, here, hit, list, set};

#[test]
fn line_breakpoint_of_a_launch_is_hit_before_the_line_runs() {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch("hello")
        .with(|launch| launch.breakpoints = vec![at_marker("hello", "first")])
        .start();
    let stop = program.wait_stop();
    assert_eq!(stop.reasons, hit(1));
    assert_eq!(
        here(&program).1,
        Fixture::named("hello").marker("first").line
    );
    assert!(program.output().is_empty(), "the line has not run");
    let [breakpoint] = &list(&program)[..] else {
        panic!("one breakpoint")
    };
    assert_eq!(
        (
            breakpoint.state,
            breakpoint.hits,
            breakpoint.locations.len()
        ),
        (BreakpointState::Bound, 1, 1)
    );
    program.cont();
    program.expect_exit(0);
}

#[test]
fn binding_is_told_as_an_event() {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch("hello")
        .with(|launch| launch.breakpoints = vec![at_marker("hello", "first")])
        .start();
    program.wait_stop();
    let bound = |event: &Event| matches!(event, Event::Breakpoint(it) if it.state == BreakpointState::Bound);
    assert_eq!(
        program.events().iter().filter(|event| bound(event)).count(),
        1
    );
    program.cont();
    program.expect_exit(0);
}

#[test]
fn method_breakpoints_are_found_by_every_form_of_their_name() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("demo_shop").stop_at_entry().start();
    program.wait_stop();
    for name in [
        "Coupons.Percent",
        "Percent",
        "Percent(string)",
        "demo_shop!Coupons.Percent",
        "Order.Total()",
        "Order.Id.get",
        "Item..ctor",
    ] {
        let (breakpoint, _) = set(&program, at_function(name));
        assert_eq!(
            breakpoint.state,
            BreakpointState::Bound,
            "{name}: {breakpoint:?}"
        );
    }
    for name in ["Percent(int)", "Nowhere", "other!Coupons.Percent"] {
        let (breakpoint, _) = set(&program, at_function(name));
        assert_eq!(
            breakpoint.state,
            BreakpointState::Pending,
            "{name}: {breakpoint:?}"
        );
        assert!(
            breakpoint
                .reason
                .is_some_and(|reason| reason.contains("no loaded module"))
        );
    }
    assert_eq!(
        program.refused(Request::SetBreakpoint(at_function("Coupons.*"))),
        ErrorCode::InvalidParameter
    );
}

#[test]
fn method_of_the_framework_without_symbols_stops_too() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("hello").stop_at_entry().start();
    program.wait_stop();
    let (breakpoint, _) = set(&program, at_function("System.Environment.get_Version"));
    assert_eq!(breakpoint.state, BreakpointState::Bound, "{breakpoint:?}");
    assert!(
        breakpoint
            .locations
            .iter()
            .all(|location| location.source.is_none())
    );
    program.cont();
    assert_eq!(program.wait_stop().reasons, hit(1));
    let (method, _) = here(&program);
    assert!(
        method.starts_with("System.Environment.Version.get"),
        "{method}"
    );
}

#[test]
fn method_of_a_framework_module_that_loads_later_is_met_at_its_first_call() {
    let sandbox = Sandbox::new();
    // Others that nothing has: modules without any of these names are passed by.
    let names = ["System.Console.WriteLine(string)", "Nowhere.Nothing.Method"];
    let names = names.map(at_function);
    let program = sandbox
        .launch("hello")
        .with(|it| it.breakpoints = names.into());
    let program = program.start();
    let mut calls = 0;
    // The words, how many arguments, the folder, and the farewell.
    while calls < 4 {
        assert_eq!(program.wait_stop().reasons, hit(1));
        let method = here(&program).0;
        assert!(method.starts_with("System.Console.WriteLine("), "{method}");
        assert_eq!(program.text(Stream::Stdout).lines().count(), calls);
        calls += 1;
        program.cont();
    }
    program.expect_exit(0);
}

#[test]
fn same_place_twice_is_the_same_breakpoint() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("hello").stop_at_entry().start();
    program.wait_stop();
    let (first, duplicate) = set(&program, at_marker("hello", "first"));
    assert!(!duplicate);
    let (second, duplicate) = set(
        &program,
        BreakpointSpec {
            hit_condition: Some(">=1".into()),
            ..at_marker("hello", "first")
        },
    );
    assert!(duplicate);
    assert_eq!(second.id, first.id);
    assert_eq!(list(&program).len(), 1);
}

#[test]
fn line_without_code_moves_on_or_is_refused_with_the_nearest_lines() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("demo_shop").stop_at_entry().start();
    program.wait_stop();
    let file = Fixture::named("demo_shop").sources()[0]
        .display()
        .to_string();
    let error = program
        .request(Request::SetBreakpoint(at_line(&file, 2, None)))
        .expect_err("line 2 is a comment");
    assert_eq!(error.code, ErrorCode::InvalidLine);
    let Some(Details::NearestLines(lines)) = error.details.as_deref() else {
        panic!("{error:?}")
    };
    assert!(!lines.is_empty());
    let percent = Fixture::named("demo_shop");
    let source = std::fs::read_to_string(&percent.sources()[0]).expect("the source");
    let brace = source
        .lines()
        .position(|line| line.contains("decimal total = 0"))
        .expect("a line") as u32
        + 1;
    let error = program
        .request(Request::SetBreakpoint(at_line(&file, brace, Some(200))))
        .expect_err("there is no column 200");
    assert_eq!(error.code, ErrorCode::InvalidColumn);
    assert!(
        matches!(error.details.as_deref(), Some(Details::AvailablePoints(points)) if points[0].text.is_some()),
        "{error:?}"
    );
}

#[test]
fn unknown_file_is_pending_with_a_reason() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("hello").stop_at_entry().start();
    program.wait_stop();
    let (breakpoint, _) = set(&program, at_line("nowhere.cs", 3, None));
    assert_eq!(breakpoint.state, BreakpointState::Pending);
    assert!(
        breakpoint
            .reason
            .is_some_and(|reason| reason.contains("nowhere.cs"))
    );
    assert_eq!(
        program.refused(Request::SetBreakpoint(at_line("hello.cs", 0, None))),
        ErrorCode::InvalidParameter
    );
}

#[test]
fn breakpoints_can_be_disabled_enabled_and_removed_while_running_and_while_stopped() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("loops").start();
    program.wait_more_output();
    let tick = at_marker("loops", "tick");
    let (breakpoint, _) = set(&program, tick);
    assert_eq!(breakpoint.state, BreakpointState::Bound, "{breakpoint:?}");
    assert_eq!(program.wait_stop().reasons, hit(breakpoint.id.0));
    let change = |enabled| Request::ChangeBreakpoint {
        id: breakpoint.id,
        change: BreakpointChange {
            enabled: Some(enabled),
            ..BreakpointChange::default()
        },
    };
    program.request(change(false)).expect("disabled");
    assert_eq!(list(&program)[0].state, BreakpointState::Disabled);
    program.cont();
    program.wait_more_output();
    program
        .request(change(true))
        .expect("enabled while running");
    assert_eq!(program.wait_stop().reasons, hit(breakpoint.id.0));
    program
        .request(Request::RemoveBreakpoint(breakpoint.id))
        .expect("removed");
    program.cont();
    program.wait_more_output();
    assert_eq!(
        program.refused(Request::RemoveBreakpoint(breakpoint.id)),
        ErrorCode::BreakpointNotFound
    );
}

#[test]
fn hit_conditions_stop_at_the_hits_they_name() {
    let sandbox = Sandbox::new();
    let tick = BreakpointSpec {
        hit_condition: Some("%3".into()),
        ..at_marker("loops", "tick")
    };
    let program = sandbox
        .launch("loops")
        .with(|launch| launch.breakpoints = vec![tick])
        .start();
    for round in 1..=3 {
        program.wait_stop();
        assert_eq!(list(&program)[0].hits, round * 3);
        program.cont();
    }
    let bad = BreakpointSpec {
        hit_condition: Some("sometimes".into()),
        ..at_marker("loops", "tick")
    };
    assert_eq!(
        program.refused(Request::SetBreakpoint(bad)),
        ErrorCode::InvalidCondition
    );
}

#[test]
fn breakpoints_keep_their_names_when_the_program_is_started_again() {
    let sandbox = Sandbox::new();
    let named = |spec: BreakpointSpec, id: u32| BreakpointSpec {
        id: Some(BreakpointId(id)),
        ..spec
    };
    let first = sandbox.launch("hello").stop_at_entry().start();
    first.wait_stop();
    let (one, _) = set(&first, at_marker("hello", "first"));
    let (two, _) = set(&first, at_function("Nowhere.At.All"));
    first
        .request(Request::RemoveBreakpoint(one.id))
        .expect("removed");
    // What a report says can be asked for again as it is.
    let again = two.spec.clone();
    let second = sandbox
        .launch("hello")
        .with(|launch| launch.breakpoints = vec![again, named(at_marker("hello", "first"), 7)])
        .start();
    assert_eq!(second.wait_stop().reasons, hit(7));
    let ids: Vec<u32> = list(&second).iter().map(|it| it.id.0).collect();
    assert_eq!(ids, [two.id.0, 7]);
    let (new, _) = set(&second, at_function("Something.Else"));
    assert_eq!(new.id.0, 8, "a name is never given twice");
    for id in [7, 0] {
        let taken = named(at_function("Something.New"), id);
        assert_eq!(
            second.refused(Request::SetBreakpoint(taken)),
            ErrorCode::InvalidParameter
        );
    }
}

#[test]
fn breakpoints_are_set_in_an_attached_program_while_it_runs() {
    let sandbox = Sandbox::new();
    let bare = sandbox.bare("loops").start();
    bare.line();
    let program = sandbox.attach(bare.pid());
    let (breakpoint, _) = set(&program, at_marker("loops", "tick"));
    assert_eq!(breakpoint.state, BreakpointState::Bound, "{breakpoint:#?}");
    assert_eq!(program.wait_stop().reasons, hit(breakpoint.id.0));
    program.disconnect(None, false);
}

/// The line has no other place than its first statement: whichever is set first, the line stays.
#[test]
fn a_line_and_its_first_statement_are_one_place() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("hello").stop_at_entry().start();
    program.wait_stop();
    let conditional = |spec: BreakpointSpec| BreakpointSpec {
        condition: Some("1 == 1".into()),
        ..spec
    };
    let (line, column) = (
        at_marker("hello", "first"),
        at_text("hello", "first", "Console"),
    );
    for (one, other) in [(&line, &column), (&column, &line)] {
        let (first, duplicate) = set(&program, one.clone());
        assert!(!duplicate);
        let (second, duplicate) = set(&program, conditional(other.clone()));
        assert_eq!((second.id, duplicate), (first.id, true), "{second:#?}");
        assert_eq!(second.spec.condition.as_deref(), Some("1 == 1"));
        assert_eq!(second.spec.place, line.place);
        assert_eq!(list(&program), [second]);
        program
            .request(Request::RemoveBreakpoint(first.id))
            .expect("removed");
    }
    program.disconnect(Some(true), false);
}

/// Of two that turn out to be at one place when it is loaded neither is lost, and each is told of the other.
#[test]
fn a_line_and_its_first_statement_that_wait_stay_two_and_say_so() {
    let sandbox = Sandbox::new();
    let passes = BreakpointSpec {
        condition: Some("1 == 2".into()),
        ..at_text("hello", "first", "Console")
    };
    let program = sandbox
        .launch("hello")
        .with(|launch| launch.breakpoints = vec![at_marker("hello", "first"), passes])
        .start();
    assert_eq!(program.wait_stop().reasons, hit(1));
    let all = list(&program);
    let told = |it: &host::api::Breakpoint| (it.passes, it.hits, it.notes.join("\n"));
    let note = |id: u32| {
        format!(
            "breakpoint {id} is at the same place: each counts and stops for itself, and one may be removed"
        )
    };
    let told: Vec<_> = all.iter().map(told).collect();
    assert_eq!(told, [(1, 1, note(2)), (1, 0, note(1))]);
    program
        .request(Request::RemoveBreakpoint(BreakpointId(1)))
        .expect("removed");
    assert!(list(&program)[0].notes.is_empty());
    program.disconnect(Some(true), false);
}

#[test]
fn two_breakpoints_of_a_launch_on_one_line_are_two() {
    let sandbox = Sandbox::new();
    let logs = BreakpointSpec {
        log_message: Some("so far {total}".into()),
        ..at_marker("demo_shop", "sum")
    };
    let stops = BreakpointSpec {
        condition: Some("item.Name == \"cup\"".into()),
        ..at_marker("demo_shop", "sum")
    };
    let program = sandbox
        .launch("demo_shop")
        .with(|launch| launch.breakpoints = vec![logs.clone(), stops, logs])
        .start();
    assert_eq!(program.wait_stop().reasons, hit(2));
    let counts = |it: &host::api::Breakpoint| (it.hits, it.passes);
    let told: Vec<_> = list(&program).iter().map(counts).collect();
    // What is wanted twice is there once.
    assert_eq!(told, [(2, 2), (1, 2)]);
    // What was counted under a condition is no count under another.
    let change = BreakpointChange {
        condition: Some("item.Name == \"pot\"".into()),
        ..BreakpointChange::default()
    };
    let id = BreakpointId(2);
    program
        .request(Request::ChangeBreakpoint { id, change })
        .expect("changed");
    assert_eq!(counts(&list(&program)[1]), (0, 0));
    program.cont();
    assert_eq!(program.wait_stop().reasons, hit(2));
    assert_eq!(counts(&list(&program)[1]), (1, 1));
    program.disconnect(Some(true), false);
}
