//! Fuzz for the binder: texts that were C# once, changed at random, are evaluated in a real program by reading only.
//!
//! Whatever is asked, the host lives on, answers within its limits and in bounded memory, and the answer is a value or an
//! error whose place lies inside the text. Types only exist in a live program, so this is a live test: a bounded one with
//! a fixed seed on every run; `cargo xtask fuzz binder` sets `NDBG_FUZZ_SECONDS` and goes on with other seeds for as long.

use std::time::{Duration, Instant};

use engine::api::{Details, Evaluate, Evaluated, Reply, Request};
use testkit::debuggee::Debuggee;
use testkit::procfs;
use testkit::sandbox::Sandbox;

use crate::compiler::{decode, start};

/// Texts of the run that every test run makes.
const TEXTS: usize = 1_500;

/// Characters of a changed text at most, so that growing ones end.
const LONGEST: usize = 2_000;

/// What one text may take, in milliseconds.
const TIME_LIMIT_MS: u32 = 300;

/// The most that the host may ever have in memory, as for the other fuzz targets.
const MEMORY_KIB: u64 = 2 << 20;

/// What of the host's memory the bounded run may use.
const BOUNDED_MEMORY_KIB: u64 = 300 << 10;

/// What is put into texts, besides parts of other texts: what the binder has rules for.
const PIECES: &[&str] = &[
    "null",
    "default",
    "this",
    "base",
    "_",
    "var",
    "new",
    "new()",
    "new[]",
    "typeof",
    "nameof",
    "sizeof",
    "checked",
    "unchecked",
    "is",
    "as",
    "is not",
    "switch",
    "with",
    "when",
    "and",
    "or",
    "not",
    "await",
    "throw",
    "ref",
    "out",
    "out var q",
    "in",
    "=>",
    "x =>",
    "(x, y) =>",
    "static",
    "delegate",
    "from",
    "where",
    "select",
    "orderby",
    "group",
    "by",
    "join",
    "into",
    "let",
    "equals",
    "on",
    "..",
    "^",
    "?.",
    "?[",
    "!",
    "??",
    "??=",
    "=",
    "+=",
    ">>>",
    ">>>=",
    "<<",
    "++",
    "--",
    "->",
    "::",
    "global::",
    "$\"{",
    "}\"",
    "$\"",
    "@\"",
    "\"\"\"",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "<",
    ">",
    ",",
    ":",
    ";",
    ".",
    "?",
    "&&",
    "||",
    "~",
    "-",
    "+",
    "*",
    "/",
    "%",
    "|",
    "&",
    "0",
    "1",
    "-1",
    "0x",
    "1e999",
    "1.5m",
    "18446744073709551615",
    "170141183460469231731687303715884105728",
    "'\\u0000'",
    "\"\\ud800\"",
    "true",
    "dynamic",
    "int",
    "string",
    "object",
    "int?",
    "int[]",
    "int[,]",
    "void",
    "void*",
    "nint",
    "decimal",
    "List<",
    "List<>",
    "Dictionary<,>",
    "System",
    "System.",
    "System.Linq.Enumerable",
    "System.Func<int>",
    "Nullable<",
    "Math",
    "T",
    ".Select(x => x)",
    ".Where(x =>",
    ".Aggregate((a, b) => a)",
    ".ToList()",
    ".GetType()",
    ".ToString()",
    ".Length",
    ".Count",
    ".Value",
    ".HasValue",
    ".Item1",
    "[0]",
    "[^1]",
    "[1..]",
    "[..]",
    "[-1]",
    "()",
    "(1, 2)",
    "{ }",
    "is { }",
    "is [..]",
    "is (_, _)",
    "switch { _ => 1 }",
    "with { }",
    "new { }",
    "new int[2]",
    "new List<int> { 1 }",
    "stackalloc int[1]",
    "$exception",
    "$returnvalue",
    "$1",
    "$",
    "$pid",
    ",h",
    ",raw",
    ",[10]",
    "é",
    "😀",
    "\u{0}",
    "\n",
    "//",
    "/*",
];

/// A source of numbers that is the same everywhere (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is not 0.
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).expect("smaller than a usize")
    }

    fn of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }
}

/// Cuts a text where words, numbers, blanks and signs meet; put together again it is the same.
fn tokens(text: &str) -> Vec<&str> {
    let kind = |it: char| match it {
        it if it.is_alphanumeric() || it == '_' || it == '$' => 1,
        it if it.is_whitespace() => 2,
        '(' | ')' | '[' | ']' | '{' | '}' | '"' | '\'' | ',' | ';' => 0,
        _ => 3,
    };
    let mut parts = Vec::new();
    let mut from = 0;
    let mut last = 0;
    for (at, character) in text.char_indices() {
        let now = kind(character);
        if at > from && (now == 0 || now != last) {
            parts.push(&text[from..at]);
            from = at;
        }
        last = now;
    }
    parts.push(&text[from..]);
    parts
}

