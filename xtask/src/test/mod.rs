//! `cargo xtask test`: everything that must hold before a change goes in.
//!
//! Each step runs even if one before it failed, so that one run shows all there is to mend. The last
//! line on standard output is `N passed, N failed`: all tests, and one failure for each other step
//! that failed.

mod counts;
mod editors;

use std::{
    env,
    ffi::OsString,
    fs::{self, OpenOptions},
    io::{BufRead, BufReader, Write},
    path::PathBuf,
    process::{Command, ExitCode, Stdio},
    time::Instant,
};

use anyhow::{Context, Result, bail, ensure};

use self::{counts::Counts, editors::Editors};
use crate::{dotnet, fixtures::Fixtures, ui, workspace};

const USAGE: &str = "\
usage: cargo xtask test [--dotnet DIR] [--live-only | --sessions-only] [--counts FILE] [-- ARGUMENTS]

  --dotnet DIR   only the live tests, on the .NET in this folder
  --live-only    only the live tests, on the .NET that is found
  --sessions-only  of these only the ones about debugging: not those that build projects or only read files
  --counts FILE  append `PASSED FAILED` to this file, instead of the closing line
  -- ARGUMENTS   only the tests chosen by these arguments of `cargo nextest run` (or `cargo test`)

Without options: formatting, clippy, all tests, doc tests, documentation.
";

/// Test binaries whose tests need a runtime have this in their names.
const LIVE: [&str; 2] = ["live", "oracle"];

/// Live tests that say nothing about debugging: they look at the fixtures themselves, read files, or build projects,
/// which takes most of their time.
const WITHOUT_SESSION: &str = "binary(oracle) | binary(live_fixtures) | test(/^projects?::/)";

/// Tests that build projects with packages: they need an SDK of this version, and the packages.
const WITH_PACKAGES: &str = "packages::";
const PACKAGES_SDK: u64 = 10;

/// Tests of programs in a newer C# than the usual compiler knows. The configuration of nextest leaves them out, since a plain
/// `cargo nextest run` cannot know which compiler there is.
const NEW_CSHARP: &str = "csharp14::";
const NEW_CSHARP_VERSION: u32 = 14;

/// What the user asked for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Request {
    dotnet: Option<PathBuf>,
    live_only: bool,
    sessions_only: bool,
    counts: Option<PathBuf>,
    filter: Vec<String>,
}

impl Request {
    fn parse(arguments: &[String]) -> Result<Self> {
        let mut request = Self::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let mut value = || {
                let value = arguments.next();
                value.with_context(|| format!("{argument} wants a value\n{USAGE}"))
            };
            match argument.as_str() {
                "--dotnet" => request.dotnet = Some(value()?.into()),
                "--counts" => request.counts = Some(value()?.into()),
                "--live-only" => request.live_only = true,
                "--sessions-only" => request.sessions_only = true,
                "--" => request.filter = arguments.by_ref().cloned().collect(),
                _ => bail!("unknown argument {argument}\n{USAGE}"),
            }
        }
        Ok(request)
    }

    fn live_only(&self) -> bool {
        self.live_only || self.sessions_only || self.dotnet.is_some()
    }

    /// Everything, not a selection of tests.
    fn whole(&self) -> bool {
        !self.live_only() && self.filter.is_empty()
    }
}

/// The command itself.
pub(crate) fn command(arguments: &[String]) -> Result<ExitCode> {
    let request = Request::parse(arguments)?;
    let mut run = Run::default();
    if request.whole() {
        run.step("formatting", || cargo(["fmt", "--all", "--check"], &[]));
        run.step("clippy", || {
            let lints = ["--", "-D", "warnings"];
            cargo(
                ["clippy", "--workspace", "--all-targets"]
                    .iter()
                    .chain(&lints),
                &[],
            )
        });
    }
    if let Some(set_up) = run.step("set-up", || set_up(&request)) {
        let (environment, editors) = (&set_up.environment, &set_up.editors);
        let name = if request.live_only() {
            "live tests"
        } else {
            "tests"
        };
        run.tests(name, || tests(&request, &set_up));
        run.not_run = editors.n_missing();
        if request.whole() {
            run.tests("doc tests", || {
                let arguments = ["test", "--workspace", "--doc", "--no-fail-fast"];
                libtest(
                    workspace::cargo()
                        .args(arguments)
                        .envs(environment.iter().cloned()),
                )
            });
        }
    }
    if request.whole() {
        run.step("documentation", || {
            let strict = ("RUSTDOCFLAGS", OsString::from("-D warnings"));
            cargo(["doc", "--workspace", "--no-deps"], &[strict])
        });
    }
    run.close(&request)
}

