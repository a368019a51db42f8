//! Keeps a report small: a model pays for every word.
//!
//! Invariant: a report that went through [`Report::fit`] takes at most [`LIMIT`] bytes as text and as structured data,
//! whatever the program did; what was cut says so.

use serde::Serialize;

use super::evaluations::EvaluationsReport;
use super::exception::ExceptionAnswer;
use super::{Overview, Render, Report, SessionState, StopReport, text};

/// Bytes of a report, in either form: 4,000 tokens.
const LIMIT: usize = 16_000;

/// What is given up, in this order, until the report fits.
const CUTS: &[fn(&mut Report)] = &[
    |report| cut_output(report, 1500),
    |report| each_stop(report, |stop| cut_frames(stop, 4)),
    |report| each_stop(report, |stop| cut_exceptions(stop, 3, 300)),
    |report| each_stop(report, |stop| cut_variables(stop, 6)),
    |report| cut_lists(report, 4, 300),
    |report| cut_tests(report, 5, 300),
    |report| cut_output(report, 0),
    |report| each_stop(report, |stop| cut_frames(stop, 1)),
    |report| each_stop(report, |stop| cut_exceptions(stop, 1, 100)),
    |report| each_stop(report, |stop| cut_variables(stop, 0)),
    |report| cut_tests(report, 1, 100),
    |report| cut_lists(report, 0, 0),
    |report| each_stop(report, |stop| stop.source.clear()),
];

impl Report {
    /// Cuts what is too much.
    pub fn fit(mut self) -> Self {
        for cut in CUTS {
            if self.size() <= LIMIT {
                break;
            }
            cut(&mut self);
        }
        self
    }

    /// The larger of its two forms, in bytes.
    fn size(&self) -> usize {
        size(self)
    }
}

impl Overview {
    /// Cuts what is too much of all sessions together; the oldest that are over go first.
    pub fn fit(mut self) -> Self {
        for cut in CUTS {
            if size(&self) <= LIMIT {
                return self;
            }
            self.shortened = true;
            self.sessions.iter_mut().for_each(cut);
        }
        for report in &mut self.sessions {
            let program = report.program.as_deref();
            report.program = program.map(|it| text::one_line(it, 100));
        }
        while size(&self) > LIMIT && self.sessions.len() > 1 {
            let is_over =
                |it: &Report| !matches!(it.state, SessionState::Running | SessionState::Stopped);
            let oldest = self.sessions.iter().position(is_over);
            self.sessions.remove(oldest.unwrap_or(0));
            self.left_out += 1;
        }
        self
    }
}

impl ExceptionAnswer {
    /// Cuts what is too much.
    pub(super) fn fit(mut self) -> Self {
        for (exceptions, message, trace) in [
            (60, 120, 25),
            (30, 120, 25),
            (10, 300, 25),
            (10, 300, 8),
            (4, 300, 8),
            (3, 100, 2),
        ] {
            if size(&self) <= LIMIT {
                break;
            }
            self.cut(exceptions, message, trace);
        }
        self
    }
}

impl EvaluationsReport {
    /// Cuts what is too much of all results together.
    pub fn fit(mut self) -> Self {
        for (characters, members) in [(300, 50), (300, 10), (100, 3), (40, 0), (10, 0)] {
            if size(&self) <= LIMIT {
                break;
            }
            self.shortened = true;
            for result in &mut self.results {
                result.cut(characters, members);
            }
        }
        self
    }
}

/// The larger of a report's two forms, in bytes.
fn size<T: Serialize + Render>(report: &T) -> usize {
    let structured = serde_json::to_string(report).map_or(0, |json| json.len());
    report.render().len().max(structured)
}

fn each_stop(report: &mut Report, cut: impl Fn(&mut StopReport)) {
    report.stop.iter_mut().for_each(&cut);
    report.last_stop.iter_mut().for_each(&cut);
}

fn cut_tests(report: &mut Report, failures: usize, message: usize) {
    if let Some(tests) = &mut report.tests {
        tests.cut(failures, message);
    }
}

