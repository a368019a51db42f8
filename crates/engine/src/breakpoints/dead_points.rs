//! Points that no thread ever comes to.
//!
//! In a Debug build Roslyn gives the `switch { … }` of an expression a point of its own, for those who look up what code belongs to, and
//! hides it from threads: `ldc.i4.1; brtrue.s L; nop; L:`, where the point is the `nop`. Behind the expression it does the same
//! with the point of the statement around it.

use std::cell::RefCell;
use std::collections::HashMap;

use cordebug::process::Process;
use metadata::pe::{ClauseKind, ExceptionClause};
use metadata::{IlOffset, Token};

use crate::modules::LoadedModule;
use crate::stepping::il;

/// The points of a module at which nothing ever stops. Only the code of methods that are asked for is looked at.
pub(crate) struct DeadPoints<'m> {
    module: &'m LoadedModule,
    process: &'m Process,
    /// Of each method, for each offset, whether an instruction that can run begins there.
    known: RefCell<HashMap<Token, Option<Box<[bool]>>>>,
}

impl<'m> DeadPoints<'m> {
    pub(crate) fn of(module: &'m LoadedModule, process: &'m Process) -> Self {
        Self {
            module,
            process,
            known: RefCell::default(),
        }
    }

    /// Whether a point of a method is one. Of code that cannot be read none is.
    pub(crate) fn has(&self, method: Token, offset: IlOffset) -> bool {
        let mut known = self.known.borrow_mut();
        let reached = known.entry(method).or_insert_with(|| {
            let opened = self.module.metadata(self.process).ok()?;
            let body = opened.body(method).ok()??;
            reached(body.code, &body.clauses)
        });
        let reached = reached.as_ref();
        reached.is_some_and(|it| it.get(offset.0 as usize) == Some(&false))
    }
}

/// For each offset, whether an instruction that can run begins there; `None` if the code cannot be read.
fn reached(code: &[u8], clauses: &[ExceptionClause]) -> Option<Box<[bool]>> {
    let mut reached = vec![false; code.len()];
    let mut jumps_decided = Vec::new();
    let mut todo = vec![0];
    for clause in clauses {
        todo.push(clause.handler_start.0 as usize);
        if let ClauseKind::Filter(start) = clause.kind {
            todo.push(start.0 as usize);
        }
    }
    while let Some(at) = todo.pop() {
        let Some(here) = reached.get_mut(at) else {
            continue;
        };
        if std::mem::replace(here, true) {
            continue;
        }
        let instruction = il::read(code, at)?;
        if let Some(next) = decided(code, at, instruction.next) {
            // The jump itself stays open: others may lead to it.
            jumps_decided.push(instruction.next);
            todo.push(next);
            continue;
        }
        if il::falls_through(code, at) {
            todo.push(instruction.next);
        }
        todo.extend(instruction.targets.iter().map(|it| it.0 as usize));
    }
    for at in jumps_decided {
        *reached.get_mut(at)? = true;
    }
    Some(reached.into())
}

/// Where a constant leads that decides the jump behind it: `brfalse` or `brtrue`.
fn decided(code: &[u8], at: usize, jump: usize) -> Option<usize> {
    let constant = il::constant(code, at)?;
    let jumps = match code.get(jump)? {
        0x2c | 0x39 => constant == 0,
        0x2d | 0x3a => constant != 0,
        _ => return None,
    };
    let instruction = il::read(code, jump)?;
    match jumps {
        true => instruction.targets.first().map(|it| it.0 as usize),
        false => Some(instruction.next),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: &[u8], run: &[usize]) {
        let reached = reached(code, &[]).expect("code");
        let begin: Vec<usize> = (0..code.len()).filter(|at| reached[*at]).collect();
        assert_eq!(begin, run, "{code:x?}");
    }

    #[test]
    fn code_is_dead_if_nothing_leads_to_it() {
        // ldc.i4.1; brtrue.s over a nop; ret
        check(&[0x17, 0x2d, 0x01, 0x00, 0x2a], &[0, 1, 4]);
        // The same with the long form, and with ldc.i4.0.
        check(&[0x17, 0x3a, 1, 0, 0, 0, 0x00, 0x2a], &[0, 1, 7]);
        check(&[0x16, 0x2d, 0x01, 0x00, 0x2a], &[0, 1, 3, 4]);
        // ldarg.0 decides nothing.
        check(&[0x02, 0x2d, 0x01, 0x00, 0x2a], &[0, 1, 3, 4]);
        // br.s over a nop; ldarg.0; brtrue.s to that nop; ret
        check(
            &[0x2b, 0x01, 0x00, 0x02, 0x2d, 0xfc, 0x2a],
            &[0, 2, 3, 4, 6],
        );
        // ldarg.0; brtrue.s to a jump that a constant decides for others; ldc.i4.1; brtrue.s over a nop; ret
        check(
            &[0x02, 0x2d, 0x01, 0x17, 0x2d, 0x01, 0x00, 0x2a],
            &[0, 1, 3, 4, 6, 7],
        );
        assert_eq!(reached(&[0x2b], &[]), None);
    }
}
