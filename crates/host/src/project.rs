//! From a project to a program: builds it with `dotnet build` and tells where the program is.
//!
//! What the compiler says comes back as data. Nothing is left running: no build server is started, and a build that
//! is given up is killed with everything below it. The build has the environment that the program will have.

mod command;
mod find;
mod output;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use engine::api::{Details, Diagnostic, EnvChange, Error, ErrorCode, Severity};

use command::{Finished, Runner};
pub use find::is_project;
use output::Log;

/// How a project is built.
pub struct BuildOptions<'a> {
    /// The configuration: `Debug` if the program is to be debugged.
    pub configuration: String,
    /// The framework of a project that targets several, such as `net9.0`.
    pub framework: Option<String>,
    /// Changes to the inherited environment, as for the program.
    pub env: BTreeMap<String, EnvChange>,
    /// Whether a library will do: tests may be one, and are told from other projects only after the first build.
    pub library: bool,
    /// How long the build may take.
    pub timeout: Duration,
    /// Asked every few milliseconds; `true` gives the build up.
    pub cancelled: &'a dyn Fn() -> bool,
}

impl Default for BuildOptions<'_> {
    fn default() -> Self {
        Self {
            configuration: "Debug".into(),
            framework: None,
            env: BTreeMap::new(),
            library: false,
            timeout: Duration::from_secs(600),
            cancelled: &|| false,
        }
    }
}

/// A program that was built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltProgram {
    /// What to launch.
    pub program: PathBuf,
    /// The project that was built.
    pub project: PathBuf,
    /// The settings that its tests are run with, if it names some.
    pub run_settings: Option<PathBuf>,
    /// What the compiler warned of.
    pub warnings: Vec<Diagnostic>,
}

/// Why there is no program.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum BuildError {
    #[error("there is no file or folder {}", path.display())]
    NotFound { path: PathBuf },
    #[error("{} is not a project: it has no .csproj, .fsproj or .vbproj file", path.display())]
    NoProject { path: PathBuf },
    #[error("{} has {} projects", path.display(), projects.len())]
    SeveralProjects {
        path: PathBuf,
        projects: Vec<PathBuf>,
    },
    #[error("{} is a library (output type {output_type}): there is no program to start", project.display())]
    Library {
        project: PathBuf,
        output_type: String,
    },
    #[error("{} targets several frameworks: {}", project.display(), frameworks.join(", "))]
    SeveralFrameworks {
        project: PathBuf,
        frameworks: Vec<String>,
    },
    #[error("{what} {name:?} cannot be built: it is no name")]
    BadName { what: &'static str, name: String },
    #[error("no dotnet command was found in DOTNET_ROOT, PATH and the usual folders")]
    NoDotnet,
    #[error("{} cannot be built: {}", project.display(), reason)]
    NoSdk { project: PathBuf, reason: String },
    #[error("building {} failed{}", project.display(), first_errors(diagnostics, output))]
    Failed {
        project: PathBuf,
        diagnostics: Vec<Diagnostic>,
        /// The end of what the build printed.
        output: String,
    },
    #[error("{} was built, but where the program is cannot be told", project.display())]
    NoOutput { project: PathBuf },
    #[error("building {} took longer than {} s and was given up", project.display(), timeout.as_secs())]
    TimedOut { project: PathBuf, timeout: Duration },
    #[error("building {} was given up", project.display())]
    Cancelled { project: PathBuf },
    #[error("dotnet cannot be run: {0}")]
    System(#[from] std::io::Error),
}

/// Errors of a failed build that its message names; all are in its data.
const NAMED_ERRORS: usize = 5;

fn first_errors(diagnostics: &[Diagnostic], output: &str) -> String {
    let errors: Vec<_> = diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity == Severity::Error)
        .collect();
    if errors.is_empty() {
        return format!("; it printed:\n{}", output.trim_end());
    }
    let mut text = format!(" with {} error(s):", errors.len());
    for error in errors.iter().take(NAMED_ERRORS) {
        text += &format!("\n{error}");
    }
    if errors.len() > NAMED_ERRORS {
        text += &format!("\nand {} more", errors.len() - NAMED_ERRORS);
    }
    text
}

impl BuildError {
    /// What the compiler said, if it came that far.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            BuildError::Failed { diagnostics, .. } => diagnostics,
            _ => &[],
        }
    }
}

