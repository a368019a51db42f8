//! Stacks: the frames of a thread, and between them those who await what it runs.
//!
//! Where an async method was resumed after an await, its callers are not the frames below it. They are told right
//! behind it, between two labels, and count as frames like all others; their variables are not in reach.

use std::sync::Arc;

use host::api::{
    AsyncEnd, AsyncFrame, AsyncKind, Block, Frame, FrameKind, Reply, Request as EngineRequest,
    ThreadId, Variable as EngineVariable, VariableScope,
};

use crate::adapter::Adapter;
use crate::message::Refusal;
use crate::naming;
use crate::running::{FrameOf, thread_of};
use crate::settings::Shown;
use crate::types::{
    StackFrame, StackFrameFormat, StackFramePresentationHint, StackTraceArguments,
    StackTraceResponseBody, ValueFormat,
};
use crate::values::{Inside, Parent, query};

/// Frames that are told with the values of their arguments.
const VALUED: u32 = 50;

/// Frames told at once if the client does not say how many it wants.
const FRAMES: u32 = 1_000;

/// Who awaits what a thread runs, as it stands in the thread's stack.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    /// The place in the stack where it begins: behind the frame that was resumed.
    at: u32,
    links: Vec<Link>,
}

#[derive(Debug)]
enum Link {
    /// Says what is around it.
    Label(String),
    /// Somebody who awaits.
    Awaits(AsyncFrame),
}

impl Chain {
    fn len(&self) -> u32 {
        u32::try_from(self.links.len()).unwrap_or(u32::MAX)
    }

    /// How many frames of the thread come before a place in the stack.
    fn frames_before(&self, place: u32) -> u32 {
        if place <= self.at {
            return place;
        }
        place.saturating_sub(self.len()).max(self.at)
    }

    /// The links between two places in the stack.
    fn between(&self, start: u32, end: u32) -> &[Link] {
        let index = |place: u32| place.saturating_sub(self.at).min(self.len()) as usize;
        self.links.get(index(start)..index(end)).unwrap_or_default()
    }
}

impl Adapter {
    pub(crate) fn stack_trace(
        &mut self,
        arguments: StackTraceArguments,
    ) -> Result<StackTraceResponseBody, Refusal> {
        let start = arguments.start_frame.unwrap_or(0);
        let start = u32::try_from(start).unwrap_or(0);
        let levels = arguments
            .levels
            .and_then(|levels| u32::try_from(levels).ok());
        let count = levels.filter(|levels| *levels > 0).unwrap_or(FRAMES);
        let end = start.saturating_add(count);
        let thread = thread_of(arguments.thread_id)?;
        let chain = self.chain(thread);
        let (first, last) = (chain.frames_before(start), chain.frames_before(end));
        let reply = self.ask(EngineRequest::Stack {
            thread: Some(thread),
            start: first,
            // How many there are is told with some only.
            count: (last - first).max(1),
        })?;
        let Reply::Stack {
            stop,
            thread,
            mut frames,
            total,
            more,
        } = reply
        else {
            return Err(Refusal::new("internal", "a bug in ndbg: no stack was told"));
        };
        frames.retain(|frame| frame.index < last);
        let format = arguments.format.unwrap_or_default();
        let of = |index| FrameOf {
            stop,
            thread,
            index,
        };
        let behind = frames.partition_point(|frame| frame.index < chain.at);
        let behind = frames.split_off(behind);
        let mut told = Vec::with_capacity(frames.len() + behind.len() + chain.links.len());
        for frame in &frames {
            told.push(self.thread_frame(of(frame.index), frame, &format));
        }
        for link in chain.between(start, end) {
            told.push(self.link(of(chain.at), link, &format));
        }
        for frame in &behind {
            told.push(self.thread_frame(of(frame.index), frame, &format));
        }
        // More than was walked: the client asks on for as long as it gets frames.
        let total = i64::from(total) + i64::from(more) + i64::from(chain.len());
        Ok(StackTraceResponseBody {
            stack_frames: told,
            total_frames: Some(total),
        })
    }

    /// Who awaits what a thread runs; asked once for each stop.
    fn chain(&mut self, thread: ThreadId) -> Arc<Chain> {
        if let Some(known) = self.chains.get(&thread) {
            return known.clone();
        }
        let request = EngineRequest::AsyncStack {
            thread: Some(thread),
        };
        let Ok(Reply::AsyncStack(found)) = self.ask(request) else {
            // A stack without it is better than none.
            return Arc::default();
        };
        let mut chain = Chain::default();
        if let Some(resumed) = found.resumed {
            chain.at = resumed.saturating_add(1);
            let awaits = !found.awaiting.is_empty();
            if awaits {
                chain.links.push(Link::Label("[awaited by]".into()));
            }
            chain
                .links
                .extend(found.awaiting.into_iter().map(Link::Awaits));
            let label = found.end.as_ref().map(|end| label_of(end, awaits));
            chain.links.extend(label.map(Link::Label));
        }
        let chain = Arc::new(chain);
        self.chains.insert(thread, chain.clone());
        chain
    }

