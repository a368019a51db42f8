//! Which locals have not been assigned yet where code stands, from its IL alone.
//!
//! C# reads no local before it is assigned (C# 9.4), so whatever lies in such a slot is nobody's value: a zero, or what an
//! earlier round of a loop left there. A local counts as not assigned only if *no* way through the code from the start of
//! the method, or from where its scope was entered last, comes by a store to its slot or by its address being taken.
//! Whatever cannot be decided counts as assigned, so nothing that has a value is hidden.

pub(super) mod again;
pub(super) mod fields;
pub(super) mod shared;
mod yields;

use std::ops::Range;

use metadata::pdb::{Await, Language, Pdb};
use metadata::pe::{ClauseKind, ExceptionClause, MethodBody};
use metadata::{IlOffset, Symbols};

use super::Result;
use super::shape::CodePlace;
use crate::stepping::il;
use crate::types::Types;

/// Longer code is not looked through.
const MAX_CODE: usize = 1 << 18;
/// Locals that are looked at together, one bit each.
const BITS: usize = 64;

/// A local of a method, wherever its scope is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Local {
    pub(super) slot: u16,
    /// Where its scope begins.
    pub(super) start: u32,
    /// Where it has ended.
    pub(super) end: u32,
}

impl Local {
    pub(super) fn contains(self, offset: u32) -> bool {
        (self.start..self.end).contains(&offset)
    }
}

/// One instruction.
struct Instruction {
    at: u32,
    /// Instructions that may run next, by number.
    next: Vec<usize>,
    /// The slot that it stores to, or takes the address of.
    writes: Option<u16>,
    /// Whether it makes what it is asked about a new one, that nothing has been stored to.
    renews: bool,
}

/// Where code stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Standing {
    /// The instruction that runs next.
    pub(super) at: IlOffset,
    /// Behind the last one that it could be, if that is not sure.
    pub(super) until: Option<IlOffset>,
}

/// The slots of the locals that are not assigned yet at a place in code, of which it is known whether code is exactly there.
/// Only for C#: Visual Basic reads locals that it has not assigned.
pub(super) fn in_method(types: Types<'_>, place: &CodePlace, is_exact: bool) -> Result<Vec<u16>> {
    let Some(there) = There::of(types, place, is_exact)? else {
        return Ok(Vec::new());
    };
    Ok(there.unassigned(IlOffset(0)))
}

/// What code was suspended at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Suspension {
    Await,
    Yield,
}

/// The slots of the locals that an async method or iterator has lost if it was suspended before it came to a place in code:
/// what is not read behind an await or yield has no field in the state machine, and a slot that is empty when the method
/// goes on.
pub(super) fn lost_in_method(
    types: Types<'_>,
    place: &CodePlace,
) -> Result<Vec<(u16, Suspension)>> {
    let Some(there) = There::of(types, place, false)? else {
        return Ok(Vec::new());
    };
    let (Some(mut code), Some(yields)) = (decode(&there.body), &there.yields) else {
        return Ok(Vec::new());
    };
    let awaits = there.pdb.async_stepping(place.method)?;
    let awaits = awaits.map(|it| it.awaits).unwrap_or_default();
    for it in &awaits {
        end_at(&mut code, there.body.code, it);
    }
    let awaits = awaits
        .iter()
        .filter(|it| it.resume_method == place.method)
        .map(|it| (it.resume_offset, Suspension::Await));
    let yields = yields.iter().map(|(_, to)| (*to, Suspension::Yield));
    let lost = |(from, over): (IlOffset, Suspension)| {
        let lost = unassigned(&code, &there.locals, there.standing, from);
        lost.into_iter().map(move |slot| (slot, over))
    };
    Ok(awaits.chain(yields).flat_map(lost).collect())
}

/// Lets no way lead past an await: what comes behind the next one, in the next round of a loop, goes on from there.
fn end_at(code: &mut [Instruction], il: &[u8], suspension: &Await) {
    let before = code
        .iter_mut()
        .take_while(|it| it.at < suspension.yield_offset.0);
    // The jump of an await that has not to wait.
    let passes = |at: u32| {
        let read = il::read(il, at as usize);
        read.is_some_and(|it| it.targets.iter().any(|to| *to > suspension.resume_offset))
    };
    if let Some(jump) = before.filter(|it| passes(it.at)).last() {
        jump.next.clear();
    }
}

/// What must be known to follow the locals of a method to a place.
struct There<'t> {
    pdb: Pdb<'t>,
    body: MethodBody<'t>,
    locals: Vec<Local>,
    standing: Standing,
    /// The ways of an iterator over its yields; `None` if they are not known.
    yields: Option<Vec<(IlOffset, IlOffset)>>,
}

