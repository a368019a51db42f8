//! What .NET Core 3.1 tells of exceptions in its own way.

use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

#[test]
fn all_inner_exceptions_of_an_aggregate_are_told() {
    let sandbox = Sandbox::new();
    let Some(old) = Fixture::old("exceptions_old") else {
        return;
    };
    let program = sandbox.launch_fixture(&old).start();
    let exception = program.wait_stop().exception.expect("an exception");
    let inner = exception.inner.iter();
    let inner: Vec<_> = inner.map(|it| it.type_name.as_str()).collect();
    assert_eq!(
        inner,
        [
            "System.FormatException",
            "System.TimeoutException",
            "System.OverflowException"
        ]
    );
    program.disconnect(Some(true), false);
}
