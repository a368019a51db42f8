//! Reports as text: what a good colleague would say, in few lines.
//!
//! Lines of the program's output stand behind `out| ` or `err| `, other strings of the program in quotes: a reader
//! always knows who is talking.

use std::fmt::Write as _;

use super::awaits::AwaitsReport;
use super::inventory::push_threads;
use super::stack::{FrameReport, push_frames};
use super::variables::{RETURNED, VariableEntry, push_variables};
use super::{
    Chunk, ExceptionEntry, ExitReport, InputReport, OutputPageReport, OutputReport, Overview,
    ProcessesReport, Reader, Reason, Render, Report, SessionState, SourceLine, StopReport, finish,
    text,
};

impl Render for Report {
    fn render_for(&self, reader: Reader) -> String {
        let mut out = self.headline();
        out.push('\n');
        if let Some(identity) = self.identity() {
            out.push_str(&identity);
            out.push('\n');
        }
        if let Some(stop) = &self.stop {
            push_stop(&mut out, stop, reader);
        }
        if let Some(stop) = &self.last_stop {
            let _ = writeln!(out, "Its last stop: {}{}.", stop_reasons(stop), place(stop));
            push_stop(&mut out, stop, reader);
        }
        if let Some(tests) = &self.tests {
            tests.push(&mut out);
        }
        if let Some(output) = &self.output {
            push_output(&mut out, output);
        }
        push_threads(&mut out, &self.threads, self.more_threads, reader);
        let is_over = [SessionState::Exited, SessionState::Detached].contains(&self.state);
        let (hit, others): (Vec<_>, Vec<_>) =
            self.breakpoints.iter().partition(|it| it.has_acted());
        let (passed, never): (Vec<_>, Vec<_>) = others.into_iter().partition(|it| it.was_reached());
        let (unsure, never): (Vec<_>, Vec<_>) = never.into_iter().partition(|it| it.may_be_passed);
        for (heading, breakpoints) in [
            ("", hit),
            ("Never reached:\n", never),
            (
                "Never hit (in optimised code, which may have run all the same):\n",
                unsure,
            ),
            ("Reached, but never hit:\n", passed),
        ] {
            if is_over && !breakpoints.is_empty() {
                out.push_str(heading);
            }
            for breakpoint in breakpoints {
                push_line(&mut out, "", &breakpoint.render());
            }
        }
        if self.more_breakpoints > 0 {
            let _ = writeln!(
                out,
                "({} more breakpoints: {} tells them)",
                self.more_breakpoints,
                reader.words("breakpoint_list", "`info breakpoints`")
            );
        }
        for note in &self.notes {
            push_line(&mut out, "Note: ", note);
        }
        if let Some(next) = &self.next {
            push_line(&mut out, "Next: ", next);
        }
        finish(out)
    }
}

impl Report {
    /// The state in one sentence.
    fn headline(&self) -> String {
        let session = &self.session;
        match self.state {
            SessionState::Starting => {
                let mut line = format!("{session} is still starting{}", self.waited());
                if let Some(progress) = &self.progress {
                    line.push_str(": ");
                    // What a build tool says may end with dots of its own.
                    line.push_str(progress.trim().trim_end_matches('.'));
                }
                line.push('.');
                line
            }
            SessionState::Running if self.waited_ms.is_some() => {
                format!("{session} is still running{}.", self.waited())
            }
            SessionState::Running => format!("{session} is running."),
            SessionState::Stopped => {
                let reasons = self.stop.as_ref().map(stop_reasons).unwrap_or_default();
                let place = self.stop.as_ref().map(place).unwrap_or_default();
                format!("{session} stopped: {reasons}{place}.")
            }
            SessionState::Exited if self.tests.is_some() => {
                let how = self.exit.as_ref().map_or_else(|| "has ended".into(), exit);
                format!("{session} has run its tests; their host {how}.")
            }
            SessionState::Exited => {
                let how = self.exit.as_ref().map_or_else(|| "has ended".into(), exit);
                format!("{session} {how}.")
            }
            SessionState::Detached => match (self.pid, &self.exit) {
                (Some(pid), Some(end)) => format!(
                    "{session} let go of process {pid}; since then it {}.",
                    exit(end)
                ),
                (Some(pid), None) => format!(
                    "{session} let go of process {pid}, which runs on without the debugger."
                ),
                (None, _) => {
                    format!("{session} let go of its program, which runs on without the debugger.")
                }
            },
            SessionState::Failed => format!("{session} failed."),
        }
    }

