//! Which frame is meant, and where its code is.

use std::rc::Rc;

use cordebug::thread::Frame;
use metadata::{IlOffset, Token};

use crate::api::{Error, ErrorCode, StopId};
use crate::engine::Engine;
use crate::target::Target;
use crate::types::{Generics, ModuleId, Named, Type, Types};

use super::scope::{Scope, generated_kind};
use super::{Reader, Result as ValueResult};

/// Closures lie in each other less deeply.
const MAX_NESTING: u32 = 64;

/// Where a frame is: its method, its place in it, what its type parameters stand for.
#[derive(Debug)]
pub(crate) struct FrameContext {
    /// The frame itself.
    pub(crate) frame: Frame,
    /// The module of its method.
    pub(crate) module: ModuleId,
    /// The method that runs, which may be one that the compiler made.
    pub(crate) method: Token,
    /// Where in it.
    pub(crate) offset: IlOffset,
    /// The type that declares the method, with its arguments.
    pub(crate) declared_in: Rc<Named>,
    /// What the type parameters stand for.
    pub(crate) generics: Generics,
}

impl FrameContext {
    /// Reads where a frame is.
    pub(crate) fn of(types: Types<'_>, frame: Frame) -> ValueResult<Self> {
        let function = frame.function()?;
        let method = Token(function.token()?);
        let module = ModuleId(function.module()?.identity());
        let offset = frame.ip()?.map_or(0, |(offset, _)| offset);
        let metadata = types.metadata(module)?.metadata();
        let declaring = metadata.method(method)?.declaring_type()?;
        let open = types.open_named(module, declaring)?;
        // Code that is shared between instantiations may not know which it runs for.
        let arguments = frame.type_arguments().unwrap_or_default();
        let arguments: Vec<Type> = arguments
            .iter()
            .map(|it| types.of_runtime(it))
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
        Ok(Self {
            frame,
            module,
            method,
            offset: IlOffset(offset),
            declared_in,
            generics,
        })
    }

    /// The type that the user wrote the code in: around closures and state machines.
    pub(crate) fn user_type(&self, types: Types<'_>) -> ValueResult<Rc<Named>> {
        let metadata = types.metadata(self.module)?.metadata();
        let mut token = self.declared_in.token;
        for _ in 0..MAX_NESTING {
            let ty = metadata.type_def(token)?;
            if generated_kind(&ty.name()?).is_none() {
                break;
            }
            let Some(outer) = ty.enclosing()? else { break };
            token = outer;
        }
        let open = types.open_named(self.module, token)?;
        // A type inside another repeats its parameters first.
        let arguments = self.declared_in.arguments.get(..open.arguments.len());
        Ok(Rc::new(Named {
            arguments: arguments.unwrap_or(&open.arguments).into(),
            ..(*open).clone()
        }))
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
        let told = |why: super::Unreadable| {
            Error::new(
                ErrorCode::InvalidParameter,
                format!("the frame has no variables that can be told: {why}"),
            )
        };
        let context = FrameContext::of(reader.types, frame).map_err(told)?;
        Scope::read(reader, context).map_err(told)
    }
}
