//! The oracle: everything this crate reads is compared, line by line, with what System.Reflection.Metadata reads.
//!
//! The inputs are every dll of the .NET under test, every fixture, the libraries with PDBs that a private .NET brings along, and whatever
//! `NDBG_TEST_ASSEMBLIES` adds (folders, with `:` between).

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
mod common;
mod module_dump;
mod pdb_dump;
mod search;
mod text;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, thread};

use common::variable;
use metadata::{Error, Module, Symbols};

use module_dump::Enums;

/// All dlls and PDBs below a folder, in a stable order.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("a folder entry").path())
        .collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, files);
        } else if path
            .extension()
            .is_some_and(|it| it == "dll" || it == "pdb")
        {
            files.push(path);
        }
    }
}

fn inputs() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let dotnet = variable("NDBG_TEST_DOTNET");
    collect(&dotnet.join("shared"), &mut files);
    // Only a private .NET has these; its own compiler is among them.
    for folder in ["assemblies", "roslyn"] {
        let folder = dotnet.join(folder);
        if folder.is_dir() {
            collect(&folder, &mut files);
        }
    }
    collect(&variable("NDBG_TEST_FIXTURES"), &mut files);
    for folder in env::var_os("NDBG_TEST_ASSEMBLIES")
        .iter()
        .flat_map(env::split_paths)
    {
        collect(&folder, &mut files);
    }
    // What the reader must refuse is covered by other tests.
    files.retain(|path| path.extension().is_some_and(|it| it == "dll") || is_portable(path));
    files
}

fn is_portable(pdb: &Path) -> bool {
    fs::read(pdb).is_ok_and(|bytes| bytes.starts_with(b"BSJB"))
}

fn run_oracle(folder: &Path, files: &[PathBuf]) {
    let list = folder.join("list");
    let lines: Vec<_> = files
        .iter()
        .map(|it| it.to_str().expect("a UTF-8 path"))
        .collect();
    fs::write(&list, lines.join("\n")).expect("writing the list");
    let dotnet = variable("NDBG_TEST_DOTNET");
    let output = Command::new(dotnet.join("dotnet"))
        .arg("exec")
        .arg(variable("NDBG_TEST_FIXTURES").join("metadata_oracle/metadata_oracle.dll"))
        .args([folder, &list])
        .env("DOTNET_ROOT", &dotnet)
        .env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1")
        .stdin(Stdio::null())
        .output()
        .expect("starting the oracle");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the oracle failed: {errors}");
}

/// The same enums, in the same order, as the oracle collects.
fn collect_enums(files: &[PathBuf]) -> Enums {
    let mut enums = HashMap::new();
    for path in files
        .iter()
        .filter(|path| path.extension().is_some_and(|it| it == "dll"))
    {
        let Ok(module) = Module::open(fs::read(path).expect("an input")) else {
            continue;
        };
        for ty in module.metadata().type_defs().flatten() {
            if let Ok(Some(underlying)) = ty.enum_underlying() {
                enums
                    .entry(ty.full_name().expect("a name"))
                    .or_insert(underlying);
            }
        }
    }
    enums
}

fn dump(path: &Path, enums: &Enums) -> Result<String, Error> {
    let bytes = fs::read(path).expect("an input");
    let mut out = String::new();
    if path.extension().is_some_and(|it| it == "pdb") {
        pdb_dump::dump(&mut out, Symbols::open(bytes)?.pdb())?;
        return Ok(out);
    }
    let module = match Module::open(bytes) {
        Ok(module) => module,
        Err(Error::Native | Error::NotAnImage) => return Ok("not managed\n".to_owned()),
        Err(error) => return Err(error),
    };
    module_dump::dump(&mut out, &module, enums)?;
    if let Some(symbols) = module.embedded_symbols()? {
        pdb_dump::dump(&mut out, symbols.pdb())?;
    }
    Ok(out)
}

/// The first difference, with the lines around it.
fn difference(ours: &str, theirs: &str) -> Option<String> {
    if ours == theirs {
        return None;
    }
    let at = ours.lines().zip(theirs.lines()).position(|(a, b)| a != b);
    let at = at.unwrap_or_else(|| ours.lines().count().min(theirs.lines().count()));
    let around: Vec<_> = ours
        .lines()
        .skip(at.saturating_sub(3))
        .take(at.min(3))
        .collect();
    let line = |text: &str| text.lines().nth(at).unwrap_or("<end>").to_owned();
    Some(format!(
        "line {}:\n{}\n ours:   {}\n theirs: {}",
        at + 1,
        around.join("\n"),
        line(ours),
        line(theirs)
    ))
}

#[test]
fn everything_is_read_as_system_reflection_metadata_reads_it() {
    let files = inputs();
    let folder = env::temp_dir().join(format!("ndbg-oracle-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for the dumps");
    run_oracle(&folder, &files);
    let enums = collect_enums(&files);

    let next = AtomicUsize::new(0);
    let compare = || {
        let (mut n_lines, mut failures) = (0, Vec::new());
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = files.get(index) else {
                return (n_lines, failures);
            };
            let theirs = fs::read_to_string(folder.join(format!("{index}.txt"))).expect("a dump");
            n_lines += theirs.lines().count();
            match dump(path, &enums) {
                Ok(ours) => failures.extend(
                    difference(&ours, &theirs).map(|it| format!("{}: {it}", path.display())),
                ),
                Err(error) => failures.push(format!("{}: {error}", path.display())),
            }
        }
    };
    let (mut n_lines, mut failures) = (0, Vec::new());
    thread::scope(|scope| {
        let workers = [scope.spawn(compare), scope.spawn(compare)];
        for worker in workers {
            let (lines, failed) = worker.join().expect("a comparing thread");
            n_lines += lines;
            failures.extend(failed);
        }
    });
    fs::remove_dir_all(&folder).expect("removing the dumps");
    assert!(
        failures.is_empty(),
        "{} of {} files differ:\n{}",
        failures.len(),
        files.len(),
        failures
            .iter()
            .take(20)
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join("\n\n")
    );
    // A comparison of nothing would pass as well.
    assert!(
        files.len() > 150 && n_lines > 1_000_000,
        "only {} files with {n_lines} lines",
        files.len()
    );
    eprintln!("{} files, {n_lines} lines", files.len());
}
