//! The compiled C# programs of `fixtures/`, and the .NET they run on.
//!
//! `cargo xtask test` sets both up and names them in the environment (`NDBG_TEST_FIXTURES`,
//! `NDBG_TEST_DOTNET`, …). A plain `cargo test` uses what `cargo xtask fixtures` has set up last.
//! Without either every function here panics and says so: a test that cannot run must not pass.

use std::{
    collections::HashMap,
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
    time::SystemTime,
};

/// A compiled fixture.
#[derive(Debug, Clone)]
pub struct Fixture {
    name: String,
    folder: PathBuf,
    dotnet: PathBuf,
    sources: Vec<PathBuf>,
}

/// A marked line of a fixture's source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marker {
    /// The full path of the source file, as the PDB has it.
    pub file: PathBuf,
    /// The line, counted from 1.
    pub line: u32,
}

impl Fixture {
    /// The fixture of this name, for the .NET under test.
    #[track_caller]
    pub fn named(name: &str) -> Self {
        Self::load(name, dotnet_root(), &required("NDBG_TEST_FIXTURES"))
    }

    /// The fixture of this name for .NET Core 3.1 (header `also=31`); `None` where that is not set up.
    #[track_caller]
    pub fn old(name: &str) -> Option<Self> {
        let dotnet = setting("NDBG_TEST_DOTNET31")?;
        let fixtures = setting("NDBG_TEST_FIXTURES31")?;
        Some(Self::load(name, dotnet, Path::new(&fixtures)))
    }

    #[track_caller]
    fn load(name: &str, dotnet: impl Into<PathBuf>, fixtures: &Path) -> Self {
        let folder = fixtures.join(name);
        let dll = folder.join(format!("{name}.dll"));
        assert!(
            dll.is_file(),
            "there is no {}: is there a fixtures/{name}.cs, and has `cargo xtask fixtures` been run?",
            dll.display()
        );
        let fixture = Self {
            name: name.to_owned(),
            folder,
            dotnet: dotnet.into(),
            sources: sources(name),
        };
        if env::var_os("NDBG_TEST_FIXTURES").is_none() {
            fixture.assert_fresh();
        }
        fixture
    }

    /// Panics if a source was changed after `cargo xtask` looked at it last.
    #[track_caller]
    fn assert_fresh(&self) {
        let modified = |path: &Path| {
            let data = fs::metadata(path).and_then(|data| data.modified());
            data.unwrap_or(SystemTime::UNIX_EPOCH)
        };
        let checked = modified(&self.folder.join(".key"));
        for source in &self.sources {
            assert!(
                modified(source) <= checked,
                "{} was changed after it was compiled: run `cargo xtask fixtures`",
                source.display()
            );
        }
    }

    /// Its name, which is also its assembly's.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The folder that holds the dll and what belongs to it.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The assembly.
    pub fn dll(&self) -> PathBuf {
        self.folder.join(format!("{}.dll", self.name))
    }

    /// Its symbols, if they are a file (header `pdb=portable`, the default).
    pub fn pdb(&self) -> Option<PathBuf> {
        Some(self.folder.join(format!("{}.pdb", self.name))).filter(|path| path.is_file())
    }

    /// The executable beside the dll; `None` where the .NET in use brings no template for it.
    pub fn apphost(&self) -> Option<PathBuf> {
        Some(self.folder.join(&self.name)).filter(|path| path.is_file())
    }

    /// The root folder of the .NET it runs on.
    pub fn dotnet_root(&self) -> &Path {
        &self.dotnet
    }

    /// The source files with their full paths.
    pub fn sources(&self) -> &[PathBuf] {
        &self.sources
    }

    /// The line marked `//@name`.
    #[track_caller]
    pub fn marker(&self, name: &str) -> Marker {
        let mut found = Vec::new();
        for file in &self.sources {
            let text = fs::read_to_string(file)
                .unwrap_or_else(|error| panic!("cannot read {}: {error}", file.display()));
            for (_, line) in markers(&text).filter(|(found, _)| *found == name) {
                let file = file.clone();
                found.push(Marker { file, line });
            }
        }
        match <[Marker; 1]>::try_from(found) {
            Ok([marker]) => marker,
            Err(found) => panic!(
                "the fixture {} has {} lines marked //@{name}, expected one",
                self.name,
                found.len()
            ),
        }
    }

    /// Runs it without a debugger: `dotnet NAME.dll`, with the environment of the tests.
    pub fn command(&self) -> Command {
        let mut command = Command::new(self.dotnet.join("dotnet"));
        command
            .arg(self.dll())
            .envs(dotnet_environment())
            .env("DOTNET_ROOT", &self.dotnet);
        command
    }
}

