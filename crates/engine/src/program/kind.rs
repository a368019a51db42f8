//! What a file is, told from its first bytes: a managed assembly, a .NET host, a native program, a script.
//!
//! Invariant: reads a bounded part of the file, never trusts a number in it, and never runs it.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// What a file is, as far as launching it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// A managed assembly.
    Assembly {
        /// Whether it has a `Main`; a library has none.
        entry_point: bool,
    },
    /// A Windows executable or library without managed code.
    NativePe,
    /// An executable that starts a runtime: an apphost, a framework-dependent single file, or `dotnet` itself.
    Host,
    /// An executable with the runtime linked into it: a self-contained single file.
    SelfContained,
    /// An executable that was compiled ahead of time from .NET code.
    NativeAot,
    /// Any other ELF executable.
    Native,
    /// An ELF file for another processor.
    OtherMachine,
    /// A script with its interpreter.
    Script { interpreter: String },
    /// Nothing that can be run.
    Other,
}

/// The largest part of an executable that is searched for marks; real hosts are below 20 MB.
const SEARCHED: u64 = 64 << 20;
const BLOCK: usize = 64 << 10;

/// The sign of a runtime that is linked into its executable: debuggers look this symbol up.
const RUNTIME_INSIDE: &[u8] = b"DotNetRuntimeInfo";
/// The library that every other .NET executable looks for.
const HOST_RESOLVER: &[u8] = b"libhostfxr.so";
/// The section of code compiled ahead of time.
const COMPILED_AHEAD: &[u8] = b"__managedcode";

/// Tells what the file is.
pub(super) fn of(path: &Path) -> io::Result<Kind> {
    let file = File::open(path)?;
    let mut head = [0; 256];
    let length = read_up_to(&file, 0, &mut head)?;
    let head = head.get(..length).unwrap_or_default();
    Ok(if head.starts_with(b"MZ") {
        match cli_header(&file)? {
            Some(header) => Kind::Assembly {
                entry_point: header.entry_point != 0,
            },
            None => Kind::NativePe,
        }
    } else if head.starts_with(b"\x7fELF") {
        elf(&file, head)?
    } else if let Some(rest) = head.strip_prefix(b"#!") {
        let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
        Kind::Script {
            interpreter: String::from_utf8_lossy(line).trim().to_owned(),
        }
    } else {
        Kind::Other
    })
}

/// Fills `buffer` as far as the file goes.
fn read_up_to(file: &File, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, at.saturating_add(filled as u64)) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// `N` bytes at an offset, or `None` behind the end of the file.
fn bytes<const N: usize>(file: &File, at: u64) -> io::Result<Option<[u8; N]>> {
    let mut buffer = [0; N];
    Ok((read_up_to(file, at, &mut buffer)? == N).then_some(buffer))
}

fn u16_at(file: &File, at: u64) -> io::Result<Option<u16>> {
    Ok(bytes(file, at)?.map(u16::from_le_bytes))
}

fn u32_at(file: &File, at: u64) -> io::Result<Option<u32>> {
    Ok(bytes(file, at)?.map(u32::from_le_bytes))
}

/// The one field of the CLI header that matters here.
struct CliHeader {
    /// The token of `Main`, 0 in a library.
    entry_point: u32,
}

