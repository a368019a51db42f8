//! Steps from one handler of a delegate to the next.
//!
//! What calls several delegates at once is code that the runtime has emitted: it has no module, and no stepper can be made of
//! its frame (.NET 9 crashes). The runtime knows the range of a step by native offsets and by its frame's place on the
//! stack, both of which the next handler has in common with the one that has just returned. So the last part of a handler
//! is a leg of its own, which has no range: it begins where the handler's own code ends.

use cordebug::thread::Thread;

use super::{Leg, Trap, TrapKind, my_code};
use crate::engine::Engine;

impl Engine<'_> {
    /// Sets the traps at the ends of the innermost method of a thread, if code that belongs to no module has called it.
    pub(super) fn arm_end(&mut self, thread: &Thread, leg: &mut Leg) {
        let mut arm = || {
            let target = self.target.as_ref()?;
            let caller = my_code::caller(target, thread)?;
            if caller.function().and_then(|it| it.module()).is_ok() {
                return None;
            }
            let (code, _) = target.active_frame(thread).ok()??.compiled_code().ok()?;
            for end in code.epilogues().ok()? {
                match code.break_at(end) {
                    Ok(breakpoint) => leg.traps.push(Trap {
                        breakpoint,
                        kind: TrapKind::End,
                    }),
                    Err(error) => tracing::debug!(%error, "no trap at the end of a method"),
                }
            }
            Some(())
        };
        arm();
    }

    /// A method that is to be left ends; whether that stops the program.
    pub(super) fn about_to_return(&mut self, thread: &Thread) -> bool {
        let Some(at) = self.position_of_step(thread) else {
            return false;
        };
        let begin = || -> Result<_, cordebug::Error> {
            let stepper = thread.stepper()?;
            stepper.prepare(true)?;
            stepper.step_over_instruction()?;
            Ok(stepper)
        };
        match begin() {
            Ok(stepper) => self.replace_leg(Leg {
                at: Some(at),
                stepper: Some(stepper),
                ..Leg::default()
            }),
            // The one that is under way ends too late, but it ends.
            Err(error) => tracing::debug!(%error, "the end of a method cannot be stepped"),
        }
        false
    }
}
