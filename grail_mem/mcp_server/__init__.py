"""The store as an MCP server, over standard input and output or HTTP."""
