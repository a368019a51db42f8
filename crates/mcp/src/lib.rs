//! The MCP server: debugger tools over a registry of sessions.
