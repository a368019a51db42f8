//! Types and members of loaded modules as plain data: found by what is remembered of their names, and told whole.

use serde::{Deserialize, Serialize};

/// Symbols that are looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SymbolsQuery {
    /// A name or names with dots between: `Run`, `Task.Run`, `System.*.List<T>`. Parts of names and first letters of humps
    /// fit too; a part with `*` or `?` fits whole names.
    pub pattern: String,
    /// Only these; all kinds if empty.
    pub kinds: Vec<SymbolKind>,
    /// Only modules whose file name contains this, in any case.
    pub module: Option<String>,
    /// The first that is wanted; the best has number 0.
    pub start: u32,
    /// At most this many.
    pub count: u32,
}

/// What a symbol is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SymbolKind {
    /// A class, struct, interface, enum or delegate.
    Type,
    /// A method, constructor, operator or local function.
    Method,
    /// A property or indexer.
    Property,
    /// A field, constant or enum member.
    Field,
    /// An event.
    Event,
}

/// Symbols that were found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundSymbols {
    /// The best first.
    pub symbols: Vec<Symbol>,
    /// How many fit, also those that are not told.
    pub total: u64,
    /// Where to go on, if there are more and they can be asked for.
    pub next: Option<u32>,
    /// How many modules were looked through.
    pub modules: u32,
    /// Modules that could not be read, with the reason.
    pub unread: Vec<String>,
}

/// A symbol of a module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbol {
    /// Its name with all around it, as C# writes it.
    pub name: String,
    /// What it is.
    pub kind: SymbolKind,
    /// The file name of its module.
    pub module: String,
    /// Its metadata token.
    pub token: u32,
    /// Of a method what tells it from others of its name: `int count, string name`.
    #[serde(default)]
    pub parameters: Option<String>,
}

/// A type that is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeQuery {
    /// Its name, with as much of what is around it as is needed: `Order`, `Shop.Order`, `List<T>`, `int`.
    pub name: String,
    /// Only modules whose file name contains this, in any case.
    pub module: Option<String>,
    /// Only members that are called so; `*` stands for any letters. All if empty.
    pub members: Vec<String>,
    /// The first member that is wanted.
    pub start: u32,
    /// At most this many members.
    pub count: u32,
}

impl TypeQuery {
    /// Asks whether there is a type; of its members only one is told.
    pub fn of(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            module: None,
            members: Vec::new(),
            start: 0,
            count: 1,
        }
    }
}

/// A type, with what it declares itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeDescription {
    /// Its full name, with the names of its type parameters.
    pub name: String,
    /// As C# declares it: `public abstract class`, `internal readonly struct`, `public enum`.
    pub declaration: String,
    /// The file name of its module.
    pub module: String,
    /// Its metadata token.
    pub token: u32,
    /// What it is derived from.
    pub base: Option<String>,
    /// The interfaces that it names itself.
    pub interfaces: Vec<String>,
    /// Fields, properties, events, methods and nested types, in this order, as far as they were asked for.
    pub members: Vec<TypeMember>,
    /// How many members fit, also those that are not told.
    pub total: u64,
    /// Where to go on, if there are more.
    pub next: Option<u32>,
    /// Other modules that have a type of the same name.
    pub also_in: Vec<String>,
    /// Things to know, such as members that cannot be read.
    pub notes: Vec<String>,
}

/// A member that a type declares.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeMember {
    /// What it is; a nested type is a type.
    pub kind: SymbolKind,
    /// Its name.
    pub name: String,
    /// As C# declares it, without a body: `public static int Add(int a, int b)`.
    pub text: String,
}
