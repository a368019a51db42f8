//! Methods as a person knows them: `Owner.Method`, whatever the compiler made of it.

use std::fmt;

use super::generated::{GeneratedKind, GeneratedName, split_arity};
use super::types::Writer;
use super::{GenericNames, MAX_LIST, Style};
use crate::error::Result;
use crate::model::{Method, Parameter};
use crate::signature::{MethodSignature, Type};
use crate::token::Token;
use crate::view::Metadata;

/// Lambdas in local functions in state machines nest names; nobody nests them this deep.
const MAX_NESTING: usize = 16;
/// Among more methods or types than this none is looked for.
pub(super) const MAX_SIBLINGS: usize = 4096;

/// The name of a method: the type that a person wrote it in, and the way to it from there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodName {
    /// The type, with generic parameters or arguments; closures and state machines are left out.
    pub owner: String,
    /// The method; then, for code inside it, local functions and `AnonymousMethod`.
    pub path: Vec<String>,
}

/// A member of an `extension` block, whose code is in a static method of the class around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtensionMember {
    /// Whether its method takes the receiver that the block declares before its own parameters.
    pub takes_receiver: bool,
    /// How many generic parameters the block has; the method has them before its own.
    pub arity: usize,
}

impl fmt::Display for MethodName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.owner)?;
        self.path.iter().try_for_each(|part| write!(f, ".{part}"))
    }
}

impl<'a> Metadata<'a> {
    /// The name of a method as a person knows it.
    ///
    /// `names` holds what stands for generic parameters of the method's own type and the method; empty lists stand for the
    /// declared names. `MoveNext` of a state machine is the method it runs, a lambda `Owner.Method.AnonymousMethod`.
    pub fn method_name(
        self,
        method: Token,
        names: &GenericNames,
        style: Style,
    ) -> Result<MethodName> {
        self.method_name_inside(method, &[], names, style)
    }

    /// The name of a method that is written in local functions (see [`crate::symbols::Symbols::local_functions_around`]):
    /// `Owner.Method.Outer.Inner`.
    pub fn method_name_inside(
        self,
        method: Token,
        around: &[Token],
        names: &GenericNames,
        style: Style,
    ) -> Result<MethodName> {
        let (name, ty) = self.written_in(method)?;
        let method = self.method(method)?;
        let raw = method.name_bytes()?;
        let names = self.or_declared(names, method.declaring_type()?, method.token());
        let is_special = method.flags().is_special_name()
            || raw != name.as_bytes()
            || name.contains(".op_")
            || self.is_extension_accessor(&method)?;

        // Closures and state machines repeat the parameters of the type, then have those of the method.
        let n_of_owner = self.generic_params(ty).count().min(names.of_type.len());
        let (of_owner, of_outer_method) = names.of_type.split_at(n_of_owner);
        let owner = GenericNames {
            of_type: of_owner.to_vec(),
            of_method: Vec::new(),
            are_arguments: names.are_arguments,
        };
        let mut path = method_path(&name, is_special, 0);
        if let [only] = path.as_mut_slice()
            && is_special
            && is_conversion(only)
        {
            // What it gives tells it from others.
            let short = Style { namespaces: false };
            let gives = self.return_text(&method, &names, short)?;
            *only = format!("{only} {gives}");
        }
        let (mut of_outer, mut of_inner) = (of_outer_method, names.of_method.as_slice());
        // A local function repeats the parameters of the methods around it, or its closure has some of both.
        let all = [of_outer, of_inner].concat();
        let mut n_outer = of_outer.len();
        if path.len() > 1
            && !all.is_empty()
            && let Some(arity) = self.arity_of(ty, outermost(&name))
            && let Some((outer, inner)) = all.split_at_checked(arity)
        {
            (of_outer, of_inner, n_outer) = (outer, inner, arity);
        }
        if let Some(first) = path.first_mut() {
            push_arguments(first, of_outer);
        }
        if let Some(mut last) = path.pop() {
            for &function in around {
                let Ok((name, _)) = self.written_in(function) else {
                    continue;
                };
                let mut part = method_path(&name, true, 0).pop().unwrap_or_default();
                let n_with = self.n_type_arguments(function).saturating_sub(n_of_owner);
                if let Some((own, rest)) = of_inner.split_at_checked(n_with.saturating_sub(n_outer))
                {
                    push_arguments(&mut part, own);
                    of_inner = rest;
                    n_outer = n_with.max(n_outer);
                }
                path.push(part);
            }
            push_arguments(&mut last, of_inner);
            path.push(last);
        }
        Ok(MethodName {
            owner: self.type_def_text(ty, &owner, style),
            path,
        })
    }

