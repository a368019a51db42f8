//! Steppers, and what steps need of frames: a stepper runs a thread until it leaves some IL ranges or its method.

use crate::bindings::*;
use crate::com::{Com, IUnknown};
use crate::error::{Error, clr, clr_out};
use crate::hresult::S_OK;
use crate::module::{Function, missing};
use crate::thread::{Frame, Thread};
use crate::value::Value;

/// A step that was asked for. Says that it is complete through a callback, once.
///
/// The library's stepper refers to its thread and does not keep it alive: once the thread has ended it must only be dropped.
#[derive(Debug)]
pub struct Stepper {
    stepper: Com<ICorDebugStepper>,
    /// The operating system id of its thread.
    thread: u32,
}

impl Stepper {
    pub(crate) fn new(stepper: Com<ICorDebugStepper>, thread: u32) -> Self {
        Self { stepper, thread }
    }

    /// The operating system id of the thread that it runs.
    pub fn thread(&self) -> u32 {
        self.thread
    }

    /// Sets what every step of ours has in common; `only_my_code` skips code that was not marked as the user's.
    pub fn prepare(&self, only_my_code: bool) -> Result<(), Error> {
        let mask = INTERCEPT_ALL & !INTERCEPT_SECURITY;
        clr!(self.stepper, ICorDebugStepper::SetInterceptMask(mask))?;
        clr!(
            self.stepper,
            ICorDebugStepper::SetUnmappedStopMask(STOP_NONE)
        )?;
        if let Some(stepper) = self.stepper.cast::<ICorDebugStepper2>() {
            clr!(stepper, ICorDebugStepper2::SetJMC(i32::from(only_my_code)))?;
        }
        Ok(())
    }

    /// Steps until the thread is outside `[start, end)` in IL, into calls if asked for.
    pub fn step_range(&self, into: bool, start: u32, end: u32) -> Result<(), Error> {
        let range = COR_DEBUG_STEP_RANGE {
            startOffset: start,
            endOffset: end,
        };
        clr!(
            self.stepper,
            ICorDebugStepper::StepRange(i32::from(into), &range, 1)
        )?;
        Ok(())
    }

    /// Steps one instruction, into the call if it is one. For a frame that has called others, it is the instruction after
    /// they have returned.
    pub fn step_instruction(&self) -> Result<(), Error> {
        clr!(self.stepper, ICorDebugStepper::Step(1))?;
        Ok(())
    }

    /// Steps one instruction, over the call if it is one, and on from there to the next that IL belongs to.
    pub fn step_over_instruction(&self) -> Result<(), Error> {
        clr!(self.stepper, ICorDebugStepper::Step(0))?;
        Ok(())
    }

    /// Steps to the caller.
    pub fn step_out(&self) -> Result<(), Error> {
        clr!(self.stepper, ICorDebugStepper::StepOut())?;
        Ok(())
    }

    /// Gives the step up. Not for one whose thread has ended: the library reads what the thread had, and crashes.
    pub fn deactivate(&self) -> Result<(), Error> {
        clr!(self.stepper, ICorDebugStepper::Deactivate())?;
        Ok(())
    }

    /// Whether a callback's stepper is this one.
    pub fn is(&self, other: &Com<ICorDebugStepper>) -> bool {
        let identity =
            |it: &Com<ICorDebugStepper>| it.cast::<IUnknown>().map(|it| it.as_raw() as usize);
        identity(&self.stepper) == identity(other)
    }
}

impl Frame {
    /// A new stepper for the frame, which is one of the thread's: it begins when what the frame has called has returned.
    pub fn stepper(&self, thread: &Thread) -> Result<Stepper, Error> {
        let stepper = clr_out!(self.0, ICorDebugFrame::CreateStepper())?;
        Ok(Stepper::new(stepper, thread.id()?))
    }
}

impl Function {
    /// Says whether steps that skip other code stop in it.
    pub fn set_user_code(&self, user_code: bool) -> Result<(), Error> {
        let function = self
            .0
            .cast::<ICorDebugFunction2>()
            .ok_or_else(|| missing("ICorDebugFunction2"))?;
        clr!(
            function,
            ICorDebugFunction2::SetJMCStatus(i32::from(user_code))
        )?;
        Ok(())
    }

    /// Whether steps that skip other code stop in it. Never in optimised code, whatever was said of its module.
    pub fn is_user_code(&self) -> Result<bool, Error> {
        let function = self
            .0
            .cast::<ICorDebugFunction2>()
            .ok_or_else(|| missing("ICorDebugFunction2"))?;
        let mut answer = 0;
        clr!(function, ICorDebugFunction2::GetJMCStatus(&mut answer))?;
        Ok(answer != 0)
    }
}

impl Frame {
    /// The address where the frame's part of the stack ends: the same for as long as the method has not returned, and
    /// higher for its callers.
    pub fn stack_end(&self) -> Result<u64, Error> {
        let (mut start, mut end) = (0, 0);
        clr!(self.0, ICorDebugFrame::GetStackRange(&mut start, &mut end))?;
        Ok(end)
    }

    /// The first argument: `this` of an instance method.
    pub fn first_argument(&self) -> Result<Value, Error> {
        let frame = self.il_frame()?;
        Ok(Value::new(clr_out!(
            frame,
            ICorDebugILFrame::GetArgument(0)
        )?))
    }

    /// Whether the frame's next instruction could be set to an IL offset; the error says why not.
    pub fn can_set_ip(&self, il_offset: u32) -> Result<(), Error> {
        let code = clr!(self.il_frame()?, ICorDebugILFrame::CanSetIP(il_offset))?;
        if code == S_OK {
            return Ok(());
        }
        // Some refusals are told as success codes.
        Err(Error::Clr {
            call: "ICorDebugILFrame::CanSetIP",
            code,
        })
    }

    /// Sets the frame's next instruction. All frames of the thread are dead afterwards.
    pub fn set_ip(&self, il_offset: u32) -> Result<(), Error> {
        clr!(self.il_frame()?, ICorDebugILFrame::SetIP(il_offset))?;
        Ok(())
    }

    fn il_frame(&self) -> Result<Com<ICorDebugILFrame>, Error> {
        self.0
            .cast::<ICorDebugILFrame>()
            .ok_or_else(|| missing("ICorDebugILFrame"))
    }
}
