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
