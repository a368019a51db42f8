//! Where in the IL of a method a breakpoint can be.
//!
//! The runtime's compiler keeps a place for a breakpoint where the evaluation stack is empty, behind a call and where an
//! exception enters; where it optimises, behind a call only if that returns nothing. Behind a call means in the same block of
//! code: where code is jumped to, the call before is forgotten. In a Debug build every statement begins there. An optimised one leaves values on the stack from one
//! statement to the next, and a statement that begins in between has no machine code of its own: the runtime takes a
//! breakpoint there, never stops at it, and may even crash when it sets others in the same method.

use std::collections::{HashMap, HashSet};

use metadata::pe::{ClauseKind, MethodBody};
use metadata::signature::{self, Primitive, Type};
use metadata::tables::{MethodSpecRow, StandAloneSigRow, Table};
use metadata::{IlOffset, Metadata, Token};

use crate::stepping::il;

/// How the runtime compiles a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compiler {
    /// For debuggers.
    Plain,
    /// Without regard for them.
    Optimizing,
}

/// The place at an offset, else the next one behind it that code runs into; `None` if the method returns before, or if other code
/// comes to that place too: it would be reached without the offset.
pub(super) fn place_from(
    metadata: Metadata<'_>,
    body: &MethodBody<'_>,
    wanted: IlOffset,
    compiler: Compiler,
) -> Option<IlOffset> {
    match Places::of(metadata, body, compiler) {
        // Of code that cannot be read nothing is known.
        None => Some(wanted),
        Some(places) => places.from(wanted).filter(|place| {
            // Behind what it calls a statement has run.
            let calls = il::calls_between(body.code, wanted, *place);
            compiler == Compiler::Plain || calls.is_empty()
        }),
    }
}

/// Whether code before an offset leads to it: what is only jumped back to is the body of a loop.
pub(super) fn is_run_into(code: &[u8], offset: IlOffset) -> bool {
    let (mut at, mut leads) = (0, true);
    let mut jumps = false;
    while at < offset.0 as usize {
        let Some(instruction) = il::read(code, at) else {
            return false;
        };
        leads = il::falls_through(code, at);
        jumps |= instruction.targets.contains(&offset);
        at = instruction.next;
    }
    leads || jumps
}

/// Whether all code in between comes to `end`: it jumps no further, and does not return.
fn leads_to(code: &[u8], start: u32, end: u32) -> bool {
    let mut at = start as usize;
    while at < end as usize {
        let Some(instruction) = il::read(code, at) else {
            return false;
        };
        let targets = &instruction.targets;
        let stays = targets.iter().all(|it| (start..=end).contains(&it.0));
        if !stays || targets.is_empty() && !il::falls_through(code, at) {
            return false;
        }
        at = instruction.next;
    }
    true
}

/// What is known of the instructions of a method, in the order of the code.
struct Places<'c> {
    code: &'c [u8],
    /// Offset, whether a breakpoint can be there, and what surely runs behind it.
    all: Vec<(u32, bool, Option<u32>)>,
    /// From where code jumps, and to where. Exceptions come from nowhere in the code.
    jumps: Vec<(Option<u32>, u32)>,
}

impl<'c> Places<'c> {
    fn of(metadata: Metadata<'_>, body: &MethodBody<'c>, compiler: Compiler) -> Option<Self> {
        let code = body.code;
        // What an exception enters.
        let mut entered: HashSet<u32> = HashSet::new();
        // How many values are on the stack where code is jumped to (ECMA-335 III.1.7.5).
        let mut depths: HashMap<u32, u32> = HashMap::new();
        for clause in &body.clauses {
            entered.insert(clause.handler_start.0);
            let caught = match clause.kind {
                ClauseKind::Catch(_) => 1,
                ClauseKind::Filter(start) => {
                    entered.insert(start.0);
                    depths.insert(start.0, 1);
                    1
                }
                ClauseKind::Finally | ClauseKind::Fault => 0,
            };
            depths.insert(clause.handler_start.0, caught);
        }
        let mut all = Vec::new();
        let mut jumps: Vec<_> = entered.iter().map(|it| (None, *it)).collect();
        let joins = joins(body)?;
        let (mut at, mut depth, mut fell, mut called) = (0_usize, 0_u32, true, false);
        while at < code.len() {
            let offset = u32::try_from(at).ok()?;
            if let Some(known) = depths.get(&offset) {
                depth = *known;
            } else if !fell {
                depth = 0;
            }
            let is_place =
                depth == 0 || called && !joins.contains(&offset) || entered.contains(&offset);
            let instruction = il::read(code, at)?;
            depth = depth_behind(metadata, code, at, depth)?;
            fell = il::falls_through(code, at);
            for target in &instruction.targets {
                depths.entry(target.0).or_insert(depth);
                jumps.push((Some(offset), target.0));
            }
            // Behind `call`, `calli`, `callvirt`, and `nop`, which is there for that.
            called = match code.get(at) {
                Some(0x00) => true,
                Some(0x28 | 0x29 | 0x6f) => {
                    compiler == Compiler::Plain
                        || matches!(self::called(metadata, code, at)?, (_, 0))
                }
                _ => false,
            };
            let next = match instruction.targets.as_slice() {
                [] if fell => Some(u32::try_from(instruction.next).ok()?),
                // Where both ways may meet again, as behind the making of a delegate that is kept.
                [forward] if forward.0 > offset => Some(forward.0),
                _ => None,
            };
            all.push((offset, is_place, next));
            at = instruction.next;
        }
        Some(Self { code, all, jumps })
    }

