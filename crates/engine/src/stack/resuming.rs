//! Where a state machine begins, or goes on once it was suspended, from its code alone: methods of the framework have no symbols that tell.
//!
//! Compilers begin a body with jumps that depend on the machine's state only. They are followed with the state that it has, and
//! nothing else is: where the first instruction comes that does something, the last jump has led.

use std::collections::{BTreeSet, HashMap};

use metadata::tables::Table;
use metadata::{IlOffset, Metadata, Token};

use crate::stepping::il;

/// The state of a machine, as compilers name it.
const STATE: &str = "<>1__state";
/// Instructions that are followed at most.
const MAX_INSTRUCTIONS: u32 = 1000;

/// What stands on the evaluation stack.
#[derive(Clone, Copy)]
enum Known {
    Machine,
    Number(i32),
    Nothing,
}

/// Where a body goes on in a state; `None` if nothing in it depends on that.
pub(super) fn resumes_at(metadata: Metadata<'_>, code: &[u8], state: i32) -> Option<IlOffset> {
    let is_state = |field| is_state(metadata, field).unwrap_or(false);
    follow(code, state, &BTreeSet::new(), is_state).map(|it| it.led_to)?
}

/// Where the first of some offsets is looked for that a body comes to in its first state, and a place that it comes to only on the
/// way there, with nothing on the evaluation stack; `None` if that cannot be told.
pub(crate) fn begins_at(
    metadata: Metadata<'_>,
    code: &[u8],
    state: i32,
    offsets: &BTreeSet<IlOffset>,
) -> Option<(IlOffset, Option<IlOffset>)> {
    let is_state = |field| is_state(metadata, field).unwrap_or(false);
    let followed = follow(code, state, offsets, is_state)?;
    let from = match offsets.contains(&followed.at) {
        true => followed.at,
        false => followed.before?,
    };
    Some((from, followed.before))
}

fn is_state(metadata: Metadata<'_>, field: Token) -> Option<bool> {
    Some(match field.is(Table::MemberRef) {
        true => metadata.member_ref(field).ok()?.name == STATE,
        false => metadata.field(field).ok()?.name().ok()? == STATE,
    })
}

/// How far code was followed.
struct Followed {
    /// The instruction that does something, or one of those to stop at.
    at: IlOffset,
    /// Where the last jump on the state has led.
    led_to: Option<IlOffset>,
    /// The last place behind all jumps on the state at which nothing is on the evaluation stack, before `at`.
    before: Option<IlOffset>,
}

fn follow(
    code: &[u8],
    state: i32,
    offsets: &BTreeSet<IlOffset>,
    is_state: impl Fn(Token) -> bool,
) -> Option<Followed> {
    let mut locals = HashMap::new();
    let mut stack = Vec::new();
    let (mut at, mut led_to, mut before) = (0, None, None);
    for _ in 0..MAX_INSTRUCTIONS {
        let here = IlOffset(u32::try_from(at).ok()?);
        if offsets.contains(&here) {
            break;
        }
        if stack.is_empty() {
            before = Some(here);
        }
        let Some(instruction) = il::read(code, at) else {
            break;
        };
        let mut next = instruction.next;
        if let Some(number) = il::constant(code, at) {
            stack.push(Known::Number(number));
        } else if il::loaded_argument(code, at) == Some(0) {
            stack.push(Known::Machine);
        } else if let Some(slot) = il::loaded_local(code, at) {
            let number = locals.get(&slot).copied();
            stack.push(number.map_or(Known::Nothing, Known::Number));
        } else if let Some(slot) = il::stored_local(code, at) {
            match stack.pop() {
                Some(Known::Number(number)) => drop(locals.insert(slot, number)),
                _ => drop(locals.remove(&slot)),
            }
        } else {
            match *code.get(at)? {
                // nop
                0x00 => {}
                // ldfld
                0x7b => {
                    let field = Token(il::i32_at(code, at + 1)? as u32);
                    let of_machine = matches!(stack.pop(), Some(Known::Machine));
                    stack.push(match of_machine && is_state(field) {
                        true => Known::Number(state),
                        false => Known::Nothing,
                    });
                }
                // add, sub
                opcode @ (0x58 | 0x59) => {
                    let Some((left, right)) = two(&mut stack) else {
                        break;
                    };
                    stack.push(Known::Number(match opcode {
                        0x58 => left.wrapping_add(right),
                        _ => left.wrapping_sub(right),
                    }));
                }
                // br
                0x2b | 0x38 => next = instruction.targets.first()?.0 as usize,
                // Other branches, and switch.
                opcode @ (0x2c..=0x37 | 0x39..=0x45) => {
                    let Some(taken) = taken(opcode, &mut stack) else {
                        break;
                    };
                    before = None;
                    if let Some(target) = taken.and_then(|it| instruction.targets.get(it)) {
                        next = target.0 as usize;
                        led_to = Some(*target);
                    }
                }
                _ => break,
            }
        }
        at = next;
    }
    let at = IlOffset(u32::try_from(at).ok()?);
    Some(Followed { at, led_to, before })
}

