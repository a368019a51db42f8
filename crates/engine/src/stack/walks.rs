//! The steps of stack walks, kept while the program stays stopped.
//!
//! A step through a stack is the dearest of all questions to the runtime's library: it unwinds a frame, and on .NET 9 looks
//! hundreds of times into a table that fits no processor's cache. One stop asks for the innermost frame half a dozen
//! times, so every frame is walked to once.
//!
//! Invariant: what is kept was walked to after the program ran last. Frames die when it runs, and when the next statement
//! of their thread is set ([`Walks::forget`]). Nobody asks the library for its own list of frames (`GetActiveFrame`):
//! making that list kills the frames that were walked to before.

use std::cell::RefCell;

use cordebug::Error;
use cordebug::hresult;
use cordebug::thread::{Frame, StackWalk, Step, Thread};

use crate::target::Target;

/// What was walked to, by thread.
#[derive(Debug, Default)]
pub(crate) struct Walks {
    /// The run of the program after which it was walked to.
    runs: u64,
    known: Vec<Known>,
    /// A thread that is still in an evaluation which was given up, and where its stack ended before: what lies above is no
    /// frame of the program's own doing.
    stuck: Option<(u32, u64)>,
}

#[derive(Debug)]
struct Known {
    thread: u32,
    walk: StackWalk,
    /// The frames, innermost first; `None` for native code.
    steps: Vec<Option<Frame>>,
    ended: bool,
    /// Where the frames that are shown begin, until the first was found.
    hidden_above: Option<u64>,
    /// Where the outermost frame so far ends.
    reached: u64,
}

impl Walks {
    /// Frames of a thread above a stack pointer are not shown until the program runs again; `None` shows all.
    pub(crate) fn hide(&mut self, stuck: Option<(u32, u64)>) {
        self.stuck = stuck;
        self.known.clear();
    }

    /// The frames of this stop are gone.
    pub(crate) fn forget(&mut self) {
        self.known.clear();
    }

    /// The thread on whose stack a frame was found.
    pub(crate) fn thread_of(&self, frame: &Frame) -> Option<u32> {
        let is_it = |it: &Frame| it.identity() == frame.identity();
        let has_it = |known: &&Known| known.steps.iter().flatten().any(is_it);
        self.known.iter().find(has_it).map(|known| known.thread)
    }

    fn of(&mut self, runs: u64, thread: &Thread) -> Result<&mut Known, Error> {
        if self.runs != runs {
            self.known.clear();
            self.runs = runs;
        }
        let id = thread.id()?;
        let index = match self.known.iter().position(|it| it.thread == id) {
            Some(index) => index,
            None => {
                let walk = thread.stack()?;
                self.known.push(Known {
                    thread: id,
                    walk,
                    steps: Vec::new(),
                    ended: false,
                    reached: 0,
                    hidden_above: self.stuck.filter(|(of, _)| *of == id).map(|(_, top)| top),
                });
                self.known.len() - 1
            }
        };
        // The index was just found or made.
        Ok(self
            .known
            .get_mut(index)
            .unwrap_or_else(|| unreachable!("walk {index} is in the list")))
    }
}

impl Known {
    /// The step with that index; `None` behind the last.
    fn step(&mut self, index: usize) -> Result<Option<Option<Frame>>, Error> {
        while self.steps.len() <= index && !self.ended {
            match self.walk.next() {
                None => self.ended = true,
                Some(Ok(Step::Frame(frame))) => {
                    if let Some(top) = self.hidden_above {
                        let is_above = frame.internal_kind().is_some()
                            || frame.stack_range().is_none_or(|(_, end)| end < top);
                        if is_above {
                            continue;
                        }
                        self.hidden_above = None;
                    }
                    let is_new = self.is_further_out(&frame);
                    self.steps.push(is_new.then_some(frame));
                }
                Some(Ok(Step::Native)) if self.hidden_above.is_some() => {}
                Some(Ok(Step::Native)) => self.steps.push(None),
                Some(Err(error)) => return Err(error),
            }
        }
        Ok(self.steps.get(index).cloned())
    }

    /// Whether a frame lies outside of all before. .NET 9 tells frames of an exception that ends a step a second time, where
    /// one of their callers has taken memory on the stack.
    fn is_further_out(&mut self, frame: &Frame) -> bool {
        let Some((_, end)) = frame
            .stack_range()
            .filter(|_| frame.internal_kind().is_none())
        else {
            return true;
        };
        let is_new = end > self.reached;
        self.reached = self.reached.max(end);
        is_new
    }
}

impl Target {
    /// A step of the walk over a thread's stack: a frame, or native code (`None`); nothing behind the last.
    pub(crate) fn stack_step(
        &self,
        thread: &Thread,
        index: usize,
    ) -> Result<Option<Option<Frame>>, Error> {
        let mut walks = self.walks.borrow_mut();
        let mut step = || {
            let step = walks.of(self.runs, thread)?.step(index);
            if step.is_err() {
                // Another try begins anew.
                walks.forget();
            }
            step
        };
        match step() {
            // Where a stack has overflown, the library does not find the way back to where a walk stands once it has flushed
            // what it knows; it finds the way there.
            Err(error) if error.code() == Some(hresult::CORDBG_E_NON_MATCHING_CONTEXT) => step(),
            step => step,
        }
    }

    /// The frames of a thread, innermost first, as far as they can be walked to.
    pub(crate) fn frames<'a>(&'a self, thread: &'a Thread) -> impl Iterator<Item = Frame> + 'a {
        let steps = (0..).map_while(|index| self.stack_step(thread, index).ok().flatten());
        steps.flatten()
    }

    /// The innermost frame of a thread that is not native code.
    pub(crate) fn active_frame(&self, thread: &Thread) -> Result<Option<Frame>, Error> {
        let mut index = 0;
        loop {
            match self.stack_step(thread, index)? {
                None => return Ok(None),
                Some(Some(frame)) => return Ok(Some(frame)),
                Some(None) => index += 1,
            }
        }
    }

    /// The frames that were walked to are gone, although the program did not run.
    pub(crate) fn forget_walks(&self) {
        self.walks.borrow_mut().forget();
        self.places.forget();
    }
}

/// Walks of a program that runs on and stops.
pub(crate) type KeptWalks = RefCell<Walks>;
