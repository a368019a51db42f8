//! Debugging a .NET child of the launched program.

use std::time::{Duration, Instant};

use host::api::{Exit, Follow, Launch, OutputCursor, OutputQuery, Reply, Request, State};
use host::{HostProgram, Session, Settled};
use testkit::fixtures::Fixture;

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

fn environment() -> std::collections::BTreeMap<String, Option<String>> {
    let pairs = testkit::fixtures::dotnet_environment().into_iter();
    pairs
        .map(|(name, value)| (name, Some(value.to_string_lossy().into_owned())))
        .collect()
}

fn output(session: &Session) -> String {
    let query = OutputQuery {
        from: OutputCursor(0),
        stream: None,
        max_bytes: 100_000,
        tail: false,
    };
    match session.request(Request::Output(query), soon()) {
        Ok(Reply::Output(page)) => page.chunks.into_iter().map(|chunk| chunk.text).collect(),
        other => panic!("unexpected {other:?}"),
    }
}

#[test]
fn a_child_is_debugged_from_its_start_and_its_exit_code_is_told() {
    let parent = Fixture::named("children");
    let child = Fixture::named("throws");
    let host = HostProgram {
        path: env!("CARGO_BIN_EXE_ndbg").into(),
        args: vec!["host".into()],
    };
    let dotnet = parent.dotnet_root().join("dotnet");
    let launch = Launch {
        program: parent.dll(),
        args: vec![
            dotnet.display().to_string(),
            child.dll().display().to_string(),
        ],
        follow: Follow::Child { command_line: None },
        env: environment(),
        ..Launch::default()
    };
    let session = Session::launch(&host, launch, &[], soon()).expect("launched");
    let status = session.status();
    assert!(
        status
            .program
            .as_deref()
            .is_some_and(|program| program.contains("throws.dll")),
        "{status:?}"
    );
    let Settled::Yes(stopped) = session.wait(0, soon()) else {
        panic!("still running: {}", output(&session))
    };
    assert_eq!(stopped.state, State::Stopped, "{stopped:?}");
    session
        .request(Request::Continue, soon())
        .expect("continued");
    let Settled::Yes(exited) = session.wait(1, soon()) else {
        panic!("still running: {}", output(&session))
    };
    assert!(
        matches!(exited.exit, Some(Exit::Signal { number: 6, .. })),
        "{exited:?}"
    );
}
