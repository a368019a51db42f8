//! Custom debug information: blobs of kinds that a GUID names (Portable PDB: CustomDebugInformation).

use std::borrow::Cow;

use super::Pdb;
use super::edit_and_continue::{self, LambdaMap, LocalSlot, StateMap};
use crate::cursor::Cursor;
use crate::error::{Error, Result};
use crate::guid::Guid;
use crate::pe::inflate;
use crate::tables::{Coded, CustomDebugInformationRow, Key, Table};
use crate::token::{IlOffset, Token};
use crate::view::Metadata;

macro_rules! kinds {
    ($( $(#[$doc:meta])* $name:ident = ($a:literal, $b:literal, $c:literal, $d:literal), )*) => {
        /// The kind of a blob of custom debug information.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum CustomKind { $( $(#[$doc])* $name, )* }

        impl CustomKind {
            /// The kind that a GUID names.
            #[must_use]
            pub fn from_guid(guid: Guid) -> Option<Self> {
                $( if guid == Guid::new($a, $b, $c, $d) { return Some(Self::$name); } )*
                None
            }

            /// The GUID that names the kind.
            #[must_use]
            pub const fn guid(self) -> Guid {
                match self { $( Self::$name => Guid::new($a, $b, $c, $d), )* }
            }
        }
    };
}

kinds! {
    /// Scopes of locals that live in fields of a state machine.
    HoistedScopes = (0x6da9_a61e, 0xf8c7, 0x4874, 0xbe62_68bc_5630_df71),
    /// Where an async method gives up and takes back control.
    AsyncStepping = (0x54fd_2ac5, 0xe925, 0x401a, 0x9c2a_f94f_1710_72f8),
    /// Names of the elements of a local's tuple type.
    TupleElementNames = (0xed9f_df71, 0x8879, 0x4747, 0x8ed3_fe5e_de3c_e710),
    /// Which parts of a local's type are `dynamic`.
    DynamicFlags = (0x83c5_63c4, 0xb4f3, 0x47d5, 0xb824_ba54_4147_7ea8),
    /// The root namespace of a Visual Basic project.
    DefaultNamespace = (0x58b2_eab6, 0x209f, 0x4e4e, 0xa22c_b2d0_f910_c782),
    /// Where the compiler put which local.
    LocalSlotMap = (0x755f_52a8, 0x91c5, 0x45be, 0xb4b8_2095_71e5_52bd),
    /// Where lambdas and closures come from.
    LambdaMap = (0xa643_004c, 0x0240, 0x496f, 0xa783_30d6_4f49_79de),
    /// Where the states of a state machine come from.
    StateMap = (0x8b78_cd68, 0x2ede, 0x420b, 0x980b_e158_84b8_aaa3),
    /// The text of a document.
    EmbeddedSource = (0x0e8a_571b, 0x6926, 0x466e, 0xb4ad_8ab0_4611_f5fe),
    /// Where documents can be fetched from.
    SourceLink = (0xcc11_0556, 0xa091, 0x4d38, 0x9fec_25ab_9a35_1a6a),
    /// Documents of a type without code.
    TypeDefinitionDocuments = (0x932e_74bc, 0xdba9, 0x4478, 0x8d46_0f32_a7ba_b3d3),
    /// Marks the primary constructor of a type.
    PrimaryConstructor = (0x9d40_ace1, 0xc703, 0x4d0e, 0xbf41_7243_060a_8fb5),
    /// The options that the compiler was given.
    CompilationOptions = (0xb5fe_ec05, 0x8cd0, 0x4a83, 0x96da_4662_84bb_4bd8),
    /// The references that the compiler was given.
    CompilationReferences = (0x7e4d_4708, 0x096e, 0x4c5c, 0xaeda_cb10_ba6a_740d),
}

/// One blob of custom debug information.
#[derive(Debug, Clone, Copy)]
pub struct CustomDebugInformation<'a> {
    /// What it is about.
    pub parent: Token,
    /// Its kind.
    pub kind: Guid,
    /// Its content.
    pub blob: &'a [u8],
}

/// The scope of a local that lives in a field of a state machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HoistedScope {
    /// Where it begins.
    pub start: IlOffset,
    /// Where it has ended; equal to `start` for slots that no local of the user lives in.
    pub end: IlOffset,
}

impl HoistedScope {
    /// Whether an offset lies in it.
    #[must_use]
    pub fn contains(&self, offset: IlOffset) -> bool {
        self.start <= offset && offset < self.end
    }
}

/// Where an async method gives up and takes back control.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AsyncStepping {
    /// The handler that hands exceptions to the caller's task; only in `async void` methods.
    pub catch_handler: Option<IlOffset>,
    /// Its awaits, in the order of the code.
    pub awaits: Vec<Await>,
}

