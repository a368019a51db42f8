//! Expressions: what to evaluate, and what came of it.

use serde::{Deserialize, Serialize};

use super::{Error, ExceptionReport, StopId, ThreadId, Variable, View};

/// Expressions to evaluate in one frame.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluate {
    /// The texts, each perhaps with format specifiers: `x`, `a.b + 1`, `list,[10]`.
    pub expressions: Vec<String>,
    /// The thread; the one that reported the stop if absent.
    pub thread: Option<ThreadId>,
    /// The frame, 0 is the innermost.
    pub frame: u32,
    /// The stop that thread and frame belong to; one that is over is refused.
    pub stop: Option<StopId>,
    /// Whether code of the program may run and variables may be assigned.
    pub side_effects: bool,
    /// Whether the other threads are let go if an expression waits for them, as `,threads` behind one allows it.
    #[serde(default)]
    pub other_threads: bool,
    /// How long each expression may take, in milliseconds.
    pub time_limit_ms: u32,
    /// Whether that is for all of them together: each has its share of what is left, so that what one does not need goes to the rest.
    #[serde(default)]
    pub shared_time: bool,
    /// Elements of a sequence told at most.
    pub max_elements: u32,
    /// Characters of a text told at most.
    pub max_text: u32,
    /// How values that can be opened are shown.
    pub view: View,
    /// Whether what has a name such as `password` on its way is masked.
    #[serde(default)]
    pub mask_secrets: bool,
    /// Whether values are written as those of variables are (`Count = 2 { 1, 2 }`), not as C# would (`[1, 2]`).
    #[serde(default)]
    pub as_variables: bool,
    /// Whether only the static type is told: nothing is read, and nothing runs.
    #[serde(default)]
    pub types_only: bool,
    /// Whether fields that are readonly may be assigned.
    #[serde(default)]
    pub force: bool,
}

impl Evaluate {
    /// One expression in the innermost frame, by reading only.
    pub fn read(expression: impl Into<String>) -> Self {
        Self {
            expressions: vec![expression.into()],
            thread: None,
            frame: 0,
            stop: None,
            side_effects: false,
            other_threads: false,
            time_limit_ms: 5_000,
            shared_time: false,
            max_elements: 100,
            max_text: 1_000,
            view: View::default(),
            mask_secrets: false,
            as_variables: false,
            types_only: false,
            force: false,
        }
    }
}

/// Asks what could be written at a position of an expression.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Complete {
    /// The text so far, which may be unfinished.
    pub text: String,
    /// Where in it, as a byte offset.
    pub position: u32,
    /// The thread; the one that reported the stop if absent.
    pub thread: Option<ThreadId>,
    /// The frame, 0 is the innermost.
    pub frame: u32,
    /// The stop that thread and frame belong to; one that is over is refused.
    pub stop: Option<StopId>,
}

/// What could be written at a position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completions {
    /// First byte of the name that a choice replaces.
    pub start: u32,
    /// Behind its last byte.
    pub end: u32,
    /// Names that begin as the text does; the nearest come first where nothing is written yet, else they are sorted.
    pub names: Vec<CompletedName>,
}

/// A name that could be written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CompletedName {
    /// As it is written, with `@` where it would be a keyword, and with `:` where it names an argument.
    pub name: String,
    /// What it is.
    pub kind: NameKind,
}

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NameKind {
    /// A local variable, a parameter, a variable of the expression or of the debugger.
    Variable,
    /// A parameter that an argument is for.
    Argument,
    /// A value of an enum.
    EnumMember,
    /// A field, or an element of a tuple.
    Field,
    /// A property.
    Property,
    /// A method, also one that extends the type.
    Method,
    /// A class.
    Class,
    /// A struct.
    Struct,
    /// An interface.
    Interface,
    /// An enum.
    Enum,
    /// A type parameter.
    TypeParameter,
    /// A type that is called otherwise here.
    Alias,
    /// A namespace.
    Namespace,
    /// A word of the language.
    Keyword,
}

/// What came of one expression.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluated {
    /// The text that was asked.
    pub expression: String,
    /// What code that ran for it brought about beside it: that other threads were let go, and what they met.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Its value, or why it has none.
    pub outcome: Result<EvaluatedValue, ExpressionError>,
}

/// The value of an expression.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvaluatedValue {
    /// The static type of the expression, as C# writes it with namespaces.
    #[serde(rename = "type")]
    pub ty: String,
    /// The value, as C# would write it where it has literals.
    pub text: String,
    /// Whether the text stands for a secret.
    #[serde(default)]
    pub masked: bool,
    /// The value as something that can be opened, if it is an object, a struct or made of several: its path leads to it
    /// until the program continues. Elements of what exists only in the debugger come with it.
    #[serde(default)]
    pub variable: Option<Box<Variable>>,
}

/// Why an expression has no value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExpressionError {
    /// The compiler's code, such as `CS0103`, where C# has one.
    pub code: Option<String>,
    /// The full name of the exception that evaluating throws, if it is right C# that throws.
    pub exception: Option<String>,
    /// That exception, with its message and, if code of the program threw it, its stack.
    #[serde(default)]
    pub thrown: Option<Box<ExceptionReport>>,
    /// The error with the line and a caret under the spot, and the position as data.
    pub error: Error,
}
