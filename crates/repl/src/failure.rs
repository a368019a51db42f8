//! Errors as a person reads them: the engine's words, with the commands of this front end in the hints.

use host::api::{Error, ErrorCode};
use report::{Reader, failure};

/// A command that was not given as it must be.
pub(crate) fn usage(message: impl Into<String>) -> Error {
    Error::new(ErrorCode::InvalidParameter, message)
}

/// There is no program that could be asked.
pub(crate) fn no_program() -> Error {
    Error::new(ErrorCode::NoSession, "the program is not being run").hint("`run` starts it")
}

/// An answer of the wrong kind: a bug.
pub(crate) fn unexpected() -> Error {
    Error::new(
        ErrorCode::Internal,
        "a bug in ndbg: the engine gave an answer of the wrong kind",
    )
}

/// The error as text.
pub(crate) fn render(error: &Error) -> String {
    let mut error = failure::bounded(error.clone());
    let hint = match error.code {
        ErrorCode::NotStopped => Some("Ctrl-C or `pause` stops it"),
        ErrorCode::Exited => Some("`run` starts it again"),
        ErrorCode::InvalidThread => Some("`info threads` lists the threads"),
        ErrorCode::BreakpointNotFound => Some("`info breakpoints` lists the breakpoints"),
        ErrorCode::HostDied => Some("`run` starts the program again"),
        _ => None,
    };
    let ours = error.hint.as_deref().is_some_and(|it| it.contains('`'));
    if let Some(hint) = hint
        && !ours
    {
        error.hint = Some(hint.to_owned());
    }
    error.hint = error.hint.map(|hint| in_commands(&hint));
    // The compiler's own word for it is ours already.
    if let Some(rest) = error.message.strip_prefix("error CS") {
        error.message = format!("CS{rest}");
    }
    failure::render_for(&error, Reader::Person)
}

/// The engine's hints name no commands.
pub(crate) fn in_commands(hint: &str) -> String {
    [
        (
            "ask for the stack, its frames have their numbers",
            "`backtrace` shows the frames with their numbers",
        ),
        (
            "ask for the members of what comes before",
            "`inspect` shows what is there",
        ),
        (
            "ask again for the value; its object id is told with it",
            "look at the value again",
        ),
        (
            "say that it is to be set by force",
            "`set -f` sets it all the same",
        ),
        ("ask for the modules;", "`info modules` lists them;"),
        (
            "search for a part of its name",
            "`info functions PART` and `info types PART` search",
        ),
        (
            "allow side effects, so that it can be run; or",
            "`print` runs it;",
        ),
        (
            "allow side effects for this evaluation, which runs",
            "`print` runs",
        ),
        (
            "allow side effects for this evaluation",
            "`print` runs code of the program",
        ),
        ("; for a tool that starts one, follow its child", ""),
        (", or follow its child", ""),
        ("in `env`, null removes one", "`--env NAME` removes one"),
        ("leave `cwd` out", "leave `--cwd` out"),
    ]
    .iter()
    .fold(hint.to_owned(), |hint, (engine, ours)| {
        hint.replace(engine, ours)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_name_commands() {
        let error = Error::new(ErrorCode::NotStopped, "the program is running").hint("pause it");
        assert_eq!(
            render(&error),
            "error: the program is running\nHint: Ctrl-C or `pause` stops it"
        );
        let error = Error::new(ErrorCode::EvaluationFailed, "error CS0103: no x")
            .hint("allow side effects for this evaluation");
        assert_eq!(
            render(&error),
            "error: CS0103: no x\nHint: `print` runs code of the program"
        );
        let error = no_program();
        assert_eq!(
            render(&error),
            "error: the program is not being run\nHint: `run` starts it"
        );
    }
}
