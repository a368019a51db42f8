//! Objects and memory as they lie.

use std::fmt::Write as _;

use engine::api::{FieldLayout, MemoryBytes, ObjectReport, OutgoingReference};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Reader, Render, is_false, is_zero, is_zero_u64, text};

/// Characters told of a name, a type or a path.
const NAME: usize = 120;
/// Bytes in a line of memory.
const LINE: usize = 16;

/// How an object or struct lies in memory.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct ObjectAnswer {
    /// The session's id.
    pub session: String,
    /// The path that was asked for.
    pub path: String,
    /// Its exact type, with namespaces.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Where it lies; absent for a value in a register.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Its size in bytes, with everything the runtime adds.
    pub size: u64,
    /// Its instance fields by offset.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<FieldEntry>,
    /// Unused bytes behind the last field.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(extend("x-minor" = true))]
    pub padding: u32,
    /// The objects that it refers to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<ReferenceEntry>,
    /// Where to go on, if there are more of either.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_start: Option<u32>,
    /// References of a large array that cannot be told here; `variables_get` tells its elements.
    #[serde(skip_serializing_if = "is_zero_u64")]
    #[schemars(extend("x-minor" = true))]
    pub left_out_references: u64,
}

/// Where a field lies.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct FieldEntry {
    /// Its name in metadata.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub type_name: String,
    /// From the start of the object, or of the value of a struct.
    pub offset: u32,
    /// Its size in bytes.
    pub size: u32,
    /// Unused bytes before it.
    #[serde(skip_serializing_if = "is_zero")]
    pub padding: u32,
    /// The type that declares it.
    pub declared_in: String,
    /// Whether that is a base type.
    #[serde(skip_serializing_if = "is_false")]
    pub inherited: bool,
}

/// A reference to another object.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct ReferenceEntry {
    /// The field or element that holds it.
    pub name: String,
    /// Where the other object lies.
    pub address: String,
    /// The other object's type.
    #[serde(rename = "type")]
    pub type_name: String,
}

impl ObjectAnswer {
    /// From the engine's: `count` fields and references from `start` on.
    pub fn of(session: &str, path: &str, object: &ObjectReport, start: u32, count: u32) -> Self {
        let (from, count) = (start as usize, count as usize);
        let fields = object.fields.iter().skip(from).take(count);
        let references = object.references.iter().skip(from).take(count);
        let end = from.saturating_add(count);
        let more = object.fields.len().max(object.references.len()) > end;
        Self {
            session: session.to_owned(),
            path: text::one_line(path, NAME),
            type_name: text::one_line(&object.type_name, 2 * NAME),
            address: object.address.map(hex),
            size: object.size,
            fields: fields.map(FieldEntry::from).collect(),
            padding: if more { 0 } else { object.padding },
            references: references.map(ReferenceEntry::from).collect(),
            next_start: more.then(|| u32::try_from(end).ok()).flatten(),
            left_out_references: object.omitted_references,
        }
    }
}

impl From<&FieldLayout> for FieldEntry {
    fn from(field: &FieldLayout) -> Self {
        Self {
            name: text::one_line(&field.name, NAME),
            type_name: text::one_line(&field.type_name, NAME),
            offset: field.offset,
            size: field.size,
            padding: field.padding,
            declared_in: text::one_line(&field.declared_in, NAME),
            inherited: field.inherited,
        }
    }
}

impl From<&OutgoingReference> for ReferenceEntry {
    fn from(reference: &OutgoingReference) -> Self {
        Self {
            name: text::one_line(&reference.name, NAME),
            address: hex(reference.address),
            type_name: text::one_line(&reference.type_name, NAME),
        }
    }
}

fn hex(address: u64) -> String {
    format!("0x{address:x}")
}

impl Render for ObjectAnswer {
    fn render_for(&self, reader: Reader) -> String {
        let place = match &self.address {
            Some(address) => format!(" at {address}"),
            None => String::new(),
        };
        let size = text::bytes(self.size);
        let mut out = format!("{}: {}{place}, {size}\n", self.path, self.type_name);
        // Writing to a String cannot fail.
        for field in &self.fields {
            let _ = write!(
                out,
                "  +{} {}: {} ({})",
                field.offset,
                field.name,
                field.type_name,
                text::bytes(field.size.into())
            );
            if field.padding > 0 {
                let _ = write!(
                    out,
                    ", {} unused before it",
                    text::bytes(field.padding.into())
                );
            }
            if field.inherited {
                let _ = write!(out, ", of {}", field.declared_in);
            }
            out.push('\n');
        }
        if self.fields.is_empty() && self.references.is_empty() && self.padding == 0 {
            out.push_str("  (none)\n");
        }
        if self.padding > 0 {
            let unused = text::bytes(self.padding.into());
            let _ = writeln!(out, "  {unused} unused at its end");
        }
        if !self.references.is_empty() {
            out.push_str("It refers to:\n");
        }
        for reference in &self.references {
            let _ = writeln!(
                out,
                "  {}: {} at {}",
                reference.name, reference.type_name, reference.address
            );
        }
        if let Some(next) = self.next_start {
            let _ = match reader {
                Reader::Agent => {
                    writeln!(out, "  … there is more: object_inspect with start={next}")
                }
                Reader::Person => writeln!(out, "  … there is more"),
            };
        }
        if self.left_out_references > 0 {
            let _ = writeln!(
                out,
                "  … {} references are not told: {} elements",
                self.left_out_references,
                reader.words("variables_get tells", "`inspect` shows")
            );
        }
        super::finish(out)
    }
}

