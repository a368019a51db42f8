//! Stacks, frames and threads, and which of them is looked at.

use host::api::{Error, Frame, Reply, Request, ThreadId, VariableScope};
use report::awaits::AwaitsReport;
use report::inventory::ThreadsReport;
use report::stack::{self, FrameReport, StackReport};
use report::{Reader, Render as _, gather, source};

use super::{data, nothing};
use crate::failure::{unexpected, usage};
use crate::place::Spot;
use crate::repl::Repl;
use crate::stop::NAME;
use crate::words;

/// Frames shown unless asked otherwise.
const FRAMES: u32 = 40;
/// Frames that can be looked at.
const ALL: u32 = 10_000;
/// Frames shown with their variables.
const FULL: u32 = 10;

/// Frames of a thread, from one on; the thread and whether there are more.
fn frames(
    repl: &Repl,
    thread: Option<ThreadId>,
    start: u32,
    count: u32,
) -> Result<StackPart, Error> {
    let request = Request::Stack {
        thread,
        start,
        count,
    };
    match repl.ask(request)? {
        Reply::Stack {
            stop,
            thread,
            frames,
            more,
            total,
        } => Ok(StackPart {
            stop: stop.0,
            thread,
            frames,
            more,
            total,
        }),
        _ => Err(unexpected()),
    }
}

struct StackPart {
    stop: u32,
    thread: ThreadId,
    frames: Vec<Frame>,
    more: bool,
    total: u32,
}

impl Repl {
    /// Where the frame that is looked at is in the source; none if there is no program or no source.
    pub(crate) fn here(&self) -> Result<Option<Spot>, Error> {
        let stopped = self
            .status()
            .is_some_and(|it| it.state == host::api::State::Stopped);
        if !stopped {
            return Ok(None);
        }
        let focus = self.focus();
        let part = frames(self, focus.thread, focus.frame, 1)?;
        let place = part.frames.first().and_then(|frame| frame.source.as_ref());
        Ok(place.map(Spot::of))
    }

    /// The same; of a program that runs, where it stopped last.
    pub(crate) fn here_or_last(&self) -> Result<Option<Spot>, Error> {
        let running = self
            .status()
            .is_some_and(|it| it.state == host::api::State::Running);
        match running {
            true => Ok(self.last_spot.clone()),
            false => self.here(),
        }
    }
}

pub(super) fn backtrace(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    let (full, count) = match words::first(arguments) {
        ("full" | "-full", count) => (true, count),
        _ => (false, arguments),
    };
    let count = match count {
        "" if full => FULL,
        "" => FRAMES,
        count => words::count(count)?.min(ALL),
    };
    let focus = repl.focus();
    let part = frames(repl, focus.thread, 0, count)?;
    if full {
        for frame in &part.frames {
            repl.say(&stack::line(frame));
            data::scope(repl, VariableScope::All, frame.index)?;
        }
        if part.more {
            repl.say("  … it goes on: `backtrace full N` shows more");
        }
        return Ok(());
    }
    let after = part.frames.last().map(|last| last.index + 1);
    let report = StackReport {
        session: NAME.into(),
        stop: part.stop,
        thread: part.thread.0,
        frames: part.frames.iter().map(FrameReport::from).collect(),
        awaits: awaits(repl, part.thread),
        more: part.more,
        next_start: after.filter(|_| part.more),
    };
    repl.say(&report.render_for(Reader::Person));
    Ok(())
}

/// Who awaits what a thread runs, and what it waits for.
fn awaits(repl: &Repl, thread: ThreadId) -> Option<AwaitsReport> {
    let thread = Some(thread);
    match repl.ask(Request::AsyncStack { thread }) {
        Ok(Reply::AsyncStack(stack)) => AwaitsReport::of(&stack),
        _ => None,
    }
}

pub(super) fn up(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    let frame = repl.focus().frame;
    let count = words::count(arguments)?;
    let thread = repl.focus().thread;
    let last = frames(repl, thread, 0, ALL)?.total.saturating_sub(1);
    if frame >= last {
        return Err(usage("this is the outermost frame; nothing called it"));
    }
    select(repl, thread, frame.saturating_add(count).min(last))
}

pub(super) fn down(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    let focus = repl.focus();
    let count = words::count(arguments)?;
    if focus.frame == 0 {
        return Err(usage("this is the innermost frame; it has called nothing"));
    }
    select(repl, focus.thread, focus.frame.saturating_sub(count))
}

pub(super) fn frame(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    let focus = repl.focus();
    let frame = match arguments {
        "" => focus.frame,
        text => words::number(text, "frame")?,
    };
    select(repl, focus.thread, frame)
}

