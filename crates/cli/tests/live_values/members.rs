//! Members that are easily confused: of each thread, of each instantiation, explicit and hidden ones, constants, data of
//! the image; and variables that have no value yet.

use host::api::{Evaluate, Reply, Request, ThreadId, VariableScope, VariablesQuery, View};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use crate::support::{lines, look, stopped, variables};

fn evaluated(program: &Debuggee<'_>, text: &str) -> String {
    let request = Request::Evaluate(Evaluate::read(text));
    let Ok(Reply::Evaluated(all)) = program.request(request) else {
        panic!("no answer to {text}");
    };
    match all.into_iter().next().expect("one answer").outcome {
        Ok(value) => value.text,
        Err(error) => format!("error: {}", error.error.message),
    }
}

/// The static members of `Shelf` as a thread that is in it has them, and its view of the image.
fn shelf_of(program: &Debuggee<'_>, thread: Option<ThreadId>) -> Vec<String> {
    let stack = Request::Stack {
        thread,
        start: 0,
        count: 50,
    };
    let Ok(Reply::Stack { frames, .. }) = program.request(stack) else {
        panic!("no stack");
    };
    let frame = frames.iter().find(|it| it.method.contains("Shelf"));
    let frame = frame.expect("a frame of the shelf").index;
    let ask = |scope: VariableScope, names: &[&str]| {
        let query = VariablesQuery {
            thread,
            frame,
            scope,
            names: names.iter().map(|&name| name.into()).collect(),
            ..VariablesQuery::default()
        };
        lines(&variables(program, query).variables)
    };
    let mut told = ask(VariableScope::Statics, &[]);
    told.extend(ask(VariableScope::Locals, &["image"]));
    told
}

#[test]
fn members_of_threads_and_instantiations_and_hidden_ones_are_told_apart() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_members", &["look"]);
    // Each thread has its own.
    let Ok(Reply::Threads(threads)) = program.request(Request::Threads) else {
        panic!("no threads");
    };
    let main = threads.iter().find(|it| it.id.0 == program.pid());
    for (thread, number) in [(None, 2), (Some(main.expect("the main thread").id), 1)] {
        assert_eq!(
            shelf_of(&program, thread),
            [
                format!("own = {number}"),
                format!("label = \"of thread {number}\""),
                format!("extent = {{ Wide = {number}, High = -{number} }}"),
                "table = Length = 8 { 1, 2, 3, 5, 8, 13, 21, 34 }".into(),
                "Most = 18446744073709551615".into(),
                "Price = 2.50".into(),
                "Paint = Blue".into(),
                "Nothing = null".into(),
                // Bytes of the image that no object holds.
                "image = Length = 4 { 7, 8, 9, 10 }".into(),
            ]
        );
    }
    // Each instantiation has its own.
    for (expression, value) in [
        ("Counter<int>.Made", "1"),
        ("Counter<int>.Last", "5"),
        ("Counter<string>.Made", "2"),
        ("Counter<string>.Last", "\"second\""),
        ("((INamed)item).Name", "error: "),
        ("((Thing)item).size", "1"),
        ("((Thing)item).Word", "\"word of a thing\""),
        ("item.Word", "\"word of an item\""),
        ("Thing.Most + Item.Most + Thing.Made + Item.Made", "33"),
    ] {
        let told = evaluated(&program, expression);
        assert!(told.starts_with(value), "{expression}: {told}");
    }
    let view = View {
        statics: true,
        ..View::default()
    };
    let all = |path: &str, view: &View| {
        let query = VariablesQuery {
            path: Some(path.into()),
            view: view.clone(),
            ..VariablesQuery::default()
        };
        variables(&program, query).variables
    };
    let told = lines(&all("words", &view));
    assert_eq!(
        told.get(..2).expect("two"),
        ["Made = 2", "Last = \"second\""]
    );
    // This thread has never used its own.
    let own = told.get(2).expect("that of the thread");
    assert!(
        own.starts_with("OfThread = ") && !own.contains("second"),
        "{own}"
    );
    // Explicit and hidden members have names of their own, which lead back to them.
    let view = View {
        properties: true,
        statics: true,
        run_code: true,
        ..View::default()
    };
    let told = all("item", &view);
    assert_eq!(
        lines(&told),
        [
            "size = 2",
            "Word = \"word of an item\"",
            "ILabelled<System.Int32>.Hint = \"hint\"",
            "size (Thing) = 1",
            "Word (Thing) = \"word of a thing\"",
            "Title = \"title of an item\"",
            "Kind = \"kind of an item\"",
            "Name = \"own 2\"",
            "INamed.Name = \"named 2\"",
            "ILabelled<System.Int32>.Name = 42",
            "Kind (Thing) = \"kind of a thing\"",
            "Made = 2",
            "Most = 20",
            "Made (Thing) = 1",
            "Most (Thing) = 10",
        ]
    );
    for child in told.iter().take(5) {
        let again = look(&program, &child.path);
        assert_eq!(again.value.text, child.value.text, "{}", child.path);
    }
}

