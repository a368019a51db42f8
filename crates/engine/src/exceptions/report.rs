//! Exceptions as data, read from fields: nothing runs in the program.

use cordebug::thread::{Frame, Thread};
use cordebug::value::{TraceEntry, Value};
use metadata::{IlOffset, Token};

use crate::api::{
    Error, ExceptionReport, ExceptionStage, Flight, FrameKind, Handler, Reply, ThreadId, TraceFrame,
};
use crate::engine::Engine;
use crate::fields::Fields;
use crate::stack::{Walk, frame};
use crate::target::Target;
use crate::values::Question;

use super::messages::{self, Read};

/// Levels of inner exceptions that are followed.
const MAX_DEPTH: usize = 64;
/// Exceptions in one report.
const MAX_EXCEPTIONS: usize = 256;
/// Entries of a stack trace that are told.
const MAX_TRACE: usize = 200;
/// Inner exceptions of one `AggregateException` that are read.
const MAX_INNER: u32 = 100;

impl Engine<'_> {
    /// The exception in flight on a thread, whole.
    pub(crate) fn exception(&mut self, thread: Option<ThreadId>) -> Result<Reply, Error> {
        let (id, thread) = self.thread_of(thread)?;
        // What was found out when it stopped the program is better than what can be found out now.
        let known = self.stop.as_ref().filter(|stop| stop.thread == Some(id));
        if let Some(report) = known.and_then(|stop| stop.exception.clone()) {
            return Ok(Reply::Exception(Some(Box::new(report))));
        }
        let question = self
            .stop
            .as_ref()
            .map(|stop| Question::Exception(stop.id, id));
        let Some(target) = &mut self.target else {
            return Ok(Reply::Exception(None));
        };
        if let Some(known) = question.and_then(|it| target.places.reply(target.runs, it)) {
            return Ok(known);
        }
        let report = current(&thread).map(|exception| Reader::new(target).whole(&exception));
        let reply = Reply::Exception(report.map(Box::new));
        if let Some(question) = question {
            target.places.keep_reply(target.runs, question, &reply);
        }
        Ok(reply)
    }
}

/// The exception in flight on a thread.
pub(super) fn current(thread: &Thread) -> Option<Value> {
    thread.current_exception().ok()??.dereference().ok()?
}

/// The report of an exception that evaluated code threw: a reference to it, as the library gives it.
pub(crate) fn report_of(target: &mut Target, thrown: &Value) -> Option<ExceptionReport> {
    let exception = thrown.dereference().ok()??;
    Some(Reader::new(target).whole(&exception))
}

/// What was found out about an exception in flight.
pub(super) struct Found {
    pub(super) stage: ExceptionStage,
    pub(super) handler: Handler,
    pub(super) rethrown: bool,
}

/// The report of an exception that is in flight.
pub(super) fn in_flight(
    target: &mut Target,
    thread: &Thread,
    exception: &Value,
    found: Found,
) -> ExceptionReport {
    let mut report = Reader::new(target).whole(exception);
    let Found {
        stage,
        handler,
        rethrown,
    } = found;
    report.unhandled = stage == ExceptionStage::Unhandled;
    let (thrown_at, raised_by) = thrown_at(target, thread);
    report.flight = Some(Box::new(Flight {
        stage,
        thrown_at,
        raised_by,
        rethrown,
        handler,
    }));
    report
}

/// Whether the exception that is just thrown was thrown before.
pub(super) fn was_thrown_before(target: &mut Target, thread: &Thread) -> Option<bool> {
    let exception = current(thread)?;
    // The runtime writes the frame that throws into the trace before it tells of the exception, that of a call of native
    // code twice; more was there before, unless the same method has thrown it. Before a frame there may be the method without
    // code of its own that it has called: what throws there is the runtime.
    let mut entries = exception.exception_trace(4).unwrap_or_default();
    if let Some(first) = entries.first()
        && entries.len() > 1
        && is_without_code(target, first).unwrap_or(false)
    {
        entries.remove(0);
    }
    let mut entries = entries.into_iter();
    let first = entries.next().map(|it| it.method);
    let is_longer = entries.any(|it| Some(it.method) != first);
    let mut carried = || Fields::new(target).string(&exception, "_remoteStackTraceString");
    Some(
        is_longer
            || carried().is_some_and(|text| !text.is_empty())
            || is_at_rethrow(target, thread).unwrap_or(false),
    )
}

/// Whether a method is the runtime's own, or in another library.
fn is_without_code(target: &mut Target, entry: &TraceEntry) -> Option<bool> {
    let module = target.modules.entry(entry.module.as_ref()?);
    let body = module.metadata(&target.process).ok()?;
    Some(body.body(Token(entry.method)).ok()?.is_none())
}