/// Looks at a frame, and shows it.
fn select(repl: &mut Repl, thread: Option<ThreadId>, frame: u32) -> Result<(), Error> {
    let part = frames(repl, thread, frame, 1)?;
    let Some(found) = part.frames.first() else {
        let total = frames(repl, thread, 0, ALL)?.total;
        let message = format!("there is no frame {frame}; there are {total}");
        return Err(usage(message).hint("`backtrace` shows the frames with their numbers"));
    };
    repl.refocus(thread, frame);
    repl.listing.reset();
    let mut text = stack::line(found);
    if let Some(place) = &found.source {
        let lines = gather::lines(&|request| repl.ask(request), place);
        text.push_str(&source::excerpt_text(&lines.lines));
        if let Some(file) = &lines.changed {
            let file = report::text::one_line(file, 200);
            text.push_str(&format!(
                "{file} was changed since the program was built: its lines are not shown\n"
            ));
        }
    }
    repl.say(&text);
    Ok(())
}

pub(super) fn info_frame(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    nothing(arguments)?;
    let focus = repl.focus();
    let part = frames(repl, focus.thread, focus.frame, 1)?;
    let Some(frame) = part.frames.first() else {
        return Err(usage("there is no frame here"));
    };
    let mut text = format!("Thread {}:\n", part.thread.0);
    text.push_str(&stack::line(frame));
    if let Some(module) = &frame.module {
        text.push_str(&format!(
            "  module {}\n",
            report::text::one_line(module, 200)
        ));
    }
    if let Some(offset) = frame.il_offset {
        text.push_str(&format!("  IL offset {offset}\n"));
    }
    for (holds, word) in [
        (frame.is_async, "an async method"),
        (frame.optimized, "optimised: variables may be gone"),
        (!frame.user_code, "not the user's code"),
    ] {
        if holds {
            text.push_str(&format!("  {word}\n"));
        }
    }
    repl.say(&text);
    Ok(())
}

pub(super) fn thread(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    let (word, rest) = words::first(arguments);
    match word {
        "" => {
            let focus = repl.focus();
            let thread = frames(repl, focus.thread, focus.frame, 1)?.thread;
            repl.say(&format!("Thread {}:", thread.0));
            select(repl, focus.thread, focus.frame)
        }
        "apply" => apply(repl, rest),
        number => {
            let thread = Some(ThreadId(words::number(number, "thread")?));
            let part = frames(repl, thread, 0, FRAMES)?;
            let shown = part.frames.iter().find(|frame| frame.source.is_some());
            let frame = shown.map_or(0, |frame| frame.index);
            repl.say(&format!("Thread {}:", part.thread.0));
            if part.frames.is_empty() {
                repl.refocus(thread, 0);
                repl.say("  (no frames there)");
                return Ok(());
            }
            select(repl, thread, frame)
        }
    }
}

/// `thread apply all bt`.
fn apply(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    let (which, command) = words::first(arguments);
    if command.is_empty() {
        return Err(usage(
            "say which threads and which command: `thread apply all bt`",
        ));
    }
    let threads = match repl.ask(Request::Threads)? {
        Reply::Threads(threads) => threads,
        _ => return Err(unexpected()),
    };
    let wanted: Vec<_> = match which {
        "all" => threads.iter().map(|thread| thread.id).collect(),
        number => vec![ThreadId(words::number(number, "thread")?)],
    };
    let before = repl.focus();
    for id in wanted {
        repl.say(&format!("Thread {}:", id.0));
        repl.refocus(Some(id), 0);
        if let Err(error) = repl.command(command) {
            repl.refocus(before.thread, before.frame);
            return Err(error);
        }
        if repl.quit.is_some() {
            return Ok(());
        }
    }
    repl.refocus(before.thread, before.frame);
    Ok(())
}

pub(super) fn threads(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    nothing(arguments)?;
    show_threads(repl, Request::Threads)
}

fn show_threads(repl: &mut Repl, request: Request) -> Result<(), Error> {
    match repl.ask(request)? {
        Reply::Threads(threads) => {
            let mut report = ThreadsReport::of(NAME, &threads);
            for thread in report.awaiting() {
                thread.awaits = awaits(repl, ThreadId(thread.id));
            }
            repl.say(&report.render_for(Reader::Person));
            Ok(())
        }
        _ => Err(unexpected()),
    }
}

pub(super) fn freeze(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    switch(repl, arguments, true)
}

pub(super) fn thaw(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    switch(repl, arguments, false)
}

fn switch(repl: &mut Repl, arguments: &str, frozen: bool) -> Result<(), Error> {
    let thread = ThreadId(words::number(arguments, "thread")?);
    show_threads(repl, Request::Freeze { thread, frozen })
}
