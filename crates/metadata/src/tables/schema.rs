//! The tables of ECMA-335 II.22 and of the Portable PDB specification, as data.
//!
//! One list is the single truth: from it come the ids, the column layouts that compute row widths, and the row structs.

use super::coded::Coded;
use super::layout::RowCells;
use crate::error::Result;
use crate::token::{BlobHandle, GuidHandle, StringHandle, Token};

/// What one column holds, which decides its width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    /// A fixed 16-bit number.
    U2,
    /// A fixed 32-bit number.
    U4,
    /// An offset into `#Strings`.
    Str,
    /// An index into `#GUID`.
    Guid,
    /// An offset into `#Blob`.
    Blob,
    /// A row of one table.
    Row(Table),
    /// The first row of a run in one table; the run ends where the next row's begins.
    List(Table),
    /// A row of one of several tables.
    Coded(Coded),
}

/// A decoded row of one table.
pub trait Row: Sized {
    /// The table it comes from.
    const TABLE: Table;

    /// Reads all cells.
    #[doc(hidden)]
    fn read(cells: RowCells<'_>) -> Result<Self>;
}

macro_rules! column {
    (@type U2) => {
        u16
    };
    (@type U4) => {
        u32
    };
    (@type Str) => {
        StringHandle
    };
    (@type Guid) => {
        GuidHandle
    };
    (@type Blob) => {
        BlobHandle
    };
    (@type List $table:ident) => {
        u32
    };
    (@type Row $table:ident) => {
        Token
    };
    (@type Coded $coded:ident) => {
        Token
    };
    (@data $plain:ident) => {
        Column::$plain
    };
    (@data Row $table:ident) => {
        Column::Row(Table::$table)
    };
    (@data List $table:ident) => {
        Column::List(Table::$table)
    };
    (@data Coded $coded:ident) => {
        Column::Coded(Coded::$coded)
    };
    (@read $cells:ident U2) => {
        $cells.next() as u16
    };
    (@read $cells:ident U4) => {
        $cells.next()
    };
    (@read $cells:ident Str) => {
        StringHandle($cells.next())
    };
    (@read $cells:ident Guid) => {
        GuidHandle($cells.next())
    };
    (@read $cells:ident Blob) => {
        BlobHandle($cells.next())
    };
    (@read $cells:ident List $table:ident) => {
        $cells.next()
    };
    (@read $cells:ident Row $table:ident) => {
        $cells.next_row(Table::$table)?
    };
    (@read $cells:ident Coded $coded:ident) => {
        Coded::$coded.decode($cells.next())?
    };
}

macro_rules! tables {
    ($( $(#[$doc:meta])* $table:ident = $id:literal, $row:ident {
        $( $field:ident : $kind:ident $(($arg:ident))? ),* $(,)?
    } )*) => {
        /// A metadata table; the discriminant is its id in files and tokens.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Table { $( $(#[$doc])* $table = $id, )* }

        impl Table {
            /// Every table, by rising id.
            pub const ALL: &'static [Self] = &[$( Self::$table, )*];

            /// The table of an id.
            #[must_use]
            pub const fn from_id(id: u8) -> Option<Self> {
                match id { $( $id => Some(Self::$table), )* _ => None }
            }

            /// The columns in file order.
            #[must_use]
            pub const fn columns(self) -> &'static [Column] {
                match self { $( Self::$table => &[$( column!(@data $kind $($arg)?) ),*], )* }
            }
        }

        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq)]
            #[expect(missing_docs, reason = "columns carry the names of the specification")]
            pub struct $row { $( pub $field: column!(@type $kind $($arg)?), )* }

            impl Row for $row {
                const TABLE: Table = Table::$table;

                #[inline]
                fn read(mut cells: RowCells<'_>) -> Result<Self> {
                    Ok(Self { $( $field: column!(@read cells $kind $($arg)?), )* })
                }
            }
        )*
    };
}

