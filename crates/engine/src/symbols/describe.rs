//! A type as C# declares it, with its members.
//!
//! What only the compiler needs (backing fields, closures, accessors) is left out. A member that cannot be read costs only
//! itself, and is counted.

use metadata::csharp::{GeneratedName, GenericNames, Style};
use metadata::model::{ConstantValue, Field, Method, Property, TypeDef, Visibility};
use metadata::{Metadata, Result, Token};

use crate::api::{SymbolKind, TypeDescription, TypeMember, TypeQuery};
use crate::values::view::{is_like, secrets};

const SHORT: Style = Style { namespaces: false };
const FULL: Style = Style { namespaces: true };
/// Interfaces told of a type.
const MAX_INTERFACES: usize = 100;
/// Characters of a constant's text.
const MAX_CONSTANT: usize = 200;

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
        members.retain(|it| query.members.iter().any(|like| is_like(&it.name, like)));
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
        declaration: declaration(&ty),
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

fn declaration(ty: &TypeDef<'_>) -> String {
    let flags = ty.flags();
    let kind = if ty.is_enum() {
        "enum"
    } else if ty.is_delegate() {
        "delegate"
    } else if ty.is_value_type() {
        "struct"
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
        let constant = match flags.is_literal() {
            true => field
                .constant()?
                .map(|value| match secrets::is_secret(&name) {
                    true => " = ***".to_owned(),
                    false => format!(" = {}", constant_text(value)),
                }),
            false => None,
        }
        .unwrap_or_default();
        if self.ty.is_enum() {
            let text = format!("{name}{constant}");
            return Ok(Some(member(SymbolKind::Field, name, text)));
        }
        let kind = match (flags.is_literal(), flags.is_static(), flags.is_init_only()) {
            (true, ..) => "const ",
            (_, true, true) => "static readonly ",
            (_, true, false) => "static ",
            (_, false, true) => "readonly ",
            (_, false, false) => "",
        };
        let annotations = self.metadata.annotations(field.token(), None);
        let ty = self
            .metadata
            .type_text(&field.ty()?, self.names, &annotations, SHORT);
        let visible = visibility(flags.visibility());
        let text = format!("{visible}{kind}{ty} {name}{constant}");
        Ok(Some(member(SymbolKind::Field, name, text)))
    }

    fn property(&self, property: &Property<'a>) -> Result<TypeMember> {
        let name = property.name()?.into_owned();
        let accessors = property.accessors()?;
        let signature = property.signature()?;
        let annotations = self.metadata.annotations(property.token(), None);
        let text_of = |ty, annotations| self.metadata.type_text(ty, self.names, annotations, SHORT);
        let ty = text_of(&signature.return_type, &annotations);
        let modifiers = self.accessor_modifiers(accessors.getter.or(accessors.setter))?;
        let plain = metadata::csharp::Annotations::default();
        let parameters: Vec<_> = signature
            .parameters
            .iter()
            .map(|it| text_of(it, &plain))
            .collect();
        let shown = match parameters.as_slice() {
            [] => name.clone(),
            parameters => format!("this[{}]", parameters.join(", ")),
        };
        let accessors = match (accessors.getter, accessors.setter) {
            (Some(_), Some(_)) => "{ get; set; }",
            (None, Some(_)) => "{ set; }",
            _ => "{ get; }",
        };
        let text = format!("{modifiers}{ty} {shown} {accessors}");
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
        let parameters = self.metadata.parameters_text(method, &none, SHORT)?;
        let modifiers = modifiers(method);
        let returns = match &*raw {
            ".ctor" | ".cctor" => String::new(),
            _ => self.metadata.return_text(method, &none, SHORT)? + " ",
        };
        let text = format!("{modifiers}{returns}{name}({parameters})");
        Ok(Some(member(SymbolKind::Method, name, text)))
    }

    fn nested(&self, token: Token) -> Result<Option<TypeMember>> {
        let ty = self.metadata.type_def(token)?;
        let raw = ty.name()?;
        if GeneratedName::parse(&raw).is_some() {
            return Ok(None);
        }
        let names = GenericNames::declared(self.metadata, Some(token), None);
        let name = self.metadata.type_def_text(token, &names, SHORT);
        let text = format!("{} {name}", declaration(&ty));
        Ok(Some(member(SymbolKind::Type, name, text)))
    }
}

fn member(kind: SymbolKind, name: String, text: String) -> TypeMember {
    TypeMember { kind, name, text }
}

fn modifiers(method: &Method<'_>) -> String {
    let flags = method.flags();
    let kind = if flags.is_static() {
        "static "
    } else if flags.is_abstract() {
        "abstract "
    } else if flags.is_virtual() && !flags.is_new_slot() {
        "override "
    } else if flags.is_virtual() && !flags.is_final() {
        "virtual "
    } else {
        ""
    };
    format!("{}{kind}", visibility(flags.visibility()))
}

fn constant_text(value: ConstantValue<'_>) -> String {
    match value {
        ConstantValue::Bool(value) => value.to_string(),
        ConstantValue::Char(unit) => {
            let letter = char::from_u32(unit.into()).unwrap_or(char::REPLACEMENT_CHARACTER);
            format!("{letter:?}")
        }
        ConstantValue::I1(value) => value.to_string(),
        ConstantValue::U1(value) => value.to_string(),
        ConstantValue::I2(value) => value.to_string(),
        ConstantValue::U2(value) => value.to_string(),
        ConstantValue::I4(value) => value.to_string(),
        ConstantValue::U4(value) => value.to_string(),
        ConstantValue::I8(value) => value.to_string(),
        ConstantValue::U8(value) => value.to_string(),
        ConstantValue::R4(value) => value.to_string(),
        ConstantValue::R8(value) => value.to_string(),
        ConstantValue::String(text) => {
            let units = text.units().take(MAX_CONSTANT);
            let shown: String = char::decode_utf16(units)
                .map(|it| it.unwrap_or(char::REPLACEMENT_CHARACTER))
                .collect();
            let cut = if text.len() > MAX_CONSTANT { "…" } else { "" };
            format!("{shown:?}{cut}")
        }
        ConstantValue::Null => "null".into(),
    }
}
