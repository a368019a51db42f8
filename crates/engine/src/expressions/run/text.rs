//! What `ToString` gives, and interpolated strings.

use std::rc::Rc;

use syntax::Span;

use super::computed::guid_text;
use super::{Made, Result, Runner, Val, format};
use crate::expressions::plan::{Callee, Piece};
use crate::expressions::scalar::{self, Kind, Scalar};
use crate::types::{self, Method, Type};

impl Runner<'_, '_> {
    /// The text of a value in a string: null is empty.
    pub(in crate::expressions) fn text_of(
        &mut self,
        value: &Val,
        ty: &Type,
        span: Span,
    ) -> Result<Vec<u16>> {
        if let Some(text) = self.plain_text(value, ty, span)? {
            return Ok(text);
        }
        // Anything else knows itself what it is called.
        match self.own_text(value, ty, span)? {
            Val::Null => Ok(Vec::new()),
            text => Ok(self
                .string_of(&text, span)?
                .map(|it| it.to_vec())
                .unwrap_or_default()),
        }
    }

    /// The text of what needs no code: numbers, strings, enums, types.
    pub(in crate::expressions) fn plain_text(
        &mut self,
        value: &Val,
        ty: &Type,
        span: Span,
    ) -> Result<Option<Vec<u16>>> {
        let ty = self.types.nullable_of(ty).unwrap_or_else(|| ty.clone());
        Ok(Some(match value {
            Val::Null => Vec::new(),
            Val::Scalar(Scalar::String(units)) => units.to_vec(),
            Val::Scalar(Scalar::Int(Kind::Char, unit)) => vec![*unit as u16],
            Val::Scalar(number) => match self.enum_text(number, &ty) {
                Some(text) if is_name(&text) || self.is_written_plainly(number, None, span) => {
                    text.encode_utf16().collect()
                }
                Some(_) => return Ok(None),
                None if !self.is_written_plainly(number, None, span) => return Ok(None),
                None => scalar::text(number).encode_utf16().collect(),
            },
            Val::Object(object) if object.ty == Type::STRING => self.units(object, span)?,
            Val::Object(object) => match self.reader.unboxed(object) {
                Some(place) => {
                    let inner = self.decode(&place, span)?;
                    let ty = object.ty.clone();
                    match inner {
                        Val::Scalar(_) => return self.plain_text(&inner, &ty, span),
                        _ => return Ok(None),
                    }
                }
                None => match self.default_text(&object.ty) {
                    Some(text) => text.encode_utf16().collect(),
                    None => return Ok(None),
                },
            },
            Val::Boxed(ty, inner) => {
                let (ty, inner) = (ty.clone(), inner.clone());
                return self.plain_text(&inner, &ty, span);
            }
            Val::Made(made) => match &**made {
                Made::Type(ty) => self.reflection_name(ty).encode_utf16().collect(),
                Made::Fields(ty, fields) if self.types.tuple_elements(ty).is_some() => {
                    let elements = self.types.tuple_elements(ty).unwrap_or_default();
                    let mut text: Vec<u16> = vec![u16::from(b'(')];
                    let Some(parts) = self.tuple_parts(fields, span)? else {
                        return Ok(None);
                    };
                    for (index, (value, ty)) in parts.iter().zip(&elements).enumerate() {
                        if index > 0 {
                            text.extend(", ".encode_utf16());
                        }
                        text.extend(self.text_of(value, ty, span)?);
                    }
                    text.push(u16::from(b')'));
                    text
                }
                Made::Fields(ty, fields) if self.is_anonymous(ty) => {
                    self.anonymous_text(ty, fields, span)?
                }
                // A delegate has no text of its own.
                Made::Closure(..) if matches!(&ty, Type::Named(it) if it.kind == crate::types::Kind::Delegate) => {
                    self.reflection_name(&ty).encode_utf16().collect()
                }
                Made::Sequence(ty, ..) => self.reflection_name(ty).encode_utf16().collect(),
                _ => return Ok(None),
            },
            Val::Struct(_) => {
                let text = match self.guid_bytes(value, span)? {
                    Some(bytes) => Some(guid_text(bytes)),
                    None => self.date_text(value, None, None, span)?,
                };
                match text {
                    Some(text) => text.encode_utf16().collect(),
                    None => return Ok(None),
                }
            }
        }))
    }

