//! Exceptions whose telling needs care: messages that only code can tell, and tasks that keep them.

use expect_test::expect;
use host::api::{Evaluate, ExceptionSpec, ExceptionStage, Handler, Request, Stop, StopReason};
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::breakpoints_support::at_marker;
use crate::stacks_told as told;

const FIXTURE: &str = "exceptions_told";

/// A line for each stop of a scenario.
fn stops(scenario: &str, spec: ExceptionSpec, tell: impl Fn(&Stop) -> String) -> String {
    stops_of(FIXTURE, scenario, spec, tell)
}

/// The same for any fixture.
fn stops_of(
    fixture: &str,
    scenario: &str,
    spec: ExceptionSpec,
    tell: impl Fn(&Stop) -> String,
) -> String {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch(fixture)
        .args([scenario])
        .with(|launch| launch.exceptions = vec![spec])
        .start();
    let mut told = String::new();
    while let Some(stop) = program.settle().stop {
        told += &tell(&stop);
        told.push('\n');
        program.cont();
    }
    program.expect_exit(0);
    told
}

#[test]
fn a_message_that_is_overridden_is_told_as_what_it_was_made_with() {
    let told = stops("message", ExceptionSpec::all(), |stop| {
        let exception = stop.exception.as_ref().expect("an exception");
        format!(
            "{}: {:?}, overridden by {:?}",
            exception.type_name, exception.message, exception.message_overridden_by
        )
    });
    expect![[r#"
        TicketException: Some("made with this"), overridden by Some("TicketException")
        Bare: None, overridden by Some("Bare")
        System.ArgumentOutOfRangeException: Some("too many (Parameter 'count')\nActual value was 5."), overridden by None
        System.ArgumentException: Some("bad (Parameter 'count')"), overridden by None
    "#]]
    .assert_eq(&told);
}

#[test]
fn what_helpers_of_the_runtime_throw_is_thrown_by_the_statement_that_needs_them() {
    let spec = ExceptionSpec {
        caught_by_user: Some(true),
        ..ExceptionSpec::all()
    };
    let told = stops_of("exceptions_helpers", "", spec, |stop| {
        let exception = stop.exception.as_ref().expect("an exception");
        let flight = exception.flight.as_deref().expect("a flight");
        let frame = flight.thrown_at.as_ref().expect("a frame");
        if exception.type_name == "System.InvalidCastException" {
            // On .NET 9 some of them are thrown by native code, which is nobody's method.
            let helper = flight.raised_by.as_deref().unwrap_or("CastHelpers");
            assert!(helper.contains("CastHelpers"), "{flight:?}");
        }
        format!("{}: {}", exception.type_name, told::frame(frame))
    });
    expect![[r#"
        System.InvalidCastException: Program.Cast<List<int>>(): static T Cast<T>() => (T)text;
        System.InvalidCastException: Program.Cast<IDisposable>(): static T Cast<T>() => (T)text;
        System.InvalidCastException: Program.Cast<Shape[]>(): static T Cast<T>() => (T)text;
        System.InvalidCastException: Program.Main.AnonymousMethod(): Try(() => { int number = (int)text; });
        System.NullReferenceException: Program.Main.AnonymousMethod(): Try(() => { int number = (int)nothing; });
        System.ArrayTypeMismatchException: Program.Main.AnonymousMethod(): Try(() => names[0] = new object());
        System.IndexOutOfRangeException: Program.Main.AnonymousMethod(): Try(() => numbers[5] = 1);
        System.OverflowException: Program.Main.AnonymousMethod(): Try(() => numbers[0] = checked(int.MaxValue + numbers.Length));
        System.Reflection.TargetInvocationException: Program.Make<Failing>(): static T Make<T>() where T : new() => new T();
        System.MissingMethodException: Program.Main.AnonymousMethod(): Try(() => Activator.CreateInstance<Shape>());
        System.ArgumentOutOfRangeException: External System.ThrowHelper.ThrowArgumentOutOfRange_IndexMustBeLessException(): ?
        System.InvalidOperationException: Program.Main.AnonymousMethod(): Try(() => throw new InvalidOperationException());
    "#]].assert_eq(&told);
}

/// What a condition runs leaves nothing of what the runtime named; the exception is told whole all the same.
#[test]
fn conditions_that_run_code_leave_the_exception_whole_and_may_ask_for_any_type() {
    let tell = |stop: &Stop| {
        let exception = stop.exception.as_ref().expect("an exception");
        let flight = exception.flight.as_deref().expect("a flight");
        let Handler::Catch { frame } = &flight.handler else {
            panic!("{:?}", flight.handler)
        };
        let reason = match &stop.reasons[..] {
            [StopReason::Exception { .. }] => "",
            other => panic!("{other:?}"),
        };
        format!("{reason}{} caught in {}", exception.type_name, frame.method)
    };
    let thrown = ExceptionSpec {
        condition: Some("$exception.ToString().Contains(\"ticket\")".into()),
        ..ExceptionSpec::all()
    };
    let caught = ExceptionSpec {
        caught_by_user: Some(true),
        ..thrown.clone()
    };
    let typed = ExceptionSpec {
        condition: Some(
            "$exception is TicketException t && t.Message == \"ticket 7\" || ($exception as Bare)?.HResult == 1".into(),
        ),
        ..ExceptionSpec::all()
    };
    for spec in [thrown, caught, typed] {
        expect![[r#"
            TicketException caught in Program.Try(Action action)
        "#]]
        .assert_eq(&stops("message", spec, tell));
    }
}

#[test]
fn an_async_method_that_only_the_framework_awaits_leaves_its_exception_to_others() {
    let spec = ExceptionSpec {
        thrown: false,
        user_unhandled: true,
        ..ExceptionSpec::all()
    };
    let told = stops("lost", spec, |stop| {
        let stage = ExceptionStage::UserUnhandled;
        assert!(
            matches!(&stop.reasons[..], [StopReason::Exception { stage: it, .. }] if *it == stage),
            "{stop:?}"
        );
        let exception = stop.exception.as_ref().expect("an exception");
        let flight = exception.flight.as_deref().expect("a flight");
        assert!(matches!(flight.handler, Handler::Task { .. }), "{flight:?}");
        let frame = flight.thrown_at.as_ref().expect("a frame");
        let line = frame.source.as_ref().expect("source").line.0;
        let markers = ["later", "sooner", "delegate"];
        let fixture = Fixture::named(FIXTURE);
        let marker = markers
            .into_iter()
            .find(|it| fixture.marker(it).line == line);
        marker.unwrap_or("somewhere else").to_owned()
    });
    assert_eq!(told, "later\nsooner\ndelegate\n");
}

/// Not each handler in an async method without text is the one that the compiler puts around all of it.
#[test]
fn an_async_method_of_the_framework_that_catches_is_told_as_that() {
    let spec = ExceptionSpec {
        types: vec!["TicketException".into()],
        ..ExceptionSpec::all()
    };
    let told = stops("parallel", spec, |stop| {
        let exception = stop.exception.as_ref().expect("an exception");
        let flight = exception.flight.as_deref().expect("a flight");
        match &flight.handler {
            Handler::Catch { frame } if frame.method.contains("Parallel") => "caught".into(),
            Handler::Task { frame, .. } if frame.user_code => "task".into(),
            other => format!("{other:?}"),
        }
    });
    // Thrown to it at once, and thrown again by its await: the latter lies in code that does not know its places.
    assert_eq!(told, "caught\ntask\ncaught\n");
}

/// What a compiler makes of a `finally` block with an `await` in it catches nothing for the user.
#[test]
fn a_finally_block_that_awaits_catches_nothing() {
    let tell = |stop: &Stop| {
        let exception = stop.exception.as_ref().expect("an exception");
        let flight = exception.flight.as_deref().expect("a flight");
        match &flight.handler {
            Handler::Task { frame, .. } if frame.user_code => "leaves the method".into(),
            other => format!("{other:?}"),
        }
    };
    let thrown = ExceptionSpec {
        types: vec!["TicketException".into()],
        ..ExceptionSpec::all()
    };
    // Thrown, and thrown again behind the block.
    let twice = "leaves the method\nleaves the method\n";
    assert_eq!(stops("awaits", thrown, tell), twice);
}

#[test]
fn what_nobody_catches_is_not_caught_by_the_user() {
    let sandbox = Sandbox::new();
    let spec = ExceptionSpec {
        caught_by_user: Some(false),
        unhandled: false,
        types: vec!["OrderException".into()],
        ..ExceptionSpec::all()
    };
    let program = sandbox
        .launch("throws")
        .with(|launch| launch.exceptions = vec![spec])
        .start();
    let stop = program.wait_stop();
    assert!(
        matches!(
            stop.reasons[..],
            [StopReason::UnhandledException, StopReason::Exception { .. }]
        ),
        "{stop:?}"
    );
    program.disconnect(Some(true), false);
}

/// The type, whether it was thrown before, and who handles it.
fn in_short(stop: &Stop) -> String {
    let exception = stop.exception.as_ref().expect("an exception");
    let flight = exception.flight.as_deref().expect("a flight");
    let again = if flight.rethrown { "again " } else { "" };
    let handler = match &flight.handler {
        Handler::Catch { frame } => format!("caught in {}", frame.method),
        Handler::Filter { frame } => format!("a filter in {} decides", frame.method),
        Handler::FilterFails { frame } => format!("ends the filter in {}", frame.method),
        other => format!("{other:?}"),
    };
    format!("{again}{}: {handler}", exception.type_name)
}

#[test]
fn exceptions_of_catch_and_finally_blocks_are_caught_by_whom_they_are_caught() {
    for (caught_by_user, expected) in [
        (
            Some(true),
            expect![[r#"
                Bare: caught in Program.Blocks()
                TicketException: caught in Program.Blocks()
                Bare: caught in Program.Blocks()
                again Bare: caught in Program.Blocks()
                Bare: caught in Program.Blocks()
                TicketException: caught in Program.Blocks()
            "#]],
        ),
        (Some(false), expect![[""]]),
    ] {
        let spec = ExceptionSpec {
            caught_by_user,
            ..ExceptionSpec::all()
        };
        expected.assert_eq(&stops("blocks", spec, in_short));
    }
}

#[test]
fn an_exception_that_leaves_a_filter_ends_only_that() {
    expect![[r#"
        Bare: a filter in Program.Main(string[] args) decides
        TicketException: ends the filter in Program.Main(string[] args)
    "#]]
    .assert_eq(&stops("filter", ExceptionSpec::all(), in_short));
}

/// The method without code is in the trace before anything was thrown again.
#[test]
fn what_the_runtime_throws_for_methods_without_code_is_thrown_once() {
    let again = |stop: &Stop| {
        let exception = stop.exception.as_ref().expect("an exception");
        let flight = exception.flight.as_deref().expect("a flight");
        let again = if flight.rethrown { "again " } else { "" };
        let name = exception.type_name.rsplit('.').next();
        format!("{again}{}", name.unwrap_or_default())
    };
    expect![[r"
        DllNotFoundException
        EntryPointNotFoundException
        SynchronizationLockException
        ThreadStateException
        DllNotFoundException
        again DllNotFoundException
        again DllNotFoundException
    "]]
    .assert_eq(&stops_of(
        "exceptions_native",
        "",
        ExceptionSpec::all(),
        again,
    ));
}

#[test]
fn exceptions_are_counted_whatever_a_condition_says() {
    let sandbox = Sandbox::new();
    let third = ExceptionSpec {
        condition: Some("$hitcount == 3".into()),
        ..ExceptionSpec::all()
    };
    let program = sandbox
        .launch("exceptions_native")
        .with(|launch| launch.exceptions = vec![third])
        .start();
    let stop = program.wait_stop();
    let exception = stop.exception.as_ref().expect("an exception");
    assert!(exception.type_name.contains("SynchronizationLock"));
    let count = program.request(Request::Evaluate(Evaluate::read("$hitcount")));
    assert!(format!("{count:?}").contains("text: \"3\""), "{count:?}");
    program.cont();
    program.expect_exit(0);
}

/// The filter of another type is not asked: it decides nothing.
#[test]
fn a_filter_of_another_type_is_no_handler() {
    expect![[r"
        Bare: caught in Program.Main(string[] args)
    "]]
    .assert_eq(&stops("other_filter", ExceptionSpec::all(), in_short));
}

#[test]
fn exceptions_of_the_runtimes_own_code_are_thrown_once_and_meet_conditions() {
    let spec = ExceptionSpec {
        condition: Some("$exception.Message.Length > 1".into()),
        ..ExceptionSpec::all()
    };
    let told = stops("framework", spec, |stop| {
        assert!(
            matches!(&stop.reasons[..], [StopReason::Exception { .. }]),
            "{stop:?}"
        );
        in_short(stop)
    });
    expect![[r#"
        System.FormatException: caught in Program.Framework(string text, object number)
        System.InvalidCastException: caught in Program.Framework(string text, object number)
        System.InvalidCastException: caught in Program.Framework(string text, object number)
    "#]]
    .assert_eq(&told);
}

/// Names in a condition are those of the user's code that asked for it, not of the framework's method that throws.
#[test]
fn conditions_on_what_the_framework_throws_are_read_in_the_users_frame() {
    let spec = ExceptionSpec {
        condition: Some("text == \"no number\" && $exception is FormatException".into()),
        ..ExceptionSpec::all()
    };
    let told = stops("framework", spec, |stop| {
        assert!(
            matches!(&stop.reasons[..], [StopReason::Exception { .. }]),
            "{stop:?}"
        );
        in_short(stop)
    });
    assert_eq!(
        told,
        "System.FormatException: caught in Program.Framework(string text, object number)\n"
    );
}

#[test]
fn generic_exceptions_are_told_with_namespace_and_arguments() {
    let told = stops("generic", ExceptionSpec::all(), |stop| {
        let exception = stop.exception.as_ref().expect("an exception");
        exception.type_name.clone()
    });
    assert_eq!(told, "Kinds.Of<int[]>\n");
}

#[test]
fn a_type_that_no_module_had_is_told_at_the_end() {
    // The second one emits types while it runs.
    let left_out = " (what it emitted while it ran was not looked at)";
    for (fixture, left_out) in [("hello", ""), ("expressions_dynamic", left_out)] {
        let sandbox = Sandbox::new();
        let types = ["NoSuchException", "System.FormatingException"];
        let program = sandbox
            .launch(fixture)
            .with(|launch| launch.exceptions = types.map(ExceptionSpec::of_type).into())
            .start();
        program.expect_exit(0);
        let notes = program.status().notes.join("\n");
        assert!(
            notes.contains(&format!(
                "1 was never met: no module had a type NoSuchException{left_out}"
            )),
            "{fixture}: {notes}"
        );
        assert!(
            notes.contains("did you mean System.FormatException"),
            "{fixture}: {notes}"
        );
    }
}

/// While it is stopped, what was emitted so far is looked at, too.
#[test]
fn a_type_that_no_module_has_is_told_where_types_were_emitted() {
    let sandbox = Sandbox::new();
    let at = at_marker("expressions_dynamic", "main");
    let program = sandbox
        .launch("expressions_dynamic")
        .with(|launch| launch.breakpoints = vec![at])
        .start();
    program.wait_stop();
    let spec = ExceptionSpec::of_type("NoSuchException");
    let set = program.request(Request::SetExceptionBreakpoint(spec));
    let told = format!("{set:?}");
    let note = "no loaded module has a type NoSuchException: it counts as soon as one has";
    assert!(told.contains(note), "{told}");
    program.disconnect(Some(true), false);
}

/// Also where another type of the breakpoint was met, and among those that it leaves out.
#[test]
fn each_name_that_no_module_had_is_told_at_the_end() {
    let sandbox = Sandbox::new();
    let named = |types: &[&str], except: &[&str]| ExceptionSpec {
        types: types.iter().map(|it| it.to_string()).collect(),
        except: except.iter().map(|it| it.to_string()).collect(),
        ..ExceptionSpec::all()
    };
    let exceptions = vec![
        named(&["NoSuchException", "Kinds.Of<int>"], &[]),
        named(&[], &["System.FormatingException"]),
    ];
    let program = sandbox
        .launch(FIXTURE)
        .args(["generic"])
        .with(|launch| launch.exceptions = exceptions)
        .start();
    program.wait_stop();
    program.cont();
    program.expect_exit(0);
    let notes = program.status().notes.join("\n");
    for wanted in [
        "exception breakpoint 1: no module had a type NoSuchException",
        "exception breakpoint 2: no module had a type System.FormatingException, did you mean System.FormatException",
    ] {
        assert!(notes.contains(wanted), "{notes}");
    }
    assert!(!notes.contains("Kinds"), "{notes}");
}

#[test]
fn type_arguments_that_are_not_looked_at_are_told() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("hello").stop_at_entry().start();
    let spec = ExceptionSpec::of_type("System.Collections.Generic.Odd<int>");
    let set = program.request(Request::SetExceptionBreakpoint(spec));
    let told = format!("{set:?}");
    assert!(told.contains("type arguments are not looked at"), "{told}");
    program.disconnect(Some(true), false);
}

#[test]
fn failure_that_is_traced_is_told_as_a_failed_assertion() {
    let told = stops("trace", ExceptionSpec::all(), |stop| {
        format!("{:?}", stop.reasons)
    });
    let expected = r#"[AssertionFailed { message: Some("failed"), detail: Some("for a reason") }]"#;
    assert_eq!(told.trim_end(), expected);
}

#[test]
fn code_that_an_attribute_takes_out_does_not_count_as_the_users() {
    let spec = ExceptionSpec {
        thrown: false,
        user_unhandled: true,
        ..ExceptionSpec::all()
    };
    // The first one is thrown and caught there, the second one comes from the user's code.
    expect![[r#"
        TicketException: caught in Others.Calls(Action action)
    "#]]
    .assert_eq(&stops("taken_out", spec, in_short));
}
