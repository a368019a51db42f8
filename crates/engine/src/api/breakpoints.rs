//! Breakpoints as a front end asks for them and sees them.

use serde::{Deserialize, Serialize};

use super::{Line, Source};

/// Names a breakpoint for the life of its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BreakpointId(pub u32);

/// Where a breakpoint is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// A line of a source file.
    Line {
        /// Full path, the end of one, or a file name.
        file: String,
        /// The line.
        line: Line,
        /// A column inside the wanted statement or lambda, from 1.
        column: Option<u32>,
    },
    /// The first line of a method: `Ns.Type.Method`, `Type.Method`, `Method`, `Type.Method(int, string)`,
    /// `module!Type.Method`.
    Function {
        /// The name.
        name: String,
    },
}

/// A breakpoint as it is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BreakpointSpec {
    /// Where.
    pub place: Place,
    /// Stops only if this expression is true.
    pub condition: Option<String>,
    /// Stops only at some hits: `5`, `==5`, `>=5`, `>5`, `%5`.
    pub hit_condition: Option<String>,
    /// Logs this text, with `{expressions}`, instead of stopping.
    pub log_message: Option<String>,
    /// Whether it is switched on.
    pub enabled: bool,
}

impl BreakpointSpec {
    /// A plain breakpoint.
    pub fn at(place: Place) -> Self {
        Self {
            place,
            condition: None,
            hit_condition: None,
            log_message: None,
            enabled: true,
        }
    }
}

/// What is to be changed of a breakpoint; what is absent stays. An empty text removes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BreakpointChange {
    /// The new condition.
    pub condition: Option<String>,
    /// The new hit condition.
    pub hit_condition: Option<String>,
    /// The new log message.
    pub log_message: Option<String>,
    /// Switches it on or off.
    pub enabled: Option<bool>,
}

/// Whether a breakpoint can be hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BreakpointState {
    /// No loaded module has its place yet.
    Pending,
    /// It is set in the program's code.
    Bound,
    /// It was bound, and the module that held it is gone.
    Unbound,
    /// It is switched off.
    Disabled,
    /// A module has its place, but it cannot be set there.
    Failed,
}

/// A breakpoint as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breakpoint {
    /// Its name.
    pub id: BreakpointId,
    /// What was asked for.
    pub spec: BreakpointSpec,
    /// Whether it can be hit.
    pub state: BreakpointState,
    /// Why it is not bound, or where it went instead.
    pub reason: Option<String>,
    /// Where it is set.
    pub locations: Vec<BoundLocation>,
    /// How often it was reached with its condition true.
    pub hits: u64,
}

/// One place in the program's code where a breakpoint is set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoundLocation {
    /// File name of the module.
    pub module: String,
    /// The method as a person writes it.
    pub method: String,
    /// The statement, if there are symbols.
    pub source: Option<Source>,
    /// The IL offset.
    pub il_offset: u32,
}

/// A statement that a breakpoint could be set on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AvailablePoint {
    /// Line of its first character.
    pub start_line: u32,
    /// Column of its first character.
    pub start_column: u32,
    /// Line of its last character.
    pub end_line: u32,
    /// Column behind its last character.
    pub end_column: u32,
    /// Its text, if the source file is at hand.
    pub text: Option<String>,
}
