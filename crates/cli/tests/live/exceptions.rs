//! Exceptions: which stop the program, and what is told of them.

use expect_test::{Expect, expect};
use host::api::{ExceptionSpec, State, StopReason};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use crate::stacks_told as told;

fn launch<'s>(sandbox: &'s Sandbox, scenario: &str, specs: Vec<ExceptionSpec>) -> Debuggee<'s> {
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

fn shop() -> Vec<ExceptionSpec> {
    vec![ExceptionSpec::of_type("ShopException")]
}

macro_rules! scenario {
    ($name:ident, $scenario:literal, $specs:expr, $expected:expr) => {
        #[test]
        fn $name() {
            check($scenario, $specs, &$expected);
        }
    };
}

scenario!(
    thrown_tells_throw_site_and_catch_block,
    "caught",
    shop(),
    expect![[r#"
        == Thrown
        StockException: caught (0x2a)
        thrown at Program.Throw(string message): throw new StockException(message);
        handled by catch in Program.Caught(): catch (ShopException)
        stack:
        Program.Throw(string message): throw new StockException(message);
        Program.Caught(): Throw("caught");
        Program.Main(string[] args): case "caught": Caught(); break;
        end: Code(0)
    "#]]
);
scenario!(
    rethrow_is_told_as_thrown_again,
    "rethrow",
    shop(),
    expect![[r#"
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
    "#]]
);
scenario!(
    filters_are_named_as_who_decides,
    "filter",
    shop(),
    expect![[r#"
        == Thrown
        StockException: filtered (0x2a)
        thrown at Program.Throw(string message): throw new StockException(message);
        handled by filter in Program.Filter(): catch (StockException error) when (Accepts(error, false))
        stack:
        Program.Throw(string message): throw new StockException(message);
        Program.Filter(): Throw("filtered");
        Program.Main(string[] args): case "filter": Filter(); break;
        end: Code(0)
    "#]]
);
scenario!(
    finally_does_not_handle,
    "finally",
    shop(),
    expect![[r#"
        == Thrown
        StockException: finally (0x2a)
        thrown at Program.Throw(string message): throw new StockException(message);
        handled by catch in Program.Finally(): catch (StockException)
        stack:
        Program.Throw(string message): throw new StockException(message);
        Program.Finally(): Throw("finally");
        Program.Main(string[] args): case "finally": Finally(); break;
        end: Code(0)
    "#]]
);
scenario!(
    a_catch_block_that_throws_has_no_frames_of_the_first,
    "catch_throws",
    shop(),
    expect![[r#"
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
    "#]]
);
scenario!(
    on_another_thread,
    "thread",
    Vec::new(),
    expect![[r#"
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
"#]]
);
scenario!(
    in_a_task,
    "task",
    shop(),
    expect![[r#"
        == Thrown
        StockException: in a task (0x2a)
        thrown at Program.Throw(string message): throw new StockException(message);
        handled by catch in System.Private.CoreLib.dll
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
    "#]]
);
scenario!(
    in_an_async_method,
    "async",
    shop(),
    expect![[r#"
        == Thrown
        StockException: in async (0x2a)
        thrown at Program.Throw(string message): throw new StockException(message);
        handled by task of async Program.Fails(Task gate): Throw("in async");
        stack:
        Program.Throw(string message): throw new StockException(message);
        async Program.Fails(Task gate): Throw("in async");
        == Thrown
        StockException: in async (0x2a)
        thrown again at External System.Runtime.ExceptionServices.ExceptionDispatchInfo.Throw(): ?
        handled by catch in async Program.InAsync(Task gate): catch (StockException)
        - Program.Throw(string message): throw new StockException(message);
        - Program.Fails(Task gate): Throw("in async"); (thrown again)
        stack:
        async Program.InAsync(Task gate): await Fails(gate);
        async Catch Program.Fails(Task gate): Throw("in async");
        end: Code(0)
    "#]]
);
scenario!(
    in_an_async_void_method,
    "async_void",
    Vec::new(),
    expect![[r#"
        == UnhandledException
        StockException: async void (0x2a)
        unhandled at External System.Runtime.ExceptionServices.ExceptionDispatchInfo.Throw(): ?
        handled by nobody
        - Program.Throw(string message): throw new StockException(message);
        - Program.AsyncVoid(): Throw("async void"); (thrown again)
        stack:
        end: Signal { number: 6, name: "SIGABRT", by_debugger: false }
    "#]]
);
scenario!(
    in_a_static_constructor,
    "static",
    vec![ExceptionSpec::all()],
    expect![[r#"
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
    "#]]
);
scenario!(
    all_inner_exceptions_are_told,
    "aggregate",
    Vec::new(),
    expect![[r#"
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
"#]]
);
scenario!(
    out_of_memory_is_an_exception,
    "out_of_memory",
    vec![ExceptionSpec::all()],
    expect![[r#"
        == Thrown
        System.OutOfMemoryException: Array dimensions exceeded supported range. (0x8007000e)
        thrown at Program.OutOfMemory(): Console.WriteLine(new long[int.MaxValue / 2, 1000, 1000].Length);
        handled by catch in Program.OutOfMemory(): catch (OutOfMemoryException)
        stack:
        Program.OutOfMemory(): Console.WriteLine(new long[int.MaxValue / 2, 1000, 1000].Length);
        Program.Main(string[] args): case "out_of_memory": OutOfMemory(); break;
        end: Code(0)
    "#]]
);
scenario!(
    fail_fast_is_told_with_its_message,
    "fail_fast",
    Vec::new(),
    expect![[r#"
        == FailFast { message: Some("the shop is on fire") }
        stack:
        Program.FailFast(): static void FailFast() => Environment.FailFast("the shop is on fire");
        Program.Main(string[] args): case "fail_fast": FailFast(); break;
        end: Signal { number: 6, name: "SIGABRT", by_debugger: false }
    "#]]
);
scenario!(
    exit_is_no_exception,
    "exit",
    vec![ExceptionSpec::all()],
    expect![[r#"
    end: Code(7)
"#]]
);
scenario!(
    failed_assertion_is_told_with_its_message,
    "assert",
    Vec::new(),
    expect![[r#"
        == AssertionFailed { message: Some("seven arguments"), detail: Some("there are fewer") }
        stack:
        Program.Main(string[] args): case "assert": Debug.Assert(args.Length == 7, "seven arguments", "there are fewer"); Console.WriteLine("after"); break;
        end: Code(0)
    "#]]
);
scenario!(
    debugger_launch_is_true_and_does_not_stop,
    "launch",
    Vec::new(),
    expect![[r#"
    end: Code(0)
"#]]
);
scenario!(
    user_unhandled_stops_when_foreign_code_catches,
    "callback",
    vec![ExceptionSpec {
        thrown: false,
        user_unhandled: true,
        ..ExceptionSpec::all()
    }],
    expect![[r#"
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
    "#]]
);
