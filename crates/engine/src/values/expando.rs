//! The members that an `ExpandoObject` has now.

use std::rc::Rc;

use super::{Object, Reader, Result};
use crate::types::Type;

/// Members of one object that are looked through.
const MAX_MEMBERS: u64 = 10_000;
/// Letters of a member's name.
const MAX_NAME: u32 = 1 << 16;

impl Reader<'_> {
    /// The names of the members that an `ExpandoObject` has, each with the place of its value; those that were removed are left out.
    pub(crate) fn expando_members(&self, object: &Object) -> Result<Vec<(u64, String)>> {
        let expando = self.reference_to(object);
        let part = |path| self.object(&self.walk(&expando, path)?);
        let (Some(keys), Some(values)) = (part("_data.Class._keys")?, part("_data._dataArray")?)
        else {
            return Ok(Vec::new());
        };
        let nothing = self.removed_member(object);
        let mut members = Vec::new();
        for at in 0..self.array(&keys)?.count.min(MAX_MEMBERS) {
            if let Ok(value) = self.element(&values, at)
                && let Ok(Some(value)) = self.object(&value)
                && value.ty == Type::OBJECT
                && nothing.is_none_or(|it| it == value.address)
            {
                continue;
            }
            if let Some((name, _)) = self.string(&self.element(&keys, at)?, MAX_NAME)? {
                members.push((at, name));
            }
        }
        Ok(members)
    }

    /// Where the object lies that a removed member holds, if that can be told.
    fn removed_member(&self, object: &Object) -> Option<u64> {
        let named: Rc<_> = object.ty.as_named()?.clone();
        let fields = self.types.fields(&named).ok()?;
        let field = fields.iter().find(|it| *it.name == *"Uninitialized")?;
        let value = self.static_field(&named, field, None).ok()?;
        Some(self.object(&value).ok()??.address)
    }
}