fn cut_output(report: &mut Report, max_bytes: usize) {
    let Some(output) = &mut report.output else {
        return;
    };
    let written: usize = output.chunks.iter().map(|chunk| chunk.text.len()).sum();
    let mut room = max_bytes;
    for chunk in output.chunks.iter_mut().rev() {
        let (cut, rest) = text::tail(&chunk.text, room);
        if cut > 0 {
            chunk.text = rest.to_owned();
            room = 0;
        } else {
            room -= chunk.text.len();
        }
    }
    output.chunks.retain(|chunk| !chunk.text.is_empty());
    let kept: usize = output.chunks.iter().map(|chunk| chunk.text.len()).sum();
    let cut = (written - kept) as u64;
    if cut > 0 {
        output
            .left_out_from
            .get_or_insert(output.cursor.saturating_sub(written as u64));
        output.left_out += cut;
    }
}

fn cut_frames(stop: &mut StopReport, max: usize) {
    if let Some(awaits) = &mut stop.awaits {
        awaits.cut(max);
    }
    if stop.frames.len() > max {
        stop.frames.truncate(max);
        stop.more_frames = true;
        let last = stop.frames.last().map_or(0, |frame| frame.index + 1);
        let told = u32::try_from(stop.frames.len()).unwrap_or(u32::MAX);
        stop.hidden_frames = last.saturating_sub(told);
    }
}

fn cut_exceptions(stop: &mut StopReport, max: usize, max_characters: usize) {
    let more = stop.exceptions.len().saturating_sub(max);
    stop.more_exceptions += u32::try_from(more).unwrap_or(u32::MAX);
    stop.exceptions.truncate(max);
    for exception in &mut stop.exceptions {
        exception.type_name = text::one_line(&exception.type_name, max_characters);
        if exception.depth > 0 || max == 1 {
            exception.thrown_at = None;
        }
        if let Some(message) = &mut exception.message {
            *message = text::one_line(message, max_characters);
        }
    }
}

fn cut_variables(stop: &mut StopReport, max: usize) {
    stop.more_variables += stop.variables.len().saturating_sub(max) as u64;
    stop.variables.truncate(max);
}

fn cut_lists(report: &mut Report, max: usize, max_characters: usize) {
    let more = report.threads.len().saturating_sub(max);
    report.more_threads += u32::try_from(more).unwrap_or(u32::MAX);
    report.threads.truncate(max);
    let more = report.breakpoints.len().saturating_sub(max);
    report.more_breakpoints += u32::try_from(more).unwrap_or(u32::MAX);
    report.breakpoints.truncate(max);
    let more = report.notes.len().saturating_sub(max);
    report.notes.truncate(max);
    for note in &mut report.notes {
        *note = text::one_line(note, max_characters);
    }
    if more > 0 {
        report
            .notes
            .push(format!("{more} notes more; debug_status tells them"));
    }
}

#[cfg(test)]
mod tests {
    use super::super::awaits::{AwaitEntry, AwaitsReport};
    use super::super::breakpoints::BreakpointEntry;
    use super::super::evaluations::EvaluationEntry;
    use super::super::exception::TraceEntry;
    use super::super::stack::FrameReport;
    use super::super::testing::{FailureEntry, TestsReport};
    use super::super::variables::VariableEntry;
    use super::super::{Chunk, ExceptionEntry, OutputReport, SessionState, SourceLine};
    use super::*;

