//! What a compiler says about a project.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Line;

/// One error or warning of a build.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The compiler's code, such as `CS1002`.
    pub code: Option<String>,
    /// What is wrong.
    pub message: String,
    /// The file it is about.
    pub file: Option<PathBuf>,
    /// The line in it.
    pub line: Option<Line>,
    /// The column in that line, 1-based.
    pub column: Option<u32>,
}

/// How bad a [`Diagnostic`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The build fails.
    Error,
    /// The build goes on.
    Warning,
}

impl fmt::Display for Diagnostic {
    /// `File.cs:3:14: error CS1002: ; expected`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}:", file.display())?;
            if let Some(line) = self.line {
                write!(f, "{}:", line.0)?;
                if let Some(column) = self.column {
                    write!(f, "{column}:")?;
                }
            }
            f.write_str(" ")?;
        }
        f.write_str(match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        })?;
        if let Some(code) = &self.code {
            write!(f, " {code}")?;
        }
        write!(f, ": {}", self.message)
    }
}
