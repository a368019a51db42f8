//! Small pieces of text that both dumps share, in the form that fixtures/metadata_oracle/Names.cs gives them.

use std::fmt::Write;

use metadata::model::ConstantValue;
use metadata::signature::{MethodSignature, Primitive, Type};
use metadata::tables::Table;
use metadata::{Metadata, Token};

/// A quoted string: printable ASCII as it is, all other UTF-16 units as \uXXXX.
pub(crate) fn quote(text: &str) -> String {
    quote_units(text.encode_utf16())
}

pub(crate) fn quote_units(units: impl Iterator<Item = u16>) -> String {
    let mut quoted = String::from("\"");
    for unit in units {
        match u8::try_from(unit) {
            Ok(byte @ (b'"' | b'\\')) => {
                quoted.push('\\');
                quoted.push(byte as char);
            }
            Ok(byte @ b' '..=b'~') => quoted.push(byte as char),
            _ => write!(quoted, "\\u{unit:04x}").expect("writing to a string"),
        }
    }
    quoted.push('"');
    quoted
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string");
        text
    })
}

/// FNV-1a.
pub(crate) fn hash(bytes: &[u8]) -> String {
    let fold = |hash: u32, &byte: &u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    format!("{:08x}", bytes.iter().fold(0x811c_9dc5, fold))
}

/// A token; the oracle prints nil handles of an unknown kind with table 0.
pub(crate) fn tok(token: Option<Token>) -> String {
    token.unwrap_or_default().to_string()
}

/// What C# prints for a truth value.
pub(crate) fn truth(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}

pub(crate) fn constant(value: Option<ConstantValue<'_>>) -> String {
    match value {
        None => "-".to_owned(),
        Some(value) => scalar(value),
    }
}

pub(crate) fn scalar(value: ConstantValue<'_>) -> String {
    match value {
        ConstantValue::Bool(value) => format!("bool {value}"),
        ConstantValue::Char(value) => format!("char {value}"),
        ConstantValue::I1(value) => format!("i1 {value}"),
        ConstantValue::U1(value) => format!("u1 {value}"),
        ConstantValue::I2(value) => format!("i2 {value}"),
        ConstantValue::U2(value) => format!("u2 {value}"),
        ConstantValue::I4(value) => format!("i4 {value}"),
        ConstantValue::U4(value) => format!("u4 {value}"),
        ConstantValue::I8(value) => format!("i8 {value}"),
        ConstantValue::U8(value) => format!("u8 {value}"),
        ConstantValue::R4(value) => format!("r4 {:08x}", value.to_bits()),
        ConstantValue::R8(value) => format!("r8 {:016x}", value.to_bits()),
        ConstantValue::String(text) => format!("string {}", quote_units(text.units())),
        ConstantValue::Null => "null".to_owned(),
    }
}

fn primitive(primitive: Primitive) -> &'static str {
    primitive.system_name()
}

/// A type as a tree of tokens.
pub(crate) fn tree(out: &mut String, ty: &Type) {
    let write = |out: &mut String, args| out.write_fmt(args).expect("writing to a string");
    match ty {
        Type::Primitive(it) => out.push_str(primitive(*it)),
        Type::Named { token, is_value } => {
            write(out, format_args!("{}({token})", prefix(*is_value)))
        }
        Type::Generic {
            token,
            is_value,
            arguments,
        } => {
            write(out, format_args!("{}({token})<", prefix(*is_value)));
            list(out, arguments);
            out.push('>');
        }
        Type::TypeParameter(number) => write(out, format_args!("!{number}")),
        Type::MethodParameter(number) => write(out, format_args!("!!{number}")),
        Type::SzArray(inner) => {
            tree(out, inner);
            out.push_str("[]");
        }
        Type::Array { element, shape } => {
            tree(out, element);
            let (sizes, lower) = (commas(&shape.sizes), commas(&shape.lower_bounds));
            write(
                out,
                format_args!("[rank={} sizes={sizes} lower={lower}]", shape.rank),
            );
        }
        Type::Pointer(inner) => {
            tree(out, inner);
            out.push('*');
        }
        Type::ByRef(inner) => {
            tree(out, inner);
            out.push('&');
        }
        Type::Pinned(inner) => {
            tree(out, inner);
            out.push_str(" pinned");
        }
        Type::Function(method) => {
            out.push_str("fn ");
            signature(out, method);
        }
        Type::Modified {
            required,
            modifier,
            inner,
        } => {
            tree(out, inner);
            write(
                out,
                format_args!(" mod{}({modifier})", if *required { "req" } else { "opt" }),
            );
        }
    }
}

pub(crate) fn tree_text(ty: &Type) -> String {
    let mut out = String::new();
    tree(&mut out, ty);
    out
}

pub(crate) fn list(out: &mut String, types: &[Type]) {
    for (index, ty) in types.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        tree(out, ty);
    }
}

fn prefix(is_value: bool) -> &'static str {
    if is_value { "valuetype" } else { "class" }
}

fn commas<T: ToString>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

pub(crate) fn signature(out: &mut String, method: &MethodSignature) {
    write!(
        out,
        "conv={:02x} arity={} required={} ",
        method.convention.0, method.generic_arity, method.required_parameters
    )
    .expect("writing to a string");
    tree(out, &method.return_type);
    out.push('(');
    list(out, &method.parameters);
    out.push(')');
}

pub(crate) fn signature_text(method: &MethodSignature) -> String {
    let mut out = String::new();
    signature(&mut out, method);
    out
}

/// Row counts and widths of all tables.
pub(crate) fn tables(out: &mut String, metadata: Metadata<'_>) {
    writeln!(out, "metadata {}", quote(&metadata.version())).expect("writing to a string");
    for &table in Table::ALL {
        let (rows, width) = (metadata.row_count(table), metadata.row_width(table));
        if rows > 0 {
            writeln!(out, "table {:02x} rows={rows} width={width}", table as u8)
                .expect("writing to a string");
        }
    }
}
