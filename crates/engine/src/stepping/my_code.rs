//! Which methods steps pass by: what attributes say, and the filter for properties and operators.

use cordebug::thread::{Frame, Thread};
use metadata::tables::Table;
use metadata::{Metadata, Token};

use super::position::MethodId;
use crate::api::{Error, ErrorCode};
use crate::engine::Engine;
use crate::target::Target;

/// Enclosing types looked at for attributes.
const MAX_NESTING: usize = 64;

/// The frame that called the innermost one of a thread.
pub(super) fn caller(target: &Target, thread: &Thread) -> Option<Frame> {
    let mut callers = target.frames(thread).skip(1);
    callers.find(|frame| frame.internal_kind().is_none())
}

impl Engine<'_> {
    /// Takes methods that the runtime itself suspends out of steps: a stepper in one would end the program or us.
    pub(crate) fn take_out_runtime_async(&self, identity: usize) {
        let Some(target) = &self.target else { return };
        let Some(module) = target.modules.get(identity) else {
            return;
        };
        let Ok(metadata) = module.metadata(&target.process) else {
            return;
        };
        let metadata = metadata.metadata();
        for token in metadata.tokens(Table::Method) {
            let method = metadata.method(token);
            if !method.is_ok_and(|method| method.impl_flags().is_runtime_async()) {
                continue;
            }
            let function = module.module.function(token.0);
            if let Err(error) = function.and_then(|it| it.set_user_code(false)) {
                tracing::warn!(%error, "a method that the runtime suspends cannot be taken out of steps");
            }
        }
    }

    /// Why no step can be made in a method, if so.
    pub(super) fn step_obstacle(&self, method: MethodId) -> Option<Error> {
        let target = self.target.as_ref()?;
        let module = target.modules.get(method.module)?;
        let suspended = module.is_runtime_async(&target.process, method.token);
        suspended.then(|| {
            Error::new(
                ErrorCode::NotSupported,
                "the method is suspended by the runtime itself (runtime-async): a step in it would end the program",
            )
            .hint("continue to a breakpoint in a method that it calls, or compile without the runtime-async feature")
        })
    }

    /// Whether the runtime takes the code of a method's module for the user's. It does not for optimised code: steps from
    /// there must look at everything and leave alone what is not the user's, which is slower.
    pub(super) fn is_marked(&mut self, method: MethodId) -> bool {
        let Some(target) = &self.target else {
            return true;
        };
        let ask = || {
            let module = target.modules.get(method.module)?;
            // What has no symbols was never marked, and is left as fast as possible.
            module.symbols(&target.process).ok()?;
            let function = module.module.function(method.token.0).ok()?;
            function.is_user_code().ok()
        };
        let marked = self.stepping.marked.entry(method.module);
        *marked.or_insert_with(|| ask().unwrap_or(true))
    }

    /// Whether steps pass through a method to what it calls: an attribute on it or its type says so.
    pub(super) fn is_passed_through(&mut self, method: MethodId) -> bool {
        let just_my_code = self.stepping.options.just_my_code;
        self.ask_metadata(method, |metadata, token| {
            let named = |owner: Token| {
                metadata.is_debugger_step_through(owner)
                    || metadata.is_debugger_hidden(owner)
                    || (just_my_code && metadata.is_debugger_non_user_code(owner))
            };
            if named(token) {
                return true;
            }
            let Ok(method) = metadata.method(token) else {
                return false;
            };
            // An attribute of a property is one of its accessors, that of a type one of all its methods.
            let property = method.semantics().ok().flatten();
            if property.is_some_and(|(_, property)| named(property)) {
                return true;
            }
            let mut owner = method.declaring_type().ok();
            for _ in 0..MAX_NESTING {
                let Some(class) = owner else { break };
                if named(class) {
                    return true;
                }
                let around = metadata.type_def(class).and_then(|it| it.enclosing());
                owner = around.ok().flatten();
            }
            false
        })
    }

    /// Whether steps into a statement pass over a method: an accessor or an operator, if that was asked for.
    pub(super) fn is_skipped(&mut self, method: MethodId) -> bool {
        self.stepping.options.skip_properties
            && self.ask_metadata(method, |metadata, token| {
                let Ok(method) = metadata.method(token) else {
                    return false;
                };
                let is_accessor = method.semantics().is_ok_and(|it| it.is_some());
                let is_operator = method.flags().is_special_name()
                    && method.name().is_ok_and(|name| name.starts_with("op_"));
                let of_extension = || metadata.is_extension_accessor(&method) == Ok(true);
                is_accessor || is_operator || of_extension()
            })
    }

    /// Whether a return from the innermost method of a thread is no step but a run (`DebuggerStepperBoundary`).
    pub(super) fn is_called_from_boundary(&mut self, thread: &Thread) -> bool {
        if !self.has_boundaries() {
            return false;
        }
        let mut caller = || {
            let function = caller(self.target.as_ref()?, thread)?.function().ok()?;
            let token = Token(function.token().ok()?);
            let target = self.target.as_mut()?;
            let module = target.modules.entry(&function.module().ok()?).identity();
            Some(MethodId { module, token })
        };
        caller().is_some_and(|method| {
            self.ask_metadata(method, |metadata, token| {
                metadata.is_debugger_stepper_boundary(token)
            })
        })
    }

    /// Whether any module of the user's refers to the attribute at all: walking the stack for each step is not free.
    fn has_boundaries(&mut self) -> bool {
        let Some(target) = &self.target else {
            return false;
        };
        target.modules.iter().any(|module| {
            if module.symbols(&target.process).is_err() {
                return false;
            }
            module.metadata(&target.process).is_ok_and(|metadata| {
                let metadata = metadata.metadata();
                metadata.tokens(Table::TypeRef).any(|token| {
                    metadata.is_type_named(
                        token,
                        "System.Diagnostics",
                        "DebuggerStepperBoundaryAttribute",
                    )
                })
            })
        })
    }

    pub(super) fn ask_metadata(
        &self,
        method: MethodId,
        question: impl FnOnce(Metadata<'_>, Token) -> bool,
    ) -> bool {
        let answer = || {
            let target = self.target.as_ref()?;
            let module = target.modules.get(method.module)?;
            let metadata = module.metadata(&target.process).ok()?;
            Some(question(metadata.metadata(), method.token))
        };
        answer().unwrap_or(false)
    }
}
