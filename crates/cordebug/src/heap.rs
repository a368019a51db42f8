//! Objects and layouts: where fields and elements lie, so that the target's memory can be read without a call for each.

use std::ops::Range;

use crate::bindings::*;
use crate::com::Com;
use crate::error::{Error, clr, clr_out};
use crate::module::missing;
use crate::process::Process;
use crate::types::Type;

/// A type has fewer fields than this; a count above it is not one.
const MAX_FIELDS: u32 = 1 << 16;
/// More regions of the heap are not asked for.
const MAX_REGIONS: usize = 1 << 16;
/// Most types have fewer; eight times as many are asked for as long as that is too few.
const FIELDS: u32 = 1 << 7;

/// Names a loaded type: the word that every object of it begins with.
#[derive(Debug, Clone, Copy)]
pub struct TypeId(pub(crate) COR_TYPEID);

impl TypeId {
    /// The id of the type whose objects begin with `word`; the two lowest bits belong to the collector.
    pub fn from_object_word(word: u64) -> Self {
        Self(COR_TYPEID {
            token1: word & !7,
            token2: 0,
        })
    }

    /// The word that objects of the type begin with.
    pub fn word(self) -> u64 {
        self.0.token1
    }
}

/// Where a field lies: from the start of the object, or of the value if the type is a value type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldPlace {
    /// Its `FieldDef` token.
    pub token: u32,
    /// Its offset in bytes.
    pub offset: u32,
}

/// Where the parts of an array lie, from the start of the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrayPlaces {
    /// The number of elements, 32 bits.
    pub count: u32,
    /// The first element.
    pub first: u32,
    /// The size of an element.
    pub element_size: u32,
    /// The lengths of all dimensions, 32 bits each, and behind them the lower bounds.
    pub lengths: u32,
    /// The number of dimensions.
    pub rank: u32,
}

/// Which part of the heap is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeapPart {
    /// All of it.
    All,
    /// Where small objects lie that the collector moves: no large arrays, and nothing that is kept for good.
    Small,
}

impl Process {
    fn fifth(&self) -> Result<Com<ICorDebugProcess5>, Error> {
        self.0
            .cast::<ICorDebugProcess5>()
            .ok_or_else(|| missing("ICorDebugProcess5"))
    }

    /// The type that an id names.
    pub fn type_of_id(&self, id: TypeId) -> Result<Type, Error> {
        let this = self.fifth()?;
        Ok(Type(clr_out!(
            this,
            ICorDebugProcess5::GetTypeForTypeID(id.0)
        )?))
    }

    /// The instance fields that the type itself declares.
    pub fn field_places(&self, id: TypeId) -> Result<Vec<FieldPlace>, Error> {
        let process = self.fifth()?;
        // Libraries before .NET 5 do not tell how many there are, and none tells how many of the room it was given it used:
        // what is left has no token.
        let mut room = FIELDS;
        let mut fields = loop {
            let mut fields = vec![COR_FIELD::default(); room as usize];
            let mut count = 0;
            clr!(
                process,
                ICorDebugProcess5::GetTypeFields(id.0, room, fields.as_mut_ptr(), &mut count)
            )?;
            if fields.last().is_none_or(|it| it.token == 0) {
                break fields;
            }
            if room >= MAX_FIELDS {
                return Err(missing("a type with more than 65536 fields"));
            }
            room *= 8;
        };
        fields.retain(|it| it.token != 0);
        let place = |field: &COR_FIELD| FieldPlace {
            token: field.token,
            offset: field.offset,
        };
        Ok(fields.iter().map(place).collect())
    }

    /// The size of an object of a type that is no array, with everything the collector needs; and its base type.
    pub fn object_size(&self, id: TypeId) -> Result<(u32, Option<TypeId>), Error> {
        let this = self.fifth()?;
        let mut layout = COR_TYPE_LAYOUT::default();
        clr!(this, ICorDebugProcess5::GetTypeLayout(id.0, &mut layout))?;
        let base = (layout.parentID.token1 != 0).then_some(TypeId(layout.parentID));
        Ok((layout.objectSize, base))
    }

    /// Where the elements of an array type lie.
    pub fn array_places(&self, id: TypeId) -> Result<ArrayPlaces, Error> {
        let this = self.fifth()?;
        let mut layout = COR_ARRAY_LAYOUT::default();
        clr!(this, ICorDebugProcess5::GetArrayLayout(id.0, &mut layout))?;
        Ok(ArrayPlaces {
            count: layout.countOffset,
            first: layout.firstElementOffset,
            element_size: layout.elementSize,
            lengths: layout.rankOffset,
            rank: layout.numRanks,
        })
    }

    /// Where objects lie, from each start to its end; nothing while the collector moves them.
    pub fn heap_regions(&self, part: HeapPart) -> Result<Vec<Range<u64>>, Error> {
        let this = self.fifth()?;
        let mut heap = COR_HEAPINFO::default();
        clr!(this, ICorDebugProcess5::GetGCHeapInformation(&mut heap))?;
        if heap.areGCStructuresValid == 0 {
            return Ok(Vec::new());
        }
        let regions = clr_out!(this, ICorDebugProcess5::EnumerateHeapRegions())?;
        let small = [CorDebug_Gen0, CorDebug_Gen1, CorDebug_Gen2];
        let mut found = Vec::new();
        while found.len() < MAX_REGIONS {
            let (mut region, mut fetched) = (COR_SEGMENT::default(), 0);
            clr!(
                regions,
                ICorDebugHeapSegmentEnum::Next(1, &mut region, &mut fetched)
            )?;
            if fetched != 1 {
                break;
            }
            if part == HeapPart::All || small.contains(&region.r#type) {
                found.push(region.start..region.end);
            }
        }
        Ok(found)
    }

    /// Writes the target's memory; an error unless all of it was written.
    pub fn write_memory(&self, address: u64, bytes: &[u8]) -> Result<(), Error> {
        let mut written = 0;
        let size = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        clr!(
            self.0,
            ICorDebugProcess::WriteMemory(address, size, bytes.as_ptr(), &mut written)
        )?;
        if written == bytes.len() {
            Ok(())
        } else {
            Err(missing("memory that can be written"))
        }
    }
}
