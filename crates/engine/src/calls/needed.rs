//! Assemblies that a method needs and that are nowhere: the runtime finds that out when it compiles the method, and where a debugger
//! has called it, that ends the program (before .NET 10). So it is told before.
//!
//! Only what is sure is refused: an assembly that is loaded, lies beside one that is, is named by a list of the program's
//! dependencies, or may be found by code of the program, is left to the runtime.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use metadata::tables::{AssemblyRefRow, MethodSpecRow, Table};
use metadata::{Metadata, Token, model::TypeScope};

use crate::stepping::il;
use crate::types::{Method, Types};
use crate::values::Reader;

thread_local! {
    /// The assemblies that a module refers to and that are nowhere, by its file.
    static MISSING: RefCell<HashMap<PathBuf, Vec<String>>> = RefCell::default();
}

/// The name of an assembly that the code of a method needs and that is surely nowhere.
pub(super) fn missing_assembly(reader: &Reader<'_>, method: &Method) -> Option<String> {
    let types = reader.types;
    let module = types.module(method.declared_in.module).ok()?;
    if !module.path.is_absolute() {
        return None;
    }
    let opened = types.metadata(method.declared_in.module).ok()?;
    let metadata = opened.metadata();
    let known = MISSING.with_borrow(|it| it.get(&module.path).cloned());
    let missing = known.unwrap_or_else(|| {
        let missing = references(metadata).filter(|it| is_nowhere(types, it));
        let missing: Vec<String> = missing.collect();
        MISSING.with_borrow_mut(|it| it.insert(module.path.clone(), missing.clone()));
        missing
    });
    if missing.is_empty() {
        return None;
    }
    let body = opened.body(method.token).ok()??;
    let needed = tokens(body.code).filter_map(|it| assembly_of(metadata, it, 0));
    let mut lacking = needed.filter(|it| missing.contains(it) && is_nowhere(types, it));
    lacking.next().filter(|_| !may_be_resolved(reader))
}

fn references(metadata: Metadata<'_>) -> impl Iterator<Item = String> {
    metadata
        .rows::<AssemblyRefRow>()
        .filter_map(move |(row, _)| {
            let reference = metadata.assembly_ref(Token::new(Table::AssemblyRef, row));
            Some(reference.ok()?.name.to_string())
        })
}

/// Whether an assembly is neither loaded nor to be found.
fn is_nowhere(types: Types<'_>, name: &str) -> bool {
    if types.assembly(name).is_some() {
        return false;
    }
    let folders: BTreeSet<&Path> = types
        .modules
        .iter()
        .filter_map(|it| it.path.parent().filter(|it| it.is_absolute()))
        .collect();
    let file = format!("{name}.dll");
    !folders.iter().any(|folder| {
        folder.join(&file).exists()
            || folder.join(format!("{name}.exe")).exists()
            || is_listed(folder, &file)
    })
}

/// Whether a list of dependencies in a folder names a file, wherever that may lie.
fn is_listed(folder: &Path, file: &str) -> bool {
    let Ok(entries) = fs::read_dir(folder) else {
        return true;
    };
    let mut lists = entries.flatten().map(|it| it.path()).filter(|it| {
        let name = it.file_name().map(|it| it.to_string_lossy());
        name.is_some_and(|it| it.ends_with(".deps.json"))
    });
    lists.any(|list| fs::read_to_string(list).map_or(true, |text| text.contains(file)))
}

/// Whether code of the program may find what the runtime does not.
fn may_be_resolved(reader: &Reader<'_>) -> bool {
    let types = reader.types;
    let loader = "System.Runtime.Loader";
    let held = |owner: &str, field: &str| {
        let owner = types.core_named(loader, owner)?;
        let fields = types.fields(&owner).ok()?;
        let field = fields.iter().find(|it| *it.name == *field)?;
        let value = reader.static_field(&owner, field, None);
        // What was never used holds nothing.
        match value {
            Ok(value) => Some(reader.object(&value).ok()?),
            Err(_) => Some(None),
        }
    };
    let Some(None) = held("AssemblyLoadContext", "AssemblyResolve") else {
        return true;
    };
    match held("DefaultAssemblyLoadContext", "s_loadContext") {
        Some(Some(context)) => {
            let handler = reader.object_field(&context, "_resolving");
            let handler = handler.and_then(|it| reader.object(&it));
            !matches!(handler, Ok(None))
        }
        Some(None) => false,
        None => true,
    }
}

/// The tokens of types and members that code names.
fn tokens(code: &[u8]) -> impl Iterator<Item = Token> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(instruction) = il::read(code, at) {
        let operand = match code.get(at..at + 2) {
            Some([0xfe, 0x06 | 0x07 | 0x15 | 0x16 | 0x1c]) => Some(at + 2),
            Some([0x28 | 0x6f..=0x71 | 0x73..=0x75 | 0x79 | 0x7b..=0x81, _]) => Some(at + 1),
            Some([0x8c | 0x8d | 0x8f | 0xa3..=0xa5 | 0xc2 | 0xc6 | 0xd0, _]) => Some(at + 1),
            _ => None,
        };
        let token = operand.and_then(|it| code.get(it..)?.first_chunk());
        found.extend(token.map(|it| Token(u32::from_le_bytes(*it))));
        at = instruction.next;
    }
    found.into_iter()
}

/// The assembly that something lies in which a token names, if that is another one.
fn assembly_of(metadata: Metadata<'_>, token: Token, depth: u32) -> Option<String> {
    if depth > 8 {
        return None;
    }
    match token.table()? {
        Table::TypeRef => match metadata.type_scope(token).ok()? {
            TypeScope::Assembly(assembly) => {
                Some(metadata.assembly_ref(assembly).ok()?.name.to_string())
            }
            TypeScope::Nested(outer) => assembly_of(metadata, outer, depth + 1),
            _ => None,
        },
        Table::MemberRef => {
            let parent = metadata.member_ref(token).ok()?.parent;
            assembly_of(metadata, parent, depth + 1)
        }
        Table::MethodSpec => {
            let row: MethodSpecRow = metadata.row_of(token).ok()?;
            assembly_of(metadata, row.method, depth + 1)
        }
        _ => None,
    }
}
