//! IL instructions, as far as steps and variables need to know where they lead (ECMA-335 III.1.2, III.3).

use std::collections::BTreeSet;

use metadata::{IlOffset, Token};

use super::position::IlRange;

const SWITCH: u8 = 0x45;
const PREFIX: u8 = 0xfe;

/// Whether code of `from` may jump into `into`; also if that cannot be told.
pub(super) fn may_jump(code: &[u8], from: IlRange, into: IlRange) -> bool {
    let end = (from.end.0 as usize).min(code.len());
    let mut at = from.start.0 as usize;
    while at < end {
        let Some(instruction) = read(code, at) else {
            return true;
        };
        if instruction.targets.iter().any(|it| into.contains(*it)) {
            return true;
        }
        at = instruction.next;
    }
    false
}

/// Where code comes to first of some offsets.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entries {
    pub(crate) first: BTreeSet<IlOffset>,
    /// Whether code may come to one of them once more, or to another one.
    pub(crate) again: bool,
}

/// To which of some offsets code comes first from a place; `None` if it cannot be read. What an exception enters is left out.
///
/// A state machine is entered again at its beginning, and goes on from there: `before` is what it only comes to the first time.
pub(crate) fn entries(
    code: &[u8],
    (from, before): (IlOffset, Option<IlOffset>),
    offsets: &BTreeSet<IlOffset>,
) -> Option<Entries> {
    let mut first = BTreeSet::new();
    follow(code, vec![from], |at| {
        let is_one = offsets.contains(&at);
        if is_one {
            first.insert(at);
        }
        !is_one
    })?;
    let mut behind = Vec::new();
    for at in &first {
        behind.extend(following(code, *at)?);
    }
    if before.is_some() {
        behind.push(IlOffset(0));
    }
    let mut again = false;
    follow(code, behind, |at| {
        again |= first.contains(&at);
        !again && Some(at) != before
    })?;
    Some(Entries { first, again })
}

/// Visits all code that `from` leads to, each instruction once, no further than where `goes_on` says no.
fn follow(
    code: &[u8],
    mut from: Vec<IlOffset>,
    mut goes_on: impl FnMut(IlOffset) -> bool,
) -> Option<()> {
    let mut seen = BTreeSet::new();
    while let Some(at) = from.pop() {
        if seen.insert(at) && goes_on(at) {
            from.extend(following(code, at)?);
        }
    }
    Some(())
}

/// Where an instruction leads.
fn following(code: &[u8], at: IlOffset) -> Option<Vec<IlOffset>> {
    let at = at.0 as usize;
    let instruction = read(code, at)?;
    let mut next = instruction.targets;
    if falls_through(code, at) {
        next.push(IlOffset(u32::try_from(instruction.next).ok()?));
    }
    Some(next)
}

/// The calls in a range: where each is, and the token of what it calls. Calls of constructors and through pointers are
/// none, and code that cannot be read ends the list.
pub(super) fn calls(code: &[u8], range: IlRange) -> Vec<(IlOffset, Token)> {
    let end = (range.end.0 as usize).min(code.len());
    let mut at = range.start.0 as usize;
    let mut found = Vec::new();
    while at < end {
        let Some(instruction) = read(code, at) else {
            break;
        };
        if let Some(0x28 | 0x6f) = code.get(at)
            && let Some(token) = i32_at(code, at + 1)
        {
            found.push((IlOffset(at as u32), Token(token as u32)));
        }
        at = instruction.next;
    }
    found
}

/// The same from one offset to another.
pub(crate) fn calls_between(code: &[u8], start: IlOffset, end: IlOffset) -> Vec<(IlOffset, Token)> {
    calls(code, IlRange { start, end })
}