/// Changes a text in one to three ways, with the parts of `other` as material.
fn mutated(numbers: &mut Numbers, text: &str, other: &str, names: &[&str]) -> String {
    let mut parts: Vec<String> = tokens(text).into_iter().map(str::to_owned).collect();
    for _ in 0..=numbers.below(3) {
        let at = numbers.below(parts.len());
        match numbers.below(11) {
            0 => {
                let with = numbers.below(parts.len());
                parts.swap(at, with);
            }
            1 => {
                parts.remove(at);
            }
            2 => parts.insert(at, parts[at].clone()),
            3 => {
                let till = at + 1 + numbers.below(parts.len() - at);
                let again = parts[at..till].concat();
                parts.insert(till, again);
            }
            4 => parts[at] = numbers.of(names).to_owned(),
            5 => parts[at] = numbers.of(PIECES).to_owned(),
            6 => parts.insert(at, numbers.of(PIECES).to_owned()),
            7 => parts[at] = numbers.of(&tokens(other)).to_owned(),
            8 => parts[at] = format!("({other})"),
            9 => {
                let whole = parts.concat();
                let (before, after) = numbers.of(&[
                    &("(", ")"),
                    &("new[] { ", " }"),
                    &("(object)(", ")"),
                    &("$\"{", "}\""),
                    &("new List<object> { ", " }"),
                    &("((System.Func<int, object>)(x => ", "))(1)"),
                    &("list.Select(x => ", ").ToList()"),
                    &("(", ", 1)"),
                    &("-", ""),
                    &("", " switch { var v => v }"),
                    &("", " is var v && v != null"),
                    &("from x in list select ", ""),
                    &("new { A = ", " }"),
                    &("checked(", ")"),
                ]);
                let times = 1 + numbers.below(6);
                parts = vec![before.repeat(times), whole, after.repeat(times)];
            }
            _ => parts.truncate(at + 1),
        }
        if parts.is_empty() {
            parts.push(numbers.of(names).to_owned());
        }
    }
    parts.concat().chars().take(LONGEST).collect()
}

/// What is wrong with an answer, if anything is.
fn wrong(text: &str, answer: &Evaluated) -> Option<String> {
    if answer.expression != text {
        return Some(format!("answers {}", answer.expression));
    }
    let Err(error) = &answer.outcome else {
        return None;
    };
    let message = &error.error.message;
    let length = text.chars().count();
    match error.error.details.as_deref() {
        Some(&Details::Position { start, end }) if start <= end && end as usize <= length => None,
        place => Some(format!("{place:?} of {length} characters: {message}")),
    }
}

/// Asks for one; how long it took. A host that dies or hangs ends the test with the text that did it.
fn ask(program: &Debuggee<'_>, text: &str, values: &mut usize, bad: &mut Vec<String>) -> Duration {
    let begun = Instant::now();
    let asked = Evaluate {
        frame: 1,
        time_limit_ms: TIME_LIMIT_MS,
        ..Evaluate::read(text)
    };
    match program.request(Request::Evaluate(asked)) {
        Ok(Reply::Evaluated(all)) => match all.as_slice() {
            [answer] => {
                *values += usize::from(answer.outcome.is_ok());
                bad.extend(wrong(text, answer).map(|it| format!("{text:?}: {it}")));
            }
            other => panic!("{} answers to {text:?}", other.len()),
        },
        other => panic!("{other:?} to {text:?}"),
    }
    begun.elapsed()
}

#[test]
fn whatever_is_asked_has_an_answer() {
    let seconds: Option<u64> = std::env::var("NDBG_FUZZ_SECONDS")
        .ok()
        .map(|it| it.parse().expect("a number of seconds"));
    let rows = include_str!("accepted.tsv")
        .lines()
        .chain(include_str!("rejected.tsv").lines());
    let seeds: Vec<String> = rows
        .filter_map(|row| Some(decode(row.split_once('\t')?.1)))
        .collect();
    let mut names: Vec<&str> = seeds
        .iter()
        .flat_map(|it| tokens(it))
        .filter(|it| it.starts_with(char::is_alphabetic))
        .collect();
    names.sort_unstable();
    names.dedup();

    let sandbox = Sandbox::new();
    let program = start(&sandbox);
    let seed = if seconds.is_some() {
        u64::from(program.pid()) ^ u64::from(std::process::id()) << 32
    } else {
        7
    };
    let mut numbers = Numbers(seed);
    let begun = Instant::now();
    let (mut count, mut values, mut slowest) = (0, 0, Duration::ZERO);
    let mut bad = Vec::new();
    while seconds.map_or(count < TEXTS, |it| {
        begun.elapsed() < Duration::from_secs(it)
    }) {
        let text = &seeds[numbers.below(seeds.len())];
        let other = &seeds[numbers.below(seeds.len())];
        let text = mutated(&mut numbers, text, other, &names);
        let took = ask(&program, &text, &mut values, &mut bad);
        if took > slowest {
            eprintln!("{} ms: {text:?}", took.as_millis());
            slowest = took;
        }
        count += 1;
    }
    let memory = procfs::memory_kib(program.host_pid(), "VmHWM");
    eprintln!("{values} of {count} have a value");
    // As libFuzzer tells of its runs, for `cargo xtask fuzz`.
    eprintln!("stat::number_of_executed_units: {count}");
    eprintln!("stat::slowest_unit_time_sec: {}", slowest.as_secs());
    eprintln!("stat::peak_rss_mb: {}", memory >> 10);
    assert!(
        bad.is_empty(),
        "seed {seed}, {} of {count}:\n{}",
        bad.len(),
        bad.join("\n")
    );
    let most = if seconds.is_some() {
        MEMORY_KIB
    } else {
        BOUNDED_MEMORY_KIB
    };
    assert!(memory < most, "the host had {memory} KiB");
    // Texts that no longer parse would test nothing.
    assert!(values > count / 20, "only {values} of {count} have a value");
    // The program is as it was, and goes on to its end.
    for _ in 0..100 {
        if program.settle().stop.is_none() {
            break;
        }
        program.cont();
    }
    program.expect_exit(0);
}
