//! Awaits that nobody has written: `await using` and `await foreach` dispose of what they use in code without text.

use metadata::Token;
use metadata::tables::Table;

use super::il;
use super::position::{Position, Standing};
use crate::engine::Engine;

/// The method that is awaited.
const DISPOSES: &str = "DisposeAsync";

impl Engine<'_> {
    /// Whether a position belongs to an await that nobody has written. The statement before it in the code has run already, or
    /// was left by an exception: it is no place to stop at, as behind a `Dispose` that `using` calls.
    pub(super) fn is_of_unwritten_await(&mut self, at: Position) -> bool {
        let (Standing::Hidden(range), Some(method)) = (at.standing, at.method) else {
            return false;
        };
        let stepping = self.async_stepping(method);
        let mut awaits = stepping.iter().flat_map(|it| &it.awaits);
        let here =
            awaits.find(|it| range.contains(it.yield_offset) || range.contains(it.resume_offset));
        let Some(yields) = here.map(|it| it.yield_offset) else {
            return false;
        };
        let disposes = || {
            let target = self.target.as_ref()?;
            let module = target.modules.get(method.module)?;
            let symbols = module.symbols(&target.process).ok()?;
            let points = symbols.sequence_points(method.token).ok()?;
            let before: Vec<_> = points.filter(|point| point.offset <= yields).collect();
            // The last one is where the invocation is suspended, the one before it is what asks for the awaiter.
            let [.., asks, _] = &before[..] else {
                return None;
            };
            if asks.span.is_some() {
                return None;
            }
            let opened = module.metadata(&target.process).ok()?;
            let body = opened.body(method.token).ok()??;
            let calls = il::calls_between(body.code, asks.offset, yields);
            let metadata = opened.metadata();
            let is_it = |token: Token| match token.is(Table::MemberRef) {
                true => metadata
                    .member_ref(token)
                    .is_ok_and(|it| it.name == DISPOSES),
                false => {
                    let method = metadata.method(token);
                    method.is_ok_and(|it| it.name().is_ok_and(|name| name == DISPOSES))
                }
            };
            Some(calls.into_iter().any(|(_, token)| is_it(token)))
        };
        disposes().unwrap_or(false)
    }
}