/// The methods whose addresses code of a range takes.
pub(super) fn addresses_of_methods(code: &[u8], range: IlRange) -> Vec<Token> {
    let end = (range.end.0 as usize).min(code.len());
    let mut at = range.start.0 as usize;
    let mut found = Vec::new();
    while at < end {
        let Some(instruction) = read(code, at) else {
            break;
        };
        // ldftn, ldvirtftn.
        if let Some([PREFIX, 0x06 | 0x07]) = code.get(at..at + 2)
            && let Some(token) = i32_at(code, at + 2)
        {
            found.push(Token(token as u32));
        }
        at = instruction.next;
    }
    found
}

/// Whether code at an offset is what a statement goes on with when the jump at its end is not made, and only leads elsewhere:
/// the way out of a loop, which a `break` takes too.
pub(super) fn is_way_out(code: &[u8], statement: IlRange, offset: IlOffset) -> bool {
    let mut at = statement.start.0 as usize;
    let mut behind_jump = false;
    while at < offset.0 as usize {
        let Some(instruction) = read(code, at) else {
            return false;
        };
        let jumps_always = is_jump(code.get(at));
        behind_jump = !jumps_always && instruction.targets.len() == 1;
        at = instruction.next;
    }
    at == offset.0 as usize && behind_jump && is_jump(code.get(at))
}

/// Whether the instruction before an offset leads there; `start` is where an instruction begins.
pub(super) fn comes_from_before(code: &[u8], start: IlOffset, offset: IlOffset) -> bool {
    let mut at = start.0 as usize;
    loop {
        let Some(next) = read(code, at).map(|it| it.next) else {
            return true;
        };
        if next >= offset.0 as usize {
            return next != offset.0 as usize || falls_through(code, at);
        }
        at = next;
    }
}

/// `br` and `leave`.
fn is_jump(opcode: Option<&u8>) -> bool {
    matches!(opcode, Some(0x2b | 0x38 | 0xdd | 0xde))
}

/// Whether nothing is done with the result of a call but to return it.
pub(crate) fn returns_result(code: &[u8], call: IlOffset) -> bool {
    /// Instructions that a compiler puts between.
    const MOST: usize = 10;
    let Some(mut at) = read(code, call.0 as usize).map(|it| it.next) else {
        return false;
    };
    for _ in 0..MOST {
        let Some(instruction) = read(code, at) else {
            return false;
        };
        at = match (code.get(at), instruction.targets.first()) {
            // ret
            (Some(0x2a), _) => return true,
            // br, leave.
            (Some(0x2b | 0x38 | 0xdd | 0xde), Some(target)) => target.0 as usize,
            // nop, ldloc.
            (Some(0x00 | 0x06..=0x09 | 0x11), _) => instruction.next,
            _ if stored_local(code, at).is_some() => instruction.next,
            _ => return false,
        };
    }
    false
}

/// What makes a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallKind {
    /// `call` and `callvirt`.
    Method,
    /// `newobj`.
    Constructor,
    /// `calli`: the token is a signature.
    Pointer,
}

/// All calls in a range, in the order of the code; code that cannot be read ends the list.
pub(super) fn all_calls(code: &[u8], range: IlRange) -> Vec<(IlOffset, CallKind, Token)> {
    let end = (range.end.0 as usize).min(code.len());
    let mut at = range.start.0 as usize;
    let mut found = Vec::new();
    while at < end {
        let Some(instruction) = read(code, at) else {
            break;
        };
        let kind = match code.get(at) {
            Some(0x28 | 0x6f) => Some(CallKind::Method),
            Some(0x73) => Some(CallKind::Constructor),
            Some(0x29) => Some(CallKind::Pointer),
            _ => None,
        };
        if let Some((kind, token)) = kind.zip(i32_at(code, at + 1)) {
            found.push((IlOffset(at as u32), kind, Token(token as u32)));
        }
        at = instruction.next;
    }
    found
}

/// A call whose result the statement puts into a local variable and leaves there.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct StoredCall {
    pub(super) call: IlOffset,
    pub(super) token: Token,
    /// The variable.
    pub(super) slot: u16,
    /// Where the range leads once the call has returned.
    pub(super) ends: Vec<IlOffset>,
}

