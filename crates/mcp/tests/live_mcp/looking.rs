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
            s1 stopped: after the step (thread <tid>), in Order.Coupon.get() at <source>/demo_shop.cs:15.
              13 |     public required string Customer { get; init; }
              14 |     public List<Item> Items { get; } = new();
            > 15 |     public string Coupon { get; set; }
              16 | 
              17 |     public decimal Total()
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
              #0 Program.Main() at demo_shop.cs:51
            Next: debug_continue lets it run on; debug_step runs one statement.
            > debug_step {"mode":"in"}
            !INVALID_PARAMETER: debug_step: there is no parameter "mode", did you mean kind?; the parameter kind is missing
            Hint: debug_step takes kind (required), session, thread, timeout_ms
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
            !INVALID_THREAD: there is no managed thread <tid>: ICorDebugProcess::GetThread failed with E_INVALIDARG (0x80070057)
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
        let unknown = agent.call("threads_get", json!({"freeze": [1]})).await;
        assert_eq!(structured(&unknown)["error"]["code"], "INVALID_THREAD");
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
