//! The attributes that a debugger honours.

use std::borrow::Cow;

use super::{Argument, Value};
use crate::model::ConstantValue;
use crate::token::Token;
use crate::view::Metadata;

const DIAGNOSTICS: &str = "System.Diagnostics";
const COMPILER: &str = "System.Runtime.CompilerServices";

/// How `DebuggerDisplay` wants values of a type, or a member, to be shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DebuggerDisplay<'a> {
    /// The text of the value, with expressions in braces.
    pub value: Option<Cow<'a, str>>,
    /// The text shown as name.
    pub name: Option<Cow<'a, str>>,
    /// The text shown as type.
    pub ty: Option<Cow<'a, str>>,
    /// The type that it is for, where the attribute stands on an assembly: an assembly-qualified name.
    pub target: Option<Cow<'a, str>>,
}

/// What `DebuggerBrowsable` says about a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BrowsableState {
    /// Not shown.
    Never,
    /// Shown closed, as usual.
    Collapsed,
    /// Its elements are shown in its place.
    RootHidden,
}

fn into_text<'a>(argument: &Argument<'a>) -> Option<Cow<'a, str>> {
    match &argument.value {
        Value::Text(text) => text.clone(),
        _ => None,
    }
}

impl<'a> Metadata<'a> {
    fn diagnostics(self, token: Token, name: &str) -> bool {
        self.has_attribute(token, DIAGNOSTICS, name)
    }

    fn compiler(self, token: Token, name: &str) -> bool {
        self.has_attribute(token, COMPILER, name)
    }

    /// Whether the debugger must not stop in, nor show, a method.
    #[must_use]
    pub fn is_debugger_hidden(self, token: Token) -> bool {
        self.diagnostics(token, "DebuggerHiddenAttribute")
    }

    /// Whether a method or type is left out of the traces of exceptions, as those are whose only task is to throw.
    #[must_use]
    pub fn is_stack_trace_hidden(self, token: Token) -> bool {
        self.diagnostics(token, "StackTraceHiddenAttribute")
    }

    /// Whether steps pass through a method or type.
    #[must_use]
    pub fn is_debugger_step_through(self, token: Token) -> bool {
        self.diagnostics(token, "DebuggerStepThroughAttribute")
    }

    /// Whether a method or type is not the user's code.
    #[must_use]
    pub fn is_debugger_non_user_code(self, token: Token) -> bool {
        self.diagnostics(token, "DebuggerNonUserCodeAttribute")
    }

    /// Whether a step that would leave a method through it runs on instead.
    #[must_use]
    pub fn is_debugger_stepper_boundary(self, token: Token) -> bool {
        self.diagnostics(token, "DebuggerStepperBoundaryAttribute")
    }

    /// Whether a compiler made it without the user writing it.
    #[must_use]
    pub fn is_compiler_generated(self, token: Token) -> bool {
        self.compiler(token, "CompilerGeneratedAttribute")
    }

    /// Whether a struct or `ref readonly` value is read-only.
    #[must_use]
    pub fn is_read_only(self, token: Token) -> bool {
        self.compiler(token, "IsReadOnlyAttribute")
    }

    /// Whether a type is a `ref struct`.
    #[must_use]
    pub fn is_by_ref_like(self, token: Token) -> bool {
        self.compiler(token, "IsByRefLikeAttribute")
    }

    /// Whether a method extends another type, or a type or assembly holds such methods.
    #[must_use]
    pub fn is_extension(self, token: Token) -> bool {
        self.compiler(token, "ExtensionAttribute")
    }

    /// Whether a parameter takes any number of arguments (`params`).
    #[must_use]
    pub fn is_params(self, token: Token) -> bool {
        self.has_attribute(token, "System", "ParamArrayAttribute")
            || self.compiler(token, "ParamCollectionAttribute")
    }

    /// How values of a type, or a member, are to be shown. An assembly may have several, each with a target.
    pub fn debugger_displays(
        self,
        token: Token,
    ) -> impl Iterator<Item = DebuggerDisplay<'a>> + use<'a> {
        let attributes = self.attributes(token).flatten();
        attributes
            .filter(|it| it.is(DIAGNOSTICS, "DebuggerDisplayAttribute"))
            .filter_map(|it| {
                let arguments = it.arguments().ok()?;
                let named = |name| arguments.named(name).and_then(into_text);
                Some(DebuggerDisplay {
                    value: arguments.fixed.first().and_then(into_text),
                    name: named("Name"),
                    ty: named("Type"),
                    target: named("Target").or_else(|| named("TargetTypeName")),
                })
            })
    }