/// The last call of a range, if its result surely lies in a local variable wherever the range ends that is run from
/// `from` on: the code up to the store has no branch, so that it is run once, and the code behind it changes nothing.
pub(super) fn stored_call(code: &[u8], from: IlOffset, range: IlRange) -> Option<StoredCall> {
    let end = (range.end.0 as usize).min(code.len());
    let mut at = from.0 as usize;
    // The call that was just read, and the one whose result was just stored.
    let (mut called, mut found): (_, Option<StoredCall>) = (None, None);
    let mut branched = false;
    let mut falls_through = true;
    while at < end {
        let instruction = read(code, at)?;
        let opcode = *code.get(at)?;
        let targets = instruction.targets;
        if found.is_some() && !leaves_all_as_it_is(code, at) {
            // Something else goes on behind it.
            found = None;
        }
        let is_plain = targets.is_empty() && !ends_here(code, at);
        match &mut found {
            Some(found) => {
                branched |= !is_plain;
                let inside = |it: &IlOffset| range.contains(*it);
                if targets.iter().any(|it| inside(it) && (it.0 as usize) < at) {
                    return None;
                }
                found
                    .ends
                    .extend(targets.into_iter().filter(|it| !inside(it)));
            }
            None if branched || !is_plain => return None,
            None => {
                found = called
                    .zip(stored_local(code, at))
                    .map(|((call, token), slot)| StoredCall {
                        call,
                        token,
                        slot,
                        ends: Vec::new(),
                    });
                let token = || i32_at(code, at + 1).map(|it| Token(it as u32));
                called = (matches!(opcode, 0x28 | 0x6f))
                    .then(token)
                    .flatten()
                    .map(|token| (IlOffset(at as u32), token));
            }
        }
        // An unconditional branch.
        falls_through = !matches!(opcode, 0x2b | 0x38);
        at = instruction.next;
    }
    let mut found = found?;
    if falls_through {
        found.ends.push(range.end);
    }
    // At its first instruction, another invocation of the method looks the same.
    (!found.ends.contains(&IlOffset(0))).then_some(found)
}

/// Whether code that runs at `from` comes to `to` in any case, unless it throws: nothing on the way jumps or ends.
pub(super) fn is_straight(code: &[u8], from: IlOffset, to: IlOffset) -> bool {
    let (mut at, to) = (from.0 as usize, to.0 as usize);
    while at < to {
        let Some(instruction) = read(code, at) else {
            return false;
        };
        if !instruction.targets.is_empty() || !falls_through(code, at) {
            return false;
        }
        at = instruction.next;
    }
    at == to
}

/// What takes the result of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taker {
    /// The local of this slot.
    Local(u16),
    /// This field of an object that the statement has looked up before.
    Field(Token),
}

/// What takes the result of a call, if that is all that is done with it before `end`.
pub(super) fn taker_of_result(code: &[u8], call: IlOffset, end: IlOffset) -> Option<Taker> {
    let store = read(code, call.0 as usize)?.next;
    if read(code, store)?.next != end.0 as usize {
        return None;
    }
    match *code.get(store)? {
        // stfld
        0x7d => i32_at(code, store + 1).map(|it| Taker::Field(Token(it as u32))),
        _ => stored_local(code, store).map(Taker::Local),
    }
}

/// Whether the instruction behind one may be the next (ECMA-335 III.3): not behind `jmp`, `ret`, `br`, `throw`,
/// `endfinally`, `leave` and `rethrow`.
pub(crate) fn falls_through(code: &[u8], at: usize) -> bool {
    match code.get(at) {
        Some(0x27 | 0x2a | 0x2b | 0x38 | 0x7a | 0xdc | 0xdd | 0xde) => false,
        Some(0xfe) => code.get(at + 1) != Some(&0x1a),
        _ => true,
    }
}

