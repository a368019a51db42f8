//! Values over MCP: looking at them, setting them, objects and memory as they lie.

use expect_test::expect;
use serde_json::{Value, json};
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::client::{Agent, dll, run, structured, text};

/// Launches a fixture that stops at a marker.
async fn stopped(agent: &Agent, fixture: &str, marker: &str) -> Value {
    let place = Fixture::named(fixture).marker(marker);
    let launch = json!({
        "program": dll(fixture),
        "breakpoints": [{"file": place.file, "line": place.line}],
    });
    let report = structured(&agent.call("debug_launch", launch).await);
    assert_eq!(report["state"], "stopped", "{report}");
    report
}

#[test]
fn variables_are_told_by_scope_name_and_page() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        let stop = stopped(&agent, "values_set", "stop").await;
        for arguments in [
            json!({"scope": "arguments"}),
            json!({"frame": 1, "scope": "locals", "names": ["l*", "numbers"], "depth": 1}),
            json!({"frame": 1, "path": "numbers", "start": 1, "count": 1}),
            json!({"frame": 1, "path": "account", "names": ["balance", "opened"], "statics": true}),
            json!({"frame": 1, "names": ["count", "level"], "hex": true}),
            json!({"frame": 1, "path": "text", "text_length": 2}),
            json!({"frame": 1, "path": "account.Next.Owner"}),
            json!({"path": "#9999"}),
            json!({"stop": 9999}),
            json!({"scope": "globals", "depth": 9}),
        ] {
            agent.say("variables_get", arguments).await;
        }
        let account = agent
            .call("variables_get", json!({"path": "account"}))
            .await;
        let object = structured(&account)["of"]["object"].clone();
        let number = stop["stop"]["id"].clone();
        let again = agent
            .call("variables_get", json!({"path": object, "stop": number}))
            .await;
        assert_eq!(
            structured(&again)["variables"],
            json!(
                structured(&account)["variables"]
                    .as_array()
                    .expect("members")
                    .iter()
                    .cloned()
                    .map(|mut member| {
                        // Only the way to it differs.
                        if let Some(path) = member["path"].as_str() {
                            let path = path.replace("account", object.as_str().expect("an id"));
                            member["path"] = path.into();
                        }
                        member
                    })
                    .collect::<Vec<_>>()
            ),
            "{}",
            text(&again)
        );
        expect![[r##"
            > variables_get {"scope":"arguments"}
            Variables of frame #0 of thread <tid>:
              alias: int = 1
              account: Account = { Balance = 1, Owner = "nobody", Number = 5, Next = null, Limit = 10, age = 1, Log = "", name = "n", … }
            > variables_get {"depth":1,"frame":1,"names":["l*","numbers"],"scope":"locals"}
            Variables of frame #1 of thread <tid>:
              letter: char = 'a'
              level: Level = Low
              numbers: int[] = Length = 3 { 1, 2, 3 }
                [0] = 1
                [1] = 2
                [2] = 3
              list: List<string> = Count = 2 { "l0", "l1" }
                [0] = "l0"
                [1] = "l1"
            > variables_get {"count":1,"frame":1,"path":"numbers","start":1}
            numbers: int[] = Length = 3 { 1, 2, 3 }
              [1] = 2
              … 1 more: variables_get with start=2
            > variables_get {"frame":1,"names":["balance","opened"],"path":"account","statics":true}
            account: Account = { Balance = 1, Owner = "nobody", Number = 5, Next = null, Limit = 10, age = 1, Log = "", name = "n", … }
              Balance: decimal = 1
              Opened: int = the class constructor of Account has not run yet, so its static fields are not set
            > variables_get {"frame":1,"hex":true,"names":["count","level"]}
            Variables of frame #1 of thread <tid>:
              count: int = 0x00000001
              level: Level = Low
            > variables_get {"frame":1,"path":"text","text_length":2}
            text: string = "ol"… (3 characters)
            Note: characters 0 to 2; start=2 for the next ones.
            > variables_get {"frame":1,"path":"account.Next.Owner"}
            !INVALID_PARAMETER: "account.Next.Owner" cannot be followed at 12: null has no field Owner
            Hint: variables_get with the path before it tells what is there
            > variables_get {"path":"#9999"}
            !STALE_REFERENCE: there is no object #9999: it was never told, or the program or its collector ran since
            Hint: variables_get tells the value again, with its object id
            > variables_get {"stop":9999}
            !STALE_REFERENCE: stop 9999 is over: frames and values that were told then are gone
            Hint: ask again for what is there now
            > variables_get {"depth":9,"scope":"globals"}
            !INVALID_PARAMETER: variables_get: depth must be a whole number from 0 to 3, not 9; scope must be one of "all", "arguments", "locals", "statics", "type_arguments", not the text "globals"
            Hint: variables_get takes count, depth, frame, hex, names, path, raw, scope, session, show_secrets, start, statics, stop, text_length, thread
        "##]].assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn type_arguments_and_statics_are_told() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        stopped(&agent, "values_basics", "generic").await;
        agent
            .say("variables_get", json!({"scope": "type_arguments"}))
            .await;
        agent
            .say("variables_get", json!({"scope": "statics"}))
            .await;
        expect![[r#"
            > variables_get {"scope":"type_arguments"}
            Variables of frame #0 of thread <tid>:
              T = string
              U = int
            > variables_get {"scope":"statics"}
            Variables of frame #0 of thread <tid>:
              Shared: string = "inside"
        "#]]
        .assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn an_object_that_is_shown_twice_is_said_to_be_the_same() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        stopped(&agent, "values_numbers", "stop").await;
        for arguments in [
            json!({"names": ["first", "tenth"], "depth": 1}),
            json!({"path": "nodes", "count": 2, "depth": 1}),
        ] {
            agent.say("variables_get", arguments).await;
        }
        let expressions = json!({"expressions": ["first", "nodes[0]", "tenth"]});
        agent.say("evaluate", expressions).await;
        expect![[r#"
            > variables_get {"depth":1,"names":["first","tenth"]}
            Variables of frame #0 of thread <tid>:
              first: Node = { Name = "n0", Next = null }
                Name: string = "n0"
                Next: Node = null
              tenth: Node = { Name = "n10", Next = { Name = "n9", Next = {Node} } }
                Name: string = "n10"
                Next: Node = { Name = "n9", Next = { Name = "n8", Next = {Node} } }
            > variables_get {"count":2,"depth":1,"path":"nodes"}
            nodes: Node[] = Length = 100 { { Name = "n0", Next = null }, { Name = "n1", Next = {Node} }, { Name = "n2", Next = {Node} }, { Name = "n3", Next = {Node} }, { Name = "n4", Next = {Node} }, { Name = "n5", Next = {Node…
              [0] = { Name = "n0", Next = null }
                Name: string = "n0"
                Next: Node = null
              [1] = { Name = "n1", Next = { Name = "n0", Next = null } }
                Name: string = "n1"
                Next: Node = { Name = "n0", Next = null } (the same object as nodes[0])
              … 98 more: variables_get with start=2
            > evaluate {"expressions":["first","nodes[0]","tenth"]}
            first: Node = { Name = "n0", Next = null }  (2 inside: #e1)
            nodes[0]: Node = { Name = "n0", Next = null }  (2 inside: #e2)
            Note: the same object as first.
            tenth: Node = { Name = "n10", Next = { Name = "n9", Next = {Node} } }  (2 inside: #e3)
        "#]].assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn variables_are_set_and_the_program_finds_them() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        stopped(&agent, "values_set", "stop").await;
        for (path, value) in [
            ("count", "42"),
            ("small", "300"),
            ("level", "High"),
            ("text", "\"new\""),
            ("gone", "null"),
            ("account.Balance", "12.50m"),
            ("account.Next", "second"),
            ("account.Number", "6"),
            ("numbers[1]", "-7"),
            ("list[1]", "words[0]"),
            ("Account.Shared", "4"),
            ("nothing", "1"),
            ("count", "\"text\""),
        ] {
            let set = json!({"frame": 1, "path": path, "value": value});
            agent.say("variable_set", set).await;
        }
        let forced = json!({"frame": 1, "path": "account.Number", "value": "6", "force": true});
        agent.say("variable_set", forced).await;
        let report = agent.call("debug_continue", json!({})).await;
        assert_eq!(structured(&report)["state"], "exited", "{}", text(&report));
        agent.say("process_output", json!({})).await;
        agent
            .say("variable_set", json!({"path": "count", "value": "1"}))
            .await;
        expect![[r#"
            > variable_set {"frame":1,"path":"count","value":"42"}
            count: int = 42 (was 1)
            > variable_set {"frame":1,"path":"small","value":"300"}
            !INVALID_PARAMETER: small cannot be set to 300: 300 is outside of the range of byte
            > variable_set {"frame":1,"path":"level","value":"High"}
            level: Level = High (was Low)
            > variable_set {"frame":1,"path":"text","value":"\"new\""}
            text: string = "new" (was "old")
            > variable_set {"frame":1,"path":"gone","value":"null"}
            gone: string = null (was "here")
            > variable_set {"frame":1,"path":"account.Balance","value":"12.50m"}
            Balance: decimal = 12.50 (was 1)
            > variable_set {"frame":1,"path":"account.Next","value":"second"}
            Next: Account = { Balance = 1, Owner = "second", Number = 5, Next = null, Limit = 10, age = 1, Log = "", name = "n", … } (was null)
            > variable_set {"frame":1,"path":"account.Number","value":"6"}
            !INVALID_PARAMETER: account.Number cannot be set to 6: Number is readonly
            Hint: force=true sets it all the same
            > variable_set {"frame":1,"path":"numbers[1]","value":"-7"}
            [1] = -7 (was 2)
            > variable_set {"frame":1,"path":"list[1]","value":"words[0]"}
            [1] = "x" (was "l1")
            > variable_set {"frame":1,"path":"Account.Shared","value":"4"}
            Account.Shared: int = 8
            > variable_set {"frame":1,"path":"nothing","value":"1"}
            !INVALID_PARAMETER: frame 1 has no variable nothing
              text
              count
              small
              ratio
              on
              letter
              gone
              level
              maybe
              other
              price
              thing
              size
              copy
              account
              second
              numbers
              words
              list
              third
            Hint: names are those of arguments, locals, captured variables, and fields of the code's own type
            > variable_set {"frame":1,"path":"count","value":"\"text\""}
            !INVALID_PARAMETER: count cannot be set to "text": a string is no int
            > variable_set {"force":true,"frame":1,"path":"account.Number","value":"6"}
            Number: int = 6 (was 5)
            > process_output
            out| stop
            out| 42|1|0.5|False|a|new|null|High||True|1|thing
            out| 1|2|12.50|nobody|6|second|10
            out| -7|x|x|new42|5|untitled
            out| 1||n|||0
            out| t1t|a3a|b4b|5|False|-1|True
            out| 1|n|||8|nobody
            That is all: the program has closed its output.
            > variable_set {"path":"count","value":"1"}
            !NO_SESSION: no program is being debugged; s1 is over
            Hint: debug_launch or debug_attach begins a session; debug_status tells how the last one ended
        "#]].assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn objects_tell_their_layout_and_memory_its_bytes() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        stopped(&agent, "values_set", "stop").await;
        for arguments in [
            json!({"path": "account"}),
            json!({"frame": 1, "path": "words", "count": 1}),
            json!({"frame": 1, "path": "words", "start": 1}),
            json!({"frame": 1, "path": "size"}),
            json!({"frame": 1, "path": "other"}),
            json!({"frame": 1, "path": "maybe"}),
            json!({"frame": 1, "path": "account.Next"}),
        ] {
            agent.say("object_inspect", arguments).await;
        }
        let object = agent
            .say("object_inspect", json!({"frame": 1, "path": "text"}))
            .await;
        let address = object["address"].as_str().expect("an address");
        let address = address.strip_prefix("0x").expect("hexadecimal");
        let address = u64::from_str_radix(address, 16).expect("a number");
        // The length of a string lies behind its method table, and the letters behind that.
        let letters =
            json!({"address": format!("0x{:x}", address + 8), "count": 10, "show_secrets": true});
        let memory = structured(&agent.call("memory_read", letters).await);
        assert_eq!(memory["bytes"], "030000006f006c006400", "{memory}");
        assert_eq!(memory["next_address"], format!("0x{:x}", address + 18));
        let decimal =
            json!({"address": (address + 12).to_string(), "count": 6, "show_secrets": true});
        let shown = text(&agent.call("memory_read", decimal).await);
        assert!(shown.ends_with("|o.l.d.|"), "{shown}");
        for arguments in [
            json!({"address": "0x10"}),
            json!({"address": "0x10", "show_secrets": true}),
            json!({"address": "here"}),
            json!({"address": "0x10", "count": 100_000}),
        ] {
            agent.say("memory_read", arguments).await;
        }
        expect![[r#"
            > object_inspect {"path":"account"}
            account: Account at 0x<address>, 88 bytes
              +8 Owner: string (8 bytes)
              +16 Next: Account (8 bytes)
              +24 Log: string (8 bytes)
              +32 name: string (8 bytes)
              +40 <Limit>k__BackingField: long (8 bytes)
              +48 Number: int (4 bytes)
              +52 age: int (4 bytes)
              +56 Balance: decimal (16 bytes)
              +72 mood: Level? (8 bytes)
            It refers to:
              Owner: string at 0x<address>
              Log: string at 0x<address>
              name: string at 0x<address>
            > object_inspect {"count":1,"frame":1,"path":"words"}
            words: string[] at 0x<address>, 40 bytes
            It refers to:
              [0]: string at 0x<address>
              … there is more: object_inspect with start=1
            > object_inspect {"frame":1,"path":"words","start":1}
            words: string[] at 0x<address>, 40 bytes
            It refers to:
              [1]: string at 0x<address>
            > object_inspect {"frame":1,"path":"size"}
            size: Size at 0x<address>, 8 bytes
              +0 Width: int (4 bytes)
              +4 Height: int (4 bytes)
            > object_inspect {"frame":1,"path":"other"}
            other: int? at 0x<address>, 8 bytes
              +0 hasValue: bool (1 byte)
              +4 value: int (4 bytes), 3 bytes unused before it
            > object_inspect {"frame":1,"path":"maybe"}
            maybe: int? at 0x<address>, 8 bytes
              +0 hasValue: bool (1 byte)
              +4 value: int (4 bytes), 3 bytes unused before it
            > object_inspect {"frame":1,"path":"account.Next"}
            !INVALID_PARAMETER: "account.Next" is null: there is no object
            > object_inspect {"frame":1,"path":"text"}
            text: string at 0x<address>, 32 bytes
              (none)
            > memory_read {"address":"0x10"}
            !PERMISSION_DENIED: bytes have no names by which secrets could be masked, so memory is read only if these may be shown
            Hint: memory_read with show_secrets=true
            > memory_read {"address":"0x10","show_secrets":true}
            !INVALID_PARAMETER: no memory of the program can be read at 0x10
            Hint: object_inspect tells where an object lies; objects move when the program runs
            > memory_read {"address":"here"}
            !INVALID_PARAMETER: "here" is no address
            Hint: addresses are written as 0x7f12ab34; object_inspect tells that of an object
            > memory_read {"address":"0x10","count":100000}
            !INVALID_PARAMETER: memory_read: count must be a whole number from 1 to 1024, not 100000
            Hint: memory_read takes address (required), count, session, show_secrets
        "#]]
        .assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn secrets_are_masked_until_they_are_asked_for() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        let report = stopped(&agent, "values_hostile", "stop").await;
        assert!(!report.to_string().contains("secret!"), "{report}");
        assert!(!report.to_string().contains("hunter2"), "{report}");
        for path in ["login", "password", "login.Password", "settings"] {
            agent.say("variables_get", json!({"path": path})).await;
        }
        // Neither can the inside of a secret be looked at.
        let inside = json!({"path": "password", "raw": true, "depth": 3});
        let inside = agent.call("variables_get", inside).await;
        assert_eq!(structured(&inside)["variables"], json!([]));
        agent
            .say(
                "variables_get",
                json!({"path": "login", "show_secrets": true}),
            )
            .await;
        let secrets =
            json!({"expressions": ["login.Password", "login.Password == null", "login.UserName"]});
        agent.say("evaluate", secrets).await;
        let shown = json!({"expressions": ["login.Password"], "show_secrets": true});
        agent.say("evaluate", shown).await;
        let set = json!({"path": "login.Password", "value": "null"});
        agent.say("variable_set", set).await;
        expect![[r#"
            > variables_get {"path":"login"}
            login: Login = { UserName = "ann", Password = ***, ApiKey = ***, Tokenizer = "fine" }
              UserName: string = "ann"
              Password: string = *** (masked because of its name)
              ApiKey: string = *** (masked because of its name)
              Tokenizer: string = "fine"
            > variables_get {"path":"password"}
            password: string = *** (masked because of its name)
            Note: show_secrets=true shows it.
            > variables_get {"path":"login.Password"}
            Password: string = *** (masked because of its name)
            Note: show_secrets=true shows it.
            > variables_get {"path":"settings"}
            settings: Dictionary<string, string> = Count = 2 { ["ConnectionString"] = ***, ["Color"] = "red" }
              ["ConnectionString"] = *** (masked because of its name)
              ["Color"] = "red"
            > variables_get {"path":"login","show_secrets":true}
            login: Login = { UserName = "ann", Password = "hunter2", ApiKey = "k", Tokenizer = "fine" }
              UserName: string = "ann"
              Password: string = "hunter2"
              ApiKey: string = "k"
              Tokenizer: string = "fine"
            > evaluate {"expressions":["login.Password","login.Password == null","login.UserName"]}
            login.Password: string = *** (masked because of a name in the expression)
            login.Password == null: bool = false
            login.UserName: string = "ann"
            > evaluate {"expressions":["login.Password"],"show_secrets":true}
            login.Password: string = "hunter2"
            > variable_set {"path":"login.Password","value":"null"}
            Password: string = *** (masked because of its name)
        "#]].assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn looking_runs_no_code_of_the_program() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        stopped(&agent, "values_calls", "stop").await;
        for (tool, arguments) in [
            ("variables_get", json!({"depth": 3, "statics": true})),
            ("variables_get", json!({"path": "square", "raw": true})),
            ("object_inspect", json!({"path": "square"})),
            ("type_get", json!({"name": "Square"})),
            ("symbols_search", json!({"pattern": "Calls"})),
        ] {
            let answer = agent.call(tool, arguments).await;
            assert_ne!(answer.is_error, Some(true), "{}", text(&answer));
        }
        // Each reading of the property is counted by the program itself.
        let report = agent.call("debug_continue", json!({})).await;
        assert!(text(&report).contains("after 1"), "{}", text(&report));
        agent.close().await;
    });
}

#[test]
fn expressions_are_evaluated_without_and_with_side_effects() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        stopped(&agent, "demo_shop", "discount").await;
        let read =
            json!({"expressions": ["total * 2", "Items.Count + 1", "nothing", "Total()", "1 +"]});
        agent.say("evaluate", read).await;
        let run = json!({"expressions": ["Coupons.Percent(\"SAVE15\")"], "side_effects": true});
        agent.say("evaluate", run).await;
        agent
            .say("evaluate", json!({"expressions": ["order.Id"], "frame": 1}))
            .await;
        agent.say("evaluate", json!({"expressions": []})).await;
        expect![[r#"
            > evaluate {"expressions":["total * 2","Items.Count + 1","nothing","Total()","1 +"]}
            total * 2: decimal = 37.80
            Items.Count + 1: int = 3
            nothing: it has no value
            | error CS0103: the name `nothing` does not exist in the current context
            |   nothing
            |   ^^^^^^^
            Hint: did you mean `ToString`?
            Total(): it has no value
            | calling `Total` would run code in the program, which is not allowed here
            |   Total()
            |   ^^^^^^^
            Hint: side_effects=true allows it
            1 +: it has no value
            | error CS1733: expected an expression, found the end
            |   1 +
            |      ^
            > evaluate {"expressions":["Coupons.Percent(\"SAVE15\")"],"side_effects":true}
            Coupons.Percent("SAVE15"): decimal = 15
            > evaluate {"expressions":["order.Id"],"frame":1}
            In frame #1:
            order.Id: int = 1
            > evaluate {"expressions":[]}
            !INVALID_PARAMETER: evaluate takes 1 to 20 expressions, not 0
        "#]]
        .assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn what_is_set_in_optimised_code_is_told_with_a_doubt() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let place = Fixture::named("values_optimised").marker("changed");
        let launch = json!({
            "program": dll("values_optimised"),
            "keep_optimized": true,
            "env": {"DOTNET_TieredCompilation": "0"},
            "breakpoints": [{"file": place.file, "line": place.line}],
        });
        agent.call("debug_launch", launch).await;
        let set = json!({"path": "kept.A", "value": "3"});
        let set = text(&agent.call("variable_set", set).await);
        assert!(set.contains("may go on with a copy"), "{set}");
    });
}
