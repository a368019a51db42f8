//! The types that C# itself knows, and the kinds of primitives.

use std::cell::OnceCell;
use std::rc::Rc;

use metadata::signature::Primitive;

use crate::expressions::scalar::Kind;
use crate::types::{Named, Type, Types};

/// Types of the core library, looked up when first needed.
#[derive(Debug, Default)]
pub(in crate::expressions) struct WellKnown {
    nullable: OnceCell<Option<Rc<Named>>>,
}

impl WellKnown {
    /// `T?` of a value type.
    pub(super) fn nullable(&self, types: Types<'_>, of: &Type) -> Option<Type> {
        let open = self
            .nullable
            .get_or_init(|| types.core("System", "Nullable`1")?.as_named().cloned());
        types.close(open.as_ref()?, std::slice::from_ref(of)).ok()
    }
}

/// The kind of a primitive type, and of those of the framework that we compute with ourselves.
pub(crate) fn kind(types: Types<'_>, ty: &Type) -> Option<Kind> {
    match ty {
        Type::Primitive(primitive) => primitive_kind(*primitive),
        Type::Named(named) if named.arguments.is_empty() => {
            if Some(named.module) != types.core_module() {
                return None;
            }
            let definition = types.definition(named).ok()?;
            if definition.namespace().ok()? != "System" {
                return None;
            }
            Some(match &*definition.name().ok()? {
                "Decimal" => Kind::Decimal,
                "Int128" => Kind::Int128,
                "UInt128" => Kind::UInt128,
                "Half" => Kind::Half,
                _ => return None,
            })
        }
        _ => None,
    }
}

/// The kind of a primitive.
pub(crate) fn primitive_kind(primitive: Primitive) -> Option<Kind> {
    Some(match primitive {
        Primitive::Bool => Kind::Bool,
        Primitive::Char => Kind::Char,
        Primitive::I1 => Kind::SByte,
        Primitive::U1 => Kind::Byte,
        Primitive::I2 => Kind::Short,
        Primitive::U2 => Kind::UShort,
        Primitive::I4 => Kind::Int,
        Primitive::U4 => Kind::UInt,
        Primitive::I8 => Kind::Long,
        Primitive::U8 => Kind::ULong,
        Primitive::R4 => Kind::Float,
        Primitive::R8 => Kind::Double,
        Primitive::IntPtr => Kind::NInt,
        Primitive::UIntPtr => Kind::NUInt,
        Primitive::String => Kind::String,
        Primitive::Void | Primitive::TypedReference | Primitive::Object => return None,
    })
}

/// The type of a kind.
pub(crate) fn type_of_kind(types: Types<'_>, kind: Kind) -> Option<Type> {
    let primitive = match kind {
        Kind::Bool => Primitive::Bool,
        Kind::Char => Primitive::Char,
        Kind::SByte => Primitive::I1,
        Kind::Byte => Primitive::U1,
        Kind::Short => Primitive::I2,
        Kind::UShort => Primitive::U2,
        Kind::Int => Primitive::I4,
        Kind::UInt => Primitive::U4,
        Kind::Long => Primitive::I8,
        Kind::ULong => Primitive::U8,
        Kind::NInt => Primitive::IntPtr,
        Kind::NUInt => Primitive::UIntPtr,
        Kind::Float => Primitive::R4,
        Kind::Double => Primitive::R8,
        Kind::String => Primitive::String,
        Kind::Decimal => return types.core("System", "Decimal"),
        Kind::Int128 => return types.core("System", "Int128"),
        Kind::UInt128 => return types.core("System", "UInt128"),
        Kind::Half => return types.core("System", "Half"),
    };
    Some(Type::Primitive(primitive))
}
