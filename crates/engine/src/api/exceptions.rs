//! Stops at exceptions: which, and when.

use serde::{Deserialize, Serialize};

use super::BreakpointId;

/// Stops at exceptions of some types.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExceptionSpec {
    /// Full or simple type names; empty means every type.
    pub types: Vec<String>,
    /// Type names that are left out.
    pub except: Vec<String>,
    /// Whether types derived from the named ones count too.
    pub subtypes: bool,
    /// Stops when it is thrown, whoever catches it.
    pub thrown: bool,
    /// Stops when it leaves the user's code and somebody else's code catches it.
    pub user_unhandled: bool,
    /// Stops when nobody catches it.
    pub unhandled: bool,
    /// Whether it is switched on.
    pub enabled: bool,
}

impl ExceptionSpec {
    /// Stops when an exception of one type, or one derived from it, is thrown or not caught.
    pub fn of_type(name: impl Into<String>) -> Self {
        Self {
            types: vec![name.into()],
            except: Vec::new(),
            subtypes: true,
            thrown: true,
            user_unhandled: false,
            unhandled: true,
            enabled: true,
        }
    }
}

/// An exception breakpoint as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExceptionBreakpoint {
    /// Its name, of the same sequence as other breakpoints.
    pub id: BreakpointId,
    /// What was asked for.
    pub spec: ExceptionSpec,
    /// How often it stopped the program.
    pub hits: u64,
}

/// How far an exception has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExceptionStage {
    /// It was just thrown; who catches it is not known yet.
    Thrown,
    /// It left the user's code and will be caught elsewhere.
    UserUnhandled,
    /// Nobody catches it.
    Unhandled,
}