impl<'t> There<'t> {
    /// `None` if it is not known, or the language has other rules.
    fn of(types: Types<'t>, place: &CodePlace, is_exact: bool) -> Result<Option<Self>> {
        let module = types.module(place.module)?;
        let pdb = module.symbols(types.process).ok().map(Symbols::pdb);
        let body = types.metadata(place.module)?.body(place.method)?;
        let (Some(pdb), Some(body)) = (pdb, body) else {
            return Ok(None);
        };
        let mut points = pdb.sequence_points(place.method)?.flatten().peekable();
        let document = points.peek().map(|point| pdb.document(point.document));
        let language = document.transpose()?.map(|it| it.language()).transpose()?;
        if language.flatten() != Some(Language::CSharp) {
            return Ok(None);
        }
        let next = points.find(|point| point.offset > place.offset);
        let end = next.map_or(IlOffset(u32::MAX), |point| point.offset);
        let mut locals = Vec::new();
        for scope in pdb.local_scopes(place.method) {
            let scope = scope?;
            let (start, end) = (scope.start().0, scope.end().0);
            for variable in scope.variables() {
                let slot = variable?.index;
                locals.push(Local { slot, start, end });
            }
        }
        let standing = Standing {
            at: place.offset,
            until: (!is_exact).then_some(end),
        };
        let yields = match hands_out(types, place)? {
            true => {
                let metadata = types.metadata(place.module)?.metadata();
                let is_async = pdb.async_stepping(place.method)?.is_some();
                yields::ways(metadata, body.code, is_async)
            }
            false => Some(Vec::new()),
        };
        Ok(Some(Self {
            pdb,
            body,
            locals,
            standing,
            yields,
        }))
    }

    /// The instructions, with the ways over yields; `None` if these are not known.
    fn code(&self) -> Option<Vec<Instruction>> {
        let mut code = decode(&self.body)?;
        for (from, to) in self.yields.as_ref()? {
            lead(&mut code, *from, *to).then_some(())?;
        }
        Some(code)
    }

    fn unassigned(&self, from: IlOffset) -> Vec<u16> {
        let code = self.code();
        code.map(|code| unassigned(&code, &self.locals, self.standing, from))
            .unwrap_or_default()
    }
}

/// The slots of those locals in scope that cannot have been assigned on the way from an offset. `locals` are all of the method.
fn unassigned(
    code: &[Instruction],
    locals: &[Local],
    standing: Standing,
    from: IlOffset,
) -> Vec<u16> {
    let at = standing.at.0;
    let here: Vec<Local> = locals
        .iter()
        .copied()
        .filter(|it| it.contains(at))
        .collect();
    let until = standing.until.map_or(at + 1, |it| it.0.max(at + 1));
    let mut found = Vec::new();
    for some in here.chunks(BITS) {
        let some: Vec<(Local, bool)> = some
            .iter()
            .map(|local| (*local, begins_anew(code, locals, *local)))
            .collect();
        let Some(maybe) = flow(code, &some, from.0, at..until) else {
            continue;
        };
        for (bit, (local, _)) in some.iter().enumerate() {
            if maybe & (1 << bit) == 0 {
                found.push(local.slot);
            }
        }
    }
    found
}

/// Whether code is that of an iterator's state machine, async or not.
fn hands_out(types: Types<'_>, place: &CodePlace) -> Result<bool> {
    let metadata = types.metadata(place.module)?.metadata();
    let method = metadata.method(place.method)?.name()?;
    if method != "MoveNext" {
        return Ok(false);
    }
    let fields = types.fields(&place.declared_in)?;
    Ok(fields.iter().any(|it| &*it.name == "<>2__current"))
}

/// Lets code go on somewhere else, too.
fn lead(code: &mut [Instruction], from: IlOffset, to: IlOffset) -> bool {
    let number = |offset: IlOffset| code.iter().position(|it| it.at == offset.0);
    let (Some(from), Some(to)) = (number(from), number(to)) else {
        return false;
    };
    if let Some(instruction) = code.get_mut(from) {
        instruction.next.push(to);
    }
    true
}

/// Whether a local is a new one each time that its scope is entered: every store to its slot is inside of a scope of the
/// slot. The compiler assigns some variables of patterns before their scopes.
fn begins_anew(code: &[Instruction], locals: &[Local], local: Local) -> bool {
    let scopes = || locals.iter().filter(|it| it.slot == local.slot);
    let mut writes = code.iter().filter(|it| it.writes == Some(local.slot));
    writes.all(|write| scopes().any(|scope| scope.contains(write.at)))
}

