//! The program's standard streams: captured, bounded, separate, and never in the program's way.

use host::api::{Error, ErrorCode, OutputCursor, OutputQuery, Request, State, Stream};
use testkit::debuggee::Debuggee;
use testkit::procfs;
use testkit::sandbox::Sandbox;

/// What the ring keeps at most.
const RING: u64 = 2 << 20;
const MIB: u64 = 1 << 20;

fn query(from: u64, max_bytes: u32) -> OutputQuery {
    OutputQuery {
        from: OutputCursor(from),
        stream: None,
        max_bytes,
        tail: false,
    }
}

fn input(program: &Debuggee<'_>, text: &str, close: bool) -> Result<(), Error> {
    let text = text.to_owned();
    program.request(Request::Input { text, close }).map(drop)
}

#[test]
fn input_is_read_line_by_line_and_ends_when_it_is_closed() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("hello").args(["--stdin"]).start();
    program.stdin("first\n");
    program.wait_output("read: first\n");
    program.stdin("grün 世");
    program.stdin("界\nlast");
    program.wait_output("read: grün 世界\n");
    program.close_stdin();
    program.expect_exit(0);
    let text = program.text(Stream::Stdout);
    assert!(text.ends_with("read: last\nend of input\nbye\n"), "{text}");
    // Closed is closed: nothing is lost in silence.
    let error = input(&program, "more\n", false).expect_err("closed");
    assert_eq!(error.code, ErrorCode::InvalidParameter);
}

#[test]
fn input_after_a_close_is_refused_even_if_the_program_has_not_read_what_came_before() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("loops").args(["silent", "5"]).start();
    // More than a pipe holds: the close cannot have been carried out.
    input(&program, &"x".repeat(1 << 20), true).expect("it is open");
    let error = input(&program, "more\n", false).expect_err("closed");
    assert_eq!(error.code, ErrorCode::InvalidParameter);
    assert!(error.message.contains("is closed"), "{error:?}");
}

#[test]
fn input_of_a_program_that_does_not_read_is_bounded_and_blocks_nothing() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("loops").args(["sleep", "5"]).start();
    let block = "x".repeat(1 << 20);
    let mut accepted = 0;
    let error = loop {
        match input(&program, &block, false) {
            Ok(()) => accepted += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(error.code, ErrorCode::InvalidParameter);
    assert!(
        (15..=17).contains(&accepted),
        "{accepted} MiB were accepted"
    );
    program.pause();
    program.cont();
    program.wait_more_output();
}

#[test]
fn streams_are_separate() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("hello").args(["--error", "oops"]).start();
    program.expect_exit(0);
    assert_eq!(program.text(Stream::Stderr), "oops\n");
    assert!(!program.text(Stream::Stdout).contains("oops"));
    let only_errors = program.page(OutputQuery {
        stream: Some(Stream::Stderr),
        ..query(0, 1000)
    });
    assert_eq!(only_errors.chunks.len(), 1);
    assert_eq!(only_errors.next, only_errors.end);
    assert!(only_errors.closed);
}

#[test]
fn pages_follow_each_other_without_loss_or_repetition() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("burst").args(["1"]).start();
    program.expect_exit(0);
    let (mut at, mut text, mut pages) = (0, String::new(), 0);
    loop {
        let page = program.page(query(at, 5000));
        assert_eq!(page.skipped, 0);
        text.extend(page.chunks.iter().map(|chunk| chunk.text.as_str()));
        pages += 1;
        if page.next == page.end {
            break;
        }
        at = page.next.0;
    }
    assert!(pages >= 200, "{pages} pages");
    let expected = (0..MIB / 64).map(|line| format!("{:.<63}\n", format!("line {line}")));
    assert!(text == expected.collect::<String>(), "all lines in order");
}

