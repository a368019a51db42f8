//! A reader that goes away ends the command as it ends other tools: by SIGPIPE, without a word.

use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::process::{Output, Stdio};

use crate::ndbg;

const SIGPIPE: i32 = 13;

/// Runs a command whose standard output has no reader.
fn without_reader(arguments: &[&str]) -> Output {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    ndbg(arguments)
        .stdout(writer)
        .stderr(Stdio::piped())
        .output()
        .expect("ndbg starts")
}

#[test]
fn broken_pipes_are_quiet() {
    for arguments in [
        &["ps"][..],
        &["ps", "--json"],
        &["doctor"],
        &["doctor", "--json"],
        &["completions", "bash"],
    ] {
        let output = without_reader(arguments);
        assert_eq!(
            output.status.signal(),
            Some(SIGPIPE),
            "{arguments:?}: {output:?}"
        );
        assert_eq!(output.stderr, b"", "{arguments:?}: {output:?}");
    }
}

#[test]
fn help_without_a_reader_is_quiet() {
    for arguments in [&["--help"][..], &["--version"]] {
        let output = without_reader(arguments);
        assert_eq!(output.stderr, b"", "{arguments:?}: {output:?}");
    }
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    for arguments in [&["doctor"][..], &["--version"], &["run", "--help"]] {
        let full = File::options()
            .write(true)
            .open("/dev/full")
            .expect("/dev/full is there");
        let output = ndbg(arguments)
            .stdout(full)
            .stderr(Stdio::piped())
            .output()
            .expect("ndbg starts");
        assert_eq!(output.status.code(), Some(125), "{arguments:?}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.starts_with("error: "), "{arguments:?}: {stderr}");
    }
}
