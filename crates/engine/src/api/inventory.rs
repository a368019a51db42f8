//! Threads and modules of the program.

use serde::{Deserialize, Serialize};

use super::{Frame, OutputCursor, ThreadId};

/// A managed thread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ThreadReport {
    /// Its operating system id.
    pub id: ThreadId,
    /// Its name, if the program gave it one.
    pub name: Option<String>,
    /// What it is doing.
    pub activity: ThreadActivity,
    /// Whether it does not keep the program alive.
    pub background: bool,
    /// Whether it belongs to the thread pool.
    pub pool: bool,
    /// Whether it stays stopped when the program runs.
    pub frozen: bool,
    /// Whether it reported the stop.
    pub current: bool,
    /// Its innermost frame of the user's code, else its innermost one.
    pub top: Option<Frame>,
    /// The method of others that the user's code in `top` has called, and that has not returned.
    #[serde(default)]
    pub called: Option<String>,
    /// The lock that it waits for.
    pub lock: Option<AwaitedLock>,
}

/// A lock that a thread waits for: that of an object (`Monitor`), or a `System.Threading.Lock`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AwaitedLock {
    /// The type of the object; [`AwaitedLock::LOCK`] for a lock that is none of an object.
    pub type_name: String,
    /// Where the object lies.
    pub address: u64,
    /// Who holds the lock, if somebody does.
    pub holder: Option<ThreadId>,
    /// Whether the thread waits to be pulsed (`Monitor.Wait`), and not for the lock itself.
    pub pulse: bool,
    /// Whether the thread gives up after a while, or may.
    #[serde(default)]
    pub limited: bool,
}

impl AwaitedLock {
    /// The name of the framework's type of locks, told in full only of a lock that is entered as one.
    pub const LOCK: &str = "System.Threading.Lock";
}

/// What a thread was doing when the program stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThreadActivity {
    /// Running managed code.
    Running,
    /// In a wait, a sleep or a join.
    Waiting,
    /// In native code.
    Native,
    /// Not started yet.
    Unstarted,
    /// Ended.
    Stopped,
}

/// A loaded module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleReport {
    /// File name, or a bare name for one that is not a file.
    pub name: String,
    /// Path, if it is a file.
    pub path: Option<String>,
    /// Assembly version, such as 1.2.0.0.
    pub version: Option<String>,
    /// Identity of this very build.
    pub mvid: Option<String>,
    /// Whether it has symbols that match.
    pub symbols: bool,
    /// Where the symbols are, or why there are none.
    pub symbols_detail: String,
    /// The file with the symbols, if they are in one of their own.
    #[serde(default)]
    pub symbols_file: Option<String>,
    /// Whether its compiler optimised it; absent if it does not say.
    pub optimized: Option<bool>,
    /// Whether the runtime compiles it without regard for debuggers; absent if it does not say.
    #[serde(default)]
    pub optimized_code: Option<bool>,
    /// Whether it counts as the user's code.
    pub user_code: bool,
    /// Whether code is emitted into it while the program runs.
    pub dynamic: bool,
    /// Whether it exists only in memory.
    pub in_memory: bool,
}

/// A message that the program wrote for its debugger. The text is also in the captured output, in its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogMessage {
    /// The thread that wrote it.
    pub thread: Option<ThreadId>,
    /// Its level: 0 for the lowest.
    pub level: i32,
    /// Its category; empty for none.
    pub category: String,
    /// Its text.
    pub text: String,
    /// Where in the captured output it begins.
    pub at: OutputCursor,
}
