//! Exceptions whose telling needs care: messages that only code can tell, and tasks that keep them.

use expect_test::expect;
use host::api::{ExceptionSpec, ExceptionStage, Handler, Stop, StopReason};
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

const FIXTURE: &str = "exceptions_told";

/// A line for each stop of a scenario.
fn stops(scenario: &str, spec: ExceptionSpec, tell: impl Fn(&Stop) -> String) -> String {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch(FIXTURE)
        .args([scenario])
        .with(|launch| launch.exceptions = vec![spec])
        .start();
    let mut told = String::new();
    while let Some(stop) = program.settle().stop {
        told += &tell(&stop);
        told.push('\n');
        program.cont();
    }
    program.expect_exit(0);
    told
}

#[test]
fn a_message_that_is_overridden_is_told_as_what_it_was_made_with() {
    let told = stops("message", ExceptionSpec::all(), |stop| {
        let exception = stop.exception.as_ref().expect("an exception");
        format!(
            "{}: {:?}, overridden by {:?}",
            exception.type_name, exception.message, exception.message_overridden_by
        )
    });
    expect![[r#"
        TicketException: Some("made with this"), overridden by Some("TicketException")
        Bare: None, overridden by Some("Bare")
        System.ArgumentOutOfRangeException: Some("too many"), overridden by Some("System.ArgumentOutOfRangeException")
        System.ArgumentException: Some("bad (Parameter 'count')"), overridden by None
    "#]]
    .assert_eq(&told);
}

#[test]
fn an_async_method_that_only_the_framework_awaits_leaves_its_exception_to_others() {
    let spec = ExceptionSpec {
        thrown: false,
        user_unhandled: true,
        ..ExceptionSpec::all()
    };
    let told = stops("lost", spec, |stop| {
        let stage = ExceptionStage::UserUnhandled;
        assert!(
            matches!(&stop.reasons[..], [StopReason::Exception { stage: it, .. }] if *it == stage),
            "{stop:?}"
        );
        let exception = stop.exception.as_ref().expect("an exception");
        let flight = exception.flight.as_deref().expect("a flight");
        assert!(matches!(flight.handler, Handler::Task { .. }), "{flight:?}");
        let frame = flight.thrown_at.as_ref().expect("a frame");
        let line = frame.source.as_ref().expect("source").line.0;
        let markers = ["later", "sooner", "delegate"];
        let fixture = Fixture::named(FIXTURE);
        let marker = markers
            .into_iter()
            .find(|it| fixture.marker(it).line == line);
        marker.unwrap_or("somewhere else").to_owned()
    });
    assert_eq!(told, "later\nsooner\ndelegate\n");
}
