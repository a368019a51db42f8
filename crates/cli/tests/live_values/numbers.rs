//! Numbers of objects: the same while the program stays stopped, whatever runs meanwhile, and never those of another object.

use host::api::{ErrorCode, Evaluate, EvaluatedValue, ObjectId, Reply, Request, VariablesQuery};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use crate::setting::set;
use crate::support::{look, stopped};

#[track_caller]
fn number(program: &Debuggee<'_>, path: &str) -> ObjectId {
    look(program, path).value.object.expect("an object")
}

#[track_caller]
fn evaluated(program: &Debuggee<'_>, expression: &str) -> EvaluatedValue {
    let asked = Evaluate {
        side_effects: true,
        ..Evaluate::read(expression)
    };
    match program.request(Request::Evaluate(asked)) {
        Ok(Reply::Evaluated(mut all)) => {
            let answer = all.pop().expect("one answer");
            answer.outcome.expect("a value")
        }
        other => panic!("{expression}: {other:?}"),
    }
}

#[track_caller]
fn run(program: &Debuggee<'_>, expression: &str) -> String {
    evaluated(program, expression).text
}

fn told(program: &Debuggee<'_>, paths: &[String]) -> Vec<ObjectId> {
    paths.iter().map(|path| number(program, path)).collect()
}

#[test]
fn code_that_ran_leaves_objects_their_numbers() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_numbers", &["stop", "next"]);
    let paths: Vec<String> = (0..100).map(|it| format!("nodes[{it}]")).collect();
    let before = told(&program, &paths);
    let collections = run(&program, "Heap.Collections");
    for _ in 0..5 {
        assert_eq!(run(&program, "tenth.Quiet"), "30");
    }
    assert_eq!(run(&program, "Heap.Collections"), collections);
    assert_eq!(told(&program, &paths), before);
    assert_eq!(number(&program, "tenth"), before[10]);
    // A string that is set is made in the program.
    set(&program, 0, "text", "\"another\"");
    assert_eq!(told(&program, &paths), before);
    let numbered = look(&program, &format!("#{}", before[10].0));
    assert_eq!(numbered.value.object, Some(before[10]));
    // After a step it is another stop.
    program.cont();
    program.wait_stop();
    assert!(number(&program, "tenth") > before[99]);
}

#[test]
fn objects_that_were_moved_keep_their_numbers() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_numbers", &["stop"]);
    let paths: Vec<String> = (0..16).map(|it| format!("nodes[{it}]")).collect();
    let before = told(&program, &paths);
    let fresh = run(&program, "Heap.Fresh.GetHashCode() != 0");
    assert_eq!(fresh, "true");
    let moved: u32 = run(&program, "Heap.Move()").parse().expect("a number");
    assert!(moved > 0, "the program says that none was moved");
    assert_eq!(told(&program, &paths), before);
    for (index, id) in before.iter().enumerate() {
        let name = look(&program, &format!("#{}.Name", id.0)).value.text;
        assert_eq!(name, format!("\"n{index}\""));
    }
    // Those that were not told before get numbers that nobody had.
    assert!(number(&program, "nodes[99]") > before[15]);
}

#[test]
fn no_number_is_ever_that_of_another_object() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_numbers", &["stop"]);
    let paths: Vec<String> = (0..100).map(|it| format!("nodes[{it}]")).collect();
    let before = told(&program, &paths);
    let moved: u32 = run(&program, "Heap.Move()").parse().expect("a number");
    assert!(moved > 0, "the program says that none was moved");
    let now = told(&program, &paths);
    for (index, (now, before_it)) in now.iter().zip(&before).enumerate() {
        assert!(
            now == before_it || !before.contains(now),
            "{index}: {now:?}"
        );
    }
    // What more than one allocation context takes may have been a collection, and need not.
    for pieces in [1, 10, 1000, 20_000] {
        let size = run(&program, &format!("Heap.Allocate({pieces})"));
        assert_eq!(size, (pieces * 4000).to_string());
        assert_eq!(told(&program, &paths)[..16], now[..16]);
    }
}

#[test]
fn objects_that_are_gone_are_told_to_be() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_numbers", &["stop"]);
    let fresh = evaluated(&program, "Heap.Fresh").variable;
    let fresh = fresh.and_then(|it| it.value.object).expect("an object");
    // The results of expressions are held: it stays.
    run(&program, "Heap.Move()");
    let path = format!("#{}", fresh.0);
    assert_eq!(look(&program, &path).value.object, Some(fresh));
    // What nobody refers to any more is collected: its number keeps nothing alive.
    let gone = number(&program, "nodes[50]");
    run(&program, "nodes[51].Next = null");
    run(&program, "nodes[50] = null");
    run(&program, "Heap.Move()");
    let query = VariablesQuery {
        path: Some(format!("#{}", gone.0)),
        ..VariablesQuery::default()
    };
    let gone = program.request(Request::Variables(Box::new(query)));
    let error = gone.expect_err("collected");
    assert_eq!(error.code, ErrorCode::StaleReference);
}
