//! Source text: the lines around a place, or a part of a file.
//!
//! The path comes from the debugged program's symbols, so it is not trusted: only regular files of moderate size that
//! are named like source code are read.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use engine::api::SourceText;
use schemars::JsonSchema;
use serde::Serialize;

use super::breakpoints::file_name;
use super::{Reader, Render, SourceLine, is_false, text};

/// Lines shown before and after the current one.
const AROUND: u32 = 2;
/// Files larger than this are not source that a person wrote.
const MAX_BYTES: u64 = 8 << 20;
/// Characters shown of one line.
const MAX_LINE: usize = 200;
/// Bytes of a report with lines.
const MAX_REPORT: isize = 12_000;
/// What source of .NET languages is called.
const EXTENSIONS: &[&str] = &["cs", "csx", "fs", "fsx", "vb", "razor", "cshtml", "il"];

/// The lines around `line`; empty if the file cannot be read or does not have that line.
pub fn around(path: &Path, line: u32, column: u32) -> Vec<SourceLine> {
    read(path).map_or_else(Vec::new, |source| excerpt(&source, line, column))
}

/// The text of a source file; none if it cannot be read or is not named like one.
pub fn read(path: &Path) -> Option<String> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    if !EXTENSIONS.contains(&extension.as_str())
        || !std::fs::metadata(path).is_ok_and(|data| data.is_file() && data.len() <= MAX_BYTES)
    {
        return None;
    }
    let mut bytes = Vec::new();
    let file = File::open(path).ok()?;
    file.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    Some(text.trim_start_matches('\u{feff}').to_owned())
}

/// Lines with their numbers, the current one marked.
pub fn excerpt_text(lines: &[SourceLine]) -> String {
    let mut out = String::new();
    super::render::push_source(&mut out, lines);
    out
}

/// The lines of a text around `line`; empty if it does not have that line. Of a very long one the part is shown in which
/// `column` is.
pub fn excerpt(source: &str, line: u32, column: u32) -> Vec<SourceLine> {
    let first = line.saturating_sub(AROUND).max(1);
    let lines = numbered(
        source,
        first,
        line.saturating_add(AROUND),
        Some((line, column)),
    );
    if lines.iter().any(|line| line.current) {
        lines
    } else {
        Vec::new()
    }
}

fn numbered(source: &str, first: u32, last: u32, current: Option<(u32, u32)>) -> Vec<SourceLine> {
    (1..)
        .zip(source.lines())
        .skip_while(|(number, _)| *number < first)
        .take_while(|(number, _)| *number <= last)
        .map(|(number, text)| {
            let here = current.filter(|(line, _)| *line == number);
            let (before, text) = here.map_or((0, text), |(_, column)| from_column(text, column));
            // Tabs and wide indentation carry no meaning here.
            let mut shown = text::one_line(&text.replace('\t', "    "), MAX_LINE);
            if before > 0 {
                shown = format!("({before} characters before) …{shown}");
            }
            SourceLine {
                line: number,
                text: shown,
                current: here.is_some(),
            }
        })
        .collect()
}

/// The part of a line to show if the statement at `column` would be cut off, and how many characters come before it.
fn from_column(line: &str, column: u32) -> (usize, &str) {
    // Columns count UTF-16 units; a little of what comes before says where one is.
    const BEFORE: usize = 40;
    let column = usize::try_from(column).unwrap_or(0).saturating_sub(1);
    if column + BEFORE < MAX_LINE {
        return (0, line);
    }
    let (mut units, mut characters) = (0, 0);
    for (at, character) in line.char_indices() {
        if units + BEFORE >= column {
            return (characters, line.get(at..).unwrap_or_default());
        }
        units += character.len_utf16();
        characters += 1;
    }
    (0, line)
}

/// A part of a source file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct SourceReport {
    /// The session's id.
    pub session: String,
    /// The file.
    pub file: String,
    /// Its lines.
    pub lines: Vec<SourceLine>,
    /// How many lines the file has.
    pub total_lines: u32,
    /// Whether the text comes out of the program's symbols, because the file is not here as it was compiled.
    #[serde(skip_serializing_if = "is_false")]
    pub embedded: bool,
    /// Whether the file was changed since the program was built: its lines may be others.
    #[serde(skip_serializing_if = "is_false")]
    pub changed: bool,
    /// Modules that were compiled from it.
    pub modules: Vec<String>,
}

