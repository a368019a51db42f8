//! A value as text, by reading only: what a person or a test sees of a result.

use metadata::csharp::field_display_name;
use syntax::Span;

use super::{Made, Result, Runner, Val};
use crate::expressions::scalar::{self, Kind, Scalar};
use crate::types::{Type, TypeNotes};
use crate::values::view::known::Known;
use crate::values::view::secrets::is_secret;
use crate::values::view::{ObjectIds, Viewer};
use crate::values::{Reader, Value};

/// How much of a value is told.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Elements of a sequence.
    pub(crate) elements: usize,
    /// Whether they were asked for by `,[n]`: then lines of variables show as many, too.
    pub(crate) counted: bool,
    /// UTF-16 units of a text.
    pub(crate) text: usize,
    /// Values inside values.
    pub(crate) depth: u32,
    /// Whether whole numbers are told in hexadecimal.
    pub(crate) hex: bool,
    /// Whether numbers were asked for by `,d` or `,h`: then letters and enums are numbers, too.
    pub(crate) numbers: bool,
    /// Whether a text that is the whole value stands in quotes.
    pub(crate) quotes: bool,
    /// Whether fields with names of secrets are masked.
    pub(crate) masked: bool,
    /// Whether the object that was asked for is told by its fields, whatever it is.
    pub(crate) raw: bool,
    /// Whether values are written as those of variables: `Count = 2 { 1, 2 }`, `{ X = 1 }`, objects by their own lines.
    pub(crate) as_variables: bool,
    /// How deep inside the value that was asked for.
    pub(crate) level: u32,
    /// Whether it is an entry of a dictionary.
    pub(crate) keyed: bool,
}

impl Limits {
    /// Those of what lies inside.
    fn inner(self) -> Self {
        Self {
            depth: self.depth - 1,
            level: self.level + 1,
            quotes: true,
            keyed: false,
            ..self
        }
    }
}