    fn waited(&self) -> String {
        match self.waited_ms {
            Some(0) | None => String::new(),
            Some(waited @ 1..1000) => format!(" after {waited} ms"),
            // Whoever asked for 1.5 s is not to read that it was less.
            Some(waited) => match waited % 1000 / 100 {
                0 => format!(" after {} s", waited / 1000),
                tenths => format!(" after {}.{tenths} s", waited / 1000),
            },
        }
    }

    /// What is being debugged; told only where it is new.
    fn identity(&self) -> Option<String> {
        let program = self.program.as_ref()?;
        let mut line = match self.origin {
            Some(origin) => {
                let (first, rest) = origin.split_at_checked(1)?;
                format!("{}{rest} {program}", first.to_uppercase())
            }
            None => program.clone(),
        };
        if let Some(pid) = self.pid {
            // Writing to a String cannot fail.
            let _ = write!(line, ", process {pid}");
        }
        if let Some(runtime) = &self.runtime {
            let _ = write!(line, ", .NET {runtime}");
        }
        line.push('.');
        Some(line)
    }
}

impl Render for Overview {
    fn render_for(&self, _: Reader) -> String {
        if self.sessions.is_empty() {
            return "There is no session. Next: debug_launch starts a program, debug_attach takes a running one.".into();
        }
        let reports: Vec<_> = self.sessions.iter().map(Render::render).collect();
        let mut out = reports.join("\n\n");
        if self.left_out > 0 {
            let _ = write!(out, "\n\n({} older sessions are not shown)", self.left_out);
        }
        if self.shortened {
            out.push_str("\n\nShortened: debug_status with session tells one of them whole.");
        }
        out
    }
}

impl Render for OutputPageReport {
    fn render_for(&self, _: Reader) -> String {
        let elsewhere = "The output of this program is not captured: it was running before ndbg came, and writes where it always did.";
        // What breakpoints logged is ours, and there all the same.
        if self.elsewhere && self.end == 0 {
            return elsewhere.into();
        }
        let mut out = String::new();
        if self.elsewhere {
            let _ = writeln!(out, "{elsewhere} What breakpoints logged:");
        }
        if self.skipped > 0 {
            let _ = write!(
                out,
                "({} before this are not shown",
                text::bytes(self.skipped)
            );
            push_lost(&mut out, self.lost);
            out.push_str(")\n");
        }
        push_chunks(&mut out, &self.chunks);
        if self.chunks.is_empty() {
            out.push_str(match self.matches {
                Some(_) => "No line matches.\n",
                None if self.end == 0 => "The program has written nothing.\n",
                None => "There is nothing there.\n",
            });
        }
        if self.invalid_bytes > 0 {
            let _ = writeln!(
                out,
                "({} were not UTF-8, shown as \u{fffd})",
                text::bytes(self.invalid_bytes)
            );
        }
        let end = if self.cursor < self.end {
            format!(
                "{} more follow: read on with cursor={}.",
                text::bytes(self.end - self.cursor),
                self.cursor
            )
        } else if self.closed {
            "That is all: the program has closed its output.".into()
        } else {
            format!(
                "That is all so far; cursor={} reads what comes after it.",
                self.cursor
            )
        };
        out.push_str(&end);
        out
    }
}

impl Render for InputReport {
    fn render_for(&self, reader: Reader) -> String {
        let closed = if self.closed { " and closed it" } else { "" };
        let wrote = format!(
            "Wrote {} to standard input of {}{closed}.",
            text::bytes(self.accepted),
            self.session
        );
        match reader {
            Reader::Agent => format!("{wrote} Next: {}", self.next),
            Reader::Person => wrote,
        }
    }
}