/// The number that the instruction before one puts on the stack, if it is a small constant.
pub(crate) fn constant_before(code: &[u8], start: IlOffset, before: IlOffset) -> Option<i32> {
    let mut at = start.0 as usize;
    loop {
        let next = read(code, at)?.next;
        if next == before.0 as usize {
            break;
        }
        if next > before.0 as usize {
            return None;
        }
        at = next;
    }
    constant(code, at)
}

/// The small constant that an instruction puts on the stack.
pub(crate) fn constant(code: &[u8], at: usize) -> Option<i32> {
    match *code.get(at)? {
        // ldc.i4.m1 to ldc.i4.8
        short @ 0x15..=0x1e => Some(i32::from(short) - 0x16),
        // ldc.i4.s
        0x1f => code.get(at + 1).map(|it| i32::from(*it as i8)),
        // ldc.i4
        0x20 => i32_at(code, at + 1),
        _ => None,
    }
}

/// The slot of the local that an instruction stores to.
pub(crate) fn stored_local(code: &[u8], at: usize) -> Option<u16> {
    match *code.get(at)? {
        // stloc.0 to stloc.3
        short @ 0x0a..=0x0d => Some(u16::from(short - 0x0a)),
        // stloc.s
        0x13 => code.get(at + 1).map(|it| u16::from(*it)),
        // stloc
        PREFIX if *code.get(at + 1)? == 0x0e => u16_at(code, at + 2),
        _ => None,
    }
}

/// The number of the argument that an instruction loads.
pub(crate) fn loaded_argument(code: &[u8], at: usize) -> Option<u16> {
    match *code.get(at)? {
        // ldarg.0 to ldarg.3
        short @ 0x02..=0x05 => Some(u16::from(short - 0x02)),
        // ldarg.s
        0x0e => code.get(at + 1).map(|it| u16::from(*it)),
        // ldarg
        PREFIX if *code.get(at + 1)? == 0x09 => u16_at(code, at + 2),
        _ => None,
    }
}

/// The slot of the local that an instruction loads.
pub(crate) fn loaded_local(code: &[u8], at: usize) -> Option<u16> {
    match *code.get(at)? {
        // ldloc.0 to ldloc.3
        short @ 0x06..=0x09 => Some(u16::from(short - 0x06)),
        // ldloc.s
        0x11 => code.get(at + 1).map(|it| u16::from(*it)),
        // ldloc
        PREFIX if *code.get(at + 1)? == 0x0c => u16_at(code, at + 2),
        _ => None,
    }
}

/// Whether an instruction only reads variables, compares, or branches inside the method.
fn leaves_all_as_it_is(code: &[u8], at: usize) -> bool {
    match code.get(at) {
        // nop, ldarg.N, ldloc.N, ldarg.s, ldloc.s, constants, branches, switch.
        Some(0x00 | 0x02..=0x09 | 0x0e | 0x11 | 0x14..=0x23 | 0x2b..=0x45) => true,
        // ceq to clt.un, ldarg, ldloc.
        Some(&PREFIX) => matches!(code.get(at + 1), Some(0x01..=0x05 | 0x09 | 0x0c)),
        _ => false,
    }
}

/// Whether control leaves the method or a protected block with an instruction.
fn ends_here(code: &[u8], at: usize) -> bool {
    match code.get(at) {
        // jmp, ret, throw, endfinally, leave.
        Some(0x27 | 0x2a | 0x7a | 0xdc..=0xde) => true,
        // endfilter, tail, rethrow.
        Some(&PREFIX) => matches!(code.get(at + 1), Some(0x11 | 0x14 | 0x1a)),
        _ => false,
    }
}

/// The slot of the local whose address an instruction takes.
pub(crate) fn local_address(code: &[u8], at: usize) -> Option<u16> {
    match *code.get(at)? {
        // ldloca.s
        0x12 => code.get(at + 1).map(|it| u16::from(*it)),
        // ldloca
        PREFIX if *code.get(at + 1)? == 0x0d => u16_at(code, at + 2),
        _ => None,
    }
}

