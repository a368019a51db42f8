//! The .NET processes of this machine.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use cordebug::procfs::{self, MappedLibrary};
use cordebug::runtime;
use serde::{Deserialize, Serialize};

use super::attachable::{Seen, check_owner, check_runtime, no_runtime, not_permitted};
use super::lost::check_not_lost;
use crate::api::{Details, Error, ErrorCode, ProcessId, RuntimeVersion};

/// One .NET process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProcessSummary {
    /// Its process id.
    pub pid: ProcessId,
    /// The program's name: of its dll without the extension, or of its executable.
    pub name: String,
    /// The runtime's version, if it can be told.
    pub runtime: Option<RuntimeVersion>,
    /// The command line as an array; empty if it may not be read.
    pub command_line: Vec<String>,
    /// The user it runs as: the name, or the number where there is no name.
    pub user: String,
    /// Whether a debugger can be attached.
    pub attachable: Attachable,
}

/// Whether a debugger can be attached to a process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Attachable {
    /// Nothing speaks against it.
    Yes,
    /// It cannot, and why.
    No(Error),
}

/// Every process with a .NET runtime in it, in the order of their numbers.
pub fn list() -> Vec<ProcessSummary> {
    let users = Users::load();
    let mut pids = procfs::all_pids().unwrap_or_default();
    pids.sort_unstable();
    pids.into_iter()
        .filter_map(|pid| summary(pid, &users))
        .collect()
}

/// The process as a summary if it is a .NET one.
fn summary(pid: u32, users: &Users) -> Option<ProcessSummary> {
    let seen = Seen::look(pid).ok()?;
    let library = seen.runtime();
    let check = match &library {
        Ok(Some(library)) => check_owner(&seen, users)
            .and_then(|()| check_runtime(&seen, library))
            .and_then(|()| check_not_lost(pid, seen.stat.start_time)),
        // The socket tells that there is a runtime even where the process may not be looked into.
        _ if !seen.has_embedded_runtime() => return None,
        Ok(None) => Err(no_runtime(&seen)),
        Err(error) => check_owner(&seen, users).and_then(|()| Err(not_permitted(pid, error))),
    };
    let command_line = procfs::command_line(pid).unwrap_or_default();
    Some(ProcessSummary {
        pid: ProcessId(pid),
        name: program_name(&command_line).unwrap_or_else(|| pid.to_string()),
        runtime: library.ok().flatten().and_then(version),
        command_line,
        user: users.name(seen.owner),
        attachable: match check {
            Ok(()) => Attachable::Yes,
            Err(error) => Attachable::No(error),
        },
    })
}

fn version(library: MappedLibrary) -> Option<RuntimeVersion> {
    runtime::version_of(&library.path).map(RuntimeVersion)
}

/// The process whose program has this name, with or without `.dll`; an error names the candidates.
pub fn find_by_name(name: &str) -> Result<ProcessSummary, Error> {
    choose(name, list())
}

fn choose(name: &str, processes: Vec<ProcessSummary>) -> Result<ProcessSummary, Error> {
    let wanted = stem(name);
    if wanted.is_empty() {
        let message = format!("{name:?} is not the name of a program");
        return Err(Error::new(ErrorCode::InvalidParameter, message)
            .hint("give the name of its dll or executable, or the process id"));
    }
    let all = enumerate(&processes);
    let mut matching: Vec<_> = processes
        .into_iter()
        .filter(|process| process.name == wanted)
        .collect();
    match matching.len() {
        0 => {
            let error = Error::new(
                ErrorCode::ProcessNotFound,
                format!("there is no .NET process whose program is named {name}"),
            );
            Err(if all.is_empty() {
                error.hint("no .NET process is running that can be seen from here")
            } else {
                error.hint(format!("running are {all}"))
            })
        }
        1 => Ok(matching.remove(0)),
        count => Err(Error::new(
            ErrorCode::InvalidParameter,
            format!(
                "{count} .NET processes are named {name}: {}",
                enumerate(&matching)
            ),
        )
        .hint("name one by its process id")
        .details(Details::Candidates(
            matching
                .iter()
                .map(|process| process.pid.0.to_string())
                .collect(),
        ))),
    }
}

/// At most this many processes are named in an error.
const NAMED: usize = 10;

