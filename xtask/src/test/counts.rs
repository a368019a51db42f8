//! Counts tests from what the test runners leave behind.
//!
//! Every parser returns `None` rather than a guess: a run whose outcome cannot be read is a failure.

use std::{fmt, ops::AddAssign};

/// How many tests passed and failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}

/// The counts in nextest's report, a JUnit file: those of its root element.
pub(crate) fn from_junit(xml: &str) -> Option<Counts> {
    let root = xml.split_once("<testsuites ")?.1;
    let root = root.split_once('>')?.0;
    let number = |name: &str| -> Option<u64> {
        let value = root.split_once(&format!(" {name}=\""))?.1;
        value.split_once('"')?.0.parse().ok()
    };
    let failed = number("failures")?.checked_add(number("errors")?)?;
    let passed = number("tests")?.checked_sub(failed)?;
    Some(Counts { passed, failed })
}

/// The counts in one line of `cargo test`:
/// `test result: ok. 2 passed; 0 failed; 0 ignored; …`.
pub(crate) fn from_libtest(line: &str) -> Option<Counts> {
    let (_, numbers) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let number = |word: &str| -> Option<u64> {
        let part = numbers
            .split("; ")
            .find_map(|part| part.strip_suffix(word))?;
        part.trim().parse().ok()
    };
    Some(Counts {
        passed: number("passed")?,
        failed: number("failed")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn junit_report_is_summed() {
        let xml = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="nextest-run" tests="30" failures="2" errors="1" uuid="x" timestamp="y" time="1.5">
    <testsuite name="a" tests="99" disabled="0" errors="9" failures="9">"#;
        let expected = Counts {
            passed: 27,
            failed: 3,
        };
        assert_eq!(from_junit(xml), Some(expected));
    }

    #[test]
    fn report_that_makes_no_sense_is_refused() {
        assert_eq!(from_junit(""), None);
        assert_eq!(from_junit("<testsuites name=\"x\" tests=\"1\""), None);
        let more_failed_than_run = r#"<testsuites name="x" tests="1" failures="2" errors="0">"#;
        assert_eq!(from_junit(more_failed_than_run), None);
        assert_eq!(
            from_junit(r#"<testsuites name="x" tests="many" failures="0" errors="0">"#),
            None
        );
    }

    #[test]
    fn libtest_summary_is_read() {
        let ok = "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.01s";
        let expected = Counts {
            passed: 12,
            failed: 0,
        };
        assert_eq!(from_libtest(ok), Some(expected));
        let bad = "test result: FAILED. 9 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out";
        let expected = Counts {
            passed: 9,
            failed: 2,
        };
        assert_eq!(from_libtest(bad), Some(expected));
        assert_eq!(from_libtest("test a::b ... ok"), None);
        assert_eq!(from_libtest("test result: ok. none"), None);
    }

    #[test]
    fn closing_line_has_its_fixed_form() {
        let mut counts = Counts {
            passed: 1,
            failed: 2,
        };
        counts += counts;
        assert_eq!(counts.to_string(), "2 passed, 4 failed");
    }
}
