//! Where an expression stands: the method, its variables, what its file imports.

use std::rc::Rc;

use super::TupleNames;
use crate::types::{ModuleId, Named, Type};

/// What a binder knows of a frame. No value, only names and types.
#[derive(Debug, Default)]
pub(crate) struct Context {
    /// The module of the method.
    pub(crate) module: Option<ModuleId>,
    /// The method and the offset in it.
    pub(crate) at: Option<(metadata::Token, u32)>,
    /// The variables in scope, the innermost last; closures and hoisted ones under their own names.
    pub(crate) variables: Vec<Variable>,
    /// The variable that is `this`, by number.
    pub(crate) this: Option<usize>,
    /// The type that the user wrote the method in; not a closure or state machine.
    pub(crate) ty: Option<Rc<Named>>,
    /// The type parameters by name, with what they stand for.
    pub(crate) type_parameters: Vec<(Box<str>, Type)>,
    /// The namespace of the type.
    pub(crate) namespace: String,
    /// What `using` brings in, the innermost scope first.
    pub(crate) imports: Vec<Vec<Import>>,
    /// The type of `$exception`.
    pub(crate) exception: Option<Type>,
    /// The types of `$returnvalue` and of those with numbers that are asked for; 0 is that without.
    pub(crate) return_values: Vec<(u32, Type, TupleNames)>,
    /// The name of the method, as it was written.
    pub(crate) method: String,
    /// Whether the project checks for overflow where nothing else is said.
    pub(crate) checked: bool,
    /// Closures, each by the number of a variable that lies in it, with their types.
    pub(crate) closures: Vec<(usize, Type)>,
    /// The types of kept values, by number.
    pub(crate) handles: Vec<(u32, Type)>,
}

/// A variable of a frame.
#[derive(Debug, Clone)]
pub(crate) struct Variable {
    /// Its name.
    pub(crate) name: Rc<str>,
    /// Its type, without `ref`.
    pub(crate) ty: Type,
    /// The names of its tuple elements.
    pub(crate) names: TupleNames,
    /// Which parts of its type are `dynamic`.
    pub(crate) dynamic: Rc<[bool]>,
    /// If it is `dynamic`, the type of what it holds now, where that is known.
    pub(crate) holds: Option<Type>,
    /// Whether it is an `in` parameter or a `ref readonly` local, which nothing may change.
    pub(crate) read_only: bool,
    /// Whether it is a local of the method, and no parameter.
    pub(crate) is_local: bool,
    /// What is demanded of the type parameter that it is declared with, if it is.
    pub(crate) bounds: Option<Rc<Bounds>>,
    /// Its value, if it is a constant.
    pub(crate) constant: Option<crate::expressions::plan::Constant>,
}

impl Variable {
    /// A variable of which no more is known.
    pub(crate) fn named(name: &str, ty: Type) -> Self {
        Self {
            name: name.into(),
            ty,
            names: TupleNames::default(),
            dynamic: Rc::from([]),
            holds: None,
            read_only: false,
            is_local: false,
            bounds: None,
            constant: None,
        }
    }
}

/// What is demanded of a type parameter.
#[derive(Debug, Default)]
pub(crate) struct Bounds {
    /// The types that it derives from or implements.
    pub(crate) types: Vec<Type>,
    /// Whether it is a class.
    pub(crate) is_class: bool,
}

/// An import.
#[derive(Debug, Clone)]
pub(crate) enum Import {
    /// `using N;`
    Namespace(String),
    /// `using static T;`
    Static(Type),
    /// `using A = T;`
    TypeAlias(String, Type),
    /// `using A = N;`
    NamespaceAlias(String, String),
}
