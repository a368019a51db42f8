//! Results of calls that a statement puts into a local variable.
//!
//! A stop behind a call costs as much as the step itself. `var total = Sum(items);`, `return Sum(items);` and
//! `if (IsValid(item))` as the compiler makes them need none: when the step has ended, the result still lies in a
//! variable, the user's or one of the compiler's. It is read when somebody first looks at or changes values.
//!
//! Invariant: a result is told only where the step ended behind the statement in the same invocation, and before anything
//! else could have written to the variable.

use cordebug::thread::Frame;
use metadata::signature;
use metadata::tables::StandAloneSigRow;
use metadata::{IlOffset, Token};

use super::position::{FrameId, IlRange, MethodId, Position};
use super::{il, returns};
use crate::engine::Engine;
use crate::target::Target;
use crate::types::{Generics, ModuleId};

/// A result that will be in a variable when the step has ended.
#[derive(Debug)]
pub(crate) struct StoredResult {
    thread: u32,
    frame: FrameId,
    method: MethodId,
    call: IlOffset,
    slot: u32,
    /// Where the statement leads.
    ends: Vec<IlOffset>,
}

impl Engine<'_> {
    /// Where the result of the last call of a statement will be, if it will surely be in a variable.
    pub(super) fn stored_result(
        &mut self,
        method: MethodId,
        at: Position,
        range: IlRange,
        call: IlOffset,
    ) -> Option<StoredResult> {
        let thread = self.stepping.steps.as_ref()?.thread;
        // Optimised code may keep a variable elsewhere, or not at all.
        if !self.is_marked(method) {
            return None;
        }
        let target = self.target.as_ref()?;
        let module = target.modules.get(method.module)?;
        let metadata = module.metadata(&target.process).ok()?;
        let body = metadata.body(method.token).ok()??;
        let stored = il::stored_call(body.code, at.ip, range).filter(|it| it.call == call)?;
        let row: StandAloneSigRow = metadata.metadata().row_of(body.local_signature).ok()?;
        let blob = metadata.metadata().blob(row.signature).ok()?;
        let locals = signature::local_types(blob).ok()?;
        let (types, module) = (target.types(), ModuleId(method.module));
        let none = Generics::default();
        let variable = types.of_signature(module, locals.get(usize::from(stored.slot))?, &none);
        let callee = returns::callee(types, module, stored.token, &none)?;
        // Of another type, it may be another value.
        if callee.returns.is_open() || variable.ok()? != callee.returns {
            return None;
        }
        Some(StoredResult {
            thread,
            frame: at.frame,
            method,
            call,
            slot: stored.slot.into(),
            ends: stored.ends,
        })
    }

    /// A leg has ended and another begins: what it has stored may be overwritten.
    pub(super) fn settle_stored_result(&mut self) {
        let steps = self.stepping.steps.as_mut();
        let stored = steps.and_then(|steps| steps.leg.stored.take());
        if let Some(target) = &mut self.target
            && stored.is_some()
        {
            target.returned.stored = stored;
            target.take_stored_result();
        }
    }
}

impl Target {
    /// Reads the result that the last step left in a variable, before anybody looks at or changes values.
    pub(crate) fn take_stored_result(&mut self) {
        let Some(stored) = self.returned.stored.take() else {
            return;
        };
        let found = || {
            let thread = self.process.thread(stored.thread).ok()?;
            let frame = self.active_frame(&thread).ok()??;
            if !stored.has_ended_in(&frame) {
                return None;
            }
            let from = returns::ReadFrom::Local(stored.slot);
            returns::returned(self, &thread, &frame, stored.method, stored.call, from)
        };
        if let Some(found) = found() {
            self.returned.add(stored.thread, found);
        }
    }
}

impl StoredResult {
    fn has_ended_in(&self, frame: &Frame) -> bool {
        let is_method = || {
            let function = frame.function().ok()?;
            let token = Token(function.token().ok()?);
            let module = function.module().ok()?.identity();
            Some(MethodId { module, token } == self.method)
        };
        let Ok(Some((ip, _))) = frame.ip() else {
            return false;
        };
        self.ends.contains(&IlOffset(ip))
            && frame
                .stack_end()
                .is_ok_and(|end| FrameId(end) == self.frame)
            && is_method() == Some(true)
    }
}
