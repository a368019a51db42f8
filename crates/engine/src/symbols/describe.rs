//! A type as C# declares it, with its members.
//!
//! What only the compiler needs (backing fields, closures, accessors) is left out. A member that cannot be read costs only
//! itself, and is counted.

use metadata::csharp::{Annotations, GeneratedName, GenericNames, Style};
use metadata::model::{ConstantValue, Field, Method, Property, TypeDef, Visibility};
use metadata::{Metadata, Result, Token, signature};

use crate::api::{SymbolKind, TypeDescription, TypeMember, TypeQuery};
use crate::expressions::scalar::{self, Decimal, Scalar};
use crate::values::decimal_constant;
use crate::values::view::{is_like, secrets};

use super::constants::{constant_of, constant_text};

const SHORT: Style = Style { namespaces: false };
/// Where the attributes are that the compiler gives to what it compiles.
const COMPILER: &str = "System.Runtime.CompilerServices";
const FULL: Style = Style { namespaces: true };
/// Interfaces told of a type.
const MAX_INTERFACES: usize = 100;
/// Parameters told of a method that has more.
const MAX_PARAMETERS: usize = 100;

/// The type and some of its members; module names are the caller's to fill in.
pub(super) fn describe(
    metadata: Metadata<'_>,
    token: Token,
    query: &TypeQuery,
    max_members: u32,
) -> Result<TypeDescription> {
    let ty = metadata.type_def(token)?;
    let names = GenericNames::declared(metadata, Some(token), None);
    let base = ty
        .base()
        .map(|base| metadata.type_token_text(base, &names, FULL));
    let interfaces = ty.interfaces().take(MAX_INTERFACES).filter_map(Result::ok);
    let writer = Writer {
        metadata,
        ty: &ty,
        names: &names,
    };
    let (mut members, unreadable) = writer.members();
    if !query.members.is_empty() {
        members.retain(|it| query.members.iter().any(|like| is_named(&it.name, like)));
    }
    let total = members.len();
    let start = query.start as usize;
    let end = start
        .saturating_add(query.count.min(max_members) as usize)
        .min(total);
    let members = members.into_iter().take(end).skip(start).collect();
    let mut notes = Vec::new();
    if unreadable > 0 {
        notes.push(format!("{unreadable} members cannot be read"));
    }
    Ok(TypeDescription {
        name: metadata.type_def_text(token, &names, FULL),
        declaration: declaration(metadata, &ty),
        module: String::new(),
        token: token.0,
        base,
        interfaces: interfaces
            .map(|it| metadata.type_token_text(it, &names, FULL))
            .collect(),
        members,
        total: total as u64,
        next: (end < total).then(|| u32::try_from(end).ok()).flatten(),
        also_in: Vec::new(),
        notes,
    })
}

/// Whether a member is asked for by a name: its own, or that without type parameters, as people write it.
fn is_named(name: &str, like: &str) -> bool {
    let plain = name.strip_suffix('>').and_then(|it| it.split_once('<'));
    // An operator that compares has no type parameters.
    let plain = plain.map(|(it, _)| it).filter(|it| !it.is_empty());
    is_like(name, like) || plain.is_some_and(|it| is_like(it, like))
}

fn declaration(metadata: Metadata<'_>, ty: &TypeDef<'_>) -> String {
    let flags = ty.flags();
    let has = |name: &str| metadata.has_attribute(ty.token(), COMPILER, name);
    let kind = if ty.is_enum() {
        "enum"
    } else if ty.is_delegate() {
        "delegate"
    } else if ty.is_value_type() {
        match (has("IsReadOnlyAttribute"), has("IsByRefLikeAttribute")) {
            (true, true) => "readonly ref struct",
            (true, false) => "readonly struct",
            (false, true) => "ref struct",
            (false, false) => "struct",
        }
    } else if flags.is_interface() {
        "interface"
    } else {
        match (flags.is_abstract(), flags.is_sealed()) {
            (true, true) => "static class",
            (true, false) => "abstract class",
            (false, true) => "sealed class",
            (false, false) => "class",
        }
    };
    format!("{}{kind}", visibility(flags.visibility()))
}