/// The argument that an instruction stores to.
pub(crate) fn stored_argument(code: &[u8], at: usize) -> Option<u16> {
    match *code.get(at)? {
        // starg.s
        0x10 => code.get(at + 1).map(|it| u16::from(*it)),
        // starg
        PREFIX if *code.get(at + 1)? == 0x0b => u16_at(code, at + 2),
        _ => None,
    }
}

/// The argument that an instruction takes the address of.
pub(crate) fn argument_address(code: &[u8], at: usize) -> Option<u16> {
    match *code.get(at)? {
        // ldarga.s
        0x0f => code.get(at + 1).map(|it| u16::from(*it)),
        // ldarga
        PREFIX if *code.get(at + 1)? == 0x0a => u16_at(code, at + 2),
        _ => None,
    }
}

fn u16_at(code: &[u8], at: usize) -> Option<u16> {
    let bytes = code.get(at..)?.first_chunk()?;
    Some(u16::from_le_bytes(*bytes))
}

/// Where the straight piece of code begins that holds the first call of a wanted method: behind a branch, or where one
/// leads to. Nothing is on the evaluation stack there in what compilers make.
pub(super) fn start_of_call(code: &[u8], is_wanted: impl Fn(Token) -> bool) -> Option<IlOffset> {
    let calls = calls(code, IlRange::ALL);
    let (call, _) = calls.into_iter().find(|(_, token)| is_wanted(*token))?;
    let mut start = IlOffset(0);
    let mut at = 0;
    while at < call.0 as usize {
        let instruction = read(code, at)?;
        at = instruction.next;
        if !instruction.targets.is_empty() {
            let next = IlOffset(u32::try_from(at).ok()?);
            let starts = instruction.targets.into_iter().chain([next]);
            start = starts.filter(|it| *it <= call).fold(start, Ord::max);
        }
    }
    Some(start)
}

/// An instruction, as far as it says what runs after it.
pub(crate) struct Instruction {
    /// Where the one behind it begins.
    pub(crate) next: usize,
    /// Where it may jump to.
    pub(crate) targets: Vec<IlOffset>,
}

/// The instruction at `at`; `None` if it is none, or is cut off.
pub(crate) fn read(code: &[u8], at: usize) -> Option<Instruction> {
    let opcode = *code.get(at)?;
    let operand = at + 1;
    let (length, offsets) = match opcode {
        PREFIX => (1 + prefixed_operand(*code.get(operand)?)?, Vec::new()),
        SWITCH => {
            let count = i32_at(code, operand)?;
            let count = usize::try_from(count).ok().filter(|it| *it <= code.len())?;
            let offsets = (0..count).map(|index| i32_at(code, operand + 4 + 4 * index));
            (4 + 4 * count, offsets.collect::<Option<_>>()?)
        }
        // Short branches and leave.s.
        0x2b..=0x37 | 0xde => (1, vec![i32::from(*code.get(operand)? as i8)]),
        // Long branches and leave.
        0x38..=0x44 | 0xdd => (4, vec![i32_at(code, operand)?]),
        // Short arguments and locals, ldc.i4.s.
        0x0e..=0x13 | 0x1f => (1, Vec::new()),
        // ldc.i4 and ldc.r4, jmp, call, calli, everything with a token.
        0x20 | 0x22 | 0x27..=0x29 | 0x6f..=0x75 | 0x79 | 0x7b..=0x81 => (4, Vec::new()),
        0x8c | 0x8d | 0x8f | 0xa3..=0xa5 | 0xc2 | 0xc6 | 0xd0 => (4, Vec::new()),
        // ldc.i8 and ldc.r8.
        0x21 | 0x23 => (8, Vec::new()),
        _ => (0, Vec::new()),
    };
    let next = operand + length;
    if next > code.len() {
        return None;
    }
    // Targets count from the next instruction.
    let target = |offset: i32| u32::try_from(i64::try_from(next).ok()? + i64::from(offset)).ok();
    let targets = offsets.into_iter().filter_map(target).map(IlOffset);
    Some(Instruction {
        next,
        targets: targets.collect(),
    })
}

