//! Where a thread is, as steps see it: its innermost frame, and the statement in it.

use cordebug::thread::{Frame, Thread};
use metadata::{IlOffset, Token};

use super::finally_blocks::is_way_through;
use super::il;
use crate::api::Error;
use crate::target::{Target, runtime_error};

/// A frame, for as long as its method has not returned: callers have higher numbers than what they call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FrameId(pub(super) u64);

/// A method of a loaded module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct MethodId {
    /// The module's identity.
    pub(super) module: usize,
    pub(super) token: Token,
}

/// The innermost frame of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) frame: FrameId,
    /// The method, if the frame has one.
    pub(super) method: Option<MethodId>,
    pub(super) ip: IlOffset,
    pub(super) standing: Standing,
    /// Where code without text that follows the statement ends; the statement's own end if there is none.
    pub(super) hidden_end: IlOffset,
}

/// What the code at a position belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// At the first instruction of a statement.
    AtStatement(IlRange),
    /// Inside a statement, for example behind a call that just returned.
    InStatement(IlRange),
    /// In code that no text belongs to.
    Hidden(IlRange),
    /// In a method without any text, which has symbols: the compiler made it.
    NoText,
    /// In a method without symbols.
    NoSymbols,
}

impl Standing {
    /// The statement that the code belongs to.
    pub(super) fn statement(self) -> Option<IlRange> {
        match self {
            Standing::AtStatement(range) | Standing::InStatement(range) => Some(range),
            _ => None,
        }
    }

    /// The part of the method that counts as one.
    pub(super) fn range(self) -> Option<IlRange> {
        match self {
            Standing::Hidden(range) => Some(range),
            _ => self.statement(),
        }
    }
}

/// The IL from one sequence point to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IlRange {
    pub(super) start: IlOffset,
    /// Behind the last instruction.
    pub(super) end: IlOffset,
}

impl IlRange {
    /// A whole method.
    pub(super) const ALL: IlRange = IlRange {
        start: IlOffset(0),
        end: IlOffset(u32::MAX),
    };

    pub(super) fn contains(self, offset: IlOffset) -> bool {
        self.start <= offset && offset < self.end
    }

    /// Whether no statement follows in the method.
    pub(super) fn is_last(self) -> bool {
        self.end == Self::ALL.end
    }
}

impl Position {
    const NOWHERE: Position = Position {
        frame: FrameId(0),
        method: None,
        ip: IlOffset(0),
        standing: Standing::NoSymbols,
        hidden_end: IlOffset(0),
    };

    /// The innermost frame of a thread of the stopped program.
    pub(super) fn of(target: &mut Target, thread: &Thread) -> Result<Self, Error> {
        let frame = target
            .active_frame(thread)
            .map_err(|error| runtime_error(&error))?;
        Ok(frame.map_or(Self::NOWHERE, |frame| Self::of_frame(target, &frame)))
    }

    pub(super) fn of_frame(target: &mut Target, frame: &Frame) -> Self {
        Self::of_frame_at(target, frame, || Some(frame.ip().ok()??.0))
    }

    /// A frame that waits for what it has called, at the statement that calls it.
    pub(super) fn of_caller(target: &mut Target, frame: &Frame) -> Self {
        Self::of_frame_at(target, frame, || frame.calling_offset())
    }

    fn of_frame_at(target: &mut Target, frame: &Frame, ip: impl Fn() -> Option<u32>) -> Self {
        let mut position = Self {
            frame: FrameId(frame.stack_end().unwrap_or(0)),
            ..Self::NOWHERE
        };
        let Ok(function) = frame.function() else {
            return position;
        };
        let (Ok(token), Ok(module)) = (function.token(), function.module()) else {
            return position;
        };
        let token = Token(token);
        let Target {
            modules, process, ..
        } = target;
        let module = modules.entry(&module);
        position.method = Some(MethodId {
            module: module.identity(),
            token,
        });
        let Some(ip) = ip() else {
            return position;
        };
        position.ip = IlOffset(ip);
        let Ok(symbols) = module.symbols(process) else {
            return position;
        };
        if let Ok(points) = symbols.sequence_points(token) {
            let points: Vec<_> = points
                .map(|point| (point.offset, point.span.is_some()))
                .collect();
            position.standing = stand(&points, position.ip);
            position.hidden_end = hidden_end(&points, position.ip);
        }
        if let Standing::InStatement(statement) = position.standing
            && let Ok(opened) = module.metadata(process)
            && let Ok(Some(body)) = opened.body(token)
            && (il::is_way_out(body.code, statement, position.ip)
                || is_way_through(opened.metadata(), &body, statement, position.ip))
        {
            // A `break` has led here, to the end of a loop's head, or a `yield break` to the end of a `try`.
            position.standing = Standing::Hidden(IlRange {
                start: position.ip,
                end: statement.end,
            });
        }
        position
    }
}

/// `points`: offsets by rising order, and whether text belongs to them.
fn stand(points: &[(IlOffset, bool)], ip: IlOffset) -> Standing {
    if points.iter().all(|(_, visible)| !visible) {
        return Standing::NoText;
    }
    let at = points.partition_point(|(offset, _)| *offset <= ip);
    let end = points
        .get(at)
        .map_or(IlRange::ALL.end, |(offset, _)| *offset);
    match at.checked_sub(1).and_then(|at| points.get(at)).copied() {
        Some((start, true)) if start == ip => Standing::AtStatement(IlRange { start, end }),
        Some((start, true)) => Standing::InStatement(IlRange { start, end }),
        Some((start, false)) => Standing::Hidden(IlRange { start, end }),
        // Before the first point: a prologue that the compiler made.
        None => Standing::Hidden(IlRange {
            start: IlOffset(0),
            end,
        }),
    }
}

/// The first offset behind `ip` that text belongs to.
fn hidden_end(points: &[(IlOffset, bool)], ip: IlOffset) -> IlOffset {
    let mut behind = points.iter().filter(|(offset, _)| *offset > ip);
    let next = behind.find(|(_, visible)| *visible);
    next.map_or(IlRange::ALL.end, |(offset, _)| *offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: u32, end: u32) -> IlRange {
        IlRange {
            start: IlOffset(start),
            end: IlOffset(end),
        }
    }

    #[track_caller]
    fn check(ip: u32, expected: Standing) {
        let points = [(5, true), (10, true), (15, false), (20, true), (30, false)];
        let points = points.map(|(offset, visible)| (IlOffset(offset), visible));
        assert_eq!(stand(&points, IlOffset(ip)), expected, "at {ip}");
    }

    #[test]
    fn a_thread_stands_at_in_or_outside_statements() {
        check(0, Standing::Hidden(range(0, 5)));
        check(5, Standing::AtStatement(range(5, 10)));
        check(7, Standing::InStatement(range(5, 10)));
        check(10, Standing::AtStatement(range(10, 15)));
        check(17, Standing::Hidden(range(15, 20)));
        check(20, Standing::AtStatement(range(20, 30)));
        check(31, Standing::Hidden(range(30, u32::MAX)));
        assert!(range(30, u32::MAX).is_last());
        let points = [(5, true), (10, false), (15, false), (20, true), (30, false)];
        let points = points.map(|(offset, visible)| (IlOffset(offset), visible));
        assert_eq!(hidden_end(&points, IlOffset(7)), IlOffset(20));
        assert_eq!(hidden_end(&points, IlOffset(20)), IlRange::ALL.end);
        assert_eq!(
            stand(&[(IlOffset(0), false)], IlOffset(0)),
            Standing::NoText
        );
        assert_eq!(stand(&[], IlOffset(0)), Standing::NoText);
    }
}
