//! Starting programs under the debugger.

use host::api::{Origin, State, Stream};
use testkit::fixtures::{Fixture, runtime_version};
use testkit::sandbox::Sandbox;

#[test]
fn dll_runs_to_its_end() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("hello").args(["--exit", "7"]).start();
    program.expect_exit(7);
    let text = program.text(Stream::Stdout);
    assert!(
        text.starts_with(&format!("hello from .NET {}\n", runtime_version().0)),
        "{text}"
    );
    assert!(text.ends_with("bye\n"), "{text}");
    let status = program.status();
    assert_eq!(status.state, State::Exited);
    assert_eq!(status.origin, Some(Origin::Launched));
}