impl Render for ProcessesReport {
    fn render_for(&self, _: Reader) -> String {
        if self.processes.is_empty() {
            return match self.others {
                0 => "No .NET process is running.".into(),
                1 => "One .NET process is running, and it does not have that name in its command line: process_list without name shows it.".into(),
                others => format!("{others} .NET processes are running, and none of them has that name in its command line: process_list without name shows them."),
            };
        }
        let mut out = String::new();
        for process in &self.processes {
            let runtime = process.runtime.as_deref().unwrap_or("?");
            let _ = write!(
                out,
                "{}  .NET {runtime}  {}  {}",
                process.pid, process.user, process.command_line
            );
            match (&process.session, &process.reason) {
                (Some(session), _) => {
                    let _ = write!(out, "  (debugged by {session})");
                }
                (None, Some(reason)) => {
                    let _ = write!(out, "  (cannot be attached: {reason})");
                }
                (None, None) => {}
            }
            out.push('\n');
        }
        if self.left_out > 0 {
            let _ = writeln!(out, "({} more are not shown: use name)", self.left_out);
        }
        finish(out)
    }
}

fn stop_reasons(stop: &StopReport) -> String {
    let of = |reason: &Reason| {
        let ids: Vec<_> = reason.breakpoints.iter().map(u32::to_string).collect();
        match ids.as_slice() {
            [] => String::new(),
            [only] => format!(", breakpoint {only}"),
            several => format!(", breakpoints {}", several.join(", ")),
        }
    };
    let handler = stop.handler.as_ref();
    let nobody_catches = handler.is_some_and(|it| it.kind == "nobody");
    // A breakpoint for exceptions that nobody catches says all that the stop by itself says.
    let named = |it: &Reason| it.kind == Reason::UNHANDLED && !it.breakpoints.is_empty();
    let is_named = stop.reasons.iter().any(named);
    let again = if stop.rethrown { " again" } else { "" };
    let said = |reason: &Reason| match &reason.detail {
        Some(message) => format!(": {}", text::quoted(message, usize::MAX)),
        None => String::new(),
    };
    let reason = |reason: &Reason| match (reason.kind, reason.breakpoints.as_slice()) {
        ("entry", _) => "at the entry of the program".into(),
        (Reason::PAUSED, _) => "paused".into(),
        ("breakpoint", [only]) => format!("at breakpoint {only}"),
        ("breakpoint", several) => {
            let ids: Vec<_> = several.iter().map(u32::to_string).collect();
            format!("at breakpoints {}", ids.join(", "))
        }
        ("step", _) => match stop.steps {
            Some(steps) => format!("after {} steps", steps.made),
            None => "after the step".into(),
        },
        ("run_to", _) => "at the place that was run to".into(),
        ("goto", _) => "the statement that runs next was set".into(),
        (Reason::UNHANDLED, _) => format!("unhandled exception{}", of(reason)),
        ("debugger_break", _) => "at a call of Debugger.Break()".into(),
        (Reason::THROWN, _) if nobody_catches => {
            format!(
                "an exception was thrown{again} that nobody catches{}",
                of(reason)
            )
        }
        (Reason::THROWN, _) => format!("an exception was thrown{again}{}", of(reason)),
        (Reason::USER_UNHANDLED, _) => format!("an exception left the user's code{}", of(reason)),
        ("assertion_failed", _) => format!("an assertion failed{}", said(reason)),
        (Reason::FAIL_FAST, _) => format!("the program gives up (FailFast){}", said(reason)),
        ("condition_failed", ids) => {
            let ids: Vec<_> = ids.iter().map(u32::to_string).collect();
            let why = reason.detail.as_deref().unwrap_or("it has no value");
            format!(
                "the condition of breakpoint {} failed: {why}",
                ids.join(", ")
            )
        }
        (other, _) => other.to_owned(),
    };
    let mut text = stop
        .reasons
        .iter()
        .filter(|it| it.kind != Reason::UNHANDLED || !is_named || named(it))
        .map(reason)
        .collect::<Vec<_>>()
        .join("; ");
    if let Some(steps) = stop.steps.filter(|steps| steps.made < steps.asked) {
        let _ = write!(text, ", after {} of {} steps", steps.made, steps.asked);
    }
    if let Some(thread) = stop.thread {
        let _ = write!(text, " (thread {thread})");
    }
    text
}

pub(crate) fn exit(exit: &ExitReport) -> String {
    match (&exit.signal, exit.code, &exit.unknown) {
        (Some(_), _, _) if exit.by_debugger => "was ended by the debugger".into(),
        (Some(signal), Some(code), _) => {
            format!("was ended by {signal} (exit code {code} in a shell)")
        }
        (Some(signal), None, _) => format!("was ended by {signal}"),
        (None, Some(code), _) => format!("exited with code {code}"),
        (None, None, Some(reason)) => format!("has ended; its exit code is not known: {reason}"),
        (None, None, None) => "has ended".into(),
    }
}

