//! Running the tests of a project under the debugger.
//!
//! There are two kinds of test programs. Of *VSTest*, `dotnet vstest` is launched, and the test host that it starts is
//! debugged from its first line; results come from a file that it writes at the end. One of *Microsoft.Testing.Platform*
//! is a program itself; it tells its results over a socket as they come, as it does for `dotnet test`. Neither depends on
//! what is printed, on its language or on who prints it.

mod pipe;
mod trx;
mod wire;
mod xml;

use std::collections::VecDeque;
use std::ffi::OsString;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{fs, io};

use engine::api::{Details, Error, ErrorCode, Follow, Launch, TestResults};

use pipe::Listener;

/// The assembly that every program of Microsoft.Testing.Platform refers to.
const PLATFORM: &str = "Microsoft.Testing.Platform";
/// What the command line of VSTest's test host contains.
const TEST_HOST: &str = "testhost";
/// The file that VSTest writes results to.
const RESULTS: &str = "results.trx";
/// The largest such file that is read.
const MAX_RESULTS: u64 = 256 << 20;
/// The largest list of dependencies that is read.
const MAX_DEPENDENCIES: u64 = 64 << 20;
/// How folders for results are called: the process and a number follow.
const FOLDER: &str = "ndbg-tests-";

/// Which tests are run, and how.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TestOptions {
    /// The tests to run, as `dotnet test --filter` takes them; all if absent.
    pub filter: Option<String>,
    /// A file of settings for VSTest.
    pub run_settings: Option<PathBuf>,
}

/// A run of tests: where its results come from. Dropping it forgets them.
#[derive(Debug)]
pub struct TestRun {
    source: Source,
    folder: Folder,
}

#[derive(Debug)]
enum Source {
    File,
    Told(Listener),
}

impl TestRun {
    /// Makes a launch, whose program is a test assembly, one that runs its tests.
    pub fn prepare(launch: &mut Launch, options: &TestOptions) -> Result<Self, Error> {
        let assembly = assembly(&launch.program)?;
        let failed = |error: io::Error| {
            Error::new(
                ErrorCode::LaunchFailed,
                format!("there is no place for test results: {error}"),
            )
            .hint("check that TMPDIR (or /tmp) exists and is writable")
        };
        let folder = Folder::new().map_err(failed)?;
        if launch.cwd.is_none() {
            launch.cwd = assembly.parent().map(Path::to_owned);
        }
        // A debugger must not need the network.
        for name in [
            "DOTNET_CLI_TELEMETRY_OPTOUT",
            "TESTINGPLATFORM_TELEMETRY_OPTOUT",
        ] {
            let set = launch.env.contains_key(name) || std::env::var_os(name).is_some();
            if !set {
                launch.env.insert(name.into(), Some("1".into()));
            }
        }
        if engine::program::refers_to(&assembly, PLATFORM) {
            let listener = Listener::open(folder.0.join("socket")).map_err(failed)?;
            on_platform(launch, options, &listener);
            let source = Source::Told(listener);
            return Ok(Self { source, folder });
        }
        if !has_test_host(&assembly) {
            let shown = assembly.display();
            let message = format!(
                "{shown} runs no tests: its project refers neither to Microsoft.NET.Test.Sdk nor to {PLATFORM}"
            );
            return Err(Error::new(ErrorCode::InvalidFile, message)
                .hint("launch a program that is no test project as a program; else add the package and build it again"));
        }
        on_vstest(launch, options, &assembly, &folder.0)?;
        let source = Source::File;
        Ok(Self { source, folder })
    }

    /// The results so far; `None` if there are none before the end.
    pub fn results(&self) -> Option<TestResults> {
        match &self.source {
            Source::Told(listener) => Some(listener.results()),
            Source::File => {
                let path = self.folder.0.join(RESULTS);
                let small = path.metadata().is_ok_and(|it| it.len() <= MAX_RESULTS);
                let text = small.then(|| fs::read(path).ok()).flatten()?;
                trx::read(&String::from_utf8_lossy(&text))
            }
        }
    }
}

