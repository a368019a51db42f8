//! `ndbg run` of projects: built first, compiler errors as data, nothing of the build left.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use host::api::{Details, Error, ErrorCode, Line, Severity};
use host::project::{self, BuildError, BuildOptions};
use testkit::fixtures;
use testkit::procfs;
use testkit::sandbox::Sandbox;

use crate::{Ran, ndbg, wait};

/// The framework that the SDK under test builds for.
fn framework() -> String {
    let sdks = fs::read_dir(fixtures::dotnet_root().join("sdk")).expect("an SDK");
    let majors = sdks.flatten().filter_map(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        name.split('.').next()?.parse::<u32>().ok()
    });
    match majors.max().expect("an SDK") {
        3 => "netcoreapp3.1".to_owned(),
        major => format!("net{major}.0"),
    }
}

/// Writes a project with one source file.
fn write(sandbox: &Sandbox, name: &str, properties: &str, source: &str) -> PathBuf {
    let folder = sandbox.folder().join(name);
    fs::create_dir_all(&folder).expect("a folder");
    let project = folder.join(format!("{name}.csproj"));
    let text = format!(
        "<Project Sdk=\"Microsoft.NET.Sdk\"><PropertyGroup>\
         <TargetFramework>{}</TargetFramework>{properties}\
         </PropertyGroup></Project>\n",
        framework()
    );
    fs::write(&project, text).expect("a file");
    fs::write(folder.join("Program.cs"), source).expect("a file");
    project
}

