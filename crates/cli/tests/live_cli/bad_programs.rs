//! Programs that cannot be started or debugged: a clear error, and nothing is left.

use std::fs;
use std::path::{Path, PathBuf};

use testkit::fixtures::{self, Fixture};
use testkit::sandbox::Sandbox;

use crate::{Ran, ndbg};

/// Copies a fixture, so that a test can change its files; the copy's dll.
fn copy(sandbox: &Sandbox, name: &str) -> PathBuf {
    let fixture = Fixture::named(name);
    let folder = sandbox.folder().join(name);
    fs::create_dir(&folder).expect("a folder");
    for entry in fs::read_dir(fixture.folder()).expect("the fixture's folder") {
        let from = entry.expect("an entry").path();
        if from.is_file() {
            fs::copy(&from, folder.join(from.file_name().expect("a name"))).expect("a copy");
        }
    }
    folder.join(format!("{name}.dll"))
}

#[track_caller]
fn check(sandbox: &Sandbox, options: &[&str], program: &Path, code: i32, words: &[&str]) {
    let mut command = ndbg(sandbox, ["run"]);
    command.args(options).arg(program);
    let ran = Ran::of(command);
    assert_eq!(ran.code, Some(code), "{ran:?}");
    assert_eq!(ran.stdout, "");
    for word in words.iter().chain(&["error: ", "Hint: "]) {
        assert!(ran.stderr.contains(word), "no {word:?} in:\n{}", ran.stderr);
    }
}

#[test]
fn dll_without_runtimeconfig_is_refused() {
    let sandbox = Sandbox::new();
    let dll = copy(&sandbox, "hello");
    fs::remove_file(dll.with_extension("runtimeconfig.json")).expect("our own copy");
    check(
        &sandbox,
        &[],
        &dll,
        126,
        &["hello.runtimeconfig.json is not beside it"],
    );
}

#[test]
fn framework_that_is_not_installed_is_told_in_the_hosts_own_words() {
    let sandbox = Sandbox::new();
    let dll = copy(&sandbox, "hello");
    let config =
        r#"{"runtimeOptions":{"framework":{"name":"Microsoft.NETCore.App","version":"77.0.0"}}}"#;
    fs::write(dll.with_extension("runtimeconfig.json"), config).expect("our own copy");
    check(
        &sandbox,
        &[],
        &dll,
        126,
        &["77.0.0", "before its runtime reached the debugger"],
    );
}

#[test]
fn library_is_refused() {
    let sandbox = Sandbox::new();
    let library = Fixture::named("library").dll();
    check(
        &sandbox,
        &[],
        &library,
        126,
        &["is a library: it has no Main"],
    );
}

#[test]
fn debugging_switched_off_is_refused_at_once() {
    let sandbox = Sandbox::new();
    let hello = Fixture::named("hello").dll();
    for setting in [
        "DOTNET_EnableDiagnostics=0",
        "DOTNET_EnableDiagnostics_Debugger=0",
    ] {
        check(&sandbox, &["--env", setting], &hello, 126, &[setting]);
    }
}

#[test]
fn temporary_folder_without_room_for_pipes_is_refused() {
    let sandbox = Sandbox::new();
    let hello = Fixture::named("hello").dll();
    let words = ["its runtime needs pipes in the temporary folder /proc/self"];
    check(
        &sandbox,
        &["--env", "TMPDIR=/proc/self"],
        &hello,
        126,
        &words,
    );
}

#[test]
fn working_folder_that_does_not_exist_is_refused() {
    let sandbox = Sandbox::new();
    let hello = Fixture::named("hello").dll();
    check(
        &sandbox,
        &["--cwd", "/no/such"],
        &hello,
        126,
        &["/no/such does not exist"],
    );
}

/// A .NET whose runtime is the one under test but for what `change` does to its folder.
fn changed_runtime(sandbox: &Sandbox, change: impl FnOnce(&Path)) -> PathBuf {
    let real = fixtures::dotnet_root();
    let root = sandbox.folder().join("dotnet");
    fs::create_dir(&root).expect("a folder");
    fs::copy(real.join("dotnet"), root.join("dotnet")).expect("a copy");
    std::os::unix::fs::symlink(real.join("host"), root.join("host")).expect("a link");
    let shared = Path::new("shared/Microsoft.NETCore.App");
    let version = fixtures_version(&real.join(shared));
    let runtime = root.join(shared).join(&version);
    fs::create_dir_all(&runtime).expect("a folder");
    for entry in fs::read_dir(real.join(shared).join(&version)).expect("the runtime") {
        let from = entry.expect("an entry").path();
        let to = runtime.join(from.file_name().expect("a name"));
        // The kernel tells the real path of a mapped file: native libraries must be copies.
        if from.extension().is_some_and(|extension| extension == "so") {
            fs::copy(&from, &to).expect("a copy");
        } else {
            std::os::unix::fs::symlink(&from, &to).expect("a link");
        }
    }
    change(&runtime);
    root
}

