//! The types of the program: what a value is, what members it has, what a name means.
//!
//! A [`Type`] is a small value that says which type is meant: a primitive, a definition of a module with its arguments,
//! an array of another type. It is cheap to clone, can be compared and hashed, and is *normalised*: `System.Int32` is
//! always [`Primitive::I4`], so that equal types are equal values. [`Types`] is the view that answers questions about
//! them over the modules that are loaded; it is made from the program with `Target::types` and costs nothing.
//!
//! | question | answer |
//! |---|---|
//! | the type of a runtime object, local, argument | [`Types::of_runtime`] |
//! | a type that a signature spells | [`Types::of_signature`], [`Types::of_token`] |
//! | a type by name | [`Types::find`], [`Types::core`] |
//! | base type, interfaces, what converts to what | [`Types::base`], [`Types::ancestry`], [`Types::interfaces`] |
//! | fields, methods, properties, nested types | [`Types::fields`], [`Types::methods`], [`Types::properties`], [`Types::nested`] |
//! | which method a call of a virtual one runs | [`Types::implementation`] |
//! | C# text | [`Types::text`] |
//! | for calls and static fields | [`Types::to_runtime`] |
//!
//! Invariant: nothing here runs code in the program, and nothing borrowed outlives the stop: modules are named by
//! [`ModuleId`], and one that has been unloaded is refused as [`TypeError::ModuleGone`]. What was worked out is kept in a
//! [`TypeCache`], which is emptied when a module is unloaded.

mod cache;
mod dispatch;
mod lookup;
mod members;
pub(crate) mod qualified;
mod resolve;
mod runtime;
mod shapes;
mod text;
mod tuple_names;

use std::rc::Rc;

use cordebug::process::Process;
use metadata::Token;
use metadata::signature::Primitive;

use crate::modules::{LoadedModule, Modules};

pub(crate) use cache::{Map as TypeCacheMap, TypeCache};
pub(crate) use members::{Field, LocalFunctions, Method, Parameter, Property};
pub(crate) use text::TypeNotes;
pub(crate) use tuple_names::rests;

/// Names a loaded module; never reused while anything that was read from it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ModuleId(pub(crate) usize);

/// A type of the program.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Type {
    /// A type that C# has a keyword for, `decimal` excepted; `string` and `object` are such types.
    Primitive(Primitive),
    /// A class, struct, enum, interface or delegate.
    Named(Rc<Named>),
    /// `T[]`.
    SzArray(Rc<Type>),
    /// `T[,]`, and an array of one dimension that may not start at 0.
    Array {
        /// What it holds.
        element: Rc<Type>,
        /// The number of dimensions.
        rank: u32,
    },
    /// `T*`.
    Pointer(Rc<Type>),
    /// `ref T`.
    ByRef(Rc<Type>),
    /// `delegate*<…>`.
    Function(Rc<FunctionType>),
    /// A parameter of the type around, by number: only in open types.
    Variable(u32),
    /// A parameter of the method around, by number: only in open types.
    MethodVariable(u32),
    /// A type whose module is not loaded, by name.
    Missing {
        /// The name that reflection gives it.
        name: Rc<str>,
        /// Whether its values are stored in place.
        is_value: bool,
    },
}

/// A definition of a module, with its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Named {
    /// The module that defines it.
    pub(crate) module: ModuleId,
    /// Its `TypeDef`.
    pub(crate) token: Token,
    /// What it is.
    pub(crate) kind: Kind,
    /// What its parameters stand for, those of enclosing types first; type variables while it is open.
    pub(crate) arguments: Box<[Type]>,
}

/// What a [`Named`] type is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// A class that is no delegate.
    Class,
    /// A struct that is no enum.
    Struct,
    /// An enum, stored as that.
    Enum(Primitive),
    /// An interface.
    Interface,
    /// A delegate.
    Delegate,
}

/// The signature of a function pointer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct FunctionType {
    /// Whether it is called by the runtime's own convention.
    pub(crate) is_managed: bool,
    /// What it returns.
    pub(crate) returns: Type,
    /// What it takes.
    pub(crate) parameters: Box<[Type]>,
}

