//! Where a runtime keeps its threads, as it tells itself.
//!
//! From .NET 9 on the runtime exports a description of some of its structures for tools: a text in JSON with the offsets
//! of fields, and a table of addresses. Only a handful of numbers is taken from it.
//!
//! Invariant: total over whatever lies in the program's memory; every read and every list is bounded.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use cordebug::procfs;

use super::Thread;
use crate::elf::number;

const LIBRARY: &str = "libcoreclr.so";
const DESCRIPTOR: &[u8] = b"DotNetRuntimeContractDescriptor";
const MAX_TEXT: usize = 1 << 20;
const MAX_SECTION: u64 = 16 << 20;
const MAX_SECTIONS: u64 = 1 << 10;
const MAX_THREADS: usize = 1 << 16;
/// Where a frame has the address of the next one: behind the word that tells its kind.
const NEXT_FRAME: u64 = 8;

/// What is needed of the description.
#[derive(Debug, PartialEq, Eq)]
struct Offsets {
    /// Which entry of the table of addresses is that of the list's owner.
    store_index: u64,
    first_link: u64,
    next_link: u64,
    state: u64,
    mode: u64,
    /// Where a thread has its number in the system, and the newest of its frames.
    system_id: u64,
    frame: u64,
}

/// Where the threads of one process are.
#[derive(Debug)]
pub(crate) struct Layout {
    offsets: Offsets,
    /// The address of the pointer to the list's owner.
    store: u64,
}

/// The layout of one process for all who need it, worked out once: the runtime may not tell it.
#[derive(Debug, Default, Clone)]
pub(crate) struct KnownLayout(Arc<OnceLock<Option<Layout>>>);

impl KnownLayout {
    pub(crate) fn of(&self, pid: u32) -> Option<&Layout> {
        self.0.get_or_init(|| Layout::of(pid)).as_ref()
    }
}

impl Layout {
    /// The layout of a process; `None` if its runtime is older or cannot be read.
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
        let offsets = Offsets::parse(&String::from_utf8_lossy(&text))?;
        let (count, table) = (number(&head, 24, 4), number(&head, 32, 8));
        if offsets.store_index >= count {
            return None;
        }
        let store = pointer(&memory, table.wrapping_add(8 * offsets.store_index)).ok()?;
        Some(Self { offsets, store })
    }

    /// The threads that the runtime has in its list, dead ones and those that were not started included.
    pub(crate) fn threads(&self, memory: &File) -> io::Result<Vec<Thread>> {
        let it = &self.offsets;
        let states = self.addresses(memory)?.into_iter().map(|thread| {
            let at = thread.wrapping_add(it.state);
            let newest = pointer(memory, thread.wrapping_add(it.frame))?;
            // The one below is that which each thread has from its start.
            let enters =
                is_frame(newest) && is_frame(pointer(memory, newest.wrapping_add(NEXT_FRAME))?);
            Ok(Thread {
                id: word(memory, thread.wrapping_add(it.system_id))?,
                at,
                state: word(memory, at)?,
                cooperative: word(memory, thread.wrapping_add(it.mode))? != 0,
                enters,
            })
        });
        states.collect()
    }

    /// Where the runtime has its threads.
    fn addresses(&self, memory: &File) -> io::Result<Vec<u64>> {
        let it = &self.offsets;
        let store = pointer(memory, self.store)?;
        let mut link = pointer(memory, store.wrapping_add(it.first_link))?;
        let mut threads = Vec::new();
        while link != 0 && threads.len() < MAX_THREADS {
            threads.push(link.wrapping_sub(it.next_link));
            link = pointer(memory, link)?;
        }
        Ok(threads)
    }
}

/// Whether there is a frame at an address: the list ends with all bits set.
fn is_frame(at: u64) -> bool {
    at != 0 && at != u64::MAX
}

pub(super) fn word(memory: &File, at: u64) -> io::Result<u32> {
    let mut bytes = [0; 4];
    memory.read_exact_at(&mut bytes, at)?;
    Ok(u32::from_ne_bytes(bytes))
}

fn pointer(memory: &File, at: u64) -> io::Result<u64> {
    let mut bytes = [0; 8];
    memory.read_exact_at(&mut bytes, at)?;
    Ok(u64::from_ne_bytes(bytes))
}

impl Offsets {
    /// Takes the numbers out of the description.
    fn parse(text: &str) -> Option<Self> {
        let text: String = text.chars().filter(|it| !it.is_whitespace()).collect();
        let (types, globals) = text.split_once("\"globals\":")?;
        let field = |owner: &str, name: &str| {
            let members = types.split_once(&format!("\"{owner}\":{{"))?.1;
            let members = members.split_once('}')?.0;
            // A number, or one with its type behind it.
            leading_number(members.split_once(&format!("\"{name}\":"))?.1)
        };
        let store = globals.split_once("\"ThreadStore\":[[")?.1;
        Some(Self {
            store_index: leading_number(store)?,
            first_link: field("ThreadStore", "FirstThreadLink")?,
            next_link: field("Thread", "LinkNext")?,
            state: field("Thread", "State")?,
            mode: field("Thread", "PreemptiveGCDisabled")?,
            system_id: field("Thread", "OSId")?,
            frame: field("Thread", "Frame")?,
        })
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

    const TEXT: &str = r#"{"version":0,"types":{"Thread":{"Id":16,"OSId":296,"State":0,"PreemptiveGCDisabled":4,"Frame":8,"LinkNext":[112,"pointer"]},
        "ThreadStore":{"FirstThreadLink":160,"ThreadCount":184}},"globals":{"AppDomain":[[1],"pointer"],"ThreadStore":[[2],"pointer"]}}"#;

    #[test]
    fn offsets_are_taken_out_of_the_description() {
        let expected = Offsets {
            store_index: 2,
            first_link: 160,
            next_link: 112,
            state: 0,
            mode: 4,
            system_id: 296,
            frame: 8,
        };
        assert_eq!(Offsets::parse(TEXT), Some(expected));
    }

    #[test]
    fn descriptions_that_are_cut_anywhere_are_not_believed() {
        for (end, _) in TEXT.char_indices() {
            let text = TEXT.get(..end).unwrap_or_default();
            assert!(
                Offsets::parse(text).is_none() || text.ends_with("[[2]") || text.contains("[[2],")
            );
        }
        assert_eq!(Offsets::parse("\"globals\":\"ThreadStore\":[[x"), None);
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
