//! Steps by source statement.
//!
//! A step runs a thread out of the IL range of its statement. Where the runtime says that it is complete may be no
//! place for a person (code without text, a method the compiler made): then the same step goes on from there. A step
//! belongs to one thread; whatever else stops the program ends it.

use cordebug::bindings::ICorDebugStepper;
use cordebug::com::Com;
use cordebug::stepper::Stepper;
use cordebug::thread::Thread;
use metadata::{IlOffset, Token};

use crate::api::{Error, ErrorCode, StepKind, StopReason, ThreadId};
use crate::engine::Engine;
use crate::target::{Target, runtime_error};

/// A step under way.
#[derive(Debug)]
pub(crate) struct StepInProgress {
    kind: StepKind,
    stepper: Stepper,
}

/// Where a thread is, as steps see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// At the first instruction of a statement.
    AtStatement { start: IlOffset, end: IlOffset },
    /// Inside a statement, for example behind a call that just returned.
    InStatement { start: IlOffset, end: IlOffset },
    /// In code that no text belongs to.
    Hidden { start: IlOffset, end: IlOffset },
    /// In a method without any text, which has symbols: the compiler made it.
    NoText,
    /// In a method without symbols.
    NoSymbols,
}

impl Engine<'_> {
    /// Begins a step of a thread and lets the program run.
    pub(crate) fn step(&mut self, thread: Option<ThreadId>, kind: StepKind) -> Result<(), Error> {
        let reporting = self.stop.as_ref().and_then(|stop| stop.thread);
        let target = self.stopped_target()?;
        let Some(id) = thread.or(reporting) else {
            return Err(
                Error::new(ErrorCode::InvalidThread, "no thread reported this stop")
                    .hint("name the thread to step"),
            );
        };
        let thread = target.process.thread(id.0).map_err(|error| {
            Error::new(
                ErrorCode::InvalidThread,
                format!("there is no managed thread {}: {error}", id.0),
            )
        })?;
        let standing = standing(target, &thread)?;
        let stepper = start(&thread, kind, standing)?;
        self.step = Some(StepInProgress { kind, stepper });
        self.resume()
    }

    /// A stepper is done; whether that stops the program.
    pub(crate) fn step_completed(
        &mut self,
        thread: &Thread,
        stepper: Option<&Com<ICorDebugStepper>>,
    ) -> bool {
        let ours = self
            .step
            .as_ref()
            .filter(|step| stepper.is_some_and(|it| step.stepper.is(it)));
        let Some(kind) = ours.map(|step| step.kind) else {
            // A step that was given up.
            return false;
        };
        self.step = None;
        match self.step_on(thread, kind) {
            Ok(Some(stepper)) => {
                self.step = Some(StepInProgress { kind, stepper });
                false
            }
            Ok(None) => {
                self.stopped(vec![StopReason::Step], thread.id().ok().map(ThreadId), None);
                true
            }
            Err(error) => {
                self.notes.push(format!("a step ended early: {error}"));
                self.stopped(vec![StopReason::Step], thread.id().ok().map(ThreadId), None);
                true
            }
        }
    }

    /// Goes on with a step that ended where a person would not expect it.
    fn step_on(&mut self, thread: &Thread, kind: StepKind) -> Result<Option<Stepper>, Error> {
        let target = self.target()?;
        match standing(target, thread)? {
            Standing::AtStatement { .. } | Standing::InStatement { .. } => Ok(None),
            hidden @ Standing::Hidden { .. } => start(
                thread,
                if kind == StepKind::Out {
                    StepKind::Over
                } else {
                    kind
                },
                hidden,
            )
            .map(Some),
            Standing::NoText => start(thread, StepKind::Into, Standing::NoText).map(Some),
            Standing::NoSymbols => start(thread, StepKind::Out, Standing::NoSymbols).map(Some),
        }
    }

    /// Gives up a step that is under way.
    pub(crate) fn give_up_step(&mut self) {
        if let Some(step) = self.step.take()
            && let Err(error) = step.stepper.deactivate()
        {
            tracing::debug!(%error, "giving up a step");
        }
    }
}

