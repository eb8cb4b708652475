"""Third-party tools: MCP servers that run inside an episode's sandbox (https://modelcontextprotocol.io)."""
