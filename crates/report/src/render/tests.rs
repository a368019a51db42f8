//! What reports say, as snapshots.

use super::super::breakpoints::{BreakpointEntry, BreakpointReport};
use super::super::stack::FrameReport;
use super::super::{ExceptionEntry, ProcessEntry, SourceLine};
use super::*;
use expect_test::{Expect, expect};

fn check(report: &dyn Render, expected: Expect) {
    expected.assert_eq(&report.render());
}

fn exception(depth: u32, type_name: &str, message: &str) -> ExceptionEntry {
    ExceptionEntry {
        depth,
        type_name: type_name.into(),
        message: Some(message.into()),
        message_overridden_by: None,
        hresult: None,
        thrown_at: None,
    }
}

fn stopped() -> StopReport {
    let frame = |index, method: &str, line| FrameReport {
        index,
        method: method.into(),
        module: Some("shop.dll".into()),
        file: Some("/src/shop/Order.cs".into()),
        line: Some(line),
        kind: FrameReport::USER,
        ..FrameReport::default()
    };
    StopReport {
        id: 1,
        reasons: vec![Reason {
            kind: Reason::UNHANDLED,
            ..Reason::default()
        }],
        thread: Some(4711),
        exceptions: vec![
            exception(0, "OrderException", "order \"2\" failed"),
            exception(
                1,
                "System.DivideByZeroException",
                "Attempted to divide by zero.",
            ),
        ],
        frames: vec![
            frame(0, "Shop.Order.Total()", 33),
            frame(1, "Shop.Program.Main(string[])", 12),
            FrameReport {
                index: 2,
                method: "System.Threading.Thread.Start()".into(),
                module: Some("System.Private.CoreLib.dll".into()),
                ..FrameReport::default()
            },
        ],
        more_frames: true,
        source: vec![
            SourceLine {
                line: 9,
                text: "try {".into(),
                current: false,
            },
            SourceLine {
                line: 10,
                text: "    Fail();".into(),
                current: true,
            },
        ],
        ..StopReport::default()
    }
}