    /// The name of a method before the compiler moved its code to a state machine, and the type that it is written in,
    /// without closures.
    pub(super) fn written_in(self, method: Token) -> Result<(String, Token)> {
        let method = self.method(method)?;
        let mut name = method.name()?.into_owned();
        let mut ty = method.declaring_type()?;
        let type_name = self.simple_name(ty)?.1;
        // A `finally` of an iterator is a method of its own: it must run when the iterator is disposed of early.
        let runs_method = name == "MoveNext" || name.starts_with("<>m__Finally");
        if runs_method && kind(&type_name) == Some(GeneratedKind::StateMachine) {
            let original = GeneratedName::parse(split_arity(&type_name).0);
            // Dots of an explicit implementation's name cannot stand in a type's.
            name = original.map_or(name, |it| it.text.replace('-', "."));
            ty = self.enclosing_type(ty)?.unwrap_or(ty);
        }
        // Constructors of closures are nobody's code.
        let is_generated = GeneratedName::parse(&name).is_some();
        for _ in 0..MAX_NESTING {
            if !is_generated || kind(&self.simple_name(ty)?.1) != Some(GeneratedKind::Closure) {
                break;
            }
            let Some(outer) = self.enclosing_type(ty)? else {
                break;
            };
            ty = outer;
        }
        Ok((name, ty))
    }

    /// How many generic parameters the code of a method sees: those of its type and its own.
    fn n_type_arguments(self, method: Token) -> usize {
        let ty = self.method(method).and_then(|it| it.declaring_type());
        let of_type = ty.map_or(0, |it| self.generic_params(it).count());
        of_type + self.generic_params(method).count()
    }

    /// How many generic parameters the methods of a name have, if all have the same number.
    fn arity_of(self, ty: Token, name: &str) -> Option<usize> {
        let methods = self.type_def(ty).ok()?.methods().take(MAX_SIBLINGS);
        let named = methods
            .flatten()
            .filter(|it| it.name_bytes().is_ok_and(|it| it == name.as_bytes()));
        let mut arities = named.map(|it| it.generic_params().count());
        let arity = arities.next()?;
        arities.all(|it| it == arity).then_some(arity)
    }

    /// Whether a method only declares a member of an `extension` block: the code is in a static method of the type around.
    pub fn is_extension_declaration(self, method: Token) -> bool {
        let owner = self.method(method).and_then(|it| it.declaring_type());
        owner.is_ok_and(|it| self.is_extension_group(it))
    }

    /// Whether a type holds the declarations of an `extension` block.
    #[must_use]
    pub fn is_extension_group(self, ty: Token) -> bool {
        self.simple_name(ty)
            .is_ok_and(|it| it.1.starts_with("<G>$"))
    }

    /// Whether a method is an accessor or operator of an `extension` block: its type then has the declaration in a nested type.
    pub fn is_extension_accessor(self, method: &Method<'a>) -> Result<bool> {
        let name = method.name_bytes()?;
        let prefixes: [&[u8]; 3] = [b"get_", b"set_", b"op_"];
        if !method.flags().is_static() || !prefixes.iter().any(|it| name.starts_with(it)) {
            return Ok(false);
        }
        let mut declarations = self.extension_declarations(method)?;
        Ok(declarations.any(|(_, it)| it.flags().is_special_name()))
    }

