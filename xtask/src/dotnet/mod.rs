//! The .NET that tests, demo and benchmarks run on: found on this machine, or made.
//!
//! A [`Dotnet`] in hand is usable: it has the `dotnet` command and a runtime of at least
//! [`OLDEST`] whose folder holds the debugger's two libraries.

pub(crate) mod layout;
pub(crate) mod packages;
pub(crate) mod private;
mod version;

use std::{
    env,
    ffi::OsString,
    fmt, fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use anyhow::{Result, anyhow, ensure};

pub(crate) use self::{packages::remove_folder, version::Version};
use crate::ui;

/// The oldest runtime the live tests are written for.
pub(crate) const OLDEST: (u32, u32) = (9, 0);

/// The framework every program needs.
pub(crate) const BASE_FRAMEWORK: &str = "Microsoft.NETCore.App";
/// The framework of web programs.
pub(crate) const WEB_FRAMEWORK: &str = "Microsoft.AspNetCore.App";

/// What a runtime's folder must hold so that its programs can be debugged.
const RUNTIME_PARTS: [&str; 3] = ["libcoreclr.so", "libmscordbi.so", "libmscordaccore.so"];

/// A usable .NET.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dotnet {
    /// What `DOTNET_ROOT` should be.
    pub(crate) root: PathBuf,
    /// The newest runtime in it.
    pub(crate) version: Version,
}

/// Why a folder is no usable .NET.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unusable {
    /// There is no `dotnet` that can be executed.
    NoCommand,
    /// There is no runtime, or only older ones than [`OLDEST`].
    TooOld(Option<Version>),
    /// The newest runtime lacks a library of [`RUNTIME_PARTS`].
    Lacks(Version, &'static str),
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = OLDEST;
        match self {
            Self::NoCommand => write!(f, "no `dotnet` command there"),
            Self::TooOld(None) => write!(f, "no runtime there"),
            Self::TooOld(Some(newest)) => {
                write!(
                    f,
                    "its newest runtime is {newest}, {major}.{minor} is needed"
                )
            }
            Self::Lacks(version, part) => write!(f, "its runtime {version} has no {part}"),
        }
    }
}

impl Dotnet {
    /// The .NET whose root folder is `root`.
    pub(crate) fn at(root: &Path) -> Result<Self, Unusable> {
        if !is_executable(&root.join("dotnet")) {
            return Err(Unusable::NoCommand);
        }
        let newest = Version::newest_in(&root.join("shared").join(BASE_FRAMEWORK));
        let version = match newest {
            Some(version) if (version.major, version.minor) >= OLDEST => version,
            other => return Err(Unusable::TooOld(other)),
        };
        let dotnet = Self {
            root: root.to_owned(),
            version,
        };
        for part in RUNTIME_PARTS {
            if !dotnet.runtime_folder().join(part).is_file() {
                return Err(Unusable::Lacks(dotnet.version, part));
            }
        }
        Ok(dotnet)
    }

    /// The `dotnet` command.
    pub(crate) fn command(&self) -> PathBuf {
        self.root.join("dotnet")
    }

    /// The folder of the newest runtime.
    pub(crate) fn runtime_folder(&self) -> PathBuf {
        self.framework_folder(BASE_FRAMEWORK)
    }

    /// The folder of a framework of the same version as the runtime.
    pub(crate) fn framework_folder(&self, framework: &str) -> PathBuf {
        self.root
            .join("shared")
            .join(framework)
            .join(self.version.to_string())
    }

    /// The newest SDK.
    pub(crate) fn sdk_folder(&self) -> Option<PathBuf> {
        let folder = self.root.join("sdk");
        let newest = Version::newest_in(&folder)?;
        Some(folder.join(newest.to_string()))
    }

    /// The assemblies to compile against: the targeting pack where there is one, as in a real
    /// build, and else the framework's own files.
    pub(crate) fn reference_folder(&self, framework: &str) -> PathBuf {
        let pack = self.root.join("packs").join(format!("{framework}.Ref"));
        let Version { major, minor, .. } = self.version;
        let of_this_runtime = |v: &Version| (v.major, v.minor) == (major, minor);
        Version::all_in(&pack)
            .into_iter()
            .filter(of_this_runtime)
            .max()
            .map(|version| {
                let tfm = format!("net{major}.{minor}");
                pack.join(version.to_string()).join("ref").join(tfm)
            })
            .filter(|folder| folder.is_dir())
            .unwrap_or_else(|| self.framework_folder(framework))
    }

    /// The variables every .NET program of ours is started with.
    ///
    /// Culture data is switched off so that numbers and dates read the same on every machine,
    /// with and without the ICU libraries; build servers are switched off so that a test which
    /// builds a project leaves no process behind.
    pub(crate) fn environment(&self) -> Vec<(&'static str, OsString)> {
        let mut variables = vec![("DOTNET_ROOT", self.root.clone().into_os_string())];
        let fixed = [
            ("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1"),
            ("DOTNET_CLI_TELEMETRY_OPTOUT", "1"),
            ("DOTNET_NOLOGO", "1"),
            ("DOTNET_SKIP_FIRST_TIME_EXPERIENCE", "1"),
            ("DOTNET_GENERATE_ASPNET_CERTIFICATE", "false"),
            ("DOTNET_ADD_GLOBAL_TOOLS_TO_PATH", "false"),
            ("DOTNET_CLI_USE_MSBUILD_SERVER", "0"),
            ("MSBUILDDISABLENODEREUSE", "1"),
            ("UseSharedCompilation", "false"),
        ];
        variables.extend(fixed.map(|(name, value)| (name, value.into())));
        variables
    }
}

