//! The conversations in the README are real: they are had here, and compared. `UPDATE_EXPECT=1` writes them anew.
//!
//! A conversation stands between `<!-- transcript NAME -->` and `<!-- end of transcript -->`.

use std::path::Path;

use serde_json::{Value, json};
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::client::{Agent, dll, normalized, object, run, text};

/// Columns that a page shows without a scroll bar.
const WIDTH: usize = 118;

/// Asks and notes both as the README shows them; lines of an answer that hold one of `left_out` are left out.
async fn say(
    agent: &Agent,
    said: &mut String,
    tool: &str,
    arguments: Value,
    left_out: &[&str],
) -> Value {
    let result = agent.call(tool, arguments.clone()).await;
    assert_ne!(result.is_error, Some(true), "{}", text(&result));
    let pairs = object(arguments);
    // What is debugged comes first.
    let (first, others): (Vec<_>, Vec<_>) = pairs.iter().partition(|(name, _)| *name == "program");
    let shown: Vec<_> = first
        .into_iter()
        .chain(others)
        .map(|(name, value)| format!("\"{name}\": {}", spaced(value)))
        .collect();
    *said += &format!("→ {tool} {{{}}}\n", shown.join(", "));
    let mut mark = "←";
    for line in text(&result).lines() {
        if !left_out.iter().any(|word| line.contains(word)) {
            *said += &format!("{mark} {line}\n");
            mark = " ";
        }
    }
    crate::client::structured(&result)
}

/// JSON as a person writes it.
fn spaced(value: &Value) -> String {
    match value {
        Value::Array(all) => {
            format!(
                "[{}]",
                all.iter().map(spaced).collect::<Vec<_>>().join(", ")
            )
        }
        Value::Object(all) => {
            let pair = |(name, value): (&String, &Value)| format!("\"{name}\": {}", spaced(value));
            format!(
                "{{{}}}",
                all.iter().map(pair).collect::<Vec<_>>().join(", ")
            )
        }
        other => other.to_string(),
    }
}

async fn exception(agent: &Agent) -> String {
    let mut said = String::new();
    let program = dll("demo_shop");
    say(
        agent,
        &mut said,
        "debug_launch",
        json!({"program": program}),
        &["Launched", "Next"],
    )
    .await;
    said
}

async fn wrong_value(agent: &Agent) -> String {
    let mut said = String::new();
    let source = Fixture::named("demo_stock").sources()[0]
        .display()
        .to_string();
    let breakpoints = json!([{"file": source, "text": "return false"}]);
    let arguments = json!({"program": dll("demo_stock"), "breakpoints": breakpoints});
    say(
        agent,
        &mut said,
        "debug_launch",
        arguments,
        &["Launched", "Next", "#1", "#2"],
    )
    .await;
    let expressions = json!([
        "stock.ContainsKey(article)",
        "(int)stock._entries[0].hashCode == article.GetHashCode()"
    ]);
    let arguments = json!({"expressions": expressions, "side_effects": true});
    say(agent, &mut said, "evaluate", arguments, &[]).await;
    let expressions = json!(["article.Price = 4.50m", "stock.ContainsKey(article)"]);
    let arguments = json!({"expressions": expressions, "side_effects": true});
    say(agent, &mut said, "evaluate", arguments, &[]).await;
    said
}

