//! Expressions: watches, the console, hovering, completions, setting, properties that are told when they are opened.

use serde_json::{Value, json};
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::client::Editor;

#[track_caller]
fn evaluate(editor: &mut Editor, frame: &Value, context: &str, expression: &str) -> Value {
    let arguments = json!({"expression": expression, "frameId": frame, "context": context});
    editor.ask("evaluate", arguments)
}

#[track_caller]
fn named<'v>(variables: &'v [Value], name: &str) -> &'v Value {
    let found = variables.iter().find(|it| it["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {variables:#?}"))
}

#[test]
fn expressions_are_evaluated_completed_and_set() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::start(&sandbox);
    editor.ask(
        "initialize",
        json!({"adapterID": "coreclr", "supportsInvalidatedEvent": true}),
    );
    let stop = editor.launch_to(&Fixture::named("values_calls"), &["stop", "after"]);
    let frame = editor.top_frame(&stop);

    // A watch is a value: it has a type and can be opened.
    let square = evaluate(&mut editor, &frame, "watch", "square");
    assert_eq!(square["type"], "Square", "{square}");
    let members = editor.variables(&square["variablesReference"]);
    assert_eq!(named(&members, "side")["value"], "3");
    assert_eq!(named(&members, "side")["evaluateName"], "square.side");
    // What the client is told to evaluate means the same value.
    let side = evaluate(&mut editor, &frame, "variables", "square.side");
    assert_eq!(
        (&side["result"], &side["type"]),
        (&json!("3"), &json!("double"))
    );
    let sum = evaluate(&mut editor, &frame, "watch", "pair.Left + numbers.Item * 2");
    assert_eq!(
        (&sum["result"], &sum["type"]),
        (&json!("23"), &json!("int"))
    );
    let hex = json!({"expression": "pair.Left", "frameId": frame, "format": {"hex": true}});
    assert_eq!(editor.ask("evaluate", hex)["result"], "0x00000005");

    // A property that needs code says so, is run when it is opened, and only then.
    let calls = named(&members, "Calls");
    assert_eq!(calls["presentationHint"]["lazy"], true, "{calls}");
    for count in ["1", "2"] {
        let opened = editor.variables(&calls["variablesReference"]);
        assert_eq!(opened.len(), 1);
        assert_eq!(opened[0]["name"], "Calls");
        assert_eq!(opened[0]["value"], count);
    }
    let broken = named(&members, "Broken")["variablesReference"].clone();
    let opened = editor.variables(&broken);
    let text = opened[0]["value"].as_str().expect("a text");
    assert!(text.contains("InvalidOperationException"), "{text}");

    // Hovering runs nothing.
    let hover = json!({"expression": "square.Calls", "frameId": frame, "context": "hover"});
    let text = editor.refused("evaluate", hover);
    assert!(!text.contains('\n'), "{text}");
    let area = evaluate(&mut editor, &frame, "repl", "square.Calls");
    assert_eq!(area["result"], "3");
    // The console shows where an error is.
    let wrong = json!({"expression": "pair.Nope", "frameId": frame, "context": "repl"});
    let text = editor.refused("evaluate", wrong);
    assert!(text.contains("CS1061") && text.contains('^'), "{text}");

    // Setting: a literal, a computed value, through a setter; the client is told that values changed.
    let set = |expression: &str, value: &str| json!({"expression": expression, "value": value, "frameId": frame});
    assert_eq!(
        editor.ask("setExpression", set("pair.Left", "7"))["value"],
        "7"
    );
    editor.event("invalidated");
    let set_to_sum = set("pair.Left", "numbers.Item + 1");
    assert_eq!(editor.ask("setExpression", set_to_sum)["value"], "10");
    let named_anew = editor.ask("setExpression", set("square.Name", "\"box\""));
    assert_eq!(named_anew["value"], "\"box\"");
    let text = editor.refused("setExpression", set("pair.Left", "\"x\""));
    assert!(text.contains("int"), "{text}");
    let assigned = evaluate(&mut editor, &frame, "repl", "pair.Left = 11");
    assert_eq!(assigned["result"], "11");

    // Completions, counted as the client does.
    let complete =
        |text: &str, column: u32| json!({"text": text, "column": column, "frameId": frame});
    let found = editor.ask("completions", complete("1 + square.Na", 14));
    let names: Vec<_> = found["targets"]
        .as_array()
        .expect("targets")
        .iter()
        .collect();
    assert_eq!(names[0]["label"], "Name", "{found}");
    assert_eq!(
        (&names[0]["start"], &names[0]["length"]),
        (&json!(12), &json!(2))
    );
    let found = editor.ask("completions", complete("squ", 4));
    assert_eq!(found["targets"][0]["label"], "square");
    // Each says what it is; with nothing written, variables come first whatever editors sort by.
    assert_eq!(names[0]["type"], "property");
    assert_eq!(found["targets"][0]["type"], "variable");
    let found = editor.ask("completions", complete("", 1));
    let order = |name: &str| {
        let all = found["targets"].as_array().expect("targets").iter();
        let mut found = all.filter(|it| it["label"] == name);
        let it = found.next().unwrap_or_else(|| panic!("{name} is offered"));
        it["sortText"].as_str().expect("an order").to_owned()
    };
    assert!(order("square") < order("Program"), "{found}");

    // What a frame of an earlier stop means is not guessed.
    editor.ask("continue", json!({"threadId": stop["threadId"]}));
    editor.event("stopped");
    let text = editor.refused("evaluate", json!({"expression": "pair", "frameId": frame}));
    assert!(text.contains("ask for the stack again"), "{text}");
    // Without a frame it is the innermost one of the thread that stopped.
    assert_eq!(
        editor.ask("evaluate", json!({"expression": "pair.Left"}))["result"],
        "11"
    );
    assert!(editor.disconnect().success());
}