/// Finds the CLI header of a PE file (ECMA-335 II.25.3.3); `None` if it has none or is malformed.
fn cli_header(file: &File) -> io::Result<Option<CliHeader>> {
    // PE/COFF: the signature's offset, the COFF header of 20 bytes, the optional header with its directories, the
    // section table. The CLI header is directory 14.
    let Some(pe) = u32_at(file, 0x3c)?.map(u64::from) else {
        return Ok(None);
    };
    if bytes::<4>(file, pe)? != Some(*b"PE\0\0") {
        return Ok(None);
    }
    let (Some(n_sections), Some(optional_size), Some(magic)) = (
        u16_at(file, pe + 6)?,
        u16_at(file, pe + 20)?,
        u16_at(file, pe + 24)?,
    ) else {
        return Ok(None);
    };
    let optional = pe + 24;
    let directories = match magic {
        0x10b => optional + 96,
        0x20b => optional + 112,
        _ => return Ok(None),
    };
    let directory = directories + 14 * 8;
    if u32_at(file, directories - 4)?.unwrap_or(0) <= 14 {
        return Ok(None);
    }
    let address = u32_at(file, directory)?.unwrap_or(0);
    if address == 0 {
        return Ok(None);
    }
    let sections = optional + u64::from(optional_size);
    for index in 0..u64::from(n_sections) {
        let section = sections + index * 40;
        let (Some(start), Some(size), Some(offset)) = (
            u32_at(file, section + 12)?,
            u32_at(file, section + 16)?,
            u32_at(file, section + 20)?,
        ) else {
            return Ok(None);
        };
        if let Some(within) = address.checked_sub(start).filter(|within| *within < size) {
            let header = u64::from(offset) + u64::from(within);
            let entry_point = u32_at(file, header + 20)?;
            return Ok(entry_point.map(|entry_point| CliHeader { entry_point }));
        }
    }
    Ok(None)
}

/// Tells the kinds of ELF executables apart.
fn elf(file: &File, head: &[u8]) -> io::Result<Kind> {
    let machine = head
        .get(18..20)
        .and_then(|bytes| Some(u16::from_le_bytes(bytes.try_into().ok()?)));
    let ours = if cfg!(target_arch = "aarch64") {
        183
    } else {
        62
    };
    if machine != Some(ours) {
        return Ok(Kind::OtherMachine);
    }
    let marks = [RUNTIME_INSIDE, HOST_RESOLVER, COMPILED_AHEAD];
    let [inside, host, ahead] = search(file, image_end(file, head), marks)?;
    Ok(if inside {
        Kind::SelfContained
    } else if host {
        Kind::Host
    } else if ahead {
        Kind::NativeAot
    } else {
        Kind::Native
    })
}

/// The end of the ELF image. What a single-file program has appended to it must not be searched: it may hold anything.
fn image_end(file: &File, head: &[u8]) -> u64 {
    let field = |at: usize, size: usize| -> u64 {
        let bytes = head.get(at..at + size).unwrap_or_default();
        bytes
            .iter()
            .rev()
            .fold(0, |value, byte| value << 8 | u64::from(*byte))
    };
    // The section headers are the last part of an executable as linkers write it: e_shoff, e_shentsize, e_shnum.
    let sections_end = field(0x28, 8).saturating_add(field(0x3a, 2) * field(0x3c, 2));
    let length = file.metadata().map_or(0, |data| data.len());
    let end = if sections_end == 0 {
        length
    } else {
        sections_end.min(length)
    };
    end.min(SEARCHED)
}

/// Which of the marks occur before `end`.
fn search<const N: usize>(file: &File, end: u64, marks: [&[u8]; N]) -> io::Result<[bool; N]> {
    let mut found = [false; N];
    let overlap = marks
        .iter()
        .map(|mark| mark.len())
        .max()
        .unwrap_or(1)
        .saturating_sub(1);
    let mut buffer = vec![0; BLOCK + overlap];
    let mut at = 0;
    while at < end {
        let length = read_up_to(file, at, &mut buffer)?;
        let block = buffer.get(..length).unwrap_or_default();
        for (found, mark) in found.iter_mut().zip(marks) {
            *found = *found || contains(block, mark);
        }
        if length < buffer.len() {
            break;
        }
        at += BLOCK as u64;
    }
    Ok(found)
}