async fn hang(agent: &Agent, pid: u32) -> String {
    let mut said = String::new();
    let attached = json!({"pid": pid});
    say(
        agent,
        &mut said,
        "debug_attach",
        attached,
        &["Attached", "Next"],
    )
    .await;
    let not_shown = &[
        " | ",
        ": Account",
        ": Barrier",
        ": Thread",
        "#0",
        "#1",
        "Next",
    ];
    say(agent, &mut said, "debug_pause", json!({}), not_shown).await;
    let threads = say(agent, &mut said, "threads_get", json!({}), &[": native"]).await;
    let all = threads["threads"].as_array().expect("a list");
    let find = |name: &str| {
        all.iter()
            .find(|thread| thread["name"] == name)
            .expect(name)
    };
    let (first, second) = (find("transfer 1"), find("transfer 2"));
    for thread in [first, second] {
        let arguments = json!({"thread": thread["id"], "frame": thread["top"]["index"]});
        let not_shown = &["amount", "both", "Variables of"];
        say(agent, &mut said, "variables_get", arguments, not_shown).await;
    }
    say(agent, &mut said, "debug_disconnect", json!({}), &[]).await;
    // Letters, so that these numbers are told apart from others until the end.
    said.replace(&first["id"].to_string(), "FIRST")
        .replace(&second["id"].to_string(), "SECOND")
        .replace(&pid.to_string(), "PROCESS")
}

/// Puts what differs from machine to machine into a form that reads well.
fn polished(said: &str, sandbox: &Sandbox) -> String {
    let text = normalized(said, &sandbox.folder().display().to_string())
        .replace("<fixtures>/demo_shop/demo_shop.dll", "shop.dll")
        .replace("<fixtures>/demo_stock/demo_stock.dll", "stock.dll")
        .replace("<source>/demo_", "/home/ada/")
        .replace("demo_stock.cs", "stock.cs")
        .replace("demo_shop.cs", "shop.cs")
        .replace("demo_hang.cs", "bank.cs")
        .replace("/home/ada/hang.cs", "/home/ada/bank.cs")
        .replace("<tid>", "4711")
        .replace("<pid>", "4711")
        .replace("PROCESS", "4711")
        .replace("FIRST", "4712")
        .replace("SECOND", "4713");
    text.lines()
        .map(|line| line.split(" //@").next().unwrap_or(line))
        .flat_map(wrapped)
        .map(|line| line + "\n")
        .collect()
}

/// A line as lines that are not too long; those that go on are indented.
fn wrapped(line: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = line.to_owned();
    while let Some((end, _)) = rest.char_indices().nth(WIDTH) {
        let Some(space) = rest[..end].rfind(' ').filter(|space| *space > 20) else {
            break;
        };
        let behind = format!("      {}", &rest[space + 1..]);
        rest.truncate(space);
        lines.push(std::mem::replace(&mut rest, behind));
    }
    lines.push(rest);
    lines
}

/// The README with this conversation in its place.
fn replaced(readme: &str, name: &str, said: &str) -> String {
    let begin = format!("<!-- transcript {name} -->\n");
    let end = "<!-- end of transcript -->";
    let (before, rest) = readme
        .split_once(&begin)
        .unwrap_or_else(|| panic!("the README has no {begin}"));
    let (_, behind) = rest.split_once(end).expect("it ends");
    format!("{before}{begin}```\n{said}```\n{end}{behind}")
}

#[test]
fn the_transcripts_are_true() {
    let sandbox = Sandbox::new();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(&path).expect("the README");
    let mut current = readme.clone();
    let hanging = sandbox.bare("demo_hang").start();
    hanging.line_starting("transferring");
    run(async {
        for name in ["exception", "wrong value", "hang"] {
            let agent = Agent::new(&sandbox).await;
            let said = match name {
                "exception" => exception(&agent).await,
                "wrong value" => wrong_value(&agent).await,
                _ => hang(&agent, hanging.pid()).await,
            };
            let said = polished(&said, &sandbox);
            // How many frames of the framework wait for a lock differs; the README has the older runtime's.
            if name == "hang" && testkit::fixtures::runtime_version().0 != 9 {
                for word in [
                    "from: Account = { Owner = \"Ada\"",
                    "to: Account = { Owner = \"Ada\"",
                    "runs on",
                ] {
                    assert!(said.contains(word), "{said}");
                }
            } else {
                current = replaced(&current, name, &said);
            }
            agent.close().await;
        }
    });
    expect_test::expect_file![path].assert_eq(&current);
}
