//! Constants of declarations, as C# writes them.

use metadata::model::ConstantValue;
use metadata::{Metadata, signature};

use crate::expressions::scalar::{quoted, quoted_char};

/// Characters of a constant's text.
const MAX_CONSTANT: usize = 200;

/// A constant of a type: one of an enum by the name of its member, if the same module has it, else as a cast.
pub(super) fn constant_of(
    metadata: Metadata<'_>,
    ty: &signature::Type,
    name: &str,
    value: ConstantValue<'_>,
) -> String {
    let plain = constant_text(value);
    // What a `T?` has is a constant of `T`.
    if let signature::Type::Generic {
        token, arguments, ..
    } = ty
        && let [inner] = arguments.as_slice()
        && metadata
            .full_name(*token)
            .is_ok_and(|it| it == "System.Nullable`1")
    {
        return constant_of(metadata, inner, name.trim_end_matches('?'), value);
    }
    let (
        signature::Type::Named {
            token,
            is_value: true,
        },
        Some(bits),
    ) = (ty, value.bits())
    else {
        return plain;
    };
    let members = metadata.type_def(*token).ok().map(|it| it.enum_members());
    let member = members.into_iter().flatten().flatten();
    let member = member.into_iter().find(|it| it.value.bits() == Some(bits));
    match member {
        Some(member) => format!("{name}.{}", member.name),
        None => format!("({name}){plain}"),
    }
}

/// A constant by itself.
pub(super) fn constant_text(value: ConstantValue<'_>) -> String {
    match value {
        ConstantValue::Bool(value) => value.to_string(),
        ConstantValue::Char(unit) => quoted_char(unit),
        ConstantValue::I1(value) => value.to_string(),
        ConstantValue::U1(value) => value.to_string(),
        ConstantValue::I2(value) => value.to_string(),
        ConstantValue::U2(value) => value.to_string(),
        ConstantValue::I4(value) => value.to_string(),
        ConstantValue::U4(value) => value.to_string(),
        ConstantValue::I8(value) => value.to_string(),
        ConstantValue::U8(value) => value.to_string(),
        ConstantValue::R4(value) => value.to_string(),
        ConstantValue::R8(value) => value.to_string(),
        ConstantValue::String(text) => {
            let shown: Vec<u16> = text.units().take(MAX_CONSTANT).collect();
            let cut = if text.len() > MAX_CONSTANT { "…" } else { "" };
            quoted(&shown) + cut
        }
        ConstantValue::Null => "null".into(),
    }
}
