//! Lines for the types of the framework that are values to a person: times, numbers, tasks, delegates, exceptions.

use std::collections::HashMap;

use metadata::Token;
use metadata::signature::Primitive;

use crate::api::ValueKind;
use crate::expressions::scalar;
use crate::types::{ModuleId, Type, TypeNotes};

use super::super::{Result, Unreadable, Value};
use super::known::Known;
use super::source::{Items, Source};
use super::text::{Line, PREVIEW};
use super::{Subject, Viewer, numbers};

/// Where the kind of a `DateTime` lies.
const KIND_SHIFT: u32 = 62;
/// Minutes that a time may be beside UTC.
const MAX_OFFSET: u64 = 14 * 60;
/// Bits of a decimal that are never set, and the digits that it has behind its point at most.
const UNUSED_OF_DECIMAL: u32 = 0x7f00_ffff;
const MAX_SCALE: u32 = 28;
/// Delegates whose methods are remembered.
const MAX_METHODS: usize = 10_000;
/// Chunks of a `StringBuilder`.
const MAX_CHUNKS: u32 = 10_000;
/// Parts of a `BigInteger`: as many digits as anyone reads.
const MAX_PARTS: u64 = 256;

/// Characters of a `StringBuilder`.
pub(super) struct Built {
    pub(super) units: Vec<u16>,
    /// How many it says that it has.
    pub(super) claimed: i64,
    /// Whether its parts do not fit together.
    pub(super) is_damaged: bool,
}

impl Viewer<'_, '_> {
    /// The text of a struct of the framework that is one thing to a person: a time, an id, an index.
    pub(crate) fn simple_text(&self, place: &Value) -> Option<String> {
        let known = self.reader.known(&place.ty);
        let is_simple = matches!(
            known,
            Known::DateTime
                | Known::DateTimeOffset
                | Known::DateOnly
                | Known::TimeOnly
                | Known::TimeSpan
                | Known::Guid
                | Known::Index
                | Known::Range
                | Known::Rune
                | Known::BigInteger
        );
        if !is_simple {
            return None;
        }
        let subject = Subject::InPlace(place.clone(), None);
        let line = self.framework_line(&subject, known, &TypeNotes::default(), 0);
        line.ok().flatten().map(|it| it.text)
    }

