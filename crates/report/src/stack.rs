//! Stacks as an agent sees them: the user's own frames, with a word for the rest.

use std::fmt::Write as _;

use engine::api::{Block, Frame, FrameKind};
use schemars::JsonSchema;
use serde::Serialize;

use super::awaits::AwaitsReport;
use super::breakpoints::file_name;
use super::{Reader, Render, is_false, text};

/// Characters told of a method, a module or a path.
const NAME: usize = 200;

/// One frame of a stack.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct FrameReport {
    /// 0 is the innermost.
    pub index: u32,
    /// The method.
    pub method: String,
    /// File name of its module.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// Source file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// 1-based line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// 1-based column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// Offset in the method's IL, where there is no source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub il_offset: Option<u32>,
    /// Whose code it is: `user`, `external` (without symbols, or marked so), `hidden` (made by a compiler, or marked so),
    /// `transition` (between managed and native code) or `dynamic` (emitted at run time).
    pub kind: &'static str,
    /// Which block runs apart from the rest of the method: `catch`, `filter` or `finally`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<&'static str>,
    /// Whether its code is optimised: positions are approximate.
    #[serde(skip_serializing_if = "is_false")]
    pub optimized: bool,
}

/// The stack of a thread.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct StackReport {
    /// The session's id.
    pub session: String,
    /// The stop it belongs to.
    pub stop: u32,
    /// The thread.
    pub thread: u32,
    /// The frames, innermost first.
    pub frames: Vec<FrameReport>,
    /// Who awaits what the thread runs, and what it waits for, across async methods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub awaits: Option<AwaitsReport>,
    /// Whether the stack goes on.
    #[serde(skip_serializing_if = "is_false")]
    pub more: bool,
    /// The frame to go on with, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_start: Option<u32>,
}

impl From<&Frame> for FrameReport {
    fn from(frame: &Frame) -> Self {
        let short = |name: &str| text::one_line(name, NAME);
        let source = frame.source.as_ref();
        Self {
            index: frame.index,
            method: short(&frame.method),
            module: frame.module.as_deref().map(short),
            file: source.map(|source| short(&source.path.to_string_lossy())),
            line: source.map(|source| source.line.0),
            column: source.and_then(|source| source.column),
            il_offset: match source {
                Some(_) => None,
                None => frame.il_offset,
            },
            kind: match frame.kind {
                FrameKind::User => Self::USER,
                FrameKind::External => Self::EXTERNAL,
                FrameKind::Hidden => "hidden",
                FrameKind::Transition => "transition",
                FrameKind::Dynamic => "dynamic",
            },
            block: frame.block.map(|block| match block {
                Block::Catch => "catch",
                Block::Filter => "filter",
                Block::Finally => "finally",
            }),
            optimized: frame.optimized,
        }
    }
}

/// Whether a module is called as those of the framework are.
pub(crate) fn is_framework(module: Option<&str>) -> bool {
    module.is_none_or(|it| it.starts_with("System.") || it.starts_with("Microsoft."))
}

impl FrameReport {
    /// The kind of the user's own code.
    pub const USER: &str = "user";
    /// The kind of code without symbols, or marked as not the user's.
    pub const EXTERNAL: &str = "external";

    /// Whether its module is called as those of the framework are, or it has none.
    pub(crate) fn is_framework(&self) -> bool {
        is_framework(self.module.as_deref())
    }

    /// What is unusual about it, in words.
    fn remarks(&self) -> String {
        let mut remarks = Vec::new();
        match self.block {
            Some("filter") => remarks.push("in a when filter"),
            Some("finally") => remarks.push("in a finally block"),
            _ => {}
        }
        match self.kind {
            "hidden" => remarks.push("hidden"),
            "dynamic" => remarks.push("emitted at run time"),
            _ => {}
        }
        if self.optimized && self.kind == Self::USER {
            remarks.push("optimised");
        }
        if remarks.is_empty() {
            String::new()
        } else {
            format!(" ({})", remarks.join(", "))
        }
    }

    /// `Order.Total() at /src/shop.cs:20`.
    pub(super) fn told(&self, known: &mut Vec<String>) -> String {
        format!("{}{}", self.method, self.place(known))
    }

    /// ` at /src/shop.cs:20`, or where else it is; the whole path only where it is not `known`.
    fn place(&self, known: &mut Vec<String>) -> String {
        match (&self.file, self.line, &self.module) {
            (Some(file), Some(line), _) => {
                if known.contains(file) {
                    format!(" at {}:{line}", file_name(file))
                } else {
                    known.push(file.clone());
                    format!(" at {file}:{line}")
                }
            }
            (_, _, Some(module)) => format!(" in {module}"),
            _ => String::new(),
        }
    }
}

/// The frames worth telling in a stop report: the innermost one and the user's, at most `max`; how many of the frames
/// above the last one told were left out.
pub(super) fn most_telling(frames: &[Frame], max: usize) -> (Vec<FrameReport>, u32) {
    let any_user_code = frames.iter().any(|frame| frame.user_code);
    let told: Vec<_> = frames
        .iter()
        .filter(|frame| frame.index == 0 || frame.user_code || !any_user_code)
        .take(max)
        .map(FrameReport::from)
        .collect();
    let last = told.last().map_or(0, |last| last.index + 1);
    let hidden = last.saturating_sub(u32::try_from(told.len()).unwrap_or(u32::MAX));
    (told, hidden)
}

/// Frames as lines, with a word where some were left out. A file's path is told once; after that its name is enough.
pub(super) fn push_frames(out: &mut String, frames: &[FrameReport], known: &mut Vec<String>) {
    let mut expected = frames.first().map_or(0, |first| first.index);
    for frame in frames {
        push_gap(out, frame.index.saturating_sub(expected));
        expected = frame.index + 1;
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "  #{} {}{}",
            frame.index,
            frame.told(known),
            frame.remarks()
        );
    }
}

/// One frame as a line.
pub fn line(frame: &Frame) -> String {
    let mut out = String::new();
    push_frames(&mut out, &[FrameReport::from(frame)], &mut Vec::new());
    out
}

fn push_gap(out: &mut String, hidden: u32) {
    let _ = match hidden {
        0 => Ok(()),
        1 => writeln!(out, "  … 1 frame that is not the user's code"),
        hidden => writeln!(out, "  … {hidden} frames that are not the user's code"),
    };
}

impl Render for StackReport {
    fn render_for(&self, reader: Reader) -> String {
        let mut out = match reader {
            Reader::Agent => format!("Stack of thread {} of {}:\n", self.thread, self.session),
            Reader::Person => format!("Stack of thread {}:\n", self.thread),
        };
        if self.frames.is_empty() {
            out.push_str("  (no frames there)\n");
        }
        push_frames(&mut out, &self.frames, &mut Vec::new());
        if let Some(next) = self.next_start {
            let _ = match reader {
                Reader::Agent => writeln!(
                    out,
                    "  … it goes on: stacktrace_get with start={next} tells more"
                ),
                Reader::Person => {
                    writeln!(
                        out,
                        "  … it goes on: `backtrace {}` shows more",
                        next.saturating_mul(2)
                    )
                }
            };
        }
        if let Some(awaits) = &self.awaits {
            awaits.push(&mut out);
        }
        super::finish(out)
    }
}
