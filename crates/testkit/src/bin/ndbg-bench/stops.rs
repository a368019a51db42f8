//! Stops: pausing, stepping, breakpoints that only count, stacks.

use std::error::Error;
use std::fs;
use std::time::Instant;

use host::api::BreakpointSpec;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::Outcome;
use crate::figures::{Figure, Unit, nanoseconds};
use crate::program::{Memory, Program, breakpoint, launch, let_it_run};
use crate::start::work_of;

/// Samples beyond those in which the runtime compiles what it meets for the first time.
const SAMPLES: usize = 300;
const WARM_UP: usize = 20;
/// Steps of one side before those of the other, twice around the program's loop: who steps does so more than once, and
/// finds the processor's caches as the step before left them.
pub(crate) const TURN: usize = 24;
/// How often the program comes by while a breakpoint counts.
const HITS: u32 = 1_000;
const FRAMES: u32 = 20;

/// Pausing a program that sleeps and one that computes.
pub(crate) fn pause(sandbox: &Sandbox) -> Outcome {
    let fixture = Fixture::named("loops");
    for (mode, name) in [("silent", "pause.sleeping"), ("spin", "pause.busy")] {
        let mut launch = launch(&fixture, &[mode, "5"], Vec::new());
        launch.stop_at_entry = true;
        let program = Program::launch(sandbox, Memory::Fast, launch)?;
        let mut figure = Figure::time(name);
        let mut round_trip = Figure::time(format!("{name}.round_trip"));
        for sample in 0..SAMPLES / 3 {
            program.resume()?;
            let_it_run();
            if sample == 0 {
                // The program has just begun: it is still being loaded.
                program.pause()?;
                continue;
            }
            round_trip.timed(|| program.round_trip())?;
            figure.timed(|| program.pause())?;
        }
        round_trip.print();
        figure.print();
    }
    Ok(())
}

/// Steps over statements: from the request to the stop.
pub(crate) fn step(sandbox: &Sandbox) -> Outcome {
    let fixture = Fixture::named("bench_stops");
    let mut sides = Vec::new();
    for memory in Memory::BOTH {
        let launch = launch(&fixture, &["steps"], vec![breakpoint(&fixture, "steps")]);
        let program = Program::launch(sandbox, memory, launch)?;
        for _ in 0..WARM_UP {
            program.step_over()?;
        }
        let figure = Figure::time(memory.figure("step.over"));
        let reads = Figure::new(memory.figure("step.reads"), Unit::Count);
        let work = Figure::time(memory.figure("step.work"));
        sides.push((program, figure, reads, work));
    }
    let mut round_trip = Figure::time("step.round_trip");
    for _ in 0..SAMPLES / TURN {
        for (program, figure, reads, work) in &mut sides {
            for _ in 0..TURN {
                round_trip.timed(|| program.round_trip())?;
                let before = reads_of(program)?;
                let worked = work_for(program)?;
                figure.timed(|| program.step_over())?;
                work.add(work_for(program)?.saturating_sub(worked));
                reads.add(reads_of(program)? - before);
            }
        }
    }
    round_trip.print();
    for (_, figure, reads, work) in sides {
        figure.print();
        reads.print();
        work.print();
    }
    Ok(())
}

/// How long the processors have worked for a program and its host.
fn work_for(program: &Program) -> Result<u64, Box<dyn Error>> {
    Ok(work_of(program.pid()?)? + work_of(program.host_pid()?)?)
}

/// Breakpoints that are hit and let the program run on, and those that stop it for a moment.
pub(crate) fn hits(sandbox: &Sandbox) -> Outcome {
    let fixture = Fixture::named("bench_stops");
    let mut counting = breakpoint(&fixture, "work");
    counting.hit_condition = Some(format!("=={}", u32::MAX));
    passing(sandbox, "hits.counted", CALLS, &counting)?;

    let launch = launch(
        &fixture,
        &["calls", "1"],
        vec![breakpoint(&fixture, "work")],
    );
    let program = Program::launch(sandbox, Memory::Fast, launch)?;
    let mut stopping = Figure::new("hits.stopping", Unit::PerSecond);
    for sample in 0..WARM_UP + SAMPLES {
        let started = Instant::now();
        program.next_stop()?;
        if sample >= WARM_UP {
            stopping.add(1_000_000_000 / nanoseconds(started.elapsed()).max(1));
        }
    }
    stopping.print();
    Ok(())
}

