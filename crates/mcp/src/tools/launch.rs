//! Beginning and ending sessions.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use host::api::{
    Attach, Error, ErrorCode, ExceptionSpec, Follow, Launch, ProcessId, SourceMap, StepOptions,
};
use host::testing::TestOptions;
use schemars::JsonSchema;
use serde::Deserialize;

use super::breakpoints::{self, Wanted, WantedException};
use super::run::WaitArguments;
use super::statement::ByText;
use super::{Call, processes, run, statement};
use crate::news::Over;
use crate::policy::Policy;
use crate::program::Build;
use crate::registry::Which;
use crate::report::Report;
use crate::reporting::{self, Purpose};
use crate::schema::JsonObject;
use crate::session::{Recipe, Start, Waited};

/// How long the end of a session is waited for.
const END: Duration = Duration::from_secs(15);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LaunchArguments {
    /// Path of a .dll, an executable, or a project file or folder, which is built first.
    program: String,
    /// Arguments; no shell looks at them.
    #[serde(default)]
    args: Vec<String>,
    /// Working directory.
    cwd: Option<String>,
    /// Environment variables to set; null removes one.
    #[serde(default)]
    env: BTreeMap<String, Option<String>>,
    /// Build configuration; Debug if absent.
    configuration: Option<String>,
    /// Framework, if it targets several, such as net9.0.
    framework: Option<String>,
    /// Debug a .NET process that the program starts, as `dotnet run` does: true the first that is no SDK tool, a text one
    /// with it in its command line.
    #[serde(default)]
    #[schemars(schema_with = "follow_schema")]
    follow_child: Option<FollowChild>,
    /// Set before the first line runs: objects as breakpoint_set takes them.
    #[serde(default)]
    breakpoints: Vec<JsonObject>,
    /// Likewise, as breakpoint_set_exception takes them.
    #[serde(default)]
    exceptions: Vec<JsonObject>,
    /// Where sources are that the compiler saw elsewhere: {"/_/src": "/home/me/src"}.
    #[serde(default)]
    source_maps: BTreeMap<String, String>,
    /// Leave the user's code optimised as it was built.
    #[serde(default)]
    keep_optimized: bool,
    /// Whether steps stop only in code with symbols that no attribute takes out.
    #[serde(default = "run::yes")]
    just_my_code: bool,
    /// Stop at the first line of Main.
    #[serde(default)]
    stop_at_entry: bool,
    /// The program goes on after that: debug_wait waits on.
    #[serde(default = "run::timeout_ms")]
    #[schemars(range(max = 600_000))]
    timeout_ms: u64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TestArguments {
    /// Test project file or folder, which is built first, or a built test .dll.
    program: String,
    /// Tests to run, as for `dotnet test --filter`: a part of the name, or "FullyQualifiedName=A.B.C".
    filter: Option<String>,
    /// Whether to stop where a test fails.
    #[serde(default = "run::yes")]
    stop_at_failure: bool,
    /// More arguments for the test runner.
    #[serde(default)]
    args: Vec<String>,
    /// As for debug_launch.
    cwd: Option<String>,
    /// As for debug_launch.
    #[serde(default)]
    env: BTreeMap<String, Option<String>>,
    /// As for debug_launch.
    configuration: Option<String>,
    /// As for debug_launch.
    framework: Option<String>,
    /// As for debug_launch.
    #[serde(default)]
    breakpoints: Vec<JsonObject>,
    /// As for debug_launch.
    #[serde(default)]
    exceptions: Vec<JsonObject>,
    /// As for debug_launch.
    #[serde(default = "run::timeout_ms")]
    #[schemars(range(max = 600_000))]
    timeout_ms: u64,
}

/// Which process of a launch is wanted.
#[derive(Deserialize)]
#[serde(untagged)]
enum FollowChild {
    Any(bool),
    Containing(String),
}

fn follow_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": ["boolean", "string"]})
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AttachArguments {
    /// Process id; process_list tells it.
    pid: Option<u32>,
    /// Instead of pid: a part of its command line that no other has.
    name: Option<String>,
    /// As for debug_launch.
    #[serde(default = "run::yes")]
    just_my_code: bool,
    /// As for debug_launch.
    #[serde(default)]
    source_maps: BTreeMap<String, String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DisconnectArguments {
    /// Id, if several.
    session: Option<String>,
    /// true ends the program, false lets it run on. Default: ends a launched one only.
    terminate: Option<bool>,
    /// Ends the program's child processes too, if it is ended.
    #[serde(default)]
    children: bool,
}

pub(super) async fn launch(call: &Call, arguments: LaunchArguments) -> Result<Report, Error> {
    let timeout_ms = arguments.timeout_ms;
    let maps = source_maps(&arguments.source_maps);
    let build = Build {
        configuration: arguments.configuration.clone(),
        framework: arguments.framework.clone(),
        tests: None,
    };
    let (launch, texts) = checked(call, arguments).await?;
    let recipe = Recipe {
        maps,
        texts,
        ..recipe(Start::Launch(Box::new(launch), build))
    };
    let session = call.registry.begin(recipe)?;
    call.first_report(&session, timeout_ms).await
}

pub(super) async fn launch_test(call: &Call, arguments: TestArguments) -> Result<Report, Error> {
    let timeout_ms = arguments.timeout_ms;
    let build = Build {
        configuration: arguments.configuration,
        framework: arguments.framework,
        tests: Some(TestOptions {
            filter: arguments.filter.filter(|text| !text.trim().is_empty()),
            run_settings: None,
        }),
    };
    if build
        .tests
        .iter()
        .flat_map(|it| &it.filter)
        .any(|text| text.contains('\0'))
    {
        return Err(Error::new(
            ErrorCode::InvalidParameter,
            "filter holds the character U+0000",
        )
        .hint("leave that character out"));
    }
    let stop_at_failure = arguments.stop_at_failure;
    let arguments = LaunchArguments {
        program: arguments.program,
        args: arguments.args,
        cwd: arguments.cwd,
        env: arguments.env,
        configuration: None,
        framework: None,
        follow_child: None,
        breakpoints: arguments.breakpoints,
        exceptions: arguments.exceptions,
        source_maps: BTreeMap::new(),
        keep_optimized: false,
        just_my_code: true,
        stop_at_entry: false,
        timeout_ms,
    };
    let (mut launch, texts) = checked(call, arguments).await?;
    if stop_at_failure {
        launch.exceptions.push(ExceptionSpec {
            thrown: false,
            unhandled: false,
            escaping: true,
            ..ExceptionSpec::all()
        });
    }
    let recipe = Recipe {
        texts,
        ..recipe(Start::Launch(Box::new(launch), build))
    };
    let session = call.registry.begin(recipe)?;
    call.first_report(&session, timeout_ms).await
}

/// A launch, and which of its breakpoints are named by a text.
type Checked = (Launch, Vec<ByText>);

/// Looks at files: where a program is, and where a statement stands in its source.
async fn checked(call: &Call, arguments: LaunchArguments) -> Result<Checked, Error> {
    let policy = call.registry.policy().clone();
    tokio::task::spawn_blocking(move || check(&policy, arguments))
        .await
        .map_err(|_| Error::new(ErrorCode::Internal, "a bug in ndbg: the launch failed"))?
}

fn check(policy: &Policy, arguments: LaunchArguments) -> Result<Checked, Error> {
    let invalid = |message: String| Error::new(ErrorCode::InvalidParameter, message);
    if arguments.program.trim().is_empty() {
        return Err(invalid("program is empty".into())
            .hint("give the path of a .dll, an executable or a project"));
    }
    let texts = arguments
        .args
        .iter()
        .chain(arguments.env.values().flatten())
        .chain(&arguments.cwd);
    if texts
        .chain([&arguments.program])
        .any(|text| text.contains('\0'))
    {
        return Err(
            invalid("a text for a program cannot hold the character U+0000".into())
                .hint("leave that character out of program, args, env and cwd"),
        );
    }
    if let Some(name) = arguments
        .env
        .keys()
        .find(|name| name.is_empty() || name.contains(['=', '\0']))
    {
        return Err(invalid(format!(
            "{name:?} cannot be the name of an environment variable"
        ))
        .hint("env={\"NAME\": \"value\"}; null as value removes a variable"));
    }
    // The engine runs in another process: what is relative to us must be settled here.
    let absolute = |path: &str| {
        std::path::absolute(path).map_err(|error| {
            Error::new(
                ErrorCode::InvalidFile,
                format!("{path:?} is not a path: {error}"),
            )
            .hint("give a path, absolute or from where ndbg was started")
        })
    };
    if arguments.cwd.as_deref() == Some("") {
        return Err(invalid("cwd is an empty text".into())
            .hint("give a folder, or leave cwd out to use the current one"));
    }
    let cwd: Option<PathBuf> = arguments.cwd.as_deref().map(absolute).transpose()?;
    let follow = match arguments.follow_child {
        None | Some(FollowChild::Any(false)) => Follow::Program,
        Some(FollowChild::Any(true)) => Follow::Child { command_line: None },
        Some(FollowChild::Containing(text)) => Follow::Child {
            command_line: Some(text).filter(|text| !text.is_empty()),
        },
    };
    let program = match command_on_path(&arguments.program) {
        Some(command) => command,
        None => absolute(&arguments.program)?,
    };
    let breakpoints = breakpoints::each::<Wanted>("breakpoints", arguments.breakpoints)?;
    let exceptions = breakpoints::each::<WantedException>("exceptions", arguments.exceptions)?;
    let named = |exception: WantedException| {
        exception.spec()?.ok_or_else(|| {
            invalid("exceptions: no exception type is named".into())
                .hint("types=[\"System.FormatException\"], or types=[\"*\"] for every type")
        })
    };
    let maps = source_maps(&arguments.source_maps);
    let mut texts = Vec::new();
    let mut spec = |wanted: Wanted| {
        let text = wanted.text();
        let spec = wanted
            .spec(|file| statement::read_of(policy, &program, &maps, cwd.as_deref(), file))?;
        texts.extend(text.map(|text| ByText {
            place: spec.place.clone(),
            text,
        }));
        Ok::<_, Error>(spec)
    };
    let breakpoints = breakpoints
        .into_iter()
        .map(&mut spec)
        .collect::<Result<_, _>>()?;
    let launch = Launch {
        breakpoints,
        exceptions: exceptions
            .into_iter()
            .map(named)
            .collect::<Result<_, _>>()?,
        program,
        follow,
        args: arguments.args,
        cwd,
        env: arguments.env,
        steps: StepOptions {
            just_my_code: arguments.just_my_code,
            ..StepOptions::default()
        },
        keep_optimized: arguments.keep_optimized,
        stop_at_entry: arguments.stop_at_entry,
        ..Launch::default()
    };
    Ok((launch, texts))
}

fn recipe(start: Start) -> Recipe {
    Recipe {
        start,
        maps: Vec::new(),
        passes_unhandled: false,
        texts: Vec::new(),
        remarks: Vec::new(),
    }
}

fn source_maps(maps: &BTreeMap<String, String>) -> Vec<SourceMap> {
    let map = |(from, to): (&String, &String)| SourceMap {
        from: from.clone(),
        to: to.clone(),
    };
    maps.iter().map(map).collect()
}

/// The file of a command such as `dotnet`, if there is none of that name here.
fn command_on_path(program: &str) -> Option<PathBuf> {
    if program.contains('/') || std::path::Path::new(program).exists() {
        return None;
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}

pub(super) async fn attach(call: &Call, arguments: AttachArguments) -> Result<Report, Error> {
    let pid = match (arguments.pid, arguments.name) {
        (Some(pid), None) => pid,
        (None, Some(name)) => processes::named(&name).await?,
        (None, None) => {
            return Err(Error::new(
                ErrorCode::InvalidParameter,
                "debug_attach needs a pid or a name",
            )
            .hint("process_list shows the processes"));
        }
        (Some(_), Some(_)) => {
            return Err(Error::new(
                ErrorCode::InvalidParameter,
                "debug_attach takes a pid or a name, not both",
            )
            .hint("leave name out: the pid is exact"));
        }
    };
    if let Some(session) = call.registry.of_process(pid) {
        let message = format!("process {pid} is debugged by {session} already");
        return Err(Error::new(ErrorCode::AlreadyDebugged, message)
            .hint(format!("use session={session:?}")));
    }
    let attach = Attach {
        steps: StepOptions {
            just_my_code: arguments.just_my_code,
            ..StepOptions::default()
        },
        ..Attach::to(ProcessId(pid))
    };
    let maps = source_maps(&arguments.source_maps);
    let recipe = Recipe {
        maps,
        ..recipe(Start::Attach(attach))
    };
    let session = call.registry.begin(recipe)?;
    // Returns as soon as the program is attached to: it runs on, and there may be no stop for hours.
    call.attached(&session).await
}

/// Ends a program if it runs, and launches it again as it was launched, with the breakpoints it has now.
pub(super) async fn restart(call: &Call, arguments: WaitArguments) -> Result<Report, Error> {
    let session = call
        .registry
        .find(arguments.session.as_deref(), Which::Any)?;
    let recipe = session.blocking(|session| session.again()).await??;
    if !session.is_over() {
        session.disconnect(Some(true), true).await?;
        let deadline = tokio::time::Instant::now() + END;
        if session.wait_over(deadline).await == Waited::TimedOut {
            let message = format!("{} does not end, so it is not started again", session.id());
            return Err(Error::new(ErrorCode::Timeout, message)
                .hint("debug_status tells its state; debug_launch starts the program beside it"));
        }
    }
    let again = call.registry.begin(recipe)?;
    call.first_report(&again, arguments.timeout_ms).await
}

pub(super) async fn disconnect(
    call: &Call,
    arguments: DisconnectArguments,
) -> Result<Report, Error> {
    let session = call
        .registry
        .find(arguments.session.as_deref(), Which::Any)?;
    session
        .disconnect(arguments.terminate, arguments.children)
        .await?;
    let deadline = tokio::time::Instant::now() + END;
    let waited = match session.wait_over(deadline).await {
        Waited::Settled | Waited::Passed => None,
        Waited::TimedOut => Some(END),
    };
    // That a start was given up, or a host had died, is what became of the session, not a failure of this call.
    let purpose = match session.news().over {
        Some(Over::Failed(_)) => Purpose::Status { brief: true },
        _ => Purpose::Stop { waited },
    };
    reporting::report(&session, purpose).await
}
