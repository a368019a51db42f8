//! What can go wrong between us and a runtime.

use std::io;
use std::path::PathBuf;

use crate::com::HRESULT;
use crate::hresult;

/// Why the runtime or its debugger library could not do what was asked.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum Error {
    /// A call into the runtime's debugger library failed.
    #[error("{call} failed with {code}{}", explain(*code))]
    Clr { call: &'static str, code: HRESULT },
    #[error("there is no process {pid}")]
    NoSuchProcess { pid: u32 },
    #[error("process {pid} may not be inspected: {source}")]
    NotPermitted { pid: u32, source: io::Error },
    #[error("process {pid} is not a .NET program: it has no libcoreclr.so loaded")]
    NotDotnet { pid: u32 },
    #[error("{} is missing: the runtime in {} has no debugger library", path.display(), path.parent().unwrap_or(path).display())]
    LibraryMissing { path: PathBuf },
    #[error("{} cannot be loaded: {reason}", path.display())]
    LibraryBroken { path: PathBuf, reason: String },
    #[error("{what}: {source}")]
    System {
        what: &'static str,
        source: io::Error,
    },
}

impl Error {
    /// The HRESULT, if a call into the library failed.
    pub fn code(&self) -> Option<HRESULT> {
        match self {
            Error::Clr { code, .. } => Some(*code),
            _ => None,
        }
    }

    /// Whether it says that the target is gone.
    pub fn is_target_gone(&self) -> bool {
        matches!(
            self.code(),
            Some(hresult::CORDBG_E_PROCESS_TERMINATED | hresult::CORDBG_E_OBJECT_NEUTERED)
        )
    }
}

fn explain(code: HRESULT) -> String {
    match hresult::explanation(code) {
        Some(text) => format!(": {text}"),
        None => String::new(),
    }
}

/// Turns a failure code into an [`Error`] that names the call.
pub(crate) fn check(call: &'static str, code: HRESULT) -> Result<HRESULT, Error> {
    if code.is_ok() {
        Ok(code)
    } else {
        Err(Error::Clr { call, code })
    }
}

/// Calls a method of a COM object and names it in the error: `clr!(object, ICorDebugX::Method(args))?`.
///
/// The block that it expands to is sound for every method that takes numbers, pointers to live locals or buffers of
/// the length passed along, and interface pointers that are live: the types are checked by the generated wrapper.
macro_rules! clr {
    ($object:expr, $interface:ident :: $method:ident ( $($arg:expr),* $(,)? )) => {{
        // SAFETY: the object is live (we hold a reference) and each argument is a number, a live interface pointer,
        // or a pointer to a live local or buffer of the type and length that the method's declaration names.
        let code = unsafe { $object.$method($($arg),*) };
        $crate::error::check(concat!(stringify!($interface), "::", stringify!($method)), code)
    }};
}

/// Like `clr!` for a method whose last argument stores an interface pointer, which becomes the value.
macro_rules! clr_out {
    ($object:expr, $interface:ident :: $method:ident ( $($arg:expr),* $(,)? )) => {{
        // SAFETY: as for `clr!`; the method stores null or a counted pointer of the declared interface.
        let stored = unsafe { $crate::com::out(|out| $object.$method($($arg,)* out)) };
        stored.map_err(|code| $crate::error::Error::Clr {
            call: concat!(stringify!($interface), "::", stringify!($method)),
            code,
        })
    }};
}

/// Like `clr_out!` for a method that may store null, which is no error: the value is an option.
macro_rules! clr_nullable {
    ($object:expr, $interface:ident :: $method:ident ( $($arg:expr),* $(,)? )) => {{
        // SAFETY: as for `clr!`; the method stores null or a counted pointer of the declared interface.
        let (code, stored) = unsafe { $crate::com::out_nullable(|out| $object.$method($($arg,)* out)) };
        $crate::error::check(concat!(stringify!($interface), "::", stringify!($method)), code)
            .map(|code| (code, stored))
    }};
}

pub(crate) use {clr, clr_nullable, clr_out};
