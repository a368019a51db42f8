//! The source files that a program is made of, before it runs: by its symbols, or by the folder of its project.
//!
//! Whatever lies there is only looked at, and only so much of it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use metadata::index::MatchQuality;
use metadata::{Module, Symbols};

use crate::api::SourceMap;
use crate::source_files::SourceFiles;

/// Assemblies beside the program whose symbols are looked into.
const MAX_ASSEMBLIES: usize = 64;
/// Files larger than this are not looked into.
const MAX_BYTES: u64 = 256 << 20;
/// Entries of folders that are looked at.
const MAX_ENTRIES: usize = 20_000;
/// How deep folders are looked into.
const MAX_DEPTH: usize = 12;
/// Files that are told.
const MAX_FOUND: usize = 20;
/// Folders without source that somebody wrote.
const OTHERS: [&str; 3] = ["bin", "obj", "node_modules"];

/// The files here that are meant by a name or the end of a path; those that fit best, sorted. `program` is an assembly, an
/// executable beside one, a project file or a folder.
pub fn sources_named(program: &Path, file: &str) -> Vec<PathBuf> {
    let mut found = BTreeSet::new();
    if program.is_dir() {
        walk(program, file, &mut found);
    } else if let Some(folder) = program.parent() {
        match is_built(program) {
            true => {
                for assembly in assemblies(program, folder) {
                    found.extend(documents(&assembly, file));
                }
            }
            false => walk(folder, file, &mut found),
        }
    }
    best(found, file)
}

/// Whether a source file is not the one that a built program was compiled from, by the symbols that name it, `maps` given.
/// What is built before it runs has no such file.
pub fn source_is_changed(program: &Path, file: &Path, maps: &[SourceMap]) -> bool {
    let Some(folder) = program.parent().filter(|_| is_built(program)) else {
        return false;
    };
    let path = file.to_string_lossy();
    let files = SourceFiles::default();
    // A map that is none is refused where it is set.
    let _ = files.set_maps(maps.to_vec());
    let as_compiled = |assembly: PathBuf| {
        let symbols = symbols(&assembly)?;
        let (_, token) = symbols
            .documents()
            .named(&path)
            .into_iter()
            .find(|(recorded, _)| files.here(recorded) == file)?;
        let document = symbols.pdb().document(token).ok()?;
        files.is_as_compiled(file, &document)
    };
    // The first that was compiled from it says.
    let mut verdicts = assemblies(program, folder)
        .into_iter()
        .filter_map(as_compiled);
    verdicts.next() == Some(false)
}

/// Whether a program, which is no folder, is there already, and is not to be built first.
fn is_built(program: &Path) -> bool {
    !program.is_dir()
        && !program.extension().is_some_and(|it| {
            it.to_string_lossy().ends_with("proj") || it == "cs" || it == "sln" || it == "slnx"
        })
}

/// The program's own assembly, then those beside it that have symbols beside them.
fn assemblies(program: &Path, folder: &Path) -> Vec<PathBuf> {
    let mut list = vec![program.to_owned(), program.with_extension("dll")];
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.take(MAX_ENTRIES).map(|it| it.path());
    let mut others: Vec<_> = paths
        .filter(|it| it.extension().is_some_and(|it| it == "dll"))
        .filter(|it| it.with_extension("pdb").is_file())
        .collect();
    others.sort();
    list.extend(others);
    list.dedup();
    list.truncate(MAX_ASSEMBLIES);
    list
}

/// The symbols of an assembly, if it has some.
fn symbols(assembly: &Path) -> Option<Symbols> {
    let read = |path: &Path| {
        let is_small = |it: fs::Metadata| it.is_file() && it.len() <= MAX_BYTES;
        fs::metadata(path).is_ok_and(is_small).then_some(())?;
        fs::read(path).ok()
    };
    let module = Module::open(read(assembly)?).ok()?;
    let search = module.find_symbols(Some(assembly), |path| read(path).map(Into::into));
    search.ok()?.symbols
}

fn documents(assembly: &Path, file: &str) -> Vec<PathBuf> {
    let Some(symbols) = symbols(assembly) else {
        return Vec::new();
    };
    let named = symbols.documents().named(file).into_iter();
    let named = named.map(|(path, _)| PathBuf::from(path));
    named.filter(|it| it.is_file()).take(MAX_FOUND).collect()
}

fn walk(folder: &Path, file: &str, found: &mut BTreeSet<PathBuf>) {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let mut folders = vec![(folder.to_owned(), 0)];
    let mut left = MAX_ENTRIES;
    while let Some((folder, depth)) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            left = left.saturating_sub(1);
            if left == 0 || found.len() >= MAX_FOUND {
                return;
            }
            // Links are not followed: they may lead in circles.
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let its_name = entry.file_name().to_string_lossy().into_owned();
            if kind.is_file() && its_name.eq_ignore_ascii_case(name) {
                found.insert(entry.path());
            }
            let is_source = !its_name.starts_with('.') && !OTHERS.contains(&its_name.as_str());
            if kind.is_dir() && is_source && depth < MAX_DEPTH {
                folders.push((entry.path(), depth + 1));
            }
        }
    }
}

/// Those whose paths end most like the one that was asked for.
fn best(found: BTreeSet<PathBuf>, file: &str) -> Vec<PathBuf> {
    let wanted = file
        .rsplit(['/', '\\'])
        .filter(|it| !matches!(*it, "" | "." | ".."))
        .count();
    let quality = |path: &PathBuf| MatchQuality::of(file, &path.to_string_lossy(), true);
    // All that was said has to fit.
    let fits = |path: &PathBuf| match quality(path) {
        Some(MatchQuality::Exact) => true,
        Some(MatchQuality::Suffix(folders)) => folders + 1 >= wanted,
        Some(MatchQuality::Name) => wanted == 1,
        None => false,
    };
    found.into_iter().filter(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_project_are_found_by_the_end_of_their_path() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |path: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
            fs::write(&path, "").expect("a file");
            path
        };
        let (one, two) = (file("a/Program.cs"), file("b/c/Program.cs"));
        let project = file("p.csproj");
        file("obj/Program.cs");
        file("b/bin/Program.cs");
        for program in [folder.path(), &project] {
            let all = sources_named(program, "program.cs");
            assert_eq!(all, [one.clone(), two.clone()]);
            assert_eq!(
                sources_named(program, "c/Program.cs"),
                std::slice::from_ref(&two)
            );
            assert_eq!(
                sources_named(program, "./c/Program.cs"),
                std::slice::from_ref(&two)
            );
            assert!(sources_named(program, "x/Program.cs").is_empty());
            assert!(sources_named(program, "").is_empty());
        }
    }
}
