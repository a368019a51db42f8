//! Memory and objects as they lie: bytes, layouts, sizes, outgoing references.

use crate::api::{
    Error, ErrorCode, FieldLayout, MemoryBytes, ObjectReport, OutgoingReference, Reply,
    VariablesQuery,
};
use crate::engine::Engine;
use crate::stack::frame_at;
use crate::types::Type;

use super::roots::Roots;
use super::view::{Subject, Viewer};
use super::{Object, Reader, Scalar, Value};

/// Bytes read in one request.
const MAX_BYTES: u32 = 64 * 1024;
/// References and fields told of one object.
const MAX_TOLD: usize = 1000;
/// The runtime counts the word before each object as a part of it.
const HEADER: u64 = 8;
/// Structs nest less deeply.
const MAX_DEPTH: u32 = 16;

impl Engine<'_> {
    /// Bytes of the program's memory; those that can be read from the address on.
    pub(crate) fn read_memory(&mut self, address: u64, count: u32) -> Result<Reply, Error> {
        let target = self.stopped_target()?;
        let count = count.min(MAX_BYTES);
        let mut bytes = vec![0; count as usize];
        let mut read = target.process.read_memory(address, &mut bytes).unwrap_or(0);
        // One page that is not there must not cost the bytes before it.
        if read == 0 {
            let first_page = (4096 - address % 4096).min(count.into()) as usize;
            if let Some(part) = bytes.get_mut(..first_page) {
                read = target.process.read_memory(address, part).unwrap_or(0);
            }
        }
        if read == 0 && count > 0 {
            return Err(Error::new(
                ErrorCode::InvalidParameter,
                format!("no memory of the program can be read at 0x{address:x}"),
            ));
        }
        bytes.truncate(read);
        Ok(Reply::Memory(MemoryBytes { address, bytes }))
    }

    /// How an object lies in memory and what it refers to.
    pub(crate) fn inspect_object(&mut self, query: &VariablesQuery) -> Result<Reply, Error> {
        self.check_stop(query.stop)?;
        let (_, thread) = self.thread_of(query.thread)?;
        let frame = frame_at(self.stopped_target()?, &thread, query.frame);
        let target = &*self.stopped_target()?;
        let reader = target.reader().looking_from(frame.as_ref().ok());
        let viewer = Viewer::new(&reader, &query.view, &target.object_ids);
        let roots = Roots {
            target,
            reader: &reader,
            thread: &thread,
            frame,
            index: query.frame,
        };
        let path = query.path.as_deref().unwrap_or("this");
        let failed = |why: super::Unreadable| {
            Error::new(
                ErrorCode::InvalidParameter,
                format!("\"{path}\" cannot be inspected: {why}"),
            )
        };
        let child = roots.at_path(&viewer, path)?;
        let is_secret = super::walk::leads_through_secret(path)
            || roots.returns_secret(path)
            || viewer.is_secret_variable(&child.name, &child.ty);
        // Where a secret lies is as good as what it is.
        if query.view.mask_secrets && is_secret {
            return Err(Error::new(
                ErrorCode::InvalidParameter,
                format!("\"{path}\" is masked because of its name: where it lies is not told"),
            )
            .hint("variables_get with show_secrets=true shows its value"));
        }
        let value = child.value.map_err(failed)?;
        // A `T?` is told itself, with what is in it, or that it has nothing.
        if viewer.is_nullable(&value) {
            let value = reader.behind_ref(&value).map_err(failed)?;
            let report = struct_report(&reader, &value, None).map_err(failed)?;
            return Ok(Reply::Object(Box::new(report)));
        }
        let report = match viewer.subject(&value).map_err(failed)? {
            Subject::Null => {
                return Err(Error::new(
                    ErrorCode::InvalidParameter,
                    format!("\"{path}\" is null: there is no object"),
                ));
            }
            Subject::Object(object) => object_report(&reader, &object),
            Subject::InPlace(value, boxed) => struct_report(&reader, &value, boxed.as_ref()),
        };
        report
            .map(|report| Reply::Object(Box::new(report)))
            .map_err(failed)
    }
}

fn object_report(reader: &Reader<'_>, object: &Object) -> super::Result<ObjectReport> {
    let size = reader.object_size(object)?;
    let mut report = ObjectReport {
        type_name: reader.types.full_text(&object.ty),
        address: Some(object.address),
        size,
        fields: Vec::new(),
        padding: 0,
        references: Vec::new(),
        omitted_references: 0,
    };
    if object.ty.element().is_some() {
        let shape = reader.array(object)?;
        if shape.element.is_reference() || holds_references(reader, &shape.element) {
            for position in 0..shape.count.min(MAX_TOLD as u64) {
                let element = reader.element(object, position)?;
                refer(reader, format!("[{position}]"), &element, 0, &mut report);
            }
            report.omitted_references += shape.count.saturating_sub(MAX_TOLD as u64);
        }
        return Ok(report);
    }
    if object.ty == Type::STRING {
        return Ok(report);
    }
    for member in reader.members(object)?.iter().take(MAX_TOLD) {
        let value = reader.member(object, member);
        report.fields.push(field(reader, &object.ty, member)?);
        refer(
            reader,
            member.field.name.to_string(),
            &value,
            0,
            &mut report,
        );
    }
    report.fields.sort_by_key(|it| it.offset);
    let end = add_padding(&mut report.fields, 8);
    report.padding = behind(&report, end, HEADER);
    Ok(report)
}

