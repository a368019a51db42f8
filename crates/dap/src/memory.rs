//! Memory of the stopped program.
//!
//! The client knows places by what values were told with: an object's name (`#7`), since objects move, or an address
//! (`0x7f…`) that somebody typed.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use host::api::{Reply, Request as EngineRequest, VariablesQuery};

use crate::adapter::Adapter;
use crate::message::Refusal;
use crate::types::{ReadMemoryArguments, ReadMemoryResponseBody};

impl Adapter {
    pub(crate) fn read_memory(
        &mut self,
        arguments: ReadMemoryArguments,
    ) -> Result<ReadMemoryResponseBody, Refusal> {
        let base = self.address_of(arguments.memory_reference.trim())?;
        let address = base
            .checked_add_signed(arguments.offset.unwrap_or(0))
            .ok_or_else(|| Refusal::new("badArguments", "there are no addresses there"))?;
        let wanted = u32::try_from(arguments.count).unwrap_or(u32::MAX);
        let at = format!("0x{address:x}");
        if wanted == 0 {
            return Ok(ReadMemoryResponseBody {
                address: at,
                ..ReadMemoryResponseBody::default()
            });
        }
        let reply = self.ask(EngineRequest::ReadMemory {
            address,
            count: wanted,
        });
        let bytes = match reply {
            Ok(Reply::Memory(memory)) => memory.bytes,
            Ok(_) => return Err(Refusal::bug("no memory was told")),
            // Memory that cannot be read is an answer; a program that runs is not.
            Err(refusal) if refusal.code == host::api::ErrorCode::InvalidParameter.name() => {
                Vec::new()
            }
            Err(refusal) => return Err(refusal),
        };
        let unreadable = u64::from(wanted) - bytes.len() as u64;
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