/// Asks the runtime for a step.
fn start(thread: &Thread, kind: StepKind, standing: Standing) -> Result<Stepper, Error> {
    let begin = || -> Result<Stepper, cordebug::Error> {
        let stepper = thread.stepper()?;
        stepper.prepare(true)?;
        let into = kind == StepKind::Into;
        match (kind, standing) {
            (StepKind::Out, _) | (_, Standing::NoSymbols) => stepper.step_out()?,
            (
                _,
                Standing::AtStatement { start, end }
                | Standing::InStatement { start, end }
                | Standing::Hidden { start, end },
            ) => {
                stepper.step_range(into, start.0, end.0)?;
            }
            (_, Standing::NoText) => stepper.step_range(into, 0, u32::MAX)?,
        }
        Ok(stepper)
    };
    begin().map_err(|error| Error::new(ErrorCode::StepFailed, error.to_string()))
}

fn standing(target: &mut Target, thread: &Thread) -> Result<Standing, Error> {
    let Target {
        modules, process, ..
    } = target;
    let frame = thread
        .active_frame()
        .map_err(|error| runtime_error(&error))?;
    let Some(frame) = frame else {
        return Ok(Standing::NoSymbols);
    };
    let Ok(function) = frame.function() else {
        return Ok(Standing::NoSymbols);
    };
    let (Ok(token), Ok(module), Ok(Some((ip, _)))) =
        (function.token(), function.module(), frame.ip())
    else {
        return Ok(Standing::NoSymbols);
    };
    let module = modules.entry(&module);
    let Ok(symbols) = module.symbols(process) else {
        return Ok(Standing::NoSymbols);
    };
    let Ok(points) = symbols.pdb().sequence_points(Token(token)) else {
        return Ok(Standing::NoSymbols);
    };
    let points: Vec<_> = points
        .flatten()
        .map(|point| (point.offset, point.span.is_some()))
        .collect();
    Ok(stand(&points, IlOffset(ip)))
}

/// `points`: offsets by rising order, and whether text belongs to them.
fn stand(points: &[(IlOffset, bool)], ip: IlOffset) -> Standing {
    if points.iter().all(|(_, visible)| !visible) {
        return Standing::NoText;
    }
    let at = points.partition_point(|(offset, _)| *offset <= ip);
    let Some((start, visible)) = at.checked_sub(1).and_then(|at| points.get(at)).copied() else {
        // Before the first point: a prologue that the compiler made.
        let end = points
            .first()
            .map_or(IlOffset(u32::MAX), |(offset, _)| *offset);
        return Standing::Hidden {
            start: IlOffset(0),
            end,
        };
    };
    // Code without text behind a statement belongs to it.
    let next = points
        .get(at..)
        .unwrap_or_default()
        .iter()
        .find(|(_, visible)| *visible);
    let end = next.map_or(IlOffset(u32::MAX), |(offset, _)| *offset);
    match visible {
        true if start == ip => Standing::AtStatement { start, end },
        true => Standing::InStatement { start, end },
        false => Standing::Hidden { start, end },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(ip: u32, expected: Standing) {
        let points = [(5, true), (10, true), (15, false), (20, true), (30, false)];
        let points = points.map(|(offset, visible)| (IlOffset(offset), visible));
        assert_eq!(stand(&points, IlOffset(ip)), expected, "at {ip}");
    }

    #[test]
    fn a_thread_stands_at_in_or_outside_statements() {
        let to = IlOffset;
        check(
            0,
            Standing::Hidden {
                start: to(0),
                end: to(5),
            },
        );
        check(
            5,
            Standing::AtStatement {
                start: to(5),
                end: to(10),
            },
        );
        check(
            7,
            Standing::InStatement {
                start: to(5),
                end: to(10),
            },
        );
        check(
            10,
            Standing::AtStatement {
                start: to(10),
                end: to(20),
            },
        );
        check(
            17,
            Standing::Hidden {
                start: to(15),
                end: to(20),
            },
        );
        check(
            31,
            Standing::Hidden {
                start: to(30),
                end: to(u32::MAX),
            },
        );
        assert_eq!(stand(&[(to(0), false)], to(0)), Standing::NoText);
        assert_eq!(stand(&[], to(0)), Standing::NoText);
    }
}