#[test]
fn results_of_expressions_are_values_that_can_be_opened() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::initialized(&sandbox);
    let stop = editor.launch_to(&Fixture::named("values_calls"), &["stop"]);
    let frame = editor.top_frame(&stop);

    // A struct that a getter made, and what is inside it; what is told of it can be evaluated at the next stop too.
    let both = evaluate(&mut editor, &frame, "watch", "square.Both");
    assert_eq!(both["type"], "Pair", "{both}");
    let members = editor.variables(&both["variablesReference"]);
    assert_eq!(named(&members, "Left")["value"], "1");
    let name = named(&members, "Right")["evaluateName"].clone();
    assert_eq!(name, "square.Both.Right");
    let again = evaluate(&mut editor, &frame, "watch", name.as_str().expect("a name"));
    assert_eq!(again["result"], "\"r\"");

    // An object that the expression made, page by page, in hexadecimal.
    let list = evaluate(
        &mut editor,
        &frame,
        "repl",
        "new System.Collections.Generic.List<int> { 10, 20, 30 }",
    );
    assert_eq!(
        (&list["result"], &list["indexedVariables"]),
        (&json!("Count = 3 { 10, 20, 30 }"), &json!(3))
    );
    let page = json!({"variablesReference": list["variablesReference"], "filter": "indexed",
        "start": 1, "count": 1, "format": {"hex": true}});
    let page = editor.ask("variables", page);
    assert_eq!(page["variables"][0]["value"], "0x00000014", "{page}");
    assert_eq!(page["variables"].as_array().map(Vec::len), Some(1));

    // Numbers have nothing inside, but a base.
    let sum = json!({"expression": "pair.Left + 11", "frameId": frame, "format": {"hex": true}});
    assert_eq!(editor.ask("evaluate", sum)["result"], "0x00000010");

    // What a call returned is among the locals after a step over it.
    editor.ask("next", json!({"threadId": stop["threadId"]}));
    editor.event("stopped");
    editor.ask("next", json!({"threadId": stop["threadId"]}));
    editor.event("stopped");
    let frame = editor.top_frame(&stop);
    let locals = editor.locals(&frame);
    let returned = named(&locals, "$returnvalue");
    let text = returned["value"].as_str().expect("a text");
    assert!(text.contains("returned by"), "{returned}");
    let watched = evaluate(&mut editor, &frame, "watch", "$returnvalue");
    let alone = evaluate(&mut editor, &frame, "clipboard", "$returnvalue");
    assert_eq!(watched["result"], alone["result"]);
    assert!(
        text.starts_with(alone["result"].as_str().expect("a text")),
        "{alone}"
    );
    assert!(!alone.to_string().contains("returned by"), "{alone}");
    assert!(editor.disconnect().success());
}

