//! The `ndbg` command.
#![forbid(unsafe_code)]

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use clap::{Parser, Subcommand};
use host::api::{Launch, OutputCursor, OutputQuery, Request};
use host::{HostProgram, Session};

#[derive(Parser)]
#[command(name = "ndbg", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs a debugger for one program (internal).
    #[command(hide = true)]
    Host,
    /// Try.
    Try {
        program: std::path::PathBuf,
        args: Vec<String>,
    },
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    tracing_subscriber::fmt()
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_env("NDBG_LOG")
                .unwrap_or_else(|_| "warn".into()),
        )
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
    match arguments.command {
        Command::Host => host::serve()?,
        Command::Try { program, args } => {
            let start = Instant::now();
            let soon = || Instant::now() + Duration::from_secs(20);
            let session = Session::launch(
                &HostProgram::default(),
                Launch {
                    program,
                    args,
                    ..Launch::default()
                },
                &[],
                soon(),
            )?;
            eprintln!("{:?} launched", start.elapsed());
            loop {
                let settled = session.wait(session.status().resumes, soon());
                eprintln!("{:?} {settled:#?}", start.elapsed());
                let status = session.status();
                if status.exit.is_some() {
                    break;
                }
                session.request(Request::Continue, soon())?;
            }
            let page = session.request(
                Request::Output(OutputQuery {
                    from: OutputCursor(0),
                    stream: None,
                    max_bytes: 10000,
                    tail: false,
                }),
                soon(),
            )?;
            eprintln!("{page:#?}");
        }
    }
    Ok(())
}