/// Bytes of a program's memory.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct MemoryReport {
    /// The session's id.
    pub session: String,
    /// Where they begin.
    pub address: String,
    /// The bytes that could be read, two hexadecimal digits each.
    pub bytes: String,
    /// How many bytes that were asked for cannot be read, because there is no memory behind the others.
    #[serde(skip_serializing_if = "is_zero")]
    pub unreadable: u32,
    /// The address behind them, if all could be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_address: Option<String>,
    #[serde(skip)]
    #[schemars(skip)]
    lines: Vec<String>,
}

impl MemoryReport {
    /// From the engine's answer to a request for `wanted` bytes.
    pub fn of(session: &str, memory: &MemoryBytes, wanted: u32) -> Self {
        Self::in_units(session, memory, wanted, 1)
    }

    /// The same, shown as numbers of so many bytes each.
    pub fn in_units(session: &str, memory: &MemoryBytes, wanted: u32, unit: u32) -> Self {
        let read = u32::try_from(memory.bytes.len()).unwrap_or(u32::MAX);
        let unreadable = wanted.saturating_sub(read);
        let lines = (0..).step_by(LINE).zip(memory.bytes.chunks(LINE));
        let next = memory.address.checked_add(read.into());
        Self {
            session: session.to_owned(),
            address: hex(memory.address),
            bytes: memory.bytes.iter().map(|it| format!("{it:02x}")).collect(),
            unreadable,
            next_address: next.filter(|_| unreadable == 0).map(hex),
            lines: lines
                .map(|(offset, bytes)| line(memory.address.wrapping_add(offset), bytes, unit))
                .collect(),
        }
    }
}

/// `0x7f00: 48 00 65 00  |H.e.|`.
fn line(address: u64, bytes: &[u8], unit: u32) -> String {
    let mut line = format!("0x{address:x}:");
    let unit = usize::try_from(unit).unwrap_or(1).max(1);
    if unit > 1 {
        // Numbers, as the program has them: the lowest byte comes first.
        for number in bytes.chunks(unit) {
            line.push_str(" 0x");
            for byte in number.iter().rev() {
                let _ = write!(line, "{byte:02x}");
            }
        }
        return line;
    }
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(line, " {byte:02x}");
    }
    let shown = |byte: &u8| match byte {
        0x20..=0x7e => char::from(*byte),
        _ => '.',
    };
    let letters: String = bytes.iter().map(shown).collect();
    let missing = 3 * (LINE - bytes.len());
    let _ = write!(line, "{:missing$}  |{letters}|", "");
    line
}

impl Render for MemoryReport {
    fn render_for(&self, _: Reader) -> String {
        let mut out = self.lines.join("\n");
        if self.unreadable > 0 {
            let _ = write!(
                out,
                "\n(the {} behind cannot be read)",
                text::bytes(self.unreadable.into())
            );
        }
        super::finish(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn an_object_without_anything_to_list_says_so() {
        let report = ObjectAnswer {
            path: "nothing".into(),
            type_name: "object".into(),
            size: 24,
            ..ObjectAnswer::default()
        };
        assert_eq!(report.render(), "nothing: object, 24 bytes\n  (none)");
    }

    #[test]
    fn memory_is_told_in_lines() {
        let memory = MemoryBytes {
            address: 0x7f_0000,
            bytes: b"The quick brown\x1b[31m\n".to_vec(),
        };
        let report = MemoryReport::of("s1", &memory, 32);
        assert_eq!(report.next_address, None);
        expect![[r#"
            0x7f0000: 54 68 65 20 71 75 69 63 6b 20 62 72 6f 77 6e 1b  |The quick brown.|
            0x7f0010: 5b 33 31 6d 0a                                   |[31m.|
            (the 11 bytes behind cannot be read)"#]]
        .assert_eq(&report.render());
        let end = MemoryBytes {
            address: u64::MAX,
            bytes: vec![1],
        };
        assert_eq!(MemoryReport::of("s1", &end, 1).next_address, None);
        let numbers = MemoryBytes {
            address: 0x10,
            bytes: vec![1, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff],
        };
        let words = MemoryReport::in_units("s1", &numbers, 8, 4).render();
        assert_eq!(words, "0x10: 0x00000001 0xfffffffe");
    }
}
