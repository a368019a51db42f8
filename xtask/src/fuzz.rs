//! `cargo xtask fuzz [SECONDS] [TARGET …]`: runs each fuzz target for a bounded time.
//!
//! Needs a nightly toolchain and `cargo install cargo-fuzz`; a crash ends the command with the file that causes it.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use crate::{ui, workspace};

/// How long one target runs unless told otherwise.
const SECONDS: u32 = 60;

/// The command itself.
pub(crate) fn command(arguments: &[String]) -> Result<()> {
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
    let found = Command::new("cargo")
        .args(["+nightly", "fuzz", "--version"])
        .output();
    if !found.is_ok_and(|output| output.status.success()) {
        bail!(
            "cargo fuzz is not there: install a nightly toolchain, then run `cargo install cargo-fuzz`"
        );
    }
    for target in known
        .iter()
        .filter(|target| wanted.is_empty() || wanted.contains(target))
    {
        ui::heading(&format!("fuzzing {target} for {seconds} s"));
        let limits = [
            format!("-max_total_time={seconds}"),
            "-rss_limit_mb=2048".into(),
            "-timeout=10".into(),
        ];
        let status = Command::new("cargo")
            .args(["+nightly", "fuzz", "run", target, "--"])
            .args(limits)
            .current_dir(folder.parent().unwrap_or(&folder))
            .status()
            .context("cargo fuzz cannot be started")?;
        ensure!(
            status.success(),
            "{target} failed: make a named test of the file that is named above"
        );
    }
    Ok(())
}

/// The targets are the programs of `fuzz/fuzz_targets`.
fn targets(folder: &Path) -> Result<Vec<String>> {
    let entries = std::fs::read_dir(folder.join("fuzz_targets"))
        .context("fuzz/fuzz_targets cannot be read")?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let is_source = path.extension().is_some_and(|extension| extension == "rs");
            Some(path.file_stem()?.to_str()?.to_owned()).filter(|_| is_source)
        })
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
        assert!(
            names.contains(&"pe".to_owned()) && names.contains(&"sequence_points".to_owned()),
            "{names:?}"
        );
    }
}
