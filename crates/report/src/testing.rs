//! What became of the tests of a session that runs some.

use std::fmt::Write as _;

use engine::api::{TestFailure, TestResults};
use schemars::JsonSchema;
use serde::Serialize;

use super::{is_false, is_zero, text};

/// Failed tests that are told.
const FAILURES: usize = 10;
/// Characters of the name of one.
const NAME: usize = 200;
/// Bytes of what its assertion said.
const MESSAGE: usize = 800;
/// Failed tests that are told by their names only.
const NAMES: usize = 50;
/// Characters of all these names.
const ALL_NAMES: usize = 2500;
/// Tests without a result that are named.
const SKIPPED: usize = 10;
/// Characters of why one has none.
const REASON: usize = 80;
/// Calls told of its stack.
const CALLS: usize = 5;
/// Characters of each.
const CALL: usize = 250;
/// Bytes of what it wrote.
const OUTPUT: usize = 400;

/// Results of tests, at the end or so far.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct TestsReport {
    /// Tests that have a result.
    pub total: u32,
    /// Tests that passed.
    pub passed: u32,
    /// Tests that failed.
    pub failed: u32,
    /// Tests that were not run.
    pub skipped: u32,
    /// Tests that ended without saying whether they passed.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(extend("x-minor" = true))]
    pub inconclusive: u32,
    /// The first of these two kinds, with why if that was said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-minor" = true))]
    pub without_result: Vec<String>,
    /// Whether this is not the end of it: the run goes on, or was broken off.
    #[serde(skip_serializing_if = "is_false")]
    pub incomplete: bool,
    /// The first tests that failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FailureEntry>,
    /// Failed tests that are not told.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_failures: u32,
    /// The names of the first of those.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub more_failed: Vec<String>,
}

/// A test that failed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct FailureEntry {
    /// Its name as the runner tells it.
    pub test: String,
    /// What the assertion or exception said.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Where it was thrown, innermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<String>,
    /// The end of what the test wrote.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub output: String,
}

impl From<&TestResults> for TestsReport {
    fn from(results: &TestResults) -> Self {
        let failures: Vec<_> = results
            .failures
            .iter()
            .take(FAILURES)
            .map(Into::into)
            .collect();
        Self {
            total: results.total,
            passed: results.passed,
            failed: results.failed,
            skipped: results.skipped,
            inconclusive: results.inconclusive,
            without_result: results
                .without_result
                .iter()
                .map(without)
                .take(SKIPPED)
                .collect(),
            incomplete: !results.complete,
            more_failures: left_out(results.failed, failures.len()),
            more_failed: names(results, failures.len()),
            failures,
        }
    }
}

/// A test without a result: `Shop.Tests.Later: not on this machine`.
fn without(test: &TestFailure) -> String {
    let mut line = text::one_line(&test.test, NAME);
    if !test.message.trim().is_empty() {
        line += &format!(": {}", text::one_line(test.message.trim(), REASON));
    }
    line
}

/// The names of the failed tests behind so many: who wants to know more of one needs its name.
fn names(results: &TestResults, told: usize) -> Vec<String> {
    let rest = results.failures.iter().skip(told).take(NAMES);
    let mut room = ALL_NAMES;
    let fits = |name: &String| {
        let left = room.checked_sub(name.len());
        room = left.unwrap_or(0);
        left.is_some()
    };
    let names = rest.map(|it| text::one_line(&it.test, NAME));
    names.take_while(fits).collect()
}

impl From<&TestFailure> for FailureEntry {
    fn from(failure: &TestFailure) -> Self {
        let clean = |it: &str| text::clean(it.trim_end()).trim_end().to_owned();
        let mut message = clean(&failure.message);
        if message.len() > MESSAGE {
            message.truncate(message.floor_char_boundary(MESSAGE));
            message.push('…');
        }
        let calls = failure
            .stack
            .lines()
            .map(str::trim)
            .filter(|it| !it.is_empty());
        Self {
            test: text::one_line(&failure.test, NAME),
            message,
            stack: calls
                .take(CALLS)
                .map(|it| text::one_line(it, CALL))
                .collect(),
            output: text::tail(&clean(&failure.output), OUTPUT).1.to_owned(),
        }
    }
}

fn left_out(all: u32, told: usize) -> u32 {
    all.saturating_sub(u32::try_from(told).unwrap_or(u32::MAX))
}

impl TestsReport {
    /// Of a run that goes on, what is new to somebody who has heard of the first failures.
    pub fn since(results: &TestResults, told: usize) -> Self {
        let mut report = Self::from(results);
        let new = results.failures.iter().skip(told).take(FAILURES);
        report.failures = new.map(Into::into).collect();
        let heard = told.min(results.failures.len()) + report.failures.len();
        report.more_failures = left_out(results.failed, heard);
        report.more_failed = names(results, heard);
        // Named at the end.
        report.without_result.clear();
        report
    }

    /// Tells fewer failures, each with less.
    pub(crate) fn cut(&mut self, failures: usize, message: usize) {
        // Of a report that must be as short as can be, the number must do.
        if failures > 1 {
            let cut = self.failures.iter().skip(failures);
            let cut: Vec<_> = cut.map(|it| it.test.clone()).collect();
            self.more_failed.splice(0..0, cut);
            self.more_failed.truncate(NAMES);
        } else {
            self.more_failed.clear();
            self.without_result.clear();
        }
        self.failures.truncate(failures);
        self.more_failures = left_out(self.failed, self.failures.len());
        for failure in &mut self.failures {
            failure.message = text::one_line(&failure.message, message);
            failure.stack.truncate(2);
            failure.output.clear();
        }
    }

