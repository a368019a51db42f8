//! Code that is run in the program: getters that compute, throw, wait or never return.

use std::time::{Duration, Instant};

use host::api::{Error, ErrorCode, Exit, Reply, Request, State, VariablesQuery, View};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use crate::support::{children, lines, stopped, variables};

fn running() -> View {
    View {
        properties: true,
        run_code: true,
        time_limit: 500,
        ..View::default()
    }
}

#[track_caller]
fn computed(program: &Debuggee<'_>, path: &str, names: &[&str]) -> Vec<String> {
    let query = VariablesQuery {
        path: Some(path.into()),
        names: names.iter().map(|&name| name.into()).collect(),
        view: running(),
        ..VariablesQuery::default()
    };
    lines(&variables(program, query).variables)
}

#[test]
fn getters_are_run_when_that_is_asked_for_and_only_then() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_calls", &["stop", "inside", "after"]);
    // A look runs nothing.
    assert_eq!(
        lines(&children(&program, "square")),
        ["side = 3", "calls = 0", "Name = \"shape\""]
    );
    // The breakpoint inside the getter is passed over, and the stop stays what it was.
    let before = program.status().stop.expect("stopped");
    let told = computed(&program, "shape", &[]);
    for line in [
        "side = 3",
        "Area = 9",
        "Calls = 1",
        "Text = \"side 3\"",
        "Broken = its getter threw System.InvalidOperationException: no such thing",
        "Both = { Left = 1, Right = \"r\" }",
        "Fixed = 2020-01-02T00:00:00.0000000",
        "Nothing = null",
    ] {
        assert!(told.contains(&line.to_owned()), "{line}: {told:#?}");
    }
    let status = program.status();
    assert_eq!(status.state, State::Stopped);
    assert_eq!(status.stop.expect("still stopped"), before);
    // The program goes on from where it was: the breakpoint counts now.
    program.cont();
    program.wait_stop();
    program.cont();
    program.wait_stop();
    program.cont();
    program.wait_output("after 2");
}

#[test]
fn getters_of_structs_and_generic_types_are_run() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_calls", &["stop"]);
    let told = computed(&program, "pair", &[]);
    assert!(told.contains(&"Sum = 8".to_owned()), "{told:?}");
    let told = computed(&program, "generic", &[]);
    assert!(told.contains(&"Same = \"item\"".to_owned()), "{told:?}");
    assert!(told.contains(&"Kind = \"String\"".to_owned()), "{told:?}");
    let told = computed(&program, "numbers", &[]);
    assert!(told.contains(&"Same = 9".to_owned()), "{told:?}");
    assert!(told.contains(&"Kind = \"Int32\"".to_owned()), "{told:?}");
}

#[test]
fn a_getter_that_never_returns_is_given_up_and_the_program_stays_usable() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_calls", &["stop", "after"]);
    let told = computed(&program, "endless", &[]);
    assert!(told.contains(&"Fine = 5".to_owned()), "{told:#?}");
    let value = told.iter().find(|it| it.starts_with("Value = "));
    let value = value.expect("the value that cannot be told");
    assert!(value.contains("it took longer than 500 ms"), "{value}");
    // What nobody waits for any more when its turn comes is not done.
    let query = VariablesQuery {
        path: Some("endless".into()),
        view: running(),
        ..VariablesQuery::default()
    };
    let session = program.session();
    let busy = session.send(Request::Variables(Box::new(query)), &[]);
    let given_up = session.send(Request::Continue, &[]).expect("sent");
    let error = given_up.wait(Instant::now()).expect_err("not done yet");
    assert_eq!(error.code, ErrorCode::Timeout);
    let busy = busy
        .expect("sent")
        .wait(Instant::now() + Duration::from_secs(20));
    assert!(busy.is_ok(), "{busy:?}");
    assert_eq!(program.status().state, State::Stopped);
    program.cont();
    program.wait_stop();
    let told = computed(&program, "pair", &[]);
    assert!(told.contains(&"Sum = 8".to_owned()), "{told:?}");
    program.stdin("go\n");
    program.cont();
    program.expect_exit(0);
}

