//! Members of strings that compare by units or work on ASCII, where no culture matters.

use std::rc::Rc;

use syntax::Span;

use super::{Made, Result, Runner, Val, integer, null_reference, throwing};
use crate::expressions::error::Fail;
use crate::expressions::plan::Callee;
use crate::expressions::scalar::{Kind, Scalar};
use crate::types::Type;
use crate::values::Value;

/// Modes of `StringComparison`.
const ORDINAL: i128 = 4;
const IGNORING_CASE: i128 = 5;

/// An argument as strings take it.
enum Piece {
    Text(Rc<[u16]>),
    Char(u16),
    Number(i128),
    Null,
    Other,
}

impl Runner<'_, '_> {
    /// What a span of the program leads to.
    fn span_items(&mut self, whole: &Val, place: &Value, span: Span) -> Result<Vec<Val>> {
        let length = self.reader.field(place, "_length");
        let length = length.map_err(|why| self.unreadable(&why, span))?;
        let length = integer(&self.decode(&length, span)?).unwrap_or(0);
        self.room_for_text(usize::try_from(length).unwrap_or(0), span)?;
        let mut items = Vec::new();
        for index in 0..length {
            self.tick(span)?;
            items.push(self.element(whole, &[index], span)?);
        }
        Ok(items)
    }

    /// The letters that a span of characters leads to; `None` if the value is none.
    fn letters_of_span(&mut self, value: &Val, span: Span) -> Result<Option<Vec<u16>>> {
        let is_span = |this: &Self, ty: &Type| {
            ty.as_named().is_some_and(|it| {
                let is = |name| this.types.is_named(it, "System", name);
                is("ReadOnlySpan`1") || is("Span`1")
            })
        };
        let items = match value {
            Val::Made(made) => match &**made {
                Made::Span(_, text) => {
                    let units = self.string_of(text, span)?.unwrap_or_default();
                    return Ok(Some(units.to_vec()));
                }
                Made::Default(ty) if is_span(self, ty) => return Ok(Some(Vec::new())),
                _ => return Ok(None),
            },
            Val::Struct(place) if is_span(self, &place.ty) => {
                self.span_items(value, place, span)?
            }
            _ => return Ok(None),
        };
        let units = items.iter().filter_map(integer).map(|it| it as u16);
        Ok(Some(units.collect()))
    }

    /// The length of a string of the program, or one character of it: however long it is, no more is read.
    fn part_of_string(
        &mut self,
        name: &str,
        target: &Val,
        pieces: &[Piece],
        span: Span,
    ) -> Result<Option<Val>> {
        let object = match target {
            Val::Object(object) if object.ty == Type::STRING => object,
            _ => return Ok(None),
        };
        let reader = self.reader;
        let length = reader.string_units(object, 0);
        let (_, length) = length.map_err(|why| self.unreadable(&why, span))?;
        match (name, pieces) {
            ("get_Length", _) => Ok(Some(Val::int(length.into()))),
            ("get_Chars", [Piece::Number(index)]) => {
                let index = u64::try_from(*index).ok().filter(|it| *it < length);
                // Out of range is told like that of a text that is only here.
                let Some(index) = index else { return Ok(None) };
                let letter = reader
                    .object_field(object, "_firstChar")
                    .and_then(|first| reader.offset(&first, index * 2, &first.ty));
                let letter = letter.map_err(|why| self.unreadable(&why, span))?;
                self.decode(&letter, span).map(Some)
            }
            _ => Ok(None),
        }
    }

