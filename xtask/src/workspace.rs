//! Where things are in this repository.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// The repository's root.
pub(crate) fn root() -> &'static Path {
    // xtask lies in a folder of the root.
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own)
}

/// The `cargo` that runs us, so that a toolchain chosen with `+name` stays chosen.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    command.current_dir(root());
    command
}

/// Cargo's target folder, wherever the user's settings put it.
pub(crate) fn target() -> Result<&'static Path> {
    static TARGET: OnceLock<PathBuf> = OnceLock::new();
    if let Some(target) = TARGET.get() {
        return Ok(target);
    }
    let metadata = metadata()?;
    let target = metadata
        .get("target_directory")
        .and_then(Value::as_str)
        .context("cargo metadata names no target folder")?;
    Ok(TARGET.get_or_init(|| PathBuf::from(target)))
}

/// What cargo knows about the packages of this workspace.
pub(crate) fn metadata() -> Result<Value> {
    let output = cargo()
        .args(["metadata", "--no-deps", "--format-version=1", "--offline"])
        .output()
        .context("cannot start cargo")?;
    ensure!(
        output.status.success(),
        "cargo metadata failed:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).context("cargo metadata gave no JSON")
}
