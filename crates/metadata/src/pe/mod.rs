//! PE images: where sections, the CLI header and the metadata lie (ECMA-335 II.25).
//!
//! An image is read as it lies in a file, or as a loader laid it out in memory, where an RVA is an offset. The layout holds
//! numbers only and is parsed once; [`Image`] puts it together with the bytes again.

mod body;
mod debug_directory;

use std::ops::Range;

use object::LittleEndian as LE;
use object::pe;
use object::read::pe::{ImageNtHeaders, ImageOptionalHeader, optional_header_magic};

pub use self::body::{ClauseKind, ExceptionClause, MethodBody};
pub(crate) use self::debug_directory::inflate;
pub use self::debug_directory::{CodeView, DebugEntry, DebugKind, PdbChecksum, PdbId};
use crate::cursor::Cursor;
use crate::error::{Error, Malformed, Result};
use crate::token::Token;

/// How an image's bytes are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ImageKind {
    /// As in a file: sections lie where their raw-data pointers say.
    File,
    /// As loaded: sections lie at their virtual addresses.
    Loaded,
}

/// A range of virtual addresses and the part of the file behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Section {
    rva: u32,
    virtual_size: u32,
    offset: u32,
    raw_size: u32,
}

/// The header of ahead-of-time compiled code in an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadyToRun {
    /// Major version of the format.
    pub major: u16,
    /// Minor version of the format.
    pub minor: u16,
    /// `READYTORUN_FLAG_*` bits.
    pub flags: u32,
}

/// Offsets and header fields of one image.
#[derive(Debug, Clone)]
pub struct ImageLayout {
    kind: ImageKind,
    sections: Box<[Section]>,
    debug_entries: Box<[DebugEntry]>,
    metadata: Range<usize>,
    machine: u16,
    characteristics: u16,
    timestamp: u32,
    image_size: u32,
    is_64_bit: bool,
    cli_flags: u32,
    entry_point: u32,
    resources: (u32, u32),
    ready_to_run: Option<ReadyToRun>,
}

/// The code is IL only.
const CLI_IL_ONLY: u32 = 0x01;
/// The entry point is native code.
const CLI_NATIVE_ENTRY_POINT: u32 = 0x10;
const READY_TO_RUN_SIGNATURE: u32 = 0x0052_5452;
/// The MS-DOS header, which says where the others are.
const DOS_HEADER_SIZE: usize = 64;
/// The signature and the header before the optional one.
const NT_HEADERS_SIZE: usize = 24;
/// The format has room for more, but no loader accepts more than 96.
const MAX_SECTIONS: usize = 96;
/// A directory entry takes 28 bytes; real images have at most eight.
const MAX_DEBUG_ENTRIES: usize = 256;

impl ImageLayout {
    /// Reads the headers, the CLI header and the debug directory of a managed image.
    pub fn parse(bytes: &[u8], kind: ImageKind) -> Result<Self, Error> {
        match optional_header_magic(bytes) {
            Ok(pe::IMAGE_NT_OPTIONAL_HDR32_MAGIC) => parse::<pe::ImageNtHeaders32>(bytes, kind),
            Ok(pe::IMAGE_NT_OPTIONAL_HDR64_MAGIC) => parse::<pe::ImageNtHeaders64>(bytes, kind),
            _ if bytes.starts_with(b"MZ") => Err(bad_headers(bytes)),
            _ => Err(Error::NotAnImage),
        }
    }

    /// Views `bytes`, which must be those that the layout was parsed from.
    #[must_use]
    pub const fn view<'a>(&'a self, bytes: &'a [u8]) -> Image<'a> {
        Image {
            bytes,
            layout: self,
        }
    }
}

/// Why the headers cannot be read: a file that ends within them was cut off.
fn bad_headers(bytes: &[u8]) -> Error {
    let u16_at = |at: usize| Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    let nt_headers = bytes
        .get(0x3c..)
        .and_then(|it| it.first_chunk())
        .map(|it| u32::from_le_bytes(*it) as usize);
    let needed = match nt_headers {
        None => DOS_HEADER_SIZE,
        Some(start) => match (u16_at(start + 6), u16_at(start + 20)) {
            (Some(n_sections), Some(size)) => {
                start + NT_HEADERS_SIZE + usize::from(size) + usize::from(n_sections) * 40
            }
            _ => start + NT_HEADERS_SIZE,
        },
    };
    if needed > bytes.len() {
        return Error::Truncated {
            what: "the PE header",
            needed: needed as u64,
            have: bytes.len() as u64,
        };
    }
    Malformed::new("PE headers", 0).into()
}

