//! What a server lets its clients do, as whoever started it decided.
//!
//! Invariant: a session begins only after [`Policy::check_start`], and everything that a client asks of its program goes
//! through [`Policy::check_request`], whatever tool it came from. A refusal names the option that asks for it.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use host::api::{Attach, Error, ErrorCode, Launch, Request, SourceText};

use crate::program::Build;
use crate::report::text;
use crate::session::{Recipe, Start};

/// What clients may do. The default allows all that the user who runs the server may do to programs of their own.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// Programs are looked at and not changed, and none is launched but those below `roots`.
    pub read_only: bool,
    /// Which running programs may be attached to.
    pub attach: AllowAttach,
    /// The folders that programs and sources must lie in; everywhere if empty.
    pub roots: Roots,
    /// How long a session is kept that nothing is asked of.
    pub idle_limit: Option<Duration>,
}

/// Which running programs may be attached to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AllowAttach {
    /// None.
    None,
    /// Those of the user that the server runs as.
    #[default]
    Own,
    /// All that the system lets a debugger into, such as those of other users for root.
    Any,
}

/// Folders, with everything below them.
#[derive(Debug, Clone, Default)]
pub struct Roots(Vec<PathBuf>);

impl Roots {
    /// These folders, which must be there; or why not.
    pub fn new(folders: &[PathBuf]) -> Result<Self, String> {
        let real = |folder: &PathBuf| match folder.canonicalize() {
            Ok(real) if real.is_dir() => Ok(real),
            Ok(_) => Err(format!("{} is no folder", folder.display())),
            Err(error) => Err(format!("{}: {error}", folder.display())),
        };
        folders.iter().map(real).collect::<Result<_, _>>().map(Self)
    }

    /// Whether a file lies below one of them, wherever links lead. One that is not there is judged by its name.
    fn hold(&self, path: &Path) -> bool {
        let real = path.canonicalize().unwrap_or_else(|_| lexical(path));
        self.0.is_empty() || self.0.iter().any(|root| real.starts_with(root))
    }

    fn limit(&self) -> bool {
        !self.0.is_empty()
    }

    fn names(&self) -> String {
        let names: Vec<_> = self
            .0
            .iter()
            .map(|it| it.to_string_lossy().into_owned())
            .collect();
        names.join(", ")
    }
}

/// A path without `..`, where the file system cannot be asked.
fn lexical(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}

/// The tools that only change a program.
const CHANGING: [&str; 3] = ["variable_set", "debug_goto", "process_input"];
/// The tools that launch one.
const LAUNCHING: [&str; 3] = ["debug_launch", "debug_launch_test", "debug_restart"];

impl Policy {
    /// Whether a tool can do anything here.
    pub(crate) fn offers(&self, tool: &str) -> bool {
        let changing = self.read_only && CHANGING.contains(&tool);
        let launching = self.read_only && !self.roots.limit() && LAUNCHING.contains(&tool);
        let attaching = self.attach == AllowAttach::None && tool == "debug_attach";
        !(changing || launching || attaching)
    }

    /// What clients are told of it, behind the instructions.
    pub(crate) fn told(&self) -> String {
        let mut lines = Vec::new();
        if self.read_only {
            lines.push(
                "- This server only looks (--read-only): no code of a program is run for you, conditions included, nothing is \
                 set, and attached programs are not ended."
                    .to_owned(),
            );
            if !self.roots.limit() {
                lines.push("- It launches nothing: process_list, then debug_attach.".into());
            }
        }
        if self.roots.limit() {
            lines.push(format!(
                "- Programs and sources must lie below {} (--root).",
                self.roots.names()
            ));
        }
        if self.attach == AllowAttach::None {
            lines.push("- It attaches to nothing (--allow-attach none).".into());
        }
        if let Some(limit) = self.idle_limit {
            lines.push(format!(
                "- A session that nothing is asked of for {} is ended (--idle-limit).",
                minutes(limit)
            ));
        }
        if lines.is_empty() {
            return String::new();
        }
        format!("\nHere:\n{}\n", lines.join("\n"))
    }

