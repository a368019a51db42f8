//! Stacks with frames of methods that the runtime itself suspends (runtime-async): .NET 10 calls them so, .NET 9 knows
//! no such flag.

use host::api::{ExceptionSpec, Request, VariablesQuery};
use testkit::debuggee::Debuggee;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::stacks_told as told;

const FIXTURE: &str = "stack_runtime_async";

/// A copy of the fixture whose method has the flag of those that the runtime suspends.
fn marked(sandbox: &Sandbox) -> std::path::PathBuf {
    let fixture = Fixture::named(FIXTURE);
    let copy = sandbox.folder().join("stack_runtime_async.dll");
    for extension in ["dll", "pdb", "runtimeconfig.json"] {
        let file = fixture.dll().with_extension(extension);
        std::fs::copy(file, copy.with_extension(extension)).expect("copied");
    }
    let mut bytes = std::fs::read(&copy).expect("the copy");
    // Implementation flags as in the source, then `public static hidebysig` (ECMA-335 II.22.26).
    let flags = [0x68, 0x01, 0x96, 0x00];
    let at = bytes.windows(4).position(|it| it == flags);
    let at = at.expect("the row of the method");
    bytes[at..at + 2].copy_from_slice(&0x2000_u16.to_le_bytes());
    std::fs::write(&copy, bytes).expect("written");
    copy
}

/// Starts such a copy. It stops below the method, and when that throws.
pub(crate) fn launch_marked(sandbox: &Sandbox) -> Debuggee<'_> {
    let copy = marked(sandbox);
    sandbox
        .launch(FIXTURE)
        .program(&copy)
        .env("DOTNET_RuntimeAsync", "1")
        .with(|launch| {
            launch.exceptions = vec![ExceptionSpec::of_type("InvalidOperationException")]
        })
        .start()
}

#[test]
fn frames_of_methods_that_the_runtime_suspends_are_told() {
    let sandbox = Sandbox::new();
    let program = launch_marked(&sandbox);
    // Below such a frame, which stays on the stack.
    program.wait_stop();
    let stack = told::stack(&program);
    let mut frames = stack.lines();
    assert_eq!(
        frames.next(),
        Some("Marked.Below(int number): Debugger.Break();")
    );
    assert_eq!(
        frames.next(),
        Some("Marked.Called(int number): Below(number);")
    );
    assert!(
        frames.any(|it| it == "Program.Main(): Marked.Called(3).Wait();"),
        "{stack}"
    );
    let query = VariablesQuery {
        frame: 1,
        ..VariablesQuery::default()
    };
    let variables = program.request(Request::Variables(Box::new(query)));
    let why = variables
        .expect_err("the runtime does not tell them")
        .message;
    assert!(why.contains("runtime-async"), "{why}");
    // In such a frame, where the runtime library walks the stack before we do.
    program.cont();
    let stop = program.wait_stop();
    let thrown = stop.exception.expect("an exception");
    assert_eq!(thrown.message.as_deref(), Some("thrown in it"));
    let stack = told::stack(&program);
    assert!(
        stack.starts_with("Marked.Called(int number): throw new InvalidOperationException"),
        "{stack}"
    );
    program.cont();
    program.expect_exit(0);
}
