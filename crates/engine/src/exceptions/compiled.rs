//! Which exception clauses guard a place in optimised code.
//!
//! Such code knows its places in IL roughly or not at all. But its compiler has written for the runtime what native code each
//! clause guards, in a table that the header before the code refers to. None of that is part of a contract, so a table counts
//! only if all of it fits the method's own clauses.

use cordebug::process::Process;
use cordebug::thread::Frame;
use metadata::pe::{ClauseKind, ExceptionClause};

/// Words of a code's header that may refer to the table: debug information comes first.
const HEADER_WORDS: u64 = 3;
/// The table begins with its kind and size.
const FAT_FORMAT: u32 = 0x40;
const HEAD: usize = 8;
const ENTRY: usize = 32;
/// More clauses than a method has that anybody wrote.
const MAX_CLAUSES: usize = 1000;
/// Marks of an entry: what kind of clause it is, and whether it repeats another for other code.
const KIND: u32 = 7;
const DUPLICATED: u32 = 8;

/// The compiled code that a clause guards, or that handles what it catches.
#[derive(Debug, PartialEq)]
struct Part {
    clause: usize,
    handles: bool,
    start: u32,
    end: u32,
}

/// The clauses of a method that guard the place where a frame is, by their numbers, inner ones first; `None` if that cannot be told.
pub(super) fn guarding(
    process: &Process,
    frame: &Frame,
    clauses: &[ExceptionClause],
) -> Option<Vec<usize>> {
    let (code, offset) = frame.compiled_code().ok()?;
    let header = process.read_word(code.start().ok()?.checked_sub(8)?)?;
    let table = (0..HEADER_WORDS).find_map(|index| {
        let address = process.read_word(header.checked_add(8 * index)?)?;
        table_at(process, address, clauses)
    })?;
    // A call that is the last thing in a block returns behind it.
    Some(clauses_at(&table, offset.checked_sub(1)?, clauses))
}