fn enumerate(processes: &[ProcessSummary]) -> String {
    let named = processes.iter().take(NAMED);
    let mut text = named
        .map(|process| format!("{} ({})", process.pid.0, process.name))
        .collect::<Vec<_>>()
        .join(", ");
    if processes.len() > NAMED {
        text += &format!(" and {} more", processes.len() - NAMED);
    }
    text
}

/// What a person calls the program of a command line.
fn program_name(line: &[String]) -> Option<String> {
    let (command, arguments) = line.split_first()?;
    let command = stem(command);
    if command != "dotnet" {
        return Some(command.to_owned());
    }
    let program = arguments
        .iter()
        .find(|argument| argument.ends_with(".dll") || argument.ends_with(".exe"));
    Some(program.map_or(command, |program| stem(program)).to_owned())
}

/// A file's name without its folder and without `.dll` or `.exe`.
fn stem(path: &str) -> &str {
    let name = Path::new(path)
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or(path);
    name.strip_suffix(".dll")
        .or_else(|| name.strip_suffix(".exe"))
        .unwrap_or(name)
}

/// The names of this machine's users.
#[derive(Debug)]
pub(super) struct Users(HashMap<u32, String>);

impl Users {
    pub(super) fn load() -> Self {
        Self::parse(&fs::read_to_string("/etc/passwd").unwrap_or_default())
    }

    pub(super) fn parse(passwd: &str) -> Self {
        let users = passwd.lines().filter_map(|line| {
            let mut fields = line.split(':');
            let name = fields.next()?;
            Some((fields.nth(1)?.parse().ok()?, name.to_owned()))
        });
        let mut names = HashMap::new();
        for (id, name) in users {
            // The first name of a number is the one that other tools show.
            names.entry(id).or_insert(name);
        }
        Self(names)
    }

    /// The user's name, or the number.
    pub(super) fn name(&self, id: u32) -> String {
        self.0.get(&id).cloned().unwrap_or_else(|| id.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    #[track_caller]
    fn name_of(line: &[&str], expected: &str) {
        let line: Vec<String> = line.iter().map(|part| (*part).to_owned()).collect();
        assert_eq!(program_name(&line).as_deref(), Some(expected));
    }

    #[test]
    fn a_program_is_named_after_its_dll_or_executable() {
        name_of(&["dotnet", "bin/Shop.dll", "a.dll"], "Shop");
        let exec = [
            "/usr/bin/dotnet",
            "exec",
            "--roll-forward",
            "Major",
            "/s/My.Shop.dll",
        ];
        name_of(&exec, "My.Shop");
        name_of(&["dotnet", "run"], "dotnet");
        name_of(&["./shop", "--port", "1"], "shop");
        name_of(&["/opt/shop.exe"], "shop");
        assert_eq!(program_name(&[]), None);
    }

    fn process(pid: u32, name: &str) -> ProcessSummary {
        ProcessSummary {
            pid: ProcessId(pid),
            name: name.into(),
            runtime: None,
            command_line: Vec::new(),
            user: "me".into(),
            attachable: Attachable::Yes,
        }
    }

    #[test]
    fn a_name_must_mean_one_process() {
        let check = |name: &str, processes: Vec<ProcessSummary>, expected: Expect| {
            let outcome = match choose(name, processes) {
                Ok(process) => process.pid.0.to_string(),
                Err(error) => format!("{error}\n{}", error.hint.clone().unwrap_or_default()),
            };
            expected.assert_eq(&outcome);
        };
        let some = || vec![process(7, "shop"), process(8, "bank"), process(9, "shop")];
        check("bank", some(), expect!["8"]);
        check("bin/bank.dll", some(), expect!["8"]);
        check(
            "shop",
            some(),
            expect![[r#"
                2 .NET processes are named shop: 7 (shop), 9 (shop)
                name one by its process id"#]],
        );
        check(
            "ban",
            some(),
            expect![[r#"
                there is no .NET process whose program is named ban
                running are 7 (shop), 8 (bank), 9 (shop)"#]],
        );
        check(
            "x",
            Vec::new(),
            expect![[r#"
                there is no .NET process whose program is named x
                no .NET process is running that can be seen from here"#]],
        );
    }

    #[test]
    fn users_have_names_or_numbers() {
        let users = Users::parse(
            "root:x:0:0:root:/root:/bin/sh\ntoor:x:0:0::/:\nbroken\nann:x:1000:1000::/:\n",
        );
        assert_eq!(users.name(0), "root");
        assert_eq!(users.name(1000), "ann");
        assert_eq!(users.name(1001), "1001");
    }
}