/// Which of its targets a branch takes, if any; `None` if that is not known.
fn taken(opcode: u8, stack: &mut Vec<Known>) -> Option<Option<usize>> {
    // Short branches have the order of long ones.
    let long = if opcode < 0x38 { opcode + 0x0d } else { opcode };
    let jumps = match long {
        0x45 => return Some(usize::try_from(one(stack)?).ok()),
        0x39 => one(stack)? == 0,
        0x3a => one(stack)? != 0,
        _ => {
            let (left, right) = two(stack)?;
            let (unsigned_left, unsigned_right) = (left as u32, right as u32);
            match long {
                0x3b => left == right,
                0x3c => left >= right,
                0x3d => left > right,
                0x3e => left <= right,
                0x3f => left < right,
                0x40 => left != right,
                0x41 => unsigned_left >= unsigned_right,
                0x42 => unsigned_left > unsigned_right,
                0x43 => unsigned_left <= unsigned_right,
                _ => unsigned_left < unsigned_right,
            }
        }
    };
    Some(jumps.then_some(0))
}

fn one(stack: &mut Vec<Known>) -> Option<i32> {
    match stack.pop()? {
        Known::Number(number) => Some(number),
        Known::Machine | Known::Nothing => None,
    }
}

fn two(stack: &mut Vec<Known>) -> Option<(i32, i32)> {
    let right = one(stack)?;
    Some((one(stack)?, right))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELD: Token = Token(0x0400_0001);

    #[track_caller]
    fn check(code: &[u8], state: i32, expected: Option<u32>) {
        let found = follow(code, state, &BTreeSet::new(), |it| it == FIELD);
        let found = found.and_then(|it| it.led_to);
        assert_eq!(found, expected.map(IlOffset), "{code:x?} in state {state}");
    }

    /// ldarg.0; ldfld state; stloc.0, and what follows.
    fn begun(rest: &[u8]) -> Vec<u8> {
        [&[0x02, 0x7b, 1, 0, 0, 4, 0x0a], rest].concat()
    }

    #[test]
    fn jumps_on_the_state_are_followed() {
        // ldloc.0; brfalse.s to 13; nop; ret; nop; ret
        let one_await = begun(&[0x06, 0x2c, 0x03, 0x00, 0x00, 0x2a, 0x00, 0x2a]);
        check(&one_await, 0, Some(13));
        check(&one_await, -1, None);
        // ldloc.0; ldc.i4.1; beq.s to 13; ret; nop; nop; ret
        let second = begun(&[0x06, 0x17, 0x2e, 0x02, 0x2a, 0x00, 0x00, 0x2a]);
        check(&second, 1, Some(13));
        check(&second, 0, None);
    }

    #[test]
    fn a_switch_may_lead_to_jumps_of_an_inner_block() {
        // ldloc.0; switch of two, to 22 and 23; ret; nop; ldloc.0; ldc.i4.1; sub; brfalse.s to 29; ret; ret
        let code = begun(&[
            0x06, 0x45, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0x2a, 0x00, 0x06, 0x17, 0x59, 0x2c, 1,
            0x2a, 0x2a,
        ]);
        check(&code, 1, Some(29));
        check(&code, 0, Some(22));
        check(&code, 7, None);
    }

    #[test]
    fn nothing_is_taken_for_the_state_that_is_not() {
        // ldarg.0; ldfld of another field; brfalse.s; ret; ret
        check(&[0x02, 0x7b, 2, 0, 0, 4, 0x2c, 1, 0x2a, 0x2a], 0, None);
        // A loop without an end, and code that is cut off.
        check(&[0x2b, 0xfe], 0, None);
        check(&[0x02, 0x7b, 1], 0, None);
        check(&[], 0, None);
    }
}
