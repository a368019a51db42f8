//! What became of the tests of a run: counted by whoever runs them, told by reports.

/// Failures that are kept with what they said.
const FAILURES: usize = 100;
/// Bytes of each text that are kept.
const TEXT: usize = 4 << 10;

/// Results of a run of tests, so far or at its end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TestResults {
    /// Tests that have a result.
    pub total: u32,
    /// Tests that passed.
    pub passed: u32,
    /// Tests that failed, with errors and those that took too long.
    pub failed: u32,
    /// Tests that were not run.
    pub skipped: u32,
    /// Tests that ended without saying whether they passed.
    pub inconclusive: u32,
    /// The first tests that were not run or are inconclusive, with why if that was said; all are counted.
    pub without_result: Vec<TestFailure>,
    /// The first tests that failed; all are counted.
    pub failures: Vec<TestFailure>,
    /// Whether the run came to its end.
    pub complete: bool,
}

/// A test that failed, or has no result.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TestFailure {
    /// Its name as the runner tells it.
    pub test: String,
    /// What the assertion or exception said.
    pub message: String,
    /// Where it was thrown, as text.
    pub stack: String,
    /// What the test wrote.
    pub output: String,
}

impl TestResults {
    /// Counts a test that passed.
    pub fn count_passed(&mut self) {
        self.total = self.total.saturating_add(1);
        self.passed = self.passed.saturating_add(1);
    }

    /// Counts a test that was not run, and why if that was said.
    pub fn count_skipped(&mut self, test: TestFailure) {
        self.skipped = self.skipped.saturating_add(1);
        self.count_without_result(test);
    }

    /// Counts a test that ended without saying whether it passed.
    pub fn count_inconclusive(&mut self, test: TestFailure) {
        self.inconclusive = self.inconclusive.saturating_add(1);
        self.count_without_result(test);
    }

    fn count_without_result(&mut self, test: TestFailure) {
        self.total = self.total.saturating_add(1);
        if self.without_result.len() < FAILURES && !test.test.is_empty() {
            self.without_result.push(TestFailure {
                stack: String::new(),
                output: String::new(),
                ..test.cut()
            });
        }
    }

    /// Counts a test that failed.
    pub fn count_failed(&mut self, failure: TestFailure) {
        self.total = self.total.saturating_add(1);
        self.failed = self.failed.saturating_add(1);
        if self.failures.len() < FAILURES {
            self.failures.push(failure.cut());
        }
    }
}

impl TestFailure {
    fn cut(mut self) -> Self {
        for text in [
            &mut self.test,
            &mut self.message,
            &mut self.stack,
            &mut self.output,
        ] {
            text.truncate(text.floor_char_boundary(TEXT));
        }
        self
    }
}
