//! Types and members of loaded modules as an agent sees them.

use std::fmt::Write as _;

use engine::api::{FoundSymbols, SymbolKind, TypeDescription};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Reader, Render, is_zero_u64, text};

/// Characters told of a name.
const NAME: usize = 200;
/// Characters told of the parameters of a method.
const PARAMETERS: usize = 120;
/// Characters told of a declaration.
const DECLARATION: usize = 300;
/// Bytes of the texts of a type's members in one answer.
const TEXT: usize = 12_000;
/// Interfaces told of a type.
const INTERFACES: usize = 20;

/// Symbols that were found.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct SymbolsReport {
    /// The session's id.
    pub session: String,
    /// The best first.
    pub symbols: Vec<SymbolEntry>,
    /// How many fit in all.
    pub total: u64,
    /// Where to go on, if there are more that can be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_start: Option<u32>,
    /// Modules that were looked through: those that are loaded now.
    #[schemars(extend("x-minor" = true))]
    pub modules: u32,
    /// Modules that could not be read, with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-minor" = true))]
    pub unread: Vec<String>,
}

/// One symbol.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct SymbolEntry {
    /// Its full name, as C# writes it.
    pub name: String,
    /// `type`, `method`, `property`, `field` or `event`.
    pub kind: &'static str,
    /// The file name of its module.
    pub module: String,
    /// Of a method its parameters, which tell it from others of its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-minor" = true))]
    pub parameters: Option<String>,
}

fn kind_name(kind: SymbolKind) -> &'static str {
    match kind {
        SymbolKind::Type => "type",
        SymbolKind::Method => "method",
        SymbolKind::Property => "property",
        SymbolKind::Field => "field",
        SymbolKind::Event => "event",
    }
}

fn lines(texts: &[String], max: usize) -> Vec<String> {
    texts.iter().map(|it| text::one_line(it, max)).collect()
}

impl SymbolsReport {
    /// From the engine's.
    pub fn of(session: &str, found: &FoundSymbols) -> Self {
        let entry = |symbol: &engine::api::Symbol| SymbolEntry {
            name: text::one_line(&symbol.name, NAME),
            kind: kind_name(symbol.kind),
            module: text::one_line(&symbol.module, NAME),
            parameters: symbol
                .parameters
                .as_deref()
                .map(|it| text::one_line(it, PARAMETERS)),
        };
        Self {
            session: session.to_owned(),
            symbols: found.symbols.iter().map(entry).collect(),
            total: found.total,
            next_start: found.next,
            modules: found.modules,
            unread: lines(&found.unread, NAME),
        }
    }
}

impl Render for SymbolsReport {
    fn render_for(&self, reader: Reader) -> String {
        let mut out = String::new();
        // Writing to a String cannot fail.
        for symbol in &self.symbols {
            let SymbolEntry {
                kind, name, module, ..
            } = symbol;
            let parameters = match &symbol.parameters {
                Some(parameters) => format!("({parameters})"),
                None => String::new(),
            };
            let _ = writeln!(out, "{kind} {name}{parameters} ({module})");
        }
        if self.total == 0 {
            let modules = match self.modules {
                1 => "module".to_owned(),
                modules => format!("{modules} modules"),
            };
            let _ = writeln!(
                out,
                "Nothing fits in the {modules} that could be searched. What is loaded later is found later."
            );
        } else if self.symbols.is_empty() {
            let _ = writeln!(out, "(no symbols there; {} fit)", self.total);
        }
        match self.next_start {
            Some(next) => {
                let _ = match reader {
                    Reader::Agent => writeln!(
                        out,
                        "… {} fit in all: symbols_search with start={next} tells more",
                        self.total
                    ),
                    Reader::Person => {
                        writeln!(out, "… {} fit in all: say more of the name", self.total)
                    }
                };
            }
            None if self.total > 1000 => {
                let _ = writeln!(out, "… {} fit in all: say more of the name", self.total);
            }
            None => {}
        }
        for unread in &self.unread {
            let _ = writeln!(out, "Note: not looked through: {unread}.");
        }
        super::finish(out)
    }
}