    /// The proxy type, as an assembly-qualified name, and the type it is for where the attribute stands on an assembly.
    pub fn debugger_type_proxies(
        self,
        token: Token,
    ) -> impl Iterator<Item = (Cow<'a, str>, Option<Cow<'a, str>>)> + use<'a> {
        let attributes = self.attributes(token).flatten();
        attributes
            .filter(|it| it.is(DIAGNOSTICS, "DebuggerTypeProxyAttribute"))
            .filter_map(|it| {
                let arguments = it.arguments().ok()?;
                let named = |name| arguments.named(name).and_then(into_text);
                let proxy = arguments.fixed.first().and_then(into_text)?;
                Some((proxy, named("Target").or_else(|| named("TargetTypeName"))))
            })
    }

    /// What `DebuggerBrowsable` says about a field or property.
    #[must_use]
    pub fn debugger_browsable(self, token: Token) -> Option<BrowsableState> {
        let attribute = self.find_attribute(token, DIAGNOSTICS, "DebuggerBrowsableAttribute")?;
        match attribute.arguments().ok()?.fixed.first()?.bits()? {
            0 => Some(BrowsableState::Never),
            2 => Some(BrowsableState::Collapsed),
            3 => Some(BrowsableState::RootHidden),
            _ => None,
        }
    }

    /// The state machine type that an async or iterator method runs, as a name such as `Ns.Outer+<M>d__0`.
    #[must_use]
    pub fn state_machine_type(self, method: Token) -> Option<Cow<'a, str>> {
        const KINDS: [&str; 3] = [
            "AsyncStateMachineAttribute",
            "IteratorStateMachineAttribute",
            "AsyncIteratorStateMachineAttribute",
        ];
        let mut attributes = self.attributes(method).flatten();
        let attribute = attributes.find(|it| KINDS.iter().any(|kind| it.is(COMPILER, kind)))?;
        attribute
            .arguments()
            .ok()?
            .fixed
            .first()
            .and_then(into_text)
    }

    /// The name of the indexer of a type, `Item` as a rule.
    #[must_use]
    pub fn default_member(self, token: Token) -> Option<Cow<'a, str>> {
        let attribute =
            self.find_attribute(token, "System.Reflection", "DefaultMemberAttribute")?;
        attribute
            .arguments()
            .ok()?
            .fixed
            .first()
            .and_then(into_text)
    }

    /// The tuple element names on a field, parameter, return value or base type, in depth-first order.
    #[must_use]
    pub fn tuple_element_names(self, token: Token) -> Option<Vec<Option<Cow<'a, str>>>> {
        let attribute = self.find_attribute(token, COMPILER, "TupleElementNamesAttribute")?;
        let arguments = attribute.arguments().ok()?;
        Some(
            arguments
                .fixed
                .first()?
                .elements()?
                .iter()
                .map(into_text)
                .collect(),
        )
    }

    /// Which parts of a type, in depth-first order, are `dynamic`. An empty list means the whole type.
    #[must_use]
    pub fn dynamic_flags(self, token: Token) -> Option<Vec<bool>> {
        let attribute = self.find_attribute(token, COMPILER, "DynamicAttribute")?;
        let arguments = attribute.arguments().ok()?;
        let Some(flags) = arguments.fixed.first() else {
            return Some(Vec::new());
        };
        let is_true = |it: &Argument<'_>| it.value == Value::Scalar(ConstantValue::Bool(true));
        Some(flags.elements()?.iter().map(is_true).collect())
    }

    /// The nullable annotations on a type's parts in depth-first order (0 oblivious, 1 not null, 2 may be null); a
    /// single one stands for all parts.
    #[must_use]
    pub fn nullable_flags(self, token: Token) -> Option<Vec<u8>> {
        let attribute = self.find_attribute(token, COMPILER, "NullableAttribute")?;
        let arguments = attribute.arguments().ok()?;
        let flags = arguments.fixed.first()?;
        match flags.elements() {
            Some(flags) => flags.iter().map(|it| Some(it.bits()? as u8)).collect(),
            None => Some(vec![flags.bits()? as u8]),
        }
    }

    /// The annotation that holds where none is given on the parts themselves.
    #[must_use]
    pub fn nullable_context(self, token: Token) -> Option<u8> {
        let attribute = self.find_attribute(token, COMPILER, "NullableContextAttribute")?;
        Some(attribute.arguments().ok()?.fixed.first()?.bits()? as u8)
    }

    /// The framework that an assembly was built for, such as `.NETCoreApp,Version=v9.0`.
    #[must_use]
    pub fn target_framework(self) -> Option<Cow<'a, str>> {
        let assembly = Token::new(crate::tables::Table::Assembly, 1);
        let attribute = self.find_attribute(
            assembly,
            "System.Runtime.Versioning",
            "TargetFrameworkAttribute",
        )?;
        attribute
            .arguments()
            .ok()?
            .fixed
            .first()
            .and_then(into_text)
    }

    /// Whether the compiler optimised the assembly, as its `DebuggableAttribute` says; `None` without one.
    #[must_use]
    pub fn is_optimized(self) -> Option<bool> {
        const DISABLE_OPTIMIZATIONS: u64 = 0x100;
        let assembly = Token::new(crate::tables::Table::Assembly, 1);
        let attribute = self.find_attribute(assembly, DIAGNOSTICS, "DebuggableAttribute")?;
        let arguments = attribute.arguments().ok()?;
        match &arguments.fixed[..] {
            [modes] => Some(modes.bits()? & DISABLE_OPTIMIZATIONS == 0),
            // The old constructor: (tracking enabled, optimiser disabled).
            [_, disabled] => Some(disabled.bits()? == 0),
            _ => None,
        }
    }
}
