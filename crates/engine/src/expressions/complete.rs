//! What could be written at a position of an expression: names in scope, members of what stands before a dot.

use syntax::CompletionKind;

use super::bind::Binder;
use super::error::Result;
use super::frames::context;
use crate::api::{Complete, Completions, Error, Reply};
use crate::engine::Engine;
use crate::stack::frame_at;

/// Names told at most.
const MAX_NAMES: usize = 500;
/// The debugger's own variables.
const PSEUDO: [&str; 5] = ["$exception", "$hitcount", "$pid", "$returnvalue", "$tid"];

impl Engine<'_> {
    /// Answers [`crate::api::Request::Complete`].
    pub(crate) fn complete(&mut self, request: &Complete) -> Result<Reply, Error> {
        self.check_stop(request.stop)?;
        let (_, thread) = self.thread_of(request.thread)?;
        let target = self.stopped_target()?;
        let frame = frame_at(target, &thread, request.frame)?;
        let target = &*target;
        let reader = target.reader();
        let scope = target.frame_variables(&reader, frame)?;
        let at = request.position;
        let Some(found) = syntax::complete(&request.text, at as usize) else {
            return Ok(Reply::Completions(Completions {
                start: at,
                end: at,
                names: Vec::new(),
            }));
        };
        let context = context(&reader, &scope, None);
        let mut binder = Binder::new(reader.types, &context);
        let mut names = match &found.kind {
            CompletionKind::Pseudo => {
                let all = PSEUDO.map(str::to_owned).into_iter();
                all.filter(|it| it.starts_with(&found.prefix.to_lowercase()))
                    .collect()
            }
            _ => binder.completions(&found),
        };
        // As it was typed first; the order is kept otherwise.
        names.sort_by_key(|it| !it.starts_with(&*found.prefix));
        names.truncate(MAX_NAMES);
        Ok(Reply::Completions(Completions {
            start: found.replace.start,
            end: found.replace.end,
            names,
        }))
    }
}
