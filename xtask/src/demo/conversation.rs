//! The demo's conversation: what an agent asks to find the shop's bug, and what it must learn.
//!
//! A step is a row of [`STEPS`]; a new ability of the debugger is a new row. Words that must occur in
//! the answer make the demo a test: it fails if the debugger no longer says them.

use std::path::Path;

use serde_json::{Value, json};

/// One question.
pub(crate) struct Step {
    /// Why the agent asks.
    pub(crate) thought: &'static str,
    /// The tool it calls.
    pub(crate) tool: &'static str,
    /// The tool's arguments, given the program to debug.
    pub(crate) arguments: fn(program: &Path) -> Value,
    /// Words that must occur in the answer.
    pub(crate) learns: &'static [&'static str],
}

/// The program: it prints two orders and dies on the third.
pub(crate) const PROGRAM: &str = "demo_shop";

/// The questions in their order.
pub(crate) const STEPS: &[Step] = &[
    Step {
        thought: "The shop crashes. I run it under the debugger and see where it stops.",
        tool: "debug_launch",
        arguments: |program| json!({ "program": program }),
        learns: &["System.FormatException"],
    },
    Step {
        thought: "How far did it come?",
        tool: "process_output",
        arguments: |_| json!({}),
        learns: &["The shop opens.", "Order 2 for Grace: 20.40"],
    },
    Step {
        thought: "\"ER5\" is no number. I let it end as it would, and look at how it comes to that.",
        tool: "debug_continue",
        arguments: |_| json!({}),
        // 128 + SIGABRT: how a program ends that does not handle an exception.
        learns: &["134"],
    },
    Step {
        thought: "Once more, with a breakpoint in Coupons.Percent: the third order is the bad one.",
        tool: "debug_launch",
        arguments: |program| {
            json!({
                "program": program,
                "breakpoints": [{ "function": "Coupons.Percent", "hit_condition": "3" }],
            })
        },
        learns: &[
            "at breakpoint 1",
            "coupon: string = \"SUMMER5\"",
            "Order 2 for Grace",
        ],
    },
    Step {
        thought: "I go to where its digits are used …",
        tool: "debug_run_to",
        arguments: |_| json!({ "file": "demo_shop.cs", "text": "int.Parse(digits)" }),
        learns: &["digits: string = \"ER5\" (was null)"],
    },
    Step {
        thought: "… SUMMER5 has become ER5: it is cut at a fixed place, though words differ in length. Which order is it?",
        tool: "variables_get",
        arguments: |_| json!({ "frame": 1, "path": "this", "depth": 1 }),
        learns: &[
            "Customer: string = \"Edsger\"",
            "Coupon: string = \"SUMMER5\"",
        ],
    },
    Step {
        thought: "And who asks for it?",
        tool: "stacktrace_get",
        arguments: |_| json!({}),
        learns: &["Order.Total()", "Program.Main()"],
    },
    Step {
        thought: "Found: Coupons.Percent cuts 4 letters off any coupon. Done.",
        tool: "debug_disconnect",
        arguments: |_| json!({}),
        learns: &["ended by the debugger"],
    },
];

/// The words of `step` that do not occur in the answer.
pub(crate) fn missing<'a>(step: &'a Step, answer: &str) -> Vec<&'a str> {
    let words = step.learns.iter().copied();
    words.filter(|word| !answer.contains(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_not_said_are_missing() {
        let step = Step {
            thought: "",
            tool: "",
            arguments: |_| Value::Null,
            learns: &["one", "two"],
        };
        assert_eq!(missing(&step, "one and more"), ["two"]);
        assert!(missing(&step, "two, one").is_empty());
    }
}
