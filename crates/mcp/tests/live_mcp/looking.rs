//! Looking around in a stopped program: steps, stacks, threads, modules.

use expect_test::expect;
use serde_json::json;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::client::{Agent, dll, run, structured, text};

#[test]
fn steps_go_from_statement_to_statement() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        let place = Fixture::named("demo_shop").marker("discount");
        agent
            .call(
                "debug_launch",
                json!({"program": dll("demo_shop"), "breakpoints": [{"file": place.file, "line": place.line}]}),
            )
            .await;
        for kind in ["into", "over", "over", "out"] {
            agent.say("debug_step", json!({"kind": kind})).await;
        }
        agent.say("debug_step", json!({"mode": "in"})).await;
        expect![[r#"
            > debug_step {"kind":"into"}
            s1 stopped: after the step (thread <tid>), in Order.Coupon.get() at <source>/demo_shop.cs:15:28.
              13 |     public required string Customer { get; init; }
              14 |     public List<Item> Items { get; } = new();
            > 15 |     public string Coupon { get; set; }
              16 | 
              17 |     public decimal Total()
              this: Order = { Id = 1, Customer = "Ada", Items = Count = 2 { {Item}, {Item} }, Coupon = null }
              #0 Order.Coupon.get() at demo_shop.cs:15
              #1 Order.Total() at demo_shop.cs:22
              #2 Program.Main() at demo_shop.cs:51
            Next: debug_continue lets it run on; debug_step runs one statement.
            > debug_step {"kind":"over"}
            s1 stopped: after the step (thread <tid>), in Order.Total() at <source>/demo_shop.cs:22.
              20 |         foreach (Item item in Items)
              21 |             total += item.Price * item.Quantity; //@sum
            > 22 |         decimal discount = Coupons.Percent(Coupon); //@discount
              23 |         return total * (100 - discount) / 100; //@total
              24 |     }
              this: Order = { Id = 1, Customer = "Ada", Items = Count = 2 { {Item}, {Item} }, Coupon = null }
              total: decimal = 18.90
              discount: decimal = not assigned yet
              $returnvalue: string = null (returned by Order.Coupon)
              #0 Order.Total() at demo_shop.cs:22
              #1 Program.Main() at demo_shop.cs:51
            Next: debug_continue lets it run on; debug_step runs one statement.
            > debug_step {"kind":"over"}
            s1 stopped: after the step (thread <tid>), in Order.Total() at <source>/demo_shop.cs:23.
              21 |             total += item.Price * item.Quantity; //@sum
              22 |         decimal discount = Coupons.Percent(Coupon); //@discount
            > 23 |         return total * (100 - discount) / 100; //@total
              24 |     }
              25 | }
              this: Order = { Id = 1, Customer = "Ada", Items = Count = 2 { {Item}, {Item} }, Coupon = null }
              total: decimal = 18.90
              discount: decimal = 0 (was not assigned yet)
              $returnvalue: decimal = 0 (returned by Coupons.Percent)
              #0 Order.Total() at demo_shop.cs:23
              #1 Program.Main() at demo_shop.cs:51
            Next: debug_continue lets it run on; debug_step runs one statement.
            > debug_step {"kind":"out"}
            s1 stopped: after the step (thread <tid>), in Program.Main() at <source>/demo_shop.cs:51.
              49 |         Console.WriteLine("The shop opens.");
              50 |         foreach (Order order in orders)
            > 51 |             Console.WriteLine($"Order {order.Id} for {order.Customer}: {order.Total():0.00}"); //@print
              52 |         Console.WriteLine("The shop closes.");
              53 |     }
              orders: List<Order> = Count = 3 { { Id = 1, Customer = "Ada", Items = Count = 2, Coupon = null }, { Id = 2, Customer = "Gr…
              order: Order = { Id = 1, Customer = "Ada", Items = Count = 2 { {Item}, {Item} }, Coupon = null }
              $returnvalue: decimal = 18.90 (returned by Order.Total)
              #0 Program.Main() at demo_shop.cs:51
            Next: debug_continue lets it run on; debug_step runs one statement.
            > debug_step {"mode":"in"}
            !INVALID_PARAMETER: debug_step: there is no parameter "mode", did you mean kind?; the parameter kind is missing
            Hint: debug_step takes kind (required), count, just_my_code, session, skip_properties, thread, timeout_ms
        "#]].assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn the_stack_is_told_in_pages() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        agent
            .call("debug_launch", json!({"program": dll("demo_shop")}))
            .await;
        agent
            .say("stacktrace_get", json!({"start": 3, "count": 3}))
            .await;
        agent.say("stacktrace_get", json!({"start": 100})).await;
        agent.say("stacktrace_get", json!({"thread": 1})).await;
        agent.call("debug_continue", json!({})).await;
        agent.say("stacktrace_get", json!({})).await;
        expect![[r#"
            > stacktrace_get {"count":3,"start":3}
            Stack of thread <tid> of s1:
              #3 Order.Total() at <source>/demo_shop.cs:22
              #4 Program.Main() at demo_shop.cs:51
            > stacktrace_get {"start":100}
            Stack of thread <tid> of s1:
              (no frames there)
            > stacktrace_get {"thread":1}
            !INVALID_THREAD: there is no managed thread <tid>
            Hint: threads_get lists the threads
            > stacktrace_get
            !NO_SESSION: no program is being debugged; s1 is over
            Hint: debug_launch or debug_attach begins a session; debug_status tells how the last one ended
        "#]].assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn threads_are_listed_frozen_and_thawed() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let stopped = agent
            .call("debug_launch", json!({"program": dll("throws")}))
            .await;
        let current = structured(&stopped)["stop"]["thread"].clone();
        let threads = agent.call("threads_get", json!({})).await;
        let told = structured(&threads);
        assert_eq!(told["threads"][0]["id"], current);
        assert_eq!(told["threads"][0]["current"], true);
        assert!(
            text(&threads).starts_with(&format!("> thread {current}")),
            "{}",
            text(&threads)
        );
        let frozen = agent
            .call("threads_get", json!({"freeze": [current]}))
            .await;
        assert_eq!(
            structured(&frozen)["threads"][0]["frozen"],
            true,
            "{}",
            text(&frozen)
        );
        let thawed = agent.call("threads_get", json!({"thaw": [current]})).await;
        assert_eq!(structured(&thawed)["threads"][0].get("frozen"), None);
        // One that is wrong keeps all others as they are.
        let unknown = json!({"freeze": [current, 1]});
        let unknown = agent.call("threads_get", unknown).await;
        assert_eq!(structured(&unknown)["error"]["code"], "INVALID_THREAD");
        let threads = agent.call("threads_get", json!({})).await;
        assert_eq!(structured(&threads)["threads"][0].get("frozen"), None);
        agent.close().await;
    });
}

#[test]
fn a_frozen_thread_makes_calls_but_no_steps() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let program = json!({"program": dll("hello"), "stop_at_entry": true});
        let stopped = agent.call("debug_launch", program).await;
        let current = structured(&stopped)["stop"]["thread"].clone();
        let both = json!({"freeze": [current], "thaw": [current]});
        let both = agent.call("threads_get", both).await;
        assert_eq!(structured(&both)["error"]["code"], "INVALID_PARAMETER");
        agent
            .call("threads_get", json!({"freeze": [current]}))
            .await;
        let expression = "new System.Text.StringBuilder(\"a\").Append(7).ToString()";
        let arguments = json!({"expressions": [expression], "side_effects": true});
        let called = agent.call("evaluate", arguments).await;
        assert!(text(&called).contains("\"a7\""), "{}", text(&called));
        // The step would never end.
        let step = agent.call("debug_step", json!({"kind": "over"})).await;
        assert_eq!(structured(&step)["error"]["code"], "STEP_FAILED");
        assert!(text(&step).contains("is frozen"), "{}", text(&step));
        let threads = structured(&agent.call("threads_get", json!({})).await);
        assert_eq!(threads["threads"][0]["frozen"], true, "{threads}");
        agent.call("threads_get", json!({"thaw": [current]})).await;
        let step = agent.call("debug_step", json!({"kind": "over"})).await;
        assert_eq!(structured(&step)["state"], "stopped", "{}", text(&step));
        // Nor would the program, and whoever waits for it hears why.
        agent
            .call("threads_get", json!({"freeze": [current]}))
            .await;
        let waited = agent
            .call("debug_continue", json!({"timeout_ms": 300}))
            .await;
        let why = format!("thread {current} is frozen");
        assert!(text(&waited).contains(&why), "{}", text(&waited));
        agent.close().await;
    });
}

