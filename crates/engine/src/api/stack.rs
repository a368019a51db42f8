//! Stacks as data: frames, and the chains of async methods that no thread is in.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Line, StopId, ThreadId};

/// One frame of a stack.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Frame {
    /// 0 is the innermost.
    pub index: u32,
    /// The method as a person writes it, with the arguments that generic ones run with: `Shop.Cart<int>.Total(int tax)`;
    /// for a frame without one, what it is.
    pub method: String,
    /// File name of the module.
    pub module: Option<String>,
    /// Where in the source it is, if that is known.
    pub source: Option<Source>,
    /// Offset in the method's IL.
    pub il_offset: Option<u32>,
    /// Whether it is the user's code: its kind is `user`.
    pub user_code: bool,
    /// Whose code it is.
    #[serde(default)]
    pub kind: FrameKind,
    /// Whether it is the body of an async method or an async iterator.
    #[serde(default)]
    pub is_async: bool,
    /// Whether its code is optimised: positions are approximate, and variables may be gone.
    #[serde(default)]
    pub optimized: bool,
    /// Which block of the method runs apart from the rest, if it does.
    #[serde(default)]
    pub block: Option<Block>,
}

/// Whose code a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FrameKind {
    /// The user's.
    User,
    /// Code without symbols, or marked as not the user's.
    #[default]
    External,
    /// Made by a compiler without source text, or marked as hidden from debuggers.
    Hidden,
    /// Not a method: a step between managed and native code, or work of the runtime.
    Transition,
    /// Emitted while the program runs.
    Dynamic,
}

/// A block of a method that handles an exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Block {
    /// A `catch` block.
    Catch,
    /// A `when` filter; the frames below it are still those that threw.
    Filter,
    /// A `finally` block on the way of an exception.
    Finally,
}

/// A place in a source file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The document's path as the compiler wrote it.
    pub path: PathBuf,
    /// The line.
    pub line: Line,
    /// 1-based column, if known.
    pub column: Option<u32>,
}

/// Who awaits what a thread runs, and what a thread waits for, across async methods. Read from fields: nothing runs in the program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AsyncStack {
    /// The stop it belongs to.
    pub stop: StopId,
    /// The thread asked for.
    pub thread: ThreadId,
    /// The frame of this thread that was resumed after an await: from there on the callers are those in `awaiting`, not the
    /// frames below. Absent if the thread runs no resumed async method.
    pub resumed: Option<u32>,
    /// Whether a task runs that frame (`Task.Run`), which was not resumed: who waits for the task is in `awaiting`.
    #[serde(default)]
    pub is_of_task: bool,
    /// Who awaits the resumed method, nearest first.
    pub awaiting: Vec<AsyncFrame>,
    /// Where the chain ends; absent if there is no chain.
    pub end: Option<AsyncEnd>,
    /// The task that the thread is blocked on, if it waits for one.
    pub blocked: Option<BlockedOn>,
}

/// One link of a chain of awaits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AsyncFrame {
    /// What it is.
    pub kind: AsyncKind,
    /// The method that is suspended; for what is not a method, what it is: `Task.WhenAll (2 of 3 are not done)`.
    pub method: String,
    /// File name of the module.
    pub module: Option<String>,
    /// The await where it is suspended.
    pub source: Option<Source>,
    /// The IL offset where it goes on.
    pub il_offset: Option<u32>,
    /// Whether it is the user's code.
    pub user_code: bool,
    /// How many others wait for the same thing beside this one.
    pub others: u32,
}

/// What a link of a chain of awaits is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AsyncKind {
    /// An async method that is suspended at an await.
    Method,
    /// An async iterator that is suspended.
    Iterator,
    /// `Task.WhenAll`, `Task.WhenAny` and their like.
    Combinator,
    /// A delegate that runs when the task is done: `ContinueWith`, `OnCompleted`.
    Continuation,
    /// A task that no async method stands behind: a delay, a `TaskCompletionSource`, `Task.Run`.
    Task,
}

/// How a chain of awaits ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AsyncEnd {
    /// Nobody awaits the last one now.
    Nobody,
    /// The last one is `async void`: nobody can await it.
    AsyncVoid,
    /// A thread is blocked until the last one is done.
    Blocks {
        /// Which, if it was found.
        thread: Option<ThreadId>,
    },
    /// The last one is done.
    Completed,
    /// What comes next is not known: the reason.
    Unknown(String),
}

/// A thread that is blocked until a task is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BlockedOn {
    /// The frame of the thread that waits for the task.
    pub frame: u32,
    /// What it waits for, and what that waits for, and so on: the last one is what everything waits for.
    pub chain: Vec<AsyncFrame>,
    /// Why the chain could not be followed to its end, if that is so.
    pub incomplete: Option<String>,
}