    /// A report in which everything is as long as it can be.
    fn huge(filler: &str) -> Report {
        let long = |characters: usize| filler.repeat(characters);
        let frame = |index| FrameReport {
            index,
            method: long(200),
            module: Some(long(200)),
            file: Some(long(200)),
            line: Some(1),
            ..FrameReport::default()
        };
        let exception = |depth| ExceptionEntry {
            depth,
            type_name: long(300),
            message: Some(long(1000)),
            message_overridden_by: None,
            hresult: Some(-1),
            thrown_at: Some(TraceEntry {
                method: long(160),
                file: Some(long(160)),
                ..TraceEntry::default()
            }),
        };
        let link = AwaitEntry {
            method: long(200),
            file: Some(long(200)),
            line: Some(1),
            ..AwaitEntry::default()
        };
        let source = |line| SourceLine {
            line,
            text: long(200),
            current: line == 3,
        };
        let variable = VariableEntry {
            name: long(120),
            type_name: long(120),
            value: long(120),
            path: Some(long(120)),
            was: Some(long(120)),
            ..VariableEntry::default()
        };
        let breakpoint = |id| BreakpointEntry {
            id,
            file: Some(long(200)),
            line: Some(1),
            state: "pending",
            reason: Some(long(400)),
            condition: Some(long(200)),
            ..BreakpointEntry::default()
        };
        Report {
            session: "s1".into(),
            state: SessionState::Stopped,
            program: Some(long(500)),
            stop: Some(StopReport {
                exceptions: (0..8).map(exception).collect(),
                frames: (0..8).map(frame).collect(),
                source: (1..6).map(source).collect(),
                variables: vec![variable; 12],
                awaits: Some(AwaitsReport {
                    blocked_frame: Some(1),
                    waits_for: vec![link; 20],
                    ..AwaitsReport::default()
                }),
                changed_source: Some(long(300)),
                ..StopReport::default()
            }),
            output: Some(OutputReport {
                chunks: vec![Chunk {
                    stream: "stdout",
                    text: long(4000),
                }],
                cursor: 4000,
                ..OutputReport::default()
            }),
            tests: Some(TestsReport {
                failed: 100,
                failures: vec![
                    FailureEntry {
                        test: long(200),
                        message: long(800),
                        stack: vec![long(250); 5],
                        output: long(400),
                    };
                    10
                ],
                ..TestsReport::default()
            }),
            breakpoints: (0..10).map(breakpoint).collect(),
            notes: vec![long(600); 10],
            ..Report::default()
        }
    }

    #[test]
    fn nothing_makes_a_report_too_long() {
        for filler in ["x", "世", "\"", "\\", "🦀"] {
            let report = huge(filler).fit();
            assert!(report.size() <= LIMIT, "{filler}: {}", report.size());
            let stop = report.stop.as_ref().expect("kept");
            assert!(stop.more_frames && stop.more_exceptions > 0, "{filler}");
            assert!(!stop.frames.is_empty(), "{filler}: {stop:?}");
        }
    }

    #[test]
    fn many_sessions_results_and_exceptions_fit_together() {
        for filler in ["x", "🦀"] {
            // As many as would not fit even if little were told of each.
            let sessions = vec![huge(filler).fit(); 24];
            let overview = Overview {
                sessions,
                ..Overview::default()
            };
            let overview = overview.fit();
            assert!(size(&overview) <= LIMIT, "{filler}: {}", size(&overview));
            assert!(overview.shortened && overview.left_out > 0, "{filler}");
            assert!(overview.render().contains("debug_status"), "{filler}");
            let stop = huge(filler).stop.expect("stopped");
            let trace = stop.exceptions[0].thrown_at.clone().expect("a place");
            let answer = ExceptionAnswer {
                exceptions: vec![stop.exceptions[0].clone(); 60],
                trace: vec![trace; 25],
                earlier_trace: Some(filler.repeat(1500)),
                ..ExceptionAnswer::default()
            };
            let answer = answer.fit();
            assert!(size(&answer) <= LIMIT, "{filler}: {}", size(&answer));
            assert!(answer.left_out > 0, "{filler}");
            let result = EvaluationEntry {
                expression: filler.repeat(200),
                type_name: Some(filler.repeat(200)),
                value: Some(filler.repeat(1000)),
                problem: Some(filler.repeat(4000)),
                members: stop.variables.clone(),
                ..EvaluationEntry::default()
            };
            let report = EvaluationsReport {
                results: vec![result; 20],
                ..EvaluationsReport::default()
            };
            let report = report.fit();
            assert!(size(&report) <= LIMIT, "{filler}: {}", size(&report));
            assert_eq!(report.results.len(), 20);
            assert!(
                report.shortened && report.results[0].left_out > 0,
                "{filler}"
            );
        }
    }

    #[test]
    fn what_was_cut_is_counted() {
        let mut report = huge("x");
        cut_output(&mut report, 1500);
        let output = report.output.expect("output");
        assert_eq!((output.left_out, output.left_out_from), (2500, Some(0)));
        assert_eq!(output.chunks[0].text.len(), 1500);
        let small = Report {
            session: "s1".into(),
            ..Report::default()
        };
        assert_eq!(small.clone().fit(), small);
    }
}