    /// The elements of a tuple; those behind the seventh lie in a tuple of their own.
    pub(super) fn tuple_parts(
        &mut self,
        fields: &[(Rc<str>, Val)],
        span: Span,
    ) -> Result<Option<Vec<Val>>> {
        let mut parts = Vec::with_capacity(fields.len());
        for (name, value) in fields {
            if &**name != "Rest" {
                parts.push(value.clone());
                continue;
            }
            let rest = match value {
                Val::Made(made) => match &**made {
                    Made::Fields(_, fields) => fields.clone(),
                    _ => return Ok(None),
                },
                Val::Struct(place) => {
                    let members = self.reader.struct_members(&place.ty);
                    let members = members.map_err(|why| self.unreadable(&why, span))?;
                    let mut fields = Vec::new();
                    for member in members.iter() {
                        let part = self.reader.struct_member(place, member);
                        let part = part.map_err(|why| self.unreadable(&why, span))?;
                        fields.push((member.field.name.clone(), self.decode(&part, span)?));
                    }
                    fields
                }
                _ => return Ok(None),
            };
            match self.tuple_parts(&rest, span)? {
                Some(rest) => parts.extend(rest),
                None => return Ok(None),
            }
        }
        Ok(Some(parts))
    }

    /// An enum's value in one of the formats of enums.
    fn enum_formatted(&self, value: &Scalar, ty: &Type, format: &str) -> Option<String> {
        match format {
            "" | "G" | "g" => self.enum_text(value, ty),
            "D" | "d" => value.integer().map(|it| it.to_string()),
            "X" | "x" => {
                let width = 2 * value.kind().size();
                let bits = 8 * value.kind().size();
                let number = value.integer()? & ((1_i128 << bits) - 1);
                Some(format!("{number:0width$X}"))
            }
            _ => None,
        }
    }

    /// `Object.ToString` of an array or of a class that does not override it: its name.
    fn default_text(&self, ty: &Type) -> Option<String> {
        for level in self.types.ancestry(ty).ok()? {
            let own = self.types.methods(&level, Some("ToString")).ok()?;
            let overrides = own.iter().any(|it| it.parameters.is_empty());
            if overrides {
                return self
                    .types
                    .is_named(&level, "System", "Object")
                    .then(|| self.reflection_name(ty));
            }
        }
        None
    }

    /// Whether what has it tells no more than the name of its type.
    pub(super) fn has_no_text(&self, ty: &Type) -> bool {
        let levels = self.types.ancestry(ty).unwrap_or_default();
        let told = levels.iter().find(|level| {
            let own = self
                .types
                .methods(level, Some("ToString"))
                .unwrap_or_default();
            own.iter().any(|it| it.parameters.is_empty())
        });
        let bases = ["Object", "ValueType"];
        told.is_some_and(|level| {
            bases
                .iter()
                .any(|it| self.types.is_named(level, "System", it))
        })
    }

    /// An enum's value by name, as `ToString` gives it.
    pub(super) fn enum_text(&self, value: &Scalar, ty: &Type) -> Option<String> {
        let Type::Named(named) = ty else { return None };
        let types::Kind::Enum(_) = named.kind else {
            return None;
        };
        let definition = self.types.definition(named).ok()?;
        let members: Vec<(String, i128)> = definition
            .enum_members()
            .flatten()
            .filter_map(|it| {
                let number = match crate::expressions::bind::constant(it.value) {
                    crate::expressions::plan::Constant::Scalar(value) => value.integer()?,
                    crate::expressions::plan::Constant::Null => return None,
                };
                Some((it.name.to_string(), number))
            })
            .collect();
        let number = value.integer()?;
        if let Some((name, _)) = members.iter().find(|(_, it)| *it == number) {
            return Some(name.clone());
        }
        if definition.is_flags_enum() && number != 0 {
            let mut left = number;
            let mut names = Vec::new();
            let mut sorted = members;
            sorted.sort_by_key(|(_, it)| std::cmp::Reverse(*it as u64 as i128));
            for (name, bits) in sorted.iter().filter(|(_, bits)| *bits != 0) {
                if left & bits == *bits {
                    left &= !bits;
                    names.push(name.as_str());
                }
            }
            if left == 0 {
                names.reverse();
                return Some(names.join(", "));
            }
        }
        Some(number.to_string())
    }

    /// `Type.Name`: without namespace and arguments.
    pub(super) fn short_name(&self, ty: &Type) -> String {
        match ty {
            Type::SzArray(inner) => self.short_name(inner) + "[]",
            Type::Array { element, rank } => {
                let commas = ",".repeat((*rank as usize).saturating_sub(1));
                format!("{}[{commas}]", self.short_name(element))
            }
            Type::Pointer(inner) => self.short_name(inner) + "*",
            Type::ByRef(inner) => self.short_name(inner) + "&",
            _ => {
                let full = self.reflection_name(ty);
                let bare = full.split('[').next().unwrap_or(&full);
                bare.rsplit(['.', '+']).next().unwrap_or(bare).to_owned()
            }
        }
    }