    pub(super) fn string_member(
        &mut self,
        name: &str,
        target: Option<(&Val, &Type)>,
        arguments: &[Val],
        callee: &Callee,
        span: Span,
    ) -> Result<Option<Val>> {
        if let (None, [one, other], "op_Equality" | "op_Inequality" | "Equals") =
            (target, arguments, name)
            && let Some(same) = self.same_long_texts(one, other, span)?
        {
            return Ok(Some(Val::bool(same == (name != "op_Inequality"))));
        }
        if let Some((target, _)) = target
            && let Some(text) = self.text_length(target, span)?
            && let Some(found) = self.read_in_part(name, &text, arguments, span)?
        {
            return Ok(Some(found));
        }
        // The program has room for what is too long to be evaluated here.
        let all = target.iter().map(|(target, _)| *target).chain(arguments);
        for value in all {
            if self.around.calls && self.long_text(value, span)?.is_some() {
                return Ok(None);
            }
        }
        let mut pieces = Vec::new();
        for argument in arguments {
            pieces.push(match self.as_scalar(argument.clone(), span)? {
                Val::Null => Piece::Null,
                Val::Scalar(Scalar::String(units)) => Piece::Text(units),
                Val::Scalar(Scalar::Int(Kind::Char, unit)) => Piece::Char(unit as u16),
                Val::Scalar(Scalar::Int(Kind::Int, number)) => Piece::Number(number),
                _ => Piece::Other,
            });
        }
        let Some((target, _)) = target else {
            return self.static_string(name, arguments, &pieces, callee, span);
        };
        if matches!(target, Val::Null) {
            return Err(null_reference(span));
        }
        if let Some(found) = self.part_of_string(name, target, &pieces, span)? {
            return Ok(Some(found));
        }
        let Some(text) = self.string_of(target, span)? else {
            return Ok(None);
        };
        if let [Piece::Text(other), Piece::Number(mode)] = pieces.as_slice()
            && takes_mode(callee)
        {
            return Ok(ordinal(name, &text, other, *mode));
        }
        let length = text.len();
        let at = |number: i128| usize::try_from(number).ok().filter(|it| *it <= length);
        Ok(match (name, pieces.as_slice()) {
            ("get_Length", _) => Some(Val::int(length as i128)),
            ("get_Chars", [Piece::Number(index)]) => {
                match usize::try_from(*index).ok().and_then(|it| text.get(it)) {
                    Some(unit) => Some(Val::Scalar(Scalar::Int(Kind::Char, (*unit).into()))),
                    None => {
                        return Err(Fail::thrown(
                            span,
                            "System.IndexOutOfRangeException",
                            Some("Index was outside the bounds of the array.".into()),
                        )
                        .into());
                    }
                }
            }
            ("ToString", []) => Some(Val::Scalar(Scalar::String(text))),
            ("Contains", [Piece::Text(wanted)]) => {
                Some(Val::bool(find(&text, wanted, 0).is_some()))
            }
            ("Contains", [Piece::Char(unit)]) => Some(Val::bool(text.contains(unit))),
            ("StartsWith", [Piece::Char(unit)]) => Some(Val::bool(text.first() == Some(unit))),
            ("EndsWith", [Piece::Char(unit)]) => Some(Val::bool(text.last() == Some(unit))),
            ("StartsWith", [Piece::Text(wanted)]) if self.alike(&text, wanted, span) => {
                Some(Val::bool(text.starts_with(wanted)))
            }
            ("EndsWith", [Piece::Text(wanted)]) if self.alike(&text, wanted, span) => {
                Some(Val::bool(text.ends_with(wanted)))
            }
            ("IndexOf", [Piece::Char(unit)]) => Some(Val::int(
                text.iter()
                    .position(|it| it == unit)
                    .map_or(-1, |it| it as i128),
            )),
            ("IndexOf", [Piece::Char(unit), Piece::Number(start)])
                if callee
                    .method
                    .parameters
                    .get(1)
                    .is_some_and(|it| it.ty == Type::INT) =>
            {
                let Some(rest) = at(*start).and_then(|it| text.get(it..)) else {
                    return Ok(None);
                };
                let found = rest.iter().position(|it| it == unit);
                Some(Val::int(found.map_or(-1, |it| it as i128 + start)))
            }
            (
                "IndexOf",
                [
                    Piece::Text(wanted),
                    Piece::Number(start),
                    Piece::Number(ORDINAL),
                ],
            ) if callee
                .method
                .parameters
                .get(2)
                .is_some_and(|it| it.ty != Type::INT) =>
            {
                match at(*start) {
                    Some(start) => Some(Val::int(
                        find(&text, wanted, start).map_or(-1, |it| it as i128),
                    )),
                    None => return Ok(None),
                }
            }
            ("Contains" | "IndexOf", [Piece::Char(unit), Piece::Number(mode)])
                if takes_mode(callee) =>
            {
                ordinal(name, &text, &[*unit], *mode)
            }
            ("IndexOfAny", [Piece::Other]) => match arguments {
                [array] => {
                    let wanted = self.items_of(array, span)?;
                    let wanted: Vec<i128> = wanted.iter().filter_map(integer).collect();
                    let found = text.iter().position(|it| wanted.contains(&i128::from(*it)));
                    Some(Val::int(found.map_or(-1, |it| it as i128)))
                }
                _ => None,
            },
            ("Trim" | "TrimStart" | "TrimEnd", [Piece::Other]) => match arguments {
                [array] => {
                    let goes = self.items_of(array, span)?;
                    let goes: Vec<i128> = goes.iter().filter_map(integer).collect();
                    match goes.is_empty() {
                        true => Some(trimmed(&text, name, is_space)),
                        false => Some(trimmed(&text, name, |it| goes.contains(&it.into()))),
                    }
                }
                _ => None,
            },
            ("IndexOf", [Piece::Text(wanted)]) if self.alike(&text, wanted, span) => {
                Some(Val::int(find(&text, wanted, 0).map_or(-1, |it| it as i128)))
            }
            ("LastIndexOf", [Piece::Char(unit)]) => Some(Val::int(
                text.iter()
                    .rposition(|it| it == unit)
                    .map_or(-1, |it| it as i128),
            )),
            ("Substring", [Piece::Number(start)]) => match at(*start) {
                Some(start) => Some(Val::units(text.get(start..).unwrap_or_default().to_vec())),
                None => {
                    let count = length as i128 - start;
                    return Err(throwing::no_substring(span, length, *start, count));
                }
            },
            ("Substring", [Piece::Number(start), Piece::Number(count)]) => {
                match (at(*start), at(*start + *count)) {
                    (Some(start), Some(end)) if end >= start => Some(Val::units(
                        text.get(start..end).unwrap_or_default().to_vec(),
                    )),
                    _ => return Err(throwing::no_substring(span, length, *start, *count)),
                }
            }
            ("Remove", [Piece::Number(start)]) => match at(*start) {
                Some(start) => Some(Val::units(text.get(..start).unwrap_or_default().to_vec())),
                None => return Err(throwing::not_removed(span, length, *start, None)),
            },
            ("Remove", [Piece::Number(start), Piece::Number(count)]) => {
                match (at(*start), at(*start + *count)) {
                    (Some(start), Some(end)) if end >= start => {
                        let mut units = text.get(..start).unwrap_or_default().to_vec();
                        units.extend_from_slice(text.get(end..).unwrap_or_default());
                        Some(Val::units(units))
                    }
                    _ => return Err(throwing::not_removed(span, length, *start, Some(*count))),
                }
            }
            ("Insert", [Piece::Number(start), Piece::Text(more)]) => match at(*start) {
                Some(start) => {
                    let mut units = text.to_vec();
                    units.splice(start..start, more.iter().copied());
                    Some(Val::units(units))
                }
                None => {
                    // The framework looks at it as a number without sign.
                    let start = i128::from(*start as u32);
                    return Err(throwing::too_large(
                        span,
                        "startIndex",
                        start,
                        length as i128,
                    ));
                }
            },
            ("Replace", [Piece::Char(old), Piece::Char(new)]) => Some(Val::units(
                text.iter()
                    .map(|it| if it == old { *new } else { *it })
                    .collect(),
            )),
            ("Replace", [Piece::Text(old), new @ (Piece::Text(_) | Piece::Null)])
                if !old.is_empty() =>
            {
                let new: &[u16] = match new {
                    Piece::Text(new) => new,
                    _ => &[],
                };
                let mut units = Vec::new();
                let mut from = 0;
                while let Some(found) = find(&text, old, from) {
                    units.extend_from_slice(text.get(from..found).unwrap_or_default());
                    units.extend_from_slice(new);
                    self.room_for_text(units.len(), span)?;
                    from = found + old.len();
                }
                units.extend_from_slice(text.get(from..).unwrap_or_default());
                Some(Val::units(units))
            }
            ("Trim" | "TrimStart" | "TrimEnd", []) => Some(trimmed(&text, name, is_space)),
            ("Trim" | "TrimStart" | "TrimEnd", [Piece::Char(unit)]) => {
                Some(trimmed(&text, name, |it| it == *unit))
            }
            ("PadLeft" | "PadRight", [Piece::Number(width), rest @ ..]) => {
                let with = match rest {
                    [Piece::Char(unit)] => *unit,
                    _ => u16::from(b' '),
                };
                let missing = usize::try_from(*width)
                    .map_err(|_| throwing::negative(span, "totalWidth", *width))?
                    .saturating_sub(length);
                if missing > 1 << 20 {
                    return Ok(None);
                }
                let fill = std::iter::repeat_n(with, missing);
                Some(Val::units(if name == "PadLeft" {
                    fill.chain(text.iter().copied()).collect()
                } else {
                    text.iter().copied().chain(fill).collect()
                }))
            }
            ("ToUpper" | "ToLower", []) if !self.alike(&text, &[], span) => None,
            ("ToUpper" | "ToUpperInvariant", []) if plain(&text) => {
                Some(Val::units(text.iter().map(|it| upper(*it)).collect()))
            }
            ("ToLower" | "ToLowerInvariant", []) if plain(&text) => {
                Some(Val::units(text.iter().map(|it| lower(*it)).collect()))
            }
            ("Equals", [Piece::Text(other)]) => Some(Val::bool(text == *other)),
            ("Equals", [Piece::Null]) => Some(Val::bool(false)),
            ("ToCharArray", []) => {
                for _ in text.iter() {
                    self.item(span)?;
                }
                let items = text
                    .iter()
                    .map(|it| Val::Scalar(Scalar::Int(Kind::Char, (*it).into())))
                    .collect();
                Some(Val::sequence(callee.method.returns.clone(), items))
            }
            _ => None,
        })
    }

