//! Which frame is meant: of which thread, of which stop.

use cordebug::thread::Thread;

use crate::api::{Error, ErrorCode, StopId, ThreadId};
use crate::engine::Engine;
use crate::stack::frame_at;
use crate::target::Target;

use super::Reader;
use super::scope::{FrameContext, Scope};

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

    /// A thread of the stopped program: the one that is named, else the one that reported the stop, else the first.
    pub(crate) fn thread_or_current(&mut self, thread: Option<ThreadId>) -> Result<Thread, Error> {
        let reporting = self.stop.as_ref().and_then(|stop| stop.thread);
        let target = self.stopped_target()?;
        let Some(thread) = thread.or(reporting).or_else(|| target.first_thread()) else {
            return Err(Error::new(
                ErrorCode::InvalidThread,
                "the program has no managed thread",
            ));
        };
        target.process.thread(thread.0).map_err(|error| {
            Error::new(
                ErrorCode::InvalidThread,
                format!("there is no managed thread {}: {error}", thread.0),
            )
        })
    }
}

impl Target {
    /// The variables of a frame of a thread, 0 being the innermost.
    pub(crate) fn scope(
        &self,
        reader: &Reader<'_>,
        thread: &Thread,
        index: u32,
    ) -> Result<Scope, Error> {
        let frame = frame_at(thread, index)?;
        let told = |why: super::Unreadable| {
            Error::new(
                ErrorCode::InvalidParameter,
                format!("frame {index} has no variables that can be told: {why}"),
            )
        };
        let context = FrameContext::of(reader.types, frame).map_err(told)?;
        Scope::read(reader, context).map_err(told)
    }
}