    /// What a method is of an `extension` block, if it holds the code of a member of one.
    #[must_use]
    pub fn extension_member(self, method: Token) -> Option<ExtensionMember> {
        let method = self.method(method).ok()?;
        if !method.flags().is_static() {
            return None;
        }
        let n_parameters = method.signature().ok()?.parameters.len();
        let n_generic = method.generic_params().count();
        let mut declarations = self.extension_declarations(&method).ok()?;
        declarations.find_map(|(block, declared)| {
            let takes_receiver = !declared.flags().is_static();
            let n_declared = declared.signature().ok()?.parameters.len();
            let arity = self.generic_params(block).count();
            let is_it = n_declared + usize::from(takes_receiver) == n_parameters
                && arity + declared.generic_params().count() == n_generic;
            is_it.then_some(ExtensionMember {
                takes_receiver,
                arity,
            })
        })
    }

    /// The declarations of a method's name in the `extension` blocks of its type, each with the type that stands for its block.
    fn extension_declarations(
        self,
        method: &Method<'a>,
    ) -> Result<impl Iterator<Item = (Token, Method<'a>)>> {
        let name = method.name_bytes()?;
        let nested = self.type_def(method.declaring_type()?)?.nested();
        let declared = nested
            .take(MAX_SIBLINGS)
            .flatten()
            .filter(move |&it| self.is_extension_group(it))
            .filter_map(move |it| self.type_def(it).ok())
            .flat_map(|it| {
                it.methods()
                    .flatten()
                    .map(move |method| (it.token(), method))
            })
            .take(MAX_SIBLINGS);
        Ok(declared.filter(move |(_, it)| it.name_bytes().is_ok_and(|it| it == name)))
    }

    /// The names given, with declared ones where none are given.
    fn or_declared(self, names: &GenericNames, ty: Token, method: Token) -> GenericNames {
        let declared = GenericNames::declared(self, Some(ty), Some(method));
        let choose = |given: &Vec<String>, declared: Vec<String>| {
            if given.is_empty() {
                declared
            } else {
                given.clone()
            }
        };
        GenericNames {
            of_type: choose(&names.of_type, declared.of_type),
            of_method: choose(&names.of_method, declared.of_method),
            are_arguments: names.are_arguments,
        }
    }

    /// A parameter as it is declared: `ref int x`, `params string[] names`.
    #[must_use]
    pub fn parameter_text(
        self,
        parameter: &Parameter<'a>,
        names: &GenericNames,
        nullable_context: Option<u8>,
        style: Style,
    ) -> String {
        let annotations = match parameter.token {
            Some(token) => self.annotations(token, nullable_context),
            None => super::Annotations {
                nullable: super::Nullability::Uniform(nullable_context.unwrap_or_default()),
                ..Default::default()
            },
        };
        let mut text = String::new();
        let mut writer = Writer::new(self, names, &annotations, style);
        if let Some(referent) = by_ref(&parameter.ty, &mut writer) {
            text.push_str(self.reference_keyword(parameter));
            writer.ty(referent);
        } else {
            if parameter.token.is_some_and(|token| self.is_params(token)) {
                text.push_str("params ");
            }
            writer.ty(&parameter.ty);
        }
        text.push_str(&writer.finish());
        if let Some(name) = &parameter.name {
            text.push(' ');
            text.push_str(name);
        }
        text
    }