    /// The name that reflection gives a type: `System.Collections.Generic.List`1[System.Int32]`.
    pub(super) fn reflection_name(&self, ty: &Type) -> String {
        match ty {
            Type::SzArray(inner) => self.reflection_name(inner) + "[]",
            Type::Array { element, rank } => {
                let commas = ",".repeat((*rank as usize).saturating_sub(1));
                format!("{}[{commas}]", self.reflection_name(element))
            }
            Type::Pointer(inner) => self.reflection_name(inner) + "*",
            Type::ByRef(inner) => self.reflection_name(inner) + "&",
            _ => {
                let Some(named) = self.types.named(ty) else {
                    return self.types.full_text(ty);
                };
                let Ok(module) = self.types.metadata(named.module) else {
                    return self.types.full_text(ty);
                };
                let mut name = module
                    .metadata()
                    .full_name(named.token)
                    .unwrap_or_default()
                    .replace('/', "+");
                if !named.arguments.is_empty() && !ty.is_open() {
                    let arguments: Vec<String> = named
                        .arguments
                        .iter()
                        .map(|it| self.reflection_name(it))
                        .collect();
                    name.push_str(&format!("[{}]", arguments.join(",")));
                }
                name
            }
        }
    }

    /// Runs the value's own `ToString`.
    fn own_text(&mut self, value: &Val, ty: &Type, span: Span) -> Result<Val> {
        let object = self.types.named(&Type::OBJECT);
        let method = object
            .and_then(|it| self.types.methods(&it, Some("ToString")).ok())
            .and_then(|it| it.into_iter().next());
        match method {
            Some(method) => self.call_text(method, value, ty, Vec::new(), span),
            None => Ok(Val::Null),
        }
    }

    fn call_text(
        &mut self,
        method: Method,
        value: &Val,
        ty: &Type,
        arguments: Vec<Val>,
        span: Span,
    ) -> Result<Val> {
        let node = crate::expressions::plan::Node::new(
            crate::expressions::plan::Op::Default,
            Type::STRING,
            span,
        );
        let callee = Rc::new(Callee {
            method,
            arguments: Vec::new(),
            intrinsic: None,
            is_virtual: true,
            checked: false,
        });
        let target = Some((value.clone(), ty.clone()));
        self.call(&node, &callee, target, None, arguments, &[])
    }

