//! Who will handle an exception that was just thrown: read from the exception clauses of the methods on the stack, as the
//! runtime is about to do itself.

use cordebug::thread::{Frame as RuntimeFrame, Mapping, Thread};
use cordebug::types::Type;
use cordebug::value::Value;
use metadata::pe::{ClauseKind, ExceptionClause, MethodBody};
use metadata::{IlOffset, Metadata, Token};

use super::asked::{Asked, arguments_of};
use super::compiled;
use crate::api::{Frame, Handler, Then};
use crate::fields::Fields;
use crate::modules::LoadedModule;
use crate::stack::{Walk, Walked, frame};
use crate::target::Target;

/// Frames that are looked at for a handler.
pub(super) const MAX_FRAMES: u32 = 2_000;

/// The framework's methods that run what a task is made of, and keep its exception. The second one throws it again, to
/// the first.
const RUNS_TASKS: [&str; 2] = [
    "System.Threading.Tasks.Task.",
    "System.Threading.ExecutionContext.RunFromThreadPoolDispatchLoop(",
];

/// Who will handle the exception, as far as can be told before filters have run.
pub(super) fn predict(target: &mut Target, thread: &Thread, exception: &Value) -> Handler {
    let types = type_names(target, exception);
    if types.is_empty() {
        return Handler::Unknown;
    }
    let mut walk = Walk::new(thread);
    for index in 0..MAX_FRAMES {
        let walked = match walk.next(target) {
            Ok(Some(walked)) => walked,
            Ok(None) => return Handler::Nobody,
            Err(_) => return Handler::Unknown,
        };
        if let Some(handler) = in_frame(target, &walked.frame, index, &types) {
            return handler;
        }
    }
    Handler::Unknown
}

/// The handler that the runtime found: a frame and an IL offset in it.
pub(super) fn found(
    target: &mut Target,
    thread: &Thread,
    handler: &RuntimeFrame,
    offset: u32,
) -> Handler {
    let index = index_of(target, thread, handler);
    let offset = decisive(target, thread, handler, offset);
    let mut told = frame::describe(target, handler, index);
    let Some((module, token)) = method_of(target, handler) else {
        return Handler::Catch {
            frame: Box::new(told),
        };
    };
    let Target {
        modules, process, ..
    } = target;
    let module = modules.get(module);
    let clause = module.and_then(|module| {
        let body = module.metadata(process).ok()?.body(token).ok()??;
        let mut clauses = body.clauses.iter();
        let index = clauses.position(|it| it.handler_start.0 == offset)?;
        Clause::at(body.clauses, index, true)
    });
    if let (Some(module), Some(clause)) = (module, &clause) {
        return caught(module, process, token, clause, told);
    }
    told.il_offset = Some(offset);
    Handler::Catch {
        frame: Box::new(told),
    }
}

/// Where the handler begins that an exception comes to in the end, if the one at an offset only hands it on.
pub(super) fn decisive(
    target: &mut Target,
    thread: &Thread,
    handler: &RuntimeFrame,
    offset: u32,
) -> u32 {
    let mut settled = || {
        let exception = super::report::current(thread)?;
        let types = type_names(target, &exception);
        let (module, token) = method_of(target, handler)?;
        let Target {
            modules, process, ..
        } = target;
        let opened = modules.get(module)?.metadata(process).ok()?;
        let is_async = frame::is_async(modules.get(module)?, process, token);
        let body = opened.body(token).ok()??;
        let mut clauses = body.clauses.iter();
        let index = clauses.position(|it| it.handler_start.0 == offset)?;
        let metadata = opened.metadata();
        let takes =
            |it: &ExceptionClause| Asked::of(metadata, body.code, &types).takes(it) != Some(false);
        let index = settle(metadata, &body, index, is_async, takes)?;
        Some(body.clauses.get(index)?.handler_start.0)
    };
    settled().unwrap_or(offset)
}

/// The clause that an exception comes to in the end. What a `finally` block with an `await` in it was (`await using` and
/// `await foreach` have one, too) catches everything, and throws it again when it is done.
fn settle(
    metadata: Metadata<'_>,
    body: &MethodBody<'_>,
    mut index: usize,
    is_async: bool,
    takes: impl Fn(&ExceptionClause) -> bool,
) -> Option<usize> {
    /// A `catch` block without a type leaves the exception; this one keeps it.
    const POP: u8 = 0x26;
    loop {
        let clause = body.clauses.get(index)?;
        let is_last = index + 1 == body.clauses.len();
        let catches_all = match clause.kind {
            ClauseKind::Catch(ty) => metadata
                .full_name(ty)
                .is_ok_and(|name| name == "System.Object"),
            _ => false,
        };
        let first = body.code.get(clause.handler_start.0 as usize);
        if !is_async || is_last || !catches_all || first == Some(&POP) {
            return Some(index);
        }
        let around = (0..).zip(&body.clauses).skip(index + 1);
        let mut around = around.filter(|(_, it)| is_tried(it, clause.handler_start.0) && takes(it));
        index = around.next()?.0;
    }
}