/// One await of an async method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Await {
    /// Where the method returns to its caller.
    pub yield_offset: IlOffset,
    /// Where it goes on.
    pub resume_offset: IlOffset,
    /// The method that goes on, `MoveNext` as a rule.
    pub resume_method: Token,
}

/// A reference that the compiler was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference<'a> {
    /// The file name.
    pub name: Cow<'a, str>,
    /// Extern aliases, with commas between.
    pub aliases: Cow<'a, str>,
    /// Bit 0: an assembly, not a module. Bit 1: its types are embedded.
    pub flags: u8,
    /// The timestamp of its image.
    pub timestamp: u32,
    /// The size of its image.
    pub image_size: u32,
    /// The version id of its module.
    pub mvid: Guid,
}

impl<'a> Pdb<'a> {
    /// All custom debug information about one thing.
    pub fn custom(
        self,
        parent: Token,
    ) -> impl Iterator<Item = Result<CustomDebugInformation<'a>>> + use<'a> {
        let metadata = self.metadata;
        let coded = Coded::HasCustomDebugInformation;
        let rows = metadata.rows_of(Key::DebugInformationParent, coded, parent);
        rows.map(move |row| read(metadata, row))
    }

    /// All custom debug information of the PDB.
    pub fn all_custom(self) -> impl Iterator<Item = Result<CustomDebugInformation<'a>>> {
        let metadata = self.metadata;
        let rows = metadata.tokens(Table::CustomDebugInformation);
        rows.map(move |token| read(metadata, token.row()))
    }

    /// The blob of one kind about one thing.
    pub fn custom_of(self, parent: Token, kind: CustomKind) -> Result<Option<&'a [u8]>> {
        for information in self.custom(parent) {
            let information = information?;
            if information.kind == kind.guid() {
                return Ok(Some(information.blob));
            }
        }
        Ok(None)
    }

    /// The scopes of the locals in a state machine's fields, by slot: field `<x>5__3` has slot 2.
    pub fn hoisted_scopes(self, move_next: Token) -> Result<Vec<HoistedScope>> {
        let blob = self
            .custom_of(move_next, CustomKind::HoistedScopes)?
            .unwrap_or_default();
        let mut cursor = Cursor::new(blob, "hoisted scopes");
        let mut scopes = Vec::with_capacity(blob.len() / 8);
        while !cursor.is_empty() {
            let (start, length) = (cursor.u32()?, cursor.u32()?);
            let end = IlOffset(start.saturating_add(length));
            scopes.push(HoistedScope {
                start: IlOffset(start),
                end,
            });
        }
        Ok(scopes)
    }

    /// The awaits of an async method, by the token of its `MoveNext`.
    pub fn async_stepping(self, move_next: Token) -> Result<Option<AsyncStepping>> {
        let Some(blob) = self.custom_of(move_next, CustomKind::AsyncStepping)? else {
            return Ok(None);
        };
        let mut cursor = Cursor::new(blob, "async stepping");
        // Stored plus one, so that zero can mean none.
        let catch_handler = cursor.u32()?.checked_sub(1).map(IlOffset);
        let mut awaits = Vec::new();
        while !cursor.is_empty() {
            awaits.push(Await {
                yield_offset: IlOffset(cursor.u32()?),
                resume_offset: IlOffset(cursor.u32()?),
                resume_method: Token::new(Table::Method, cursor.compressed_u32()?),
            });
        }
        Ok(Some(AsyncStepping {
            catch_handler,
            awaits,
        }))
    }

    /// The names of tuple elements of a local variable or constant, in depth-first order.
    pub fn local_tuple_names(self, local: Token) -> Result<Option<Vec<Option<Cow<'a, str>>>>> {
        let Some(blob) = self.custom_of(local, CustomKind::TupleElementNames)? else {
            return Ok(None);
        };
        let texts = texts(blob, "tuple element names")?;
        Ok(Some(
            texts
                .into_iter()
                .map(|text| (!text.is_empty()).then_some(text))
                .collect(),
        ))
    }

    /// Which parts of a local's type, in depth-first order, are `dynamic`.
    pub fn local_dynamic_flags(self, local: Token) -> Result<Option<Vec<bool>>> {
        let blob = self.custom_of(local, CustomKind::DynamicFlags)?;
        let bits = |byte: &u8| {
            let byte = *byte;
            (0..8).map(move |bit| byte & (1 << bit) != 0)
        };
        Ok(blob.map(|blob| blob.iter().flat_map(bits).collect()))
    }

    /// The root namespace of a Visual Basic project.
    pub fn default_namespace(self) -> Result<Option<Cow<'a, str>>> {
        let module = Token::new(Table::Module, 1);
        let blob = self.custom_of(module, CustomKind::DefaultNamespace)?;
        Ok(blob.map(String::from_utf8_lossy))
    }

    /// The documents of a type that has no code of its own.
    pub fn type_documents(self, type_def: Token) -> Result<Vec<Token>> {
        let blob = self.custom_of(type_def, CustomKind::TypeDefinitionDocuments)?;
        let mut cursor = Cursor::new(blob.unwrap_or_default(), "type documents");
        let mut documents = Vec::new();
        while !cursor.is_empty() {
            documents.push(Token::new(Table::Document, cursor.compressed_u32()?));
        }
        Ok(documents)
    }

    /// Whether a constructor is a primary one, as far as the compiler said so.
    pub fn is_primary_constructor(self, method: Token) -> Result<bool> {
        Ok(self
            .custom_of(method, CustomKind::PrimaryConstructor)?
            .is_some())
    }

    /// The options that the compiler was given, in order.
    pub fn compilation_options(self) -> Result<Vec<(Cow<'a, str>, Cow<'a, str>)>> {
        let module = Token::new(Table::Module, 1);
        let blob = self.custom_of(module, CustomKind::CompilationOptions)?;
        let mut texts = texts(blob.unwrap_or_default(), "compilation options")?.into_iter();
        let mut options = Vec::new();
        while let (Some(name), Some(value)) = (texts.next(), texts.next()) {
            options.push((name, value));
        }
        Ok(options)
    }

    /// The references that the compiler was given, in order.
    pub fn compilation_references(self) -> Result<Vec<Reference<'a>>> {
        let module = Token::new(Table::Module, 1);
        let blob = self.custom_of(module, CustomKind::CompilationReferences)?;
        let mut cursor = Cursor::new(blob.unwrap_or_default(), "compilation references");
        let mut references = Vec::new();
        while !cursor.is_empty() {
            references.push(Reference {
                name: String::from_utf8_lossy(cursor.until_nul()?),
                aliases: String::from_utf8_lossy(cursor.until_nul()?),
                flags: cursor.u8()?,
                timestamp: cursor.u32()?,
                image_size: cursor.u32()?,
                mvid: cursor
                    .take(16)?
                    .first_chunk()
                    .copied()
                    .map(Guid)
                    .unwrap_or_default(),
            });
        }
        Ok(references)
    }

    /// The text of a document that the PDB carries, inflated; at most `limit` bytes are made.
    pub fn embedded_source(self, document: Token, limit: usize) -> Result<Option<Vec<u8>>, Error> {
        let Some(blob) = self.custom_of(document, CustomKind::EmbeddedSource)? else {
            return Ok(None);
        };
        let mut cursor = Cursor::new(blob, "embedded source");
        let size = cursor.u32()?;
        if size == 0 {
            let text = cursor.rest();
            if text.len() > limit {
                let (what, size) = ("embedded source", text.len() as u64);
                return Err(Error::TooLarge {
                    what,
                    size,
                    limit: limit as u64,
                });
            }
            return Ok(Some(text.to_vec()));
        }
        inflate(cursor.rest(), size, limit, "embedded source").map(Some)
    }

    /// Whether the PDB carries the text of a document.
    pub fn has_embedded_source(self, document: Token) -> Result<bool> {
        Ok(self
            .custom_of(document, CustomKind::EmbeddedSource)?
            .is_some())
    }

    /// The undecoded SourceLink map, which is JSON.
    pub fn source_link_json(self) -> Result<Option<&'a [u8]>> {
        self.custom_of(Token::new(Table::Module, 1), CustomKind::SourceLink)
    }

    /// Where the compiler put which local of a method.
    pub fn local_slot_map(self, method: Token) -> Result<Option<Vec<LocalSlot>>> {
        let blob = self.custom_of(method, CustomKind::LocalSlotMap)?;
        blob.map(edit_and_continue::local_slots).transpose()
    }

    /// Where lambdas and closures of a method come from.
    pub fn lambda_map(self, method: Token) -> Result<Option<LambdaMap>> {
        let blob = self.custom_of(method, CustomKind::LambdaMap)?;
        blob.map(edit_and_continue::lambda_map).transpose()
    }

    /// Where the states of a method's state machine come from.
    pub fn state_map(self, method: Token) -> Result<Option<StateMap>> {
        let blob = self.custom_of(method, CustomKind::StateMap)?;
        blob.map(edit_and_continue::state_map).transpose()
    }
}

fn read(metadata: Metadata<'_>, row: u32) -> Result<CustomDebugInformation<'_>> {
    let row: CustomDebugInformationRow = metadata.row(row)?;
    Ok(CustomDebugInformation {
        parent: row.parent,
        kind: metadata.guid(row.kind)?.unwrap_or_default(),
        blob: metadata.blob(row.value)?,
    })
}

/// Zero-terminated texts up to the end of a blob.
fn texts<'a>(blob: &'a [u8], what: &'static str) -> Result<Vec<Cow<'a, str>>> {
    let mut cursor = Cursor::new(blob, what);
    let mut texts = Vec::new();
    while !cursor.is_empty() {
        texts.push(String::from_utf8_lossy(cursor.until_nul()?));
    }
    Ok(texts)
}
