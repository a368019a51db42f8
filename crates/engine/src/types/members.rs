//! What types are made of: base types, interfaces, fields, methods, properties, nested types.
//!
//! Every member is told with the types of the type that was asked, its parameters replaced; those of generic methods
//! stay variables. Only what a type declares itself is told: who wants inherited members walks [`Types::ancestry`].

use std::rc::Rc;

use metadata::Token;
use metadata::model::{FieldFlags, MethodFlags, ParamFlags};
use metadata::signature;

use super::{Generics, Kind, ModuleId, Named, Result, Type, Types};

/// No class has this many ancestors; a circle would have no end.
const MAX_ANCESTORS: usize = 256;
/// No type implements this many interfaces.
const MAX_INTERFACES: usize = 1024;

/// A field, with what it holds.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    /// Its name in metadata, which may be one that the compiler made.
    pub(crate) name: Rc<str>,
    /// Its `FieldDef`.
    pub(crate) token: Token,
    /// Its flags: static, constant, read-only, visibility.
    pub(crate) flags: FieldFlags,
    /// What it holds.
    pub(crate) ty: Type,
}

/// A parameter of a [`Method`].
#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    /// Its name; empty if it has none.
    pub(crate) name: String,
    /// Its row, for attributes and default values.
    pub(crate) token: Option<Token>,
    /// `in`, `out`, optional.
    pub(crate) flags: ParamFlags,
    /// Its type; a [`Type::ByRef`] for `ref`, `in` and `out`.
    pub(crate) ty: Type,
}

/// A method, with what it takes and returns.
#[derive(Debug, Clone)]
pub(crate) struct Method {
    /// Its name in metadata: `.ctor`, `get_X`, `op_Addition`.
    pub(crate) name: String,
    /// The type that declares it, with its arguments.
    pub(crate) declared_in: Rc<Named>,
    /// Its `MethodDef`.
    pub(crate) token: Token,
    /// Static, virtual, visibility.
    pub(crate) flags: MethodFlags,
    /// The number of its own type parameters, which are [`Type::MethodVariable`]s in what follows.
    pub(crate) arity: u32,
    /// What it takes, without `this`.
    pub(crate) parameters: Vec<Parameter>,
    /// What it returns.
    pub(crate) returns: Type,
}

/// A property or indexer.
#[derive(Debug, Clone)]
pub(crate) struct Property {
    /// Its name; an explicit implementation has the interface's before it.
    pub(crate) name: String,
    /// The type that declares it, with its arguments.
    pub(crate) declared_in: Rc<Named>,
    /// Its row, for attributes.
    pub(crate) token: Token,
    /// Its type.
    pub(crate) ty: Type,
    /// The types of an indexer's parameters.
    pub(crate) parameters: Vec<Type>,
    /// The method that gets it.
    pub(crate) getter: Option<Token>,
    /// The method that sets it.
    pub(crate) setter: Option<Token>,
    /// Whether it belongs to the type.
    pub(crate) is_static: bool,
}

/// Local functions, each by the name that the compiler gave it.
pub(crate) type LocalFunctions = Rc<[(Box<str>, Token)]>;

impl<'t> Types<'t> {
    /// The definition of a type with arguments: of a primitive the struct or class behind its keyword, of an array
    /// `System.Array`. `None` for pointers, by-refs, open parameters and what is not loaded.
    pub(crate) fn named(self, ty: &Type) -> Option<Rc<Named>> {
        match ty {
            Type::Named(named) => Some(named.clone()),
            Type::Primitive(primitive) => self.core_named("System", primitive.system_name()),
            Type::SzArray(_) | Type::Array { .. } => self.core_named("System", "Array"),
            _ => None,
        }
    }

    /// The local functions in the methods of a type, by the names that the compiler gave them.
    pub(crate) fn local_functions(self, ty: &Named) -> Result<LocalFunctions> {
        let key = (ty.module, ty.token);
        if let Some(known) = self.cache.local_functions.get(&key) {
            return Ok(known);
        }
        let all = self.definition(ty)?.local_functions();
        let all = all.filter_map(|it| Some((it.name().ok()?.into(), it.token())));
        let all: LocalFunctions = all.collect();
        self.cache.local_functions.insert(key, Rc::clone(&all));
        Ok(all)
    }