    /// Whether the thread's culture takes two texts for what they are, unit by unit.
    fn alike(&mut self, one: &[u16], other: &[u16], span: Span) -> bool {
        plain(one) && plain(other) && self.has_plain_culture(span)
    }

    fn static_string(
        &mut self,
        name: &str,
        arguments: &[Val],
        pieces: &[Piece],
        callee: &Callee,
        span: Span,
    ) -> Result<Option<Val>> {
        Ok(match (name, pieces) {
            ("op_Equality" | "Equals", [a, b]) => same(a, b).map(Val::bool),
            ("op_Inequality", [a, b]) => same(a, b).map(|it| Val::bool(!it)),
            ("IsNullOrEmpty", [Piece::Null]) | ("IsNullOrWhiteSpace", [Piece::Null]) => {
                Some(Val::bool(true))
            }
            ("IsNullOrEmpty", [Piece::Text(text)]) => Some(Val::bool(text.is_empty())),
            ("IsNullOrWhiteSpace", [Piece::Text(text)]) => {
                Some(Val::bool(text.iter().all(|it| is_space(*it))))
            }
            ("Equals", [a, b, Piece::Number(mode @ (ORDINAL | IGNORING_CASE))]) => {
                compared(a, b, *mode == IGNORING_CASE).map(|it| Val::bool(it == 0))
            }
            ("CompareOrdinal", [a, b]) => compared(a, b, false).map(Val::int),
            ("Compare", [a, b, Piece::Number(mode @ (ORDINAL | IGNORING_CASE))]) => {
                compared(a, b, *mode == IGNORING_CASE).map(Val::int)
            }
            (".ctor", [Piece::Char(unit), Piece::Number(count)]) => {
                let Ok(count) = usize::try_from(*count) else {
                    return Err(throwing::negative(span, "count", *count));
                };
                self.room_for_text(count, span)?;
                Some(Val::units(vec![*unit; count]))
            }
            (".ctor", [Piece::Other, Piece::Number(start), Piece::Number(length)]) => {
                let [array @ (Val::Made(_) | Val::Object(_)), ..] = arguments else {
                    return Ok(None);
                };
                let items = self.items_of(array, span)?;
                let part = usize::try_from(*start)
                    .ok()
                    .zip(usize::try_from(*length).ok());
                let part =
                    part.and_then(|(start, length)| items.get(start..start.checked_add(length)?));
                match part {
                    Some(part) => {
                        let units = part.iter().filter_map(integer);
                        Some(Val::units(units.map(|it| it as u16).collect()))
                    }
                    None => {
                        return Err(throwing::no_letters(span, items.len(), *start, *length));
                    }
                }
            }
            (".ctor", [Piece::Null]) => Some(Val::text("")),
            (".ctor", [Piece::Other]) => match arguments {
                [Val::Made(made)] if let Made::Span(_, text) = &**made => {
                    let units = self.string_of(text, span)?.unwrap_or_default();
                    Some(Val::units(units.to_vec()))
                }
                [array @ (Val::Made(_) | Val::Object(_) | Val::Struct(_))] => {
                    let items = match array {
                        Val::Struct(place) => self.span_items(array, place, span)?,
                        array => self.items_of(array, span)?,
                    };
                    Some(Val::units(
                        items
                            .iter()
                            .filter_map(integer)
                            .map(|it| it as u16)
                            .collect(),
                    ))
                }
                _ => return Err(no_string(span)),
            },
            // The runtime makes strings for a debugger by their text only.
            (".ctor", _) => return Err(no_string(span)),
            ("Concat", _) => {
                let flat = match (arguments, callee.method.parameters.first().map(|it| &it.ty)) {
                    ([one], Some(Type::SzArray(_) | Type::Named(_))) => self.items_of(one, span)?,
                    _ => arguments.to_vec(),
                };
                let declared = element_of(callee);
                let mut units = Vec::new();
                for item in flat {
                    match self.letters_of_span(&item, span)? {
                        Some(letters) => units.extend(letters),
                        None => units.extend(self.text_of(&item, &declared, span)?),
                    }
                    self.room_for_text(units.len(), span)?;
                }
                Some(Val::units(units))
            }
            ("Join", [separator, _, ..]) if arguments.len() == 2 => {
                let separator: Vec<u16> = match separator {
                    Piece::Text(text) => text.to_vec(),
                    Piece::Char(unit) => vec![*unit],
                    Piece::Null => Vec::new(),
                    _ => return Ok(None),
                };
                let Some(sequence) = arguments.get(1) else {
                    return Ok(None);
                };
                let declared = element_of(callee);
                let mut units = Vec::new();
                for (index, item) in self.items_of(sequence, span)?.into_iter().enumerate() {
                    if index > 0 {
                        units.extend_from_slice(&separator);
                    }
                    units.extend(self.text_of(&item, &declared, span)?);
                    self.room_for_text(units.len(), span)?;
                }
                Some(Val::units(units))
            }
            _ => None,
        })
    }
}