#[test]
fn newest_output_is_found_from_the_end() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("burst").args(["1"]).start();
    program.expect_exit(0);
    let page = program.page(OutputQuery {
        tail: true,
        ..query(0, 64)
    });
    let text: String = page.chunks.into_iter().map(|chunk| chunk.text).collect();
    assert_eq!(text, format!("{:.<63}\n", "line 16383"));
    assert_eq!(page.skipped, MIB - 64);
}

#[test]
fn burst_of_100_mb_neither_blocks_the_program_nor_grows_the_host() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("burst").args(["100", "both"]).start();
    let host = program.host_pid();
    // Nobody reads meanwhile: the program must not wait for a reader.
    program.expect_exit(0);
    let most = procfs::memory_kib(host, "VmHWM");
    assert!(most < 64 << 10, "the host took {most} KiB");
    let status = program.status();
    assert_eq!(status.output_end, OutputCursor(200 * MIB));
    // What had to go is counted, and the newest is there.
    let page = program.page(query(0, 1));
    assert!(page.skipped >= 200 * MIB - RING, "{}", page.skipped);
    assert!(page.skipped <= 200 * MIB - RING + MIB, "{}", page.skipped);
    let last = format!("{:.<63}\n", "line 1638399");
    assert!(program.text(Stream::Stdout).ends_with(&last));
    assert!(program.text(Stream::Stderr).ends_with(&last));
    let read: usize = program.output().iter().map(|chunk| chunk.text.len()).sum();
    assert_eq!(program.lost().0 + read as u64, 200 * MIB);
}

#[test]
fn reader_of_a_burst_gets_every_byte_or_its_number() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("burst").args(["30"]).start();
    // Reading and writing at the same time.
    while program.status().state != State::Exited {
        program.output();
    }
    let read: usize = program.output().iter().map(|chunk| chunk.text.len()).sum();
    assert_eq!(program.lost().0 + read as u64, 30 * MIB);
}

#[test]
fn output_that_is_not_utf_8_is_marked_and_counted() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("burst").args(["1", "binary"]).start();
    program.expect_exit(0);
    let text = program.text(Stream::Stdout);
    assert!(text.contains('\u{fffd}'));
    let (skipped, invalid) = program.lost();
    assert_eq!(skipped, 0);
    assert!(invalid > 0 && invalid < MIB, "{invalid}");
    assert_eq!(program.status().output_end, OutputCursor(MIB));
}

#[test]
fn output_of_the_last_moment_is_there_when_the_end_is_told() {
    let sandbox = Sandbox::new();
    for _ in 0..5 {
        let program = sandbox.launch("burst").args(["1"]).start();
        program.expect_exit(0);
        assert_eq!(program.status().output_end, OutputCursor(MIB));
    }
}

#[test]
fn child_that_keeps_the_output_open_does_not_delay_the_end() {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch("children")
        .args(["--leave", "/bin/sleep", "1000"])
        .start();
    program.expect_exit(0);
    let text = program.text(Stream::Stdout);
    let child = text.trim().strip_prefix("child ").expect("its pid");
    let child = child.parse().expect("a number");
    assert!(procfs::is_alive(child));
    procfs::signal(child, rustix::process::Signal::KILL);
}

#[test]
fn cursors_that_make_no_sense_are_harmless() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("hello").start();
    program.expect_exit(0);
    let page = program.page(query(u64::MAX, u32::MAX));
    assert!(page.chunks.is_empty());
    assert_eq!(page.next, page.end);
    assert_eq!(program.page(query(0, 0)).chunks.len(), 1);
}

#[test]
fn output_from_before_a_stop_is_there_when_the_stop_is_told() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("breaks").start();
    for round in 0..3 {
        program.wait_stop();
        let expected: String = (1..=round).map(|it| format!("round {it}\n")).collect();
        assert_eq!(program.text(Stream::Stdout), expected);
        assert_eq!(program.status().output_end.0, expected.len() as u64);
        program.cont();
    }
    program.expect_exit(0);
}