/// The version of the runtime under test.
fn fixtures_version(folder: &Path) -> String {
    let (major, minor) = fixtures::runtime_version();
    let names = fs::read_dir(folder).expect("the runtimes").flatten();
    let mut names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names
        .find(|name| name.starts_with(&format!("{major}.{minor}.")))
        .expect("the runtime under test is installed")
}

/// What `ndbg run` says of a program on a runtime that was changed.
fn ran_on(change: impl FnOnce(&Path)) -> Ran {
    let sandbox = Sandbox::new();
    let root = changed_runtime(&sandbox, change);
    let mut command = ndbg(&sandbox, ["run"]);
    command
        .arg(Fixture::named("hello").dll())
        .env("DOTNET_ROOT", root);
    Ran::of(command)
}

#[test]
fn runtime_without_its_debugger_library_is_told() {
    let ran = ran_on(|runtime| {
        fs::remove_file(runtime.join("libmscordbi.so")).expect("our own copy");
    });
    assert_eq!(ran.code, Some(126), "{ran:?}");
    assert!(ran.stderr.contains("libmscordbi.so is missing"), "{ran:?}");
    let hint = "Hint: install the whole runtime";
    assert!(ran.stderr.contains(hint), "{ran:?}");
}

#[test]
fn runtime_with_a_debugger_library_that_cannot_be_loaded_is_told() {
    let ran = ran_on(|runtime| {
        fs::write(runtime.join("libmscordbi.so"), "not a library").expect("our own copy");
    });
    assert_eq!(ran.code, Some(126), "{ran:?}");
    let told = "libmscordbi.so cannot be loaded";
    assert!(ran.stderr.contains(told), "{ran:?}");
}

#[test]
fn runtime_with_a_debugger_library_that_is_cut_off_is_told() {
    let ran = ran_on(|runtime| {
        let library = runtime.join("libmscordaccore.so");
        let library = fs::File::options().write(true).open(library);
        let cut = library.and_then(|it| it.set_len(100_000));
        cut.expect("our own copy");
    });
    assert_eq!(ran.code, Some(126), "{ran:?}");
    for told in ["libmscordaccore.so cannot be loaded", "cut off"] {
        assert!(ran.stderr.contains(told), "{ran:?}");
    }
}

#[test]
fn runtime_with_the_debugger_library_of_another_build_is_told() {
    let Some(old) = Fixture::old("hello") else {
        // Only one runtime is set up: there is no other build to mix with.
        return;
    };
    let sandbox = Sandbox::new();
    let others = old.dotnet_root().join("shared/Microsoft.NETCore.App");
    let other = fs::read_dir(others).expect("the runtimes").flatten();
    let mut other = other.map(|entry| entry.path());
    let other = other.find(|path| {
        path.file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with("3.1."))
    });
    let other = other.expect("the old runtime is installed");
    let root = changed_runtime(&sandbox, |runtime| {
        for part in ["libmscordbi.so", "libmscordaccore.so"] {
            fs::copy(other.join(part), runtime.join(part)).expect("our own copy");
        }
    });
    let mut command = ndbg(&sandbox, ["run"]);
    command
        .arg(Fixture::named("hello").dll())
        .env("DOTNET_ROOT", root);
    let ran = Ran::of(command);
    assert_eq!(ran.code, Some(126), "{ran:?}");
    let words = "is of build 4.700.";
    assert!(ran.stderr.contains(words), "no {words:?} in {ran:?}");
    assert!(
        ran.stderr.contains("but the runtime is of build"),
        "{ran:?}"
    );
}

#[test]
fn path_that_is_not_utf8_is_refused_at_once() {
    use std::os::unix::ffi::OsStrExt as _;

    let sandbox = Sandbox::new();
    let name = std::ffi::OsStr::from_bytes(b"hello\xff.dll");
    let dll = copy(&sandbox, "hello");
    let renamed = dll.with_file_name(name);
    fs::rename(&dll, &renamed).expect("our own copy");
    let config = dll.with_extension("runtimeconfig.json");
    fs::rename(&config, renamed.with_extension("runtimeconfig.json")).expect("our own copy");
    check(&sandbox, &[], &renamed, 126, &["UTF-8"]);
}
