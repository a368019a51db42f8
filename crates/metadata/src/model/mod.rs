//! The type system of one module: types, members, parameters and what they refer to, as small lazy views.

mod constant;
mod flags;
mod members;
mod references;
mod types;

pub use constant::{ConstantValue, Utf16};
pub use flags::{FieldFlags, MethodFlags, MethodImplFlags, ParamFlags, TypeFlags, Visibility};
pub use members::{
    Accessors, Event, Field, GenericParam, Method, NativeImport, Parameter, Property, Semantics,
};
pub use references::{Assembly, AssemblyIdentity, MemberRef, TypeScope, Version};
pub use types::{EnumMember, TypeDef, TypeLayout};