/// `(name, 1-based line)` of every `//@name` in a source.
///
/// Tests ask for `marker("loop")`, never for line 17, so a fixture can be edited freely.
pub fn markers(source: &str) -> impl Iterator<Item = (&str, u32)> {
    (1..).zip(source.lines()).filter_map(|(line, text)| {
        let name = text.split_once("//@")?.1.trim();
        Some((name, line))
    })
}

/// The root folder of the .NET under test (`DOTNET_ROOT`).
#[track_caller]
pub fn dotnet_root() -> PathBuf {
    required("NDBG_TEST_DOTNET")
}

/// Major and minor version of the runtime under test.
#[track_caller]
pub fn runtime_version() -> (u32, u32) {
    let folder = required("NDBG_TEST_FIXTURES");
    let name = folder.file_name().and_then(|name| name.to_str());
    let mut numbers = name.unwrap_or_default().split('.').map(str::parse);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor),
        _ => panic!("{} is not named by a runtime's version", folder.display()),
    }
}

/// The variables a .NET program of a test needs, `DOTNET_ROOT` among them.
pub fn dotnet_environment() -> Vec<(String, OsString)> {
    let names = [
        "DOTNET_ROOT",
        "DOTNET_CLI_HOME",
        "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT",
        "DOTNET_CLI_TELEMETRY_OPTOUT",
        "DOTNET_NOLOGO",
        "DOTNET_SKIP_FIRST_TIME_EXPERIENCE",
        "DOTNET_GENERATE_ASPNET_CERTIFICATE",
        "DOTNET_ADD_GLOBAL_TOOLS_TO_PATH",
        "DOTNET_CLI_USE_MSBUILD_SERVER",
        "MSBUILDDISABLENODEREUSE",
        "UseSharedCompilation",
    ];
    let with_value = |name: &str| Some((name.to_owned(), setting(name)?));
    names.into_iter().filter_map(with_value).collect()
}

/// A folder of NuGet packages for tests that build projects with packages; `None` where there is none.
pub fn nuget_packages() -> Option<PathBuf> {
    setting("NDBG_TEST_NUGET").map(PathBuf::from)
}

/// The `ndbg` under test.
///
/// Without `NDBG_TEST_BIN` it is the one that `cargo build` leaves beside the tests.
#[track_caller]
pub fn ndbg() -> PathBuf {
    if let Some(path) = env::var_os("NDBG_TEST_BIN") {
        return path.into();
    }
    let own = env::current_exe().expect("a test knows its own path");
    // target/debug/deps/test-0123: the programs are one folder up.
    let path = own.ancestors().nth(2).map(|folder| folder.join("ndbg"));
    match path.filter(|path| path.is_file()) {
        Some(path) => path,
        None => panic!(
            "there is no ndbg beside {}: run `cargo build`",
            own.display()
        ),
    }
}

#[track_caller]
fn required(name: &str) -> PathBuf {
    match setting(name) {
        Some(value) => value.into(),
        None => panic!("{name} is not set: run `cargo xtask test`, or `cargo xtask fixtures` once"),
    }
}

/// A variable of the environment, or as `cargo xtask fixtures` has noted it.
fn setting(name: &str) -> Option<OsString> {
    static NOTED: OnceLock<HashMap<String, OsString>> = OnceLock::new();
    env::var_os(name).or_else(|| NOTED.get_or_init(noted).get(name).cloned())
}

fn noted() -> HashMap<String, OsString> {
    let own = env::current_exe().unwrap_or_default();
    let text = own
        .ancestors()
        .find_map(|folder| fs::read_to_string(folder.join("fixtures/current.env")).ok());
    let text = text.unwrap_or_default();
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    pairs
        .map(|(name, value)| (name.to_owned(), value.into()))
        .collect()
}

/// The source files of a fixture.
fn sources(name: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    let fixtures = root.expect("testkit lies in crates/").join("fixtures");
    let single = fixtures.join(format!("{name}.cs"));
    if single.is_file() {
        return vec![single];
    }
    let entries = fs::read_dir(fixtures.join(name)).into_iter().flatten();
    let mut sources: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    sources.retain(|path| path.extension().is_some_and(|extension| extension == "cs"));
    sources.sort();
    sources
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_lines_counted_from_one() {
        let source = "a\nb(); //@first\n\n// comment\nc(); //@ second \n";
        let found: Vec<_> = markers(source).collect();
        assert_eq!(found, [("first", 2), ("second", 5)]);
    }
}
