//! Breakpoints over MCP: set, hit, changed, listed, removed, and refused.

use expect_test::expect;
use rmcp::model::CallToolResult;
use serde_json::{Value, json};
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::client::{Agent, dll, run, structured, text};

/// The file and line of a marker of a fixture, as a client would write them.
fn at(fixture: &str, marker: &str) -> Value {
    let marker = Fixture::named(fixture).marker(marker);
    json!({"file": marker.file, "line": marker.line})
}

#[test]
fn breakpoints_of_a_launch_are_hit() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        let stopped = agent
            .say(
                "debug_launch",
                json!({
                    "program": dll("demo_shop"),
                    "breakpoints": [
                        {"file": "demo_shop.cs", "line": Fixture::named("demo_shop").marker("discount").line},
                        {"function": "Coupons.Percent", "hit_condition": ">=3"},
                        {"file": "no_such.cs", "line": 1},
                    ],
                }),
            )
            .await;
        assert_eq!(
            stopped["stop"]["reasons"],
            json!([{"kind": "breakpoint", "breakpoints": [1]}])
        );
        agent.say("breakpoint_list", json!({})).await;
        agent
            .say("breakpoint_update", json!({"id": 1, "enabled": false}))
            .await;
        let stopped = agent.say("debug_continue", json!({})).await;
        assert_eq!(stopped["stop"]["reasons"][0]["breakpoints"], json!([2]));
        agent.say("breakpoint_remove", json!({"all": true})).await;
        agent.say("debug_continue", json!({})).await;
        expect![[r#"
            > debug_launch {"breakpoints":[{"file":"demo_shop.cs","line":22},{"function":"Coupons.Percent","hit_condition":">=3"},{"file":"no_such.cs","line":1}],"program":"<fixtures>/demo_shop/demo_shop.dll"}
            s1 stopped: at breakpoint 1 (thread <tid>), in Order.Total() at <source>/demo_shop.cs:22.
            Launched <fixtures>/demo_shop/demo_shop.dll, process <pid>, .NET <version>.
              20 |         foreach (Item item in Items)
              21 |             total += item.Price * item.Quantity; //@sum
            > 22 |         decimal discount = Coupons.Percent(Coupon); //@discount
              23 |         return total * (100 - discount) / 100; //@total
              24 |     }
              this: Order = { Id = 1, Customer = "Ada", Items = Count = 2 { {Item}, {Item} }, Coupon = null }
              total: decimal = 18.90
              discount: decimal = not assigned yet
              #0 Order.Total() at demo_shop.cs:22
              #1 Program.Main() at demo_shop.cs:51
            Output since the last report:
            out| The shop opens.
            Breakpoint 3 at no_such.cs:1: pending, no loaded module was compiled from no_such.cs with symbols.
            Next: debug_continue lets it run on; debug_step runs one statement.
            > breakpoint_list
            Breakpoint 1 at demo_shop.cs:22, in Order.Total(): bound. Hit once.
            Breakpoint 2 at Coupons.Percent, in Coupons.Percent(string coupon) at demo_shop.cs:31: bound. Stops only at hit ">=3".
            Breakpoint 3 at no_such.cs:1: pending, no loaded module was compiled from no_such.cs with symbols.
            > breakpoint_update {"enabled":false,"id":1}
            Breakpoint 1 at demo_shop.cs:22, in Order.Total(): disabled. Hit once.
            > debug_continue
            s1 stopped: at breakpoint 2 (thread <tid>), in Coupons.Percent(string coupon) at <source>/demo_shop.cs:31.
              29 |     // A coupon is a word and a number: SAVE15 is 15 percent off.
              30 |     public static decimal Percent(string coupon)
            > 31 |     {
              32 |         if (coupon == null)
              33 |             return 0;
              coupon: string = "SUMMER5"
              digits: string = not assigned yet
              #0 Coupons.Percent(string coupon) at demo_shop.cs:31
              #1 Order.Total() at demo_shop.cs:22
              #2 Program.Main() at demo_shop.cs:51
            Output since the last report:
            out| Order 1 for Ada: 18.90
            out| Order 2 for Grace: 20.40
            Next: debug_continue lets it run on; debug_step runs one statement.
            > breakpoint_remove {"all":true}
            Removed breakpoints 1, 2, 3.
            s1 has no breakpoints; breakpoint_set sets one.
            > debug_continue
            s1 stopped: unhandled exception (thread <tid>), in System.Number.ThrowFormatException<char>(ReadOnlySpan<char> value), called from Coupons.Percent(string coupon) at <source>/demo_shop.cs:35.
            Exception System.FormatException: "The input string 'ER5' was not in a correct format."
              33 |             return 0;
              34 |         string digits = coupon.Substring(4); //@bug
            > 35 |         return int.Parse(digits); //@parse
              36 |     }
              37 | }
              coupon: string = "SUMMER5"
              digits: string = "ER5" (was not assigned yet)
              #0 System.Number.ThrowFormatException<char>(ReadOnlySpan<char> value) in System.Private.CoreLib.dll
              … 1 frame that is not the user's code
              #2 Coupons.Percent(string coupon) at demo_shop.cs:35
              #3 Order.Total() at demo_shop.cs:22
              #4 Program.Main() at demo_shop.cs:51
            Next: debug_continue lets it end as it would without a debugger; debug_disconnect ends it now.
        "#]].assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn a_statement_is_found_by_its_text() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        let file = Fixture::named("demo_shop").marker("bug").file;
        agent
            .call(
                "debug_launch",
                json!({"program": dll("demo_shop"), "stop_at_entry": true}),
            )
            .await;
        for text in ["coupon.Substring(4)", "Console.WriteLine(", "no such text"] {
            agent
                .say("breakpoint_set", json!({"file": file, "text": text}))
                .await;
        }
        agent
            .say(
                "breakpoint_set",
                json!({"file": file, "text": "Console.WriteLine(", "line": 1000}),
            )
            .await;
        agent
            .say(
                "breakpoint_set",
                json!({"file": "demo_shop.cs", "text": "coupon"}),
            )
            .await;
        let stopped = agent.call("debug_continue", json!({})).await;
        assert!(
            text(&stopped).contains("at breakpoint 1"),
            "{}",
            text(&stopped)
        );
        expect![[r#"
            > breakpoint_set {"file":"<source>/demo_shop.cs","text":"coupon.Substring(4)"}
            Breakpoint 1 at demo_shop.cs:34:25, in Coupons.Percent(string coupon): bound.
            > breakpoint_set {"file":"<source>/demo_shop.cs","text":"Console.WriteLine("}
            !INVALID_PARAMETER: 3 lines of "<source>/demo_shop.cs" have "Console.WriteLine("
              49: Console.WriteLine("The shop opens.");
              51: Console.WriteLine($"Order {order.Id} for {order.Customer}: {order.Total():0.00}"); //@print
              52: Console.WriteLine("The shop closes.");
            Hint: add line to say which, or give more of the text
            > breakpoint_set {"file":"<source>/demo_shop.cs","text":"no such text"}
            !INVALID_LINE: "<source>/demo_shop.cs" has no line with "no such text"
            Hint: give a part of one line as it is written; blanks between words do not matter
            > breakpoint_set {"file":"<source>/demo_shop.cs","line":1000,"text":"Console.WriteLine("}
            Breakpoint 2 at demo_shop.cs:52, in Program.Main(): bound.
            > breakpoint_set {"file":"demo_shop.cs","text":"coupon"}
            !INVALID_PARAMETER: 3 lines of "demo_shop.cs" have "coupon"
              30: public static decimal Percent(string coupon)
              32: if (coupon == null)
              34: string digits = coupon.Substring(4); //@bug
            Hint: add line to say which, or give more of the text
        "#]].assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn a_text_in_one_of_several_files_of_a_name_asks_which() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        let launch = json!({"program": dll("bp_documents"), "stop_at_entry": true});
        agent.call("debug_launch", launch).await;
        let spot = json!({"file": "Same.cs", "text": "Console.WriteLine"});
        agent.say("breakpoint_set", spot).await;
        expect![[r#"
            > breakpoint_set {"file":"Same.cs","text":"Console.WriteLine"}
            !INVALID_FILE: 2 source files are called Same.cs
              /one/Same.cs
              /two/Same.cs
            Hint: give more of the path
        "#]]
        .assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn what_cannot_be_set_says_why() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        agent
            .say("breakpoint_set", json!({"function": "Main"}))
            .await;
        agent
            .call(
                "debug_launch",
                json!({"program": dll("demo_shop"), "stop_at_entry": true}),
            )
            .await;
        let there = at("demo_shop", "total");
        for arguments in [
            json!({}),
            json!({"file": "a.cs"}),
            json!({"file": "a.cs", "line": 0}),
            json!({"file": "a.cs", "line": 1, "function": "Main"}),
            json!({"file": there["file"], "line": 1}),
            json!({"file": there["file"], "line": there["line"], "column": 1000}),
            json!({"file": there["file"], "line": there["line"], "hit_condition": "often"}),
            json!({"function": "Order.*"}),
            json!({"function": "NoSuchMethod"}),
        ] {
            agent.say("breakpoint_set", arguments).await;
        }
        agent
            .say("breakpoint_update", json!({"id": 99, "enabled": true}))
            .await;
        agent.say("breakpoint_update", json!({"id": 1})).await;
        agent.say("breakpoint_remove", json!({})).await;
        agent.say("breakpoint_remove", json!({"id": 77})).await;
        let launch = json!({"program": dll("hello"), "breakpoints": [{"file": "a.cs", "lien": 3}]});
        agent.say("debug_launch", launch).await;
        let launch = json!({"program": dll("hello"), "exceptions": [{"thrown": true}]});
        agent.say("debug_launch", launch).await;
        expect![[r#"
            > breakpoint_set {"function":"Main"}
            !NO_SESSION: no program is being debugged
            Hint: debug_launch starts one, debug_attach takes a running one
            > breakpoint_set
            !INVALID_PARAMETER: no place is named
            Hint: give file and line, file and text, or function
            > breakpoint_set {"file":"a.cs"}
            !INVALID_PARAMETER: a file needs a line or the text of a statement
            Hint: add line, or text: a part of the statement
            > breakpoint_set {"file":"a.cs","line":0}
            !INVALID_PARAMETER: breakpoint_set: line must be a whole number from 1 to 4294967295, not 0
            Hint: breakpoint_set takes column, condition, enabled, file, function, hit_condition, line, log_message, max_hits, session, show_secrets, text
            > breakpoint_set {"file":"a.cs","function":"Main","line":1}
            !INVALID_PARAMETER: these parameters name more than one place
            Hint: give file and line (and column), or file and text, or function alone
            > breakpoint_set {"file":"<source>/demo_shop.cs","line":1}
            !INVALID_LINE: <source>/demo_shop.cs:1 has no code; the nearest lines that do are 8, 12, 13, 14
            Hint: set it on one of those lines
            > breakpoint_set {"column":1000,"file":"<source>/demo_shop.cs","line":23}
            !INVALID_COLUMN: no statement of <source>/demo_shop.cs:23 holds column 1000; there are statements in columns 9 to 46
              line 23 column 9 to line 23 column 47: return total * (100 - discount) / 100;
            Hint: give a column inside one of the available statements, or none
            > breakpoint_set {"file":"<source>/demo_shop.cs","hit_condition":"often","line":23}
            !INVALID_CONDITION: "often" is no hit condition
            Hint: write 5, ==5, >=5, >5 or %5
            > breakpoint_set {"function":"Order.*"}
            !INVALID_PARAMETER: "Order.*": wildcards are not supported; search the symbols for the names you mean, then set one breakpoint for each
            Hint: write Namespace.Type.Method, Type.Method or Method; Type.Method(int, string) for one overload; module.dll!Type.Method for one module
            > breakpoint_set {"function":"NoSuchMethod"}
            Breakpoint 1 at NoSuchMethod: pending, no loaded module with symbols has a method NoSuchMethod.
            It is set as soon as a module with that place is loaded.
            > breakpoint_update {"enabled":true,"id":99}
            !BREAKPOINT_NOT_FOUND: there is no breakpoint 99; there are 1
            Hint: breakpoint_list lists the breakpoints
            > breakpoint_update {"id":1}
            !INVALID_PARAMETER: there is nothing to change
            Hint: give enabled, condition, hit_condition, log_message or max_hits
            > breakpoint_remove
            !INVALID_PARAMETER: breakpoint_remove needs an id, or all=true
            Hint: breakpoint_list tells the ids
            > breakpoint_remove {"id":77}
            !BREAKPOINT_NOT_FOUND: there is no breakpoint 77; there are 1
            Hint: breakpoint_list lists the breakpoints
            > debug_launch {"breakpoints":[{"file":"a.cs","lien":3}],"program":"<fixtures>/hello/hello.dll"}
            !INVALID_PARAMETER: breakpoints[0]: there is no parameter "lien", did you mean line?
            Hint: breakpoints[0] takes column, condition, enabled, file, function, hit_condition, line, log_message, max_hits, show_secrets, text
            > debug_launch {"exceptions":[{"thrown":true}],"program":"<fixtures>/hello/hello.dll"}
            !INVALID_PARAMETER: exceptions: no exception type is named
            Hint: types=["System.FormatException"], or types=["*"] for every type
        "#]].assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn the_same_place_is_one_breakpoint() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        agent
            .call(
                "debug_launch",
                json!({"program": dll("demo_shop"), "stop_at_entry": true}),
            )
            .await;
        let mut place = at("demo_shop", "sum");
        let first = structured(&agent.call("breakpoint_set", place.clone()).await);
        assert_eq!(
            (&first["duplicate"], &first["breakpoint"]["state"]),
            (&json!(false), &json!("bound"))
        );
        place["hit_condition"] = json!("2");
        let again = structured(&agent.call("breakpoint_set", place).await);
        assert_eq!(again["duplicate"], true);
        assert_eq!(again["breakpoint"]["id"], first["breakpoint"]["id"]);
        assert_eq!(again["breakpoint"]["hit_condition"], "2");
        agent.close().await;
    });
}

#[test]
fn exceptions_stop_the_program_where_they_are_thrown() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        let stopped = agent
            .say(
                "debug_launch",
                json!({
                    "program": dll("throws"),
                    "exceptions": [{"types": ["System.ArithmeticException"], "unhandled": false}],
                }),
            )
            .await;
        assert_eq!(stopped["stop"]["reasons"][0]["kind"], "exception_thrown");
        agent.say("exception_get", json!({})).await;
        agent
            .say(
                "breakpoint_set_exception",
                json!({"types": ["*"], "except": ["OrderException"], "stop_at_unhandled": false}),
            )
            .await;
        agent
            .say("breakpoint_set_exception", json!({"except": ["A"]}))
            .await;
        agent.say("breakpoint_set_exception", json!({})).await;
        agent.say("breakpoint_list", json!({})).await;
        let exited = agent.call("debug_continue", json!({})).await;
        assert!(
            text(&exited).starts_with("s1 was ended by SIGABRT"),
            "{}",
            text(&exited)
        );
        expect![[r#"
            > debug_launch {"exceptions":[{"types":["System.ArithmeticException"],"unhandled":false}],"program":"<fixtures>/throws/throws.dll"}
            s1 stopped: an exception was thrown, breakpoint 1 (thread <tid>), in Program.Ratio(int whole, int parts) at <source>/throws.cs:41.
            Launched <fixtures>/throws/throws.dll, process <pid>, .NET <version>.
            Exception System.DivideByZeroException: "Attempted to divide by zero."
            It will be caught in Program.ProcessOrder(int id) at <source>/throws.cs:33.
              39 |     static int Ratio(int whole, int parts)
              40 |     {
            > 41 |         return whole / parts; //@throw_inner
              42 |     }
              43 | }
              whole: int = 10
              parts: int = 0
              #0 Program.Ratio(int whole, int parts) at throws.cs:41
              #1 Program.ProcessOrder(int id) at throws.cs:31
              #2 Program.ProcessOrders(int count) at throws.cs:24
              #3 Program.Main() at throws.cs:17
            Output since the last report:
            out| before
            out| order 1: 10
            Next: debug_continue lets it run on; debug_step runs one statement.
            > exception_get
            Exception System.DivideByZeroException: "Attempted to divide by zero."
            Thrown in Program.Ratio(int whole, int parts) at <source>/throws.cs:41.
            It will be caught in Program.ProcessOrder(int id) at <source>/throws.cs:33.
            It came through:
              Program.Ratio(int whole, int parts) at <source>/throws.cs:41
            > breakpoint_set_exception {"except":["OrderException"],"stop_at_unhandled":false,"types":["*"]}
            Exception breakpoint 2: any exception except OrderException, when thrown or unhandled.
            Exceptions that nobody catches end the program without a stop.
            > breakpoint_set_exception {"except":["A"]}
            !INVALID_PARAMETER: except without types has no meaning
            Hint: types=["*"] names every type
            > breakpoint_set_exception
            !INVALID_PARAMETER: no exception type is named
            Hint: types=["System.FormatException"], or types=["*"] for every type
            > breakpoint_list
            Exception breakpoint 1: System.ArithmeticException and derived types, when thrown. Stopped once.
            Exception breakpoint 2: any exception except OrderException, when thrown or unhandled.
        "#]].assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn a_tracepoint_logs_in_its_place_and_does_not_stop() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        let place = Fixture::named("demo_shop").marker("sum");
        let stopped = agent
            .say(
                "debug_launch",
                json!({
                    "program": dll("demo_shop"),
                    "breakpoints": [{
                        "file": place.file,
                        "line": place.line,
                        "hit_condition": ">=1",
                        "log_message": "one more {{item}}",
                        "max_hits": 3,
                    }],
                }),
            )
            .await;
        assert_eq!(stopped["stop"]["reasons"][0]["kind"], "unhandled_exception");
        agent.say("breakpoint_list", json!({})).await;
        agent
            .say("process_output", json!({"stream": "trace", "cursor": 0}))
            .await;
        expect![[r#"
            > debug_launch {"breakpoints":[{"file":"<source>/demo_shop.cs","hit_condition":">=1","line":21,"log_message":"one more {{item}}","max_hits":3}],"program":"<fixtures>/demo_shop/demo_shop.dll"}
            s1 stopped: unhandled exception (thread <tid>), in System.Number.ThrowFormatException<char>(ReadOnlySpan<char> value), called from Coupons.Percent(string coupon) at <source>/demo_shop.cs:35.
            Launched <fixtures>/demo_shop/demo_shop.dll, process <pid>, .NET <version>.
            Exception System.FormatException: "The input string 'ER5' was not in a correct format."
              33 |             return 0;
              34 |         string digits = coupon.Substring(4); //@bug
            > 35 |         return int.Parse(digits); //@parse
              36 |     }
              37 | }
              coupon: string = "SUMMER5"
              digits: string = "ER5"
              #0 System.Number.ThrowFormatException<char>(ReadOnlySpan<char> value) in System.Private.CoreLib.dll
              … 1 frame that is not the user's code
              #2 Coupons.Percent(string coupon) at demo_shop.cs:35
              #3 Order.Total() at demo_shop.cs:22
              #4 Program.Main() at demo_shop.cs:51
            Output since the last report:
            out| The shop opens.
            log| one more {item}
            log| one more {item}
            out| Order 1 for Ada: 18.90
            log| one more {item}
            out| Order 2 for Grace: 20.40
            Tracepoint 1 at demo_shop.cs:21, in Order.Total(): disabled, it switched itself off after 3 hits. Logs only at hit ">=1". Logs "one more {{item}}". Hit 3 times.
            Next: debug_continue lets it end as it would without a debugger; debug_disconnect ends it now.
            > breakpoint_list
            Tracepoint 1 at demo_shop.cs:21, in Order.Total(): disabled, it switched itself off after 3 hits. Logs only at hit ">=1". Logs "one more {{item}}". Hit 3 times.
            > process_output {"cursor":0,"stream":"trace"}
            log| one more {item}
            log| one more {item}
            log| one more {item}
            That is all so far; cursor=112 reads what comes after it.
        "#]].assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn breakpoints_that_were_never_reached_are_told_at_the_end() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        agent
            .say(
                "debug_launch",
                json!({
                    "program": dll("exits"),
                    "args": ["return", "0"],
                    "breakpoints": [{"file": "no_such.cs", "line": 3}, {"function": "Main", "hit_condition": ">5"}],
                }),
            )
            .await;
        expect![[r#"
            > debug_launch {"args":["return","0"],"breakpoints":[{"file":"no_such.cs","line":3},{"function":"Main","hit_condition":">5"}],"program":"<fixtures>/exits/exits.dll"}
            s1 exited with code 0.
            Launched <fixtures>/exits/exits.dll return 0, process <pid>, .NET <version>.
            Output since the last report:
            out| ending by return
            Never reached:
            Breakpoint 1 at no_such.cs:3: pending, no loaded module was compiled from no_such.cs with symbols.
            Reached, but never hit:
            Breakpoint 2 at Main, in Program.Main(string[] args) at exits.cs:13: bound. Stops only at hit ">5". Passed once without meeting its hit condition.
        "#]].assert_eq(&agent.transcript());
        agent.close().await;
    });
}

/// A report that leaves some out names the tool that tells them, also at the end.
#[test]
fn breakpoints_of_a_program_that_is_over_are_listed() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let launch = json!({
            "program": dll("exits"),
            "args": ["return", "0"],
            "breakpoints": [{"file": "no_such.cs", "line": 3}, {"function": "Main", "log_message": "began"}],
            "exceptions": [{"types": ["System.FormatException"]}],
        });
        agent.call("debug_launch", launch).await;
        for named in [json!({}), json!({"session": "s1"})] {
            let listed = structured(&agent.call("breakpoint_list", named).await);
            assert_eq!(listed["session"], "s1", "{listed}");
            assert_eq!(listed["breakpoints"][0]["state"], "pending", "{listed}");
            assert_eq!(listed["breakpoints"][1]["hits"], 1, "{listed}");
            let types = &listed["exception_breakpoints"][0]["types"];
            assert_eq!(types[0], "System.FormatException", "{listed}");
        }
        agent.close().await;
    });
}

