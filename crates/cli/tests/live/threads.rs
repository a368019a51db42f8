//! Threads: what each is, what it does, and keeping one stopped.

use host::api::{ErrorCode, Reply, Request, StopReason, ThreadActivity, ThreadId, ThreadReport};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

#[track_caller]
fn threads(program: &Debuggee<'_>) -> Vec<ThreadReport> {
    match program.request(Request::Threads) {
        Ok(Reply::Threads(threads)) => threads,
        other => panic!("no threads: {other:?}"),
    }
}

#[track_caller]
fn named<'t>(threads: &'t [ThreadReport], name: &str) -> &'t ThreadReport {
    let found = threads.iter().find(|it| it.name.as_deref() == Some(name));
    found.unwrap_or_else(|| panic!("no {name} in {threads:#?}"))
}

fn top(thread: &ThreadReport) -> &str {
    thread
        .top
        .as_ref()
        .map_or("", |frame| frame.method.as_str())
}

#[test]
fn are_told_with_name_state_and_kind() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("stack_kinds").args(["threads"]).start();
    let stop = program.wait_stop();
    assert_eq!(stop.reasons, [StopReason::DebuggerBreak]);
    let threads = threads(&program);

    let first = named(&threads, "first");
    assert_eq!(Some(first.id), stop.thread);
    assert_eq!(first.id, ThreadId(program.pid()));
    assert!(first.current && !first.background && !first.pool);
    assert_eq!(top(first), "Program.Threads()");

    let waiting = named(&threads, "waiting thread");
    assert!(waiting.background && !waiting.pool && !waiting.current);
    assert_eq!(waiting.activity, ThreadActivity::Waiting);
    assert_eq!(top(waiting), "Program.Threads.AnonymousMethod()");

    let spinning = named(&threads, "spinning");
    assert!(!spinning.background);
    assert_eq!(spinning.activity, ThreadActivity::Running);

    let pool: Vec<_> = threads
        .iter()
        .filter(|it| it.pool && top(it).starts_with("Program."))
        .collect();
    assert_eq!(pool.len(), 1, "{threads:#?}");
    assert!(pool[0].background);
    assert_eq!(pool[0].activity, ThreadActivity::Waiting);
    assert_eq!(top(pool[0]), "Program.Threads.AnonymousMethod(object? _)");

    // One that sleeps has no name.
    let sleeping = threads.iter().any(|it| {
        it.name.is_none() && !it.pool && !it.background && top(it).starts_with("Program.Threads.")
    });
    assert!(sleeping, "{threads:#?}");
    program.cont();
    program.expect_exit(0);
}

#[test]
fn idle_threads_of_the_pool_are_told_as_waiting() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("stack_kinds").args(["idle"]).start();
    // It looks for work for a moment before it waits for some.
    let idle = loop {
        program.wait_stop();
        let threads = threads(&program);
        let mut pool = threads.into_iter().filter(|it| it.pool);
        if let Some(idle) = pool.find(|it| top(it).starts_with("System.Threading.LowLevel")) {
            break idle;
        }
        program.cont();
    };
    assert_eq!(idle.activity, ThreadActivity::Waiting, "{idle:#?}");
    program.disconnect(Some(true), false);
}

#[test]
fn unknown_thread_is_refused() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("breaks").start();
    program.wait_stop();
    let thread = Some(ThreadId(1));
    for request in [
        Request::Stack {
            thread,
            start: 0,
            count: 1,
        },
        Request::AsyncStack { thread },
        Request::Exception { thread },
        Request::Freeze {
            thread: ThreadId(1),
            frozen: true,
        },
    ] {
        assert_eq!(program.refused(request), ErrorCode::InvalidThread);
    }
    program.disconnect(Some(true), false);
}

#[test]
fn frozen_thread_does_not_run() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("stack_kinds").args(["threads"]).start();
    program.wait_stop();
    let spinning = named(&threads(&program), "spinning").id;
    let freeze = |frozen| match program.request(Request::Freeze {
        thread: spinning,
        frozen,
    }) {
        Ok(Reply::Threads(threads)) => named(&threads, "spinning").frozen,
        other => panic!("not frozen: {other:?}"),
    };
    assert!(freeze(true));
    // The first thread waits for the others to end; all but the frozen one do.
    program.cont();
    let left = testkit::eventually(|| {
        program.pause();
        let left = threads(&program);
        let told = left
            .iter()
            .any(|it| it.name.as_deref() == Some("waiting thread"));
        program.cont();
        if told {
            Err("it still lives".into())
        } else {
            Ok(left)
        }
    });
    let left = left.expect("the waiting thread ends");
    let spinning = named(&left, "spinning");
    assert!(spinning.frozen);
    program.pause();
    assert!(!freeze(false));
    program.cont();
    program.expect_exit(0);
}

#[test]
fn thread_in_a_system_call_is_in_native_code() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("waits").args(["0"]).start();
    program.wait_output("waiting");
    let main = ThreadId(program.pid());
    // It may still be on its way into the call.
    let told = testkit::eventually(|| {
        program.pause();
        let threads = threads(&program);
        let activity = threads
            .iter()
            .find(|it| it.id == main)
            .map(|it| it.activity);
        match activity {
            Some(ThreadActivity::Native) => Ok(()),
            other => {
                program.cont();
                Err(format!("{other:?}"))
            }
        }
    });
    assert_eq!(told, Ok(()));
    program.disconnect(Some(true), false);
}

/// Wherever a pause meets them: also on the way from one call to the next.
#[test]
fn threads_that_run_the_users_code_are_told_as_running() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("threads_busy").start();
    program.wait_output("busy");
    for _ in 0..20 {
        program.pause();
        let threads = threads(&program);
        for name in ["counting", "calling", "looping"] {
            let told = named(&threads, name);
            assert_eq!(told.activity, ThreadActivity::Running, "{told:#?}");
        }
        program.cont();
    }
    program.disconnect(Some(true), false);
}

/// The program does not wait for a debugger when it gives a thread a name: that is read when it is asked for.
#[test]
fn names_that_change_are_told_as_they_are() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("renames").args(["1000"]).start();
    for name in [Some("first"), Some("name 1000"), None] {
        let stop = program.wait_stop();
        assert_eq!(stop.reasons, [StopReason::DebuggerBreak]);
        let threads = threads(&program);
        let found = threads.iter().find(|it| Some(it.id) == stop.thread);
        assert_eq!(found.expect("the thread").name.as_deref(), name);
        program.cont();
    }
    program.expect_exit(0);
}
