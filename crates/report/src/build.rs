//! From the engine's plain data to reports.

use engine::api::{
    Breakpoint, BreakpointId, ExceptionReport, ExceptionStage, Exit, Frame, FrameKind, Origin,
    OutputPage, State, Status, Stop, StopReason, Stream, TraceFrame,
};

use super::awaits::AwaitsReport;
use super::breakpoints::BreakpointEntry;
use super::exception::HandlerReport;
use super::variables::VariableEntry;
use super::{
    Chunk, ExceptionEntry, ExitReport, OutputReport, Reason, Report, SessionState, SourceLine,
    StepsReport, StopReport, stack, text,
};

/// Bytes of output shown in a stop report.
pub const OUTPUT_BUDGET: u32 = 4000;
/// Frames asked for to find those worth telling.
pub const FRAMES: u32 = 40;
/// Frames told in a stop report.
const TOLD_FRAMES: usize = 8;
/// Exceptions shown of one chain.
const EXCEPTIONS: usize = 8;
/// Characters shown of an exception's message.
const MESSAGE: usize = 1000;
/// Characters shown of a type or method name.
const NAME: usize = 300;
/// Characters shown of a command line.
const COMMAND_LINE: usize = 500;
/// Characters shown of a note.
const NOTE: usize = 600;

/// The stack of the thread that reported a stop, as far as it was asked for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Stack {
    /// The innermost frames.
    pub frames: Vec<Frame>,
    /// Whether there are more below them.
    pub more: bool,
    /// Which call of its method the frame is whose variables are told.
    pub call: Option<u64>,
    /// Source around the first of them that has any; else around the place that tells most.
    pub source: Vec<SourceLine>,
    /// The file of that place, if it was changed since the program was built.
    pub changed_source: Option<String>,
    /// Who awaits what it runs, if that was resumed after an await; what it waits for, if none of its frames is the user's.
    pub awaits: Option<AwaitsReport>,
    /// Variables of that frame, and how many more there are.
    pub variables: (Vec<VariableEntry>, u64),
}

/// What a status says, without output and advice.
pub fn report(session: &str, status: &Status, stack: Option<&Stack>) -> Report {
    Report {
        session: session.to_owned(),
        state: match status.state {
            State::Starting => SessionState::Starting,
            State::Running => SessionState::Running,
            State::Stopped => SessionState::Stopped,
            State::Exited => SessionState::Exited,
            State::Detached => SessionState::Detached,
        },
        pid: status.pid.map(|pid| pid.0),
        program: status
            .program
            .as_deref()
            .map(|program| text::one_line(program, COMMAND_LINE)),
        runtime: status
            .runtime
            .as_ref()
            .map(|version| text::one_line(&version.0, NAME)),
        origin: status.origin.map(|origin| match origin {
            Origin::Launched => "launched",
            Origin::Attached => "attached",
        }),
        stop: status.stop.as_ref().map(|stop| stop_report(stop, stack)),
        exit: status.exit.as_ref().map(exit_report),
        ..Report::default()
    }
}

/// The frame whose variables are told: the innermost with source. An exception that was thrown by code of others, which may
/// have symbols, is looked at from the user's code. Of code without symbols it is the method that somebody wanted to stop in,
/// and, where nothing has any, the innermost that is not the framework's.
pub fn shown_frame<'a>(stop: &Stop, frames: &'a [Frame]) -> Option<&'a Frame> {
    let is_code = |frame: &&Frame| frame.il_offset.is_some();
    let is_wanted = |reason: &StopReason| matches!(reason, StopReason::Breakpoint { .. });
    let mut top = frames.iter().take(1).filter(is_code);
    if stop.reasons.iter().any(is_wanted)
        && let Some(top) = top.find(|frame| frame.kind == FrameKind::External)
    {
        return Some(top);
    }
    sourced_frame(stop, frames).or_else(|| {
        let is_framework = |frame: &Frame| stack::is_framework(frame.module.as_deref());
        let mut own = frames.iter().filter(|it| is_code(it) && !is_framework(it));
        own.find(|_| !stop.reasons.contains(&StopReason::Pause))
    })
}

/// The frame whose source is told.
pub fn sourced_frame<'a>(stop: &Stop, frames: &'a [Frame]) -> Option<&'a Frame> {
    let mut with_source = frames.iter().filter(|frame| frame.source.is_some());
    let users = with_source
        .clone()
        .find(|frame| frame.user_code && stop.exception.is_some());
    users.or_else(|| with_source.next())
}

