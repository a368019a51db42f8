//! What runs for a method that others are written for: the implementations of an interface's method, the overrides of an
//! abstract one.
//!
//! Metadata tells, of the modules that are the user's. Which method of a type runs is found as the runtime does it
//! (ECMA-335 II.10.3.4, II.12.2): what is explicitly written for it, else what has its name and parameters, from the base
//! type down. Nothing is looked at unless a name means such a method.

use std::rc::Rc;

use cordebug::process::Process;
use metadata::model::Visibility;
use metadata::tables::Table;
use metadata::{Metadata, Token};

use super::CodeLocation;
use super::function::TYPE_ARGUMENTS;
use super::offer::Found;
use super::signature::{self, Rule};
use crate::api::{Error, ErrorCode};
use crate::modules::LoadedModule;
use crate::types::{Kind, Method, ModuleId, Named, Result, Type, Types};

/// A method that others are written for.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    pub(super) module: usize,
    /// The type that declares it.
    owner: Token,
    method: Token,
    /// Its name, as a person reads it.
    name: String,
    of_interface: bool,
    /// Whether it has code of its own.
    pub(super) has_code: bool,
    /// Whether the name of its type was given, so that what was found instead is news.
    pub(super) is_named: bool,
    /// What the parameters of its type stand for, where that was said.
    pub(super) arguments: Vec<Option<String>>,
    /// What to know of each place.
    pub(super) notes: Vec<String>,
    /// Where those that were written for it begin.
    implementations: Vec<CodeLocation>,
    /// Whether the modules that were there were looked at.
    pub(super) searched: bool,
    /// Modules with a type whose base type is not loaded.
    pub(super) unsure: Vec<usize>,
}

/// A method that runs for another one.
#[derive(Debug)]
pub(super) struct Runs {
    pub(super) module: ModuleId,
    pub(super) method: Token,
    /// What to know of it.
    pub(super) notes: Vec<String>,
}

/// Whether a type has the arguments that were given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fits {
    Yes,
    No,
    /// It has parameters of its own there.
    Maybe,
}

impl Slot {
    /// A method of a module as one that others are written for, if it is.
    pub(super) fn of(
        module: &LoadedModule,
        metadata: Metadata<'_>,
        method: Token,
        process: &Process,
    ) -> Option<Self> {
        let definition = metadata.method(method).ok()?;
        let flags = definition.flags();
        let owner = definition.declaring_type().ok()?;
        let of_interface = metadata.type_def(owner).ok()?.flags().is_interface();
        let is_default = of_interface && flags.is_virtual() && !flags.is_final();
        (flags.is_abstract() || is_default).then(|| Self {
            module: module.identity(),
            owner,
            method,
            name: module.method_name(process, method),
            of_interface,
            has_code: !flags.is_abstract(),
            is_named: false,
            arguments: Vec::new(),
            notes: Vec::new(),
            implementations: Vec::new(),
            searched: false,
            unsure: Vec::new(),
        })
    }

