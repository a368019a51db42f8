//! What is asked with a slip is answered with what was meant; and nothing is told that nobody wants.

use serde_json::json;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::client::{Agent, dll, run, structured, text};

#[test]
fn names_that_are_almost_right_lead_to_those_that_are() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let place = Fixture::named("demo_shop").marker("discount");
        let launch = json!({
            "program": dll("demo_shop"),
            "breakpoints": [{"file": place.file, "line": place.line}],
        });
        agent.call("debug_launch", launch).await;
        // A parameter of the tool comes before what other tools call so.
        let remove = text(&agent.call("breakpoint_remove", json!({"ids": [1]})).await);
        assert!(remove.contains("did you mean id?"), "{remove}");
        // A type of the user's comes before what the framework has with these letters in it.
        for slip in ["Ordr", "Shop.Oder"] {
            let wrong = agent.call("type_get", json!({"name": slip})).await;
            let first = structured(&wrong)["error"]["details"]["candidates"][0].clone();
            assert_eq!(first, "Order", "{}", text(&wrong));
        }
        // Numbers, times and the like are told by their line, and opened by who asks for them alone.
        let items = json!({"path": "this.Items", "depth": 2});
        let items = text(&agent.call("variables_get", items).await);
        assert!(items.contains("Price: decimal = "), "{items}");
        assert!(!items.contains("_lo64"), "{items}");
        let price = json!({"path": "this.Items[0].Price"});
        let price = text(&agent.call("variables_get", price).await);
        assert!(price.contains("_lo64"), "{price}");
        agent.close().await;
    });
}

#[test]
fn parameters_in_another_spelling_and_one_expression_are_understood() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let launch = json!({"program": dll("demo_shop"), "stopAtEntry": true});
        agent.call("debug_launch", launch).await;
        let sum = json!({"expression": "1 + 2", "sideEffects": false});
        let sum = text(&agent.call("evaluate", sum).await);
        assert_eq!(sum, "1 + 2: int = 3");
        agent.close().await;
    });
}

#[test]
fn breakpoints_of_a_program_that_is_let_go_are_told_as_never_reached() {
    let sandbox = Sandbox::new();
    run(async {
        let program = sandbox.bare("loops").args(["sleep", "5"]).start();
        program.line_starting("tick");
        let agent = Agent::new(&sandbox).await;
        let attach = json!({"pid": program.pid()});
        agent.call("debug_attach", attach).await;
        let never = json!({"function": "System.Environment.Exit"});
        agent.call("breakpoint_set", never).await;
        let tick = Fixture::named("loops").marker("tick");
        let tick = json!({"file": tick.file, "line": tick.line, "log_message": "{tick}"});
        agent.call("breakpoint_set", tick).await;
        let deadline = testkit::deadline();
        loop {
            let list = structured(&agent.call("breakpoint_list", json!({})).await);
            if list["breakpoints"][1]["hits"].as_u64() > Some(0) {
                break;
            }
            assert!(std::time::Instant::now() < deadline, "{list}");
            agent.call("debug_wait", json!({"timeout_ms": 20})).await;
        }
        let gone = text(&agent.call("debug_disconnect", json!({})).await);
        let never = "\nNever hit (in optimised code, which may have run all the same):\n";
        let (_, rest) = gone.split_once(never).expect(&gone);
        assert!(
            rest.starts_with("Breakpoint 1 at System.Environment.Exit"),
            "{gone}"
        );
        assert!(!rest.contains("Tracepoint 2"), "{gone}");
        agent.close().await;
    });
}