/// Projects in the folders below one, as many as can be told; those that are called tests first.
fn projects_below(folder: &Path) -> Vec<String> {
    /// Entries of folders that are looked at.
    const ENTRIES: usize = 5000;
    /// Folders inside of each other that are looked at.
    const DEPTH: usize = 4;
    /// Projects told.
    const PROJECTS: usize = 20;

    let mut found = Vec::new();
    let mut folders = VecDeque::from([(folder.to_owned(), 0)]);
    let mut left = ENTRIES;
    while let Some((folder, depth)) = folders.pop_front() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            left = left.saturating_sub(1);
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let is_folder = entry.file_type().is_ok_and(|it| it.is_dir());
            let output = name.starts_with('.') || ["bin", "obj", "node_modules"].contains(&&*name);
            if is_folder && !output && depth < DEPTH && left > 0 {
                folders.push_back((entry.path(), depth + 1));
            }
            if [".csproj", ".fsproj", ".vbproj"]
                .iter()
                .any(|it| name.ends_with(it))
            {
                found.push(entry.path().display().to_string());
            }
        }
    }
    found.sort_by_key(|it| (!it.to_lowercase().contains("test"), it.clone()));
    found.truncate(PROJECTS);
    found
}

/// The assembly of a test program: what was named, or what lies beside an executable.
fn assembly(program: &Path) -> Result<PathBuf, Error> {
    let is_solution = program
        .extension()
        .is_some_and(|it| it == "sln" || it == "slnx");
    if !program.is_file() || is_solution {
        let shown = program.display();
        let message = match program.is_dir() {
            true => format!("the folder {shown} has no project"),
            false if is_solution && program.is_file() => {
                format!("{shown} is a solution, no project")
            }
            false => format!("there is no file {shown}"),
        };
        let error = Error::new(ErrorCode::InvalidFile, message);
        let folder = if is_solution {
            program.parent()
        } else {
            Some(program)
        };
        let below = folder.map(projects_below).unwrap_or_default();
        return Err(match below.is_empty() {
            true => error.hint("give the path of a test project, or of its built .dll"),
            false => error
                .hint("give one of these projects")
                .details(Details::Candidates(below)),
        });
    }
    let is_assembly = |path: &Path| path.extension().is_some_and(|it| it == "dll");
    if is_assembly(program) {
        return Ok(program.to_owned());
    }
    let mut beside = program.as_os_str().to_owned();
    beside.push(".dll");
    let beside = PathBuf::from(beside);
    if beside.is_file() {
        return Ok(beside);
    }
    Err(Error::new(
        ErrorCode::InvalidFile,
        format!("{} is no test assembly", program.display()),
    )
    .hint("give the path of a test project, or of its built .dll"))
}

/// Whether VSTest finds a host for the tests of an assembly: beside it, or in a package that its dependencies name.
fn has_test_host(assembly: &Path) -> bool {
    let dependencies = assembly.with_extension("deps.json");
    let is_small = dependencies
        .metadata()
        .is_ok_and(|it| it.len() <= MAX_DEPENDENCIES);
    let named = || {
        let text = fs::read_to_string(&dependencies).unwrap_or_default();
        text.to_ascii_lowercase()
            .contains("microsoft.testplatform.testhost")
    };
    assembly.with_file_name("testhost.dll").is_file() || (is_small && named())
}

fn on_platform(launch: &mut Launch, options: &TestOptions, listener: &Listener) {
    let mut args = vec!["--server".to_owned(), "dotnettestcli".to_owned()];
    args.push("--dotnet-test-pipe".into());
    args.push(listener.path().to_string_lossy().into_owned());
    if let Some(filter) = &options.filter {
        args.extend(["--filter".to_owned(), filter.clone()]);
    }
    args.append(&mut launch.args);
    launch.args = args;
}