    /// Whether they are the same method.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        (self.module, self.method) == (other.module, other.method)
    }

    /// What it is.
    fn kind(&self) -> &'static str {
        match self.of_interface {
            true => "a method of an interface",
            false => "abstract",
        }
    }

    /// What those are that are written for it.
    fn others(&self, count: usize) -> &'static str {
        match (self.of_interface, count) {
            (true, 1) => "implementation",
            (true, _) => "implementations",
            (false, 1) => "override",
            (false, _) => "overrides",
        }
    }

    /// Says that it was set elsewhere, if so; `is_set` tells which places are.
    pub(super) fn told(&self, is_set: impl Fn(CodeLocation) -> bool) -> Option<String> {
        let set = self.implementations.iter().filter(|at| is_set(**at));
        let count = set.count();
        if !self.is_named || count == 0 {
            return None;
        }
        let own = if self.has_code {
            "its own code and in "
        } else {
            "its "
        };
        let (name, kind, others) = (&self.name, self.kind(), self.others(count));
        Some(format!(
            "{name} is {kind}: set in {own}{count} {others} in modules with symbols"
        ))
    }

    /// Why nothing is set for it yet.
    pub(super) fn waits(&self) -> String {
        let (name, kind, others) = (&self.name, self.kind(), self.others(1));
        format!("{name} is {kind}, and no loaded module with symbols has an {others} of it yet")
    }

    /// Why no code of its own is there.
    pub(super) fn refusal(&self) -> Error {
        let (name, kind, others) = (&self.name, self.kind(), self.others(1));
        Error::new(
            ErrorCode::NotSupported,
            format!("{name} is {kind}: it has no code of its own"),
        )
        .hint(format!("name an {others} of it"))
    }

    /// Whether its type with these arguments is the one that was named.
    fn fits(&self, types: Types<'_>, declared_in: &Named) -> Fits {
        let mut fits = Fits::Yes;
        for (wanted, known_type) in self.arguments.iter().zip(&declared_in.arguments) {
            let Some(wanted) = wanted else { continue };
            let (known, is_open) = (types.full_text(known_type), known_type.is_open());
            // Of a type that is open inside, such as `List<T>`, the definition tells.
            let definition = |it: &str| it.split('<').next().unwrap_or_default().to_owned();
            let is_same = match matches!(known_type, Type::Named(_)) && is_open {
                true => signature::same(
                    &definition(&known),
                    &definition(wanted),
                    Rule::IgnoreNullable,
                ),
                false => is_open || signature::same(&known, wanted, Rule::IgnoreNullable),
            };
            match (is_same, is_open) {
                (false, _) => return Fits::No,
                (true, true) => fits = Fits::Maybe,
                (true, false) => {}
            }
        }
        fits
    }

    /// The methods that run for it where an object is of a type of this module.
    pub(super) fn implementations_in(
        &mut self,
        module: &LoadedModule,
        types: Types<'_>,
    ) -> Vec<Runs> {
        let Ok(opened) = module.metadata(types.process) else {
            return Vec::new();
        };
        let search = Search { slot: self, types };
        let (mut found, mut unsure) = (Vec::new(), false);
        for token in opened.metadata().tokens(Table::TypeDef) {
            match search.of_type(ModuleId(module.identity()), token) {
                Ok(runs) => {
                    unsure |= runs.unsure;
                    found.extend(runs.found);
                }
                Err(error) => tracing::debug!(%error, "looking for implementations"),
            }
        }
        self.unsure.extend(unsure.then(|| module.identity()));
        found
    }

    /// Notes where one of them begins.
    pub(super) fn add(&mut self, module: usize, code: &Found) {
        let at = CodeLocation {
            module,
            method: code.method,
            offset: code.offset,
        };
        if !self.implementations.contains(&at) {
            self.implementations.push(at);
        }
    }
}

/// Looks for what runs for a method.
struct Search<'s> {
    slot: &'s Slot,
    types: Types<'s>,
}

/// What runs for objects of a type.
#[derive(Default)]
struct OfType {
    found: Vec<Runs>,
    /// Whether a base type is not loaded.
    unsure: bool,
}

