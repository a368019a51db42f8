//! Writing for people: to standard output without a word about a reader that is gone, and without letting text from
//! a program control the terminal.

use std::io::{self, IsTerminal, Write};

use rustix::termios;
use signal_hook::consts::SIGPIPE;

/// Writes all of it to standard output. If the reader is gone, the process ends as other tools do: by SIGPIPE.
pub(crate) fn write(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            // Does not return: the default action of SIGPIPE is to end the process.
            signal_hook::low_level::emulate_default_handler(SIGPIPE)?;
            Err(error)
        }
        other => other,
    }
}

/// The width of the terminal that standard output is, if it is one.
pub(crate) fn width() -> Option<usize> {
    let stdout = io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    let size = termios::tcgetwinsize(&stdout).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Whether standard output may be coloured.
pub(crate) fn coloured() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    io::stdout().is_terminal() && !refused
}

/// Text with everything visible: control characters, but for line ends and tabs, are written as escapes.
pub(crate) fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for char in text.chars() {
        if char.is_control() && char != '\n' && char != '\t' {
            shown.extend(char.escape_unicode());
        } else {
            shown.push(char);
        }
    }
    shown
}

/// At most `width` characters, the last one `…` if something was cut off.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept = text.chars().take(width.saturating_sub(1));
    kept.chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_become_visible() {
        assert_eq!(plain("a\tb\nc"), "a\tb\nc");
        assert_eq!(plain("\u{1b}[31mred\r"), "\\u{1b}[31mred\\u{d}");
    }

    #[test]
    fn long_text_is_cut_with_a_mark() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcd", 3), "ab…");
        assert_eq!(cut("äöü", 2), "ä…");
        assert_eq!(cut("abc", 0), "…");
    }
}
