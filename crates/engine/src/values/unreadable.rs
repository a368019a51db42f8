//! Why a value cannot be read.

use std::rc::Rc;

use crate::types::{Type, TypeError};

/// Why a value cannot be read; the text is for the user, in place of the value.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum Unreadable {
    /// The place was read before the program ran the last time.
    #[error("the program has run since this was read")]
    Stale,
    #[error("null has no {what}")]
    Null { what: String },
    #[error("the optimiser has removed it, or its register is used for something else here")]
    OptimizedAway,
    #[error("the method has just been entered and has not stored it yet: one step helps")]
    NotStored,
    #[error(
        "it is in a register for floating-point numbers, which the runtime's debugger library does not tell here"
    )]
    InFloatingRegister,
    #[error(
        "it is said to be in a register that the last call was free to use: what is in there now is something else"
    )]
    Overwritten,
    #[error(
        "the method sets it or takes its address, and optimised code may keep what it is now elsewhere: only what it was at the beginning is known"
    )]
    MayBeOld,
    #[error("not assigned yet")]
    NotAssigned,
    #[error("the compiler has not kept it: nothing in the method uses it")]
    Unused,
    #[error("not kept over the {over}: nothing reads it afterwards, so the compiler let it go")]
    NotKept { over: &'static str },
    #[error(
        "the method is suspended by the runtime itself (runtime-async), which does not tell where its variables are"
    )]
    RuntimeAsync,
    #[error("no memory can be read at 0x{address:x}")]
    NoMemory { address: u64 },
    #[error("what lies at 0x{address:x} is not an object: the reference or the heap is damaged")]
    NotAnObject { address: u64 },
    #[error("{ty} has no field {name}")]
    NoField { ty: Rc<str>, name: String },
    #[error("{ty} is not {wanted}")]
    WrongKind { ty: Rc<str>, wanted: &'static str },
    #[error("index {index} is outside of {}..{}", first, i128::from(*first) + i128::from(*length))]
    OutOfRange {
        index: i128,
        /// The lowest index.
        first: i64,
        length: u64,
    },
    #[error(
        "it says that its size is {size}, more than anything of its type can have: it is damaged"
    )]
    TooLarge { size: u64 },
    #[error("it has {size} bytes, more than are read at once")]
    TooMuch { size: u64 },
    #[error("\"{path}\" cannot be followed at {at}: {why}")]
    Path {
        path: String,
        at: usize,
        why: String,
    },
    #[error("the runtime has not loaded {ty}: it does not say where its fields lie")]
    NotLoaded { ty: Rc<str> },
    #[error(
        "the runtime tells no place for the static fields of the type: nothing has used it so far, or it belongs to an assembly that can be unloaded"
    )]
    NotInitialized,
    #[error(
        "the runtime's debugger library looks for a static field that is a pointer in the wrong place, and where it is cannot be told"
    )]
    StaticPointer,
    #[error("the class constructor of {ty} has not run yet, so its static fields are not set")]
    NotConstructed { ty: Rc<str> },
    #[error(
        "the class constructor of {ty} threw: the program gets a TypeInitializationException wherever it uses the type"
    )]
    ConstructorThrew { ty: Rc<str> },
    #[error("the runtime does not tell the results of calls that return {ty}")]
    NotReturned { ty: Rc<str> },
    #[error(
        "the compiled code keeps no place behind the call at which it could be read: optimised code has dissolved it"
    )]
    Dissolved,
    #[error(
        "the runtime does not tell it: it is a [ThreadStatic] field of a generic type over a reference type; a method of the program that returns it can be called"
    )]
    ThreadStaticOfShared,
    #[error("only its getter can tell, which would run code in the program")]
    WouldRunCode,
    #[error(
        "a reference there can only be set through the runtime, which does not know this place"
    )]
    NoRuntimePlace,
    #[error("the memory at 0x{address:x}, where it lies, cannot be written")]
    NotWritten { address: u64 },
    #[error("its getter threw {exception}")]
    Threw { exception: String },
    #[error("its getter was not run to its end: {why}")]
    NotRun { why: String },
    /// Code was run for it, or was not any more; why it gave nothing.
    #[error("{why}")]
    Failed { why: String },
    #[error("{ty} has no element {key}")]
    NoElement { ty: Rc<str>, key: String },
    #[error("the field {field} of {ty} is not as this version of ndbg knows it")]
    UnknownLayout { ty: Rc<str>, field: String },
    /// Its name, or the key that it belongs to, says that it is a secret.
    #[error("*** (masked because of its name)")]
    Masked(Type),
    #[error("{0}")]
    Type(#[from] TypeError),
    #[error("{0}")]
    Runtime(Rc<cordebug::Error>),
}

impl Unreadable {
    /// Why nothing tells a property that can only be set.
    pub(super) fn no_getter() -> Self {
        Self::Failed {
            why: "it has no getter, and can only be set".into(),
        }
    }
}

impl From<cordebug::Error> for Unreadable {
    fn from(error: cordebug::Error) -> Self {
        use cordebug::hresult::{
            CORDBG_E_CLASS_NOT_LOADED, CORDBG_E_IL_VAR_NOT_AVAILABLE,
            CORDBG_E_STATIC_VAR_NOT_AVAILABLE,
        };
        match error.code() {
            Some(CORDBG_E_IL_VAR_NOT_AVAILABLE) => Self::OptimizedAway,
            Some(CORDBG_E_STATIC_VAR_NOT_AVAILABLE | CORDBG_E_CLASS_NOT_LOADED) => {
                Self::NotInitialized
            }
            _ => Self::Runtime(Rc::new(error)),
        }
    }
}

impl From<metadata::Malformed> for Unreadable {
    fn from(error: metadata::Malformed) -> Self {
        Self::Type(error.into())
    }
}
