//! Assignments, setters and methods that change a struct, compared with the compiler: the program writes down what each
//! expression of a round gave, and the same texts are evaluated one after the other in a second round.

use std::fmt::Write as _;

use engine::api::{BreakpointSpec, Evaluate, Place, Request};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use crate::evaluate::ask;

fn stopped<'s>(sandbox: &'s Sandbox, values: &str) -> Debuggee<'s> {
    let stop = Place::Function {
        name: "Changes.Program.Stop".into(),
    };
    let program = sandbox
        .launch("expressions_changes")
        .args([values])
        .with(|launch| launch.breakpoints = vec![BreakpointSpec::at(stop)])
        .start();
    program.wait_stop();
    program
}

fn in_round(text: &str) -> Evaluate {
    Evaluate {
        side_effects: true,
        frame: 1,
        ..Evaluate::read(text)
    }
}

/// Evaluates what the program wrote down, and tells what differs.
fn compared(program: &Debuggee<'_>, rows: &[&str]) -> String {
    let mut wrong = String::new();
    for row in rows {
        let (text, expected) = row.split_once('\t').expect("a text and its value");
        let found = match ask(program, in_round(&format!("\"\" + ({text})"))).outcome {
            Ok(value) => {
                let inner = value
                    .text
                    .strip_prefix('"')
                    .and_then(|it| it.strip_suffix('"'));
                inner.unwrap_or(&value.text).to_owned()
            }
            Err(error) => error.error.message,
        };
        if found != expected {
            writeln!(wrong, "{text}\n  compiler: {expected}\n  here:     {found}")
                .expect("a string");
        }
    }
    wrong
}

#[test]
fn what_changes_changes_as_the_compiler_has_it() {
    let sandbox = Sandbox::new();
    let values = sandbox.folder().join("values.tsv");
    let values = values.to_str().expect("a path of letters");
    let program = stopped(&sandbox, values);
    let output = std::fs::read_to_string(values).expect("what the program computed");
    let rows: Vec<&str> = output.lines().collect();
    let parts = rows.split(|row| *row == "CHANGED\t");
    let parts: Vec<&[&str]> = parts.collect();
    let [computed, changed] = parts.as_slice() else {
        panic!("the program wrote {} parts", parts.len());
    };
    let counts = (changed.len(), computed.len());
    assert!(counts.0 > 150 && counts.1 > 200, "{counts:?}");
    // Formats, enums, equality, names of types: what is computed here is what the program has.
    let wrong = compared(&program, computed);
    assert!(wrong.is_empty(), "{wrong}");

    program.cont();
    program.wait_stop();
    let wrong = compared(&program, changed);
    assert!(wrong.is_empty(), "{wrong}");

    let static_type = |text: &str| match ask(&program, in_round(text)).outcome {
        Ok(value) => value.ty,
        Err(error) => error.error.message,
    };
    assert_eq!(static_type("empty ??= 3"), "int");
    assert_eq!(static_type("empty ??= five"), "int?");
    assert_eq!(static_type("none ??= \"x\""), "string");
}

#[test]
fn what_would_be_lost_is_refused() {
    let sandbox = Sandbox::new();
    let values = sandbox.folder().join("values.tsv");
    let program = stopped(&sandbox, values.to_str().expect("a path of letters"));
    program.cont();
    program.wait_stop();
    let told = |text: &str| match ask(&program, in_round(text)).outcome {
        Ok(value) => panic!("{text} is {value:?}"),
        Err(error) => error.code.unwrap_or(error.error.message),
    };
    assert_eq!(told("list[0].Foo = 1"), "CS1061");
    assert_eq!(told("new Spot(1, 2).X = 3"), "CS0131");
    assert_eq!(told("node.Self().Spot.Shift(1) = 3"), "CS0131");
    assert_eq!(told("maybe.Value.X = 3"), "CS1612");
    // What only looks changes nothing, also through a method that would.
    let looks = ask(
        &program,
        Evaluate {
            frame: 1,
            ..Evaluate::read("spot.X = 9")
        },
    );
    let refused = looks.outcome.expect_err("nothing is written");
    assert!(
        refused.error.message.contains("not allowed here"),
        "{refused:?}"
    );
}

#[test]
fn what_cannot_be_ended_leaves_the_frame_that_was_stopped_in() {
    let sandbox = Sandbox::new();
    let values = sandbox.folder().join("values.tsv");
    let program = stopped(&sandbox, values.to_str().expect("a path of letters"));
    let value = |text: &str, frame: u32| {
        let evaluate = Evaluate {
            frame,
            ..Evaluate::read(text)
        };
        match ask(&program, evaluate).outcome {
            Ok(value) => value.text,
            Err(error) => error.error.message,
        }
    };
    assert_eq!(value("text", 1), "\"text\"");
    let sleeps = Evaluate {
        time_limit_ms: 300,
        ..in_round("Asked.Sleeps(60000)")
    };
    let told = ask(&program, sleeps).outcome.expect_err("it sleeps");
    let thread = program.pid();
    let still = format!("thread {thread} is still in it");
    assert!(told.error.message.contains(&still), "{told:?}");
    assert!(told.error.message.starts_with("`Sleeps`"), "{told:?}");
    // The frames are those of the stop; values are read, and nothing more runs.
    assert_eq!(value("text", 1), "\"text\"");
    assert_eq!(value("i + 1", 1), "-12344");
    assert_eq!(value("output != null", 0), "true");
    let runs = ask(&program, in_round("Asked.Name()")).outcome;
    let refused = runs.expect_err("nothing more runs").error.message;
    assert!(refused.contains("could not be ended"), "{refused}");
}