/// `, in Order.Total() at /src/shop.cs:20`: where the thread is, and the nearest place with source.
fn place(stop: &StopReport) -> String {
    let Some(first) = stop.frames.first() else {
        return String::new();
    };
    let mut text = format!(", in {}", first.method);
    let thrown_at = stop.exceptions.first().and_then(|it| it.thrown_at.as_ref());
    let shown = shown_frame(stop);
    let link = stop.awaits.as_ref().and_then(AwaitsReport::innermost);
    if let Some((method, file, line)) = link.filter(|_| shown.is_none()) {
        let _ = write!(text, ", waiting for {method} at {file}:{line}");
    }
    if let Some(frame) = shown {
        if frame.index != first.index {
            let _ = write!(text, ", called from {}", frame.method);
        }
        if let (Some(file), Some(line)) = (&frame.file, frame.line) {
            let _ = write!(text, " at {file}:{line}");
            if let Some(column) = column_to_tell(stop, line, frame.column) {
                let _ = write!(text, ":{column}");
            }
        }
    }
    // The one whose variables are told, where nothing has source.
    let own = stop.frames.iter().find(|it| !it.is_framework());
    if let Some(own) =
        own.filter(|it| shown.is_none() && it.index != first.index && !stop.exceptions.is_empty())
    {
        let _ = write!(text, ", called from {}", own.method);
    }
    if let Some(origin) = thrown_at {
        let _ = write!(text, ", first thrown in {}", origin.told());
    }
    text
}

/// The frame whose source is told, as `build` chose it.
fn shown_frame(stop: &StopReport) -> Option<&FrameReport> {
    let mut with_source = stop.frames.iter().filter(|frame| frame.file.is_some());
    let users = with_source
        .clone()
        .find(|frame| frame.kind == "user" && !stop.exceptions.is_empty());
    users.or_else(|| with_source.next())
}

/// The column of the statement, if others are before it on the line.
fn column_to_tell(stop: &StopReport, line: u32, column: Option<u32>) -> Option<u32> {
    let column = column?;
    let text = &stop.source.iter().find(|it| it.line == line)?.text;
    let first = text.len() - text.trim_start().len();
    (column as usize > first + 1).then_some(column)
}

/// An exception and its inner ones, a line each.
pub(super) fn push_exceptions(out: &mut String, exceptions: &[ExceptionEntry]) {
    for exception in exceptions {
        let (indent, label) = if exception.depth == 0 {
            (0, "Exception")
        } else {
            // A chain may be long; nobody counts blanks.
            (2 * exception.depth.min(10) as usize, "caused by")
        };
        let _ = write!(out, "{:indent$}{label} {}", "", exception.type_name);
        if let Some(message) = &exception.message {
            let _ = write!(out, ": {}", text::quoted(message, usize::MAX));
        }
        if let Some(class) = &exception.message_overridden_by {
            let made = exception
                .message
                .as_ref()
                .map_or("", |_| ": this is the text it was made with");
            // Also the words of `engine::exceptions::messages`. The message of this one is its own; it names those of the others.
            let whose = match exception.type_name.as_str() {
                "System.AggregateException" => "it names the Message",
                _ => "its Message is that",
            };
            let _ = write!(out, " ({whose} of {class}, which needs code to run{made})");
        }
        // That of the outermost is in the headline.
        if let Some(origin) = exception.thrown_at.as_ref().filter(|_| exception.depth > 0) {
            let _ = write!(out, ", thrown in {}", origin.told());
        }
        out.push('\n');
    }
}

