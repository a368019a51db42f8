//! `ndbg mcp`: the MCP server on standard input and output.

use std::io;
use std::process::ExitCode;

use host::HostProgram;

use crate::args::McpArguments;
use crate::output;

/// Serves until the client is gone and every session has ended.
pub(crate) fn mcp(arguments: &McpArguments) -> io::Result<ExitCode> {
    if arguments.reference {
        output::write(::mcp::reference().as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let ended = ::mcp::serve_stdio(HostProgram::default())?;
    Ok(ended.exit_code().into())
}