tables! {
    /// The module itself, one row (II.22.30).
    Module = 0x00, ModuleRow { generation: U2, name: Str, mvid: Guid, enc_id: Guid, enc_base_id: Guid }
    /// A type of another module (II.22.38).
    TypeRef = 0x01, TypeRefRow { scope: Coded(ResolutionScope), name: Str, namespace: Str }
    /// A type of this module (II.22.37).
    TypeDef = 0x02, TypeDefRow {
        flags: U4, name: Str, namespace: Str, extends: Coded(TypeDefOrRef),
        field_list: List(Field), method_list: List(Method),
    }
    /// Reorders fields in uncompressed metadata.
    FieldPtr = 0x03, FieldPtrRow { field: Row(Field) }
    /// A field (II.22.15).
    Field = 0x04, FieldRow { flags: U2, name: Str, signature: Blob }
    /// Reorders methods in uncompressed metadata.
    MethodPtr = 0x05, MethodPtrRow { method: Row(Method) }
    /// A method (II.22.26).
    Method = 0x06, MethodRow {
        rva: U4, impl_flags: U2, flags: U2, name: Str, signature: Blob, param_list: List(Param),
    }
    /// Reorders parameters in uncompressed metadata.
    ParamPtr = 0x07, ParamPtrRow { param: Row(Param) }
    /// A parameter with a name, flags or attributes (II.22.33).
    Param = 0x08, ParamRow { flags: U2, sequence: U2, name: Str }
    /// An interface that a type names (II.22.23).
    InterfaceImpl = 0x09, InterfaceImplRow { class: Row(TypeDef), interface: Coded(TypeDefOrRef) }
    /// A member of another type (II.22.25).
    MemberRef = 0x0a, MemberRefRow { class: Coded(MemberRefParent), name: Str, signature: Blob }
    /// A compile-time constant (II.22.9).
    Constant = 0x0b, ConstantRow { kind: U2, parent: Coded(HasConstant), value: Blob }
    /// A custom attribute (II.22.10).
    CustomAttribute = 0x0c, CustomAttributeRow {
        parent: Coded(HasCustomAttribute), constructor: Coded(CustomAttributeType), value: Blob,
    }
    /// Marshalling of a field or parameter (II.22.17).
    FieldMarshal = 0x0d, FieldMarshalRow { parent: Coded(HasFieldMarshal), native_type: Blob }
    /// Declarative security (II.22.11).
    DeclSecurity = 0x0e, DeclSecurityRow {
        action: U2, parent: Coded(HasDeclSecurity), permission_set: Blob,
    }
    /// Packing and size of a type (II.22.8).
    ClassLayout = 0x0f, ClassLayoutRow { packing_size: U2, class_size: U4, parent: Row(TypeDef) }
    /// Explicit offset of a field (II.22.16).
    FieldLayout = 0x10, FieldLayoutRow { offset: U4, field: Row(Field) }
    /// A signature that no other table holds, such as a method's locals (II.22.36).
    StandAloneSig = 0x11, StandAloneSigRow { signature: Blob }
    /// The events of a type (II.22.12).
    EventMap = 0x12, EventMapRow { parent: Row(TypeDef), event_list: List(Event) }
    /// Reorders events in uncompressed metadata.
    EventPtr = 0x13, EventPtrRow { event: Row(Event) }
    /// An event (II.22.13).
    Event = 0x14, EventRow { flags: U2, name: Str, event_type: Coded(TypeDefOrRef) }
    /// The properties of a type (II.22.35).
    PropertyMap = 0x15, PropertyMapRow { parent: Row(TypeDef), property_list: List(Property) }
    /// Reorders properties in uncompressed metadata.
    PropertyPtr = 0x16, PropertyPtrRow { property: Row(Property) }
    /// A property (II.22.34).
    Property = 0x17, PropertyRow { flags: U2, name: Str, signature: Blob }
    /// Ties accessors to properties and events (II.22.28).
    MethodSemantics = 0x18, MethodSemanticsRow {
        semantics: U2, method: Row(Method), association: Coded(HasSemantics),
    }
    /// An explicit override (II.22.27).
    MethodImpl = 0x19, MethodImplRow {
        class: Row(TypeDef), body: Coded(MethodDefOrRef), declaration: Coded(MethodDefOrRef),
    }
    /// Another module of the same assembly, or a native library (II.22.31).
    ModuleRef = 0x1a, ModuleRefRow { name: Str }
    /// A constructed type (II.22.39).
    TypeSpec = 0x1b, TypeSpecRow { signature: Blob }
    /// A P/Invoke target (II.22.22).
    ImplMap = 0x1c, ImplMapRow {
        flags: U2, member: Coded(MemberForwarded), import_name: Str, import_scope: Row(ModuleRef),
    }
    /// Initial data of a field (II.22.18).
    FieldRva = 0x1d, FieldRvaRow { rva: U4, field: Row(Field) }
    /// Edit-and-continue: what a delta changes.
    EncLog = 0x1e, EncLogRow { token: U4, operation: U4 }
    /// Edit-and-continue: tokens of a delta's rows.
    EncMap = 0x1f, EncMapRow { token: U4 }
    /// The assembly's identity (II.22.2).
    Assembly = 0x20, AssemblyRow {
        hash_algorithm: U4, major: U2, minor: U2, build: U2, revision: U2, flags: U4,
        public_key: Blob, name: Str, culture: Str,
    }
    /// Unused by every runtime (II.22.4).
    AssemblyProcessor = 0x21, AssemblyProcessorRow { processor: U4 }
    /// Unused by every runtime (II.22.3).
    AssemblyOs = 0x22, AssemblyOsRow { platform: U4, major: U4, minor: U4 }
    /// A referenced assembly (II.22.5).
    AssemblyRef = 0x23, AssemblyRefRow {
        major: U2, minor: U2, build: U2, revision: U2, flags: U4, public_key_or_token: Blob,
        name: Str, culture: Str, hash: Blob,
    }
    /// Unused by every runtime (II.22.7).
    AssemblyRefProcessor = 0x24, AssemblyRefProcessorRow { processor: U4, assembly: Row(AssemblyRef) }
    /// Unused by every runtime (II.22.6).
    AssemblyRefOs = 0x25, AssemblyRefOsRow {
        platform: U4, major: U4, minor: U4, assembly: Row(AssemblyRef),
    }
    /// Another file of the assembly (II.22.19).
    File = 0x26, FileRow { flags: U4, name: Str, hash: Blob }
    /// A type that lives in, or was moved to, another module or assembly (II.22.14).
    ExportedType = 0x27, ExportedTypeRow {
        flags: U4, type_def_hint: U4, name: Str, namespace: Str, implementation: Coded(Implementation),
    }
    /// An embedded or linked resource (II.22.24).
    ManifestResource = 0x28, ManifestResourceRow {
        offset: U4, flags: U4, name: Str, implementation: Coded(Implementation),
    }
    /// Which type encloses which (II.22.32).
    NestedClass = 0x29, NestedClassRow { nested: Row(TypeDef), enclosing: Row(TypeDef) }
    /// A generic parameter (II.22.20).
    GenericParam = 0x2a, GenericParamRow {
        number: U2, flags: U2, owner: Coded(TypeOrMethodDef), name: Str,
    }
    /// An instantiated generic method (II.22.29).
    MethodSpec = 0x2b, MethodSpecRow { method: Coded(MethodDefOrRef), instantiation: Blob }
    /// A constraint of a generic parameter (II.22.21).
    GenericParamConstraint = 0x2c, GenericParamConstraintRow {
        owner: Row(GenericParam), constraint: Coded(TypeDefOrRef),
    }
    /// A source document (Portable PDB).
    Document = 0x30, DocumentRow { name: Blob, hash_algorithm: Guid, hash: Blob, language: Guid }
    /// Sequence points of the method with the same row number (Portable PDB).
    MethodDebugInformation = 0x31, MethodDebugInformationRow {
        document: Row(Document), sequence_points: Blob,
    }
    /// A scope of local names (Portable PDB).
    LocalScope = 0x32, LocalScopeRow {
        method: Row(Method), import_scope: Row(ImportScope), variable_list: List(LocalVariable),
        constant_list: List(LocalConstant), start_offset: U4, length: U4,
    }
    /// A local variable's name (Portable PDB).
    LocalVariable = 0x33, LocalVariableRow { attributes: U2, index: U2, name: Str }
    /// A local constant (Portable PDB).
    LocalConstant = 0x34, LocalConstantRow { name: Str, signature: Blob }
    /// Usings of a scope (Portable PDB).
    ImportScope = 0x35, ImportScopeRow { parent: Row(ImportScope), imports: Blob }
    /// Ties a state machine's `MoveNext` to the method a person wrote (Portable PDB).
    StateMachineMethod = 0x36, StateMachineMethodRow {
        move_next: Row(Method), kickoff: Row(Method),
    }
    /// A blob of a kind named by a GUID (Portable PDB).
    CustomDebugInformation = 0x37, CustomDebugInformationRow {
        parent: Coded(HasCustomDebugInformation), kind: Guid, value: Blob,
    }
}
