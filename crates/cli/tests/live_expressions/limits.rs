//! Whatever is asked of the debugger itself ends: chains of every kind that are too long for a stack, numbers that are too large
//! for a loop, and sequences that nobody waits for any more.

use std::time::{Duration, Instant};

use engine::api::{Evaluate, Reply, Request};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use crate::language::stopped_in;
use crate::sequences::{evaluate, told};

fn stopped(sandbox: &Sandbox) -> Debuggee<'_> {
    let program = stopped_in(sandbox, "expressions_corners", "main");
    evaluate(&program, vec!["list.Sum()".into()]);
    program
}

/// What stands before a chain, one link of it, and what stands behind.
const CHAINS: &[[&str; 3]] = &[
    ["from x in list ", "where x > 0 ", "select x"],
    ["from x in list ", "from y# in list ", "select x"],
    ["from x in list ", "let y# = x ", "select x"],
    ["from x in list ", "let y# = x where y# > 0 ", "select x"],
    ["from x in list ", "orderby x descending, x ", "select x"],
    [
        "from x in list ",
        "join y# in list on x equals y# ",
        "select x",
    ],
    [
        "from x in list ",
        "join y# in list on x equals y# into z# ",
        "select x",
    ],
    ["from x in list select x ", "into x select x ", ""],
    [
        "from x in list group x by x ",
        "into x select x.Key into x group x by x ",
        "",
    ],
    ["", "from x in list select ", "1"],
    ["list", ".Where(x => x > 0)", ".Count()"],
    ["list", ".Select(x => x).ToList()", ""],
    ["order", "?.Parent", ""],
    ["order", "!.Parent", ""],
    ["1", " + 1", ""],
    ["text", " + text", ""],
    ["five", " ?? five", ""],
    ["", "negative > 0 ? 1 : ", "2"],
    ["", "list.Select(x => ", "1"],
    ["", "(System.Func<int, int>)(x => ", "x"],
    ["negative is 1", " or 2", ""],
    ["", "negative is var v# && ", "true"],
    ["negative is not 1", " and not 2", ""],
    ["negative", " switch { var v => v }", ""],
    ["", "(int)", "negative"],
    ["", "- ", "negative"],
    ["", "!", "true"],
    ["", "(", "1"],
    ["", "(1, ", "2"],
    ["", "new[] { ", "1"],
    ["", "new { A = ", "1"],
    ["", "$\"{", "1"],
    ["typeof(", "List<", "int"],
    ["new ", "List<", "int"],
    ["order is ", "{ Parent: ", "null"],
    ["true", " && true || false", ""],
];

/// What closes all that a text has opened, the last first.
fn closed(text: &str) -> String {
    let mut open = Vec::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '$' if letters.next_if_eq(&'"').is_some() => open.push('"'),
            '(' => open.push(')'),
            '{' => open.push('}'),
            // Of `List<`, not of a comparison.
            '<' if letters.peek() != Some(&' ') => open.push('>'),
            ')' | '}' => drop(open.pop()),
            '>' if open.last() == Some(&'>') => drop(open.pop()),
            _ => {}
        }
    }
    let mut all = text.to_owned();
    let wants_new = text.starts_with("new List");
    all.extend(open.iter().rev());
    if wants_new {
        all.push_str("()");
    }
    all
}

#[test]
fn a_chain_of_any_kind_and_length_has_an_answer() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox);
    for [before, link, behind] in CHAINS {
        for count in [3, 60, 190, 390, 5_000] {
            // A `#` stands for the number of the link: variables of a query have names of their own.
            let links: String = (0..count)
                .map(|it| link.replace('#', &it.to_string()))
                .collect();
            let text = closed(&format!("{before}{links}{behind}"));
            let asked = Evaluate {
                time_limit_ms: 300,
                ..Evaluate::read(&text)
            };
            let answer = match program.request(Request::Evaluate(asked)) {
                Ok(Reply::Evaluated(all)) => told(&all[0]),
                other => panic!("{other:?} to {before}{link} {count} times"),
            };
            if count == 5_000 {
                assert!(
                    answer.contains("too deep") || answer.contains("nest"),
                    "{link}: {answer}"
                );
            }
            if count == 3 {
                assert!(!answer.contains("CS1"), "{text}: {answer}");
            }
        }
    }
    program.cont();
    program.expect_exit(0);
}