/// Whether the innermost frame is at a `throw;`.
fn is_at_rethrow(target: &mut Target, thread: &Thread) -> Option<bool> {
    const RETHROW: [u8; 2] = [0xfe, 0x1a];
    let frame = target.active_frame(thread).ok()??;
    let (offset, _) = frame.ip().ok()??;
    let function = frame.function().ok()?;
    let token = Token(function.token().ok()?);
    let module = target.modules.entry(&function.module().ok()?);
    let body = module.metadata(&target.process).ok()?.body(token);
    let code = body.ok()??.code;
    let at = offset as usize;
    // The position is that of the instruction, or behind it.
    let before = at.checked_sub(RETHROW.len())?;
    let is_there = |from: usize| code.get(from..from + RETHROW.len()) == Some(&RETHROW);
    Some(is_there(at) || is_there(before))
}

/// The frames among which the one that throws is looked for.
const MAX_RAISING: u32 = 24;

/// The innermost frame whose code throws. If that is a helper of the framework (which only throws, or makes a cast or an object
/// of a type parameter), the user's code that needed it throws, and the helper is named.
fn thrown_at(target: &mut Target, thread: &Thread) -> (Option<crate::api::Frame>, Option<String>) {
    let mut walk = Walk::new(thread);
    let mut innermost: Option<crate::api::Frame> = None;
    // Whether what makes objects was called by `new T()`; nothing makes one at first.
    let mut is_new = true;
    for index in 0..MAX_RAISING {
        let Ok(Some(walked)) = walk.next(target) else {
            break;
        };
        let mut told = frame::describe(target, &walked.frame, index);
        if matches!(told.kind, FrameKind::Transition | FrameKind::Hidden) {
            continue;
        }
        told.block = walked.block.or(told.block);
        let is_activator = told.method.starts_with(ACTIVATOR);
        let makes = is_activator || MAKING.iter().any(|it| told.method.starts_with(it));
        if makes || is_trace_hidden(target, &walked.frame) == Some(true) {
            is_new = is_activator || is_new && !makes;
            innermost.get_or_insert(told);
            continue;
        }
        return match innermost {
            Some(helper) if told.user_code && is_new => (Some(told), Some(helper.method)),
            Some(helper) => (Some(helper), None),
            None => (Some(told), None),
        };
    }
    (innermost, None)
}

/// What the compiler calls for `new T()`.
const ACTIVATOR: &str = "System.Activator.CreateInstance<";

/// What the framework makes objects of types with that are known only at run time.
const MAKING: [&str; 3] = [
    "System.RuntimeType.",
    "System.RuntimeTypeHandle.",
    "System.Activator.",
];

/// Whether a method of the framework is left out of traces.
fn is_trace_hidden(target: &mut Target, frame: &Frame) -> Option<bool> {
    let function = frame.function().ok()?;
    let token = Token(function.token().ok()?);
    let module = target.modules.entry(&function.module().ok()?);
    if !module.is_framework() {
        return Some(false);
    }
    let metadata = module.metadata(&target.process).ok()?.metadata();
    let owner = metadata.method(token).ok()?.declaring_type().ok()?;
    Some(metadata.is_stack_trace_hidden(token) || metadata.is_stack_trace_hidden(owner))
}

/// Reads exceptions; counts them.
struct Reader<'a> {
    fields: Fields<'a>,
    left: usize,
}

impl<'a> Reader<'a> {
    fn new(target: &'a mut Target) -> Self {
        Self {
            fields: Fields::new(target),
            left: MAX_EXCEPTIONS,
        }
    }

    fn whole(&mut self, exception: &Value) -> ExceptionReport {
        self.report(exception, 0)
    }

    fn report(&mut self, exception: &Value, depth: usize) -> ExceptionReport {
        self.left = self.left.saturating_sub(1);
        let type_name = self.type_name(exception);
        let overrider = self.message_overrider(exception);
        let mut parts = Read {
            fields: &mut self.fields,
            exception,
        };
        let known = messages::message(&type_name, &overrider, &mut parts);
        let message_overridden_by = known.is_none().then_some(overrider);
        let message = known.or_else(|| self.fields.string(exception, "_message"));
        let (trace, trace_is_cut) = self.trace(exception);
        // Told as C# and everything else here writes it; only the framework's own message has its `Outer+Nested`.
        let as_written = |name: String| match name.split_once('`') {
            // A generic one whose arguments are not told.
            Some((name, _)) if !name.contains('<') => name.replace('+', "."),
            _ => name.replace('+', "."),
        };
        let mut report = ExceptionReport {
            message,
            message_overridden_by: message_overridden_by.map(as_written),
            hresult: self.fields.number(exception, "_HResult"),
            type_name: as_written(type_name),
            trace,
            trace_is_cut,
            earlier_trace: self
                .fields
                .string(exception, "_remoteStackTraceString")
                .filter(|text| !text.is_empty()),
            ..ExceptionReport::default()
        };
        let (inner, more) = self.inner(exception);
        report.inner_left_out = more;
        for inner in &inner {
            if depth >= MAX_DEPTH || self.left == 0 {
                report.inner_left_out += 1;
                continue;
            }
            let inner = self.report(inner, depth + 1);
            report.inner.push(inner);
        }
        if report.type_name == "System.AggregateException" {
            // Its message names those of its inner exceptions.
            let inner = report.inner.iter().filter_map(|it| it.message.as_deref());
            let all = inner.fold(report.message.clone().unwrap_or_default(), |all, one| {
                format!("{all} ({one})")
            });
            report.message = Some(all);
            // Only code can tell what one of them says.
            let untold = |it: &ExceptionReport| it.message_overridden_by.clone();
            report.message_overridden_by = report.inner.iter().find_map(untold);
        }
        report
    }

