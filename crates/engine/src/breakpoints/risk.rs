//! A fault of runtimes before .NET 10 that a breakpoint can bring a program to: what is known of it when a program crashes.
//!
//! To pass a breakpoint a thread runs a copy of the instruction there. Before .NET 10 the runtime writes that one copy anew
//! for each thread, also while another one is in it (dotnet/runtime#102767): where the instruction addresses something
//! relative to itself, that other thread then goes astray.

use std::collections::HashMap;

/// Whether several threads have passed such a breakpoint.
#[derive(Debug, Default)]
pub(crate) struct Risk {
    /// For each breakpoint of the runtime, whether its instruction is one of those.
    relative: HashMap<usize, bool>,
    /// The first thread that has passed one.
    first: Option<u32>,
    several: bool,
}

impl Risk {
    /// A thread is at a breakpoint; `is_relative` is asked once for each.
    pub(crate) fn note(
        &mut self,
        breakpoint: usize,
        thread: u32,
        is_relative: impl FnOnce() -> bool,
    ) {
        if *self.relative.entry(breakpoint).or_insert_with(is_relative) {
            self.several |= *self.first.get_or_insert(thread) != thread;
        }
    }

    /// What is to be said of a program that has crashed.
    pub(crate) fn told(&self) -> Option<String> {
        self.several.then(|| {
            "before .NET 10 the runtime itself may crash where several threads pass a breakpoint on a statement that begins \
             with a call or a static field (dotnet/runtime#102767), as threads of this program did: if it does not crash \
             without, set the breakpoint on another statement, or run the program on .NET 10"
                .to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_several_threads_at_such_an_instruction_are_a_risk() {
        let mut risk = Risk::default();
        for thread in [1, 2] {
            risk.note(7, thread, || false);
        }
        risk.note(8, 1, || true);
        risk.note(8, 1, || unreachable!("it is known"));
        assert_eq!(risk.told(), None);
        risk.note(8, 2, || unreachable!("it is known"));
        assert!(risk.told().is_some());
    }
}