#[test]
fn tracepoint_that_slows_a_program_down_says_so() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let spin = Fixture::named("loops").marker("spin");
        let launch = json!({
            "program": dll("loops"),
            "args": ["spin"],
            "breakpoints": [{"file": spin.file, "line": spin.line, "log_message": "{i}", "hit_condition": "%1000"}],
            "timeout_ms": 0,
        });
        agent.call("debug_launch", launch).await;
        let said = |told: &str| {
            ["times a second", "breakpoint_remove", "max_hits"]
                .iter()
                .all(|it| told.contains(it))
        };
        agent
            .until("debug_wait", json!({"timeout_ms": 300}), |waited| {
                said(&text(waited))
            })
            .await;
        let listed = text(&agent.call("breakpoint_list", json!({})).await);
        assert!(said(&listed), "{listed}");
        agent.close().await;
    });
}

#[test]
fn condition_that_is_false_at_each_pass_is_told_with_what_it_costs() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let place = Fixture::named("loops").marker("spin");
        let launch = json!({
            "program": dll("loops"), "args": ["spin"], "timeout_ms": 0,
            "breakpoints": [{"file": place.file, "line": place.line, "condition": "i < 0"}],
        });
        agent.call("debug_launch", launch).await;
        let slow = |result: &CallToolResult| {
            text(result).contains("breakpoint 1 was reached about ")
                && text(result).contains("slower as long as that is set")
        };
        agent
            .until("debug_wait", json!({"timeout_ms": 100}), slow)
            .await;
        let listed = agent.call("breakpoint_list", json!({})).await;
        let told = text(&listed);
        assert!(told.contains("times with its condition false."), "{told}");
        let listed = &structured(&listed)["breakpoints"][0];
        assert_eq!(listed["hits"], 0, "{listed}");
        // How many come within the shortest time that tells a pace depends on the machine.
        assert!(listed["passed_by"].as_u64() > Some(1), "{listed}");
        agent.close().await;
    });
}

