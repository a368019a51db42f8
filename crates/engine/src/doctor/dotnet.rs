//! The installed runtimes and whether the debugger's part of each is there.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::Check;
use crate::processes::builds;
use crate::program;

/// The files of a runtime without which it cannot be debugged.
const PARTS: [&str; 3] = ["libcoreclr.so", "libmscordbi.so", "libmscordaccore.so"];

/// What lists the files of a runtime.
const LIST: &str = "Microsoft.NETCore.App.deps.json";

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
    let missing = |part: &str| !runtime.join(part).exists();
    // By this file .NET's own host knows a folder for a runtime; packages unpack it last.
    if missing(LIST) {
        return Some(format!(
            "{LIST} is missing, without which no program uses what lies"
        ));
    }
    if let Some(part) = PARTS.into_iter().find(|part| missing(part)) {
        return Some(format!("{part} is missing"));
    }
    let broken = |part| Some((part, cordebug::runtime::fault(&runtime.join(part))?));
    if let Some((part, reason)) = PARTS.into_iter().find_map(broken) {
        return Some(format!("{part} is broken ({reason})"));
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
        let checks = checks(runtimes).into_iter();
        checks.map(|check| (check.name, check.outcome)).collect()
    }

    /// A file whose name ends in `!` is cut off behind a head that tells of more.
    fn checks(runtimes: &[(&str, &[&str])]) -> Vec<Check> {
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
                let mut head = b"\x7fELF".to_vec();
                head.resize(64, 0xff);
                let (part, content) = match part.strip_suffix('!') {
                    Some(part) => (part, &head[..]),
                    None => (*part, &[][..]),
                };
                fs::write(runtime.join(part), content).expect("a file");
            }
        }
        let root = folder.path().as_os_str().to_owned();
        let checks = installed(&move |name| (name == "DOTNET_ROOT").then(|| root.clone()));
        let ours = checks.into_iter().filter(|check| {
            check.name == "runtimes" || check.message.contains(&folder.path().display().to_string())
        });
        ours.collect()
    }

    #[test]
    fn runtimes_need_their_debugger_parts() {
        let [first, second, third] = PARTS;
        let whole: &[&str] = &[LIST, first, second, third];
        let cut: &[&str] = &[LIST, first];
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
    fn runtimes_that_are_not_whole_are_told() {
        let [first, second, third] = PARTS;
        let broken: &[&str] = &[LIST, first, "libmscordbi.so!", third];
        let unlisted: &[&str] = &[first, second, third];
        let told = checks(&[("8.0.1", unlisted), ("9.0.12", broken)]);
        let told: Vec<_> = told.iter().map(|check| check.message.as_str()).collect();
        assert!(told[1].contains("deps.json is missing"), "{told:?}");
        let cut = "libmscordbi.so is broken (it is cut off: it has 64 of ";
        assert!(told[2].starts_with(cut), "{told:?}");
    }

    #[test]
    fn a_variable_that_switches_debugging_off_is_a_problem() {
        let off = switched_off(&|name| (name == "DOTNET_EnableDiagnostics").then(|| "0".into()));
        assert_eq!(off.outcome, Outcome::Problem);
        assert!(off.message.contains("DOTNET_EnableDiagnostics=0"));
        assert_eq!(switched_off(&|_| None).outcome, Outcome::Ok);
    }
}
