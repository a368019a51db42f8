//! What the runtime has emitted for itself: calls of native code and from it, calls of several delegates at once.
//!
//! The runtime's library takes such functions for those of `DynamicMethod`: both belong to no module. The runtime names
//! them all; compiled code is preceded by a reference to its description, and that refers to the name. None of this is
//! part of a contract, so what is read counts only if it is such a name to the last letter; whatever else is there, the
//! function stays one that a program may have emitted.

use cordebug::bindings;
use cordebug::process::Process;
use cordebug::thread::Frame;

use super::frame::internal_name;

/// What the names that the runtime gives begin with.
const PREFIX: &[u8] = b"IL_STUB";
/// Letters read of a name.
const MAX_NAME: usize = 64;
/// Words of a code's header that may refer to the description of its function: debug information, exception clauses and
/// garbage collection come first.
const HEADER_WORDS: usize = 6;
/// Words of a description that may refer to the name.
const DESCRIPTION_WORDS: usize = 10;

/// What a frame stands for that runs code which the runtime has emitted for itself.
pub(super) fn name(process: &Process, frame: &Frame) -> Option<String> {
    let start = frame.code_start()?;
    let header = read_word(process, start.checked_sub(8)?)?;
    let descriptions = read_words::<HEADER_WORDS>(process, header);
    let name = descriptions.into_iter().flatten().find_map(|description| {
        let words = read_words::<DESCRIPTION_WORDS>(process, description);
        let mut words = words.into_iter().flatten();
        words.find_map(|word| stub_name(process, word))
    })?;
    Some(words_for(&name))
}

/// The name of a stub in C#'s and the runtime's terms.
fn words_for(name: &str) -> String {
    match name {
        "IL_STUB_PInvoke" | "IL_STUB_CALLI_PInvoke" => {
            internal_name(bindings::STUBFRAME_M2U).into()
        }
        "IL_STUB_ReversePInvoke" => internal_name(bindings::STUBFRAME_U2M).into(),
        "IL_STUB_MulticastDelegate_Invoke" => "[call of several delegates]".into(),
        other => format!("[emitted by the runtime: {other}]"),
    }
}

/// The name at an address, if the runtime gives such names.
fn stub_name(process: &Process, address: u64) -> Option<String> {
    let mut bytes = [0; MAX_NAME];
    let got = process.read_memory(address, &mut bytes).ok()?;
    let bytes = bytes.get(..got)?;
    let length = bytes.iter().position(|byte| *byte == 0)?;
    let name = bytes.get(..length)?;
    let is_name = name.starts_with(PREFIX)
        && name
            .iter()
            .all(|it| it.is_ascii_alphanumeric() || *it == b'_');
    is_name.then(|| String::from_utf8_lossy(name).into_owned())
}

fn read_word(process: &Process, address: u64) -> Option<u64> {
    read_words::<1>(process, address).first().copied().flatten()
}

/// Words from an address on; nothing where none can be read, or where a word is no address.
fn read_words<const N: usize>(process: &Process, address: u64) -> [Option<u64>; N] {
    std::array::from_fn(|index| {
        let at = address.checked_add(8 * index as u64)?;
        let word = process.read_word(at)?;
        (word > 0x1_0000 && word >> 47 == 0).then_some(word)
    })
}