#[test]
fn breakpoint_whose_condition_was_never_true_is_told_as_reached() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let place = Fixture::named("values_said").marker("stop");
        let launch = json!({
            "program": dll("values_said"),
            "breakpoints": [{"file": place.file, "line": place.line, "condition": "team == null"}],
        });
        let ended = text(&agent.call("debug_launch", launch).await);
        let (_, rest) = ended.split_once("Reached, but never hit:\n").expect(&ended);
        assert!(
            rest.contains("Passed once with its condition false."),
            "{ended}"
        );
        assert!(!ended.contains("Never reached"), "{ended}");
        agent.close().await;
    });
}

#[test]
fn breakpoint_that_was_hit_before_its_condition_was_changed_is_told_as_hit() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let launch = json!({
            "program": dll("bp_traces"), "args": ["4"],
            "breakpoints": [at("bp_traces", "passed")],
        });
        agent.call("debug_launch", launch).await;
        let change = json!({"id": 1, "condition": "i > 100"});
        agent.call("breakpoint_update", change).await;
        let ended = text(&agent.call("debug_continue", json!({})).await);
        let counts =
            "Hit once before its condition was changed. Passed 3 times with its condition false.";
        assert!(ended.contains(counts), "{ended}");
        assert!(!ended.contains("never"), "{ended}");
        agent.close().await;
    });
}

