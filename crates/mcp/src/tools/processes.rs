//! The .NET processes of this machine.

use host::api::{Attach, Error, ErrorCode};
use host::processes::{self, Attachable, ProcessSummary};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Call;
use crate::report::{ProcessEntry, ProcessesReport, text};

/// Processes shown at once.
const SHOWN: usize = 50;
/// Characters shown of a command line.
const COMMAND_LINE: usize = 200;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListArguments {
    /// Only processes whose command line contains this text.
    name: Option<String>,
}

pub(super) async fn list(call: &Call, arguments: ListArguments) -> Result<ProcessesReport, Error> {
    let mut found = all().await?;
    let running = found.len();
    if let Some(name) = &arguments.name {
        found.retain(|process| {
            process.name.contains(name) || process.command_line.join(" ").contains(name)
        });
    }
    let others = (running - found.len()) as u64;
    let left_out = found.len().saturating_sub(SHOWN) as u64;
    found.truncate(SHOWN);
    for process in &mut found {
        let allowed = call
            .registry
            .policy()
            .check_attach(&Attach::to(process.pid));
        if let Some(error) = host::why_lost(process.pid).or(allowed.err()) {
            process.attachable = Attachable::No(error);
        }
    }
    let entry = |process: ProcessSummary| ProcessEntry {
        pid: process.pid.0,
        runtime: process
            .runtime
            .map(|version| text::one_line(&version.0, 50)),
        command_line: match process.command_line.as_slice() {
            [] => text::one_line(&process.name, COMMAND_LINE),
            words => text::one_line(&processes::quoted(words), COMMAND_LINE),
        },
        user: text::one_line(&process.user, 50),
        attachable: process.attachable == Attachable::Yes,
        session: call.registry.of_process(process.pid.0),
        reason: match process.attachable {
            Attachable::Yes => None,
            Attachable::No(error) => Some(text::one_line(&error.message, 200)),
        },
    };
    Ok(ProcessesReport {
        processes: found.into_iter().map(entry).collect(),
        left_out,
        others,
    })
}

/// The process that is meant by a name: the program's own, or a part of the command line that only one has.
pub(super) async fn named(name: &str) -> Result<u32, Error> {
    let mut found = all().await?;
    let exact: Vec<_> = found
        .iter()
        .filter(|process| process.name == name)
        .map(|process| process.pid.0)
        .collect();
    if let [only] = exact.as_slice() {
        return Ok(*only);
    }
    found.retain(|process| {
        process.name.contains(name) || process.command_line.join(" ").contains(name)
    });
    let shown = text::quoted(name, 60);
    match found.as_slice() {
        [only] => Ok(only.pid.0),
        [] => Err(Error::new(
            ErrorCode::ProcessNotFound,
            format!("no .NET process has {shown} in its command line"),
        )
        .hint("process_list shows the processes")),
        several => {
            let pids: Vec<_> = several
                .iter()
                .take(10)
                .map(|process| process.pid.0.to_string())
                .collect();
            let message = format!(
                "{} .NET processes have {shown} in their command line",
                several.len()
            );
            Err(
                Error::new(ErrorCode::InvalidParameter, message).hint(format!(
                    "say which with pid: {}; process_list shows them",
                    pids.join(", ")
                )),
            )
        }
    }
}

/// All of them; reading about each takes a moment, off the async threads.
async fn all() -> Result<Vec<ProcessSummary>, Error> {
    tokio::task::spawn_blocking(processes::list)
        .await
        .map_err(|_| {
            Error::new(
                ErrorCode::Internal,
                "a bug in ndbg: listing processes failed",
            )
        })
}
