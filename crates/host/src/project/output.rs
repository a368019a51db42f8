//! What a build prints: errors and warnings in MSBuild's form, and the file that was made.
//!
//! Invariant: what is kept is bounded, however much a build prints.

use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};

use engine::api::{Diagnostic, Line, Severity};

/// Errors and warnings kept.
const MAX_DIAGNOSTICS: usize = 1000;
/// Lines kept for a build that fails without an error in MSBuild's form.
const TAIL: usize = 40;

/// What is kept of a build's output.
#[derive(Debug)]
pub(super) struct Log {
    project: PathBuf,
    /// Each once, in the order they were told.
    pub(super) diagnostics: Vec<Diagnostic>,
    seen: HashSet<Diagnostic>,
    /// The file that the project became.
    pub(super) built: Option<PathBuf>,
    tail: VecDeque<String>,
}

impl Log {
    pub(super) fn new(project: &Path) -> Self {
        Self {
            project: project.to_owned(),
            diagnostics: Vec::new(),
            seen: HashSet::new(),
            built: None,
            tail: VecDeque::new(),
        }
    }

    /// Takes note of one line.
    pub(super) fn line(&mut self, line: &str) {
        if self.tail.len() == TAIL {
            self.tail.pop_front();
        }
        self.tail.push_back(line.to_owned());
        if let Some(diagnostic) = diagnostic(line, &self.project) {
            // The summary at the end tells each once more.
            if self.diagnostics.len() < MAX_DIAGNOSTICS && self.seen.insert(diagnostic.clone()) {
                self.diagnostics.push(diagnostic);
            }
        } else if let Some((project, file)) = line.trim().split_once(" -> ")
            && self.project.file_stem().is_some_and(|stem| stem == project)
        {
            self.built = Some(file.into());
        }
    }

    /// The last lines.
    pub(super) fn tail(&self) -> String {
        let lines: Vec<&str> = self.tail.iter().map(String::as_str).collect();
        lines.join("\n").trim().to_owned()
    }
}

/// Reads `origin(line,column): severity code: message [project]`.
fn diagnostic(line: &str, project: &Path) -> Option<Diagnostic> {
    let (at, severity, word) = [
        (": error ", Severity::Error),
        (": warning ", Severity::Warning),
    ]
    .into_iter()
    .filter_map(|(word, severity)| Some((line.find(word)?, severity, word)))
    .min_by_key(|(at, ..)| *at)?;
    let origin = line.get(..at)?.trim();
    let rest = line.get(at + word.len()..)?;
    let (code, text) = rest.split_once(':')?;
    let code = code.trim();
    if code.contains(char::is_whitespace) {
        return None;
    }
    let (message, of_project) = match text
        .trim()
        .strip_suffix(']')
        .and_then(|text| text.rsplit_once(" ["))
    {
        // `[project.csproj::TargetFramework=net9.0]` where there are several.
        Some((message, project)) => (message, project.split("::").next()),
        None => (text, None),
    };
    let (file, line, column) = position(origin);
    let folder = of_project
        .map(Path::new)
        .unwrap_or(project)
        .parent()
        .unwrap_or(Path::new(""));
    // Some tools name themselves instead of a file: `CSC : error …`, `MSBUILD : error …`.
    let is_tool = line.is_none() && !file.contains(['/', '.']);
    Some(Diagnostic {
        severity,
        code: (!code.is_empty()).then(|| code.to_owned()),
        message: message.trim().to_owned(),
        file: (!is_tool && !file.is_empty()).then(|| folder.join(file)),
        line,
        column,
    })
}

/// Splits `file(line,column)`, `file(line,column,line,column)`, `file(line)`, `file(line-line)` and plain `file`.
fn position(origin: &str) -> (&str, Option<Line>, Option<u32>) {
    let split = origin
        .strip_suffix(')')
        .and_then(|origin| origin.rsplit_once('('));
    let Some((file, numbers)) = split else {
        return (origin, None, None);
    };
    let mut numbers = numbers
        .split([',', '-'])
        .map(|number| number.trim().parse().ok());
    match numbers.next().flatten() {
        Some(line) => (file, Some(Line(line)), numbers.next().flatten()),
        None => (origin, None, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &str) {
        let found = diagnostic(line, Path::new("/p/p.csproj"));
        let found = found.map_or("-".to_owned(), |diagnostic| diagnostic.to_string());
        assert_eq!(found, expected);
    }

    #[test]
    fn errors_and_warnings_are_read() {
        check(
            "/p/A b.cs(1,34): error CS1003: Syntax error, ',' expected [/p/p.csproj]",
            "/p/A b.cs:1:34: error CS1003: Syntax error, ',' expected",
        );
        // Relative to the project that it belongs to.
        check(
            "Sub/A.cs(1,42,1,50): warning CS0168: 'x' [y] is unused [/q/q.csproj::TargetFramework=net9.0]",
            "/q/Sub/A.cs:1:42: warning CS0168: 'x' [y] is unused",
        );
        check(
            "/p/p.csproj : error NU1101: Unable to find package X. [/p/all.sln]",
            "/p/p.csproj: error NU1101: Unable to find package X.",
        );
        check(
            "CSC : error CS5001: Program does not contain a static 'Main' [/p/p.csproj]",
            "error CS5001: Program does not contain a static 'Main'",
        );
        check(
            "MSBUILD : error MSB1009: Project file does not exist.",
            "error MSB1009: Project file does not exist.",
        );
        check(
            "/p/x.targets(7): error : something broke",
            "/p/x.targets:7: error: something broke",
        );
        check(
            "/p/a.cs(3,1): warning X1: late error : here",
            "/p/a.cs:3:1: warning X1: late error : here",
        );
    }

    #[test]
    fn other_lines_are_not_errors() {
        check("Build succeeded.", "-");
        check("    0 Error(s)", "-");
        check("  p -> /p/bin/Debug/net9.0/p.dll", "-");
        check("note: error handling is fine", "-");
        check("", "-");
        check(": error ", "-");
        check("((((: error CS1 x]", "-");
    }

    #[test]
    fn the_built_file_is_that_of_the_project_itself() {
        let mut log = Log::new(Path::new("/p/shop.csproj"));
        log.line("  library -> /l/bin/library.dll");
        log.line("  shop -> /p/bin/shop.dll");
        log.line("  other -> /o/bin/other.dll");
        assert_eq!(log.built.as_deref(), Some(Path::new("/p/bin/shop.dll")));
    }

    #[test]
    fn much_output_is_kept_in_part_and_repeats_once() {
        let mut log = Log::new(Path::new("/p/p.csproj"));
        for _ in 0..2 {
            for line in 0..5000 {
                log.line(&format!("a.cs({line},1): error CS1: x"));
            }
        }
        assert_eq!(log.diagnostics.len(), MAX_DIAGNOSTICS);
        assert_eq!(log.tail().lines().count(), TAIL);
    }
}
