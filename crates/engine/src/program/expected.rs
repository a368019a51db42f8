//! Which runtime a program will most likely run on, worked out as its host will do it a few milliseconds later.
//!
//! Invariant: a guess. Whoever uses it looks at the process afterwards, and takes back what was done if it was wrong;
//! where settings could lead elsewhere there is no guess.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::dotnet::locate_dotnet;

const FRAMEWORK: &str = "Microsoft.NETCore.App";
/// A description of the wanted runtime is a few hundred bytes long.
const MAX_CONFIG: u64 = 64 << 10;

/// The folder of the runtime for a program, which is a `.dll` or an executable beside one.
pub(crate) fn runtime_folder(
    program: &Path,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Option<PathBuf> {
    let redirected = ["DOTNET_ROLL_FORWARD", "DOTNET_ROLL_FORWARD_TO_PRERELEASE"];
    if redirected.iter().any(|name| variable(name).is_some()) {
        return None;
    }
    let config = beside(program);
    if config.metadata().ok()?.len() > MAX_CONFIG {
        return None;
    }
    let wanted = wanted_version(&std::fs::read_to_string(config).ok()?)?;
    let installed = locate_dotnet(variable)?
        .parent()?
        .join("shared")
        .join(FRAMEWORK);
    let versions = std::fs::read_dir(&installed).ok()?.flatten();
    let newest = versions
        // The host passes over those that are not whole.
        .filter(|entry| {
            entry
                .path()
                .join(format!("{FRAMEWORK}.deps.json"))
                .is_file()
        })
        .filter_map(|entry| version(entry.file_name().to_str()?))
        .filter(|it| it[..2] == wanted[..2] && it[2] >= wanted[2])
        .max()?;
    let [major, minor, patch] = newest;
    Some(installed.join(format!("{major}.{minor}.{patch}")))
}

/// Where the wanted runtime is told: `name.runtimeconfig.json` for `name.dll` as for `name`.
fn beside(program: &Path) -> PathBuf {
    match program.extension() {
        Some(extension) if extension == "dll" => program.with_extension("runtimeconfig.json"),
        _ => {
            let mut name = program.as_os_str().to_owned();
            name.push(".runtimeconfig.json");
            name.into()
        }
    }
}

/// The version in a description, which is written by the SDK in one and the same way. Of any other there is no guess, nor of
/// a program that brings its runtime.
fn wanted_version(config: &str) -> Option<[u32; 3]> {
    let text: String = config.chars().filter(|it| !it.is_whitespace()).collect();
    let elsewhere = [
        "\"rollForward",
        "\"applyPatches\"",
        "\"includedFrameworks\"",
    ];
    if elsewhere.iter().any(|it| text.contains(it)) {
        return None;
    }
    let head = format!("\"name\":\"{FRAMEWORK}\",\"version\":\"");
    version(text.split_once(&head)?.1.split('"').next()?)
}

/// Three numbers; previews have more than that.
fn version(text: &str) -> Option<[u32; 3]> {
    let mut parts = text.split('.').map(|part| part.parse().ok());
    let version = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newest_patch_of_the_wanted_version_is_expected() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("it exists");
        let shared = root.join("shared").join(FRAMEWORK);
        for version in ["8.0.9", "9.0.1", "9.0.10", "9.0.11-rc.1", "9.1.0", "junk"] {
            let folder = shared.join(version);
            std::fs::create_dir_all(&folder).expect("a folder can be made");
            let listed = folder.join(format!("{FRAMEWORK}.deps.json"));
            std::fs::write(listed, "").expect("a file can be written");
        }
        // Half unpacked.
        std::fs::create_dir_all(shared.join("9.0.12")).expect("a folder can be made");
        let dotnet = root.join("dotnet");
        std::fs::write(&dotnet, "").expect("a file can be written");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&dotnet, mode).expect("modes can be set");
        let variable = |name: &str| (name == "DOTNET_ROOT").then(|| root.clone().into());
        let expected = |config: &str| {
            std::fs::write(root.join("app.runtimeconfig.json"), config).expect("it can be written");
            let found = runtime_folder(&root.join("app.dll"), variable);
            assert_eq!(found, runtime_folder(&root.join("app"), variable));
            found.map(|it| it.file_name().unwrap_or_default().to_owned())
        };
        let of = |version: &str, more: &str| {
            format!(
                r#"{{ "runtimeOptions": {{ {more} "framework": {{ "name": "{FRAMEWORK}", "version": "{version}" }} }} }}"#
            )
        };
        assert_eq!(expected(&of("9.0.0", "")), Some("9.0.10".into()));
        assert_eq!(expected(&of("9.1.0", "")), Some("9.1.0".into()));
        // Whatever the host would look further for is not guessed.
        assert_eq!(expected(&of("9.0.12", "")), None);
        assert_eq!(expected(&of("7.0.0", "")), None);
        assert_eq!(
            expected(&of("9.0.0", r#""rollForward": "LatestMajor","#)),
            None
        );
        let brought = of("9.0.0", "").replace("\"framework\"", "\"includedFrameworks\"");
        assert_eq!(expected(&brought), None);
        assert_eq!(expected("{}"), None);
        let redirected = |name: &str| match name {
            "DOTNET_ROLL_FORWARD" => Some("Major".into()),
            name => variable(name),
        };
        assert_eq!(runtime_folder(&root.join("app.dll"), redirected), None);
    }
}
