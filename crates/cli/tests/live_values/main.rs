//! Live tests of values: each fixture prints its own truth, and the debugger must say the same.

mod basics;
mod calls;
mod code;
mod collections;
mod early;
mod emitted;
mod endless;
mod floats;
mod hostile;
mod kinds;
mod large;
mod looks;
mod meant;
mod members;
mod messages;
mod moved;
mod numbers;
mod optimised;
mod own;
mod parts;
mod pointers;
mod returned;
mod said;
mod scopes;
mod setting;
mod shown;
mod stored;
mod support;
mod views;
mod wrapped;

/// Not a behaviour: the front end process that other tests start, count and kill is this test, run again.
#[test]
fn front_end_process() {
    testkit::frontend::serve_if_asked();
}
