//! What a file is, told from its first bytes: a managed assembly, a .NET host, a native program, a script.
//!
//! Invariant: reads a bounded part of the file, never trusts a number in it, and never runs it.

use std::io;
use std::path::Path;

use cordebug::file::MappedFile;
use metadata::Bytes;
use metadata::pe::{ImageKind, ImageLayout};
use metadata::tables::Table;

use crate::elf::number;

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
    /// A file that begins like an assembly and is not whole.
    BrokenPe { reason: String },
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
const SEARCHED: usize = 64 << 20;
/// The longest first line of a script that is shown.
const FIRST_LINE: usize = 200;

/// The sign of a runtime that is linked into its executable: debuggers look this symbol up.
const RUNTIME_INSIDE: &str = "DotNetRuntimeInfo";
/// The library that every other .NET executable looks for.
const HOST_RESOLVER: &str = "libhostfxr.so";
/// The section of code compiled ahead of time.
const COMPILED_AHEAD: &str = "__managedcode";

/// Tells what the file is.
pub(super) fn of(path: &Path) -> io::Result<Kind> {
    if path.metadata()?.len() == 0 {
        return Ok(Kind::Other);
    }
    Ok(of_bytes(MappedFile::open(path)?.as_ref()))
}

/// Whether an assembly refers to another one of this name.
pub(super) fn refers_to(path: &Path, name: &str) -> Option<bool> {
    let module = metadata::Module::open(Bytes::new(MappedFile::open(path).ok()?)).ok()?;
    let metadata = module.metadata();
    let mut references = metadata.tokens(Table::AssemblyRef);
    let named = |token| metadata.assembly_ref(token).is_ok_and(|it| it.name == name);
    Some(references.any(named))
}

fn of_bytes(bytes: &[u8]) -> Kind {
    if bytes.starts_with(b"MZ") {
        match ImageLayout::parse(bytes, ImageKind::File) {
            Ok(layout) => Kind::Assembly {
                entry_point: layout.view(bytes).entry_point().is_some(),
            },
            Err(metadata::Error::Native | metadata::Error::NotAnImage) => Kind::NativePe,
            Err(error) => Kind::BrokenPe {
                reason: error.to_string(),
            },
        }
    } else if bytes.starts_with(b"\x7fELF") {
        elf(bytes)
    } else if let Some(rest) = bytes.strip_prefix(b"#!") {
        let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let line = line.get(..FIRST_LINE).unwrap_or(line);
        Kind::Script {
            interpreter: String::from_utf8_lossy(line).trim().to_owned(),
        }
    } else {
        Kind::Other
    }
}

/// Tells the kinds of ELF executables apart.
fn elf(bytes: &[u8]) -> Kind {
    let ours = if cfg!(target_arch = "aarch64") {
        183
    } else {
        62
    };
    // ELF-64: e_machine.
    if number(bytes, 18, 2) != ours {
        return Kind::OtherMachine;
    }
    let image = image(bytes);
    if contains(image, RUNTIME_INSIDE) {
        Kind::SelfContained
    } else if contains(image, HOST_RESOLVER) {
        Kind::Host
    } else if contains(image, COMPILED_AHEAD) {
        Kind::NativeAot
    } else {
        Kind::Native
    }
}

/// The ELF image. What a single-file program has appended to it must not be searched: it may hold anything.
fn image(bytes: &[u8]) -> &[u8] {
    // The section headers are the last part of an executable as linkers write it: e_shoff, e_shentsize, e_shnum.
    let sections = number(bytes, 0x3a, 2) * number(bytes, 0x3c, 2);
    let end = match number(bytes, 0x28, 8) {
        0 => bytes.len(),
        start => usize::try_from(start.saturating_add(sections)).unwrap_or(usize::MAX),
    };
    bytes
        .get(..end.min(bytes.len()).min(SEARCHED))
        .unwrap_or_default()
}

/// Whether the C string `text` or one that ends in it occurs. The zero behind it tells the names of symbols and
/// libraries from the constants of a program that, like this one, looks for them.
fn contains(mut bytes: &[u8], text: &str) -> bool {
    let Some((first, _)) = text.as_bytes().split_first() else {
        return false;
    };
    while let Some(at) = bytes.iter().position(|byte| byte == first) {
        bytes = bytes.get(at..).unwrap_or_default();
        if let Some([0, ..]) = bytes.strip_prefix(text.as_bytes()) {
            return true;
        }
        bytes = bytes.get(1..).unwrap_or_default();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ELF file of this machine whose image holds `image` and that has `appended` behind it.
    fn elf_file(image: &[u8], appended: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
        bytes.resize(64, 0);
        bytes.extend(image);
        let sections = bytes.len() as u64;
        bytes.resize(bytes.len() + 64, 0);
        let machine = if cfg!(target_arch = "aarch64") {
            183
        } else {
            62
        };
        let fields: [(usize, &[u8]); 4] = [
            (18, &[machine, 0]),
            (0x28, &sections.to_le_bytes()),
            (0x3a, &[64, 0]),
            (0x3c, &[1, 0]),
        ];
        for (at, value) in fields {
            bytes[at..at + value.len()].copy_from_slice(value);
        }
        bytes.extend(appended);
        bytes
    }

    #[track_caller]
    fn check(bytes: &[u8], expected: Kind) {
        assert_eq!(of_bytes(bytes), expected);
    }

    #[test]
    fn text_scripts_and_rubbish_are_told_apart() {
        check(b"using System;", Kind::Other);
        check(
            b"MZ",
            Kind::BrokenPe {
                reason: "the file is truncated: the PE header ends at byte 64, but the file has 2"
                    .into(),
            },
        );
        check(b"\x7fELF", Kind::OtherMachine);
        let interpreter = "/usr/bin/env bash".to_owned();
        check(b"#! /usr/bin/env bash\necho", Kind::Script { interpreter });
    }

    #[test]
    fn executables_are_known_by_their_marks() {
        check(&elf_file(b"", b""), Kind::Native);
        check(&elf_file(b"..libhostfxr.so\0..", b""), Kind::Host);
        check(&elf_file(b"\0__managedcode\0", b""), Kind::NativeAot);
        let embedded = b"libhostfxr.so\0DotNetRuntimeInfo\0";
        check(&elf_file(embedded, b""), Kind::SelfContained);
        // A program that only knows of the names.
        check(
            &elf_file(b"libhostfxr.soDotNetRuntimeInfo.", b""),
            Kind::Native,
        );
    }

    #[test]
    fn what_is_appended_to_an_executable_does_not_count() {
        let bundle = elf_file(b"libhostfxr.so\0", b"DotNetRuntimeInfo\0");
        check(&bundle, Kind::Host);
    }

    #[test]
    fn a_cut_executable_does_no_harm() {
        let whole = elf_file(b"libhostfxr.so\0", b"");
        for length in 0..whole.len() {
            of_bytes(&whole[..length]);
        }
        for at in 0..whole.len() {
            let mut broken = whole.clone();
            broken[at] = 0xff;
            of_bytes(&broken);
        }
    }
}
