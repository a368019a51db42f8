//! Exceptions: which stop the program, and what is told of them.

use expect_test::{Expect, expect};
use host::api::{
    ErrorCode, Event, ExceptionReport, ExceptionSpec, Exit, Handler, Reply, Request, State,
    StopReason, Stream, ThreadId,
};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use crate::stacks_told as told;

pub(super) fn launch<'s>(
    sandbox: &'s Sandbox,
    scenario: &str,
    specs: Vec<ExceptionSpec>,
) -> Debuggee<'s> {
    sandbox
        .launch("exception_kinds")
        .args([scenario])
        .with(|launch| launch.exceptions = specs)
        .start()
}

/// Everything that one scenario stops for, with all exceptions thrown, and how it ends.
#[track_caller]
fn check(scenario: &str, specs: Vec<ExceptionSpec>, expected: &Expect) {
    let sandbox = Sandbox::new();
    let program = launch(&sandbox, scenario, specs);
    let mut text = String::new();
    loop {
        let status = program.settle();
        if status.state != State::Stopped {
            text += &format!("end: {:?}\n", status.exit.expect("an end"));
            break;
        }
        let stop = status.stop.expect("a stop");
        for reason in &stop.reasons {
            text += &match reason {
                StopReason::Exception { stage, .. } => format!("== {stage:?}\n"),
                other => format!("== {other:?}\n"),
            };
        }
        if let Some(exception) = &stop.exception {
            text += &told::exception(exception);
        }
        text += "stack:\n";
        let stack = told::stack(&program);
        let lines: Vec<_> = stack.lines().collect();
        text += &if lines.len() > 20 {
            format!("{} frames\n", lines.len())
        } else {
            stack
        };
        program.cont();
    }
    expected.assert_eq(&text);
}

pub(super) fn shop() -> Vec<ExceptionSpec> {
    vec![ExceptionSpec::of_type("ShopException")]
}