/// Whether `haystack` has `needle`: looks for its first byte, which the compiler makes fast, then compares.
fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    let Some(first) = needle.first() else {
        return true;
    };
    let mut rest = haystack;
    while let Some(at) = rest.iter().position(|byte| byte == first) {
        rest = rest.get(at..).unwrap_or_default();
        if rest.starts_with(needle) {
            return true;
        }
        rest = rest.get(1..).unwrap_or_default();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kind of a file with these bytes.
    fn kind(content: &[u8]) -> Kind {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), content).expect("it can be written");
        of(file.path()).expect("it can be read")
    }

    /// An ELF file of this machine whose image holds `image` and that has `appended` behind it.
    fn elf_file(image: &[u8], appended: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0".to_vec();
        let machine: u16 = if cfg!(target_arch = "aarch64") {
            183
        } else {
            62
        };
        bytes.extend(machine.to_le_bytes());
        bytes.resize(64, 0);
        bytes.extend(image);
        let sections = bytes.len() as u64;
        bytes.resize(bytes.len() + 64, 0);
        for (at, value) in [
            (0x28, sections.to_le_bytes().as_slice()),
            (0x3a, &[64, 0]),
            (0x3c, &[1, 0]),
        ] {
            bytes
                .get_mut(at..at + value.len())
                .expect("the header is there")
                .copy_from_slice(value);
        }
        bytes.extend(appended);
        bytes
    }

    #[test]
    fn text_scripts_and_rubbish_are_told_apart() {
        assert_eq!(kind(b""), Kind::Other);
        assert_eq!(kind(b"MZ"), Kind::NativePe);
        assert_eq!(kind(b"\x7fELF"), Kind::OtherMachine);
        assert_eq!(kind(b"using System;"), Kind::Other);
        let interpreter = "/usr/bin/env bash".to_owned();
        assert_eq!(
            kind(b"#! /usr/bin/env bash\necho"),
            Kind::Script { interpreter }
        );
    }

    #[test]
    fn executables_are_known_by_their_marks() {
        assert_eq!(kind(&elf_file(b"", b"")), Kind::Native);
        assert_eq!(kind(&elf_file(b"..libhostfxr.so..", b"")), Kind::Host);
        assert_eq!(kind(&elf_file(b"\0__managedcode\0", b"")), Kind::NativeAot);
        let embedded = b"libhostfxr.so\0DotNetRuntimeInfo\0";
        assert_eq!(kind(&elf_file(embedded, b"")), Kind::SelfContained);
    }

    #[test]
    fn what_is_appended_to_an_executable_does_not_count() {
        let bundle = elf_file(
            b"libhostfxr.so",
            &[b"DotNetRuntimeInfo".as_slice(); 9].concat(),
        );
        assert_eq!(kind(&bundle), Kind::Host);
    }

    #[test]
    fn a_mark_across_two_blocks_is_found() {
        for shift in 0..HOST_RESOLVER.len() {
            let mut image = vec![0; BLOCK - 64 - shift];
            image.extend(HOST_RESOLVER);
            assert_eq!(kind(&elf_file(&image, b"")), Kind::Host, "shift {shift}");
        }
    }

    #[test]
    fn cut_and_broken_assemblies_do_no_harm() {
        // A PE file with one section that holds the CLI header.
        let mut bytes = vec![0; 0x400];
        let mut put = |at: usize, value: &[u8]| {
            bytes
                .get_mut(at..at + value.len())
                .expect("inside")
                .copy_from_slice(value);
        };
        put(0, b"MZ");
        put(0x3c, &0x80_u32.to_le_bytes());
        put(0x80, b"PE\0\0");
        put(0x86, &1_u16.to_le_bytes());
        put(0x94, &0xe0_u16.to_le_bytes());
        put(0x98, &0x10b_u16.to_le_bytes());
        put(0x98 + 92, &16_u32.to_le_bytes());
        put(0x98 + 96 + 112, &0x2008_u32.to_le_bytes());
        let section = 0x98 + 0xe0;
        put(section + 12, &0x2000_u32.to_le_bytes());
        put(section + 16, &0x200_u32.to_le_bytes());
        put(section + 20, &0x200_u32.to_le_bytes());
        assert_eq!(kind(&bytes), Kind::Assembly { entry_point: false });
        let mut program = bytes.clone();
        *program.get_mut(0x208 + 20).expect("inside") = 1;
        assert_eq!(kind(&program), Kind::Assembly { entry_point: true });
        for length in 2..bytes.len() {
            kind(bytes.get(..length).expect("shorter"));
        }
        for at in 2..0x220 {
            let mut broken = bytes.clone();
            *broken.get_mut(at).expect("inside") = 0xff;
            kind(&broken);
        }
    }
}
