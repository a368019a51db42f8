//! The memory of the stopped program, in pages that are read once.

use std::cell::RefCell;
use std::collections::HashMap;

use cordebug::process::Process;

use super::{Result, Unreadable};

const PAGE: u64 = 4096;
/// Pages kept at most: one request looks at little, and what it looks at twice lies close together.
const MAX_PAGES: usize = 2048;
/// Longer reads are not worth keeping.
const MAX_CACHED_READ: u64 = 4 * PAGE;

/// Memory as it is while the program stays stopped.
pub(super) struct Memory<'t> {
    process: &'t Process,
    pages: RefCell<HashMap<u64, Box<[u8]>>>,
}

impl<'t> Memory<'t> {
    pub(super) fn new(process: &'t Process) -> Self {
        Self {
            process,
            pages: RefCell::default(),
        }
    }

    /// Forgets what was read: the program was written to.
    pub(super) fn forget(&self) {
        self.pages.borrow_mut().clear();
    }

    /// Fills `buffer` from an address; an error unless all of it can be read.
    pub(super) fn read(&self, address: u64, buffer: &mut [u8]) -> Result<()> {
        let length = buffer.len() as u64;
        let end = address
            .checked_add(length)
            .ok_or(Unreadable::NoMemory { address })?;
        if length > MAX_CACHED_READ {
            return self.read_whole(address, buffer);
        }
        let mut filled = 0_usize;
        let mut at = address;
        while at < end {
            let page = at - at % PAGE;
            let within = (at - page) as usize;
            let wanted = (end.min(page.saturating_add(PAGE)) - at) as usize;
            let to = buffer.get_mut(filled..filled + wanted);
            let to = to.ok_or(Unreadable::NoMemory { address })?;
            let read = self.with_page(page, |bytes| {
                let from = bytes.get(within..within + wanted);
                from.map(|from| to.copy_from_slice(from))
                    .ok_or(Unreadable::NoMemory { address: at })
            });
            // The page is ours: what was asked for is told.
            read.map_err(|why| match why {
                Unreadable::NoMemory { .. } => Unreadable::NoMemory { address: at },
                other => other,
            })?;
            filled += wanted;
            at += wanted as u64;
        }
        Ok(())
    }

    fn with_page<T>(&self, page: u64, give: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
        let mut pages = self.pages.borrow_mut();
        if let Some(bytes) = pages.get(&page) {
            return give(bytes);
        }
        let mut bytes = vec![0; PAGE as usize].into_boxed_slice();
        self.read_whole(page, &mut bytes)?;
        if pages.len() >= MAX_PAGES {
            pages.clear();
        }
        let answer = give(&bytes);
        pages.insert(page, bytes);
        answer
    }

    fn read_whole(&self, address: u64, buffer: &mut [u8]) -> Result<()> {
        match self.process.read_memory(address, buffer) {
            Ok(read) if read == buffer.len() => Ok(()),
            Err(error) if error.is_target_gone() => Err(error.into()),
            _ => Err(Unreadable::NoMemory { address }),
        }
    }

    /// `N` bytes.
    pub(super) fn array<const N: usize>(&self, address: u64) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.read(address, &mut bytes)?;
        Ok(bytes)
    }

    /// A word.
    pub(super) fn word(&self, address: u64) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array(address)?))
    }

    /// A 32-bit number.
    pub(super) fn u32(&self, address: u64) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array(address)?))
    }
}
