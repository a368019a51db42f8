//! Values as plain data: what they are called, what they are, what they hold, and how to see more.
//!
//! Nothing that is told without being asked for runs code in the program. Whatever was cut says how much is left and how
//! to get it: [`Omitted::start`] is the next [`VariablesQuery::start`], and [`Variable::path`] is a path to ask with.

use serde::{Deserialize, Serialize};

use super::{StopId, ThreadId};

/// What of a stopped program's values is asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VariablesQuery {
    /// The stop that frame numbers and object ids were told at; an older one is refused.
    pub stop: Option<StopId>,
    /// The thread; the one that reported the stop if absent.
    pub thread: Option<ThreadId>,
    /// The frame, 0 is the innermost.
    pub frame: u32,
    /// Which variables.
    pub scope: VariableScope,
    /// What lies inside this value instead of the frame's variables: `order.Lines[3]`, `$exception`, `#7` (an object id),
    /// `$1` (a kept object).
    pub path: Option<String>,
    /// Only what is called so; `*` stands for any letters. Everything if empty.
    pub names: Vec<String>,
    /// The first child that is wanted.
    pub start: u64,
    /// At most this many children of each value, and variables of a frame.
    pub count: u32,
    /// How many levels of children come along; 0 for the values alone.
    pub depth: u32,
    /// How it is shown.
    pub view: View,
}

impl Default for VariablesQuery {
    fn default() -> Self {
        Self {
            stop: None,
            thread: None,
            frame: 0,
            scope: VariableScope::All,
            path: None,
            names: Vec::new(),
            start: 0,
            count: 100,
            depth: 0,
            view: View::default(),
        }
    }
}

/// How values are shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct View {
    /// Fields as they are, without the views of collections and without what attributes say.
    pub raw: bool,
    /// Static members of types too.
    pub statics: bool,
    /// Properties too, also those that only code can tell; they say so unless code may run.
    pub properties: bool,
    /// Whether getters and `ToString` may run in the program.
    pub run_code: bool,
    /// Milliseconds that each piece of code may run; 15 s at most.
    pub time_limit: u32,
    /// Whether the other threads are let go if that code waits for them.
    pub other_threads: bool,
    /// Whether values with names such as `password` are masked.
    pub mask_secrets: bool,
    /// Whole numbers in hexadecimal.
    pub hex: bool,
    /// Elements in the lines of collections; if nothing is said, as many as a line has room for.
    pub elements: Option<u64>,
    /// Characters of a string, and of a value's text.
    pub text_length: u32,
    /// Bytes of text in the whole reply.
    pub total_text: u32,
    /// Milliseconds that looking may take, at most a minute: who asked waits, and so does everybody behind. What was not
    /// reached is said.
    pub look_limit: u32,
    /// Whether it is to be compared with what another stop tells: values whose lines do not show all tell a number of what
    /// lies behind, and a frame which call it is.
    pub to_compare: bool,
}

impl Default for View {
    fn default() -> Self {
        Self {
            raw: false,
            statics: false,
            properties: false,
            run_code: false,
            time_limit: 5000,
            other_threads: false,
            mask_secrets: false,
            hex: false,
            elements: None,
            text_length: 1024,
            total_text: 256 * 1024,
            look_limit: 3000,
            to_compare: false,
        }
    }
}

/// Which variables of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VariableScope {
    /// `this`, arguments, locals, constants, captured variables, the exception in flight, what calls returned.
    #[default]
    All,
    /// `this` and arguments.
    Arguments,
    /// Locals, constants and captured variables, the exception in flight, what calls returned.
    Locals,
    /// Static members of the type that the code is in.
    Statics,
    /// What the type parameters stand for.
    TypeArguments,
}

/// What a variable is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VariableKind {
    /// `this`.
    This,
    /// A parameter.
    Argument,
    /// A local.
    Local,
    /// A `const`.
    Constant,
    /// A variable that lives in a closure.
    Captured,
    /// A field.
    Field,
    /// A property.
    Property,
    /// An element of an array or collection.
    Element,
    /// A static field or property.
    Static,
    /// The exception in flight, the value a call returned, a kept object.
    Pseudo,
    /// What a type parameter stands for.
    TypeArgument,
    /// A group of others, such as the members of a base type.
    Group,
}

/// The note of [`Variables`] that are what a `DebuggerTypeProxy` shows in place of the fields.
pub const BY_PROXY: &str = "shown by its DebuggerTypeProxy; the raw view has its fields";

/// A named value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Variable {
    /// Its name: of a variable or member, `[3]` of an element, `["key"]` of an entry.
    pub name: String,
    /// What it is.
    pub kind: VariableKind,
    /// A path that leads to it, for asking again.
    pub path: String,
    /// Its declared type, if that is not the type of the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared_type: Option<String>,
    /// Whether another of the same name hides it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shadowed: bool,
    /// What a `DebuggerDisplay` calls it and its type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<Box<Label>>,
    /// Its value.
    pub value: Value,
}

/// `Name` and `Type` of a `DebuggerDisplay`: how a person is to be told of a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// What to call it; paths know it only by its real name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What to call its type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub type_name: Option<String>,
}

/// Names an object while the program stays stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ObjectId(pub u64);

