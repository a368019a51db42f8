//! Lets threads pass a breakpoint one after the other where the runtime fails if they pass it together.
//!
//! To pass a breakpoint a thread runs a copy of the instruction there. Before .NET 10 the runtime writes that one copy anew
//! for each thread that goes on, also while another one is in it (dotnet/runtime#102767): where the instruction addresses
//! something relative to itself, that other thread then goes astray, and the program crashes.
//!
//! A thread that meets a breakpoint waits until the program goes on, and writes the copy then. So of all threads that wait
//! at one such instruction, or are in its copy, one goes on at a time, and the others are held: frozen for the runtime, but
//! not for the user. Who has passed is seen whenever the program is stopped. If nothing else stops it, it is stopped for a
//! look (`Engine::look_at_turns`).
//!
//! Invariant: when the program goes on, at most one thread at each such instruction is not frozen; no thread is held without
//! another one that it waits for and a time for the next look.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use cordebug::process::Process;
use cordebug::thread::Thread;

use super::instruction;
use crate::engine::Engine;
use crate::target::Target;

/// How long the program runs until it is looked who has passed; twice as long each time that nobody has.
const FIRST_LOOK: Duration = Duration::from_millis(1);
const LAST_LOOK: Duration = Duration::from_millis(64);

/// The threads at instructions that they must pass one by one.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    /// The only thread that has met a breakpoint so far.
    only: Option<u32>,
    /// Set once another one has.
    several: bool,
    /// For each address of a breakpoint, whether its instruction is one of those.
    relative: HashMap<u64, bool>,
    /// For each such address, who is there, in the order in which they pass.
    queues: HashMap<u64, Vec<Waiter>>,
    /// Who is frozen until it is its turn.
    held: HashSet<u32>,
    look: Option<Instant>,
    pause: Duration,
    /// Whether threads are frozen for something else, so that none may be thawed.
    suspended: bool,
    /// The thread that runs something else than the program's own code, and comes back to where it is.
    away: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Waiter {
    thread: u32,
    /// Whether it may have gone on since it met the breakpoint.
    let_go: bool,
}

/// Where a thread is that has been let go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sight {
    Waits,
    /// In the copy.
    Inside,
    Gone,
}

/// What can be seen of threads, and done to them.
trait Threads {
    fn sight(&self, thread: u32, address: u64) -> Sight;
    fn is_frozen(&self, thread: u32) -> bool;
    fn freeze(&self, thread: u32, frozen: bool);
}

impl Turns {
    /// A thread has met a breakpoint; `at` tells the address of its instruction, and `is_relative` whether threads must pass
    /// that one by one.
    fn met(
        &mut self,
        thread: u32,
        at: impl FnOnce() -> Option<u64>,
        is_relative: impl FnOnce(u64) -> bool,
    ) {
        let only = *self.only.get_or_insert(thread);
        self.several |= only != thread;
        // A thread alone is in nobody's way.
        if !self.several || self.away == Some(thread) {
            return;
        }
        let Some(address) = at() else { return };
        self.forget(thread);
        let known = self.relative.entry(address);
        if !*known.or_insert_with(|| is_relative(address)) {
            return;
        }
        let queue = self.queues.entry(address).or_insert_with(|| {
            // Nobody has watched the first one so far.
            let first = Waiter {
                thread: only,
                let_go: true,
            };
            vec![first]
        });
        queue.retain(|it| it.thread != thread);
        queue.push(Waiter {
            thread,
            let_go: false,
        });
    }

    /// A thread is elsewhere by now, or nowhere.
    pub(crate) fn forget(&mut self, thread: u32) {
        for queue in self.queues.values_mut() {
            queue.retain(|it| it.thread != thread);
        }
    }

    /// Whether a thread is frozen until it is its turn, and not by the user.
    pub(crate) fn is_held(&self, thread: u32) -> bool {
        self.held.contains(&thread)
    }

