//! The ledger of promises, `docs/promises.md`: tables with the columns
//! `| promise | tests | runtimes | state |`.
//!
//! The tests cell holds backticked names of tests, or the words `not yet` or `cannot, because …`;
//! the state is `holds`, `partly`, `not yet` or `cannot`. A row that holds names a test.

use std::collections::BTreeSet;

const COLUMNS: [&str; 4] = ["promise", "tests", "runtimes", "state"];
const STATES: [&str; 4] = ["holds", "partly", "not yet", "cannot"];

/// What is wrong with the ledger, given the names of all tests.
pub(crate) fn check(text: &str, tests: &BTreeSet<String>) -> Vec<String> {
    let mut findings = Vec::new();
    let mut in_table = false;
    let mut n_rows = 0;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if !line.starts_with('|') {
            in_table = false;
            continue;
        }
        let cells = cells(line);
        let lower: Vec<_> = cells.iter().map(|cell| cell.to_lowercase()).collect();
        if lower == COLUMNS {
            in_table = true;
        } else if in_table && !is_rule(&cells) {
            n_rows += 1;
            let row = check_row(&cells, tests);
            findings.extend(
                row.into_iter()
                    .map(|what| format!("docs/promises.md:{number}: {what}")),
            );
        }
    }
    if n_rows == 0 {
        let columns = COLUMNS.join(" | ");
        findings.push(format!("docs/promises.md: no row of a table | {columns} |"));
    }
    findings
}

fn check_row(cells: &[String], tests: &BTreeSet<String>) -> Vec<String> {
    let [promise, named, _, state] = cells else {
        return vec![format!("{} cells, expected {}", cells.len(), COLUMNS.len())];
    };
    let mut findings = Vec::new();
    if promise.is_empty() {
        findings.push("an empty promise".to_owned());
    }
    if !STATES.iter().any(|known| state.starts_with(known)) {
        let known = STATES.join(", ");
        findings.push(format!("the state is {state:?}, expected one of {known}"));
    }
    let names = backticked(named);
    for name in &names {
        if !tests.contains(*name) {
            findings.push(format!("there is no test {name}"));
        }
    }
    let excused = named.starts_with("not yet") || named.starts_with("cannot, because ");
    if names.is_empty() && !excused {
        findings.push("names neither a test nor `not yet` nor `cannot, because …`".to_owned());
    }
    if state.starts_with("holds") && names.is_empty() {
        findings.push("holds, but names no test".to_owned());
    }
    findings
}

/// The cells of a table's line; `\|` is no border.
fn cells(line: &str) -> Vec<String> {
    let line = line.strip_prefix('|').unwrap_or(line);
    let line = line.strip_suffix('|').unwrap_or(line);
    let escaped = line.replace("\\|", "\u{0}");
    let cells = escaped.split('|');
    cells
        .map(|cell| cell.trim().replace('\u{0}', "|"))
        .collect()
}

/// The line under a table's head.
fn is_rule(cells: &[String]) -> bool {
    let of_rule = |cell: &String| !cell.is_empty() && cell.chars().all(|c| c == '-' || c == ':');
    cells.iter().all(of_rule)
}

/// What stands in backticks, `not yet` apart.
fn backticked(text: &str) -> Vec<&str> {
    let inside = text.split('`').skip(1).step_by(2);
    inside.filter(|name| *name != "not yet").collect()
}

#[track_caller]
fn check_rows(rows: &[&str], expected: &[&str]) {
    let head = "# Promises\n\n| Promise | Tests | Runtimes | State |\n|---|---|:-:|---|\n";
    let text = format!("{head}{}\n", rows.join("\n"));
    let tests = BTreeSet::from(["live::launch::a".to_owned(), "live::launch::b".to_owned()]);
    let expected: Vec<_> = (5..)
        .zip(expected)
        .filter(|(_, what)| !what.is_empty())
        .map(|(line, what)| format!("docs/promises.md:{line}: {what}"))
        .collect();
    assert_eq!(check(&text, &tests), expected);
}

#[test]
fn good_rows_pass() {
    let rows = [
        "| a \\| b | `live::launch::a`, `live::launch::b` | 9, 10 | holds |",
        "| c | not yet | | not yet |",
        "| d | cannot, because the kernel does not say | | cannot |",
        "| e | `live::launch::a`; the rest not yet | 9 | partly: the rest is missing |",
    ];
    check_rows(&rows, &[]);
}

#[test]
fn row_with_unknown_test_is_found() {
    let rows = ["| a | `live::launch::z` | 9 | holds |"];
    check_rows(&rows, &["there is no test live::launch::z"]);
    // A name alone is not enough: two tests may share it.
    check_rows(&["| a | `a` | 9 | holds |"], &["there is no test a"]);
}

#[test]
fn row_that_claims_without_proof_is_found() {
    check_rows(
        &["| a | not yet | 9 | holds |"],
        &["holds, but names no test"],
    );
    check_rows(
        &["| a | | 9 | not yet |"],
        &["names neither a test nor `not yet` nor `cannot, because …`"],
    );
}

#[test]
fn malformed_rows_are_found() {
    let rows = [
        "| a | `live::launch::a` | holds |",
        "| | `live::launch::a` | 9 | holds |",
        "| a | `live::launch::a` | 9 | done |",
    ];
    check_rows(
        &rows,
        &[
            "3 cells, expected 4",
            "an empty promise",
            "the state is \"done\", expected one of holds, partly, not yet, cannot",
        ],
    );
}

#[test]
fn ledger_without_rows_is_found() {
    let none = BTreeSet::new();
    let expected = ["docs/promises.md: no row of a table | promise | tests | runtimes | state |"];
    assert_eq!(check("# Promises\n", &none), expected);
    assert_eq!(
        check("| other | table |\n|---|---|\n| a | b |\n", &none),
        expected
    );
}