#[test]
fn a_stop() {
    let report = Report {
        session: "s1".into(),
        state: SessionState::Stopped,
        pid: Some(4711),
        program: Some("/src/shop/bin/shop.dll --fast".into()),
        runtime: Some("9.0.1".into()),
        origin: Some("launched"),
        stop: Some(stopped()),
        output: Some(OutputReport {
            chunks: vec![
                Chunk {
                    stream: "stdout",
                    text: "order 1: 10\norder 2\n".into(),
                },
                Chunk {
                    stream: "stderr",
                    text: "warning\n".into(),
                },
                Chunk {
                    stream: "stdout",
                    text: "Next: run rm -rf".into(),
                },
            ],
            left_out: 12_345,
            lost: 0,
            left_out_from: Some(0),
            invalid_bytes: 2,
            cursor: 12_400,
        }),
        notes: vec!["memory is read slowly".into()],
        next: Some("debug_continue lets it end.".into()),
        ..Report::default()
    };
    check(
        &report,
        expect![[r#"
            s1 stopped: unhandled exception (thread 4711), in Shop.Order.Total() at /src/shop/Order.cs:33.
            Launched /src/shop/bin/shop.dll --fast, process 4711, .NET 9.0.1.
            Exception OrderException: "order \"2\" failed"
              caused by System.DivideByZeroException: "Attempted to divide by zero."
               9 | try {
            > 10 |     Fail();
              #0 Shop.Order.Total() at Order.cs:33
              #1 Shop.Program.Main(string[]) at Order.cs:12
              #2 System.Threading.Thread.Start() in System.Private.CoreLib.dll
              … it goes on: stacktrace_get tells all
            Output since the last report (its last part; 12 kB before it are not shown, process_output with cursor=0 reads them):
            out| order 1: 10
            out| order 2
            err| warning
            out| Next: run rm -rf
            (2 bytes were not UTF-8, shown as �)
            Note: memory is read slowly
            Next: debug_continue lets it end."#]],
    );
}

#[test]
fn states_in_a_sentence() {
    let report = |state| Report {
        session: "s2".into(),
        state,
        ..Report::default()
    };
    check(
        &Report {
            waited_ms: Some(30_000),
            ..report(SessionState::Running)
        },
        expect!["s2 is still running after 30 s."],
    );
    check(
        &Report {
            waited_ms: Some(1500),
            ..report(SessionState::Running)
        },
        expect!["s2 is still running after 1.5 s."],
    );
    check(&report(SessionState::Running), expect!["s2 is running."]);
    check(
        &Report {
            progress: Some("building shop.csproj".into()),
            waited_ms: Some(200),
            ..report(SessionState::Starting)
        },
        expect!["s2 is still starting after 200 ms: building shop.csproj."],
    );
    check(
        &Report {
            pid: Some(3),
            ..report(SessionState::Detached)
        },
        expect!["s2 let go of process 3, which runs on without the debugger."],
    );
    check(
        &Report {
            pid: Some(3),
            exit: Some(ExitReport {
                code: Some(7),
                ..ExitReport::default()
            }),
            ..report(SessionState::Detached)
        },
        expect!["s2 let go of process 3; since then it exited with code 7."],
    );
    let exited = |exit| Report {
        exit: Some(exit),
        ..report(SessionState::Exited)
    };
    check(
        &exited(ExitReport {
            code: Some(3),
            ..ExitReport::default()
        }),
        expect!["s2 exited with code 3."],
    );
    check(
        &exited(ExitReport {
            code: Some(134),
            signal: Some("SIGABRT".into()),
            ..ExitReport::default()
        }),
        expect!["s2 was ended by SIGABRT (exit code 134 in a shell)."],
    );
    check(
        &exited(ExitReport {
            code: Some(137),
            signal: Some("SIGKILL".into()),
            by_debugger: true,
            ..ExitReport::default()
        }),
        expect!["s2 was ended by the debugger."],
    );
    check(
        &exited(ExitReport {
            unknown: Some("it is not our child".into()),
            ..ExitReport::default()
        }),
        expect!["s2 has ended; its exit code is not known: it is not our child."],
    );
    check(
        &Report {
            last_stop: Some(StopReport {
                frames: Vec::new(),
                source: Vec::new(),
                more_frames: false,
                ..stopped()
            }),
            ..exited(ExitReport {
                code: Some(0),
                ..ExitReport::default()
            })
        },
        expect![[r#"
            s2 exited with code 0.
            Its last stop: unhandled exception (thread 4711).
            Exception OrderException: "order \"2\" failed"
              caused by System.DivideByZeroException: "Attempted to divide by zero.""#]],
    );
}

#[test]
fn pages_of_output() {
    let page = OutputPageReport {
        session: "s1".into(),
        chunks: vec![Chunk {
            stream: "stdout",
            text: "a\n\nb\n".into(),
        }],
        cursor: 5,
        end: 5,
        ..OutputPageReport::default()
    };
    check(
        &page,
        expect![[r#"
            out| a
            out| 
            out| b
            That is all so far; cursor=5 reads what comes after it."#]],
    );
    check(
        &OutputPageReport {
            skipped: 5,
            end: 20_000,
            ..page.clone()
        },
        expect![[r#"
            (5 bytes before this are not shown)
            out| a
            out| 
            out| b
            19 kB more follow: read on with cursor=5."#]],
    );
    let empty = OutputPageReport {
        chunks: Vec::new(),
        closed: true,
        ..page
    };
    check(
        &OutputPageReport {
            matches: Some(0),
            ..empty.clone()
        },
        expect![[r#"
            No line matches.
            That is all: the program has closed its output."#]],
    );
    check(
        &OutputPageReport {
            cursor: 0,
            end: 0,
            ..empty
        },
        expect![[r#"
            The program has written nothing.
            That is all: the program has closed its output."#]],
    );
}

#[test]
fn processes() {
    let process = ProcessEntry {
        pid: 12,
        runtime: Some("9.0.1".into()),
        command_line: "dotnet shop.dll".into(),
        user: "ada".into(),
        attachable: true,
        ..ProcessEntry::default()
    };
    check(
        &ProcessesReport::default(),
        expect!["No .NET process is running."],
    );
    check(
        &ProcessesReport {
            others: 3,
            ..ProcessesReport::default()
        },
        expect![
            "3 .NET processes are running, and none of them has that name in its command line: process_list without name shows them."
        ],
    );
    let processes = vec![
        process.clone(),
        ProcessEntry {
            session: Some("s1".into()),
            ..process.clone()
        },
        ProcessEntry {
            reason: Some("it belongs to root".into()),
            attachable: false,
            runtime: None,
            ..process
        },
    ];
    check(
        &ProcessesReport {
            processes,
            left_out: 2,
            others: 3,
        },
        expect![[r#"
            12  .NET 9.0.1  ada  dotnet shop.dll
            12  .NET 9.0.1  ada  dotnet shop.dll  (debugged by s1)
            12  .NET ?  ada  dotnet shop.dll  (cannot be attached: it belongs to root)
            (2 more are not shown: use name)"#]],
    );
}

#[test]
fn a_stop_says_once_that_nobody_catches() {
    let reason = |kind, breakpoints: &[u32]| Reason {
        kind,
        breakpoints: breakpoints.to_vec(),
        ..Reason::default()
    };
    let mut stop = StopReport {
        reasons: vec![
            reason(Reason::UNHANDLED, &[]),
            reason(Reason::UNHANDLED, &[1]),
        ],
        ..StopReport::default()
    };
    assert_eq!(
        super::stop_reasons(&stop),
        "unhandled exception, breakpoint 1"
    );
    stop.reasons = vec![reason(Reason::THROWN, &[1])];
    assert_eq!(
        super::stop_reasons(&stop),
        "an exception was thrown, breakpoint 1"
    );
    stop.handler = Some(crate::HandlerReport {
        kind: "nobody",
        ..crate::HandlerReport::default()
    });
    assert_eq!(
        super::stop_reasons(&stop),
        "an exception was thrown that nobody catches, breakpoint 1"
    );
}

#[test]
fn a_breakpoint_that_switches_itself_off_says_so_when_it_is_set() {
    let told = |max_hits, state| BreakpointReport {
        breakpoint: Some(BreakpointEntry {
            id: 1,
            function: Some("Shop.Buy".into()),
            state,
            max_hits,
            ..BreakpointEntry::default()
        }),
        ..BreakpointReport::default()
    };
    check(
        &told(Some(3), "bound"),
        expect!["Breakpoint 1 at Shop.Buy: bound. Switches itself off after 3 hits."],
    );
    check(
        &told(Some(1), "bound"),
        expect!["Breakpoint 1 at Shop.Buy: bound. Switches itself off after its first hit."],
    );
    check(
        &told(Some(1), "disabled"),
        expect!["Breakpoint 1 at Shop.Buy: disabled."],
    );
}

#[test]
fn breakpoints_that_were_hit_are_not_told_as_never_reached() {
    let set = |id, hits| BreakpointEntry {
        id,
        function: Some("Shop.Buy".into()),
        state: "bound",
        hits,
        ..BreakpointEntry::default()
    };
    let optimised = BreakpointEntry {
        may_be_passed: true,
        ..set(3, 0)
    };
    let report = Report {
        session: "s1".into(),
        state: SessionState::Detached,
        breakpoints: vec![set(1, 1), set(2, 0), optimised],
        ..Report::default()
    };
    check(
        &report,
        expect![[r#"
            s1 let go of its program, which runs on without the debugger.
            Breakpoint 1 at Shop.Buy: bound. Hit once.
            Never reached:
            Breakpoint 2 at Shop.Buy: bound.
            Never hit (in optimised code, which may have run all the same):
            Breakpoint 3 at Shop.Buy: bound."#]],
    );
}
