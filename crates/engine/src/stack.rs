//! Stacks as data.

use crate::api::{Error, ErrorCode, Reply, ThreadId};
use crate::engine::Engine;

impl Engine<'_> {
    pub(crate) fn stack(
        &mut self,
        thread: Option<ThreadId>,
        start: u32,
        count: u32,
    ) -> Result<Reply, Error> {
        let _ = (thread, start, count);
        self.stopped_target()?;
        Err(Error::new(ErrorCode::Internal, "not built yet"))
    }
}
