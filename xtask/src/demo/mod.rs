//! `cargo xtask demo`: debugs a small program with a bug that reading does not show, over MCP, as an agent would, and
//! prints the conversation.

mod client;
mod conversation;
mod printer;

use std::{
    fs, io,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use self::{
    client::{Answer, Client},
    conversation::{COMPLAINT, FINDING, PROGRAM, STEPS, Step, missing},
    printer::Printer,
};
use crate::{
    dotnet,
    fixtures::Fixtures,
    ui::{self, colours},
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
    let fixtures = Fixtures::compile_only(dotnet, PROGRAM)?;
    let program = fixtures.folder.join(PROGRAM).join(format!("{PROGRAM}.dll"));
    let source = workspace::root()
        .join("fixtures")
        .join(format!("{PROGRAM}.cs"));
    let mut server = Command::new(workspace::target()?.join("debug/ndbg"));
    server.arg("mcp").envs(fixtures.environment()?);
    let printer = Printer {
        coloured: colours(&io::stdout()),
    };
    let text = fs::read_to_string(&source).context("cannot read the program's source")?;
    printer.title("The program");
    printer.source(&text);
    printer.title("Its user says");
    printer.speech(COMPLAINT);
    converse(&mut server, &program, &source, &printer)
}

fn converse(server: &mut Command, program: &Path, source: &Path, printer: &Printer) -> Result<()> {
    let (mut client, about) = Client::start(server)?;
    let name = about.pointer("/serverInfo/name").and_then(Value::as_str);
    let tools = client.tools()?.len();
    let name = name.unwrap_or("the server");
    printer.title(&format!(
        "An agent debugs it with the {tools} tools of {name}"
    ));
    let mut took = Duration::ZERO;
    for (number, step) in (1..).zip(STEPS) {
        printer.thought(number, step.thought);
        let arguments = (step.arguments)(program, source);
        printer.call(step.tool, &arguments);
        let begun = Instant::now();
        let answer = client.call(step.tool, &arguments)?;
        let time = begun.elapsed();
        took += time;
        printer.answer(&answer, step.learns, time);
        check(number, step, &answer)?;
    }
    let code = client.finish()?;
    ensure!(
        code == Some(0),
        "the server ended with {code:?} instead of 0"
    );
    printer.title("What the agent reports");
    printer.speech(FINDING);
    let (calls, took) = (STEPS.len(), took.as_secs_f32());
    printer.end(&format!(
        "{calls} calls, {took:.1} s, not one line of the program changed, and nothing is left behind."
    ));
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