/// The frame with the handler that begins at an offset, for an exception that was thrown inside a `catch` or `finally`
/// block: the runtime does not name it then.
pub(super) fn unnamed(
    target: &mut Target,
    thread: &Thread,
    exception: &Value,
    offset: u32,
) -> Option<RuntimeFrame> {
    let types = type_names(target, exception);
    let mut walk = Walk::new(thread);
    for _ in 0..MAX_FRAMES {
        let Walked { frame, .. } = walk.next(target).ok()??;
        if handles_at(target, &frame, offset, &types).unwrap_or(false) {
            return Some(frame);
        }
    }
    None
}

/// Whether a frame is in a `try` block whose handler begins at an offset and takes exceptions of these types.
fn handles_at(
    target: &mut Target,
    frame: &RuntimeFrame,
    handler: u32,
    types: &[String],
) -> Option<bool> {
    let (offset, _) = frame.ip().ok()??;
    let (module, token) = method_of(target, frame)?;
    let Target {
        modules, process, ..
    } = target;
    let opened = modules.get(module)?.metadata(process).ok()?;
    let body = opened.body(token).ok()??;
    Some(body.clauses.iter().any(|clause| {
        clause.handler_start.0 == handler
            && is_tried(clause, offset)
            && Asked::of(opened.metadata(), body.code, types).takes(clause) != Some(false)
    }))
}

/// Whether an offset is in the `try` block of a clause.
fn is_tried(clause: &ExceptionClause, offset: u32) -> bool {
    offset >= clause.try_start.0 && offset - clause.try_start.0 < clause.try_length
}

/// Where a frame that the runtime names is in the stack of its thread.
fn index_of(target: &mut Target, thread: &Thread, wanted: &RuntimeFrame) -> u32 {
    let mut walk = Walk::new(thread);
    let range = wanted.stack_range();
    for index in 0..MAX_FRAMES {
        match walk.next(target) {
            Ok(Some(walked)) if range.is_some() && walked.frame.stack_range() == range => {
                return index;
            }
            Ok(Some(_)) => {}
            _ => break,
        }
    }
    0
}

fn method_of(target: &mut Target, frame: &RuntimeFrame) -> Option<(usize, Token)> {
    let function = frame.function().ok()?;
    let module = function.module().ok()?;
    target.modules.entry(&module);
    Some((module.identity(), Token(function.token().ok()?)))
}

/// The full names of the exception's type and those it is derived from, as metadata has them.
pub(super) fn type_names(target: &mut Target, exception: &Value) -> Vec<String> {
    let fields = Fields::new(target);
    let classes = exception.class_chain().unwrap_or_default();
    let names = classes.iter().filter_map(|class| {
        let module = fields.modules.entry(&class.module().ok()?);
        let metadata = module.metadata(fields.process).ok()?.metadata();
        metadata.full_name(Token(class.token().ok()?)).ok()
    });
    names.collect()
}

/// Who in a method takes an exception of these types, at a place in it; `None` if it leaves the method there.
pub(super) fn at_place(
    target: &mut Target,
    (module, method, at): (usize, Token, IlOffset),
    arguments: impl FnOnce() -> Result<Vec<Type>, cordebug::Error>,
    types: &[String],
    told: Frame,
) -> Option<Handler> {
    let arguments = arguments_of(target, module, method, arguments);
    let Target {
        modules, process, ..
    } = target;
    let module = modules.get(module)?;
    let opened = module.metadata(process).ok()?;
    let body = opened.body(method).ok()??;
    let is_async = frame::is_async(module, process, method);
    let guards = |_, clause: &ExceptionClause| is_tried(clause, at.0);
    let asked = Asked::new(opened.metadata(), body.code, types, method, &arguments);
    let clause = first_clause(&asked, body, is_async, guards)?;
    Some(caught(module, process, method, &clause, told))
}

/// The first clause that may take an exception of these types, of those that guard a place.
fn first_clause(
    asked: &Asked<'_>,
    body: MethodBody<'_>,
    is_async: bool,
    guards: impl Fn(usize, &ExceptionClause) -> bool,
) -> Option<Clause> {
    let may_take = |it: &ExceptionClause| asked.takes(it) != Some(false);
    let mut numbered = (0..).zip(&body.clauses);
    let (first, _) = numbered.find(|(index, it)| guards(*index, it) && may_take(it))?;
    let index = settle(asked.metadata, &body, first, is_async, may_take)?;
    let is_certain = asked.takes(body.clauses.get(index)?).is_some();
    Clause::at(body.clauses, index, is_certain)
}