fn on_vstest(
    launch: &mut Launch,
    options: &TestOptions,
    assembly: &Path,
    folder: &Path,
) -> Result<(), Error> {
    let variable = |name: &str| match launch.env.get(name) {
        Some(change) => change.clone().map(OsString::from),
        None => std::env::var_os(name),
    };
    let Some(dotnet) = engine::program::locate_dotnet(variable) else {
        return Err(crate::project::BuildError::NoDotnet.into());
    };
    let mut args = vec![
        "vstest".to_owned(),
        assembly.to_string_lossy().into_owned(),
        format!("--logger:trx;LogFileName={RESULTS}"),
        // The results are told by us.
        "--logger:console;verbosity=quiet".to_owned(),
        format!("--ResultsDirectory:{}", folder.display()),
    ];
    if let Some(filter) = &options.filter {
        args.push(format!("--TestCaseFilter:{filter}"));
    }
    if let Some(settings) = &options.run_settings {
        args.push(format!("--Settings:{}", settings.display()));
    }
    args.append(&mut launch.args);
    launch.args = args;
    launch.program = dotnet;
    launch.follow = Follow::Child {
        command_line: Some(TEST_HOST.into()),
    };
    launch.await_launcher = true;
    Ok(())
}

/// A folder of ours that goes with this value.
#[derive(Debug)]
struct Folder(PathBuf);

impl Folder {
    fn new() -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let parent = std::env::temp_dir();
        sweep(&parent);
        let own = std::process::id();
        // A name that is taken belongs to a process that had our number.
        for _ in 0..100 {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("{FOLDER}{own}-{number}"));
            match fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::from(io::ErrorKind::AlreadyExists))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::debug!(%error, "a folder of test results stays");
        }
    }
}

/// Removes what processes that were killed have left.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let rest = name.to_str().and_then(|name| name.strip_prefix(FOLDER));
        let Some(pid) = rest.and_then(|rest| rest.split('-').next()?.parse::<u32>().ok()) else {
            continue;
        };
        if !Path::new(&format!("/proc/{pid}")).exists() {
            // It may be another user's.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_go_with_their_run_and_with_their_process() {
        let first = Folder::new().expect("a folder");
        let path = first.0.clone();
        assert!(path.is_dir());
        let left = std::env::temp_dir().join(format!("{FOLDER}{}-0", u32::MAX));
        fs::create_dir(&left).expect("a folder");
        drop(Folder::new().expect("another"));
        assert!(path.is_dir() && !left.exists());
        drop(first);
        assert!(!path.exists());
    }

    #[test]
    fn a_folder_or_solution_of_projects_names_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        for (below, file) in [
            ("App", "App.csproj"),
            ("Checks", "Shop.Tests.fsproj"),
            ("App/obj", "Old.csproj"),
        ] {
            fs::create_dir_all(root.join(below)).expect("a folder");
            fs::write(root.join(below).join(file), "").expect("written");
        }
        let solution = root.join("Shop.slnx");
        fs::write(&solution, "").expect("written");
        for program in [root.to_owned(), solution] {
            let refused = assembly(&program).expect_err("no project");
            let names = ["Checks/Shop.Tests.fsproj", "App/App.csproj"];
            let paths = names.map(|it| root.join(it).display().to_string());
            assert_eq!(
                refused.details.as_deref(),
                Some(&Details::Candidates(paths.into()))
            );
        }
    }

    #[test]
    fn what_is_no_test_assembly_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let script = folder.path().join("run");
        fs::write(&script, "#!/bin/sh\n").expect("written");
        for program in [script.clone(), folder.path().join("none.dll")] {
            let mut launch = Launch {
                program,
                ..Launch::default()
            };
            let refused = TestRun::prepare(&mut launch, &TestOptions::default());
            assert_eq!(refused.expect_err("refused").code, ErrorCode::InvalidFile);
        }
        fs::write(folder.path().join("run.dll"), "").expect("written");
        assert_eq!(
            assembly(&script).expect("found"),
            folder.path().join("run.dll")
        );
    }
}