/// The user's place that an exception came from first, by its own record.
pub fn origin(exception: &ExceptionReport) -> Option<&TraceFrame> {
    // Its line may not be known; its caller has not thrown it all the same.
    exception.trace.iter().find(|it| it.user_code)
}

/// Whether a frame is where an exception came from, as far as that is known.
fn is_at(frame: &Frame, origin: &TraceFrame) -> bool {
    match &origin.source {
        Some(source) => frame.source.as_ref() == Some(source),
        None => frame.method == origin.method,
    }
}

/// What is known of one stop.
pub fn stop_report(stop: &Stop, stack: Option<&Stack>) -> StopReport {
    let exception = stop.exception.as_ref();
    let (mut exceptions, more_exceptions) =
        exception.map_or_else(Default::default, |it| exceptions(it, EXCEPTIONS));
    let all = stack.map_or(&[][..], |stack| &stack.frames);
    // Where the program is stopped is told anyway.
    if let (Some(first), Some(origin)) = (exceptions.first_mut(), exception.and_then(origin))
        && all.iter().any(|it| it.user_code && is_at(it, origin))
    {
        first.thrown_at = None;
    }
    let awaits = stack.and_then(|stack| stack.awaits.as_ref());
    let resumed = awaits.and_then(|it| it.resumed_frame);
    // Frames below a resumed one are no callers of it.
    let callers = all
        .iter()
        .take_while(|it| resumed.is_none_or(|resumed| it.index <= resumed));
    let all = &all[..callers.count()];
    // What is waited for tells more than the framework's way of waiting.
    let is_idle = resumed.is_none() && awaits.is_some();
    let most = if is_idle { 1 } else { TOLD_FRAMES };
    let (frames, hidden_frames) = stack::most_telling(all, most);
    let told = frames.last().map_or(0, |last| last.index + 1);
    let walked = all.last().map_or(0, |last| last.index + 1);
    let goes_on = stack.is_some_and(|stack| stack.more) && resumed.is_none_or(|it| it >= walked);
    StopReport {
        id: stop.id.0,
        reasons: stop.reasons.iter().map(reason).collect(),
        thread: stop.thread.map(|thread| thread.0),
        queued_threads: stop.queued.iter().map(|thread| thread.0).collect(),
        rethrown: exception
            .and_then(|it| it.flight.as_deref())
            .is_some_and(|flight| flight.rethrown),
        steps: stop
            .steps
            .filter(|steps| steps.asked > 1)
            .map(|steps| StepsReport {
                made: steps.made,
                asked: steps.asked,
            }),
        exceptions,
        more_exceptions,
        handler: exception
            .and_then(|it| it.flight.as_deref())
            .map(|flight| HandlerReport::of(&flight.handler)),
        frames,
        hidden_frames,
        more_frames: goes_on || told < walked,
        source: stack.map_or_else(Vec::new, |stack| stack.source.clone()),
        changed_source: stack
            .and_then(|stack| stack.changed_source.as_deref())
            .map(|file| text::one_line(file, NAME)),
        awaits: stack.and_then(|stack| stack.awaits.clone()),
        variables: stack.map_or_else(Vec::new, |stack| stack.variables.0.clone()),
        more_variables: stack.map_or(0, |stack| stack.variables.1),
    }
}

fn reason(reason: &StopReason) -> Reason {
    let numbers = |ids: &[BreakpointId]| ids.iter().map(|id| id.0).collect();
    let said = |texts: &[&Option<String>]| {
        let texts: Vec<_> = texts.iter().filter_map(|text| text.as_deref()).collect();
        (!texts.is_empty()).then(|| text::one_line(&texts.join(" "), MESSAGE))
    };
    let (kind, breakpoints, detail) = match reason {
        StopReason::Entry => ("entry", Vec::new(), None),
        StopReason::Pause => (Reason::PAUSED, Vec::new(), None),
        StopReason::Breakpoint { ids } => ("breakpoint", numbers(ids), None),
        StopReason::Exception { ids, stage } => {
            let kind = match stage {
                ExceptionStage::Thrown => Reason::THROWN,
                ExceptionStage::UserUnhandled => Reason::USER_UNHANDLED,
                ExceptionStage::Unhandled => Reason::UNHANDLED,
            };
            (kind, numbers(ids), None)
        }
        StopReason::Step => ("step", Vec::new(), None),
        StopReason::RunTo => ("run_to", Vec::new(), None),
        StopReason::Goto => ("goto", Vec::new(), None),
        StopReason::UnhandledException => (Reason::UNHANDLED, Vec::new(), None),
        StopReason::DebuggerBreak => ("debugger_break", Vec::new(), None),
        StopReason::ConditionFailed {
            id,
            condition,
            error,
        } => {
            // The lines under the message show the place in the condition, which is told already.
            let error = error.lines().next().unwrap_or_default();
            let detail = text::one_line(&format!("{condition}: {error}"), NOTE);
            ("condition_failed", vec![id.0], Some(detail))
        }
        StopReason::AssertionFailed { message, detail } => {
            ("assertion_failed", Vec::new(), said(&[message, detail]))
        }
        StopReason::FailFast { message, exception } => {
            let exception = exception.as_ref().map(|it| format!("(given {it})"));
            (Reason::FAIL_FAST, Vec::new(), said(&[message, &exception]))
        }
    };
    Reason {
        kind,
        breakpoints,
        detail,
    }
}