/// The locals, one bit each, that may be assigned where the code stands; `None` if nothing leads there.
fn flow(
    code: &[Instruction],
    locals: &[(Local, bool)],
    from: u32,
    standing: Range<u32>,
) -> Option<u64> {
    let first = code.iter().position(|it| it.at == from)?;
    let mut states: Vec<Option<u64>> = vec![None; code.len()];
    *states.get_mut(first)? = Some(0);
    let mut waiting = vec![first];
    while let Some(number) = waiting.pop() {
        let (Some(instruction), Some(Some(state))) = (code.get(number), states.get(number)) else {
            continue;
        };
        let bits = locals.iter().enumerate();
        let written = bits
            .filter(|(_, (local, _))| instruction.writes == Some(local.slot))
            .fold(0, |bits, (bit, _)| bits | 1 << bit);
        let out = if instruction.renews {
            0
        } else {
            state | written
        };
        for &next in &instruction.next {
            let (Some(to), Some(known)) = (code.get(next), states.get_mut(next)) else {
                continue;
            };
            let anew = locals.iter().enumerate().filter(|(_, (local, anew))| {
                *anew && local.contains(to.at) && !local.contains(instruction.at)
            });
            let entered = anew.fold(0, |bits, (bit, _)| bits | 1 << bit);
            let arriving = out & !entered;
            let merged = known.unwrap_or(0) | arriving;
            if *known != Some(merged) {
                *known = Some(merged);
                waiting.push(next);
            }
        }
    }
    let stands = code.iter().zip(&states);
    let stands = stands.filter(|(it, _)| standing.contains(&it.at));
    stands
        .filter_map(|(_, state)| *state)
        .reduce(|one, other| one | other)
}

/// The instructions with the ways between them; `None` for code that cannot be read.
fn decode(body: &MethodBody<'_>) -> Option<Vec<Instruction>> {
    let code = body.code;
    if code.len() > MAX_CODE {
        return None;
    }
    let mut numbers = vec![usize::MAX; code.len()];
    let mut read = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let instruction = il::read(code, at)?;
        *numbers.get_mut(at)? = read.len();
        let next = instruction.next;
        read.push((at, instruction));
        at = next;
    }
    let number = |at: usize| numbers.get(at).copied().filter(|it| *it != usize::MAX);
    let target = |offset: IlOffset| number(offset.0 as usize);
    let mut found = Vec::with_capacity(read.len());
    for (at, instruction) in &read {
        let mut next: Vec<usize> = instruction
            .targets
            .iter()
            .copied()
            .filter_map(target)
            .collect();
        if next.len() != instruction.targets.len() {
            return None;
        }
        if il::falls_through(code, *at) {
            next.extend(number(instruction.next));
        }
        let offset = *at as u32;
        for clause in &body.clauses {
            if !(is_in(offset, clause.handler_start, clause.handler_length)
                || is_in(offset, clause.try_start, clause.try_length))
            {
                continue;
            }
            next.extend(
                ways(clause, offset, code, &read)
                    .into_iter()
                    .filter_map(target),
            );
        }
        found.push(Instruction {
            at: offset,
            next,
            writes: il::stored_local(code, *at).or_else(|| il::local_address(code, *at)),
            renews: false,
        });
    }
    Some(found)
}

fn is_in(offset: u32, start: IlOffset, length: u32) -> bool {
    offset.checked_sub(start.0).is_some_and(|it| it < length)
}

/// Where an exception clause leads an instruction to: from everywhere in its region into its handler; from the end of a
/// `finally` to where the region was left for.
fn ways(
    clause: &ExceptionClause,
    offset: u32,
    code: &[u8],
    read: &[(usize, il::Instruction)],
) -> Vec<IlOffset> {
    const END_FINALLY: u8 = 0xdc;
    let mut found = Vec::new();
    if is_in(offset, clause.try_start, clause.try_length) {
        found.push(clause.handler_start);
        if let ClauseKind::Filter(filter) = clause.kind {
            found.push(filter);
        }
    }
    let is_end = code.get(offset as usize) == Some(&END_FINALLY);
    // Behind a fault block the exception goes on.
    if is_end
        && clause.kind == ClauseKind::Finally
        && is_in(offset, clause.handler_start, clause.handler_length)
    {
        let leaves = read.iter().filter(|(at, _)| {
            matches!(code.get(*at), Some(0xdd | 0xde))
                && is_in(*at as u32, clause.try_start, clause.try_length)
        });
        let targets = leaves.flat_map(|(_, it)| it.targets.iter().copied());
        // What leaves a region inside of this one only comes by no end of this one's.
        found.extend(targets.filter(|to| !is_in(to.0, clause.try_start, clause.try_length)));
    }
    found
}

