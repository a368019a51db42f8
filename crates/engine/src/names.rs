//! Names of methods and types as a person writes them.

use cordebug::process::Process;
use cordebug::thread::Frame;
use cordebug::types::Type;
use metadata::csharp::{GenericNames, Style};
use metadata::{Metadata, Token};

use crate::modules::{LoadedModule, Modules};

/// Types in the middle of a signature are short; what a name begins with is not.
const SHORT: Style = Style { namespaces: false };
const FULL: Style = Style { namespaces: true };
/// Type arguments inside type arguments that are written out.
const MAX_DEPTH: usize = 8;

/// `Namespace.Type.Method(int count, string name)`; `declared` is the method whose parameters are shown, which for the
/// code of an async method or iterator is the one that the user wrote, `around` the local functions that it is written in.
/// `arguments` stand for the generic parameters of the type, then of the method; none for the declared names.
pub(crate) fn method(
    metadata: Metadata<'_>,
    token: Token,
    (declared, around): (Token, &[Token]),
    arguments: &[String],
) -> String {
    let named = || -> metadata::Result<String> {
        let names = split(metadata, token, arguments);
        let name = metadata.method_name_inside(token, around, &names, FULL)?;
        let names = split(metadata, declared, arguments);
        let parameters = metadata.parameters_text(&metadata.method(declared)?, &names, SHORT)?;
        let parameters = as_written(&parameters);
        Ok(format!("{name}({parameters})"))
    };
    named().unwrap_or_else(|_| format!("0x{:08x}", token.0))
}

/// Parameters without those by which the compiler hands a local function what it has captured: they come last.
fn as_written(parameters: &str) -> &str {
    let Some((before, _)) = parameters.split_once("<>c__DisplayClass") else {
        return parameters;
    };
    match before.rfind("ref ") {
        Some(at) if !before.get(at..).is_some_and(|it| it.contains(',')) => {
            let written = before.get(..at).unwrap_or_default();
            written.strip_suffix(", ").unwrap_or(written)
        }
        _ => parameters,
    }
}

/// The arguments as a method sees them: those of its type, then its own.
fn split(metadata: Metadata<'_>, method: Token, arguments: &[String]) -> GenericNames {
    let of_type = metadata
        .method(method)
        .and_then(|method| method.declaring_type())
        .map_or(0, |ty| metadata.generic_params(ty).count());
    let (of_type, of_method) = arguments.split_at(of_type.min(arguments.len()));
    GenericNames {
        of_type: of_type.to_vec(),
        of_method: of_method.to_vec(),
        are_arguments: !arguments.is_empty(),
    }
}

/// `Namespace.Type`.
pub(crate) fn type_name(metadata: Metadata<'_>, token: Token) -> String {
    metadata.type_def_text(
        token,
        &GenericNames::declared(metadata, Some(token), None),
        FULL,
    )
}

/// Whether a method, or the type it is in, has generic parameters.
pub(crate) fn is_generic(metadata: Metadata<'_>, method: Token) -> bool {
    metadata.generic_params(method).next().is_some()
        || metadata
            .method(method)
            .and_then(|method| method.declaring_type())
            .is_ok_and(|ty| metadata.generic_params(ty).next().is_some())
}

/// The types that the generic parameters of a frame stand for, as text; none if they cannot be told.
pub(crate) fn arguments_of(modules: &mut Modules, process: &Process, frame: &Frame) -> Vec<String> {
    let types = frame.type_arguments().unwrap_or_default();
    let texts = types.iter().map(|ty| type_text(modules, process, ty));
    let texts: Vec<String> = texts.collect();
    // The runtime's own stands for any reference in code that does not keep which.
    match texts.iter().any(|it| it.contains("__Canon")) {
        true => Vec::new(),
        false => texts,
    }
}

/// A type with its arguments: `Dictionary<string, int[]>`.
pub(crate) fn type_text(modules: &mut Modules, process: &Process, ty: &Type) -> String {
    text(modules, process, ty, 0, SHORT).unwrap_or_else(|| "?".into())
}

/// A type with its namespace and its arguments: `System.Collections.Generic.Dictionary<string, int[]>`.
pub(crate) fn full_type_text(modules: &mut Modules, process: &Process, ty: &Type) -> String {
    text(modules, process, ty, 0, FULL).unwrap_or_else(|| "?".into())
}

fn text(
    modules: &mut Modules,
    process: &Process,
    ty: &Type,
    depth: usize,
    style: Style,
) -> Option<String> {
    if depth > MAX_DEPTH {
        return Some("…".into());
    }
    let element = ty.element_type().ok()?;
    if let Some(keyword) = keyword(element) {
        return Some(keyword.into());
    }
    let mut arguments = Vec::new();
    for argument in ty.arguments().unwrap_or_default() {
        let argument = text(modules, process, &argument, depth + 1, SHORT);
        arguments.push(argument.unwrap_or_else(|| "?".into()));
    }
    // ECMA-335 II.23.1.16: pointer, reference, class or value type, array, one-dimensional array.
    let first = || arguments.first().cloned().unwrap_or_else(|| "?".into());
    match element {
        0x0f => Some(format!("{}*", first())),
        0x10 => Some(format!("ref {}", first())),
        0x14 => {
            let commas = (ty.rank().ok()?.clamp(1, 32) - 1) as usize;
            Some(format!("{}[{}]", first(), ",".repeat(commas)))
        }
        0x1d => Some(format!("{}[]", first())),
        0x11 | 0x12 => {
            let class = ty.class().ok()?;
            let token = Token(class.token().ok()?);
            let module = modules.entry(&class.module().ok()?);
            let metadata = module.metadata(process).ok()?.metadata();
            let names = GenericNames {
                of_type: arguments,
                are_arguments: true,
                ..GenericNames::default()
            };
            Some(metadata.type_def_text(token, &names, style))
        }
        _ => None,
    }
}

fn keyword(element: u32) -> Option<&'static str> {
    Some(match element {
        0x01 => "void",
        0x02 => "bool",
        0x03 => "char",
        0x04 => "sbyte",
        0x05 => "byte",
        0x06 => "short",
        0x07 => "ushort",
        0x08 => "int",
        0x09 => "uint",
        0x0a => "long",
        0x0b => "ulong",
        0x0c => "float",
        0x0d => "double",
        0x0e => "string",
        0x16 => "System.TypedReference",
        0x18 => "nint",
        0x19 => "nuint",
        0x1c => "object",
        _ => return None,
    })
}

/// The method that the user wrote, for the code of an async method or iterator; else the method itself.
pub(crate) fn declared(module: &LoadedModule, process: &Process, method: Token) -> Token {
    let Ok(symbols) = module.symbols(process) else {
        return method;
    };
    let kickoff = |method| symbols.pdb().kickoff_method(method).ok().flatten();
    let of_finally = || {
        let metadata = module.metadata(process).ok()?.metadata();
        let finally = metadata.method(method).ok()?;
        if !finally.name_bytes().ok()?.starts_with(b"<>m__Finally") {
            return None;
        }
        let machine = metadata.type_def(finally.declaring_type().ok()?).ok()?;
        let mut methods = machine.methods().flatten();
        let runs = methods.find(|it| it.name_bytes().is_ok_and(|it| it == b"MoveNext"))?;
        kickoff(runs.token())
    };
    kickoff(method).or_else(of_finally).unwrap_or(method)
}