/// An exception and its inner ones in order, at most `max`, and how many more there are.
pub fn exceptions(exception: &ExceptionReport, max: usize) -> (Vec<ExceptionEntry>, u32) {
    let (mut entries, mut left_out) = (Vec::new(), 0);
    push_exceptions(&mut entries, &mut left_out, exception, max, 0);
    (entries, left_out)
}

fn push_exceptions(
    entries: &mut Vec<ExceptionEntry>,
    left_out: &mut u32,
    exception: &ExceptionReport,
    max: usize,
    depth: u32,
) {
    if entries.len() < max {
        entries.push(ExceptionEntry {
            depth,
            type_name: text::one_line(&exception.type_name, NAME),
            message: exception
                .message
                .as_deref()
                .map(|message| text::one_line(message, MESSAGE)),
            message_overridden_by: exception
                .message_overridden_by
                .as_deref()
                .map(|name| text::one_line(name, NAME)),
            hresult: exception.hresult,
            thrown_at: origin(exception).map(Into::into),
        });
    } else {
        *left_out += 1;
    }
    *left_out += exception.inner_left_out;
    for inner in &exception.inner {
        push_exceptions(entries, left_out, inner, max, depth + 1);
    }
}

/// How something ended, in words that follow its name.
pub fn ended(exit: &Exit) -> String {
    crate::render::exit(&exit_report(exit))
}

/// How a program ended.
pub fn exit_report(exit: &Exit) -> ExitReport {
    let code = exit.shell_code();
    match exit {
        Exit::Code(_) => ExitReport {
            code,
            ..ExitReport::default()
        },
        Exit::Signal {
            name, by_debugger, ..
        } => ExitReport {
            code,
            signal: Some(name.clone()),
            by_debugger: *by_debugger,
            ..ExitReport::default()
        },
        Exit::Unknown { reason } => ExitReport {
            unknown: Some(text::one_line(reason, NOTE)),
            ..ExitReport::default()
        },
    }
}

/// The output of a page that was read from `from` on, at most [`OUTPUT_BUDGET`] of it; nothing if there is none.
pub fn output(page: OutputPage, from: u64) -> Option<OutputReport> {
    if page.chunks.is_empty() && page.skipped == 0 {
        return None;
    }
    let mut left_out = page.skipped;
    let mut chunks = chunks(&page);
    // Escapes can make a page longer than it was: the newest part is kept.
    let mut room = OUTPUT_BUDGET as usize;
    let mut first_kept = 0;
    for (index, chunk) in chunks.iter_mut().enumerate().rev() {
        let (cut, rest) = text::tail(&chunk.text, room);
        left_out += cut as u64;
        if cut > 0 {
            chunk.text = rest.to_owned();
        }
        room -= chunk.text.len();
        if chunk.text.is_empty() {
            first_kept = first_kept.max(index + 1);
        }
    }
    chunks.drain(..first_kept.min(chunks.len()));
    // A page of the newest output begins anywhere; a reader wants lines.
    if page.skipped > 0
        && let Some(first) = chunks.first_mut()
        && let Some(newline) = first.text.find('\n')
        && newline + 1 < first.text.len()
    {
        left_out += newline as u64 + 1;
        first.text.drain(..=newline);
    }
    let shown = chunks.iter().map(|chunk| chunk.text.as_str());
    let invalid_bytes = shown_invalid(page.invalid_bytes, shown);
    Some(OutputReport {
        chunks,
        left_out,
        lost: page.lost,
        left_out_from: (left_out > 0).then_some(from + page.lost),
        invalid_bytes,
        cursor: page.next.0,
    })
}

/// How many of the bytes of a page that are no text are in what is shown of it.
pub fn shown_invalid<'a>(of_page: u64, shown: impl Iterator<Item = &'a str>) -> u64 {
    of_page.min(
        shown
            .map(|text| text.matches('\u{fffd}').count() as u64)
            .sum(),
    )
}