fn parse<H: ImageNtHeaders>(bytes: &[u8], kind: ImageKind) -> Result<ImageLayout, Error> {
    let bad = |_| bad_headers(bytes);
    let dos = pe::ImageDosHeader::parse(bytes).map_err(bad)?;
    let mut offset = dos.nt_headers_offset().into();
    let (headers, directories) = H::parse(bytes, &mut offset).map_err(bad)?;
    let table = headers.sections(bytes, offset).map_err(bad)?;
    let sections = table.iter().take(MAX_SECTIONS).map(|section| Section {
        rva: section.virtual_address.get(LE),
        virtual_size: section.virtual_size.get(LE),
        offset: section.pointer_to_raw_data.get(LE),
        raw_size: section.size_of_raw_data.get(LE),
    });
    let directory = |index| {
        let entry: Option<&pe::ImageDataDirectory> = directories.get(index);
        entry
            .map(pe::ImageDataDirectory::address_range)
            .filter(|&(rva, _)| rva != 0)
    };
    let mut layout = ImageLayout {
        kind,
        sections: sections.collect(),
        debug_entries: Box::default(),
        metadata: 0..0,
        machine: headers.file_header().machine.get(LE).0,
        characteristics: headers.file_header().characteristics.get(LE).0,
        timestamp: headers.file_header().time_date_stamp.get(LE),
        image_size: headers.optional_header().size_of_image(),
        is_64_bit: headers.is_type_64(),
        cli_flags: 0,
        entry_point: 0,
        resources: (0, 0),
        ready_to_run: None,
    };

    let (rva, _) = directory(pe::IMAGE_DIRECTORY_ENTRY_COM_DESCRIPTOR).ok_or(Error::Native)?;
    let header = layout.part(bytes, rva, 72, "the CLI header")?;
    let mut header = Cursor::new(bytes.get(header).unwrap_or_default(), "CLI header");
    header.take(8)?;
    let (metadata_rva, metadata_size) = (header.u32()?, header.u32()?);
    layout.cli_flags = header.u32()?;
    layout.entry_point = header.u32()?;
    layout.resources = (header.u32()?, header.u32()?);
    header.take(32)?;
    let (native_rva, native_size) = (header.u32()?, header.u32()?);
    layout.metadata = layout.part(bytes, metadata_rva, metadata_size, "the metadata")?;

    if native_size >= 12 {
        layout.ready_to_run = layout.view(bytes).ready_to_run_header(native_rva);
    }
    if let Some((rva, size)) = directory(pe::IMAGE_DIRECTORY_ENTRY_DEBUG) {
        let entries = layout.view(bytes).at_rva(rva).unwrap_or_default();
        let (entries, _) = entries.get(..size as usize).unwrap_or(entries).as_chunks();
        layout.debug_entries = entries
            .iter()
            .take(MAX_DEBUG_ENTRIES)
            .map(DebugEntry::read)
            .collect();
    }
    Ok(layout)
}

impl ImageLayout {
    /// Where `size` bytes at an RVA lie; they must be there in full.
    fn part(
        &self,
        bytes: &[u8],
        rva: u32,
        size: u32,
        what: &'static str,
    ) -> Result<Range<usize>, Error> {
        let start = self
            .offset(rva)
            .ok_or(Malformed::new("RVA", rva as usize))?
            .start;
        let end = start.saturating_add(size as usize);
        if end > bytes.len() {
            return Err(Error::Truncated {
                what,
                needed: end as u64,
                have: bytes.len() as u64,
            });
        }
        Ok(start..end)
    }

    /// Where the bytes at an RVA begin, and where their section ends.
    fn offset(&self, rva: u32) -> Option<Range<usize>> {
        if self.kind == ImageKind::Loaded {
            return Some(rva as usize..usize::MAX);
        }
        self.sections.iter().find_map(|section| {
            let into = rva.checked_sub(section.rva)?;
            if into >= section.virtual_size.max(section.raw_size) || into > section.raw_size {
                return None;
            }
            let start = section.offset as usize;
            Some(start + into as usize..start + section.raw_size as usize)
        })
    }
}