#[test]
fn numbers_that_are_asked_for_make_no_endless_loops() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox);
    let no_day = "throws\tSystem.ArgumentOutOfRangeException\tYear, Month, and Day parameters describe an un-representable DateTime.";
    for text in [
        "new DateTime(2024, int.MaxValue, 1)",
        "new DateTime(int.MaxValue, int.MaxValue, int.MaxValue)",
        "new DateTime(2024, int.MaxValue, 1, 1, 1, 1)",
        "new DateTime(2024, 0, 1)",
        "new DateTime(2023, 2, 29)",
        "new DateOnly(2024, int.MaxValue, 1)",
        "new DateOnly(2024, int.MinValue, 1)",
    ] {
        for side_effects in [false, true] {
            let asked = Evaluate {
                side_effects,
                ..Evaluate::read(text)
            };
            match program.request(Request::Evaluate(asked)) {
                Ok(Reply::Evaluated(all)) => assert_eq!(told(&all[0]), no_day, "{text}"),
                other => panic!("{other:?} to {text}"),
            }
        }
    }
    // These have an answer of one kind or another, and the next one follows.
    for text in [
        "when.AddMonths(int.MaxValue)",
        "when.AddYears(int.MinValue)",
        "when.AddDays(1e300)",
        "when.AddTicks(long.MinValue)",
        "TimeSpan.FromDays(int.MaxValue)",
        "new TimeSpan(int.MaxValue, int.MaxValue, int.MaxValue)",
        "DateTime.DaysInMonth(int.MaxValue, int.MaxValue)",
        "new string('x', int.MaxValue)",
        "\"x\".PadLeft(int.MaxValue)",
        "$\"{1,1000000000}\"",
        "string.Format(\"{0,1000000000}\", 1)",
        "new int[int.MaxValue].Length",
        "new int[100000, 100000].Length",
        "Enumerable.Range(0, int.MaxValue).Sum(x => 1L)",
        "Enumerable.Repeat(\"x\", int.MaxValue).Last()",
        "Enumerable.Range(0, 10).Chunk(int.MaxValue).Count()",
        "Enumerable.Range(0, 10).TakeLast(int.MaxValue).Count()",
        "Enumerable.Range(0, 10).Skip(int.MaxValue).Count()",
        "Math.Pow(1e300, 1e300)",
        "Math.Round(1.5, int.MaxValue)",
        "1.5.ToString(\"F999999999\")",
        "1 << int.MaxValue",
    ] {
        match program.request(Request::Evaluate(Evaluate::read(text))) {
            Ok(Reply::Evaluated(all)) => assert_eq!(all.len(), 1, "{text}"),
            other => panic!("{other:?} to {text}"),
        }
    }
    program.cont();
    program.expect_exit(0);
}

#[test]
fn what_the_debugger_computes_is_cancelled() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox);
    let long = "Enumerable.Range(0, 1900000).Select(x => x.ToString().Length).Sum()";
    for side_effects in [false, true] {
        let asked = Evaluate {
            expressions: vec![long.into(), "order.Id = 18".into()],
            side_effects,
            time_limit_ms: 600_000,
            ..Evaluate::read("")
        };
        let sent = program
            .session()
            .send(Request::Evaluate(asked), &[])
            .expect("sent");
        program
            .request(Request::CancelEvaluation)
            .expect("cancelled");
        let Ok(Reply::Evaluated(all)) = sent.wait(Instant::now() + Duration::from_secs(60)) else {
            panic!("no answer");
        };
        let told: Vec<String> = all.iter().map(told).collect();
        assert!(told.iter().all(|it| it.contains("cancelled")), "{told:?}");
    }
    // The next one is not.
    let again = evaluate(&program, vec!["order.Id".into()]);
    assert_eq!(told(&again[0]), "ok\tint\t17");
    // Whoever wants to leave is not held up either.
    let asked = Evaluate {
        time_limit_ms: 600_000,
        ..Evaluate::read(long)
    };
    let sent = program
        .session()
        .send(Request::Evaluate(asked), &[])
        .expect("sent");
    program.disconnect(Some(true), false);
    let answer = sent.wait(Instant::now() + Duration::from_secs(60));
    if let Ok(Reply::Evaluated(all)) = answer {
        assert!(told(&all[0]).contains("the session ends"), "{all:?}");
    }
}

#[test]
fn a_query_has_each_variable_once() {
    let twice = [
        ("from x in list from x in list select x", "CS1930"),
        ("from x in list let x = 1 select x", "CS1930"),
        (
            "from x in list join x in list on 1 equals 1 select x",
            "CS1930",
        ),
        ("(from x in list select x into x select x).Count()", "4"),
    ];
    crate::corners::compare_with_rows("expressions_corners", "main", &twice);
}

/// The time of several expressions is for all of them: what most do not need is left to the one that does.
#[test]
fn time_that_is_not_used_goes_to_the_rest() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox);
    let mut expressions = vec!["1".to_owned(); 1000];
    expressions.push("Enumerable.Range(0, 40000).Count(x => x % 3 == 0)".into());
    let asked = Evaluate {
        expressions,
        // An even share of it would be 10 milliseconds.
        time_limit_ms: 10_000,
        shared_time: true,
        ..Evaluate::read("")
    };
    let Ok(Reply::Evaluated(all)) = program.request(Request::Evaluate(asked)) else {
        panic!("no answer");
    };
    assert_eq!(told(all.last().expect("answers")), "ok\tint\t13334");
    program.cont();
    program.expect_exit(0);
}
