//! Colours, put onto the finished text: what is said does not depend on them.
//!
//! Source is coloured word by word, line by line; a comment or text that spans lines is coloured in its first line only.

const BOLD: &str = "\u{1b}[1m";
const DIM: &str = "\u{1b}[2m";
const RED: &str = "\u{1b}[31m";
const GREEN: &str = "\u{1b}[32m";
const YELLOW: &str = "\u{1b}[33m";
const BLUE: &str = "\u{1b}[34m";
const CYAN: &str = "\u{1b}[36m";
const RESET: &str = "\u{1b}[0m";

/// C#'s words, in order.
const KEYWORDS: &[&str] = &[
    "abstract",
    "as",
    "async",
    "await",
    "base",
    "bool",
    "break",
    "byte",
    "case",
    "catch",
    "char",
    "checked",
    "class",
    "const",
    "continue",
    "decimal",
    "default",
    "delegate",
    "do",
    "double",
    "else",
    "enum",
    "event",
    "explicit",
    "extern",
    "false",
    "finally",
    "fixed",
    "float",
    "for",
    "foreach",
    "goto",
    "if",
    "implicit",
    "in",
    "int",
    "interface",
    "internal",
    "is",
    "lock",
    "long",
    "namespace",
    "new",
    "null",
    "object",
    "operator",
    "out",
    "override",
    "params",
    "private",
    "protected",
    "public",
    "readonly",
    "record",
    "ref",
    "required",
    "return",
    "sbyte",
    "sealed",
    "short",
    "sizeof",
    "stackalloc",
    "static",
    "string",
    "struct",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "uint",
    "ulong",
    "unchecked",
    "unsafe",
    "ushort",
    "using",
    "var",
    "virtual",
    "void",
    "volatile",
    "when",
    "while",
    "with",
    "yield",
];

/// The text in colours.
pub(crate) fn paint(text: &str) -> String {
    let mut painted = String::with_capacity(text.len() * 2);
    for line in text.split_inclusive('\n') {
        let (line, end) = match line.strip_suffix('\n') {
            Some(line) => (line, "\n"),
            None => (line, ""),
        };
        painted.push_str(&paint_line(line));
        painted.push_str(end);
    }
    painted
}

fn paint_line(line: &str) -> String {
    if let Some((mark, number, code)) = source_line(line) {
        return if mark == ">" {
            format!("{BOLD}{GREEN}> {number} |{RESET} {}", paint_code(code))
        } else {
            format!("  {DIM}{number} |{RESET} {}", paint_code(code))
        };
    }
    let whole = |colour: &str| format!("{colour}{line}{RESET}");
    if line.starts_with("error: ") || line.starts_with("Exception ") {
        whole(RED)
    } else if line.starts_with("Hint: ") || line.starts_with("Note: ") || line.starts_with("log| ")
    {
        whole(DIM)
    } else if line.starts_with("The program ") {
        whole(BOLD)
    } else if let Some(rest) = line.strip_prefix("  #") {
        match rest.split_once(' ') {
            Some((number, frame)) => format!("  {YELLOW}#{number}{RESET} {frame}"),
            None => line.to_owned(),
        }
    } else {
        line.to_owned()
    }
}

/// `> 12 | code` in its parts.
fn source_line(line: &str) -> Option<(&str, &str, &str)> {
    let (mark, rest) = line.split_at_checked(2)?;
    let (number, code) = rest.split_once(" |")?;
    let is_number = !number.is_empty() && number.trim_start().chars().all(|it| it.is_ascii_digit());
    let mark = mark.trim_end();
    (is_number && (mark == ">" || mark.is_empty()))
        .then(|| (mark, number, code.strip_prefix(' ').unwrap_or(code)))
}

/// A line of C# in colours.
fn paint_code(code: &str) -> String {
    let mut painted = String::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let (length, colour) = token(rest, first);
        let (token, after) = rest.split_at(length.clamp(first.len_utf8(), rest.len()));
        match colour {
            Some(colour) => {
                painted.push_str(colour);
                painted.push_str(token);
                painted.push_str(RESET);
            }
            None => painted.push_str(token),
        }
        rest = after;
    }
    painted
}

/// The length of what a text begins with, and its colour.
fn token(text: &str, first: char) -> (usize, Option<&'static str>) {
    let while_true = |holds: fn(char) -> bool| text.find(|it| !holds(it)).unwrap_or(text.len());
    if text.starts_with("//") {
        return (text.len(), Some(DIM));
    }
    if text.starts_with("/*") {
        let end = text.find("*/").map_or(text.len(), |at| at + 2);
        return (end, Some(DIM));
    }
    match first {
        '"' | '\'' => (quoted(text, first, true), Some(CYAN)),
        '$' | '@' if text.starts_with("$\"") || text.starts_with("@\"") => {
            let rest = text.get(1..).unwrap_or_default();
            (1 + quoted(rest, '"', first == '$'), Some(CYAN))
        }
        first if first.is_ascii_digit() => (
            while_true(|it| it.is_alphanumeric() || it == '.' || it == '_'),
            Some(YELLOW),
        ),
        first if first.is_alphabetic() || first == '_' => {
            let length = while_true(|it| it.is_alphanumeric() || it == '_');
            let word = text.get(..length).unwrap_or_default();
            let colour = KEYWORDS.binary_search(&word).is_ok().then_some(BLUE);
            (length, colour)
        }
        other => (other.len_utf8(), None),
    }
}

/// The length of a quoted text with its quotes.
fn quoted(text: &str, quote: char, escapes: bool) -> usize {
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' if escapes => escaped = true,
            character if character == quote => return at + character.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Colours as marks that can be read.
    fn marked(text: &str) -> String {
        let mut marked = paint(text);
        for (code, mark) in [
            (BOLD, "<bold>"),
            (DIM, "<dim>"),
            (RED, "<red>"),
            (GREEN, "<green>"),
            (YELLOW, "<yellow>"),
            (BLUE, "<blue>"),
            (CYAN, "<cyan>"),
            (RESET, "</>"),
        ] {
            marked = marked.replace(code, mark);
        }
        marked
    }

    #[test]
    fn words_are_in_order() {
        assert!(KEYWORDS.is_sorted());
    }

    #[test]
    fn source_is_coloured_and_the_current_line_marked() {
        assert_eq!(
            marked("> 12 | var x = \"a\\\"b\" + 1.5; // why\n"),
            "<bold><green>> 12 |</> <blue>var</> x = <cyan>\"a\\\"b\"</> + <yellow>1.5</>; <dim>// why</>\n"
        );
        assert_eq!(
            marked("   9 | return $\"{x}\";"),
            "  <dim> 9 |</> <blue>return</> <cyan>$\"{x}\"</>;"
        );
        assert_eq!(marked("  8 |"), "  <dim>8 |</> ");
    }

    #[test]
    fn other_lines_are_told_apart() {
        assert_eq!(marked("error: no"), "<red>error: no</>");
        assert_eq!(marked("  #0 Main()"), "  <yellow>#0</> Main()");
        assert_eq!(marked("  x: int = 1"), "  x: int = 1");
        assert_eq!(marked("a | b"), "a | b");
    }

    #[test]
    fn nothing_is_lost() {
        for text in ["", "\n", "> 1 | \"open", "> 1 | é'ü", "> 1 | /* a", "\"\\"] {
            let mut plain = paint(text);
            for code in [BOLD, DIM, RED, GREEN, YELLOW, BLUE, CYAN, RESET] {
                plain = plain.replace(code, "");
            }
            assert_eq!(plain.trim_end(), text.trim_end());
        }
    }
}
