//! `ndbg mcp`: the MCP server on standard input and output.

use std::io::Write as _;

use host::HostProgram;

/// Arguments of `ndbg mcp`.
#[derive(Debug, clap::Args)]
pub(crate) struct Mcp {
    /// Prints the tool reference (docs/tools.md) instead.
    #[arg(long, hide = true)]
    reference: bool,
}

impl Mcp {
    /// Runs until the client is gone; the exit code is 0, or 128 + the signal that ended it.
    pub(crate) fn run(self) -> std::io::Result<u8> {
        if self.reference {
            std::io::stdout().write_all(::mcp::reference().as_bytes())?;
            return Ok(0);
        }
        engine::share_one_heap();
        let ended = ::mcp::serve_stdio(HostProgram::default())?;
        Ok(ended.exit_code())
    }
}
