//! Finds the `dotnet` command and the folders that .NET is installed in.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The variable for one kind of processor, which the hosts look at first.
const ROOT_FOR_MACHINE: &str = if cfg!(target_arch = "aarch64") {
    "DOTNET_ROOT_ARM64"
} else {
    "DOTNET_ROOT_X64"
};
/// Files in which an installer notes its folder.
const INSTALL_LOCATIONS: [&str; 2] = [
    if cfg!(target_arch = "aarch64") {
        "/etc/dotnet/install_location_arm64"
    } else {
        "/etc/dotnet/install_location_x64"
    },
    "/etc/dotnet/install_location",
];
const USUAL_FOLDERS: [&str; 5] = [
    "/usr/share/dotnet",
    "/usr/lib/dotnet",
    "/usr/lib64/dotnet",
    "/usr/local/share/dotnet",
    "/opt/dotnet",
];

/// Looks for the `dotnet` command in `DOTNET_ROOT`, `DOTNET_HOST_PATH`, `PATH` and the usual folders.
pub fn locate_dotnet(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    commands(&variable).next()
}

/// The folders of every .NET found: the one in use first.
pub fn install_folders(variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for command in commands(&variable) {
        if let Some(folder) = command.parent().map(Path::to_owned)
            && !folders.contains(&folder)
        {
            folders.push(folder);
        }
    }
    folders
}

/// Every `dotnet` command, the one in use first, with symbolic links resolved. Looked for one after the other, since
/// mostly the first is wanted.
fn commands(variable: &dyn Fn(&str) -> Option<OsString>) -> impl Iterator<Item = PathBuf> {
    let set = |name: &str| {
        variable(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let in_folder = |folder: PathBuf| folder.join("dotnet");
    let path = variable("PATH").unwrap_or_default();
    let in_path: Vec<PathBuf> = std::env::split_paths(&path).map(in_folder).collect();
    let noted = INSTALL_LOCATIONS.iter().filter_map(|file| {
        let text = std::fs::read_to_string(file).ok()?;
        let folder = text.lines().next()?.trim();
        (!folder.is_empty()).then(|| PathBuf::from(folder))
    });
    let roots = [set(ROOT_FOR_MACHINE), set("DOTNET_ROOT")];
    let candidates = roots
        .into_iter()
        .flatten()
        .map(in_folder)
        .chain(set("DOTNET_HOST_PATH"))
        .chain(in_path)
        .chain(noted.map(in_folder))
        .chain(USUAL_FOLDERS.map(|folder| in_folder(folder.into())))
        .chain(set("HOME").map(|home| home.join(".dotnet/dotnet")));
    candidates.filter_map(|candidate| {
        // The link may lie in a folder without the rest of .NET, and a relative entry means another file elsewhere.
        let command = std::fs::canonicalize(candidate).ok()?;
        is_executable(&command).then_some(command)
    })
}

fn is_executable(file: &Path) -> bool {
    file.metadata()
        .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn executable(folder: &Path) -> PathBuf {
        std::fs::create_dir_all(folder).expect("a folder can be made");
        let file = folder.join("dotnet");
        std::fs::write(&file, "").expect("a file can be written");
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&file, mode).expect("modes can be set");
        file
    }

    #[test]
    fn the_environment_comes_before_path_and_links_are_resolved() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = folder.path().canonicalize().expect("it exists");
        let root = executable(&at.join("root"));
        let host = executable(&at.join("host"));
        let real = executable(&at.join("real"));
        let bin = at.join("bin");
        std::fs::create_dir(&bin).expect("a folder can be made");
        std::os::unix::fs::symlink(&real, bin.join("dotnet")).expect("links can be made");
        let empty = at.join("empty");
        std::fs::create_dir(&empty).expect("a folder can be made");
        std::fs::write(empty.join("dotnet"), "not executable").expect("a file can be written");

        let check = |variables: &[(&str, &Path)], expected: &Path| {
            let variable = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| value.as_os_str().to_owned())
            };
            assert_eq!(locate_dotnet(variable).as_deref(), Some(expected));
        };
        let path = std::env::join_paths([&empty, &bin]).expect("plain names");
        let path = Path::new(&path);
        check(&[("PATH", path)], &real);
        check(&[("PATH", path), ("DOTNET_HOST_PATH", &host)], &host);
        let all = [
            ("PATH", path),
            ("DOTNET_HOST_PATH", &host),
            ("DOTNET_ROOT", root.parent().expect("a folder")),
        ];
        check(&all, &root);
        // A root without dotnet in it, and an empty one, are passed over.
        check(&[("DOTNET_ROOT", &empty), ("PATH", path)], &real);
        check(&[("DOTNET_ROOT", Path::new("")), ("PATH", path)], &real);
    }
}
