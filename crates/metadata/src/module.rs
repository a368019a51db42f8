//! An opened assembly that owns its bytes, and the indexes over it.

use std::sync::Arc;

use crate::bytes::Bytes;
use crate::error::{Error, Result};
use crate::index::TypeIndex;
use crate::model::Method;
use crate::pe::{Image, ImageKind, ImageLayout, MethodBody};
use crate::tables::{Layout, Table};
use crate::token::Token;
use crate::view::Metadata;

/// A managed module: cheap to clone, safe to share, borrowed from nowhere.
///
/// Opening reads headers only. Views ([`Module::metadata`], [`Module::image`]) cost nothing to make; indexes are built
/// when first asked for and then kept.
#[derive(Debug, Clone)]
pub struct Module(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    bytes: Bytes,
    image: ImageLayout,
    metadata: Layout,
    types: TypeIndex,
}

impl Module {
    /// Opens an image as it lies in a file.
    pub fn open(bytes: impl Into<Bytes>) -> Result<Self, Error> {
        Self::open_as(bytes, ImageKind::File)
    }

    /// Opens an image of either layout.
    pub fn open_as(bytes: impl Into<Bytes>, kind: ImageKind) -> Result<Self, Error> {
        let bytes = bytes.into();
        let image = ImageLayout::parse(&bytes, kind)?;
        let metadata = Layout::parse(image.view(&bytes).metadata_bytes())?;
        Ok(Self(Arc::new(Inner {
            bytes,
            image,
            metadata,
            types: TypeIndex::default(),
        })))
    }

    /// Opens metadata that has no image around it, as of a module that is emitted while a program runs. There is no code.
    pub fn open_bare(metadata: &[u8]) -> Result<Self, Error> {
        Self::open(image_around(metadata))
    }

    /// The image's headers and sections.
    #[must_use]
    pub fn image(&self) -> Image<'_> {
        self.0.image.view(&self.0.bytes)
    }

    /// The tables and heaps.
    #[must_use]
    pub fn metadata(&self) -> Metadata<'_> {
        Metadata::new(self.image().metadata_bytes(), &self.0.metadata)
    }

    /// The types of the module by name.
    #[must_use]
    pub fn types(&self) -> &TypeIndex {
        &self.0.types
    }

    /// The IL of a method; `None` if it has none (abstract, native, provided by the runtime).
    pub fn body(&self, method: Token) -> Result<Option<MethodBody<'_>>> {
        let method: Method<'_> = self.metadata().method(method)?;
        if !method.has_body() {
            return Ok(None);
        }
        self.image().method_body(method.rva()).map(Some)
    }

    /// The entry point that the runtime calls.
    #[must_use]
    pub fn entry_point(&self) -> Option<Token> {
        self.image()
            .entry_point()
            .filter(|token| token.is(Table::Method))
    }

    /// The entry point that a person wrote: behind the stub that waits for an async `Main`, the async method itself.
    pub fn user_entry_point(&self) -> Result<Option<Token>> {
        let Some(entry_point) = self.entry_point() else {
            return Ok(None);
        };
        let metadata = self.metadata();
        let method = metadata.method(entry_point)?;
        if method.name()? != "<Main>" {
            return Ok(Some(entry_point));
        }
        let ty = metadata.type_def(method.declaring_type()?)?;
        let mut found = None;
        for candidate in ty.methods() {
            let candidate = candidate?;
            let is_main = matches!(candidate.name_bytes()?, b"Main" | b"<Main>$");
            if !is_main || !candidate.flags().is_static() {
                continue;
            }
            if metadata.state_machine_type(candidate.token()).is_some() {
                return Ok(Some(candidate.token()));
            }
            found = found.or(Some(candidate.token()));
        }
        Ok(found.or(Some(entry_point)))
    }
}

/// The smallest image that holds metadata (ECMA-335 II.25). Its only section has an address that no method is at.
fn image_around(metadata: &[u8]) -> Vec<u8> {
    const HEADERS: u32 = 0x200;
    const CLI_HEADER: u32 = 72;
    const ADDRESS: u32 = 0x7000_0000;
    let size = u32::try_from(metadata.len()).unwrap_or(u32::MAX);
    let whole = size.saturating_add(CLI_HEADER);
    let mut image = vec![0_u8; (HEADERS + CLI_HEADER) as usize];
    let mut put = |at: u32, bytes: &[u8]| {
        let at = at as usize;
        if let Some(place) = image.get_mut(at..at + bytes.len()) {
            place.copy_from_slice(bytes);
        }
    };
    let headers: [(u32, &[u8]); 18] = [
        (0x00, b"MZ"),
        (0x3c, &0x80_u32.to_le_bytes()),
        (0x80, b"PE\0\0"),
        // The machine, one section, the size of the optional header, and that it is a library.
        (0x84, &0x8664_u16.to_le_bytes()),
        (0x86, &1_u16.to_le_bytes()),
        (0x94, &240_u16.to_le_bytes()),
        (0x96, &0x2022_u16.to_le_bytes()),
        // The optional header: 64 bits, the number of its directories, and that of the CLI.
        (0x98, &0x20b_u16.to_le_bytes()),
        (0x98 + 108, &16_u32.to_le_bytes()),
        (0x98 + 224, &ADDRESS.to_le_bytes()),
        (0x98 + 228, &CLI_HEADER.to_le_bytes()),
        // The section: its size and address, and those in the file.
        (0x188 + 8, &whole.to_le_bytes()),
        (0x188 + 12, &ADDRESS.to_le_bytes()),
        (0x188 + 16, &whole.to_le_bytes()),
        (0x188 + 20, &HEADERS.to_le_bytes()),
        // The CLI header.
        (HEADERS, &CLI_HEADER.to_le_bytes()),
        (HEADERS + 8, &(ADDRESS + CLI_HEADER).to_le_bytes()),
        (HEADERS + 12, &size.to_le_bytes()),
    ];
    for (at, bytes) in headers {
        put(at, bytes);
    }
    image.extend_from_slice(metadata);
    image
}
