//! The lines of a source file around a place in it.
//!
//! The path comes from the debugged program's symbols, so it is not trusted: only regular files of moderate size that
//! are named like source code are read.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::SourceLine;
use super::text;

/// Lines shown before and after the current one.
const AROUND: u32 = 2;
/// Files larger than this are not source that a person wrote.
const MAX_BYTES: u64 = 8 << 20;
/// Characters shown of one line.
const MAX_LINE: usize = 200;
/// What source of .NET languages is called.
const EXTENSIONS: &[&str] = &["cs", "csx", "fs", "fsx", "vb", "razor", "cshtml", "il"];

/// The lines around `line`; empty if the file cannot be read or does not have that line.
pub fn around(path: &Path, line: u32) -> Vec<SourceLine> {
    read(path).map_or_else(Vec::new, |source| excerpt(&source, line))
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

fn excerpt(source: &str, line: u32) -> Vec<SourceLine> {
    let wanted = line.saturating_sub(AROUND).max(1)..=line.saturating_add(AROUND);
    let lines: Vec<_> = (1..)
        .zip(source.lines())
        .skip_while(|(number, _)| number < wanted.start())
        .take_while(|(number, _)| number <= wanted.end())
        .map(|(number, text)| SourceLine {
            line: number,
            // Tabs and wide indentation carry no meaning here.
            text: text::one_line(&text.replace('\t', "    "), MAX_LINE),
            current: number == line,
        })
        .collect();
    if lines.iter().any(|line| line.current) {
        lines
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, line: u32, expected: &[(u32, &str, bool)]) {
        let lines = excerpt(source, line);
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
    fn only_source_files_are_read() {
        assert_eq!(around(Path::new("/etc/passwd"), 1), []);
        assert_eq!(around(Path::new("/dev/zero.cs"), 1), []);
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/hello.cs");
        assert_eq!(around(&own, 1).len(), 3);
    }
}