    /// The line of a type with a view of its own; `None` for others.
    pub(super) fn framework_line(
        &self,
        subject: &Subject,
        known: Known,
        notes: &TypeNotes,
        level: u32,
    ) -> Result<Option<Line>> {
        let Some(value) = self.as_value(subject) else {
            return Ok(None);
        };
        let value = &value;
        let number = |text: String| Ok(Some(Line::new(text, ValueKind::Number)));
        let object = |text: String| Ok(Some(Line::new(text, ValueKind::Object)));
        match known {
            Known::Decimal => number(self.decimal(value)?),
            Known::Half => {
                let bits = self.int(value, &["_value", "m_value"])?;
                number(scalar::text(&scalar::Scalar::Half(bits as u16)))
            }
            Known::Int128 | Known::UInt128 => {
                let low = self.unsigned(value, &["_lower"])?;
                let high = self.unsigned(value, &["_upper"])?;
                let all = u128::from(high) << 64 | u128::from(low);
                number(if known == Known::Int128 {
                    all.cast_signed().to_string()
                } else {
                    all.to_string()
                })
            }
            Known::BigInteger => number(self.big_integer(value)?),
            Known::DateTime => {
                let data = self.unsigned(value, &["_dateData", "dateData"])?;
                let kind = match data >> KIND_SHIFT {
                    0 => "",
                    1 => "Z",
                    _ => " (local)",
                };
                let ticks = data & ((1 << KIND_SHIFT) - 1);
                within(ticks, numbers::LAST_TICK, "ticks")?;
                object(numbers::date_time(ticks) + kind)
            }
            Known::DateTimeOffset => {
                let time = self.any_field(value, &["_dateTime", "m_dateTime"])?;
                let data = self.unsigned(&time, &["_dateData", "dateData"])?;
                let minutes = self.int(value, &["_offsetMinutes", "m_offsetMinutes"])?;
                let ticks = data & ((1 << KIND_SHIFT) - 1);
                let shift = minutes.saturating_mul(600_000_000);
                within(ticks, numbers::LAST_TICK, "ticks")?;
                within(minutes.unsigned_abs(), MAX_OFFSET, "minutes beside UTC")?;
                let local = ticks.checked_add_signed(shift).unwrap_or(u64::MAX);
                within(local, numbers::LAST_TICK, "ticks")?;
                let ticks = local;
                object(numbers::date_time(ticks) + &numbers::offset(minutes))
            }
            Known::DateOnly => {
                let day = self.int(value, &["_dayNumber"])?;
                let day = u64::try_from(day).unwrap_or(u64::MAX);
                within(day, numbers::LAST_DAY, "days")?;
                object(numbers::date(day))
            }
            Known::TimeOnly => {
                let ticks = self.unsigned(value, &["_ticks"])?;
                within(ticks, numbers::DAY - 1, "ticks")?;
                object(numbers::time(ticks))
            }
            Known::TimeSpan => object(numbers::time_span(self.int(value, &["_ticks"])?)),
            Known::Guid => {
                let bytes = self.reader.bytes(value, 16)?;
                object(numbers::guid(&bytes).unwrap_or_default())
            }
            Known::Index => object(index(self.int(value, &["_value"])?)),
            Known::Range => {
                let part = |names: &[&str]| -> Result<String> {
                    let part = self.any_field(value, names)?;
                    Ok(index(self.int(&part, &["_value"])?))
                };
                let start = part(&["<Start>k__BackingField", "_start"])?;
                let end = part(&["<End>k__BackingField", "_end"])?;
                object(format!("{start}..{end}"))
            }
            Known::Rune => {
                let letter = self.int(value, &["_value"])?;
                let letter = u32::try_from(letter).ok().and_then(char::from_u32);
                let letter = letter.unwrap_or(char::REPLACEMENT_CHARACTER);
                let mut units = [0; 2];
                let quoted = numbers::quoted(letter.encode_utf16(&mut units));
                object(quoted)
            }
            Known::Version => object(self.version(value)?),
            Known::Uri => {
                let text = self.any_field(value, &["_string", "m_String"])?;
                let text = self.reader.string(&text, self.view.text_length)?;
                object(text.map_or_else(|| "null".into(), |(text, _)| text))
            }
            Known::Tuple => self.tuple_line(subject, notes, level).map(Some),
            Known::KeyValuePair | Known::DictionaryEntry => {
                let key = self.any_field(value, &["key", "_key"]);
                let item = self.any_field(value, &["value", "_value"]);
                let of_key = self.notes_of_key(value, notes, key.as_ref().ok());
                let of_item = self.notes_of_part(value, notes, &item);
                let key = self.brief_with(&key, &of_key, level + 1);
                let item = self.brief_unless_secret(&key, (&item, &of_item), level + 1);
                object(format!("[{key}, {item}]"))
            }
            Known::StringBuilder => self.string_builder(value, level).map(Some),
            Known::Span | Known::ReadOnlySpan | Known::Memory | Known::ReadOnlyMemory => {
                Ok(self.letters(subject, value, level))
            }
            Known::Delegate => self.delegate(subject, value, level).map(Some),
            Known::Exception => self.exception(value).map(Some),
            Known::Task | Known::TaskOf => object(self.task(value, known, notes, level)?),
            Known::ValueTask | Known::ValueTaskOf => {
                object(self.value_task(value, known, notes, level)?)
            }
            Known::Lazy => {
                let state = self.any_field(value, &["_state"])?;
                if self.reader.word(&state)? == 0 {
                    let inner = self.any_field(value, &["_value"]);
                    let inner = self.brief_part(value, notes, &inner, level + 1);
                    object(format!("Value = {inner}"))
                } else {
                    object(
                        self.lazy_failure(&state, level)
                            .unwrap_or_else(|| "not created yet".into()),
                    )
                }
            }
            Known::WeakReference | Known::WeakReferenceOf => {
                object(match self.weak_target(value)? {
                    Some(target) => {
                        let target = self.brief_target(value, notes, target, level + 1);
                        format!("Target = {target}")
                    }
                    None => "its target is gone".into(),
                })
            }
            Known::CancellationToken => {
                let source = self.any_field(value, &["_source", "m_source"])?;
                if self.reader.word(&source)? == 0 {
                    return object("cannot be cancelled".into());
                }
                object(self.cancellation(&source)?)
            }
            Known::CancellationTokenSource => object(self.cancellation(value)?),
            Known::RuntimeType => {
                let text = self.runtime_type(value);
                let text = text.map(|it| format!("typeof({it})"));
                Ok(Some(Line::new(
                    text.unwrap_or_else(|| self.unnamed_type(value).into()),
                    ValueKind::Type,
                )))
            }
            Known::MethodInfo
            | Known::MethodInfo2
            | Known::PropertyInfo
            | Known::EventInfo
            | Known::FieldInfo
            | Known::FieldInfo2 => match self.member_info(value, known) {
                Some(name) => object(name),
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }

    pub(super) fn unsigned(&self, from: &Value, names: &[&str]) -> Result<u64> {
        let scalar = self.reader.scalar(&self.any_field(from, names)?)?;
        let number = scalar.as_i128().unwrap_or_default();
        Ok(number as u64)
    }

    fn decimal(&self, value: &Value) -> Result<String> {
        let flags = self.int(value, &["_flags", "flags"])? as u32;
        let high = self.int(value, &["_hi32", "hi"])? as u32;
        let low = match self.unsigned(value, &["_lo64"]) {
            Ok(low) => low,
            Err(_) => {
                let middle = self.int(value, &["mid"])? as u32;
                u64::from(middle) << 32 | u64::from(self.int(value, &["lo"])? as u32)
            }
        };
        if flags & UNUSED_OF_DECIMAL != 0 || flags >> 16 & 0xff > MAX_SCALE {
            return Err(damaged(format!(
                "its flags 0x{flags:08x} are none that a decimal can have"
            )));
        }
        Ok(numbers::decimal(flags, high, low))
    }

    fn big_integer(&self, value: &Value) -> Result<String> {
        let sign = self.int(value, &["_sign"])?;
        let Some(bits) = self.object_in(value, &["_bits"])? else {
            return Ok(sign.to_string());
        };
        let count = self.reader.array(&bits)?.count;
        if count > MAX_PARTS {
            return Ok(format!("a number of {} bits", count * 32));
        }
        let mut parts = Vec::new();
        for at in 0..count {
            let part = self.reader.scalar(&self.reader.element(&bits, at)?)?;
            parts.push(part.as_i128().unwrap_or_default() as u32);
        }
        Ok(numbers::big_integer(sign < 0, &parts))
    }

    fn version(&self, value: &Value) -> Result<String> {
        let mut text = self.int(value, &["_Major"])?.to_string();
        for name in ["_Minor", "_Build", "_Revision"] {
            match self.int(value, &[name])? {
                ..0 => break,
                part => text.push_str(&format!(".{part}")),
            }
        }
        Ok(text)
    }

    fn string_builder(&self, value: &Value, level: u32) -> Result<Line> {
        let limit = if level == 0 {
            u64::from(self.view.text_length)
        } else {
            64
        };
        let built = self.built(value, 0, limit)?;
        let length = built.claimed.max(0).cast_unsigned();
        let mut line = self.text_line(&built.units, length, level);
        if built.is_damaged {
            line.notes.push(format!(
                "it says that it has {} characters, but its parts have not: it is damaged or being changed",
                built.claimed
            ));
        }
        Ok(line)
    }

    /// A span or memory of characters as text; `None` if it is of anything else, or cannot be read.
    fn letters(&self, subject: &Subject, value: &Value, level: u32) -> Option<Line> {
        let is_letter = |it: &Type| *it == Type::Primitive(Primitive::Char);
        if !value
            .ty
            .as_named()?
            .arguments
            .first()
            .is_some_and(is_letter)
        {
            return None;
        }
        let items = self.items(subject).ok()??;
        let count = items.count.min(self.string_limit(level).into());
        let units = match &items.source {
            Source::Array { array, first, .. } => self.chars(array, *first, count).ok()?,
            Source::Places { start, .. } if count > 0 => {
                let bytes = self.reader.bytes(start, (count * 2) as u32).ok()?;
                let (units, _) = bytes.as_chunks();
                units.iter().map(|unit| u16::from_le_bytes(*unit)).collect()
            }
            _ => {
                let unit = |value: Value| self.reader.bytes(&value, 2).ok()?.first_chunk().copied();
                let entries = self.entries(&items, 0, count).into_iter();
                let units = entries.map(|it| unit(it.value.ok()?).map(u16::from_le_bytes));
                units.collect::<Option<Vec<u16>>>()?
            }
        };
        let mut line = self.text_line(&units, items.count, level);
        line.notes.extend(items.note);
        Some(line)
    }

    /// So many characters of a `StringBuilder`, from one on.
    pub(super) fn built(&self, value: &Value, from: u64, limit: u64) -> Result<Built> {
        let to = from.saturating_add(limit);
        let claimed = self.int(value, &["m_ChunkOffset"])? + self.int(value, &["m_ChunkLength"])?;
        let mut is_damaged = claimed < 0;
        // The last chunk comes first.
        let mut chunks = Vec::new();
        let mut chunk = Some(value.clone());
        let mut expected = None;
        for _ in 0..MAX_CHUNKS {
            let Some(here) = chunk else { break };
            let offset = self.int(&here, &["m_ChunkOffset"])?;
            let of_chunk = self.int(&here, &["m_ChunkLength"])?;
            let array = self.object_in(&here, &["m_ChunkChars"])?;
            let there = match &array {
                Some(array) => self.reader.array(array)?.count,
                None => 0,
            };
            // Each begins where the one before it ends.
            is_damaged |= u64::try_from(of_chunk).map_or(true, |it| it > there)
                || expected.is_some_and(|it| it != offset + of_chunk);
            expected = Some(offset);
            let start = offset.max(0).cast_unsigned();
            let end = start.saturating_add(of_chunk.max(0).cast_unsigned());
            let (first, last) = (start.max(from), end.min(to));
            if first < last
                && let Some(array) = array
            {
                chunks.push(self.chars(&array, first - start, last - first)?);
            }
            let previous = self.any_field(&here, &["m_ChunkPrevious"])?;
            chunk = (self.reader.word(&previous)? != 0).then_some(previous);
            // One that leads to itself would go on for ever.
            if is_damaged {
                break;
            }
        }
        is_damaged |= chunk.is_none() && expected != Some(0);
        Ok(Built {
            units: chunks.into_iter().rev().flatten().collect(),
            claimed,
            is_damaged,
        })
    }

    /// Characters of a `char[]`.
    fn chars(&self, array: &super::super::Object, start: u64, count: u64) -> Result<Vec<u16>> {
        let there = self.reader.array(array)?.count;
        let count = count.min(there.saturating_sub(start));
        if count == 0 {
            return Ok(Vec::new());
        }
        let first = self.reader.element(array, start)?;
        let bytes = self.reader.bytes(&first, (count * 2) as u32)?;
        let (units, _) = bytes.as_chunks();
        Ok(units.iter().map(|unit| u16::from_le_bytes(*unit)).collect())
    }

    fn task(&self, value: &Value, known: Known, notes: &TypeNotes, level: u32) -> Result<String> {
        const FAULTED: i64 = 0x20_0000;
        const CANCELED: i64 = 0x40_0000;
        const COMPLETED: i64 = 0x100_0000;
        const WAITING_ON_CHILDREN: i64 = 0x80_0000;
        const WAITING_FOR_ACTIVATION: i64 = 0x200_0000;
        const STARTED: i64 = 0x1_0000;
        const DELEGATE_INVOKED: i64 = 0x2_0000;
        let flags = self.int(value, &["m_stateFlags"])?;
        let id = self.int(value, &["m_taskId"]).unwrap_or(0);
        let mut text = if flags & FAULTED != 0 {
            match self.task_exception(value) {
                Ok(Some((exception, count))) => {
                    let subject = self.subject(&exception)?;
                    let line = self.line(&subject, &TypeNotes::default(), level + 1);
                    let more = match count.saturating_sub(1) {
                        0 => String::new(),
                        more => format!(", and {more} more"),
                    };
                    format!("Status = Faulted, {}{more}", line.text)
                }
                _ => "Status = Faulted".into(),
            }
        } else if flags & CANCELED != 0 {
            "Status = Canceled".into()
        } else if flags & COMPLETED != 0 {
            let mut text = String::from("Status = RanToCompletion");
            let result = self.any_field(value, &["m_result"]);
            // Tasks without a result have one of a type that says so.
            let is_void = |it: &Value| {
                let name = it.ty.as_named();
                name.is_some_and(|it| {
                    let types = self.reader.types;
                    types.is_named(it, "System.Threading.Tasks", "VoidTaskResult")
                })
            };
            if known == Known::TaskOf && !result.as_ref().is_ok_and(is_void) {
                let result = self.brief_part(value, notes, &result, level + 1);
                text.push_str(&format!(", Result = {result}"));
            }
            text
        } else if flags & WAITING_ON_CHILDREN != 0 {
            "Status = WaitingForChildrenToComplete".into()
        } else if flags & DELEGATE_INVOKED != 0 {
            "Status = Running".into()
        } else if flags & STARTED != 0 {
            "Status = WaitingToRun".into()
        } else if flags & WAITING_FOR_ACTIVATION != 0 {
            "Status = WaitingForActivation".into()
        } else {
            "Status = Created".into()
        };
        if id != 0 {
            text.push_str(&format!(", Id = {id}"));
        }
        Ok(text)
    }

    /// What the factory of a `Lazy` threw, which it throws again whenever it is asked.
    fn lazy_failure(&self, state: &Value, level: u32) -> Option<String> {
        let dispatch = self.any_field(state, &["_exceptionDispatch"]).ok()?;
        if self.reader.word(&dispatch).ok()? == 0 {
            return None;
        }
        let exception = self
            .any_field(&dispatch, &["_exception", "m_Exception"])
            .ok()?;
        let subject = self.subject(&exception).ok()?;
        let line = self.line(&subject, &TypeNotes::default(), level + 1);
        Some(format!("not created, its factory threw {}", line.text))
    }

    /// The first of the exceptions that a task failed with, and how many these are.
    fn task_exception(&self, task: &Value) -> Result<Option<(Value, u64)>> {
        let properties = self.any_field(task, &["m_contingentProperties"])?;
        if self.reader.word(&properties)? == 0 {
            return Ok(None);
        }
        let holder = self.any_field(&properties, &["m_exceptionsHolder"])?;
        if self.reader.word(&holder)? == 0 {
            return Ok(None);
        }
        let list = self.any_field(&holder, &["m_faultExceptions"])?;
        let info = self.element_at(&list, 0)?;
        let count = self.items_of(&list)?.count;
        self.any_field(&info, &["_source", "_exception", "m_Exception"])
            .map(|first| Some((first, count)))
    }

    fn value_task(
        &self,
        value: &Value,
        known: Known,
        notes: &TypeNotes,
        level: u32,
    ) -> Result<String> {
        let inner = self.any_field(value, &["_obj"])?;
        if self.reader.word(&inner)? != 0 {
            // The task behind it is over the same type.
            return Ok(self.brief_with(&Ok(inner), notes, level));
        }
        if known == Known::ValueTaskOf {
            let result = self.any_field(value, &["_result"]);
            return Ok(format!(
                "Status = RanToCompletion, Result = {}",
                self.brief_part(value, notes, &result, level + 1)
            ));
        }
        Ok("Status = RanToCompletion".into())
    }

    fn cancellation(&self, source: &Value) -> Result<String> {
        let state = self.int(source, &["_state"])?;
        Ok(if state >= 1 {
            "cancellation requested".into()
        } else {
            "no cancellation requested".into()
        })
    }

    fn weak_target(&self, value: &Value) -> Result<Option<Value>> {
        let handle = self.unsigned(value, &["_taggedHandle", "m_handle", "_handle"])?;
        let handle = handle & !3;
        if handle == 0 {
            return Ok(None);
        }
        let slot = self.reader.at(Type::OBJECT, handle);
        let address = self.reader.word(&slot)?;
        Ok((address != 0).then_some(slot))
    }

    fn delegate(&self, subject: &Subject, value: &Value, level: u32) -> Result<Line> {
        if let Some(items) = self.methods(value)? {
            let shown = self.entries(&items, 0, PREVIEW);
            let mut names: Vec<String> = shown
                .iter()
                .map(|it| self.brief(&it.value, level + 1))
                .collect();
            if (names.len() as u64) < items.count {
                names.push("…".into());
            }
            let text = format!("{} methods {{ {} }}", items.count, names.join(", "));
            return Ok(Line::new(text, ValueKind::Delegate));
        }
        let Subject::Object(object) = subject else {
            return Err(Unreadable::OptimizedAway);
        };
        // What was made while the program ran has no metadata, but an object that knows its name.
        let name = self
            .dynamic_method(value)
            .or_else(|| self.delegate_method(object));
        Ok(Line::new(
            name.unwrap_or_else(|| "a method that cannot be named".into()),
            ValueKind::Delegate,
        ))
    }

    /// The delegates that one of several methods is made of.
    pub(super) fn methods(&self, value: &Value) -> Result<Option<Items>> {
        let list = self.object_in(value, &["_invocationList"])?;
        let Some(array) = list.filter(|it| it.ty.element().is_some()) else {
            return Ok(None);
        };
        let count = self.int(value, &["_invocationCount"])?;
        // The array may be longer, for more to come.
        let count = count.max(0).cast_unsigned();
        let count = count.min(self.reader.array(&array)?.count);
        Ok((count > 1).then(|| {
            Items::new(
                count,
                Source::Array {
                    array,
                    first: 0,
                    wrap: u64::MAX,
                },
            )
        }))
    }

    /// What a delegate of one method is called on, where it is called on anything.
    pub(super) fn delegate_target(&self, value: &Value) -> Result<Option<Value>> {
        // A method that takes no object is called by way of the delegate itself.
        if self.unsigned(value, &["_methodPtrAux"])? != 0 {
            return Ok(None);
        }
        let target = self.any_field(value, &["_target"])?;
        Ok((self.reader.word(&target)? != 0).then_some(target))
    }

    fn dynamic_method(&self, value: &Value) -> Option<String> {
        let method = self.any_field(value, &["_methodBase"]).ok()?;
        let method = self
            .reader
            .reference_to(&self.reader.object(&method).ok()??);
        let types = self.reader.types;
        if !types.is_named(
            method.ty.as_named()?,
            "System.Reflection.Emit",
            "DynamicMethod",
        ) {
            return None;
        }
        let name = self.any_field(&method, &["_name", "m_name"]).ok()?;
        let (name, _) = self.reader.string(&name, 256).ok()??;
        Some(format!("{name} (made while the program ran)"))
    }

    /// The method that a delegate calls.
    fn delegate_method(&self, object: &super::super::Object) -> Option<String> {
        let (module, token) = self.delegate_function(object)?;
        let loaded = self.reader.types.module(module).ok()?;
        Some(loaded.method_name(self.reader.types.process, token))
    }

    /// The methods that a delegate calls, as far as its line tells them.
    pub(super) fn delegate_functions(&self, value: &Value) -> Vec<Option<(ModuleId, Token)>> {
        let function = |it: &Value| self.delegate_function(&self.reader.object(it).ok()??);
        match self.methods(value) {
            Ok(Some(items)) => {
                let shown = self.entries(&items, 0, PREVIEW);
                let each = shown.iter();
                each.map(|it| function(it.value.as_ref().ok()?)).collect()
            }
            _ => vec![function(value)],
        }
    }

    fn delegate_function(&self, object: &super::super::Object) -> Option<(ModuleId, Token)> {
        // The library keeps something for each question until the program runs.
        let known = &self.reader.layouts.methods;
        if known.borrow().0 != object.run {
            *known.borrow_mut() = (object.run, HashMap::new());
        }
        if let Some(found) = known.borrow().1.get(&object.address) {
            return *found;
        }
        let process = self.reader.types.process;
        let found = || {
            let delegate = process.object_at(object.address).ok()?;
            let function = delegate.delegate_function().ok()?;
            let module = ModuleId(function.module().ok()?.identity());
            Some((module, Token(function.token().ok()?)))
        };
        let found = found();
        let mut known = known.borrow_mut();
        if known.1.len() < MAX_METHODS {
            known.1.insert(object.address, found);
        }
        found
    }
}

/// Says of a number that is larger than it can be in its type that it is damaged.
fn within(number: u64, last: u64, what: &str) -> Result<()> {
    if number <= last {
        return Ok(());
    }
    Err(damaged(format!(
        "{} {what} are more than it can have",
        number.cast_signed()
    )))
}

fn damaged(how: String) -> Unreadable {
    Unreadable::Failed {
        why: format!("it is damaged: {how}"),
    }
}

/// `5`, or `^5` from the end.
fn index(value: i64) -> String {
    if value < 0 {
        format!("^{}", !value)
    } else {
        value.to_string()
    }
}
