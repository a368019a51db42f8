//! `cargo xtask demo`: debugs a small buggy program over MCP, as an agent would, and prints the
//! conversation.

mod client;
mod conversation;

use std::{io, path::Path, process::Command};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use self::{
    client::{Answer, Client},
    conversation::{PROGRAM, STEPS, Step, missing},
};
use crate::{
    dotnet,
    fixtures::Fixtures,
    ui::{self, Style, colours, paint},
    workspace,
};

/// The command itself.
pub(crate) fn command(arguments: &[String]) -> Result<()> {
    let dotnet = match arguments {
        [] => dotnet::set_up()?,
        [flag, folder] if flag == "--dotnet" => dotnet::named(Path::new(folder))?,
        _ => bail!("usage: cargo xtask demo [--dotnet DIR]"),
    };
    ui::heading("building ndbg");
    let built = workspace::cargo()
        .args(["build", "--package", "cli"])
        .status();
    ensure!(
        built.context("cannot start cargo")?.success(),
        "ndbg does not compile"
    );
    let fixtures = Fixtures::compile(dotnet)?;
    let program = fixtures.folder.join(PROGRAM).join(format!("{PROGRAM}.dll"));
    let mut server = Command::new(workspace::target()?.join("debug/ndbg"));
    server.arg("mcp").envs(fixtures.environment()?);
    let printer = Printer {
        coloured: colours(&io::stdout()),
    };
    printer.line(
        Style::Bold,
        "",
        &format!("The program: fixtures/{PROGRAM}.cs"),
    );
    converse(&mut server, &program, &printer)
}

fn converse(server: &mut Command, program: &Path, printer: &Printer) -> Result<()> {
    let (mut client, about) = Client::start(server)?;
    let name = about.pointer("/serverInfo/name").and_then(Value::as_str);
    let tools = client.tools()?;
    printer.line(
        Style::Dim,
        "",
        &format!(
            "{} offers {}",
            name.unwrap_or("the server"),
            tools.join(", ")
        ),
    );
    for (number, step) in (1..).zip(STEPS) {
        println!();
        printer.line(Style::Bold, "", &format!("{number}. {}", step.thought));
        let arguments = (step.arguments)(program);
        printer.line(Style::Cyan, "→ ", &format!("{} {arguments}", step.tool));
        let answer = client.call(step.tool, &arguments)?;
        printer.answer(&answer);
        check(number, step, &answer)?;
    }
    let code = client.finish()?;
    ensure!(
        code == Some(0),
        "the server ended with {code:?} instead of 0"
    );
    println!();
    printer.line(
        Style::Green,
        "",
        "The agent knows what happened, and nothing is left behind.",
    );
    Ok(())
}

/// Fails if the answer lacks what the demo promises.
fn check(number: usize, step: &Step, answer: &Answer) -> Result<()> {
    ensure!(!answer.is_error, "step {number}: {} failed", step.tool);
    let missing = missing(step, &answer.text);
    ensure!(
        missing.is_empty(),
        "step {number}: the answer of {} does not say {}",
        step.tool,
        missing.join(", ")
    );
    Ok(())
}

/// Prints the conversation.
struct Printer {
    coloured: bool,
}

impl Printer {
    /// Prints a text of one or more lines, the first behind `mark`, the others below it.
    fn line(&self, style: Style, mark: &str, text: &str) {
        let indent = " ".repeat(mark.chars().count());
        for (i, line) in text.lines().enumerate() {
            let mark = if i == 0 { mark } else { &indent };
            println!("{}", paint(self.coloured, style, &format!("{mark}{line}")));
        }
    }

    fn answer(&self, answer: &Answer) {
        let style = if answer.is_error {
            Style::Red
        } else {
            Style::Green
        };
        match &answer.structured {
            Some(structured) if answer.text.is_empty() => {
                self.line(style, "← ", &format!("{structured:#}"));
            }
            _ => self.line(style, "← ", &answer.text),
        }
    }
}
