"""The server: the page, the HTTP API, OpenAI's protocol and MCP, in one process on one port."""
