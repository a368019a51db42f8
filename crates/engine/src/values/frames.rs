//! Which frame is meant, and where its code is.

use cordebug::thread::{Frame, Mapping, Thread};
use metadata::{IlOffset, Token};

use crate::api::{Error, ErrorCode, StopId};
use crate::engine::Engine;
use crate::target::Target;
use crate::types::{Generics, ModuleId, Type, Types};

use super::scope::{FrameVariables, Scope, VariableKind};
use super::shape::{CodePlace, Declared};
use super::{Reader, Result as ValueResult, Value};

/// A frame and where its code is: its method, its place in it, what its type parameters stand for.
#[derive(Debug)]
pub(crate) struct FrameContext {
    /// The frame itself.
    pub(crate) frame: Frame,
    /// Where it is.
    pub(crate) at: CodePlace,
    /// Whether it is exactly there: the next instruction to run is the one at that offset.
    pub(crate) is_exact: bool,
}

impl std::ops::Deref for FrameContext {
    type Target = CodePlace;

    fn deref(&self) -> &CodePlace {
        &self.at
    }
}

impl FrameContext {
    /// Reads where a frame is.
    pub(crate) fn of(types: Types<'_>, frame: Frame) -> ValueResult<Self> {
        let function = frame.function()?;
        let method = Token(function.token()?);
        let module = ModuleId(function.module()?.identity());
        let (offset, mapping) = frame.ip()?.unwrap_or((0, Mapping::Unmapped));
        let metadata = types.metadata(module)?.metadata();
        if metadata.method(method)?.impl_flags().is_runtime_async() {
            return Err(super::Unreadable::RuntimeAsync);
        }
        let declaring = metadata.method(method)?.declaring_type()?;
        let open = types.open_named(module, declaring)?;
        // Code that is shared between instantiations may not know which it runs for.
        let arguments = frame.type_arguments().unwrap_or_default();
        let arguments: Vec<Type> = arguments
            .iter()
            .map(|it| types.of_runtime(it).and_then(|it| types.actual(it)))
            .collect::<std::result::Result<_, _>>()
            .unwrap_or_default();
        let (of_type, of_method) = arguments
            .split_at_checked(open.arguments.len())
            .unwrap_or_default();
        let generics = Generics {
            of_type: of_type.into(),
            of_method: of_method.into(),
        };
        let declared_in = match Type::Named(open.clone()).with(&generics) {
            Type::Named(named) => named,
            _ => open,
        };
        let at = CodePlace {
            module,
            method,
            offset: IlOffset(offset),
            declared_in,
            generics,
        };
        let is_exact = mapping == Mapping::Exact;
        Ok(Self {
            frame,
            at,
            is_exact,
        })
    }
}

impl Reader<'_> {
    /// Where a frame is, as far as that is not known yet in this run of the program.
    pub(crate) fn context(&self, frame: Frame) -> ValueResult<FrameContext> {
        let known = self.places.code(self.run, &frame, || {
            let context = FrameContext::of(self.types, frame.clone())?;
            Ok((context.at, context.is_exact))
        });
        let (at, is_exact) = known?;
        Ok(FrameContext {
            frame,
            at,
            is_exact,
        })
    }

    /// The exception in flight on a thread, if there is one.
    pub(crate) fn exception_on(&self, thread: &Thread) -> Option<ValueResult<Value>> {
        let id = thread.id().ok()?;
        let known = self.places.exception(self.run, id);
        known.map(Ok).or_else(|| {
            let exception = thread.current_exception().ok()??;
            let value = self.of_runtime(&exception, None);
            if let Ok(value) = &value {
                self.places.keep_exception(self.run, id, value);
            }
            Some(value)
        })
    }
}

impl Engine<'_> {
    /// Refuses an id of an earlier stop; what it named is gone.
    pub(crate) fn check_stop(&self, stop: Option<StopId>) -> Result<(), Error> {
        let now = self.stop.as_ref().map(|stop| stop.id);
        match stop {
            Some(wanted) if now != Some(wanted) => Err(Error::new(
                ErrorCode::StaleReference,
                format!(
                    "stop {} is over: frames and values that were told then are gone",
                    wanted.0
                ),
            )
            .hint("ask again for what is there now")),
            _ => Ok(()),
        }
    }
}

impl Target {
    /// The variables of a frame, which `stack::frame_at` gives.
    pub(crate) fn scope(&self, reader: &Reader<'_>, frame: Frame) -> Result<Scope, Error> {
        let context = reader.context(frame).map_err(|why| no_variables(&why))?;
        Scope::read(reader, context).map_err(|why| no_variables(&why))
    }

    /// The variable of a frame with that name, and its `this`.
    pub(crate) fn scope_of(
        &self,
        reader: &Reader<'_>,
        frame: Frame,
        name: &str,
    ) -> Result<Scope, Error> {
        let context = reader.context(frame).map_err(|why| no_variables(&why))?;
        let is_wanted = |it: &Declared| *it.name == *name || it.kind == VariableKind::This;
        Scope::read_those(reader, context, is_wanted).map_err(|why| no_variables(&why))
    }

    /// The variables of a frame, to be read one by one.
    pub(crate) fn frame_variables(
        &self,
        reader: &Reader<'_>,
        frame: Frame,
    ) -> Result<FrameVariables, Error> {
        let context = reader.context(frame).map_err(|why| no_variables(&why))?;
        FrameVariables::of(reader, context).map_err(|why| no_variables(&why))
    }
}

fn no_variables(why: &super::Unreadable) -> Error {
    use cordebug::hresult::CORDBG_E_CODE_NOT_AVAILABLE;
    // A method that runs has code.
    if let super::Unreadable::Runtime(error) = why
        && error.code() == Some(CORDBG_E_CODE_NOT_AVAILABLE)
    {
        return Error::new(
            ErrorCode::InvalidParameter,
            "the frame is of a method that was made while the program ran (a dynamic method): the runtime tells neither its code nor its variables",
        )
        .hint("ask for the frame that called it");
    }
    Error::new(
        ErrorCode::InvalidParameter,
        format!("the frame has no variables that can be told: {why}"),
    )
}
