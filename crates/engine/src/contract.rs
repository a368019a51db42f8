//! What a runtime tells of its own structures.
//!
//! From .NET 9 on the runtime exports a description of some of its structures for tools: a text in JSON with the offsets
//! of fields, and a table of addresses. Only a handful of numbers is taken from it.
//!
//! Invariant: total over whatever lies in the program's memory; every read is bounded.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use cordebug::procfs;

use crate::elf::number;

const LIBRARY: &str = "libcoreclr.so";
const DESCRIPTOR: &[u8] = b"DotNetRuntimeContractDescriptor";
const MAX_TEXT: usize = 1 << 20;
const MAX_SECTION: u64 = 16 << 20;
const MAX_SECTIONS: u64 = 1 << 10;

/// The description of one process.
#[derive(Debug)]
pub(crate) struct Contract {
    types: String,
    globals: String,
    /// Where the table of addresses lies, and how many it has.
    table: (u64, u64),
}

impl Contract {
    /// That of a process; `None` if its runtime is older or cannot be read.
    pub(crate) fn of(pid: u32) -> Option<Self> {
        let library = procfs::mapped_library(pid, LIBRARY).ok()??;
        // The file as the process sees it, also in another container.
        let path = format!("/proc/{pid}/root{}", library.path.display());
        let at = library.base + exported(Path::new(&path), DESCRIPTOR)?;
        let memory = File::open(format!("/proc/{pid}/mem")).ok()?;
        let mut head = [0; 40];
        memory.read_exact_at(&mut head, at).ok()?;
        let size = usize::try_from(number(&head, 12, 4)).ok()?;
        let mut text = vec![0; size.min(MAX_TEXT)];
        memory.read_exact_at(&mut text, number(&head, 16, 8)).ok()?;
        let table = (number(&head, 32, 8), number(&head, 24, 4));
        Self::parse(&String::from_utf8_lossy(&text), table)
    }

    /// Takes the text apart.
    pub(crate) fn parse(text: &str, table: (u64, u64)) -> Option<Self> {
        let text: String = text.chars().filter(|it| !it.is_whitespace()).collect();
        let (types, globals) = text.split_once("\"globals\":")?;
        Some(Self {
            types: types.into(),
            globals: globals.into(),
            table,
        })
    }

    /// Where a structure has a field; its size is the field `!`.
    pub(crate) fn field(&self, owner: &str, name: &str) -> Option<u64> {
        let members = self.types.split_once(&format!("\"{owner}\":{{"))?.1;
        // With the bracket behind them: a number without an end was cut.
        let members = members.get(..=members.find('}')?)?;
        // A number, or one with its type behind it.
        leading_number(members.split_once(&format!("\"{name}\":"))?.1)
    }

    /// Which entry of the table of addresses a global is.
    pub(crate) fn index(&self, global: &str) -> Option<u64> {
        let entry = self.globals.split_once(&format!("\"{global}\":[["))?.1;
        leading_number(entry)
    }

    /// Where the table has the address of a global.
    pub(crate) fn entry(&self, index: u64) -> Option<u64> {
        let (at, count) = self.table;
        (index < count).then(|| at.wrapping_add(8 * index))
    }

    /// A global that is a number.
    pub(crate) fn number(&self, global: &str) -> Option<u64> {
        let text = self.globals.split_once(&format!("\"{global}\":"))?.1;
        let text = text.trim_start_matches(['[', '"']);
        match text.strip_prefix("0x") {
            Some(digits) => {
                let end = digits.find(|it: char| !it.is_ascii_hexdigit())?;
                u64::from_str_radix(digits.get(..end)?, 16).ok()
            }
            None => leading_number(text),
        }
    }
}

fn leading_number(text: &str) -> Option<u64> {
    let text = text.strip_prefix('[').unwrap_or(text);
    let end = text.find(|it: char| !it.is_ascii_digit())?;
    text.get(..end)?.parse().ok()
}

/// Where a 64-bit library has an exported symbol, from its first byte on.
fn exported(path: &Path, name: &[u8]) -> Option<u64> {
    const DYNAMIC_SYMBOLS: u64 = 11;
    const HEADER: usize = 64;
    const SYMBOL: usize = 24;
    let file = File::open(path).ok()?;
    let read = |at: u64, size: u64| {
        let mut bytes = vec![0; usize::try_from(size.min(MAX_SECTION)).ok()?];
        file.read_exact_at(&mut bytes, at).ok()?;
        Some(bytes)
    };
    let head = read(0, HEADER as u64)?;
    if head.get(..5) != Some(b"\x7fELF\x02") {
        return None;
    }
    let count = number(&head, 60, 2).min(MAX_SECTIONS);
    let sections = read(number(&head, 40, 8), count * HEADER as u64)?;
    let section = |index: usize| {
        let head = sections.get(index * HEADER..(index + 1) * HEADER)?;
        Some((number(head, 24, 8), number(head, 32, 8)))
    };
    let symbols = sections
        .chunks_exact(HEADER)
        .find(|it| number(it, 4, 4) == DYNAMIC_SYMBOLS)?;
    let (at, size) = section(usize::try_from(number(symbols, 40, 4)).ok()?)?;
    let names = read(at, size)?;
    let symbols = read(number(symbols, 24, 8), number(symbols, 32, 8))?;
    let symbol = symbols.chunks_exact(SYMBOL).find(|symbol| {
        let at = usize::try_from(number(symbol, 0, 4)).unwrap_or(usize::MAX);
        let text = names.get(at..).unwrap_or_default();
        text.strip_prefix(name)
            .is_some_and(|rest| rest.first() == Some(&0))
    })?;
    Some(number(symbol, 8, 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_by_their_names() {
        let text = r#"{"types": {"Chunk":{"!":24,"Next":[8,"pointer"]}, "Other":{"Size":16, "Last":32}},
            "globals":{"Bits":["0xc","uint8"],"Store":[[2],"pointer"],"Plain":7}}"#;
        let contract = Contract::parse(text, (4096, 3)).expect("both parts");
        let fields = [
            ("Chunk", "!"),
            ("Chunk", "Next"),
            ("Chunk", "Size"),
            ("Other", "Last"),
            ("No", "Size"),
        ];
        let found = fields.map(|(owner, name)| contract.field(owner, name));
        assert_eq!(found, [Some(24), Some(8), None, Some(32), None]);
        let numbers = ["Bits", "Plain", "None"].map(|it| contract.number(it));
        assert_eq!(numbers, [Some(12), Some(7), None]);
        assert_eq!(contract.index("Store"), Some(2));
        assert_eq!([2, 3].map(|it| contract.entry(it)), [Some(4112), None]);
    }

    #[test]
    fn files_that_are_no_libraries_export_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("library");
        let mut head = b"\x7fELF\x02".to_vec();
        for bytes in [Vec::new(), head.clone(), {
            head.resize(64, 0xff);
            head
        }] {
            std::fs::write(&file, bytes).expect("written");
            assert_eq!(exported(&file, DESCRIPTOR), None);
        }
    }
}