#[test]
fn results_that_exist_only_in_the_debugger_can_be_opened() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::initialized(&sandbox);
    let settings =
        json!({"stopOnEntyr": true, "expressionEvaluationOptions": {"showRawValues": true}});
    editor.launch(&Fixture::named("expressions_language"), &["main"], settings);
    let told = editor.event("output");
    assert_eq!(told["output"], "settings that are not used: stopOnEntyr\n");
    let stop = editor.event("stopped");
    let frame = editor.top_frame(&stop);
    // As the settings want it, fields are shown as they are.
    let list = evaluate(&mut editor, &frame, "watch", "list");
    let members = editor.variables(&list["variablesReference"]);
    assert_eq!(named(&members, "_size")["value"], "3");
    // What exists only in the debugger, by reading alone.
    let doubled = "list.OrderBy(it => it).Select(it => it * 5)";
    let query = evaluate(&mut editor, &frame, "hover", doubled);
    let items = editor.variables(&query["variablesReference"]);
    let values: Vec<_> = items.iter().map(|it| &it["value"]).collect();
    assert_eq!(values, ["5", "10", "15"], "{query}");
    // So can what lies inside it.
    let pairs = "list.Select(it => (it, new[] { it, it * 2 }))";
    let query_of_pairs = evaluate(&mut editor, &frame, "hover", pairs);
    let items = editor.variables(&query_of_pairs["variablesReference"]);
    let parts = editor.variables(&items[2]["variablesReference"]);
    let inside = editor.variables(&named(&parts, "Item2")["variablesReference"]);
    let values: Vec<_> = inside.iter().map(|it| &it["value"]).collect();
    assert_eq!(values, ["2", "4"], "{parts:?}");
    let set =
        json!({"variablesReference": query["variablesReference"], "name": "[0]", "value": "1"});
    let text = editor.refused("setVariable", set);
    assert!(text.contains("only in the debugger"), "{text}");
    // How an expression asks to be shown goes for what lies inside, too.
    let hex = evaluate(&mut editor, &frame, "watch", "array,h");
    assert_ne!(hex["variablesReference"], 0, "{hex}");
    let items = editor.variables(&hex["variablesReference"]);
    assert_eq!(items[0]["value"], "0x0000000a", "{items:?}");
    let pair = evaluate(&mut editor, &frame, "watch", "(number, text)");
    assert_eq!(pair["result"], "(42, \"abc\")", "{pair}");
    let many = "many.Take(150).Select(it => it + 1)";
    let many = evaluate(&mut editor, &frame, "watch", many);
    let items = editor.variables(&many["variablesReference"]);
    assert_eq!(items.len(), 101);
    assert_eq!(items[100]["value"], "50 more; .Skip(100) tells them");

    assert!(editor.disconnect().success());
}

#[test]
fn evaluation_that_does_not_end_is_cancelled_and_others_wait_their_turn() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::initialized(&sandbox);
    let stop = editor.launch_to(&Fixture::named("values_calls"), &["stop"]);
    let frame = editor.top_frame(&stop);
    let watch =
        |expression: &str| json!({"expression": expression, "frameId": frame, "context": "watch"});
    let endless = editor.send("evaluate", watch("endless.Value"));
    let dropped = editor.send("evaluate", watch("pair"));
    let waiting = editor.send("evaluate", watch("pair.Left"));
    let cancel_waiting = editor.send("cancel", json!({"requestId": dropped}));
    let cancel = editor.send("cancel", json!({"requestId": endless}));
    let mut answers = Vec::new();
    for _ in 0..5 {
        answers.push(editor.any_answer());
    }
    let answer = |seq: i64| {
        let found = answers.iter().find(|it| it["request_seq"] == seq);
        found.expect("each is answered once").clone()
    };
    assert_eq!(answer(dropped)["message"], "cancelled");
    assert_eq!(answer(cancel_waiting)["success"], true);
    assert_eq!(answer(cancel)["success"], true);
    assert_eq!(answer(endless)["success"], false);
    assert_eq!(answer(endless)["message"], "cancelled");
    let waited = answer(waiting);
    assert_eq!(waited["body"]["result"], "5", "{waited}");
    assert!(editor.disconnect().success());
}

