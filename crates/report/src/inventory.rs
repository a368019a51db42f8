//! Threads and modules of the program as an agent sees them.

use std::fmt::Write as _;
use std::path::Path;

use engine::api::{ModuleReport, ThreadActivity, ThreadReport};
use schemars::JsonSchema;
use serde::Serialize;

use super::awaits::AwaitsReport;
use super::locks::{self, LockEntry};
use super::stack::{FrameReport, push_frames};
use super::{Reader, Render, is_false, is_zero, text};

/// Threads told to an agent at once.
const THREADS: usize = 50;
/// Modules told at once.
const MODULES: usize = 40;
/// Threads whose chains of awaits are told.
const BLOCKED: usize = 8;
/// Characters told of a name or path.
const NAME: usize = 200;

/// Threads of a program.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct ThreadsReport {
    /// The session's id.
    pub session: String,
    /// The one that reported the stop first, then the others.
    pub threads: Vec<ThreadEntry>,
    /// Threads after these that are not told.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: u32,
    /// The `start` that tells the next ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-minor" = true))]
    pub next_start: Option<u32>,
    /// Threads that wait in a circle: each for a lock that the next one holds, the last for one of the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-minor" = true))]
    pub deadlocks: Vec<Vec<u32>>,
}

/// One thread.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct ThreadEntry {
    /// Its operating system id.
    pub id: u32,
    /// Its name, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `running`, `waiting` (in a wait, a sleep or a join), `native`, `unstarted` or `stopped`.
    pub activity: &'static str,
    /// Whether it does not keep the program alive.
    #[serde(skip_serializing_if = "is_false")]
    pub background: bool,
    /// Whether it belongs to the thread pool.
    #[serde(skip_serializing_if = "is_false")]
    pub pool: bool,
    /// Whether it stays stopped when the program runs.
    #[serde(skip_serializing_if = "is_false")]
    pub frozen: bool,
    /// Whether it reported the stop.
    #[serde(skip_serializing_if = "is_false")]
    pub current: bool,
    /// Its innermost frame of the user's code, else its innermost one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top: Option<FrameReport>,
    /// The method of others that it is in: the user's frame has called it, and it has not returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-minor" = true))]
    pub called: Option<String>,
    /// Which async methods it waits for, if none of its frames is the user's.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-minor" = true))]
    pub awaits: Option<AwaitsReport>,
    /// The lock that it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-minor" = true))]
    pub lock: Option<LockEntry>,
}

/// Loaded modules of a program.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct ModulesReport {
    /// The session's id.
    pub session: String,
    /// The user's first.
    pub modules: Vec<ModuleEntry>,
    /// Modules that are not told.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: u32,
}

/// One module.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct ModuleEntry {
    /// File name, or a bare name for one that is not a file.
    pub name: String,
    /// Path, if it is a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Assembly version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Identity of this very build.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mvid: Option<String>,
    /// Whether it counts as the user's code.
    pub user_code: bool,
    /// Whether it has symbols that match.
    pub symbols: bool,
    /// Where the symbols are, or why there are none.
    pub symbols_detail: String,
    /// Whether its compiler optimised it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optimized: Option<bool>,
    /// Whether the runtime optimises it when it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optimized_code: Option<bool>,
    /// Whether code is emitted into it while the program runs.
    #[serde(skip_serializing_if = "is_false")]
    pub dynamic: bool,
    /// Whether it exists only in memory.
    #[serde(skip_serializing_if = "is_false")]
    pub in_memory: bool,
}

impl From<&ThreadReport> for ThreadEntry {
    fn from(thread: &ThreadReport) -> Self {
        Self {
            id: thread.id.0,
            name: thread
                .name
                .as_deref()
                .map(|name| text::one_line(name, NAME)),
            activity: match thread.activity {
                ThreadActivity::Running => "running",
                ThreadActivity::Waiting => "waiting",
                ThreadActivity::Native => "native",
                ThreadActivity::Unstarted => "unstarted",
                ThreadActivity::Stopped => "stopped",
            },
            background: thread.background,
            pool: thread.pool,
            frozen: thread.frozen,
            current: thread.current,
            top: thread.top.as_ref().map(FrameReport::from),
            called: thread.called.as_deref().map(|called| {
                let name = called.split('(').next().unwrap_or(called);
                text::one_line(name, NAME)
            }),
            awaits: None,
            lock: thread.lock.as_ref().map(LockEntry::from),
        }
    }
}

