//! From what a client names to something that can be launched: a project is built first.

use host::api::{Error, Launch};
use host::project::{self, BuildOptions};

/// What to build if the program is a project.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Build {
    pub(crate) configuration: Option<String>,
    pub(crate) framework: Option<String>,
}

/// Makes a launch one of a program: `progress` is told what takes time, `cancelled` is asked whether to give up.
pub(crate) fn ready(
    launch: &mut Launch,
    build: Build,
    cancelled: &dyn Fn() -> bool,
    progress: &mut dyn FnMut(&str),
) -> Result<(), Error> {
    if !project::is_project(&launch.program) {
        return Ok(());
    }
    progress(&format!("building {}", launch.program.display()));
    let defaults = BuildOptions::default();
    let options = BuildOptions {
        configuration: build.configuration.unwrap_or(defaults.configuration),
        framework: build.framework,
        env: launch.env.clone(),
        cancelled,
        ..BuildOptions::default()
    };
    launch.program = project::build(&launch.program, &options, progress)?.program;
    Ok(())
}
