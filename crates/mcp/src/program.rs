//! From what a client names to something that can be launched: a project is built first, tests get their runner.

use host::api::{Error, Launch};
use host::project::{self, BuildOptions};
use host::testing::{TestOptions, TestRun};

/// What to build if the program is a project.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Build {
    pub(crate) configuration: Option<String>,
    pub(crate) framework: Option<String>,
    /// Which tests are run, if the program is there for its tests.
    pub(crate) tests: Option<TestOptions>,
}

/// Makes a launch one of a program: `progress` is told what takes time, `cancelled` is asked whether to give up.
pub(crate) fn ready(
    launch: &mut Launch,
    build: Build,
    cancelled: &dyn Fn() -> bool,
    progress: &mut dyn FnMut(&str),
) -> Result<Option<TestRun>, Error> {
    let mut tests = build.tests.clone();
    if project::is_project(&launch.program) {
        built(launch, build, tests.as_mut(), cancelled, progress)?;
    }
    let run = tests.map(|tests| TestRun::prepare(launch, &tests));
    run.transpose()
}

fn built(
    launch: &mut Launch,
    build: Build,
    tests: Option<&mut TestOptions>,
    cancelled: &dyn Fn() -> bool,
    progress: &mut dyn FnMut(&str),
) -> Result<(), Error> {
    progress(&format!("building {}", launch.program.display()));
    let defaults = BuildOptions::default();
    let options = BuildOptions {
        configuration: build.configuration.unwrap_or(defaults.configuration),
        framework: build.framework,
        env: launch.env.clone(),
        library: tests.is_some(),
        cancelled,
        ..BuildOptions::default()
    };
    let built = project::build(&launch.program, &options, progress)?;
    launch.program = built.program;
    if let Some(tests) = tests {
        tests.run_settings = built.run_settings;
    }
    Ok(())
}
