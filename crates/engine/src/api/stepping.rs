//! How a stopped program is let run a little: steps, running to a line, and setting the next statement.

use serde::{Deserialize, Serialize};

/// How far a step goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepKind {
    /// To the next statement of the same method, or to the caller at its end. An `await` is stepped over to its
    /// continuation in the same invocation.
    Over,
    /// To the next statement, in a method that this one calls if there is one.
    Into,
    /// To the caller; from an async method that has been suspended, to the method that awaits it.
    Out,
}

/// Where steps stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StepOptions {
    /// Steps stop only in code that has symbols and that no attribute (`DebuggerNonUserCode`, `DebuggerStepThrough`,
    /// `DebuggerHidden`) takes out. Off, they stop in any code; where there is no source, at a method and IL offset.
    pub just_my_code: bool,
    /// Steps into a statement pass over accessors of properties and over operators.
    pub skip_properties: bool,
}

impl Default for StepOptions {
    fn default() -> Self {
        Self {
            just_my_code: true,
            skip_properties: false,
        }
    }
}

/// A call of the statement that a thread is at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepTarget {
    /// The offset of the call in the method's IL, which names it at this stop.
    pub call: u32,
    /// What is called: `Shop.Price`, `new Order`, `Point.operator +`, `Order.Title.get`.
    pub name: String,
    /// Why a step cannot be told to go into it; nothing if it can.
    pub refused: Option<String>,
}

/// How far a request for several steps has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepsMade {
    /// Steps that were completed.
    pub made: u32,
    /// Steps that were asked for.
    pub asked: u32,
}