    fn thread_frame(
        &mut self,
        of: FrameOf,
        frame: &Frame,
        format: &StackFrameFormat,
    ) -> StackFrame {
        let with_values = format.parameter_values == Some(true) && frame.index < VALUED;
        let values = with_values.then(|| self.values_of_arguments(of, format));
        let number = self.frames.number(of);
        self.frame(number, frame, format, values.as_deref())
    }

    /// A link of a chain as a frame.
    fn link(&mut self, of: FrameOf, link: &Link, format: &StackFrameFormat) -> StackFrame {
        let number = self.frames.number_suspended(of);
        match link {
            Link::Label(text) => StackFrame {
                id: number,
                name: text.clone(),
                presentation_hint: Some(StackFramePresentationHint::Label),
                ..StackFrame::default()
            },
            Link::Awaits(link) => {
                let is_method = matches!(link.kind, AsyncKind::Method | AsyncKind::Iterator);
                let frame = Frame {
                    method: link.method.clone(),
                    module: link.module.clone(),
                    source: link.source.clone(),
                    user_code: link.user_code,
                    kind: match (link.user_code, is_method) {
                        (true, _) => FrameKind::User,
                        (false, true) => FrameKind::External,
                        (false, false) => FrameKind::Transition,
                    },
                    ..Frame::default()
                };
                let mut told = self.frame(number, &frame, format, None);
                match link.others {
                    0 => {}
                    1 => told.name.push_str(" (and 1 other)"),
                    others => told.name.push_str(&format!(" (and {others} others)")),
                }
                told
            }
        }
    }

    /// The arguments of a frame, as far as they can be told.
    fn values_of_arguments(&self, of: FrameOf, format: &StackFrameFormat) -> Vec<EngineVariable> {
        let format = ValueFormat { hex: format.hex };
        let parent = Parent {
            frame: of,
            inside: Inside::Scope(VariableScope::Arguments),
        };
        let shown = Shown {
            run_code: false,
            ..self.shown
        };
        let query = query(&parent, Some(&format), shown);
        match self.ask(EngineRequest::Variables(Box::new(query))) {
            Ok(Reply::Variables(found)) => found.variables,
            _ => Vec::new(),
        }
    }

    fn frame(
        &mut self,
        number: i32,
        frame: &Frame,
        format: &StackFrameFormat,
        values: Option<&[EngineVariable]>,
    ) -> StackFrame {
        let source = frame.source.as_ref().map(|source| {
            let path = source.path.to_string_lossy();
            self.source_of(&path, frame.user_code)
        });
        StackFrame {
            id: number,
            name: self.frame_name(frame, format, values),
            line: frame
                .source
                .as_ref()
                .map_or(0, |it| self.client_line(it.line.0)),
            column: frame
                .source
                .as_ref()
                .and_then(|it| it.column)
                .map_or(0, |column| self.client_column(column)),
            module_id: frame.module.clone().map(serde_json::Value::String),
            presentation_hint: match frame.kind {
                FrameKind::User => None,
                // Not a method: nothing to go to.
                FrameKind::Transition => Some(StackFramePresentationHint::Label),
                _ => Some(StackFramePresentationHint::Subtle),
            },
            source,
            ..StackFrame::default()
        }
    }

    /// The name of a frame, with what the client asks for beyond it.
    fn frame_name(
        &self,
        frame: &Frame,
        format: &StackFrameFormat,
        values: Option<&[EngineVariable]>,
    ) -> String {
        let mut name = naming::method(&frame.method, format, values);
        if format.module == Some(true)
            && let Some(module) = &frame.module
        {
            name = format!("{module}!{name}");
        }
        if format.line == Some(true)
            && let Some(source) = &frame.source
        {
            name = format!("{name} Line {}", self.client_line(source.line.0));
        }
        match frame.block {
            Some(Block::Catch) => name.push_str(" [catch]"),
            Some(Block::Filter) => name.push_str(" [when]"),
            Some(Block::Finally) => name.push_str(" [finally]"),
            None => {}
        }
        name
    }
}

/// What stands where a chain of awaits ends.
fn label_of(end: &AsyncEnd, awaits: bool) -> String {
    let what = if awaits { "the last one" } else { "this" };
    match end {
        AsyncEnd::Nobody => format!("[nobody awaits {what} now]"),
        AsyncEnd::AsyncVoid => format!("[{what} is async void: nobody can await it]"),
        AsyncEnd::Blocks {
            thread: Some(thread),
        } => format!("[thread {} is blocked until {what} is done]", thread.0),
        AsyncEnd::Blocks { thread: None } => {
            format!("[a thread is blocked until {what} is done]")
        }
        AsyncEnd::Completed => format!("[{what} is done]"),
        AsyncEnd::Unknown(why) => format!("[who awaits {what} is not known: {why}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chain_stands_behind_the_frame_that_was_resumed() {
        let links = (0..3).map(|it| Link::Label(it.to_string())).collect();
        let chain = Chain { at: 2, links };
        let before: Vec<_> = (0..8).map(|it| chain.frames_before(it)).collect();
        assert_eq!(before, [0, 1, 2, 2, 2, 2, 3, 4]);
        for (start, end, count) in [(0, 2, 0), (0, 3, 1), (3, 5, 2), (4, 9, 1), (5, 9, 0)] {
            let between = chain.between(start, end);
            assert_eq!(between.len(), count, "{start}..{end}");
        }
    }
}
