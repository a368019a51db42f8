//! Whether a call can be made a second time by the same run of its method, from IL alone.
//!
//! It can if a way through the code leads from it back to itself. Such a way mostly passes something that counts: the
//! number of a `for` or of a `foreach` over an array, which is only ever counted up, or a struct that enumerates. While
//! these are what they were, the way was not gone.

use std::collections::{BTreeMap, BTreeSet};

use metadata::pdb::Pdb;
use metadata::{IlOffset, Symbols, Token};

use super::super::Result;
use super::yields::constant;
use super::{Instruction, decode, fields};
use crate::stepping::il;
use crate::types::{ModuleId, Types};

const CALL: u8 = 0x28;
const ADD: [u8; 2] = [0x58, 0xd6];
const SUB: [u8; 2] = [0x59, 0xda];

/// A local that tells that a loop has not gone on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::values) enum Counter {
    /// A number that only grows, or only shrinks, while the loop runs.
    Number(u16),
    /// A struct whose `MoveNext` is called in each round.
    Enumerator(u16),
}

/// The locals that must be what they were, so that no call of the statement at an offset was made again by the same run of
/// the method: none if no way leads back. `None` if that cannot be told.
pub(in crate::values) fn counters(
    types: Types<'_>,
    module: ModuleId,
    method: Token,
    at: IlOffset,
) -> Result<Option<Vec<Counter>>> {
    let pdb = types.module(module)?.symbols(types.process).ok();
    let pdb = pdb.map(Symbols::pdb);
    let body = types.metadata(module)?.body(method)?;
    let (Some(pdb), Some(body)) = (pdb, body) else {
        return Ok(None);
    };
    let Some(code) = decode(&body) else {
        return Ok(None);
    };
    let (start, end) = statement(pdb, method, at)?;
    let is_call = |it: &Instruction| {
        (start..end).contains(&it.at)
            && matches!(
                body.code.get(it.at as usize),
                Some(&CALL | 0x29 | 0x6f | 0x73)
            )
    };
    let metadata = types.metadata(module)?.metadata();
    let name_of = |it: Token| {
        let member = metadata.member_ref(it).ok()?;
        Some(member.name.into_owned())
    };
    let loops = Loops {
        name_of: &name_of,
        bytes: body.code,
        code: &code,
    };
    let mut counters = BTreeSet::new();
    let mut calls = (0..code.len()).filter(|at| code.get(*at).is_some_and(is_call));
    let is_told = calls.all(|call| loops.counters_around(call, &mut counters).is_some());
    Ok(is_told.then(|| counters.into_iter().collect()))
}

/// Where the code of the statement begins and ends that an offset is in.
fn statement(pdb: Pdb<'_>, method: Token, at: IlOffset) -> Result<(u32, u32)> {
    let (mut start, mut end) = (0, u32::MAX);
    for point in pdb.sequence_points(method)? {
        let offset = point?.offset;
        if offset <= at {
            start = offset.0;
        } else {
            end = offset.0;
            break;
        }
    }
    Ok((start, end))
}

struct Loops<'c> {
    /// The name of a method of another module.
    name_of: &'c dyn Fn(Token) -> Option<String>,
    bytes: &'c [u8],
    code: &'c [Instruction],
}

