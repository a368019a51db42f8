//! What is told of values that are set, opened and named, over MCP.

use expect_test::expect;
use serde_json::json;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::client::{Agent, dll, run, text};

async fn stopped(agent: &mut Agent) {
    let place = Fixture::named("values_told").marker("stop");
    let launch = json!({
        "program": dll("values_told"),
        "breakpoints": [{"file": place.file, "line": place.line}],
    });
    agent.call("debug_launch", launch).await;
}

#[test]
fn setting_tells_what_ran_and_refuses_what_may_only_be_read() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        stopped(&mut agent).await;
        for (path, value, force) in [
            ("Limits.Most", "5", false),
            ("Limits.Least", "5", false),
            ("Limits.Most", "6", true),
            ("board.Open.X", "7", false),
            ("board.Open", "new Cell(8)", false),
            ("board.Shut.X", "9", false),
            ("board.Shut", "default", false),
            ("board[1].X", "9", false),
        ] {
            let set = json!({"path": path, "value": value, "force": force});
            agent.say("variable_set", set).await;
        }
        let looks = json!({"expressions": ["board.Shut.X = 9", "board.Printed", "Limits.Most"], "side_effects": true});
        agent.say("evaluate", looks).await;
        expect![[r#"
            > variable_set {"force":false,"path":"Limits.Most","value":"5"}
            !INVALID_PARAMETER: Limits.Most cannot be set to 5: error CS0198: `Most` is readonly and cannot be assigned
            Hint: force=true sets it all the same
            > variable_set {"force":false,"path":"Limits.Least","value":"5"}
            Limits.Least: int = 5 (the class constructor of Limits was run, which the program had not done yet)
            > variable_set {"force":true,"path":"Limits.Most","value":"6"}
            Limits.Most: int = 6 (was 4)
            > variable_set {"force":false,"path":"board.Open.X","value":"7"}
            board.Open.X: int = 7
            > variable_set {"force":false,"path":"board.Open","value":"new Cell(8)"}
            board.Open: Cell = { X = 8 }
            > variable_set {"force":false,"path":"board.Shut.X","value":"9"}
            !INVALID_PARAMETER: board.Shut.X cannot be set to 9: error CS8332: a member of what is returned as `ref readonly` cannot be assigned
            > variable_set {"force":false,"path":"board.Shut","value":"default"}
            !INVALID_PARAMETER: board.Shut cannot be set to default: error CS8331: what is returned as `ref readonly` cannot be assigned
            > variable_set {"force":false,"path":"board[1].X","value":"9"}
            !INVALID_PARAMETER: board[1].X cannot be set to 9: Board is not a collection whose elements can be read without running code
            > evaluate {"expressions":["board.Shut.X = 9","board.Printed","Limits.Most"],"side_effects":true}
            board.Shut.X = 9: it has no value
            | error CS8332: a member of what is returned as `ref readonly` cannot be assigned
            |   board.Shut.X = 9
            |   ^^^^^^^^^^^^^^^^
            board.Printed: string = "8 2"
            Limits.Most: int = 6
        "#]].assert_eq(&agent.transcript());
    });
}

#[test]
fn what_collections_keep_in_their_own_way_is_set_by_their_indexers() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        stopped(&mut agent).await;
        for (path, value) in [
            ("texts[\"a\"]", "\"2\""),
            ("names[0]", "\"m\""),
            ("names[0]", "5"),
            ("words[\"w\"]", "\"3\""),
        ] {
            let set = json!({"path": path, "value": value, "force": true});
            agent.say("variable_set", set).await;
        }
        // What it is found by is changed with it.
        let set = json!({"path": "keyed[0]", "value": "new Login { Name = \"bob\" }"});
        agent.call("variable_set", set).await;
        // Whoever listens hears of it.
        let set = json!({"path": "watched[0]", "value": "\"b\""});
        agent.call("variable_set", set).await;
        let looks = json!({"expressions": ["watched[0]", "heard.Single()", "keyed.Contains(\"bob\")", "keyed.Contains(\"ann\")", "keyed[0].Name", "keyed[^1].Name", "keyed[\"bob\"].Name", "texts[\"a\"]", "names[0]", "words[\"w\"]"], "side_effects": true});
        agent.say("evaluate", looks).await;
        expect![[r#"
            > variable_set {"force":true,"path":"texts[\"a\"]","value":"\"2\""}
            ["a"]: ArrayList = Count = 1 { "2" } (was Count = 1 { "1" })
            > variable_set {"force":true,"path":"names[0]","value":"\"m\""}
            [0]: string = "m" (was "n")
            > variable_set {"force":true,"path":"names[0]","value":"5"}
            !INVALID_PARAMETER: names[0] cannot be set to 5: only its indexer knows how it keeps that
            > variable_set {"force":true,"path":"words[\"w\"]","value":"\"3\""}
            ["w"]: string = "3" (was "1")
            > evaluate {"expressions":["watched[0]","heard.Single()","keyed.Contains(\"bob\")","keyed.Contains(\"ann\")","keyed[0].Name","keyed[^1].Name","keyed[\"bob\"].Name","texts[\"a\"]","names[0]","words[\"w\"]"],"side_effects":true}
            watched[0]: string = "b"
            heard.Single(): string = "Replace"
            keyed.Contains("bob"): bool = true
            keyed.Contains("ann"): bool = false
            keyed[0].Name: string = "bob"
            keyed[^1].Name: string = "bob"
            keyed["bob"].Name: string = "bob"
            texts["a"]: string = "2"
            names[0]: string = "m"
            words["w"]: string = "3"
        "#]].assert_eq(&agent.transcript());
    });
}