const EXE: &str = "<OutputType>Exe</OutputType>";
const PROGRAM: &str = "\
using System;
static class Program
{
    static int Main(string[] args)
    {
        int unused;
        Console.WriteLine(\"built, \" + args.Length + \" arguments\");
        if (args.Length > 1) throw new Exception(\"too many\");
        return 40 + args.Length;
    }
}
";

/// A sandbox for builds: an SDK leaves files in the temporary folder.
fn sandbox() -> Sandbox {
    Sandbox::with_default_tmp()
}

fn options() -> BuildOptions<'static> {
    let environment = fixtures::dotnet_environment().into_iter();
    let mut env: std::collections::BTreeMap<_, _> = environment
        .map(|(name, value)| (name, Some(value.to_string_lossy().into_owned())))
        .collect();
    let root = fixtures::dotnet_root().display().to_string();
    env.insert("DOTNET_ROOT".into(), Some(root));
    BuildOptions {
        env,
        ..BuildOptions::default()
    }
}

fn build(path: &Path) -> Result<project::BuiltProgram, BuildError> {
    project::build(path, &options(), &mut |_| {})
}

#[test]
fn project_and_its_folder_are_built_and_run() {
    let sandbox = sandbox();
    let project = write(&sandbox, "shop", EXE, PROGRAM);
    let mut command = ndbg(&sandbox, ["run"]);
    command.arg(&project).args(["--", "x"]);
    let ran = Ran::of(command);
    assert_eq!(ran.code, Some(41), "{ran:?}");
    // Nothing of the build is on standard output.
    assert_eq!(ran.stdout, "built, 1 arguments\n", "{ran:?}");

    let mut command = ndbg(&sandbox, ["run"]);
    command
        .arg(project.parent().expect("a folder"))
        .args(["x", "y"]);
    let ran = Ran::of(command);
    assert_eq!(ran.code, Some(134), "{ran:?}");
    let place = format!("in {}:8\n", project.with_file_name("Program.cs").display());
    let exception = "ndbg: unhandled System.Exception: too many";
    for words in [exception, &place] {
        assert!(
            ran.stderr.contains(words),
            "no {words:?} in:\n{}",
            ran.stderr
        );
    }
}

#[test]
fn built_program_and_its_warnings_are_told() {
    let sandbox = sandbox();
    let project = write(&sandbox, "warned", EXE, PROGRAM);
    let mut lines = Vec::new();
    let built = project::build(&project, &options(), &mut |line| {
        lines.push(line.to_owned())
    });
    let built = built.expect("it builds");
    assert_eq!(
        built.program.file_name().and_then(|name| name.to_str()),
        Some("warned.dll")
    );
    assert!(built.program.is_file());
    assert_eq!(built.project, project);
    let warning = built
        .warnings
        .iter()
        .find(|warning| warning.code.as_deref() == Some("CS0168"));
    let warning = warning.unwrap_or_else(|| panic!("{:?}", built.warnings));
    assert_eq!(warning.severity, Severity::Warning);
    assert_eq!(
        warning.file.as_deref(),
        Some(project.with_file_name("Program.cs").as_path())
    );
    assert_eq!((warning.line, warning.column), (Some(Line(6)), Some(13)));
    assert!(
        lines.iter().any(|line| line.contains("warned.dll")),
        "{lines:?}"
    );
}

#[test]
fn compiler_errors_come_back_as_data() {
    let sandbox = sandbox();
    let source = PROGRAM
        .replace("return 40", "return \"text\" +")
        .replace("int unused;", "nonsense x;");
    let project = write(&sandbox, "broken", EXE, &source);
    let error = build(&project).expect_err("it does not compile");
    let error = Error::from(error);
    assert_eq!(error.code, ErrorCode::BuildFailed);
    assert!(error.message.contains("CS0246"), "{error}");
    let Some(Details::Diagnostics(diagnostics)) = error.details.as_deref() else {
        panic!("{error:?}");
    };
    let unknown = diagnostics
        .iter()
        .find(|it| it.code.as_deref() == Some("CS0246"));
    let unknown = unknown.unwrap_or_else(|| panic!("{diagnostics:?}"));
    assert_eq!(unknown.severity, Severity::Error);
    assert_eq!(
        unknown.file.as_deref(),
        Some(project.with_file_name("Program.cs").as_path())
    );
    assert_eq!((unknown.line, unknown.column), (Some(Line(6)), Some(9)));
    assert!(unknown.message.contains("nonsense"), "{unknown:?}");

    // The command line tells them in the form that editors know.
    let mut command = ndbg(&sandbox, ["run"]);
    command.arg(&project);
    let ran = Ran::of(command);
    assert_eq!(ran.code, Some(126), "{ran:?}");
    assert_eq!(ran.stdout, "");
    assert!(
        ran.stderr.contains("Program.cs:6:9: error CS0246: "),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("\nerror: building "), "{}", ran.stderr);
}

#[test]
fn project_that_is_not_a_program_is_refused() {
    let sandbox = sandbox();
    let library = write(&sandbox, "library", "", "public class Nothing { }\n");
    let error = build(&library).expect_err("there is nothing to start");
    assert!(matches!(error, BuildError::Library { .. }), "{error:?}");
    let malformed = write(&sandbox, "malformed", EXE, PROGRAM);
    fs::write(&malformed, "<Project").expect("our own file");
    let error = build(&malformed).expect_err("it is not a project");
    match &error {
        BuildError::Failed { diagnostics, .. } => {
            assert_eq!(diagnostics.len(), 1, "{diagnostics:?}");
            assert_eq!(diagnostics[0].file.as_deref(), Some(malformed.as_path()));
        }
        _ => panic!("{error:?}"),
    }
}

#[test]
fn runtime_without_sdk_cannot_build() {
    let sandbox = sandbox();
    let project = write(&sandbox, "shop", EXE, PROGRAM);
    let real = fixtures::dotnet_root();
    let root = sandbox.folder().join("dotnet");
    fs::create_dir(&root).expect("a folder");
    fs::copy(real.join("dotnet"), root.join("dotnet")).expect("a copy");
    for part in ["host", "shared"] {
        std::os::unix::fs::symlink(real.join(part), root.join(part)).expect("a link");
    }
    let mut command = ndbg(&sandbox, ["run"]);
    command.arg(&project).env("DOTNET_ROOT", &root);
    let ran = Ran::of(command);
    assert_eq!(ran.code, Some(126), "{ran:?}");
    assert!(ran.stderr.contains("has no SDK, only a runtime"), "{ran:?}");
}

#[test]
fn sdk_that_the_project_wants_and_is_not_there_is_told() {
    let sandbox = sandbox();
    let project = write(&sandbox, "shop", EXE, PROGRAM);
    let wish = "{ \"sdk\": { \"version\": \"99.0.100\" } }";
    fs::write(project.with_file_name("global.json"), wish).expect("a file");
    let error = build(&project).expect_err("there is no such SDK");
    assert!(error.to_string().contains("99.0.100"), "{error}");
}

#[test]
fn build_can_be_given_up_and_leaves_nothing() {
    let sandbox = sandbox();
    // A build that takes for ever.
    let project = write(&sandbox, "slow", EXE, PROGRAM);
    let text = fs::read_to_string(&project).expect("our own file");
    let target = "<Target Name=\"Wait\" BeforeTargets=\"Restore;Build;CoreCompile\">\
                  <Exec Command=\"echo waiting; sleep 1000\" /></Target></Project>";
    fs::write(&project, text.replace("</Project>", target)).expect("our own file");

    let mut options = options();
    options.timeout = Duration::from_secs(3);
    for (name, value) in sandbox.environment() {
        let text = |it: std::ffi::OsString| it.to_string_lossy().into_owned();
        options.env.insert(text(name), Some(text(value)));
    }
    let error = project::build(&project, &options, &mut |_| {}).expect_err("time is up");
    assert!(matches!(error, BuildError::TimedOut { .. }), "{error:?}");
    sandbox.assert_clean();

    let mut command = ndbg(&sandbox, ["run"]);
    command
        .arg(&project)
        .env("NDBG_LOG", "info")
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("ndbg starts");
    let log = BufReader::new(child.stderr.take().expect("piped"));
    let waiting = log
        .lines()
        .map_while(Result::ok)
        .any(|line| line.contains("waiting"));
    assert!(waiting, "the build ended");
    procfs::signal(child.id(), rustix::process::Signal::TERM);
    assert_eq!(wait(&mut child).code(), Some(143));
    sandbox.assert_clean();
}
