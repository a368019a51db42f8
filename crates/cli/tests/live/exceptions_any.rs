//! What a task throws that only somebody waits for who wants the first of several.

use host::api::{ExceptionSpec, StopReason, Stream};
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

/// Whoever waits may look at the task: whether they have begun to wait makes no difference.
#[test]
fn what_the_first_of_several_throws_is_not_user_unhandled_whenever_somebody_waits() {
    let sandbox = Sandbox::new();
    let wanted = ExceptionSpec {
        thrown: false,
        user_unhandled: true,
        ..ExceptionSpec::all()
    };
    let program = sandbox
        .launch("exceptions_any")
        .with(|launch| launch.exceptions = vec![wanted])
        .start();
    let stop = program.wait_stop();
    assert!(
        matches!(stop.reasons.as_slice(), [StopReason::Exception { .. }]),
        "{stop:?}"
    );
    // The only one of which nobody hears.
    let exception = stop.exception.expect("an exception");
    assert_eq!(
        exception.message.as_deref(),
        Some("taken by the framework"),
        "{exception:?}"
    );
    let thrown = exception.trace.first().and_then(|it| it.source.clone());
    let line = Fixture::named("exceptions_any").marker("taken").line;
    assert_eq!(thrown.map(|it| it.line.0), Some(line));
    program.cont();
    program.expect_exit(0);
    assert_eq!(program.text(Stream::Stdout), "done\n");
}