    /// Writes it as text.
    pub(crate) fn push(&self, out: &mut String) {
        let Self {
            total,
            passed,
            failed,
            skipped,
            inconclusive,
            ..
        } = self;
        let so_far = if self.incomplete { " so far" } else { "" };
        let were = if *skipped == 1 { "was" } else { "were" };
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "Tests{so_far}: {total}, of which {passed} passed, {failed} failed, {skipped} {were} skipped{}.",
            match inconclusive {
                0 => String::new(),
                1 => ", 1 was inconclusive".into(),
                more => format!(", {more} were inconclusive"),
            }
        );
        for failure in &self.failures {
            let _ = writeln!(out, "Failed: {}", failure.test);
            if !failure.message.is_empty() {
                text::push_quoted_lines(out, "  | ", &failure.message);
            }
            for call in &failure.stack {
                let _ = writeln!(out, "    {call}");
            }
            if !failure.output.is_empty() {
                text::push_quoted_lines(out, "  out| ", &failure.output);
            }
        }
        if self.more_failures > 0 {
            let names = self.more_failed.join(", ");
            let told = u32::try_from(self.more_failed.len()).unwrap_or(u32::MAX);
            let names = match told {
                0 => String::new(),
                _ if told < self.more_failures => format!(": {names}, …"),
                _ => format!(": {names}"),
            };
            let _ = writeln!(
                out,
                "({} more failed{names}; debug_launch_test with a filter tells them)",
                self.more_failures
            );
        }
        for test in &self.without_result {
            let _ = writeln!(out, "No result: {test}");
        }
        let more = left_out(skipped + inconclusive, self.without_result.len());
        if more > 0 && !self.without_result.is_empty() {
            let _ = writeln!(out, "({more} more without a result)");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn failure(message: &str) -> TestFailure {
        TestFailure {
            test: "Shop.BasketTests.Discount".into(),
            message: message.into(),
            stack: "   at Shop.BasketTests.Discount() in /s/T.cs:line 11\n   at A()\nat B()\nat C()\nat D()\nat E()\n".into(),
            output: "said\n".into(),
        }
    }

    #[test]
    fn failures_are_told_with_message_and_stack() {
        let results = TestResults {
            total: 3,
            passed: 1,
            failed: 1,
            skipped: 1,
            inconclusive: 0,
            without_result: vec![TestFailure {
                test: "Shop.BasketTests.Later".into(),
                message: "not now\n".into(),
                ..TestFailure::default()
            }],
            failures: vec![failure(
                "Assert.Equal() Failure\r\nExpected: 81\nHint: \u{1b}[31m\n",
            )],
            complete: true,
        };
        let mut out = String::new();
        TestsReport::from(&results).push(&mut out);
        expect![[r#"
            Tests: 3, of which 1 passed, 1 failed, 1 was skipped.
            Failed: Shop.BasketTests.Discount
              | Assert.Equal() Failure
              | Expected: 81
              | Hint: \x1b[31m
                at Shop.BasketTests.Discount() in /s/T.cs:line 11
                at A()
                at B()
                at C()
                at D()
              out| said
            No result: Shop.BasketTests.Later: not now
        "#]]
        .assert_eq(&out);
    }

    #[test]
    fn much_is_cut_and_counted() {
        let results = TestResults {
            total: 500,
            failed: 500,
            failures: vec![failure(&"x".repeat(100_000)); 100],
            ..TestResults::default()
        };
        let mut report = TestsReport::from(&results);
        assert_eq!((report.failures.len(), report.more_failures), (10, 490));
        assert!(report.failures.iter().all(|it| it.message.len() < 1000));
        assert_eq!(report.more_failed.len(), 50);
        report.cut(2, 100);
        assert_eq!((report.failures.len(), report.more_failures), (2, 498));
        assert_eq!(report.more_failed.len(), 50);
        let mut out = String::new();
        report.push(&mut out);
        assert!(
            out.len() < 2500 && out.contains("Tests so far: 500"),
            "{out}"
        );
    }

    #[test]
    fn failures_of_a_run_that_goes_on_are_told_once() {
        let mut results = TestResults {
            total: 3,
            failed: 3,
            failures: vec![failure("one"), failure("two"), failure("three")],
            ..TestResults::default()
        };
        let new = TestsReport::since(&results, 2);
        let told: Vec<_> = new.failures.iter().map(|it| it.message.as_str()).collect();
        assert_eq!((told, new.more_failures), (vec!["three"], 0));
        // Those that there is no room for have names.
        results.failures = vec![failure("same"); 12];
        results.failed = 12;
        let mut out = String::new();
        TestsReport::since(&results, 0).push(&mut out);
        let name = "Shop.BasketTests.Discount";
        assert!(
            out.contains(&format!(
                "(2 more failed: {name}, {name}; debug_launch_test"
            )),
            "{out}"
        );
        results.failures.truncate(3);
        // More failed than are kept.
        results.failed = 5;
        assert_eq!(TestsReport::since(&results, 3).more_failures, 2);
    }
}
