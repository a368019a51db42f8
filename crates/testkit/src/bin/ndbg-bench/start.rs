//! How a session begins: launches beside bare runs, and attaching.

use host::Session;
use host::api::{Attach, ProcessId, Request};
use testkit::deadline;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::Outcome;
use crate::figures::Figure;
use crate::program::{Memory, Program, breakpoint, host, launch as launch_of};

/// Runs beyond those that only fill the system's caches.
const ROUNDS: usize = 21;
const WARM_UP: usize = 2;

/// A bare run to a printed line, and launches to a stop at the statement behind it.
pub(crate) fn launch(sandbox: &Sandbox) -> Outcome {
    let fixture = Fixture::named("bench_start");
    let at_line = launch_of(&fixture, &[], vec![breakpoint(&fixture, "after")]);
    let mut at_entry = launch_of(&fixture, &[], Vec::new());
    at_entry.stop_at_entry = true;
    for round in 0..=1 {
        let rounds = if round == 0 { WARM_UP } else { ROUNDS };
        let mut bare = Figure::time("start.bare");
        let mut entry = Figure::time("start.entry");
        let mut stops =
            Memory::BOTH.map(|memory| (memory, Figure::time(memory.figure("start.stop"))));
        for _ in 0..rounds {
            bare.timed(|| {
                let program = sandbox.bare_fixture(&fixture).start();
                program.line_starting("here");
                Ok::<_, String>(program)
            })?;
            for (memory, figure) in &mut stops {
                figure.timed(|| Program::launch(sandbox, *memory, at_line.clone()))?;
            }
            entry.timed(|| Program::launch(sandbox, Memory::Fast, at_entry.clone()))?;
        }
        if round == 1 {
            bare.print();
            entry.print();
            stops.into_iter().for_each(|(_, figure)| figure.print());
        }
    }
    Ok(())
}

/// Starts of a host that does nothing, and attaching to a running program.
pub(crate) fn attach(sandbox: &Sandbox) -> Outcome {
    let fixture = Fixture::named("loops");
    let program = sandbox.bare_fixture(&fixture).args(["silent", "5"]).start();
    program.line_starting("running");
    let attach = Attach {
        pid: ProcessId(program.pid()),
    };
    let host = host(sandbox, Memory::Fast);
    let mut starts = Figure::time("attach.host");
    let mut attaches = Figure::time("attach.running");
    for _ in 0..ROUNDS {
        starts.timed(|| {
            let session = Session::start(&host)?;
            session.request(Request::Status, deadline())?;
            Ok::<_, host::api::Error>(session)
        })?;
        attaches.timed(|| Session::attach(&host, attach.clone(), deadline()))?;
    }
    starts.print();
    attaches.print();
    Ok(())
}