    pub(super) fn interpolate(&mut self, pieces: &[Piece], span: Span) -> Result<Val> {
        let mut text = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Text(units) => text.extend_from_slice(units),
                Piece::Hole(node, alignment, format) => {
                    let value = self.eval(node)?;
                    let format = format.as_deref();
                    let shown = self.hole(&value, &node.ty, *alignment, format, node.span)?;
                    text.extend(shown);
                    self.room_for_text(text.len(), span)?;
                }
            }
        }
        Ok(Val::units(text))
    }

    /// A value in a text, with alignment and format.
    pub(in crate::expressions) fn hole(
        &mut self,
        value: &Val,
        ty: &Type,
        alignment: Option<i32>,
        format: Option<&str>,
        span: Span,
    ) -> Result<Vec<u16>> {
        let mut shown = match format {
            Some(format) => self.formatted(value, ty, Some(format), span)?,
            None => self.hole_text(value, ty, span)?,
        };
        if let Some(width) = alignment {
            let missing = (width.unsigned_abs() as usize).saturating_sub(shown.len());
            self.room_for_text(missing, span)?;
            let blanks = std::iter::repeat_n(u16::from(b' '), missing);
            if width < 0 {
                shown.extend(blanks);
            } else {
                shown.splice(0..0, blanks);
            }
        }
        Ok(shown)
    }

    /// The text of a value in an interpolated string: what can be formatted is asked for no format in particular, which may
    /// give another text than its `ToString()`.
    fn hole_text(&mut self, value: &Val, ty: &Type, span: Span) -> Result<Vec<u16>> {
        let declared = match value {
            Val::Null | Val::Scalar(_) => return self.text_of(value, ty, span),
            Val::Boxed(ty, _) => ty.clone(),
            Val::Object(object) => object.ty.clone(),
            _ => self.types.nullable_of(ty).unwrap_or_else(|| ty.clone()),
        };
        let formattable = self.types.core_named("System", "IFormattable");
        let all = self.types.interfaces(&declared).unwrap_or_default();
        match formattable.is_some_and(|it| all.contains(&it)) {
            true => self.formatted(value, ty, None, span),
            false => self.text_of(value, ty, span),
        }
    }

    /// The text of a value in a format: numbers by us, others by their own `ToString(format, provider)`.
    pub(super) fn formatted(
        &mut self,
        value: &Val,
        ty: &Type,
        format: Option<&str>,
        span: Span,
    ) -> Result<Vec<u16>> {
        let inner = match value {
            Val::Boxed(_, inner) => (**inner).clone(),
            Val::Object(object) => match self.reader.unboxed(object) {
                Some(place) => self.decode(&place, span)?,
                None => value.clone(),
            },
            other => other.clone(),
        };
        if let Val::Scalar(number) = &inner {
            let Some(format) = format else {
                return self.text_of(value, ty, span);
            };
            let declared = match value {
                Val::Boxed(ty, _) => ty.clone(),
                Val::Object(object) => object.ty.clone(),
                _ => self.types.nullable_of(ty).unwrap_or_else(|| ty.clone()),
            };
            let is_enum = matches!(&declared, Type::Named(named) if matches!(named.kind, types::Kind::Enum(_)));
            // Texts, truth values and characters have no formats.
            if matches!(number.kind(), Kind::String | Kind::Bool | Kind::Char) {
                return self.text_of(value, ty, span);
            }
            if !is_enum
                && self.is_written_plainly(number, Some(format), span)
                && let Some(text) = format::number(number, format)
            {
                return Ok(text.encode_utf16().collect());
            }
            if is_enum
                && let Some(text) = self.enum_formatted(number, &declared, format)
                && (is_name(&text) || self.is_written_plainly(number, None, span))
            {
                return Ok(text.encode_utf16().collect());
            }
            let real = matches!(
                number.kind(),
                Kind::Float | Kind::Double | Kind::Decimal | Kind::Half
            );
            let is_wrong = format.strip_prefix(['D', 'd', 'X', 'x', 'B', 'b']);
            if real && is_wrong.is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit())) {
                return Err(crate::expressions::error::Fail::thrown(
                    span,
                    "System.FormatException",
                    Some("Format specifier was invalid.".into()),
                )
                .into());
            }
        }
        if let Val::Null = inner {
            return Ok(Vec::new());
        }
        if let Val::Object(object) = &inner
            && object.ty == Type::STRING
        {
            return self.units(object, span);
        }
        if let Some(text) = self.date_text(&inner, format, None, span)? {
            return Ok(text.encode_utf16().collect());
        }
        // What is in a box is asked itself.
        let exact = match value {
            Val::Boxed(ty, _) => ty.clone(),
            Val::Object(object) => object.ty.clone(),
            _ => self.types.nullable_of(ty).unwrap_or_else(|| ty.clone()),
        };
        // What cannot be formatted is told as it is, as the program would do it.
        let Some(method) = self.formatting(&exact) else {
            return self.text_of(value, ty, span);
        };
        let arguments = vec![format.map_or(Val::Null, Val::text), Val::Null];
        let text = self.call_text(method, &inner, &exact, arguments, span)?;
        Ok(self
            .string_of(&text, span)?
            .map_or(Vec::new(), |it| it.to_vec()))
    }

    /// The `ToString(format, provider)` of a value that has one.
    fn formatting(&self, exact: &Type) -> Option<Method> {
        let takes_format = |it: &Method| match it.parameters.as_slice() {
            [format, provider] => {
                format.ty == Type::STRING
                    && provider
                        .ty
                        .as_named()
                        .is_some_and(|it| self.types.is_named(it, "System", "IFormatProvider"))
            }
            _ => false,
        };
        let declared = self.types.ancestry(exact).ok()?;
        let found = declared.iter().find_map(|named| {
            let methods = self.types.methods(named, Some("ToString")).ok()?;
            methods.into_iter().find(takes_format)
        });
        found.or_else(|| {
            // Implemented under the interface's name only.
            let formattable = self.types.core_named("System", "IFormattable")?;
            let all = self.types.interfaces(exact).ok()?;
            all.contains(&formattable).then_some(())?;
            let methods = self.types.methods(&formattable, Some("ToString")).ok()?;
            methods.into_iter().next()
        })
    }
}

/// Whether the text of an enum's value is made of names or digits only, which every culture writes alike.
fn is_name(text: &str) -> bool {
    !text.starts_with('-')
}
