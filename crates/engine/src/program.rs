//! From a launch request to a command line; whatever could not be debugged is refused here, before it is started.
//!
//! Invariant: a refusal says what was asked, why not, and what to do instead.

mod dotnet;
mod expected;
mod kind;
mod sources;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::api::{EnvChange, Error, ErrorCode, Follow, Launch};
pub use dotnet::{install_folders, locate_dotnet};
use kind::Kind;
pub use sources::{source_is_changed, sources_named};

/// The command that runs the program, without its standard streams.
pub(crate) fn command(launch: &Launch) -> Result<Command, Error> {
    check_texts(launch)?;
    let folder = match &launch.cwd {
        Some(folder) => Some(working_folder(folder)?),
        None => None,
    };
    let program = find(&launch.program, folder.as_deref())?;
    let environment = Environment(&launch.env);
    if let Some(setting) = debugging_switched_off(|name| environment.get(name)) {
        return Err(Error::new(
            ErrorCode::DebuggingDisabled,
            format!(
                "the program would run with {setting}, which switches debugging off in its runtime"
            ),
        )
        .hint("remove that variable from the environment (in `env`, null removes one)"));
    }
    let temporary = temporary_folder(|name| environment.get(name));
    // The runtime takes a relative one as seen from the program's folder.
    let temporary = folder
        .as_deref()
        .map_or_else(|| temporary.clone(), |folder| folder.join(&temporary));
    check_temporary_folder(&temporary)?;
    let kind = kind::of(&program).map_err(|error| unreadable(&program, &error))?;
    let mut command = match (&launch.follow, kind) {
        (_, Kind::Assembly { entry_point }) => {
            check_assembly(&program, entry_point)?;
            let mut command = Command::new(environment.dotnet()?);
            command.arg("exec").arg(&program);
            command
        }
        // The program only has to be something that the system can run; what it starts is debugged.
        (Follow::Child { .. }, _) | (Follow::Program, Kind::Host) => {
            check_executable(&program)?;
            Command::new(&program)
        }
        (Follow::Program, kind) => return Err(not_debuggable(&program, &kind)),
    };
    command.args(&launch.args);
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    for (name, value) in &launch.env {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    Ok(command)
}

/// The folder of the runtime that a program will most likely use.
pub(crate) fn expected_runtime(launch: &Launch) -> Option<PathBuf> {
    let program = find(&launch.program, launch.cwd.as_deref()).ok()?;
    expected::runtime_folder(&program, |name| Environment(&launch.env).get(name))
}

/// Whether an assembly refers to another one of this name; `false` also for what is no assembly.
pub fn refers_to(assembly: &Path, name: &str) -> bool {
    kind::refers_to(assembly, name).unwrap_or(false)
}

/// The program and its arguments, for people.
pub(crate) fn describe(launch: &Launch) -> String {
    let program = launch.program.display().to_string();
    crate::processes::quoted(std::iter::once(&program).chain(&launch.args))
}

/// The variable, with its value, that switches debugging off in a runtime with this environment.
pub(crate) fn debugging_switched_off(
    variable: impl Fn(&str) -> Option<OsString>,
) -> Option<String> {
    ["EnableDiagnostics", "EnableDiagnostics_Debugger"]
        .into_iter()
        .find_map(|setting| {
            // The runtime looks at the second name only where the first is not set.
            let (name, value) = ["DOTNET_", "COMPlus_"].into_iter().find_map(|prefix| {
                let name = format!("{prefix}{setting}");
                variable(&name).map(|value| (name, value))
            })?;
            let text = value.to_string_lossy();
            let digits = text.trim_start();
            // Settings are hexadecimal numbers; anything else counts as not set.
            let digits = digits.strip_prefix("0x").unwrap_or(digits);
            let zero = digits.starts_with('0')
                && digits
                    .chars()
                    .take_while(char::is_ascii_hexdigit)
                    .all(|digit| digit == '0');
            zero.then(|| format!("{name}={text}"))
        })
}

/// Where a runtime with this environment makes its pipes.
pub(crate) fn temporary_folder(variable: impl Fn(&str) -> Option<OsString>) -> PathBuf {
    let set = variable("TMPDIR").filter(|folder| !folder.is_empty());
    set.map_or_else(|| PathBuf::from("/tmp"), PathBuf::from)
}

/// A runtime that cannot make its pipes runs on without them, and no debugger can reach it.
fn check_temporary_folder(folder: &Path) -> Result<(), Error> {
    crate::doctor::folders::try_pipes(folder).map_err(|error| {
        Error::new(
            ErrorCode::LaunchFailed,
            format!(
                "the program could not be debugged: its runtime needs pipes in the temporary folder {}, where none can \
                 be made: {error}",
                folder.display()
            ),
        )
        .hint(match error.kind() {
            io::ErrorKind::NotFound => {
                "create that folder, or set TMPDIR to one that exists; `ndbg doctor` tells more"
            }
            io::ErrorKind::NotADirectory => {
                "set TMPDIR to a folder, or remove it from the environment"
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                "set TMPDIR to a folder that you may write to; `ndbg doctor` tells more"
            }
            _ => "make room in that folder, or set TMPDIR to another one; `ndbg doctor` tells more",
        })
    })
}

/// The environment that the program will have.
struct Environment<'a>(&'a BTreeMap<String, EnvChange>);

