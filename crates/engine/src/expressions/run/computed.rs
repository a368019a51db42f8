//! Members of the framework that make new dates and times, and those that look into tasks, builders, identifiers and
//! collections: computed from the fields that the framework has had since .NET Core 3.
//!
//! What is out of range, malformed or decided by a culture is left to the program (`None`), which throws or knows.

use syntax::Span;

use super::times::{DAY, HOUR, MILLISECOND, MINUTE, SECOND, date, first_day};
use super::{Made, Result, Runner, Val, integer};
use crate::expressions::error::Fail;
use crate::expressions::plan::{Callee, Node};
use crate::expressions::scalar::{Kind, Scalar};
use crate::types::Type;
use crate::values::Object;

/// The ticks of the last moment of year 9999.
const LAST: i128 = 3_155_378_975_999_999_999;
/// The bits of a date that say of what kind it is.
const KIND: u64 = 0xc000_0000_0000_0000;
/// Characters of a builder that are put together.
const MAX_BUILT: i128 = 1 << 20;

impl Runner<'_, '_> {
    /// A member that gives a new date or time.
    pub(super) fn time_made(
        &mut self,
        ty: &str,
        name: &str,
        target: Option<(&Val, &Type)>,
        arguments: &[Val],
        node: &Node,
    ) -> Result<Option<Val>> {
        let span = node.span;
        let mut given: Vec<(Val, Option<i128>)> = Vec::new();
        let target = target.map(|(value, _)| value.clone());
        let is_static = target.is_none();
        for value in target.into_iter().chain(arguments.iter().cloned()) {
            let ticks = self.ticks(&value, span)?;
            given.push((value, ticks));
        }
        let times: Vec<Option<i128>> = given.iter().map(|it| it.1).collect();
        let numbers: Vec<Option<i128>> = given.iter().map(|it| integer(&it.0)).collect();
        let kind = match given.first() {
            Some((Val::Struct(place), Some(_))) if ty == "System.DateTime" => {
                let bytes = self.reader.bytes(place, 8);
                let bytes = bytes.map_err(|why| self.unreadable(&why, span))?;
                bytes.first_chunk().map_or(0, |it| u64::from_le_bytes(*it)) & KIND
            }
            _ => 0,
        };
        let is_span = |index: usize| {
            let ty = given.get(index).and_then(|it| self.exact_type(&it.0));
            ty.and_then(|it| it.as_named().cloned())
                .is_some_and(|it| self.types.is_named(&it, "System", "TimeSpan"))
        };
        let whole = ty == "System.DateOnly";
        let made: Option<i128> = match (ty, name, &*times) {
            ("System.DateTime" | "System.DateOnly", ".ctor", _) if is_no_day(&numbers) => {
                let told = "Year, Month, and Day parameters describe an un-representable DateTime.";
                let thrown = "System.ArgumentOutOfRangeException";
                return Err(Fail::thrown(span, thrown, Some(told.into())).into());
            }
            (_, ".ctor", _) if is_static => created(ty, &numbers),
            ("System.DateTime", "get_Kind", [Some(_)]) => {
                return Ok(Some(Val::int(match kind >> 62 {
                    0 => 0,
                    1 => 1,
                    _ => 2,
                })));
            }
            ("System.DateTime", "get_Date", [Some(ticks)]) => Some(ticks - ticks % DAY),
            ("System.DateTime", "get_TimeOfDay", [Some(ticks)]) => {
                return Ok(Some(self.time(node, ticks % DAY, 0)));
            }
            ("System.DateTime", "IsLeapYear", [None]) => {
                let Some(Some(year @ 1..=9999)) = numbers.first() else {
                    return Ok(None);
                };
                return Ok(Some(Val::bool(days_in(*year, 2) == 29)));
            }
            ("System.DateTime", "DaysInMonth", [None, None]) => {
                let [Some(year @ 1..=9999), Some(month @ 1..=12)] = &*numbers else {
                    return Ok(None);
                };
                return Ok(Some(Val::int(days_in(*year, *month))));
            }
            ("System.DateTime", "op_Addition" | "Add", [Some(one), Some(other)]) => {
                Some(one + other)
            }
            ("System.DateTime", "op_Subtraction" | "Subtract", [Some(one), Some(other)]) => {
                if is_span(1) {
                    Some(one - other)
                } else {
                    return Ok(Some(self.time(node, one - other, 0)));
                }
            }
            ("System.DateTime" | "System.DateOnly", "AddMonths" | "AddYears", [Some(at), None]) => {
                let Some(Some(count)) = numbers.get(1) else {
                    return Ok(None);
                };
                let months = if name == "AddYears" {
                    count * 12
                } else {
                    *count
                };
                let days = if whole { *at } else { at / DAY };
                let moved = months_later(days, months);
                moved.map(|it| if whole { it } else { it * DAY + at % DAY })
            }
            ("System.DateOnly", "AddDays", [Some(day), None]) => {
                numbers.get(1).copied().flatten().map(|it| day + it)
            }
            ("System.DateOnly" | "System.TimeOnly", "FromDateTime", [Some(ticks)]) => {
                Some(if whole { ticks / DAY } else { ticks % DAY })
            }
            ("System.DateTime" | "System.TimeOnly", _, [Some(at), None])
                if let Some(unit) = added_unit(name) =>
            {
                let ticks = given.get(1).and_then(|it| ticks_of(&it.0, unit));
                let sum = ticks.map(|it| at + it);
                match ty {
                    "System.TimeOnly" => sum.map(|it| it.rem_euclid(DAY)),
                    _ => sum,
                }
            }
            ("System.TimeSpan", "op_Addition" | "Add", [Some(one), Some(other)]) => {
                Some(one + other)
            }
            ("System.TimeSpan", "op_Subtraction" | "Subtract", [Some(one), Some(other)]) => {
                Some(one - other)
            }
            ("System.TimeSpan", "op_UnaryNegation" | "Negate", [Some(one)]) => Some(-one),
            ("System.TimeSpan", "Duration", [Some(one)]) => Some(one.abs()),
            ("System.TimeSpan", "op_UnaryPlus", [Some(one)]) => Some(*one),
            ("System.TimeSpan", _, [None]) if is_static => {
                let unit = from_unit(name);
                let given = given.first();
                unit.and_then(|unit| given.and_then(|it| ticks_of(&it.0, unit)))
            }
            _ => None,
        };
        let limits = match ty {
            "System.TimeSpan" => i128::from(i64::MIN)..=i128::from(i64::MAX),
            "System.DateOnly" => 0..=LAST / DAY,
            "System.TimeOnly" => 0..=DAY - 1,
            _ => 0..=LAST,
        };
        let made = made.filter(|it| limits.contains(it));
        Ok(made.map(|it| self.time(node, it, kind)))
    }