    fn reference_keyword(self, parameter: &Parameter<'a>) -> &'static str {
        const COMPILER: &str = "System.Runtime.CompilerServices";
        let Some(token) = parameter.token else {
            return "ref ";
        };
        if parameter.flags.is_out() && !parameter.flags.is_in() {
            "out "
        } else if self.has_attribute(token, COMPILER, "RequiresLocationAttribute") {
            "ref readonly "
        } else if self.is_read_only(token) {
            "in "
        } else {
            "ref "
        }
    }

    /// The parameters of a method with commas between, without parentheses.
    pub fn parameters_text(
        self,
        method: &Method<'a>,
        names: &GenericNames,
        style: Style,
    ) -> Result<String> {
        let ty = method.declaring_type()?;
        let names = self.or_declared(names, ty, method.token());
        let context = self.inherited_nullable_context(Some(method.token()), Some(ty));
        let parameters = method.parameters()?;
        let mut text = String::new();
        for (index, parameter) in parameters.iter().enumerate() {
            if text.len() > MAX_LIST {
                text.push('…');
                break;
            }
            if index > 0 {
                text.push_str(", ");
            }
            text.push_str(&self.parameter_text(parameter, &names, context, style));
        }
        Ok(text)
    }

    /// The return type of a method.
    pub fn return_text(
        self,
        method: &Method<'a>,
        names: &GenericNames,
        style: Style,
    ) -> Result<String> {
        let ty = method.declaring_type()?;
        let names = self.or_declared(names, ty, method.token());
        let context = self.inherited_nullable_context(Some(method.token()), Some(ty));
        let annotations = match method.return_param()? {
            Some(token) => self.annotations(token, context),
            None => super::Annotations {
                nullable: super::Nullability::Uniform(context.unwrap_or_default()),
                ..Default::default()
            },
        };
        let signature: MethodSignature = method.signature()?;
        Ok(self.type_text(&signature.return_type, &names, &annotations, style))
    }

    /// A method with its return type and parameters: `int Program.Add(int a, int b)`. Those of a state machine's method are its
    /// own, not those of the method that it runs.
    pub fn method_text(self, method: Token, style: Style) -> Result<String> {
        let names = GenericNames::default();
        let name = self.method_name(method, &names, style)?;
        let method = self.method(method)?;
        let (ret, parameters) = (
            self.return_text(&method, &names, style)?,
            self.parameters_text(&method, &names, style)?,
        );
        // The name of a conversion has what it gives.
        let is_told = name
            .path
            .last()
            .is_some_and(|it| it.contains("plicit operator"));
        Ok(match is_told {
            true => format!("{name}({parameters})"),
            false => format!("{ret} {name}({parameters})"),
        })
    }
}

/// What a reference parameter refers to; its flags for the reference itself are taken.
fn by_ref<'t>(ty: &'t Type, writer: &mut Writer<'_, '_>) -> Option<&'t Type> {
    match ty {
        Type::ByRef(referent) => {
            writer.skip_dynamic(1);
            Some(referent)
        }
        Type::Modified { inner, .. } => match &**inner {
            Type::ByRef(referent) => {
                writer.skip_dynamic(2);
                Some(referent)
            }
            _ => None,
        },
        _ => None,
    }
}

pub(super) fn kind(type_name: &str) -> Option<GeneratedKind> {
    GeneratedName::parse(split_arity(type_name).0).map(|it| it.kind)
}

fn push_arguments(name: &mut String, arguments: &[String]) {
    if !arguments.is_empty() {
        name.push('<');
        name.push_str(&arguments.join(", "));
        name.push('>');
    }
}

/// Whether a name is a conversion's as C# declares it, without what it gives.
fn is_conversion(name: &str) -> bool {
    let name = name.strip_suffix(" checked").unwrap_or(name);
    name.ends_with("plicit operator")
}

/// The name of the method around local functions and lambdas.
pub(super) fn outermost(name: &str) -> &str {
    let mut name = name;
    while let Some(GeneratedName {
        kind: GeneratedKind::Lambda | GeneratedKind::LocalFunction,
        text,
        ..
    }) = GeneratedName::parse(name)
    {
        name = text;
    }
    name
}

/// The way from a type to a method: one part for most, more for local functions and lambdas.
fn method_path(name: &str, is_special: bool, depth: usize) -> Vec<String> {
    let Some(generated) = GeneratedName::parse(name).filter(|_| depth < MAX_NESTING) else {
        return vec![if is_special {
            special_name(name)
        } else {
            name.to_owned()
        }];
    };
    let mut path = method_path(generated.text, true, depth + 1);
    match generated.kind {
        GeneratedKind::Lambda => path.push("AnonymousMethod".to_owned()),
        GeneratedKind::LocalFunction => {
            path.push(generated.local_function().unwrap_or_default().to_owned());
        }
        GeneratedKind::Unspeakable => {}
        _ => return vec![name.to_owned()],
    }
    path
}

