//! The program as the runtime's debugger library has it: stop and go, counted.
//!
//! Invariant: `owed` is the number of `Continue` calls that the library waits for: one for each callback delivered and
//! one for each stop of ours. The program runs exactly when it is 0.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cordebug::module::Class;
use cordebug::process::Process;
use cordebug::runtime::Debugger;

use crate::api::{Error, ErrorCode, ThreadId};
use crate::beginners::Beginners;
use crate::breakpoints::turns::Turns;
use crate::expressions::Results;
use crate::modules::{LoadedModule, Modules};
use crate::source_files::SourceFiles;
use crate::stack;
use crate::stack::walks::KeptWalks;
use crate::types::{TypeCache, Types};
use crate::values::view::ObjectIds;
use crate::values::{Activations, Handles, Held, LayoutCache, Places, ReturnedValues};

/// The debugged process.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) process: Process,
    /// Held for as long as the process is.
    _debugger: Debugger,
    pub(crate) modules: Modules,
    /// What was worked out about the program's types.
    pub(crate) type_cache: TypeCache,
    /// Where fields and elements lie.
    pub(crate) layouts: LayoutCache,
    /// What was held since the program ran last.
    pub(crate) handles: Handles,
    /// Numbers of objects that were told.
    pub(crate) object_ids: ObjectIds,
    /// Objects that the user asked to keep, by their numbers.
    pub(crate) kept: BTreeMap<u64, Held>,
    /// Which calls the frames are that somebody wants to compare with those of other stops.
    pub(crate) activations: Activations,
    /// What can be made to lead to any address, for calls that take references.
    pub(crate) pointers: Vec<Held>,
    /// Results of expressions, while the program stays stopped.
    pub(crate) results: RefCell<Results>,
    /// What the calls of the step that led to this stop returned.
    pub(crate) returned: ReturnedValues,
    /// Counts runs of the program: addresses that were read are good for as long as it stays the same.
    pub(crate) runs: u64,
    /// What was walked to of the stacks since then.
    pub(crate) walks: KeptWalks,
    /// Where variables and static fields lie, as far as was asked since then.
    pub(crate) places: Places,
    /// Where the frame ends that led to this stop by calling `Debugger.Break()`: the innermost one, and yet behind a call.
    pub(crate) broke: Option<u64>,
    /// Whether code is to be compiled without optimisation: launched programs only.
    pub(crate) unoptimized: bool,
    /// Which threads have been told of.
    pub(crate) beginners: Beginners,
    /// When threads last met a breakpoint or ended a step.
    pub(crate) hits: HashMap<u32, std::time::Instant>,
    /// Which threads must pass a breakpoint one by one.
    pub(crate) turns: Turns,
    /// What code gives that is about to wait for another thread, once it was looked for.
    pub(crate) dependency: Option<Option<Class>>,
    /// Whether that is told now.
    pub(crate) hears_of_dependencies: bool,
    owed: u32,
    /// Callbacks on their way from the library's thread.
    undelivered: Arc<AtomicU32>,
    /// Set while the first line of `Main` is waited for.
    pub(crate) entry: crate::modules::Entry,
}

impl Target {
    pub(crate) fn new(
        debugger: Debugger,
        process: Process,
        stop_at_entry: bool,
        unoptimized: bool,
        undelivered: Arc<AtomicU32>,
        source_files: SourceFiles,
    ) -> Self {
        Self {
            process,
            _debugger: debugger,
            modules: Modules::new(source_files),
            type_cache: TypeCache::default(),
            layouts: LayoutCache::default(),
            handles: Handles::default(),
            object_ids: ObjectIds::default(),
            kept: BTreeMap::new(),
            activations: Activations::default(),
            pointers: Vec::new(),
            results: RefCell::default(),
            returned: ReturnedValues::default(),
            runs: 0,
            dependency: None,
            hears_of_dependencies: false,
            walks: KeptWalks::default(),
            places: Places::default(),
            broke: None,
            unoptimized,
            beginners: Beginners::default(),
            hits: HashMap::new(),
            turns: Turns::default(),
            owed: 0,
            undelivered,
            entry: crate::modules::Entry::new(stop_at_entry),
        }
    }

