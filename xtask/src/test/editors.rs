//! Clients of debug adapters that others wrote, which some tests drive.
//!
//! A client that is not here and cannot be got is no failure of ours, but it is said: its tests are left out and counted
//! as not run.

use std::{
    ffi::OsString,
    fs,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};

use crate::dotnet::{layout, packages::DEBUG_CLIENT, private};
use crate::ui;

/// The variable that tells the tests where the client library of VS Code is.
const LIBRARY: &str = "NDBG_TEST_DEBUG_CLIENT";

/// What is here, and what is not.
#[derive(Debug, Default)]
pub(super) struct Editors {
    /// Variables that tell the tests.
    pub(super) environment: Vec<(&'static str, OsString)>,
    /// Modules of the test binary `live_editors` that cannot be run, each a test.
    missing: Vec<&'static str>,
}

impl Editors {
    /// Looks for them, and gets what can be got.
    pub(super) fn set_up() -> Self {
        let mut editors = Self::default();
        match debug_client() {
            Ok(folder) => editors.environment.push((LIBRARY, folder)),
            Err(error) => editors.lacks("vscode", &error),
        }
        if let Err(error) = emacs() {
            editors.lacks("emacs", &error);
        }
        editors
    }

    fn lacks(&mut self, name: &'static str, why: &anyhow::Error) {
        let why = format!("{why:#}");
        let why = why.lines().next().unwrap_or_default();
        ui::warning(&format!("not run: the test in {name}: {why}"));
        self.missing.push(name);
    }

    /// What nextest is to leave out of `filter`.
    pub(super) fn left_out_of(&self, filter: &str) -> String {
        match self.missing.as_slice() {
            [] => filter.to_owned(),
            missing => {
                let tests = format!("test(/^({})::/)", missing.join("|"));
                format!("({filter}) - (binary(live_editors) & {tests})")
            }
        }
    }

    /// What `cargo test` is to leave out.
    pub(super) fn skipped(&self) -> Vec<String> {
        let skip = |name: &&str| ["--skip".to_owned(), format!("{name}::")];
        self.missing.iter().flat_map(skip).collect()
    }

    /// How many tests are not run.
    pub(super) fn n_missing(&self) -> usize {
        self.missing.len()
    }
}

/// The folder of the client library, fetched by npm once for all clones of the repository.
fn debug_client() -> Result<OsString> {
    let node = Command::new("node")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .context("node cannot be started")?;
    ensure!(node.success(), "node does not work");
    let cache = private::cache_folder()?;
    let packages = cache.join("packages");
    fs::create_dir_all(&packages)
        .with_context(|| format!("cannot create {}", packages.display()))?;
    let tarball = DEBUG_CLIENT.fetch(&packages)?;
    // Unpacked each time: it is small, and then it is what was pinned.
    let folder = crate::workspace::target()?.join("debug-client");
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    layout::unpack(
        &tarball,
        &folder,
        "the client of debug adapters",
        |path: &Path| Some(path.to_owned()),
    )?;
    Ok(folder.into())
}

/// Whether Emacs is here, with dap-mode.
fn emacs() -> Result<()> {
    let status = Command::new("emacs")
        .args(["--batch", "--no-init-file"])
        .args(["--eval", "(setq native-comp-deferred-compilation nil)"])
        .args(["--eval", "(require 'dap-mode)"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .context("emacs cannot be started (Debian: emacs-nox, elpa-dap-mode)")?;
    ensure!(
        status.success(),
        "emacs has no dap-mode (Debian: elpa-dap-mode)"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_of_missing_clients_are_left_out() {
        let all = Editors::default();
        assert_eq!(all.left_out_of("all()"), "all()");
        assert!(all.skipped().is_empty());
        let some = Editors {
            missing: vec!["emacs"],
            ..Editors::default()
        };
        assert_eq!(
            some.left_out_of("all()"),
            "(all()) - (binary(live_editors) & test(/^(emacs)::/))"
        );
        assert_eq!(some.skipped(), ["--skip", "emacs::"]);
    }
}