fn struct_report(
    reader: &Reader<'_>,
    value: &Value,
    boxed: Option<&Object>,
) -> super::Result<ObjectReport> {
    // Of one in a box all is told of the box, whose first word is its type.
    let start = if boxed.is_some() { 8 } else { 0 };
    let mut report = ObjectReport {
        type_name: reader.types.full_text(&value.ty),
        address: match (boxed, &value.place) {
            (Some(object), _) => Some(object.address),
            (None, super::Place::Memory(address)) => Some(*address),
            _ => None,
        },
        size: match boxed {
            Some(object) => reader.object_size(object)?,
            None => reader.size_of(&value.ty)?.into(),
        },
        fields: Vec::new(),
        padding: 0,
        references: Vec::new(),
        omitted_references: 0,
    };
    if value.ty.underlying().and_then(Scalar::size).is_some() {
        return Ok(report);
    }
    let is_buffer = buffer_elements(reader, &value.ty).is_some();
    if is_buffer {
        refer(reader, String::new(), value, 0, &mut report);
    }
    for member in reader.struct_members(&value.ty)?.iter().take(MAX_TOLD) {
        let mut told = field(reader, &value.ty, member)?;
        told.offset += start;
        report.fields.push(told);
        if is_buffer {
            continue;
        }
        let inner = reader.struct_member(value, member)?;
        refer(
            reader,
            member.field.name.to_string(),
            &inner,
            0,
            &mut report,
        );
    }
    report.fields.sort_by_key(|it| it.offset);
    let end = add_padding(&mut report.fields, start);
    // The elements of an inline array lie behind the one that it is declared with.
    if !is_buffer {
        let header = if boxed.is_some() { HEADER } else { 0 };
        report.padding = behind(&report, end, header);
    }
    Ok(report)
}

fn field(reader: &Reader<'_>, of: &Type, member: &super::Member) -> super::Result<FieldLayout> {
    let declared_in = Type::Named(member.declared_in.clone());
    Ok(FieldLayout {
        name: member.field.name.to_string(),
        type_name: reader.types.text(&member.field.ty).to_string(),
        offset: member.offset,
        size: reader.size_of(&member.field.ty)?,
        padding: 0,
        declared_in: reader.types.text(&declared_in).to_string(),
        inherited: declared_in != *of,
    })
}

/// The bytes behind the last field that no field uses; of more fields than are told that is not known.
fn behind(report: &ObjectReport, end: u32, header: u64) -> u32 {
    let size = report.size.saturating_sub(header);
    let is_all = report.fields.len() < MAX_TOLD;
    let behind = if is_all {
        size.saturating_sub(end.into())
    } else {
        0
    };
    u32::try_from(behind).unwrap_or(0)
}

/// Notes the bytes before each field that no field uses; the end of the last is given back.
fn add_padding(fields: &mut [FieldLayout], start: u32) -> u32 {
    let mut end = start;
    for field in fields {
        field.padding = field.offset.saturating_sub(end);
        end = end.max(field.offset.saturating_add(field.size));
    }
    end
}

/// Whether structs of a type hold references.
fn holds_references(reader: &Reader<'_>, ty: &Type) -> bool {
    holds_references_at(reader, ty, 0)
}

fn holds_references_at(reader: &Reader<'_>, ty: &Type, depth: u32) -> bool {
    if ty.is_value() != Some(true) || depth > MAX_DEPTH {
        return false;
    }
    // A number is made of itself.
    if ty.underlying().and_then(Scalar::size).is_some() {
        return false;
    }
    let members = reader.struct_members(ty);
    members.is_ok_and(|members| {
        members.iter().any(|it| {
            it.field.ty.is_reference() || holds_references_at(reader, &it.field.ty, depth + 1)
        })
    })
}

/// What an inline array is made of: the type of its elements, how many there are, and how far one is from the next.
fn buffer_elements(reader: &Reader<'_>, ty: &Type) -> Option<(Type, u64, u64)> {
    let length = super::buffer_length(reader.types, ty.as_named()?)?;
    let members = reader.struct_members(ty).ok()?;
    let element = members.first()?.field.ty.clone();
    let stride = reader.size_of(&element).ok()?;
    Some((element, length.into(), stride.into()))
}

/// Notes the object that a value refers to, and those that the fields of a struct do.
fn refer(reader: &Reader<'_>, name: String, value: &Value, depth: u32, report: &mut ObjectReport) {
    if depth <= MAX_DEPTH && holds_references(reader, &value.ty) {
        if let Some((element, count, stride)) = buffer_elements(reader, &value.ty) {
            for position in 0..count.min(MAX_TOLD as u64) {
                if let Ok(inner) = reader.offset(value, position.saturating_mul(stride), &element) {
                    refer(
                        reader,
                        format!("{name}[{position}]"),
                        &inner,
                        depth + 1,
                        report,
                    );
                }
            }
            report.omitted_references += count.saturating_sub(MAX_TOLD as u64);
            return;
        }
        let members = reader.struct_members(&value.ty).unwrap_or_default();
        for member in members.iter() {
            if let Ok(inner) = reader.struct_member(value, member) {
                let name = format!("{name}.{}", member.field.name);
                refer(reader, name, &inner, depth + 1, report);
            }
        }
        return;
    }
    if !value.ty.is_reference() {
        return;
    }
    if let Ok(Some(object)) = reader.object(value) {
        if report.references.len() >= MAX_TOLD {
            report.omitted_references += 1;
            return;
        }
        report.references.push(OutgoingReference {
            name,
            address: object.address,
            type_name: reader.types.text(&object.ty).to_string(),
        });
    }
}
