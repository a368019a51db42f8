//! The settings of `launch` and `attach`: the names that people have in their `launch.json`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use host::api::{Follow, Launch, ProcessId, StepOptions};
use serde::Deserialize;
use serde_json::Value;

use crate::message::Refusal;
use crate::relaxed::plain_json;

/// Longest file of settings that is read.
const MAX_FILE: u64 = 1024 * 1024;

/// Settings of a launch. What is not known here is left to others.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct LaunchSettings {
    pub(crate) program: Option<PathBuf>,
    pub(crate) args: Arguments,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) env: BTreeMap<String, Option<Text>>,
    pub(crate) env_file: Option<PathBuf>,
    pub(crate) stop_at_entry: bool,
    /// The same, as other adapters call it.
    pub(crate) stop_on_entry: bool,
    pub(crate) console: Option<String>,
    pub(crate) launch_settings_profile: Option<String>,
    pub(crate) launch_settings_file_path: Option<PathBuf>,
    pub(crate) no_debug: bool,
    /// Debugs a .NET process that the program starts: the first that is no tool of the SDK, or the first whose command line
    /// contains a text.
    pub(crate) follow_child: Option<Text>,
    pub(crate) just_my_code: Option<bool>,
    pub(crate) enable_step_filtering: Option<bool>,
    #[serde(rename = "suppressJITOptimizations")]
    pub(crate) suppress_jit_optimizations: Option<bool>,
    pub(crate) source_file_map: BTreeMap<String, String>,
    pub(crate) require_exact_source: Option<bool>,
    pub(crate) expression_evaluation_options: EvaluationSettings,
    #[serde(flatten)]
    pub(crate) others: BTreeMap<String, Value>,
}

/// How values are read, as vsdbg names it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct EvaluationSettings {
    /// Whether getters run without being asked for. Absent, they run when they are opened.
    allow_implicit_func_eval: Option<bool>,
    /// Whether `ToString` runs to show a value.
    allow_to_string: Option<bool>,
    /// Whether fields are shown as they are.
    show_raw_values: Option<bool>,
    /// Means nothing here: whatever can be told by reading is told by reading.
    #[serde(rename = "allowFastEvaluate")]
    _allow_fast_evaluate: Option<bool>,
    #[serde(flatten)]
    others: BTreeMap<String, Value>,
}

impl EvaluationSettings {
    /// What a view of values shows.
    pub(crate) fn shown(&self) -> Shown {
        // The engine has one switch for both: what is not wanted must not run.
        let refused = [self.allow_implicit_func_eval, self.allow_to_string].contains(&Some(false));
        Shown {
            raw: self.show_raw_values == Some(true),
            run_code: self.allow_implicit_func_eval == Some(true) && !refused,
        }
    }
}

/// How values are shown in this session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    /// Fields as they are.
    pub(crate) raw: bool,
    /// Getters and `ToString` run without being asked for.
    pub(crate) run_code: bool,
}

/// Leaves out settings that are `null`: editors write that for what nobody has set. A variable of the environment that is
/// `null` is one that the program is not to have.
pub(crate) fn without_nulls(mut settings: Value) -> Value {
    if let Value::Object(all) = &mut settings {
        all.retain(|_, value| !value.is_null());
        for name in ["expressionEvaluationOptions", "sourceFileMap"] {
            if let Some(Value::Object(inner)) = all.get_mut(name) {
                inner.retain(|_, value| !value.is_null());
            }
        }
        if let Some(inner) = all.get_mut("arguments") {
            *inner = without_nulls(inner.take());
        }
    }
    settings
}

/// Settings that are for the editor, or that other adapters need and this one does not: nothing is lost without them.
const OF_OTHERS: [&str; 18] = [
    "type",
    "request",
    "name",
    "preLaunchTask",
    "postDebugTask",
    "presentation",
    "internalConsoleOptions",
    "debugServer",
    "serverReadyAction",
    "restart",
    "order",
    "windows",
    "linux",
    "osx",
    "logging",
    "targetArchitecture",
    "suppressMultipleSessionWarning",
    "checkForDevCert",
];

/// Says which settings mean nothing here, if there are such.
fn unused(others: &BTreeMap<String, Value>, nested: &EvaluationSettings) -> Option<String> {
    let top = others.keys().cloned();
    let top = top.filter(|it| !it.starts_with('_') && !OF_OTHERS.contains(&it.as_str()));
    let nested = nested.others.keys();
    let nested = nested.map(|it| format!("expressionEvaluationOptions.{it}"));
    let names: Vec<_> = top.chain(nested).map(told).collect();
    (!names.is_empty()).then(|| format!("settings that are not used: {}", names.join(", ")))
}