/// Breakpoints with conditions.
pub(crate) fn conditions(sandbox: &Sandbox) -> Outcome {
    let fixture = Fixture::named("bench_stops");
    let mut spec = breakpoint(&fixture, "work");
    // True, so that every hit is counted, and none stops.
    spec.condition = Some("i >= 0".into());
    spec.hit_condition = Some(format!("=={}", u32::MAX));
    passing(sandbox, "conditions.local", CALLS, &spec)?;
    let fixture = Fixture::named("bench_values");
    let mut spec = BreakpointSpec {
        place: breakpoint(&fixture, "check").place,
        ..spec
    };
    spec.condition = Some(r#"shop.First.Owner.Name == "customer 1""#.into());
    passing(sandbox, "conditions.path", CHECKS, &spec)?;
    spec.condition = Some("shop.First.Total > 0".into());
    passing(sandbox, "conditions.getter", RUNNING_CODE, &spec)
}

/// Breakpoints that log.
pub(crate) fn traces(sandbox: &Sandbox) -> Outcome {
    let fixture = Fixture::named("bench_stops");
    let mut spec = breakpoint(&fixture, "work");
    for (name, message) in [("traces.text", "came by"), ("traces.value", "i is {i}")] {
        spec.log_message = Some(message.into());
        passing(sandbox, name, CALLS, &spec)?;
    }
    Ok(())
}

/// How a program comes by a breakpoint.
#[derive(Debug, Clone, Copy)]
struct Way {
    fixture: &'static str,
    mode: &'static str,
    /// Hits between two stops.
    hits: u32,
    sides: &'static [Memory],
}

const CALLS: Way = Way {
    fixture: "bench_stops",
    mode: "calls",
    hits: HITS,
    sides: &Memory::BOTH,
};
const CHECKS: Way = Way {
    fixture: "bench_values",
    mode: "checks",
    ..CALLS
};
/// Each hit runs code in the program, which takes a while.
const RUNNING_CODE: Way = Way {
    hits: HITS / 10,
    sides: &[Memory::Fast],
    ..CHECKS
};

/// How often per second a program comes by a breakpoint that does not stop it.
fn passing(sandbox: &Sandbox, name: &str, way: Way, spec: &BreakpointSpec) -> Outcome {
    let fixture = Fixture::named(way.fixture);
    let mut sides = Vec::new();
    for memory in way.sides {
        let breakpoints = vec![breakpoint(&fixture, "round"), spec.clone()];
        let launch = launch(&fixture, &[way.mode, &way.hits.to_string()], breakpoints);
        let program = Program::launch(sandbox, *memory, launch)?;
        program.next_stop()?;
        let figure = Figure::new(memory.figure(name), Unit::PerSecond);
        sides.push((program, figure));
    }
    for _ in 0..7 {
        for (program, figure) in &mut sides {
            let before = counted(program)?;
            let started = Instant::now();
            program.next_stop()?;
            let time = started.elapsed();
            let hits = counted(program)? - before;
            if hits != u64::from(way.hits) {
                return Err(format!("{hits} hits were counted, not {}", way.hits).into());
            }
            figure.add(hits * 1_000_000_000 / nanoseconds(time).max(1));
        }
    }
    sides.into_iter().for_each(|(_, figure)| figure.print());
    Ok(())
}

/// The hits of the breakpoint that is passed by, which was set second.
fn counted(program: &Program) -> Result<u64, Box<dyn std::error::Error>> {
    let breakpoints = program.breakpoints()?;
    Ok(breakpoints.get(1).ok_or("the breakpoint is gone")?.hits)
}

/// The first stack after a stop, and once more while nothing has changed.
pub(crate) fn stack(sandbox: &Sandbox) -> Outcome {
    let fixture = Fixture::named("bench_stops");
    let depth = (FRAMES + 5).to_string();
    let mut sides = Vec::new();
    for memory in Memory::BOTH {
        let breakpoints = vec![breakpoint(&fixture, "bottom")];
        let program = Program::launch(
            sandbox,
            memory,
            launch(&fixture, &["deep", &depth], breakpoints),
        )?;
        for _ in 0..WARM_UP {
            program.next_stop()?;
            program.stack(FRAMES)?;
        }
        let first = Figure::time(memory.figure("stack.first"));
        let again = Figure::time(memory.figure("stack.again"));
        let reads = Figure::new(memory.figure("stack.reads"), Unit::Count);
        sides.push((program, first, again, reads));
    }
    let mut round_trip = Figure::time("stack.round_trip");
    for _ in 0..SAMPLES / 2 {
        for (program, first, again, reads) in &mut sides {
            program.next_stop()?;
            round_trip.timed(|| program.round_trip())?;
            let before = reads_of(program)?;
            let frames = first.timed(|| program.stack(FRAMES))?;
            reads.add(reads_of(program)? - before);
            again.timed(|| program.stack(FRAMES))?;
            if frames.len() != FRAMES as usize {
                return Err(format!("{} frames, not {FRAMES}", frames.len()).into());
            }
        }
    }
    round_trip.print();
    for (_, first, again, reads) in sides {
        first.print();
        again.print();
        reads.print();
    }
    Ok(())
}

/// How many times the host has asked the kernel to read something, as the kernel counts it.
fn reads_of(program: &Program) -> Result<u64, Box<dyn std::error::Error>> {
    let counters = fs::read_to_string(format!("/proc/{}/io", program.host_pid()?))?;
    let reads = counters
        .lines()
        .find_map(|line| line.strip_prefix("syscr:")?.trim().parse().ok());
    Ok(reads.ok_or("the kernel does not count reads")?)
}
