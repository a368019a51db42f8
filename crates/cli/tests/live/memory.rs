//! The fast memory layer in the binary that ships.

use host::api::{MemoryReads, Request};
use object::{Object, ObjectSymbol};
use testkit::debuggee::LaunchBuilder;
use testkit::sandbox::Sandbox;

use crate::breakpoints_support::at_marker;

/// How the stack of a stopped program was read.
fn reads_of_a_stack(launch: LaunchBuilder<'_>) -> MemoryReads {
    let program = launch.start();
    program.wait_stop();
    let before = program.status().memory;
    let stack = Request::Stack {
        thread: None,
        start: 0,
        count: 20,
    };
    program
        .request(stack)
        .expect("the stack of a stopped program");
    let after = program.status().memory;
    MemoryReads {
        cached: after.cached - before.cached,
        kernel: after.kernel - before.kernel,
    }
}

#[test]
fn reads_are_answered_from_the_cache() {
    let sandbox = Sandbox::new();
    let launch = sandbox.launch("throws").host_env("NDBG_FAST_MEMORY", "1");
    let reads = reads_of_a_stack(launch);
    // The stop itself has been looked at before, so few are left; how many pages they are on depends on the stack's place.
    assert!(reads.cached > reads.kernel, "{reads:?}");
}

#[test]
fn layer_is_on_by_default() {
    let sandbox = Sandbox::new();
    let launch = sandbox.launch("throws");
    let launch = match std::env::var_os("NDBG_FAST_MEMORY") {
        None => launch,
        // The whole suite runs without it: as if nobody had said anything.
        Some(_) => launch.host_env("NDBG_FAST_MEMORY", ""),
    };
    assert!(reads_of_a_stack(launch).cached > 0);
}

/// The library looks through the stack before it tells of an exception, with thousands of reads, whether anybody wants to
/// hear of it or not.
#[test]
fn reads_before_an_exception_is_told_are_answered_from_the_cache_too() {
    const THROWN: u64 = 200;
    let sandbox = Sandbox::new();
    let at = ["begin", "end"].map(|it| at_marker("step_threads", it));
    let program = sandbox
        .launch("step_threads")
        .args(["1", "1600"])
        .host_env("NDBG_FAST_MEMORY", "1")
        .with(|launch| launch.breakpoints = at.into())
        .start();
    program.wait_stop();
    let before = program.status().memory;
    program.cont();
    program.wait_stop();
    let after = program.status().memory;
    let kernel = (after.kernel - before.kernel) / THROWN;
    assert!(kernel < 600, "{kernel} reads of the kernel for each");
}

#[test]
fn layer_can_be_switched_off() {
    let sandbox = Sandbox::new();
    let launch = sandbox.launch("throws").host_env("NDBG_FAST_MEMORY", "0");
    let reads = reads_of_a_stack(launch);
    // The library still comes by us, but every read goes to the kernel.
    assert_eq!(reads.cached, 0);
    assert!(reads.kernel > 0, "{reads:?}");
}

#[test]
fn binary_exports_what_the_library_imports() {
    let bytes = std::fs::read(testkit::fixtures::ndbg()).expect("the binary");
    let binary = object::File::parse(&*bytes).expect("an ELF file");
    let exported: Vec<_> = binary
        .dynamic_symbols()
        .filter(|symbol| symbol.is_definition() && symbol.is_global())
        .filter_map(|symbol| symbol.name().ok())
        .collect();
    for name in [
        "pread64", "read", "write", "close", "mmap64", "munmap", "waitpid",
    ] {
        assert!(exported.contains(&name), "{name} is not exported");
    }
}