/// The type of the elements that `Join<T>` and `Concat<T>` take: an enum's number alone does not tell its name.
fn element_of(callee: &Callee) -> Type {
    let first = callee.arguments.first();
    first.cloned().unwrap_or(Type::OBJECT)
}

fn same(a: &Piece, b: &Piece) -> Option<bool> {
    match (a, b) {
        (Piece::Text(a), Piece::Text(b)) => Some(a == b),
        (Piece::Null, Piece::Null) => Some(true),
        (Piece::Null, Piece::Text(_)) | (Piece::Text(_), Piece::Null) => Some(false),
        _ => None,
    }
}

/// Whether the second parameter is a `StringComparison`.
fn takes_mode(callee: &Callee) -> bool {
    let second = callee.method.parameters.get(1);
    second.is_some_and(|it| it.ty.as_named().is_some())
}

/// What is asked of two texts unit by unit, in a mode of `StringComparison`; letters without regard to case only in ASCII.
fn ordinal(name: &str, text: &[u16], other: &[u16], mode: i128) -> Option<Val> {
    let is_ascii = |text: &[u16]| text.iter().all(|it| *it < 0x80);
    let (text, other) = match mode {
        ORDINAL => (text.to_vec(), other.to_vec()),
        IGNORING_CASE if is_ascii(text) && is_ascii(other) => (
            text.iter().copied().map(upper).collect(),
            other.iter().copied().map(upper).collect(),
        ),
        _ => return None,
    };
    Some(match name {
        "Equals" => Val::bool(text == other),
        "StartsWith" => Val::bool(text.starts_with(&other)),
        "EndsWith" => Val::bool(text.ends_with(&other)),
        "Contains" => Val::bool(find(&text, &other, 0).is_some()),
        "IndexOf" => Val::int(find(&text, &other, 0).map_or(-1, |it| it as i128)),
        _ => return None,
    })
}

