//! One frame as data: its method with type arguments, its place in the source, whose code it is.

use cordebug::bindings;
use cordebug::hresult::CORDBG_E_CODE_NOT_AVAILABLE;
use cordebug::process::Process;
use cordebug::thread::{Frame as RuntimeFrame, Mapping};
use metadata::pe::ClauseKind;
use metadata::{IlOffset, Metadata, Token};

use super::stubs;
use crate::api::{Block, Frame, FrameKind, Line, Source};
use crate::modules::{LoadedModule, Modules};
use crate::target::Target;

/// What stands for the name of a function that was emitted without one.
pub(crate) const LIGHTWEIGHT: &str = "[lightweight function]";

/// Everything that can be told of a frame; what cannot be read is left out, never guessed.
pub(crate) fn describe(target: &mut Target, frame: &RuntimeFrame, index: u32) -> Frame {
    let Target {
        modules,
        process,
        broke,
        ..
    } = target;
    let mut told = Frame {
        index,
        kind: FrameKind::Transition,
        ..Frame::default()
    };
    if let Some(kind) = frame.internal_kind() {
        told.method = internal_name(kind).into();
        if kind == bindings::STUBFRAME_LIGHTWEIGHT_FUNCTION {
            told.kind = FrameKind::Dynamic;
        }
        return told;
    }
    let function = match frame.function() {
        Ok(function) => function,
        // Functions of `DynamicMethod` belong to no module, nor does what the runtime itself has emitted.
        Err(error) if error.code() == Some(CORDBG_E_CODE_NOT_AVAILABLE) => {
            match stubs::name(process, frame) {
                Some(stub) => told.method = stub,
                None => {
                    told.kind = FrameKind::Dynamic;
                    told.method = LIGHTWEIGHT.into();
                }
            }
            return told;
        }
        Err(error) => {
            told.method = format!("[no method: {error}]");
            return told;
        }
    };
    let (Ok(token), Ok(module)) = (function.token(), function.module()) else {
        told.method = "[a method that is gone]".into();
        return told;
    };
    let token = Token(token);
    let ip = frame.ip().ok().flatten();
    told.il_offset = ip
        .filter(|(_, mapping)| *mapping != Mapping::Unmapped)
        .map(|(offset, _)| offset);
    let identity = module.identity();
    let generic = {
        let module = modules.entry(&module);
        told.module = Some(module.file_name());
        told.optimized = module.is_optimized().unwrap_or(false);
        let Ok(opened) = module.metadata(process) else {
            let dynamic = module.module.is_dynamic().unwrap_or(false);
            told.kind = if dynamic {
                FrameKind::Dynamic
            } else {
                FrameKind::External
            };
            let arguments = crate::names::arguments_of(modules, process, frame);
            if let Some(module) = modules.get(identity) {
                told.method = method_name(module, process, token, &arguments);
            }
            return told;
        };
        crate::names::is_generic(opened.metadata(), token)
    };
    let arguments = if generic {
        crate::names::arguments_of(modules, process, frame)
    } else {
        Vec::new()
    };
    let Some(module) = modules.get(identity) else {
        return told;
    };
    told.method = method_name(module, process, token, &arguments);
    // Where the exact place is not known, the place near it still tells the statement.
    if let Some((offset, _)) = ip {
        // Where a call returns to may be the next statement already: what counts is the call.
        let calls = index > 0 || (broke.is_some() && frame.stack_end().ok() == *broke);
        let returns = calls && begins_statement(module, process, token, offset);
        let calling = returns.then(|| frame.calling_offset()).flatten();
        told.source = source(module, process, token, IlOffset(calling.unwrap_or(offset)));
    }
    told.kind = kind(module, process, token);
    told.user_code = told.kind == FrameKind::User;
    told.is_async = is_async(module, process, token);
    // A filter is no funclet for the runtime, but nothing else runs its code.
    let block = ip.and_then(|(offset, _)| block_at(module, process, token, offset));
    told.block = block.filter(|block| *block == Block::Filter);
    told
}

/// Whether a statement begins at an offset.
fn begins_statement(module: &LoadedModule, process: &Process, method: Token, offset: u32) -> bool {
    let points = module
        .symbols(process)
        .ok()
        .and_then(|symbols| symbols.sequence_points(method).ok());
    points.is_some_and(|mut points| points.any(|it| it.offset.0 == offset))
}

/// A method with the arguments that it runs with.
pub(crate) fn method_name(
    module: &LoadedModule,
    process: &Process,
    method: Token,
    arguments: &[String],
) -> String {
    let Ok(opened) = module.metadata(process) else {
        return super::emitted::method_name(&module.module, method, arguments)
            .unwrap_or_else(|| format!("[method 0x{:08x}]", method.0));
    };
    let declared = crate::names::declared(module, process, method);
    let around = module.local_functions_around(process, method);
    crate::names::method(opened.metadata(), method, (declared, &around), arguments)
}

/// Whose code a method is.
pub(crate) fn kind(module: &LoadedModule, process: &Process, method: Token) -> FrameKind {
    let Ok(opened) = module.metadata(process) else {
        return FrameKind::External;
    };
    let metadata = opened.metadata();
    if metadata.is_debugger_hidden(method) {
        return FrameKind::Hidden;
    }
    let Ok(symbols) = module.symbols(process) else {
        return FrameKind::External;
    };
    if is_foreign(metadata, method) || module.is_test_framework() {
        return FrameKind::External;
    }
    let has_text = symbols
        .sequence_points(method)
        .is_ok_and(|mut points| points.any(|point| point.span.is_some()));
    if has_text {
        FrameKind::User
    } else {
        FrameKind::Hidden
    }
}

