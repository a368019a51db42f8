//! Which frame is meant: of which thread, of which stop.

use cordebug::thread::Frame;

use crate::api::{Error, ErrorCode, StopId};
use crate::engine::Engine;
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