/// How two texts compare unit by unit: by how much the first ones that differ do so, or the lengths.
fn compared(a: &Piece, b: &Piece, ignores_case: bool) -> Option<i128> {
    let (a, b) = match (a, b) {
        (Piece::Text(a), Piece::Text(b)) => (a, b),
        (Piece::Null, Piece::Null) => return Some(0),
        (Piece::Null, Piece::Text(_)) => return Some(-1),
        (Piece::Text(_), Piece::Null) => return Some(1),
        _ => return None,
    };
    let lengths = a.len() as i128 - b.len() as i128;
    if ignores_case {
        if a.iter().chain(b.iter()).any(|it| *it >= 0x80) {
            return None;
        }
        let differ = a.iter().zip(b.iter()).map(|(a, b)| (upper(*a), upper(*b)));
        let mut differ = differ.filter(|(a, b)| a != b);
        return Some(
            differ
                .next()
                .map_or(lengths, |(a, b)| i128::from(a) - i128::from(b)),
        );
    }
    // Units are compared by twos, where a text has a zero behind its end.
    let shorter = a.len().min(b.len());
    let compared = (shorter + shorter % 2).max(1);
    let unit = |it: &[u16], at: usize| i128::from(it.get(at).copied().unwrap_or(0));
    let mut differ = (0..compared).map(|at| unit(a, at) - unit(b, at));
    Some(differ.find(|it| *it != 0).unwrap_or(lengths))
}

