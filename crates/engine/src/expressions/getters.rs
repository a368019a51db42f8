//! Getters that only read a field, and setters that only set one: the field can be used instead of running them.

use std::rc::Rc;

use metadata::Token;
use metadata::tables::Table;

use super::plan::FieldRef;
use crate::types::{Method, Types};

/// The field that a getter returns as what it is, if that is all it does.
pub(crate) fn field_behind(types: Types<'_>, getter: &Method) -> Option<FieldRef> {
    field_returned(types, getter).filter(|it| it.ty.reads_as(&getter.returns))
}

/// The field that a getter returns, if that is all it does; its type may be another one.
pub(crate) fn field_returned(types: Types<'_>, getter: &Method) -> Option<FieldRef> {
    let module = types.metadata(getter.declared_in.module).ok()?;
    if types.is_shape(getter.declared_in.module) {
        return field_behind_member(types, getter);
    }
    let body = module.body(getter.token).ok()??;
    let token = match *body.code {
        // ldarg.0, ldfld, ret
        [0x02, 0x7b, a, b, c, d, 0x2a]
        // nop, ldarg.0, ldfld, stloc.0, br.s 0, ldloc.0, ret: the same without optimisation
        | [0x00, 0x02, 0x7b, a, b, c, d, 0x0a, 0x2b, 0x00, 0x06, 0x2a]
        // ldsfld, ret
        | [0x7e, a, b, c, d, 0x2a] => Token(u32::from_le_bytes([a, b, c, d])),
        _ => return None,
    };
    field_of(types, getter, token)
}

/// The field that a setter sets, if that is all it does.
pub(crate) fn field_set_by(types: Types<'_>, setter: &Method) -> Option<FieldRef> {
    let module = types.metadata(setter.declared_in.module).ok()?;
    let body = module.body(setter.token).ok()??;
    let token = match *body.code {
        // ldarg.0, ldarg.1, stfld, ret; and the same without optimisation
        [0x02, 0x03, 0x7d, a, b, c, d, 0x2a] | [0x00, 0x02, 0x03, 0x7d, a, b, c, d, 0x2a] => {
            Token(u32::from_le_bytes([a, b, c, d]))
        }
        _ => return None,
    };
    field_of(types, setter, token)
}

/// The field of an anonymous type that exists only here: its getters have no code.
fn field_behind_member(types: Types<'_>, getter: &Method) -> Option<FieldRef> {
    let name = getter.name.strip_prefix("get_")?;
    named_field(types, getter, &format!("<{name}>i__Field"))
}

/// The field of an accessor's own type that its code names.
fn field_of(types: Types<'_>, accessor: &Method, token: Token) -> Option<FieldRef> {
    let module = types.metadata(accessor.declared_in.module).ok()?;
    let metadata = module.metadata();
    let name: String = if token.is(Table::MemberRef) {
        metadata.member_ref(token).ok()?.name.into()
    } else {
        metadata.field(token).ok()?.name().ok()?.into()
    };
    // A field of a base type has another declaring type, which is not worth the trouble.
    named_field(types, accessor, &name)
}

fn named_field(types: Types<'_>, accessor: &Method, name: &str) -> Option<FieldRef> {
    let fields = types.fields(&accessor.declared_in).ok()?;
    let field = fields.iter().find(|it| *it.name == *name)?;
    Some(FieldRef {
        declared_in: Rc::clone(&accessor.declared_in),
        name: field.name.clone(),
        token: field.token,
        ty: field.ty.clone(),
    })
}
