//! What the runtime's HRESULTs are called and what the important ones mean.

mod codes;

pub use codes::*;

use crate::com::HRESULT;

/// Win32 errors the runtime wraps in an HRESULT but does not list among its own.
const WIN32: [(u32, &str); 6] = [
    (0x8007_0018, "ERROR_BAD_LENGTH"),
    (0x8007_007a, "ERROR_INSUFFICIENT_BUFFER"),
    (0x8007_007e, "ERROR_MOD_NOT_FOUND"),
    (0x8007_01e7, "ERROR_INVALID_ADDRESS"),
    (0x8007_012b, "ERROR_PARTIAL_COPY"),
    (0x8007_0490, "ERROR_NOT_FOUND"),
];

/// The name of a code, if it has one.
pub fn name(hr: HRESULT) -> Option<&'static str> {
    let value = hr.0.cast_unsigned();
    if let Ok(at) = codes::NAMES.binary_search_by_key(&value, |(value, _)| *value) {
        return codes::NAMES.get(at).map(|(_, name)| *name);
    }
    WIN32
        .iter()
        .find(|(known, _)| *known == value)
        .map(|(_, name)| *name)
}
