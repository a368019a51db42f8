//! Every fixture that ends by itself, walked from `Main` to its end by step over and by step into.
//!
//! Where each step ended is a reviewed text for each program, the same on all runtimes; `UPDATE_EXPECT=1` writes them
//! anew. One line is a run of steps in one method: `10-12` are three steps, `14 14:30` two statements of line 14, and
//! what stopped the program instead of the step stands in brackets.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use host::api::{Frame, State, Status, StepKind, StopReason};
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use super::left_out::LEFT_OUT;
use super::walk::{frame, step};

/// Steps of one walk; one that takes more is cut and says so.
const MOST_STEPS: usize = 400;

/// A fixture and the arguments it is walked with, each a walk of its own.
type Program = (&'static str, &'static [&'static str]);

const SMALL: &[Program] = &[
    ("async_main", &[""]),
    ("breaks", &[""]),
    ("burst", &["0"]),
    ("children", &["/bin/true"]),
    ("renames", &["1"]),
    ("hello", &["--env DOTNET_NOLOGO --stdin --exit 2 one"]),
    ("source_embedded", &[""]),
    ("step_starts", &[""]),
    ("uses_library", &[""]),
    ("values_not_kept", &[""]),
    ("waits", &["5"]),
];

const BREAKPOINTS: &[Program] = &[
    ("bp_documents", &[""]),
    ("bp_heads", &[""]),
    ("bp_interfaces", &[""]),
    ("bp_lines", &[""]),
    ("bp_names", &[""]),
    ("bp_runtime_async", &[""]),
    ("bp_statics", &["2"]),
    ("bp_switches", &[""]),
    ("bp_threads", &["1 2"]),
    ("bp_traces", &["2"]),
];

const ENDS: &[Program] = &[
    ("bp_plugins", &["bytes LIBRARY", "emit"]),
    ("exits", &["return 4", "exit 3", "throw"]),
    ("fail_fast_caught", &[""]),
    ("stack_memory", &[""]),
    ("throws", &[""]),
    ("demo_shop", &[""]),
    ("demo_stock", &[""]),
];

const EXCEPTIONS: &[Program] = &[
    ("filter_declines", &[""]),
    ("out_by_exceptions", &[""]),
    ("exceptions_told", &["message", "again"]),
    (
        "exception_kinds",
        &[
            "caught",
            "rethrow",
            "filter",
            "finally",
            "catch_throws",
            "static",
            "callback",
            "out_of_memory",
        ],
    ),
];

const METADATA: &[Program] = &[
    ("metadata_async", &[""]),
    ("metadata_documents", &[""]),
    ("metadata_embedded", &[""]),
    ("metadata_mapped", &[""]),
    ("metadata_scopes", &[""]),
    ("metadata_toplevel", &[""]),
];

const STACKS: &[Program] = &[
    ("async_stacks", &["task"]),
    ("module_kinds", &["memory"]),
    ("nested_functions", &[""]),
    (
        "stack_kinds",
        &[
            "generic",
            "local",
            "iterator",
            "dynamic",
            "hidden",
            "framework",
        ],
    ),
    ("stack_emitted", &[""]),
    ("stack_native", &["native", "dynamic", "both", "several"]),
    ("stack_release", &[""]),
    ("stack_runtime_async", &[""]),
];

const STEPS: &[Program] = &[
    ("conditions_calls", &["1 2"]),
    ("expressions_refused", &[""]),
    ("expressions_stops", &[""]),
    ("values_calls", &[""]),
    ("step_attributes", &[""]),
    ("step_handlers", &[""]),
    ("step_next", &[""]),
    ("step_runtime_async", &[""]),
    ("step_threads", &["1 2"]),
    ("step_awaiters", &[""]),
    ("step_disposed", &[""]),
    ("step_resumed", &[""]),
    ("step_suspended", &[""]),
    ("step_wait", &[""]),
    ("step_yields", &[""]),
];

const VALUES: &[Program] = &[
    ("values_basics", &[""]),
    ("values_code", &[""]),
    ("values_members", &[""]),
    ("expressions_statics", &[""]),
    ("values_collections", &[""]),
    ("secrets", &[""]),
    ("values_hostile", &[""]),
    ("values_returned", &[""]),
    ("values_scopes", &[""]),
    ("values_set", &[""]),
    ("values_stored", &[""]),
    ("values_views", &[""]),
    ("values_places", &[""]),
    ("values_wrapped", &[""]),
    ("values_said", &[""]),
    ("values_told", &[""]),
    ("values_early", &[""]),
    ("values_filtered", &[""]),
    ("expressions_language", &[""]),
];

/// Walked statement by statement in `walks`, with the text of each.
const IN_WORDS: [&str; 8] = [
    "step_async",
    "step_attributes_async",
    "step_blocks",
    "step_calls",
    "step_iterators",
    "step_leaves",
    "step_statements",
    "toplevel",
];

#[test]
fn small() {
    walks(SMALL);
}

#[test]
fn breakpoints() {
    walks(BREAKPOINTS);
}

#[test]
fn ends() {
    walks(ENDS);
}

#[test]
fn exceptions() {
    walks(EXCEPTIONS);
}

#[test]
fn metadata() {
    walks(METADATA);
}

#[test]
fn stacks() {
    walks(STACKS);
}

#[test]
fn steps() {
    walks(STEPS);
}

#[test]
fn values() {
    walks(VALUES);
}

#[test]
fn every_fixture_is_walked_or_it_is_said_why_not() {
    let walked = [
        SMALL,
        BREAKPOINTS,
        ENDS,
        EXCEPTIONS,
        METADATA,
        STACKS,
        STEPS,
        VALUES,
    ];
    let walked = walked.iter().flat_map(|group| group.iter());
    let known: BTreeSet<_> = walked
        .map(|(name, _)| *name)
        .chain(IN_WORDS)
        .chain(LEFT_OUT.iter().map(|(name, _)| *name))
        .collect();
    let entries = folder("../../fixtures").read_dir().expect("the fixtures");
    let names = entries.map(|entry| entry.expect("an entry").path());
    let there: BTreeSet<_> = names
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .filter(|name| !name.starts_with('_'))
        .collect();
    let there: BTreeSet<_> = there.iter().map(String::as_str).collect();
    assert_eq!(known, there, "a new fixture belongs into one of the lists");
}

fn folder(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(below)
}

/// Compares the walks of each program with its file.
#[track_caller]
fn walks(programs: &[Program]) {
    for (name, runs) in programs {
        let mut text = String::new();
        for args in *runs {
            for (title, kind) in [("over", StepKind::Over), ("into", StepKind::Into)] {
                let walk = walk(name, args, kind);
                let title = [title, args].join(" ");
                writeln!(text, "# {}\n{walk}", title.trim_end()).expect("written");
            }
        }
        let file = folder("tests/live/stepping/walks/programs").join(format!("{name}.txt"));
        expect_file![file].assert_eq(text.trim_end());
    }
}

/// Walks a program to its end.
#[track_caller]
fn walk(name: &str, args: &str, kind: StepKind) -> String {
    let sandbox = Sandbox::new();
    let library = || Fixture::named("bp_plugin").dll().display().to_string();
    let args: Vec<_> = args
        .split_whitespace()
        .map(|arg| match arg {
            "LIBRARY" => library(),
            arg => arg.to_owned(),
        })
        .collect();
    let program = sandbox
        .launch(name)
        .args(args.iter().map(String::as_str))
        .stop_at_entry()
        .start();
    program.close_stdin();
    program.wait_stop();
    let mut visited = Visited::default();
    for _ in 0..MOST_STEPS {
        visited.add(&frame(&program, None));
        step(&program, kind);
        let status = program.status();
        if status.state == State::Exited {
            return visited.end(&format!("exit {:?}", status.exit.expect("how it ended")));
        }
        visited.stopped(&status);
    }
    visited.end(&format!("cut after {MOST_STEPS} steps"))
}

/// Where steps ended, written shortly.
#[derive(Debug, Default)]
struct Visited {
    text: String,
    method: String,
    /// The lines that the last number stands for, first and last.
    run: Option<(u32, u32)>,
}

impl Visited {
    fn add(&mut self, frame: &Frame) {
        if frame.method != self.method {
            self.flush();
            if !self.text.is_empty() {
                self.text.push('\n');
            }
            write!(self.text, "{}:", frame.method).expect("written");
            self.method.clone_from(&frame.method);
        }
        let Some(source) = &frame.source else {
            self.flush();
            self.text.push_str(" ?");
            return;
        };
        let line = source.line.0;
        if !is_first_of_line(&source.path, line, source.column) {
            self.flush();
            let column = source.column.unwrap_or_default();
            write!(self.text, " {line}:{column}").expect("written");
            return;
        }
        match &mut self.run {
            Some((_, last)) if line == *last + 1 => *last = line,
            _ => {
                self.flush();
                self.run = Some((line, line));
            }
        }
    }

    /// Notes what stopped the program, unless it is a step.
    fn stopped(&mut self, status: &Status) {
        let stop = status.stop.as_ref().expect("a stop");
        if stop.reasons != [StopReason::Step] {
            self.flush();
            write!(self.text, " {:?}", stop.reasons).expect("written");
        }
    }

    fn flush(&mut self) {
        match self.run.take() {
            Some((first, last)) if first == last => write!(self.text, " {first}"),
            Some((first, last)) => write!(self.text, " {first}-{last}"),
            None => Ok(()),
        }
        .expect("written");
    }

    fn end(mut self, how: &str) -> String {
        self.flush();
        format!("{}\n{how}\n", self.text)
    }
}

/// Whether nothing but space is before a column of a line.
fn is_first_of_line(path: &Path, line: u32, column: Option<u32>) -> bool {
    let own = folder("../../fixtures").join(path.file_name().unwrap_or_default());
    let text = std::fs::read_to_string(path).or_else(|_| std::fs::read_to_string(own));
    let text = text.unwrap_or_default();
    let line = text.lines().nth(line as usize - 1).unwrap_or_default();
    let before = line.get(..column.unwrap_or(1) as usize - 1);
    before.is_none_or(|before| before.trim().is_empty())
}
