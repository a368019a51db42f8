//! What a test says when the program under it did not do what was expected: a hang that is seen once, on another
//! machine, must tell enough to be understood.
//!
//! Invariant: it only adds to the words of a failure, and ends in a bounded time whatever hangs.

use std::fmt::Write as _;
use std::fs;
use std::time::{Duration, Instant};

use host::Session;
use host::api::{OutputCursor, OutputQuery, Reply, Request, ThreadId};

/// How long the host is given for each question.
const PATIENCE: Duration = Duration::from_secs(5);
const MAX_THREADS: usize = 40;

/// State, output, stacks and what each thread waits for, as text.
pub(crate) fn of(session: &Session) -> String {
    let ask = |request| session.request(request, Instant::now() + PATIENCE);
    let known = session.status();
    let mut text = format!(
        "status as last told: {known:#?}\nhost: {:?}\n",
        session.died()
    );
    let output = ask(Request::Output(OutputQuery {
        from: OutputCursor(0),
        stream: None,
        max_bytes: 4000,
        tail: true,
    }));
    let _ = writeln!(text, "output: {output:#?}");
    let _ = writeln!(text, "status now: {:?}", ask(Request::Status));
    let _ = writeln!(text, "breakpoints: {:?}", ask(Request::Breakpoints));
    if let Some(pid) = known.pid {
        let program = crate::procfs::process(pid.0);
        for pid in [Some(pid.0), program.map(|it| it.parent)]
            .into_iter()
            .flatten()
        {
            waits(pid, &mut text);
        }
    }
    let _ = writeln!(text, "pausing it: {:?}", ask(Request::Pause));
    if let Ok(Reply::Threads(threads)) = ask(Request::Threads) {
        for thread in threads.iter().take(MAX_THREADS) {
            stack(&ask, thread.id, &mut text);
        }
    }
    text
}

/// What the kernel knows of the threads of a process.
fn waits(pid: u32, text: &mut String) {
    let read = |path: String| fs::read_to_string(path).unwrap_or_default();
    let _ = writeln!(text, "threads of process {pid}:");
    let tasks = fs::read_dir(format!("/proc/{pid}/task"));
    for task in tasks.into_iter().flatten().flatten().take(MAX_THREADS) {
        let of = |what: &str| read(format!("{}/{what}", task.path().display()));
        let (name, wait, call) = (of("comm"), of("wchan"), of("syscall"));
        let status = of("status");
        let field = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name));
            line.unwrap_or_default().replace('\t', " ")
        };
        let _ = writeln!(
            text,
            "  {} {} {} {wait} [{}] {} {}",
            task.file_name().display(),
            name.trim(),
            field("State:"),
            call.trim(),
            field("SigBlk:"),
            field("SigPnd:"),
        );
    }
}

fn stack(
    ask: &impl Fn(Request) -> Result<Reply, host::api::Error>,
    thread: ThreadId,
    text: &mut String,
) {
    let frames = ask(Request::Stack {
        thread: Some(thread),
        start: 0,
        count: 8,
    });
    let _ = writeln!(text, "{thread:?}: {frames:?}");
}
