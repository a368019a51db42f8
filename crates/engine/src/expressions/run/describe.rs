//! A value as text, by reading only: what a person or a test sees of a result.

use metadata::csharp::field_display_name;
use syntax::Span;

use super::{Made, Result, Runner, Val};
use crate::expressions::scalar::{self, Kind, Scalar};
use crate::types::Type;
use crate::values::view::secrets::is_secret;
use crate::values::view::{ObjectIds, Viewer};
use crate::values::{Reader, Value};

/// How much of a value is told.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Elements of a sequence.
    pub(crate) elements: usize,
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
            Val::Scalar(number) if limits.numbers => scalar::text(number),
            Val::Scalar(number) => self
                .enum_text(number, &inner)
                .unwrap_or_else(|| scalar::text(number)),
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
                    let element = self.element_of(&object.ty);
                    self.describe_items((&items, count), &element, limits, span)?
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
                    let element = self.element_of(ty);
                    let items = items.clone();
                    self.describe_items((&items, items.len()), &element, limits, span)?
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

    fn element_of(&self, ty: &Type) -> Type {
        if let Some(element) = ty.element() {
            return element.clone();
        }
        match ty.as_named().map(|it| &*it.arguments) {
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
        self.describe_parts(&object.ty, parts, limits, span)
    }

    fn describe_parts(
        &mut self,
        ty: &Type,
        parts: Vec<(String, Val, Type)>,
        limits: Limits,
        span: Span,
    ) -> Result<String> {
        let is_anonymous = self.is_anonymous(ty);
        if ty.is_reference() && !is_anonymous || limits.depth == 0 {
            return Ok(format!("{{{}}}", self.types.full_text(ty)));
        }
        let is_tuple = self.types.tuple_elements(ty).is_some_and(|it| it.len() > 1);
        let inner = Limits {
            depth: limits.depth - 1,
            quotes: true,
            ..limits
        };
        let mut told = Vec::new();
        let parts = self.flat_tuple(is_tuple, parts, span)?;
        for (name, value, ty) in &parts {
            let is_secret = || is_secret(name) || self.is_secret_pair(&parts, name);
            let text = if limits.masked && is_secret() {
                "***".to_owned()
            } else {
                self.describe(value, ty, inner, span)?
            };
            told.push(if is_tuple {
                text
            } else if is_anonymous {
                format!("{name} = {text}")
            } else {
                format!("{name}: {text}")
            });
        }
        let joined = told.join(", ");
        Ok(if is_tuple {
            format!("({joined})")
        } else if is_anonymous {
            format!("{{ {joined} }}")
        } else {
            format!("{{{joined}}}")
        })
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

    /// The first of so many elements.
    fn describe_items(
        &mut self,
        (items, count): (&[Val], usize),
        element: &Type,
        limits: Limits,
        span: Span,
    ) -> Result<String> {
        if limits.depth == 0 {
            return Ok(format!("[{count} elements]"));
        }
        let inner = Limits {
            depth: limits.depth - 1,
            quotes: true,
            ..limits
        };
        let mut told = Vec::new();
        for item in items.iter().take(limits.elements) {
            told.push(self.describe(item, element, inner, span)?);
        }
        let left = count.saturating_sub(limits.elements);
        if left > 0 {
            told.push(format!("… {left} more"));
        }
        Ok(format!("[{}]", told.join(", ")))
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
