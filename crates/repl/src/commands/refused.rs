//! What other debuggers have and this one cannot do: said plainly, with what comes nearest.

use host::api::{Error, ErrorCode};

use crate::repl::Repl;

fn refuse(message: &str, hint: &str) -> Result<(), Error> {
    Err(Error::new(ErrorCode::NotSupported, message).hint(hint))
}

pub(super) fn watch(_: &mut Repl, _: &str) -> Result<(), Error> {
    refuse(
        "the .NET runtime cannot stop when memory changes: objects move, and it offers no watch",
        "`break SETTER` stops where a property is set, `break PLACE if x != OLD` where it has changed, `display x` shows it at every stop",
    )
}

pub(super) fn stepi(_: &mut Repl, _: &str) -> Result<(), Error> {
    refuse(
        "steps go from statement to statement, not from instruction to instruction",
        "`step`; with `set just-my-code off` it stops in code without source, too",
    )
}

pub(super) fn return_(_: &mut Repl, _: &str) -> Result<(), Error> {
    refuse(
        "the .NET runtime cannot make a method return before its end",
        "`jump LINE` goes to its return statement, `finish` runs to its end",
    )
}

pub(super) fn reverse(_: &mut Repl, _: &str) -> Result<(), Error> {
    refuse(
        "nothing is recorded, so the program cannot run backwards",
        "`run` starts it again; `jump LINE` goes back inside the method without undoing anything",
    )
}
