//! `cargo xtask fuzz [--write] [SECONDS] [TARGET …]`: runs each fuzz target for a bounded time.
//!
//! Needs a nightly toolchain and `cargo install cargo-fuzz`, except for the targets of `live`; a crash ends the command with the file that causes it. A target without
//! seeds gets them from the compiled fixtures. With `--write` the counts are added up in `docs/fuzzing.md`.

mod live;
mod record;

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, ensure};

use self::record::{Record, Runs};
use crate::{bench::machine, dotnet, fixtures::Fixtures, ui, workspace};

/// How long one target runs unless told otherwise.
const SECONDS: u32 = 60;

/// The command itself.
pub(crate) fn command(arguments: &[String]) -> Result<()> {
    let (write, arguments) = match arguments.split_first() {
        Some((first, rest)) if first == "--write" => (true, rest),
        _ => (false, arguments),
    };
    let (seconds, wanted) = match arguments.split_first() {
        Some((first, rest)) if first.parse::<u32>().is_ok() => (first.parse()?, rest),
        _ => (SECONDS, arguments),
    };
    let folder = workspace::root().join("fuzz");
    let known = targets(&folder)?;
    for name in wanted {
        ensure!(
            known.contains(name),
            "there is no fuzz target {name}; there are {}",
            known.join(", ")
        );
    }
    let chosen = known.iter().filter(|it| {
        let name = *it;
        wanted.is_empty() || wanted.contains(name)
    });
    let chosen: Vec<_> = chosen.collect();
    let needs_libfuzzer: Vec<_> = chosen.iter().filter(|it| !live::is_live(it)).collect();
    if !needs_libfuzzer.is_empty() {
        let found = Command::new("cargo")
            .args(["+nightly", "fuzz", "--version"])
            .output();
        ensure!(
            found.is_ok_and(|output| output.status.success()),
            "cargo fuzz is not there: install a nightly toolchain, then run `cargo install cargo-fuzz`"
        );
    }
    if needs_libfuzzer.iter().any(|it| !has_seeds(&folder, it)) {
        make_seeds(&folder)?;
    }
    let path = workspace::root().join("docs/fuzzing.md");
    for target in chosen {
        ui::heading(&format!("fuzzing {target} for {seconds} s"));
        let runs = if live::is_live(target) {
            live::run(target, seconds)?
        } else {
            run(&folder, target, seconds)?
        };
        println!(
            "{target}\t{} executions\t{} s\tat most {} MB\tslowest {} s",
            runs.executions, seconds, runs.peak_megabytes, runs.slowest_seconds
        );
        if write {
            // After each target, so that a crash in a later one loses nothing.
            let old = fs::read_to_string(&path).unwrap_or_default();
            let mut record = Record::read(&old)?;
            record.add(target, &machine::today(), seconds, runs);
            fs::write(&path, record.text())
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
    }
    Ok(())
}

/// Runs one target; what libFuzzer says of the run.
fn run(folder: &Path, target: &str, seconds: u32) -> Result<Runs> {
    let limits = [
        format!("-max_total_time={seconds}"),
        "-rss_limit_mb=2048".into(),
        "-timeout=10".into(),
        "-print_final_stats=1".into(),
    ];
    let mut child = Command::new("cargo")
        .args(["+nightly", "fuzz", "run", target, "--"])
        .args(limits)
        .current_dir(folder.parent().unwrap_or(folder))
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .context("cargo fuzz cannot be started")?;
    let mut runs = Runs::default();
    if let Some(stderr) = child.stderr.take() {
        for line in BufReader::new(stderr).split(b'\n') {
            let line = line.context("cargo fuzz cannot be heard")?;
            let line = String::from_utf8_lossy(&line);
            eprintln!("{line}");
            runs.read(&line);
        }
    }
    let status = child.wait().context("cargo fuzz cannot be waited for")?;
    ensure!(
        status.success(),
        "{target} failed: make a named test of the file that is named above"
    );
    ensure!(
        runs.executions > 0,
        "{target} ran, but did not say how often"
    );
    Ok(runs)
}

fn has_seeds(folder: &Path, target: &str) -> bool {
    let entries = fs::read_dir(folder.join("corpus").join(target));
    entries.is_ok_and(|mut entries| entries.next().is_some())
}

/// Makes the seeds of all targets, most of them cut out of the compiled fixtures.
fn make_seeds(folder: &Path) -> Result<()> {
    ui::heading("making seeds of the fixtures");
    let fixtures = Fixtures::compile(dotnet::set_up()?)?;
    let status = Command::new("cargo")
        .args(["+nightly", "run", "--quiet", "--example=seeds", "--"])
        .arg(&fixtures.folder)
        .arg(folder.join("corpus"))
        .current_dir(folder)
        .stdin(Stdio::null())
        .status()
        .context("cargo cannot be started")?;
    ensure!(status.success(), "the seeds cannot be made");
    Ok(())
}

/// The targets are the programs of `fuzz/fuzz_targets`, and those that need a live program.
fn targets(folder: &Path) -> Result<Vec<String>> {
    let entries =
        fs::read_dir(folder.join("fuzz_targets")).context("fuzz/fuzz_targets cannot be read")?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let is_source = path.extension().is_some_and(|extension| extension == "rs");
            Some(path.file_stem()?.to_str()?.to_owned()).filter(|_| is_source)
        })
        .chain(live::names())
        .collect();
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_is_found() {
        let names = targets(&workspace::root().join("fuzz")).expect("the fuzz folder");
        for target in [
            "attributes",
            "binder",
            "dap_dispatcher",
            "dap_framing",
            "embedded_pdb",
            "pe",
            "sequence_points",
            "signatures",
            "tables",
        ] {
            assert!(names.contains(&target.to_owned()), "{target} in {names:?}");
        }
    }

    #[test]
    fn every_target_has_its_line_in_the_record() {
        let text = fs::read_to_string(workspace::root().join("docs/fuzzing.md"));
        let record = Record::read(&text.expect("docs/fuzzing.md")).expect("a table of runs");
        for target in targets(&workspace::root().join("fuzz")).expect("the fuzz folder") {
            assert!(
                record.executions(&target) > 0,
                "{target} was never run: cargo xtask fuzz --write {target}"
            );
        }
    }
}
