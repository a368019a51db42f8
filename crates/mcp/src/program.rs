//! From what a client names to something that can be launched.
//!
//! This is the seam to building projects: everything that is not a program already is made one here.

use std::path::{Path, PathBuf};

use host::api::{Error, ErrorCode};

/// The program to launch for `path`; `progress` is told what takes time.
pub(crate) fn ready(path: &Path, _progress: &mut dyn FnMut(&str)) -> Result<PathBuf, Error> {
    if is_project(path) {
        let message = format!(
            "{} is a project, and this version does not build projects",
            path.display()
        );
        return Err(Error::new(ErrorCode::InvalidFile, message)
            .hint("build it with `dotnet build` and give the path of the .dll that it makes"));
    }
    Ok(path.to_owned())
}

/// Whether a path names something that has to be built first.
fn is_project(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    path.is_dir()
        || matches!(
            extension,
            Some("csproj" | "fsproj" | "vbproj" | "sln" | "slnx")
        )
}
