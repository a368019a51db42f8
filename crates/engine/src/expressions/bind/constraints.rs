//! What type parameters demand of their arguments, and what types demand of those who make them (C# 8.4.5, required members).

use std::rc::Rc;

use syntax::Span;
use syntax::tree::{Initializer, InitializerMember};

use super::Binder;
use crate::expressions::error::{Fail, Result};
use crate::types::{Generics, Kind, Method, Named, Type};

/// A demand that is not met: its code, and what is said.
pub(super) type Violation = (&'static str, String);

const CLASS: u32 = 4;
const STRUCT: u32 = 8;
const CONSTRUCTOR: u32 = 16;
/// Structs inside structs that are looked at.
const MAX_DEPTH: u32 = 64;
const COMPILER: &str = "System.Runtime.CompilerServices";

impl Binder<'_> {
    /// What no call may name: the runtime ends the program that tries, or has no code for it.
    pub(super) fn can_be_called(&self, method: &Method, is_base: bool, span: Span) -> Result<()> {
        let name = crate::expressions::run::written_name(method);
        let (is_static, is_abstract) = (method.flags.is_static(), method.flags.is_abstract());
        if is_base && is_abstract {
            let told = format!("the abstract base member `{name}` has no code to call");
            return Err(Fail::cs("CS0205", span, told));
        }
        if is_static && (is_abstract || method.flags.is_virtual()) {
            let told = format!(
                "`{name}` is a static abstract or virtual member of an interface: it is called on a type that implements it"
            );
            return Err(Fail::cs("CS8926", span, told));
        }
        if is_static && crate::calls::is_for_native_callers(self.types, method) {
            let told = format!(
                "`{name}` is for unmanaged callers only ([UnmanagedCallersOnly]) and cannot be called"
            );
            return Err(Fail::cs("CS8901", span, told));
        }
        Ok(())
    }

    /// The first demand of a method's type parameters that arguments do not meet.
    pub(super) fn violated(&self, method: &Method, arguments: &[Type]) -> Option<Violation> {
        if arguments.is_empty() {
            return None;
        }
        let generics = Generics {
            of_type: (*method.declared_in.arguments).into(),
            of_method: arguments.into(),
        };
        let owner = (method.declared_in.module, method.token, &*method.name);
        self.unmet(owner, arguments, &generics)
    }

    /// The first demand of a generic type that its arguments do not meet.
    pub(super) fn violated_by(&self, ty: &Type) -> Option<Violation> {
        let Type::Named(named) = ty else { return None };
        if ty.is_open() {
            return None;
        }
        let generics = Generics {
            of_type: (*named.arguments).into(),
            of_method: [].into(),
        };
        let name = self.types.simple_name(named).ok()?.1;
        let name = name.split('`').next().unwrap_or(&name);
        let owner = (named.module, named.token, name);
        self.unmet(owner, &named.arguments, &generics)
    }

    fn unmet(
        &self,
        (module_id, owner, name): (crate::types::ModuleId, metadata::Token, &str),
        arguments: &[Type],
        generics: &Generics,
    ) -> Option<Violation> {
        let module = self.types.metadata(module_id).ok()?;
        let parameters = module.metadata().generic_params(owner).flatten();
        for (parameter, argument) in parameters.zip(arguments) {
            let flags = u32::from(parameter.flags());
            let told = |demand: &str| {
                format!(
                    "`{}` cannot be a type argument of `{}`: it must be {demand}",
                    self.text(argument),
                    name
                )
            };
            let is_value = argument.is_value() == Some(true);
            let is_plain = is_value && self.nullable_of(argument).is_none();
            if flags & CLASS != 0 && !argument.is_reference() {
                return Some(("CS0452", told("a reference type")));
            }
            if flags & STRUCT != 0 {
                let token = parameter.token();
                let unmanaged =
                    module
                        .metadata()
                        .has_attribute(token, COMPILER, "IsUnmanagedAttribute");
                if unmanaged && !(is_plain && self.is_unmanaged(argument, 0)) {
                    return Some(("CS8377", told("an unmanaged type")));
                }
                if !is_plain {
                    return Some(("CS0453", told("a value type that is not nullable")));
                }
            }
            for token in parameter.constraints().flatten() {
                let bound = self.types.of_token(module_id, token, generics);
                let Ok(bound) = bound else { continue };
                if bound.is_open() || self.meets(argument, &bound) {
                    continue;
                }
                let code = match (is_value, is_plain) {
                    (true, false) => "CS0313",
                    (true, true) => "CS0315",
                    _ => "CS0311",
                };
                return Some((code, told(&format!("`{}`", self.text(&bound)))));
            }
            if flags & (CONSTRUCTOR | STRUCT) == CONSTRUCTOR && !self.can_be_made(argument) {
                return Some((
                    "CS0310",
                    told("no abstract type, with a public constructor without parameters"),
                ));
            }
        }
        None
    }

    /// Whether a value type holds no references, however deep (C# 8.8).
    fn is_unmanaged(&self, ty: &Type, depth: u32) -> bool {
        let Type::Named(named) = ty else {
            return !ty.is_reference();
        };
        if ty.is_value() != Some(true) || depth > MAX_DEPTH {
            return false;
        }
        let fields = self.types.fields(named);
        fields.is_ok_and(|all| {
            let mut own = all.iter().filter(|it| !it.flags.is_static());
            own.all(|it| it.ty == *ty || self.is_unmanaged(&it.ty, depth + 1))
        })
    }

    fn meets(&self, argument: &Type, bound: &Type) -> bool {
        if self.nullable_of(argument).is_some() && Self::is_interface(bound) {
            return false;
        }
        self.reference_converts(argument, bound) || self.boxes_to(argument, bound)
    }

    fn can_be_made(&self, ty: &Type) -> bool {
        if ty.is_value() == Some(true) || *ty == Type::OBJECT {
            return true;
        }
        let Type::Named(named) = ty else {
            return false;
        };
        let is_abstract = self
            .types
            .definition(named)
            .is_ok_and(|it| it.flags().is_abstract());
        let constructors = self.types.methods(named, Some(".ctor")).unwrap_or_default();
        let mut constructors = constructors.iter();
        named.kind != Kind::Interface
            && !is_abstract
            && constructors.any(|it| {
                it.parameters.is_empty()
                    && it.flags.visibility() == metadata::model::Visibility::Public
            })
    }

    /// Refuses to make an object whose required members are not all set (C# 11).
    pub(super) fn must_set_required(
        &self,
        named: &Rc<Named>,
        constructor: Option<&Method>,
        initializer: Option<&Initializer>,
        span: Span,
    ) -> Result<()> {
        let required = "RequiredMemberAttribute";
        let ty = Type::Named(named.clone());
        for level in self.types.ancestry(&ty).unwrap_or_default() {
            let Ok(module) = self.types.metadata(level.module) else {
                continue;
            };
            let metadata = module.metadata();
            if !metadata.has_attribute(level.token, COMPILER, required) {
                continue;
            }
            let sets_all = "SetsRequiredMembersAttribute";
            let analysis = "System.Diagnostics.CodeAnalysis";
            if let Some(constructor) = constructor
                && let Ok(module) = self.types.metadata(constructor.declared_in.module)
                && module
                    .metadata()
                    .has_attribute(constructor.token, analysis, sets_all)
            {
                return Ok(());
            }
            let properties = self.types.properties(&level).unwrap_or_default();
            let properties = properties.iter().map(|it| (&*it.name, it.token));
            let fields = self.types.fields(&level);
            let fields = fields.ok();
            let fields = fields.iter().flat_map(|it| it.iter());
            let fields = fields.map(|it| (&*it.name, it.token));
            for (name, token) in properties.chain(fields) {
                let is_set = initializer.is_some_and(|it| {
                    it.members.iter().any(|it| {
                        matches!(it, InitializerMember::Property(set, _) if *set.text == *name)
                    })
                });
                if !is_set && metadata.has_attribute(token, COMPILER, required) {
                    let told = format!("`{name}` of `{}` must be set", self.text(&ty));
                    let fail = Fail::cs("CS9035", span, told);
                    return Err(fail.hint(format!("add it to the initialiser: {{ {name} = … }}")));
                }
            }
        }
        Ok(())
    }
}