    /// What a type is derived from; `None` for `object`, interfaces and what has no definition.
    pub(crate) fn base(self, ty: &Type) -> Result<Option<Type>> {
        let Some(named) = self.named(ty) else {
            return Ok(None);
        };
        if matches!(ty, Type::SzArray(_) | Type::Array { .. }) {
            return Ok(Some(Type::Named(named)));
        }
        let Some(base) = self.definition(&named)?.base() else {
            return Ok(None);
        };
        self.of_token(named.module, base, &named.generics())
            .map(Some)
    }

    /// The definition of a type and those of its base types, itself first; as far as they are loaded.
    pub(crate) fn ancestry(self, ty: &Type) -> Result<Vec<Rc<Named>>> {
        let mut found = Vec::new();
        let mut next = Some(ty.clone());
        while let Some(ty) = next
            && found.len() < MAX_ANCESTORS
        {
            let Some(named) = self.named(&ty) else { break };
            // An array's own definition is that of its base type.
            next = self.base(&Type::Named(named.clone()))?;
            found.push(named);
        }
        Ok(found)
    }

    /// All interfaces of a type: its own, those of its base types, those that these extend. Not those of arrays, which
    /// the runtime makes up.
    pub(crate) fn interfaces(self, ty: &Type) -> Result<Vec<Rc<Named>>> {
        self.interfaces_of(self.ancestry(ty)?)
    }

    /// The interfaces that a type names itself, and those that these extend.
    pub(crate) fn own_interfaces(self, named: &Rc<Named>) -> Result<Vec<Rc<Named>>> {
        self.interfaces_of(vec![named.clone()])
    }

    fn interfaces_of(self, mut pending: Vec<Rc<Named>>) -> Result<Vec<Rc<Named>>> {
        let mut found: Vec<Rc<Named>> = Vec::new();
        while let Some(named) = pending.pop()
            && found.len() < MAX_INTERFACES
        {
            for interface in self.definition(&named)?.interfaces() {
                let interface = self.of_token(named.module, interface?, &named.generics())?;
                if let Type::Named(interface) = interface
                    && !found.contains(&interface)
                {
                    pending.push(interface.clone());
                    found.push(interface);
                }
            }
        }
        Ok(found)
    }

    /// Whether a type is another, derives from it or implements it. Variance is not looked at.
    pub(crate) fn derives_from(self, ty: &Type, other: &Named) -> Result<bool> {
        Ok(self.ancestry(ty)?.iter().any(|it| **it == *other)
            || other.kind == Kind::Interface
                && self.interfaces(ty)?.iter().any(|it| **it == *other))
    }

    /// Whether an object of a type may be put where another is declared. Variance of type arguments is not looked at; arrays
    /// of references are those of what their elements are (ECMA-335 I.8.7.1).
    pub(crate) fn is_assignable(self, ty: &Type, to: &Type) -> bool {
        let elements = |ty: &Rc<Type>, to: &Rc<Type>| {
            ty.is_reference() && to.is_reference() && self.is_assignable(ty, to)
        };
        if ty == to || *to == Type::OBJECT {
            return true;
        }
        match (ty, to) {
            (Type::SzArray(ty), Type::SzArray(to)) => elements(ty, to),
            (
                Type::Array { element, rank },
                Type::Array {
                    element: to,
                    rank: wanted,
                },
            ) => rank == wanted && elements(element, to),
            (_, Type::Named(named)) => self.derives_from(ty, named).unwrap_or(false),
            _ => false,
        }
    }

    /// The fields that a type declares itself, static and constant ones too.
    pub(crate) fn fields(self, named: &Rc<Named>) -> Result<Rc<[Field]>> {
        if let Some(known) = self.cache.fields.get(named) {
            return Ok(known);
        }
        let generics = named.generics();
        let mut fields = Vec::new();
        for field in self.definition(named)?.fields() {
            let field = field?;
            fields.push(Field {
                name: field.name()?.into(),
                token: field.token(),
                flags: field.flags(),
                ty: self.of_signature(named.module, &field.ty()?, &generics)?,
            });
        }
        let fields: Rc<[Field]> = fields.into();
        self.cache.fields.insert(named.clone(), fields.clone());
        Ok(fields)
    }

    /// The methods that a type declares itself under a name, or all of them.
    pub(crate) fn methods(self, named: &Rc<Named>, name: Option<&str>) -> Result<Vec<Method>> {
        let mut found = Vec::new();
        for method in self.definition(named)?.methods() {
            let method = method?;
            if name.is_none_or(|name| method.name_bytes() == Ok(name.as_bytes())) {
                found.push(self.method(named, method.token())?);
            }
        }
        Ok(found)
    }