impl Runner<'_, '_> {
    /// The value as C# would write it, as far as it has literals: `"text"`, `(1, 2)`, `[1, 2]`, `{X: 1}`, `{Type}`.
    pub(in crate::expressions) fn describe(
        &mut self,
        value: &Val,
        ty: &Type,
        limits: Limits,
        span: Span,
    ) -> Result<String> {
        if let Val::Object(object) = value
            && limits.raw
            && limits.level == 0
            && object.ty != Type::STRING
            && object.ty.element().is_none()
            && self.reader.unboxed(object).is_none()
        {
            return self.describe_fields(&object.clone(), limits, span);
        }
        if let Some(line) = self.line_of_variable(value, limits) {
            return Ok(line);
        }
        let inner = self.types.nullable_of(ty).unwrap_or_else(|| ty.clone());
        Ok(match value {
            Val::Null => "null".into(),
            Val::Scalar(Scalar::Bool(value)) => value.to_string(),
            Val::Scalar(Scalar::Int(Kind::Char, unit)) => {
                let letter = scalar::quoted_char(*unit as u16);
                match (limits.numbers, limits.hex) {
                    (true, true) => format!("0x{unit:04x} {letter}"),
                    (true, false) => format!("{unit} {letter}"),
                    _ => letter,
                }
            }
            Val::Scalar(Scalar::String(units)) => cut(units, limits),
            Val::Scalar(Scalar::Int(kind, number)) if limits.hex && kind.size() <= 8 => {
                let (digits, bits) = (2 * kind.size(), 8 * kind.size());
                let number = number & ((1_i128 << bits) - 1);
                format!("0x{number:0digits$x}")
            }
            Val::Scalar(Scalar::Int(_, address))
                if matches!(inner, Type::Pointer(_) | Type::Function(_)) =>
            {
                match *address as u64 {
                    0 => "null".into(),
                    address => format!("0x{address:x}"),
                }
            }
            Val::Scalar(number) if limits.numbers => scalar::text(number),
            Val::Scalar(number) => {
                let bytes = number.to_bytes().filter(|_| limits.as_variables);
                match bytes.filter(|_| self.reader.known(&inner) == Known::Enum) {
                    Some(bytes) => self.line_at(&self.reader.copied(inner, bytes), limits),
                    None => self
                        .enum_text(number, &inner)
                        .unwrap_or_else(|| scalar::text(number)),
                }
            }
            Val::Boxed(ty, inner) => {
                let (ty, inner) = (ty.clone(), inner.clone());
                self.describe(&inner, &ty, limits, span)?
            }
            Val::Object(object) if object.ty == Type::STRING => {
                let units = self.units(object, span)?;
                cut(&units, limits)
            }
            Val::Object(object) => match self.reader.unboxed(object) {
                Some(place) => {
                    let ty = object.ty.clone();
                    let inner = self.decode(&place, span)?;
                    self.describe(&inner, &ty, limits, span)?
                }
                None if self.is_readable_sequence(&object.ty) && limits.depth > 0 => {
                    // Only as many as are shown are read, of however many there are.
                    let (items, count) = match self.first_items(object, limits.elements, span)? {
                        Some(first) => first,
                        None => {
                            let items = self.items_of(value, span)?;
                            let count = items.len();
                            (items, count)
                        }
                    };
                    let ty = object.ty.clone();
                    self.describe_items((&items, count), &ty, limits, span)?
                }
                None if self.is_anonymous(&object.ty) => {
                    let object = object.clone();
                    self.describe_anonymous(&object, limits, span)?
                }
                None => format!("{{{}}}", self.types.full_text(&object.ty)),
            },
            Val::Struct(place) => self.describe_struct(place, limits, span)?,
            Val::Made(made) => match &**made {
                Made::Type(ty) => self.types.full_text(ty),
                Made::Span(_, text) => self.describe(&text.clone(), &Type::STRING, limits, span)?,
                Made::Closure(..) | Made::Comparer(_) => {
                    format!("{{{}}}", self.types.full_text(ty))
                }
                Made::Default(ty) => {
                    let ty = ty.clone();
                    if let Some(text) = self.zero_of_framework(&ty) {
                        return Ok(text);
                    }
                    let mut parts = Vec::new();
                    for (name, ty) in self.instance_fields(&ty) {
                        let zero = self.default(&ty);
                        parts.push((shown_name(&name), zero, ty));
                    }
                    self.describe_parts(&ty, parts, limits, span)?
                }
                Made::Fields(ty, fields) => {
                    let types: Vec<(String, Type)> = self.instance_fields(ty);
                    let parts = fields
                        .iter()
                        .map(|(name, value)| {
                            let ty = types
                                .iter()
                                .find(|(it, _)| **it == **name)
                                .map_or(Type::OBJECT, |(_, ty)| ty.clone());
                            (shown_name(name), value.clone(), ty)
                        })
                        .collect();
                    let ty = ty.clone();
                    self.describe_parts(&ty, parts, limits, span)?
                }
                Made::Lazy(_) => {
                    let settled = self.settled(value.clone(), span)?;
                    self.describe(&settled, ty, limits, span)?
                }
                Made::Sequence(ty, items, _) => {
                    let (ty, items) = (ty.clone(), items.clone());
                    self.describe_items((&items, items.len()), &ty, limits, span)?
                }
                Made::Index(_, number, from_end) => {
                    format!("{}{number}", if *from_end { "^" } else { "" })
                }
                Made::Range(_, start, end) => {
                    let end_of = |it: &Option<(i64, bool)>, missing: &str| match it {
                        Some((number, true)) => format!("^{number}"),
                        Some((number, false)) => number.to_string(),
                        None => missing.into(),
                    };
                    format!("{}..{}", end_of(start, "0"), end_of(end, "^0"))
                }
            },
        })
    }

    pub(in crate::expressions) fn is_readable_sequence(&self, ty: &Type) -> bool {
        ty.element().is_some()
            || ty.as_named().is_some_and(|it| {
                ["List`1", "Dictionary`2", "HashSet`1"]
                    .iter()
                    .any(|name| self.types.is_named(it, "System.Collections.Generic", name))
            })
    }

    /// Whether it is a sequence that has no text of its own.
    pub(in crate::expressions) fn is_bare_sequence(&self, value: &Val, exact: &Type) -> bool {
        if let Val::Made(made) = value {
            return matches!(**made, Made::Lazy(_));
        }
        let enumerable = self.types.core_named("System.Collections", "IEnumerable");
        let all = self.types.interfaces(exact).unwrap_or_default();
        enumerable.is_some_and(|it| all.contains(&it)) && self.has_no_text(exact)
    }