    fn from(&self, start: IlOffset) -> Option<IlOffset> {
        let mut wanted = start.0;
        let mut rest = self.all.iter();
        loop {
            let (at, is_place, next) = rest.find(|(at, ..)| *at >= wanted)?;
            if *is_place {
                let is_own = !self.is_entered(start.0, *at);
                return is_own.then_some(IlOffset(*at));
            }
            let next = (*next)?;
            let behind = il::read(self.code, *at as usize)?.next as u32;
            // Of `a ? b : c` only one way comes to where its jump leads.
            if il::falls_through(self.code, *at as usize) && !leads_to(self.code, behind, next) {
                return None;
            }
            wanted = next;
        }
    }

    /// Whether code behind `start`, up to `end`, is come to from elsewhere than from between the two.
    fn is_entered(&self, start: u32, end: u32) -> bool {
        self.jumps.iter().any(|(from, to)| {
            let is_between = from.is_some_and(|it| (start..end).contains(&it));
            (start + 1..=end).contains(to) && !is_between
        })
    }
}

/// Where blocks of code begin that are come to from elsewhere than from the code before them alone.
fn joins(body: &MethodBody<'_>) -> Option<HashSet<u32>> {
    let mut joins: HashSet<u32> = body.clauses.iter().map(|it| it.try_start.0).collect();
    let mut at = 0;
    while at < body.code.len() {
        let instruction = il::read(body.code, at)?;
        joins.extend(instruction.targets.iter().map(|it| it.0));
        at = instruction.next;
    }
    Some(joins)
}

/// The depth of the stack behind an instruction; `None` if that cannot be told.
fn depth_behind(metadata: Metadata<'_>, code: &[u8], at: usize, depth: u32) -> Option<u32> {
    let (pops, pushes) = match *code.get(at)? {
        // Everything that ends a block leaves nothing.
        0x27 | 0x2a | 0x7a | 0xdc..=0xde => return Some(0),
        0x28 | 0x29 | 0x6f | 0x73 => called(metadata, code, at)?,
        0x02..=0x09 | 0x0e | 0x0f | 0x11 | 0x12 | 0x14..=0x23 | 0x72 | 0x7e | 0x7f | 0xd0 => (0, 1),
        0x25 => (1, 2),
        0x0a..=0x0d | 0x10 | 0x13 | 0x26 | 0x2c | 0x2d | 0x39 | 0x3a | 0x45 | 0x80 => (1, 0),
        0x2e..=0x37 | 0x3b..=0x44 | 0x51..=0x57 | 0x70 | 0x7d | 0x81 | 0xdf => (2, 0),
        0x58..=0x64 | 0x8f..=0x9a | 0xa3 | 0xd6..=0xdb => (2, 1),
        0x9b..=0xa2 | 0xa4 => (3, 0),
        0xfe => match *code.get(at + 1)? {
            0x1a => return Some(0),
            0x00 | 0x06 | 0x09 | 0x0a | 0x0c | 0x0d | 0x1c => (0, 1),
            0x01..=0x05 => (2, 1),
            0x0b | 0x0e | 0x11 | 0x15 => (1, 0),
            0x17 | 0x18 => (3, 0),
            _ => (0, 0),
        },
        _ => (0, 0),
    };
    Some(depth.checked_sub(pops)? + pushes)
}

/// What a call takes from the stack and leaves there.
fn called(metadata: Metadata<'_>, code: &[u8], at: usize) -> Option<(u32, u32)> {
    let opcode = *code.get(at)?;
    let token = code.get(at + 1..)?.first_chunk()?;
    let mut token = Token(u32::from_le_bytes(*token));
    if token.is(Table::MethodSpec) {
        token = metadata.row_of::<MethodSpecRow>(token).ok()?.method;
    }
    let blob = if token.is(Table::MemberRef) {
        metadata.member_ref(token).ok()?.signature
    } else if token.is(Table::StandAloneSig) {
        let row: StandAloneSigRow = metadata.row_of(token).ok()?;
        metadata.blob(row.signature).ok()?
    } else {
        metadata.method(token).ok()?.signature_blob().ok()?
    };
    let signature = signature::method_signature(blob).ok()?;
    let mut pops = u32::try_from(signature.parameters.len()).ok()?;
    if opcode == 0x73 {
        return Some((pops, 1));
    }
    let convention = signature.convention;
    pops += u32::from(convention.has_this() && !convention.explicit_this());
    // The pointer.
    pops += u32::from(opcode == 0x29);
    let mut result = &signature.return_type;
    while let Type::Modified { inner, .. } = result {
        result = inner;
    }
    let is_void = *result == Type::Primitive(Primitive::Void);
    Some((pops, u32::from(!is_void)))
}
