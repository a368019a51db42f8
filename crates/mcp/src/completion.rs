//! What could be written in a hole of a prompt or a resource's address: sessions, and expressions as the engine knows them.

use std::collections::HashMap;

use host::api::{Complete, Error, Reply, Request};

use crate::registry::Which;
use crate::reporting;
use crate::session;
use crate::tools::Call;

/// Values told at most; the protocol allows no more.
const MOST: usize = 100;

/// Whole values for a hole, and how many there are.
#[derive(Debug, Default)]
pub(crate) struct Completed {
    pub(crate) values: Vec<String>,
    pub(crate) total: usize,
}

impl Completed {
    fn of(mut values: Vec<String>) -> Self {
        let total = values.len();
        values.truncate(MOST);
        Self { values, total }
    }
}

/// Completes the value of an argument, given the others.
pub(crate) async fn complete(
    call: &Call,
    argument: &str,
    value: &str,
    others: &HashMap<String, String>,
) -> Result<Completed, Error> {
    match argument {
        "session" => {
            let sessions = call.registry.all();
            let ids = sessions.iter().map(|session| session.id().to_owned());
            Ok(Completed::of(
                ids.filter(|id| id.starts_with(value)).collect(),
            ))
        }
        "expression" => expressions(call, value, others.get("session").map(String::as_str)).await,
        _ => Ok(Completed::default()),
    }
}

async fn expressions(call: &Call, text: &str, session: Option<&str>) -> Result<Completed, Error> {
    let session = call.registry.find(session, Which::Live)?;
    let request = Request::Complete(Complete {
        text: text.to_owned(),
        position: u32::try_from(text.len()).unwrap_or(u32::MAX),
        thread: None,
        frame: reporting::shown_frame(&session, None).await,
        stop: None,
    });
    let found = match session.request(request).await? {
        Reply::Completions(found) => found,
        other => return Err(session::unexpected(&other)),
    };
    let part = |range: std::ops::Range<u32>| {
        let (start, end) = (range.start as usize, range.end as usize);
        text.get(start..end.min(text.len())).unwrap_or_default()
    };
    let (before, behind) = (part(0..found.start), part(found.end..u32::MAX));
    let names = found.names.iter();
    let whole = names.map(|it| format!("{before}{}{behind}", it.name));
    Ok(Completed::of(whole.collect()))
}
