//! Live tests: real C# programs on a real runtime, under the `ndbg host` that ships.
//!
//! One module per noun, one test per behaviour. Each test makes a sandbox first, which asserts at its end that no
//! process, semaphore, pipe or socket is left.

mod attach;
mod breakpoints;
mod death;
mod ends;
mod exceptions;
mod exits;
mod following;
mod launch;
mod memory;
mod output;
mod sessions;
mod single_file;
mod stacks_told;
mod states;
mod stepping;
mod surroundings;

/// Not a behaviour: the front end process that other tests start, count and kill is this test, run again.
#[test]
fn front_end_process() {
    testkit::frontend::serve_if_asked();
}