    /// A date or time of the node's type.
    pub(super) fn time(&self, node: &Node, number: i128, kind: u64) -> Val {
        let named = node.ty.as_named();
        let is_day = named.is_some_and(|it| self.types.is_named(it, "System", "DateOnly"));
        let bytes = match is_day {
            true => (number as i32).to_le_bytes().to_vec(),
            false => ((number as i64) as u64 | kind).to_le_bytes().to_vec(),
        };
        Val::Struct(self.reader.copied(node.ty.clone(), bytes))
    }

    /// A member that looks into something of the framework.
    pub(super) fn looked_up(
        &mut self,
        ty: &str,
        name: &str,
        target: Option<(&Val, &Type)>,
        arguments: &[Val],
        node: &Node,
    ) -> Result<Option<Val>> {
        let span = node.span;
        match (ty, target, arguments) {
            ("System.Guid", Some((value, ty)), []) if name == "GetHashCode" => {
                self.hash_code(value, ty, span)
            }
            ("System.Guid", Some((Val::Struct(_), _)), [] | [Val::Struct(_)])
            | ("System.Guid", None, [_, _]) => {
                self.identifier(name, target.map(|it| it.0), arguments, span)
            }
            ("System.Text.StringBuilder", Some((Val::Object(builder), _)), _) => {
                self.built(name, builder, arguments, span)
            }
            (
                "System.Threading.Tasks.Task" | "System.Threading.Tasks.Task`1",
                Some((Val::Object(task), _)),
                [],
            ) => self.task_member(name, task, span),
            ("System.Lazy`1", Some((Val::Object(lazy), _)), []) => {
                let state = self.inside(lazy, "_state", span)?;
                let is_made = matches!(state, Val::Null);
                match name {
                    "get_IsValueCreated" => Ok(Some(Val::bool(is_made))),
                    "get_Value" if is_made => self.inside(lazy, "_value", span).map(Some),
                    _ => Ok(None),
                }
            }
            (
                "System.Collections.Generic.Queue`1" | "System.Collections.Generic.Stack`1",
                Some((queue @ Val::Object(_), _)),
                [],
            ) => Ok(self.first_viewed(queue, span)?.flatten()),
            ("System.Collections.Immutable.ImmutableArray`1", Some((Val::Struct(place), _)), _) => {
                let array = self.reader.field(place, "array");
                let array = array.map_err(|why| self.unreadable(&why, span))?;
                let array = self.decode(&array, span)?;
                match (name, &array, arguments) {
                    ("get_IsDefault", array, []) => Ok(Some(Val::bool(matches!(array, Val::Null)))),
                    (_, Val::Null, _) => Ok(None),
                    ("get_Length", array, []) => {
                        let length = self.array_length(array, span)?;
                        Ok(Some(Val::int(length.into())))
                    }
                    ("get_IsEmpty", array, []) => {
                        let length = self.array_length(array, span)?;
                        Ok(Some(Val::bool(length == 0)))
                    }
                    ("get_Item", array, [index]) => {
                        let index = integer(index).unwrap_or(-1);
                        self.element(array, &[index], span).map(Some)
                    }
                    _ => Ok(None),
                }
            }
            ("System.Collections.Generic.KeyValuePair`2", None, [key, value])
            | ("System.Collections.Generic.KeyValuePair", None, [key, value]) => {
                let fields = vec![("key".into(), key.clone()), ("value".into(), value.clone())];
                let made = Made::Fields(node.ty.clone(), fields);
                Ok(Some(Val::Made(std::rc::Rc::new(made))))
            }
            ("System.ValueTuple", None, all) if (1..8).contains(&all.len()) => {
                Ok(Some(self.tuple(&node.ty, all.to_vec())))
            }
            _ => Ok(None),
        }
    }

