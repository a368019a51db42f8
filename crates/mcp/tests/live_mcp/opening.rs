//! What only code of the program can show, over MCP: run when that is asked for, bounded, masked, and told.

use expect_test::expect;
use serde_json::json;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::client::{Agent, dll, run, structured, text};

#[test]
fn results_are_opened_by_code_when_that_is_asked_for() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        let place = Fixture::named("values_code").marker("stop");
        let launch = json!({
            "program": dll("values_code"),
            "breakpoints": [{"file": place.file, "line": place.line}],
        });
        agent.call("debug_launch", launch).await;
        // Looking runs nothing, and says what would tell more.
        agent.say("variables_get", json!({"path": "basket"})).await;
        agent.say("variables_get", json!({"path": "squares"})).await;
        for arguments in [
            json!({"expressions": ["basket"], "open": true}),
            json!({"expressions": ["Program.Calls + Program.Proxies"]}),
            json!({"expressions": ["basket", "printed", "crate", "1 + 1"], "side_effects": true, "open": true}),
            json!({"expressions": ["squares"], "side_effects": true, "open": true, "start": 4}),
            json!({"expressions": ["account"], "side_effects": true, "open": true}),
            json!({"expressions": ["account"], "side_effects": true, "open": true, "show_secrets": true}),
            json!({"expressions": ["throwing"], "side_effects": true, "open": true}),
        ] {
            agent.say("evaluate", arguments).await;
        }
        // One that never ends is given up in the time of the call, and the program is as it was.
        let endless = json!({"expressions": ["silent"], "side_effects": true, "open": true, "timeout_ms": 2000});
        let answer = text(&agent.call("evaluate", endless).await);
        assert!(
            answer.contains("its ToString was not run to its end: it took longer than"),
            "{answer}"
        );
        assert!(answer.contains("Value: int = 8"), "{answer}");
        // What is inside can be looked at by its id, without running anything.
        let opened = json!({"expressions": ["many"], "side_effects": true, "open": true});
        let opened = structured(&agent.call("evaluate", opened).await);
        let id = opened["results"][0]["members"][0]["object"].clone();
        let inside = json!({"path": id, "count": 1});
        let inside = text(&agent.call("variables_get", inside).await);
        assert!(
            inside.contains(": Printed = { times = 3 }\n  times: int = 3"),
            "{inside}"
        );
        let report = structured(&agent.call("debug_continue", json!({})).await);
        assert_eq!(report["state"], "exited", "{report}");
        expect![[r##"
            > variables_get {"path":"basket"}
            basket: Basket<string> = { items = Count = 2 { "apple", "pear" } }
              items: LinkedList<string> = Count = 2 { "apple", "pear" }
            Note: it has a DebuggerTypeProxy, which is shown where code may run: evaluate it with side_effects and open.
            > variables_get {"path":"squares"}
            squares: Squares = { count = 5 }
              count: int = 5
            Note: it can be enumerated: its elements are told where code may run: evaluate it with side_effects and open.
            > evaluate {"expressions":["basket"],"open":true}
            !INVALID_PARAMETER: open runs code of the program, which only side_effects=true allows
            Hint: set it, or look without running code: variables_get with the result's path
            > evaluate {"expressions":["Program.Calls + Program.Proxies"]}
            Program.Calls + Program.Proxies: int = 0
            > evaluate {"expressions":["basket","printed","crate","1 + 1"],"open":true,"side_effects":true}
            basket: Basket<string> = { items = Count = 2 { "apple", "pear" } }
              Title: string = "basket of String"
              [0] = "apple"
              [1] = "pear"
              Count: int = 2
              Thrown: int = its getter threw System.InvalidOperationException: no proxy value
            Note: shown by its DebuggerTypeProxy; the raw view has its fields.
            Note: code of the program was run 4 times to show it.
            printed: Printed = printed\n3
              times: int = 3
            Note: code of the program was run once to show it.
            crate: Crate<string> = crate of 4
              Says: string = "wood of 4"
            Note: shown by its DebuggerTypeProxy; the raw view has its fields.
            Note: code of the program was run 2 times to show it.
            1 + 1: int = 2
            > evaluate {"expressions":["squares"],"open":true,"side_effects":true,"start":4}
            squares: Squares = { count = 5 }
              [2] = 4
              [3] = 9
              [4] = 16
            Note: code of the program was run 2 times to show it.
            > evaluate {"expressions":["account"],"open":true,"side_effects":true}
            account: Account = { Owner = "ann", Password = *** }
              Owner: string = "ann"
              Password: string = *** (masked because of its name)
              EqualityContract: RuntimeType = typeof(Account)
            Note: its ToString was not run: it may tell what is masked.
            Note: code of the program was run once to show it.
            > evaluate {"expressions":["account"],"open":true,"show_secrets":true,"side_effects":true}
            account: Account = Account { Owner = ann, Password = hunter2 }
              Owner: string = "ann"
              Password: string = "hunter2"
              EqualityContract: RuntimeType = typeof(Account)
            Note: code of the program was run 2 times to show it.
            > evaluate {"expressions":["throwing"],"open":true,"side_effects":true}
            throwing: Throwing = {Throwing}
              [0] = "one"
            Note: its ToString threw System.InvalidOperationException: no text.
            Note: after 1 elements its enumerator threw System.InvalidOperationException: no second.
            Note: code of the program was run 2 times to show it.
        "##]].assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn other_threads_are_let_run_for_what_waits_for_them_when_that_is_asked_for() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        let place = Fixture::named("calls_others").marker("stop");
        let launch = json!({
            "program": dll("calls_others"),
            "breakpoints": [{"file": place.file, "line": place.line}],
        });
        agent.call("debug_launch", launch).await;
        for arguments in [
            json!({"expressions": ["asked.Later().Result"], "other_threads": true}),
            json!({"expressions": ["asked.Later().Result"], "side_effects": true}),
            json!({"expressions": ["asked.Later().Result", "catches.Value"], "side_effects": true, "other_threads": true}),
        ] {
            agent.say("evaluate", arguments).await;
        }
        // Getters that are run to show a value wait as well.
        let opened = json!({"expressions": ["locked"], "side_effects": true, "other_threads": true, "open": true});
        let answer = text(&agent.call("evaluate", opened).await);
        assert!(answer.contains("Value: int = 7"), "{answer}");
        assert!(answer.contains("Made: int = 9"), "{answer}");
        assert!(
            answer.contains("the other threads were let run"),
            "{answer}"
        );
        let report = structured(&agent.call("debug_continue", json!({})).await);
        assert_eq!(report["state"], "exited", "{report}");
        expect![[r#"
            > evaluate {"expressions":["asked.Later().Result"],"other_threads":true}
            !INVALID_PARAMETER: other_threads is for code of the program, which only side_effects=true allows
            Hint: set it, too
            > evaluate {"expressions":["asked.Later().Result"],"side_effects":true}
            asked.Later().Result: it has no value
            | `Result`: it may have to wait for another thread, and those stand still
            |   asked.Later().Result
            |   ^^^^^^^^^^^^^^^^^^^^
            Hint: let the other threads run by other_threads=true
            > evaluate {"expressions":["asked.Later().Result","catches.Value"],"other_threads":true,"side_effects":true}
            asked.Later().Result: int = 42
            Note: the other threads were let run for it.
            catches.Value: int = 5
            Note: the other threads were let run for it.
        "#]].assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn what_exists_only_in_the_debugger_is_written_as_variables_are() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        let place = Fixture::named("values_collections").marker("stop");
        let launch = json!({
            "program": dll("values_collections"),
            "breakpoints": [{"file": place.file, "line": place.line}],
        });
        agent.call("debug_launch", launch).await;
        let expressions = json!({"expressions": [
            "orders.Where(o => o.Id > 27).ToList()", "orders.Take(2).ToArray()", "orders.Select(o => o.Id).Take(3)",
            "orders.Take(2).Select(o => (o.Id, o))", "new int[0]", "new[] { 1, 2 }", "orders.Take(1).ToDictionary(o => o.Id)",
            "orders.Take(2).Select(o => o.Lines)", "set", "numbers", "new[] { \"a\", null }", "dictionary.First()",
        ]});
        agent.say("evaluate", expressions).await;
        expect![[r#"
            > evaluate {"expressions":["orders.Where(o => o.Id > 27).ToList()","orders.Take(2).ToArray()","orders.Select(o => o.Id).Take(3)","orders.Take(2).Select(o => (o.Id, o))","new int[0]","new[] { 1, 2 }","orders.Take(1).ToDictionary(o => o.Id)","orders.Take(2).Select(o => o.Lines)","set","numbers","new[] { \"a\", null }","dictionary.First()"]}
            orders.Where(o => o.Id > 27).ToList(): System.Collections.Generic.List<Order> = Count = 2 { order28 #28 x0, order29 #29 x0 }
            orders.Take(2).ToArray(): Order[] = Length = 2 { order0 #0 x0, order1 #1 x0 }
            orders.Select(o => o.Id).Take(3): System.Collections.Generic.IEnumerable<int> = Count = 3 { 0, 1, 2 }
            orders.Take(2).Select(o => (o.Id, o)): System.Collections.Generic.IEnumerable<(int Id, Order o)> = Count = 2 { (0, order0 #0 x0), (1, order1 #1 x0) }
            new int[0]: int[] = Length = 0
            new[] { 1, 2 }: int[] = Length = 2 { 1, 2 }
            orders.Take(1).ToDictionary(o => o.Id): System.Collections.Generic.Dictionary<int, Order> = Count = 1 { [0] = order0 #0 x0 }
            orders.Take(2).Select(o => o.Lines): System.Collections.Generic.IEnumerable<System.Collections.Generic.List<string>> = Count = 2 { Count = 0, Count = 0 }
            set: System.Collections.Generic.HashSet<int> = Count = 3 { 3, 2, 9 }  (3 inside: #e10)
            numbers: System.Collections.Generic.List<int> = Count = 20 { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20 }  (20 inside: #e11)
            new[] { "a", null }: string[] = Length = 2 { "a", null }
            dictionary.First(): System.Collections.Generic.KeyValuePair<string, int> = ["one", 1]
        "#]].assert_eq(&agent.transcript());
        agent.close().await;
    });
}
