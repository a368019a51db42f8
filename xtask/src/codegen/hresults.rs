//! Reads the runtime's HRESULT definitions and writes them as constants.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Context, ensure};

use super::cordebug::MARK;

const HEAD: &str = r#"
//! The runtime's HRESULTs: one constant each, and a table from value to name.

#![allow(
    missing_docs,
    non_upper_case_globals,
    reason = "the names are the runtime's; `explanation` says what they mean"
)]

use crate::com::HRESULT;
"#;

/// HRESULTs that every COM library has; the runtime's own file refers to them by name.
const COMMON: &[(&str, u32)] = &[
    ("S_OK", 0),
    ("S_FALSE", 1),
    ("E_PENDING", 0x8000_000a),
    ("E_BOUNDS", 0x8000_000b),
    ("E_NOTIMPL", 0x8000_4001),
    ("E_NOINTERFACE", 0x8000_4002),
    ("E_POINTER", 0x8000_4003),
    ("E_ABORT", 0x8000_4004),
    ("E_FAIL", 0x8000_4005),
    ("E_UNEXPECTED", 0x8000_ffff),
    ("E_ACCESSDENIED", 0x8007_0005),
    ("E_HANDLE", 0x8007_0006),
    ("E_OUTOFMEMORY", 0x8007_000e),
    ("E_INVALIDARG", 0x8007_0057),
];

/// Win32 error numbers that the runtime's file refers to by name.
const WIN32: &[(&str, u32)] = &[
    ("ERROR_FILE_NOT_FOUND", 2),
    ("ERROR_PATH_NOT_FOUND", 3),
    ("ERROR_HANDLE_EOF", 38),
    ("ERROR_FILENAME_EXCED_RANGE", 206),
    ("ERROR_ARITHMETIC_OVERFLOW", 534),
    ("ERROR_STACK_OVERFLOW", 1001),
];

/// `(name, value)` in the order of the file, the common ones first.
pub(super) fn parse(header: &str) -> anyhow::Result<Vec<(String, u32)>> {
    let mut codes: Vec<(String, u32)> = COMMON
        .iter()
        .map(|(name, value)| ((*name).to_owned(), *value))
        .collect();
    for line in header.lines() {
        let Some(definition) = line.strip_prefix("#define ") else {
            continue;
        };
        let Some((name, value)) = definition.trim().split_once(' ') else {
            continue;
        };
        // The others are the macros that the definitions are made with.
        if name.contains("_E_") || name.contains("_S_") {
            let value = evaluate(value.trim()).with_context(|| format!("`{line}`"))?;
            codes.push((name.to_owned(), value));
        }
    }
    let n_debugger = codes
        .iter()
        .filter(|(name, _)| name.starts_with("CORDBG_"))
        .count();
    ensure!(n_debugger > 0, "no CORDBG_ code found; is this corerror.h?");
    Ok(codes)
}

fn evaluate(text: &str) -> anyhow::Result<u32> {
    let call = text.strip_suffix(')').and_then(|text| text.split_once('('));
    let Some((macro_name, argument)) = call else {
        let common = COMMON.iter().find(|(name, _)| *name == text);
        return common
            .map(|(_, value)| *value)
            .context("neither a macro nor a common code");
    };
    let number = || {
        let digits = argument.trim_start_matches("0x").trim_end_matches('L');
        u32::from_str_radix(digits, 16)
    };
    match macro_name {
        "EMAKEHR" => Ok(0x8013_0000 | number()?),
        "SMAKEHR" => Ok(0x0013_0000 | number()?),
        "_HRESULT_TYPEDEF_" => Ok(number()?),
        "__HRESULT_FROM_WIN32" => {
            let found = WIN32.iter().find(|(name, _)| *name == argument);
            let (_, code) = found.context("unknown Win32 error")?;
            Ok(0x8007_0000 | code)
        }
        other => anyhow::bail!("unknown macro {other}"),
    }
}

/// The text of `hresult/codes.rs`.
pub(super) fn emit(codes: &[(String, u32)]) -> String {
    let mut out = format!("{MARK}{HEAD}\n");
    let mut by_value = BTreeMap::new();
    for (name, value) in codes {
        // Where two names share a value, the first is the one people know (E_INVALIDARG).
        by_value.entry(*value).or_insert(name);
        let cast = if i32::try_from(*value).is_ok() {
            ""
        } else {
            "_u32 as i32"
        };
        let _ = writeln!(
            out,
            "pub const {name}: HRESULT = HRESULT({value:#010x}{cast});"
        );
    }
    let n_cordbg = codes
        .iter()
        .filter(|(name, _)| name.starts_with("CORDBG_"))
        .count();
    let _ = writeln!(out, "\n/// How many `CORDBG_` constants there are.");
    let _ = writeln!(
        out,
        "#[cfg(test)]\npub(super) const N_CORDBG: usize = {n_cordbg};"
    );
    let n = by_value.len();
    let _ = writeln!(out, "\n/// Names by value, sorted by value.");
    let _ = writeln!(out, "pub(super) static NAMES: [(u32, &str); {n}] = [");
    for (value, name) in by_value {
        let _ = writeln!(out, "({value:#010x}, \"{name}\"),");
    }
    let _ = writeln!(out, "];");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn understands_every_form_of_definition() {
        let header = "#define EMAKEHR(val) MAKE_HRESULT(1, 2, val)\n\
            #define CORDBG_E_A EMAKEHR(0x1302)\n\
            #define CORDBG_S_B SMAKEHR(0x1324)\n\
            #define COR_E_ARGUMENT E_INVALIDARG\n\
            #define COR_E_FILENOTFOUND __HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND)\n\
            #define COR_E_BADIMAGEFORMAT _HRESULT_TYPEDEF_(0x8007000BL)\n";
        let codes = parse(header).expect("parses");
        let values: Vec<u32> = codes.iter().skip(COMMON.len()).map(|(_, v)| *v).collect();
        assert_eq!(
            values,
            [
                0x8013_1302,
                0x0013_1324,
                0x8007_0057,
                0x8007_0002,
                0x8007_000b
            ]
        );
    }
}