impl From<BuildError> for Error {
    fn from(error: BuildError) -> Self {
        let message = error.to_string();
        let (code, hint) = match &error {
            BuildError::NotFound { .. } | BuildError::NoProject { .. } => (
                ErrorCode::InvalidFile,
                Some("give the path of a project file, or of a .dll or executable".into()),
            ),
            BuildError::SeveralProjects { projects, .. } => (
                ErrorCode::InvalidFile,
                Some(format!(
                    "name the one that is the program: {}",
                    listed(projects)
                )),
            ),
            BuildError::Library { .. } => (
                ErrorCode::InvalidFile,
                Some("give the project of the program that uses it".into()),
            ),
            BuildError::SeveralFrameworks { .. } => (
                ErrorCode::InvalidParameter,
                Some("say which framework to build".into()),
            ),
            BuildError::BadName { .. } => (
                ErrorCode::InvalidParameter,
                Some(
                    "give a name such as Debug or net9.0; other properties of a build belong into the project"
                        .into(),
                ),
            ),
            BuildError::NoDotnet => (
                ErrorCode::RuntimeNotFound,
                Some(
                    "install the .NET SDK or set DOTNET_ROOT to the folder that holds dotnet"
                        .into(),
                ),
            ),
            BuildError::NoSdk { .. } => (
                ErrorCode::BuildFailed,
                Some(
                    "install a .NET SDK, or build the project elsewhere and launch its .dll".into(),
                ),
            ),
            BuildError::Failed { .. } => (
                ErrorCode::BuildFailed,
                Some("correct the errors and launch again".into()),
            ),
            BuildError::NoOutput { .. } => (
                ErrorCode::BuildFailed,
                Some("launch the built .dll itself".into()),
            ),
            BuildError::TimedOut { .. } => (
                ErrorCode::Timeout,
                Some("build the project first, then launch its .dll".into()),
            ),
            BuildError::Cancelled { .. } | BuildError::System(_) => (ErrorCode::BuildFailed, None),
        };
        let mut answer = Error::new(code, message);
        answer.hint = hint;
        match error {
            BuildError::Failed { diagnostics, .. } if !diagnostics.is_empty() => {
                answer.details(Details::Diagnostics(diagnostics))
            }
            BuildError::SeveralProjects { projects, .. } => {
                let projects = projects.iter().map(|path| path.display().to_string());
                answer.details(Details::Candidates(projects.collect()))
            }
            BuildError::SeveralFrameworks { frameworks, .. } => {
                answer.details(Details::Candidates(frameworks))
            }
            _ => answer,
        }
    }
}

fn listed(paths: &[PathBuf]) -> String {
    let names = paths.iter().map(|path| path.display().to_string());
    names.collect::<Vec<_>>().join(", ")
}

/// Refuses a name that would say more to the build than which configuration or framework is meant, or lead its output
/// elsewhere.
fn check_name(what: &'static str, name: &str) -> Result<(), BuildError> {
    let says_more = |letter: char| letter.is_control() || r#"%*?@$;'"/\=,|<>:"#.contains(letter);
    if name.trim().is_empty() || name.contains(says_more) || name.starts_with(['-', '.']) {
        let name = name.to_owned();
        return Err(BuildError::BadName { what, name });
    }
    Ok(())
}

/// Builds a project file, or the one project of a folder or solution. `progress` is told each line that the build
/// prints.
pub fn build(
    path: &Path,
    options: &BuildOptions<'_>,
    progress: &mut dyn FnMut(&str),
) -> Result<BuiltProgram, BuildError> {
    let project = find::project(path)?;
    check_name("configuration", &options.configuration)?;
    if let Some(framework) = &options.framework {
        check_name("framework", framework)?;
    }
    let variable = |name: &str| match options.env.get(name) {
        Some(change) => change.clone().map(OsString::from),
        None => std::env::var_os(name),
    };
    let dotnet = engine::program::locate_dotnet(variable).ok_or(BuildError::NoDotnet)?;
    let runner = Runner {
        dotnet,
        project: &project,
        options,
        deadline: Instant::now() + options.timeout,
    };
    runner.check_sdk()?;
    let facts = runner.facts()?;
    facts.check(&project, options.library)?;

    let mut log = Log::new(&project);
    let finished = runner.build(&mut |line| {
        log.line(line);
        progress(line);
    })?;
    match finished {
        Finished::Success => {}
        Finished::NoSdk => {
            return Err(BuildError::NoSdk {
                project,
                reason: log.tail(),
            });
        }
        Finished::Failure => {
            return Err(BuildError::Failed {
                project,
                output: log.tail(),
                diagnostics: log.diagnostics,
            });
        }
    }
    // An SDK that tells no properties names the file in its log.
    let built = facts.program().filter(|program| program.is_file());
    let built = built.or_else(|| log.built.clone());
    let Some(program) = built.filter(|program| program.is_file()) else {
        return Err(BuildError::NoOutput { project });
    };
    if facts.is_unknown()
        && !options.library
        && !program.with_extension("runtimeconfig.json").is_file()
    {
        return Err(BuildError::Library {
            project,
            output_type: "Library".into(),
        });
    }
    Ok(BuiltProgram {
        program,
        run_settings: facts.run_settings(&project),
        project,
        warnings: log.diagnostics,
    })
}