/// What a value is, roughly: how a front end may show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueKind {
    /// No object.
    Null,
    /// `true` or `false`.
    Bool,
    /// A number.
    Number,
    /// A character.
    Char,
    /// Text.
    String,
    /// An enum.
    Enum,
    /// Something with members.
    Object,
    /// An array.
    Array,
    /// Something with elements.
    Collection,
    /// A method to call.
    Delegate,
    /// An address.
    Pointer,
    /// A type.
    Type,
    /// It cannot be read; the text says why.
    Unreadable,
    /// Only code of the program can tell it, and none was run.
    NotRun,
    /// It was not shown because of its name.
    Masked,
}

/// A value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Value {
    /// Its type as C# writes it.
    pub type_name: String,
    /// The value as one line of text; why it cannot be read, if it cannot.
    pub text: String,
    /// What it is.
    pub kind: ValueKind,
    /// Names the object, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<ObjectId>,
    /// How many children it has: members, or elements of a collection.
    #[serde(default)]
    pub children: u64,
    /// Whether the children are elements of a collection, which can be asked for page by page by `start`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub indexed: bool,
    /// How long a string is, if not all of it is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_length: Option<u64>,
    /// What tells whether anything behind the cut of the text changes, if it was asked for and is cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind_cut: Option<BehindCut>,
    /// Whether this object contains itself by way of what led here; its members are not told again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cycle: bool,
    /// Things to know: a view that could not be used, a layout that is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Its children, if they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<Variable>,
    /// What was left out of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub omitted: Option<Omitted>,
}

/// What lies behind the cut of a text, as a number; those of one share can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BehindCut {
    /// How many elements and members were to be looked at.
    pub share: u64,
    /// Changes with them.
    pub number: u64,
}

/// What was left out, and how to get it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Omitted {
    /// How many.
    pub count: u64,
    /// Where to go on.
    pub start: u64,
    /// Why they were left out.
    pub reason: OmitReason,
    /// Whether there may be more than so many.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
}

/// Why something was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OmitReason {
    /// More than were asked for.
    Count,
    /// The reply would have been too long.
    Size,
    /// Reading them took too long.
    Time,
    /// They were not found: the collection says that it has more than it has.
    Missing,
    /// They did not come with what exists only in the debugger.
    NotKept,
}

/// Variables, as they were asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Variables {
    /// The stop they belong to.
    pub stop: StopId,
    /// The thread.
    pub thread: ThreadId,
    /// The frame.
    pub frame: u32,
    /// The value that was asked for by path, without its members.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Box<Variable>>,
    /// The variables or members.
    pub variables: Vec<Variable>,
    /// What was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub omitted: Option<Omitted>,
    /// Things to know, such as that names of locals are not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Which call of its method the frame is: another stop tells the same number only if it is the same call. Told with
    /// the variables of a frame, if they are to be compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<u64>,
    /// Which declaration each of the frame's first variables is, if they are to be compared: there may be others of the name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub declarations: Vec<u64>,
    /// How many pieces of code were run in the program to tell all this.
    #[serde(default)]
    pub code_runs: u32,
}

/// A value that is to be set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SetVariable {
    /// The stop that frame numbers were told at; an older one is refused.
    pub stop: Option<StopId>,
    /// The thread; the one that reported the stop if absent.
    pub thread: Option<ThreadId>,
    /// The frame, 0 is the innermost.
    pub frame: u32,
    /// What is set: a variable, field or element.
    pub path: String,
    /// The new value: a literal as C# writes it, the name of an enum's member, or a path to another value.
    pub value: String,
    /// Sets readonly fields too.
    pub force: bool,
    /// Whether what it is then is masked if it has the name of a secret.
    #[serde(default)]
    pub mask_secrets: bool,
}

/// Bytes of the program's memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryBytes {
    /// Where they begin.
    pub address: u64,
    /// The bytes, as many as could be read.
    pub bytes: Vec<u8>,
}

/// How an object or struct lies in memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectReport {
    /// Its exact type, with namespaces.
    pub type_name: String,
    /// Where it lies; absent for a value in a register.
    pub address: Option<u64>,
    /// Its size in bytes, with everything the runtime adds.
    pub size: u64,
    /// Its instance fields by offset: from the start of an object, or of the value of a struct.
    pub fields: Vec<FieldLayout>,
    /// Unused bytes behind the last of them; of what has elements none.
    pub padding: u32,
    /// The objects that it refers to.
    pub references: Vec<OutgoingReference>,
    /// How many references were left out.
    pub omitted_references: u64,
}

/// Where a field lies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldLayout {
    /// Its name in metadata.
    pub name: String,
    /// Its type.
    pub type_name: String,
    /// Its offset in bytes.
    pub offset: u32,
    /// Its size in bytes.
    pub size: u32,
    /// Unused bytes before it.
    pub padding: u32,
    /// The type that declares it.
    pub declared_in: String,
    /// Whether that is a base type.
    pub inherited: bool,
}

/// A reference from one object to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutgoingReference {
    /// The field or element that holds it.
    pub name: String,
    /// Where the other object lies.
    pub address: u64,
    /// The other object's type.
    pub type_name: String,
}