#[test]
fn a_getter_that_allocates_for_ever_does_not_end_the_program_and_what_came_of_it_is_told() {
    // The one is in the allocator nearly always, the other in the collector.
    for path in ["hungry", "hungry.Large"] {
        let sandbox = Sandbox::new();
        let program = stopped(&sandbox, "values_calls", &["stop", "after"]);
        let ask = |path: &str, name: &str| {
            let query = VariablesQuery {
                path: Some(path.into()),
                names: vec![name.into()],
                view: running(),
                ..VariablesQuery::default()
            };
            program.request(Request::Variables(Box::new(query)))
        };
        match ask(path, "Value") {
            Ok(Reply::Variables(told)) => {
                let told = lines(&told.variables);
                assert!(told[0].contains("it took longer than 500 ms"), "{told:?}");
                // What it left is garbage, and other code runs.
                let told = computed(&program, "pair", &[]);
                assert!(told.contains(&"Sum = 8".to_owned()), "{told:?}");
                program.cont();
                program.wait_stop();
                program.stdin("go\n");
                program.cont();
                program.expect_exit(0);
            }
            // A thread that does nothing but allocate is not always got hold of.
            Err(error) => {
                assert_eq!(error.code, ErrorCode::Timeout, "{error:?}");
                assert!(error.message.contains("cannot be ended"), "{error:?}");
                let error = ask("pair", "Sum").expect_err("disabled");
                assert!(error.message.contains("disabled"), "{error:?}");
                assert_eq!(program.status().state, State::Stopped);
            }
            Ok(other) => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_getter_that_waits_for_a_frozen_thread_disables_evaluation_until_the_program_continues() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_calls", &["stop", "after"]);
    let query = |path: &str| {
        Request::Variables(Box::new(VariablesQuery {
            path: Some(path.into()),
            view: running(),
            ..VariablesQuery::default()
        }))
    };
    let error = program.request(query("locked")).expect_err("a deadlock");
    assert_eq!(error.code, ErrorCode::Timeout, "{error:?}");
    assert!(
        error.message.contains("until the program continues"),
        "{error:?}"
    );
    // The thread stands inside the getter, and nothing else can be run.
    let error = program.request(query("anything")).expect_err("disabled");
    assert!(error.message.contains("disabled"), "{error:?}");
    // With the other thread running the lock is given back, the getter ends, and the program goes on.
    program.cont();
    program.stdin("go\n");
    program.wait_stop();
    assert!(computed(&program, "locked", &[]).contains(&"Value = 7".to_owned()));
    program.cont();
    program.expect_exit(0);
}

fn ask(program: &Debuggee<'_>, path: &str, time_limit: u32) -> Error {
    let query = VariablesQuery {
        path: Some(path.into()),
        view: View {
            time_limit,
            ..running()
        },
        ..VariablesQuery::default()
    };
    let asked = program.request(Request::Variables(Box::new(query)));
    asked.expect_err("a getter that does not come back")
}

#[test]
fn a_getter_that_exits_ends_the_program_as_soon_as_its_threads_run() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_calls", &["stop"]);
    // Ending needs threads of the runtime, which stand still.
    let error = ask(&program, "exits", 500);
    assert_eq!(error.code, ErrorCode::Timeout, "{error:?}");
    program.cont();
    assert_eq!(program.wait_exit(), Exit::Code(42));
}

#[test]
fn a_getter_that_uses_up_its_stack_ends_the_program_and_that_is_told() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_calls", &["stop"]);
    let error = ask(&program, "overflows", 15_000);
    assert_eq!(error.code, ErrorCode::Exited, "{error:?}");
    // Whoever asks meanwhile hears that it ends, not that it runs.
    let asked = Request::Variables(Box::default());
    let error = program.request(asked).expect_err("no program");
    assert!(!error.message.contains("is running"), "{error:?}");
    assert!(matches!(
        program.wait_exit(),
        Exit::Signal { number: 6, .. }
    ));
}

#[test]
fn a_collection_that_begins_in_a_getter_ends() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_damaged", &["costly"]);
    let view = View {
        time_limit: 20_000,
        ..running()
    };
    for _ in 0..3 {
        let query = VariablesQuery {
            path: Some("costly".into()),
            view: view.clone(),
            ..VariablesQuery::default()
        };
        let told = lines(&variables(&program, query).variables);
        assert_eq!(told, ["Text = 100000000", "Bytes = 200000000"]);
    }
    program.cont();
    program.wait_output("1text13");
    program.expect_exit(0);
}
