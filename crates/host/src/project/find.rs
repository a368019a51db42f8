//! Which project a path means.

use std::fs;
use std::path::{Path, PathBuf};

use super::BuildError;

const PROJECTS: [&str; 3] = ["csproj", "fsproj", "vbproj"];
const SOLUTIONS: [&str; 2] = ["sln", "slnx"];
/// A C# file that is a program by itself, since the .NET 10 SDK.
const SINGLE_FILE: &str = "cs";
/// The largest solution file that is read.
const MAX_SOLUTION: u64 = 16 << 20;

/// Whether a path is something to build rather than a program: a project, a solution, a folder with one of these, a
/// single C# file.
pub fn is_project(path: &Path) -> bool {
    if path.is_dir() {
        return !files(path, &PROJECTS).is_empty() || !files(path, &SOLUTIONS).is_empty();
    }
    has_extension(path, &PROJECTS)
        || has_extension(path, &SOLUTIONS)
        || has_extension(path, &[SINGLE_FILE])
}

/// Whether the project is a single C# file.
pub(super) fn is_single_file(project: &Path) -> bool {
    has_extension(project, &[SINGLE_FILE])
}

/// The project that a path means, with its absolute path.
pub(super) fn project(path: &Path) -> Result<PathBuf, BuildError> {
    let found = std::path::absolute(path)?;
    let Ok(data) = found.metadata() else {
        return Err(BuildError::NotFound {
            path: path.to_owned(),
        });
    };
    if data.is_dir() {
        let projects = files(&found, &PROJECTS);
        if !projects.is_empty() {
            return the_only(path, projects);
        }
        return match files(&found, &SOLUTIONS).as_slice() {
            [] => Err(BuildError::NoProject {
                path: path.to_owned(),
            }),
            [solution] => the_only(solution, in_solution(solution)),
            solutions => Err(BuildError::SeveralProjects {
                path: path.to_owned(),
                projects: solutions.to_vec(),
            }),
        };
    }
    if has_extension(&found, &SOLUTIONS) {
        return the_only(path, in_solution(&found));
    }
    if is_project(&found) {
        return Ok(found);
    }
    Err(BuildError::NoProject {
        path: path.to_owned(),
    })
}

fn the_only(path: &Path, projects: Vec<PathBuf>) -> Result<PathBuf, BuildError> {
    let path = path.to_owned();
    match <[PathBuf; 1]>::try_from(projects) {
        Ok([project]) => Ok(project),
        Err(projects) if projects.is_empty() => Err(BuildError::NoProject { path }),
        Err(projects) => Err(BuildError::SeveralProjects { path, projects }),
    }
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension()
        .and_then(|extension| extension.to_str())
        .is_some_and(|extension| {
            extensions
                .iter()
                .any(|known| extension.eq_ignore_ascii_case(known))
        })
}

/// The files of a folder with one of the extensions, in order.
fn files(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| has_extension(path, extensions) && path.is_file())
        .collect();
    found.sort();
    found
}

/// The projects that a solution names. Both formats have their paths in quotes, with either kind of slash.
fn in_solution(solution: &Path) -> Vec<PathBuf> {
    let readable = solution
        .metadata()
        .is_ok_and(|data| data.len() <= MAX_SOLUTION);
    let text = match fs::read_to_string(solution) {
        Ok(text) if readable => text,
        _ => return Vec::new(),
    };
    let folder = solution.parent().unwrap_or(Path::new("."));
    let mut found: Vec<PathBuf> = text
        .split('"')
        .map(|quoted| PathBuf::from(quoted.replace('\\', "/")))
        .filter(|path| has_extension(path, &PROJECTS))
        .map(|path| folder.join(path))
        .collect();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a path means in a folder with these files.
    #[track_caller]
    fn check(files: &[(&str, &str)], path: &str, expected: Result<&str, &str>) {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, content) in files {
            let file = folder.path().join(name);
            fs::create_dir_all(file.parent().expect("inside")).expect("a folder");
            fs::write(file, content).expect("a file");
        }
        let prefix = format!("{}/", folder.path().display());
        let found = match project(&folder.path().join(path)) {
            Ok(project) => Ok(project.display().to_string().replace(&prefix, "")),
            Err(error) => Err(engine::api::Error::from(error)),
        };
        match (found, expected) {
            (Ok(found), expected) => assert_eq!(Ok(found.as_str()), expected),
            (Err(error), Ok(_)) => panic!("{error:?}"),
            (Err(error), Err(part)) => {
                let text = format!("{} {}", error.message, error.hint.unwrap_or_default());
                assert!(text.contains(part), "{text}");
            }
        }
    }

    #[test]
    fn a_project_is_found_by_file_folder_and_solution() {
        check(&[("a.csproj", "")], "a.csproj", Ok("a.csproj"));
        check(&[("a.FSProj", ""), ("b.cs", "")], ".", Ok("a.FSProj"));
        check(&[("a.cs", "")], "a.cs", Ok("a.cs"));
        let solution =
            "Project(\"{FAE0}\") = \"Shop\", \"src\\Shop\\Shop.csproj\", \"{1}\"\nEndProject\n";
        check(&[("s.sln", solution)], "s.sln", Ok("src/Shop/Shop.csproj"));
        let xml = "<Solution><Project Path=\"src/Shop.csproj\" /></Solution>";
        check(&[("s.slnx", xml)], ".", Ok("src/Shop.csproj"));
    }

    #[test]
    fn what_does_not_mean_one_project_is_refused() {
        check(&[], "nowhere", Err("there is no file or folder"));
        check(&[("a.txt", "")], ".", Err("is not a project"));
        check(&[("a.txt", "")], "a.txt", Err("is not a project"));
        let two = &[("a.csproj", ""), ("b.csproj", "")];
        check(two, ".", Err("has 2 projects"));
        check(two, ".", Err("b.csproj"));
        let solution = "<Project Path=\"a.csproj\" /><Project Path=\"b.csproj\" />";
        check(&[("s.slnx", solution)], "s.slnx", Err("has 2 projects"));
    }

    #[test]
    fn programs_are_not_projects() {
        assert!(!is_project(Path::new("/bin/sh")));
        assert!(!is_project(Path::new("bin/Debug/a.dll")));
        assert!(!is_project(Path::new("/proc/self")));
        assert!(is_project(Path::new("no/such.csproj")));
    }
}
