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
    /// The first tests that failed; all are counted.
    pub failures: Vec<TestFailure>,
    /// Whether the run came to its end.
    pub complete: bool,
}

/// A test that failed.
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

    /// Counts a test that was not run.
    pub fn count_skipped(&mut self) {
        self.total = self.total.saturating_add(1);
        self.skipped = self.skipped.saturating_add(1);
    }

    /// Counts a test that failed.
    pub fn count_failed(&mut self, mut failure: TestFailure) {
        self.total = self.total.saturating_add(1);
        self.failed = self.failed.saturating_add(1);
        if self.failures.len() < FAILURES {
            for text in [
                &mut failure.test,
                &mut failure.message,
                &mut failure.stack,
                &mut failure.output,
            ] {
                text.truncate(text.floor_char_boundary(TEXT));
            }
            self.failures.push(failure);
        }
    }
}
