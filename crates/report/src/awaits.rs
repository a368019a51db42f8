//! Chains of awaits as an agent sees them: who awaits what a thread runs, and what a thread waits for.

use std::fmt::Write as _;

use engine::api::{AsyncEnd, AsyncFrame, AsyncKind, AsyncStack};
use schemars::JsonSchema;
use serde::Serialize;

use super::breakpoints::file_name;
use super::{is_zero, text};

/// Links told of one chain.
const LINKS: usize = 20;
/// Links told of who awaits a method where that is told beside other things.
const LINKS_IN_SHORT: usize = 5;
/// Characters told of a name or path.
const NAME: usize = 200;

/// Who awaits what a thread runs, and what it waits for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct AwaitsReport {
    /// The frame that was resumed after an await, or that a task runs: its callers are those in `awaiting`, not the frames below it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resumed_frame: Option<u32>,
    /// Whether a task runs it.
    #[serde(skip)]
    pub is_of_task: bool,
    /// Who awaits the resumed method, nearest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub awaiting: Vec<AwaitEntry>,
    /// How that chain ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// The frame that is blocked until a task is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked_frame: Option<u32>,
    /// What it waits for, and what that waits for, and so on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<AwaitEntry>,
    /// Why that chain does not go on, if it should.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits_for_end: Option<String>,
    /// Links of the chains that are not told.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: u32,
}

/// One link of a chain of awaits.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct AwaitEntry {
    /// `method`, `iterator`, `combinator` (such as WhenAll), `continuation` or `task`.
    pub kind: &'static str,
    /// The method that is suspended, or what it is.
    pub method: String,
    /// Source file of the await.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Its 1-based line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// How many others wait for the same beside this one.
    #[serde(skip_serializing_if = "is_zero")]
    pub others: u32,
}

impl From<&AsyncFrame> for AwaitEntry {
    fn from(frame: &AsyncFrame) -> Self {
        let source = frame.source.as_ref();
        Self {
            kind: match frame.kind {
                AsyncKind::Method => "method",
                AsyncKind::Iterator => "iterator",
                AsyncKind::Combinator => "combinator",
                AsyncKind::Continuation => "continuation",
                AsyncKind::Task => "task",
            },
            method: text::one_line(&frame.method, NAME),
            file: source.map(|it| text::one_line(&it.path.to_string_lossy(), NAME)),
            line: source.map(|it| it.line.0),
            others: frame.others,
        }
    }
}

impl AwaitsReport {
    /// From the engine's; none if the thread has nothing to do with awaits.
    pub fn of(stack: &AsyncStack) -> Option<Self> {
        Self::with(stack, stack.awaiting.iter().take(LINKS))
    }

    /// The same for a report: of who awaits a resumed method only the user's code, unless none of it is.
    pub fn in_short(stack: &AsyncStack) -> Option<Self> {
        let any_user_code = stack.awaiting.iter().any(|it| it.user_code);
        let telling = stack
            .awaiting
            .iter()
            .filter(|it| it.user_code || !any_user_code)
            .take(LINKS_IN_SHORT);
        let mut report = Self::with(stack, telling)?;
        if report.awaiting.len() < stack.awaiting.len() && stack.end == Some(AsyncEnd::Nobody) {
            // That is said of the last link, which is not told.
            report.end = None;
        }
        Some(report)
    }