#[test]
fn modules_are_listed_with_their_symbols() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        agent
            .call(
                "debug_launch",
                json!({"program": dll("hello"), "stop_at_entry": true}),
            )
            .await;
        let all = structured(&agent.call("modules_get", json!({})).await);
        assert_eq!(all["modules"][0]["name"], "hello.dll");
        assert_eq!(all["modules"][0]["user_code"], true);
        let library = structured(&agent.call("modules_get", json!({"name": "corelib"})).await);
        assert_eq!(library["modules"][0]["symbols"], false, "{library}");
        agent.say("modules_get", json!({"name": "no-such"})).await;
        expect![[r#"
            > modules_get {"name":"no-such"}
            No loaded module has such a name.
        "#]]
        .assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn source_is_read_where_the_program_is_stopped() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        let place = Fixture::named("demo_shop").marker("bug");
        agent
            .call(
                "debug_launch",
                json!({"program": dll("demo_shop"), "breakpoints": [{"file": place.file, "line": place.line}]}),
            )
            .await;
        agent.say("source_get", json!({"count": 5})).await;
        agent
            .say(
                "source_get",
                json!({"file": "demo_shop.cs", "line": place.line + 1, "count": 2}),
            )
            .await;
        agent
            .say("source_get", json!({"file": "demo_shop.cs", "line": 1000}))
            .await;
        agent
            .say("source_get", json!({"file": "/etc/passwd"}))
            .await;
        expect![[r#"
            > source_get {"count":5}
            <source>/demo_shop.cs (54 lines):
              32 |         if (coupon == null)
              33 |             return 0;
            > 34 |         string digits = coupon.Substring(4); //@bug
              35 |         return int.Parse(digits); //@parse
              36 |     }
            … it goes on: source_get with file="demo_shop.cs" and line=37
            > source_get {"count":2,"file":"demo_shop.cs","line":35}
            <source>/demo_shop.cs (54 lines):
              35 |         return int.Parse(digits); //@parse
              36 |     }
            … it goes on: source_get with file="demo_shop.cs" and line=37
            > source_get {"file":"demo_shop.cs","line":1000}
            <source>/demo_shop.cs (54 lines):
            (no such lines)
            > source_get {"file":"/etc/passwd"}
            !INVALID_FILE: no loaded module was compiled from /etc/passwd with symbols
            Hint: give a file that a loaded module was compiled from; modules_get tells which have symbols
        "#]]
        .assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn source_is_found_elsewhere_and_in_the_symbols() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        let launch = json!({"program": dll("source_embedded"), "stop_at_entry": true});
        agent.say("debug_launch", launch).await;
        agent.say("source_get", json!({"count": 3})).await;
        agent.call("debug_disconnect", json!({})).await;
        let place = Fixture::named("metadata_mapped").marker("length");
        let launch = json!({
            "program": dll("metadata_mapped"),
            "breakpoints": [{"file": place.file, "line": place.line}],
            "source_maps": {"/_/src": place.file.parent()},
        });
        let stopped = agent.call("debug_launch", launch).await;
        let stop = structured(&stopped)["stop"].clone();
        assert_eq!(stop["frames"][0]["file"], json!(place.file), "{stop}");
        assert_eq!(stop["source"][2]["current"], true, "{stop}");
        expect![[r#"
            > debug_launch {"program":"<fixtures>/source_embedded/source_embedded.dll","stop_at_entry":true}
            s1 stopped: at the entry of the program (thread <tid>), in Program.Main() at /_/nowhere/source_embedded.cs:8.
            Launched <fixtures>/source_embedded/source_embedded.dll, process <pid>, .NET <version>.
               6 | {
               7 |     static void Main()
            >  8 |     {
               9 |         Console.WriteLine("embedded"); //@main
              10 |     }
              #0 Program.Main() at source_embedded.cs:8
            Next: debug_continue lets it run on; debug_step runs one statement.
            > source_get {"count":3}
            /_/nowhere/source_embedded.cs (11 lines, from the program's symbols):
              7 |     static void Main()
            > 8 |     {
              9 |         Console.WriteLine("embedded"); //@main
            … it goes on: source_get with file="source_embedded.cs" and line=10
        "#]].assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn the_program_runs_to_a_place_and_goes_back() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        let shop = Fixture::named("demo_shop");
        let file = shop.marker("bug").file;
        agent
            .call(
                "debug_launch",
                json!({"program": dll("demo_shop"), "stop_at_entry": true}),
            )
            .await;
        agent
            .say("debug_run_to", json!({"file": file, "text": "int.Parse"}))
            .await;
        let goto = agent
            .say("debug_goto", json!({"line": shop.marker("bug").line}))
            .await;
        assert_eq!(goto["stop"]["reasons"][0]["kind"], "goto");
        agent
            .say("debug_goto", json!({"line": shop.marker("sum").line}))
            .await;
        agent
            .say(
                "debug_goto",
                json!({"line": shop.marker("bug").line, "column": 200}),
            )
            .await;
        agent
            .say("debug_run_to", json!({"function": "NoSuch"}))
            .await;
        agent
            .say(
                "debug_run_to",
                json!({"file": file, "line": shop.marker("discount").line}),
            )
            .await;
        expect![[r#"
            > debug_run_to {"file":"<source>/demo_shop.cs","text":"int.Parse"}
            s1 stopped: at the place that was run to (thread <tid>), in Coupons.Percent(string coupon) at <source>/demo_shop.cs:35.
              33 |             return 0;
              34 |         string digits = coupon.Substring(4); //@bug
            > 35 |         return int.Parse(digits); //@parse
              36 |     }
              37 | }
              coupon: string = "SAVE15"
              digits: string = "15"
              #0 Coupons.Percent(string coupon) at demo_shop.cs:35
              #1 Order.Total() at demo_shop.cs:22
              #2 Program.Main() at demo_shop.cs:51
            Output since the last report:
            out| The shop opens.
            out| Order 1 for Ada: 18.90
            Next: debug_continue lets it run on; debug_step runs one statement.
            > debug_goto {"line":34}
            s1 stopped: the statement that runs next was set (thread <tid>), in Coupons.Percent(string coupon) at <source>/demo_shop.cs:34.
              32 |         if (coupon == null)
              33 |             return 0;
            > 34 |         string digits = coupon.Substring(4); //@bug
              35 |         return int.Parse(digits); //@parse
              36 |     }
              coupon: string = "SAVE15"
              digits: string = not assigned yet (was "15")
              #0 Coupons.Percent(string coupon) at demo_shop.cs:34
              #1 Order.Total() at demo_shop.cs:22
              #2 Program.Main() at demo_shop.cs:51
            Next: debug_continue lets it run on; debug_step runs one statement.
            > debug_goto {"line":21}
            !INVALID_LINE: no statement of Coupons.Percent(string coupon), the method that runs, begins on line 21; the nearest are on 31, 32, 33, 34
            Hint: the next statement can only be set inside the method of the innermost frame
            > debug_goto {"column":200,"line":34}
            !INVALID_COLUMN: no statement of Coupons.Percent(string coupon) on line 34 holds column 200
              line 34 column 9 to line 34 column 45: string digits = coupon.Substring(4);
            Hint: give a column inside one of the available statements, or none
            > debug_run_to {"function":"NoSuch"}
            !INVALID_PARAMETER: the place cannot be run to: no loaded module with symbols has a method NoSuch
            Hint: set a breakpoint instead, which waits for its module, and continue
            > debug_run_to {"file":"<source>/demo_shop.cs","line":22}
            s1 stopped: at the place that was run to (thread <tid>), in Order.Total() at <source>/demo_shop.cs:22.
              20 |         foreach (Item item in Items)
              21 |             total += item.Price * item.Quantity; //@sum
            > 22 |         decimal discount = Coupons.Percent(Coupon); //@discount
              23 |         return total * (100 - discount) / 100; //@total
              24 |     }
              this: Order = { Id = 3, Customer = "Edsger", Items = Count = 1 { {Item} }, Coupon = "SUMMER5" }
              total: decimal = 27.00
              discount: decimal = not assigned yet
              #0 Order.Total() at demo_shop.cs:22
              #1 Program.Main() at demo_shop.cs:51
            Output since the last report:
            out| Order 2 for Grace: 20.40
            Next: debug_continue lets it run on; debug_step runs one statement.
        "#]].assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn steps_are_counted() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        let place = Fixture::named("demo_shop").marker("parse");
        let launch = json!({
            "program": dll("demo_shop"),
            "stop_at_entry": true,
            "breakpoints": [{"file": place.file, "line": place.line}],
        });
        agent.call("debug_launch", launch).await;
        let steps = agent
            .say("debug_step", json!({"kind": "over", "count": 3}))
            .await;
        assert_eq!(steps["stop"]["steps"], json!({"made": 3, "asked": 3}));
        let steps = agent
            .call("debug_step", json!({"kind": "over", "count": 1000}))
            .await;
        let stop = structured(&steps)["stop"].clone();
        assert_eq!(stop["reasons"][0]["kind"], "breakpoint", "{stop}");
        assert!(
            text(&steps).contains(" of 1000 steps (thread"),
            "{}",
            text(&steps)
        );
        expect![[r#"
            > debug_step {"count":3,"kind":"over"}
            s1 stopped: after 3 steps (thread <tid>), in Program.Main() at <source>/demo_shop.cs:50.
              48 |         };
              49 |         Console.WriteLine("The shop opens.");
            > 50 |         foreach (Order order in orders)
              51 |             Console.WriteLine($"Order {order.Id} for {order.Customer}: {order.Total():0.00}"); //@print
              52 |         Console.WriteLine("The shop closes.");
              orders: List<Order> = Count = 3 { { Id = 1, Customer = "Ada", Items = Count = 2, Coupon = null }, { Id = 2, Customer = "Gr… (was not assigned yet)
              #0 Program.Main() at demo_shop.cs:50
            Output since the last report:
            out| The shop opens.
            Next: debug_continue lets it run on; debug_step runs one statement.
        "#]].assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn variables_are_told_in_the_report_and_on_request() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        let place = Fixture::named("demo_shop").marker("sum");
        let launch = json!({
            "program": dll("demo_shop"),
            "breakpoints": [{"file": place.file, "line": place.line}],
        });
        agent.say("debug_launch", launch).await;
        agent.say("debug_continue", json!({})).await;
        agent
            .say("variables_get", json!({"path": "this", "depth": 1}))
            .await;
        agent
            .say("variables_get", json!({"frame": 1, "names": ["ord*"]}))
            .await;
        agent.say("variables_get", json!({"path": "nothing"})).await;
        agent.say("variables_get", json!({"frame": 99})).await;
        expect![[r#"
            > debug_launch {"breakpoints":[{"file":"<source>/demo_shop.cs","line":21}],"program":"<fixtures>/demo_shop/demo_shop.dll"}
            s1 stopped: at breakpoint 1 (thread <tid>), in Order.Total() at <source>/demo_shop.cs:21.
            Launched <fixtures>/demo_shop/demo_shop.dll, process <pid>, .NET <version>.
              19 |         decimal total = 0;
              20 |         foreach (Item item in Items)
            > 21 |             total += item.Price * item.Quantity; //@sum
              22 |         decimal discount = Coupons.Percent(Coupon); //@discount
              23 |         return total * (100 - discount) / 100; //@total
              this: Order = { Id = 1, Customer = "Ada", Items = Count = 2 { {Item}, {Item} }, Coupon = null }
              total: decimal = 0
              discount: decimal = not assigned yet
              item: Item = { Name = "tea", Price = 4.50, Quantity = 2 }
              #0 Order.Total() at demo_shop.cs:21
              #1 Program.Main() at demo_shop.cs:51
            Output since the last report:
            out| The shop opens.
            Next: debug_continue lets it run on; debug_step runs one statement.
            > debug_continue
            s1 stopped: at breakpoint 1 (thread <tid>), in Order.Total() at <source>/demo_shop.cs:21.
              19 |         decimal total = 0;
              20 |         foreach (Item item in Items)
            > 21 |             total += item.Price * item.Quantity; //@sum
              22 |         decimal discount = Coupons.Percent(Coupon); //@discount
              23 |         return total * (100 - discount) / 100; //@total
              this: Order = { Id = 1, Customer = "Ada", Items = Count = 2 { {Item}, {Item} }, Coupon = null }
              total: decimal = 9.00 (was 0)
              discount: decimal = not assigned yet
              item: Item = { Name = "cup", Price = 9.90, Quantity = 1 } (was { Name = "tea", Price = 4.50, Quantity = 2 })
              #0 Order.Total() at demo_shop.cs:21
              #1 Program.Main() at demo_shop.cs:51
            Next: debug_continue lets it run on; debug_step runs one statement.
            > variables_get {"depth":1,"path":"this"}
            this: Order = { Id = 1, Customer = "Ada", Items = Count = 2 { {Item}, {Item} }, Coupon = null }
              Id: int = 1
              Customer: string = "Ada"
              Items: List<Item> = Count = 2 { { Name = "tea", Price = 4.50, Quantity = 2 }, { Name = "cup", Price = 9.90, Quantity = 1 } }
                [0] = { Name = "tea", Price = 4.50, Quantity = 2 }
                [1] = { Name = "cup", Price = 9.90, Quantity = 1 }
              Coupon: string = null
            > variables_get {"frame":1,"names":["ord*"]}
            Variables of frame #1 of thread <tid>:
              orders: List<Order> = Count = 3 { { Id = 1, Customer = "Ada", Items = Count = 2, Coupon = null }, { Id = 2, Customer = "Grace", Items = Count = 1, Coupon = "SAVE1…, { Id = 3, Customer = "Edsger", Items = Count = 1, Coupon …
              order: Order = { Id = 1, Customer = "Ada", Items = Count = 2 { {Item}, {Item} }, Coupon = null }
            > variables_get {"path":"nothing"}
            !INVALID_PARAMETER: frame 0 has no variable nothing
              this
              total
              discount
              item
            Hint: names are those of arguments, locals, captured variables, and fields of the code's own type
            > variables_get {"frame":99}
            !INVALID_PARAMETER: the thread has no frame 99; it has 2
            Hint: stacktrace_get tells the frames with their numbers
        "#]].assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn chains_of_awaits_are_told_with_the_stack() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        let launch = json!({"program": dll("async_stacks"), "args": ["task"]});
        let report = agent.call("debug_launch", launch).await;
        // The report tells them in place of the frames below, which belong to whatever completed the task.
        let stop = &structured(&report)["stop"];
        let methods = |list: &serde_json::Value| -> Vec<String> {
            let list = list.as_array().expect("a list").iter();
            list.map(|it| it["method"].as_str().unwrap_or_default().to_owned())
                .collect()
        };
        assert_eq!(methods(&stop["frames"]), ["Program.Leaf()"], "{stop}");
        assert_eq!(
            methods(&stop["awaits"]["awaiting"]),
            ["Program.Middle()", "Program.Outer()"]
        );
        assert!(
            text(&report).contains("it is awaited by:"),
            "{}",
            text(&report)
        );
        let stack = agent.say("stacktrace_get", json!({"count": 1})).await;
        assert_eq!(stack["awaits"]["awaiting"][0]["kind"], "method", "{stack}");
        expect![[r#"
            > stacktrace_get {"count":1}
            Stack of thread <tid> of s1:
              #0 Program.Leaf() at <source>/async_stacks.cs:26
              … it goes on: stacktrace_get with start=1 tells more
            Frame #0 was resumed after an await; it is awaited by:
              Program.Middle() at async_stacks.cs:30
              Program.Outer() at async_stacks.cs:35
              (thread <tid> is blocked on it)
        "#]]
        .assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn only_variables_of_the_same_call_are_compared() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let stops: [(&str, &[&str]); 15] = [
            // Calls from two places, in a loop that counts, and in one that cannot be seen to.
            ("once", &[""; 6]),
            (
                "loop",
                &["", "sum was 10, i was 0", "", "sum was 20, i was 0"],
            ),
            (
                "loop",
                &["", "sum was 30, i was 0", "", "sum was 40, i was 0"],
            ),
            ("first", &[""]),
            ("second", &[""]),
            ("work", &[""]),
            ("worked", &["sum was 1"]),
            ("work", &[""]),
            ("worked", &["sum was 2"]),
            ("each", &[""]),
            ("step", &["square was not assigned yet"]),
            ("each", &[""]),
            ("step", &["square was not assigned yet"]),
            ("one", &[""]),
            ("other", &["chosen changed"]),
        ];
        let fixture = Fixture::named("values_compared");
        let markers = [
            "once", "loop", "first", "second", "work", "worked", "each", "one", "other",
        ];
        let at = |marker: &str| {
            let place = fixture.marker(marker);
            json!({"file": place.file, "line": place.line})
        };
        let launch = json!({
            "program": dll("values_compared"),
            "breakpoints": markers.map(at),
        });
        let mut report = agent.call("debug_launch", launch).await;
        for (number, (marker, changes)) in stops.iter().enumerate() {
            for (round, expected) in changes.iter().enumerate() {
                if *marker == "step" {
                    report = agent.call("debug_step", json!({"kind": "over"})).await;
                } else if number + round > 0 {
                    report = agent.call("debug_continue", json!({})).await;
                }
                let variables = structured(&report)["stop"]["variables"].clone();
                let variables = variables.as_array().cloned().unwrap_or_default();
                let told = variables.iter().filter_map(|it| {
                    let name = it["name"].as_str()?;
                    match it["was"].as_str() {
                        Some(was) => Some(format!("{name} was {was}")),
                        None => (it["changed_inside"] == true).then(|| format!("{name} changed")),
                    }
                });
                let told = told.collect::<Vec<_>>().join(", ");
                assert_eq!(told, *expected, "{marker} {round}: {}", text(&report));
            }
        }
        agent.close().await;
    });
}

#[test]
fn long_collections_are_compared_whatever_others_do() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let place = Fixture::named("values_untouched").marker("round");
        let launch = json!({
            "program": dll("values_untouched"),
            "breakpoints": [{"file": place.file, "line": place.line}],
        });
        agent.call("debug_launch", launch).await;
        // A longer list before them changes nothing in those behind it.
        for expected in [
            "seen round",
            "seen names ints flags map texts last round",
            "seen round",
        ] {
            let stop = agent.call("debug_continue", json!({})).await;
            let variables = structured(&stop)["stop"]["variables"].clone();
            let variables = variables.as_array().cloned().unwrap_or_default();
            let changed = variables
                .iter()
                .filter(|it| it["changed_inside"] == true || !it["was"].is_null());
            let names: Vec<&str> = changed.filter_map(|it| it["name"].as_str()).collect();
            assert_eq!(names.join(" "), expected, "{}", text(&stop));
        }
        agent.close().await;
    });
}

#[test]
fn what_was_suspended_meanwhile_is_compared_with_its_last_stop() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let fixture = Fixture::named("values_resumed");
        let at = |marker: &str| {
            let place = fixture.marker(marker);
            json!({"file": place.file, "line": place.line})
        };
        let markers = ["fetched", "total", "seen", "sum"].map(at);
        let launch = json!({"program": dll("values_resumed"), "breakpoints": markers});
        let mut stop = agent.call("debug_launch", launch).await;
        let mut told = Vec::new();
        while !structured(&stop)["stop"].is_null() {
            let variables = structured(&stop)["stop"]["variables"].clone();
            let variables = variables.as_array().cloned().unwrap_or_default();
            let changed = variables.iter().filter(|it| it["was"] != json!(null));
            let changed = changed.map(|it| format!("{} {}", it["name"], it["was"]));
            told.push(changed.collect::<Vec<_>>().join(", ").replace('"', ""));
            stop = agent.call("debug_continue", json!({})).await;
        }
        // Each call of `Fetch` is another one.
        let expected = [
            "",
            "",
            "",
            "total 1, round 0",
            "",
            "total 12, round 1",
            "",
            "",
            "seen 0, at 0",
            "sum 0, number 0",
            "seen 1, at 1",
            "sum 1, number 1",
        ];
        assert_eq!(told, expected);
        agent.close().await;
    });
}

#[test]
fn what_changes_behind_the_cut_of_a_line_is_told() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let at = |marker: &str| {
            let place = Fixture::named("values_behind").marker(marker);
            json!({"file": place.file, "line": place.line})
        };
        let launch = json!({
            "program": dll("values_behind"),
            "breakpoints": [at("first"), at("second"), at("third")],
        });
        agent.call("debug_launch", launch).await;
        let changed = |report: &rmcp::model::CallToolResult| {
            let variables = structured(report)["stop"]["variables"].clone();
            let variables = variables.as_array().cloned().unwrap_or_default();
            let inside = variables
                .iter()
                .filter(|it| it["changed_inside"] == true || !it["was"].is_null());
            let names: Vec<String> = inside
                .filter_map(|it| it["name"].as_str().map(str::to_owned))
                .collect();
            names.join(" ")
        };
        let second = agent.call("debug_continue", json!({})).await;
        assert_eq!(
            changed(&second),
            "array list text wide map lists deep small"
        );
        let told = "(changed, behind what is shown)";
        assert!(text(&second).contains(told), "{}", text(&second));
        assert!(
            text(&second).contains("small: int = 2 (was 1)"),
            "{}",
            text(&second)
        );
        let third = agent.call("debug_continue", json!({})).await;
        assert_eq!(changed(&third), "", "{}", text(&third));
        agent.close().await;
    });
}
