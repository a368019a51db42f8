//! The commands as text: `help COMMAND`, and the reference that is kept in `docs/terminal.md`.

use std::fmt::Write as _;

use super::info::TOPICS;
use super::{COMMANDS, Command, Group};

/// What there is to say of a command.
pub(super) fn text(command: &Command) -> String {
    let mut text = format!("{} {}", command.name, command.arguments);
    text.truncate(text.trim_end().len());
    if !command.aliases.is_empty() {
        // Writing to a String cannot fail.
        let _ = write!(text, "   (also {})", command.aliases.join(", "));
    }
    let _ = write!(text, "\n  {}.", command.summary);
    for line in command.help.lines() {
        let _ = write!(text, "\n  {line}");
    }
    text
}

/// The reference, in Markdown.
pub fn reference() -> String {
    let mut text = String::from(INTRODUCTION);
    for (group, title) in Group::ALL {
        let _ = write!(
            text,
            "\n## {title}\n\n| command | also | what it does |\n|---|---|---|\n"
        );
        for command in COMMANDS.iter().filter(|command| command.group == group) {
            let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
            let name = format!("{} {}", command.name, command.arguments);
            let aliases: Vec<_> = command.aliases.iter().map(|it| format!("`{it}`")).collect();
            let mut what = format!("{}.", command.summary);
            if !command.help.is_empty() {
                what.push(' ');
                what.push_str(command.help);
            }
            let _ = writeln!(
                text,
                "| `{}` | {} | {} |",
                cell(name.trim_end()),
                aliases.join(", "),
                cell(&what)
            );
        }
    }
    text.push_str("\n## Topics of `info`\n\n| topic | what it shows |\n|---|---|\n");
    for (names, what, _) in TOPICS {
        let names: Vec<_> = names.iter().map(|it| format!("`{it}`")).collect();
        let _ = writeln!(text, "| {} | {what} |", names.join(", "));
    }
    text
}

const INTRODUCTION: &str = "\
# The terminal

<!-- Written from the table of commands: UPDATE_EXPECT=1 cargo nextest run -p repl --test reference -->

`ndbg debug PROGRAM|PROJECT [-- ARGS]` starts a program, or builds a project and starts it, and stops at the first line of
its `Main`. `ndbg attach PID` stops a running one. The prompt knows gdb's habits: commands and their abbreviations, an empty
line repeats a step, Tab completes commands, expressions, methods and files, and the history is kept in
`$XDG_STATE_HOME/ndbg/history` (else `~/.local/state/ndbg/history`).

While the program runs, the terminal is the program's: what it writes is shown as it comes, what is typed goes to its
standard input line by line (after the first 0.3 s, so that commands can be typed ahead of steps), Ctrl-D ends that input, and Ctrl-C stops the program. Its streams are pipes, so it does not
take them for a terminal; `--tty /dev/pts/N` gives it another terminal instead. Colours appear on a terminal only, and not
if `NO_COLOR` is set.

**Scripts.** `-x FILE` and `--ex COMMAND` run commands first, in the order given; `source FILE` does it at the prompt. With
`--batch`, ndbg ends after them without asking anybody, and its own standard input is the program's; without a script,
commands are read from standard input. The first command that fails ends a script. Errors go to standard error.

| exit code | means |
|---|---|
| the program's own | it ended; 128 + N if signal N ended it |
| 134 | the script ended while the program was stopped at an exception that nobody catches, or gave up: it could only abort |
| 0 | the script ended while the program was still there otherwise: a launched one was ended, an attached one let go |
| N | `quit N` |
| 123 | a command of the script failed |
| 125, 126, 127 | ndbg failed; the program cannot be built, run or debugged; there is no such program |
| 130, 143, 129 | SIGINT, SIGTERM, SIGHUP came |

At a prompt that a person types at, leaving is code 0.

**Places** are `LINE` and `+N`, `-N` in the file at hand, `FILE:LINE`, `FILE:LINE:COLUMN`, `TYPE.METHOD`, `METHOD`,
`METHOD(int, string)`. **Expressions** are C#, see [expressions.md](expressions.md).
";
