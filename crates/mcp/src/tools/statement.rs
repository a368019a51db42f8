//! Finds a statement in a source file by its text, so that a breakpoint need not count lines.

use std::path::Path;

use host::api::{Details, Error, ErrorCode, Line, Place, SourceMap};

use crate::policy::Policy;
use crate::report::{source, text};

/// Places told when a text is ambiguous.
const CANDIDATES: usize = 12;

/// A place that was named by the text of its statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ByText {
    /// Where the text was found.
    pub(crate) place: Place,
    /// The text.
    pub(crate) text: String,
}

impl ByText {
    /// Where the text stands now: the occurrence nearest to where it was. `path` is where the file is if it was named by
    /// a part of its path.
    pub(crate) fn found_again(&self, policy: &Policy, path: Option<&Path>) -> Result<Place, Error> {
        let Place::Line { file, line, .. } = &self.place else {
            return Ok(self.place.clone());
        };
        let content = match (read(policy, file), path) {
            (Err(_), Some(path)) => read(policy, &path.to_string_lossy()),
            (content, _) => content,
        };
        let (line, column) = find(file, &content?, &self.text, Some(line.0))?;
        Ok(Place::Line {
            file: file.clone(),
            line,
            column,
        })
    }
}

/// The text of a file that is named by its path.
pub(crate) fn read(policy: &Policy, file: &str) -> Result<String, Error> {
    policy.check_source(file)?;
    source::read(Path::new(file)).ok_or_else(|| {
        let message = format!(
            "{} cannot be read as a source file, so its text cannot be searched",
            text::quoted(file, 200)
        );
        Error::new(ErrorCode::InvalidFile, message)
            .hint("give the file's full path, or a line instead of text")
    })
}

/// The text of a file of a program that does not run yet: named by its path, or by the end of one.
pub(super) fn read_of(
    policy: &Policy,
    program: &Path,
    maps: &[SourceMap],
    cwd: Option<&Path>,
    file: &str,
) -> Result<String, Error> {
    let path = Path::new(file);
    if path.is_absolute() || path.is_file() {
        return read_unchanged(policy, program, maps, path);
    }
    let below = cwd.map(|cwd| cwd.join(path)).filter(|it| it.is_file());
    let found = match below {
        Some(path) => vec![path],
        // A program that may not be launched is not looked into.
        None if policy.check_source(&program.to_string_lossy()).is_err() => Vec::new(),
        None => host::sources_named(program, file),
    };
    match found.as_slice() {
        [] => read(policy, file),
        [only] => read_unchanged(policy, program, maps, only),
        several => {
            let (count, shown) = (several.len(), text::quoted(file, 200));
            let message = format!("{count} files of the program are called {shown}");
            let names = several.iter().take(CANDIDATES);
            let names = names.map(|it| text::one_line(&it.to_string_lossy(), 200));
            Err(Error::new(ErrorCode::InvalidFile, message)
                .hint("give more of the path")
                .details(Details::Candidates(names.collect())))
        }
    }
}

/// The text of a file, unless it says nothing of the program because it was changed since that was built.
fn read_unchanged(
    policy: &Policy,
    program: &Path,
    maps: &[SourceMap],
    file: &Path,
) -> Result<String, Error> {
    let text = read(policy, &file.to_string_lossy())?;
    let may_look = policy.check_source(&program.to_string_lossy()).is_ok();
    if may_look && host::source_is_changed(program, file, maps) {
        return Err(changed(&file.to_string_lossy()));
    }
    Ok(text)
}

/// That a file has other lines than the program knows.
pub(super) fn changed(file: &str) -> Error {
    let message = format!(
        "{} was changed since the program was built, so the line that the text has now says nothing of the program",
        text::quoted(file, 200)
    );
    Error::new(ErrorCode::InvalidFile, message).hint(
        "build it again (debug_launch and debug_restart build a project first), or give the line that the statement had then",
    )
}

