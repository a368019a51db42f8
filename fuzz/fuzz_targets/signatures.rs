//! Signature blobs, and the text of what they hold.
#![no_main]

use std::sync::LazyLock;

use fuzz::walk;
use libfuzzer_sys::fuzz_target;
use metadata::Metadata;
use metadata::tables::Layout;

/// Metadata with a table stream and nothing in it: all names are unknown.
static EMPTY: LazyLock<(Vec<u8>, Layout)> = LazyLock::new(|| {
    let mut bytes = b"BSJB\x01\0\x01\0\0\0\0\0\x04\0\0\0v4\0\0\0\0\x01\0".to_vec();
    bytes.extend([36, 0, 0, 0, 24, 0, 0, 0]);
    bytes.extend(b"#~\0\0");
    bytes.extend([0; 24]);
    let layout = Layout::parse(&bytes).expect("empty metadata");
    (bytes, layout)
});

fuzz_target!(|data: &[u8]| {
    let (bytes, layout) = &*EMPTY;
    walk::signatures(Metadata::new(bytes, layout), data);
});
