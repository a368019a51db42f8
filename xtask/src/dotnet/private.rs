//! A private .NET in the user's cache folder, made once for all clones of the repository.
//!
//! The folder appears by one `rename` when it is complete, under a lock: whoever sees it sees all
//! of it. Its name carries the number of the layout, so that clones of different age do not
//! disturb each other.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, anyhow, bail};

use super::{
    Dotnet, layout,
    packages::{self, remove_folder},
};
use crate::{lock::Lock, ui};

/// Written last; its text names what the folder was made from.
const MARKER: &str = ".complete";
/// Raise it when [`layout`] puts other things into the folder.
const LAYOUT: u32 = 3;

/// The runtimes in it.
pub(crate) const RUNTIME_VERSION: &str = "9.0.1";
/// The old runtime in it.
pub(crate) const OLD_RUNTIME_VERSION: &str = "3.1.2";
/// The SDK in it.
pub(crate) const SDK_VERSION: &str = "3.1.102";

/// The private .NET, made if it is not there.
pub(crate) fn ensure() -> Result<Dotnet> {
    if !cfg!(all(
        target_os = "linux",
        target_arch = "x86_64",
        target_env = "gnu"
    )) {
        bail!(
            "no usable .NET was found, and a private one can be made for Linux on x64 with glibc only\n\
             Install the .NET SDK 9 or newer and set DOTNET_ROOT to its folder."
        );
    }
    ensure_in(&cache_folder()?)
}

/// The private .NET, if it is there already.
pub(crate) fn existing() -> Option<Dotnet> {
    usable(&root_in(&cache_folder().ok()?))
}

/// The folder of the C# compiler's libraries in a private .NET; `None` if `root` is another one.
pub(crate) fn roslyn_folder(root: &Path) -> Option<PathBuf> {
    let folder = root.join(layout::ROSLYN_FOLDER);
    folder.is_dir().then_some(folder)
}

fn ensure_in(cache: &Path) -> Result<Dotnet> {
    let root = root_in(cache);
    if let Some(dotnet) = usable(&root) {
        return Ok(dotnet);
    }
    fs::create_dir_all(cache).with_context(|| format!("cannot create {}", cache.display()))?;
    let _lock = Lock::acquire(
        &cache.join("lock"),
        &format!("making the private .NET in {}", cache.display()),
    )?;
    // Another process may have made it while we waited.
    if let Some(dotnet) = usable(&root) {
        return Ok(dotnet);
    }
    ui::heading(&format!(
        "making a private .NET {RUNTIME_VERSION} in {}",
        cache.display()
    ));
    let fetched = cache.join("packages");
    // What an interrupted run left behind; nobody else works here while we hold the lock.
    let making = cache.join(".making");
    remove_folder(&making)?;
    remove_folder(&root)?;
    fs::create_dir_all(&fetched).with_context(|| format!("cannot create {}", fetched.display()))?;
    packages::remove_partial(&fetched)?;
    let mut files = Vec::new();
    for package in packages::ALL {
        files.push(package.fetch(&fetched)?);
    }
    let [runtime, sdk, roslyn] = files.as_slice() else {
        bail!("a private .NET is made of three packages");
    };
    let made = layout::build(&making, runtime, sdk, roslyn)
        .and_then(|()| write_marker(&making))
        .and_then(|()| fs::rename(&making, &root).context("cannot move it into place"));
    if let Err(error) = made {
        // Half a .NET is of no use; the packages stay for the next try.
        let _ = fs::remove_dir_all(&making);
        return Err(error.context(format!(
            "the private .NET could not be laid out in {}",
            cache.display()
        )));
    }
    remove_folder(&fetched)?;
    Dotnet::at(&root).map_err(|reason| anyhow!("{}: {reason}", root.display()))
}

fn root_in(cache: &Path) -> PathBuf {
    cache.join(format!("dotnet-{RUNTIME_VERSION}-layout{LAYOUT}"))
}

/// The .NET in `root` if it is complete, also after somebody cleaned his cache by hand.
fn usable(root: &Path) -> Option<Dotnet> {
    let marker = fs::read_to_string(root.join(MARKER)).ok()?;
    let complete = marker == marker_text()
        && layout::KEY_FILES
            .iter()
            .all(|file| root.join(file).is_file());
    if complete {
        Dotnet::at(root).ok()
    } else {
        None
    }
}

fn write_marker(root: &Path) -> Result<()> {
    fs::write(root.join(MARKER), marker_text()).context("cannot write the marker")
}

fn marker_text() -> String {
    let lines =
        packages::ALL.map(|package| format!("{} {}\n", package.spec(), package.integrity()));
    lines.concat()
}

/// `$XDG_CACHE_HOME/ndbg`, or `~/.cache/ndbg`.
pub(crate) fn cache_folder() -> Result<PathBuf> {
    let set = |name| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    set("XDG_CACHE_HOME")
        .or_else(|| set("HOME").map(|home| home.join(".cache")))
        .map(|cache| cache.join("ndbg"))
        .context("neither XDG_CACHE_HOME nor HOME is set, so there is no place for a private .NET")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_without_marker_is_not_used() {
        let cache = tempfile::tempdir().expect("temporary folder");
        let root = root_in(cache.path());
        for file in layout::KEY_FILES {
            let path = root.join(file);
            fs::create_dir_all(path.parent().expect("in a folder")).expect("mkdir");
            fs::write(path, "").expect("write");
        }
        assert_eq!(usable(&root), None);
    }
}