/// A folder that was looked at, and what is wrong with it.
type Rejected = (PathBuf, Unusable);

/// The first usable .NET of this machine, or all that was looked at.
pub(crate) fn find() -> Result<Dotnet, Vec<Rejected>> {
    let mut rejected = Vec::new();
    for root in candidates() {
        match Dotnet::at(&root) {
            Ok(dotnet) => return Ok(dotnet),
            Err(reason) => rejected.push((root, reason)),
        }
    }
    Err(rejected)
}

/// Finds a .NET, or makes a private one.
pub(crate) fn set_up() -> Result<Dotnet> {
    match find() {
        Ok(dotnet) => Ok(dotnet),
        Err(rejected) => {
            // A folder like ~/.dotnet often holds settings only: not worth a word.
            let worth_a_word = |(_, reason): &Rejected| *reason != Unusable::NoCommand;
            for (root, reason) in rejected.into_iter().filter(worth_a_word) {
                ui::detail(&format!("{} is not used: {reason}", root.display()));
            }
            private::ensure()
        }
    }
}

/// `cargo xtask dotnet`: prints the folder, and only that, on standard output.
pub(crate) fn command(arguments: &[String]) -> Result<()> {
    ensure!(
        arguments.is_empty(),
        "cargo xtask dotnet takes no arguments"
    );
    let dotnet = set_up()?;
    ui::detail(&format!(".NET {}", dotnet.version));
    println!("{}", dotnet.root.display());
    Ok(())
}

/// The .NET in the folder the user named.
pub(crate) fn named(folder: &Path) -> Result<Dotnet> {
    let folder = fs::canonicalize(folder)
        .map_err(|error| anyhow!("--dotnet {}: {error}", folder.display()))?;
    Dotnet::at(&folder).map_err(|reason| anyhow!("--dotnet {}: {reason}", folder.display()))
}

/// The folders that may hold a .NET, best first, each once.
fn candidates() -> Vec<PathBuf> {
    let home = env::var_os("HOME").map(PathBuf::from);
    let named = env::var_os("DOTNET_ROOT").map(PathBuf::from);
    let on_path = env::var_os("PATH")
        .map(|path| env::split_paths(&path).collect::<Vec<_>>())
        .unwrap_or_default()
        .into_iter()
        // Distributions put a link to the real file on PATH; the runtimes lie beside the latter.
        .filter_map(|folder| fs::canonicalize(folder.join("dotnet")).ok())
        .filter_map(|command| command.parent().map(Path::to_owned));
    let usual = [
        "/usr/share/dotnet",
        "/usr/lib/dotnet",
        "/usr/lib64/dotnet",
        "/usr/local/share/dotnet",
        "/opt/dotnet",
        "/snap/dotnet-sdk/current",
    ];
    let mut folders = Vec::new();
    let all = named
        .into_iter()
        .chain(on_path)
        .chain(usual.map(PathBuf::from))
        .chain(home.map(|home| home.join(".dotnet")));
    for folder in all.filter(|folder| folder.is_dir()) {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    folders
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder laid out like a .NET whose runtimes are `versions`, complete but for `lacking`.
    fn installation(versions: &[&str], lacking: &str) -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("temporary folder");
        let command = dir.path().join("dotnet");
        fs::write(&command, "").expect("write");
        fs::set_permissions(&command, fs::Permissions::from_mode(0o755)).expect("chmod");
        for version in versions {
            let folder = dir.path().join("shared").join(BASE_FRAMEWORK).join(version);
            fs::create_dir_all(&folder).expect("mkdir");
            for part in RUNTIME_PARTS.iter().filter(|part| **part != lacking) {
                fs::write(folder.join(part), "").expect("write");
            }
        }
        dir
    }

    #[track_caller]
    fn check(versions: &[&str], lacking: &str, expected: &str) {
        let dir = installation(versions, lacking);
        let actual = match Dotnet::at(dir.path()) {
            Ok(dotnet) => dotnet.version.to_string(),
            Err(reason) => reason.to_string(),
        };
        assert_eq!(actual, expected);
    }

    #[test]
    fn newest_runtime_that_can_be_debugged_is_taken() {
        check(&["9.0.1"], "", "9.0.1");
        check(
            &["3.1.2", "9.0.9", "9.0.11", "10.0.0-rc.1"],
            "",
            "10.0.0-rc.1",
        );
        check(&[], "", "no runtime there");
        check(
            &["8.0.21"],
            "",
            "its newest runtime is 8.0.21, 9.0 is needed",
        );
        let lacks = "its runtime 9.0.1 has no libmscordbi.so";
        check(&["9.0.1"], "libmscordbi.so", lacks);
    }

    #[test]
    fn folder_without_command_is_refused() {
        let dir = tempfile::tempdir().expect("temporary folder");
        assert_eq!(Dotnet::at(dir.path()), Err(Unusable::NoCommand));
    }

    #[test]
    fn targeting_pack_of_the_runtime_is_preferred() {
        let dir = installation(&["10.0.1"], "");
        let dotnet = Dotnet::at(dir.path()).expect("usable");
        let packs = dir.path().join("packs/Microsoft.NETCore.App.Ref");
        fs::create_dir_all(packs.join("9.0.3/ref/net9.0")).expect("mkdir");
        assert_eq!(
            dotnet.reference_folder(BASE_FRAMEWORK),
            dotnet.runtime_folder()
        );
        fs::create_dir_all(packs.join("10.0.1/ref/net10.0")).expect("mkdir");
        assert_eq!(
            dotnet.reference_folder(BASE_FRAMEWORK),
            packs.join("10.0.1/ref/net10.0")
        );
    }
}
