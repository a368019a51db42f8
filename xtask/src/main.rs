//! Development commands: `cargo xtask demo | test | bench | codegen`.
use anyhow::bail;

mod codegen;

fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        ["codegen", rest @ ..] => codegen::run(rest),
        _ => bail!("usage: cargo xtask codegen cordebug <cordebug.idl> <corerror.h>"),
    }
}