    /// A method of a type by its token.
    pub(crate) fn method(self, named: &Rc<Named>, token: Token) -> Result<Method> {
        let generics = named.generics();
        let method = self.metadata(named.module)?.metadata().method(token)?;
        let signature = method.signature()?;
        let mut parameters = Vec::with_capacity(signature.parameters.len());
        for parameter in method.parameters()? {
            parameters.push(Parameter {
                name: parameter
                    .name
                    .map(|name| name.into_owned())
                    .unwrap_or_default(),
                token: parameter.token,
                flags: parameter.flags,
                ty: self.of_signature(named.module, &parameter.ty, &generics)?,
            });
        }
        Ok(Method {
            name: method.name()?.into_owned(),
            declared_in: named.clone(),
            token,
            flags: method.flags(),
            arity: signature.generic_arity,
            parameters,
            returns: self.of_signature(named.module, &signature.return_type, &generics)?,
        })
    }

    /// The properties and indexers that a type declares itself.
    pub(crate) fn properties(self, named: &Rc<Named>) -> Result<Vec<Property>> {
        let generics = named.generics();
        let spelled = |ty: &signature::Type| self.of_signature(named.module, ty, &generics);
        let mut found = Vec::new();
        for property in self.definition(named)?.properties() {
            let property = property?;
            let signature = property.signature()?;
            let accessors = property.accessors()?;
            found.push(Property {
                name: property.name()?.into_owned(),
                declared_in: named.clone(),
                token: property.token(),
                ty: spelled(&signature.return_type)?,
                parameters: signature
                    .parameters
                    .iter()
                    .map(spelled)
                    .collect::<Result<_>>()?,
                getter: accessors.getter,
                setter: accessors.setter,
                is_static: !signature.convention.has_this(),
            });
        }
        Ok(found)
    }

    /// A type that lies in another, by its name without arity mark and the number of its own parameters. It is open in
    /// its own parameters and has the outer type's arguments.
    pub(crate) fn nested(self, outer: &Named, name: &str, arity: usize) -> Result<Option<Type>> {
        let metadata = self.metadata(outer.module)?.metadata();
        for token in self.definition(outer)?.nested() {
            let token = token?;
            let full = metadata.type_def(token)?.name()?;
            let (bare, own) = full.rsplit_once('`').map_or((&*full, 0), |(bare, own)| {
                (bare, own.parse::<usize>().unwrap_or(0))
            });
            if bare == name && own == arity {
                let open = self.open(outer.module, token)?;
                return Ok(Some(open.with(&outer.generics())));
            }
        }
        Ok(None)
    }

    /// Namespace and name of a definition, with arity mark; a nested one has no namespace.
    pub(crate) fn simple_name(self, named: &Named) -> Result<(String, String)> {
        let ty = self.definition(named)?;
        Ok((ty.namespace()?.into_owned(), ty.name()?.into_owned()))
    }

    /// Whether a type is the top-level definition of that name, of whatever module.
    pub(crate) fn is_named(self, named: &Named, namespace: &str, name: &str) -> bool {
        self.metadata(named.module)
            .is_ok_and(|it| it.metadata().is_type_named(named.token, namespace, name))
    }

    /// What is inside a `Nullable<T>`.
    pub(crate) fn nullable_of(self, ty: &Type) -> Option<Type> {
        let named = ty.as_named()?;
        let is_nullable = Some(named.module) == self.core_module()
            && self.is_named(named, "System", "Nullable`1");
        named.arguments.first().filter(|_| is_nullable).cloned()
    }

    /// A type of the core library with no arguments.
    pub(crate) fn core_named(self, namespace: &str, name: &str) -> Option<Rc<Named>> {
        let module = self.core_module()?;
        let token = self.core_token(module, namespace, name)?;
        self.open_named(module, token).ok()
    }

    fn core_token(self, module: ModuleId, namespace: &str, name: &str) -> Option<Token> {
        let opened = self.metadata(module).ok()?;
        let full = format!("{namespace}.{name}");
        let found = opened.types().find_def(opened.metadata(), &full)?;
        Some(found.token())
    }

    /// Replaces the type parameters of a generic method in what it takes and returns.
    pub(crate) fn construct_method(self, method: &Method, arguments: &[Type]) -> Method {
        let generics = Generics {
            of_type: Rc::default(),
            of_method: arguments.iter().cloned().collect(),
        };
        let mut constructed = method.clone();
        constructed.returns = method.returns.with(&generics);
        for parameter in &mut constructed.parameters {
            parameter.ty = parameter.ty.with(&generics);
        }
        constructed
    }
}
