"""What the workbench adds to a server: routes, MCP tools, questions to begin with."""
