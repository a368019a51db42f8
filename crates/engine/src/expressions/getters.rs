//! Getters that only read a field, and setters that only set one: the field can be used instead of running them.

use metadata::Token;
use metadata::tables::Table;

use super::plan::FieldRef;
use crate::types::{Field, Method, Type, Types};
use crate::values::returned_field;

/// The field that a getter returns.
#[derive(Debug, Clone)]
pub(crate) enum Behind {
    /// One of the object.
    Own(FieldRef),
    /// A static one, of whatever type.
    Static(FieldRef),
}

impl Behind {
    pub(crate) fn field(&self) -> &FieldRef {
        match self {
            Self::Own(field) | Self::Static(field) => field,
        }
    }
}

/// The field that a getter returns as what it is, if that is all it does.
pub(crate) fn field_behind(types: Types<'_>, getter: &Method) -> Option<Behind> {
    field_returned(types, getter).filter(|it| it.field().ty.reads_as(&getter.returns))
}

/// The field that a getter returns, if that is all it does; its type may be another one.
pub(crate) fn field_returned(types: Types<'_>, getter: &Method) -> Option<Behind> {
    let module = types.metadata(getter.declared_in.module).ok()?;
    if types.is_shape(getter.declared_in.module) {
        return field_behind_member(types, getter).map(Behind::Own);
    }
    let body = module.body(getter.token).ok()??;
    let (field, is_static) = field_of(types, getter, returned_field(body.code)?)?;
    Some(match is_static {
        true => Behind::Static(field),
        false => Behind::Own(field),
    })
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
    field_of(types, setter, token).map(|(field, _)| field)
}

/// The field of an anonymous type that exists only here: its getters have no code.
fn field_behind_member(types: Types<'_>, getter: &Method) -> Option<FieldRef> {
    let name = getter.name.strip_prefix("get_")?;
    let name = format!("<{name}>i__Field");
    let owner = Type::Named(getter.declared_in.clone());
    field_in(types, &owner, |it| *it.name == *name).map(|(field, _)| field)
}

/// The field that the code of an accessor names, and whether it is static.
fn field_of(types: Types<'_>, accessor: &Method, token: Token) -> Option<(FieldRef, bool)> {
    let own = &accessor.declared_in;
    let metadata = types.metadata(own.module).ok()?.metadata();
    if token.is(Table::MemberRef) {
        let member = metadata.member_ref(token).ok()?;
        let owner = types.of_token(own.module, member.parent, &own.generics());
        return field_in(types, &owner.ok()?, |it| *it.name == *member.name);
    }
    let owner = metadata.field(token).ok()?.declaring_type().ok()?;
    let owner = match owner == own.token {
        true => own.clone(),
        false => types.open_named(own.module, owner).ok()?,
    };
    field_in(types, &Type::Named(owner), |it| it.token == token)
}

/// A field of a type or of a base of it, and whether it is static.
pub(crate) fn field_in(
    types: Types<'_>,
    owner: &Type,
    is_wanted: impl Fn(&Field) -> bool,
) -> Option<(FieldRef, bool)> {
    types.ancestry(owner).ok()?.into_iter().find_map(|level| {
        let fields = types.fields(&level).ok()?;
        let field = fields.iter().find(|it| is_wanted(it))?;
        let reference = FieldRef {
            declared_in: level.clone(),
            name: field.name.clone(),
            token: field.token,
            ty: field.ty.clone(),
        };
        Some((reference, field.flags.is_static()))
    })
}