#[test]
fn collections_of_the_framework_are_read_by_queries_without_running_code() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_members", &["look"]);
    for (expression, value) in [
        // Only comparing keys would need their own code.
        ("stock.Keys.First().size", "7"),
        ("stock.Values.Sum()", "4"),
        ("stock.Keys.Count()", "1"),
        ("keys.Single(it => it.size > 2).size", "7"),
        ("amounts.Max()", "4"),
        ("waiting.Select(it => it.Length).Sum()", "3"),
        ("sorted.First().Value", "\"one\""),
        ("sorted.Last().Key", "2"),
    ] {
        assert_eq!(evaluated(&program, expression), value, "{expression}");
    }
    assert_eq!(look(&program, "amounts").value.text, "Count = 1 { 4 }");
    assert_eq!(look(&program, "keys[0].size").value.text, "7");
    assert!(evaluated(&program, "stock.ContainsKey(item)").starts_with("error: "));
}

/// What the locals of `Assigned` are, each as `name = text`.
fn assigned(program: &Debuggee<'_>) -> Vec<String> {
    let query = VariablesQuery {
        scope: VariableScope::Locals,
        ..VariablesQuery::default()
    };
    lines(&variables(program, query).variables)
}

#[test]
fn locals_that_are_not_assigned_yet_say_so() {
    const NOT_YET: &str = "not assigned yet";
    let sandbox = Sandbox::new();
    let markers = ["early", "branch", "loop", "assigned"];
    let program = stopped(&sandbox, "values_members", &markers);
    let expect = |values: [&str; 6]| {
        let names = ["early", "late", "zero", "whole", "last", "behind"];
        let told = assigned(&program);
        for (name, value) in names.into_iter().zip(values) {
            let line = told.iter().find(|it| it.starts_with(&format!("{name} = ")));
            let told = line.map_or("", |it| it.split_once(" = ").expect("a value").1);
            assert_eq!(told, value, "{name}");
        }
    };
    expect([NOT_YET, NOT_YET, NOT_YET, NOT_YET, NOT_YET, ""]);
    let said = evaluated(&program, "early + 1");
    assert!(said.contains(NOT_YET), "{said}");
    let set = host::api::SetVariable {
        stop: None,
        thread: None,
        frame: 0,
        path: "early".into(),
        value: "5".into(),
        force: false,
        mask_secrets: false,
    };
    // One that the user sets is assigned by that; the others are not.
    let set = program.request(Request::SetVariable(Box::new(set)));
    set.expect("a local that is not assigned can be set");
    expect(["5", NOT_YET, NOT_YET, NOT_YET, NOT_YET, ""]);
    program.cont();
    program.wait_stop();
    expect(["3", NOT_YET, "0", NOT_YET, NOT_YET, ""]);
    // In each round of the loop it is a new one, whatever the last one left.
    for zero in ["0", "0"] {
        program.cont();
        program.wait_stop();
        expect([
            "3",
            "\"few\"",
            zero,
            "{ Wide = 1, High = 2 }",
            NOT_YET,
            NOT_YET,
        ]);
    }
    program.cont();
    program.wait_stop();
    expect(["3", "\"few\"", "1", "{ Wide = 1, High = 2 }", "null", ""]);
}
