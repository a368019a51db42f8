//! The runtime's own values of what lies inside elements of collections: references are written through those only, so that
//! the garbage collector hears of it.
//!
//! Where an element lies is known from reading it. The object that it lies in is the array or the node of its collection,
//! and the fields that lead to it there are found by their offsets.

use super::roots::Roots;
use super::view::{Holder, Viewer};
use super::{Place, Value};
use crate::types::Type;

/// Structs lie less deeply inside each other.
const MAX_DEPTH: u32 = 16;

impl Roots<'_, '_> {
    /// The runtime's value of an element of a collection.
    pub(super) fn runtime_element(
        &self,
        viewer: &Viewer<'_, '_>,
        collection: &Value,
        element: &Value,
    ) -> Option<cordebug::value::Value> {
        let Place::Memory(address) = element.place else {
            return None;
        };
        let holder = viewer.holder(collection, element)?;
        let process = self.reader.types.process;
        match holder {
            Holder::Array { array, position } => {
                let first = self.reader.element(&array, position).ok()?;
                let Place::Memory(start) = first.place else {
                    return None;
                };
                let runtime = self.reader.hold(&array).ok()?.inner().ok()?;
                let runtime = runtime.element_at(u32::try_from(position).ok()?).ok()?;
                let offset = address.checked_sub(start)?;
                self.part(runtime, &first.ty, offset, &element.ty, 0)
            }
            Holder::Node(node) => {
                let offset = address.checked_sub(node.address)?;
                let members = self.reader.members(&node).ok()?;
                let member = members
                    .iter()
                    .rfind(|it| u64::from(it.offset) <= offset && self.reaches(it, offset))?;
                let runtime = process.object_at(node.address).ok()?;
                let runtime = self.field_of(&runtime, member)?;
                let rest = offset - u64::from(member.offset);
                self.part(runtime, &member.field.ty, rest, &element.ty, 0)
            }
        }
    }

    /// Whether an offset lies inside a member.
    fn reaches(&self, member: &super::Member, offset: u64) -> bool {
        let size = self.reader.size_of(&member.field.ty);
        size.is_ok_and(|size| offset < u64::from(member.offset) + u64::from(size))
    }

    /// What lies at an offset in a value, of a type.
    fn part(
        &self,
        runtime: cordebug::value::Value,
        ty: &Type,
        offset: u64,
        wanted: &Type,
        depth: u32,
    ) -> Option<cordebug::value::Value> {
        if offset == 0 && ty == wanted {
            return Some(runtime);
        }
        if ty.is_value() != Some(true) || depth > MAX_DEPTH {
            return None;
        }
        let members = self.reader.struct_members(ty).ok()?;
        let member = members
            .iter()
            .find(|it| u64::from(it.offset) <= offset && self.reaches(it, offset))?;
        let whole = runtime.dereference().ok().flatten()?;
        let inner = self.field_of(&whole, member)?;
        let rest = offset - u64::from(member.offset);
        self.part(inner, &member.field.ty, rest, wanted, depth + 1)
    }
}