impl From<&ModuleReport> for ModuleEntry {
    fn from(module: &ModuleReport) -> Self {
        let short = |name: &String| text::one_line(name, NAME);
        Self {
            name: short(&module.name),
            path: module.path.as_ref().map(short),
            version: module.version.as_ref().map(short),
            mvid: module.mvid.as_ref().map(short),
            user_code: module.user_code,
            symbols: module.symbols,
            symbols_detail: short(&module.symbols_detail),
            optimized: module.optimized,
            optimized_code: module.optimized_code,
            dynamic: module.dynamic,
            in_memory: module.in_memory,
        }
    }
}

impl ThreadEntry {
    /// Whether it waits to enter a lock, which is told with who holds it.
    fn waits_for_a_lock(&self) -> bool {
        self.lock.as_ref().is_some_and(|it| !it.pulse)
    }

    /// Whether it waits, or may be about to, for what may be the user's code: in none of it, or for a task.
    pub fn may_await(&self) -> bool {
        let for_a_task = |called: &String| {
            called.starts_with("System.Threading.Tasks.Task")
                || called.starts_with("System.Runtime.CompilerServices.TaskAwaiter")
        };
        self.is_blocked_elsewhere() || self.called.as_ref().is_some_and(for_a_task)
    }

    /// Whether it waits, or may be about to, and not in the user's code.
    fn is_blocked_elsewhere(&self) -> bool {
        let is_user = |top: &FrameReport| top.kind == FrameReport::USER && top.file.is_some();
        // A wait spins at first. Of the thread that a pause is told of, what it is about to wait for has been told.
        let spins = |top: &FrameReport| {
            let method = top.method.as_str();
            method.starts_with("System.Threading.SpinWait.")
                || method.starts_with("System.Threading.Tasks.Task.Spin")
        };
        let top = self.top.as_ref();
        let may_wait = self.activity == "waiting" || self.current || top.is_some_and(spins);
        may_wait && !top.is_some_and(is_user)
    }
}

impl ThreadsReport {
    /// The threads of a session.
    pub fn of(session: &str, threads: &[ThreadReport]) -> Self {
        let mut entries: Vec<_> = threads.iter().map(ThreadEntry::from).collect();
        let deadlocks = locks::deadlocks(&entries);
        // Whoever looks at many threads wants those that wait for each other, and those that run the user's code;
        // else they stay in the order of their age.
        entries.sort_by_key(|thread| {
            let user_code = thread
                .top
                .as_ref()
                .is_some_and(|top| top.kind == FrameReport::USER);
            let deadlocked = deadlocks.iter().any(|circle| circle.contains(&thread.id));
            (!thread.current, !deadlocked, !user_code)
        });
        Self {
            session: session.to_owned(),
            threads: entries,
            left_out: 0,
            next_start: None,
            deadlocks,
        }
    }

    /// Those that may wait for async methods, as many as are asked what these await.
    pub fn awaiting(&mut self) -> impl Iterator<Item = &mut ThreadEntry> {
        let blocked = self.threads.iter_mut().filter(|it| it.may_await());
        blocked.take(BLOCKED)
    }

    /// As many from the thread with this index on as can be told at once.
    #[must_use]
    pub fn page(mut self, start: u32) -> Self {
        let start = usize::try_from(start).unwrap_or(usize::MAX);
        let all = self.threads.len();
        self.threads.drain(..start.min(all));
        self.threads.truncate(THREADS);
        let end = start.saturating_add(self.threads.len());
        let left_out = all.saturating_sub(end);
        self.left_out = u32::try_from(left_out).unwrap_or(u32::MAX);
        self.next_start = u32::try_from(end).ok().filter(|_| left_out > 0);
        self
    }
}