pub(crate) fn i32_at(code: &[u8], at: usize) -> Option<i32> {
    let bytes = code.get(at..)?.first_chunk()?;
    Some(i32::from_le_bytes(*bytes))
}

fn prefixed_operand(opcode: u8) -> Option<usize> {
    match opcode {
        // ldftn, ldvirtftn, initobj, constrained, sizeof.
        0x06 | 0x07 | 0x15 | 0x16 | 0x1c => Some(4),
        // Long arguments and locals.
        0x09..=0x0e => Some(2),
        // unaligned, no.
        0x12 | 0x19 => Some(1),
        0x00..=0x1e => Some(0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: &[u8], from: u32, into: (u32, u32), expected: bool) {
        let range = |start, end| IlRange {
            start: IlOffset(start),
            end: IlOffset(end),
        };
        let found = may_jump(code, range(from, u32::MAX), range(into.0, into.1));
        assert_eq!(found, expected, "{code:x?} from {from} into {into:?}");
    }

    #[test]
    fn jumps_are_seen_and_operands_are_not_taken_for_them() {
        // nop; br.s back to 0
        check(&[0x00, 0x2b, 0xfd], 1, (0, 1), true);
        // brfalse.s over the nop, forward
        check(&[0x00, 0x2c, 0x01, 0x00, 0x2a], 1, (0, 1), false);
        // ldc.i4 whose operand looks like a br.s back
        check(&[0x00, 0x20, 0x2b, 0xfb, 0, 0, 0x2a], 1, (0, 1), false);
        // br back by five bytes more
        check(&[0x00, 0x38, 0xfa, 0xff, 0xff, 0xff], 1, (0, 1), true);
        // a switch of two, the second leads back
        let switch = [0x00, 0x45, 2, 0, 0, 0, 0, 0, 0, 0, 0xf2, 0xff, 0xff, 0xff];
        check(&switch, 1, (0, 1), true);
        check(&switch, 1, (20, 30), false);
        // ceq; ldarg with a long index
        check(&[0xfe, 0x01, 0xfe, 0x09, 0x2b, 0xfd], 0, (0, 1), false);
    }

    #[test]
    fn calls_are_found_and_operands_are_not_taken_for_them() {
        // call; ldc.i4 of bytes that look like a call; callvirt behind a prefix; newobj; a call that is cut off
        let code = [
            0x28, 1, 0, 0, 6, 0x20, 0x28, 1, 2, 3, 0xfe, 0x16, 2, 0, 0, 0x1b, 0x6f, 3, 0, 0, 0x0a,
            0x73, 4, 0, 0, 6, 0x28, 1,
        ];
        let expected = [
            (IlOffset(0), Token(0x0600_0001)),
            (IlOffset(16), Token(0x0a00_0003)),
        ];
        assert_eq!(calls(&code, IlRange::ALL), expected);
        let behind = IlRange {
            start: IlOffset(5),
            end: IlOffset(16),
        };
        assert_eq!(calls(&code, behind), []);
        let kinds = all_calls(&code, IlRange::ALL);
        let kinds: Vec<_> = kinds
            .into_iter()
            .map(|(at, kind, _)| (at.0, kind))
            .collect();
        let (method, constructor) = (CallKind::Method, CallKind::Constructor);
        assert_eq!(kinds, [(0, method), (16, method), (21, constructor)]);
    }

    #[track_caller]
    fn check_stored(code: &[u8], end: u32, expected: Option<(u32, u16, &[u32])>) {
        let range = IlRange {
            start: IlOffset(1),
            end: IlOffset(end),
        };
        let found = stored_call(code, range.start, range);
        let expected = expected.map(|(call, slot, ends)| StoredCall {
            call: IlOffset(call),
            token: Token(0x0600_0001),
            slot,
            ends: ends.iter().map(|it| IlOffset(*it)).collect(),
        });
        assert_eq!(found, expected, "{code:x?}");
    }

    #[test]
    fn results_that_stay_in_a_variable_are_found() {
        // nop; call; stloc.1
        check_stored(&[0, 0x28, 1, 0, 0, 6, 0x0b], 7, Some((1, 1, &[7])));
        // callvirt; stloc.s 9; ldloc.s 9; brfalse.s over the end
        let condition = [0, 0x6f, 1, 0, 0, 6, 0x13, 9, 0x11, 9, 0x2c, 4, 0];
        check_stored(&condition, 12, Some((1, 9, &[16, 12])));
        // call; stloc of a large slot; br.s: a return of the result
        let returned = [0, 0x28, 1, 0, 0, 6, 0xfe, 0x0e, 4, 1, 0x2b, 3];
        check_stored(&returned, 12, Some((1, 260, &[15])));
        // call; pop; call; stloc.0: the last one
        let second = [0, 0x28, 2, 0, 0, 6, 0x26, 0x28, 1, 0, 0, 6, 0x0a];
        check_stored(&second, 13, Some((7, 0, &[13])));
    }

    #[test]
    fn results_that_may_be_another_calls_or_changed_are_not_taken_for_stored() {
        // The result is used before it is stored: call; ldc.i4.1; add; stloc.1
        check_stored(&[0, 0x28, 1, 0, 0, 6, 0x17, 0x58, 0x0b], 9, None);
        // A branch before the call: ldloc.0; brfalse.s 0; call; stloc.1
        check_stored(&[0, 0x06, 0x2c, 0, 0x28, 1, 0, 0, 6, 0x0b], 10, None);
        // A store behind it: call; stloc.1; ldc.i4.1; stloc.1
        check_stored(&[0, 0x28, 1, 0, 0, 6, 0x0b, 0x17, 0x0b], 9, None);
        // An address behind it, and a call: call; stloc.1; ldloca.s 1; call
        let address = [0, 0x28, 1, 0, 0, 6, 0x0b, 0x12, 1, 0x28, 1, 0, 0, 6];
        check_stored(&address, 14, None);
        // Back to the call: call; stloc.1; ldloc.1; brtrue.s
        check_stored(&[0, 0x28, 1, 0, 0, 6, 0x0b, 0x07, 0x2d, 0xf7], 10, None);
        // Back to the method's first instruction, where another invocation may stand
        check_stored(&[0, 0x28, 1, 0, 0, 6, 0x0b, 0x2b, 0xf7], 9, None);
        // call; stloc.1; ldloc.1; ret, and the same with a leave
        check_stored(&[0, 0x28, 1, 0, 0, 6, 0x0b, 0x07, 0x2a], u32::MAX, None);
        check_stored(&[0, 0x28, 1, 0, 0, 6, 0x0b, 0xde, 0], 9, None);
        // Cut off
        check_stored(&[0, 0x28, 1, 0, 0, 6, 0x13], 7, None);
        check_stored(&[], 7, None);
    }

    #[test]
    fn results_that_go_straight_into_a_local_or_field_are_known() {
        let at = IlOffset;
        // call; stloc.2; nop; ldloca.s 1; call; stloc 300; ret
        let code = [
            0x28, 1, 0, 0, 6, 0x0c, 0x00, 0x12, 1, 0x28, 1, 0, 0, 6, 0xfe, 0x0e, 44, 1, 0x2a,
        ];
        assert_eq!(taker_of_result(&code, at(0), at(6)), Some(Taker::Local(2)));
        // More is done before the end.
        assert_eq!(taker_of_result(&code, at(0), at(7)), None);
        assert_eq!(
            taker_of_result(&code, at(9), at(18)),
            Some(Taker::Local(300))
        );
        // call; stfld
        let field = [0x28, 1, 0, 0, 6, 0x7d, 4, 0, 0, 4];
        let taken = Some(Taker::Field(Token(0x0400_0004)));
        assert_eq!(taker_of_result(&field, at(0), at(10)), taken);
        assert_eq!(local_address(&code, 7), Some(1));
        assert!(is_straight(&code, at(0), at(18)));
        // Not into the middle of an instruction, and not behind the end.
        assert!(!is_straight(&code, at(0), at(8)));
        assert!(!is_straight(&code, at(0), at(40)));
        assert!(!is_straight(&[0x2c, 0x00, 0x2a], at(0), at(2)));
    }

    #[test]
    fn start_of_a_call_is_behind_a_branch_or_where_one_leads() {
        let wanted = |token| token == Token(0x0600_0001);
        // nop; brfalse.s over the rest; ldarg.0; call of another; call
        let code = [
            0x00, 0x2c, 0x0b, 0x02, 0x28, 2, 0, 0, 6, 0x28, 1, 0, 0, 6, 0x2a,
        ];
        assert_eq!(start_of_call(&code, wanted), Some(IlOffset(3)));
        // brtrue.s to the second nop; nop; nop; call
        let code = [0x2d, 0x01, 0x00, 0x00, 0x28, 1, 0, 0, 6, 0x2a];
        assert_eq!(start_of_call(&code, wanted), Some(IlOffset(3)));
        assert_eq!(start_of_call(&code, |_| false), None);
    }

    #[test]
    fn way_out_of_a_loop_is_behind_its_jump_only() {
        let statement = IlRange {
            start: IlOffset(0),
            end: IlOffset(8),
        };
        // ldloc.0, callvirt, brtrue.s, leave.s
        let head = [0x06, 0x6f, 1, 0, 0, 0x0a, 0x2d, 0xf8, 0xde, 0x0c];
        assert!(is_way_out(&head, statement, IlOffset(8)));
        assert!(!is_way_out(&head, statement, IlOffset(6)));
        assert!(!is_way_out(&head, statement, IlOffset(7)));
        // call, br.s: back from a call that is the whole statement.
        let call = [0x28, 1, 0, 0, 0x0a, 0x2b, 0x02];
        assert!(!is_way_out(&call, statement, IlOffset(5)));
    }

    #[test]
    fn code_that_is_cut_off_may_jump_anywhere() {
        check(&[0x45, 0xff, 0xff, 0xff, 0x7f], 0, (0, 1), true);
        check(&[0x20, 0x00], 0, (0, 1), true);
        check(&[0xfe], 0, (0, 1), true);
        check(&[], 5, (0, 1), false);
    }

    #[track_caller]
    fn check_entries(code: &[u8], offsets: &[u32], first: &[u32], again: bool) {
        let set = |list: &[u32]| list.iter().copied().map(IlOffset).collect();
        let expected = Entries {
            first: set(first),
            again,
        };
        let start = (IlOffset(0), None);
        assert_eq!(
            entries(code, start, &set(offsets)),
            Some(expected),
            "{code:x?}"
        );
    }

    #[test]
    fn entries_are_where_code_comes_to_first() {
        // ldarg.0; brfalse.s 5; nop; ret; nop; ret
        let branch = [0x02, 0x2c, 0x02, 0x00, 0x2a, 0x00, 0x2a];
        check_entries(&branch, &[3, 5], &[3, 5], false);
        check_entries(&branch, &[5], &[5], false);
        check_entries(&branch, &[0, 5], &[0], false);
        // br.s 3; nop; ldarg.0; brtrue.s 2; ret
        let while_loop = [0x2b, 0x01, 0x00, 0x02, 0x2d, 0xfc, 0x2a];
        check_entries(&while_loop, &[2, 3], &[3], true);
        check_entries(&while_loop, &[6], &[6], false);
        let start = (IlOffset(0), None);
        assert_eq!(entries(&[0x2b, 0x40], start, &[IlOffset(1)].into()), None);
    }
}