    /// Whether the user has frozen a thread.
    pub(crate) fn is_frozen_by_user(&self, thread: &Thread) -> bool {
        let held = thread.id().is_ok_and(|id| self.is_held(id));
        !held && thread.is_frozen().unwrap_or(false)
    }

    /// A thread that is held is frozen by the user now.
    pub(crate) fn give_over(&mut self, thread: u32) {
        self.held.remove(&thread);
    }

    /// Threads are frozen for something else from now on, or no longer.
    pub(crate) fn suspend(&mut self, suspended: bool) {
        self.suspended = suspended;
    }

    /// Decides who goes on, before the program does.
    pub(crate) fn arrange(&mut self, process: &Process) {
        self.arrange_with(process);
    }

    fn arrange_with(&mut self, threads: &impl Threads) {
        let crowded = self.queues.values().any(|it| it.len() > 1);
        if self.suspended || !crowded && self.held.is_empty() {
            return;
        }
        let mut waiting = HashSet::new();
        for (&address, queue) in &mut self.queues {
            let next = next_of(queue, address, &self.held, self.away, threads);
            let others = queue.iter().filter(|it| Some(it.thread) != next);
            waiting.extend(others.map(|it| it.thread));
        }
        let mut moved = false;
        self.held.retain(|thread| {
            let stays = waiting.contains(thread) || self.away == Some(*thread);
            if !stays {
                threads.freeze(*thread, false);
                moved = true;
            }
            stays
        });
        for thread in waiting {
            // One that the user has frozen stays so.
            if self.away != Some(thread)
                && !self.held.contains(&thread)
                && !threads.is_frozen(thread)
            {
                threads.freeze(thread, true);
                self.held.insert(thread);
            }
        }
        self.pause = if moved {
            FIRST_LOOK
        } else {
            (self.pause * 2).clamp(FIRST_LOOK, LAST_LOOK)
        };
        let later = Instant::now() + self.pause;
        self.look = (!self.held.is_empty()).then_some(later);
    }
}

/// Who of those at an instruction goes on; those that have passed it are no longer in the queue.
fn next_of(
    queue: &mut Vec<Waiter>,
    address: u64,
    held: &HashSet<u32>,
    away: Option<u32>,
    threads: &impl Threads,
) -> Option<u32> {
    if queue.len() < 2 {
        // Nobody waits for it.
        let alone = queue.first_mut()?;
        alone.let_go = true;
        return Some(alone.thread);
    }
    let mut inside = None;
    queue.retain(|it| {
        if !it.let_go || held.contains(&it.thread) || away == Some(it.thread) {
            return true;
        }
        let sight = threads.sight(it.thread, address);
        if sight == Sight::Inside {
            inside = Some(it.thread);
        }
        sight != Sight::Gone
    });
    // One that the user has frozen does not go on. It keeps nobody from going on either: the copy is the same afterwards.
    let can_go = |it: &&mut Waiter| {
        away != Some(it.thread) && (held.contains(&it.thread) || !threads.is_frozen(it.thread))
    };
    let mut able = queue.iter_mut().filter(can_go);
    let next = match inside {
        Some(thread) => able.find(|it| it.thread == thread),
        None => able.next(),
    }?;
    next.let_go = true;
    Some(next.thread)
}

impl Threads for Process {
    fn sight(&self, thread: u32, address: u64) -> Sight {
        let at = self.stopped_at(thread);
        let sight = match at {
            Some(at) if at.instruction == address => Sight::Waits,
            // It runs one instruction, and is then brought back.
            Some(at) if at.traps => Sight::Inside,
            _ => Sight::Gone,
        };
        tracing::trace!(thread, address, ?at, ?sight, "has it passed?");
        sight
    }

    fn is_frozen(&self, thread: u32) -> bool {
        let frozen = self.thread(thread).and_then(|it| it.is_frozen());
        frozen.unwrap_or(false)
    }

