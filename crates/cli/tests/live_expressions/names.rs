//! The names of tuple elements, as C# gives them to the static type of an expression.

use engine::api::{BreakpointSpec, Evaluate, Line, Place, Reply, Request, VariablesQuery};
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::evaluate::ask;

#[test]
fn types_are_told_with_the_names_of_tuple_elements() {
    let sandbox = Sandbox::new();
    let marker = Fixture::named("eval_names").marker("stop");
    let place = Place::Line {
        file: marker.file.display().to_string(),
        line: Line(marker.line),
        column: None,
    };
    let program = sandbox
        .launch("eval_names")
        .with(|launch| launch.breakpoints = vec![BreakpointSpec::at(place)])
        .start();
    program.wait_stop();
    for (text, ty) in [
        ("order.Head", "(int Id, string Title)"),
        ("order.Price", "(decimal Net, decimal Gross)"),
        (
            "Order.Ranges",
            "System.Collections.Generic.Dictionary<string, (int Low, int High)>",
        ),
        ("Order.Ranges[\"a\"]", "(int Low, int High)"),
        ("order.Points()", "(int X, (string Deep, int) Inner)[]"),
        ("order.Points()[0].Inner", "(string Deep, int)"),
        (
            "order.Long",
            "(int A, int B, int C, int D, int E, int F, int G, int H, int I)",
        ),
        ("order.Nameless", "(int, int)"),
        ("Bare(order.Head)", "(int, string)"),
        ("Same(order.Head)", "(int Id, string Title)"),
        ("Find(order)", "(bool Found, Order Order)"),
        ("cell", "(int Row, int Column)?"),
        ("cell.Value", "(int Row, int Column)"),
        (
            "pairs",
            "System.Collections.Generic.List<(string Key, int Value)>",
        ),
        ("pairs[0]", "(string Key, int Value)"),
        ("pairs.First()", "(string Key, int Value)"),
        (
            "pairs.Where(p => p.Value > 1).ToArray()",
            "(string Key, int Value)[]",
        ),
        // What a lambda makes has its names, also where other tuples of that type have theirs.
        (
            "pairs.Select(p => (Name: p.Key, Age: p.Value)).First()",
            "(string Name, int Age)",
        ),
        (
            "(from p in pairs select (Of: p.Key, p.Value)).ToList()",
            "System.Collections.Generic.List<(string Of, int Value)>",
        ),
        (
            "pairs.Zip(pairs).First()",
            "((string Key, int Value) First, (string Key, int Value) Second)",
        ),
        (
            "pairs.ToDictionary(p => p.Value)",
            "System.Collections.Generic.Dictionary<int, (string Key, int Value)>",
        ),
        (
            "pairs.Concat(new[] { (\"a\", 1) }).First()",
            "(string, int)",
        ),
        ("(a: 1, b: \"x\")", "(int a, string b)"),
        ("(count, text.Length, 3)", "(int count, int Length, int)"),
        ("(x: (count, 1), text)", "((int count, int) x, string text)"),
        ("(order.Head.Id, order.Nameless.Item1)", "(int Id, int)"),
        ("(count, count)", "(int, int)"),
        ("((long Big, object))order.Nameless", "(long Big, object)"),
        // Counted from the end, and parts.
        ("pairs[^1]", "(string Key, int Value)"),
        ("pairs?[^1]", "(string Key, int Value)?"),
        ("pairs?[^1].Key", "string"),
        ("others[1..][^1]", "(string Word, int Size)"),
        ("others.AsSpan()[1..][0]", "(string Word, int Size)"),
        ("new[] { (A: 1, B: 2) }[^1].B", "int"),
        ("others[^1].Word = \"q\"", "string"),
        ("others[^2].Word += \"!\"", "string"),
        // What calls declare, delegates return and lambdas take.
        ("Try(out var said) ? said.Word : null", "string"),
        ("Try(out (int C, string) said) ? said.C : 0", "int"),
        (
            "deep.TryGetValue(\"k\", out var d) ? d.L[^1].N : \"\"",
            "string",
        ),
        ("made()", "(int First, int Second)"),
        ("made.Invoke()", "(int First, int Second)"),
        (
            "pairs.Zip(others, (p, o) => (p.Key, o.Size)).First()",
            "(string Key, int Size)",
        ),
        (
            "pairs.ConvertAll(p => (Up: p.Key, p.Value))[0]",
            "(string Up, int Value)",
        ),
        (
            "(from p in pairs let n = p.Key where n != \"\" orderby p.Value select p).First()",
            "(string Key, int Value)",
        ),
        (
            "(from p in pairs join o in others on p.Value equals o.Size select (p, o)).First()",
            "((string Key, int Value) p, (string Word, int Size) o)",
        ),
    ] {
        let asked = Evaluate {
            side_effects: true,
            ..Evaluate::read(text)
        };
        let told = ask(&program, asked).outcome;
        let told = told.unwrap_or_else(|why| panic!("{text}: {}", why.error.message));
        assert_eq!(told.ty, ty, "{text}");
        // And so without running anything.
        let asked = Evaluate {
            types_only: true,
            ..Evaluate::read(text)
        };
        let only = ask(&program, asked).outcome.expect("a type");
        assert_eq!(only.ty, ty, "{text}");
    }
    // What is opened has them too.
    let names = |text: &str| -> Vec<String> {
        let asked = Evaluate {
            side_effects: true,
            ..Evaluate::read(text)
        };
        let opened = ask(&program, asked).outcome.expect("a value").variable;
        let opened = opened.expect("something to open");
        if opened.path.is_empty() {
            return opened.value.members.into_iter().map(|it| it.name).collect();
        }
        let query = VariablesQuery {
            path: Some(opened.path),
            ..Default::default()
        };
        match program.request(Request::Variables(Box::new(query))) {
            Ok(Reply::Variables(told)) => told.variables.into_iter().map(|it| it.name).collect(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(names("order.Price"), ["Net", "Gross"]);
    assert_eq!(names("pairs[0]"), ["Key", "Value"]);
    assert_eq!(names("(count, b: text)"), ["count", "b"]);
}

#[test]
fn names_of_tuple_elements_go_through_lambdas_bases_and_pairs_and_open_types_have_members() {
    crate::sequences::compare_with_program("expressions_named");
}

#[test]
fn values_of_a_class_derived_from_a_dictionary_are_asked_for_with_secrets_masked() {
    let sandbox = Sandbox::new();
    let program = crate::language::stopped_in(&sandbox, "expressions_named", "main");
    let texts = ["book.Values.Count", "book.Values.Sum()", "book.Values"];
    let answer = program.request(Request::Evaluate(Evaluate {
        expressions: texts.map(str::to_owned).into(),
        side_effects: true,
        mask_secrets: true,
        ..Evaluate::read("")
    }));
    let Ok(Reply::Evaluated(answers)) = answer else {
        panic!("evaluating gave {answer:?}");
    };
    let told = answers.iter().map(crate::sequences::told);
    let told: Vec<String> = told.collect();
    let [count, sum, all] = told.as_slice() else {
        panic!("three answers: {told:?}");
    };
    assert_eq!([&**count, &**sum], ["ok\tint\t2", "ok\tint\t3"]);
    assert!(all.starts_with("ok\t"), "{all}");
}