impl ModulesReport {
    /// The modules of a session whose name holds a text, else whose path does, as many as can be told.
    pub fn of(session: &str, modules: &[ModuleReport], name: Option<&str>) -> Self {
        let holds = |text: &str, part: &str| text.to_lowercase().contains(&part.to_lowercase());
        // Paths of a framework hold many words: they count only where no name does.
        let by_path = !modules
            .iter()
            .any(|module| name.is_some_and(|part| holds(&module.name, part)));
        let wanted = |module: &&ModuleReport| {
            name.is_none_or(|part| match by_path {
                true => module.path.as_deref().is_some_and(|path| holds(path, part)),
                false => holds(&module.name, part),
            })
        };
        let mut entries: Vec<_> = modules
            .iter()
            .filter(wanted)
            .map(ModuleEntry::from)
            .collect();
        entries.sort_by(|one, other| {
            (!one.user_code, &one.name).cmp(&(!other.user_code, &other.name))
        });
        let left_out = entries.len().saturating_sub(MODULES);
        entries.truncate(MODULES);
        Self {
            session: session.to_owned(),
            modules: entries,
            left_out: u32::try_from(left_out).unwrap_or(u32::MAX),
        }
    }
}

/// What a thread is doing, in a word or two.
fn doing(thread: &ThreadEntry) -> String {
    let frozen = if thread.frozen { "frozen, " } else { "" };
    format!("{frozen}{}", thread.activity)
}

/// Threads in one line: which there are and what each is doing, but not where.
pub(super) fn push_threads(out: &mut String, threads: &[ThreadEntry], more: u32, reader: Reader) {
    if threads.is_empty() {
        return;
    }
    let told: Vec<String> = threads
        .iter()
        .map(|thread| match &thread.name {
            Some(name) => {
                let name = text::quoted(name, NAME);
                format!("{} {name} {}", thread.id, doing(thread))
            }
            None => format!("{} {}", thread.id, doing(thread)),
        })
        .collect();
    // Writing to a String cannot fail.
    let _ = write!(out, "Threads: {}", told.join(", "));
    if more > 0 {
        let tells = reader.words("threads_get", "`info threads`");
        let _ = write!(out, " ({more} more: {tells} tells them)");
    }
    out.push_str(".\n");
}

impl Render for ThreadsReport {
    fn render_for(&self, _: Reader) -> String {
        let mut out = String::new();
        let mut known = Vec::new();
        for thread in &self.threads {
            let mark = if thread.current { '>' } else { ' ' };
            // Writing to a String cannot fail.
            let _ = write!(out, "{mark} thread {}", thread.id);
            if let Some(name) = &thread.name {
                let _ = write!(out, " {}", text::quoted(name, NAME));
            }
            let _ = write!(out, ": {}", thread.activity);
            for (holds, word) in [
                (thread.pool, "thread pool"),
                (thread.background && !thread.pool, "background"),
                (thread.frozen, "frozen"),
            ] {
                if holds {
                    let _ = write!(out, ", {word}");
                }
            }
            out.push('\n');
            if let Some(top) = &thread.top {
                push_frames(&mut out, std::slice::from_ref(top), &mut known);
            }
            let monitor = |called: &String| called.starts_with("System.Threading.Monitor.");
            let called = thread.called.as_ref().filter(|it| !monitor(it));
            let shown = thread.top.is_some();
            if let Some(called) = called.filter(|_| shown && !thread.waits_for_a_lock()) {
                let waits = match thread.activity {
                    "waiting" => "waits ",
                    _ => "",
                };
                let _ = writeln!(out, "     {waits}in {called}");
            }
            // What the framework waits to be pulsed on says nothing to who called it.
            let explained = called.is_some() || thread.awaits.is_some();
            if let Some(lock) = thread.lock.as_ref().filter(|it| !it.pulse || !explained) {
                lock.push(&mut out, &self.threads);
            }
            let link = thread.awaits.as_ref().and_then(AwaitsReport::innermost);
            if let Some((method, file, line)) = link {
                let file = super::breakpoints::file_name(file);
                let _ = write!(out, "     waits for {method} at {file}:{line}");
                let last = thread.awaits.as_ref().and_then(AwaitsReport::awaited_last);
                if let Some(last) = last {
                    let _ = write!(out, ", which awaits {last}");
                }
                out.push('\n');
            }
        }
        locks::push_deadlocks(&mut out, &self.threads, &self.deadlocks);
        if self.threads.is_empty() {
            let _ = writeln!(out, "{} has no managed thread here.", self.session);
        }
        if let Some(next) = self.next_start {
            let _ = writeln!(out, "({} more: start={next} tells them)", self.left_out);
        }
        super::finish(out)
    }
}

