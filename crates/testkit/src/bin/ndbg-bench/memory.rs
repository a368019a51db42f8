//! What the debugger's processes hold in memory.

use std::error::Error;
use std::fs;

use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::Outcome;
use crate::figures::{Figure, Unit};
use crate::program::{Memory, Program, breakpoint, launch};

const ROUNDS: usize = 5;

/// What one session costs, and the same with the server that an agent talks to.
pub(crate) fn all(sandbox: &Sandbox) -> Outcome {
    host(sandbox)?;
    crate::mcp::memory(sandbox)
}

/// The host of a program that is stopped and whose stack was asked for.
fn host(sandbox: &Sandbox) -> Outcome {
    let fixture = Fixture::named("bench_start");
    let launch = launch(&fixture, &[], vec![breakpoint(&fixture, "after")]);
    let mut resident = Figure::new("memory.host", Unit::Bytes);
    let mut share = Figure::new("memory.host.share", Unit::Bytes);
    let mut private = Figure::new("memory.host.private", Unit::Bytes);
    for _ in 0..ROUNDS {
        let program = Program::launch(sandbox, Memory::Fast, launch.clone())?;
        program.stack(20)?;
        let memory = Held::by(program.host_pid()?)?;
        resident.add(memory.resident);
        share.add(memory.share);
        private.add(memory.private);
    }
    resident.print();
    share.print();
    private.print();
    Ok(())
}

/// Memory of a process, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Held {
    /// All that is resident.
    pub(crate) resident: u64,
    /// The same, with each shared page divided among those who share it.
    pub(crate) share: u64,
    /// What nobody else has.
    private: u64,
}

impl Held {
    /// What a process holds now.
    pub(crate) fn by(pid: u32) -> Result<Self, Box<dyn Error>> {
        let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
        let field = |name: &str| -> Result<u64, String> {
            let value = text.lines().find_map(|line| {
                let rest = line.strip_prefix(name)?.strip_prefix(':')?;
                let kib: u64 = rest.trim().strip_suffix("kB")?.trim().parse().ok()?;
                kib.checked_mul(1024)
            });
            value.ok_or_else(|| format!("the kernel does not tell {name} of process {pid}"))
        };
        Ok(Self {
            resident: field("Rss")?,
            share: field("Pss")?,
            private: field("Private_Clean")? + field("Private_Dirty")?,
        })
    }
}
