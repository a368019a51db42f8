//! Which build a runtime's library is of. Libraries of different builds loaded together crash or say only a number, so
//! they are compared before they are loaded.
//!
//! Every library of a runtime carries one line, `@(#)Version … @Commit: …`, among its writable data.

use std::path::Path;

use cordebug::file::MappedFile;

use crate::elf::number;

/// The line begins so.
const MARK: &[u8] = b"@(#)Version ";
/// The largest section that is searched; real ones have about 120 KB.
const MAX_SECTION: u64 = 4 << 20;
/// The longest line that is taken.
const MAX_LINE: usize = 120;

/// The build of a library; `None` if it does not tell.
pub(crate) fn of(library: &Path) -> Option<String> {
    let file = MappedFile::open(library).ok()?;
    of_bytes(file.as_ref())
}

fn of_bytes(bytes: &[u8]) -> Option<String> {
    sections(bytes).find_map(line)
}

/// The writable sections of an ELF-64 file that have bytes in the file.
fn sections(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    const PROGBITS: u64 = 1;
    const WRITABLE: u64 = 1;
    // e_shoff, e_shentsize, e_shnum.
    let table = number(bytes, 0x28, 8);
    let (entry, count) = (number(bytes, 0x3a, 2), number(bytes, 0x3c, 2));
    (0..count).filter_map(move |index| {
        let header = table.checked_add(index * entry)?;
        let header = bytes.get(usize::try_from(header).ok()?..)?;
        // sh_type, sh_flags, sh_offset, sh_size.
        let wanted = number(header, 4, 4) == PROGBITS && number(header, 8, 8) & WRITABLE != 0;
        let (start, size) = (number(header, 0x18, 8), number(header, 0x20, 8));
        if !wanted || size > MAX_SECTION {
            return None;
        }
        let start = usize::try_from(start).ok()?;
        bytes.get(start..start.checked_add(usize::try_from(size).ok()?)?)
    })
}

/// The line in a section, without its mark.
fn line(section: &[u8]) -> Option<String> {
    let mut rest = section;
    while let Some(at) = rest.iter().position(|byte| Some(byte) == MARK.first()) {
        rest = rest.get(at..)?;
        if let Some(text) = rest.strip_prefix(MARK) {
            let text = text.get(..MAX_LINE).unwrap_or(text);
            let text = text.split(|byte| *byte == 0).next()?;
            return Some(String::from_utf8_lossy(text).trim().to_owned());
        }
        rest = rest.get(1..)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ELF file with one writable section.
    fn library(data: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x7fELF".to_vec();
        bytes.resize(64, 0);
        bytes.extend(data);
        let table = bytes.len();
        let mut header = [0; 64];
        header[4] = 1;
        header[8] = 3;
        header[0x18] = 64;
        header[0x20..0x28].copy_from_slice(&(data.len() as u64).to_le_bytes());
        bytes.extend(header);
        bytes[0x28..0x30].copy_from_slice(&(table as u64).to_le_bytes());
        bytes[0x3a] = 64;
        bytes[0x3c] = 1;
        bytes
    }

    #[test]
    fn the_line_is_found_in_writable_data() {
        let data = b"@@(#)\0@(#)Version 9.0.124.61010 @Commit: c8acea\0more";
        let build = of_bytes(&library(data));
        assert_eq!(build.as_deref(), Some("9.0.124.61010 @Commit: c8acea"));
        assert_eq!(of_bytes(&library(b"nothing of the kind")), None);
        let mut read_only = library(data);
        let table = read_only.len() - 64;
        read_only[table + 8] = 2;
        assert_eq!(of_bytes(&read_only), None);
    }

    #[test]
    fn cut_and_broken_libraries_do_no_harm() {
        let whole = library(b"@(#)Version 9.0.1\0");
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
