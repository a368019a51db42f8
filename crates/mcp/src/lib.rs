//! The MCP server: debugger tools over a registry of sessions.
#![forbid(unsafe_code)]