impl ModuleEntry {
    /// Where its symbols are; a file beside it is told by its name.
    fn where_symbols_are(&self) -> &str {
        let detail = Path::new(&self.symbols_detail);
        let folder = self.path.as_ref().and_then(|it| Path::new(it).parent());
        let name = detail.file_name().and_then(|it| it.to_str());
        match name.filter(|_| folder.is_some() && detail.parent() == folder) {
            Some(name) => name,
            None => &self.symbols_detail,
        }
    }
}

impl Render for ModulesReport {
    fn render_for(&self, reader: Reader) -> String {
        let mut out = String::new();
        for module in &self.modules {
            let _ = write!(out, "{}", module.name);
            if let Some(version) = &module.version {
                let _ = write!(out, " {version}");
            }
            out.push_str(if module.user_code { ", user code" } else { "" });
            if module.symbols {
                let _ = write!(out, ", symbols: {}", module.where_symbols_are());
            } else {
                let _ = write!(out, ", no symbols: {}", module.symbols_detail);
            }
            for (holds, word) in [
                (module.optimized == Some(true), "optimised"),
                (
                    module.optimized == Some(true) && module.optimized_code == Some(false),
                    "compiled for debugging here",
                ),
                (module.dynamic, "dynamic"),
                (module.in_memory, "only in memory"),
            ] {
                if holds {
                    let _ = write!(out, ", {word}");
                }
            }
            out.push('\n');
            if let Some(path) = &module.path {
                let _ = writeln!(out, "  {path}");
            }
        }
        if self.modules.is_empty() {
            out.push_str("No loaded module has such a name.\n");
        }
        if self.left_out > 0 {
            let _ = writeln!(
                out,
                "({} more are not shown: {})",
                self.left_out,
                reader.words("use name", "say a part of the name")
            );
        }
        super::finish(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_there_is_no_room_for_are_on_the_next_page() {
        let all = ThreadsReport {
            threads: (0..120)
                .map(|id| ThreadEntry {
                    id,
                    ..ThreadEntry::default()
                })
                .collect(),
            ..ThreadsReport::default()
        };
        let (mut told, mut next) = (Vec::new(), Some(0));
        while let Some(start) = next {
            let page = all.clone().page(start);
            assert_eq!(page.next_start.is_some(), page.left_out > 0);
            told.extend(page.threads.iter().map(|it| it.id));
            next = page.next_start;
        }
        assert_eq!(told, (0..120).collect::<Vec<_>>());
        assert!(all.page(u32::MAX).threads.is_empty());
    }

    fn module(name: &str, path: &str) -> ModuleReport {
        ModuleReport {
            name: name.into(),
            path: Some(path.into()),
            version: None,
            mvid: None,
            symbols: false,
            symbols_detail: String::new(),
            symbols_file: None,
            optimized: None,
            optimized_code: None,
            user_code: false,
            dynamic: false,
            in_memory: false,
        }
    }

    #[test]
    fn modules_are_found_by_name_and_by_path_only_where_no_name_fits() {
        let modules = [
            module("app.dll", "/srv/app.dll"),
            module(
                "System.Linq.dll",
                "/shared/Microsoft.NETCore.App/System.Linq.dll",
            ),
        ];
        let found = |name| -> Vec<String> {
            let report = ModulesReport::of("s1", &modules, name);
            report.modules.into_iter().map(|it| it.name).collect()
        };
        assert_eq!(found(None).len(), 2);
        assert_eq!(found(Some("APP")), ["app.dll"]);
        assert_eq!(found(Some("netcore")), ["System.Linq.dll"]);
    }
}