    fn type_name(&mut self, object: &Value) -> String {
        let ty = object.exact_type().ok();
        let named = ty.and_then(|ty| {
            let fields = &mut self.fields;
            let class = fields.class_name(&ty.class().ok()?)?;
            let arguments = ty.arguments().unwrap_or_default();
            if arguments.is_empty() {
                return Some(class);
            }
            Some(crate::names::full_type_text(
                fields.modules,
                fields.process,
                &ty,
            ))
        });
        named.unwrap_or_else(|| "an exception whose type cannot be read".into())
    }

    /// The type whose `Message` an exception has.
    fn message_overrider(&mut self, exception: &Value) -> String {
        let classes = exception.class_chain().unwrap_or_default();
        let mut classes = classes.iter();
        let found = classes.find_map(|class| {
            let token = Token(class.token().ok()?);
            let module = self.fields.modules.entry(&class.module().ok()?);
            let metadata = module.metadata(self.fields.process).ok()?.metadata();
            let mut methods = metadata.type_def(token).ok()?.methods().flatten();
            methods
                .any(|method| method.name().is_ok_and(|name| name == "get_Message"))
                .then(|| metadata.full_name(token).ok())?
        });
        found.unwrap_or_else(|| "System.Exception".into())
    }

    /// The inner exceptions: all of an `AggregateException`, else the one; and how many more there are.
    fn inner(&mut self, exception: &Value) -> (Vec<Value>, u32) {
        // The field was called otherwise before .NET 5.
        let mut names = ["_innerExceptions", "m_innerExceptions"].into_iter();
        if let Some(list) = names.find_map(|name| self.fields.object(exception, name)) {
            // An array since .NET 7, a read-only collection around a list or an array before.
            let elements = list.elements(MAX_INNER).ok().or_else(|| {
                let inner = self.fields.object(&list, "list")?;
                inner.elements(MAX_INNER).ok()
            });
            if let Some((elements, count)) = elements {
                let more = count.saturating_sub(MAX_INNER);
                let objects = elements
                    .iter()
                    .filter_map(|element| element.dereference().ok()?);
                return (objects.collect(), more);
            }
        }
        let inner = self.fields.object(exception, "_innerException");
        (inner.into_iter().collect(), 0)
    }

    /// The methods it came through, and whether there are more.
    fn trace(&mut self, exception: &Value) -> (Vec<TraceFrame>, bool) {
        let entries = exception.exception_trace(MAX_TRACE + 1);
        let entries = entries.unwrap_or_default();
        let told = entries.iter().take(MAX_TRACE);
        let told = told.map(|entry| self.trace_frame(entry)).collect();
        (told, entries.len() > MAX_TRACE)
    }

    fn trace_frame(&mut self, entry: &TraceEntry) -> TraceFrame {
        let mut told = TraceFrame {
            // Functions of `DynamicMethod` belong to no module.
            method: frame::LIGHTWEIGHT.into(),
            rethrown: entry.rethrown,
            ..TraceFrame::default()
        };
        let Some(module) = &entry.module else {
            return told;
        };
        let process = self.fields.process;
        let loaded = self.fields.modules.entry(module);
        let token = Token(entry.method);
        told.module = Some(loaded.file_name());
        told.method = frame::method_name(loaded, process, token, &[]);
        told.user_code = frame::kind(loaded, process, token) == FrameKind::User;
        if loaded.symbols(process).is_ok() {
            let function = module.function(entry.method).ok();
            // The address is where a call returns to; what counts is the call before it.
            let call = entry.address.saturating_sub(1);
            let offset = function
                .and_then(|function| function.il_offset_of(call))
                // The function knows only one of the codes that were made of a generic method.
                .or_else(|| {
                    let threads = process.threads().unwrap_or_default();
                    let mut walks = threads.iter().filter_map(|it| it.stack().ok());
                    walks.find_map(|walk| walk.il_offset_of(call))
                });
            told.source = offset.and_then(|it| frame::source(loaded, process, token, IlOffset(it)));
        }
        told
    }
}