/// Where a text stands in a file: its line, and its column if the line does not begin with it.
pub(super) fn find(
    file: &str,
    content: &str,
    wanted: &str,
    near: Option<u32>,
) -> Result<(Line, Option<u32>), Error> {
    let shown = text::quoted(file, 200);
    let places = places(content, wanted);
    let nearest = near.and_then(|near| places.iter().min_by_key(|place| place.line.abs_diff(near)));
    match (places.as_slice(), nearest) {
        ([only], _) | (_, Some(only)) => Ok((Line(only.line), only.column)),
        ([], None) => {
            let words: Vec<&str> = wanted.split_whitespace().collect();
            let mut comments = (1..).zip(content.lines());
            let comment = comments.find(|(_, line)| position(line, &words).is_some());
            let wanted = text::quoted(wanted, 100);
            Err(match comment {
                Some((line, _)) => Error::new(
                    ErrorCode::InvalidLine,
                    format!("{shown} has {wanted} only in a comment, on line {line}"),
                )
                .hint("give a part of the statement to stop at, or a line: one without code moves on to the next"),
                None => Error::new(
                    ErrorCode::InvalidLine,
                    format!("{shown} has no line with {wanted}"),
                )
                .hint("give a part of one line as it is written; blanks between words do not matter"),
            })
        }
        (several, None) => {
            let message = format!(
                "{} lines of {shown} have {}",
                several.len(),
                text::quoted(wanted, 100)
            );
            let candidates = several
                .iter()
                .take(CANDIDATES)
                .map(|place| format!("{}: {}", place.line, place.text))
                .collect();
            Err(Error::new(ErrorCode::InvalidParameter, message)
                .hint("add line to say which, or give more of the text")
                .details(Details::Candidates(candidates)))
        }
    }
}

/// A line that holds the text.
#[derive(Debug, PartialEq)]
struct Occurrence {
    line: u32,
    column: Option<u32>,
    text: String,
}

fn places(content: &str, wanted: &str) -> Vec<Occurrence> {
    let words: Vec<&str> = wanted.split_whitespace().collect();
    if words.is_empty() {
        return Vec::new();
    }
    (1..)
        .zip(content.lines())
        // Nothing stops in a comment.
        .filter(|(_, whole)| !whole.trim_start().starts_with("//"))
        .filter_map(|(line, whole)| {
            let at = position(whole, &words)?;
            let begins_line = whole.get(..at)?.trim().is_empty();
            // Columns count UTF-16 units, as compilers do.
            let column = whole.get(..at)?.encode_utf16().count() + 1;
            Some(Occurrence {
                line,
                column: (!begins_line).then(|| u32::try_from(column).unwrap_or(u32::MAX)),
                text: text::one_line(whole.trim(), 100),
            })
        })
        .collect()
}

/// Where in a line the words stand one after another, whatever blanks are between them.
fn position(line: &str, words: &[&str]) -> Option<usize> {
    let (first, rest) = words.split_first()?;
    line.match_indices(first)
        .find(|(at, found)| {
            let mut after = line.get(at + found.len()..).unwrap_or_default();
            rest.iter().all(|word| {
                let Some(left) = after.trim_start().strip_prefix(word) else {
                    return false;
                };
                after = left;
                true
            })
        })
        .map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "class A // total += 2\n{\n    int  total = 0;\n    total += 1; total += 2;\n    Run(x => x.Price);\n    // nothing\n    total += 1;\n}\n";

    fn check(wanted: &str, expected: &[(u32, Option<u32>)]) {
        let found: Vec<_> = places(SOURCE, wanted)
            .iter()
            .map(|place| (place.line, place.column))
            .collect();
        assert_eq!(found, expected, "{wanted}");
    }

    #[test]
    fn a_text_is_found_whatever_its_blanks() {
        check("int total = 0;", &[(3, None)]);
        check("  int   total =\n 0;", &[(3, None)]);
        check("total += 1;", &[(4, None), (7, None)]);
        check("total += 2;", &[(4, Some(17))]);
        check("x.Price", &[(5, Some(14))]);
        check("nothing", &[]);
        check(" ", &[]);
    }

    #[test]
    fn several_places_need_a_line() {
        let find = |wanted, near| find("a.cs", SOURCE, wanted, near);
        let error = find("total += 1;", None).expect_err("ambiguous");
        assert_eq!(error.code, ErrorCode::InvalidParameter);
        assert!(
            matches!(error.details.as_deref(), Some(Details::Candidates(all)) if all.len() == 2)
        );
        let (line, _) = find("total += 1;", Some(100)).expect("nearest");
        assert_eq!(line, Line(7));
        let error = find("nothing", Some(1)).expect_err("nowhere");
        assert_eq!(error.code, ErrorCode::InvalidLine);
        assert!(error.message.contains("comment, on line 6"), "{error:?}");
        let error = find("something else", None).expect_err("nowhere");
        assert!(error.message.contains("has no line"), "{error:?}");
        let error = read(&Policy::default(), "/etc/passwd").expect_err("no source");
        assert_eq!(error.code, ErrorCode::InvalidFile);
    }
}
