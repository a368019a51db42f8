//! Exceptions as data.

use cordebug::thread::Thread;

use crate::api::ExceptionReport;
use crate::engine::Engine;

impl Engine<'_> {
    /// The exception in flight on a thread.
    pub(crate) fn exception_of(
        &mut self,
        thread: &Thread,
        unhandled: bool,
    ) -> Option<ExceptionReport> {
        let value = thread.current_exception().ok()??;
        let object = value.dereference().ok()??;
        let class = object.class().ok()?;
        Some(ExceptionReport {
            type_name: format!("{:?}", class.token().ok()?),
            message: None,
            hresult: None,
            inner: Vec::new(),
            unhandled,
        })
    }
}