/// The chunks of a page, made harmless.
pub fn chunks(page: &OutputPage) -> Vec<Chunk> {
    let chunk = |chunk: &engine::api::OutputChunk| Chunk {
        stream: stream_name(chunk.stream),
        text: text::clean(&chunk.text),
    };
    page.chunks.iter().map(chunk).collect()
}

/// What a stream is called.
pub fn stream_name(stream: Stream) -> &'static str {
    match stream {
        Stream::Stdout => "stdout",
        Stream::Stderr => "stderr",
        Stream::Trace => "trace",
    }
}

/// Notes of the engine, made harmless; those before `seen` were told already.
pub fn notes(status: &Status, seen: usize) -> Vec<String> {
    let fresh = status.notes.iter().skip(seen);
    fresh.map(|note| text::one_line(note, NOTE)).collect()
}

/// That an evaluation still runs that could not be ended, as long as it does.
pub fn stuck(status: &Status) -> Option<String> {
    let ids: Vec<String> = status.stuck.iter().map(|it| it.0.to_string()).collect();
    let threads = match ids.as_slice() {
        [] => return None,
        [only] => format!("thread {only}"),
        several => format!("threads {}", several.join(", ")),
    };
    Some(format!(
        "an evaluation on {threads} could not be ended: it goes on when the program does, and the thread reaches its next statement only when it is done; if it can never end, start the program again"
    ))
}

/// That threads are frozen, for whoever waits for a program that runs.
pub fn frozen(status: &Status) -> Option<String> {
    let ids: Vec<String> = status.frozen.iter().map(|it| it.0.to_string()).collect();
    let them = match ids.as_slice() {
        [] => return None,
        [only] => format!("thread {only} is frozen: it does not run"),
        several => format!("threads {} are frozen: they do not run", several.join(", ")),
    };
    Some(format!(
        "{them}, and what waits for that does not go on (debug_pause, then threads_get with thaw)"
    ))
}

/// Gives news of breakpoints the counts of now.
pub fn count_anew(told: &mut [BreakpointEntry], now: &[Breakpoint]) {
    for entry in told {
        if let Some(counted) = now.iter().find(|it| it.id.0 == entry.id) {
            *entry = counted.into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::api::{OutputChunk, OutputCursor};

    fn page(skipped: u64, texts: &[(Stream, &str)]) -> OutputPage {
        let length: usize = texts.iter().map(|(_, text)| text.len()).sum();
        OutputPage {
            chunks: texts
                .iter()
                .map(|(stream, text)| OutputChunk {
                    stream: *stream,
                    text: (*text).into(),
                })
                .collect(),
            next: OutputCursor(skipped + length as u64),
            skipped,
            ..OutputPage::default()
        }
    }

    #[test]
    fn output_is_cut_at_a_line_and_says_where_the_rest_is() {
        assert_eq!(output(page(0, &[]), 7), None);
        let report =
            output(page(100, &[(Stream::Stdout, "cut line\nwhole\n")]), 7).expect("output");
        assert_eq!(report.chunks.len(), 1);
        assert_eq!(report.chunks[0].text, "whole\n");
        assert_eq!(
            (report.left_out, report.left_out_from, report.cursor),
            (109, Some(7), 115)
        );
    }

    #[test]
    fn escapes_do_not_break_the_budget() {
        let zeros = "\0".repeat(4000);
        let report = output(
            page(0, &[(Stream::Stderr, "first\n"), (Stream::Stdout, &zeros)]),
            0,
        )
        .expect("output");
        let length: usize = report.chunks.iter().map(|chunk| chunk.text.len()).sum();
        assert!(length <= OUTPUT_BUDGET as usize, "{length}");
        assert!(report.left_out > 0);
        assert_eq!(report.chunks.len(), 1, "{:?}", report.chunks);
    }

    #[test]
    fn a_chain_of_exceptions_is_flat_and_bounded() {
        let mut exception = ExceptionReport {
            type_name: "Innermost".into(),
            message: None,
            unhandled: true,
            ..ExceptionReport::default()
        };
        for level in 0..100 {
            let mut outer = exception.clone();
            outer.type_name = format!("Level{level}");
            outer.inner = vec![exception];
            exception = outer;
        }
        let (entries, left_out) = exceptions(&exception, EXCEPTIONS);
        assert_eq!((entries.len(), left_out), (EXCEPTIONS, 101 - 8));
        assert_eq!(entries[1].depth, 1);
    }
}