    fn with<'s>(
        stack: &'s AsyncStack,
        awaiting: impl Iterator<Item = &'s AsyncFrame>,
    ) -> Option<Self> {
        let mut report = Self {
            resumed_frame: stack.resumed,
            is_of_task: stack.is_of_task,
            awaiting: awaiting.map(AwaitEntry::from).collect(),
            end: stack.end.as_ref().map(end),
            ..Self::default()
        };
        let mut links = stack.awaiting.len();
        if let Some(blocked) = &stack.blocked {
            report.blocked_frame = Some(blocked.frame);
            report.waits_for = blocked
                .chain
                .iter()
                .take(LINKS)
                .map(AwaitEntry::from)
                .collect();
            links += blocked.chain.len();
            report.waits_for_end = blocked.incomplete.as_deref().map(|why| {
                format!(
                    "what it waits for is not known: {}",
                    text::one_line(why, 200)
                )
            });
        }
        let left_out = links - report.awaiting.len() - report.waits_for.len();
        report.left_out = u32::try_from(left_out).unwrap_or(u32::MAX);
        (report.resumed_frame.is_some() || report.blocked_frame.is_some()).then_some(report)
    }

    /// The innermost place with source that is waited for: method, file, line.
    pub(super) fn innermost(&self) -> Option<(&str, &str, u32)> {
        let at = |it: &AwaitEntry| it.file.is_some() && it.line.is_some();
        let link = self.waits_for.iter().rev().find(|it| at(it))?;
        Some((&link.method, link.file.as_deref()?, link.line?))
    }

    /// What that method awaits itself, if it is no method of the user's.
    pub(super) fn awaited_last(&self) -> Option<&str> {
        let last = self.waits_for.last()?;
        last.file.is_none().then_some(last.method.as_str())
    }

    /// Leaves so many links of each chain: of what is waited for the innermost, which tell most.
    pub(super) fn cut(&mut self, max: usize) {
        let more = self.awaiting.len().saturating_sub(max);
        self.awaiting.truncate(max);
        let before = self.waits_for.len().saturating_sub(max);
        self.waits_for.drain(..before);
        self.left_out += u32::try_from(more + before).unwrap_or(u32::MAX);
    }

    /// What there is to say, in lines.
    pub(super) fn push(&self, out: &mut String) {
        // Writing to a String cannot fail.
        if let Some(frame) = self.resumed_frame {
            let how = match self.is_of_task {
                true => "is run by a task, which",
                false => "was resumed after an await; it",
            };
            let _ = writeln!(out, "Frame #{frame} {how} is awaited by:");
            push_chain(out, &self.awaiting, self.end.as_deref());
        }
        if let Some(frame) = self.blocked_frame {
            let _ = writeln!(out, "Frame #{frame} is blocked until this is done:");
            push_chain(out, &self.waits_for, self.waits_for_end.as_deref());
        }
        match self.left_out {
            0 => {}
            1 => out.push_str("  (1 link is not shown)\n"),
            more => {
                let _ = writeln!(out, "  ({more} links are not shown)");
            }
        }
    }
}

fn push_chain(out: &mut String, links: &[AwaitEntry], end: Option<&str>) {
    for link in links {
        let _ = write!(out, "  {}", link.method);
        if let (Some(file), Some(line)) = (&link.file, link.line) {
            let _ = write!(out, " at {}:{line}", file_name(file));
        }
        if link.others > 0 {
            let _ = write!(out, " (and {} others)", link.others);
        }
        out.push('\n');
    }
    if let Some(end) = end {
        let _ = writeln!(out, "  ({end})");
    }
}

fn end(end: &AsyncEnd) -> String {
    match end {
        AsyncEnd::Nobody => "nobody awaits it".into(),
        AsyncEnd::AsyncVoid => "it is async void: nobody can await it".into(),
        AsyncEnd::Blocks {
            thread: Some(thread),
        } => format!("thread {} is blocked on it", thread.0),
        AsyncEnd::Blocks { thread: None } => "a thread is blocked on it".into(),
        AsyncEnd::Completed => "it is done".into(),
        AsyncEnd::Unknown(why) => {
            format!("what comes next is not known: {}", text::one_line(why, 200))
        }
    }
}

#[cfg(test)]
mod tests {
    use engine::api::{Line, Source, StopId, ThreadId};

    use super::*;

    fn link(method: &str, user_code: bool) -> AsyncFrame {
        AsyncFrame {
            kind: AsyncKind::Method,
            method: method.into(),
            module: None,
            source: user_code.then(|| Source {
                path: "/src/shop.cs".into(),
                line: Line(7),
                column: None,
            }),
            il_offset: None,
            user_code,
            others: 0,
        }
    }

    #[test]
    fn beside_other_things_only_the_users_links_are_told() {
        let stack = AsyncStack {
            stop: StopId(1),
            thread: ThreadId(1),
            resumed: Some(0),
            is_of_task: false,
            awaiting: vec![
                link("Http", false),
                link("Shop.Price()", true),
                link("Loop", false),
            ],
            end: Some(AsyncEnd::Nobody),
            blocked: None,
        };
        let told = |report: Option<AwaitsReport>| {
            let mut out = String::new();
            report.expect("a report").push(&mut out);
            out
        };
        assert_eq!(
            told(AwaitsReport::in_short(&stack)),
            "Frame #0 was resumed after an await; it is awaited by:\n  Shop.Price() at shop.cs:7\n  (2 links are not shown)\n"
        );
        let framework = AsyncStack {
            awaiting: vec![link("Http", false)],
            ..stack
        };
        assert_eq!(
            told(AwaitsReport::in_short(&framework)),
            told(AwaitsReport::of(&framework))
        );
    }
}
