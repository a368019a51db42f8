//! Running to a place: breakpoints that are there until the program stops for whatever reason.

use crate::api::{Error, ErrorCode, Place};
use crate::breakpoints;
use crate::engine::Engine;

impl Engine<'_> {
    /// Lets the program run until a thread reaches the place, or something else stops it.
    pub(crate) fn run_to(&mut self, place: &Place) -> Result<(), Error> {
        let target = self.stopped_target()?;
        let mut refused = None;
        let mut locations = Vec::new();
        for module in target.modules.iter() {
            match breakpoints::locations(place, module, &target.process) {
                Ok(found) => locations.extend(found),
                Err(error) => refused = Some(error),
            }
        }
        let mut failed = None;
        let mut set = Vec::new();
        for at in locations {
            match target.modules.set_breakpoint(at) {
                Ok(breakpoint) => set.push(breakpoint),
                Err(error) => failed = Some(error),
            }
        }
        if !set.is_empty() {
            self.stepping.run_to = set;
            return self.resume();
        }
        if let Some(error) = refused {
            return Err(error);
        }
        if let Some(error) = failed {
            return Err(Error::new(
                ErrorCode::StepFailed,
                format!("the place cannot be run to: {error}"),
            ));
        }
        let (code, what) = match place {
            Place::Line { file, .. } => (
                ErrorCode::InvalidFile,
                format!("no loaded module was compiled from {file} with symbols"),
            ),
            Place::Function { name } => (
                ErrorCode::InvalidParameter,
                breakpoints::FunctionName::not_found(name),
            ),
        };
        Err(
            Error::new(code, format!("the place cannot be run to: {what}"))
                .hint("set a breakpoint instead, which waits for its module, and continue"),
        )
    }

    /// Whether one of the runtime's breakpoints is where the program was to run to.
    pub(crate) fn is_run_to(&self, identity: usize) -> bool {
        let run_to = &self.stepping.run_to;
        run_to.iter().any(|it| it.identity() == identity)
    }
}