    /// Refuses a session that may not begin.
    pub(crate) fn check_start(&self, recipe: &Recipe) -> Result<(), Error> {
        for map in &recipe.maps {
            self.check_root("the folder of sources", Path::new(&map.to))?;
        }
        match &recipe.start {
            Start::Attach(attach) => self.check_attach(attach),
            Start::Launch(launch, build) => self.check_launch(launch, build),
        }
    }

    fn check_launch(&self, launch: &Launch, build: &Build) -> Result<(), Error> {
        if !self.roots.limit() {
            return match self.read_only {
                false => Ok(()),
                true => Err(read_only(
                    "launching a program",
                    "process_list shows programs that run, debug_attach takes one; with --root as well, programs below it \
                     are launched",
                )),
            };
        }
        self.check_root("the program", &launch.program)?;
        if let Some(cwd) = &launch.cwd {
            self.check_root("the working directory", cwd)?;
        }
        let set = launch.env.iter().filter(|(_, value)| value.is_some());
        let mut set = set.map(|(name, _)| name);
        if host::project::is_project(&launch.program) {
            // MSBuild takes every variable for a property, and some of those name files that it runs.
            return match set.next() {
                None => Ok(()),
                Some(name) => Err(denied(
                    format!("setting {name:?}, which would be a property of the build,"),
                    "--root",
                )
                .hint("launch the built program with env, or the project without")),
            };
        }
        if let Some(name) = set.find(|name| loads_code(name)) {
            return Err(denied(
                format!("setting {name:?}, which could make the program load code from anywhere,"),
                "--root",
            )
            .hint("leave it out of env"));
        }
        if build.tests.is_some() && !launch.args.is_empty() {
            return Err(denied(
                "giving args to a test runner, which can name code that it loads,",
                "--root",
            )
            .hint("leave args out; filter chooses tests"));
        }
        Ok(())
    }

    /// Refuses a process that may not be attached to.
    pub(crate) fn check_attach(&self, attach: &Attach) -> Result<(), Error> {
        let pid = attach.pid.0;
        if self.attach == AllowAttach::None {
            return Err(
                denied("attaching to a program", "--allow-attach none").hint(LAUNCH_INSTEAD)
            );
        }
        // One that is gone is told by whoever attaches.
        let owner = |process: &str| fs::metadata(format!("/proc/{process}")).map(|it| it.uid());
        if self.attach == AllowAttach::Own
            && let (Ok(owner), Ok(me)) = (owner(&pid.to_string()), owner("self"))
            && owner != me
        {
            let what = format!("attaching to process {pid}, which belongs to another user,");
            return Err(denied(what, "without --allow-attach any").hint(LAUNCH_INSTEAD));
        }
        if self.roots.limit()
            && let Some(program) = program_of(pid)
        {
            self.check_root("the program", &program)?;
        }
        Ok(())
    }

    fn check_root(&self, what: &str, path: &Path) -> Result<(), Error> {
        if self.roots.hold(path) {
            return Ok(());
        }
        let shown = text::quoted(&path.to_string_lossy(), 200);
        let what = format!("{what} {shown} lies elsewhere, which");
        Err(denied(what, "--root")
            .hint(format!("allowed is what lies below {}", self.roots.names())))
    }

    /// The text of a source file that a client names by its path.
    pub(crate) fn check_source(&self, file: &str) -> Result<(), Error> {
        self.check_root("the source file", Path::new(file))
    }

    /// The text of a source file that a program's symbols name: they can name any file.
    pub(crate) fn check_text(&self, source: &SourceText) -> Result<(), Error> {
        match source.embedded {
            true => Ok(()),
            false => self.check_source(&source.path),
        }
    }

    /// Takes back a hint to do what is not allowed here.
    pub(crate) fn correct_hint(&self, error: &mut Error) {
        let hints_at_it = |hint: &String| hint.contains("side_effects=true");
        if self.read_only && error.hint.as_ref().is_some_and(hints_at_it) {
            error.hint = Some("this server was started with --read-only: it runs no code".into());
        }
    }