    /// The program's types, over the modules that are loaded now.
    pub(crate) fn types(&self) -> Types<'_> {
        Types::new(&self.process, &self.modules, &self.type_cache)
    }

    /// A callback was delivered.
    pub(crate) fn delivered(&mut self) {
        self.owed += 1;
        self.undelivered.fetch_sub(1, Ordering::SeqCst);
    }

    /// Whether a callback was sent to us that we have not seen yet: the program is stopped for it.
    pub(crate) fn has_undelivered(&self) -> bool {
        self.undelivered.load(Ordering::SeqCst) > 0
    }

    /// Whether the program is stopped and nothing more is on its way to us.
    pub(crate) fn is_quiet(&self) -> bool {
        self.is_stopped()
            && !self.has_undelivered()
            && !self.process.has_queued_callbacks().unwrap_or(true)
    }

    /// Answers one callback.
    pub(crate) fn answer(&mut self) -> Result<(), Error> {
        self.turns.arrange(&self.process);
        self.owed = self.owed.saturating_sub(1);
        self.runs += 1;
        self.process.resume().map_err(|error| runtime_error(&error))
    }

    /// Stops the program.
    pub(crate) fn stop(&mut self) -> Result<(), Error> {
        self.process.stop().map_err(|error| runtime_error(&error))?;
        self.owed += 1;
        Ok(())
    }

    /// Answers everything: the program runs afterwards.
    pub(crate) fn resume_all(&mut self) -> Result<(), Error> {
        while self.owed > 0 {
            self.answer()?;
        }
        Ok(())
    }

    /// Whether the library waits for us.
    pub(crate) fn is_stopped(&self) -> bool {
        self.owed > 0
    }

    /// The thread to show when no thread reported the stop: the program's first.
    pub(crate) fn first_thread(&self) -> Option<ThreadId> {
        let threads = self.process.threads().ok()?;
        let ids = threads.iter().filter_map(|thread| thread.id().ok());
        ids.min_by_key(|id| self.age(ThreadId(*id))).map(ThreadId)
    }

    /// The thread that a pause is told of: the first. Where tests are run, which others do than it, the first that is in one.
    pub(crate) fn paused_thread(&mut self) -> Option<ThreadId> {
        // A run of tests has few threads; a test may have made many.
        const LOOKED_AT: usize = 100;
        let first = self.first_thread();
        if !self.modules.iter().any(LoadedModule::is_test_framework) {
            return first;
        }
        let threads = self.process.threads().ok()?;
        let mut threads: Vec<_> = threads
            .iter()
            .filter_map(|thread| Some((ThreadId(thread.id().ok()?), thread)))
            .collect();
        threads.sort_by_key(|(id, _)| self.age(*id));
        let mut in_tests = threads.into_iter().take(LOOKED_AT).filter(|(_, thread)| {
            let top = stack::top_frame(self, thread).frame;
            top.is_some_and(|frame| frame.user_code)
        });
        in_tests.next().map(|(id, _)| id).or(first)
    }

    /// What threads are ordered by, the program's first before all others.
    pub(crate) fn age(&self, thread: ThreadId) -> (bool, u32) {
        age(self.process.id().unwrap_or_default(), thread)
    }
}

/// The first thread has the number of its process. Numbers begin anew when they are used up: those below it came later.
fn age(process: u32, thread: ThreadId) -> (bool, u32) {
    (thread.0 < process, thread.0)
}

/// Says what a failed call into the library means for the user.
pub(crate) fn runtime_error(error: &cordebug::Error) -> Error {
    if error.is_target_gone() {
        return Error::new(ErrorCode::Exited, format!("the program is gone: {error}"));
    }
    Error::new(ErrorCode::Runtime, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_whose_numbers_began_anew_come_after_the_first() {
        let mut threads = [305, 32_767, 32_760, 301].map(ThreadId);
        threads.sort_by_key(|it| age(32_760, *it));
        assert_eq!(threads.map(|it| it.0), [32_760, 32_767, 301, 305]);
    }
}
