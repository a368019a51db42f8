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
    /// The tool's arguments, given the program to debug and its source.
    pub(crate) arguments: fn(program: &Path, source: &Path) -> Value,
    /// Words that must occur in the answer.
    pub(crate) learns: &'static [&'static str],
}

/// The program: it says that tea is sold out, with 38 packets on the shelf.
pub(crate) const PROGRAM: &str = "demo_stock";

/// What is wrong with it, as its user would say.
pub(crate) const COMPLAINT: &str =
    "\"It says that tea is sold out. There are 38 packets on the shelf!\"";

/// What came out, in the agent's words.
pub(crate) const FINDING: &str = "\
Article is a record, and the compiler computes a record's hash from all its properties. Shop.Reduce changes the Price
of an article that is a key of `stock`; from then on the dictionary looks for it in the wrong place. No line of the
source says so. The smallest change that mends it: key the dictionary by the article's name.";

/// The questions in their order.
pub(crate) const STEPS: &[Step] = &[
    Step {
        thought: "I run it as it is, to see the fault.",
        tool: "debug_launch",
        arguments: |program, _| json!({ "program": program }),
        learns: &["Edsger wants 6 tea: sold out", "exited with code 0"],
    },
    Step {
        thought: "No exception; it believes what it says. Once more, and stop where a customer is turned away.",
        tool: "debug_launch",
        arguments: |program, source| {
            json!({
                "program": program,
                "breakpoints": [{ "file": source, "text": "return false" }],
            })
        },
        learns: &["at breakpoint 1", "left: int = 0", "= 38"],
    },
    Step {
        thought: "left is 0, but the shop's stock has an article with 38 pieces. Is this article in it or not?",
        tool: "evaluate",
        arguments: |_, _| {
            json!({
                "expressions": ["stock.Count", "stock.ContainsKey(article)"],
                "side_effects": true,
            })
        },
        learns: &[
            "stock.Count: int = 2",
            "stock.ContainsKey(article): bool = false",
        ],
    },
    Step {
        thought: "The dictionary does not find a key that it holds. It looks by hash: which one did it note, which one is it now?",
        tool: "evaluate",
        arguments: |_, _| {
            json!({
                "expressions": [
                    "object.ReferenceEquals(stock._entries[0].key, article)",
                    "(int)stock._entries[0].hashCode == article.GetHashCode()",
                ],
                "side_effects": true,
            })
        },
        learns: &[
            "stock._entries[0].key, article): bool = true",
            "article.GetHashCode(): bool = false",
        ],
    },
    Step {
        thought: "The very same object has another hash than before. Nobody wrote a GetHashCode: what is an Article?",
        tool: "type_get",
        arguments: |_, _| json!({ "name": "Article" }),
        learns: &["public override int GetHashCode()", "Price { get; set; }"],
    },
    Step {
        thought: "The compiler wrote one, from Name and Price, and Price can change. If that is it, the old price finds the tea again.",
        tool: "evaluate",
        arguments: |_, _| {
            json!({
                "expressions": ["article.Price = 4.50m", "stock.ContainsKey(article)"],
                "side_effects": true,
            })
        },
        learns: &["stock.ContainsKey(article): bool = true"],
    },
    Step {
        thought: "Proved, without touching the source. Done.",
        tool: "debug_disconnect",
        arguments: |_, _| json!({}),
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
            arguments: |_, _| Value::Null,
            learns: &["one", "two"],
        };
        assert_eq!(missing(&step, "one and more"), ["two"]);
        assert!(missing(&step, "two, one").is_empty());
    }
}