#[test]
fn thrown_tells_throw_site_and_catch_block() {
    check(
        "caught",
        shop(),
        &expect![[r#"
        == Thrown
        StockException: caught (0x2a)
        thrown at Program.Throw(string message): throw new StockException(message);
        handled by catch in Program.Caught(): catch (ShopException)
        stack:
        Program.Throw(string message): throw new StockException(message);
        Program.Caught(): Throw("caught");
        Program.Main(string[] args): case "caught": Caught(); break;
        end: Code(0)
    "#]],
    );
}

#[test]
fn rethrow_is_told_as_thrown_again() {
    check(
        "rethrow",
        shop(),
        &expect![[r#"
        == Thrown
        StockException: again (0x2a)
        thrown at Program.Throw(string message): throw new StockException(message);
        handled by catch in Program.Rethrow(): catch (StockException)
        stack:
        Program.Throw(string message): throw new StockException(message);
        Program.Rethrow(): Throw("again");
        Program.Main(string[] args): case "rethrow": Rethrow(); break;
        == Thrown
        StockException: again (0x2a)
        thrown again at Catch Program.Rethrow(): throw;
        handled by catch in Program.Rethrow(): catch (ShopException)
        - Program.Throw(string message): throw new StockException(message);
        - Program.Rethrow(): Throw("again");
        stack:
        Catch Program.Rethrow(): throw;
        Program.Main(string[] args): case "rethrow": Rethrow(); break;
        end: Code(0)
    "#]],
    );
}

#[test]
fn filters_are_named_as_who_decides() {
    check(
        "filter",
        shop(),
        &expect![[r#"
        == Thrown
        StockException: filtered (0x2a)
        thrown at Program.Throw(string message): throw new StockException(message);
        handled by filter in Program.Filter(): catch (StockException error) when (Accepts(error, false))
        stack:
        Program.Throw(string message): throw new StockException(message);
        Program.Filter(): Throw("filtered");
        Program.Main(string[] args): case "filter": Filter(); break;
        end: Code(0)
    "#]],
    );
}

#[test]
fn finally_does_not_handle() {
    check(
        "finally",
        shop(),
        &expect![[r#"
        == Thrown
        StockException: finally (0x2a)
        thrown at Program.Throw(string message): throw new StockException(message);
        handled by catch in Program.Finally(): catch (StockException)
        stack:
        Program.Throw(string message): throw new StockException(message);
        Program.Finally(): Throw("finally");
        Program.Main(string[] args): case "finally": Finally(); break;
        end: Code(0)
    "#]],
    );
}

#[test]
fn a_catch_block_that_throws_has_no_frames_of_the_first() {
    check(
        "catch_throws",
        shop(),
        &expect![[r#"
        == Thrown
        StockException: first (0x2a)
        thrown at Program.Throw(string message): throw new StockException(message);
        handled by catch in Program.CatchThrows(): catch (StockException error)
        stack:
        Program.Throw(string message): throw new StockException(message);
        Program.CatchThrows(): Throw("first");
        Program.Main(string[] args): case "catch_throws": CatchThrows(); break;
        == Thrown
        ShopException: second (0x2a)
        thrown at Catch Program.CatchThrows(): throw new ShopException("second", error);
        handled by nobody
          StockException: first (0x2a)
          - Program.Throw(string message): throw new StockException(message);
          - Program.CatchThrows(): Throw("first");
        stack:
        Catch Program.CatchThrows(): throw new ShopException("second", error);
        Program.Main(string[] args): case "catch_throws": CatchThrows(); break;
        == UnhandledException
        == Unhandled
        ShopException: second (0x2a)
        unhandled at Catch Program.CatchThrows(): throw new ShopException("second", error);
        handled by nobody
        - Program.CatchThrows(): throw new ShopException("second", error);
        - Program.Main(string[] args): case "catch_throws": CatchThrows(); break;
          StockException: first (0x2a)
          - Program.Throw(string message): throw new StockException(message);
          - Program.CatchThrows(): Throw("first");
        stack:
        Catch Program.CatchThrows(): throw new ShopException("second", error);
        Program.Main(string[] args): case "catch_throws": CatchThrows(); break;
        end: Signal { number: 6, name: "SIGABRT", by_debugger: false }
    "#]],
    );
}

#[test]
fn on_another_thread() {
    check(
        "thread",
        Vec::new(),
        &expect![[r#"
    == UnhandledException
    StockException: from a thread (0x2a)
    unhandled at Program.Throw(string message): throw new StockException(message);
    handled by nobody
    - Program.Throw(string message): throw new StockException(message);
    - Program.Main.AnonymousMethod(): case "thread": new Thread(() => Throw("from a thread")) { Name = "worker" }.Start(); Thread.Sleep(10000); break;
    stack:
    Program.Throw(string message): throw new StockException(message);
    Program.Main.AnonymousMethod(): case "thread": new Thread(() => Throw("from a thread")) { Name = "worker" }.Start(); Thread.Sleep(10000); break;
    end: Signal { number: 6, name: "SIGABRT", by_debugger: false }
"#]],
    );
}

#[test]
fn in_a_task() {
    check(
        "task",
        shop(),
        &expect![[r#"
            == Thrown
            StockException: in a task (0x2a)
            thrown at Program.Throw(string message): throw new StockException(message);
            handled by task of System.Private.CoreLib.dll
            stack:
            Program.Throw(string message): throw new StockException(message);
            Program.InTask.AnonymousMethod(): var task = Task.Run(() => Throw("in a task"));
            == Thrown
            StockException: in a task (0x2a)
            thrown again at External System.Runtime.ExceptionServices.ExceptionDispatchInfo.Throw(): ?
            handled by task of System.Private.CoreLib.dll
            - Program.Throw(string message): throw new StockException(message);
            - Program.InTask.AnonymousMethod(): var task = Task.Run(() => Throw("in a task"));
            stack:
            end: Code(0)
        "#]],
    );
}

#[test]
fn in_an_async_method() {
    check(
        "async",
        shop(),
        &expect![[r#"
            == Thrown
            StockException: in async (0x2a)
            thrown at Program.Throw(string message): throw new StockException(message);
            handled by task of async Program.Fails(Task gate): Throw("in async");
            stack:
            Program.Throw(string message): throw new StockException(message);
            async Program.Fails(Task gate): Throw("in async");
            == Thrown
            StockException: in async (0x2a)
            thrown again at async Program.InAsync(Task gate): await Fails(gate);
            handled by catch in async Program.InAsync(Task gate): catch (StockException)
            - Program.Throw(string message): throw new StockException(message);
            - Program.Fails(Task gate): Throw("in async"); (thrown again)
            stack:
            async Program.InAsync(Task gate): await Fails(gate);
            async Catch Program.Fails(Task gate): Throw("in async");
            end: Code(0)
        "#]],
    );
}

#[test]
fn in_an_async_void_method() {
    check(
        "async_void",
        Vec::new(),
        &expect![[r#"
        == UnhandledException
        StockException: async void (0x2a)
        unhandled at External System.Runtime.ExceptionServices.ExceptionDispatchInfo.Throw(): ?
        handled by nobody
        - Program.Throw(string message): throw new StockException(message);
        - Program.AsyncVoid(): Throw("async void"); (thrown again)
        stack:
        end: Signal { number: 6, name: "SIGABRT", by_debugger: false }
    "#]],
    );
}

#[test]
fn in_a_static_constructor() {
    check(
        "static",
        vec![ExceptionSpec::all()],
        &expect![[r#"
        == Thrown
        ShopException: no value (0x2a)
        thrown at Broken.Compute(): static int Compute() => throw new ShopException("no value");
        handled by type initialiser Broken..cctor(): public static readonly int Value = Compute();
        stack:
        Broken.Compute(): static int Compute() => throw new ShopException("no value");
        Broken..cctor(): public static readonly int Value = Compute();
        Program.Static(): Console.WriteLine(Broken.Value);
        Program.Main(string[] args): case "static": Static(); break;
        == Thrown
        System.TypeInitializationException: The type initializer for 'Broken' threw an exception. (0x80131534)
        thrown at Program.Static(): Console.WriteLine(Broken.Value);
        handled by catch in Program.Static(): catch (TypeInitializationException error)
          ShopException: no value (0x2a)
          - Broken.Compute(): static int Compute() => throw new ShopException("no value");
          - Broken..cctor(): public static readonly int Value = Compute();
        stack:
        Program.Static(): Console.WriteLine(Broken.Value);
        Program.Main(string[] args): case "static": Static(); break;
        end: Code(0)
    "#]],
    );
}

#[test]
fn all_inner_exceptions_are_told() {
    check(
        "aggregate",
        Vec::new(),
        &expect![[r#"
    == UnhandledException
    System.AggregateException: many (one) (two) (bad (Parameter 'count')) (0x80131500)
    unhandled at Program.Aggregate(): throw new AggregateException("many",
    handled by nobody
    - Program.Aggregate(): throw new AggregateException("many",
    - Program.Main(string[] args): case "aggregate": Aggregate(); break;
      ShopException: one (0x2a)
        System.FormatException: deep (0x80131537)
      StockException: two (0x2a)
      System.ArgumentException: bad (Parameter 'count') (0x80070057)
    stack:
    Program.Aggregate(): throw new AggregateException("many",
    Program.Main(string[] args): case "aggregate": Aggregate(); break;
    end: Signal { number: 6, name: "SIGABRT", by_debugger: false }
"#]],
    );
}

#[test]
fn out_of_memory_is_an_exception() {
    check(
        "out_of_memory",
        vec![ExceptionSpec::all()],
        &expect![[r#"
        == Thrown
        System.OutOfMemoryException: Array dimensions exceeded supported range. (0x8007000e)
        thrown at Program.OutOfMemory(): Console.WriteLine(new long[int.MaxValue / 2, 1000, 1000].Length);
        handled by catch in Program.OutOfMemory(): catch (OutOfMemoryException)
        stack:
        Program.OutOfMemory(): Console.WriteLine(new long[int.MaxValue / 2, 1000, 1000].Length);
        Program.Main(string[] args): case "out_of_memory": OutOfMemory(); break;
        end: Code(0)
    "#]],
    );
}

#[test]
fn fail_fast_is_told_with_its_message() {
    check(
        "fail_fast",
        Vec::new(),
        &expect![[r#"
        == FailFast { message: Some("the shop is on fire"), exception: None }
        stack:
        Program.FailFast(): static void FailFast() => Environment.FailFast("the shop is on fire");
        Program.Main(string[] args): case "fail_fast": FailFast(); break;
        end: Signal { number: 6, name: "SIGABRT", by_debugger: false }
    "#]],
    );
}

#[test]
fn fail_fast_is_told_with_the_exception_that_it_was_given() {
    check(
        "fail_fast_given",
        Vec::new(),
        &expect![[r#"
        == FailFast { message: Some("the till is empty"), exception: Some("System.InvalidOperationException: no change") }
        stack:
        Program.Main(string[] args): case "fail_fast_given": Environment.FailFast("the till is empty", new InvalidOperationException("no change")); break;
        end: Signal { number: 6, name: "SIGABRT", by_debugger: false }
    "#]],
    );
}

/// The runtime itself tells nothing of it there.
#[test]
fn fail_fast_inside_a_catch_block_is_told_with_its_message_and_once() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("fail_fast_caught").start();
    let stop = program.wait_stop();
    let message = Some("giving up".to_owned());
    let exception = Some("System.InvalidOperationException: no way on".to_owned());
    assert_eq!(stop.reasons, [StopReason::FailFast { message, exception }]);
    program.cont();
    let exit = program.wait_exit();
    assert!(matches!(exit, Exit::Signal { number: 6, .. }), "{exit:?}");
}

#[test]
fn exit_is_no_exception() {
    check(
        "exit",
        vec![ExceptionSpec::all()],
        &expect![[r#"
    end: Code(7)
"#]],
    );
}

#[test]
fn failed_assertion_is_told_with_its_message() {
    check(
        "assert",
        Vec::new(),
        &expect![[r#"
        == AssertionFailed { message: Some("seven arguments"), detail: Some("there are fewer") }
        stack:
        Program.Main(string[] args): case "assert": Debug.Assert(args.Length == 7, "seven arguments", "there are fewer"); Console.WriteLine("after"); break;
        end: Code(0)
    "#]],
    );
}

#[test]
fn debugger_launch_is_true_and_does_not_stop() {
    check(
        "launch",
        Vec::new(),
        &expect![[r#"
    end: Code(0)
"#]],
    );
}

#[test]
fn user_unhandled_stops_when_foreign_code_catches() {
    check(
        "callback",
        vec![ExceptionSpec {
            thrown: false,
            user_unhandled: true,
            ..ExceptionSpec::all()
        }],
        &expect![[r#"
        == UserUnhandled
        StockException: in a callback (0x2a)
        user-unhandled at Program.Throw(string message): throw new StockException(message);
        handled by catch in System.Private.CoreLib.dll
        - Program.Throw(string message): throw new StockException(message);
        - Program.Callback.AnonymousMethod(int a, int b): list.Sort((a, b) => { Throw("in a callback"); return 0; });
        stack:
        Program.Throw(string message): throw new StockException(message);
        Program.Callback.AnonymousMethod(int a, int b): list.Sort((a, b) => { Throw("in a callback"); return 0; });
        Program.Callback(): list.Sort((a, b) => { Throw("in a callback"); return 0; });
        Program.Main(string[] args): case "callback": Callback(); break;
        end: Code(0)
    "#]],
    );
}

/// Before .NET 10 the runtime cannot tell of it, and hangs.
#[test]
fn stack_overflow_is_told_and_ends_the_program() {
    let sandbox = Sandbox::new();
    let program = launch(&sandbox, "overflow", Vec::new());
    let mut status = program.settle();
    if let Some(stop) = &status.stop {
        let exception = stop.exception.as_ref().expect("an exception");
        assert_eq!(exception.type_name, "System.StackOverflowException");
        program.cont();
        status = program.settle();
    } else {
        let told = |note: &String| note.contains("the program's stack overflowed");
        assert!(status.notes.iter().any(told), "{:?}", status.notes);
    }
    assert!(
        matches!(status.exit, Some(Exit::Signal { number: 6, .. })),
        "{status:?}"
    );
    let text = program.text(Stream::Stderr);
    assert!(text.contains("Stack overflow."), "{text}");
}

#[test]
fn debugger_log_is_told_in_order_with_the_output() {
    let sandbox = Sandbox::new();
    let program = launch(&sandbox, "log", Vec::new());
    program.expect_exit(0);
    let output: Vec<_> = program
        .output()
        .into_iter()
        .map(|chunk| (chunk.stream, chunk.text))
        .collect();
    let expected = [
        (Stream::Stdout, "before\n"),
        (Stream::Trace, "a message\ncategory: a line\ntraced\n"),
        (Stream::Stdout, "after\n"),
    ];
    assert_eq!(
        output,
        expected.map(|(stream, text)| (stream, text.to_owned()))
    );
    let logged: Vec<_> = program
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::Log(log) => Some((log.level, log.category, log.text, log.thread)),
            _ => None,
        })
        .collect();
    let (level, category, text, thread) = logged.first().expect("a log message");
    assert_eq!(
        (*level, category.as_str(), text.as_str()),
        (3, "shop", "a message\n")
    );
    assert_eq!(*thread, Some(ThreadId(program.pid())));
    assert_eq!(logged.len(), 3, "{logged:?}");
}

/// The exceptions that stop a scenario: `stage type message`.
#[track_caller]
fn stops(scenario: &str, specs: Vec<ExceptionSpec>) -> Vec<String> {
    let sandbox = Sandbox::new();
    let program = launch(&sandbox, scenario, specs);
    let mut told = Vec::new();
    loop {
        let status = program.settle();
        let Some(stop) = status.stop else {
            assert_eq!(status.state, State::Exited);
            return told;
        };
        let exception = stop.exception.expect("an exception");
        let flight = exception.flight.expect("it is in flight");
        let message = exception.message.unwrap_or_default();
        told.push(format!(
            "{:?} {} {message}",
            flight.stage, exception.type_name
        ));
        program.cont();
    }
}

pub(super) fn thrown(types: &[&str]) -> ExceptionSpec {
    ExceptionSpec {
        types: types.iter().map(|it| (*it).to_owned()).collect(),
        ..ExceptionSpec::all()
    }
}

#[test]
fn types_are_named_with_or_without_subtypes_several_and_excluded() {
    let stock = vec!["Thrown StockException caught".to_owned()];
    assert_eq!(stops("caught", vec![thrown(&["ShopException"])]), stock);
    assert_eq!(stops("caught", vec![thrown(&["System.Exception"])]), stock);
    let several = thrown(&["System.FormatException", "StockException"]);
    assert_eq!(stops("caught", vec![several]), stock);
    let exact = ExceptionSpec {
        subtypes: false,
        ..thrown(&["ShopException"])
    };
    assert!(stops("caught", vec![exact]).is_empty());
    let without = ExceptionSpec {
        except: vec!["ShopException".into()],
        ..ExceptionSpec::all()
    };
    assert!(stops("caught", vec![without]).is_empty());
    let off = ExceptionSpec {
        enabled: false,
        ..ExceptionSpec::all()
    };
    assert!(stops("caught", vec![off]).is_empty());
}

#[test]
fn only_those_that_the_users_code_catches_or_only_the_others() {
    let caught = |by_user| {
        vec![ExceptionSpec {
            caught_by_user: Some(by_user),
            ..thrown(&["StockException"])
        }]
    };
    let told = |message: &str| vec![format!("Thrown StockException {message}")];
    assert_eq!(stops("caught", caught(true)), told("caught"));
    assert!(stops("caught", caught(false)).is_empty());
    assert_eq!(stops("callback", caught(false)), told("in a callback"));
    assert!(stops("callback", caught(true)).is_empty());
}

#[test]
fn handler_is_exact_once_it_is_found() {
    let sandbox = Sandbox::new();
    let spec = ExceptionSpec {
        caught_by_user: Some(true),
        ..thrown(&["StockException"])
    };
    let program = launch(&sandbox, "filter", vec![spec]);
    let stop = program.wait_stop();
    let flight = stop.exception.and_then(|it| it.flight).expect("a flight");
    // Both filters have run; the frames that threw are still there.
    assert_eq!(
        program.text(Stream::Stdout),
        "filter filtered\nfilter filtered\n"
    );
    let Handler::Filter { frame } = flight.handler else {
        panic!("{:?}", flight.handler)
    };
    assert_eq!(
        (frame.index, frame.method.as_str()),
        (1, "Program.Filter()")
    );
    let line = told::line(frame.source.as_ref());
    assert!(line.contains("Accepts(error, true)"), "{line}");
    let thrown_at = flight.thrown_at.expect("a frame");
    assert_eq!(thrown_at.method, "Program.Throw(string message)");
    program.cont();
    program.expect_exit(0);
}

#[test]
fn whole_exception_can_be_asked_for_while_it_is_in_flight() {
    let sandbox = Sandbox::new();
    let program = launch(&sandbox, "aggregate", Vec::new());
    let stop = program.wait_stop();
    let ask = |thread| match program.request(Request::Exception { thread }) {
        Ok(Reply::Exception(exception)) => exception.map(|it| *it),
        other => panic!("no exception: {other:?}"),
    };
    let told: Option<ExceptionReport> = ask(None);
    assert_eq!(told, stop.exception);
    assert_eq!(told, ask(stop.thread));
    let message = told.and_then(|it| it.message);
    let expected = "many (one) (two) (bad (Parameter 'count'))";
    assert_eq!(message.as_deref(), Some(expected));
    program.cont();
    assert!(matches!(
        program.wait_exit(),
        Exit::Signal { number: 6, .. }
    ));
    assert_eq!(
        program.refused(Request::Exception { thread: None }),
        ErrorCode::Exited
    );
}

#[test]
fn unhandled_stops_unless_switched_off() {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch("exception_kinds")
        .args(["aggregate"])
        .stop_at_entry()
        .start();
    program.wait_stop();
    let off = program.request(Request::StopAtUnhandled(false));
    assert!(matches!(off, Ok(Reply::Status(_))), "{off:?}");
    program.cont();
    assert!(matches!(
        program.wait_exit(),
        Exit::Signal { number: 6, .. }
    ));
}

#[test]
fn eight_threads_throw_at_once_and_none_is_lost() {
    let mut told = stops("parallel", shop());
    told.sort();
    let mut expected: Vec<_> = (0..8)
        .flat_map(|thread| (0..5).map(move |round| (thread, round)))
        .map(|(thread, round)| format!("Thrown StockException thread {thread} round {round}"))
        .collect();
    expected.sort();
    assert_eq!(told, expected);
}

/// What stops a program that throws a `StockException("first")`, then a `ShopException("second")`, under a condition.
#[track_caller]
fn check_condition(condition: &str, expected: &Expect) {
    let sandbox = Sandbox::new();
    let spec = ExceptionSpec {
        condition: Some(condition.into()),
        unhandled: false,
        ..ExceptionSpec::of_type("ShopException")
    };
    let program = launch(&sandbox, "catch_throws", vec![spec]);
    let mut text = String::new();
    loop {
        let status = program.settle();
        let Some(stop) = status.stop else { break };
        for reason in &stop.reasons {
            text += &match reason {
                StopReason::Exception { stage, .. } => format!("{stage:?}"),
                StopReason::ConditionFailed { error, .. } => error.clone(),
                other => format!("{other:?}"),
            };
            let message = stop.exception.as_ref().and_then(|it| it.message.as_deref());
            text += &format!(" at {}\n", message.unwrap_or_default());
        }
        program.cont();
    }
    expected.assert_eq(&text);
}

#[test]
fn conditions_choose_by_the_exception() {
    check_condition(
        "$exception.Message == \"second\" && $exception.HResult == 42",
        &expect![[r#"
            Thrown at second
            UnhandledException at second
        "#]],
    );
    check_condition(
        "$exception is StockException",
        &expect![[r#"
            Thrown at first
            UnhandledException at second
        "#]],
    );
    check_condition(
        "$exception.InnerException?.Message == \"first\"",
        &expect![[r#"
            Thrown at second
            UnhandledException at second
        "#]],
    );
}

#[test]
fn condition_that_fails_stops_and_says_so() {
    check_condition(
        "$exception.Nothing == 1",
        &expect![[r#"
            error CS1061: `StockException` has no definition for `Nothing`
              $exception.Nothing == 1
                         ^^^^^^^ at first
            error CS1061: `ShopException` has no definition for `Nothing`
              $exception.Nothing == 1
                         ^^^^^^^ at second
            UnhandledException at second
        "#]],
    );
}