#[test]
fn getters_that_run_by_themselves_do_not_hold_up_a_pause() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::initialized(&sandbox);
    let settings = json!({"expressionEvaluationOptions": {"allowImplicitFuncEval": true}});
    editor.launch(&Fixture::named("values_calls"), &["stop"], settings);
    let stop = editor.event("stopped");
    let frame = editor.top_frame(&stop);
    let endless = evaluate(&mut editor, &frame, "watch", "endless");
    let inside = json!({"variablesReference": endless["variablesReference"]});
    let looking = editor.send("variables", inside);
    let pause = editor.send("pause", json!({"threadId": stop["threadId"]}));
    let answers = [editor.any_answer(), editor.any_answer()];
    let order = answers.each_ref().map(|it| it["request_seq"].clone());
    assert_eq!(order, [json!(pause), json!(looking)], "{answers:?}");
    let members = answers[1]["body"]["variables"].as_array();
    let members = members.expect("variables are told all the same");
    let value = named(members, "Value")["value"].as_str();
    assert!(
        value.is_some_and(|it| it.contains("given up")),
        "{members:?}"
    );
    assert!(editor.disconnect().success());
}

#[test]
fn code_shows_values_where_the_settings_allow_it() {
    let sandbox = Sandbox::new();
    let fixture = Fixture::named("values_code");
    let mut editor = Editor::initialized(&sandbox);
    let settings = json!({"expressionEvaluationOptions": {"allowImplicitFuncEval": true}});
    editor.launch(&fixture, &["stop"], settings);
    let stop = editor.event("stopped");
    let frame = editor.top_frame(&stop);
    let locals = editor.locals(&frame);
    assert_eq!(named(&locals, "money")["value"], "1.5 EUR");
    assert_eq!(named(&locals, "crate")["value"], "crate of 4");
    let basket = editor.variables(&named(&locals, "basket")["variablesReference"]);
    assert_eq!(named(&basket, "[1]")["value"], "\"pear\"");
    assert_eq!(named(&basket, "Count")["value"], "2");
    let crate_of = editor.variables(&named(&locals, "crate")["variablesReference"]);
    assert_eq!(named(&crate_of, "Says")["value"], "\"wood of 4\"");
    let squares = editor.variables(&named(&locals, "squares")["variablesReference"]);
    assert_eq!(named(&squares, "[4]")["value"], "16");
    // What a call returns is shown the same way.
    let made = evaluate(&mut editor, &frame, "watch", "many.First()");
    assert_eq!(made["result"], "printed\\n3");
    // The raw view on request.
    let raw = editor.variables(&named(&basket, "Raw View")["variablesReference"]);
    assert!(raw.iter().any(|it| it["name"] == "items"), "{raw:?}");
    let raw = evaluate(&mut editor, &frame, "watch", "basket,raw");
    let raw = editor.variables(&raw["variablesReference"]);
    assert!(raw.iter().any(|it| it["name"] == "items"), "{raw:?}");
    assert!(editor.disconnect().success());
    // Without the setting nothing of the program runs to show them.
    let mut editor = Editor::initialized(&sandbox);
    let stop = editor.launch_to(&fixture, &["stop"]);
    let frame = editor.top_frame(&stop);
    let locals = editor.locals(&frame);
    let money = named(&locals, "money")["value"].as_str().expect("a text");
    assert!(money.starts_with("{ Amount = 1.5"), "{money}");
    for counter in ["Program.Calls", "Program.Proxies"] {
        let count = evaluate(&mut editor, &frame, "hover", counter);
        assert_eq!(count["result"], "0", "{counter}");
    }
    assert!(editor.disconnect().success());
}

#[test]
fn result_of_many_elements_is_told() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::initialized(&sandbox);
    let stop = editor.launch_to(&Fixture::named("values_large"), &["stop"]);
    let frame = editor.top_frame(&stop);
    for expression in [
        "true ? numbers : null",
        "new List<int>(numbers)",
        "(object)names",
    ] {
        let told = evaluate(&mut editor, &frame, "watch", expression);
        assert_eq!(told["indexedVariables"], 101_000, "{expression}: {told}");
    }
    assert!(editor.disconnect().success());
}