#[test]
fn messages_tell_what_a_person_wants_to_know() {
    let sandbox = Sandbox::new();
    let values = sandbox.folder().join("values.tsv");
    let note = BreakpointSpec {
        log_message: Some(
            "{number,h} {number,6}| {number:N2} {node} {spot} {spot,nse} {list} {error} {any} {node.Name,raw} {list.Count,h}"
                .into(),
        ),
        ..BreakpointSpec::at(Place::Function {
            name: "Changes.Asked.Note".into(),
        })
    };
    // A name that nothing can bring is refused, although assemblies are still to come.
    let unknown = BreakpointSpec {
        condition: Some("j == 3".into()),
        ..BreakpointSpec::at(Place::Function {
            name: "Changes.Program.Round".into(),
        })
    };
    let program = sandbox
        .launch("expressions_changes")
        .args([values.to_str().expect("a path of letters")])
        .with(|launch| launch.breakpoints = vec![note])
        .stop_at_entry()
        .start();
    program.wait_stop();
    let refused = program.request(Request::SetBreakpoint(unknown));
    let refused = refused.expect_err("there is no j");
    assert!(refused.message.contains("CS0103"), "{refused:?}");
    // What the program has not loaded is loaded where code may run.
    let sum = ask(
        &program,
        Evaluate {
            side_effects: true,
            ..Evaluate::read("new[] { 1, 2, 3 }.Where(x => x > 1).Sum()")
        },
    );
    assert_eq!(
        sum.outcome.map(|it| it.text).map_err(|it| it.error.message),
        Ok("5".into())
    );
    program.cont();
    program.expect_exit(0);
    assert_eq!(
        crate::hits::traces(&program),
        [
            "0x000000ff    255| 255.00 Changes.Node Spot { X = 1, Y = 2, Twice = 2 } {Spot} [1, 2] System.ArgumentException: wrong { Id = 3, Name = an } \"name\" 0x00000002"
        ]
    );
}

#[test]
fn what_may_only_be_read_is_refused_with_the_code_of_its_kind() {
    let sandbox = Sandbox::new();
    let program = crate::language::stopped_in(&sandbox, "values_fixed", "stop");
    let rows = [
        ("peeked = 1", "CS0131"),
        ("element += 1", "CS0131"),
        ("given = 1", "CS8331"),
        ("place.X = 1", "CS8332"),
        ("open = 3", "ok\tint\t3"),
    ];
    let texts = rows.map(|(text, _)| text.to_owned());
    let answers = crate::sequences::evaluate(&program, texts.into());
    for ((text, expected), answer) in rows.iter().zip(&answers) {
        let told = crate::sequences::told(answer);
        assert!(told.contains(expected), "{text}: {told}");
    }
}

#[test]
fn one_of_two_references_is_assigned() {
    let sandbox = Sandbox::new();
    let program = crate::language::stopped_in(&sandbox, "values_fixed", "stop");
    let rows = [
        (
            "(given > 0 ? ref holder.Open : ref changing) = 30",
            "ok\tint\t30",
        ),
        ("(holder.Open, changing)", "(30, 6)"),
        (
            "(given > 9 ? ref holder.Open : ref changing) += 4",
            "ok\tint\t10",
        ),
        ("(holder.Open, changing)", "(30, 10)"),
        ("(given > 0 ? ref all[1] : ref holder.Open)++", "ok\tint\t9"),
        ("(all[1], holder.Open)", "(10, 30)"),
        (
            "(given > 0 ? ref holder.Free : ref holder.Free).X = 77",
            "ok\tint\t77",
        ),
        ("holder.Free.X", "77"),
        (
            "(given > 0 ? ref all[0] : ref holder.Open) + 1",
            "ok\tint\t9",
        ),
        ("given > 0 ? ref given : ref changing", "ok\tint\t5"),
        ("(given > 0 ? holder.Open : changing) = 1", "CS0131"),
        ("(given > 0 ? ref holder.Open : changing) = 1", "CS8326"),
        (
            "(given > 0 ? ref holder.Open : ref holder.Free) = 1",
            "CS8327",
        ),
        ("(given > 0 ? ref all.Length : ref changing) = 1", "CS8156"),
        ("(given > 0 ? ref 5 : ref changing) = 1", "CS8156"),
        ("(given > 0 ? ref changing : ref given) = 1", "CS8331"),
        (
            "(given > 0 ? ref Holder.Shared : ref changing) = 1",
            "CS0198",
        ),
    ];
    let texts = rows.map(|(text, _)| text.to_owned());
    let answers = crate::sequences::evaluate(&program, texts.into());
    let told = rows.iter().zip(answers.iter().map(crate::sequences::told));
    let wrong: Vec<_> = told.filter(|((_, it), told)| !told.contains(it)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
