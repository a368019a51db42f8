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

/// Not walked, and why.
const LEFT_OUT: &[(&str, &str)] = &[
    ("async_ends", "fails or waits, and nothing else"),
    ("async_thrown", "fails, and nothing else"),
    (
        "step_braces",
        "not every compiler says where its lambdas end",
    ),
    ("names_told", "its finalizers run on a thread of their own"),
    ("step_forgotten", "its Main looks again and again"),
    ("threads_busy", "does not end"),
    ("bp_dissolved", "has no statement that others have not"),
    (
        "step_taken_failed",
        "it has two threads, of which either may come first",
    ),
    (
        "values_large",
        "its collections are too large to be gone through",
    ),
    ("values_old", "what values_collections has, which is walked"),
    ("values_endless", "its loops have a hundred thousand rounds"),
    (
        "expressions_large",
        "computes one expression after the other: live_expressions compares them",
    ),
    (
        "values_kept",
        "is optimised: what its code still has differs between runtimes",
    ),
    (
        "values_floats_release",
        "is optimised: what its code still has differs between runtimes",
    ),
    (
        "values_damaged",
        "has references that lead to no objects, and large ones made for a collection",
    ),
    (
        "async_stacks_release",
        "its Main ends while a thread of the pool is stepped",
    ),
    ("bench_dap", "never ends"),
    ("bench_modules", "never ends"),
    ("bench_start", "never ends"),
    ("bench_stops", "never ends"),
    ("bench_values", "never ends"),
    (
        "bp_called_threads",
        "its threads run at the same time: breakpoints_threads steps them",
    ),
    (
        "bp_many_modules",
        "loads modules by their names; breakpoints_modules runs it",
    ),
    (
        "bp_dying_threads",
        "its threads come and go: how often is not the same twice",
    ),
    ("bp_plugin", "has no Main: bp_plugins runs it"),
    (
        "bp_release",
        "is optimised: what its code still has differs between runtimes",
    ),
    (
        "step_callbacks",
        "polls: how often is not the same twice; stepping::taken steps it",
    ),
    (
        "step_items",
        "polls: how often is not the same twice; stepping::items steps it",
    ),
    (
        "step_gone",
        "its threads end while they are stepped; stepping::control steps it",
    ),
    (
        "extension_members",
        "C# 14, which not every compiler knows: csharp14 steps it",
    ),
    (
        "values_accessors",
        "C# 14, which not every compiler knows: csharp14 sets its properties",
    ),
    ("demo_hang", "hangs on purpose"),
    ("lock_hang", "hangs on purpose"),
    ("waits_framework", "waits for ever"),
    (
        "step_ends",
        "its threads are stepped to their ends by live_mcp",
    ),
    (
        "desk",
        "editors look at it, and a task's thread runs its end",
    ),
    (
        "exceptions_origin",
        "throws in one method after the other: live_mcp::exceptions reads where",
    ),
    (
        "eval_names",
        "has no statement that others have not; live_expressions stops in it",
    ),
    (
        "expressions_early",
        "has no statement that others have not; live_expressions stops in it",
    ),
    (
        "expressions_scope",
        "has no statement that others have not; live_expressions stops in it",
    ),
    (
        "expressions_around",
        "has no statement that others have not; live_expressions stops in it",
    ),
    (
        "expressions_asked",
        "has no statement that others have not; live_expressions stops in it",
    ),
    (
        "expressions_again",
        "has no statement that others have not; live_expressions stops in it",
    ),
    (
        "expressions_completed",
        "has no statement that others have not; live_expressions stops in it",
    ),
    (
        "expressions_conditions",
        "has no statement that others have not; live_expressions stops in it",
    ),
    (
        "expressions_contained",
        "has no statement that others have not; live_expressions stops in it",
    ),
    (
        "expressions_cultures",
        "has no statement that others have not; live_expressions stops in it",
    ),
    (
        "expressions_fresh",
        "has no statement that others have not; live_expressions stops in it",
    ),
    (
        "expressions_functions",
        "has no statement that others have not; live_expressions stops in it",
    ),
    (
        "expressions_letters",
        "has no statement that others have not; live_expressions stops in it",
    ),
    (
        "expressions_named",
        "has no statement that others have not; live_expressions stops in it",
    ),
    (
        "values_fixed",
        "has no statement that others have not; live_values looks at its values",
    ),
    (
        "values_into",
        "has no statement that others have not; live_values looks at its values",
    ),
    (
        "values_numbers",
        "has no statement that others have not; live_values looks at its values",
    ),
    (
        "values_open",
        "has no statement that others have not; live_values looks at its values",
    ),
    (
        "values_parts",
        "has no statement that others have not; live_values looks at its values",
    ),
    (
        "values_slots",
        "has no statement that others have not; live_values looks at its values",
    ),
    (
        "values_own",
        "has no statement that others have not; live_values looks at its values",
    ),
    (
        "values_shown",
        "has no statement that others have not; live_values looks at its values",
    ),
    (
        "values_slow",
        "has no statement that others have not; live_values looks at its values",
    ),
    (
        "expressions_culture",
        "has no statement that others have not; live_expressions stops in it",
    ),
    (
        "expressions_codeless",
        "declares methods without code: live_expressions is refused them",
    ),
    (
        "calls_while_begun",
        "its threads wait for each other; live_expressions runs code in it",
    ),
    (
        "calls_while_compiling",
        "has no statement that others have not; live_mcp stops in it",
    ),
    (
        "exceptions_awaited_which",
        "exceptions_awaited reads what becomes of what it throws",
    ),
    (
        "exceptions_framework",
        "exceptions_awaited reads what becomes of what it throws",
    ),
    (
        "exceptions_native",
        "has no statement that others have not; exceptions_told reads what it throws",
    ),
    ("exceptions_heard", "waits for others to end it"),
    (
        "exceptions_awaited",
        "its threads wait for each other; exceptions_awaited reads what it throws",
    ),
    (
        "exceptions_helpers",
        "has no statement that others have not; exceptions_told reads what it throws",
    ),
    (
        "exceptions_any",
        "polls, and its threads come and go: how often is not the same twice",
    ),
    ("left_alone", "never ends"),
    ("library", "has no Main: uses_library runs it"),
    ("loops", "never ends"),
    ("metadata_members", "has no Main"),
    (
        "step_late",
        "polls: how often is not the same twice; stepping::awaits steps it",
    ),
    (
        "step_targets",
        "its statements are gone back to; stepping::targets steps it",
    ),
    (
        "step_work",
        "its loops are shared by threads, not the same way twice; stepping::combined steps it",
    ),
    (
        "step_combined",
        "spins: how often is not the same twice; stepping::combined steps it",
    ),
    (
        "step_fails",
        "does the same twenty times; stepping::resumed steps it",
    ),
    (
        "step_builder",
        "what its builder does races; stepping::own_awaiters steps it",
    ),
    (
        "step_builder_bare",
        "what its builder does races; stepping::own_awaiters steps it",
    ),
    (
        "step_chosen",
        "polls: how often is not the same twice; stepping::taken steps it",
    ),
    (
        "step_unwrapped",
        "polls: how often is not the same twice; stepping::awaits steps it",
    ),
    (
        "step_taken",
        "spins: how often is not the same twice; stepping::taken steps it",
    ),
    ("metadata_types", "has no Main"),
    (
        "metadata_bench",
        "a tool of the tests, not a program to debug",
    ),
    (
        "metadata_oracle",
        "a tool of the tests, not a program to debug",
    ),
    (
        "expressions_calls",
        "computes one expression after the other: live_expressions compares them",
    ),
    (
        "expressions_changes",
        "writes into a file that its test names",
    ),
    (
        "expressions_code",
        "spins until another thread has made a collection",
    ),
    (
        "expressions_compiler",
        "made by a tool: one method of thousands of lines",
    ),
    (
        "expressions_corners",
        "computes one expression after the other: live_expressions compares them",
    ),
    (
        "expressions_dynamic",
        "computes one expression after the other: live_expressions compares them",
    ),
    (
        "expressions_bound",
        "computes one expression after the other: live_expressions compares them",
    ),
    (
        "expressions_throws",
        "computes one expression after the other: live_expressions compares them",
    ),
    (
        "expressions_forms",
        "computes one expression after the other: live_expressions compares them",
    ),
    (
        "expressions_late",
        "its conditions are what it is for: live_expressions sets them",
    ),
    (
        "expressions_missing",
        "has no statement that others have not; live_expressions calls its methods",
    ),
    (
        "expressions_generic",
        "has no statement that others have not; live_expressions looks at its variables",
    ),
    (
        "expressions_unlinked",
        "its conditions are what it is for: live_expressions sets them",
    ),
    (
        "expressions_places",
        "computes one expression after the other: live_expressions compares them",
    ),
    (
        "expressions_referring",
        "stops where expressions are evaluated: live_expressions asks them",
    ),
    (
        "expressions_pure",
        "computes one expression after the other: live_expressions compares them",
    ),
    (
        "expressions_taken",
        "computes one expression after the other: live_expressions compares them",
    ),
    (
        "expressions_sequences",
        "computes one expression after the other: live_expressions compares them",
    ),
    ("spin_optimized", "never ends"),
    ("terminal", "waits for input: live_repl steps it"),
    (
        "web",
        "its server ends when its connections do, which is not always soon",
    ),
    (
        "step_crowd",
        "a hundred invocations in any order: stepping::awaits follows one",
    ),
    (
        "step_crowd_optimized",
        "a hundred invocations in any order: stepping::awaits follows one",
    ),
    (
        "values_kinds",
        "has no statement that others have not; live_values looks at its variables",
    ),
    (
        "values_pointers",
        "has no statement that others have not; live_values looks at its variables",
    ),
    (
        "values_moved",
        "has no statement that others have not; live_values looks at its variables",
    ),
    (
        "values_behind",
        "has no statement that others have not; live_mcp looks at its variables",
    ),
    (
        "values_lies",
        "its collections are damaged; live_values looks at them",
    ),
    (
        "values_reached",
        "has no statement that others have not; live_values sets its variables",
    ),
    (
        "declared",
        "has no statement that others have not; live_mcp asks for its types",
    ),
    (
        "calls_others",
        "its threads wait for each other; live_expressions evaluates in it",
    ),
    (
        "values_emitted",
        "has no statement that others have not; live_values looks at its variables",
    ),
    (
        "values_lost",
        "has no statement that others have not; live_values looks at its variables",
    ),
    (
        "values_shared",
        "has no statement that others have not; live_values looks at its variables",
    ),
    (
        "values_unused",
        "has no statement that others have not; live_values looks at its variables",
    ),
    (
        "values_meant",
        "has no statement that others have not; live_values looks at its variables",
    ),
    (
        "values_odd",
        "has no statement that others have not; live_values looks at its variables",
    ),
    (
        "values_yields",
        "has no statement that others have not; live_values looks at its variables",
    ),
    (
        "values_one_field",
        "has no statement that others have not; live_values looks at its variables",
    ),
    (
        "values_unkept",
        "is optimised: what its code still has differs between runtimes",
    ),
    (
        "values_replaced",
        "is optimised: what its code still has differs between runtimes",
    ),
    (
        "values_optimised",
        "is optimised: what its code still has differs between runtimes",
    ),
    (
        "values_floats",
        "is optimised: what its code still has differs between runtimes",
    ),
    (
        "optimized_awaits",
        "is optimised: what its code still has differs between runtimes",
    ),
    (
        "optimized_callbacks",
        "is optimised: what its code still has differs between runtimes",
    ),
    (
        "optimized_calls",
        "is optimised: what its code still has differs between runtimes",
    ),
    (
        "out_of_filters",
        "is about steps out: returning.rs makes them",
    ),
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
