//! Steps into what the framework calls back, from code that the runtime does not take for the user's.
//!
//! In code for debugging the runtime's stepper stops in whatever method of the user's is called next, also by the framework.
//! Optimised code has no place for that. So a step into a statement there sets traps at the beginnings of what the statement
//! hands to others: lambdas and local functions, and the body of an async method or iterator that is being started.

use cordebug::thread::Thread;
use metadata::tables::Table;
use metadata::{IlOffset, Token};

use super::position::{FrameId, IlRange, MethodId, Position, Standing};
use super::{Leg, MAX_WALK, Trap, TrapKind, awaits, il, remove};
use crate::api::StepKind;
use crate::engine::Engine;
use crate::fields::Fields;

/// How the method is called that asks an async iterator for the next value.
const ASKS_FOR_THE_NEXT: &str = "MoveNextAsync";
/// Methods that one statement hands to others, as far as they get traps.
const MAX_HANDED: usize = 50;

impl Engine<'_> {
    /// Sets the traps for a leg of a step that goes into what is called, or leaves what the framework has called back: the
    /// statement that has handed it on may have more of them.
    pub(super) fn arm_callbacks(
        &mut self,
        thread: &Thread,
        at: Position,
        range: IlRange,
        kind: StepKind,
        leg: &mut Leg,
    ) {
        if kind == StepKind::Out {
            // What the step has come back to may call more of what it was handed.
            if at.standing == Standing::NoSymbols && self.has_left_optimised(at) {
                self.arm_around(thread, leg);
            }
            return;
        }
        let Some(method) = at.method else { return };
        let is_start = at.standing == Standing::NoText;
        if (!is_start && at.standing.statement().is_none()) || self.is_marked(method) {
            return;
        }
        if kind == StepKind::Into {
            self.arm_handed_on(at.frame, method, is_start, range, leg);
            let asked = self.asked_through_others(thread, method, range);
            for body in asked.unwrap_or_default() {
                let trap = TrapKind::Callback(body, at.frame);
                leg.traps.extend(self.trap(body, IlOffset(0), trap));
            }
        }
        // A statement that awaits goes on with its own invocation, not with the next that is called back.
        let awaits = |it: &Trap| matches!(it.kind, TrapKind::Yield(_));
        if !leg.traps.iter().any(awaits) && self.is_called_by_unseen(thread) == Some(true) {
            self.arm_around(thread, leg);
        }
    }

    /// Sets the traps for what was handed on by the statement that waits for code which is not shown.
    fn arm_around(&mut self, thread: &Thread, leg: &mut Leg) {
        if let Some((frame, method, range)) = self.statement_around(thread) {
            self.arm_handed_on(frame, method, false, range, leg);
        }
    }

    /// Whether a step that was not to leave a method has done so, and the runtime did not take its code for the user's.
    fn has_left_optimised(&mut self, at: Position) -> bool {
        let Some(steps) = &self.stepping.steps else {
            return false;
        };
        let (kind, from) = (steps.kind, steps.from);
        kind != StepKind::Out
            && at.frame > from.frame
            && from.method.is_some_and(|method| !self.is_marked(method))
    }

    /// The innermost statement of the user's that waits for code which is not shown.
    fn statement_around(&mut self, thread: &Thread) -> Option<(FrameId, MethodId, IlRange)> {
        let target = self.target.as_mut()?;
        let frames: Vec<_> = target.frames(thread).skip(1).take(MAX_WALK).collect();
        let mut places = frames.iter().map(|it| Position::of_caller(target, it));
        places.find_map(|it| Some((it.frame, it.method?, it.standing.statement()?)))
    }

    fn arm_handed_on(
        &mut self,
        from: FrameId,
        method: MethodId,
        is_start: bool,
        range: IlRange,
        leg: &mut Leg,
    ) {
        for handed in self.handed_on(method, is_start, range).unwrap_or_default() {
            let kind = TrapKind::Callback(handed, from);
            // Those of the leg before are kept.
            let before = self.stepping.steps.as_ref().map(|it| &it.leg.traps);
            let mut set = before.into_iter().flatten().chain(&leg.traps);
            if set.any(|it| matches!(it.kind, TrapKind::Callback(it, _) if it == handed)) {
                continue;
            }
            // Of a method that goes on, the runtime's compiler has only its very first instruction for sure.
            let begins = match is_start && self.is_async_iterator(handed) {
                true => Some(IlOffset(0)),
                false => self.begins(handed),
            };
            leg.traps
                .extend(begins.and_then(|at| self.trap(handed, at, kind)));
        }
    }

    /// The methods whose code may be run by what a part of a method calls.
    fn handed_on(&self, method: MethodId, is_start: bool, range: IlRange) -> Option<Vec<MethodId>> {
        let target = self.target.as_ref()?;
        let module = target.modules.get(method.module)?;
        let symbols = module.symbols(&target.process).ok()?;
        let own = |token| MethodId { token, ..method };
        if is_start {
            let started = symbols.pdb().move_next_method(method.token).ok()?;
            let body = started.or_else(|| self.asked_for_the_next(method))?;
            return Some(vec![own(body)]);
        }
        let code = module.metadata(&target.process).ok()?.body(method.token);
        let code = code.ok()??.code;
        let body = |it: Token| symbols.pdb().move_next_method(it).ok().flatten();
        let taken = il::addresses_of_methods(code, range).into_iter();
        let taken = taken.map(|it| body(it).unwrap_or(it));
        // What starts one may have become a part of the statement.
        let started = il::calls(code, range).into_iter();
        let started = started.filter_map(|(_, it)| body(it));
        let all = taken.chain(started).filter(|it| it.is(Table::Method));
        Some(all.take(MAX_HANDED).map(own).collect())
    }

    /// The body of the async iterator that one of the compiler's own methods asks for the next value.
    fn asked_for_the_next(&self, method: MethodId) -> Option<Token> {
        let target = self.target.as_ref()?;
        let module = target.modules.get(method.module)?;
        let metadata = module.metadata(&target.process).ok()?.metadata();
        let method = metadata.method(method.token).ok()?;
        if !method.name().ok()?.ends_with(ASKS_FOR_THE_NEXT) {
            return None;
        }
        let class = metadata.type_def(method.declaring_type().ok()?).ok()?;
        let mut others = class.methods().flatten();
        let body = others.find(|it| it.name().is_ok_and(|name| awaits::is_move_next(&name)))?;
        let pdb = module.symbols(&target.process).ok()?.pdb();
        pdb.async_stepping(body.token()).ok()??;
        Some(body.token())
    }

    /// The bodies of the async iterators that a statement may ask for the next value through an enumerator of the framework's
    /// (`ConfigureAwait`, `WithCancellation`).
    fn asked_through_others(
        &mut self,
        thread: &Thread,
        method: MethodId,
        range: IlRange,
    ) -> Option<Vec<MethodId>> {
        let target = self.target.as_ref()?;
        let module = target.modules.get(method.module)?;
        let image = module.metadata(&target.process).ok()?;
        let code = image.body(method.token).ok()??.code;
        let asks = |token| {
            let called = image.metadata().member_ref(token);
            called.is_ok_and(|it| it.name == ASKS_FOR_THE_NEXT)
        };
        if !il::calls(code, range).iter().any(|(_, it)| asks(*it)) {
            return None;
        }
        let machine = self.active_frame(thread)?.first_argument().ok()?;
        let machine = machine.dereference().ok()??;
        let target = self.target.as_mut()?;
        let mut fields = Fields::new(target);
        let kept = fields.own_fields(&machine, "<>").into_iter();
        let enumerators = kept.filter_map(|it| fields.object(&it, "_enumerator"));
        let classes: Vec<_> = enumerators.filter_map(|it| it.class().ok()).collect();
        let bodies = classes.iter().filter_map(|class| {
            let module = target.modules.entry(&class.module().ok()?);
            let metadata = module.metadata(&target.process).ok()?.metadata();
            let definition = metadata.type_def(Token(class.token().ok()?)).ok()?;
            let mut methods = definition.methods().flatten();
            let body = methods.find(|it| it.name().is_ok_and(|it| awaits::is_move_next(&it)))?;
            let pdb = module.symbols(&target.process).ok()?.pdb();
            pdb.async_stepping(body.token()).ok()??;
            Some(MethodId {
                module: module.identity(),
                token: body.token(),
            })
        });
        Some(bodies.collect())
    }

    /// Where the user's code of a method begins.
    pub(super) fn begins(&self, method: MethodId) -> Option<IlOffset> {
        let target = self.target.as_ref()?;
        let module = target.modules.get(method.module)?;
        let (offset, ..) = module.first_point(&target.process, method.token)?;
        Some(offset)
    }

    /// Traps that are still waited for when a step goes on with another leg of the same statement.
    pub(super) fn keep_callbacks(ended: &mut Leg, next: &mut Leg) {
        let is_one = |it: &mut Trap| matches!(it.kind, TrapKind::Callback(..));
        next.traps.extend(ended.traps.extract_if(.., is_one));
    }

    /// Something that the statement of a frame has handed on begins; whether that stops the program.
    pub(super) fn called_back_into(&mut self, thread: &Thread, from: FrameId) -> bool {
        let mut position = || {
            let own = self.stepping.steps.as_ref()?.thread;
            let target = self.target.as_mut();
            let target = target.filter(|_| thread.id().ok() == Some(own))?;
            let at = Position::of(target, thread).ok()?;
            (at.frame < from).then_some(at)
        };
        match position() {
            Some(at) if !self.is_stepped_over(thread) => self.landed(thread, at),
            _ => false,
        }
    }

    /// Whether a step over is still in a statement that calls what its thread is in.
    fn is_stepped_over(&mut self, thread: &Thread) -> bool {
        let (Some(steps), Some(target)) = (&self.stepping.steps, &mut self.target) else {
            return false;
        };
        let from = steps.from;
        if steps.kind != StepKind::Over {
            return false;
        }
        let frames: Vec<_> = target.frames(thread).skip(1).take(MAX_WALK).collect();
        let mut frames = frames.iter().map(|it| Position::of_frame(target, it));
        frames.any(|it| (it.frame, it.method) == (from.frame, from.method))
    }

    /// The statement that has set the traps is left.
    pub(super) fn forget_callbacks(&mut self) {
        if let Some(steps) = &mut self.stepping.steps {
            let traps = &mut steps.leg.traps;
            for trap in traps.extract_if(.., |it| matches!(it.kind, TrapKind::Callback(..))) {
                remove(&trap.breakpoint);
            }
        }
    }
}