fn told(name: String) -> String {
    let why = match name.as_str() {
        "symbolOptions" => "symbols are taken from beside the program",
        "sourceLinkOptions" => "sources are not downloaded",
        "pipeTransport" => "start ndbg on the other machine with --listen and forward the port",
        "launchBrowser" => "open the page yourself",
        _ => return name,
    };
    format!("{name} ({why})")
}

/// Arguments of the program: a list, or a line as in a shell without its expansions.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub(crate) enum Arguments {
    List(Vec<Text>),
    Line(String),
}

impl Default for Arguments {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

/// A text, or a number or truth value that somebody wrote without quotes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub(crate) enum Text {
    Quoted(String),
    Number(serde_json::Number),
    Truth(bool),
}

impl From<Text> for String {
    fn from(text: Text) -> Self {
        match text {
            Text::Quoted(text) => text,
            Text::Number(number) => number.to_string(),
            Text::Truth(truth) => truth.to_string(),
        }
    }
}

/// Settings of an attach.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct AttachSettings {
    pub(crate) process_id: Option<Text>,
    pub(crate) process_name: Option<String>,
    pub(crate) just_my_code: Option<bool>,
    pub(crate) enable_step_filtering: Option<bool>,
    pub(crate) source_file_map: BTreeMap<String, String>,
    pub(crate) require_exact_source: Option<bool>,
    pub(crate) expression_evaluation_options: EvaluationSettings,
    #[serde(flatten)]
    pub(crate) others: BTreeMap<String, Value>,
}

/// Where steps stop.
pub(crate) fn steps(just_my_code: Option<bool>, filtering: Option<bool>) -> StepOptions {
    let usual = StepOptions::default();
    StepOptions {
        just_my_code: just_my_code.unwrap_or(usual.just_my_code),
        // As in other debuggers for .NET, which pass over properties unless told otherwise.
        skip_properties: filtering.unwrap_or(true),
    }
}

impl AttachSettings {
    /// What is to be said of settings that mean nothing here.
    pub(crate) fn unused(&self) -> Option<String> {
        unused(&self.others, &self.expression_evaluation_options)
    }

    /// The process that is meant.
    pub(crate) fn process(&self) -> Result<ProcessId, Refusal> {
        let bad = |text: String| Refusal::new("badArguments", text).shown();
        if let Some(id) = &self.process_id {
            let text = String::from(id.clone());
            return text.trim().parse().map(ProcessId).map_err(|_| {
                bad(format!(
                    "processId is {text:?}, which is not the number of a process"
                ))
            });
        }
        let Some(name) = &self.process_name else {
            return Err(bad("attach needs processId or processName".into()));
        };
        let found = host::processes::find_by_name(name)?;
        Ok(found.pid)
    }
}

impl LaunchSettings {
    /// What is to be said of settings that mean nothing here.
    pub(crate) fn unused(&self) -> Option<String> {
        unused(&self.others, &self.expression_evaluation_options)
    }

    /// The program that is to be built or launched.
    pub(crate) fn program(&self) -> Result<PathBuf, Refusal> {
        let program = self.program.clone().ok_or_else(|| {
            Refusal::new(
                "badArguments",
                "launch needs program: a dll, an executable or a project",
            )
            .shown()
        })?;
        let file = self.in_folder(&program);
        let is_command = program.components().count() == 1 && !program.starts_with(".");
        if is_command
            && !file.exists()
            && let Some(command) = self.command(&program)
        {
            return Ok(command);
        }
        Ok(file)
    }

    /// A path that may be relative to the program's working directory.
    fn in_folder(&self, path: &Path) -> PathBuf {
        match &self.cwd {
            Some(cwd) if path.is_relative() => cwd.join(path),
            _ => path.to_owned(),
        }
    }

    /// The file of a bare command such as `dotnet`, found as a shell would with the program's environment.
    fn command(&self, name: &Path) -> Option<PathBuf> {
        let variable = |name: &str| match self.env.get(name) {
            Some(value) => value.clone().map(|text| OsString::from(String::from(text))),
            None => std::env::var_os(name),
        };
        if name == Path::new("dotnet") {
            return host::locate_dotnet(variable);
        }
        let path = variable("PATH")?;
        let mut files = std::env::split_paths(&path).map(|folder| folder.join(name));
        files.find(|file| file.is_file())
    }

