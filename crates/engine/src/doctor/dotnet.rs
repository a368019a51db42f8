//! The installed runtimes and whether the debugger's part of each is there.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::Check;
use crate::processes::builds;
use crate::program;

/// The files of a runtime without which it cannot be debugged.
const PARTS: [&str; 3] = ["libcoreclr.so", "libmscordbi.so", "libmscordaccore.so"];

/// Whether programs launched from here would have debugging switched off.
pub(super) fn switched_off(variable: &dyn Fn(&str) -> Option<OsString>) -> Check {
    let name = "environment";
    match program::debugging_switched_off(variable) {
        None => Check::ok(name, "nothing switches debugging off"),
        Some(setting) => Check::problem(
            name,
            format!("{setting} switches debugging off in every program that is launched from here"),
            "unset that variable",
        ),
    }
}

/// The `dotnet` command and each runtime.
pub(super) fn installed(variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<Check> {
    let name = "dotnet";
    let Some(command) = program::locate_dotnet(variable) else {
        return vec![Check::problem(
            name,
            "no dotnet command was found in DOTNET_ROOT, PATH and the usual folders",
            "install .NET or set DOTNET_ROOT to the folder that holds dotnet",
        )];
    };
    let folders = program::install_folders(variable);
    let sdks: Vec<String> = folders
        .iter()
        .flat_map(|folder| versions(&folder.join("sdk")))
        .filter_map(|sdk| Some(sdk.file_name()?.to_string_lossy().into_owned()))
        .collect();
    let message = if sdks.is_empty() {
        format!(
            "{}; no SDK, so projects cannot be built, but built programs can be debugged",
            command.display()
        )
    } else {
        format!("{}; SDK {}", command.display(), sdks.join(", "))
    };
    let mut checks = vec![Check::ok(name, message)];
    let runtimes: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| versions(&folder.join("shared/Microsoft.NETCore.App")))
        .collect();
    let broken = |runtime: &PathBuf| fault(runtime).is_some();
    let none_works = runtimes.iter().all(broken);
    if runtimes.is_empty() {
        checks.push(Check::problem(
            "runtimes",
            format!("no runtime lies beside {}", command.display()),
            "install a .NET runtime",
        ));
    }
    checks.extend(runtimes.iter().map(|runtime| check(runtime, none_works)));
    checks
}

fn check(runtime: &Path, none_works: bool) -> Check {
    let version = runtime.file_name().unwrap_or_default().to_string_lossy();
    let name = format!("runtime {version}");
    let Some(fault) = fault(runtime) else {
        return Check::ok(
            &name,
            format!("{} has its debugger library", runtime.display()),
        );
    };
    let message = format!("{fault} in {}", runtime.display());
    let advice = "install the whole runtime from its official package; some distributions cut these files off";
    if none_works {
        Check::problem(&name, message, advice)
    } else {
        Check::warning(&name, message, advice)
    }
}

/// What is wrong with a runtime's files.
fn fault(runtime: &Path) -> Option<String> {
    let missing = PARTS.into_iter().find(|part| !runtime.join(part).is_file());
    if let Some(part) = missing {
        return Some(format!("{part} is missing"));
    }
    let [first, others @ ..] = PARTS.map(|part| builds::of(&runtime.join(part)));
    let other = others
        .into_iter()
        .flatten()
        .find(|other| Some(other) != first.as_ref());
    let (first, other) = (first?, other?);
    Some(format!(
        "files of different builds lie together, {first} and {other},"
    ))
}

/// The subfolders that are named by a version, oldest first.
fn versions(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<(Vec<u32>, PathBuf)> = entries
        .filter(|entry| entry.path().is_dir())
        .filter_map(|entry| {
            let name = entry.file_name();
            let numbers = name
                .to_str()?
                .split(['.', '-'])
                .map_while(|part| part.parse().ok());
            let numbers: Vec<u32> = numbers.collect();
            (!numbers.is_empty()).then(|| (numbers, entry.path()))
        })
        .collect();
    found.sort();
    found.into_iter().map(|(_, path)| path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    use crate::doctor::Outcome;

    /// Checks an installation in a folder of its own; only what is in it counts.
    fn outcomes(runtimes: &[(&str, &[&str])]) -> Vec<(String, Outcome)> {
        let folder = tempfile::tempdir().expect("a folder");
        let dotnet = folder.path().join("dotnet");
        fs::write(&dotnet, "").expect("a file");
        fs::set_permissions(&dotnet, fs::Permissions::from_mode(0o755)).expect("modes");
        for (version, parts) in runtimes {
            let runtime = folder
                .path()
                .join("shared/Microsoft.NETCore.App")
                .join(version);
            fs::create_dir_all(&runtime).expect("a folder");
            for part in *parts {
                fs::write(runtime.join(part), "").expect("a file");
            }
        }
        let root = folder.path().as_os_str().to_owned();
        let checks = installed(&move |name| (name == "DOTNET_ROOT").then(|| root.clone()));
        let ours = checks.into_iter().filter(|check| {
            check.name == "runtimes" || check.message.contains(&folder.path().display().to_string())
        });
        ours.map(|check| (check.name, check.outcome)).collect()
    }

    #[test]
    fn runtimes_need_their_debugger_parts() {
        let whole: &[&str] = &PARTS;
        let cut: &[&str] = &["libcoreclr.so"];
        let named = |name: &str, outcome| (name.to_owned(), outcome);
        assert_eq!(
            outcomes(&[("10.0.1", whole), ("9.0.12", cut)]),
            [
                named("dotnet", Outcome::Ok),
                named("runtime 9.0.12", Outcome::Warning),
                named("runtime 10.0.1", Outcome::Ok),
            ]
        );
    }

    #[test]
    fn a_variable_that_switches_debugging_off_is_a_problem() {
        let off = switched_off(&|name| (name == "DOTNET_EnableDiagnostics").then(|| "0".into()));
        assert_eq!(off.outcome, Outcome::Problem);
        assert!(off.message.contains("DOTNET_EnableDiagnostics=0"));
        assert_eq!(switched_off(&|_| None).outcome, Outcome::Ok);
    }
}