    /// The first elements of a sequence, which is enumerated no further. Nothing where only code could tell them, and none `calls`.
    pub(in crate::expressions) fn first_elements(
        &mut self,
        value: &Val,
        exact: &Type,
        limits: Limits,
        calls: bool,
        span: Span,
    ) -> Result<Option<String>> {
        let viewed = match value {
            Val::Object(object) => self.viewed_up_to(object, None, limits.elements as u64, span)?,
            _ => None,
        };
        let most = limits.elements;
        let (items, is_cut) = match viewed {
            Some((items, count)) => {
                let told = self.describe_items((&items, count), exact, limits, span)?;
                return Ok(Some(told));
            }
            None if !calls && !matches!(value, Val::Made(_)) => return Ok(None),
            None => self.consume(value, span, |this, pull| {
                let mut items = Vec::new();
                while items.len() < most
                    && let Some(item) = pull(this)?
                {
                    items.push(item);
                }
                let is_cut = items.len() == most && pull(this)?.is_some();
                Ok((items, is_cut))
            })?,
        };
        let element = self.element_of(exact);
        let mut told = Vec::new();
        for item in &items {
            told.push(self.describe(item, &element, limits.inner(), span)?);
        }
        told.extend(is_cut.then(|| "…".to_owned()));
        Ok(Some(format!("[{}]", told.join(", "))))
    }

    fn element_of(&self, ty: &Type) -> Type {
        if let Some(element) = ty.element() {
            return element.clone();
        }
        let all = self.types.interfaces(ty).unwrap_or_default();
        let namespace = "System.Collections.Generic";
        let sequence = all
            .iter()
            .find(|it| self.types.is_named(it, namespace, "IEnumerable`1"));
        let arguments = sequence.or(ty.as_named()).map(|it| &*it.arguments);
        match arguments {
            Some([one]) => one.clone(),
            _ => Type::OBJECT,
        }
    }

    fn instance_fields(&self, ty: &Type) -> Vec<(String, Type)> {
        let Some(named) = ty.as_named() else {
            return Vec::new();
        };
        let fields = self.types.fields(named);
        fields
            .iter()
            .flat_map(|all| all.iter())
            .filter(|it| !it.flags.is_static())
            .map(|it| (it.name.to_string(), it.ty.clone()))
            .collect()
    }

    fn describe_struct(&mut self, place: &Value, limits: Limits, span: Span) -> Result<String> {
        let ty = place.ty.clone();
        if limits.depth == 0 {
            return Ok(format!("{{{}}}", self.types.full_text(&ty)));
        }
        if let Some(text) = framework_text(self.reader, place) {
            return Ok(text);
        }
        let members = self
            .reader
            .struct_members(&ty)
            .map_err(|why| self.unreadable(&why, span))?;
        let mut parts = Vec::new();
        for member in members.iter() {
            let field = self
                .reader
                .struct_member(place, member)
                .map_err(|why| self.unreadable(&why, span))?;
            let value = self.decode(&field, span)?;
            let name = shown_name(&member.field.name);
            parts.push((name, value, member.field.ty.clone()));
        }
        self.describe_parts(&ty, parts, limits, span)
    }

    /// A time or id whose bytes are all zero.
    fn zero_of_framework(&self, ty: &Type) -> Option<String> {
        let size = self.reader.size_of(ty).ok()? as usize;
        let zero = self.reader.copied(ty.clone(), vec![0; size.min(64)]);
        framework_text(self.reader, &zero)
    }

    fn describe_anonymous(
        &mut self,
        object: &crate::values::Object,
        limits: Limits,
        span: Span,
    ) -> Result<String> {
        let parts = self.fields_of(object, span)?;
        self.describe_parts(&object.ty, parts, limits, span)
    }

    /// An object as its fields are.
    fn describe_fields(
        &mut self,
        object: &crate::values::Object,
        limits: Limits,
        span: Span,
    ) -> Result<String> {
        let mut told = Vec::new();
        for (name, value, ty) in self.fields_of(object, span)? {
            let text = match limits.masked && is_secret(&name) {
                true => "***".to_owned(),
                false => self.describe(&value, &ty, limits.inner(), span)?,
            };
            told.push(format!("{name} = {text}"));
        }
        let ty = self.types.full_text(&object.ty);
        Ok(format!("{{{ty}}} {{ {} }}", told.join(", ")))
    }

