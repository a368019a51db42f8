//! Live tests: real C# programs on a real runtime, under the `ndbg host` that ships.
//!
//! One module per noun, one test per behaviour. Each test makes a sandbox first, which asserts at its end that no
//! process, semaphore, pipe or socket is left.

mod attach;
mod breakpoints;
mod breakpoints_conditions;
mod breakpoints_interfaces;
mod breakpoints_lines;
mod breakpoints_merged;
mod breakpoints_modules;
mod breakpoints_names;
mod breakpoints_optimised;
mod breakpoints_support;
mod breakpoints_switches;
mod breakpoints_threads;
mod breakpoints_traces;
mod csharp14;
mod death;
mod death_at_start;
mod ends;
mod exceptions;
mod exceptions_any;
mod exceptions_awaited;
mod exceptions_changed;
mod exceptions_heard;
mod exceptions_old;
mod exceptions_told;
mod exits;
mod following;
mod launch;
mod memory;
mod modules;
mod output;
mod sessions;
mod single_file;
mod stacks;
mod stacks_async;
mod stacks_runtime_async;
mod stacks_told;
mod states;
mod stepping;
mod surroundings;
mod threads;

/// Not a behaviour: the front end process that other tests start, count and kill is this test, run again.
#[test]
fn front_end_process() {
    testkit::frontend::serve_if_asked();
}