fn clauses_at(table: &[Part], at: u32, clauses: &[ExceptionClause]) -> Vec<usize> {
    let mut found = Vec::new();
    for part in table.iter().filter(|it| (it.start..it.end).contains(&at)) {
        if !part.handles {
            found.push(part.clause);
            continue;
        }
        // A handler lies elsewhere than what is around it: since .NET 10 that is not repeated for it.
        let handler = clauses.get(part.clause).map(|it| it.handler_start.0);
        let around = (0..).zip(clauses).filter(|(_, it)| {
            let inside = handler.and_then(|handler| handler.checked_sub(it.try_start.0));
            inside.is_some_and(|inside| inside < it.try_length)
        });
        found.extend(around.map(|(clause, _)| clause));
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn table_at(process: &Process, address: u64, clauses: &[ExceptionClause]) -> Option<Vec<Part>> {
    let count = usize::try_from(process.read_word(address.checked_sub(8)?)?).ok()?;
    if count == 0 || count > MAX_CLAUSES {
        return None;
    }
    let mut bytes = vec![0; HEAD + ENTRY * count];
    let read = process.read_memory(address, &mut bytes).ok()?;
    (read == bytes.len()).then(|| table(&bytes, clauses))?
}

/// Reads a table that begins with these bytes, if it is one for these clauses.
fn table(bytes: &[u8], clauses: &[ExceptionClause]) -> Option<Vec<Part>> {
    let number = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    let size = u32::try_from(bytes.len().checked_sub(HEAD)?).ok()?;
    if number(0)? != (size << 8 | FAT_FORMAT) {
        return None;
    }
    let mut found = Vec::new();
    let mut handlers = Vec::new();
    for entry in (HEAD..bytes.len()).step_by(ENTRY) {
        let (flags, start, end) = (number(entry)?, number(entry + 4)?, number(entry + 8)?);
        let handler = (number(entry + 12)?, number(entry + 16)?);
        let clause = if flags & DUPLICATED == 0 {
            handlers.push(handler);
            handlers.len() - 1
        } else if let Some(same) = handlers.iter().position(|it| *it == handler) {
            // The same clause guards handlers inside it, which lie elsewhere.
            same
        } else {
            // A copy of a `finally` block in the way on which nothing was thrown.
            continue;
        };
        if start > end || flags & KIND != kind(&clauses.get(clause)?.kind) {
            return None;
        }
        found.push(Part {
            clause,
            handles: false,
            start,
            end,
        });
    }
    if handlers.len() != clauses.len() {
        return None;
    }
    found.extend((0..).zip(handlers).map(|(clause, (start, end))| Part {
        clause,
        handles: true,
        start,
        end,
    }));
    Some(found)
}

fn kind(kind: &ClauseKind) -> u32 {
    match kind {
        ClauseKind::Catch(_) => 0,
        ClauseKind::Filter(_) => 1,
        ClauseKind::Finally => 2,
        ClauseKind::Fault => 4,
    }
}

#[cfg(test)]
mod tests {
    use metadata::{IlOffset, Token};

    use super::*;

    fn clause(kind: ClauseKind) -> ExceptionClause {
        ExceptionClause {
            kind,
            try_start: IlOffset(1),
            try_length: 10,
            handler_start: IlOffset(11),
            handler_length: 5,
        }
    }

    fn bytes(entries: &[[u32; 4]]) -> Vec<u8> {
        let size = (entries.len() * ENTRY) as u32;
        let mut numbers = vec![size << 8 | FAT_FORMAT, 0];
        for [flags, start, end, handler] in entries {
            numbers.extend([*flags, *start, *end, *handler, handler + 10, 0, 0, 0]);
        }
        numbers.into_iter().flat_map(u32::to_le_bytes).collect()
    }

    #[test]
    fn only_a_table_that_fits_the_clauses_counts() {
        let catch = clause(ClauseKind::Catch(Token(0x0100_0001)));
        let clauses = [clause(ClauseKind::Finally), catch];
        let found = |entries: &[[u32; 4]]| {
            let table = table(&bytes(entries), &clauses)?;
            let guarded = table.iter().filter(|it| !it.handles);
            let guarded = guarded.map(|it| (it.clause, it.start, it.end));
            Some(guarded.collect::<Vec<_>>())
        };
        let whole = [[2, 8, 20, 40], [0, 4, 30, 60]];
        assert_eq!(found(&whole), Some(vec![(0, 8, 20), (1, 4, 30)]));
        // The outer one guards the handler of the inner one as well; a copied handler is nobody's.
        let moved = [
            [2, 8, 20, 40],
            [0, 4, 30, 60],
            [8, 40, 50, 60],
            [10, 25, 25, 25],
        ];
        let all = vec![(0, 8, 20), (1, 4, 30), (1, 40, 50)];
        assert_eq!(found(&moved), Some(all));
        for other in [
            &[[2, 8, 20, 40]][..],
            &[[0, 8, 20, 40], [0, 4, 30, 60]],
            &[[2, 20, 8, 40], [0, 4, 30, 60]],
            &[[2, 8, 20, 40], [0, 4, 30, 60], [0, 4, 30, 60]],
            &[[2, 8, 20, 40], [0, 4, 30, 60], [10, 4, 30, 60]],
        ] {
            assert_eq!(found(other), None, "{other:?}");
        }
        let whole = bytes(&whole);
        for cut in 0..whole.len() {
            let part = whole.get(..cut).expect("a part");
            assert_eq!(table(part, &clauses), None, "{cut}");
        }
    }

    #[test]
    fn what_is_around_a_handler_guards_it() {
        let catch = |try_start, try_length, handler_start| ExceptionClause {
            try_start: IlOffset(try_start),
            try_length,
            handler_start: IlOffset(handler_start),
            ..clause(ClauseKind::Catch(Token(0x0100_0001)))
        };
        let clauses = [catch(10, 5, 15), catch(5, 30, 35), catch(50, 5, 55)];
        let bytes = bytes(&[[0, 8, 20, 100], [0, 4, 30, 120], [0, 40, 50, 140]]);
        let table = table(&bytes, &clauses).expect("a table");
        let at = |at| clauses_at(&table, at, &clauses);
        assert_eq!(at(10), [0, 1]);
        assert_eq!(at(25), [1]);
        assert_eq!(at(105), [1], "in the handler of the first");
        assert_eq!(at(125), [] as [usize; 0], "in the handler around it");
        assert_eq!(at(45), [2]);
    }
}