#[test]
fn types_in_generic_ones_are_found_by_the_names_that_a_search_gives() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        stopped(&mut agent).await;
        let search = json!({"pattern": "Outer*.Inner", "module": "values_told"});
        agent.say("symbols_search", search).await;
        for name in [
            "Outer<T>.Inner",
            "Outer.Inner",
            "Outer<T>.Inner.Deep<U>",
            "Outer<System.Int32>.Inner.Deep<List<int>>",
            "Outer`1+Inner",
            "Outer<T>.Inner<U>",
        ] {
            agent.say("type_get", json!({"name": name})).await;
        }
        expect![[r#"
            > symbols_search {"module":"values_told","pattern":"Outer*.Inner"}
            type Outer.Inner (values_told.dll)
            type Outer<T>.Inner (values_told.dll)
            > type_get {"name":"Outer<T>.Inner"}
            public class Outer<T>.Inner : object (values_told.dll)
              public T One
              public .ctor()
              public class Outer<T>.Inner.Deep<U>
            > type_get {"name":"Outer.Inner"}
            public class Outer.Inner : object (values_told.dll)
              public int Plain
              public .ctor()
            > type_get {"name":"Outer<T>.Inner.Deep<U>"}
            public class Outer<T>.Inner.Deep<U> : object (values_told.dll)
              public U Two
              public .ctor()
            > type_get {"name":"Outer<System.Int32>.Inner.Deep<List<int>>"}
            public class Outer<T>.Inner.Deep<U> : object (values_told.dll)
              public U Two
              public .ctor()
            > type_get {"name":"Outer`1+Inner"}
            public class Outer<T>.Inner : object (values_told.dll)
              public T One
              public .ctor()
              public class Outer<T>.Inner.Deep<U>
            > type_get {"name":"Outer<T>.Inner<U>"}
            !INVALID_PARAMETER: no loaded module has a type Outer<T>.Inner<U>
              Outer
              Outer<T>
              Outer<T>.Inner
            Hint: name one of these
        "#]]
        .assert_eq(&agent.transcript());
    });
}

#[test]
fn values_are_told_alike_however_they_are_asked_for() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        stopped(&mut agent).await;
        let look = json!({"names": ["access", "odd"]});
        agent.say("variables_get", look).await;
        let values = json!({"expressions": [
            "access", "odd", "new[] { access }", "(access, 1)", "access.ToString()",
        ]});
        agent.say("evaluate", values).await;
        let look = json!({"path": "said", "statics": true, "depth": 2});
        agent.say("variables_get", look).await;
        let look = json!({"path": "board.Printed"});
        agent.say("variables_get", look).await;
        let open = json!({"expressions": ["said"], "side_effects": true, "open": true});
        agent.say("evaluate", open).await;
        // Of null, code that strings share with others gives no type.
        let open = json!({"expressions": ["query"], "side_effects": true, "open": true});
        let opened = text(&agent.call("evaluate", open).await);
        assert!(opened.contains("Current: string = null"), "{opened}");
        expect![[r#"
            > variables_get {"names":["access","odd"]}
            Variables of frame #0 of thread <tid>:
              access: Access = Read | Write
              odd: Access = Read | 0x8
            > evaluate {"expressions":["access","odd","new[] { access }","(access, 1)","access.ToString()"]}
            access: Access = Read | Write
            odd: Access = Read | 0x8
            new[] { access }: Access[] = Length = 1 { Read | Write }
            (access, 1): (Access access, int) = (Read | Write, 1)
            access.ToString(): string = "Read, Write"
            > variables_get {"depth":2,"path":"said","statics":true}
            said: Said = { Number = 3 } (shown by its fields: its DebuggerDisplay would run code)
              Number: int = 3
            > variables_get {"path":"board.Printed"}
            Printed: string = only its getter can tell, which would run code in the program
            > evaluate {"expressions":["said"],"open":true,"side_effects":true}
            said: Said = said 3
              Number: int = 3
            Note: code of the program was run once to show it.
        "#]].assert_eq(&agent.transcript());
    });
}

#[test]
fn what_code_makes_of_a_secret_is_masked() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        stopped(&mut agent).await;
        let texts = [
            "login.Line",
            "login.Tell()",
            "login.Tell().Substring(1)",
            "login.Line.ToUpper()",
            "new[] { login.Tell() }",
            "pair.ToString()",
        ];
        let asked = json!({"expressions": texts, "side_effects": true});
        let answer = text(&agent.call("evaluate", asked.clone()).await);
        assert!(
            !answer.to_lowercase().contains("idden-"),
            "a secret is told: {answer}"
        );
        assert_eq!(answer.matches("***").count(), texts.len(), "{answer}");
        let harmless = json!({"expressions": ["login.Name", "login.Length()", "login.Line == \"\""], "side_effects": true});
        let answer = text(&agent.call("evaluate", harmless).await);
        assert!(!answer.contains("***"), "{answer}");
        let shown = json!({"expressions": texts, "side_effects": true, "show_secrets": true});
        let answer = text(&agent.call("evaluate", shown).await);
        assert!(!answer.contains("***"), "{answer}");
    });
}