    fn freeze(&self, thread: u32, frozen: bool) {
        if let Err(error) = self.thread(thread).and_then(|it| it.freeze(frozen)) {
            // One that is ending cannot be frozen, and need not be.
            tracing::debug!(thread, frozen, %error, "letting threads pass one by one");
        }
    }
}

impl Engine<'_> {
    /// Lets a thread that is at a breakpoint pass it when it is its turn.
    pub(crate) fn take_turn(&mut self, thread: &Thread) {
        if !cfg!(target_arch = "x86_64") || !self.is_before_10() {
            return;
        }
        let (Some(target), Ok(id)) = (&mut self.target, thread.id()) else {
            return;
        };
        let Target { turns, process, .. } = target;
        turns.met(
            id,
            || instruction_of(process, id),
            |address| may_be_relative(process, address),
        );
    }

    /// A thread runs something else than the program's code from now on, or none does.
    pub(crate) fn send_away(&mut self, thread: Option<u32>) {
        if let Some(target) = &mut self.target {
            target.turns.away = thread;
        }
    }

    /// When the program is to be stopped for [`look_at_turns`](Self::look_at_turns).
    pub(crate) fn next_look(&self) -> Option<Instant> {
        let target = self.target.as_ref()?;
        // Whatever has stopped it is followed by a look of its own.
        let runs = !target.is_stopped() && !target.has_undelivered();
        target.turns.look.filter(|_| runs)
    }

    /// Stops the running program for a moment, to see who has passed and whose turn it is.
    pub(crate) fn look_at_turns(&mut self) {
        if self.next_look().is_none_or(|at| at > Instant::now()) {
            return;
        }
        let looked = self.stop_target().and_then(|()| self.target()?.answer());
        if let Err(error) = looked {
            tracing::debug!(%error, "looking who has passed a breakpoint");
            if let Some(target) = &mut self.target {
                target.turns.look = Some(Instant::now() + LAST_LOOK);
            }
        }
    }
}

/// Whether the instruction at an address may address memory relative to itself.
pub(super) fn may_be_relative(process: &Process, address: u64) -> bool {
    let mut code = [0; instruction::ENOUGH];
    let read = process.read_memory(address, &mut code).unwrap_or(0);
    instruction::may_be_relative(code.get(..read).unwrap_or_default())
}

