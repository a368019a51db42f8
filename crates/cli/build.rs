//! Exports the calls of the fast memory layer from the executable, so that the runtime's libraries use them.

fn main() {
    for name in [
        "pread64", "read", "write", "close", "mmap64", "munmap", "waitpid",
    ] {
        println!("cargo::rustc-link-arg-bin=ndbg=-Wl,--export-dynamic-symbol={name}");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
