//! How a session begins: launches beside bare runs, and attaching.

use std::error::Error;
use std::fs;

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

/// A bare run to a printed line, and launches to a stop at the statement behind it: how long they take, and how much
/// the machine does for them, which other programs disturb less. Front ends have a host started ahead; once it is started
/// in that time, too, as for a session beside another one and for `ndbg run`.
pub(crate) fn launch(sandbox: &Sandbox) -> Outcome {
    let fixture = Fixture::named("bench_start");
    let at_line = launch_of(&fixture, &[], vec![breakpoint(&fixture, "after")]);
    let mut at_entry = launch_of(&fixture, &[], Vec::new());
    at_entry.stop_at_entry = true;
    let mut bare = Figure::time("start.bare");
    let mut bare_work = Figure::time("start.bare.work");
    let mut entry = Figure::time("start.entry");
    let mut cold = Figure::time("start.cold");
    let mut stops = Memory::BOTH.map(|memory| {
        let figure = |name| Figure::time(memory.figure(name));
        (memory, figure("start.stop"), figure("start.stop.work"))
    });
    for round in 0..WARM_UP + ROUNDS {
        if round == WARM_UP {
            bare.clear();
            bare_work.clear();
            entry.clear();
            cold.clear();
            for (_, times, work) in &mut stops {
                times.clear();
                work.clear();
            }
        }
        let program = bare.timed(|| {
            let program = sandbox.bare_fixture(&fixture).start();
            program.line_starting("here");
            Ok::<_, String>(program)
        })?;
        bare_work.add(work_of(program.pid())?);
        drop(program);
        for (memory, times, work) in &mut stops {
            let host = Program::host_ahead(sandbox, *memory)?;
            let program = times.timed(|| Program::launch_in(host, at_line.clone()))?;
            work.add(work_of(program.pid()?)? + work_of(program.host_pid()?)?);
        }
        let host = Program::host_ahead(sandbox, Memory::Fast)?;
        entry.timed(|| Program::launch_in(host, at_entry.clone()))?;
        cold.timed(|| Program::launch(sandbox, Memory::Fast, at_line.clone()))?;
    }
    bare.print();
    bare_work.print();
    entry.print();
    cold.print();
    for (_, times, work) in stops {
        times.print();
        work.print();
    }
    Ok(())
}

/// How long the processors have worked for a process, as the kernel's scheduler counts it.
pub(crate) fn work_of(pid: u32) -> Result<u64, Box<dyn Error>> {
    let mut sum = 0;
    for thread in fs::read_dir(format!("/proc/{pid}/task"))? {
        // A thread may end while we look.
        let text = fs::read_to_string(thread?.path().join("schedstat")).unwrap_or_default();
        let first = text.split(' ').next().unwrap_or_default();
        sum += first.parse::<u64>().unwrap_or_default();
    }
    Ok(sum)
}

/// Starts of a host that does nothing, and attaching to a running program.
pub(crate) fn attach(sandbox: &Sandbox) -> Outcome {
    let fixture = Fixture::named("loops");
    let program = sandbox.bare_fixture(&fixture).args(["silent", "5"]).start();
    program.line_starting("running");
    let attach = Attach::to(ProcessId(program.pid()));
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