    /// Refuses what may not be asked of a program; `attached` says whether it was attached to.
    pub(crate) fn check_request(&self, request: &Request, attached: bool) -> Result<(), Error> {
        if !self.read_only {
            return Ok(());
        }
        let look = "evaluate without side_effects, variables_get and object_inspect look without changing anything";
        let (what, hint) = match request {
            Request::SetVariable(_) => ("setting a variable", look),
            Request::Evaluate(it) if it.side_effects || it.view.run_code => {
                ("evaluating with side effects", look)
            }
            Request::Variables(it) | Request::InspectObject(it) if it.view.run_code => {
                ("running code to show values", look)
            }
            Request::OpenValue(_) => ("running a getter", look),
            Request::KeepObject(_) | Request::ReleaseObject(_) => ("keeping an object alive", look),
            Request::Goto { .. } => (
                "choosing the next statement",
                "debug_step and debug_run_to run the program as it is",
            ),
            Request::Freeze { .. } => (
                "freezing or thawing a thread",
                "threads_get without them lists the threads",
            ),
            Request::Input { .. } => (
                "writing to the program's standard input",
                "process_output tells what it wrote",
            ),
            Request::Disconnect {
                terminate: Some(true),
                ..
            } if attached => (
                "ending a program that was attached to",
                "debug_disconnect without terminate lets it run on",
            ),
            // Every request is named here, so that a new one is judged by whoever adds it.
            Request::Launch(_)
            | Request::Attach(_)
            | Request::Continue
            | Request::Pause
            | Request::Status
            | Request::Output(_)
            | Request::DrainOutput(_)
            | Request::Stack { .. }
            | Request::AsyncStack { .. }
            | Request::Exception { .. }
            | Request::SetBreakpoint(_)
            | Request::ChangeBreakpoint { .. }
            | Request::RemoveBreakpoint(_)
            | Request::Breakpoints
            | Request::SetSourceMaps(_)
            | Request::RequireExactSource(_)
            | Request::SetExceptionBreakpoint(_)
            | Request::StopAtUnhandled(_)
            | Request::ForbidSideEffects
            | Request::Evaluate(_)
            | Request::CancelEvaluation
            | Request::Complete(_)
            | Request::Threads
            | Request::Modules
            | Request::Symbols(_)
            | Request::Type(_)
            | Request::Source { .. }
            | Request::SourceFiles
            | Request::Statements { .. }
            | Request::Step { .. }
            | Request::GotoTargets { .. }
            | Request::StepTargets { .. }
            | Request::StepIntoTarget { .. }
            | Request::Variables(_)
            | Request::ReadMemory { .. }
            | Request::InspectObject(_)
            | Request::RunTo(_)
            | Request::SetStepOptions(_)
            | Request::Disconnect { .. } => return Ok(()),
        };
        Err(read_only(what, hint))
    }
}

const LAUNCH_INSTEAD: &str =
    "debug_launch starts a program under the debugger; whoever started this server can allow it";

fn read_only(what: &str, hint: &str) -> Error {
    denied(what, "--read-only").hint(hint)
}

fn denied(what: impl Into<String>, option: &str) -> Error {
    let message = format!(
        "{} is not allowed: this server was started {option}",
        what.into()
    );
    let message = message.replace("started --", "started with --");
    Error::new(ErrorCode::PermissionDenied, message)
}

/// A time in words.
pub(crate) fn minutes(limit: Duration) -> String {
    match limit.as_secs() {
        60 => "1 minute".into(),
        seconds if seconds % 60 == 0 => format!("{} minutes", seconds / 60),
        _ => format!("{} s", limit.as_secs_f32()),
    }
}

