//! Breakpoints as a front end asks for them and sees them.

use serde::{Deserialize, Serialize};

use super::{Line, OutputCursor, Source, ThreadId};

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
    /// Switches itself off after it has stopped the program, or logged, this often.
    #[serde(default)]
    pub max_hits: Option<u64>,
    /// Whether what has the name of a secret is masked in what it logs.
    #[serde(default)]
    pub mask_secrets: bool,
    /// Whether it stands beside others at the same place. Else the one that is there already is changed.
    #[serde(default)]
    pub beside_others: bool,
    /// Whether it is switched on.
    pub enabled: bool,
    /// The name it is to have, if that is free: the one it had before the program was started again.
    #[serde(default)]
    pub id: Option<BreakpointId>,
}

impl BreakpointSpec {
    /// A plain breakpoint.
    pub fn at(place: Place) -> Self {
        Self {
            place,
            condition: None,
            hit_condition: None,
            log_message: None,
            max_hits: None,
            mask_secrets: false,
            beside_others: false,
            enabled: true,
            id: None,
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
    /// After how many more stops or messages it switches itself off; 0 for never.
    #[serde(default)]
    pub max_hits: Option<u64>,
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
    /// What else a user should know of it: that its source file was changed since the program was built, that its path
    /// was matched by a part of it, that a lambda on the line needs a column.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Where it is set.
    pub locations: Vec<BoundLocation>,
    /// How often it was reached with its condition true.
    pub hits: u64,
    /// How often it was reached, whatever its condition said: each time holds the program for a moment.
    #[serde(default)]
    pub passes: u64,
    /// How often its condition could not be told.
    #[serde(default)]
    pub failures: u64,
    /// How often it stopped the program or logged; a hit condition leaves hits out.
    #[serde(default)]
    pub acted: u64,
    /// The same before its condition was changed, since when all is counted anew.
    #[serde(default)]
    pub acted_before: u64,
    /// Whether it has switched itself off.
    #[serde(default)]
    pub exhausted: bool,
}

impl Breakpoint {
    /// What to ask for when the program is started again: the same, under the same name, with all its hits before it.
    pub fn again(&self) -> BreakpointSpec {
        BreakpointSpec {
            id: Some(self.id),
            enabled: self.spec.enabled || self.exhausted,
            ..self.spec.clone()
        }
    }
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
    /// Whether its code may run without coming by: what compiles it merges statements and calls.
    pub may_be_passed: bool,
}

/// What a breakpoint with a log message logged. The text is also in the captured output, in its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// Which breakpoint.
    pub breakpoint: BreakpointId,
    /// Which of its hits, from 1.
    pub hit: u64,
    /// The thread that came by.
    pub thread: Option<ThreadId>,
    /// The statement, if there are symbols.
    pub source: Option<Source>,
    /// The message with its values.
    pub text: String,
    /// Where in the captured output it begins.
    pub at: OutputCursor,
}

/// Where the source files are that a compiler saw elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceMap {
    /// A folder as the compiler wrote it: `/_/src`, `C:\\build`.
    pub from: String,
    /// The folder here that holds the same files.
    pub to: String,
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