#[cfg(test)]
mod tests {
    use metadata::Token;

    use super::*;

    fn local(slot: u16, start: u32, end: u32) -> Local {
        Local { slot, start, end }
    }

    #[track_caller]
    fn check(
        code: &[u8],
        clauses: &[ExceptionClause],
        locals: &[Local],
        at: u32,
        expected: &[u16],
    ) {
        let body = MethodBody {
            max_stack: 8,
            init_locals: true,
            local_signature: Token::default(),
            code,
            clauses: clauses.to_vec(),
        };
        let standing = Standing {
            at: IlOffset(at),
            until: None,
        };
        let code = decode(&body);
        let found = code.map(|code| unassigned(&code, locals, standing, IlOffset(0)));
        let found = found.unwrap_or_default();
        assert_eq!(found, expected, "at {at}");
    }

    #[test]
    fn stores_on_any_way_count() {
        // ldarg.0; brtrue.s 7; ldc.i4.0; stloc.0; br.s 9; ldc.i4.1; stloc.1; ret
        let code = [0x02, 0x2d, 0x04, 0x16, 0x0a, 0x2b, 0x02, 0x17, 0x0b, 0x2a];
        let both = [local(0, 0, 10), local(1, 0, 10)];
        check(&code, &[], &both, 0, &[0, 1]);
        check(&code, &[], &both, 4, &[0, 1]);
        check(&code, &[], &both, 5, &[1]);
        check(&code, &[], &both, 7, &[0, 1]);
        check(&code, &[], &both, 9, &[]);
        // Behind the end, or where no way leads, nothing is claimed.
        check(&code, &[], &both, 10, &[]);
        check(&[0x2a, 0x0a], &[], &[local(0, 0, 2)], 1, &[]);
    }

    #[test]
    fn locals_of_a_loop_begin_anew() {
        // nop; ldc.i4.0; stloc.1; ldloc.1; brtrue.s 1; ret
        let code = [0x00, 0x16, 0x0b, 0x07, 0x2d, 0xfb, 0x2a];
        check(&code, &[], &[local(1, 1, 4)], 1, &[1]);
        check(&code, &[], &[local(1, 1, 4)], 3, &[]);
        // Its scope is the whole method: what the last round left is its value.
        check(&code, &[], &[local(1, 0, 7)], 1, &[]);
        // A store outside of every scope of the slot.
        check(&code, &[], &[local(1, 1, 2)], 1, &[]);
    }

    #[test]
    fn handlers_follow_every_instruction_of_their_region() {
        // try { ldc.i4.0; stloc.0; leave.s 7 } finally { nop; endfinally } nop; ret
        let code = [0x16, 0x0a, 0xde, 0x03, 0x00, 0xdc, 0x00, 0x00, 0x2a];
        let finally = ExceptionClause {
            kind: ClauseKind::Finally,
            try_start: IlOffset(0),
            try_length: 4,
            handler_start: IlOffset(4),
            handler_length: 2,
        };
        let whole = [local(0, 0, 9)];
        check(&code, &[finally], &whole, 0, &[0]);
        check(&code, &[finally], &whole, 4, &[]);
        check(&code, &[finally], &whole, 7, &[]);
    }

    #[test]
    fn a_region_is_not_left_by_what_leaves_one_inside_of_it() {
        // try { try { leave.s 3 } finally { endfinally } nop; ldc.i4.0; stloc.0; leave.s 10 } finally { nop; endfinally } ret
        let code = [
            0xde, 0x01, 0xdc, 0x00, 0x16, 0x0a, 0xde, 0x02, 0x00, 0xdc, 0x2a,
        ];
        let finally = |try_length: u32, handler_length: u32| ExceptionClause {
            kind: ClauseKind::Finally,
            try_start: IlOffset(0),
            try_length,
            handler_start: IlOffset(try_length),
            handler_length,
        };
        let clauses = [finally(2, 1), finally(8, 2)];
        let whole = [local(0, 0, 11)];
        check(&code, &clauses, &whole, 3, &[0]);
        check(&code, &clauses, &whole, 8, &[]);
        check(&code, &clauses, &whole, 10, &[]);
    }

    #[test]
    fn code_that_cannot_be_read_claims_nothing() {
        check(&[0x20, 0x00], &[], &[local(0, 0, 2)], 0, &[]);
        check(
            &[0x2b, 0x01, 0x20, 0, 0, 0, 0, 0x2a],
            &[],
            &[local(0, 0, 8)],
            0,
            &[],
        );
        check(&[], &[], &[local(0, 0, 2)], 0, &[]);
    }
}