#[test]
fn hit_condition_that_was_never_met_is_told_at_the_end() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let at = |marker: &str, more: serde_json::Value| {
            let mut spec = at("bp_traces", marker);
            let fields = spec.as_object_mut().expect("an object");
            fields.extend(more.as_object().expect("an object").clone());
            spec
        };
        let launch = json!({
            "program": dll("bp_traces"), "args": ["4"],
            "breakpoints": [
                at("passed", json!({"hit_condition": "9"})),
                at("call", json!({"hit_condition": ">9", "log_message": "called"})),
                at("end", json!({"hit_condition": "1", "log_message": "end"})),
            ],
        });
        let ended = agent.call("debug_launch", launch).await;
        let told = text(&ended);
        let (_, rest) = told.split_once("Reached, but never hit:\n").expect(&told);
        let unmet = "Passed 4 times without meeting its hit condition.";
        assert_eq!(rest.matches(unmet).count(), 2, "{told}");
        assert!(!told.contains("Breakpoint 3"), "{told}");
        agent.close().await;
    });
}

#[test]
fn condition_that_fails_is_counted_as_failed() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let place = Fixture::named("bp_traces").marker("passed");
        let condition = "i > 1 && order.Next.Count == 0";
        let launch = json!({
            "program": dll("bp_traces"), "args": ["4"],
            "breakpoints": [{"file": place.file, "line": place.line, "condition": condition}],
        });
        agent.call("debug_launch", launch).await;
        let listed = agent.call("breakpoint_list", json!({})).await;
        let told = text(&listed);
        assert!(
            told.contains("Passed 2 times with its condition false. Its condition failed once."),
            "{told}"
        );
        let listed = &structured(&listed)["breakpoints"][0];
        let counts = ["hits", "passed_by", "failed"].map(|it| listed[it].as_u64());
        assert_eq!(counts, [Some(0), Some(2), Some(1)], "{listed}");
        agent.close().await;
    });
}

/// What is told of a breakpoint that its module brought back is as of the stop, not as of the moment it was set in the code.
#[test]
fn counts_of_a_breakpoint_that_is_bound_again_are_those_of_the_stop() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let launch = json!({
            "program": dll("bp_plugins"),
            "args": ["context", dll("bp_plugin")],
            "breakpoints": [at("bp_plugin", "plugin"), at("bp_plugins", "unloaded")],
        });
        agent.call("debug_launch", launch).await;
        let unbound = agent.call("debug_continue", json!({})).await;
        assert!(text(&unbound).contains("unbound"), "{}", text(&unbound));
        let again = agent.call("debug_continue", json!({})).await;
        assert!(
            text(&again).contains("bound. Hit 2 times."),
            "{}",
            text(&again)
        );
        agent.close().await;
    });
}