pub(super) fn in_frame(
    target: &mut Target,
    runtime_frame: &RuntimeFrame,
    index: u32,
    types: &[String],
) -> Option<Handler> {
    let (offset, mapping) = runtime_frame.ip().ok()??;
    let (module, token) = method_of(target, runtime_frame)?;
    let arguments = arguments_of(target, module, token, || runtime_frame.type_arguments());
    let clause = {
        let Target {
            modules, process, ..
        } = target;
        let opened = modules.get(module)?.metadata(process).ok()?;
        let metadata = opened.metadata();
        let body = opened.body(token).ok()??;
        let guarding = (mapping != Mapping::Exact)
            .then(|| compiled::guarding(process, runtime_frame, &body.clauses))
            .flatten();
        let in_filter = body.clauses.iter().any(|clause| {
            matches!(clause.kind, ClauseKind::Filter(start) if (start.0..clause.handler_start.0).contains(&offset))
        });
        if in_filter {
            return Some(Handler::FilterFails {
                frame: Box::new(frame::describe(target, runtime_frame, index)),
            });
        }
        let asked = Asked::new(metadata, body.code, types, token, &arguments);
        let may_take = |clause: &ExceptionClause| asked.takes(clause) != Some(false);
        if mapping == Mapping::Unmapped && guarding.is_none() && body.clauses.iter().any(may_take) {
            return Some(Handler::Unknown);
        }
        let is_async = frame::is_async(modules.get(module)?, process, token);
        let clause = first_clause(&asked, body, is_async, |index, clause| {
            let guards = guarding.as_ref().map(|it| it.contains(&index));
            guards.unwrap_or_else(|| is_tried(clause, offset))
        });
        let static_constructor = || {
            let name = metadata.method(token).ok()?.name().ok()?;
            (name == ".cctor").then_some(())
        };
        match clause {
            Some(clause) => Some(clause),
            None => {
                static_constructor()?;
                None
            }
        }
    };
    let told = frame::describe(target, runtime_frame, index);
    let Some(clause) = clause else {
        return Some(Handler::TypeInitializer {
            frame: Box::new(told),
        });
    };
    let Target {
        modules, process, ..
    } = target;
    Some(caught(modules.get(module)?, process, token, &clause, told))
}

/// A clause that takes an exception.
struct Clause {
    it: ExceptionClause,
    /// Whether it is the last one. Inner ones come first, so the one that the compiler puts around all of an async method is.
    is_last: bool,
    /// Whether it takes it for certain, if it has no filter.
    is_certain: bool,
}

impl Clause {
    fn at(all: Vec<ExceptionClause>, index: usize, is_certain: bool) -> Option<Self> {
        let is_last = index + 1 == all.len();
        let it = all.into_iter().nth(index)?;
        Some(Self {
            it,
            is_last,
            is_certain,
        })
    }
}

/// What it means that a clause of a method takes the exception.
fn caught(
    module: &LoadedModule,
    process: &cordebug::process::Process,
    method: Token,
    clause: &Clause,
    mut told: Frame,
) -> Handler {
    let Clause {
        it: clause,
        is_last,
        is_certain,
    } = clause;
    told.il_offset = Some(clause.handler_start.0);
    if let ClauseKind::Filter(start) = clause.kind {
        let text = first_text(module, process, method, start, clause.handler_start);
        told.source = text.or(told.source);
        return Handler::Filter {
            frame: Box::new(told),
        };
    }
    if !is_certain {
        return Handler::Unknown;
    }
    let end = IlOffset(clause.handler_start.0.saturating_add(clause.handler_length));
    let text = first_text(module, process, method, clause.handler_start, end);
    if text.is_none() && *is_last && frame::is_async(module, process, method)
        || RUNS_TASKS.iter().any(|it| told.method.starts_with(it))
    {
        // The position stays where the method was left: the compiler's own handler has no text.
        return Handler::Task {
            frame: Box::new(told),
            then: Box::new(Then::Unknown),
        };
    }
    if text.is_some() {
        told.source = text;
    }
    Handler::Catch {
        frame: Box::new(told),
    }
}

fn first_text(
    module: &LoadedModule,
    process: &cordebug::process::Process,
    method: Token,
    start: IlOffset,
    end: IlOffset,
) -> Option<crate::api::Source> {
    let pdb = module.symbols(process).ok()?.pdb();
    let mut points = pdb.sequence_points(method).ok()?.flatten();
    let point = points.find(|it| it.span.is_some() && it.offset >= start && it.offset < end)?;
    let span = point.span?;
    let path = pdb.document(point.document).ok()?.path().ok()?;
    Some(crate::api::Source {
        path: module.source_path(&path),
        line: crate::api::Line(span.start_line),
        column: Some(span.start_column),
    })
}
