//! Bytes on an editor's connection: messages, the end or an error, and no more of them than came.
#![no_main]

use dap::framing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut input = data;
    let mut held = 0;
    while let Ok(Some(body)) = framing::read(&mut input) {
        held += body.len();
        let mut again = Vec::new();
        framing::write(&mut again, &body).expect("a vector takes all");
        let read = framing::read(&mut again.as_slice()).expect("it was just written");
        assert_eq!(read.as_deref(), Some(body.as_slice()));
    }
    assert!(held <= data.len(), "bytes that did not come");
});
