//! The results that VSTest's `trx` logger wrote.

use std::collections::HashMap;

use engine::api::{TestFailure, TestResults};

use super::xml::{Piece, Pieces, Tag};

/// Reads a file of results. `None` if it is no such file, or one that was not written to its end.
pub(super) fn read(text: &str) -> Option<TestResults> {
    let mut results = TestResults::default();
    let mut whole = false;
    let mut failed = false;
    // Results inside of each other: a test with several rows of data has one for each.
    let mut open: Vec<Open> = Vec::new();
    let mut field = None;
    let classes = classes(text);
    for piece in Pieces::of(text) {
        match piece {
            Piece::Start(tag) => match tag.name {
                "UnitTestResult" => {
                    if let Some(outer) = open.last_mut() {
                        outer.has_rows = true;
                    }
                    open.push(Open::of(&tag, &classes));
                }
                "Message" => field = Some(Field::Message),
                "StackTrace" => field = Some(Field::Stack),
                "StdOut" | "StdErr" => field = Some(Field::Output),
                "ResultSummary" => {
                    failed = tag.attribute("outcome").is_some_and(|it| it == "Failed");
                    field = None;
                }
                _ => field = None,
            },
            Piece::Text(text) => {
                if let (Some(field), Some(result)) = (field, open.last_mut()) {
                    result.text(field).push_str(&text);
                }
            }
            Piece::End("UnitTestResult") => {
                if let Some(result) = open.pop().filter(|result| !result.has_rows) {
                    result.count(&mut results);
                }
            }
            Piece::End("TestRun") => whole = true,
            Piece::End(_) => field = None,
        }
    }
    // A run that failed although no test did was broken off: its host is gone.
    results.complete = !failed || results.failed > 0;
    whole.then_some(results)
}

/// The classes of the tests, by the ids of these; the file has them behind the results.
fn classes(text: &str) -> HashMap<String, String> {
    let mut found = HashMap::new();
    let mut test = None;
    for piece in Pieces::of(text) {
        let Piece::Start(tag) = piece else { continue };
        let attribute = |name| tag.attribute(name).map(|it| it.into_owned());
        match tag.name {
            "UnitTest" => test = attribute("id"),
            "TestMethod" => found.extend(test.take().zip(attribute("className"))),
            _ => {}
        }
    }
    found
}

/// Which text of a result is being read.
#[derive(Debug, Clone, Copy)]
enum Field {
    Message,
    Stack,
    Output,
}

/// A result whose end has not come yet.
#[derive(Debug, Default)]
struct Open {
    outcome: String,
    failure: TestFailure,
    has_rows: bool,
}

impl Open {
    fn of(tag: &Tag<'_>, classes: &HashMap<String, String>) -> Self {
        let text = |name| tag.attribute(name).unwrap_or_default().into_owned();
        let name = text("testName");
        // Some adapters tell the method only, which many classes may have.
        let class = classes.get(&text("testId"));
        let test = match class.filter(|class| !name.contains(class.as_str())) {
            Some(class) => format!("{class}.{name}"),
            None => name,
        };
        Self {
            outcome: text("outcome"),
            failure: TestFailure {
                test,
                ..TestFailure::default()
            },
            has_rows: false,
        }
    }

    fn text(&mut self, field: Field) -> &mut String {
        match field {
            Field::Message => &mut self.failure.message,
            Field::Stack => &mut self.failure.stack,
            Field::Output => &mut self.failure.output,
        }
    }

    fn count(self, results: &mut TestResults) {
        match self.outcome.as_str() {
            "Passed" | "PassedButRunAborted" | "Warning" => results.count_passed(),
            "Failed" | "Error" | "Timeout" | "Aborted" | "Disconnected" => {
                results.count_failed(self.failure);
            }
            "Inconclusive" => results.count_inconclusive(self.failure),
            _ => results.count_skipped(self.failure),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_counted_and_failures_kept() {
        let text = "<TestRun><Results>\
            <UnitTestResult testName='A.Good' outcome='Passed'><Output><StdOut>fine</StdOut></Output></UnitTestResult>\
            <UnitTestResult testName='A.Later' outcome='NotExecuted'><Output><ErrorInfo><Message>not now</Message></ErrorInfo></Output></UnitTestResult>\
            <UnitTestResult testName='A.Maybe' outcome='Inconclusive' />\
            <UnitTestResult testName='A.Rows' outcome='Failed'><InnerResults>\
              <UnitTestResult testName='A.Rows (1)' outcome='Passed' />\
              <UnitTestResult testName='A.Rows (&quot;2&quot;)' outcome='Failed'><Output><StdOut>said</StdOut>\
                <ErrorInfo><Message>Expected: &lt;1&gt;</Message><StackTrace>at A.Rows()</StackTrace></ErrorInfo></Output></UnitTestResult>\
            </InnerResults></UnitTestResult>\
            </Results></TestRun>";
        let results = read(text).expect("a file of results");
        assert_eq!(
            (
                results.total,
                results.passed,
                results.failed,
                results.skipped
            ),
            (5, 2, 1, 1)
        );
        assert_eq!(results.inconclusive, 1);
        let without: Vec<_> = results
            .without_result
            .iter()
            .map(|it| (it.test.as_str(), it.message.as_str()))
            .collect();
        assert_eq!(without, [("A.Later", "not now"), ("A.Maybe", "")]);
        let expected = TestFailure {
            test: "A.Rows (\"2\")".into(),
            message: "Expected: <1>".into(),
            stack: "at A.Rows()".into(),
            output: "said".into(),
        };
        assert_eq!(results.failures, [expected]);
    }

    #[test]
    fn a_test_is_told_with_its_class() {
        let text = "<TestRun><Results>\
            <UnitTestResult testId='1' testName='Discount' outcome='Failed' />\
            <UnitTestResult testId='2' testName='Shop.Basket.Total(a: 1)' outcome='Failed' />\
            <UnitTestResult testId='3' testName='Lost' outcome='Failed' />\
            </Results><TestDefinitions>\
            <UnitTest name='Discount' id='1'><TestMethod className='Shop.Basket' name='Discount' /></UnitTest>\
            <UnitTest name='Total' id='2'><TestMethod className='Shop.Basket' name='Total' /></UnitTest>\
            </TestDefinitions></TestRun>";
        let results = read(text).expect("a file of results");
        let names: Vec<_> = results.failures.iter().map(|it| it.test.as_str()).collect();
        assert_eq!(
            names,
            ["Shop.Basket.Discount", "Shop.Basket.Total(a: 1)", "Lost"]
        );
    }

    #[test]
    fn a_run_that_failed_without_a_failed_test_was_broken_off() {
        let run = |results: &str, outcome: &str| {
            read(&format!(
                "<TestRun><Results>{results}</Results><ResultSummary outcome='{outcome}'></ResultSummary></TestRun>"
            ))
        };
        let failed = "<UnitTestResult testName='A' outcome='Failed' />";
        for (results, outcome, complete) in [
            ("", "Failed", false),
            ("", "Completed", true),
            (failed, "Failed", true),
        ] {
            let read = run(results, outcome).expect("a file of results");
            assert_eq!(read.complete, complete, "{results} {outcome}");
        }
    }

    #[test]
    fn a_file_that_is_not_whole_is_none() {
        assert_eq!(read(""), None);
        assert_eq!(
            read("<TestRun><Results><UnitTestResult testName='A' outcome='Passed'/>"),
            None
        );
    }
}