    /// The fields of an object by the names that they are shown with.
    fn fields_of(
        &mut self,
        object: &crate::values::Object,
        span: Span,
    ) -> Result<Vec<(String, Val, Type)>> {
        let members = self
            .reader
            .members(object)
            .map_err(|why| self.unreadable(&why, span))?;
        let mut parts = Vec::new();
        for member in members.iter() {
            let value = self.reader.member(object, member);
            let value = self.decode(&value, span)?;
            let name = shown_name(&member.field.name);
            parts.push((name, value, member.field.ty.clone()));
        }
        Ok(parts)
    }

    fn describe_parts(
        &mut self,
        ty: &Type,
        parts: Vec<(String, Val, Type)>,
        limits: Limits,
        span: Span,
    ) -> Result<String> {
        let of = ty;
        let is_anonymous = self.is_anonymous(ty);
        if ty.is_reference() && !is_anonymous || limits.depth == 0 {
            return Ok(format!("{{{}}}", self.types.full_text(ty)));
        }
        let is_tuple = self.types.tuple_elements(ty).is_some_and(|it| it.len() > 1);
        let inner = limits.inner();
        let mut told = Vec::new();
        let parts = self.flat_tuple(is_tuple, parts, span)?;
        for (name, value, ty) in &parts {
            let is_secret = || {
                is_secret(name) || self.is_secret_pair(&parts, name) || self.names_secrets(of, name)
            };
            let text = if limits.masked && is_secret() {
                "***".to_owned()
            } else {
                self.describe(value, ty, inner, span)?
            };
            told.push(if is_tuple {
                text
            } else if is_anonymous || limits.as_variables {
                format!("{name} = {text}")
            } else {
                format!("{name}: {text}")
            });
        }
        if let (true, true, [key, value]) = (limits.as_variables, self.is_pair(ty), &*told) {
            let text = |part: &str, name: &str| part.strip_prefix(name).unwrap_or(part).to_owned();
            let (key, value) = (text(key, "key = "), text(value, "value = "));
            return Ok(match limits.keyed {
                true => format!("[{key}] = {value}"),
                false => format!("[{key}, {value}]"),
            });
        }
        let joined = told.join(", ");
        Ok(if is_tuple {
            format!("({joined})")
        } else if is_anonymous || limits.as_variables {
            format!("{{ {joined} }}")
        } else {
            format!("{{{joined}}}")
        })
    }

    /// Whether the declaration of a field gives elements of tuples in it names of secrets: its value is not looked into for
    /// them.
    fn names_secrets(&self, of: &Type, name: &str) -> bool {
        let find = || {
            let named = of.as_named()?;
            let fields = self.types.fields(named).ok()?;
            let field = fields.iter().find(|it| shown_name(&it.name) == name)?;
            let metadata = self.types.metadata(named.module).ok()?.metadata();
            let names = TypeNotes::of(metadata, field.token).tuple_names;
            Some(names.iter().flatten().any(|it| is_secret(it)))
        };
        find().unwrap_or(false)
    }

    /// The elements of a long tuple in one row.
    fn flat_tuple(
        &mut self,
        is_tuple: bool,
        parts: Vec<(String, Val, Type)>,
        span: Span,
    ) -> Result<Vec<(String, Val, Type)>> {
        let has_rest = parts.last().is_some_and(|(name, ..)| name == "Rest");
        if !is_tuple || !has_rest {
            return Ok(parts);
        }
        let mut flat = parts;
        let Some((name, rest, ty)) = flat.pop() else {
            return Ok(flat);
        };
        let elements = self.types.tuple_elements(&ty).unwrap_or_default();
        match self.tuple_parts(&[("Rest".into(), rest.clone())], span)? {
            Some(values) => {
                let named = values.into_iter().zip(elements).enumerate();
                flat.extend(named.map(|(at, (value, ty))| (format!("Item{}", at + 8), value, ty)));
            }
            None => flat.push((name, rest, ty)),
        }
        Ok(flat)
    }