impl Loops<'_> {
    /// Adds what counts in all loops around an instruction; `None` if one of them has nothing that does.
    fn counters_around(&self, call: usize, found: &mut BTreeSet<Counter>) -> Option<()> {
        let mut removed = vec![false; self.code.len()];
        loop {
            let ring = self.ring(call, &removed);
            if ring.is_empty() {
                return Some(());
            }
            let mut writes: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
            for number in ring {
                if let Some(slot) = self.code.get(number).and_then(|it| it.writes) {
                    writes.entry(slot).or_default().push(number);
                }
            }
            let mut counts = false;
            for (slot, writes) in writes {
                let Some((counter, steps)) = self.counter(slot, &writes) else {
                    continue;
                };
                counts = true;
                found.insert(counter);
                for step in steps {
                    *removed.get_mut(step)? = true;
                }
            }
            counts.then_some(())?;
        }
    }

    /// What lies on the ways from an instruction back to itself.
    fn ring(&self, of: usize, removed: &[bool]) -> Vec<usize> {
        let is_there = |at: usize| removed.get(at) == Some(&false);
        let mut from: Vec<Vec<usize>> = vec![Vec::new(); self.code.len()];
        for (number, instruction) in self.code.iter().enumerate() {
            for next in instruction.next.iter().filter(|it| is_there(**it)) {
                if let Some(from) = from.get_mut(*next).filter(|_| is_there(number)) {
                    from.push(number);
                }
            }
        }
        let next = |at: usize| self.code.get(at).map_or(&[][..], |it| &it.next);
        let reached = |ways: &dyn Fn(usize) -> Vec<usize>| {
            let mut seen = vec![false; self.code.len()];
            let mut waiting = ways(of);
            while let Some(at) = waiting.pop() {
                if let Some(seen) = seen.get_mut(at).filter(|it| !**it && is_there(at)) {
                    *seen = true;
                    waiting.extend(ways(at));
                }
            }
            seen
        };
        let ahead = reached(&|at| next(at).to_vec());
        let behind = reached(&|at| from.get(at).cloned().unwrap_or_default());
        let both = ahead.iter().zip(&behind).enumerate();
        let ring = both.filter(|(_, (ahead, behind))| **ahead && **behind);
        ring.map(|(at, _)| at).collect()
    }

    /// What a local is that is written to nowhere else in a loop, and where that counts.
    fn counter(&self, slot: u16, writes: &[usize]) -> Option<(Counter, Vec<usize>)> {
        let directions: Option<Vec<bool>> =
            writes.iter().map(|it| self.counts_up(slot, *it)).collect();
        if let Some(directions) = directions {
            let is_one = directions.windows(2).all(|it| it.first() == it.last());
            return is_one.then(|| (Counter::Number(slot), writes.to_vec()));
        }
        let called: Option<Vec<String>> =
            writes.iter().map(|it| self.called_on(slot, *it)).collect();
        let called = called?;
        if !called
            .iter()
            .all(|it| it == "MoveNext" || it == "get_Current")
        {
            return None;
        }
        let moves = writes.iter().zip(&called);
        let moves = moves.filter(|(_, name)| *name == "MoveNext");
        let moves: Vec<usize> = moves.map(|(at, _)| *at).collect();
        (!moves.is_empty()).then_some((Counter::Enumerator(slot), moves))
    }

    fn at(&self, number: usize) -> Option<usize> {
        self.code.get(number).map(|it| it.at as usize)
    }

    /// Whether `slot = slot + 1` ends with an instruction, or `slot - 1`, which is `false`.
    fn counts_up(&self, slot: u16, store: usize) -> Option<bool> {
        let (sum, one, load) = (
            store.checked_sub(1)?,
            store.checked_sub(2)?,
            store.checked_sub(3)?,
        );
        let is_store = il::stored_local(self.bytes, self.at(store)?) == Some(slot);
        let is_load = il::loaded_local(self.bytes, self.at(load)?) == Some(slot);
        let is_more = constant(self.bytes, self.at(one)?)? > 0;
        let sum = self.bytes.get(self.at(sum)?)?;
        let up = ADD.contains(sum);
        (is_store && is_load && is_more && (up || SUB.contains(sum))).then_some(up)
    }

    /// The name of the method that is called on a local whose address an instruction takes.
    fn called_on(&self, slot: u16, load: usize) -> Option<String> {
        let call = self.at(load + 1)?;
        let is_load = il::local_address(self.bytes, self.at(load)?) == Some(slot);
        if !is_load || self.bytes.get(call) != Some(&CALL) {
            return None;
        }
        (self.name_of)(fields::token(self.bytes, call + 1)?)
    }
}

#[cfg(test)]
mod tests {
    use metadata::pe::MethodBody;

    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], call: u32, expected: Option<&[Counter]>) {
        let body = MethodBody {
            max_stack: 8,
            init_locals: true,
            local_signature: Token::default(),
            code: bytes,
            clauses: Vec::new(),
        };
        let code = decode(&body).expect("code");
        let loops = Loops {
            name_of: &|_| None,
            bytes,
            code: &code,
        };
        let number = code.iter().position(|it| it.at == call).expect("a call");
        let mut found = BTreeSet::new();
        let is_told = loops.counters_around(number, &mut found).is_some();
        let found: Vec<Counter> = found.into_iter().collect();
        assert_eq!(is_told.then_some(&*found), expected);
    }

    #[test]
    fn a_call_is_made_again_only_where_something_counts() {
        // call; ret
        check(&[0x28, 1, 0, 0, 6, 0x2a], 0, Some(&[]));
        // call; br.s 0
        check(&[0x28, 1, 0, 0, 6, 0x2b, 0xf9], 0, None);
        // call; ldloc.0; ldc.i4.1; add; stloc.0; ldloc.0; brtrue.s 0; ret
        let counted = [
            0x28, 1, 0, 0, 6, 0x06, 0x17, 0x58, 0x0a, 0x06, 0x2d, 0xf4, 0x2a,
        ];
        check(&counted, 0, Some(&[Counter::Number(0)]));
        // The same, and around it a loop that sets it to 0: ldc.i4.0; stloc.0; …; br.s 0
        let around = [
            0x16, 0x0a, 0x28, 1, 0, 0, 6, 0x06, 0x17, 0x58, 0x0a, 0x06, 0x2d, 0xf4, 0x2b, 0xf0,
        ];
        check(&around, 2, None);
        // Up and down.
        let both = [
            0x28, 1, 0, 0, 6, 0x06, 0x17, 0x58, 0x0a, 0x06, 0x17, 0x59, 0x0a, 0x06, 0x2d, 0xf0,
            0x2a,
        ];
        check(&both, 0, None);
    }
}