/// The simple name of a method, accessors and operators in the words of C#: `Total.get`, `operator +`.
#[must_use]
pub fn special_name(name: &str) -> String {
    // An explicit implementation has the interface's name in front.
    let start = name.rfind('.').map_or(0, |dot| dot + 1);
    let (interface, simple) = name.split_at_checked(start).unwrap_or(("", name));
    for (prefix, accessor) in [
        ("get_", "get"),
        ("set_", "set"),
        ("add_", "add"),
        ("remove_", "remove"),
    ] {
        if let Some(property) = simple.strip_prefix(prefix).filter(|it| !it.is_empty()) {
            return format!("{interface}{property}.{accessor}");
        }
    }
    match simple.strip_prefix("op_").and_then(operator) {
        Some(operator) => format!("{interface}{operator}"),
        None => name.to_owned(),
    }
}

/// An operator by its name in metadata, as it is declared: `operator checked +`, `operator +=`, `implicit operator`.
fn operator(name: &str) -> Option<String> {
    let (name, checked) = match name.strip_prefix("Checked") {
        Some(rest) => (rest, " checked"),
        None => (name, ""),
    };
    let (name, is_assignment) = match name.strip_suffix("Assignment") {
        Some(rest) => (rest, true),
        None => (name, false),
    };
    let symbol = match name {
        "Addition" | "UnaryPlus" => "+",
        "Subtraction" | "UnaryNegation" => "-",
        "Multiply" | "Multiplication" => "*",
        "Division" => "/",
        "Modulus" => "%",
        "ExclusiveOr" => "^",
        "BitwiseAnd" => "&",
        "BitwiseOr" => "|",
        "LogicalNot" => "!",
        "OnesComplement" => "~",
        "LeftShift" => "<<",
        "RightShift" => ">>",
        "UnsignedRightShift" => ">>>",
        "Equality" => "==",
        "Inequality" => "!=",
        "LessThan" => "<",
        "GreaterThan" => ">",
        "LessThanOrEqual" => "<=",
        "GreaterThanOrEqual" => ">=",
        "Increment" => return Some(format!("operator{checked} ++")),
        "Decrement" => return Some(format!("operator{checked} --")),
        "True" => "true",
        "False" => "false",
        "Implicit" => return Some("implicit operator".to_owned()),
        "Explicit" => return Some(format!("explicit operator{checked}")),
        _ => return None,
    };
    let assignment = if is_assignment { "=" } else { "" };
    Some(format!("operator{checked} {symbol}{assignment}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, path: &str) {
        assert_eq!(method_path(name, true, 0).join("."), path);
    }

    #[test]
    fn paths() {
        check("<Main>$", "Main");
        check("<<Main>$>g__Add|0_0", "Main.Add");
        check("<Run>b__0_1", "Run.AnonymousMethod");
        check("<get_Total>b__3_0", "Total.get.AnonymousMethod");
        check("<.ctor>b__0_0", ".ctor.AnonymousMethod");
        check("set_Name", "Name.set");
        check(
            "System.Collections.IList.get_Item",
            "System.Collections.IList.Item.get",
        );
        check("op_Addition", "operator +");
        check("op_CheckedAddition", "operator checked +");
        check("op_MultiplicationAssignment", "operator *=");
        check("op_CheckedIncrementAssignment", "operator checked ++");
        check("op_CheckedExplicit", "explicit operator checked");
        check(
            "N.IAdd<System.Int32>.op_Addition",
            "N.IAdd<System.Int32>.operator +",
        );
        check("op_Unknown", "op_Unknown");
        check("<Clone>$", "Clone");
        check("Plain", "Plain");
        check(&"<".repeat(1000), &"<".repeat(1000));
    }
}