/// A type and what it declares itself.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct TypeReport {
    /// The session's id.
    pub session: String,
    /// Its full name.
    pub name: String,
    /// Such as `public sealed class`.
    pub declaration: String,
    /// The file name of its module.
    pub module: String,
    /// What it is derived from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The interfaces that it names itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub interfaces: Vec<String>,
    /// Its members: fields, properties, events, methods, nested types.
    pub members: Vec<MemberEntry>,
    /// How many members fit in all.
    pub total: u64,
    /// Where to go on, if there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_start: Option<u32>,
    /// Interfaces that are not told.
    #[serde(skip_serializing_if = "is_zero_u64")]
    #[schemars(extend("x-minor" = true))]
    pub more_interfaces: u64,
    /// Other modules that have a type of the same name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-minor" = true))]
    pub also_in: Vec<String>,
    /// Things to know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-minor" = true))]
    pub notes: Vec<String>,
}

/// A member of a type.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct MemberEntry {
    /// `field`, `property`, `event`, `method` or `type`.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
    /// As C# declares it, without a body.
    pub declaration: String,
}

impl TypeReport {
    /// From the engine's; members that would make the answer too long are left for the next.
    pub fn of(session: &str, found: &TypeDescription) -> Self {
        let mut room = TEXT;
        let mut members = Vec::new();
        for member in &found.members {
            let entry = MemberEntry {
                kind: kind_name(member.kind),
                name: text::one_line(&member.name, NAME),
                declaration: text::one_line(&member.text, DECLARATION),
            };
            let size = entry.name.len() + entry.declaration.len() + 40;
            if size > room && !members.is_empty() {
                break;
            }
            room = room.saturating_sub(size);
            members.push(entry);
        }
        let cut = u32::try_from(found.members.len() - members.len()).unwrap_or(u32::MAX);
        let end = found.next.map_or(found.total, u64::from);
        let end = u32::try_from(end).unwrap_or(u32::MAX);
        let interfaces = found
            .interfaces
            .get(..INTERFACES)
            .unwrap_or(&found.interfaces);
        Self {
            session: session.to_owned(),
            name: text::one_line(&found.name, NAME),
            declaration: found.declaration.clone(),
            module: text::one_line(&found.module, NAME),
            base: found.base.as_deref().map(|it| text::one_line(it, NAME)),
            interfaces: lines(interfaces, NAME),
            members,
            total: found.total,
            next_start: match cut {
                0 => found.next,
                cut => Some(end.saturating_sub(cut)),
            },
            more_interfaces: (found.interfaces.len() - interfaces.len()) as u64,
            also_in: lines(&found.also_in, NAME),
            notes: lines(&found.notes, NAME),
        }
    }
}

impl Render for TypeReport {
    fn render_for(&self, reader: Reader) -> String {
        let mut out = format!("{} {}", self.declaration, self.name);
        let bases = self.base.iter().chain(&self.interfaces);
        let bases: Vec<_> = bases.map(String::as_str).collect();
        // Writing to a String cannot fail.
        if !bases.is_empty() {
            let _ = write!(out, " : {}", bases.join(", "));
        }
        if self.more_interfaces > 0 {
            let _ = write!(out, " and {} more", self.more_interfaces);
        }
        let _ = writeln!(out, " ({})", self.module);
        if self.members.is_empty() {
            out.push_str("  (no members there)\n");
        }
        for member in &self.members {
            let _ = writeln!(out, "  {}", member.declaration);
        }
        if let Some(next) = self.next_start {
            let _ = match reader {
                Reader::Agent => writeln!(
                    out,
                    "  … {} members in all: type_get with start={next} tells more",
                    self.total
                ),
                Reader::Person => writeln!(
                    out,
                    "  … {} members in all: say which, as in `ptype {} Get*`",
                    self.total, self.name
                ),
            };
        }
        for module in &self.also_in {
            let _ = writeln!(out, "Note: {module} has a type of the same name.");
        }
        for note in &self.notes {
            let _ = writeln!(out, "Note: {note}.");
        }
        super::finish(out)
    }
}