impl Search<'_> {
    fn of_type(&self, module: ModuleId, token: Token) -> Result<OfType> {
        let types = self.types;
        let ty = types.open_named(module, token)?;
        if !matches!(ty.kind, Kind::Class | Kind::Struct | Kind::Interface) {
            return Ok(OfType::default());
        }
        let open = Type::Named(ty);
        let ancestry = types.ancestry(&open)?;
        let root = ancestry.last().map(|it| Type::Named(it.clone()));
        let above = root.map_or(Ok(None), |it| types.base(&it))?;
        let unsure = matches!(above, Some(Type::Missing { .. }));
        let mut found = Vec::new();
        for declared_in in self.declarations(&open, &ancestry)? {
            let fits = self.slot.fits(types, &declared_in);
            if fits == Fits::No {
                continue;
            }
            let declared = types.method(&declared_in, self.slot.method)?;
            if let Some(runs) = self.runs(&declared, &ancestry)? {
                let mut notes = self.slot.notes.clone();
                if fits == Fits::Maybe && !notes.iter().any(|it| it == TYPE_ARGUMENTS) {
                    notes.push(TYPE_ARGUMENTS.into());
                }
                found.push(Runs {
                    module: runs.declared_in.module,
                    method: runs.token,
                    notes,
                });
            }
        }
        Ok(OfType { found, unsure })
    }

    /// The type that declares the method, as often as a type has it with other arguments.
    fn declarations(&self, ty: &Type, ancestry: &[Rc<Named>]) -> Result<Vec<Rc<Named>>> {
        let mut all = match self.slot.of_interface {
            true => self.types.interfaces(ty)?,
            false => ancestry.get(1..).unwrap_or_default().to_vec(),
        };
        all.retain(|it| it.module.0 == self.slot.module && it.token == self.slot.owner);
        Ok(all)
    }

    /// What runs for a method where an object is of the first of these types; nothing if that is the method itself.
    fn runs(&self, declared: &Method, ancestry: &[Rc<Named>]) -> Result<Option<Method>> {
        let mut runs: Option<Method> = None;
        // Another method of that name has come between.
        let mut is_hidden = false;
        for (at, class) in ancestry.iter().enumerate().rev() {
            if !self.slot.of_interface && *class == declared.declared_in {
                runs = Some(declared.clone());
                continue;
            }
            if let Some(body) = self.explicit(class, declared, runs.as_ref())? {
                (runs, is_hidden) = (Some(body), false);
            } else if self.slot.of_interface && self.names(class, &declared.declared_in)? {
                if let Some(named) =
                    self.by_name(declared, ancestry.get(at..).unwrap_or_default())?
                {
                    (runs, is_hidden) = (Some(named), false);
                }
            } else if let Some(known) = runs.as_ref().filter(|_| !is_hidden)
                && let Some(own) = self.alike(class, known)?
            {
                match own.flags.is_new_slot() {
                    true => is_hidden = true,
                    false => runs = Some(own),
                }
            }
        }
        let is_other = |it: &Method| {
            (it.declared_in.module, it.token) != (declared.declared_in.module, declared.token)
        };
        Ok(runs.filter(|it| is_other(it) && !it.flags.is_abstract()))
    }

    /// What a type says explicitly that it has for a method, or for what has run for that so far.
    fn explicit(
        &self,
        class: &Rc<Named>,
        declared: &Method,
        runs: Option<&Method>,
    ) -> Result<Option<Method>> {
        for pair in self.types.definition(class)?.method_impls() {
            let (body, declaration) = pair?;
            let is_for = |method: &Method| self.refers_to(class, declaration, method);
            if body.is(Table::Method) && (is_for(declared)? || runs.map_or(Ok(false), is_for)?) {
                return self.types.method(class, body).map(Some);
            }
        }
        Ok(None)
    }

    /// Whether a token in a type means this method.
    fn refers_to(&self, class: &Named, token: Token, method: &Method) -> Result<bool> {
        let types = self.types;
        if token.is(Table::Method) {
            return Ok((class.module, token) == (method.declared_in.module, method.token));
        }
        let metadata = types.metadata(class.module)?.metadata();
        let Ok(reference) = metadata.member_ref(token) else {
            return Ok(false);
        };
        if reference.name != method.name {
            return Ok(false);
        }
        let Type::Named(parent) =
            types.of_token(class.module, reference.parent, &class.generics())?
        else {
            return Ok(false);
        };
        let signature = metadata::signature::method_signature(reference.signature)?;
        let spelled = signature.parameters.iter();
        let parameters: Vec<Type> = spelled
            .map(|it| types.of_signature(class.module, it, &parent.generics()))
            .collect::<Result<_>>()?;
        Ok(parent == method.declared_in
            && signature.generic_arity == method.arity
            && parameters
                .iter()
                .eq(method.parameters.iter().map(|it| &it.ty)))
    }

    /// Whether a type names an interface itself, or one that extends it.
    fn names(&self, class: &Rc<Named>, interface: &Rc<Named>) -> Result<bool> {
        Ok(class.kind != Kind::Interface && self.types.own_interfaces(class)?.contains(interface))
    }

    /// The public method that a type has, or the nearest of its base types.
    fn by_name(&self, declared: &Method, ancestry: &[Rc<Named>]) -> Result<Option<Method>> {
        for class in ancestry {
            let own = self.alike(class, declared)?;
            if let Some(own) = own.filter(|it| it.flags.visibility() == Visibility::Public) {
                return Ok(Some(own));
            }
        }
        Ok(None)
    }

    /// The virtual method of a type with the name and parameters of another one.
    fn alike(&self, class: &Rc<Named>, method: &Method) -> Result<Option<Method>> {
        let own = self.types.methods(class, Some(&method.name))?;
        let types = |it: &Method| {
            it.parameters
                .iter()
                .map(|it| it.ty.clone())
                .collect::<Vec<_>>()
        };
        Ok(own.into_iter().find(|it| {
            it.flags.is_virtual() && it.arity == method.arity && types(it) == types(method)
        }))
    }
}