    /// What the engine is asked for; the program may still have to be built. What a person should know goes into the notes.
    pub(crate) fn launch(&self, notes: &mut Vec<String>) -> Result<Launch, Refusal> {
        let program = self.program()?;
        let mut launch = Launch {
            args: match &self.args {
                Arguments::List(list) => list.iter().cloned().map(String::from).collect(),
                Arguments::Line(line) => split(line)?,
            },
            cwd: self.cwd.clone(),
            no_debug: self.no_debug,
            stop_at_entry: (self.stop_at_entry || self.stop_on_entry) && !self.no_debug,
            steps: steps(self.just_my_code, self.enable_step_filtering),
            keep_optimized: self.suppress_jit_optimizations == Some(false),
            program,
            ..Launch::default()
        };
        // An empty name says that no profile is wanted.
        if let Some(name) = self
            .launch_settings_profile
            .as_ref()
            .filter(|it| !it.is_empty())
        {
            let profile = self.profile(&launch.program, name)?;
            if launch.args.is_empty()
                && let Some(line) = &profile.command_line_args
            {
                launch.args = split(line)?;
            }
            launch.cwd = launch.cwd.or(profile.working_directory);
            let variables = profile.environment_variables.into_iter();
            launch
                .env
                .extend(variables.map(|(name, value)| (name, Some(value))));
            if let Some(url) = profile.application_url {
                launch.env.insert("ASPNETCORE_URLS".into(), Some(url));
            }
        }
        if let Some(path) = self
            .env_file
            .as_ref()
            .filter(|it| !it.as_os_str().is_empty())
        {
            let path = self.in_folder(path);
            let text = text_of(&path).map_err(|error| {
                Refusal::new(
                    "badArguments",
                    format!("envFile {}: {error}", path.display()),
                )
                .shown()
            })?;
            for (at, line) in text.lines().enumerate() {
                match variable(line) {
                    Ok(variable) => launch.env.extend(variable),
                    Err(why) => notes.push(format!(
                        "envFile {}:{} is left out: {why}",
                        path.display(),
                        at + 1
                    )),
                }
            }
        }
        self.follow(&mut launch)?;
        let own = self.env.iter();
        let own = own.map(|(name, value)| (name.clone(), value.clone().map(String::from)));
        launch.env.extend(own);
        Ok(launch)
    }

    /// Chooses which process is debugged: of `dotnet run` and `dotnet test` the one that they start.
    fn follow(&self, launch: &mut Launch) -> Result<(), Refusal> {
        if self.no_debug {
            return Ok(());
        }
        let is_dotnet = launch.program.file_name().is_some_and(|it| it == "dotnet");
        let verb = launch.args.first().filter(|_| is_dotnet);
        let verb = verb.map_or("", String::as_str);
        let child = |command_line| Follow::Child { command_line };
        launch.follow = match &self.follow_child {
            Some(Text::Truth(false)) => Follow::Program,
            Some(Text::Truth(true)) => child(None),
            Some(text) => child(Some(text.clone().into())),
            None if matches!(verb, "run" | "test") => child(None),
            None if verb == "watch" => {
                let text = "dotnet watch starts the program again and again, and only one of these could be debugged: \
                    give the project itself as program, or followChild: true for the first";
                return Err(Refusal::new("badArguments", text).shown());
            }
            None => Follow::Program,
        };
        // A runner of tests has the last word.
        launch.await_launcher = verb == "test";
        Ok(())
    }