/// The address of the instruction that a thread is at, if it is stopped there.
pub(super) fn instruction_of(process: &Process, thread: u32) -> Option<u64> {
    Some(process.stopped_at(thread)?.instruction)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    const AT: u64 = 0x1000;

    /// Threads that are where they are put.
    #[derive(Default)]
    struct Put {
        sights: HashMap<u32, Sight>,
        frozen: RefCell<HashSet<u32>>,
    }

    impl Threads for Put {
        fn sight(&self, thread: u32, _: u64) -> Sight {
            self.sights.get(&thread).copied().unwrap_or(Sight::Waits)
        }

        fn is_frozen(&self, thread: u32) -> bool {
            self.frozen.borrow().contains(&thread)
        }

        fn freeze(&self, thread: u32, frozen: bool) {
            if frozen {
                self.frozen.borrow_mut().insert(thread);
            } else {
                self.frozen.borrow_mut().remove(&thread);
            }
        }
    }

    impl Put {
        #[track_caller]
        fn check(&self, turns: &mut Turns, frozen: &[u32]) {
            turns.arrange_with(self);
            let mut now: Vec<_> = self.frozen.borrow().iter().copied().collect();
            now.sort_unstable();
            assert_eq!(now, frozen);
            assert_eq!(turns.look.is_some(), !turns.held.is_empty());
        }
    }

    fn meet(turns: &mut Turns, threads: &[u32]) {
        for thread in threads {
            turns.met(*thread, || Some(AT), |_| true);
        }
    }

    #[test]
    fn threads_pass_in_the_order_in_which_they_came() {
        let (mut turns, mut threads) = (Turns::default(), Put::default());
        meet(&mut turns, &[1]);
        threads.check(&mut turns, &[]);
        meet(&mut turns, &[2, 3]);
        threads.check(&mut turns, &[2, 3]);
        // Not yet.
        threads.check(&mut turns, &[2, 3]);
        threads.sights.insert(1, Sight::Inside);
        threads.check(&mut turns, &[2, 3]);
        threads.sights.insert(1, Sight::Gone);
        threads.check(&mut turns, &[3]);
        // It comes by again before the last one has passed.
        threads.sights.clear();
        meet(&mut turns, &[1]);
        threads.check(&mut turns, &[1, 3]);
        threads.sights.insert(2, Sight::Gone);
        threads.check(&mut turns, &[1]);
        threads.sights.insert(3, Sight::Gone);
        threads.check(&mut turns, &[]);
    }

    #[test]
    fn one_thread_and_other_instructions_cost_nothing() {
        let mut turns = Turns::default();
        turns.met(1, || unreachable!("it is alone"), |_| true);
        turns.met(1, || unreachable!("it is alone"), |_| true);
        turns.met(2, || Some(AT), |_| false);
        turns.met(1, || Some(AT), |_| unreachable!("it is known"));
        Put::default().check(&mut turns, &[]);
    }

    #[test]
    fn what_the_user_has_frozen_stays_so_and_is_not_waited_for() {
        let (mut turns, mut threads) = (Turns::default(), Put::default());
        meet(&mut turns, &[1, 2, 3]);
        threads.freeze(1, true);
        threads.check(&mut turns, &[1, 3]);
        assert!(!turns.is_held(1) && turns.is_held(3));
        turns.give_over(3);
        threads.sights.insert(2, Sight::Gone);
        threads.check(&mut turns, &[1, 3]);
        // Both are thawed: one after the other.
        threads.frozen.borrow_mut().clear();
        threads.check(&mut turns, &[3]);
    }

    #[test]
    fn threads_in_the_copy_go_first() {
        let (mut turns, mut threads) = (Turns::default(), Put::default());
        meet(&mut turns, &[1, 2]);
        threads.freeze(1, true);
        threads.check(&mut turns, &[1]);
        threads.freeze(1, false);
        threads.sights.insert(2, Sight::Inside);
        threads.check(&mut turns, &[1]);
    }

    #[test]
    fn nobody_is_thawed_while_threads_are_frozen_for_something_else() {
        let (mut turns, mut threads) = (Turns::default(), Put::default());
        meet(&mut turns, &[1, 2]);
        threads.check(&mut turns, &[2]);
        threads.sights.insert(1, Sight::Gone);
        turns.suspend(true);
        threads.check(&mut turns, &[2]);
        turns.suspend(false);
        threads.check(&mut turns, &[]);
    }

    #[test]
    fn thread_that_runs_something_else_keeps_its_place() {
        let (mut turns, mut threads) = (Turns::default(), Put::default());
        meet(&mut turns, &[1, 2]);
        threads.check(&mut turns, &[2]);
        turns.away = Some(2);
        threads.freeze(2, false);
        threads.sights.insert(1, Sight::Gone);
        threads.sights.insert(2, Sight::Gone);
        threads.check(&mut turns, &[]);
        turns.away = None;
        threads.freeze(2, true);
        threads.check(&mut turns, &[]);
    }

    #[test]
    fn thread_that_ends_or_is_told_of_twice_is_not_forgotten_frozen() {
        let (mut turns, threads) = (Turns::default(), Put::default());
        meet(&mut turns, &[1, 2]);
        threads.check(&mut turns, &[2]);
        // A second breakpoint at the same instruction.
        meet(&mut turns, &[2]);
        threads.check(&mut turns, &[2]);
        assert!(turns.is_held(2));
        turns.forget(1);
        threads.check(&mut turns, &[]);
    }
}
