//! Memory of the stopped program.
//!
//! The client knows places by what values were told with: an object's name (`#7`), since objects move, or an address
//! (`0x7f…`) that somebody typed.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use host::api::{ErrorCode, Reply, Request as EngineRequest, VariablesQuery};

use crate::adapter::Adapter;
use crate::message::Refusal;
use crate::types::{ReadMemoryArguments, ReadMemoryResponseBody};

/// Bytes told in one answer.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

impl Adapter {
    pub(crate) fn read_memory(
        &mut self,
        arguments: ReadMemoryArguments,
    ) -> Result<ReadMemoryResponseBody, Refusal> {
        let base = self.address_of(arguments.memory_reference.trim())?;
        let address = base
            .checked_add_signed(arguments.offset.unwrap_or(0))
            .ok_or_else(|| Refusal::new("badArguments", "there are no addresses there"))?;
        let wanted = arguments.count;
        if wanted > MAX_BYTES {
            let text =
                format!("{wanted} bytes are too many for one answer; ask for at most {MAX_BYTES}");
            return Err(Refusal::new("badArguments", text));
        }
        let at = format!("0x{address:x}");
        let mut bytes = Vec::new();
        // The engine tells a piece at a time, and only what really cannot be read is unreadable.
        while (bytes.len() as u64) < wanted {
            let done = bytes.len() as u64;
            let Some(address) = address.checked_add(done) else {
                break;
            };
            let count = u32::try_from(wanted - done).unwrap_or(u32::MAX);
            match self.ask(EngineRequest::ReadMemory { address, count }) {
                Ok(Reply::Memory(memory)) if memory.bytes.is_empty() => break,
                Ok(Reply::Memory(memory)) => bytes.extend(memory.bytes),
                Ok(_) => return Err(Refusal::bug("no memory was told")),
                // Memory that cannot be read is an answer; a program that runs is not.
                Err(refusal) if refusal.code == ErrorCode::InvalidParameter.name() => break,
                Err(refusal) => return Err(refusal),
            }
        }
        let unreadable = wanted.saturating_sub(bytes.len() as u64);
        Ok(ReadMemoryResponseBody {
            address: at,
            data: (!bytes.is_empty()).then(|| STANDARD.encode(&bytes)),
            unreadable_bytes: (unreadable > 0).then_some(unreadable),
        })
    }

    fn address_of(&self, reference: &str) -> Result<u64, Refusal> {
        if reference.starts_with('#') {
            let query = VariablesQuery {
                path: Some(reference.into()),
                ..VariablesQuery::default()
            };
            return match self.ask(EngineRequest::InspectObject(Box::new(query)))? {
                Reply::Object(object) => object.address.ok_or_else(|| {
                    Refusal::new("noAddress", format!("{reference} does not lie in memory"))
                }),
                _ => Err(Refusal::bug("no object was told")),
            };
        }
        let digits = reference
            .strip_prefix("0x")
            .or(reference.strip_prefix("0X"));
        let address = match digits {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => reference.parse(),
        };
        address.map_err(|_| {
            let text = format!(
                "{reference:?} is no place in memory; it is an address such as 0x7f0012345678, or what a value was told with"
            );
            Refusal::new("badArguments", text)
        })
    }
}