/// A managed image: its headers, and bytes by RVA.
#[derive(Debug, Clone, Copy)]
pub struct Image<'a> {
    bytes: &'a [u8],
    layout: &'a ImageLayout,
}

impl<'a> Image<'a> {
    /// How the bytes are laid out.
    #[must_use]
    pub fn kind(self) -> ImageKind {
        self.layout.kind
    }

    /// The bytes from an RVA to the end of its section.
    #[must_use]
    pub fn at_rva(self, rva: u32) -> Option<&'a [u8]> {
        let range = self.layout.offset(rva)?;
        self.bytes.get(range.start..range.end.min(self.bytes.len()))
    }

    /// Where the metadata root lies in the bytes.
    #[must_use]
    pub fn metadata_range(self) -> Range<usize> {
        self.layout.metadata.clone()
    }

    /// The metadata root and everything in it.
    #[must_use]
    pub fn metadata_bytes(self) -> &'a [u8] {
        self.bytes
            .get(self.layout.metadata.clone())
            .unwrap_or_default()
    }

    /// The machine word of the file header; ready-to-run images for Linux have it changed by a constant.
    #[must_use]
    pub fn machine(self) -> u16 {
        self.layout.machine
    }

    /// The file header's characteristics.
    #[must_use]
    pub fn characteristics(self) -> u16 {
        self.layout.characteristics
    }

    /// The file header's timestamp, or a hash in deterministic builds.
    #[must_use]
    pub fn timestamp(self) -> u32 {
        self.layout.timestamp
    }

    /// The size of the image when loaded.
    #[must_use]
    pub fn image_size(self) -> u32 {
        self.layout.image_size
    }

    /// Whether the optional header is the 64-bit one.
    #[must_use]
    pub fn is_64_bit(self) -> bool {
        self.layout.is_64_bit
    }

    /// The flags of the CLI header.
    #[must_use]
    pub fn cli_flags(self) -> u32 {
        self.layout.cli_flags
    }

    /// Whether the CLI header promises IL only.
    #[must_use]
    pub fn is_il_only(self) -> bool {
        self.layout.cli_flags & CLI_IL_ONLY != 0
    }

    /// The method (or file) that the CLI header names as entry point.
    #[must_use]
    pub fn entry_point(self) -> Option<Token> {
        let native = self.layout.cli_flags & CLI_NATIVE_ENTRY_POINT != 0;
        Token(self.layout.entry_point).non_nil().filter(|_| !native)
    }

    /// The header of ahead-of-time compiled code, if the image has any.
    #[must_use]
    pub fn ready_to_run(self) -> Option<ReadyToRun> {
        self.layout.ready_to_run
    }

    /// The bytes of the managed resources directory.
    #[must_use]
    pub fn resources(self) -> &'a [u8] {
        let (rva, size) = self.layout.resources;
        let bytes = if rva == 0 { None } else { self.at_rva(rva) }.unwrap_or_default();
        bytes.get(..size as usize).unwrap_or(bytes)
    }

    fn ready_to_run_header(self, rva: u32) -> Option<ReadyToRun> {
        let mut header = Cursor::new(self.at_rva(rva)?, "ReadyToRun header");
        if header.u32().ok()? != READY_TO_RUN_SIGNATURE {
            return None;
        }
        let (major, minor, flags) = (header.u16().ok()?, header.u16().ok()?, header.u32().ok()?);
        Some(ReadyToRun {
            major,
            minor,
            flags,
        })
    }

    /// The IL body at a method's RVA.
    pub fn method_body(self, rva: u32) -> Result<MethodBody<'a>> {
        let bytes = self
            .at_rva(rva)
            .ok_or(Malformed::new("method RVA", rva as usize))?;
        MethodBody::read(bytes)
    }

    /// The entries of the debug directory, in file order.
    #[must_use]
    pub fn debug_entries(self) -> &'a [DebugEntry] {
        &self.layout.debug_entries
    }

    /// The bytes that a debug directory entry points to.
    #[must_use]
    pub fn debug_data(self, entry: &DebugEntry) -> Option<&'a [u8]> {
        let rest = match self.layout.kind {
            ImageKind::File => self.bytes.get(entry.offset as usize..),
            ImageKind::Loaded if entry.rva == 0 => None,
            ImageKind::Loaded => self.at_rva(entry.rva),
        };
        rest?.get(..entry.size as usize)
    }
}