    /// What has a place in the program as its line is written where it is a variable, unless it is the value that was asked
    /// for: of that more is told.
    fn line_of_variable(&self, value: &Val, limits: Limits) -> Option<String> {
        let place = match value {
            Val::Object(object) if object.ty == Type::STRING => return None,
            Val::Object(object) if limits.level > 0 || !self.is_row(&object.ty) => {
                self.reader.reference_to(object)
            }
            Val::Struct(place) => place.clone(),
            _ => return None,
        };
        // Of these the text says which it is, and the line comes with the value.
        let is_plain = !self.is_readable_sequence(&place.ty);
        if !limits.as_variables || (limits.level == 0 && is_plain) {
            return None;
        }
        Some(self.line_at(&place, limits))
    }

    /// What has a place in the program and cannot be read through, by the line of a variable.
    pub(in crate::expressions) fn line_of_damaged(
        &self,
        value: &Val,
        limits: Limits,
    ) -> Option<String> {
        let place = match value {
            Val::Object(object) => self.reader.reference_to(object),
            Val::Struct(place) => place.clone(),
            _ => return None,
        };
        Some(self.line_at(&place, limits))
    }

    fn line_at(&self, place: &Value, limits: Limits) -> String {
        let view = crate::api::View {
            hex: limits.hex,
            elements: limits.counted.then_some(limits.elements as u64),
            mask_secrets: limits.masked,
            text_length: u32::try_from(limits.text).unwrap_or(u32::MAX),
            ..crate::api::View::default()
        };
        let ids = ObjectIds::default();
        let viewer = Viewer::new(self.reader, &view, &ids);
        viewer.line_within(place, limits.level)
    }

    fn is_pair(&self, ty: &Type) -> bool {
        let namespace = "System.Collections.Generic";
        ty.as_named()
            .is_some_and(|it| self.types.is_named(it, namespace, "KeyValuePair`2"))
    }

    /// Whether it is a row of elements without keys.
    fn is_row(&self, ty: &Type) -> bool {
        let is_map = || ty.as_named().is_some_and(|it| it.arguments.len() == 2);
        self.is_readable_sequence(ty) && !matches!(ty, Type::Array { .. }) && !is_map()
    }

    /// The first of so many elements of a sequence.
    fn describe_items(
        &mut self,
        (items, count): (&[Val], usize),
        ty: &Type,
        limits: Limits,
        span: Span,
    ) -> Result<String> {
        let measure = match ty.element() {
            Some(_) => "Length",
            None => "Count",
        };
        if limits.depth == 0 {
            return Ok(match limits.as_variables {
                true => format!("{measure} = {count}"),
                false => format!("[{count} elements]"),
            });
        }
        let element = &self.element_of(ty);
        let inner = Limits {
            keyed: self.is_readable_sequence(ty) && ty.element().is_none() && !self.is_row(ty),
            ..limits.inner()
        };
        let mut told = Vec::new();
        for item in items.iter().take(limits.elements) {
            told.push(self.describe(item, element, inner, span)?);
        }
        let left = count.saturating_sub(limits.elements);
        if left > 0 {
            told.push(format!("… {left} more"));
        }
        let told = told.join(", ");
        Ok(match (limits.as_variables, count) {
            (true, 0) => format!("{measure} = 0"),
            (true, _) => format!("{measure} = {count} {{ {told} }}"),
            (false, _) => format!("[{told}]"),
        })
    }
}

/// The name of a field as the user wrote it: a property's for the field behind it.
fn shown_name(field: &str) -> String {
    // Members of anonymous types are `<Name>i__Field`.
    if let Some((name, "i__Field")) = field.strip_prefix('<').and_then(|it| it.split_once('>')) {
        return name.to_owned();
    }
    field_display_name(field).map_or_else(|| field.to_owned(), |it| it.to_string())
}

/// Times and ids are told as they are anywhere else, not by their fields.
fn framework_text(reader: &Reader<'_>, place: &Value) -> Option<String> {
    let view = crate::api::View::default();
    let ids = ObjectIds::default();
    Viewer::new(reader, &view, &ids).simple_text(place)
}

fn cut(units: &[u16], limits: Limits) -> String {
    if !limits.quotes {
        return match units.get(..limits.text) {
            Some(shown) if units.len() > limits.text => format!(
                "{}… ({} characters)",
                String::from_utf16_lossy(shown),
                units.len()
            ),
            _ => String::from_utf16_lossy(units),
        };
    }
    match units.get(..limits.text) {
        Some(shown) if units.len() > limits.text => {
            format!("{}… ({} characters)", scalar::quoted(shown), units.len())
        }
        _ => scalar::quoted(units),
    }
}