/// Whether a variable can make a .NET program load code that is not its own: the loader's and the runtime's settings.
fn loads_code(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let families = [
        "LD_", "DOTNET_", "COMPLUS_", "CORECLR_", "COR_", "MSBUILD", "OPENSSL_", "GLIBC_",
    ];
    let others = ["PATH", "GCONV_PATH", "ASPNETCORE_HOSTINGSTARTUPASSEMBLIES"];
    others.contains(&name.as_str())
        || (name != "DOTNET_ENVIRONMENT" && families.iter().any(|it| name.starts_with(it)))
}

/// The file of a running program: its executable, or the assembly that `dotnet` runs.
fn program_of(pid: u32) -> Option<PathBuf> {
    let link = |name: &str| fs::read_link(format!("/proc/{pid}/{name}")).ok();
    let executable = link("exe")?;
    if executable.file_name().is_none_or(|name| name != "dotnet") {
        return Some(executable);
    }
    let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words = line.split(|byte| *byte == 0).skip(1);
    let mut words = words.map(String::from_utf8_lossy);
    let assembly = words.find(|word| word.ends_with(".dll") || word.ends_with(".exe"));
    Some(match assembly {
        Some(assembly) => link("cwd")?.join(assembly.as_ref()),
        None => executable,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::TOOLS;
    use host::api::ProcessId;

    #[test]
    fn tools_that_are_left_out_exist() {
        for name in CHANGING.iter().chain(&LAUNCHING) {
            assert!(TOOLS.iter().any(|tool| tool.name == *name), "{name}");
        }
    }

    #[test]
    fn files_are_judged_where_links_lead() {
        let folder = std::env::temp_dir().join(format!("ndbg-policy-{}", std::process::id()));
        let inside = folder.join("in");
        fs::create_dir_all(&inside).expect("a folder");
        fs::write(folder.join("out.dll"), "").expect("a file");
        fs::write(inside.join("app.dll"), "").expect("a file");
        std::os::unix::fs::symlink(folder.join("out.dll"), inside.join("link.dll"))
            .expect("a link");
        let roots = Roots::new(std::slice::from_ref(&inside)).expect("a folder");
        for (path, expected) in [
            ("app.dll", true),
            ("missing.dll", true),
            ("", true),
            ("../out.dll", false),
            ("link.dll", false),
            ("../missing.dll", false),
            ("x/../../missing.dll", false),
            ("../in2/app.dll", false),
            ("/", false),
        ] {
            assert_eq!(roots.hold(&inside.join(path)), expected, "{path}");
        }
        assert!(Roots::default().hold(Path::new("/")));
        assert!(Roots::new(&[folder.join("none")]).is_err());
        assert!(Roots::new(&[folder.join("out.dll")]).is_err());
        fs::remove_dir_all(folder).expect("removed");
    }

    #[test]
    fn variables_that_load_code_are_known() {
        for name in [
            "LD_PRELOAD",
            "DOTNET_STARTUP_HOOKS",
            "CORECLR_PROFILER_PATH",
            "complus_GCName",
            "PATH",
            "OPENSSL_CONF",
            "GCONV_PATH",
            "ASPNETCORE_HOSTINGSTARTUPASSEMBLIES",
        ] {
            assert!(loads_code(name), "{name}");
        }
        for name in [
            "ASPNETCORE_URLS",
            "DOTNET_ENVIRONMENT",
            "HOME",
            "LDAP_SERVER",
        ] {
            assert!(!loads_code(name), "{name}");
        }
    }

    #[test]
    fn processes_of_others_need_a_word() {
        // Process 1 belongs to root; whoever runs the tests may be root, too.
        let me = fs::metadata("/proc/self").expect("a process").uid();
        let attach = Attach::to(ProcessId(1));
        let judged = |attach_to| {
            let policy = Policy {
                attach: attach_to,
                ..Policy::default()
            };
            policy.check_attach(&attach).is_ok()
        };
        assert_eq!(judged(AllowAttach::Own), me == 0);
        assert!(judged(AllowAttach::Any));
        assert!(!judged(AllowAttach::None));
    }
}
