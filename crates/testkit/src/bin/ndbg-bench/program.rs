//! A fixture under the debugger, as measurements use it: through `host::Session`, as every front end does.

use std::error::Error;
use std::time::Duration;

use host::api::{
    Breakpoint, BreakpointSpec, Evaluate, Frame, Launch, Line, Place, Reply, Request, State,
    Status, StepKind, Variable, VariablesQuery,
};
use host::{HostProgram, Session, Settled};
use testkit::fixtures::{self, Fixture};
use testkit::sandbox::Sandbox;
use testkit::{deadline, procfs};

/// Whether the host may answer the runtime library's reads from its cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Memory {
    Fast,
    Plain,
}

impl Memory {
    /// Both, the usual one first.
    pub(crate) const BOTH: [Self; 2] = [Self::Fast, Self::Plain];

    /// The name of a figure that is measured both ways.
    pub(crate) fn figure(self, name: &str) -> String {
        match self {
            Self::Fast => name.to_owned(),
            Self::Plain => format!("{name}/plain"),
        }
    }
}

/// The host under measurement.
pub(crate) fn host(sandbox: &Sandbox, memory: Memory) -> HostProgram {
    let mut env = sandbox.environment();
    if memory == Memory::Plain {
        env.push(("NDBG_FAST_MEMORY".into(), "0".into()));
    }
    HostProgram {
        path: fixtures::ndbg(),
        args: vec!["host".into()],
        env,
    }
}

/// A launch of a fixture.
pub(crate) fn launch(fixture: &Fixture, args: &[&str], breakpoints: Vec<BreakpointSpec>) -> Launch {
    let environment = fixtures::dotnet_environment().into_iter();
    Launch {
        program: fixture.dll(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        env: environment
            .map(|(name, value)| (name, Some(value.to_string_lossy().into_owned())))
            .collect(),
        breakpoints,
        ..Launch::default()
    }
}

/// A breakpoint at a marked line.
pub(crate) fn breakpoint(fixture: &Fixture, marker: &str) -> BreakpointSpec {
    let marker = fixture.marker(marker);
    BreakpointSpec::at(Place::Line {
        file: marker.file.to_string_lossy().into_owned(),
        line: Line(marker.line),
        column: None,
    })
}

/// A launched fixture.
#[derive(Debug)]
pub(crate) struct Program {
    session: Session,
}

impl Program {
    /// Launches and waits for the first stop.
    pub(crate) fn launch(
        sandbox: &Sandbox,
        memory: Memory,
        launch: Launch,
    ) -> Result<Self, Box<dyn Error>> {
        Self::launch_in(Session::start(&host(sandbox, memory))?, launch)
    }

    /// Starts a host that waits for its program, as front ends do before they are asked to launch one.
    pub(crate) fn host_ahead(sandbox: &Sandbox, memory: Memory) -> Result<Session, Box<dyn Error>> {
        let session = Session::start(&host(sandbox, memory))?;
        session.request(Request::Status, deadline())?;
        Ok(session)
    }

    /// Launches in such a host and waits for the first stop.
    pub(crate) fn launch_in(session: Session, launch: Launch) -> Result<Self, Box<dyn Error>> {
        session.request(Request::Launch(launch), deadline())?;
        let program = Self { session };
        program.wait_stop(0)?;
        Ok(program)
    }

    fn wait_stop(&self, after: u32) -> Result<(), Box<dyn Error>> {
        match self.session.wait(after, deadline()) {
            Settled::Yes(status) if status.state == State::Stopped => Ok(()),
            Settled::Yes(status) | Settled::NotYet(status) => {
                Err(format!("expected a stop, not {status:?}").into())
            }
        }
    }

    fn ask(&self, request: Request) -> Result<Status, Box<dyn Error>> {
        match self.session.request(request, deadline())? {
            Reply::Status(status) => Ok(*status),
            other => Err(format!("expected the state, not {other:?}").into()),
        }
    }

    /// Asks for the state: the cheapest request there is.
    pub(crate) fn round_trip(&self) -> Result<(), Box<dyn Error>> {
        self.ask(Request::Status).map(drop)
    }

    /// Lets it run.
    pub(crate) fn resume(&self) -> Result<(), Box<dyn Error>> {
        self.ask(Request::Continue).map(drop)
    }

    /// Stops it.
    pub(crate) fn pause(&self) -> Result<(), Box<dyn Error>> {
        self.ask(Request::Pause).map(drop)
    }

    /// Lets it run to its next stop.
    pub(crate) fn next_stop(&self) -> Result<(), Box<dyn Error>> {
        let status = self.ask(Request::Continue)?;
        self.wait_stop(status.resumes)
    }

    /// Steps over a statement, to the stop behind it.
    pub(crate) fn step_over(&self) -> Result<(), Box<dyn Error>> {
        let status = self.ask(Request::Step {
            thread: None,
            kind: StepKind::Over,
            count: 1,
        })?;
        self.wait_stop(status.resumes)
    }

    /// The first frames of the stopped thread.
    pub(crate) fn stack(&self, count: u32) -> Result<Vec<Frame>, Box<dyn Error>> {
        let request = Request::Stack {
            thread: None,
            start: 0,
            count,
        };
        match self.session.request(request, deadline())? {
            Reply::Stack { frames, .. } => Ok(frames),
            other => Err(format!("expected a stack, not {other:?}").into()),
        }
    }

    /// Looks at variables.
    pub(crate) fn variables(&self, query: VariablesQuery) -> Result<Vec<Variable>, Box<dyn Error>> {
        let request = Request::Variables(Box::new(query));
        match self.session.request(request, deadline())? {
            Reply::Variables(variables) => Ok(variables.variables),
            other => Err(format!("expected variables, not {other:?}").into()),
        }
    }

    /// Evaluates one expression; its value as text.
    pub(crate) fn evaluate(&self, request: Evaluate) -> Result<String, Box<dyn Error>> {
        match self
            .session
            .request(Request::Evaluate(request), deadline())?
        {
            Reply::Evaluated(values) => match values.into_iter().next().map(|it| it.outcome) {
                Some(Ok(value)) => Ok(value.text),
                other => Err(format!("expected a value, not {other:?}").into()),
            },
            other => Err(format!("expected a value, not {other:?}").into()),
        }
    }

    /// Its breakpoints.
    pub(crate) fn breakpoints(&self) -> Result<Vec<Breakpoint>, Box<dyn Error>> {
        match self.session.request(Request::Breakpoints, deadline())? {
            Reply::Breakpoints { breakpoints, .. } => Ok(breakpoints),
            other => Err(format!("expected breakpoints, not {other:?}").into()),
        }
    }

    /// Its process.
    pub(crate) fn pid(&self) -> Result<u32, Box<dyn Error>> {
        let pid = self.session.status().pid;
        Ok(pid.ok_or("there is no program")?.0)
    }

    /// The process of the host: the parent of what it launched.
    pub(crate) fn host_pid(&self) -> Result<u32, Box<dyn Error>> {
        let process = procfs::process(self.pid()?).ok_or("the program is gone")?;
        Ok(process.parent)
    }
}

/// Gives a program time to get going, so that it is not stopped in the middle of being let go.
pub(crate) fn let_it_run() {
    std::thread::sleep(Duration::from_millis(3));
}