/// Whether a method, or the type it is in, is marked as not the user's.
fn is_foreign(metadata: Metadata<'_>, method: Token) -> bool {
    let marked = |token| {
        metadata.is_debugger_non_user_code(token) || metadata.is_debugger_step_through(token)
    };
    if marked(method) {
        return true;
    }
    let ty = metadata
        .method(method)
        .and_then(|method| method.declaring_type());
    // The marks of a type hold for the types in it, closures and state machines among them.
    ty.and_then(|ty| metadata.type_path(ty))
        .is_ok_and(|path| path.into_iter().any(marked))
}

/// Whether a method is the body of an async method.
pub(crate) fn is_async(module: &LoadedModule, process: &Process, method: Token) -> bool {
    let Ok(opened) = module.metadata(process) else {
        return false;
    };
    let metadata = opened.metadata();
    let found = || -> metadata::Result<bool> {
        let method = metadata.method(method)?;
        if method.name_bytes()? != b"MoveNext" {
            return Ok(false);
        }
        let ty = metadata.type_def(method.declaring_type()?)?;
        let mut interfaces = ty.interfaces().flatten();
        Ok(interfaces.any(|it| {
            metadata.is_type_named(it, "System.Runtime.CompilerServices", "IAsyncStateMachine")
        }))
    };
    found().unwrap_or(false)
}

/// The statement that an offset belongs to.
pub(crate) fn source(
    module: &LoadedModule,
    process: &Process,
    method: Token,
    offset: IlOffset,
) -> Option<Source> {
    let symbols = module.symbols(process).ok()?;
    let pdb = symbols.pdb();
    let points = symbols.sequence_points(method).ok()?;
    // Code that no text belongs to is shown with the text before it.
    let before = points
        .take_while(|point| point.offset <= offset)
        .filter(|point| point.span.is_some());
    let Some(point) = before.last() else {
        // At its beginning, where no text is before it, with the one that is come to.
        let mut entered = module.entered(process, method)?.into_iter();
        let (_, path, line, column) = match offset {
            IlOffset(0) => entered.next()?,
            _ => entered.find(|(entry, ..)| *entry == offset)?,
        };
        return Some(Source {
            path,
            line: Line(line),
            column: Some(column),
        });
    };
    let span = point.span?;
    let path = pdb.document(point.document).ok()?.path().ok()?;
    Some(Source {
        path: module.source_path(&path),
        line: Line(span.start_line),
        column: Some(span.start_column),
    })
}

/// The first statement at or behind an offset.
pub(crate) fn source_from(
    module: &LoadedModule,
    process: &Process,
    method: Token,
    offset: IlOffset,
) -> Option<Source> {
    let symbols = module.symbols(process).ok()?;
    let pdb = symbols.pdb();
    let mut points = symbols.sequence_points(method).ok()?;
    let point = points.find(|point| point.offset >= offset && point.span.is_some())?;
    let span = point.span?;
    let path = pdb.document(point.document).ok()?.path().ok()?;
    Some(Source {
        path: path.into(),
        line: Line(span.start_line),
        column: Some(span.start_column),
    })
}

/// Which block of its method a funclet runs: the innermost whose code has the offset.
pub(crate) fn block(
    modules: &mut Modules,
    process: &Process,
    frame: &RuntimeFrame,
) -> Option<Block> {
    let (offset, _) = frame.ip().ok()??;
    let function = frame.function().ok()?;
    let module = modules.entry(&function.module().ok()?);
    block_at(module, process, Token(function.token().ok()?), offset)
}

/// The innermost block of a method that handles exceptions and whose code has the offset.
fn block_at(module: &LoadedModule, process: &Process, method: Token, offset: u32) -> Option<Block> {
    let clauses = module.metadata(process).ok()?.body(method).ok()??.clauses;
    // Inner clauses come first.
    clauses.iter().find_map(|clause| {
        let inside = |start: u32, length: u32| offset >= start && offset - start < length;
        if inside(clause.handler_start.0, clause.handler_length) {
            return Some(match clause.kind {
                ClauseKind::Catch(_) | ClauseKind::Filter(_) => Block::Catch,
                ClauseKind::Finally | ClauseKind::Fault => Block::Finally,
            });
        }
        match clause.kind {
            // A filter ends where its handler begins.
            ClauseKind::Filter(start)
                if inside(start.0, clause.handler_start.0.saturating_sub(start.0)) =>
            {
                Some(Block::Filter)
            }
            _ => None,
        }
    })
}

pub(super) fn internal_name(kind: bindings::CorDebugInternalFrameType) -> &'static str {
    match kind {
        bindings::STUBFRAME_M2U => "[managed to native transition]",
        bindings::STUBFRAME_U2M => "[native to managed transition]",
        bindings::STUBFRAME_APPDOMAIN_TRANSITION => "[application domain transition]",
        bindings::STUBFRAME_LIGHTWEIGHT_FUNCTION => LIGHTWEIGHT,
        bindings::STUBFRAME_FUNC_EVAL => "[function evaluation]",
        bindings::STUBFRAME_CLASS_INIT => "[class initialisation]",
        bindings::STUBFRAME_EXCEPTION => "[exception handling]",
        bindings::STUBFRAME_SECURITY => "[security check]",
        bindings::STUBFRAME_JIT_COMPILATION => "[compiling]",
        _ => "[internal frame]",
    }
}
