//! Async logical stacks: who awaits what runs, and what a blocked thread waits for.

use std::fmt::Write;

use expect_test::{Expect, expect};
use host::api::{
    AsyncEnd, AsyncFrame, AsyncStack, BreakpointSpec, ExceptionSpec, Place, Reply, Request,
    ThreadId,
};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use crate::stacks_told as told;

#[track_caller]
fn async_stack(program: &Debuggee<'_>, thread: Option<ThreadId>) -> AsyncStack {
    match program.request(Request::AsyncStack { thread }) {
        Ok(Reply::AsyncStack(stack)) => *stack,
        other => panic!("no async stack: {other:?}"),
    }
}

fn push(text: &mut String, frames: &[AsyncFrame]) {
    for frame in frames {
        let kind = format!("{:?}", frame.kind).to_lowercase();
        let source = match &frame.source {
            Some(source) => format!(": {}", told::line(Some(source))),
            None => String::new(),
        };
        let others = match frame.others {
            0 => String::new(),
            others => format!(" (and {others} others)"),
        };
        writeln!(text, "{kind} {}{source}{others}", frame.method).expect("text grows");
    }
}

fn render(program: &Debuggee<'_>, thread: Option<ThreadId>) -> String {
    let stack = async_stack(program, thread);
    let mut text = String::new();
    if let Some(resumed) = stack.resumed {
        let frames = told::frames(program, thread);
        let frame = frames.get(resumed as usize).expect("the frame is there");
        writeln!(text, "resumed {}", told::frame(frame)).expect("text grows");
    }
    push(&mut text, &stack.awaiting);
    if let Some(end) = &stack.end {
        let first = ThreadId(program.pid());
        match end {
            AsyncEnd::Blocks { thread } if *thread == Some(first) => {
                writeln!(text, "blocks the first thread").expect("text grows");
            }
            end => writeln!(text, "{end:?}").expect("text grows"),
        }
    }
    if let Some(blocked) = &stack.blocked {
        writeln!(text, "blocked").expect("text grows");
        push(&mut text, &blocked.chain);
        if let Some(incomplete) = &blocked.incomplete {
            writeln!(text, "incomplete: {incomplete}").expect("text grows");
        }
    }
    text
}

/// The logical stack where a scenario calls `Debugger.Break`.
#[track_caller]
fn check(args: &[&str], expected: &Expect) {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch("async_stacks")
        .args(args.iter().copied())
        .start();
    program.wait_stop();
    expected.assert_eq(&render(&program, None));
    program.disconnect(Some(true), false);
}

/// What the first thread of a scenario waits for.
#[track_caller]
fn check_blocked(scenario: &str, expected: &Expect) {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("async_stacks").args([scenario]).start();
    program.wait_output("waiting");
    let main = ThreadId(program.pid());
    program.pause();
    expected.assert_eq(&render(&program, Some(main)));
    program.disconnect(Some(true), false);
}

