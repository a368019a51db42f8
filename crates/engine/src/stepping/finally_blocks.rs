//! The `finally` blocks of iterators: the compiler makes each a method of its own, `<>m__FinallyN`, which the body calls where
//! it leaves the `try`, and `Dispose` where the iterator is given up or an exception leaves it.
//!
//! For steps such a method is a part of the iterator: a step over that comes to one ends in it, its end goes on with the
//! statement that called it, and a step out of it leaves the iterator.

use cordebug::thread::Thread;
use metadata::csharp::GeneratedName;
use metadata::pe::MethodBody;
use metadata::tables::Table;
use metadata::{Metadata, Token};

use super::awaits::is_move_next;
use super::position::{IlRange, MethodId, Position, Standing};
use super::{Leg, TrapKind, il, my_code};
use crate::api::StepKind;
use crate::engine::Engine;

/// What the names of such methods begin with.
const BLOCK: &str = "<>m__Finally";
/// Blocks of one iterator that steps look for.
const MAX_BLOCKS: usize = 16;

/// Whether a method of some metadata is such a block.
fn is_block(metadata: Metadata<'_>, method: Token) -> bool {
    let method = metadata.method(method);
    method.is_ok_and(|it| {
        it.name_bytes()
            .is_ok_and(|name| name.starts_with(BLOCK.as_bytes()))
    })
}

/// Whether code in the middle of a statement is no part of it: the way of a `yield break` or `goto` out of the `try`, which begins with
/// a call of the block. It lies behind the end of the `try`, without text of its own.
pub(super) fn is_way_through(
    metadata: Metadata<'_>,
    body: &MethodBody<'_>,
    statement: IlRange,
    ip: metadata::IlOffset,
) -> bool {
    let called = il::calls(
        body.code,
        IlRange {
            start: ip,
            end: statement.end,
        },
    );
    let Some((call, token)) = called.first() else {
        return false;
    };
    // ldarg.0; call
    call.0 == ip.0 + 1
        && !il::comes_from_before(body.code, statement.start, ip)
        && match token.is(Table::MemberRef) {
            // A generic type names its own methods in its instantiation.
            true => metadata
                .member_ref(*token)
                .is_ok_and(|it| it.name.starts_with(BLOCK)),
            false => is_block(metadata, *token),
        }
}

impl Engine<'_> {
    /// The blocks with text of the iterator that a method is a part of, but the method itself.
    fn finally_blocks(&self, method: MethodId) -> Option<Vec<MethodId>> {
        let target = self.target.as_ref()?;
        let module = target.modules.get(method.module)?;
        let metadata = module.metadata(&target.process).ok()?.metadata();
        let own = metadata.method(method.token).ok()?;
        let name = own.name().ok()?;
        if !name.starts_with(BLOCK) && !is_move_next(&name) && !name.ends_with("Dispose") {
            return None;
        }
        let class = metadata.type_def(own.declaring_type().ok()?).ok()?;
        GeneratedName::parse(&class.name().ok()?)?;
        let methods = class.methods().flatten().map(|it| it.token());
        let blocks = methods.filter(|it| {
            *it != method.token
                && is_block(metadata, *it)
                && module.first_point(&target.process, *it).is_some()
        });
        let blocks = blocks.take(MAX_BLOCKS);
        Some(blocks.map(|token| MethodId { token, ..method }).collect())
    }

    /// Sets traps at the blocks of an iterator for a leg that does not go into what is called.
    pub(super) fn arm_finally_blocks(
        &mut self,
        thread: &Thread,
        at: Position,
        kind: StepKind,
        leg: &mut Leg,
    ) {
        let steps = self.stepping.steps.as_ref();
        let is_wanted =
            steps.is_none_or(|steps| steps.kind != StepKind::Out && steps.wanted.is_none());
        if kind != StepKind::Over || !is_wanted {
            return;
        }
        let blocks = at.method.and_then(|method| self.finally_blocks(method));
        let blocks = blocks.unwrap_or_default();
        if blocks.is_empty() {
            return;
        }
        leg.iterator = self
            .active_frame(thread)
            .and_then(|frame| self.invocation(&frame));
        for block in blocks {
            let begins = self.begins(block);
            let trap = begins.and_then(|start| self.trap(block, start, TrapKind::Finally));
            leg.traps.extend(trap);
        }
    }

    /// A block of an iterator begins; whether that stops the program.
    pub(super) fn finally_block_begins(&mut self, thread: &Thread) -> bool {
        let steps = self.stepping.steps.as_ref();
        if steps.map(|it| it.thread) != thread.id().ok() {
            return false;
        }
        let Some(frame) = self.active_frame(thread) else {
            return false;
        };
        let leg = self.take_leg();
        let is_ours = match &leg.iterator {
            Some(iterator) => self.is_invocation(iterator, &frame),
            // Optimised code may not know any more whose body it is.
            None => {
                let target = self.target.as_ref();
                let caller = target.and_then(|it| my_code::caller(it, thread));
                let caller = caller.and_then(|it| it.stack_end().ok());
                caller.is_some() && caller == leg.at.map(|at| at.frame.0)
            }
        };
        if let Some(steps) = &mut self.stepping.steps {
            steps.leg = leg;
        }
        let Some(target) = self.target.as_mut().filter(|_| is_ours) else {
            return false;
        };
        let at = Position::of_frame(target, &frame);
        self.landed(thread, at)
    }

    /// Whether a leg has come back from a block to the body of its iterator, in the middle of the statement that called it: the step
    /// goes on with that.
    pub(super) fn is_behind_finally_block(&self, at: Position) -> bool {
        let steps = self.stepping.steps.as_ref();
        let leg = steps.and_then(|steps| steps.leg.at);
        let (Some(left), Some(method)) = (leg.and_then(|it| it.method), at.method) else {
            return false;
        };
        left.module == method.module
            && left != method
            && leg.is_some_and(|leg| at.frame > leg.frame)
            && !matches!(at.standing, Standing::AtStatement(_))
            && self.ask_metadata(left, |metadata, left| {
                let class = |method| metadata.method(method)?.declaring_type();
                let body = metadata.method(method.token);
                is_block(metadata, left)
                    && body.is_ok_and(|it| it.name().is_ok_and(|name| is_move_next(&name)))
                    && class(left).ok() == class(method.token).ok()
            })
    }
}
