//! Generates checked-in source from files that are not part of this repository.
//!
//! Invariant: output depends on the input files only, so running a generator twice
//! gives the same bytes, and a test can compare a fresh run with the checked-in file.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};

mod cordebug;
mod dap;
mod hresults;
mod idl;
mod slots;

/// Runs `cargo xtask codegen <what> …`.
pub(crate) fn run(args: &[&str]) -> anyhow::Result<()> {
    match args {
        ["cordebug", idl, errors] => {
            for (path, text) in generate(Path::new(idl), Path::new(errors))? {
                std::fs::write(&path, text)
                    .with_context(|| format!("cannot write {}", path.display()))?;
            }
            Ok(())
        }
        ["dap", schema] => {
            let (path, text) = generate_dap(Path::new(schema))?;
            std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
        }
        _ => bail!(
            "usage: cargo xtask codegen cordebug <cordebug.idl> <corerror.h>\n\
             \x20      cargo xtask codegen dap <debugAdapterProtocol.json>"
        ),
    }
}

/// The generated files of `cordebug`, with the path each belongs to.
fn generate(idl: &Path, errors: &Path) -> anyhow::Result<Vec<(PathBuf, String)>> {
    let idl = read(idl)?;
    let errors = read(errors)?;
    let bindings = cordebug::emit(&idl::parse(&idl)?, &slots::count(&idl)?)?;
    let codes = hresults::emit(&hresults::parse(&errors)?);
    let src = repository().join("crates/cordebug/src");
    Ok(vec![
        (src.join("bindings.rs"), rustfmt(&bindings)?),
        (src.join("hresult/codes.rs"), rustfmt(&codes)?),
    ])
}

/// The generated file of `dap`, with its path.
fn generate_dap(schema: &Path) -> anyhow::Result<(PathBuf, String)> {
    let types = dap::emit(&read(schema)?)?;
    let path = repository().join("crates/dap/src/types.rs");
    Ok((path, rustfmt(&types)?))
}

fn read(path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// Formats as `cargo fmt` would, so that formatting the workspace changes nothing.
fn rustfmt(text: &str) -> anyhow::Result<String> {
    let mut child = Command::new("rustfmt")
        .args(["--edition", "2024", "--emit", "stdout", "--quiet"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start rustfmt; `rustup component add rustfmt` installs it")?;
    let mut stdin = child.stdin.take().context("rustfmt has no stdin")?;
    let text = text.to_owned();
    // rustfmt may write before it has read everything, so the two pipes need two threads.
    let feeder = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output()?;
    ensure!(
        output.status.success(),
        "rustfmt refused the generated source"
    );
    if let Ok(fed) = feeder.join() {
        fed?;
    }
    Ok(String::from_utf8(output.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The inputs are not in the repository, so this compares only where they are named by
    /// `NDBG_CORDEBUG_IDL` and `NDBG_CORERROR_H`; without them it checks the checked-in
    /// header lines alone.
    #[test]
    fn checked_in_files_are_fresh() {
        let src = repository().join("crates/cordebug/src");
        for name in ["bindings.rs", "hresult/codes.rs"] {
            let text = read(&src.join(name)).expect("generated file is checked in");
            assert!(
                text.starts_with(cordebug::MARK),
                "{name} lost its first line"
            );
        }
        let inputs = ["NDBG_CORDEBUG_IDL", "NDBG_CORERROR_H"].map(std::env::var_os);
        let [Some(idl), Some(errors)] = inputs else {
            return;
        };
        for (path, fresh) in generate(Path::new(&idl), Path::new(&errors)).expect("generates") {
            let found = read(&path).expect("generated file is checked in");
            assert!(
                found == fresh,
                "{} is stale; run the generator",
                path.display()
            );
        }
    }
    /// As above, with the schema named by `NDBG_DAP_SCHEMA`.
    #[test]
    fn checked_in_types_of_the_adapter_protocol_are_fresh() {
        let path = repository().join("crates/dap/src/types.rs");
        let found = read(&path).expect("generated file is checked in");
        assert!(found.starts_with(dap::MARK), "it lost its first line");
        let Some(schema) = std::env::var_os("NDBG_DAP_SCHEMA") else {
            return;
        };
        let (_, fresh) = generate_dap(Path::new(&schema)).expect("generates");
        assert!(
            found == fresh,
            "{} is stale; run the generator",
            path.display()
        );
    }
}