/// What has been found so far.
#[derive(Debug, Default)]
struct Run {
    counts: Counts,
    /// Steps that failed other than by a failing test.
    failed: Vec<&'static str>,
    /// Tests that were left out because a client they drive is not here.
    not_run: usize,
}

impl Run {
    /// A step without tests of its own.
    fn step<T>(&mut self, name: &'static str, work: impl FnOnce() -> Result<T>) -> Option<T> {
        ui::heading(name);
        let started = Instant::now();
        let outcome = work();
        match outcome {
            Ok(value) => {
                ui::detail(&format!("{name}: {:.1} s", started.elapsed().as_secs_f64()));
                Some(value)
            }
            Err(error) => {
                ui::error(&format!("{name} failed: {error:#}"));
                self.failed.push(name);
                None
            }
        }
    }

    /// A step that runs tests; a failing test is counted and is not an error.
    fn tests(&mut self, name: &'static str, work: impl FnOnce() -> Result<Counts>) {
        if let Some(counts) = self.step(name, work) {
            self.counts += counts;
        }
    }

    /// Prints the closing line, after which nothing may follow.
    fn close(mut self, request: &Request) -> Result<ExitCode> {
        self.counts.failed += self.failed.len() as u64;
        let counts = self.counts;
        if self.not_run > 0 {
            ui::warning(&format!(
                "not run: {} (their clients are not here, see above)",
                self.not_run
            ));
        }
        if !self.failed.is_empty() {
            ui::error(&format!("failed besides tests: {}", self.failed.join(", ")));
        }
        if let Some(path) = &request.counts {
            // Whoever adds up several runs prints the closing line himself.
            ui::detail(&format!("this run: {counts}"));
            let line = format!("{} {}\n", counts.passed, counts.failed);
            OpenOptions::new()
                .create(true)
                .append(true)
                .open(path)
                .and_then(|mut file| file.write_all(line.as_bytes()))
                .with_context(|| format!("cannot write {}", path.display()))?;
        } else {
            println!("{counts}");
        }
        Ok(if counts.failed == 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }
}

/// What the tests need.
#[derive(Debug)]
struct SetUp {
    /// Variables that tell them of it.
    environment: Vec<(&'static str, OsString)>,
    editors: Editors,
    /// The newest version of C# that the fixtures were compiled from.
    language: u32,
}

/// Makes ready what the tests need.
fn set_up(request: &Request) -> Result<SetUp> {
    let dotnet = match &request.dotnet {
        Some(folder) => dotnet::named(folder)?,
        None => dotnet::set_up()?,
    };
    ui::detail(&format!(
        ".NET {} in {}",
        dotnet.version,
        dotnet.root.display()
    ));
    let fixtures = Fixtures::compile(dotnet)?;
    if request.dotnet.is_none() {
        fixtures.remember()?;
    }
    // The tests run the real program; they are not made with it unless they are its own.
    cargo(["build", "--workspace", "--bins"], &[])?;
    let ndbg = workspace::target()?.join("debug/ndbg");
    ensure!(ndbg.is_file(), "cargo build made no {}", ndbg.display());
    let mut environment = fixtures.environment()?;
    environment.push(("NDBG_TEST_BIN", ndbg.into()));
    let editors = Editors::set_up();
    environment.extend(editors.environment.iter().cloned());
    Ok(SetUp {
        environment,
        editors,
        language: fixtures.language,
    })
}

/// Runs the tests that were asked for.
fn tests(request: &Request, set_up: &SetUp) -> Result<Counts> {
    let (environment, editors) = (set_up.environment.as_slice(), &set_up.editors);
    let has_nextest = workspace::cargo()
        .args(["nextest", "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    let mut command = workspace::cargo();
    command.envs(environment.iter().cloned());
    let packages = has_packages(environment) && !request.sessions_only;
    if !packages && request.filter.is_empty() {
        ui::warning(&format!(
            "not run: the tests {WITH_PACKAGES}*, which need an SDK {PACKAGES_SDK} and NDBG_TEST_NUGET, a folder of packages"
        ));
    }
    let new_csharp = set_up.language >= NEW_CSHARP_VERSION;
    if !new_csharp && request.filter.is_empty() {
        ui::warning(&format!(
            "not run: the tests {NEW_CSHARP}*, which need a compiler of C# {NEW_CSHARP_VERSION}; this one knows {}",
            set_up.language
        ));
    }
    if has_nextest {
        command.args(["nextest", "run", "--workspace", "--no-fail-fast"]);
        if new_csharp {
            command.arg("--ignore-default-filter");
        }
        // Patterns of nextest add up: one that was asked for must not be widened.
        if request.live_only() && request.filter.is_empty() {
            // One pattern: nextest refuses one that matches no binary at all.
            let mut filter = format!("binary(/{}/)", LIVE.join("|"));
            if request.sessions_only {
                filter = format!("({filter}) - ({WITHOUT_SESSION})");
            }
            if !packages {
                filter = format!("({filter}) - test(/^{WITH_PACKAGES}/)");
            }
            command.args(["-E", &editors.left_out_of(&filter)]);
        } else if request.filter.is_empty() && (editors.n_missing() > 0 || !packages) {
            let all = if packages {
                "all()".to_owned()
            } else {
                format!("not test(/^{WITH_PACKAGES}/)")
            };
            command.args(["-E", &editors.left_out_of(&all)]);
        }
        nextest(command.args(&request.filter))
    } else {
        command.args(["test", "--workspace", "--no-fail-fast"]);
        if request.live_only() {
            for name in live_targets()? {
                command.args(["--test", &name]);
            }
        } else if request.filter.is_empty() {
            // Doc tests are a step of their own.
            command.arg("--all-targets");
        }
        if request.filter.is_empty() {
            command.arg("--").args(editors.skipped());
            if !packages {
                command.args(["--skip", WITH_PACKAGES]);
            }
            if !new_csharp {
                command.args(["--skip", NEW_CSHARP]);
            }
        }
        libtest(command.args(&request.filter))
    }
}

/// Whether projects with packages can be built here.
fn has_packages(environment: &[(&'static str, OsString)]) -> bool {
    let variable = |wanted: &str| {
        let set = environment.iter().find(|(name, _)| *name == wanted);
        set.map(|(_, value)| value.clone())
            .or_else(|| env::var_os(wanted))
    };
    let sdks = variable("NDBG_TEST_DOTNET").map(|root| PathBuf::from(root).join("sdk"));
    let sdks = sdks.and_then(|folder| fs::read_dir(folder).ok());
    let is_new = |entry: fs::DirEntry| {
        let name = entry.file_name();
        let major = name.to_str()?.split('.').next()?.parse::<u64>().ok()?;
        Some(major >= PACKAGES_SDK)
    };
    variable("NDBG_TEST_NUGET").is_some()
        && sdks
            .into_iter()
            .flatten()
            .flatten()
            .any(|entry| is_new(entry) == Some(true))
}

/// Runs nextest and reads its report.
fn nextest(command: &mut Command) -> Result<Counts> {
    let profile = env::var("NEXTEST_PROFILE").unwrap_or_else(|_| "default".to_owned());
    let report = workspace::target()?
        .join("nextest")
        .join(profile)
        .join("junit.xml");
    // The report of an earlier run must not be taken for this one's.
    if report.exists() {
        fs::remove_file(&report).with_context(|| format!("cannot remove {}", report.display()))?;
    }
    let status = command.status().context("cannot start cargo nextest")?;
    let text = fs::read_to_string(&report).with_context(|| {
        format!(
            "cargo nextest ran no tests ({status}; no {})",
            report.display()
        )
    })?;
    let counts = counts::from_junit(&text)
        .with_context(|| format!("cannot read the counts in {}", report.display()))?;
    settle(counts, status.success())
}

/// Runs `cargo test` and adds up its summaries.
fn libtest(command: &mut Command) -> Result<Counts> {
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start cargo test")?;
    let stdout = child.stdout.take().context("cargo test has no output")?;
    let mut counts = Counts::default();
    for line in BufReader::new(stdout).split(b'\n') {
        let line = line.context("cannot read the output of cargo test")?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        counts += counts::from_libtest(&line).unwrap_or_default();
    }
    let status = child.wait().context("cannot wait for cargo test")?;
    settle(counts, status.success())
}

/// The counts, unless the runner reports a failure that they do not show.
fn settle(counts: Counts, success: bool) -> Result<Counts> {
    ensure!(
        success || counts.failed > 0,
        "the test runner failed, though no test did (see above)"
    );
    Ok(counts)
}

/// The test targets with live tests, for `cargo test`, which refuses a name without a target.
fn live_targets() -> Result<Vec<String>> {
    let metadata = workspace::metadata()?;
    let list = |value: &serde_json::Value, name: &str| {
        let list = value.get(name).and_then(serde_json::Value::as_array);
        list.cloned().unwrap_or_default()
    };
    let packages = list(&metadata, "packages");
    let targets = packages.iter().flat_map(|package| list(package, "targets"));
    let names = targets.filter_map(|target| {
        let name = target.get("name")?.as_str()?;
        let is_test = list(&target, "kind").iter().any(|kind| kind == "test");
        let is_live = LIVE.iter().any(|part| name.contains(part));
        (is_test && is_live).then(|| name.to_owned())
    });
    let mut names: Vec<_> = names.collect();
    names.sort();
    names.dedup();
    ensure!(!names.is_empty(), "there are no live tests");
    Ok(names)
}

/// Runs cargo; an error says only that it failed, the reason is on the terminal already.
fn cargo<A: AsRef<std::ffi::OsStr>>(
    arguments: impl IntoIterator<Item = A>,
    environment: &[(&'static str, OsString)],
) -> Result<()> {
    let mut command = workspace::cargo();
    command.args(arguments).envs(environment.iter().cloned());
    let status = command.status().context("cannot start cargo")?;
    ensure!(status.success(), "see above ({status})");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Request> {
        let arguments: Vec<_> = arguments.iter().map(|text| (*text).to_owned()).collect();
        Request::parse(&arguments)
    }

    #[test]
    fn all_options_are_read() {
        let arguments = [
            "--dotnet",
            "d",
            "--counts",
            "c",
            "--live-only",
            "--sessions-only",
            "--",
            "-E",
            "--dotnet",
        ];
        let expected = Request {
            dotnet: Some("d".into()),
            live_only: true,
            sessions_only: true,
            counts: Some("c".into()),
            filter: vec!["-E".to_owned(), "--dotnet".to_owned()],
        };
        assert_eq!(parse(&arguments).expect("valid"), expected);
    }

    #[test]
    fn what_runs_depends_on_the_options() {
        assert!(parse(&[]).expect("valid").whole());
        assert!(parse(&["--counts", "c"]).expect("valid").whole());
        assert!(!parse(&["--", "launch"]).expect("valid").whole());
        let request = parse(&["--dotnet", "d"]).expect("valid");
        assert!(request.live_only() && !request.whole());
    }

    #[test]
    fn bad_arguments_are_refused() {
        assert!(parse(&["--dotnet"]).is_err());
        assert!(parse(&["launch"]).is_err());
    }

    #[test]
    fn runner_that_fails_without_a_failed_test_is_an_error() {
        let none = Counts::default();
        assert_eq!(settle(none, true).expect("fine"), none);
        assert!(settle(none, false).is_err());
        let one = Counts {
            passed: 0,
            failed: 1,
        };
        assert_eq!(settle(one, false).expect("counted"), one);
    }
}