/// What type variables stand for in some place.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Generics {
    /// Those of the type, with those of enclosing types first.
    pub(crate) of_type: Rc<[Type]>,
    /// Those of the method.
    pub(crate) of_method: Rc<[Type]>,
}

/// Why a type cannot be told.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum TypeError {
    #[error("the module of the type is no longer loaded")]
    ModuleGone,
    #[error("{module} cannot be read: {why}")]
    NoMetadata { module: String, why: String },
    #[error("{name} is in an assembly that the program has not loaded")]
    NotLoaded { name: Rc<str> },
    #[error("the metadata is damaged: {0}")]
    Malformed(#[from] metadata::Malformed),
    #[error("{0}")]
    Runtime(Rc<cordebug::Error>),
    #[error("the type is open: it has parameters that stand for nothing here")]
    Open,
    #[error(
        "the program has no anonymous type with these members: this one exists only in the debugger"
    )]
    OnlyHere,
    #[error("the type is nested too deeply")]
    TooDeep,
}

impl From<cordebug::Error> for TypeError {
    fn from(error: cordebug::Error) -> Self {
        Self::Runtime(Rc::new(error))
    }
}

/// What questions about types give.
pub(crate) type Result<T, E = TypeError> = std::result::Result<T, E>;

/// The types of the program, over the modules that are loaded now.
#[derive(Clone, Copy)]
pub(crate) struct Types<'t> {
    pub(crate) process: &'t Process,
    pub(crate) modules: &'t Modules,
    cache: &'t TypeCache,
}

impl std::fmt::Debug for Types<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Types")
    }
}

impl<'t> Types<'t> {
    /// The view over a program's modules.
    pub(crate) fn new(process: &'t Process, modules: &'t Modules, cache: &'t TypeCache) -> Self {
        Self {
            process,
            modules,
            cache,
        }
    }

    /// A module by its name.
    pub(crate) fn module(self, id: ModuleId) -> Result<&'t LoadedModule> {
        if self.is_shape(id) {
            return Err(TypeError::OnlyHere);
        }
        self.modules.get(id.0).ok_or(TypeError::ModuleGone)
    }

    /// What a module's file says.
    pub(crate) fn metadata(self, id: ModuleId) -> Result<&'t metadata::Module> {
        if self.is_shape(id) {
            return self.shape(id);
        }
        let module = self.module(id)?;
        module
            .described(self.process)
            .map_err(|why| TypeError::NoMetadata {
                module: module.file_name(),
                why: why.to_owned(),
            })
    }

    /// The definition behind a named type.
    pub(crate) fn definition(self, named: &Named) -> Result<metadata::model::TypeDef<'t>> {
        Ok(self
            .metadata(named.module)?
            .metadata()
            .type_def(named.token)?)
    }
}

impl Type {
    pub(crate) const OBJECT: Type = Type::Primitive(Primitive::Object);
    pub(crate) const STRING: Type = Type::Primitive(Primitive::String);
    pub(crate) const INT: Type = Type::Primitive(Primitive::I4);
    pub(crate) const BOOL: Type = Type::Primitive(Primitive::Bool);

    /// The definition that it is made from, if it has one of its own; primitives: see [`Types::named`].
    pub(crate) fn as_named(&self) -> Option<&Rc<Named>> {
        match self {
            Type::Named(named) => Some(named),
            _ => None,
        }
    }

    /// Whether values are stored in place; `None` for what is neither, such as an open parameter.
    pub(crate) fn is_value(&self) -> Option<bool> {
        match self {
            Type::Primitive(Primitive::Object | Primitive::String)
            | Type::SzArray(_)
            | Type::Array { .. } => Some(false),
            Type::Primitive(_) | Type::Pointer(_) | Type::Function(_) => Some(true),
            Type::Named(named) => Some(matches!(named.kind, Kind::Struct | Kind::Enum(_))),
            Type::Missing { is_value, .. } => Some(*is_value),
            Type::ByRef(_) | Type::Variable(_) | Type::MethodVariable(_) => None,
        }
    }