    fn profile(&self, program: &Path, name: &str) -> Result<Profile, Refusal> {
        let refused = |text: String| Refusal::new("badArguments", text).shown();
        let named = self.launch_settings_file_path.as_deref();
        let path = named.map(|path| self.in_folder(path)).or_else(|| {
            let folders = self
                .cwd
                .iter()
                .map(PathBuf::as_path)
                .chain(program.ancestors());
            folders
                .map(|folder| folder.join("Properties/launchSettings.json"))
                .find(|path| path.is_file())
        });
        let path = path.ok_or_else(|| {
            refused(format!(
                "launchSettingsProfile {name}: there is no Properties/launchSettings.json"
            ))
        })?;
        let text =
            text_of(&path).map_err(|error| refused(format!("{}: {error}", path.display())))?;
        let mut settings: ProfileFile =
            serde_json::from_str(&plain_json(text.trim_start_matches('\u{feff}')))
                .map_err(|error| refused(format!("{}: {error}", path.display())))?;
        let mut profile = settings.profiles.remove(name).ok_or_else(|| {
            let names: Vec<_> = settings.profiles.into_keys().collect();
            refused(format!(
                "{} has no profile {name}; it has {}",
                path.display(),
                names.join(", ")
            ))
        })?;
        if let Some(kind) = profile
            .command_name
            .as_deref()
            .filter(|it| *it != "Project")
        {
            return Err(refused(format!(
                "launchSettingsProfile {name}: its commandName is {kind}, and only profiles whose commandName is Project \
                 are of the program that is launched"
            )));
        }
        let folder = path.parent().map(|folder| match folder.file_name() {
            Some(name) if name == "Properties" => folder.parent().unwrap_or(folder),
            _ => folder,
        });
        // As `dotnet run` does: a folder of a profile is meant from the project's own.
        let directory = profile.working_directory.take();
        let directory = directory.filter(|it| !it.as_os_str().is_empty());
        profile.working_directory = match folder {
            Some(folder) => directory.map(|it| folder.join(it)),
            None => directory,
        };
        Ok(profile)
    }
}

/// The text of a file that settings name. A pipe would be waited for without end, and a device has no end.
fn text_of(path: &Path) -> io::Result<String> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("this is not a file"));
    }
    let mut text = String::new();
    let mut file = File::open(path)?.take(MAX_FILE + 1);
    file.read_to_string(&mut text)?;
    if text.len() as u64 > MAX_FILE {
        let error = format!("the file is longer than {MAX_FILE} bytes");
        return Err(io::Error::other(error));
    }
    Ok(text)
}

/// `Properties/launchSettings.json`.
#[derive(Deserialize)]
struct ProfileFile {
    #[serde(default)]
    profiles: BTreeMap<String, Profile>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Profile {
    command_name: Option<String>,
    command_line_args: Option<String>,
    working_directory: Option<PathBuf>,
    #[serde(default)]
    environment_variables: BTreeMap<String, String>,
    application_url: Option<String>,
}

/// The variable of a line `NAME=value`, or why it has none. `#` begins a comment; in double quotes a backslash takes the
/// next letter as it is, in single quotes nothing means anything else.
fn variable(line: &str) -> Result<Option<(String, Option<String>)>, &'static str> {
    let line = line.trim().trim_start_matches('\u{feff}');
    let line = line.strip_prefix("export ").unwrap_or(line);
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let (name, value) = line.split_once('=').ok_or("it is not NAME=value")?;
    let (name, value) = (name.trim(), value.trim());
    if name.is_empty() {
        return Err("it has no name");
    }
    let value = match value.chars().next() {
        Some(quote @ ('"' | '\'')) => quoted(value.get(1..).unwrap_or_default(), quote),
        _ => None,
    }
    .unwrap_or_else(|| {
        let end = value.find(" #").unwrap_or(value.len());
        value.get(..end).unwrap_or(value).trim_end().to_owned()
    });
    Ok(Some((name.to_owned(), Some(value))))
}

/// What stands before the closing quote, if only a comment stands behind it.
fn quoted(text: &str, quote: char) -> Option<String> {
    let mut value = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if quote == '"' => match letters.next()? {
                'n' => value.push('\n'),
                taken @ ('"' | '\\' | '$') => value.push(taken),
                other => value.extend(['\\', other]),
            },
            letter if letter == quote => {
                let rest = letters.as_str().trim_start();
                return (rest.is_empty() || rest.starts_with('#')).then_some(value);
            }
            letter => value.push(letter),
        }
    }
    None
}

/// Words as a shell would split them, without any expansion: quotes group, a backslash takes the next letter as it is.
fn split(line: &str) -> Result<Vec<String>, Refusal> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\\', Some('"') | None) => {
                let taken = letters.next().unwrap_or('\\');
                word.get_or_insert_default().push(taken);
            }
            (letter, Some(open)) if letter == open => quote = None,
            (letter, Some(_)) => word.get_or_insert_default().push(letter),
            ('"' | '\'', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (letter, None) if letter.is_whitespace() => words.extend(word.take()),
            (letter, None) => word.get_or_insert_default().push(letter),
        }
    }
    if quote.is_some() {
        let text = format!("args has a quote that is not closed: {line}");
        return Err(Refusal::new("badArguments", text).shown());
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests;