#[test]
fn tasks() {
    check(
        &["task"],
        &expect![[r#"
            resumed async Program.Leaf(): Debugger.Break();
            method Program.Middle(): static async Task<int> Middle() => await Leaf() + 1;
            method Program.Outer(): int sum = await Middle();
            blocks the first thread
        "#]],
    );
}

#[test]
fn who_awaits_what_a_task_runs_is_told() {
    for (scenario, expected) in [
        (
            "run",
            expect![[r#"
            Program.Run.AnonymousMethod(): static async Task Run() => await Task.Run(() => Work());
            method Program.Run(): static async Task Run() => await Task.Run(() => Work());
        "#]],
        ),
        (
            "then",
            expect![[r#"
            Program.Then.AnonymousMethod(Task done): static async Task Then() => await Gate.Task.ContinueWith(done => Work(), TaskScheduler.Default);
            method Program.Then(): static async Task Then() => await Gate.Task.ContinueWith(done => Work(), TaskScheduler.Default);
        "#]],
        ),
        (
            "all",
            expect![[r#"
            Program.Work(): Debugger.Break();
            combinator Task.WhenAll (2 not done)
            method Program.All(): static async Task All() => await Task.WhenAll(Task.Run(Work), Task.Delay(100000));
        "#]],
        ),
        (
            "begins",
            expect![[r#"
            async Program.Begins.AnonymousMethod(): await Task.Run(async () => { Work(); await Task.Delay(1); });
            method Program.Begins(): await Task.Run(async () => { Work(); await Task.Delay(1); });
        "#]],
        ),
        (
            "shared",
            expect![[r#"
            Program.Run.AnonymousMethod(): static async Task Run() => await Task.Run(() => Work());
            method Program.Run(): static async Task Run() => await Task.Run(() => Work());
            method Program.Share(Task shared): static async Task Share(Task shared) => await shared; (and 1 others)
            method Program.Shared(): await Share(shared);
        "#]],
        ),
    ] {
        let sandbox = Sandbox::new();
        let program = sandbox.launch("async_work").args([scenario]).start();
        program.wait_stop();
        // The first thread may not have come to waiting for all of it yet.
        let stack = async_stack(&program, None);
        assert!(stack.is_of_task, "{scenario}");
        let resumed = stack.resumed.expect("a frame") as usize;
        let frames = told::frames(&program, None);
        let mut text = format!("{}\n", told::frame(&frames[resumed]));
        push(&mut text, &stack.awaiting);
        expected.assert_eq(&text);
        program.disconnect(Some(true), false);
    }
}

#[test]
fn work_on_the_pool_and_loops_of_the_framework() {
    for (scenario, expected) in [
        (
            "on_pool",
            expect![[r#"
                resumed async Program.Leaf(): Debugger.Break();
                method Program.Middle(): static async Task<int> Middle() => await Leaf() + 1;
                method Program.OnPool(): static async Task OnPool() => await Task.Run(() => (Task)(inner = Middle()));
                blocks the first thread
            "#]],
        ),
        (
            "loop",
            expect![[r#"
                resumed async Program.Leaf(): Debugger.Break();
                method System.Threading.Tasks.Parallel.ForEachAsync<int>.AnonymousMethod()
                method Program.Loop(): static async Task Loop() => await Parallel.ForEachAsync(new[] { 1 }, (_, _) => new ValueTask(inner = Leaf()));
                blocks the first thread
            "#]],
        ),
        (
            "each",
            expect![[r#"
                resumed async Program.Leaf(): Debugger.Break();
                method Program.Middle(): static async Task<int> Middle() => await Leaf() + 1;
                iterator System.Threading.Tasks.Task.WhenEachState.Iterate<Task>()
                method Program.Each(): await foreach (var done in Task.WhenEach(inner = Middle())) Console.WriteLine(done.IsCompleted);
                blocks the first thread
            "#]],
        ),
    ] {
        check(&[scenario], &expected);
    }
}

#[test]
fn value_tasks() {
    check(
        &["value"],
        &expect![[r#"
            resumed async Program.Leaf(): Debugger.Break();
            method Program.ValueMiddle(): return await Leaf();
            method Program.ValueOuter(): static async Task ValueOuter() => Console.WriteLine(await ValueMiddle());
            blocks the first thread
        "#]],
    );
}

#[test]
fn pooled_value_tasks() {
    check(
        &["pooled"],
        &expect![[r#"
            resumed async Program.Leaf(): Debugger.Break();
            method Program.Pooled(): return await Leaf();
            method Program.PooledOuter(): static async Task PooledOuter() => Console.WriteLine(await Pooled());
            blocks the first thread
        "#]],
    );
}

#[test]
fn configured_awaits() {
    check(
        &["configured"],
        &expect![[r#"
            resumed async Program.Leaf(): Debugger.Break();
            method Program.Middle(): static async Task<int> Middle() => await Leaf() + 1;
            method Program.Configured(): static async Task Configured() => Console.WriteLine(await Middle().ConfigureAwait(false));
            blocks the first thread
        "#]],
    );
}

#[test]
fn async_void() {
    check(
        &["void"],
        &expect![[r#"
        resumed async Program.Leaf(): Debugger.Break();
        method Program.Middle(): static async Task<int> Middle() => await Leaf() + 1;
        method Program.Outer(): int sum = await Middle();
        method Program.Void(): await Outer();
        AsyncVoid
    "#]],
    );
}

#[test]
fn when_all() {
    check(
        &["all"],
        &expect![[r#"
            resumed async Program.Leaf(): Debugger.Break();
            method Program.Middle(): static async Task<int> Middle() => await Leaf() + 1;
            combinator Task.WhenAll (2 not done)
            method Program.All(): static async Task All() => await Task.WhenAll(Middle(), Other());
            blocks the first thread
        "#]],
    );
}

#[test]
fn when_any() {
    check(
        &["any"],
        &expect![[r#"
            resumed async Program.Leaf(): Debugger.Break();
            method Program.Middle(): static async Task<int> Middle() => await Leaf() + 1;
            combinator Task.WhenAny
            method Program.Any(): static async Task Any() => await await Task.WhenAny(Middle(), Other());
            blocks the first thread
        "#]],
    );
}

#[test]
fn async_iterators() {
    check(
        &["iterator"],
        &expect![[r#"
            resumed async Program.Leaf(): Debugger.Break();
            iterator Program.Numbers(): yield return await Leaf();
            method Program.Consume(): await foreach (int number in Numbers())
            blocks the first thread
        "#]],
    );
}

#[test]
fn two_that_await_the_same() {
    check(
        &["twice"],
        &expect![[r#"
            resumed async Program.Leaf(): Debugger.Break();
            method Program.Middle(): static async Task<int> Middle() => await Leaf() + 1;
            method Program.Outer(): int sum = await Middle();
            method Program.Sharer(Task shared): static async Task Sharer(Task shared) => await shared; (and 1 others)
            combinator Task.WhenAll (2 not done)
            method Program.Twice(): await Task.WhenAll(Sharer(shared), Sharer(shared));
            blocks the first thread
        "#]],
    );
}

#[test]
fn generic_methods_have_their_arguments() {
    check(
        &["generic"],
        &expect![[r#"
            resumed async Shop<string[]>.Load<long>(Task gate, long key, string[] item): Debugger.Break();
            method Program.Generic(): static async Task Generic() => Console.WriteLine(await new Shop<string[]>().Load(Gate.Task, 7L, new[] { "x" }));
            blocks the first thread
        "#]],
    );
}

#[test]
fn lambdas_and_local_functions() {
    check(
        &["lambda"],
        &expect![[r#"
            resumed async Program.Lambda.AnonymousMethod(int n): Func<int, Task<int>> twice = async n => { await Gate.Task; Debugger.Break(); return n * 2; };
            method Program.Lambda.Local(int n): async Task<int> Local(int n) => await twice(n);
            method Program.Lambda(): Console.WriteLine(await Local(4));
            blocks the first thread
        "#]],
    );
}

#[test]
fn continue_with() {
    check(
        &["continue_with"],
        &expect![[r#"
            resumed async Program.Leaf(): Debugger.Break();
            method Program.Middle(): static async Task<int> Middle() => await Leaf() + 1;
            continuation Program.Main.AnonymousMethod(Task<int> done): "continue_with" => Middle().ContinueWith(done => Console.WriteLine(done.Result)),
            blocks the first thread
        "#]],
    );
}

#[test]
fn called_and_not_resumed() {
    check(
        &["synchronous"],
        &expect![[r#"
            resumed async Program.Synchronous(): await Inner();
            blocks the first thread
        "#]],
    );
}

#[test]
fn blocked_on_an_async_method() {
    check_blocked(
        "hangs",
        &expect![[r#"
        blocked
        method Program.Hangs(): await Never();
        method Program.Never(): await new TaskCompletionSource<int>().Task;
        task a task that its TaskCompletionSource completes
    "#]],
    );
}

/// The framework's task for another one is told by that when it is done, and does not know it before: that one is looked for.
#[test]
fn blocked_on_what_task_run_returns_follows_whose_result_it_is() {
    check_blocked(
        "run",
        &expect![[r#"
        blocked
        task Task.Run or Unwrap
        method Program.Hangs(): await Never();
        method Program.Never(): await new TaskCompletionSource<int>().Task;
        task a task that its TaskCompletionSource completes
    "#]],
    );
}

/// A wait looks again and again before it blocks; the task does not know of it until then.
#[test]
fn threads_that_have_just_begun_to_wait_are_seen() {
    let sandbox = Sandbox::new();
    let wait = Place::Function {
        name: "System.Threading.Tasks.Task.SpinThenBlockingWait".into(),
    };
    let program = sandbox
        .launch("async_stacks")
        .args(["begins"])
        .with(|launch| launch.breakpoints = vec![BreakpointSpec::at(wait)])
        .start();
    program.wait_stop();
    let main = ThreadId(program.pid());
    expect![[r#"
        blocked
        method Program.Outer(): int sum = await Middle();
        method Program.Middle(): static async Task<int> Middle() => await Leaf() + 1;
        method Program.Leaf(): await Gate.Task;
        task a task that its TaskCompletionSource completes
    "#]]
    .assert_eq(&render(&program, Some(main)));
    let freeze = Request::Freeze {
        thread: main,
        frozen: true,
    };
    program.request(freeze).expect("frozen");
    program.cont();
    program.stdin("open\n");
    program.wait_stop();
    expect![[r#"
        resumed async Program.Leaf(): Debugger.Break();
        method Program.Middle(): static async Task<int> Middle() => await Leaf() + 1;
        method Program.Outer(): int sum = await Middle();
        blocks the first thread
    "#]]
    .assert_eq(&render(&program, None));
    program.disconnect(Some(true), false);
}

#[test]
fn blocked_on_a_delay() {
    check_blocked(
        "delay",
        &expect![[r#"
        blocked
        task Task.Delay
    "#]],
    );
}

#[test]
fn blocked_on_several_tasks() {
    check_blocked(
        "wait_all",
        &expect![[r#"
        blocked
        method Program.Hangs(): await Never();
        method Program.Never(): await new TaskCompletionSource<int>().Task;
        task a task that its TaskCompletionSource completes
    "#]],
    );
}

/// Launched or not, its state machines are structs; `keep` leaves its code optimised.
#[track_caller]
fn check_release(keep: bool, expected: &Expect) {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch("async_stacks_release")
        .with(|launch| launch.keep_optimized = keep)
        .start();
    program.wait_stop();
    expected.assert_eq(&render(&program, None));
    program.disconnect(Some(true), false);
}

#[test]
fn release_builds() {
    check_release(
        false,
        &expect![[r#"
            resumed async Program.Leaf<string>(string item): Debugger.Break();
            method Program.Middle(): int first = await Leaf("x");
            iterator Program.Numbers(): yield return await Middle();
            method Program.Outer(): await foreach (int number in Numbers())
            method Program.Void(): static async void Void() => await Outer();
            AsyncVoid
        "#]],
    );
}

#[test]
fn optimised_code_is_followed_or_says_why_not() {
    check_release(
        true,
        &expect![[r#"
            resumed async Program.Leaf<string>(string item): Debugger.Break();
            method Program.Middle(): int first = await Leaf("x");
            iterator Program.Numbers(): yield return await Middle();
            method Program.Outer(): await foreach (int number in Numbers())
            method Program.Void(): static async void Void() => await Outer();
            AsyncVoid
        "#]],
    );
}

#[test]
fn a_thousand_levels() {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch("async_stacks")
        .args(["deep", "1000"])
        .start();
    program.wait_stop();
    let stack = async_stack(&program, None);
    assert_eq!(stack.awaiting.len(), 1001, "{:?}", stack.end);
    let deep = "Program.Deep(int depth)";
    assert!(stack.awaiting.iter().all(|frame| frame.method == deep));
    program.disconnect(Some(true), false);
}

/// Stacks are full of words that only look like objects; the library asked about one crashes, at once or when the program goes on.
#[test]
fn what_only_looks_like_an_object_is_not_asked_for() {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch("async_thrown")
        .with(|launch| launch.exceptions = vec![ExceptionSpec::all()])
        .start();
    let mut stops = 0;
    while let Some(stop) = program.settle().stop {
        async_stack(&program, stop.thread);
        async_stack(&program, Some(ThreadId(program.pid())));
        stops += 1;
        program.cont();
    }
    program.expect_exit(0);
    assert_eq!(
        stops, 3,
        "thrown, again by the await, and wrapped by the wait"
    );
}