    fn inside(&mut self, object: &Object, field: &str, span: Span) -> Result<Val> {
        let field = self.reader.object_field(object, field);
        let field = field.map_err(|why| self.unreadable(&why, span))?;
        self.decode(&field, span)
    }

    /// The bytes of a `Guid`.
    pub(super) fn guid_bytes(&self, value: &Val, span: Span) -> Result<Option<[u8; 16]>> {
        let is_guid = |ty: &Type| {
            let named = ty.as_named();
            named.is_some_and(|it| self.types.is_named(it, "System", "Guid"))
        };
        match value {
            Val::Struct(place) if is_guid(&place.ty) => {
                let bytes = self.reader.bytes(place, 16);
                let bytes = bytes.map_err(|why| self.unreadable(&why, span))?;
                Ok(bytes.try_into().ok())
            }
            Val::Made(made) => match &**made {
                Made::Default(ty) if is_guid(ty) => Ok(Some([0; 16])),
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// `Guid`: its text, and whether two are equal.
    fn identifier(
        &mut self,
        name: &str,
        target: Option<&Val>,
        arguments: &[Val],
        span: Span,
    ) -> Result<Option<Val>> {
        let mut all: Vec<[u8; 16]> = Vec::new();
        for value in target.into_iter().chain(arguments) {
            match self.guid_bytes(value, span)? {
                Some(bytes) => all.push(bytes),
                None => return Ok(None),
            }
        }
        Ok(match (name, &*all) {
            ("op_Equality" | "Equals", [one, other]) => Some(Val::bool(one == other)),
            ("op_Inequality", [one, other]) => Some(Val::bool(one != other)),
            ("ToString", [one]) => Some(Val::text(&guid_text(*one))),
            _ => None,
        })
    }

    /// `StringBuilder`: a list of pieces, the last one first.
    fn built(
        &mut self,
        name: &str,
        builder: &Object,
        arguments: &[Val],
        span: Span,
    ) -> Result<Option<Val>> {
        let offset = integer(&self.inside(builder, "m_ChunkOffset", span)?).unwrap_or(0);
        let last = integer(&self.inside(builder, "m_ChunkLength", span)?).unwrap_or(0);
        let length = offset + last;
        if name == "get_Length" && arguments.is_empty() {
            return Ok(Some(Val::int(length)));
        }
        let numbers: Vec<i128> = arguments.iter().filter_map(integer).collect();
        let (from, count) = match (name, numbers.as_slice()) {
            ("ToString", []) if arguments.is_empty() => (0, length),
            ("ToString", [from, count]) => (*from, *count),
            ("get_Chars", [index]) => (*index, 1),
            _ => return Ok(None),
        };
        // What is out of range throws in the words of the program's framework.
        if from < 0 || count < 0 || from + count > length || count > MAX_BUILT {
            return Ok(None);
        }
        let (from, to) = (from as u64, (from + count) as u64);
        let units = self.journaled(span, |this| this.built_between(builder, from, to, span))?;
        Ok(match (&units, name) {
            (Val::Null, _) => None,
            (_, "get_Chars") => {
                let units = self.string_of(&units, span)?.unwrap_or_default();
                let unit = units.first().map(|unit| i128::from(*unit));
                unit.map(|unit| Val::Scalar(Scalar::Int(Kind::Char, unit)))
            }
            _ => Some(units),
        })
    }

    /// Some characters of a `StringBuilder`: only the pieces that have them are read. Null if its pieces do not fit together.
    fn built_between(&mut self, builder: &Object, from: u64, to: u64, span: Span) -> Result<Val> {
        let mut pieces: Vec<Vec<u16>> = Vec::new();
        let mut expected = to;
        let mut at = Val::Object(builder.clone());
        while let Val::Object(piece) = &at {
            self.tick(span)?;
            let number = |value: Val| integer(&value).and_then(|it| u64::try_from(it).ok());
            let start = number(self.inside(piece, "m_ChunkOffset", span)?);
            let count = number(self.inside(piece, "m_ChunkLength", span)?);
            let (Some(start), Some(count)) = (start, count) else {
                return Ok(Val::Null);
            };
            let (first, last) = (start.max(from), (start + count).min(to));
            if first < last {
                let Val::Object(letters) = self.inside(piece, "m_ChunkChars", span)? else {
                    return Ok(Val::Null);
                };
                if last != expected {
                    return Ok(Val::Null);
                }
                expected = first;
                pieces.push(self.characters(&letters, first - start..last - start, span)?);
            }
            if start <= from {
                break;
            }
            at = self.inside(piece, "m_ChunkPrevious", span)?;
        }
        pieces.reverse();
        Ok(match expected == from {
            true => Val::units(pieces.concat()),
            false => Val::Null,
        })
    }

    /// How a task ended, and what it gave.
    fn task_member(&mut self, name: &str, task: &Object, span: Span) -> Result<Option<Val>> {
        let flags = integer(&self.inside(task, "m_stateFlags", span)?).unwrap_or(0);
        let (done, cancelled, faulted) = (0x100_0000, 0x40_0000, 0x20_0000);
        let has = |wanted: i128| flags & wanted != 0;
        Ok(match name {
            "get_IsCompleted" => Some(Val::bool(has(done | cancelled | faulted))),
            "get_IsCompletedSuccessfully" => {
                Some(Val::bool(has(done) && !has(cancelled) && !has(faulted)))
            }
            "get_IsCanceled" => Some(Val::bool(has(cancelled) && !has(faulted))),
            "get_IsFaulted" => Some(Val::bool(has(faulted))),
            "get_Result" if has(done) && !has(cancelled) && !has(faulted) => {
                self.inside(task, "m_result", span).map(Some)?
            }
            _ => None,
        })
    }

    /// `string.Format` of a format that is well formed.
    pub(super) fn composed(
        &mut self,
        callee: &Callee,
        arguments: &[Val],
        span: Span,
    ) -> Result<Option<Val>> {
        let [format, values @ ..] = arguments else {
            return Ok(None);
        };
        let parameters = &callee.method.parameters;
        if parameters.first().is_none_or(|it| it.ty != Type::STRING) {
            return Ok(None);
        }
        let Some(format) = self.string_of(format, span)? else {
            return Ok(None);
        };
        let is_list = parameters.get(1).is_some_and(|it| it.ty != Type::OBJECT);
        let values = match values {
            [Val::Null] if is_list => return Ok(None),
            [all] if is_list => self.items_of(all, span)?,
            values => values.to_vec(),
        };
        let format = String::from_utf16_lossy(&format);
        let Some(pieces) = composite(&format) else {
            return Ok(None);
        };
        let mut text: Vec<u16> = Vec::new();
        for piece in pieces {
            let (index, width, format) = match piece {
                Composite::Text(units) => {
                    text.extend(units.encode_utf16());
                    continue;
                }
                Composite::Hole(index, width, format) => (index, width, format),
            };
            let Some(value) = values.get(index) else {
                return Ok(None);
            };
            let shown = self.hole(value, &Type::OBJECT, Some(width), format.as_deref(), span)?;
            text.extend(shown);
            self.room_for_text(text.len(), span)?;
        }
        Ok(Some(Val::units(text)))
    }

    /// `Split` by a character or a text.
    pub(super) fn split(
        &mut self,
        target: &Val,
        callee: &Callee,
        arguments: &[Val],
        node: &Node,
    ) -> Result<Option<Val>> {
        let span = node.span;
        let Some(text) = self.string_of(target, span)? else {
            return Ok(None);
        };
        let unit = |it: &Val| match it {
            Val::Scalar(Scalar::Int(Kind::Char, unit)) => Some(*unit as u16),
            _ => None,
        };
        let (separators, options) = match arguments {
            [one] => (one, 0),
            // A count of parts is a number, too.
            [one, options]
                if callee
                    .method
                    .parameters
                    .get(1)
                    .is_some_and(|it| it.ty != Type::INT) =>
            {
                match integer(options) {
                    Some(options @ 0..=1) => (one, options),
                    _ => return Ok(None),
                }
            }
            _ => return Ok(None),
        };
        let separators: Vec<Vec<u16>> = match (unit(separators), separators) {
            (Some(unit), _) => vec![vec![unit]],
            (None, Val::Scalar(Scalar::String(text))) if !text.is_empty() => vec![text.to_vec()],
            (None, Val::Made(made)) => match &**made {
                Made::Sequence(_, all, _) if !all.is_empty() => {
                    let units: Option<Vec<u16>> = all.iter().map(unit).collect();
                    let Some(units) = units else { return Ok(None) };
                    units.into_iter().map(|it| vec![it]).collect()
                }
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        let mut parts: Vec<Val> = Vec::new();
        let (mut start, mut at) = (0, 0);
        let add = |part: &[u16], parts: &mut Vec<Val>| {
            if options == 0 || !part.is_empty() {
                parts.push(Val::units(part.to_vec()));
            }
        };
        while let Some(rest) = text.get(at..)
            && !rest.is_empty()
        {
            self.tick(span)?;
            match separators.iter().find(|it| rest.starts_with(it)) {
                Some(found) => {
                    add(text.get(start..at).unwrap_or_default(), &mut parts);
                    at += found.len();
                    start = at;
                }
                None => at += 1,
            }
        }
        add(text.get(start..).unwrap_or_default(), &mut parts);
        Ok(Some(Val::sequence(node.ty.clone(), parts)))
    }
}

/// A piece of a composite format.
enum Composite {
    Text(String),
    Hole(usize, i32, Option<String>),
}

/// The pieces of a composite format; `None` if it is malformed.
fn composite(format: &str) -> Option<Vec<Composite>> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut units = format.chars().peekable();
    while let Some(unit) = units.next() {
        match (unit, units.peek()) {
            ('{', Some('{')) | ('}', Some('}')) => {
                text.push(unit);
                units.next();
            }
            ('}', _) => return None,
            ('{', _) => {
                let mut hole = String::new();
                loop {
                    match units.next()? {
                        '}' => break,
                        '{' => return None,
                        other => hole.push(other),
                    }
                }
                // A brace inside of a hole is written twice, which is rare.
                if units.peek() == Some(&'}') {
                    return None;
                }
                let (place, shown) = match hole.split_once(':') {
                    Some((place, shown)) => (place, Some(shown.to_owned())),
                    None => (&*hole, None),
                };
                let (index, width) = place.split_once(',').unwrap_or((place, "0"));
                pieces.push(Composite::Text(std::mem::take(&mut text)));
                // A sign would be taken by Rust, and is none of the format's.
                if place.contains('+') {
                    return None;
                }
                let index = index.trim_end_matches(' ').parse().ok()?;
                let width = width.trim_matches(' ').parse().ok()?;
                pieces.push(Composite::Hole(index, width, shown));
            }
            (other, _) => text.push(other),
        }
    }
    pieces.push(Composite::Text(text));
    Some(pieces)
}

fn days_in(year: i128, month: i128) -> i128 {
    match month {
        2 => first_day(year + 1) - first_day(year) - 337,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The number of a day, if there is one.
fn day_of(year: i128, month: i128, day: i128) -> Option<i128> {
    let exists = (1..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=days_in(year, month)).contains(&day);
    exists.then(|| {
        let before: i128 = (1..month).map(|it| days_in(year, it)).sum();
        first_day(year) + before + day - 1
    })
}

/// Whether numbers of a constructor begin with a day that there is none of.
fn is_no_day(numbers: &[Option<i128>]) -> bool {
    match numbers {
        [Some(year), Some(month), Some(day), ..] => day_of(*year, *month, *day).is_none(),
        _ => false,
    }
}

/// The same day of another month, or its last one.
fn months_later(days: i128, months: i128) -> Option<i128> {
    let (year, month, day) = date(days);
    let index = year * 12 + month - 1 + months;
    let (year, month) = (index.div_euclid(12), index.rem_euclid(12) + 1);
    if !(1..=9999).contains(&year) {
        return None;
    }
    day_of(year, month, day.min(days_in(year, month)))
}

/// What a constructor makes of numbers.
fn created(ty: &str, numbers: &[Option<i128>]) -> Option<i128> {
    let numbers: Option<Vec<i128>> = numbers.iter().copied().collect();
    let numbers = numbers?;
    let time = |parts: &[i128]| {
        let units = [HOUR, MINUTE, SECOND, MILLISECOND];
        let sum: i128 = parts
            .iter()
            .zip(units)
            .map(|(part, unit)| part * unit)
            .sum();
        let limits = [24, 60, 60, 1000];
        let fits = parts
            .iter()
            .zip(limits)
            .all(|(part, limit)| (0..limit).contains(part));
        (sum, fits)
    };
    match (ty, &*numbers) {
        ("System.DateOnly", [year, month, day]) => day_of(*year, *month, *day),
        ("System.DateTime", [year, month, day, rest @ ..]) if matches!(rest.len(), 0 | 3 | 4) => {
            let (ticks, fits) = time(rest);
            let day = day_of(*year, *month, *day).filter(|_| fits)?;
            Some(day * DAY + ticks)
        }
        ("System.TimeOnly", parts) if (2..=4).contains(&parts.len()) => {
            let (ticks, fits) = time(parts);
            fits.then_some(ticks)
        }
        ("System.TimeSpan" | "System.DateTime" | "System.TimeOnly", [ticks]) => Some(*ticks),
        ("System.TimeSpan", parts @ [_, _, _]) => Some(time(parts).0),
        ("System.TimeSpan", [days, rest @ ..]) if matches!(rest.len(), 3 | 4) => {
            Some(days * DAY + time(rest).0)
        }
        _ => None,
    }
}

fn added_unit(name: &str) -> Option<i128> {
    Some(match name {
        "AddDays" => DAY,
        "AddHours" => HOUR,
        "AddMinutes" => MINUTE,
        "AddSeconds" => SECOND,
        "AddMilliseconds" => MILLISECOND,
        "AddTicks" => 1,
        _ => return None,
    })
}

fn from_unit(name: &str) -> Option<i128> {
    Some(match name {
        "FromDays" => DAY,
        "FromHours" => HOUR,
        "FromMinutes" => MINUTE,
        "FromSeconds" => SECOND,
        "FromMilliseconds" => MILLISECOND,
        "FromTicks" => 1,
        _ => return None,
    })
}

/// So many units in ticks. How parts of a millisecond are rounded depends on the version of the framework.
fn ticks_of(value: &Val, unit: i128) -> Option<i128> {
    if let Some(count) = integer(value) {
        return count.checked_mul(unit);
    }
    let Val::Scalar(Scalar::Double(count)) = value else {
        return None;
    };
    let ticks = count * unit as f64;
    let is_plain = ticks.abs() < 9e15 && ticks % MILLISECOND as f64 == 0.0;
    is_plain.then_some(ticks as i128)
}

/// The text of a `Guid` by its bytes.
pub(super) fn guid_text(bytes: [u8; 16]) -> String {
    let [a, b, c, d, e, f, g, h, rest @ ..] = &bytes;
    // The first three parts are numbers, whose bytes lie the other way round.
    let front = [d, c, b, a, f, e, h, g].into_iter().chain(rest);
    let mut text = String::new();
    for (index, byte) in front.enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_end_where_the_calendar_has_it() {
        let day = |year, month, day| day_of(year, month, day).expect("a day");
        assert_eq!(months_later(day(2024, 1, 31), 1), Some(day(2024, 2, 29)));
        assert_eq!(months_later(day(2024, 2, 29), 12), Some(day(2025, 2, 28)));
        assert_eq!(months_later(day(2024, 3, 31), -4), Some(day(2023, 11, 30)));
        assert_eq!(months_later(day(9999, 12, 1), 1), None);
        assert_eq!(day_of(2023, 2, 29), None);
        assert_eq!(days_in(1900, 2), 28);
    }
}
