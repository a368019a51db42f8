//! Values that outlive a run of the program: bytes, with the objects that they refer to held.
//!
//! The collector moves objects, so the addresses among the bytes are written anew whenever the value is read again.

use crate::types::Type;

use super::{Held, Place, Reader, Result, Unreadable, Value, buffer_length};

/// Structs nest less deeply.
const MAX_DEPTH: u32 = 32;
/// Fields of one struct with all structs inside; also references that are held for one value.
const MAX_LEAVES: usize = 1024;
/// Elements of an inline array of numbers that are looked at.
const MAX_NUMBERS: u32 = 16;

/// A value as it was when it was taken.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    ty: Type,
    bytes: Vec<u8>,
    /// The objects that the bytes refer to, by offset.
    references: Vec<(usize, Held)>,
}

/// What lies at an offset of a struct.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaf {
    /// A reference to an object.
    Reference,
    /// A `float` or `double`.
    Float,
    /// Anything else that has no fields.
    Other,
}

impl Reader<'_> {
    /// Takes a value as it is now; of a by-ref, what it leads to.
    pub(crate) fn snapshot(&self, value: &Value) -> Result<Snapshot> {
        let value = self.behind_ref(value)?;
        if let Place::Text(_) = value.place {
            return Err(Unreadable::WrongKind {
                ty: self.types.text(&value.ty),
                wanted: "a value of the program",
            });
        }
        let bytes = self.bytes(&value, self.size_of(&value.ty)?)?;
        let mut references = Vec::new();
        for (offset, leaf) in self.leaves(&value.ty)? {
            let at = offset as usize;
            let word = bytes.get(at..).and_then(|it| it.first_chunk());
            if let (Leaf::Reference, Some(word)) = (leaf, word) {
                let address = u64::from_le_bytes(*word);
                if address != 0 {
                    references.push((at, self.hold(&self.object_at(address)?)?));
                }
            }
        }
        Ok(Snapshot {
            ty: value.ty,
            bytes,
            references,
        })
    }

    /// The value that was taken, with its objects where they lie now.
    pub(crate) fn restored(&self, snapshot: &Snapshot) -> Result<Value> {
        let mut bytes = snapshot.bytes.clone();
        for (offset, held) in &snapshot.references {
            let address = self.held(held)?.address.to_le_bytes();
            if let Some(word) = bytes.get_mut(*offset..*offset + address.len()) {
                word.copy_from_slice(&address);
            }
        }
        Ok(self.copied(snapshot.ty.clone(), bytes))
    }

    /// What lies where in a value of a type.
    pub(super) fn leaves(&self, ty: &Type) -> Result<Vec<(u32, Leaf)>> {
        let mut found = Vec::new();
        self.add_leaves(ty, 0, 0, &mut found)?;
        Ok(found)
    }

    /// What lies in the elements of an inline array, of which only the first is a field.
    fn add_elements(
        &self,
        ty: &Type,
        at: u32,
        (depth, length): (u32, u32),
        found: &mut Vec<(u32, Leaf)>,
    ) -> Result<()> {
        let members = self.struct_members(ty)?;
        let Some(element) = members.first().map(|it| &it.field.ty) else {
            return Ok(());
        };
        let stride = self.size_of(element)?;
        let mut of_one = Vec::new();
        self.add_leaves(element, 0, depth + 1, &mut of_one)?;
        // Of numbers it is enough to know that they are there, behind what fits into registers.
        let has_references = of_one.iter().any(|(_, leaf)| *leaf == Leaf::Reference);
        let count = if has_references {
            length
        } else {
            length.min(MAX_NUMBERS)
        };
        for number in 0..count {
            if found.len() >= MAX_LEAVES {
                return Err(Unreadable::Type(crate::types::TypeError::TooDeep));
            }
            let start = at.saturating_add(number.saturating_mul(stride));
            found.extend(
                of_one
                    .iter()
                    .map(|(at, leaf)| (start.saturating_add(*at), *leaf)),
            );
        }
        Ok(())
    }

    fn add_leaves(
        &self,
        ty: &Type,
        at: u32,
        depth: u32,
        found: &mut Vec<(u32, Leaf)>,
    ) -> Result<()> {
        use metadata::signature::Primitive;
        if depth > MAX_DEPTH || found.len() >= MAX_LEAVES {
            return Err(Unreadable::Type(crate::types::TypeError::TooDeep));
        }
        if ty.is_reference() {
            found.push((at, Leaf::Reference));
            return Ok(());
        }
        match ty.underlying() {
            Some(Primitive::R4 | Primitive::R8) => found.push((at, Leaf::Float)),
            Some(_) => found.push((at, Leaf::Other)),
            None if ty.is_value() == Some(true) => {
                let length = ty.as_named().and_then(|it| buffer_length(self.types, it));
                if let Some(length) = length {
                    return self.add_elements(ty, at, (depth, length), found);
                }
                for member in self.struct_members(ty)?.iter() {
                    let at = at.saturating_add(member.offset);
                    self.add_leaves(&member.field.ty, at, depth + 1, found)?;
                }
            }
            None => found.push((at, Leaf::Other)),
        }
        Ok(())
    }
}
