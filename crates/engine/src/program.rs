//! From a launch request to a command line.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::api::{Error, ErrorCode, Launch};

/// The command that runs the program, without its standard streams.
pub(crate) fn command(launch: &Launch) -> Result<Command, Error> {
    let program = &launch.program;
    if !program.exists() {
        return Err(Error::new(
            ErrorCode::InvalidFile,
            format!("there is no file {}", program.display()),
        )
        .hint("give the path of a .dll, an executable or a project"));
    }
    let mut command = if program
        .extension()
        .is_some_and(|extension| extension == "dll")
    {
        let mut command = Command::new(dotnet(launch)?);
        command.arg("exec").arg(program);
        command
    } else {
        Command::new(program)
    };
    command.args(&launch.args);
    if let Some(folder) = &launch.cwd {
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

/// The program and its arguments, for people.
pub(crate) fn describe(launch: &Launch) -> String {
    let program = launch.program.display().to_string();
    std::iter::once(&program)
        .chain(&launch.args)
        .cloned()
        .collect::<Vec<_>>()
        .join(" ")
}

/// The `dotnet` command that would run a `.dll`.
fn dotnet(launch: &Launch) -> Result<PathBuf, Error> {
    let variable = |name: &str| match launch.env.get(name) {
        Some(change) => change.clone().map(Into::into),
        None => std::env::var_os(name),
    };
    locate_dotnet(variable).ok_or_else(|| {
        Error::new(
            ErrorCode::RuntimeNotFound,
            "no dotnet command was found in DOTNET_ROOT, PATH and the usual folders",
        )
        .hint("install .NET or set DOTNET_ROOT to the folder that holds dotnet")
    })
}

/// Looks for the `dotnet` command in `DOTNET_ROOT`, `PATH` and the usual folders.
pub fn locate_dotnet(variable: impl Fn(&str) -> Option<std::ffi::OsString>) -> Option<PathBuf> {
    let root = variable("DOTNET_ROOT").map(PathBuf::from);
    let path = variable("PATH").unwrap_or_default();
    let home = variable("HOME").map(|home| Path::new(&home).join(".dotnet"));
    let usual = [
        "/usr/share/dotnet",
        "/usr/lib/dotnet",
        "/usr/lib64/dotnet",
        "/opt/dotnet",
    ]
    .map(PathBuf::from);
    let folders = root
        .into_iter()
        .chain(std::env::split_paths(&path))
        .chain(usual)
        .chain(home);
    folders
        .map(|folder| folder.join("dotnet"))
        .find(|file| file.is_file())
}