    /// Whether values are references to objects.
    pub(crate) fn is_reference(&self) -> bool {
        self.is_value() == Some(false)
    }

    /// Whether values are addresses: a pointer, or one of a function.
    pub(crate) fn is_pointer(&self) -> bool {
        matches!(self, Type::Pointer(_) | Type::Function(_))
    }

    /// Whether what is stored as this is the same when it is read as another type. The stack that IL runs on tells neither a
    /// pointer from what it leads to by reference, nor numbers of one size: code that loads the one may return the other.
    pub(crate) fn reads_as(&self, other: &Type) -> bool {
        self == other || self.is_reference() && other.is_reference()
    }

    /// The element type of an array.
    pub(crate) fn element(&self) -> Option<&Type> {
        match self {
            Type::SzArray(element) | Type::Array { element, .. } => Some(element),
            _ => None,
        }
    }

    /// The type behind a by-ref; others are themselves.
    pub(crate) fn without_ref(&self) -> &Type {
        match self {
            Type::ByRef(inner) => inner,
            _ => self,
        }
    }

    /// What an enum or primitive is stored as.
    pub(crate) fn underlying(&self) -> Option<Primitive> {
        match self {
            Type::Primitive(primitive) => Some(*primitive),
            Type::Named(named) => match named.kind {
                Kind::Enum(underlying) => Some(underlying),
                _ => None,
            },
            Type::Pointer(_) | Type::Function(_) => Some(Primitive::UIntPtr),
            _ => None,
        }
    }

    /// Whether it has parameters that stand for nothing.
    pub(crate) fn is_open(&self) -> bool {
        match self {
            Type::Primitive(_) | Type::Missing { .. } => false,
            Type::Named(named) => named.arguments.iter().any(Type::is_open),
            Type::SzArray(inner)
            | Type::Array { element: inner, .. }
            | Type::Pointer(inner)
            | Type::ByRef(inner) => inner.is_open(),
            Type::Function(function) => {
                function.returns.is_open() || function.parameters.iter().any(Type::is_open)
            }
            Type::Variable(_) | Type::MethodVariable(_) => true,
        }
    }

    /// The type with its parameters replaced by what they stand for; one that stands for nothing stays.
    pub(crate) fn with(&self, generics: &Generics) -> Type {
        let inner = |inner: &Rc<Type>| Rc::new(inner.with(generics));
        let all = |list: &[Type]| list.iter().map(|it| it.with(generics)).collect();
        let replaced = |list: &[Type], number: u32| list.get(number as usize).cloned();
        match self {
            Type::Primitive(_) | Type::Missing { .. } => self.clone(),
            Type::Named(named) if !self.is_open() => Type::Named(named.clone()),
            Type::Named(named) => Type::Named(Rc::new(Named {
                arguments: all(&named.arguments),
                ..(**named).clone()
            })),
            Type::SzArray(element) => Type::SzArray(inner(element)),
            Type::Array { element, rank } => Type::Array {
                element: inner(element),
                rank: *rank,
            },
            Type::Pointer(target) => Type::Pointer(inner(target)),
            Type::ByRef(target) => Type::ByRef(inner(target)),
            Type::Function(function) => Type::Function(Rc::new(FunctionType {
                is_managed: function.is_managed,
                returns: function.returns.with(generics),
                parameters: all(&function.parameters),
            })),
            Type::Variable(number) => {
                replaced(&generics.of_type, *number).unwrap_or_else(|| self.clone())
            }
            Type::MethodVariable(number) => {
                replaced(&generics.of_method, *number).unwrap_or_else(|| self.clone())
            }
        }
    }
}

impl Named {
    /// What the parameters of the type stand for inside it.
    pub(crate) fn generics(&self) -> Generics {
        Generics {
            of_type: self.arguments.iter().cloned().collect(),
            of_method: Rc::default(),
        }
    }
}