fn visibility(visibility: Visibility) -> &'static str {
    match visibility {
        Visibility::CompilerControlled => "",
        Visibility::Private => "private ",
        Visibility::PrivateProtected => "private protected ",
        Visibility::Internal => "internal ",
        Visibility::Protected => "protected ",
        Visibility::ProtectedInternal => "protected internal ",
        Visibility::Public => "public ",
    }
}

struct Writer<'w, 'a> {
    metadata: Metadata<'a>,
    ty: &'w TypeDef<'a>,
    names: &'w GenericNames,
}

impl<'a> Writer<'_, 'a> {
    /// All members that a person declared, and how many could not be read.
    fn members(&self) -> (Vec<TypeMember>, usize) {
        let mut members = Vec::new();
        let mut unreadable = 0;
        let mut add = |member: Result<Option<TypeMember>>| match member {
            Ok(member) => members.extend(member),
            Err(_) => unreadable += 1,
        };
        for field in self.ty.fields() {
            add(field.and_then(|it| self.field(&it)));
        }
        for property in self.ty.properties() {
            add(property.and_then(|it| self.property(&it).map(Some)));
        }
        for event in self.ty.events() {
            add(event.and_then(|event| {
                let name = event.name()?.into_owned();
                let ty = self
                    .metadata
                    .type_token_text(event.handler_type(), self.names, SHORT);
                let modifiers = self.accessor_modifiers(event.accessors()?.adder)?;
                let text = format!("{modifiers}event {ty} {name}");
                Ok(Some(member(SymbolKind::Event, name, text)))
            }));
        }
        for method in self.ty.methods() {
            add(method.and_then(|it| self.method(&it)));
        }
        for nested in self.ty.nested() {
            add(nested.and_then(|it| self.nested(it)));
        }
        (members, unreadable)
    }

    fn field(&self, field: &Field<'a>) -> Result<Option<TypeMember>> {
        let name = field.name()?.into_owned();
        // An enum's field of this name is its value.
        if GeneratedName::parse(&name).is_some() || field.flags().is_runtime_special_name() {
            return Ok(None);
        }
        let flags = field.flags();
        let annotations = self.annotations(field.token());
        let stored = field.ty()?;
        let ty = self
            .metadata
            .type_text(&stored, self.names, &annotations, SHORT);
        let decimal = match flags.is_static() && flags.is_init_only() {
            true => decimal_constant(self.metadata, field.token()).and_then(Decimal::from_bytes),
            false => None,
        };
        let constant = match (flags.is_literal(), decimal) {
            (true, _) => field.constant()?.map(|value| match self.ty.is_enum() {
                true => constant_text(value),
                false => constant_of(self.metadata, &stored, &ty, value),
            }),
            (false, decimal) => decimal.map(|it| scalar::text(&Scalar::Decimal(it)) + "m"),
        };
        let constant = constant.map(|text| match secrets::is_secret(&name) {
            true => " = ***".to_owned(),
            false => format!(" = {text}"),
        });
        let is_constant = flags.is_literal() || constant.is_some();
        let constant = constant.unwrap_or_default();
        if self.ty.is_enum() {
            let text = format!("{name}{constant}");
            return Ok(Some(member(SymbolKind::Field, name, text)));
        }
        let kind = match (is_constant, flags.is_static(), flags.is_init_only()) {
            (true, ..) => "const ",
            (_, true, true) => "static readonly ",
            (_, true, false) => "static ",
            (_, false, true) => "readonly ",
            (_, false, false) => "",
        };
        let is_volatile = matches!(&stored, signature::Type::Modified { modifier, .. }
            if self.metadata.type_token_text(*modifier, self.names, SHORT).ends_with("IsVolatile"));
        let volatile = if is_volatile { "volatile " } else { "" };
        let visible = visibility(flags.visibility());
        let text = format!("{visible}{kind}{volatile}{ty} {name}{constant}");
        Ok(Some(member(SymbolKind::Field, name, text)))
    }

    /// What attributes add to the type of a member; what those of the type around it say goes for it too.
    fn annotations(&self, token: Token) -> Annotations<'a> {
        let around = self
            .metadata
            .inherited_nullable_context(None, Some(self.ty.token()));
        self.metadata.annotations(token, around)
    }

    fn property(&self, property: &Property<'a>) -> Result<TypeMember> {
        let name = property.name()?.into_owned();
        let accessors = property.accessors()?;
        let signature = property.signature()?;
        let annotations = self.annotations(property.token());
        let text_of = |ty, annotations| self.metadata.type_text(ty, self.names, annotations, SHORT);
        let ty = text_of(&signature.return_type, &annotations);
        let method = |token: Option<Token>| token.map(|it| self.metadata.method(it)).transpose();
        let (getter, setter) = (method(accessors.getter)?, method(accessors.setter)?);
        let both = [&getter, &setter];
        // It is as visible as the more visible of the two, which alone says so.
        let visible = |it: &Method<'a>| it.flags().visibility();
        let widest = both.iter().filter_map(|it| it.as_ref().map(visible)).max();
        let kind = getter.as_ref().or(setter.as_ref()).map(modifier);
        let required = match self.has(property.token(), "RequiredMemberAttribute") {
            true => "required ",
            false => "",
        };
        let shown = match (&getter, &setter) {
            _ if signature.parameters.is_empty() => name.clone(),
            (Some(getter), _) => format!("this[{}]", self.parameters(getter, usize::MAX)?),
            (None, Some(setter)) => {
                let count = signature.parameters.len();
                format!("this[{}]", self.parameters(setter, count)?)
            }
            (None, None) => name.clone(),
        };
        let mut text = format!(
            "{}{required}{}{ty} {shown} {{ ",
            widest.map_or("", visibility),
            kind.unwrap_or_default()
        );
        for (accessor, word) in both.into_iter().zip(["get", "set"]) {
            let Some(accessor) = accessor else { continue };
            if Some(visible(accessor)) != widest {
                text += visibility(visible(accessor));
            }
            text += if self.is_init(accessor)? {
                "init"
            } else {
                word
            };
            text += "; ";
        }
        text.push('}');
        Ok(member(SymbolKind::Property, name, text))
    }

    fn accessor_modifiers(&self, accessor: Option<Token>) -> Result<String> {
        match accessor {
            Some(token) => Ok(modifiers(&self.metadata.method(token)?)),
            None => Ok(String::new()),
        }
    }

    fn method(&self, method: &Method<'a>) -> Result<Option<TypeMember>> {
        let raw = method.name()?;
        // Accessors stand under their property or event, lambdas and local functions inside their method.
        if GeneratedName::parse(&raw).is_some() || method.semantics()?.is_some() {
            return Ok(None);
        }
        let none = GenericNames::default();
        let named = self.metadata.method_name(method.token(), &none, SHORT)?;
        let name = named.path.join(".");
        let parameters = self.parameters(method, usize::MAX)?;
        let this = match self.metadata.is_extension(method.token()) {
            true => "this ",
            false => "",
        };
        let modifiers = modifiers(method);
        let returns = match &*raw {
            ".ctor" | ".cctor" => String::new(),
            _ => self.metadata.return_text(method, &none, SHORT)? + " ",
        };
        // The name of a conversion has what it gives.
        let named = match &*raw {
            "op_Implicit" | "op_Explicit" | "op_CheckedExplicit" => name.clone(),
            _ => format!("{returns}{name}"),
        };
        let constraints = self.constraints(method)?;
        let text = format!("{modifiers}{named}({this}{parameters}){constraints}");
        Ok(Some(member(SymbolKind::Method, name, text)))
    }

    fn has(&self, token: Token, attribute: &str) -> bool {
        self.metadata.has_attribute(token, COMPILER, attribute)
    }

    /// Whether a setter may only be used while the object is made.
    fn is_init(&self, setter: &Method<'a>) -> Result<bool> {
        Ok(match setter.signature()?.return_type {
            signature::Type::Modified { modifier, .. } => self
                .metadata
                .type_token_text(modifier, self.names, SHORT)
                .ends_with("IsExternalInit"),
            _ => false,
        })
    }

    /// The first parameters of a method, with what they are if they are left out.
    fn parameters(&self, method: &Method<'a>, count: usize) -> Result<String> {
        let all = method.parameters()?;
        if all.len() <= count && all.iter().all(|it| it.default.is_none()) {
            let none = GenericNames::default();
            return self.metadata.parameters_text(method, &none, SHORT);
        }
        let ty = method.declaring_type()?;
        let names = GenericNames::declared(self.metadata, Some(ty), Some(method.token()));
        let context = self
            .metadata
            .inherited_nullable_context(Some(method.token()), Some(ty));
        let shown = all.iter().take(count.min(MAX_PARAMETERS)).map(|it| {
            let text = self.metadata.parameter_text(it, &names, context, SHORT);
            match it.default {
                // What has no literal is told as its default.
                Some(ConstantValue::Null) => format!("{text} = default"),
                Some(value) => {
                    let plain = Annotations::default();
                    let ty = self.metadata.type_text(&it.ty, &names, &plain, SHORT);
                    let value = constant_of(self.metadata, &it.ty, &ty, value);
                    format!("{text} = {value}")
                }
                None => text,
            }
        });
        let mut shown: Vec<String> = shown.collect();
        if all.len().min(count) > MAX_PARAMETERS {
            shown.push("…".into());
        }
        Ok(shown.join(", "))
    }

    /// What a method wants of its type arguments: ` where T : class, new()`.
    fn constraints(&self, method: &Method<'a>) -> Result<String> {
        const CLASS: u16 = 0x04;
        const STRUCT: u16 = 0x08;
        const NEW: u16 = 0x10;
        let ty = method.declaring_type()?;
        let names = GenericNames::declared(self.metadata, Some(ty), Some(method.token()));
        let mut text = String::new();
        for parameter in method.generic_params().take(MAX_PARAMETERS) {
            let parameter = parameter?;
            let flags = parameter.flags();
            let mut wanted = Vec::new();
            if flags & CLASS != 0 {
                wanted.push("class".to_owned());
            }
            if flags & STRUCT != 0 {
                let is_unmanaged = self.has(parameter.token(), "IsUnmanagedAttribute");
                let kind = if is_unmanaged { "unmanaged" } else { "struct" };
                wanted.push(kind.to_owned());
            }
            for constraint in parameter.constraints().take(MAX_PARAMETERS) {
                let constraint = self.metadata.type_token_text(constraint?, &names, SHORT);
                // A struct is one anyway.
                if constraint != "ValueType" {
                    wanted.push(constraint);
                }
            }
            if flags & NEW != 0 && flags & STRUCT == 0 {
                wanted.push("new()".to_owned());
            }
            let name = names.of_method.get(usize::from(parameter.number()));
            if let Some(name) = name.filter(|_| !wanted.is_empty()) {
                text += &format!(" where {name} : {}", wanted.join(", "));
            }
        }
        Ok(text)
    }

    fn nested(&self, token: Token) -> Result<Option<TypeMember>> {
        let ty = self.metadata.type_def(token)?;
        let raw = ty.name()?;
        if GeneratedName::parse(&raw).is_some() || self.metadata.is_extension_group(token) {
            return Ok(None);
        }
        let names = GenericNames::declared(self.metadata, Some(token), None);
        let name = self.metadata.type_def_text(token, &names, SHORT);
        let text = format!("{} {name}", declaration(self.metadata, &ty));
        Ok(Some(member(SymbolKind::Type, name, text)))
    }
}

fn member(kind: SymbolKind, name: String, text: String) -> TypeMember {
    TypeMember { kind, name, text }
}

fn modifiers(method: &Method<'_>) -> String {
    let visible = visibility(method.flags().visibility());
    format!("{visible}{}", modifier(method))
}

/// What a method is besides visible.
fn modifier(method: &Method<'_>) -> &'static str {
    let flags = method.flags();
    if flags.is_static() && flags.is_abstract() {
        "static abstract "
    } else if flags.is_static() && flags.is_virtual() {
        "static virtual "
    } else if flags.is_static() && flags.is_pinvoke() {
        "static extern "
    } else if flags.is_static() {
        "static "
    } else if flags.is_abstract() {
        "abstract "
    } else if flags.is_virtual() && !flags.is_new_slot() {
        "override "
    } else if flags.is_virtual() && !flags.is_final() {
        "virtual "
    } else {
        ""
    }
}