/// Text that nearly every culture compares alike: printable ASCII.
pub(super) fn plain(text: &[u16]) -> bool {
    text.iter().all(|it| (0x20..0x7f).contains(it))
}

fn is_space(unit: u16) -> bool {
    char::from_u32(unit.into()).is_some_and(char::is_whitespace)
}

fn upper(unit: u16) -> u16 {
    if (u16::from(b'a')..=u16::from(b'z')).contains(&unit) {
        unit - 32
    } else {
        unit
    }
}

fn lower(unit: u16) -> u16 {
    if (u16::from(b'A')..=u16::from(b'Z')).contains(&unit) {
        unit + 32
    } else {
        unit
    }
}

fn trimmed(text: &[u16], name: &str, goes: impl Fn(u16) -> bool) -> Val {
    let stays = |it: &u16| !goes(*it);
    let start = if name == "TrimEnd" {
        0
    } else {
        text.iter().position(stays).unwrap_or(text.len())
    };
    let end = if name == "TrimStart" {
        text.len()
    } else {
        text.iter().rposition(stays).map_or(start, |it| it + 1)
    };
    Val::units(text.get(start..end.max(start)).unwrap_or_default().to_vec())
}

fn find(text: &[u16], wanted: &[u16], from: usize) -> Option<usize> {
    if wanted.is_empty() {
        return Some(from);
    }
    let rest = text.get(from..)?;
    rest.windows(wanted.len())
        .position(|it| it == wanted)
        .map(|it| it + from)
}

fn no_string(span: Span) -> super::Interrupt {
    let told = "the debugger makes a string of a character and a count, of an array of characters, or of a span";
    Fail::new(span, told).into()
}