impl Environment<'_> {
    fn get(&self, name: &str) -> Option<OsString> {
        match self.0.get(name) {
            Some(change) => change.clone().map(OsString::from),
            None => std::env::var_os(name),
        }
    }

    /// The `dotnet` command that would run a `.dll`.
    fn dotnet(&self) -> Result<PathBuf, Error> {
        locate_dotnet(|name| self.get(name)).ok_or_else(|| {
            Error::new(
                ErrorCode::RuntimeNotFound,
                "no dotnet command was found in DOTNET_ROOT, PATH and the usual folders",
            )
            .hint("install .NET or set DOTNET_ROOT to the folder that holds dotnet")
        })
    }
}

/// Strings that the system cannot take are refused with their place.
fn check_texts(launch: &Launch) -> Result<(), Error> {
    let refuse = |what: String, why: &str| {
        Err(
            Error::new(ErrorCode::InvalidParameter, format!("{what} {why}")).hint(
                "leave that character out: the system ends texts at a zero byte, and names at `=`",
            ),
        )
    };
    for (index, argument) in launch.args.iter().enumerate() {
        if argument.contains('\0') {
            return refuse(format!("argument {}", index + 1), "holds a zero byte");
        }
    }
    for (name, value) in &launch.env {
        if name.is_empty() || name.contains(['=', '\0']) {
            return refuse(
                format!("the environment variable name {name:?}"),
                "is empty or holds `=` or a zero byte",
            );
        }
        if value.as_ref().is_some_and(|value| value.contains('\0')) {
            return refuse(
                format!("the environment variable {name}"),
                "holds a zero byte",
            );
        }
    }
    Ok(())
}

/// The program's working folder, checked.
fn working_folder(folder: &Path) -> Result<PathBuf, Error> {
    let refuse = |why: &str| {
        Error::new(
            ErrorCode::InvalidFile,
            format!("the working folder {} {why}", folder.display()),
        )
        .hint("create it, or leave `cwd` out to use the current one")
    };
    if folder.as_os_str().is_empty() {
        return Err(Error::new(
            ErrorCode::InvalidFile,
            "the working folder is an empty text",
        )
        .hint("give a folder, or leave `cwd` out to use the current one"));
    }
    let absolute = std::path::absolute(folder).map_err(|error| refuse(&error.to_string()))?;
    match absolute.metadata() {
        Ok(data) if data.is_dir() => Ok(absolute),
        Ok(_) => Err(refuse("is not a folder")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(refuse("does not exist")),
        Err(error) => Err(refuse(&format!("cannot be used: {error}"))),
    }
}

/// The program's absolute path. A relative one is looked for where the front end is, then in the working folder.
fn find(program: &Path, folder: Option<&Path>) -> Result<PathBuf, Error> {
    let shown = program.display();
    if program.as_os_str().is_empty() {
        return Err(
            Error::new(ErrorCode::InvalidFile, "the path of the program is empty")
                .hint("give the path of a .dll or an executable"),
        );
    }
    let here = std::path::absolute(program).map_err(|error| unreadable(program, &error))?;
    let there = folder.map(|folder| folder.join(program));
    let candidates = std::iter::once(here).chain(there);
    let mut refusal = None;
    for candidate in candidates {
        match candidate.metadata() {
            Ok(data) if data.is_file() => return Ok(candidate),
            Ok(data) if data.is_dir() => {
                refusal = Some(
                    Error::new(
                        ErrorCode::InvalidFile,
                        format!("{shown} is a folder, not a program"),
                    )
                    .hint(
                        "give the path of the .dll or executable in it, or of a project to build",
                    ),
                );
            }
            Ok(_) => {
                refusal = Some(
                    Error::new(
                        ErrorCode::InvalidFile,
                        format!("{shown} is not a file that can be run"),
                    )
                    .hint("give the path of a .dll, an executable or a project"),
                );
            }
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) => {}
            Err(error) => return Err(unreadable(program, &error)),
        }
    }
    Err(refusal.unwrap_or_else(|| no_such_file(program)))
}

