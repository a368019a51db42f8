//! The flag words of types and members (ECMA-335 II.23.1).

/// Who may use a type or member, fewer first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Visibility {
    /// Only the compiler that made it.
    CompilerControlled,
    /// The declaring type.
    Private,
    /// Derived types of the same assembly.
    PrivateProtected,
    /// The assembly.
    Internal,
    /// Derived types.
    Protected,
    /// Derived types, and the assembly.
    ProtectedInternal,
    /// Everyone.
    Public,
}

impl Visibility {
    const fn of_member(bits: u16) -> Self {
        match bits & 7 {
            1 => Self::Private,
            2 => Self::PrivateProtected,
            3 => Self::Internal,
            4 => Self::Protected,
            5 => Self::ProtectedInternal,
            6 => Self::Public,
            _ => Self::CompilerControlled,
        }
    }
}

macro_rules! flags {
    ($( $(#[$doc:meta])* $name:ident($bits:ty) { $( $(#[$method_doc:meta])* $method:ident = $mask:literal ),* $(,)? } )*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub struct $name(pub $bits);

        impl $name {
            $(
                $(#[$method_doc])*
                #[must_use]
                pub const fn $method(self) -> bool {
                    self.0 & $mask != 0
                }
            )*
        }
    )* };
}

flags! {
    /// `TypeAttributes` (II.23.1.15).
    TypeFlags(u32) {
        /// Whether it is an interface.
        is_interface = 0x20,
        /// Whether it cannot be instantiated.
        is_abstract = 0x80,
        /// Whether it cannot be derived from.
        is_sealed = 0x100,
        /// Whether its name has a special meaning.
        is_special_name = 0x400,
        /// Whether it comes from a COM type library.
        is_import = 0x1000,
        /// Whether its fields lie in declaration order.
        is_sequential_layout = 0x08,
        /// Whether its fields have explicit offsets.
        is_explicit_layout = 0x10,
        /// Whether static access need not run the type initialiser first.
        is_before_field_init = 0x0010_0000,
        /// Whether an exported type lives in another assembly.
        is_forwarder = 0x0020_0000,
    }
    /// `MethodAttributes` (II.23.1.10).
    MethodFlags(u16) {
        /// Whether it has no `this`.
        is_static = 0x10,
        /// Whether it cannot be overridden.
        is_final = 0x20,
        /// Whether it is dispatched by the object's type.
        is_virtual = 0x40,
        /// Whether it hides by name and signature.
        hides_by_signature = 0x80,
        /// Whether it takes a new slot instead of overriding.
        is_new_slot = 0x100,
        /// Whether it has no body.
        is_abstract = 0x400,
        /// Whether its name has a special meaning, as that of an accessor or operator.
        is_special_name = 0x800,
        /// Whether it is implemented by a native library.
        is_pinvoke = 0x2000,
    }
    /// `MethodImplAttributes` (II.23.1.11).
    MethodImplFlags(u16) {
        /// Whether the runtime provides the code.
        is_runtime = 0x03,
        /// Whether the compiler must not inline it.
        is_no_inlining = 0x08,
        /// Whether it holds a lock while it runs.
        is_synchronized = 0x20,
        /// Whether it is never optimised.
        is_no_optimization = 0x40,
        /// Whether it is inlined where possible.
        is_aggressive_inlining = 0x100,
        /// Whether the runtime implements it itself.
        is_internal_call = 0x1000,
        /// Whether the runtime suspends it at awaits, without a state machine in IL.
        is_runtime_async = 0x2000,
    }
    /// `FieldAttributes` (II.23.1.5).
    FieldFlags(u16) {
        /// Whether it belongs to the type, not to objects.
        is_static = 0x10,
        /// Whether only constructors assign it.
        is_init_only = 0x20,
        /// Whether it is a compile-time constant.
        is_literal = 0x40,
        /// Whether its name has a special meaning.
        is_special_name = 0x200,
        /// Whether the runtime gives its name a meaning, as `value__` of enums.
        is_runtime_special_name = 0x400,
        /// Whether it has initial data in the image.
        has_rva = 0x100,
        /// Whether it has a constant.
        has_default = 0x8000,
    }
    /// `ParamAttributes` (II.23.1.13).
    ParamFlags(u16) {
        /// Whether it is marked as input.
        is_in = 0x01,
        /// Whether it is marked as output.
        is_out = 0x02,
        /// Whether callers may leave it out.
        is_optional = 0x10,
        /// Whether it has a constant.
        has_default = 0x1000,
    }
}

impl TypeFlags {
    /// Who may use the type.
    #[must_use]
    pub const fn visibility(self) -> Visibility {
        match self.0 & 7 {
            1 | 2 => Visibility::Public,
            3 => Visibility::Private,
            4 => Visibility::Protected,
            6 => Visibility::PrivateProtected,
            7 => Visibility::ProtectedInternal,
            _ => Visibility::Internal,
        }
    }

    /// Whether the type lies in another type.
    #[must_use]
    pub const fn is_nested(self) -> bool {
        self.0 & 7 >= 2
    }

    /// Whether the fields are declared to lie one behind another (ECMA-335 II.23.1.15).
    #[must_use]
    pub const fn is_sequential(self) -> bool {
        self.0 & 0x18 == 8
    }

    /// Whether the runtime lays the fields out as it likes.
    #[must_use]
    pub const fn is_auto_layout(self) -> bool {
        self.0 & 0x18 == 0
    }
}

impl MethodFlags {
    /// Who may call the method.
    #[must_use]
    pub const fn visibility(self) -> Visibility {
        Visibility::of_member(self.0)
    }
}

impl FieldFlags {
    /// Who may use the field.
    #[must_use]
    pub const fn visibility(self) -> Visibility {
        Visibility::of_member(self.0)
    }
}
