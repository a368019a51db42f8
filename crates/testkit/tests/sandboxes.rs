//! The leak check finds what is left: a check that cannot fail proves nothing.

use std::process::{Command, Stdio};

use testkit::procfs;
use testkit::sandbox::Sandbox;

fn sleep(sandbox: &Sandbox) -> std::process::Child {
    let mut command = Command::new("/bin/sleep");
    sandbox.adopt(&mut command);
    let command = command.arg("1000").stdin(Stdio::null());
    command.spawn().expect("sleep starts")
}

#[test]
fn process_that_is_left_is_found_and_another_tests_is_not() {
    let (sandbox, other) = (Sandbox::new(), Sandbox::new());
    let mut child = sleep(&sandbox);
    // Its environment is its own from the moment of exec on.
    let found = testkit::eventually(|| match sandbox.processes().as_slice() {
        [process] if process.command.starts_with("/bin/sleep") => Ok(process.pid),
        found => Err(format!("{found:?}")),
    });
    assert_eq!(found, Ok(child.id()));
    assert!(sandbox.left_behind()[0].contains("/bin/sleep"));
    assert!(other.left_behind().is_empty());
    child.kill().expect("our own child");
    child.wait().expect("our own child");
    sandbox.assert_clean();
}

#[test]
fn file_in_the_temporary_folder_is_found() {
    let sandbox = Sandbox::new();
    let file = sandbox.tmp().join("clr-debug-pipe-1-1-in");
    std::fs::write(&file, "").expect("our own folder");
    assert_eq!(sandbox.left_behind(), [file.display().to_string()]);
    std::fs::remove_file(file).expect("our own file");
}

#[test]
fn semaphore_and_pipe_of_a_known_process_are_found() {
    let sandbox = Sandbox::with_default_tmp();
    let mut child = sleep(&sandbox);
    sandbox.note(child.id());
    let identity = procfs::Identity::of(child.id()).expect("it lives");
    child.kill().expect("our own child");
    child.wait().expect("our own child");
    let names = identity.file_names();
    let tmp = std::path::Path::new("/tmp");
    let files = names.map(|name| match name.strip_prefix("sem.") {
        Some(_) => std::path::Path::new("/dev/shm").join(name),
        None => tmp.join(name),
    });
    for file in &files {
        std::fs::write(file, "").expect("anybody may");
    }
    let left = sandbox.left_behind();
    for file in &files {
        std::fs::remove_file(file).expect("our own file");
        assert!(left.contains(&file.display().to_string()), "{left:?}");
    }
}