fn push_stop(out: &mut String, stop: &StopReport, reader: Reader) {
    push_exceptions(out, &stop.exceptions);
    if stop.more_exceptions > 0 {
        let _ = writeln!(
            out,
            "  … {} more: {} tells them",
            stop.more_exceptions,
            reader.words("exception_get", "`info exception`")
        );
    }
    if let Some(handler) = &stop.handler
        && let Some(line) = handler.render()
    {
        push_line(out, "", &line);
    }
    if !stop.queued_threads.is_empty() {
        let ids: Vec<_> = stop.queued_threads.iter().map(u32::to_string).collect();
        let (threads, have) = if ids.len() == 1 {
            ("Thread", "has")
        } else {
            ("Threads", "have")
        };
        let line = format!(
            "{threads} {} {have} reached a breakpoint at the same time: that stop comes after the next resume.",
            ids.join(", ")
        );
        push_line(out, "", &line);
    }
    push_source(out, &stop.source);
    if let Some(file) = &stop.changed_source {
        let file = super::breakpoints::file_name(file);
        let how = reader.words(
            "debug_restart builds a project again, source_get shows it as it is now",
            "`list` shows it as it is now",
        );
        let _ = writeln!(
            out,
            "{file} was changed since the program was built: lines are told as they were then, and not shown ({how})."
        );
    }
    if reader == Reader::Person {
        push_for_person(out, stop);
        return;
    }
    if !stop.variables.is_empty() {
        push_variables(out, &stop.variables, 2);
        if stop.more_variables > 0 {
            let _ = writeln!(
                out,
                "  … {} more: variables_get tells them",
                stop.more_variables
            );
        }
    }
    // The path of the place is in the headline.
    let mut known: Vec<_> = shown_frame(stop)
        .and_then(|frame| frame.file.clone())
        .into_iter()
        .collect();
    push_frames(out, &stop.frames, &mut known);
    if stop.more_frames {
        out.push_str("  … it goes on: stacktrace_get tells all\n");
    }
    if let Some(awaits) = &stop.awaits {
        awaits.push(out);
    }
}

/// A person sees the source and asks for the rest: told is what changed or was returned, and the way to an exception.
fn push_for_person(out: &mut String, stop: &StopReport) {
    let is_news = |it: &&VariableEntry| {
        it.was.is_some() || it.changed_inside || it.name.starts_with(RETURNED)
    };
    let changed = stop.variables.iter().filter(is_news);
    let changed: Vec<_> = changed.cloned().collect();
    push_variables(out, &changed, 2);
    if !stop.exceptions.is_empty() || stop.source.is_empty() {
        push_frames(out, &stop.frames, &mut Vec::new());
        if stop.more_frames {
            out.push_str("  … it goes on: `backtrace` shows all\n");
        }
    }
    if let Some(awaits) = &stop.awaits
        && (awaits.blocked_frame.is_some() || !stop.exceptions.is_empty())
    {
        awaits.push(out);
    }
}

/// Source lines with their numbers, the current one marked.
pub(super) fn push_source(out: &mut String, lines: &[SourceLine]) {
    let width = lines.last().map_or(0, |last| last.line.to_string().len());
    for line in lines {
        let mark = if line.current { '>' } else { ' ' };
        let _ = writeln!(out, "{mark} {:width$} | {}", line.line, line.text);
    }
}

/// Says that some of what is not shown cannot be had any more.
fn push_lost(out: &mut String, lost: u64) {
    if lost > 0 {
        let _ = write!(
            out,
            ", {} of them are gone because only the newest 2 MiB are kept",
            text::bytes(lost)
        );
    }
}

fn push_output(out: &mut String, output: &OutputReport) {
    out.push_str("Output since the last report");
    if let (1.., Some(from)) = (output.left_out, output.left_out_from) {
        let _ = write!(
            out,
            " (its last part; {} before it are not shown",
            text::bytes(output.left_out)
        );
        push_lost(out, output.lost);
        if output.left_out > output.lost {
            let rest = if output.lost > 0 { "the rest" } else { "them" };
            let _ = write!(out, ", process_output with cursor={from} reads {rest}");
        }
        out.push(')');
    }
    out.push_str(":\n");
    push_chunks(out, &output.chunks);
    if output.invalid_bytes > 0 {
        let _ = writeln!(
            out,
            "({} were not UTF-8, shown as \u{fffd})",
            text::bytes(output.invalid_bytes)
        );
    }
}

fn push_chunks(out: &mut String, chunks: &[Chunk]) {
    for chunk in chunks {
        let prefix = match chunk.stream {
            "stderr" => "err| ",
            "trace" => "log| ",
            _ => "out| ",
        };
        text::push_quoted_lines(out, prefix, &chunk.text);
    }
}

fn push_line(out: &mut String, label: &str, text: &str) {
    out.push_str(label);
    out.push_str(text);
    out.push('\n');
}

#[cfg(test)]
mod tests;