fn no_such_file(program: &Path) -> Error {
    let looked = match std::env::current_dir() {
        Ok(folder) if program.is_relative() => format!(" in {}", folder.display()),
        _ => String::new(),
    };
    Error::new(
        ErrorCode::InvalidFile,
        format!("there is no file {}{looked}", program.display()),
    )
    .hint("give the path of a .dll, an executable or a project; build it first if it is not there yet")
}

fn unreadable(program: &Path, error: &io::Error) -> Error {
    let message = format!("{} cannot be read: {error}", program.display());
    match error.kind() {
        io::ErrorKind::PermissionDenied => Error::new(ErrorCode::InvalidFile, message)
            .hint("run ndbg as a user who may read it, or change its permissions"),
        _ if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            Error::new(ErrorCode::InvalidFile, message)
                .hint("its links lead in a circle: give the path of the file itself")
        }
        _ => Error::new(ErrorCode::InvalidFile, message),
    }
}

/// A managed assembly can be started if it has a `Main` and a description of the runtime it wants.
fn check_assembly(program: &Path, entry_point: bool) -> Result<(), Error> {
    let shown = program.display();
    if !entry_point {
        return Err(Error::new(
            ErrorCode::InvalidFile,
            format!("{shown} is a library: it has no Main to start"),
        )
        .hint("launch the program that uses it, or attach to that"));
    }
    let config = program.with_extension("runtimeconfig.json");
    if config.is_file() {
        return Ok(());
    }
    let error = Error::new(
        ErrorCode::InvalidFile,
        format!(
            "{shown} cannot be started: {} is not beside it, so nothing says which runtime it needs",
            config.file_name().unwrap_or_default().to_string_lossy()
        ),
    );
    let in_obj = program
        .components()
        .any(|part| part.as_os_str() == "obj" || part.as_os_str() == "ref");
    Err(error.hint(if in_obj {
        "this is an intermediate file of the build: launch the one in the bin folder"
    } else {
        "launch the .dll in the folder that `dotnet build` or `dotnet publish` wrote, with all its files"
    }))
}

/// Whether the system would run the file at all.
fn check_executable(program: &Path) -> Result<(), Error> {
    let executable = program
        .metadata()
        .is_ok_and(|data| data.permissions().mode() & 0o111 != 0);
    if executable {
        return Ok(());
    }
    Err(Error::new(
        ErrorCode::InvalidFile,
        format!(
            "{} may not be run: it is not marked as executable",
            program.display()
        ),
    )
    .hint("chmod +x it, or launch its .dll"))
}

/// Why a file that is not a .NET program, or not one that can be debugged, is refused.
fn not_debuggable(program: &Path, kind: &Kind) -> Error {
    let shown = program.display();
    let refuse = |why: String, hint: &str| {
        Error::new(ErrorCode::NotDotnet, format!("{shown} {why}")).hint(hint)
    };
    match kind {
        Kind::SelfContained => Error::new(
            ErrorCode::RuntimeMismatch,
            format!(
                "{shown} has its runtime inside (a self-contained single file), and the debugger library of that runtime \
                 (libmscordbi.so) is not shipped with it"
            ),
        )
        .hint("debug a build of it that is not published as a self-contained single file"),
        Kind::NativeAot => refuse(
            "is native code, compiled ahead of time: there is no .NET runtime in it to debug".into(),
            "debug a build of it without PublishAot, or use a native debugger such as gdb",
        ),
        Kind::Native => refuse(
            "is a native program, not a .NET one".into(),
            "launch the .NET program itself; for a tool that starts one, follow its child",
        ),
        Kind::OtherMachine => refuse(
            "is an executable for another kind of processor".into(),
            "launch its .dll, or build it for this machine",
        ),
        Kind::Script { interpreter } => refuse(
            format!("is a script (run by {interpreter}), not a .NET program"),
            "launch the program that it starts, or follow its child",
        ),
        Kind::NativePe => refuse(
            "is a native Windows file: it has no managed code".into(),
            "give the path of a managed .dll",
        ),
        Kind::BrokenPe { reason } => Error::new(
            ErrorCode::InvalidFile,
            format!("{shown} is not a whole assembly: {reason}"),
        )
        .hint("build or copy it again"),
        Kind::Other if is_project_like(program) => Error::new(
            ErrorCode::InvalidFile,
            format!("{shown} is source that has to be built first"),
        )
        .hint("build it with `dotnet build` and launch the .dll that it makes"),
        Kind::Other | Kind::Assembly { .. } | Kind::Host => refuse(
            "is neither a managed .dll nor an executable".into(),
            "give the path of a .dll, an apphost executable or a project",
        ),
    }
}

fn is_project_like(program: &Path) -> bool {
    let extension = program.extension().and_then(|it| it.to_str());
    matches!(
        extension,
        Some("csproj" | "fsproj" | "vbproj" | "sln" | "slnx" | "slnf" | "cs" | "fs" | "vb")
    )
}

#[cfg(test)]
mod tests;