impl SourceReport {
    /// `count` lines from `first` on, fewer if they would be too long; `current`, a line and column, is marked.
    pub fn of(
        session: &str,
        source: &SourceText,
        first: u32,
        count: u32,
        current: Option<(u32, u32)>,
    ) -> Self {
        let last = first.saturating_add(count.saturating_sub(1));
        // In a changed file another line has that number.
        let is_as_compiled = source.changed != Some(true) || source.embedded;
        let current = current.filter(|_| is_as_compiled);
        let mut lines = numbered(&source.text, first, last, current);
        let mut room = MAX_REPORT;
        let fitting = lines.iter().take_while(|line| {
            // Numbers and marks count, too.
            room -= isize::try_from(line.text.len() + 40).unwrap_or(isize::MAX);
            room >= 0
        });
        let fitting = fitting.count();
        lines.truncate(fitting);
        Self {
            session: session.to_owned(),
            file: text::one_line(&source.path, MAX_LINE),
            lines,
            total_lines: u32::try_from(source.text.lines().count()).unwrap_or(u32::MAX),
            embedded: source.embedded,
            changed: source.changed == Some(true),
            modules: source
                .modules
                .iter()
                .take(8)
                .map(|name| text::one_line(name, MAX_LINE))
                .collect(),
        }
    }
}

impl Render for SourceReport {
    fn render_for(&self, reader: Reader) -> String {
        let mut out = format!("{} ({} lines", self.file, self.total_lines);
        if self.embedded {
            out.push_str(", from the program's symbols");
        }
        out.push_str("):\n");
        if self.lines.is_empty() {
            out.push_str("(no such lines)\n");
        }
        super::render::push_source(&mut out, &self.lines);
        if let Some(last) = self.lines.last()
            && last.line < self.total_lines
        {
            // A person types `list` again.
            if reader == Reader::Agent {
                out.push_str(&format!(
                    "… it goes on: source_get with file={} and line={}\n",
                    text::quoted(file_name(&self.file), MAX_LINE),
                    last.line + 1
                ));
            }
        }
        if self.changed {
            out.push_str(
                "Note: the file was changed since the program was built; its lines may be others.\n",
            );
        }
        super::finish(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, line: u32, expected: &[(u32, &str, bool)]) {
        let lines = excerpt(source, line, 1);
        let found: Vec<_> = lines
            .iter()
            .map(|line| (line.line, line.text.as_str(), line.current))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_few_lines_around_the_current_one() {
        let source = "a\nb\n\tc\nd\ne\nf\n";
        check(
            source,
            3,
            &[
                (1, "a", false),
                (2, "b", false),
                (3, "    c", true),
                (4, "d", false),
                (5, "e", false),
            ],
        );
        check(
            source,
            1,
            &[(1, "a", true), (2, "b", false), (3, "    c", false)],
        );
        check(
            source,
            6,
            &[(4, "d", false), (5, "e", false), (6, "f", true)],
        );
        check(source, 7, &[]);
        check(source, u32::MAX, &[]);
        check("", 1, &[]);
    }

    #[test]
    fn of_a_long_line_the_statement_is_shown() {
        let source = "x;".repeat(200) + "ÜHere();" + &"y;".repeat(200);
        let shown = |column| excerpt(&source, 1, column).remove(0).text;
        assert!(shown(1).starts_with("x;x;"), "{}", shown(1));
        let there = shown(401);
        assert!(there.starts_with("(360 characters before) …x;"), "{there}");
        assert!(there.contains("x;ÜHere();y;"), "{there}");
        assert!(there.ends_with("more characters)"), "{there}");
        // What no line has is no reason to show nothing.
        assert!(shown(u32::MAX).starts_with("x;x;"));
    }

    #[test]
    fn only_source_files_are_read() {
        assert_eq!(around(Path::new("/etc/passwd"), 1, 1), []);
        assert_eq!(around(Path::new("/dev/zero.cs"), 1, 1), []);
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/hello.cs");
        assert_eq!(around(&own, 1, 1).len(), 3);
    }
}
