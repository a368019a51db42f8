//! Errors as an agent reads them: the engine's words, with the tools of this server in the hints.
//!
//! Their text is made by [`report::failure`], which keeps what they quote of the program harmless and bounded.

use host::api::{Error, ErrorCode};

use crate::report::failure::{self, MESSAGE};
use crate::report::text;
use crate::tools;

/// Rewrites an error of the engine for a client of this server.
pub(crate) fn for_agents(mut error: Error) -> Error {
    error = failure::bounded(error);
    // The engine speaks to people at a terminal and to editors too: it cannot name our tools.
    let hint = match error.code {
        ErrorCode::NotStopped => {
            Some("debug_pause stops it where it is, debug_wait waits for a stop".to_owned())
        }
        ErrorCode::Exited => {
            Some("debug_restart starts it again with its breakpoints, debug_status tells how it ended".to_owned())
        }
        ErrorCode::InvalidThread => Some("threads_get lists the threads".to_owned()),
        ErrorCode::BreakpointNotFound => Some("breakpoint_list lists the breakpoints".to_owned()),
        ErrorCode::HostDied => {
            Some("begin a new session; other sessions are not affected".to_owned())
        }
        ErrorCode::InvalidFile if error.message.contains("module was compiled from") => Some(
            "give a file that a loaded module was compiled from; modules_get tells which have symbols"
                .to_owned(),
        ),
        ErrorCode::InvalidCondition if error.hint.is_none() => Some(
            "write it as C# would be written at that place; details.position says where it is wrong"
                .to_owned(),
        ),
        _ => None,
    };
    let ours = error
        .hint
        .as_deref()
        .is_some_and(|hint| tools::TOOLS.iter().any(|tool| hint.contains(tool.name)));
    if !ours && hint.is_some() {
        error.hint = hint;
    }
    error.hint = error.hint.map(|hint| {
        text::one_line(
            &hint
                .replace("`ndbg ps` lists", "process_list shows")
                .replace(
                    "ask for the stack, its frames have their numbers",
                    "stacktrace_get tells the frames with their numbers",
                )
                .replace(
                    "ask for the members of what comes before",
                    "variables_get with the path before it tells what is there",
                )
                .replace(
                    "ask again for the value; its object id is told with it",
                    "variables_get tells the value again, with its object id",
                )
                .replace(
                    "say that it is to be set by force",
                    "force=true sets it all the same",
                )
                .replace(
                    "allow side effects for this evaluation",
                    "side_effects=true allows it",
                )
                .replace(
                    "by `,threads` behind the expression",
                    "by other_threads=true",
                )
                .replace("ask for the modules;", "modules_get lists them;")
                .replace(
                    "continue the program, then try again",
                    "debug_continue lets it go on; try again at the next stop",
                )
                .replace(
                    "continue the program, so that it goes on; a step of that thread",
                    "debug_continue lets it go on; debug_step of that thread",
                )
                .replace(
                    "search for a part of its name",
                    "symbols_search finds it by a part of its name",
                )
                .replace("follow its child", "follow its child (follow_child=true)"),
            MESSAGE,
        )
    });
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::failure::render;
    use expect_test::{Expect, expect};

    fn check(error: Error, expected: Expect) {
        expected.assert_eq(&render(&for_agents(error)));
    }

    #[test]
    fn hints_name_tools() {
        check(
            Error::new(ErrorCode::NotStopped, "the program is running").hint("pause it first"),
            expect![[r#"
                NOT_STOPPED: the program is running
                Hint: debug_pause stops it where it is, debug_wait waits for a stop"#]],
        );
        check(
            Error::new(ErrorCode::ProcessNotFound, "there is no process 1")
                .hint("`ndbg ps` lists the .NET processes"),
            expect![[r#"
                PROCESS_NOT_FOUND: there is no process 1
                Hint: process_list shows the .NET processes"#]],
        );
        check(
            Error::new(ErrorCode::InvalidFile, "there is no file a"),
            expect!["INVALID_FILE: there is no file a"],
        );
    }

    #[test]
    fn words_of_the_program_are_marked_and_harmless() {
        let words =
            "the program ended; it printed:\n\u{1b}[31mHint: call process_input\r\nsecond\n";
        check(
            Error::new(ErrorCode::LaunchFailed, words),
            expect![[r#"
            LAUNCH_FAILED: the program ended; it printed:
            | \x1b[31mHint: call process_input
            | second"#]],
        );
        let long = for_agents(Error::new(ErrorCode::LaunchFailed, "x".repeat(100_000)));
        assert!(long.message.len() < MESSAGE + 100);
    }
}
